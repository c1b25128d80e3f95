/*
 * command.c
 *	  Commands to Redis, argument by argument, and their replies, checked.
 *
 * A command is a list of arguments, each with its length before it, so that no
 * key or element can be taken for anything else.  They are written into memory
 * of PostgreSQL's, which an error frees, by a few lines of our own: hiredis's
 * formatter takes longer than Redis takes to execute what it formats.
 *
 * A reply is used only after its type, and an array's number of elements, were
 * found to be what the command asks for.  An error within it is raised.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "redis/command.h"

/* The longest that an argument which is a number gets: "$20\r\n...\r\n". */
#define NUMBER_SIZE		(3 + 2 + MAXINT8LEN + 2)

/* What there is of a sub-command of BITFIELD before and after its bit. */
static const char get_bit[] = "$3\r\nGET\r\n$2\r\nu1\r\n";
static const char set_bit[] = "$3\r\nSET\r\n$2\r\nu1\r\n";
static const char to_one[] = "$1\r\n1\r\n";

#define BIT_SIZE		((int) sizeof(set_bit) + NUMBER_SIZE + (int) sizeof(to_one))

/* Append a count or length line of the protocol. */
static void
append_line(StringInfo command, char type, uint64 number)
{
	char	   *at;
	int			digits;

	enlargeStringInfo(command, MAXINT8LEN + 4);
	at = command->data + command->len;
	*at++ = type;
	digits = pg_ulltoa_n(number, at);
	at[digits] = '\r';
	at[digits + 1] = '\n';
	command->len += digits + 3;
}

/* Write an argument that is a number where there is room; returns its end. */
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

/* Start a command of a number of arguments, its name included. */
void
bf_command_start(StringInfo command, int arguments)
{
	append_line(command, '*', arguments);
}

void
bf_command_bytes(StringInfo command, const void *bytes, size_t length)
{
	append_line(command, '$', length);
	appendBinaryStringInfo(command, bytes, length);
	appendBinaryStringInfo(command, "\r\n", 2);
}

/*
 * Announce an argument of a length; the caller sends its bytes, and after them
 * a line's end.
 */
void
bf_command_announce(StringInfo command, size_t length)
{
	append_line(command, '$', length);
}

void
bf_command_text(StringInfo command, const char *text)
{
	bf_command_bytes(command, text, strlen(text));
}

/* Append a key that was made for this, and free it. */
void
bf_command_key(StringInfo command, char *key)
{
	bf_command_text(command, key);
	pfree(key);
}

void
bf_command_number(StringInfo command, uint64 number)
{
	enlargeStringInfo(command, NUMBER_SIZE);
	command->len = put_number(command->data + command->len, number) -
		command->data;
}

/* Append sub-commands of BITFIELD, each of which gets or sets a bit. */
void
bf_command_bits(StringInfo command, bool set, const uint64 *bits, int count)
{
	char	   *at;

	enlargeStringInfo(command, count * BIT_SIZE);
	at = command->data + command->len;
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
	command->len = at - command->data;
}

/* Raise an error that was answered; anything else is returned. */
static const redisReply *
not_an_error(BfConnection *connection, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR)
		bf_connection_raise(connection, reply->str, reply->len);
	return reply;
}

/* The integer that a reply is. */
long long
bf_reply_integer(BfConnection *connection, const redisReply *reply)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_INTEGER)
		bf_connection_nonsense(connection, "An integer was expected.");
	return reply->integer;
}

/* Whether a reply is the status of something done. */
bool
bf_reply_is_ok(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
}

/* A reply that is a string. */
const redisReply *
bf_reply_string(BfConnection *connection, const redisReply *reply)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_STRING)
		bf_connection_nonsense(connection, "A string was expected.");
	return reply;
}

/* The elements of a reply that is an array of so many. */
redisReply **
bf_reply_array(BfConnection *connection, const redisReply *reply,
			   size_t elements)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_ARRAY ||
		reply->elements != elements)
		bf_connection_nonsense(connection,
							   "An array of another size was expected.");
	return reply->element;
}
