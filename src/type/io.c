/*
 * io.c
 *	  Text and binary input and output of the type.
 *
 * Both transfer the bytes of a value as they are, for pg_dump, COPY and
 * replication.  bf_export and bf_import exchange filters with other systems.
 */
#include "postgres.h"

#include "fmgr.h"
#include "libpq/pqformat.h"

#include "compat.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_in);
PG_FUNCTION_INFO_V1(bloomext_out);
PG_FUNCTION_INFO_V1(bloomext_recv);
PG_FUNCTION_INFO_V1(bloomext_send);

/* Text -> value; 22P02 if it is malformed. */
Datum
bloomext_in(PG_FUNCTION_ARGS)
{
	struct varlena *value = bf_value_read_text(PG_GETARG_CSTRING(0));

	if (value == NULL)
		ereturn(fcinfo->context, (Datum) 0,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s", "bloomfilter"),
				 errdetail("A bloom filter is written as \"\\x\" followed by an even number of hexadecimal digits, or as \"base64:\" followed by base64 data."),
				 errhint("Use bf_create, bf_agg or bf_import to make one.")));
	if (!bf_value_check(VARDATA(value), VARSIZE(value) - VARHDRSZ,
						ERRCODE_INVALID_TEXT_REPRESENTATION, fcinfo->context))
		PG_RETURN_NULL();
	PG_RETURN_POINTER(value);
}

/* Value -> text; 54000 if it is too large. */
Datum
bloomext_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_GETARG_VARLENA_PP(0);
	char	   *output = bf_value_write_text(VARDATA_ANY(value),
											 VARSIZE_ANY_EXHDR(value));

	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_CSTRING(output);
}

/* The value's bytes from a client -> value; 22P03 if they are malformed. */
Datum
bloomext_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			length = message->len - message->cursor;
	const char *bytes = pq_getmsgbytes(message, length);
	struct varlena *value;

	(void) bf_value_check(bytes, length,
						  ERRCODE_INVALID_BINARY_REPRESENTATION, NULL);
	value = bf_value_allocate(CurrentMemoryContext, length);
	memcpy(VARDATA(value), bytes, length);
	PG_RETURN_POINTER(value);
}

/* Value -> its bytes, to a client. */
Datum
bloomext_send(PG_FUNCTION_ARGS)
{
	/* A value is its own wire format, as bytea is. */
	PG_RETURN_POINTER(PG_GETARG_BYTEA_P_COPY(0));
}
