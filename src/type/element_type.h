/*
 * element_type.h
 *	  The kind of element that SQL values are, and the filters that take them.
 */
#ifndef BLOOMEXT_ELEMENT_TYPE_H
#define BLOOMEXT_ELEMENT_TYPE_H

#include "fmgr.h"
#include "nodes/nodes.h"

#include "compat.h"
#include "strategy/filter.h"

/* How to convert the datum of an element to its kind. */
typedef enum BfForm
{
	BF_FORM_TEXT,
	BF_FORM_NAME,
	BF_FORM_BYTEA,
	BF_FORM_UUID,
	BF_FORM_MACADDR,
	BF_FORM_INET,
	BF_FORM_BOOL,
	BF_FORM_CHAR,
	BF_FORM_INT2,
	BF_FORM_INT4,
	BF_FORM_INT8,
	BF_FORM_OID,
	BF_FORM_DATE,
	BF_FORM_TIMESTAMP
} BfForm;

/* The type of a call site's element, determined once: in fn_extra. */
typedef struct BfElementType
{
	Oid			type;			/* as declared, for messages */
	BfKind		kind;
	BfForm		form;
	BfMeaning	meaning;		/* of a filter whose first element it is */
	bool		ignores_blanks; /* without trailing blanks for the filter */
	int16		typlen;
	bool		typbyval;
	char		typalign;
} BfElementType;

/* element_table.c */

/* A type whose values can be elements. */
typedef struct BfElementRow
{
	Oid			type;
	BfKind		kind;			/* what strategies take it for */
	BfForm		form;
	BfMeaning	meaning;		/* what those that may be equal share */
} BfElementRow;

extern const BfElementRow *bf_element_row(Oid type);
extern bool bf_type_can_be_element(Oid type);

/* element_hint.c */
extern const char *bf_expression_instead(Oid type, bool indexed,
										 const char *value);

/* element_type.c */
extern void bf_element_check_collation(const BfElementType *element,
									   Oid collation);
extern void bf_element_type(Oid type, Oid collation, BfElementType *element);
extern void bf_element_type_of(Oid type, Node *expression, Oid collation,
							   BfElementType *element);
pg_noreturn extern void bf_element_refuse_call(void);
extern void bf_element_type_of_argument(FunctionCallInfo fcinfo, int argument,
										bool array, BfElementType *element);
extern bool bf_element_is_alike(const BfElementType *left,
								const BfElementType *right);
extern bool bf_element_fits(const BfStrategy *strategy, BfFunnel funnel,
							const BfElementType *element);
extern bool bf_element_has_meaning(const BfElementType *element,
								   const BfPlan *plan);
extern BfMeaning bf_element_meaning_in(const BfElementType *element,
									   const BfHeader *header);
extern void bf_element_go_into(BfElementType *element, BfMeaning meaning);
extern BfFunnel bf_element_bind(const BfStrategy *strategy, BfFunnel funnel,
								const BfElementType *element);
extern BfFunnel bf_element_bind_to(const BfPlan *plan,
								   BfElementType *element);
#endif							/* BLOOMEXT_ELEMENT_TYPE_H */
