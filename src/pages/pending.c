/*
 * pending.c
 *	  Hashes of elements whose bits are not set yet.
 *
 * In a large filter, an element has its bits on k pages, and each page goes
 * to WAL as a whole when it is first changed after a checkpoint: 100 kB for
 * one row.  So if there are few rows at once, their hashes are kept on a
 * pending page until many bits can be set on each page that is modified.
 *
 * A hash is appended to the one page that it belongs to, so that a lookup has
 * one page to read.  When one pending page is full, all of them are flushed:
 * that sets about 25 bits on each page of the filter, where the hashes of one
 * pending page would set single bits here and there.
 *
 * Where an element has all of its bits on one page, there is a pending page
 * for each range of data pages, and one that is full is flushed alone: that
 * sets as many bits on each page, and the backend that does it visits some
 * 256 pages instead of all.
 *
 * A layer that is no longer the newest gets no new entries.  A backend that
 * appends checks, with the pending page locked, whether its layer still is
 * the newest, and keeps what it could not append.
 *
 * A flush copies the entries, sets their bits, and only then removes as many
 * entries from each page as were copied; those appended in the meantime stay.
 * Only one backend does this at a time (page lock on the metapage), so the
 * first entries of a page are still those copied.  After a crash in between,
 * the entries are flushed again.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"

#include "pages/layers.h"

/* A layer, and what its strategy says of places. */
typedef struct Place
{
	const BfLiveLayer *layer;
	const BfBlocks *blocks;		/* or NULL */
} Place;

/* Where hashes of a layer are pending. */
static inline Place
place_of(const BfLive *live, const BfLiveLayer *layer)
{
	return (Place) {layer, live->plan.strategy->blocks};
}

/* The pending page of a hash. */
static BlockNumber
pending_block(const Place *place, const BfHashPair *pair)
{
	const BfLiveLayer *layer = place->layer;
	BfHash		hash = bf_hash_of(pair);
	uint64		page;

	if (place->blocks == NULL)
		return layer->start + (BlockNumber) (pair->h1 % layer->pending);
	page = place->blocks->find(&hash, layer->shape.bits) / BF_PAGE_BYTES;
	return layer->start + (BlockNumber) (page * layer->pending / layer->pages);
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

/* Whether a hash is among others. */
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
 * Append hashes that all belong to one page, except those that it has.  Hashes
 * that do not fit, or all if a layer was added meanwhile, are moved to the
 * front; returns how many.
 */
static size_t
append_to_page(Relation index, const BfLive *live, BlockNumber block,
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

/* Order hashes by their pending pages. */
static int
compare_by_block(const void *left, const void *right, void *arg)
{
	BlockNumber a = pending_block(arg, left);
	BlockNumber b = pending_block(arg, right);

	return a < b ? -1 : a > b;
}

/* Append hashes to their pending pages; returns how many are left. */
static size_t
append_all(Relation index, BfLive *live, const BfLiveLayer *layer,
		   BfHashPair *pairs, size_t count)
{
	Place		place = place_of(live, layer);
	size_t		left = 0;

	bf_file_extend(index, live);
	if (count > 1)
		qsort_arg(pairs, count, sizeof(BfHashPair), compare_by_block, &place);
	for (size_t i = 0; i < count;)
	{
		BlockNumber block = pending_block(&place, &pairs[i]);
		size_t		n = 1;
		size_t		over;

		while (i + n < count && pending_block(&place, &pairs[i + n]) == block)
			n++;
		CHECK_FOR_INTERRUPTS();
		over = append_to_page(index, live, block, pairs + i, n);
		memmove(pairs + left, pairs + i, over * sizeof(BfHashPair));
		left += over;
		i += n;
	}
	return left;
}

/* Copy the entries of a pending page; returns how many. */
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

/* Remove the first entries of a page, which had that many when copied. */
static void
cut_page(Relation index, const BfLive *live, BlockNumber block, uint32 count)
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
 * Set the bits of the hashes on some pending pages of a layer.  The caller holds
 * the page lock on the metapage.
 */
static void
flush_pages(Relation index, BfLive *live, const BfLiveLayer *layer,
			BlockNumber first, BlockNumber pages)
{
	BfHashPair *pairs = palloc(pages * BF_PAGE_PAIRS * sizeof(BfHashPair));
	uint32	   *counts = palloc(pages * sizeof(uint32));
	BlockNumber start = layer->start + first;
	size_t		total = 0;

	for (BlockNumber i = 0; i < pages; i++)
	{
		counts[i] = copy_page(index, live, start + i, pairs + total);
		total += counts[i];
	}
	bf_set_bits(index, live, layer, pairs, total);
	for (BlockNumber i = 0; i < pages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (counts[i] > 0)
			cut_page(index, live, start + i, counts[i]);
	}
	pfree(counts);
	pfree(pairs);
}

/*
 * Make room on the pending pages of hashes, which are sorted by these.  The
 * caller holds the page lock on the metapage.
 */
static void
flush_for(Relation index, BfLive *live, const BfLiveLayer *layer,
		  const BfHashPair *pairs, size_t count)
{
	Place		place = place_of(live, layer);
	BlockNumber flushed = InvalidBlockNumber;

	if (place.blocks == NULL)
	{
		bf_pending_flush(index, live, layer);
		return;
	}
	for (size_t i = 0; i < count; i++)
	{
		BlockNumber block = pending_block(&place, &pairs[i]);

		if (block != flushed)
			flush_pages(index, live, layer, block - layer->start, 1);
		flushed = block;
	}
}

/*
 * Add hashes to the pending pages, after a flush if there is no room for them.
 * Hashes that still do not fit, or that another backend's flush keeps out, are
 * moved to the front; returns how many.
 */
size_t
bf_pending_add(Relation index, BfLive *live, const BfLiveLayer *layer,
			   BfHashPair *pairs, size_t count)
{
	size_t		left = append_all(index, live, layer, pairs, count);

	if (left > 0 && ConditionalLockPage(index, BF_META_BLOCK, ExclusiveLock))
	{
		flush_for(index, live, layer, pairs, left);
		UnlockPage(index, BF_META_BLOCK, ExclusiveLock);
		left = append_all(index, live, layer, pairs, left);
	}
	return left;
}

/* Whether a hash is pending in a layer. */
bool
bf_pending_contains(Relation index, BfLive *live, const BfLiveLayer *layer,
					const BfHashPair *pair)
{
	Place		place = place_of(live, layer);
	Buffer		buffer;
	Page		page;
	bool		found;

	if (layer->sealed)
		return false;
	buffer = bf_page_for_read(index, live, pending_block(&place, pair),
							  BF_PAGE_PENDING);
	if (!BufferIsValid(buffer))
		return false;
	page = BufferGetPage(buffer);
	found = find_pair(page_pairs(page), page_count(page), pair);
	UnlockReleaseBuffer(buffer);
	return found;
}

/* The number of hashes on one of the pending pages of a layer. */
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

/* Copy all pending hashes of a layer. */
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

/* Set a layer's pending bits; the caller has the metapage's page lock. */
void
bf_pending_flush(Relation index, BfLive *live, const BfLiveLayer *layer)
{
	if (!layer->sealed)
		flush_pages(index, live, layer, 0, layer->pending);
}
