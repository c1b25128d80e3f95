/*
 * pending.c
 *	  Hashes of elements whose bits are not set yet.
 *
 * An element of a large filter has its bits on k pages, and after a checkpoint
 * each of them goes to WAL whole: 100 kB for one row.  So where few rows come
 * at once, their hashes wait on a pending page until many bits can be set for
 * each page that is touched.
 *
 * A hash is appended to the one page that it belongs to, so that a lookup has
 * one page to read.  When a page is full, all of them are flushed: that sets
 * some 25 bits for each page of the filter, where a single page's hashes would
 * set one bit here and there.
 *
 * A layer that is not the newest any more gets no new entries: who appends asks
 * that with the pending page locked, and what he has is then left over.
 *
 * To flush is to copy the entries, set their bits, and only then to cut from
 * each page as many entries as were copied; those appended in the meantime
 * stay.  Only one backend does so at a time (the page lock on the metapage),
 * so the first entries of a page are still those copied.  After a crash in
 * between, the entries are flushed once more.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

#include "pages/layers.h"

/* The block that a hash waits on. */
static BlockNumber
pending_block(const BfLiveLayer *layer, const BfHashPair *pair)
{
	return layer->start + (BlockNumber) (pair->h1 % layer->pending);
}

/* The entries of a page. */
static inline const BfHashPair *
page_pairs(Page page)
{
	return (const BfHashPair *) PageGetContents(page);
}

/* The number of entries on a page, a new one included. */
static inline uint32
page_count(Page page)
{
	if (PageIsNew(page))
		return 0;
	return (((PageHeader) page)->pd_lower - SizeOfPageHeaderData) /
		sizeof(BfHashPair);
}

/* Whether a hash is one of these. */
static bool
find_pair(const BfHashPair *pairs, uint32 count, const BfHashPair *pair)
{
	for (uint32 i = 0; i < count; i++)
	{
		if (pairs[i].h1 == pair->h1 && pairs[i].h2 == pair->h2)
			return true;
	}
	return false;
}

/* Put a page's new number of entries into the record. */
static void
write_count(uint32 count)
{
	LocationIndex lower = SizeOfPageHeaderData + count * sizeof(BfHashPair);

	bf_record_write(offsetof(PageHeaderData, pd_lower), &lower, sizeof(lower));
}

/*
 * Append hashes that all belong to one page, except those it has.  Those that
 * find no room are moved to the front; returns how many.  Where a layer was added,
 * that is all.
 */
static size_t
append(Relation index, const BfLive *live, BlockNumber block,
	   BfHashPair *pairs, size_t count)
{
	Buffer		buffer = bf_page_for_write(index, live, block, BF_PAGE_PENDING);
	Page		page = BufferGetPage(buffer);
	uint32		present = page_count(page);
	BfHashPair	new[BF_PAGE_PAIRS];
	uint32		nnew = 0;
	size_t		left = 0;

	if (!bf_live_is_current(index, live))
	{
		UnlockReleaseBuffer(buffer);
		return count;
	}
	for (size_t i = 0; i < count; i++)
	{
		if (find_pair(page_pairs(page), present, &pairs[i]) ||
			find_pair(new, nnew, &pairs[i]))
			continue;
		if (present + nnew < BF_PAGE_PAIRS)
			new[nnew++] = pairs[i];
		else
			pairs[left++] = pairs[i];
	}
	if (nnew == 0)
	{
		UnlockReleaseBuffer(buffer);
		return left;
	}
	bf_record_begin(index);
	bf_record_page(buffer, BF_PAGE_PENDING);
	write_count(present + nnew);
	bf_record_write(SizeOfPageHeaderData + present * sizeof(BfHashPair),
					new, nnew * sizeof(BfHashPair));
	bf_record_finish();
	return left;
}

/* Order hashes by the block that they wait on. */
static int
compare_by_block(const void *left, const void *right, void *arg)
{
	BlockNumber a = pending_block(arg, left);
	BlockNumber b = pending_block(arg, right);

	return a < b ? -1 : a > b;
}

/* Append hashes to the pages they belong to; returns how many are left. */
static size_t
append_all(Relation index, BfLive *live, const BfLiveLayer *layer,
		   BfHashPair *pairs, size_t count)
{
	size_t		left = 0;

	bf_file_extend(index, live);
	if (count > 1)
		qsort_arg(pairs, count, sizeof(BfHashPair), compare_by_block,
				  (void *) layer);
	for (size_t i = 0; i < count;)
	{
		BlockNumber block = pending_block(layer, &pairs[i]);
		size_t		n = 1;
		size_t		over;

		while (i + n < count && pending_block(layer, &pairs[i + n]) == block)
			n++;
		CHECK_FOR_INTERRUPTS();
		over = append(index, live, block, pairs + i, n);
		memmove(pairs + left, pairs + i, over * sizeof(BfHashPair));
		left += over;
		i += n;
	}
	return left;
}

/*
 * Let hashes wait, after a flush if there is no room for them.  Those that
 * still have none, or while somebody else flushes, are moved to the front:
 * returns how many.
 */
size_t
bf_pending_add(Relation index, BfLive *live, const BfLiveLayer *layer,
			   BfHashPair *pairs, size_t count)
{
	size_t		left = append_all(index, live, layer, pairs, count);

	if (left > 0 && ConditionalLockPage(index, BF_META_BLOCK, ExclusiveLock))
	{
		bf_pending_flush(index, live, layer);
		UnlockPage(index, BF_META_BLOCK, ExclusiveLock);
		left = append_all(index, live, layer, pairs, left);
	}
	return left;
}

/* Whether a hash is waiting for its bits in a layer. */
bool
bf_pending_contains(Relation index, BfLive *live, const BfLiveLayer *layer,
					const BfHashPair *pair)
{
	Buffer		buffer;
	Page		page;
	bool		found;

	if (layer->sealed)
		return false;
	buffer = bf_page_for_read(index, live, pending_block(layer, pair),
							  BF_PAGE_PENDING);
	if (!BufferIsValid(buffer))
		return false;
	page = BufferGetPage(buffer);
	found = find_pair(page_pairs(page), page_count(page), pair);
	UnlockReleaseBuffer(buffer);
	return found;
}

/* How many hashes wait on one of a layer's pending pages. */
uint32
bf_pending_count(Relation index, BfLive *live, const BfLiveLayer *layer,
				 BlockNumber page)
{
	Buffer		buffer = bf_page_for_read(index, live, layer->start + page,
										  BF_PAGE_PENDING);
	uint32		count;

	if (!BufferIsValid(buffer))
		return 0;
	count = page_count(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return count;
}

/* Copy a pending page's entries; returns how many. */
static uint32
copy_page(Relation index, BfLive *live, BlockNumber block, BfHashPair *pairs)
{
	Buffer		buffer = bf_page_for_read(index, live, block,
										  BF_PAGE_PENDING);
	uint32		count;
	Page		page;

	if (!BufferIsValid(buffer))
		return 0;
	page = BufferGetPage(buffer);
	count = page_count(page);
	memcpy(pairs, page_pairs(page), count * sizeof(BfHashPair));
	UnlockReleaseBuffer(buffer);
	return count;
}

/* Copy all hashes that wait for their bits in a layer. */
BfHashPair *
bf_pending_copy(Relation index, BfLive *live, const BfLiveLayer *layer,
				size_t *count)
{
	Size		room = layer->pending * BF_PAGE_PAIRS + 1;
	BfHashPair *pairs = palloc(room * sizeof(BfHashPair));

	*count = 0;
	for (BlockNumber i = 0; i < layer->pending; i++)
	{
		CHECK_FOR_INTERRUPTS();
		*count += copy_page(index, live, layer->start + i, pairs + *count);
	}
	return pairs;
}

/* Cut the first entries of a page, which had as many when they were copied. */
static void
cut(Relation index, const BfLive *live, BlockNumber block, uint32 count)
{
	Buffer		buffer = bf_page_for_write(index, live, block, BF_PAGE_PENDING);
	Page		page = BufferGetPage(buffer);
	uint32		present = page_count(page);
	uint32		left;

	if (present < count)
		bf_page_corrupted(index, block);
	left = present - count;
	bf_record_begin(index);
	bf_record_page(buffer, BF_PAGE_PENDING);
	write_count(left);
	if (left > 0)
		bf_record_write(SizeOfPageHeaderData, page_pairs(page) + count,
						left * sizeof(BfHashPair));
	bf_record_finish();
}

/*
 * Set the bits of all that waits for them in a layer.  The caller holds the page
 * lock on the metapage.
 */
void
bf_pending_flush(Relation index, BfLive *live, const BfLiveLayer *layer)
{
	BfHashPair *pairs;
	uint32	   *counts;
	size_t		total = 0;

	if (layer->sealed)
		return;
	pairs = palloc(layer->pending * BF_PAGE_PAIRS * sizeof(BfHashPair));
	counts = palloc(layer->pending * sizeof(uint32));
	for (BlockNumber i = 0; i < layer->pending; i++)
	{
		counts[i] = copy_page(index, live, layer->start + i, pairs + total);
		total += counts[i];
	}
	bf_direct_add(index, live, layer, pairs, total);
	for (BlockNumber i = 0; i < layer->pending; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (counts[i] > 0)
			cut(index, live, layer->start + i, counts[i]);
	}
	pfree(counts);
	pfree(pairs);
}
