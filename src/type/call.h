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

/* Elements of an array, hashed as a filter takes them. */
typedef struct BfHashes
{
	int			count;			/* of array elements */
	BfHash	   *hashes;			/* of those that the filter can hold */
	int			hashed;
	int		   *source;			/* array index of each of these */
	bool		complete;		/* all elements have one that are not NULL */
	bool	   *null;			/* per array element */
} BfHashes;

extern BfCall *bf_call(FunctionCallInfo fcinfo, int filter, int element,
					   bool array);
extern void bf_call_hash_array(BfCall *call, const BfFilter *filter,
							   Datum array, BfHashes *hashes);

#endif							/* BLOOMEXT_CALL_H */
