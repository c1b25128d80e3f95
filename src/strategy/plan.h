/*
 * plan.h
 *	  What a filter is, but for its bits: strategy, header and layers.
 */
#ifndef BLOOMEXT_PLAN_H
#define BLOOMEXT_PLAN_H

#include "strategy/strategy.h"

typedef struct BfPlan
{
	const BfStrategy *strategy;
	BfHeader	header;
	BfLayer    *layers;			/* as many as the header says */
} BfPlan;

#endif							/* BLOOMEXT_PLAN_H */
