/*
 * connection.h
 *	  Connections to Redis servers, kept by the backend.
 */
#ifndef BLOOMEXT_CONNECTION_H
#define BLOOMEXT_CONNECTION_H

#include "datatype/timestamp.h"

#include "compat.h"

/* "host:port" of a cluster's node; "": what the server's options say. */
#define BF_NODE_SIZE	264

/* A node that a server has named. */
typedef struct BfNode
{
	char		address[BF_NODE_SIZE];
	uint64		changes;		/* bf_connection_changes() of that server */
} BfNode;

/* What names a connection: all its bytes count, so pad with zeros. */
typedef struct BfConnectionKey
{
	Oid			server;
	Oid			user;
	char		node[BF_NODE_SIZE];
} BfConnectionKey;

typedef struct BfConnection
{
	BfConnectionKey key;
	char		name[NAMEDATALEN];	/* of the server, for messages */
	redisContext *context;		/* NULL: closed */
	redisReply *reply;			/* the last one received */
	uint64		changes;		/* bf_connection_changes() when it was made */
	bool		may_lack_password;
	bool		proven;			/* the server wanted our password */
	bool		tls;
	bool		cluster;
	bool		connecting;
	bool		sending;		/* within a command */
	bool		watching;		/* from WATCH to EXEC or UNWATCH */
	int64		pending;		/* replies that are due */
	int			connect_timeout;	/* ms */
	int			command_timeout;	/* ms */
	TimestampTz deadline;
	TimestampTz last_used;
	size_t		progress;		/* bytes since the deadline was set */
	size_t		received;		/* bytes since the last whole reply */
	size_t		reply_limit;	/* of these */
	size_t		elements;		/* of that reply, arrays in arrays included */
	size_t		objects;		/* of these, what takes memory of its own */
} BfConnection;

/* No reply but those that carry a filter's bits is longer, by far. */
#define BF_REPLY_LIMIT	((size_t) 1024 * 1024)

extern uint64 bf_connection_changes(void);
extern BfConnection *bf_connection_open(Oid server, const BfNode *node);
extern void bf_connection_send(BfConnection *connection, const void *bytes,
							   size_t length);
extern redisReply *bf_connection_receive(BfConnection *connection);
extern void bf_connection_done(BfConnection *connection);
pg_noreturn extern void bf_connection_raise(const BfConnection *connection,
								const char *error, size_t length);
pg_noreturn extern void bf_connection_protocol_error(BfConnection *connection,
								   const char *problem);

/* Replies, checked: used only after they were found to be what was asked for. */
extern long long bf_reply_integer(BfConnection *connection,
								  const redisReply *reply);
extern bool bf_reply_is_ok(const redisReply *reply);
extern const redisReply *bf_reply_string(BfConnection *connection,
										 const redisReply *reply);
extern redisReply **bf_reply_array(BfConnection *connection,
								   const redisReply *reply, size_t elements);

#endif							/* BLOOMEXT_CONNECTION_H */
