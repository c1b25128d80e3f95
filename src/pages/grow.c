/*
 * grow.c
 *	  Add a layer to a live filter when the newest one is full.
 *
 * Whether it is, its bits say, of which some pages are looked at (fill_sample.c): not
 * for each element, but at random, so that backends need not know of each
 * other, and some LOOKS times while a layer fills.  Elements beyond count, too:
 * those of a batch go in pieces, none of them larger than a share of the room
 * that is left, as others may be about to fill it, too.
 *
 * A layer is added by the one who holds the page lock on the metapage.  Where
 * somebody may hold it for long, to flush a large layer, nobody waits for it: who
 * does not get it over-fills that layer by one piece more.  A small layer has no
 * pending pages, but is soon over-filled by much: there we wait.
 *
 * First comes the metapage: it is in WAL before any bit of the new layer is.
 * Then the layers before are flushed and sealed: lookups need not look at their
 * pending pages any more.  That is for good, since nobody appends to a pending
 * page but after asking the metapage, with that page locked, whether its layer
 * is the newest yet (pending.c); a flush looks at each pending page after the
 * metapage was changed.  If it does not come to that, as in a crash, the
 * next one that adds a layer seals them, or VACUUM.
 *
 * What is stored when a layer is due is first looked for in all that there are
 * (store.c): one is added for elements that none of them has, and by nobody who has
 * none, as VACUUM.
 *
 * Where no layer can be added, the newest is over-filled: never is that an error.
 */
#include "postgres.h"

#include "utils/sampling.h"

#include "core/estimate.h"
#include "pages/layers.h"

/* How often a layer is looked at while it fills, about. */
#define LOOKS			256

/* What part of the room left a batch may take at once. */
#define SHARE_OF_ROOM	32

/* Pieces that others may be adding while a layer is found to have no room. */
#define MARGIN			16

/* The layer that is to follow the newest; false if none can. */
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

/* Elements that are too few to look how full the newest layer is. */
static double
too_few(const BfLive *live)
{
	return Max((double) bf_newest_layer(live)->shape.expected / LOOKS, 1);
}

/* Elements that the newest layer takes before another one is due. */
double
bf_live_capacity(const BfLive *live)
{
	const BfLayer *shape = &bf_newest_layer(live)->shape;
	uint64		full = bf_plan_capacity(&live->plan, shape);
	double		capacity = bf_estimate_count(full, shape->bits, shape->hashes);

	return capacity - Min(MARGIN * too_few(live), capacity / MARGIN);
}

/* How many more it takes, with so many bits set. */
static double
room_with(const BfLive *live, uint64 set)
{
	const BfLayer *shape = &bf_newest_layer(live)->shape;

	return bf_live_capacity(live) -
		bf_estimate_count(set, shape->bits, shape->hashes);
}

/* The same, with as many as there are. */
static double
room(Relation index, BfLive *live)
{
	return room_with(live, bf_layer_sample(index, live,
										   bf_newest_layer(live)));
}

/* Whether the newest layer is full, with so many bits set. */
bool
bf_live_is_full(const BfLive *live, uint64 set)
{
	return room_with(live, set) <= 0;
}

/*
 * Flush and seal all layers but the newest.  The caller holds the page lock on
 * the metapage, and knows what that says.
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
 * Add a layer if one is due; true if so.  The caller holds the page lock on the
 * metapage; live is what that says, and will be.
 */
static bool
add_layer(Relation index, BfLive *live)
{
	BfLayer		next;

	if (!next_layer(live, &next) || room(index, live) > 0)
		return false;
	bf_live_append_layer(live, &next);
	bf_file_extend(index, live);
	bf_meta_write(index, MAIN_FORKNUM, live);
	bf_live_seal(index, live);
	return true;
}

/* Say that a layer was added. */
static void
report_growth(Relation index, const BfLive *live)
{
	ereport(DEBUG1,
			(errmsg_internal("live filter \"%s\" has %u layers now; the newest is sized for %llu elements",
							 RelationGetRelationName(index), live->nlayers,
							 (unsigned long long) bf_newest_layer(live)->shape.expected)));
}

/*
 * How many of so many elements the newest layer may take next, at least one of
 * them; 0 if it is full, and another one is due.
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
	left = room(index, live);
	return left <= 0 ? 0 :
		(size_t) Min((double) count, Max(left / SHARE_OF_ROOM, least));
}

/*
 * Add the layer that is due for so many elements, unless others did meanwhile.
 * Where somebody may hold the lock for long, the newest is to take some of them
 * nevertheless: returns how many.
 */
size_t
bf_live_extend(Relation index, BfLive *live, size_t count)
{
	bool		grew;

	/* Nobody holds the lock for long where nothing is to be flushed. */
	if (!bf_live_lock(index, bf_newest_layer(live)->sealed, live))
		return (size_t) Min((double) count, too_few(live));
	grew = add_layer(index, live);
	bf_live_unlock(index);
	/* Not before, as a client may take its time to read that. */
	if (grew)
		report_growth(index, live);
	return 0;
}
