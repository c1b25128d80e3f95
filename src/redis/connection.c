/*
 * connection.c
 *	  Connections to Redis servers, kept by the backend, and checks of their
 *	  replies.
 *
 * There is one connection for each server, user and node of a cluster.
 *
 * A connection is kept only if no reply is outstanding, no command is partly
 * sent and no key is watched.  All other connections are closed at the end of
 * an aborted transaction or subtransaction.  So an error may be raised
 * anywhere, and nothing leaks: closing a connection frees what
 * bloomext_hiredis.so has allocated for it.
 *
 * Any change of a server, user mapping or wrapper makes all connections
 * outdated, as it is not worthwhile to find out which ones it concerns (a new
 * mapping also concerns connections that were made with PUBLIC's).  Outdated
 * connections are closed as soon as they are idle.  What a server has reported
 * about the nodes of its cluster is forgotten at the same time.  So no
 * password is sent to a host that is known only from an older definition of
 * the server.
 *
 * Behind sentinels, an old master accepts writes for some more seconds after
 * another one has been promoted, and these writes are lost.  So a connection
 * whose master was not confirmed lately is used only after a sentinel has
 * named the same master again.  The connection to that sentinel is kept for
 * this.  Sentinels are not queried within a Redis transaction, nor while
 * replies of a pipeline are outstanding: see pipeline.c.
 *
 * With the server's option wait_replicas, a call waits until that number of
 * replicas has received what the call has written.  WAIT is sent once, after
 * the last unit of a pipeline, on the connection that has written.
 *
 * A cluster may name any number of nodes, so at most MAX_NODES connections to
 * nodes are kept.  When another one is needed, the connection that has been
 * idle longest is closed.
 *
 * An idle connection is checked before it is used again.  It is replaced if
 * the server has closed it, or if it has been idle for so long that a device
 * in between may have forgotten it.  As Redis limits the number of its
 * clients, no connection is kept after that time: between transactions, the
 * signal handler of a timer shuts it down, which a handler may do.  With the
 * server's option keep_connections off, it ends with the transaction.
 *
 * A reply is used only after a check that its type, and the number of elements
 * of an array, are what the command returns.  An error in a reply is raised.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#include "redis/redis_errors.h"
#include "redis/connection.h"
#include "redis/greeting.h"
#include "redis/resp.h"

/* The time in ms for which what sentinels said of the master is trusted. */
#define TRUST			1000

/* The most connections to nodes: enough for a cluster, and few open files. */
#define MAX_NODES		64

/* Attempts to read the options of a server that are being changed. */
#define MAX_TRIES		3

static HTAB *connections = NULL;

/* Between transactions, sockets that the handler of a timer shuts down. */
static TimeoutId idle_timer;
static pgsocket *idle = NULL;
static volatile int idle_count = 0;

/* Number of changes of servers, mappings and wrappers seen by this backend. */
static uint64 changes = 0;

/* Is a connection busy, so that it cannot be used for anything else? */
static bool
is_busy(const BfSocket *socket)
{
	return socket->connecting || socket->sending || socket->pending > 0;
}

/* May a connection's server or mapping have changed since it was made? */
static bool
is_outdated(const BfConnection *connection)
{
	return connection->changes != changes;
}

/* Is a connection to a node of a cluster, not to a host in the options? */
static bool
is_to_node(const BfConnection *connection)
{
	return connection->key.port != 0;
}

/* Close a connection, and the one to the sentinel that led to it. */
static void
close_connection(BfConnection *connection)
{
	bf_socket_close(&connection->socket);
	bf_socket_close(&connection->guide);
}

/* Close a connection and remove its entry. */
static void
forget_connection(BfConnection *connection)
{
	close_connection(connection);
	hash_search(connections, &connection->key, HASH_REMOVE, NULL);
}

/* Shut down idle connections, in a signal handler; they are closed later. */
static void
shut_down_idle(void)
{
	for (int i = 0; i < idle_count; i++)
		(void) shutdown(idle[i], SHUT_RDWR);
	idle_count = 0;
}

/* Stop the timer, as connections may be used or closed from now on. */
static void
stop_idling(void)
{
	disable_timeout(idle_timer, false);
	idle_count = 0;
}

/* Start the timer that shuts down connections idle for too long. */
static void
start_idling(void)
{
	HASH_SEQ_STATUS scan;
	BfConnection *connection;
	TimestampTz end = DT_NOEND;

	hash_seq_init(&scan, connections);
	while ((connection = hash_seq_search(&scan)) != NULL)
	{
		if (connection->socket.link == NULL)
			continue;
		end = Min(end, TimestampTzPlusMilliseconds(connection->last_used,
												   connection->idle_timeout));
		idle[idle_count++] = connection->socket.link->fd;
		if (connection->guide.link != NULL)
			idle[idle_count++] = connection->guide.link->fd;
	}
	if (idle_count > 0)
		enable_timeout_at(idle_timer, end);
}

/*
 * Close connections that an error left busy or that are outdated; at the end
 * of a transaction also those that are not kept beyond it.  The entries of
 * nodes without a connection are removed.
 */
static void
close_unusable(bool ended)
{
	HASH_SEQ_STATUS scan;
	BfConnection *connection;

	stop_idling();
	hash_seq_init(&scan, connections);
	while ((connection = hash_seq_search(&scan)) != NULL)
	{
		bf_socket_free_reply(&connection->socket);
		bf_socket_free_reply(&connection->guide);
		if (is_busy(&connection->guide))
			bf_socket_close(&connection->guide);
		if (is_busy(&connection->socket) || connection->watching ||
			is_outdated(connection) || (ended && !connection->kept))
			close_connection(connection);
		connection->written = false;
		if (connection->socket.link == NULL && is_to_node(connection))
			forget_connection(connection);
	}
}

/* A transaction has ended. */
static void
at_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
		event == XACT_EVENT_PREPARE)
	{
		close_unusable(true);
		start_idling();
	}
}

/* A subtransaction has ended. */
static void
at_subtransaction_end(SubXactEvent event, SubTransactionId mine,
					  SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		close_unusable(false);
}

/* A wrapper, server or user mapping has changed. */
static void
at_catalog_change(Datum arg, int cache, uint32 hash)
{
	changes++;
}

/* The number of these changes: what was learnt holds until it increases. */
uint64
bf_connection_changes(void)
{
	return changes;
}

/* Make the cache of connections, and register its callbacks. */
static void
make_cache(void)
{
	static const int caches[] = {
		FOREIGNDATAWRAPPEROID, FOREIGNSERVEROID, USERMAPPINGOID
	};
	HASHCTL		control = {
		.keysize = sizeof(BfConnectionKey),
		.entrysize = sizeof(BfConnection)
	};

	connections = hash_create("bloomext Redis connections", 8, &control,
							  HASH_ELEM | HASH_BLOBS);
	idle_timer = RegisterTimeout(USER_TIMEOUT, shut_down_idle);
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], at_catalog_change, (Datum) 0);
}

/*
 * Wait until the number of replicas required by the server's option have all
 * that this connection has written, and all that was there then, as bits that
 * it found set may be as new.
 */
static void
await_replicas(BfConnection *connection)
{
	BfSocket   *socket = &connection->socket;
	BfUnit	   *unit = bf_unit_make();
	const BfReply *reply;

	connection->written = false;
	bf_command_begin(unit, "WAIT");
	bf_command_number(unit, connection->wait_replicas);
	bf_command_number(unit, connection->wait_timeout);
	bf_unit_end(unit);
	socket->pending = unit->replies;
	bf_socket_send(socket, unit->bytes.data, unit->bytes.len);
	bf_unit_free(unit);
	reply = bf_socket_receive(socket);
	if (reply->type == BF_REPLY_INTEGER &&
		reply->integer >= connection->wait_replicas)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_TRANSACTION_RESOLUTION_UNKNOWN),
			 errmsg("write to Redis server \"%s\" was not confirmed by %d replicas",
					socket->name, connection->wait_replicas),
			 reply->type == BF_REPLY_ERROR ?
			 errdetail("The server replied to WAIT with: %s", bf_socket_printable(reply->str)) :
			 reply->type == BF_REPLY_INTEGER ?
			 errdetail("Only %lld confirmed it within wait_timeout.", reply->integer) : 0,
			 errhint("The data will be lost if a replica without it is promoted; write it again.")));
}

/*
 * Finish the use of a connection: it is kept for the next call.  What was
 * written has reached the required number of replicas.
 */
void
bf_connection_done(BfConnection *connection)
{
	bf_socket_free_reply(&connection->socket);
	if (connection->written && connection->wait_replicas > 0)
		await_replicas(connection);
	connection->written = false;
	bf_socket_free_reply(&connection->socket);
	connection->last_used = GetCurrentTimestamp();
}

/* Whether an idle connection is still usable. */
static bool
is_alive(const BfConnection *connection)
{
	return !TimestampDifferenceExceeds(connection->last_used,
									   GetCurrentTimestamp(),
									   connection->idle_timeout) &&
		bf_socket_is_silent(&connection->socket);
}

/*
 * Read a server and our mapping for it, as of one moment, as the server
 * determines where the mapping's password is sent.
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
			 errmsg("server \"%s\" is being changed concurrently", server->name)));
}

/*
 * Connect to a server, or to a node of its cluster; or make sure that a
 * connection still leads to the master.  Returns NULL, or why that failed.
 */
static char *
connect_to_server(BfConnection *connection, BfServer *server)
{
	TimestampTz now = GetCurrentTimestamp();
	char	   *problem;

	if (is_to_node(connection))
	{
		bf_check_redirection(server, connection->key.host);
		server->addresses[0] = (BfAddress) {
			connection->key.host, connection->key.port
		};
		server->address_count = 1;
	}
	connection->unproven = server->password_required && !server->needs_password;
	connection->cluster = server->cluster;
	connection->sentinel = server->sentinel != NULL;
	connection->kept = server->keep_connections;
	connection->idle_timeout = server->idle_timeout;
	connection->wait_replicas = server->wait_replicas;
	connection->wait_timeout = server->wait_timeout;
	connection->demoted = false;
	connection->watching = false;

	problem = bf_greet(&connection->socket, &connection->guide, server);
	if (problem != NULL)
		return problem;
	connection->verified = now;
	bf_connection_done(connection);
	return NULL;
}

/* Is a connection open, and as good as a new one? */
static bool
is_usable(const BfConnection *connection)
{
	/* A role that was a superuser may not be one any more. */
	return connection->socket.link != NULL &&
		!is_outdated(connection) && !is_busy(&connection->socket) &&
		!connection->watching && !connection->demoted &&
		!(connection->unproven && !superuser()) && is_alive(connection);
}

/* Was a connection's master last confirmed too long ago, by any clock? */
static bool
is_due(const BfConnection *connection)
{
	TimestampTz now = GetCurrentTimestamp();

	return connection->sentinel &&
		(now < connection->verified ||
		 TimestampDifferenceExceeds(connection->verified, now, TRUST));
}

/* Make room for a connection to a node by closing the one idle longest. */
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
		if (!is_busy(&connection->socket) && !connection->watching &&
			(oldest == NULL || connection->last_used < oldest->last_used))
			oldest = connection;
	}
	if (nodes >= MAX_NODES && oldest != NULL)
		forget_connection(oldest);
}

/* The entry of a connection, which may be closed. */
static BfConnection *
find_connection(const BfConnectionKey *key)
{
	BfConnection *connection = hash_search(connections, key, HASH_FIND, NULL);
	Size		sockets;

	if (connection != NULL)
		return connection;
	if (key->port != 0)
		make_room();
	sockets = 2 * (hash_get_num_entries(connections) + 1) * sizeof(pgsocket);
	idle = idle == NULL ? MemoryContextAlloc(TopMemoryContext, sockets) :
		repalloc(idle, sockets);
	connection = hash_search(connections, key, HASH_ENTER, NULL);
	memset((char *) connection + sizeof(*key), 0,
		   sizeof(BfConnection) - sizeof(*key));
	return connection;
}

/*
 * A connection of the current user to a server, or to a node of its cluster;
 * the caller has checked that the user may use the server.  If it cannot be
 * reached, returns a closed one and sets *problem.  Returns NULL if the server
 * that has named the node, or our account there, may have changed since.
 */
static BfConnection *
try_connection(Oid server, const BfNode *node, char **problem)
{
	BfConnectionKey key;
	BfConnection *connection;
	BfServer	options;
	uint64		before;

	*problem = NULL;
	if (connections == NULL)
		make_cache();
	stop_idling();
	memset(&key, 0, sizeof(key));
	key.server = server;
	key.user = GetUserId();
	if (node != NULL)
	{
		strlcpy(key.host, node->host, BF_HOST_SIZE);
		key.port = node->port;
	}
	connection = find_connection(&key);
	if (!is_usable(connection))
		close_connection(connection);
	if (connection->socket.link != NULL && !is_due(connection))
		return node == NULL || node->changes == changes ? connection : NULL;

	before = connection->changes;
	read_server(connection, &options);
	if (connection->changes != before)
		close_connection(connection);
	if (node != NULL && node->changes != connection->changes)
		return NULL;
	*problem = connect_to_server(connection, &options);
	return connection;
}

/* Get a connection; an error if the server cannot be reached. */
BfConnection *
bf_connection_open(Oid server, const BfNode *node)
{
	char	   *problem;
	BfConnection *connection = try_connection(server, node, &problem);

	if (problem != NULL)
		bf_socket_unreachable(connection->socket.name, problem);
	return connection;
}

/* Get a connection; NULL if the server cannot be reached. */
BfConnection *
bf_connection_try(Oid server, const BfNode *node)
{
	char	   *problem;
	BfConnection *connection = try_connection(server, node, &problem);

	return problem == NULL ? connection : NULL;
}

/*
 * Does an error require to query sentinels for the master before a unit is
 * sent again?  A master that lacks replicas may have lost them to another one.
 * The sentinels are queried once: a confirmed master simply lacks replicas.
 */
bool
bf_connection_is_doubtful(BfConnection *connection, const char *error)
{
	if (!connection->sentinel || connection->watching)
		return false;
	if (bf_redis_error_is_readonly(error))
	{
		connection->demoted = true;
		return true;
	}
	if (strncmp(error, "NOREPLICAS ", 11) != 0 ||
		(connection->doubted && connection->verified != 0))
		return false;
	connection->doubted = true;
	connection->verified = 0;
	return true;
}

/* Raise an error that was returned; return anything else. */
static const BfReply *
not_an_error(BfConnection *connection, const BfReply *reply)
{
	if (reply->type == BF_REPLY_ERROR)
		bf_connection_raise(connection, reply->str);
	return reply;
}

/* The value of a reply that must be an integer. */
long long
bf_reply_integer(BfConnection *connection, const BfReply *reply)
{
	if (not_an_error(connection, reply)->type != BF_REPLY_INTEGER)
		bf_connection_protocol_error(connection, "An integer was expected.");
	return reply->integer;
}

/* Whether a reply that must be 0 or 1 is 1. */
bool
bf_reply_bit(BfConnection *connection, const BfReply *reply)
{
	long long	bit = bf_reply_integer(connection, reply);

	if (bit != 0 && bit != 1)
		bf_connection_protocol_error(connection, "0 or 1 was expected.");
	return bit == 1;
}

/* Whether a reply is the status OK. */
bool
bf_reply_is_ok(const BfReply *reply)
{
	return reply->type == BF_REPLY_STATUS && strcmp(reply->str, "OK") == 0;
}

/* Check that a reply is a string. */
const BfReply *
bf_reply_string(BfConnection *connection, const BfReply *reply)
{
	if (not_an_error(connection, reply)->type != BF_REPLY_STRING)
		bf_connection_protocol_error(connection, "A string was expected.");
	return reply;
}

/* The elements of a reply that must be an array of that many. */
BfReply **
bf_reply_array(BfConnection *connection, const BfReply *reply,
			   size_t elements)
{
	if (not_an_error(connection, reply)->type != BF_REPLY_ARRAY ||
		reply->elements != elements)
		bf_connection_protocol_error(connection,
									 "An array of a different size was expected.");
	return reply->element;
}
