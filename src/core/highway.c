/*
 * highway.c
 *	  HighwayHash with a 128-bit result, as in the final version published.
 *
 * Written from the algorithm's description: Debian packages no library for
 * it, and Google's own sources are C++ that selects an instruction set at run
 * time, which a hundred lines of C do not need.  The four lanes are held as
 * two pairs, which compilers can keep in 128-bit vector registers.  Bytes are
 * loaded as little-endian words, and all that follows is arithmetic on words,
 * so the same bytes give the same hash on any machine.
 */
#include <string.h>

#include "core/bytes.h"
#include "core/highway.h"
#include "core/pause.h"

#define LANES			4
#define PACKET_SIZE		32

/* Two lanes. */
typedef uint64_t Pair __attribute__((vector_size(16)));
typedef uint32_t Halves __attribute__((vector_size(16)));

typedef struct State
{
	Pair		v0[2];
	Pair		v1[2];
	Pair		mul0[2];
	Pair		mul1[2];
} State;

static const Pair initial_mul0[2] = {
	{UINT64_C(0xdbe6d5d5fe4cce2f), UINT64_C(0xa4093822299f31d0)},
	{UINT64_C(0x13198a2e03707344), UINT64_C(0x243f6a8885a308d3)}
};

static const Pair initial_mul1[2] = {
	{UINT64_C(0x3bd39e10cb0ef593), UINT64_C(0xc0acf169b5f18a8c)},
	{UINT64_C(0xbe5466cf34e90c6c), UINT64_C(0x452821e638d01377)}
};

/* Swap the 32-bit halves of both words. */
static inline Pair
swap_halves(Pair x)
{
	return x << 32 | x >> 32;
}

/* Rotate all 32-bit halves left; 0 < bits < 32. */
static inline Pair
rotate_halves(Pair x, unsigned bits)
{
	Halves		halves = (Halves) x;

	return (Pair) (halves << bits | halves >> (32 - bits));
}

/* The products of the lower halves. */
static inline Pair
multiply(Pair a, Pair b)
{
	return (a & UINT32_MAX) * (b & UINT32_MAX);
}

/* Reset() of HighwayHash. */
static void
highway_start(State *state, const uint64_t key[LANES])
{
	for (int i = 0; i < 2; i++)
	{
		Pair		k = {key[2 * i], key[2 * i + 1]};

		state->mul0[i] = initial_mul0[i];
		state->mul1[i] = initial_mul1[i];
		state->v0[i] = initial_mul0[i] ^ k;
		state->v1[i] = initial_mul1[i] ^ swap_halves(k);
	}
}

/* A byte of a word. */
#define BYTE(number)	(UINT64_C(0xff) << (8 * (number)))

/*
 * The bytes of a pair in "zipper" order: 3, 12, 2, 5, 14, 1, 15, 0 to the first
 * lane, 11, 4, 10, 13, 9, 6, 8, 7 to the second.  Those that move as far, from
 * their own lane or from the other one, move together.
 */
static inline Pair
zipper_merge(Pair own)
{
	Pair		other = {own[1], own[0]};

	return ((own & BYTE(3)) | (other & BYTE(4))) >> 24 |
		((own & BYTE(5)) | (other & (Pair) {BYTE(6), 0})) >> 16 |
		(other & (Pair) {BYTE(7), BYTE(6)}) >> 8 |
		(own & BYTE(2)) | (other & (Pair) {0, BYTE(7)}) |
		(own & (Pair) {0, BYTE(1)}) << 24 |
		(own & (Pair) {BYTE(1), 0}) << 32 |
		(own & (Pair) {0, BYTE(0)}) << 48 |
		(own & (Pair) {BYTE(0), 0}) << 56;
}

/* Update() of HighwayHash, of a pair until it is merged. */
static inline void
update_pair(State *state, int pair, Pair packet)
{
	state->v1[pair] += state->mul0[pair] + packet;
	state->mul0[pair] ^= multiply(state->v1[pair], state->v0[pair] >> 32);
	state->v0[pair] += state->mul1[pair];
	state->mul1[pair] ^= multiply(state->v0[pair], state->v1[pair] >> 32);
}

/* Update() of HighwayHash. */
static inline void
highway_update(State *state, Pair first, Pair second)
{
	update_pair(state, 0, first);
	update_pair(state, 1, second);
	state->v0[0] += zipper_merge(state->v1[0]);
	state->v0[1] += zipper_merge(state->v1[1]);
	state->v1[0] += zipper_merge(state->v0[0]);
	state->v1[1] += zipper_merge(state->v0[1]);
}

/* Two words of data. */
static inline Pair
load_pair(const uint8_t *bytes)
{
	return (Pair) {bf_load_le64(bytes), bf_load_le64(bytes + 8)};
}

/* Take a packet of 32 bytes into the state. */
static inline void
update_bytes(State *state, const uint8_t *bytes)
{
	highway_update(state, load_pair(bytes), load_pair(bytes + 16));
}

/* Take the last 1 to 31 bytes, in a packet of a shape of their own. */
static inline void
update_remainder(State *state, const uint8_t *tail, unsigned length)
{
	uint8_t		packet[PACKET_SIZE] = {0};
	unsigned	whole = length & ~3u;
	unsigned	odd = length & 3;

	for (int i = 0; i < 2; i++)
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
	bf_for_bytes(i, PACKET_SIZE, length)
		update_bytes(state, data + i);
}

/* Take the last 0 to 31 bytes and mix it all. */
static inline void
highway_finish(State *state, const uint8_t *rest, size_t length,
			   uint64_t *h1, uint64_t *h2)
{
	Pair		result;

	if (length > 0)
		update_remainder(state, rest, (unsigned) length);
	for (int i = 0; i < 6; i++)
		highway_update(state, swap_halves(state->v0[1]),
					   swap_halves(state->v0[0]));
	result = state->v0[0] + state->mul0[0] + state->v1[1] + state->mul1[1];
	*h1 = result[0];
	*h2 = result[1];
}

/* Hash any bytes under a key. */
void
bf_highway_128(const uint64_t key[LANES], const uint8_t *data, size_t length,
			   uint64_t *h1, uint64_t *h2)
{
	size_t		rest = length % PACKET_SIZE;
	State		state;

	highway_start(&state, key);
	highway_take(&state, data, length - rest);
	highway_finish(&state, data + length - rest, rest, h1, h2);
}
