/*
 * remote.c
 *	  What filter is at a key of a Redis server.
 *
 * One script reads, in one moment, all that may say so: the key's type, length
 * and first bytes, and the hashes and cursor that the layouts have beside it.
 * What says so twice is an error, as only one of the two can be true.
 *
 * Everything read is checked as bytes from anywhere are, before anything is
 * derived from it.  What is described as one filter has all its layers, unless
 * its server has them; what is described as sharded has none, and is no shard.
 */
#include "postgres.h"

#include "strategy/plan.h"
#include "type/value.h"

#include "redis/remote.h"

/*
 * KEYS: the key, then keys beside it.  ARGV: for each of these, how many
 * fields of a hash to read, and their names; 0 for a string.
 */
static const char describe_script[] =
	"local c = redis.call\n"
	"local t = c('TYPE', KEYS[1]).ok\n"
	"local r = {t, '', 0}\n"
	"if t ~= 'none' and t ~= ARGV[1] then\n"
	"  r[2] = c('GETRANGE', KEYS[1], 0, 5)\n"
	"  r[3] = c('STRLEN', KEYS[1])\n"
	"end\n"
	"local a = 2\n"
	"for i = 2, #KEYS do\n"
	"  local n = tonumber(ARGV[a])\n"
	"  local t = c('TYPE', KEYS[i]).ok\n"
	"  r[i + 2] = false\n"
	"  if n == 0 and t == 'string' then\n"
	"    r[i + 2] = c('GETRANGE', KEYS[i], 0, 19)\n"
	"  elseif n > 0 and t == 'hash' then\n"
	"    r[i + 2] = c('HMGET', KEYS[i], unpack(ARGV, a + 1, a + n))\n"
	"  end\n"
	"  a = a + n + 1\n"
	"end\n"
	"return r\n";

/* Elements of the reply before those of the keys beside. */
#define FIRST_BESIDE	3

#define MAX_BESIDE		16

/* What a key beside the filter's own is. */
typedef enum BesideKind
{
	BESIDE_SHARDS,				/* the hash that says how many shards */
	BESIDE_CONFIG,				/* the hash of a layout */
	BESIDE_CURSOR,
	BESIDE_LAYER				/* the first layer, where it is not KEY */
} BesideKind;

typedef struct Beside
{
	BesideKind	kind;
	const BfLayout *layout;
	char	   *key;
} Beside;

static const char *const shards_fields[] = {"layout", "shards"};

static int
beside_fields(const Beside *beside)
{
	switch (beside->kind)
	{
		case BESIDE_SHARDS:
			return lengthof(shards_fields);
		case BESIDE_CONFIG:
			return bf_layout_fields(beside->layout);
		default:
			return 0;
	}
}

static const char *
beside_field(const Beside *beside, int field)
{
	return beside->kind == BESIDE_CONFIG ?
		beside->layout->fields[field].name : shards_fields[field];
}

/*
 * List the keys beside a filter's own that can be read with it: on a cluster,
 * those of the same slot.
 */
static int
list_beside(const char *key, bool cluster, Beside *beside)
{
	Beside		all[MAX_BESIDE];
	int			candidates = 0;
	int			count = 0;

	all[candidates++] = (Beside) {BESIDE_SHARDS, NULL, bf_shards_key(key)};
	for (int i = 0; bf_layout_at(i) != NULL; i++)
	{
		const BfLayout *layout = bf_layout_at(i);

		if (layout->config_key != NULL)
			all[candidates++] = (Beside) {BESIDE_CONFIG, layout,
			layout->config_key(key)};
		if (layout->cursor_key == NULL)
			continue;
		all[candidates++] = (Beside) {BESIDE_CURSOR, layout,
		layout->cursor_key(key)};
		all[candidates++] = (Beside) {BESIDE_LAYER, layout,
		layout->layer_key(key, 0)};
	}
	for (int i = 0; i < candidates; i++)
	{
		if (!cluster || bf_cluster_slot(all[i].key) == bf_cluster_slot(key))
			beside[count++] = all[i];
	}
	return count;
}

static void
write_describe(BfUnit *unit, const char *key, const Beside *beside,
			   int count)
{
	bf_script_begin(unit, describe_script);
	bf_command_text(unit, key);
	for (int i = 0; i < count; i++)
		bf_command_text(unit, beside[i].key);
	bf_script_arguments(unit);
	bf_command_text(unit, bf_layout_redisbloom.native_type);
	for (int i = 0; i < count; i++)
	{
		int			fields = beside_fields(&beside[i]);

		bf_command_number(unit, fields);
		for (int j = 0; j < fields; j++)
			bf_command_text(unit, beside_field(&beside[i], j));
	}
}

/* The fields of the hash that describes a filter, if one does. */
int
bf_remote_fields(const BfRemote *remote)
{
	return remote->configured ? bf_layout_fields(remote->layout) : 0;
}

/* Append all of them, each with its value, as arguments. */
void
bf_remote_append_fields(BfUnit *unit, const BfRemote *remote)
{
	for (int i = 0; i < bf_remote_fields(remote); i++)
	{
		bf_command_text(unit, remote->layout->fields[i].name);
		bf_command_text(unit, remote->values[i]);
	}
}

/* Raise that a key holds a filter of two descriptions. */
static void
claim(BfRemote *remote, const BfLayout *layout)
{
	if (remote->layout != NULL && remote->layout != layout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" is described as a filter both in layout \"%s\" and in layout \"%s\"",
						remote->key, remote->layout->name, layout->name),
				 errhint("Delete the keys of the one that is obsolete.")));
	remote->layout = layout;
}

/* Note that what a hash describes is not there. */
static void
abandon(BfRemote *remote)
{
	remote->orphan = remote->layout;
	remote->layout = NULL;
}

/* Read a hash's fields, which may be missing. */
static bool
read_values(BfConnection *connection, const redisReply *reply, int fields,
			char **values)
{
	bool		any = false;
	redisReply **element;

	if (reply->type == REDIS_REPLY_NIL)
		return false;
	element = bf_reply_array(connection, reply, fields);
	for (int i = 0; i < fields; i++)
	{
		values[i] = NULL;
		if (element[i]->type == REDIS_REPLY_NIL)
			continue;
		(void) bf_reply_string(connection, element[i]);
		values[i] = pnstrdup(element[i]->str, element[i]->len);
		any = true;
	}
	return any;
}

/* Whether the hash of a layout is there and is that layout's. */
static bool
is_described(const BfLayout *layout, char **values)
{
	int			fields = bf_layout_fields(layout);

	if (fields > BF_OWN_LAYOUT &&
		strcmp(layout->fields[BF_OWN_LAYOUT].name, "layout") == 0)
		return values[BF_OWN_LAYOUT] != NULL &&
			strcmp(values[BF_OWN_LAYOUT], layout->name) == 0;
	/* Anything else may have a hash of that name: its fields tell. */
	return values[0] != NULL && values[1] != NULL;
}

/* Take a layout's hash for what it says, if it is one. */
static void
read_config(BfConnection *connection, const redisReply *reply,
			const BfLayout *layout, BfRemote *remote)
{
	char	   *values[BF_MAX_FIELDS];
	BfHeader	header = {.layers = 1, .cell_bits = BF_CELL_BIT};
	BfLayer		layer;
	BfError		error;

	if (!read_values(connection, reply, bf_layout_fields(layout), values) ||
		!is_described(layout, values))
		return;
	claim(remote, layout);
	if (!layout->read_config(values, &header, &layer, &error))
		bf_raise(&error);
	remote->configured = true;
	remote->header = header;
	remote->layers = palloc(sizeof(BfLayer));
	remote->layers[0] = layer;
	memcpy(remote->values, values, sizeof(values));
}

/* Take the hash of a sharded filter for what it says. */
static void
read_shards(BfConnection *connection, const redisReply *reply,
			BfRemote *remote)
{
	char	   *values[lengthof(shards_fields)];
	uint64		shards;
	const BfLayout *layout;

	if (!read_values(connection, reply, lengthof(shards_fields), values))
		return;
	layout = values[0] ? bf_layout_by_name(values[0]) : NULL;
	if (layout == NULL || !bf_read_number(values[1], &shards) ||
		shards < 1 || shards > BF_MAX_SHARDS)
		bf_connection_protocol_error(connection,
									 "A filter's shards are not described as they should be.");
	claim(remote, layout);
	remote->shards = (int) shards;
}

/* Derive all layers of a filter that grows from the first and the cursor. */
static void
read_cursor(BfConnection *connection, const redisReply *reply,
			BfRemote *remote)
{
	BfPlan		plan = {
		.strategy = bf_strategy_by_id(remote->header.strategy),
		.header = remote->header
	};
	uint64		newest = 0;
	BfLayer    *layers;
	BfError		error;

	if (reply->type != REDIS_REPLY_NIL &&
		(!bf_read_number(bf_reply_string(connection, reply)->str, &newest) ||
		 newest >= BF_MAX_LAYERS))
		bf_connection_protocol_error(connection,
									 "The cursor of a growing filter is no number of a layer.");
	layers = palloc(sizeof(BfLayer) * (newest + 1));
	layers[0] = remote->layers[0];
	for (uint32 i = 1; i <= newest; i++)
	{
		if (!bf_plan_next_layer(&plan, &layers[i - 1], &layers[i], &error))
			bf_raise(&error);
	}
	remote->layers = layers;
	remote->header.layers = newest + 1;
}

/*
 * Take the first bytes of a string for the head of Guava's stream, if its
 * length agrees.  A hash beside it counts if it is about the same shape.
 */
static void
read_head(const redisReply *head, uint64 length, BfRemote *remote)
{
	BfPlan		plan;
	BfError		error;

	if (head->len != bf_layout_guava.head ||
		!bf_guava.stream->inspect((uint8 *) head->str, length, &plan,
								  &error))
	{
		if (remote->layout == &bf_layout_guava && remote->shards == 0)
			abandon(remote);
		return;
	}
	claim(remote, &bf_layout_guava);
	memcpy(remote->head, head->str, head->len);
	if (remote->configured &&
		remote->header.strategy == plan.header.strategy &&
		remote->layers[0].bits == plan.first.bits &&
		remote->layers[0].hashes == plan.first.hashes)
		return;
	remote->configured = false;
	remote->header = plan.header;
	remote->layers = palloc(sizeof(BfLayer));
	*remote->layers = plan.first;
}

/* Make sense of what the script found. */
static void
read_description(BfConnection *connection, redisReply **element,
				 const Beside *beside, int count, BfRemote *remote)
{
	const redisReply *type = bf_reply_string(connection, element[0]);
	const redisReply *head = bf_reply_string(connection, element[1]);
	uint64		length = bf_reply_integer(connection, element[2]);

	for (int i = 0; i < count; i++)
	{
		const redisReply *found = element[FIRST_BESIDE + i];

		if (beside[i].kind == BESIDE_SHARDS)
			read_shards(connection, found, remote);
		else if (beside[i].kind == BESIDE_CONFIG)
			read_config(connection, found, beside[i].layout, remote);
		else if (remote->layout != beside[i].layout || remote->shards > 0)
			continue;
		else if (beside[i].kind == BESIDE_CURSOR)
			read_cursor(connection, found, remote);
		else if (found->type == REDIS_REPLY_NIL)
			abandon(remote);
	}
	if (strcmp(type->str, bf_layout_redisbloom.native_type) == 0)
	{
		claim(remote, &bf_layout_redisbloom);
		remote->header.strategy = bf_redisbloom.id;
	}
	else if (remote->layout == NULL || remote->layout == &bf_layout_guava)
		read_head(head, length, remote);
	else if (remote->layout == &bf_layout_bitmap && remote->shards == 0 &&
			 length == 0)
		abandon(remote);

	remote->occupied = remote->layout == NULL && length > 0;
}

/*
 * Find out what filter is at a key, if any (layout is NULL where there is
 * none).  What is returned is in the current memory context.
 */
void
bf_remote_describe(Oid server, const char *key, BfRemote *remote)
{
	BfConnection *connection = bf_cluster_route(server, key);
	Beside		beside[MAX_BESIDE];
	int			count = list_beside(key, connection->cluster, beside);
	BfUnit	   *unit = bf_unit_make();
	const redisReply *reply;

	memset(remote, 0, sizeof(*remote));
	remote->server = server;
	remote->key = pstrdup(key);
	write_describe(unit, key, beside, count);
	reply = bf_ask(server, key, unit, 0, &connection);
	read_description(connection,
					 bf_reply_array(connection, reply, FIRST_BESIDE + count),
					 beside, count, remote);
	bf_connection_done(connection);
	bf_unit_free(unit);
}

/*
 * Whether what was found at a shard's key is a shard of a filter: one filter,
 * of the same layout.
 */
bool
bf_remote_is_shard(const BfRemote *remote, const BfRemote *whole)
{
	return remote->layout == whole->layout && remote->shards == 0;
}

/* Describe a shard of a sharded filter, which must be there. */
void
bf_remote_describe_shard(const BfRemote *whole, int shard, BfRemote *remote)
{
	bf_remote_describe(whole->server, bf_shard_key(whole->key, shard), remote);
	if (!bf_remote_is_shard(remote, whole))
		bf_remote_missing(remote);
}

/* The filter that is to be at a key: what describes it, is filled in. */
void
bf_remote_plan(Oid server, const char *key, const BfLayout *layout,
			   const BfHeader *header, BfLayer *layers, BfRemote *remote)
{
	bf_layout_check(layout, header, layers);
	*remote = (BfRemote) {
		.server = server,
		.key = pstrdup(key),
		.layout = layout,
		.header = *header,
		.layers = layers,
		.configured = bf_layout_has_config(layout, header)
	};
	if (layout->write_head != NULL)
		layout->write_head(header, layers, remote->head);
	if (remote->configured)
		layout->write_config(header, layers, remote->values);
}

/* Raise that a cluster would scatter the keys of a filter. */
void
bf_remote_check_slots(const BfRemote *remote)
{
	const BfLayout *layout = remote->layout;
	unsigned	slot = bf_cluster_slot(remote->key);

	if (!bf_cluster_route(remote->server, remote->key)->cluster)
		return;
	if (bf_cluster_slot(bf_remote_layer_key(remote, 0)) == slot &&
		bf_cluster_slot(bf_temporary_key(remote->key, 0)) == slot &&
		(layout->config_key == NULL ||
		 bf_cluster_slot(layout->config_key(remote->key)) == slot))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the keys of filter \"%s\" in layout \"%s\" would fall into several slots of the cluster",
					remote->key, layout->name),
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

/* The key of a layer. */
char *
bf_remote_layer_key(const BfRemote *remote, uint32 layer)
{
	return remote->layout->layer_key(remote->key, layer);
}
