/*
 * rotate.h
 *	  Words rotated to the left: compilers make one instruction of each.
 */
#ifndef BLOOMEXT_ROTATE_H
#define BLOOMEXT_ROTATE_H

#include <stdint.h>

static inline uint32_t
bf_rotl32(uint32_t x, int bits)
{
	return x << bits | x >> (32 - bits);
}

static inline uint64_t
bf_rotl64(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

#endif							/* BLOOMEXT_ROTATE_H */
