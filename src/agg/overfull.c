/*
 * overfull.c
 *	  Tell who makes a filter that far more went into it than it was made for.
 *
 * Nothing is wrong with such a filter but that it hardly filters, which no
 * answer of it shows.  So the aggregates say it, once a statement that the
 * client sent, however many groups or nested statements there are.  (A parallel
 * worker that finishes groups of its own says it, too.)
 *
 * Measuring must not cost more than making the filter did.  So the bits of a
 * large one are counted only where a sample has too many.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"

#include "agg/overfull.h"

/* How many times the wanted false positive probability is worth a word. */
#define OVERFULL_FACTOR	10

/* Setting bloomext.overfull_notice. */
static bool overfull_notice = true;

/* Define the setting, once a backend. */
void
bf_overfull_init(void)
{
	DefineCustomBoolVariable("bloomext.overfull_notice",
							 "Reports aggregated filters that contain far more elements than they were sized for.",
							 "At most one notice per statement is issued, for false positive probabilities above ten times the requested one.",
							 &overfull_notice, true, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/*
 * Raise the notice where a filter calls for it.  It does not where nobody knows
 * what was wanted, nor where ever stricter layers keep it within that: equal
 * ones add up.
 */
void
bf_overfull_notice(const BfFilter *filter)
{
	static TimestampTz told = 0;
	const BfHeader *header = &filter->plan.header;
	double		limit = header->fpp * OVERFULL_FACTOR;
	double		fpp;

	if (!overfull_notice || told == GetCurrentStatementStartTimestamp() ||
		limit == 0 || limit >= 1 || header->expansion > 1 ||
		(header->layers == 1 && bf_value_sample(filter).fpp <= limit))
		return;
	fpp = bf_value_fpp(filter);
	if (fpp <= limit)
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("bloom filter contains far more elements than it was sized for"),
			 errdetail("Its false positive probability is now %.3g, instead of %g as requested for %llu elements.",
					   fpp, header->fpp,
					   (unsigned long long) header->expected),
			 errhint("Expect more elements, use a filter that grows: bf_agg(..., expected, fpp, strategy, 2), or set \"bloomext.overfull_notice\" to off.")));
}
