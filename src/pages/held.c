/*
 * held.c
 *	  Find which of many hashes a layer of a live filter already holds.
 *
 * Hashes that the layer holds are not stored again.  So a bit or pending hash
 * counts as found only if it was seen under the lock of its page.  A backend
 * that writes one keeps this lock until the change is in WAL.  So if we leave
 * out what that backend wrote, and then commit, our commit record comes after
 * the change.
 *
 * Pending pages are examined before the bits (layers.h).  Bits are tested in
 * rounds: two bits of each hash, then in each round as many as were tested so
 * far.  A hash leaves the search when one of its bits is not set.  Most
 * hashes that the layer does not hold leave early, as even in a full layer
 * half of their bits are not set.  In each round the bits are sorted by
 * position, so that each page is locked once.  Where all bits of a hash are
 * on one page, there is one round.
 *
 * The search for a single hash mostly waits for memory.  So if there are few
 * hashes, what the first round reads in each layer is prefetched.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/layers.h"

/* A key is the page of a bit, the bit there, and the hash's number. */
#define NUMBER_BITS		16
#define MOST_HASHES		(1 << NUMBER_BITS)
#define BIT_BITS		18
#define PAGE_SHIFT		(BIT_BITS + NUMBER_BITS)

StaticAssertDecl(BF_PAGE_BITS <= 1 << BIT_BITS, "a key has room for a bit's number");

/* Bits tested in the first round. */
#define FIRST_BITS		2

/* The maximum number of hashes to prefetch memory for. */
#define FEW				4

/* Bits tested per round, at most: 2 MB, and as much to sort them. */
#define KEYS_AT_ONCE	(256 * 1024)

typedef struct Search
{
	Relation	index;
	BfLive	   *live;
	const BfLiveLayer *layer;
	BfKeys		keys;
	bool	   *lacks;			/* of each hash: is it surely not there? */
} Search;

/* Leave out pending hashes; returns how many are left. */
static size_t
leave_out_pending(Relation index, BfLive *live, const BfLiveLayer *layer,
				  BfHashPair *pairs, size_t count)
{
	size_t		left = 0;

	if (layer->sealed)
		return count;
	for (size_t i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!bf_pending_contains(index, live, layer, &pairs[i]))
			pairs[left++] = pairs[i];
	}
	return left;
}

/* Note which hashes lack a bit, by keys that are all of one page. */
static void
test_page(Search *search, const uint64 *keys, size_t count)
{
	BlockNumber page = (BlockNumber) (keys[0] >> PAGE_SHIFT);
	Buffer		buffer = bf_page_for_read(search->index, search->live,
										  bf_data_block(search->layer, page),
										  BF_PAGE_DATA);
	const uint8 *bits = BufferIsValid(buffer) ?
		(const uint8 *) PageGetContents(BufferGetPage(buffer)) : NULL;

	for (size_t i = 0; i < count; i++)
	{
		uint64		bit = keys[i] >> NUMBER_BITS & ((1 << BIT_BITS) - 1);

		if (bits == NULL || !bf_bit_get(bits, bit))
			search->lacks[keys[i] & (MOST_HASHES - 1)] = true;
	}
	if (bits != NULL)
		UnlockReleaseBuffer(buffer);
}

/* Note which hashes lack a bit, by sorted keys. */
static void
test_keys(Search *search)
{
	const uint64 *keys = search->keys.keys;
	size_t		count = search->keys.count;

	for (size_t i = 0; i < count;)
	{
		size_t		n = 1;

		while (i + n < count &&
			   keys[i + n] >> PAGE_SHIFT == keys[i] >> PAGE_SHIFT)
			n++;
		CHECK_FOR_INTERRUPTS();
		test_page(search, keys + i, n);
		i += n;
	}
}

/*
 * Test `bits` bits of each hash, starting with number `first`.  Hashes that
 * lack one are moved to the front; returns how many.
 */
static size_t
take_turn(Search *search, BfHashPair *pairs, size_t count, uint32 first,
		  uint32 bits)
{
	const BfLayer *shape = &search->layer->shape;
	uint64	   *key = search->keys.keys;
	size_t		lacking = 0;

	for (size_t i = 0; i < count; i++)
	{
		BfHash		hash = bf_hash_of(&pairs[i]);

		search->live->plan.strategy->positions(&hash, shape->bits, first, bits,
											   key);
		for (uint32 j = 0; j < bits; j++, key++)
			*key = (*key / BF_PAGE_BITS) << PAGE_SHIFT |
				(*key % BF_PAGE_BITS) << NUMBER_BITS | i;
	}
	search->keys.count = count * bits;
	bf_keys_sort(&search->keys, PAGE_SHIFT,
				 (uint64) search->layer->pages << PAGE_SHIFT);
	memset(search->lacks, false, count);
	test_keys(search);
	for (size_t i = 0; i < count; i++)
	{
		BfHashPair	pair = pairs[i];

		if (!search->lacks[i])
			continue;
		pairs[i] = pairs[lacking];
		pairs[lacking++] = pair;
	}
	return lacking;
}

/* Move hashes that lack a bit to the front; returns how many. */
static size_t
leave_out_set(Search *search, BfHashPair *pairs, size_t count)
{
	bool		on_one_page = search->live->plan.strategy->blocks != NULL;
	uint32		hashes = search->layer->shape.hashes;
	size_t		lacking = 0;
	uint32		bits;

	for (uint32 first = 0; first < hashes && lacking < count; first += bits)
	{
		bits = on_one_page ? hashes : Min(Max(first, FIRST_BITS), hashes - first);
		lacking += take_turn(search, pairs + lacking, count - lacking, first,
							 bits);
	}
	return lacking;
}

/* Leave out the hashes that a layer holds; returns how many are left. */
static size_t
leave_out_layer(Search *search, const BfLiveLayer *layer, BfHashPair *pairs,
				size_t count, size_t at_once)
{
	size_t		left = 0;

	search->layer = layer;
	count = leave_out_pending(search->index, search->live, layer, pairs, count);
	for (size_t done = 0; done < count; done += at_once)
	{
		size_t		lacking = leave_out_set(search, pairs + done,
											Min(at_once, count - done));

		memmove(pairs + left, pairs + done, lacking * sizeof(BfHashPair));
		left += lacking;
	}
	return left;
}

/*
 * Leave out the hashes that one of some layers holds, or seems to.  The others
 * are moved to the front; returns how many.  The newest layer comes first, as
 * it is the largest and so the most likely one.
 */
size_t
bf_live_leave_out(Relation index, BfLive *live, uint32 first, uint32 end,
				  BfHashPair *pairs, size_t count)
{
	Search		search = {.index = index,.live = live};
	uint32		hashes = 1;
	size_t		at_once;

	if (first >= end || count == 0)
		return count;
	for (uint32 i = first; i < end; i++)
	{
		hashes = Max(hashes, live->layers[i].shape.hashes);
		for (size_t j = 0; j < count && count <= FEW; j++)
			bf_layer_prefetch(live, &live->layers[i], &pairs[j]);
	}
	at_once = Min(Min(KEYS_AT_ONCE / hashes, MOST_HASHES), count);
	bf_keys_allocate(&search.keys, at_once * hashes);
	search.lacks = palloc(at_once * sizeof(bool));
	while (end > first && count > 0)
		count = leave_out_layer(&search, &live->layers[--end], pairs, count,
								at_once);
	pfree(search.lacks);
	bf_keys_free(&search.keys);
	return count;
}
