/*
 * fpp.c
 *	  How often a layer finds what was not added.
 *
 * Without blocks, a position may be any bit of the layer.  So if a fraction f
 * of the bits is set, the probability is f^k, as Guava computes it.  With
 * blocks that is not so, as they fill unevenly.  Then the number of elements
 * is estimated from f, and the probability computed from that number.
 */
#include <math.h>

#include "core/estimate.h"
#include "strategy/fpp.h"

/*
 * The probability that an element never added is found in a layer of which this
 * number of bits is set.
 */
double
bf_layer_fpp(const BfStrategy *strategy, const BfLayer *layer,
			 uint64_t bits_set)
{
	double		fraction = (double) bits_set / (double) layer->bits;

	if (strategy->blocks == NULL)
		return bf_estimate_fpp(bits_set, layer->bits, layer->hashes);
	if (fraction >= 1)
		return 1;
	return strategy->blocks->fpp(-log1p(-fraction) * (double) layer->bits /
								 layer->hashes, layer->bits);
}

/* The number of distinct elements up to which a layer keeps a probability. */
double
bf_layer_capacity(const BfStrategy *strategy, const BfLayer *layer, double fpp)
{
	return strategy->blocks != NULL ?
		strategy->blocks->capacity(fpp, layer->bits) :
		bf_estimate_capacity(fpp, layer->bits, layer->hashes);
}

/* The fraction of a layer's bits that is set when it has its probability. */
double
bf_layer_fraction(const BfStrategy *strategy, const BfLayer *layer)
{
	if (strategy->blocks == NULL)
		return pow(layer->fpp, 1.0 / layer->hashes);
	return -expm1(-bf_layer_capacity(strategy, layer, layer->fpp) *
				  layer->hashes / (double) layer->bits);
}
