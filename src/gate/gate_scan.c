/*
 * gate_scan.c
 *	  What a gate (gate.c) does when a plan is run.
 *
 * It asks when the first row of a scan is wanted, and again after each rescan.
 * Until the filter lets a value through, the child is not told of rescans and
 * of changed parameters, but told of all at once then.  A child that was scanned is
 * told of the next one at once, lest it keep pages pinned while values are absent:
 * VACUUM waits for those, and so does replay, until it cancels the query.
 *
 * Nothing is raised that the child would not raise, but for pages that are
 * damaged: whatever cannot be asked goes to the child.  A kept plan may be run long
 * after it was made, so that the filter may be asked at all is looked at in each
 * run, when the first question is due.  Not before, as until then the filter is
 * neither opened nor locked; nor is its lock waited for.  A worker of a parallel
 * plan does not know what its transaction added and did not store yet (deferred.c),
 * so it asks only where that has not written anything.
 *
 * A question costs Q and saves a scan of the child, C, where the value is absent,
 * which a share a of all are.  A gate asks while a * C > Q, as far as it has learnt
 * (gate_pays.c); else it pauses.
 *
 * A slot of the child is handed out as it is; so the gate says of its slots what
 * the child does.  WHERE CURRENT OF looks for the row in the scan of the relation,
 * which is what it takes the gate for: it has the slot of the child's scan.
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

/* EXPLAIN ANALYZE's counts, which workers hand to the leader as their plan's. */
#define CountAsked		InstrCountTuples2
#define CountAbsent		InstrCountFiltered1
#define CountSkipped	InstrCountFiltered2

/* A gate that is run. */
typedef struct GateState
{
	CustomScanState css;
	PlanState  *child;
	ScanState  *scan;			/* that of the relation, beneath or the same */
	const OpExpr *clause;
	ExprState  *value;			/* NULL: not ready to ask yet */
	bool		may_ask;
	BfGate		gate;			/* index: NULL if it is not open */
	uint64		epoch;			/* in which it was opened */

	bool		is_decided;		/* since the last rescan */
	bool		is_open;		/* what was decided */
	bool		is_behind;		/* has the child yet to be rescanned? */

	BfGateLookup lookup;		/* of what was learnt */
	int64		by_child;		/* blocks that it read since the last decision */
	uint32		skipped;		/* scans that were not asked for */
} GateState;

/* Blocks that this backend has read so far. */
static inline int64
blocks_read(void)
{
	return pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
}

/* Blocks that it has looked at, and read. */
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
 * Whether an open index can be asked for what a clause compares its column with,
 * by plans that are made or run now.
 */
bool
bf_gate_open(BfGate *gate, Relation index, const OpExpr *clause)
{
	Oid			left;
	Oid			right;

	if (!bf_gate_enabled || IsolationIsSerializable() ||
		!bf_is_live_filter(index) || !bf_live_is_for_plans(index) ||
		(IsParallelWorker() && TransactionIdIsValid(GetTopTransactionIdIfAny())) ||
		!bf_live_holds_elements(index) ||
		!bf_live_is_built(index) || !bf_live_has_known_format(index))
		return false;
	op_input_types(clause->opno, &left, &right);
	bf_element_type(right, InvalidOid, &gate->element);
	gate->index = index;
	return true;
}

/* Whether a value may be in the filter's table. */
bool
bf_gate_may_contain(BfGate *gate, Datum value)
{
	BfAsked		asked = {
		.element = &gate->element,
		.value = value,
		.quietly = true
	};
	BfDoubt		doubt;

	return bf_live_may_contain(gate->index, &asked, NULL, &doubt);
}

/*
 * Whether a parameter has a value of its type.  That of PL/pgSQL may be a field
 * that a record does not have now, which is an error for who reads a row.
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

/* Lock and open the filter; NULL if somebody has it locked, or it is gone. */
static Relation
open_if_free(Oid oid)
{
	if (!ConditionalLockRelationOid(oid, AccessShareLock))
		return NULL;
	/* Whether it still may be asked is what other sessions said last. */
	AcceptInvalidationMessages();
	return try_relation_open(oid, NoLock);
}

/*
 * Open the filter, anew where that was in another epoch: a subtransaction that is
 * rolled back takes the file along that it gave to the index.
 */
static void
open_anew(GateState *state)
{
	state->epoch = bf_epoch();
	if (state->gate.index != NULL)
		index_close(state->gate.index, NoLock);
	state->gate.index = open_if_free(state->lookup.kind.filter);
	state->may_ask = state->gate.index != NULL &&
		bf_gate_open(&state->gate, state->gate.index, state->clause);
}

/* Be ready for the first question of a plan's run, if there may be any. */
static void
prepare_to_ask(GateState *state)
{
	PlanState  *ps = &state->css.ss.ps;
	Expr	   *value = lsecond(state->clause->args);
	MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);

	state->value = ExecInitExpr(value, ps);
	state->may_ask = has_value((Node *) value, ps->state->es_param_list_info);
	if (state->may_ask)
		open_anew(state);
	MemoryContextSwitchTo(caller);
}

/* What was learnt, and what there is to learn of the child since then. */
static BfGateLearnt *
learnt_now(GateState *state)
{
	BfGateLearnt *learnt = bf_gate_learnt(&state->lookup);

	learnt->by_child += state->by_child;
	state->by_child = 0;
	return learnt;
}

/* The index that a scan is by; NULL: by none, or by several. */
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

/* Pages of the index that a scan is by, or those that it reads. */
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
 * The blocks of a filter, if they leave room for others in the buffers; else 0, as
 * they do not stay there.
 */
static int64
blocks_that_stay(Relation index)
{
	int64		blocks = bf_live_end(bf_live_kept(index));
	int64		buffers = RelationUsesLocalBuffers(index) ? num_temp_buffers : NBuffers;

	return blocks <= buffers / 2 ? blocks : 0;
}

/* A window begins; what it needs to know may have to be found in the catalogs. */
static BfGateLearnt *
start_window(GateState *state)
{
	BlockNumber pages = pages_of(state->scan);
	int64		filter = blocks_that_stay(state->gate.index);
	BfGateLearnt *learnt = learnt_now(state);

	bf_gate_start_window(learnt, pages, filter);
	return learnt;
}

/* The bytes of a value, as far as its type says. */
static int64
size_of(const BfElementType *element, Datum value)
{
	return element->typlen == -1 ? toast_raw_datum_size(value) : 0;
}

/* Ask the filter.  Returns whether the child is to be scanned. */
static bool
ask_filter(GateState *state, Datum value)
{
	BfGateCost	before = blocks_so_far();
	bool		found = bf_gate_may_contain(&state->gate, value);
	BfGateCost	after = blocks_so_far();
	BfGateLearnt *learnt = learnt_now(state);

	if (learnt->asked == 0)
		learnt = start_window(state);
	CountAsked(state, 1);
	CountAbsent(state, !found);
	after.looked_at -= before.looked_at;
	after.read -= before.read;
	after.hashed = size_of(&state->gate.element, value);
	return bf_gate_note(learnt, !found, after);
}

/* Whether the child is to be scanned: surely where it may have rows. */
static bool
wants_scan(GateState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext caller;
	bool		isnull;
	bool		scan = true;
	Datum		value;

	if (!state->may_ask)
		return true;
	if (bf_gate_pauses(learnt_now(state), &state->skipped))
	{
		CountSkipped(state, 1);
		return true;
	}
	if (state->value == NULL)
		prepare_to_ask(state);
	else if (state->epoch != bf_epoch())
		open_anew(state);
	if (!state->may_ask)
		return true;
	ResetExprContext(econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	value = ExecEvalExpr(state->value, econtext, &isnull);
	if (!isnull)
		scan = ask_filter(state, value);
	MemoryContextSwitchTo(caller);
	return scan;
}

/* Tell the child what it missed. */
static void
rescan_child(GateState *state)
{
	state->is_behind = false;
	ExecReScan(state->child);
}

/* Decide about a scan, and have the child ready if it is to be made. */
static void
decide(GateState *state)
{
	state->is_decided = true;
	state->is_open = wants_scan(state);
	if (state->is_open && state->is_behind)
		rescan_child(state);
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
		decide(state);
	if (!state->is_open)
		return NULL;
	before = blocks_read();
	slot = ExecProcNode(state->child);
	state->by_child += blocks_read() - before;
	/* An index-only scan's slot has no place of the row. */
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

/* The scan beneath a one-time filter, if there is one. */
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
	state->clause = linitial(plan->custom_exprs);
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
	state->may_ask = bf_gate_enabled && !IsolationIsSerializable();
}

/* EndCustomScan */
static void
gate_end(CustomScanState *node)
{
	GateState  *state = (GateState *) node;

	ExecEndNode(state->child);
	if (state->may_ask && state->by_child > 0)
		learnt_now(state);
	if (state->gate.index != NULL)
		index_close(state->gate.index, NoLock);
}

/*
 * ReScanCustomScan.  The child gets the set of parameters that changed as it is:
 * a scan needs no more than that there are some.
 */
static void
gate_rescan(CustomScanState *node)
{
	GateState  *state = (GateState *) node;
	PlanState  *ps = &node->ss.ps;

	/* As all scans do, so that none is taken for being on a row. */
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
	const NodeInstrumentation *counts = node->ss.ps.instrument;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												  &plan->scan.plan, ancestors);
	Oid			index = linitial_oid(plan->custom_private);

	ExplainPropertyText("Filter Index", get_rel_name(index), es);
	ExplainPropertyText("Filter Cond",
						deparse_expression(linitial(plan->custom_exprs),
										   context, es->verbose, false), es);
	if (!es->analyze)
		return;
	ExplainPropertyUInteger("Asked", NULL, (uint64) counts->ntuples2, es);
	ExplainPropertyUInteger("Surely Absent", NULL, (uint64) counts->nfiltered1, es);
	ExplainPropertyUInteger("Skipped", NULL, (uint64) counts->nfiltered2, es);
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
