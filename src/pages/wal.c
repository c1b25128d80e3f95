/*
 * wal.c
 *	  Change up to four pages at once, and log that to WAL.
 *
 * All changes of pages are logged here, except that a build (index/build.c)
 * and a new metapage (meta.c) log whole pages, with log_newpage_buffer().
 *
 * The record is a generic one, which PostgreSQL itself replays: a standby or a
 * crashed server does not need this module to recover.  The stock way to make
 * one, GenericXLogStart() to GenericXLogFinish(), copies each page and
 * compares all of it, 8 kB to find one bit; we know what we change, and write
 * the same record directly for a tenth of that cost.
 *
 * The contents of a generic record are internal to PostgreSQL, although
 * unchanged since 9.6: fragments of a 16-bit offset, a 16-bit length and that
 * number of bytes, after which the hole between pd_lower and pd_upper is
 * zeroed.  All code that depends on this is in this file, and building with
 * -DBLOOMEXT_STOCK_WAL uses the stock way instead.
 *
 * A caller passes locked buffers, in the order of their blocks, and for each
 * the bytes to be changed, in the order of their offsets; nothing is changed
 * before bf_record_finish().  Only one record is under construction at a
 * time, so it is in static memory: it would be too large for the stack and
 * too costly to allocate.  An error in between leaves the pages unchanged.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/page.h"

StaticAssertDecl(BF_RECORD_PAGES <= MAX_GENERIC_XLOG_PAGES,
				 "a generic record has room for the pages of ours");

/* A fragment's offset and length. */
typedef OffsetNumber Fragment[2];

/*
 * Fragments that are no further apart than this are merged: the bytes between
 * are cheaper than another header.
 */
#define FRAGMENT_GAP	sizeof(Fragment)

/* Fragments that are further apart never exceed this, including headers. */
#define DELTA_SIZE		(BLCKSZ + sizeof(Fragment))

typedef struct RecordPage
{
	Buffer		buffer;
	BfPageKind	kind;
	bool		is_new;			/* to be initialized first */
	uint32		last;			/* the last fragment's header, in delta */
	uint32		length;
	uint8		delta[DELTA_SIZE];
} RecordPage;

static struct
{
	Relation	index;
	int			npages;
	RecordPage	pages[BF_RECORD_PAGES];
}			record;

/*
 * Whether changes of an index go to WAL, rather than its file being synced at
 * commit.  PostgreSQL's RelationNeedsWAL() tests the age of the relation,
 * which may have swapped its file for an older one.
 */
bool
bf_needs_wal(Relation index)
{
	return RelationIsPermanent(index) &&
		(XLogIsNeeded() || !RelFileLocatorSkippingWAL(compat_locator_of(index)));
}

/* Begin a record. */
void
bf_record_begin(Relation index)
{
	record.index = index;
	record.npages = 0;
}

/* Whether the record has no pages yet. */
bool
bf_record_is_empty(void)
{
	return record.npages == 0;
}

/* Whether the record is full. */
bool
bf_record_is_full(void)
{
	return record.npages == BF_RECORD_PAGES;
}

/*
 * Add a page, exclusively locked, for the next writes.  A new one will be
 * initialized as a page of that kind first.
 */
void
bf_record_page(Buffer buffer, BfPageKind kind)
{
	RecordPage *page = &record.pages[record.npages++];

	page->buffer = buffer;
	page->kind = kind;
	page->is_new = PageIsNew(BufferGetPage(buffer));
	page->length = 0;
}

/* Change bytes of the page added last, in ascending order. */
void
bf_record_write(uint32 offset, const void *bytes, uint32 length)
{
	RecordPage *page = &record.pages[record.npages - 1];
	const char *present = BufferGetPage(page->buffer);
	Fragment	fragment;
	uint32		gap;

	if (page->length > 0)
	{
		memcpy(fragment, page->delta + page->last, sizeof(fragment));
		gap = offset - fragment[0] - fragment[1];
		if (gap <= FRAGMENT_GAP)
		{
			memcpy(page->delta + page->length, present + offset - gap, gap);
			memcpy(page->delta + page->length + gap, bytes, length);
			page->length += gap + length;
			fragment[1] += gap + length;
			memcpy(page->delta + page->last, fragment, sizeof(fragment));
			return;
		}
	}

	fragment[0] = offset;
	fragment[1] = length;
	page->last = page->length;
	memcpy(page->delta + page->length, fragment, sizeof(fragment));
	memcpy(page->delta + page->length + sizeof(fragment), bytes, length);
	page->length += sizeof(fragment) + length;
}

/* Apply the changes of a page to it, or to a copy of it. */
static void
apply_changes(const RecordPage *changes, Page page)
{
	PageHeader	header = (PageHeader) page;
	uint32		done = 0;

	if (changes->is_new)
		bf_page_init(page, changes->kind);
	while (done < changes->length)
	{
		Fragment	fragment;

		memcpy(fragment, changes->delta + done, sizeof(fragment));
		done += sizeof(fragment);
		memcpy((char *) page + fragment[0], changes->delta + done, fragment[1]);
		done += fragment[1];
	}
	/* As replay does. */
	memset((char *) page + header->pd_lower, 0,
		   header->pd_upper - header->pd_lower);
}

#ifdef BLOOMEXT_STOCK_WAL

/* Change the pages of the record, and log that. */
static void
change_and_log(void)
{
	GenericXLogState *state = GenericXLogStart(record.index);

	for (int i = 0; i < record.npages; i++)
	{
		RecordPage *page = &record.pages[i];
		int			flags = page->is_new ? GENERIC_XLOG_FULL_IMAGE : 0;

		apply_changes(page,
					  GenericXLogRegisterBuffer(state, page->buffer, flags));
	}
	GenericXLogFinish(state);
}

#else

/*
 * Register a page for the record.  A new one is registered as an image, so
 * that replay can create a page that its file does not have; not as
 * REGBUF_WILL_INIT, which generic_redo() does not expect.
 */
static void
register_page(uint8 number, RecordPage *page)
{
	if (page->is_new)
		XLogRegisterBuffer(number, page->buffer,
						   REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	else
	{
		XLogRegisterBuffer(number, page->buffer, REGBUF_STANDARD);
		XLogRegisterBufData(number, (char *) page->delta, page->length);
	}
}

/* Change the pages of the record, and log that. */
static void
change_and_log(void)
{
	bool		logged = bf_needs_wal(record.index);
	XLogRecPtr	lsn;

	if (logged)
		XLogBeginInsert();
	START_CRIT_SECTION();
	for (int i = 0; i < record.npages; i++)
	{
		RecordPage *page = &record.pages[i];

		apply_changes(page, BufferGetPage(page->buffer));
		MarkBufferDirty(page->buffer);
		if (logged)
			register_page((uint8) i, page);
	}
	if (logged)
	{
		lsn = XLogInsert(RM_GENERIC_ID, 0);
		for (int i = 0; i < record.npages; i++)
			PageSetLSN(BufferGetPage(record.pages[i].buffer), lsn);
	}
	END_CRIT_SECTION();
}

#endif							/* BLOOMEXT_STOCK_WAL */

/*
 * Make the changes, log them, and release the pages, which stay locked until
 * the record is in WAL, as a backend that sees a bit set relies on that.
 */
void
bf_record_finish(void)
{
	if (record.npages == 0)
		return;
	change_and_log();
	for (int i = 0; i < record.npages; i++)
		UnlockReleaseBuffer(record.pages[i].buffer);
	record.npages = 0;
}
