/*
 * connection.h
 *	  Connections to Redis servers, kept by the backend, and which of them
 *	  serves a key.
 */
#ifndef BLOOMEXT_CONNECTION_H
#define BLOOMEXT_CONNECTION_H

#include "redis/socket.h"

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
	BfSocket	guide;			/* to the sentinel that has named the master */
	uint64		changes;		/* bf_connection_changes() when it was made */
	bool		unproven;		/* only a superuser need not prove a password */
	bool		cluster;
	bool		sentinel;
	bool		demoted;		/* it is to a master that is none any more */
	bool		doubted;		/* it lacked replicas, and has executed nothing since */
	TimestampTz verified;		/* when sentinels were asked for the master; 0:
								 * they are to be asked */
	bool		watching;		/* from WATCH to EXEC or UNWATCH */
	bool		unnamed;		/* its account may not name scripts, but send them */
	bool		plain;			/* nor, or its release cannot, say that they only read */
	bool		written;		/* what no replica was waited for yet */
	bool		kept;			/* beyond the transaction */
	int			idle_timeout;	/* ms */
	int			wait_replicas;
	int			wait_timeout;	/* ms */
	TimestampTz last_used;
} BfConnection;

/* What an error says about where to send a command instead. */
typedef enum BfRedirect
{
	BF_REDIRECT_NONE,			/* nothing: it is another error */
	BF_REDIRECT_MOVED,			/* the slot lives elsewhere */
	BF_REDIRECT_ASK,			/* this once, elsewhere */
	BF_REDIRECT_MASTER,			/* the master is another one now */
	BF_REDIRECT_DIVIDE,			/* nowhere yet, unless a key at a time */
	BF_REDIRECT_WAIT			/* nowhere yet */
} BfRedirect;

extern uint64 bf_connection_changes(void);
extern BfConnection *bf_connection_open(Oid server, const BfNode *node);
extern BfConnection *bf_connection_try(Oid server, const BfNode *node);
extern void bf_connection_done(BfConnection *connection);

extern bool bf_connection_is_doubtful(BfConnection *connection,
									  const char *error);

/* Raise an error that was answered, or that an answer makes no sense. */
#define bf_connection_raise(connection, error) \
	bf_socket_raise(&(connection)->socket, error)
#define bf_connection_protocol_error(connection, problem) \
	bf_socket_protocol_error(&(connection)->socket, problem)

/* Replies, checked: used only after they were found to be what was asked for. */
extern long long bf_reply_integer(BfConnection *connection,
								  const BfReply *reply);
extern bool bf_reply_bit(BfConnection *connection, const BfReply *reply);
extern bool bf_reply_is_ok(const BfReply *reply);
extern const BfReply *bf_reply_string(BfConnection *connection,
										 const BfReply *reply);
extern BfReply **bf_reply_array(BfConnection *connection,
								   const BfReply *reply, size_t elements);

extern unsigned bf_cluster_slot(const char *key);
extern BfConnection *bf_cluster_route(Oid server, const char *key);
extern BfRedirect bf_cluster_redirect(BfConnection *connection,
									  const char *error, const char *key,
									  BfNode *node);

#endif							/* BLOOMEXT_CONNECTION_H */
