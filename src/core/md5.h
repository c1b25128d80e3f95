/*
 * md5.h
 *	  MD5 (RFC 1321) of a byte followed by any bytes.
 */
#ifndef BLOOMEXT_MD5_H
#define BLOOMEXT_MD5_H

#include <stddef.h>
#include <stdint.h>

extern void bf_md5_salted(uint8_t salt, const uint8_t *data, size_t length,
						  uint32_t digest[4]);

#endif							/* BLOOMEXT_MD5_H */
