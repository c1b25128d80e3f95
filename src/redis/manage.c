/*
 * manage.c
 *	  bf_redis_create, bf_redis_info and bf_redis_drop.
 *
 * A filter is made by one script, which makes all its keys or, where it is
 * there, none: of two who create the same filter at the same time, one finds
 * the other's.  A hash that was left without its string, as eviction may leave
 * it, is replaced, or removed where the filter has none.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/estimate.h"
#include "redis/options.h"
#include "redis/redisbloom.h"
#include "redis/remote.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_redis_create);
PG_FUNCTION_INFO_V1(bloomext_redis_info);
PG_FUNCTION_INFO_V1(bloomext_redis_drop);

/*
 * KEYS: the string, hash and cursor, as far as there are such.  ARGV: ttl in
 * ms (0: none); the string's length ('': it is not made yet) and its head; what
 * the cursor is to be ('': there is none); the hash's fields and values.
 */
static const char create_script[] =
	"local c, ttl, k = redis.call, tonumber(ARGV[1]), 2\n"
	"for i = 1, ARGV[2] ~= '' and 1 or #KEYS do\n"
	"  if c('EXISTS', KEYS[i]) == 1 then return 0 end\n"
	"end\n"
	"for i = 2, #KEYS do c('DEL', KEYS[i]) end\n"
	"if ARGV[2] ~= '' then\n"
	"  c('SETBIT', KEYS[1], ARGV[2] * 8 - 1, 0)\n"
	"  if ARGV[3] ~= '' then c('SETRANGE', KEYS[1], 0, ARGV[3]) end\n"
	"end\n"
	"if #ARGV > 4 then\n"
	"  c('HSET', KEYS[k], unpack(ARGV, 5))\n"
	"  k = k + 1\n"
	"end\n"
	"if ARGV[4] ~= '' then c('SET', KEYS[k], ARGV[4]) end\n"
	"if ttl > 0 then\n"
	"  for i = 1, #KEYS do c('PEXPIRE', KEYS[i], ttl) end\n"
	"end\n"
	"return 1\n";

/* Make a filter as planned; false where any of its keys is there. */
static bool
create_remote(const BfRemote *remote, int64 ttl)
{
	const BfLayout *layout = remote->layout;
	bool		config = layout->config_key != NULL;
	bool		cursor = layout->cursor_key != NULL;
	BfUnit	   *unit = bf_unit_make();

	if (layout->native_type != NULL)
		return bf_redisbloom_create(remote, ttl);
	bf_script_begin(unit, create_script);
	bf_command_key(unit, bf_remote_layer_key(remote, 0));
	if (config)
		bf_command_key(unit, layout->config_key(remote->key));
	if (cursor)
		bf_command_key(unit, layout->cursor_key(remote->key));
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_command_text(unit, layout->presized ?
					psprintf("%llu", (unsigned long long)
							 bf_layout_bytes(layout, remote->layers)) : "");
	bf_command_bytes(unit, remote->head, layout->head);
	bf_command_text(unit, cursor ? "0" : "");
	bf_remote_append_fields(unit, remote);
	return bf_ask_number(remote->server, remote->key, unit) == 1;
}

/* Make the hash that says how many shards a filter has. */
static bool
create_shards(Oid server, const char *key, const BfLayout *layout, int shards,
			  int64 ttl)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, create_script);
	bf_command_text(unit, key);
	bf_command_key(unit, bf_shards_key(key));
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_command_text(unit, "");
	bf_command_text(unit, "");
	bf_command_text(unit, "");
	bf_command_text(unit, "layout");
	bf_command_text(unit, layout->name);
	bf_command_text(unit, "shards");
	bf_command_number(unit, shards);
	return bf_ask_number(server, key, unit) == 1;
}

/* Describe what is there, for a message. */
static char *
describe(const BfRemote *remote)
{
	if (remote->occupied)
		return pstrdup("something that is no filter");
	if (remote->shards > 0)
		return psprintf("layout %s, %d shards", remote->layout->name,
						remote->shards);
	return psprintf("layout %s, %s, %llu bits, %u hashes, expansion %u",
					remote->layout->name,
					bf_strategy_by_id(remote->header.strategy)->name,
					(unsigned long long) remote->layers->bits,
					remote->layers->hashes, remote->header.expansion);
}

/* Is what is there what is wanted, but for what has been added to it? */
static bool
is_same(const BfRemote *found, const BfRemote *wanted)
{
	return found->layout == wanted->layout && found->shards == wanted->shards &&
		(wanted->shards > 0 ||
		 (found->header.strategy == wanted->header.strategy &&
		  found->header.expansion == wanted->header.expansion &&
		  found->layers->bits == wanted->layers->bits &&
		  found->layers->hashes == wanted->layers->hashes));
}

/*
 * Whether a key has the wanted filter; 22023 if it has something else.  A
 * native one is described by its server.
 */
static bool
is_there(const BfRemote *wanted)
{
	BfRemote	found;

	bf_remote_describe(wanted->server, wanted->key, &found);
	if (found.layout == NULL && !found.occupied)
		return false;
	if (found.layout == &bf_layout_redisbloom && found.shards == 0)
		bf_redisbloom_describe(&found);
	if (found.occupied || !is_same(&found, wanted))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" already holds something else",
						wanted->key),
				 errdetail("Wanted: %s. Found: %s.", describe(wanted),
						   describe(&found))));
	return true;
}

/*
 * Say that what kept us from making a filter is one like it (false), or raise
 * what it is, or that it has gone again.
 */
static bool
found_instead(const BfRemote *wanted)
{
	if (is_there(wanted))
		return false;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" keeps changing", wanted->key)));
}

/* Make a filter, or find it there (false). */
static bool
create(const BfRemote *remote, int64 ttl)
{
	bf_remote_check_slots(remote);
	if (is_there(remote))
		return false;
	return create_remote(remote, ttl) || found_instead(remote);
}

/*
 * Make all shards, and then what says that there are some: who makes that has
 * made the filter.
 */
static bool
create_sharded(Oid server, const char *key, const BfLayout *layout,
			   const BfHeader *header, BfLayer *layer, int shards, int64 ttl)
{
	BfRemote	whole = {
		.server = server,
		.key = key,
		.layout = layout,
		.shards = shards
	};
	bool		there = is_there(&whole);
	bool		created = false;

	for (int i = 0; i < shards; i++)
	{
		BfRemote	shard;

		bf_remote_plan(server, bf_shard_key(key, i), layout, header, layer,
					   &shard);
		created |= create(&shard, ttl);
	}
	if (!there)
		created = create_shards(server, key, layout, shards, ttl) ||
			found_instead(&whole);
	return created;
}

/*
 * bf_redis_create(server, key, expected, fpp, strategy, layout, expansion,
 * ttl): true: made; false: one of the same parameters is there.
 */
Datum
bloomext_redis_create(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"server", "key", "expected", "fpp", "strategy", NULL, "expansion"
	};
	const BfLayout *layout = NULL;
	BfPlan		plan;
	BfRemote	remote;
	int			shards = 0;
	int64		expected;
	int64		ttl;
	Oid			server;
	char	   *key;

	bf_refuse_nulls(fcinfo, 0, names, lengthof(names));
	server = bf_server_argument(fcinfo, 0);
	key = bf_key_argument(fcinfo, 1);
	ttl = bf_ttl_argument(fcinfo, 7);
	expected = PG_GETARG_INT64(2);
	if (!PG_ARGISNULL(5))
		layout = bf_layout_argument(text_to_cstring(PG_GETARG_TEXT_PP(5)),
									&shards);
	if (shards > 0 && expected > 0)
		expected = (expected - 1) / shards + 1;
	bf_value_plan(bf_strategy_argument(PG_GETARG_TEXT_PP(4)), expected,
				  PG_GETARG_FLOAT8(3), BF_FUNNEL_UNBOUND,
				  PG_GETARG_INT32(6), &plan);
	if (layout == NULL)
		layout = bf_layout_default(&plan.header);
	if (shards > 0)
		PG_RETURN_BOOL(create_sharded(server, key, layout, &plan.header,
									  &plan.first, shards, ttl));
	bf_remote_plan(server, key, layout, &plan.header, &plan.first, &remote);
	PG_RETURN_BOOL(create(&remote, ttl));
}

/* Numbers of a filter, or of a shard of it. */
typedef struct Measure
{
	BfFill		fill;
	uint64		bytes;
	int64		ttl;			/* ms; -1: none */
} Measure;

/* Ask for a number about a key. */
static int64
ask_number(const BfRemote *remote, const char *verb, const char *key,
		   uint32 head)
{
	BfUnit	   *unit = bf_unit_make();

	bf_command_begin(unit, verb);
	bf_command_text(unit, key);
	if (head > 0)
	{
		bf_command_number(unit, head);
		bf_command_text(unit, "-1");
	}
	return bf_ask_number(remote->server, remote->key, unit);
}

/* Add what a filter, or a shard of it, measures. */
static void
measure(const BfRemote *remote, Measure *sum)
{
	const BfLayout *layout = remote->layout;
	BfFill		fill = {0};

	for (uint32 i = 0; i < remote->header.layers; i++)
	{
		const BfLayer *layer = &remote->layers[i];
		char	   *key = bf_remote_layer_key(remote, i);
		uint64		set = ask_number(remote, "BITCOUNT", key, layout->head);

		bf_fill_add(&fill, layer, Min(set, layer->bits));
		sum->bytes += ask_number(remote, "STRLEN", key, 0);
		pfree(key);
	}
	sum->fill.bits += fill.bits;
	sum->fill.bits_set += fill.bits_set;
	sum->fill.count += fill.count;
	sum->fill.fpp = Max(sum->fill.fpp, fill.fpp);
	sum->ttl = ask_number(remote, "PTTL", remote->configured ?
						   layout->config_key(remote->key) :
						   bf_remote_layer_key(remote, 0), 0);
}

/*
 * Describe a filter or the first of its shards, and measure all of it.  A shard
 * may have many layers, so only one is kept at a time, in the end the first.
 */
static void
inspect(Oid server, const char *key, BfRemote *whole, BfRemote *part,
		Measure *sum)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext one = AllocSetContextCreate(old, "bloomext Redis shard",
											  ALLOCSET_DEFAULT_SIZES);

	memset(sum, 0, sizeof(*sum));
	bf_remote_describe(server, key, whole);
	if (whole->layout == NULL)
		bf_remote_missing(whole);
	*part = *whole;
	if (whole->layout == &bf_layout_redisbloom && whole->shards == 0)
		bf_redisbloom_describe(part);
	MemoryContextSwitchTo(one);
	for (int i = whole->shards - 1; i >= 0; i--)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(one);
		bf_remote_describe_shard(whole, i, part);
		if (part->layout == &bf_layout_redisbloom)
			bf_redisbloom_describe(part);
		else
			measure(part, sum);
	}
	MemoryContextSwitchTo(old);
	if (whole->shards == 0 && whole->layout->native_type == NULL)
		measure(part, sum);
}

/* bf_redis_info(server, key): what a filter in Redis is, and how full */
Datum
bloomext_redis_info(PG_FUNCTION_ARGS)
{
	BfRemote	whole;
	BfRemote	part;
	Measure		sum;
	TupleDesc	row;
	Datum		values[16];
	bool		nulls[16] = {false};
	const char *funnel;
	int			shards;
	bool		native;

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	inspect(bf_server_argument(fcinfo, 0), bf_key_argument(fcinfo, 1), &whole,
			&part, &sum);
	shards = Max(whole.shards, 1);
	native = part.layout->native_type != NULL;
	funnel = bf_funnel_name(part.header.funnel);

	values[0] = CStringGetTextDatum(part.layout->name);
	values[1] = CStringGetTextDatum(bf_strategy_by_id(part.header.strategy)->name);
	nulls[2] = funnel == NULL;
	values[2] = funnel ? CStringGetTextDatum(funnel) : (Datum) 0;
	nulls[3] = nulls[4] = part.header.fpp == 0;
	values[3] = Int64GetDatum((int64) part.header.expected * shards);
	values[4] = Float8GetDatum(part.header.fpp);
	values[5] = Int32GetDatum(part.layers->hashes);
	values[6] = Int64GetDatum((int64) (native ? part.layers->bits * shards : sum.fill.bits));
	values[7] = Int64GetDatum((int64) sum.fill.bits_set);
	values[8] = Float8GetDatum(native ? 0 : (double) sum.fill.bits_set / (double) sum.fill.bits);
	values[9] = Int32GetDatum(part.header.layers);
	values[10] = Int32GetDatum(part.header.expansion);
	values[11] = Int32GetDatum(shards);
	values[12] = Int64GetDatum(sum.fill.count);
	values[13] = Float8GetDatum(sum.fill.fpp);
	values[14] = Int64GetDatum((int64) sum.bytes);
	values[15] = Int64GetDatum(sum.ttl);
	nulls[7] = nulls[8] = nulls[12] = nulls[13] = nulls[14] = native;
	nulls[15] = native || sum.ttl < 0;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row),
													  values, nulls)));
}

/* Remove all keys that a filter has, or what is left of it. */
static bool
drop_remote(const BfRemote *remote)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;
	BfUnit	   *unit = bf_unit_make();
	bool		config = layout->config_key != NULL;
	bool		cursor = layout->cursor_key != NULL;
	uint32		layers = cursor ? remote->header.layers : 1;

	bf_command_begin(unit, "UNLINK");
	for (uint32 i = 0; i < layers; i++)
		bf_command_key(unit, layout->layer_key(remote->key, i));
	if (config)
		bf_command_key(unit, layout->config_key(remote->key));
	if (cursor)
		bf_command_key(unit, layout->cursor_key(remote->key));
	return bf_ask_number(remote->server, remote->key, unit) > 0;
}

/*
 * Remove what says that a filter has shards; before these, so that no reader
 * takes some of them for all.
 */
static bool
drop_shards(const BfRemote *whole)
{
	BfUnit	   *unit = bf_unit_make();

	bf_command_begin(unit, "UNLINK");
	bf_command_key(unit, bf_shards_key(whole->key));
	return bf_ask_number(whole->server, whole->key, unit) > 0;
}

/* Remove what is a shard, one after another as inspect() does. */
static bool
drop_each_shard(const BfRemote *whole)
{
	MemoryContext one = AllocSetContextCreate(CurrentMemoryContext,
											  "bloomext Redis shard",
											  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(one);
	bool		dropped = false;

	for (int i = 0; i < whole->shards; i++)
	{
		BfRemote	shard;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(one);
		bf_remote_describe(whole->server, bf_shard_key(whole->key, i), &shard);
		if (bf_remote_is_shard(&shard, whole) ||
			(shard.layout == NULL && shard.orphan == whole->layout))
			dropped |= drop_remote(&shard);
	}
	MemoryContextSwitchTo(old);
	return dropped;
}

/* bf_redis_drop(server, key): true: there was a filter, and it is gone */
Datum
bloomext_redis_drop(PG_FUNCTION_ARGS)
{
	Oid			server = bf_server_argument(fcinfo, 0);
	char	   *key = bf_key_argument(fcinfo, 1);
	BfRemote	whole;
	bool		dropped;

	bf_remote_describe(server, key, &whole);
	if (whole.occupied)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds something that is no filter", key)));
	if (whole.layout == NULL && whole.orphan == NULL)
		PG_RETURN_BOOL(false);
	if (whole.shards == 0)
		PG_RETURN_BOOL(drop_remote(&whole));
	dropped = drop_shards(&whole);
	dropped |= drop_each_shard(&whole);
	PG_RETURN_BOOL(dropped);
}
