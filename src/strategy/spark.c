/*
 * spark.c
 *	  Apache Spark's org.apache.spark.util.sketch.BloomFilter: version 1
 *	  ("spark1") and version 2 ("spark2").
 *
 * All rules were measured on Spark 3.5.9, 4.0.0, 4.1.0, 4.1.1 and 4.3.0.
 * Releases up to 4.0 make and read version 1; 4.1 and later make version 2.
 * Both share sizing (Guava's), hash and funnels (every integer is widened to
 * a long).  They differ in how positions follow from the hash, and in the
 * head of their streams.
 *
 * A filter of version 2 may have a seed, although no API of Spark sets one.
 * A value has no field for it, so streams with a seed other than 0 are
 * refused.
 *
 * The stream is what BloomFilter.writeTo writes, in big-endian integers: the
 * version, k, the seed (version 2), the number of words, then the words, as
 * in Guava's stream.  We refuse some streams that Spark reads: if k is below
 * 1 or above 255 (BF_MAX_HASHES, our own limit), if there are no words, or if
 * bytes follow the last word.
 */
#include <inttypes.h>

#include "core/bytes.h"
#include "core/modulo.h"
#include "core/murmur3_32.h"
#include "strategy/filter.h"
#include "strategy/sizing.h"

/* The start of a version's stream. */
#define AT_VERSION			0
#define AT_HASHES			4
#define AT_SEED				8
#define HEAD1_SIZE			12
#define HEAD2_SIZE			16

/* The number of words ends every head. */
#define WORDS_SIZE			4

/* The first hash is the second's seed. */
static void
spark_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	hash->word[0] = bf_murmur3_spark(data, length, 0);
	hash->word[1] = bf_murmur3_spark(data, length, (uint32_t) hash->word[0]);
	bf_hash_join(hash);
}

/*
 * BloomFilterImpl: h1 + h2, h1 + 2 * h2, ... in 32 bits; negative sums are
 * complemented.
 */
static void
spark1_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				 uint32_t count, uint64_t *positions)
{
	uint32_t	step = bf_hash_half(hash, 1);
	uint32_t	combined = bf_hash_half(hash, 0) + first * step;

	for (uint32_t i = 0; i < count; i++)
	{
		combined += step;
		positions[i] = (combined > INT32_MAX ? ~combined : combined) % bits;
	}
}

/*
 * BloomFilterImplV2: likewise in 64 bits from h1 * (2^31 - 1) on, but only the
 * positions are complemented.  No sum reaches 2^63.
 */
static void
spark2_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				 uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);
	int64_t		h1 = (int32_t) bf_hash_half(hash, 0);
	int64_t		step = (int32_t) bf_hash_half(hash, 1);
	int64_t		combined = h1 * INT32_MAX + first * step;

	for (uint32_t i = 0; i < count; i++)
	{
		combined += step;
		positions[i] = bf_modulo((uint64_t) (combined < 0 ? ~combined : combined),
								 divisor);
	}
}

/* A stream has a head and the bits of one layer. */
static bool
spark_measure(const BfFilter *filter, uint64_t *length, BfError *error)
{
	if (filter->plan.header.layers != 1)
		return bf_fail_hint(error, BF_ERROR_PARAMETER,
							"Use bf_export_layer to export a single layer.",
							"a Spark stream holds one layer, not %u",
							filter->plan.header.layers);
	*length = filter->plan.strategy->stream->head_size + filter->plan.first.bytes;
	return true;
}

/* What BloomFilter.writeTo() writes before the words. */
static void
spark_write_head(const BfFilter *filter, uint8_t *stream)
{
	size_t		head = filter->plan.strategy->stream->head_size;

	bf_store_be32(stream + AT_VERSION, head == HEAD1_SIZE ? 1 : 2);
	bf_store_be32(stream + AT_HASHES, filter->plan.first.hashes);
	if (head == HEAD2_SIZE)
		bf_store_be32(stream + AT_SEED, 0);
	bf_store_be32(stream + head - WORDS_SIZE,
				  (uint32_t) (filter->plan.first.bits / 64));
}

/* Check what follows the version, given its strategy and head. */
static bool
inspect_version(const BfStrategy *strategy, const uint8_t *stream,
				size_t length, BfPlan *plan, BfError *error)
{
	size_t		head = strategy->stream->head_size;
	uint32_t	hashes;
	uint32_t	words;

	if (length < head)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a Spark stream", length);
	hashes = bf_load_be32(stream + AT_HASHES);
	words = bf_load_be32(stream + head - WORDS_SIZE);
	if (hashes == 0 || hashes > BF_MAX_HASHES)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Spark stream with %" PRId32 " hash functions, not 1 to %d",
					   (int32_t) hashes, BF_MAX_HASHES);
	if (words == 0 || words > INT32_MAX)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Spark stream of %" PRId32 " words", (int32_t) words);
	if ((length - head) / 8 != words || length % 8 != head % 8)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Spark stream of %" PRIu32 " words in %zu bytes", words,
					   length);
	if (head == HEAD2_SIZE && bf_load_be32(stream + AT_SEED) != 0)
		return bf_fail_hint(error, BF_ERROR_UNSUPPORTED,
							"Make the filter in Spark without a seed.",
							"bloom filters of Spark with seed %" PRId32 " are not supported",
							(int32_t) bf_load_be32(stream + AT_SEED));
	return bf_plan_bits(strategy, (int64_t) words * 64, (int32_t) hashes,
						BF_FUNNEL_UNBOUND, plan, error);
}

/* Check more than BloomFilter.readFrom; the version tells the strategy. */
static bool
spark_inspect(const uint8_t *stream, size_t length, BfPlan *plan,
			  BfError *error)
{
	uint32_t	version;

	if (length < HEAD1_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a Spark stream", length);
	version = bf_load_be32(stream + AT_VERSION);
	if (version != 1 && version != 2)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "unknown version %" PRId32 " of a Spark stream",
					   (int32_t) version);
	return inspect_version(version == 1 ? &bf_spark1 : &bf_spark2, stream,
						   length, plan, error);
}

#define SPARK_STREAM(size) { \
	.name = "spark", \
	.order = BF_ORDER_STORED, \
	.head_size = size, \
	.measure = spark_measure, \
	.write_head = spark_write_head, \
	.inspect = spark_inspect \
}

static const BfStream spark1_stream = SPARK_STREAM(HEAD1_SIZE);
static const BfStream spark2_stream = SPARK_STREAM(HEAD2_SIZE);

#define SPARK_RULES \
	.size = bf_sizing_guava, \
	.needs_elements = true, \
	.bits_multiple = 64, \
	.max_bits = BF_GUAVA_MAX_BITS, \
	.funnels = { \
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8, \
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES, \
		[BF_KIND_INT2] = BF_FUNNEL_LONG, \
		[BF_KIND_INT4] = BF_FUNNEL_LONG, \
		[BF_KIND_INT8] = BF_FUNNEL_LONG, \
		[BF_KIND_UUID] = BF_FUNNEL_BYTES \
	}, \
	.hash = spark_hash, \
	.words = 2, \
	.can_be_live = true, \
	.has_counters = true, \
	.order = BF_ORDER_BITSET

/* Counting from 1, not from 0, amounts to another h1. */
static const BfDerivation spark1_derivation = {
	.word_bits = 32,
	.fold = BF_FOLD_COMPLEMENT
};

/* A sum's sign says as much of h1 and h2 as other values of them do. */
static const BfDerivation spark2_derivation = {
	.word_bits = 64,
	.never_wraps = true
};

const BfStrategy bf_spark1 = {
	.id = BF_STRATEGY_SPARK1,
	.name = "spark1",
	SPARK_RULES,
	.positions = spark1_positions,
	.derivation = &spark1_derivation,
	.wide_from = UINT64_C(1) << 30,
	.wide = &bf_spark2,
	.stream = &spark1_stream
};

const BfStrategy bf_spark2 = {
	.id = BF_STRATEGY_SPARK2,
	.name = "spark2",
	SPARK_RULES,
	.positions = spark2_positions,
	.derivation = &spark2_derivation,
	.stream = &spark2_stream
};
