/*
 * agg.c
 *	  What the aggregates share: contexts, and the call's expressions.
 *
 * bf_agg(x, expected, ...) over no rows is an empty filter of that size, but
 * over no rows no transition function is ever called, so nothing has seen the
 * size.  It stands in the query, though: PostgreSQL keeps the call's argument
 * expressions beside the final (and, in a parallel plan, the serialization)
 * function, and what does not depend on a row can be evaluated there.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "type/agg.h"

/* The memory that aggregate state lives in; an error outside aggregates. */
MemoryContext
bf_agg_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/*
 * The Aggref of the function called: the final function's, a transition
 * function's or, which AggGetAggref() does not know, a serialization
 * function's.
 */
static Aggref *
called_aggref(FunctionCallInfo fcinfo)
{
	if (fcinfo->context != NULL && IsA(fcinfo->context, AggState))
	{
		AggState   *state = (AggState *) fcinfo->context;

		for (int i = 0; i < state->numtrans; i++)
		{
			if (&state->pertrans[i].serialfn == fcinfo->flinfo)
				return state->pertrans[i].aggref;
		}
	}
	return AggGetAggref(fcinfo);
}

/*
 * The call of an aggregate as a window function, where no transition was made
 * in the frame.  PostgreSQL does not tell which of a window's calls it is
 * about, so there is an answer only where all that it could be are the same.
 */
static WindowFunc *
called_window_function(FunctionCallInfo fcinfo)
{
	WindowAggState *state = (WindowAggState *) fcinfo->context;
	Oid			result = get_fn_expr_rettype(fcinfo->flinfo);
	WindowFunc *found = NULL;
	ListCell   *cell;

	foreach(cell, state->funcs)
	{
		WindowFunc *call = ((WindowFuncExprState *) lfirst(cell))->wfunc;

		if (call->wintype != result || list_length(call->args) < 2)
			continue;
		if (found != NULL && !equal(found->args, call->args))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot tell the size of the filter of an empty window frame"),
					 errdetail("The query has several calls of bf_agg over the same window."),
					 errhint("Give them separate windows, or frames that include the current row.")));
		found = call;
	}
	return found;
}

/* The argument expressions of the aggregate call that a function serves. */
bool
bf_agg_arguments(FunctionCallInfo fcinfo, List **arguments, Oid *collation)
{
	Aggref	   *aggref = called_aggref(fcinfo);
	ListCell   *cell;

	*arguments = NIL;
	if (aggref != NULL)
	{
		*collation = aggref->inputcollid;
		foreach(cell, aggref->args)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, cell);

			if (list_length(*arguments) < list_length(aggref->aggargtypes))
				*arguments = lappend(*arguments, entry->expr);
		}
	}
	else if (IsA(fcinfo->context, WindowAggState))
	{
		WindowFunc *call = called_window_function(fcinfo);

		if (call != NULL)
		{
			*collation = call->inputcollid;
			*arguments = call->args;
		}
	}
	return *arguments != NIL;
}

/*
 * What the element argument of a transition function is, found out at the
 * call site's first row.
 */
const BfElementType *
bf_agg_element(FunctionCallInfo fcinfo)
{
	BfElementType *element = fcinfo->flinfo->fn_extra;
	Aggref	   *aggref;

	if (element != NULL)
		return element;
	element = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt,
								 sizeof(BfElementType));
	aggref = AggGetAggref(fcinfo);
	bf_element_type_of(get_fn_expr_argtype(fcinfo->flinfo, 1),
					   aggref ? (Node *) linitial_node(TargetEntry, aggref->args)->expr : NULL,
					   PG_GET_COLLATION(), element);
	fcinfo->flinfo->fn_extra = element;
	return element;
}

/*
 * Evaluate an argument that depends on no row: a constant, a parameter, an
 * uncorrelated subquery.  False where it does depend on one, or is NULL.
 */
bool
bf_agg_evaluate(FunctionCallInfo fcinfo, Node *expression, Datum *value)
{
	PlanState  *plan = IsA(fcinfo->context, AggState) ?
		&((AggState *) fcinfo->context)->ss.ps :
		&((WindowAggState *) fcinfo->context)->ss.ps;
	ExprState  *state;
	bool		isnull;

	if (contain_var_clause(expression))
		return false;
	state = ExecInitExpr((Expr *) expression, plan);
	*value = ExecEvalExprSwitchContext(state, plan->ps_ExprContext, &isnull);
	return !isnull;
}
