/*
 * cover.h
 *	  The probability that random subsets, united, are everything.
 */
#ifndef BLOOMEXT_COVER_H
#define BLOOMEXT_COVER_H

#include <stdint.h>

/* Places that bf_cover() can tell apart. */
#define BF_MAX_COVERED		64

/* What a long computation calls every now and then; it may not return. */
typedef void (*BfPause) (void);

/* What bf_cover() works on: too large for a stack. */
typedef struct BfCover
{
	BfPause		pause;			/* the caller's */
	double		to[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];
} BfCover;

extern double bf_cover(BfCover *cover, uint32_t d, const double *chance,
					   uint64_t subsets);

#endif							/* BLOOMEXT_COVER_H */
