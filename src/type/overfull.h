/*
 * overfull.h
 *	  Notice that a filter contains far more elements than it was sized for.
 */
#ifndef BLOOMEXT_OVERFULL_H
#define BLOOMEXT_OVERFULL_H

#include "type/probe.h"

extern void bf_overfull_init(void);
extern void bf_overfull_notice(const BfFilter *filter, const char *advice);
extern void bf_overfull_notice_probed(BfProbe *probe, const char *advice);

#endif							/* BLOOMEXT_OVERFULL_H */
