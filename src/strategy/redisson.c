/*
 * redisson.c
 *	  Redisson's RBloomFilter.
 *
 * All rules were measured on Redisson 3.16.1 and on master (66863978b), which
 * agree in bits; filters have not changed since 3.6.0.
 *
 * The number of bits is not rounded to words: m is the truncated result of
 * the formula.  Redisson compares both m and k as text with those in its
 * config hash in Redis.
 *
 * Positions are not h1 + i * h2.  Redisson's loop adds h2 and h1 in turn, so
 * the sequence is h1, h1 + h2, 2 h1 + h2, 2 h1 + 2 h2, ...
 *
 * An element is the bytes that the codec makes of it: StringCodec gives the
 * text in UTF-8, LongCodec and IntegerCodec the number's decimal text,
 * ByteArrayCodec the bytes.  The default codecs serialize Java objects, which
 * only Java can do.
 */
#include "core/highway.h"
#include "core/javamath.h"
#include "core/modulo.h"
#include "strategy/sizing.h"

#define NAME	"redisson"

/* RedissonBloomFilter.getMaxSize(): Integer.MAX_VALUE * 2L */
#define MAX_BITS	4294967294

/* org.redisson.misc.Hash.KEY */
static const uint64_t highway_key[4] = {
	UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xf39cc0605cedc834),
	UINT64_C(0x1082276bf3a27251), UINT64_C(0xf86c6a11d0c18e95)
};

/* RedissonBloomFilter.tryInit: optimalNumOfBits, optimalNumOfHashFunctions */
static bool
redisson_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	int64_t		bits;
	int64_t		hashes;

	bits = bf_java_long((double) -expected * log(fpp) / (BF_LN2 * BF_LN2));
	hashes = bf_java_round((double) bits / (double) expected * BF_LN2);
	return bf_sizing_finish(NAME, expected, fpp, (double) bits, MAX_BITS,
							hashes < 1 ? 1 : hashes, layer, error);
}

/* HighwayHash, by Redisson's key. */
static void
redisson_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	bf_highway_128(highway_key, data, length, &hash->word[0], &hash->word[1]);
}

/* RedissonBloomFilter.hash(hash1, hash2, iterations, size) */
static void
redisson_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				   uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);
	uint64_t	combined = hash->word[0] * (1 + first / 2) +
		hash->word[1] * ((first + 1) / 2);

	for (uint32_t i = 0; i < count; i++)
	{
		positions[i] = bf_modulo(combined & INT64_MAX, divisor);
		combined += (first + i) % 2 == 0 ? hash->word[1] : hash->word[0];
	}
}

static const BfDerivation redisson_derivation = {
	.word_bits = 63,
	.alternating = true
};

const BfStrategy bf_redisson = {
	.id = BF_STRATEGY_REDISSON,
	.name = NAME,
	.size = redisson_size,
	.needs_elements = true,
	.bits_multiple = 1,
	.max_bits = MAX_BITS,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_UTF8,
		[BF_KIND_INT4] = BF_FUNNEL_UTF8,
		[BF_KIND_INT8] = BF_FUNNEL_UTF8,
		[BF_KIND_UUID] = BF_FUNNEL_BYTES
	},
	.hash = redisson_hash,
	.words = 2,
	.positions = redisson_positions,
	.derivation = &redisson_derivation,
	.order = BF_ORDER_REDIS
};
