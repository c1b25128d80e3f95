/*
 * live.h
 *	  What the files of the live filter share: its pages and its layers.
 *
 * A live filter is an index that holds a bloom filter's bits and nothing else.
 * Its file is, in blocks:
 *
 *	  0			the metapage: the filter's shape, frozen when it was built, but
 *				for the layers that it grew by
 *	  1 ..		the first layer's pages, and after them those of each further
 *				layer:
 *				pending pages: hashes of elements whose bits are not set yet
 *				data pages: the bits, in the order that a value stores them
 *
 * A block that the file does not have, or that is all zeros, is an empty one:
 * pages come into being when they are first written to.
 *
 * An element on its way in passes the layers of this folder from above:
 *
 *	  insert.c		hashes it
 *	  deferred.c	keeps the hash until the transaction commits, or many came
 *	  origin.c		  and knows where the file is by then that the row went into
 *	  store.c		leaves out what there is already (held.c), and has a
 *	  grow.c		  layer added for the rest where the newest is full (fill.c);
 *					chooses by cost between
 *	  pending.c		  appending the hash to a pending page, and
 *	  direct.c		  setting its bits in ascending order of pages
 *	  wal.c			changes pages and writes that to WAL
 *	  meta.c		knows what the filter is, from its metapage
 *	  extent.c		  and where its layers lie
 *	  page.c		finds, checks and locks pages
 *	  recent.c		  where they were last
 *
 * A lookup asks in the order deferred, pending, bits (layer.c).  Entries move
 * in that direction, and are where they go to before they leave where they
 * were, so that no lookup can miss one on the move.
 *
 * Before that it asks what its "no" would be worth:
 *
 *	  known.c		is it known already
 *	  resolve.c		which filters the relation stands for that was named?
 *	  subject.c		what are they of?
 *	  rows.c		are the rows of all its tables where their filters are?
 *	  rights.c		may this be told?
 *	  sure.c		does a filter know every row that this snapshot can see?
 *	  epoch.c		and for how long may that be believed?
 *
 * Query plans ask by a gate before a scan of the table: gate.c plans it,
 * gate_scan.c runs it, and gate_pays.c says when that pays.
 *
 * VACUUM (vacuum.c), builds (build.c) and monitors (monitor.c) tell what is due
 * (due.c).  Who wants all of a filter has its image (snapshot.c), page by page
 * (sweep.c).
 *
 * An element that no layer has goes into the newest, and stays in the layer that
 * it went into: if it waits there, it gets its bits there.  So who knows a list of
 * layers, in which he was to look for an element, will find it in these, whatever
 * others add.  But which layers there are must be asked anew for each question.
 *
 * Locks: pages are locked in ascending order, at most BF_RECORD_PAGES of them
 * at a time, a pending page never together with data pages.  Whoever moves
 * entries from pending pages, or changes the metapage after the build, holds the
 * heavyweight page lock on the metapage, and reads it with that lock held.
 */
#ifndef BLOOMEXT_LIVE_H
#define BLOOMEXT_LIVE_H

#include "access/amapi.h"
#include "access/transam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/rel.h"

#include "compat.h"
#include "core/estimate.h"
#include "live/pair.h"
#include "type/elements.h"

/* At the end of each page; the last two bytes are for pg_filedump. */
typedef struct BfPageTail
{
	uint32		kind;
	uint16		unused;
	uint16		page_id;
} BfPageTail;

#define BF_PAGE_ID		0xFF8B

/* Of all pages of a file, as its metapage says; 1 and 2 had one layer. */
#define BF_LIVE_FORMAT	3

typedef enum BfPageKind
{
	BF_PAGE_META = 1,
	BF_PAGE_PENDING = 2,
	BF_PAGE_DATA = 3
} BfPageKind;

/* What a page has room for: bytes, bits of the filter, pending hashes. */
#define BF_PAGE_BYTES \
	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(BfPageTail)))
#define BF_PAGE_BITS	((uint64) BF_PAGE_BYTES * 8)
#define BF_PAGE_PAIRS	(BF_PAGE_BYTES / sizeof(BfHashPair))

#define BF_META_BLOCK		0
#define BF_FIRST_BLOCK		1	/* of the first layer */

/* Layers that a filter has at most: what small metapages have room for. */
#define BF_LIVE_LAYERS		Min(64, BLCKSZ / 64)

/* A layer: a range of blocks, first the pending pages, then the data pages. */
typedef struct BfLiveLayer
{
	BfLayer		shape;
	BlockNumber start;			/* its first block */
	BlockNumber pending;		/* pending pages */
	BlockNumber pages;			/* data pages */
	bool		sealed;			/* nothing is pending, nor ever will be */
} BfLiveLayer;

/* What a live filter is, as the relation cache keeps it. */
typedef struct BfLive
{
	RelFileLocator file;		/* that this is of */
	bool		complete;		/* has the file all its blocks? */
	bool		pruned_early;	/* did the build miss what a snapshot may see? */
	FullTransactionId horizon;	/* complete from here on; none: always */
	FullTransactionId validated;	/* by a snapshot of this xmax; none: no need */
	uint32		validated_running;	/* transactions that it saw running */
	FullTransactionId emptied_by;	/* complete if this committed; none: yes */
	RelFileLocator emptied_with;	/* the file that the table had then */
	BfPlan		plan;			/* of the first layer */
	BfElementType element;		/* of the operator class */
	BufferAccessStrategy ring;	/* to read pages by, or NULL */
	uint32		growth;			/* layers added and sealed */
	uint32		nlayers;
	BfLiveLayer layers[BF_LIVE_LAYERS];	/* the newest comes last */
} BfLive;

/* Index options: WITH (...). */
typedef struct BfLiveOptions
{
	int32		vl_len_;
	double		expected;		/* 0: as many as there are */
	double		fpp;
	int			expansion;		/* -1: as expected says */
	int			strategy;		/* offset of a string */
	int			funnel;			/* offset of a string */
	bool		plans;			/* may plans ask it? */
	double		absent;			/* share of their questions; -1: unknown */
} BfLiveOptions;

#define BF_LIVE_STRATEGY	"guava"
/*
 * Where the options do not say: a filter that is asked whether a row is there
 * loses what it calls there, so it is asked for less than Guava's 0.03.
 */
#define BF_LIVE_FPP		0.0001
#define BF_LIVE_EXPANSION	3		/* the same, if not how many are expected */
#define BF_MOST_EXPECTED	9007199254740992.0	/* 2^53: whole in a float8 */

/* Phases of a build, as pg_stat_progress_create_index shows them. */
#define BF_PHASE_SCAN	2
#define BF_PHASE_FILL	3
#define BF_PHASE_WRITE	4

/* Pages that one WAL record can change: generic_redo has room for no more. */
#define BF_RECORD_PAGES	4

/* handler.c */
extern void bf_live_init(void);
extern const BfStrategy *bf_live_strategy(Relation index);
extern BfFunnel bf_live_funnel(Relation index, const BfStrategy *strategy,
							   const BfElementType *element);

extern bool bf_live_is_for_plans(Relation index);
extern double bf_live_absent(Relation index);

extern bool bf_is_live_filter(Relation index);
extern bool bf_is_partial(Relation index);

/* epoch.c */
extern void bf_epoch_init(void);
extern uint64 bf_epoch(void);
extern uint64 bf_definitions(void);

/* recent.c */
extern Buffer bf_recent_pin(Relation index, BlockNumber block);
extern Buffer bf_recent_read(Relation index, BlockNumber block,
							 BufferAccessStrategy ring);
extern const char *bf_recent_prefetch(RelFileLocator file, BlockNumber block,
									  uint32 offset);

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

/* extent.c */
extern bool bf_file_has_room(uint64 bits, BlockNumber start);
extern void bf_live_lay_out(BfLiveLayer *layer, const BfLayer *shape,
							BlockNumber start);
extern void bf_live_plan(BfLive *live, const BfPlan *plan);
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
extern void bf_live_note_complete(Relation index, BfLive *live);
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

/* The block after the last one that a filter may have. */
static inline BlockNumber
bf_live_end(const BfLive *live)
{
	const BfLiveLayer *newest = bf_newest_layer(live);

	return bf_data_block(newest, newest->pages);
}

/* sweep.c */
typedef struct BfSweep BfSweep;

extern BfSweep *bf_sweep_begin(Relation index, BfLive *live,
							   const BfLiveLayer *layer);
extern Buffer bf_sweep_next(BfSweep *sweep, BlockNumber *page);
extern void bf_sweep_end(BfSweep *sweep);

/* wal.c */
extern bool bf_needs_wal(Relation index);
extern void bf_record_begin(Relation index);
extern void bf_record_page(Buffer buffer, BfPageKind kind);
extern void bf_record_write(uint32 offset, const void *bytes, uint32 length);
extern bool bf_record_is_empty(void);
extern bool bf_record_is_full(void);
extern void bf_record_finish(void);

/* parts.c */
typedef struct BfParts BfParts;

/* The most bits of a part: positions in it have 32. */
#define BF_PART_BITS	(UINT64CONST(1) << 32)

extern BfParts *bf_parts_create(uint64 bits, uint64 part_bits);
extern void bf_parts_add(BfParts *parts, const uint64 *positions,
						 uint32 count);
extern void bf_parts_rewind(BfParts *parts);
extern size_t bf_parts_read(BfParts *parts, uint32 part, uint32 *positions,
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

/* direct.c */
extern void bf_direct_add(Relation index, BfLive *live,
						  const BfLiveLayer *layer, const BfHashPair *pairs,
						  size_t count);

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

/* held.c */
extern size_t bf_live_leave_out(Relation index, BfLive *live, uint32 first,
								uint32 end, BfHashPair *pairs, size_t count);

/* fill.c */
extern uint64 bf_layer_sample(Relation index, BfLive *live,
							  const BfLiveLayer *layer);

/* grow.c */
extern bool bf_live_can_grow(const BfLive *live);
extern double bf_live_capacity(const BfLive *live);
extern bool bf_live_is_full(const BfLive *live, uint64 set);
extern size_t bf_live_room(Relation index, BfLive *live, size_t count);
extern size_t bf_live_extend(Relation index, BfLive *live, size_t count);
extern void bf_live_seal(Relation index, BfLive *live);

/* due.c */
typedef struct BfLiveFill
{
	BfFill		all;			/* estimated; counts what is pending, too */
	uint64		expected;		/* elements that the layers are made for */
	double		made_for;		/* false positive probability with these */
	uint32		layers;
	bool		grows;			/* the newest is full, and another will follow */
	bool		at_least;		/* one has all bits set, and may hold more */
} BfLiveFill;

typedef enum BfDue
{
	BF_DUE_NOTHING,
	BF_DUE_GROWTH,				/* which comes by itself */
	BF_DUE_OVER_FULL,			/* a rebuild, and why: it says "maybe" often */
	BF_DUE_MANY_LAYERS,			/* lookups are slow */
	BF_DUE_OUTGROWN				/* most of what it holds is gone */
} BfDue;

extern void bf_live_measure(Relation index, BfLive *live, BfLiveFill *fill);
extern double bf_live_counted_rows(Oid table);
extern double bf_live_likely_rows(Oid table);
extern BfDue bf_live_due(const BfLiveFill *fill, double rows);
extern double bf_live_enough(const BfLiveFill *fill, double rows);
extern const char *bf_live_qualified_name(Relation index);
extern void bf_live_warn_over_full(Relation index, const BfLive *live,
								   const BfLiveFill *fill, double rows);
extern bool bf_live_warn_if_over_full(Relation index);
extern void bf_live_report_fill(Relation index, BfLive *live, double rows,
								int level);

/* store.c */
extern void bf_live_store(Relation index, BfHashPair *pairs, size_t count);

/* deferred.c */
extern void bf_deferred_init(void);
extern MemoryContext bf_deferred_scratch(void);
extern bool bf_deferred_is_ending(void);
extern void bf_deferred_add(Relation table, Relation index,
							const BfHashPair *pair);
extern void bf_deferred_end_insertion(Relation index);
extern void bf_deferred_note_build(Relation table, Relation index);
extern bool bf_deferred_contains(Relation index, const BfHashPair *pair);
extern BfHashPair *bf_deferred_copy(Relation index, size_t *count);

/* layer.c */

/* What a question to a filter looked at first: a hint of what the next will. */
typedef struct BfLastAsked
{
	RelFileLocator file;
	bool		grows;
	const BfStrategy *strategy; /* NULL: it was not asked yet */
	BfLiveLayer layer;
} BfLastAsked;

extern void bf_layer_note_asked(BfLastAsked *last, const BfLive *live);
extern void bf_layer_look_ahead(const BfLastAsked *last,
								const BfHashPair *pair);
extern void bf_layer_prefetch(const BfLive *live, const BfLiveLayer *layer,
							  const BfHashPair *pair);
extern bool bf_live_layer_contains(Relation index, BfLive *live,
								   const BfLiveLayer *layer,
								   const BfHashPair *pair);

/* What keeps a filter's "no" from being sure. */
typedef enum BfDoubt
{
	BF_SURE = 0,				/* a "no" is one */
	BF_NOT_VALID,				/* the index is not valid (yet) */
	BF_OLD_SNAPSHOT,			/* may see rows from before the index */
	BF_EMPTIED,					/* by a transaction that was rolled back */
	BF_FUTURE					/* built by transactions still to come */
} BfDoubt;

/* lookup.c */

/* An element that is asked for, hashed as the last filter takes it. */
typedef struct BfAsked
{
	const BfElementType *element;
	Datum		value;
	bool		quietly;		/* "maybe" rather than an error */
	const BfStrategy *strategy; /* NULL: not hashed yet */
	BfFunnel	funnel;
	bool		ignores_blanks;
	bool		fits;			/* can it be in such a filter at all? */
	BfHashPair	pair;
} BfAsked;

extern bool bf_live_probe(Relation index, const BfHashPair *pair);
extern bool bf_live_may_contain(Relation index, BfAsked *asked,
								BfLastAsked *last, BfDoubt *doubt);

/* sure.c */
extern FullTransactionId bf_full_xid(TransactionId xid);
extern BfDoubt bf_live_lasting_doubt(Relation index, const BfLive *live);
extern BfDoubt bf_live_doubt(Relation index);
extern const char *bf_doubt_text(BfDoubt doubt);
extern const char *bf_doubt_hint(BfDoubt doubt);
extern bool bf_live_was_undone(Relation table, const BfLive *live);
extern bool bf_live_holds_elements(Relation index);
extern const char *bf_live_column_hint(Relation index);
extern const char *bf_live_maybe(Relation index);
extern void bf_live_check_column(Relation index);

/* rows.c */
typedef struct BfPlace
{
	Oid			table;
	const char *elsewhere;		/* NULL: its rows are in itself; or where, in
								 * words to follow "rows of ... are" */
	bool		leaving;		/* being detached, itself or with a table above */
} BfPlace;

extern BfPlace *bf_rows_place(Oid table, bool alone);
extern bool bf_rows_are_out_of_reach(const BfPlace *place);
extern List *bf_rows_tables(Oid root);
extern List *bf_rows_places(Oid root);
extern bool bf_rows_may_move(void);
extern bool bf_rows_stayed(const List *leaves, bool alone);
extern const char *bf_rows_maybe(const BfPlace *place);

/* rights.c */
extern bool bf_rights_check_table(Oid table);
extern bool bf_rights_may_read_column(Oid named, Relation index);
extern bool bf_rights_may_plan(Oid named, Relation index, Oid user);
extern bool bf_rights_may_see_statistics(Oid table, AttrNumber column);
extern void bf_rights_refuse(Oid table);
extern void bf_rights_keep(const List *leaves, Oid named, const List *own,
						   bool whole);

/* scan.c */
typedef void (*BfTakeRow) (TupleTableSlot *slot, Datum value, bool isnull,
						   void *state);

extern void bf_scan_rows(Relation table, IndexInfo *info, Snapshot snapshot,
						 BfTakeRow take, void *state);
extern void bf_scan_sample(Relation table, IndexInfo *info, Snapshot snapshot,
						   double part, BfTakeRow take, void *state);

/* subject.c */
typedef struct BfSubject
{
	Oid			index;
	Oid			table;
	const char *column;			/* or NULL */
	Node	   *expression;		/* or NULL */
} BfSubject;

extern BfSubject *bf_subject_of(Relation index);
extern bool bf_subject_equals(const BfSubject *left, const BfSubject *right);
extern const char *bf_subject_name(const BfSubject *subject);
extern const char *bf_subject_list(const List *subjects);
extern bool bf_subject_is_named(Relation index, const char *name);

/* resolve.c */
typedef struct BfLeaf
{
	BfPlace		place;
	List	   *indexes;		/* OIDs of filters over the same; locked */
	BfLastAsked last;			/* of the one asked last */
} BfLeaf;

/* What is asked of a relation. */
typedef struct BfQuestion
{
	Oid			rel;
	const BfElementType *element;	/* NULL: none */
	const char *column;			/* or an expression's index; NULL: any */
	bool		all;			/* all filters there are */
} BfQuestion;

extern List *bf_resolve(const BfQuestion *question);
extern List *bf_resolve_certain(const BfQuestion *question);
extern List *bf_resolve_sure(Oid rel);
extern List *bf_resolve_index(Oid index);

/* known.c */
typedef struct BfKnown BfKnown;

/* What a call site asked last; good for an epoch. */
typedef struct BfLastKnown
{
	BfKnown    *known;
	uint64		epoch;
} BfLastKnown;

extern const List *bf_known_leaves(const BfQuestion *question,
								   BfLastKnown *last);

/* build.c, handler.c, insert.c, vacuum.c, validate.c: its callbacks */
extern void bflive_costestimate(PlannerInfo *root, IndexPath *path,
								double loop_count, Cost *startup_cost,
								Cost *total_cost, Selectivity *selectivity,
								double *correlation, double *pages);
extern IndexBuildResult *bflive_build(Relation heap, Relation index,
									  IndexInfo *info);
extern void bflive_buildempty(Relation index);
extern char *bflive_buildphasename(int64 phase);
extern bool bflive_insert(Relation index, Datum *values, bool *isnull,
						  ItemPointer tid, Relation heap,
						  IndexUniqueCheck unique, bool unchanged,
						  IndexInfo *info);
extern void bflive_insertcleanup(Relation index, IndexInfo *info);
extern IndexBulkDeleteResult *
			bflive_bulkdelete(IndexVacuumInfo *info,
							  IndexBulkDeleteResult *stats,
							  IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *
			bflive_vacuumcleanup(IndexVacuumInfo *info,
								 IndexBulkDeleteResult *stats);
extern bool bflive_validate(Oid opclass);

#endif							/* BLOOMEXT_LIVE_H */
