/*
 * sizing.h
 *	  What the sizing rules of several strategies share: their refusals, and
 *	  Guava's rule, which Spark has taken over.
 */
#ifndef BLOOMEXT_SIZING_H
#define BLOOMEXT_SIZING_H

#include "strategy/strategy.h"

extern bool bf_sizing_finish(const char *name, int64_t expected, double fpp,
							 double bits, double max_bits, int64_t hashes,
							 BfLayer *layer, BfError *error);

/* Maximum size of a long[] of bits, as in Guava and Spark. */
#define BF_GUAVA_MAX_BITS	(UINT64_C(64) * INT32_MAX)

extern bool bf_sizing_guava(int64_t expected, double fpp, BfLayer *layer,
							BfError *error);

#endif							/* BLOOMEXT_SIZING_H */
