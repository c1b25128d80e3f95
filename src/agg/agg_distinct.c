/*
 * agg_distinct.c
 *	  bf_agg(element) and bf_agg_distinct(element, fpp): a filter sized for the
 *	  number of distinct elements.
 *
 * The size is known only at the end, so the state keeps the 16-byte hash of
 * every element (of strategy guava, whose filters cannot distinguish elements
 * with equal hashes).  When the list of hashes is full, it is sorted and
 * deduplicated.  If more than half of it remains, or would by a sample, its
 * size is doubled, up to work_mem.  If all hashes fit into it, they are
 * counted exactly.
 *
 * When the list cannot grow, its hashes and all further ones are written to a
 * temporary file, unsorted, and counted by a sketch of 64 kB (hashfile.c).
 * The filter is filled from the file in one pass, and its bits are counted.
 * If they make the probability higher than requested, a larger filter is
 * filled.  So the contents of the filter, and not the estimate, ensure the
 * probability.  The filter is planned for the estimate and a margin of nearly
 * four times its standard error, so this is rare.  In all, n is at most 5 %
 * too large, or 10 % for probabilities above 0.3: there a filter of Guava's
 * size misses the probability, and we plan for more elements.
 *
 * The final function does not change the contents of the state (the list may
 * be sorted in place), so it can be called repeatedly for the frames of a
 * window.
 *
 * The aggregate is not parallel: a partial state could exceed the 1 GB that
 * can be passed between processes, and queries of enough rows would fail.
 * The scan below it may still be parallel.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "agg/agg.h"
#include "agg/hashfile.h"
#include "strategy/fpp.h"
#include "type/arguments.h"

PG_FUNCTION_INFO_V1(bloomext_agg_distinct_add);
PG_FUNCTION_INFO_V1(bloomext_agg_distinct_final);

/*
 * The size as a multiple of the estimate, and its growth if that does not
 * suffice.  Then it doubles, which ends soon whatever the hashes are.
 */
#define MARGIN		1.015
#define GROWTH		1.03

typedef struct DistinctState
{
	BfAggState	agg;
	BfFunnel	funnel;
	BfMeaning	meaning;
	double		fpp;
	BfHashList	list;
	BfHashFile *file;			/* instead of the list; or NULL */
} DistinctState;

/* Maximum length of a list within work_mem. */
static uint32
list_maximum(void)
{
	return (uint32) Min((uint64) work_mem * 1024 / BF_SORTED_BYTES, PG_INT32_MAX);
}

/*
 * Plan the filter for a number of distinct elements, or for the least number
 * that takes a bit at such a probability.
 */
static void
plan_distinct(const DistinctState *state, uint64 distinct, BfPlan *plan)
{
	if (state->fpp > 0 && state->fpp < 1)
		distinct = Max(distinct, (uint64) (M_LN2 * M_LN2 / -log(state->fpp)) + 1);
	bf_value_plan(&bf_guava, (int64) distinct, state->fpp, state->funnel, 0,
				  plan);
	plan->header.meaning = state->meaning;
}

/* The state of a group, at its first element. */
static DistinctState *
make_distinct_state(MemoryContext context, BfElementType *element, double fpp)
{
	DistinctState *state = MemoryContextAllocZero(context, sizeof(DistinctState));
	BfPlan		plan;

	state->agg.site = element;
	state->fpp = fpp;
	state->list.width = BF_SORTED_WORDS;
	state->funnel = bf_element_bind(&bf_guava, BF_FUNNEL_UNBOUND, element);
	state->meaning = element->meaning;
	/* Refuse an invalid probability before the work, not after. */
	plan_distinct(state, 1, &plan);
	return state;
}

/* Add a hash to the list, or to the file once the list is full. */
static void
keep_hash(DistinctState *state, MemoryContext context, const BfHash *hash)
{
	if (state->file == NULL &&
		!bf_hashlist_make_room(&state->list, list_maximum()))
		state->file = bf_hashfile_make(context, &state->list);
	if (state->file != NULL)
		bf_hashfile_add(state->file, hash);
	else
		bf_hashlist_add(&state->list, context, hash);
}

/* Transition: keep the element's hash. */
Datum
bloomext_agg_distinct_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_agg_context(fcinfo);
	BfElementType *element = bf_agg_site(fcinfo, 1, sizeof(BfElementType));
	DistinctState *state = PG_ARGISNULL(0) ? NULL : (DistinctState *) PG_GETARG_POINTER(0);
	double		fpp = BF_AGG_FPP;
	BfHash		hash;

	if (PG_NARGS() > 2)
	{
		bf_refuse_null(fcinfo, 2, "fpp");
		fpp = PG_GETARG_FLOAT8(2);
	}
	if (state != NULL && state->fpp != fpp)
		bf_agg_refuse_row("bf_agg_distinct");
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = make_distinct_state(context, element, fpp);

	bf_element_hash(&bf_guava, state->funnel, element, PG_GETARG_DATUM(1),
					&hash);
	keep_hash(state, context, &hash);
	PG_RETURN_POINTER(state);
}

/* Make the empty filter for a number of distinct elements. */
static void
make_filter(const DistinctState *state, uint64 distinct, BfValue *value)
{
	BfPlan		plan;

	plan_distinct(state, distinct, &plan);
	bf_value_make(&plan, value);
}

/*
 * The size that keeps the probability for a number of distinct elements: mostly
 * that number, but by rounding k Guava's size is too small, by 6 % of the
 * elements if 1.5 becomes 1.
 */
static uint64
keeping_size(const DistinctState *state, double distinct)
{
	BfPlan		plan;
	double		capacity;

	plan_distinct(state, (uint64) ceil(distinct), &plan);
	capacity = bf_layer_capacity(plan.strategy, &plan.first, state->fpp);
	return (uint64) ceil(distinct * Max(1, distinct / capacity));
}

/* The number of elements that the largest value is sized for. */
static double
largest_size(const DistinctState *state)
{
	const double bits = 8.0 * (MaxAllocSize - 1024);

	return bits * M_LN2 * M_LN2 / -log(state->fpp);
}

/*
 * Fill a filter from the file, and a larger one as long as that is too full.
 * The margin does not exceed the largest value if the estimate does not.
 */
static void
make_from_file(const DistinctState *state, BfValue *value)
{
	double		count = bf_hashfile_count(state->file);
	double		most = Max(largest_size(state), count / MARGIN);
	uint64		size = Min(keeping_size(state, Min(count * MARGIN, most)), most);
	double		growth = GROWTH;

	for (;;)
	{
		make_filter(state, size, value);
		bf_hashfile_replay(state->file, value);
		if (bf_value_fpp(&value->filter) <= state->fpp)
			return;
		pfree(value->varlena);
		size = (uint64) ceil(size * growth);
		growth = 2;
	}
}

/* State -> bloomfilter; NULL if there was no element. */
Datum
bloomext_agg_distinct_final(PG_FUNCTION_ARGS)
{
	DistinctState *state;
	BfValue		result;

	bf_agg_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (DistinctState *) PG_GETARG_POINTER(0);

	if (state->file == NULL)
	{
		bf_hashlist_deduplicate(&state->list);
		make_filter(state, state->list.count, &result);
		bf_hashlist_add_to(&state->list, &result);
	}
	else
		make_from_file(state, &result);
	PG_RETURN_POINTER(result.varlena);
}
