/*
 * witness.h
 *	  Bits that a string in Redis had, which distinguish the string of a filter
 *	  from a later one at its key.
 */
#ifndef BLOOMEXT_WITNESS_H
#define BLOOMEXT_WITNESS_H

#include "lib/stringinfo.h"

#include "redis/layouts.h"

/* Maximum number of words of a witness, and those checked in each lookup. */
#define BF_WITNESS_WORDS	8
#define BF_WITNESS_ASKED	4

/* Number of bits in the latter that prove a string to be the filter's. */
#define BF_WITNESS_STRONG	24

/* What is known of a string. */
typedef struct BfWitness
{
	uint64		length;			/* in bytes; of a trimmed string a lower
								 * bound */
	int			words;			/* 0: no set bit is known */
	uint64		word[BF_WITNESS_WORDS]; /* numbers of 32-bit words of the
										 * string */
	uint32		bits[BF_WITNESS_WORDS]; /* that were set in it; the highest is
										 * the highest of the first byte */
} BfWitness;

extern void bf_witness_add(BfWitness *witness, uint64 bit);
extern BfWitness bf_witness_of_layer(const BfLayout *layout,
									 const BfLayer *layer, const uint8 *bits);
extern int	bf_witness_count(const BfWitness *witness, int words);
extern bool bf_witness_is_strong(const BfWitness *witness);
extern bool bf_witness_is_in(const BfWitness *witness, const uint8 *bytes,
							 size_t length);
extern void bf_witness_append(StringInfo text, const BfWitness *witness);
extern int	bf_witness_read(const char *text, BfWitness *witness, int count);

#endif							/* BLOOMEXT_WITNESS_H */
