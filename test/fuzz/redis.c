/*
 * redis.c
 *	  Fuzz what is made of a Redis server's answers, which are the input's bytes
 *	  in the place of a socket.
 *
 * An input is a byte that says what is asked for, two of flags that say how its
 * answers come, and the answers.  In these, if a flag says so, RUN and two bytes stand
 * for so many times the one that follows.  Whatever they are, a statement ends with a
 * result or an error; and with a result where FUZZ_SOUND is set, for what a sound
 * server answers.  What is asked for a second time goes by the connection that the first
 * one has left, if any.
 */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "server.h"

#include "catalog/pg_type.h"
#include "nodes/primnodes.h"
#include "utils/array.h"

#include "hiredis/link.h"
#include "index/snapshot.h"
#include "redis/options.h"
#include "redis/shards.h"
#include "storage/latch.h"
#include "type/shard.h"
#include "type/value.h"
#include "utils/builtins.h"

/* How answers come; a line at a time, unless it is said. */
#define IN_LINES		0x00
#define AT_ONCE			0x01
#define IN_BYTES		0x02
#define IN_PIECES		0x03
#define HOW				0x03
#define IS_CLUSTER		0x04	/* which redirects us */
#define GREETS			0x08	/* the input has its answers to our greeting */
#define HAS_PASSWORD	0x10	/* is it wanted? */
#define KEEPS_SILENT	0x20	/* at the end, where others close */
#define READS_SLOWLY	0x40
#define ASKED_TWICE		0x80
#define IS_SCATTERED	0x100	/* over the cluster are the keys beside another */
#define HAS_SENTINELS	0x200	/* without a password */
#define IS_REFUSED		0x400	/* by every other address */
#define HAS_RUNS		0x800
#define IS_GUARDED		0x1000	/* all is compared when a string with a head is asked */
#define HAS_REPLICAS	0x2000	/* one of which is to confirm what is written */

#define RUN				0xff

/* Answers are no longer than this, all runs together. */
#define MOST_BYTES		(1024 * 1024)

#define PIECE_LENGTH	7

/* What the server's options name, and how all others start that we may be led to. */
#define OUR_HOST		"localhost"
#define OTHER_HOSTS		"10."

/* Elements that are asked for, and added. */
#define ELEMENTS		2

/* Elements that filters are for: of several blocks, of slices of them, of pieces. */
#define FEW				10
#define OF_BLOCKS		2000
#define OF_SLICES		110000
#define OF_PIECES		900000

/* Fetched values up to this length are worth more than being opened. */
#define SHORT_VALUE		65536

extern Datum bloomext_fetch(PG_FUNCTION_ARGS);
extern Datum bloomext_fetch_sized(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_create(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_info(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_drop(PG_FUNCTION_ARGS);
extern Datum bloomext_mirror(PG_FUNCTION_ARGS);
extern Datum bloomext_live_mirror(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_contains(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_contains_each(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_add(PG_FUNCTION_ARGS);
extern Datum bloomext_redis_add_each(PG_FUNCTION_ARGS);

extern redisContext *__wrap_redisConnectNonBlock(const char *host, int port);
extern int	__wrap_redisBufferRead(redisContext *context);
extern ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
extern ssize_t __wrap_recv(int fd, void *bytes, size_t length, int flags);
extern int	__wrap_getsockopt(int fd, int level, int name, void *value,
							  socklen_t *size);

static Input answers;
static int	flags;
static Input greeting;
static int	sendings;			/* that were tried */
static int	connections;		/* likewise */
static int64 live_expected;		/* elements of the live filter */

/* ---- The socket ---- */

/* A connection, by whatever address. */
redisContext *
__wrap_redisConnectNonBlock(const char *host, int port)
{
	static const char pong[] = "-NOAUTH\r\n+OK\r\n+PONG\r\n";
	bool		sentinel = (flags & HAS_SENTINELS) && strcmp(host, OUR_HOST) == 0;
	size_t		skipped = (flags & HAS_PASSWORD) && !sentinel ? 0 :
		strlen("-NOAUTH\r\n+OK\r\n");
	redisContext *context = redisConnectFd(-1);

	context->tcp.host = strdup(host);
	greeting = (Input) {(const uint8_t *) pong + skipped,
	(flags & GREETS) ? 0 : strlen(pong) - skipped};
	return context;
}

/* How many of these bytes come with the next read. */
static size_t
next_bytes(const Input *input, int how)
{
	const uint8_t *end = memchr(input->at, '\n', input->left);
	size_t		line = end ? end - input->at + 1 : input->left;

	switch (how)
	{
		case AT_ONCE:
			return input->left;
		case IN_BYTES:
			return 1;
		case IN_PIECES:
			return Min(line, PIECE_LENGTH);
		default:
			return line;
	}
}

/* hiredis's, whose reader gets the next bytes, or hears the end of them. */
int
__wrap_redisBufferRead(redisContext *context)
{
	Input	   *from = greeting.left > 0 ? &greeting : &answers;
	size_t		length;

	if (from->left == 0 && (flags & KEEPS_SILENT))
		return REDIS_OK;
	if (from->left == 0)
	{
		context->err = REDIS_ERR_EOF;
		strlcpy(context->errstr, "Server closed the connection",
				sizeof(context->errstr));
		return REDIS_ERR;
	}
	length = next_bytes(from, from == &greeting ? IN_LINES : flags & HOW);
	if (redisReaderFeed(context->reader, (const char *) from->at, length) != REDIS_OK)
	{
		context->err = context->reader->err;
		strlcpy(context->errstr, context->reader->errstr, sizeof(context->errstr));
		return REDIS_ERR;
	}
	from->at += length;
	from->left -= length;
	return REDIS_OK;
}

ssize_t
__wrap_send(int fd, const void *bytes, size_t length, int how)
{
	if (!(flags & READS_SLOWLY) || ++sendings % 3 == 0)
		return length;
	if (sendings % 3 == 1)
		return (length + 1) / 2;
	errno = EAGAIN;
	return -1;
}

/* Between commands there is nothing to be read. */
ssize_t
__wrap_recv(int fd, void *bytes, size_t length, int how)
{
	errno = EAGAIN;
	return -1;
}

/* Connections are made, or every other is refused. */
int
__wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	memset(value, 0, *size);
	if ((flags & IS_REFUSED) && ++connections % 2 == 1)
		*(int *) value = ECONNREFUSED;
	return 0;
}

/* The one library that there is, which is linked in. */
void *
load_external_function(const char *file, const char *function, bool required,
					   void **handle)
{
	return bloomext_hiredis_transport;
}

/* A wait has a name from 17 on. */
extern uint32 name_wait(const char *name) __asm__("WaitEventExtensionNew");

uint32
name_wait(const char *name)
{
	return 1;
}

int
WaitLatchOrSocket(Latch *latch, int events, pgsocket fd, long ms, uint32 info)
{
	bool		silent = greeting.left == 0 && answers.left == 0 &&
		(flags & KEEPS_SILENT);

	pass_time(silent && !(events & WL_SOCKET_WRITEABLE) ? ms : 1);
	return events & (silent ? WL_SOCKET_WRITEABLE :
					 WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE);
}

/* In the place of redis/options.c: the one server that there is. */
Oid
bf_server_argument(FunctionCallInfo fcinfo, int argument)
{
	return 1;
}

/* A key, of which nothing is unusual. */
char *
bf_key_argument(FunctionCallInfo fcinfo, int argument)
{
	return text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/* The only time to live, or span, that is asked for, in ms. */
int64
bf_duration_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	return PG_ARGISNULL(argument) ? 0 : 1000;
}

/* No transaction is READ ONLY. */
void
bf_refuse_read_only(const char *function)
{
}

/* In the place of redis/hosts.c: where we may be led to. */
bool
bf_hosts_include(const char *list, const char *host)
{
	return strncmp(host, list, strlen(list)) == 0;
}

/* Likewise: nothing asks that without TLS. */
bool
bf_host_is_address(const char *host)
{
	abort();
}

void
bf_server_read(Oid server, Oid user, BfServer *result)
{
	static BfAddress addresses[2];

	/* Who connects to a node of a cluster has put it in their place. */
	addresses[0] = (BfAddress) {OUR_HOST, 6379};
	addresses[1] = (BfAddress) {OUR_HOST, 6380};
	*result = (BfServer) {
		.name = "fuzz",
		.addresses = addresses,
		.address_count = lengthof(addresses),
		.connect_timeout = 1000,
		.command_timeout = 1000,
		.keep_connections = true,
		.idle_timeout = 60000,
		.cluster = (flags & IS_CLUSTER) != 0,
		.sentinel = (flags & HAS_SENTINELS) ? "titles" : NULL,
		.redirect_hosts = OTHER_HOSTS,
		.wait_replicas = (flags & HAS_REPLICAS) != 0,
		.password = (flags & HAS_PASSWORD) ? "secret" : NULL,
		.password_required = (flags & HAS_PASSWORD) != 0,
		.needs_password = (flags & HAS_PASSWORD) != 0
	};
}

/* ---- What is asked for ---- */

/* May a filter's hash lack a field that does not change? */
static bool
may_lack(int field, const char *name)
{
	return bf_layout_is_kind_field(field) || strcmp(name, "whole") == 0 ||
		strcmp(name, "witness") == 0;
}

/* What is known of the hashes next to a filter. */
static void
check_hashes(const BfRemote *remote)
{
	for (int role = 0; role < BF_HASHES; role++)
	{
		const BfRemoteHash *hash = &remote->hash[role];
		const BfHashShape *shape = remote->layout->hash[role];

		REQUIRE(!hash->there || hash->key != NULL);
		for (int i = 0; hash->there && i < shape->guards; i++)
			REQUIRE(hash->values[i] != NULL || may_lack(i, shape->fields[i]));
	}
	REQUIRE(!bf_remote_is_unbound(remote) ||
			remote->plan.header.funnel == remote->bind.funnel ||
			remote->plan.header.meaning == BF_MEANING_OPEN);
}

/* What a description says can be relied on. */
static void
check_description(const BfRemote *remote)
{
	const BfLayout *layout = remote->layout;
	uint32		layers = remote->plan.header.layers;

	REQUIRE(layout == NULL || remote->orphan == NULL);
	REQUIRE(remote->lost == NULL || remote->orphan != NULL);
	REQUIRE(remote->shards >= 0 && remote->shards <= BF_MAX_SHARDS);
	REQUIRE(remote->shards == 0 || layout != NULL || remote->orphan != NULL);
	if (layout == NULL || remote->shards > 0)
		return;
	REQUIRE(layers >= 1 || layout->native_type != NULL);
	REQUIRE(layers <= (layout->grows ? BF_MAX_LAYERS : 1));
	REQUIRE(layers <= 1 || remote->plan.layers != NULL);
	for (uint32 i = 0; i < layers; i++)
	{
		REQUIRE(bf_remote_layer(remote, i)->bits > 0);
		REQUIRE(bf_remote_layer(remote, i)->hashes >= 1 &&
				bf_remote_layer(remote, i)->hashes <= BF_MAX_HASHES);
	}
	check_hashes(remote);
}

/* In a cluster all keys beside it are to have its slot, unless it is said. */
static const char *
key_name(void)
{
	return (flags & IS_CLUSTER) && !(flags & IS_SCATTERED) ? "{key}" : "key";
}

/* Elements as a filter has them. */
static void
make_items(const BfRemote *remote, BfItems *items)
{
	static const char *const texts[ELEMENTS] = {"title", ""};

	items->item = palloc0(sizeof(BfItem) * ELEMENTS);
	items->count = items->capacity = ELEMENTS;
	items->guarded = bf_layout_head(remote->layout) == 0 || remote->shard_of != NULL ||
		(flags & IS_GUARDED);
	for (int i = 0; i < ELEMENTS; i++)
	{
		BfHash	   *hash = &items->item[i].hash;

		items->item[i].source = i;
		if (remote->layout->native_type == NULL)
			remote->plan.strategy->hash((const uint8 *) texts[i],
										strlen(texts[i]), hash);
		hash->data = (const uint8 *) texts[i];
		hash->length = strlen(texts[i]);
	}
}

/* The filter, or the last of its shards, and elements for it. */
static BfRemote *
find(BfShards *shards, BfItems *items)
{
	BfRemote   *remote;

	bf_shards_describe(1, key_name(), shards);
	check_description(&shards->whole);
	remote = &shards->remote[shards->count - 1];
	check_description(remote);
	make_items(remote, items);
	return remote;
}

/* All have an answer, if the shards are those that were asked. */
static void
check_answers(const BfShards *shards, const BfItems *items)
{
	for (int i = 0; i < items->count; i++)
		REQUIRE(items->item[i].done);
	(void) bf_shards_are_same(&shards->whole);
}

static void
contains(void)
{
	BfShards	shards;
	BfItems		items;
	const BfRemote *remote = find(&shards, &items);

	if (remote->layout->driver->contains(remote, &items))
		check_answers(&shards, &items);
}

/* As redis/redis_ops.c does, have a filter without a kind hold texts from now on. */
static bool
bind_filter(BfShards *shards)
{
	const BfRemote *first = shards->remote;

	if (!bf_remote_is_unbound(first))
		return true;
	bf_shards_bind(shards, (BfBinding) {
		first->plan.header.funnel != BF_FUNNEL_UNBOUND ?
		first->plan.header.funnel : first->plan.strategy->funnels[BF_KIND_TEXT],
		BF_MEANING_TEXT
	});
	return shards->count == 1 || bf_remote_note(first);
}

static void
add(void)
{
	BfShards	shards;
	BfItems		items;
	BfRemote   *remote = find(&shards, &items);

	if (!bind_filter(&shards) || !remote->layout->driver->add(remote, &items))
		return;
	bf_remote_noted(remote);
	REQUIRE(remote->bind.funnel == BF_FUNNEL_UNBOUND);
	check_description(remote);
	check_answers(&shards, &items);
}

/* Whatever is there, or left of it. */
static void
describe(void)
{
	BfRemote	remote;

	bf_remote_describe(1, key_name(), &remote);
	check_description(&remote);
	if (remote.layout == NULL || remote.shards > 0)
		return;
	bf_remote_describe_fully(&remote);
	REQUIRE(remote.plan.header.layers >= 1);
	check_description(&remote);
}

static Datum
key_datum(void)
{
	return text_datum(key_name());
}

static Datum
server_datum(void)
{
	return CStringGetDatum("fuzz");
}

/* The type of the elements of a statement. */
static Oid	element_type;

Oid
get_fn_expr_argtype(FmgrInfo *function, int argument)
{
	return element_type;
}

/* Call a function of a server, a key and elements, as a query does. */
static Datum
call_of_elements(PGFunction function, Oid type, Datum elements)
{
	static Const expression = {.xpr.type = T_Const};

	element_type = type;
	call_site.fn_expr = (Node *) &expression;
	return call(function, 3, (Datum[]) {server_datum(), key_datum(), elements});
}

static void
contains_text(void)
{
	(void) call_of_elements(bloomext_redis_contains, TEXTOID, text_datum("title"));
}

static void
contains_integer(void)
{
	(void) call_of_elements(bloomext_redis_contains, INT4OID, Int32GetDatum(7));
}

static void
add_text(void)
{
	(void) call_of_elements(bloomext_redis_add, TEXTOID, text_datum("title"));
}

static void
add_integer(void)
{
	(void) call_of_elements(bloomext_redis_add, INT8OID, Int64GetDatum(7));
}

/* An array of text; in the place of arrayfuncs.c what reads one of such. */
typedef struct ArrayIteratorData
{
	int			next;
} ArrayIteratorData;

#define ARRAY_LENGTH	5

static Datum
array_datum(void)
{
	ArrayType  *array = palloc0(ARR_OVERHEAD_NONULLS(1));

	SET_VARSIZE(array, ARR_OVERHEAD_NONULLS(1));
	array->ndim = 1;
	ARR_DIMS(array)[0] = ARRAY_LENGTH;
	return PointerGetDatum(array);
}

ArrayIterator
array_create_iterator(ArrayType *array, int slices, ArrayMetaState *state)
{
	return palloc0(sizeof(ArrayIteratorData));
}

bool
array_iterate(ArrayIterator iterator, Datum *value, bool *isnull)
{
	static const char *const texts[ARRAY_LENGTH] = {"title", "", NULL, "other", "x"};
	const char *text;

	if (iterator->next == ARRAY_LENGTH)
		return false;
	text = texts[iterator->next++];
	*isnull = text == NULL;
	*value = text ? text_datum(text) : (Datum) 0;
	return true;
}

int
ArrayGetNItems(int dimensions, const int *lengths)
{
	return lengths[0];
}

void
array_bitmap_copy(uint8 *to, int to_offset, const uint8 *from, int from_offset,
				  int count)
{
}

ArrayType *
construct_array(Datum *elements, int count, Oid type, int length, bool by_value, char align)
{
	return palloc0(sizeof(ArrayType));
}

ArrayType *
construct_empty_array(Oid type)
{
	return palloc0(sizeof(ArrayType));
}

static void
contains_each(void)
{
	(void) call_of_elements(bloomext_redis_contains_each, TEXTOID, array_datum());
}

static void
add_all(void)
{
	(void) call_of_elements(bloomext_redis_add_each, TEXTOID, array_datum());
}

/* What was fetched is a value. */
static void
check_value(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	BfFilter	filter;
	BfError		error;

	REQUIRE(bf_filter_open((uint8 *) VARDATA(value), VARSIZE(value) - VARHDRSZ,
						   VARSIZE(value) - VARHDRSZ, &filter, &error));
	if (VARSIZE(value) <= SHORT_VALUE)
		exercise((uint8 *) VARDATA(value), VARSIZE(value) - VARHDRSZ);
}

static void
fetch_as(const char *layout)
{
	check_value(call(bloomext_fetch, 4, (Datum[]) {
		server_datum(), key_datum(), text_datum(layout), text_datum("utf8")
	}));
}

/* Whatever it is, by the funnel that it says. */
static void
fetch(void)
{
	check_value(call(bloomext_fetch, 2, (Datum[]) {server_datum(), key_datum()}));
}

static void
fetch_guava(void)
{
	fetch_as("guava");
}

static void
fetch_growing(void)
{
	fetch_as("growing");
}

static void
fetch_redisson(void)
{
	fetch_as("redisson");
}

static void
fetch_redisbloom(void)
{
	fetch_as("redisbloom");
}

static void
fetch_sized(void)
{
	check_value(call(bloomext_fetch_sized, 7, (Datum[]) {
		server_datum(), key_datum(), text_datum("bitmap"), Int64GetDatum(20),
		Float8GetDatum(0.03), text_datum("magnuss"), text_datum("utf8")
	}));
}

/* Make a filter, without a funnel if that is NULL, or find it there. */
static void
create_of_kind(const char *strategy, const char *layout, const char *funnel)
{
	(void) call(bloomext_redis_create, funnel ? 9 : 8, (Datum[]) {
		server_datum(), key_datum(), Int64GetDatum(30), Float8GetDatum(0.03),
		text_datum(strategy), text_datum(layout),
		Int32GetDatum(strcmp(layout, "growing") == 0),
		(Datum) 0, funnel ? text_datum(funnel) : (Datum) 0
	});
}

static void
create_as(const char *strategy, const char *layout)
{
	create_of_kind(strategy, layout, NULL);
}

/* What is there gets a note of its kind. */
static void
create_guava(void)
{
	create_of_kind("guava", "guava", "long");
}

static void
create_shards(void)
{
	create_as("magnuss", "bitmap;shards=2");
}

/* Up to the first line's end, it is the input that names the layout. */
static void
create_named(void)
{
	const uint8_t *end = memchr(answers.at, '\n', answers.left);
	size_t		length = end ? end - answers.at : answers.left;
	char	   *layout = pnstrdup((const char *) answers.at, length);

	answers.at += length + (end != NULL);
	answers.left -= length + (end != NULL);
	create_of_kind("guava", layout, NULL);
}

/* By the default. */
static void
create_default(void)
{
	(void) call(bloomext_redis_create, 7, (Datum[]) {
		server_datum(), key_datum(), Int64GetDatum(30), Float8GetDatum(0.03),
		text_datum("tale2009"), NULL_ARGUMENT, Int32GetDatum(0)
	});
}

static void
create_growing(void)
{
	create_as("guava", "growing");
}

static void
create_redisson(void)
{
	create_as("redisson", "redisson");
}

/* A window of time, of one slice of a second, in several pieces. */
static void
create_window(void)
{
	(void) call(bloomext_redis_create, 11, (Datum[]) {
		server_datum(), key_datum(), Int64GetDatum(OF_SLICES), Float8GetDatum(0.03),
		text_datum("guava"), text_datum("window"), Int32GetDatum(0), NULL_ARGUMENT,
		NULL_ARGUMENT, (Datum) 0, Int32GetDatum(1)
	});
}

static void
create_redisbloom(void)
{
	create_as("redisbloom", "redisbloom");
}

static void
info(void)
{
	(void) call(bloomext_redis_info, 2, (Datum[]) {server_datum(), key_datum()});
}

static void
drop(void)
{
	(void) call(bloomext_redis_drop, 2, (Datum[]) {server_datum(), key_datum()});
}

static void
empty_value(const char *strategy, int64 expected, int expansion, BfValue *value)
{
	BfPlan		plan;

	bf_value_plan(bf_strategy_by_name(strategy), expected, 0.01, BF_FUNNEL_UTF8,
				  expansion, &plan);
	bf_value_make(&plan, value);
}

/* In the place of index/snapshot.c: a live filter is of any shard. */
void
bf_snapshot_check_shard(Oid relation, int shards, int number)
{
}

/* Likewise: what a live filter holds. */
void
bf_snapshot_value(Oid relation, bool for_redis, BfValue *value)
{
	empty_value("guava", live_expected, 0, value);
}

/* Write a filter, which is read back in part. */
static void
mirror_by(PGFunction function, Datum filter, const char *layout)
{
	(void) call(function, 5, (Datum[]) {
		filter, server_datum(), key_datum(), text_datum(layout), (Datum) 0
	});
}

static void
mirror_as(const char *strategy, int expansion, const char *layout)
{
	BfValue		value;

	empty_value(strategy, FEW, expansion, &value);
	mirror_by(bloomext_mirror, PointerGetDatum(value.varlena), layout);
}

/* As long as Redis may have no room for, or not for two of them. */
static void
mirror_large(void)
{
	BfValue		value;

	empty_value("guava", OF_PIECES, 0, &value);
	mirror_by(bloomext_mirror, PointerGetDatum(value.varlena), "guava");
}

/* A string that ends with the only bit of its filter. */
static void
mirror_redisson(void)
{
	BfValue		value;

	empty_value("redisson", FEW, 0, &value);
	value.bytes[value.filter.plan.first.offset] = 1;
	mirror_by(bloomext_mirror, PointerGetDatum(value.varlena), "redisson");
}

/* With a witness, and texts alone. */
static void
mirror_guava(void)
{
	BfValue		value;

	empty_value("guava", FEW, 0, &value);
	value.bytes[value.filter.plan.first.offset] = 1;
	bf_value_bind(&value, BF_FUNNEL_UTF8, BF_MEANING_TEXT);
	mirror_by(bloomext_mirror, PointerGetDatum(value.varlena), "guava");
}

/* No string at all. */
static void
mirror_nothing(void)
{
	mirror_as("redisson", 0, "redisson");
}

static void
mirror_bitmap(void)
{
	mirror_as("magnuss", 0, "bitmap");
}

static void
mirror_growing(void)
{
	mirror_as("guava", 1, "growing");
}

static void
mirror_redisbloom(void)
{
	mirror_as("redisbloom", 2, "redisbloom");
}

/* One of the shards that a filter is, or becomes. */
static void
mirror_shard(void)
{
	mirror_as("guava", 0, "guava;shards=2/1");
}

static void
fetch_shard(void)
{
	fetch_as("guava;shards=2/1");
}

/* Write only what differs. */
static void
mirror_differing(int64 expected)
{
	live_expected = expected;
	mirror_by(bloomext_live_mirror, ObjectIdGetDatum(1), "guava");
}

static void
mirror_live(void)
{
	mirror_differing(OF_BLOCKS);
}

static void
mirror_slices(void)
{
	mirror_differing(OF_SLICES);
}

static void (*const statements[]) (void) = {
	contains, add, describe, info, drop, fetch, fetch_guava, fetch_growing,
	fetch_redisson, fetch_redisbloom, fetch_sized, create_guava, create_shards,
	create_growing, create_redisson, create_redisbloom, mirror_bitmap,
	mirror_growing, mirror_redisson, mirror_nothing, mirror_redisbloom,
	mirror_large, mirror_live, mirror_shard, fetch_shard, create_named,
	create_default, contains_text, contains_integer, contains_each, add_text,
	add_integer, add_all, mirror_slices, create_window, mirror_guava
};

static void
ask(void *arg)
{
	statements[*(uint8_t *) arg % lengthof(statements)] ();
}

/* Write the answers with their runs in full; returns how many bytes that are. */
static size_t
unroll(Input *input, uint8_t *bytes)
{
	size_t		length = 0;

	while (input->left > 0)
	{
		size_t		count = 1;
		int			byte = take(input, 1);

		if (byte == RUN)
		{
			count = take(input, 2);
			byte = take(input, 1);
		}
		count = Min(count, MOST_BYTES - length);
		memset(bytes + length, byte, count);
		length += count;
	}
	return length;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[MOST_BYTES];
	Input		input = {data, size};
	uint8_t		statement = take(&input, 1);
	bool		sound;

	flags = take(&input, 2);
	answers = (Input) {data + size - input.left, input.left};
	if (flags & HAS_RUNS)
		answers = (Input) {bytes, unroll(&input, bytes)};
	greeting.left = 0;
	sendings = connections = 0;

	sound = run(ask, &statement) == 0;
	if (flags & ASKED_TWICE)
		sound &= run(ask, &statement) == 0;
	if (getenv("FUZZ_SOUND") != NULL && (!sound || answers.left > 0))
	{
		fprintf(stderr, "not sound: \"%s\"; %zu bytes are left: %.*s\n", what_was_said(),
				answers.left, (int) Min(answers.left, 40), answers.at);
		abort();
	}
	bf_items_forget();
	end_session();
	return 0;
}
