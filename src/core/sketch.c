/*
 * sketch.c
 *	  Estimate the number of distinct hashes: a HyperLogLog sketch.
 *
 * A hash selects a register by some of its bits.  Its rank is one more than
 * the number of leading zeros in the others, and the register keeps the
 * highest rank of its hashes.  The standard error is 1.04 / sqrt(registers),
 * 0.4 %, whatever the count.
 *
 * The estimator is that of Otmar Ertl, "New cardinality estimation algorithms
 * for HyperLogLog sketches" (2017), which needs no separate corrections for
 * different ranges of counts.  PostgreSQL's lib/hyperloglog.h has them, so it
 * is not used: it overestimates by 2 % near 170,000, where two ranges meet.
 * Above 1.4e8 it corrects for collisions of its 32-bit hashes, although
 * collisions do not lower any rank, and so overestimates by 13 % at 1e9.
 */
#include <math.h>

#include "core/sketch.h"

/*
 * Ertl's sigma, what registers without a hash contribute to the sum: x + x^2 +
 * 2 x^4 + 4 x^8 + ... for their fraction x, as far as it changes the result.
 */
static double
empty_share(double x)
{
	double		sum = x;
	double		before;

	if (x == 1)
		return INFINITY;
	for (double factor = 1;; factor *= 2)
	{
		x *= x;
		before = sum;
		sum += x * factor;
		if (sum == before)
			return sum;
	}
}

/* The estimated number of distinct hashes. */
double
bf_sketch_count(const BfSketch *sketch)
{
	uint32_t	of_rank[BF_SKETCH_MAX_RANK + 1] = {0};
	const double registers = BF_SKETCH_REGISTERS;
	double		sum = 0;

	for (uint32_t i = 0; i < BF_SKETCH_REGISTERS; i++)
		of_rank[sketch->ranks[i]]++;
	for (int rank = BF_SKETCH_MAX_RANK; rank > 0; rank--)
		sum = (sum + of_rank[rank]) / 2;
	sum += registers * empty_share(of_rank[0] / registers);
	return registers * registers / (2 * log(2) * sum);
}
