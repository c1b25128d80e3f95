/*
 * shards.c
 *	  A filter in Redis that is at one key, or split over several.
 *
 * A sharded filter consists of n filters of its layout, named KEY:0, KEY:1,
 * ..., each of which is complete, and of a small hash that records n.  An
 * element is in the shard that type/shard.c determines.
 *
 * A filter is created by one script, which makes all of its keys or, if it
 * exists, none: if two sessions create the same filter at the same time, one
 * of them finds the filter of the other.  The hash of a sharded filter has a
 * random id.  A session that looks up or adds elements checks afterwards
 * whether the Redis hash from which it took the number of shards is still
 * there, with the same id.  A drop removes the hash before the shards.
 *
 * The kind of the elements is taken from the first shard that holds any.
 *
 * Shards are either created all together or mirrored one by one.  The first
 * shard makes the hash.  From then on the hash records how many shards are
 * awaited and which have arrived; only when the last one has arrived does it
 * say that there is a filter.  Each of these steps is one script about the
 * hash alone, because in a cluster the shards may be on other nodes.  So the
 * number of shards is fixed before any shard is written.  Shards of an older
 * hash do not count, and are removed when the filter is dropped or created
 * again.  As ids are random and a hash is written before its shards, a shard
 * without the id of the present hash belongs to no filter.  What an
 * interrupted creation left behind is completed by the next one; but where
 * shards are still to be mirrored, no empty shard is created.
 *
 * A shard that took long to write may arrive when the filter has been
 * replaced, perhaps by one with another number of shards.  In the new filter,
 * a lookup in this shard could miss an element.  So a shard has a Redis hash
 * of its own, written together with its bits.  This contains the id of the
 * hash for which the shard was made, and its number: a shard that was renamed
 * to the key of another one has the right id, but other elements.  Id and
 * number are compared whenever the bits are read, so an unrelated filter at
 * the key of a shard is not taken for the shard.  Only filters of earlier
 * releases, whose hash does not record the strategy, have shards without an
 * id; shards that earlier releases wrote may have an id but no number.  A
 * session that finds that its own shard came too late removes it.  That does
 * no harm: a lookup is an error whether the filter lacks a shard or has a
 * wrong one.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "redis/scripts.h"
#include "redis/shards.h"
#include "type/shard.h"

/* Attempts to create a filter that another session creates and drops. */
#define MAX_TRIES	2

/*
 * Whether what is at the key of the shard with a number was made for this
 * filter as that shard: it has its id and number, or the filter's hash has no
 * strategy, and so is of a release without ids.
 */
static bool
is_owned(const BfRemote *whole, const BfRemote *shard, int number)
{
	const char *id = whole->hash[BF_CONFIG].values[BF_SPREAD_ID];
	const char *recorded = bf_remote_whole(shard);

	return recorded == NULL ? whole->plan.strategy == NULL :
		bf_layout_is_whole(recorded, id ? id : "", number);
}

/*
 * Whether what is at the key of the shard with a number belongs to a filter
 * that is gone, or is another shard: it is not what the present hash needs
 * there.
 */
static bool
is_leftover(const BfRemote *whole, const BfRemote *shard, int number)
{
	const char *recorded = shard->layout || shard->orphan ?
		bf_remote_whole(shard) : NULL;
	const char *id;
	BfRemote	now;

	if (recorded == NULL)
		return false;
	/* The hash must be read after the shard. */
	bf_remote_describe(whole->server, whole->key, &now);
	id = now.shards > 0 ? now.hash[BF_CONFIG].values[BF_SPREAD_ID] : NULL;
	return id == NULL || !bf_layout_is_whole(recorded, id, number);
}

/* The layout of a filter, complete or not. */
static const BfLayout *
layout_of(const BfRemote *remote)
{
	return remote->layout ? remote->layout : remote->orphan;
}

/*
 * Remove all keys of a filter or of its remnants, unless it was replaced; it
 * must not be sharded.  Returns the number of keys, or -1 if it was replaced.
 */
static int
drop_keys(const BfRemote *remote)
{
	BfRemote	what = *remote;
	uint32		strings;
	BfUnit	   *unit = bf_unit_make();

	if (what.layout == NULL)
		what.layout = what.orphan;
	strings = bf_layout_strings(what.layout, &what.plan);
	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_GUARD BF_SCRIPT_OTHERS BF_SCRIPT_DROP);
	bf_remote_append_keys(unit, &what, strings);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, &what, strings, false);
	bf_command_bytes(unit, what.head, remote->layout == NULL ?
					 0 : bf_layout_head(what.layout));
	bf_command_number(unit, strings);
	bf_command_number(unit, what.cursor_key != NULL);
	return (int) bf_ask_number(remote->server, remote->key, unit);
}

/*
 * Remove what a filter that is gone, or another shard, has left at the key of
 * a shard; 22023 if it holds an unrelated filter.  A stream without a hash is
 * a shard that has lost the hash, if all shards have been made.
 */
void
bf_shards_clear(const BfRemote *whole, const BfRemote *found, int number)
{
	char	   *key = bf_shard_key(whole->key, number);
	BfRemote	there;

	bf_remote_describe(whole->server, key, &there);
	if (is_leftover(found, &there, number))
		(void) drop_keys(&there);
	else if (layout_of(&there) != NULL && !is_owned(found, &there, number) &&
			 (found->layout == NULL || there.layout == NULL ||
			  there.hash[bf_layout_kind_role(there.layout)].there))
		bf_remote_taken(whole, key);
}

/* Raise an error if a shard does not belong to this filter. */
static void
check_owner(const BfRemote *whole, const BfRemote *shard, int number)
{
	if (!is_owned(whole, shard, number))
		bf_remote_lacks_shard(shard,
							  psprintf("The filter at key \"%s\" is not shard %d of this filter.",
									   shard->key, number));
}

/* Describe the filter itself or a shard; it must be a single filter. */
void
bf_shards_describe_one(const BfRemote *whole, int number, BfRemote *shard)
{
	*shard = *whole;
	if (whole->shards == 0)
		return;
	bf_remote_describe(whole->server, bf_shard_key(whole->key, number), shard);
	shard->shard_of = whole->key;
	if (shard->layout != whole->layout || shard->shards > 0)
		bf_remote_missing(shard);
	check_owner(whole, shard, number);
}

/* Refuse a shard of another strategy, which assigns elements differently. */
static void
check_strategy(const BfRemote *first, const BfRemote *shard)
{
	if (shard->plan.strategy != first->plan.strategy)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("keys \"%s\" and \"%s\" are not shards of the same filter",
						first->key, shard->key),
				 errdetail("Their strategies are \"%s\" and \"%s\".",
						   first->plan.strategy->name,
						   shard->plan.strategy->name),
				 errhint("Mirror all shards again, to another key.")));
}

/* Describe a filter, or each of its shards, which must all exist. */
void
bf_shards_describe(Oid server, const char *key, BfShards *shards)
{
	BfRemote   *whole = &shards->whole;
	BfBinding	kind = {BF_FUNNEL_UNBOUND};

	bf_remote_describe(server, key, whole);
	if (whole->layout == NULL)
		bf_remote_missing(whole);
	shards->count = Max(whole->shards, 1);
	shards->remote = palloc(sizeof(BfRemote) * shards->count);
	for (int i = 0; i < shards->count; i++)
	{
		bf_shards_describe_one(whole, i, &shards->remote[i]);
		check_strategy(&shards->remote[0], &shards->remote[i]);
		if (!bf_remote_is_unbound(&shards->remote[i]) &&
			kind.funnel == BF_FUNNEL_UNBOUND)
			kind = bf_remote_kind(&shards->remote[i]);
	}
	bf_shards_bind(shards, kind);
}

/* Bind a filter, or shards, that are still empty to a kind of elements. */
void
bf_shards_bind(BfShards *shards, BfBinding kind)
{
	for (int i = 0; i < shards->count; i++)
	{
		BfRemote   *remote = &shards->remote[i];

		if (kind.funnel == BF_FUNNEL_UNBOUND || !bf_remote_is_unbound(remote))
			continue;
		remote->bind = kind;
		remote->plan.header.funnel = kind.funnel;
		remote->plan.header.meaning = kind.meaning;
	}
}

/* Whether the hash that lists the shards is still the one that was read. */
bool
bf_shards_are_same(const BfRemote *whole)
{
	const char *id = whole->hash[BF_CONFIG].values[BF_SPREAD_ID];
	const char *new_id;
	BfRemote	now;

	if (whole->shards == 0)
		return true;
	bf_remote_describe(whole->server, whole->key, &now);
	new_id = now.hash[BF_CONFIG].values[BF_SPREAD_ID];
	return now.shards == whole->shards && now.layout == whole->layout &&
		strcmp(id ? id : "", new_id ? new_id : "") == 0;
}

/* The number of the shard of an element, whatever the funnel of the filter. */
int
bf_shards_find(const BfShards *shards, BfElementType *element, Datum value)
{
	bf_element_go_into(element, (BfMeaning) shards->remote->plan.header.meaning);
	return shards->count == 1 ? 0 :
		bf_shard_find(shards->remote->plan.strategy, element, value,
					  shards->count);
}

/* Describe what was found or requested, for a message. */
static char *
describe_for_error(const BfRemote *remote)
{
	const char *funnel = bf_funnel_name(remote->plan.header.funnel);
	const char *elements = bf_meaning_name(remote->plan.header.meaning);

	if (remote->shards > 0)
		return psprintf("layout %s, %s%s%d shards%s",
						layout_of(remote)->name,
						remote->plan.strategy ? remote->plan.strategy->name : "",
						remote->plan.strategy ? ", " : "", remote->shards,
						remote->layout ? "" : ", incomplete");
	if (remote->layout == NULL && remote->orphan != NULL)
		return psprintf("remnants of a filter in layout %s",
						remote->orphan->name);
	if (remote->layout == NULL)
		return pstrdup("not a Bloom filter");
	return psprintf("layout %s, %s, %llu bits, %u hashes, expansion %u%s%s%s%s",
					remote->layout->name,
					remote->plan.strategy->name,
					(unsigned long long) remote->plan.first.bits,
					remote->plan.first.hashes,
					remote->plan.header.expansion,
					funnel ? ", funnel " : "", funnel ? funnel : "",
					elements ? ", of " : "", elements ? elements : "");
}

/* Is the filter that was found the wanted one, ignoring its elements? */
static bool
is_same(const BfRemote *found, const BfRemote *wanted)
{
	BfWindow	windows[2];

	if (wanted->shards > 0)
		return layout_of(found) == wanted->layout &&
			found->shards == wanted->shards &&
			(found->plan.strategy == NULL ||
			 found->plan.strategy == wanted->plan.strategy);
	if (found->layout != wanted->layout)
		return false;
	windows[0] = bf_layout_window(found->layout, found->hash[BF_CONFIG].values);
	windows[1] = bf_layout_window(wanted->layout, wanted->hash[BF_CONFIG].values);
	return found->shards == 0 &&
		found->plan.strategy == wanted->plan.strategy &&
		found->plan.header.expansion == wanted->plan.header.expansion &&
		found->plan.first.bits == wanted->plan.first.bits &&
		found->plan.first.hashes == wanted->plan.first.hashes &&
		windows[0].slices == windows[1].slices &&
		windows[0].length == windows[1].length;
}

/* Raise an error: a key does not hold the wanted filter. */
static void
refuse_found(const BfRemote *wanted, const BfRemote *found)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key \"%s\" is already in use", wanted->key),
			 errdetail("Wanted: %s.  Found: %s.", describe_for_error(wanted),
					   describe_for_error(found)),
			 found->layout != NULL || found->orphan != NULL ?
			 errhint("Choose another key, or drop that filter with bf_redis_drop.") :
			 errhint("Choose another key, or delete this one with DEL in Redis.")));
}

/* Bind the found filter to the wanted kind, if it records none. */
static void
agree_on_kind(const BfRemote *wanted, BfRemote *found)
{
	BfFunnel	funnel = wanted->plan.header.funnel;

	if (funnel == BF_FUNNEL_UNBOUND || wanted->shards > 0 ||
		found->plan.header.funnel == funnel)
		return;
	if (found->plan.header.funnel != BF_FUNNEL_UNBOUND)
		refuse_found(wanted, found);
	/* The meaning of elements that it may already have is not known. */
	found->bind = (BfBinding) {funnel, bf_remote_is_unbound(found) ?
		BF_MEANING_OPEN : BF_MEANING_UNKNOWN};
}

/*
 * Whether a hash without its filter says that the filter had elements.  An
 * empty filter in its place would return "no" for them.
 */
static bool
had_elements(const BfRemote *found)
{
	const char *witness;

	if (found->orphan == NULL)
		return false;
	witness = bf_layout_witness(found->hash[bf_layout_kind_role(found->orphan)].values);
	return witness != NULL &&
		(found->orphan->driver->disproves != NULL || strchr(witness, ':') != NULL);
}

/*
 * Check that a key has the wanted filter, or nothing; otherwise 22023, or
 * 42704 if there was a filter that had elements.  A filter that lacks shards
 * is the wanted one, unless it is to be created and these shards are going to
 * be mirrored.
 */
static void
look_for(const BfRemote *wanted, bool creating, BfRemote *found)
{
	bf_remote_describe(wanted->server, wanted->key, found);
	if (found->layout == NULL && wanted->shards > 0 && is_same(found, wanted) &&
		!(creating && found->hash[BF_CONFIG].values[BF_SPREAD_AWAITED]))
		return;
	bf_remote_check_hashes(found, wanted);
	if (found->layout != NULL)
	{
		if (found->shards == 0)
			bf_remote_describe_fully(found);
		if (!is_same(found, wanted))
			refuse_found(wanted, found);
		agree_on_kind(wanted, found);
		return;
	}
	if (found->shards > 0 || found->at_key != 0 ||
		bf_remote_is_left_over(found, wanted) ||
		(wanted->layout->layer_suffix != NULL && found->at_layer != 0))
		refuse_found(wanted, found);
	if (had_elements(found))
		bf_remote_missing(found);
}

/*
 * Create a filter at one key, or find it there (false), with all of its
 * layers, with the wanted kind of elements, and on the required number of
 * replicas.  It replaces the remnants of a filter that has several keys,
 * unless these may be an empty filter in full.
 */
static bool
create_one(const BfRemote *remote, int64 ttl)
{
	BfRemote	found = {0};
	char	   *taken = NULL;

	for (int tries = 0; tries < MAX_TRIES; tries++)
	{
		look_for(remote, true, &found);
		if (found.layout != NULL)
		{
			if (bf_remote_note(&found))
				return false;
			continue;
		}
		if (found.orphan == remote->layout && remote->cursor_key != NULL)
			(void) drop_keys(&found);
		taken = remote->layout->driver->create(remote, ttl);
		if (taken == NULL)
			return true;
	}
	found.shard_of = remote->shard_of;
	if (found.lost != NULL)
		bf_remote_missing(&found);
	if (taken != NULL)
		bf_remote_taken(remote, taken);
	bf_remote_keeps_changing(remote->key);
}

/*
 * Make the hash that says that the shards of a filter are being created or
 * mirrored, or find it; returns its id, or NULL if it is another filter's.
 */
static char *
claim_hash(const BfRemote *whole, bool creating, int64 ttl)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	char	   *id = NULL;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_CLAIM);
	bf_command_key(unit, bf_suffixed_key(whole->key, BF_SHARDS_SUFFIX));
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_command_text(unit, whole->layout->name);
	bf_command_text(unit, whole->plan.strategy->name);
	bf_command_number(unit, whole->shards);
	bf_command_key(unit, bf_random_name());
	bf_command_text(unit, creating ? "creating" : "awaited");
	reply = bf_ask(whole->server, whole->key, unit, 0, &connection);
	if (reply->type != BF_REPLY_NIL)
		id = pstrdup(bf_reply_string(connection, reply)->str);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return id;
}

/*
 * Start to create or mirror the shards of a planned filter; returns the id of
 * its hash, and the filter as found then.  Raises 22023 if the key does not
 * have that filter.
 */
const char *
bf_shards_claim(const BfRemote *whole, bool creating, int64 ttl,
				BfRemote *found)
{
	for (int tries = 0; tries < MAX_TRIES; tries++)
	{
		const char *id;

		look_for(whole, creating, found);
		id = claim_hash(whole, creating, ttl);
		if (id == NULL)
			continue;
		bf_remote_describe(whole->server, whole->key, found);
		return id;
	}
	bf_remote_keeps_changing(whole->key);
}

/* Remove a shard that was mirrored too late, if it is still there. */
static void
remove_late(const BfRemote *late)
{
	BfRemote	found;
	const char *recorded;

	bf_remote_describe(late->server, late->key, &found);
	recorded = found.layout ? bf_remote_whole(&found) : NULL;
	if (recorded != NULL && strcmp(recorded, bf_remote_whole(late)) == 0)
		(void) drop_keys(&found);
}

/*
 * Record that a shard has been created or mirrored; returns whether it
 * completes its filter.  If the hash of the filter does not have that id any
 * more, the shard is removed.  ttl is in ms; 0: none; -1: that of the filter
 * stays.
 */
bool
bf_shards_arrive(const BfRemote *whole, const char *id, int number,
				 const BfRemote *shard, int64 ttl)
{
	BfUnit	   *unit = bf_unit_make();
	int64		answer;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_ARRIVE);
	bf_command_key(unit, bf_suffixed_key(whole->key, BF_SHARDS_SUFFIX));
	bf_script_arguments(unit);
	if (ttl >= 0)
		bf_command_number(unit, ttl);
	else
		bf_command_text(unit, "");
	bf_command_text(unit, id);
	bf_command_number(unit, number);
	bf_command_number(unit, whole->shards);
	answer = bf_ask_number(whole->server, whole->key, unit);
	if (answer != 0)
		return answer == 2;
	remove_late(shard);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" was dropped or replaced while its shard %d was being written",
					whole->key, number),
			 errhint("Create the filter again, or mirror all of its shards again.")));
}

/*
 * Create a shard of a filter, replacing one of a filter that is gone; or find
 * it there, owned by this filter (is_owned()).  A shard that a complete filter
 * lacks was lost, and must not be replaced by an empty one.  Returns whether
 * this completes the filter.
 */
static bool
create_shard(const BfRemote *whole, const BfRemote *found, const char *id,
			 int number, int64 ttl)
{
	BfRemote	shard;
	BfRemote	there;

	bf_remote_plan(whole->server, bf_shard_key(whole->key, number),
				   whole->layout, &whole->plan, &shard);
	shard.shard_of = whole->key;
	bf_layout_set_whole(shard.hash[bf_layout_kind_role(shard.layout)].values,
						id, number);
	if (found->layout != NULL)
	{
		bf_shards_describe_one(found, number, &there);
		look_for(&shard, true, &there);
		if (there.layout == NULL || !bf_remote_note(&there))
			bf_remote_keeps_changing(whole->key);
		return false;
	}
	bf_shards_clear(whole, found, number);
	if (!create_one(&shard, ttl))
	{
		bf_remote_describe(whole->server, shard.key, &there);
		if (there.layout == NULL || !is_owned(found, &there, number))
			bf_remote_taken(whole, shard.key);
	}
	return bf_shards_arrive(whole, id, number, &shard, ttl);
}

/* Create a filter as planned, or find one with these parameters (false). */
bool
bf_shards_create(const BfRemote *whole, int64 ttl)
{
	BfRemote	found;
	const char *id;
	bool		created = false;

	bf_remote_check_slots(whole);
	if (whole->shards == 0)
		return create_one(whole, ttl);
	id = bf_shards_claim(whole, true, ttl, &found);
	for (int i = 0; i < whole->shards; i++)
		created |= create_shard(whole, &found, id, i, ttl);
	return created;
}

/* Measure a filter: the sum of its shards; false if one has changed. */
bool
bf_shards_measure(BfShards *shards, BfMeasure *sum)
{
	*sum = (BfMeasure) {.ttl = -1};
	for (int i = 0; i < shards->count; i++)
	{
		BfRemote   *shard = &shards->remote[i];
		BfMeasure	measure = {.ttl = -1};

		CHECK_FOR_INTERRUPTS();
		bf_remote_describe_fully(shard);
		if (!shard->layout->driver->measure(shard, &measure))
			return false;
		sum->only_counted |= measure.only_counted;
		sum->fill.bits += measure.fill.bits;
		sum->fill.bits_set += measure.fill.bits_set;
		sum->fill.count += measure.fill.count;
		sum->fill.fpp = Max(sum->fill.fpp, measure.fill.fpp);
		sum->bytes += measure.bytes;
		if (i > 0)
			continue;
		sum->ttl = measure.ttl;
		sum->lanes = measure.lanes;
		memcpy(sum->lane_fill, measure.lane_fill, sizeof(sum->lane_fill));
	}
	return true;
}

/* Remove the hash that lists the shards, as drop_keys() would. */
static int
drop_hash(const BfRemote *whole)
{
	const char *const field = "id";
	BfUnit	   *unit = bf_unit_make();

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_GUARD BF_SCRIPT_OTHERS BF_SCRIPT_DROP);
	bf_command_text(unit, whole->hash[BF_CONFIG].key);
	bf_script_arguments(unit);
	bf_command_number(unit, 1);
	bf_guard_append(unit, 1, &field, &whole->hash[BF_CONFIG].values[BF_SPREAD_ID],
					1, 0);
	bf_command_text(unit, "");
	bf_command_number(unit, 0);
	bf_command_number(unit, 0);
	return (int) bf_ask_number(whole->server, whole->key, unit);
}

/*
 * Describe and remove what is at a key, again if it was replaced in between;
 * *found is what was removed, or nothing.
 */
static bool
drop_found(Oid server, const char *key, BfRemote *found)
{
	for (int changes = 0; changes < BF_MAX_CHANGES; changes++)
	{
		int			keys;

		bf_remote_describe(server, key, found);
		if (found->layout == NULL && found->orphan == NULL)
			return false;
		keys = found->shards > 0 ? drop_hash(found) : drop_keys(found);
		if (keys >= 0)
			return keys > 0;
	}
	bf_remote_keeps_changing(key);
}

/*
 * Remove a filter or its remnants; returns whether there was anything.  A
 * shard may have many layers, so only one is kept in memory at a time.
 */
bool
bf_shards_drop(Oid server, const char *key)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext one = AllocSetContextCreate(old, "bloomext Redis shard",
											  ALLOCSET_DEFAULT_SIZES);
	BfRemote	whole;
	bool		dropped = drop_found(server, key, &whole);

	if (whole.layout == NULL && whole.orphan == NULL && whole.at_key != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" does not hold a Bloom filter", key),
				 errhint("If it is what remains of a filter, delete the key with DEL in Redis.")));
	MemoryContextSwitchTo(one);
	for (int i = 0; i < whole.shards; i++)
	{
		BfRemote	shard;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(one);
		bf_remote_describe(server, bf_shard_key(key, i), &shard);
		if (shard.shards > 0 || layout_of(&shard) == NULL ||
			layout_of(&shard) != layout_of(&whole))
			continue;
		if (is_owned(&whole, &shard, i) || is_leftover(&whole, &shard, i))
			dropped |= drop_keys(&shard) > 0;
	}
	MemoryContextSwitchTo(old);
	return dropped;
}
