/*
 * driver_window.c
 *	  Windows of time: layout window, filters that forget what was added long
 *	  ago.
 *
 * Time is cut into slices of one length, numbered from 1970.  Where a filter
 * has a bit, a window has a word of 32 bits, its lanes: slice s has lane
 * s mod 32, the bit of value 2^lane.  So the AND of an element's words says in
 * which slices it was added, at the cost of one filter and not of 32.
 *
 * The slice of now is what Redis's clock says, or the newest one in the hash
 * if the clock is behind by one, as on a replica that was promoted.  An
 * element is added to that slice.  It is found while that is at most
 * slices + 1 behind the slice of now: the span is `slices` of them, one more
 * has begun, and one is for clocks that differ by less than a slice.  As
 * slices + 2 lanes are asked at once, each is sized for fpp / (slices + 2),
 * and for its share of the expected elements.
 *
 * If the clock is behind by more, either it is wrong, or it was when the
 * window was turned: then lanes were cleared too early.  That is an error.
 *
 * What was added less than a span ago is never denied.  Nothing suppresses a
 * repeat: an element is added to the slice of now even if it is found in an
 * older one, which ends sooner.
 *
 * The words lie in pieces of 2 MB, strings with the hash's id in their names:
 * so they cannot be those of an earlier window, and all are in one slot of a
 * cluster.  A command names those that it needs.  A piece starts with 64 bits,
 * the slice that it was last cleared for, and with the id.  It then has the
 * lanes of that slice and of the 31 before it; whoever asks masks all others,
 * and those that are too old.
 *
 * Whoever adds first in a slice turns the window to it before: one piece a
 * script, as a script blocks Redis.  At the moment at which the piece is
 * turned, all lanes of the slices since the last turn are cleared, field
 * newest of the hash becomes that slice, and piece and hash get a time to live
 * to the end of the last slice that may find something.  With the last piece,
 * field turned becomes that slice.  Elements are added only to the slice that
 * turned says, compared at the same moment.  So no bit is set in a lane that
 * has not been cleared, and a session that ends half-way leaves what the next
 * one completes.  A window that nobody adds to expires as a whole; nothing is
 * to be run for that.
 *
 * A piece always is at a slice from turned to newest.  If it is not, or does
 * not exist, or has another id or length, something was evicted, cut short, or
 * put back from a copy that is older than the last turn: that is an error,
 * never a "no".  So is a hash that is gone, as nothing then says that there is
 * a filter.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "port/pg_bitutils.h"

#include "redis/driver.h"
#include "redis/scripts.h"

/* Bytes of a piece before its words: the slice, and the id. */
#define PIECE_HEAD		24

/* Positions that a script looks up or adds. */
#define POSITIONS_A_SCRIPT		2000

/* Words that a command of a lookup reads: most that are absent need no more. */
#define WORDS_A_RUN		8

/* Words of a piece that are counted to estimate how full it is. */
#define SAMPLE			10000

/* ---- Pieces ---- */

/* Number of words of a piece. */
static uint64
piece_words(const BfRemote *remote, uint32 piece)
{
	return Min(remote->plan.first.bits - (uint64) piece * BF_WINDOW_WORDS,
			   BF_WINDOW_WORDS);
}

/* Length of a piece. */
static uint64
piece_bytes(const BfRemote *remote, uint32 piece)
{
	return PIECE_HEAD + piece_words(remote, piece) * sizeof(uint32);
}

/* Begin a script about pieces of a window: their keys, and the hash's. */
static void
begin_script(BfUnit *unit, const BfRemote *remote, const char *script,
			 const Bitmapset *pieces)
{
	bf_script_begin(unit, script);
	for (int piece = -1; (piece = bms_next_member(pieces, piece)) >= 0;)
		bf_command_key(unit, bf_remote_layer_key(remote, piece));
	bf_remote_append_side_keys(unit, remote);
}

/* Append the guards, and what lua/window.lua reads. */
static void
append_pieces(BfUnit *unit, const BfRemote *remote, const Bitmapset *pieces,
			  bool adding)
{
	BfWindow	window = bf_layout_window(remote->layout, remote->hash[BF_CONFIG].values);
	int			count = bms_num_members(pieces);

	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, count, adding);
	bf_command_number(unit, window.length);
	bf_command_number(unit, window.slices);
	bf_command_number(unit, count);
	for (int piece = -1; (piece = bms_next_member(pieces, piece)) >= 0;)
	{
		bf_command_number(unit, piece);
		bf_command_number(unit, piece_bytes(remote, piece));
	}
	if (adding)
		bf_remote_append_note(unit, remote, count, true);
}

/* BfDriver.recognize: pieces are compared with each command. */
static bool
recognize_window(BfRemote *remote, const BfFound *found)
{
	return bf_remote_read_config(remote, found);
}

/* ---- Create ---- */

/* Make one piece, which goes by itself unless the window is created. */
static void
make_piece(const BfRemote *remote, uint32 piece)
{
	BfUnit	   *unit = bf_unit_make();

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_WINDOW_PIECE);
	bf_command_key(unit, bf_remote_layer_key(remote, piece));
	bf_script_arguments(unit);
	bf_command_number(unit, piece_bytes(remote, piece));
	bf_command_number(unit, BF_TEMPORARY_TTL);
	(void) bf_ask_number(remote->server, remote->key, unit);
}

/* BfDriver.create: the hash comes last, at one moment with its pieces. */
static char *
create_window(const BfRemote *remote, int64 ttl)
{
	BfWindow	window = bf_layout_window(remote->layout, remote->hash[BF_CONFIG].values);
	uint32		pieces = bf_layout_strings(remote->layout, &remote->plan);
	BfUnit	   *unit;
	int64		answer;

	Assert(ttl == 0);
	for (uint32 piece = 0; piece < pieces; piece++)
	{
		CHECK_FOR_INTERRUPTS();
		make_piece(remote, piece);
	}
	unit = bf_unit_make();
	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_WINDOW_CREATE);
	bf_command_text(unit, remote->key);
	bf_remote_append_side_keys(unit, remote);
	for (uint32 piece = 0; piece < pieces; piece++)
		bf_command_key(unit, bf_remote_layer_key(remote, piece));
	bf_script_arguments(unit);
	bf_command_number(unit, window.length);
	bf_command_number(unit, window.slices);
	bf_remote_append_fields(unit, remote, BF_CONFIG);
	answer = bf_ask_number(remote->server, remote->key, unit);
	return answer >= 0 ? NULL :
		pstrdup(answer == -1 ? remote->key : remote->hash[BF_CONFIG].key);
}

/* ---- Turn ---- */

/*
 * Turn a piece to the slice of now, which *slice is set to; `first` is that of
 * the piece turned first if this is the last one, else -1.  Returns false if
 * it is not the filter described.
 */
static bool
turn_piece(const BfRemote *remote, uint32 piece, int64 first, int64 *slice)
{
	Bitmapset  *pieces = bms_make_singleton(piece);
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	bool		same;

	unit->writes = true;
	begin_script(unit, remote, BF_SCRIPT_GUARD BF_SCRIPT_WINDOW BF_SCRIPT_WINDOW_TURN, pieces);
	bf_command_key(unit, bf_temporary_key(remote->key, 0));
	append_pieces(unit, remote, pieces, false);
	if (first >= 0)
		bf_command_number(unit, first);
	else
		bf_command_text(unit, "");
	reply = bf_ask(remote->server, remote->key, unit, 0, &connection);
	same = bf_reply_is_same(connection, remote, reply);
	*slice = same ? bf_reply_integer(connection, reply) : -1;
	bf_connection_done(connection);
	bf_unit_free(unit);
	return same;
}

/* Turn all pieces, in order: the slice of now never goes back. */
static void
turn_window(const BfRemote *remote)
{
	uint32		pieces = bf_layout_strings(remote->layout, &remote->plan);
	int64		first = PG_INT64_MAX;
	int64		slice;

	for (uint32 piece = 0; piece < pieces; piece++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!turn_piece(remote, piece, piece + 1 == pieces ? first : -1, &slice))
			return;
		first = Min(first, slice);
	}
}

/* ---- Add and look up ---- */

/* Compare positions, for qsort(). */
static int
compare_positions(const void *left, const void *right)
{
	uint64		a = *(const uint64 *) left;
	uint64		b = *(const uint64 *) right;

	return a < b ? -1 : a > b;
}

/*
 * List the positions of items, k each, in order; *pieces is set to where they
 * are.
 */
static uint64 *
list_positions(const BfRemote *remote, BfItem *item, int count,
			   Bitmapset **pieces)
{
	uint32		hashes = remote->plan.first.hashes;
	uint64	   *positions = palloc(sizeof(uint64) * count * hashes);

	*pieces = NULL;
	for (int i = 0; i < count; i++)
	{
		bf_item_bits(&item[i], remote, 0, positions + (size_t) i * hashes);
		qsort(positions + (size_t) i * hashes, hashes, sizeof(uint64),
			  compare_positions);
	}
	for (size_t i = 0; i < (size_t) count * hashes; i++)
		*pieces = bms_add_member(*pieces, positions[i] / BF_WINDOW_WORDS);
	return positions;
}

/*
 * Append the words of an item, for lua/window_lookup.lua: in runs, each of
 * words in one piece, and no more than `longest`.
 */
static void
append_runs(BfUnit *unit, const uint64 *position, uint32 hashes, uint32 longest)
{
	for (uint32 from = 0, to; from < hashes; from = to)
	{
		uint64		piece = position[from] / BF_WINDOW_WORDS;

		for (to = from + 1; to < hashes && to - from < longest &&
			 position[to] / BF_WINDOW_WORDS == piece;)
			to++;
		bf_command_number(unit, piece);
		bf_command_number(unit, to - from);
		for (uint32 i = from; i < to; i++)
			bf_command_number(unit, 8 *
							  (PIECE_HEAD + position[i] % BF_WINDOW_WORDS * sizeof(uint32)));
	}
}

/* Append a script about items, which adds them or looks them up. */
static void
append_words(BfUnit *unit, const BfRemote *remote, const char *script,
			 BfItem *item, int count, bool adding)
{
	uint32		hashes = remote->plan.first.hashes;
	Bitmapset  *pieces;
	uint64	   *positions = list_positions(remote, item, count, &pieces);

	unit->writes = adding;
	begin_script(unit, remote, script, pieces);
	append_pieces(unit, remote, pieces, adding);
	bf_command_number(unit, hashes);
	for (int i = 0; i < count; i++)
		append_runs(unit, positions + (size_t) i * hashes, hashes,
					adding ? hashes : WORDS_A_RUN);
	bms_free(pieces);
	pfree(positions);
}

/* Append a lookup of items: BfItemRun.append. */
static void
append_window_lookup(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	append_words(unit, run->remote,
				 BF_SCRIPT_GUARD BF_SCRIPT_WINDOW BF_SCRIPT_WINDOW_LOOKUP,
				 item, count, false);
}

/* BfDriver.contains */
static bool
window_contains(const BfRemote *remote, BfItems *items)
{
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = Max(POSITIONS_A_SCRIPT / remote->plan.first.hashes, 1),
		.append = append_window_lookup,
		.take = bf_items_take_answers
	};

	return bf_items_run(&run);
}

/* Append an addition of items: BfItemRun.append. */
static void
append_window_add(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	append_words(unit, run->remote,
				 BF_SCRIPT_GUARD BF_SCRIPT_NOTING BF_SCRIPT_WINDOW BF_SCRIPT_WINDOW_ADD,
				 item, count, true);
}

/* Read the answers, unless the window is to be turned: BfItemRun.take. */
static bool
take_unless_due(BfConnection *connection, const BfReply *reply,
				const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	if (reply->type == BF_REPLY_INTEGER && reply->integer == 0)
	{
		*(bool *) run->arg = true;
		return false;
	}
	return bf_items_take_answers(connection, reply, unit, run, item, count);
}

/*
 * BfDriver.add: what is not done when a new slice begins is left to the next
 * round.
 */
static bool
add_to_window(const BfRemote *remote, BfItems *items)
{
	bool		turn = false;
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = Max(POSITIONS_A_SCRIPT / remote->plan.first.hashes, 1),
		.arg = &turn,
		.append = append_window_add,
		.take = take_unless_due
	};
	bool		same = bf_items_run(&run);

	if (turn)
		turn_window(remote);
	return same;
}

/* ---- Measure ---- */

/*
 * Count the bits of each live lane, the newest first, in bytes from a piece
 * that was last cleared for slice `at`.
 */
static void
count_lanes(const uint8 *bytes, size_t words, int64 now, int64 at, int lanes,
			uint64 *set)
{
	uint64		lane_set[32] = {0};

	for (size_t i = 0; i < words; i++)
	{
		uint32		word = (uint32) bytes[4 * i] << 24 | bytes[4 * i + 1] << 16 |
			bytes[4 * i + 2] << 8 | bytes[4 * i + 3];

		for (; word != 0; word &= word - 1)
			lane_set[pg_rightmost_one_pos32(word)]++;
	}
	for (int i = 0; i < lanes; i++)
	{
		if (now - i <= at && now - i > at - 32)
			set[i] += lane_set[(now - i) & 31];
	}
}

/* Measure a piece: its words counted, and their bits; false if it changed. */
static bool
measure_piece(const BfRemote *remote, uint32 piece, BfMeasure *measure,
			  uint64 *set)
{
	size_t		words = Min(piece_words(remote, piece), SAMPLE);
	Bitmapset  *pieces = bms_make_singleton(piece);
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	bool		same;

	begin_script(unit, remote, BF_SCRIPT_GUARD BF_SCRIPT_WINDOW BF_SCRIPT_WINDOW_MEASURE, pieces);
	append_pieces(unit, remote, pieces, false);
	bf_command_number(unit, words * 4);
	reply = bf_ask(remote->server, remote->key, unit, 0, &connection);
	same = bf_reply_is_same(connection, remote, reply);
	if (same)
	{
		BfReply   **part = bf_reply_array(connection, reply, 4);

		(void) bf_reply_string(connection, part[2]);
		count_lanes((const uint8 *) part[2]->str, Min(words, part[2]->len / 4),
					bf_reply_integer(connection, part[0]),
					bf_reply_integer(connection, part[1]), measure->lanes, set);
		measure->bytes += piece_bytes(remote, piece);
		measure->ttl = bf_reply_integer(connection, part[3]);
	}
	bf_connection_done(connection);
	bf_unit_free(unit);
	return same;
}

/* BfDriver.measure: how full lanes are is estimated from words of each piece. */
static bool
measure_window(const BfRemote *remote, BfMeasure *measure)
{
	const BfLayer *lane = &remote->plan.first;
	uint64		set[lengthof(measure->lane_fill)] = {0};
	uint64		counted = 0;

	measure->lanes = bf_layout_window(remote->layout, remote->hash[BF_CONFIG].values).slices;
	measure->lanes = BF_WINDOW_LIVE(measure->lanes);
	for (uint32 i = 0; i < bf_layout_strings(remote->layout, &remote->plan); i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!measure_piece(remote, i, measure, set))
			return false;
		counted += Min(piece_words(remote, i), SAMPLE);
	}
	for (int i = 0; i < measure->lanes; i++)
	{
		measure->lane_fill[i] = (double) set[i] / (double) counted;
		bf_fill_add(&measure->fill, remote->plan.strategy, lane,
					(uint64) rint(measure->lane_fill[i] * (double) lane->bits));
	}
	return true;
}

const BfDriver bf_driver_window = {
	.recognize = recognize_window,
	.create = create_window,
	.add = add_to_window,
	.contains = window_contains,
	.measure = measure_window
};
