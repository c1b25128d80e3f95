/*
 * driver.c
 *	  What drivers have in common.
 *
 * All drivers send elements in units of commands, many of which are under way
 * at once.  The functions that create, look up, fetch and measure are the
 * same for all filters that consist of strings, and are here.
 *
 * The bits of an element are read at one moment, together with what proves
 * that the filter still has the shape for which their positions were
 * computed.  So an answer is about one filter, even while another replaces
 * it, and never about one that is gone.  Bits that are read at different
 * times could belong to two filters; one that is not set would then not prove
 * that the element is absent.
 *
 * If the string of a filter has a head, a few elements are looked up by one
 * BITFIELD_RO, which reads the head, too.  All other lookups use a script,
 * which compares the guards (driver_hashes.c) and stops at the first bit that
 * is not set.  So do all lookups in shards, as the head of a shard does not
 * prove that it belongs to this filter.  A transaction would take Redis
 * slightly less time, but a Redis that is out of memory refuses every command
 * in a transaction.
 *
 * The strings of a filter are fetched by one command or script as well, so
 * that the result existed at one moment.  They are treated as untrusted input:
 * the strings must fit the shape, and bits beyond it must not be set.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/element_hash.h"
#include "type/value.h"

/* Bits that a script looks up: it has more overhead than a command. */
#define BITS_A_SCRIPT	2000

/* One in this many added elements tries to give a filter a better witness. */
#define TESTIFIERS		16

/* ---- Items ---- */

/*
 * How many items a unit has from one on: a batch that does not split the items
 * of an element, which are looked up at one moment.
 */
static int
items_from(const BfItemRun *run, int from)
{
	const BfItem *item = run->items->item;
	int			to = Min(from + run->batch, run->items->count);

	while (to < run->items->count && item[to].source == item[to - 1].source)
		to++;
	return to - from;
}

/* Process the reply to a unit: BfReplyHandler. */
static void
take_unit(BfConnection *connection, const BfReply *reply,
		  const BfUnit *unit, void *arg)
{
	BfItemRun  *run = arg;
	BfItem	   *item = run->items->item + unit->number;
	int			count = items_from(run, unit->number);

	if (!run->take(connection, reply, unit, run, item, count))
	{
		run->changed = true;
		return;
	}
	for (int i = 0; i < count; i++)
		item[i].done = true;
}

/*
 * Free the digests of items whose bits have been requested: 1 kB for each is
 * too much to keep.
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

/* Process all items; false when the filter has changed. */
bool
bf_items_run(BfItemRun *run)
{
	BfItems    *items = run->items;
	BfPipeline	pipeline;

	if (items->count == 0)
		return true;
	bf_pipeline_start(&pipeline, run->remote->server, run->remote->key,
					  take_unit, run);
	for (int from = 0, count; from < items->count && !run->changed; from += count)
	{
		BfUnit	   *unit = bf_pipeline_unit(&pipeline);

		CHECK_FOR_INTERRUPTS();
		count = items_from(run, from);
		unit->number = from;	/* the first of its items */
		run->append(unit, run, items->item + from, count);
		forget_digests(run->remote, items->item + from, count);
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !run->changed;
}

/* Number of different shapes of layers: one if they are all alike. */
uint32
bf_remote_shapes(const BfRemote *remote)
{
	return remote->plan.header.expansion == 1 ? 1 : remote->plan.header.layers;
}

/* Number of positions of an element in all shapes of layers. */
uint32
bf_remote_hashes(const BfRemote *remote)
{
	uint32		hashes = 0;

	for (uint32 i = 0; i < bf_remote_shapes(remote); i++)
		hashes += bf_remote_layer(remote, i)->hashes;
	Assert(hashes > 0);
	return hashes;
}

/* Compute the offsets of an item's bits in a layer's string, as for SETBIT. */
void
bf_item_bits(BfItem *item, const BfRemote *remote, uint32 layer, uint64 *bits)
{
	const BfStrategy *strategy = remote->plan.strategy;
	const BfLayer *in = bf_remote_layer(remote, layer);

	if (strategy->words == 0 && item->hash.digests == NULL)
		bf_hash_room(&item->hash);
	bf_hash_reach(strategy, &item->hash, in->hashes);
	strategy->positions(&item->hash, in->bits, 0, in->hashes, bits);
	bf_layout_offsets(remote->layout, bits, in->hashes);
}

/*
 * Append where the block of an item starts, and a block with its bits alone:
 * two arguments, as each takes Redis more time than the bits in it.
 */
static void
append_block(BfUnit *unit, const BfRemote *remote, const BfItem *item,
			 uint32 layer, const uint64 *bits)
{
	const BfBlocks *blocks = remote->plan.strategy->blocks;
	const BfLayer *in = bf_remote_layer(remote, layer);
	uint64		start = bf_layout_head(remote->layout) +
		blocks->find(&item->hash, in->bits);
	uint8	   *block = palloc0(blocks->bytes);

	for (uint32 i = 0; i < in->hashes; i++)
	{
		uint64		bit = bits[i] - start * 8;

		Assert(bits[i] >= start * 8 && bit < blocks->bytes * 8);
		block[bit / 8] |= 0x80 >> bit % 8;
	}
	bf_command_number(unit, start);
	bf_command_bytes(unit, block, blocks->bytes);
	pfree(block);
}

/* Append what lua/layers.lua reads: the layers, and the positions of items. */
void
bf_items_append_positions(BfUnit *unit, const BfRemote *remote, BfItem *item,
						  int count)
{
	uint32		shapes = bf_remote_shapes(remote);
	const BfBlocks *blocks = remote->plan.strategy->blocks;

	bf_command_number(unit, remote->plan.header.layers);
	bf_command_number(unit, shapes);
	bf_command_number(unit, blocks != NULL ? blocks->bytes : 0);
	for (uint32 i = 0; i < shapes; i++)
		bf_command_number(unit, bf_remote_layer(remote, i)->hashes);
	for (int i = 0; i < count; i++)
	{
		for (uint32 j = 0; j < shapes; j++)
		{
			uint64		bits[BF_MAX_HASHES];

			bf_item_bits(&item[i], remote, j, bits);
			if (blocks != NULL)
				append_block(unit, remote, &item[i], j, bits);
			else
				for (uint32 bit = 0; bit < bf_remote_layer(remote, j)->hashes; bit++)
					bf_command_number(unit, bits[bit]);
		}
	}
}

/*
 * Whether a layer's witness is to be written or improved with items that are
 * added: if it has few bits, and there are many items.  With few items a
 * pseudorandom bit position decides, as this costs Redis some time.
 */
bool
bf_items_testify(const BfRemote *remote, uint32 layer, BfItem *item, int count)
{
	BfWitness	witness = bf_remote_witness(remote, layer);
	uint64		bits[BF_MAX_HASHES];

	if (witness.words == 0 || count > TESTIFIERS)
		return !bf_witness_is_strong(&witness);
	bf_item_bits(&item[count - 1], remote, layer, bits);
	return bits[0] % TESTIFIERS == 0 && !bf_witness_is_strong(&witness);
}

/*
 * Choose words for a witness of items: those of the string with bits of the
 * last one.  Redis knows the string's length.
 */
BfWitness
bf_items_witness(const BfRemote *remote, BfItem *item, int count)
{
	const BfLayer *first = &remote->plan.first;
	BfWitness	witness = {0};

	while (count > 0 && witness.words < BF_WITNESS_WORDS)
	{
		uint64		bits[BF_MAX_HASHES];

		bf_item_bits(&item[--count], remote, 0, bits);
		for (uint32 bit = 0; bit < first->hashes; bit++)
			bf_witness_add(&witness, bits[bit]);
	}
	return witness;
}

/* Append subcommands of BITFIELD about the bits of items in one string. */
void
bf_items_append_bits(BfUnit *unit, const BfRemote *remote, BfItem *item,
					 int count, bool set)
{
	for (int i = 0; i < count; i++)
	{
		uint64		bits[BF_MAX_HASHES];

		bf_item_bits(&item[i], remote, 0, bits);
		bf_command_bits(unit, set, bits, remote->plan.first.hashes);
	}
}

/*
 * Read the bits of items; an answer is whether all are set (or, with `set`,
 * were not all set).
 */
void
bf_items_take_bits(BfConnection *connection, BfReply **bit, uint32 hashes,
				   BfItem *item, int count, bool set)
{
	for (int i = 0; i < count; i++)
	{
		bool		all = true;

		for (uint32 j = 0; j < hashes; j++)
			all &= bf_reply_bit(connection, *bit++);
		item[i].answer = all == set;
	}
}

/* Read a digit for each item, as many as there are; returns their number. */
int
bf_items_take_digits(BfConnection *connection, const BfReply *reply,
					 BfItem *item, int count)
{
	const char *digit = bf_reply_string(connection, reply)->str;

	if (reply->len > (size_t) count || strspn(digit, "01") != reply->len)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
	for (size_t i = 0; i < reply->len; i++)
	{
		item[i].answer = digit[i] == '1';
		item[i].done = true;
	}
	return (int) reply->len;
}

/* Read the reply of a script that looks items up: BfItemRun.take. */
bool
bf_items_take_answers(BfConnection *connection, const BfReply *reply,
					  const BfUnit *unit, const BfItemRun *run, BfItem *item,
					  int count)
{
	if (!bf_reply_is_same(connection, run->remote, reply))
		return false;
	if (bf_items_take_digits(connection, reply, item, count) < count)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
	return true;
}

/* ---- Filters that are made of strings ---- */

/*
 * Create the keys of a planned filter; or return one that exists, ignoring
 * hashes that no other program has.
 */
char *
bf_strings_create(const BfRemote *remote, int64 ttl)
{
	const BfLayout *layout = remote->layout;
	BfUnit	   *unit = bf_unit_make();
	int64		answer;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_CREATE);
	bf_remote_append_keys(unit, remote, 1);
	if (layout->layer_suffix != NULL)
		bf_command_key(unit, bf_remote_layer_key(remote, 1));
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_command_number(unit, bf_remote_own_hash(remote, 1));
	if (layout->trimmed)
		bf_command_text(unit, "");
	else
		bf_command_number(unit, bf_layout_bytes(layout, &remote->plan.first));
	bf_command_bytes(unit, remote->head, bf_layout_head(layout));
	bf_command_text(unit, remote->cursor_key ? "0" : "");
	bf_remote_append_hashes(unit, remote, false);
	answer = bf_ask_number(remote->server, remote->key, unit);
	return answer < 0 ? bf_remote_key(remote, (uint32) -answer, 1) : NULL;
}

/* Words of the witness that are read with a head, to prove the note. */
static uint32
witness_words(const BfRemote *remote)
{
	return bf_remote_is_proven(remote) ? BF_WITNESS_ASKED : 0;
}

/*
 * Append a lookup of the head, words of the witness, and the bits of items:
 * BfItemRun.append.
 */
static void
append_headed(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;

	bf_command_begin(unit, "BITFIELD_RO");
	bf_command_text(unit, remote->key);
	bf_command_text(unit, "GET");
	bf_command_key(unit, psprintf("u%u", bf_layout_head(remote->layout) * 8));
	bf_command_text(unit, "0");
	for (uint32 i = 0; i < witness_words(remote); i++)
	{
		bf_command_text(unit, "GET");
		bf_command_text(unit, "u32");
		bf_command_key(unit, psprintf("#" UINT64_FORMAT,
									  remote->witness->word[i % remote->witness->words]));
	}
	bf_items_append_bits(unit, remote, item, count, false);
}

/* The head, as the integer that BITFIELD makes of it. */
static uint64
head_number(const BfRemote *remote)
{
	uint64		number = 0;

	for (uint32 i = 0; i < bf_layout_head(remote->layout); i++)
		number = number << 8 | remote->head[i];
	return number;
}

/* Read that reply, unless it is not this filter's: BfItemRun.take. */
static bool
take_headed(BfConnection *connection, const BfReply *reply,
			const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	uint32		hashes = remote->plan.first.hashes;
	uint32		words = witness_words(remote);
	BfReply **bit = bf_reply_array(connection, reply,
									  1 + words + (size_t) hashes * count);

	if ((uint64) bf_reply_integer(connection, *bit++) != head_number(remote))
		return false;
	for (uint32 i = 0; i < words; i++)
	{
		uint32		had = remote->witness->bits[i % remote->witness->words];

		if (((uint32) bf_reply_integer(connection, *bit++) & had) != had)
			return false;
	}
	bf_items_take_bits(connection, bit, hashes, item, count, true);
	return true;
}

/* Append a lookup of items by the script: BfItemRun.append. */
static void
append_lookup(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	uint32		layers = remote->plan.header.layers;

	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_GUARD BF_SCRIPT_STRINGS BF_SCRIPT_LAYERS BF_SCRIPT_LOOKUP);
	bf_remote_append_keys(unit, remote, layers);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, layers, false);
	bf_remote_append_strings(unit, remote, layers);
	bf_command_bytes(unit, remote->head, bf_layout_head(remote->layout));
	bf_items_append_positions(unit, remote, item, count);
}

/* BfDriver.contains */
bool
bf_strings_contains(const BfRemote *remote, BfItems *items)
{
	bool		headed = bf_layout_head(remote->layout) > 0 && !items->guarded;
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = Max((headed ? BF_BITS_A_COMMAND : BITS_A_SCRIPT) /
					 bf_remote_hashes(remote), 1),
		.append = headed ? append_headed : append_lookup,
		.take = headed ? take_headed : bf_items_take_answers
	};

	return bf_items_run(&run);
}

/* Make a value of a string that is a stream; NULL if missing or not one. */
static struct varlena *
take_stream(BfConnection *connection, const BfStream *stream,
			BfBinding kind, const BfReply *reply)
{
	BfValue		value;
	BfPlan		plan = {0};
	BfError		error;

	if (reply->type == BF_REPLY_NIL)
		return NULL;
	(void) bf_reply_string(connection, reply);
	if (reply->len < stream->head_size ||
		!stream->inspect((const uint8 *) reply->str, reply->len, &plan, &error))
		return NULL;
	bf_value_of_stream(stream, (const uint8 *) reply->str, reply->len, &value);
	bf_value_bind(&value, kind.funnel, kind.meaning);
	return value.varlena;
}

/*
 * Make a value of strings, one for each layer, of which trimmed ones may be
 * missing; NULL if another one is.
 */
static struct varlena *
take_strings(BfConnection *connection, const BfRemote *remote,
			 BfBinding kind, BfReply **string)
{
	BfPlan		plan = remote->plan;
	BfValue		value;

	plan.header.funnel = kind.funnel;
	plan.header.meaning = kind.meaning;
	bf_value_make(&plan, &value);
	bf_foreach_layer(layer, &value.filter)
	{
		const BfReply *found = string[layer.index];

		if (found->type != BF_REPLY_NIL)
			bf_value_set_bits(&value, &layer, BF_ORDER_REDIS,
							  (const uint8 *) bf_reply_string(connection, found)->str,
							  found->len);
		else if (!remote->layout->trimmed)
			return NULL;
	}
	return value.varlena;
}

/* Fetch a string that is a stream; NULL if it does not match its witness. */
static struct varlena *
fetch_stream(const BfRemote *remote, BfBinding kind)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	struct varlena *value = NULL;

	bf_command_begin(unit, "GET");
	bf_command_text(unit, remote->key);
	reply = bf_ask(remote->server, remote->key, unit, BF_FETCH_LIMIT, &connection);
	if (remote->witnesses == 0 || reply->type != BF_REPLY_STRING ||
		bf_witness_is_in(remote->witness, (const uint8 *) reply->str, reply->len))
		value = take_stream(connection, remote->layout->stream, kind, reply);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return value;
}

/* BfDriver.fetch */
struct varlena *
bf_strings_fetch(const BfRemote *remote, BfBinding kind)
{
	const BfStream *stream = remote->layout->stream;
	uint32		layers = remote->plan.header.layers;
	BfUnit	   *unit;
	BfConnection *connection;
	const BfReply *reply;
	struct varlena *value = NULL;
	BfReply **string;

	if (stream != NULL && remote->shard_of == NULL)
		return fetch_stream(remote, kind);
	unit = bf_unit_make();
	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_GUARD BF_SCRIPT_STRINGS BF_SCRIPT_FETCH);
	bf_remote_append_keys(unit, remote, layers);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, layers, false);
	bf_remote_append_strings(unit, remote, layers);
	bf_command_number(unit, layers);
	reply = bf_ask(remote->server, remote->key, unit, BF_FETCH_LIMIT, &connection);
	if (bf_reply_is_same(connection, remote, reply))
	{
		string = bf_reply_array(connection, reply, layers);
		value = stream ? take_stream(connection, stream, kind, *string) :
			take_strings(connection, remote, kind, string);
	}
	bf_connection_done(connection);
	bf_unit_free(unit);
	return value;
}

/* Get a number about a key; of a string, about what follows its head. */
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

/*
 * Whether a filter is the one described, by a lookup of nothing; raises 42704
 * if it is, but has lost a string.
 */
static bool
is_unchanged(const BfRemote *remote)
{
	BfItemRun	run = {.remote = remote};
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	bool		same;

	append_lookup(unit, &run, NULL, 0);
	reply = bf_ask(remote->server, remote->key, unit, 0, &connection);
	same = bf_reply_is_same(connection, remote, reply);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return same;
}

/*
 * BfDriver.measure: bits are counted layer by layer, as that takes Redis long.
 * Whether they were the filter's is found out afterwards: what is missing then,
 * or has come in the place of something else, may have been so before.  A
 * string that describes itself has its length checked: the script would read
 * its hash as well, which may be elsewhere while a slot of a cluster moves.
 */
bool
bf_strings_measure(const BfRemote *remote, BfMeasure *measure)
{
	const BfLayout *layout = remote->layout;

	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		const BfLayer *layer = bf_remote_layer(remote, i);
		uint64		set = ask_about(remote, "BITCOUNT",
									bf_remote_layer_key(remote, i),
									bf_layout_head(layout));

		bf_fill_add(&measure->fill, remote->plan.strategy, layer,
					Min(set, layer->bits));
		measure->bytes += ask_about(remote, "STRLEN",
									bf_remote_layer_key(remote, i), 0);
	}
	measure->ttl = ask_about(remote, "PTTL", remote->hash[BF_CONFIG].there ?
							 pstrdup(remote->hash[BF_CONFIG].key) :
							 bf_remote_layer_key(remote, 0), 0);
	return bf_layout_head(layout) > 0 && remote->shard_of == NULL ?
		measure->bytes == bf_layout_bytes(layout, &remote->plan.first) :
		is_unchanged(remote);
}
