/*
 * probe.h
 *	  Look elements up in a filter that may lie in a table, call after call.
 */
#ifndef BLOOMEXT_PROBE_H
#define BLOOMEXT_PROBE_H

#include "compat.h"
#include "strategy/filter.h"

/* A filter at a call site, kept in fn_extra between calls. */
typedef struct BfProbe
{
	MemoryContext context;		/* of everything kept */
	Datum		datum;			/* the filter of the present call */
	BfFilter	filter;			/* view: whole, or prefix only */

	/* What is kept of a filter stored out of line. */
	bool		cached;
	struct varatt_external pointer; /* which one it is */
	struct varlena *prefix;		/* its prefix, until it is loaded whole */
	struct varlena *loaded;		/* all of it, once that pays */
	uint64		slices;			/* read so far */
} BfProbe;

extern void bf_probe_open(BfProbe *probe, Datum datum);
extern void bf_probe_expect(BfProbe *probe, uint64 lookups);
extern bool bf_probe_contains(BfProbe *probe, BfHash *hash);
extern void bf_probe_contains_batch(BfProbe *probe, BfHash *hashes, Size count,
									bool *found);

#endif							/* BLOOMEXT_PROBE_H */
