/*
 * pair.h
 *	  The hash of an element as live filters keep it, on pages and in memory:
 *	  two words, as BfStrategy.can_be_live requires.
 */
#ifndef BLOOMEXT_PAIR_H
#define BLOOMEXT_PAIR_H

#include "strategy/strategy.h"

#define BF_PAIR_WORDS	2

typedef struct BfHashPair
{
	uint64		h1;
	uint64		h2;
} BfHashPair;

/* Convert a hash to a pair. */
static inline BfHashPair
bf_pair_of(const BfHash *hash)
{
	return (BfHashPair) {hash->word[0], hash->word[1]};
}

/* Convert a pair to a hash. */
static inline BfHash
bf_hash_of(const BfHashPair *pair)
{
	return (BfHash) {.word = {pair->h1, pair->h2}};
}

#endif							/* BLOOMEXT_PAIR_H */
