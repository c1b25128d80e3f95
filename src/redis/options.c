/*
 * options.c
 *	  Where a Redis server is and who we are there, out of the catalogs.
 *
 * No function takes an address: a server is a catalog object, which only who
 * has USAGE on the foreign data wrapper can make (a superuser, unless granted
 * on), and USAGE on the server is what lets a role reach it.  The account and
 * its password are in the user mapping, which other roles cannot read.
 *
 * As in postgres_fdw, a role that is no superuser needs a password in its
 * mapping: without one, it would be the operating system's user of the server
 * that Redis trusts, not the role.  That Redis asks for it is proven when we
 * connect.  A superuser may waive both by the mapping's option
 * password_required.
 *
 * This file does without hiredis: a build that has none can still restore a
 * dump.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "compat.h"
#include "redis/options.h"

PG_FUNCTION_INFO_V1(bloomext_redis_validator);

#define WRAPPER_NAME			"bloomext_redis"
#define DEFAULT_PORT			6379
#define DEFAULT_CONNECT_TIMEOUT	1000
#define DEFAULT_COMMAND_TIMEOUT	5000

typedef enum OptionType
{
	OPTION_TEXT,
	OPTION_BOOLEAN,
	OPTION_INTEGER
} OptionType;

typedef struct Option
{
	const char *name;
	Oid			catalog;		/* of the objects that have it */
	OptionType	type;
	int			minimum;		/* of an integer */
	int			maximum;
} Option;

static const Option options[] = {
	{"host", ForeignServerRelationId, OPTION_TEXT},
	{"socket", ForeignServerRelationId, OPTION_TEXT},
	{"port", ForeignServerRelationId, OPTION_INTEGER, 1, 65535},
	{"db", ForeignServerRelationId, OPTION_INTEGER, 0, PG_INT32_MAX},
	{"connect_timeout", ForeignServerRelationId, OPTION_INTEGER, 1, PG_INT32_MAX},
	{"command_timeout", ForeignServerRelationId, OPTION_INTEGER, 1, PG_INT32_MAX},
	{"tls", ForeignServerRelationId, OPTION_BOOLEAN},
	{"tls_ca", ForeignServerRelationId, OPTION_TEXT},
	{"cluster", ForeignServerRelationId, OPTION_BOOLEAN},
	{"username", UserMappingRelationId, OPTION_TEXT},
	{"password", UserMappingRelationId, OPTION_TEXT},
	{"password_required", UserMappingRelationId, OPTION_BOOLEAN}
};

/* Find an option of a kind of object, or raise which there are. */
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
		appendStringInfo(&known, "%s%s", known.len > 0 ? ", " : "",
						 options[i].name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 known.len > 0 ?
			 errhint("Valid options in this context are: %s.", known.data) :
			 errhint("There are no valid options in this context.")));
}

/* The integer that an option has; 22023 for one out of its range. */
static int
integer_option(const Option *option, DefElem *def)
{
	char	   *text = defGetString(def);
	char	   *end;
	long		value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno != 0 ||
		value < option->minimum || value > option->maximum)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						option->name, text),
				 errdetail("It must be an integer from %d to %d.",
						   option->minimum, option->maximum)));
	return (int) value;
}

static void
check_option(const Option *option, DefElem *def)
{
	switch (option->type)
	{
		case OPTION_INTEGER:
			(void) integer_option(option, def);
			break;
		case OPTION_BOOLEAN:
			/* Only a superuser may do without a password. */
			if (!defGetBoolean(def) &&
				strcmp(option->name, "password_required") == 0 && !superuser())
				ereport(ERROR,
						(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						 errmsg("password_required=false is superuser-only"),
						 errhint("User mappings with the password_required option set to false may only be created or modified by the superuser.")));
			break;
		case OPTION_TEXT:
			/* The value may be a password: it is not to be repeated. */
			if (defGetString(def)[0] == '\0')
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("option \"%s\" must not be empty",
								option->name)));
			break;
	}
}

/* Put one option of a server or mapping in its place. */
static void
apply_option(BfServer *server, DefElem *def, Oid catalog)
{
	const Option *option = find_option(def->defname, catalog);
	const char *name = option->name;
	char	   *text = option->type == OPTION_TEXT ? defGetString(def) : NULL;
	int			number = option->type == OPTION_INTEGER ? integer_option(option, def) : 0;
	bool		flag = option->type == OPTION_BOOLEAN && defGetBoolean(def);

	if (strcmp(name, "host") == 0)
		server->host = text;
	else if (strcmp(name, "socket") == 0)
		server->socket = text;
	else if (strcmp(name, "port") == 0)
		server->port = number;
	else if (strcmp(name, "db") == 0)
		server->db = number;
	else if (strcmp(name, "connect_timeout") == 0)
		server->connect_timeout = number;
	else if (strcmp(name, "command_timeout") == 0)
		server->command_timeout = number;
	else if (strcmp(name, "tls") == 0)
		server->tls = flag;
	else if (strcmp(name, "tls_ca") == 0)
		server->tls_ca = text;
	else if (strcmp(name, "cluster") == 0)
		server->cluster = flag;
	else if (strcmp(name, "username") == 0)
		server->username = text;
	else if (strcmp(name, "password") == 0)
		server->password = text;
	else if (strcmp(name, "password_required") == 0)
		server->password_required = flag;
}

static void
apply_options(BfServer *server, List *list, Oid catalog)
{
	ListCell   *cell;

	foreach(cell, list)
		apply_option(server, (DefElem *) lfirst(cell), catalog);
}

/* Raise what options do not go together. */
static void
check_server(const BfServer *server)
{
	const char *problem = NULL;

	if ((server->host == NULL) == (server->socket == NULL))
		problem = "server must have either a host or a socket";
	else if (server->socket != NULL && (server->tls || server->cluster))
		problem = "options \"tls\" and \"cluster\" need a host, not a socket";
	else if (server->cluster && server->db != 0)
		problem = "option \"db\" must be 0 for a cluster";
	else if (server->tls_ca != NULL && !server->tls)
		problem = "option \"tls_ca\" needs option \"tls\"";
	if (problem != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s", problem)));
}

static const BfServer defaults = {
	.port = DEFAULT_PORT,
	.connect_timeout = DEFAULT_CONNECT_TIMEOUT,
	.command_timeout = DEFAULT_COMMAND_TIMEOUT,
	.password_required = true
};

/* The validator of wrapper bloomext_redis: names, values, combinations. */
Datum
bloomext_redis_validator(PG_FUNCTION_ARGS)
{
	List	   *list = untransformRelOptions(PG_GETARG_DATUM(0));
	Oid			catalog = PG_GETARG_OID(1);
	BfServer	server = defaults;
	ListCell   *cell;

	foreach(cell, list)
	{
		DefElem    *def = (DefElem *) lfirst(cell);

		check_option(find_option(def->defname, catalog), def);
	}
	if (catalog == ForeignServerRelationId)
	{
		apply_options(&server, list, catalog);
		check_server(&server);
	}
	PG_RETURN_VOID();
}

/*
 * Find a server of ours by name: 42704 where there is none, 22023 where it is
 * another wrapper's, 42501 where the current user has no USAGE on it.
 */
Oid
bf_server_usable(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);
	AclResult	allowed;

	allowed = compat_server_aclcheck(server->serverid, GetUserId());
	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_FOREIGN_SERVER, server->servername);
	if (strcmp(GetForeignDataWrapper(server->fdwid)->fdwname,
			   WRAPPER_NAME) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("server \"%s\" is not a server of foreign data wrapper \"%s\"",
						server->servername, WRAPPER_NAME)));
	return server->serverid;
}

/*
 * Read a server and a user's mapping for it, in the current memory context,
 * and check that the user may go by that mapping.
 */
void
bf_server_read(Oid server, Oid user, BfServer *result)
{
	ForeignServer *found = GetForeignServerExtended(server, FSV_MISSING_OK);
	UserMapping *mapping;

	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server was dropped while it was used")));
	mapping = GetUserMapping(user, server);

	*result = defaults;
	result->name = found->servername;
	apply_options(result, found->options, ForeignServerRelationId);
	apply_options(result, mapping->options, UserMappingRelationId);
	check_server(result);

	result->needs_password = result->password_required && !superuser_arg(user);
	if (result->password == NULL && result->needs_password)
		ereport(ERROR,
				(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
				 errmsg("password is required"),
				 errdetail("Non-superusers must provide a password in the user mapping of server \"%s\".",
						   result->name),
				 errhint("A superuser may set the mapping's option \"password_required\" to false.")));
}
