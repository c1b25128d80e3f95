/*
 * slices.h
 *	  Parts of filters that lie in a table, each read alone.
 */
#ifndef BLOOMEXT_SLICES_H
#define BLOOMEXT_SLICES_H

#include "type/value.h"

extern bool bf_slices_are_stored(Datum datum);
extern struct varlena *bf_slice_read(Datum datum, uint64 offset, int32 length);
extern struct varlena *bf_slice_read_prefix(Datum datum, BfFilter *filter);

#endif							/* BLOOMEXT_SLICES_H */
