/*
 * meta.c
 *	  The metapage of a live filter, and its cached copy.
 *
 * The metapage has the shape of the filter, which is fixed when it is built
 * except for layers that are added, and for which snapshots the filter is
 * complete (visibility.c).  It is written by a build, by the validation of a
 * concurrent build, by a VACUUM that finds an in-place build committed, and
 * when the filter grows.
 *
 * Each backend reads it once and keeps it in the relation cache.  A rebuild
 * gives the index another file, and other changes invalidate the relation.
 *
 * Growth does not, as invalidations are sent at commit, on a primary only if
 * the transaction does commit, but a layer is in use at once.  So where a
 * filter can grow, each lookup compares the cached copy with the metapage, by
 * a single number that only increases, and so slowly that one byte changes at
 * a time.  It is read without the lock of the page.  A lookup that must find
 * an element has learnt of it by something that became visible after the
 * metapage was written: a commit, in its snapshot, or the lock of a pending
 * page.  If the number is read while it changes, it differs, and the metapage
 * is read under its lock.
 *
 * Nor does the rollback of an in-place build (TRUNCATE of a table whose file
 * is new in the subtransaction, or ON COMMIT DELETE ROWS) send other backends
 * an invalidation of the relation.  But it sends one of the storage, as the
 * file was truncated.  So the cached copy is valid as long as the storage
 * manager keeps a mark of ours: the target block, which indexes do not use
 * otherwise.
 *
 * Contents are checked before they are used, first by their CRC-32C.
 *
 * A filter of several columns hashes elements of parts (parts.c).  Its metapage
 * says so, by a flag, and the meaning of each part; they must be those of the
 * index, so that a file of one kind is never taken for one of another.  That of
 * a single column has neither, and is checked by its funnel.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

#include "pages/index_options.h"
#include "pages/page.h"
#include "type/value.h"

#define META_MAGIC		0x62664c76	/* "bfLv" */

#define META_PRUNED_EARLY	0x01
#define META_SEVERAL		0x02	/* columns: it has `parts` */

/* A layer in the metapage. */
typedef struct MetaLayer
{
	uint64		bits;
	uint64		expected;
	double		fpp;
	uint32		hashes;
	uint32		start;
	uint32		pending;
	uint32		pages;
	uint32		sealed;
	uint32		unused;
} MetaLayer;

/* The metapage's contents. */
typedef struct Meta
{
	uint32		magic;
	uint8		version;
	uint8		strategy;
	uint8		funnel;
	uint8		flags;
	uint64		expected;
	double		fpp;
	uint64		horizon;
	uint64		validated;
	uint32		validated_running;
	uint32		expansion;
	uint64		emptied_by;
	uint32		emptied_with[3];	/* the table's tablespace, database, file */
	uint32		nlayers;
	MetaLayer	layers[BF_LIVE_LAYERS];
	uint32		growth;			/* read without a lock */
	pg_crc32c	crc;			/* of everything before it, then of `parts` */
	uint8		parts;			/* their number, and what they mean */
	uint8		meanings[INDEX_MAX_KEYS];
} Meta;

StaticAssertDecl(sizeof(Meta) <= BF_PAGE_BYTES, "a metapage has room for all layers");
StaticAssertDecl(INDEX_MAX_KEYS <= PG_UINT8_MAX, "a byte counts the columns of an index");

/* The plan of a value with all layers, which are put into an array. */
BfPlan
bf_live_value_plan(const BfLive *live, BfLayer *layers)
{
	BfPlan		plan = live->plan;

	plan.header.layers = live->nlayers;
	plan.layers = layers;
	for (uint32 i = 0; i < live->nlayers; i++)
		layers[i] = live->layers[i].shape;
	return plan;
}

/* How often a filter has changed: layers added, and layers sealed. */
static uint32
growth_of(const BfLive *live)
{
	uint32		changes = live->nlayers;

	for (uint32 i = 0; i < live->nlayers; i++)
		changes += live->layers[i].sealed;
	return changes;
}

/* The size of the used part of a BfLive. */
static inline Size
live_size(const BfLive *live)
{
	return offsetof(BfLive, layers) + live->nlayers * sizeof(BfLiveLayer);
}

/* The checksum of a metapage, without the checksum itself. */
static pg_crc32c
meta_crc(const Meta *meta)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, meta, offsetof(Meta, crc));
	if ((meta->flags & META_SEVERAL) != 0)
		COMP_CRC32C(crc, &meta->parts, 1 + sizeof(meta->meanings));
	FIN_CRC32C(crc);
	return crc;
}

/*
 * Read a layer that is to start at a block from the metapage; false if no
 * filter can have such a layer.
 */
static bool
layer_of_meta(const MetaLayer *stored, const BfStrategy *strategy,
			  BlockNumber start, BfLiveLayer *layer)
{
	BfPlan		plan;
	BfError		error;

	if (!bf_file_has_room(stored->bits, start) ||
		!(stored->fpp > 0 && stored->fpp < 1) ||
		!bf_plan_bits(strategy, (int64) stored->bits, (int32) stored->hashes,
					  BF_FUNNEL_UNBOUND, &plan, &error) ||
		plan.first.bits != stored->bits)
		return false;
	plan.first.expected = stored->expected;
	plan.first.fpp = stored->fpp;
	bf_live_lay_out(layer, &plan.first, start);
	layer->sealed = stored->sealed != 0;
	return (layer->sealed || layer->pending > 0) &&
		stored->start == layer->start && stored->pages == layer->pages &&
		stored->pending == layer->pending;
}

/* Read all layers from the metapage; false if no filter can have them. */
static bool
layers_of_meta(const Meta *meta, const BfStrategy *strategy, BfLive *live)
{
	BlockNumber start = BF_FIRST_BLOCK;

	if (meta->nlayers < 1 || meta->nlayers > BF_LIVE_LAYERS ||
		(meta->nlayers > 1 && meta->expansion == 0))
		return false;
	for (live->nlayers = 0; live->nlayers < meta->nlayers;)
	{
		if (!layer_of_meta(&meta->layers[live->nlayers], strategy, start,
						   &live->layers[live->nlayers]))
			return false;
		live->nlayers++;
		start = bf_live_end(live);
	}
	/*
	 * Only the newest layer can have pending elements, if it has such pages.
	 */
	return bf_newest_layer(live)->sealed ==
		(bf_newest_layer(live)->pending == 0);
}

/* Whether a metapage is of a filter of such parts, or of a single column. */
static bool
has_parts(const Meta *meta, const BfParts *parts)
{
	if ((meta->flags & META_SEVERAL) == 0)
		return parts->count == 0;
	if (meta->parts != parts->count)
		return false;
	for (uint32 i = 0; i < parts->count; i++)
	{
		if (meta->meanings[i] != parts->part[i].meaning)
			return false;
	}
	return true;
}

/* Read a filter from a metapage; false if it cannot be a live filter's. */
static bool
live_of_meta(const Meta *meta, BfLive *live)
{
	const BfStrategy *strategy = bf_strategy_by_id(meta->strategy);
	uint64		length;
	BfError		error;

	if (meta->crc != meta_crc(meta) || !has_parts(meta, &live->parts) ||
		strategy == NULL || !strategy->can_be_live ||
		meta->funnel > BF_FUNNEL_LAST ||
		!bf_element_fits(strategy, (BfFunnel) meta->funnel, &live->element) ||
		meta->expansion > BF_MAX_EXPANSION ||
		!(meta->fpp > 0 && meta->fpp < 1) ||
		!layers_of_meta(meta, strategy, live) ||
		meta->growth != growth_of(live))
		return false;
	live->plan = (BfPlan) {
		.strategy = strategy,
		.header = {
			.layers = 1,
			.strategy = meta->strategy,
			.funnel = meta->funnel,
			.cell_bits = BF_CELL_BIT,
			.meaning = live->element.meaning,
			.expansion = meta->expansion,
			.expected = meta->expected,
			.fpp = meta->fpp
		},
		.first = live->layers[0].shape
	};
	return bf_plan_measure(&live->plan, &length, &error);
}

/* Raise an error if the pages of a relation cannot be read by this session. */
static void
refuse_unreadable(Relation index)
{
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (RecoveryInProgress() && !RelationIsPermanent(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
}

/* Whether the build of an index has progressed as far as its metapage. */
bool
bf_live_is_built(Relation index)
{
	if (index->rd_amcache != NULL)
		return true;
	refuse_unreadable(index);
	return RelationGetNumberOfBlocks(index) > 0;
}

/* Whether the metapage of a filter that is built has the supported format. */
bool
bf_live_has_known_format(Relation index)
{
	Buffer		buffer;
	bool		known;

	if (index->rd_amcache != NULL)
		return true;
	buffer = ReadBuffer(index, BF_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	known = bf_page_check(index, buffer, BF_PAGE_META) &&
		((Meta *) PageGetContents(BufferGetPage(buffer)))->version == BF_LIVE_FORMAT;
	UnlockReleaseBuffer(buffer);
	return known;
}

/* Read and check the metapage of a filter of such elements. */
static void
read_meta(Relation index, const BfElementType *element, const BfParts *parts,
		  BfLive *live)
{
	Buffer		buffer;
	Meta		meta;

	refuse_unreadable(index);
	buffer = ReadBuffer(index, BF_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!bf_page_check(index, buffer, BF_PAGE_META))
		bf_page_corrupted(index, BF_META_BLOCK);
	memcpy(&meta, PageGetContents(BufferGetPage(buffer)), sizeof(meta));
	UnlockReleaseBuffer(buffer);
	if (meta.magic != META_MAGIC)
		bf_page_corrupted(index, BF_META_BLOCK);
	if (meta.version != BF_LIVE_FORMAT)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("live filter \"%s\" has format %u, but only format %u is supported",
						RelationGetRelationName(index), meta.version,
						BF_LIVE_FORMAT),
				 errhint("Rebuild it with REINDEX INDEX.")));

	memset(live, 0, offsetof(BfLive, layers));
	live->element = *element;
	live->parts = *parts;
	if (!live_of_meta(&meta, live))
		bf_page_corrupted(index, BF_META_BLOCK);
	live->file = compat_locator_of(index);
	live->horizon = FullTransactionIdFromU64(meta.horizon);
	live->validated = FullTransactionIdFromU64(meta.validated);
	live->validated_running = meta.validated_running;
	live->emptied_by = FullTransactionIdFromU64(meta.emptied_by);
	live->emptied_with = compat_locator(meta.emptied_with[0],
										meta.emptied_with[1],
										meta.emptied_with[2]);
	live->pruned_early = (meta.flags & META_PRUNED_EARLY) != 0;
	live->growth = meta.growth;
}

/* Prefetch what bf_live_is_current() examines. */
void
bf_meta_prefetch(RelFileLocator file)
{
	bf_buffer_hint_prefetch(file, BF_META_BLOCK,
							MAXALIGN(SizeOfPageHeaderData) + offsetof(Meta, growth));
}

/*
 * Whether a copy of a filter, whose file the index still has, has all layers.
 */
bool
bf_live_is_current(Relation index, const BfLive *live)
{
	Buffer		buffer;
	Meta	   *meta;
	uint32		now;

	if (live->plan.header.expansion == 0)
		return true;
	buffer = bf_buffer_hint_pin(index, BF_META_BLOCK);
	if (!BufferIsValid(buffer))
		buffer = bf_buffer_hint_read(index, BF_META_BLOCK, NULL);
	meta = (Meta *) PageGetContents(BufferGetPage(buffer));
	now = *(volatile uint32 *) &meta->growth;
	ReleaseBuffer(buffer);
	return now == live->growth;
}

/*
 * Read the metapage and keep it in the relation cache.  As the element type is
 * known, this does not access the catalogs.
 */
static BfLive *
keep_meta(Relation index, BfElementType element, BfParts parts)
{
	BfLive	   *kept;
	BfLive		live;

	bf_live_forget(index);
	read_meta(index, &element, &parts, &live);
	kept = MemoryContextAlloc(index->rd_indexcxt, live_size(&live));
	memcpy(kept, &live, live_size(&live));
	index->rd_amcache = kept;
	RelationSetTargetBlock(index, BF_META_BLOCK);
	return kept;
}

/*
 * The copy in the relation cache, which any access to the catalogs may free.
 * Layers may have been added since it was read.
 */
BfLive *
bf_live_kept(Relation index)
{
	BfLive	   *kept = index->rd_amcache;
	BfElementType element;
	BfParts		parts;

	if (kept != NULL && RelationGetTargetBlock(index) == BF_META_BLOCK &&
		RelFileLocatorEquals(kept->file, compat_locator_of(index)))
		return kept;
	bf_live_elements(index, &element, &parts);
	return keep_meta(index, element, parts);
}

/* The copy in the relation cache, with all current layers. */
BfLive *
bf_live_current(Relation index)
{
	BfLive	   *kept = bf_live_kept(index);

	return bf_live_is_current(index, kept) ? kept :
		keep_meta(index, kept->element, kept->parts);
}

/* A copy of the metapage for the caller, with all current layers. */
void
bf_live_open(Relation index, BfLive *live)
{
	const BfLive *current = bf_live_current(index);

	memcpy(live, current, live_size(current));
}

/*
 * Take the page lock on the metapage, and read what is to be written back, as
 * the cached copy can lack layers; all other changes by others are known at
 * their commit.  While this lock is held, only buffers and the extension lock
 * of the file may be locked, so the catalogs must not be accessed.  Returns
 * false if another backend holds the lock and `wait` is false.
 */
bool
bf_live_lock(Relation index, bool wait, BfLive *live)
{
	const BfLive *kept = bf_live_kept(index);
	BfElementType element = kept->element;
	BfParts		parts = kept->parts;

	if (wait)
		LockPage(index, BF_META_BLOCK, ExclusiveLock);
	else if (!ConditionalLockPage(index, BF_META_BLOCK, ExclusiveLock))
		return false;
	kept = keep_meta(index, element, parts);
	memcpy(live, kept, live_size(kept));
	return true;
}

/* Release the page lock on the metapage. */
void
bf_live_unlock(Relation index)
{
	UnlockPage(index, BF_META_BLOCK, ExclusiveLock);
}

/* Forget the cached copy of a filter that is about to be rewritten. */
void
bf_live_forget(Relation index)
{
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/* Convert a layer for the metapage. */
static MetaLayer
meta_of_layer(const BfLiveLayer *layer)
{
	return (MetaLayer) {
		.bits = layer->shape.bits,
		.expected = layer->shape.expected,
		.fpp = layer->shape.fpp,
		.hashes = layer->shape.hashes,
		.start = layer->start,
		.pending = layer->pending,
		.pages = layer->pages,
		.sealed = layer->sealed
	};
}

/* Convert a filter for the metapage. */
static Meta
meta_of_live(const BfLive *live)
{
	Meta		meta = {
		.magic = META_MAGIC,
		.version = BF_LIVE_FORMAT,
		.strategy = live->plan.strategy->id,
		.funnel = live->plan.header.funnel,
		.flags = live->pruned_early ? META_PRUNED_EARLY : 0,
		.expected = live->plan.header.expected,
		.fpp = live->plan.header.fpp,
		.horizon = U64FromFullTransactionId(live->horizon),
		.validated = U64FromFullTransactionId(live->validated),
		.validated_running = live->validated_running,
		.expansion = live->plan.header.expansion,
		.emptied_by = U64FromFullTransactionId(live->emptied_by),
		.emptied_with = {
			live->emptied_with.compat_spc,
			live->emptied_with.compat_db,
			live->emptied_with.compat_number
		},
		.nlayers = live->nlayers,
		.growth = live->growth,
		.parts = live->parts.count
	};

	if (live->parts.count > 0)
		meta.flags |= META_SEVERAL;
	for (uint32 i = 0; i < live->parts.count; i++)
		meta.meanings[i] = live->parts.part[i].meaning;
	for (uint32 i = 0; i < live->nlayers; i++)
		meta.layers[i] = meta_of_layer(&live->layers[i]);
	meta.crc = meta_crc(&meta);
	return meta;
}

/* Write the metapage, the first page of a fork, and log it. */
void
bf_meta_write(Relation index, ForkNumber fork, BfLive *live)
{
	bool		is_new = RelationGetNumberOfBlocksInFork(index, fork) == 0;
	Buffer		buffer = ReadBufferExtended(index, fork,
											is_new ? P_NEW : BF_META_BLOCK,
											RBM_ZERO_AND_LOCK, NULL);
	Page		page = BufferGetPage(buffer);
	Meta		meta;

	live->growth = growth_of(live);
	meta = meta_of_live(live);
	START_CRIT_SECTION();
	bf_page_init(page, BF_PAGE_META);
	memcpy(PageGetContents(page), &meta, sizeof(meta));
	MarkBufferDirty(buffer);
	/* The init fork of an unlogged index is logged, its main fork is not. */
	if (fork == INIT_FORKNUM || bf_needs_wal(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	bf_live_forget(index);
}
