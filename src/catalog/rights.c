/*
 * rights.c
 *	  Is the caller allowed to know what a live filter holds?
 *
 * A filter reveals the contents of rows.  So the caller needs the right to
 * read the column, and no policy may hide rows, as the filter cannot apply
 * policies.  As in a query, privileges are checked on the named relation, not
 * on its partitions or children, and before anything is locked or reported.
 *
 * An expression reveals any column in it, and a partial index whether its
 * condition holds: both require the right to read the whole table.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_authid.h"
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
 * Whether a user without the right to read the whole named table has the right
 * to read the column of an index, of that table or one below it.
 */
static bool
may_read_column(Oid named, Relation index, Oid user)
{
	AttrNumber	column = index->rd_index->indkey.values[0];
	char	   *name;

	if (column == 0 || bf_is_partial(index))
		return false;
	name = get_attname(index->rd_index->indrelid, column, false);
	column = get_attnum(named, name);
	pfree(name);
	return column != InvalidAttrNumber &&
		pg_attribute_aclcheck(named, column, user,
							  ACL_SELECT) == ACLCHECK_OK;
}

/* Whether the caller has the right to read the column of an index. */
bool
bf_rights_may_read_column(Oid named, Relation index)
{
	return may_read_column(named, index, GetUserId());
}

/*
 * Whether a plan for a query of the named table may depend on the contents of
 * an index: plans are made, and may be shown, before privileges are checked.
 */
bool
bf_rights_may_plan(Oid named, Relation index, Oid user)
{
	return pg_class_aclcheck(named, user, ACL_SELECT) == ACLCHECK_OK ||
		may_read_column(named, index, user);
}

/*
 * Whether the caller may see statistics of an index on a column of a table;
 * column 0 is an expression, or a partial index.
 */
bool
bf_rights_may_see_statistics(Oid table, AttrNumber column)
{
	bool		missing = false;	/* is not an error */

	if (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS))
		return true;
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		return false;
	return pg_class_aclcheck_ext(table, GetUserId(), ACL_SELECT,
								 &missing) == ACLCHECK_OK ||
		(column != InvalidAttrNumber &&
		 pg_attribute_aclcheck_ext(table, column, GetUserId(), ACL_SELECT,
								   &missing) == ACLCHECK_OK);
}

/*
 * Whether an index of a table below the named one is on a column of the named
 * one, or on the expression of one of its indexes.
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
	if (key->column != NULL)
		return get_attnum(named, key->column) != InvalidAttrNumber;
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
				(whole || bf_rights_may_read_column(named, index)))
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
