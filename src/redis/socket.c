/*
 * socket.c
 *	  A socket to a Redis server.
 *
 * It is non-blocking and every wait is one for the latch too, with a deadline,
 * so that a cancel, a time-out or a shutdown ends it.  Only the resolver of host
 * names, where a host is given by name, is out of reach.
 *
 * A deadline is for the next 64 kB, or for a whole reply that is shorter: large
 * transfers may take long, but a server that dribbles bytes may not.
 *
 * An answer is bounded in bytes, and in what hiredis makes of them: the elements
 * of all its arrays are counted as a whole, and a line has an end.
 *
 * hiredis makes the socket, reads from it and parses what it has read; where TLS
 * is wanted it carries it.  Commands are written without it (see resp.c).
 *
 * This file and tls.c call nothing else of the extension, but to tell addresses
 * from names.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "redis/socket.h"

/* Bytes that buy another timeout. */
#define PROGRESS		(64 * 1024)

/*
 * More elements than any reply that we ask for has, and than any has of those
 * that are not bits: what hiredis makes of them takes some 2 MB, and 8.
 */
#define MAX_ELEMENTS	(256 * 1024)
#define MAX_OBJECTS		65536

/* No line of a reply is longer: lengths, numbers, and errors. */
#define MAX_LINE		(64 * 1024)

/*
 * hiredis's functions that build replies, and ours, which check sizes first
 * and take no memory for the bits that an array may be full of: that makes
 * lookups and additions faster by a tenth.
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
	BfSocket   *socket = task->privdata;

	return ++socket->objects <= MAX_OBJECTS;
}

/* Make an array, which is bounded before it takes memory. */
static void *
create_array(const redisReadTask *task, compat_reply_count elements)
{
	BfSocket   *socket = task->privdata;

	/* Replies hold arrays of arrays at most: what is freed is not deep. */
	if (!count_object(task) || elements > MAX_ELEMENTS ||
		(task->parent != NULL && task->parent->parent != NULL &&
		 task->parent->parent->parent != NULL))
		return NULL;
	socket->elements += elements;
	if (socket->elements > MAX_ELEMENTS)
		return NULL;
	return hiredis_functions.createArray(task, elements);
}

/* Make a string. */
static void *
create_string(const redisReadTask *task, char *bytes, size_t length)
{
	return count_object(task) ?
		hiredis_functions.createString(task, bytes, length) : NULL;
}

/* Make a nil. */
static void *
create_nil(const redisReadTask *task)
{
	return count_object(task) ? hiredis_functions.createNil(task) : NULL;
}

/* Make an integer, unless it is a bit of an array. */
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

/* Free a reply, but for our bits. */
static void
free_object(void *reply)
{
	if (reply == NULL)
		return;
	take_bits_out(reply);
	freeReplyObject(reply);
}

/* Have a socket's replies built by our functions. */
static void
set_functions(BfSocket *socket)
{
	redisReader *reader = socket->context->reader;

	hiredis_functions = *reader->fn;
	own_functions = hiredis_functions;
	own_functions.createString = create_string;
	own_functions.createArray = create_array;
	own_functions.createInteger = create_integer;
	own_functions.createNil = create_nil;
	own_functions.freeObject = free_object;
	compat_refuse_resp3(&own_functions);
	reader->fn = &own_functions;
	reader->privdata = socket;
}

/* Free the reply received last. */
void
bf_socket_free_reply(BfSocket *socket)
{
	free_object(socket->reply);
	socket->reply = NULL;
}

/* Close a socket, if it is open. */
void
bf_socket_close(BfSocket *socket)
{
	bf_socket_free_reply(socket);
	if (socket->context == NULL)
		return;
	redisFree(socket->context);
	socket->context = NULL;
	ReleaseExternalFD();
}

/*
 * Make text that came from outside fit to be shown: printable ASCII, and not
 * much of it.
 */
char *
bf_socket_printable(const char *text)
{
	char	   *result = pnstrdup(text, 200);

	for (char *c = result; *c != '\0'; c++)
	{
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return result;
}

/* Raise an error that the server answered; hint may be NULL. */
void
bf_socket_raise(const BfSocket *socket, const char *error, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("Redis server \"%s\" answered with an error: %s",
					socket->name, bf_socket_printable(error)),
			 hint ? errhint("%s", hint) : 0));
}

/* Close a socket; returns what made it useless, fit for DETAIL. */
static char *
close_because(BfSocket *socket, const char *problem)
{
	char	   *detail = bf_socket_printable(problem);

	bf_socket_close(socket);
	return detail;
}

/* Raise that what the server answered makes no sense. */
void
bf_socket_protocol_error(BfSocket *socket, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("Redis server \"%s\" sent an unexpected answer",
					socket->name),
			 errdetail("%s", close_because(socket, problem))));
}

/* Raise that a server could not be connected to, and why. */
void
bf_socket_unreachable(const char *name, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("could not connect to Redis server \"%s\"", name),
			 errdetail("%s", detail)));
}

/* Close a socket that could not be connected, and raise it. */
pg_noreturn static void
fail_to_connect(BfSocket *socket, const char *problem)
{
	bf_socket_unreachable(socket->name, close_because(socket, problem));
}

/*
 * Raise that a connection was lost; or, better, the error that the server sent
 * before it closed it.
 */
pg_noreturn static void
fail_lost(BfSocket *socket, const char *problem)
{
	void	   *reply = NULL;

	if (socket->tls)
		problem = bf_tls_reason(problem);
	if (socket->connecting)
		fail_to_connect(socket, problem);
	if (socket->sending &&
		redisReaderGetReply(socket->context->reader, &reply) == REDIS_OK &&
		reply != NULL)
	{
		bf_socket_free_reply(socket);
		socket->reply = reply;
		if (socket->reply->type == REDIS_REPLY_ERROR)
			bf_socket_raise(socket, socket->reply->str, NULL);
	}
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("lost the connection to Redis server \"%s\"",
					socket->name),
			 errdetail("%s", close_because(socket, problem))));
}

/* Start the time that is allowed for what comes next. */
static void
set_deadline(BfSocket *socket)
{
	socket->deadline =
		TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
									socket->connecting ?
									socket->connect_timeout :
									socket->command_timeout);
	socket->progress = 0;
}

/* Note bytes that were sent or received. */
static void
note_progress(BfSocket *socket, size_t bytes)
{
	socket->progress += bytes;
	if (socket->progress >= PROGRESS)
		set_deadline(socket);
}

/*
 * Wait until the socket can be read or written, as events say; returns which.
 * Interrupts are served, and raise.
 */
static int
wait_for_socket(BfSocket *socket, int events)
{
	for (;;)
	{
		long		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														   socket->deadline);
		int			happened;

		if (left <= 0)
			break;
		happened = WaitLatchOrSocket(MyLatch,
									 WL_LATCH_SET | WL_EXIT_ON_PM_DEATH |
									 WL_TIMEOUT | events,
									 socket->context->fd, left,
									 PG_WAIT_EXTENSION);
		if (happened & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (happened & events)
			return happened & events;
	}
	if (socket->connecting)
		fail_to_connect(socket, "It did not answer within connect_timeout.");
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("Redis server \"%s\" took too long", socket->name),
			 errdetail("%s", close_because(socket,
										   "It did not answer within command_timeout."))));
}

/* Wait a moment for something that is told by no socket. */
void
bf_socket_pause(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, PG_WAIT_EXTENSION);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Read what there is; returns whether there was anything. */
static bool
read_some(BfSocket *socket)
{
	redisContext *context = socket->context;
	size_t		before = context->reader->len;
	size_t		bytes;

	if ((socket->tls ? bf_tls_read(context) :
		 redisBufferRead(context)) != REDIS_OK)
	{
		if (context->err == REDIS_ERR_PROTOCOL)
			bf_socket_protocol_error(socket, context->errstr);
		fail_lost(socket, context->errstr);
	}
	bytes = context->reader->len - before;
	socket->received += bytes;
	if (socket->received > socket->reply_limit)
		bf_socket_protocol_error(socket,
								 "The answer is longer than any that was asked for.");
	note_progress(socket, bytes);
	return bytes > 0;
}

/* Write what the socket takes; 0: nothing at present. */
static size_t
write_some(BfSocket *socket, const char *bytes, size_t length)
{
	ssize_t		written;

	if (socket->tls)
		written = bf_tls_write(socket->context, bytes, length);
	else
		written = send(socket->context->fd, bytes, length, 0);
	if (written >= 0)
		return written;
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
		return 0;
	fail_lost(socket, strerror(errno));
}

/*
 * Send bytes: a whole command, or part of one.  The caller has added the
 * replies that are due for them to pending.
 */
void
bf_socket_send(BfSocket *socket, const void *bytes, size_t length)
{
	const char *at = bytes;

	socket->sending = true;
	set_deadline(socket);
	while (length > 0)
	{
		size_t		written = write_some(socket, at, length);

		CHECK_FOR_INTERRUPTS();
		at += written;
		length -= written;
		note_progress(socket, written);
		/* An answer may come, too, or the end: it is to be heard. */
		if (written == 0 &&
			wait_for_socket(socket, socket->tls ?
							bf_tls_wants(socket->context) :
							WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE) & WL_SOCKET_READABLE)
			(void) read_some(socket);
	}
	socket->sending = false;
	set_deadline(socket);
}

/*
 * Raise that what has come of a reply is a line without an end: hiredis would
 * search it from its start whenever more comes.
 */
static void
check_line(BfSocket *socket)
{
	const redisReader *reader = socket->context->reader;

	if (reader->len - reader->pos > MAX_LINE &&
		memchr(reader->buf + reader->pos, '\n', MAX_LINE) == NULL)
		bf_socket_protocol_error(socket,
								 "A line is longer than any that was asked for.");
}

/*
 * Receive the next reply.  It stays valid until the next one is received, or
 * bf_socket_free_reply().  With the last one that is due, nothing may be left:
 * after an answer too many, none is the one that it is taken for.
 */
redisReply *
bf_socket_receive(BfSocket *socket)
{
	redisReader *reader = socket->context->reader;
	void	   *reply = NULL;

	bf_socket_free_reply(socket);
	for (;;)
	{
		if (redisReaderGetReply(reader, &reply) != REDIS_OK)
			bf_socket_protocol_error(socket,
									 reader->err == REDIS_ERR_OOM ?
									 "The answer is larger than any that was asked for." :
									 reader->errstr);
		if (reply != NULL)
			break;
		check_line(socket);
		CHECK_FOR_INTERRUPTS();
		if (!read_some(socket))
			wait_for_socket(socket, WL_SOCKET_READABLE);
	}
	socket->reply = reply;
	socket->pending--;
	socket->received = 0;
	socket->elements = 0;
	socket->objects = 0;
	if (socket->pending == 0 && reader->pos < reader->len)
		bf_socket_protocol_error(socket, "There are more answers than commands.");
	set_deadline(socket);
	return reply;
}

/*
 * Whether nothing is to be read from a socket, not even its end.  Nothing has
 * been read too much, either: see bf_socket_receive(), and hiredis takes what
 * TLS has decrypted whole.
 */
bool
bf_socket_is_silent(const BfSocket *socket)
{
	char		byte;

	return recv(socket->context->fd, &byte, 1, MSG_PEEK) < 0 &&
		(errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Make the socket, and account for it. */
static void
make_context(BfSocket *socket, const BfServer *server,
			 const BfAddress *address)
{
	if (!AcquireExternalFD())
		fail_to_connect(socket, "There are too many open files on the local server.");
	socket->context = server->socket ?
		redisConnectUnixNonBlock(server->socket) :
		redisConnectNonBlock(address->host, address->port);
	if (socket->context == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	if (socket->context->err != 0)
		fail_lost(socket, socket->context->errstr);
	(void) fcntl(socket->context->fd, F_SETFD, FD_CLOEXEC);
	set_functions(socket);
}

/* Wait until the socket is connected. */
static void
await_connect(BfSocket *socket)
{
	int			error = 0;
	socklen_t	size = sizeof(error);

	wait_for_socket(socket, WL_SOCKET_WRITEABLE);
	if (getsockopt(socket->context->fd, SOL_SOCKET, SO_ERROR, &error,
				   &size) < 0)
		error = errno;
	if (error != 0)
		fail_lost(socket, strerror(error));
}

/*
 * Open a socket to a server's address.  It is connecting, in time and in its errors, until
 * the caller says that the server has accepted us.
 */
void
bf_socket_open(BfSocket *socket, const BfServer *server,
			   const BfAddress *address)
{
	*socket = (BfSocket) {
		.tls = server->tls,
		.connecting = true,
		.connect_timeout = server->connect_timeout,
		.command_timeout = server->command_timeout,
		.reply_limit = BF_REPLY_LIMIT
	};
	strlcpy(socket->name, server->name, NAMEDATALEN);
	set_deadline(socket);
	make_context(socket, server, address);
	await_connect(socket);
	if (server->tls)
		bf_tls_start(socket->context, server, address->host);
}
