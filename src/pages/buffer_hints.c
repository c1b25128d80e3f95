/*
 * buffer_hints.c
 *	  Pin pages of live filters where this backend found them last.
 *
 * A question to a filter reads some ten pages for a byte each, so that looking
 * them up in the buffer table is most of its work, and, of a large filter, most
 * of its waiting for memory.  So each backend remembers the buffer that a page was
 * in.  That is a hint: whether the page is there yet, ReadRecentBuffer() finds
 * out, by what the lookup would have compared.  Whatever takes pages out of their
 * buffers, or gives a filter another file, need not be noticed.
 *
 * Only a lookup in the buffer table counts as a use, by which pages stay in
 * memory, so now and then there is one; and each time for a while after a page had
 * to be read, as others might have to leave, which are used more often than it.
 *
 * Pages of temporary tables are not remembered.  Their files may be called as
 * other tables' are, and releases up to 14.4 would look for them elsewhere.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "pages/page.h"

/*
 * Pages remembered: as many as a filter of 8 GB has.  Of a larger one two pages
 * in a place are a hint that misleads, which costs more than none.
 */
#define RECENT_PAGES	(1024 * 1024)

/* The golden ratio of 2^32: what is multiplied by it is spread evenly. */
#define SPREAD			UINT32_C(0x9E3779B9)

/* One of so many pins is by the buffer table. */
#define PINS_A_LOOKUP	32

/* So are so many pins after a page was read from outside of shared buffers. */
#define PINS_AFTER_READ	1024

/* The buffers, or InvalidBuffer; two pages may take each other's place. */
static Buffer recent[RECENT_PAGES];

/* Pins to come that are by the buffer table. */
static uint32 lookups_due;

/* Where a page's buffer is remembered: those of one filter, side by side. */
static inline Buffer *
slot(RelFileLocator file, BlockNumber block)
{
	uint32		number = (uint32) file.compat_number;

	return &recent[(number * SPREAD + block) % RECENT_PAGES];
}

/* Whether it is time for a lookup, at no period that callers might have. */
static bool
lookup_is_due(void)
{
	static uint32 turn;

	if (lookups_due > 0)
	{
		lookups_due--;
		return true;
	}
	turn += SPREAD;
	return turn < PG_UINT32_MAX / PINS_A_LOOKUP;
}

/* Pin a page where it was last; InvalidBuffer if it has to be read. */
Buffer
bf_recent_pin(Relation index, BlockNumber block)
{
	Buffer		buffer = *slot(compat_locator_of(index), block);

	if (!BufferIsValid(buffer) || lookup_is_due() ||
		RelationUsesLocalBuffers(index) ||
		!ReadRecentBuffer(compat_locator_of(index), MAIN_FORKNUM, block,
						  buffer))
		return InvalidBuffer;
	/* As ReadBuffer() counts it. */
	pgstat_count_buffer_read(index);
	pgstat_count_buffer_hit(index);
	return buffer;
}

/* Read and pin a page, and remember where it is. */
Buffer
bf_recent_read(Relation index, BlockNumber block, BufferAccessStrategy ring)
{
	int64		before = pgBufferUsage.shared_blks_read;
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block,
											RBM_NORMAL, ring);

	if (pgBufferUsage.shared_blks_read != before)
		lookups_due = PINS_AFTER_READ;
	if (!BufferIsLocal(buffer))
		*slot(compat_locator_of(index), block) = buffer;
	return buffer;
}

/*
 * Request a byte of a page from memory, and what it takes to pin it; tells where
 * the page was last, or NULL.
 */
const char *
bf_recent_prefetch(RelFileLocator file, BlockNumber block, uint32 offset)
{
	Buffer		buffer = *slot(file, block);

	if (!BufferIsValid(buffer))
		return NULL;
	/* To pin it is to write there. */
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(buffer) + offset);
	return (const char *) BufferGetPage(buffer);
}
