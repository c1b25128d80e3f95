/*
 * gate_scan.c
 *	  Execution of a gate (gate.c).
 *
 * The filter is probed when the first row of a scan is requested, and again
 * after each rescan.  Until a value passes the filter, rescans and changed
 * parameters are not passed to the child; then the child gets them all in one
 * rescan.  But a child that was scanned gets the first rescan after that
 * immediately, so that it does not keep pages pinned while values are absent:
 * VACUUM waits for pinned pages, and so does replay, until it cancels the
 * query.
 *
 * The gate raises no error that the child would not raise, except for damaged
 * pages: if the filter cannot be probed, the child is scanned.  A plan may be
 * executed long after it was made, so each execution checks, before its first
 * probe, whether the filter may be used.  Until then the filter is neither
 * opened nor locked, and we never wait for its lock.  A parallel worker does
 * not know what its transaction has added but not stored (deferred.c), so it
 * probes filters only if the transaction has not written anything.
 *
 * A gate probes while that pays, by its statistics (gate_pays.c); otherwise it
 * pauses.
 *
 * After a "maybe" the first row of the child, or its end, tells whether that
 * was a false alarm, if the child checks nothing but the filter's equality and
 * scans the whole table.  What was counted is added to alarms.c when
 * the execution ends.
 *
 * A slot of the child is returned as it is; so the gate describes its slots as
 * the child does.  WHERE CURRENT OF looks for the plan node that scans the
 * relation, and treats the gate as that node; this works because the gate's
 * scan slot is that of the child's scan.
 */
#include "postgres.h"

#include "compat.h"
#include COMPAT_EXPLAIN_HEADER
#include "access/detoast.h"
#include "access/genam.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "gate/gate.h"
#include "index/index.h"

/* Setting bloomext.enable_gate. */
bool		bf_gate_enabled = true;

/* Counts for EXPLAIN ANALYZE, which workers pass to the leader. */
#define CountAsked		InstrCountTuples2
#define CountAbsent		InstrCountFiltered1
#define CountSkipped	InstrCountFiltered2

/* Execution state of a gate */
typedef struct GateState
{
	CustomScanState css;
	PlanState  *child;
	ScanState  *scan;			/* of the relation: the child, or below it */
	const List *clauses;		/* OpExprs, in the order of the columns */
	List	   *values;			/* ExprStates; NIL: not prepared yet */
	bool		may_probe;
	BfGate		gate;			/* index: NULL if it is not open */
	uint64		epoch;			/* in which it was opened */

	bool		is_decided;		/* since the last rescan */
	bool		is_open;		/* the decision: scan the child */
	bool		is_behind;		/* has the child yet to be rescanned? */

	bool		knows_truth;	/* does a child without a row prove absence? */
	bool		awaits_truth;	/* after "maybe", until the child returned */
	BfAlarms	alarms;

	BfGateLookup lookup;		/* of statistics */
	int64		by_child;		/* blocks it read since the last decision */
	uint32		skipped;		/* scans without a probe */
} GateState;

/* Blocks that this backend has read so far. */
static inline int64
blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/* Blocks that this backend has examined, and read, so far. */
static inline BfGateCost
blocks_so_far(void)
{
	return (BfGateCost) {
		.looked_at = blocks_read() + pgBufferUsage.shared_blks_hit +
			pgBufferUsage.local_blks_hit,
		.read = blocks_read()
	};
}

/*
 * Whether an open index can be probed for the values of clauses, one for each
 * of its columns, by a plan that is made or executed now.
 */
bool
bf_gate_open(BfGate *gate, Relation index, const List *clauses)
{
	Oid			types[INDEX_MAX_KEYS];
	Oid			left;
	const ListCell *cell;

	if (!bf_gate_enabled || IsolationIsSerializable() ||
		!bf_is_live_filter(index) || !bf_live_is_for_plans(index) ||
		(IsParallelWorker() && TransactionIdIsValid(GetTopTransactionIdIfAny())) ||
		!bf_live_holds_elements(index) ||
		!bf_live_is_built(index) || !bf_live_has_known_format(index))
		return false;
	foreach(cell, clauses)
		op_input_types(((const OpExpr *) lfirst(cell))->opno, &left,
					   &types[foreach_current_index(cell)]);
	bf_parts_describe(types, list_length(clauses), &gate->element, &gate->parts);
	gate->index = index;
	return true;
}

/* Whether the filter may contain an element, made of the gate's parts. */
bool
bf_gate_may_contain(BfGate *gate, Datum element)
{
	BfLookupElement asked = {
		.element = &gate->element,
		.parts = &gate->parts,
		.value = element,
		.quietly = true
	};
	BfDoubt		doubt;

	return bf_live_may_contain(gate->index, &asked, NULL, &doubt);
}

/*
 * Whether a parameter has a value of its type.  A parameter of PL/pgSQL may be
 * a field that its record lacks now, which is an error only if a row is read.
 */
static bool
has_value(const Node *value, ParamListInfo params)
{
	const Param *param;
	ParamExternData workspace;

	value = bf_gate_bare_value(value);
	param = (const Param *) value;
	if (!IsA(value, Param) || param->paramkind != PARAM_EXTERN ||
		params == NULL || params->paramFetch == NULL)
		return true;
	return params->paramFetch(params, param->paramid, true,
							  &workspace)->ptype == param->paramtype;
}

/* Lock and open the filter; NULL if its lock is not free, or it is gone. */
static Relation
open_if_free(Oid oid)
{
	if (!ConditionalLockRelationOid(oid, AccessShareLock))
		return NULL;
	/* Other sessions may have disallowed its use. */
	AcceptInvalidationMessages();
	return try_relation_open(oid, NoLock);
}

/*
 * Open the filter, again if that was in another epoch: the rollback of a
 * subtransaction removes the file that it gave to the index.
 */
static void
reopen_filter(GateState *state)
{
	state->epoch = bf_epoch();
	if (state->gate.index != NULL)
		index_close(state->gate.index, NoLock);
	state->gate.index = open_if_free(state->lookup.kind.filter);
	state->may_probe = state->gate.index != NULL &&
		bf_gate_open(&state->gate, state->gate.index, state->clauses);
}

/* Prepare the first probe of an execution, if there may be any. */
static void
prepare_to_probe(GateState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);
	const ListCell *cell;

	foreach(cell, state->clauses)
	{
		Expr	   *value = lsecond(((const OpExpr *) lfirst(cell))->args);

		state->values = lappend(state->values, ExecInitExpr(value, ps));
		state->may_probe = state->may_probe &&
			has_value((Node *) value, ps->state->es_param_list_info);
	}
	if (state->may_probe)
		reopen_filter(state);
	MemoryContextSwitchTo(caller);
}

/* The statistics, updated with the reads of the child. */
static BfGateStats *
current_stats(GateState *state)
{
	BfGateStats *stats = bf_gate_stats(&state->lookup);

	stats->by_child += state->by_child;
	state->by_child = 0;
	return stats;
}

/* The index of a scan; NULL if it has none, or several. */
static Relation
index_of(const PlanState *scan)
{
	switch (nodeTag(scan))
	{
		case T_IndexScanState:
			return ((const IndexScanState *) scan)->iss_RelationDesc;
		case T_IndexOnlyScanState:
			return ((const IndexOnlyScanState *) scan)->ioss_RelationDesc;
		case T_BitmapIndexScanState:
			return ((const BitmapIndexScanState *) scan)->biss_RelationDesc;
		case T_BitmapHeapScanState:
			return index_of(outerPlanState(scan));
		default:
			return NULL;
	}
}

/* The pages of the index of a scan, or those that it reads. */
static BlockNumber
pages_of(const ScanState *scan)
{
	Relation	index = index_of(&scan->ps);

	if (index != NULL)
		return RelationGetNumberOfBlocks(index);
	return IsA(scan, SeqScanState) ?
		RelationGetNumberOfBlocks(scan->ss_currentRelation) : 1;
}

/*
 * The number of blocks of a filter, if they leave room for others in the
 * buffers; otherwise 0, as they do not stay there.
 */
static int64
blocks_that_stay(Relation index)
{
	int64		blocks = bf_live_end(bf_live_kept(index));
	int64		buffers = RelationUsesLocalBuffers(index) ? num_temp_buffers : NBuffers;

	return blocks <= buffers / 2 ? blocks : 0;
}

/* Begin a window; what that requires may have to be read from the catalogs. */
static BfGateStats *
start_window(GateState *state)
{
	BlockNumber pages = pages_of(state->scan);
	int64		filter = blocks_that_stay(state->gate.index);
	BfGateStats *stats = current_stats(state);

	bf_gate_start_window(stats, pages, filter);
	return stats;
}

/* The length of a value, of a type with variable length. */
static int64
size_of(const BfElementType *element, Datum value)
{
	return element->typlen == -1 ? toast_raw_datum_size(value) : 0;
}

/*
 * Evaluate the element that the child is to be scanned for, perhaps in `room`.
 * False if it must be scanned: a value is NULL, or to make the element could
 * raise an error.
 */
static bool
evaluate_element(GateState *state, BfPartsRoom *room, Datum *element)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	const BfParts *parts = &state->gate.parts;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	const ListCell *cell;

	foreach(cell, state->values)
	{
		int			i = foreach_current_index(cell);

		values[i] = ExecEvalExpr((ExprState *) lfirst(cell), econtext, &nulls[i]);
		if (nulls[i])
			return false;
	}
	return bf_parts_are_hashable(parts, values) &&
		bf_parts_element(parts, values, nulls, room, element);
}

/* Probe the filter.  Returns whether to scan the child. */
static bool
probe_filter(GateState *state, Datum element)
{
	BfGateCost	before = blocks_so_far();
	bool		found = bf_gate_may_contain(&state->gate, element);
	BfGateCost	after = blocks_so_far();
	BfGateStats *stats = current_stats(state);

	if (stats->asked == 0)
		stats = start_window(state);
	CountAsked(state, 1);
	CountAbsent(state, !found);
	state->awaits_truth = found && state->knows_truth;
	state->alarms.absent += !found;
	after.looked_at -= before.looked_at;
	after.read -= before.read;
	after.hashed = size_of(&state->gate.element, element);
	return bf_gate_note(stats, !found, after);
}

/* Whether to scan the child: always if it may have rows. */
static bool
wants_scan(GateState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext caller;
	bool		scan = true;
	BfPartsRoom room;
	Datum		element;

	if (!state->may_probe)
		return true;
	if (bf_gate_pauses(current_stats(state), &state->skipped))
	{
		CountSkipped(state, 1);
		return true;
	}
	if (state->values == NIL)
		prepare_to_probe(state);
	else if (state->epoch != bf_epoch())
		reopen_filter(state);
	if (!state->may_probe)
		return true;
	ResetExprContext(econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (evaluate_element(state, &room, &element))
		scan = probe_filter(state, element);
	MemoryContextSwitchTo(caller);
	return scan;
}

/* Pass the rescans that the child missed. */
static void
rescan_child(GateState *state)
{
	state->is_behind = false;
	ExecReScan(state->child);
}

/* Decide whether to scan the child, and prepare it for that. */
static void
decide_scan(GateState *state)
{
	state->is_decided = true;
	state->awaits_truth = false;
	state->is_open = wants_scan(state);
	if (state->is_open && state->is_behind)
		rescan_child(state);
}

/* Count what the first row of the child, or its end, says of a "maybe". */
static void
learn_truth(GateState *state, const TupleTableSlot *slot)
{
	state->awaits_truth = false;
	if (TupIsNull(slot))
		state->alarms.false_alarms++;
	else
		state->alarms.confirmed++;
}

/* ExecProcNode: the next row. */
static TupleTableSlot *
gate_next(PlanState *node)
{
	GateState  *state = (GateState *) node;
	TupleTableSlot *slot;
	int64		before;

	CHECK_FOR_INTERRUPTS();
	if (!state->is_decided)
		decide_scan(state);
	if (!state->is_open)
		return NULL;
	before = blocks_read();
	slot = ExecProcNode(state->child);
	state->by_child += blocks_read() - before;
	if (state->awaits_truth)
		learn_truth(state, slot);
	/* The slot of an index-only scan lacks the TID of the row. */
	if (IsA(state->scan, IndexOnlyScanState) && !TupIsNull(slot))
	{
		TupleTableSlot *row = state->scan->ss_ScanTupleSlot;

		row->tts_tid = ((IndexOnlyScanState *) state->scan)->ioss_ScanDesc->xs_heaptid;
		row->tts_tableOid = RelationGetRelid(state->scan->ss_currentRelation);
	}
	return slot;
}

/* ExecCustomScan */
static TupleTableSlot *
gate_exec(CustomScanState *node)
{
	return gate_next(&node->ss.ps);
}

/* The scan below a one-time filter, if there is one. */
static ScanState *
scan_of(PlanState *child)
{
	while (IsA(child, ResultState))
		child = outerPlanState(child);
	return (ScanState *) child;
}

/* BeginCustomScan */
static void
gate_begin(CustomScanState *node, EState *estate, int eflags)
{
	GateState  *state = (GateState *) node;
	PlanState  *ps = &node->ss.ps;
	CustomScan *plan = (CustomScan *) ps->plan;
	Relation	index;

	state->child = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	state->scan = scan_of(state->child);
	index = eflags & EXEC_FLAG_EXPLAIN_ONLY ? NULL : index_of(&state->scan->ps);
	state->clauses = plan->custom_exprs;
	state->lookup.kind = (BfGateKind) {
		.filter = linitial_oid(plan->custom_private),
		.index = index == NULL ? InvalidOid : RelationGetRelid(index),
		.scan = nodeTag(state->scan)
	};
	node->custom_ps = list_make1(state->child);
	node->ss.ss_ScanTupleSlot = state->scan->ss_ScanTupleSlot;
	ps->resultops = ExecGetResultSlotOps(state->child, &ps->resultopsfixed);
	ps->resultopsset = true;
	ps->ExecProcNode = gate_next;
	state->may_probe = bf_gate_enabled && !IsolationIsSerializable();
	state->knows_truth = lsecond_oid(plan->custom_private) != InvalidOid &&
		!state->scan->ps.plan->parallel_aware;
	if (state->knows_truth && state->may_probe && !(eflags & EXEC_FLAG_EXPLAIN_ONLY))
		bf_alarms_prepare();
}

/* EndCustomScan */
static void
gate_end(CustomScanState *node)
{
	GateState  *state = (GateState *) node;

	ExecEndNode(state->child);
	if (state->may_probe && state->by_child > 0)
		current_stats(state);
	if (state->gate.index == NULL)
		return;
	if (state->knows_truth && bf_alarms_prepare())
		bf_alarms_add(state->gate.index, &state->alarms);
	index_close(state->gate.index, NoLock);
}

/*
 * ReScanCustomScan.  The child gets the set of changed parameters as it is: a
 * scan only checks whether it is empty.
 */
static void
gate_rescan(CustomScanState *node)
{
	GateState  *state = (GateState *) node;
	PlanState  *ps = &node->ss.ps;

	/* As all scans do, so that none appears to be on a row. */
	if (!TTS_EMPTY(node->ss.ss_ScanTupleSlot))
		ExecClearTuple(node->ss.ss_ScanTupleSlot);
	if (state->child->chgParam == NULL)
	{
		state->child->chgParam = ps->chgParam;
		ps->chgParam = NULL;
	}
	else
		state->child->chgParam = bms_add_members(state->child->chgParam,
												 ps->chgParam);
	state->is_behind = true;
	if (state->is_decided && state->is_open)
		rescan_child(state);
	state->is_decided = false;
}

/* MarkPosCustomScan */
static void
gate_mark(CustomScanState *node)
{
	ExecMarkPos(((GateState *) node)->child);
}

/* RestrPosCustomScan */
static void
gate_restore(CustomScanState *node)
{
	ExecRestrPos(((GateState *) node)->child);
}

/* ExplainCustomScan */
static void
gate_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const GateState *state = (const GateState *) node;
	const NodeInstrumentation *counts = node->ss.ps.instrument;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												  &plan->scan.plan, ancestors);
	Oid			index = linitial_oid(plan->custom_private);

	ExplainPropertyText("Filter Index", get_rel_name(index), es);
	ExplainPropertyText("Filter Cond",
						deparse_expression((Node *) make_ands_explicit(plan->custom_exprs),
										   context, es->verbose, false), es);
	if (!es->analyze)
		return;
	ExplainPropertyUInteger("Asked", NULL, (uint64) counts->ntuples2, es);
	ExplainPropertyUInteger("Surely Absent", NULL, (uint64) counts->nfiltered1, es);
	ExplainPropertyUInteger("Skipped", NULL, (uint64) counts->nfiltered2, es);
	/* Of workers it is not known. */
	if (state->knows_truth && node->ss.ps.worker_instrument == NULL)
		ExplainPropertyUInteger("False Alarms", NULL, state->alarms.false_alarms, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = BF_GATE_NAME,
	.BeginCustomScan = gate_begin,
	.ExecCustomScan = gate_exec,
	.EndCustomScan = gate_end,
	.ReScanCustomScan = gate_rescan,
	.MarkPosCustomScan = gate_mark,
	.RestrPosCustomScan = gate_restore,
	.ExplainCustomScan = gate_explain
};

/* CreateCustomScanState */
static Node *
create_gate_state(CustomScan *plan)
{
	GateState  *state = palloc0(sizeof(GateState));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods bf_gate_methods = {
	.CustomName = BF_GATE_NAME,
	.CreateCustomScanState = create_gate_state
};
