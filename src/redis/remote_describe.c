/*
 * remote_describe.c
 *	  Find out which filter is at a key of a Redis server.
 *
 * One script reads, at one moment, all that may describe a filter: the type,
 * length and first bytes of the key, and the hashes and strings that the
 * layouts have next to it.  The driver of each layout decides whether that is
 * a filter of the layout.  Two descriptions are an error, as only one of them
 * can be true.
 *
 * In a cluster, a node that is handing over a slot executes no command about
 * several keys of it if one of them does not exist, as most of these do not.
 * Then the keys are read one at a time, and the parts of a description may be
 * from different moments.  What could make an answer wrong is compared again
 * by the commands that follow, at the moment at which they read or set bits.
 *
 * All that is read is untrusted input, and checked before anything is derived
 * from it.  The description of a filter that is not sharded lists all of its
 * layers, except that those of a RedisBloom filter may be unknown until
 * bf_remote_describe_fully().  That of a sharded filter lists none.  A
 * sharded filter is never itself a shard.
 *
 * Every key of a described filter must exist, except redisson's string before
 * a bit is set (layouts.c): a missing one was lost, and its part of an answer
 * cannot be given.  Only a note may be missing, unless it is that of a
 * mirrored shard; and a note is ignored if it is about another shape than
 * what is there.
 */
#include "postgres.h"

#include "redis/scripts.h"
#include "redis/shards.h"
#include "type/shard.h"
#include "type/value.h"

/* Elements of the reply before those of side keys. */
#define FIRST_SIDE_KEY	3

/* Maximum number of a layout's side keys: hashes, cursor, and two layers. */
#define SIDE_KEYS_A_LAYOUT		(BF_HASHES + 3)

/* A side key, one next to the filter's own, and its contents. */
typedef struct SideKey
{
	char	   *key;
	const char *const *fields;	/* of a hash; NULL: a string */
	int			count;			/* of the fields */
	char	   *values[BF_MAX_FIELDS];	/* of these, or NULLs */
	int			witness;		/* number of the field with the witness, from
								 * 1; 0: none */
	int			strings[BF_FOUND_LAYERS];	/* numbers of the keys of its
											 * strings */
	uint32		disproved;		/* number of the string that it disproves, from
								 * 1; 0: none */
	int64		length;			/* of the string; 0: it does not exist */
	char	   *bytes;			/* its first bytes, or NULL */
	int			bytes_length;	/* number of these bytes */
	bool		foreign;		/* it is to be a hash, and is not */
} SideKey;

typedef struct SideKeyList
{
	SideKey	   *side;
	int			count;
	bool		apart;			/* they are read one at a time */
	unsigned	slot;			/* in a cluster, the slot of all of them */
	bool		cluster;
} SideKeyList;

/* The fields of the hash that lists the shards. */
enum
{
	SPREAD_LAYOUT,
	SPREAD_SHARDS,
	SPREAD_ID = BF_SPREAD_ID,
	SPREAD_STRATEGY,			/* since shards have an id */
	SPREAD_AWAITED = BF_SPREAD_AWAITED, /* shards, until all are mirrored */
	SPREAD_CREATING				/* shards, until all empty ones are made */
};

static const char *const shards_fields[] = {
	"layout", "shards", "id", "strategy", "awaited", "creating"
};

/* ---- Describe ---- */

/* Find or add a key to be read; NULL if it is in another slot. */
static SideKey *
add_side_key(SideKeyList *list, char *key, const char *const *fields, int count)
{
	SideKey	   *side = list->side;

	Assert(key != NULL);
	if (list->cluster && bf_cluster_slot(key) != list->slot)
		return NULL;
	for (; side < list->side + list->count; side++)
	{
		if (side->fields == fields && strcmp(side->key, key) == 0)
			return side;
	}
	list->count++;
	*side = (SideKey) {.key = key,.fields = fields,.count = count};
	return side;
}

/* The key with the same hashes ("x" and "{x}"); NULL if there is none. */
static char *
twin_key(const char *key)
{
	size_t		length = strlen(key);
	const char *open = strchr(key, '{');

	if (open == NULL)
		return psprintf("{%s}", key);
	if (open != key || strchr(key + 1, '{') != NULL || length < 3 ||
		strchr(key, '}') != key + length - 1)
		return NULL;
	return pnstrdup(key + 1, length - 2);
}

/* Where a layout's filter is read; NULL if a key is not read. */
typedef struct Places
{
	SideKey	   *hash[BF_HASHES];
	SideKey	   *cursor;
	SideKey	   *layer[BF_FOUND_LAYERS];
} Places;

/*
 * List the strings that the witness in a layout's hash is about, by the
 * numbers of their keys; the filter's own is the first.
 */
static void
list_strings(const SideKeyList *list, const BfLayout *layout,
			 const Places *places)
{
	BfHashRole	role = bf_layout_kind_role(layout);
	SideKey	   *hash = places->hash[role];

	if (hash == NULL)
		return;
	hash->witness = bf_layout_witness_field(layout->hash[role]);
	for (int i = 0; i < BF_FOUND_LAYERS; i++)
	{
		if (places->layer[i] != NULL)
			hash->strings[i] = (int) (places->layer[i] - list->side) + 2;
		else
			hash->strings[i] = i == 0 && layout->layer_suffix == NULL;
	}
}

/* List the side keys of a layout. */
static void
list_places(SideKeyList *list, BfRemote *candidate, Places *places)
{
	const BfLayout *layout = candidate->layout;

	memset(places, 0, sizeof(*places));
	for (int role = 0; role < BF_HASHES; role++)
	{
		const BfHashShape *shape = layout->hash[role];

		if (shape == NULL)
			continue;
		places->hash[role] = add_side_key(list, candidate->hash[role].key,
										  shape->fields, bf_hash_fields(shape));
		if (places->hash[role] == NULL)
			candidate->hash[role].key = NULL;
	}
	if (candidate->cursor_key != NULL)
		places->cursor = add_side_key(list, candidate->cursor_key, NULL, 0);
	for (int i = 0; i < BF_FOUND_LAYERS && layout->layer_suffix != NULL; i++)
		places->layer[i] = add_side_key(list, bf_remote_layer_key(candidate, i),
										NULL, 0);
	list_strings(list, layout, places);
}

/* Collect what was found there; what was not read counts as missing. */
static void
find_places(const Places *places, BfFound *found)
{
	static char *nothing[BF_MAX_FIELDS];

	for (int role = 0; role < BF_HASHES; role++)
	{
		SideKey	   *hash = places->hash[role];

		found->values[role] = hash ? hash->values : nothing;
		found->disproved[role] = hash ? hash->disproved : 0;
	}
	found->cursor = places->cursor ? places->cursor->bytes : NULL;
	found->cursor_length = places->cursor ? places->cursor->bytes_length : 0;
	for (int i = 0; i < BF_FOUND_LAYERS; i++)
		found->layer[i] = places->layer[i] ? places->layer[i]->length : 0;
}

/* Append types other than strings, and commands that return their headers. */
static void
append_types(BfUnit *unit)
{
	int			count = 0;

	for (int i = 0; i < bf_layout_count; i++)
		count += bf_layouts[i].native_type != NULL;
	bf_command_number(unit, count);
	for (int i = 0; i < bf_layout_count; i++)
	{
		if (bf_layouts[i].native_type == NULL)
			continue;
		bf_command_text(unit, bf_layouts[i].native_type);
		bf_command_text(unit, bf_layouts[i].native_header);
	}
}

/*
 * Append the fields of a hash that are to be read, and the strings of its
 * witness if they are read with it.
 */
static void
append_wanted_fields(BfUnit *unit, const SideKey *side, bool apart)
{
	int			strings = 0;

	bf_command_number(unit, side->count);
	for (int i = 0; i < side->count; i++)
		bf_command_text(unit, side->fields[i]);
	if (side->count == 0)
		return;
	while (!apart && strings < BF_FOUND_LAYERS && side->strings[strings] > 0)
		strings++;
	bf_command_number(unit, side->witness);
	bf_command_number(unit, strings);
	for (int i = 0; i < strings; i++)
		bf_command_number(unit, side->strings[i]);
}

/* Make the unit that describes a key: lua/describe.lua. */
static BfUnit *
make_description_unit(const char *key, const SideKeyList *list)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_DESCRIBE);
	bf_command_text(unit, key);
	for (int i = 0; i < list->count; i++)
		bf_command_text(unit, list->side[i].key);
	bf_script_arguments(unit);
	append_types(unit);
	for (int i = 0; i < list->count; i++)
		append_wanted_fields(unit, &list->side[i], list->apart);
	return unit;
}

/* Copy the bytes of a reply, and add a zero. */
static char *
reply_text(BfConnection *connection, const BfReply *reply)
{
	const char *bytes = bf_reply_string(connection, reply)->str;

	return memcpy(palloc0(reply->len + 1), bytes, reply->len);
}

/* Read what was found at a side key, if it exists. */
static void
read_side_key(BfConnection *connection, const BfReply *reply, SideKey *side)
{
	BfReply **element;

	if (reply->type == BF_REPLY_NIL)
		return;
	if (reply->type == BF_REPLY_INTEGER)
	{
		side->foreign = true;
		return;
	}
	if (side->fields == NULL)
	{
		element = bf_reply_array(connection, reply, 2);
		side->length = bf_reply_integer(connection, element[0]);
		side->bytes = reply_text(connection, element[1]);
		side->bytes_length = (int) element[1]->len;
		return;
	}
	element = bf_reply_array(connection, reply, side->count + 1);
	for (int i = 0; i < side->count; i++)
	{
		if (element[i]->type == BF_REPLY_NIL)
			continue;
		side->values[i] = reply_text(connection, element[i]);
		if (strlen(side->values[i]) < element[i]->len)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("field \"%s\" of hash \"%s\" in Redis contains a zero byte",
							side->fields[i], side->key),
					 errhint("This hash does not describe a filter; delete it with DEL in Redis.")));
	}
	side->disproved =
		(uint32) bf_reply_integer(connection, element[side->count]);
}

/*
 * Evaluate the hash of a sharded filter.  While shards are awaited, there is a
 * description but no filter yet.
 */
static void
read_shards(char **values, BfRemote *remote)
{
	char	   *key = bf_suffixed_key(remote->key, BF_SHARDS_SUFFIX);
	bool		whole = values[SPREAD_SHARDS] != NULL;
	const char *number = whole ? values[SPREAD_SHARDS] :
		values[SPREAD_AWAITED] ? values[SPREAD_AWAITED] :
		values[SPREAD_CREATING];
	const BfLayout *layout;
	uint64		shards;

	if (values[SPREAD_LAYOUT] == NULL && !whole)
		return;
	layout = values[SPREAD_LAYOUT] ?
		bf_layout_by_name(values[SPREAD_LAYOUT]) : NULL;
	if (layout == NULL ||
		!bf_read_number(number, 1, BF_MAX_SHARDS, &shards))
		bf_remote_malformed(key, "unknown layout, or invalid number of shards");
	remote->layout = whole ? layout : NULL;
	remote->orphan = whole ? NULL : layout;
	remote->plan.strategy = values[SPREAD_STRATEGY] ?
		bf_strategy_by_name(values[SPREAD_STRATEGY]) : NULL;
	remote->shards = (int) shards;
	memcpy(remote->hash[BF_CONFIG].values, values,
		   sizeof(char *) * lengthof(shards_fields));
	remote->hash[BF_CONFIG].key = key;
}

/* Whether a filter does not match the witness in its note. */
static bool
is_disproved(const BfRemote *remote, const BfFound *found)
{
	const BfDriver *driver = remote->layout->driver;

	return driver->disproves == NULL ? found->disproved[BF_NOTE] > 0 :
		driver->disproves(remote, bf_layout_witness(found->values[BF_NOTE]));
}

/*
 * Use what a note records if it is about a filter of this shape and, if the
 * string describes itself, about this string.
 */
static void
read_note(BfRemote *remote, const BfFound *found)
{
	BfRemoteHash *note = &remote->hash[BF_NOTE];
	BfHeader   *header = &remote->plan.header;
	const BfHashShape *shape = remote->layout->hash[BF_NOTE];
	BfPlan		plan = {0};
	BfError		error;

	if (shape == NULL)
		return;
	memcpy(note->values, found->values[BF_NOTE], sizeof(note->values));
	note->there = bf_layout_owns(remote->layout, BF_NOTE, note->values) &&
		shape->read(note->values, &plan, &error) &&
		plan.strategy == remote->plan.strategy &&
		plan.first.bits == remote->plan.first.bits &&
		plan.first.hashes == remote->plan.first.hashes &&
		(bf_layout_head(remote->layout) == 0 || !is_disproved(remote, found));
	if (!note->there)
		return;
	header->funnel = plan.header.funnel;
	header->meaning = plan.header.meaning;
	if (header->fpp == 0)
	{
		header->expected = plan.header.expected;
		header->fpp = plan.header.fpp;
	}
}

/* Whether a filter whose bits cannot be read is not the one of its note. */
static bool
is_unlike_note(const BfRemote *remote, const BfFound *found)
{
	return remote->layout->driver->disproves != NULL &&
		!remote->hash[BF_NOTE].there &&
		bf_layout_owns(remote->layout, BF_NOTE, found->values[BF_NOTE]);
}

/*
 * Whether there is a filter of the candidate's layout, with or without a note.
 * Any bytes may look like a stream: if another filter is described, they are a
 * stream only if a note says so.  A string that is missing or different was
 * lost, if the note records that it existed.
 */
static bool
is_filter(BfRemote *candidate, const BfFound *found)
{
	const BfRemoteHash *note = &candidate->hash[BF_NOTE];

	if (!candidate->layout->driver->recognize(candidate, found))
		return false;
	read_note(candidate, found);
	if (is_unlike_note(candidate, found) ||
		(note->there &&
		 (is_disproved(candidate, found) ||
		  (found->at.length == 0 && bf_layout_is_filled(note->values)))))
	{
		candidate->orphan = candidate->layout;
		candidate->lost = bf_remote_layer_key(candidate, 0);
		return false;
	}
	return bf_layout_head(candidate->layout) == 0 || found->alone ||
		note->there;
}

/*
 * Whether a hash still describes a filter that is gone, and would stay next to
 * the wanted one: it is in another layout, or does not list shards.
 */
bool
bf_remote_is_left_over(const BfRemote *found, const BfRemote *wanted)
{
	return found->layout == NULL && found->orphan != NULL &&
		(found->orphan != wanted->layout || wanted->shards > 0) &&
		found->hash[BF_CONFIG].there;
}

/*
 * The layout in which a key is described as a filter, if any.  A describing
 * hash counts even if the filter's string is gone, but not if its first layer
 * is.
 */
static const BfLayout *
described_layout(const BfRemote *remote)
{
	if (remote->layout != NULL)
		return remote->layout;
	return remote->hash[BF_CONFIG].there &&
		remote->orphan->layer_suffix == NULL ? remote->orphan : NULL;
}

/* Read the witness in the filter's hash, if that is about this filter. */
static void
read_witness(BfRemote *remote)
{
	BfRemoteHash *hash =
		&remote->hash[bf_layout_kind_role(remote->layout)];
	const char *text = hash->there ? bf_layout_witness(hash->values) : NULL;
	int			layers = Max(remote->plan.header.layers, 1);
	int			count;

	if (text == NULL)
		return;
	remote->witness = palloc(sizeof(BfWitness) * layers);
	count = bf_witness_read(text, remote->witness, layers);
	if (count >= 0)
	{
		remote->witnesses = count;
		return;
	}
	/* The witness cannot be read, so nothing is known about the strings. */
	if (remote->layout->hash[BF_CONFIG] == NULL)
	{
		hash->there = false;
		return;
	}
	remote->lost = hash->key;
	remote->orphan = remote->layout;
	remote->layout = NULL;
}

/* Let the driver of a layout decide whether what was found is a filter. */
static void
try_layout(BfRemote *remote, BfRemote *candidate, const BfFound *found)
{
	const BfLayout *layout = candidate->layout;
	const BfLayout *other = described_layout(remote);

	if (!is_filter(candidate, found))
	{
		if (layout->hash[BF_NOTE] != NULL &&
			bf_layout_owns(layout, BF_NOTE, found->values[BF_NOTE]))
		{
			candidate->orphan = layout;
			candidate->lost = bf_remote_layer_key(candidate, 0);
		}
		candidate->layout = NULL;
		for (int role = 0; role < BF_HASHES; role++)
			memcpy(candidate->hash[role].values, found->values[role],
				   sizeof(candidate->hash[role].values));
	}
	if (other != NULL && other != layout && described_layout(candidate) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" is described as a filter in both layout \"%s\" and layout \"%s\"",
						remote->key, other->name, layout->name),
				 errhint("Delete the keys of the obsolete filter.")));
	if (remote->layout == NULL && remote->shards == 0 &&
		(candidate->layout != NULL || candidate->orphan != NULL))
		*remote = *candidate;
}

/* Read the reply; what is read stays valid after the reply is freed. */
static void
read_description(BfConnection *connection, const BfReply *reply,
				 SideKeyList *list, BfFoundString *at)
{
	BfReply **element = bf_reply_array(connection, reply,
										  FIRST_SIDE_KEY + list->count);

	at->type = reply_text(connection, element[0]);
	at->head = (const uint8 *) reply_text(connection, element[1]);
	at->head_length = element[1]->len;
	at->length = bf_reply_integer(connection, element[2]);
	for (int i = 0; i < list->count; i++)
		read_side_key(connection, element[FIRST_SIDE_KEY + i], &list->side[i]);
}

/* Describe all keys by one command, or one key at a time. */
static void
read_keys(Oid server, const char *key, SideKeyList *list,
		  BfFoundString *at)
{
	BfUnit	   *unit = make_description_unit(key, list);
	BfConnection *connection;
	const BfReply *reply;

	unit->divides = list->count > 1;
	reply = bf_ask(server, key, unit, 0, &connection);
	if (reply != NULL)
		read_description(connection, reply, list, at);
	bf_connection_done(connection);
	bf_unit_free(unit);
	if (reply != NULL)
		return;
	for (int i = 0; i < list->count; i++)
	{
		SideKeyList	one = {.side = &list->side[i],.count = 1,.apart = true};

		read_keys(server, one.side->key, &one, at);
	}
	read_keys(server, key, &(SideKeyList) {0}, at);
}

/* The keys that are for hashes and hold something else. */
static List *
foreign_keys(const SideKeyList *list)
{
	List	   *keys = NIL;

	for (int i = 0; i < list->count; i++)
	{
		if (list->side[i].foreign)
			keys = lappend(keys, list->side[i].key);
	}
	return keys;
}

/*
 * Find out which filter is at a key, if any (layout is NULL if there is none).
 * The result is in the current memory context.  The first row is tried last,
 * as a string is taken for a stream only if no other filter is described
 * there, or if a note says that it is one.
 */
void
bf_remote_describe(Oid server, const char *key, BfRemote *remote)
{
	BfConnection *connection = bf_cluster_route(server, key);
	BfRemote   *candidates = palloc(sizeof(BfRemote) * bf_layout_count);
	Places	   *places = palloc(sizeof(Places) * bf_layout_count);
	SideKeyList	list = {
		.side = palloc(sizeof(SideKey) *
					   (2 + SIDE_KEYS_A_LAYOUT * bf_layout_count)),
		.slot = bf_cluster_slot(key),
		.cluster = connection->cluster
	};
	char	   *twin = twin_key(key);
	SideKey	   *shards;
	SideKey	   *at_twin;
	BfFound		found;
	int64		at_layer = 0;

	*remote = bf_remote_at(server, key, NULL);
	shards = add_side_key(&list, bf_suffixed_key(key, BF_SHARDS_SUFFIX),
						  shards_fields, lengthof(shards_fields));
	at_twin = twin ? add_side_key(&list, twin, NULL, 0) : NULL;
	for (int i = 0; i < bf_layout_count; i++)
	{
		candidates[i] = bf_remote_at(server, remote->key, &bf_layouts[i]);
		list_places(&list, &candidates[i], &places[i]);
	}
	read_keys(server, key, &list, &found.at);
	if (shards != NULL)
		read_shards(shards->values, remote);
	for (int i = bf_layout_count - 1; i >= 0; i--)
	{
		find_places(&places[i], &found);
		found.alone = remote->layout == NULL && !remote->hash[BF_CONFIG].there;
		try_layout(remote, &candidates[i], &found);
		if (places[i].layer[0] != NULL)
			at_layer = places[i].layer[0]->length;
	}
	if (remote->layout != NULL && remote->shards == 0)
		read_witness(remote);
	remote->at_key = strcmp(found.at.type, "none") == 0 ? 0 :
		strcmp(found.at.type, "string") == 0 ? (int64) found.at.length : -1;
	remote->at_layer = at_layer;
	remote->twin = at_twin && at_twin->length != 0 ? twin : NULL;
	remote->foreign = foreign_keys(&list);
	pfree(list.side);
	pfree(places);
	pfree(candidates);
}

/* Fill in what only a command for the filter's type returns. */
void
bf_remote_describe_fully(BfRemote *remote)
{
	if (remote->layout->driver->describe != NULL)
		remote->layout->driver->describe(remote);
}

/* Plan the filter that is to be at a key, with what describes it. */
void
bf_remote_plan(Oid server, const char *key, const BfLayout *layout,
			   const BfPlan *plan, BfRemote *remote)
{
	bf_layout_check(layout, plan);
	*remote = bf_remote_at(server, key, layout);
	remote->plan = *plan;
	bf_layout_write(layout, plan, remote->head, remote->hash);
}
