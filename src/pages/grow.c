/*
 * grow.c
 *	  Add a layer to a live filter when the newest one is full.
 *
 * A sample of its pages (fill_sample.c) tells how full a layer is.  The
 * sample is not taken for each element but at random, about LOOKS times while
 * a layer fills, so that backends need not coordinate.  A batch of elements
 * is split into pieces, each at most a share of the remaining room, as other
 * backends may be about to use the same room.
 *
 * The backend that adds a layer holds the page lock on the metapage.  Where
 * another backend may hold that lock for long, to flush a large layer, we do
 * not wait for it, but over-fill the layer by one more piece.  For a small
 * layer we do wait: it has no pending pages to flush, and over-filling it
 * would soon raise the probability of false positives.
 *
 * The metapage is changed first, so that it is in WAL before any bit of the
 * new layer.  Then the backend that changed it flushes and seals the older
 * layers, after which lookups skip their pending pages.  Nothing is appended
 * to a sealed layer.  A backend that appends to a pending page checks, while
 * it holds the lock of that page, that the layer still is the newest in the
 * metapage (pending.c).  The flush locks each pending page after the metapage
 * was changed, and so finds all that was appended before.  If a crash
 * prevents sealing, VACUUM or the next backend that adds a layer seals them.
 *
 * When a layer is due, elements are first looked up in all existing layers
 * (store.c).  So a layer is added only for elements that none of these holds,
 * and never by VACUUM, which adds no elements.
 *
 * If no layer can be added, the newest one is over-filled; this is never an
 * error.
 */
#include "postgres.h"

#include "utils/sampling.h"

#include "core/estimate.h"
#include "pages/layers.h"

/* How often a layer is examined while it fills, approximately. */
#define LOOKS			256

/* The share of the remaining room that a batch may use at once. */
#define SHARE_OF_ROOM	32

/* Pieces that others may be adding while a layer is found to be full. */
#define MARGIN			16

/* The layer to follow the newest; false if there can be none. */
static bool
next_layer(const BfLive *live, BfLayer *next)
{
	BfError		error;

	return live->plan.header.expansion > 0 &&
		live->nlayers < BF_LIVE_LAYERS &&
		bf_plan_next_layer(&live->plan, &bf_newest_layer(live)->shape, next,
						   &error) &&
		bf_live_takes_layer(live->plan.strategy, next, bf_live_end(live));
}

/* Whether a filter can take another layer. */
bool
bf_live_can_grow(const BfLive *live)
{
	BfLayer		next;

	return next_layer(live, &next);
}

/* So few elements that the newest layer is not examined for them. */
static double
too_few(const BfLive *live)
{
	return Max((double) bf_newest_layer(live)->shape.expected / LOOKS, 1);
}

/* The number of elements in the newest layer at which another one is due. */
double
bf_live_capacity(const BfLive *live)
{
	const BfLayer *shape = &bf_newest_layer(live)->shape;
	uint64		full = bf_plan_capacity(&live->plan, shape);
	double		capacity = bf_estimate_count(full, shape->bits, shape->hashes);

	return capacity - Min(MARGIN * too_few(live), capacity / MARGIN);
}

/* The remaining room of the newest layer when `set` of its bits are set. */
static double
room_left_with(const BfLive *live, uint64 set)
{
	const BfLayer *shape = &bf_newest_layer(live)->shape;

	return bf_live_capacity(live) -
		bf_estimate_count(set, shape->bits, shape->hashes);
}

/* The remaining room of the newest layer, by an estimate of its bits. */
static double
room_left(Relation index, BfLive *live)
{
	return room_left_with(live, bf_layer_sample(index, live,
												bf_newest_layer(live)));
}

/* Whether the newest layer is full when `set` of its bits are set. */
bool
bf_live_is_full(const BfLive *live, uint64 set)
{
	return room_left_with(live, set) <= 0;
}

/*
 * Flush and seal all layers but the newest.  The caller holds the page lock on
 * the metapage, and has read the metapage since.
 */
void
bf_live_seal(Relation index, BfLive *live)
{
	bool		any = false;

	for (uint32 i = 0; i + 1 < live->nlayers; i++)
	{
		BfLiveLayer *layer = &live->layers[i];

		if (layer->sealed)
			continue;
		bf_pending_flush(index, live, layer);
		layer->sealed = any = true;
	}
	if (any)
		bf_meta_write(index, MAIN_FORKNUM, live);
}

/*
 * Add a layer if one is due; true if so.  The caller holds the page lock on
 * the metapage, and `live` is its content.
 */
static bool
add_layer(Relation index, BfLive *live)
{
	BfLayer		next;

	if (!next_layer(live, &next) || room_left(index, live) > 0)
		return false;
	bf_live_append_layer(live, &next);
	bf_file_extend(index, live);
	bf_meta_write(index, MAIN_FORKNUM, live);
	bf_live_seal(index, live);
	return true;
}

/* Report that a layer was added. */
static void
report_growth(Relation index, const BfLive *live)
{
	ereport(DEBUG1,
			(errmsg_internal("live filter \"%s\" has %u layers now; the newest is sized for %llu elements",
							 RelationGetRelationName(index), live->nlayers,
							 (unsigned long long) bf_newest_layer(live)->shape.expected)));
}

/*
 * How many of `count` elements the newest layer can take next, at least one; 0
 * if it is full and another layer is due.
 */
size_t
bf_live_room(Relation index, BfLive *live, size_t count)
{
	double		least = too_few(live);
	double		left;

	if (live->plan.header.expansion == 0 ||
		anl_random_fract() * least >= (double) count ||
		!bf_live_can_grow(live))
		return count;
	left = room_left(index, live);
	return left <= 0 ? 0 :
		(size_t) Min((double) count, Max(left / SHARE_OF_ROOM, least));
}

/*
 * Add the layer that is due for `count` elements, unless another backend has.
 * If another backend may hold the lock for long, do not wait: returns how many
 * elements the newest layer is to take nevertheless, else 0.
 */
size_t
bf_live_extend(Relation index, BfLive *live, size_t count)
{
	bool		grew;

	/* Without anything to flush, the lock is only held briefly. */
	if (!bf_live_lock(index, bf_newest_layer(live)->sealed, live))
		return (size_t) Min((double) count, too_few(live));
	grew = add_layer(index, live);
	bf_live_unlock(index);
	/* Not under the lock, as sending this can block. */
	if (grew)
		report_growth(index, live);
	return 0;
}
