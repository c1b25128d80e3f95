/*
 * epoch.c
 *	  How long what was found out about a relation may be believed.
 *
 * What the catalogs say of a relation holds while we keep the lock under which we
 * read it, and while nobody changed its definition.  Locks go at the end of a
 * transaction, and with a subtransaction that is rolled back.  Who may read it
 * depends on roles, too, and on who is a member of which.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "catalog/filters.h"

static uint64 epoch = 1;
static uint64 definitions = 1;

/* What was found out in one epoch is worth nothing in another.  Never 0. */
uint64
bf_epoch(void)
{
	return epoch;
}

/* The same, if it is locked again when it is believed.  Never 0. */
uint64
bf_definitions(void)
{
	return definitions;
}

/* Any relation may be one that an answer rests on. */
static void
count_relation_change(Datum arg, Oid rel)
{
	epoch++;
	definitions++;
}

/* Any role may be one that a right rests on. */
static void
count_role_change(Datum arg, int cache, uint32 hash)
{
	epoch++;
}

/* No answer outlives its transaction, nor the time before it begins to end. */
static void
count_transaction(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE &&
		event != XACT_EVENT_PARALLEL_PRE_COMMIT)
		epoch++;
}

/* What a subtransaction changed is as it was. */
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
