/*
 * guard.h
 *	  What says that a filter in Redis still is what it was described as.
 */
#ifndef BLOOMEXT_GUARD_H
#define BLOOMEXT_GUARD_H

#include "redis/remote.h"

extern int	bf_guard_count(const BfRemote *remote);
extern void bf_guard_append_values(BfUnit *unit,
								   const BfRemote *remote);
extern void bf_guard_append(BfUnit *unit, const BfRemote *remote);
extern bool bf_guard_same_fields(BfConnection *connection,
								 const BfRemote *remote,
								 const redisReply *reply);
extern bool bf_guard_same_cursor(const BfRemote *remote,
								 const redisReply *reply);

#endif							/* BLOOMEXT_GUARD_H */
