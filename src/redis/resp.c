/*
 * resp.c
 *	  Encode commands to Redis (RESP).
 *
 * A command is a list of arguments, each preceded by its length, so that no
 * key or element can be taken for anything else.  Commands are formatted here,
 * in palloc'd memory, which an error frees.  hiredis is not used for this: it
 * takes longer to format a command than Redis takes to execute it.
 *
 * The number of arguments precedes them, and is filled in when the command
 * ends.  One digit is left free for it; for more digits the command is moved,
 * as Redis does not accept leading zeros.
 *
 * A unit that is a single script holds an EVAL with the script's text.  As
 * Redis caches scripts, an EVALSHA with the SHA-1 of the text is sent instead,
 * which saves nine tenths of the bytes; the text is sent only if that does not
 * work, or may come too late for a watched key.  For a script that only reads,
 * EVAL_RO or EVALSHA_RO is used, so the right to read the keys is enough.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha1.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "compat.h"
#include "redis/resp.h"

/* Maximum length of an argument that is a number: "$20\r\n...\r\n". */
#define NUMBER_SIZE		(3 + 2 + MAXINT8LEN + 2)

/* A BITFIELD subcommand: what precedes and follows the offset. */
static const char get_bit[] = "$3\r\nGET\r\n$2\r\nu1\r\n";
static const char set_bit[] = "$3\r\nSET\r\n$2\r\nu1\r\n";
static const char to_one[] = "$1\r\n1\r\n";

/* What precedes the arguments of a command, with room for one digit. */
#define COUNT_SIZE		4

/* The verb that precedes the text of a script. */
#define EVAL			"EVAL"
#define EVAL_SIZE		((int) sizeof("$4\r\n" EVAL "\r\n") - 1)

#define BIT_SIZE		((int) sizeof(set_bit) + NUMBER_SIZE + (int) sizeof(to_one))

/* Append the length that precedes an argument. */
static void
append_length(StringInfo bytes, uint64 length)
{
	char	   *at;
	int			digits;

	enlargeStringInfo(bytes, MAXINT8LEN + 4);
	at = bytes->data + bytes->len;
	*at++ = '$';
	digits = pg_ulltoa_n(length, at);
	at[digits] = '\r';
	at[digits + 1] = '\n';
	bytes->len += digits + 3;
}

/* Write an argument that is a number into a buffer; returns its end. */
static char *
put_number(char *at, uint64 number)
{
	char		digits[MAXINT8LEN + 1];
	int			length = pg_ulltoa_n(number, digits);

	*at++ = '$';
	if (length >= 10)
		*at++ = '0' + length / 10;
	*at++ = '0' + length % 10;
	*at++ = '\r';
	*at++ = '\n';
	memcpy(at, digits, MAXINT8LEN); /* a constant is faster than length */
	at += length;
	*at++ = '\r';
	*at++ = '\n';
	return at;
}

/* Make a gap within what has been written. */
static char *
open_gap(BfUnit *unit, int at, int length)
{
	StringInfo	bytes = &unit->bytes;

	enlargeStringInfo(bytes, length);
	memmove(bytes->data + at + length, bytes->data + at, bytes->len - at);
	bytes->len += length;
	if (unit->payload != NULL && unit->payload_start >= at)
		unit->payload_start += length;
	return bytes->data + at;
}

/* Make a unit, to be filled with commands. */
BfUnit *
bf_unit_make(void)
{
	BfUnit	   *unit = palloc0(sizeof(BfUnit));

	initStringInfo(&unit->bytes);
	return unit;
}

/* End the command that is being written, if any, and with it the unit. */
void
bf_unit_end(BfUnit *unit)
{
	char		digits[MAXINT8LEN + 1];
	int			length;
	char	   *at;

	if (unit->arguments == 0)
		return;
	if (unit->keys_start > 0)
		bf_script_arguments(unit);
	length = pg_ulltoa_n(unit->arguments, digits);
	at = unit->bytes.data + unit->start + 1;
	if (length > 1)
		at = open_gap(unit, unit->start + 1, length - 1);
	memcpy(at, digits, length);
	unit->arguments = 0;
}

/* Free a unit. */
void
bf_unit_free(BfUnit *unit)
{
	pfree(unit->bytes.data);
	pfree(unit);
}

/* End the current command, and begin another one. */
void
bf_command_begin(BfUnit *unit, const char *verb)
{
	bf_unit_end(unit);
	unit->script = NULL;
	unit->start = unit->bytes.len;
	unit->replies++;
	appendBinaryStringInfo(&unit->bytes, "*?\r\n", COUNT_SIZE);
	bf_command_text(unit, verb);
}

/* Append an argument of arbitrary bytes. */
void
bf_command_bytes(BfUnit *unit, const void *bytes, size_t length)
{
	append_length(&unit->bytes, length);
	appendBinaryStringInfo(&unit->bytes, bytes, length);
	appendBinaryStringInfo(&unit->bytes, "\r\n", 2);
	unit->arguments++;
}

/* Append an argument that is a text. */
void
bf_command_text(BfUnit *unit, const char *text)
{
	bf_command_bytes(unit, text, strlen(text));
}

/* Append an argument that is a palloc'd text, and free that. */
void
bf_command_key(BfUnit *unit, char *key)
{
	bf_command_text(unit, key);
	pfree(key);
}

/* The SHA-1 of bytes, in hexadecimal digits. */
static void
make_digest(const void *bytes, size_t length, char *digits)
{
	uint8		digest[SHA1_DIGEST_LENGTH];
	pg_cryptohash_ctx *hash = pg_cryptohash_create(PG_SHA1);

	if (pg_cryptohash_init(hash) < 0 ||
		pg_cryptohash_update(hash, bytes, length) < 0 ||
		pg_cryptohash_final(hash, digest, sizeof(digest)) < 0)
		elog(ERROR, "could not compute an SHA-1 hash");
	pg_cryptohash_free(hash);
	hex_encode((char *) digest, SHA1_DIGEST_LENGTH, digits);
}

/* Append an argument that is the SHA-1 of bytes. */
void
bf_command_digest(BfUnit *unit, const void *bytes, size_t length)
{
	char		digits[2 * SHA1_DIGEST_LENGTH];

	make_digest(bytes, length, digits);
	bf_command_bytes(unit, digits, sizeof(digits));
}

/* Append an argument that is a number. */
void
bf_command_number(BfUnit *unit, uint64 number)
{
	StringInfo	bytes = &unit->bytes;

	enlargeStringInfo(bytes, NUMBER_SIZE);
	bytes->len = put_number(bytes->data + bytes->len, number) - bytes->data;
	unit->arguments++;
}

/* Append sub-commands of BITFIELD, each of which gets or sets a bit. */
void
bf_command_bits(BfUnit *unit, bool set, const uint64 *bits, int count)
{
	StringInfo	bytes = &unit->bytes;
	char	   *at;

	enlargeStringInfo(bytes, count * BIT_SIZE);
	at = bytes->data + bytes->len;
	for (int i = 0; i < count; i++)
	{
		memcpy(at, set ? set_bit : get_bit, sizeof(get_bit) - 1);
		at = put_number(at + sizeof(get_bit) - 1, bits[i]);
		if (set)
		{
			memcpy(at, to_one, sizeof(to_one) - 1);
			at += sizeof(to_one) - 1;
		}
	}
	bytes->len = at - bytes->data;
	unit->arguments += count * (set ? 4 : 3);
}

/* Append an argument whose bytes a function yields later; one per unit. */
void
bf_command_payload(BfUnit *unit, uint64 from, uint64 length,
				   BfPayload payload, void *arg)
{
	append_length(&unit->bytes, length);
	unit->payload = payload;
	unit->payload_arg = arg;
	unit->payload_from = from;
	unit->payload_length = length;
	unit->payload_start = unit->bytes.len;
	appendBinaryStringInfo(&unit->bytes, "\r\n", 2);
	unit->arguments++;
}

/* Begin a call of a script: the arguments that follow are its keys. */
void
bf_script_begin(BfUnit *unit, const char *script)
{
	bf_command_begin(unit, EVAL);
	bf_command_text(unit, script);
	unit->keys_start = unit->bytes.len;
	unit->keys_first = unit->arguments;
	if (unit->replies > 1)
		return;
	unit->script = script;
	unit->script_length = unit->keys_start - (unit->start + COUNT_SIZE);
}

/* A script's SHA-1 in hexadecimal digits, kept for each of this program. */
static const char *
script_digest(const char *script)
{
	typedef struct Known
	{
		struct Known *next;
		const char *script;
		char		digits[2 * SHA1_DIGEST_LENGTH + 1];
	} Known;
	static Known *first = NULL;
	Known	   *known = first;

	while (known != NULL && known->script != script)
		known = known->next;
	if (known != NULL)
		return known->digits;
	/* Zeroed, as the digits end with a zero byte. */
	known = MemoryContextAllocZero(TopMemoryContext, sizeof(Known));
	make_digest(script, strlen(script), known->digits);
	known->script = script;
	known->next = first;
	return (first = known)->digits;
}

/* Whether a unit is one script, sent by a verb that promises only to read. */
bool
bf_unit_says_it_reads(const BfUnit *unit)
{
	return unit->script != NULL && !unit->writes && !unit->plain;
}

/*
 * Append the start of a unit with one script if it is sent otherwise than
 * written; returns the offset from which the unit's own bytes follow.
 */
int
bf_unit_append_script(StringInfo bytes, const BfUnit *unit)
{
	const char *digest = unit->script == NULL || unit->whole ? NULL :
		script_digest(unit->script);
	bool		reads = bf_unit_says_it_reads(unit);
	const char *verb = digest == NULL ? "EVAL_RO" :
		reads ? "EVALSHA_RO" : "EVALSHA";
	int			count = strcspn(unit->bytes.data, "\n") + 1;

	if (digest == NULL && !reads)
		return 0;
	appendBinaryStringInfo(bytes, unit->bytes.data, count);
	appendStringInfo(bytes, "$%d\r\n%s\r\n", (int) strlen(verb), verb);
	if (digest == NULL)
		return count + EVAL_SIZE;
	appendStringInfo(bytes, "$%d\r\n%s\r\n", 2 * SHA1_DIGEST_LENGTH, digest);
	return count + unit->script_length;
}

/* End the keys of a script; their number is inserted before them. */
void
bf_script_arguments(BfUnit *unit)
{
	char		number[NUMBER_SIZE];
	int			keys = unit->arguments - unit->keys_first;
	int			length = put_number(number, keys) - number;

	memcpy(open_gap(unit, unit->keys_start, length), number, length);
	unit->keys_start = 0;
	unit->arguments++;
}

/* Begin a transaction. */
void
bf_transaction_begin(BfUnit *unit)
{
	unit->writes = true;
	bf_command_begin(unit, "MULTI");
}

/* End a transaction: its reply contains those of its commands. */
void
bf_transaction_end(BfUnit *unit)
{
	bf_command_begin(unit, "EXEC");
}
