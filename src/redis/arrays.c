/*
 * arrays.c
 *	  An array's elements, so many at a time.
 *
 * A Datum takes eight bytes, and what is made of it some more, where an element
 * may take one or two.  So an array is never taken apart as a whole.  Values
 * that are passed by reference stay where they are in it.
 */
#include "postgres.h"

#include "redis/arrays.h"

/* Start with an array's first element; memory is the current context's. */
void
bf_array_pieces_start(ArrayType *array, BfArrayPieces *pieces)
{
	int			size = Min(ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)),
						   BF_ARRAY_PIECE);

	pieces->iterator = array_create_iterator(array, 0, NULL);
	pieces->values = palloc(sizeof(Datum) * Max(size, 1));
	pieces->nulls = palloc(sizeof(bool) * Max(size, 1));
	pieces->count = 0;
}

/* Go on to the next piece; false where there is none. */
bool
bf_array_pieces_next(BfArrayPieces *pieces)
{
	pieces->count = 0;
	while (pieces->count < BF_ARRAY_PIECE &&
		   array_iterate(pieces->iterator, &pieces->values[pieces->count],
						 &pieces->nulls[pieces->count]))
		pieces->count++;
	return pieces->count > 0;
}
