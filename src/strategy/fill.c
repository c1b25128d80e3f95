/*
 * fill.c
 *	  How full filters are, over their layers.
 *
 * Where the bits are at hand, the probability of a strategy with blocks is
 * that of each of them; otherwise it is by their number (fpp.c).
 */
#include "core/estimate.h"
#include "strategy/fill.h"

/* Add a layer, which is searched for what the others lack. */
static void
add_to_fill(BfFill *fill, const BfLayer *layer, uint64_t bits_set, double fpp)
{
	fill->bits += layer->bits;
	fill->bits_set += bits_set;
	fill->count += (int64_t) bf_estimate_count(bits_set, layer->bits,
											   layer->hashes);
	fill->fpp += (1 - fill->fpp) * fpp;
}

/* Add a layer of which this number of bits is set. */
void
bf_fill_add(BfFill *fill, const BfStrategy *strategy, const BfLayer *layer,
			uint64_t bits_set)
{
	add_to_fill(fill, layer, bits_set, bf_layer_fpp(strategy, layer, bits_set));
}

/* Add a layer of a filter by its bits. */
void
bf_fill_measure(BfFill *fill, const BfFilter *filter, const BfLayer *layer)
{
	const BfBlocks *blocks = filter->plan.strategy->blocks;
	uint64_t	bits_set = bf_layer_count(filter, layer);

	if (blocks != NULL)
		add_to_fill(fill, layer, bits_set,
				  blocks->fill_fpp(filter->bytes + layer->offset, layer->bytes));
	else
		bf_fill_add(fill, filter->plan.strategy, layer, bits_set);
}
