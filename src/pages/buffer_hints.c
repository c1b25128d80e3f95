/*
 * buffer_hints.c
 *	  Pin pages of live filters in the buffers where this backend found them
 *	  last.
 *
 * A lookup reads about ten pages, one byte of each.  So most of its work is
 * finding these pages in the buffer table, and in a large filter most of its
 * waiting for memory, too.  Therefore each backend remembers the buffer of a
 * page.  This is a hint: ReadRecentBuffer() verifies that the page is still
 * there, by the same comparison that the buffer table would make.  So nothing
 * needs to be done when pages leave their buffers, or a filter gets another
 * file.
 *
 * Pages that are used often stay in memory, but PostgreSQL counts as a use
 * only a pin after a lookup in the buffer table.  So one pin in PINS_A_LOOKUP
 * makes such a lookup.  So do the next PINS_AFTER_READ pins after a page had
 * to be read; otherwise pages might be evicted that are used more often than
 * others.
 *
 * Pages of temporary tables are not remembered: their files can have the same
 * number as those of other tables, and releases up to 14.4 would look for them
 * in shared buffers.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "pages/page.h"

/*
 * Pages remembered: those of a filter of 8 GB.  In a larger one two pages
 * share an entry, and a hint that misleads costs more than none.
 */
#define HINTED_PAGES	(1024 * 1024)

/* The golden ratio times 2^32: multiplying by it spreads numbers evenly. */
#define SPREAD			UINT32_C(0x9E3779B9)

/* One pin in 32, on average, goes through the buffer table. */
#define PINS_A_LOOKUP	32

/* So do this many pins after a read from outside of shared buffers. */
#define PINS_AFTER_READ	1024

/* Buffers, or InvalidBuffer; pages with one entry replace each other. */
static Buffer hints[HINTED_PAGES];

/* Number of next pins that go through the buffer table. */
static uint32 lookups_due;

/* The entry for a page; those of consecutive pages are adjacent. */
static inline Buffer *
hint_slot(RelFileLocator file, BlockNumber block)
{
	uint32		number = (uint32) file.compat_number;

	return &hints[(number * SPREAD + block) % HINTED_PAGES];
}

/* Whether to use the buffer table; pseudo-random, as calls may be periodic. */
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

/* Pin a page in its last buffer; InvalidBuffer if it has to be read. */
Buffer
bf_buffer_hint_pin(Relation index, BlockNumber block)
{
	Buffer		buffer = *hint_slot(compat_locator_of(index), block);

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
bf_buffer_hint_read(Relation index, BlockNumber block,
					BufferAccessStrategy ring)
{
	int64		before = pgBufferUsage.shared_blks_read;
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block,
											RBM_NORMAL, ring);

	if (pgBufferUsage.shared_blks_read != before)
		lookups_due = PINS_AFTER_READ;
	if (!BufferIsLocal(buffer))
		*hint_slot(compat_locator_of(index), block) = buffer;
	return buffer;
}

/*
 * Prefetch a byte of a page, and its buffer descriptor, into the processor's
 * cache.  Returns the page's last address, or NULL.
 */
const char *
bf_buffer_hint_prefetch(RelFileLocator file, BlockNumber block, uint32 offset)
{
	Buffer		buffer = *hint_slot(file, block);

	if (!BufferIsValid(buffer))
		return NULL;
	/* Pinning writes to the descriptor. */
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(buffer) + offset);
	return (const char *) BufferGetPage(buffer);
}
