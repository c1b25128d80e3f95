/*
 * redis_write.c
 *	  Write a string to Redis: all of it, or the blocks that differ.
 *
 * A string is written by one SET.  If the layout has our own order of bits,
 * the value is sent straight from the filter's memory; else it is converted in
 * a buffer, one part after the other.  Redis executes the SET after it has
 * received all of it, so until then the old value stays, whatever happens.  If
 * Redis has no room for that, see temporary.c.
 *
 * Of a string that was written before, only the differences are sent.  We do
 * not record what was sent the last time, as between two calls the key may
 * have been replaced, restored from a backup, renamed, or lost and created
 * again.  So the current value is compared, as in rsync: Redis computes a
 * digest of each block, and the blocks that differ are written, by SETRANGE in
 * one transaction.  If most blocks differ, the caller sends the whole string.
 *
 * The key is watched from before the first digest is computed.  If it changes
 * after that, or only expires, EXEC executes nothing (in Redis 6.2.5 or newer,
 * where all commands of a transaction, except scripts, see the same time).
 * Then we start over.  After some tries the caller sends the whole string,
 * which does not depend on what others do.  A script that checks and writes
 * would not need WATCH, but it would compare all blocks at once, and copying
 * the blocks through Lua takes three times as long as SETRANGE. Redis would
 * serve nobody else in all that time.
 *
 * A connection that watches a key cannot be used for anything else.  If an
 * error prevents its EXEC or UNWATCH, it is closed, like a connection with
 * outstanding replies.
 *
 * The digest is SHA-1, which scripts in Redis have, cut to 128 bits.  Forged
 * blocks of equal digests need not be feared: an attacker who can write to the
 * key does not need them.
 *
 * An added element changes k random bits, and so about k blocks.  For a filter
 * of 24 MB and a hundred new elements, blocks of 1 kB cause the least traffic,
 * digests and blocks together.
 *
 * The transaction of a SET and that of SETRANGEs end in the same way: they
 * write or remove the Redis hash next to the string, and read back the
 * string's length and a sample of its bytes.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha1.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "redis/redis_write.h"
#include "redis/scripts.h"

/* Bytes that are compared and sent at a time. */
#define BLOCK		1024

/* Hexadecimal digits of a digest. */
#define DIGITS		32

/*
 * Blocks that a script computes digests of, and scripts under way.  Redis may
 * execute all received scripts before it serves anybody else, which takes a
 * millisecond or little more.
 */
#define SLICE		128
#define WINDOW		2

/* A transaction of more blocks would block all other clients for long. */
#define MAX_BLOCKS	16384

/* Number of attempts. */
#define MAX_TRIES	3

typedef struct Refresh
{
	const BfImage *image;
	pg_cryptohash_ctx *hash;
	uint32		blocks;
	bool	   *differs;		/* by block */
	uint32		differing;		/* number of blocks that differ */
	uint64		bytes;			/* number sent */
	bool		executed;		/* the string was not changed meanwhile */
} Refresh;

/* ---- Its bytes ---- */

/* What the string of a layer is to contain, under its own key, permanently. */
BfImage
bf_image_of_layer(const BfRemote *remote, const BfFilter *filter, uint32 layer)
{
	const BfLayer *of = bf_remote_layer(remote, layer);
	const uint8 *bits = filter->bytes + of->offset;

	return (BfImage) {
		.remote = remote,
		.key = bf_remote_layer_key(remote, layer),
		.bits = bits,
		.bytes = bf_layout_used_bytes(remote->layout, of, bits)
	};
}

/*
 * Give a filter that is about to be written a witness of all its layers.  An
 * empty filter has no witness until elements are added.  It proves the kind of
 * elements only where that is known.
 */
void
bf_image_testify(BfRemote *remote, const BfFilter *filter)
{
	char	  **values = remote->hash[bf_layout_kind_role(remote->layout)].values;
	StringInfoData text;
	int			words = 0;

	initStringInfo(&text);
	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		const BfLayer *layer = bf_remote_layer(remote, i);
		BfWitness	witness = bf_witness_of_layer(remote->layout, layer,
												  filter->bytes + layer->offset);

		bf_witness_append(&text, &witness);
		words += witness.words;
	}
	if (words == 0)
		return;
	bf_layout_set_witness(values, text.data);
	if (bf_layout_head(remote->layout) > 0 &&
		remote->plan.header.meaning != BF_MEANING_UNKNOWN)
		bf_layout_set_mirrored(values);
}

/*
 * Copy a part of the string.  In a layout with an order of bits of its own,
 * which has no head, the offset must be a multiple of 8.
 */
static void
copy_bytes(const BfImage *image, uint64 offset, uint8 *into, size_t length)
{
	const BfLayout *layout = image->remote->layout;
	uint32		head = bf_layout_head(layout);

	for (; offset < head && length > 0; offset++, length--)
		*into++ = image->remote->head[offset];
	bf_bits_to_order(bf_layout_order(layout), image->bits + offset - head,
					 into, length);
}

/* Return the bytes of an image from an offset: BfPayload. */
const void *
bf_image_bytes(void *arg, uint64 offset, size_t *length)
{
	const BfImage *image = arg;
	const BfLayout *layout = image->remote->layout;
	uint32		head = bf_layout_head(layout);
	uint64		left = image->bytes - offset;

	if (offset >= head && bf_layout_order(layout) == BF_ORDER_STORED)
	{
		*length = left;
		return image->bits + offset - head;
	}
	*length = offset < head ? head - offset : Min(BF_IMAGE_BUFFER, left);
	copy_bytes(image, offset, image->buffer, *length);
	return image->buffer;
}

/* The offset of a byte of the sample. */
static uint64
sample_offset(const BfImage *image, int number)
{
	uint64		last = Max(image->bytes, 1) - 1;

	return last / (BF_SAMPLE - 1) * number +
		last % (BF_SAMPLE - 1) * number / (BF_SAMPLE - 1);
}

/* Sample the bytes that the string must have; see also lua/replace.lua. */
void
bf_image_sample(const BfImage *image, uint8 *sample)
{
	for (int i = 0; i < BF_SAMPLE; i++)
	{
		uint64		offset = sample_offset(image, i);
		uint8		word[8];

		copy_bytes(image, offset & ~(uint64) 7, word, (offset & 7) + 1);
		sample[i] = word[offset & 7];
	}
}

/* ---- Write it whole ---- */

/* Write or remove a hash next to a string. */
static void
append_hash(BfUnit *unit, const BfImage *image, BfHashRole role)
{
	const BfRemoteHash *hash = &image->remote->hash[role];

	bf_command_begin(unit, "DEL");
	bf_command_text(unit, hash->key);
	if (!hash->there)
		return;
	bf_command_begin(unit, "HSET");
	bf_command_text(unit, hash->key);
	bf_remote_append_fields(unit, image->remote, role);
	if (image->ttl == 0)
		return;
	bf_command_begin(unit, "PEXPIRE");
	bf_command_text(unit, hash->key);
	bf_command_number(unit, image->ttl);
}

/* End a transaction: hashes, what is read back, and EXEC. */
static void
append_end(BfUnit *unit, const BfImage *image)
{
	for (int role = 0; image->hashes && role < BF_HASHES; role++)
	{
		if (image->remote->hash[role].key != NULL)
			append_hash(unit, image, role);
	}
	bf_command_begin(unit, "STRLEN");
	bf_command_text(unit, image->key);
	bf_command_begin(unit, "BITFIELD_RO");
	bf_command_text(unit, image->key);
	for (int i = 0; i < BF_SAMPLE; i++)
	{
		bf_command_text(unit, "GET");
		bf_command_text(unit, "u8");
		bf_command_number(unit, sample_offset(image, i) * 8);
	}
	bf_transaction_end(unit);
}

/* Check the results of append_end(): numbers, then the sample. */
static void
check_end(BfConnection *connection, BfReply **result, size_t count,
		  const BfImage *image)
{
	BfReply **last = result + count - 2;
	BfReply **bytes;
	uint8		sample[BF_SAMPLE];
	bool		same;

	for (; result < last; result++)
		(void) bf_reply_integer(connection, *result);
	same = bf_reply_integer(connection, last[0]) == (int64) image->bytes;
	bytes = bf_reply_array(connection, last[1], BF_SAMPLE);
	bf_image_sample(image, sample);
	for (int i = 0; i < BF_SAMPLE; i++)
		same = same && bf_reply_integer(connection, bytes[i]) == sample[i];
	if (!same)
		bf_connection_protocol_error(connection,
									 "The data read back differs from the data written.");
}

/* Set a string; or remove it, if the layout has no string without bits. */
static void
append_string(BfUnit *unit, BfImage *image)
{
	bf_command_begin(unit, image->bytes > 0 ? "SET" : "DEL");
	bf_command_text(unit, image->key);
	if (image->bytes == 0)
		return;
	bf_command_payload(unit, 0, image->bytes, bf_image_bytes, image);
	if (image->ttl == 0)
		return;
	bf_command_text(unit, "PX");
	bf_command_number(unit, image->ttl);
}

/* Write all of an image. */
void
bf_image_write(BfImage *image)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	BfReply **result;

	image->buffer = palloc(BF_IMAGE_BUFFER);
	bf_transaction_begin(unit);
	append_string(unit, image);
	append_end(unit, image);
	reply = bf_ask(image->remote->server, image->key, unit, 0, &connection);
	result = bf_reply_results(connection, reply, unit);
	if (result[0]->type == BF_REPLY_ERROR)
		bf_connection_raise(connection, result[0]->str);
	if (image->bytes > 0 && !bf_reply_is_ok(result[0]))
		bf_connection_protocol_error(connection, "SET was not confirmed.");
	check_end(connection, result + 1, reply->elements - 1, image);
	bf_connection_done(connection);
	bf_unit_free(unit);
	pfree(image->buffer);
}

/* ---- Send what differs ---- */

/* The length of a block; the last one may be shorter. */
static size_t
block_length(const Refresh *refresh, uint32 block)
{
	return Min(BLOCK, refresh->image->bytes - (uint64) block * BLOCK);
}

/* Whether a block has this digest; false if none can be computed. */
static bool
has_digest(const Refresh *refresh, uint32 block, const char *digest)
{
	size_t		length = block_length(refresh, block);
	uint8		bytes[BLOCK];
	uint8		result[SHA1_DIGEST_LENGTH];
	char		digits[DIGITS];

	copy_bytes(refresh->image, (uint64) block * BLOCK, bytes, length);
	if (pg_cryptohash_init(refresh->hash) < 0 ||
		pg_cryptohash_update(refresh->hash, bytes, length) < 0 ||
		pg_cryptohash_final(refresh->hash, result, sizeof(result)) < 0)
		return false;
	hex_encode((char *) result, DIGITS / 2, digits);
	return memcmp(digits, digest, DIGITS) == 0;
}

/* Compare the blocks of a slice: BfReplyHandler. */
static void
compare_slice(BfConnection *connection, const BfReply *reply,
			  const BfUnit *unit, void *arg)
{
	Refresh    *refresh = arg;
	uint32		first = (uint32) unit->number * SLICE;
	uint32		count = Min(SLICE, refresh->blocks - first);

	if (reply->type == BF_REPLY_NIL)
	{
		/* The string has a different length. */
		refresh->differing = refresh->blocks;
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
		refresh->differing += differs;
	}
}

/* Whether too many blocks differ to be sent one by one, as far as known. */
static bool
is_too_different(const Refresh *refresh)
{
	return refresh->differing > Min(refresh->blocks / 2, MAX_BLOCKS);
}

/* Watch the string, and compare it unless too many blocks differ. */
static void
compare_blocks(Refresh *refresh, BfPipeline *pipeline)
{
	const BfImage *image = refresh->image;

	refresh->differing = 0;
	pipeline->connection->watching = true;
	for (uint32 from = 0; from < refresh->blocks && !is_too_different(refresh);
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
append_blocks(BfUnit *unit, Refresh *refresh)
{
	const BfImage *image = refresh->image;

	refresh->bytes = 0;
	bf_transaction_begin(unit);
	for (uint32 block = 0; block < refresh->blocks; block++)
	{
		size_t		length = block_length(refresh, block);
		uint8		bytes[BLOCK];

		if (!refresh->differs[block])
			continue;
		copy_bytes(image, (uint64) block * BLOCK, bytes, length);
		bf_command_begin(unit, "SETRANGE");
		bf_command_text(unit, image->key);
		bf_command_number(unit, (uint64) block * BLOCK);
		bf_command_bytes(unit, bytes, length);
		refresh->bytes += length;
	}
	bf_command_begin(unit, image->ttl ? "PEXPIRE" : "PERSIST");
	bf_command_text(unit, image->key);
	if (image->ttl != 0)
		bf_command_number(unit, image->ttl);
	append_end(unit, image);
}

/* Check the end of watching, by UNWATCH or EXEC: BfReplyHandler. */
static void
check_refreshed(BfConnection *connection, const BfReply *reply,
				const BfUnit *unit, void *arg)
{
	Refresh    *refresh = arg;

	if (is_too_different(refresh))
	{
		if (!bf_reply_is_ok(reply))
			bf_connection_protocol_error(connection,
										 "UNWATCH was not confirmed.");
		return;
	}
	refresh->executed = reply->type != BF_REPLY_NIL;
	if (refresh->executed)
		check_end(connection, bf_reply_results(connection, reply, unit),
				  reply->elements, refresh->image);
}

/* Try once; false if too many blocks differ. */
static bool
try_refresh(Refresh *refresh)
{
	const BfImage *image = refresh->image;
	BfPipeline	pipeline;
	BfUnit	   *unit;
	bool		too_different;

	bf_pipeline_start(&pipeline, image->remote->server, image->key,
					  compare_slice, refresh);
	if (pipeline.connection->cluster)
		return false;
	pipeline.window = WINDOW;
	compare_blocks(refresh, &pipeline);
	too_different = is_too_different(refresh);
	pipeline.handler = check_refreshed;
	unit = bf_pipeline_unit(&pipeline);
	if (too_different)
		bf_command_begin(unit, "UNWATCH");
	else
		append_blocks(unit, refresh);
	bf_pipeline_send(&pipeline, unit);
	bf_pipeline_finish(&pipeline);
	pipeline.connection->watching = false;
	return !too_different;
}

/*
 * Update a string to an image by sending what differs, and return the number
 * of bytes sent.  Returns false, with nothing done, if all is to be sent.
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
