/*
 * driver_string.c
 *	  Filters of one string: layouts guava, redisson and bitmap.
 *
 * The rows of these layouts (layout_table.c) say in what they differ: a head,
 * the order of bits, and whether the string exists from the start.
 *
 * Bits may be set only if the filter still is the one for which their
 * positions were computed.  If the key has expired, for example, BITFIELD
 * would create it again, without the head and the earlier elements, and nobody
 * would notice.  A script can compare first; but if it sets the bits as well,
 * each of them passes through Lua, which takes Redis twice as long as separate
 * BITFIELDs.  In a transaction, a script that compares cannot stop the
 * BITFIELDs after it.
 *
 * So the BITFIELDs of a transaction use a temporary name.  The transaction
 * first creates a list of this name: BITFIELD on a list fails.  Then a script
 * compares.  Only if the filter is the right one does it delete the list and
 * rename the filter's string to the temporary name.  At the end a second
 * script gives the string its own name back.  Others see all of this as one
 * moment, in which only bits have changed; the string keeps its time to live.
 * If Redis refuses any of these commands, it refuses all.
 *
 * Newer versions of Redis freeze the clock during a transaction.  Up to 7.0, a
 * script in a transaction still sees the real time; before 6.2.5, every
 * command does.  So a string may expire under its temporary name, and BITFIELD
 * then creates a new string of that name, without a time to live.  Therefore,
 * if the filter's string had a time to live, the second script looks whether
 * the string of the temporary name has one.  If so, it is the filter's string,
 * and is renamed.  If not, BITFIELD created it after the filter's string had
 * expired, and it is removed.
 *
 * With WATCH no temporary name would be needed, but each transaction would
 * take one more round trip, and would be in vain whenever another session adds
 * to the same filter.
 *
 * A mirror is written straight to its key, by one transaction, with two
 * exceptions.  If Redis may not have the memory for one SET of the whole
 * string, it comes in pieces (temporary.c).  And if another program may be
 * using the key of the Redis hash that describes the filter, a script has to
 * check that.  In both cases the string is written under a temporary name, and
 * renamed by a script.
 */
#include "postgres.h"

#include "redis/driver.h"
#include "redis/redis_write.h"
#include "redis/scripts.h"

/* BITFIELDs in a unit that adds. */
#define COMMANDS_A_UNIT		10

/* ---- Recognize ---- */

/* Whether a string starts with the head of a stream, and has its length. */
static bool
recognize_stream(BfRemote *remote, const BfStream *stream,
				 const BfFound *found)
{
	BfError		error;

	if (found->at.head_length < stream->head_size ||
		!stream->inspect(found->at.head, found->at.length, &remote->plan,
						 &error))
		return false;
	memcpy(remote->head, found->at.head, stream->head_size);
	return true;
}

/* BfDriver.recognize */
static bool
recognize_string(BfRemote *remote, const BfFound *found)
{
	const BfLayout *layout = remote->layout;
	uint64		whole;

	if (layout->stream != NULL)
		return recognize_stream(remote, layout->stream, found);
	if (!bf_remote_read_config(remote, found))
		return false;
	whole = bf_layout_bytes(layout, &remote->plan.first);
	if (layout->trimmed ? found->at.length <= whole :
		found->at.length == whole && found->disproved[BF_CONFIG] == 0)
		return true;
	remote->orphan = layout;
	remote->lost = bf_remote_layer_key(remote, 0);
	return false;
}

/* ---- Add ---- */

/* Number of items in a BITFIELD. */
static int
items_a_command(const BfRemote *remote)
{
	return Max(BF_BITS_A_COMMAND / (int) remote->plan.first.hashes, 1);
}

/*
 * Append lua/attach.lua, which gives the string its own name back, and writes
 * a witness if the filter has a hash of ours for it.
 */
static void
append_attach(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	bool		testifies = bf_remote_gets_note(remote) &&
		bf_items_testify(remote, 0, item, count);
	BfWitness	witness = bf_remote_witness(remote, 0);

	bf_script_begin(unit, BF_SCRIPT_TESTIFY BF_SCRIPT_ATTACH);
	bf_command_text(unit, remote->key);
	bf_command_text(unit, run->arg);
	if (testifies)
		bf_command_text(unit, remote->hash[bf_layout_kind_role(remote->layout)].key);
	bf_script_arguments(unit);
	if (!testifies)
		return;
	bf_command_number(unit, bf_witness_count(&witness, BF_WITNESS_WORDS));
	witness = bf_items_witness(remote, item, count);
	for (int i = 0; i < witness.words; i++)
		bf_command_number(unit, witness.word[i]);
}

/* Add items in a transaction: BfItemRun.append, whose arg is the name. */
static void
append_add(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;
	int			slice = items_a_command(remote);

	bf_transaction_begin(unit);
	bf_command_begin(unit, "RPUSH");
	bf_command_text(unit, run->arg);
	bf_command_text(unit, "");
	bf_script_begin(unit, BF_SCRIPT_WITNESS BF_SCRIPT_GUARD BF_SCRIPT_STRINGS BF_SCRIPT_NOTING BF_SCRIPT_DETACH);
	bf_command_text(unit, remote->key);
	bf_command_text(unit, run->arg);
	bf_remote_append_side_keys(unit, remote);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, 2, true);
	bf_remote_append_strings(unit, remote, 2);
	bf_command_bytes(unit, remote->head, bf_layout_head(remote->layout));
	bf_remote_append_note(unit, remote, 2, true);
	for (int from = 0; from < count; from += slice)
	{
		bf_command_begin(unit, "BITFIELD");
		bf_command_text(unit, run->arg);
		bf_items_append_bits(unit, remote, item + from,
							 Min(slice, count - from), true);
	}
	append_attach(unit, run, item, count);
	bf_transaction_end(unit);
}

/* Read the previous bits: an item is new if one was not set. */
static bool
take_added(BfConnection *connection, const BfReply *reply,
		   const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	BfReply **result = bf_reply_results(connection, reply, unit) + 1;
	uint32		hashes = run->remote->plan.first.hashes;
	int			slice = items_a_command(run->remote);

	if (!bf_reply_is_same(connection, run->remote, *result++))
		return false;
	for (int from = 0; from < count; from += slice)
	{
		int			here = Min(slice, count - from);

		bf_items_take_bits(connection,
						   bf_reply_array(connection, *result++,
										  (size_t) hashes * here),
						   hashes, item + from, here, false);
	}
	(void) bf_reply_integer(connection, *result);
	return true;
}

/* BfDriver.add */
static bool
add_to_string(const BfRemote *remote, BfItems *items)
{
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = items_a_command(remote) * COMMANDS_A_UNIT,
		.arg = bf_temporary_key(remote->key, 0),
		.append = append_add,
		.take = take_added
	};

	bf_remote_check_slots(remote);
	return bf_items_run(&run);
}

/* ---- Mirror ---- */

/*
 * Whether a mirror takes the name of a hash that another program may have: a
 * script can check that first, a transaction cannot.
 */
static bool
takes_name(const BfRemote *remote, const BfRemote *old)
{
	const BfHashShape *config = remote->layout->hash[BF_CONFIG];

	return old->layout == NULL && config != NULL && config->sign[0] != NULL;
}

/* BfDriver.mirror: of a refreshed string, only what differs is sent. */
static uint64
mirror_string(const BfRemote *remote, const BfRemote *old,
			  const BfFilter *filter, int64 ttl, bool refresh)
{
	BfRemote	written = *remote;
	BfImage		image = bf_image_of_layer(&written, filter, 0);
	uint64		sent;
	bool		room;

	bf_image_testify(&written, filter);
	if (remote->layout->trimmed && image.bytes > 0)
		bf_layout_set_filled(written.hash[BF_NOTE].values);
	image.ttl = ttl;
	image.hashes = true;
	if (refresh && old->layout == remote->layout &&
		bf_image_refresh(&image, &sent))
		return sent;
	room = bf_temporary_room(remote, image.bytes);
	if (!room || takes_name(remote, old))
		return bf_temporary_mirror(&written, &image, image.bytes > 0, room, 0, ttl);
	bf_image_write(&image);
	return image.bytes;
}

const BfDriver bf_driver_string = {
	.recognize = recognize_string,
	.create = bf_strings_create,
	.add = add_to_string,
	.contains = bf_strings_contains,
	.fetch = bf_strings_fetch,
	.mirror = mirror_string,
	.measure = bf_strings_measure
};
