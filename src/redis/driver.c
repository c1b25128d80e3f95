/*
 * driver.c
 *	  What drivers have in common.
 *
 * All send items in units, many under way.  Filters that are made of strings are
 * created, asked, fetched and measured alike, whether they have one or several.
 *
 * The bits of an element are read by one command, together with what says that
 * the filter still is of the shape that they were computed for: its head, or
 * the guards and that its strings are there.  So an answer is about one filter,
 * even while another takes its place, and never about one that has gone.
 *
 * All bits of an element are asked for at once: bits that were read at
 * different times could be those of two filters, and a miss among them no miss
 * in either.
 *
 * The strings of a filter are fetched by one transaction, together with the
 * guards, so that what is made of them was there at one moment.  Whatever comes
 * is taken for bytes of a stranger: the strings must fit the shape, and bits
 * beyond it must not be set.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/value.h"

/* Bits that a transaction asks for: it has more besides than a command alone. */
#define BITS_A_TRANSACTION	1000

/* All that a value can hold, and what comes with it. */
#define FETCH_LIMIT		(MaxAllocSize + BF_REPLY_LIMIT)

/* ---- Items ---- */

/* Take the answers to a unit: BfReplyHandler. */
static void
take_unit(BfConnection *connection, const redisReply *reply,
		  const BfUnit *unit, void *arg)
{
	BfItemRun  *run = arg;
	BfItem	   *item = run->items->item + unit->number * run->batch;
	int			count = Min(run->batch,
							run->items->count - unit->number * run->batch);

	if (!run->take(connection, reply, unit, run, item, count))
	{
		run->changed = true;
		return;
	}
	for (int i = 0; i < count; i++)
		item[i].done = true;
}

/*
 * Free what bf_items_append_bits() has computed of items: once their bits have
 * been asked for, 1 kB each is too much to keep.
 */
static void
forget_digests(const BfRemote *remote, BfItem *item, int count)
{
	if (remote->plan.strategy->words > 0)
		return;
	for (int i = 0; i < count; i++)
	{
		pfree(item[i].hash.digests);
		item[i].hash.digests = NULL;
		item[i].hash.ndigests = 0;
	}
}

/* Work on all items, until the filter has changed (false). */
bool
bf_items_run(BfItemRun *run)
{
	BfItems    *items = run->items;
	BfPipeline	pipeline;

	if (items->count == 0)
		return true;
	bf_pipeline_start(&pipeline, run->remote->server, run->remote->key,
					  take_unit, run);
	for (int from = 0; from < items->count && !run->changed;
		 from += run->batch)
	{
		int			count = Min(run->batch, items->count - from);
		BfUnit	   *unit = bf_pipeline_unit(&pipeline);

		CHECK_FOR_INTERRUPTS();
		run->append(unit, run, items->item + from, count);
		forget_digests(run->remote, items->item + from, count);
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !run->changed;
}

/*
 * Say where the bits of an item are in a layer's string, as SETBIT counts;
 * returns how many there are.
 */
uint32
bf_item_bits(BfItem *item, const BfRemote *remote, uint32 layer, uint64 *bits)
{
	const BfStrategy *strategy = remote->plan.strategy;
	const BfLayer *in = bf_remote_layer(remote, layer);

	bf_hash_reach(strategy, &item->hash, in->hashes);
	strategy->positions(&item->hash, in->bits, 0, in->hashes, bits);
	bf_layout_offsets(remote->layout, bits, in->hashes);
	return in->hashes;
}

/* Append sub-commands of BITFIELD about the bits of some items in a layer. */
void
bf_items_append_bits(BfUnit *unit, const BfRemote *remote, uint32 layer,
					 BfItem *item, int count, bool set)
{
	for (int i = 0; i < count; i++)
	{
		uint64		bits[BF_MAX_HASHES];
		uint32		hashes = bf_item_bits(&item[i], remote, layer, bits);

		bf_command_bits(unit, set, bits, hashes);
	}
}

/* Take the bits of items: the answer is whether all are set, or not all. */
void
bf_items_take_bits(BfConnection *connection, redisReply **bit, uint32 hashes,
				   BfItem *item, int count, bool set)
{
	for (int i = 0; i < count; i++)
	{
		bool		all = true;

		for (uint32 j = 0; j < hashes; j++)
			all &= bf_reply_bit(connection, *bit++);
		item[i].answer |= all == set;
	}
}

/* ---- Filters that are made of strings ---- */

/* Make the keys of a planned filter; false where it is there. */
bool
bf_strings_create(const BfRemote *remote, int64 ttl)
{
	const BfLayout *layout = remote->layout;
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_CREATE);
	bf_remote_append_keys(unit, remote, 1);
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	if (layout->trimmed)
		bf_command_text(unit, "");
	else
		bf_command_number(unit, bf_layout_bytes(layout, &remote->plan.first));
	bf_command_bytes(unit, remote->head, bf_layout_head(layout));
	bf_command_text(unit, remote->cursor_key ? "0" : "");
	bf_remote_append_fields(unit, remote, false);
	return bf_ask_number(remote->server, remote->key, unit) == 1;
}

/* Is a string whose bits are asked for looked for first? */
static bool
asks_exists(const BfRemote *remote)
{
	return remote->configured && !remote->layout->trimmed;
}

/*
 * Ask for items in all layers: for the head, or whether the strings are there,
 * and for the bits.
 */
static void
append_lookup(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	uint32		head = bf_layout_head(remote->layout);

	bf_guard_begin(unit, remote);
	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		if (asks_exists(remote))
		{
			bf_command_begin(unit, "EXISTS");
			bf_command_key(unit, bf_remote_layer_key(remote, i));
		}
		bf_command_begin(unit, "BITFIELD_RO");
		bf_command_key(unit, bf_remote_layer_key(remote, i));
		if (head > 0)
		{
			bf_command_text(unit, "GET");
			bf_command_key(unit, psprintf("u%u", head * 8));
			bf_command_text(unit, "0");
		}
		bf_items_append_bits(unit, remote, i, item, count, false);
	}
	bf_guard_end(unit, remote);
}

/* Whether the head, as the integer that BITFIELD made of it, is unchanged. */
static bool
is_same_head(const BfRemote *remote, uint64 head)
{
	uint64		expected = 0;

	for (uint32 i = 0; i < bf_layout_head(remote->layout); i++)
		expected = expected << 8 | remote->head[i];
	return head == expected;
}

/*
 * Take the reply to a lookup's unit: an item whose bits are all set in a layer is
 * there.  BfItemRun.take.
 */
static bool
take_lookup(BfConnection *connection, const redisReply *reply,
			const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	bool		head = bf_layout_head(remote->layout) > 0;
	redisReply **result = bf_guard_check(connection, remote, unit,
										 (redisReply **) &reply);

	for (uint32 i = 0; result && i < remote->plan.header.layers; i++)
	{
		uint32		hashes = bf_remote_layer(remote, i)->hashes;
		redisReply **bit;

		if (asks_exists(remote) &&
			bf_reply_integer(connection, *result++) == 0)
			return false;
		bit = bf_reply_array(connection, *result++,
							 head + (size_t) hashes * count);
		if (head && !is_same_head(remote, bf_reply_integer(connection, *bit++)))
			return false;
		bf_items_take_bits(connection, bit, hashes, item, count, true);
	}
	return result != NULL;
}

/* BfDriver.contains */
bool
bf_strings_contains(const BfRemote *remote, BfItems *items)
{
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.append = append_lookup,
		.take = take_lookup
	};
	uint32		hashes = 0;

	for (uint32 i = 0; i < remote->plan.header.layers; i++)
		hashes += bf_remote_layer(remote, i)->hashes;
	run.batch = Max((remote->configured ? BITS_A_TRANSACTION :
					 BF_BITS_A_COMMAND) / hashes, 1);
	return bf_items_run(&run);
}

/* Make a value of a string that is a stream; NULL where it is not there. */
static struct varlena *
take_stream(BfConnection *connection, const BfStream *stream,
			BfFunnel funnel, const redisReply *reply)
{
	BfValue		value;

	if (reply->type == REDIS_REPLY_NIL)
		return NULL;
	(void) bf_reply_string(connection, reply);
	bf_value_of_stream(stream, (const uint8 *) reply->str, reply->len, &value);
	bf_value_bind(&value, funnel, BF_MEANING_NONE);
	return value.varlena;
}

/*
 * Make a value of strings, one a layer, of which trimmed ones may be missing;
 * NULL where another is.
 */
static struct varlena *
take_strings(BfConnection *connection, const BfRemote *remote,
			 BfFunnel funnel, redisReply **string)
{
	BfPlan		plan = remote->plan;
	BfValue		value;

	plan.header.funnel = funnel;
	bf_value_make(&plan, &value);
	bf_foreach_layer(layer, &value.filter)
	{
		const redisReply *found = string[layer.index];

		if (found->type != REDIS_REPLY_NIL)
			bf_value_set_bits(&value, &layer, BF_ORDER_REDIS,
							  (const uint8 *) bf_reply_string(connection, found)->str,
							  found->len);
		else if (!remote->layout->trimmed)
			return NULL;
	}
	return value.varlena;
}

/* BfDriver.fetch: without guards, by one GET. */
struct varlena *
bf_strings_fetch(const BfRemote *remote, BfFunnel funnel)
{
	BfUnit	   *unit = bf_unit_make();
	struct varlena *value = NULL;
	BfConnection *connection;
	const redisReply *reply;
	redisReply **result;

	bf_guard_begin(unit, remote);
	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		bf_command_begin(unit, "GET");
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	}
	bf_guard_end(unit, remote);
	reply = bf_ask(remote->server, remote->key, unit, FETCH_LIMIT, &connection);
	result = bf_guard_check(connection, remote, unit, (redisReply **) &reply);
	if (result != NULL)
		value = remote->layout->stream == NULL ?
			take_strings(connection, remote, funnel, result) :
			take_stream(connection, remote->layout->stream, funnel, *result);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return value;
}

/* Ask for a number about a key; of a string, about what follows its head. */
static int64
ask_about(const BfRemote *remote, const char *verb, char *key, uint32 head)
{
	BfUnit	   *unit = bf_unit_make();

	bf_command_begin(unit, verb);
	bf_command_key(unit, key);
	if (head > 0)
	{
		bf_command_number(unit, head);
		bf_command_text(unit, "-1");
	}
	return bf_ask_number(remote->server, remote->key, unit);
}

/* BfDriver.measure */
void
bf_strings_measure(const BfRemote *remote, BfMeasure *measure)
{
	const BfLayout *layout = remote->layout;

	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		const BfLayer *layer = bf_remote_layer(remote, i);
		uint64		set = ask_about(remote, "BITCOUNT",
									bf_remote_layer_key(remote, i),
									bf_layout_head(layout));

		bf_fill_add(&measure->fill, layer, Min(set, layer->bits));
		measure->bytes += ask_about(remote, "STRLEN",
									bf_remote_layer_key(remote, i), 0);
	}
	measure->ttl = ask_about(remote, "PTTL", remote->configured ?
							 pstrdup(remote->config_key) :
							 bf_remote_layer_key(remote, 0), 0);
}
