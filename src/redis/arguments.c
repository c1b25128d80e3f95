/*
 * arguments.c
 *	  What the functions over Redis have in common: server, key, ttl.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "redis/arguments.h"
#include "redis/options.h"

/* Times to live beyond this many ms (30,000 years) are none. */
#define MAX_TTL		1e15

/*
 * The longest key, in bytes.  A key goes into each command, and with a number
 * into the list of a growing filter's layers, of which there may be 1,024: so
 * these lists stay within the MB that Redis takes with ease.
 */
#define MAX_KEY		1024

/* The server that an argument names, if the user may use it. */
Oid
bf_server_argument(FunctionCallInfo fcinfo, int argument)
{
	return bf_server_usable(NameStr(*PG_GETARG_NAME(argument)));
}

static void
check_key_length(Size length)
{
	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key must not be empty")));
	if (length > MAX_KEY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key of %zu bytes exceeds the maximum of %d",
						length, MAX_KEY)));
}

/*
 * A key: text, in UTF-8 whatever the database's encoding.  Its length is looked
 * at before its bytes are.
 */
char *
bf_key_argument(FunctionCallInfo fcinfo, int argument)
{
	char	   *key;

	check_key_length(toast_raw_datum_size(PG_GETARG_DATUM(argument)) - VARHDRSZ);
	key = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	key = pg_server_to_any(key, strlen(key), PG_UTF8);
	check_key_length(strlen(key));
	return key;
}

/* A time to live, in ms; 0 where it is NULL: without end. */
int64
bf_ttl_argument(FunctionCallInfo fcinfo, int argument)
{
	Interval   *ttl;
	double		ms;

	if (PG_ARGISNULL(argument))
		return 0;
	ttl = PG_GETARG_INTERVAL_P(argument);
	ms = ((double) ttl->month * DAYS_PER_MONTH + ttl->day) * SECS_PER_DAY * 1000 +
		(double) ttl->time / 1000;
	if (!(ms >= 1 && ms <= MAX_TTL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ttl must be positive and finite"),
				 errhint("NULL is for a key that does not expire.")));
	return (int64) ms;
}
