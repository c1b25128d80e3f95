/*
 * page.c
 *	  Find, check and lock the pages of a live filter.
 *
 * The metapage is read once per backend and kept in the relation cache: it
 * never changes while the index has the same file.  A rebuild gives it another
 * one, except for TRUNCATE in the transaction that made the table and for
 * ON COMMIT DELETE ROWS, which rebuild in place: the build forgets what was
 * kept.
 *
 * The file is as long as the last page that was ever written.  The first
 * write beyond its end gives it its full length at once, as a sparse file:
 * pages that nobody writes to take no space, and writers need not queue for
 * the extension lock again.  None of that is in WAL; replay extends the file
 * as it comes to pages, and zeros mean the same on either side.
 *
 * Nothing that a page says is believed before it is checked.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "live/live.h"
#include "type/value.h"

#define META_MAGIC		0x62664c76	/* "bfLv" */
#define META_VERSION	1

/* Pending pages: none for small filters, else a share of the data pages. */
#define PENDING_FROM_PAGES	128
#define PENDING_SHARE		256
#define PENDING_MIN			4
#define PENDING_MAX			256

#define TAIL_OFFSET		(BLCKSZ - MAXALIGN(sizeof(BfPageTail)))

/* The metapage's contents. */
typedef struct Meta
{
	uint32		magic;
	uint8		version;
	uint8		strategy;
	uint8		funnel;
	uint8		unused;
	uint32		hashes;
	uint32		pages;
	uint32		first_pending;
	uint32		pending;
	uint64		bits;
	uint64		expected;
	double		fpp;
} Meta;

static void
corrupted(Relation index, BlockNumber block)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("block %u of live filter \"%s\" is corrupted",
					block, RelationGetRelationName(index)),
			 errhint("Rebuild it with REINDEX INDEX CONCURRENTLY.")));
}

/* Make an empty page.  Only pending pages have a hole, which grows smaller. */
void
bf_page_init(Page page, BfPageKind kind)
{
	BfPageTail *tail;

	PageInit(page, BLCKSZ, sizeof(BfPageTail));
	if (kind != BF_PAGE_PENDING)
		((PageHeader) page)->pd_lower = ((PageHeader) page)->pd_upper;
	tail = (BfPageTail *) PageGetSpecialPointer(page);
	tail->kind = kind;
	tail->unused = 0;
	tail->page_id = BF_PAGE_ID;
}

/* Check a locked page; false where it is a new one, all zeros. */
bool
bf_page_check(Relation index, Buffer buffer, BfPageKind kind)
{
	Page		page = BufferGetPage(buffer);
	PageHeader	header = (PageHeader) page;
	BfPageTail *tail;

	if (PageIsNew(page))
		return false;
	tail = (BfPageTail *) ((char *) page + TAIL_OFFSET);
	if (header->pd_special != TAIL_OFFSET ||
		tail->page_id != BF_PAGE_ID || tail->kind != kind)
		corrupted(index, BufferGetBlockNumber(buffer));
	if (kind == BF_PAGE_PENDING &&
		(header->pd_lower < SizeOfPageHeaderData ||
		 header->pd_lower > header->pd_special ||
		 (header->pd_lower - SizeOfPageHeaderData) % sizeof(BfHashPair) != 0))
		corrupted(index, BufferGetBlockNumber(buffer));
	return true;
}

/* Data pages that a filter of so many bits takes. */
static inline uint64
pages_for(uint64 bits)
{
	return (bits + BF_PAGE_BITS - 1) / BF_PAGE_BITS;
}

/* Lay a planned filter out in pages. */
void
bf_live_plan(BfLive *live, const BfHeader *header, const BfLayer *layer)
{
	memset(live, 0, sizeof(*live));
	live->strategy = bf_strategy_by_id(header->strategy);
	live->funnel = (BfFunnel) header->funnel;
	live->shape.bits = layer->bits;
	live->shape.hashes = layer->hashes;
	live->expected = header->expected;
	live->fpp = header->fpp;
	live->pages = (BlockNumber) pages_for(layer->bits);
	if (live->pages >= PENDING_FROM_PAGES)
		live->pending = Min(Max(live->pages / PENDING_SHARE, PENDING_MIN),
							PENDING_MAX);
}

/* Whether a live filter can have such a metapage. */
static bool
meta_is_valid(const Meta *meta)
{
	const BfStrategy *strategy = bf_strategy_by_id(meta->strategy);
	BfShape		shape = {meta->bits, meta->hashes};
	BfError		error;

	return meta->magic == META_MAGIC && meta->version == META_VERSION &&
		strategy != NULL && strategy->accept(&shape, &error) &&
		meta->bits > 0 && meta->bits / 8 < MaxAllocSize &&
		meta->hashes > 0 && meta->hashes <= BF_MAX_HASHES &&
		meta->funnel > BF_FUNNEL_UNBOUND && meta->funnel <= BF_FUNNEL_LAST &&
		meta->pages == pages_for(meta->bits) &&
		meta->first_pending == BF_FIRST_PENDING &&
		meta->pending <= PENDING_MAX;
}

/* Read the metapage. */
static void
read_meta(Relation index, BfLive *live)
{
	Buffer		buffer;
	Meta		meta;

	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (RecoveryInProgress() && !RelationIsPermanent(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));

	buffer = ReadBuffer(index, BF_META_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!bf_page_check(index, buffer, BF_PAGE_META))
		corrupted(index, BF_META_BLOCK);
	memcpy(&meta, PageGetContents(BufferGetPage(buffer)), sizeof(meta));
	UnlockReleaseBuffer(buffer);
	if (!meta_is_valid(&meta))
		corrupted(index, BF_META_BLOCK);

	*live = (BfLive) {
		.file = compat_file_of(index),
		.strategy = bf_strategy_by_id(meta.strategy),
		.funnel = (BfFunnel) meta.funnel,
		.shape = {meta.bits, meta.hashes},
		.expected = meta.expected,
		.fpp = meta.fpp,
		.pending = meta.pending,
		.pages = meta.pages
	};
	bf_element_type(index->rd_opcintype[0], InvalidOid, &live->element);
}

/*
 * The shape of a live filter.  It is copied out, as any access to the catalogs
 * may free what the relation cache keeps.
 */
void
bf_live_open(Relation index, BfLive *live)
{
	BfLive	   *kept = index->rd_amcache;

	if (kept == NULL || kept->file != compat_file_of(index))
	{
		bf_live_forget(index);
		read_meta(index, live);
		kept = MemoryContextAlloc(index->rd_indexcxt, sizeof(BfLive));
		*kept = *live;
		index->rd_amcache = kept;
		return;
	}
	*live = *kept;
}

/* Forget what is kept of a filter that is about to be built anew. */
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
	Buffer		buffer = ReadBufferExtended(index, fork, P_NEW,
											RBM_ZERO_AND_LOCK, NULL);
	Page		page = BufferGetPage(buffer);
	Meta		meta = {
		.magic = META_MAGIC,
		.version = META_VERSION,
		.strategy = live->strategy->id,
		.funnel = live->funnel,
		.hashes = live->shape.hashes,
		.pages = live->pages,
		.first_pending = BF_FIRST_PENDING,
		.pending = live->pending,
		.bits = live->shape.bits,
		.expected = live->expected,
		.fpp = live->fpp
	};

	START_CRIT_SECTION();
	bf_page_init(page, BF_PAGE_META);
	memcpy(PageGetContents(page), &meta, sizeof(meta));
	MarkBufferDirty(buffer);
	/* The init fork of an unlogged index is logged, its main fork is not. */
	if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* Remember, and keep, that the file has all its blocks. */
static void
note_complete(Relation index, BfLive *live)
{
	BfLive	   *kept = index->rd_amcache;

	live->complete = true;
	if (kept != NULL && kept->file == live->file)
		kept->complete = true;
}

/* Whether the file has a block; it has all of them once it was extended. */
static bool
has_block(Relation index, BfLive *live, BlockNumber block)
{
	BlockNumber blocks;

	if (live->complete)
		return true;
	blocks = RelationGetNumberOfBlocks(index);
	if (blocks >= bf_data_block(live, live->pages))
		note_complete(index, live);
	return block < blocks;
}

/*
 * Give the file its full length, if it has not got it yet: to be done before
 * the first page is locked, as it waits for a heavyweight lock.
 */
void
bf_file_extend(Relation index, BfLive *live)
{
	static const CompatBlock zeros;
	BlockNumber wanted = bf_data_block(live, live->pages);

	if (has_block(index, live, wanted - 1))
		return;
	LockRelationForExtension(index, ExclusiveLock);
	if (RelationGetNumberOfBlocks(index) < wanted)
		smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, wanted - 1,
				   (char *) zeros.data, false);
	UnlockRelationForExtension(index, ExclusiveLock);
	note_complete(index, live);
}

/*
 * Read and share-lock a page.  InvalidBuffer where there is none yet, so that
 * it is empty.
 */
Buffer
bf_page_for_read(Relation index, BfLive *live, BlockNumber block,
				 BfPageKind kind)
{
	Buffer		buffer;

	if (!has_block(index, live, block))
		return InvalidBuffer;
	buffer = ReadBuffer(index, block);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (bf_page_check(index, buffer, kind))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Read and exclusively lock a page that is perhaps to be written to, of a file
 * that has its full length.  It may be a new page, which bf_record_page()
 * takes care of.
 */
Buffer
bf_page_for_write(Relation index, BlockNumber block, BfPageKind kind)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	bf_page_check(index, buffer, kind);
	return buffer;
}

/*
 * Whether the index knows every row that any snapshot of this transaction can
 * see; if not, all that can be said of an element is "maybe".
 *
 * The rules are the planner's: an index that is not valid yet lacks rows, and
 * one with indcheckxmin lacks old versions of rows that were updated in place
 * before it was made.  A standby does not delay CREATE INDEX CONCURRENTLY for
 * the snapshots it has itself, so there every index counts as such.
 */
bool
bf_live_is_usable(Relation index)
{
	Form_pg_index form = index->rd_index;
	HeapTupleHeader tuple = index->rd_indextuple->t_data;
	bool		check_xmin = form->indcheckxmin || RecoveryInProgress();

	return form->indislive && form->indisready && form->indisvalid &&
		(!check_xmin ||
		 TransactionIdPrecedes(HeapTupleHeaderGetXmin(tuple),
							   TransactionXmin));
}

/*
 * Raise 0A000 where the column is of a type whose equality is not that of its
 * bytes.  To be asked whenever a filter is read: ALTER TABLE can turn text
 * into citext without a rebuild.
 */
void
bf_live_check_column(Relation index)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);
	BfElementType element;

	bf_element_type(column->atttypid, index->rd_indcollation[0], &element);
}
