/*
 * xxh64.c
 *	  XXH64 with seed 0, as Yann Collet published it.
 *
 * Written from the published algorithm: libxxhash would be a dependency for
 * the sake of a hundred lines, and could not pause.  Inputs of 32 bytes and
 * more are taken in stripes of 32 bytes, 8 bytes for each of four lanes.
 * What is left, and shorter inputs, are taken by 8, 4 and 1 bytes.
 */
#include "core/bytes.h"
#include "core/pause.h"
#include "core/rotate.h"
#include "core/xxh64.h"

#define STRIPE_SIZE	32
#define LANES		4

#define P1 UINT64_C(0x9e3779b185ebca87)
#define P2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define P3 UINT64_C(0x165667b19e3779f9)
#define P4 UINT64_C(0x85ebca77c2b2ae63)
#define P5 UINT64_C(0x27d4eb2f165667c5)

/* What lanes start as, without a seed. */
static const uint64_t first_lanes[LANES] = {P1 + P2, P2, 0, -P1};

/* Take 8 bytes into a lane. */
static inline uint64_t
mix_lane(uint64_t lane, uint64_t word)
{
	return bf_rotl64(lane + word * P2, 31) * P1;
}

/* Take whole stripes. */
static inline void
take_stripes(uint64_t lanes[LANES], const uint8_t *data, size_t length)
{
	uint64_t	a = lanes[0];
	uint64_t	b = lanes[1];
	uint64_t	c = lanes[2];
	uint64_t	d = lanes[3];

	for (; length >= STRIPE_SIZE; data += STRIPE_SIZE, length -= STRIPE_SIZE)
	{
		a = mix_lane(a, bf_load_le64(data));
		b = mix_lane(b, bf_load_le64(data + 8));
		c = mix_lane(c, bf_load_le64(data + 16));
		d = mix_lane(d, bf_load_le64(data + 24));
	}
	lanes[0] = a;
	lanes[1] = b;
	lanes[2] = c;
	lanes[3] = d;
}

/* Make one word of the lanes. */
static inline uint64_t
join_lanes(const uint64_t lanes[LANES])
{
	uint64_t	h = bf_rotl64(lanes[0], 1) + bf_rotl64(lanes[1], 7) +
		bf_rotl64(lanes[2], 12) + bf_rotl64(lanes[3], 18);

	for (int i = 0; i < LANES; i++)
		h = (h ^ mix_lane(0, lanes[i])) * P1 + P4;
	return h;
}

/* Take the last 0 to 31 bytes, and finish. */
static inline uint64_t
take_remainder(uint64_t h, const uint8_t *data, size_t rest)
{
	for (; rest >= 8; data += 8, rest -= 8)
		h = bf_rotl64(h ^ mix_lane(0, bf_load_le64(data)), 27) * P1 + P4;
	if (rest >= 4)
	{
		h = bf_rotl64(h ^ bf_load_le32(data) * P1, 23) * P2 + P3;
		data += 4;
		rest -= 4;
	}
	for (; rest > 0; data++, rest--)
		h = bf_rotl64(h ^ *data * P5, 11) * P1;

	h = (h ^ h >> 33) * P2;
	h = (h ^ h >> 29) * P3;
	return h ^ h >> 32;
}

/* Take the last bytes of `length` in all, which are a stripe at least. */
static inline uint64_t
take_last_stripes(uint64_t lanes[LANES], const uint8_t *data, size_t left,
				  size_t length)
{
	size_t		rest = left % STRIPE_SIZE;

	take_stripes(lanes, data, left);
	return take_remainder(join_lanes(lanes) + length, data + left - rest, rest);
}

/* Hash what needs pauses. */
static bf_apart uint64_t
xxh64_long(const uint8_t *data, size_t length)
{
	uint64_t	lanes[LANES];
	size_t		left = length;

	memcpy(lanes, first_lanes, sizeof(lanes));
	bf_for_long(data, left)
		take_stripes(lanes, data, BF_PIECE);
	return take_last_stripes(lanes, data, left, length);
}

/* Hash any bytes. */
uint64_t
bf_xxh64(const uint8_t *data, size_t length)
{
	uint64_t	lanes[LANES];

	if (length < STRIPE_SIZE)
		return take_remainder(P5 + length, data, length);
	if (bf_is_long(length))
		return xxh64_long(data, length);
	memcpy(lanes, first_lanes, sizeof(lanes));
	return take_last_stripes(lanes, data, length, length);
}
