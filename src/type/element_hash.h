/*
 * element_hash.h
 *	  The elements that a function is called with: what its call site keeps of
 *	  them, their bytes and hashes, and the answers about them.
 */
#ifndef BLOOMEXT_ELEMENT_HASH_H
#define BLOOMEXT_ELEMENT_HASH_H

#include "utils/array.h"

#include "type/element_type.h"
#include "type/probe.h"

/* The most elements that are hashed at once. */
#define BF_PIECE_ELEMENTS	1024

/* What a call site of a filter and elements keeps. */
typedef struct BfCall
{
	BfElementType element;
	BfFunnel	funnel;			/* by which its elements were hashed last */
	BfProbe		probe;
} BfCall;

/* An element's bytes by a funnel: its own, or made for it. */
typedef struct BfElementBytes
{
	const uint8 *data;
	Size		length;
	void	   *made;			/* what to free, or NULL */
	uint8		integer[8];		/* where the data of an integer is */
} BfElementBytes;

/* The hashes of an array's elements, at one of its pieces. */
typedef struct BfElements
{
	BfCall	   *call;
	ArrayIterator iterator;
	MemoryContext scratch;		/* reset for each piece */
	uint32		count;			/* elements of the piece that are not NULL */
	uint32		hashed;			/* those of them that the filter can hold */
	BfHash	   *hashes;			/* of these */
	uint32	   *source;			/* which of the `count` each of these is */
} BfElements;

/* Call sites */
extern void *bf_call_site_make(FunctionCallInfo fcinfo, int argument,
							   bool array, Size size);
extern BfCall *bf_call(FunctionCallInfo fcinfo, int filter, int element,
					   bool array);

/* One element */
extern bool bf_element_bytes(const BfStrategy *strategy, BfFunnel funnel,
							 const BfElementType *element, Datum value,
							 BfElementBytes *bytes);
extern bool bf_element_hash(const BfStrategy *strategy, BfFunnel funnel,
							const BfElementType *element, Datum value,
							BfHash *hash);
extern bool bf_element_is_hashable(BfFunnel funnel,
								   const BfElementType *element, Datum value);
pg_noreturn extern void bf_element_does_not_fit(const BfElementType *element,
												Datum value);

/* Give a hash room for its digests, which core/ and strategy/ do not allocate. */
static inline void
bf_hash_room(BfHash *hash)
{
	hash->digests = palloc(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
}

/* Arrays of them */
extern bool bf_elements_next(ArrayIterator iterator, Datum *value);
extern uint32 bf_elements_take(ArrayIterator iterator, Datum *values,
							   uint32 room);
extern void bf_elements_start(BfElements *elements, BfCall *call,
							  ArrayType *array);
extern bool bf_elements_hash(BfElements *elements);
extern ArrayType *bf_answers_make(const ArrayType *asked);

/*
 * What a call site keeps in fn_extra: a struct of a size, zero at first, that
 * starts with the BfElementType of an argument, or of an array's elements.
 */
static inline void *
bf_call_site(FunctionCallInfo fcinfo, int argument, bool array, Size size)
{
	void	   *site = fcinfo->flinfo->fn_extra;

	return site != NULL ? site :
		bf_call_site_make(fcinfo, argument, array, size);
}

/*
 * Hash an element as the call's filter takes it; false where it cannot hold it.
 * Raises 22023 where the filter holds another kind of elements.
 */
static inline bool
bf_call_hash(BfCall *call, Datum value, BfHash *hash)
{
	const BfFilter *filter = call->probe.filter;

	call->funnel = bf_element_bind_to(&filter->plan, &call->element);
	return bf_element_hash(filter->plan.strategy, call->funnel, &call->element,
						   value, hash);
}

#endif							/* BLOOMEXT_ELEMENT_HASH_H */
