/*
 * overfull.c
 *	  Notice that a filter contains far more elements than it was sized for.
 *
 * Such a filter is valid but hardly excludes anything, which its results do
 * not show.  So the aggregates report it, once for each statement of the
 * client, however many groups or nested statements there are.  (A parallel
 * worker that finalizes groups reports it, too.)
 *
 * Checking must not cost more than making the filter.  So all bits of a large
 * filter are counted only if too many are set in a sample.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"

#include "agg/overfull.h"

/* Multiple of the requested false positive probability to be reported. */
#define OVERFULL_FACTOR	10

/* Setting bloomext.overfull_notice. */
static bool overfull_notice = true;

/* Define the setting. */
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
 * Raise the notice if it applies to a filter.  It does not if the requested
 * probability is unknown, or if stricter and stricter layers keep it: only the
 * probabilities of equal layers add up.
 */
void
bf_overfull_notice(const BfFilter *filter)
{
	static TimestampTz reported = 0;
	const BfHeader *header = &filter->plan.header;
	double		limit = header->fpp * OVERFULL_FACTOR;
	double		fpp;

	if (!overfull_notice || reported == GetCurrentStatementStartTimestamp() ||
		limit == 0 || limit >= 1 || header->expansion > 1 ||
		(header->layers == 1 && bf_value_sample(filter).fpp <= limit))
		return;
	fpp = bf_value_fpp(filter);
	if (fpp <= limit)
		return;
	reported = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("bloom filter contains far more elements than it was sized for"),
			 errdetail("Its false positive probability is now %.3g, instead of %g as requested for %llu elements.",
					   fpp, header->fpp,
					   (unsigned long long) header->expected),
			 errhint("Expect more elements, use a filter that grows: bf_agg(..., expected, fpp, strategy, 2), or set \"bloomext.overfull_notice\" to off.")));
}
