/*
 * gate.h
 *	  What the planner's and the executor's part of a gate have in common.
 */
#ifndef BLOOMEXT_GATE_H
#define BLOOMEXT_GATE_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

#include "type/element_type.h"
#include "utils/rel.h"

/* What EXPLAIN calls it. */
#define BF_GATE_NAME	"Bloom Filter Gate"

/* A filter that is asked for values of one type. */
typedef struct BfGate
{
	Relation	index;
	BfElementType element;
} BfGate;

/* What gates have learnt of is of a kind. */
typedef struct BfGateKind
{
	Oid			filter;
	Oid			index;			/* by which the child finds its rows, or 0 */
	NodeTag		scan;			/* the child's state */
} BfGateKind;

/* What a question took: blocks of shared and local buffers, and bytes. */
typedef struct BfGateCost
{
	int64		looked_at;
	int64		read;			/* of these, from outside of the buffers */
	int64		hashed;			/* bytes of the value */
} BfGateCost;

/* What was learnt.  A window is some questions in turn, after which it is decided. */
typedef struct BfGateLearnt
{
	BfGateKind	kind;			/* hash key */
	uint32		asked;			/* questions of the window, and their answers */
	uint32		absent;
	uint32		sampled;		/* of these, how many scans were made */
	double		scan;			/* what one costs in memory */
	int64		looked_at;		/* blocks of the filter */
	int64		by_filter;		/* of these, read */
	int64		hashed;			/* bytes */
	double		free_reads;		/* blocks of it that may be read and not counted */
	double		scans;			/* a sample of those that were made */
	double		by_child;		/* blocks that these have read */
	bool		asks;			/* has the last window paid? */
	uint32		pause;			/* scans to come that are not asked for */
	uint32		next_pause;
	uint32		patience;		/* after as many a statement tries for itself */
	uint32		skipped;		/* since the last window */
} BfGateLearnt;

/* A kind, and where what was learnt of it was found, unless it was forgotten since. */
typedef struct BfGateLookup
{
	BfGateKind	kind;
	BfGateLearnt *learnt;		/* NULL: nowhere yet */
	uint64		forgotten;
} BfGateLookup;

/* gate.c */
extern void bf_gate_init(void);

/* gate_pays.c */
extern void bf_gate_pays_init(void);
extern BfGateLearnt *bf_gate_learnt(BfGateLookup *lookup);
extern bool bf_gate_pauses(BfGateLearnt *learnt, uint32 *skipped);
extern void bf_gate_start_window(BfGateLearnt *learnt, BlockNumber pages,
								 int64 filter);
extern bool bf_gate_note(BfGateLearnt *learnt, bool absent, BfGateCost cost);

/* gate_scan.c */
extern bool bf_gate_enabled;	/* bloomext.enable_gate */
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
