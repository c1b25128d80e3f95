/*
 * options.h
 *	  Where a Redis server is and who we are there, out of the catalogs.
 */
#ifndef BLOOMEXT_OPTIONS_H
#define BLOOMEXT_OPTIONS_H

#include "postgres_ext.h"

/* A foreign server and the current user's mapping, read and checked. */
typedef struct BfServer
{
	char	   *name;
	char	   *host;			/* NULL: socket */
	char	   *socket;
	int			port;
	int			db;
	int			connect_timeout;	/* ms */
	int			command_timeout;	/* ms */
	bool		tls;
	char	   *tls_ca;			/* NULL: the system's */
	bool		cluster;
	char	   *username;		/* NULL: the default user */
	char	   *password;		/* NULL: none */
	bool		password_required;
	bool		needs_password; /* password_required, by this user */
} BfServer;

extern Oid	bf_server_usable(const char *name);
extern void bf_server_read(Oid server, Oid user, BfServer *result);

#endif							/* BLOOMEXT_OPTIONS_H */
