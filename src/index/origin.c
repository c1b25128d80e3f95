/*
 * origin.c
 *	  Determine which filters have to cover rows inserted earlier in this
 *	  transaction, whose table or index may have got another file since.
 *
 * A row is in whatever relation now has the file that the row was written to.
 * The filter that must cover it is the index that now has the file in which
 * the row's element was to be recorded: SET TABLESPACE and a change of type
 * copy that file, or give it to another index, without reading rows; commands
 * that swap the files of two tables swap those of their indexes as well.  So:
 *
 * - The index that has the file has to cover the row, and so does the index
 *	 with the original OID, whose file may be a copy.
 * - If no relation has the file, a copy of it may exist.  As our locks exclude
 *	 other transactions, the copy was made in this transaction: any filter that
 *	 uses the same hashes and got its file in this transaction may hold the
 *	 copy.  If a table still has the file of the rows, only filters on that
 *	 table qualify.
 *
 * Hashes that a filter does not need cost nothing but room, so in case of
 * doubt the answer is yes.  We never wait for a candidate's lock: this
 * transaction has held it since it gave the candidate its file.
 *
 * A file is looked up through the index on pg_class, not with
 * RelidByRelfilenumber: since 18 that ignores temporary tables, and before 18
 * it mistakes a temporary table for a permanent one whose file has the same
 * number.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/storage.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "index/index.h"
#include "index/origin.h"

/* Record where a row goes that is inserted now. */
void
bf_origin_of(Relation table, Relation index, BfOrigin *origin)
{
	const BfLive *live = bf_live_kept(index);

	*origin = (BfOrigin) {
		.table = RelationGetRelid(table),
		.index = RelationGetRelid(index),
		.access_method = index->rd_rel->relam,
		.table_file = compat_locator_of(table),
		.index_file = compat_locator_of(index),
		.is_temporary = RelationUsesLocalBuffers(index),
		.strategy = live->plan.strategy,
		.funnel = (BfFunnel) live->plan.header.funnel,
		.columns = bf_live_columns(index)
	};
	memcpy(origin->types, index->rd_opcintype, origin->columns * sizeof(Oid));
}

/* A tablespace as pg_class represents it. */
static Oid
tablespace_of(RelFileLocator file)
{
	return file.compat_spc == MyDatabaseTableSpace ? InvalidOid : file.compat_spc;
}

/* Whether a relation has a file, by its row of pg_class. */
static bool
has_file(HeapTuple tuple, RelFileLocator file)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

	return form->relfilenode == file.compat_number &&
		form->reltablespace == tablespace_of(file);
}

/* The relation that has a file; InvalidOid if none has. */
static Oid
owner_of(RelFileLocator file, bool is_temporary)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	ScanKeyInit(&keys[0], Anum_pg_class_reltablespace, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(tablespace_of(file)));
	ScanKeyInit(&keys[1], Anum_pg_class_relfilenode, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(file.compat_number));
	scan = systable_beginscan(catalog, ClassTblspcRelfilenodeIndexId, true,
							  NULL, 2, keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		/* File numbers of temporary relations are unique per session. */
		if (is_temporary ? isTempNamespace(form->relnamespace) :
			form->relpersistence != RELPERSISTENCE_TEMP)
			owner = form->oid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return owner;
}

/* Determine where an origin's files are, if the catalogs may have changed. */
static void
trace_origin(BfOrigin *origin)
{
	uint64		definitions = bf_definitions();
	HeapTuple	tuple;

	if (origin->definitions == definitions)
		return;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(origin->index));
	origin->is_home = HeapTupleIsValid(tuple) &&
		has_file(tuple, origin->index_file);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	origin->owner = origin->is_home ? origin->index :
		owner_of(origin->index_file, origin->is_temporary);
	origin->heir = OidIsValid(origin->owner) ? InvalidOid :
		owner_of(origin->table_file, origin->is_temporary);
	origin->definitions = definitions;
}

/* Whether the index still has the file: no other filter is concerned. */
bool
bf_origin_is_home(BfOrigin *origin)
{
	trace_origin(origin);
	return origin->is_home;
}

/* The index that has the file; InvalidOid if none has. */
Oid
bf_origin_owner(BfOrigin *origin)
{
	trace_origin(origin);
	return origin->owner;
}

/* Whether a filter uses the same hashes as an origin. */
static bool
is_alike(const BfOrigin *origin, Relation index)
{
	const BfLive *live;

	if (!index->rd_index->indisready ||
		bf_live_columns(index) != origin->columns ||
		memcmp(index->rd_opcintype, origin->types,
			   origin->columns * sizeof(Oid)) != 0)
		return false;
	live = bf_live_kept(index);
	return live->plan.strategy == origin->strategy &&
		live->plan.header.funnel == origin->funnel;
}

/*
 * Whether a file, which is not temporary, was created in this subtransaction
 * or in its committed children: whether an abort would remove it.  That is a
 * property of the file, whichever relation has it, unlike the marks of a
 * relation (rd_createSubid).
 */
bool
bf_file_is_new(RelFileLocator file)
{
	RelFileLocator *files;
	int			count = smgrGetPendingDeletes(false, &files);

	for (int i = 0; i < count; i++)
	{
		if (RelFileLocatorEquals(files[i], file))
			return true;
	}
	return false;
}

/*
 * Whether a relation may have got its file in this transaction.  For temporary
 * relations, and in a subtransaction, this is not exact.
 */
static bool
may_have_new_file(HeapTuple tuple)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

	if (!TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
		return false;
	return form->relpersistence == RELPERSISTENCE_TEMP ||
		GetCurrentTransactionNestLevel() > 1 ||
		bf_file_is_new(compat_locator(OidIsValid(form->reltablespace) ?
									  form->reltablespace : MyDatabaseTableSpace,
									  MyDatabaseId, form->relfilenode));
}

/* Whether an open index may have got its file in this transaction. */
static bool
may_be_new(Relation index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID,
										ObjectIdGetDatum(RelationGetRelid(index)));
	bool		result = HeapTupleIsValid(tuple) && may_have_new_file(tuple);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* Whether a live filter, which is open, may have to cover the rows. */
bool
bf_origin_concerns(BfOrigin *origin, Relation index)
{
	Oid			oid = RelationGetRelid(index);

	trace_origin(origin);
	if (oid == origin->index || oid == origin->owner)
		return true;
	return !OidIsValid(origin->owner) &&
		(!OidIsValid(origin->heir) ||
		 index->rd_index->indrelid == origin->heir) &&
		may_be_new(index) && is_alike(origin, index);
}

/*
 * The indexes of an access method that may have got their files in this
 * transaction, determined once per epoch.
 */
static const List *
new_indexes(Oid access_method)
{
	static List *found;
	static uint64 epoch;
	uint64		now = bf_epoch();
	MemoryContext caller;
	Relation	catalog;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (epoch == now)
		return found;
	found = NIL;
	catalog = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	caller = MemoryContextSwitchTo(TopTransactionContext);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relkind == RELKIND_INDEX && form->relam == access_method &&
			may_have_new_file(tuple))
			found = lappend_oid(found, form->oid);
	}
	MemoryContextSwitchTo(caller);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	epoch = now;
	return found;
}

/* The indexes that may be concerned. */
List *
bf_origin_candidates(BfOrigin *origin)
{
	List	   *candidates = list_make1_oid(origin->index);

	trace_origin(origin);
	if (OidIsValid(origin->owner))
		return list_append_unique_oid(candidates, origin->owner);
	return list_concat_unique_oid(candidates,
								  new_indexes(origin->access_method));
}
