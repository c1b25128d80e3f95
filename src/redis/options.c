/*
 * options.c
 *	  The address of a Redis server and our account there, from the catalogs;
 *	  and arguments common to functions over Redis: server, key, ttl.
 *
 * No function takes an address.  A server is a catalog object, which only a
 * role with USAGE on the foreign data wrapper can create (a superuser, unless
 * it was granted to others).  To reach a server, a role needs USAGE on it.
 * The account and its password are in the user mapping, which other roles
 * cannot read.
 *
 * As in postgres_fdw, a role that is not a superuser needs a password in its
 * mapping: otherwise Redis would trust the operating system user of the
 * PostgreSQL server, not the role.  When we connect, it is checked that Redis
 * requires the password.  A superuser can waive both rules by option
 * password_required of the mapping.  Sentinels need not require a password:
 * they return nothing but an address, and the owner of the server decides
 * which sentinels are used.
 *
 * The file of a certificate is opened as the operating system user of the
 * PostgreSQL server.  So only a superuser may name one in a mapping, as in
 * postgres_fdw.  A certificate does not replace a password.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/reloptions.h"
#include "access/transam.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "redis/options.h"

PG_FUNCTION_INFO_V1(bloomext_redis_validator);

#define WRAPPER_NAME	"bloomext_redis"

#define REDIS_PORT		"6379"
#define SENTINEL_PORT	"26379"

/* Maximum duration, in ms: 30,000 years of 12 months of 30 days. */
#define MAX_DURATION	(30000.0 * 12 * DAYS_PER_MONTH * SECS_PER_DAY * 1000)

/*
 * Maximum length of a key, in bytes: so that a list of the keys of a growing
 * filter's layers, up to 1,024, stays within the MB that Redis handles with
 * ease.
 */
#define MAX_KEY		1024

typedef enum OptionType
{
	OPTION_TEXT,
	OPTION_HOSTS,				/* a text that is a list of hosts */
	OPTION_BOOLEAN,
	OPTION_INTEGER
} OptionType;

typedef struct Option
{
	const char *name;
	Oid			catalog;		/* of objects with this option */
	size_t		place;			/* offset in BfServer */
	OptionType	type;
	int			minimum;		/* of an integer */
	int			maximum;
	bool		superuser;		/* only a superuser may set it */
} Option;

#define OF_SERVER(field)	#field, ForeignServerRelationId, offsetof(BfServer, field)
#define OF_MAPPING(field)	#field, UserMappingRelationId, offsetof(BfServer, field)

static const Option options[] = {
	{OF_SERVER(host), OPTION_HOSTS},
	{OF_SERVER(socket), OPTION_TEXT},
	{OF_SERVER(port), OPTION_TEXT},
	{OF_SERVER(db), OPTION_INTEGER, 0, PG_INT32_MAX},
	{OF_SERVER(connect_timeout), OPTION_INTEGER, 1, PG_INT32_MAX},
	{OF_SERVER(command_timeout), OPTION_INTEGER, 1, PG_INT32_MAX},
	{OF_SERVER(keep_connections), OPTION_BOOLEAN},
	{OF_SERVER(idle_timeout), OPTION_INTEGER, 1, PG_INT32_MAX},
	{OF_SERVER(wait_replicas), OPTION_INTEGER, 0, PG_INT32_MAX},
	{OF_SERVER(wait_timeout), OPTION_INTEGER, 1, PG_INT32_MAX},
	{OF_SERVER(tls), OPTION_BOOLEAN},
	{OF_SERVER(tls_ca), OPTION_TEXT},
	{OF_SERVER(cluster), OPTION_BOOLEAN},
	{OF_SERVER(sentinel), OPTION_TEXT},
	{OF_SERVER(redirect_hosts), OPTION_HOSTS},
	{OF_MAPPING(username), OPTION_TEXT},
	{OF_MAPPING(password), OPTION_TEXT},
	{OF_MAPPING(sentinel_username), OPTION_TEXT},
	{OF_MAPPING(sentinel_password), OPTION_TEXT},
	{OF_MAPPING(tls_cert), OPTION_TEXT, .superuser = true},
	{OF_MAPPING(tls_key), OPTION_TEXT, .superuser = true},
	{OF_MAPPING(password_required), OPTION_BOOLEAN}
};

/* Find an option of a kind of object, or raise an error that lists them. */
static const Option *
find_option(const char *name, Oid catalog)
{
	StringInfoData known;

	initStringInfo(&known);
	for (int i = 0; i < lengthof(options); i++)
	{
		if (options[i].catalog != catalog)
			continue;
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
		bf_append_name(&known, options[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 known.len > 0 ?
			 errhint("Valid options in this context are: %s.", known.data) :
			 errhint("There are no valid options in this context.")));
}

/* Parse the integer value of an option; 22023 if it is out of range. */
static int
parse_integer(const char *name, const char *text, int minimum, int maximum)
{
	char	   *end;
	long		value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 ||
		value < minimum || value > maximum)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"", name, text),
				 errdetail("The value must be an integer from %d to %d.",
						   minimum, maximum)));
	return (int) value;
}

/* Is the value kept as it was given? */
static bool
is_text(const Option *option)
{
	return option->type == OPTION_TEXT || option->type == OPTION_HOSTS;
}

/* Check a new value, and whether this user may set it. */
static void
check_option(const Option *option, DefElem *def)
{
	/* The value may be a password: it must not be repeated. */
	if (is_text(option) && defGetString(def)[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("option \"%s\" must not be empty", option->name)));
	if (option->type == OPTION_HOSTS && !bf_hosts_are_separate(defGetString(def)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option->name, defGetString(def)),
				 errdetail("The value must be a list of hosts, separated by commas without white space.")));
	if (option->place == offsetof(BfServer, host))
		bf_hosts_check_names(defGetString(def));
	if (option->place == offsetof(BfServer, redirect_hosts))
		bf_hosts_check_ranges(defGetString(def));
	if (option->superuser && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("option \"%s\" is superuser-only", option->name),
				 errhint("User mappings with the option \"%s\" may only be created or modified by the superuser.",
						 option->name)));
	/* Only a superuser may do without a password. */
	if (option->place == offsetof(BfServer, password_required) &&
		!defGetBoolean(def) && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("password_required=false is superuser-only"),
				 errhint("User mappings with the password_required option set to false may only be created or modified by the superuser.")));
}

/* Store the options of a server or mapping; check new ones. */
static void
read_options(BfServer *server, List *list, Oid catalog, bool new)
{
	ListCell   *cell;

	foreach(cell, list)
	{
		DefElem    *def = (DefElem *) lfirst(cell);
		const Option *option = find_option(def->defname, catalog);
		char	   *place = (char *) server + option->place;

		if (is_text(option))
			*(char **) place = defGetString(def);
		else if (option->type == OPTION_BOOLEAN)
			*(bool *) place = defGetBoolean(def);
		else
			*(int *) place = parse_integer(option->name, defGetString(def),
										   option->minimum, option->maximum);
		if (new)
			check_option(option, def);
	}
}

/* Give each host its port, or all of them one, as in libpq. */
static void
read_addresses(BfServer *server)
{
	const char *hosts = server->host;
	const char *ports = server->port ? server->port :
		server->sentinel ? SENTINEL_PORT : REDIS_PORT;
	int			count = hosts ? bf_hosts_count(hosts) : 1;
	int			given = bf_hosts_count(ports);
	int			port = 0;

	if (given != 1 && given != count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("could not match %d port numbers to %d hosts",
						given, count)));
	server->addresses = palloc(sizeof(BfAddress) * count);
	server->address_count = count;
	for (int i = 0; i < count; i++)
	{
		if (i < given)
			port = parse_integer("port", bf_hosts_next(&ports), 1, 65535);
		server->addresses[i] = (BfAddress) {bf_hosts_next(&hosts), port};
	}
}

/* Check that options can be combined, and combine hosts and ports. */
static void
combine_options(BfServer *server)
{
	const char *problem = NULL;

	if ((server->host == NULL) == (server->socket == NULL))
		problem = "server must have either a host or a socket";
	else if (server->socket != NULL &&
			 (server->tls || server->cluster || server->sentinel != NULL))
		problem = "options \"tls\", \"cluster\" and \"sentinel\" require a host, not a socket";
	else if (server->cluster && server->sentinel != NULL)
		problem = "options \"cluster\" and \"sentinel\" are mutually exclusive";
	else if (server->cluster && server->db != 0)
		problem = "option \"db\" must be 0 for a cluster";
	else if (server->redirect_hosts != NULL && !server->cluster &&
			 server->sentinel == NULL)
		problem = "option \"redirect_hosts\" requires option \"cluster\" or \"sentinel\"";
	else if (server->tls_ca != NULL && !server->tls)
		problem = "option \"tls_ca\" requires option \"tls\"";
	else if (server->wait_replicas > 0 &&
			 server->wait_timeout >= server->command_timeout)
		problem = "option \"wait_timeout\" must be less than option \"command_timeout\"";
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", problem)));
	read_addresses(server);
}

/* Check that both parts of a mapping's certificate are given, or none. */
static void
check_certificate(const BfServer *server)
{
	if ((server->tls_cert == NULL) != (server->tls_key == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options \"tls_cert\" and \"tls_key\" must be set together")));
}

/* Defaults of options. */
static const BfServer defaults = {
	.connect_timeout = 1000,
	.command_timeout = 5000,
	.keep_connections = true,
	.idle_timeout = 60000,
	.wait_timeout = 1000,
	.password_required = true
};

/* The validator of wrapper bloomext_redis: names, values, combinations. */
Datum
bloomext_redis_validator(PG_FUNCTION_ARGS)
{
	Oid			catalog = PG_GETARG_OID(1);
	BfServer	server = defaults;

	read_options(&server, untransformRelOptions(PG_GETARG_DATUM(0)), catalog,
				 true);
	if (catalog == ForeignServerRelationId)
		combine_options(&server);
	else
		check_certificate(&server);
	PG_RETURN_VOID();
}

/* Raise 42704 if neither a user nor PUBLIC has a mapping for a server. */
static void
check_mapping(const ForeignServer *server, Oid user)
{
	Datum		oid = ObjectIdGetDatum(server->serverid);

	if (!SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(user), oid) &&
		!SearchSysCacheExists2(USERMAPPINGUSERSERVER, ObjectIdGetDatum(InvalidOid), oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("user mapping not found for user \"%s\", server \"%s\"",
						GetUserNameFromId(user, false), server->servername),
				 errhint("Use CREATE USER MAPPING FOR %s SERVER %s OPTIONS (password '...'); omit OPTIONS if Redis requires no password.",
						 quote_identifier(GetUserNameFromId(user, false)),
						 quote_identifier(server->servername))));
}

/*
 * Read a server and a user's mapping for it, in the current memory context,
 * and check that the user may connect with that mapping.
 */
void
bf_server_read(Oid server, Oid user, BfServer *result)
{
	ForeignServer *found = GetForeignServerExtended(server, FSV_MISSING_OK);
	UserMapping *mapping;

	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server was concurrently dropped")));
	check_mapping(found, user);
	mapping = GetUserMapping(user, server);

	*result = defaults;
	result->name = found->servername;
	read_options(result, found->options, ForeignServerRelationId, false);
	read_options(result, mapping->options, UserMappingRelationId, false);
	combine_options(result);
	if (result->tls_cert != NULL && !result->tls)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("user mapping has a certificate, but server \"%s\" does not use TLS",
						result->name),
				 errhint("Set option \"tls\" of the server to true, or drop options \"tls_cert\" and \"tls_key\" of the user mapping.")));

	result->needs_password = result->password_required && !superuser_arg(user);
	if (result->password == NULL && result->needs_password)
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("Non-superusers must provide a password in the user mapping of server \"%s\".",
						   result->name),
				 errhint("A superuser can set option \"password_required\" of the user mapping to false.")));
}

/*
 * The server that an argument names: 42704 if it does not exist, 22023 if it
 * is of another wrapper, 42501 if the current user has no USAGE on it.
 */
Oid
bf_server_argument(FunctionCallInfo fcinfo, int argument)
{
	const char *name = NameStr(*PG_GETARG_NAME(argument));
	ForeignServer *server = GetForeignServerByName(name, true);
	AclResult	allowed;

	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" does not exist", name),
				 errhint("Use CREATE SERVER %s FOREIGN DATA WRAPPER %s OPTIONS (host '127.0.0.1'), then CREATE USER MAPPING FOR CURRENT_USER SERVER %s.",
						 quote_identifier(name), WRAPPER_NAME,
						 quote_identifier(name))));
	allowed = compat_server_aclcheck(server->serverid, GetUserId());
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_SERVER, server->servername);
	if (strcmp(GetForeignDataWrapper(server->fdwid)->fdwname,
			   WRAPPER_NAME) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("server \"%s\" does not use foreign data wrapper \"%s\"",
						server->servername, WRAPPER_NAME)));
	return server->serverid;
}

/* Refuse keys that are empty or too long. */
static void
check_key_length(Size length)
{
	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key must not be empty")));
	if (length > MAX_KEY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key of %zu bytes exceeds the maximum of %d bytes",
						length, MAX_KEY)));
}

/*
 * A key: text, in UTF-8 whatever the encoding of the database.  Its length is
 * checked before it is detoasted.
 */
char *
bf_key_argument(FunctionCallInfo fcinfo, int argument)
{
	char	   *key;

	check_key_length(toast_raw_datum_size(PG_GETARG_DATUM(argument)) - VARHDRSZ);
	key = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	key = pg_server_to_any(key, strlen(key), PG_UTF8);
	check_key_length(strlen(key));
	return key;
}

/*
 * Refuse to write to Redis in a transaction that was declared READ ONLY.  On a
 * standby every transaction is READ ONLY without a declaration, which is no
 * reason to refuse: Redis has no part in recovery.
 */
void
bf_refuse_read_only(const char *function)
{
	if (!TransactionStartedDuringRecovery())
		PreventCommandIfReadOnly(function);
}

/* A duration by the name of an argument, in ms; 0 if it is NULL. */
int64
bf_duration_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	Interval   *duration;
	double		ms;

	if (PG_ARGISNULL(argument))
		return 0;
	duration = PG_GETARG_INTERVAL_P(argument);
	ms = ((double) duration->month * DAYS_PER_MONTH + duration->day) * SECS_PER_DAY * 1000 +
		(double) duration->time / 1000;
	if (!(ms >= 1 && ms <= MAX_DURATION))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be from 1 millisecond to 30000 years", name),
				 errhint("Use NULL for a filter without a %s.", name)));
	return (int64) ms;
}
