/*
 * murmur3.c
 *	  MurmurHash3 x64 128 with seed 0, as Austin Appleby published it.
 *
 * The words are read as little-endian on every machine, as by Guava's
 * Hashing.murmur3_128(), so filters are portable.
 */
#include "core/bytes.h"
#include "core/murmur3.h"
#include "core/pause.h"
#include "core/rotate.h"

#define BLOCK_SIZE	16

#define C1 UINT64_C(0x87c37b91114253d5)
#define C2 UINT64_C(0x4cf5ad432745937f)

/* Scramble the first word of a block. */
static inline uint64_t
mix_k1(uint64_t k1)
{
	return bf_rotl64(k1 * C1, 31) * C2;
}

/* Scramble the second word of a block. */
static inline uint64_t
mix_k2(uint64_t k2)
{
	return bf_rotl64(k2 * C2, 33) * C1;
}

/* fmix64() */
static inline uint64_t
finalize(uint64_t h)
{
	h ^= h >> 33;
	h *= UINT64_C(0xff51afd7ed558ccd);
	h ^= h >> 33;
	h *= UINT64_C(0xc4ceb9fe1a85ec53);
	return h ^ (h >> 33);
}

/*
 * Read the last 1 to 15 bytes as two words, the missing ones zero.  Loads that
 * overlap are much faster than a copy to a buffer, whose bytes would be read
 * as words before they are written.
 */
static inline void
load_tail(const uint8_t *data, size_t length, uint64_t *k1, uint64_t *k2)
{
	*k2 = 0;
	if (length >= 8)
	{
		*k1 = bf_load_le64(data);
		if (length > 8)
			*k2 = bf_load_le64(data + length - 8) >> (8 * (16 - length));
	}
	else if (length >= 4)
		*k1 = bf_load_le32(data) |
			(uint64_t) bf_load_le32(data + length - 4) << (8 * (length - 4));
	else
		*k1 = data[0] | (uint64_t) data[length / 2] << (8 * (length / 2)) |
			(uint64_t) data[length - 1] << (8 * (length - 1));
}

/* Take whole blocks. */
static inline void
murmur3_take_blocks(uint64_t *h1, uint64_t *h2, const uint8_t *data,
					size_t length)
{
	uint64_t	a = *h1;
	uint64_t	b = *h2;

	for (; length >= BLOCK_SIZE; data += BLOCK_SIZE, length -= BLOCK_SIZE)
	{
		a ^= mix_k1(bf_load_le64(data));
		a = (bf_rotl64(a, 27) + b) * 5 + 0x52dce729;
		b ^= mix_k2(bf_load_le64(data + 8));
		b = (bf_rotl64(b, 31) + a) * 5 + 0x38495ab5;
	}
	*h1 = a;
	*h2 = b;
}

/* Take the last 0 to 15 bytes, and the total length. */
static inline void
take_rest(uint64_t *h1, uint64_t *h2, const uint8_t *data, size_t rest,
		  size_t length)
{
	uint64_t	a = *h1;
	uint64_t	b = *h2;

	if (rest > 0)
	{
		uint64_t	k1;
		uint64_t	k2;

		load_tail(data, rest, &k1, &k2);
		a ^= mix_k1(k1);
		b ^= mix_k2(k2);
	}

	a ^= length;
	b ^= length;
	a += b;
	b += a;
	a = finalize(a);
	b = finalize(b);
	a += b;
	b += a;
	*h1 = a;
	*h2 = b;
}

/* Take the last bytes of `length` in all. */
static inline void
take_last_128(uint64_t *h1, uint64_t *h2, const uint8_t *data, size_t left,
		  size_t length)
{
	size_t		rest = left % BLOCK_SIZE;

	murmur3_take_blocks(h1, h2, data, left);
	take_rest(h1, h2, data + left - rest, rest, length);
}

/* Hash what needs pauses. */
static bf_apart void
hash_128_long(const uint8_t *data, size_t length, uint64_t *h1, uint64_t *h2)
{
	size_t		left = length;

	*h1 = *h2 = 0;
	bf_for_long(data, left)
		murmur3_take_blocks(h1, h2, data, BF_PIECE);
	take_last_128(h1, h2, data, left, length);
}

/* Hash any bytes; the result's byte order is h1, then h2, little-endian. */
void
bf_murmur3_x64_128(const uint8_t *data, size_t length,
				   uint64_t *h1, uint64_t *h2)
{
	if (bf_is_long(length))
	{
		hash_128_long(data, length, h1, h2);
		return;
	}
	*h1 = *h2 = 0;
	take_last_128(h1, h2, data, length, length);
}

/*
 * Take the last bytes of `length` in all into hashes[0] and
 * [1], and those and one byte 01 more into the other two.
 */
static inline void
take_last_256(uint64_t hashes[4], const uint8_t *data, size_t left,
			  size_t length)
{
	size_t		rest = left % BLOCK_SIZE;
	uint8_t		longer[BLOCK_SIZE];

	murmur3_take_blocks(&hashes[0], &hashes[1], data, left);
	hashes[2] = hashes[0];
	hashes[3] = hashes[1];
	data += left - rest;
	take_rest(&hashes[0], &hashes[1], data, rest, length);
	memcpy(longer, data, rest);
	longer[rest] = 1;
	take_last_128(&hashes[2], &hashes[3], longer, rest + 1, length + 1);
}

/* Hash what needs pauses. */
static bf_apart void
hash_256_long(const uint8_t *data, size_t length, uint64_t hashes[4])
{
	size_t		left = length;

	hashes[0] = hashes[1] = 0;
	bf_for_long(data, left)
		murmur3_take_blocks(&hashes[0], &hashes[1], data, BF_PIECE);
	take_last_256(hashes, data, left, length);
}

/* Hash any bytes, and the same bytes followed by one 01. */
void
bf_murmur3_x64_256(const uint8_t *data, size_t length, uint64_t hashes[4])
{
	if (bf_is_long(length))
	{
		hash_256_long(data, length, hashes);
		return;
	}
	hashes[0] = hashes[1] = 0;
	take_last_256(hashes, data, length, length);
}
