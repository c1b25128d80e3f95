/*
 * hosts.c
 *	  Lists of hosts: where to connect, and where redirections may lead.
 *
 * Entries are separated by commas, as in libpq.  The list for redirections
 * can have names, addresses and ranges of addresses.  A name matches only
 * itself, whatever it resolves to, and an address matches itself however it
 * is written.  An address is what inet_pton() and the resolver accept, which
 * is stricter than type inet ("010.1.2.3" is not one).
 */
#include "postgres.h"

#include <arpa/inet.h>

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "redis/hosts.h"

/* Number of entries of a list. */
int
bf_hosts_count(const char *list)
{
	int			count = 1;

	while ((list = strchr(list, ',')) != NULL)
	{
		count++;
		list++;
	}
	return count;
}

/* Take the next entry of a list, which is NULL after the last one. */
char *
bf_hosts_next(const char **list)
{
	const char *entry = *list;
	size_t		length;

	if (entry == NULL)
		return NULL;
	length = strcspn(entry, ",");
	*list = entry[length] == ',' ? entry + length + 1 : NULL;
	return pnstrdup(entry, length);
}

/* Are entries separated by commas only, and none of them empty? */
bool
bf_hosts_are_separate(const char *list)
{
	char	   *entry;

	while ((entry = bf_hosts_next(&list)) != NULL)
	{
		if (entry[0] == '\0' || strpbrk(entry, " \t\r\n") != NULL)
			return false;
	}
	return true;
}

/* Is a host given by its address? */
bool
bf_host_is_address(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 ||
		inet_pton(AF_INET6, host, &address) == 1;
}

/* Raise an error for an entry that is more than a host: a URL, or a port. */
void
bf_hosts_check_names(const char *list)
{
	char	   *entry;

	while ((entry = bf_hosts_next(&list)) != NULL)
	{
		if (strpbrk(entry, ":/") != NULL && !bf_host_is_address(entry))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid host \"%s\"", entry),
					 errhint("Specify a name or an address; a port is set by option \"port\", a Unix-domain socket by option \"socket\".")));
	}
}

/* Is an entry an address or a range of addresses, rather than a name? */
static bool
is_range(const char *entry)
{
	return strchr(entry, '/') != NULL || bf_host_is_address(entry);
}

/* Read an address or a range as inet; 22P02 if it is invalid. */
static Datum
to_inet(const char *text)
{
	return DirectFunctionCall1(inet_in, CStringGetDatum(text));
}

/* Raise an error for an invalid range in a list. */
void
bf_hosts_check_ranges(const char *list)
{
	char	   *entry;

	while ((entry = bf_hosts_next(&list)) != NULL)
	{
		if (is_range(entry))
			(void) to_inet(entry);
	}
}

/* Does a list include a host? */
bool
bf_hosts_include(const char *list, const char *host)
{
	bool		address = bf_host_is_address(host);
	char	   *entry;

	while ((entry = bf_hosts_next(&list)) != NULL)
	{
		if (!is_range(entry) ? pg_strcasecmp(host, entry) == 0 :
			address && DatumGetBool(DirectFunctionCall2(network_subeq,
														to_inet(host),
														to_inet(entry))))
			return true;
	}
	return false;
}
