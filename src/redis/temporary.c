/*
 * temporary.c
 *	  Filters that are written under temporary names and then put in place; and
 *	  whether Redis has room for that.
 *
 * A SET takes memory of twice the size of its value, while the old value
 * still exists: Redis takes the value out of its receive buffer, and
 * allocates another buffer of that size for what comes next.  A string that
 * is written in pieces takes its size once, and the buffers of a piece, but a
 * fifth to two fifths more time.  So if there is room, one SET is used, in
 * place.  If there may be none, the string is written in pieces to a
 * temporary key.  If a filter has several strings, they are always written to
 * such keys, so that none is seen before all are there.
 *
 * The last piece of a string is sent first, and makes the string in its full
 * length.  The reply to every other piece must report that length.  If it
 * does not, the key was evicted or removed, and the piece has created it
 * again, with zeros where bits were set.  The pieces are not a transaction,
 * as commands that are queued in one take memory, too.
 *
 * The script that makes a temporary key gives it a time to live, and each
 * piece renews that.  So a key that a piece creates again has one, too.  If
 * Redis returns an error, the keys are removed; what a lost connection, a
 * cancel or a crash leaves behind expires.
 *
 * If Redis is configured to evict any keys to make room, a mirror for which
 * it would do so is refused before anything is sent: others would lose keys,
 * or we the old filter.  Eviction that is limited to keys with a time to live
 * is accepted, as these are meant to go.
 */
#include "postgres.h"

#include "redis/redis_write.h"
#include "redis/scripts.h"

/* Bytes of a piece; smaller ones cost time, larger ones memory. */
#define PIECE			((uint64) 256 * 1024)

/* Pieces under way: more are not faster, and delay the detection of errors. */
#define WINDOW			4

/* Up to this size of a filter, free memory is not checked. */
#define MAX_UNASKED		((uint64) 1024 * 1024)

/* Free memory that a SET needs, as a multiple of the filter's size. */
#define SET_TAKES		3

/* Memory of pieces: jemalloc may round a string up by a quarter. */
#define PIECES_TAKE(bytes)	((bytes) + (bytes) / 4 + 4 * PIECE)

/* ---- Room ---- */

typedef struct Memory
{
	bool		known;
	uint64		limit;			/* maxmemory; 0: no limit */
	uint64		used;			/* of the limit */
	bool		evicts_any;		/* key, when the limit is reached */
} Memory;

/* Read a number from the reply to INFO, if it is there. */
static bool
read_info(const char *info, const char *name, uint64 *number)
{
	char	   *start = psprintf("\n%s:", name);
	const char *at = strstr(info, start);

	if (at == NULL)
		return false;
	at += strlen(start);
	return bf_read_number(pnstrdup(at, strspn(at, "0123456789")), 0, INT64_MAX,
						  number);
}

/* Evaluate the reply to INFO memory: BfReplyHandler. */
static void
take_memory(BfConnection *connection, const BfReply *reply,
			const BfUnit *unit, void *arg)
{
	Memory	   *memory = arg;
	uint64		uncounted = 0;

	if (reply->type != BF_REPLY_STRING)
		return;
	(void) read_info(reply->str, "mem_not_counted_for_evict", &uncounted);
	memory->known = read_info(reply->str, "maxmemory", &memory->limit) &&
		read_info(reply->str, "used_memory", &memory->used);
	memory->used -= Min(memory->used, uncounted);
	memory->evicts_any = strstr(reply->str, "\nmaxmemory_policy:allkeys-") != NULL;
}

/* Find out about the memory of a server; nothing, if the account may not. */
static void
ask_memory(const BfRemote *remote, Memory *memory)
{
	BfPipeline	pipeline;
	BfUnit	   *unit;

	bf_pipeline_start(&pipeline, remote->server, remote->key, take_memory,
					  memory);
	unit = bf_pipeline_unit(&pipeline);
	bf_command_begin(unit, "INFO");
	bf_command_text(unit, "memory");
	bf_pipeline_send(&pipeline, unit);
	(void) bf_pipeline_end(&pipeline);
}

/*
 * Whether there is room to SET a value of a size next to what is there.
 * Raises an error if even pieces would make Redis evict keys of others.
 */
bool
bf_temporary_room(const BfRemote *remote, uint64 bytes)
{
	Memory		memory = {0};
	uint64		unused;

	if (bytes <= MAX_UNASKED)
		return true;
	ask_memory(remote, &memory);
	unused = memory.limit - Min(memory.limit, memory.used);
	if (!memory.known || memory.limit == 0 || unused >= SET_TAKES * bytes)
		return memory.known;
	if (memory.evicts_any && unused < PIECES_TAKE(bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("not enough memory in Redis to mirror filter \"%s\"",
						remote->key),
				 errdetail("The mirror may take %llu bytes.  Redis uses %llu bytes of its maxmemory of %llu bytes, and would evict other keys.",
						   (unsigned long long) PIECES_TAKE(bytes),
						   (unsigned long long) memory.used,
						   (unsigned long long) memory.limit),
				 errhint("Raise maxmemory, remove keys, or keep filters on a Redis server of their own with maxmemory-policy noeviction.")));
	return false;
}

/* ---- Write ---- */

/* Remove temporary keys. */
static void
discard_keys(const BfImage *images, uint32 count)
{
	const BfRemote *remote = images->remote;
	BfUnit	   *unit = bf_unit_make();

	bf_command_begin(unit, "UNLINK");
	for (uint32 i = 0; i < count; i++)
		bf_command_text(unit, images[i].key);
	(void) bf_ask_number(remote->server, remote->key, unit);
}

/* Raise that temporary keys are not what was written. */
static void
refuse_unfinished(const BfRemote *remote)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not mirror filter \"%s\"", remote->key),
			 errdetail("The temporary keys were evicted, expired or changed.  The previous contents of the key are unchanged.")));
}

/* End the writing of temporary keys; after an error they are removed. */
void
bf_temporary_finish(BfPipeline *pipeline, const BfImage *images, uint32 count)
{
	const char *error = bf_pipeline_end(pipeline);
	BfConnection answered;

	if (error == NULL)
		return;
	/* In a cluster, the connection may be closed in favor of another node. */
	answered = *pipeline->connection;
	discard_keys(images, count);
	bf_connection_raise(&answered, error);
}

/* Check that a string was set or has its full length: BfReplyHandler. */
static void
check_piece(BfConnection *connection, const BfReply *reply,
			const BfUnit *unit, void *arg)
{
	const BfImage *image = unit->payload_arg;
	bool	   *lost = arg;

	if (!bf_reply_is_ok(reply) &&
		bf_reply_integer(connection, reply) != (int64) image->bytes)
		*lost = true;
}

/* Begin a script that makes a temporary key by the command that follows. */
void
bf_temporary_begin(BfUnit *unit, const char *key, const char *verb)
{
	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_TEMPORARY);
	unit->whole = true;
	bf_command_text(unit, key);
	bf_script_arguments(unit);
	bf_command_number(unit, BF_TEMPORARY_TTL);
	bf_command_text(unit, verb);
}

/* Append the key of a string and its time to live until it is in place. */
static void
append_temporary(BfUnit *unit, const BfImage *image)
{
	bf_command_text(unit, image->key);
	bf_command_number(unit, BF_TEMPORARY_TTL);
}

/* Send a piece: a whole string, its last piece, or another one. */
static void
send_piece(BfPipeline *pipeline, BfImage *image, uint64 from, uint64 length)
{
	BfUnit	   *unit = bf_pipeline_unit(pipeline);

	if (length == image->bytes)
	{
		bf_command_begin(unit, "PSETEX");
		append_temporary(unit, image);
	}
	else if (from + length == image->bytes)
	{
		bf_temporary_begin(unit, image->key, "SETRANGE");
		bf_command_number(unit, from);
	}
	else
	{
		bf_command_begin(unit, "PEXPIRE");
		append_temporary(unit, image);
		bf_command_begin(unit, "SETRANGE");
		bf_command_text(unit, image->key);
		bf_command_number(unit, from);
	}
	bf_command_payload(unit, from, length, bf_image_bytes, image);
	bf_pipeline_send(pipeline, unit);
}

/* Send a string, its last piece first; stop if the key is lost. */
static void
send_image(BfPipeline *pipeline, BfImage *image, uint64 piece,
		   const bool *lost)
{
	uint64		last = (image->bytes - 1) / piece * piece;

	send_piece(pipeline, image, last, image->bytes - last);
	for (uint64 from = 0; from < last && !*lost && pipeline->error == NULL;
		 from += piece)
		send_piece(pipeline, image, from, piece);
}

/* ---- Put in place ---- */

/* Append what a temporary key must hold: length and sample of a string. */
static void
append_check(BfUnit *unit, const BfImage *image)
{
	uint8		sample[BF_SAMPLE];

	if (image->bits == NULL)
	{
		bf_command_text(unit, "");
		bf_command_text(unit, "");
		return;
	}
	bf_image_sample(image, sample);
	bf_command_number(unit, image->bytes);
	bf_command_bytes(unit, sample, sizeof(sample));
}

/* Store whether temporary keys are in place: BfReplyHandler. */
static void
take_replaced(BfConnection *connection, const BfReply *reply,
			  const BfUnit *unit, void *arg)
{
	*(int64 *) arg = bf_reply_integer(connection, reply);
}

/*
 * Rename temporary keys to those of a filter, and write its hashes and cursor.
 * If a temporary key is not what was written, or another client's key has one
 * of the names, only remove the temporary ones and raise an error.  A
 * transaction would go on after a temporary key was found to have expired, and
 * leave new parameters over old bits, that is, false negatives; so this is a
 * script.  It is sent by the pipeline that has written the keys, as other
 * servers need not have all of them.
 */
void
bf_temporary_replace(BfPipeline *pipeline, const BfRemote *remote,
					 const BfImage *images, uint32 count, uint32 old_layers,
					 int64 ttl)
{
	BfUnit	   *unit = bf_pipeline_unit(pipeline);
	int64		replaced = 0;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_OTHERS BF_SCRIPT_REPLACE);
	unit->whole = true;
	for (uint32 i = 0; i < count; i++)
		bf_command_text(unit, images[i].key);
	bf_remote_append_keys(unit, remote, count);
	for (uint32 i = count; i < old_layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	bf_script_arguments(unit);
	bf_command_number(unit, count);
	bf_command_number(unit, ttl);
	if (remote->cursor_key != NULL)
		bf_command_number(unit, count - 1);
	else
		bf_command_text(unit, "");
	for (uint32 i = 0; i < count; i++)
		append_check(unit, &images[i]);
	bf_remote_append_hashes(unit, remote, true);
	pipeline->handler = take_replaced;
	pipeline->arg = &replaced;
	bf_pipeline_send(pipeline, unit);
	bf_pipeline_finish(pipeline);
	if (replaced < 0)
		bf_remote_taken(remote, bf_remote_key(remote, -replaced - count, count));
	if (replaced != 1)
		refuse_unfinished(remote);
}

/*
 * Write the strings of a filter under temporary names, whole or in pieces, and
 * put them in place; returns the number of their bytes.
 */
uint64
bf_temporary_mirror(const BfRemote *remote, BfImage *images, uint32 count,
					bool whole, uint32 old_layers, int64 ttl)
{
	BfPipeline	pipeline;
	uint8	   *buffer = palloc(BF_IMAGE_BUFFER);
	bool		lost = false;
	uint64		sent = 0;

	bf_pipeline_start(&pipeline, remote->server, remote->key, check_piece,
					  &lost);
	pipeline.window = WINDOW;
	pipeline.stays = true;
	for (uint32 i = 0; i < count; i++)
		images[i].key = bf_temporary_key(remote->key, i);
	for (uint32 i = 0; i < count && !lost && pipeline.error == NULL; i++)
	{
		images[i].buffer = buffer;
		send_image(&pipeline, &images[i], whole ? images[i].bytes : PIECE,
				   &lost);
		sent += images[i].bytes;
	}
	bf_temporary_finish(&pipeline, images, count);
	if (lost)
	{
		discard_keys(images, count);
		refuse_unfinished(remote);
	}
	bf_temporary_replace(&pipeline, remote, images, count, old_layers, ttl);
	pfree(buffer);
	return sent;
}
