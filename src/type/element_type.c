/*
 * element_type.c
 *	  The kind of element that SQL values are, and the filters that take them.
 *
 * The kind follows from the type of the argument, or the base type of a
 * domain.  A filter is bound to one funnel, which takes certain kinds.  A
 * value of another kind raises an error, as "not found" would be wrong.
 *
 * A strategy distinguishes kinds only, as other implementations do: a date,
 * for example, is the integer that Java's toEpochDay() returns.  A filter
 * made in SQL also has a meaning, set by its first element: for example that
 * it contains dates, and neither integers nor timestamps.  An imported filter
 * has no meaning, and accepts whatever its funnel takes.  The meaning of a
 * live filter follows from its column.
 *
 * Equal values must have equal bytes, or their type is refused.  So is text
 * whose equality is not that of its bytes (citext, a nondeterministic
 * collation): if 'A' was added, looking up 'a' would be a false negative.  So
 * functions take elements as anycompatible only: if there were another form
 * for text, the parser would cast a citext to text, and we could not detect
 * it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "type/element_type.h"
#include "type/value.h"

/* The kinds that are integers. */
#define IS_INTEGER(kind) \
	((kind) == BF_KIND_INT2 || (kind) == BF_KIND_INT4 || (kind) == BF_KIND_INT8)
#define IS_BYTES(kind) \
	((kind) == BF_KIND_BYTEA || (kind) == BF_KIND_UUID)

/* The elements of a funnel, as an SQL type. */
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

/* Raise that a type cannot be an element, with a hint for an alternative. */
pg_noreturn static void
refuse_type(Oid type, bool indexed)
{
	bool		is_array = OidIsValid(get_element_type(getBaseType(type)));
	const char *instead = bf_expression_instead(type, indexed, "...");

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("type %s cannot be an element of a bloom filter",
					format_type_be(type)),
			 is_array && !indexed ?
			 errhint("Use a function for arrays (bf_add_all, bf_contains_each, bf_live_contains_each, bf_redis_add_each, bf_redis_contains_each), or unnest the array.") :
			 type == RECORDOID ?
			 errhint("Use the columns of the row individually.") :
			 instead == NULL ?
			 errhint("Its operator = is not equality of values: use an expression of a supported type (text, bytea, integer, ...) for what you take for equal.") :
			 errhint("Use an expression that maps equal values to equal results of a supported type (text, bytea, integer, ...), e.g. %s.",
					 instead)));
}

/* Raise if texts are equal by a collation that have different bytes. */
void
bf_element_check_collation(const BfElementType *element, Oid collation)
{
	if (element->kind == BF_KIND_TEXT && OidIsValid(collation) &&
		!get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for bloom filters"),
				 errdetail("Texts that are equal under such a collation can have different bytes, and therefore different bits."),
				 errhint("Normalize the text so that equal texts have equal bytes, and use ...::text COLLATE \"C\".")));
}

/* Describe an element type, or raise that it cannot be one. */
static void
describe_type(Oid type, Oid collation, bool indexed, BfElementType *element)
{
	Oid			base = getBaseType(type);
	const BfElementRow *row = bf_element_row(base);

	if (row == NULL)
		refuse_type(type, indexed);
	element->type = type;
	element->kind = row->kind;
	element->form = row->form;
	element->meaning = row->meaning;
	bf_element_go_into(element, row->meaning);
	bf_element_check_collation(element, collation);
	get_typlenbyvalalign(type, &element->typlen, &element->typbyval,
						 &element->typalign);
}

/* Describe the elements of a live filter. */
void
bf_element_type(Oid type, Oid collation, BfElementType *element)
{
	describe_type(type, collation, true, element);
}

/* The type of an element, or of the elements of an array. */
static Oid
type_of_elements(Oid type)
{
	Oid			of_array = get_element_type(getBaseType(type));

	return OidIsValid(of_array) ? of_array : type;
}

/*
 * Describe an element by its type and by the expression (or NULL) for it or
 * for an array of such elements.
 *
 * The collation is that of the expression.  The call's, which is used if there
 * is no expression, is invalid if another argument, such as a name, has a
 * different one.
 */
void
bf_element_type_of(Oid type, Node *expression, Oid collation,
				   BfElementType *element)
{
	describe_type(type, expression == NULL ? collation : exprCollation(expression),
				  false, element);
}

/* Raise that a function was not called by an expression, which has types. */
void
bf_element_refuse_call(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("could not determine the type of an element"),
			 errdetail("The function was not called by an expression of a query, but for example by a selectivity estimator or the fast-path function call protocol."),
			 errhint("Call it in a query; an operator that uses it must not have an estimator like matchingsel.")));
}

/* Describe the element, or array of elements, that a function is given. */
void
bf_element_type_of_argument(FunctionCallInfo fcinfo, int argument, bool array,
							BfElementType *element)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, argument);
	Node	   *call = (Node *) fcinfo->flinfo->fn_expr;
	List	   *arguments = NIL;

	if (!OidIsValid(type))
		bf_element_refuse_call();
	if (array)
	{
		/* Columns of pg_stats are of type anyarray. */
		if (IsPolymorphicType(getBaseType(type)))
			refuse_type(type, false);
		type = type_of_elements(type);
	}
	if (IsA(call, FuncExpr))
		arguments = ((FuncExpr *) call)->args;
	else if (IsA(call, OpExpr))
		arguments = ((OpExpr *) call)->args;
	else if (IsA(call, ScalarArrayOpExpr))
		arguments = ((ScalarArrayOpExpr *) call)->args;
	else if (IsA(call, WindowFunc))
		arguments = ((WindowFunc *) call)->args;
	Assert(argument >= 0);
	bf_element_type_of(type,
					   argument < list_length(arguments) ?
					   list_nth(arguments, argument) : NULL,
					   PG_GET_COLLATION(), element);
}

/*
 * Whether elements of two meanings may be equal, and have equal bytes if they
 * are: texts go with char(n), both without trailing blanks.
 */
static bool
goes_with(BfMeaning left, BfMeaning right)
{
	return left == right ||
		(left == BF_MEANING_TEXT && right == BF_MEANING_BPCHAR) ||
		(left == BF_MEANING_BPCHAR && right == BF_MEANING_TEXT);
}

/* goes_with() for the meanings of elements. */
bool
bf_element_is_alike(const BfElementType *left, const BfElementType *right)
{
	return goes_with(left->meaning, right->meaning);
}

/* Whether elements of a kind can be in a filter of a (bound) funnel. */
static bool
funnel_takes(const BfStrategy *strategy, BfFunnel funnel, BfKind kind)
{
	switch (funnel)
	{
		case BF_FUNNEL_UTF8:
		case BF_FUNNEL_UTF16:
			/* If integers are hashed as text, they go wherever text goes. */
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

/* Whether a meaning is in a mask. */
static inline bool
is_one_of(BfMeaning meaning, uint32 mask)
{
	return (mask & (UINT32_C(1) << meaning)) != 0;
}

/* Whether a filter of a strategy may be bound to a funnel of such elements. */
bool
bf_element_fits(const BfStrategy *strategy, BfFunnel funnel,
				const BfElementType *element)
{
	return bf_strategy_takes_funnel(strategy, funnel) &&
		funnel_takes(strategy, funnel, element->kind) &&
		!is_one_of(element->meaning, strategy->refused_meanings);
}

/* Whether others write elements in several ways, and a filter is theirs. */
static bool
is_ambiguous(const BfElementType *element, const BfPlan *plan)
{
	return plan->header.meaning == BF_MEANING_UNKNOWN &&
		is_one_of(element->meaning,
				  plan->strategy->ambiguous_meanings[plan->header.funnel]);
}

/* Whether the meaning of a filter, if it is known, admits elements. */
bool
bf_element_has_meaning(const BfElementType *element, const BfPlan *plan)
{
	BfMeaning	meaning = (BfMeaning) plan->header.meaning;

	return meaning == BF_MEANING_UNKNOWN ? !is_ambiguous(element, plan) :
		meaning == BF_MEANING_OPEN || goes_with(meaning, element->meaning);
}

/*
 * The meaning of a filter after an element was added: the element's if it is
 * the first, else the filter's, even if unknown, as earlier elements are
 * unknown.
 */
BfMeaning
bf_element_meaning_in(const BfElementType *element, const BfHeader *header)
{
	return header->meaning == BF_MEANING_OPEN ||
		header->funnel == BF_FUNNEL_UNBOUND ?
		element->meaning : (BfMeaning) header->meaning;
}

/* Prepare elements for a filter of a meaning. */
void
bf_element_go_into(BfElementType *element, BfMeaning meaning)
{
	element->ignores_blanks = element->meaning == BF_MEANING_BPCHAR ||
		meaning == BF_MEANING_BPCHAR;
}

/* Raise that a filter holds elements of another type. */
pg_noreturn static void
refuse_kind(const char *held, const BfElementType *element)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("filter holds %s elements, not %s", held,
					format_type_be(getBaseType(element->type))),
			 errhint("Cast the element, or build a filter of elements of its type.")));
}

/* Raise that others write such elements in several ways. */
pg_noreturn static void
refuse_ambiguous(const BfPlan *plan, const BfElementType *element)
{
	const char *type = format_type_be(getBaseType(element->type));

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s elements of an imported filter of strategy \"%s\" are ambiguous",
					type, plan->strategy->name),
			 errdetail("Other programs write them as integers, in units that differ from program to program, and the filter does not record the unit."),
			 errhint("Look up the integer that the other program writes, for example microseconds since 1970 as a bigint.")));
}

/* Raise that a strategy has no elements of a type. */
pg_noreturn static void
refuse_meaning(const BfStrategy *strategy, const BfElementType *element)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("strategy \"%s\" does not support %s elements",
					strategy->name, format_type_be(getBaseType(element->type))),
			 errhint("Cast the element to integer, if the other program does so.")));
}

/*
 * The funnel by which elements of a type are added to, or looked up in, a
 * filter: the filter's own, or if it is unbound, the one for the kind.  Raises
 * 22023 if the filter holds another kind, and 0A000 if the strategy has no such
 * elements.
 */
BfFunnel
bf_element_bind(const BfStrategy *strategy, BfFunnel funnel,
				const BfElementType *element)
{
	if (is_one_of(element->meaning, strategy->refused_meanings))
		refuse_meaning(strategy, element);
	if (funnel == BF_FUNNEL_UNBOUND)
	{
		funnel = strategy->funnels[element->kind];
		if (funnel == BF_FUNNEL_UNBOUND)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("strategy \"%s\" does not support %s elements",
							strategy->name,
							format_type_be(getBaseType(element->type))),
					 errhint("Convert the element to %s, in the form that other programs hash, e.g. ...::text.",
							 strategy->funnels[BF_KIND_BYTEA] == BF_FUNNEL_UNBOUND ?
							 "text" : "text or bytea")));
	}
	else if (!funnel_takes(strategy, funnel, element->kind))
		refuse_kind(funnel_holds(funnel), element);
	return funnel;
}

/* The funnel of a filter for elements, whose meaning is checked, too. */
BfFunnel
bf_element_bind_to(const BfPlan *plan, BfElementType *element)
{
	const BfHeader *header = &plan->header;

	if (is_ambiguous(element, plan))
		refuse_ambiguous(plan, element);
	if (!bf_element_has_meaning(element, plan))
		refuse_kind(bf_meaning_name(header->meaning), element);
	bf_element_go_into(element, (BfMeaning) header->meaning);
	return bf_element_bind(plan->strategy, (BfFunnel) header->funnel, element);
}
