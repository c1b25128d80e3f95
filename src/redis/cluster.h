/*
 * cluster.h
 *	  Which connection a key's commands go to.
 */
#ifndef BLOOMEXT_CLUSTER_H
#define BLOOMEXT_CLUSTER_H

#include "redis/connection.h"

/* What an error says about where to send a command instead. */
typedef enum BfRedirect
{
	BF_REDIRECT_NONE,			/* nothing: it is another error */
	BF_REDIRECT_MOVED,			/* the slot lives elsewhere */
	BF_REDIRECT_ASK,			/* this once, elsewhere */
	BF_REDIRECT_WAIT			/* nowhere yet: the slot is on the move */
} BfRedirect;

extern unsigned bf_cluster_slot(const char *key);
extern BfConnection *bf_cluster_route(Oid server, const char *key);
extern BfRedirect bf_cluster_redirect(const BfConnection *connection,
									  const char *error, const char *key,
									  BfNode *node);

#endif							/* BLOOMEXT_CLUSTER_H */
