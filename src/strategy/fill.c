/*
 * fill.c
 *	  How full filters are, over their layers.
 *
 * The false positive probability of a layer is estimated from the number of
 * bits set (fpp.c).  For a strategy with blocks it is instead the mean over
 * the layer's blocks, if the bits can be read.
 */
#include <math.h>

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

/* Take some bits of a plain layer, whole words and blocks. */
void
bf_layer_fill_add(BfLayerFill *fill, const BfStrategy *strategy,
				  const uint8_t *bits, size_t bytes)
{
	fill->bits_set += bf_bits_count(bits, bytes);
	if (strategy->blocks != NULL)
		fill->sum_fpp += strategy->blocks->sum_fpp(bits, bytes);
}

/* Add a layer by what all of its bits say. */
void
bf_fill_add_measured(BfFill *fill, const BfStrategy *strategy,
					 const BfLayer *layer, const BfLayerFill *measured)
{
	const BfBlocks *blocks = strategy->blocks;

	if (blocks == NULL)
		bf_fill_add(fill, strategy, layer, measured->bits_set);
	else
		add_to_fill(fill, layer, measured->bits_set,
					measured->sum_fpp / (double) (layer->bits / 8 / blocks->bytes));
}

/* Add a layer of a filter by an estimate from the first bytes of its bits. */
void
bf_fill_sample(BfFill *fill, const BfFilter *filter, const BfLayer *layer,
			   const uint8_t *bits, size_t bytes)
{
	uint8_t		cell_bits = filter->plan.header.cell_bits;
	uint64_t	set = bf_cells_count(bits, bytes, cell_bits);
	uint64_t	cells = bytes * 8 / cell_bits;

	if (cells > layer->bits)
		cells = layer->bits;
	bf_fill_add(fill, filter->plan.strategy, layer,
				(uint64_t) rint((double) set / (double) cells * (double) layer->bits));
}

/* Add a layer of a filter by its bits. */
void
bf_fill_measure(BfFill *fill, const BfFilter *filter, const BfLayer *layer)
{
	const BfStrategy *strategy = filter->plan.strategy;
	BfLayerFill measured = {0};

	if (strategy->blocks == NULL)
	{
		bf_fill_add(fill, strategy, layer, bf_layer_count(filter, layer));
		return;
	}
	bf_pause();
	bf_layer_fill_add(&measured, strategy, filter->bytes + layer->offset,
					  layer->bytes);
	bf_fill_add_measured(fill, strategy, layer, &measured);
}
