/*
 * shards.h
 *	  A filter in Redis, be it at one key or spread over several.
 */
#ifndef BLOOMEXT_SHARDS_H
#define BLOOMEXT_SHARDS_H

#include "redis/driver.h"
#include "type/elements.h"

/* What has a filter's elements: itself alone, or its shards. */
typedef struct BfShards
{
	int			count;
	BfRemote   *remote;
} BfShards;

extern void bf_shards_describe(Oid server, const char *key,
							   BfShards *shards);
extern int	bf_shards_find(const BfShards *shards,
						   const BfElementType *element, Datum value);
extern bool bf_shards_create(const BfRemote *whole, int64 ttl);
extern int	bf_shards_measure(Oid server, const char *key, BfRemote *first,
							  BfMeasure *sum);
extern bool bf_shards_drop(Oid server, const char *key);

#endif							/* BLOOMEXT_SHARDS_H */
