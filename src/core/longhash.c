/*
 * longhash.c
 *	  Hash functions over long data, a bounded piece at a time.
 *
 * See longhash.h.
 */
#include "core/longhash.h"

/* Start to hash data, which must stay where it is until the end. */
void
bf_longhash_start(BfLongHash *hash, const BfHashFunction *function,
				  const uint8_t *data, size_t length, uint64_t seed)
{
	hash->function = function;
	hash->data = data;
	hash->length = length;
	hash->taken = function->start(hash, seed);
}

/*
 * Go on by `most` bytes, or a block if that is more; true where the result is
 * complete.
 */
bool
bf_longhash_take(BfLongHash *hash, size_t most)
{
	const BfHashFunction *function = hash->function;
	size_t		left = hash->length - hash->taken;
	size_t		piece = most < left ? most : left;

	if (piece < function->block)
		piece = function->block;
	if (left < function->block)
	{
		function->finish(hash, hash->data + hash->taken, left);
		return true;
	}
	piece -= piece % function->block;
	function->take(hash, hash->data + hash->taken, piece);
	hash->taken += piece;
	return false;
}
