/*
 * due.c
 *	  How full is a live filter, over all its layers, and what is due for that?
 *
 * Growth comes by itself.  A rebuild is due where growth is of no help: false
 * positives of the layers that there are stay, whatever is added.  And where rows
 * come and go, a table stays as large as it is, while its filter gets more
 * and more layers.  A rebuild leaves one layer, for the rows there are.
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "live/live.h"

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
