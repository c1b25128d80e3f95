/*
 * murmur3_32.c
 *	  MurmurHash3 x86 32, with the tail that Spark gives it.
 *
 * Austin Appleby's function combines the last one to three bytes into one
 * word.  Spark's Murmur3_x86_32.hashUnsafeBytes takes each of them as a word,
 * extended from a signed byte of Java.  The two agree if the length is a
 * multiple of 4.
 */
#include "core/bytes.h"
#include "core/murmur3_32.h"
#include "core/pause.h"
#include "core/rotate.h"

#define C1 UINT32_C(0xcc9e2d51)
#define C2 UINT32_C(0x1b873593)

/* mixK1() and mixH1(): take one word into the hash. */
static inline uint32_t
mix_word(uint32_t h, uint32_t word)
{
	h ^= bf_rotl32(word * C1, 15) * C2;
	return bf_rotl32(h, 13) * 5 + UINT32_C(0xe6546b64);
}

/* Take whole words. */
static inline uint32_t
mix_words(uint32_t h, const uint8_t *data, size_t length)
{
	for (; length >= 4; data += 4, length -= 4)
		h = mix_word(h, bf_load_le32(data));
	return h;
}

/* Take the last 0 to 3 bytes, and fmix() with the length of all. */
static inline uint32_t
mix_rest(uint32_t h, const uint8_t *data, size_t rest, size_t length)
{
	for (size_t i = 0; i < rest; i++)
		h = mix_word(h, (uint32_t) (int32_t) (int8_t) data[i]);
	h ^= (uint32_t) length;
	h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
	h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
	return h ^ h >> 16;
}

/* Take the last bytes of `length` in all. */
static inline uint32_t
mix_last(uint32_t h, const uint8_t *data, size_t left, size_t length)
{
	size_t		rest = left % 4;

	return mix_rest(mix_words(h, data, left), data + left - rest, rest, length);
}

/* Hash what needs pauses. */
static bf_apart uint32_t
hash_spark_long(const uint8_t *data, size_t length, uint32_t h)
{
	size_t		left = length;

	bf_for_long(data, left)
		h = mix_words(h, data, BF_PIECE);
	return mix_last(h, data, left, length);
}

/* Murmur3_x86_32.hashUnsafeBytes of any bytes. */
uint32_t
bf_murmur3_spark(const uint8_t *data, size_t length, uint32_t seed)
{
	return bf_is_long(length) ? hash_spark_long(data, length, seed) :
		mix_last(seed, data, length, length);
}
