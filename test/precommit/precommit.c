/*
 * precommit.c
 *	  For tests: an extension that executes a statement at pre-commit, as late
 *	  as one can, or in a background worker, which has no client's statement.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

static char *statement;

static void
execute(const char *sql)
{
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	if (SPI_execute(sql, false, 0) < 0)
		elog(ERROR, "cannot execute \"%s\"", sql);
	SPI_finish();
	PopActiveSnapshot();
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	char	   *armed = statement;

	if (armed == NULL ||
		(event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE))
		return;
	statement = NULL;
	execute(armed);
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

/* What a worker is given: a statement, and whether to wait with it until pre-commit. */
typedef struct Work
{
	Oid			database;
	bool		late;
	char		statement[BGW_EXTRALEN - 2 * sizeof(Oid)];
} Work;

PGDLLEXPORT void precommit_worker_main(Datum arg);

void
precommit_worker_main(Datum arg)
{
	Work		work;

	memcpy(&work, MyBgworkerEntry->bgw_extra, sizeof(work));
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(work.database, InvalidOid, 0);
	StartTransactionCommand();
	if (work.late)
		statement = MemoryContextStrdup(TopMemoryContext, work.statement);
	else
		execute(work.statement);
	CommitTransactionCommand();
}

/* precommit_work(text, late boolean): have a worker execute that, and wait for its end. */
PG_FUNCTION_INFO_V1(precommit_work);
Datum
precommit_work(PG_FUNCTION_ARGS)
{
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_notify_pid = MyProcPid
	};
	BackgroundWorkerHandle *handle;
	Work		work = {.database = MyDatabaseId,.late = PG_GETARG_BOOL(1)};

	if (strlcpy(work.statement, text_to_cstring(PG_GETARG_TEXT_PP(0)),
				sizeof(work.statement)) >= sizeof(work.statement))
		elog(ERROR, "that is too long a statement for a worker");
	memcpy(worker.bgw_extra, &work, sizeof(work));
	strlcpy(worker.bgw_library_name, PG_GETARG_CSTRING(2), sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "precommit_worker_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "precommit worker", BGW_MAXLEN);
	if (!RegisterDynamicBackgroundWorker(&worker, &handle))
		elog(ERROR, "cannot register a background worker");
	WaitForBackgroundWorkerShutdown(handle);
	PG_RETURN_VOID();
}
