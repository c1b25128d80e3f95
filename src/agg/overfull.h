/*
 * overfull.h
 *	  Tell who makes a filter that far more went into it than it was made for.
 */
#ifndef BLOOMEXT_OVERFULL_H
#define BLOOMEXT_OVERFULL_H

#include "type/value.h"

extern void bf_overfull_init(void);
extern void bf_overfull_notice(const BfFilter *filter);

#endif							/* BLOOMEXT_OVERFULL_H */
