/*
 * partial.c
 *	  Fuzz the decoder of partial states: what opens says of itself what it was
 *	  read from, and can be used.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "strategy/partial.h"

/* Unpack the bits, of which each byte that is packed makes 8 at most. */
static void
unpack(const BfPartial *partial)
{
	size_t		length = (size_t) partial->filter.plan.first.bytes;
	uint8_t    *bits = calloc(1, length);

	REQUIRE(bits != NULL && length / 8 <= partial->packed_length);
	if (bf_bits_or_packed(bits, length, partial->packed, partial->packed_length))
		REQUIRE(bf_bits_packed(bits, length) <= partial->packed_length);
	free(bits);
}

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
	/* All of it lies within the bytes, one part after another. */
	list = (size_t) partial.listed * partial.words * 8;
	REQUIRE(partial.words > 0 || partial.listed == 0);
	REQUIRE(size >= BF_PARTIAL_HEAD + BF_PREFIX_SIZE(1) + list);
	REQUIRE(partial.hashes + list == data + size);
	REQUIRE(partial.packed_length == 0 ||
			partial.packed + partial.packed_length == partial.hashes);
	if (partial.filter.whole)
		exercise(partial.filter.bytes, (size_t) partial.filter.length);
	if (partial.packed_length > 0)
		unpack(&partial);
	return 0;
}
