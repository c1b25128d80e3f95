/*
 * call.c
 *	  What a function of a filter and elements keeps between calls.
 *
 * One struct in fn_extra serves them all: the element's kind, found out at
 * the first call, and the filter as far as it was read.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/array.h"

#include "type/call.h"
#include "type/value.h"

/*
 * The call site's state, with the filter argument opened for lookups; element
 * is the number of the argument that is an element or an array of them.
 */
BfCall *
bf_call(FunctionCallInfo fcinfo, int filter, int element, bool array)
{
	BfCall	   *call = fcinfo->flinfo->fn_extra;

	if (call == NULL)
	{
		call = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(BfCall));
		bf_element_type_of_argument(fcinfo, element, array, &call->element);
		call->probe.context = fcinfo->flinfo->fn_mcxt;
		fcinfo->flinfo->fn_extra = call;
	}
	bf_probe_open(&call->probe, PG_GETARG_DATUM(filter));
	return call;
}

/*
 * Hash an array's elements as the filter takes them.  NULLs and integers that
 * the filter cannot hold have no hash: source tells which elements have.
 */
void
bf_call_hash_array(BfCall *call, const BfFilter *filter, Datum array,
				   BfHashes *hashes)
{
	const BfElementType *element = &call->element;
	BfFunnel	funnel = bf_element_bind(filter->strategy,
										 filter->header.funnel, element);
	Datum	   *values;

	deconstruct_array(DatumGetArrayTypeP(array), element->type,
					  element->typlen, element->typbyval, element->typalign,
					  &values, &hashes->null, &hashes->count);
	hashes->hashes = palloc_extended(sizeof(BfHash) * Max(hashes->count, 1),
									 MCXT_ALLOC_HUGE);
	hashes->source = palloc(sizeof(int) * Max(hashes->count, 1));
	hashes->hashed = 0;
	hashes->complete = true;
	for (int i = 0; i < hashes->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (hashes->null[i])
			continue;
		if (bf_element_hash(filter->strategy, funnel, element, values[i],
							&hashes->hashes[hashes->hashed]))
			hashes->source[hashes->hashed++] = i;
		else
			hashes->complete = false;
	}
}
