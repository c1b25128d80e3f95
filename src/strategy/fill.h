/*
 * fill.h
 *	  How full a filter is, all of its layers taken together.
 */
#ifndef BLOOMEXT_FILL_H
#define BLOOMEXT_FILL_H

#include "strategy/filter.h"
#include "strategy/fpp.h"

/* How full a filter is, over its layers. */
typedef struct BfFill
{
	uint64_t	bits;
	uint64_t	bits_set;
	int64_t		count;			/* estimated number of elements */
	double		fpp;			/* estimated false positive probability */
} BfFill;

/* What the bits of a layer say of it. */
typedef struct BfLayerFill
{
	uint64_t	bits_set;
	double		sum_fpp;		/* over blocks, where there are some */
} BfLayerFill;

extern void bf_layer_fill_add(BfLayerFill *fill, const BfStrategy *strategy,
							  const uint8_t *bits, size_t bytes);
extern void bf_fill_add(BfFill *fill, const BfStrategy *strategy,
						const BfLayer *layer, uint64_t bits_set);
extern void bf_fill_add_measured(BfFill *fill, const BfStrategy *strategy,
								 const BfLayer *layer,
								 const BfLayerFill *measured);
extern void bf_fill_sample(BfFill *fill, const BfFilter *filter,
						   const BfLayer *layer, const uint8_t *bits,
						   size_t bytes);
extern void bf_fill_measure(BfFill *fill, const BfFilter *filter,
							const BfLayer *layer);

#endif							/* BLOOMEXT_FILL_H */
