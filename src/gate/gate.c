/*
 * gate.c
 *	  Have query plans ask a live filter before they read its table.
 *
 * A gate is a scan over another one, its child, of which every row satisfies
 * column = value, where the value is known before the scan starts.  It asks the
 * column's filter for the value.  If that is surely absent there is no such row,
 * and the child is not touched; else it hands out the child's rows as they are
 * (gate_scan.c).  So a plan has the rows that it would have without the gate,
 * and there is nothing that it must not be used in.
 *
 * Who may be the child: PostgreSQL's own scans of a heap, all of whose rows the
 * index knows, even if there are others elsewhere (rows.c), as other scans read
 * those.  Never another extension's scan, which may read anything.  Which index
 * is a live filter can be seen from what the planner knows of it.
 *
 * What is a question: a clause that the child checks, by an operator that means
 * equality as the filter has it: one of its operator family, of a deterministic
 * collation.  It is to be evaluated once a scan, and no earlier than without the
 * gate, lest there be an error that there was not: by the child, when it looks it
 * up in an index; or else it cannot fail.
 *
 * Where a gate is not: over what is to be locked or changed, as its rows are read
 * anew when others changed them meanwhile; and over a table of a page or two, which
 * is scanned as fast as the filter is asked.  SERIALIZABLE transactions make plans
 * with gates, for others, and ask nothing, neither now nor when they run a plan
 * (gate_scan.c), as to ask is to have read the whole filter.
 *
 * What it costs: an index that plans may ask (plans = on) is no promise that
 * much is absent.  So a gate costs what its child does, and takes its place, so
 * that it is in the plan where that would have been and no other plan wins; but
 * only where it may pay: in what is scanned again and again for other values,
 * and where no index finds the value.  Where PostgreSQL can make more of a child
 * than of a gate, both stay in its list, the gate first, as of two equals that
 * is taken.  Where the owner says how many are absent (absent = 0.9) the costs
 * are what that makes of them, and another plan may win; a child that is needed
 * stays as the gate says a hair more rows.  A constant can be asked for at once,
 * which changes costs and nothing else: what is absent now may be there when the
 * plan is run.  Not so where a path costs no more than the question may, if each of
 * its bits is read: an index finds a value as fast as a filter does that it is absent.
 * Nor where the statement has a parameter, be it another: of its plan for all values
 * and those of their own PostgreSQL keeps the one that costs less, and what a filter
 * holds now must not decide that.  Nor where rows are hidden from who may see the
 * plan, or who has no right to read them: a plan is made, and by debug_print_plan
 * shown, before that is checked.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "gate/gate.h"
#include "index/index.h"

/* To ask costs so many operators. */
#define OPERATORS	30

/* Tables of no more pages than these have no gate. */
#define FEW_PAGES	2

/* The share that is expected to be absent where a constant is, now. */
#define ABSENT_NOW	0.99

/* What is taken off where costs are the same but for few outer rows. */
#define FEW_ROWS	0.9

/* How many more rows a gate says than its child. */
#define HAIR		(1 + 1e-6)

static set_rel_pathlist_hook_type other_hook;

/* What a gate asks, of which filter. */
typedef struct Question
{
	IndexOptInfo *filter;
	RestrictInfo *rinfo;
	OpExpr	   *clause;			/* column = value, in this order */
} Question;

/* Whether a relation of a query is one that a gate may be before. */
static bool
is_gateable(PlannerInfo *root, const RelOptInfo *rel, const RangeTblEntry *rte)
{
	ListCell   *cell;

	if (!bf_gate_enabled || rel->pages <= FEW_PAGES ||
		rte->rtekind != RTE_RELATION || rte->inh ||
		bms_is_member(rel->relid, root->all_result_relids))
		return false;
	foreach(cell, root->rowMarks)
	{
		if (((PlanRowMark *) lfirst(cell))->rti == rel->relid)
			return false;
	}
	return true;
}

/* Whether what reads a table reads its heap. */
static bool
is_heap(Oid oid)
{
	Relation	table = table_open(oid, NoLock);
	Oid			method = table->rd_rel->relam;

	table_close(table, NoLock);
	return method == HEAP_TABLE_AM_OID;
}

/* The join that only wants to know whether a relation has a row; or NULL. */
static SpecialJoinInfo *
semijoin_of(const PlannerInfo *root, const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, root->join_info_list)
	{
		SpecialJoinInfo *join = lfirst(cell);

		if ((join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI) &&
			bms_is_member(rel->relid, join->min_righthand))
			return join;
	}
	return NULL;
}

/*
 * Whether PostgreSQL can make more of a child than of a gate before it: a scan of
 * a table among others that are appended can be given their parameters, and where
 * a join looks for one of several rows it knows what an index scan costs then.
 */
static bool
needs_child(const PlannerInfo *root, const RelOptInfo *rel, const Path *child)
{
	return rel->reloptkind == RELOPT_OTHER_MEMBER_REL ||
		(child->rows > 1 && semijoin_of(root, rel) != NULL);
}

/* Whether an index is a live filter that may be asked by plans for all rows. */
static bool
is_for_plans(const IndexOptInfo *info)
{
	Relation	index = index_open(info->indexoid, NoLock);
	bool		wanted = bf_live_is_for_plans(index) &&
		(info->indpred == NIL || info->predOK) &&
		bf_live_holds_elements(index);

	index_close(index, NoLock);
	return wanted;
}

/*
 * The filters of a relation that may be asked.  The plan depends on what they
 * say, be it that they may not: that can change.
 */
static List *
filters_of_rel(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *filters = NIL;
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *info = lfirst(cell);

		if (info->amcostestimate != bflive_costestimate || info->hypothetical)
			continue;
		root->glob->relationOids = lappend_oid(root->glob->relationOids,
											   info->indexoid);
		if (is_for_plans(info))
			filters = lappend(filters, info);
	}
	return filters;
}

/* Clauses that a path finds its rows by. */
static const List *
index_clauses(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	return IsA(path, IndexPath) ? ((const IndexPath *) path)->indexclauses : NIL;
}

/* Whether a clause is one of those. */
static bool
is_by_index(const Path *path, const RestrictInfo *rinfo)
{
	const ListCell *cell;

	foreach(cell, index_clauses(path))
	{
		const RestrictInfo *other = ((IndexClause *) lfirst(cell))->rinfo;

		if (equal(other->clause, rinfo->clause) ||
			(rinfo->parent_ec != NULL && other->parent_ec == rinfo->parent_ec))
			return true;
	}
	return false;
}

/* Whether a parameter is the result of a subquery that is run when it is needed. */
static bool
is_of_initplan(const PlannerInfo *root, int paramid)
{
	ListCell   *cell;

	for (; root != NULL; root = root->parent_root)
	{
		foreach(cell, root->init_plans)
		{
			if (list_member_int(((SubPlan *) lfirst(cell))->setParam, paramid))
				return true;
		}
	}
	return false;
}

/* Whether a parameter is set by a query around this one, or by a join. */
static bool
is_from_outside(const PlannerInfo *root, const Param *param)
{
	return param->paramkind == PARAM_EXEC &&
		!is_of_initplan(root, param->paramid);
}

/* Whether to evaluate an expression cannot fail. */
static bool
is_harmless(const PlannerInfo *root, const Node *value)
{
	const Param *param;

	value = bf_gate_bare_value(value);
	if (!IsA(value, Param))
		return IsA(value, Const) || IsA(value, Var);
	param = (const Param *) value;
	return param->paramkind == PARAM_EXTERN || is_from_outside(root, param);
}

/* A clause with the filter's column on its left; NULL if it is on no side. */
static OpExpr *
column_first(const RestrictInfo *rinfo, IndexOptInfo *filter)
{
	OpExpr	   *clause = (OpExpr *) rinfo->clause;
	Index		relid = filter->rel->relid;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return NULL;
	if (match_index_to_operand(linitial(clause->args), 0, filter) &&
		!bms_is_member(relid, rinfo->right_relids))
		return clause;
	if (!match_index_to_operand(lsecond(clause->args), 0, filter) ||
		bms_is_member(relid, rinfo->left_relids) ||
		!OidIsValid(get_commutator(clause->opno)))
		return NULL;
	clause = copyObject(clause);
	CommuteOpExpr(clause);
	return clause;
}

/* Whether to evaluate an expression a second time is no more than to ask. */
static bool
is_cheap(PlannerInfo *root, Node *value)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, value, root);
	return cost.startup + cost.per_tuple <= OPERATORS * cpu_operator_cost;
}

/*
 * What a clause asks of a filter; NULL if it is no question.  Who may not see all
 * rows has them filtered before others' functions see them, as by an index.
 */
static OpExpr *
question_of_clause(PlannerInfo *root, RestrictInfo *rinfo,
				   IndexOptInfo *filter)
{
	OpExpr	   *clause = rinfo->pseudoconstant ? NULL :
		column_first(rinfo, filter);
	Node	   *value;

	if (clause == NULL ||
		get_op_opfamily_strategy(clause->opno, filter->opfamily[0]) != 1 ||
		(OidIsValid(clause->inputcollid) &&
		 !get_collation_isdeterministic(clause->inputcollid)) ||
		!restriction_is_securely_promotable(rinfo, filter->rel))
		return NULL;
	value = lsecond(clause->args);
	return contain_volatile_functions(value) || contain_subplans(value) ||
		!is_cheap(root, value) ? NULL : clause;
}

/* The first question among clauses that a path checks; false if there is none. */
static bool
find_question(PlannerInfo *root, IndexOptInfo *filter, const List *clauses,
			  const Path *child, Question *question)
{
	const ListCell *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst(cell);

		question->filter = filter;
		question->rinfo = rinfo;
		question->clause = question_of_clause(root, rinfo, filter);
		if (question->clause != NULL &&
			(is_by_index(child, rinfo) ||
			 is_harmless(root, lsecond(question->clause->args))))
			return true;
	}
	return false;
}

/* The same, of the clauses of a path, to one of several filters. */
static bool
question_of_path(PlannerInfo *root, const RelOptInfo *rel, const List *filters,
				 const Path *child, Question *question)
{
	List	   *clauses = rel->baserestrictinfo;
	const ListCell *cell;

	if (child->param_info != NULL)
		clauses = list_concat_copy(clauses, child->param_info->ppi_clauses);
	foreach(cell, filters)
	{
		if (find_question(root, lfirst(cell), clauses, child, question))
			return true;
	}
	return false;
}

/*
 * Whether an expression has another value when it is scanned again: for another
 * row of another relation, or of a query around this one.
 */
static bool
varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return is_from_outside(context, (const Param *) node);
	return IsA(node, Var) || expression_tree_walker(node, varies, context);
}

/* The table that a query names where it means a relation, which may be below it. */
static Oid
named_table(PlannerInfo *root, const RelOptInfo *rel)
{
	Index		relid = rel->relid;

	while (root->append_rel_array != NULL &&
		   root->append_rel_array[relid] != NULL)
	{
		Index		parent = root->append_rel_array[relid]->parent_relid;

		if (planner_rt_fetch(parent, root)->rtekind != RTE_RELATION)
			break;
		relid = parent;
	}
	return planner_rt_fetch(relid, root)->relid;
}

/* Whether there may be rows that who sees the plan must not know of. */
static bool
hides_rows(const PlannerInfo *root)
{
	const ListCell *cell;

	if (root->qual_security_level > 0)
		return true;
	for (root = root->parent_root; root != NULL; root = root->parent_root)
	{
		foreach(cell, root->parse->rtable)
		{
			if (((RangeTblEntry *) lfirst(cell))->security_barrier)
				return true;
		}
	}
	return false;
}

/* Whether a plan may depend on what is in a filter. */
static bool
may_be_told(PlannerInfo *root, const RelOptInfo *rel, Relation index)
{
	Oid			user = OidIsValid(rel->userid) ? rel->userid : GetUserId();

	return !hides_rows(root) &&
		bf_rights_may_plan(named_table(root, rel), index, user);
}

/* Whether there is a parameter of the whole statement in a part of it. */
static bool
contains_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, contains_parameter, context, 0);
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXTERN;
	return expression_tree_walker(node, contains_parameter, context);
}

/* What was found out of a statement that is planned. */
static struct
{
	const PlannerGlobal *glob;	/* NULL: nothing */
	bool		has_parameters;
	int			subroots;		/* that were looked at */
	const IndexOptInfo *filter; /* NULL: none was asked */
	const RestrictInfo *rinfo;	/* the last question, and what was said */
	double		absent;
}			planned;

/* MemoryContextCallback: what comes next may be where that statement was. */
static void
forget_planned(void *arg)
{
	planned.glob = NULL;
}

/* Begin with a statement: look at its topmost query. */
static void
start_planned(const PlannerInfo *root)
{
	MemoryContext context = GetMemoryChunkContext(root->glob);
	MemoryContextCallback *callback = MemoryContextAlloc(context,
														 sizeof(MemoryContextCallback));

	callback->func = forget_planned;
	callback->arg = NULL;
	MemoryContextRegisterResetCallback(context, callback);
	planned.glob = root->glob;
	planned.subroots = 0;
	planned.filter = NULL;
	while (root->parent_root != NULL)
		root = root->parent_root;
	planned.has_parameters = planned.glob->boundParams != NULL ||
		contains_parameter((Node *) root->parse, NULL);
}

/*
 * Whether a statement has parameters.  Where their values are known they may be
 * gone from it, and what was a subquery stands in a list of its own.  All of it is
 * looked at once, not for each question.
 */
static bool
has_parameters(const PlannerInfo *root)
{
	const List *subroots = root->glob->subroots;

	if (planned.glob != root->glob)
		start_planned(root);
	while (!planned.has_parameters &&
		   planned.subroots < list_length(subroots))
	{
		const PlannerInfo *other = list_nth(subroots, planned.subroots++);

		planned.has_parameters = contains_parameter((Node *) other->parse, NULL);
	}
	return planned.has_parameters;
}

/* What a question costs if each of its bits is on a page to be read. */
static Cost
highest_cost(const BfLive *live)
{
	uint32		bits = 0;

	for (uint32 i = 0; i < live->nlayers; i++)
		bits += live->layers[i].shape.hashes;
	return bits * random_page_cost;
}

/* Whether to scan a relation by itself costs more. */
static bool
is_scan_dearer(const RelOptInfo *rel, Cost question)
{
	const ListCell *cell;

	/* The first one is the cheapest, or the least disabled. */
	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->param_info == NULL)
			return path->total_cost > question;
	}
	return true;
}

/*
 * What a filter says now of a constant: the share that is absent; -1: unknown, or
 * not worth a question.
 */
static double
ask_now(const RelOptInfo *rel, const Question *question, Relation index,
		const Const *constant)
{
	BfGate		gate;

	if (!bf_gate_open(&gate, index, question->clause) ||
		!is_scan_dearer(rel, highest_cost(bf_live_kept(index))))
		return -1;
	return bf_gate_may_contain(&gate, constant->constvalue) ? 0 : ABSENT_NOW;
}

/* The same, asked once for all paths of a relation. */
static double
ask_once(const RelOptInfo *rel, const Question *question, Relation index,
		 const Const *constant)
{
	if (planned.filter != question->filter || planned.rinfo != question->rinfo)
	{
		planned.absent = ask_now(rel, question, index, constant);
		planned.filter = question->filter;
		planned.rinfo = question->rinfo;
	}
	return planned.absent;
}

/* The share of the answers that are expected to be absent; -1: unknown. */
static double
expected_absent(PlannerInfo *root, const RelOptInfo *rel,
				const Question *question)
{
	const Const *constant = lsecond(question->clause->args);
	Relation	index = index_open(question->filter->indexoid, NoLock);
	double		absent = -1;

	if (IsA(constant, Const) && !constant->constisnull &&
		!IsolationIsSerializable() && ActiveSnapshotSet() &&
		!has_parameters(root) && may_be_told(root, rel, index))
		absent = ask_once(rel, question, index, constant);
	if (absent < 0)
		absent = bf_live_absent(index);
	index_close(index, NoLock);
	return absent;
}

/* What is left of a child's cost; what is to discourage it stays. */
static Cost
cost_behind(const Path *child, Cost cost, double absent)
{
	Cost		kept = compat_disabled_cost(child);

	return kept + (cost - kept) * (1 - absent) + OPERATORS * cpu_operator_cost;
}

/*
 * What a scan costs on average where a join looks for one of several rows.  For
 * outer rows without any, PostgreSQL counts a part of an index scan, but all of a
 * custom scan, and that it looks at all of its rows (final_cost_nestloop).  So that
 * the join costs the same by a gate, this makes up for it.
 */
static Cost
cost_in_semijoin(PlannerInfo *root, const RelOptInfo *rel, const Path *child,
				 RestrictInfo *rinfo)
{
	SpecialJoinInfo *join = semijoin_of(root, rel);
	Cost		run = child->total_cost - child->startup_cost;
	SpecialJoinInfo inner;
	double		found;
	double		matches;
	double		looked_at;
	Cost		none;

	if (join == NULL || child->rows <= 1 || child->param_info == NULL ||
		bms_membership(join->min_righthand) != BMS_SINGLETON)
		return child->total_cost;
	inner = *join;
	inner.jointype = JOIN_INNER;
	found = clause_selectivity(root, (Node *) rinfo, 0, join->jointype, join);
	matches = found == 0 ? 1 :
		Max(1, rel->rows / found *
			clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, &inner));
	looked_at = 2 / (matches + 1);
	none = run / child->rows - child->rows * cpu_tuple_cost;
	return child->startup_cost +
		Max(0, (found * looked_at * run + (1 - found) * none) /
			(found * looked_at + 1 - found)) * FEW_ROWS;
}

/* A copy of a path that may be a child, as who made it may free it; or NULL. */
static Path *
copy_child(const Path *path)
{
	Size		size;

	switch (nodeTag(path))
	{
		case T_Path:
			size = path->pathtype == T_SeqScan ? sizeof(Path) : 0;
			break;
		case T_IndexPath:
			size = sizeof(IndexPath);
			break;
		case T_BitmapHeapPath:
			size = sizeof(BitmapHeapPath);
			break;
		case T_TidPath:
			size = sizeof(TidPath);
			break;
		case T_TidRangePath:
			size = sizeof(TidRangePath);
			break;
		default:
			size = 0;
	}
	return size == 0 ? NULL : memcpy(palloc(size), path, size);
}

static Plan *plan_gate(PlannerInfo *root, RelOptInfo *rel, CustomPath *gate,
					   List *tlist, List *clauses, List *children);

static const CustomPathMethods path_methods = {
	.CustomName = BF_GATE_NAME,
	.PlanCustomPath = plan_gate
};

/*
 * A gate before a path; NULL if none fits, or it would not pay.  Tells what share
 * is expected to be absent; -1: unknown, and it costs what its child does.
 */
static CustomPath *
gate_of_path(PlannerInfo *root, const RelOptInfo *rel, const List *filters,
			 const Path *path, double *absent)
{
	Path	   *child = copy_child(path);
	CustomPath *gate;
	Question	question;

	if (child == NULL ||
		!question_of_path(root, rel, filters, child, &question))
		return NULL;
	*absent = expected_absent(root, rel, &question);
	if (*absent == 0 ||
		(*absent < 0 && child->pathtype != T_SeqScan &&
		 !varies(lsecond(question.clause->args), root)))
		return NULL;
	/* What is not to be asked now may be when the plan is run. */
	if (IsolationIsSerializable())
		*absent = -1;

	gate = makeNode(CustomPath);
	gate->path = *child;
	gate->path.type = T_CustomPath;
	gate->path.pathtype = T_CustomScan;
	gate->path.parallel_aware = false;
	if (*absent < 0)
		gate->path.total_cost = cost_in_semijoin(root, rel, child,
												 question.rinfo);
	else
	{
		if (needs_child(root, rel, child))
			gate->path.rows *= HAIR;
		gate->path.startup_cost = cost_behind(child, child->startup_cost, *absent);
		gate->path.total_cost = cost_behind(child, child->total_cost, *absent);
	}
	gate->flags = ExecSupportsMarkRestore(child) ? CUSTOMPATH_SUPPORT_MARK_RESTORE : 0;
	gate->custom_paths = list_make1(child);
	gate->custom_private = list_make1_oid(question.filter->indexoid);
	gate->methods = &path_methods;
	return gate;
}

/*
 * Put gates before paths, as far as they fit: those that cost what their children
 * do into the list.  Returns the others, which are yet to be added.
 */
static List *
put_gates(PlannerInfo *root, const RelOptInfo *rel, const List *filters,
		  List **paths)
{
	List	   *placed = NIL;
	List	   *others = NIL;
	ListCell   *cell;

	foreach(cell, *paths)
	{
		Path	   *path = lfirst(cell);
		double		absent;
		CustomPath *gate = gate_of_path(root, rel, filters, path, &absent);
		bool		replaces = gate != NULL && absent < 0;

		if (replaces)
			placed = lappend(placed, gate);
		else if (gate != NULL)
			others = lappend(others, gate);
		if (!replaces || needs_child(root, rel, path))
			placed = lappend(placed, path);
	}
	*paths = placed;
	return others;
}

/* set_rel_pathlist_hook: put gates before the scans of a relation. */
static void
add_gates(PlannerInfo *root, RelOptInfo *rel, Index relid, RangeTblEntry *rte)
{
	List	   *filters;
	List	   *whole;
	List	   *partial;
	ListCell   *cell;

	if (other_hook != NULL)
		other_hook(root, rel, relid, rte);
	if (rel->indexlist == NIL || !is_gateable(root, rel, rte))
		return;
	filters = filters_of_rel(root, rel);
	if (filters == NIL || !is_heap(rte->relid))
		return;
	/* All of them first: to add one may free the paths that it beats. */
	whole = put_gates(root, rel, filters, &rel->pathlist);
	partial = put_gates(root, rel, filters, &rel->partial_pathlist);
	foreach(cell, whole)
		add_path(rel, lfirst(cell));
	foreach(cell, partial)
		add_partial_path(rel, lfirst(cell));
}

/* The plan of a gate.  A join of partitions may have adjusted its clauses. */
static Plan *
plan_gate(PlannerInfo *root, RelOptInfo *rel, CustomPath *gate, List *tlist,
		  List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	Question	question = {0};
	ListCell   *cell;

	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *filter = lfirst(cell);

		if (filter->indexoid == linitial_oid(gate->custom_private) &&
			find_question(root, filter, clauses, linitial(gate->custom_paths),
						  &question))
			break;
	}
	if (cell == NULL)
		elog(ERROR, "could not find the clause for a live filter gate");
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = gate->flags;
	if (ExecSupportsBackwardScan(linitial(children)))
		scan->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	scan->custom_plans = children;
	scan->custom_exprs = list_make1(question.clause);
	scan->custom_private = gate->custom_private;
	scan->methods = &bf_gate_methods;
	return &scan->scan.plan;
}

/* Called once, when the module is loaded. */
void
bf_gate_init(void)
{
	DefineCustomBoolVariable("bloomext.enable_gate",
							 "Enables the use of live filters in query plans.",
							 "Applies to live filters with the option plans = on.",
							 &bf_gate_enabled, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	RegisterCustomScanMethods(&bf_gate_methods);
	bf_gate_pays_init();
	if (!compat_asks_for_projection)
		return;
	other_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_gates;
}
