/*
 * refresh.c
 *	  Send only what a string in Redis does not have yet.
 *
 * No mark says what was sent the last time: none could be trusted, as between
 * two calls the key may have been replaced, restored from a backup, renamed,
 * or lost and made anew.  So what is there is compared, as rsync does it:
 * Redis is asked for a digest of each block, and the blocks that differ are
 * written, by SETRANGE in one transaction, with the same end as a whole string
 * has.  Where most blocks differ the caller sends all.
 *
 * The key is watched from before the first digest is taken: had anything been
 * done to it since, were it the expiry of the key, EXEC would execute nothing
 * (Redis 6.0.9 or newer; a transaction has one idea of what time it is).  Then
 * we start over, and after some times the caller sends all, which needs no
 * luck.  A script that checks and writes would not need WATCH, but compare
 * everything at once, and copying the blocks through Lua takes three times as
 * long as SETRANGE; all that time nobody else is served.
 *
 * A connection that watches is of no use for anything else: unless it comes to
 * EXEC or UNWATCH it is closed, as one that owes replies is.
 *
 * The digest is SHA-1, the one that Redis's scripts have, cut to 128 bits.
 * That blocks of one digest can be forged is no harm: who may write to the key
 * as he likes has no need of them.
 *
 * An added element changes k random bits, and so about as many blocks.  For a
 * filter of 24 MB and a hundred new elements, blocks of 1 kB cause the least
 * traffic, digests and blocks together.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha1.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "redis/image.h"
#include "redis/scripts.h"

#define BLOCK			1024

/* Hexadecimal digits of a digest. */
#define DIGITS			32

/*
 * Blocks that a script takes the digests of, and scripts under way.  Redis may
 * execute all that have come before it serves anybody else, which takes it a
 * millisecond or little more.
 */
#define SLICE			128
#define WINDOW			2

/* A transaction of more blocks would keep Redis from all others for long. */
#define MAX_BLOCKS		16384

/* Times that we start over. */
#define MAX_TRIES		3

typedef struct Refresh
{
	const BfImage *image;
	pg_cryptohash_ctx *hash;
	uint32		blocks;
	bool	   *differs;		/* which blocks do */
	uint32		differing;		/* how many, */
	uint64		bytes;			/* and what these have */
	bool		other_length;	/* so nothing can be compared */
	bool		executed;		/* nobody changed the string meanwhile */
} Refresh;

/* The length of a block: the last one may be shorter. */
static size_t
block_length(const Refresh *refresh, uint32 block)
{
	return Min(BLOCK, refresh->image->bytes - (uint64) block * BLOCK);
}

/* Whether a block has a digest; in doubt it has another one. */
static bool
has_digest(const Refresh *refresh, uint32 block, const char *digest)
{
	size_t		length = block_length(refresh, block);
	uint8		bytes[BLOCK];
	uint8		result[SHA1_DIGEST_LENGTH];
	char		digits[DIGITS];

	bf_image_copy(refresh->image, (uint64) block * BLOCK, bytes, length);
	if (pg_cryptohash_init(refresh->hash) < 0 ||
		pg_cryptohash_update(refresh->hash, bytes, length) < 0 ||
		pg_cryptohash_final(refresh->hash, result, sizeof(result)) < 0)
		return false;
	hex_encode((char *) result, DIGITS / 2, digits);
	return memcmp(digits, digest, DIGITS) == 0;
}

/* Compare the blocks of a slice: BfReplyHandler. */
static void
compare_slice(BfConnection *connection, const redisReply *reply,
			  const BfUnit *unit, void *arg)
{
	Refresh    *refresh = arg;
	uint32		first = (uint32) unit->number * SLICE;
	uint32		count = Min(SLICE, refresh->blocks - first);

	if (reply->type == REDIS_REPLY_NIL)
	{
		refresh->other_length = true;
		return;
	}
	if (bf_reply_string(connection, reply)->len != count * DIGITS)
		bf_connection_protocol_error(connection,
									 "A digest of each block was expected.");
	for (uint32 i = 0; i < count; i++)
	{
		bool		differs = !has_digest(refresh, first + i,
										  reply->str + i * DIGITS);

		refresh->differs[first + i] = differs;
		if (!differs)
			continue;
		refresh->differing++;
		refresh->bytes += block_length(refresh, first + i);
	}
}

/* Whether it does not pay to send blocks, as far as is known. */
static bool
is_hopeless(const Refresh *refresh)
{
	return refresh->other_length ||
		refresh->differing > Min(refresh->blocks / 2, MAX_BLOCKS);
}

/* Watch the string, and compare it until it proves hopeless. */
static void
compare(Refresh *refresh, BfPipeline *pipeline)
{
	const BfImage *image = refresh->image;

	refresh->differing = 0;
	refresh->bytes = 0;
	pipeline->connection->watching = true;
	for (uint32 from = 0; from < refresh->blocks && !is_hopeless(refresh);
		 from += SLICE)
	{
		BfUnit	   *unit = bf_pipeline_unit(pipeline);

		CHECK_FOR_INTERRUPTS();
		if (from == 0)
		{
			bf_command_begin(unit, "WATCH");
			bf_command_text(unit, image->key);
		}
		bf_script_begin(unit, BF_SCRIPT_DIGEST);
		bf_command_text(unit, image->key);
		bf_script_arguments(unit);
		bf_command_number(unit, image->bytes);
		bf_command_number(unit, (uint64) from * BLOCK);
		bf_command_number(unit, Min((uint64) (from + SLICE) * BLOCK,
									image->bytes));
		bf_command_number(unit, BLOCK);
		bf_pipeline_send(pipeline, unit);
	}
	bf_pipeline_finish(pipeline);
}

/* Write the blocks that differ, if nobody wrote to the string meanwhile. */
static void
append_blocks(BfUnit *unit, const Refresh *refresh)
{
	const BfImage *image = refresh->image;

	bf_transaction_begin(unit);
	for (uint32 block = 0; block < refresh->blocks; block++)
	{
		size_t		length = block_length(refresh, block);
		uint8		bytes[BLOCK];

		if (!refresh->differs[block])
			continue;
		bf_image_copy(image, (uint64) block * BLOCK, bytes, length);
		bf_command_begin(unit, "SETRANGE");
		bf_command_text(unit, image->key);
		bf_command_number(unit, (uint64) block * BLOCK);
		bf_command_bytes(unit, bytes, length);
	}
	bf_command_begin(unit, image->ttl ? "PEXPIRE" : "PERSIST");
	bf_command_text(unit, image->key);
	if (image->ttl != 0)
		bf_command_number(unit, image->ttl);
	bf_image_append_end(unit, image);
}

/* Check that watching ended, by a transaction if it was one: BfReplyHandler. */
static void
check_end(BfConnection *connection, const redisReply *reply,
		  const BfUnit *unit, void *arg)
{
	Refresh    *refresh = arg;

	if (is_hopeless(refresh))
	{
		if (!bf_reply_is_ok(reply))
			bf_connection_protocol_error(connection,
										 "UNWATCH was not confirmed.");
		return;
	}
	refresh->executed = reply->type != REDIS_REPLY_NIL;
	if (refresh->executed)
		bf_image_check(connection, bf_reply_results(connection, reply, unit),
					   (int) reply->elements, refresh->image);
}

/* Try once; false where it is hopeless. */
static bool
try_refresh(Refresh *refresh)
{
	const BfImage *image = refresh->image;
	BfPipeline	pipeline;
	BfUnit	   *unit;
	bool		hopeless;

	bf_pipeline_start(&pipeline, image->remote->server, image->key,
					  compare_slice, refresh);
	if (pipeline.connection->cluster)
		return false;
	pipeline.window = WINDOW;
	compare(refresh, &pipeline);
	hopeless = is_hopeless(refresh);
	pipeline.handler = check_end;
	unit = bf_pipeline_unit(&pipeline);
	if (hopeless)
		bf_command_begin(unit, "UNWATCH");
	else
		append_blocks(unit, refresh);
	bf_pipeline_send(&pipeline, unit);
	bf_pipeline_finish(&pipeline);
	pipeline.connection->watching = false;
	return !hopeless;
}

/*
 * Make a string what an image says by sending what differs, and tell how many
 * bytes that were.  False, and nothing done, where the whole is to be sent.
 */
bool
bf_image_refresh(const BfImage *image, uint64 *sent)
{
	uint32		blocks = (uint32) ((image->bytes + BLOCK - 1) / BLOCK);
	Refresh		refresh = {
		.image = image,
		.hash = pg_cryptohash_create(PG_SHA1),
		.blocks = blocks,
		.differs = palloc0(sizeof(bool) * blocks)
	};

	for (int i = 0; i < MAX_TRIES && !refresh.executed; i++)
	{
		if (!try_refresh(&refresh))
			break;
	}
	*sent = refresh.bytes;
	pg_cryptohash_free(refresh.hash);
	pfree(refresh.differs);
	return refresh.executed;
}
