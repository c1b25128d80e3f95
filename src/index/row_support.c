/*
 * row_support.c
 *	  Planner support of bf_live_contains: a ROW(...) is asked for by its fields.
 *
 * To make a row, and to take it apart again, takes a seventh of the time of a
 * lookup.  So a call with ROW(...) is planned as one of another function, whose
 * last arguments are the fields.  Rows that are values, and those whose fields
 * have names to be compared, are looked up as they come.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "type/row.h"

PG_FUNCTION_INFO_V1(bloomext_row_support);

/* Whether an expression is a ROW(...) of fields that are but parts. */
static bool
is_row_of_parts(const Node *expression)
{
	const RowExpr *row = (const RowExpr *) expression;
	const ListCell *cell;

	if (!IsA(expression, RowExpr) || row->row_typeid != RECORDOID ||
		list_length(row->args) < 2 || list_length(row->args) > INDEX_MAX_KEYS)
		return false;
	foreach(cell, row->colnames)
	{
		if (!bf_row_is_nameless(strVal(lfirst(cell)), foreach_current_index(cell) + 1))
			return false;
	}
	return true;
}

/* The function that takes fields; invalid if the user may not call both. */
static Oid
function_of_fields(Oid function_of_rows)
{
	const Oid	types[] = {REGCLASSOID, NAMEOID, ANYOID};
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										   CStringGetDatum("bloomfilter_live_contains"),
										   PointerGetDatum(buildoidvector(types, lengthof(types))),
										   ObjectIdGetDatum(get_func_namespace(function_of_rows)));

	/* As for inlined functions, the user who plans is the one that counts. */
	return OidIsValid(function) &&
		compat_function_aclcheck(function_of_rows, GetUserId()) == ACLCHECK_OK &&
		compat_function_aclcheck(function, GetUserId()) == ACLCHECK_OK ?
		function : InvalidOid;
}

/*
 * bf_live_contains(rel, ROW(a, b), col) as bloomfilter_live_contains(rel, col,
 * a, b), or NULL.
 */
static Node *
call_with_fields(const FuncExpr *call)
{
	const RowExpr *row = lsecond(call->args);
	Oid			function;

	if (!is_row_of_parts((const Node *) row))
		return NULL;
	function = function_of_fields(call->funcid);
	if (!OidIsValid(function))
		return NULL;
	return (Node *) makeFuncExpr(function, BOOLOID,
								 list_concat(list_make2(linitial(call->args),
														lthird(call->args)),
											 row->args),
								 InvalidOid, call->inputcollid,
								 COERCE_EXPLICIT_CALL);
}

/* The planner support function of bf_live_contains: another call, or NULL. */
Datum
bloomext_row_support(PG_FUNCTION_ARGS)
{
	const Node *request = (const Node *) PG_GETARG_POINTER(0);

	PG_RETURN_POINTER(IsA(request, SupportRequestSimplify) ?
					  call_with_fields(((const SupportRequestSimplify *) request)->fcall) :
					  NULL);
}
