/*
 * info.c
 *	  bf_live_filter, bf_live_info and bf_live_verify.
 *
 * All of them see what this transaction inserted, as a query would.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "core/estimate.h"
#include "live/live.h"
#include "live/snapshot.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_live_filter);
PG_FUNCTION_INFO_V1(bloomext_live_info);
PG_FUNCTION_INFO_V1(bloomext_live_verify);

/* bf_live_filter(table or index): the union of all partitions' filters */
Datum
bloomext_live_filter(PG_FUNCTION_ARGS)
{
	BfValue		value;

	bf_snapshot_value(PG_GETARG_OID(0), &value);
	PG_RETURN_POINTER(value.varlena);
}

/* bf_live_info(table or index): everything at a glance */
Datum
bloomext_live_info(PG_FUNCTION_ARGS)
{
	BfLiveSnapshot snapshot;
	BfLivePage *page = palloc(sizeof(BfLivePage));
	const BfLayer *layer = &snapshot.layer;
	const char *strategy;
	const char *funnel;
	uint64		set = 0;
	double		count;
	double		fpp;
	size_t		npending;
	size_t		nown;
	BlockNumber blocks;
	TupleDesc	row;
	Datum		values[14];
	bool		nulls[14] = {false};

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	bf_snapshot_begin(PG_GETARG_OID(0), &snapshot);
	pfree(bf_deferred_copy(RelationGetRelid(snapshot.index), &nown));
	pfree(bf_snapshot_pending(&snapshot, &npending));
	while (bf_snapshot_next(&snapshot, page))
		set += bf_bits_count(page->bytes, page->length);
	blocks = RelationGetNumberOfBlocks(snapshot.index);
	npending += nown;
	strategy = bf_strategy_by_id(snapshot.header.strategy)->name;
	funnel = bf_funnel_name((BfFunnel) snapshot.header.funnel);
	count = bf_estimate_count(set, layer->bits, layer->hashes) + npending;
	fpp = bf_estimate_fpp(set, layer->bits, layer->hashes);

	values[0] = ObjectIdGetDatum(RelationGetRelid(snapshot.index));
	values[1] = CStringGetTextDatum(strategy);
	values[2] = CStringGetTextDatum(funnel);
	values[3] = Int64GetDatum((int64) snapshot.header.expected);
	values[4] = Float8GetDatum(snapshot.header.fpp);
	values[5] = Int32GetDatum(layer->hashes);
	values[6] = Int64GetDatum((int64) layer->bits);
	values[7] = Int64GetDatum((int64) set);
	values[8] = Float8GetDatum((double) set / (double) layer->bits);
	values[9] = Int64GetDatum((int64) count);
	values[10] = Float8GetDatum(fpp);
	values[11] = Int64GetDatum((int64) npending);
	values[12] = Int64GetDatum((int64) blocks * BLCKSZ);
	values[13] = Int64GetDatum((int64) blocks);
	bf_snapshot_end(&snapshot);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}

/* Whether a row's element is found. */
static bool
verify_row(Relation index, BfLive *live, Datum value)
{
	BfHash		hash;
	BfHashPair	pair;

	if (!bf_element_hash(live->strategy, live->funnel, &live->element, value,
						 &hash))
		return false;
	pair = (BfHashPair) {hash.h1, hash.h2};
	return bf_live_probe(index, live, &pair);
}

/* Look all rows of a table up in its filter. */
static void
verify_index(Oid oid, int64 *checked, int64 *missing)
{
	Relation	index = relation_open(oid, NoLock);
	Relation	table = relation_open(index->rd_index->indrelid, NoLock);
	IndexInfo  *info = BuildIndexInfo(index);
	EState	   *estate = CreateExecutorState();
	ExprContext *econtext = GetPerTupleExprContext(estate);
	ExprState  *predicate = ExecPrepareQual(info->ii_Predicate, estate);
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = table_beginscan(table, GetActiveSnapshot(), 0, NULL);
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	BfLive		live;

	bf_live_open(index, &live);
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
		++*checked;
		if (!nulls[0] && !verify_row(index, &live, values[0]))
			++*missing;
		MemoryContextSwitchTo(caller);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	FreeExecutorState(estate);
	relation_close(table, NoLock);
	relation_close(index, NoLock);
}

/* Raise where a filter does not know all rows that the scan will see. */
static void
refuse_unusable(Oid oid)
{
	BfLiveSnapshot snapshot;

	bf_snapshot_begin_index(oid, &snapshot);
	bf_snapshot_end(&snapshot);
}

/* bf_live_verify(table or index) */
Datum
bloomext_live_verify(PG_FUNCTION_ARGS)
{
	BfLiveTarget target;
	ListCell   *cell;
	int64		checked = 0;
	int64		missing = 0;
	TupleDesc	row;
	Datum		values[2];
	bool		nulls[2] = {false};

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bf_resolve_valid(PG_GETARG_OID(0), &target);
	foreach(cell, target.indexes)
	{
		refuse_unusable(lfirst_oid(cell));
		verify_index(lfirst_oid(cell), &checked, &missing);
	}
	values[0] = Int64GetDatum(checked);
	values[1] = Int64GetDatum(missing);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}
