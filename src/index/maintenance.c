/*
 * maintenance.c
 *	  How full is a live filter, over all its layers, what is due for that, and how
 *	  are users told?
 *
 * Growth comes by itself.  A rebuild is due where growth is of no help: false
 * positives of the layers that there are stay, whatever is added.  And where rows
 * come and go, a table stays as large as it is, while its filter gets more
 * and more layers.  A rebuild leaves one layer, for the rows there are.
 */
#include "postgres.h"

#include "access/relation.h"
#include "commands/vacuum.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "index/index.h"

/* Pending pages of a layer to estimate by. */
#define SAMPLE	64

/* Too many false positives: so many times what it was made for. */
#define TOO_MANY	2

/* Too many layers: a lookup of what is absent asks each of them. */
#define MANY_LAYERS	8

/* Too large: so many times as many elements as its table has rows. */
#define OUTGROWN	4

/* Estimate how many elements wait for their bits in a layer. */
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
		bf_fill_add(&fill->all, &layer->shape, set);
		fill->all.count += (int64) estimate_pending(index, live, layer);
		fill->expected += layer->shape.expected;
		made_for += (1 - made_for) * layer->shape.fpp;
		fill->at_least = fill->at_least || set >= layer->shape.bits;
	}
	/* Those of expansion 1 add up to more than was asked for. */
	fill->made_for = Max(made_for, live->plan.header.fpp);
	fill->grows = bf_live_can_grow(live) && bf_live_is_full(live, set);
}

/* About how many rows a table has, or -1 where nobody has counted any. */
double
bf_live_counted_rows(Oid oid)
{
	Relation	table = relation_open(oid, NoLock);
	Form_pg_class form = table->rd_rel;
	double		rows = -1;

	/* As many on a page as when VACUUM or ANALYZE last looked. */
	if (form->reltuples >= 0 && form->relpages > 0)
		rows = (double) form->reltuples / form->relpages *
			RelationGetNumberOfBlocks(table);
	relation_close(table, NoLock);
	return rows;
}

/* The same, or where nobody counted as the planner guesses, by the width of rows. */
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

/* What is due, for a table of so many rows, or of nobody knows how many: -1. */
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
 * How many elements to expect when an over-full filter is made anew, lest it be
 * that again soon: twice as many as it holds.  One with all bits set does not
 * tell how many, only how many at least; so it takes the table's rows, too.
 */
double
bf_live_enough(const BfLiveFill *fill, double rows)
{
	double		count = (double) fill->all.count;

	return 2 * (fill->at_least ? Max(count, rows) : count);
}

/* An index, as it is named in a statement. */
const char *
bf_live_qualified_name(Relation index)
{
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(index)),
									  RelationGetRelationName(index));
}

/* How many percent of a filter's bits are set. */
static double
percent(const BfLiveFill *fill)
{
	return (double) fill->all.bits_set / (double) fill->all.bits * 100;
}

/* What a filter holds, in words. */
static const char *
holding(const BfLiveFill *fill)
{
	const char *about = fill->at_least ? "at least" : "about";

	if (fill->layers == 1)
		return psprintf("%s %lld elements", about, (long long) fill->all.count);
	return psprintf("%s %lld elements in %u layers", about,
					(long long) fill->all.count, fill->layers);
}

/*
 * Warn of a filter that is over-full, for a table of so many rows, and say what to
 * do.  The name of an index that is not valid yet is one that may go again: it is
 * being rebuilt concurrently.
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
		hint = psprintf("Rebuild it as a single layer with REINDEX INDEX CONCURRENTLY %s.",
						name);
	else
		hint = psprintf("Use ALTER INDEX %s SET (expected = %.0f), then REINDEX INDEX CONCURRENTLY.%s",
						name, enough,
						!fill->at_least ? "" :
						enough == 2 * rows ? " That is twice the number of rows in the table, as the number of elements in a full filter cannot be estimated." :
						" That may be too few, as the number of elements in a full filter cannot be estimated.");
	ereport(WARNING,
			(errmsg("live filter \"%s\" is over-full: %.1f %% of its bits are set",
					RelationGetRelationName(index), percent(fill)),
			 errdetail("It holds %s, was sized for %llu, and has an estimated false positive probability of %.2g, which is too high.",
					   holding(fill), (unsigned long long) fill->expected, fill->all.fpp),
			 errhint("%s", hint)));
}

/* Warn of a filter that is over-full, by a look at some of its pages. */
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

/* Say how full the filter is, and warn where that is too much. */
void
bf_live_report_fill(Relation index, BfLive *live, double rows, int level)
{
	BfLiveFill	fill;

	bf_live_measure(index, live, &fill);
	ereport(level,
			(errmsg("live filter \"%s\" is %.1f %% full",
					RelationGetRelationName(index), percent(&fill)),
			 errdetail("It holds %s, was sized for %llu, and has an estimated false positive probability of %.2g.",
					   holding(&fill), (unsigned long long) fill.expected, fill.all.fpp)));
	if (bf_live_due(&fill, rows) == BF_DUE_OVER_FULL)
		bf_live_warn_over_full(index, live, &fill, rows);
}
