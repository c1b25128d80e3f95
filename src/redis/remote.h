/*
 * remote.h
 *	  A filter at a key of a Redis server: its description and its keys.
 */
#ifndef BLOOMEXT_REMOTE_H
#define BLOOMEXT_REMOTE_H

#include "redis/layouts.h"
#include "redis/pipeline.h"
#include "redis/witness.h"
#include "strategy/filter.h"
#include "type/element_type.h"

#define BF_MAX_HEAD		8

/* The longest reply: the largest value, and what comes with it. */
#define BF_FETCH_LIMIT	(MaxAllocSize + BF_REPLY_LIMIT)

/* Time to live of temporary keys, in ms. */
#define BF_TEMPORARY_TTL	(10 * 60 * 1000)

/* Tolerated changes of a filter without any progress. */
#define BF_MAX_CHANGES		20

typedef struct BfRemote
{
	Oid			server;
	const char *key;
	const BfLayout *layout;		/* NULL: no filter */
	const BfLayout *orphan;		/* layout whose hash is there without a
								 * filter */
	char	   *lost;			/* a key that must exist and does not */
	int64		at_key;			/* bytes of the string at key; 0: nothing, -1:
								 * something else */
	int64		at_layer;		/* likewise at the first layer's key */
	char	   *twin;			/* an existing key whose hashes would have the
								 * names of ours, or NULL */
	List	   *foreign;		/* keys for hashes that hold something else */
	int			shards;			/* number of shards; 0: none */
	const char *shard_of;		/* key of the filter that it is a shard of, whose
								 * hash is compared together with its bits; or
								 * NULL */
	BfRemoteHash hash[BF_HASHES];
	BfWitness  *witness;		/* of the first strings */
	uint32		witnesses;		/* number of these */
	char	   *cursor_key;		/* of the string that says which layer is the
								 * newest, or NULL */
	char	   *cursor;			/* its first bytes; NULL: missing */
	int			cursor_length;	/* number of these bytes, which may be zeros */
	BfPlan		plan;			/* of a sharded filter without layers; of one
								 * that was found, at most the strategy */
	uint8		head[BF_MAX_HEAD];	/* the first bytes of its one string */
	BfBinding	bind;			/* to be noted with the first elements, if
								 * set */
} BfRemote;

/* Layers that are read when a filter is described. */
#define BF_FOUND_LAYERS		2

/* What was found at a key. */
typedef struct BfFoundString
{
	const char *type;			/* "none" if there is nothing */
	uint64		length;			/* of the string */
	const uint8 *head;			/* its first bytes, or the header of a native
								 * filter */
	size_t		head_length;	/* number of these bytes */
} BfFoundString;

/* What was found at a key and at the side keys of a layout. */
typedef struct BfFound
{
	BfFoundString at;
	bool		alone;			/* no other layout describes a filter there */
	char	  **values[BF_HASHES];	/* of its hashes' fields, or NULL */
	uint32		disproved[BF_HASHES];	/* number of the string, from 1, that
										 * lacks bits of the hash's witness; 0:
										 * none */
	char	   *cursor;			/* first bytes; NULL: none */
	int			cursor_length;
	int64		layer[BF_FOUND_LAYERS]; /* lengths of the first strings; 0:
										 * missing */
} BfFound;

/* A layer of a filter. */
static inline const BfLayer *
bf_remote_layer(const BfRemote *remote, uint32 layer)
{
	return layer == 0 ? &remote->plan.first : &remote->plan.layers[layer];
}

/* remote_describe.c */
extern void bf_remote_describe(Oid server, const char *key,
							   BfRemote *remote);
extern void bf_remote_describe_fully(BfRemote *remote);
extern void bf_remote_plan(Oid server, const char *key,
						   const BfLayout *layout, const BfPlan *plan,
						   BfRemote *remote);
extern bool bf_remote_is_left_over(const BfRemote *found,
								   const BfRemote *wanted);

/* remote.c */
extern bool bf_remote_read_config(BfRemote *remote, const BfFound *found);
extern BfRemote bf_remote_at(Oid server, const char *key,
							 const BfLayout *layout);
extern void bf_remote_check_slots(const BfRemote *remote);
extern void bf_remote_check_hashes(const BfRemote *found,
								   const BfRemote *wanted);
extern const char *bf_remote_whole(const BfRemote *remote);
extern bool bf_remote_is_unbound(const BfRemote *remote);
extern bool bf_remote_is_proven(const BfRemote *remote);
extern BfBinding bf_remote_kind(const BfRemote *remote);
pg_noreturn extern void bf_remote_malformed(const char *hash,
											const char *reason);
pg_noreturn extern void bf_remote_lacks_shard(const BfRemote *shard,
											  const char *detail);
pg_noreturn extern void bf_remote_missing(const BfRemote *remote);
pg_noreturn extern void bf_remote_keeps_changing(const char *key);
pg_noreturn extern void bf_remote_taken(const BfRemote *remote,
										const char *key);
extern BfWitness bf_remote_witness(const BfRemote *remote, uint32 layer);
extern char *bf_remote_layer_key(const BfRemote *remote, uint32 layer);
extern char *bf_remote_key(const BfRemote *remote, uint32 number,
						   uint32 layers);
extern void bf_remote_append_keys(BfUnit *unit, const BfRemote *remote,
								  uint32 layers);
extern void bf_remote_append_side_keys(BfUnit *unit, const BfRemote *remote);
extern bool bf_reply_is_same(BfConnection *connection, const BfRemote *remote,
							 const BfReply *reply);

/* driver_hashes.c */
extern void bf_remote_append_noting(BfUnit *unit, const BfRemote *remote,
									bool adding);
extern bool bf_remote_gets_note(const BfRemote *remote);
extern bool bf_remote_note(const BfRemote *remote);
extern void bf_remote_noted(BfRemote *remote);
extern void bf_remote_append_fields(BfUnit *unit, const BfRemote *remote,
									BfHashRole role);
extern void bf_remote_append_hashes(BfUnit *unit, const BfRemote *remote,
									bool signs);
extern uint32 bf_remote_own_hash(const BfRemote *remote, uint32 strings);
extern void bf_guard_append(BfUnit *unit, uint32 key,
							const char *const *fields, char *const *values,
							int count, int witness);
extern void bf_remote_append_guards(BfUnit *unit, const BfRemote *remote,
									uint32 strings, bool noting);
extern void bf_remote_append_note(BfUnit *unit, const BfRemote *remote,
								  uint32 strings, bool adding);
extern void bf_remote_append_strings(BfUnit *unit, const BfRemote *remote,
									 uint32 strings);

#endif							/* BLOOMEXT_REMOTE_H */
