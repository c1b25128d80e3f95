/*
 * element.h
 *	  SQL values as elements: which kind they are, and their bytes by a funnel.
 */
#ifndef BLOOMEXT_ELEMENT_H
#define BLOOMEXT_ELEMENT_H

#include "fmgr.h"
#include "nodes/nodes.h"

#include "compat.h"
#include "strategy/strategy.h"

/*
 * What a call site knows of its element argument, found out once and kept in
 * fn_extra.
 */
typedef struct BfElementType
{
	Oid			type;			/* as declared, for messages */
	BfKind		kind;
	bool		is_name;		/* a name, to be converted to text */
	int16		typlen;
	bool		typbyval;
	char		typalign;
} BfElementType;

extern void bf_element_type(Oid type, Oid collation, BfElementType *element);
extern void bf_element_type_of(Oid type, Node *expression, Oid collation,
							   BfElementType *element);
extern void bf_element_type_of_argument(FunctionCallInfo fcinfo, int argument,
										bool array, BfElementType *element);
extern bool bf_element_is_alike(const BfElementType *left,
								const BfElementType *right);
extern bool bf_element_fits(const BfStrategy *strategy, BfFunnel funnel,
							const BfElementType *element);
extern BfFunnel bf_element_bind(const BfStrategy *strategy, BfFunnel funnel,
								const BfElementType *element);
extern bool bf_element_hash(const BfStrategy *strategy, BfFunnel funnel,
							const BfElementType *element, Datum value,
							BfHash *hash);
pg_noreturn extern void bf_element_does_not_fit(Datum value);

#endif							/* BLOOMEXT_ELEMENT_H */
