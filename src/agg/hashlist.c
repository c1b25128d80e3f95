/*
 * hashlist.c
 *	  Growable list of hashes.
 *
 * A list is the state of an aggregate until it reaches its limit and becomes
 * a filter, or until the size of the filter is known.  It starts with room
 * for a few hashes, as a GROUP BY may have a hundred thousand groups, and
 * doubles when it is full.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "agg/hashlist.h"
#include "core/bytes.h"
#include "type/add.h"

#define FIRST_CAPACITY	4

/* Shorter lists grow without being sorted. */
#define FIRST_LIMIT		64

/* Buckets of a list that is sorted, and the least number of hashes for them. */
#define BUCKETS			256
#define MANY			1024

/* One of this number of values is in the sample of a list. */
#define SAMPLED			16

/* Append a hash; memory grows in the context, up to the list's limit. */
void
bf_hashlist_add(BfHashList *list, MemoryContext context, const BfHash *hash)
{
	uint64	   *words;

	if (list->count == list->capacity)
	{
		uint32		capacity = Max(list->capacity * 2, FIRST_CAPACITY);
		Size		size;

		if (list->limit > list->count)
			capacity = Min(capacity, list->limit);
		size = mul_size(capacity, list->width * sizeof(uint64));
		list->words = list->words == NULL ?
			MemoryContextAllocHuge(context, size) :
			repalloc_huge(list->words, size);
		list->capacity = capacity;
	}
	words = list->words + (Size) list->count++ * list->width;
	for (uint32 i = 0; i < list->width; i++)
		words[i] = hash->word[i];
}

/* Empty a list, and free its memory. */
void
bf_hashlist_free(BfHashList *list)
{
	if (list->words != NULL)
		pfree(list->words);
	list->words = NULL;
	list->count = list->capacity = 0;
}

/* A hash that can be sorted. */
typedef struct Sorted
{
	uint64		word[BF_SORTED_WORDS];
} Sorted;

/* Compare the first words, then the second. */
static inline int
compare_hashes(const Sorted *a, const Sorted *b)
{
	if (a->word[0] != b->word[0])
		return a->word[0] < b->word[0] ? -1 : 1;
	if (a->word[1] != b->word[1])
		return a->word[1] < b->word[1] ? -1 : 1;
	return 0;
}

/* A sort that can be interrupted: lists take up to a gigabyte. */
#define ST_SORT				sort_hashes
#define ST_ELEMENT_TYPE		Sorted
#define ST_COMPARE(a, b)	compare_hashes(a, b)
#define ST_SCOPE			static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* The bucket of a hash: its first byte, which is as random as all of it. */
static inline int
bucket_of(const Sorted *hash)
{
	return (int) (hash->word[0] >> 56);
}

/* Hashes that are moved between checks for interrupts. */
#define MOVES		65536

static inline void
interrupt_at(uint32 move)
{
	if (move % MOVES == 0)
		CHECK_FOR_INTERRUPTS();
}

/* Move hashes into their buckets, and set where each bucket ends. */
static void
distribute_hashes(Sorted *hashes, uint32 count, uint32 *ends)
{
	uint32		next[BUCKETS] = {0};
	uint32		start = 0;

	for (uint32 i = 0; i < count; i++)
	{
		interrupt_at(i);
		next[bucket_of(&hashes[i])]++;
	}
	for (int b = 0; b < BUCKETS; b++)
	{
		uint32		size = next[b];

		next[b] = start;
		ends[b] = start += size;
	}
	for (int b = 0; b < BUCKETS; b++)
	{
		while (next[b] < ends[b])
		{
			Sorted		hash = hashes[next[b]];
			int			to;

			/* Swap it for the hash in its place until one belongs here. */
			while ((to = bucket_of(&hash)) != b)
			{
				Sorted		moved = hashes[next[to]];

				interrupt_at(next[to]);
				hashes[next[to]++] = hash;
				hash = moved;
			}
			interrupt_at(next[b]);
			hashes[next[b]++] = hash;
		}
	}
}

/*
 * Sort by bucket, then each bucket: the processor mispredicts every other
 * comparison of random hashes, and half of them are saved (measured: 0.45 of
 * the time for 100,000 hashes).
 */
static void
sort_by_bucket(Sorted *hashes, uint32 count)
{
	uint32		ends[BUCKETS];
	uint32		start = 0;

	if (count < MANY)
	{
		sort_hashes(hashes, count);
		return;
	}
	distribute_hashes(hashes, count, ends);
	for (int b = 0; b < BUCKETS; b++)
	{
		sort_hashes(hashes + start, ends[b] - start);
		start = ends[b];
	}
}

/* Sort, and remove duplicates. */
void
bf_hashlist_deduplicate(BfHashList *list)
{
	Sorted	   *hashes = (Sorted *) list->words;
	uint32		kept = 0;

	Assert(list->width == BF_SORTED_WORDS);
	sort_by_bucket(hashes, list->count);
	/* Like qunique(), which cannot be interrupted. */
	for (uint32 i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (kept == 0 || compare_hashes(&hashes[i], &hashes[kept - 1]) != 0)
			hashes[kept++] = hashes[i];
	}
	list->count = kept;
}

/* The share of distinct hashes in a long list, by a sixteenth of values. */
static double
distinct_share(const BfHashList *list)
{
	const Sorted *hashes = (const Sorted *) list->words;
	BfHashList	sample = {.width = BF_SORTED_WORDS};
	uint32		sampled;
	double		share;

	Assert(list->width == sample.width);
	for (uint32 i = 0; i < list->count; i++)
	{
		BfHash		hash;

		CHECK_FOR_INTERRUPTS();
		if (hashes[i].word[1] % SAMPLED != 0)
			continue;
		bf_hashlist_get(list, i, &hash);
		bf_hashlist_add(&sample, CurrentMemoryContext, &hash);
	}
	sampled = sample.count;
	bf_hashlist_deduplicate(&sample);
	share = sampled == 0 ? 0 : (double) sample.count / sampled;
	bf_hashlist_free(&sample);
	return share;
}

/*
 * Deduplicate a list; a long one only if that makes it shorter by more than a
 * sixteenth, as less would not be worth the sort.
 */
void
bf_hashlist_shorten(BfHashList *list)
{
	if (list->count < MANY || distinct_share(list) < 15.0 / 16)
		bf_hashlist_deduplicate(list);
}

/*
 * Keep a list of distinct hashes within its limit; to be called before one is
 * added.  A full list is deduplicated, and its limit doubles if more than half
 * of it remains, or would by a sample, which saves repeated sorts of a long
 * list.  False if the limit would exceed the maximum.
 */
bool
bf_hashlist_make_room(BfHashList *list, uint32 maximum)
{
	if (list->count < list->limit)
		return true;
	if (list->count < MANY || list->limit >= maximum ||
		distinct_share(list) <= 0.5)
	{
		bf_hashlist_deduplicate(list);
		if (list->count <= list->limit / 2 && list->limit > 0)
			return true;
		if (list->limit >= maximum)
			return false;
	}
	list->limit = Min(Max(list->limit * 2, FIRST_LIMIT), maximum);
	return true;
}

/* Write all hashes as little-endian numbers, as in partial.h. */
void
bf_hashlist_write(const BfHashList *list, uint8 *bytes)
{
	Size		words = (Size) list->count * list->width;

	for (Size i = 0; i < words; i++)
	{
		CHECK_FOR_INTERRUPTS();
		bf_store_le64(bytes + i * sizeof(uint64), list->words[i]);
	}
}

/* Read a list of `count` hashes into the current memory context. */
void
bf_hashlist_read(BfHashList *list, uint32 width, uint32 count,
				 const uint8 *bytes)
{
	Size		words = (Size) count * width;

	list->width = width;
	list->count = list->capacity = count;
	list->words = words == 0 ? NULL :
		palloc_extended(words * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (Size i = 0; i < words; i++)
	{
		CHECK_FOR_INTERRUPTS();
		list->words[i] = bf_load_le64(bytes + i * sizeof(uint64));
	}
}

/* Add all hashes to a value. */
void
bf_hashlist_add_to(const BfHashList *list, BfValue *value)
{
	BfHash		batch[BF_BATCH];

	for (uint32 start = 0; start < list->count; start += BF_BATCH)
	{
		uint32		n = Min(list->count - start, BF_BATCH);

		for (uint32 i = 0; i < n; i++)
			bf_hashlist_get(list, start + i, &batch[i]);
		bf_value_add(value, batch, n);
	}
}
