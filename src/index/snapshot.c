/*
 * snapshot.c
 *	  Read the contents of a live filter: see snapshot.h.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "index/snapshot.h"
#include "type/merge.h"
#include "type/shard.h"

/* Begin to read an index that is resolved and locked already. */
void
bf_snapshot_begin(Oid oid, BfLiveSnapshot *snapshot)
{
	Relation	index = relation_open(oid, NoLock);
	BfLive	   *live = palloc(sizeof(BfLive));

	/* For serializability, an element that is absent was read as well. */
	PredicateLockRelation(index, GetActiveSnapshot());

	bf_live_open(index, live);
	/* As for a sequential scan: do not evict all other pages. */
	if (bf_live_end(live) > NBuffers / 4)
		live->ring = GetAccessStrategy(BAS_BULKREAD);
	*snapshot = (BfLiveSnapshot) {
		.plan = bf_live_value_plan(live,
								   palloc(sizeof(BfLayer) * live->nlayers)),
		.index = index,
		.live = live
	};
}

/* Go on to a layer: returns its pending hashes; its pages come next. */
BfHashPair *
bf_snapshot_layer(BfLiveSnapshot *snapshot, uint32 layer, size_t *count)
{
	BfHashPair *pending;

	snapshot->layer = &snapshot->live->layers[layer];
	pending = bf_pending_copy(snapshot->index, snapshot->live,
							  snapshot->layer, count);
	snapshot->sweep = bf_sweep_begin(snapshot->index, snapshot->live,
									 snapshot->layer);
	return pending;
}

/* Copy the next page of bits of the layer. */
bool
bf_snapshot_next(BfLiveSnapshot *snapshot, BfLivePage *page)
{
	uint64		bytes = bf_layer_bytes(snapshot->layer->shape.bits,
									   BF_CELL_BIT);
	BlockNumber number;
	Buffer		buffer = bf_sweep_next(snapshot->sweep, &number);

	if (!BufferIsValid(buffer))
	{
		bf_sweep_end(snapshot->sweep);
		return false;
	}
	page->offset = (uint64) number * BF_PAGE_BYTES;
	page->length = (uint32) Min(BF_PAGE_BYTES, bytes - page->offset);
	memcpy(page->bytes, PageGetContents(BufferGetPage(buffer)), page->length);
	UnlockReleaseBuffer(buffer);
	return true;
}

/* End reading; the locks stay until the transaction ends. */
void
bf_snapshot_end(BfLiveSnapshot *snapshot)
{
	if (snapshot->live->ring != NULL)
		FreeAccessStrategy(snapshot->live->ring);
	pfree(snapshot->live);
	pfree(snapshot->plan.layers);
	relation_close(snapshot->index, NoLock);
}

/* Set the bits of hashes in a layer of a value, and free the hashes. */
static void
set_pairs(BfValue *value, BfLayer *layer, BfHashPair *pairs, size_t count)
{
	static const bool held[BF_BATCH];
	uint64		room = PG_UINT64_MAX;
	BfHash		hashes[BF_BATCH];

	for (size_t done = 0; done < count;)
	{
		size_t		n = Min(count - done, BF_BATCH);

		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
			hashes[i] = bf_hash_of(&pairs[done + i]);
		done += bf_layer_add(&value->filter, layer, hashes, n, held, &room);
	}
	pfree(pairs);
}

/* Copy a layer of an index into a value with the same layers. */
static void
copy_layer(BfLiveSnapshot *snapshot, BfLayer *layer, BfValue *value)
{
	BfLivePage *page = palloc(sizeof(BfLivePage));
	size_t		count;
	BfHashPair *pending = bf_snapshot_layer(snapshot, layer->index, &count);

	while (bf_snapshot_next(snapshot, page))
		memcpy(value->bytes + layer->offset + page->offset, page->bytes,
			   page->length);
	set_pairs(value, layer, pending, count);
	pfree(page);
}

/* Whether all layers are within a limit. */
static bool
layers_fit(const BfPlan *plan, uint64 most)
{
	for (uint32 i = 0; i < plan->header.layers; i++)
	{
		if (bf_layer_bytes(plan->layers[i].bits, BF_CELL_BIT) > most)
			return false;
	}
	return true;
}

/* Raise an error: a filter is too large.  The hint is how to divide it. */
pg_noreturn static void
refuse_large(const BfLiveSnapshot *snapshot, const char *what)
{
	const BfPlan *plan = &snapshot->plan;
	uint64		expected = 0;
	uint64		bytes = 0;
	uint64		parts;

	for (uint32 i = 0; i < plan->header.layers; i++)
	{
		expected += plan->layers[i].expected;
		bytes += bf_layer_bytes(plan->layers[i].bits, BF_CELL_BIT);
	}
	/* A number of parts with which each fits into both. */
	parts = bf_live_parts(bytes, BF_REDIS_MAX_BYTES);
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("live filter \"%s\" does not fit into %s",
					RelationGetRelationName(snapshot->index), what),
			 errdetail("It takes %llu bytes; a value holds at most %llu bytes, a Redis string %llu bytes.",
					   (unsigned long long) bytes,
					   (unsigned long long) (MaxAllocSize - VARHDRSZ),
					   (unsigned long long) BF_REDIS_MAX_BYTES),
			 errhint("%s Mirror %s.",
					 bf_live_divided(snapshot->index, expected,
									 plan->header.fpp, parts),
					 bf_shard_suits(plan->strategy, plan->header.funnel) ?
					 psprintf("all to one key, each with a layout that ends in ;shards=%llu/i",
							  (unsigned long long) parts) :
					 "each to a key of its own")));
}

/*
 * Make a value of an index, no layer of which exceeds `most` bytes.  Deferred
 * elements are added to the newest layer.
 */
static void
read_index(Oid index, uint64 most, BfValue *value)
{
	BfLiveSnapshot snapshot;
	BfHashPair *own;
	size_t		nown;
	BfLayer		newest;

	bf_snapshot_begin(index, &snapshot);
	if (!bf_value_fits(&snapshot.plan))
		refuse_large(&snapshot, "a value");
	if (!layers_fit(&snapshot.plan, most))
		refuse_large(&snapshot, "a Redis string");
	bf_value_make(&snapshot.plan, value);
	own = bf_deferred_copy(snapshot.index, &nown);
	bf_foreach_layer(layer, &value->filter)
		copy_layer(&snapshot, &layer, value);
	newest = bf_filter_layer(&value->filter, snapshot.live->nlayers - 1);
	set_pairs(value, &newest, own, nown);
	bf_snapshot_end(&snapshot);
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
				 errhint("Use the index in place of the table.")));
	return linitial_oid(leaf->indexes);
}

/* Describe the layers of a filter, for a message. */
static char *
describe_layers(const BfFilter *filter, Oid index)
{
	return psprintf("Layers of \"%s\": %u, the first of %llu bits.",
					get_rel_name(index), filter->plan.header.layers,
					(unsigned long long) filter->plan.first.bits);
}

/* Refuse filters with different layers, or sized for different numbers. */
static void
check_alike(const BfFilter *left, Oid left_index,
			const BfFilter *right, Oid right_index, Oid rel)
{
	if (left->plan.strategy == right->plan.strategy &&
		!bf_value_same_shape(left, right))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("live filters of \"%s\" have different layers",
						get_rel_name(rel)),
				 errdetail("%s %s",
						   describe_layers(left, left_index),
						   describe_layers(right, right_index)),
				 errhint("Give all of them the same size with ALTER INDEX ... SET (expected = N, fpp = P) and REINDEX INDEX CONCURRENTLY, or use the partitions or child tables one by one.")));
}

/* Refuse an index whose predicate is that of another shard. */
static void
check_shard(Oid oid, int shards, int number)
{
	Relation	index = index_open(oid, AccessShareLock);
	ListCell   *cell;
	int			said_shards;
	int			said_number;

	foreach(cell, RelationGetIndexPredicate(index))
	{
		if (bf_shard_is_said(lfirst(cell), &said_shards, &said_number) &&
			(said_shards != shards || said_number != number))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("live filter \"%s\" is not shard %d of %d",
							RelationGetRelationName(index), number, shards),
					 errdetail("According to its predicate, it is shard %d of %d.",
							   said_number, said_shards),
					 errhint("Mirror it to a layout that ends in ;shards=%d/%d.",
							 said_shards, said_number)));
	}
	index_close(index, AccessShareLock);
}

/*
 * Refuse to use the filters of a table or an index as a shard if their
 * predicate is that of another shard.  Filters without such a predicate can be
 * any shard.
 */
void
bf_snapshot_check_shard(Oid rel, int shards, int number)
{
	ListCell   *cell;

	foreach(cell, bf_resolve_sure(rel))
		check_shard(filter_of(lfirst(cell)), shards, number);
}

/*
 * Make a value of all filters of a table or an index, with layers that fit
 * into Redis strings if it is for Redis.
 */
void
bf_snapshot_value(Oid rel, bool for_redis, BfValue *value)
{
	List	   *leaves = bf_resolve_sure(rel);
	Oid			first = filter_of(linitial(leaves));
	uint64		most = for_redis ? BF_REDIS_MAX_BYTES : MaxAllocSize;
	BfValue		other;

	read_index(first, most, value);
	for (int i = 1; i < list_length(leaves); i++)
	{
		Oid			index = filter_of(list_nth(leaves, i));

		read_index(index, most, &other);
		check_alike(&value->filter, first, &other.filter, index, rel);
		bf_value_merge(value, &other.filter, &bf_merge_union);
		pfree(other.varlena);
	}
}
