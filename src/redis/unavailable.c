/*
 * unavailable.c
 *	  The functions over Redis in a build without hiredis: they say so.
 */
#include "postgres.h"

#include "fmgr.h"

#define UNAVAILABLE(function) \
	PG_FUNCTION_INFO_V1(function); \
	Datum \
	function(PG_FUNCTION_ARGS) \
	{ \
		ereport(ERROR, \
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), \
				 errmsg("Redis is not supported by this build"), \
				 errhint("Build bloomext with the hiredis library."))); \
	} \
	extern int	no_such_function

UNAVAILABLE(bloomext_mirror);
UNAVAILABLE(bloomext_live_mirror);
UNAVAILABLE(bloomext_fetch);
UNAVAILABLE(bloomext_fetch_sized);
UNAVAILABLE(bloomext_redis_create);
UNAVAILABLE(bloomext_redis_add);
UNAVAILABLE(bloomext_redis_add_all);
UNAVAILABLE(bloomext_redis_contains);
UNAVAILABLE(bloomext_redis_contains_each);
UNAVAILABLE(bloomext_redis_info);
UNAVAILABLE(bloomext_redis_drop);
