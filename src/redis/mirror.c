/*
 * mirror.c
 *	  bf_mirror: write a filter to Redis, so that readers see the old one or the
 *	  new one and never a part.
 *
 * One string is written by one SET whose value goes from the filter's memory
 * to the socket: in the stored order without a copy, else by pieces.  Redis
 * executes it when it has all of it, so the old value survives whatever
 * happens on the way.  The SET is part of a transaction that reads back the
 * length and a sample of the bytes in the same moment, and which also writes or
 * removes the hash beside the string where there is to be one.
 *
 * Layouts of several keys are written under temporary names, which expire by
 * themselves should we not come to an end, are checked there, and are put in
 * place by one script.  It is a script and not a transaction because a
 * transaction would go on after a temporary key was found to have expired, and
 * leave new parameters over old bits: false negatives.
 *
 * All this happens at once, not at commit.  A filter may be mirrored early
 * without harm: an element that is rolled back is at worst a false positive.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "redis/arguments.h"
#include "redis/redisbloom.h"
#include "redis/remote.h"
#include "redis/switch.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_mirror);

/* Bytes of a string that are read back. */
#define SAMPLES		64

/* Bits that are put into another order at a time. */
#define PIECE		((size_t) 64 * 1024)

/* A string that is written: a layer, under its own or a temporary key. */
typedef struct Job
{
	const BfRemote *remote;
	const char *key;
	const BfLayer *layer;
	const uint8 *bits;
	uint64		bytes;			/* of the string */
	int64		ttl;			/* ms; 0: none */
	char	   *config;			/* hash to write or remove with it, or NULL */
} Job;

/* Where to look at a string again. */
static uint64
sample_offset(const Job *job, int sample)
{
	return (job->bytes - 1) / (SAMPLES - 1) * sample +
		(job->bytes - 1) % (SAMPLES - 1) * sample / (SAMPLES - 1);
}

/* The byte that a string has at an offset. */
static uint8
string_byte(const Job *job, uint64 offset)
{
	uint32		head = job->remote->layout->head;
	uint8		word[8];

	if (offset < head)
		return job->remote->head[offset];
	offset -= head;
	if (job->remote->layout->stored_order)
		return job->bits[offset];
	bf_bits_to_order(BF_ORDER_REDIS, job->bits + (offset & ~(uint64) 7), word,
					 sizeof(word));
	return word[offset & 7];
}

/* Send a layer's bits in the order that the layout has. */
static void
send_bits(BfConnection *connection, const Job *job)
{
	uint64		length = job->bytes - job->remote->layout->head;
	uint8	   *piece;

	if (job->remote->layout->stored_order)
	{
		bf_connection_send(connection, job->bits, length);
		return;
	}
	piece = palloc(PIECE);
	for (uint64 done = 0; done < length; done += PIECE)
	{
		size_t		wanted = Min(PIECE, length - done);

		bf_bits_to_order(BF_ORDER_REDIS, job->bits + done, piece, wanted);
		bf_connection_send(connection, piece, wanted);
	}
	pfree(piece);
}

/* Write, or remove, the hash beside a string. */
static void
append_config(StringInfo commands, const Job *job)
{
	const BfRemote *remote = job->remote;
	int			fields = bf_layout_fields(remote->layout);

	bf_command_start(commands, 2);
	bf_command_text(commands, "DEL");
	bf_command_text(commands, job->config);
	if (!remote->configured)
		return;
	bf_command_start(commands, 2 + 2 * fields);
	bf_command_text(commands, "HSET");
	bf_command_text(commands, job->config);
	for (int i = 0; i < fields; i++)
	{
		bf_command_text(commands, remote->layout->fields[i].name);
		bf_command_text(commands, remote->values[i]);
	}
	if (job->ttl == 0)
		return;
	bf_command_start(commands, 3);
	bf_command_text(commands, "PEXPIRE");
	bf_command_text(commands, job->config);
	bf_command_number(commands, job->ttl);
}

/* Commands that append_config() makes. */
static int
config_commands(const Job *job)
{
	if (job->config == NULL)
		return 0;
	return job->remote->configured ? 2 + (job->ttl != 0) : 1;
}

/* Read back the length and some bytes. */
static void
append_check(StringInfo commands, const Job *job)
{
	bf_command_start(commands, 2);
	bf_command_text(commands, "STRLEN");
	bf_command_text(commands, job->key);
	bf_command_start(commands, 2 + 3 * SAMPLES);
	bf_command_text(commands, "BITFIELD_RO");
	bf_command_text(commands, job->key);
	for (int i = 0; i < SAMPLES; i++)
	{
		bf_command_text(commands, "GET");
		bf_command_text(commands, "u8");
		bf_command_number(commands, sample_offset(job, i) * 8);
	}
}

/* Replies to a job: MULTI, SET, the hash's, the check's two, EXEC. */
static int
job_replies(const Job *job)
{
	return 5 + config_commands(job);
}

/* Write a job: BfUnitWriter. */
static void
write_job(BfConnection *connection, void *arg)
{
	const Job  *job = arg;
	StringInfoData commands;

	initStringInfo(&commands);
	bf_command_start(&commands, 1);
	bf_command_text(&commands, "MULTI");
	bf_command_start(&commands, job->ttl ? 5 : 3);
	bf_command_text(&commands, "SET");
	bf_command_text(&commands, job->key);
	bf_command_announce(&commands, job->bytes);
	appendBinaryStringInfo(&commands, (const char *) job->remote->head,
						   job->remote->layout->head);
	bf_connection_send(connection, commands.data, commands.len);
	send_bits(connection, job);

	resetStringInfo(&commands);
	appendStringInfoString(&commands, "\r\n");
	if (job->ttl != 0)
	{
		bf_command_text(&commands, "PX");
		bf_command_number(&commands, job->ttl);
	}
	if (job->config != NULL)
		append_config(&commands, job);
	append_check(&commands, job);
	bf_command_start(&commands, 1);
	bf_command_text(&commands, "EXEC");
	bf_connection_send(connection, commands.data, commands.len);
	pfree(commands.data);
}

/* Check what a job's transaction answered: BfReplyHandler. */
static void
check_job(BfConnection *connection, const redisReply *reply, int unit,
		  void *arg)
{
	const Job  *job = arg;
	int			at = 1 + config_commands(job);
	redisReply **results = bf_reply_array(connection, reply, at + 2);
	redisReply **bytes;
	bool		same;

	/* An error of any of the commands is raised as such. */
	for (int i = 1; i < at; i++)
		(void) bf_reply_integer(connection, results[i]);
	if (results[0]->type == REDIS_REPLY_ERROR)
		bf_connection_raise(connection, results[0]->str, results[0]->len);
	same = bf_reply_is_ok(results[0]) &&
		bf_reply_integer(connection, results[at]) == (long long) job->bytes;
	bytes = bf_reply_array(connection, results[at + 1], SAMPLES);
	for (int i = 0; i < SAMPLES; i++)
		same = same && bf_reply_integer(connection, bytes[i]) ==
			string_byte(job, sample_offset(job, i));
	if (!same)
		bf_connection_nonsense(connection,
							   "What was written does not read back the same.");
}

static void
run_job(Job *job)
{
	BfPipeline	pipeline;

	bf_pipeline_start(&pipeline, job->remote->server, job->key, check_job,
					  job);
	bf_pipeline_write(&pipeline, job_replies(job), write_job);
	bf_pipeline_finish(&pipeline);
}

/* Write a filter of one string in place. */
static uint64
mirror_in_place(const BfRemote *remote, const BfRemote *old,
				const BfFilter *filter, int64 ttl)
{
	Job			job = {
		.remote = remote,
		.key = remote->key,
		.layer = remote->layers,
		.bits = filter->bytes + remote->layers[0].offset,
		.bytes = bf_layout_bytes(remote->layout, remote->layers),
		.ttl = ttl
	};

	if (remote->configured || old->configured)
		job.config = remote->layout->config_key(remote->key);
	run_job(&job);
	return job.bytes;
}

/* Write a filter of several keys aside, and then put it in place. */
static uint64
mirror_aside(const BfRemote *remote, const BfRemote *old,
			 const BfFilter *filter, int64 ttl)
{
	uint32		layers = remote->header.layers;
	char	  **temporary = palloc(sizeof(char *) * layers);
	uint64		sent = 0;

	for (uint32 i = 0; i < layers; i++)
	{
		Job			job = {
			.remote = remote,
			.key = temporary[i] = bf_temporary_key(remote->key, i),
			.layer = &remote->layers[i],
			.bits = filter->bytes + remote->layers[i].offset,
			.bytes = bf_layout_bytes(remote->layout, &remote->layers[i]),
			.ttl = BF_TEMPORARY_TTL
		};

		run_job(&job);
		sent += job.bytes;
	}
	bf_switch(remote, temporary, old->layout ? old->header.layers : 0, ttl);
	return sent;
}

/* Refuse to write over a filter in another layout, whose hash would stay. */
static void
check_old(const BfRemote *remote, const BfRemote *old)
{
	if (old->layout != NULL &&
		(old->layout != remote->layout || old->shards > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter in layout \"%s\"%s, not \"%s\"",
						old->key, old->layout->name,
						old->shards > 0 ? " and several shards" : "",
						remote->layout->name),
				 errhint("Choose another key, or drop that filter with bf_redis_drop.")));
}

/* All layers of a filter, in the current memory context. */
static BfLayer *
list_layers(const BfFilter *filter)
{
	BfLayer    *layers = palloc(sizeof(BfLayer) * filter->header.layers);
	BfLayer		layer;
	uint32		index = 0;

	while (bf_format_next_layer(filter, &index, &layer))
		layers[index - 1] = layer;
	return layers;
}

/*
 * bf_mirror(bloomfilter, server, key, layout, ttl): returns the bytes of the
 * strings written.
 */
Datum
bloomext_mirror(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	BfValue		plain;
	BfRemote	remote;
	BfRemote	old;
	const BfLayout *layout;
	char	   *key;
	Oid			server;
	int64		ttl;
	int			shards = 0;
	uint64		sent;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	server = bf_server_argument(fcinfo, 1);
	key = bf_key_argument(fcinfo, 2);
	ttl = bf_ttl_argument(fcinfo, 4);
	bf_value_open(PG_GETARG_DATUM(0), &filter);
	if (filter.header.cell_bits != BF_CELL_BIT)
	{
		bf_value_plain(&filter, &plain);
		filter = plain.filter;
	}
	layout = PG_ARGISNULL(3) ? bf_layout_default(&filter.header) :
		bf_layout_argument(text_to_cstring(PG_GETARG_TEXT_PP(3)), &shards);
	if (shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a filter's elements cannot be told apart, to spread them over shards"),
				 errhint("Make the filter in Redis, with bf_redis_create and bf_redis_add.")));

	bf_remote_plan(server, key, layout, &filter.header, list_layers(&filter),
				   &remote);
	bf_remote_check_slots(&remote);
	bf_remote_describe(server, key, &old);
	check_old(&remote, &old);
	if (layout->native_type != NULL)
		sent = bf_redisbloom_mirror(&remote, &filter, ttl);
	else if (layout->presized && !layout->grows)
		sent = mirror_in_place(&remote, &old, &filter, ttl);
	else
		sent = mirror_aside(&remote, &old, &filter, ttl);
	PG_RETURN_INT64((int64) sent);
}
