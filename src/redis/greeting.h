/*
 * greeting.h
 *	  Connect to the first address of a server that accepts us.
 */
#ifndef BLOOMEXT_GREETING_H
#define BLOOMEXT_GREETING_H

#include "redis/socket.h"

extern void bf_check_redirection(const BfServer *server, const char *host);
extern char *bf_greet(BfSocket *socket, BfSocket *guide,
					  const BfServer *server);

#endif							/* BLOOMEXT_GREETING_H */
