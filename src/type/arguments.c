/*
 * arguments.c
 *	  Arguments and results of SQL functions: strategies and funnels by name,
 *	  NULLs, rows.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "type/arguments.h"

/* Add to a list of names, for a hint. */
void
bf_append_name(StringInfo names, const char *name)
{
	appendStringInfo(names, "%s%s", names->len > 0 ? ", " : "", name);
}

/* Find a strategy by a name that a user specified. */
const BfStrategy *
bf_strategy_named(const char *name)
{
	const BfStrategy *strategy = bf_strategy_by_name(name);
	StringInfoData known;

	if (strategy != NULL)
		return strategy;

	initStringInfo(&known);
	for (size_t i = 0; (strategy = bf_strategy_at(i)) != NULL; i++)
		bf_append_name(&known, strategy->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown bloom filter strategy \"%s\"", name),
			 errhint("Known strategies are: %s.", known.data)));
}

/* Find the strategy that an argument names. */
const BfStrategy *
bf_strategy_argument(FunctionCallInfo fcinfo, int argument)
{
	return bf_strategy_named(text_to_cstring(PG_GETARG_TEXT_PP(argument)));
}

/* Find a funnel by name, of a strategy or (NULL) of any; 22023 if none. */
BfFunnel
bf_funnel_named(const char *name, const BfStrategy *strategy)
{
	BfFunnel	funnel;
	StringInfoData known;

	if (bf_funnel_by_name(name, &funnel) &&
		(strategy == NULL || bf_strategy_takes_funnel(strategy, funnel)))
		return funnel;

	initStringInfo(&known);
	for (funnel = BF_FUNNEL_UNBOUND + 1; funnel <= BF_FUNNEL_LAST; funnel++)
	{
		if (strategy == NULL || bf_strategy_takes_funnel(strategy, funnel))
			bf_append_name(&known, bf_funnel_name(funnel));
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 strategy == NULL ? errmsg("unknown funnel \"%s\"", name) :
			 errmsg("strategy \"%s\" does not support funnel \"%s\"",
					strategy->name, name),
			 strategy == NULL ? errhint("Known funnels are: %s.", known.data) :
			 errhint("Supported funnels are: %s.", known.data)));
}

/* The funnel that an argument names; if NULL, the first element binds it. */
BfFunnel
bf_funnel_argument(FunctionCallInfo fcinfo, int argument,
				   const BfStrategy *strategy)
{
	if (PG_ARGISNULL(argument))
		return BF_FUNNEL_UNBOUND;
	return bf_funnel_named(text_to_cstring(PG_GETARG_TEXT_PP(argument)),
						   strategy);
}

/* Raise 22004, for a parameter that must not be NULL. */
void
bf_raise_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("parameter \"%s\" must not be null", name)));
}

/* Raise 22004 if an argument is NULL. */
void
bf_refuse_null(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		bf_raise_null(name);
}

/* Raise 22004 if one of several arguments that have a name is NULL. */
void
bf_refuse_nulls(FunctionCallInfo fcinfo, int first, const char *const *names,
				int count)
{
	for (int i = 0; i < count; i++)
	{
		if (names[i] != NULL)
			bf_refuse_null(fcinfo, first + i, names[i]);
	}
}

/* The type bloomfilter of the extension that a function belongs to. */
Oid
bf_filter_type(FunctionCallInfo fcinfo)
{
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);

	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
						   CStringGetDatum("bloomfilter"),
						   ObjectIdGetDatum(schema));
}

/* Raise 55000 if a function returns more columns than this library fills in. */
static void
check_columns(const TupleDesc row, int known)
{
	if (row->natts > known)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("objects of extension bloomext are newer than the library loaded in this session"),
				 errhint("See column \"action\" of bf_version().")));
}

/*
 * The declared row type of a function's result.  In older SQL objects it may
 * lack some of the last columns, as new columns are appended to released ones.
 */
TupleDesc
bf_row_type(FunctionCallInfo fcinfo, int known)
{
	TupleDesc	row;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	check_columns(row, known);
	return BlessTupleDesc(row);
}

/* Make the row that a function returns, of values for all known columns. */
Datum
bf_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls, int known)
{
	return HeapTupleGetDatum(heap_form_tuple(bf_row_type(fcinfo, known), values,
											 nulls));
}

/* Start to return a set, which is empty unless it gets a tuplestore. */
ReturnSetInfo *
bf_set_open(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *set = (ReturnSetInfo *) fcinfo->resultinfo;

	if (set == NULL || !IsA(set, ReturnSetInfo) ||
		(set->allowedModes & SFRM_Materialize) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	set->returnMode = SFRM_Materialize;
	return set;
}

/* Make the tuplestore of a set of such rows. */
void
bf_set_store(ReturnSetInfo *set, TupleDesc row)
{
	MemoryContext old = MemoryContextSwitchTo(set->econtext->ecxt_per_query_memory);

	set->setDesc = CreateTupleDescCopy(row);
	set->setResult = tuplestore_begin_heap((set->allowedModes &
											SFRM_Materialize_Random) != 0,
										   false, work_mem);
	MemoryContextSwitchTo(old);
}

/* Start to return a set whose rows, or values, go into a tuplestore. */
ReturnSetInfo *
bf_set_start(FunctionCallInfo fcinfo, int known)
{
	ReturnSetInfo *set = bf_set_open(fcinfo);

	check_columns(set->expectedDesc, known);
	bf_set_store(set, set->expectedDesc);
	return set;
}
