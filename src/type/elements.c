/*
 * elements.c
 *	  Arrays of elements, hashed a piece at a time, and arrays of answers.
 *
 * An array may have 1 GB, of 134 million elements.  What is kept of them is a
 * piece's: hashes of BF_PIECE_ELEMENTS elements, or of fewer whose conversions
 * take SCRATCH.  Answers are written where they are to be in the result.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "type/elements.h"

/* Bytes that a piece's elements may litter before it ends. */
#define SCRATCH		((Size) 4 * 1024 * 1024)

/* Start to walk over an array. */
void
bf_elements_start(BfElements *elements, const BfElementType *type,
				  ArrayType *array)
{
	*elements = (BfElements) {
		.type = type,
		.iterator = array_create_iterator(array, 0, NULL),
		.scratch = AllocSetContextCreate(CurrentMemoryContext,
										 "bloomext elements",
										 ALLOCSET_DEFAULT_SIZES),
		.total = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)),
		.hashes = palloc(BF_PIECE_ELEMENTS * sizeof(BfHash)),
		.source = palloc(BF_PIECE_ELEMENTS * sizeof(uint32))
	};
}

/* Hash an element of the piece. */
static void
hash_element(BfElements *elements, const BfFilter *filter, Datum value)
{
	BfHash	   *hash = &elements->hashes[elements->hashed];

	if (elements->count == 0)
		elements->funnel = bf_element_bind_to(filter, elements->type);
	if (bf_element_hash(filter->plan.strategy, elements->funnel, elements->type,
						value, hash))
	{
		elements->source[elements->hashed++] = elements->count;
		/* Digests are to go with the piece, whenever they are computed. */
		if (!filter->plan.strategy->hash_is_complete)
			hash->digests = palloc(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
	}
	elements->count++;
}

/*
 * Hash the next piece as a filter takes it; false after the last.  Raises 22023
 * where the filter holds another kind of elements; NULLs are of no kind.
 */
bool
bf_elements_next(BfElements *elements, const BfFilter *filter)
{
	bool		any = false;
	MemoryContext caller;
	Datum		value;
	bool		null;

	MemoryContextReset(elements->scratch);
	caller = MemoryContextSwitchTo(elements->scratch);
	elements->count = 0;
	elements->hashed = 0;
	while (elements->count < BF_PIECE_ELEMENTS &&
		   MemoryContextMemAllocated(elements->scratch, false) < SCRATCH &&
		   array_iterate(elements->iterator, &value, &null))
	{
		CHECK_FOR_INTERRUPTS();
		any = true;
		if (!null)
			hash_element(elements, filter, value);
	}
	MemoryContextSwitchTo(caller);
	return any;
}

/* How many elements of an array are not NULL. */
static uint32
count_not_null(const ArrayType *array, int items)
{
	const bits8 *bitmap = ARR_NULLBITMAP(array);
	uint64		count;

	if (bitmap == NULL)
		return items;
	count = pg_popcount((const char *) bitmap, items / 8);
	if (items % 8 != 0)
		count += pg_popcount32(bitmap[items / 8] & ((1 << items % 8) - 1));
	return (uint32) count;
}

/* Make the answers about an array's elements, in as many dimensions as given. */
static ArrayType *
make_answers(const ArrayType *asked, int dimensions, const int *lengths,
			 const int *bounds)
{
	int			items = ArrayGetNItems(dimensions, lengths);
	const bits8 *nulls = ARR_NULLBITMAP(asked);
	int			overhead = nulls ? ARR_OVERHEAD_WITHNULLS(dimensions, items) :
		ARR_OVERHEAD_NONULLS(dimensions);
	Size		size = (Size) overhead + count_not_null(asked, items);
	ArrayType  *answers;

	if (items == 0)
		return construct_empty_array(BOOLOID);
	answers = palloc0(size);
	SET_VARSIZE(answers, size);
	answers->ndim = dimensions;
	answers->elemtype = BOOLOID;
	memcpy(ARR_DIMS(answers), lengths, dimensions * sizeof(int));
	memcpy(ARR_LBOUND(answers), bounds, dimensions * sizeof(int));
	if (nulls != NULL)
	{
		answers->dataoffset = overhead;
		array_bitmap_copy(ARR_NULLBITMAP(answers), 0, nulls, 0, items);
	}
	return answers;
}

/*
 * Make the boolean[] of answers about an array's elements: of the same shape,
 * NULL for NULL, and false.  The others' answers, in their order, are the bytes
 * of its data.
 */
ArrayType *
bf_answers_make(const ArrayType *asked)
{
	return make_answers(asked, ARR_NDIM(asked), ARR_DIMS(asked),
						ARR_LBOUND(asked));
}

/* The same as a list, whatever the shape. */
ArrayType *
bf_answers_make_list(const ArrayType *asked)
{
	int			length = ArrayGetNItems(ARR_NDIM(asked), ARR_DIMS(asked));
	int			bound = 1;

	return make_answers(asked, 1, &length, &bound);
}
