/*
 * selectivity.h
 *	  What the planner is told of lookups: what they cost, how many rows pass.
 */
#ifndef BLOOMEXT_SELECTIVITY_H
#define BLOOMEXT_SELECTIVITY_H

#include "nodes/nodes.h"

extern Node *bf_estimate_lookup(Node *request);

#endif							/* BLOOMEXT_SELECTIVITY_H */
