/*
 * pieces.h
 *	  What type/pieces.c does in pieces, without a server to be interrupted.
 */
#ifndef BLOOMEXT_TEST_PIECES_H
#define BLOOMEXT_TEST_PIECES_H

#include "strategy/filter.h"

extern void hash_element(const BfStrategy *strategy, const uint8_t *bytes,
						 size_t length, BfHash *hash);
extern void free_hash(BfHash *hash);
extern bool filter_contains(const BfFilter *filter, const BfHash *hash);
extern void filter_contains_batch(const BfFilter *filter,
								  const BfHash *hashes, size_t count,
								  bool *found);
extern void stream_write(const BfFilter *filter, uint8_t *bytes);
extern void stream_read(const uint8_t *bytes, const BfFilter *filter,
						uint8_t *value);
extern void test_pieces(void);

#endif							/* BLOOMEXT_TEST_PIECES_H */
