/*
 * agg.h
 *	  Common code of the aggregates: contexts, and the call's expressions.
 */
#ifndef BLOOMEXT_AGG_H
#define BLOOMEXT_AGG_H

#include "nodes/primnodes.h"

#include "type/element_hash.h"

/* The default false positive probability. */
#define BF_AGG_FPP	0.03

/*
 * The start of every state: its transition function's cache for the call site.
 * The executor's calls have it in fn_extra, too; other callers may make a new
 * FmgrInfo for each row, or keep one longer than the group's memory.
 */
typedef struct BfAggState
{
	BfElementType *site;
} BfAggState;

/*
 * Whether a function of an aggregate is called by the executor, which passes
 * the call's expression.  Citus calls with an FmgrInfo alone, and combines the
 * states of several nodes.
 */
static inline bool
bf_agg_has_expression(FunctionCallInfo fcinfo)
{
	return fcinfo->flinfo->fn_expr != NULL;
}

/* How long an argument is known to be constant. */
typedef enum BfAggSpan
{
	BF_AGG_SPAN_ROW,			/* it depends on the row */
	BF_AGG_SPAN_GROUP,			/* a parameter: constant in a scan */
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
