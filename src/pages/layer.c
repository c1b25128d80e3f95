/*
 * layer.c
 *	  Look an element up in a layer of a live filter.
 *
 * The pending page is examined before the bits (layers.h), and the bits only
 * up to the first one that is not set.  Two positions are derived first, the
 * others only if both bits are set.
 *
 * Each bit is usually on a different page, and a lookup in a large filter
 * mostly waits for memory.  So memory is prefetched: that of the first two
 * bits before the pending page is examined, that of the others all at once.
 *
 * If the strategy has blocks, all bits of an element are in one block on one
 * page, and the block is tested as a whole.
 *
 * A bit that is set is accepted on a page that is pinned but not locked: at
 * worst it causes a "maybe", which is never wrong.  A bit that is not set is
 * tested again with the page locked and checked.  So a "no" does not depend on
 * concurrent changes to pages, or on their replay.
 */
#include "postgres.h"

#include "storage/bufmgr.h"

#include "pages/layers.h"

/* Positions derived first. */
#define FIRST_POSITIONS	2

/* The location of a bit. */
typedef struct BitPlace
{
	BlockNumber block;
	uint32		offset;			/* of its byte on the page */
	uint8		mask;
} BitPlace;

/* Locate `count` bits of an element, starting with number `first`. */
static void
locate_bits(const BfStrategy *strategy, const BfLiveLayer *layer,
			const BfHash *hash, uint32 first, uint32 count, BitPlace *places)
{
	uint64		positions[BF_MAX_HASHES];

	strategy->positions(hash, layer->shape.bits, first, count, positions);
	for (uint32 i = 0; i < count; i++)
	{
		BlockNumber page = (BlockNumber) (positions[i] / BF_PAGE_BITS);
		uint64		bit = positions[i] - page * BF_PAGE_BITS;

		places[i] = (BitPlace) {
			.block = bf_data_block(layer, page),
			.offset = MAXALIGN(SizeOfPageHeaderData) +
				(uint32) bf_bit_byte(bit),
			.mask = bf_bit_mask(bit)
		};
	}
}

/* The location of an element's block. */
typedef struct BlockPlace
{
	BlockNumber block;			/* of the file */
	uint32		offset;			/* of the strategy's block on the page */
} BlockPlace;

/* Locate the block of an element. */
static BlockPlace
locate_block(const BfStrategy *strategy, const BfLiveLayer *layer,
			 const BfHash *hash)
{
	uint64		start = strategy->blocks->find(hash, layer->shape.bits);
	BlockNumber page = (BlockNumber) (start / BF_PAGE_BYTES);

	return (BlockPlace) {
		.block = bf_data_block(layer, page),
		.offset = MAXALIGN(SizeOfPageHeaderData) +
			(uint32) (start - (uint64) page * BF_PAGE_BYTES)
	};
}

/* Prefetch a block, which may be in two cache lines. */
static void
prefetch_place(RelFileLocator file, const BfStrategy *strategy,
			   const BlockPlace *place)
{
	bf_page_prefetch(file, place->block, place->offset);
	bf_page_prefetch(file, place->block,
					 place->offset + strategy->blocks->bytes - 1);
}

/* Whether the bits of an element are set in its block. */
static bool
test_block(Relation index, BfLive *live, const BlockPlace *place,
		   const BfHash *hash)
{
	const BfBlocks *blocks = live->plan.strategy->blocks;
	Buffer		buffer = bf_page_pin(index, live, place->block, BF_PAGE_DATA);
	const uint8 *bits;
	bool		set;

	if (!BufferIsValid(buffer))
		return false;
	bits = (const uint8 *) BufferGetPage(buffer) + place->offset;
	if (blocks->test(bits, hash))
	{
		ReleaseBuffer(buffer);
		return true;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	set = bf_page_check(index, buffer, BF_PAGE_DATA) && blocks->test(bits, hash);
	UnlockReleaseBuffer(buffer);
	return set;
}

/* Whether a layer whose strategy has blocks holds a hash. */
static bool
layer_has_block(Relation index, BfLive *live, const BfLiveLayer *layer,
				const BfHashPair *pair)
{
	BfHash		hash = bf_hash_of(pair);
	BlockPlace	place = locate_block(live->plan.strategy, layer, &hash);

	prefetch_place(live->file, live->plan.strategy, &place);
	return bf_pending_contains(index, live, layer, pair) ||
		test_block(index, live, &place, &hash);
}

/* Whether a bit is set on its page. */
static bool
is_set(Buffer buffer, const BitPlace *place)
{
	const uint8 *bytes = (const uint8 *) BufferGetPage(buffer);

	return (bytes[place->offset] & place->mask) != 0;
}

/* Whether a bit is set. */
static bool
test_bit(Relation index, BfLive *live, const BitPlace *place)
{
	Buffer		buffer = bf_page_pin(index, live, place->block, BF_PAGE_DATA);
	bool		set;

	if (!BufferIsValid(buffer))
		return false;
	if (is_set(buffer, place))
	{
		ReleaseBuffer(buffer);
		return true;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	set = bf_page_check(index, buffer, BF_PAGE_DATA) && is_set(buffer, place);
	UnlockReleaseBuffer(buffer);
	return set;
}

/* Whether bits are set. */
static bool
test_bits(Relation index, BfLive *live, const BitPlace *places, uint32 count)
{
	for (uint32 i = 0; i < count; i++)
	{
		if (!test_bit(index, live, &places[i]))
			return false;
	}
	return true;
}

/* Prefetch what is examined first for a hash in a layer. */
void
bf_layer_prefetch(const BfLive *live, const BfLiveLayer *layer,
				  const BfHashPair *pair)
{
	BfHash		hash = bf_hash_of(pair);
	uint32		count = Min(layer->shape.hashes, FIRST_POSITIONS);
	BitPlace	places[FIRST_POSITIONS];

	if (live->plan.strategy->blocks != NULL)
	{
		BlockPlace	place = locate_block(live->plan.strategy, layer, &hash);

		prefetch_place(live->file, live->plan.strategy, &place);
		return;
	}
	locate_bits(live->plan.strategy, layer, &hash, 0, count, places);
	for (uint32 i = 0; i < count; i++)
		bf_page_prefetch(live->file, places[i].block, places[i].offset);
}

/* Whether a layer holds a hash, pending or by its bits. */
bool
bf_live_layer_contains(Relation index, BfLive *live,
					   const BfLiveLayer *layer, const BfHashPair *pair)
{
	BfHash		hash = bf_hash_of(pair);
	uint32		first = Min(layer->shape.hashes, FIRST_POSITIONS);
	uint32		rest = layer->shape.hashes - first;
	BitPlace	places[BF_MAX_HASHES];

	if (live->plan.strategy->blocks != NULL)
		return layer_has_block(index, live, layer, pair);
	locate_bits(live->plan.strategy, layer, &hash, 0, first, places);
	for (uint32 i = 0; i < first; i++)
		bf_page_prefetch(live->file, places[i].block, places[i].offset);
	if (bf_pending_contains(index, live, layer, pair))
		return true;
	if (!test_bits(index, live, places, first))
		return false;

	locate_bits(live->plan.strategy, layer, &hash, first, rest, places);
	for (uint32 i = 0; i < rest; i++)
		bf_buffer_hint_prefetch(live->file, places[i].block, places[i].offset);
	return test_bits(index, live, places, rest);
}

/* Note what the next lookup in a filter will probably examine first. */
void
bf_layer_note_lookup(BfLookupHint *last, const BfLive *live)
{
	const BfLiveLayer *newest = bf_newest_layer(live);

	if (last->strategy == NULL || last->layer.start != newest->start ||
		!RelFileLocatorEquals(last->file, live->file))
		*last = (BfLookupHint) {
			.file = live->file,
			.grows = live->plan.header.expansion != 0,
			.strategy = live->plan.strategy,
			.layer = *newest
		};
}

/* Prefetch what is probably read first: metapage and first bit's page. */
void
bf_layer_look_ahead(const BfLookupHint *last, const BfHashPair *pair)
{
	BfHash		hash = bf_hash_of(pair);
	BitPlace	place;

	if (last->strategy == NULL)
		return;
	locate_bits(last->strategy, &last->layer, &hash, 0, 1, &place);
	bf_page_prefetch(last->file, place.block, place.offset);
	if (last->grows)
		bf_meta_prefetch(last->file);
}
