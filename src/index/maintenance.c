/*
 * maintenance.c
 *	  How full a live filter is, what maintenance is due, and how it is
 *	  reported.
 *
 * A filter grows by itself.  A rebuild, which leaves one layer for the
 * existing rows, is due where growth does not help.  A layer that is
 * over-full keeps its false positives, whatever is added later.  And where
 * rows are deleted and inserted all the time, the filter gets more and more
 * layers although the table does not grow.
 */
#include "postgres.h"

#include "access/relation.h"
#include "commands/vacuum.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "index/index.h"

/* Pending pages of a layer to examine for an estimate. */
#define SAMPLE	64

/* Too many false positives: this multiple of the requested probability. */
#define TOO_MANY	2

/* With fewer questions, or fewer false alarms, that may be chance. */
#define ENOUGH_QUESTIONS	10000
#define ENOUGH_ALARMS		10

/* Too many layers: a lookup of an absent element probes each of them. */
#define MANY_LAYERS	8

/* Too large: this number of elements per row of the table. */
#define OUTGROWN	4

/* Estimate the number of pending elements of a layer. */
static uint64
estimate_pending(Relation index, BfLive *live, const BfLiveLayer *layer)
{
	uint64		count = 0;
	BlockNumber sample = layer->sealed ? 0 : Min(layer->pending, SAMPLE);

	for (BlockNumber i = 0; i < sample; i++)
	{
		compat_vacuum_delay_point();
		count += bf_pending_count(index, live, layer,
								  (BlockNumber) ((uint64) i * layer->pending / sample));
	}
	return sample == 0 ? 0 : count * layer->pending / sample;
}

/* Estimate how full a filter is. */
void
bf_live_measure(Relation index, BfLive *live, BfLiveFill *fill)
{
	double		made_for = 0;
	uint64		set = 0;

	memset(fill, 0, sizeof(*fill));
	fill->layers = live->nlayers;
	for (uint32 i = 0; i < live->nlayers; i++)
	{
		const BfLiveLayer *layer = &live->layers[i];

		compat_vacuum_delay_point();
		set = bf_layer_sample(index, live, layer);
		bf_fill_add(&fill->all, live->plan.strategy, &layer->shape, set);
		fill->all.count += (int64) estimate_pending(index, live, layer);
		fill->expected += layer->shape.expected;
		made_for += (1 - made_for) * layer->shape.fpp;
		fill->at_least = fill->at_least || set >= layer->shape.bits;
	}
	/* Layers with expansion 1 add up to more than the requested probability. */
	fill->made_for = Max(made_for, live->plan.header.fpp);
	fill->grows = bf_live_can_grow(live) && bf_live_is_full(live, set);
}

/* The approximate number of rows of a table; -1 if it was never counted. */
double
bf_live_counted_rows(Oid oid)
{
	Relation	table = relation_open(oid, NoLock);
	Form_pg_class form = table->rd_rel;
	double		rows = -1;

	/* With the density that VACUUM or ANALYZE found last. */
	if (form->reltuples >= 0 && form->relpages > 0)
		rows = (double) form->reltuples / form->relpages *
			RelationGetNumberOfBlocks(table);
	relation_close(table, NoLock);
	return rows;
}

/* The number of rows, or the planner's estimate if never counted. */
double
bf_live_likely_rows(Oid oid)
{
	double		rows = bf_live_counted_rows(oid);
	Relation	table;
	BlockNumber pages;
	double		all_visible;

	if (rows >= 0)
		return rows;
	table = relation_open(oid, NoLock);
	estimate_rel_size(table, NULL, &pages, &rows, &all_visible);
	relation_close(table, NoLock);
	return rows;
}

/* What is due, for a table with that number of rows, or -1 if unknown. */
BfDue
bf_live_due(const BfLiveFill *fill, double rows)
{
	if (fill->all.fpp > TOO_MANY * fill->made_for)
		return BF_DUE_OVER_FULL;
	if (fill->layers > MANY_LAYERS)
		return BF_DUE_MANY_LAYERS;
	if (fill->layers > 1 && rows >= 0 && fill->all.count > OUTGROWN * rows)
		return BF_DUE_OUTGROWN;
	return fill->grows ? BF_DUE_GROWTH : BF_DUE_NOTHING;
}

/*
 * The number of elements to rebuild an over-full filter for, so that it is not
 * over-full again soon: twice the number that it holds.  If all bits are set,
 * that number is only a lower bound, and the rows of the table are used if
 * they are more.
 */
double
bf_live_enough(const BfLiveFill *fill, double rows)
{
	double		count = (double) fill->all.count;

	return 2 * (fill->at_least ? Max(count, rows) : count);
}

/* The name of an index for use in a statement. */
const char *
bf_live_qualified_name(Relation index)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(index)),
									  RelationGetRelationName(index));
}

/* The percentage of bits that are set. */
static double
percent_set(const BfLiveFill *fill)
{
	return (double) fill->all.bits_set / (double) fill->all.bits * 100;
}

/* The contents of a filter, as text. */
static const char *
contents_text(const BfLiveFill *fill)
{
	const char *about = fill->at_least ? "at least" : "about";

	if (fill->layers == 1)
		return psprintf("%s %lld elements", about, (long long) fill->all.count);
	return psprintf("%s %lld elements in %u layers", about,
					(long long) fill->all.count, fill->layers);
}

/*
 * Warn of an over-full filter of a table with that number of rows, with a
 * hint.  An index that is not valid yet is being rebuilt concurrently, and its
 * name is temporary.
 */
void
bf_live_warn_over_full(Relation index, const BfLive *live,
					   const BfLiveFill *fill, double rows)
{
	const char *name = index->rd_index->indisvalid ?
		bf_live_qualified_name(index) : "...";
	double		enough = bf_live_enough(fill, rows);
	const char *hint;

	if (live->plan.header.expansion > 0)
		hint = psprintf("Use REINDEX INDEX CONCURRENTLY %s to rebuild it as a single layer.",
						name);
	else
		hint = psprintf("Use ALTER INDEX %s SET (expected = %.0f), then REINDEX INDEX CONCURRENTLY.%s",
						name, enough,
						!fill->at_least ? "" :
						enough == 2 * rows ? " That is twice the number of rows in the table, as the number of elements in a full filter cannot be estimated." :
						" That may be too few, as the number of elements in a full filter cannot be estimated.");
	ereport(WARNING,
			(errmsg("live filter \"%s\" is over-full: %.1f %% of its bits are set",
					RelationGetRelationName(index), percent_set(fill)),
			 errdetail("It holds %s, was sized for %llu, and has an estimated false positive probability of %.2g, which is too high.",
					   contents_text(fill), (unsigned long long) fill->expected, fill->all.fpp),
			 errhint("%s", hint)));
}

/* Warn if a filter is over-full, by an estimate from some of its pages. */
bool
bf_live_warn_if_over_full(Relation index)
{
	BfLive		live;
	BfLiveFill	fill;

	bf_live_open(index, &live);
	bf_live_measure(index, &live, &fill);
	if (bf_live_due(&fill, -1) != BF_DUE_OVER_FULL)
		return false;
	bf_live_warn_over_full(index, &live, &fill,
						   bf_live_likely_rows(index->rd_index->indrelid));
	return true;
}

/*
 * Warn if gates had far more false alarms than promised, though the filter is
 * not over-full.
 */
static void
warn_of_alarms(Relation index, const BfLiveFill *fill)
{
	BfAlarms	alarms = bf_alarms_of(index);
	uint64		not_there = alarms.absent + alarms.false_alarms;

	if (not_there < ENOUGH_QUESTIONS || alarms.false_alarms < ENOUGH_ALARMS ||
		bf_alarms_share(&alarms) <= TOO_MANY * fill->made_for)
		return;
	ereport(WARNING,
			(errmsg("live filter \"%s\" was wrong in %.2g of its answers for what was not there",
					RelationGetRelationName(index), bf_alarms_share(&alarms)),
			 errdetail("Of %llu such questions by query plans, %llu were answered \"maybe\"; it was made for %.2g.",
					   (unsigned long long) not_there,
					   (unsigned long long) alarms.false_alarms, fill->made_for),
			 errhint("Deleted rows stay in the filter until REINDEX INDEX CONCURRENTLY %s.  An element that is asked for again and again counts each time.",
					 bf_live_qualified_name(index))));
}

/* Report how full a filter is, and warn if it is over-full. */
void
bf_live_report_fill(Relation index, BfLive *live, double rows, int level)
{
	BfLiveFill	fill;

	bf_live_measure(index, live, &fill);
	ereport(level,
			(errmsg("live filter \"%s\" has %.1f %% of its bits set",
					RelationGetRelationName(index), percent_set(&fill)),
			 errdetail("It holds %s, was sized for %llu, and has an estimated false positive probability of %.2g.",
					   contents_text(&fill), (unsigned long long) fill.expected, fill.all.fpp)));
	if (bf_live_due(&fill, rows) == BF_DUE_OVER_FULL)
		bf_live_warn_over_full(index, live, &fill, rows);
	else
		warn_of_alarms(index, &fill);
}
