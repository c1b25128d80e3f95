/*
 * estimate.h
 *	  Estimates from the number of bits set in a filter.
 */
#ifndef BLOOMEXT_ESTIMATE_H
#define BLOOMEXT_ESTIMATE_H

#include "core/format.h"

/* How full a filter is, over its layers. */
typedef struct BfFill
{
	uint64_t	bits;
	uint64_t	bits_set;
	int64_t		count;			/* estimated number of elements */
	double		fpp;			/* estimated false positive probability */
} BfFill;

extern double bf_estimate_fpp(uint64_t bits_set, uint64_t bits,
							  uint32_t hashes);
extern double bf_estimate_count(uint64_t bits_set, uint64_t bits,
								uint32_t hashes);
extern double bf_estimate_capacity(double fpp, uint64_t bits,
								   uint32_t hashes);
extern void bf_fill_add(BfFill *fill, const BfLayer *layer,
						uint64_t bits_set);

#endif							/* BLOOMEXT_ESTIMATE_H */
