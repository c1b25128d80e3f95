/*
 * connection.h
 *	  Connections to Redis servers, kept by the backend.
 */
#ifndef BLOOMEXT_CONNECTION_H
#define BLOOMEXT_CONNECTION_H

#include "redis/socket.h"

#define BF_HOST_SIZE	256

/* A node that a server has named. */
typedef struct BfNode
{
	char		host[BF_HOST_SIZE];
	int			port;
	uint64		changes;		/* bf_connection_changes() of that server */
} BfNode;

/* What names a connection: all its bytes count, so pad with zeros. */
typedef struct BfConnectionKey
{
	Oid			server;
	Oid			user;
	int			port;			/* of a cluster's node; 0: what the options say */
	char		host[BF_HOST_SIZE];
} BfConnectionKey;

typedef struct BfConnection
{
	BfConnectionKey key;
	BfSocket	socket;
	uint64		changes;		/* bf_connection_changes() when it was made */
	bool		may_lack_password;
	bool		proven;			/* the server wanted our password */
	bool		cluster;
	bool		watching;		/* from WATCH to EXEC or UNWATCH */
	TimestampTz last_used;
} BfConnection;

extern uint64 bf_connection_changes(void);
extern BfConnection *bf_connection_open(Oid server, const BfNode *node);
extern void bf_connection_done(BfConnection *connection);
pg_noreturn extern void bf_connection_raise(const BfConnection *connection,
											const char *error, size_t length);
pg_noreturn extern void bf_connection_protocol_error(BfConnection *connection,
													 const char *problem);

/* Replies, checked: used only after they were found to be what was asked for. */
extern long long bf_reply_integer(BfConnection *connection,
								  const redisReply *reply);
extern bool bf_reply_bit(BfConnection *connection, const redisReply *reply);
extern bool bf_reply_is_ok(const redisReply *reply);
extern const redisReply *bf_reply_string(BfConnection *connection,
										 const redisReply *reply);
extern redisReply **bf_reply_array(BfConnection *connection,
								   const redisReply *reply, size_t elements);

#endif							/* BLOOMEXT_CONNECTION_H */
