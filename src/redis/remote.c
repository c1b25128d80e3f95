/*
 * remote.c
 *	  What filter is at a key of a Redis server, and that it still is.
 *
 * One script reads, in one moment, all that may say so: the key's type, length
 * and first bytes, and the hashes and strings that the layouts have beside it.
 * Each layout's driver says whether that is a filter of the layout.  What is
 * described twice is an error, as only one of the two can be true.
 *
 * Everything read is checked as bytes from anywhere are, before anything is
 * derived from it.  What is described as one filter has all its layers, unless
 * its server has them; what is described as sharded has none, and is no shard.
 *
 * Guards are what says that a filter still is what it was described as: the
 * fields of its hash that bits and hashes follow from, and the cursor.  They are
 * read, or compared, in the same moment as the bits.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/value.h"

/* Elements of the description before those of the keys beside. */
#define FIRST_BESIDE	3

/* Keys beside, at most: shards, and of each layout hash, cursor and a string. */
#define MAX_BESIDE		(1 + 3 * bf_layout_count)

/* A key beside the filter's own. */
typedef struct Beside
{
	char	   *key;
	const char *const *fields;	/* of a hash; NULL: a string */
	int			count;			/* of the fields */
	char	  **into;			/* what is there: values of these, or bytes */
} Beside;

static const char *const shards_fields[] = {"layout", "shards"};

/* ---- Describe ---- */

/*
 * List the keys beside a filter's own that can be read with it: on a cluster,
 * those of the same slot.
 */
static int
list_beside(const char *key, bool cluster, const BfRemote *candidates,
			char **shards, BfFound *found, Beside *beside)
{
	int			listed = 0;
	int			count = 0;

	beside[listed++] = (Beside) {bf_suffixed_key(key, BF_SHARDS_SUFFIX),
		shards_fields, lengthof(shards_fields), shards};
	for (int i = 0; i < bf_layout_count; i++)
	{
		const BfRemote *at = &candidates[i];
		const BfLayout *layout = at->layout;

		beside[listed++] = (Beside) {at->config_key, layout->fields,
			bf_layout_fields(layout), found[i].values};
		beside[listed++] = (Beside) {at->cursor_key, NULL, 0, &found[i].cursor};
		if (layout->layer_suffix != NULL)
			beside[listed++] = (Beside) {bf_remote_layer_key(at, 0), NULL, 0,
				&found[i].layer};
	}
	for (int i = 0; i < listed; i++)
	{
		if (beside[i].key != NULL &&
			(!cluster ||
			 bf_cluster_slot(beside[i].key) == bf_cluster_slot(key)))
			beside[count++] = beside[i];
	}
	return count;
}

/* The types that are not read as a string is, which for others is an error. */
static char *
list_types(void)
{
	StringInfoData types;

	initStringInfo(&types);
	for (int i = 0; i < bf_layout_count; i++)
	{
		if (bf_layouts[i].native_type != NULL)
			appendStringInfo(&types, "%s ", bf_layouts[i].native_type);
	}
	return types.data;
}

/* Ask what there is: lua/describe.lua. */
static BfUnit *
make_question(const char *key, const Beside *beside, int count)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_DESCRIBE);
	bf_command_text(unit, key);
	for (int i = 0; i < count; i++)
		bf_command_text(unit, beside[i].key);
	bf_script_arguments(unit);
	bf_command_key(unit, list_types());
	for (int i = 0; i < count; i++)
	{
		bf_command_number(unit, beside[i].count);
		for (int j = 0; j < beside[i].count; j++)
			bf_command_text(unit, beside[i].fields[j]);
	}
	return unit;
}

/* Read what was found at a key beside, if it is there. */
static void
read_beside(BfConnection *connection, const redisReply *reply,
			const Beside *beside)
{
	redisReply **element;

	if (reply->type == REDIS_REPLY_NIL)
		return;
	if (beside->fields == NULL)
	{
		*beside->into = bf_reply_string(connection, reply)->str;
		return;
	}
	element = bf_reply_array(connection, reply, beside->count);
	for (int i = 0; i < beside->count; i++)
	{
		if (element[i]->type != REDIS_REPLY_NIL)
			beside->into[i] =
				pnstrdup(bf_reply_string(connection, element[i])->str,
						 element[i]->len);
	}
}

/* Take the hash of a sharded filter for what it says. */
static void
read_shards(BfConnection *connection, char **values, BfRemote *remote)
{
	uint64		shards;

	if (values[0] == NULL && values[1] == NULL)
		return;
	remote->layout = values[0] ? bf_layout_by_name(values[0]) : NULL;
	if (remote->layout == NULL ||
		!bf_read_number(values[1], 1, BF_MAX_SHARDS, &shards))
		bf_connection_protocol_error(connection,
									 "A filter's shards are not described as they should be.");
	remote->shards = (int) shards;
	remote->config_key = bf_suffixed_key(remote->key, BF_SHARDS_SUFFIX);
}

/* Take what a hash says for the plan of a filter; false where there is none. */
bool
bf_remote_read_config(BfRemote *remote, const BfFound *found)
{
	BfError		error;

	if (!bf_layout_owns(remote->layout, found->values))
		return false;
	remote->configured = true;
	remote->plan.header = (BfHeader) {.layers = 1,.cell_bits = BF_CELL_BIT};
	if (!remote->layout->read_config(found->values, &remote->plan, &error))
		bf_raise(&error);
	memcpy(remote->values, found->values, sizeof(found->values));
	return true;
}

/*
 * The layout that a key is described as a filter in, if any.  A hash does so
 * even where its string is gone, but not where a filter's first layer is.
 */
static const BfLayout *
described_layout(const BfRemote *remote)
{
	if (remote->layout != NULL)
		return remote->layout;
	return remote->orphan != NULL && remote->orphan->layer_suffix == NULL ?
		remote->orphan : NULL;
}

/* Take what a layout's driver makes of what was found, if it is a filter. */
static void
try_layout(BfRemote *remote, BfRemote *candidate, const BfFound *found)
{
	const BfLayout *layout = candidate->layout;
	const BfLayout *other = described_layout(remote);

	if (!layout->driver->recognize(candidate, found))
		candidate->layout = NULL;
	if (other != NULL && other != layout && described_layout(candidate) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" is described as a filter both in layout \"%s\" and in layout \"%s\"",
						remote->key, other->name, layout->name),
				 errhint("Delete the keys of the one that is obsolete.")));
	if (remote->layout == NULL &&
		(candidate->layout != NULL || candidate->orphan != NULL))
		*remote = *candidate;
}

/*
 * Find out what filter is at a key, if any (layout is NULL where there is
 * none).  What is returned is in the current memory context.  The first row is
 * tried last: a stream is taken for one only where nothing says otherwise.
 */
void
bf_remote_describe(Oid server, const char *key, BfRemote *remote)
{
	BfConnection *connection = bf_cluster_route(server, key);
	BfRemote   *candidates = palloc(sizeof(BfRemote) * bf_layout_count);
	BfFound    *found = palloc0(sizeof(BfFound) * bf_layout_count);
	char	   *shards[lengthof(shards_fields)] = {NULL};
	Beside	   *beside = palloc(sizeof(Beside) * MAX_BESIDE);
	const redisReply *reply;
	BfFoundString at;
	redisReply **element;
	BfUnit	   *unit;
	int			count;

	*remote = bf_remote_at(server, key, NULL);
	for (int i = 0; i < bf_layout_count; i++)
		candidates[i] = bf_remote_at(server, remote->key, &bf_layouts[i]);
	count = list_beside(key, connection->cluster, candidates, shards, found,
						beside);
	unit = make_question(key, beside, count);
	reply = bf_ask(server, key, unit, 0, &connection);
	element = bf_reply_array(connection, reply, FIRST_BESIDE + count);
	/* Not the one that was asked first, where that has redirected us. */
	at.connection = connection;
	at.type = bf_reply_string(connection, element[0])->str;
	at.head = (const uint8 *) bf_reply_string(connection, element[1])->str;
	at.head_length = element[1]->len;
	at.length = bf_reply_integer(connection, element[2]);
	for (int i = 0; i < count; i++)
		read_beside(connection, element[FIRST_BESIDE + i], &beside[i]);
	read_shards(connection, shards, remote);
	for (int i = bf_layout_count - 1; i >= 0; i--)
	{
		found[i].at = at;
		found[i].alone = remote->layout == NULL;
		try_layout(remote, &candidates[i], &found[i]);
	}
	remote->occupied = remote->layout == NULL && at.length > 0;
	bf_connection_done(connection);
	bf_unit_free(unit);
	pfree(beside);
	pfree(candidates);
	pfree(found);
}

/* ---- Plan, put in place and drop ---- */

/* A filter at a key, of which only the layout, or nothing yet (NULL), is known. */
BfRemote
bf_remote_at(Oid server, const char *key, const BfLayout *layout)
{
	BfRemote	remote = {.server = server,.key = pstrdup(key),.layout = layout};

	if (layout != NULL && layout->config_suffix != NULL)
		remote.config_key = bf_suffixed_key(key, layout->config_suffix);
	if (layout != NULL && layout->cursor_suffix != NULL)
		remote.cursor_key = bf_suffixed_key(key, layout->cursor_suffix);
	return remote;
}

/* The filter that is to be at a key: what describes it, is filled in. */
void
bf_remote_plan(Oid server, const char *key, const BfLayout *layout,
			   const BfPlan *plan, BfRemote *remote)
{
	bf_layout_check(layout, plan);
	*remote = bf_remote_at(server, key, layout);
	remote->plan = *plan;
	remote->configured = bf_layout_write(layout, plan, remote->head,
										 remote->values);
}

/* Raise that a cluster would scatter the keys of a filter. */
void
bf_remote_check_slots(const BfRemote *remote)
{
	unsigned	slot = bf_cluster_slot(remote->key);

	if (!bf_cluster_route(remote->server, remote->key)->cluster)
		return;
	if (bf_cluster_slot(bf_remote_layer_key(remote, 0)) == slot &&
		bf_cluster_slot(bf_temporary_key(remote->key, 0)) == slot &&
		(remote->config_key == NULL ||
		 bf_cluster_slot(remote->config_key) == slot))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the keys of filter \"%s\" in layout \"%s\" would fall into several slots of the cluster",
					remote->key, remote->layout->name),
			 errhint("Put a part of the key into braces, as in \"{titles}\": only that part decides about the slot.")));
}

/* Raise that there is no filter at a key, which is never a "no". */
void
bf_remote_missing(const BfRemote *remote)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no filter at key \"%s\" in Redis", remote->key),
			 errdetail("Either it was never created or mirrored, or it has expired, or the key holds something else."),
			 errhint("bf_mirror and bf_redis_create make one; bf_fetch with parameters reads a bit string that nothing describes.")));
}

/* Raise that a filter was another one each time that something was to be done. */
void
bf_remote_keeps_changing(const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" keeps changing", key)));
}

/* The key of a layer's string. */
char *
bf_remote_layer_key(const BfRemote *remote, uint32 layer)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;

	return layout->layer_suffix == NULL ? pstrdup(remote->key) :
		psprintf("%s%s%u", remote->key, layout->layer_suffix, layer);
}

/* Append the keys of so many layers, and those of hash and cursor. */
void
bf_remote_append_keys(BfUnit *unit, const BfRemote *remote, uint32 layers)
{
	for (uint32 i = 0; i < layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	if (remote->config_key != NULL)
		bf_command_text(unit, remote->config_key);
	if (remote->cursor_key != NULL)
		bf_command_text(unit, remote->cursor_key);
}

/*
 * Append the fields of its hash, if it has one, each with its value: all of
 * them, or those that guard it.
 */
void
bf_remote_append_fields(BfUnit *unit, const BfRemote *remote, bool guards)
{
	const BfLayout *layout = remote->layout;
	int			count = guards ? layout->guards : bf_layout_fields(layout);

	for (int i = 0; remote->configured && i < count; i++)
	{
		bf_command_text(unit, layout->fields[i]);
		bf_command_text(unit, remote->values[i]);
	}
}

/*
 * Rename so many temporary keys to the keys of a filter, and write its hash and
 * cursor; or, if a temporary key is gone, do nothing and raise.  It is a script
 * and not a transaction because a transaction would go on after a temporary key
 * was found to have expired, and leave new parameters over old bits: false
 * negatives.
 */
void
bf_remote_replace(const BfRemote *remote, char **temporary, uint32 count,
				  uint32 old_layers, int64 ttl)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_REPLACE);
	for (uint32 i = 0; i < count; i++)
		bf_command_text(unit, temporary[i]);
	bf_remote_append_keys(unit, remote, count);
	for (uint32 i = count; i < old_layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	bf_script_arguments(unit);
	bf_command_number(unit, count);
	bf_command_number(unit, ttl);
	if (remote->cursor_key != NULL)
		bf_command_number(unit, count - 1);
	else
		bf_command_text(unit, "");
	bf_remote_append_fields(unit, remote, false);
	if (bf_ask_number(remote->server, remote->key, unit) == 1)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("mirror of \"%s\" was not finished in time",
					remote->key),
			 errdetail("Its temporary keys are gone; what was there before is still there.")));
}

/*
 * Remove all keys that a filter has, or what is left of it; of one that is
 * spread over shards, what says so.
 */
bool
bf_remote_drop(const BfRemote *remote)
{
	BfUnit	   *unit = bf_unit_make();

	bf_command_begin(unit, "UNLINK");
	bf_remote_append_keys(unit, remote, remote->shards > 0 ? 0 :
						  Max(remote->plan.header.layers, 1));
	return bf_ask_number(remote->server, remote->key, unit) > 0;
}

/* ---- Guards ---- */

/*
 * Begin to ask about a filter: if it has guards, in a transaction that reads them
 * first.
 */
void
bf_guard_begin(BfUnit *unit, const BfRemote *remote)
{
	if (!remote->configured)
		return;
	bf_transaction_begin(unit);
	bf_command_begin(unit, "HMGET");
	bf_command_text(unit, remote->config_key);
	for (int i = 0; i < remote->layout->guards; i++)
		bf_command_text(unit, remote->layout->fields[i]);
	if (remote->cursor_key == NULL)
		return;
	bf_command_begin(unit, "GET");
	bf_command_text(unit, remote->cursor_key);
}

/* End it. */
void
bf_guard_end(BfUnit *unit, const BfRemote *remote)
{
	if (remote->configured)
		bf_transaction_end(unit);
}

/* Whether the cursor, which may be missing, is unchanged. */
static bool
is_same_cursor(const BfRemote *remote, const redisReply *reply)
{
	char		expected[16];

	snprintf(expected, sizeof(expected), "%u", remote->plan.header.layers - 1);
	if (reply->type == REDIS_REPLY_NIL)
		return remote->plan.header.layers == 1;
	return reply->type == REDIS_REPLY_STRING &&
		strcmp(reply->str, expected) == 0;
}

/*
 * The replies to what was asked in between, or NULL where the filter has
 * changed.
 */
redisReply **
bf_guard_check(BfConnection *connection, const BfRemote *remote,
			   const BfUnit *unit, redisReply **reply)
{
	int			guards = remote->layout->guards;
	redisReply **result;
	redisReply **value;

	if (!remote->configured)
		return reply;
	result = bf_reply_results(connection, *reply, unit);
	value = bf_reply_array(connection, *result++, guards);
	for (int i = 0; i < guards; i++)
	{
		if (value[i]->type != REDIS_REPLY_STRING ||
			strcmp(value[i]->str, remote->values[i]) != 0)
			return NULL;
	}
	if (remote->cursor_key != NULL && !is_same_cursor(remote, *result++))
		return NULL;
	return result;
}
