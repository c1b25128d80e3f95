/*
 * once.h
 *	  Iterate over the elements of an array, and find repeated ones.
 */
#ifndef BLOOMEXT_ONCE_H
#define BLOOMEXT_ONCE_H

#include "utils/array.h"

#include "type/element_hash.h"

/* Makes the bytes that identify an element, in the caller's memory. */
typedef void (*BfOnceBytes) (void *state, Datum value, BfElementBytes *bytes);

/* An iteration over an array. */
typedef struct BfOnce
{
	BfElementType element;
	BfFunnel	funnel;			/* whose bytes distinguish the elements */
	BfOnceBytes make;			/* or what does; NULL: the funnel */
	void	   *state;
	const char *data;			/* of the array */
	uint32		next;			/* offset of the next element in it */
	struct once_hash *seen;
} BfOnce;

extern void bf_once_start(BfOnce *once, const BfElementType *element,
						  BfMeaning meaning, const ArrayType *array);
extern void bf_once_start_made(BfOnce *once, BfOnceBytes make, void *state,
							   const ArrayType *array);
extern bool bf_once_next(BfOnce *once, bool wanted, Datum *value);

#endif							/* BLOOMEXT_ONCE_H */
