/*
 * hashlist.h
 *	  Growable list of hashes.
 */
#ifndef BLOOMEXT_HASHLIST_H
#define BLOOMEXT_HASHLIST_H

#include "type/value.h"

/* Words of hashes that can be sorted. */
#define BF_SORTED_WORDS	2
#define BF_SORTED_BYTES	(BF_SORTED_WORDS * sizeof(uint64))

typedef struct BfHashList
{
	uint64	   *words;			/* of consecutive hashes */
	uint32		width;			/* words of a hash */
	uint32		count;			/* hashes */
	uint32		capacity;
	uint32		limit;			/* for bf_hashlist_make_room() */
} BfHashList;

/* Bytes of all hashes of a list. */
static inline Size
bf_hashlist_bytes(const BfHashList *list)
{
	return (Size) list->count * list->width * sizeof(uint64);
}

/* Get a hash out of a list. */
static inline void
bf_hashlist_get(const BfHashList *list, uint32 index, BfHash *hash)
{
	const uint64 *words = list->words + (Size) index * list->width;

	for (uint32 i = 0; i < list->width; i++)
		hash->word[i] = words[i];
}

extern void bf_hashlist_add(BfHashList *list, MemoryContext context,
							const BfHash *hash);
extern void bf_hashlist_free(BfHashList *list);
extern void bf_hashlist_deduplicate(BfHashList *list);
extern void bf_hashlist_shorten(BfHashList *list);
extern void bf_hashlist_add_to(const BfHashList *list, BfValue *value);
extern void bf_hashlist_write(const BfHashList *list, uint8 *bytes);
extern void bf_hashlist_read(BfHashList *list, uint32 width, uint32 count,
							 const uint8 *bytes);
extern bool bf_hashlist_make_room(BfHashList *list, uint32 maximum);

#endif							/* BLOOMEXT_HASHLIST_H */
