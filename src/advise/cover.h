/*
 * cover.h
 *	  The probability that the union of random subsets is the whole set.
 */
#ifndef BLOOMEXT_COVER_H
#define BLOOMEXT_COVER_H

#include <stdint.h>

/* Maximum number of places for bf_cover(). */
#define BF_MAX_COVERED		64

/* Work space of bf_cover(), too large for a stack. */
typedef struct BfCover
{
	double		to[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];
} BfCover;

extern double bf_cover(BfCover *cover, uint32_t d, const double *chance,
					   uint64_t subsets);

#endif							/* BLOOMEXT_COVER_H */
