/*
 * insert.c
 *	  aminsert: hash a row's element and remember it; aminsertcleanup.
 *
 * The hint that an UPDATE did not change the indexed column is not believed:
 * a hint it is, and the element costs little where it is there already.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "index/index.h"

/* Insert a row's element.  There is nothing to be unique about. */
bool
bflive_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			  Relation heap, IndexUniqueCheck unique, bool unchanged,
			  IndexInfo *info)
{
	MemoryContext caller;
	BfLive		live;
	BfHash		hash;
	BfHashPair	pair;

	if (isnull[0])
		return false;

	/* Toasted text leaves copies behind, and the executor's context is long. */
	caller = MemoryContextSwitchTo(bf_deferred_scratch());
	bf_live_open(index, &live);
	if (!bf_element_hash(live.plan.strategy, live.plan.header.funnel,
						 &live.element, values[0], &hash))
		bf_element_does_not_fit(&live.element, values[0]);
	pair = bf_pair_of(&hash);
	bf_deferred_add(heap, index, &pair);
	MemoryContextReset(CurrentMemoryContext);
	MemoryContextSwitchTo(caller);
	return false;
}

/* All rows of an insertion have come. */
void
bflive_insertcleanup(Relation index, IndexInfo *info)
{
	bf_deferred_end_insertion(index);
}
