/*
 * epoch.c
 *	  How long what was found out about a relation may be believed.
 *
 * What the catalogs say of a relation holds while we keep the lock under which we
 * read it, and while nobody changed its definition.  Locks go at the end of a
 * transaction, and with a subtransaction that is rolled back.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/inval.h"

#include "live/live.h"

static uint64 epoch = 1;

/* What was found out in one epoch is worth nothing in another.  Never 0. */
uint64
bf_epoch(void)
{
	return epoch;
}

static void
at_relation_change(Datum arg, Oid rel)
{
	epoch++;
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE &&
		event != XACT_EVENT_PARALLEL_PRE_COMMIT)
		epoch++;
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId subxact,
						SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		epoch++;
}

/* Called once, when the module is loaded. */
void
bf_epoch_init(void)
{
	CacheRegisterRelcacheCallback(at_relation_change, (Datum) 0);
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}
