/*
 * city.c
 *	  CityHash64 of version 1.1, without a seed.
 *
 * Written from the published algorithm (Pike and Alakuijala, 2011).  Debian's
 * libcityhash is C++, and has not been maintained upstream since 2013; 150
 * lines here avoid the dependency.  How an input of up to 64 bytes is hashed
 * depends on its length.  Longer ones are hashed in blocks of 64 bytes, with
 * a state of 56 bytes that is initialized from the last 64 bytes of the
 * input.
 */
#include "core/bytes.h"
#include "core/city.h"
#include "core/pause.h"

#define BLOCK_SIZE	64

#define K0 UINT64_C(0xc3a5c85c97cb3127)
#define K1 UINT64_C(0xb492b66fbe98f273)
#define K2 UINT64_C(0x9ae16a3b2f90404f)
#define K_PAIR UINT64_C(0x9ddfea08eb382d69)

typedef struct Pair
{
	uint64_t	first;
	uint64_t	second;
} Pair;

/* Rotate right; 0 < bits < 64. */
static inline uint64_t
rotr64(uint64_t x, int bits)
{
	return x >> bits | x << (64 - bits);
}

static inline uint64_t
shift_mix(uint64_t x)
{
	return x ^ x >> 47;
}

/* Mix two words into one, by multiplications with mul. */
static inline uint64_t
mix_pair(uint64_t u, uint64_t v, uint64_t mul)
{
	uint64_t	a = shift_mix((u ^ v) * mul);

	return shift_mix((v ^ a) * mul) * mul;
}

/* HashLen0to16() of CityHash64. */
static uint64_t
hash_0_to_16(const uint8_t *data, size_t length)
{
	uint64_t	mul = K2 + length * 2;

	if (length >= 8)
	{
		uint64_t	a = bf_load_le64(data) + K2;
		uint64_t	b = bf_load_le64(data + length - 8);

		return mix_pair(rotr64(b, 37) * mul + a, (rotr64(a, 25) + b) * mul,
						mul);
	}
	if (length >= 4)
	{
		uint64_t	a = bf_load_le32(data);

		return mix_pair(length + (a << 3), bf_load_le32(data + length - 4),
						mul);
	}
	if (length > 0)
	{
		uint32_t	y = data[0] + ((uint32_t) data[length >> 1] << 8);
		uint32_t	z = (uint32_t) length + ((uint32_t) data[length - 1] << 2);

		return shift_mix(y * K2 ^ z * K0) * K2;
	}
	return K2;
}

/* HashLen17to32() of CityHash64. */
static uint64_t
hash_17_to_32(const uint8_t *data, size_t length)
{
	uint64_t	mul = K2 + length * 2;
	uint64_t	a = bf_load_le64(data) * K1;
	uint64_t	b = bf_load_le64(data + 8);
	uint64_t	c = bf_load_le64(data + length - 8) * mul;
	uint64_t	d = bf_load_le64(data + length - 16) * K2;

	return mix_pair(rotr64(a + b, 43) + rotr64(c, 30) + d,
					a + rotr64(b + K2, 18) + c, mul);
}

/* HashLen33to64() of CityHash64. */
static uint64_t
hash_33_to_64(const uint8_t *data, size_t length)
{
	uint64_t	mul = K2 + length * 2;
	uint64_t	a = bf_load_le64(data) * K2;
	uint64_t	b = bf_load_le64(data + 8);
	uint64_t	c = bf_load_le64(data + length - 24);
	uint64_t	d = bf_load_le64(data + length - 32);
	uint64_t	e = bf_load_le64(data + 16) * K2;
	uint64_t	f = bf_load_le64(data + 24) * 9;
	uint64_t	g = bf_load_le64(data + length - 8);
	uint64_t	h = bf_load_le64(data + length - 16) * mul;
	uint64_t	u = rotr64(a + g, 43) + (rotr64(b, 30) + c) * 9;
	uint64_t	v = ((a + g) ^ d) + f + 1;
	uint64_t	w = __builtin_bswap64((u + v) * mul) + h;
	uint64_t	x = rotr64(e + f, 42) + c;
	uint64_t	y = (__builtin_bswap64((v + w) * mul) + g) * mul;
	uint64_t	z = e + f + c;

	a = __builtin_bswap64((x + z) * mul + y) + b;
	return shift_mix((z + a) * mul + d + h) * mul + x;
}

/* Hash 32 bytes, weakly, into two words that start as a and b. */
static inline Pair
weak_hash_32(const uint8_t *data, uint64_t a, uint64_t b)
{
	uint64_t	last = bf_load_le64(data + 24);
	uint64_t	middle;

	a += bf_load_le64(data);
	b = rotr64(b + a + last, 21);
	middle = a + bf_load_le64(data + 8) + bf_load_le64(data + 16);
	return (Pair) {middle + last, b + rotr64(middle, 44) + a};
}

/* The state over long data: 56 bytes. */
typedef struct State
{
	uint64_t	x;
	uint64_t	y;
	uint64_t	z;
	Pair		v;
	Pair		w;
} State;

/* Start with the last 64 bytes, and the first word. */
static inline void
start_long(State *state, const uint8_t *data, size_t length)
{
	const uint8_t *end = data + length;

	state->x = bf_load_le64(end - 40);
	state->y = bf_load_le64(end - 16) + bf_load_le64(end - 56);
	state->z = mix_pair(bf_load_le64(end - 48) + length,
						bf_load_le64(end - 24), K_PAIR);
	state->v = weak_hash_32(end - 64, length, state->z);
	state->w = weak_hash_32(end - 32, state->y + K1, state->x);
	state->x = state->x * K1 + bf_load_le64(data);
}

/* Take whole blocks. */
static inline void
city_take_blocks(State *state, const uint8_t *data, size_t length)
{
	uint64_t	x = state->x;
	uint64_t	y = state->y;
	uint64_t	z = state->z;
	Pair		v = state->v;
	Pair		w = state->w;

	bf_for_bytes(i, BLOCK_SIZE, length)
	{
		const uint8_t *block = data + i;
		uint64_t	next_x;

		x = rotr64(x + y + v.first + bf_load_le64(block + 8), 37) * K1;
		y = rotr64(y + v.second + bf_load_le64(block + 48), 42) * K1;
		x ^= w.second;
		y += v.first + bf_load_le64(block + 40);
		z = rotr64(z + w.first, 33) * K1;
		v = weak_hash_32(block, v.second * K1, x + w.first);
		w = weak_hash_32(block + 32, z + w.second,
						 y + bf_load_le64(block + 16));
		next_x = z;
		z = x;
		x = next_x;
	}
	*state = (State) {x, y, z, v, w};
}

/* Mix the state of more than 64 bytes into their hash. */
static inline uint64_t
finish_long(const State *state)
{
	return mix_pair(mix_pair(state->v.first, state->w.first, K_PAIR) +
					shift_mix(state->y) * K1 + state->z,
					mix_pair(state->v.second, state->w.second, K_PAIR) +
					state->x, K_PAIR);
}

/* CityHash64 of more than 64 bytes. */
static bf_apart uint64_t
hash_long(const uint8_t *data, size_t length)
{
	State		state;

	start_long(&state, data, length);
	/*
	 * The last block of a multiple of 64 is left out: the start has seen it.
	 */
	city_take_blocks(&state, data, (length - 1) / BLOCK_SIZE * BLOCK_SIZE);
	return finish_long(&state);
}

/* Hash any bytes. */
uint64_t
bf_city_64(const uint8_t *data, size_t length)
{
	if (length <= 16)
		return hash_0_to_16(data, length);
	if (length <= 32)
		return hash_17_to_32(data, length);
	if (length <= 64)
		return hash_33_to_64(data, length);
	return hash_long(data, length);
}
