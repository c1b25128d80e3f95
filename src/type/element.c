/*
 * element.c
 *	  SQL values as elements: which kind they are, and their bytes by a funnel.
 *
 * The kind follows from the argument's declared type, domains looked through.
 * A filter is bound to one funnel; the kinds that a funnel takes are told
 * here, and a value of another kind is an error, never a silent miss.
 *
 * Text whose equality is not that of its bytes (citext, a nondeterministic
 * collation) is refused: 'A' added and 'a' asked for would be a false
 * negative.  citext reaches our text functions by an implicit relabelling, so
 * we look through that too.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "compat.h"
#include "core/bytes.h"
#include "type/element.h"
#include "type/pieces.h"
#include "type/text.h"
#include "type/value.h"

static const char *const kind_names[BF_KINDS] = {
	[BF_KIND_TEXT] = "text",
	[BF_KIND_BYTEA] = "bytea",
	[BF_KIND_INT2] = "smallint",
	[BF_KIND_INT4] = "integer",
	[BF_KIND_INT8] = "bigint",
	[BF_KIND_UUID] = "uuid"
};

/* Kinds by what they have in common. */
#define IS_INTEGER(kind) \
	((kind) == BF_KIND_INT2 || (kind) == BF_KIND_INT4 || (kind) == BF_KIND_INT8)
#define IS_BYTES(kind) \
	((kind) == BF_KIND_BYTEA || (kind) == BF_KIND_UUID)

/* How far below an element other rows are requested, in bytes: some rows. */
#define LOOK_AHEAD	768
#define CACHE_LINE	64

/* What a funnel holds, in SQL's words. */
static const char *
funnel_holds(BfFunnel funnel)
{
	switch (funnel)
	{
		case BF_FUNNEL_UTF8:
		case BF_FUNNEL_UTF16:
			return "text";
		case BF_FUNNEL_BYTES:
			return "bytea";
		case BF_FUNNEL_INT:
			return "integer";
		case BF_FUNNEL_LONG:
			return "bigint";
		case BF_FUNNEL_UNBOUND:
			break;
	}
	return "no";
}

/* Describe an element type, or raise that it cannot be one. */
void
bf_element_type(Oid type, Oid collation, BfElementType *element)
{
	Oid			base = getBaseType(type);

	element->type = type;
	element->is_name = base == NAMEOID;
	switch (base)
	{
		case TEXTOID:
		case VARCHAROID:
		case NAMEOID:
			element->kind = BF_KIND_TEXT;
			break;
		case BYTEAOID:
			element->kind = BF_KIND_BYTEA;
			break;
		case INT2OID:
			element->kind = BF_KIND_INT2;
			break;
		case INT4OID:
			element->kind = BF_KIND_INT4;
			break;
		case INT8OID:
			element->kind = BF_KIND_INT8;
			break;
		case UUIDOID:
			element->kind = BF_KIND_UUID;
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("type %s cannot be an element of a bloom filter",
							format_type_be(type)),
					 errhint("Elements are text, bytea, smallint, integer, bigint or uuid: cast it to one of these, e.g. ...::text.")));
	}

	if (element->kind == BF_KIND_TEXT && OidIsValid(collation) &&
		!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for bloom filters"),
				 errdetail("Texts that are equal under such a collation have different bytes, and so different bits."),
				 errhint("Use ...::text COLLATE \"C\", after whatever normalization makes equal texts the same.")));
	get_typlenbyvalalign(type, &element->typlen, &element->typbyval,
						 &element->typalign);
}

/*
 * Describe an element by the expression that gives it: a text argument is what
 * it was before it was silently taken for text.
 */
void
bf_element_type_of(Oid type, Node *expression, Oid collation,
				   BfElementType *element)
{
	if (type == TEXTOID && expression != NULL)
	{
		while (IsA(expression, RelabelType) &&
			   ((RelabelType *) expression)->relabelformat == COERCE_IMPLICIT_CAST)
			expression = (Node *) ((RelabelType *) expression)->arg;
		type = exprType(expression);
	}
	bf_element_type(type, collation, element);
}

/*
 * Describe the element, or array of elements, that a function is called with.
 * An array may be text that spells an array of text: see literal.c.
 */
void
bf_element_type_of_argument(FunctionCallInfo fcinfo, int argument, bool array,
							BfElementType *element)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argument);
	Node	   *call = (Node *) fcinfo->flinfo->fn_expr;
	List	   *arguments = NIL;
	bool		literal = array && type == TEXTOID;

	if (array && !literal)
		type = get_element_type(getBaseType(type));
	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of an element");
	if (IsA(call, FuncExpr))
		arguments = ((FuncExpr *) call)->args;
	else if (IsA(call, OpExpr))
		arguments = ((OpExpr *) call)->args;
	bf_element_type_of(type,
					   (!array || literal) && argument < list_length(arguments) ?
					   list_nth(arguments, argument) : NULL,
					   PG_GET_COLLATION(), element);
	if (literal)
		element->type = TEXTOID;
}

/* Whether elements are of the same kind, integers of whatever width. */
bool
bf_element_is_alike(const BfElementType *left, const BfElementType *right)
{
	return left->kind == right->kind ||
		(IS_INTEGER(left->kind) && IS_INTEGER(right->kind));
}

/* Whether elements of a kind can be in a filter of a (bound) funnel. */
static bool
funnel_takes(const BfStrategy *strategy, BfFunnel funnel, BfKind kind)
{
	switch (funnel)
	{
		case BF_FUNNEL_UTF8:
		case BF_FUNNEL_UTF16:
			/* Where integers go as text, they go wherever text goes. */
			return kind == BF_KIND_TEXT ||
				(IS_INTEGER(kind) && strategy->funnels[kind] == funnel);
		case BF_FUNNEL_BYTES:
			return IS_BYTES(kind) && strategy->funnels[kind] == funnel;
		case BF_FUNNEL_INT:
		case BF_FUNNEL_LONG:
			return IS_INTEGER(kind);
		case BF_FUNNEL_UNBOUND:
			break;
	}
	return false;
}

/* Whether a filter of a strategy may be bound to a funnel of such elements. */
bool
bf_element_fits(const BfStrategy *strategy, BfFunnel funnel,
				const BfElementType *element)
{
	return bf_strategy_takes_funnel(strategy, funnel) &&
		funnel_takes(strategy, funnel, element->kind);
}

/*
 * The funnel by which elements of this type go into, or are looked up in, a
 * filter: the one it is bound to, or else the kind's own.  Raises 22023 where
 * the filter holds another kind.
 */
BfFunnel
bf_element_bind(const BfStrategy *strategy, BfFunnel funnel,
				const BfElementType *element)
{
	if (funnel == BF_FUNNEL_UNBOUND)
	{
		funnel = strategy->funnels[element->kind];
		if (funnel == BF_FUNNEL_UNBOUND)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("strategy \"%s\" does not take %s elements",
							strategy->name, kind_names[element->kind])));
	}
	else if (!funnel_takes(strategy, funnel, element->kind))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter holds %s elements, not %s",
						funnel_holds(funnel), kind_names[element->kind]),
				 errhint("Cast the element, or build the filter of the other kind.")));
	return funnel;
}

/* The integer in a datum of an integer kind. */
static int64
integer_value(BfKind kind, Datum value)
{
	switch (kind)
	{
		case BF_KIND_INT2:
			return DatumGetInt16(value);
		case BF_KIND_INT4:
			return DatumGetInt32(value);
		default:
			return DatumGetInt64(value);
	}
}

/*
 * Hash text, or an integer's decimal text, by a funnel of text.  What is made
 * on the way is freed, unless the strategy has yet to read it.
 */
static void
hash_text(const BfStrategy *strategy, BfFunnel funnel, BfKind kind,
		  Datum value, BfHash *hash)
{
	void	   *text;
	const unsigned char *bytes;
	const unsigned char *converted;
	size_t		length;

	if (kind == BF_KIND_TEXT)
	{
		text = PG_DETOAST_DATUM_PACKED(value);
		length = VARSIZE_ANY_EXHDR(text);
		bytes = (unsigned char *) VARDATA_ANY(text);
	}
	else
	{
		text = palloc(MAXINT8LEN + 1);
		length = pg_lltoa(integer_value(kind, value), text);
		bytes = text;
	}
	converted = funnel == BF_FUNNEL_UTF16 ?
		bf_text_as_utf16(bytes, &length, strategy->utf16_is_marked) :
		bf_text_as_utf8(bytes, &length);
	bf_hash_bytes(strategy, converted, length, hash);
	if (!strategy->hash_is_complete)
		return;
	if (converted != bytes)
		pfree((void *) converted);
	if (text != DatumGetPointer(value))
		pfree(text);
}

/*
 * Request the memory of the rows that probably come next.  Heap pages are
 * filled from their end, so a scan's elements lie one below the other; the
 * processor, busy with a filter's bits, does not see that by itself.  Measured:
 * a fifth of bf_agg's time.  For elements from elsewhere it is an idle hint.
 */
static inline void
prefetch_next_rows(Datum element)
{
	__builtin_prefetch(DatumGetPointer(element - LOOK_AHEAD));
	__builtin_prefetch(DatumGetPointer(element - LOOK_AHEAD - CACHE_LINE));
}

/*
 * Hash an element by a funnel that takes its kind.  False where the value
 * cannot be in such a filter at all: a bigint beyond the range of an int.
 */
bool
bf_element_hash(const BfStrategy *strategy, BfFunnel funnel,
				const BfElementType *element, Datum value, BfHash *hash)
{
	if (!element->typbyval)
		prefetch_next_rows(value);
	switch (funnel)
	{
		case BF_FUNNEL_UTF8:
		case BF_FUNNEL_UTF16:
			if (element->is_name)
				value = DirectFunctionCall1(name_text, value);
			hash_text(strategy, funnel, element->kind, value, hash);
			return true;

		case BF_FUNNEL_BYTES:
			if (element->kind == BF_KIND_UUID)
				bf_hash_bytes(strategy, DatumGetUUIDP(value)->data, UUID_LEN, hash);
			else
			{
				struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

				bf_hash_bytes(strategy, DatumGetBfBytes(bytes),
						   VARSIZE_ANY_EXHDR(bytes), hash);
			}
			return true;

		case BF_FUNNEL_INT:
		case BF_FUNNEL_LONG:
			{
				int64		integer = integer_value(element->kind, value);
				uint8		bytes[8];

				if (funnel == BF_FUNNEL_INT &&
					(integer < PG_INT32_MIN || integer > PG_INT32_MAX))
					return false;
				bf_store_le64(bytes, (uint64) integer);
				bf_hash_bytes(strategy, bytes, funnel == BF_FUNNEL_INT ? 4 : 8, hash);
				return true;
			}

		case BF_FUNNEL_UNBOUND:
			break;
	}
	elog(ERROR, "unexpected funnel %d", funnel);
	return false;
}

/* Raise that a bigint cannot be added to a filter of integers. */
void
bf_element_does_not_fit(Datum value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("filter holds integer elements, and %lld is out of their range",
					(long long) DatumGetInt64(value)),
			 errhint("Build the filter of bigint elements.")));
}
