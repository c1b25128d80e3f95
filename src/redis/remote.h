/*
 * remote.h
 *	  What filter is at a key of a Redis server, and that it still is.
 */
#ifndef BLOOMEXT_REMOTE_H
#define BLOOMEXT_REMOTE_H

#include "redis/layouts.h"
#include "redis/unit.h"

#define BF_MAX_HEAD		8

/* After so many ms, temporary keys that nobody put in place are gone. */
#define BF_TEMPORARY_TTL	(10 * 60 * 1000)

typedef struct BfRemote
{
	Oid			server;
	const char *key;
	const BfLayout *layout;		/* NULL: there is none */
	const BfLayout *orphan;		/* only what describes one is there */
	bool		occupied;		/* there is none, but something else is */
	int			shards;			/* it is spread over; 0: none */
	BfPlan		plan;			/* without layers: a sharded, or a native filter's */
	uint8		head[BF_MAX_HEAD];	/* the first bytes of its one string */
	bool		configured;		/* does its hash describe it? */
	char	   *values[BF_MAX_FIELDS];	/* of the hash's fields, or NULL */
} BfRemote;

/* What was found at a key, and at those that a layout has beside it. */
typedef struct BfFound
{
	BfConnection *connection;	/* that says so */
	const char *type;			/* of what is at the key */
	uint64		length;			/* of the string there, */
	const uint8 *head;			/* its first bytes, */
	size_t		head_length;	/* and how many these are */
	bool		alone;			/* is it described in no other layout? */
	char	   *values[BF_MAX_FIELDS];	/* of its hash's fields, or NULL */
	char	   *cursor;			/* NULL: there is none */
	char	   *layer;			/* of the first layer's string, or NULL */
} BfFound;

/* A layer of a filter. */
static inline const BfLayer *
bf_remote_layer(const BfRemote *remote, uint32 layer)
{
	return layer == 0 ? &remote->plan.first : &remote->plan.layers[layer];
}

extern void bf_remote_describe(Oid server, const char *key,
							   BfRemote *remote);
extern bool bf_remote_read_config(BfRemote *remote, const BfLayout *layout,
								  const BfFound *found);
extern void bf_remote_plan(Oid server, const char *key,
						   const BfLayout *layout, const BfPlan *plan,
						   BfRemote *remote);
extern void bf_remote_check_slots(const BfRemote *remote);
pg_noreturn extern void bf_remote_missing(const BfRemote *remote);
extern void bf_remote_replace(const BfRemote *remote, char **temporary,
							  uint32 count, uint32 old_layers, int64 ttl);
extern bool bf_remote_drop(const BfRemote *remote);

extern char *bf_remote_layer_key(const BfRemote *remote, uint32 layer);
extern void bf_remote_append_keys(BfUnit *unit, const BfRemote *remote,
								  uint32 layers);
extern void bf_remote_append_fields(BfUnit *unit, const BfRemote *remote);

extern int	bf_guard_count(const BfRemote *remote);
extern void bf_guard_append_values(BfUnit *unit, const BfRemote *remote);
extern void bf_guard_read(BfUnit *unit, const BfRemote *remote);
extern redisReply **bf_guard_check(BfConnection *connection,
								   const BfRemote *remote,
								   redisReply **result);

#endif							/* BLOOMEXT_REMOTE_H */
