/*
 * scan.c
 *	  What a table's rows put into an index.
 *
 * An index's expression and condition are code of the table's owner.  Whoever
 * calls this runs as that owner, with nothing to be changed for the session: as
 * the core does it when it builds an index.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "live/live.h"

/*
 * Hand out the value of each row that a snapshot sees and that is in the index,
 * in a context that is reset for the next.
 */
void
bf_scan_rows(Relation table, IndexInfo *info, Snapshot snapshot,
			 BfTakeRow take, void *state)
{
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, estate);
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = table_beginscan_strat(table, snapshot, 0, NULL, true,
											   false);
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	econtext->ecxt_scantuple = slot;
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext caller;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (!ExecQual(predicate, econtext))
			continue;
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		FormIndexDatum(info, slot, estate, values, nulls);
		take(slot, values[0], nulls[0], state);
		MemoryContextSwitchTo(caller);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	/* These may be kept, and were made in a context that is gone. */
	info->ii_ExpressionsState = NIL;
	info->ii_PredicateState = NULL;
}
