/*
 * real_fpp.h
 *	  The false positive probability that an index derivation really has.
 */
#ifndef BLOOMEXT_REAL_FPP_H
#define BLOOMEXT_REAL_FPP_H

#include "advise/cover.h"
#include "strategy/strategy.h"

/* Positions of a probe that are told apart from each other, at most. */
#define BF_MAX_APART		10

/* What bf_real_fpp() works on: too large for a stack. */
typedef struct BfFppWork
{
	BfCover		cover;
	/* Chances of an element, for coinciding probes by their positions. */
	double		coinciding[BF_MAX_COVERED + 1][BF_MAX_COVERED + 1];
	/*
	 * The same for distinct ones, some of whose positions are told apart: those
	 * of multiples, of which there are as many as sums, or one less.
	 */
	double		distinct[(1 << BF_MAX_APART) * (BF_MAX_APART + 2)];
} BfFppWork;

extern double bf_real_fpp(const BfDerivation *derivation, uint64_t bits,
						  uint32_t hashes, uint64_t elements, BfFppWork *work);

#endif							/* BLOOMEXT_REAL_FPP_H */
