/*
 * plan.h
 *	  A filter without its bits: strategy, header and layers.
 */
#ifndef BLOOMEXT_PLAN_H
#define BLOOMEXT_PLAN_H

#include "strategy/strategy.h"

/*
 * Most filters have one layer, so that a plan contains the first and can be
 * copied.  If there are more, all of them are in `layers`, or only in the
 * bytes of an opened filter.
 */
typedef struct BfPlan
{
	const BfStrategy *strategy;
	BfHeader	header;
	BfLayer		first;
	BfLayer    *layers;			/* all, including the first; NULL: not here */
} BfPlan;

/* Where the bits of the stream of a planned filter start. */
static inline size_t
bf_stream_head_size(const BfStream *stream, const BfPlan *plan)
{
	if (stream->measure_head != NULL)
		return stream->measure_head(plan);
	return stream->head_size + plan->header.layers * stream->layer_head_size;
}

extern bool bf_plan_sized(const BfStrategy *strategy, int64_t expected,
						  double fpp, BfFunnel funnel, int32_t expansion,
						  BfPlan *plan, BfError *error);
extern bool bf_plan_bits(const BfStrategy *strategy, int64_t bits,
						 int32_t hashes, BfFunnel funnel, BfPlan *plan,
						 BfError *error);
extern bool bf_plan_next_layer(const BfPlan *plan, const BfLayer *newest,
							   BfLayer *layer, BfError *error);
extern uint64_t bf_plan_capacity(const BfPlan *plan, const BfLayer *newest);
extern bool bf_plan_measure(BfPlan *plan, uint64_t *length, BfError *error);
extern void bf_plan_encode(const BfPlan *plan, uint8_t *bytes);

#endif							/* BLOOMEXT_PLAN_H */
