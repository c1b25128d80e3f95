/*
 * hashlist.c
 *	  A growing list of hashes, which aggregates keep before they know better.
 *
 * It starts at a few entries, as a GROUP BY may have a hundred thousand
 * groups, and doubles.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "strategy/filter.h"
#include "type/fill.h"
#include "type/hashlist.h"

#define FIRST_CAPACITY	4

/* Shorter lists just grow: sorting them would not pay. */
#define FIRST_LIMIT		64

/* Append; memory is taken from the context given. */
void
bf_hashlist_add(BfHashList *list, MemoryContext context, BfHashPair pair)
{
	if (list->count == list->capacity)
	{
		uint32		capacity = Max(list->capacity * 2, FIRST_CAPACITY);
		Size		size = mul_size(capacity, sizeof(BfHashPair));

		list->pairs = list->pairs == NULL ?
			MemoryContextAllocHuge(context, size) :
			repalloc_huge(list->pairs, size);
		list->capacity = capacity;
	}
	list->pairs[list->count++] = pair;
}

/* By the first word, then the second. */
static inline int
compare_pairs(const BfHashPair *a, const BfHashPair *b)
{
	if (a->h1 != b->h1)
		return a->h1 < b->h1 ? -1 : 1;
	if (a->h2 != b->h2)
		return a->h2 < b->h2 ? -1 : 1;
	return 0;
}

/* A sort that can be interrupted: lists take up to a gigabyte. */
#define ST_SORT				sort_pairs
#define ST_ELEMENT_TYPE		BfHashPair
#define ST_COMPARE(a, b)	compare_pairs(a, b)
#define ST_SCOPE			static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* Sort, and drop what is there twice. */
void
bf_hashlist_deduplicate(BfHashList *list)
{
	uint32		kept = 0;

	sort_pairs(list->pairs, list->count);
	for (uint32 i = 0; i < list->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (kept == 0 ||
			compare_pairs(&list->pairs[i], &list->pairs[kept - 1]) != 0)
			list->pairs[kept++] = list->pairs[i];
	}
	list->count = kept;
}

/*
 * Keep a list of distinct hashes within its limit, to be called before one is
 * added: a full list is deduplicated, and may hold twice as many where more
 * than half of it stayed.  False where that would take it over the maximum.
 */
bool
bf_hashlist_make_room(BfHashList *list, uint32 maximum)
{
	if (list->count < list->limit)
		return true;
	bf_hashlist_deduplicate(list);
	if (list->count > list->limit / 2 || list->limit == 0)
	{
		if (list->limit >= maximum)
			return false;
		list->limit = Min(Max(list->limit * 2, FIRST_LIMIT), maximum);
	}
	return true;
}

/* Add what is listed to a value. */
void
bf_value_add_pairs(BfValue *value, const BfHashPair *pairs, uint32 count)
{
	BfHash		batch[BF_BATCH];

	for (uint32 start = 0; start < count; start += BF_BATCH)
	{
		uint32		n = Min(count - start, BF_BATCH);

		for (uint32 i = 0; i < n; i++)
		{
			batch[i].h1 = pairs[start + i].h1;
			batch[i].h2 = pairs[start + i].h2;
		}
		bf_value_add(value, batch, n);
	}
}
