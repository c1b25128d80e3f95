/*
 * driver_growing.c
 *	  Filters of a string a layer, and a cursor: the layout growing.
 *
 * Such a filter grows by the rule of its original: an element that any layer
 * holds is not set again, and when the newest layer is over half full (or what
 * its expansion says) the next one is made.  That takes a script.  It ends there,
 * with the answers it has, as positions may differ from then on.
 *
 * A mirror's strings are written under temporary names, which expire by
 * themselves should we not come to an end, are checked there, and are put in
 * place all at once.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/value.h"

/*
 * Positions that a call of the script takes: enough to pay for its BITCOUNT, and
 * few enough for others to have their turn.
 */
#define POSITIONS_A_SCRIPT	4000

/* ---- Recognize ---- */

/* Derive all layers from the first and the cursor. */
static void
read_cursor(BfPlan *plan, const BfFound *found)
{
	uint64		newest = 0;
	BfError		error;

	if (found->cursor != NULL &&
		!bf_read_number(found->cursor, 0, BF_MAX_LAYERS - 1, &newest))
		bf_connection_protocol_error(found->at.connection,
									 "The cursor of a growing filter is no number of a layer.");
	plan->header.layers = newest + 1;
	plan->layers = palloc(sizeof(BfLayer) * plan->header.layers);
	plan->layers[0] = plan->first;
	for (uint32 i = 1; i <= newest; i++)
	{
		if (!bf_plan_next_layer(plan, &plan->layers[i - 1], &plan->layers[i],
								&error))
			bf_raise(&error);
	}
}

/* BfDriver.recognize */
static bool
recognize_growing(BfRemote *remote, const BfFound *found)
{
	if (!bf_remote_read_config(remote, found))
		return false;
	read_cursor(&remote->plan, found);
	if (found->layer == NULL)
		remote->orphan = remote->layout;
	return found->layer != NULL;
}

/* ---- Add ---- */

/* How a filter goes on. */
typedef struct Growth
{
	uint32		shapes;			/* sets of positions that an item has */
	BfLayer		next;			/* the layer to come */
	uint64		capacity;		/* of the newest */
} Growth;

/* Add items by the script: BfItemRun.append. */
static void
append_grow(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const Growth *growth = run->arg;
	const BfRemote *remote = run->remote;
	const BfLayout *layout = remote->layout;
	uint32		layers = remote->plan.header.layers;

	bf_script_begin(unit, BF_SCRIPT_GROW);
	bf_remote_append_keys(unit, remote, layers + 1);
	bf_script_arguments(unit);
	bf_command_number(unit, layers);
	bf_command_number(unit, growth->capacity);
	bf_command_number(unit, bf_layout_bytes(layout, &growth->next) * 8 - 1);
	bf_command_number(unit, layout->guards);
	bf_remote_append_fields(unit, remote, true);
	bf_command_number(unit, growth->shapes);
	for (uint32 i = 0; i < growth->shapes; i++)
		bf_command_number(unit, bf_remote_layer(remote, i)->hashes);
	for (int i = 0; i < count; i++)
	{
		for (uint32 j = 0; j < growth->shapes; j++)
		{
			uint64		bits[BF_MAX_HASHES];
			uint32		hashes = bf_item_bits(&item[i], remote, j, bits);

			for (uint32 bit = 0; bit < hashes; bit++)
				bf_command_number(unit, bits[bit]);
		}
	}
}

/* Take a character for each item done, or nil: BfItemRun.take. */
static bool
take_grown(BfConnection *connection, const redisReply *reply,
		   const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	if (reply->type == REDIS_REPLY_NIL)
		return false;
	(void) bf_reply_string(connection, reply);
	if (reply->len > (size_t) count ||
		strspn(reply->str, "01") != reply->len)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
	for (size_t i = 0; i < reply->len; i++)
	{
		item[i].answer = reply->str[i] == '1';
		item[i].done = true;
	}
	return reply->len == (size_t) count;
}

/* Raise that a filter has as many layers, or as large ones, as can be. */
static void
refuse_growth(const BfRemote *remote, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("filter at key \"%s\" cannot grow any further",
					remote->key),
			 errdetail("%s", reason)));
}

/* Find out how a filter goes on. */
static void
plan_growth(const BfRemote *remote, Growth *growth)
{
	const BfLayer *newest = bf_remote_layer(remote, remote->plan.header.layers - 1);
	BfError		error;

	if (remote->plan.header.layers == BF_MAX_LAYERS)
		refuse_growth(remote, psprintf("It has %d layers.", BF_MAX_LAYERS));
	/* Layers that are all alike have one set of positions. */
	growth->shapes = remote->plan.header.expansion == 1 ? 1 : remote->plan.header.layers;
	growth->capacity = bf_plan_capacity(&remote->plan, newest);
	if (!bf_plan_next_layer(&remote->plan, newest, &growth->next, &error))
		bf_raise(&error);
	if (bf_layout_bytes(remote->layout, &growth->next) > BF_REDIS_MAX_BYTES)
		refuse_growth(remote, "Its next layer would not fit into a Redis key.");
}

/* BfDriver.add */
static bool
add_to_growing(const BfRemote *remote, BfItems *items)
{
	Growth		growth;
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.arg = &growth,
		.append = append_grow,
		.take = take_grown
	};
	uint32		hashes = 0;

	if (items->count == 0)
		return true;
	plan_growth(remote, &growth);
	for (uint32 i = 0; i < growth.shapes; i++)
		hashes += bf_remote_layer(remote, i)->hashes;
	run.batch = Max(POSITIONS_A_SCRIPT / hashes, 1);
	return bf_items_run(&run);
}

/* ---- Mirror ---- */

/* BfDriver.mirror */
static uint64
mirror_growing(const BfRemote *remote, const BfRemote *old,
			   const BfFilter *filter, int64 ttl, bool refresh)
{
	uint32		layers = remote->plan.header.layers;
	char	  **temporary = palloc(sizeof(char *) * layers);
	uint64		sent = 0;

	for (uint32 i = 0; i < layers; i++)
	{
		BfImage		image = bf_image_of_layer(remote, filter, i);

		image.key = temporary[i] = bf_temporary_key(remote->key, i);
		image.ttl = BF_TEMPORARY_TTL;
		bf_image_write(&image);
		sent += image.bytes;
	}
	bf_remote_replace(remote, temporary, layers, old->plan.header.layers, ttl);
	return sent;
}

const BfDriver bf_driver_growing = {
	.recognize = recognize_growing,
	.create = bf_strings_create,
	.add = add_to_growing,
	.contains = bf_strings_contains,
	.fetch = bf_strings_fetch,
	.mirror = mirror_growing,
	.measure = bf_strings_measure
};
