/*
 * scan.c
 *	  Scan a table for the values of an index.
 *
 * The expression and the condition of an index are code of the table's owner.
 * Callers run as that owner, with changes to the session prevented, as
 * PostgreSQL does when it builds an index.
 */
#include "postgres.h"

#include <math.h>

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/timestamp.h"

#include "index/index.h"

/* A scan that passes rows to a callback */
typedef struct RowScan
{
	IndexInfo  *info;
	EState	   *estate;
	ExprState  *predicate;
	TupleTableSlot *slot;
	BfTakeRow	take;
	void	   *state;
} RowScan;

/* Begin to pass rows of a table, as values of an index. */
static RowScan
begin_rows(Relation table, IndexInfo *info, BfTakeRow take, void *state)
{
	RowScan		rows = {
		.info = info,
		.estate = CreateExecutorState(),
		.slot = table_slot_create(table, NULL),
		.take = take,
		.state = state
	};

	rows.predicate = ExecPrepareQual(info->ii_Predicate, rows.estate);
	GetPerTupleExprContext(rows.estate)->ecxt_scantuple = rows.slot;
	return rows;
}

/* Pass the row in the slot, if it is in the index. */
static void
pass_row(RowScan *rows)
{
	ExprContext *econtext = GetPerTupleExprContext(rows->estate);
	MemoryContext caller;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	if (!ExecQual(rows->predicate, econtext))
		return;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	FormIndexDatum(rows->info, rows->slot, rows->estate, values, nulls);
	rows->take(rows->slot, values, nulls, rows->state);
	MemoryContextSwitchTo(caller);
}

static void
end_rows(RowScan *rows)
{
	ExecDropSingleTupleTableSlot(rows->slot);
	FreeExecutorState(rows->estate);
	/* The caller may use `info` again, but this context is freed. */
	rows->info->ii_ExpressionsState = NIL;
	rows->info->ii_PredicateState = NULL;
}

/*
 * Pass the values of each row that a snapshot sees and that is in the index, in
 * a context that is reset for the next row.
 */
void
bf_scan_rows(Relation table, IndexInfo *info, Snapshot snapshot,
			 BfTakeRow take, void *state)
{
	RowScan		rows = begin_rows(table, info, take, state);
	TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, NULL, true,
											   false);

	while (table_scan_getnextslot(scan, ForwardScanDirection, rows.slot))
		pass_row(&rows);
	table_endscan(scan);
	end_rows(&rows);
}

/*
 * Pass the rows of a part of the table's blocks, at equal distances from a
 * random start; 0A000 if the access method of the table has no scans of a TID
 * range.
 */
void
bf_scan_sample(Relation table, IndexInfo *info, Snapshot snapshot,
			   double part, BfTakeRow take, void *state)
{
	RowScan		rows = begin_rows(table, info, take, state);
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	double		step = Min(1 / part, Max((double) blocks, 1));
	double		block = fmod((double) GetCurrentTimestamp(), step);

	if (table->rd_tableam->scan_set_tidrange == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot sample table \"%s\"",
						RelationGetRelationName(table)),
				 errhint("Verify the whole table.")));
	for (; block < blocks; block += step)
	{
		TableScanDesc scan;
		ItemPointerData first;
		ItemPointerData last;

		ItemPointerSet(&first, (BlockNumber) block, 0);
		ItemPointerSet(&last, (BlockNumber) block, PG_UINT16_MAX);
		scan = compat_beginscan_tidrange(table, snapshot, &first, &last);
		while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection,
											   rows.slot))
			pass_row(&rows);
		table_endscan(scan);
	}
	end_rows(&rows);
}
