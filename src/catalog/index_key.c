/*
 * index_key.c
 *	  The key of a live filter: a column of its table, an expression, or several
 *	  of these.
 *
 * A column is identified by its name, which is the same in the tables below,
 * whatever its number there.  Expressions are compared as trees, not as text,
 * with columns of the same names.  Several columns are compared in their order,
 * which the bytes of an element depend on.
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
#include "pages/index_options.h"
#include "type/arguments.h"

/* The expressions of an index, as they are stored; NIL if it has none. */
static List *
expressions_of(Relation index)
{
	bool		isnull;
	Datum		tree = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
									   Anum_pg_index_indexprs, &isnull);

	/* Simplifying them could call their functions. */
	return isnull ? NIL : stringToNode(TextDatumGetCString(tree));
}

/* The key of an open live filter. */
BfIndexKey *
bf_index_key_of(Relation index)
{
	int			count = bf_live_columns(index);
	BfIndexKey *key = palloc0(offsetof(BfIndexKey, columns) +
							  count * sizeof(BfKeyColumn));
	List	   *expressions = NIL;
	int			used = 0;

	key->index = RelationGetRelid(index);
	key->table = index->rd_index->indrelid;
	key->count = count;
	for (int i = 0; i < count; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];

		if (column != 0)
		{
			key->columns[i].name = get_attname(key->table, column, false);
			continue;
		}
		if (used == 0)
			expressions = expressions_of(index);
		key->columns[i].name = get_attname(key->index, i + 1, false);
		key->columns[i].expression = list_nth(expressions, used++);
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

/* Whether columns of the keys of two tables are the same. */
static bool
is_same_column(const BfKeyColumn *left, Oid left_table,
			   const BfKeyColumn *right, Oid right_table)
{
	Carry		carry = {.from = right_table,.to = left_table};
	Node	   *expression;

	if (left->expression == NULL || right->expression == NULL)
		return left->expression == right->expression &&
			strcmp(left->name, right->name) == 0;
	if (left_table == right_table)
		return equal(left->expression, right->expression);
	expression = carry_over(right->expression, &carry);
	return !carry.failed && equal(left->expression, expression);
}

/* Whether two filters, perhaps of different tables, have the same key. */
bool
bf_index_key_equals(const BfIndexKey *left, const BfIndexKey *right)
{
	bool		same = left->count == right->count;

	for (int i = 0; same && i < left->count; i++)
		same = is_same_column(&left->columns[i], left->table,
							  &right->columns[i], right->table);
	return same;
}

/* A column of a key as text. */
static const char *
column_name(const BfIndexKey *key, const BfKeyColumn *column)
{
	List	   *columns;

	if (column->expression == NULL)
		return column->name;
	columns = deparse_context_for(get_rel_name(key->table),
								  key->table);
	return deparse_expression(column->expression, columns, false, false);
}

/* A key as text; of several columns: (shop, article) */
const char *
bf_index_key_name(const BfIndexKey *key)
{
	StringInfoData list;

	if (key->count == 1)
		return column_name(key, &key->columns[0]);
	initStringInfo(&list);
	for (int i = 0; i < key->count; i++)
		bf_append_name(&list, column_name(key, &key->columns[i]));
	return psprintf("(%s)", list.data);
}

/*
 * Whether an index is on the single column with a name; or, if there is no such
 * column, is on an expression, or on several columns, with that text, or has
 * that name itself, or is a partition of an index that has it.
 */
bool
bf_index_key_is_named(Relation index, const char *name)
{
	AttrNumber	column = get_attnum(index->rd_index->indrelid, name);
	AttrNumber	single = bf_live_columns(index) > 1 ? InvalidAttrNumber :
		index->rd_index->indkey.values[0];
	List	   *above;
	ListCell   *cell;
	bool		named;

	if (column != InvalidAttrNumber)
		return single == column;
	if (single != InvalidAttrNumber)
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
