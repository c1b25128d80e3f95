/*
 * contains.c
 *	  Look elements up in a filter in Redis.
 *
 * The bits of an element are read by one command, together with what says that
 * the filter still is of the shape that they were computed for: its head, or
 * the fields of its hash, the cursor and that its strings are there.  So an
 * answer is about one filter, even while another takes its place, and never
 * about one that has gone.
 *
 * All bits of an element are asked for at once: bits that were read at
 * different times could be those of two filters, and a miss among them no miss
 * in either.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "redis/guard.h"
#include "redis/items.h"
#include "redis/redisbloom.h"

/*
 * Bits that a unit asks for: enough to make the rest of it cheap.  A command
 * alone has little else; with more bits, Redis's allocator gets slower.
 */
#define BITS_A_COMMAND		100
#define BITS_A_TRANSACTION	1000

/* What the reply handler has to know. */
typedef struct Lookup
{
	const BfRemote *remote;
	BfItems    *items;
	int			batch;			/* items a unit */
	bool		stale;			/* the filter is not what it was */
} Lookup;

/* One BITFIELD_RO about a layer, for some items; after the head, if any. */
static void
append_bitfield(BfUnit *unit, const BfRemote *remote, uint32 index,
				BfItem *item, int count)
{
	uint32		head = remote->layout->head;

	bf_command_begin(unit, "BITFIELD_RO");
	bf_command_key(unit, bf_remote_layer_key(remote, index));
	if (head > 0)
	{
		char		type[8];

		snprintf(type, sizeof(type), "u%u", head * 8);
		bf_command_text(unit, "GET");
		bf_command_text(unit, type);
		bf_command_text(unit, "0");
	}
	for (int i = 0; i < count; i++)
	{
		uint64		bits[BF_MAX_HASHES];
		uint32		hashes = bf_item_bits(&item[i], remote, index, bits);

		bf_command_bits(unit, false, bits, hashes);
	}
}

/* Is a filter read by one command, or by a transaction of several? */
static bool
is_single(const BfRemote *remote)
{
	return remote->layout->head > 0 && !remote->configured;
}

/* Write a unit that asks for some items in all layers. */
static void
append_unit(BfUnit *unit, const BfRemote *remote, BfItem *item,
			int count)
{
	if (is_single(remote))
	{
		append_bitfield(unit, remote, 0, item, count);
		return;
	}
	bf_transaction_begin(unit);
	bf_guard_append(unit, remote);
	for (uint32 i = 0; i < remote->header.layers; i++)
	{
		if (remote->layout->presized)
		{
			bf_command_begin(unit, "EXISTS");
			bf_command_key(unit, bf_remote_layer_key(remote, i));
		}
		append_bitfield(unit, remote, i, item, count);
	}
	bf_transaction_end(unit);
}

/* Whether the head, as the integer that BITFIELD made of it, is unchanged. */
static bool
same_head(const BfRemote *remote, long long head)
{
	uint64		expected = 0;

	for (uint32 i = 0; i < remote->layout->head; i++)
		expected = expected << 8 | remote->head[i];
	return (uint64) head == expected;
}

/*
 * Take the bits of a layer: an item whose bits are all set is there.  False
 * where the head is not what it was.
 */
static bool
read_bits(BfConnection *connection, const Lookup *lookup, uint32 index,
		  const redisReply *reply, BfItem *item, int count)
{
	uint32		hashes = lookup->remote->layers[index].hashes;
	bool		head = lookup->remote->layout->head > 0;
	redisReply **bit = bf_reply_array(connection, reply,
									  head + (size_t) hashes * count);

	if (head && !same_head(lookup->remote,
						   bf_reply_integer(connection, *bit++)))
		return false;
	for (int i = 0; i < count; i++)
		item[i].answer |= bf_item_is_set(connection, bit + i * hashes, hashes);
	return true;
}

/* Take the reply to a transaction; false where the filter has changed. */
static bool
read_unit(BfConnection *connection, const Lookup *lookup,
		  const redisReply *reply, const BfUnit *unit, BfItem *item, int count)
{
	const BfRemote *remote = lookup->remote;
	redisReply **result = bf_reply_results(connection, reply, unit);

	if (!bf_guard_same_fields(connection, remote, *result++))
		return false;
	if (remote->layout->cursor_key != NULL && !bf_guard_same_cursor(remote, *result++))
		return false;
	for (uint32 i = 0; i < remote->header.layers; i++)
	{
		if (remote->layout->presized &&
			bf_reply_integer(connection, *result++) == 0)
			return false;
		if (!read_bits(connection, lookup, i, *result++, item, count))
			return false;
	}
	return true;
}

/* BfReplyHandler of a lookup. */
static void
take_reply(BfConnection *connection, const redisReply *reply,
		   const BfUnit *unit, void *arg)
{
	Lookup	   *lookup = arg;
	BfItem	   *item = lookup->items->item + (size_t) unit->number * lookup->batch;
	int			count = Min(lookup->batch,
							lookup->items->count - unit->number * lookup->batch);
	bool		same;

	same = is_single(lookup->remote) ?
		read_bits(connection, lookup, 0, reply, item, count) :
		read_unit(connection, lookup, reply, unit, item, count);
	for (int i = 0; i < count; i++)
		item[i].done = same;
	lookup->stale |= !same;
}

/*
 * Look items up in a filter.  False where it is not what it was described as:
 * the items that are not done have no answer then.
 */
bool
bf_remote_contains(const BfRemote *remote, BfItems *items)
{
	BfPipeline	pipeline;
	uint32		hashes = 0;
	Lookup		lookup = {.remote = remote,.items = items};

	if (items->count == 0)
		return true;
	if (remote->layout->native_type != NULL)
		return bf_redisbloom_contains(remote, items);
	for (uint32 i = 0; i < remote->header.layers; i++)
		hashes += remote->layers[i].hashes;
	lookup.batch = Max((is_single(remote) ? BITS_A_COMMAND :
						BITS_A_TRANSACTION) / hashes, 1);

	bf_pipeline_start(&pipeline, remote->server, remote->key, take_reply,
					  &lookup);
	for (int from = 0; from < items->count && !lookup.stale;
		 from += lookup.batch)
	{
		int			count = Min(lookup.batch, items->count - from);
		BfUnit	   *unit = bf_pipeline_unit(&pipeline);

		CHECK_FOR_INTERRUPTS();
		append_unit(unit, remote, items->item + from, count);
		bf_items_forget(remote, items->item + from, count);
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !lookup.stale;
}
