/*
 * filter.c
 *	  Open the bytes of a filter, add hashed elements to it, and look them up.
 *
 * In a filter larger than the caches, nearly all time goes into one cache
 * miss per position; hashing and division are negligible.  So elements are
 * processed in batches: first all cache lines of a batch are prefetched, and
 * then they are used.  Lookups of a batch have two stages, as most absent
 * elements fail at one of their first three positions.  The further positions
 * are fetched only for the elements that remain.
 *
 * A single lookup in a layer larger than the caches must wait for its lines,
 * so it prefetches all of them at once.  A second stage would be a second
 * wait (measured at 24 MB: no gain for absent elements, 3 % lost for others).
 * In a layer that fits into the caches there is no wait.  There two stages
 * save the second one for most absent elements, a third of the time of their
 * lookup.
 *
 * If the strategy has blocks, all positions of an element are in one block.
 * Then there are no stages, and no positions are computed: the block, which
 * may be in two cache lines, is prefetched, and added to or tested as a
 * whole.
 *
 * Loops over the layers, of which there may be 1,024, pause at each
 * (core/pause.h), so at most BF_BATCH times BF_MAX_HASHES positions are
 * processed between two pauses.
 */
#include "strategy/filter.h"

/* Positions that the first stage tests. */
#define FIRST_STAGE		3

/* Bytes of a layer that fit into a cache of a core's own. */
#define CACHED			(512 * 1024)

/* Positions fetched together: a batch with about 13 hashes. */
#define POSITIONS		512

/*
 * Open and check a value's bytes, whatever their source: by the format, then by
 * the strategy.  Arguments as for bf_format_decode().
 */
bool
bf_filter_open(const uint8_t *bytes, size_t available, uint64_t length,
			   BfFilter *filter, BfError *error)
{
	const BfStrategy *strategy;
	BfHeader   *header = &filter->plan.header;

	if (!bf_format_decode(bytes, available, length, header, &filter->plan.first,
						  error))
		return false;
	filter->bytes = bytes;
	filter->length = length;
	filter->whole = available == length;

	filter->plan.layers = NULL;
	filter->plan.strategy = strategy = bf_strategy_by_id(header->strategy);
	if (strategy == NULL)
		return bf_fail(error, BF_ERROR_MALFORMED, "unknown strategy %u",
					   header->strategy);
	if (header->funnel != BF_FUNNEL_UNBOUND &&
		(header->funnel > BF_FUNNEL_LAST ||
		 !bf_strategy_takes_funnel(strategy, (BfFunnel) header->funnel)))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "funnel %u is invalid for strategy \"%s\"",
					   header->funnel, strategy->name);
	if (header->meaning > BF_MEANING_LAST ||
		(header->meaning != BF_MEANING_UNKNOWN &&
		 header->funnel == BF_FUNNEL_UNBOUND))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "meaning %u is invalid for funnel %u",
					   header->meaning, header->funnel);
	if (header->cell_bits == BF_CELL_COUNTER && !strategy->has_counters)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "strategy \"%s\" does not support counters",
					   strategy->name);
	bf_foreach_layer(layer, filter)
	{
		if (!bf_strategy_accepts(strategy, layer.bits, layer.hashes, error))
		{
			error->code = BF_ERROR_MALFORMED;
			return false;
		}
	}
	return true;
}

/* The layer of an index, which must exist. */
BfLayer
bf_filter_layer(const BfFilter *filter, uint32_t index)
{
	BfLayer		layer = filter->plan.first;

	while (layer.index < index)
		bf_filter_next_layer(filter, &layer);
	return layer;
}

/* Copy all layers to an array. */
void
bf_filter_list_layers(const BfFilter *filter, BfLayer *layers)
{
	bf_foreach_layer(layer, filter)
		layers[layer.index] = layer;
}

/*
 * Set the number of elements that a layer has counted, in the filter's bytes,
 * which must be writable, and in its decoded first layer.
 */
void
bf_filter_set_counted(BfFilter *filter, uint32_t index, uint64_t counted)
{
	bf_format_set_counted((uint8_t *) filter->bytes, index, counted);
	if (index == 0)
		filter->plan.first.counted = counted;
}

/* bf_hash_reach() for a hash with room for digests. */
void
bf_hash_digest(const BfStrategy *strategy, BfHash *hash, uint32_t hashes)
{
	uint32_t	wanted = (hashes + strategy->hashes_a_digest - 1) /
		strategy->hashes_a_digest;

	for (; hash->ndigests < wanted; hash->ndigests++)
	{
		bf_pause();
		strategy->digest(hash->ndigests, hash->data, hash->length,
						 hash->digests[hash->ndigests]);
	}
}

/*
 * Prefetch the cache lines of positions: for reading even if they will be
 * written, as prefetching for writing was measured to be slightly slower.
 */
static inline void
prefetch_for_read(const uint8_t *cells, const uint64_t *positions,
				  uint32_t count, uint8_t cell_bits)
{
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(cells + bf_cell_byte(positions[i], cell_bits), 0);
}

/* Prefetch the cache lines of bits that are to be set. */
static inline void
prefetch_for_write(const uint8_t *bits, const uint64_t *positions,
				   uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(bits + bf_bit_byte(positions[i]), 0);
}

/* Prefetch a block, which may be in two cache lines. */
static inline void
prefetch_block(const uint8_t *block, uint32_t bytes)
{
	__builtin_prefetch(block, 0);
	__builtin_prefetch(block + bytes - 1, 0);
}

/* Find and prefetch the blocks of at most BF_BATCH elements. */
static void
find_blocks(const BfFilter *filter, const BfLayer *layer,
			const BfHash *hashes, size_t count,
			const uint8_t *blocks[BF_BATCH])
{
	const BfBlocks *rules = filter->plan.strategy->blocks;

	for (size_t i = 0; i < count; i++)
	{
		blocks[i] = filter->bytes + layer->offset +
			rules->find(&hashes[i], layer->bits);
		prefetch_block(blocks[i], rules->bytes);
	}
}

/* Whether all cells at some positions are set. */
static inline bool
all_set(const uint8_t *cells, const uint64_t *positions, uint32_t count,
		uint8_t cell_bits)
{
	for (uint32_t i = 0; i < count; i++)
	{
		if (!bf_cell_get(cells, positions[i], cell_bits))
			return false;
	}
	return true;
}

/* all_set() without branches, for cells that are as likely set as not. */
static inline bool
all_set_branchless(const uint8_t *cells, const uint64_t *positions,
				  uint32_t count, uint8_t cell_bits)
{
	bool		all = true;

	for (uint32_t i = 0; i < count; i++)
		all &= bf_cell_get(cells, positions[i], cell_bits);
	return all;
}

/* is_in_layer(), for a constant width. */
static inline __attribute__((always_inline)) bool
layer_contains(const BfFilter *filter, const BfLayer *layer,
			   const BfHash *hash, uint8_t width)
{
	const BfStrategy *strategy = filter->plan.strategy;
	const uint8_t *cells = filter->bytes + layer->offset;
	uint32_t	first = layer->hashes < FIRST_STAGE ? layer->hashes : FIRST_STAGE;
	uint64_t	positions[BF_MAX_HASHES];

	if (layer->bytes > CACHED)
		first = 0;
	else
	{
		strategy->positions(hash, layer->bits, 0, first, positions);
		if (!all_set_branchless(cells, positions, first, width))
			return false;
	}
	strategy->positions(hash, layer->bits, first, layer->hashes - first,
						positions);
	prefetch_for_read(cells, positions, layer->hashes - first, width);
	return all_set(cells, positions, layer->hashes - first, width);
}

/* Whether a layer contains an element. */
static inline bool
is_in_layer(const BfFilter *filter, const BfLayer *layer, BfHash *hash)
{
	const BfBlocks *blocks = filter->plan.strategy->blocks;

	if (blocks != NULL)
		return blocks->test(filter->bytes + layer->offset +
							blocks->find(hash, layer->bits), hash);
	bf_hash_reach(filter->plan.strategy, hash, layer->hashes);
	if (filter->plan.header.cell_bits == BF_CELL_BIT)
		return layer_contains(filter, layer, hash, BF_CELL_BIT);
	return layer_contains(filter, layer, hash, BF_CELL_COUNTER);
}

/* Whether a filter contains an element.  Most have one layer. */
bool
bf_filter_contains(const BfFilter *filter, BfHash *hash)
{
	if (filter->plan.header.layers == 1)
		return is_in_layer(filter, &filter->plan.first, hash);
	bf_foreach_layer(layer, filter)
	{
		if (is_in_layer(filter, &layer, hash))
			return true;
		bf_pause();
	}
	return false;
}

/*
 * Look up at most BF_BATCH elements in one layer, in two stages, except for
 * those that are found already.
 */
static void
layer_contains_batch(const BfFilter *filter, const BfLayer *layer,
					 const BfHash *hashes, size_t count, bool *found)
{
	const BfStrategy *strategy = filter->plan.strategy;
	const uint8_t *cells = filter->bytes + layer->offset;
	uint8_t		width = filter->plan.header.cell_bits;
	uint32_t	first = layer->hashes < FIRST_STAGE ? layer->hashes : FIRST_STAGE;
	uint32_t	rest = layer->hashes - first;
	size_t		together = POSITIONS / (rest > 0 ? rest : 1);
	uint64_t	positions[POSITIONS];
	size_t		survivors[BF_BATCH];
	size_t		nsurvivors = 0;

	for (size_t i = 0; i < count; i++)
	{
		strategy->positions(&hashes[i], layer->bits, 0, first,
							positions + i * first);
		prefetch_for_read(cells, positions + i * first, first, width);
	}
	for (size_t i = 0; i < count; i++)
	{
		survivors[nsurvivors] = i;
		nsurvivors += !found[i] &
			all_set_branchless(cells, positions + i * first, first, width);
	}

	for (size_t done = 0; done < nsurvivors; done += together)
	{
		const size_t *at = survivors + done;
		size_t		n = nsurvivors - done < together ? nsurvivors - done : together;

		for (size_t i = 0; i < n; i++)
		{
			strategy->positions(&hashes[at[i]], layer->bits, first, rest,
								positions + i * rest);
			prefetch_for_read(cells, positions + i * rest, rest, width);
		}
		for (size_t i = 0; i < n; i++)
			found[at[i]] = all_set(cells, positions + i * rest, rest, width);
	}
}

/* layer_contains_batch() where all positions of an element are in a block. */
static void
blocks_contain_batch(const BfFilter *filter, const BfLayer *layer,
					 const BfHash *hashes, size_t count, bool *found)
{
	const BfBlocks *rules = filter->plan.strategy->blocks;
	const uint8_t *blocks[BF_BATCH];

	find_blocks(filter, layer, hashes, count, blocks);
	for (size_t i = 0; i < count; i++)
		found[i] |= rules->test(blocks[i], &hashes[i]);
}

/*
 * Look up at most BF_BATCH elements in the layers from one to before another,
 * except for those that are found already.
 */
void
bf_layers_contain_batch(const BfFilter *filter, uint32_t from, uint32_t until,
						BfHash *hashes, size_t count, bool *found)
{
	BfLayer		layer = bf_filter_layer(filter, from);

	for (; layer.index < until; bf_filter_next_layer(filter, &layer))
	{
		bf_pause();
		if (filter->plan.strategy->blocks != NULL)
		{
			blocks_contain_batch(filter, &layer, hashes, count, found);
			continue;
		}
		bf_hashes_reach(filter->plan.strategy, hashes, count, layer.hashes,
						found);
		layer_contains_batch(filter, &layer, hashes, count, found);
	}
}

/* Look up any number of elements, with an answer for each. */
void
bf_filter_contains_batch(const BfFilter *filter, BfHash *hashes, size_t count,
						 bool *found)
{
	memset(found, 0, count * sizeof(bool));
	for (size_t start = 0; start < count; start += BF_BATCH)
		bf_layers_contain_batch(filter, 0, filter->plan.header.layers,
								hashes + start,
								count - start < BF_BATCH ? count - start : BF_BATCH,
								found + start);
}

/* bf_filter_add() where all positions of an element are in a block. */
static void
add_to_blocks(BfFilter *filter, const BfHash *hashes, size_t count)
{
	const BfBlocks *rules = filter->plan.strategy->blocks;
	const uint8_t *blocks[BF_BATCH];

	find_blocks(filter, &filter->plan.first, hashes, count, blocks);
	for (size_t i = 0; i < count; i++)
		rules->add((uint8_t *) blocks[i], &hashes[i]);
}

/*
 * Add at most BF_BATCH elements to a plain filter of one layer, whose bytes
 * must be writable.
 */
void
bf_filter_add(BfFilter *filter, const BfHash *hashes, size_t count)
{
	const BfStrategy *strategy = filter->plan.strategy;
	const BfLayer *layer = &filter->plan.first;
	uint8_t    *bits = (uint8_t *) filter->bytes + layer->offset;
	uint64_t	positions[POSITIONS];
	uint32_t	filled = 0;

	if (strategy->blocks != NULL)
	{
		add_to_blocks(filter, hashes, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
	{
		strategy->positions(&hashes[i], layer->bits, 0, layer->hashes,
							positions + filled);
		prefetch_for_write(bits, positions + filled, layer->hashes);
		filled += layer->hashes;

		if (filled + layer->hashes > POSITIONS || i + 1 == count)
		{
			for (uint32_t j = 0; j < filled; j++)
				bf_bit_set(bits, positions[j]);
			filled = 0;
		}
	}
}

/* Set bits; returns the number of those that were not set before. */
static inline uint32_t
set_all(uint8_t *bits, const uint64_t *positions, uint32_t count)
{
	uint32_t	changed = 0;

	for (uint32_t i = 0; i < count; i++)
		changed += bf_bit_set(bits, positions[i]);
	return changed;
}

/*
 * Add elements to the newest layer of a plain, writable filter, one by one,
 * except for those that an older layer contains.  A new element takes room: of
 * one element if layers count, else of each bit that it sets.  Stops after the
 * element that takes the last room or, if layers count, before the next new
 * one.  Returns the number of elements processed, which may be fewer than
 * there is room for, but is 0 only if there is no room.
 */
size_t
bf_layer_add(BfFilter *filter, BfLayer *layer, const BfHash *hashes,
			 size_t count, const bool *held, uint64_t *room)
{
	bool		counts = filter->plan.strategy->counts_elements;
	uint8_t    *bits = (uint8_t *) filter->bytes + layer->offset;
	uint32_t	k = layer->hashes;
	uint64_t	positions[POSITIONS];

	if (count > POSITIONS / k)
		count = POSITIONS / k;
	for (size_t i = 0; i < count; i++)
	{
		if (held[i])
			continue;
		filter->plan.strategy->positions(&hashes[i], layer->bits, 0, k,
										 positions + i * k);
		prefetch_for_write(bits, positions + i * k, k);
	}
	for (size_t i = 0; i < count; i++)
	{
		uint32_t	taken = 0;

		if (counts && *room == 0 && !held[i] &&
			!all_set(bits, positions + i * k, k, BF_CELL_BIT))
			return i;
		if (!held[i])
			taken = set_all(bits, positions + i * k, k);
		if (counts)
			layer->counted += taken = taken > 0;
		*room -= taken < *room ? taken : *room;
		if (*room == 0 && !counts)
			return i + 1;
	}
	return count;
}

/* An element's distinct positions; returns their number. */
static uint32_t
distinct_positions(const BfFilter *filter, const BfHash *hash,
				   uint64_t *positions)
{
	uint32_t	kept = 0;

	filter->plan.strategy->positions(hash, filter->plan.first.bits, 0,
									 filter->plan.first.hashes, positions);
	for (uint32_t i = 0; i < filter->plan.first.hashes; i++)
	{
		uint32_t	j = 0;

		while (j < kept && positions[j] != positions[i])
			j++;
		if (j == kept)
			positions[kept++] = positions[i];
	}
	return kept;
}

/*
 * Add 1 or -1 to the counters of an element in a counting, writable filter.  A
 * counter at its maximum stays: more elements may share it than it counts.
 */
void
bf_filter_count(BfFilter *filter, const BfHash *hash, int by)
{
	uint8_t    *cells = (uint8_t *) filter->bytes + filter->plan.first.offset;
	uint64_t	positions[BF_MAX_HASHES];
	uint32_t	count = distinct_positions(filter, hash, positions);

	for (uint32_t i = 0; i < count; i++)
	{
		uint8_t		counter = bf_counter_get(cells, positions[i]);

		if (counter < BF_COUNTER_MAX)
			bf_counter_put(cells, positions[i], (uint8_t) (counter + by));
	}
}

/*
 * Add the bits of a filter of one layer, whose strategy has blocks, to a writable
 * one of a q-th of its size.  A block is selected by a fraction of the hashes, so
 * that q adjacent blocks, OR-ed, are the block that the same elements have there.
 */
void
bf_filter_fold(const BfFilter *filter, BfFilter *smaller)
{
	const BfLayer *layer = &filter->plan.first;
	uint32_t	block = filter->plan.strategy->blocks->bytes;
	uint64_t	together = layer->bytes / smaller->plan.first.bytes;
	uint8_t    *into = (uint8_t *) smaller->bytes + smaller->plan.first.offset;

	bf_for_bytes(i, block, layer->bytes)
		bf_bits_or(into + i / block / together * block,
				   filter->bytes + layer->offset + i, block);
}

/* The number of cells of a layer that are not zero. */
uint64_t
bf_layer_count(const BfFilter *filter, const BfLayer *layer)
{
	bf_pause();
	return bf_cells_count(filter->bytes + layer->offset, layer->bytes,
						  filter->plan.header.cell_bits);
}

/* Write a filter's stream, of the length that measure() returned. */
void
bf_stream_write(const BfFilter *filter, uint8_t *bytes)
{
	const BfStream *stream = filter->plan.strategy->stream;
	uint8_t    *bits = bytes + bf_stream_head_size(stream, &filter->plan);

	stream->write_head(filter, bytes);
	bf_foreach_layer(layer, filter)
	{
		bf_pause();
		bf_bits_to_order(stream->order, filter->bytes + layer.offset, bits,
						 layer.bytes);
		bits += layer.bytes;
	}
}

/* Read the bits of a stream into the value that inspect() has described. */
void
bf_stream_read(const uint8_t *bytes, const BfFilter *filter, uint8_t *value)
{
	const BfStream *stream = filter->plan.strategy->stream;
	const uint8_t *bits = bytes + bf_stream_head_size(stream, &filter->plan);

	bf_foreach_layer(layer, filter)
	{
		bf_pause();
		bf_bits_from_order(stream->order, bits, layer.bytes,
						   value + layer.offset);
		bits += layer.bytes;
	}
}
