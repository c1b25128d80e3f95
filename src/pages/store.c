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
 *
 * What a layer before the newest has already is not stored again.  Else rows that
 * are updated, or gone through again by a concurrent build, would fill one layer
 * after the other.  Whether the newest has it is asked only where it is full, as
 * otherwise to set bits anew costs less; a layer is added for what is left then.
 */
#include "postgres.h"

#include "pages/layers.h"

/* What is still to be stored. */
typedef struct Batch
{
	Relation	index;
	BfLive		live;
	BfHashPair *pairs;
	size_t		count;
	uint32		layers;			/* the first of them, which have none of these */
} Batch;

/* Leave out what one of the first layers has, as far as they were not asked. */
static void
leave_out(Batch *batch, uint32 layers)
{
	batch->count = bf_live_leave_out(batch->index, &batch->live,
									 batch->layers, layers,
									 batch->pairs, batch->count);
	batch->layers = Max(batch->layers, layers);
}

/*
 * Leave out what is there already, and find how many hashes the newest layer is
 * to take next; 0 if none is left, or another layer was added.
 */
static size_t
next_piece(Batch *batch)
{
	BfLive	   *live = &batch->live;
	size_t		taken;

	bf_live_open(batch->index, live);
	leave_out(batch, live->nlayers - 1);
	taken = bf_live_room(batch->index, live, batch->count);
	if (taken > 0)
		return taken;
	leave_out(batch, live->nlayers);
	return batch->count == 0 ? 0 :
		bf_live_extend(batch->index, live, batch->count);
}

/* Store hashes in the newest layer. */
static void
store_piece(Batch *batch, size_t count)
{
	const BfLiveLayer *newest = bf_newest_layer(&batch->live);
	size_t		left = count;

	if (!newest->sealed && left * newest->shape.hashes < newest->pages)
		left = bf_pending_add(batch->index, &batch->live, newest,
							  batch->pairs, left);
	bf_direct_add(batch->index, &batch->live, newest, batch->pairs, left);
}

/* Store hashes; the array is used for other things, too. */
void
bf_live_store(Relation index, BfHashPair *pairs, size_t count)
{
	Batch		batch = {.index = index,.pairs = pairs,.count = count};

	while (batch.count > 0)
	{
		size_t		taken = next_piece(&batch);

		if (taken > 0)
			store_piece(&batch, taken);
		batch.pairs += taken;
		batch.count -= taken;
	}
}
