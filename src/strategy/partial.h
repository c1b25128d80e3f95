/*
 * partial.h
 *	  The part of a filter that one of several processes has, as bytes to
 *	  exchange.
 *
 * A partial state is a header, a filter, and a list of hashes.  The filter is
 * a whole value, or the prefix of a value and its bits in packed form, or the
 * prefix alone if no bits were set yet.  The list may be empty; an element
 * may be in both bits and list.  All numbers are little-endian, so that any node
 * can send it to any other:
 *
 *	   0 1	version, 1
 *	   1 1	1: it saw rows; 0: its plan, made from the call's expressions, yields to
 *			that of a state with rows
 *	   2 1	words of a hash, as defined by the strategy
 *	   3 1	1: a value follows; 2: its prefix, and its packed bits (bits.h);
 *			0: only its prefix
 *	   4 4	number of hashes in the list
 *	   8 8	elements added, repetitions included
 *	  16 8	length of the whole value
 *	  24	the value, or its prefix and packed bits; then the hashes, of 8
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
	BfFilter	filter;			/* does not grow; its length is known in any case */
	const uint8_t *packed;		/* its bits, which are checked as they are unpacked;
								 * or NULL */
	size_t		packed_length;
	const uint8_t *hashes;		/* `listed` times `words` numbers */
} BfPartial;

extern void bf_partial_write_head(const BfPartial *partial, uint8_t *bytes);
extern bool bf_partial_open(const uint8_t *bytes, size_t available,
							BfPartial *partial, BfError *error);

#endif							/* BLOOMEXT_PARTIAL_H */
