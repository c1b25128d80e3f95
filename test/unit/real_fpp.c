/*
 * real_fpp.c
 *	  bf_real_fpp() on what no sizing yields: it must be a probability, the
 *	  same each time, and near the textbook's where n and m are large.  That it
 *	  is right, test/t/type/false_positives.pl measures.
 */
#include <inttypes.h>
#include <math.h>

#include "advise/real_fpp.h"
#include "core/pause.h"
#include "vectors.h"

/* Derivations whose excess is gone in large filters. */
static bool
is_regular(const BfStrategy *strategy)
{
	return strategy != &bf_redisson && strategy != &bf_guava32 &&
		strategy != &bf_cassandra;
}

static uint64_t pauses;

static void
count_pause(void)
{
	pauses++;
}

static BfFppWork work;

static void
check_fpp(const BfStrategy *strategy, uint64_t bits, uint32_t hashes,
		  uint64_t elements)
{
	double		load = (double) hashes * (double) elements / (double) bits;
	double		textbook = pow(-expm1(-load), hashes);
	double		fpp = bf_real_fpp(strategy->derivation, bits, hashes, elements, &work);

	CHECK(fpp >= 0 && fpp <= 1 && (elements == 0) <= (fpp == 0),
		  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g",
		  strategy->name, bits, hashes, elements, fpp);
	CHECK(load < 700 || fpp > 0.98,
		  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g of a full filter",
		  strategy->name, bits, hashes, elements, fpp);
	if (elements >= 100000 && textbook > 1e-4 && is_regular(strategy))
		CHECK(fabs(fpp - textbook) < 0.05 * textbook,
			  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g, not %g",
			  strategy->name, bits, hashes, elements, fpp, textbook);
}

static void
check_strategy(const BfStrategy *strategy)
{
	static const uint64_t sizes[] = {
		1, 2, 7, 64, 958505, UINT64_C(4294967294), UINT64_C(1) << 48
	};
	static const uint32_t hashes[] = {1, 2, 7, 12, 65};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
	{
		for (size_t j = 0; j < sizeof(hashes) / sizeof(hashes[0]); j++)
		{
			if (SANITIZED && (i + j) % 2 != 0)
				continue;
			check_fpp(strategy, sizes[i], hashes[j], 0);
			check_fpp(strategy, sizes[i], hashes[j], INT64_MAX);
			check_fpp(strategy, sizes[i], hashes[j], 100000);
			/* 12 hashes take long. */
			if (hashes[j] != 12 || i % 4 == 3)
				check_fpp(strategy, sizes[i], hashes[j], 1);
		}
	}
	if (!SANITIZED)
		check_fpp(strategy, 958505, 20, 1000);
	CHECK(bf_real_fpp(strategy->derivation, 958505, 3, 1000, &work) ==
		  bf_real_fpp(strategy->derivation, 958505, 3, 1000, &work),
		  "%s: differs from itself", strategy->name);
}

void
test_real_fpp(void)
{
	double		fpp;

	bf_pause = count_pause;
	for (size_t i = 0; bf_strategy_at(i) != NULL; i++)
		check_strategy(bf_strategy_at(i));

	/* peers.md: 21.7 % at 500 million elements for 1 %. */
	CHECK(fabs(bf_real_fpp(bf_guava32.derivation, UINT64_C(4792529216), 7,
						   500000000, &work) - 0.217) < 0.01, "guava32 beyond 2^31");
	CHECK(pauses > 100000, "%" PRIu64 " pauses", pauses);
	fpp = bf_real_fpp(bf_guava.derivation, 6000000, 64, 60000, &work);
	CHECK(fpp > 1e-12 && fpp < 1e-6, "64 hashes: %g", fpp);
	/* The most multiples that are told apart, with one sum more. */
	fpp = bf_real_fpp(bf_redisson.derivation, 3029, 2 * BF_MAX_APART + 1, 100,
					  &work);
	CHECK(fpp > 1.8e-5 && fpp < 2.8e-5, "21 hashes of redisson: %g", fpp);
}
