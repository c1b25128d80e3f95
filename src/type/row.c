/*
 * row.c
 *	  Rows that are asked for: what their fields are, and the element that they
 *	  make.
 *
 * A row is a ROW(...), or of a composite type; each of its fields is a part of
 * an element (parts.c), by the rules for elements: a type that cannot be one,
 * or a nondeterministic collation, is refused.  The fields come in the order of
 * the filter's columns.  If they have names, these must be the columns', as
 * texts in another order would be looked up as other keys; the fields of
 * ROW(...) are f1, f2, ..., which are no names.
 *
 * A literal in a ROW(...) has no type yet.  It is read as a value of the type
 * of its column, as it would be in a comparison with that.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "type/row.h"

/* Whether a type is one of rows. */
bool
bf_type_is_row(Oid type)
{
	return type_is_rowtype(type);
}

/* The name that PostgreSQL gives the nth field of a ROW(...), which has none. */
const char *
bf_row_default_name(int number)
{
	return psprintf("f%d", number);
}

/* Whether the name of the nth field of a row is none. */
bool
bf_row_is_nameless(const char *field, int number)
{
	return field[0] == '\0' || strcmp(field, bf_row_default_name(number)) == 0;
}

/* Add a field to the parts of a row. */
static void
add_field(BfRowType *row, int number)
{
	Form_pg_attribute field = TupleDescAttr(row->fields, number);
	BfElementType element;

	if (field->attisdropped)
		return;
	if (row->parts.count == INDEX_MAX_KEYS)
		bf_parts_check_count(row->fields->natts);
	/* A literal may have a collation before it has a type. */
	bf_element_type_of(field->atttypid == UNKNOWNOID ? TEXTOID : field->atttypid,
					   NULL, field->attcollation, &element);
	if (field->atttypid == UNKNOWNOID)
		element.meaning = BF_MEANING_UNKNOWN;
	row->number[row->parts.count] = number;
	bf_parts_add(&row->parts, &element);
	row->is_named |= row->type != RECORDOID ||
		!bf_row_is_nameless(NameStr(field->attname), (int) row->parts.count);
}

/*
 * Describe a type of rows.  Raises 22023 if no filter has that number of
 * columns, and 0A000 if a field cannot be a part.
 */
static void
describe_rows(BfRowType *row, Oid type, int32 typmod)
{
	TupleDesc	fields = lookup_rowtype_tupdesc(type, typmod);
	MemoryContext caller;

	row->identity = 0;
	row->type = type;
	row->typmod = typmod;
	row->is_named = false;
	memset(&row->parts, 0, sizeof(row->parts));
	MemoryContextReset(row->context);
	caller = MemoryContextSwitchTo(row->context);
	row->fields = CreateTupleDescCopyConstr(fields);
	MemoryContextSwitchTo(caller);
	ReleaseTupleDesc(fields);
	for (int i = 0; i < row->fields->natts; i++)
		add_field(row, i);
	bf_parts_check_count((int) row->parts.count);
	row->identity = assign_record_type_identifier(type, typmod);
}

/* Describe the type of a row, unless it is the one that has been described. */
void
bf_row_describe_value(BfRowType *row, HeapTupleHeader value)
{
	Oid			type = HeapTupleHeaderGetTypeId(value);
	int32		typmod = HeapTupleHeaderGetTypMod(value);

	if (row->identity == 0 ||
		row->identity != assign_record_type_identifier(type, typmod))
		describe_rows(row, type, typmod);
}

/* Describe the type of ROW(...) with such expressions. */
void
bf_row_describe_fields(BfRowType *row, List *fields)
{
	TupleDesc	type = BlessTupleDesc(ExecTypeFromExprList(fields));

	describe_rows(row, type->tdtypeid, type->tdtypmod);
}

/* The name of the field of a part. */
const char *
bf_row_field(const BfRowType *row, int part)
{
	return NameStr(TupleDescAttr(row->fields, row->number[part])->attname);
}

/* Describe the columns of a filter, unless they were described before. */
static void
describe_columns(BfRowTarget *target, const Oid *types, uint32 count)
{
	BfElementType element;

	if (target->parts.count == count &&
		memcmp(target->type, types, count * sizeof(Oid)) == 0)
		return;
	bf_parts_describe(types, (int) count, &element, &target->parts);
	memcpy(target->type, types, count * sizeof(Oid));
	memset(target->input, 0, sizeof(target->input));
}

/*
 * Make rows into elements of a filter that takes them, whose columns have such
 * types.  Text goes without its trailing blanks where the column is of char(n).
 */
void
bf_row_aim(BfRowTarget *target, const BfRowType *row, const Oid *types)
{
	describe_columns(target, types, row->parts.count);
	target->made = row->parts;
	target->has_literals = false;
	for (uint32 i = 0; i < row->parts.count; i++)
	{
		const BfPart *column = &target->parts.part[i];
		BfPart	   *made = &target->made.part[i];

		if (made->meaning == BF_MEANING_UNKNOWN)
		{
			*made = *column;
			target->has_literals = true;
		}
		made->ignores_blanks |= column->ignores_blanks;
	}
}

/* The values of the parts of a row; false if one of them is NULL. */
bool
bf_row_deform(const BfRowType *row, HeapTupleHeader value, Datum *values)
{
	int			count = row->fields->natts;
	Datum		few[INDEX_MAX_KEYS];
	bool		few_nulls[INDEX_MAX_KEYS];
	bool		is_few = count <= INDEX_MAX_KEYS;
	Datum	   *fields = is_few ? few : palloc(count * sizeof(Datum));
	bool	   *nulls = is_few ? few_nulls : palloc(count * sizeof(bool));
	HeapTupleData tuple = {
		.t_len = HeapTupleHeaderGetDatumLength(value),
		.t_data = value
	};
	bool		whole = true;

	heap_deform_tuple(&tuple, row->fields, fields, nulls);
	for (uint32 i = 0; i < row->parts.count; i++)
	{
		values[i] = fields[row->number[i]];
		whole = whole && !nulls[row->number[i]];
	}
	if (!is_few)
	{
		pfree(nulls);
		pfree(fields);
	}
	return whole;
}

/* Read a literal as a value of a column's type. */
static Datum
read_literal(BfRowTarget *target, uint32 part, Datum literal)
{
	FmgrInfo   *input = &target->input[part];

	if (!OidIsValid(input->fn_oid))
	{
		Oid			function;

		getTypeInputInfo(target->type[part], &function, &target->parameter[part]);
		fmgr_info_cxt(function, input, target->context);
	}
	return InputFunctionCall(input, DatumGetCString(literal),
							 target->parameter[part], -1);
}

/* The element that the values of a row make, as bf_parts_bytes() makes it. */
Datum
bf_row_element(const BfRowType *row, BfRowTarget *target, Datum *values,
			   BfPartsRoom *room)
{
	for (uint32 i = 0; target->has_literals && i < row->parts.count; i++)
	{
		if (row->parts.part[i].meaning == BF_MEANING_UNKNOWN)
			values[i] = read_literal(target, i, values[i]);
	}
	return bf_parts_bytes(&target->made, values, room);
}
