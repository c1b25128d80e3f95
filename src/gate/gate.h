/*
 * gate.h
 *	  Declarations shared by the planner's and the executor's part of gates.
 */
#ifndef BLOOMEXT_GATE_H
#define BLOOMEXT_GATE_H

#include "nodes/extensible.h"
#include "nodes/primnodes.h"

#include "type/parts.h"
#include "utils/rel.h"

/* The name in EXPLAIN. */
#define BF_GATE_NAME	"Bloom Filter Gate"

/* A filter that is probed for values of certain types */
typedef struct BfGate
{
	Relation	index;
	BfElementType element;
	BfParts		parts;			/* of several columns */
} BfGate;

/* The kind of scan that statistics are kept for */
typedef struct BfGateKind
{
	Oid			filter;
	Oid			index;			/* by which the child finds its rows, or 0 */
	NodeTag		scan;			/* the child's state */
} BfGateKind;

/* The cost of a probe: blocks of shared and local buffers, and bytes */
typedef struct BfGateCost
{
	int64		looked_at;
	int64		read;			/* of these, from outside of the buffers */
	int64		hashed;			/* bytes of the value */
} BfGateCost;

/*
 * Statistics about a kind.  A window is a number of consecutive probes, after
 * which it is decided whether to go on.
 */
typedef struct BfGateStats
{
	BfGateKind	kind;			/* hash key */
	uint32		asked;			/* probes of the window, and their results */
	uint32		absent;
	uint32		sampled;		/* of these, scans that were executed */
	double		scan;			/* cost of one in memory */
	int64		looked_at;		/* blocks of the filter */
	int64		by_filter;		/* of these, read */
	int64		hashed;			/* bytes */
	double		free_reads;		/* reads of its blocks that do not count */
	double		scans;			/* executed, as a sample */
	double		by_child;		/* blocks that these have read */
	bool		asks;			/* has the last window paid? */
	uint32		pause;			/* next scans, executed without a probe */
	uint32		next_pause;
	uint32		patience;		/* scans until a statement tries again */
	uint32		skipped;		/* since the last window */
} BfGateStats;

/* A kind, and the pointer to its statistics, unless they were removed */
typedef struct BfGateLookup
{
	BfGateKind	kind;
	BfGateStats *stats;		/* NULL: not looked up yet */
	uint64		forgotten;
} BfGateLookup;

/* gate.c */
extern void bf_gate_init(void);

/* gate_pays.c */
extern void bf_gate_pays_init(void);
extern BfGateStats *bf_gate_stats(BfGateLookup *lookup);
extern bool bf_gate_pauses(BfGateStats *stats, uint32 *skipped);
extern void bf_gate_start_window(BfGateStats *stats, BlockNumber pages,
								 int64 filter);
extern bool bf_gate_note(BfGateStats *stats, bool absent, BfGateCost cost);

/* gate_scan.c */
extern bool bf_gate_enabled;	/* bloomext.enable_gate */
extern const CustomScanMethods bf_gate_methods;

/* A value without casts to types with the same bytes. */
static inline const Node *
bf_gate_bare_value(const Node *value)
{
	while (IsA(value, RelabelType))
		value = (const Node *) ((const RelabelType *) value)->arg;
	return value;
}

extern bool bf_gate_open(BfGate *gate, Relation index, const List *clauses);
extern bool bf_gate_may_contain(BfGate *gate, Datum element);

#endif							/* BLOOMEXT_GATE_H */
