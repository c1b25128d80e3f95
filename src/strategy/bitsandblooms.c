/*
 * bitsandblooms.c
 *	  Go's github.com/bits-and-blooms/bloom, version 3.
 *
 * All rules were measured on v3.7.1 with bitset v1.24.2.  The module's first
 * version, willf/bloom, had other hashes, and is not supported.
 *
 * Sizes are not rounded to words.  The original refuses no parameters, and
 * goes on with garbage; what other strategies refuse is refused here.
 *
 * Elements are bytes, and text is UTF-8.  There is no convention for integers
 * (the module's own example takes 4 bytes, big-endian), so integers are
 * refused: cast them to the bytes that the other program hashes.
 *
 * An element has two hashes of 128 bits: one of its bytes, and one of its
 * bytes followed by another byte.  Neither can be computed from the other, so
 * both are kept, as four words.  Live filters keep only two words of an
 * element, so they do not support this strategy.
 *
 * The stream is what WriteTo writes, in big-endian 64-bit numbers: m, k, the
 * number of bits of the bitset (m again), then its words.  MarshalBinary and
 * GobEncode write the same.  With bitset.LittleEndian() the bytes of the
 * third number and of the words are reversed, so a stream whose third number
 * is not m is refused.
 */
#include <inttypes.h>

#include "core/bytes.h"
#include "core/javamath.h"
#include "core/modulo.h"
#include "core/murmur3.h"
#include "strategy/filter.h"
#include "strategy/sizing.h"

#define NAME	"bitsandblooms"

/* Beyond this the conversion to a 64-bit integer would overflow. */
#define MAX_BITS	(UINT64_C(1) << 62)

/* What a stream begins with. */
#define AT_BITS			0
#define AT_HASHES		8
#define AT_BITSET_BITS	16
#define HEAD_SIZE		24

/* EstimateParameters(n, p) */
static bool
bitsandblooms_size(int64_t expected, double fpp, BfLayer *layer,
				   BfError *error)
{
	double		n = (double) expected;
	double		bits = ceil(-1 * n * log(fpp) / (BF_LN2 * BF_LN2));

	return bf_sizing_finish(NAME, expected, fpp, bits, (double) MAX_BITS,
							bf_java_long(ceil(BF_LN2 * bits / n)), layer,
							error);
}

/* baseHashes() */
static void
bitsandblooms_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	bf_murmur3_x64_256(data, length, hash->word);
}

/* location(): word i % 2 and i times one of the other two, in turn by pairs. */
static void
bitsandblooms_positions(const BfHash *hash, uint64_t bits, uint32_t first,
						uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);

	for (uint32_t j = 0; j < count; j++)
	{
		uint64_t	i = first + j;
		uint64_t	step = hash->word[2 + (i + i % 2) % 4 / 2];

		positions[j] = bf_modulo(hash->word[i % 2] + i * step, divisor);
	}
}

/* A stream has a head and the bits of one layer. */
static bool
bitsandblooms_measure(const BfFilter *filter, uint64_t *length,
					  BfError *error)
{
	if (filter->plan.header.layers != 1)
		return bf_fail_hint(error, BF_ERROR_PARAMETER,
							"Use bf_export_layer to export a single layer.",
							"a %s stream holds one layer, not %u", NAME,
							filter->plan.header.layers);
	*length = HEAD_SIZE + filter->plan.first.bytes;
	return true;
}

/* What WriteTo() writes before the words. */
static void
bitsandblooms_write_head(const BfFilter *filter, uint8_t *stream)
{
	bf_store_be64(stream + AT_BITS, filter->plan.first.bits);
	bf_store_be64(stream + AT_HASHES, filter->plan.first.hashes);
	bf_store_be64(stream + AT_BITSET_BITS, filter->plan.first.bits);
}

/* What ReadFrom() accepts, if it makes sense and nothing follows it. */
static bool
bitsandblooms_inspect(const uint8_t *stream, size_t length, BfPlan *plan,
					  BfError *error)
{
	uint64_t	bits;
	uint64_t	hashes;

	if (length < HEAD_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a %s stream", length, NAME);
	bits = bf_load_be64(stream + AT_BITS);
	hashes = bf_load_be64(stream + AT_HASHES);
	if (hashes == 0 || hashes > BF_MAX_HASHES)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%s stream with %" PRIu64 " hash functions, not 1 to %d",
					   NAME, hashes, BF_MAX_HASHES);
	if (bf_load_be64(stream + AT_BITSET_BITS) != bits)
		return bf_fail_hint(error, BF_ERROR_MALFORMED,
							"Write it without bitset.LittleEndian().",
							"%s stream of %" PRIu64 " bits with a bitset of %" PRIu64,
							NAME, bits, bf_load_be64(stream + AT_BITSET_BITS));
	if (bits == 0 || bits > MAX_BITS ||
		(bits + 63) / 64 * 8 != length - HEAD_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%s stream of %" PRIu64 " bits in %zu bytes", NAME, bits,
					   length);
	return bf_plan_bits(&bf_bitsandblooms, (int64_t) bits, (int32_t) hashes,
						BF_FUNNEL_UNBOUND, plan, error);
}

static const BfStream bitsandblooms_stream = {
	.name = NAME,
	.order = BF_ORDER_STORED,
	.head_size = HEAD_SIZE,
	.measure = bitsandblooms_measure,
	.write_head = bitsandblooms_write_head,
	.inspect = bitsandblooms_inspect
};

const BfStrategy bf_bitsandblooms = {
	.id = BF_STRATEGY_BITSANDBLOOMS,
	.name = NAME,
	.size = bitsandblooms_size,
	.needs_elements = true,
	.bits_multiple = 1,
	.max_bits = MAX_BITS,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_UNBOUND,
		[BF_KIND_INT4] = BF_FUNNEL_UNBOUND,
		[BF_KIND_INT8] = BF_FUNNEL_UNBOUND,
		[BF_KIND_UUID] = BF_FUNNEL_BYTES
	},
	.hash = bitsandblooms_hash,
	.words = 4,
	.positions = bitsandblooms_positions,
	.derivation_is_unknown = true,
	.stream = &bitsandblooms_stream,
	.order = BF_ORDER_BITSET
};
