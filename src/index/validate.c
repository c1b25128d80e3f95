/*
 * validate.c
 *	  amvalidate: does an operator class fit the access method?
 *
 * The filter hashes the bytes of a value, as its type prescribes.  So an
 * operator class is no more than a type whose values can be elements, and the
 * equality for which the filter can exclude rows.  That must be the type's own
 * equality, by which equal values have equal bytes.  There are no support
 * functions.  The operators of a family all have the class's type on their
 * left.  On their right they may have another type whose equal values have the
 * same hashes, as integers of all widths do.
 *
 * The class for anyelement matches all other types, so that we can refuse them
 * with a hint.  It has an operator only because the syntax requires one.
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "index/index.h"

#define EQUALITY	1

/* What is being validated, for messages. */
typedef struct Class
{
	const char *name;
	Oid			type;			/* on the left of its operators */
	bool		has_own;		/* is it on the right of one as well? */
	bool		valid;
} Class;

/* Report a problem of an operator class. */
static void
report_problem(Class *class, const char *what)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" of access method bloomfilter %s",
					class->name, what)));
	class->valid = false;
}

/* Whether values of two types that are equal have the same hash. */
static bool
hash_alike(Oid type, Oid other_type)
{
	BfElementType element;
	BfElementType other;

	if (type == other_type)
		return true;
	if (!bf_type_can_be_element(type) || !bf_type_can_be_element(other_type))
		return false;
	bf_element_type(type, InvalidOid, &element);
	bf_element_type(other_type, InvalidOid, &other);
	return bf_element_is_alike(&element, &other);
}

/* Whether an operator is the btree equality of the type. */
static bool
is_equality(Class *class, Form_pg_amop member)
{
	TypeCacheEntry *type = lookup_type_cache(class->type,
											 TYPECACHE_BTREE_OPFAMILY);

	return member->amopopr == get_opfamily_member(type->btree_opf, class->type,
												  member->amoprighttype,
												  BTEqualStrategyNumber) &&
		check_amop_signature(member->amopopr, BOOLOID, class->type,
							 member->amoprighttype);
}

/* Check that an operator is an equality of the type. */
static void
check_operator(Class *class, Form_pg_amop member)
{
	class->has_own |= member->amoprighttype == class->type;
	if (member->amopstrategy != EQUALITY ||
		member->amoppurpose != AMOP_SEARCH ||
		member->amoplefttype != class->type ||
		!hash_alike(class->type, member->amoprighttype))
		report_problem(class, psprintf("contains operator %s, which is not a search operator for the type of the class",
									   format_operator(member->amopopr)));
	else if (!is_equality(class, member))
		report_problem(class, psprintf("contains operator %s, which is not the type's own equality",
									   format_operator(member->amopopr)));
}

/* amvalidate */
bool
bflive_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	CatCList   *operators;
	CatCList   *functions;
	Class		class = {.valid = true};

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	class.name = pstrdup(NameStr(form->opcname));
	class.type = form->opcintype == ANYELEMENTOID ? TEXTOID : form->opcintype;
	operators = SearchSysCacheList1(AMOPSTRATEGY,
									ObjectIdGetDatum(form->opcfamily));
	functions = SearchSysCacheList1(AMPROCNUM,
									ObjectIdGetDatum(form->opcfamily));

	if (!bf_type_can_be_element(class.type))
		report_problem(&class, psprintf("is for type %s, which cannot be an element",
										format_type_be(class.type)));
	if (OidIsValid(form->opckeytype))
		report_problem(&class, "has a storage type");
	if (functions->n_members > 0)
		report_problem(&class, "contains support functions");
	for (int i = 0; i < operators->n_members; i++)
		check_operator(&class,
					   (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple));
	if (!class.has_own)
		report_problem(&class, "lacks the equality of its type");

	ReleaseCatCacheList(functions);
	ReleaseCatCacheList(operators);
	ReleaseSysCache(tuple);
	return class.valid;
}
