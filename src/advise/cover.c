/*
 * cover.c
 *	  The probability that the union of random subsets is the whole set.
 *
 * The number of places covered so far is a Markov chain, whose transition
 * matrix is raised to the number of subsets by repeated squaring.  All terms
 * are positive, so no precision is lost by cancellation, as it would be in
 * the alternating sum of inclusion and exclusion.
 */
#include "advise/cover.h"
#include "core/pause.h"

/* Transitions from s of d covered places to more, by one subset. */
static void
make_transitions(BfCover *cover, uint32_t d, const double *chance)
{
	double		factorial[BF_MAX_COVERED + 1] = {1};
	double		inverse[BF_MAX_COVERED + 1] = {1};
	double		subset[BF_MAX_COVERED + 1];

	for (uint32_t a = 1; a <= d; a++)
	{
		factorial[a] = factorial[a - 1] * a;
		inverse[a] = 1 / factorial[a];
	}
	/* The probability of each subset of j places. */
	for (uint32_t j = 0; j <= d; j++)
		subset[j] = chance[j] * factorial[j] * factorial[d - j] * inverse[d];

	for (uint32_t s = 0; s <= d; s++)
	{
		for (uint32_t more = 0; s + more <= d; more++)
		{
			double		sum = 0;

			/* j - more of the s covered places, and more of the others. */
			for (uint32_t j = more; j <= d && j - more <= s; j++)
				sum += subset[j] * inverse[j - more] * inverse[s + more - j];
			cover->to[s][s + more] = sum * factorial[s] *
				factorial[d - s] * inverse[more] * inverse[d - s - more];
		}
	}
}

/* Square in place: a row takes itself and the rows below it. */
static void
square_transitions(BfCover *cover, uint32_t d)
{
	for (uint32_t r = 0; r <= d; r++)
	{
		for (uint32_t s = d + 1; s-- > r;)
		{
			double		sum = 0;

			for (uint32_t t = r; t <= s; t++)
				sum += cover->to[r][t] * cover->to[t][s];
			cover->to[r][s] = sum;
		}
	}
}

/*
 * The probability that independent subsets cover all of d places (at most
 * BF_MAX_COVERED).  chance[j] is the probability of a subset to have j places,
 * all sets of j places being equally likely.  If the chances sum to less than
 * 1, the result is the probability to cover without the omitted kind of
 * subsets.
 */
double
bf_cover(BfCover *cover, uint32_t d, const double *chance, uint64_t subsets)
{
	double		state[BF_MAX_COVERED + 1] = {1};

	make_transitions(cover, d, chance);
	for (; subsets > 0; subsets >>= 1)
	{
		bf_pause();
		for (uint32_t s = d + 1; (subsets & 1) && s-- > 0;)
		{
			double		sum = 0;

			for (uint32_t r = 0; r <= s; r++)
				sum += state[r] * cover->to[r][s];
			state[s] = sum;
		}
		if (subsets > 1)
			square_transitions(cover, d);
	}
	return state[d];
}
