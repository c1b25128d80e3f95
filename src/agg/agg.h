/*
 * agg.h
 *	  What the aggregates share: contexts, and the call's expressions.
 */
#ifndef BLOOMEXT_AGG_H
#define BLOOMEXT_AGG_H

#include "nodes/primnodes.h"

#include "type/element_hash.h"

/* The false positive probability, where an overload does not ask. */
#define BF_AGG_FPP	0.03

/*
 * What every state starts with: what its transition function knows of the call
 * site.  Where the executor calls, that is in fn_extra, too; who else calls may
 * make an FmgrInfo anew for each row, or keep one longer than the group's memory.
 */
typedef struct BfAggState
{
	BfElementType *site;
} BfAggState;

/*
 * Whether a function of an aggregate is called by the executor, which says the
 * call's expression.  Citus calls them by their FmgrInfo alone, and combines
 * what several nodes made.
 */
static inline bool
bf_agg_has_expression(FunctionCallInfo fcinfo)
{
	return fcinfo->flinfo->fn_expr != NULL;
}

/* For how long an argument is known to be the same. */
typedef enum BfAggSpan
{
	BF_AGG_SPAN_ROW,			/* it depends on the row */
	BF_AGG_SPAN_GROUP,			/* a parameter: the same in a scan */
	BF_AGG_SPAN_CALL			/* a constant */
} BfAggSpan;

extern MemoryContext bf_agg_context(FunctionCallInfo fcinfo);
extern MemoryContext bf_agg_result_context(FunctionCallInfo fcinfo);
pg_noreturn extern void bf_agg_refuse_row(const char *aggregate);
extern BfElementType *bf_agg_site(FunctionCallInfo fcinfo, int argument,
								  Size size);
extern char *bf_agg_name(FunctionCallInfo fcinfo);
extern BfAggSpan bf_agg_span(FunctionCallInfo fcinfo, int argument);
extern bool bf_agg_arguments(FunctionCallInfo fcinfo, List **arguments);
extern bool bf_agg_evaluate(FunctionCallInfo fcinfo, const List *arguments,
							int argument, Datum *value);

#endif							/* BLOOMEXT_AGG_H */
