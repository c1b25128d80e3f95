/*
 * visibility.c
 *	  Is a live filter's "no" sure, for the snapshot that asks?
 *
 * It is if the filter knows every row version that any snapshot of this
 * transaction can see.  Otherwise all that can be said is "maybe".
 *
 * A build sees each row version that is not dead to all snapshots of its own
 * server (build.c), so on the server that built it a valid index is complete.
 * What the build left out was deleted by transactions before its horizon; whoever
 * sees all of those as finished does not see the row.  So the horizon is asked where row versions
 * may be seen that were dead to all snapshots of the server that built:
 *
 * - in recovery, and after it by a snapshot that was taken in recovery: nobody
 *	 waits for a standby's snapshots;
 * - where rows are pruned that a snapshot sees (old_snapshot_threshold, up to
 *	 16).
 *
 * A concurrent build does miss rows that older snapshots of its own server see,
 * and waits until those are gone.  An imported snapshot may come after that; so
 * nobody is sure whose snapshot is older than that of the build's validation.
 *
 * A standby asks pg_index's row, too, as it does not delay the end of CREATE
 * INDEX CONCURRENTLY for its own snapshots.  We do not ask indcheckxmin: what
 * it stands for is hashed by our builds, and ALTER TABLE can lose it.
 *
 * TRUNCATE empties an index in place where the table's file is new in the
 * subtransaction, even if the index's is not: the table moved to another
 * tablespace first.  The core cannot undo that when it is rolled back: the rows
 * return, the filter's bits do not.  So such a build writes its own transaction
 * into the metapage, and the file of the table, which is new: it is complete if
 * that committed, or if the table has that file.  VACUUM takes the mark away,
 * lest the table get another file when nobody knows of the transaction any more.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "catalog/filters.h"

/* The whole of a transaction id that is not far from the next one. */
FullTransactionId
bf_full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

/* The same, of a transaction id that is often the one of last time. */
typedef struct LastXid
{
	TransactionId xid;
	FullTransactionId whole;
} LastXid;

/* A transaction in full, which is asked for again and again. */
static FullTransactionId
full_xid(TransactionId xid, LastXid *last)
{
	if (xid != last->xid)
	{
		last->whole = bf_full_xid(xid);
		last->xid = xid;
	}
	return last->whole;
}

/* What the oldest snapshot of this transaction sees running. */
static FullTransactionId
oldest_seen_running(void)
{
	static LastXid last;

	return full_xid(TransactionXmin, &last);
}

/*
 * Whether the asking snapshot was taken before that of the build's validation.
 * Of two with the same xmax the older one sees more transactions running.
 */
static bool
is_older_than_validation(const BfLive *live)
{
	static LastXid last;
	Snapshot	snapshot = GetActiveSnapshot();
	FullTransactionId xmax;

	if (!FullTransactionIdIsValid(live->validated))
		return false;
	xmax = full_xid(snapshot->xmax, &last);
	return FullTransactionIdPrecedes(xmax, live->validated) ||
		(FullTransactionIdEquals(xmax, live->validated) &&
		 snapshot->xcnt > live->validated_running);
}

/* Whether a horizon lies in the future, so that ids do not mean what they did. */
static bool
is_in_future(FullTransactionId horizon)
{
	static FullTransactionId next;	/* at some time; it only grows */

	if (FullTransactionIdPrecedesOrEquals(horizon, next))
		return false;
	next = ReadNextFullTransactionId();
	return FullTransactionIdPrecedes(next, horizon);
}

/* Whether a transaction committed, or is this one, as far as it is on record. */
static bool
is_committed(Relation table, FullTransactionId fxid)
{
	TransactionId xid = XidFromFullTransactionId(fxid);

	if (!FullTransactionIdEquals(fxid, bf_full_xid(xid)))
		return false;
	if (TransactionIdIsCurrentTransactionId(xid))
		return true;
	/* What is newer than the table's oldest id is on record. */
	return TransactionIdIsNormal(table->rd_rel->relfrozenxid) &&
		TransactionIdFollowsOrEquals(xid, table->rd_rel->relfrozenxid) &&
		TransactionIdDidCommit(xid);
}

/*
 * Whether the TRUNCATE was rolled back that emptied an index of a table in
 * place.  The table's file was new then: if it is still the table's, so is what
 * was done to it.
 */
bool
bf_live_was_undone(Relation table, const BfLive *live)
{
	return FullTransactionIdIsValid(live->emptied_by) &&
		!RelFileLocatorEquals(compat_locator_of(table), live->emptied_with) &&
		!is_committed(table, live->emptied_by);
}

/* Whether the table was emptied by what was rolled back since. */
static bool
was_emptied(Relation index)
{
	BfLive		live;
	Relation	table;
	bool		undone;

	bf_live_open(index, &live);
	table = table_open(index->rd_index->indrelid, NoLock);
	undone = bf_live_was_undone(table, &live);
	table_close(table, NoLock);
	return undone;
}

/* The doubts that only a rebuild will end. */
BfDoubt
bf_live_lasting_doubt(Relation index, const BfLive *live)
{
	/* A standby learns of transaction ids as it goes. */
	if (!RecoveryInProgress() && is_in_future(live->horizon))
		return BF_FUTURE;
	if (FullTransactionIdIsValid(live->emptied_by) && was_emptied(index))
		return BF_EMPTIED;
	return BF_SURE;
}

/*
 * What keeps the "no" of an open, locked index from being sure; if nothing does,
 * `*live` is its shape, which is valid until a catalog is read.
 */
BfDoubt
bf_live_doubt(Relation index, const BfLive **live)
{
	Form_pg_index form = index->rd_index;
	BfDoubt		lasting;
	bool		reads_catalog;
	bool		elsewhere;

	if (!form->indislive || !form->indisready || !form->indisvalid)
		return BF_NOT_VALID;
	/* Code that the build runs may ask what is being built. */
	if (!bf_live_is_built(index))
		return BF_NOT_VALID;
	*live = bf_live_kept(index);
	reads_catalog = FullTransactionIdIsValid((*live)->emptied_by);
	lasting = bf_live_lasting_doubt(index, *live);
	if (lasting != BF_SURE)
		return lasting;
	if (reads_catalog)
		*live = bf_live_kept(index);

	elsewhere = RecoveryInProgress() ||
		GetActiveSnapshot()->takenDuringRecovery;
	if (is_older_than_validation(*live))
		return BF_OLD_SNAPSHOT;
	if ((elsewhere || (*live)->pruned_early) &&
		FullTransactionIdPrecedes(oldest_seen_running(), (*live)->horizon))
		return BF_OLD_SNAPSHOT;
	if (elsewhere &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple->t_data),
							   TransactionXmin))
		return BF_OLD_SNAPSHOT;
	return BF_SURE;
}

/* A doubt in words, to follow "live filter ..."; NULL if there is none. */
const char *
bf_doubt_text(BfDoubt doubt)
{
	switch (doubt)
	{
		case BF_SURE:
			break;
		case BF_NOT_VALID:
			return "is not valid";
		case BF_OLD_SNAPSHOT:
			return "may lack rows that this transaction can see";
		case BF_EMPTIED:
			return "was emptied by a TRUNCATE that has been, or may have been, rolled back";
		case BF_FUTURE:
			return "was built before transaction IDs were reset";
	}
	return NULL;
}

/* What can be done about it: a sentence. */
const char *
bf_doubt_hint(BfDoubt doubt)
{
	switch (doubt)
	{
		case BF_SURE:
			break;
		case BF_NOT_VALID:
			return "Wait until it is built, or rebuild it with REINDEX INDEX CONCURRENTLY; drop it if its name ends in _ccnew or _ccold, possibly followed by a number.";
		case BF_OLD_SNAPSHOT:
			return "Try again in a new transaction after all transactions that ran during its build, on the primary in case of a standby, have ended, including prepared ones.";
		case BF_EMPTIED:
		case BF_FUTURE:
			return "Rebuild it with REINDEX INDEX CONCURRENTLY.";
	}
	return NULL;
}

/*
 * Whether the column is of a type that can be an element.  ALTER TABLE can turn
 * text into citext without a rebuild.
 */
bool
bf_live_holds_elements(Relation index)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);

	return bf_type_can_be_element(getBaseType(column->atttypid));
}

/* What can be done where it is not: a sentence. */
const char *
bf_live_column_hint(Relation index)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);

	return psprintf("Drop it, and create one on an expression, e.g. %s.",
					bf_expression_instead(column->atttypid, true,
										  quote_identifier(NameStr(column->attname))));
}

/* Why a filter's "no" is not sure, and what to do; NULL where it is sure. */
const char *
bf_live_maybe(Relation index)
{
	const char *name = RelationGetRelationName(index);
	const BfLive *live;
	BfDoubt		doubt = bf_live_doubt(index, &live);

	if (!bf_live_holds_elements(index))
		return psprintf("live filter \"%s\" has a column of a type that cannot be an element. %s",
						name, bf_live_column_hint(index));
	if (doubt != BF_SURE)
		return psprintf("live filter \"%s\" %s. %s", name, bf_doubt_text(doubt),
						bf_doubt_hint(doubt));
	return NULL;
}

/*
 * Raise 0A000 where the column is of a type whose equality is not that of its
 * bytes.  To be asked whenever a filter is read.
 */
void
bf_live_check_column(Relation index)
{
	Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), 0);
	BfElementType element;

	if (index->rd_createSubid == InvalidSubTransactionId &&
		!bf_live_holds_elements(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("live filter \"%s\" has a column of type %s, which cannot be an element of a bloom filter",
						RelationGetRelationName(index),
						format_type_be(column->atttypid)),
				 errhint("%s", bf_live_column_hint(index))));
	bf_element_type(column->atttypid, index->rd_indcollation[0], &element);
}
