/*
 * estimate.c
 *	  Estimates from the number of bits set in a filter, as Guava computes them.
 *
 * The rules are those of Guava 31.1 (BloomFilter.expectedFpp and
 * approximateElementCount), in the same order of operations.
 */
#include <math.h>

#include "core/estimate.h"

/* The probability, at this fill, that an element never added is found. */
double
bf_estimate_fpp(uint64_t bits_set, uint64_t bits, uint32_t hashes)
{
	return pow((double) bits_set / (double) bits, hashes);
}

/*
 * The number of distinct elements that set this number of bits, rounded half
 * up.  For a full filter, where Guava throws, the estimate is that for one bit
 * less: the largest that is finite.
 */
double
bf_estimate_count(uint64_t bits_set, uint64_t bits, uint32_t hashes)
{
	double		fraction;
	double		count;
	double		nearest;

	if (bits_set >= bits)
	{
		/* A single set bit means at least one element. */
		if (bits == 1)
			return 1;
		bits_set = bits - 1;
	}
	fraction = (double) bits_set / (double) bits;
	count = -log1p(-fraction) * (double) bits / hashes;

	/* RoundingMode.HALF_UP: rint() would send ties to the even side. */
	nearest = rint(count);
	if (fabs(count - nearest) == 0.5)
		nearest = count + 0.5;
	return nearest;
}

/* The number of distinct elements up to which a filter keeps a probability. */
double
bf_estimate_capacity(double fpp, uint64_t bits, uint32_t hashes)
{
	return -log1p(-pow(fpp, 1.0 / hashes)) * (double) bits / hashes;
}
