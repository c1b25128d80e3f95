/*
 * set_bits.c
 *	  Set the bits of hashed elements in the data pages.
 *
 * Positions are sorted, so that each page is visited once, in ascending order,
 * and up to four changed pages share a WAL record.  If there are more than can
 * be sorted at once, this is done for one range of pages after another:
 * deriving positions again is cheaper than visiting pages again.
 *
 * A sort key is made from the number i of a bit by inverting bits 3 to 5 of
 * i.  It is 8 times the number of the byte that contains the bit, plus the
 * number of the bit in this byte.
 *
 * Bits are tested under the same exclusive lock under which a page is
 * changed.  A backend that sets a bit keeps the lock until the change is in
 * WAL.  So if we find that bit set, and then commit, our commit record comes
 * after the change.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "pages/layers.h"

/* Elements between checks for interrupts. */
#define PAIRS_A_LOOK	1024

/* Positions sorted at once: 8 MB, and as much to sort them. */
#define KEYS_AT_ONCE	(1024 * 1024)

/* Positions per range, on average; hardly any range exceeds the limit above. */
#define KEYS_A_RANGE	(KEYS_AT_ONCE - KEYS_AT_ONCE / 64)

/*
 * Put the changes of a page into the record; false if there are none.  All
 * keys are of this page; `first` is the smallest that it can have.
 */
static bool
record_page_bits(Buffer buffer, const uint64 *keys, size_t count, uint64 first)
{
	Page		page = BufferGetPage(buffer);
	const uint8 *bits = (const uint8 *) PageGetContents(page);
	bool		changed = false;

	for (size_t i = 0; i < count;)
	{
		uint32		offset = (uint32) ((keys[i] - first) >> 3);
		uint8		byte = bits[offset];

		do
			byte |= bf_bit_mask(keys[i]);
		while (++i < count && (keys[i] - first) >> 3 == offset);
		if (byte == bits[offset])
			continue;
		if (!changed)
			bf_record_page(buffer, BF_PAGE_DATA);
		changed = true;
		bf_record_write(SizeOfPageHeaderData + offset, &byte, 1);
	}
	return changed;
}

/* Set bits of a layer, by sorted keys. */
static void
set_bits(Relation index, const BfLive *live, const BfLiveLayer *layer,
		 const uint64 *keys, size_t count)
{
	bf_record_begin(index);
	for (size_t i = 0; i < count;)
	{
		BlockNumber page = (BlockNumber) (keys[i] / BF_PAGE_BITS);
		uint64		first = page * BF_PAGE_BITS;
		size_t		n = 1;
		Buffer		buffer;

		while (i + n < count && keys[i + n] - first < BF_PAGE_BITS)
			n++;
		if (bf_record_is_empty())
			CHECK_FOR_INTERRUPTS();
		buffer = bf_page_for_write(index, live, bf_data_block(layer, page),
								   BF_PAGE_DATA);
		if (!record_page_bits(buffer, keys + i, n, first))
			UnlockReleaseBuffer(buffer);
		else if (bf_record_is_full())
			bf_record_finish();
		i += n;
	}
	bf_record_finish();
}

/* Move the keys that lie in a range to the front; returns how many. */
static size_t
keep_in_range(uint64 *keys, size_t count, uint64 first, uint64 length)
{
	size_t		kept = 0;

	for (size_t i = 0; i < count; i++)
	{
		/* Positions before the range have wrapped around. */
		if (keys[i] - first < length)
			keys[kept++] = keys[i];
	}
	return kept;
}

/* Set bits of a layer, by positions in any order. */
static void
set_positions(Relation index, const BfLive *live, const BfLiveLayer *layer,
			  BfKeys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		keys->keys[i] ^= 56;
	bf_keys_sort(keys, 0, layer->shape.bits | 63);
	set_bits(index, live, layer, keys->keys, keys->count);
	keys->count = 0;
}

/* Set the bits of any number of elements in a layer. */
void
bf_set_bits(Relation index, BfLive *live, const BfLiveLayer *layer,
			const BfHashPair *pairs, size_t count)
{
	uint64		bits = layer->shape.bits;
	uint32		hashes = layer->shape.hashes;
	size_t		room = Min(count * hashes, KEYS_AT_ONCE);
	uint64		ranges = count * hashes <= KEYS_AT_ONCE ? 1 :
		count * hashes / KEYS_A_RANGE + 1;
	uint64		range = (bits / ranges / 64 + 1) * 64;
	BfKeys		keys;

	if (count == 0)
		return;
	bf_file_extend(index, live);
	bf_keys_allocate(&keys, room);
	for (uint64 first = 0; first < bits; first += range)
	{
		for (size_t i = 0; i < count; i++)
		{
			BfHash		hash = bf_hash_of(&pairs[i]);
			uint64	   *positions = keys.keys + keys.count;

			if (i % PAIRS_A_LOOK == 0)
				CHECK_FOR_INTERRUPTS();
			live->plan.strategy->positions(&hash, bits, 0, hashes, positions);
			keys.count += ranges == 1 ? hashes :
				keep_in_range(positions, hashes, first, range);
			if (keys.count + hashes > room || i + 1 == count)
				set_positions(index, live, layer, &keys);
		}
	}
	bf_keys_free(&keys);
}
