/*
 * hashlist.h
 *	  A growing list of hashes, which aggregates keep before they know better.
 */
#ifndef BLOOMEXT_HASHLIST_H
#define BLOOMEXT_HASHLIST_H

#include "type/value.h"

/* All that is kept of an element: 16 bytes. */
typedef struct BfHashPair
{
	uint64		h1;
	uint64		h2;
} BfHashPair;

typedef struct BfHashList
{
	BfHashPair *pairs;
	uint32		count;
	uint32		capacity;
	uint32		limit;			/* for bf_hashlist_make_room() */
} BfHashList;

extern void bf_hashlist_add(BfHashList *list, MemoryContext context,
							BfHashPair pair);
extern void bf_hashlist_deduplicate(BfHashList *list);
extern bool bf_hashlist_make_room(BfHashList *list, uint32 maximum);
extern void bf_value_add_pairs(BfValue *value, const BfHashPair *pairs,
							   uint32 count);

#endif							/* BLOOMEXT_HASHLIST_H */
