/*
 * murmur3.h
 *	  MurmurHash3 x64 128 with seed 0.
 */
#ifndef BLOOMEXT_MURMUR3_H
#define BLOOMEXT_MURMUR3_H

#include <stddef.h>
#include <stdint.h>

extern void bf_murmur3_x64_128(const uint8_t *data, size_t length,
							   uint64_t *h1, uint64_t *h2);
extern void bf_murmur3_x64_256(const uint8_t *data, size_t length,
							   uint64_t hashes[4]);

#endif							/* BLOOMEXT_MURMUR3_H */
