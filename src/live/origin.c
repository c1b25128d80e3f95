/*
 * origin.c
 *	  Which filters are to know rows whose table or index may have another file.
 *
 * A row is where its table's file is.  The filter that must know it is that which
 * has the file of the index that the row went into: SET TABLESPACE and a change of
 * type copy that, or hand it on, without reading a row; those who swap two tables'
 * files swap the indexes' as well.  So:
 *
 * - The index that has the file is to know the row; and that with the index's
 *	 OID, whose file may be a copy.
 * - Where no relation has the file, somebody may have a copy of it: of the table that
 *	 has the rows' file, each filter that takes the same hashes, unless that
 *	 is the table of before, with the same index.
 * - Where none has the rows' file, either, both were copied.  That happened in this
 *	 transaction, as others wait for its locks, and shows in pg_class: a
 *	 filter that takes the same hashes, and whose row there this
 *	 transaction wrote, may be the one.
 *
 * Hashes that a filter need not have cost nothing but room; so where something
 * cannot be told, the answer is yes.  Filters of another strategy, funnel or type of
 * elements cannot have a copy of the file.
 *
 * A file is searched for by pg_class's index, and not by PostgreSQL's function for
 * it (RelidByRelfilenumber), which from 18 on passes over temporary tables, and
 * before that takes one for a permanent table whose file has the same number.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#include "live/live.h"
#include "live/origin.h"

/* Note where a row goes that is inserted now. */
void
bf_origin_of(Relation table, Relation index, BfOrigin *origin)
{
	const BfLive *live = bf_live_kept(index);

	*origin = (BfOrigin) {
		.table = RelationGetRelid(table),
		.index = RelationGetRelid(index),
		.table_file = compat_locator_of(table),
		.index_file = compat_locator_of(index),
		.is_temporary = RelationUsesLocalBuffers(index),
		.strategy = live->plan.strategy,
		.funnel = (BfFunnel) live->plan.header.funnel,
		.element = index->rd_opcintype[0]
	};
}

/* A tablespace as pg_class names it. */
static Oid
tablespace_of(RelFileLocator file)
{
	return file.compat_spc == MyDatabaseTableSpace ? InvalidOid : file.compat_spc;
}

/* Whether a relation has a file, by a row of pg_class. */
static bool
has_file(HeapTuple tuple, RelFileLocator file)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

	return form->relfilenode == file.compat_number &&
		form->reltablespace == tablespace_of(file);
}

/* The relation that has a file; InvalidOid if there is none. */
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

		/* Temporary files have a name of the session's own, too. */
		if (is_temporary ? isTempNamespace(form->relnamespace) :
			form->relpersistence != RELPERSISTENCE_TEMP)
			owner = form->oid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return owner;
}

/* Find out where an origin's files are, if the catalogs may have changed. */
static void
trace(BfOrigin *origin)
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

/* Whether the index has the file yet, so that no other filter is concerned. */
bool
bf_origin_is_home(BfOrigin *origin)
{
	trace(origin);
	return origin->is_home;
}

/* Whether no relation has any of the two files. */
bool
bf_origin_is_lost(BfOrigin *origin)
{
	trace(origin);
	return !OidIsValid(origin->owner) && !OidIsValid(origin->heir);
}

/* The index that has the file; InvalidOid if there is none. */
Oid
bf_origin_owner(BfOrigin *origin)
{
	trace(origin);
	return origin->owner;
}

/* Whether a filter takes the same hashes. */
static bool
is_alike(const BfOrigin *origin, Relation index)
{
	const BfLive *live;

	if (!index->rd_index->indisready ||
		index->rd_opcintype[0] != origin->element)
		return false;
	live = bf_live_kept(index);
	return live->plan.strategy == origin->strategy &&
		live->plan.header.funnel == origin->funnel;
}

/* Whether this transaction wrote a row of a catalog. */
static bool
is_ours(HeapTuple tuple)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/* Whether this transaction may have given a relation its file. */
static bool
may_have_new_file(Oid rel)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(rel));
	bool		result = HeapTupleIsValid(tuple) && is_ours(tuple);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* Whether the index that the rows went into is one of a table. */
static bool
has_index_yet(const BfOrigin *origin, Oid table)
{
	return IndexGetRelation(origin->index, true) == table;
}

/* Whether a live filter, which is open, may be one that is to know the rows. */
bool
bf_origin_concerns(BfOrigin *origin, Relation index)
{
	Oid			oid = RelationGetRelid(index);

	trace(origin);
	if (oid == origin->index || oid == origin->owner)
		return true;
	if (OidIsValid(origin->owner) || !is_alike(origin, index))
		return false;
	if (!OidIsValid(origin->heir))
		return may_have_new_file(oid);
	return index->rd_index->indrelid == origin->heir &&
		!has_index_yet(origin, origin->heir);
}

/* The indexes of a table. */
static List *
indexes_of(Oid oid)
{
	Relation	table = try_relation_open(oid, AccessShareLock);
	List	   *indexes;

	if (table == NULL)
		return NIL;
	indexes = RelationGetIndexList(table);
	relation_close(table, AccessShareLock);
	return indexes;
}

/* The indexes that this transaction may have given their files. */
static List *
new_indexes(void)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0,
										  NULL);
	List	   *indexes = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relkind == RELKIND_INDEX && is_ours(tuple))
			indexes = lappend_oid(indexes, form->oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return indexes;
}

/* The indexes among which are all filters that may be concerned, by OID. */
List *
bf_origin_candidates(BfOrigin *origin)
{
	List	   *candidates;

	if (bf_origin_is_lost(origin))
		candidates = new_indexes();
	else if (OidIsValid(origin->owner))
		candidates = list_make1_oid(origin->owner);
	else
		candidates = indexes_of(origin->heir);
	candidates = list_append_unique_oid(candidates, origin->index);
	list_sort(candidates, list_oid_cmp);
	return candidates;
}
