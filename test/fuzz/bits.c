/*
 * bits.c
 *	  Fuzz the import of bit strings: an order, a strategy, a shape, and bytes
 *	  that may be fewer or more than it says.
 */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	BfBitOrder	order = take(&input, 1) & 1 ? BF_ORDER_BITSET : BF_ORDER_REDIS;
	const BfStrategy *strategy = bf_strategy_at(take(&input, 1) % STRATEGIES);
	int64_t		bits = (int64_t) take(&input, 2) + 1;
	int32_t		hashes = (int32_t) take(&input, 1) + 1;
	BfPlan		plan;
	BfLayer		layer;
	BfFilter	filter;
	BfError		error;
	uint8_t    *bytes = copy_bytes(input.at, input.left);
	uint8_t    *value;
	size_t		wanted;

	if (bf_plan_bits(strategy, bits, hashes, BF_FUNNEL_UNBOUND, &plan, &error))
	{
		value = make_filter(&plan, &filter);
		layer = plan.first;
		wanted = input.left < layer.bytes ? input.left : layer.bytes;
		bf_bits_from_order(order, bytes, wanted, value + layer.offset);
		if (bf_bits_tail_is_zero(value + layer.offset, layer.bytes, layer.bits))
			exercise(value, filter.length);
		else
			REQUIRE(!bf_filter_open(value, filter.length, filter.length,
									&filter, &error));
		free(value);
	}
	free(bytes);
	return 0;
}
