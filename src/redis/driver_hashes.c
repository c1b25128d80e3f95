/*
 * driver_hashes.c
 *	  Write and compare the Redis hashes next to a filter, and note kinds there.
 *
 * Guards prove that a filter still is the one that was described.  They are
 * the cursor, and those fields of its Redis hashes that determine its bits
 * and hash functions.  At the moment at which a script reads or sets bits, it
 * compares the guards, also whether they exist, with their values in the
 * description.  Then it checks that the strings exist, have their length, and
 * have the bits of their witness.
 *
 * The first elements that are added decide the kind of all; the script that
 * adds them also notes the kind.  If two sessions do this at the same time,
 * with different kinds, the second one finds that the filter has changed.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/scripts.h"

/* ---- Write ---- */

/* Append the fields of a hash that have values, with the values. */
static void
append_fields(BfUnit *unit, const BfHashShape *shape, char *const *values)
{
	for (int i = 0; shape->fields[i] != NULL; i++)
	{
		if (values[i] == NULL)
			continue;
		bf_command_text(unit, shape->fields[i]);
		bf_command_text(unit, values[i]);
	}
}

/* Append the fields that a filter's hash is to have. */
void
bf_remote_append_fields(BfUnit *unit, const BfRemote *remote, BfHashRole role)
{
	append_fields(unit, remote->layout->hash[role], remote->hash[role].values);
}

/* Append the number of fields and values of a hash, and these. */
static void
append_counted(BfUnit *unit, const BfHashShape *shape, char *const *values)
{
	int			count = 0;

	for (int i = 0; shape->fields[i] != NULL; i++)
		count += values[i] ? 2 : 0;
	bf_command_number(unit, count);
	append_fields(unit, shape, values);
}

/*
 * Append the number of hashes whose keys are appended, and their contents,
 * each after the fields by which an existing hash is recognized if `signs`.
 */
void
bf_remote_append_hashes(BfUnit *unit, const BfRemote *remote, bool signs)
{
	int			count = 0;

	for (int role = 0; role < BF_HASHES; role++)
		count += remote->hash[role].key != NULL;
	bf_command_number(unit, count);
	for (int role = 0; role < BF_HASHES; role++)
	{
		const BfHashShape *shape = remote->layout->hash[role];

		if (remote->hash[role].key == NULL)
			continue;
		for (int i = 0; signs && i < lengthof(shape->sign); i++)
			bf_command_text(unit, shape->sign[i] ? shape->sign[i] : "");
		append_counted(unit, shape, remote->hash[role].values);
	}
}

/* ---- Compare ---- */

/* The number of a hash's key in a script, after those of the strings. */
static uint32
hash_number(const BfRemote *remote, BfHashRole role, uint32 strings)
{
	return strings + 1 +
		(role == BF_NOTE && remote->hash[BF_CONFIG].key != NULL);
}

/*
 * The number, in a script, of the key of the hash that only bloomext has,
 * after the keys of strings; 0 if there is none.
 */
uint32
bf_remote_own_hash(const BfRemote *remote, uint32 strings)
{
	BfHashRole	role = bf_layout_kind_role(remote->layout);

	return remote->hash[role].key == NULL ||
		remote->layout->hash[role]->sign[0] != NULL ? 0 :
		hash_number(remote, role, strings);
}

/*
 * Append a guard, for lua/guard.lua: fields of the hash with a key's number
 * must have these values, or none (NULL).  `witness` is the number of the
 * field with the witness, from 1.
 */
void
bf_guard_append(BfUnit *unit, uint32 key, const char *const *fields,
				char *const *values, int count, int witness)
{
	StringInfoData said;

	initStringInfo(&said);
	bf_command_number(unit, key);
	bf_command_number(unit, count);
	for (int i = 0; i < count; i++)
	{
		bf_command_text(unit, fields[i]);
		if (i > 0)
			appendStringInfoChar(&said, '\0');
		if (values[i] != NULL)
			appendStringInfo(&said, "=%s", values[i]);
	}
	bf_command_number(unit, witness);
	bf_command_digest(unit, said.data, said.len);
	pfree(said.data);
}

/* Append the guard of a hash of a filter, without what is to be noted. */
static void
append_guards_of(BfUnit *unit, const BfRemote *remote, BfHashRole role,
				 uint32 strings, bool noting)
{
	const BfHashShape *shape = remote->layout->hash[role];
	char *const *values = remote->hash[role].values;
	bool		testifies = role == bf_layout_kind_role(remote->layout);
	bool		noted = noting && remote->bind.funnel != BF_FUNNEL_UNBOUND && testifies;
	const char *fields[BF_MAX_FIELDS];
	char	   *wanted[BF_MAX_FIELDS];
	int			guards = 0;
	int			witness = 0;

	for (int i = 0; i < shape->guards; i++)
	{
		if (noted && bf_layout_is_kind_field(i))
			continue;
		fields[guards] = shape->fields[i];
		wanted[guards++] = values[i];
		if (testifies && remote->witnesses > 0 &&
			i + 1 == bf_layout_witness_field(shape))
			witness = guards;
	}
	bf_guard_append(unit, hash_number(remote, role, strings), fields, wanted,
					guards, witness);
}

/*
 * Append the guards of a filter, for lua/guard.lua, after the keys of strings,
 * except for what is noted next, which is compared then.
 */
void
bf_remote_append_guards(BfUnit *unit, const BfRemote *remote, uint32 strings,
						bool noting)
{
	int			hashes = 0;
	StringInfoData cursor;

	for (int role = 0; role < BF_HASHES; role++)
		hashes += remote->hash[role].key != NULL;
	bf_command_number(unit, hashes + (remote->cursor_key != NULL));
	for (int role = 0; role < BF_HASHES; role++)
	{
		if (remote->hash[role].key != NULL)
			append_guards_of(unit, remote, role, strings, noting);
	}
	if (remote->cursor_key == NULL)
		return;
	bf_command_number(unit, strings + hashes + 1);
	bf_command_number(unit, 0);
	initStringInfo(&cursor);
	if (remote->cursor != NULL)
	{
		appendStringInfoChar(&cursor, '=');
		appendBinaryStringInfo(&cursor, remote->cursor, remote->cursor_length);
	}
	bf_command_bytes(unit, cursor.data, cursor.len);
	pfree(cursor.data);
}

/*
 * Append what lua/strings.lua reads: the hash that excuses a missing string if
 * it has no field filled; and the lengths of the strings, which are the first
 * keys, unless they are trimmed or only the caller knows the strings.
 */
void
bf_remote_append_strings(BfUnit *unit, const BfRemote *remote, uint32 strings)
{
	const BfLayout *layout = remote->layout;
	bool		fixed = !layout->trimmed &&
		(layout->stream != NULL || remote->hash[BF_CONFIG].there);
	uint32		layers = layout->native_type != NULL || layout->window ? 0 :
		remote->plan.header.layers;

	bf_command_number(unit, layout->trimmed ?
					  hash_number(remote, remote->hash[BF_NOTE].there ?
								  BF_NOTE : BF_CONFIG, strings) : 0);
	bf_command_number(unit, layers);
	for (uint32 i = 0; i < layers; i++)
		bf_command_number(unit, fixed ?
						  bf_layout_bytes(layout, bf_remote_layer(remote, i)) : 0);
}

/* ---- Note ---- */

/* Whether a filter has a hash of ours after elements have been added. */
bool
bf_remote_gets_note(const BfRemote *remote)
{
	const BfRemoteHash *hash =
		&remote->hash[bf_layout_kind_role(remote->layout)];

	return hash->key != NULL &&
		(hash->there || remote->bind.funnel != BF_FUNNEL_UNBOUND ||
		 remote->layout->trimmed);
}

/*
 * Append what is to be noted with the first elements, for lua/noting.lua:
 * their kind and, if they are added now, that a string must exist from now on.
 * The note of a filter made by another implementation records no more.
 */
void
bf_remote_append_note(BfUnit *unit, const BfRemote *remote, uint32 strings,
					  bool adding)
{
	const BfLayout *layout = remote->layout;
	BfHashRole	role = bf_layout_kind_role(layout);
	const BfRemoteHash *hash = &remote->hash[role];
	char	   *values[BF_MAX_FIELDS] = {NULL};
	bool		fills = adding && layout->trimmed;

	if (hash->key == NULL || (remote->bind.funnel == BF_FUNNEL_UNBOUND && !fills))
	{
		bf_command_number(unit, 0);
		return;
	}
	if (!hash->there)
		layout->hash[role]->write(layout, &remote->plan, values);
	if (!hash->there || remote->bind.funnel != BF_FUNNEL_UNBOUND)
		bf_layout_set_kind(values, remote->bind);
	if (fills)
		bf_layout_set_filled(values);
	bf_command_number(unit, hash_number(remote, role, strings));
	bf_command_number(unit, !hash->there);
	append_counted(unit, layout->hash[role], values);
}

/* Append lua/note.lua, which notes if the filter is the one described. */
void
bf_remote_append_noting(BfUnit *unit, const BfRemote *remote, bool adding)
{
	uint32		strings = remote->layout->layer_suffix == NULL ? 1 :
		remote->plan.header.layers;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_GUARD BF_SCRIPT_NATIVE BF_SCRIPT_STRINGS BF_SCRIPT_NOTING BF_SCRIPT_NOTE);
	bf_remote_append_keys(unit, remote, strings);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, strings, true);
	bf_remote_append_strings(unit, remote, strings);
	bf_command_text(unit, remote->layout->native_type ?
					remote->layout->native_type : "");
	bf_command_bytes(unit, remote->head, bf_layout_head(remote->layout));
	bf_remote_append_note(unit, remote, strings, adding);
}

/*
 * Note the kind of a filter's elements, if `bind` has one; false if it is not
 * the filter described.  Raises 42704 if it is incomplete.
 */
bool
bf_remote_note(const BfRemote *remote)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	bool		same;

	bf_remote_append_noting(unit, remote, false);
	reply = bf_ask(remote->server, remote->key, unit, 0, &connection);
	same = bf_reply_is_same(connection, remote, reply);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return same;
}

/* Remember that the kind was noted, with elements that were added. */
void
bf_remote_noted(BfRemote *remote)
{
	BfRemoteHash *hash = &remote->hash[bf_layout_kind_role(remote->layout)];

	if (remote->bind.funnel == BF_FUNNEL_UNBOUND)
		return;
	bf_layout_set_kind(hash->values, remote->bind);
	remote->bind.funnel = BF_FUNNEL_UNBOUND;
}
