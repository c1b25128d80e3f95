/*
 * shard.h
 *	  The one of several filters that an element belongs to.
 */
#ifndef BLOOMEXT_SHARD_H
#define BLOOMEXT_SHARD_H

#include "type/element_type.h"

/* Maximum number of filters that one can be divided into. */
#define BF_MAX_SHARDS		1024

extern int	bf_shard_find(const BfStrategy *strategy,
						  const BfElementType *element, Datum value,
						  int shards);
extern bool bf_shard_is_said(Node *clause, int *shards, int *number);
extern bool bf_shard_suits(const BfStrategy *strategy, BfFunnel funnel);

#endif							/* BLOOMEXT_SHARD_H */
