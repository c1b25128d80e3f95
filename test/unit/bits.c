/*
 * bits.c
 *	  Bits in stored order against naive re-computations, and other orders;
 *	  remainders against divisions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bits.h"
#include "core/modulo.h"
#include "vectors.h"

/* A small generator with a fixed seed: the same tests every time. */
static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t
next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static bool
naive_bit(const uint8_t *stored, uint64_t i)
{
	/* strategies.md: byte 8 * (i / 64) + 7 - (i % 64) / 8, mask 1 << (i % 8) */
	return stored[8 * (i / 64) + 7 - (i % 64) / 8] >> (i % 8) & 1;
}

static void
test_sets(void)
{
	static const size_t words[] = {1, 2, 3, 7, 8, 33};

	for (size_t round = 0; round < 60; round++)
	{
		size_t		bytes = 8 * words[round % 6];
		uint8_t    *a = allocate(bytes);
		uint8_t    *b = allocate(bytes);
		uint8_t    *c = allocate(bytes);
		uint64_t	set = 0;

		for (size_t i = 0; i < bytes; i++)
		{
			a[i] = round < 6 ? 0 : round < 12 ? 0xff : (uint8_t) next_random();
			b[i] = (uint8_t) next_random();
		}
		for (uint64_t i = 0; i < 8 * bytes; i++)
		{
			set += naive_bit(a, i);
			CHECK(bf_bit_get(a, i) == naive_bit(a, i), "bit %" PRIu64, i);
		}
		CHECK(bf_bits_count(a, bytes) == set, "count of %zu bytes", bytes);

		memcpy(c, a, bytes);
		bf_bits_or(c, b, bytes);
		for (size_t i = 0; i < bytes; i++)
			CHECK(c[i] == (a[i] | b[i]), "or of byte %zu", i);
		memcpy(c, a, bytes);
		bf_bits_and(c, b, bytes);
		for (size_t i = 0; i < bytes; i++)
			CHECK(c[i] == (a[i] & b[i]), "and of byte %zu", i);

		for (uint64_t i = 0; i < 8 * bytes; i++)
		{
			bool		was = naive_bit(a, i);
			uint64_t	others;

			memcpy(c, a, bytes);
			CHECK(bf_bit_set(c, i) == !was, "change of bit %" PRIu64, i);
			others = bf_bits_count(c, bytes);
			CHECK(naive_bit(c, i) && others == set + !was, "setting bit %" PRIu64, i);
		}
		free(a);
		free(b);
		free(c);
	}
}

/* What has a cell more than another array is not covered by it. */
static void
test_covers(uint8_t width)
{
	uint8_t		cells[64];
	uint8_t		others[64];
	uint64_t	count = 8 * sizeof(cells) / width;

	for (size_t i = 0; i < sizeof(cells); i++)
	{
		cells[i] = (uint8_t) (next_random() & next_random());
		others[i] = cells[i] & (uint8_t) next_random();
	}
	CHECK(bf_cells_cover(cells, others, sizeof(cells), width), "part of it");
	for (uint64_t i = 0; i < count; i++)
	{
		uint8_t		one[64] = {0};
		uint64_t	bit = i * width + next_random() % width;

		bf_bit_set(one, bit);
		CHECK(bf_cells_cover(cells, one, sizeof(one), width) ==
			  bf_cell_get(cells, i, width), "cell %" PRIu64, i);
		memcpy(one, others, sizeof(one));
		bf_bit_set(one, bit);
		CHECK(bf_cells_cover(cells, one, sizeof(one), width) ==
			  bf_cell_get(cells, i, width), "cell %" PRIu64 " and others", i);
	}
}

/*
 * Whether any bit at or beyond `used` is set, for every `used`; and where an array
 * ends in other orders.
 */
static void
test_tail(void)
{
	for (size_t bytes = 8; bytes <= 24; bytes += 8)
	{
		uint8_t    *bits = allocate(bytes);

		for (uint64_t last = 0; last < 8 * bytes; last++)
		{
			memset(bits, 0, bytes);
			CHECK(bf_bits_end(bits, bytes) == 0, "end of %zu empty bytes", bytes);
			bf_bit_set(bits, last);
			bf_bit_set(bits, last / 2);
			CHECK(bf_bits_end(bits, bytes) == last / 8 + 1, "end, bit %" PRIu64, last);
			for (uint64_t used = 8 * (bytes - 8) + 1; used <= 8 * bytes; used++)
				CHECK(bf_bits_tail_is_zero(bits, bytes, used) == (last < used),
					  "tail from %" PRIu64 ", bit %" PRIu64, used, last);
		}
		free(bits);
	}
}

/* What is packed is unpacked, from its own bytes only, into other bits. */
static void
test_packing(void)
{
	enum {BYTES = 256, MOST = BYTES + BYTES / 8};
	uint8_t		bits[BYTES];
	uint8_t		packed[MOST];
	uint8_t		into[BYTES];
	uint8_t		both[BYTES];

	for (int round = 0; round < 64; round++)
	{
		size_t		bytes = 8 * (next_random() % (BYTES / 8 + 1));
		size_t		length;
		uint8_t    *exact;

		for (size_t i = 0; i < bytes; i++)
		{
			bits[i] = next_random() % 64 < (uint64_t) round ? (uint8_t) next_random() : 0;
			into[i] = (uint8_t) (next_random() & next_random());
			both[i] = bits[i] | into[i];
		}
		length = bf_bits_pack(bits, bytes, packed);
		CHECK(length == bf_bits_packed(bits, bytes), "%zu bytes packed, not as many as said", length);
		exact = copy_bytes(packed, length);
		for (size_t cut = 0; cut <= length; cut++)
		{
			uint8_t		unpacked[BYTES];
			bool		whole;

			/* What is read beyond the cut is beyond the allocation. */
			memcpy(exact + length - cut, packed, cut);
			memcpy(unpacked, into, bytes);
			whole = bf_bits_or_packed(unpacked, bytes, exact + length - cut, cut);
			CHECK(whole == (cut == length), "%zu of %zu packed bytes", cut, length);
			CHECK(!whole || memcmp(unpacked, both, bytes) == 0, "unpacked otherwise, round %d", round);
		}
		free(exact);
	}
}

/* Redis and BitSet orders, whole and cut to ceil(m / 8) bytes, and back. */
static void
test_orders(void)
{
	for (uint64_t m = 1; m <= 200; m++)
	{
		size_t		stored_bytes = (m + 63) / 64 * 8;
		size_t		foreign_bytes = (m + 7) / 8;
		uint8_t    *stored = allocate(stored_bytes);
		uint8_t    *back = allocate(stored_bytes);

		memset(stored, 0, stored_bytes);
		for (uint64_t i = 0; i < m; i++)
		{
			if (next_random() & 1)
				bf_bit_set(stored, i);
		}
		for (int order = BF_ORDER_REDIS; order <= BF_ORDER_BITSET; order++)
		{
			uint8_t    *foreign = malloc(foreign_bytes);
			uint64_t	wrong = 0;

			memset(foreign, 0xaa, foreign_bytes);
			bf_bits_to_order((BfBitOrder) order, stored, foreign, foreign_bytes);
			for (uint64_t i = 0; i < 8 * foreign_bytes; i++)
			{
				int			shift = order == BF_ORDER_REDIS ? 7 - (int) (i % 8) : (int) (i % 8);
				bool		bit = foreign[i / 8] >> shift & 1;

				wrong += bit != (i < m && naive_bit(stored, i));
			}
			CHECK(wrong == 0, "order %d of %" PRIu64 " bits: %" PRIu64 " wrong",
				  order, m, wrong);
			memset(back, 0, stored_bytes);
			bf_bits_from_order((BfBitOrder) order, foreign, foreign_bytes, back);
			CHECK(memcmp(stored, back, stored_bytes) == 0,
				  "order %d of %" PRIu64 " bits does not come back", order, m);
			free(foreign);
		}
		free(stored);
		free(back);
	}
}

/* Remainders where they are near a multiple of the divisor, and anywhere. */
static void
test_modulo(void)
{
	static const uint64_t edges[] = {
		1, 2, 3, 63, 64, 65, UINT64_C(191701184), UINT32_MAX,
		UINT64_C(1) << 32, (UINT64_C(1) << 38) - 64, INT64_MAX,
		UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX
	};

	for (size_t i = 0; i < 20000; i++)
	{
		uint64_t	divisor = i < 14 ? edges[i] : next_random() >> i % 63;
		uint64_t	multiple;

		if (divisor == 0)
			divisor = 1;
		multiple = UINT64_MAX / divisor * divisor;
		for (size_t j = 0; j < 20; j++)
		{
			uint64_t	value = j < 5 ? multiple + j - 2 : next_random() >> 3 * j % 64;

			CHECK(bf_modulo(value, bf_divisor(divisor)) == value % divisor,
				  "%" PRIu64 " %% %" PRIu64, value, divisor);
		}
	}
}

void
test_bits(void)
{
	test_sets();
	for (int round = 0; round < 20; round++)
	{
		test_covers(BF_CELL_BIT);
		test_covers(BF_CELL_COUNTER);
	}
	test_tail();
	test_packing();
	test_orders();
	test_modulo();
}
