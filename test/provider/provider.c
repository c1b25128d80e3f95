/*
 * provider.c
 *	  A provider of custom scans, as other extensions are.
 *
 * Of the table that provider.over names, provider.mode says what becomes of the
 * paths: "replace" leaves but one that reads the rows of the table provider.rows, as
 * TimescaleDB does for a chunk that is compressed; "append" one that reads both, as
 * for a chunk that is in part; "wrap" puts a node over each, which hands on its rows,
 * as tracing does.  Where the mode is "join" that is done to the paths of joins.
 * "advise" leaves the paths, and has a second index beside each that is not scanned,
 * of which there is no more than the planner is told, as those who give advice do.
 *
 * A node projects by itself, as TimescaleDB's do.  It does so from slots of any
 * kind: those of its child are what they are.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "catalog/namespace.h"
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* 15 asks whether a custom scan projects; before, all had to. */
#ifndef CUSTOMPATH_SUPPORT_PROJECTION
#define CUSTOMPATH_SUPPORT_PROJECTION	0
#endif

/* 19 scans by flags, and wants an Append's paths in one argument. */
#if PG_VERSION_NUM >= 190000
#define begin_scan(table, snapshot)	table_beginscan(table, snapshot, 0, NULL, 0)
#define append_of(paths)	((AppendPathInput) {.subpaths = (paths)})
#else
#define begin_scan(table, snapshot)	table_beginscan(table, snapshot, 0, NULL)
#define append_of(paths)	(paths), NIL
#endif

PG_MODULE_MAGIC;

void		_PG_init(void);

typedef enum Mode
{
	MODE_OFF,
	MODE_REPLACE,
	MODE_APPEND,
	MODE_WRAP,
	MODE_JOIN,
	MODE_ADVISE
} Mode;

static const struct config_enum_entry modes[] = {
	{"off", MODE_OFF, false},
	{"replace", MODE_REPLACE, false},
	{"append", MODE_APPEND, false},
	{"wrap", MODE_WRAP, false},
	{"join", MODE_JOIN, false},
	{"advise", MODE_ADVISE, false},
	{NULL, 0, false}
};

static int	mode = MODE_OFF;
static char *over_name;
static char *rows_name;

/* An OID that no relation has. */
#define NO_INDEX	4294967294

/* 19 has another hook where what is known of a table can be changed. */
#if PG_VERSION_NUM >= 190000
#define table_hook	build_simple_rel_hook
typedef build_simple_rel_hook_type TableHook;
#else
#define table_hook	get_relation_info_hook
typedef get_relation_info_hook_type TableHook;
#endif

static TableHook previous_table_hook;
static set_rel_pathlist_hook_type previous_rel_hook;
static set_join_pathlist_hook_type previous_join_hook;

/* A scan of another table, whose rows are those of ours. */
typedef struct RowsState
{
	CustomScanState node;
	Relation	table;
	TableScanDesc scan;
	TupleTableSlot *slot;
} RowsState;

/* Have the node project from slots of any kind, not from virtual ones alone. */
static void
begin_wrap(CustomScanState *node, EState *estate, int flags)
{
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	node->custom_ps = list_make1(ExecInitNode(linitial(scan->custom_plans), estate, flags));
	node->ss.ps.scanopsfixed = false;
	node->ss.ps.resultopsfixed = false;
	node->ss.ps.resultops = NULL;
	ExecAssignScanProjectionInfoWithVarno(&node->ss, INDEX_VAR);
}

static TupleTableSlot *
exec_wrap(CustomScanState *node)
{
	TupleTableSlot *slot = ExecProcNode(linitial(node->custom_ps));
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;

	if (TupIsNull(slot) || projection == NULL)
		return slot;
	ResetExprContext(projection->pi_exprContext);
	projection->pi_exprContext->ecxt_scantuple = slot;
	return ExecProject(projection);
}

static void
end_wrap(CustomScanState *node)
{
	ExecEndNode(linitial(node->custom_ps));
}

static void
rescan_wrap(CustomScanState *node)
{
	PlanState  *child = linitial(node->custom_ps);

	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static const CustomExecMethods wrap_exec = {
	.CustomName = "Provider Wrap",
	.BeginCustomScan = begin_wrap,
	.ExecCustomScan = exec_wrap,
	.EndCustomScan = end_wrap,
	.ReScanCustomScan = rescan_wrap
};

static Node *
create_wrap(CustomScan *scan)
{
	CustomScanState *node = makeNode(CustomScanState);

	node->methods = &wrap_exec;
	return (Node *) node;
}

static const CustomScanMethods wrap_scan = {"Provider Wrap", create_wrap};

/* It is the child that knows the clauses. */
static Plan *
plan_wrap(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->flags = path->flags;
	scan->custom_plans = plans;
	scan->custom_scan_tlist = copyObject(((Plan *) linitial(plans))->targetlist);
	scan->methods = &wrap_scan;
	return &scan->scan.plan;
}

static const CustomPathMethods wrap_path = {"Provider Wrap", plan_wrap};

/* Put a node over each of the paths that has none yet, at its place. */
static void
wrap_paths(List *paths)
{
	ListCell   *cell;

	foreach(cell, paths)
	{
		Path	   *child = lfirst(cell);
		CustomPath *path;

		if (IsA(child, CustomPath) && ((CustomPath *) child)->methods == &wrap_path)
			continue;
		path = makeNode(CustomPath);
		path->path = *child;
		path->path.type = T_CustomPath;
		path->path.pathtype = T_CustomScan;
		path->path.parallel_aware = false;
		path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
		path->custom_paths = list_make1(child);
		path->methods = &wrap_path;
		lfirst(cell) = path;
	}
}

static void
begin_rows(CustomScanState *node, EState *estate, int flags)
{
	RowsState  *state = (RowsState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;

	state->table = table_open(linitial_oid(scan->custom_private), AccessShareLock);
	state->slot = table_slot_create(state->table, &estate->es_tupleTable);
	if ((flags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		state->scan = begin_scan(state->table, estate->es_snapshot);
}

static TupleTableSlot *
next_row(ScanState *node)
{
	RowsState  *state = (RowsState *) node;

	if (!table_scan_getnextslot(state->scan, ForwardScanDirection, state->slot))
		return NULL;
	return ExecCopySlot(node->ss_ScanTupleSlot, state->slot);
}

/* There is nothing to look at again: the clauses are the node's own. */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
exec_rows(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

static void
end_rows(CustomScanState *node)
{
	RowsState  *state = (RowsState *) node;

	if (state->scan != NULL)
		table_endscan(state->scan);
	table_close(state->table, NoLock);
}

static void
rescan_rows(CustomScanState *node)
{
	table_rescan(((RowsState *) node)->scan, NULL);
	ExecScanReScan(&node->ss);
}

static const CustomExecMethods rows_exec = {
	.CustomName = "Provider Rows",
	.BeginCustomScan = begin_rows,
	.ExecCustomScan = exec_rows,
	.EndCustomScan = end_rows,
	.ReScanCustomScan = rescan_rows
};

static Node *
create_rows(CustomScan *scan)
{
	RowsState  *state = palloc0(sizeof(RowsState));

	state->node.ss.ps.type = T_CustomScanState;
	state->node.methods = &rows_exec;
	return (Node *) state;
}

static const CustomScanMethods rows_scan = {"Provider Rows", create_rows};

static Plan *
plan_rows(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *plans)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_private = path->custom_private;
	scan->methods = &rows_scan;
	return &scan->scan.plan;
}

static const CustomPathMethods rows_path = {"Provider Rows", plan_rows};

/* A path that reads the other table. */
static Path *
make_rows_path(PlannerInfo *root, RelOptInfo *rel)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = get_baserel_parampathinfo(root, rel, rel->lateral_relids);
	path->path.rows = rel->rows;
	path->path.total_cost = rel->tuples * cpu_tuple_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make1_oid(RelnameGetRelid(rows_name));
	path->methods = &rows_path;
	return &path->path;
}

/* Whether it is the table that is meant, in a query that takes no row's identity. */
static bool
is_ours(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	char	   *name;

	if (rte->rtekind != RTE_RELATION || rte->inh || IS_DUMMY_REL(rel) ||
		rti == root->parse->resultRelation || root->rowMarks != NIL)
		return false;
	name = get_rel_name(rte->relid);
	return name != NULL && strcmp(name, over_name) == 0;
}

/* Have a relation's paths be one of the other table, and one of its own, or not. */
static void
replace_paths(PlannerInfo *root, RelOptInfo *rel, bool and_own)
{
	Path	   *path = make_rows_path(root, rel);
	Path	   *own = get_cheapest_path_for_pathkeys(rel->pathlist, NIL,
													 rel->lateral_relids,
													 TOTAL_COST, false);

	if (and_own)
		path = (Path *) create_append_path(root, rel, append_of(list_make2(path, own)), NIL,
										   rel->lateral_relids, 0, false, -1);
	rel->pathlist = list_make1(path);
	rel->partial_pathlist = NIL;
}

static void
provide_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_rel_hook != NULL)
		previous_rel_hook(root, rel, rti, rte);
	if (mode == MODE_OFF || mode == MODE_JOIN || mode == MODE_ADVISE || !is_ours(root, rel, rti, rte))
		return;
	if (mode != MODE_WRAP)
	{
		replace_paths(root, rel, mode == MODE_APPEND);
		return;
	}
	wrap_paths(rel->pathlist);
	wrap_paths(rel->partial_pathlist);
}

static void
provide_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer,
				   RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	if (previous_join_hook != NULL)
		previous_join_hook(root, joinrel, outer, inner, type, extra);
	if (mode == MODE_JOIN && root->rowMarks == NIL)
		wrap_paths(joinrel->pathlist);
}

static void
add_advised(Oid table, RelOptInfo *rel)
{
	List	   *advised = NIL;
	ListCell   *cell;

	if (mode != MODE_ADVISE || strcmp(get_rel_name(table), over_name) != 0)
		return;
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = makeNode(IndexOptInfo);

		*index = *(IndexOptInfo *) lfirst(cell);
		index->indexoid = NO_INDEX;
		index->hypothetical = true;
		if (!index->amhasgettuple && !index->amhasgetbitmap)
			advised = lappend(advised, index);
	}
	rel->indexlist = list_concat(advised, rel->indexlist);
}

#if PG_VERSION_NUM >= 190000
static void
advise_indexes(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte)
{
	if (previous_table_hook != NULL)
		previous_table_hook(root, rel, rte);
	if (rte->rtekind == RTE_RELATION)
		add_advised(rte->relid, rel);
}
#else
static void
advise_indexes(PlannerInfo *root, Oid table, bool inhparent, RelOptInfo *rel)
{
	if (previous_table_hook != NULL)
		previous_table_hook(root, table, inhparent, rel);
	add_advised(table, rel);
}
#endif

void
_PG_init(void)
{
	DefineCustomEnumVariable("provider.mode", "What becomes of the paths.", NULL,
							 &mode, MODE_OFF, modes, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("provider.over", "The table whose paths they are.", NULL,
							   &over_name, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("provider.rows", "The table whose rows are read instead.", NULL,
							   &rows_name, "", PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterCustomScanMethods(&wrap_scan);
	RegisterCustomScanMethods(&rows_scan);
	previous_table_hook = table_hook;
	table_hook = advise_indexes;
	previous_rel_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = provide_paths;
	previous_join_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = provide_join_paths;
}
