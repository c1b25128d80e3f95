/*
 * snapshot.h
 *	  Read the contents of a live filter.
 *
 * bf_snapshot_value() is all that code outside this folder needs.  Within it:
 *
 *	  BfLiveSnapshot snapshot;
 *	  BfLivePage page;
 *
 * bf_snapshot_begin(index, &snapshot); for each of
 * snapshot.plan.header.layers: pairs = bf_snapshot_layer(&snapshot, layer,
 * &count); while (bf_snapshot_next(&snapshot, &page)) ... page.bytes are bytes
 * page.offset ff. of the layer's bits ... then set the bits of the pairs in
 * the copy bf_snapshot_end(&snapshot);
 *
 * The bits are in the order in which a value stores them (core/bits.h); those
 * of a pair are at strategy->positions().
 *
 * All elements of committed rows are included: in bits and pending hashes
 * together.  The layers are those at the beginning: what others add to later
 * ones was not committed then.  A pending hash gets its bits in its own layer;
 * so the pending hashes of a layer must be read before its pages, or an
 * element that moves from there to its bits could be missed.  Rows that are
 * not, or never, committed may be included.  What this transaction inserted
 * itself is in the value, but in pages and pairs only if it was stored.
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
