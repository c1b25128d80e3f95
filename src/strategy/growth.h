/*
 * growth.h
 *	  How filters grow by layers.
 */
#ifndef BLOOMEXT_GROWTH_H
#define BLOOMEXT_GROWTH_H

#include "strategy/strategy.h"

extern bool bf_growth_first(const BfStrategy *strategy, int64_t expected,
							double fpp, uint32_t expansion, BfLayer *layer,
							BfError *error);
extern bool bf_growth_next(const BfStrategy *strategy, const BfLayer *newest,
						   uint32_t expansion, BfLayer *layer, BfError *error);
extern uint64_t bf_growth_capacity(const BfStrategy *strategy,
								   const BfLayer *newest, uint32_t expansion);

#endif							/* BLOOMEXT_GROWTH_H */
