/*
 * contains.c
 *	  bf_contains and its kin: is an element in a filter?
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

#include "type/call.h"

PG_FUNCTION_INFO_V1(bloomext_contains);
PG_FUNCTION_INFO_V1(bloomext_contained);
PG_FUNCTION_INFO_V1(bloomext_contains_all);
PG_FUNCTION_INFO_V1(bloomext_contains_each);

static bool
contains(FunctionCallInfo fcinfo, int filter_argument, int element_argument)
{
	BfCall	   *call = bf_call(fcinfo, filter_argument, element_argument, false);
	const BfFilter *filter = &call->probe.filter;
	BfFunnel	funnel = bf_element_bind(filter->strategy,
										 filter->header.funnel, &call->element);
	BfHash		hash;

	return bf_element_hash(filter->strategy, funnel, &call->element,
						   PG_GETARG_DATUM(element_argument), &hash) &&
		bf_probe_contains(&call->probe, &hash);
}

/* bf_contains(bloomfilter, element), bloomfilter @> element */
Datum
bloomext_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(contains(fcinfo, 0, 1));
}

/* element <@ bloomfilter */
Datum
bloomext_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(contains(fcinfo, 1, 0));
}

/* Look an array's elements up; found is per element of hashes->hashes. */
static bool *
contains_array(FunctionCallInfo fcinfo, BfHashes *hashes)
{
	BfCall	   *call = bf_call(fcinfo, 0, 1, true);
	bool	   *found;

	bf_call_hash_array(call, &call->probe.filter, PG_GETARG_DATUM(1), hashes);
	found = palloc(Max(hashes->hashed, 1));
	bf_probe_contains_batch(&call->probe, hashes->hashes, hashes->hashed,
							found);
	return found;
}

/* bf_contains_all(bloomfilter, elements): NULL elements are passed over */
Datum
bloomext_contains_all(PG_FUNCTION_ARGS)
{
	BfHashes	hashes;
	bool	   *found = contains_array(fcinfo, &hashes);

	if (!hashes.complete)
		PG_RETURN_BOOL(false);
	for (int i = 0; i < hashes.hashed; i++)
	{
		if (!found[i])
			PG_RETURN_BOOL(false);
	}
	PG_RETURN_BOOL(true);
}

/* bf_contains_each(bloomfilter, elements) -> boolean[] of the same shape */
Datum
bloomext_contains_each(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	BfHashes	hashes;
	bool	   *found = contains_array(fcinfo, &hashes);
	Datum	   *answers;

	if (ARR_NDIM(array) == 0)
		PG_RETURN_ARRAYTYPE_P(construct_empty_array(BOOLOID));
	answers = palloc0(sizeof(Datum) * hashes.count);
	for (int i = 0; i < hashes.hashed; i++)
		answers[hashes.source[i]] = BoolGetDatum(found[i]);
	PG_RETURN_ARRAYTYPE_P(construct_md_array(answers, hashes.null,
											 ARR_NDIM(array), ARR_DIMS(array),
											 ARR_LBOUND(array), BOOLOID,
											 sizeof(bool), true,
											 TYPALIGN_CHAR));
}
