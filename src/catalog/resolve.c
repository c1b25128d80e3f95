/*
 * resolve.c
 *	  Resolve the name of a table or an index to live filters.
 *
 * REINDEX CONCURRENTLY replaces an index by another one with a different OID,
 * so users name the table, and its filter is determined at run time.  The
 * table and the indexes stay locked in share mode until the transaction ends,
 * and whoever drops or swaps an index waits for that.
 *
 * A relation stands for leaves: tables with rows, itself and all tables below
 * it.  Each leaf is looked up in its own filter.  A partitioned index stands
 * for the partitions of its table, any other index for its table only.  A leaf
 * whose rows are elsewhere (rows.c), or out of reach, has no filter that
 * covers them.
 *
 * A partial index does not cover all rows.  It is used only if it is named
 * itself, for the rows in it.
 *
 * A lookup is for a key: a column or an expression of the named relation.  If
 * there are filters on several keys, the named column decides, or else the
 * type of the element, whether those filters are valid or not: otherwise
 * another column would be used while a filter is being built.  In each leaf,
 * all filters on that key are used, and no others.  If leaves answered for
 * different columns, they would deny what is there, and reveal columns that
 * the named relation does not have.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "catalog/filters.h"
#include "pages/index_options.h"

/* How often to retry when definitions change meanwhile. */
#define TRIES	10

/* The keys of those filters of a table that may be used for a lookup. */
typedef struct Choice
{
	List	   *keys;			/* of all of them; the indexes are locked */
	List	   *meant;			/* those that match the lookup */
	bool		partial;		/* was there a partial index? */
} Choice;

/* Raise an error: a relation of this kind cannot have live filters. */
pg_noreturn static void
refuse_relation(Oid rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is neither a table nor a live filter",
					get_rel_name(rel))));
}

/* Raise an error: the relation does not exist. */
pg_noreturn static void
refuse_unknown(Oid rel)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", rel)));
}

/*
 * Whether an index takes what a lookup is for.  One on several columns takes
 * rows only: a bytea does not say what it was made of.
 */
static bool
takes_element(Relation index, const BfQuestion *question)
{
	BfElementType own;
	BfParts		parts;

	bf_live_elements(index, &own, &parts);
	if (question->row != NULL)
		return parts.count > 0 && bf_parts_take(&parts, &question->row->parts);
	return parts.count == 0 && bf_element_is_alike(&own, question->element);
}

/* Whether a lookup is for an element, or a row. */
static bool
has_element(const BfQuestion *question)
{
	return question->element != NULL || question->row != NULL;
}

/* What a lookup is for, for a message: a type, or those of a row's fields. */
static const char *
type_of_question(const BfQuestion *question)
{
	return question->row != NULL ? bf_parts_name(&question->row->parts) :
		format_type_be(question->element->type);
}

/*
 * Whether a filter is on the named column or, without one, takes the element.
 */
static bool
matches_question(Relation index, const BfQuestion *question)
{
	if (question->column != NULL)
		return bf_index_key_is_named(index, question->column);
	return !has_element(question) || takes_element(index, question);
}

/* Add an open live filter to a choice. */
static void
consider_index(Relation index, const BfQuestion *question, Choice *choice)
{
	BfIndexKey *key;

	if (!question->all && bf_is_partial(index))
	{
		choice->partial = true;
		return;
	}
	key = bf_index_key_of(index);
	choice->keys = lappend(choice->keys, key);
	if (matches_question(index, question))
		choice->meant = lappend(choice->meant, key);
}

/* Examine the indexes of a table, as they are at this moment. */
static void
look_at_indexes(Oid oid, const BfQuestion *question, Choice *choice)
{
	Relation	table = relation_open(oid, AccessShareLock);
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *cell;

	memset(choice, 0, sizeof(*choice));
	foreach(cell, indexes)
	{
		Relation	index = try_relation_open(lfirst_oid(cell),
											  AccessShareLock);
		bool		is_filter;

		if (index == NULL)
			continue;
		is_filter = bf_is_live_filter(index);
		if (is_filter)
			consider_index(index, question, choice);
		relation_close(index, is_filter ? NoLock : AccessShareLock);
	}
	list_free(indexes);
	relation_close(table, NoLock);
}

/*
 * Find the filters of a locked table that may be used.  Retry if a definition
 * changed meanwhile: when REINDEX CONCURRENTLY swaps two indexes, either may
 * look like the other.
 */
static void
choose_filters(Oid table, const BfQuestion *question, Choice *choice)
{
	for (int i = 0; i < TRIES; i++)
	{
		uint64		epoch = bf_epoch();

		look_at_indexes(table, question, choice);
		if (epoch == bf_epoch())
			break;
	}
}

/* The filters on a key, or all if it is NULL. */
static List *
filters_of(const Choice *choice, const BfIndexKey *wanted)
{
	List	   *filters = NIL;
	ListCell   *cell;

	foreach(cell, choice->keys)
	{
		const BfIndexKey *key = lfirst(cell);

		if (wanted == NULL || bf_index_key_equals(key, wanted))
			filters = lappend_oid(filters, key->index);
	}
	return filters;
}

/* Raise an error: a leaf has no filter on `wanted`, or none at all if NULL. */
pg_noreturn static void
refuse_missing(const BfPlace *place, const char *wanted, const Choice *choice)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 wanted == NULL ?
			 errmsg("table \"%s\" has no live filter",
					get_rel_name(place->table)) :
			 errmsg("table \"%s\" has no live filter on \"%s\"",
					get_rel_name(place->table), wanted),
			 place->elsewhere != NULL ?
			 errdetail("Its rows are %s.", place->elsewhere) :
			 choice->keys != NIL ?
			 errdetail("It has live filters on: %s.",
					   bf_index_key_list(choice->keys)) :
			 choice->partial ?
			 errdetail("A partial index does not cover all of its rows.") : 0,
			 place->elsewhere != NULL ?
			 errhint("Use the tables that hold the rows, one by one.") :
			 choice->keys != NIL ?
			 errhint("Specify one of these columns, or the index on an expression, or create a live filter with CREATE INDEX ... USING bloomfilter.") :
			 errhint("Create one with CREATE INDEX ... USING bloomfilter.")));
}

/*
 * The key that matches, or else the only one that would match with an element
 * of another type.  Raises an error if there are several.
 */
static const BfIndexKey *
the_key(Oid table, const BfQuestion *question, const Choice *choice)
{
	List	   *keys = choice->meant != NIL ? choice->meant :
		question->column == NULL ? choice->keys : NIL;
	ListCell   *cell;

	foreach(cell, keys)
	{
		if (bf_index_key_equals(linitial(keys), lfirst(cell)))
			continue;
		Assert(choice->meant != NIL || has_element(question));
		if (choice->meant == NIL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("no live filter of table \"%s\" holds elements of type %s",
							get_rel_name(table),
							type_of_question(question)),
					 errdetail("Its live filters are on: %s.",
							   bf_index_key_list(keys)),
					 errhint("Cast the element to the type of one of these columns or expressions; for several columns use ROW(...).")));
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_PARAMETER),
				 errmsg("table \"%s\" has several live filters",
						get_rel_name(table)),
				 errdetail("They are on: %s.", bf_index_key_list(keys)),
				 has_element(question) && question->row == NULL ?
				 errhint("Specify the column, as in bf_live_contains(table, element, 'column'), or use the index in place of the table.") :
				 errhint("Use the index in place of the table.")));
	}
	return keys == NIL ? NULL : linitial(keys);
}

/*
 * The key of a lookup in a table: that of its own filters, or if none of them
 * matches, of its first leaf's.  check_element() refuses a key whose elements
 * are of another kind than the lookup's.
 */
static const BfIndexKey *
find_index_key(const BfQuestion *question, const BfPlace *first,
			   const Choice *leaf)
{
	const BfIndexKey *key = NULL;
	Choice		root = *leaf;

	if (first->table != question->rel)
		choose_filters(question->rel, question, &root);
	if (root.meant != NIL || leaf->meant == NIL)
		key = the_key(question->rel, question, &root);
	if (key == NULL)
		key = the_key(first->table, question, leaf);
	if (key == NULL)
		refuse_missing(first, question->column, leaf);
	return key;
}

/* Make a leaf. */
static BfLeaf *
make_leaf(const BfPlace *place, List *indexes)
{
	BfLeaf	   *leaf = palloc0(sizeof(BfLeaf));

	leaf->place = *place;
	leaf->indexes = indexes;
	return leaf;
}

/* Whether a filter of a table above covers a partition. */
static bool
is_covered(Oid table, const BfQuestion *question, const BfIndexKey *wanted)
{
	List	   *above = get_rel_relispartition(table) ?
		get_partition_ancestors(table) : NIL;
	ListCell   *cell;
	Choice		choice;

	foreach(cell, above)
	{
		choose_filters(lfirst_oid(cell), question, &choice);
		if (filters_of(&choice, wanted) != NIL)
			return true;
	}
	return false;
}

/* Add the leaves that could not be locked, without filters. */
static List *
add_out_of_reach(List *leaves, const List *places)
{
	ListCell   *cell;

	foreach(cell, places)
	{
		if (bf_rows_are_out_of_reach(lfirst(cell)))
			leaves = lappend(leaves, make_leaf(lfirst(cell), NIL));
	}
	return leaves;
}

/* The leaves of a table, each with the filters to use. */
static List *
leaves_of_table(const BfQuestion *question)
{
	List	   *places = bf_rows_places(question->rel);
	BfQuestion	any = {.all = question->all};
	const BfIndexKey *wanted = NULL;
	List	   *leaves = NIL;
	ListCell   *cell;

	foreach(cell, places)
	{
		BfPlace    *place = lfirst(cell);
		bool		is_first = leaves == NIL;
		List	   *indexes;
		Choice		choice;

		if (bf_rows_are_out_of_reach(place))
			continue;
		choose_filters(place->table, is_first ? question : &any, &choice);
		if (is_first && !question->all)
			wanted = find_index_key(question, place, &choice);
		indexes = filters_of(&choice, wanted);
		if (indexes == NIL && !question->all &&
			(place->elsewhere == NULL ? !place->leaving :
			 !is_covered(place->table, &any, wanted)))
			refuse_missing(place, bf_index_key_name(wanted), &choice);
		leaves = lappend(leaves, make_leaf(place, indexes));
	}
	return add_out_of_reach(leaves, places);
}

/* The index of a leaf that is below a partitioned index, locked; or none. */
static List *
index_below(Oid table, const List *below)
{
	Relation	rel = relation_open(table, NoLock);
	List	   *own = RelationGetIndexList(rel);
	List	   *result = NIL;
	ListCell   *cell;

	foreach(cell, own)
	{
		Relation	index = list_member_oid(below, lfirst_oid(cell)) ?
			try_relation_open(lfirst_oid(cell), AccessShareLock) : NULL;

		if (index == NULL)
			continue;
		result = lappend_oid(result, lfirst_oid(cell));
		relation_close(index, NoLock);
	}
	list_free(own);
	relation_close(rel, NoLock);
	return result;
}

/* The leaves of an index. */
static List *
leaves_of_index(const BfQuestion *question, Oid table)
{
	Relation	index = relation_open(question->rel, NoLock);
	List	   *leaves = NIL;
	List	   *places;
	List	   *below;
	ListCell   *cell;

	if (!bf_is_live_filter(index))
		refuse_relation(question->rel);
	if (question->column != NULL && !bf_index_key_is_named(index, question->column))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("live filter \"%s\" is not on column \"%s\"",
						RelationGetRelationName(index), question->column)));
	if (index->rd_rel->relkind == RELKIND_INDEX)
		leaves = list_make1(make_leaf(bf_rows_place(table, true),
									  list_make1_oid(question->rel)));
	else
	{
		/* Lock partitions before their indexes, too. */
		places = bf_rows_places(table);
		below = find_all_inheritors(question->rel, NoLock, NULL);
		foreach(cell, places)
		{
			BfPlace    *place = lfirst(cell);

			if (bf_rows_are_out_of_reach(place))
				continue;
			leaves = lappend(leaves,
							 make_leaf(place, index_below(place->table, below)));
		}
		leaves = add_out_of_reach(leaves, places);
	}
	relation_close(index, NoLock);
	return leaves;
}

/* The leaves of a locked index, without checking privileges. */
List *
bf_resolve_index(Oid index)
{
	BfQuestion	question = {.rel = index};

	return leaves_of_index(&question, IndexGetRelation(index, false));
}

/* The elements of an index, for a message. */
static const char *
type_of_index(Relation index)
{
	BfElementType own;
	BfParts		parts;

	bf_live_elements(index, &own, &parts);
	return parts.count > 0 ? bf_parts_name(&parts) :
		format_type_be(index->rd_opcintype[0]);
}

/*
 * Raise an error if the fields of a row have other names than the columns of an
 * index: they may be in another order.  The fields of ROW(...) are f1, f2, ...,
 * which are no names, unless the table has such columns.
 */
static void
check_names(Relation index, const BfRowType *row)
{
	BfIndexKey *key = NULL;

	for (int i = 0; i < bf_live_columns(index); i++)
	{
		const char *field = row->is_named ? bf_row_field(row, i) :
			bf_row_default_name(i + 1);

		if (!row->is_named &&
			get_attnum(index->rd_index->indrelid, field) == InvalidAttrNumber)
			continue;
		if (key == NULL)
			key = bf_index_key_of(index);
		if (strcmp(field, key->columns[i].name) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("field %d of the row is \"%s\", but column %d of live filter \"%s\" is \"%s\"",
							i + 1, field, i + 1,
							RelationGetRelationName(index), key->columns[i].name),
					 row->is_named ?
					 errhint("Give the fields in the order of the filter's columns, with their names, or without names as ROW(...).") :
					 errhint("The table has a column \"%s\", so give the fields with the names of the filter's columns, as in a row of a subquery.", field)));
	}
}

/* Raise an error if a filter holds elements of another kind. */
static void
check_element(Relation index, const BfQuestion *question)
{
	if (!takes_element(index, question))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("live filter \"%s\" holds elements of type %s, not %s",
						RelationGetRelationName(index), type_of_index(index),
						type_of_question(question)),
				 bf_live_columns(index) > 1 ?
				 errhint("Use ROW(...), with as many values of these types.") :
				 errhint("Cast the element.")));
	if (question->row != NULL)
		check_names(index, question->row);
}

/* Raise an error if a leaf's filters may not, or cannot, be used. */
static void
check_leaf(const BfLeaf *leaf, const BfQuestion *question, Oid named,
		   bool whole)
{
	ListCell   *cell;

	foreach(cell, leaf->indexes)
	{
		Relation	index = relation_open(lfirst_oid(cell), NoLock);

		if (!whole && !bf_rights_may_read_columns(named, index))
			bf_rights_refuse(named);
		if (has_element(question))
			check_element(index, question);
		if (!question->all)
			bf_live_check_columns(index);
		relation_close(index, NoLock);
	}
}

/*
 * Lock a relation, and find its leaves and the filters to use there: a list of
 * BfLeaf.  A leaf of a partitioned index that has no filter for it cannot be
 * looked up.
 */
List *
bf_resolve(const BfQuestion *question)
{
	Oid			rel = question->rel;
	char		relkind = get_rel_relkind(rel);
	bool		is_index = relkind == RELKIND_INDEX ||
		relkind == RELKIND_PARTITIONED_INDEX;
	Oid			table = is_index ? IndexGetRelation(rel, true) : rel;
	bool		whole;
	List	   *leaves;
	Choice		own;
	ListCell   *cell;

	if (relkind == '\0' || !OidIsValid(table))
		refuse_unknown(rel);
	if (!is_index && relkind != RELKIND_RELATION &&
		relkind != RELKIND_MATVIEW && relkind != RELKIND_PARTITIONED_TABLE)
		refuse_relation(rel);
	whole = bf_rights_check_table(table);

	/* The table first, as elsewhere. */
	LockRelationOid(table, AccessShareLock);
	if (is_index)
		LockRelationOid(rel, AccessShareLock);
	if (get_rel_relkind(rel) == '\0')
		refuse_unknown(rel);

	leaves = is_index ? leaves_of_index(question, table) :
		leaves_of_table(question);
	if (question->all)
		{
		choose_filters(table, question, &own);
		bf_rights_keep(leaves, table, own.keys, whole);
	}
	foreach(cell, leaves)
		check_leaf(lfirst(cell), question, table, whole);
	return leaves;
}

/* Keep a leaf's filters whose "no" is certain; an error if there are none. */
static void
keep_certain(BfLeaf *leaf)
{
	BfDoubt		doubt = BF_NOT_VALID;
	List	   *sure = NIL;
	Oid			last = InvalidOid;
	ListCell   *cell;

	if (leaf->place.elsewhere != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("no live filter covers the rows of \"%s\"",
						get_rel_name(leaf->place.table)),
				 errdetail("Its rows are %s.", leaf->place.elsewhere),
				 errhint("Use the tables that hold the rows, one by one, or build a filter of the rows with bf_agg.")));
	foreach(cell, leaf->indexes)
	{
		Relation	index = relation_open(lfirst_oid(cell), NoLock);
		const BfLive *live;

		last = lfirst_oid(cell);
		doubt = bf_live_doubt(index, &live);
		if (doubt == BF_SURE)
			sure = lappend_oid(sure, last);
		relation_close(index, NoLock);
	}
	if (leaf->indexes == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("partition \"%s\" has no matching live filter",
						get_rel_name(leaf->place.table))));
	if (sure == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("live filter \"%s\" %s", get_rel_name(last),
						bf_doubt_text(doubt)),
				 errhint("%s", bf_doubt_hint(doubt))));
	leaf->indexes = sure;
}

/*
 * Resolve a lookup whose "no" must be certain: 0A000 if rows are elsewhere,
 * 55000 if a leaf has no filter that is certain.
 */
List *
bf_resolve_certain(const BfQuestion *question)
{
	List	   *leaves = bf_resolve(question);
	ListCell   *cell;

	foreach(cell, leaves)
		keep_certain(lfirst(cell));
	return leaves;
}

/* The leaves that the snapshot sees, with filters that are certain. */
List *
bf_resolve_sure(Oid rel)
{
	BfQuestion	question = {.rel = rel};
	List	   *leaves = bf_resolve(&question);
	ListCell   *cell;

	if (leaves == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("\"%s\" has no partitions", get_rel_name(rel))));
	foreach(cell, leaves)
	{
		BfLeaf	   *leaf = lfirst(cell);

		/* Rows that the snapshot does not see are not required. */
		if (bf_rows_are_out_of_reach(&leaf->place))
			leaves = foreach_delete_current(leaves, cell);
		else
			keep_certain(leaf);
	}
	return leaves;
}
