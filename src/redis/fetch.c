/*
 * fetch.c
 *	  bf_fetch: read a filter that a service keeps in Redis.
 *
 * A filter of several strings is read by one transaction, together with what
 * describes it, so that what is made of it was there at one moment.  Whatever
 * comes is taken for bytes of a stranger: the strings must fit the shape, and
 * bits beyond it must not be set.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "redis/options.h"
#include "redis/guard.h"
#include "redis/redisbloom.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_fetch);
PG_FUNCTION_INFO_V1(bloomext_fetch_sized);

/* All that a value can hold, and what comes with it. */
#define FETCH_LIMIT		(MaxAllocSize + BF_REPLY_LIMIT)

/* Changes of a filter that are put up with. */
#define MAX_CHANGES		20

/* What the reply handler makes. */
typedef struct Fetch
{
	const BfRemote *remote;
	BfFunnel	funnel;
	text	   *funnel_argument;
	struct varlena *value;		/* NULL: there was none, or it has changed */
} Fetch;

/* The funnel of a filter's elements, as it says or else as the caller does. */
static BfFunnel
funnel_of(const Fetch *fetch, const BfStrategy *strategy)
{
	return fetch->funnel != BF_FUNNEL_UNBOUND ? fetch->funnel :
		bf_funnel_argument(fetch->funnel_argument, strategy);
}

/* Make a value of a stream that describes itself. */
static struct varlena *
import_stream(const BfStream *stream, const char *bytes, size_t length,
			  const Fetch *fetch)
{
	BfValue		value;

	bf_value_of_stream(stream, (const uint8 *) bytes, length, &value);
	bf_value_bind(&value, funnel_of(fetch, value.filter.plan.strategy),
				  BF_MEANING_NONE);
	return value.varlena;
}

/* Make a value of strings, one a layer, of which empty ones may be missing. */
static struct varlena *
import_strings(BfConnection *connection, redisReply **string,
			   const Fetch *fetch)
{
	const BfRemote *remote = fetch->remote;
	BfPlan		plan = {
		.strategy = bf_strategy_by_id(remote->header.strategy),
		.header = remote->header,
		.layers = remote->layers
	};
	BfValue		value;

	plan.header.funnel = funnel_of(fetch, plan.strategy);
	bf_value_make(&plan, &value);
	bf_foreach_layer(layer, &value.filter)
	{
		const redisReply *found = string[layer.index];

		if (found->type == REDIS_REPLY_NIL && remote->layout->presized)
			return NULL;
		if (found->type != REDIS_REPLY_NIL)
			bf_value_set_bits(&value, &layer, BF_ORDER_REDIS,
							  (const uint8 *) bf_reply_string(connection, found)->str,
							  found->len);
	}
	return value.varlena;
}

/* BfReplyHandler: one string */
static void
take_string(BfConnection *connection, const redisReply *reply,
			const BfUnit *unit, void *arg)
{
	Fetch	   *fetch = arg;
	redisReply *string = unconstify(redisReply *, reply);

	if (reply->type == REDIS_REPLY_NIL)
		return;
	(void) bf_reply_string(connection, reply);
	fetch->value = fetch->remote->layout->stored_order ?
		import_stream(bf_guava.stream, reply->str, reply->len, fetch) :
		import_strings(connection, &string, fetch);
}

/* BfReplyHandler: hash, cursor and strings */
static void
take_transaction(BfConnection *connection, const redisReply *reply,
				 const BfUnit *unit, void *arg)
{
	Fetch	   *fetch = arg;
	const BfRemote *remote = fetch->remote;
	bool		cursor = remote->layout->cursor_key != NULL;
	redisReply **result = bf_reply_results(connection, reply, unit);

	if (bf_guard_same_fields(connection, remote, result[0]) &&
		(!cursor || bf_guard_same_cursor(remote, result[1])))
		fetch->value = import_strings(connection, result + 1 + cursor, fetch);
}

static void
append_get(BfUnit *unit, char *key)
{
	bf_command_begin(unit, "GET");
	bf_command_key(unit, key);
}

/* Read the strings of a filter, alone or with what describes it. */
static void
fetch_strings(Fetch *fetch)
{
	const BfRemote *remote = fetch->remote;
	bool		alone = !remote->configured || remote->layout->stored_order;
	BfPipeline	pipeline;
	BfUnit	   *unit;

	bf_pipeline_start(&pipeline, remote->server, remote->key,
					  alone ? take_string : take_transaction, fetch);
	pipeline.reply_limit = FETCH_LIMIT;
	unit = bf_pipeline_unit(&pipeline);
	if (!alone)
	{
		bf_transaction_begin(unit);
		bf_guard_append(unit, remote);
	}
	for (uint32 i = 0; i < remote->header.layers; i++)
		append_get(unit, bf_remote_layer_key(remote, i));
	if (!alone)
	{
		bf_transaction_end(unit);
	}
	bf_pipeline_send(&pipeline, unit);
	bf_pipeline_finish(&pipeline);
}

static void
fetch_native(Fetch *fetch)
{
	StringInfoData dump;

	initStringInfo(&dump);
	bf_redisbloom_fetch(fetch->remote, &dump);
	fetch->value = import_stream(bf_redisbloom.stream, dump.data, dump.len,
								 fetch);
	pfree(dump.data);
}

/* Refuse a filter that is not the one asked for, or no single one. */
static void
check_found(const BfRemote *remote, const BfLayout *wanted)
{
	if (remote->layout == NULL)
		bf_remote_missing(remote);
	if (wanted != NULL && wanted != remote->layout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter in layout \"%s\", not \"%s\"",
						remote->key, remote->layout->name, wanted->name)));
	if (remote->shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter at key \"%s\" is spread over %d shards",
						remote->key, remote->shards),
				 errhint("Fetch \"%s\" and the others, each of which is a filter.",
						 bf_shard_key(remote->key, 0))));
}

/* The layout that an argument names, or NULL. */
static const BfLayout *
layout_argument(FunctionCallInfo fcinfo, int argument)
{
	const BfLayout *layout;
	int			shards;

	if (PG_ARGISNULL(argument))
		return NULL;
	layout = bf_layout_argument(text_to_cstring(PG_GETARG_TEXT_PP(argument)),
								&shards);
	if (shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a filter in several shards is several filters"),
				 errhint("Fetch each of them, in the layout without shards.")));
	return layout;
}

/* bf_fetch(server, key, layout, funnel): what describes itself */
Datum
bloomext_fetch(PG_FUNCTION_ARGS)
{
	const BfLayout *wanted;
	Oid			server;
	char	   *key;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	bf_refuse_null(fcinfo, 3, "funnel");
	server = bf_server_argument(fcinfo, 0);
	key = bf_key_argument(fcinfo, 1);
	wanted = layout_argument(fcinfo, 2);

	for (int changes = 0; changes < MAX_CHANGES; changes++)
	{
		BfRemote	remote;
		Fetch		fetch = {
			.remote = &remote,
			.funnel_argument = PG_GETARG_TEXT_PP(3)
		};

		bf_remote_describe(server, key, &remote);
		check_found(&remote, wanted);
		fetch.funnel = (BfFunnel) remote.header.funnel;
		if (remote.layout->native_type != NULL)
			fetch_native(&fetch);
		else
			fetch_strings(&fetch);
		if (fetch.value != NULL)
			PG_RETURN_POINTER(fetch.value);
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" keeps changing", key)));
}

/* bf_fetch(server, key, layout, expected, fpp, strategy, funnel): a bare string */
Datum
bloomext_fetch_sized(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"layout", "expected", "fpp", "strategy", "funnel"
	};
	const BfStrategy *strategy;
	BfPlan		plan;
	BfRemote	remote = {.layers = &plan.first};
	Fetch		fetch = {.remote = &remote};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	bf_refuse_nulls(fcinfo, 2, names, lengthof(names));
	strategy = bf_strategy_argument(PG_GETARG_TEXT_PP(5));
	remote.server = bf_server_argument(fcinfo, 0);
	remote.key = bf_key_argument(fcinfo, 1);
	remote.layout = layout_argument(fcinfo, 2);
	fetch.funnel_argument = PG_GETARG_TEXT_PP(6);
	if (remote.layout != &bf_layout_bitmap)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" describes itself",
						remote.layout->name),
				 errhint("Leave out expected, fpp and strategy.")));
	bf_value_plan(strategy, PG_GETARG_INT64(3), PG_GETARG_FLOAT8(4),
				  bf_funnel_argument(PG_GETARG_TEXT_PP(6), strategy), 0,
				  &plan);
	remote.header = plan.header;
	fetch_strings(&fetch);
	if (fetch.value == NULL)
		bf_remote_missing(&remote);
	PG_RETURN_POINTER(fetch.value);
}
