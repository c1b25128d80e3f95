/*
 * pieces.c
 *	  What type/pieces.c does in pieces, without a server to be interrupted; and
 *	  tests that pieces, however they are cut, add up to the whole.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"
#include "vectors.h"

/* Hash an element, all digests included, to be freed by free_hash(). */
void
hash_element(const BfStrategy *strategy, const uint8_t *bytes, size_t length,
			 BfHash *hash)
{
	*hash = (BfHash) {0};
	strategy->hash(bytes, length, hash);
	if (strategy->words > 0)
		return;
	hash->digests = allocate(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
	for (; hash->ndigests < BF_MAX_DIGESTS; hash->ndigests++)
		strategy->digest(hash->ndigests, bytes, length,
						 hash->digests[hash->ndigests]);
}

void
free_hash(BfHash *hash)
{
	free(hash->digests);
}

bool
filter_contains(const BfFilter *filter, const BfHash *hash)
{

	bf_foreach_layer(layer, filter)
	{
		if (bf_layer_contains(filter, &layer, hash))
			return true;
	}
	return false;
}

void
filter_contains_batch(const BfFilter *filter, const BfHash *hashes,
					  size_t count, bool *found)
{
	memset(found, 0, count * sizeof(bool));
	for (size_t start = 0; start < count; start += BF_BATCH)
	{

		bf_foreach_layer(layer, filter)
			bf_layer_contains_batch(filter, &layer, hashes + start,
									count - start < BF_BATCH ? count - start : BF_BATCH,
									found + start);
	}
}

void
stream_write(const BfFilter *filter, uint8_t *bytes)
{
	const BfStream *stream = filter->plan.strategy->stream;
	uint8_t    *bits = bytes + bf_stream_head_size(stream, filter->plan.header.layers);

	stream->write_head(filter, bytes);
	bf_foreach_layer(layer, filter)
	{
		bf_bits_to_order(stream->order, filter->bytes + layer.offset, bits,
						 layer.bytes);
		bits += layer.bytes;
	}
}

void
stream_read(const uint8_t *bytes, const BfFilter *filter, uint8_t *value)
{
	const BfStream *stream = filter->plan.strategy->stream;
	const uint8_t *bits = bytes +
		bf_stream_head_size(stream, filter->plan.header.layers);

	bf_foreach_layer(layer, filter)
	{
		bf_bits_from_order(stream->order, bits, layer.bytes,
						   value + layer.offset);
		bits += layer.bytes;
	}
}

/* Run a function over data in pieces of some size; counts the calls. */
static size_t
run_in_pieces(BfLongHash *run, const BfHashFunction *function,
			  const uint8_t *data, size_t length, uint64_t seed, size_t piece)
{
	size_t		calls = 1;

	bf_longhash_start(run, function, data, length, seed);
	while (!bf_longhash_take(run, piece))
		calls++;
	return calls;
}

/* The hash of long data is that of short data, whatever the pieces are. */
static void
check_long_hash(const BfStrategy *strategy, const uint8_t *data,
				size_t length, size_t piece)
{
	BfHash		whole;
	BfHash		pieces = {0};
	BfLongHash	run;

	hash_element(strategy, data, length, &whole);
	for (size_t i = 0; i < 2 && strategy->functions[i] != NULL; i++)
	{
		size_t		calls = run_in_pieces(&run, strategy->functions[i], data,
										  length,
										  i == 0 ? strategy->seed : pieces.word[0],
										  piece);
		size_t		block = strategy->functions[i]->block;
		size_t		step = piece < block ? block : piece - piece % block;

		/* Bytes of the end go without a call, those of the start with one. */
		CHECK(calls * step + 64 >= length,
			  "%s: %zu bytes in %zu pieces of %zu", strategy->name, length,
			  calls, piece);
		if (strategy->words > 0)
			memcpy(&pieces.word[i * bf_function_words(strategy)],
				   run.result.wide,
				   bf_function_words(strategy) * sizeof(uint64_t));
	}
	if (strategy->joins_hashes)
		bf_hash_join(&pieces);
	if (strategy->words > 0)
		CHECK(memcmp(whole.word, pieces.word, sizeof(whole.word)) == 0,
			  "%s: hash of %zu bytes in pieces of %zu differs", strategy->name,
			  length, piece);
	for (uint32_t i = 0; i < whole.ndigests; i++)
	{
		run_in_pieces(&run, strategy->functions[0], data, length, i, piece);
		CHECK(memcmp(run.result.narrow, whole.digests[i],
					 sizeof(run.result.narrow)) == 0,
			  "%s: digest %u of %zu bytes in pieces of %zu differs",
			  strategy->name, i, length, piece);
	}
	free_hash(&whole);
}

void
test_pieces(void)
{
	static const size_t pieces[] = {1, 63, 64, 100, 200, 1000, 1 << 20};
	uint8_t		data[4 * BF_LEAST_LONG + 80];
	const BfStrategy *strategy;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t) (i * 0x9e3779b1u >> 13);
	for (size_t s = 0; (strategy = bf_strategy_at(s)) != NULL; s++)
	{
		for (size_t length = BF_LEAST_LONG; length <= sizeof(data);
			 length += length < 2 * BF_LEAST_LONG + 70 ? 1 : 37)
		{
			for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
				check_long_hash(strategy, data, length, pieces[i]);
		}
	}
}
