/*
 * driver.h
 *	  A filter in Redis: its description, and the operations of its kind.
 *
 * A driver is a struct of functions for one kind of filter: one string, a
 * string for each layer, or RedisBloom's own type.  The row of a layout names
 * its driver; callers use remote->layout->driver and need to know no more.
 */
#ifndef BLOOMEXT_DRIVER_H
#define BLOOMEXT_DRIVER_H

#include "core/estimate.h"
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

/*
 * Bits that a command gets or sets: enough to make its overhead small.  With
 * more, Redis's allocator gets slower.
 */
#define BF_BITS_A_COMMAND	100

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
	int			shards;			/* number of shards; 0: none */
	bool		is_shard;		/* its hash is compared together with its
								 * bits */
	BfRemoteHash hash[BF_HASHES];
	BfWitness  *witness;		/* of the first strings */
	uint32		witnesses;		/* number of these */
	char	   *cursor_key;		/* of the string that says which layer is the
								 * newest, or NULL */
	char	   *cursor;			/* its contents; NULL: missing */
	BfPlan		plan;			/* of a sharded filter, without layers; if
								 * found, the strategy at most */
	uint8		head[BF_MAX_HEAD];	/* the first bytes of its one string */
	BfBinding	bind;			/* to be noted with the first elements, if
								 * set */
} BfRemote;

/* Layers that are read when a filter is described. */
#define BF_FOUND_LAYERS		2

/* What was found at a key. */
typedef struct BfFoundString
{
	BfConnection *connection;	/* that has returned it */
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
	char	   *cursor;			/* NULL: none */
	int64		layer[BF_FOUND_LAYERS]; /* lengths of the first strings; 0:
										 * missing */
} BfFound;

/* An element, hashed for one filter. */
typedef struct BfItem
{
	BfHash		hash;
	int			source;			/* which of the caller's elements it is */
	bool		answer;
	bool		done;
} BfItem;

typedef struct BfItems
{
	BfItem	   *item;
	int			count;
	int			capacity;
	bool		guarded;		/* look up by a command that compares the whole
								 * description */
} BfItems;

/* How full a filter is, which has at least one layer. */
typedef struct BfMeasure
{
	BfFill		fill;
	bool		only_counted;	/* bits_set and fpp of fill are unknown */
	uint64		bytes;
	int64		ttl;			/* ms; negative: none */
} BfMeasure;

typedef struct BfDriver
{
	/*
	 * Whether what was found at a key is a filter of remote's layout.  Fills
	 * in plan, head and cursor; or returns false and sets orphan if only what
	 * describes a filter is there, and lost if a key is missing.
	 */
	bool		(*recognize) (BfRemote *remote, const BfFound *found);
	/*
	 * Fill in the rest of the plan, or raise an error, to create a filter or
	 * report on it; add, contains and fetch need only what recognize() found.
	 * NULL: nothing is missing.
	 */
	void		(*describe) (BfRemote *remote);
	/* Create a filter as planned; or return a key of it that exists. */
	char	   *(*create) (const BfRemote *remote, int64 ttl);
	/*
	 * Add items; the answer is whether an item was certainly new.  Returns
	 * false if the filter is not, or ceases to be, the one described: items
	 * that are not done have not been added.  Like all of these functions,
	 * raises 42704 if it is that filter but has lost a string.
	 */
	bool		(*add) (const BfRemote *remote, BfItems *items);
	/* Look items up; false like add, without answers for items not done. */
	bool		(*contains) (const BfRemote *remote, BfItems *items);
	/*
	 * A value with elements of a kind; NULL: the filter has changed or is
	 * gone.
	 */
	struct varlena *(*fetch) (const BfRemote *remote, BfBinding kind);
	/*
	 * Put a filter, planned as `remote`, in the place of `old` or nothing;
	 * `refresh` means that it was probably mirrored before.  Returns the
	 * number of bytes sent.
	 */
	uint64		(*mirror) (const BfRemote *remote, const BfRemote *old,
						   const BfFilter *filter, int64 ttl, bool refresh);
	/* Measure a described filter. */
	void		(*measure) (const BfRemote *remote, BfMeasure *measure);
	/*
	 * Whether a filter described does not match the witness in its hash; NULL:
	 * the script that describes filters has checked the bits.
	 */
	bool		(*disproves) (const BfRemote *remote, const char *witness);
	/* The server hashes: items are the elements' bytes. */
	bool		hashes_itself;
} BfDriver;

/* A layer of a filter. */
static inline const BfLayer *
bf_remote_layer(const BfRemote *remote, uint32 layer)
{
	return layer == 0 ? &remote->plan.first : &remote->plan.layers[layer];
}

/* remote.c */
extern void bf_remote_describe(Oid server, const char *key,
							   BfRemote *remote);
extern void bf_remote_describe_fully(BfRemote *remote);
extern bool bf_remote_is_left_over(const BfRemote *found,
								   const BfRemote *wanted);
extern bool bf_remote_read_config(BfRemote *remote, const BfFound *found);
extern BfRemote bf_remote_at(Oid server, const char *key,
							 const BfLayout *layout);
extern void bf_remote_plan(Oid server, const char *key,
						   const BfLayout *layout, const BfPlan *plan,
						   BfRemote *remote);
extern void bf_remote_check_slots(const BfRemote *remote);
extern void bf_remote_check_twin(const BfRemote *found,
								 const BfLayout *wanted);
extern const char *bf_remote_whole(const BfRemote *remote);
extern bool bf_remote_is_unbound(const BfRemote *remote);
extern bool bf_remote_is_proven(const BfRemote *remote);
extern BfBinding bf_remote_kind(const BfRemote *remote);
pg_noreturn extern void bf_remote_missing(const BfRemote *remote);
pg_noreturn extern void bf_remote_keeps_changing(const char *key);
pg_noreturn extern void bf_remote_taken(const BfRemote *remote,
										const char *key);
extern int	bf_remote_drop(const BfRemote *remote);
extern BfWitness bf_remote_witness(const BfRemote *remote, uint32 layer);
extern char *bf_remote_layer_key(const BfRemote *remote, uint32 layer);
extern char *bf_remote_key(const BfRemote *remote, uint32 number,
						   uint32 layers);
extern void bf_remote_append_keys(BfUnit *unit, const BfRemote *remote,
								  uint32 layers);
extern void bf_remote_append_side_keys(BfUnit *unit, const BfRemote *remote);

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

/* driver.c */

/* Processing of items in units, as many items at a time as suit Redis. */
typedef struct BfItemRun
{
	const BfRemote *remote;
	BfItems    *items;
	int			batch;			/* items a unit */
	const void *arg;			/* for the functions */
	void		(*append) (BfUnit *unit, const struct BfItemRun *run,
						   BfItem *item, int count);
	/* Read the reply to a unit; or return false if the filter has changed. */
	bool		(*take) (BfConnection *connection, const BfReply *reply,
						 const BfUnit *unit, const struct BfItemRun *run,
						 BfItem *item, int count);
	bool		changed;		/* has the filter changed? */
} BfItemRun;

extern bool bf_items_run(BfItemRun *run);
extern bool bf_reply_is_same(BfConnection *connection, const BfRemote *remote,
							 const BfReply *reply);
extern uint32 bf_remote_shapes(const BfRemote *remote);
extern uint32 bf_remote_hashes(const BfRemote *remote);
extern void bf_items_append_positions(BfUnit *unit, const BfRemote *remote,
									  BfItem *item, int count);
extern bool bf_items_testify(const BfRemote *remote, uint32 layer,
							 BfItem *item, int count);
extern BfWitness bf_items_witness(const BfRemote *remote, BfItem *item,
								  int count);
extern void bf_items_append_bits(BfUnit *unit, const BfRemote *remote,
								 BfItem *item, int count, bool set);
extern void bf_items_take_bits(BfConnection *connection, BfReply **bit,
							   uint32 hashes, BfItem *item, int count,
							   bool set);
extern int	bf_items_take_digits(BfConnection *connection,
								 const BfReply *reply, BfItem *item,
								 int count);
extern bool bf_items_take_answers(BfConnection *connection,
								  const BfReply *reply, const BfUnit *unit,
								  const BfItemRun *run, BfItem *item,
								  int count);
extern char *bf_strings_create(const BfRemote *remote, int64 ttl);
extern bool bf_strings_contains(const BfRemote *remote, BfItems *items);
extern struct varlena *bf_strings_fetch(const BfRemote *remote,
										BfBinding kind);
extern void bf_strings_measure(const BfRemote *remote, BfMeasure *measure);

/* redis_write.c */

/* The contents of a layer's string, under its own or a temporary key. */
typedef struct BfImage
{
	const BfRemote *remote;
	const char *key;
	const uint8 *bits;			/* of the layer, as in a value; or NULL */
	uint64		bytes;			/* of the string */
	int64		ttl;			/* ms; 0: none */
	bool		hashes;			/* write or remove the hashes of remote */
	uint8	   *buffer;			/* for bytes in another order */
} BfImage;

/* Size of that buffer, and number of bytes of a string that are read back. */
#define BF_IMAGE_BUFFER		((size_t) 64 * 1024)
#define BF_SAMPLE			64

extern BfImage bf_image_of_layer(const BfRemote *remote,
								 const BfFilter *filter, uint32 layer);
extern const void *bf_image_bytes(void *arg, uint64 offset, size_t *length);
extern void bf_image_testify(BfRemote *remote, const BfFilter *filter);
extern void bf_image_sample(const BfImage *image, uint8 *sample);
extern void bf_image_write(BfImage *image);
extern bool bf_image_refresh(const BfImage *image, uint64 *sent);

/* temporary.c */
extern bool bf_temporary_room(const BfRemote *remote, uint64 bytes);
extern uint64 bf_temporary_mirror(const BfRemote *remote, BfImage *images,
								  uint32 count, bool whole, uint32 old_layers,
								  int64 ttl);
extern void bf_temporary_begin(BfUnit *unit, const char *key,
							   const char *verb);
extern void bf_temporary_finish(BfPipeline *pipeline, const BfImage *images,
								uint32 count);
extern void bf_temporary_replace(BfPipeline *pipeline, const BfRemote *remote,
								 const BfImage *images, uint32 count,
								 uint32 old_layers, int64 ttl);

/* shards.c */

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
							const char *key);
extern bool bf_shards_arrive(const BfRemote *whole, const char *id,
							 int number, const BfRemote *shard, int64 ttl);
extern bool bf_shards_create(const BfRemote *whole, int64 ttl);
extern void bf_shards_measure(BfShards *shards, BfMeasure *sum);
extern bool bf_shards_drop(Oid server, const char *key);

/* redis_ops.c */
extern void bf_items_forget(void);

#endif							/* BLOOMEXT_DRIVER_H */
