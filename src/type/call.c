/*
 * call.c
 *	  What a function of a filter and elements keeps between calls.
 *
 * One struct in fn_extra serves them all: the element's kind, found out at
 * the first call, and the filter as far as it was read.
 */
#include "postgres.h"

#include "type/call.h"

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
