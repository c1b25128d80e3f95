/*
 * index_key.c
 *	  The key of a live filter: a column of its table, or an expression.
 *
 * A column is identified by its name, which is the same in the tables below.
 * Expressions are compared as trees, not as text, with columns of the same
 * names.
 */
#include "postgres.h"

#include "catalog/partition.h"
#include "catalog/pg_index.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "catalog/filters.h"
#include "type/arguments.h"

/* The key of an open live filter. */
BfIndexKey *
bf_index_key_of(Relation index)
{
	AttrNumber	column = index->rd_index->indkey.values[0];
	BfIndexKey *key = palloc0(sizeof(BfIndexKey));

	key->index = RelationGetRelid(index);
	key->table = index->rd_index->indrelid;
	if (column != 0)
		key->column = get_attname(key->table, column, false);
	else
	{
		bool		isnull;
		Datum		tree = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										   Anum_pg_index_indexprs, &isnull);

		/* As it is stored: simplifying it could call its functions. */
		key->expression = linitial(stringToNode(TextDatumGetCString(tree)));
	}
	return key;
}

/* The tables between which an expression is translated. */
typedef struct Carry
{
	Oid			from;
	Oid			to;
	bool		failed;
} Carry;

/* Renumber the columns of an expression for another table, by name. */
static Node *
carry_over(Node *node, void *context)
{
	Carry	   *carry = context;

	if (node != NULL && IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);
		char	   *name = var->varattno > 0 ?
			get_attname(carry->from, var->varattno, true) : NULL;

		var->varattno = name == NULL ? InvalidAttrNumber :
			get_attnum(carry->to, name);
		if (var->varattno <= 0)
			carry->failed = true;
		return (Node *) var;
	}
	return expression_tree_mutator(node, carry_over, context);
}

/* Whether two filters, perhaps of different tables, have the same key. */
bool
bf_index_key_equals(const BfIndexKey *left, const BfIndexKey *right)
{
	Carry		carry = {.from = right->table,.to = left->table};
	Node	   *expression;

	if (left->column != NULL || right->column != NULL)
		return left->column != NULL && right->column != NULL &&
			strcmp(left->column, right->column) == 0;
	if (left->table == right->table)
		return equal(left->expression, right->expression);
	expression = carry_over(right->expression, &carry);
	return !carry.failed && equal(left->expression, expression);
}

/* A key as text. */
const char *
bf_index_key_name(const BfIndexKey *key)
{
	List	   *columns;

	if (key->column != NULL)
		return key->column;
	columns = deparse_context_for(get_rel_name(key->table),
								  key->table);
	return deparse_expression(key->expression, columns, false, false);
}

/*
 * Whether an index is on the column with a name; or, if there is no such
 * column, is on an expression with that text, or has that name itself, or is a
 * partition of an index that has it.
 */
bool
bf_index_key_is_named(Relation index, const char *name)
{
	AttrNumber	column = get_attnum(index->rd_index->indrelid, name);
	List	   *above;
	ListCell   *cell;
	bool		named;

	if (column != InvalidAttrNumber)
		return index->rd_index->indkey.values[0] == column;
	if (index->rd_index->indkey.values[0] != 0)
		return false;
	named = strcmp(RelationGetRelationName(index), name) == 0 ||
		strcmp(bf_index_key_name(bf_index_key_of(index)), name) == 0;
	if (named || !index->rd_rel->relispartition)
		return named;
	above = get_partition_ancestors(RelationGetRelid(index));
	foreach(cell, above)
	{
		char	   *other = get_rel_name(lfirst_oid(cell));

		named = named || (other != NULL && strcmp(other, name) == 0);
	}
	list_free(above);
	return named;
}

/* The keys of filters, each once, for a message: title, url */
const char *
bf_index_key_list(const List *keys)
{
	StringInfoData list;
	List	   *names = NIL;
	const ListCell *cell;

	initStringInfo(&list);
	foreach(cell, keys)
	{
		char	   *name = unconstify(char *, bf_index_key_name(lfirst(cell)));

		if (list_member(names, makeString(name)))
			continue;
		names = lappend(names, makeString(name));
		bf_append_name(&list, name);
	}
	return list.data;
}
