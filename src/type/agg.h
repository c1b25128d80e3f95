/*
 * agg.h
 *	  What the aggregates share: contexts, and the call's expressions.
 */
#ifndef BLOOMEXT_AGG_H
#define BLOOMEXT_AGG_H

#include "nodes/primnodes.h"

#include "type/element.h"

extern MemoryContext bf_agg_context(FunctionCallInfo fcinfo);
extern BfElementType *bf_agg_site(FunctionCallInfo fcinfo, int argument,
								  Size size);
extern bool bf_agg_arguments(FunctionCallInfo fcinfo, List **arguments,
							 Oid *collation);
extern bool bf_agg_evaluate(FunctionCallInfo fcinfo, Node *expression,
							Datum *value);

#endif							/* BLOOMEXT_AGG_H */
