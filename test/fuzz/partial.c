/*
 * partial.c
 *	  Fuzz the decoder of partial states: what opens says of itself what it was
 *	  read from, and can be used.
 */
#include <string.h>

#include "fuzz.h"
#include "strategy/partial.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BfPartial	partial;
	BfError		error;
	uint8_t		head[BF_PARTIAL_HEAD];
	size_t		list;

	if (!bf_partial_open(data, size, &partial, &error))
		return 0;
	bf_partial_write_head(&partial, head);
	REQUIRE(memcmp(head, data, sizeof(head)) == 0);
	REQUIRE(partial.words == partial.filter.plan.strategy->words);
	list = (size_t) partial.listed * partial.words * 8;
	REQUIRE(partial.hashes + list == data + size);
	if (partial.filter.whole)
		exercise(partial.filter.bytes, (size_t) partial.filter.length);
	return 0;
}
