/*
 * pair.h
 *	  An element's hash as live filters keep it, on pages and in memory: of two
 *	  words, which is what BfStrategy.can_be_live asks for.
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

/* What is kept of a hash. */
static inline BfHashPair
bf_pair_of(const BfHash *hash)
{
	return (BfHashPair) {hash->word[0], hash->word[1]};
}

/* The hash of what is kept. */
static inline BfHash
bf_hash_of(const BfHashPair *pair)
{
	return (BfHash) {.word = {pair->h1, pair->h2}};
}

#endif							/* BLOOMEXT_PAIR_H */
