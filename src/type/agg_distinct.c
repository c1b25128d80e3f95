/*
 * agg_distinct.c
 *	  bf_agg(element) and bf_agg_distinct(element, fpp): a filter that sizes
 *	  itself to the distinct elements.
 *
 * The size is known only at the end, so the state keeps the 16-byte hash of
 * every element (strategy guava; equal hashes are equal elements as far as any
 * filter can tell).  A list is filled, and sorted and deduplicated when full:
 * where more than half of it stays, it doubles, up to work_mem; from there on
 * what it holds goes to a temporary file.  The final function sorts the file
 * and the list by PostgreSQL's own tuplesort, which spills in turn: one pass
 * counts the distinct hashes, the next sets their bits.  What the state holds
 * stays the same (the list may be sorted in place, the position in the file
 * moves), so frames of a window may ask again and again.
 *
 * The file belongs to the aggregate's memory context, by a reset callback, and
 * to no resource owner: contexts are deleted at commit, at abort and for every
 * group, and in no known order with the owner's release.  What is written is
 * flushed at once, so that closing never has to write.
 *
 * Not parallel: a partial state can be larger than the 1 GB that would carry
 * it between processes.  The scan below may still be.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

#include "compat.h"
#include "strategy/filter.h"
#include "type/add.h"
#include "type/agg.h"
#include "type/arguments.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_agg_distinct_add);
PG_FUNCTION_INFO_V1(bloomext_agg_distinct_final);

/* Bytes of a hash; and how many are read from a file at once. */
#define HASH_BYTES	(BF_SORTED_WORDS * sizeof(uint64))
#define AT_ONCE		512

typedef struct DistinctState
{
	BfFunnel	funnel;
	BfMeaning	meaning;
	double		fpp;
	BfHashList	list;
	BufFile    *file;			/* lists written so far, or NULL */
	uint64		filed;			/* hashes in it */
	int			end_file;		/* where it ends */
	off_t		end_offset;
	MemoryContextCallback callback;
} DistinctState;

/* The most that a list may hold within work_mem. */
static uint32
list_maximum(void)
{
	return (uint32) Min((uint64) work_mem * 1024 / HASH_BYTES, PG_INT32_MAX);
}

/* The reset callback of the aggregate's context. */
static void
close_file(void *state)
{
	BufFileClose(((DistinctState *) state)->file);
}

/* Go to a place in the file. */
static void
seek_file(DistinctState *state, int file, off_t offset)
{
	if (BufFileSeek(state->file, file, offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file")));
}

/* Write the list to the end of the file and empty it. */
static void
spill(DistinctState *state, MemoryContext context)
{
	if (state->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		state->file = BufFileCreateTemp(true);
		MemoryContextSwitchTo(old);
		state->callback.func = close_file;
		state->callback.arg = state;
		MemoryContextRegisterResetCallback(context, &state->callback);
	}
	else
		seek_file(state, state->end_file, state->end_offset);
	BufFileWrite(state->file, state->list.words,
				 bf_hashlist_bytes(&state->list));
	BufFileTell(state->file, &state->end_file, &state->end_offset);
	/* Leaving the last block writes it. */
	seek_file(state, 0, 0);
	state->filed += state->list.count;
	state->list.count = 0;
}

/* Plan the filter for a number of distinct elements. */
static void
plan_distinct(const DistinctState *state, uint64 distinct, BfPlan *plan)
{
	bf_value_plan(&bf_guava, (int64) distinct, state->fpp, state->funnel, 0,
				  plan);
	plan->header.meaning = state->meaning;
}

/* The state of a group, at its first element. */
static DistinctState *
make_distinct_state(MemoryContext context, const BfElementType *element,
					double fpp)
{
	DistinctState *state = MemoryContextAllocZero(context, sizeof(DistinctState));
	BfPlan		plan;

	state->fpp = fpp;
	state->list.width = BF_SORTED_WORDS;
	state->funnel = bf_element_bind(&bf_guava, BF_FUNNEL_UNBOUND, element);
	state->meaning = element->meaning;
	/* Refuse a probability that is none before the work, not after. */
	plan_distinct(state, 1, &plan);
	return state;
}

/* Transition: remember the element's hash. */
Datum
bloomext_agg_distinct_add(PG_FUNCTION_ARGS)
{
	MemoryContext context = bf_agg_context(fcinfo);
	const BfElementType *element = bf_agg_site(fcinfo, 1, sizeof(BfElementType));
	DistinctState *state = PG_ARGISNULL(0) ? NULL : (DistinctState *) PG_GETARG_POINTER(0);
	double		fpp = BF_AGG_FPP;
	BfHash		hash;

	if (PG_NARGS() > 2)
	{
		bf_refuse_null(fcinfo, 2, "fpp");
		fpp = PG_GETARG_FLOAT8(2);
	}
	if (state != NULL && state->fpp != fpp)
		bf_agg_refuse_row("bf_agg_distinct");
	if (PG_ARGISNULL(1))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	if (state == NULL)
		state = make_distinct_state(context, element, fpp);

	if (!bf_hashlist_make_room(&state->list, list_maximum()))
		spill(state, context);
	bf_element_hash(&bf_guava, state->funnel, element, PG_GETARG_DATUM(1),
					&hash);
	bf_hashlist_add(&state->list, context, &hash);
	PG_RETURN_POINTER(state);
}

/* Make the empty filter for a number of distinct elements. */
static void
make_filter(const DistinctState *state, uint64 distinct, BfValue *value)
{
	BfPlan		plan;

	plan_distinct(state, distinct, &plan);
	bf_value_make(&plan, value);
}

/* Hashes travel through the sort as uuids: 16 bytes, with a fast comparison. */
static void
sort_hashes(Tuplesortstate *sort, const uint64 *words, uint32 count)
{
	for (uint32 i = 0; i < count; i++, words += BF_SORTED_WORDS)
	{
		CHECK_FOR_INTERRUPTS();
		tuplesort_putdatum(sort, PointerGetDatum(words), false);
	}
}

/* Sort all that the state holds. */
static Tuplesortstate *
sort_state(DistinctState *state)
{
	TypeCacheEntry *uuid = lookup_type_cache(UUIDOID, TYPECACHE_LT_OPR);
	Tuplesortstate *sort = tuplesort_begin_datum(UUIDOID, uuid->lt_opr,
												 InvalidOid, false, work_mem,
												 NULL,
												 TUPLESORT_RANDOMACCESS);
	uint64		batch[AT_ONCE * BF_SORTED_WORDS];

	seek_file(state, 0, 0);
	for (uint64 read = 0; read < state->filed;)
	{
		uint32		count = Min(state->filed - read, AT_ONCE);

		BufFileReadExact(state->file, batch, count * HASH_BYTES);
		sort_hashes(sort, batch, count);
		read += count;
	}
	sort_hashes(sort, state->list.words, state->list.count);
	tuplesort_performsort(sort);
	return sort;
}

/*
 * Go through sorted hashes, each distinct one once; add them to a filter where
 * one is given.  Returns their number.
 */
static uint64
walk_sorted(Tuplesortstate *sort, BfValue *filter)
{
	BfHash		batch[BF_BATCH];
	uint64		last[BF_SORTED_WORDS];
	uint64		distinct = 0;
	uint32		batched = 0;

	while (compat_tuplesort_read(sort, batch[batched].word, HASH_BYTES))
	{
		CHECK_FOR_INTERRUPTS();
		if (distinct > 0 && memcmp(batch[batched].word, last, HASH_BYTES) == 0)
			continue;
		memcpy(last, batch[batched].word, HASH_BYTES);
		distinct++;
		if (filter == NULL || ++batched < BF_BATCH)
			continue;
		bf_value_add(filter, batch, batched);
		batched = 0;
	}
	if (batched > 0)
		bf_value_add(filter, batch, batched);
	return distinct;
}

/* State -> bloomfilter; NULL where there was no element. */
Datum
bloomext_agg_distinct_final(PG_FUNCTION_ARGS)
{
	DistinctState *state;
	BfValue		result;

	bf_agg_context(fcinfo);
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (DistinctState *) PG_GETARG_POINTER(0);

	if (state->file == NULL)
	{
		bf_hashlist_deduplicate(&state->list);
		make_filter(state, state->list.count, &result);
		bf_value_add_list(&result, &state->list);
	}
	else
	{
		Tuplesortstate *sort = sort_state(state);

		make_filter(state, walk_sorted(sort, NULL), &result);
		tuplesort_rescan(sort);
		walk_sorted(sort, &result);
		tuplesort_end(sort);
	}
	PG_RETURN_POINTER(result.varlena);
}
