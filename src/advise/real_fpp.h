/*
 * real_fpp.h
 *	  The real false positive probability of a filter, given how its strategy
 *	  derives the positions of bits from a hash.
 */
#ifndef BLOOMEXT_REAL_FPP_H
#define BLOOMEXT_REAL_FPP_H

#include "advise/cover.h"
#include "strategy/strategy.h"

/* Maximum number of distinguished positions of a probe. */
#define BF_MAX_APART		10

/* Work space of bf_real_fpp(), too large for a stack. */
typedef struct BfFppWork
{
	BfCover		cover;
	/* Chances of an element, for coinciding probes by number of positions. */
	double		coinciding[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];
	/*
	 * Chances for distinct probes with distinguished positions: those of
	 * multiples, of which there are as many as sums, or one less.
	 */
	double		distinct[(1 << BF_MAX_APART) * (BF_MAX_APART + 2)];
} BfFppWork;

extern double bf_real_fpp(const BfDerivation *derivation, uint64_t bits,
						  uint32_t hashes, uint64_t elements, BfFppWork *work);

#endif							/* BLOOMEXT_REAL_FPP_H */
