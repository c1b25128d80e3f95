/*
 * probe.h
 *	  Look elements up in a filter that may lie in a table, call after call.
 */
#ifndef BLOOMEXT_PROBE_H
#define BLOOMEXT_PROBE_H

#include "lib/ilist.h"

#include "compat.h"
#include "strategy/filter.h"

/* A filter that is stored out of line, and what a call site keeps of it. */
typedef struct BfStored
{
	struct varatt_external pointer; /* which one it is */
	BfFilter	filter;			/* view: whole, or prefix only */
	struct varlena *bytes;		/* what that is a view of */
	uint64		slices;			/* read so far */
	Size		size;			/* memory that all this takes */
	dlist_node	by_use;			/* its place in BfProbe's list */
} BfStored;

/* The filters of a call site, kept in fn_extra between calls. */
typedef struct BfProbe
{
	MemoryContext context;		/* of everything kept */
	Datum		datum;			/* the filter of the present call */
	const BfFilter *filter;		/* a view of it: one of these two */
	BfFilter	in_memory;
	BfStored   *stored;			/* the one used last, or NULL */

	/* Stored filters that were used before, and this one. */
	struct stored_hash *known;	/* by toast pointer */
	dlist_head	by_use;			/* the one used last first */
	Size		size;			/* memory that all of them take */
} BfProbe;

extern void bf_probe_open(BfProbe *probe, Datum datum);
extern void bf_probe_expect(BfProbe *probe, uint64 lookups);
extern bool bf_probe_contains(BfProbe *probe, BfHash *hash);
extern void bf_probe_contains_batch(BfProbe *probe, BfHash *hashes, Size count,
									bool *found);

#endif							/* BLOOMEXT_PROBE_H */
