/*
 * element_table.c
 *	  The types whose values can be elements, and what they are taken for.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "type/element_type.h"

static const BfElementRow elements[] = {
	{TEXTOID, BF_KIND_TEXT, BF_FORM_TEXT, BF_MEANING_TEXT},
	{VARCHAROID, BF_KIND_TEXT, BF_FORM_TEXT, BF_MEANING_TEXT},
	{BPCHAROID, BF_KIND_TEXT, BF_FORM_TEXT, BF_MEANING_BPCHAR},
	{NAMEOID, BF_KIND_TEXT, BF_FORM_NAME, BF_MEANING_TEXT},
	{BYTEAOID, BF_KIND_BYTEA, BF_FORM_BYTEA, BF_MEANING_BYTEA},
	{UUIDOID, BF_KIND_UUID, BF_FORM_UUID, BF_MEANING_UUID},
	{MACADDROID, BF_KIND_BYTEA, BF_FORM_MACADDR, BF_MEANING_MACADDR},
	{INETOID, BF_KIND_BYTEA, BF_FORM_INET, BF_MEANING_INET},
	{CIDROID, BF_KIND_BYTEA, BF_FORM_INET, BF_MEANING_INET},
	{BOOLOID, BF_KIND_INT2, BF_FORM_BOOL, BF_MEANING_BOOLEAN},
	{CHAROID, BF_KIND_INT2, BF_FORM_CHAR, BF_MEANING_CHAR},
	{INT2OID, BF_KIND_INT2, BF_FORM_INT2, BF_MEANING_INTEGER},
	{INT4OID, BF_KIND_INT4, BF_FORM_INT4, BF_MEANING_INTEGER},
	{INT8OID, BF_KIND_INT8, BF_FORM_INT8, BF_MEANING_INTEGER},
	{OIDOID, BF_KIND_INT8, BF_FORM_OID, BF_MEANING_OID},
	{DATEOID, BF_KIND_INT4, BF_FORM_DATE, BF_MEANING_DATE},
	{TIMESTAMPOID, BF_KIND_INT8, BF_FORM_TIMESTAMP, BF_MEANING_TIMESTAMP},
	{TIMESTAMPTZOID, BF_KIND_INT8, BF_FORM_TIMESTAMP, BF_MEANING_TIMESTAMPTZ}
};

/* The row of a base type; NULL if it cannot be an element. */
const BfElementRow *
bf_element_row(Oid type)
{
	for (int i = 0; i < lengthof(elements); i++)
	{
		if (elements[i].type == type)
			return &elements[i];
	}
	return NULL;
}

/* Whether values of a base type can be elements. */
bool
bf_type_can_be_element(Oid type)
{
	return bf_element_row(type) != NULL;
}
