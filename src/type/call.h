/*
 * call.h
 *	  What a function of a filter and elements keeps between calls.
 */
#ifndef BLOOMEXT_CALL_H
#define BLOOMEXT_CALL_H

#include "type/element.h"
#include "type/probe.h"

typedef struct BfCall
{
	BfElementType element;
	BfProbe		probe;
} BfCall;

extern BfCall *bf_call(FunctionCallInfo fcinfo, int filter, int element,
					   bool array);

#endif							/* BLOOMEXT_CALL_H */
