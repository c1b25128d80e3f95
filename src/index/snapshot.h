/*
 * snapshot.h
 *	  Read the contents of a live filter.
 *
 * bf_snapshot_value() is all that code outside this folder needs.  It reads an
 * index as follows:
 *
 *	  bf_snapshot_begin(index, &snapshot);
 *	  for each layer, from 0 to snapshot.plan.header.layers - 1:
 *		  pairs = bf_snapshot_layer(&snapshot, layer, &count);
 *		  while (bf_snapshot_next(&snapshot, &page))
 *			  copy page.bytes to the layer's bits, at byte page.offset
 *		  set the bits of the pairs in the copy
 *	  bf_snapshot_end(&snapshot);
 *
 * The bits are in the order in which a value stores them (core/bits.h).  The
 * bits of a pair are those at the positions that strategy->positions()
 * returns.
 *
 * All elements of committed rows are included, either in bits or in pending
 * hashes.  Only the layers that exist at the beginning are read: what others
 * add to later ones was not committed then.  A pending hash gets its bits in
 * its own layer.  So the pending hashes of a layer must be read before its
 * pages, or an element that moves from its pending hashes to its bits in
 * between could be missed.  Rows that are not committed, or never will be,
 * may be included.  What this transaction inserted itself is in the value
 * that bf_snapshot_value() makes, but in pages and pairs only if it was
 * stored already.
 */
#ifndef BLOOMEXT_SNAPSHOT_H
#define BLOOMEXT_SNAPSHOT_H

#include "storage/block.h"
#include "utils/relcache.h"

#include "pages/pair.h"
#include "type/value.h"

typedef struct BfLiveSnapshot
{
	BfPlan		plan;			/* with all its layers */
	Relation	index;
	struct BfLive *live;		/* as it was at the beginning */
	const struct BfLiveLayer *layer;	/* being read */
	struct BfSweep *sweep;		/* over its data pages */
} BfLiveSnapshot;

/* A part of the bits of a layer; pages of zeros are skipped. */
typedef struct BfLivePage
{
	uint64		offset;			/* of the first byte, in the layer's bits */
	uint32		length;
	uint8		bytes[BLCKSZ];
} BfLivePage;

extern void bf_snapshot_begin(Oid index, BfLiveSnapshot *snapshot);
extern BfHashPair *bf_snapshot_layer(BfLiveSnapshot *snapshot, uint32 layer,
									 size_t *count);
extern bool bf_snapshot_next(BfLiveSnapshot *snapshot, BfLivePage *page);
extern void bf_snapshot_end(BfLiveSnapshot *snapshot);
extern void bf_snapshot_check_shard(Oid rel, int shards, int number);
extern void bf_snapshot_value(Oid rel, bool for_redis, BfValue *value);

#endif							/* BLOOMEXT_SNAPSHOT_H */
