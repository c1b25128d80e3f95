/*
 * probe.c
 *	  Look elements up in a filter that may lie in a table, call after call.
 *
 * A filter of some size is stored out of line.  To detoast it at every call
 * would cost 10 ms at 24 MB, a hundred thousand times what the lookup takes.
 * So a call site keeps what it read, under the toast pointer that it came by:
 *
 *	- first the prefix only; each lookup then reads just the bytes it needs, a
 *	  slice each, and stops at the first bit that is not set;
 *	- once the slices read have cost about what loading everything costs, it
 *	  loads everything, once.  So the total is never above twice the best that
 *	  could have been done had the number of lookups been known.
 *
 * A toast pointer names a toast table and a value in it, and a value is never
 * changed: an update writes another one.  Filters in memory (not toasted, or
 * compressed and thus small) are opened at each call: that reads only the
 * prefix, and needs no copy.
 *
 * A filter stored compressed, which takes an ALTER TABLE to get, cannot be
 * read by slices, each of which would be decompressed from its start: it is
 * detoasted at once.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"

#include "type/pieces.h"
#include "type/probe.h"
#include "type/value.h"

/*
 * Bytes that are loaded whole in the time that a slice takes to read.
 * Measured at 24 MB, warm: 3.1 us a slice, 9 ms the whole value.
 */
#define BYTES_PER_SLICE		8192

/* Read part of a stored filter. */
static struct varlena *
read_slice(BfProbe *probe, uint64 offset, int32 length)
{
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(probe->datum,
												   (int32) offset, length);

	if (VARSIZE_ANY_EXHDR(slice) != length)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored bloom filter is shorter than it says")));
	return slice;
}

/* Free what is kept of the previous filter. */
static void
forget_filter(BfProbe *probe)
{
	if (probe->prefix != NULL)
		pfree(probe->prefix);
	if (probe->loaded != NULL)
		pfree(probe->loaded);
	probe->prefix = NULL;
	probe->loaded = NULL;
	probe->slices = 0;
	probe->cached = false;
}

/* Load a filter that is stored compressed, of which all is read in any case. */
static void
load_compressed(BfProbe *probe)
{
	MemoryContext old = MemoryContextSwitchTo(probe->context);

	probe->loaded = bf_value_open(probe->datum, &probe->filter);
	MemoryContextSwitchTo(old);
}

/*
 * Load a stored filter whole: piece by piece, so that it can be cancelled, and
 * into memory that was asked for with random access in mind.
 */
static void
load(BfProbe *probe)
{
	uint64		length = probe->pointer.va_rawsize - VARHDRSZ;
	struct varlena *loaded = bf_value_allocate(probe->context, length);

	probe->loaded = loaded;
	for (uint64 offset = 0; offset < length; offset += BF_PIECE)
	{
		int32		wanted = Min(BF_PIECE, length - offset);
		struct varlena *piece = read_slice(probe, offset, wanted);

		CHECK_FOR_INTERRUPTS();
		memcpy(VARDATA(loaded) + offset, VARDATA_ANY(piece), wanted);
		pfree(piece);
	}
	bf_value_open(PointerGetDatum(loaded), &probe->filter);
}

/* Read the prefix of a stored filter, and check it against its length. */
static void
read_prefix(BfProbe *probe)
{
	uint64		length = probe->pointer.va_rawsize - VARHDRSZ;
	MemoryContext old = MemoryContextSwitchTo(probe->context);
	uint32		layers;
	BfError		error;

	probe->prefix = read_slice(probe, 0, BF_PREFIX_SIZE(1));
	if (!bf_format_layers(DatumGetBfBytes(probe->prefix),
						  VARSIZE_ANY_EXHDR(probe->prefix), &layers, &error))
		bf_raise_corrupted(&error);
	if (layers > 1)
	{
		pfree(probe->prefix);
		probe->prefix = read_slice(probe, 0, BF_PREFIX_SIZE(layers));
	}
	if (!bf_filter_open(DatumGetBfBytes(probe->prefix),
						VARSIZE_ANY_EXHDR(probe->prefix), length,
						&probe->filter, &error))
		bf_raise_corrupted(&error);
	MemoryContextSwitchTo(old);
}

/* Make a filter the one that lookups are about. */
void
bf_probe_open(BfProbe *probe, Datum datum)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	probe->datum = datum;
	if (!VARATT_IS_EXTERNAL_ONDISK(varlena))
	{
		forget_filter(probe);
		bf_value_open(datum, &probe->filter);
		return;
	}

	VARATT_EXTERNAL_GET_POINTER(pointer, varlena);
	if (probe->cached &&
		memcmp(&pointer, &probe->pointer, sizeof(pointer)) == 0)
		return;

	forget_filter(probe);
	probe->pointer = pointer;
	if (VARATT_EXTERNAL_IS_COMPRESSED(pointer))
		load_compressed(probe);
	else
		read_prefix(probe);
	probe->cached = true;
}

/*
 * So many elements are about to be looked up: load the filter if it is time to
 * have it in memory.  Even an absent one takes a slice or two.
 */
void
bf_probe_expect(BfProbe *probe, uint64 lookups)
{
	uint64		slices = lookups > 1 ? lookups * 2 : lookups;

	if (!probe->filter.whole &&
		(probe->slices + slices) * BYTES_PER_SLICE >= probe->filter.length)
		load(probe);
}

/* Look a cell up in a stored filter. */
static bool
stored_cell(BfProbe *probe, const BfLayer *layer, uint64 cell)
{
	uint8		width = probe->filter.plan.header.cell_bits;
	struct varlena *slice = read_slice(probe,
									   layer->offset + bf_cell_byte(cell, width),
									   1);
	bool		set;

	set = bf_cell_in_byte(DatumGetBfBytes(slice)[0], cell, width);
	pfree(slice);
	probe->slices++;
	return set;
}

/* Whether a layer of a stored filter holds an element, cell by cell. */
static bool
stored_layer_contains(BfProbe *probe, const BfLayer *layer, BfHash *hash)
{
	uint64		positions[BF_MAX_HASHES];

	CHECK_FOR_INTERRUPTS();
	bf_hash_reach(probe->filter.plan.strategy, hash, layer->hashes);
	probe->filter.plan.strategy->positions(hash, layer->bits, 0, layer->hashes,
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

	bf_probe_expect(probe, 1);
	if (probe->filter.whole)
		return bf_filter_contains(&probe->filter, hash);
	bf_foreach_layer(layer, &probe->filter)
	{
		if (stored_layer_contains(probe, &layer, hash))
			return true;
	}
	return false;
}

/* The same for many elements, with an answer for each. */
void
bf_probe_contains_batch(BfProbe *probe, BfHash *hashes, Size count, bool *found)
{
	if (probe->filter.whole)
		bf_filter_contains_batch(&probe->filter, hashes, count, found);
	else
	{
		for (Size i = 0; i < count; i++)
			found[i] = bf_probe_contains(probe, &hashes[i]);
	}
}
