/*
 * partial.h
 *	  The part of a filter that one of several processes has, as bytes to
 *	  exchange.
 *
 * A partial state is a header, then a value, or its prefix and packed bits, or
 * its prefix alone if there are no bits yet, then a list of hashes.  Bits or
 * list may be missing; an element may be in both.  All numbers are
 * little-endian, so that any node can send it to any other:
 *
 *	   0 1	version, 1
 *	   1 1	1: it saw rows; 0: its plan is by the call's expressions
 *	   2 1	words of a hash, as its strategy has them
 *	   3 1	1: the value follows; 2: its prefix, and its bits packed (bits.h);
 *			0: only its prefix
 *	   4 4	hashes listed
 *	   8 8	elements added, repetitions included
 *	  16 8	length of the whole value
 *	  24	the value, or its prefix and what is packed, then the hashes, of 8
 *			bytes a word
 */
#ifndef BLOOMEXT_PARTIAL_H
#define BLOOMEXT_PARTIAL_H

#include "strategy/filter.h"

#define BF_PARTIAL_VERSION	1
#define BF_PARTIAL_HEAD		24

typedef struct BfPartial
{
	bool		saw_rows;
	uint8_t		words;			/* of a hash */
	uint32_t	listed;			/* hashes */
	uint64_t	added;
	BfFilter	filter;			/* of one layer; its length is known in any case */
	const uint8_t *packed;		/* its bits, which are checked as they are unpacked;
								 * or NULL */
	size_t		packed_length;
	const uint8_t *hashes;		/* `listed` times `words` numbers */
} BfPartial;

extern void bf_partial_write_head(const BfPartial *partial, uint8_t *bytes);
extern bool bf_partial_open(const uint8_t *bytes, size_t available,
							BfPartial *partial, BfError *error);

#endif							/* BLOOMEXT_PARTIAL_H */
