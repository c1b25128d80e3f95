/*
 * probe.h
 *	  Repeatedly look up elements in a filter that may be stored in a table.
 */
#ifndef BLOOMEXT_PROBE_H
#define BLOOMEXT_PROBE_H

#include "lib/ilist.h"

#include "compat.h"
#include "strategy/fill.h"

/* The cache for a filter that is stored out of line. */
typedef struct BfStored
{
	struct varatt_external pointer; /* identifies it */
	BfFilter	filter;			/* a view of all of it, or of the prefix */
	struct varlena *bytes;		/* the bytes of that view */
	uint64		slices;			/* read so far */
	Size		size;			/* memory for all this */
	dlist_node	by_use;			/* its place in BfProbe's list */
} BfStored;

/* The filters of a call site, in fn_extra. */
typedef struct BfProbe
{
	MemoryContext context;		/* of the cache */
	Datum		datum;			/* the filter of the current call */
	const BfFilter *filter;		/* a view of it: one of these two */
	BfFilter	in_memory;
	BfStored   *stored;			/* the last one used, or NULL */

	/* All stored filters in the cache, including this one. */
	struct stored_hash *known;	/* by toast pointer */
	dlist_head	by_use;			/* most recently used first */
	Size		size;			/* memory for all of them */
} BfProbe;

extern void bf_probe_open(BfProbe *probe, Datum datum);
extern void bf_probe_expect(BfProbe *probe, uint64 lookups);
extern bool bf_probe_contains(BfProbe *probe, BfHash *hash);
extern void bf_probe_contains_batch(BfProbe *probe, BfHash *hashes, Size count,
									bool *found);
extern BfFill bf_probe_sample(BfProbe *probe);

#endif							/* BLOOMEXT_PROBE_H */
