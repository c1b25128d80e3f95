/*
 * page.c
 *	  Find, check and lock the pages of a live filter.
 *
 * The file ends with the last page that was ever written.  The first write
 * beyond its end gives it its full length at once, as a sparse file: pages
 * that are never written take no space, and writers do not queue for the
 * extension lock again.  None of that is in WAL: replay extends the file when
 * it reaches further pages, and a page of zeros is empty on the standby, too.
 *
 * A page is checked each time it is locked, before its contents are used.  A
 * page that is only pinned may have been damaged since, and is not used for
 * more than a "maybe" (layer.c).
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"

#include "pages/index_options.h"
#include "pages/page.h"
#include "pages/pair.h"

#define TAIL_OFFSET		(BLCKSZ - MAXALIGN(sizeof(BfPageTail)))

/* A hint about a damaged page. */
static int
hint_to_rebuild(Relation index)
{
	if (bf_live_is_for_plans(index))
		return errhint("Rebuild it with REINDEX INDEX CONCURRENTLY. Until then, set bloomext.enable_gate to off to keep query plans from using it.");
	return errhint("Rebuild it with REINDEX INDEX CONCURRENTLY.");
}

/* Raise XX002: the page cannot belong to a live filter. */
void
bf_page_corrupted(Relation index, BlockNumber block)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("block %u of live filter \"%s\" is corrupted",
					block, RelationGetRelationName(index)),
			 hint_to_rebuild(index)));
}

/* Initialize a page.  Only pending pages have a hole, which shrinks. */
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

/* Whether a pending page ends at pd_lower: all writers zero what follows. */
static bool
entries_end(Page page)
{
	static const BfHashPair none;
	uint32		used = ((PageHeader) page)->pd_lower - SizeOfPageHeaderData;
	uint32		room = BF_PAGE_PAIRS * sizeof(BfHashPair);

	return used <= room && used % sizeof(BfHashPair) == 0 &&
		(used == room ||
		 memcmp((char *) page + ((PageHeader) page)->pd_lower, &none,
				sizeof(none)) == 0);
}

/*
 * Check the pointers in the page header, as the next write to the page, or its
 * replay, zeroes the bytes between them: XX001.
 */
static void
check_pointers(Relation index, Buffer buffer, BfPageKind kind)
{
	Page		page = BufferGetPage(buffer);
	PageHeader	header = (PageHeader) page;

	if (header->pd_special == TAIL_OFFSET && header->pd_upper == TAIL_OFFSET &&
		(kind == BF_PAGE_PENDING ? entries_end(page) :
		 header->pd_lower == TAIL_OFFSET))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("block %u of live filter \"%s\" has corrupted page pointers: lower = %u, upper = %u, special = %u",
					BufferGetBlockNumber(buffer),
					RelationGetRelationName(index), header->pd_lower,
					header->pd_upper, header->pd_special),
			 hint_to_rebuild(index)));
}

/*
 * Check a locked page; false for a new one, which is all zeros: PostgreSQL reads no
 * other page without a header (PageIsVerified).
 */
bool
bf_page_check(Relation index, Buffer buffer, BfPageKind kind)
{
	Page		page = BufferGetPage(buffer);
	BfPageTail *tail;

	tail = (BfPageTail *) ((char *) page + TAIL_OFFSET);
	if (PageIsNew(page))
	{
		/* A page that merely lost a field is not new. */
		if (((PageHeader) page)->pd_lower != 0 || tail->page_id != 0)
			check_pointers(index, buffer, kind);
		return false;
	}
	if (tail->page_id != BF_PAGE_ID || tail->kind != kind)
		bf_page_corrupted(index, BufferGetBlockNumber(buffer));
	check_pointers(index, buffer, kind);
	return true;
}

/* Remember that the file has all its blocks. */
void
bf_live_note_complete(Relation index, BfLive *live)
{
	BfLive	   *kept = index->rd_amcache;

	live->complete = true;
	if (kept != NULL && RelFileLocatorEquals(kept->file, live->file) &&
		kept->nlayers == live->nlayers)
		kept->complete = true;
}

/*
 * The first block that the file does not have; once the file was extended, the
 * block after the last one of the filter.
 */
BlockNumber
bf_file_end(Relation index, BfLive *live)
{
	BlockNumber blocks;

	if (live->complete)
		return bf_live_end(live);
	blocks = RelationGetNumberOfBlocks(index);
	if (blocks >= bf_live_end(live))
		bf_live_note_complete(index, live);
	return blocks;
}

/* Whether the file has a block. */
static bool
has_block(Relation index, BfLive *live, BlockNumber block)
{
	return block < bf_file_end(index, live);
}

/* Extend a file to a number of blocks, if it is shorter. */
void
bf_file_extend_to(Relation index, BlockNumber blocks)
{
	static const CompatBlock zeros;

	LockRelationForExtension(index, ExclusiveLock);
	if (RelationGetNumberOfBlocks(index) < blocks)
		smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, blocks - 1,
				   (char *) zeros.data, false);
	UnlockRelationForExtension(index, ExclusiveLock);
}

/*
 * Extend the file to its full length, if it is shorter.  This must be done
 * before the first page is locked, as it waits for a heavyweight lock.
 */
void
bf_file_extend(Relation index, BfLive *live)
{
	BlockNumber wanted = bf_live_end(live);

	if (has_block(index, live, wanted - 1))
		return;
	bf_file_extend_to(index, wanted);
	bf_live_note_complete(index, live);
}

/*
 * Pin a page, and set *is_unseen if it is not in the buffer where it was last,
 * and so has to be checked.  InvalidBuffer if it does not exist yet.
 */
static Buffer
pin_unchecked(Relation index, BfLive *live, BlockNumber block, bool *is_unseen)
{
	Buffer		buffer = bf_buffer_hint_pin(index, block);

	*is_unseen = !BufferIsValid(buffer) && has_block(index, live, block);
	return *is_unseen ? bf_buffer_hint_read(index, block, live->ring) : buffer;
}

/* Pin a page that is not going to be locked; it is checked if need be. */
Buffer
bf_page_pin(Relation index, BfLive *live, BlockNumber block, BfPageKind kind)
{
	bool		is_unseen;
	Buffer		buffer = pin_unchecked(index, live, block, &is_unseen);

	if (is_unseen)
	{
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		bf_page_check(index, buffer, kind);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	return buffer;
}

/* Prefetch a byte of a page, and what bf_page_check() examines. */
void
bf_page_prefetch(RelFileLocator file, BlockNumber block, uint32 offset)
{
	const char *page = bf_buffer_hint_prefetch(file, block, offset);

	if (page == NULL)
		return;
	__builtin_prefetch(page);
	__builtin_prefetch(page + TAIL_OFFSET);
}

/* Read and share-lock a page; InvalidBuffer if it does not exist yet. */
Buffer
bf_page_for_read(Relation index, BfLive *live, BlockNumber block,
				 BfPageKind kind)
{
	bool		is_unseen;
	Buffer		buffer = pin_unchecked(index, live, block, &is_unseen);

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (bf_page_check(index, buffer, kind))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Read and exclusively lock a page that may be changed, of a file that has its
 * full length.  The page may be new; bf_record_page() handles that.
 */
Buffer
bf_page_for_write(Relation index, const BfLive *live, BlockNumber block,
				  BfPageKind kind)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block,
											RBM_NORMAL, live->ring);

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	bf_page_check(index, buffer, kind);
	return buffer;
}
