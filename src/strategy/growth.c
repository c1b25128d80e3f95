/*
 * growth.c
 *	  How filters grow by layers.
 *
 * Expansion 1 is the growing Redis filter: layers are all alike, and a new one
 * follows when more than half of the newest one's bits are set.  Its false
 * positive probability grows with the layers: about p for each.
 *
 * Expansion 2 and more keeps the total below p: the first layer is made for
 * half of it, and each further one for half of the one before, so that no
 * number of layers adds up to p.  Each expects `expansion` times as many
 * elements as the one before.  A layer is full when its bits say that it
 * reached its share.  That is a statement about bits, not about how many
 * elements were put in, so that it holds for unions too.
 *
 * Strategies that count elements (RedisBloom) halve from expansion 1 on, and a
 * layer is full when it has counted as many as it expects.
 */
#include <math.h>

#include "strategy/growth.h"

static bool
layers_are_alike(const BfStrategy *strategy, uint32_t expansion)
{
	return expansion == 1 && !strategy->counts_elements;
}

/* Size a layer for n elements at probability p. */
static bool
size_layer(const BfStrategy *strategy, int64_t expected, double fpp,
		   BfLayer *layer, BfError *error)
{
	BfShape		shape;

	if (!bf_strategy_size(strategy, expected, fpp, &shape, error))
		return false;
	*layer = (BfLayer) {
		.bits = shape.bits,
		.hashes = shape.hashes,
		.expected = (uint64_t) expected,
		.fpp = fpp
	};
	return true;
}

/* Size the first layer of a filter; expansion 0 is one that does not grow. */
bool
bf_growth_first(const BfStrategy *strategy, int64_t expected, double fpp,
				uint32_t expansion, BfLayer *layer, BfError *error)
{
	/* The whole is checked first, as half of a nonsense may be sense. */
	if (!size_layer(strategy, expected, fpp, layer, error))
		return false;
	if (expansion == 0 || layers_are_alike(strategy, expansion))
		return true;
	return size_layer(strategy, expected, fpp * 0.5, layer, error);
}

/* Size the layer after the newest one. */
bool
bf_growth_next(const BfStrategy *strategy, const BfLayer *newest,
			   uint32_t expansion, BfLayer *layer, BfError *error)
{
	uint64_t	expected;

	if (layers_are_alike(strategy, expansion))
	{
		*layer = *newest;
		layer->counted = 0;
		return true;
	}
	/* Guava takes an expectation of 0 for 1. */
	expected = newest->expected > 0 ? newest->expected : 1;
	if (__builtin_mul_overflow(expected, expansion, &expected) ||
		expected > INT64_MAX)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "bloom filter cannot grow beyond %lld elements",
					   (long long) INT64_MAX);
	return size_layer(strategy, (int64_t) expected, newest->fpp * 0.5, layer,
					  error);
}

/*
 * What the newest layer can take before another one is due: in elements
 * counted, or else in bits set.
 */
uint64_t
bf_growth_capacity(const BfStrategy *strategy, const BfLayer *newest,
				   uint32_t expansion)
{
	if (strategy->counts_elements)
		return newest->expected;
	if (expansion == 1)
		return newest->bits / 2 + 1;
	return (uint64_t) ceil((double) newest->bits *
						   pow(newest->fpp, 1.0 / newest->hashes));
}
