/*
 * monitor.c
 *	  bf_live_state: a live filter's row in the view bf_live_filters.
 *
 * It is for a monitor that asks often, and of all filters, whatever others do
 * with them.  So it waits for no lock: where the table or the index is locked,
 * as by REINDEX, that is what is told.  Its own locks are given back at once, as
 * what it tells holds for no statement after this one.  It looks at some pages
 * of each layer (fill.c), through a ring of few buffers, lest it put the pages
 * of others out of memory.
 *
 * And a filter that cannot be read does not make it fail.  Most reasons for that
 * are looked for; but of a page that does not pass PostgreSQL's own checks, or a
 * file that is not there, only an error tells.  So the filter is read in a
 * subtransaction, and what fails in it is told as the reason for a REINDEX,
 * unless it is the server's or the caller's doing.
 *
 * What it tells are statistics, so they are told to whom pg_stats tells them:
 * who may read the column, unless policies hide rows; and to pg_read_all_stats,
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

#include "live/live.h"
#include "type/arguments.h"
#include "type/attempt.h"

PG_FUNCTION_INFO_V1(bloomext_live_state);

/* The columns of bf_live_state. */
enum
{
	COLUMN, ESTIMATED_COUNT, EXPECTED, FILL, FPP, ESTIMATED_FPP, LAYERS,
	EXPANSION, BYTES, DUE, MAYBE, REASON, ACTION, COLUMNS
};

/* What is told of an index. */
typedef struct State
{
	Oid			index;
	Oid			table;
	const char *reindex;		/* the statement, as soon as it is known */
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS];
} State;

/* Fill in a column. */
static void
tell(State *state, int column, Datum value)
{
	state->values[column] = value;
	state->nulls[column] = false;
}

/* Fill in a column of text. */
static void
tell_text(State *state, int column, const char *text)
{
	tell(state, column, CStringGetTextDatum(text));
}

/* Say what is to be done: a statement, and before it another one, or none. */
static void
tell_action(State *state, const char *before, const char *statement)
{
	Datum		statements[2];
	int			count = 0;

	if (before != NULL)
		statements[count++] = CStringGetTextDatum(before);
	statements[count++] = CStringGetTextDatum(statement);
	tell(state, ACTION,
		 PointerGetDatum(construct_array(statements, count, TEXTOID, -1, false,
										 TYPALIGN_INT)));
}

/* Say that the filter is to be rebuilt, and why. */
static void
tell_reindex(State *state, const char *reason)
{
	tell_text(state, DUE, "REINDEX");
	tell_text(state, REASON, reason);
	if (state->reindex != NULL)
		tell_action(state, NULL, state->reindex);
}

/* Say what is due because of a filter's fill. */
static void
tell_due(State *state, Relation index, const BfLive *live,
		 const BfLiveFill *fill)
{
	double		rows = bf_live_counted_rows(state->table);

	switch (bf_live_due(fill, rows))
	{
		case BF_DUE_NOTHING:
			tell_text(state, DUE, "nothing");
			break;
		case BF_DUE_GROWTH:
			tell_text(state, DUE, "growth");
			tell_text(state, REASON, "is full, and gets a layer when elements come");
			break;
		case BF_DUE_MANY_LAYERS:
			tell_reindex(state, "has many layers, each of which a lookup asks");
			break;
		case BF_DUE_OUTGROWN:
			tell_reindex(state, "holds far more elements than its table has rows");
			break;
		case BF_DUE_OVER_FULL:
			tell_reindex(state, "is over-full");
			if (live->plan.header.expansion == 0)
				tell_action(state,
							psprintf("ALTER INDEX %s SET (expected = %.0f)",
									 bf_live_qualified_name(index),
									 bf_live_enough(fill, bf_live_likely_rows(state->table))),
							state->reindex);
			break;
	}
}

/*
 * Say why every answer is "maybe", if it is.  Where nothing else is due, what is
 * to be done for that is more than a monitor can tell.
 */
static void
tell_maybe(State *state, const char *maybe)
{
	if (maybe == NULL)
		return;
	tell_text(state, MAYBE, maybe);
	if (state->nulls[ACTION])
	{
		state->nulls[DUE] = true;
		tell_text(state, REASON, maybe);
	}
}

/* The same of a filter that can be read, and that stands for its table. */
static void
tell_whether_sure(State *state, Relation index)
{
	const BfPlace *place = bf_rows_place(state->table, false);

	tell_maybe(state, place->elsewhere != NULL ? bf_rows_maybe(place) :
			   bf_live_maybe(index));
}

/* Tell how full a filter is that can be read. */
static void
tell_fill(State *state, Relation index)
{
	BfLive		live;
	BfLiveFill	fill;
	BfDoubt		doubt;

	bf_live_open(index, &live);
	live.ring = GetAccessStrategy(BAS_BULKREAD);
	bf_live_measure(index, &live, &fill);
	FreeAccessStrategy(live.ring);

	doubt = bf_live_lasting_doubt(index, &live);
	if (doubt == BF_SURE)
		tell_due(state, index, &live, &fill);
	else
		tell_reindex(state, bf_doubt_text(doubt));
	tell(state, ESTIMATED_COUNT, Int64GetDatum(fill.all.count));
	tell(state, EXPECTED, Int64GetDatum((int64) fill.expected));
	tell(state, FILL,
		 Float8GetDatum((double) fill.all.bits_set / (double) fill.all.bits));
	tell(state, FPP, Float8GetDatum(live.plan.header.fpp));
	tell(state, ESTIMATED_FPP, Float8GetDatum(fill.all.fpp));
	tell(state, LAYERS, Int32GetDatum((int32) fill.layers));
	tell(state, EXPANSION, Int32GetDatum((int32) live.plan.header.expansion));
	tell_whether_sure(state, index);
}

/* Whether this transaction makes, or has made, an index or its file. */
static bool
is_new(Relation index)
{
	return index->rd_createSubid != InvalidSubTransactionId ||
		compat_file_subxact(index) != InvalidSubTransactionId;
}

/* Tell of an index that is open, whether it can be read or not. */
static void
tell_index(State *state, Relation index)
{
	Form_pg_index form = index->rd_index;
	BlockNumber blocks;

	state->reindex = psprintf("REINDEX INDEX CONCURRENTLY %s",
							  bf_live_qualified_name(index));
	blocks = RelationGetNumberOfBlocks(index);
	tell(state, BYTES, Int64GetDatum((int64) blocks * BLCKSZ));
	if (!form->indislive || !form->indisready || !form->indisvalid ||
		(blocks == 0 && is_new(index)))
		tell_maybe(state, bf_live_maybe(index));
	else if (blocks == 0)
		tell_reindex(state, "has lost its file's contents");
	else if (!bf_live_holds_elements(index))
		tell_maybe(state, bf_live_maybe(index));
	else
		tell_fill(state, index);
}

/* Tell of an index of a locked partition; false where the whole is not sure. */
static bool
tell_below(State *state, Oid oid)
{
	const char *name = get_rel_name(oid);
	const char *maybe;
	Relation	index;

	if (!ConditionalLockRelationOid(oid, AccessShareLock))
	{
		tell_text(state, REASON,
				  psprintf("live filter \"%s\" is locked by another session", name));
		return false;
	}
	index = relation_open(oid, NoLock);
	maybe = bf_live_maybe(index);
	tell_maybe(state, maybe);
	relation_close(index, AccessShareLock);
	return maybe == NULL;
}

/* A table's index that is in a list, or InvalidOid. */
static Oid
index_among(Relation table, const List *below)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		if (list_member_oid(below, lfirst_oid(cell)))
			return lfirst_oid(cell);
	}
	return InvalidOid;
}

/* The same of a locked partition and its part of a partitioned index. */
static bool
tell_partition(State *state, Oid oid, const List *below)
{
	const BfPlace *place = bf_rows_place(oid, false);
	Relation	table = relation_open(oid, NoLock);
	bool		has_rows = table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE;
	Oid			index = index_among(table, below);

	relation_close(table, NoLock);
	if (place->elsewhere == NULL && !has_rows)
		return true;
	if (place->elsewhere == NULL && OidIsValid(index))
		return tell_below(state, index);
	tell_maybe(state, bf_rows_maybe(place));
	return false;
}

/* The same of one that is not locked, and may be gone. */
static bool
lock_and_tell_partition(State *state, Oid table, const List *below)
{
	bool		is_sure = true;

	if (!ConditionalLockRelationOid(table, AccessShareLock))
	{
		tell_text(state, REASON,
				  psprintf("partition \"%s\" is locked by another session",
						   get_rel_name(table)));
		return false;
	}
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)))
		is_sure = tell_partition(state, table, below);
	UnlockRelationOid(table, AccessShareLock);
	return is_sure;
}

/*
 * Tell whether the "no" of a partitioned index is sure: that of each partition is,
 * one of which is locked at a time.  All else is told of the partitions' indexes.
 */
static void
tell_partitioned(State *state)
{
	List	   *below = find_all_inheritors(state->index, NoLock, NULL);
	List	   *tables = find_all_inheritors(state->table, NoLock, NULL);
	ListCell   *cell;

	foreach(cell, tables)
	{
		CHECK_FOR_INTERRUPTS();
		if (lfirst_oid(cell) != state->table &&
			!lock_and_tell_partition(state, lfirst_oid(cell), below))
			return;
	}
	tell_text(state, DUE, "nothing");
}

/* Look at an index that is locked. */
static void
look_at_locked(State *state)
{
	Relation	index = try_relation_open(state->index, NoLock);

	if (index == NULL)
	{
		tell_text(state, REASON, "was dropped");
		return;
	}
	tell_text(state, COLUMN, bf_subject_name(bf_subject_of(index)));
	if (index->rd_rel->relkind == RELKIND_INDEX)
		tell_index(state, index);
	else
		tell_partitioned(state);
	relation_close(index, NoLock);
}

/* Look at an index, with its table and it locked for as long as that takes. */
static void
look(void *argument)
{
	State	   *state = argument;

	if (!ConditionalLockRelationOid(state->table, AccessShareLock))
	{
		tell_text(state, REASON, "is of a table that is locked by another session");
		return;
	}
	if (ConditionalLockRelationOid(state->index, AccessShareLock))
	{
		look_at_locked(state);
		UnlockRelationOid(state->index, AccessShareLock);
	}
	else
		tell_text(state, REASON, "is locked by another session");
	UnlockRelationOid(state->table, AccessShareLock);
}

/* Whether an access method is the one of live filters. */
static bool
is_of_live_filters(Oid am)
{
	const IndexAmRoutine *routine = GetIndexAmRoutineByAmId(am, true);

	return routine != NULL && routine->ambuild == bflive_build;
}

/* Why nobody could read a filter from here, whatever is locked; or NULL. */
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

/* Tell what the catalogs do; false where the caller is to be told nothing. */
static bool
tell_by_catalogs(State *state)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID,
										ObjectIdGetDatum(state->index));
	HeapTuple	class_tuple = SearchSysCache1(RELOID,
											  ObjectIdGetDatum(state->index));
	AttrNumber	column = InvalidAttrNumber;
	bool		is_told = false;
	const char *reason = "was dropped";

	if (HeapTupleIsValid(tuple) && HeapTupleIsValid(class_tuple))
	{
		Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
		Form_pg_class class_form = (Form_pg_class) GETSTRUCT(class_tuple);

		state->table = form->indrelid;
		if (heap_attisnull(tuple, Anum_pg_index_indpred, NULL))
			column = form->indkey.values[0];
		reason = out_of_reach(class_form);
		is_told = (class_form->relkind == RELKIND_INDEX ||
				   class_form->relkind == RELKIND_PARTITIONED_INDEX) &&
			is_of_live_filters(class_form->relam);
	}
	else
		is_told = !HeapTupleIsValid(class_tuple);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (HeapTupleIsValid(class_tuple))
		ReleaseSysCache(class_tuple);
	if (reason != NULL)
		tell_text(state, REASON, reason);
	return is_told && bf_rights_may_see_statistics(state->table, column);
}

/* bf_live_state(index): NULL of what is no live filter, or not the caller's */
Datum
bloomext_live_state(PG_FUNCTION_ARGS)
{
	State		state = {.index = PG_GETARG_OID(0)};
	ErrorData  *error = NULL;

	memset(state.nulls, true, sizeof(state.nulls));
	if (!tell_by_catalogs(&state))
		PG_RETURN_NULL();
	if (state.nulls[REASON])
		error = bf_attempt(look, &state);
	if (error != NULL && bf_attempt_was_disturbed(error))
		ReThrowError(error);
	if (error != NULL)
		tell_reindex(&state, error->message);
	return bf_row(fcinfo, state.values, state.nulls, COLUMNS);
}
