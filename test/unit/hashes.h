/*
 * hashes.h
 *	  Hashes of elements, with memory for all that there is of them.
 */
#ifndef BLOOMEXT_TEST_HASHES_H
#define BLOOMEXT_TEST_HASHES_H

#include "strategy/filter.h"

extern void hash_element(const BfStrategy *strategy, const uint8_t *bytes,
						 size_t length, BfHash *hash);
extern void free_hash(BfHash *hash);

#endif							/* BLOOMEXT_TEST_HASHES_H */
