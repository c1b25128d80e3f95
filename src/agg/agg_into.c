/*
 * agg_into.c
 *	  bf_agg_into(filter, element): aggregate elements into a given filter.
 *
 * The filter must be empty, and the same for all rows of a group, as its
 * prefix (its header and the descriptions of its layers, core/format.h) is
 * the plan of the group's state.  How often it is checked depends on the
 * expression: a constant is checked once, an expression that does not depend
 * on a row once for each group, a column only when its TOAST pointer changes,
 * and anything else for every row.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"

#include "agg/agg_sized.h"
#include "type/arguments.h"

PG_FUNCTION_INFO_V1(bloomext_agg_into_add);
PG_FUNCTION_INFO_V1(bloomext_agg_into_serialize);
PG_FUNCTION_INFO_V1(bloomext_agg_into_final);

/* The cache of a call site. */
typedef struct IntoSite
{
	BfElementType element;
	bool		planned;		/* is the rest filled in? */
	BfAggSpan	span;			/* how long the filter is constant */
	bool		is_toasted;
	struct varatt_external toast;	/* the last filter's, if it is */
	BfPlan		plan;			/* of the last filter */
} IntoSite;

/* Take an empty filter as a plan; 22023 if it is not empty. */
static void
plan_from(Datum datum, BfElementType *element, BfPlan *plan)
{
	BfFilter	filter;
	struct varlena *opened = bf_value_open(datum, &filter);

	if (filter.plan.header.layers > 1 || filter.plan.first.counted > 0 ||
		!bf_bits_are_zero(filter.bytes + filter.plan.first.offset,
						  filter.plan.first.bytes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter given to bf_agg_into must be empty"),
				 errhint("To add to a filter, use bf_union(filter, bf_agg_into(bf_create(...), element)).")));
	if (filter.plan.header.expansion > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filter given to bf_agg_into must not grow"),
				 errdetail("Partial results of several processes cannot be merged if each has grown layers of its own."),
				 errhint("Use bf_agg(element, expected, fpp, strategy, expansion), or bf_add_all.")));
	*plan = filter.plan;
	plan->header.funnel = bf_element_bind_to(&filter.plan, element);
	plan->header.meaning = bf_element_meaning_in(element, &filter.plan.header);
	if (opened != (struct varlena *) DatumGetPointer(datum))
		pfree(opened);
}

/* Whether a filter has the TOAST pointer of the last one. */
static bool
is_last_toasted(const IntoSite *site, Datum datum)
{
	struct varatt_external toast;

	if (!site->is_toasted || !VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum)))
		return false;
	VARATT_EXTERNAL_GET_POINTER(toast, DatumGetPointer(datum));
	return memcmp(&toast, &site->toast, sizeof(toast)) == 0;
}

/* Set a site's plan to that of the row's filter. */
static void
plan_row(IntoSite *site, Datum datum)
{
	if (site->planned && is_last_toasted(site, datum))
		return;
	plan_from(datum, &site->element, &site->plan);
	site->is_toasted = VARATT_IS_EXTERNAL_ONDISK(DatumGetPointer(datum));
	if (site->is_toasted)
		VARATT_EXTERNAL_GET_POINTER(site->toast, DatumGetPointer(datum));
}

/* The call site's cache, filled in at its first row. */
static IntoSite *
site_of(FunctionCallInfo fcinfo)
{
	IntoSite   *site = (IntoSite *) bf_agg_site(fcinfo, 2, sizeof(IntoSite));

	bf_refuse_null(fcinfo, 1, "filter");
	if (!site->planned)
	{
		site->span = bf_agg_span(fcinfo, 1);
		plan_row(site, PG_GETARG_DATUM(1));
		site->planned = true;
	}
	return site;
}

/* The transition function: a filter and an element after the state. */
Datum
bloomext_agg_into_add(PG_FUNCTION_ARGS)
{
	IntoSite   *site = site_of(fcinfo);
	BfSizedState *state = PG_ARGISNULL(0) ? NULL : (BfSizedState *) PG_GETARG_POINTER(0);

	if (state == NULL)
	{
		if (site->span < BF_AGG_SPAN_CALL)
			plan_row(site, PG_GETARG_DATUM(1));
		state = bf_sized_state(fcinfo, &site->plan, &site->element);
	}
	else if (site->span < BF_AGG_SPAN_GROUP)
	{
		plan_row(site, PG_GETARG_DATUM(1));
		bf_sized_check(state, &site->plan, "bf_agg_into");
	}

	if (!PG_ARGISNULL(2))
		bf_sized_add(state, &site->element, PG_GETARG_DATUM(2));
	PG_RETURN_POINTER(state);
}

/* The plan of a call that saw no row. */
static bool
plan_into(FunctionCallInfo fcinfo, List *arguments, BfPlan *plan)
{
	Node	   *element_argument = lsecond(arguments);
	BfElementType element;
	Datum		filter;

	if (!bf_agg_evaluate(fcinfo, arguments, 0, &filter))
		return false;
	bf_element_type_of(exprType(element_argument), element_argument, InvalidOid,
					   &element);
	plan_from(filter, &element, plan);
	return true;
}

/* State -> bytea */
Datum
bloomext_agg_into_serialize(PG_FUNCTION_ARGS)
{
	return bf_sized_serialize(fcinfo, plan_into);
}

/* State -> bloomfilter */
Datum
bloomext_agg_into_final(PG_FUNCTION_ARGS)
{
	return bf_sized_final(fcinfo, plan_into,
						  "Give bf_agg_into a filter made for more elements, by bf_create(expected, fpp)");
}
