/*
 * redisbloom.h
 *	  Filters of RedisBloom's own type, by its commands.
 */
#ifndef BLOOMEXT_REDIS_REDISBLOOM_H
#define BLOOMEXT_REDIS_REDISBLOOM_H

#include "redis/items.h"

extern uint64 bf_redisbloom_mirror(const BfRemote *remote,
								   const BfFilter *filter, int64 ttl);
extern void bf_redisbloom_fetch(const BfRemote *remote, StringInfo stream);
extern void bf_redisbloom_describe(BfRemote *remote);
extern bool bf_redisbloom_create(const BfRemote *remote, int64 ttl);
extern bool bf_redisbloom_contains(const BfRemote *remote, BfItems *items);
extern bool bf_redisbloom_add(const BfRemote *remote, BfItems *items);

#endif							/* BLOOMEXT_REDIS_REDISBLOOM_H */
