/*
 * murmur2.c
 *	  MurmurHash2 as two other programs use it.
 *
 * bf_murmur2_64a is Austin Appleby's MurmurHash64A, as in RedisBloom.
 * bf_murmur2_cassandra is the 32-bit MurmurHash2 as Cassandra 0.5 ported it
 * to Java: the last one to three bytes are taken in reverse order, and as
 * Java's signed bytes.  Each is thirty lines, and no library has the second.
 */
#include "core/bytes.h"
#include "core/murmur2.h"
#include "core/pause.h"

#define M64 UINT64_C(0xc6a4a7935bd1e995)
#define R64 47

#define M32 UINT32_C(0x5bd1e995)
#define R32 24

/* Take whole words of 64 bits into the hash. */
static inline uint64_t
take_words64(uint64_t h, const uint8_t *data, size_t length)
{
	for (; length >= 8; data += 8, length -= 8)
	{
		uint64_t	k = bf_load_le64(data) * M64;

		k ^= k >> R64;
		h = (h ^ k * M64) * M64;
	}
	return h;
}

/* Take the last 0 to 7 bytes and mix it all. */
static inline uint64_t
finish64(uint64_t h, const uint8_t *data, size_t rest)
{
	if (rest > 0)
	{
		uint8_t		tail[8] = {0};

		memcpy(tail, data, rest);
		h = (h ^ bf_load_le64(tail)) * M64;
	}
	h = (h ^ h >> R64) * M64;
	return h ^ h >> R64;
}

/* Take the last bytes. */
static inline uint64_t
take_last64(uint64_t h, const uint8_t *data, size_t left)
{
	return finish64(take_words64(h, data, left), data + left / 8 * 8, left % 8);
}

/* Hash what needs pauses. */
static bf_apart uint64_t
hash_64a_long(const uint8_t *data, size_t left, uint64_t h)
{
	bf_for_long(data, left)
		h = take_words64(h, data, BF_PIECE);
	return take_last64(h, data, left);
}

/* MurmurHash64A of any bytes. */
uint64_t
bf_murmur2_64a(const uint8_t *data, size_t length, uint64_t seed)
{
	uint64_t	h = seed ^ length * M64;

	return bf_is_long(length) ? hash_64a_long(data, length, h) :
		take_last64(h, data, length);
}

/* A byte as Java widens it: 0x80 and more are negative. */
static inline uint32_t
signed_byte(uint8_t byte)
{
	return (uint32_t) (int32_t) (int8_t) byte;
}

/* Take whole words of 32 bits into the hash. */
static inline uint32_t
take_words32(uint32_t h, const uint8_t *data, size_t length)
{
	for (; length >= 4; data += 4, length -= 4)
	{
		uint32_t	k = bf_load_le32(data) * M32;

		k ^= k >> R32;
		h = h * M32 ^ k * M32;
	}
	return h;
}

/* Take the last 0 to 3 bytes and mix it all. */
static inline uint32_t
finish32(uint32_t h, const uint8_t *data, size_t rest)
{
	if (rest > 0)
	{
		/* From the last byte backwards. */
		for (size_t i = 0; i < rest; i++)
			h ^= signed_byte(data[rest - 1 - i]) << (8 * i);
		h *= M32;
	}
	h = (h ^ h >> 13) * M32;
	return h ^ h >> 15;
}

/* Take the last bytes. */
static inline uint32_t
take_last32(uint32_t h, const uint8_t *data, size_t left)
{
	return finish32(take_words32(h, data, left), data + left / 4 * 4, left % 4);
}

/* Hash what needs pauses. */
static bf_apart uint32_t
hash_cassandra_long(const uint8_t *data, size_t left, uint32_t h)
{
	bf_for_long(data, left)
		h = take_words32(h, data, BF_PIECE);
	return take_last32(h, data, left);
}

/* MurmurHash.hash of Cassandra 0.5 and 0.6. */
uint32_t
bf_murmur2_cassandra(const uint8_t *data, size_t length, uint32_t seed)
{
	uint32_t	h = seed ^ (uint32_t) length;

	return bf_is_long(length) ? hash_cassandra_long(data, length, h) :
		take_last32(h, data, length);
}
