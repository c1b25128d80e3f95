/*
 * overfull.c
 *	  Notice that a filter contains far more elements than it was sized for.
 *
 * Such a filter is valid but hardly excludes anything, which results that were
 * made of it or by it do not show.  So the aggregates, bf_put and bf_new report
 * it, once for each statement of the client, however many filters or nested
 * statements there are.  (A parallel worker reports it, too.)
 *
 * Checking must not cost more than making the filter, or looking elements up.
 * So all bits of a large filter are counted only if too many are set in a
 * sample, and those of a filter that is looked up are not.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/guc.h"

#include "type/overfull.h"
#include "type/value.h"

/* Multiple of the requested false positive probability to be reported. */
#define OVERFULL_FACTOR	10

/* Setting bloomext.overfull_notice. */
static bool overfull_notice = true;

/* The start of the client's statement that was reported last. */
static TimestampTz reported = 0;

/* Define the setting. */
void
bf_overfull_init(void)
{
	DefineCustomBoolVariable("bloomext.overfull_notice",
							 "Reports filters that contain far more elements than they were sized for, in aggregates, bf_put and bf_new.",
							 "At most one notice per statement is issued, for false positive probabilities above ten times the requested one.",
							 &overfull_notice, true, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/* The false positive probability above which a filter is reported. */
static double
limit_of(const BfFilter *filter)
{
	return filter->plan.header.fpp * OVERFULL_FACTOR;
}

/*
 * Whether the notice can apply to a filter.  It does not if the requested
 * probability is unknown, or if stricter and stricter layers keep it: only the
 * probabilities of equal layers add up.
 */
static bool
may_apply(const BfFilter *filter)
{
	double		limit = limit_of(filter);

	return overfull_notice &&
		reported != GetCurrentStatementStartTimestamp() &&
		limit > 0 && limit < 1 && filter->plan.header.expansion <= 1;
}

/* Raise the notice if a filter's probability is too high. */
static void
report_above_limit(const BfFilter *filter, double fpp, const char *advice)
{
	const BfHeader *header = &filter->plan.header;

	if (fpp <= limit_of(filter))
		return;
	reported = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("bloom filter contains far more elements than it was sized for"),
			 errdetail("Its false positive probability is now %.3g, instead of %g as requested for %llu elements.",
					   fpp, header->fpp,
					   (unsigned long long) header->expected),
			 errhint("%s, or set \"bloomext.overfull_notice\" to off.", advice)));
}

/* Raise the notice, with such advice, if it applies to a filter in memory. */
void
bf_overfull_notice(const BfFilter *filter, const char *advice)
{
	if (may_apply(filter) &&
		(filter->plan.header.layers > 1 ||
		 bf_value_sample(filter).fpp > limit_of(filter)))
		report_above_limit(filter, bf_value_fpp(filter), advice);
}

/* Likewise for the filter of a probe, by a small sample. */
void
bf_overfull_notice_probed(BfProbe *probe, const char *advice)
{
	if (may_apply(probe->filter))
		report_above_limit(probe->filter, bf_probe_sample(probe).fpp, advice);
}
