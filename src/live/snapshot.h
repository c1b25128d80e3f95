/*
 * snapshot.h
 *	  Read a live filter's image, or what changed of it since another time.
 *
 * This is all that code outside this folder may know of live filters.  To
 * mirror one:
 *
 *	  BfLiveSnapshot snapshot;
 *	  BfLivePage page;
 *
 *	  bf_snapshot_begin(rel, &snapshot);
 *	  since = [same identity as last time] ? last.horizon : InvalidXLogRecPtr;
 *	  pairs = bf_snapshot_pending(&snapshot, since, &count);
 *	  while (bf_snapshot_next(&snapshot, since, &page))
 *		  ... page.bytes are bytes page.offset ff. of the filter's bits
 *	  ... then set the bits of the pairs in the copy
 *	  bf_snapshot_end(&snapshot);
 *
 * and to keep snapshot.identity and snapshot.horizon for the next time, if
 * snapshot.has_horizon.  The bits are in the order that a value stores them
 * (core/bits.h); those of a pair are at strategy->positions().
 *
 * What a filter holds of committed rows is in the image: bits and pending
 * hashes together.  Pending hashes must be asked for before the pages, or an
 * element could escape that moves from there to its bits.  The image may hold
 * rows that were not, or never, committed.  What this transaction inserted
 * itself is only in it if it was committed.
 *
 * The horizon is the position up to which WAL was safely on disk, or replayed,
 * before the first page was read.  A page whose LSN is not above it has not
 * changed since, as long as the identity is the same; the position up to which
 * WAL was merely written would not do: a crash may use it twice.  Pages of
 * unlogged and temporary indexes have no LSN to tell, nor have those of an
 * index made by this transaction where wal_level is minimal: has_horizon is
 * false, and everything has to be sent each time.
 */
#ifndef BLOOMEXT_SNAPSHOT_H
#define BLOOMEXT_SNAPSHOT_H

#include "access/xlogdefs.h"
#include "storage/block.h"
#include "utils/relcache.h"

#include "type/hashlist.h"

/* Which bits a horizon is about.  All bytes are defined: compare by memcmp. */
typedef struct BfLiveIdentity
{
	uint64		system;			/* the cluster's system identifier */
	uint32		timeline;
	uint32		database;
	uint32		file;			/* relfilenode: another after each rebuild */
	uint32		index;			/* OID */
} BfLiveIdentity;

typedef struct BfLiveSnapshot
{
	BfLiveIdentity identity;
	bool		has_horizon;
	XLogRecPtr	horizon;

	/* What the filter is: all that it takes to make a value, or a key. */
	BfHeader	header;
	BfLayer		layer;

	Relation	index;
	BlockNumber next;			/* data page to be read */
} BfLiveSnapshot;

/* Part of the bits; a page of zeros only is not handed out. */
typedef struct BfLivePage
{
	uint64		offset;			/* of the first byte, in the filter's bits */
	uint32		length;
	uint8		bytes[BLCKSZ];
} BfLivePage;

extern void bf_snapshot_begin(Oid rel, BfLiveSnapshot *snapshot);
extern void bf_snapshot_begin_index(Oid oid, BfLiveSnapshot *snapshot);
extern BfHashPair *bf_snapshot_pending(BfLiveSnapshot *snapshot,
									   XLogRecPtr since, size_t *count);
extern bool bf_snapshot_next(BfLiveSnapshot *snapshot, XLogRecPtr since,
							 BfLivePage *page);
extern void bf_snapshot_end(BfLiveSnapshot *snapshot);
extern void bf_snapshot_value(Oid rel, BfValue *value);

#endif							/* BLOOMEXT_SNAPSHOT_H */
