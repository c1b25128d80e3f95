/*
 * element_hash.h
 *	  Elements as arguments of functions: their bytes and hashes, the cache of
 *	  the call site, and the arrays of booleans that functions
 *	  return for arrays of elements.
 */
#ifndef BLOOMEXT_ELEMENT_HASH_H
#define BLOOMEXT_ELEMENT_HASH_H

#include "utils/array.h"

#include "type/element_type.h"
#include "type/probe.h"

/* Maximum number of elements that are hashed together. */
#define BF_PIECE_ELEMENTS	1024

/* The cache of a call site with a filter and elements. */
typedef struct BfCall
{
	BfElementType element;
	BfFunnel	funnel;			/* by which elements were hashed last */
	BfProbe		probe;
} BfCall;

/* An element's bytes by a funnel: of the datum, or converted. */
typedef struct BfElementBytes
{
	const uint8 *data;
	Size		length;
	void	   *made;			/* what to free, or NULL */
	uint8		integer[8];		/* the bytes of an integer */
} BfElementBytes;

/* The hashes of a piece of an array. */
typedef struct BfElements
{
	BfCall	   *call;
	ArrayIterator iterator;
	MemoryContext scratch;		/* reset for each piece */
	uint32		count;			/* elements of the piece that are not NULL */
	uint32		hashed;			/* those of them that the filter can contain */
	BfHash	   *hashes;			/* of those */
	uint32	   *source;			/* their indexes among the `count` */
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
extern bool bf_element_ends_in_blank(const BfElementType *element, Datum value);
extern bool bf_element_hash(const BfStrategy *strategy, BfFunnel funnel,
							const BfElementType *element, Datum value,
							BfHash *hash);
extern bool bf_element_is_hashable(BfFunnel funnel,
								   const BfElementType *element, Datum value);
pg_noreturn extern void bf_element_does_not_fit(const BfElementType *element,
												Datum value);

/* Allocate a hash's digests, as core/ and strategy/ do not allocate. */
static inline void
bf_hash_room(BfHash *hash)
{
	hash->digests = palloc(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
}

/* Arrays of elements */
extern bool bf_elements_next(ArrayIterator iterator, Datum *value);
extern uint32 bf_elements_take(ArrayIterator iterator, Datum *values,
							   uint32 room);
extern void bf_elements_start(BfElements *elements, BfCall *call,
							  ArrayType *array);
extern bool bf_elements_hash(BfElements *elements);
extern ArrayType *bf_answers_make(const ArrayType *elements);

/*
 * A call site's cache in fn_extra: a struct of `size` bytes, zero at first,
 * that starts with the BfElementType of an argument, or of an array's
 * elements.
 */
static inline void *
bf_call_site(FunctionCallInfo fcinfo, int argument, bool array, Size size)
{
	void	   *site = fcinfo->flinfo->fn_extra;

	return site != NULL ? site :
		bf_call_site_make(fcinfo, argument, array, size);
}

/*
 * Hash an element for the call's filter; false if that cannot contain it.
 * Raises 22023 if the filter holds another kind of elements.
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
