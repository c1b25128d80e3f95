/*
 * once.h
 *	  The elements of an array, and which of them came already.
 */
#ifndef BLOOMEXT_ONCE_H
#define BLOOMEXT_ONCE_H

#include "utils/array.h"

#include "type/element_type.h"

/* A walk through an array. */
typedef struct BfOnce
{
	BfElementType element;
	BfFunnel	funnel;			/* by which their bytes tell them apart */
	const char *data;			/* of the array */
	uint32		next;			/* where in it the next element is */
	struct once_hash *seen;
} BfOnce;

extern void bf_once_start(BfOnce *once, const BfElementType *element,
						  BfMeaning meaning, const ArrayType *array);
extern bool bf_once_next(BfOnce *once, bool wanted, Datum *value);

#endif							/* BLOOMEXT_ONCE_H */
