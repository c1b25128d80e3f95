/*
 * precommit.c
 *	  For tests: an extension that executes a statement at pre-commit, as late
 *	  as one can.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

static char *statement;

static void
at_transaction_event(XactEvent event, void *arg)
{
	char	   *armed = statement;

	if (armed == NULL ||
		(event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE))
		return;
	statement = NULL;
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	if (SPI_execute(armed, false, 0) < 0)
		elog(ERROR, "cannot execute \"%s\"", armed);
	SPI_finish();
	PopActiveSnapshot();
	pfree(armed);
}

PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
}

/* precommit_arm(text): what to execute, once. */
PG_FUNCTION_INFO_V1(precommit_arm);
Datum
precommit_arm(PG_FUNCTION_ARGS)
{
	statement = MemoryContextStrdup(TopMemoryContext,
									text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
