/*
 * insert.c
 *	  aminsert: hash the element of a row and defer it; aminsertcleanup.
 *
 * The hint that an UPDATE did not change the indexed column is ignored: it is
 * only a hint, and an element that is already there costs little.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "index/index.h"

/* aminsert.  There is no uniqueness to check. */
bool
bflive_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			  Relation heap, IndexUniqueCheck unique, bool unchanged,
			  IndexInfo *info)
{
	MemoryContext caller;
	BfLive		live;
	BfHash		hash;
	BfHashPair	pair;
	BfPartsRoom room;
	Datum		value;

	if (isnull[0])
		return false;

	/* Detoasting leaves copies, and the executor's context is long-lived. */
	caller = MemoryContextSwitchTo(bf_deferred_scratch());
	bf_live_open(index, &live);
	if (bf_parts_element(&live.parts, values, isnull, &room, &value))
	{
		if (!bf_element_hash(live.plan.strategy, live.plan.header.funnel,
							 &live.element, value, &hash))
			bf_element_does_not_fit(&live.element, value);
		pair = bf_pair_of(&hash);
		bf_deferred_add(heap, index, &pair);
	}
	MemoryContextReset(CurrentMemoryContext);
	MemoryContextSwitchTo(caller);
	return false;
}

/* aminsertcleanup: an insertion is complete. */
void
bflive_insertcleanup(Relation index, IndexInfo *info)
{
	bf_deferred_end_insertion(index);
}
