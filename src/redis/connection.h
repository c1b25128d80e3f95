/*
 * connection.h
 *	  Connections to Redis servers, kept by the backend, and which of them
 *	  serves a key.
 */
#ifndef BLOOMEXT_CONNECTION_H
#define BLOOMEXT_CONNECTION_H

#include "redis/socket.h"

/* A node, as named by a server. */
typedef struct BfNode
{
	char		host[BF_HOST_SIZE];
	int			port;
	uint64		changes;		/* bf_connection_changes() of that server */
} BfNode;

/* Key of a connection: all its bytes are hashed, so pad with zeros. */
typedef struct BfConnectionKey
{
	Oid			server;
	Oid			user;
	int			port;			/* of a node of a cluster; 0: connect as the
								 * options say */
	char		host[BF_HOST_SIZE];
} BfConnectionKey;

typedef struct BfConnection
{
	BfConnectionKey key;
	BfSocket	socket;
	BfSocket	guide;			/* to the sentinel that has named the master */
	uint64		changes;		/* bf_connection_changes() when it was made */
	bool		unproven;		/* only a superuser may use it without a
								 * password check */
	bool		cluster;
	bool		sentinel;
	bool		demoted;		/* its server is not the master any more */
	bool		doubted;		/* it lacked replicas, and has executed nothing
								 * since */
	TimestampTz verified;		/* when sentinels confirmed the master; 0: they
								 * must be queried */
	bool		watching;		/* from WATCH to EXEC or UNWATCH */
	bool		unnamed;		/* its account must send scripts in full, not
								 * by digest */
	bool		plain;			/* its account or release does not support
								 * read-only verbs */
	bool		written;		/* something that no replica has confirmed
								 * yet */
	bool		kept;			/* beyond the transaction */
	int			idle_timeout;	/* ms */
	int			wait_replicas;
	int			wait_timeout;	/* ms */
	TimestampTz last_used;
} BfConnection;

/* Where an error says that a command must be sent instead. */
typedef enum BfRedirect
{
	BF_REDIRECT_NONE,			/* nowhere: it is another error */
	BF_REDIRECT_MOVED,			/* to the node that serves the slot now */
	BF_REDIRECT_ASK,			/* to another node, this time */
	BF_REDIRECT_MASTER,			/* to the new master */
	BF_REDIRECT_DIVIDE,			/* nowhere yet, except one key at a time */
	BF_REDIRECT_WAIT			/* nowhere yet */
} BfRedirect;

extern uint64 bf_connection_changes(void);
extern BfConnection *bf_connection_open(Oid server, const BfNode *node);
extern BfConnection *bf_connection_try(Oid server, const BfNode *node);
extern void bf_connection_done(BfConnection *connection);

extern bool bf_connection_is_doubtful(BfConnection *connection,
									  const char *error);

/* Raise an error that was returned, or that a reply makes no sense. */
#define bf_connection_raise(connection, error) \
	bf_socket_raise(&(connection)->socket, error)
#define bf_connection_protocol_error(connection, problem) \
	bf_socket_protocol_error(&(connection)->socket, problem)

/* Checked access to replies. */
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
