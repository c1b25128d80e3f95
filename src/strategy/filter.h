/*
 * filter.h
 *	  A filter in memory: add elements and look them up.
 */
#ifndef BLOOMEXT_FILTER_H
#define BLOOMEXT_FILTER_H

#include "core/pause.h"
#include "strategy/plan.h"

/* Elements whose cache lines are fetched together. */
#define BF_BATCH	32

/*
 * A checked, read-only view of a value.  `bytes` contains at least the prefix,
 * followed by the bits if `whole`.  Layers after the first are in the bytes
 * only: bf_foreach_layer() iterates over them.
 */
typedef struct BfFilter
{
	BfPlan		plan;
	const uint8_t *bytes;
	uint64_t	length;			/* of the whole value */
	bool		whole;
} BfFilter;

/* Advance to the layer after this one, or past the last. */
static inline void
bf_filter_next_layer(const BfFilter *filter, BfLayer *layer)
{
	bf_format_next_layer(filter->bytes, &filter->plan.header, layer);
}

/* Iterate over a filter's layers, each a BfLayer of the given name. */
#define bf_foreach_layer(layer, filter) \
	for (BfLayer layer = (filter)->plan.first; \
		 layer.index < (filter)->plan.header.layers; \
		 bf_filter_next_layer((filter), &layer))

extern bool bf_filter_open(const uint8_t *bytes, size_t available,
						   uint64_t length, BfFilter *filter, BfError *error);
extern BfLayer bf_filter_layer(const BfFilter *filter, uint32_t index);
extern void bf_filter_list_layers(const BfFilter *filter, BfLayer *layers);
extern void bf_filter_set_counted(BfFilter *filter, uint32_t index,
								  uint64_t counted);

/* Compute the digests of a hash that a layer needs. */
extern void bf_hash_digest(const BfStrategy *strategy, BfHash *hash,
						   uint32_t hashes);

/* Compute what the first `hashes` positions derive from, if necessary. */
static inline void
bf_hash_reach(const BfStrategy *strategy, BfHash *hash, uint32_t hashes)
{
	if (strategy->words == 0)
		bf_hash_digest(strategy, hash, hashes);
}

/* Likewise for many elements, except for those that are found already. */
static inline void
bf_hashes_reach(const BfStrategy *strategy, BfHash *hashes, size_t count,
				uint32_t positions, const bool *found)
{
	for (size_t i = 0; i < count && strategy->words == 0; i++)
	{
		if (!found[i])
			bf_hash_digest(strategy, &hashes[i], positions);
	}
}

extern bool bf_filter_contains(const BfFilter *filter, BfHash *hash);
extern void bf_layers_contain_batch(const BfFilter *filter, uint32_t from,
									uint32_t until, BfHash *hashes,
									size_t count, bool *found);
extern void bf_filter_contains_batch(const BfFilter *filter, BfHash *hashes,
									 size_t count, bool *found);
extern void bf_filter_add(BfFilter *filter, const BfHash *hashes,
						  size_t count);
extern size_t bf_layer_add(BfFilter *filter, BfLayer *layer,
						   const BfHash *hashes, size_t count,
						   const bool *held, uint64_t *room);
extern void bf_filter_count(BfFilter *filter, const BfHash *hash, int by);
extern void bf_filter_fold(const BfFilter *filter, BfFilter *smaller);
extern uint64_t bf_layer_count(const BfFilter *filter, const BfLayer *layer);

extern void bf_stream_write(const BfFilter *filter, uint8_t *bytes);
extern void bf_stream_read(const uint8_t *bytes, const BfFilter *filter,
						   uint8_t *value);

#endif							/* BLOOMEXT_FILTER_H */
