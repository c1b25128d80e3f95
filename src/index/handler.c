/*
 * handler.c
 *	  The access method "bloomfilter": its handler.
 *
 * It offers no scans: what a Bloom filter can say, it is asked for by function,
 * or before another scan (gate.c).  A bitmap scan that visits all pages, or none,
 * has a cost that the planner cannot be told.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "optimizer/cost.h"

#include "index/index.h"
#include "type/arguments.h"
#include "type/value.h"

/*
 * amcostestimate: nobody will scan it, but the planner may ask; and it tells
 * which indexes of those that the planner knows are live filters.
 */
void
bflive_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					Cost *startup_cost, Cost *total_cost,
					Selectivity *selectivity, double *correlation,
					double *pages)
{
	*startup_cost = disable_cost;
	*total_cost = disable_cost;
	*selectivity = 1;
	*correlation = 0;
	*pages = 0;
}

/* ambeginscan: not to be reached, as there is no amgettuple or amgetbitmap. */
static IndexScanDesc
bflive_beginscan(Relation index, int nkeys, int norderbys)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("live filter \"%s\" cannot be scanned",
					RelationGetRelationName(index)),
			 errhint("Use bf_live_contains().")));
	return NULL;
}

PG_FUNCTION_INFO_V1(bloomext_live_handler);

/* The handler of CREATE ACCESS METHOD; what is not set here is no. */
Datum
bloomext_live_handler(PG_FUNCTION_ARGS)
{
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = 1,
		.amusemaintenanceworkmem = false,
		.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
		.amkeytype = InvalidOid,
		/* It knows values, not rows: an update may stay on its page. */
		COMPAT_SUMMARIZING

		.ambuild = bflive_build,
		.ambuildempty = bflive_buildempty,
		.aminsert = bflive_insert,
		COMPAT_INSERTCLEANUP(bflive_insertcleanup)
		.ambulkdelete = bflive_bulkdelete,
		.amvacuumcleanup = bflive_vacuumcleanup,
		.amcostestimate = bflive_costestimate,
		.amoptions = bflive_options,
		.ambuildphasename = bflive_buildphasename,
		.amvalidate = bflive_validate,
		.ambeginscan = bflive_beginscan
	};

	compat_return_routine(&routine);
}
