/*
 * pairset.c
 *	  A set of hashes that keeps the order of their insertion: see pairset.h.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "pages/pairset.h"

#define FIRST_SLOTS		32

/*
 * The first slot to probe for a hash.  Elements can be crafted whose hashes
 * agree in any bits, so the pair is hashed again, with a random seed of this
 * backend, to make collisions of slots unpredictable.
 */
static uint32
first_slot(const BfHashPair *pair)
{
	static uint64 seed = 0;

	while (seed == 0)
	{
		if (!pg_strong_random(&seed, sizeof(seed)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate random values")));
	}
	return (uint32) hash_bytes_extended((const unsigned char *) pair,
										sizeof(*pair), seed);
}

/* The slot of a hash, or the empty slot for it. */
static uint32 *
find_slot(const BfPairSet *set, const BfHashPair *pair)
{
	uint32		mask = set->nslots - 1;
	uint32		i = first_slot(pair) & mask;

	while (set->slots[i] != 0)
	{
		const BfHashPair *other = &set->pairs[set->slots[i] - 1];

		if (other->h1 == pair->h1 && other->h2 == pair->h2)
			break;
		i = (i + 1) & mask;
	}
	return &set->slots[i];
}

/* Double the room of a set, or allocate its first. */
static void
grow_set(BfPairSet *set, MemoryContext context)
{
	uint32		nslots = Max(set->nslots * 2, FIRST_SLOTS);
	Size		room = nslots / 2 * sizeof(BfHashPair);
	uint32	   *slots = MemoryContextAllocZero(context,
											   nslots * sizeof(uint32));

	if (set->pairs == NULL)
		set->pairs = MemoryContextAlloc(context, room);
	else
	{
		set->pairs = repalloc(set->pairs, room);
		pfree(set->slots);
	}
	set->slots = slots;
	set->nslots = nslots;
	for (uint32 i = 0; i < set->count; i++)
		*find_slot(set, &set->pairs[i]) = i + 1;
}

/* Add a hash, in the given memory context; false if the set already has it. */
bool
bf_pairset_add(BfPairSet *set, MemoryContext context, const BfHashPair *pair)
{
	uint32	   *slot;

	if (set->count * 2 >= set->nslots)
		grow_set(set, context);
	slot = find_slot(set, pair);
	if (*slot != 0)
		return false;
	set->pairs[set->count++] = *pair;
	*slot = set->count;
	return true;
}

/* Whether a set has a hash. */
bool
bf_pairset_contains(const BfPairSet *set, const BfHashPair *pair)
{
	return set->count > 0 && *find_slot(set, pair) != 0;
}

/* Remove all hashes but the first `count`. */
void
bf_pairset_cut(BfPairSet *set, uint32 count)
{
	while (set->count > count)
	{
		*find_slot(set, &set->pairs[set->count - 1]) = 0;
		set->count--;
	}
}

/* Empty a set, and free its memory. */
void
bf_pairset_clear(BfPairSet *set)
{
	if (set->pairs != NULL)
	{
		pfree(set->pairs);
		pfree(set->slots);
	}
	memset(set, 0, sizeof(*set));
}
