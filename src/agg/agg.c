/*
 * agg.c
 *	  Common code of the aggregates: contexts, and the call's expressions.
 *
 * bf_agg(x, expected, ...) over no rows must return an empty filter of the
 * size given by its arguments, but then no transition function is called that
 * could see them.  The final function (in a parallel plan, the serialization
 * function) can still reach the argument expressions of the call, and
 * evaluates those that do not depend on a row.
 *
 * If a plan aggregates in two steps, the final function's argument is a
 * partial state, so it cannot evaluate the expressions.  It need not: the
 * serialization function, which could, made the partial state even if there
 * were no rows.
 *
 * Another aggregate may call our support functions row by row, as the one of
 * Citus does on its workers.  Then there is no expression of ours, and the
 * Aggref that we can reach is that of the other aggregate.  So the type of
 * the element must come from the declaration of the function, and what we
 * would learn from the expressions is checked for each row.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "executor/executor.h"
#include "executor/nodeAgg.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "agg/agg.h"

/* The memory context of aggregate state; an error outside aggregates. */
MemoryContext
bf_agg_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "aggregate function called in non-aggregate context");
	return context;
}

/*
 * The memory context in which to build a group's result.  An Agg node that
 * processes one group after the other expects results in the context of its
 * output row, which it resets when it starts the next group, together with the
 * context of states; some versions copy a result that is not there.  Groups of
 * a hash table, or of several grouping sets, coexist, and a window's state
 * outlives the rows of its frames.
 */
MemoryContext
bf_agg_result_context(FunctionCallInfo fcinfo)
{
	MemoryContext context = bf_agg_context(fcinfo);
	AggState   *state = (AggState *) fcinfo->context;
	const Agg  *plan;

	if (!IsA(state, AggState))
		return context;
	plan = (const Agg *) state->ss.ps.plan;
	if (plan->groupingSets != NIL ||
		(plan->aggstrategy != AGG_PLAIN && plan->aggstrategy != AGG_SORTED))
		return context;
	return state->ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
}

/* Raise that rows, or partial states, of a group differ in parameters. */
void
bf_agg_refuse_row(const char *aggregate)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("parameters of %s must be the same for all rows of a group",
					aggregate)));
}

/* Whether a function is one of an aggregate's. */
static bool
is_served_by(Oid aggregate, Oid function)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	bool		served = false;

	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);

		served = form->aggtransfn == function ||
			form->aggcombinefn == function ||
			form->aggserialfn == function ||
			form->aggfinalfn == function;
		ReleaseSysCache(tuple);
	}
	return served;
}

/*
 * The Aggref that a final, transition or serialization function (for which
 * AggGetAggref() does not work) is called for; NULL if it is called on behalf
 * of another aggregate.
 */
static Aggref *
called_aggref(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);

	if (fcinfo->context != NULL && IsA(fcinfo->context, AggState))
	{
		AggState   *state = (AggState *) fcinfo->context;

		for (int i = 0; i < state->numtrans; i++)
		{
			if (&state->pertrans[i].serialfn == fcinfo->flinfo)
				aggref = state->pertrans[i].aggref;
		}
	}
	return aggref != NULL &&
		is_served_by(aggref->aggfnoid, fcinfo->flinfo->fn_oid) ? aggref : NULL;
}

/* The name of the aggregate that a function is called for. */
char *
bf_agg_name(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = called_aggref(fcinfo);

	return aggref != NULL ? get_func_name(aggref->aggfnoid) : pstrdup("bf_agg");
}

/*
 * The window calls of an aggregate that a function may be called for, as
 * PostgreSQL does not say for which one it is.
 */
static List *
called_window_functions(FunctionCallInfo fcinfo)
{
	WindowAggState *state = (WindowAggState *) fcinfo->context;
	List	   *calls = NIL;
	ListCell   *cell;

	foreach(cell, state->funcs)
	{
		WindowFunc *call = ((WindowFuncExprState *) lfirst(cell))->wfunc;

		if (is_served_by(call->winfnoid, fcinfo->flinfo->fn_oid))
			calls = lappend(calls, call);
	}
	return calls;
}

/*
 * The call of an aggregate as a window function, if the frame is empty.  All
 * calls that it could be must have equal arguments.
 */
static WindowFunc *
called_window_function(FunctionCallInfo fcinfo)
{
	WindowFunc *found = NULL;
	ListCell   *cell;

	foreach(cell, called_window_functions(fcinfo))
	{
		WindowFunc *call = lfirst_node(WindowFunc, cell);

		if (found != NULL && !equal(found->args, call->args))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("could not determine the size of the filter for an empty window frame"),
					 errdetail("The query calls bf_agg over the same window with different arguments."),
					 errhint("Give them separate windows, or frames that include the current row.")));
		found = call;
	}
	return found;
}

/* The argument expressions of an Aggref, without those of its ORDER BY. */
static List *
aggref_arguments(const Aggref *aggref)
{
	List	   *arguments = NIL;
	ListCell   *cell;

	foreach(cell, aggref->args)
	{
		if (list_length(arguments) < list_length(aggref->aggargtypes))
			arguments = lappend(arguments, lfirst_node(TargetEntry, cell)->expr);
	}
	return arguments;
}

/* The argument expressions of an aggregate call; false if not available. */
bool
bf_agg_arguments(FunctionCallInfo fcinfo, List **arguments)
{
	Aggref	   *aggref = called_aggref(fcinfo);

	*arguments = NIL;
	if (aggref != NULL)
	{
		if (DO_AGGSPLIT_COMBINE(aggref->aggsplit))
			return false;
		*arguments = aggref_arguments(aggref);
	}
	else if (IsA(fcinfo->context, WindowAggState))
	{
		WindowFunc *call = called_window_function(fcinfo);

		if (call != NULL)
			*arguments = call->args;
	}
	return *arguments != NIL;
}

/*
 * The expressions that an argument of a transition function may be: one, or in
 * a window one for each candidate call; none if there is no expression.
 */
static List *
argument_expressions(FunctionCallInfo fcinfo, int argument)
{
	Aggref	   *aggref = called_aggref(fcinfo);
	List	   *expressions = NIL;
	ListCell   *cell;

	if (!bf_agg_has_expression(fcinfo))
		return NIL;
	if (aggref != NULL)
	{
		List	   *arguments = aggref_arguments(aggref);

		Assert(argument >= 1 && argument <= list_length(arguments));
		return list_make1(list_nth(arguments, argument - 1));
	}
	foreach(cell, called_window_functions(fcinfo))
		expressions = lappend(expressions,
							  list_nth(lfirst_node(WindowFunc, cell)->args,
									   argument - 1));
	if (expressions == NIL)
		elog(ERROR, "could not determine the arguments of an aggregate");
	return expressions;
}

/* The type of a transition function's argument, by its call or declaration. */
static Oid
argument_type(FunctionCallInfo fcinfo, int argument)
{
	Oid		   *types;
	int			count;

	if (bf_agg_has_expression(fcinfo))
		return get_fn_expr_argtype(fcinfo->flinfo, argument);
	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	if (argument >= count || IsPolymorphicType(types[argument]))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("could not determine the type of an element"),
				 errdetail("The aggregate was not called by the executor, but on behalf of another aggregate, as Citus does."),
				 errhint("Install extension bloomext_citus, and use the aggregate for the element's type, such as bf_agg_text or bf_agg_bigint.")));
	return types[argument];
}

/*
 * A transition function's cache for its call site, in fn_extra or, without an
 * expression, in the state, its first argument.  It starts with the type of
 * the element argument, determined at the first row.  If the element may be
 * one of several expressions, the types of all must be accepted.
 */
BfElementType *
bf_agg_site(FunctionCallInfo fcinfo, int argument, Size size)
{
	bool		lasts = bf_agg_has_expression(fcinfo);
	BfAggState *state = PG_ARGISNULL(0) ? NULL : (BfAggState *) PG_GETARG_POINTER(0);
	BfElementType *element = fcinfo->flinfo->fn_extra;
	List	   *expressions;
	ListCell   *cell;
	Oid			type;

	if (element == NULL && !lasts && state != NULL)
		element = state->site;
	if (element != NULL)
		return element;
	element = MemoryContextAllocZero(lasts ? fcinfo->flinfo->fn_mcxt :
									 bf_agg_context(fcinfo), size);
	type = argument_type(fcinfo, argument);
	expressions = argument_expressions(fcinfo, argument);
	if (expressions == NIL)
		bf_element_type_of(type, NULL, PG_GET_COLLATION(), element);
	foreach(cell, expressions)
		bf_element_type_of(type, lfirst(cell), PG_GET_COLLATION(), element);
	if (lasts)
		fcinfo->flinfo->fn_extra = element;
	else if (state != NULL)
		state->site = element;
	return element;
}

/* Whether an expression contains values that are set at execution time. */
static bool
contain_parameters(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, Param) || IsA(node, SubPlan) ||
		IsA(node, AlternativeSubPlan) ||
		expression_tree_walker(node, contain_parameters, context);
}

/* How long an argument of a transition function is constant. */
BfAggSpan
bf_agg_span(FunctionCallInfo fcinfo, int argument)
{
	BfAggSpan	span = BF_AGG_SPAN_CALL;
	ListCell   *cell;

	if (!bf_agg_has_expression(fcinfo))
		return BF_AGG_SPAN_ROW;
	foreach(cell, argument_expressions(fcinfo, argument))
	{
		Node	   *expression = lfirst(cell);

		if (contain_var_clause(expression) ||
			contain_volatile_functions(expression))
			return BF_AGG_SPAN_ROW;
		if (contain_parameters(expression, NULL))
			span = BF_AGG_SPAN_GROUP;
	}
	return span;
}

/*
 * The state to evaluate an argument's expression.  PostgreSQL keeps parts of it
 * (of a subquery, its place in the plan and its tuples) until the query ends,
 * so it is made once for each call site and lives as long.
 */
static ExprState *
evaluation_state(FunctionCallInfo fcinfo, const List *arguments, int argument)
{
	FmgrInfo   *function = fcinfo->flinfo;
	ExprState **states = function->fn_extra;
	PlanState  *plan = (PlanState *) fcinfo->context;

	if (states == NULL)
		function->fn_extra = states =
			MemoryContextAllocZero(function->fn_mcxt,
								   list_length(arguments) * sizeof(ExprState *));
	if (states[argument] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(function->fn_mcxt);

		states[argument] = ExecInitExpr(list_nth(arguments, argument), plan);
		MemoryContextSwitchTo(old);
	}
	return states[argument];
}

/*
 * Evaluate one of bf_agg_arguments() that does not depend on a row: a
 * constant, a parameter, an uncorrelated subquery.  False if it depends on a
 * row, or is NULL.
 */
bool
bf_agg_evaluate(FunctionCallInfo fcinfo, const List *arguments, int argument,
				Datum *value)
{
	PlanState  *plan = (PlanState *) fcinfo->context;
	bool		isnull;

	if (contain_var_clause(list_nth(arguments, argument)))
		return false;
	*value = ExecEvalExprSwitchContext(evaluation_state(fcinfo, arguments,
														 argument),
									   plan->ps_ExprContext, &isnull);
	return !isnull;
}
