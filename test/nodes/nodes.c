/*
 * nodes.c
 *	  An aggregate of an aggregate: its rows dealt out to several nodes, whose
 *	  partial states are serialized, and combined.
 *
 * It calls the aggregate's functions as Citus does: by their FmgrInfo alone,
 * so without an expression tree, and with an Aggref at hand that is its own.  Of
 * an odd number of nodes the FmgrInfo is made anew for each call, in memory that
 * lasts as long as the row, and the first one's state is what others are combined
 * into, as TimescaleDB does it.  Of an even number the transition function's is
 * kept for all groups, and states are combined into none.
 */
#include "postgres.h"

#include "catalog/pg_aggregate.h"
#include "access/htup_details.h"
#include "fmgr.h"
#include "utils/syscache.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(nodes_add);
PG_FUNCTION_INFO_V1(nodes_filter);
PG_FUNCTION_INFO_V1(nodes_bytes);

typedef struct Nodes
{
	FormData_pg_aggregate aggregate;
	int			count;
	uint64		rows;			/* which go to one node after the other */
	NullableDatum states[FLEXIBLE_ARRAY_MEMBER];
} Nodes;

/* The memory that lasts as long as the group. */
static MemoryContext
group_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "called outside an aggregate");
	return context;
}

/* Call a function of the aggregate by its FmgrInfo. */
static NullableDatum
call_by(FunctionCallInfo caller, FmgrInfo *info, int count,
		const NullableDatum *arguments)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	NullableDatum result = {.isnull = true};

	for (int i = 0; i < count; i++)
	{
		if (info->fn_strict && arguments[i].isnull)
			return result;
	}
	InitFunctionCallInfoData(*fcinfo, info, count, caller->fncollation,
							 caller->context, caller->resultinfo);
	memcpy(fcinfo->args, arguments, sizeof(NullableDatum) * count);
	result.value = FunctionCallInvoke(fcinfo);
	result.isnull = fcinfo->isnull;
	return result;
}

/* The same by one made anew. */
static NullableDatum
call(FunctionCallInfo caller, Oid function, int count,
	 const NullableDatum *arguments)
{
	FmgrInfo	info;

	fmgr_info(function, &info);
	return call_by(caller, &info, count, arguments);
}

/* The state of a group at its first row: the aggregate, and how many nodes. */
static Nodes *
make_nodes(FunctionCallInfo fcinfo)
{
	int			count = PG_GETARG_INT32(2);
	Nodes	   *nodes = MemoryContextAllocZero(group_context(fcinfo),
											   offsetof(Nodes, states) +
											   count * sizeof(NullableDatum));
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, PG_GETARG_DATUM(1));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "no aggregate");
	nodes->aggregate = *(Form_pg_aggregate) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	nodes->count = count;
	for (int i = 0; i < count; i++)
		nodes->states[i].isnull = true;
	return nodes;
}

/* The transition function's FmgrInfo that is kept for all groups. */
static FmgrInfo *
kept_transition(FmgrInfo *own, Oid function)
{
	if (own->fn_extra == NULL)
	{
		own->fn_extra = MemoryContextAlloc(own->fn_mcxt, sizeof(FmgrInfo));
		fmgr_info_cxt(function, own->fn_extra, own->fn_mcxt);
	}
	return own->fn_extra;
}

/* (internal, regprocedure, nodes int, VARIADIC "any") -> internal */
Datum
nodes_add(PG_FUNCTION_ARGS)
{
	Nodes	   *nodes = PG_ARGISNULL(0) ? make_nodes(fcinfo) : (Nodes *) PG_GETARG_POINTER(0);
	NullableDatum *state = &nodes->states[nodes->rows++ % nodes->count];
	NullableDatum arguments[FUNC_MAX_ARGS];
	int			count = PG_NARGS() - 2;

	arguments[0] = *state;
	memcpy(arguments + 1, fcinfo->args + 3, sizeof(NullableDatum) * (count - 1));
	*state = nodes->count % 2 == 1 ?
		call(fcinfo, nodes->aggregate.aggtransfn, count, arguments) :
		call_by(fcinfo, kept_transition(fcinfo->flinfo, nodes->aggregate.aggtransfn),
				count, arguments);
	PG_RETURN_POINTER(nodes);
}

/* What a node sends. */
static NullableDatum
serialize(FunctionCallInfo fcinfo, const Nodes *nodes, int node)
{
	return call(fcinfo, nodes->aggregate.aggserialfn, 1, &nodes->states[node]);
}

/* Add what a node sends to what the nodes before it sent. */
static NullableDatum
receive(FunctionCallInfo fcinfo, const Nodes *nodes, NullableDatum before,
		NullableDatum sent)
{
	const NullableDatum arguments[2] = {sent};
	NullableDatum states[2] = {before};

	states[1] = call(fcinfo, nodes->aggregate.aggdeserialfn, 2, arguments);
	if (nodes->count % 2 == 1 && before.isnull)
		return states[1];
	return call(fcinfo, nodes->aggregate.aggcombinefn, 2, states);
}

/* (internal) -> bloomfilter */
Datum
nodes_filter(PG_FUNCTION_ARGS)
{
	Nodes	   *nodes;
	NullableDatum result = {.isnull = true};

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	nodes = (Nodes *) PG_GETARG_POINTER(0);
	for (int i = 0; i < nodes->count; i++)
	{
		NullableDatum sent = serialize(fcinfo, nodes, i);

		if (sent.isnull)
			continue;
		result = receive(fcinfo, nodes, result, sent);
		/* Nobody may look there any more. */
		memset(VARDATA_ANY(DatumGetPointer(sent.value)), 0x55,
			   VARSIZE_ANY_EXHDR(DatumGetPointer(sent.value)));
	}
	result = call(fcinfo, nodes->aggregate.aggfinalfn, 1, &result);
	if (result.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(result.value);
}

/* (internal) -> bigint: bytes that all nodes send */
Datum
nodes_bytes(PG_FUNCTION_ARGS)
{
	int64		bytes = 0;

	for (int i = 0; !PG_ARGISNULL(0) && i < ((Nodes *) PG_GETARG_POINTER(0))->count; i++)
	{
		NullableDatum sent = serialize(fcinfo, (Nodes *) PG_GETARG_POINTER(0), i);

		if (!sent.isnull)
			bytes += VARSIZE_ANY_EXHDR(DatumGetPointer(sent.value));
	}
	PG_RETURN_INT64(bytes);
}
