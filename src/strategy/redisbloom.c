/*
 * redisbloom.c
 *	  RedisBloom's BF.* filters, and the dumps of BF.SCANDUMP.
 *
 * All rules were read from and measured on the module's master (b28c2945): a
 * filter is a chain of links, each sized by its entries and error rate, with
 * its bits rounded up to words (options FORCE64 and NOROUND).
 *
 * If a filter may grow, its first link has half of the requested error rate,
 * and each further link half of the one before, so the sum stays below the
 * requested rate.  A link is full when as many new elements were added as it
 * has entries, so each layer counts them.
 *
 * The stream is SCANDUMP's header followed by its chunks, one after another,
 * which are the links' bits in java.util.BitSet's order.  We check all that
 * RedisBloom checks when it loads a header, and the sizes against the length
 * of the stream.  Old dumps with 32-bit hashes (without FORCE64) are refused:
 * they would need a strategy of their own, and RedisBloom no longer makes
 * such filters.  In older filters links have exactly 2^n2 bits; the number of
 * bits is their modulus as in any other filter.
 *
 * The header contains the bits per element (bpe), which a layer does not
 * record.  They are computed from the error rate, by the formula with which
 * RedisBloom sizes filters.
 */
#include <inttypes.h>

#include "core/bytes.h"
#include "core/javamath.h"
#include "core/modulo.h"
#include "core/murmur2.h"
#include "strategy/filter.h"
#include "strategy/sizing.h"

#define NAME	"redisbloom"

/* bloom.c: its own, shorter, literals of ln(2) and ln(2)^2 */
#define REDISBLOOM_LN2		0.693147180559945
#define REDISBLOOM_LN2_SQ	0.480453013918201

/* Beyond this the conversion to a 64-bit integer would overflow. */
#define MAX_BITS	(UINT64_C(1) << 62)

#define HASH_SEED	UINT64_C(0xc6a4a7935bd1e995)

#define OPTION_NOROUND		1
#define OPTION_ENTS_IS_BITS	2
#define OPTION_FORCE64		4
#define OPTION_NO_SCALING	8
#define KNOWN_OPTIONS \
	(OPTION_NOROUND | OPTION_ENTS_IS_BITS | OPTION_FORCE64 | OPTION_NO_SCALING)

/* dumpedChainHeader: packed, little-endian */
#define AT_SIZE				0
#define AT_LINKS			8
#define AT_OPTIONS			12
#define AT_GROWTH			16
#define HEADER_SIZE			20

/* dumpedChainLink, likewise */
#define AT_LINK_BYTES		0
#define AT_LINK_BITS		8
#define AT_LINK_SIZE		16
#define AT_LINK_ERROR		24
#define AT_LINK_BPE			32
#define AT_LINK_HASHES		40
#define AT_LINK_ENTRIES		44
#define AT_LINK_N2			52
#define LINK_SIZE			53

/* What BF.RESERVE stores for filters that never grow: its default. */
#define DEFAULT_GROWTH		2

/* calc_bpe() */
static double
bits_per_element(double error_rate)
{
	return fabs(log(error_rate) / REDISBLOOM_LN2_SQ);
}

/* The number of hash functions in bloom_init() for some bits per element. */
static double
hashes_for(double bpe)
{
	return ceil(REDISBLOOM_LN2 * bpe);
}

/*
 * bloom_init(): the bits of a link, before they are rounded up.  If that is 0,
 * newer releases use 1.
 */
double
bf_redisbloom_bits(uint64_t entries, double error_rate)
{
	return floor((double) entries * bits_per_element(error_rate));
}

/* bloom_init(): the size of a link, which expects some elements. */
static bool
redisbloom_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	double		bpe = bits_per_element(fpp);
	double		bits = bf_redisbloom_bits((uint64_t) expected, fpp);

	if (bits < 1)
		bits = 1;
	if (!bf_sizing_finish(NAME, expected, fpp, bits, (double) MAX_BITS,
						  bf_java_long(hashes_for(bpe)), layer, error))
		return false;
	layer->bits = (layer->bits + 63) / 64 * 64;
	return true;
}

/* bloom_calc_hash64(): the first hash is the second's seed. */
static void
redisbloom_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	hash->word[0] = bf_murmur2_64a(data, length, HASH_SEED);
	hash->word[1] = bf_murmur2_64a(data, length, hash->word[0]);
}

/* CHECK_ADD_FUNC: a + i * b, unsigned */
static void
redisbloom_positions(const BfHash *hash, uint64_t bits, uint32_t first,
					 uint32_t count, uint64_t *positions)
{
	BfDivisor	divisor = bf_divisor(bits);
	uint64_t	step = hash->word[1];
	uint64_t	combined = hash->word[0] + first * step;

	for (uint32_t i = 0; i < count; i++)
	{
		positions[i] = bf_modulo(combined, divisor);
		combined += step;
	}
}

/* Refuse layers that RedisBloom would not load, or could not have made. */
static bool
redisbloom_measure(const BfFilter *filter, uint64_t *length, BfError *error)
{

	*length = HEADER_SIZE;
	bf_foreach_layer(layer, filter)
	{
		if (layer.expected == 0 || layer.fpp == 0)
			return bf_fail(error, BF_ERROR_PARAMETER,
						   "layer %" PRIu32 " does not tell what it was sized for, as a RedisBloom dump must",
						   layer.index);
		if (hashes_for(bits_per_element(layer.fpp)) != layer.hashes)
			return bf_fail(error, BF_ERROR_PARAMETER,
						   "layer %" PRIu32 " has %" PRIu32 " hash functions, which RedisBloom refuses with an error rate of %g",
						   layer.index, layer.hashes, layer.fpp);
		*length += LINK_SIZE + layer.bytes;
	}
	return true;
}

/* Write a layer's part of the header of a dump. */
static void
write_link(const BfLayer *layer, uint8_t *link)
{
	bf_store_le64(link + AT_LINK_BYTES, layer->bytes);
	bf_store_le64(link + AT_LINK_BITS, layer->bits);
	bf_store_le64(link + AT_LINK_SIZE, layer->counted);
	bf_store_double(link + AT_LINK_ERROR, layer->fpp);
	bf_store_double(link + AT_LINK_BPE, bits_per_element(layer->fpp));
	bf_store_le32(link + AT_LINK_HASHES, layer->hashes);
	bf_store_le64(link + AT_LINK_ENTRIES, layer->expected);
	link[AT_LINK_N2] = 0;
}

/* SBChain_GetEncodedHeader(); the bits are all of SBChain_GetEncodedChunk(). */
static void
redisbloom_write_head(const BfFilter *filter, uint8_t *stream)
{
	uint8_t    *link = stream + HEADER_SIZE;
	bool		fixed = filter->plan.header.expansion == 0;
	uint64_t	size = 0;

	bf_foreach_layer(layer, filter)
	{
		write_link(&layer, link);
		link += LINK_SIZE;
		size += layer.counted;
	}
	bf_store_le64(stream + AT_SIZE, size);
	bf_store_le32(stream + AT_LINKS, filter->plan.header.layers);
	bf_store_le32(stream + AT_OPTIONS, OPTION_FORCE64 | OPTION_NOROUND |
				  (fixed ? OPTION_NO_SCALING : 0));
	bf_store_le32(stream + AT_GROWTH,
				  fixed ? DEFAULT_GROWTH : filter->plan.header.expansion);
}

/* Check a dump's first 20 bytes, and that its links fit after them. */
static bool
inspect_header(const uint8_t *stream, size_t length, BfHeader *header,
			   BfError *error)
{
	uint32_t	options;

	if (length < HEADER_SIZE)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a RedisBloom dump", length);
	*header = (BfHeader) {
		.strategy = BF_STRATEGY_REDISBLOOM,
		.cell_bits = BF_CELL_BIT,
		.layers = bf_load_le32(stream + AT_LINKS),
		.expansion = bf_load_le32(stream + AT_GROWTH)
	};
	if (header->layers == 0 || header->layers > BF_MAX_LAYERS)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump of %" PRIu32 " filters, not 1 to %d",
					   header->layers, BF_MAX_LAYERS);
	if ((length - HEADER_SIZE) / LINK_SIZE < header->layers)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes are too short for a RedisBloom dump of %" PRIu32 " filters",
					   length, header->layers);

	options = bf_load_le32(stream + AT_OPTIONS);
	if (options & ~(uint32_t) KNOWN_OPTIONS)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump with unknown options %#" PRIx32,
					   options);
	if (!(options & OPTION_FORCE64))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump with 32-bit hashes, which are not supported");
	if (options & OPTION_NO_SCALING)
		header->expansion = 0;
	else if (header->expansion == 0 || header->expansion > BF_MAX_EXPANSION)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "growing RedisBloom dump with expansion %" PRIu32,
					   header->expansion);
	if (header->expansion == 0 && header->layers > 1)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump of %" PRIu32 " filters that does not grow",
					   header->layers);
	return true;
}

/* Check one link, except for what depends on the others. */
static bool
inspect_link(const uint8_t *link, uint32_t index, BfLayer *layer,
			 BfError *error)
{
	uint64_t	bytes = bf_load_le64(link + AT_LINK_BYTES);
	double		bpe = bf_load_double(link + AT_LINK_BPE);
	uint8_t		n2 = link[AT_LINK_N2];

	*layer = (BfLayer) {
		.bits = bf_load_le64(link + AT_LINK_BITS),
		.counted = bf_load_le64(link + AT_LINK_SIZE),
		.fpp = bf_load_double(link + AT_LINK_ERROR),
		.hashes = bf_load_le32(link + AT_LINK_HASHES),
		.expected = bf_load_le64(link + AT_LINK_ENTRIES)
	};
	if (layer->bits == 0 || layer->bits % 64 != 0 || layer->bits / 8 != bytes)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom filter %" PRIu32 " has %" PRIu64 " bits in %" PRIu64 " bytes",
					   index, layer->bits, bytes);
	if (n2 > 63 || (n2 > 0 && layer->bits != UINT64_C(1) << n2))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom filter %" PRIu32 " has %" PRIu64 " bits, not 2^%u",
					   index, layer->bits, n2);
	if (!(layer->fpp > 0 && layer->fpp < 1))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom filter %" PRIu32 " has an error rate of %g",
					   index, layer->fpp);
	if (layer->hashes == 0 || layer->hashes > BF_MAX_HASHES ||
		hashes_for(bpe) != layer->hashes)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom filter %" PRIu32 " has %" PRIu32 " hash functions with %g bits per element",
					   index, layer->hashes, bpe);
	if (layer->expected == 0 ||
		!bf_sizing_is_valid(layer->expected, layer->fpp, layer->bits))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom filter %" PRIu32 " of %" PRIu64 " bits is for %" PRIu64 " elements",
					   index, layer->bits, layer->expected);
	return true;
}

/* SB_NewChainFromHeader()'s checks, and that the bits are there exactly. */
static bool
redisbloom_inspect(const uint8_t *stream, size_t length, BfPlan *plan,
			   BfError *error)
{
	BfHeader   *header = &plan->header;
	BfLayer    *layers = plan->layers;
	uint64_t	left;
	uint64_t	size = 0;

	if (!inspect_header(stream, length, header, error))
		return false;
	left = length - HEADER_SIZE - (uint64_t) header->layers * LINK_SIZE;
	for (uint32_t i = 0; i < header->layers; i++)
	{
		const uint8_t *link = stream + HEADER_SIZE + (size_t) i * LINK_SIZE;

		if (!inspect_link(link, i, &layers[i], error))
			return false;
		if (layers[i].bits / 8 > left)
			return bf_fail(error, BF_ERROR_MALFORMED,
						   "RedisBloom dump ends within filter %" PRIu32, i);
		left -= layers[i].bits / 8;
		if (__builtin_add_overflow(size, layers[i].counted, &size))
			return bf_fail(error, BF_ERROR_MALFORMED,
						   "RedisBloom filter %" PRIu32 " counts too many elements",
						   i);
	}
	if (left > 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump is followed by %" PRIu64 " bytes",
					   left);
	if (size != bf_load_le64(stream + AT_SIZE))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "RedisBloom dump of %" PRIu64 " elements has %" PRIu64 " in its filters",
					   bf_load_le64(stream + AT_SIZE), size);

	plan->strategy = &bf_redisbloom;
	plan->first = layers[0];
	header->expected = layers[0].expected;
	header->fpp = layers[0].fpp;
	if (header->expansion > 0)
		header->fpp *= 2;
	if (header->fpp >= 1)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "growing RedisBloom dump starts with an error rate of %g",
					   layers[0].fpp);
	return true;
}

static const BfStream redisbloom_stream = {
	.name = NAME,
	.order = BF_ORDER_BITSET,
	.head_size = HEADER_SIZE,
	.layer_head_size = LINK_SIZE,
	.measure = redisbloom_measure,
	.write_head = redisbloom_write_head,
	.inspect = redisbloom_inspect
};

static const BfDerivation redisbloom_derivation = {
	.word_bits = 64
};

const BfStrategy bf_redisbloom = {
	.id = BF_STRATEGY_REDISBLOOM,
	.name = NAME,
	.size = redisbloom_size,
	.needs_elements = true,
	.bits_multiple = 64,
	.max_bits = MAX_BITS,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_UTF8,
		[BF_KIND_INT4] = BF_FUNNEL_UTF8,
		[BF_KIND_INT8] = BF_FUNNEL_UTF8,
		[BF_KIND_UUID] = BF_FUNNEL_BYTES
	},
	.hash = redisbloom_hash,
	.words = 2,
	.positions = redisbloom_positions,
	.derivation = &redisbloom_derivation,
	.counts_elements = true,
	.stream = &redisbloom_stream,
	.order = BF_ORDER_BITSET
};
