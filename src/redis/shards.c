/*
 * shards.c
 *	  A filter in Redis, be it at one key or spread over several.
 *
 * A sharded filter is so many filters of its layout, named KEY:0, KEY:1, ...,
 * each of which is complete, and a small hash that says how many.  An element
 * is in the shard that the CRC-32 of its bytes (zlib's, as any language has it)
 * says, modulo the number of shards.
 *
 * A filter is made by one script, which makes all its keys or, where it is
 * there, none: of two who create the same filter at the same time, one finds
 * the other's.  Shards are made before the hash, and who makes that has made
 * the filter; they are dropped after it, so that no reader takes some of them
 * for all.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/pg_crc.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/elements.h"

/* Times that a filter is made, only to be found made by another and gone. */
#define MAX_TRIES	2

/* Fill in what only a command of the filter's kind tells. */
static void
describe_fully(BfRemote *remote)
{
	if (remote->layout->driver->describe != NULL)
		remote->layout->driver->describe(remote);
}

/* The filter itself or its shard of a number, which must be one filter. */
static void
describe_shard(const BfRemote *whole, int number, BfRemote *shard)
{
	*shard = *whole;
	if (whole->shards == 0)
		return;
	bf_remote_describe(whole->server, bf_shard_key(whole->key, number), shard);
	if (shard->layout != whole->layout || shard->shards > 0)
		bf_remote_missing(shard);
}

/* Describe a filter, or each of its shards, which must all be there. */
void
bf_shards_describe(Oid server, const char *key, BfShards *shards)
{
	BfRemote	whole;

	bf_remote_describe(server, key, &whole);
	if (whole.layout == NULL)
		bf_remote_missing(&whole);
	shards->count = Max(whole.shards, 1);
	shards->remote = palloc(sizeof(BfRemote) * shards->count);
	for (int i = 0; i < shards->count; i++)
		describe_shard(&whole, i, &shards->remote[i]);
}

/* CRC-32 */
static uint32
checksum(const uint8 *data, Size length)
{
	pg_crc32	crc;

	INIT_TRADITIONAL_CRC32(crc);
	for (Size at = 0; at < length; at += BF_PIECE)
	{
		CHECK_FOR_INTERRUPTS();
		COMP_TRADITIONAL_CRC32(crc, data + at, Min(BF_PIECE, length - at));
	}
	FIN_TRADITIONAL_CRC32(crc);
	return crc;
}

/*
 * The number of the shard that has an element.  Integers have one whatever
 * their width: that of the bigint.
 */
int
bf_shards_find(const BfShards *shards, const BfElementType *element,
			   Datum value)
{
	const BfPlan *plan = &shards->remote->plan;
	BfFunnel	funnel;
	BfElementBytes bytes;
	uint32		crc;

	if (shards->count == 1)
		return 0;
	funnel = bf_element_bind(plan->strategy, plan->header.funnel, element);
	if (funnel == BF_FUNNEL_INT)
		funnel = BF_FUNNEL_LONG;
	(void) bf_element_bytes(plan->strategy, funnel, element, value, &bytes);
	crc = checksum(bytes.data, bytes.length);
	if (bytes.made != NULL)
		pfree(bytes.made);
	return crc % shards->count;
}

/* What is there, or wanted, for a message. */
static char *
outline(const BfRemote *remote)
{
	if (remote->occupied)
		return pstrdup("something that is no filter");
	if (remote->shards > 0)
		return psprintf("layout %s, %d shards", remote->layout->name,
						remote->shards);
	return psprintf("layout %s, %s, %llu bits, %u hashes, expansion %u",
					remote->layout->name,
					remote->plan.strategy->name,
					(unsigned long long) remote->plan.first.bits,
					remote->plan.first.hashes,
					remote->plan.header.expansion);
}

/* Is what is there what is wanted, but for what has been added to it? */
static bool
is_same(const BfRemote *found, const BfRemote *wanted)
{
	return found->layout == wanted->layout && found->shards == wanted->shards &&
		(wanted->shards > 0 ||
		 (found->plan.strategy == wanted->plan.strategy &&
		  found->plan.header.expansion == wanted->plan.header.expansion &&
		  found->plan.first.bits == wanted->plan.first.bits &&
		  found->plan.first.hashes == wanted->plan.first.hashes));
}

/* Whether a key has the wanted filter; 22023 if it has something else. */
static bool
is_there(const BfRemote *wanted)
{
	BfRemote	found;

	bf_remote_describe(wanted->server, wanted->key, &found);
	if (found.layout == NULL && !found.occupied)
		return false;
	if (found.layout != NULL && found.shards == 0)
		describe_fully(&found);
	if (found.occupied || !is_same(&found, wanted))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" already holds something else",
						wanted->key),
				 errdetail("Wanted: %s. Found: %s.", outline(wanted),
						   outline(&found))));
	return true;
}

/* Make the hash that says how many shards a filter has. */
static bool
create_hash(const BfRemote *whole, int64 ttl)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_CREATE);
	bf_command_text(unit, whole->key);
	bf_command_key(unit, bf_suffixed_key(whole->key, BF_SHARDS_SUFFIX));
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	for (int i = 0; i < 3; i++)
		bf_command_text(unit, "");
	bf_command_text(unit, "layout");
	bf_command_text(unit, whole->layout->name);
	bf_command_text(unit, "shards");
	bf_command_number(unit, whole->shards);
	return bf_ask_number(whole->server, whole->key, unit) == 1;
}

/* Make a filter at one key, or its hash, or find it there (false). */
static bool
create_one(const BfRemote *remote, int64 ttl)
{
	for (int tries = 0; tries < MAX_TRIES; tries++)
	{
		if (is_there(remote))
			return false;
		if (remote->shards > 0 ? create_hash(remote, ttl) :
			remote->layout->driver->create(remote, ttl))
			return true;
	}
	bf_remote_keeps_changing(remote->key);
}

/* Make a filter as planned, or find one of the same parameters (false). */
bool
bf_shards_create(const BfRemote *whole, int64 ttl)
{
	bool		there;
	bool		created = false;

	bf_remote_check_slots(whole);
	there = whole->shards > 0 && is_there(whole);
	for (int i = 0; i < whole->shards; i++)
	{
		BfRemote	shard;

		bf_remote_plan(whole->server, bf_shard_key(whole->key, i),
					   whole->layout, &whole->plan, &shard);
		created |= create_one(&shard, ttl);
	}
	return there ? created : create_one(whole, ttl);
}

/*
 * Measure a filter, the sum of its shards, as far as its server tells: bits at
 * least.
 */
void
bf_shards_measure(BfShards *shards, BfMeasure *sum)
{
	*sum = (BfMeasure) {.ttl = -1};
	for (int i = 0; i < shards->count; i++)
	{
		BfRemote   *shard = &shards->remote[i];
		BfMeasure	measure = {.ttl = -1};

		CHECK_FOR_INTERRUPTS();
		describe_fully(shard);
		if (shard->layout->driver->measure != NULL)
			shard->layout->driver->measure(shard, &measure);
		else
			measure.fill.bits = shard->plan.first.bits;
		sum->fill.bits += measure.fill.bits;
		sum->fill.bits_set += measure.fill.bits_set;
		sum->fill.count += measure.fill.count;
		sum->fill.fpp = Max(sum->fill.fpp, measure.fill.fpp);
		sum->bytes += measure.bytes;
		if (i == 0)
			sum->ttl = measure.ttl;
	}
}

/*
 * Remove all that a filter has, or what is left of it; was there anything?  A
 * shard may have many layers, so only one is kept at a time.
 */
bool
bf_shards_drop(Oid server, const char *key)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext one = AllocSetContextCreate(old, "bloomext Redis shard",
											  ALLOCSET_DEFAULT_SIZES);
	BfRemote	whole;
	bool		dropped;

	bf_remote_describe(server, key, &whole);
	if (whole.occupied)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds something that is no filter", key)));
	if (whole.layout == NULL && whole.orphan == NULL)
		return false;
	dropped = bf_remote_drop(&whole);
	MemoryContextSwitchTo(one);
	for (int i = 0; i < whole.shards; i++)
	{
		BfRemote	shard;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(one);
		bf_remote_describe(server, bf_shard_key(key, i), &shard);
		if (shard.shards == 0 &&
			(shard.layout ? shard.layout : shard.orphan) == whole.layout)
			dropped |= bf_remote_drop(&shard);
	}
	MemoryContextSwitchTo(old);
	return dropped;
}
