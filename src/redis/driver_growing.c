/*
 * driver_growing.c
 *	  Filters with a string for each layer and a cursor: layout growing.
 *
 * Such a filter grows by the rule of its original.  An element that any layer
 * holds is not added again.  With expansion 1, a layer is full when more than
 * half of its bits are set; other expansions set their own limit.  When the
 * newest layer is full, the next one is made.  All this takes a script
 * (lua/grow.lua).  It ends when it has made a layer, with the answers for the
 * elements so far: the others may have other positions in the new layer.  If
 * there can be no further layer, the newest one is filled, and then it is an
 * error to add anything.
 *
 * A mirror is written under temporary names: see temporary.c.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/redis_write.h"
#include "redis/scripts.h"
#include "type/value.h"

/*
 * Positions in a call of the script: enough to pay for its BITCOUNT, and few
 * enough to let other clients have their turn.
 */
#define POSITIONS_A_SCRIPT	4000

/* ---- Recognize ---- */

/* Derive that number of layers from the first; false if it is too many. */
static bool
list_layers(BfPlan *plan, uint32 layers)
{
	BfError		error;

	plan->layers = palloc(sizeof(BfLayer) * layers);
	plan->layers[0] = plan->first;
	for (plan->header.layers = 1; plan->header.layers < layers; plan->header.layers++)
	{
		BfLayer    *layer = &plan->layers[plan->header.layers];

		if (!bf_plan_next_layer(plan, layer - 1, layer, &error))
			return false;
	}
	return true;
}

/*
 * Number of layers, by the cursor.  In a filter made by the original, a
 * missing cursor means one layer; if there is a second layer, or the filter is
 * ours, the cursor was lost.  A cursor that is not the number of a layer
 * counts as lost, too.
 */
static uint32
count_layers(BfRemote *remote, const BfFound *found)
{
	uint32		least = bf_layout_least_layers(remote->hash[BF_CONFIG].values);
	bool		original = found->cursor == NULL && least == 0 &&
		found->layer[1] == 0;
	uint64		newest;

	remote->cursor = found->cursor;
	remote->cursor_length = found->cursor_length;
	if (!bf_read_number(found->cursor, 0, BF_MAX_LAYERS - 1, &newest) ||
		strlen(found->cursor) < (size_t) found->cursor_length)
	{
		newest = 0;
		if (!original)
			remote->lost = remote->cursor_key;
	}
	if (newest + 1 < least)
		remote->lost = remote->cursor_key;
	return Max((uint32) newest + 1, least);
}

/* Whether a layer's string exists, and is what it was. */
static bool
has_layer(const BfRemote *remote, const BfFound *found, uint32 layer)
{
	return found->layer[layer] ==
		(int64) bf_layout_bytes(remote->layout, bf_remote_layer(remote, layer)) &&
		found->disproved[BF_CONFIG] != layer + 1;
}

/* BfDriver.recognize */
static bool
recognize_growing(BfRemote *remote, const BfFound *found)
{
	uint32		layers;

	if (!bf_remote_read_config(remote, found))
		return false;
	layers = count_layers(remote, found);
	if (!list_layers(&remote->plan, layers))
		remote->lost = remote->cursor_key;
	for (uint32 i = 0; i < Min(layers, BF_FOUND_LAYERS); i++)
	{
		if (remote->lost == NULL && !has_layer(remote, found, i))
			remote->lost = bf_remote_layer_key(remote, i);
	}
	if (remote->lost == NULL)
		return true;
	remote->orphan = remote->layout;
	return false;
}

/* ---- Add ---- */

/* How a filter is to grow. */
typedef struct Growth
{
	uint64		capacity;		/* of the newest layer */
	BfLayer		next;			/* the next layer */
	bool		ends;			/* there can be none ... */
	BfError		why;			/* ... because */
} Growth;

/*
 * Append the witness for the script: the parts of older layers, the length and
 * words of the newest one, and the number of their bits if they are to be
 * rewritten.
 */
static void
append_testimony(BfUnit *unit, const BfRemote *remote, BfItem *item, int count)
{
	uint32		newest = remote->plan.header.layers - 1;
	BfWitness	witness = bf_remote_witness(remote, newest);
	StringInfoData text;
	StringInfoData own;

	initStringInfo(&text);
	initStringInfo(&own);
	for (uint32 i = 0; i < newest; i++)
	{
		BfWitness	older = bf_remote_witness(remote, i);

		bf_witness_append(&text, &older);
	}
	if (newest > 0)
		appendStringInfoChar(&text, ';');
	bf_witness_append(&own, &witness);
	bf_command_key(unit, text.data);
	bf_command_number(unit, witness.length);
	bf_command_text(unit, own.data + strcspn(own.data, " "));
	if (bf_items_testify(remote, newest, item, count))
		bf_command_number(unit, bf_witness_count(&witness, BF_WITNESS_WORDS));
	else
		bf_command_text(unit, "");
	pfree(own.data);
}

/* Add items by the script: BfItemRun.append. */
static void
append_grow(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const Growth *growth = run->arg;
	const BfRemote *remote = run->remote;
	uint32		layers = remote->plan.header.layers;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_GUARD BF_SCRIPT_STRINGS BF_SCRIPT_NOTING BF_SCRIPT_LAYERS BF_SCRIPT_TESTIFY BF_SCRIPT_OTHERS BF_SCRIPT_GROW);
	bf_remote_append_keys(unit, remote, layers + 1);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, layers + 1, true);
	bf_remote_append_strings(unit, remote, layers + 1);
	bf_remote_append_note(unit, remote, layers + 1, true);
	bf_command_number(unit, growth->capacity);
	if (growth->ends)
		bf_command_text(unit, "");
	else
		bf_command_number(unit, bf_layout_bytes(remote->layout, &growth->next) * 8 - 1);
	append_testimony(unit, remote, item, count);
	bf_items_append_positions(unit, remote, item, count);
}

/* Raise that the newest layer is full, and is the last one. */
static void
refuse_growth(const BfRemote *remote, const BfError *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("filter at key \"%s\" cannot grow any further",
					remote->key),
			 errdetail("Its next layer cannot be made: %s.", why->message),
			 errhint("Make a larger filter, with bf_redis_create at another key or with bf_mirror.")));
}

/* Read a digit for each item done, or none: BfItemRun.take. */
static bool
take_grown(BfConnection *connection, const BfReply *reply,
		   const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const Growth *growth = run->arg;

	if (reply->type == BF_REPLY_INTEGER && reply->integer == 0)
	{
		if (growth->ends)
			refuse_growth(run->remote, &growth->why);
		bf_remote_taken(run->remote,
						bf_remote_layer_key(run->remote,
											run->remote->plan.header.layers));
	}
	return bf_reply_is_same(connection, run->remote, reply) &&
		bf_items_take_digits(connection, reply, item, count) == count;
}

/* Plan the layer after the newest one; false if there can be none. */
static bool
plan_next(const BfRemote *remote, const BfLayer *newest, BfLayer *next,
		  BfError *why)
{
	if (remote->plan.header.layers == BF_MAX_LAYERS)
		return bf_fail(why, BF_ERROR_LIMIT, "there are %d layers", BF_MAX_LAYERS);
	if (!bf_plan_next_layer(&remote->plan, newest, next, why))
		return false;
	if (bf_layout_bytes(remote->layout, next) > BF_REDIS_MAX_BYTES)
		return bf_fail(why, BF_ERROR_LIMIT, "it would not fit into a Redis string");
	return true;
}

/* Plan how a filter is to grow, if it fills. */
static void
plan_growth(const BfRemote *remote, Growth *growth)
{
	const BfLayer *newest = bf_remote_layer(remote, remote->plan.header.layers - 1);

	growth->capacity = bf_plan_capacity(&remote->plan, newest);
	growth->ends = !plan_next(remote, newest, &growth->next, &growth->why);
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

	if (items->count == 0)
		return true;
	plan_growth(remote, &growth);
	run.batch = Max(POSITIONS_A_SCRIPT / bf_remote_hashes(remote), 1);
	return bf_items_run(&run);
}

/* ---- Mirror ---- */

/* BfDriver.mirror */
static uint64
mirror_growing(const BfRemote *remote, const BfRemote *old,
			   const BfFilter *filter, int64 ttl, bool refresh)
{
	uint32		layers = remote->plan.header.layers;
	BfImage    *images = palloc(sizeof(BfImage) * layers);
	BfRemote	written = *remote;
	uint64		bytes = 0;

	bf_image_testify(&written, filter);
	for (uint32 i = 0; i < layers; i++)
	{
		images[i] = bf_image_of_layer(&written, filter, i);
		bytes += images[i].bytes;
	}
	return bf_temporary_mirror(&written, images, layers,
							   bf_temporary_room(remote, bytes),
							   old->plan.header.layers, ttl);
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
