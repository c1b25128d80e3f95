/*
 * pauses.c
 *	  What is long: hashed and gone through with pauses, and otherwise as what is
 *	  short.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "hashes.h"
#include "vectors.h"

#define LENGTHS		3

/* Hashes of long data, which functions make them. */
typedef struct LongHash
{
	const BfStrategy *strategy;
	uint64_t	functions;
	uint64_t	words[LENGTHS][BF_MAX_WORDS];
} LongHash;

static const size_t lengths[LENGTHS] = {
	BF_PIECE + 1, 3 * BF_PIECE, 3 * BF_PIECE + 29
};

/*
 * Of magnuss it is digest 3.  Made by hashlib, mmh3, cityhash and xxhash of Python, and
 * MurmurHash2 and Spark's MurmurHash3 by loops written there; redisson's by the
 * function itself when it took its data in two different ways.
 */
static const LongHash expected[] = {
	{&bf_guava, 1, {
		{UINT64_C(0x79a435f630ef16c9), UINT64_C(0x04fc987ce1e475e1)},
		{UINT64_C(0x6d9928ced6c0bb2f), UINT64_C(0xa75092bc3eec2d82)},
		{UINT64_C(0xfebb925f71b79dd9), UINT64_C(0x38ffd0738342f5ed)}
	}},
	{&bf_redisson, 1, {
		{UINT64_C(0x27213ef3662f955c), UINT64_C(0x50f5638dfa2aae5b)},
		{UINT64_C(0x1aa83e27b94d89b5), UINT64_C(0xf8797671e5862da8)},
		{UINT64_C(0x2b9039e430d8aeb7), UINT64_C(0x399a81adb58ff89b)}
	}},
	{&bf_magnuss, 1, {
		{UINT64_C(0x984ec71c15aadc42), UINT64_C(0x9d7ada55d4dc41d5)},
		{UINT64_C(0x12abf0c16388d8ba), UINT64_C(0xe011cafc95fb21b3)},
		{UINT64_C(0xe2c22c59ce31815b), UINT64_C(0xda14520a821ec6d5)}
	}},
	{&bf_tale2009, 2, {
		{UINT64_C(0x79a435f630ef16c9), UINT64_C(0x9a89d611eb52553f)},
		{UINT64_C(0x6d9928ced6c0bb2f), UINT64_C(0x6d945ca53377ec40)},
		{UINT64_C(0xfebb925f71b79dd9), UINT64_C(0xfcae0ca68427bf46)}
	}},
	{&bf_cassandra, 2, {
		{UINT64_C(0x26102305a14c39ce), UINT64_C(0xa14c39ce26102305)},
		{UINT64_C(0x735d95d1705c039c), UINT64_C(0x705c039c735d95d1)},
		{UINT64_C(0xec7846bc83a3e878), UINT64_C(0x83a3e878ec7846bc)}
	}},
	{&bf_redisbloom, 2, {
		{UINT64_C(0xb0a821c3eb31c8f9), UINT64_C(0xa17b68f1bdba38ce)},
		{UINT64_C(0x3fca5d5d4b1a9191), UINT64_C(0x2f997b7daa6a93e3)},
		{UINT64_C(0x6f5597aaa86de438), UINT64_C(0xda1d7ca8785e63ec)}
	}},
	{&bf_spark2, 2, {
		{UINT64_C(0x4c696a0b136112f4), UINT64_C(0x136112f44c696a0b)},
		{UINT64_C(0xbf9a11462e23456f), UINT64_C(0x2e23456fbf9a1146)},
		{UINT64_C(0xad893f0b071ad207), UINT64_C(0x071ad207ad893f0b)}
	}},
	{&bf_bitsandblooms, 1, {
		{UINT64_C(0x79a435f630ef16c9), UINT64_C(0x04fc987ce1e475e1), UINT64_C(0x0701acb71c2d17a1), UINT64_C(0x57b72bf4ebef2315)},
		{UINT64_C(0x6d9928ced6c0bb2f), UINT64_C(0xa75092bc3eec2d82), UINT64_C(0xf59e8f45d8930e38), UINT64_C(0xf69dc587ddacd72a)},
		{UINT64_C(0xfebb925f71b79dd9), UINT64_C(0x38ffd0738342f5ed), UINT64_C(0xba175df404407bd7), UINT64_C(0x7b9509c39a56ea9a)}
	}},
	{&bf_parquet, 1, {
		{UINT64_C(0x41a52243e41dd1cd), UINT64_C(0xe41dd1cd41a52243)},
		{UINT64_C(0x9c998a85f9c62e9a), UINT64_C(0xf9c62e9a9c998a85)},
		{UINT64_C(0x6b0f3c9c9dfd5998), UINT64_C(0x9dfd59986b0f3c9c)}
	}}
};

static uint64_t pauses;
static jmp_buf gave_up;

static void
count_pause(void)
{
	pauses++;
}

static void
give_up(void)
{
	longjmp(gave_up, 1);
}

/* How often there was a pause since the last call. */
static uint64_t
new_pauses(void)
{
	uint64_t	result = pauses;

	pauses = 0;
	return result;
}

/* There is a pause between two pieces, of which the last has a block at least. */
static void
check_long_hash(const LongHash *row, const uint8_t *data, int number)
{
	const BfStrategy *strategy = row->strategy;
	size_t		length = lengths[number];
	uint64_t	made;
	uint32_t	digest[4];
	BfHash		hash = {0};

	strategy->hash(data, length, &hash);
	if (strategy->words == 0)
	{
		strategy->digest(3, data, length, digest);
		hash.word[0] = (uint64_t) digest[1] << 32 | digest[0];
		hash.word[1] = (uint64_t) digest[3] << 32 | digest[2];
	}
	CHECK(memcmp(hash.word, row->words[number], sizeof(hash.word)) == 0,
		  "%s: hash of %zu bytes differs", strategy->name, length);
	made = new_pauses();
	CHECK(made >= row->functions * ((length - 64) / BF_PIECE) &&
		  made <= row->functions * ((length - 1) / BF_PIECE + 1),
		  "%s: another number of pauses in %zu bytes", strategy->name, length);
}

/* What has less than a piece is hashed without a pause. */
static void
check_short_hash(const BfStrategy *strategy, const uint8_t *data)
{
	uint32_t	digest[4];
	BfHash		hash = {0};

	strategy->hash(data, BF_PIECE - 1, &hash);
	if (strategy->words == 0)
		strategy->digest(0, data, BF_PIECE - 1, digest);
	CHECK(new_pauses() == 0, "%s: a pause in less than a piece", strategy->name);
}

/* Whoever waits for a long hash can give up. */
static void
check_giving_up(const uint8_t *data)
{
	BfHash		hash;

	bf_pause = give_up;
	if (setjmp(gave_up) == 0)
	{
		bf_guava.hash(data, BF_PIECE + 1, &hash);
		CHECK(false, "a pause that does not return returned");
	}
	bf_pause = count_pause;
}

/* An array of pieces is the sum of these; each follows a pause. */
static void
check_arrays(uint8_t *data, size_t bytes)
{
	uint8_t    *bits = allocate(bytes);
	uint8_t    *packed = allocate(bytes + bytes / 8);
	uint8_t    *back = allocate(bytes);
	uint64_t	wanted = bytes < BF_PIECE ? 0 : (bytes + BF_PIECE - 1) / BF_PIECE;
	uint64_t	count = 0;
	uint64_t	cells = 0;
	size_t		length;

	for (size_t at = 0; at < bytes; at += 8)
	{
		count += bf_bits_count(data + at, 8);
		cells += bf_cells_count(data + at, 8, BF_CELL_COUNTER);
	}
	CHECK(new_pauses() == 0, "a pause in words");
	CHECK(bf_bits_count(data, bytes) == count && new_pauses() == wanted, "count of %zu bytes", bytes);
	CHECK(bf_cells_count(data, bytes, BF_CELL_COUNTER) == cells && new_pauses() == wanted, "cells of %zu bytes", bytes);

	bf_counters_add(bits, data, bytes);
	bf_bits_or(bits, data, bytes);
	CHECK(memcmp(bits, data, bytes) == 0 && new_pauses() == 2 * wanted, "union of %zu bytes", bytes);
	bf_counters_min(bits, data, bytes);
	bf_bits_and(bits, data, bytes);
	CHECK(memcmp(bits, data, bytes) == 0 && new_pauses() == 2 * wanted, "intersection of %zu bytes", bytes);

	bf_counters_to_bits(bits, 2 * bytes, back);
	CHECK(bf_bits_count(back, bytes / 4) == cells && new_pauses() >= wanted, "plain bits of %zu bytes", bytes);
	memset(back, 0, bytes);

	length = bf_bits_pack(bits, bytes, packed);
	CHECK(length == bf_bits_packed(bits, bytes) && new_pauses() == 2 * wanted, "%zu bytes packed", bytes);
	CHECK(bf_bits_or_packed(back, bytes, packed, length) && memcmp(back, bits, bytes) == 0 &&
		  new_pauses() == wanted, "%zu bytes unpacked", bytes);
	for (BfBitOrder order = BF_ORDER_REDIS; order <= BF_ORDER_STORED; order++)
	{
		bf_bits_to_order(order, bits, packed, bytes);
		bf_bits_from_order(order, packed, bytes, back);
		CHECK(memcmp(back, bits, bytes) == 0 && new_pauses() == 2 * wanted, "order %d of %zu bytes", (int) order, bytes);
	}
	free(back);
	free(packed);
	free(bits);
}

void
test_pauses(void)
{
	size_t		bytes = 4 * BF_PIECE;
	uint8_t    *data = allocate(bytes);

	bf_pause = count_pause;
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t) (i * UINT32_C(0x9e3779b1) >> 13);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
	{
		check_short_hash(expected[i].strategy, data);
		for (int j = 0; j < LENGTHS; j++)
			check_long_hash(&expected[i], data, j);
	}
	check_giving_up(data);
	check_arrays(data, 8);
	check_arrays(data, BF_PIECE);
	check_arrays(data, 2 * BF_PIECE + 8);
	free(data);
}
