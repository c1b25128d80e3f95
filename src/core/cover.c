/*
 * cover.c
 *	  The probability that random subsets, united, are everything.
 *
 * The number of places covered so far is a Markov chain, whose n-th power is
 * taken by squaring: all terms are positive, so nothing cancels, as it would
 * in the alternating sum of inclusion and exclusion.
 */
#include "core/cover.h"

typedef double Matrix[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];

/* From s covered places of d to more, by one subset. */
static void
make_transitions(uint32_t d, const double *chance, Matrix to)
{
	double		choose[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];

	for (uint32_t a = 0; a <= d; a++)
	{
		choose[a][0] = 1;
		for (uint32_t b = 1; b <= a; b++)
			choose[a][b] = choose[a - 1][b - 1] +
				(b < a ? choose[a - 1][b] : 0);
	}
	for (uint32_t s = 0; s <= d; s++)
	{
		for (uint32_t more = 0; s + more <= d; more++)
		{
			double		sum = 0;

			for (uint32_t j = more; j <= d && j - more <= s; j++)
				sum += chance[j] * choose[d - s][more] * choose[s][j - more] /
					choose[d][j];
			to[s][s + more] = sum;
		}
	}
}

/* Square in place: a row takes itself and the rows below it. */
static void
square(uint32_t d, Matrix to)
{
	for (uint32_t r = 0; r <= d; r++)
	{
		for (uint32_t s = d + 1; s-- > r;)
		{
			double		sum = 0;

			for (uint32_t t = r; t <= s; t++)
				sum += to[r][t] * to[t][s];
			to[r][s] = sum;
		}
	}
}

/*
 * The probability that independent subsets cover all of d places (at most
 * BF_MAX_COVERED).  chance[j] is that of a subset to have j places, which are
 * any j of them alike; where the chances sum to less than 1, the result is
 * that of covering without a subset of the kind left out.
 */
double
bf_cover(uint32_t d, const double *chance, uint64_t subsets, BfPause pause)
{
	Matrix		to;
	double		state[BF_MAX_COVERED + 1] = {1};

	make_transitions(d, chance, to);
	for (; subsets > 0; subsets >>= 1)
	{
		pause();
		for (uint32_t s = d + 1; (subsets & 1) && s-- > 0;)
		{
			double		sum = 0;

			for (uint32_t r = 0; r <= s; r++)
				sum += state[r] * to[r][s];
			state[s] = sum;
		}
		if (subsets > 1)
			square(d, to);
	}
	return state[d];
}
