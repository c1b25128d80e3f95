/*
 * modulo.h
 *	  Remainders of many numbers by one divisor, with one division for them
 *	  all.
 *
 * The positions of an element are remainders by the number of bits, and a
 * 64-bit division takes several times as long as a multiplication.  So the
 * reciprocal R = floor((2^64 - 1) / d) is computed once.  The high half of
 * v * R is then v / d rounded down, or one less.  For R is (2^64 - 1 - e) / d
 * for some e < d, so v * R / 2^64 is less than v / d by
 * v * (1 + e) / (d * 2^64), which is less than 1.
 */
#ifndef BLOOMEXT_MODULO_H
#define BLOOMEXT_MODULO_H

#include <stdint.h>

typedef struct BfDivisor
{
	uint64_t	value;			/* not 0 */
	uint64_t	reciprocal;
} BfDivisor;

static inline BfDivisor
bf_divisor(uint64_t value)
{
	return (BfDivisor) {value, UINT64_MAX / value};
}

/* value % divisor */
static inline uint64_t
bf_modulo(uint64_t value, BfDivisor divisor)
{
#ifdef __SIZEOF_INT128__
	uint64_t	quotient = (uint64_t) ((unsigned __int128) value * divisor.reciprocal >> 64);
	uint64_t	rest = value - quotient * divisor.value;

	return rest >= divisor.value ? rest - divisor.value : rest;
#else
	return value % divisor.value;
#endif
}

#endif							/* BLOOMEXT_MODULO_H */
