/*
 * contains.c
 *	  bf_contains and similar functions: look elements up in a filter.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/tuplestore.h"

#include "type/arguments.h"
#include "type/element_hash.h"
#include "type/once.h"
#include "type/overfull.h"

PG_FUNCTION_INFO_V1(bloomext_contains);
PG_FUNCTION_INFO_V1(bloomext_contained);
PG_FUNCTION_INFO_V1(bloomext_contains_all);
PG_FUNCTION_INFO_V1(bloomext_contains_each);
PG_FUNCTION_INFO_V1(bloomext_new);

/* What to do about an over-full filter that is asked what is new. */
#define OVERFULL_ADVICE \
	"Build it for more elements than bf_info counts, or to grow: bf_create(expected, fpp, expansion => 2)"

/* Whether the filter of a call contains its element. */
static bool
call_contains(FunctionCallInfo fcinfo, int filter_argument, int element_argument)
{
	BfCall	   *call = bf_call(fcinfo, filter_argument, element_argument, false);
	BfHash		hash;

	return bf_call_hash(call, PG_GETARG_DATUM(element_argument), &hash) &&
		bf_probe_contains(&call->probe, &hash);
}

/* bf_contains(bloomfilter, element), bloomfilter @> element */
Datum
bloomext_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(call_contains(fcinfo, 0, 1));
}

/* element <@ bloomfilter */
Datum
bloomext_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(call_contains(fcinfo, 1, 0));
}

/* Start to look up the elements of an array that has been detoasted. */
static void
start_lookup(FunctionCallInfo fcinfo, ArrayType *array, BfElements *elements)
{
	BfCall	   *call = bf_call(fcinfo, 0, 1, true);

	bf_elements_start(elements, call, array);
	bf_probe_expect(&call->probe,
					ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)));
}

/*
 * Look up the next piece of an array, with an answer for each element that the
 * filter can contain; false after the last.
 */
static bool
look_up_piece(BfElements *elements, bool *found)
{
	if (!bf_elements_hash(elements))
		return false;
	bf_probe_contains_batch(&elements->call->probe, elements->hashes,
							elements->hashed, found);
	return true;
}

/* bf_contains_all(bloomfilter, elements): NULL elements are ignored */
Datum
bloomext_contains_all(PG_FUNCTION_ARGS)
{
	BfElements	elements;
	bool		found[BF_PIECE_ELEMENTS];

	start_lookup(fcinfo, PG_GETARG_ARRAYTYPE_P(1), &elements);
	while (look_up_piece(&elements, found))
	{
		if (elements.hashed < elements.count ||
			memchr(found, false, elements.hashed) != NULL)
			PG_RETURN_BOOL(false);
	}
	PG_RETURN_BOOL(true);
}

/* bf_contains_each(bloomfilter, elements) -> boolean[] of the same shape */
Datum
bloomext_contains_each(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	ArrayType  *answers = bf_answers_make(array);
	char	   *answer = ARR_DATA_PTR(answers);
	BfElements	elements;
	bool		found[BF_PIECE_ELEMENTS];

	start_lookup(fcinfo, array, &elements);
	while (look_up_piece(&elements, found))
	{
		for (uint32 i = 0; i < elements.hashed; i++)
			answer[elements.source[i]] = found[i];
		answer += elements.count;
	}
	PG_RETURN_ARRAYTYPE_P(answers);
}

/*
 * bf_new(bloomfilter, elements): those surely not in it, each once.  If some
 * were found, a notice says whether the filter is over-full, as those may be
 * new, too.
 */
Datum
bloomext_new(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *set = bf_set_open(fcinfo);
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(1);
	BfElements	elements;
	BfOnce		once;
	bool		found[BF_PIECE_ELEMENTS];
	bool		nulls[1] = {false};
	bool		any_found = false;
	Datum		value;

	start_lookup(fcinfo, array, &elements);
	bf_set_start(fcinfo, 1);
	bf_once_start(&once, &elements.call->element,
				  (BfMeaning) elements.call->probe.filter->plan.header.meaning,
				  array);
	while (look_up_piece(&elements, found))
	{
		bool		is_new[BF_PIECE_ELEMENTS];

		/* Elements that the filter cannot contain are new. */
		memset(is_new, true, elements.count);
		for (uint32 i = 0; i < elements.hashed; i++)
		{
			is_new[elements.source[i]] = !found[i];
			any_found |= found[i];
		}
		for (uint32 i = 0; i < elements.count; i++)
		{
			if (bf_once_next(&once, is_new[i], &value))
				tuplestore_putvalues(set->setResult, set->setDesc, &value,
									 nulls);
		}
	}
	if (any_found)
		bf_overfull_notice_probed(&elements.call->probe, OVERFULL_ADVICE);
	PG_RETURN_NULL();
}
