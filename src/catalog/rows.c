/*
 * rows.c
 *	  Where a table's rows are: in the table itself, or elsewhere.
 *
 * An index knows the rows that were put into its own table, on this server.
 * There are tables whose rows a query finds elsewhere: foreign tables, and
 * those that another extension keeps in other relations or on other servers,
 * so that what bears their name is an empty shell, with a valid index.  Which
 * these are stands in that extension's catalog: a table of ours tells how to
 * look there, and the next extension is one row.
 *
 * A catalog counts if a superuser owns it, or the extension has it: anybody may
 * make a table of that name where there is none, and would have a say in others'
 * answers.
 *
 * Such a catalog is read by the catalog's snapshot, not the query's, as what
 * counts is where rows are looked for now.  It is asked again whenever another
 * transaction may have ended: to move a table's rows changes its definition, but
 * of that others are told a while after they see the rows where they went
 * (lookup_cache.c).  Columns that do not have the type they should have make it a
 * catalog of something else.  An extension of whose catalogs none is as we know
 * it, because of a version that is still to come, may have put any table's rows
 * elsewhere.
 *
 * All tables below one are walked, never their indexes only: CREATE INDEX skips
 * partitions that are foreign tables, and calls the whole valid.
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

/* An extension's catalog of the tables whose rows are elsewhere. */
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
	/* Such a table is empty: the rows are in those that inherit from it. */
	bool		below;
	const char *where;			/* to follow "rows of ... are" */
} RowsCatalog;

static const RowsCatalog catalogs[] = {
	/* Distributed and reference tables, tenants, and local ones beside them. */
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
	/* The same from version 2.29 on, and in some before. */
	{
		.extension = "timescaledb",
		.schema = "_timescaledb_catalog",.name = "compression_settings",
		.table_oid = "relid",
		.if_set = "compress_relid",
		.where = "in a compressed chunk of TimescaleDB"
	},
	/* Hypertables, which are empty themselves, where their own index is named. */
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

/* Where they are of a partition that cannot be locked without waiting. */
static const char OUT_OF_REACH[] = "in a partition that is being detached";

/* What this database has of them. */
typedef struct Found
{
	Oid			oids[lengthof(catalogs)];	/* InvalidOid: none that we know */
	bool		all_known;		/* of every extension that is here, some are */
} Found;

/* What it takes to search a catalog for a table. */
typedef struct Search
{
	AttrNumber	columns[2];
	AttrNumber	if_set;			/* 0: all entries count */
	ScanKeyData keys[2];
	int			nkeys;
	NameData	schema;			/* what keys point to */
	NameData	name;
} Search;

/* The number of a column of that type, or InvalidAttrNumber. */
static AttrNumber
find_column(Oid catalog, const char *name, Oid type)
{
	AttrNumber	number = get_attnum(catalog, name);

	if (number <= 0 ||
		(OidIsValid(type) && get_atttype(catalog, number) != type))
		return InvalidAttrNumber;
	return number;
}

/* Find what to search a catalog by; false where it is not what we know. */
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

/* Search by the next column for a value. */
static void
add_key(Search *search, RegProcedure equal, Datum value)
{
	ScanKeyInit(&search->keys[search->nkeys], search->columns[search->nkeys],
				BTEqualStrategyNumber, equal, value);
	search->nkeys++;
}

/* Search for a table, which is locked. */
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

/* An index whose columns are those searched for, in order; or InvalidOid. */
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

/* Whether an extension is here of whose tables no catalog found tells. */
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

/* Find the catalogs that this database has. */
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

/* Whether a table is in a catalog, if that is still there. */
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
 * Where the rows of an open table are, if not in itself; or NULL.  It is alone
 * where those that inherit from it are not asked beside it.
 */
static const char *
elsewhere(Relation table, const Found *found, bool alone)
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

/* Whether an extension is here that puts rows elsewhere. */
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

/* Whether the rows of leaves, which are locked, are where they were. */
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

		stayed = stayed && elsewhere(table, &found, alone) == place->elsewhere;
		relation_close(table, NoLock);
	}
	return stayed;
}

/* A table that is locked, or is out of reach. */
static BfPlace *
make_place(Oid table, bool leaving, const char *elsewhere)
{
	BfPlace    *place = palloc(sizeof(BfPlace));

	*place = (BfPlace) {.table = table,.elsewhere = elsewhere,.leaving = leaving};
	return place;
}

/*
 * Where the rows of a locked table are, not those of tables that inherit from it;
 * it is alone where these are not asked beside it.
 */
BfPlace *
bf_rows_place(Oid oid, bool alone)
{
	Relation	table = relation_open(oid, NoLock);
	BfPlace    *place;
	Found		found;

	find_catalogs(&found);
	place = make_place(oid, false, elsewhere(table, &found, alone));
	relation_close(table, NoLock);
	return place;
}

/* Whether a table below another one could not be locked, and so not be asked. */
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
 * A table that the snapshot sees no more below another one, locked if that takes
 * no waiting; NULL if it is gone.
 */
static BfPlace *
reach(Oid table)
{
	if (!ConditionalLockRelationOid(table, AccessShareLock))
		return make_place(table, true, OUT_OF_REACH);
	if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(table)))
		return make_place(table, true, NULL);
	UnlockRelationOid(table, AccessShareLock);
	return NULL;
}

/* The tables right below another one: a list of BfPlace. */
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
		BfPlace    *place = reach(lfirst_oid(cell));

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
 * A table, which is locked, and all below it: a list of BfPlace, which are
 * locked, too, but for those out of reach.
 *
 * Unlike find_all_inheritors(), it includes partitions that are being detached
 * concurrently and that the active snapshot does not see any more: older ones,
 * a query's that calls a function for instance, still see their rows.  But who
 * detaches may wait for such a snapshot, and keep others from the partition for
 * as long.  Nobody shall wait for that who asks for the whole, all the less as
 * it may be that snapshot that is waited for.
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
		/* Only a table that inherits from several is met again. */
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
 * Where the rows of a table are that is locked already, and of all that inherit
 * from it or are its partitions: a list of BfPlace.  A partitioned table has no
 * rows itself.
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
		place->elsewhere = elsewhere(table, &found, false);
		/* Queries skip other sessions' temporary tables, too. */
		if ((place->table != root && RELATION_IS_OTHER_TEMP(table)) ||
			(place->elsewhere == NULL &&
			 table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE))
			places = foreach_delete_current(places, cell);
		relation_close(table, NoLock);
	}
	return places;
}

/* Why no filter can tell of the rows of a table, and what to do. */
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
