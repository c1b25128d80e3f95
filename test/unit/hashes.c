/*
 * hashes.c
 *	  Hashes of elements, with memory for all that there is of them.
 */
#include <stdlib.h>

#include "hashes.h"
#include "vectors.h"

/* Hash an element, all digests included, to be freed by free_hash(). */
void
hash_element(const BfStrategy *strategy, const uint8_t *bytes, size_t length,
			 BfHash *hash)
{
	*hash = (BfHash) {0};
	strategy->hash(bytes, length, hash);
	if (strategy->words > 0)
		return;
	hash->digests = allocate(BF_MAX_DIGESTS * sizeof(hash->digests[0]));
	bf_hash_reach(strategy, hash, BF_MAX_DIGESTS * strategy->hashes_a_digest);
}

void
free_hash(BfHash *hash)
{
	free(hash->digests);
}
