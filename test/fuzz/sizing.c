/*
 * sizing.c
 *	  Fuzz what sizes filters: n, p, buckets, expansion; and what these are
 *	  said to have for false positives.
 */
#include "fuzz.h"

#include "advise/real_fpp.h"
#include "strategy/plan.h"

/* More bits than a value holds: refused by whoever makes one. */
#define TOO_MANY_BITS	(UINT64_C(1) << 33)

/* Inputs of which one is asked for its real rate. */
#define ASKED_OF		256

/* What a rule makes, its strategy accepts. */
static void
check_shape(const BfStrategy *strategy, BfLayer shape)
{
	BfError		error;

	REQUIRE(shape.bits > 0 && shape.bits % strategy->bits_multiple == 0);
	REQUIRE(shape.hashes >= 1 && shape.hashes <= BF_MAX_HASHES);
	REQUIRE(shape.bits >= TOO_MANY_BITS || bf_strategy_accepts(strategy, shape.bits, shape.hashes, &error));
}

static BfFppWork work;

/* It takes up to half a second, so that one input of many has it asked. */
static void
check_rate(const BfStrategy *strategy, const BfLayer *shape, uint64_t elements)
{
	double		real;

	if (strategy->blocks != NULL)
	{
		real = strategy->blocks->real_fpp((double) elements, shape->bits);
		REQUIRE(real >= 0 && real <= 1);
		return;
	}
	if (elements % ASKED_OF != 1 || strategy->derivation_is_unknown)
		return;
	real = bf_real_fpp(strategy->derivation, shape->bits, shape->hashes,
					   elements, &work);
	REQUIRE(real >= 0 && real <= 1);
}

/* Layers follow one another until one is refused. */
static void
grow(const BfPlan *plan)
{
	BfError		error;
	BfLayer		newest = plan->first;
	BfLayer		next;
	int			layers = 1;

	for (; bf_plan_next_layer(plan, &newest, &next, &error); layers++)
	{
		check_shape(plan->strategy, next);
		REQUIRE(bf_plan_capacity(plan, &next) > 0);
		if (layers == BF_MAX_LAYERS)
			return;
		newest = next;
	}
	REQUIRE(error.message[0] != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	const BfStrategy *strategy = bf_strategy_at(take(&input, 1) % STRATEGIES);
	int64_t		expected = (int64_t) take(&input, 8);
	double		fpp = take_double(&input);
	int32_t		buckets = (int32_t) take(&input, 4);
	int32_t		expansion = (int32_t) (take(&input, 4) % (BF_MAX_EXPANSION + 2));
	uint64_t	elements = take(&input, 8);
	BfLayer		shape;
	BfPlan		plan;
	BfError		error;

	if (bf_strategy_size(strategy, expected, fpp, &shape, &error))
	{
		check_shape(strategy, shape);
		check_rate(strategy, &shape, elements);
	}
	if (strategy->size_by_buckets != NULL &&
		strategy->size_by_buckets(expected, buckets, &shape, &error))
		check_shape(strategy, shape);
	if (bf_plan_sized(strategy, expected, fpp, BF_FUNNEL_UNBOUND, expansion,
					  &plan, &error) && expansion > 0)
		grow(&plan);
	return 0;
}
