/*
 * options.h
 *	  The address of a Redis server and our account there, from the catalogs;
 *	  and arguments common to functions over Redis.
 */
#ifndef BLOOMEXT_OPTIONS_H
#define BLOOMEXT_OPTIONS_H

#include "fmgr.h"

#include "redis/hosts.h"
#include "type/arguments.h"

/* A foreign server and the current user's mapping, read and checked. */
typedef struct BfServer
{
	char	   *name;
	char	   *host;			/* a list; NULL: socket */
	char	   *socket;
	char	   *port;			/* a list; NULL: the default */
	BfAddress  *addresses;		/* of both lists */
	int			address_count;
	int			db;
	int			connect_timeout;	/* ms */
	int			command_timeout;	/* ms */
	bool		keep_connections;	/* beyond the transaction */
	int			idle_timeout;	/* ms */
	int			wait_replicas;	/* that must confirm what is written */
	int			wait_timeout;	/* ms */
	bool		tls;
	char	   *tls_ca;			/* NULL: the system's */
	bool		cluster;
	char	   *sentinel;		/* name of the master, if the addresses are
								 * sentinels */
	char	   *redirect_hosts; /* a list; NULL: any */
	char	   *username;		/* NULL: the default user */
	char	   *password;		/* NULL: none */
	char	   *sentinel_username;
	char	   *sentinel_password;
	char	   *tls_cert;		/* NULL: none */
	char	   *tls_key;
	bool		password_required;
	bool		needs_password; /* password_required, for this user */
} BfServer;

extern void bf_server_read(Oid server, Oid user, BfServer *result);
extern Oid	bf_server_argument(FunctionCallInfo fcinfo, int argument);
extern char *bf_key_argument(FunctionCallInfo fcinfo, int argument);
extern int64 bf_duration_argument(FunctionCallInfo fcinfo, int argument,
								  const char *name);
extern void bf_refuse_read_only(const char *function);

#endif							/* BLOOMEXT_OPTIONS_H */
