/*
 * pieces.h
 *	  Long work in bounded pieces, with a check for interrupts between.
 */
#ifndef BLOOMEXT_PIECES_H
#define BLOOMEXT_PIECES_H

#include "compat.h"
#include "strategy/filter.h"

/* A loop of core/ over two arrays. */
typedef void (*BfArrayLoop) (uint8 *into, const uint8 *from, size_t bytes);

extern void bf_hash_long(const BfStrategy *strategy, const uint8 *data,
						 Size length, BfHash *hash);
extern void bf_hash_digest(const BfStrategy *strategy, BfHash *hash,
						   uint32 hashes);

/* Hash an element's bytes, which stay where they are while the hash is used. */
static inline void
bf_hash_bytes(const BfStrategy *strategy, const uint8 *data, Size length,
			  BfHash *hash)
{
	if (likely(length <= BF_PIECE))
		strategy->hash(data, length, hash);
	else
		bf_hash_long(strategy, data, length, hash);
}

/*
 * Compute what is not known yet of a hash and what its first so many positions
 * derive from; memory is the current context's.
 */
static inline void
bf_hash_reach(const BfStrategy *strategy, BfHash *hash, uint32 hashes)
{
	if (strategy->words == 0)
		bf_hash_digest(strategy, hash, hashes);
}

/* The same of many elements, but for those that are found already. */
static inline void
bf_hashes_reach(const BfStrategy *strategy, BfHash *hashes, Size count,
				uint32 positions, const bool *found)
{
	for (Size i = 0; i < count && strategy->words == 0; i++)
	{
		if (!found[i])
			bf_hash_digest(strategy, &hashes[i], positions);
	}
}

extern bool bf_filter_contains(const BfFilter *filter, BfHash *hash);
extern void bf_filter_contains_batch(const BfFilter *filter, BfHash *hashes,
									 Size count, bool *found);
extern void bf_layers_contain_batch(const BfFilter *filter, uint32 from,
									uint32 until, BfHash *hashes, Size count,
									bool *found);
extern uint64 bf_layer_count(const BfFilter *filter, const BfLayer *layer);

extern void bf_pieces_combine(BfArrayLoop loop, uint8 *into,
							  const uint8 *from, Size bytes);
extern uint64 bf_pieces_packed(const uint8 *bits, Size bytes);
extern void bf_pieces_pack(const uint8 *bits, Size bytes, uint8 *packed);
extern bool bf_pieces_or_packed(uint8 *into, Size bytes, const uint8 *packed,
								Size length);
extern void bf_pieces_to_bits(const uint8 *cells, uint64 count, uint8 *bits);
extern void bf_pieces_to_order(BfBitOrder order, const uint8 *stored,
							   uint8 *foreign, Size bytes);
extern void bf_pieces_from_order(BfBitOrder order, const uint8 *foreign,
								 Size bytes, uint8 *stored);

extern void bf_stream_write(const BfFilter *filter, uint8 *bytes);
extern void bf_stream_read(const uint8 *bytes, const BfFilter *filter,
						   uint8 *value);

#endif							/* BLOOMEXT_PIECES_H */
