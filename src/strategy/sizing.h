/*
 * sizing.h
 *	  What the sizing rules of several strategies share: their refusals.
 */
#ifndef BLOOMEXT_SIZING_H
#define BLOOMEXT_SIZING_H

#include "strategy/strategy.h"

extern bool bf_sizing_needs_elements(const char *name, int64_t expected,
									 BfError *error);
extern bool bf_sizing_finish(const char *name, int64_t expected, double fpp,
							 double bits, double max_bits, int64_t hashes,
							 BfLayer *layer, BfError *error);

#endif							/* BLOOMEXT_SIZING_H */
