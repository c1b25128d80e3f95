/*
 * driver.h
 *	  The operations on filters in Redis, by the kind of the filter.
 *
 * A driver is a struct of functions for one kind of filter: one string, a
 * string for each layer, a window of time, or RedisBloom's own type.  The row
 * of a layout names its driver; callers only use remote->layout->driver.
 */
#ifndef BLOOMEXT_DRIVER_H
#define BLOOMEXT_DRIVER_H

#include "redis/remote.h"
#include "strategy/fill.h"

/*
 * Bits that a command gets or sets: enough to make its overhead small.  With
 * more, Redis's allocator gets slower.
 */
#define BF_BITS_A_COMMAND	100

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
	int			lanes;			/* of a window that are live; 0: not a window */
	double		lane_fill[BF_WINDOW_LIVE(BF_WINDOW_SLICES)];	/* of these, the newest first */
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
	 * that are not done have not been added.  Like all of these functions, it
	 * raises 42704 if the described filter has lost a string.
	 */
	bool		(*add) (const BfRemote *remote, BfItems *items);
	/* Look items up; false like add, without answers for items not done. */
	bool		(*contains) (const BfRemote *remote, BfItems *items);
	/*
	 * A value with elements of a kind; NULL: the filter changed or is gone.
	 * A driver without it has filters that are only asked in Redis.
	 */
	struct varlena *(*fetch) (const BfRemote *remote, BfBinding kind);
	/*
	 * Put a filter, planned as `remote`, in the place of `old` or nothing;
	 * `refresh` means that it was probably mirrored before.  Returns the
	 * number of bytes sent.  NULL: filters are only made there.
	 */
	uint64		(*mirror) (const BfRemote *remote, const BfRemote *old,
						   const BfFilter *filter, int64 ttl, bool refresh);
	/* Measure a described filter; false if it has changed. */
	bool		(*measure) (const BfRemote *remote, BfMeasure *measure);
	/*
	 * Whether a filter described does not match the witness in its hash; NULL:
	 * the script that describes filters has checked the bits.
	 */
	bool		(*disproves) (const BfRemote *remote, const char *witness);
	/* The server hashes: items are the elements' bytes. */
	bool		hashes_itself;
} BfDriver;

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
extern void bf_item_bits(BfItem *item, const BfRemote *remote, uint32 layer,
						 uint64 *bits);
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
extern bool bf_strings_measure(const BfRemote *remote, BfMeasure *measure);

/* redis_ops.c */
extern void bf_items_forget(void);

#endif							/* BLOOMEXT_DRIVER_H */
