/*
 * literal.h
 *	  Arrays of elements that come as literals without a type.
 */
#ifndef BLOOMEXT_LITERAL_H
#define BLOOMEXT_LITERAL_H

#include "fmgr.h"

extern Datum bf_call_with_array(FunctionCallInfo fcinfo, PGFunction function);

#endif							/* BLOOMEXT_LITERAL_H */
