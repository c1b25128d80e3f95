/*
 * vacuum.c
 *	  VACUUM of a live filter: set the bits of pending elements, and report how
 *	  full it is.
 *
 * A filter cannot forget: the bits of deleted rows stay until it is rebuilt.
 * It has no row pointers, so a bulk deletion has nothing to remove, and the
 * validation phase of CREATE INDEX CONCURRENTLY, which searches the index for
 * row pointers, inserts every row again and finds that most bits are set.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "commands/defrem.h"
#include "commands/vacuum.h"
#include "storage/bufmgr.h"
#include "tcop/pquery.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

#include "index/index.h"

/*
 * ambulkdelete: there are no row pointers.  But this is also how the
 * validation of a concurrent build begins.  Rows that were inserted after the
 * build's snapshot and are deleted by now are not in the filter.  PostgreSQL
 * waits for snapshots of this server that can see them, but one that is as old
 * may be imported meanwhile, and PostgreSQL does not wait for those of a
 * standby.  So the horizon moves, and the snapshot of the validation is
 * recorded.
 */
IndexBulkDeleteResult *
bflive_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				  IndexBulkDeleteCallback callback, void *state)
{
	if (!info->index->rd_index->indisvalid)
	{
		BfLive		live;

		bf_live_lock(info->index, true, &live);
		live.horizon = ReadNextFullTransactionId();
		live.validated = live.horizon;
		live.validated_running = 0;
		if (ActiveSnapshotSet())
		{
			live.validated = bf_full_xid(GetActiveSnapshot()->xmax);
			live.validated_running = GetActiveSnapshot()->xcnt;
		}
		bf_meta_write(info->index, MAIN_FORKNUM, &live);
		bf_live_unlock(info->index);
	}
	return stats != NULL ? stats : palloc0(sizeof(IndexBulkDeleteResult));
}

/* Warn if the "no" of a filter cannot become certain; false if it can. */
static bool
report_doubt(Relation index, const BfLive *live)
{
	BfDoubt		doubt = bf_live_lasting_doubt(index, live);

	if (doubt == BF_SURE)
		return false;
	ereport(WARNING,
			(errmsg("live filter \"%s\" %s",
					RelationGetRelationName(index), bf_doubt_text(doubt)),
			 errdetail("It answers \"maybe\" for every element."),
			 errhint("%s", bf_doubt_hint(doubt))));
	return true;
}

/*
 * Whether the command is VACUUM (VERBOSE).  From 15 on, vacuum no longer
 * passes that to index access methods, so we look at the statement being run.
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

/* Remove the mark of an in-place build, unless it was rolled back. */
static void
settle_in_place(Relation index, Relation table, BfLive *live)
{
	if (!FullTransactionIdIsValid(live->emptied_by) ||
		bf_live_was_undone(table, live))
		return;
	live->emptied_by = InvalidFullTransactionId;
	bf_meta_write(index, MAIN_FORKNUM, live);
	CacheInvalidateRelcache(index);
}

/* amvacuumcleanup: flush, count and report, with the ring of VACUUM. */
IndexBulkDeleteResult *
bflive_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	Relation	index = info->index;
	Relation	table;
	BfLive		live;

	if (info->analyze_only)
		return stats;
	table = table_open(index->rd_index->indrelid, NoLock);
	bf_live_lock(index, true, &live);
	live.ring = info->strategy;
	bf_pending_flush(index, &live, bf_newest_layer(&live));
	bf_live_seal(index, &live);
	settle_in_place(index, table, &live);
	bf_live_unlock(index);
	table_close(table, NoLock);
	if (!report_doubt(index, &live))
		bf_live_report_fill(index, &live, info->num_heap_tuples,
							is_verbose() ? INFO : info->message_level);

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	stats->num_pages = RelationGetNumberOfBlocks(index);
	stats->num_index_tuples = info->num_heap_tuples;
	stats->estimated_count = info->estimated_count;
	return stats;
}
