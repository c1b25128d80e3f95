/*
 * hosts.h
 *	  Lists of hosts: where to connect, and where redirections may lead.
 */
#ifndef BLOOMEXT_HOSTS_H
#define BLOOMEXT_HOSTS_H

/* Where to connect to. */
typedef struct BfAddress
{
	const char *host;			/* a name or an address; NULL: a unix socket */
	int			port;
} BfAddress;

extern int	bf_hosts_count(const char *list);
extern char *bf_hosts_next(const char **list);
extern bool bf_hosts_are_separate(const char *list);
extern void bf_hosts_check_names(const char *list);
extern void bf_hosts_check_ranges(const char *list);
extern bool bf_hosts_include(const char *list, const char *host);
extern bool bf_host_is_address(const char *host);

#endif							/* BLOOMEXT_HOSTS_H */
