/*
 * socket.h
 *	  A socket to a Redis server.
 */
#ifndef BLOOMEXT_SOCKET_H
#define BLOOMEXT_SOCKET_H

#include "datatype/timestamp.h"

#include "compat.h"
#include "redis/options.h"
#include "redis/transport.h"

/* Only replies with the bits of a filter are longer, by far. */
#define BF_REPLY_LIMIT	((size_t) 1024 * 1024)

#define BF_HOST_SIZE	256

typedef struct BfSocket
{
	char		name[NAMEDATALEN];	/* of the server, for messages */
	char		host[BF_HOST_SIZE]; /* that we connected to; "": a unix
									 * socket */
	int			port;
	uint64		made;			/* number of sockets opened before it */
	BfLink	   *link;			/* NULL: closed */
	BfReply    *reply;			/* the last one received */
	bool		connecting;		/* until the server has accepted us */
	bool		sending;		/* within a command */
	bool		authenticating; /* the next reply is that to AUTH, and may
								 * quote it */
	int64		pending;		/* outstanding replies */
	int			connect_timeout;	/* ms */
	int			command_timeout;	/* ms */
	TimestampTz deadline;
	size_t		progress;		/* bytes since the deadline was set */
	size_t		received;		/* bytes since the last whole reply */
	size_t		reply_limit;	/* of received */
} BfSocket;

extern void bf_socket_open(BfSocket *socket, const BfServer *server,
						   const BfAddress *address);
extern void bf_socket_close(BfSocket *socket);
extern bool bf_socket_is_silent(const BfSocket *socket);
extern void bf_socket_send(BfSocket *socket, const void *bytes, size_t length);
extern BfReply *bf_socket_receive(BfSocket *socket);
extern void bf_socket_pause(long ms);
extern void bf_socket_free_reply(BfSocket *socket);
extern char *bf_socket_printable(const char *text);
pg_noreturn extern void bf_socket_unreachable(const char *name,
											  const char *detail);
pg_noreturn extern void bf_socket_raise(const BfSocket *socket,
										const char *error);
pg_noreturn extern void bf_socket_protocol_error(BfSocket *socket,
												 const char *problem);

#endif							/* BLOOMEXT_SOCKET_H */
