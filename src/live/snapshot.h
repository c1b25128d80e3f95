/*
 * snapshot.h
 *	  Read a live filter's image.
 *
 * bf_snapshot_value() is all that code outside this folder needs.  Within it:
 *
 *	  BfLiveSnapshot snapshot;
 *	  BfLivePage page;
 *
 *	  bf_snapshot_begin(index, &snapshot);
 *	  pairs = bf_snapshot_pending(&snapshot, &count);
 *	  while (bf_snapshot_next(&snapshot, &page))
 *		  ... page.bytes are bytes page.offset ff. of the filter's bits
 *	  ... then set the bits of the pairs in the copy
 *	  bf_snapshot_end(&snapshot);
 *
 * The bits are in the order that a value stores them (core/bits.h); those of a
 * pair are at strategy->positions().
 *
 * What a filter holds of committed rows is in the image: bits and pending
 * hashes together.  Pending hashes must be asked for before the pages, or an
 * element could escape that moves from there to its bits.  The image may hold
 * rows that were not, or never, committed.  What this transaction inserted
 * itself is in the value, but in pages and pairs only if it was stored.
 */
#ifndef BLOOMEXT_SNAPSHOT_H
#define BLOOMEXT_SNAPSHOT_H

#include "storage/block.h"
#include "storage/buf.h"
#include "utils/relcache.h"

#include "live/pair.h"
#include "type/value.h"

typedef struct BfLiveSnapshot
{
	BfPlan		plan;
	Relation	index;
	BlockNumber next;			/* data page to be read */
	BufferAccessStrategy ring;	/* to read them by; NULL: they are few */
} BfLiveSnapshot;

/* Part of the bits; a page of zeros only is not handed out. */
typedef struct BfLivePage
{
	uint64		offset;			/* of the first byte, in the filter's bits */
	uint32		length;
	uint8		bytes[BLCKSZ];
} BfLivePage;

extern void bf_snapshot_begin(Oid index, BfLiveSnapshot *snapshot);
extern BfHashPair *bf_snapshot_pending(BfLiveSnapshot *snapshot,
									   size_t *count);
extern bool bf_snapshot_next(BfLiveSnapshot *snapshot, BfLivePage *page);
extern void bf_snapshot_end(BfLiveSnapshot *snapshot);
extern void bf_snapshot_value(Oid rel, BfValue *value);

#endif							/* BLOOMEXT_SNAPSHOT_H */
