/*
 * add.c
 *	  Add elements to a filter in Redis.
 *
 * Bits may only be set where the filter still is what their positions were
 * computed for: BITFIELD would make a key that has expired anew, without its
 * head, and every element that it once had would be gone without a trace.  So
 * a script compares first, and sets the bits of a batch of elements by one
 * BITFIELD.  It answers a character an element: 1 for one that was surely new.
 *
 * A filter that grows does so by the rule of its original: an element that any
 * layer holds is not set again, and when the newest layer is over half full
 * (or what its expansion says) the next one is made.  The script ends there,
 * with the answers it has, as positions may differ from then on.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "redis/guard.h"
#include "redis/items.h"
#include "redis/redisbloom.h"
#include "strategy/growth.h"
#include "type/value.h"

/* Bits that a call of a script sets; Lua's stack takes twice as many. */
#define BITS_A_SCRIPT	1000

/*
 * KEYS: the string; its hash, if any.  ARGV: the head, or ''; number of fields
 * of the hash that must be the same, and these with values; 1 if the string
 * must be there; k; positions.
 *
 * A string that comes into being (in a layout where an empty filter has none)
 * lives as long as the hash.
 */
static const char add_script[] =
	"local c = redis.call\n"
	"local bits, config, head = KEYS[1], KEYS[2], ARGV[1]\n"
	"local fields, a = tonumber(ARGV[2]), 3\n"
	"if head ~= '' and c('GETRANGE', bits, 0, #head - 1) ~= head then return false end\n"
	"for i = 1, fields do\n"
	"  if c('HGET', config, ARGV[a]) ~= ARGV[a + 1] then return false end\n"
	"  a = a + 2\n"
	"end\n"
	"local there = c('EXISTS', bits) == 1\n"
	"if ARGV[a] == '1' and not there then return false end\n"
	"local k = tonumber(ARGV[a + 1])\n"
	"local set, n = {}, 0\n"
	"for i = a + 2, #ARGV do\n"
	"  set[n + 1] = 'SET' set[n + 2] = 'u1' set[n + 3] = ARGV[i] set[n + 4] = '1'\n"
	"  n = n + 4\n"
	"end\n"
	"local was = c('BITFIELD', bits, unpack(set))\n"
	"if not there and config then\n"
	"  local ttl = c('PTTL', config)\n"
	"  if ttl > 0 then c('PEXPIRE', bits, ttl) end\n"
	"end\n"
	"local answers, m = {}, 0\n"
	"for i = 1, #was, k do\n"
	"  local new = '0'\n"
	"  for j = i, i + k - 1 do\n"
	"    if was[j] == 0 then new = '1' break end\n"
	"  end\n"
	"  m = m + 1\n"
	"  answers[m] = new\n"
	"end\n"
	"return table.concat(answers)\n";

/*
 * KEYS: hash, cursor, layers, the next layer.  ARGV: fields and values as
 * above; number of layers; bits at which the newest is full; the last bit of
 * the next layer; number of shapes (1 where layers are alike); k of each shape;
 * then an element's positions in each shape.
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
	uint32		shapes;			/* sets of positions that an item has */
	BfLayer		next;			/* of a filter that grows */
	uint64		capacity;		/* of its newest layer */
	bool		stale;			/* the filter is not what it was */
} Adding;

static void
append_positions(StringInfo command, const BfRemote *remote,
				 const BfLayer *layer, const BfHash *hash)
{
	uint64		positions[BF_MAX_HASHES];

	bf_strategy_by_id(remote->header.strategy)->positions(hash, layer->bits, 0,
														  layer->hashes,
														  positions);
	for (uint32 i = 0; i < layer->hashes; i++)
		bf_command_number(command, bf_layout_offset(remote->layout,
													positions[i]));
}

/* Add items to a filter of one string. */
static void
append_add(StringInfo command, const Adding *adding, const BfItem *item,
		   int count)
{
	const BfRemote *remote = adding->remote;
	const BfLayout *layout = remote->layout;
	int			guards = bf_guard_count(remote);

	bf_command_start(command, 3 + 1 + remote->configured +
					 2 + 2 * guards + 2 +
					 count * (int) remote->layers->hashes);
	bf_command_text(command, "EVAL");
	bf_command_text(command, add_script);
	bf_command_number(command, 1 + remote->configured);
	bf_command_text(command, bf_remote_layer_key(remote, 0));
	if (remote->configured)
		bf_command_text(command, layout->config_key(remote->key));
	bf_command_bytes(command, remote->head, layout->head);
	bf_command_number(command, guards);
	bf_guard_append_values(command, remote);
	bf_command_number(command, layout->presized);
	bf_command_number(command, remote->layers->hashes);
	for (int i = 0; i < count; i++)
		append_positions(command, remote, remote->layers, &item[i].hash);
}

/* The layers whose positions are sent: all, or the one that all are like. */
static uint32
count_shapes(const BfRemote *remote)
{
	return remote->header.expansion == 1 ? 1 : remote->header.layers;
}

static void
append_grow(StringInfo command, const Adding *adding, const BfItem *item,
			int count)
{
	const BfRemote *remote = adding->remote;
	const BfLayout *layout = remote->layout;
	uint32		layers = remote->header.layers;
	int			guards = bf_guard_count(remote);
	int			positions = 0;

	for (uint32 i = 0; i < adding->shapes; i++)
		positions += remote->layers[i].hashes;
	bf_command_start(command, 3 + 3 + layers + 1 + 2 * guards + 4 +
					 adding->shapes + count * positions);
	bf_command_text(command, "EVAL");
	bf_command_text(command, grow_script);
	bf_command_number(command, 3 + layers);
	bf_command_text(command, layout->config_key(remote->key));
	bf_command_text(command, layout->cursor_key(remote->key));
	for (uint32 i = 0; i <= layers; i++)
		bf_command_text(command, bf_remote_layer_key(remote, i));
	bf_command_number(command, guards);
	bf_guard_append_values(command, remote);
	bf_command_number(command, layers);
	bf_command_number(command, adding->capacity);
	bf_command_number(command, bf_layout_bytes(layout, &adding->next) * 8 - 1);
	bf_command_number(command, adding->shapes);
	for (uint32 i = 0; i < adding->shapes; i++)
		bf_command_number(command, remote->layers[i].hashes);
	for (int i = 0; i < count; i++)
	{
		for (uint32 j = 0; j < adding->shapes; j++)
			append_positions(command, remote, &remote->layers[j],
							 &item[i].hash);
	}
}

/* BfReplyHandler: a character for each item done, or nil. */
static void
take_reply(BfConnection *connection, const redisReply *reply, int unit,
		   void *arg)
{
	Adding	   *adding = arg;
	BfItem	   *item = adding->items->item + (size_t) unit * adding->batch;
	size_t		count = Min(adding->batch,
							adding->items->count - unit * adding->batch);

	if (reply->type == REDIS_REPLY_NIL)
	{
		adding->stale = true;
		return;
	}
	(void) bf_reply_string(connection, reply);
	if (reply->len > count ||
		strspn(reply->str, "01") != reply->len)
		bf_connection_nonsense(connection,
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
	const BfStrategy *strategy = bf_strategy_by_id(remote->header.strategy);
	const BfLayer *newest = &remote->layers[remote->header.layers - 1];
	BfError		error;

	adding->shapes = count_shapes(remote);
	adding->capacity = bf_growth_capacity(strategy, newest,
										  remote->header.expansion);
	if (!bf_growth_next(strategy, newest, remote->header.expansion,
						&adding->next, &error))
		bf_raise(&error, ERRCODE_INTERNAL_ERROR);
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
	adding.batch = Max(BITS_A_SCRIPT / hashes, 1);

	bf_pipeline_start(&pipeline, remote->server, remote->key, take_reply,
					  &adding);
	for (int from = 0; from < items->count; from += adding.batch)
	{
		StringInfo	unit = bf_pipeline_unit(&pipeline, 1);
		int			count = Min(adding.batch, items->count - from);

		CHECK_FOR_INTERRUPTS();
		if (grows)
			append_grow(unit, &adding, items->item + from, count);
		else
			append_add(unit, &adding, items->item + from, count);
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !adding.stale;
}
