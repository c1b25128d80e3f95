/*
 * options.c
 *	  Fuzz what users write into the options of servers and user mappings, and what
 *	  is asked of lists of hosts; and keys and times to live.
 *
 * An input is a byte of flags, eight that are an interval's, and lines: an option's
 * name, a space and its value, or a host, or, last, a key.  What the validator takes can
 * be read, and what was read can be connected to.
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <string.h>

#include "server.h"

#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "nodes/pg_list.h"
#include "redis/hosts.h"
#include "redis/options.h"
#include "utils/acl.h"
#include "utils/timestamp.h"

#define IS_MAPPING		0x01	/* what is validated */
#define IS_SUPERUSER	0x02
#define HAS_NO_SERVER	0x04
#define IS_OF_ANOTHER	0x08	/* the server is another wrapper's */
#define HAS_NO_RIGHT	0x10

extern Datum bloomext_redis_validator(PG_FUNCTION_ARGS);

static uint8_t flags;
static uint8_t times[8];
static List *lists[2];			/* options of the server, of the mapping */
static char *last_line;

bool
superuser(void)
{
	return (flags & IS_SUPERUSER) != 0;
}

bool
superuser_arg(Oid user)
{
	return superuser();
}

List *
untransformRelOptions(Datum options)
{
	return (List *) DatumGetPointer(options);
}

char *
defGetString(DefElem *def)
{
	return (char *) def->arg;
}

bool
defGetBoolean(DefElem *def)
{
	const char *text = defGetString(def);

	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("%s", text)));
	return text[0] == 't';
}

ForeignServer *
GetForeignServerExtended(Oid oid, bits16 how)
{
	static ForeignServer server = {.servername = "fuzz"};

	server.options = lists[0];
	return (flags & HAS_NO_SERVER) ? NULL : &server;
}

ForeignServer *
GetForeignServerByName(const char *name, bool missing_ok)
{
	return flags & HAS_NO_SERVER ? NULL : GetForeignServerExtended(1, 0);
}

ForeignDataWrapper *
GetForeignDataWrapper(Oid oid)
{
	static ForeignDataWrapper wrapper;

	wrapper.fdwname = (flags & IS_OF_ANOTHER) ? "file_fdw" : "bloomext_redis";
	return &wrapper;
}

UserMapping *
GetUserMapping(Oid user, Oid server)
{
	static UserMapping mapping;

	mapping.options = lists[1];
	return &mapping;
}

bool
SearchSysCacheExists(int cache, Datum user, Datum server, Datum key3, Datum key4)
{
	return true;
}

char *
GetUserNameFromId(Oid user, bool missing_ok)
{
	return "user";
}

const char *
quote_identifier(const char *name)
{
	return name;
}

/* Whether the user may use the server, whatever that is called. */
extern AclResult check_right(void) __asm__("pg_foreign_server_aclcheck");
extern AclResult check_right_16(void) __asm__("object_aclcheck");

AclResult
check_right(void)
{
	return (flags & HAS_NO_RIGHT) ? ACLCHECK_NO_PRIV : ACLCHECK_OK;
}

AclResult
check_right_16(void)
{
	return check_right();
}

void
aclcheck_error(AclResult result, ObjectType type, const char *name)
{
	ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("%s", name)));
}

char *
pg_server_to_any(const char *text, int length, int encoding)
{
	return (char *) text;
}

/* An address: its family, its bits, itself; or an error. */
typedef struct Address
{
	int			family;
	int			bits;
	uint8_t		bytes[16];
} Address;

Datum
inet_in(PG_FUNCTION_ARGS)
{
	char	   *text = pstrdup(PG_GETARG_CSTRING(0));
	char	   *slash = strchr(text, '/');
	Address    *address = palloc0(sizeof(Address));

	if (slash != NULL)
		*slash = '\0';
	address->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	address->bits = slash ? atoi(slash + 1) : address->family == AF_INET ? 32 : 128;
	if (inet_pton(address->family, text, address->bytes) != 1 || address->bits < 0 ||
		address->bits > (address->family == AF_INET ? 32 : 128))
		ereport(ERROR, (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("%s", text)));
	PG_RETURN_POINTER(address);
}

Datum
network_subeq(PG_FUNCTION_ARGS)
{
	const Address *one = (const Address *) PG_GETARG_POINTER(0);
	const Address *range = (const Address *) PG_GETARG_POINTER(1);

	PG_RETURN_BOOL(one->family == range->family && one->bits >= range->bits &&
				   memcmp(one->bytes, range->bytes, range->bits / 8) == 0);
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum first)
{
	return call(function, 1, &first);
}

Datum
DirectFunctionCall2Coll(PGFunction function, Oid collation, Datum first, Datum second)
{
	return call(function, 2, (Datum[]) {first, second});
}

/* Take the input's lines apart; an option goes to where there is one so called. */
static void
read_lines(Input *input)
{
	lists[0] = lists[1] = NIL;
	last_line = pstrdup("");
	while (input->left > 0)
	{
		const char *line = (const char *) input->at;
		const char *end = memchr(line, '\n', input->left);
		Size		length = end ? end - line : input->left;
		char	   *name = pnstrdup(line, length);
		char	   *value = strchr(name, ' ');
		bool		is_mapping = name[0] == '@';
		DefElem    *def = palloc0(sizeof(DefElem));

		last_line = pstrdup(name);
		if (value != NULL)
		{
			*value = '\0';
			def->defname = name + is_mapping;
			def->arg = (Node *) (value + 1);
			lists[is_mapping] = lappend(lists[is_mapping], def);
		}
		input->at += length + (end != NULL);
		input->left -= length + (end != NULL);
	}
}

/* What was read can be connected to. */
static void
check_server(const BfServer *server)
{
	REQUIRE((server->host == NULL) != (server->socket == NULL));
	REQUIRE(server->address_count >= 1);
	REQUIRE(server->connect_timeout > 0 && server->command_timeout > 0);
	for (int i = 0; i < server->address_count; i++)
	{
		REQUIRE(server->addresses[i].port >= 1 && server->addresses[i].port <= 65535);
		REQUIRE((server->addresses[i].host == NULL) == (server->host == NULL));
		if (server->redirect_hosts != NULL && server->host != NULL)
			(void) bf_hosts_include(server->redirect_hosts, server->addresses[i].host);
	}
	if (server->redirect_hosts != NULL)
		(void) bf_hosts_include(server->redirect_hosts, last_line);
	REQUIRE(superuser() || !server->needs_password || server->password != NULL);
}

static bool validated;

static void
validate(void *arg)
{
	Input	   *input = arg;

	read_lines(input);
	for (int i = 0; i < 2; i++)
		(void) call(bloomext_redis_validator, 2, (Datum[]) {
			PointerGetDatum(lists[i]),
			ObjectIdGetDatum(i ? UserMappingRelationId : ForeignServerRelationId)
		});
	validated = true;
	{
		BfServer	server;

		bf_server_read(1, 1, &server);
		check_server(&server);
	}
}

/* What else functions are called with. */
static Datum
take_arguments(PG_FUNCTION_ARGS)
{
	Oid			server = bf_server_argument(fcinfo, 0);
	Size		length;

	REQUIRE(server == InvalidOid && !(flags & (HAS_NO_RIGHT | HAS_NO_SERVER | IS_OF_ANOTHER)));
	length = strlen(bf_key_argument(fcinfo, 1));
	REQUIRE(length >= 1 && length <= 1024);
	REQUIRE(bf_duration_argument(fcinfo, 2, "ttl") > 0 && bf_duration_argument(fcinfo, 3, "ttl") == 0);
	return (Datum) 0;
}

static void
call_with_arguments(void *arg)
{
	Input	   *input = arg;
	Interval	ttl = {0};
	NameData	name = {"fuzz"};

	read_lines(input);
	memcpy(&ttl.time, times, sizeof(ttl.time));
	ttl.day = (int8) times[0];
	ttl.month = (int8) times[1];
	(void) call(take_arguments, 3, (Datum[]) {
		NameGetDatum(&name), text_datum(last_line), IntervalPGetDatum(&ttl)
	});
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input = {data, size};
	Input		again;
	int			sqlstate;

	flags = take(&input, 1);
	for (size_t i = 0; i < sizeof(times); i++)
		times[i] = take(&input, 1);
	again = input;
	validated = false;
	sqlstate = run(validate, &input);
	/* What was taken is refused later only for what the validator cannot know. */
	REQUIRE(!validated || sqlstate == 0 || sqlstate == ERRCODE_UNDEFINED_OBJECT ||
			sqlstate == ERRCODE_INVALID_PARAMETER_VALUE ||
			sqlstate == ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED);
	(void) run(call_with_arguments, &again);
	return 0;
}
