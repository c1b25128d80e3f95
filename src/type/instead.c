/*
 * instead.c
 *	  What to use instead of a value whose type cannot be an element.
 *
 * It is an expression that can be one, by which equal values stay equal.  For an
 * index it is IMMUTABLE, and may have the OIDs of objects in it, as the hash of
 * an enum has: when a dump that is restored gives them others, the index is built
 * anew.  A stored filter is not, so for that they may not be.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "type/element.h"

/*
 * What stands for an object that a value names by its OID.  Its text depends on
 * search_path.
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

/*
 * Whether a type's values have OIDs of objects in them, which a dump that is
 * restored gives others.
 */
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
 * Whether the function that a type is hashed by can be called for its values: that
 * of xid is one for integers, which no xid becomes.
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

/* A function's name, by which it is found. */
static const char *
callable_name(Oid function)
{
	return quote_qualified_identifier(FunctionIsVisible(function) ? NULL :
									  get_namespace_name(get_func_namespace(function)),
									  get_func_name(function));
}

/*
 * An expression of the first element, the lower bound, or the first column,
 * which are equal where the whole is; or else the text.
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
	return psprintf("%s::text", value);
}

/* What to use instead of an expression of that type. */
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
	if (IsBinaryCoercible(type, TEXTOID))
		return psprintf("lower(%s::text)", value);
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
