/*
 * parquet.c
 *	  The split block Bloom filter of Apache Parquet.
 *
 * All rules were measured on parquet-java 1.18.1, arrow-rs 60.1.0, Arrow C++
 * 26.0.1 and DuckDB 2.0.0, which have one hash, one order of bits and one
 * stream; only their sizing differs.
 *
 * A filter is blocks of eight words of 32 bits.  The high half of an element's
 * hash selects a block, by a multiplication, so that any number of blocks will
 * do.  The low half, multiplied by a different salt for each word, selects one
 * bit in each word of that block.  So an element takes one cache line, or two,
 * and always eight bits.
 *
 * Blocks fill unevenly, so a filter's probability of false positives is higher
 * than its mean fill to the eighth power, which the originals' formula
 * assumes: 1.5 times p at 1e-2, 3.2 times at 1e-4.  A filter that is made here
 * keeps p: it has the fewest blocks for which the probability is at most p, if
 * the number of elements in a block is taken as a Poisson variable.  That
 * probability is a sum, computed only by operations that IEEE 754 defines
 * exactly, so sizes are the same on all machines.
 *
 * Elements are the bytes of Parquet's PLAIN encoding.  Boolean columns have
 * no filters.  Timestamps count from 1970 in milliseconds, microseconds or
 * nanoseconds, and integers of 32 bits may be unsigned; a filter that comes
 * from a file does not tell which.
 *
 * The stream is BloomFilterHeader in Thrift's compact protocol, and the
 * bitset.  All writers write the header in the same form, and no other form
 * is accepted: unknown fields could mean that positions are others.
 *
 * Values keep bits in bloomext's own order, in which a 64-bit word holds two
 * words of a block.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/pause.h"
#include "core/rotate.h"
#include "core/xxh64.h"
#include "strategy/filter.h"
#include "strategy/sizing.h"

#define NAME	"parquet"

#define HASHES			8
#define BLOCK_BYTES		32
#define BLOCK_BITS		(BLOCK_BYTES * 8)
#define WORD_BITS		32

/* The high half of a hash cannot select more. */
#define MAX_BLOCKS		(UINT64_C(1) << 32)

/* Beyond 4 GB of bits, blocks have noticeably different shares of the hashes. */
#define UNEVEN_BLOCKS	(UINT64_C(1) << 27)

/* A block of more elements than this finds everything. */
#define MAX_LOAD		2048.0

/* Terms of a sum below this part of its largest are nothing. */
#define NEGLIGIBLE		1e-20

/* The search for a load: steps, of which some six are taken, and their end. */
#define MOST_STEPS		64
#define CLOSE			1e-14

#define TIMESTAMPS	(1 << BF_MEANING_TIMESTAMP | 1 << BF_MEANING_TIMESTAMPTZ)

/* BloomFilterHeader.numBytes is limited. */
#define MAX_STREAM_BYTES	(UINT64_C(1) << 27)

/* Field 1, an i32; then a varint; then the rest. */
#define FIELD_NUM_BYTES	0x15
#define LEAST_HEAD		(1 + 1 + sizeof(after_num_bytes))
#define MOST_VARINT		5

/* BLOCK, XXHASH, UNCOMPRESSED: unions, of an empty struct each; and the end. */
static const uint8_t after_num_bytes[] = {
	0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0
};

static const uint32_t salts[HASHES] = {
	0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
	0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31
};

/* ---- Positions --------------------------------------------------------- */

/* The second word is the first, turned, so that each has random bits first. */
static void
parquet_hash(const uint8_t *data, size_t length, BfHash *hash)
{
	hash->word[0] = bf_xxh64(data, length);
	hash->word[1] = bf_rotl64(hash->word[0], 32);
}

/* The number of an element's block. */
static inline uint64_t
block_number(const BfHash *hash, uint64_t bits)
{
	return (hash->word[0] >> 32) * (bits / BLOCK_BITS) >> 32;
}

/* The bit of an element in a word of its block. */
static inline uint32_t
bit_in_word(const BfHash *hash, uint32_t word)
{
	return (uint32_t) hash->word[0] * salts[word] >> 27;
}

/* One position in each word of the block. */
static void
parquet_positions(const BfHash *hash, uint64_t bits, uint32_t first,
				  uint32_t count, uint64_t *positions)
{
	uint64_t	block = block_number(hash, bits) * BLOCK_BITS;

	for (uint32_t i = 0; i < count; i++)
		positions[i] = block + (first + i) * WORD_BITS +
			bit_in_word(hash, first + i);
}

/* BfBlocks.find */
static uint64_t
parquet_find(const BfHash *hash, uint64_t bits)
{
	return block_number(hash, bits) * BLOCK_BYTES;
}

/* The bits of an element in a stored word, which has two of the block's. */
static inline uint64_t
stored_mask(const BfHash *hash, uint32_t word)
{
	return UINT64_C(1) << bit_in_word(hash, 2 * word) |
		UINT64_C(1) << (WORD_BITS + bit_in_word(hash, 2 * word + 1));
}

/* BfBlocks.add */
static void
parquet_add(uint8_t *block, const BfHash *hash)
{
	for (uint32_t i = 0; i < HASHES / 2; i++)
		bf_store_be64(block + 8 * i,
					  bf_load_be64(block + 8 * i) | stored_mask(hash, i));
}

/* BfBlocks.test */
static bool
parquet_test(const uint8_t *block, const BfHash *hash)
{
	uint64_t	missing = 0;

	for (uint32_t i = 0; i < HASHES / 2; i++)
		missing |= stored_mask(hash, i) & ~bf_load_be64(block + 8 * i);
	return missing == 0;
}

/* ---- Probabilities ----------------------------------------------------- */

/* x to the power of the number of hashes */
static inline double
to_hashes(double x)
{
	x *= x;
	x *= x;
	return x * x;
}

/* The chance that an element leaves a bit of a word clear. */
static const double clear = (WORD_BITS - 1) / (double) WORD_BITS;

/*
 * The probability that a block finds an element, its number of elements being
 * a Poisson variable of this mean, if `odds` is 0, or a binomial one with these
 * odds that an element is in this block: each sets one of the bits of each word.
 * The sum goes from about the most likely number to both sides, by terms
 * relative to that one's.
 */
static double
block_fpp(double load, double odds)
{
	uint32_t	middle = (uint32_t) load;
	double		middle_power = 1;	/* the chance that a bit is clear */
	double		power;
	double		weight;
	double		weights = 1;
	double		sum;

	for (uint32_t i = 0; i < middle; i++)
		middle_power *= clear;
	sum = to_hashes(1 - middle_power);

	power = middle_power;
	weight = 1;
	for (uint32_t i = middle + 1; weight > NEGLIGIBLE; i++)
	{
		weight *= (load * (1 + odds) - odds * (i - 1)) / i;
		power *= clear;
		weights += weight;
		sum += weight * to_hashes(1 - power);
	}
	power = middle_power;
	weight = 1;
	for (uint32_t i = middle; i > 0 && weight > NEGLIGIBLE; i--)
	{
		weight *= i / (load * (1 + odds) - odds * (i - 1));
		power /= clear;
		weights += weight;
		sum += weight * to_hashes(1 - power);
	}
	return sum / weights;
}

/* Likewise of some elements in some blocks. */
static double
blocks_fpp(double elements, uint64_t blocks)
{
	double		share;
	double		larger;
	double		load;

	if (elements >= MAX_LOAD * (double) blocks)
		return 1;
	if (blocks < UNEVEN_BLOCKS)
		return block_fpp(elements / (double) blocks, 0);
	/* Of all high halves, some blocks are given one more than others. */
	share = (double) (MAX_BLOCKS / blocks);
	larger = (double) (MAX_BLOCKS % blocks) * (share + 1) / (double) MAX_BLOCKS;
	load = elements / (double) MAX_BLOCKS;
	return larger * block_fpp(load * (share + 1), 0) +
		(1 - larger) * block_fpp(load * share, 0);
}

/* BfBlocks.fpp */
static double
parquet_fpp(double elements, uint64_t bits)
{
	return blocks_fpp(elements, bits / BLOCK_BITS);
}

/*
 * BfBlocks.real_fpp: of few blocks, the number of elements of one is limited by
 * that of all, so that it is a binomial variable.  And an element may have both
 * halves of the hash of another one: no two low halves that differ have all
 * their bits in common.
 */
static double
parquet_real_fpp(double elements, uint64_t bits)
{
	uint64_t	blocks = bits / BLOCK_BITS;
	double		load = elements / (double) blocks;
	double		fpp;

	if (load >= MAX_LOAD)
		return 1;
	if (blocks == 1)
		fpp = to_hashes(1 - pow(clear, elements));
	else if (blocks < UNEVEN_BLOCKS)
		fpp = block_fpp(load, 1 / ((double) blocks - 1));
	else
		fpp = blocks_fpp(elements, blocks);
	fpp += load * 0x1p-32;
	return fpp < 1 ? fpp : 1;
}

/*
 * The load at which a block has a probability: by the line through the
 * logarithms of the last two, or halfway where that leads elsewhere.
 */
static double
load_for(double fpp)
{
	double		low = log(fpp) - 1; /* logarithms of loads */
	double		high = log(MAX_LOAD);
	double		x = log(-WORD_BITS * log1p(-pow(fpp, 1.0 / HASHES)));
	double		slope = HASHES;
	double		before = x;
	double		excess_before = 0;

	if (!(x < high))
		x = low + (high - low) / 2;
	for (int step = 0; step < MOST_STEPS; step++)
	{
		double		excess = log(block_fpp(exp(x), 0)) - log(fpp);

		if (excess > 0)
			high = x;
		else
			low = x;
		if (step > 0)
			slope = (excess - excess_before) / (x - before);
		before = x;
		excess_before = excess;
		x -= excess / slope;
		if (!(x > low && x < high))
			x = low + (high - low) / 2;
		if (fabs(x - before) < CLOSE)
			break;
	}
	return exp(x);
}

/* BfBlocks.capacity; nothing keeps a probability of 0. */
static double
parquet_capacity(double fpp, uint64_t bits)
{
	return fpp > 0 ? load_for(fpp) * (double) (bits / BLOCK_BITS) : 0;
}

/* BfBlocks.sum_fpp: that of a block is the product of its words' fills. */
static double
parquet_sum_fpp(const uint8_t *bits, size_t bytes)
{
	double		sum = 0;

	bf_for_bytes(i, BLOCK_BYTES, bytes)
	{
		double		product = 1;

		for (uint32_t j = 0; j < BLOCK_BYTES; j += 4)
			product *= __builtin_popcount(bf_load_le32(bits + i + j));
		sum += product;
	}
	return sum / to_hashes(WORD_BITS);
}

/* ---- Sizing ------------------------------------------------------------ */

/* The fewest blocks that keep a probability, beginning near the result. */
static uint64_t
fewest_blocks(double elements, double fpp, uint64_t guess)
{
	uint64_t	enough = guess;
	uint64_t	few = 0;

	for (uint64_t step = 1; blocks_fpp(elements, enough) > fpp; step *= 2)
	{
		few = enough;
		enough += step;
	}
	for (uint64_t step = 1; few == 0 && enough > step; step *= 2)
	{
		if (blocks_fpp(elements, enough - step) > fpp)
			few = enough - step;
		else
			enough -= step;
	}
	while (enough - few > 1)
	{
		uint64_t	middle = few + (enough - few) / 2;

		if (blocks_fpp(elements, middle) > fpp)
			few = middle;
		else
			enough = middle;
	}
	return enough;
}

/* n = 0 has a block, as everywhere. */
static bool
parquet_size(int64_t expected, double fpp, BfLayer *layer, BfError *error)
{
	double		blocks = ceil((double) expected / load_for(fpp));

	if (blocks < 1)
		blocks = 1;
	if (blocks <= (double) MAX_BLOCKS)
		blocks = (double) fewest_blocks((double) expected, fpp, (uint64_t) blocks);
	return bf_sizing_finish(NAME, expected, fpp, blocks * BLOCK_BITS,
							(double) MAX_BLOCKS * BLOCK_BITS, HASHES, layer,
							error);
}

/*
 * arrow-rs's Sbbf::new_with_ndv_fpp(), and DuckDB's rule.  parquet-java and
 * Arrow C++ round otherwise: now and then theirs is twice that, or half.
 */
static uint64_t
parquet_usual_bits(int64_t expected, double fpp)
{
	double		bits = -8.0 * (double) expected / log(1 - pow(fpp, 1.0 / HASHES));
	uint64_t	bytes = BLOCK_BYTES;
	uint64_t	wanted = 0;		/* also of what is not a number */

	if (bits > 0)
		wanted = bits < (double) MAX_STREAM_BYTES * 8 ?
			(uint64_t) bits / 8 : MAX_STREAM_BYTES;
	while (bytes < wanted)
		bytes *= 2;
	return bytes * 8;
}

/* ---- Stream ------------------------------------------------------------ */

/* 1, of the varint of twice the number of bytes, and of what follows it. */
static size_t
parquet_measure_head(const BfPlan *plan)
{
	size_t		varint = 1;

	for (uint64_t rest = plan->first.bits / 4; rest > 0x7f; rest >>= 7)
		varint++;
	return 1 + varint + sizeof(after_num_bytes);
}

/* A stream has a head and the bits of one layer, up to the limit of readers. */
static bool
parquet_measure(const BfFilter *filter, uint64_t *length, BfError *error)
{
	uint64_t	bytes = filter->plan.first.bytes;

	if (filter->plan.header.layers != 1)
		return bf_fail_hint(error, BF_ERROR_PARAMETER,
							"Use bf_export_layer to export a single layer.",
							"a Parquet stream holds one layer, not %u",
							filter->plan.header.layers);
	if (bytes > MAX_STREAM_BYTES)
		return bf_fail_hint(error, BF_ERROR_LIMIT,
							"Make smaller filters, one for each part of the elements.",
							"a Parquet stream holds at most %" PRIu64 " bytes of bits, not %" PRIu64,
							MAX_STREAM_BYTES, bytes);
	*length = parquet_measure_head(&filter->plan) + bytes;
	return true;
}

/* BloomFilterHeader.  The number of bytes is signed, hence its zigzag form. */
static void
parquet_write_head(const BfFilter *filter, uint8_t *stream)
{
	uint64_t	rest = filter->plan.first.bits / 4;

	*stream++ = FIELD_NUM_BYTES;
	for (; rest > 0x7f; rest >>= 7)
		*stream++ = (uint8_t) (0x80 | (rest & 0x7f));
	*stream++ = (uint8_t) rest;
	memcpy(stream, after_num_bytes, sizeof(after_num_bytes));
}

/* Read the varint; its length, or 0 if no writer would write it. */
static size_t
read_num_bytes(const uint8_t *at, size_t available, uint64_t *bytes)
{
	uint64_t	value = 0;
	size_t		length = 0;

	do
	{
		if (length == available || length == MOST_VARINT)
			return 0;
		value |= (uint64_t) (at[length] & 0x7f) << 7 * length;
	} while (at[length++] & 0x80);
	if ((length > 1 && at[length - 1] == 0) || value % 2 != 0)
		return 0;
	*bytes = value / 2;
	return length;
}

/* The head that all writers write, and its number of bytes, exactly. */
static bool
parquet_inspect(const uint8_t *stream, size_t length, BfPlan *plan,
				BfError *error)
{
	uint64_t	bytes;
	size_t		head;

	if (length < LEAST_HEAD || stream[0] != FIELD_NUM_BYTES ||
		(head = read_num_bytes(stream + 1, length - 1, &bytes)) == 0 ||
		length - 1 - head < sizeof(after_num_bytes))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "%zu bytes do not begin like a Parquet stream", length);
	if (memcmp(stream + 1 + head, after_num_bytes, sizeof(after_num_bytes)) != 0)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Parquet stream with another algorithm, hash, compression or field than BLOCK, XXHASH and UNCOMPRESSED");
	if (bytes == 0 || bytes % BLOCK_BYTES != 0 || bytes > MAX_STREAM_BYTES)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Parquet stream of %" PRIu64 " bytes of bits, not a multiple of %d up to %" PRIu64,
					   bytes, BLOCK_BYTES, MAX_STREAM_BYTES);
	head += 1 + sizeof(after_num_bytes);
	if (length - head != bytes)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "Parquet stream should have %" PRIu64 " bytes of bits, but has %zu",
					   bytes, length - head);
	return bf_plan_bits(&bf_parquet, (int64_t) bytes * 8, HASHES,
						BF_FUNNEL_UNBOUND, plan, error);
}

static const BfStream parquet_stream = {
	.name = NAME,
	.order = BF_ORDER_BITSET,
	.head_size = LEAST_HEAD,
	.measure_head = parquet_measure_head,
	.measure = parquet_measure,
	.write_head = parquet_write_head,
	.inspect = parquet_inspect
};

static const BfBlocks parquet_blocks = {
	.bytes = BLOCK_BYTES,
	.find = parquet_find,
	.add = parquet_add,
	.test = parquet_test,
	.fpp = parquet_fpp,
	.real_fpp = parquet_real_fpp,
	.capacity = parquet_capacity,
	.sum_fpp = parquet_sum_fpp
};

const BfStrategy bf_parquet = {
	.id = BF_STRATEGY_PARQUET,
	.name = NAME,
	.size = parquet_size,
	.usual_bits = parquet_usual_bits,
	.bits_multiple = BLOCK_BITS,
	.max_bits = MAX_BLOCKS * BLOCK_BITS,
	.fixed_hashes = HASHES,
	.funnels = {
		[BF_KIND_TEXT] = BF_FUNNEL_UTF8,
		[BF_KIND_BYTEA] = BF_FUNNEL_BYTES,
		[BF_KIND_INT2] = BF_FUNNEL_INT,
		[BF_KIND_INT4] = BF_FUNNEL_INT,
		[BF_KIND_INT8] = BF_FUNNEL_LONG,
		[BF_KIND_UUID] = BF_FUNNEL_BYTES
	},
	.refused_meanings = 1 << BF_MEANING_BOOLEAN,
	.ambiguous_meanings = {
		[BF_FUNNEL_INT] = TIMESTAMPS,
		[BF_FUNNEL_LONG] = TIMESTAMPS | 1 << BF_MEANING_DATE
	},
	.int_may_be_unsigned = true,
	.hash = parquet_hash,
	.words = 2,
	.can_be_live = true,
	.positions = parquet_positions,
	.blocks = &parquet_blocks,
	.stream = &parquet_stream,
	.order = BF_ORDER_BITSET
};
