/*
 * magnuss.c
 *	  Magnus Skjegstad's Java-BloomFilter, and its variant over Redis.
 *
 * All rules were measured on the repository's class.  If m exceeds a Java
 * int, that class uses the largest int, and its Redis variant, whose 32-bit
 * products wrap around, gets a meaningless size; otherwise the two agree.  We
 * refuse an m that is not a positive Java int.
 *
 * A digest, MD5 of a salt byte and the element, gives four indexes only, so
 * the hash of an element cannot be kept in two words.
 *
 * The original hashes the text of an object, so an integer is its decimal
 * text.  It also has add and contains for byte[].  A uuid could be added in
 * either way, so it is refused: cast it to text or to bytea.
 */
#include "core/javamath.h"
#include "core/md5.h"
#include "strategy/sizing.h"

#define NAME	"magnuss"

#define HASHES_A_DIGEST		4

/* BloomFilter(double falsePositiveProbability, int expectedNumberOfElements) */
static bool
magnuss_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	double		hashes = ceil(-(log(fpp) / BF_LN2));
	double		bits_an_element = hashes / BF_LN2;

	return bf_sizing_finish(NAME, expected, fpp,
							ceil(bits_an_element * (double) expected),
							INT32_MAX, bf_java_int(hashes), layer, error);
}

/* Remember the element; digests are computed when they are needed. */
static void
magnuss_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	*hash = (BfHash) {.data = data, .length = length};
}

/*
 * BloomFilter.createHashes.  The salt is a byte, and so repeats after 256
 * digests; 255 hashes use 64.
 */
static void
magnuss_digest(uint32_t number, const uint8_t *data, size_t length,
			   uint32_t digest[4])
{
	bf_md5_salted((uint8_t) number, data, length, digest);
}

/* BloomFilter.createHashes and add: |h % m| of big-endian signed ints */
static void
magnuss_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				  uint32_t count, uint64_t *positions)
{
	for (uint32_t i = first; i < first + count; i++)
	{
		uint32_t	word = hash->digests[i / HASHES_A_DIGEST][i % HASHES_A_DIGEST];
		int64_t		h = (int32_t) __builtin_bswap32(word);

		positions[i - first] = (uint64_t) (h < 0 ? -h : h) % bits;
	}
}

const BfStrategy bf_magnuss = {
	.id = BF_STRATEGY_MAGNUSS,
	.name = NAME,
	.size = magnuss_size,
	.needs_elements = true,
	.bits_multiple = 1,
	.max_bits = INT32_MAX,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_UTF8,
		[BF_KIND_INT4] = BF_FUNNEL_UTF8,
		[BF_KIND_INT8] = BF_FUNNEL_UTF8,
		[BF_KIND_UUID] = BF_FUNNEL_UNBOUND
	},
	.hash = magnuss_hash,
	.words = 0,
	.digest = magnuss_digest,
	.hashes_a_digest = HASHES_A_DIGEST,
	.positions = magnuss_positions,
	.order = BF_ORDER_BITSET
};
