/*
 * guard.c
 *	  What says that a filter in Redis still is what it was described as.
 *
 * These are the fields of its hash that bits and hashes follow from, and the
 * cursor.  They are read, or compared, in the same moment as the bits.
 */
#include "postgres.h"

#include "redis/guard.h"

/* How many fields of its hash say that a filter is still the same. */
int
bf_guard_count(const BfRemote *remote)
{
	int			guards = 0;

	if (!remote->configured)
		return 0;
	for (int i = 0; i < bf_layout_fields(remote->layout); i++)
		guards += remote->layout->fields[i].guards && remote->values[i] != NULL;
	return guards;
}

/* Append these fields, each with its value, as arguments. */
void
bf_guard_append_values(BfUnit *unit, const BfRemote *remote)
{
	if (!remote->configured)
		return;
	for (int i = 0; i < bf_layout_fields(remote->layout); i++)
	{
		if (!remote->layout->fields[i].guards || remote->values[i] == NULL)
			continue;
		bf_command_text(unit, remote->layout->fields[i].name);
		bf_command_text(unit, remote->values[i]);
	}
}

/* Read the hash's fields that must be what they were. */
void
bf_guard_append(BfUnit *unit, const BfRemote *remote)
{
	const BfLayout *layout = remote->layout;

	bf_command_begin(unit, "HMGET");
	bf_command_key(unit, layout->config_key(remote->key));
	for (int i = 0; i < bf_layout_fields(layout); i++)
	{
		if (layout->fields[i].guards && remote->values[i] != NULL)
			bf_command_text(unit, layout->fields[i].name);
	}
	if (layout->cursor_key != NULL)
	{
		bf_command_begin(unit, "GET");
		bf_command_key(unit, layout->cursor_key(remote->key));
	}
}

/* Whether the hash's fields are unchanged. */
bool
bf_guard_same_fields(BfConnection *connection, const BfRemote *remote,
					 const redisReply *reply)
{
	redisReply **value = bf_reply_array(connection, reply,
										bf_guard_count(remote));
	int			at = 0;

	for (int i = 0; i < bf_layout_fields(remote->layout); i++)
	{
		if (!remote->layout->fields[i].guards || remote->values[i] == NULL)
			continue;
		if (value[at]->type != REDIS_REPLY_STRING ||
			strcmp(value[at]->str, remote->values[i]) != 0)
			return false;
		at++;
	}
	return true;
}

/* Whether the cursor, which may be missing, is unchanged. */
bool
bf_guard_same_cursor(const BfRemote *remote, const redisReply *reply)
{
	char		expected[16];

	snprintf(expected, sizeof(expected), "%u", remote->header.layers - 1);
	if (reply->type == REDIS_REPLY_NIL)
		return remote->header.layers == 1;
	return reply->type == REDIS_REPLY_STRING &&
		strcmp(reply->str, expected) == 0;
}
