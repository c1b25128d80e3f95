/*
 * keys.c
 *	  Sorts keys, so that each page is visited once, in ascending order.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "pages/layers.h"

/* Fewer keys than these are sorted by comparison. */
#define RADIX_FROM		1024
#define RADIX_BITS		11
#define RADIX			(1 << RADIX_BITS)

#define ST_SORT sort_few_keys
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Sort by one digit, from one array into the other. */
static void
sort_by_digit(const uint64 *from, uint64 *to, size_t count, int shift)
{
	uint32		starts[RADIX] = {0};
	uint32		sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[(from[i] >> shift) & (RADIX - 1)]++;
	for (int digit = 0; digit < RADIX; digit++)
	{
		uint32		in_digit = starts[digit];

		starts[digit] = sum;
		sum += in_digit;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[(from[i] >> shift) & (RADIX - 1)]++] = from[i];
}

/* Allocate room for `room` keys, and for sorting them. */
void
bf_keys_allocate(BfKeys *keys, size_t room)
{
	keys->keys = palloc(room * sizeof(uint64));
	keys->scratch = room < RADIX_FROM ? NULL : palloc(room * sizeof(uint64));
	keys->count = 0;
}

/* Free the room for keys. */
void
bf_keys_free(BfKeys *keys)
{
	if (keys->scratch != NULL)
		pfree(keys->scratch);
	pfree(keys->keys);
}

/* Sort keys up to a maximum; bits below `shift` do not count. */
void
bf_keys_sort(BfKeys *keys, int shift, uint64 maximum)
{
	if (keys->count < RADIX_FROM)
	{
		sort_few_keys(keys->keys, keys->count);
		return;
	}
	for (; shift < 64 && maximum >> shift > 0; shift += RADIX_BITS)
	{
		uint64	   *sorted = keys->scratch;

		CHECK_FOR_INTERRUPTS();
		sort_by_digit(keys->keys, sorted, keys->count, shift);
		keys->scratch = keys->keys;
		keys->keys = sorted;
	}
}
