/*
 * shards.h
 *	  Filters in Redis that are divided into shards, each a filter of its own.
 */
#ifndef BLOOMEXT_SHARDS_H
#define BLOOMEXT_SHARDS_H

#include "redis/driver.h"

/*
 * Fields of the hash that lists the shards: its id, and the number of shards
 * that are awaited while they are mirrored.
 */
#define BF_SPREAD_ID		2
#define BF_SPREAD_AWAITED	4

/* A filter: itself alone, or its shards. */
typedef struct BfShards
{
	BfRemote	whole;
	int			count;
	BfRemote   *remote;
} BfShards;

extern void bf_shards_describe(Oid server, const char *key,
							   BfShards *shards);
extern int	bf_shards_find(const BfShards *shards,
						   BfElementType *element, Datum value);
extern void bf_shards_bind(BfShards *shards, BfBinding kind);
extern void bf_shards_describe_one(const BfRemote *whole, int number,
								   BfRemote *shard);
extern bool bf_shards_are_same(const BfRemote *whole);
extern const char *bf_shards_claim(const BfRemote *whole, bool creating,
								   int64 ttl, BfRemote *found);
extern void bf_shards_clear(const BfRemote *whole, const BfRemote *found,
							int number);
extern bool bf_shards_arrive(const BfRemote *whole, const char *id,
							 int number, const BfRemote *shard, int64 ttl);
extern bool bf_shards_create(const BfRemote *whole, int64 ttl);
extern bool bf_shards_measure(BfShards *shards, BfMeasure *sum);
extern bool bf_shards_drop(Oid server, const char *key);

#endif							/* BLOOMEXT_SHARDS_H */
