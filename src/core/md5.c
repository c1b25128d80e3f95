/*
 * md5.c
 *	  MD5 (RFC 1321) of a byte followed by any bytes.
 *
 * Written from the RFC rather than taken from a library.  PostgreSQL's MD5
 * needs server headers, which core/ does not include, and may use OpenSSL,
 * which refuses MD5 in FIPS mode: a filter must not become unreadable because
 * of a setting of the machine.  With libmd or libcrypto, the whole extension
 * would depend on a library for the sake of one strategy.  MD5 is not used for
 * cryptography here, and no speed is lost: a digest takes about 100 ns with a
 * library too.
 *
 * The first byte (the salt, which is the number of the digest) is an argument
 * of its own, so callers need not copy the data to put it in front.  Only the
 * first block, which starts with the salt, and the last, which is padded, are
 * put together in a buffer; those between them are read where they are.
 */
#include <string.h>

#include "core/bytes.h"
#include "core/md5.h"
#include "core/pause.h"
#include "core/rotate.h"

#define BLOCK_SIZE		64
#define LENGTH_SIZE		8

/* Bytes of data after the salt in the first block. */
#define FIRST_DATA		(BLOCK_SIZE - 1)

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
	0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
	0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
	0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
	0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
	0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};

static const uint8_t shifts[4][4] = {
	{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}
};

/* Take one block of 64 bytes into the state. */
static void
md5_update(uint32_t state[4], const uint8_t *block)
{
	uint32_t	words[16];
	uint32_t	a = state[0];
	uint32_t	b = state[1];
	uint32_t	c = state[2];
	uint32_t	d = state[3];

	for (int i = 0; i < 16; i++)
		words[i] = bf_load_le32(block + 4 * i);

#define ROUND(function, round, index) \
	for (int i = 16 * (round); i < 16 * (round) + 16; i++) \
	{ \
		uint32_t	next = b + bf_rotl32(a + (function) + sines[i] + \
									  words[(index) % 16], \
									  shifts[round][i % 4]); \
\
		a = d; \
		d = c; \
		c = b; \
		b = next; \
	}

	ROUND((b & c) | (~b & d), 0, i);
	ROUND((b & d) | (c & ~d), 1, 5 * i + 1);
	ROUND(b ^ c ^ d, 2, 3 * i + 5);
	ROUND(c ^ (b | ~d), 3, 7 * i);

	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

/* The state that every digest starts from. */
static inline void
md5_initialize(uint32_t state[4])
{
	state[0] = 0x67452301;
	state[1] = 0xefcdab89;
	state[2] = 0x98badcfe;
	state[3] = 0x10325476;
}

/* Digest the first block, of salt and data, if they fill one. */
static inline void
take_first(uint32_t state[4], uint8_t salt, const uint8_t *data)
{
	uint8_t		block[BLOCK_SIZE];

	block[0] = salt;
	memcpy(block + 1, data, FIRST_DATA);
	md5_update(state, block);
}

/* Digest the whole blocks of some data. */
static inline void
md5_take_blocks(uint32_t state[4], const uint8_t *data, size_t length)
{
	bf_for_bytes(i, BLOCK_SIZE, length)
		md5_update(state, data + i);
}

/* Take a block's first bytes, which are the last ones of `length` in all. */
static inline void
take_last(uint32_t digest[4], uint8_t block[BLOCK_SIZE], size_t filled,
		  size_t length)
{
	uint64_t	bit_length = (uint64_t) length * 8;

	/* A one bit, zeros, and the length in bits end the last block. */
	block[filled++] = 0x80;
	if (filled > BLOCK_SIZE - LENGTH_SIZE)
	{
		memset(block + filled, 0, BLOCK_SIZE - filled);
		md5_update(digest, block);
		filled = 0;
	}
	memset(block + filled, 0, BLOCK_SIZE - LENGTH_SIZE - filled);
	bf_store_le64(block + BLOCK_SIZE - LENGTH_SIZE, bit_length);
	md5_update(digest, block);
}

/* Digest salt and data; the digest's four words are as in the state. */
void
bf_md5_salted(uint8_t salt, const uint8_t *data, size_t length,
			  uint32_t digest[4])
{
	uint8_t		block[BLOCK_SIZE] = {salt};
	size_t		all = length + 1;
	size_t		rest = all % BLOCK_SIZE;

	md5_initialize(digest);
	if (length < FIRST_DATA)
	{
		if (length > 0)
			memcpy(block + 1, data, length);
	}
	else
	{
		take_first(digest, salt, data);
		md5_take_blocks(digest, data + FIRST_DATA, all - BLOCK_SIZE - rest);
		memcpy(block, data + length - rest, rest);
	}
	take_last(digest, block, rest, all);
}
