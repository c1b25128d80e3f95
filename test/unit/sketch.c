/*
 * sketch.c
 *	  The sketch's estimate against counts that are known: of hashed counters,
 *	  and of registers as they are after more hashes than a test can make.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/murmur3.h"
#include "core/sketch.h"
#include "vectors.h"

/* The standard error of one estimate, and how many of them a test allows. */
#define STANDARD_ERROR	(1.04 / 256)
#define ALLOWED			4.5

#define SEEDS			10

/* The hash of the n-th counter of a seed, as bf_agg has it of an int8. */
static uint64_t
hash_counter(uint64_t seed, uint64_t n)
{
	uint8_t		bytes[8];
	uint64_t	h1;
	uint64_t	h2;

	bf_store_le64(bytes, seed << 40 | n);
	bf_murmur3_x64_128(bytes, sizeof(bytes), &h1, &h2);
	return h1;
}

/* The estimate is near the count; returns how far it is off. */
static double
check_count(const BfSketch *sketch, double count)
{
	double		error = bf_sketch_count(sketch) / count - 1;

	CHECK(fabs(error) < ALLOWED * STANDARD_ERROR, "sketch of %.0f: %.4f off",
		  count, error);
	return error;
}

/* No estimate is far off, nor is their mean. */
static void
check_mean(const char *name, double count, double errors)
{
	double		mean = errors / SEEDS;

	CHECK(fabs(mean) < ALLOWED * STANDARD_ERROR / sqrt(SEEDS),
		  "sketches of %.0f %s: mean %.4f off", count, name, mean);
}

/* Counters up to some that lie in the ranges that other estimators divide. */
static void
check_counters(void)
{
	static const uint64_t counts[] = {100, 4097, 65536, 163840, 170000, 262144, 400000};
	double		errors[sizeof(counts) / sizeof(counts[0])] = {0};

	for (uint64_t seed = 0; seed < SEEDS; seed++)
	{
		static BfSketch sketch;
		uint64_t	n = 0;

		memset(&sketch, 0, sizeof(sketch));
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		{
			while (n < counts[i])
				bf_sketch_add(&sketch, hash_counter(seed, n++));
			errors[i] += check_count(&sketch, (double) counts[i]);
		}
	}
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_mean("counters", (double) counts[i], errors[i]);
}

/* The rank of a register whose hashes are so many on average: the inverse of its distribution. */
static uint8_t
random_rank(double hashes, uint64_t random)
{
	double		uniform = ((double) (random >> 11) + 0.5) / (double) (UINT64_C(1) << 53);
	double		rank = ceil(log2(hashes / -log(uniform)));

	return (uint8_t) fmin(fmax(rank, 0), BF_SKETCH_MAX_RANK);
}

/* Counts from where a scan is long, over those where 32 bits are too few. */
static void
check_registers(void)
{
	static const double counts[] = {1e6, 1e7, 1.4e8, 1e9, 1e10, 1e12};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		double		errors = 0;

		for (uint64_t seed = 0; seed < SEEDS; seed++)
		{
			static BfSketch sketch;

			for (uint32_t j = 0; j < BF_SKETCH_REGISTERS; j++)
				sketch.ranks[j] = random_rank(counts[i] / BF_SKETCH_REGISTERS,
											  hash_counter(i * SEEDS + seed, j));
			errors += check_count(&sketch, counts[i]);
		}
		check_mean("simulated", counts[i], errors);
	}
}

/* What a sketch holds does not depend on how often or in which order. */
static void
check_repetition(void)
{
	static BfSketch once;
	static BfSketch again;

	for (uint64_t n = 0; n < 10000; n++)
		bf_sketch_add(&once, hash_counter(0, n));
	for (uint64_t n = 30000; n-- > 0;)
		bf_sketch_add(&again, hash_counter(0, n % 10000));
	CHECK(memcmp(&once, &again, sizeof(once)) == 0, "repetition changes a sketch");
}

/* None, and hashes of the lowest and the highest rank. */
static void
check_ends(void)
{
	static BfSketch sketch;

	CHECK(bf_sketch_count(&sketch) == 0, "an empty sketch has hashes");
	bf_sketch_add(&sketch, 0);
	CHECK(sketch.ranks[0] == BF_SKETCH_MAX_RANK, "rank of 0: %d", sketch.ranks[0]);
	bf_sketch_add(&sketch, UINT64_C(1) << 47);
	CHECK(sketch.ranks[0] == BF_SKETCH_MAX_RANK, "a rank sinks to %d", sketch.ranks[0]);
	bf_sketch_add(&sketch, UINT64_MAX);
	CHECK(sketch.ranks[BF_SKETCH_REGISTERS - 1] == 1, "rank of ones: %d",
		  sketch.ranks[BF_SKETCH_REGISTERS - 1]);
	CHECK(lround(bf_sketch_count(&sketch)) == 2, "two hashes: %g",
		  bf_sketch_count(&sketch));
}

void
test_sketch(void)
{
	check_ends();
	check_repetition();
	check_counters();
	check_registers();
}
