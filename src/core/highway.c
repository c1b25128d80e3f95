/*
 * highway.c
 *	  HighwayHash, the 128-bit result of the published final version.
 *
 * Written from the algorithm's description, lane by lane.  Debian has no
 * library of it: Google's own sources are C++ with an instruction set chosen
 * at run time, which a hundred lines do not need.  Compilers vectorise what
 * pays; the same bytes give the same hash on every machine.
 */
#include <string.h>

#include "core/bytes.h"
#include "core/highway.h"

#define LANES			4
#define PACKET_SIZE		BF_HIGHWAY_BLOCK

typedef struct State
{
	uint64_t	v0[LANES];
	uint64_t	v1[LANES];
	uint64_t	mul0[LANES];
	uint64_t	mul1[LANES];
} State;

static const uint64_t initial_mul0[LANES] = {
	UINT64_C(0xdbe6d5d5fe4cce2f), UINT64_C(0xa4093822299f31d0),
	UINT64_C(0x13198a2e03707344), UINT64_C(0x243f6a8885a308d3)
};

static const uint64_t initial_mul1[LANES] = {
	UINT64_C(0x3bd39e10cb0ef593), UINT64_C(0xc0acf169b5f18a8c),
	UINT64_C(0xbe5466cf34e90c6c), UINT64_C(0x452821e638d01377)
};

static inline uint64_t
swap_halves(uint64_t x)
{
	return x << 32 | x >> 32;
}

/* Reset() of HighwayHash. */
static void
highway_start(State *state, const uint64_t key[LANES])
{
	for (int i = 0; i < LANES; i++)
	{
		state->mul0[i] = initial_mul0[i];
		state->mul1[i] = initial_mul1[i];
		state->v0[i] = initial_mul0[i] ^ key[i];
		state->v1[i] = initial_mul1[i] ^ swap_halves(key[i]);
	}
}

/* Byte number `from` of a word, moved to number `to`. */
static inline uint64_t
move_byte(uint64_t word, int from, int to)
{
	return (word >> (8 * from) & 0xff) << (8 * to);
}

/* Add the bytes of a pair of lanes to another pair, in "zipper" order. */
static inline void
zipper_merge_and_add(const uint64_t *from, uint64_t *to)
{
	uint64_t	lo = from[0];
	uint64_t	hi = from[1];

	to[0] += move_byte(lo, 3, 0) | move_byte(hi, 4, 1) |
		move_byte(lo, 2, 2) | move_byte(lo, 5, 3) |
		move_byte(hi, 6, 4) | move_byte(lo, 1, 5) |
		move_byte(hi, 7, 6) | move_byte(lo, 0, 7);
	to[1] += move_byte(hi, 3, 0) | move_byte(lo, 4, 1) |
		move_byte(hi, 2, 2) | move_byte(hi, 5, 3) |
		move_byte(hi, 1, 4) | move_byte(lo, 6, 5) |
		move_byte(hi, 0, 6) | move_byte(lo, 7, 7);
}

/* Update() of HighwayHash. */
static void
highway_update(State *state, const uint64_t packet[LANES])
{
	for (int i = 0; i < LANES; i++)
	{
		state->v1[i] += state->mul0[i] + packet[i];
		state->mul0[i] ^= (state->v1[i] & UINT32_MAX) * (state->v0[i] >> 32);
		state->v0[i] += state->mul1[i];
		state->mul1[i] ^= (state->v0[i] & UINT32_MAX) * (state->v1[i] >> 32);
	}
	for (int i = 0; i < LANES; i += 2)
		zipper_merge_and_add(state->v1 + i, state->v0 + i);
	for (int i = 0; i < LANES; i += 2)
		zipper_merge_and_add(state->v0 + i, state->v1 + i);
}

/* Take a packet of 32 bytes into the state. */
static void
update_bytes(State *state, const uint8_t *bytes)
{
	uint64_t	packet[LANES];

	for (int i = 0; i < LANES; i++)
		packet[i] = bf_load_le64(bytes + 8 * i);
	highway_update(state, packet);
}

/* Rotate both 32-bit halves of a word left; 0 < bits < 32. */
static inline uint64_t
rotate_halves(uint64_t x, unsigned bits)
{
	uint32_t	low = (uint32_t) x;
	uint32_t	high = (uint32_t) (x >> 32);

	low = low << bits | low >> (32 - bits);
	high = high << bits | high >> (32 - bits);
	return (uint64_t) high << 32 | low;
}

/* Take the last 1 to 31 bytes, in a packet of a shape of their own. */
static void
update_remainder(State *state, const uint8_t *tail, unsigned length)
{
	uint8_t		packet[PACKET_SIZE] = {0};
	unsigned	whole = length & ~3u;
	unsigned	odd = length & 3;

	for (int i = 0; i < LANES; i++)
	{
		state->v0[i] += ((uint64_t) length << 32) + length;
		state->v1[i] = rotate_halves(state->v1[i], length);
	}

	memcpy(packet, tail, whole);
	if (length & 16)
		memcpy(packet + 28, tail + length - 4, 4);
	else if (odd != 0)
	{
		packet[16] = tail[whole];
		packet[17] = tail[whole + odd / 2];
		packet[18] = tail[whole + odd - 1];
	}
	update_bytes(state, packet);
}

/* Take whole packets. */
static inline void
highway_take(State *state, const uint8_t *data, size_t length)
{
	for (; length >= PACKET_SIZE; data += PACKET_SIZE, length -= PACKET_SIZE)
		update_bytes(state, data);
}

/* Take the last 0 to 31 bytes and mix it all. */
static inline void
highway_finish(State *state, const uint8_t *rest, size_t length,
			   uint64_t *h1, uint64_t *h2)
{
	if (length > 0)
		update_remainder(state, rest, (unsigned) length);
	for (int i = 0; i < 6; i++)
	{
		uint64_t	permuted[LANES] = {
			swap_halves(state->v0[2]), swap_halves(state->v0[3]),
			swap_halves(state->v0[0]), swap_halves(state->v0[1])
		};

		highway_update(state, permuted);
	}
	*h1 = state->v0[0] + state->mul0[0] + state->v1[2] + state->mul1[2];
	*h2 = state->v0[1] + state->mul0[1] + state->v1[3] + state->mul1[3];
}

/* Hash any bytes under a key. */
void
bf_highway_128(const uint64_t key[LANES], const uint8_t *data, size_t length,
			   uint64_t *h1, uint64_t *h2)
{
	size_t		rest = length % PACKET_SIZE;
	State		state;

	highway_start(&state, key);
	highway_take(&state, data, length);
	highway_finish(&state, data + length - rest, rest, h1, h2);
}

/* HighwayHash in pieces, by a key: the start. */
void
bf_highway_start(BfLongHash *hash, const uint64_t key[LANES])
{
	highway_start((State *) hash->state, key);
}

/* Whole packets of the data. */
void
bf_highway_take(BfLongHash *hash, const uint8_t *data, size_t length)
{
	highway_take((State *) hash->state, data, length);
}

/* What is left after the whole packets; then the hash is there. */
void
bf_highway_finish(BfLongHash *hash, const uint8_t *rest, size_t length)
{
	highway_finish((State *) hash->state, rest, length,
				   &hash->result.wide[0], &hash->result.wide[1]);
}
