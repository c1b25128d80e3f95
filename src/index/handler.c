/*
 * handler.c
 *	  The handler of the access method "bloomfilter".
 *
 * It has no index scans: a Bloom filter is used by functions, or before
 * another scan (gate.c).  It could only offer a bitmap scan that returns all
 * pages of the table, or none if the filter's answer is no; the planner cannot
 * be told the cost of that.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "optimizer/cost.h"

#include "index/index.h"
#include "type/arguments.h"
#include "type/value.h"

/*
 * amcostestimate: there are no scans to plan, but the planner may call it.
 * Its address also identifies live filters among the planner's indexes.
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

/* ambeginscan: not reached, as there is no amgettuple or amgetbitmap. */
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

/* The handler of CREATE ACCESS METHOD; what is not set here is false. */
Datum
bloomext_live_handler(PG_FUNCTION_ARGS)
{
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = 1,
		.amcanmulticol = true,
		.amusemaintenanceworkmem = false,
		.amparallelvacuumoptions = VACUUM_OPTION_NO_PARALLEL,
		.amkeytype = InvalidOid,
		/* It has values, not row pointers: a HOT update is possible. */
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
