/*
 * element_hint.c
 *	  Expressions to suggest for types that cannot be elements.
 *
 * Such an expression maps equal values to equal elements.  For an index it is
 * IMMUTABLE, and may depend on OIDs of objects, as the hash of an enum does:
 * a restored dump assigns other OIDs, but also rebuilds the index.  A stored
 * filter is not rebuilt, so the expression for one must not depend on OIDs.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "type/element_type.h"

/*
 * An expression for an object that a value refers to by its OID.  The value's
 * text would depend on search_path.
 */
static const char *
identity_instead(Oid type, const char *value)
{
	static const struct
	{
		Oid			type;
		const char *catalog;
	}			catalogs[] = {
		{REGCLASSOID, "pg_class"},
		{REGCOLLATIONOID, "pg_collation"},
		{REGCONFIGOID, "pg_ts_config"},
		{REGDICTIONARYOID, "pg_ts_dict"},
		{REGNAMESPACEOID, "pg_namespace"},
		{REGOPEROID, "pg_operator"},
		{REGOPERATOROID, "pg_operator"},
		{REGPROCOID, "pg_proc"},
		{REGPROCEDUREOID, "pg_proc"},
		{REGROLEOID, "pg_authid"},
		{REGTYPEOID, "pg_type"}
	};

	for (int i = 0; i < lengthof(catalogs); i++)
	{
		if (catalogs[i].type == type)
			return psprintf("(pg_identify_object('%s'::regclass, %s, 0)).identity",
							catalogs[i].catalog, value);
	}
	return NULL;
}

/* Whether values have OIDs of objects, which change in a restored dump. */
static bool
has_oids_of_objects(Oid type)
{
	TypeCacheEntry *entry;
	bool		has = false;

	check_stack_depth();
	type = getBaseType(type);
	if (OidIsValid(get_element_type(type)))
		return has_oids_of_objects(get_element_type(type));
	if (type_is_enum(type) || type == ACLITEMOID ||
		identity_instead(type, "...") != NULL)
		return true;
	if (type_is_multirange(type))
		type = get_multirange_range(type);
	if (type_is_range(type))
		return has_oids_of_objects(get_range_subtype(type));
	entry = lookup_type_cache(type, TYPECACHE_TUPDESC);
	for (int i = 0; entry->tupDesc != NULL && i < entry->tupDesc->natts; i++)
		has = has || (!TupleDescAttr(entry->tupDesc, i)->attisdropped &&
					  has_oids_of_objects(TupleDescAttr(entry->tupDesc, i)->atttypid));
	return has;
}

/*
 * Whether a type's hash function can be called for its values: that of xid
 * takes integers, to which an xid cannot be cast.
 */
static bool
can_be_called(Oid function, Oid type)
{
	Oid		   *arguments;
	int			count;

	if (!OidIsValid(function))
		return false;
	(void) get_func_signature(function, &arguments, &count);
	return can_coerce_type(1, &type, arguments, COERCION_IMPLICIT);
}

/* A function's name, qualified if necessary. */
static const char *
callable_name(Oid function)
{
	return quote_qualified_identifier(FunctionIsVisible(function) ? NULL :
									  get_namespace_name(get_func_namespace(function)),
									  get_func_name(function));
}

/*
 * Whether a type's operator = is not equality of its values: no index or hash
 * table can use it.  That of circle compares areas.
 */
static bool
equals_others(Oid type)
{
	return !OidIsValid(lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr) &&
		OidIsValid(OpernameGetOprid(list_make1(makeString("=")), type, type));
}

/*
 * An expression for the first element, the lower bound, or the first column,
 * which are equal for equal values; or else for the text.
 */
static const char *
part_instead(Oid type, bool indexed, const char *value)
{
	TupleDesc	columns = lookup_type_cache(type, TYPECACHE_TUPDESC)->tupDesc;

	if (OidIsValid(get_element_type(type)))
		return bf_expression_instead(get_element_type(type), indexed,
									 psprintf("(%s)[1]", value));
	if (type_is_multirange(type))
		type = get_multirange_range(type);
	if (type_is_range(type))
		return bf_expression_instead(get_range_subtype(type), indexed,
									 psprintf("lower(%s)", value));
	for (int i = 0; columns != NULL && i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (!column->attisdropped)
			return bf_expression_instead(column->atttypid, indexed,
										 psprintf("(%s).%s", value,
												  quote_identifier(NameStr(column->attname))));
	}
	return equals_others(type) ? NULL : psprintf("%s::text", value);
}

/* An alternative to an expression of a type; NULL if there is none. */
const char *
bf_expression_instead(Oid type, bool indexed, const char *value)
{
	TypeCacheEntry *entry;
	Oid			base = getBaseType(type);
	const char *identity;

	if (bf_type_can_be_element(base))
		return value;
	if (base != type)
		return bf_expression_instead(base, indexed,
									 psprintf("%s::%s", value, format_type_be(base)));
	if (type == NUMERICOID)
		return psprintf("trim_scale(%s)::text", value);
	if (type == CASHOID)
		return psprintf("cash_send(%s)", value);
	/* citext's equality is that by the default collation, whatever the value's. */
	if (IsBinaryCoercible(type, TEXTOID))
		return psprintf("lower(%s::text COLLATE \"default\")", value);
	if (IsPolymorphicType(type))
		return psprintf("%s::text::text[]", value);
	identity = identity_instead(type, value);
	if (identity != NULL)
		return indexed ? psprintf("%s::oid", value) : identity;
	entry = lookup_type_cache(type, TYPECACHE_HASH_EXTENDED_PROC);
	if (can_be_called(entry->hash_extended_proc, type) &&
		(indexed || !has_oids_of_objects(type)))
		return psprintf("%s(%s, 0)", callable_name(entry->hash_extended_proc),
						value);
	return part_instead(type, indexed, value);
}
