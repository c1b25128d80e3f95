/*
 * layers.h
 *	  Operations on the layers of a live filter: storing, looking up and
 *	  counting elements.
 *
 * store.c stores hashed elements.  It leaves out what a layer already holds
 * (held.c), and where the newest layer is full (fill_sample.c), has another
 * one added (grow.c) for the rest.  Depending on cost, it uses
 *
 *	  pending.c		to append the hashes to a pending page, or
 *	  set_bits.c	to set their bits in ascending order of pages.
 *
 * A lookup reads the element's pending page in a layer, then bits (layer.c).
 * A hash only moves from a pending page to bits, and its bits are set before
 * it is removed from the page, so no lookup can miss one that moves.
 *
 * An element that no layer holds goes into the newest one, and stays in that
 * layer: if it is pending there, its bits are set there.  So a lookup that
 * reads the list of layers when it begins finds all elements that were added
 * before, whatever is added concurrently.  But each lookup must read the list
 * again.
 */
#ifndef BLOOMEXT_LAYERS_H
#define BLOOMEXT_LAYERS_H

#include "pages/page.h"
#include "pages/pair.h"

/* store.c */
extern void bf_live_store(Relation index, BfHashPair *pairs, size_t count);

/* held.c */
extern size_t bf_live_leave_out(Relation index, BfLive *live, uint32 first,
								uint32 end, BfHashPair *pairs, size_t count);

/* fill_sample.c */
extern uint64 bf_layer_sample(Relation index, BfLive *live,
							  const BfLiveLayer *layer);

/* grow.c */
extern bool bf_live_can_grow(const BfLive *live);
extern double bf_live_capacity(const BfLive *live);
extern bool bf_live_is_full(const BfLive *live, uint64 set);
extern size_t bf_live_room(Relation index, BfLive *live, size_t count);
extern size_t bf_live_extend(Relation index, BfLive *live, size_t count);
extern void bf_live_seal(Relation index, BfLive *live);

/* pending.c */
extern size_t bf_pending_add(Relation index, BfLive *live,
							 const BfLiveLayer *layer, BfHashPair *pairs,
							 size_t count);
extern bool bf_pending_contains(Relation index, BfLive *live,
								const BfLiveLayer *layer,
								const BfHashPair *pair);
extern uint32 bf_pending_count(Relation index, BfLive *live,
							   const BfLiveLayer *layer, BlockNumber page);
extern BfHashPair *bf_pending_copy(Relation index, BfLive *live,
								   const BfLiveLayer *layer, size_t *count);
extern void bf_pending_flush(Relation index, BfLive *live,
							 const BfLiveLayer *layer);

/* set_bits.c */
extern void bf_set_bits(Relation index, BfLive *live,
						const BfLiveLayer *layer, const BfHashPair *pairs,
						size_t count);

/* layer.c */

/* What a lookup in a filter examined first: a hint for the next one. */
typedef struct BfLookupHint
{
	RelFileLocator file;
	bool		grows;
	const BfStrategy *strategy; /* NULL: no lookup yet */
	BfLiveLayer layer;
} BfLookupHint;

extern void bf_layer_note_lookup(BfLookupHint *last, const BfLive *live);
extern void bf_layer_look_ahead(const BfLookupHint *last,
								const BfHashPair *pair);
extern void bf_layer_prefetch(const BfLive *live, const BfLiveLayer *layer,
							  const BfHashPair *pair);
extern bool bf_live_layer_contains(Relation index, BfLive *live,
								   const BfLiveLayer *layer,
								   const BfHashPair *pair);

/* sweep.c */
typedef struct BfSweep BfSweep;

extern BfSweep *bf_sweep_begin(Relation index, BfLive *live,
							   const BfLiveLayer *layer);
extern Buffer bf_sweep_next(BfSweep *sweep, BlockNumber *page);
extern void bf_sweep_end(BfSweep *sweep);

/* spool.c */
typedef struct BfSpool BfSpool;

/* The maximum number of bits of a part: positions in it have 32 bits. */
#define BF_PART_BITS	(UINT64CONST(1) << 32)

extern BfSpool *bf_spool_create(uint64 bits, uint64 part_bits);
extern void bf_spool_add(BfSpool *spool, const uint64 *positions,
						 uint32 count);
extern void bf_spool_rewind(BfSpool *spool);
extern size_t bf_spool_read(BfSpool *spool, uint32 part, uint32 *positions,
							size_t room);

/* keys.c */
typedef struct BfKeys
{
	uint64	   *keys;
	uint64	   *scratch;
	size_t		count;
} BfKeys;

extern void bf_keys_allocate(BfKeys *keys, size_t room);
extern void bf_keys_free(BfKeys *keys);
extern void bf_keys_sort(BfKeys *keys, int shift, uint64 maximum);

#endif							/* BLOOMEXT_LAYERS_H */
