/*
 * murmur3_32.h
 *	  MurmurHash3 x86 32, with the tail that Spark gives it.
 */
#ifndef BLOOMEXT_MURMUR3_32_H
#define BLOOMEXT_MURMUR3_32_H

#include <stddef.h>
#include <stdint.h>

extern uint32_t bf_murmur3_spark(const uint8_t *data, size_t length,
								 uint32_t seed);

#endif							/* BLOOMEXT_MURMUR3_32_H */
