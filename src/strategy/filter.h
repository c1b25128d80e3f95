/*
 * filter.h
 *	  Add hashed elements to filters in memory, and look them up.
 */
#ifndef BLOOMEXT_FILTER_H
#define BLOOMEXT_FILTER_H

#include "strategy/strategy.h"

/* Elements whose cache lines are fetched together. */
#define BF_BATCH	32

extern bool bf_layer_contains(const BfFilter *filter, const BfLayer *layer,
							  const BfHash *hash);
extern void bf_layer_contains_batch(const BfFilter *filter,
									const BfLayer *layer, const BfHash *hashes,
									size_t count, bool *found);
extern void bf_filter_add(BfFilter *filter, const BfHash *hashes,
						  size_t count);
extern uint32_t bf_layer_add(const BfFilter *filter, const BfLayer *layer,
							 const BfHash *hash);
extern void bf_filter_count(BfFilter *filter, const BfHash *hash, int by);

#endif							/* BLOOMEXT_FILTER_H */
