/*
 * remote.c
 *	  Find out which filter is at a key of a Redis server; and name its keys.
 *
 * One script reads, at one moment, all that may describe a filter: the type,
 * length and first bytes of the key, and the hashes and strings that the
 * layouts have next to it.  The driver of each layout decides whether that is
 * a filter of the layout.  Two descriptions are an error, as only one of them
 * can be true.
 *
 * In a cluster, a node that is handing over a slot executes no command about
 * several keys of it if one of them does not exist, as is the case for most of
 * these.  Then the keys are read one at a time.  Such a description was true
 * of each key, but not at one moment; the commands that follow compare it,
 * together with the bits, at one.
 *
 * Everything read is checked like untrusted input before anything is derived
 * from it.  The description of a single filter has all of its layers, unless
 * its server keeps them; that of a sharded filter has none.
 *
 * Of a filter that is described, every key must exist: a key that does not was
 * lost, and its part of an answer cannot be given.  Only a note may be
 * missing, unless it is that of a mirrored shard; and a note about another
 * shape than what is there is ignored.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/scripts.h"
#include "type/shard.h"
#include "type/value.h"

/* Elements of the description before those of the keys beside. */
#define FIRST_BESIDE	3

/* Keys beside a layout has at most: hashes, cursor, and two layers. */
#define BESIDE_A_LAYOUT		(BF_HASHES + 3)

/* A key beside the filter's own, and what is there. */
typedef struct Beside
{
	char	   *key;
	const char *const *fields;	/* of a hash; NULL: a string */
	int			count;			/* of the fields */
	char	   *values[BF_MAX_FIELDS];	/* of these, or NULLs */
	int			witness;		/* which of these is one, from 1 on; 0: none, */
	int			strings[BF_FOUND_LAYERS];	/* and of the strings of which keys */
	uint32		disproved;		/* which of these it disproves, from 1 on; 0: none */
	int64		length;			/* of the string; 0: it is not there */
	char	   *bytes;			/* its first ones, or NULL */
} Beside;

typedef struct BesideList
{
	Beside	   *beside;
	int			count;
	bool		apart;			/* each is read at a moment of its own */
	unsigned	slot;			/* in a cluster, only of keys of this one */
	bool		cluster;
} BesideList;

/* The fields of the hash that says how many shards a filter has. */
enum
{
	SPREAD_LAYOUT,
	SPREAD_SHARDS,
	SPREAD_ID = BF_SPREAD_ID,
	SPREAD_STRATEGY,			/* since shards say whose they are */
	SPREAD_AWAITED = BF_SPREAD_AWAITED, /* shards, while not all are mirrored */
	SPREAD_CREATING				/* shards, while not all empty ones are made */
};

static const char *const shards_fields[] = {
	"layout", "shards", "id", "strategy", "awaited", "creating"
};

/* ---- Describe ---- */

/*
 * The key of a name in the list of those that are read; NULL where it cannot be
 * read with the others, in the same slot of a cluster.
 */
static Beside *
look_beside(BesideList *list, char *key, const char *const *fields, int count)
{
	Beside	   *beside = list->beside;

	Assert(key != NULL);
	if (list->cluster && bf_cluster_slot(key) != list->slot)
		return NULL;
	for (; beside < list->beside + list->count; beside++)
	{
		if (beside->fields == fields && strcmp(beside->key, key) == 0)
			return beside;
	}
	list->count++;
	*beside = (Beside) {.key = key,.fields = fields,.count = count};
	return beside;
}

/*
 * The key whose hashes have the same names as ours, "x" for "{x}" and "{x}" for
 * "x"; NULL: there is none.
 */
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

/* What is to be found of a layout's filter; keys that are not read are forgotten. */
typedef struct Places
{
	Beside	   *hash[BF_HASHES];
	Beside	   *cursor;
	Beside	   *layer[BF_FOUND_LAYERS];
} Places;

/*
 * List the strings that a witness in a layout's hash is about, by the numbers of their
 * keys, the filter's own being the first.
 */
static void
list_strings(const BesideList *list, const BfLayout *layout,
			 const Places *places)
{
	BfHashRole	role = bf_layout_kind_role(layout);
	Beside	   *hash = places->hash[role];

	if (hash == NULL)
		return;
	hash->witness = bf_layout_witness_field(layout->hash[role]);
	for (int i = 0; i < BF_FOUND_LAYERS; i++)
	{
		if (places->layer[i] != NULL)
			hash->strings[i] = (int) (places->layer[i] - list->beside) + 2;
		else
			hash->strings[i] = i == 0 && layout->layer_suffix == NULL;
	}
}

/* List the keys that a layout has beside the filter's own. */
static void
list_places(BesideList *list, BfRemote *candidate, Places *places)
{
	const BfLayout *layout = candidate->layout;

	memset(places, 0, sizeof(*places));
	for (int role = 0; role < BF_HASHES; role++)
	{
		const BfHashShape *shape = layout->hash[role];

		if (shape == NULL)
			continue;
		places->hash[role] = look_beside(list, candidate->hash[role].key,
										 shape->fields, bf_hash_fields(shape));
		if (places->hash[role] == NULL)
			candidate->hash[role].key = NULL;
	}
	if (candidate->cursor_key != NULL)
		places->cursor = look_beside(list, candidate->cursor_key, NULL, 0);
	for (int i = 0; i < BF_FOUND_LAYERS && layout->layer_suffix != NULL; i++)
		places->layer[i] = look_beside(list, bf_remote_layer_key(candidate, i),
									   NULL, 0);
	list_strings(list, layout, places);
}

/* Take what was found there; nothing is where it was not looked. */
static void
find_places(const Places *places, BfFound *found)
{
	static char *nothing[BF_MAX_FIELDS];

	for (int role = 0; role < BF_HASHES; role++)
	{
		Beside	   *hash = places->hash[role];

		found->values[role] = hash ? hash->values : nothing;
		found->disproved[role] = hash ? hash->disproved : 0;
	}
	found->cursor = places->cursor ? places->cursor->bytes : NULL;
	for (int i = 0; i < BF_FOUND_LAYERS; i++)
		found->layer[i] = places->layer[i] ? places->layer[i]->length : 0;
}

/* Append the types that are not strings, and what gives their headers. */
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
 * Append which fields of a hash are to be read, and what its witness is about, if the
 * strings are read with it.
 */
static void
append_wanted_fields(BfUnit *unit, const Beside *beside, bool apart)
{
	int			strings = 0;

	bf_command_number(unit, beside->count);
	for (int i = 0; i < beside->count; i++)
		bf_command_text(unit, beside->fields[i]);
	if (beside->count == 0)
		return;
	while (!apart && strings < BF_FOUND_LAYERS && beside->strings[strings] > 0)
		strings++;
	bf_command_number(unit, beside->witness);
	bf_command_number(unit, strings);
	for (int i = 0; i < strings; i++)
		bf_command_number(unit, beside->strings[i]);
}

/* Ask what there is: lua/describe.lua. */
static BfUnit *
make_question(const char *key, const BesideList *list)
{
	BfUnit	   *unit = bf_unit_make();

	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_DESCRIBE);
	bf_command_text(unit, key);
	for (int i = 0; i < list->count; i++)
		bf_command_text(unit, list->beside[i].key);
	bf_script_arguments(unit);
	append_types(unit);
	for (int i = 0; i < list->count; i++)
		append_wanted_fields(unit, &list->beside[i], list->apart);
	return unit;
}

/* The bytes that a reply is, in our memory, and a zero. */
static char *
reply_text(BfConnection *connection, const BfReply *reply)
{
	const char *bytes = bf_reply_string(connection, reply)->str;

	return memcpy(palloc0(reply->len + 1), bytes, reply->len);
}

/* Read what was found at a key beside, if it is there. */
static void
read_beside(BfConnection *connection, const BfReply *reply, Beside *beside)
{
	BfReply **element;

	if (reply->type == BF_REPLY_NIL)
		return;
	if (beside->fields == NULL)
	{
		element = bf_reply_array(connection, reply, 2);
		beside->length = bf_reply_integer(connection, element[0]);
		beside->bytes = reply_text(connection, element[1]);
		return;
	}
	element = bf_reply_array(connection, reply, beside->count + 1);
	for (int i = 0; i < beside->count; i++)
	{
		if (element[i]->type == BF_REPLY_NIL)
			continue;
		beside->values[i] = reply_text(connection, element[i]);
		if (strlen(beside->values[i]) < element[i]->len)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
					 errmsg("field \"%s\" of hash \"%s\" in Redis contains a zero byte",
							beside->fields[i], beside->key),
					 errhint("This hash does not describe a filter; delete it with DEL in Redis.")));
	}
	beside->disproved =
		(uint32) bf_reply_integer(connection, element[beside->count]);
}

/*
 * Take the hash of a sharded filter for what it says.  While shards are awaited,
 * there is no filter yet, but what describes one.
 */
static void
read_shards(BfConnection *connection, char **values, BfRemote *remote)
{
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
		bf_connection_protocol_error(connection,
									 "The hash that describes the shards of a filter is invalid.");
	remote->layout = whole ? layout : NULL;
	remote->orphan = whole ? NULL : layout;
	remote->plan.strategy = values[SPREAD_STRATEGY] ?
		bf_strategy_by_name(values[SPREAD_STRATEGY]) : NULL;
	remote->shards = (int) shards;
	memcpy(remote->hash[BF_CONFIG].values, values,
		   sizeof(char *) * lengthof(shards_fields));
	remote->hash[BF_CONFIG].key = bf_suffixed_key(remote->key,
												  BF_SHARDS_SUFFIX);
}

/*
 * Take what the hash that describes filters says for the plan of one; false
 * where there is none.
 */
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
		bf_raise(&error);
	return true;
}

/* Whether a filter is not what its note, if it has one, has a witness of. */
static bool
is_disproved(const BfRemote *remote, const BfFound *found)
{
	const BfDriver *driver = remote->layout->driver;

	return driver->disproves == NULL ? found->disproved[BF_NOTE] > 0 :
		driver->disproves(remote, bf_layout_witness(found->values[BF_NOTE]));
}

/*
 * Take what a note says of a filter, if it is about a filter of this shape; and, of a
 * string that says itself what it is, about this one.
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

/* Whether a filter whose bits nobody sees is not the one that its note is about. */
static bool
is_unlike_note(const BfRemote *remote, const BfFound *found)
{
	return remote->layout->driver->disproves != NULL &&
		!remote->hash[BF_NOTE].there &&
		bf_layout_owns(remote->layout, BF_NOTE, found->values[BF_NOTE]);
}

/*
 * Whether there is a filter of the candidate's layout, with a note or without.
 * Any bytes may look like a stream: where something else is described, they are
 * one only if a note says so.  And a string that is not there, or is another, was
 * lost, if the note says that it was there.
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
 * Whether a hash still describes a filter that has gone, and would go on to do so
 * beside the wanted one: it is in another layout, or not spread over shards.
 */
bool
bf_remote_is_left_over(const BfRemote *found, const BfRemote *wanted)
{
	return found->layout == NULL && found->orphan != NULL &&
		(found->orphan != wanted->layout || wanted->shards > 0) &&
		found->hash[BF_CONFIG].there;
}

/*
 * The layout that a key is described as a filter in, if any.  The hash that
 * describes it does so even where its string is gone, but not where a filter's
 * first layer is.
 */
static const BfLayout *
described_layout(const BfRemote *remote)
{
	if (remote->layout != NULL)
		return remote->layout;
	return remote->hash[BF_CONFIG].there &&
		remote->orphan->layer_suffix == NULL ? remote->orphan : NULL;
}

/* Take what its hash says that its strings have, if it is about these. */
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
	/* Nobody knows what it says of the strings. */
	if (remote->layout->hash[BF_CONFIG] == NULL)
	{
		hash->there = false;
		return;
	}
	remote->lost = hash->key;
	remote->orphan = remote->layout;
	remote->layout = NULL;
}

/* Take what a layout's driver makes of what was found, if it is a filter. */
static void
try_layout(BfRemote *remote, BfRemote *candidate, const BfFound *found)
{
	const BfLayout *layout = candidate->layout;
	const BfLayout *other = described_layout(remote);

	if (!is_filter(candidate, found))
	{
		if (layout->hash[BF_NOTE] != NULL &&
			bf_layout_owns(layout, BF_NOTE, found->values[BF_NOTE]))
			candidate->orphan = layout;
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

/* Read the reply to the question; what is read stays after it is freed. */
static void
read_answer(BfConnection *connection, const BfReply *reply,
			BesideList *list, BfFoundString *at)
{
	BfReply **element = bf_reply_array(connection, reply,
										  FIRST_BESIDE + list->count);

	/* Not the one that was asked first, where that has redirected us. */
	at->connection = connection;
	at->type = reply_text(connection, element[0]);
	at->head = (const uint8 *) reply_text(connection, element[1]);
	at->head_length = element[1]->len;
	at->length = bf_reply_integer(connection, element[2]);
	for (int i = 0; i < list->count; i++)
		read_beside(connection, element[FIRST_BESIDE + i], &list->beside[i]);
}

/* Ask for all that in one command, or for a key at a time. */
static void
ask_what_is_there(Oid server, const char *key, BesideList *list,
				  BfFoundString *at)
{
	BfUnit	   *unit = make_question(key, list);
	BfConnection *connection;
	const BfReply *reply;

	unit->divides = list->count > 1;
	reply = bf_ask(server, key, unit, 0, &connection);
	if (reply != NULL)
		read_answer(connection, reply, list, at);
	bf_connection_done(connection);
	bf_unit_free(unit);
	if (reply != NULL)
		return;
	for (int i = 0; i < list->count; i++)
	{
		BesideList	one = {.beside = &list->beside[i],.count = 1,.apart = true};

		ask_what_is_there(server, one.beside->key, &one, at);
	}
	ask_what_is_there(server, key, &(BesideList) {0}, at);
}

/*
 * Find out what filter is at a key, if any (layout is NULL where there is
 * none).  What is returned is in the current memory context.  The first row is
 * tried last: a stream is taken for one only where nothing says otherwise, or a
 * note that it is one.
 */
void
bf_remote_describe(Oid server, const char *key, BfRemote *remote)
{
	BfConnection *connection = bf_cluster_route(server, key);
	BfRemote   *candidates = palloc(sizeof(BfRemote) * bf_layout_count);
	Places	   *places = palloc(sizeof(Places) * bf_layout_count);
	BesideList	list = {
		.beside = palloc(sizeof(Beside) * (2 + BESIDE_A_LAYOUT * bf_layout_count)),
		.slot = bf_cluster_slot(key),
		.cluster = connection->cluster
	};
	char	   *twin = twin_key(key);
	Beside	   *shards;
	Beside	   *at_twin;
	BfFound		found;
	int64		at_layer = 0;

	*remote = bf_remote_at(server, key, NULL);
	shards = look_beside(&list, bf_suffixed_key(key, BF_SHARDS_SUFFIX),
						 shards_fields, lengthof(shards_fields));
	at_twin = twin ? look_beside(&list, twin, NULL, 0) : NULL;
	for (int i = 0; i < bf_layout_count; i++)
	{
		candidates[i] = bf_remote_at(server, remote->key, &bf_layouts[i]);
		list_places(&list, &candidates[i], &places[i]);
	}
	ask_what_is_there(server, key, &list, &found.at);
	if (shards != NULL)
		read_shards(found.at.connection, shards->values, remote);
	for (int i = bf_layout_count - 1; i >= 0; i--)
	{
		find_places(&places[i], &found);
		found.alone = remote->layout == NULL;
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
	pfree(list.beside);
	pfree(places);
	pfree(candidates);
}

/* Fill in what only a command of the filter's kind tells. */
void
bf_remote_describe_fully(BfRemote *remote)
{
	if (remote->layout->driver->describe != NULL)
		remote->layout->driver->describe(remote);
}

/* ---- Plan, put in place and drop ---- */

/* A filter at a key, of which only the layout, or nothing yet (NULL), is known. */
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

/* The filter that is to be at a key: what describes it, is filled in. */
void
bf_remote_plan(Oid server, const char *key, const BfLayout *layout,
			   const BfPlan *plan, BfRemote *remote)
{
	bf_layout_check(layout, plan);
	*remote = bf_remote_at(server, key, layout);
	remote->plan = *plan;
	bf_layout_write(layout, plan, remote->head, remote->hash);
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

/* Raise that a cluster would scatter the keys of a filter. */
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

/* The id of the filter that one, or what is left of one, is a shard of; NULL: none. */
const char *
bf_remote_whole(const BfRemote *remote)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;
	const BfRemoteHash *hash = &remote->hash[bf_layout_kind_role(layout)];

	return hash->there || remote->layout == NULL ?
		bf_layout_whole(hash->values) : NULL;
}

/* Whether a filter's first element decides of what kind all are. */
bool
bf_remote_is_unbound(const BfRemote *remote)
{
	const BfRemoteHash *hash =
		&remote->hash[bf_layout_kind_role(remote->layout)];

	return hash->there && bf_layout_is_unbound(hash->values);
}

/*
 * Whether what its hash says of a filter is about the string that was described: there is
 * no filter without the hash, or it was written with all bits of the string, and has a
 * witness that no other string has by chance.
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

/* What a filter's elements are, as far as that is known or decided. */
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
 * Raise that a filter would share its hash with another key's; one of layers has a
 * name of its own for that, and one that is there has it already.
 */
void
bf_remote_check_twin(const BfRemote *found, const BfLayout *wanted)
{
	if (found->twin == NULL || wanted->layer_suffix != NULL ||
		(found->layout != NULL &&
		 found->hash[bf_layout_kind_role(found->layout)].there))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("keys \"%s\" and \"%s\" cannot both hold a filter",
					found->key, found->twin),
			 errdetail("The hashes that describe them would have the same key."),
			 errhint("Choose another key.")));
}

/* Raise that there is no filter at a key, which is never a "no". */
void
bf_remote_missing(const BfRemote *remote)
{
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
				 errdetail("Not all of its %d shards have been created.",
						   remote->shards),
				 errhint("Create the filter again, or mirror each shard, with layout '%s;shards=%d/0' and so on.",
						 remote->orphan->name, remote->shards)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("there is no filter at key \"%s\" in Redis", remote->key),
			 errdetail("The filter was never created or mirrored, it has expired, or the key holds something else."),
			 errhint("Use bf_mirror or bf_redis_create to create one, or bf_fetch with parameters to read a bit string without a description.")));
}

/* Raise that a filter was another one each time that something was to be done. */
void
bf_remote_keeps_changing(const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("filter at key \"%s\" is being changed concurrently", key)));
}

/* What is known of a layer's string, if only how long it is. */
BfWitness
bf_remote_witness(const BfRemote *remote, uint32 layer)
{
	if (layer < remote->witnesses)
		return remote->witness[layer];
	return (BfWitness) {
		.length = bf_layout_bytes(remote->layout, bf_remote_layer(remote, layer))
	};
}

/* The key of a layer's string. */
char *
bf_remote_layer_key(const BfRemote *remote, uint32 layer)
{
	const BfLayout *layout = remote->layout ? remote->layout : remote->orphan;

	Assert(layout != NULL);
	return layout->layer_suffix == NULL ? pstrdup(remote->key) :
		psprintf("%s%s%u", remote->key, layout->layer_suffix, layer);
}

/* Append the keys of hashes and cursor. */
void
bf_remote_append_beside(BfUnit *unit, const BfRemote *remote)
{
	for (int role = 0; role < BF_HASHES; role++)
	{
		if (remote->hash[role].key != NULL)
			bf_command_text(unit, remote->hash[role].key);
	}
	if (remote->cursor_key != NULL)
		bf_command_text(unit, remote->cursor_key);
}

/* Append the keys of so many layers, and those of hashes and cursor. */
void
bf_remote_append_keys(BfUnit *unit, const BfRemote *remote, uint32 layers)
{
	for (uint32 i = 0; i < layers; i++)
		bf_command_key(unit, bf_remote_layer_key(remote, i));
	bf_remote_append_beside(unit, remote);
}

/* The key of a number, from 1 on, among so many layers' and those beside them. */
char *
bf_remote_key(const BfRemote *remote, uint32 number, uint32 layers)
{
	uint32		beside = number - layers;

	if (number <= layers)
		return bf_remote_layer_key(remote, number - 1);
	for (int role = 0; role < BF_HASHES; role++)
	{
		if (remote->hash[role].key != NULL && --beside == 0)
			return pstrdup(remote->hash[role].key);
	}
	return remote->cursor_key != NULL && beside == 1 ?
		pstrdup(remote->cursor_key) : bf_remote_layer_key(remote, layers);
}

/* Raise that a filter needs a key that is somebody else's, as far as is known. */
void
bf_remote_taken(const BfRemote *remote, const char *key)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key \"%s\" already holds something else", key),
			 errdetail("The filter at key \"%s\" in layout \"%s\" needs this key.",
					   remote->key, remote->layout->name),
			 errhint("Choose another key for the filter, or delete this one with bf_redis_drop, or with DEL in Redis.")));
}

/*
 * Remove all keys that a filter has, or what is left of it, unless it is another one by
 * now; it is not spread over shards.  Returns how many keys there were, or -1 where it
 * is another one.
 */
int
bf_remote_drop(const BfRemote *remote)
{
	BfRemote	what = *remote;
	uint32		strings = Max(remote->plan.header.layers, 1);
	BfUnit	   *unit = bf_unit_make();

	if (what.layout == NULL)
		what.layout = what.orphan;
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
