/*
 * constant.c
 *	  What constants were before they were silently taken for text.
 *
 * The planner folds a cast of a constant, or of a parameter whose value it
 * knows: when a function is called, 'A'::citext is a text like any other, and
 * would be a false negative (see element.c).  But the planner asks a function's
 * support function as it folds its arguments, and at that time the query still
 * has the casts.  So where a function of text is given a constant, we look
 * through the query for elements that are no text, also those of operators
 * over arrays, about which no support function is asked.
 *
 * Out of reach is what is folded with no query, a default or a CHECK; a call
 * all of whose arguments are constants, as the planner makes it without asking;
 * and an operator over a constant array, if nothing else in the query is asked
 * about.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"

#include "type/element.h"

PG_FUNCTION_INFO_V1(bloomext_element_support);

/* The last of a function's arguments that is text, or array of it; or NULL. */
static Node *
element_of(const List *arguments)
{
	Node	   *element = NULL;
	ListCell   *cell;

	foreach(cell, arguments)
	{
		Oid			type = exprType(lfirst(cell));

		if (type == TEXTOID || type == TEXTARRAYOID)
			element = lfirst(cell);
	}
	return element;
}

/* Raise 0A000 for an element that is no text, of functions of that support. */
static bool
refuse_casts(Node *node, Oid *support)
{
	Oid			function = InvalidOid;
	List	   *arguments = NIL;
	Node	   *expression;
	BfElementType element;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		arguments = ((FuncExpr *) node)->args;
	}
	else if (IsA(node, OpExpr))
	{
		function = ((OpExpr *) node)->opfuncid;
		arguments = ((OpExpr *) node)->args;
	}
	else if (IsA(node, ScalarArrayOpExpr))
	{
		function = ((ScalarArrayOpExpr *) node)->opfuncid;
		arguments = ((ScalarArrayOpExpr *) node)->args;
	}
	expression = element_of(arguments);
	if (expression != NULL && get_func_support(function) == *support)
		bf_element_type_of(TEXTOID, expression, InvalidOid, &element);
	return expression_tree_walker(node, refuse_casts, support);
}

/* The support function of functions of text elements */
Datum
bloomext_element_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;
		Node	   *element = element_of(simplify->fcall->args);

		if (simplify->root != NULL && element != NULL && IsA(element, Const))
		{
			Oid			support = get_func_support(simplify->fcall->funcid);

			(void) query_tree_walker(simplify->root->parse, refuse_casts,
									 &support, QTW_IGNORE_RT_SUBQUERIES |
									 QTW_IGNORE_CTE_SUBQUERIES);
		}
	}
	PG_RETURN_POINTER(NULL);
}
