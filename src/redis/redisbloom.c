/*
 * redisbloom.c
 *	  Filters of RedisBloom's own type, by its commands.
 *
 * A filter is loaded by BF.LOADCHUNK under a temporary name and then renamed:
 * a key that is half loaded answers 0 to everything, which would be false
 * negatives.  Cursor 1 with the header makes the key; each chunk then comes
 * with the offset of its end plus 1, and must not reach over the end of a link.
 *
 * BF.SCANDUMP reads a filter in several calls; what is added meanwhile may or
 * may not be in the result.
 *
 * BF.MADD makes a key that is missing, and BF.MEXISTS says 0 of one: hence the
 * script, and the transaction, that look for the key first.  RedisBloom hashes
 * by itself, so elements go as their bytes.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/bytes.h"
#include "redis/redisbloom.h"
#include "redis/switch.h"
#include "type/value.h"

/* Bytes loaded by a command. */
#define CHUNK			((uint64) 1024 * 1024)

/* The longest reply of BF.SCANDUMP: 16 MiB, or a header. */
#define DUMP_LIMIT		((size_t) 17 * 1024 * 1024)

/* Elements added or asked for by a command. */
#define BATCH			1000

/* A dump's header; see strategy/redisbloom.c. */
#define HEADER_SIZE		20
#define LINK_SIZE		53

static const char add_script[] =
	"if redis.call('EXISTS', KEYS[1]) == 0 then return false end\n"
	"return redis.call('BF.MADD', KEYS[1], unpack(ARGV))\n";

static const char create_script[] =
	"if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end\n"
	"redis.call('BF.RESERVE', KEYS[1], unpack(ARGV, 2))\n"
	"if ARGV[1] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end\n"
	"return 1\n";

/* BfReplyHandler of commands that are answered by OK, or by a number. */
static void
expect_success(BfConnection *connection, const redisReply *reply,
			   const BfUnit *unit, void *arg)
{
	if (reply->type != REDIS_REPLY_INTEGER && !bf_reply_is_ok(reply))
		bf_connection_protocol_error(connection, "OK was expected.");
}

static void
send_chunk(BfPipeline *pipeline, uint64 cursor, const uint8 *bytes,
		   size_t length)
{
	BfUnit	   *unit = bf_pipeline_unit(pipeline);

	bf_command_begin(unit, "BF.LOADCHUNK");
	bf_command_text(unit, pipeline->key);
	bf_command_number(unit, cursor);
	bf_command_bytes(unit, bytes, length);
	bf_pipeline_send(pipeline, unit);
}

/* Send a dump's header, then its links' bits in pieces. */
static void
send_dump(BfPipeline *pipeline, const BfRemote *remote, const uint8 *dump)
{
	size_t		header = HEADER_SIZE + remote->header.layers * LINK_SIZE;
	const uint8 *bits = dump + header;
	uint64		offset = 0;
	BfUnit	   *expire;

	send_chunk(pipeline, 1, dump, header);
	expire = bf_pipeline_unit(pipeline);
	bf_command_begin(expire, "PEXPIRE");
	bf_command_text(expire, pipeline->key);
	bf_command_number(expire, BF_TEMPORARY_TTL);
	bf_pipeline_send(pipeline, expire);
	for (uint32 i = 0; i < remote->header.layers; i++)
	{
		uint64		end = offset + remote->layers[i].bytes;

		while (offset < end)
		{
			uint64		length = Min(CHUNK, end - offset);

			send_chunk(pipeline, offset + length + 1, bits + offset, length);
			offset += length;
		}
	}
}

/* Call BF.SCANDUMP; the reply is checked to be a cursor and bytes. */
static redisReply **
scan_dump(const BfRemote *remote, const char *key, uint64 cursor,
		  BfConnection **connection)
{
	BfUnit	   *unit = bf_unit_make();
	const redisReply *reply;
	redisReply **result;

	bf_command_begin(unit, "BF.SCANDUMP");
	bf_command_text(unit, key);
	bf_command_number(unit, cursor);
	reply = bf_ask(remote->server, key, unit, DUMP_LIMIT, connection);
	bf_unit_free(unit);
	result = bf_reply_array(*connection, reply, 2);
	(void) bf_reply_integer(*connection, result[0]);
	(void) bf_reply_string(*connection, result[1]);
	return result;
}

/* Raise unless a key's dump starts with the same header. */
static void
check_header(const BfRemote *remote, const char *key, const uint8 *dump)
{
	size_t		header = HEADER_SIZE + remote->header.layers * LINK_SIZE;
	BfConnection *connection;
	redisReply **result = scan_dump(remote, key, 0, &connection);

	if (result[0]->integer != 1 || result[1]->len != header ||
		memcmp(result[1]->str, dump, header) != 0)
		bf_connection_protocol_error(connection,
									 "What was written does not read back the same.");
	bf_connection_done(connection);
}

/* Write a filter; returns the bytes of its dump. */
uint64
bf_redisbloom_mirror(const BfRemote *remote, const BfFilter *filter, int64 ttl)
{
	char	   *temporary = bf_temporary_key(remote->key, 0);
	BfRemote	aside = *remote;
	BfPipeline	pipeline;
	uint64		length;
	uint8	   *dump;
	BfError		error;

	if (!bf_redisbloom.stream->measure(filter, &length, &error))
		bf_raise(&error);
	dump = palloc_extended(length, MCXT_ALLOC_HUGE);
	bf_stream_write(bf_redisbloom.stream, filter, dump);

	bf_pipeline_start(&pipeline, remote->server, temporary, expect_success,
					  NULL);
	send_dump(&pipeline, remote, dump);
	bf_pipeline_finish(&pipeline);
	check_header(remote, temporary, dump);
	aside.header.layers = 1;	/* as keys go */
	bf_switch(&aside, &temporary, 0, ttl);
	pfree(dump);
	return length;
}

/* Read all of a filter's dump. */
void
bf_redisbloom_fetch(const BfRemote *remote, StringInfo stream)
{
	uint64		cursor = 0;
	uint64		loaded = 0;

	for (;;)
	{
		BfConnection *connection;
		redisReply **result = scan_dump(remote, remote->key, cursor,
										&connection);
		bool		header = cursor == 0;

		CHECK_FOR_INTERRUPTS();
		cursor = result[0]->integer;
		if (cursor == 0)
		{
			bf_connection_done(connection);
			return;
		}
		if (!header)
			loaded += result[1]->len;
		if (cursor != loaded + 1 || (!header && result[1]->len == 0))
			bf_connection_protocol_error(connection,
										 "A filter's dump is not in one piece.");
		appendBinaryStringInfo(stream, result[1]->str, result[1]->len);
		bf_connection_done(connection);
	}
}

/* Fill in a filter's shape, from the header of its dump. */
void
bf_redisbloom_describe(BfRemote *remote)
{
	BfConnection *connection;
	redisReply **result = scan_dump(remote, remote->key, 0, &connection);
	const uint8 *header = (const uint8 *) result[1]->str;
	uint64		length = result[1]->len;
	BfPlan		plan = {.layers = palloc(sizeof(BfLayer) * BF_MAX_LAYERS)};
	BfError		error;

	/* The length that the whole dump has, if what it says makes sense. */
	for (size_t at = HEADER_SIZE; at + LINK_SIZE <= result[1]->len;
		 at += LINK_SIZE)
		length += bf_load_le64(header + at);
	if (!bf_redisbloom.stream->inspect(header, length, &plan, &error))
		bf_raise(&error);
	remote->header = plan.header;
	remote->layers = plan.layers;
	bf_connection_done(connection);
}

/* BF.RESERVE, unless the key is there (false). */
bool
bf_redisbloom_create(const BfRemote *remote, int64 ttl)
{
	bool		grows = remote->header.expansion > 0;
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, create_script);
	bf_command_text(unit, remote->key);
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_command_text(unit, psprintf("%.17g", remote->header.fpp));
	bf_command_number(unit, remote->header.expected);
	bf_command_text(unit, grows ? "EXPANSION" : "NONSCALING");
	if (grows)
		bf_command_number(unit, remote->header.expansion);
	return bf_ask_number(remote->server, remote->key, unit) == 1;
}

typedef struct Batches
{
	BfItems    *items;
	bool		gone;
} Batches;

/*
 * Take a number for each item of a batch.  A filter that is full and does not
 * grow answers the first one that it does not take by an error, and no more.
 */
static void
take_answers(BfConnection *connection, const redisReply *reply,
			 const BfUnit *unit, BfItems *items)
{
	BfItem	   *item = items->item + (size_t) unit->number * BATCH;
	size_t		count = Min(BATCH, items->count - unit->number * BATCH);
	size_t		answers = Min(count, reply->elements);
	redisReply **answer = bf_reply_array(connection, reply, answers);

	for (size_t i = 0; i < answers; i++)
	{
		item[i].answer = bf_reply_integer(connection, answer[i]) == 1;
		item[i].done = true;
	}
	if (answers < count)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
}

/* BfReplyHandler: EXISTS and BF.MEXISTS of a transaction */
static void
take_existing(BfConnection *connection, const redisReply *reply,
			  const BfUnit *unit, void *arg)
{
	Batches    *batches = arg;
	redisReply **result = bf_reply_results(connection, reply, unit);

	if (bf_reply_integer(connection, result[0]) == 0)
		batches->gone = true;
	else
		take_answers(connection, result[1], unit, batches->items);
}

/* BfReplyHandler: BF.MADD, or nil where there is no key */
static void
take_added(BfConnection *connection, const redisReply *reply,
		   const BfUnit *unit, void *arg)
{
	Batches    *batches = arg;

	if (reply->type == REDIS_REPLY_NIL)
		batches->gone = true;
	else
		take_answers(connection, reply, unit, batches->items);
}

static void
append_elements(BfUnit *unit, const BfItem *item, int count)
{
	for (int i = 0; i < count; i++)
		bf_command_bytes(unit, item[i].hash.data, item[i].hash.length);
}

static void
append_existing(BfUnit *unit, const char *key, const BfItem *item,
				int count)
{
	bf_transaction_begin(unit);
	bf_command_begin(unit, "EXISTS");
	bf_command_text(unit, key);
	bf_command_begin(unit, "BF.MEXISTS");
	bf_command_text(unit, key);
	append_elements(unit, item, count);
	bf_transaction_end(unit);
}

static void
append_added(BfUnit *unit, const char *key, const BfItem *item,
			 int count)
{
	bf_script_begin(unit, add_script);
	bf_command_text(unit, key);
	bf_script_arguments(unit);
	append_elements(unit, item, count);
}

/* Send items in batches; false where the key is gone. */
static bool
run_batches(const BfRemote *remote, BfItems *items,
			void (*append) (BfUnit *, const char *, const BfItem *, int),
			BfReplyHandler handler)
{
	BfPipeline	pipeline;
	Batches		batches = {items, false};

	bf_pipeline_start(&pipeline, remote->server, remote->key, handler,
					  &batches);
	for (int from = 0; from < items->count && !batches.gone; from += BATCH)
	{
		BfUnit	   *unit = bf_pipeline_unit(&pipeline);

		CHECK_FOR_INTERRUPTS();
		append(unit, remote->key, items->item + from,
			   Min(BATCH, items->count - from));
		bf_pipeline_send(&pipeline, unit);
	}
	bf_pipeline_finish(&pipeline);
	return !batches.gone;
}

/* bf_remote_contains() of a native filter */
bool
bf_redisbloom_contains(const BfRemote *remote, BfItems *items)
{
	return run_batches(remote, items, append_existing, take_existing);
}

/* bf_remote_add() of a native filter */
bool
bf_redisbloom_add(const BfRemote *remote, BfItems *items)
{
	return run_batches(remote, items, append_added, take_added);
}
