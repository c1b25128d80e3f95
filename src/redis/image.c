/*
 * image.c
 *	  What a string in Redis is to be: its bytes, and what goes with it.
 *
 * However the bytes get there, whole or in part, the transaction that puts them
 * in place ends alike: it writes or removes the hash beside the string, and
 * reads back the length and a sample of the bytes in the same moment.
 */
#include "postgres.h"

#include "redis/image.h"

/* Bytes of a string that are read back. */
#define SAMPLES		64

/*
 * Copy a part of the string.  In a layout that orders bits its own way, which
 * has no head, the offset must be a multiple of 8.
 */
void
bf_image_copy(const BfImage *image, uint64 offset, uint8 *into, size_t length)
{
	const BfLayout *layout = image->remote->layout;
	const uint8 *bits;

	for (; offset < layout->head && length > 0; offset++, length--)
		*into++ = image->remote->head[offset];
	bits = image->bits + offset - layout->head;
	if (layout->stored_order)
		memcpy(into, bits, length);
	else
		bf_bits_to_order(BF_ORDER_REDIS, bits, into, length);
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
	const BfRemote *remote = image->remote;

	bf_command_begin(unit, "DEL");
	bf_command_text(unit, image->config);
	if (!remote->configured)
		return;
	bf_command_begin(unit, "HSET");
	bf_command_text(unit, image->config);
	bf_remote_append_fields(unit, remote);
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

/*
 * Check these results, so many with those of commands before that answer a
 * number; an error among them is raised as such.
 */
void
bf_image_check_end(BfConnection *connection, const BfImage *image,
				   redisReply **results, int count)
{
	redisReply **bytes;
	bool		same;

	for (int i = 0; i < count - 2; i++)
		(void) bf_reply_integer(connection, results[i]);
	same = bf_reply_integer(connection, results[count - 2]) ==
		(long long) image->bytes;
	bytes = bf_reply_array(connection, results[count - 1], SAMPLES);
	for (int i = 0; i < SAMPLES; i++)
		same = same && bf_reply_integer(connection, bytes[i]) ==
			byte_at(image, sample_offset(image, i));
	if (!same)
		bf_connection_protocol_error(connection,
									 "What was written does not read back the same.");
}
