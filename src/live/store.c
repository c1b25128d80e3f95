/*
 * store.c
 *	  Store hashed elements, by the way that costs least.
 *
 * To set the bits of one element touches k pages.  Where a batch is so small,
 * or the filter so large, that it would touch most of its pages for a single
 * bit each, the elements wait on pending pages for company; a batch that sets
 * several bits on each page goes to the pages directly, and so does everything
 * in a small filter, which has no pending pages.
 */
#include "postgres.h"

#include "live/live.h"

/* Store hashes; the array may be reordered. */
void
bf_live_store(Relation index, BfHashPair *pairs, size_t count)
{
	const BfLiveLayer *newest;
	BfLive		live;

	bf_live_open(index, &live);
	newest = bf_newest_layer(&live);
	if (newest->pending > 0 && count * newest->shape.hashes < newest->pages)
		count = bf_pending_add(index, &live, newest, pairs, count);
	bf_direct_add(index, &live, newest, pairs, count);
}
