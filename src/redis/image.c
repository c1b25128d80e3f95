/*
 * image.c
 *	  What a string in Redis is to be: its bytes, and what goes with it.
 *
 * A string is written by one SET whose value goes from the filter's memory to
 * the socket: in the stored order without a copy, else by pieces.  Redis
 * executes it when it has all of it, so the old value survives whatever happens
 * on the way.
 *
 * However the bytes get there, whole or in part (see refresh.c), the transaction
 * that puts them in place ends alike: it writes or removes the hash beside the
 * string, and reads back the length and a sample of the bytes in the same
 * moment.
 */
#include "postgres.h"

#include "redis/image.h"

/* Bytes of a string that are read back. */
#define SAMPLES		64

/* Bytes that are put into another order at a time. */
#define PIECE		((size_t) 64 * 1024)

/* What the string of a layer is to be, under its own key and for good. */
BfImage
bf_image_of_layer(const BfRemote *remote, const BfFilter *filter, uint32 layer)
{
	return (BfImage) {
		.remote = remote,
		.key = bf_remote_layer_key(remote, layer),
		.bits = filter->bytes + bf_remote_layer(remote, layer)->offset,
		.bytes = bf_layout_bytes(remote->layout, bf_remote_layer(remote, layer))
	};
}

/*
 * Copy a part of the string.  In a layout that orders bits its own way, which
 * has no head, the offset must be a multiple of 8.
 */
void
bf_image_copy(const BfImage *image, uint64 offset, uint8 *into, size_t length)
{
	const BfLayout *layout = image->remote->layout;
	uint32		head = bf_layout_head(layout);

	for (; offset < head && length > 0; offset++, length--)
		*into++ = image->remote->head[offset];
	bf_bits_to_order(bf_layout_order(layout), image->bits + offset - head,
					 into, length);
}

/* The bytes of an image, from an offset on: BfPayload. */
static const void *
image_bytes(void *arg, uint64 offset, size_t *length)
{
	static uint8 piece[PIECE];
	const BfImage *image = arg;
	const BfLayout *layout = image->remote->layout;
	uint32		head = bf_layout_head(layout);
	uint64		left = image->bytes - offset;

	if (offset >= head && bf_layout_order(layout) == BF_ORDER_STORED)
	{
		*length = left;
		return image->bits + offset - head;
	}
	*length = offset < head ? head - offset : Min(PIECE, left);
	bf_image_copy(image, offset, piece, *length);
	return piece;
}

/* Where to look at a string again. */
static uint64
sample_offset(const BfImage *image, int sample)
{
	return (image->bytes - 1) / (SAMPLES - 1) * sample +
		(image->bytes - 1) % (SAMPLES - 1) * sample / (SAMPLES - 1);
}

/* The byte that a string has at an offset. */
static uint8
byte_at(const BfImage *image, uint64 offset)
{
	uint8		word[8];

	bf_image_copy(image, offset & ~(uint64) 7, word, (offset & 7) + 1);
	return word[offset & 7];
}

/* Write, or remove, the hash beside a string. */
static void
append_config(BfUnit *unit, const BfImage *image)
{
	bf_command_begin(unit, "DEL");
	bf_command_text(unit, image->config);
	if (!image->remote->configured)
		return;
	bf_command_begin(unit, "HSET");
	bf_command_text(unit, image->config);
	bf_remote_append_fields(unit, image->remote);
	if (image->ttl == 0)
		return;
	bf_command_begin(unit, "PEXPIRE");
	bf_command_text(unit, image->config);
	bf_command_number(unit, image->ttl);
}

/* End a transaction: the hash, what is read back, and EXEC. */
void
bf_image_append_end(BfUnit *unit, const BfImage *image)
{
	if (image->config != NULL)
		append_config(unit, image);
	bf_command_begin(unit, "STRLEN");
	bf_command_text(unit, image->key);
	bf_command_begin(unit, "BITFIELD_RO");
	bf_command_text(unit, image->key);
	for (int i = 0; i < SAMPLES; i++)
	{
		bf_command_text(unit, "GET");
		bf_command_text(unit, "u8");
		bf_command_number(unit, sample_offset(image, i) * 8);
	}
	bf_transaction_end(unit);
}

/* Check what a transaction that ends so answered: numbers, then the sample. */
void
bf_image_check(BfConnection *connection, redisReply **result, int count,
			   const BfImage *image)
{
	redisReply **bytes;
	bool		same;

	for (; count > 2; count--)
		(void) bf_reply_integer(connection, *result++);
	same = bf_reply_integer(connection, *result++) == (int64) image->bytes;
	bytes = bf_reply_array(connection, *result, SAMPLES);
	for (int i = 0; i < SAMPLES; i++)
		same = same && bf_reply_integer(connection, bytes[i]) ==
			byte_at(image, sample_offset(image, i));
	if (!same)
		bf_connection_protocol_error(connection,
									 "What was written does not read back the same.");
}

/* Check what writing an image whole answered: BfReplyHandler. */
static void
check_written(BfConnection *connection, const redisReply *reply,
			  const BfUnit *unit, void *arg)
{
	redisReply **result = bf_reply_results(connection, reply, unit);

	if (result[0]->type == REDIS_REPLY_ERROR)
		bf_connection_raise(connection, result[0]->str);
	if (!bf_reply_is_ok(result[0]))
		bf_connection_protocol_error(connection, "The string was not set.");
	bf_image_check(connection, result + 1, (int) reply->elements - 1, arg);
}

/* Write an image whole. */
void
bf_image_write(BfImage *image)
{
	BfPipeline	pipeline;
	BfUnit	   *unit;

	bf_pipeline_start(&pipeline, image->remote->server, image->key,
					  check_written, image);
	unit = bf_pipeline_unit(&pipeline);
	bf_transaction_begin(unit);
	bf_command_begin(unit, "SET");
	bf_command_text(unit, image->key);
	bf_command_payload(unit, image->bytes, image_bytes, image);
	if (image->ttl != 0)
	{
		bf_command_text(unit, "PX");
		bf_command_number(unit, image->ttl);
	}
	bf_image_append_end(unit, image);
	bf_pipeline_send(&pipeline, unit);
	bf_pipeline_finish(&pipeline);
}
