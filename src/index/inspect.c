/*
 * inspect.c
 *	  bf_live_filter, bf_live_info, bf_live_layers and bf_live_verify.
 *
 * All of them include what this transaction inserted, as a query does.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "index/index.h"
#include "index/snapshot.h"
#include "strategy/fill.h"
#include "type/arguments.h"
#include "type/element_type.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_live_filter);
PG_FUNCTION_INFO_V1(bloomext_live_info);
PG_FUNCTION_INFO_V1(bloomext_live_layers);
PG_FUNCTION_INFO_V1(bloomext_live_verify);

/* bf_live_filter(table or index): the union of all partitions' filters */
Datum
bloomext_live_filter(PG_FUNCTION_ARGS)
{
	BfValue		value;

	bf_snapshot_value(PG_GETARG_OID(0), false, &value);
	PG_RETURN_POINTER(value.varlena);
}

/* The next row of bf_live_info: a leaf, and one of its filters, if any */
typedef struct Next
{
	const BfLeaf *leaf;
	Oid			index;			/* or invalid */
} Next;

/* All filters of a relation, and leaves that no filter covers. */
static List *
list_filters(Oid rel)
{
	BfQuestion	question = {.rel = rel,.all = true};
	List	   *leaves = bf_resolve(&question);
	List	   *list = NIL;
	/* An index is a filter, even if no partition has it yet. */
	bool		any = get_rel_relkind(rel) == RELKIND_INDEX ||
		get_rel_relkind(rel) == RELKIND_PARTITIONED_INDEX;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, leaves)
	{
		const BfLeaf *leaf = lfirst(cell);
		List	   *indexes = leaf->place.elsewhere != NULL ? NIL : leaf->indexes;

		any = any || leaf->indexes != NIL || leaf->place.elsewhere != NULL;
		if (indexes == NIL)
			indexes = list_make1_oid(InvalidOid);
		foreach(inner, indexes)
		{
			Next	   *next = palloc(sizeof(Next));

			next->leaf = leaf;
			next->index = lfirst_oid(inner);
			list = lappend(list, next);
		}
	}
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("\"%s\" has no live filter", get_rel_name(rel)),
				 errhint("Create one with CREATE INDEX ... USING bloomfilter.")));
	return list;
}

/* A layer of a filter, measured. */
typedef struct Measured
{
	BfLiveLayer layer;
	BfLayerFill fill;
	uint64		pending;		/* elements without bits yet */
} Measured;

/* Count the bits and the pending elements of a layer. */
static void
measure_layer(BfLiveSnapshot *snapshot, uint32 number, Measured *measured)
{
	BfLivePage *page = palloc(sizeof(BfLivePage));
	size_t		npending;

	measured->layer = snapshot->live->layers[number];
	measured->fill = (BfLayerFill) {0};
	pfree(bf_snapshot_layer(snapshot, number, &npending));
	measured->pending = npending;
	while (bf_snapshot_next(snapshot, page))
		bf_layer_fill_add(&measured->fill, snapshot->plan.strategy, page->bytes,
						  page->length);
	pfree(page);
}

/*
 * Measure all layers; deferred elements of this transaction are counted as
 * pending in the newest one.
 */
static Measured *
measure_filter(BfLiveSnapshot *snapshot)
{
	uint32		count = snapshot->plan.header.layers;
	Measured   *measured = palloc(sizeof(Measured) * count);
	size_t		nown;

	pfree(bf_deferred_copy(snapshot->index, &nown));
	for (uint32 i = 0; i < count; i++)
		measure_layer(snapshot, i, &measured[i]);
	measured[count - 1].pending += nown;
	return measured;
}

/* The columns of bf_live_info. */
enum
{
	INDEX, STRATEGY, FUNNEL, EXPECTED, FPP, HASHES, BITS, BITS_SET, FILL,
	ESTIMATED_COUNT, ESTIMATED_FPP, PENDING, BYTES, PAGES, RELATION,
	MAYBE, LAYERS, EXPANSION, ELEMENTS, SURELY_ABSENT, CONFIRMED, FALSE_ALARMS,
	COLUMNS
};

/* Fill the columns for the shape and the fill of a filter. */
static void
fill_columns(Oid index, Datum *values)
{
	BfLiveSnapshot snapshot;
	const BfPlan *plan = &snapshot.plan;
	Measured   *measured;
	BfFill		fill = {0};
	uint64		pending = 0;
	BlockNumber blocks;
	BfAlarms	alarms;

	bf_snapshot_begin(index, &snapshot);
	measured = measure_filter(&snapshot);
	blocks = RelationGetNumberOfBlocks(snapshot.index);
	for (uint32 i = 0; i < plan->header.layers; i++)
	{
		bf_fill_add_measured(&fill, plan->strategy, &plan->layers[i],
							 &measured[i].fill);
		pending += measured[i].pending;
	}

	values[STRATEGY] = CStringGetTextDatum(plan->strategy->name);
	values[FUNNEL] = CStringGetTextDatum(bf_funnel_name(plan->header.funnel));
	values[EXPECTED] = Int64GetDatum((int64) plan->header.expected);
	values[FPP] = Float8GetDatum(plan->header.fpp);
	values[HASHES] = Int32GetDatum(plan->first.hashes);
	values[BITS] = Int64GetDatum((int64) fill.bits);
	values[BITS_SET] = Int64GetDatum((int64) fill.bits_set);
	values[FILL] = Float8GetDatum((double) fill.bits_set / (double) fill.bits);
	values[ESTIMATED_COUNT] = Int64GetDatum(fill.count + (int64) pending);
	values[ESTIMATED_FPP] = Float8GetDatum(fill.fpp);
	values[PENDING] = Int64GetDatum((int64) pending);
	values[BYTES] = Int64GetDatum((int64) blocks * BLCKSZ);
	values[PAGES] = Int64GetDatum((int64) blocks);
	values[LAYERS] = Int32GetDatum(plan->header.layers);
	values[EXPANSION] = Int32GetDatum(plan->header.expansion);
	values[ELEMENTS] = CStringGetTextDatum(bf_meaning_name((BfMeaning) plan->header.meaning));
	alarms = bf_alarms_of(snapshot.index);
	values[SURELY_ABSENT] = Int64GetDatum((int64) alarms.absent);
	values[CONFIRMED] = Int64GetDatum((int64) alarms.confirmed);
	values[FALSE_ALARMS] = Int64GetDatum((int64) alarms.false_alarms);
	bf_snapshot_end(&snapshot);
	pfree(measured);
}

/* Why the "no" of a filter is not certain, or NULL; and if it has pages. */
static const char *
explain_maybe(Oid oid, bool *is_built)
{
	/* Locks may have been released since the first row. */
	Relation	index = try_relation_open(oid, AccessShareLock);
	const char *maybe;

	if (index == NULL)
	{
		*is_built = false;
		return "the live filter was dropped";
	}
	maybe = bf_live_maybe(index);
	*is_built = index->rd_rel->relkind == RELKIND_INDEX &&
		bf_live_is_built(index);
	relation_close(index, NoLock);
	return maybe;
}

/*
 * Begin a call of a function that returns rows: the first call lists what they
 * are made of, for the relation in its argument.
 */
static FuncCallContext *
begin_call(FunctionCallInfo fcinfo, int known, List *(*list) (Oid rel))
{
	if (SRF_IS_FIRSTCALL())
	{
		FuncCallContext *calls = SRF_FIRSTCALL_INIT();
		MemoryContext old = MemoryContextSwitchTo(calls->multi_call_memory_ctx);

		calls->user_fctx = list(PG_GETARG_OID(0));
		calls->max_calls = list_length(calls->user_fctx);
		calls->tuple_desc = bf_row_type(fcinfo, known);
		MemoryContextSwitchTo(old);
	}
	return SRF_PERCALL_SETUP();
}

/* bf_live_info(table or index): a row for each filter */
Datum
bloomext_live_info(PG_FUNCTION_ARGS)
{
	FuncCallContext *calls;
	Next	   *next;
	Datum		values[COLUMNS] = {0};
	bool		nulls[COLUMNS];
	bool		is_built = false;
	const char *maybe;

	calls = begin_call(fcinfo, COLUMNS, list_filters);
	if (calls->call_cntr >= calls->max_calls)
		SRF_RETURN_DONE(calls);
	next = list_nth(calls->user_fctx, (int) calls->call_cntr);

	if (OidIsValid(next->index))
		maybe = explain_maybe(next->index, &is_built);
	else
		maybe = bf_rows_maybe(&next->leaf->place);
	memset(nulls, !is_built, sizeof(nulls));
	if (is_built)
		fill_columns(next->index, values);
	values[INDEX] = ObjectIdGetDatum(next->index);
	nulls[INDEX] = !OidIsValid(next->index);
	values[RELATION] = ObjectIdGetDatum(next->leaf->place.table);
	nulls[RELATION] = false;
	nulls[MAYBE] = maybe == NULL;
	if (maybe != NULL)
		values[MAYBE] = CStringGetTextDatum(maybe);
	SRF_RETURN_NEXT(calls, HeapTupleGetDatum(heap_form_tuple(calls->tuple_desc,
															 values, nulls)));
}

/* A row of bf_live_layers. */
typedef struct LayerRow
{
	Oid			index;
	uint32		number;
	const BfStrategy *strategy;
	Measured	measured;
} LayerRow;

/* Append rows for the layers of a filter. */
static List *
append_rows(Oid index, List *rows)
{
	BfLiveSnapshot snapshot;
	Measured   *measured;

	bf_snapshot_begin(index, &snapshot);
	measured = measure_filter(&snapshot);
	for (uint32 i = 0; i < snapshot.plan.header.layers; i++)
	{
		LayerRow   *row = palloc(sizeof(LayerRow));

		*row = (LayerRow) {
			.index = index,.number = i,
			.strategy = snapshot.plan.strategy,.measured = measured[i]
		};
		rows = lappend(rows, row);
	}
	bf_snapshot_end(&snapshot);
	pfree(measured);
	return rows;
}

/* Rows for all layers of all filters of a relation. */
static List *
list_rows(Oid rel)
{
	List	   *rows = NIL;
	ListCell   *cell;
	bool		is_built;

	foreach(cell, list_filters(rel))
	{
		const Next *next = lfirst(cell);

		if (!OidIsValid(next->index))
			continue;
		explain_maybe(next->index, &is_built);
		if (is_built)
			rows = append_rows(next->index, rows);
	}
	return rows;
}

/* bf_live_layers(table or index): a row for each layer, oldest first */
Datum
bloomext_live_layers(PG_FUNCTION_ARGS)
{
	FuncCallContext *calls;
	const LayerRow *row;
	const BfLayer *shape;
	BfFill		fill = {0};
	Datum		values[12];
	bool		nulls[12] = {false};

	calls = begin_call(fcinfo, lengthof(values), list_rows);
	if (calls->call_cntr >= calls->max_calls)
		SRF_RETURN_DONE(calls);

	row = list_nth(calls->user_fctx, (int) calls->call_cntr);
	shape = &row->measured.layer.shape;
	bf_fill_add_measured(&fill, row->strategy, shape, &row->measured.fill);
	values[0] = ObjectIdGetDatum(row->index);
	values[1] = Int32GetDatum(row->number);
	values[2] = Int64GetDatum((int64) shape->expected);
	values[3] = Float8GetDatum(shape->fpp);
	values[4] = Int32GetDatum(shape->hashes);
	values[5] = Int64GetDatum((int64) shape->bits);
	values[6] = Int64GetDatum((int64) fill.bits_set);
	values[7] = Float8GetDatum((double) fill.bits_set / (double) fill.bits);
	values[8] = Int64GetDatum(fill.count + (int64) row->measured.pending);
	values[9] = Float8GetDatum(fill.fpp);
	values[10] = Int64GetDatum((int64) row->measured.pending);
	values[11] = Int64GetDatum((int64) row->measured.layer.pending +
							   row->measured.layer.pages);
	SRF_RETURN_NEXT(calls, HeapTupleGetDatum(heap_form_tuple(calls->tuple_desc,
															 values, nulls)));
}

/* A filter that is being verified. */
typedef struct Verification
{
	Relation	index;
	BfLive		live;
	double		part;			/* of the blocks of tables that is read */
	TimestampTz reported;		/* when progress was reported */
	int64		checked;
	int64		missing;
} Verification;

/* Rows between checks of the clock, and ms between reports. */
#define ROWS_A_LOOK		1024
#define REPORT_EVERY	10000

/* Report the progress of a verification, at intervals. */
static void
report_progress(Verification *verification, BlockNumber block)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(verification->reported, now, REPORT_EVERY))
		return;
	verification->reported = now;
	ereport(NOTICE,
			(errmsg("verifying live filter \"%s\": at block %u of its table, %lld rows checked, %lld missing",
					RelationGetRelationName(verification->index), block,
					(long long) verification->checked,
					(long long) verification->missing)));
}

/* Look up the element of a row. */
static void
verify_row(TupleTableSlot *slot, const Datum *values, const bool *isnull,
		   void *state)
{
	Verification *verification = state;
	BfLive	   *live = &verification->live;
	BfHash		hash;
	BfHashPair	pair;
	BfPartsRoom room;
	Datum		value;
	bool		found;

	if (++verification->checked % ROWS_A_LOOK == 0)
		report_progress(verification,
						ItemPointerGetBlockNumber(&slot->tts_tid));
	if (!bf_parts_element(&live->parts, values, isnull, &room, &value))
		return;
	found = bf_element_hash(live->plan.strategy, live->plan.header.funnel,
							&live->element, value, &hash);
	pair = bf_pair_of(&hash);
	if (!found || !bf_live_probe(verification->index, &pair))
		verification->missing++;
}

/*
 * Look up all rows of a table in its filter, as the owner of the table, whose
 * code the expressions of the index are.
 */
static void
verify_index(Oid oid, Verification *verification)
{
	Relation	index = relation_open(oid, NoLock);
	Relation	table = relation_open(index->rd_index->indrelid, NoLock);
	int			level = NewGUCNestLevel();
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(table->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	RestrictSearchPath();
	PredicateLockRelation(index, GetActiveSnapshot());
	verification->index = index;
	bf_live_open(index, &verification->live);
	if (verification->part < 1)
		bf_scan_sample(table, BuildIndexInfo(index), GetActiveSnapshot(),
					   verification->part, verify_row, verification);
	else
		bf_scan_rows(table, BuildIndexInfo(index), GetActiveSnapshot(),
					 verify_row, verification);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	relation_close(table, NoLock);
	relation_close(index, NoLock);
}

/* bf_live_verify(table or index, part of its blocks) */
Datum
bloomext_live_verify(PG_FUNCTION_ARGS)
{
	Verification verification = {
		.part = PG_GETARG_FLOAT8(1),
		.reported = GetCurrentTimestamp()
	};
	List	   *leaves;
	ListCell   *cell;
	ListCell   *inner;
	Datum		values[2];
	bool		nulls[2] = {false};

	if (!(verification.part > 0 && verification.part <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample must be more than 0 and at most 1, but is %g",
						verification.part)));
	leaves = bf_resolve_sure(PG_GETARG_OID(0));
	foreach(cell, leaves)
	{
		foreach(inner, ((BfLeaf *) lfirst(cell))->indexes)
			verify_index(lfirst_oid(inner), &verification);
	}
	values[0] = Int64GetDatum(verification.checked);
	values[1] = Int64GetDatum(verification.missing);
	return bf_row(fcinfo, values, nulls, lengthof(values));
}
