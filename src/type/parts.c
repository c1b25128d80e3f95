/*
 * parts.c
 *	  Elements of several columns: their parts, and the bytes that these make.
 *
 * The element of several columns is a bytea, hashed as any other.  Each column
 * contributes a part:
 *
 *	  1 byte	what it is: its BfMeaning, of char(n) that of text
 *	  4 bytes	the length of what follows, little-endian
 *	  bytes		text as UTF-8, integers and what is stored as such as 8 bytes,
 *				little-endian, others as bf_shard takes them
 *
 * The length makes ('a1', '1') another element than ('a', '11'), and the first
 * byte makes 1 another one than the date of that number.  The bytes depend
 * neither on the strategy nor on the width of an integer, so that values that
 * are equal in SQL have the same, in any program (doc/format.md).
 *
 * An element has no NULL: a row with one is not in a filter, as no equality
 * finds it.
 *
 * A live filter of several columns knows the meaning of each of its parts
 * (meta.c), and is asked for rows or by query plans, both of whose parts are
 * compared with those (lookup.c).  A bytea does not say what its parts were
 * made of, so it is never taken for the element of such a filter.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/primnodes.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "core/bytes.h"
#include "type/arguments.h"
#include "type/element_hash.h"
#include "type/parts.h"

PG_FUNCTION_INFO_V1(bloomext_element);

/* The bytes before those of a part: what it is, and its length. */
#define PART_HEAD		5

/* Parts whose values are longer together may make too long an element. */
#define LONG_VALUES		((Size) MaxAllocSize / MAX_CONVERSION_GROWTH / 2)

/* Add a part for values of a type. */
void
bf_parts_add(BfParts *parts, const BfElementType *element)
{
	Assert(parts->count < INDEX_MAX_KEYS);
	parts->part[parts->count++] = (BfPart) {
		.kind = element->kind,
		.form = element->form,
		.meaning = element->meaning,
		.ignores_blanks = element->ignores_blanks
	};
}

/*
 * Describe the elements of columns of such types: the type of the element, and
 * its parts if there is more than one column.
 */
void
bf_parts_describe(const Oid *types, int count, BfElementType *element,
				  BfParts *parts)
{
	memset(parts, 0, sizeof(*parts));
	for (int i = 0; i < count; i++)
	{
		bf_element_type(types[i], InvalidOid, element);
		if (count > 1)
			bf_parts_add(parts, element);
	}
	if (count > 1)
		bf_element_type(BYTEAOID, InvalidOid, element);
}

/* Whether two elements have parts of the same meanings, or neither has any. */
bool
bf_parts_are_equal(const BfParts *left, const BfParts *right)
{
	if (left->count != right->count)
		return false;
	for (uint32 i = 0; i < left->count; i++)
	{
		if (left->part[i].meaning != right->part[i].meaning)
			return false;
	}
	return true;
}

/*
 * Whether a row of such parts may be asked for: each is of the same kind, or a
 * literal of no type yet.
 */
bool
bf_parts_take(const BfParts *parts, const BfParts *asked)
{
	if (parts->count != asked->count)
		return false;
	for (uint32 i = 0; i < parts->count; i++)
	{
		BfElementType own = {.meaning = parts->part[i].meaning};
		BfElementType other = {.meaning = asked->part[i].meaning};

		if (other.meaning != BF_MEANING_UNKNOWN &&
			!bf_element_is_alike(&own, &other))
			return false;
	}
	return true;
}

/* The kinds of parts, for a message: (text, integer) */
char *
bf_parts_name(const BfParts *parts)
{
	StringInfoData names;

	initStringInfo(&names);
	for (uint32 i = 0; i < parts->count; i++)
		bf_append_name(&names, parts->part[i].meaning == BF_MEANING_UNKNOWN ?
					   "unknown" : bf_meaning_name(parts->part[i].meaning));
	return psprintf("(%s)", names.data);
}

/* A part as an element of its own. */
static BfElementType
element_of_part(const BfPart *part)
{
	return (BfElementType) {
		.kind = part->kind,
		.form = part->form,
		.meaning = part->meaning,
		.ignores_blanks = part->ignores_blanks
	};
}

/* The funnel by which a part becomes bytes. */
static BfFunnel
funnel_of_part(const BfPart *part)
{
	switch ((BfKind) part->kind)
	{
		case BF_KIND_TEXT:
			return BF_FUNNEL_UTF8;
		case BF_KIND_INT2:
		case BF_KIND_INT4:
		case BF_KIND_INT8:
			return BF_FUNNEL_LONG;
		default:
			return BF_FUNNEL_BYTES;
	}
}

/* Whether a part's values have the header of a type of variable length. */
static bool
is_varlena(const BfPart *part)
{
	return part->form == BF_FORM_TEXT || part->form == BF_FORM_BYTEA ||
		part->form == BF_FORM_INET;
}

/* Whether bf_parts_bytes() is certain to raise no error for values. */
bool
bf_parts_are_hashable(const BfParts *parts, const Datum *values)
{
	Size		length = 0;

	for (uint32 i = 0; i < parts->count; i++)
	{
		BfElementType element = element_of_part(&parts->part[i]);

		if (is_varlena(&parts->part[i]))
			length += toast_raw_datum_size(values[i]);
		if (length > LONG_VALUES ||
			!bf_element_is_hashable(funnel_of_part(&parts->part[i]), &element,
									values[i]))
			return false;
	}
	return true;
}

/* Write a part; returns the end of it. */
static uint8 *
write_part(uint8 *to, const BfPart *part, BfElementBytes *bytes)
{
	to[0] = part->meaning == BF_MEANING_BPCHAR ? BF_MEANING_TEXT : part->meaning;
	bf_store_le32(to + 1, (uint32) bytes->length);
	memcpy(to + PART_HEAD, bytes->data, bytes->length);
	if (bytes->made != NULL)
		pfree(bytes->made);
	return to + PART_HEAD + bytes->length;
}

/*
 * The bytea that values, none of them NULL, make: in `room`, unless that is NULL
 * or too small.  Raises 54000 if it is too long.
 */
Datum
bf_parts_bytes(const BfParts *parts, const Datum *values, BfPartsRoom *room)
{
	BfElementBytes bytes[INDEX_MAX_KEYS];
	Size		size = VARHDRSZ;
	bytea	   *element;
	uint8	   *to;

	for (uint32 i = 0; i < parts->count; i++)
	{
		BfElementType type = element_of_part(&parts->part[i]);

		/* These funnels depend on no strategy, and take all values. */
		(void) bf_element_bytes(NULL, funnel_of_part(&parts->part[i]), &type,
								values[i], &bytes[i]);
		size = add_size(size, PART_HEAD + bytes[i].length);
	}
	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("an element of several columns exceeds %zu bytes",
						MaxAllocSize)));
	element = room != NULL && size <= sizeof(*room) ?
		(bytea *) room->bytes : palloc(size);
	SET_VARSIZE(element, size);
	to = (uint8 *) VARDATA(element);
	for (uint32 i = 0; i < parts->count; i++)
		to = write_part(to, &parts->part[i], &bytes[i]);
	return PointerGetDatum(element);
}

/* Raise 22023 for a number of parts that no filter has. */
void
bf_parts_check_count(int count)
{
	if (count < 2 || count > INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("an element of several columns has 2 to %d parts, not %d",
						INDEX_MAX_KEYS, count),
				 count == 1 ? errhint("Use the value itself.") : 0));
}

/* Describe the arguments of bf_element(). */
static void
describe_arguments(FunctionCallInfo fcinfo, BfParts *parts)
{
	BfElementType element;

	if (get_fn_expr_variadic(fcinfo->flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the parts of an element must not be given as an array"),
				 errhint("Give each part as an argument of its own.")));
	bf_parts_check_count(PG_NARGS());
	for (int i = 0; i < PG_NARGS(); i++)
	{
		if (get_fn_expr_argtype(fcinfo->flinfo, i) == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine the type of part %d of an element",
							i + 1),
					 errhint("Cast it to the type of its column.")));
		bf_element_type_of_argument(fcinfo, i, false, &element);
		bf_parts_add(parts, &element);
	}
}

/* bf_element(part, part, ...) -> bytea; NULL if a part is NULL */
Datum
bloomext_element(PG_FUNCTION_ARGS)
{
	BfParts    *parts = fcinfo->flinfo->fn_extra;
	Datum		values[INDEX_MAX_KEYS];

	if (parts == NULL)
	{
		parts = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(BfParts));
		describe_arguments(fcinfo, parts);
		fcinfo->flinfo->fn_extra = parts;
	}
	for (uint32 i = 0; i < parts->count; i++)
		values[i] = PG_GETARG_DATUM(i);
	PG_RETURN_DATUM(bf_parts_bytes(parts, values, NULL));
}
