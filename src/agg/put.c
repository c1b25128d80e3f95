/*
 * put.c
 *	  bf_put(element, expected, fpp, strategy): a window function that returns
 *	  whether an element surely occurs for the first time in its partition.
 *
 * Rows are processed once, in the partition's order, whatever the frame is.
 * The filter is made at a partition's first row, and freed with the partition.
 *
 * A window function is not told of the end of a partition, so it checks while
 * the filter fills whether the filter is over-full: once it has more new
 * elements than expected, and again after each further quarter of the
 * expected number.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/memutils.h"
#include "windowapi.h"

#include "agg/agg_sized.h"
#include "type/add.h"
#include "type/arguments.h"
#include "type/overfull.h"

PG_FUNCTION_INFO_V1(bloomext_put);

/* Maximum number of parameters: expected, fpp and strategy. */
#define PARAMETERS	3

/* What to do about an over-full filter of a partition. */
#define OVERFULL_ADVICE \
	"Expect more elements of a window partition, by the second argument of bf_put"

/* The cache of a call site. */
typedef struct PutSite
{
	BfElementType element;
	bool		known;			/* is the rest filled in? */
	bool		varies;			/* may parameters differ from row to row? */
} PutSite;

/* The state of a partition, zero at its first row. */
typedef struct PutState
{
	BfValue		value;			/* varlena is NULL at first */
	uint64		added;			/* elements that were surely new */
	uint64		look_at;		/* checked when there are more */
} PutState;

/* The call site's cache. */
static PutSite *
put_site(FunctionCallInfo fcinfo)
{
	PutSite    *site = bf_call_site(fcinfo, 0, false, sizeof(PutSite));

	if (unlikely(!site->known))
	{
		for (int i = 1; i < PG_NARGS(); i++)
			site->varies |= !get_fn_expr_arg_stable(fcinfo->flinfo, i);
		site->known = true;
	}
	return site;
}

/* Evaluate the parameters for the current row. */
static void
evaluate_parameters(WindowObject window, int count, Datum *values)
{
	static const char *const names[PARAMETERS] = {"expected", "fpp", "strategy"};
	bool		isnull;

	for (int i = 0; i < count; i++)
	{
		values[i] = WinGetFuncArgCurrent(window, i + 1, &isnull);
		if (isnull)
			bf_raise_null(names[i]);
	}
}

/* Make the filter of a partition, in the memory of its state. */
static void
start_put(PutState *state, const PutSite *site, const Datum *values, int count)
{
	MemoryContext old;
	BfPlan		plan;

	bf_sized_plan(values, count, &site->element, &plan);
	old = MemoryContextSwitchTo(GetMemoryChunkContext(state));
	bf_value_make(&plan, &state->value);
	MemoryContextSwitchTo(old);
	state->look_at = plan.header.expected;
}

/* Raise if a row has other parameters than the partition's first. */
static void
check_row(const PutState *state, const Datum *values, int count)
{
	const BfPlan *plan = &state->value.filter.plan;

	if (DatumGetInt64(values[0]) != (int64) plan->header.expected ||
		DatumGetFloat8(values[1]) != plan->header.fpp ||
		(count > 2 &&
		 bf_strategy_named(TextDatumGetCString(values[2])) != plan->strategy))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameters of bf_put must be the same for all rows of a window partition")));
}

/* The partition's state, with a filter for the current row. */
static PutState *
put_state(FunctionCallInfo fcinfo, WindowObject window, const PutSite *site)
{
	PutState   *state = WinGetPartitionLocalMemory(window, sizeof(PutState));
	int			count = PG_NARGS() - 1;
	Datum		values[PARAMETERS];

	if (state->value.varlena != NULL && !site->varies)
		return state;
	evaluate_parameters(window, count, values);
	if (state->value.varlena == NULL)
		start_put(state, site, values, count);
	else
		check_row(state, values, count);
	return state;
}

/* Count an element that was surely new, and report if there are too many. */
static void
count_new(PutState *state)
{
	const BfFilter *filter = &state->value.filter;

	if (++state->added > state->look_at)
	{
		state->look_at += filter->plan.header.expected / 4;
		bf_overfull_notice(filter, OVERFULL_ADVICE);
	}
}

/* bf_put(element, expected, fpp [, strategy]) OVER (...) */
Datum
bloomext_put(PG_FUNCTION_ARGS)
{
	WindowObject window = PG_WINDOW_OBJECT();
	PutSite    *site = put_site(fcinfo);
	PutState   *state = put_state(fcinfo, window, site);
	bool		isnull;
	Datum		value = WinGetFuncArgCurrent(window, 0, &isnull);
	BfHash		hash;

	WinSetMarkPosition(window, WinGetCurrentPosition(window));
	if (isnull)
		PG_RETURN_NULL();
	/* The filter's funnel is that of the element, which has a hash by it. */
	(void) bf_element_hash(state->value.filter.plan.strategy,
						   (BfFunnel) state->value.filter.plan.header.funnel,
						   &site->element, value, &hash);
	if (!bf_value_put(&state->value, &hash))
		PG_RETURN_BOOL(false);
	count_new(state);
	PG_RETURN_BOOL(true);
}
