/*
 * rows.c
 *	  Where the rows of a table are: in the table itself, or elsewhere.
 *
 * An index covers the rows that were inserted into its own table, on this
 * server.  The rows of foreign tables are elsewhere, and so are rows that an
 * extension keeps in other relations or on other servers, so that the table
 * itself is an empty shell, with a valid index.  Such extensions list these
 * tables in a catalog of theirs.  An array in this file describes how to
 * search such catalogs; supporting another extension takes one row.
 *
 * A catalog is only used if a superuser owns it, or if it belongs to the
 * extension: otherwise anybody could create a table of that name, and
 * influence the answers that others get.
 *
 * It is read with the catalog snapshot, not the query's, as we want to know
 * where the rows are now.  It is read again whenever another transaction may
 * have ended: moving the rows of a table changes the table's definition, but
 * other sessions may see the rows in their new place before they receive the
 * message about it (lookup_cache.c).  A catalog whose columns have unexpected
 * types is ignored.  If an extension has no catalog that we recognize, as in
 * a future version, the rows of any table may be elsewhere.
 *
 * All tables below a given one are visited, not just their indexes: CREATE
 * INDEX skips partitions that are foreign tables, and still marks the
 * partitioned index as valid.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "catalog/filters.h"
#include "pages/index_options.h"

/* A catalog of an extension, listing tables whose rows are elsewhere */
typedef struct RowsCatalog
{
	const char *extension;
	const char *schema;
	const char *name;
	/* The table, by OID, or by schema and name. */
	const char *table_oid;
	const char *table_schema;
	const char *table_name;
	/* Only entries in which this column is not NULL. */
	const char *if_set;
	/* The table is empty: the rows are in those that inherit from it. */
	bool		below;
	const char *where;			/* to follow "rows of ... are" */
} RowsCatalog;

static const RowsCatalog catalogs[] = {
	/* Distributed and reference tables, tenants, and managed local tables. */
	{
		.extension = "citus",
		.schema = "pg_catalog",.name = "pg_dist_partition",
		.table_oid = "logicalrelid",
		.where = "managed by Citus"
	},
	/* Chunks that are compressed, up to version 2.28. */
	{
		.extension = "timescaledb",
		.schema = "_timescaledb_catalog",.name = "chunk",
		.table_schema = "schema_name",.table_name = "table_name",
		.if_set = "compressed_chunk_id",
		.where = "in a compressed chunk of TimescaleDB"
	},
	/* Compressed chunks, from version 2.29 on, and in some versions before. */
	{
		.extension = "timescaledb",
		.schema = "_timescaledb_catalog",.name = "compression_settings",
		.table_oid = "relid",
		.if_set = "compress_relid",
		.where = "in a compressed chunk of TimescaleDB"
	},
	/* Hypertables, which are empty; relevant if their own index is named. */
	{
		.extension = "timescaledb",
		.schema = "_timescaledb_catalog",.name = "hypertable",
		.table_schema = "schema_name",.table_name = "table_name",
		.below = true,
		.where = "in the chunks of a hypertable of TimescaleDB"
	}
};

#define WHERE_UNKNOWN \
	"in an unknown location, as the installed version of Citus or TimescaleDB is not recognized"

/* The location of the rows of a partition whose lock is not available. */
static const char OUT_OF_REACH[] = "in a partition that is being detached";

/* The catalogs in this database */
typedef struct Found
{
	Oid			oids[lengthof(catalogs)];	/* InvalidOid: none recognized */
	bool		all_known;		/* does each extension have one? */
} Found;

/* How to search a catalog for a table */
typedef struct Search
{
	AttrNumber	columns[2];
	AttrNumber	if_set;			/* 0: all entries count */
	ScanKeyData keys[2];
	int			nkeys;
	NameData	schema;			/* what keys point to */
	NameData	name;
} Search;

/* The number of a column of the given type, or InvalidAttrNumber. */
static AttrNumber
find_column(Oid catalog, const char *name, Oid type)
{
	AttrNumber	number = get_attnum(catalog, name);

	if (number <= 0 ||
		(OidIsValid(type) && get_atttype(catalog, number) != type))
		return InvalidAttrNumber;
	return number;
}

/* Find the columns to search a catalog by; false if it is not as expected. */
static bool
find_columns(Oid catalog, const RowsCatalog *known, Search *search)
{
	AttrNumber *columns = search->columns;

	memset(search, 0, sizeof(*search));
	if (known->if_set != NULL)
	{
		search->if_set = find_column(catalog, known->if_set, InvalidOid);
		if (search->if_set == InvalidAttrNumber)
			return false;
	}
	if (known->table_oid != NULL)
	{
		columns[0] = find_column(catalog, known->table_oid, REGCLASSOID);
		if (columns[0] == InvalidAttrNumber)
			columns[0] = find_column(catalog, known->table_oid, OIDOID);
		return columns[0] != InvalidAttrNumber;
	}
	columns[0] = find_column(catalog, known->table_schema, NAMEOID);
	columns[1] = find_column(catalog, known->table_name, NAMEOID);
	return columns[0] != InvalidAttrNumber && columns[1] != InvalidAttrNumber;
}

/* Add a search key for the next column. */
static void
add_key(Search *search, RegProcedure equal, Datum value)
{
	ScanKeyInit(&search->keys[search->nkeys], search->columns[search->nkeys],
				BTEqualStrategyNumber, equal, value);
	search->nkeys++;
}

/* Add the search keys for a table, which is locked. */
static void
add_keys(Search *search, const RowsCatalog *known, Oid table)
{
	if (known->table_oid != NULL)
		add_key(search, F_OIDEQ, ObjectIdGetDatum(table));
	else
	{
		namestrcpy(&search->schema,
				   get_namespace_name(get_rel_namespace(table)));
		namestrcpy(&search->name, get_rel_name(table));
		add_key(search, F_NAMEEQ, NameGetDatum(&search->schema));
		add_key(search, F_NAMEEQ, NameGetDatum(&search->name));
	}
}

/* An index on the columns searched for, in order; or InvalidOid. */
static Oid
find_index(Relation catalog, const Search *search)
{
	List	   *indexes = RelationGetIndexList(catalog);
	Oid			found = InvalidOid;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;
		bool		fits = form->indisvalid && form->indimmediate &&
			index->rd_rel->relam == BTREE_AM_OID &&
			form->indnkeyatts >= search->nkeys &&
			!bf_is_partial(index);

		for (int i = 0; fits && i < search->nkeys; i++)
			fits = form->indkey.values[i] == search->keys[i].sk_attno;
		index_close(index, AccessShareLock);
		if (fits)
		{
			found = lfirst_oid(cell);
			break;
		}
	}
	list_free(indexes);
	return found;
}

/* Whether a table can be the catalog of an extension. */
static bool
is_catalog(Oid oid, const char *extension)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(oid));
	Form_pg_class form;
	bool		is_table;
	Oid			owner;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	is_table = form->relkind == RELKIND_RELATION &&
		form->relpersistence == RELPERSISTENCE_PERMANENT;
	owner = form->relowner;
	ReleaseSysCache(tuple);
	if (!is_table || superuser_arg(owner))
		return is_table;
	name = get_extension_name(getExtensionOfObject(RelationRelationId, oid));
	return name != NULL && strcmp(name, extension) == 0;
}

/* Whether an extension is installed but has no catalog that was found. */
static bool
is_unknown(const char *extension, const Oid *oids)
{
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (OidIsValid(oids[i]) && !catalogs[i].below &&
			strcmp(catalogs[i].extension, extension) == 0)
			return false;
	}
	return OidIsValid(get_extension_oid(extension, true));
}

/* Find the catalogs in this database. */
static void
find_catalogs(Found *found)
{
	Search		search;

	for (int i = 0; i < lengthof(catalogs); i++)
	{
		Oid			schema = get_namespace_oid(catalogs[i].schema, true);
		Oid			oid = OidIsValid(schema) ?
			get_relname_relid(catalogs[i].name, schema) : InvalidOid;

		found->oids[i] = OidIsValid(oid) &&
			is_catalog(oid, catalogs[i].extension) &&
			find_columns(oid, &catalogs[i], &search) ?
			oid : InvalidOid;
	}
	found->all_known = true;
	for (int i = 0; found->all_known && i < lengthof(catalogs); i++)
		found->all_known = !is_unknown(catalogs[i].extension, found->oids);
}

/* Whether a table is listed in a catalog, if that still exists. */
static bool
is_listed(const RowsCatalog *known, Oid oid, Oid table)
{
	Relation	catalog = try_relation_open(oid, AccessShareLock);
	Search		search;
	bool		listed = false;

	if (catalog == NULL)
		return false;
	if (find_columns(oid, known, &search))
	{
		Oid			index;
		SysScanDesc scan;
		HeapTuple	tuple;

		add_keys(&search, known, table);
		index = find_index(catalog, &search);
		scan = systable_beginscan(catalog, index, OidIsValid(index), NULL,
								  search.nkeys, search.keys);
		while (!listed && HeapTupleIsValid(tuple = systable_getnext(scan)))
			listed = search.if_set == 0 ||
				!heap_attisnull(tuple, search.if_set,
								RelationGetDescr(catalog));
		systable_endscan(scan);
	}
	relation_close(catalog, AccessShareLock);
	return listed;
}

/*
 * Where the rows of an open table are, if not in itself; or NULL.  `alone`:
 * the tables that inherit from it are not looked up.
 */
static const char *
rows_elsewhere(Relation table, const Found *found, bool alone)
{
	if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		return "accessed through a foreign table";
	if (!found->all_known)
		return WHERE_UNKNOWN;
	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (OidIsValid(found->oids[i]) && (alone || !catalogs[i].below) &&
			is_listed(&catalogs[i], found->oids[i], RelationGetRelid(table)))
			return catalogs[i].where;
	}
	return NULL;
}

/* Whether an extension is installed that moves rows elsewhere. */
bool
bf_rows_may_move(void)
{
	Found		found;
	bool		any = false;

	find_catalogs(&found);
	for (int i = 0; !any && i < lengthof(catalogs); i++)
		any = OidIsValid(found.oids[i]);
	return any || !found.all_known;
}

/* Whether the rows of leaves, which are locked, are still where they were. */
bool
bf_rows_stayed(const List *leaves, bool alone)
{
	Found		found;
	bool		stayed = true;
	ListCell   *cell;

	find_catalogs(&found);
	foreach(cell, leaves)
	{
		const BfPlace *place = &((const BfLeaf *) lfirst(cell))->place;
		Relation	table = relation_open(place->table, NoLock);

		stayed = stayed && rows_elsewhere(table, &found, alone) == place->elsewhere;
		relation_close(table, NoLock);
	}
	return stayed;
}

/* Make a place for a table. */
static BfPlace *
make_place(Oid table, bool leaving, const char *elsewhere)
{
	BfPlace    *place = palloc(sizeof(BfPlace));

	*place = (BfPlace) {.table = table,.elsewhere = elsewhere,.leaving = leaving};
	return place;
}

/* Where a locked table's own rows are; `alone`: see rows_elsewhere(). */
BfPlace *
bf_rows_place(Oid oid, bool alone)
{
	Relation	table = relation_open(oid, NoLock);
	BfPlace    *place;
	Found		found;

	find_catalogs(&found);
	place = make_place(oid, false, rows_elsewhere(table, &found, alone));
	relation_close(table, NoLock);
	return place;
}

/* Whether a table below another one could not be locked. */
bool
bf_rows_are_out_of_reach(const BfPlace *place)
{
	return place->elsewhere == OUT_OF_REACH;
}

/* Whether a table is a partition that is being detached concurrently. */
static bool
is_leaving(Oid table)
{
	return get_rel_relispartition(table) && PartitionHasPendingDetach(table);
}

/*
 * A table that the snapshot no longer sees below another one, locked if its
 * lock is available; NULL if the table does not exist any more.
 */
static BfPlace *
reach_table(Oid table)
{
	if (!ConditionalLockRelationOid(table, AccessShareLock))
		return make_place(table, true, OUT_OF_REACH);
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)))
		return make_place(table, true, NULL);
	UnlockRelationOid(table, AccessShareLock);
	return NULL;
}

/* The tables directly below another one: a list of BfPlace. */
static List *
places_below(const BfPlace *parent)
{
	bool		any_leaving = false;
	List	   *seen = find_inheritance_children_extended(parent->table, true,
														  AccessShareLock,
														  &any_leaving, NULL);
	List	   *places = NIL;
	List	   *all;
	ListCell   *cell;

	foreach(cell, seen)
	{
		Oid			table = lfirst_oid(cell);
		bool		leaving = parent->leaving ||
			(any_leaving && is_leaving(table));

		places = lappend(places, make_place(table, leaving, NULL));
	}
	if (!any_leaving)
		return places;
	all = find_inheritance_children_extended(parent->table, false, NoLock,
											 NULL, NULL);
	foreach(cell, list_difference_oid(all, seen))
	{
		BfPlace    *place = reach_table(lfirst_oid(cell));

		if (place != NULL)
			places = lappend(places, place);
	}
	return places;
}

/* Whether a table is in a list of BfPlace. */
static bool
is_among(const List *places, Oid table)
{
	ListCell   *cell;

	foreach(cell, places)
	{
		if (((const BfPlace *) lfirst(cell))->table == table)
			return true;
	}
	return false;
}

/*
 * A locked table and all tables below it, which are locked as well, except for
 * those out of reach: a list of BfPlace.
 *
 * Unlike find_all_inheritors(), this includes partitions that are being
 * detached concurrently and that the active snapshot no longer sees: older
 * snapshots, such as that of a query that calls a function, still see their
 * rows.  But the detaching session may be waiting for such a snapshot, perhaps
 * our own, while it keeps others from locking the partition.  So we do not
 * wait for that lock, to avoid a deadlock.
 */
List *
bf_rows_tables(Oid root)
{
	List	   *places = list_make1(make_place(root, false, NULL));

	for (int i = 0; i < list_length(places); i++)
	{
		const BfPlace *parent = list_nth(places, i);
		ListCell   *cell;

		if (bf_rows_are_out_of_reach(parent))
			continue;
		if (get_rel_relkind(parent->table) == RELKIND_PARTITIONED_TABLE)
		{
			places = list_concat(places, places_below(parent));
			continue;
		}
		/* Only a table that inherits from several can occur again. */
		foreach(cell, places_below(parent))
		{
			BfPlace    *place = lfirst(cell);

			if (!is_among(places, place->table))
				places = lappend(places, place);
		}
	}
	return places;
}

/*
 * Where the rows of a locked table and of all tables below it are: a list of
 * BfPlace.  A partitioned table has no rows itself.
 */
List *
bf_rows_places(Oid root)
{
	List	   *places = bf_rows_tables(root);
	ListCell   *cell;
	Found		found;

	find_catalogs(&found);
	foreach(cell, places)
	{
		BfPlace    *place = lfirst(cell);
		Relation	table;

		CHECK_FOR_INTERRUPTS();
		if (bf_rows_are_out_of_reach(place))
			continue;
		table = relation_open(place->table, NoLock);
		place->elsewhere = rows_elsewhere(table, &found, false);
		/* Queries skip temporary tables of other sessions as well. */
		if ((place->table != root && RELATION_IS_OTHER_TEMP(table)) ||
			(place->elsewhere == NULL &&
			 table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE))
			places = foreach_delete_current(places, cell);
		relation_close(table, NoLock);
	}
	return places;
}

/* Why no filter covers the rows of a table, and what to do about it. */
const char *
bf_rows_maybe(const BfPlace *place)
{
	const char *name = get_rel_name(place->table);

	if (place->elsewhere != NULL)
		return psprintf("rows of \"%s\" are %s. Use the tables that hold the rows, one by one.",
						name, place->elsewhere);
	return psprintf("\"%s\" has no matching live filter. Create one with CREATE INDEX ... USING bloomfilter.",
					name);
}
