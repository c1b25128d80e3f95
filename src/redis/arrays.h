/*
 * arrays.h
 *	  An array's elements, so many at a time.
 */
#ifndef BLOOMEXT_ARRAYS_H
#define BLOOMEXT_ARRAYS_H

#include "utils/array.h"

/* Elements at a time: what is made of them takes some MB. */
#define BF_ARRAY_PIECE	65536

typedef struct BfArrayPieces
{
	ArrayIterator iterator;
	Datum	   *values;			/* of the piece at hand */
	bool	   *nulls;
	int			count;
} BfArrayPieces;

extern void bf_array_pieces_start(ArrayType *array, BfArrayPieces *pieces);
extern bool bf_array_pieces_next(BfArrayPieces *pieces);

#endif							/* BLOOMEXT_ARRAYS_H */
