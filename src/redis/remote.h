/*
 * remote.h
 *	  What filter is at a key of a Redis server.
 */
#ifndef BLOOMEXT_REMOTE_H
#define BLOOMEXT_REMOTE_H

#include "datatype/timestamp.h"

#include "redis/layout.h"
#include "redis/unit.h"

#define BF_MAX_HEAD		8

typedef struct BfRemote
{
	Oid			server;
	const char *key;
	const BfLayout *layout;		/* NULL: there is none */
	const BfLayout *orphan;		/* only what describes one is there */
	bool		occupied;		/* there is none, but something else is */
	int			shards;			/* it is spread over; 0: none */
	BfHeader	header;
	BfLayer    *layers;			/* NULL: a sharded, or a native filter's */
	uint8		head[BF_MAX_HEAD];	/* the first bytes of its one string */
	bool		configured;		/* does its hash describe it? */
	char	   *values[BF_MAX_FIELDS];	/* of the hash's fields, or NULL */
} BfRemote;

extern void bf_remote_describe(Oid server, const char *key,
							   BfRemote *remote);
extern bool bf_remote_is_shard(const BfRemote *remote,
							   const BfRemote *whole);
extern void bf_remote_describe_shard(const BfRemote *whole, int shard,
									 BfRemote *remote);
extern void bf_remote_plan(Oid server, const char *key,
						   const BfLayout *layout, const BfHeader *header,
						   BfLayer *layers, BfRemote *remote);
extern void bf_remote_check_slots(const BfRemote *remote);
pg_noreturn extern void bf_remote_missing(const BfRemote *remote);
extern char *bf_remote_layer_key(const BfRemote *remote, uint32 layer);
extern int	bf_remote_fields(const BfRemote *remote);
extern void bf_remote_append_fields(BfUnit *unit,
									const BfRemote *remote);

#endif							/* BLOOMEXT_REMOTE_H */
