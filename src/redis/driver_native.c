/*
 * driver_native.c
 *	  Filters of RedisBloom's own type, by its commands.
 *
 * A filter is loaded by BF.LOADCHUNK under a temporary name and then renamed:
 * a key that is half loaded returns 0 for every element, which would be false
 * negatives.  The first call, with cursor 1 and the header, makes the key.
 * In each further call the cursor is the offset of the end of its chunk, plus
 * 1; no chunk may cross the end of a layer.
 *
 * BF.SCANDUMP reads a filter in several calls, which a script makes at one
 * moment: otherwise parts of two filters could be put together.
 *
 * BF.MEXISTS returns 0 even if the key is missing or of another type.  So
 * lookups and additions use scripts, which check the key, too.  A transaction
 * would take Redis less time, but a Redis that is out of memory refuses it;
 * and an addition in it would go to whatever filter is at the key.
 * RedisBloom itself hashes the elements, so we send their bytes.
 *
 * The bits of such a filter cannot be read.  So the witness in its Redis hash
 * is a lower bound of the number of elements that were new to it.  If the key
 * now has a filter that was created again, that one has fewer, until as many
 * were added to it.  A filter whose shape differs from that in the hash is
 * not the right one either; it is not taken for a filter without a witness.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "core/bytes.h"
#include "redis/driver.h"
#include "redis/redis_write.h"
#include "redis/scripts.h"
#include "type/value.h"
#include "utils/memutils.h"

/* Bytes loaded by a command. */
#define CHUNK			((uint64) 1024 * 1024)

/* Elements added or looked up by a command. */
#define BATCH			1000

/*
 * Plan a filter from the header of its dump.  The length of the whole dump
 * follows from a valid header, as a link's header starts with the number of
 * bytes of its bits.
 */
static bool
read_header(const uint8 *head, size_t head_length, BfPlan *plan,
			BfError *error)
{
	const BfStream *stream = bf_redisbloom.stream;
	uint64		length = head_length;

	for (size_t at = stream->head_size;
		 at + stream->layer_head_size <= head_length;
		 at += stream->layer_head_size)
		length += bf_load_le64(head + at);
	plan->layers = palloc(sizeof(BfLayer) * BF_MAX_LAYERS);
	return stream->inspect(head, length, plan, error);
}

/* Get the header of a dump; the reply is checked to be a cursor and bytes. */
static BfReply **
scan_header(const BfRemote *remote, const char *key, BfConnection **connection)
{
	BfUnit	   *unit = bf_unit_make();
	const BfReply *reply;
	BfReply **result;

	bf_command_begin(unit, "BF.SCANDUMP");
	bf_command_text(unit, key);
	bf_command_number(unit, 0);
	reply = bf_ask(remote->server, key, unit, 0, connection);
	bf_unit_free(unit);
	result = bf_reply_array(*connection, reply, 2);
	(void) bf_reply_integer(*connection, result[0]);
	(void) bf_reply_string(*connection, result[1]);
	return result;
}

/* BfDriver.describe */
static void
describe_native(BfRemote *remote)
{
	BfConnection *connection;
	BfReply **result;
	BfError		error;

	if (remote->plan.header.layers > 0)
		return;
	result = scan_header(remote, remote->key, &connection);
	if (!read_header((const uint8 *) result[1]->str, result[1]->len,
					 &remote->plan, &error))
		bf_raise(&error);
	bf_connection_done(connection);
}

/*
 * The type shows that it is a filter.  Its shape is in its header, which some
 * accounts must not read, and which may be unknown to us.  But if there is a
 * hash, which is about a shape, an account that must not read the header gets
 * an error.
 */
static bool
recognize_native(BfRemote *remote, const BfFound *found)
{
	BfError		error;

	if (strcmp(found->at.type, remote->layout->native_type) != 0)
		return false;
	if (found->at.head_length == 0 &&
		bf_layout_owns(remote->layout, BF_NOTE, found->values[BF_NOTE]))
		describe_native(remote);
	else if (found->at.head_length == 0 ||
			 !read_header(found->at.head, found->at.head_length,
						  &remote->plan, &error))
		remote->plan = (BfPlan) {.strategy = &bf_redisbloom};
	return true;
}

/*
 * Refuse parameters for which RedisBloom before 2.4.10 and 2.6.13 makes a
 * filter without bits: a lookup divides by their number, which ends Redis.  A
 * filter that grows starts with half of the fpp, which needs more than a bit.
 */
static void
check_bits(const BfHeader *header)
{
	if (header->expansion == 0 &&
		bf_redisbloom_bits(header->expected, header->fpp) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("RedisBloom cannot create a filter for %llu elements with a false positive probability of %g",
						(unsigned long long) header->expected, header->fpp),
				 errdetail("Some releases of RedisBloom would create a filter without bits."),
				 errhint("Expect more elements, or choose a lower probability.")));
}

/* Create a filter by BF.RESERVE; or return a key that is in the way. */
static char *
create_native(const BfRemote *remote, int64 ttl)
{
	bool		grows = remote->plan.header.expansion > 0;
	BfUnit	   *unit = bf_unit_make();
	int64		answer;

	check_bits(&remote->plan.header);
	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_NATIVE_CREATE);
	bf_remote_append_keys(unit, remote, 1);
	bf_script_arguments(unit);
	bf_command_number(unit, ttl);
	bf_remote_append_hashes(unit, remote, false);
	bf_command_key(unit, psprintf("%.17g", remote->plan.header.fpp));
	bf_command_number(unit, remote->plan.header.expected);
	bf_command_text(unit, grows ? "EXPANSION" : "NONSCALING");
	if (grows)
		bf_command_number(unit, remote->plan.header.expansion);
	answer = bf_ask_number(remote->server, remote->key, unit);
	return answer < 0 ? bf_remote_key(remote, (uint32) -answer, 1) : NULL;
}

/* Append the bytes of items. */
static void
append_items(BfUnit *unit, const BfItem *item, int count)
{
	for (int i = 0; i < count; i++)
		bf_command_bytes(unit, item[i].hash.data, item[i].hash.length);
}

/* Append a lookup of items by the script: BfItemRun.append. */
static void
append_questions(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	bf_script_begin(unit, BF_SCRIPT_GUARD BF_SCRIPT_NATIVE BF_SCRIPT_NATIVE_LOOKUP);
	bf_remote_append_keys(unit, run->remote, 1);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, run->remote, 1, false);
	bf_command_text(unit, run->remote->layout->native_type);
	append_items(unit, item, count);
}

/* BfDriver.contains */
static bool
contains_native(const BfRemote *remote, BfItems *items)
{
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = BATCH,
		.append = append_questions,
		.take = bf_items_take_answers
	};

	return bf_items_run(&run);
}

/* Append the script that adds items: BfItemRun.append. */
static void
append_additions(BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	const BfRemote *remote = run->remote;

	unit->writes = true;
	bf_script_begin(unit, BF_SCRIPT_GUARD BF_SCRIPT_NATIVE BF_SCRIPT_NOTING BF_SCRIPT_NATIVE_ADD);
	bf_remote_append_keys(unit, remote, 1);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, 1, true);
	bf_command_text(unit, remote->layout->native_type);
	bf_remote_append_note(unit, remote, 1, true);
	append_items(unit, item, count);
}

/*
 * Read a number for each item: BfItemRun.take.  A filter that is full and does
 * not grow returns an error for the first item that it rejects, and nothing
 * for those that follow.
 */
static bool
take_inserted(BfConnection *connection, const BfReply *reply,
		   const BfUnit *unit, const BfItemRun *run, BfItem *item, int count)
{
	int			answers = Min(count, reply->elements);
	BfReply **answer;

	if (reply->type == BF_REPLY_NIL)
		return false;
	answer = bf_reply_array(connection, reply, answers);
	for (int i = 0; i < answers; i++)
		item[i].answer = bf_reply_bit(connection, answer[i]);
	if (answers < count)
		bf_connection_protocol_error(connection,
									 "An answer for each element was expected.");
	return true;
}

/* BfDriver.add */
static bool
add_native(const BfRemote *remote, BfItems *items)
{
	BfItemRun	run = {
		.remote = remote,
		.items = items,
		.batch = BATCH,
		.append = append_additions,
		.take = take_inserted
	};

	return bf_items_run(&run);
}

/* Join the parts of a dump, and make a value of it. */
static struct varlena *
take_dump(BfConnection *connection, const BfReply *reply, BfBinding kind)
{
	BfReply **part = bf_reply_array(connection, reply, reply->elements);
	StringInfoData dump;
	BfValue		value;

	initStringInfo(&dump);
	for (size_t i = 0; i < reply->elements; i++)
		appendBinaryStringInfo(&dump, bf_reply_string(connection, part[i])->str,
							   part[i]->len);
	bf_value_of_stream(bf_redisbloom.stream, (const uint8 *) dump.data,
					   dump.len, &value);
	bf_value_bind(&value, kind.funnel, kind.meaning);
	pfree(dump.data);
	return value.varlena;
}

/* BfDriver.fetch */
static struct varlena *
fetch_native(const BfRemote *remote, BfBinding kind)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	struct varlena *value = NULL;

	bf_script_begin(unit, BF_SCRIPT_GUARD BF_SCRIPT_NATIVE BF_SCRIPT_NATIVE_FETCH);
	bf_remote_append_keys(unit, remote, 1);
	bf_script_arguments(unit);
	bf_remote_append_guards(unit, remote, 1, false);
	bf_command_text(unit, remote->layout->native_type);
	reply = bf_ask(remote->server, remote->key, unit, BF_FETCH_LIMIT,
				   &connection);
	if (reply->type != BF_REPLY_NIL)
		value = take_dump(connection, reply, kind);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return value;
}

/* Check commands that return OK, or a number: BfReplyHandler. */
static void
expect_success(BfConnection *connection, const BfReply *reply,
			   const BfUnit *unit, void *arg)
{
	if (reply->type != BF_REPLY_INTEGER && !bf_reply_is_ok(reply))
		bf_connection_protocol_error(connection, "OK was expected.");
}

/* Send a chunk by BF.LOADCHUNK; the first one makes the key. */
static void
send_chunk(BfPipeline *pipeline, uint64 cursor, const uint8 *bytes,
		   size_t length)
{
	BfUnit	   *unit = bf_pipeline_unit(pipeline);

	if (cursor == 1)
		bf_temporary_begin(unit, pipeline->key, "BF.LOADCHUNK");
	else
	{
		bf_command_begin(unit, "BF.LOADCHUNK");
		bf_command_text(unit, pipeline->key);
	}
	bf_command_number(unit, cursor);
	bf_command_bytes(unit, bytes, length);
	bf_pipeline_send(pipeline, unit);
}

/* Send the header of a dump, then the bits of its links in pieces. */
static void
send_dump(BfPipeline *pipeline, const BfRemote *remote, const uint8 *dump,
		  size_t head_size)
{
	const uint8 *bits = dump + head_size;
	uint64		offset = 0;

	send_chunk(pipeline, 1, dump, head_size);
	for (uint32 i = 0; i < remote->plan.header.layers; i++)
	{
		uint64		end = offset + bf_remote_layer(remote, i)->bytes;

		while (offset < end && pipeline->error == NULL)
		{
			uint64		length = Min(CHUNK, end - offset);

			send_chunk(pipeline, offset + length + 1, bits + offset, length);
			offset += length;
		}
	}
}

/* Raise an error unless the dump of a key starts with the same header. */
static void
check_head(const BfRemote *remote, const char *key, const uint8 *dump,
		   size_t head_size)
{
	BfConnection *connection;
	BfReply **result = scan_header(remote, key, &connection);

	if (result[0]->integer != 1 || result[1]->len != head_size ||
		memcmp(result[1]->str, dump, head_size) != 0)
		bf_connection_protocol_error(connection,
									 "The data read back differs from the data written.");
	bf_connection_done(connection);
}

/* Sum of the elements counted by the layers of a filter. */
static uint64
counted_elements(const BfRemote *remote)
{
	uint64		count = 0;

	for (uint32 i = 0; i < remote->plan.header.layers; i++)
		count += remote->plan.layers[i].counted;
	return count;
}

/* BfDriver.disproves */
static bool
has_fewer_elements(const BfRemote *remote, const char *witness)
{
	uint64		least;

	return bf_read_number(witness, 0, INT64_MAX, &least) &&
		counted_elements(remote) < least;
}

/* Load the dump of a filter under a temporary name, and put it in place. */
static uint64
mirror_native(const BfRemote *remote, const BfRemote *old,
			  const BfFilter *filter, int64 ttl, bool refresh)
{
	const BfStream *stream = bf_redisbloom.stream;
	size_t		head_size = bf_stream_head_size(stream, &remote->plan);
	BfRemote	written = *remote;
	BfImage		image = {
		.remote = &written,
		.key = bf_temporary_key(remote->key, 0)
	};
	BfPipeline	pipeline;
	uint64		length;
	uint8	   *dump;
	BfError		error;

	if (!stream->measure(filter, &length, &error))
		bf_raise(&error);
	bf_layout_set_witness(written.hash[BF_NOTE].values,
						  psprintf(UINT64_FORMAT, counted_elements(remote)));
	(void) bf_temporary_room(remote, length);
	dump = palloc_extended(length, MCXT_ALLOC_HUGE);
	bf_stream_write(filter, dump);
	bf_pipeline_start(&pipeline, remote->server, image.key, expect_success,
					  NULL);
	pipeline.stays = true;
	send_dump(&pipeline, remote, dump, head_size);
	bf_temporary_finish(&pipeline, &image, 1);
	check_head(remote, image.key, dump, head_size);
	bf_temporary_replace(&pipeline, &written, &image, 1, 0, ttl);
	pfree(dump);
	return length;
}

/*
 * BfDriver.measure: elements, bytes and time to live, by
 * lua/native_measure.lua; the number of bits that are set is not available.
 */
static bool
measure_native(const BfRemote *remote, BfMeasure *measure)
{
	BfUnit	   *unit = bf_unit_make();
	BfConnection *connection;
	const BfReply *reply;
	BfReply **number;

	for (uint32 i = 0; i < remote->plan.header.layers; i++)
		measure->fill.bits += bf_remote_layer(remote, i)->bits;
	measure->only_counted = true;
	bf_script_begin(unit, BF_SCRIPT_NATIVE BF_SCRIPT_NATIVE_MEASURE);
	bf_command_text(unit, remote->key);
	bf_script_arguments(unit);
	reply = bf_ask(remote->server, remote->key, unit, 0, &connection);
	if (reply->type == BF_REPLY_NIL)
	{
		bf_connection_done(connection);
		bf_remote_missing(remote);
	}
	number = bf_reply_array(connection, reply, 3);
	measure->fill.count = bf_reply_integer(connection, number[0]);
	measure->bytes = bf_reply_integer(connection, number[1]);
	measure->ttl = bf_reply_integer(connection, number[2]);
	bf_connection_done(connection);
	bf_unit_free(unit);
	return true;
}

const BfDriver bf_driver_native = {
	.recognize = recognize_native,
	.describe = describe_native,
	.create = create_native,
	.add = add_native,
	.contains = contains_native,
	.fetch = fetch_native,
	.mirror = mirror_native,
	.measure = measure_native,
	.disproves = has_fewer_elements,
	.hashes_itself = true
};
