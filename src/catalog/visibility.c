/*
 * visibility.c
 *	  Is the "no" of a live filter certain for the active snapshot?
 *
 * It is if the filter holds every row version that any snapshot of this
 * transaction can see.  Otherwise the answer is "maybe".
 *
 * A build sees each row version that is not dead to all snapshots of its own
 * server (build.c), so on that server a valid index is complete.  What the
 * build left out was deleted by transactions before its horizon, and a
 * snapshot that sees all of those as finished does not see the row.  The
 * horizon is checked where snapshots may see row versions that were dead to
 * all snapshots of the server that built the index:
 *
 * - in recovery, and after it by a snapshot that was taken in recovery:
 *	 nothing waits for the snapshots of a standby;
 * - where rows are pruned that a snapshot sees (old_snapshot_threshold, up to
 *	 16).
 *
 * A concurrent build does leave out rows that older snapshots of its own
 * server see, and waits until those are gone.  But a snapshot that is imported
 * later may be as old; so the "no" is not certain for a snapshot that is older
 * than the one of the build's validation.
 *
 * A standby checks the pg_index row as well, as CREATE INDEX CONCURRENTLY does
 * not wait for its snapshots.  We do not check indcheckxmin: our builds hash
 * the rows that it is about, and ALTER TABLE can lose it.
 *
 * TRUNCATE empties an index in place if the file of the table is new in the
 * subtransaction, even if the file of the index is not, as after the table was
 * moved to another tablespace.  PostgreSQL cannot undo that in a rollback: the
 * rows return, but the bits of the filter do not.  So such a build writes its
 * own transaction and the new file of the table into the metapage: the filter
 * is complete if that transaction committed, or if the table has that file.
 * VACUUM removes the mark, as the table could get another file after the state
 * of the transaction is forgotten.
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
#include "pages/index_options.h"

/* The full form of a transaction ID that is not far from the next one. */
FullTransactionId
bf_full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

/* A transaction ID, often the same as the last time, and its full form */
typedef struct LastXid
{
	TransactionId xid;
	FullTransactionId whole;
} LastXid;

/* bf_full_xid(), for IDs that are converted repeatedly. */
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

/* The first transaction that the oldest snapshot of ours sees as running. */
static FullTransactionId
oldest_seen_running(void)
{
	static LastXid last;

	return full_xid(TransactionXmin, &last);
}

/*
 * Whether the active snapshot was taken before that of the validation.  Of two
 * with the same xmax, the older one sees more transactions running.
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

/* Whether IDs were reset since the build: its horizon is in the future. */
static bool
is_in_future(FullTransactionId horizon)
{
	static FullTransactionId next;	/* as last read; it only increases */

	if (FullTransactionIdPrecedesOrEquals(horizon, next))
		return false;
	next = ReadNextFullTransactionId();
	return FullTransactionIdPrecedes(next, horizon);
}

/* Whether a transaction is known to have committed, or is our own. */
static bool
is_committed(Relation table, FullTransactionId fxid)
{
	TransactionId xid = XidFromFullTransactionId(fxid);

	if (!FullTransactionIdEquals(fxid, bf_full_xid(xid)))
		return false;
	if (TransactionIdIsCurrentTransactionId(xid))
		return true;
	/* The state of IDs from relfrozenxid on is still available. */
	return TransactionIdIsNormal(table->rd_rel->relfrozenxid) &&
		TransactionIdFollowsOrEquals(xid, table->rd_rel->relfrozenxid) &&
		TransactionIdDidCommit(xid);
}

/*
 * Whether a TRUNCATE that emptied an index of a table in place was rolled
 * back.  It was not if the table still has the file that was new then.
 */
bool
bf_live_was_undone(Relation table, const BfLive *live)
{
	return FullTransactionIdIsValid(live->emptied_by) &&
		!RelFileLocatorEquals(compat_locator_of(table), live->emptied_with) &&
		!is_committed(table, live->emptied_by);
}

/* Whether the index was emptied by a TRUNCATE that was rolled back. */
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

/* The doubts that only a rebuild removes. */
BfDoubt
bf_live_lasting_doubt(Relation index, const BfLive *live)
{
	/* The next transaction ID of a standby lags behind. */
	if (!RecoveryInProgress() && is_in_future(live->horizon))
		return BF_FUTURE;
	if (FullTransactionIdIsValid(live->emptied_by) && was_emptied(index))
		return BF_EMPTIED;
	return BF_SURE;
}

/*
 * Why the "no" of an open, locked index is not certain.  If it is certain,
 * *live is set to the index's metapage, which is valid until a catalog is
 * read.
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
	/* Code called by the build may look up the index that is being built. */
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

/* The text for a doubt, to follow "live filter ..."; NULL if there is none. */
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

/* The hint for a doubt: a sentence. */
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
 * A column of an index whose type cannot be an element; NULL if all can.  ALTER
 * TABLE can change text to citext without a rebuild.
 */
static Form_pg_attribute
unfit_column(Relation index)
{
	for (int i = 0; i < bf_live_columns(index); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(index), i);

		if (!bf_type_can_be_element(getBaseType(column->atttypid)))
			return column;
	}
	return NULL;
}

/* Whether the types of all columns can be elements. */
bool
bf_live_holds_elements(Relation index)
{
	return unfit_column(index) == NULL;
}

/* The hint for a column whose type cannot be an element: a sentence. */
static const char *
column_hint(Form_pg_attribute column)
{
	const char *instead = bf_expression_instead(column->atttypid, true,
												quote_identifier(NameStr(column->attname)));

	return instead == NULL ? "Drop it." :
		psprintf("Drop it, and create one on an expression, e.g. %s.", instead);
}

/* Why the "no" of a filter is not certain, and what to do; NULL if it is. */
const char *
bf_live_maybe(Relation index)
{
	const char *name = RelationGetRelationName(index);
	const BfLive *live;
	BfDoubt		doubt = bf_live_doubt(index, &live);
	Form_pg_attribute unfit = unfit_column(index);

	if (unfit != NULL)
		return psprintf("live filter \"%s\" has a column of a type that cannot be an element. %s",
						name, column_hint(unfit));
	if (doubt != BF_SURE)
		return psprintf("live filter \"%s\" %s. %s", name, bf_doubt_text(doubt),
						bf_doubt_hint(doubt));
	return NULL;
}

/* The collation that a column has in the table; none for an expression. */
static Oid
collation_in_table(Relation index, int number)
{
	AttrNumber	column = index->rd_index->indkey.values[number];
	Oid			type,
				collation;
	int32		typmod;

	if (column == 0)
		return InvalidOid;
	get_atttypetypmodcoll(index->rd_index->indrelid, column, &type, &typmod,
						  &collation);
	return collation;
}

/* Raise 0A000 if a column cannot hold elements; checked at each read. */
void
bf_live_check_columns(Relation index)
{
	Form_pg_attribute unfit = unfit_column(index);
	BfElementType element;

	if (index->rd_createSubid == InvalidSubTransactionId && unfit != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("live filter \"%s\" has a column of type %s, which cannot be an element of a bloom filter",
						RelationGetRelationName(index),
						format_type_be(unfit->atttypid)),
				 errhint("%s", column_hint(unfit))));
	for (int i = 0; i < bf_live_columns(index); i++)
	{
		bf_element_type(TupleDescAttr(RelationGetDescr(index), i)->atttypid,
						index->rd_indcollation[i], &element);
		/* A question that names the column means its equality, not the index's. */
		bf_element_check_collation(&element, collation_in_table(index, i));
	}
}
