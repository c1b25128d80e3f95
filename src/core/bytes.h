/*
 * bytes.h
 *	  Integers in bytes of a stated order, at any alignment, on any machine.
 *
 * Every multi-byte field of a format or hash input is read or written by these
 * functions, so the results never depend on the CPU.  Compilers turn each into
 * one instruction.
 */
#ifndef BLOOMEXT_BYTES_H
#define BLOOMEXT_BYTES_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BF_LITTLE32(x) __builtin_bswap32(x)
#define BF_LITTLE64(x) __builtin_bswap64(x)
#define BF_BIG32(x) (x)
#define BF_BIG64(x) (x)
#else
#define BF_LITTLE32(x) (x)
#define BF_LITTLE64(x) (x)
#define BF_BIG32(x) __builtin_bswap32(x)
#define BF_BIG64(x) __builtin_bswap64(x)
#endif

static inline uint32_t
bf_load_le32(const uint8_t *bytes)
{
	uint32_t	value;

	memcpy(&value, bytes, sizeof(value));
	return BF_LITTLE32(value);
}

static inline uint64_t
bf_load_le64(const uint8_t *bytes)
{
	uint64_t	value;

	memcpy(&value, bytes, sizeof(value));
	return BF_LITTLE64(value);
}

static inline uint32_t
bf_load_be32(const uint8_t *bytes)
{
	uint32_t	value;

	memcpy(&value, bytes, sizeof(value));
	return BF_BIG32(value);
}

static inline uint64_t
bf_load_be64(const uint8_t *bytes)
{
	uint64_t	value;

	memcpy(&value, bytes, sizeof(value));
	return BF_BIG64(value);
}

static inline void
bf_store_le32(uint8_t *bytes, uint32_t value)
{
	value = BF_LITTLE32(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void
bf_store_le64(uint8_t *bytes, uint64_t value)
{
	value = BF_LITTLE64(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void
bf_store_be32(uint8_t *bytes, uint32_t value)
{
	value = BF_BIG32(value);
	memcpy(bytes, &value, sizeof(value));
}

static inline void
bf_store_be64(uint8_t *bytes, uint64_t value)
{
	value = BF_BIG64(value);
	memcpy(bytes, &value, sizeof(value));
}

/* IEEE doubles travel as the 64 bits that they are. */
static inline double
bf_load_double(const uint8_t *bytes)
{
	uint64_t	bits = bf_load_le64(bytes);
	double		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline void
bf_store_double(uint8_t *bytes, double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof(bits));
	bf_store_le64(bytes, bits);
}

#endif							/* BLOOMEXT_BYTES_H */
