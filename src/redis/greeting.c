/*
 * greeting.c
 *	  Connect to the first address of a server that accepts us.
 *
 * The addresses are tried in turn, each for connect_timeout.  If a server
 * replies with an error, no other address is tried: the server is up, and its
 * error says what is wrong.
 *
 * If the addresses are sentinels, each is queried for the master, and the
 * host that it names must confirm by ROLE that it is one.  During a fail-over
 * the host may not confirm it; then the sentinels are queried again, for
 * connect_timeout in all.  The connection to the sentinel that has named the
 * master is kept, and that sentinel is the first to be queried again.  We
 * have a separate account on sentinels: its password is never sent to a
 * master, nor the master's to a sentinel.
 *
 * A password is sent in the AUTH command and nowhere else.  The reply to AUTH
 * is not repeated, as some errors quote the command.  If a role must have a
 * password (options.c), Redis must require one: a server that serves us
 * before AUTH trusts the machine on which we run, not the role, and is not
 * used.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "redis/redis_errors.h"
#include "redis/greeting.h"
#include "redis/resp.h"

/* Pause, in ms, before sentinels are queried again. */
#define PAUSE			50

/* A check of a server that has accepted us, which may return an address. */
typedef void (*AddressCheck) (BfSocket *socket, const BfServer *server,
							  BfAddress *answer);

/*
 * Refuse a host named by a server or a sentinel unless the owner of the server
 * allows it: it would receive the password of the account.
 */
void
bf_check_redirection(const BfServer *server, const char *host)
{
	if (server->redirect_hosts == NULL ||
		bf_hosts_include(server->redirect_hosts, host))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("Redis server \"%s\" redirects to host \"%s\", which is not allowed",
					server->name, bf_socket_printable(host)),
			 errdetail("Option \"redirect_hosts\" of the server does not include this host."),
			 errhint("Add the host to that option if it belongs to the server.")));
}

/* Raise an error of connecting; LOADING, or no master, means unreachable. */
pg_noreturn static void
fail_greeting(BfSocket *socket, const char *error)
{
	BfRedisError	answer = bf_redis_error_read(error, false);

	if (answer.sqlstate == BF_ERRCODE_REDIS_NOT_SERVING)
		bf_socket_unreachable(socket->name,
							  psprintf("The server replied %s: it does not accept commands yet.", answer.code));
	bf_socket_raise(socket, error);
}

/* Make sure that a server wants a password (NOAUTH) before it gets ours. */
static void
require_password(BfSocket *socket)
{
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";
	const BfReply *reply;
	bool		error;

	socket->pending = 1;
	bf_socket_send(socket, ping, sizeof(ping) - 1);
	reply = bf_socket_receive(socket);
	error = reply->type == BF_REPLY_ERROR;
	if (error && strncmp(reply->str, "NOAUTH", 6) == 0)
		return;
	/* NOPERM: the connection is already authenticated as some user. */
	if (error && strncmp(reply->str, "NOPERM", 6) != 0)
		fail_greeting(socket, reply->str);
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("password is required"),
			 errdetail("Non-superusers cannot connect if Redis server \"%s\" does not request a password.",
					   socket->name),
			 errhint("Set a password for the default user of Redis, or disable that user.  A superuser can set option \"password_required\" of the user mapping to false.")));
}

/* Authenticate, select the database, and check with PING. */
static void
authenticate_user(BfSocket *socket, const BfServer *server)
{
	BfUnit	   *unit = bf_unit_make();

	socket->authenticating = server->password != NULL;
	if (socket->authenticating)
	{
		bf_command_begin(unit, "AUTH");
		if (server->username != NULL)
			bf_command_text(unit, server->username);
		bf_command_text(unit, server->password);
	}
	if (server->db != 0)
	{
		bf_command_begin(unit, "SELECT");
		bf_command_number(unit, server->db);
	}
	bf_command_begin(unit, "PING");
	bf_unit_end(unit);

	socket->pending = unit->replies;
	bf_socket_send(socket, unit->bytes.data, unit->bytes.len);
	while (socket->pending > 0)
	{
		BfReply *reply = bf_socket_receive(socket);

		if (reply->type == BF_REPLY_ERROR)
			fail_greeting(socket, reply->str);
		if (reply->type != BF_REPLY_STATUS)
			bf_socket_protocol_error(socket,
									 "A status was expected in reply to AUTH, SELECT or PING.");
		socket->authenticating = false;
	}
	bf_unit_free(unit);
}

/* Open a socket to an address, and authenticate. */
static void
connect_to_address(BfSocket *socket, const BfServer *server,
				   const BfAddress *address)
{
	bf_socket_open(socket, server, address);
	if (server->needs_password)
		require_password(socket);
	authenticate_user(socket, server);
}

/* Append why an address cannot be used. */
static void
note_problem(StringInfo problems, const BfAddress *address,
			 const char *problem)
{
	if (problems->len > 0)
		appendStringInfoChar(problems, '\n');
	if (address->host != NULL)
		appendStringInfo(problems, "Host \"%s\", port %d: ",
						 bf_socket_printable(address->host), address->port);
	appendStringInfoString(problems, problem);
}

/*
 * Connect to an address, unless we are connected to it, and run a check; on
 * failure, append the reason to problems.  Any wait may raise a failure to
 * connect.  It is caught here, without a subtransaction, as nothing but memory
 * and the socket has been acquired since; any other error is raised again.
 */
static bool
try_address(BfSocket *socket, const BfServer *server, const BfAddress *address,
			AddressCheck check, BfAddress *answer, StringInfo problems)
{
	MemoryContext context = CurrentMemoryContext;

	PG_TRY();
	{
		if (socket->link == NULL)
			connect_to_address(socket, server, address);
		socket->connecting = true;
		if (check != NULL)
			check(socket, server, answer);
		socket->connecting = false;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		if (geterrcode() != ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		bf_socket_close(socket);
		note_problem(problems, address, error->detail);
	}
	PG_END_TRY();
	return socket->link != NULL;
}

/* Send a unit of one command, which is freed; an error is raised. */
static BfReply *
send_query(BfSocket *socket, BfUnit *unit)
{
	BfReply *reply;

	bf_unit_end(unit);
	socket->pending = unit->replies;
	bf_socket_send(socket, unit->bytes.data, unit->bytes.len);
	reply = bf_socket_receive(socket);
	if (reply->type == BF_REPLY_ERROR)
		fail_greeting(socket, reply->str);
	bf_unit_free(unit);
	return reply;
}

/* Query a sentinel for the address of the master: AddressCheck. */
static void
ask_for_master(BfSocket *socket, const BfServer *server, BfAddress *master)
{
	BfUnit	   *unit = bf_unit_make();
	BfReply *reply;

	bf_command_begin(unit, "SENTINEL");
	bf_command_text(unit, "GET-MASTER-ADDR-BY-NAME");
	bf_command_text(unit, server->sentinel);
	reply = send_query(socket, unit);
	if (reply->type == BF_REPLY_NIL)
		bf_socket_unreachable(socket->name,
							  psprintf("The sentinel does not know a master named \"%s\".", server->sentinel));
	if (reply->type != BF_REPLY_ARRAY || reply->elements != 2 ||
		reply->element[0]->type != BF_REPLY_STRING ||
		reply->element[1]->type != BF_REPLY_STRING)
		bf_socket_protocol_error(socket, "A host and a port were expected.");
	*master = (BfAddress) {
		pstrdup(reply->element[0]->str), atoi(reply->element[1]->str)
	};
	if (master->host[0] == '\0' || master->port < 1 || master->port > 65535)
		bf_socket_protocol_error(socket, "A host and a port were expected.");
}

/* Check that a server is a master: AddressCheck. */
static void
require_master(BfSocket *socket, const BfServer *server, BfAddress *none)
{
	BfUnit	   *unit = bf_unit_make();
	BfReply *reply;

	bf_command_begin(unit, "ROLE");
	reply = send_query(socket, unit);
	if (reply->type != BF_REPLY_ARRAY || reply->elements == 0 ||
		reply->element[0]->type != BF_REPLY_STRING)
		bf_socket_protocol_error(socket, "A role was expected.");
	if (strcmp(reply->element[0]->str, "master") != 0)
		bf_socket_unreachable(socket->name, "The server is not a master.");
}

/* Is a socket open, and connected to this address? */
static bool
leads_to(const BfSocket *socket, const BfAddress *address)
{
	return socket->link != NULL && socket->port == address->port &&
		strcmp(socket->host, address->host) == 0;
}

/*
 * Open a socket to the master that one of the sentinels names, or keep it if
 * it is connected there.  On failure, returns whether another attempt may
 * succeed soon.
 */
static bool
try_sentinels(BfSocket *socket, BfSocket *guide, const BfServer *server,
			  StringInfo problems)
{
	BfServer	sentinels = *server;
	bool		named = false;

	sentinels.username = server->sentinel_username;
	sentinels.password = server->sentinel_password;
	sentinels.needs_password = false;
	sentinels.db = 0;
	for (int i = guide->link != NULL ? -1 : 0; i < server->address_count; i++)
	{
		BfAddress	kept = {guide->host, guide->port};
		BfAddress	master = {0};

		if (i >= 0)
			bf_socket_close(guide);
		if (!try_address(guide, &sentinels, i < 0 ? &kept : &server->addresses[i],
						 ask_for_master, &master, problems))
			continue;
		named = true;
		if (leads_to(socket, &master))
			break;
		bf_socket_close(socket);
		bf_check_redirection(server, master.host);
		if (try_address(socket, server, &master, require_master, NULL,
						problems))
			break;
	}
	if (!named)
		bf_socket_close(socket);
	return named;
}

/* Open a socket to the master that sentinels name, waiting for one. */
static void
find_master(BfSocket *socket, BfSocket *guide, const BfServer *server,
			StringInfo problems)
{
	TimestampTz start = GetCurrentTimestamp();

	/* A sentinel that has closed the connection must be connected to again. */
	if (guide->link != NULL && !bf_socket_is_silent(guide))
		bf_socket_close(guide);
	while (try_sentinels(socket, guide, server, problems) &&
		   socket->link == NULL &&
		   !TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
									   server->connect_timeout))
	{
		bf_socket_pause(PAUSE);
		resetStringInfo(problems);
	}
}

/* Open a socket to the first of a server's hosts that accepts us. */
static void
find_host(BfSocket *socket, const BfServer *server, StringInfo problems)
{
	for (int i = 0; i < server->address_count; i++)
	{
		if (try_address(socket, server, &server->addresses[i], NULL, NULL,
						problems))
			break;
	}
}

/*
 * Open a socket to a server; returns NULL, or why that failed.  A socket that
 * is open is connected to a master, and is kept if sentinels still name it.
 */
char *
bf_greet(BfSocket *socket, BfSocket *guide, const BfServer *server)
{
	StringInfoData problems;

	initStringInfo(&problems);
	if (server->sentinel != NULL)
		find_master(socket, guide, server, &problems);
	else
		find_host(socket, server, &problems);
	return socket->link != NULL ? NULL : problems.data;
}
