/*
 * vacuum.c
 *	  VACUUM of a live filter: pending elements get their bits, and the fill is
 *	  reported.
 *
 * A filter cannot forget: deleted rows leave their bits until it is rebuilt.
 * There are no row pointers to remove, either, so bulk deletion finds nothing;
 * for the same reason the validation phase of CREATE INDEX CONCURRENTLY
 * inserts every row again, most of which finds its bits set.
 */
#include "postgres.h"

#include "access/genam.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "tcop/pquery.h"

#include "core/estimate.h"
#include "live/live.h"

/* From here on, false positives are more than what was asked for. */
#define FULL	0.5

/* ambulkdelete: nothing points to rows. */
IndexBulkDeleteResult *
bflive_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				  IndexBulkDeleteCallback callback, void *state)
{
	return stats != NULL ? stats : palloc0(sizeof(IndexBulkDeleteResult));
}

/* Count the bits that are set. */
static uint64
count_bits(Relation index, BfLive *live)
{
	uint64		set = 0;

	for (BlockNumber page = 0; page < live->pages; page++)
	{
		Buffer		buffer;
		const uint8 *bits;

		compat_vacuum_delay_point();
		buffer = bf_page_for_read(index, live, bf_data_block(live, page),
								  BF_PAGE_DATA);
		if (!BufferIsValid(buffer))
			continue;
		bits = (const uint8 *) BufferGetPage(buffer) + SizeOfPageHeaderData;
		set += bf_bits_count(bits, BF_PAGE_BYTES);
		UnlockReleaseBuffer(buffer);
	}
	return set;
}

/*
 * Whether it was VACUUM (VERBOSE) that was asked for.  From 15 on, vacuum no
 * longer tells index access methods, so we look at the statement being run.
 * Autovacuum runs none.
 */
static bool
is_verbose(void)
{
	ListCell   *cell;

	if (ActivePortal == NULL)
		return false;
	foreach(cell, ActivePortal->stmts)
	{
		Node	   *statement = lfirst_node(PlannedStmt, cell)->utilityStmt;
		ListCell   *option;

		if (statement == NULL || !IsA(statement, VacuumStmt))
			continue;
		foreach(option, ((VacuumStmt *) statement)->options)
		{
			DefElem    *element = lfirst_node(DefElem, option);

			if (strcmp(element->defname, "verbose") == 0)
				return defGetBoolean(element);
		}
	}
	return false;
}

/* Say how full the filter is, and warn where that is too much. */
static void
report(Relation index, const BfLive *live, uint64 set, int level)
{
	uint64		bits = live->shape.bits;
	uint32		hashes = live->shape.hashes;
	double		fill = (double) set / (double) bits;
	double		fpp = bf_estimate_fpp(set, bits, hashes);
	double		count = bf_estimate_count(set, bits, hashes);

	ereport(level,
			(errmsg("live filter \"%s\" is %.1f %% full",
					RelationGetRelationName(index), fill * 100),
			 errdetail("It holds about %.0f elements, was made for %llu, and takes an element that it does not hold for one that it does with a probability of %.2g.",
					   count, (unsigned long long) live->expected, fpp)));
	if (fill > FULL)
		ereport(WARNING,
				(errmsg("live filter \"%s\" is over-full: %.1f %% of its bits are set",
						RelationGetRelationName(index), fill * 100),
				 errdetail("It holds about %.0f elements and was made for %llu; false positives are more than it was made for, with a probability of %.2g.",
						   count, (unsigned long long) live->expected, fpp),
				 errhint("ALTER INDEX ... SET (expected = ...), then REINDEX INDEX CONCURRENTLY.")));
}

/* amvacuumcleanup: flush, count, report. */
IndexBulkDeleteResult *
bflive_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Relation	index = info->index;
	BfLive		live;

	if (info->analyze_only)
		return stats;
	bf_live_open(index, &live);
	if (live.pending > 0)
	{
		LockPage(index, BF_META_BLOCK, ExclusiveLock);
		bf_pending_flush(index, &live);
		UnlockPage(index, BF_META_BLOCK, ExclusiveLock);
	}
	report(index, &live, count_bits(index, &live),
		   is_verbose() ? INFO : info->message_level);

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = info->estimated_count;
	return stats;
}
