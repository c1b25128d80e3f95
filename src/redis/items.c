/*
 * items.c
 *	  Elements as they go to a filter in Redis.
 *
 * Where a layout does not record the funnel, the element's type has its own.
 * Integers of different widths are equal in SQL, but 4 and 8 bytes in Guava:
 * a lookup asks for both, so that what was added as one is found as the other.
 *
 * A sharded filter has an element in the shard that the CRC-32 of its bytes
 * (zlib's, as any language has it) says, modulo the number of shards.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/pg_crc.h"

#include "redis/items.h"
#include "type/pieces.h"

/* The CRC-32 of bytes. */
static pg_crc32
crc32(const uint8 *data, Size length)
{
	pg_crc32	crc;

	INIT_TRADITIONAL_CRC32(crc);
	for (Size done = 0; done < length; done += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		COMP_TRADITIONAL_CRC32(crc, data + done, Min(length - done, BF_PIECE));
	}
	FIN_TRADITIONAL_CRC32(crc);
	return crc;
}

/* Keep an element's bytes, for servers that hash by themselves. */
static bool
keep_bytes(const BfStrategy *strategy, BfFunnel funnel,
		   const BfElementType *element, Datum value, BfHash *hash)
{
	BfElementBytes bytes;
	uint8	   *copy;

	if (!bf_element_bytes(strategy, funnel, element, value, &bytes))
		return false;
	copy = palloc(Max(bytes.length, 1));
	memcpy(copy, bytes.data, bytes.length);
	if (bytes.made != NULL)
		pfree(bytes.made);
	*hash = (BfHash) {.data = copy,.length = bytes.length};
	return true;
}

static BfFunnel
bind(const BfRemote *remote, const BfElementType *element)
{
	return bf_element_bind(bf_strategy_by_id(remote->header.strategy),
						   (BfFunnel) remote->header.funnel, element);
}

/*
 * The shard that an element belongs to.  Integers have one whatever their
 * width: that of the bigint.
 */
int
bf_items_shard(const BfRemote *remote, int shards,
			   const BfElementType *element, Datum value)
{
	BfFunnel	funnel = bind(remote, element);
	BfElementBytes bytes;
	pg_crc32	crc;

	if (funnel == BF_FUNNEL_INT)
		funnel = BF_FUNNEL_LONG;
	(void) bf_element_bytes(bf_strategy_by_id(remote->header.strategy), funnel,
							element, value, &bytes);
	crc = crc32(bytes.data, bytes.length);
	if (bytes.made != NULL)
		pfree(bytes.made);
	return (int) (crc % shards);
}

static void
append_item(BfItems *items, const BfHash *hash, int source)
{
	if (items->count == items->capacity)
	{
		items->capacity = Max(items->capacity * 2, 64);
		items->item = items->item == NULL ?
			palloc_extended(items->capacity * sizeof(BfItem), MCXT_ALLOC_HUGE) :
			repalloc_huge(items->item, items->capacity * sizeof(BfItem));
	}
	items->item[items->count++] = (BfItem) {.hash = *hash,.source = source};
}

/* Hash an element by a funnel; false where such a filter cannot hold it. */
static bool
add_by_funnel(BfItems *items, const BfRemote *remote, BfFunnel funnel,
			  const BfElementType *element, Datum value, int source)
{
	const BfStrategy *strategy = bf_strategy_by_id(remote->header.strategy);
	BfHash		hash;
	bool		fits;

	fits = remote->layout->native_type != NULL ?
		keep_bytes(strategy, funnel, element, value, &hash) :
		bf_element_hash(strategy, funnel, element, value, &hash);
	if (fits)
		append_item(items, &hash, source);
	return fits;
}

/*
 * Append an element, number `source` of the caller's, as a filter has it; and,
 * to ask for it, as the filter may have it otherwise.
 */
void
bf_items_add(BfItems *items, const BfRemote *remote,
			 const BfElementType *element, Datum value, int source, bool ask)
{
	BfFunnel	funnel = bind(remote, element);
	bool		fits = add_by_funnel(items, remote, funnel, element, value,
									 source);

	if (!fits && !ask)
		bf_element_does_not_fit(element, value);
	if (!ask || remote->header.funnel != BF_FUNNEL_UNBOUND)
		return;
	if (funnel == BF_FUNNEL_INT)
		(void) add_by_funnel(items, remote, BF_FUNNEL_LONG, element, value,
							 source);
	else if (funnel == BF_FUNNEL_LONG)
		(void) add_by_funnel(items, remote, BF_FUNNEL_INT, element, value,
							 source);
}

/*
 * Say where the bits of an item are in a layer's string, as SETBIT counts;
 * returns how many there are.
 */
uint32
bf_item_bits(BfItem *item, const BfRemote *remote, uint32 layer,
			 uint64 *bits)
{
	const BfStrategy *strategy = bf_strategy_by_id(remote->header.strategy);
	const BfLayer *in = &remote->layers[layer];

	bf_hash_reach(strategy, &item->hash, in->hashes);
	strategy->positions(&item->hash, in->bits, 0, in->hashes, bits);
	for (uint32 i = 0; i < in->hashes; i++)
		bits[i] = bf_layout_offset(remote->layout, bits[i]);
	return in->hashes;
}

/*
 * Free what bf_item_bits() has computed of items: once their bits have been
 * asked for, 1 kB each is too much to keep.
 */
void
bf_items_forget(const BfRemote *remote, BfItem *item, int count)
{
	if (bf_strategy_by_id(remote->header.strategy)->words > 0)
		return;
	for (int i = 0; i < count; i++)
	{
		pfree(item[i].hash.digests);
		item[i].hash.digests = NULL;
		item[i].hash.ndigests = 0;
	}
}

/* Whether the bits of an item are all set in a reply. */
bool
bf_item_is_set(BfConnection *connection, redisReply **bit, uint32 hashes)
{
	bool		all = true;

	for (uint32 i = 0; i < hashes; i++)
		all &= bf_reply_integer(connection, bit[i]) == 1;
	return all;
}
