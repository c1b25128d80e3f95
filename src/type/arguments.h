/*
 * arguments.h
 *	  Arguments and results of SQL functions: strategies and funnels by name,
 *	  NULLs, rows.
 */
#ifndef BLOOMEXT_ARGUMENTS_H
#define BLOOMEXT_ARGUMENTS_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"

#include "compat.h"
#include "strategy/strategy.h"

extern void bf_append_name(StringInfo names, const char *name);
extern const BfStrategy *bf_strategy_named(const char *name);
extern const BfStrategy *bf_strategy_argument(FunctionCallInfo fcinfo,
											  int argument);
extern BfFunnel bf_funnel_named(const char *name, const BfStrategy *strategy);
extern BfFunnel bf_funnel_argument(FunctionCallInfo fcinfo, int argument,
								   const BfStrategy *strategy);
pg_noreturn extern void bf_raise_null(const char *name);
extern void bf_refuse_null(FunctionCallInfo fcinfo, int argument,
						   const char *name);
extern void bf_refuse_nulls(FunctionCallInfo fcinfo, int first,
							const char *const *names, int count);
extern Oid bf_filter_type(FunctionCallInfo fcinfo);
extern TupleDesc bf_row_type(FunctionCallInfo fcinfo, int known);
extern Datum bf_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls,
					int known);
extern ReturnSetInfo *bf_set_open(FunctionCallInfo fcinfo);
extern void bf_set_store(ReturnSetInfo *set, TupleDesc row);
extern ReturnSetInfo *bf_set_start(FunctionCallInfo fcinfo, int known);

#endif							/* BLOOMEXT_ARGUMENTS_H */
