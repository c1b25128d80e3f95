/*
 * items.h
 *	  Elements to be added to, or looked up in, a filter in Redis.
 */
#ifndef BLOOMEXT_ITEMS_H
#define BLOOMEXT_ITEMS_H

#include "redis/remote.h"
#include "type/elements.h"

/* An element, hashed for one filter. */
typedef struct BfItem
{
	BfHash		hash;
	int			source;			/* which of the caller's elements it is */
	bool		answer;
	bool		done;
} BfItem;

typedef struct BfItems
{
	BfItem	   *item;
	int			count;
	int			capacity;
} BfItems;

extern int	bf_items_shard(const BfRemote *remote, int shards,
						   const BfElementType *element, Datum value);
extern void bf_items_add(BfItems *items, const BfRemote *remote,
						 const BfElementType *element, Datum value,
						 int source, bool ask);

extern uint32 bf_item_bits(BfItem *item, const BfRemote *remote,
						   uint32 layer, uint64 *bits);
extern void bf_items_forget(const BfRemote *remote, BfItem *item, int count);
extern bool bf_item_is_set(BfConnection *connection, redisReply **bit,
						   uint32 hashes);
extern bool bf_remote_contains(const BfRemote *remote, BfItems *items);
extern bool bf_remote_add(const BfRemote *remote, BfItems *items);

#endif							/* BLOOMEXT_ITEMS_H */
