/*
 * longhash.h
 *	  Hash functions over long data, a bounded piece at a time.
 *
 * An element may have up to 1 GB, and code below the server cannot ask whether
 * somebody wants a query to end.  So what takes long is handed back: the caller
 * calls bf_longhash_take() until it says that the hash is complete, and does
 * between calls what has to be done.
 *
 * The functions of short data (bf_murmur3_x64_128() and its like) are made of
 * the same parts and give the same hashes.
 */
#ifndef BLOOMEXT_LONGHASH_H
#define BLOOMEXT_LONGHASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that may be gone through without a break: some 100 us to 2 ms. */
#define BF_PIECE	((size_t) 1024 * 1024)

typedef struct BfLongHash
{
	const struct BfHashFunction *function;
	const uint8_t *data;
	size_t		length;
	size_t		taken;
	uint64_t	state[16];		/* as many words as the greediest needs */
	union
	{
		uint64_t	wide[4];
		uint32_t	narrow[4];
	}			result;
} BfLongHash;

/*
 * A function over data of BF_LEAST_LONG bytes at least.  It starts with a seed
 * (where it has one) and with as many bytes as start() says that it took, goes
 * on with whole blocks, and finishes with what is left.
 */
typedef struct BfHashFunction
{
	size_t		block;
	size_t		(*start) (BfLongHash *hash, uint64_t seed);
	void		(*take) (BfLongHash *hash, const uint8_t *data, size_t length);
	void		(*finish) (BfLongHash *hash, const uint8_t *rest, size_t length);
} BfHashFunction;

#define BF_LEAST_LONG	128

extern void bf_longhash_start(BfLongHash *hash, const BfHashFunction *function,
							  const uint8_t *data, size_t length,
							  uint64_t seed);
extern bool bf_longhash_take(BfLongHash *hash, size_t most);

#endif							/* BLOOMEXT_LONGHASH_H */
