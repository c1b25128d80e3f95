/*
 * resolve.c
 *	  From the name of a table or an index to live filters.
 *
 * REINDEX CONCURRENTLY replaces an index by another one, with another OID; so
 * the table is what users name, and its filter is looked for at run time.  The
 * table and the indexes stay locked, in share mode, until the transaction
 * ends: whoever would drop an index or swap it for another waits for that.
 *
 * A partitioned table or index, and a table with inheritance children, stands
 * for all tables below it.  A table without a filter among them is an error:
 * nothing could be said of its rows.
 *
 * A partial index does not know all rows.  It answers when it is named itself,
 * for the rows that are in it, never in its table's name.
 *
 * What a filter tells is what the table's rows hold: one has to be allowed to
 * read the column, and where policies hide rows, the filter would not.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "live/live.h"

/* Counts changes of any relation's definition. */
static uint64 generation;

static void
at_relation_change(Datum arg, Oid rel)
{
	generation++;
}

/* Called once, when the module is loaded. */
void
bf_resolve_init(void)
{
	CacheRegisterRelcacheCallback(at_relation_change, (Datum) 0);
}

/* Whatever was resolved stays so while this number does. */
uint64
bf_resolve_generation(void)
{
	return generation;
}

/* Whether an open index is a live filter: whether its callbacks are ours. */
static bool
is_live_filter(Relation index)
{
	return index->rd_indam != NULL && index->rd_indam->ambuild == bflive_build;
}

/* Whether a user may read what is in a column, or is it an expression all. */
static void
check_permission(Relation table, Relation index)
{
	Oid			table_oid = RelationGetRelid(table);
	AttrNumber	column = index->rd_index->indkey.values[0];

	if (pg_class_aclcheck(table_oid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		(column == 0 ||
		 pg_attribute_aclcheck(table_oid, column, GetUserId(),
							   ACL_SELECT) != ACLCHECK_OK))
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(table->rd_rel->relkind),
					   RelationGetRelationName(table));
	if (check_enable_rls(table_oid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot use a live filter of table \"%s\"",
						RelationGetRelationName(table)),
				 errdetail("Row-level security hides rows of it, which the filter would tell about.")));
}

static void
refuse_relation(Relation rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is neither a table nor a live filter",
					RelationGetRelationName(rel))));
}

/*
 * Add an index, which is locked already, and what is below it.  An index that
 * lacks rows makes the answer "maybe", be it a partition's or a partitioned
 * one that some partition has no index for.
 */
static void
add_index(Oid oid, BfLiveTarget *target)
{
	Relation	index = relation_open(oid, NoLock);
	Relation	table;

	if (!is_live_filter(index))
		refuse_relation(index);
	table = relation_open(index->rd_index->indrelid, NoLock);
	check_permission(table, index);
	bf_live_check_column(index);
	relation_close(table, NoLock);

	if (index->rd_rel->relkind == RELKIND_INDEX)
		target->indexes = lappend_oid(target->indexes, oid);
	else
	{
		List	   *below;
		ListCell   *cell;

		/* The partitions, too, before their indexes. */
		list_free(find_all_inheritors(index->rd_index->indrelid,
									  AccessShareLock, NULL));
		below = find_all_inheritors(oid, AccessShareLock, NULL);
		if (!index->rd_index->indisvalid)
			target->maybe = true;
		foreach(cell, below)
		{
			if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_INDEX)
				target->indexes = lappend_oid(target->indexes,
											  lfirst_oid(cell));
		}
		list_free(below);
	}
	relation_close(index, NoLock);
}

/* What live filters a table itself has. */
typedef struct Found
{
	Oid			valid;			/* one that is valid */
	int			nvalid;
	bool		building;		/* is there one that is not, or not yet? */
	bool		partial;
} Found;

static void
look_at_index(Oid oid, Found *found)
{
	/* It cannot go away while the table is locked, but take no chances. */
	Relation	index = try_relation_open(oid, AccessShareLock);

	if (index == NULL)
		return;
	if (!is_live_filter(index))
	{
		relation_close(index, AccessShareLock);
		return;
	}
	if (!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		found->partial = true;
	else if (!index->rd_index->indisvalid)
		found->building = true;
	else
	{
		found->valid = oid;
		found->nvalid++;
	}
	relation_close(index, NoLock);
}

/*
 * The valid live filter of an open table; invalid where there is none yet, or
 * none at all and that may be.
 */
static Oid
filter_of_table(Relation table, bool *building, bool missing_ok)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;
	Found		found = {InvalidOid};

	foreach(cell, indexes)
		look_at_index(lfirst_oid(cell), &found);
	list_free(indexes);

	if (found.nvalid > 1)
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_PARAMETER),
				 errmsg("table \"%s\" has several live filters",
						RelationGetRelationName(table)),
				 errhint("Name the index.")));
	*building = found.building;
	if (found.nvalid == 0 && !found.building && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" has no live filter",
						RelationGetRelationName(table)),
				 found.partial ?
				 errdetail("A partial index does not know all of its rows.") : 0,
				 errhint("Create one with CREATE INDEX ... USING bloomfilter.")));
	return found.valid;
}

static void add_table(Oid oid, BfLiveTarget *target, bool alone);

/* Add a table and all that inherit from it, or are its partitions. */
static void
add_tables_below(Oid oid, BfLiveTarget *target)
{
	List	   *tables = find_all_inheritors(oid, AccessShareLock, NULL);
	ListCell   *cell;

	foreach(cell, tables)
	{
		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_PARTITIONED_TABLE)
			add_table(lfirst_oid(cell), target, true);
	}
	list_free(tables);
}

/*
 * Add the filter of a table, which is locked already: alone, or for all tables
 * below it.
 */
static void
add_table(Oid oid, BfLiveTarget *target, bool alone)
{
	Relation	table = relation_open(oid, NoLock);
	char		relkind = table->rd_rel->relkind;
	bool		partitioned = relkind == RELKIND_PARTITIONED_TABLE;
	bool		building;
	Oid			index;

	if (!partitioned && relkind != RELKIND_RELATION &&
		relkind != RELKIND_MATVIEW)
		refuse_relation(table);
	if (!partitioned && !alone && table->rd_rel->relhassubclass)
		add_tables_below(oid, target);
	else
	{
		index = filter_of_table(table, &building, partitioned);
		if (OidIsValid(index))
			add_index(index, target);
		else if (partitioned)
			add_tables_below(oid, target);
		else
			target->maybe = true;
	}
	relation_close(table, NoLock);
}

/*
 * Lock a relation and find the live filters that it stands for.  The list is
 * allocated in the current memory context.
 */
void
bf_resolve(Oid rel, BfLiveTarget *target)
{
	char		relkind = get_rel_relkind(rel);
	bool		is_index = relkind == RELKIND_INDEX ||
		relkind == RELKIND_PARTITIONED_INDEX;
	Oid			table = is_index ? IndexGetRelation(rel, true) : rel;

	target->maybe = false;
	target->indexes = NIL;

	/* The table first, as everybody does. */
	if (OidIsValid(table))
		LockRelationOid(table, AccessShareLock);
	if (is_index)
		LockRelationOid(rel, AccessShareLock);
	if (!OidIsValid(table) || get_rel_relkind(rel) == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", rel)));
	if (is_index)
		add_index(rel, target);
	else
		add_table(rel, target, false);
}

/* The same where together they have to know every row. */
void
bf_resolve_valid(Oid rel, BfLiveTarget *target)
{
	bf_resolve(rel, target);
	if (target->maybe || target->indexes == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("not every table of \"%s\" has a valid live filter",
						get_rel_name(rel))));
}

/* The same where it has to be one filter, which knows every row. */
Oid
bf_resolve_one(Oid rel)
{
	BfLiveTarget target;

	bf_resolve(rel, &target);
	if (list_length(target.indexes) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" has a live filter for each partition",
						get_rel_name(rel)),
				 errhint("Name a partition.")));
	if (target.indexes == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the live filter of \"%s\" is not valid",
						get_rel_name(rel)),
				 errhint("Wait until it is built, or rebuild it with REINDEX INDEX CONCURRENTLY.")));
	return linitial_oid(target.indexes);
}
