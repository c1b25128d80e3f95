/*
 * realfpp.c
 *	  bf_real_fpp() on what no sizing yields: it must be a probability, the
 *	  same each time, and near the textbook's where n and m are large.
 */
#include <inttypes.h>
#include <math.h>

#include "vectors.h"

void
test_real_fpp(void)
{
	static const uint64_t sizes[] = {
		1, 2, 7, 64, 958505, UINT64_C(4294967294), UINT64_C(1) << 48
	};
	static const uint32_t hashes[] = {1, 2, 7, 20, 65};
	static const uint64_t elements[] = {0, 1, 100000, INT64_MAX};
	double		fpp;

	for (size_t s = 0; bf_strategy_at(s) != NULL; s++)
	{
		const BfStrategy *strategy = bf_strategy_at(s);

		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		{
			for (size_t j = 0; j < sizeof(hashes) / sizeof(hashes[0]); j++)
			{
				for (size_t l = 0; l < sizeof(elements) / sizeof(elements[0]); l++)
				{
					double		load = (double) hashes[j] *
						(double) elements[l] / (double) sizes[i];
					double		textbook = pow(-expm1(-load), hashes[j]);

					fpp = bf_real_fpp(strategy->derivation, sizes[i],
									  hashes[j], elements[l]);
					CHECK(fpp >= 0 && fpp <= 1 && (elements[l] == 0) <= (fpp == 0),
						  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g",
						  strategy->name, sizes[i], hashes[j], elements[l], fpp);
					CHECK(load < 700 || fpp > 0.98,
						  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g of a full filter",
						  strategy->name, sizes[i], hashes[j], elements[l], fpp);
					if (elements[l] >= 100000 && textbook > 1e-4 &&
						strategy != &bf_redisson && strategy != &bf_guava32 &&
						strategy != &bf_cassandra)
						CHECK(fabs(fpp - textbook) < 0.05 * textbook,
							  "%s: m %" PRIu64 ", k %" PRIu32 ", n %" PRIu64 ": %g, not %g",
							  strategy->name, sizes[i], hashes[j],
							  elements[l], fpp, textbook);
				}
			}
		}
		CHECK(bf_real_fpp(strategy->derivation, 958505, 7, 1000) ==
			  bf_real_fpp(strategy->derivation, 958505, 7, 1000),
			  "%s: differs from itself", strategy->name);
	}

	/* peers.md: 21.7 % at 500 million elements for 1 %. */
	CHECK(fabs(bf_real_fpp(bf_guava32.derivation, UINT64_C(4792529216), 7,
						   500000000) - 0.217) < 0.01, "guava32 beyond 2^31");
	fpp = bf_real_fpp(bf_guava.derivation, 6000000, 64, 60000);
	CHECK(fpp > 1e-12 && fpp < 1e-6, "64 hashes: %g", fpp);
}
