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
append_config(StringInfo commands, const BfImage *image)
{
	const BfRemote *remote = image->remote;

	bf_command_start(commands, 2);
	bf_command_text(commands, "DEL");
	bf_command_text(commands, image->config);
	if (!remote->configured)
		return;
	bf_command_start(commands, 2 + 2 * bf_remote_fields(remote));
	bf_command_text(commands, "HSET");
	bf_command_text(commands, image->config);
	bf_remote_append_fields(commands, remote);
	if (image->ttl == 0)
		return;
	bf_command_start(commands, 3);
	bf_command_text(commands, "PEXPIRE");
	bf_command_text(commands, image->config);
	bf_command_number(commands, image->ttl);
}

/* Commands that append_config() makes. */
static int
config_commands(const BfImage *image)
{
	if (image->config == NULL)
		return 0;
	return image->remote->configured ? 2 + (image->ttl != 0) : 1;
}

/* End a transaction: the hash, what is read back, and EXEC. */
void
bf_image_append_end(StringInfo commands, const BfImage *image)
{
	if (image->config != NULL)
		append_config(commands, image);
	bf_command_start(commands, 2);
	bf_command_text(commands, "STRLEN");
	bf_command_text(commands, image->key);
	bf_command_start(commands, 2 + 3 * SAMPLES);
	bf_command_text(commands, "BITFIELD_RO");
	bf_command_text(commands, image->key);
	for (int i = 0; i < SAMPLES; i++)
	{
		bf_command_text(commands, "GET");
		bf_command_text(commands, "u8");
		bf_command_number(commands, sample_offset(image, i) * 8);
	}
	bf_command_start(commands, 1);
	bf_command_text(commands, "EXEC");
}

/* Results of what bf_image_append_end() appends before EXEC. */
int
bf_image_end_replies(const BfImage *image)
{
	return config_commands(image) + 2;
}

/* Check these results; an error among them is raised as such. */
void
bf_image_check_end(BfConnection *connection, const BfImage *image,
				   redisReply **results)
{
	int			at = config_commands(image);
	redisReply **bytes;
	bool		same;

	for (int i = 0; i < at; i++)
		(void) bf_reply_integer(connection, results[i]);
	same = bf_reply_integer(connection, results[at]) ==
		(long long) image->bytes;
	bytes = bf_reply_array(connection, results[at + 1], SAMPLES);
	for (int i = 0; i < SAMPLES; i++)
		same = same && bf_reply_integer(connection, bytes[i]) ==
			byte_at(image, sample_offset(image, i));
	if (!same)
		bf_connection_nonsense(connection,
							   "What was written does not read back the same.");
}
