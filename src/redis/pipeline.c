/*
 * pipeline.c
 *	  Send units of commands and receive their replies: a single unit, or many
 *	  in a pipeline.
 *
 * A unit is what Redis executes together: one command, or a transaction from
 * MULTI to EXEC.  The units of a pipeline are about keys of one slot, and are
 * sent one after another without waiting: Redis works on one command while we
 * write the next.  The number of units under way and their length are
 * bounded, so that neither side has to keep much.  Small units are gathered,
 * so that they do not cost a system call each.  If Redis does not have the
 * script of a unit, or does not know or allow its command, the unit is sent
 * again, with the script's text or by another command that does the same.
 * This is done after all other units: units of a pipeline do not depend on
 * each other.
 *
 * An error that the server returns is raised only after all replies have been
 * received, so that the connection can be kept.  In a cluster, units that
 * were redirected are sent again, one by one, to the node that serves them
 * now.  They were not executed, so nothing is done twice.  Later units go to
 * that node directly, so few are sent twice.  A transaction cannot be sent to
 * a node that is still importing its slot (ASK is for one command), so it
 * waits until the slot has moved.
 *
 * Behind sentinels, an old master that is a replica now refuses writes.  It
 * executes nothing of such a unit, which is sent again, to the new master.
 * But what the old master did execute may be missing on the new one.  So a
 * unit is sent there only if no unit of the pipeline has been executed yet,
 * and never while keys are watched.  Nor is a pipeline continued on a
 * connection that may lead to another server once a unit has been executed.
 * Sentinels are queried before a pipeline begins, and again only when all
 * units that were sent have been answered and no key is watched.  If they
 * name another master after the pipeline has begun, it fails.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "redis/pipeline.h"

/* Maximum number of units under way, if they are quickly done. */
#define WINDOW			32

/* Maximum of their bytes, unless there is only one. */
#define MAX_KEPT		(4 * 1024 * 1024)

/* Bytes that are sent at a time; Redis reads that many at a time. */
#define GATHER			(16 * 1024)

/* Pause, in ms, while a slot is being moved or not served. */
#define PAUSE			20

/* The most redirections of a unit: more than a slot moves meanwhile. */
#define MAX_MOVES		16

/* Connect a pipeline to the node that serves its key. */
static void
connect_pipeline(BfPipeline *pipeline)
{
	pipeline->connection = bf_cluster_route(pipeline->server, pipeline->key);
	if (!pipeline->executed)
		pipeline->made = pipeline->connection->socket.made;
}

/*
 * Raise an error if a pipeline that has begun has lost its connection.  In a
 * cluster each node has one, and a slot that moves takes what was written
 * along; but a node that was promoted may lack a part of it.
 */
static void
check_connection(const BfPipeline *pipeline, const BfConnection *connection)
{
	if (pipeline->executed && connection->socket.made != pipeline->made &&
		(pipeline->stays || !connection->cluster))
		ereport(ERROR,
				(errcode(ERRCODE_CONNECTION_FAILURE),
				 errmsg("connection to Redis server \"%s\" was lost",
						connection->socket.name),
				 errdetail("Earlier writes on the lost connection may be missing on the server that is used now.")));
}

/* Start a pipeline, in the current memory context. */
void
bf_pipeline_start(BfPipeline *pipeline, Oid server, const char *key,
				  BfReplyHandler handler, void *arg)
{
	*pipeline = (BfPipeline) {
		.server = server,
		.key = key,
		.handler = handler,
		.arg = arg,
		.window = WINDOW
	};
	connect_pipeline(pipeline);
	initStringInfo(&pipeline->unsent);
}

/* Make a unit, to be filled with commands. */
BfUnit *
bf_pipeline_unit(BfPipeline *pipeline)
{
	BfUnit	   *unit = bf_unit_make();

	unit->number = pipeline->units++;
	return unit;
}

/* Receive a unit's replies; returns the last, and the first error or NULL. */
static const BfReply *
receive_unit(BfConnection *connection, const BfUnit *unit, char **error)
{
	const BfReply *reply = NULL;

	*error = NULL;
	for (int i = 0; i < unit->replies; i++)
	{
		reply = bf_socket_receive(&connection->socket);
		if (reply->type == BF_REPLY_ERROR && *error == NULL)
			*error = pstrdup(reply->str);
	}
	if (*error == NULL)
	{
		connection->doubted = false;
		connection->written |= unit->writes;
	}
	return reply;
}

/* Send what was gathered. */
static void
flush_unsent(BfPipeline *pipeline)
{
	if (pipeline->unsent.len > 0)
		bf_socket_send(&pipeline->connection->socket, pipeline->unsent.data,
					   pipeline->unsent.len);
	resetStringInfo(&pipeline->unsent);
}

/*
 * Whether a unit that failed is to be sent again with another verb: the server
 * does not know the verb or the script, or our account must not use the verb.
 */
static bool
wants_other_verb(BfConnection *connection, BfUnit *unit, const char *error)
{
	bool		refused = strncmp(error, "NOPERM ", 7) == 0;

	if (bf_unit_says_it_reads(unit) && refused && !unit->whole &&
		strstr(error, "'evalsha_ro'") != NULL)
	{
		connection->unnamed = unit->whole = true;
		return true;
	}
	if (bf_unit_says_it_reads(unit) &&
		(strncmp(error, "ERR unknown command", 19) == 0 ||
		 (refused && strstr(error, "'eval_ro'") != NULL)))
	{
		connection->plain = unit->plain = true;
		connection->unnamed = false;
		unit->whole = connection->watching;
		return true;
	}
	if (unit->script == NULL || unit->whole)
		return false;
	if (refused && strstr(error, "'evalsha'") != NULL)
		connection->unnamed = true;
	else if (strncmp(error, "NOSCRIPT ", 9) != 0)
		return false;
	unit->whole = true;
	return true;
}

/* Whether a unit that failed is to be sent elsewhere. */
static bool
is_redirected(const BfPipeline *pipeline, const char *error)
{
	BfNode		node;
	BfRedirect	redirect = bf_cluster_redirect(pipeline->connection, error,
											   pipeline->key, &node);

	return redirect != BF_REDIRECT_NONE &&
		!(pipeline->executed &&
		  (pipeline->stays || redirect == BF_REDIRECT_MASTER));
}

/* Receive the replies to the oldest unit, and process them. */
static void
receive_oldest(BfPipeline *pipeline)
{
	BfUnit	   *unit = linitial(pipeline->sent);
	char	   *error;
	const BfReply *reply;

	flush_unsent(pipeline);
	reply = receive_unit(pipeline->connection, unit, &error);
	pipeline->sent = list_delete_first(pipeline->sent);
	pipeline->kept -= unit->bytes.len;
	if (error == NULL)
	{
		pipeline->executed = true;
		pipeline->handler(pipeline->connection, reply, unit, pipeline->arg);
	}
	else if (wants_other_verb(pipeline->connection, unit, error) ||
			 is_redirected(pipeline, error))
	{
		pipeline->redirected = lappend(pipeline->redirected, unit);
		return;
	}
	else if (pipeline->error == NULL)
		pipeline->error = error;
	bf_unit_free(unit);
}

/* Account for the replies to a unit. */
static void
expect_replies(BfConnection *connection, const BfUnit *unit, size_t reply_limit)
{
	connection->socket.pending += unit->replies;
	connection->socket.reply_limit = reply_limit ? reply_limit : BF_REPLY_LIMIT;
}

/* Append the bytes of a unit without a payload as they are sent. */
static void
append_unit(StringInfo bytes, const BfUnit *unit)
{
	int			from = bf_unit_append_script(bytes, unit);

	appendBinaryStringInfo(bytes, unit->bytes.data + from,
						   unit->bytes.len - from);
}

/* Write a unit to a connection, with its payload in its place. */
static void
write_unit(BfConnection *connection, const BfUnit *unit)
{
	const char *bytes = unit->bytes.data;
	size_t		before = unit->payload ? unit->payload_start : 0;
	size_t		length;

	Assert(unit->payload != NULL || unit->payload_length == 0);
	if (unit->script != NULL && unit->payload == NULL)
	{
		StringInfoData named;

		initStringInfo(&named);
		append_unit(&named, unit);
		bf_socket_send(&connection->socket, named.data, named.len);
		pfree(named.data);
		return;
	}
	if (unit->payload != NULL)
		bf_socket_send(&connection->socket, bytes, before);
	for (uint64 at = 0; at < unit->payload_length; at += length)
	{
		const void *piece = unit->payload(unit->payload_arg,
										  unit->payload_from + at, &length);

		length = Min(length, unit->payload_length - at);
		bf_socket_send(&connection->socket, piece, length);
	}
	bf_socket_send(&connection->socket, bytes + before, unit->bytes.len - before);
}

/*
 * Have all units sent so far been answered, so that sentinels may be asked
 * whether the connection still leads to the master?
 */
static bool
is_between_parts(const BfPipeline *pipeline)
{
	return pipeline->executed && pipeline->sent == NIL &&
		!pipeline->connection->watching;
}

/* Send a unit, which is freed after its replies have arrived. */
void
bf_pipeline_send(BfPipeline *pipeline, BfUnit *unit)
{
	bf_unit_end(unit);
	while (pipeline->sent != NIL &&
		   (list_length(pipeline->sent) >= pipeline->window ||
			pipeline->kept + unit->bytes.len > MAX_KEPT))
		receive_oldest(pipeline);
	if (pipeline->redirected != NIL)
		bf_pipeline_finish(pipeline);
	if (pipeline->connection == NULL || is_between_parts(pipeline))
		connect_pipeline(pipeline);
	check_connection(pipeline, pipeline->connection);
	/* What is not executed at once may be too late for what is watched. */
	unit->whole |= pipeline->connection->unnamed || pipeline->connection->watching;
	unit->plain |= pipeline->connection->plain;
	pipeline->sent = lappend(pipeline->sent, unit);
	pipeline->kept += unit->bytes.len;
	expect_replies(pipeline->connection, unit, 0);
	if (unit->payload != NULL || unit->bytes.len >= GATHER)
	{
		flush_unsent(pipeline);
		write_unit(pipeline->connection, unit);
		return;
	}
	append_unit(&pipeline->unsent, unit);
	if (pipeline->unsent.len >= GATHER)
		flush_unsent(pipeline);
}

/* Send a unit to a connection alone; `asking`: after a redirection by ASK. */
static const BfReply *
try_unit(BfConnection *connection, const BfUnit *unit, size_t reply_limit,
		 bool asking, char **error)
{
	static const char ask[] = "*1\r\n$6\r\nASKING\r\n";

	if (asking)
	{
		connection->socket.pending++;
		bf_socket_send(&connection->socket, ask, sizeof(ask) - 1);
		(void) bf_socket_receive(&connection->socket);
	}
	expect_replies(connection, unit, reply_limit);
	write_unit(connection, unit);
	return receive_unit(connection, unit, error);
}

/*
 * Send a unit alone to the node that serves a key; its last reply stays valid
 * until the connection is used again.  An error is raised.  Returns NULL if
 * the slot is being moved, and the caller can query its keys one at a time.
 */
const BfReply *
bf_ask(Oid server, const char *key, BfUnit *unit, size_t reply_limit,
	   BfConnection **connection)
{
	TimestampTz start = GetCurrentTimestamp();
	BfRedirect	redirect = BF_REDIRECT_NONE;
	BfNode		node;

	bf_unit_end(unit);
	for (int moves = 0;;)
	{
		char	   *error;
		const BfReply *reply;
		bool		asking;

		/* A node that has just been named must be reachable. */
		*connection = redirect == BF_REDIRECT_MOVED || redirect == BF_REDIRECT_ASK ?
			bf_connection_open(server, &node) : NULL;
		asking = *connection != NULL && redirect == BF_REDIRECT_ASK;
		if (*connection == NULL)
			*connection = bf_cluster_route(server, key);
		unit->whole |= (*connection)->unnamed;
		unit->plain |= (*connection)->plain;
		reply = try_unit(*connection, unit, reply_limit, asking, &error);
		if (error == NULL)
			return reply;
		if (wants_other_verb(*connection, unit, error))
			continue;
		redirect = bf_cluster_redirect(*connection, error, key, &node);
		if (redirect == BF_REDIRECT_DIVIDE && unit->divides)
			return NULL;
		if (redirect == BF_REDIRECT_DIVIDE ||
			(redirect == BF_REDIRECT_ASK && unit->replies > 1))
			redirect = BF_REDIRECT_WAIT;
		if (redirect == BF_REDIRECT_NONE || ++moves > MAX_MOVES ||
			(redirect == BF_REDIRECT_WAIT &&
			 TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
										(*connection)->socket.command_timeout)))
			bf_connection_raise(*connection, error);
		if (redirect == BF_REDIRECT_WAIT)
		{
			bf_socket_pause(PAUSE);
			moves = 0;
		}
	}
}

/* Send a redirected unit to its new node. */
static void
follow_redirection(BfPipeline *pipeline, BfUnit *unit)
{
	BfConnection *connection;
	const BfReply *reply = bf_ask(pipeline->server, pipeline->key, unit, 0,
									 &connection);

	check_connection(pipeline, connection);
	pipeline->executed = true;
	pipeline->made = connection->socket.made;
	pipeline->handler(connection, reply, unit, pipeline->arg);
	bf_connection_done(connection);
	bf_unit_free(unit);
}

/*
 * Receive outstanding replies, and send redirected units again; returns the
 * first error, or NULL, and then the pipeline can be used again.
 */
const char *
bf_pipeline_end(BfPipeline *pipeline)
{
	ListCell   *cell;

	while (pipeline->sent != NIL)
		receive_oldest(pipeline);
	if (pipeline->connection != NULL)
		bf_connection_done(pipeline->connection);
	if (pipeline->error != NULL || pipeline->redirected == NIL)
		return pipeline->error;
	/* What follows may close this connection. */
	pipeline->connection = NULL;
	foreach(cell, pipeline->redirected)
		follow_redirection(pipeline, lfirst(cell));
	list_free(pipeline->redirected);
	pipeline->redirected = NIL;
	return NULL;
}

/* End a pipeline, but raise the error. */
void
bf_pipeline_finish(BfPipeline *pipeline)
{
	const char *error = bf_pipeline_end(pipeline);

	if (error != NULL)
		bf_connection_raise(pipeline->connection, error);
}

/* Send a unit whose reply is an integer, and free the unit. */
int64
bf_ask_number(Oid server, const char *key, BfUnit *unit)
{
	BfConnection *connection;
	const BfReply *reply = bf_ask(server, key, unit, 0, &connection);
	int64		number = bf_reply_integer(connection, reply);

	bf_connection_done(connection);
	bf_unit_free(unit);
	return number;
}

/* The results of a transaction's commands, from the reply to EXEC. */
BfReply **
bf_reply_results(BfConnection *connection, const BfReply *reply,
				 const BfUnit *unit)
{
	/* MULTI and EXEC have replies of their own. */
	return bf_reply_array(connection, reply, unit->replies - 2);
}
