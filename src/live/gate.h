/*
 * gate.h
 *	  What the planner's and the executor's part of a gate have in common.
 */
#ifndef BLOOMEXT_GATE_H
#define BLOOMEXT_GATE_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

#include "type/element.h"
#include "utils/rel.h"

/* What EXPLAIN calls it. */
#define BF_GATE_NAME	"Bloom Filter Gate"

/* A filter that is asked for values of one type. */
typedef struct BfGate
{
	Relation	index;
	BfElementType element;
} BfGate;

/* gate.c: setting bloomext.enable_gate */
extern bool bf_gate_enabled;
extern void bf_gate_init(void);

/* gate_scan.c */
extern const CustomScanMethods bf_gate_methods;

/* What a value is, whatever type of the same bytes it is taken for. */
static inline const Node *
bf_gate_bare_value(const Node *value)
{
	while (IsA(value, RelabelType))
		value = (const Node *) ((const RelabelType *) value)->arg;
	return value;
}

extern bool bf_gate_open(BfGate *gate, Relation index, const OpExpr *clause);
extern bool bf_gate_may_contain(BfGate *gate, Datum value);

#endif							/* BLOOMEXT_GATE_H */
