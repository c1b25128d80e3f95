/*
 * highway.h
 *	  HighwayHash, the 128-bit result.
 */
#ifndef BLOOMEXT_HIGHWAY_H
#define BLOOMEXT_HIGHWAY_H

#include "core/longhash.h"

extern void bf_highway_128(const uint64_t key[4], const uint8_t *data,
						   size_t length, uint64_t *h1, uint64_t *h2);

/* Parts of a BfHashFunction, which starts by a key of its own. */
#define BF_HIGHWAY_BLOCK	32
extern void bf_highway_start(BfLongHash *hash, const uint64_t key[4]);
extern void bf_highway_take(BfLongHash *hash, const uint8_t *data,
							size_t length);
extern void bf_highway_finish(BfLongHash *hash, const uint8_t *rest,
							  size_t length);

#endif							/* BLOOMEXT_HIGHWAY_H */
