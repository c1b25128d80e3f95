/*
 * slices.c
 *	  Parts of filters that lie in a table, each read alone.
 *
 * What is stored out of line can be read by slices: to look at a byte, or to go
 * through all of it without having all of it in memory.  What is compressed
 * would be decompressed from its start for each of them.
 */
#include "postgres.h"

#include "access/detoast.h"

#include "type/slices.h"

/* Whether a filter lies in a table in such a way that slices of it can be read. */
bool
bf_slices_are_stored(Datum datum)
{
	struct varlena *varlena = (struct varlena *) DatumGetPointer(datum);
	struct varatt_external pointer;

	if (!VARATT_IS_EXTERNAL_ONDISK(varlena))
		return false;
	VARATT_EXTERNAL_GET_POINTER(pointer, varlena);
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
				 errmsg("stored bloom filter is shorter than it says")));
	return slice;
}

/*
 * Read the prefix of a stored filter, check it against the filter's length, and
 * open it; returns what holds it.
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
