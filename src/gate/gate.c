/*
 * gate.c
 *	  Add gates to query plans: scans that probe a live filter before reading
 *	  its table.
 *
 * A gate is a scan over another one, its child, all of whose rows satisfy
 * column = value, where the value is known before the scan starts.  It probes
 * the filter on the column; a filter on several columns is probed if there is
 * such a condition for each of them, in any order.  If the value is certainly absent there is no such
 * row, and the child is not executed; otherwise the gate returns the rows of
 * the child unchanged (gate_scan.c).  So a plan returns the same rows as
 * without the gate, and a gate can be wherever its child could.
 *
 * The child can be any of PostgreSQL's own scans of a heap that reads only
 * rows that the index covers; rows that the table has elsewhere (rows.c) are
 * read by other scans.  It is never a scan of another extension, which may
 * read anything.  Live filters are identified among the planner's indexes by
 * their cost function (handler.c).
 *
 * A filter is probed for a clause that the child checks, with an operator that
 * is the filter's equality: one of its operator family, with a deterministic
 * collation.  Of several filters the one on most columns is probed, as it says
 * most of the row; of these the smallest one.  The value is evaluated once per scan, and no earlier than
 * without the gate, as it must not cause an error that would not occur
 * otherwise: either the child evaluates it for an index lookup, or its
 * evaluation cannot fail.
 *
 * There is no gate over a relation that is to be locked or changed, as its
 * rows are read again if others have changed them; nor over a table of a page
 * or two, which is scanned as fast as the filter is probed.  SERIALIZABLE
 * transactions make plans with gates, for other transactions, but probe no
 * filter, neither when planning nor in execution, as that would count as
 * reading the whole filter.
 *
 * Costs: the option plans = on does not promise that many values are absent.
 * So a gate has the costs of its child and replaces it: the plan has a gate
 * wherever it would have the child, and no other plan wins.  It does so only
 * where it can pay: in scans that are repeated for other values, and where no
 * index finds the value.  If PostgreSQL can use a child in ways that it cannot
 * use a gate, both stay in the list, the gate first, as the first of two equal
 * paths is taken.  If the owner declares the absent share (absent = 0.9),
 * costs are computed from that, and another plan may win; add_path() then
 * keeps a child that is needed because the row estimate of the gate is
 * slightly higher.
 *
 * A constant can be probed during planning, which changes only costs: what is
 * absent now may be there when the plan is executed.  It is not probed
 *
 * - if a path costs no more than the probe may if each of its bits is read: an
 *	 index finds a value as fast as a filter finds it absent;
 * - if the statement has any parameter: PostgreSQL chooses between its generic
 *	 plan and custom plans by cost, which must not depend on the current
 *	 contents of a filter;
 * - if rows are hidden from the user who may see the plan, or the user has no
 *	 right to read them: a plan is made, and shown by debug_print_plan, before
 *	 that is checked.
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

/* The cost of a probe, in operators. */
#define OPERATORS	30

/* Tables with at most this number of pages have no gate. */
#define FEW_PAGES	2

/* The expected absent share if a constant is absent during planning. */
#define ABSENT_NOW	0.99

/* Discount where costs are equal except for few outer rows. */
#define FEW_ROWS	0.9

/* The row estimate of a gate relative to its child's, if both are needed. */
#define ROWS_FUZZ		(1 + 1e-6)

static set_rel_pathlist_hook_type other_hook;

/* What a gate probes, and in which filter */
typedef struct Question
{
	IndexOptInfo *filter;
	List	   *rinfos;			/* one for each column */
	List	   *clauses;		/* of these: column = value, in this order */
} Question;

/* Whether a relation of a query can have a gate. */
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

/* Whether a table is a heap. */
static bool
is_heap(Oid oid)
{
	Relation	table = table_open(oid, NoLock);
	Oid			method = table->rd_rel->relam;

	table_close(table, NoLock);
	return method == HEAP_TABLE_AM_OID;
}

/* The semijoin or antijoin with a relation on its inner side; or NULL. */
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
 * Whether PostgreSQL can use a child in ways that it cannot use a gate: a scan
 * of a table in an append can be parameterized, and the cost of an index scan
 * for a join that needs one of several rows is known.
 */
static bool
needs_child(const PlannerInfo *root, const RelOptInfo *rel, const Path *child)
{
	return rel->reloptkind == RELOPT_OTHER_MEMBER_REL ||
		(child->rows > 1 && semijoin_of(root, rel) != NULL);
}

/* Whether a live filter may be used by plans for all rows. */
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

/* Which of two filters is to be probed: on more columns, or smaller. */
static int
compare_filters(const ListCell *left, const ListCell *right)
{
	const IndexOptInfo *a = lfirst(left);
	const IndexOptInfo *b = lfirst(right);

	if (a->nkeycolumns != b->nkeycolumns)
		return b->nkeycolumns - a->nkeycolumns;
	return (a->pages > b->pages) - (a->pages < b->pages);
}

/*
 * The filters of a relation that may be used, in order.  The plan depends on all live
 * filters' options, even of those that may not be used, as options can change.
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
	list_sort(filters, compare_filters);
	return filters;
}

/* The clauses by which a path finds its rows. */
static const List *
index_clauses(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
		path = ((const BitmapHeapPath *) path)->bitmapqual;
	return IsA(path, IndexPath) ? ((const IndexPath *) path)->indexclauses : NIL;
}

/* Whether a path finds its rows by a clause. */
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

/* Whether a parameter is the result of an initplan, evaluated on demand. */
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

/* Whether a parameter is set by an outer query, or by a join. */
static bool
is_from_outside(const PlannerInfo *root, const Param *param)
{
	return param->paramkind == PARAM_EXEC &&
		!is_of_initplan(root, param->paramid);
}

/* Whether the evaluation of an expression cannot fail. */
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

/* A clause with a column of the filter on its left; NULL if there is none. */
static OpExpr *
column_first(const RestrictInfo *rinfo, IndexOptInfo *filter, int column)
{
	OpExpr	   *clause = (OpExpr *) rinfo->clause;
	Index		relid = filter->rel->relid;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return NULL;
	if (match_index_to_operand(linitial(clause->args), column, filter) &&
		!bms_is_member(relid, rinfo->right_relids))
		return clause;
	if (!match_index_to_operand(lsecond(clause->args), column, filter) ||
		bms_is_member(relid, rinfo->left_relids) ||
		!OidIsValid(get_commutator(clause->opno)))
		return NULL;
	clause = copyObject(clause);
	CommuteOpExpr(clause);
	return clause;
}

/* Whether to evaluate an expression twice costs no more than a probe. */
static bool
is_cheap(PlannerInfo *root, Node *value)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, value, root);
	return cost.startup + cost.per_tuple <= OPERATORS * cpu_operator_cost;
}

/*
 * The condition on a column that a clause is; NULL if it is none.  If a user may not see all
 * rows, rows are filtered before functions of other users see them, as with an
 * index.
 */
static OpExpr *
condition_of_clause(PlannerInfo *root, RestrictInfo *rinfo,
					IndexOptInfo *filter, int column)
{
	OpExpr	   *clause = rinfo->pseudoconstant ? NULL :
		column_first(rinfo, filter, column);
	Node	   *value;

	if (clause == NULL ||
		get_op_opfamily_strategy(clause->opno, filter->opfamily[column]) != 1 ||
		(OidIsValid(clause->inputcollid) &&
		 !get_collation_isdeterministic(clause->inputcollid)) ||
		!restriction_is_securely_promotable(rinfo, filter->rel))
		return NULL;
	value = lsecond(clause->args);
	return contain_volatile_functions(value) || contain_subplans(value) ||
		!is_cheap(root, value) ? NULL : clause;
}

/* Add a condition on a column that a path checks; false if there is none. */
static bool
find_condition(PlannerInfo *root, const List *clauses, const Path *child,
			   int column, Question *question)
{
	const ListCell *cell;

	foreach(cell, clauses)
	{
		RestrictInfo *rinfo = lfirst(cell);
		OpExpr	   *clause = condition_of_clause(root, rinfo, question->filter,
												 column);

		if (clause == NULL ||
			(!is_by_index(child, rinfo) &&
			 !is_harmless(root, lsecond(clause->args))))
			continue;
		question->rinfos = lappend(question->rinfos, rinfo);
		question->clauses = lappend(question->clauses, clause);
		return true;
	}
	return false;
}

/* The probe for clauses that a path checks; false if there is none. */
static bool
find_question(PlannerInfo *root, IndexOptInfo *filter, const List *clauses,
			  const Path *child, Question *question)
{
	*question = (Question) {.filter = filter};
	for (int i = 0; i < filter->nkeycolumns; i++)
	{
		if (!find_condition(root, clauses, child, i, question))
			return false;
	}
	return true;
}

/* The first probe for the clauses of a path in one of several filters. */
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
 * Whether an expression has another value when it is scanned again: for
 * another row of another relation, or of an outer query.
 */
static bool
value_varies(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return is_from_outside(context, (const Param *) node);
	return IsA(node, Var) || expression_tree_walker(node, value_varies, context);
}

/* Whether an element that is asked for is another one at each scan. */
static bool
element_varies(PlannerInfo *root, const Question *question)
{
	const ListCell *cell;

	foreach(cell, question->clauses)
	{
		if (value_varies(lsecond(((OpExpr *) lfirst(cell))->args), root))
			return true;
	}
	return false;
}

/* The table that the query names to mean a relation, which may be below it. */
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

/* Whether there may be rows that a user who sees the plan must not know of. */
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

/* Whether a plan may depend on the contents of a filter. */
static bool
may_depend_on(PlannerInfo *root, const RelOptInfo *rel, Relation index)
{
	Oid			user = OidIsValid(rel->userid) ? rel->userid : GetUserId();

	return !hides_rows(root) &&
		bf_rights_may_plan(named_table(root, rel), index, user);
}

/* Whether a part of a statement contains an external parameter. */
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

/* Findings about the statement that is being planned */
static struct
{
	const PlannerGlobal *glob;	/* NULL: none */
	bool		has_parameters;
	int			subroots;		/* examined so far */
	const IndexOptInfo *filter; /* NULL: none was probed */
	List	   *rinfos;			/* of the last probe, and its result */
	double		absent;
}			planned;

/* MemoryContextCallback: the address may be used for another statement. */
static void
forget_planned(void *arg)
{
	planned.glob = NULL;
}

/* Begin with a statement: examine its topmost query. */
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
 * Whether a statement has parameters.  They may have been replaced by their
 * values, and former subqueries are in a separate list.  Each query of the
 * statement is examined once, not for each probe.
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

/* The cost of a probe if each page that has bits of it is to be read. */
static Cost
highest_cost(const BfLive *live)
{
	uint32		pages = 0;

	for (uint32 i = 0; i < live->nlayers; i++)
		pages += bf_pages_an_element(live, &live->layers[i]);
	return pages * random_page_cost;
}

/* Whether a scan of a relation by itself costs more than a probe. */
static bool
is_scan_dearer(const RelOptInfo *rel, Cost question)
{
	const ListCell *cell;

	/* The first path is the cheapest, or the least disabled. */
	foreach(cell, rel->pathlist)
	{
		const Path *path = lfirst(cell);

		if (path->param_info == NULL)
			return path->total_cost > question;
	}
	return true;
}

/* The values that a filter is to be asked for, if they are constants. */
static bool
constants_of(const Question *question, Datum *values, bool *nulls)
{
	const ListCell *cell;

	foreach(cell, question->clauses)
	{
		const Const *constant = lsecond(((OpExpr *) lfirst(cell))->args);
		int			i = foreach_current_index(cell);

		if (!IsA(constant, Const) || constant->constisnull)
			return false;
		values[i] = constant->constvalue;
		nulls[i] = false;
	}
	return true;
}

/* Probe a filter for constants: the absent share; -1: unknown, or costly. */
static double
probe_now(const RelOptInfo *rel, const Question *question, Relation index)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	BfPartsRoom room;
	Datum		element;
	BfGate		gate;

	if (!constants_of(question, values, nulls) ||
		!bf_gate_open(&gate, index, question->clauses) ||
		!is_scan_dearer(rel, highest_cost(bf_live_kept(index))) ||
		!bf_parts_are_hashable(&gate.parts, values) ||
		!bf_parts_element(&gate.parts, values, nulls, &room, &element))
		return -1;
	return bf_gate_may_contain(&gate, element) ? 0 : ABSENT_NOW;
}

/* Whether the last probe was the same one: for the same conditions. */
static bool
is_probed(const Question *question)
{
	const ListCell *left;
	const ListCell *right;

	if (planned.filter != question->filter)
		return false;
	forboth(left, planned.rinfos, right, question->rinfos)
	{
		if (lfirst(left) != lfirst(right))
			return false;
	}
	return true;
}

/* Probe a filter for constants, once for all paths of a relation. */
static double
probe_once(const RelOptInfo *rel, const Question *question, Relation index)
{
	if (!is_probed(question))
	{
		planned.absent = probe_now(rel, question, index);
		planned.filter = question->filter;
		planned.rinfos = question->rinfos;
	}
	return planned.absent;
}

/* The expected absent share; -1 if unknown. */
static double
expected_absent(PlannerInfo *root, const RelOptInfo *rel,
				const Question *question)
{
	Relation	index = index_open(question->filter->indexoid, NoLock);
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];
	double		absent = -1;

	if (constants_of(question, values, nulls) && !IsolationIsSerializable() && ActiveSnapshotSet() &&
		!has_parameters(root) && may_depend_on(root, rel, index))
		absent = probe_once(rel, question, index);
	if (absent < 0)
		absent = bf_live_absent(index);
	index_close(index, NoLock);
	return absent;
}

/* The remaining cost of a child; the penalty of disabled paths stays. */
static Cost
cost_behind(const Path *child, Cost cost, double absent)
{
	Cost		kept = compat_disabled_cost(child);

	return kept + (cost - kept) * (1 - absent) + OPERATORS * cpu_operator_cost;
}

/*
 * The average cost of a scan in a join that needs one of several rows.  For
 * outer rows without a match, PostgreSQL counts a part of an index scan, but
 * all of a custom scan, including all of its rows (final_cost_nestloop).  This
 * compensates for that, so that the join costs the same with a gate.
 */
static Cost
cost_in_semijoin(PlannerInfo *root, const RelOptInfo *rel, const Path *child,
				 List *rinfos)
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
	found = clauselist_selectivity(root, rinfos, 0, join->jointype, join);
	matches = found == 0 ? 1 :
		Max(1, rel->rows / found *
			clauselist_selectivity(root, rinfos, 0, JOIN_INNER, &inner));
	looked_at = 2 / (matches + 1);
	none = run / child->rows - child->rows * cpu_tuple_cost;
	return child->startup_cost +
		Max(0, (found * looked_at * run + (1 - found) * none) /
			(found * looked_at + 1 - found)) * FEW_ROWS;
}

/* A copy of a path that can be a child, as its creator may free it; or NULL. */
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
 * Make a gate for a path; NULL if there is no probe for it, or it would not
 * pay.  Sets *absent to the expected share; -1: unknown, and the gate has the
 * costs of its child.
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
		 !element_varies(root, &question)))
		return NULL;
	/* A filter that must not be probed now may be when the plan is executed. */
	if (IsolationIsSerializable())
		*absent = -1;

	gate = makeNode(CustomPath);
	gate->path = *child;
	gate->path.type = T_CustomPath;
	gate->path.pathtype = T_CustomScan;
	gate->path.parallel_aware = false;
	if (*absent < 0)
		gate->path.total_cost = cost_in_semijoin(root, rel, child,
												 question.rinfos);
	else
	{
		if (needs_child(root, rel, child))
			gate->path.rows *= ROWS_FUZZ;
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
 * Make gates for paths where possible.  Gates with the costs of their children
 * replace them in the list.  Returns the other gates, still to be added.
 */
static List *
make_gates(PlannerInfo *root, const RelOptInfo *rel, const List *filters,
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

/* set_rel_pathlist_hook: add gates to the scans of a relation. */
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
	/* All gates first: adding one may free paths that are worse. */
	whole = make_gates(root, rel, filters, &rel->pathlist);
	partial = make_gates(root, rel, filters, &rel->partial_pathlist);
	foreach(cell, whole)
		add_path(rel, lfirst(cell));
	foreach(cell, partial)
		add_partial_path(rel, lfirst(cell));
}

/* PlanCustomPath.  A partitionwise join may have adjusted the clauses. */
static Plan *
plan_gate(PlannerInfo *root, RelOptInfo *rel, CustomPath *gate, List *tlist,
		  List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	Question	question;
	ListCell   *cell;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

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
	scan->custom_exprs = question.clauses;
	/*
	 * If the child checks nothing else, a "maybe" without a row was wrong.  Of
	 * constants only those come here of which a probe did not say "maybe".
	 */
	scan->custom_private =
		lappend_oid(list_copy(gate->custom_private),
					list_difference_ptr(clauses, question.rinfos) == NIL &&
					!constants_of(&question, values, nulls));
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
