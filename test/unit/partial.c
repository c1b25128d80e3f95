/*
 * partial.c
 *	  Partial states between processes: what is written is read, and hostile
 *	  bytes are refused or can be used.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "strategy/partial.h"
#include "vectors.h"

/* The fixed form, written by hand: guava, 64 bits of which one is set, one hash. */
static const uint8_t example[] = {
	1, 1, 2, 1, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,
	80, 0, 0, 0, 0, 0, 0, 0,
	'b', 'f', 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	5, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 1,
	8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8
};

/* Where the value ends and the list starts. */
#define BITS_AT		((size_t) BF_PARTIAL_HEAD + BF_PREFIX_SIZE(1))
#define LIST_AT		(BITS_AT + 8)

/* Open untrusted bytes, at their exact length; what opens lies within them. */
static bool
open_partial(const uint8_t *bytes, size_t length, BfPartial *partial)
{
	BfError		error;
	size_t		list;

	memset(&error, 0, sizeof(error));
	if (!bf_partial_open(bytes, length, partial, &error))
	{
		CHECK(error.code == BF_ERROR_MALFORMED && error.message[0] != '\0',
			  "a decoder's error of another kind");
		return false;
	}
	list = (size_t) partial->listed * partial->words * 8;
	CHECK(partial->words == partial->filter.plan.strategy->words &&
		  partial->filter.plan.header.layers == 1, "opened, and does not fit");
	CHECK(partial->hashes >= bytes + BITS_AT && partial->hashes + list == bytes + length,
		  "the list lies elsewhere");
	CHECK(partial->hashes == partial->filter.bytes + partial->packed_length +
		  (partial->filter.whole ? partial->filter.length : BF_PREFIX_SIZE(1)),
		  "the value does not end where the list starts");
	return true;
}

/* Open a copy, so that a sanitizer sees what is read beyond it. */
static bool
opens(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = copy_bytes(bytes, length);
	BfPartial	partial;
	bool		ok = open_partial(copy, length, &partial);

	free(copy);
	return ok;
}

/* The example is read as what it is, and written the same. */
static void
test_example(void)
{
	BfPartial	partial;
	uint8_t		head[BF_PARTIAL_HEAD];

	CHECK(open_partial(example, sizeof(example), &partial), "the example does not open");
	CHECK(partial.saw_rows && partial.added == 3 && partial.listed == 1 &&
		  partial.filter.whole && partial.filter.length == 80 &&
		  bf_load_le64(partial.hashes) == UINT64_C(0x0102030405060708) &&
		  bf_load_le64(partial.hashes + 8) == UINT64_C(0x0807060504030201),
		  "the example is read as something else");
	memset(head, 0xff, sizeof(head));
	bf_partial_write_head(&partial, head);
	CHECK(memcmp(head, example, sizeof(head)) == 0, "the example is written otherwise");
}

/* Bits alone, a list alone, neither. */
static void
test_parts(void)
{
	uint8_t		bytes[sizeof(example)];

	memcpy(bytes, example, sizeof(example));
	bytes[4] = 0;
	CHECK(opens(bytes, LIST_AT), "bits alone do not open");
	CHECK(!opens(bytes, sizeof(bytes)), "a list that is not counted opens");
	bytes[3] = 0;
	CHECK(opens(bytes, BITS_AT), "a prefix alone does not open");
	bytes[4] = 1;
	memmove(bytes + BITS_AT, bytes + LIST_AT, sizeof(bytes) - LIST_AT);
	CHECK(opens(bytes, sizeof(bytes) - 8), "a list alone does not open");
	for (size_t cut = 0; cut < sizeof(bytes) - 8; cut++)
		CHECK(!opens(bytes, cut), "%zu bytes of a list open", cut);
}

/* Bits that are packed: a byte for each word at least, of plain filters only. */
static void
test_packed(void)
{
	uint8_t		bytes[BITS_AT + 2];
	BfPartial	partial;

	memcpy(bytes, example, BITS_AT);
	bytes[3] = 2;
	bytes[4] = 0;
	bytes[BITS_AT] = 0x80;
	bytes[BITS_AT + 1] = 1;
	CHECK(open_partial(bytes, sizeof(bytes), &partial) && !partial.filter.whole &&
		  partial.packed == bytes + BITS_AT && partial.packed_length == 2,
		  "packed bits do not open");
	CHECK(!opens(bytes, BITS_AT), "no packed bits open");
	bytes[3] = 0;
	CHECK(!opens(bytes, sizeof(bytes)), "packed bits that are not said to be open");
	bytes[3] = 2;
	CHECK(opens(bytes, sizeof(bytes)), "packed bits do not open as they were");
	bytes[BF_PARTIAL_HEAD + 8] = 2;
	CHECK(!opens(bytes, sizeof(bytes)), "packed bits of a filter that grows open");
}

/* A filter that grows is merged with no other, whatever its state holds. */
static void
test_growing(void)
{
	uint8_t		bytes[sizeof(example)];

	memcpy(bytes, example, sizeof(example));
	bytes[BF_PARTIAL_HEAD + 8] = 2;
	CHECK(!opens(bytes, sizeof(bytes)), "bits and a list of a filter that grows open");
	bytes[4] = 0;
	CHECK(!opens(bytes, LIST_AT), "bits of a filter that grows open");
	bytes[3] = 0;
	CHECK(!opens(bytes, BITS_AT), "the prefix of a filter that grows opens");
	bytes[BF_PARTIAL_HEAD + 8] = 0;
	CHECK(opens(bytes, BITS_AT), "a prefix does not open as it was");
}

/* A strategy whose hashes are not whole has none to list. */
static void
test_wordless(void)
{
	uint8_t		bytes[LIST_AT];

	memcpy(bytes, example, sizeof(bytes));
	bytes[BF_PARTIAL_HEAD + 3] = BF_STRATEGY_MAGNUSS;
	bytes[2] = 0;
	bytes[4] = 0;
	CHECK(opens(bytes, sizeof(bytes)), "magnuss's bits do not open");
	bytes[4] = 1;
	CHECK(!opens(bytes, sizeof(bytes)), "a list of hashes without words opens");
}

/* Every truncation, and every byte another one. */
static void
test_damage(void)
{
	uint8_t		bytes[sizeof(example)];

	for (size_t cut = 0; cut < sizeof(example); cut++)
		CHECK(!opens(example, cut), "%zu bytes open", cut);
	memcpy(bytes, example, sizeof(example));
	for (size_t at = 0; at < sizeof(example); at++)
	{
		for (int other = 0; other < 256; other++)
		{
			bytes[at] = (uint8_t) other;
			/* What is packed is looked at when it is unpacked. */
			CHECK(!opens(bytes, sizeof(bytes)) || other == example[at] ||
				  at == 1 || (at == 3 && other == 2) || at >= 8,
				  "byte %zu may be %d", at, other);
			bytes[at] = example[at];
			CHECK(opens(bytes, sizeof(bytes)), "byte %zu as it was", at);
		}
	}
}

/* Numbers that sums could wrap with, and a filter of two layers. */
static void
test_extremes(void)
{
	uint8_t		bytes[sizeof(example)];

	memcpy(bytes, example, sizeof(example));
	bf_store_le32(bytes + 4, UINT32_MAX);
	CHECK(!opens(bytes, sizeof(bytes)), "a list without an end opens");
	memcpy(bytes, example, sizeof(example));
	bf_store_le64(bytes + 16, UINT64_MAX);
	CHECK(!opens(bytes, sizeof(bytes)), "a value without an end opens");
	memcpy(bytes, example, sizeof(example));
	bytes[BF_PARTIAL_HEAD + 8] = 2;
	bytes[BF_PARTIAL_HEAD + 12] = 2;
	CHECK(!opens(bytes, sizeof(bytes)), "two layers open");
}

void
test_partial(void)
{
	test_example();
	test_parts();
	test_packed();
	test_growing();
	test_wordless();
	test_damage();
	test_extremes();
}
