/*
 * cassandra.c
 *	  The Bloom filter of Apache Cassandra 0.5 and 0.6.
 *
 * All rules were measured on Cassandra's own classes.  Later releases (from
 * 0.7 on) have other tables and 64-bit hashes, and are not supported.
 *
 * Sizes come from a table of probabilities by buckets (bits) per element and
 * number of hashes.  A p below the last one in the table is refused, and so
 * is an n for which there is less than one bucket per element.  A quirk is
 * kept: for p of 0.393 and more the original passes two arguments in the
 * wrong order, and uses one bucket and two hashes where two buckets and one
 * hash were meant.
 *
 * Bits are rounded up to words (java.util.BitSet.size()).  For 2^31 bits the
 * original's int overflows to -2147483648, but it works as the modulus all
 * the same: |h % -2^31| in Java is |h| % 2^31 in the 64-bit arithmetic used
 * here.
 *
 * Text is hashed as Java's "UTF-16" bytes: a byte order mark and big-endian
 * code units, but no bytes at all for the empty string.  The empty element
 * has h1 = h2 = 0, and so only position 0.
 */
#include <inttypes.h>

#include "core/murmur2.h"
#include "strategy/sizing.h"

#define NAME	"cassandra"

/* BloomCalculations: buckets and hashes of its table, and spare bits */
#define MAX_BUCKETS		15
#define MAX_TABLE_HASHES	8
#define EXCESS			20

/* BloomCalculations.optKPerBuckets */
static const uint8_t best_hashes[MAX_BUCKETS + 1] = {
	1, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 8, 8, 8, 8
};

/* BloomCalculations.probs: by buckets and hashes; 0 past a row's end */
static const double rates[MAX_BUCKETS + 1][MAX_TABLE_HASHES + 1] = {
	{1.0},
	{1.0, 1.0},
	{1.0, 0.393, 0.400},
	{1.0, 0.283, 0.237, 0.253},
	{1.0, 0.221, 0.155, 0.147, 0.160},
	{1.0, 0.181, 0.109, 0.092, 0.092, 0.101},
	{1.0, 0.154, 0.0804, 0.0609, 0.0561, 0.0578, 0.0638},
	{1.0, 0.133, 0.0618, 0.0423, 0.0359, 0.0347, 0.0364},
	{1.0, 0.118, 0.0489, 0.0306, 0.024, 0.0217, 0.0216, 0.0229},
	{1.0, 0.105, 0.0397, 0.0228, 0.0166, 0.0141, 0.0133, 0.0135, 0.0145},
	{1.0, 0.0952, 0.0329, 0.0174, 0.0118, 0.00943, 0.00844, 0.00819, 0.00846},
	{1.0, 0.0869, 0.0276, 0.0136, 0.00864, 0.0065, 0.00552, 0.00513, 0.00509},
	{1.0, 0.08, 0.0236, 0.0108, 0.00646, 0.00459, 0.00371, 0.00329, 0.00314},
	{1.0, 0.074, 0.0203, 0.00875, 0.00492, 0.00332, 0.00255, 0.00217, 0.00199},
	{1.0, 0.0689, 0.0177, 0.00718, 0.00381, 0.00244, 0.00179, 0.00146, 0.00129},
	{1.0, 0.0645, 0.0156, 0.00596, 0.003, 0.00183, 0.00128, 0.001, 0.000852}
};

/* The rate with the most hashes that a row has. */
static double
last_rate(int buckets)
{
	int			hashes = 0;

	while (hashes < MAX_TABLE_HASHES && rates[buckets][hashes + 1] > 0)
		hashes++;
	return rates[buckets][hashes];
}

/*
 * BloomCalculations.maxBucketsPerElement: limited by n and the range of an
 * int; 0 with an error if that is nothing.
 */
static int
max_buckets(int64_t expected, BfError *error)
{
	double		room = (double) (INT32_MAX - EXCESS) /
		(double) (expected > 1 ? expected : 1);

	if (room < 1)
	{
		bf_fail(error, BF_ERROR_LIMIT,
				"strategy \"%s\" takes at most %d expected elements, not %" PRId64,
				NAME, INT32_MAX - EXCESS, expected);
		return 0;
	}
	return room > MAX_BUCKETS ? MAX_BUCKETS : (int) room;
}

/* BloomFilter.bucketsFor, and what BitSet makes of its result */
static void
make_shape(int64_t expected, int buckets, int hashes, BfLayer *layer)
{
	int64_t		bits = expected * buckets + EXCESS;

	if (bits > INT32_MAX)
		bits = INT32_MAX;
	layer->bits = ((uint64_t) bits + 63) / 64 * 64;
	layer->hashes = (uint32_t) hashes;
}

/* BloomFilter.getFilter(long numElements, double maxFalsePosProbability) */
static bool
cassandra_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	int			max = max_buckets(expected, error);
	int			buckets = 2;
	int			hashes;

	if (max == 0)
		return false;
	if (fpp >= rates[2][1])
	{
		make_shape(expected, 1, 2, layer);
		return true;
	}
	if (fpp < last_rate(max))
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "strategy \"%s\" cannot reach fpp %g with expected %" PRId64 ", but only %g",
					   NAME, fpp, expected, last_rate(max));

	hashes = best_hashes[buckets];
	while (rates[buckets][hashes] > fpp && buckets < max)
	{
		buckets++;
		hashes = best_hashes[buckets];
	}
	while (hashes > 1 && rates[buckets][hashes - 1] <= fpp)
		hashes--;
	make_shape(expected, buckets, hashes, layer);
	return true;
}

/* BloomFilter.getFilter(long numElements, int targetBucketsPerElem) */
static bool
cassandra_size_by_buckets(int64_t expected, int32_t buckets, BfLayer *layer,
						  BfError *error)
{
	int			max;

	if (expected < 0)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "expected must not be negative, but is %" PRId64,
					   expected);
	if (buckets < 1)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "buckets per element must be positive, but are %" PRId32,
					   buckets);
	max = max_buckets(expected, error);
	if (max == 0)
		return false;
	if (buckets > max)
		buckets = max;
	make_shape(expected, buckets, best_hashes[buckets], layer);
	return true;
}

/* The first hash is the second's seed. */
static void
cassandra_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	hash->word[0] = bf_murmur2_cassandra(data, length, 0);
	hash->word[1] = bf_murmur2_cassandra(data, length, (uint32_t) hash->word[0]);
	bf_hash_join(hash);
}

/* Filter.getHashBuckets: |(h1 + i * h2) % m| in Java's ints */
static void
cassandra_positions(const BfHash *hash, uint64_t bits, uint32_t first,
					uint32_t count, uint64_t *positions)
{
	uint32_t	step = bf_hash_half(hash, 1);
	uint32_t	combined = bf_hash_half(hash, 0) + first * step;

	for (uint32_t i = 0; i < count; i++)
	{
		int64_t		h = (int32_t) combined;

		positions[i] = (uint64_t) (h < 0 ? -h : h) % bits;
		combined += step;
	}
}

static const BfDerivation cassandra_derivation = {
	.word_bits = 32,
	.fold = BF_FOLD_NEGATE
};

const BfStrategy bf_cassandra = {
	.id = BF_STRATEGY_CASSANDRA,
	.name = NAME,
	.size = cassandra_size,
	.size_by_buckets = cassandra_size_by_buckets,
	.bits_multiple = 64,
	.max_bits = UINT64_C(1) << 31,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF16,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_UTF16,
		[BF_KIND_INT4] = BF_FUNNEL_UTF16,
		[BF_KIND_INT8] = BF_FUNNEL_UTF16,
		[BF_KIND_UUID] = BF_FUNNEL_BYTES
	},
	.utf16_is_marked = true,
	.hash = cassandra_hash,
	.words = 2,
	.positions = cassandra_positions,
	.derivation = &cassandra_derivation,
	.order = BF_ORDER_BITSET
};
