/*
 * inspect.c
 *	  bf_live_filter, bf_live_info and bf_live_verify.
 *
 * All of them see what this transaction inserted, as a query would.
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

#include "core/estimate.h"
#include "live/live.h"
#include "live/snapshot.h"
#include "type/arguments.h"
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

/* What bf_live_info tells next: a leaf, and one of its filters, if any. */
typedef struct Next
{
	const BfLeaf *leaf;
	Oid			index;			/* or invalid */
} Next;

/* All filters that a relation stands for, and leaves that none knows. */
static List *
list_filters(Oid rel)
{
	BfQuestion	question = {.rel = rel,.all = true};
	List	   *leaves = bf_resolve(&question);
	List	   *list = NIL;
	/* An index is one, even if no partition has it yet. */
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

/* The columns of bf_live_info. */
enum
{
	INDEX, STRATEGY, FUNNEL, EXPECTED, FPP, HASHES, BITS, BITS_SET, FILL,
	ESTIMATED_COUNT, ESTIMATED_FPP, PENDING, BYTES, PAGES, TABLE, MAYBE,
	COLUMNS
};

/* Tell what a filter is, and count its bits. */
static void
fill_columns(Oid index, Datum *values)
{
	BfLiveSnapshot snapshot;
	BfLivePage *page = palloc(sizeof(BfLivePage));
	const BfPlan *plan = &snapshot.plan;
	const BfLayer *layer = &plan->first;
	uint64		set = 0;
	double		count;
	double		fpp;
	size_t		npending;
	size_t		nown;
	BlockNumber blocks;

	bf_snapshot_begin(index, &snapshot);
	pfree(bf_deferred_copy(snapshot.index, &nown));
	pfree(bf_snapshot_pending(&snapshot, &npending));
	while (bf_snapshot_next(&snapshot, page))
		set += bf_bits_count(page->bytes, page->length);
	blocks = RelationGetNumberOfBlocks(snapshot.index);
	npending += nown;
	count = bf_estimate_count(set, layer->bits, layer->hashes) + npending;
	fpp = bf_estimate_fpp(set, layer->bits, layer->hashes);

	values[STRATEGY] = CStringGetTextDatum(plan->strategy->name);
	values[FUNNEL] = CStringGetTextDatum(bf_funnel_name(plan->header.funnel));
	values[EXPECTED] = Int64GetDatum((int64) plan->header.expected);
	values[FPP] = Float8GetDatum(plan->header.fpp);
	values[HASHES] = Int32GetDatum(layer->hashes);
	values[BITS] = Int64GetDatum((int64) layer->bits);
	values[BITS_SET] = Int64GetDatum((int64) set);
	values[FILL] = Float8GetDatum((double) set / (double) layer->bits);
	values[ESTIMATED_COUNT] = Int64GetDatum((int64) count);
	values[ESTIMATED_FPP] = Float8GetDatum(fpp);
	values[PENDING] = Int64GetDatum((int64) npending);
	values[BYTES] = Int64GetDatum((int64) blocks * BLCKSZ);
	values[PAGES] = Int64GetDatum((int64) blocks);
	bf_snapshot_end(&snapshot);
	pfree(page);
}

/* Why a filter's "no" is not sure, and what to do; or NULL. */
static const char *
explain(Oid oid, bool *is_built)
{
	/* Locks may have been given back since the first row. */
	Relation	index = try_relation_open(oid, AccessShareLock);
	BfLive		live;
	BfDoubt		doubt;
	char	   *text = NULL;

	if (index == NULL)
	{
		*is_built = false;
		return "the live filter was dropped";
	}
	doubt = bf_live_doubt(index, &live);
	/* One that is being built has no pages yet. */
	*is_built = index->rd_rel->relkind == RELKIND_INDEX &&
		bf_live_is_built(index);
	if (!bf_live_holds_elements(index))
		text = psprintf("live filter \"%s\" is of a type that cannot be an element. %s",
						RelationGetRelationName(index),
						bf_live_column_hint(index));
	else if (doubt != BF_SURE)
		text = psprintf("live filter \"%s\" %s. %s",
						RelationGetRelationName(index), bf_doubt_text(doubt),
						bf_doubt_hint(doubt));
	relation_close(index, NoLock);
	return text;
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

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		calls = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(calls->multi_call_memory_ctx);
		calls->user_fctx = list_filters(PG_GETARG_OID(0));
		calls->max_calls = list_length(calls->user_fctx);
		calls->tuple_desc = bf_row_type(fcinfo);
		MemoryContextSwitchTo(old);
	}
	calls = SRF_PERCALL_SETUP();
	if (calls->call_cntr >= calls->max_calls)
		SRF_RETURN_DONE(calls);
	next = list_nth(calls->user_fctx, (int) calls->call_cntr);

	if (OidIsValid(next->index))
		maybe = explain(next->index, &is_built);
	else if (next->leaf->place.elsewhere != NULL)
		maybe = psprintf("rows of \"%s\" are %s. Ask for the tables that hold their rows themselves, one by one.",
						 get_rel_name(next->leaf->place.table), next->leaf->place.elsewhere);
	else
		maybe = psprintf("\"%s\" has no such live filter. Create one with CREATE INDEX ... USING bloomfilter.",
						 get_rel_name(next->leaf->place.table));
	memset(nulls, !is_built, sizeof(nulls));
	if (is_built)
		fill_columns(next->index, values);
	values[INDEX] = ObjectIdGetDatum(next->index);
	nulls[INDEX] = !OidIsValid(next->index);
	values[TABLE] = ObjectIdGetDatum(next->leaf->place.table);
	nulls[TABLE] = false;
	nulls[MAYBE] = maybe == NULL;
	if (maybe != NULL)
		values[MAYBE] = CStringGetTextDatum(maybe);
	SRF_RETURN_NEXT(calls, HeapTupleGetDatum(heap_form_tuple(calls->tuple_desc,
															 values, nulls)));
}

/* A filter that is being verified. */
typedef struct Verification
{
	Relation	index;
	BfLive		live;
	int64		checked;
	int64		missing;
} Verification;

/* Look a row's element up. */
static void
verify_row(TupleTableSlot *slot, Datum value, bool isnull, void *state)
{
	Verification *verification = state;
	BfLive	   *live = &verification->live;
	BfHash		hash;
	BfHashPair	pair;
	bool		found;

	verification->checked++;
	if (isnull)
		return;
	found = bf_element_hash(live->plan.strategy, live->plan.header.funnel,
							&live->element, value, &hash);
	pair = bf_pair_of(&hash);
	if (!found || !bf_live_probe(verification->index, live, &pair))
		verification->missing++;
}

/*
 * Look all rows of a table up in its filter, as the table's owner, whose code
 * the index's expressions are.
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
	bf_scan_rows(table, BuildIndexInfo(index), GetActiveSnapshot(), verify_row,
				 verification);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	relation_close(table, NoLock);
	relation_close(index, NoLock);
}

/* bf_live_verify(table or index) */
Datum
bloomext_live_verify(PG_FUNCTION_ARGS)
{
	Verification verification = {0};
	List	   *leaves;
	ListCell   *cell;
	ListCell   *inner;
	Datum		values[2];
	bool		nulls[2] = {false};

	leaves = bf_resolve_sure(PG_GETARG_OID(0));
	foreach(cell, leaves)
	{
		foreach(inner, ((BfLeaf *) lfirst(cell))->indexes)
			verify_index(lfirst_oid(inner), &verification);
	}
	values[0] = Int64GetDatum(verification.checked);
	values[1] = Int64GetDatum(verification.missing);
	return bf_row(fcinfo, values, nulls);
}
