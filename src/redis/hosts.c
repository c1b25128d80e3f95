/*
 * hosts.c
 *	  Lists of hosts, which are separated by commas, as libpq's are.
 *
 * This file does without hiredis, as options.c does.
 */
#include "postgres.h"

#include "redis/hosts.h"

/* How many entries a list has. */
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

/* Take the next entry of a list, which is NULL after the last. */
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

/* Do commas, and nothing else, stand between entries that are not empty? */
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
