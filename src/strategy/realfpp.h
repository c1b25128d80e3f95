/*
 * realfpp.h
 *	  The false positive probability that an index derivation really has.
 */
#ifndef BLOOMEXT_REALFPP_H
#define BLOOMEXT_REALFPP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/cover.h"

/* How a derivation takes the sign out of a word. */
typedef enum BfFold
{
	BF_FOLD_NONE,				/* the word is unsigned */
	BF_FOLD_COMPLEMENT,			/* ~c where c is negative */
	BF_FOLD_NEGATE				/* -c where c is negative */
} BfFold;

/*
 * The k words of an element, from two words h1 and h2 of its hash; positions
 * are the words modulo m.  NULL stands for independent positions.
 */
typedef struct BfDerivation
{
	uint8_t		word_bits;		/* sums are modulo 2^word_bits */
	BfFold		fold;
	bool		squares;		/* h1 + i * h2 + i * i */
	bool		alternating;	/* h1, h1 + h2, 2 h1 + h2, 2 h1 + 2 h2, ... */
} BfDerivation;

extern double bf_real_fpp(const BfDerivation *derivation, uint64_t bits,
						  uint32_t hashes, uint64_t elements, BfPause pause);

#endif							/* BLOOMEXT_REALFPP_H */
