/*
 * constant.c
 *	  What constants were before they were silently taken for text.
 *
 * The planner folds a cast of a constant, or of a parameter whose value it
 * knows: when a function is called, 'A'::citext is a text like any other, and
 * would be a false negative (see element.c).  So is a column's cast that GROUP
 * BY or ORDER BY computes, too, in an explicit form.  But the planner asks a
 * function's support function as it folds its arguments, and as it estimates
 * costs, that of an aggregate's transition function too.  The first time, the
 * query still has the casts.  So we look through the query for elements that are
 * no text, also those of operators over arrays and of aggregates, about which
 * no support function is asked while casts of constants are there.  (The arms of
 * a UNION ALL are in the list of appended relations by then.)
 *
 * Collations are looked at then, too, for the sake of aggregates whose functions
 * another aggregate will call, without expressions (see agg.c).
 *
 * A query is looked through once, however many functions it calls.  It is known
 * by its address, until the memory goes that it is planned in, and by the length
 * of its range table: the planner pulls subqueries up, with their expressions,
 * but not without their relations.
 *
 * Out of reach is what is folded with no query, a default or a CHECK; what a
 * query never had, a constant in an SQL function that is inlined or, from 18 on,
 * a cast that GROUP BY spells out; a call all of
 * whose arguments are constants, as the planner makes it without asking; and an
 * operator over a constant array, an aggregate of a constant or over a window,
 * if nothing else in the query is asked about before they are folded.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "type/element.h"
#include "type/selectivity.h"

PG_FUNCTION_INFO_V1(bloomext_element_support);

/* The query that was looked through last. */
typedef struct Seen
{
	MemoryContextCallback forget;
	MemoryContext context;
	const Query *query;
	int			relations;
} Seen;

static Seen *seen = NULL;

/* The reset callback of the context that the query is planned in. */
static void
forget_query(void *gone)
{
	if (seen == gone)
		seen = NULL;
}

/* Whether a query was looked through as it is; from now on it was. */
static bool
is_seen(const PlannerInfo *root)
{
	const Query *query = root->parse;
	int			relations = list_length(query->rtable);

	if (seen != NULL && seen->query == query && seen->relations == relations)
		return true;
	if (seen == NULL || seen->context != root->planner_cxt)
	{
		Seen	   *next = MemoryContextAllocZero(root->planner_cxt,
												  sizeof(Seen));

		next->context = root->planner_cxt;
		next->forget.func = forget_query;
		next->forget.arg = next;
		MemoryContextRegisterResetCallback(next->context, &next->forget);
		seen = next;
	}
	seen->query = query;
	seen->relations = relations;
	return false;
}

/* The last of a function's arguments that is text, or array of it; or NULL. */
static Node *
element_of(const List *arguments)
{
	Node	   *element = NULL;
	int			last = -1;
	ListCell   *cell;

	foreach(cell, arguments)
	{
		Node	   *argument = lfirst(cell);
		int			position = IsA(argument, NamedArgExpr) ?
			((NamedArgExpr *) argument)->argnumber : foreach_current_index(cell);
		Oid			type = exprType(argument);

		if (position > last && (type == TEXTOID || type == TEXTARRAYOID))
		{
			element = argument;
			last = position;
		}
	}
	return element;
}

/* The first of an aggregate's arguments that is text: a strategy comes later. */
static Node *
element_of_aggregate(const List *arguments)
{
	ListCell   *cell;

	foreach(cell, arguments)
	{
		Node	   *argument = lfirst(cell);

		if (IsA(argument, TargetEntry))
			argument = (Node *) ((TargetEntry *) argument)->expr;
		if (exprType(argument) == TEXTOID)
			return argument;
	}
	return NULL;
}

/* An aggregate's transition function; none of another window function. */
static Oid
transition_function(Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Oid			function;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	function = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggtransfn;
	ReleaseSysCache(tuple);
	return function;
}

/* Raise 0A000 for what is no element by its type or collation, of functions of that support. */
static bool
refuse_casts(Node *node, void *support)
{
	Oid			function = InvalidOid;
	Node	   *element = NULL;
	BfElementType type;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		element = element_of(((FuncExpr *) node)->args);
	}
	else if (IsA(node, OpExpr))
	{
		function = ((OpExpr *) node)->opfuncid;
		element = element_of(((OpExpr *) node)->args);
	}
	else if (IsA(node, ScalarArrayOpExpr))
	{
		function = ((ScalarArrayOpExpr *) node)->opfuncid;
		element = element_of(((ScalarArrayOpExpr *) node)->args);
	}
	else if (IsA(node, Aggref))
	{
		function = transition_function(((Aggref *) node)->aggfnoid);
		element = element_of_aggregate(((Aggref *) node)->args);
	}
	else if (IsA(node, WindowFunc))
	{
		function = transition_function(((WindowFunc *) node)->winfnoid);
		element = element_of_aggregate(((WindowFunc *) node)->args);
	}
	if (element != NULL && OidIsValid(function) &&
		get_func_support(function) == *(const Oid *) support)
		bf_element_type_of(TEXTOID, element, InvalidOid, &type);
	return expression_tree_walker(node, refuse_casts, support);
}

/* The support function of functions of elements: of text, and of all lookups */
Datum
bloomext_element_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	PlannerInfo *root = NULL;
	Oid			support = fcinfo->flinfo->fn_oid;

	if (IsA(request, SupportRequestSimplify))
		root = ((SupportRequestSimplify *) request)->root;
	else if (IsA(request, SupportRequestCost))
		root = ((SupportRequestCost *) request)->root;
	if (root != NULL && !is_seen(root))
	{
		(void) query_tree_walker(root->parse, refuse_casts, &support,
								 QTW_IGNORE_RT_SUBQUERIES |
								 QTW_IGNORE_CTE_SUBQUERIES);
		(void) refuse_casts((Node *) root->append_rel_list, &support);
	}
	PG_RETURN_POINTER(bf_estimate_lookup(request));
}
