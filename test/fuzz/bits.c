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
	const BfStrategy *strategy = bf_strategy_at(take(&input, 1) % 7);
	BfShape		shape = {take(&input, 2) + 1, take(&input, 1) + 1};
	BfHeader	header = {
		.strategy = strategy->id, .cell_bits = BF_CELL_BIT, .layers = 1
	};
	BfLayer		layer;
	BfFilter	filter;
	BfError		error;
	uint8_t    *bytes = copy_bytes(input.at, input.left);
	uint8_t    *value;
	size_t		wanted;

	shape.bits += (strategy->bits_multiple - shape.bits % strategy->bits_multiple) %
		strategy->bits_multiple;
	if (strategy->accept(&shape, &error) && shape.hashes <= BF_MAX_HASHES)
	{
		layer = (BfLayer) {.bits = shape.bits,.hashes = shape.hashes};
		value = make_filter(&header, &layer, &filter);
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
