/*
 * stored.c
 *	  bf_stored_filters: the filters in the columns of this database.
 *
 * It is for monitoring, and for finding filters that are damaged or too
 * small.  So it never waits for a lock, not even on a TOAST table's index,
 * and no column makes it fail: if one cannot be read, its row in the result
 * contains the reason.  Each column is read in a subtransaction, so this
 * cannot be called in parallel mode.
 *
 * A table is scanned directly and not by a query, which could run code of its
 * owner with the caller's privileges.  A scan does not apply policies, so a
 * table whose policies hide rows from the caller is not read.  Columns that
 * the caller may not read are omitted.
 *
 * Columns are found if their type is bloomfilter or a domain over it.
 * Filters in arrays or composite types are not found.  Partitions are treated
 * like other tables.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "type/arguments.h"
#include "type/subtransaction.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_stored_filters);

/* Multiple of the requested false positive probability that is too high. */
#define TOO_MANY		2

/* Likewise for a filter whose requested probability is unknown. */
#define TOO_LIKELY		0.05

/* The columns of bf_stored_filters. */
enum
{
	RELATION, COLUMN, FILTERS, MISSING, OVER_FULL, FILL, ESTIMATED_FPP, BYTES,
	DUE, REASON, ACTION, COLUMNS
};

/* A column of filters. */
typedef struct Column
{
	Oid			table;
	AttrNumber	number;
	NameData	name;
} Column;

/* The result for a column. */
typedef struct Found
{
	const Column *column;
	const List *types;			/* of columns of filters */
	const char *schema;			/* of bf_info */
	ItemPointerData row;		/* whose filter is being read, or invalid */
	int64		filters;
	int64		missing;		/* rows where it is NULL */
	int64		over_full;
	double		fill;			/* of the fullest */
	double		fpp;			/* the highest one */
	int64		bytes;
	bool		was_read;
	const char *action;
	const char *reason;			/* why it was not read */
} Found;

/* Whether a filter has far more false positives than requested. */
static bool
is_over_full(const BfFilter *filter, double fpp)
{
	double		wanted = filter->plan.header.fpp;

	return fpp > (wanted > 0 ? TOO_MANY * wanted : TOO_LIKELY);
}

/* Add a filter to the result. */
static void
count_filter(Found *found, Datum datum)
{
	BfFilter	filter;
	BfFill		fill;

	bf_value_open(datum, &filter);
	fill = bf_value_fill(&filter);
	found->filters++;
	found->over_full += is_over_full(&filter, fill.fpp);
	found->fill = Max(found->fill, (double) fill.bits_set / (double) fill.bits);
	found->fpp = Max(found->fpp, fill.fpp);
	found->bytes += (int64) filter.length;
}

/* Add all rows of an open table to the result. */
static void
count_rows(Found *found, Relation table)
{
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = compat_beginscan(table, GetActiveSnapshot());
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "stored filter",
												  ALLOCSET_DEFAULT_SIZES);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext caller = MemoryContextSwitchTo(scratch);
		bool		is_null;
		Datum		datum = slot_getattr(slot, found->column->number, &is_null);

		CHECK_FOR_INTERRUPTS();
		found->row = slot->tts_tid;
		if (is_null)
			found->missing++;
		else
			count_filter(found, datum);
		ItemPointerSetInvalid(&found->row);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * The statement that lists a column's over-full filters.  Its types match
 * those of our function and of PostgreSQL's operators exactly: otherwise
 * functions of the table's owner could match better, and other users would run
 * them.
 */
static const char *
listing_statement(const Found *found, Relation table)
{
	return psprintf("SELECT t.ctid, i.expected, i.estimated_count, i.fpp, i.estimated_fpp"
					" FROM ONLY %s AS t, %s(t.%s::%s) AS i"
					" WHERE i.estimated_fpp > coalesce(i.fpp * float8 '%d', float8 '%g') ORDER BY i.estimated_fpp DESC",
					quote_qualified_identifier(get_namespace_name(RelationGetNamespace(table)),
											   RelationGetRelationName(table)),
					quote_qualified_identifier(found->schema, "bf_info"),
					quote_identifier(NameStr(found->column->name)),
					quote_qualified_identifier(found->schema, "bloomfilter"),
					TOO_MANY, TOO_LIKELY);
}

/* Whether a column still has filters after its table was locked. */
static bool
is_of_filters(Relation table, const Found *found)
{
	TupleDesc	row = RelationGetDescr(table);
	AttrNumber	number = found->column->number;

	return number <= row->natts &&
		!TupleDescAttr(row, number - 1)->attisdropped &&
		list_member_oid(found->types, TupleDescAttr(row, number - 1)->atttypid);
}

/* Why a table cannot be read completely in this session, or NULL. */
static const char *
why_not_whole(Form_pg_class form)
{
	if (form->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		return "is of an unlogged table, which is empty on a standby";
	if (check_enable_rls(form->oid, InvalidOid, true) == RLS_ENABLED)
		return "is of a table whose policies hide rows";
	return NULL;
}

/* Whether a relation has rows to be read; sets *reason not to, or NULL. */
static bool
is_table(Oid oid, const char **reason)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
	Form_pg_class form;
	bool		has_rows;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	has_rows = (form->relkind == RELKIND_RELATION ||
				form->relkind == RELKIND_MATVIEW) &&
		(form->relpersistence != RELPERSISTENCE_TEMP ||
		 isTempNamespace(form->relnamespace));
	*reason = has_rows ? why_not_whole(form) : NULL;
	ReleaseSysCache(tuple);
	return has_rows;
}

/* Whether the caller may read a column. */
static bool
may_read(const Column *column)
{
	bool		is_missing = false;

	return pg_class_aclcheck_ext(column->table, GetUserId(), ACL_SELECT,
								 &is_missing) == ACLCHECK_OK ||
		(!is_missing &&
		 pg_attribute_aclcheck_ext(column->table, column->number, GetUserId(),
								   ACL_SELECT, &is_missing) == ACLCHECK_OK);
}

/* Read a locked table's column, if it still exists and may be read. */
static void
read_locked(Found *found)
{
	Relation	table = try_table_open(found->column->table, NoLock);

	if (table == NULL)
	{
		found->reason = "was dropped";
		return;
	}
	if (!is_table(found->column->table, &found->reason) ||
		!is_of_filters(table, found) || !may_read(found->column))
		found->reason = "was altered";
	else if (found->reason == NULL && !RelationIsPopulated(table))
		found->reason = "is of a materialized view that is not populated";
	if (found->reason == NULL)
	{
		count_rows(found, table);
		found->was_read = true;
		if (found->over_full > 0)
			found->action = listing_statement(found, table);
	}
	table_close(table, NoLock);
}

/* Read a column, if its table can be locked without waiting. */
static void
read_column(void *argument)
{
	Found	   *found = argument;

	if (ConditionalLockRelationOid(found->column->table, AccessShareLock))
		read_locked(found);
	else
		found->reason = "is of a table that is locked by another session";
}

/* Read a column; errors become the reason. */
static void
try_column(Found *found)
{
	ErrorData  *error;
	const char *reason;

	if (found->reason != NULL)
		return;
	error = bf_look(read_column, found);
	if (error == NULL)
		return;
	reason = bf_look_reason(error);
	found->was_read = false;
	found->reason = !ItemPointerIsValid(&found->row) ||
		error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ? reason :
		psprintf("the filter of row (%u,%u): %s",
				 ItemPointerGetBlockNumber(&found->row),
				 ItemPointerGetOffsetNumber(&found->row), reason);
}

/* Return a column's row. */
static void
put_column(ReturnSetInfo *set, const Found *found)
{
	bool		any = found->filters > 0;
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS];
	Datum		action;

	memset(nulls, !found->was_read, sizeof(nulls));
	nulls[RELATION] = nulls[COLUMN] = false;
	nulls[FILL] = nulls[ESTIMATED_FPP] = !found->was_read || !any;
	nulls[REASON] = found->was_read && found->over_full == 0;
	nulls[ACTION] = found->action == NULL;
	values[RELATION] = ObjectIdGetDatum(found->column->table);
	values[COLUMN] = NameGetDatum(&found->column->name);
	values[FILTERS] = Int64GetDatum(found->filters);
	values[MISSING] = Int64GetDatum(found->missing);
	values[OVER_FULL] = Int64GetDatum(found->over_full);
	values[FILL] = Float8GetDatum(found->fill);
	values[ESTIMATED_FPP] = Float8GetDatum(found->fpp);
	values[BYTES] = Int64GetDatum(found->bytes);
	values[DUE] = CStringGetTextDatum(found->over_full > 0 ? "rebuild" : "nothing");
	if (!nulls[REASON])
		values[REASON] = CStringGetTextDatum(!found->was_read ? found->reason :
											 "holds filters that are over-full");
	if (!nulls[ACTION])
	{
		action = CStringGetTextDatum(found->action);
		values[ACTION] = PointerGetDatum(construct_array(&action, 1, TEXTOID, -1,
														 false, TYPALIGN_INT));
	}
	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

/* Append the domains over listed types; false if there are no more. */
static bool
add_domains(List **types)
{
	Relation	all = table_open(TypeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(all, InvalidOid, false, NULL, 0, NULL);
	int			before = list_length(*types);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_type form = (Form_pg_type) GETSTRUCT(tuple);

		if (form->typtype == TYPTYPE_DOMAIN &&
			list_member_oid(*types, form->typbasetype))
			*types = list_append_unique_oid(*types, form->oid);
	}
	systable_endscan(scan);
	table_close(all, AccessShareLock);
	return list_length(*types) > before;
}

/* The type of filters, and domains over it. */
static List *
filter_types(Oid type)
{
	List	   *types = list_make1_oid(type);

	while (add_domains(&types))
		;
	return types;
}

/* The columns of some types: a list of Column. */
static List *
list_columns(const List *types)
{
	Relation	attributes = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(attributes, InvalidOid, false, NULL,
										  0, NULL);
	List	   *columns = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_attribute form = (Form_pg_attribute) GETSTRUCT(tuple);
		Column	   *column;

		CHECK_FOR_INTERRUPTS();
		if (form->attnum <= 0 || form->attisdropped ||
			!list_member_oid(types, form->atttypid))
			continue;
		column = palloc(sizeof(Column));
		column->table = form->attrelid;
		column->number = form->attnum;
		column->name = form->attname;
		columns = lappend(columns, column);
	}
	systable_endscan(scan);
	table_close(attributes, AccessShareLock);
	return columns;
}

/* Order columns by table and number. */
static int
compare_columns(const ListCell *a, const ListCell *b)
{
	const Column *left = lfirst(a);
	const Column *right = lfirst(b);

	if (left->table != right->table)
		return left->table < right->table ? -1 : 1;
	return (int) left->number - right->number;
}

/* bf_stored_filters(): a row for each column that the caller may read */
Datum
bloomext_stored_filters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = bf_set_start(fcinfo, COLUMNS);
	const char *schema = get_namespace_name(get_func_namespace(fcinfo->flinfo->fn_oid));
	List	   *types = filter_types(bf_filter_type(fcinfo));
	List	   *columns = list_columns(types);
	ListCell   *cell;

	list_sort(columns, compare_columns);
	foreach(cell, columns)
	{
		const Column *column = lfirst(cell);
		Found		found = {.column = column,.types = types,.schema = schema};

		ItemPointerSetInvalid(&found.row);
		if (!is_table(column->table, &found.reason) || !may_read(column))
			continue;
		try_column(&found);
		put_column(set, &found);
	}
	return (Datum) 0;
}
