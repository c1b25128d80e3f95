/*
 * socket.h
 *	  A socket to a Redis server, and TLS on it where hiredis has that.
 */
#ifndef BLOOMEXT_SOCKET_H
#define BLOOMEXT_SOCKET_H

#include "datatype/timestamp.h"

#include "compat.h"
#include "redis/hiredis_compat.h"
#include "redis/options.h"

/* No reply but those that carry a filter's bits is longer, by far. */
#define BF_REPLY_LIMIT	((size_t) 1024 * 1024)

typedef struct BfSocket
{
	char		name[NAMEDATALEN];	/* of the server, for messages */
	redisContext *context;		/* NULL: closed */
	redisReply *reply;			/* the last one received */
	bool		tls;
	bool		connecting;		/* until the server has accepted us */
	bool		sending;		/* within a command */
	int64		pending;		/* replies that are due */
	int			connect_timeout;	/* ms */
	int			command_timeout;	/* ms */
	TimestampTz deadline;
	size_t		progress;		/* bytes since the deadline was set */
	size_t		received;		/* bytes since the last whole reply */
	size_t		reply_limit;	/* of these */
	size_t		elements;		/* of that reply, arrays in arrays included */
	size_t		objects;		/* of these, what takes memory of its own */
} BfSocket;

extern void bf_socket_open(BfSocket *socket, const BfServer *server,
						   const BfAddress *address);
extern void bf_socket_close(BfSocket *socket);
extern bool bf_socket_is_silent(const BfSocket *socket);
extern void bf_socket_send(BfSocket *socket, const void *bytes, size_t length);
extern redisReply *bf_socket_receive(BfSocket *socket);
extern void bf_socket_pause(long ms);
extern void bf_socket_free_reply(BfSocket *socket);
extern char *bf_socket_printable(const char *text);
pg_noreturn extern void bf_socket_unreachable(const char *name,
											  const char *detail);
pg_noreturn extern void bf_socket_raise(const BfSocket *socket,
										const char *error, const char *hint);
pg_noreturn extern void bf_socket_protocol_error(BfSocket *socket,
												 const char *problem);

extern void bf_tls_start(redisContext *context, const BfServer *server,
						 const char *host);
#ifdef BF_HIREDIS_SSL
extern const char *bf_tls_reason(const char *otherwise);
extern int	bf_tls_read(redisContext *context);
extern ssize_t bf_tls_write(redisContext *context, const char *bytes,
							size_t length);
extern int	bf_tls_wants(redisContext *context);
#else
#define bf_tls_reason(otherwise)	(otherwise)
#define bf_tls_read(context)		REDIS_ERR
#define bf_tls_write(context, bytes, length) (-1)
#define bf_tls_wants(context)		0
#endif

#endif							/* BLOOMEXT_SOCKET_H */
