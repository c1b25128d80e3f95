/*
 * socket.c
 *	  A socket to a Redis server.
 *
 * The socket is non-blocking.  Every wait is also for the latch, and has a
 * deadline, so that a cancel, a timeout or a shutdown ends it.  Only the
 * resolver, which is used if a host is given by name, cannot be interrupted.
 *
 * A deadline is for the next 64 kB, or for a whole reply that is shorter.  So
 * large transfers may take long, but a server that dribbles bytes may not.
 *
 * The length of a reply is bounded here; the size of what is made of it is
 * bounded by bloomext_hiredis.so, which connects, carries the bytes and
 * parses them (see transport.h).  All waiting, and all raising of errors, is
 * done here.
 */
#include "postgres.h"

#include <sys/socket.h>

#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "redis/redis_errors.h"
#include "redis/socket.h"

/* Bytes after which the deadline is extended. */
#define PROGRESS		(64 * 1024)

/* What is waited for. */
typedef enum BfWait
{
	BF_WAIT_CONNECT,
	BF_WAIT_SEND,
	BF_WAIT_RECEIVE,
	BF_WAIT_PAUSE,
	BF_WAITS
} BfWait;

/* The functions of all links; set before the first one is made. */
static const BfTransport *transport;

/* Free the last reply. */
void
bf_socket_free_reply(BfSocket *socket)
{
	if (socket->reply != NULL)
		transport->free_reply(socket->reply);
	socket->reply = NULL;
}

/* Close a socket, if it is open. */
void
bf_socket_close(BfSocket *socket)
{
	bf_socket_free_reply(socket);
	if (socket->link == NULL)
		return;
	transport->close(socket->link);
	socket->link = NULL;
	ReleaseExternalFD();
}

/* Make untrusted text printable: ASCII, and of limited length. */
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

/* Raise an error that the server returned. */
void
bf_socket_raise(const BfSocket *socket, const char *error)
{
	BfRedisError	answer = bf_redis_error_read(error, socket->authenticating);

	ereport(ERROR,
			(errcode(answer.sqlstate),
			 errmsg("Redis server \"%s\" returned an error: %s",
					socket->name, bf_socket_printable(answer.text)),
			 answer.hint ? errhint("%s", answer.hint) : 0));
}

/* Close a socket; returns the problem, suitable for DETAIL. */
static char *
close_because(BfSocket *socket, const char *problem)
{
	char	   *detail = bf_socket_printable(problem);

	bf_socket_close(socket);
	return detail;
}

/* Raise that a reply makes no sense. */
void
bf_socket_protocol_error(BfSocket *socket, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROTOCOL_VIOLATION),
			 errmsg("Redis server \"%s\" sent an unexpected reply",
					socket->name),
			 errdetail("%s", close_because(socket, problem))));
}

/* Raise that a server cannot be connected to, and why. */
void
bf_socket_unreachable(const char *name, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION),
			 errmsg("could not connect to Redis server \"%s\"", name),
			 errdetail("%s", detail)));
}

/* Close a socket that failed to connect, and raise that. */
pg_noreturn static void
fail_to_connect(BfSocket *socket, const char *problem)
{
	bf_socket_unreachable(socket->name, close_because(socket, problem));
}

/* Raise that a connection was lost, or the error that the server sent. */
pg_noreturn static void
fail_lost(BfSocket *socket, const char *problem)
{
	if (socket->sending)
	{
		/* Reading may overwrite the problem. */
		problem = pstrdup(problem);
		bf_socket_free_reply(socket);
		(void) transport->read(socket->link);
		if (transport->parse(socket->link, &socket->reply) &&
			socket->reply != NULL && socket->reply->type == BF_REPLY_ERROR)
			bf_socket_raise(socket, socket->reply->str);
	}
	if (socket->connecting)
		fail_to_connect(socket, problem);
	ereport(ERROR,
			(errcode(ERRCODE_CONNECTION_FAILURE),
			 errmsg("connection to Redis server \"%s\" was lost",
					socket->name),
			 errdetail("%s", close_because(socket, problem))));
}

/* Set the deadline for what comes next. */
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

/* Account for bytes sent or received. */
static void
note_progress(BfSocket *socket, size_t bytes)
{
	socket->progress += bytes;
	if (socket->progress >= PROGRESS)
		set_deadline(socket);
}

/* The name of a wait in pg_stat_activity. */
static uint32
wait_event(BfWait wait)
{
	static const char *const names[BF_WAITS] = {
		[BF_WAIT_CONNECT] = "BloomextRedisConnect",
		[BF_WAIT_SEND] = "BloomextRedisSend",
		[BF_WAIT_RECEIVE] = "BloomextRedisReceive",
		[BF_WAIT_PAUSE] = "BloomextRedisPause"
	};
	static uint32 events[BF_WAITS];

	if (events[wait] == 0)
		events[wait] = WaitEventExtensionNew(names[wait]);
	return events[wait];
}

/*
 * Wait until the socket is readable or writable, as events specify; returns
 * which.  Interrupts are processed, and may raise an error.
 */
static int
wait_for_socket(BfSocket *socket, int events)
{
	BfWait		wait = socket->connecting ? BF_WAIT_CONNECT :
		socket->sending ? BF_WAIT_SEND : BF_WAIT_RECEIVE;

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
									 socket->link->fd, left,
									 wait_event(wait));
		if (happened & WL_LATCH_SET)
		{
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
		}
		if (happened & events)
			return happened & events;
	}
	if (socket->connecting)
		fail_to_connect(socket, "The server did not reply within connect_timeout.");
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("Redis server \"%s\" timed out", socket->name),
			 errdetail("%s", close_because(socket,
										   "The server did not reply within command_timeout."))));
}

/* Wait a moment for something that no socket signals. */
void
bf_socket_pause(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, wait_event(BF_WAIT_PAUSE));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Read what is available; returns whether anything was. */
static bool
read_some(BfSocket *socket)
{
	ssize_t		bytes = transport->read(socket->link);

	if (bytes < 0)
		fail_lost(socket, socket->link->problem);
	socket->received += bytes;
	if (socket->received > socket->reply_limit)
		bf_socket_protocol_error(socket,
								 "The reply is longer than any that was requested.");
	note_progress(socket, bytes);
	return bytes > 0;
}

/* Write what the socket accepts; returns 0 if it accepts nothing now. */
static size_t
write_some(BfSocket *socket, const char *bytes, size_t length)
{
	ssize_t		written = transport->write(socket->link, bytes, length);

	if (written < 0)
		fail_lost(socket, socket->link->problem);
	return written;
}

/*
 * Send bytes: a whole command, or part of one.  The caller has added the
 * replies to them to pending.
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
		/* A reply or the end of the connection may come meanwhile. */
		if (written == 0 &&
			wait_for_socket(socket, transport->must_read(socket->link) ?
							WL_SOCKET_READABLE :
							WL_SOCKET_READABLE | WL_SOCKET_WRITEABLE) & WL_SOCKET_READABLE)
			(void) read_some(socket);
	}
	socket->sending = false;
	set_deadline(socket);
}

/*
 * Receive the next reply, which stays valid until the next one is received, or
 * bf_socket_free_reply().  After the last outstanding reply nothing may be
 * left: with a reply too many, none can be trusted to belong to its command.
 */
BfReply *
bf_socket_receive(BfSocket *socket)
{
	bf_socket_free_reply(socket);
	for (;;)
	{
		if (!transport->parse(socket->link, &socket->reply))
			bf_socket_protocol_error(socket, socket->link->problem);
		if (socket->reply != NULL)
			break;
		CHECK_FOR_INTERRUPTS();
		if (!read_some(socket))
			wait_for_socket(socket, WL_SOCKET_READABLE);
	}
	socket->pending--;
	socket->received = 0;
	if (socket->pending == 0 && socket->link->unread > 0)
		bf_socket_protocol_error(socket, "There are more replies than commands.");
	set_deadline(socket);
	return socket->reply;
}

/*
 * Whether nothing can be read from a socket, not even its end.  Nothing has
 * been read ahead, either: see bf_socket_receive(), and TLS decrypts all that
 * it has read.
 */
bool
bf_socket_is_silent(const BfSocket *socket)
{
	char		byte;

	return recv(socket->link->fd, &byte, 1, MSG_PEEK) < 0 &&
		(errno == EAGAIN || errno == EWOULDBLOCK);
}

/* Start to connect, and account for the socket. */
static void
make_link(BfSocket *socket, const BfServer *server,
			 const BfAddress *address)
{
	if (!AcquireExternalFD())
		fail_to_connect(socket, "There are too many open files on the local server.");
	socket->link = transport->connect(server->socket, address->host,
									  address->port);
	if (socket->link == NULL)
	{
		ReleaseExternalFD();
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	}
	if (socket->link->problem[0] != '\0')
		fail_to_connect(socket, socket->link->problem);
}

/* Wait until the socket is connected. */
static void
await_connect(BfSocket *socket)
{
	int			error = 0;
	socklen_t	size = sizeof(error);

	wait_for_socket(socket, WL_SOCKET_WRITEABLE);
	if (getsockopt(socket->link->fd, SOL_SOCKET, SO_ERROR, &error,
				   &size) < 0)
		error = errno;
	if (error != 0)
		fail_to_connect(socket, strerror(error));
}

/* Start TLS; the handshake is done as we write and read. */
static void
start_tls(BfSocket *socket, const BfServer *server, const char *host)
{
	BfTlsOptions options = {
		.host = host,
		.host_is_address = bf_host_is_address(host),
		.ca = server->tls_ca,
		.cert = server->tls_cert,
		.key = server->tls_key
	};

	if (transport->start_tls == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("TLS to Redis is not supported by this build"),
				 errhint("Build bloomext with hiredis 1.0 or newer and its hiredis_ssl library.")));
	if (!transport->start_tls(socket->link, &options))
		fail_to_connect(socket, socket->link->problem);
}

/*
 * Open a socket to an address of a server.  It counts as connecting, for its
 * deadline and its errors, until the caller knows that the server has accepted
 * us.
 */
void
bf_socket_open(BfSocket *socket, const BfServer *server,
			   const BfAddress *address)
{
	static uint64 made = 0;

	transport = bf_transport();
	*socket = (BfSocket) {
		.port = address->port,
		.made = made++,
		.connecting = true,
		.connect_timeout = server->connect_timeout,
		.command_timeout = server->command_timeout,
		.reply_limit = BF_REPLY_LIMIT
	};
	strlcpy(socket->name, server->name, NAMEDATALEN);
	strlcpy(socket->host, address->host ? address->host : "", BF_HOST_SIZE);
	set_deadline(socket);
	make_link(socket, server, address);
	await_connect(socket);
	if (server->tls)
		start_tls(socket, server, address->host);
}
