/*
 * store.c
 *	  Store hashed elements in the cheapest way.
 *
 * Setting the bits of an element changes k pages, or one page if the strategy
 * has blocks.  If a batch is so small, or the filter so large, that most
 * pages would be changed for a single bit each, the elements are added to the
 * pending pages.  A batch that sets several bits per page goes to the data
 * pages directly, and so does any batch in a small filter, which has no
 * pending pages.
 *
 * If a filter grows, a batch may exceed the room of its newest layer.  Then
 * it is stored in pieces, each in the layer that is the newest at that time.
 *
 * What an older layer already holds is not stored again.  Otherwise rows that
 * are updated, or inserted again by a concurrent build, would fill one layer
 * after another.  The newest layer is searched only if it is full, as setting
 * bits again is cheaper otherwise; a layer is added for the remaining
 * elements.
 */
#include "postgres.h"

#include "pages/layers.h"

/* The elements still to be stored. */
typedef struct Batch
{
	Relation	index;
	BfLive		live;
	BfHashPair *pairs;
	size_t		count;
	uint32		layers;			/* the first layers, which hold none of them */
} Batch;

/* Leave out what those of the first layers hold that were not searched yet. */
static void
leave_out(Batch *batch, uint32 layers)
{
	batch->count = bf_live_leave_out(batch->index, &batch->live,
									 batch->layers, layers,
									 batch->pairs, batch->count);
	batch->layers = Max(batch->layers, layers);
}

/*
 * Leave out what is already held, and determine how many hashes the newest
 * layer is to take next; 0 if none is left, or another layer was added.
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

	if (!newest->sealed &&
		left * bf_pages_an_element(&batch->live, newest) < newest->pages)
		left = bf_pending_add(batch->index, &batch->live, newest,
							  batch->pairs, left);
	bf_set_bits(batch->index, &batch->live, newest, batch->pairs, left);
}

/* Store hashes; the array is overwritten. */
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
