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
 * damaged: whatever cannot be asked goes to the child.  That the filter may be
 * asked at all is looked at when the plan is started, as plans are kept.  A
 * worker of a parallel plan does not know what its transaction added and did not
 * store yet (deferred.c), so it asks only where that has not written anything.
 *
 * Where an index finds the rows in memory, to ask for what is there costs more
 * than half of what it saves where it is not.  So a gate adapts: where of a window
 * of questions too few were absent, many scans go to the child without being
 * asked, twice as many each time in turn; fewer need be absent where the index is
 * read from outside of shared buffers.  To read a whole table is always worth a
 * question.
 *
 * A slot of the child is handed out as it is; so the gate says of its slots what
 * the child does.  WHERE CURRENT OF looks for the row in the scan of the relation,
 * which is what it takes the gate for: it has the slot of the child's scan.
 */
#include "postgres.h"

#include "compat.h"
#include COMPAT_EXPLAIN_HEADER
#include "access/genam.h"
#include "access/parallel.h"
#include "access/relscan.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "live/gate.h"
#include "live/live.h"

/* Questions after which it is decided whether they were worth it. */
#define WINDOW		256

/* How many of them are to be absent where all is in memory. */
#define WORTHWHILE	(WINDOW * 3 / 10)

/* How many scans are not asked for where they were not, at first and at most. */
#define FIRST_PAUSE	4096
#define LONGEST_PAUSE	(1 << 20)

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
	ExprState  *value;
	bool		may_ask;
	BfGate		gate;			/* index: NULL if it is not open */

	bool		is_decided;		/* since the last rescan */
	bool		is_open;		/* what was decided */
	bool		is_behind;		/* has the child yet to be rescanned? */

	uint32		window;			/* questions in it so far, and their answers */
	uint32		window_absent;
	int64		before;			/* blocks that were read before it began */
	int64		by_filter;		/* and since, by its questions */
	int64		unread;			/* blocks of the filter, read for the first time */
	uint32		pause;			/* scans to come that are not asked for */
	uint32		next_pause;
} GateState;

/* Blocks that this backend read into shared buffers. */
static inline int64
blocks_read(void)
{
	return pgBufferUsage.shared_blks_read;
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

	return bf_live_may_contain(gate->index, &asked, NULL);
}

/*
 * Whether the questions of a window were worth so many reads of the filter.  A
 * scan of the child is the unit: a block from outside of shared buffers takes
 * another one at least.
 */
static bool
was_worthwhile(const GateState *state, int64 by_filter)
{
	double		absent = state->window_absent;
	double		scans = WINDOW - absent;
	double		reads = blocks_read() - state->before - state->by_filter;
	int64		worthwhile = WORTHWHILE + by_filter;

	return IsA(state->scan, SeqScanState) || scans == 0 ||
		absent * (1 + reads / scans) >= worthwhile;
}

/* Begin to ask, at first or after a pause: the filter may not be in memory. */
static void
start_asking(GateState *state)
{
	state->unread = bf_live_end(bf_live_kept(state->gate.index));
	state->window = 0;
}

/*
 * Decide at the end of a window whether to ask on.  To read the filter once is for
 * all windows to come.  Pauses become longer, until a window was worth all that it
 * read.
 */
static void
end_window(GateState *state)
{
	int64		once = Min(state->by_filter, state->unread);

	state->window = 0;
	state->unread -= once;
	if (was_worthwhile(state, state->by_filter))
		state->next_pause = FIRST_PAUSE;
	else if (!was_worthwhile(state, state->by_filter - once))
	{
		state->pause = state->next_pause;
		state->next_pause = Min(state->next_pause * 2, LONGEST_PAUSE);
	}
}

/* Ask the filter. */
static bool
ask_filter(GateState *state, Datum value)
{
	int64		before = blocks_read();
	bool		found = bf_gate_may_contain(&state->gate, value);

	if (state->window == 0)
	{
		state->before = before;
		state->by_filter = 0;
		state->window_absent = 0;
	}
	state->by_filter += blocks_read() - before;
	state->window_absent += !found;
	CountAsked(state, 1);
	CountAbsent(state, !found);
	if (++state->window == WINDOW)
		end_window(state);
	return found;
}

/* Whether the child may have rows. */
static bool
may_have_rows(GateState *state)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext caller;
	bool		isnull;
	bool		found = true;
	Datum		value;

	if (!state->may_ask)
		return true;
	if (state->pause > 0)
	{
		CountSkipped(state, 1);
		if (--state->pause == 0)
			start_asking(state);
		return true;
	}
	ResetExprContext(econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	value = ExecEvalExpr(state->value, econtext, &isnull);
	if (!isnull)
		found = ask_filter(state, value);
	MemoryContextSwitchTo(caller);
	return found;
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
	state->is_open = may_have_rows(state);
	if (state->is_open && state->is_behind)
		rescan_child(state);
}

/* ExecProcNode: the next row. */
static TupleTableSlot *
gate_next(PlanState *node)
{
	GateState  *state = (GateState *) node;
	TupleTableSlot *slot;

	CHECK_FOR_INTERRUPTS();
	if (!state->is_decided)
		decide(state);
	if (!state->is_open)
		return NULL;
	slot = ExecProcNode(state->child);
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
	OpExpr	   *clause = linitial(plan->custom_exprs);

	state->child = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	state->scan = scan_of(state->child);
	state->value = ExecInitExpr(lsecond(clause->args), ps);
	node->custom_ps = list_make1(state->child);
	node->ss.ss_ScanTupleSlot = state->scan->ss_ScanTupleSlot;
	ps->resultops = ExecGetResultSlotOps(state->child, &ps->resultopsfixed);
	ps->resultopsset = true;
	ps->ExecProcNode = gate_next;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	state->gate.index = index_open(linitial_oid(plan->custom_private),
								   AccessShareLock);
	/* Whether it still may is what other sessions said last. */
	AcceptInvalidationMessages();
	state->may_ask = has_value(lsecond(clause->args), estate->es_param_list_info) &&
		bf_gate_open(&state->gate, state->gate.index, clause);
	state->next_pause = FIRST_PAUSE;
	if (state->may_ask)
		start_asking(state);
}

/* EndCustomScan */
static void
gate_end(CustomScanState *node)
{
	GateState  *state = (GateState *) node;

	ExecEndNode(state->child);
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
