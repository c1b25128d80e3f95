/*
 * io.c
 *	  Text and binary input and output of the type.
 *
 * Both carry the value's own bytes, in text as bytea's hex format does: what
 * pg_dump, COPY and replication need.  Exchange with other systems is
 * bf_export's and bf_import's.
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "compat.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_in);
PG_FUNCTION_INFO_V1(bloomext_out);
PG_FUNCTION_INFO_V1(bloomext_recv);
PG_FUNCTION_INFO_V1(bloomext_send);

/* Whether a string is \x and an even number of hexadecimal digits. */
static bool
is_hexadecimal(const char *input, size_t length)
{
	if (length < 2 || length % 2 != 0 || input[0] != '\\' || input[1] != 'x')
		return false;
	for (size_t i = 2; i < length; i++)
	{
		char		c = input[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
			  (c >= 'A' && c <= 'F')))
			return false;
	}
	return true;
}

/* \x and hexadecimal digits -> value; 22P02 where it is none. */
Datum
bloomext_in(PG_FUNCTION_ARGS)
{
	const char *input = PG_GETARG_CSTRING(0);
	size_t		digits = strlen(input);
	char	   *bytes;
	uint64		length;

	/* hex_decode() would raise another SQLSTATE, and skip white space. */
	if (!is_hexadecimal(input, digits))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "bloomfilter"),
				 errdetail("A bloom filter is written as \\x and an even number of hexadecimal digits."),
				 errhint("Use bf_create, bf_agg or bf_import to make one.")));
	digits -= 2;
	bytes = palloc(digits / 2 + 1);
	length = hex_decode(input + 2, digits, bytes);
	PG_RETURN_POINTER(bf_value_from_bytes(bytes, length,
										  ERRCODE_INVALID_TEXT_REPRESENTATION));
}

/* Value -> \x and hexadecimal digits. */
Datum
bloomext_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	Size		length = VARSIZE_ANY_EXHDR(value);
	char	   *output = palloc_extended(length * 2 + 3, MCXT_ALLOC_HUGE);

	output[0] = '\\';
	output[1] = 'x';
	hex_encode(VARDATA_ANY(value), length, output + 2);
	output[length * 2 + 2] = '\0';
	PG_RETURN_CSTRING(output);
}

/* The value's bytes from a client -> value; 22P03 where they are none. */
Datum
bloomext_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			length = message->len - message->cursor;
	const char *bytes = pq_getmsgbytes(message, length);

	PG_RETURN_POINTER(bf_value_from_bytes(bytes, length,
										  ERRCODE_INVALID_BINARY_REPRESENTATION));
}

/* Value -> its bytes, to a client. */
Datum
bloomext_send(PG_FUNCTION_ARGS)
{
	/* A value is its own wire format, as bytea is. */
	PG_RETURN_POINTER(PG_GETARG_BYTEA_P_COPY(0));
}
