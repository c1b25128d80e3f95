/*
 * fpp.h
 *	  How often a layer finds what was not added.
 */
#ifndef BLOOMEXT_FPP_H
#define BLOOMEXT_FPP_H

#include "strategy/strategy.h"

extern double bf_layer_fpp(const BfStrategy *strategy, const BfLayer *layer,
						   uint64_t bits_set);
extern double bf_layer_capacity(const BfStrategy *strategy,
								const BfLayer *layer, double fpp);
extern double bf_layer_fraction(const BfStrategy *strategy,
								const BfLayer *layer);

#endif							/* BLOOMEXT_FPP_H */
