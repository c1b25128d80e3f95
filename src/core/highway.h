/*
 * highway.h
 *	  HighwayHash, the 128-bit result.
 */
#ifndef BLOOMEXT_HIGHWAY_H
#define BLOOMEXT_HIGHWAY_H

#include <stddef.h>
#include <stdint.h>

extern void bf_highway_128(const uint64_t key[4], const uint8_t *data,
						   size_t length, uint64_t *h1, uint64_t *h2);

#endif							/* BLOOMEXT_HIGHWAY_H */
