/*
 * index_options.h
 *	  The options of a live filter index, WITH (...), how such an index is
 *	  recognized, and what its elements are.
 */
#ifndef BLOOMEXT_INDEX_OPTIONS_H
#define BLOOMEXT_INDEX_OPTIONS_H

#include "utils/rel.h"

#include "type/parts.h"

/* rd_options of a live filter index */
typedef struct BfLiveOptions
{
	int32		vl_len_;
	double		expected;		/* 0: by the number of rows */
	double		fpp;
	int			expansion;		/* -1: depends on expected */
	int			strategy;		/* offset of a string */
	int			funnel;			/* offset of a string */
	bool		plans;			/* may plans use it? */
	double		absent;			/* their share of absent elements; or -1 */
} BfLiveOptions;

#define BF_LIVE_STRATEGY	"guava"
/*
 * The default.  Lookups that decide whether a row exists lose an element for
 * each false positive, so this is lower than Guava's 0.03.
 */
#define BF_LIVE_FPP		0.0001
#define BF_LIVE_EXPANSION	3		/* the default without expected */
#define BF_MOST_EXPECTED	9007199254740992.0	/* 2^53: whole in a float8 */

/* index_options.c */
extern void bf_options_init(void);
extern bytea *bflive_options(Datum reloptions, bool validate);
extern bool bf_is_live_filter(Relation index);
extern bool bf_is_partial(Relation index);
extern int	bf_live_columns(Relation index);
extern void bf_live_elements(Relation index, BfElementType *element,
							 BfParts *parts);
extern const BfStrategy *bf_live_strategy(Relation index);
extern BfFunnel bf_live_funnel(Relation index, const BfStrategy *strategy,
							   const BfElementType *element);
extern bool bf_live_is_for_plans(Relation index);
extern double bf_live_absent(Relation index);

#endif							/* BLOOMEXT_INDEX_OPTIONS_H */
