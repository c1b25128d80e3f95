/*
 * add.c
 *	  Add hashed elements to values of any kind of filter.
 *
 * Plain filters of fixed size take elements by the batch, and counting
 * filters count each element.  Filters that grow, and those that record how
 * many elements they hold (RedisBloom's), first look up a batch in their
 * layers.  Elements that any layer contains are not added again.  New ones
 * are added to the newest layer one by one, so that a batch results in the
 * same bits as single elements.
 *
 * The originals define when a filter grows.  RedisBloom counts the elements
 * of a layer, and adds the next layer when a new element no longer fits.  All
 * others follow the growing filter over Redis (redis/layouts.c).  They check
 * the bits after each element, and add the next layer as soon as the newest
 * is full: for expansion 1 without blocks, when over half of its bits are
 * set.  plan.c has the other cases.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "strategy/plan.h"
#include "type/add.h"

/* Find the newest layer and its remaining room. */
static void
find_newest(BfValue *value)
{
	const BfFilter *filter = &value->filter;
	BfNewest   *newest = &value->newest;
	uint64		filled;
	uint64		capacity;

	newest->layer = bf_filter_layer(filter, filter->plan.header.layers - 1);
	newest->room = PG_UINT64_MAX;
	newest->known = true;
	if (filter->plan.header.expansion == 0)
		return;
	filled = filter->plan.strategy->counts_elements ?
		newest->layer.counted :
		bf_layer_count(filter, &newest->layer);
	capacity = bf_plan_capacity(&filter->plan, &newest->layer);
	newest->room = capacity - Min(filled, capacity);
}

/* Append a layer: a larger value replaces the old one, after a head as long. */
static void
append_layer(BfValue *value)
{
	const BfFilter *filter = &value->filter;
	struct varlena *old = value->varlena;
	const uint8 *old_bytes = value->bytes;
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
	bf_value_make_behind(old_bytes - (uint8 *) VARDATA(old), &plan, value);
	MemoryContextSwitchTo(caller);
	memcpy(value->bytes + BF_PREFIX_SIZE(plan.header.layers),
		   old_bytes + old_prefix, old_length - old_prefix);
	pfree(old);
	pfree(plan.layers);
	find_newest(value);
}

/*
 * Add up to BF_BATCH elements to a filter that grows or counts.  Only the
 * newest layer changes: elements are looked up in the others together, and in
 * a layer that stops being the newest once another has been appended.
 */
static void
add_to_newest(BfValue *value, BfHash *hashes, Size count)
{
	BfFilter   *filter = &value->filter;
	BfNewest   *newest = &value->newest;
	bool		counts = filter->plan.strategy->counts_elements;
	bool		held[BF_BATCH] = {false};
	uint32		looked_at = 0;
	Size		added;

	if (!newest->known)
		find_newest(value);
	for (Size done = 0; done < count; done += added)
	{
		bf_layers_contain_batch(filter, looked_at, newest->layer.index,
								hashes + done, count - done, held + done);
		looked_at = newest->layer.index;
		bf_hashes_reach(filter->plan.strategy, hashes + done, count - done,
						newest->layer.hashes, held + done);
		added = bf_layer_add(filter, &newest->layer, hashes + done,
							 count - done, held + done, &newest->room);
		if (counts)
			bf_filter_set_counted(filter, newest->layer.index,
								  newest->layer.counted);
		if (newest->room == 0 && (added == 0 || !counts))
			append_layer(value);
	}
}

/* Whether elements are added to the newest layer only. */
static inline bool
takes_newest(const BfFilter *filter)
{
	return filter->plan.header.expansion > 0 ||
		filter->plan.strategy->counts_elements;
}

/* Add up to BF_BATCH elements. */
static void
add_batch(BfValue *value, BfHash *hashes, Size count)
{
	BfFilter   *filter = &value->filter;
	bool		counting = filter->plan.header.cell_bits == BF_CELL_COUNTER;

	if (takes_newest(filter))
	{
		add_to_newest(value, hashes, count);
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
 * Add any number of elements.  The value may move, within its memory context:
 * afterwards it is at value->varlena.
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

/* Add an element to a plain filter of fixed size; true if that set a bit. */
static bool
put_in_bits(BfFilter *filter, BfHash *hash)
{
	BfLayer    *layer = &filter->plan.first;
	uint64		room = PG_UINT64_MAX;
	bool		held = false;

	bf_hash_reach(filter->plan.strategy, hash, layer->hashes);
	(void) bf_layer_add(filter, layer, hash, 1, &held, &room);
	return room < PG_UINT64_MAX;
}

/* Add an element; true if it was surely new. */
bool
bf_value_put(BfValue *value, BfHash *hash)
{
	bool		counting = value->filter.plan.header.cell_bits == BF_CELL_COUNTER;
	bool		held;

	if (!counting && !takes_newest(&value->filter))
		return put_in_bits(&value->filter, hash);
	held = bf_filter_contains(&value->filter, hash);
	if (!held || counting)
		bf_value_add(value, hash, 1);
	return !held;
}
