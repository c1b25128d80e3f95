/*
 * probe.c
 *	  Repeatedly look up elements in a filter that may be stored in a table.
 *
 * Larger filters are stored out of line.  Detoasting a filter of 24 MB at
 * every call would take 10 ms, a hundred thousand times as long as the lookup.
 * So a call site caches what it read, by toast pointer:
 *
 * - At first only the prefix is read.  Each lookup then reads just the
 *	 bytes that it needs, a slice for each, and stops at the first bit that
 *	 is not set.
 * - Once the slices have cost about as much as loading the filter would,
 *	 it is loaded.  So the total cost is at most twice what it would be if
 *	 the number of lookups were known in advance.
 *
 * Rows of several filters, such as one per day or tenant, may come in any
 * order: a hash join mixes them.  So the cache holds several filters, as long
 * as they fit into the memory of a hash table (work_mem times
 * hash_mem_multiplier) together; the least recently used one is evicted.  A
 * filter that is used again after its eviction starts with slices, counted
 * from zero.  So even if every filter is evicted before its next use, the
 * total cost is below twice that of slices alone.
 *
 * The filter in use is cached whatever its size.  One that is larger than all
 * of that memory evicts no other.  When another comes into use, it is evicted
 * if it was loaded; if not, it stays, but the slices counted for loading it
 * start again from zero.
 *
 * A toast pointer identifies a toast table and a value in it.  A value is
 * never changed: an update writes another one.  The number of a deleted value
 * can be reused only after four billion others were assigned, while the cache
 * lasts as long as the function's call site: at most a query or, in PL/pgSQL,
 * a transaction.
 *
 * Filters in memory (not toasted, or compressed and thus small) are opened at
 * each call, which reads only the prefix, and copies nothing.  A large filter
 * may be stored compressed, after an ALTER TABLE.  It is detoasted
 * immediately, as each slice would be decompressed from its start.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "type/probe.h"
#include "type/toast_slices.h"

/*
 * Bytes of a filter that are loaded in the time that it takes to read a slice.
 * Measured at 24 MB, warm: 3.1 us a slice, 9 ms the whole value.
 */
#define BYTES_PER_SLICE		8192

/* Stored filters by toast pointer. */
typedef struct BfStoredEntry
{
	struct varatt_external pointer;
	BfStored   *stored;
	char		status;
} BfStoredEntry;

#define SH_PREFIX		stored
#define SH_ELEMENT_TYPE	BfStoredEntry
#define SH_KEY_TYPE		struct varatt_external
#define SH_KEY			pointer
#define SH_HASH_KEY(table, key)	murmurhash32((key).va_valueid)
#define SH_EQUAL(table, a, b)	(memcmp(&(a), &(b), sizeof(a)) == 0)
#define SH_SCOPE		static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Initial size of the hash table. */
#define FEW_FILTERS		16

/* Evict a filter from the cache. */
static void
forget_stored(BfProbe *probe, BfStored *stored)
{
	stored_delete(probe->known, stored->pointer);
	dlist_delete(&stored->by_use);
	probe->size -= stored->size;
	pfree(stored->bytes);
	pfree(stored);
}

/*
 * Update the size of the filter in use, with its share of a hash table that is
 * half full, and evict others to make room for it.
 */
static void
keep_within_memory(BfProbe *probe)
{
	BfStored   *stored = probe->stored;
	Size		limit = get_hash_memory_limit();

	probe->size -= stored->size;
	stored->size = GetMemoryChunkSpace(stored) +
		GetMemoryChunkSpace(stored->bytes) + 2 * sizeof(BfStoredEntry);
	probe->size += stored->size;

	if (stored->size > limit)
		limit += stored->size;
	while (probe->size > limit)
		forget_stored(probe, dlist_tail_element(BfStored, by_use,
												&probe->by_use));
}

/* Load all of the filter in use. */
static void
load_stored(BfProbe *probe)
{
	BfStored   *stored = probe->stored;
	struct varlena *loaded = bf_slices_load(probe->context, probe->datum);

	bf_value_open(PointerGetDatum(loaded), &stored->filter);
	pfree(stored->bytes);
	stored->bytes = loaded;
	keep_within_memory(probe);
}

/* Read the prefix of a stored filter, or all of it if it is compressed. */
static BfStored *
read_stored(BfProbe *probe, const struct varatt_external *pointer)
{
	MemoryContext old = MemoryContextSwitchTo(probe->context);
	BfStored   *stored = palloc0(sizeof(BfStored));

	stored->pointer = *pointer;
	stored->bytes = bf_slices_are_stored(probe->datum) ?
		bf_slice_read_prefix(probe->datum, &stored->filter) :
		bf_value_open(probe->datum, &stored->filter);
	MemoryContextSwitchTo(old);
	return stored;
}

/* Add a stored filter to the cache. */
static void
keep_stored(BfProbe *probe, BfStored *stored)
{
	bool		found;

	if (probe->known == NULL)
		probe->known = stored_create(probe->context, FEW_FILTERS, NULL);
	stored_insert(probe->known, stored->pointer, &found)->stored = stored;
	dlist_push_head(&probe->by_use, &stored->by_use);
}

/* Make another stored filter the one in use. */
static void
change_stored(BfProbe *probe, const struct varatt_external *pointer)
{
	BfStored   *last = probe->stored;
	BfStoredEntry *entry;

	if (last != NULL && last->filter.length > get_hash_memory_limit())
	{
		last->slices = 0;
		if (last->filter.whole)
		{
			probe->stored = NULL;
			forget_stored(probe, last);
		}
	}
	entry = probe->known == NULL ? NULL : stored_lookup(probe->known, *pointer);
	if (entry != NULL)
	{
		probe->stored = entry->stored;
		dlist_move_head(&probe->by_use, &probe->stored->by_use);
	}
	else
	{
		BfStored   *stored = read_stored(probe, pointer);

		keep_stored(probe, stored);
		probe->stored = stored;
		keep_within_memory(probe);
	}
}

/* Set the filter for lookups. */
void
bf_probe_open(BfProbe *probe, Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	probe->datum = datum;
	if (!VARATT_IS_EXTERNAL_ONDISK(value))
	{
		bf_value_open(datum, &probe->in_memory);
		probe->filter = &probe->in_memory;
		return;
	}

	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	if (probe->stored == NULL ||
		memcmp(&pointer, &probe->stored->pointer, sizeof(pointer)) != 0)
		change_stored(probe, &pointer);
	probe->filter = &probe->stored->filter;
}

/*
 * Prepare for a number of lookups: load the filter if slices would cost more.
 * Even an absent element takes a slice or two.
 */
void
bf_probe_expect(BfProbe *probe, uint64 lookups)
{
	uint64		slices = lookups > 1 ? lookups * 2 : lookups;

	if (!probe->filter->whole &&
		(probe->stored->slices + slices) * BYTES_PER_SLICE >= probe->filter->length)
		load_stored(probe);
}

/* Whether a cell of a stored filter is set. */
static bool
stored_cell(BfProbe *probe, const BfLayer *layer, uint64 cell)
{
	uint8		width = probe->filter->plan.header.cell_bits;
	uint64		offset = layer->offset + bf_cell_byte(cell, width);
	struct varlena *slice = bf_slice_read(probe->datum, offset, 1);
	bool		set;

	set = bf_cell_in_byte(DatumGetBfBytes(slice)[0], cell, width);
	pfree(slice);
	probe->stored->slices++;
	return set;
}

/* Whether a layer of a stored filter contains an element, cell by cell. */
static bool
stored_layer_contains(BfProbe *probe, const BfLayer *layer, BfHash *hash)
{
	uint64		positions[BF_MAX_HASHES];

	CHECK_FOR_INTERRUPTS();
	bf_hash_reach(probe->filter->plan.strategy, hash, layer->hashes);
	probe->filter->plan.strategy->positions(hash, layer->bits, 0, layer->hashes,
									  positions);
	for (uint32 i = 0; i < layer->hashes; i++)
	{
		if (!stored_cell(probe, layer, positions[i]))
			return false;
	}
	return true;
}

/* Whether the filter contains an element. */
bool
bf_probe_contains(BfProbe *probe, BfHash *hash)
{
	if (!probe->filter->whole)
		bf_probe_expect(probe, 1);
	if (probe->filter->whole)
		return bf_filter_contains(probe->filter, hash);
	bf_foreach_layer(layer, probe->filter)
	{
		if (stored_layer_contains(probe, &layer, hash))
			return true;
	}
	return false;
}

/* Look up many elements, with an answer for each. */
void
bf_probe_contains_batch(BfProbe *probe, BfHash *hashes, Size count, bool *found)
{
	if (probe->filter->whole)
		bf_filter_contains_batch(probe->filter, hashes, count, found);
	else
	{
		for (Size i = 0; i < count; i++)
			found[i] = bf_probe_contains(probe, &hashes[i]);
	}
}

/* Add a layer to an estimate, by what is read in the time of two slices. */
static void
sample_layer(BfProbe *probe, const BfLayer *layer, BfFill *fill)
{
	const BfFilter *filter = probe->filter;
	uint64		bytes = Min(layer->bytes, BYTES_PER_SLICE);
	struct varlena *slice;

	if (filter->whole)
	{
		bf_fill_sample(fill, filter, layer, filter->bytes + layer->offset, bytes);
		return;
	}
	slice = bf_slice_read(probe->datum, layer->offset, (int32) bytes);
	bf_fill_sample(fill, filter, layer, DatumGetBfBytes(slice), bytes);
	pfree(slice);
	probe->stored->slices += 2;
}

/* The approximate fill of the filter, by the first bytes of each layer. */
BfFill
bf_probe_sample(BfProbe *probe)
{
	BfFill		fill = {0};

	bf_foreach_layer(layer, probe->filter)
		sample_layer(probe, &layer, &fill);
	return fill;
}
