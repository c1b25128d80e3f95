/*
 * epoch.c
 *	  How long findings about a relation remain valid.
 *
 * What was read from the catalogs about a relation remains valid as long as
 * its definition does not change and we keep the lock under which we read it.
 * Locks are released at the end of a transaction, and when a subtransaction
 * is rolled back.  Privileges also depend on roles and their memberships.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "catalog/filters.h"

static uint64 epoch = 1;
static uint64 definitions = 1;

/* Findings are valid in the epoch in which they were made.  Never 0. */
uint64
bf_epoch(void)
{
	return epoch;
}

/*
 * Findings of an earlier epoch are valid again if this is unchanged after
 * locking the relation again.  Never 0.
 */
uint64
bf_definitions(void)
{
	return definitions;
}

/* A finding may depend on any relation. */
static void
count_relation_change(Datum arg, Oid rel)
{
	epoch++;
	definitions++;
}

/* A privilege may depend on any role. */
static void
count_role_change(Datum arg, int cache, uint32 hash)
{
	epoch++;
}

/* Findings stay valid at pre-commit, and end with the transaction. */
static void
count_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE &&
		event != XACT_EVENT_PARALLEL_PRE_COMMIT)
		epoch++;
}

/* A rollback reverts what the subtransaction changed. */
static void
count_rollback(SubXactEvent event, SubTransactionId subxact,
			   SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		epoch++;
}

/* Called once, when the module is loaded. */
void
bf_epoch_init(void)
{
	CacheRegisterRelcacheCallback(count_relation_change, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, count_role_change, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, count_role_change, (Datum) 0);
	RegisterXactCallback(count_transaction, NULL);
	RegisterSubXactCallback(count_rollback, NULL);
}
