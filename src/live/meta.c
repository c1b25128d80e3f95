/*
 * meta.c
 *	  The metapage of a live filter, and what is kept of it.
 *
 * The metapage says what the filter is, frozen when it was built, and whose
 * answers it is good for (sure.c).  It is written by a build, by the validation
 * of a concurrent build, and by a VACUUM that finds that a build in place was
 * committed.
 *
 * It is read once per backend and kept in the relation cache.  A rebuild gives
 * the index another file, and who changes a metapage invalidates what is kept.
 * The exception are builds in place, by TRUNCATE of a table whose file is new in
 * the subtransaction and by ON COMMIT DELETE ROWS: if that is rolled back, no
 * invalidation of the relation comes to others.  But one of its storage does, as
 * the file was cut; so what is kept is believed as long as the storage manager
 * keeps a mark of ours, for which we use the target block, which no index has
 * another use for.
 *
 * Nothing that it says is believed before it is checked, first by its CRC-32C.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "live/live.h"
#include "type/value.h"

#define META_MAGIC		0x62664c76	/* "bfLv" */
#define META_VERSION	2			/* 1 had neither horizon nor CRC */

/*
 * Pending pages: none for small filters, whose 1 MB stays in memory, else a
 * share of the data pages.  A pending page holds 509 elements and a flush goes
 * over all data pages: that is half a page an element.  2 MB of pending pages
 * are as many as are to be waited for when they are flushed.
 */
#define PENDING_FROM_PAGES	128
#define PENDING_SHARE		256
#define PENDING_MIN			4
#define PENDING_MAX			256

#define META_PRUNED_EARLY	0x01

/* The metapage's contents. */
typedef struct Meta
{
	uint32		magic;
	uint8		version;
	uint8		strategy;
	uint8		funnel;
	uint8		flags;
	uint32		hashes;
	uint32		pages;
	uint32		first_pending;
	uint32		pending;
	uint64		bits;
	uint64		expected;
	double		fpp;
	uint64		horizon;
	uint64		validated;
	uint32		validated_running;
	uint32		unused;
	uint64		emptied_by;
	uint32		emptied_with[3];	/* tablespace, database, file of the table */
	pg_crc32c	crc;			/* of all before it */
} Meta;

/* Data pages that a filter of so many bits takes. */
static inline uint64
pages_for(uint64 bits)
{
	return (bits + BF_PAGE_BITS - 1) / BF_PAGE_BITS;
}

/* Pending pages that a filter of so many data pages has. */
static inline uint64
pending_for(uint64 pages)
{
	if (pages < PENDING_FROM_PAGES)
		return 0;
	return Min(Max(pages / PENDING_SHARE, PENDING_MIN), PENDING_MAX);
}

/* Lay a planned filter out in pages. */
void
bf_live_plan(BfLive *live, const BfPlan *plan)
{
	Assert(plan->strategy->words == BF_PAIR_WORDS);
	memset(live, 0, sizeof(*live));
	live->plan = *plan;
	live->pages = (BlockNumber) pages_for(plan->first.bits);
	live->pending = (BlockNumber) pending_for(live->pages);
}

/* The checksum of a metapage, but for the checksum. */
static pg_crc32c
meta_crc(const Meta *meta)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, meta, offsetof(Meta, crc));
	FIN_CRC32C(crc);
	return crc;
}

/*
 * The plan that a metapage has; false where no live filter of such elements can
 * have such a metapage.
 */
static bool
plan_of_meta(const Meta *meta, const BfElementType *element, BfPlan *plan)
{
	const BfStrategy *strategy = bf_strategy_by_id(meta->strategy);
	uint64		length;
	BfError		error;

	if (meta->crc != meta_crc(meta) ||
		strategy == NULL || !strategy->can_be_live ||
		meta->funnel > BF_FUNNEL_LAST ||
		!bf_element_fits(strategy, (BfFunnel) meta->funnel, element) ||
		meta->bits / 8 >= MaxAllocSize ||
		!bf_plan_bits(strategy, (int64) meta->bits, (int32) meta->hashes,
					  (BfFunnel) meta->funnel, plan, &error) ||
		plan->first.bits != meta->bits ||
		!(meta->fpp > 0 && meta->fpp < 1) ||
		meta->pages != pages_for(meta->bits) ||
		meta->first_pending != BF_FIRST_PENDING ||
		meta->pending != pending_for(meta->pages))
		return false;
	plan->header.expected = plan->first.expected = meta->expected;
	plan->header.fpp = plan->first.fpp = meta->fpp;
	plan->header.meaning = element->meaning;
	return bf_plan_measure(plan, &length, &error);
}

/* Raise where a relation's pages cannot be looked at from here. */
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

/* Whether an index's build has come so far that there is a metapage. */
bool
bf_live_is_built(Relation index)
{
	if (index->rd_amcache != NULL)
		return true;
	refuse_unreadable(index);
	return RelationGetNumberOfBlocks(index) > 0;
}

/* Read and check the metapage. */
static void
read_meta(Relation index, BfLive *live)
{
	BfElementType element;
	BfPlan		plan;
	Buffer		buffer;
	Meta		meta;

	refuse_unreadable(index);
	bf_element_type(index->rd_opcintype[0], InvalidOid, &element);
	buffer = ReadBuffer(index, BF_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!bf_page_check(index, buffer, BF_PAGE_META))
		bf_page_corrupted(index, BF_META_BLOCK);
	memcpy(&meta, PageGetContents(BufferGetPage(buffer)), sizeof(meta));
	UnlockReleaseBuffer(buffer);
	if (meta.magic != META_MAGIC)
		bf_page_corrupted(index, BF_META_BLOCK);
	if (meta.version != META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("live filter \"%s\" has format %u, and this bloomext knows %u",
						RelationGetRelationName(index), meta.version,
						META_VERSION),
				 errhint("Rebuild it with REINDEX INDEX.")));
	if (!plan_of_meta(&meta, &element, &plan))
		bf_page_corrupted(index, BF_META_BLOCK);

	*live = (BfLive) {
		.file = compat_locator_of(index),
		.plan = plan,
		.element = element,
		.pending = meta.pending,
		.pages = meta.pages,
		.horizon = FullTransactionIdFromU64(meta.horizon),
		.validated = FullTransactionIdFromU64(meta.validated),
		.validated_running = meta.validated_running,
		.emptied_by = FullTransactionIdFromU64(meta.emptied_by),
		.emptied_with = compat_locator(meta.emptied_with[0],
									   meta.emptied_with[1],
									   meta.emptied_with[2]),
		.pruned_early = (meta.flags & META_PRUNED_EARLY) != 0
	};
}

/*
 * What a live filter is.  It is copied out, as any access to the catalogs may
 * free what the relation cache keeps.
 */
void
bf_live_open(Relation index, BfLive *live)
{
	BfLive	   *kept = index->rd_amcache;

	if (kept != NULL && RelationGetTargetBlock(index) == BF_META_BLOCK &&
		RelFileLocatorEquals(kept->file, compat_locator_of(index)))
	{
		*live = *kept;
		return;
	}
	bf_live_forget(index);
	read_meta(index, live);
	kept = MemoryContextAlloc(index->rd_indexcxt, sizeof(BfLive));
	*kept = *live;
	index->rd_amcache = kept;
	RelationSetTargetBlock(index, BF_META_BLOCK);
}

/* Remember that the file has all its blocks. */
void
bf_live_note_complete(Relation index, BfLive *live)
{
	BfLive	   *kept = index->rd_amcache;

	live->complete = true;
	if (kept != NULL && RelFileLocatorEquals(kept->file, live->file))
		kept->complete = true;
}

/* Forget what is kept of a filter that is about to be written anew. */
void
bf_live_forget(Relation index)
{
	if (index->rd_amcache != NULL)
		pfree(index->rd_amcache);
	index->rd_amcache = NULL;
}

/* Write the metapage, the first page of a fork, and log it. */
void
bf_meta_write(Relation index, ForkNumber fork, const BfLive *live)
{
	bool		is_new = RelationGetNumberOfBlocksInFork(index, fork) == 0;
	Buffer		buffer = ReadBufferExtended(index, fork,
											is_new ? P_NEW : BF_META_BLOCK,
											RBM_ZERO_AND_LOCK, NULL);
	Page		page = BufferGetPage(buffer);
	Meta		meta = {
		.magic = META_MAGIC,
		.version = META_VERSION,
		.strategy = live->plan.strategy->id,
		.funnel = live->plan.header.funnel,
		.flags = live->pruned_early ? META_PRUNED_EARLY : 0,
		.hashes = live->plan.first.hashes,
		.pages = live->pages,
		.first_pending = BF_FIRST_PENDING,
		.pending = live->pending,
		.bits = live->plan.first.bits,
		.expected = live->plan.header.expected,
		.fpp = live->plan.header.fpp,
		.horizon = U64FromFullTransactionId(live->horizon),
		.validated = U64FromFullTransactionId(live->validated),
		.validated_running = live->validated_running,
		.emptied_by = U64FromFullTransactionId(live->emptied_by),
		.emptied_with = {
			live->emptied_with.compat_spc,
			live->emptied_with.compat_db,
			live->emptied_with.compat_number
		}
	};

	meta.crc = meta_crc(&meta);
	START_CRIT_SECTION();
	bf_page_init(page, BF_PAGE_META);
	memcpy(PageGetContents(page), &meta, sizeof(meta));
	MarkBufferDirty(buffer);
	/* The init fork of an unlogged index is logged, its main fork is not. */
	if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	bf_live_forget(index);
}
