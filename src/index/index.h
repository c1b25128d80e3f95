/*
 * index.h
 *	  The access method "bloomfilter": live filters, which PostgreSQL
 *	  maintains.
 *
 * The path of an inserted element:
 *
 *	  insert.c		hashes it
 *	  deferred.c	keeps the hash until the transaction commits, or until there
 *					are many
 *	  origin.c		determines where the file is that the row went into
 *	  pages/		stores it
 *
 * A lookup (lookup.c) examines what is deferred, then what is in pages/.
 * Before that, catalog/ determines whether a "no" is certain.
 *
 * VACUUM (vacuum.c), builds (build.c) and monitoring (monitor.c) report what
 * maintenance is due (maintenance.c).  A whole filter is read as a snapshot
 * (snapshot.c), page by page.
 */
#ifndef BLOOMEXT_INDEX_H
#define BLOOMEXT_INDEX_H

#include "access/amapi.h"
#include "nodes/pathnodes.h"

#include "catalog/filters.h"
#include "pages/index_options.h"
#include "strategy/fill.h"
#include "type/element_hash.h"

/* Phases of a build, as pg_stat_progress_create_index shows them. */
#define BF_PHASE_SCAN	2
#define BF_PHASE_FILL	3
#define BF_PHASE_WRITE	4

/* deferred.c */
extern void bf_deferred_init(void);
extern MemoryContext bf_deferred_scratch(void);
extern bool bf_deferred_is_ending(void);
extern void bf_deferred_add(Relation table, Relation index,
							const BfHashPair *pair);
extern void bf_deferred_end_insertion(Relation index);
extern void bf_deferred_note_build(Relation table, Relation index);
extern bool bf_deferred_contains(Relation index, const BfHashPair *pair);
extern BfHashPair *bf_deferred_copy(Relation index, size_t *count);

/* lookup.c */

/* An element to look up, with its hash for the last filter. */
typedef struct BfLookupElement
{
	const BfElementType *element;
	const BfParts *parts;		/* that `value` was made of */
	Datum		value;
	bool		quietly;		/* "maybe" rather than an error */
	const BfStrategy *strategy; /* NULL: not hashed yet */
	BfFunnel	funnel;
	bool		ignores_blanks;
	bool		fits;			/* can a filter so hashed contain it? */
	BfHashPair	pair;
} BfLookupElement;

extern bool bf_live_probe(Relation index, const BfHashPair *pair);
extern bool bf_live_may_contain(Relation index, BfLookupElement *asked,
								BfLookupHint *last, BfDoubt *doubt);

/* alarms.c */

/* Questions of gates whose truth became known */
typedef struct BfAlarms
{
	uint64		absent;			/* "no" */
	uint64		confirmed;		/* "maybe", and there was a row */
	uint64		false_alarms;	/* "maybe", and there was none */
} BfAlarms;

extern bool bf_alarms_prepare(void);
extern void bf_alarms_add(Relation index, const BfAlarms *more);
extern BfAlarms bf_alarms_of(Relation index);
extern void bf_alarms_forget(Relation index);
extern double bf_alarms_share(const BfAlarms *alarms);

/* maintenance.c */
typedef struct BfLiveFill
{
	BfFill		all;			/* estimated, including pending elements */
	uint64		expected;		/* elements that the layers are sized for */
	double		made_for;		/* false positive probability by design */
	uint32		layers;
	bool		grows;			/* the newest is full, another will follow */
	bool		at_least;		/* all bits of a layer set: may hold more */
} BfLiveFill;

typedef enum BfDue
{
	BF_DUE_NOTHING,
	BF_DUE_GROWTH,				/* happens by itself */
	BF_DUE_OVER_FULL,			/* rebuild: too many false positives */
	BF_DUE_MANY_LAYERS,			/* rebuild: lookups are slow */
	BF_DUE_OUTGROWN				/* rebuild: most of its rows are gone */
} BfDue;

extern void bf_live_measure(Relation index, BfLive *live, BfLiveFill *fill);
extern double bf_live_counted_rows(Oid table);
extern double bf_live_likely_rows(Oid table);
extern BfDue bf_live_due(const BfLiveFill *fill, double rows);
extern double bf_live_enough(const BfLiveFill *fill, double rows);
extern const char *bf_live_qualified_name(Relation index);
extern void bf_live_warn_over_full(Relation index, const BfLive *live,
								   const BfLiveFill *fill, double rows);
extern bool bf_live_warn_if_over_full(Relation index);
extern void bf_live_report_fill(Relation index, BfLive *live, double rows,
								int level);

/* scan.c */
typedef void (*BfTakeRow) (TupleTableSlot *slot, const Datum *values,
						   const bool *isnull, void *state);

extern void bf_scan_rows(Relation table, IndexInfo *info, Snapshot snapshot,
						 BfTakeRow take, void *state);
extern void bf_scan_sample(Relation table, IndexInfo *info, Snapshot snapshot,
						   double part, BfTakeRow take, void *state);

/* build.c, handler.c, insert.c, vacuum.c, validate.c: callbacks */
extern void bflive_costestimate(PlannerInfo *root, IndexPath *path,
								double loop_count, Cost *startup_cost,
								Cost *total_cost, Selectivity *selectivity,
								double *correlation, double *pages);
extern IndexBuildResult *bflive_build(Relation heap, Relation index,
									  IndexInfo *info);
extern void bflive_buildempty(Relation index);
extern char *bflive_buildphasename(int64 phase);
extern bool bflive_insert(Relation index, Datum *values, bool *isnull,
						  ItemPointer tid, Relation heap,
						  IndexUniqueCheck unique, bool unchanged,
						  IndexInfo *info);
extern void bflive_insertcleanup(Relation index, IndexInfo *info);
extern IndexBulkDeleteResult *
			bflive_bulkdelete(IndexVacuumInfo *info,
							  IndexBulkDeleteResult *stats,
							  IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *
			bflive_vacuumcleanup(IndexVacuumInfo *info,
								 IndexBulkDeleteResult *stats);
extern bool bflive_validate(Oid opclass);

#endif							/* BLOOMEXT_INDEX_H */
