/*
 * store.c
 *	  Store hashed elements, by the way that costs least.
 *
 * To set the bits of one element touches k pages.  Where a batch is so small,
 * or the filter so large, that it would touch most of its pages for a single
 * bit each, the elements wait on pending pages for company; a batch that sets
 * several bits on each page goes to the pages directly, and so does everything
 * in a small filter, which has no pending pages.
 *
 * Where a filter grows, a batch may be more than its newest layer has room for:
 * it goes in pieces, each to the layer that is the newest by then.
 */
#include "postgres.h"

#include "live/live.h"

/* Store hashes in the newest layer; returns how many, the first of them. */
static size_t
store_piece(Relation index, BfHashPair *pairs, size_t count)
{
	const BfLiveLayer *newest;
	BfLive		live;
	size_t		taken;
	size_t		left;

	bf_live_open(index, &live);
	taken = left = bf_live_room(index, &live, count);
	newest = bf_newest_layer(&live);
	if (!newest->sealed && left * newest->shape.hashes < newest->pages)
		left = bf_pending_add(index, &live, newest, pairs, left);
	bf_direct_add(index, &live, newest, pairs, left);
	return taken;
}

/* Store hashes; the array may be reordered. */
void
bf_live_store(Relation index, BfHashPair *pairs, size_t count)
{
	while (count > 0)
	{
		size_t		taken = store_piece(index, pairs, count);

		pairs += taken;
		count -= taken;
	}
}
