/*
 * layers.c
 *	  Batches that are added to a layer against a model that adds bit by bit.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/filter.h"
#include "vectors.h"

#define ROUNDS	2000

/* Some element of few, so that many come again. */
static BfHash
some_hash(uint32_t number)
{
	BfHash		hash = {0};

	bf_guava.hash((const uint8_t *) &number, sizeof(number), &hash);
	return hash;
}

/* Add an element bit by bit; returns the room that it takes. */
static uint64_t
add_by_model(BfFilter *filter, BfLayer *layer, const BfHash *hash)
{
	uint8_t    *bits = (uint8_t *) filter->bytes + layer->offset;
	uint64_t	positions[BF_MAX_HASHES];
	uint64_t	changed = 0;

	filter->plan.strategy->positions(hash, layer->bits, 0, layer->hashes,
									 positions);
	for (uint32_t i = 0; i < layer->hashes; i++)
		changed += bf_bit_set(bits, positions[i]);
	if (!filter->plan.strategy->counts_elements)
		return changed;
	layer->counted += changed > 0;
	return changed > 0;
}

/* Add a batch to a filter, what was done of it to its twin, and compare. */
static void
check_batch(BfFilter *filter, BfLayer *layer, BfFilter *twin,
			BfLayer *twin_layer, uint32_t round)
{
	bool		counts = filter->plan.strategy->counts_elements;
	BfHash		hashes[BF_BATCH];
	bool		held[BF_BATCH];
	size_t		count = round % BF_BATCH + 1;
	uint64_t	room = round % 41;
	uint64_t	left = room;
	size_t		done;

	for (size_t i = 0; i < count; i++)
	{
		hashes[i] = some_hash((round * BF_BATCH + (uint32_t) i) * 0x9e3779b1u % (round / 4 + 1));
		held[i] = hashes[i].word[0] % 5 == 0;
	}
	done = bf_layer_add(filter, layer, hashes, count, held, &left);
	CHECK(done <= count && (done > 0 || room == 0), "%zu of %zu elements done",
		  done, count);
	for (size_t i = 0; i < done; i++)
	{
		uint64_t	taken = held[i] ? 0 :
			add_by_model(twin, twin_layer, &hashes[i]);

		CHECK(counts ? taken <= room : i == 0 || room > 0,
			  "element %zu is added without room", i);
		room -= taken < room ? taken : room;
	}
	CHECK(room == left && layer->counted == twin_layer->counted &&
		  memcmp(filter->bytes, twin->bytes, filter->length) == 0,
		  "%s, %" PRIu32 " hashes, round %" PRIu32 ": a batch differs from its elements",
		  filter->plan.strategy->name, layer->hashes, round);
}

/* Batches of all lengths, for filters from empty to over half full. */
static void
check_batches(const BfStrategy *strategy, uint32_t hashes)
{
	BfFilter	filter;
	BfFilter	twin;
	uint8_t    *value = make_value(strategy, hashes * UINT64_C(640), hashes, &filter);
	uint8_t    *twin_value = make_value(strategy, hashes * UINT64_C(640), hashes, &twin);
	BfLayer		layer = filter.plan.first;
	BfLayer		twin_layer = layer;

	for (uint32_t round = 0; round < ROUNDS; round++)
		check_batch(&filter, &layer, &twin, &twin_layer, round);
	free(value);
	free(twin_value);
}

void
test_layers(void)
{
	static const uint32_t hashes[] = {1, 7, 17, 60, BF_MAX_HASHES};

	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
	{
		check_batches(&bf_guava, hashes[i]);
		check_batches(&bf_redisbloom, hashes[i]);
	}
}
