/*
 * agg_sized.h
 *	  A filter of known size over rows: common code of bf_agg(element,
 *	  expected, ...), bf_agg_into(filter, element) and bf_put(element,
 *	  expected, ...).
 */
#ifndef BLOOMEXT_AGG_SIZED_H
#define BLOOMEXT_AGG_SIZED_H

#include "agg/agg.h"
#include "type/value.h"

typedef struct BfSizedState BfSizedState;

/*
 * Plan the empty filter that a group starts from, bound to its elements'
 * funnel, by a call's argument expressions; false if they depend on the row.
 */
typedef bool (*BfSizedPlanner) (FunctionCallInfo fcinfo, List *arguments,
								BfPlan *plan);

extern void bf_sized_plan(const Datum *values, int count,
						  const BfElementType *element, BfPlan *plan);
extern BfSizedState *bf_sized_state(FunctionCallInfo fcinfo,
									const BfPlan *plan,
									BfElementType *site);
extern void bf_sized_check(const BfSizedState *state, const BfPlan *plan,
						   const char *aggregate);
extern void bf_sized_add(BfSizedState *state, BfElementType *element,
						 Datum value);
extern Datum bf_sized_serialize(FunctionCallInfo fcinfo,
								BfSizedPlanner planner);
extern Datum bf_sized_final(FunctionCallInfo fcinfo, BfSizedPlanner planner,
							const char *advice);

#endif							/* BLOOMEXT_AGG_SIZED_H */
