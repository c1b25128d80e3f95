/*
 * guava.c
 *	  Google Guava's BloomFilter: MURMUR128_MITZ_64 ("guava") and
 *	  MURMUR128_MITZ_32 ("guava32").
 *
 * All rules were measured on Guava 31.1-jre.  Both strategies share sizing,
 * hash and stream; they differ in how positions follow from the hash.
 *
 * k is computed from the bits before they are rounded up to words.  Guava's
 * later releases compute it from p alone, which gives another k for tiny n.
 * So a value stores k, and it is never recomputed.
 *
 * The stream is what BloomFilter.writeTo writes: the strategy's ordinal, k in
 * an unsigned byte, the number of words (big-endian int), then the words,
 * each big-endian.  bloomext stores bits in the same order, so they are
 * copied.
 */
#include <inttypes.h>

#include "core/bytes.h"
#include "core/modulo.h"
#include "core/murmur3.h"
#include "strategy/filter.h"
#include "strategy/sizing.h"

#define STREAM_HEADER_SIZE	6

/* BloomFilterStrategies.ordinal() of the two. */
#define ORDINAL_MITZ_32		0
#define ORDINAL_MITZ_64		1

/* Hashing.murmur3_128(), in both strategies. */
static void
guava_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	bf_murmur3_x64_128(data, length, &hash->word[0], &hash->word[1]);
}

/* MURMUR128_MITZ_64: h1, h1 + h2, h1 + 2 * h2, ... without the sign bit. */
static void
mitz64_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				 uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);
	uint64_t	step = hash->word[1];
	uint64_t	combined = hash->word[0] + first * step;

	for (uint32_t i = 0; i < count; i++)
	{
		positions[i] = bf_modulo(combined & INT64_MAX, divisor);
		combined += step;
	}
}

/*
 * MURMUR128_MITZ_32: the low half of h1 plus 1, 2, 3, ... times its high half,
 * in 32 bits; negative sums are complemented, not negated.
 */
static void
mitz32_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				 uint32_t count, uint64_t *positions)
{
	uint32_t	low = (uint32_t) hash->word[0];
	uint32_t	high = (uint32_t) (hash->word[0] >> 32);

	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	combined = low + (first + i + 1) * high;

		if (combined > INT32_MAX)
			combined = ~combined;
		positions[i] = combined % bits;
	}
}

/* A stream has a head and the bits of one layer. */
static bool
guava_measure(const BfFilter *filter, uint64_t *length, BfError *error)
{
	if (filter->plan.header.layers != 1)
		return bf_fail_hint(error, BF_ERROR_PARAMETER,
							"Use bf_export_layer to export a single layer.",
							"a Guava stream holds one layer, not %u",
							filter->plan.header.layers);
	*length = STREAM_HEADER_SIZE + filter->plan.first.bytes;
	return true;
}

/* What BloomFilter.writeTo() writes before the words. */
static void
guava_write_head(const BfFilter *filter, uint8_t *stream)
{
	stream[0] = filter->plan.strategy == &bf_guava ?
		ORDINAL_MITZ_64 : ORDINAL_MITZ_32;
	stream[1] = (uint8_t) filter->plan.first.hashes;
	bf_store_be32(stream + 2, (uint32_t) (filter->plan.first.bits / 64));
}

/* What BloomFilter.readFrom checks, with nothing following it. */
static bool
guava_inspect(const uint8_t *stream, size_t length, BfPlan *plan,
			   BfError *error)
{
	uint32_t	words;

	if (length < STREAM_HEADER_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a Guava stream", length);
	if (stream[0] > ORDINAL_MITZ_64)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "unknown Guava strategy %u", stream[0]);
	if (stream[1] == 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Guava stream without hash functions");
	words = bf_load_be32(stream + 2);
	if (words == 0 || words > INT32_MAX)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Guava stream of %" PRId32 " words", (int32_t) words);
	if ((length - STREAM_HEADER_SIZE) / 8 != words || length % 8 != STREAM_HEADER_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Guava stream of %" PRIu32 " words in %zu bytes",
					   words, length);

	return bf_plan_bits(stream[0] == ORDINAL_MITZ_64 ? &bf_guava : &bf_guava32,
						(int64_t) words * 64, stream[1], BF_FUNNEL_UNBOUND,
						plan, error);
}

const BfStream bf_guava_stream = {
	.name = "guava",
	.order = BF_ORDER_STORED,
	.head_size = STREAM_HEADER_SIZE,
	.measure = guava_measure,
	.write_head = guava_write_head,
	.inspect = guava_inspect
};

/* Guava's own funnels: stringFunnel, unencodedCharsFunnel, ... */
#define GUAVA_RULES \
	.size = bf_sizing_guava, \
	.bits_multiple = 64, \
	.max_bits = BF_GUAVA_MAX_BITS, \
	.funnels = { \
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8, \
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES, \
		[BF_KIND_INT2] = BF_FUNNEL_INT, \
		[BF_KIND_INT4] = BF_FUNNEL_INT, \
		[BF_KIND_INT8] = BF_FUNNEL_LONG, \
		[BF_KIND_UUID] = BF_FUNNEL_BYTES \
	}, \
	.other_funnels = 1 << BF_FUNNEL_UTF16, \
	.hash = guava_hash, \
	.words = 2, \
	.can_be_live = true, \
	.has_counters = true, \
	.stream = &bf_guava_stream, \
	.order = BF_ORDER_REDIS

static const BfDerivation mitz64_derivation = {
	.word_bits = 63
};

/* Counting from 1, not from 0, amounts to another h1. */
static const BfDerivation mitz32_derivation = {
	.word_bits = 32,
	.fold = BF_FOLD_COMPLEMENT
};

const BfStrategy bf_guava = {
	.id = BF_STRATEGY_GUAVA,
	.name = "guava",
	GUAVA_RULES,
	.positions = mitz64_positions,
	.derivation = &mitz64_derivation
};

const BfStrategy bf_guava32 = {
	.id = BF_STRATEGY_GUAVA32,
	.name = "guava32",
	GUAVA_RULES,
	.positions = mitz32_positions,
	.derivation = &mitz32_derivation,
	.wide_from = UINT64_C(1) << 30,
	.wide = &bf_guava
};
