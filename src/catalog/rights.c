/*
 * rights.c
 *	  Is the caller allowed to know what a live filter holds?
 *
 * A filter reveals the contents of rows.  So the caller needs the right to
 * read all columns, and no policy may hide rows, as the filter cannot apply
 * policies.  As in a query, privileges are checked on the named relation, not
 * on its partitions or children, and before anything is locked or reported.
 *
 * An expression reveals any column in it, and a partial index whether its
 * condition holds: both require the right to read the whole table.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "catalog/filters.h"
#include "pages/index_options.h"

/* Raise 42501 for a table. */
void
bf_rights_refuse(Oid table)
{
	aclcheck_error(ACLCHECK_NO_PRIV,
				   get_relkind_objtype(get_rel_relkind(table)),
				   get_rel_name(table));
}

/*
 * Raise 42501 if the caller has no right to read any column of a table, or not
 * all rows.  Returns whether all columns may be read; otherwise each column is
 * to be checked.
 */
bool
bf_rights_check_table(Oid table)
{
	bool		whole = pg_class_aclcheck(table, GetUserId(),
										  ACL_SELECT) == ACLCHECK_OK;

	if (!whole &&
		pg_attribute_aclcheck_all(table, GetUserId(), ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		bf_rights_refuse(table);
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("cannot use a live filter of table \"%s\"",
						get_rel_name(table)),
				 errdetail("Row-level security may hide rows of the table that the filter would reveal."),
				 errhint("Use a role that is not subject to row-level security, or a SECURITY DEFINER function owned by such a role.")));
	return whole;
}

/*
 * Whether a user has the right to read the column of a named table that a
 * column of that table, or of one below it, is; 0 is an expression.
 */
static bool
may_read_column(Oid named, Relation index, AttrNumber column, Oid user)
{
	char	   *name;

	if (column == 0)
		return false;
	name = get_attname(index->rd_index->indrelid, column, false);
	column = get_attnum(named, name);
	pfree(name);
	return column != InvalidAttrNumber &&
		pg_attribute_aclcheck(named, column, user,
							  ACL_SELECT) == ACLCHECK_OK;
}

/*
 * Whether a user without the right to read the whole named table has the right
 * to read all columns of an index, of that table or one below it.
 */
static bool
may_read_columns(Oid named, Relation index, Oid user)
{
	bool		may = !bf_is_partial(index);

	for (int i = 0; may && i < bf_live_columns(index); i++)
		may = may_read_column(named, index, index->rd_index->indkey.values[i],
							  user);
	return may;
}

/* Whether the caller has the right to read all columns of an index. */
bool
bf_rights_may_read_columns(Oid named, Relation index)
{
	return may_read_columns(named, index, GetUserId());
}

/*
 * Whether a plan for a query of the named table may depend on the contents of
 * an index: plans are made, and may be shown, before privileges are checked.
 */
bool
bf_rights_may_plan(Oid named, Relation index, Oid user)
{
	return pg_class_aclcheck(named, user, ACL_SELECT) == ACLCHECK_OK ||
		may_read_columns(named, index, user);
}

/* Whether the caller may read all columns of an index, by its row. */
static bool
may_read_keys(HeapTuple index)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(index);
	bool		may = heap_attisnull(index, Anum_pg_index_indpred, NULL);
	bool		missing = false;	/* is not an error */

	for (int i = 0; may && i < form->indnkeyatts; i++)
		may = form->indkey.values[i] != InvalidAttrNumber &&
			pg_attribute_aclcheck_ext(form->indrelid, form->indkey.values[i],
									  GetUserId(), ACL_SELECT,
									  &missing) == ACLCHECK_OK;
	return may;
}

/*
 * Whether the caller may see statistics of an index, by its row of pg_index;
 * invalid: it was dropped.
 */
bool
bf_rights_may_see_statistics(HeapTuple index)
{
	bool		missing = false;	/* is not an error */
	Oid			table;

	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	if (!HeapTupleIsValid(index))
		return false;
	table = ((Form_pg_index) GETSTRUCT(index))->indrelid;
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		return false;
	return pg_class_aclcheck_ext(table, GetUserId(), ACL_SELECT,
								 &missing) == ACLCHECK_OK ||
		may_read_keys(index);
}

/* Whether a table has all columns of a key, none of which is an expression. */
static bool
has_columns(Oid table, const BfIndexKey *key)
{
	bool		has = true;

	for (int i = 0; has && i < key->count; i++)
		has = key->columns[i].expression == NULL &&
			get_attnum(table, key->columns[i].name) != InvalidAttrNumber;
	return has;
}

/*
 * Whether an index of a table below the named one is on columns of the named
 * one, or has the key of one of its indexes.
 */
static bool
is_of_named(Relation index, Oid named, const List *own)
{
	Oid			table = index->rd_index->indrelid;
	BfIndexKey *key;
	ListCell   *cell;

	if (table == named ||
		pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	if (bf_is_partial(index))
		return false;
	key = bf_index_key_of(index);
	if (has_columns(named, key))
		return true;
	foreach(cell, own)
	{
		if (bf_index_key_equals(lfirst(cell), key))
			return true;
	}
	return false;
}

/*
 * For a list of all filters, keep those of the leaves that the caller may know
 * of.  Raises an error if none is left.  `own` are the keys of the filters of
 * the named table.
 */
void
bf_rights_keep(const List *leaves, Oid named, const List *own, bool whole)
{
	bool		refused = false;
	bool		kept = false;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, leaves)
	{
		BfLeaf	   *leaf = lfirst(cell);
		List	   *permitted = NIL;

		foreach(inner, leaf->indexes)
		{
			Relation	index = relation_open(lfirst_oid(inner), NoLock);

			if (is_of_named(index, named, own) &&
				(whole || bf_rights_may_read_columns(named, index)))
				permitted = lappend_oid(permitted, lfirst_oid(inner));
			else
				refused = true;
			relation_close(index, NoLock);
		}
		leaf->indexes = permitted;
		kept = kept || permitted != NIL;
	}
	if (refused && !kept)
		bf_rights_refuse(named);
}
