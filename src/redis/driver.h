/*
 * driver.h
 *	  What is done with a filter in Redis, by the kind of filter that it is.
 *
 * A kind is one struct of functions: a filter of one string, of a string a
 * layer, of RedisBloom's own type.  A layout's row names its driver; who wants
 * something of a filter calls remote->layout->driver and asks no more.
 */
#ifndef BLOOMEXT_DRIVER_H
#define BLOOMEXT_DRIVER_H

#include "core/estimate.h"
#include "redis/remote.h"
#include "strategy/filter.h"

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
} BfItems;

/* Work on items a unit at a time, as many as it takes well. */
typedef struct BfItemRun
{
	const BfRemote *remote;
	BfItems    *items;
	int			batch;			/* items a unit */
	const void *arg;			/* what the functions want besides */
	void		(*append) (BfUnit *unit, const struct BfItemRun *run,
						   BfItem *item, int count);
	/* Take a unit's answers, all, or false: the filter has changed. */
	bool		(*take) (BfConnection *connection, const redisReply *reply,
						 const BfUnit *unit, const struct BfItemRun *run,
						 BfItem *item, int count);
	bool		changed;		/* is the filter not what it was? */
} BfItemRun;

/* How full a filter is, of which there is one layer at least. */
typedef struct BfMeasure
{
	BfFill		fill;
	uint64		bytes;
	int64		ttl;			/* ms; negative: none */
} BfMeasure;

typedef struct BfDriver
{
	/*
	 * Whether what was found at a key is a filter of a layout.  Fills in what
	 * there is of its plan, head, configured and values; or, where only what
	 * describes one is there, sets orphan and says no.
	 */
	bool		(*recognize) (BfRemote *remote, const BfLayout *layout,
							  const BfFound *found);
	/* Fill in the plan that only a command of its own tells; NULL: it is. */
	void		(*describe) (BfRemote *remote);
	/* Make a filter as planned; false where any of its keys is there. */
	bool		(*create) (const BfRemote *remote, int64 ttl);
	/*
	 * Add items: their answers are whether they were surely new.  False where
	 * the filter is not, or in the course of it is no more, what it was
	 * described as: the items that are not done have not been added.
	 */
	bool		(*add) (const BfRemote *remote, BfItems *items);
	/* Look items up; false as above, without answers for what is not done. */
	bool		(*contains) (const BfRemote *remote, BfItems *items);
	/* A value, bound to a funnel; NULL: the filter has changed or gone. */
	struct varlena *(*fetch) (const BfRemote *remote, BfFunnel funnel);
	/*
	 * Put a filter, planned as `remote`, where there is `old` or nothing;
	 * `refresh` says that it was probably mirrored before.  Returns the bytes
	 * sent.
	 */
	uint64		(*mirror) (const BfRemote *remote, const BfRemote *old,
						   const BfFilter *filter, int64 ttl, bool refresh);
	/* Measure a described filter; NULL: the server does not tell. */
	void		(*measure) (const BfRemote *remote, BfMeasure *measure);
	/* The server hashes: items are the elements' bytes. */
	bool		hashes_itself;
} BfDriver;

extern bool bf_items_run(BfItemRun *run);

/* What the first two have in common. */
extern uint32 bf_item_bits(BfItem *item, const BfRemote *remote,
						   uint32 layer, uint64 *bits);
extern void bf_items_append_bits(BfUnit *unit, const BfRemote *remote,
								 uint32 layer, BfItem *item, int count,
								 bool set);
extern void bf_items_take_bits(BfConnection *connection, redisReply **bit,
							   uint32 hashes, BfItem *item, int count,
							   bool set);
extern bool bf_strings_create(const BfRemote *remote, int64 ttl);
extern bool bf_strings_contains(const BfRemote *remote, BfItems *items);
extern struct varlena *bf_strings_fetch(const BfRemote *remote,
										BfFunnel funnel);
extern void bf_strings_measure(const BfRemote *remote, BfMeasure *measure);

extern const BfDriver bf_driver_string;
extern const BfDriver bf_driver_growing;
extern const BfDriver bf_driver_native;

#endif							/* BLOOMEXT_DRIVER_H */
