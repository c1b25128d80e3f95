/*
 * elements.h
 *	  Arrays of elements, hashed a piece at a time, and arrays of answers.
 */
#ifndef BLOOMEXT_ELEMENTS_H
#define BLOOMEXT_ELEMENTS_H

#include "utils/array.h"

#include "type/element.h"

/* The most elements that a piece has. */
#define BF_PIECE_ELEMENTS	1024

/* A walk over an array, at one of its pieces. */
typedef struct BfElements
{
	const BfElementType *type;
	ArrayIterator iterator;
	MemoryContext scratch;		/* reset for each piece */
	uint64		total;			/* elements of the array */
	uint32		count;			/* elements of the piece that are not NULL */
	uint32		hashed;			/* those of them that the filter can hold */
	BfFunnel	funnel;			/* by which these are hashed */
	BfHash	   *hashes;			/* of these */
	uint32	   *source;			/* which of the `count` each of these is */
} BfElements;

extern void bf_elements_start(BfElements *elements, const BfElementType *type,
							  ArrayType *array);
extern bool bf_elements_next(BfElements *elements, const BfFilter *filter);
extern ArrayType *bf_answers_make(const ArrayType *asked);
extern ArrayType *bf_answers_make_list(const ArrayType *asked);

#endif							/* BLOOMEXT_ELEMENTS_H */
