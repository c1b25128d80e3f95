/*
 * canceled.c
 *	  A library whose loading is canceled.
 */
#include "postgres.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling statement due to user request")));
}
