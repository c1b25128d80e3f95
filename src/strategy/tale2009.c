/*
 * tale2009.c
 *	  RedisBloomFilter by tale2009 (2021): a filter in Redis that hashes with
 *	  murmur3 and CityHash, as in zero-allocation-hashing 0.15.
 *
 * All rules were measured on the original.  There p is a Java float, so sizes
 * are computed from the float nearest to p: for n = 1e7 and p = 0.01 there
 * are 95850584 bits, and not the 95850583 that a double gives.  n is an int.
 *
 * A k of 0 is not raised to 1: for p above about 0.7 the original makes
 * filters without hashes, which report every element as present.  We refuse
 * these.
 *
 * Elements are CharSequences, hashed as their UTF-16 code units in memory:
 * little-endian, without a byte order mark.  The original cannot add bytes.
 */
#include <inttypes.h>

#include "core/city.h"
#include "core/javamath.h"
#include "core/modulo.h"
#include "core/murmur3.h"
#include "strategy/sizing.h"

#define NAME	"tale2009"

/* Redis refuses bit offsets from 2^32 on. */
#define MAX_BITS	(UINT64_C(1) << 32)

/* The size, by the nearest float of p. */
static bool
tale2009_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	double		p = (double) (float) fpp;
	int64_t		bits;
	int64_t		hashes;

	if (expected > INT32_MAX)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "strategy \"%s\" takes at most %d expected elements, not %" PRId64,
					   NAME, INT32_MAX, expected);
	if (!(p > 0 && p < 1))
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "fpp %.17g is %g when rounded to a float, as by strategy \"%s\"",
					   fpp, p, NAME);
	bits = bf_java_long((double) -expected * log(p) / (BF_LN2 * BF_LN2));
	hashes = bf_java_round((double) bits / (double) expected * BF_LN2);
	if (bits > 0 && hashes < 1)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "strategy \"%s\" has no hash functions for expected %" PRId64 " and fpp %g, and would report every element as present",
					   NAME, expected, fpp);
	return bf_sizing_finish(NAME, expected, fpp, (double) bits,
							(double) MAX_BITS, hashes, layer, error);
}

/* LongHashFunction.murmur_3() and city_1_1(), both of these characters */
static void
tale2009_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	uint64_t	second_half;

	bf_murmur3_x64_128(data, length, &hash->word[0], &second_half);
	hash->word[1] = bf_city_64(data, length);
}

/* h1 + i * h2 + i * i, without the sign bit */
static void
tale2009_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				   uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);

	for (uint32_t j = 0; j < count; j++)
	{
		uint64_t	i = first + j;
		uint64_t	combined = hash->word[0] + i * hash->word[1] + i * i;

		positions[j] = bf_modulo(combined & INT64_MAX, divisor);
	}
}

static const BfDerivation tale2009_derivation = {
	.word_bits = 63,
	.squares = true
};

const BfStrategy bf_tale2009 = {
	.id = BF_STRATEGY_TALE2009,
	.name = NAME,
	.size = tale2009_size,
	.needs_elements = true,
	.bits_multiple = 1,
	.max_bits = MAX_BITS,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF16,
		[BF_KIND_BYTEA] = BF_FUNNEL_UNBOUND,
		[BF_KIND_INT2] = BF_FUNNEL_UTF16,
		[BF_KIND_INT4] = BF_FUNNEL_UTF16,
		[BF_KIND_INT8] = BF_FUNNEL_UTF16,
		[BF_KIND_UUID] = BF_FUNNEL_UNBOUND
	},
	.hash = tale2009_hash,
	.words = 2,
	.positions = tale2009_positions,
	.derivation = &tale2009_derivation,
	.order = BF_ORDER_REDIS
};
