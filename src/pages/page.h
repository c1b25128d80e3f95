/*
 * page.h
 *	  The file of a live filter: its pages, the layers that they form, and how
 *	  they are found, read, locked and logged.
 *
 * A live filter is an index that holds the bits of a Bloom filter and nothing
 * else.  Its file consists of these blocks:
 *
 *	  0			the metapage: the shape of the filter, fixed when built, except
 *				for the layers that were added
 *	  1 ..		the pages of the first layer, followed by those of each further
 *				layer:
 *				pending pages: hashes of elements whose bits are not set yet
 *				data pages: the bits, in the order in which a value stores them
 *
 * A block that the file does not have, or that is all zeros, is empty: pages
 * are created when they are first written to.
 *
 * Locks: pages are locked in ascending order, at most BF_RECORD_PAGES of them
 * at a time, a pending page never together with data pages.  A backend that
 * moves entries from pending pages, or changes the metapage after the build,
 * holds the heavyweight page lock on the metapage, and reads the metapage
 * while holding it.
 */
#ifndef BLOOMEXT_PAGE_H
#define BLOOMEXT_PAGE_H

#include "access/transam.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "compat.h"
#include "type/parts.h"

/* At the end of each page; the last two bytes are for pg_filedump. */
typedef struct BfPageTail
{
	uint32		kind;
	uint16		unused;
	uint16		page_id;
} BfPageTail;

#define BF_PAGE_ID		0xFF8B

/* The format of all pages of a file, in its metapage; 1 and 2 had one layer. */
#define BF_LIVE_FORMAT	3

typedef enum BfPageKind
{
	BF_PAGE_META = 1,
	BF_PAGE_PENDING = 2,
	BF_PAGE_DATA = 3
} BfPageKind;

/* The room on a page: bytes, bits of the filter, pending hashes. */
#define BF_PAGE_BYTES \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(BfPageTail)))
#define BF_PAGE_BITS	((uint64) BF_PAGE_BYTES * 8)
#define BF_PAGE_PAIRS	(BF_PAGE_BYTES / sizeof(BfHashPair))

/* Whether a block that starts at a multiple of its bytes is on one page. */
#define BF_PAGE_HAS_WHOLE(bytes)	(BF_PAGE_BYTES % (bytes) == 0)

#define BF_META_BLOCK		0
#define BF_FIRST_BLOCK		1	/* of the first layer */

/* The maximum number of layers, for which small metapages have room. */
#define BF_LIVE_LAYERS		Min(64, BLCKSZ / 64)

/* A layer: a range of blocks, first the pending pages, then the data pages. */
typedef struct BfLiveLayer
{
	BfLayer		shape;
	BlockNumber start;			/* its first block */
	BlockNumber pending;		/* pending pages */
	BlockNumber pages;			/* data pages */
	bool		sealed;			/* nothing is pending, now or later */
} BfLiveLayer;

/* A live filter, as the relation cache keeps it. */
typedef struct BfLive
{
	RelFileLocator file;		/* of the index */
	bool		complete;		/* has the file all its blocks? */
	bool		pruned_early;	/* may it lack rows that a snapshot sees? */
	FullTransactionId horizon;	/* complete from here on; invalid: always */
	FullTransactionId validated;	/* by a snapshot of this xmax; or invalid */
	uint32		validated_running;	/* transactions that it saw running */
	FullTransactionId emptied_by;	/* complete if this committed, or invalid */
	RelFileLocator emptied_with;	/* the file that the table had then */
	BfPlan		plan;			/* of the first layer */
	BfElementType element;		/* of the operator class, or a bytea of parts */
	BfParts		parts;			/* of the columns, if there are several */
	BufferAccessStrategy ring;	/* to read pages, or NULL */
	uint32		growth;			/* layers added and sealed */
	uint32		nlayers;
	BfLiveLayer layers[BF_LIVE_LAYERS];	/* the newest comes last */
} BfLive;

/* The number of data pages that an element has bits on. */
static inline uint32
bf_pages_an_element(const BfLive *live, const BfLiveLayer *layer)
{
	return live->plan.strategy->blocks != NULL ? 1 : layer->shape.hashes;
}

/* The maximum number of pages in a WAL record, by generic_redo(). */
#define BF_RECORD_PAGES	4

/* wal.c */
extern bool bf_needs_wal(Relation index);
extern void bf_record_begin(Relation index);
extern void bf_record_page(Buffer buffer, BfPageKind kind);
extern void bf_record_write(uint32 offset, const void *bytes, uint32 length);
extern bool bf_record_is_empty(void);
extern bool bf_record_is_full(void);
extern void bf_record_finish(void);

/* buffer_hints.c */
extern Buffer bf_buffer_hint_pin(Relation index, BlockNumber block);
extern Buffer bf_buffer_hint_read(Relation index, BlockNumber block,
								  BufferAccessStrategy ring);
extern const char *bf_buffer_hint_prefetch(RelFileLocator file,
										   BlockNumber block, uint32 offset);

/* page.c */
extern void bf_page_init(Page page, BfPageKind kind);
extern bool bf_page_check(Relation index, Buffer buffer, BfPageKind kind);
pg_noreturn extern void bf_page_corrupted(Relation index, BlockNumber block);
extern Buffer bf_page_pin(Relation index, BfLive *live, BlockNumber block,
						  BfPageKind kind);
extern void bf_page_prefetch(RelFileLocator file, BlockNumber block,
							 uint32 offset);
extern Buffer bf_page_for_read(Relation index, BfLive *live, BlockNumber block,
							   BfPageKind kind);
extern BlockNumber bf_file_end(Relation index, BfLive *live);
extern void bf_file_extend_to(Relation index, BlockNumber blocks);
extern void bf_file_extend(Relation index, BfLive *live);
extern Buffer bf_page_for_write(Relation index, const BfLive *live,
								BlockNumber block, BfPageKind kind);
extern void bf_live_note_complete(Relation index, BfLive *live);

/* extent.c */
extern bool bf_file_has_room(uint64 bits, BlockNumber start);
extern void bf_live_lay_out(BfLiveLayer *layer, const BfLayer *shape,
							BlockNumber start);
extern void bf_live_plan(BfLive *live, const BfPlan *plan, const BfParts *parts);
extern void bf_live_append_layer(BfLive *live, const BfLayer *shape);
extern uint64 bf_live_most_bits(const BfStrategy *strategy);
extern bool bf_live_takes_layer(const BfStrategy *strategy,
								const BfLayer *shape, BlockNumber start);
extern uint64 bf_live_parts(uint64 size, uint64 most);
extern char *bf_live_divided(Relation index, uint64 expected, double fpp,
							 uint64 parts);

/* meta.c */
extern bool bf_live_has_known_format(Relation index);
extern BfPlan bf_live_value_plan(const BfLive *live, BfLayer *layers);
extern bool bf_live_is_built(Relation index);
extern void bf_meta_prefetch(RelFileLocator file);
extern bool bf_live_is_current(Relation index, const BfLive *live);
extern BfLive *bf_live_kept(Relation index);
extern BfLive *bf_live_current(Relation index);
extern void bf_live_open(Relation index, BfLive *live);
extern bool bf_live_lock(Relation index, bool wait, BfLive *live);
extern void bf_live_unlock(Relation index);
extern void bf_live_forget(Relation index);
extern void bf_meta_write(Relation index, ForkNumber fork, BfLive *live);

/* The layer that takes new elements. */
static inline const BfLiveLayer *
bf_newest_layer(const BfLive *live)
{
	return &live->layers[live->nlayers - 1];
}

/* The block of a data page. */
static inline BlockNumber
bf_data_block(const BfLiveLayer *layer, BlockNumber page)
{
	return layer->start + layer->pending + page;
}

/* The block after the last one of the filter, if its file has full length. */
static inline BlockNumber
bf_live_end(const BfLive *live)
{
	const BfLiveLayer *newest = bf_newest_layer(live);

	return bf_data_block(newest, newest->pages);
}

#endif							/* BLOOMEXT_PAGE_H */
