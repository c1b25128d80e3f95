/*
 * bloomext.c
 *	  The module: its magic, and what there is to do when it is loaded.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "live/live.h"
#include "type/overfull.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

/* Called when a backend loads the module. */
void
_PG_init(void)
{
	bf_live_init();
	bf_overfull_init();
	MarkGUCPrefixReserved("bloomext");
}
