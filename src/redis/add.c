/*
 * add.c
 *	  Add elements to a filter in Redis.
 *
 * Bits may only be set where the filter still is what their positions were
 * computed for: BITFIELD would make a key that has expired anew, without its
 * head, and every element that it once had would be gone without a trace.  A
 * script can compare first; but where it sets the bits as well, each of them
 * passes through Lua, which takes Redis twice as long as BITFIELDs of its own.
 * A transaction of these goes on whatever a script in it has found.
 *
 * So a transaction sets bits under a temporary name, by which a script lends
 * it the filter if that is the right one.  Until then the name is a list's, and
 * BITFIELD can only fail.  A second script gives the filter its own name back.
 * To everybody else all of this is one moment, in which only bits changed; the
 * time to live goes with the filter.  If Redis refuses any of these commands,
 * it refuses all.
 *
 * In a transaction of Redis 6.2 time goes on, so that a filter may expire while
 * it is lent, and BITFIELD make it anew.  What was lent with a time to live is
 * therefore only given back with one.
 *
 * WATCH would do without a temporary name, but a round trip a transaction more,
 * and in vain whenever others add to the same filter.
 *
 * A filter that grows does so by the rule of its original: an element that any
 * layer holds is not set again, and when the newest layer is over half full
 * (or what its expansion says) the next one is made.  That takes a script.  It
 * ends there, with the answers it has, as positions may differ from then on: a
 * character an element, 1 for one that was surely new.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "redis/guard.h"
#include "redis/items.h"
#include "redis/redisbloom.h"
#include "strategy/plan.h"
#include "type/value.h"

/* Bits that a BITFIELD sets, as in contains.c, and BITFIELDs of a unit. */
#define BITS_A_COMMAND		100
#define COMMANDS_A_UNIT		10

/*
 * Positions that a call of the script for growing filters takes: enough to pay
 * for its BITCOUNT, and few enough for others to have their turn.
 */
#define POSITIONS_A_SCRIPT	4000

/*
 * KEYS: the string; the temporary name; the string's hash, if any.  ARGV: the
 * head, or ''; 1 if the string must be there; fields of the hash that must be
 * the same, with values.
 *
 * A string that comes into being (in a layout where an empty filter has none)
 * lives as long as the hash.  An empty string is left where one with a time to
 * live was.
 */
static const char lend_script[] =
	"local c = redis.call\n"
	"local bits, aside, config, head = KEYS[1], KEYS[2], KEYS[3], ARGV[1]\n"
	"local there = c('STRLEN', bits) > 0\n"
	"if head ~= '' and c('GETRANGE', bits, 0, #head - 1) ~= head then return 0 end\n"
	"for i = 3, #ARGV, 2 do\n"
	"  if c('HGET', config, ARGV[i]) ~= ARGV[i + 1] then return 0 end\n"
	"end\n"
	"if not there then\n"
	"  if ARGV[2] == '1' then return 0 end\n"
	"  c('SETBIT', bits, 0, 0)\n"
	"  local ttl = c('PTTL', config)\n"
	"  if ttl > 0 then c('PEXPIRE', bits, ttl) end\n"
	"end\n"
	"c('RENAME', bits, aside)\n"
	"if c('PTTL', aside) >= 0 then c('SET', bits, '') end\n"
	"return 1\n";

/* KEYS: the string; the temporary name. */
static const char return_script[] =
	"local c, bits, aside = redis.call, KEYS[1], KEYS[2]\n"
	"if c('TYPE', aside).ok == 'list' then\n"
	"  c('DEL', aside)\n"
	"elseif c('EXISTS', bits) == 0 or c('PTTL', aside) >= 0 then\n"
	"  c('RENAME', aside, bits)\n"
	"else\n"
	"  c('DEL', aside, bits)\n"
	"end\n";

/*
 * KEYS: hash, cursor, layers, the next layer.  ARGV: number of fields of the
 * hash that must be the same, and these with values; number of layers; bits at
 * which the newest is full; the last bit of the next layer; number of shapes (1
 * where layers are alike); k of each shape; then an element's positions in each
 * shape.
 */
static const char grow_script[] =
	"local c = redis.call\n"
	"local a = 2\n"
	"for i = 1, tonumber(ARGV[1]) do\n"
	"  if c('HGET', KEYS[1], ARGV[a]) ~= ARGV[a + 1] then return false end\n"
	"  a = a + 2\n"
	"end\n"
	"local layers, full = tonumber(ARGV[a]), tonumber(ARGV[a + 1])\n"
	"local last, shapes = ARGV[a + 2], tonumber(ARGV[a + 3])\n"
	"a = a + 4\n"
	"if (c('GET', KEYS[2]) or '0') ~= tostring(layers - 1) then return false end\n"
	"for i = 1, layers do\n"
	"  if c('EXISTS', KEYS[2 + i]) == 0 then return false end\n"
	"end\n"
	"local at, k, step = {}, {}, 0\n"
	"for i = 1, shapes do\n"
	"  at[i], k[i] = step, tonumber(ARGV[a])\n"
	"  step = step + k[i]\n"
	"  a = a + 1\n"
	"end\n"
	"local newest = KEYS[2 + layers]\n"
	"local filled = c('BITCOUNT', newest)\n"
	"local function zeros(command, verb, key, from, count, value)\n"
	"  local t, n = {command, key}, 2\n"
	"  for i = from, from + count - 1 do\n"
	"    t[n + 1] = verb t[n + 2] = 'u1' t[n + 3] = ARGV[i]\n"
	"    n = n + 3\n"
	"    if value then n = n + 1 t[n] = value end\n"
	"  end\n"
	"  local zero = 0\n"
	"  for _, bit in ipairs(c(unpack(t))) do zero = zero + 1 - bit end\n"
	"  return zero\n"
	"end\n"
	"local answers, m = {}, 0\n"
	"for e = a, #ARGV, step do\n"
	"  local found, changed = false, 0\n"
	"  if layers > 1 then\n"
	"    for i = layers, 1, -1 do\n"
	"      local s = shapes == 1 and 1 or i\n"
	"      if zeros('BITFIELD_RO', 'GET', KEYS[2 + i], e + at[s], k[s]) == 0 then\n"
	"        found = true\n"
	"        break\n"
	"      end\n"
	"    end\n"
	"  end\n"
	"  if not found then\n"
	"    changed = zeros('BITFIELD', 'SET', newest, e + at[shapes], k[shapes], '1')\n"
	"    filled = filled + changed\n"
	"  end\n"
	"  m = m + 1\n"
	"  answers[m] = changed > 0 and '1' or '0'\n"
	"  if filled >= full then\n"
	"    local ttl, next = c('PTTL', KEYS[1]), KEYS[3 + layers]\n"
	"    c('DEL', next)\n"
	"    c('SETBIT', next, last, 0)\n"
	"    c('SET', KEYS[2], layers)\n"
	"    if ttl > 0 then\n"
	"      c('PEXPIRE', next, ttl)\n"
	"      c('PEXPIRE', KEYS[2], ttl)\n"
	"    end\n"
	"    break\n"
	"  end\n"
	"end\n"
	"return table.concat(answers)\n";

typedef struct Adding
{
	const BfRemote *remote;
	BfItems    *items;
	int			batch;			/* items a unit */
	int			slice;			/* items a BITFIELD */
	char	   *aside;			/* the temporary name */
	uint32		shapes;			/* sets of positions that an item has */
	BfLayer		next;			/* of a filter that grows */
	uint64		capacity;		/* of its newest layer */
	bool		stale;			/* the filter is not what it was */
} Adding;

/* Start a call of a script whose keys start with the string and its alias. */
static void
append_script(BfUnit *unit, const Adding *adding, const char *script)
{
	bf_script_begin(unit, script);
	bf_command_key(unit, bf_remote_layer_key(adding->remote, 0));
	bf_command_text(unit, adding->aside);
}

/* One BITFIELD. */
static void
append_bitfield(BfUnit *unit, const Adding *adding, BfItem *item,
				int count)
{
	const BfRemote *remote = adding->remote;

	bf_command_begin(unit, "BITFIELD");
	bf_command_text(unit, adding->aside);
	for (int i = 0; i < count; i++)
	{
		uint64		bits[BF_MAX_HASHES];
		uint32		hashes = bf_item_bits(&item[i], remote, 0, bits);

		bf_command_bits(unit, true, bits, hashes);
	}
}

/* Add items to a filter of one string. */
static void
append_add(BfUnit *unit, const Adding *adding, BfItem *item,
		   int count)
{
	const BfRemote *remote = adding->remote;
	const BfLayout *layout = remote->layout;

	bf_transaction_begin(unit);
	bf_command_begin(unit, "RPUSH");
	bf_command_text(unit, adding->aside);
	bf_command_text(unit, "");
	append_script(unit, adding, lend_script);
	if (remote->configured)
		bf_command_key(unit, layout->config_key(remote->key));
	bf_script_arguments(unit);
	bf_command_bytes(unit, remote->head, layout->head);
	bf_command_number(unit, layout->presized);
	bf_guard_append_values(unit, remote);
	for (int from = 0; from < count; from += adding->slice)
		append_bitfield(unit, adding, item + from,
						Min(adding->slice, count - from));
	append_script(unit, adding, return_script);
	bf_transaction_end(unit);
}

/* Take what the bits of some items were. */
static void
take_bits(BfConnection *connection, const redisReply *reply,
		  const Adding *adding, BfItem *item, int count)
{
	uint32		hashes = adding->remote->layers->hashes;
	redisReply **bit = bf_reply_array(connection, reply,
									  (size_t) hashes * count);

	for (int i = 0; i < count; i++)
	{
		item[i].answer = !bf_item_is_set(connection, bit + i * hashes, hashes);
		item[i].done = true;
	}
}

/* The items of a unit; returns how many. */
static int
items_of_unit(const Adding *adding, int unit, BfItem **item)
{
	int			from = unit * adding->batch;

	*item = adding->items->item + from;
	return Min(adding->batch, adding->items->count - from);
}

/* BfReplyHandler: what the commands of a transaction returned */
static void
take_added(BfConnection *connection, const redisReply *reply,
		   const BfUnit *unit, void *arg)
{
	Adding	   *adding = arg;
	BfItem	   *item;
	int			count = items_of_unit(adding, unit->number, &item);
	redisReply **result = bf_reply_results(connection, reply, unit);

	if (bf_reply_integer(connection, result[1]) == 0)
	{
		adding->stale = true;
		return;
	}
	result += 2;
	for (int from = 0; from < count; from += adding->slice)
		take_bits(connection, *result++, adding, item + from,
				  Min(adding->slice, count - from));
}

/* The layers whose positions are sent: all, or the one that all are like. */
static uint32
count_shapes(const BfRemote *remote)
{
	return remote->header.expansion == 1 ? 1 : remote->header.layers;
}

static void
append_grow(BfUnit *unit, const Adding *adding, BfItem *item,
			int count)
{
	const BfRemote *remote = adding->remote;
	const BfLayout *layout = remote->layout;
	uint32		layers = remote->header.layers;

	bf_script_begin(unit, grow_script);
	bf_command_key(unit, layout->config_key(remote->key));
	bf_command_key(unit, layout->cursor_key(remote->key));
	for (uint32 i = 0; i <= layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	bf_script_arguments(unit);
	bf_command_number(unit, bf_guard_count(remote));
	bf_guard_append_values(unit, remote);
	bf_command_number(unit, layers);
	bf_command_number(unit, adding->capacity);
	bf_command_number(unit, bf_layout_bytes(layout, &adding->next) * 8 - 1);
	bf_command_number(unit, adding->shapes);
	for (uint32 i = 0; i < adding->shapes; i++)
		bf_command_number(unit, remote->layers[i].hashes);
	for (int i = 0; i < count; i++)
	{
		for (uint32 j = 0; j < adding->shapes; j++)
		{
			uint64		bits[BF_MAX_HASHES];
			uint32		hashes = bf_item_bits(&item[i], remote, j, bits);

			for (uint32 bit = 0; bit < hashes; bit++)
				bf_command_number(unit, bits[bit]);
		}
	}
}

/* BfReplyHandler: a character for each item done, or nil. */
static void
take_grown(BfConnection *connection, const redisReply *reply,
		   const BfUnit *unit, void *arg)
{
	Adding	   *adding = arg;
	BfItem	   *item;
	size_t		count = items_of_unit(adding, unit->number, &item);

	if (reply->type == REDIS_REPLY_NIL)
	{
		adding->stale = true;
		return;
	}
	(void) bf_reply_string(connection, reply);
	if (reply->len > count ||
		strspn(reply->str, "01") != reply->len)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
	for (size_t i = 0; i < reply->len; i++)
	{
		item[i].answer = reply->str[i] == '1';
		item[i].done = true;
	}
	adding->stale |= reply->len < count;
}

/* Find out how a filter that grows goes on. */
static void
prepare_growth(Adding *adding)
{
	const BfRemote *remote = adding->remote;
	const BfLayer *newest = &remote->layers[remote->header.layers - 1];
	BfPlan		plan = {
		.strategy = bf_strategy_by_id(remote->header.strategy),
		.header = remote->header
	};
	BfError		error;

	if (remote->header.layers == BF_MAX_LAYERS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("filter at key \"%s\" cannot grow any further",
						remote->key),
				 errdetail("It has %d layers.", BF_MAX_LAYERS)));
	adding->shapes = count_shapes(remote);
	adding->capacity = bf_plan_capacity(&plan, newest);
	if (!bf_plan_next_layer(&plan, newest, &adding->next, &error))
		bf_raise(&error);
	if (bf_layout_bytes(remote->layout, &adding->next) > BF_REDIS_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("filter at key \"%s\" cannot grow any further",
						remote->key),
				 errdetail("Its next layer would not fit into a Redis key.")));
}

/*
 * Add items to a filter; their answers are whether they were surely new.
 * False where the filter is not, or in the course of it is no more, what it was
 * described as: the items that are not done have not been added.
 */
bool
bf_remote_add(const BfRemote *remote, BfItems *items)
{
	bool		grows = remote->layout->cursor_key != NULL;
	BfPipeline	pipeline;
	uint32		hashes = 0;
	Adding		adding = {.remote = remote,.items = items,.shapes = 1};

	if (items->count == 0)
		return true;
	if (remote->layout->native_type != NULL)
		return bf_redisbloom_add(remote, items);
	if (grows)
		prepare_growth(&adding);
	for (uint32 i = 0; i < adding.shapes; i++)
		hashes += remote->layers[i].hashes;
	adding.slice = Max(BITS_A_COMMAND / hashes, 1);
	adding.batch = grows ? Max(POSITIONS_A_SCRIPT / hashes, 1) :
		adding.slice * COMMANDS_A_UNIT;
	adding.aside = bf_temporary_key(remote->key, 0);

	bf_pipeline_start(&pipeline, remote->server, remote->key,
					  grows ? take_grown : take_added, &adding);
	for (int from = 0; from < items->count && !adding.stale;
		 from += adding.batch)
	{
		int			count = Min(adding.batch, items->count - from);
		BfUnit	   *unit = bf_pipeline_unit(&pipeline);

		CHECK_FOR_INTERRUPTS();
		if (grows)
			append_grow(unit, &adding, items->item + from, count);
		else
			append_add(unit, &adding, items->item + from, count);
		bf_items_forget(remote, items->item + from, count);
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !adding.stale;
}
