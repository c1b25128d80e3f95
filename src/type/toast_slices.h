/*
 * toast_slices.h
 *	  Read stored filters in slices.
 */
#ifndef BLOOMEXT_SLICES_H
#define BLOOMEXT_SLICES_H

#include "type/value.h"

extern bool bf_slices_are_stored(Datum datum);
extern struct varlena *bf_slice_read(Datum datum, uint64 offset, int32 length);
extern struct varlena *bf_slice_read_prefix(Datum datum, BfFilter *filter);
extern void bf_slices_combine(BfArrayLoop loop, uint8 *into, Datum datum,
							  uint64 offset, uint64 end);
extern struct varlena *bf_slices_load(MemoryContext context, Datum datum);
extern void bf_value_copy(Datum datum, BfValue *value);

#endif							/* BLOOMEXT_SLICES_H */
