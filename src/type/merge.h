/*
 * merge.h
 *	  Unite and intersect compatible filters.
 */
#ifndef BLOOMEXT_MERGE_H
#define BLOOMEXT_MERGE_H

#include "type/value.h"

/* How the cells of two compatible filters combine, by the cells' width. */
typedef struct BfMerge
{
	BfArrayLoop bits;
	BfArrayLoop counters;
	bool		adds;			/* are the numbers of elements added? */
	bool		across_layers;	/* valid for elements in different layers? */
} BfMerge;

extern const BfMerge bf_merge_union;
extern const BfMerge bf_merge_intersection;

extern bool bf_value_same_shape(const BfFilter *left, const BfFilter *right);
extern bool bf_value_compatible(const BfFilter *left, const BfFilter *right);
extern bool bf_value_comparable(const BfFilter *left, const BfFilter *right);
pg_noreturn extern void bf_value_refuse(const BfFilter *left,
										const BfFilter *right);
extern void bf_value_merge(BfValue *into, const BfFilter *from,
						   const BfMerge *merge);
extern void bf_value_merge_datum(BfValue *into, Datum from,
								 const BfMerge *merge);

#endif							/* BLOOMEXT_MERGE_H */
