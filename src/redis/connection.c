/*
 * connection.c
 *	  Connections to Redis servers, kept by the backend.
 *
 * One connection per server, user and node of a cluster.  Sockets are
 * non-blocking and every wait is one for the latch too, with a deadline, so
 * that a cancel, a time-out or a shutdown ends it.  Only the resolver of host
 * names, where a host is given by name, is out of reach.
 *
 * A deadline is for the next 64 kB, or for a whole reply that is shorter: large
 * transfers may take long, but a server that dribbles bytes may not.
 *
 * A connection is only worth keeping when it owes no reply, is not within a
 * command and watches no key.  Transactions and subtransactions that abort
 * close those that are or do: so an error may be raised anywhere, and what
 * hiredis allocated goes with the connection.
 *
 * Any change of a server, mapping or wrapper makes all connections outdated:
 * which of them it is about is not worth finding out (a mapping that is made
 * concerns those who went by PUBLIC's).  Such connections are closed as soon as
 * they are idle.  What a server said about its cluster's nodes is forgotten with
 * it, so that no password goes where only an older server has pointed.
 *
 * A cluster may name any number of nodes.  So many connections to nodes are kept:
 * for another one, that which has been idle longest is closed.
 *
 * Before an idle connection is used again it is looked at: one that the server
 * has closed, or that has been idle long enough for something between us to
 * have forgotten it, is made anew.
 *
 * A password goes into the AUTH command and nowhere else.  What the server
 * answers to AUTH is not repeated, as some errors quote the command.  A role
 * that needs a password has to need it in Redis, too: one that serves us before
 * AUTH trusts the machine that we run on, and gets none.
 *
 * An answer is bounded in bytes, and in what hiredis makes of them: the elements
 * of all its arrays are counted as a whole, and a line has an end.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "redis/connection.h"
#include "redis/options.h"
#include "redis/resp.h"
#include "redis/tls.h"

/* Bytes that buy another timeout. */
#define PROGRESS		(64 * 1024)

/* Connections idle for longer, in ms, are not trusted to be alive. */
#define MAX_IDLE		60000

/*
 * More elements than any reply that we ask for has, and than any has of those
 * that are not bits: what hiredis makes of them takes some 2 MB, and 8.
 */
#define MAX_ELEMENTS	(256 * 1024)
#define MAX_OBJECTS		65536

/*
 * Connections to nodes that are kept: more than nodes that a cluster usefully
 * has, and few of the files that a process may open.
 */
#define MAX_NODES		64

/* Times that a server's options are read anew because they change. */
#define MAX_TRIES		3

/* No line of a reply is longer: lengths, numbers, and errors. */
#define MAX_LINE		(64 * 1024)

static HTAB *connections = NULL;

/* Changes of servers, mappings and wrappers that this backend has seen. */
static uint64 changes = 0;

/*
 * hiredis's functions that build replies, and ours, which check sizes first
 * and take no memory for the bits that an array may be full of.
 */
static redisReplyObjectFunctions hiredis_functions;
static redisReplyObjectFunctions own_functions;
static redisReply bits[] = {
	{.type = REDIS_REPLY_INTEGER,.integer = 0},
	{.type = REDIS_REPLY_INTEGER,.integer = 1}
};

/* Count something that takes memory; false where that is too much. */
static bool
count_object(const redisReadTask *task)
{
	BfConnection *connection = task->privdata;

	return ++connection->objects <= MAX_OBJECTS;
}

static void *
create_array(const redisReadTask *task, compat_reply_count elements)
{
	BfConnection *connection = task->privdata;

	/* Replies hold arrays, but these none: what is freed is not deep. */
	if (!count_object(task) || elements > MAX_ELEMENTS ||
		(task->parent != NULL && task->parent->parent != NULL))
		return NULL;
	connection->elements += elements;
	if (connection->elements > MAX_ELEMENTS)
		return NULL;
	return hiredis_functions.createArray(task, elements);
}

static void *
create_string(const redisReadTask *task, char *bytes, size_t length)
{
	return count_object(task) ?
		hiredis_functions.createString(task, bytes, length) : NULL;
}

static void *
create_nil(const redisReadTask *task)
{
	return count_object(task) ? hiredis_functions.createNil(task) : NULL;
}

static void *
create_integer(const redisReadTask *task, long long value)
{
	redisReply *array;

	if (task->parent == NULL || (value != 0 && value != 1))
		return count_object(task) ?
			hiredis_functions.createInteger(task, value) : NULL;
	array = task->parent->obj;
	array->element[task->idx] = &bits[value];
	return &bits[value];
}

/* Take out of arrays what is not to be freed with them. */
static void
take_bits_out(redisReply *reply)
{
	for (size_t i = 0; i < reply->elements; i++)
	{
		redisReply *element = reply->element[i];

		if (element == &bits[0] || element == &bits[1])
			reply->element[i] = NULL;
		else if (element != NULL)
			take_bits_out(element);
	}
}

static void
free_object(void *reply)
{
	if (reply == NULL)
		return;
	take_bits_out(reply);
	freeReplyObject(reply);
}

/* Have a connection's replies built by our functions. */
static void
set_functions(BfConnection *connection)
{
	redisReader *reader = connection->context->reader;

	hiredis_functions = *reader->fn;
	own_functions = hiredis_functions;
	own_functions.createString = create_string;
	own_functions.createArray = create_array;
	own_functions.createInteger = create_integer;
	own_functions.createNil = create_nil;
	own_functions.freeObject = free_object;
	compat_refuse_resp3(&own_functions);
	reader->fn = &own_functions;
	reader->privdata = connection;
}

static void
free_reply(BfConnection *connection)
{
	free_object(connection->reply);
	connection->reply = NULL;
}

static void
close_connection(BfConnection *connection)
{
	free_reply(connection);
	if (connection->context == NULL)
		return;
	redisFree(connection->context);
	connection->context = NULL;
	ReleaseExternalFD();
}

/* Is it within something, so that it cannot be used for anything else? */
static bool
is_busy(const BfConnection *connection)
{
	return connection->connecting || connection->sending ||
		connection->watching || connection->pending > 0;
}

/* Was it made of a server or mapping that may be another one now? */
static bool
is_outdated(const BfConnection *connection)
{
	return connection->changes != changes;
}

/* Is it to a node of a cluster, and not to where a server's options say? */
static bool
is_to_node(const BfConnection *connection)
{
	return connection->key.node[0] != '\0';
}

/* Close a connection for good. */
static void
forget_connection(BfConnection *connection)
{
	close_connection(connection);
	hash_search(connections, &connection->key, HASH_REMOVE, NULL);
}

/*
 * Close what an error left within something, or what has become outdated.  Nodes
 * that have no connection are forgotten.
 */
static void
tidy(void)
{
	HASH_SEQ_STATUS scan;
	BfConnection *connection;

	hash_seq_init(&scan, connections);
	while ((connection = hash_seq_search(&scan)) != NULL)
	{
		free_reply(connection);
		if (is_busy(connection) || is_outdated(connection))
			close_connection(connection);
		if (connection->context == NULL && is_to_node(connection))
			forget_connection(connection);
	}
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
		event == XACT_EVENT_PREPARE)
		tidy();
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId mine,
					  SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tidy();
}

/* A wrapper, server or user mapping has changed. */
static void
at_catalog_change(Datum arg, int cache, uint32 hash)
{
	changes++;
}

/*
 * How many such changes have been seen: what was learnt of a server holds only
 * as long as this is the same.
 */
uint64
bf_connection_changes(void)
{
	return changes;
}

static void
initialize(void)
{
	HASHCTL		control = {
		.keysize = sizeof(BfConnectionKey),
		.entrysize = sizeof(BfConnection)
	};

	connections = hash_create("bloomext Redis connections", 8, &control,
							  HASH_ELEM | HASH_BLOBS);
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	CacheRegisterSyscacheCallback(FOREIGNDATAWRAPPEROID, at_catalog_change,
								  (Datum) 0);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, at_catalog_change,
								  (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, at_catalog_change,
								  (Datum) 0);
}

/*
 * Make text that came from outside fit to be shown: printable ASCII, and not
 * much of it.
 */
static char *
printable(const char *text, size_t length)
{
	char	   *result = pnstrdup(text, Min(length, 200));

	for (char *c = result; *c != '\0'; c++)
	{
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return result;
}

/* Raise an error that the server answered. */
void
bf_connection_raise(const BfConnection *connection, const char *error,
					size_t length)
{
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("Redis server \"%s\" answered with an error: %s",
					connection->name, printable(error, length))));
}

/* Close a connection and raise what made it useless, as the SQLSTATE says. */
pg_noreturn static void
fail(BfConnection *connection, int sqlstate, const char *detail)
{
	char	   *copy = printable(detail, strlen(detail));

	close_connection(connection);
	ereport(ERROR,
			(errcode(sqlstate),
			 sqlstate == ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION ?
			 errmsg("could not connect to Redis server \"%s\"", connection->name) :
			 sqlstate == ERRCODE_CONNECTION_FAILURE ?
			 errmsg("lost the connection to Redis server \"%s\"", connection->name) :
			 sqlstate == ERRCODE_QUERY_CANCELED ?
			 errmsg("Redis server \"%s\" took too long", connection->name) :
			 errmsg("Redis server \"%s\" sent an unexpected answer", connection->name),
			 errdetail("%s", copy)));
}

/* Raise that what the server answered makes no sense. */
void
bf_connection_protocol_error(BfConnection *connection, const char *problem)
{
	fail(connection, ERRCODE_PROTOCOL_VIOLATION, problem);
}

/*
 * Raise that a connection was lost; or, better, the error that the server sent
 * before it closed it.
 */
pg_noreturn static void
fail_lost(BfConnection *connection, const char *detail)
{
	void	   *reply = NULL;

	if (connection->connecting)
		fail(connection, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
			 detail);
	if (connection->sending &&
		redisReaderGetReply(connection->context->reader, &reply) == REDIS_OK &&
		reply != NULL)
	{
		free_reply(connection);
		connection->reply = reply;
		if (connection->reply->type == REDIS_REPLY_ERROR)
			bf_connection_raise(connection, connection->reply->str,
								connection->reply->len);
	}
	fail(connection, ERRCODE_CONNECTION_FAILURE, detail);
}

static void
set_deadline(BfConnection *connection)
{
	connection->deadline =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									connection->connecting ?
									connection->connect_timeout :
									connection->command_timeout);
	connection->progress = 0;
}

/* Note bytes that were sent or received. */
static void
note_progress(BfConnection *connection, size_t bytes)
{
	connection->progress += bytes;
	if (connection->progress >= PROGRESS)
		set_deadline(connection);
}

/*
 * Wait until the socket can be read or written, as events say; returns which.
 * Interrupts are served, and raise.
 */
static int
wait_for_socket(BfConnection *connection, int events)
{
	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														   connection->deadline);
		int			happened;

		if (left <= 0)
			break;
		happened = WaitLatchOrSocket(MyLatch,
									 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH |
									 WL_TIMEOUT | events,
									 connection->context->fd, left,
									 PG_WAIT_EXTENSION);
		if (happened & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (happened & events)
			return happened & events;
	}
	if (connection->connecting)
		fail(connection, ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION,
			 "It did not answer within connect_timeout.");
	fail(connection, ERRCODE_QUERY_CANCELED,
		 "It did not answer within command_timeout.");
}

/* Read what there is; returns whether there was anything. */
static bool
read_some(BfConnection *connection)
{
	redisContext *context = connection->context;
	size_t		before = context->reader->len;
	size_t		bytes;

	if ((connection->tls ? bf_tls_read(context) :
		 redisBufferRead(context)) != REDIS_OK)
	{
		if (context->err == REDIS_ERR_PROTOCOL)
			bf_connection_protocol_error(connection, context->errstr);
		fail_lost(connection, connection->tls ?
				  bf_tls_reason(context->errstr) : context->errstr);
	}
	bytes = context->reader->len - before;
	connection->received += bytes;
	if (connection->received > connection->reply_limit)
		bf_connection_protocol_error(connection,
							   "The answer is longer than any that was asked for.");
	note_progress(connection, bytes);
	return bytes > 0;
}

/* Write what the socket takes; 0: nothing at present. */
static size_t
write_some(BfConnection *connection, const char *bytes, size_t length)
{
	ssize_t		written;

	if (connection->tls)
		written = bf_tls_write(connection->context, bytes, length);
	else
		written = send(connection->context->fd, bytes, length, 0);
	if (written >= 0)
		return written;
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
		return 0;
	fail_lost(connection, connection->tls ?
			  bf_tls_reason(strerror(errno)) : strerror(errno));
}

/*
 * Send bytes: a whole command, or part of one.  The caller has added the
 * replies that are due for them to connection->pending.
 */
void
bf_connection_send(BfConnection *connection, const void *bytes, size_t length)
{
	const char *at = bytes;

	connection->sending = true;
	set_deadline(connection);
	while (length > 0)
	{
		size_t		written = write_some(connection, at, length);

		CHECK_FOR_INTERRUPTS();
		at += written;
		length -= written;
		note_progress(connection, written);
		/* An answer may come, too, or the end: it is to be heard. */
		if (written == 0 &&
			wait_for_socket(connection, connection->tls ?
							bf_tls_wants(connection->context) :
							WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE) & WL_SOCKET_READABLE)
			(void) read_some(connection);
	}
	connection->sending = false;
	set_deadline(connection);
}

/*
 * Raise that what has come of a reply is a line without an end: hiredis would
 * search it from its start whenever more comes.
 */
static void
check_line(BfConnection *connection)
{
	const redisReader *reader = connection->context->reader;

	if (reader->len - reader->pos > MAX_LINE &&
		memchr(reader->buf + reader->pos, '\n', MAX_LINE) == NULL)
		bf_connection_protocol_error(connection,
							   "A line is longer than any that was asked for.");
}

/*
 * Receive the next reply.  It stays valid until the next one is received, or
 * bf_connection_done().  With the last one that is due, nothing may be left:
 * after an answer too many, none is the one that it is taken for.
 */
redisReply *
bf_connection_receive(BfConnection *connection)
{
	redisReader *reader = connection->context->reader;
	void	   *reply = NULL;

	free_reply(connection);
	for (;;)
	{
		if (redisReaderGetReply(reader, &reply) != REDIS_OK)
			bf_connection_protocol_error(connection,
								   reader->err == REDIS_ERR_OOM ?
								   "The answer is larger than any that was asked for." :
								   reader->errstr);
		if (reply != NULL)
			break;
		check_line(connection);
		CHECK_FOR_INTERRUPTS();
		if (!read_some(connection))
			wait_for_socket(connection, WL_SOCKET_READABLE);
	}
	connection->reply = reply;
	connection->pending--;
	connection->received = 0;
	connection->elements = 0;
	connection->objects = 0;
	if (connection->pending == 0 && reader->pos < reader->len)
		bf_connection_protocol_error(connection, "There are more answers than commands.");
	set_deadline(connection);
	return reply;
}

/* Say that no more is wanted of a connection: it is kept for the next call. */
void
bf_connection_done(BfConnection *connection)
{
	free_reply(connection);
	connection->last_used = GetCurrentTimestamp();
	connection->reply_limit = BF_REPLY_LIMIT;
}

/*
 * Whether a connection that has been idle still serves: nothing is to be read
 * from it, not even its end.  Nothing has been read too much, either: see
 * bf_connection_receive(), and hiredis takes what TLS has decrypted whole.
 */
static bool
is_alive(const BfConnection *connection)
{
	char		byte;

	if (TimestampDifferenceExceeds(connection->last_used,
								   GetCurrentTimestamp(), MAX_IDLE))
		return false;
	return recv(connection->context->fd, &byte, 1, MSG_PEEK) < 0 &&
		(errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Split "host:port" of a node; IPv6 addresses have colons of their own. */
static char *
split_node(const char *node, int *port)
{
	const char *colon = strrchr(node, ':');

	*port = atoi(colon + 1);
	return pnstrdup(node, colon - node);
}

/* Make the socket; what is wrong with it is in the context, or it is NULL. */
static redisContext *
make_context(const BfConnection *connection, const BfServer *server)
{
	char	   *host = server->host;
	int			port = server->port;

	if (server->socket != NULL)
		return redisConnectUnixNonBlock(server->socket);
	if (is_to_node(connection))
		host = split_node(connection->key.node, &port);
	return redisConnectNonBlock(host, port);
}

/* Open the socket, and account for it. */
static void
open_socket(BfConnection *connection, const BfServer *server)
{
	redisContext *context;

	if (!AcquireExternalFD())
		ereport(ERROR,
				(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
				 errmsg("could not connect to Redis server \"%s\"",
						server->name),
				 errdetail("There are too many open files on the local server.")));
	context = make_context(connection, server);
	if (context == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	connection->context = context;
	if (context->err != 0)
		fail_lost(connection, context->errstr);
	(void) fcntl(context->fd, F_SETFD, FD_CLOEXEC);
	set_functions(connection);
}

/* Wait until the socket is connected. */
static void
await_connect(BfConnection *connection)
{
	int			error = 0;
	socklen_t	size = sizeof(error);

	wait_for_socket(connection, WL_SOCKET_WRITEABLE);
	if (getsockopt(connection->context->fd, SOL_SOCKET, SO_ERROR, &error,
				   &size) < 0)
		error = errno;
	if (error != 0)
		fail_lost(connection, strerror(error));
}

/* The length of an error's first word, its code; the rest may quote us. */
static size_t
code_length(const redisReply *error)
{
	size_t		length = 0;

	while (length < error->len && error->str[length] >= 'A' &&
		   error->str[length] <= 'Z')
		length++;
	return length;
}

/*
 * Make sure that a server wants a password, before it gets ours: it answers
 * NOAUTH, and nothing else, to a command that comes first.
 */
static void
prove_password(BfConnection *connection)
{
	static const char ping[] = "*1\r\n$4\r\nPING\r\n";
	const redisReply *reply;
	bool		error;

	connection->pending = 1;
	bf_connection_send(connection, ping, sizeof(ping) - 1);
	reply = bf_connection_receive(connection);
	error = reply->type == REDIS_REPLY_ERROR;
	if (error && strncmp(reply->str, "NOAUTH", 6) == 0)
		return;
	/* Who may not PING is somebody already. */
	if (error && strncmp(reply->str, "NOPERM", 6) != 0)
		bf_connection_raise(connection, reply->str, reply->len);
	ereport(ERROR,
			(errcode(ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED),
			 errmsg("password is required"),
			 errdetail("Non-superusers cannot connect if Redis server \"%s\" does not request a password.",
					   connection->name),
			 errhint("Give the default user of Redis a password, or switch it off. A superuser may set the mapping's option \"password_required\" to false.")));
}

/*
 * Introduce ourselves: account, database, and a PING that makes sure that
 * somebody is there.
 */
static void
introduce(BfConnection *connection, const BfServer *server)
{
	BfUnit	   *unit = bf_unit_make();
	bool		auth = server->password != NULL;

	if (auth)
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

	connection->pending = unit->replies;
	bf_connection_send(connection, unit->bytes.data, unit->bytes.len);
	while (connection->pending > 0)
	{
		redisReply *reply = bf_connection_receive(connection);

		if (reply->type == REDIS_REPLY_ERROR)
		{
			bf_connection_raise(connection, reply->str,
								auth ? code_length(reply) : reply->len);
		}
		if (reply->type != REDIS_REPLY_STATUS)
			bf_connection_protocol_error(connection,
								   "The greeting was not answered with a status.");
		auth = false;
	}
	bf_unit_free(unit);
}

/*
 * Read a server and our mapping for it, both as they are at one moment: the one
 * may say where to take what the other says.
 */
static void
read_server(BfConnection *connection, BfServer *server)
{
	for (int tries = 0; tries < MAX_TRIES; tries++)
	{
		connection->changes = changes;
		bf_server_read(connection->key.server, connection->key.user, server);
		AcceptInvalidationMessages();
		if (!is_outdated(connection))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("server \"%s\" keeps changing", server->name)));
}

static void
connect_to_server(BfConnection *connection, const BfServer *server)
{
	strlcpy(connection->name, server->name, NAMEDATALEN);
	connection->may_lack_password = !server->password_required;
	connection->proven = server->needs_password;
	connection->tls = server->tls;
	connection->cluster = server->cluster;
	connection->connect_timeout = server->connect_timeout;
	connection->command_timeout = server->command_timeout;
	connection->sending = false;
	connection->watching = false;
	connection->pending = 0;
	connection->received = 0;
	connection->elements = 0;
	connection->objects = 0;
	connection->reply_limit = BF_REPLY_LIMIT;

	connection->connecting = true;
	set_deadline(connection);
	open_socket(connection, server);
	await_connect(connection);
	if (server->tls)
		bf_tls_start(connection->context, server);
	if (server->needs_password)
		prove_password(connection);
	introduce(connection, server);
	connection->connecting = false;
	bf_connection_done(connection);
}

/* Make room for a connection to a node: at the cost of the one idle longest. */
static void
make_room(void)
{
	HASH_SEQ_STATUS scan;
	BfConnection *connection;
	BfConnection *oldest = NULL;
	int			nodes = 0;

	hash_seq_init(&scan, connections);
	while ((connection = hash_seq_search(&scan)) != NULL)
	{
		if (!is_to_node(connection))
			continue;
		nodes++;
		if (!is_busy(connection) &&
			(oldest == NULL || connection->last_used < oldest->last_used))
			oldest = connection;
	}
	if (nodes >= MAX_NODES && oldest != NULL)
		forget_connection(oldest);
}

/* The entry of a connection, which need not be open. */
static BfConnection *
find_connection(const BfConnectionKey *key)
{
	BfConnection *connection = hash_search(connections, key, HASH_FIND, NULL);

	if (connection != NULL)
		return connection;
	if (key->node[0] != '\0')
		make_room();
	connection = hash_search(connections, key, HASH_ENTER, NULL);
	memset((char *) connection + sizeof(*key), 0,
		   sizeof(BfConnection) - sizeof(*key));
	return connection;
}

/*
 * A connection of the current user to a server, or to a node of its cluster;
 * the caller has checked that the user may use the server.  NULL where what has
 * named the node is a server, or was given an account, that may be another now.
 */
BfConnection *
bf_connection_open(Oid server, const BfNode *node)
{
	BfConnectionKey key;
	BfConnection *connection;
	BfServer	options;

	if (connections == NULL)
		initialize();
	memset(&key, 0, sizeof(key));
	key.server = server;
	key.user = GetUserId();
	if (node != NULL)
		strlcpy(key.node, node->address, BF_NODE_SIZE);
	connection = find_connection(&key);

	if (connection->context != NULL &&
		(is_outdated(connection) || is_busy(connection) ||
		 !is_alive(connection)))
		close_connection(connection);
	/* A role that was a superuser may be none any more. */
	if (connection->context != NULL && !connection->proven &&
		!connection->may_lack_password && !superuser())
		close_connection(connection);
	if (connection->context != NULL)
		return node == NULL || node->changes == changes ? connection : NULL;

	read_server(connection, &options);
	if (node != NULL && node->changes != connection->changes)
		return NULL;
	connect_to_server(connection, &options);
	return connection;
}

/* Raise an error that was answered; anything else is returned. */
static const redisReply *
not_an_error(BfConnection *connection, const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR)
		bf_connection_raise(connection, reply->str, reply->len);
	return reply;
}

/* The integer that a reply is. */
long long
bf_reply_integer(BfConnection *connection, const redisReply *reply)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_INTEGER)
		bf_connection_protocol_error(connection, "An integer was expected.");
	return reply->integer;
}

/* Whether a reply is the status of something done. */
bool
bf_reply_is_ok(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
}

/* A reply that is a string. */
const redisReply *
bf_reply_string(BfConnection *connection, const redisReply *reply)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_STRING)
		bf_connection_protocol_error(connection, "A string was expected.");
	return reply;
}

/* The elements of a reply that is an array of so many. */
redisReply **
bf_reply_array(BfConnection *connection, const redisReply *reply,
			   size_t elements)
{
	if (not_an_error(connection, reply)->type != REDIS_REPLY_ARRAY ||
		reply->elements != elements)
		bf_connection_protocol_error(connection,
							   "An array of another size was expected.");
	return reply->element;
}
