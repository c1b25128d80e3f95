/*
 * sketch.h
 *	  Estimate the number of distinct hashes: a HyperLogLog sketch.
 */
#ifndef BLOOMEXT_SKETCH_H
#define BLOOMEXT_SKETCH_H

#include <stdint.h>

/* The leading bits of a hash choose its register. */
#define BF_SKETCH_WIDTH		16
#define BF_SKETCH_REGISTERS	(1 << BF_SKETCH_WIDTH)

/* The highest rank: that of a hash whose other bits are all zero. */
#define BF_SKETCH_MAX_RANK	(64 - BF_SKETCH_WIDTH + 1)

/* All zero at first. */
typedef struct BfSketch
{
	uint8_t		ranks[BF_SKETCH_REGISTERS];
} BfSketch;

/* Add a well-mixed hash; adding it again changes nothing. */
static inline void
bf_sketch_add(BfSketch *sketch, uint64_t hash)
{
	uint8_t    *highest = &sketch->ranks[hash >> (64 - BF_SKETCH_WIDTH)];
	uint64_t	rest = hash << BF_SKETCH_WIDTH;
	/* The bit after the last one ends the zeros if all other bits are zero. */
	int			zeros = __builtin_clzll(rest | UINT64_C(1) << (BF_SKETCH_WIDTH - 1));

	if (*highest < zeros + 1)
		*highest = (uint8_t) (zeros + 1);
}

extern double bf_sketch_count(const BfSketch *sketch);

#endif							/* BLOOMEXT_SKETCH_H */
