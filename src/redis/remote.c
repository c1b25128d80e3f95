/*
 * remote.c
 *	  A filter at a key of a Redis server: its keys, its shape, what is known
 *	  of it.
 *
 * remote_describe.c finds out what is there; the drivers know how filters of
 * their layouts are read and written.
 */
#include "postgres.h"

#include "redis/remote.h"

/* Read a plan from the hash that describes it; false if there is none. */
bool
bf_remote_read_config(BfRemote *remote, const BfFound *found)
{
	const BfLayout *layout = remote->layout;
	BfRemoteHash *config = &remote->hash[BF_CONFIG];
	char	  **values = found->values[BF_CONFIG];
	BfError		error;

	if (layout->hash[BF_CONFIG] == NULL ||
		!bf_layout_owns(layout, BF_CONFIG, values))
		return false;
	config->there = true;
	memcpy(config->values, values, sizeof(config->values));
	remote->plan.header = (BfHeader) {.layers = 1,.cell_bits = BF_CELL_BIT};
	if (!layout->hash[BF_CONFIG]->read(values, &remote->plan, &error))
		bf_remote_malformed(config->key, error.message);
	return true;
}

/* A filter at a key, of which only the layout, or nothing (NULL), is known. */
BfRemote
bf_remote_at(Oid server, const char *key, const BfLayout *layout)
{
	BfRemote	remote = {.server = server,.key = pstrdup(key),.layout = layout};

	for (int role = 0; layout != NULL && role < BF_HASHES; role++)
	{
		if (layout->hash[role] != NULL)
			remote.hash[role].key = bf_suffixed_key(key,
													layout->hash[role]->suffix);
	}
	if (layout != NULL && layout->cursor_suffix != NULL)
		remote.cursor_key = bf_suffixed_key(key, layout->cursor_suffix);
	return remote;
}

/* Whether all keys of a filter are in one slot. */
static bool
has_one_slot(const BfRemote *remote)
{
	unsigned	slot = bf_cluster_slot(remote->key);

	for (int role = 0; role < BF_HASHES; role++)
	{
		const char *key = remote->hash[role].key;

		if (key != NULL && bf_cluster_slot(key) != slot)
			return false;
	}
	return bf_cluster_slot(bf_remote_layer_key(remote, 0)) == slot &&
		bf_cluster_slot(bf_temporary_key(remote->key, 0)) == slot;
}

/* Raise an error if a cluster would scatter the keys of a filter. */
void
bf_remote_check_slots(const BfRemote *remote)
{
	if (!bf_cluster_route(remote->server, remote->key)->cluster ||
		has_one_slot(remote))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("keys of filter \"%s\" in layout \"%s\" would be in different slots of the cluster",
					remote->key, remote->layout->name),
			 errhint("Enclose a part of the key in braces, as in \"{titles}\"; only that part determines the slot.")));
}

/*
 * What is recorded of the filter that this, or its remnants, is a shard of, or
 * NULL.
 */
const char *
bf_remote_whole(const BfRemote *remote)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;
	const BfRemoteHash *hash = &remote->hash[bf_layout_kind_role(layout)];

	return hash->there || remote->layout == NULL ?
		bf_layout_whole(hash->values) : NULL;
}

/* Whether the first element decides the kind of the filter. */
bool
bf_remote_is_unbound(const BfRemote *remote)
{
	const BfRemoteHash *hash =
		&remote->hash[bf_layout_kind_role(remote->layout)];

	return hash->there && bf_layout_is_unbound(hash->values);
}

/*
 * Whether the hash of a filter is certainly about the string described: the
 * filter does not exist without the hash; or the hash was written together
 * with all bits of the string, and has a witness that no other string matches
 * by chance.
 */
bool
bf_remote_is_proven(const BfRemote *remote)
{
	const BfRemoteHash *hash =
		&remote->hash[bf_layout_kind_role(remote->layout)];

	return bf_layout_head(remote->layout) == 0 ||
		(hash->there && bf_layout_is_mirrored(hash->values) &&
		 remote->witnesses > 0 && bf_witness_is_strong(remote->witness));
}

/* The kind of a filter's elements, as far as known or decided. */
BfBinding
bf_remote_kind(const BfRemote *remote)
{
	const BfHeader *header = &remote->plan.header;

	return (BfBinding) {
		header->funnel,
		bf_remote_is_unbound(remote) ? BF_MEANING_OPEN : header->meaning
	};
}

/*
 * Raise an error if the key of a wanted filter's hash holds something else, or
 * if the filter would share its hash with another key's.  A filter with layers
 * has other names for its hashes, and one that exists already has its hash.
 */
void
bf_remote_check_hashes(const BfRemote *found, const BfRemote *wanted)
{
	ListCell   *cell;

	/* A filter with shards has no such hash at its own key. */
	foreach(cell, wanted->shards == 0 ? found->foreign : NIL)
	{
		for (int role = 0; role < BF_HASHES; role++)
		{
			const char *key = wanted->hash[role].key;

			if (key != NULL && strcmp(key, lfirst(cell)) == 0)
				bf_remote_taken(wanted, key);
		}
	}
	if (found->twin == NULL || wanted->layout->layer_suffix != NULL ||
		(found->layout != NULL &&
		 found->hash[bf_layout_kind_role(found->layout)].there))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("keys \"%s\" and \"%s\" cannot both hold a filter",
					found->key, found->twin),
			 errdetail("The Redis hashes that describe the two filters would have the same key."),
			 errhint("Choose another key.")));
}

/* Raise that a hash in Redis does not describe a filter, and why. */
void
bf_remote_malformed(const char *hash, const char *reason)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("hash \"%s\" in Redis does not describe a filter: %s",
					hash, reason),
			 errhint("Delete this hash and the other keys of the filter with DEL in Redis; then mirror the filter again, or create it and add its elements.")));
}

/*
 * Raise that a shard, or what is at its key, is not what the filter needs
 * there, and why.
 */
void
bf_remote_lacks_shard(const BfRemote *shard, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("filter at key \"%s\" in Redis is incomplete",
					shard->shard_of),
			 errdetail("%s", detail),
			 errhint("Mirror that shard again, or drop the filter with bf_redis_drop and create it again.")));
}

/* Raise that there is no filter at a key: that is never a "no". */
void
bf_remote_missing(const BfRemote *remote)
{
	if (remote->shard_of != NULL)
		bf_remote_lacks_shard(remote,
							  psprintf("%s \"%s\" was evicted, deleted or replaced.",
									   remote->lost ? "Key" : "The shard at key",
									   remote->lost ? remote->lost : remote->key));
	if (remote->lost != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("filter at key \"%s\" in Redis is incomplete",
						remote->key),
				 errdetail("Key \"%s\" was evicted, deleted or replaced.",
						   remote->lost),
				 errhint("Mirror the filter again; or drop it with bf_redis_drop, create it again, and add its elements.")));
	if (remote->layout == NULL && remote->shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("there is no filter at key \"%s\" in Redis yet",
						remote->key),
				 errdetail("Not all of the filter's %d shards have been created.",
						   remote->shards),
				 errhint("Create the filter again with layout '%s;shards=%d'; or mirror each shard, the first one with layout '%s;shards=%d/0', and so on.",
						 remote->orphan->name, remote->shards,
						 remote->orphan->name, remote->shards)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no filter at key \"%s\" in Redis", remote->key),
			 errdetail("The filter was never created or mirrored, it has expired, or the key holds something else."),
			 errhint("Use bf_mirror or bf_redis_create to create one, or bf_fetch with parameters to read a bit string without a description.")));
}

/* Raise that a filter was replaced at each attempt. */
void
bf_remote_keeps_changing(const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" is being changed concurrently", key),
			 errhint("Try again.")));
}

/* What is known of a layer's string, at least its length. */
BfWitness
bf_remote_witness(const BfRemote *remote, uint32 layer)
{
	if (layer < remote->witnesses)
		return remote->witness[layer];
	return (BfWitness) {
		.length = bf_layout_bytes(remote->layout, bf_remote_layer(remote, layer))
	};
}

/* The key of a layer's string, or of a piece of a window. */
char *
bf_remote_layer_key(const BfRemote *remote, uint32 layer)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;
	const char *id;

	Assert(layout != NULL);
	id = bf_layout_window_id(layout, remote->hash[BF_CONFIG].values);
	if (id != NULL)
		return bf_suffixed_key(remote->key,
							   psprintf(":bloomext-window-%s-%u", id, layer));
	return layout->layer_suffix == NULL ? pstrdup(remote->key) :
		psprintf("%s%s%u", remote->key, layout->layer_suffix, layer);
}

/* Append the keys of hashes and cursor. */
void
bf_remote_append_side_keys(BfUnit *unit, const BfRemote *remote)
{
	for (int role = 0; role < BF_HASHES; role++)
	{
		if (remote->hash[role].key != NULL)
			bf_command_text(unit, remote->hash[role].key);
	}
	if (remote->cursor_key != NULL)
		bf_command_text(unit, remote->cursor_key);
}

/* Append the keys of the given number of layers, and of hashes and cursor. */
void
bf_remote_append_keys(BfUnit *unit, const BfRemote *remote, uint32 layers)
{
	for (uint32 i = 0; i < layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	bf_remote_append_side_keys(unit, remote);
}

/*
 * The key with a number, from 1, among those of the given number of layers and
 * the side keys that follow.
 */
char *
bf_remote_key(const BfRemote *remote, uint32 number, uint32 layers)
{
	uint32		side = number - layers;

	if (number <= layers)
		return bf_remote_layer_key(remote, number - 1);
	for (int role = 0; role < BF_HASHES; role++)
	{
		if (remote->hash[role].key != NULL && --side == 0)
			return pstrdup(remote->hash[role].key);
	}
	return remote->cursor_key != NULL && side == 1 ?
		pstrdup(remote->cursor_key) : bf_remote_layer_key(remote, layers);
}

/* Raise that a filter needs a key that something else seems to use. */
void
bf_remote_taken(const BfRemote *remote, const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key \"%s\" is already in use", key),
			 errdetail("The filter at key \"%s\" in layout \"%s\" needs this key.",
					   remote->key, remote->layout->name),
			 errhint("Choose another key for the filter, or delete key \"%s\": with bf_redis_drop if it holds a filter, otherwise with DEL in Redis.",
					 key)));
}

/*
 * Whether the reply of a script confirms that a filter is the one described;
 * raises an error if it is, but has lost a string.  A string with a head may
 * be another filter: that is found out when it is described.
 */
bool
bf_reply_is_same(BfConnection *connection, const BfRemote *remote,
				 const BfReply *reply)
{
	BfRemote	lost = *remote;

	if (reply->type == BF_REPLY_ERROR)
		bf_connection_raise(connection, reply->str);
	if (reply->type != BF_REPLY_INTEGER || reply->integer >= 0)
		return reply->type != BF_REPLY_NIL;
	if (bf_layout_head(remote->layout) > 0 && remote->shard_of == NULL)
		return false;
	lost.lost = bf_remote_layer_key(remote, (uint32) (-reply->integer - 1));
	bf_remote_missing(&lost);
}
