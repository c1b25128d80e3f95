/*
 * plan.c
 *	  Plan filters: by what they are to hold, by their bits, and layer by
 *	  layer.
 *
 * With expansion 1, as in the growing filter over Redis (redis/layouts.c),
 * all layers are alike.  A new layer follows when more than half of the
 * newest one's bits are set or, for a strategy with blocks, when its bits
 * show that its false positive probability has reached p.  The probability of
 * the filter grows with the number of layers, by about p for each.
 *
 * With expansion 2 and more, the first layer is made for half of p, and each
 * further one for half of the one before, so the total stays below p for any
 * number of layers.  Each layer expects `expansion` times as many elements as
 * the one before.  A layer is full when its bits show that its probability
 * has reached its share of p.  The number of elements that were added does
 * not matter, so the rule holds for unions too.
 *
 * Strategies that count elements (RedisBloom) halve p with expansion 1 as
 * well, and their layers are full when they have counted as many elements as
 * they expect.
 */
#include <inttypes.h>
#include <math.h>

#include "strategy/fpp.h"
#include "strategy/plan.h"

/* Whether all layers of a filter have the bits and hashes of the first. */
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
	*layer = (BfLayer) {.expected = (uint64_t) expected, .fpp = fpp};
	return bf_strategy_size(strategy, expected, fpp, layer, error);
}

/* A plan of one layer, which is yet to be sized. */
static BfPlan
plan_of(const BfStrategy *strategy, BfFunnel funnel)
{
	return (BfPlan) {
		.strategy = strategy,
		.header = {
			.layers = 1,
			.strategy = strategy->id,
			.funnel = (uint8_t) funnel,
			.cell_bits = BF_CELL_BIT
		}
	};
}

/*
 * Plan a filter for n elements at probability p: its first or only layer.
 * Expansion 0 means that it does not grow.
 */
bool
bf_plan_sized(const BfStrategy *strategy, int64_t expected, double fpp,
			  BfFunnel funnel, int32_t expansion, BfPlan *plan, BfError *error)
{
	if (expansion < 0 || expansion > BF_MAX_EXPANSION)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "expansion must be between 0 and %d, but is %" PRId32,
					   BF_MAX_EXPANSION, expansion);
	*plan = plan_of(strategy, funnel);
	plan->header.expected = (uint64_t) expected;
	plan->header.fpp = fpp;
	plan->header.expansion = (uint32_t) expansion;
	/* Check p itself first: half of an invalid one may be valid. */
	if (!size_layer(strategy, expected, fpp, &plan->first, error))
		return false;
	if (expansion == 0 || layers_are_alike(strategy, plan->header.expansion))
		return true;
	return size_layer(strategy, expected, fpp * 0.5, &plan->first, error);
}

/*
 * Plan a filter of one layer of known bits, rounded up as by the strategy, and
 * hashes; n and p stay unknown.
 */
bool
bf_plan_bits(const BfStrategy *strategy, int64_t bits, int32_t hashes,
			 BfFunnel funnel, BfPlan *plan, BfError *error)
{
	uint32_t	multiple = strategy->bits_multiple;

	if (bits < 1)
		return bf_fail(error, bits == 0 ? BF_ERROR_LIMIT : BF_ERROR_PARAMETER,
					   "number of bits must be at least 1, but is %" PRId64,
					   bits);
	if (hashes < 1)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "number of hash functions must be at least 1, but is %" PRId32,
					   hashes);
	if (hashes > BF_MAX_HASHES)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "number of hash functions must be at most %d, but is %" PRId32,
					   BF_MAX_HASHES, hashes);

	*plan = plan_of(strategy, funnel);
	plan->first.bits = ((uint64_t) bits + multiple - 1) / multiple * multiple;
	plan->first.hashes = (uint32_t) hashes;
	return bf_strategy_accepts(strategy, plan->first.bits, plan->first.hashes,
							   error);
}

/* Size the layer after the newest one. */
bool
bf_plan_next_layer(const BfPlan *plan, const BfLayer *newest, BfLayer *layer,
				   BfError *error)
{
	uint64_t	expected;

	if (layers_are_alike(plan->strategy, plan->header.expansion))
	{
		*layer = *newest;
		layer->counted = 0;
		return true;
	}
	/* Guava treats an expectation of 0 as 1. */
	expected = newest->expected > 0 ? newest->expected : 1;
	if (__builtin_mul_overflow(expected, plan->header.expansion, &expected) ||
		expected > INT64_MAX)
		return bf_fail(error, BF_ERROR_LIMIT,
					   "bloom filter cannot grow beyond %lld elements",
					   (long long) INT64_MAX);
	return size_layer(plan->strategy, (int64_t) expected, newest->fpp * 0.5,
					  layer, error);
}

/*
 * The capacity of the newest layer, before another one is due: in elements
 * counted, or else in bits set.
 */
uint64_t
bf_plan_capacity(const BfPlan *plan, const BfLayer *newest)
{
	if (plan->strategy->counts_elements)
		return newest->expected;
	/* Half of the bits make p where k is best for p, not where it is fixed. */
	if (plan->header.expansion == 1 &&
		(plan->strategy->blocks == NULL || newest->fpp == 0))
		return newest->bits / 2 + 1;
	return (uint64_t) ceil((double) newest->bits *
						   bf_layer_fraction(plan->strategy, newest));
}

/* Compute the value's length, and where in it the layers' bits are. */
bool
bf_plan_measure(BfPlan *plan, uint64_t *length, BfError *error)
{
	BfLayer    *layers = plan->layers != NULL ? plan->layers : &plan->first;

	if (!bf_format_size(&plan->header, layers, length, error))
		return false;
	plan->first = layers[0];
	return true;
}

/* Write the prefix of a value. */
void
bf_plan_encode(const BfPlan *plan, uint8_t *bytes)
{
	bf_format_encode(&plan->header,
					 plan->layers != NULL ? plan->layers : &plan->first,
					 bytes);
}
