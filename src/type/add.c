/*
 * add.c
 *	  Put hashed elements into values, whatever kind of filter they are.
 *
 * Plain filters of fixed size take elements by the batch.  Counting filters
 * count each.  Filters that grow, or count their elements, take one after the
 * other: what any layer holds already is not added again, and what is new goes
 * into the newest layer.
 *
 * When to grow is the originals' affair: RedisBloom's layers count, and make
 * room when the next new element comes; the growing Redis filter looks at the
 * bits after each element, and has the next layer ready when that one is over
 * half full.  See plan.c for how large it is.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "strategy/plan.h"
#include "type/add.h"
#include "type/pieces.h"

/* Find the newest layer and how full it is. */
static void
find_newest(BfValue *value)
{
	const BfFilter *filter = &value->filter;
	BfNewest   *newest = &value->newest;

	newest->layer = bf_filter_layer(filter, filter->plan.header.layers - 1);
	newest->filled = filter->plan.strategy->counts_elements ?
		newest->layer.counted :
		bf_layer_count(filter, &newest->layer);
	newest->capacity = bf_plan_capacity(&filter->plan, &newest->layer);
	newest->known = true;
}

/* Append a layer: a larger value takes the old one's place. */
static void
append_layer(BfValue *value)
{
	const BfFilter *filter = &value->filter;
	struct varlena *old = value->varlena;
	BfPlan		plan = filter->plan;
	size_t		old_prefix = BF_PREFIX_SIZE(plan.header.layers);
	size_t		old_length = filter->length;
	MemoryContext caller;
	BfLayer    *newest;
	BfError		error;

	plan.layers = palloc(sizeof(BfLayer) * ((Size) plan.header.layers + 1));
	bf_filter_list_layers(filter, plan.layers);
	newest = &plan.layers[plan.header.layers++ - 1];
	if (!bf_plan_next_layer(&plan, newest, newest + 1, &error))
		bf_raise(&error);

	caller = MemoryContextSwitchTo(GetMemoryChunkContext(old));
	bf_value_make(&plan, value);
	MemoryContextSwitchTo(caller);
	memcpy(value->bytes + BF_PREFIX_SIZE(plan.header.layers),
		   (uint8 *) VARDATA(old) + old_prefix, old_length - old_prefix);
	pfree(old);
	pfree(plan.layers);
	find_newest(value);
}

/* Set an element's bits in the newest layer; returns how many were not set. */
static uint32
add_to_newest(BfValue *value, BfHash *hash)
{
	const BfLayer *layer = &value->newest.layer;

	bf_hash_reach(value->filter.plan.strategy, hash, layer->hashes);
	return bf_layer_add(&value->filter, layer, hash);
}

/* Add an element to a filter that grows or counts. */
static void
add_one(BfValue *value, BfHash *hash)
{
	BfFilter   *filter = &value->filter;
	BfNewest   *newest = &value->newest;
	bool		grows = filter->plan.header.expansion > 0;

	if (filter->plan.strategy->counts_elements)
	{
		if (bf_filter_contains(filter, hash))
			return;
		if (grows && newest->filled >= newest->capacity)
			append_layer(value);
		add_to_newest(value, hash);
		bf_filter_set_counted(filter, newest->layer.index, ++newest->filled);
	}
	else
	{
		if (filter->plan.header.layers == 1 || !bf_filter_contains(filter, hash))
			newest->filled += add_to_newest(value, hash);
		if (grows && newest->filled >= newest->capacity)
			append_layer(value);
	}
}

/* Add up to BF_BATCH elements. */
static void
add_batch(BfValue *value, BfHash *hashes, Size count)
{
	BfFilter   *filter = &value->filter;
	bool		counting = filter->plan.header.cell_bits == BF_CELL_COUNTER;

	if (filter->plan.header.expansion > 0 || filter->plan.strategy->counts_elements)
	{
		if (!value->newest.known)
			find_newest(value);
		for (Size i = 0; i < count; i++)
			add_one(value, &hashes[i]);
		return;
	}
	for (Size i = 0; i < count && filter->plan.strategy->words == 0; i++)
		bf_hash_reach(filter->plan.strategy, &hashes[i], filter->plan.first.hashes);
	for (Size i = 0; i < count && counting; i++)
		bf_filter_count(filter, &hashes[i], 1);
	if (!counting)
		bf_filter_add(filter, hashes, count);
}

/*
 * Add elements, any number of them.  The value may move: value->varlena is
 * where it is afterwards, in the same memory context.
 */
void
bf_value_add(BfValue *value, BfHash *hashes, Size count)
{
	for (Size done = 0; done < count; done += BF_BATCH)
	{
		CHECK_FOR_INTERRUPTS();
		add_batch(value, hashes + done, Min(count - done, BF_BATCH));
	}
}

/* Add what is listed. */
void
bf_value_add_list(BfValue *value, const BfHashList *list)
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
