/*
 * monitor.c
 *	  bf_live_state: the row of a live filter in the view bf_live_filters.
 *
 * Monitoring is frequent and covers all filters, whatever other sessions do
 * with them.  So bf_live_state does not wait for locks: if the table or the
 * index is locked, as by REINDEX, or something that an expression or a catalog
 * of another extension needs, it reports that.  Its own locks are released at
 * once, as its result is not meant to hold for later statements.  It examines
 * some pages of each layer (fill_sample.c), through a small ring, so that it
 * does not evict the pages of others.
 *
 * It does not fail if a filter cannot be read.  Most reasons are checked
 * before; but a page that fails PostgreSQL's own checks, or a missing file, is
 * only noticed as an error.  So the filter is read in a subtransaction, and an
 * error is reported as the reason, for a REINDEX if the file is damaged.
 *
 * Its result is statistics, so it requires the privileges of pg_stats: the
 * right to read the columns, unless policies hide rows, or pg_read_all_stats,
 * of which pg_monitor is a member.
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "index/index.h"
#include "type/arguments.h"
#include "type/subtransaction.h"

PG_FUNCTION_INFO_V1(bloomext_live_state);

/* The columns of bf_live_state. */
enum
{
	COLUMN, ESTIMATED_COUNT, EXPECTED, FILL, FPP, ESTIMATED_FPP, LAYERS,
	EXPANSION, BYTES, DUE, MAYBE, REASON, ACTION, COLUMNS
};

/* The row for an index */
typedef struct State
{
	Oid			index;
	Oid			table;
	const char *reindex;		/* the statement, once it is known */
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS];
} State;

/* Fill in a column. */
static void
report_column(State *state, int column, Datum value)
{
	state->values[column] = value;
	state->nulls[column] = false;
}

/* Fill in a column of text. */
static void
report_text(State *state, int column, const char *text)
{
	report_column(state, column, CStringGetTextDatum(text));
}

/* Set the action: a statement, preceded by another one or not. */
static void
report_action(State *state, const char *before, const char *statement)
{
	Datum		statements[2];
	int			count = 0;

	if (before != NULL)
		statements[count++] = CStringGetTextDatum(before);
	statements[count++] = CStringGetTextDatum(statement);
	report_column(state, ACTION,
				  PointerGetDatum(construct_array(statements, count, TEXTOID, -1, false,
												  TYPALIGN_INT)));
}

/* Set that a rebuild is due, and why. */
static void
report_reindex(State *state, const char *reason)
{
	report_text(state, DUE, "REINDEX");
	report_text(state, REASON, reason);
	if (state->reindex != NULL)
		report_action(state, NULL, state->reindex);
}

/* Set what is due for the fill of a filter. */
static void
report_due(State *state, Relation index, const BfLive *live,
		   const BfLiveFill *fill)
{
	double		rows = bf_live_counted_rows(state->table);

	switch (bf_live_due(fill, rows))
	{
		case BF_DUE_NOTHING:
			report_text(state, DUE, "nothing");
			break;
		case BF_DUE_GROWTH:
			report_text(state, DUE, "growth");
			report_text(state, REASON, "is full, and will add a layer when elements are inserted");
			break;
		case BF_DUE_MANY_LAYERS:
			report_reindex(state, "has many layers, all of which a lookup has to probe");
			break;
		case BF_DUE_OUTGROWN:
			report_reindex(state, "holds far more elements than its table has rows");
			break;
		case BF_DUE_OVER_FULL:
			report_reindex(state, "is over-full");
			if (live->plan.header.expansion == 0)
				report_action(state,
							  psprintf("ALTER INDEX %s SET (expected = %.0f)",
									   bf_live_qualified_name(index),
									   bf_live_enough(fill, bf_live_likely_rows(state->table))),
							  state->reindex);
			break;
	}
}

/* Why the "no" of a filter of a table is not certain; or NULL. */
static const char *
maybe_of_index(const State *state, Relation index)
{
	const BfPlace *place = bf_rows_place(state->table, false);

	return place->elsewhere != NULL ? bf_rows_maybe(place) : bf_live_maybe(index);
}

/* Why the "no" of a leaf of a partitioned index is not certain; or NULL. */
static const char *
maybe_of_leaf(const BfLeaf *leaf)
{
	const char *maybe = bf_rows_maybe(&leaf->place);
	ListCell   *cell;

	if (leaf->place.elsewhere != NULL)
		return maybe;
	foreach(cell, leaf->indexes)
	{
		Relation	index = relation_open(lfirst_oid(cell), NoLock);

		maybe = bf_live_maybe(index);
		relation_close(index, NoLock);
		if (maybe == NULL)
			break;
	}
	return maybe;
}

/*
 * Set why every answer is "maybe".  Unless a rebuild is due, what to do about
 * it cannot be decided here.
 */
static void
report_maybe(State *state, const char *maybe)
{
	report_text(state, MAYBE, maybe);
	if (state->nulls[ACTION])
	{
		state->nulls[DUE] = true;
		report_text(state, REASON, maybe);
	}
}

/* Fill the columns for the fill of a filter that can be read. */
static void
report_fill(State *state, Relation index)
{
	const char *maybe = maybe_of_index(state, index);
	BfLive		live;
	BfLiveFill	fill;
	BfDoubt		doubt;

	/* The following may raise an error. */
	if (maybe != NULL)
		report_text(state, MAYBE, maybe);
	bf_live_open(index, &live);
	live.ring = GetAccessStrategy(BAS_BULKREAD);
	bf_live_measure(index, &live, &fill);
	FreeAccessStrategy(live.ring);

	doubt = bf_live_lasting_doubt(index, &live);
	if (doubt == BF_SURE)
		report_due(state, index, &live, &fill);
	else
		report_reindex(state, bf_doubt_text(doubt));
	report_column(state, ESTIMATED_COUNT, Int64GetDatum(fill.all.count));
	report_column(state, EXPECTED, Int64GetDatum((int64) fill.expected));
	report_column(state, FILL,
				  Float8GetDatum((double) fill.all.bits_set / (double) fill.all.bits));
	report_column(state, FPP, Float8GetDatum(live.plan.header.fpp));
	report_column(state, ESTIMATED_FPP, Float8GetDatum(fill.all.fpp));
	report_column(state, LAYERS, Int32GetDatum((int32) fill.layers));
	report_column(state, EXPANSION, Int32GetDatum((int32) live.plan.header.expansion));
	if (maybe != NULL)
		report_maybe(state, maybe);
}

/* Whether an index or its file is new in this transaction. */
static bool
is_new(Relation index)
{
	return index->rd_createSubid != InvalidSubTransactionId ||
		compat_file_subxact(index) != InvalidSubTransactionId;
}

/* Fill the columns for an open index, whether it can be read or not. */
static void
report_index(State *state, Relation index)
{
	Form_pg_index form = index->rd_index;
	BlockNumber blocks;

	state->reindex = psprintf("REINDEX INDEX CONCURRENTLY %s",
							  bf_live_qualified_name(index));
	blocks = RelationGetNumberOfBlocks(index);
	report_column(state, BYTES, Int64GetDatum((int64) blocks * BLCKSZ));
	if (!form->indislive || !form->indisready || !form->indisvalid ||
		(blocks == 0 && is_new(index)))
		report_maybe(state, bf_live_maybe(index));
	else if (blocks == 0)
	{
		report_reindex(state, "has lost the contents of its file");
		report_maybe(state, bf_live_maybe(index));
	}
	else if (!bf_live_holds_elements(index))
		report_text(state, REASON, bf_live_maybe(index));
	else
		report_fill(state, index);
}

/*
 * Fill the columns for a partitioned index: whether its "no" is certain, which
 * depends on each leaf.  The rows of the partitions' indexes say the rest.
 */
static void
report_partitioned(State *state)
{
	List	   *leaves = bf_resolve_index(state->index);
	ListCell   *cell;

	foreach(cell, leaves)
	{
		const char *maybe = maybe_of_leaf(lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		if (maybe != NULL)
		{
			report_maybe(state, maybe);
			return;
		}
	}
	report_text(state, DUE, "nothing");
}

/* Examine an index that is locked. */
static void
look_at_locked(State *state)
{
	Relation	index = try_relation_open(state->index, NoLock);

	if (index == NULL)
	{
		report_text(state, REASON, "was dropped");
		return;
	}
	report_text(state, COLUMN, bf_index_key_name(bf_index_key_of(index)));
	if (index->rd_rel->relkind == RELKIND_INDEX)
		report_index(state, index);
	else
		report_partitioned(state);
	relation_close(index, NoLock);
}

/* Lock a table and its index, and examine the index. */
static void
look_at_index(void *argument)
{
	State	   *state = argument;

	if (!ConditionalLockRelationOid(state->table, AccessShareLock))
		report_text(state, REASON, "is of a table that is locked by another session");
	else if (!ConditionalLockRelationOid(state->index, AccessShareLock))
		report_text(state, REASON, "is locked by another session");
	else
		look_at_locked(state);
}

/* Whether an access method is ours. */
static bool
is_of_live_filters(Oid am)
{
	const IndexAmRoutine *routine = GetIndexAmRoutineByAmId(am, true);

	return routine != NULL && routine->ambuild == bflive_build;
}

/* Why a filter cannot be read from this session at all; or NULL. */
static const char *
out_of_reach(Form_pg_class form)
{
	if (form->relpersistence == RELPERSISTENCE_TEMP &&
		!isTempNamespace(form->relnamespace))
		return "is of a temporary table of another session";
	if (form->relpersistence != RELPERSISTENCE_PERMANENT && RecoveryInProgress())
		return "is unlogged, and empty on a standby";
	return NULL;
}

/* Fill the columns from the catalogs; false if the caller gets no row. */
static bool
report_by_catalogs(State *state)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(state->index));
	HeapTuple	class_tuple = SearchSysCache1(RELOID,
											  ObjectIdGetDatum(state->index));
	bool		is_visible = false;
	const char *reason = "was dropped";

	if (HeapTupleIsValid(tuple) && HeapTupleIsValid(class_tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
		Form_pg_class class_form = (Form_pg_class) GETSTRUCT(class_tuple);

		state->table = form->indrelid;
		reason = out_of_reach(class_form);
		is_visible = (class_form->relkind == RELKIND_INDEX ||
					  class_form->relkind == RELKIND_PARTITIONED_INDEX) &&
			is_of_live_filters(class_form->relam);
	}
	else
		is_visible = !HeapTupleIsValid(class_tuple);
	is_visible = is_visible && bf_rights_may_see_statistics(tuple);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (HeapTupleIsValid(class_tuple))
		ReleaseSysCache(class_tuple);
	if (reason != NULL)
		report_text(state, REASON, reason);
	return is_visible;
}

/* Whether an error is about a file that is damaged, or of an older format. */
static bool
calls_for_rebuild(const ErrorData *error)
{
	switch (error->sqlerrcode)
	{
		case ERRCODE_DATA_CORRUPTED:
		case ERRCODE_INDEX_CORRUPTED:
		case ERRCODE_FEATURE_NOT_SUPPORTED:
			return true;
		default:
			return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_SYSTEM_ERROR;
	}
}

/* Set the reason from an error. */
static void
report_error_of_filter(State *state, ErrorData *error)
{
	const char *reason = bf_look_reason(error);

	if (state->reindex != NULL && calls_for_rebuild(error))
		report_reindex(state, reason);
	else
		report_text(state, REASON, reason);
}

/* bf_live_state(index): NULL if not a live filter, or without privileges */
Datum
bloomext_live_state(PG_FUNCTION_ARGS)
{
	State		state = {.index = PG_GETARG_OID(0)};
	ErrorData  *error = NULL;

	memset(state.nulls, true, sizeof(state.nulls));
	if (!report_by_catalogs(&state))
		PG_RETURN_NULL();
	if (state.nulls[REASON])
		error = bf_look(look_at_index, &state);
	if (error != NULL)
		report_error_of_filter(&state, error);
	return bf_row(fcinfo, state.values, state.nulls, COLUMNS);
}
