/*
 * agg_merge.c
 *	  bf_union_agg and bf_intersection_agg: aggregates of filters.
 *
 * The state is a filter, which the final function returns as it is.  So it is
 * made where the executor expects the result, not necessarily in the context
 * of states (bf_agg_result_context).  Others are merged into it in place, and
 * the final function returns it; agg_sized.c explains why a window may
 * continue to merge into it.
 *
 * Partial states are serialized as values of the type, so their format needs
 * no version of its own.
 */
#include "postgres.h"

#include "fmgr.h"

#include "agg/agg.h"
#include "compat.h"
#include "type/merge.h"
#include "type/overfull.h"
#include "type/toast_slices.h"

PG_FUNCTION_INFO_V1(bloomext_union_agg_add);
PG_FUNCTION_INFO_V1(bloomext_union_agg_combine);
PG_FUNCTION_INFO_V1(bloomext_intersection_agg_add);
PG_FUNCTION_INFO_V1(bloomext_intersection_agg_combine);
PG_FUNCTION_INFO_V1(bloomext_merge_serialize);
PG_FUNCTION_INFO_V1(bloomext_merge_deserialize);
PG_FUNCTION_INFO_V1(bloomext_merge_final);

/* Merge a filter into a state, or start one with it. */
static BfValue *
merge_into(FunctionCallInfo fcinfo, Datum filter, const BfMerge *merge)
{
	MemoryContext context = bf_agg_context(fcinfo);
	BfValue    *state;

	if (PG_ARGISNULL(0))
	{
		MemoryContext old = MemoryContextSwitchTo(bf_agg_result_context(fcinfo));

		state = MemoryContextAlloc(context, sizeof(BfValue));
		bf_value_copy(filter, state);
		MemoryContextSwitchTo(old);
	}
	else
	{
		state = (BfValue *) PG_GETARG_POINTER(0);
		bf_value_merge_datum(state, filter, merge);
	}
	return state;
}

/* Transition: the second argument is a filter; NULLs are ignored. */
static Datum
add_filter_row(FunctionCallInfo fcinfo, const BfMerge *merge)
{
	if (!PG_ARGISNULL(1))
		PG_RETURN_POINTER(merge_into(fcinfo, PG_GETARG_DATUM(1), merge));
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Combine: the second argument is another state. */
static Datum
combine_states(FunctionCallInfo fcinfo, const BfMerge *merge)
{
	if (!PG_ARGISNULL(1))
	{
		BfValue    *from = (BfValue *) PG_GETARG_POINTER(1);

		PG_RETURN_POINTER(merge_into(fcinfo, PointerGetDatum(from->varlena),
									 merge));
	}
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* Transition function of bf_union_agg. */
Datum
bloomext_union_agg_add(PG_FUNCTION_ARGS)
{
	return add_filter_row(fcinfo, &bf_merge_union);
}

/* Combine function of bf_union_agg. */
Datum
bloomext_union_agg_combine(PG_FUNCTION_ARGS)
{
	return combine_states(fcinfo, &bf_merge_union);
}

/* Transition function of bf_intersection_agg. */
Datum
bloomext_intersection_agg_add(PG_FUNCTION_ARGS)
{
	return add_filter_row(fcinfo, &bf_merge_intersection);
}

/* Combine function of bf_intersection_agg. */
Datum
bloomext_intersection_agg_combine(PG_FUNCTION_ARGS)
{
	return combine_states(fcinfo, &bf_merge_intersection);
}

/* State -> bytea: the value's bytes. */
Datum
bloomext_merge_serialize(PG_FUNCTION_ARGS)
{
	bf_agg_context(fcinfo);
	PG_RETURN_BYTEA_P(((BfValue *) PG_GETARG_POINTER(0))->varlena);
}

/*
 * bytea -> state, in the current, short-lived context.  Callers other than the
 * executor get a copy, which they may merge into.
 */
Datum
bloomext_merge_deserialize(PG_FUNCTION_ARGS)
{
	BfValue    *state = palloc(sizeof(BfValue));

	bf_agg_context(fcinfo);
	if (!bf_agg_has_expression(fcinfo))
	{
		bf_value_copy(PG_GETARG_DATUM(0), state);
		PG_RETURN_POINTER(state);
	}
	state->varlena = bf_value_open(PG_GETARG_DATUM(0), &state->filter);
	state->bytes = DatumGetBfBytes(state->varlena);
	PG_RETURN_POINTER(state);
}

/* State -> bloomfilter */
Datum
bloomext_merge_final(PG_FUNCTION_ARGS)
{
	BfValue    *state;

	bf_agg_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (BfValue *) PG_GETARG_POINTER(0);
	bf_overfull_notice(&state->filter,
					   "Build each of the filters for as many elements as the result holds");
	PG_RETURN_POINTER(state->varlena);
}
