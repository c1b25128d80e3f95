/*
 * toast_slices.c
 *	  Read stored filters in slices.
 *
 * A value that is stored out of line can be read by slices: to get a byte, or
 * to process all of it without having it in memory.  This is not done for
 * compressed values, which would be decompressed from the start for each
 * slice.  Loading a whole filter by slices is better, too: PG_DETOAST_DATUM()
 * cannot be cancelled, and uses memory in small pages (measured at 120 MB:
 * 1.3 times the time).
 */
#include "postgres.h"

#include "access/detoast.h"
#include "miscadmin.h"

#include "type/toast_slices.h"

/* Whether a filter is stored such that slices of it can be read. */
bool
bf_slices_are_stored(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(value))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	return !VARATT_EXTERNAL_IS_COMPRESSED(pointer);
}

/* Read part of a stored filter. */
struct varlena *
bf_slice_read(Datum datum, uint64 offset, int32 length)
{
	struct varlena *slice = PG_DETOAST_DATUM_SLICE(datum, (int32) offset,
												   length);

	if (VARSIZE_ANY_EXHDR(slice) != length)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored bloom filter is truncated")));
	return slice;
}

/*
 * Read the prefix of a stored filter, check it against the filter's length, and
 * open it; returns the memory of the prefix.
 */
struct varlena *
bf_slice_read_prefix(Datum datum, BfFilter *filter)
{
	struct varlena *prefix = bf_slice_read(datum, 0, BF_PREFIX_SIZE(1));
	uint32		layers;
	BfError		error;

	if (!bf_format_layers(DatumGetBfBytes(prefix), VARSIZE_ANY_EXHDR(prefix),
						  &layers, &error))
		bf_raise_corrupted(&error);
	if (layers > 1)
	{
		pfree(prefix);
		prefix = bf_slice_read(datum, 0, BF_PREFIX_SIZE(layers));
	}
	if (!bf_filter_open(DatumGetBfBytes(prefix), VARSIZE_ANY_EXHDR(prefix),
						toast_raw_datum_size(datum) - VARHDRSZ, filter, &error))
		bf_raise_corrupted(&error);
	return prefix;
}

/*
 * Combine an array with the bytes of a stored filter from an offset to an end,
 * reading these slice by slice.
 */
void
bf_slices_combine(BfArrayLoop loop, uint8 *into, Datum datum, uint64 offset,
				  uint64 end)
{
	while (offset < end)
	{
		int32		length = Min(BF_PIECE, end - offset);
		struct varlena *piece = bf_slice_read(datum, offset, length);

		CHECK_FOR_INTERRUPTS();
		loop(into, DatumGetBfBytes(piece), length);
		pfree(piece);
		into += length;
		offset += length;
	}
}

/* The BfArrayLoop that copies. */
static void
copy_piece(uint8 *into, const uint8 *from, size_t bytes)
{
	memcpy(into, from, bytes);
}

/* Load a stored filter for random access, in pieces, to allow a cancel. */
struct varlena *
bf_slices_load(MemoryContext context, Datum datum)
{
	uint64		length = toast_raw_datum_size(datum) - VARHDRSZ;
	struct varlena *loaded = bf_value_allocate(context, length);

	bf_slices_combine(copy_piece, (uint8 *) VARDATA(loaded), datum, 0, length);
	return loaded;
}

/* Make a copy of a value that may be changed. */
void
bf_value_copy(Datum datum, BfValue *value)
{
	struct varlena *source = bf_slices_are_stored(datum) ?
		bf_slices_load(CurrentMemoryContext, datum) :
		PG_DETOAST_DATUM_PACKED(datum);
	Size		length = VARSIZE_ANY_EXHDR(source);
	BfError		error;

	/* A detoasted value is a copy already. */
	if (source != (struct varlena *) DatumGetPointer(datum))
		value->varlena = source;
	else
	{
		value->varlena = bf_value_allocate(CurrentMemoryContext, length);
		memcpy(VARDATA(value->varlena), VARDATA_ANY(source), length);
	}
	value->bytes = (uint8 *) VARDATA(value->varlena);
	if (!bf_filter_open(value->bytes, VARSIZE(value->varlena) - VARHDRSZ,
						VARSIZE(value->varlena) - VARHDRSZ,
						&value->filter, &error))
		bf_raise_corrupted(&error);
	value->newest.known = false;
}
