/*
 * snapshot.c
 *	  Read a live filter's image.
 *
 * snapshot.h says how to use it and why it is right.
 */
#include "postgres.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "live/live.h"
#include "live/snapshot.h"
#include "type/add.h"
#include "type/merge.h"

/* Begin to read an index that is resolved and locked already. */
void
bf_snapshot_begin(Oid oid, BfLiveSnapshot *snapshot)
{
	Relation	index = relation_open(oid, NoLock);
	BfLive		live;

	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->index = index;
	/* What is not there yet is read, too, as serializability goes. */
	PredicateLockRelation(index, GetActiveSnapshot());

	bf_live_open(index, &live);
	snapshot->plan = live.plan;
	/* As a sequential scan does: do not put all else out of shared buffers. */
	if (bf_live_end(&live) > NBuffers / 4)
		snapshot->ring = GetAccessStrategy(BAS_BULKREAD);
}

/* Pending hashes: first of all. */
BfHashPair *
bf_snapshot_pending(BfLiveSnapshot *snapshot, size_t *count)
{
	BfLive		live;

	bf_live_open(snapshot->index, &live);
	return bf_pending_copy(snapshot->index, &live, count);
}

/* Copy the next page of bits. */
bool
bf_snapshot_next(BfLiveSnapshot *snapshot, BfLivePage *page)
{
	BfLive		live;

	bf_live_open(snapshot->index, &live);
	live.ring = snapshot->ring;
	while (snapshot->next < live.layers[0].pages)
	{
		BlockNumber number = snapshot->next++;
		uint64		offset = (uint64) number * BF_PAGE_BYTES;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = bf_page_for_read(snapshot->index, &live,
								  bf_data_block(&live.layers[0], number),
								  BF_PAGE_DATA);
		if (!BufferIsValid(buffer))
			continue;
		page->offset = offset;
		page->length = (uint32) Min(BF_PAGE_BYTES,
									snapshot->plan.first.bytes - offset);
		memcpy(page->bytes, PageGetContents(BufferGetPage(buffer)),
			   page->length);
		UnlockReleaseBuffer(buffer);
		return true;
	}
	return false;
}

/* Done; the locks stay until the transaction ends. */
void
bf_snapshot_end(BfLiveSnapshot *snapshot)
{
	if (snapshot->ring != NULL)
		FreeAccessStrategy(snapshot->ring);
	relation_close(snapshot->index, NoLock);
}

/* Add elements' hashes to a value, as a list of so many words each. */
static void
add_pairs(BfValue *value, BfHashPair *pairs, size_t count)
{
	BfHashList	list = {
		.words = &pairs->h1,
		.width = BF_PAIR_WORDS,
		.count = (uint32) count
	};

	bf_value_add_list(value, &list);
}

/* Make a value of an index. */
static void
read_index(Oid index, BfValue *value)
{
	BfLiveSnapshot snapshot;
	BfLivePage *page = palloc(sizeof(BfLivePage));
	BfHashPair *pending;
	BfHashPair *own;
	size_t		npending;
	size_t		nown;

	bf_snapshot_begin(index, &snapshot);
	bf_value_make(&snapshot.plan, value);
	own = bf_deferred_copy(snapshot.index, &nown);
	pending = bf_snapshot_pending(&snapshot, &npending);
	while (bf_snapshot_next(&snapshot, page))
		memcpy(value->bytes + value->filter.plan.first.offset + page->offset,
			   page->bytes, page->length);
	add_pairs(value, pending, npending);
	add_pairs(value, own, nown);
	bf_snapshot_end(&snapshot);
	pfree(own);
	pfree(pending);
	pfree(page);
}

/* The one filter of a leaf. */
static Oid
filter_of(const BfLeaf *leaf)
{
	if (list_length(leaf->indexes) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_PARAMETER),
				 errmsg("table \"%s\" has several live filters",
						get_rel_name(leaf->place.table)),
				 errhint("Name the index.")));
	return linitial_oid(leaf->indexes);
}

/* Make a value of all filters that a table or an index stands for. */
void
bf_snapshot_value(Oid rel, BfValue *value)
{
	List	   *leaves = bf_resolve_sure(rel);
	BfValue		other;

	read_index(filter_of(linitial(leaves)), value);
	for (int i = 1; i < list_length(leaves); i++)
	{
		read_index(filter_of(list_nth(leaves, i)), &other);
		bf_value_merge(value, &other.filter, &bf_merge_union);
		pfree(other.varlena);
	}
}
