/*
 * mirror.c
 *	  bf_mirror, bf_live_mirror: write a filter to Redis, so that readers see
 *	  the old one or the new one and never a part.
 *
 * One string is written by one SET whose value goes from the filter's memory
 * to the socket: in the stored order without a copy, else by pieces.  Redis
 * executes it when it has all of it, so the old value survives whatever
 * happens on the way.  The SET is part of a transaction that reads back the
 * length and a sample of the bytes in the same moment, and which also writes or
 * removes the hash beside the string where there is to be one.  A live filter,
 * which is mirrored again and again, need not send all of it: see refresh.c.
 *
 * Layouts of several keys are written under temporary names, which expire by
 * themselves should we not come to an end, are checked there, and are put in
 * place by one script.  It is a script and not a transaction because a
 * transaction would go on after a temporary key was found to have expired, and
 * leave new parameters over old bits: false negatives.
 *
 * All this happens at once, not at commit.  A filter may be mirrored early
 * without harm: an element that is rolled back is at worst a false positive.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "live/snapshot.h"
#include "redis/options.h"
#include "redis/image.h"
#include "redis/redisbloom.h"
#include "redis/refresh.h"
#include "redis/switch.h"
#include "type/value.h"

PG_FUNCTION_INFO_V1(bloomext_mirror);
PG_FUNCTION_INFO_V1(bloomext_live_mirror);

/* Bits that are put into another order at a time. */
#define PIECE		((size_t) 64 * 1024)

/* The bytes of an image, from an offset on: BfPayload. */
static const void *
image_bytes(void *arg, uint64 offset, size_t *length)
{
	static uint8 piece[PIECE];
	const BfImage *image = arg;
	const BfLayout *layout = image->remote->layout;

	if (layout->stored_order && offset >= layout->head)
	{
		*length = image->bytes - offset;
		return image->bits + offset - layout->head;
	}
	*length = Min(layout->stored_order ? layout->head - offset : PIECE,
				  image->bytes - offset);
	bf_image_copy(image, offset, piece, *length);
	return piece;
}

/* Check what an image's transaction answered: BfReplyHandler. */
static void
check_image(BfConnection *connection, const redisReply *reply,
			const BfUnit *unit, void *arg)
{
	const BfImage *image = arg;
	redisReply **results = bf_reply_results(connection, reply, unit);

	if (results[0]->type == REDIS_REPLY_ERROR)
		bf_connection_raise(connection, results[0]->str, results[0]->len);
	if (!bf_reply_is_ok(results[0]))
		bf_connection_protocol_error(connection, "The string was not set.");
	bf_image_check_end(connection, image, results + 1,
					   (int) reply->elements - 1);
}

/* Write an image whole. */
static void
write_image(BfImage *image)
{
	BfPipeline	pipeline;
	BfUnit	   *unit;

	bf_pipeline_start(&pipeline, image->remote->server, image->key,
					  check_image, image);
	unit = bf_pipeline_unit(&pipeline);
	bf_transaction_begin(unit);
	bf_command_begin(unit, "SET");
	bf_command_text(unit, image->key);
	bf_command_payload(unit, image->bytes, image_bytes, image);
	if (image->ttl != 0)
	{
		bf_command_text(unit, "PX");
		bf_command_number(unit, image->ttl);
	}
	bf_image_append_end(unit, image);
	bf_pipeline_send(&pipeline, unit);
	bf_pipeline_finish(&pipeline);
}

/*
 * Write a filter of one string in place; where it is a mirror's refreshment,
 * only what differs.
 */
static uint64
mirror_in_place(const BfRemote *remote, const BfRemote *old,
				const BfFilter *filter, int64 ttl, bool refresh)
{
	uint64		sent;
	BfImage		image = {
		.remote = remote,
		.key = remote->key,
		.bits = filter->bytes + remote->layers[0].offset,
		.bytes = bf_layout_bytes(remote->layout, remote->layers),
		.ttl = ttl
	};

	/* Also a hash that we have not seen, or that is about another shape. */
	if (remote->layout->config_key != NULL)
		image.config = remote->layout->config_key(remote->key);
	if (refresh && old->layout == remote->layout && bf_refresh(&image, &sent))
		return sent;
	write_image(&image);
	return image.bytes;
}

/* Write a filter of several keys aside, and then put it in place. */
static uint64
mirror_aside(const BfRemote *remote, const BfRemote *old,
			 const BfFilter *filter, int64 ttl)
{
	uint32		layers = remote->header.layers;
	char	  **temporary = palloc(sizeof(char *) * layers);
	uint64		sent = 0;

	for (uint32 i = 0; i < layers; i++)
	{
		BfImage		image = {
			.remote = remote,
			.key = temporary[i] = bf_temporary_key(remote->key, i),
			.bits = filter->bytes + remote->layers[i].offset,
			.bytes = bf_layout_bytes(remote->layout, &remote->layers[i]),
			.ttl = BF_TEMPORARY_TTL
		};

		write_image(&image);
		sent += image.bytes;
	}
	bf_switch(remote, temporary, old->layout ? old->header.layers : 0, ttl);
	return sent;
}

/* Refuse to write over a filter in another layout, whose hash would stay. */
static void
check_old(const BfRemote *remote, const BfRemote *old)
{
	if (old->layout != NULL &&
		(old->layout != remote->layout || old->shards > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter in layout \"%s\"%s, not \"%s\"",
						old->key, old->layout->name,
						old->shards > 0 ? " and several shards" : "",
						remote->layout->name),
				 errhint("Choose another key, or drop that filter with bf_redis_drop.")));
}

/*
 * Mirror a filter where, in which layout and for how long the arguments from
 * the second on say; returns the bytes of the strings sent.
 */
static uint64
mirror(FunctionCallInfo fcinfo, const BfFilter *filter, bool refresh)
{
	Oid			server = bf_server_argument(fcinfo, 1);
	char	   *key = bf_key_argument(fcinfo, 2);
	int64		ttl = bf_ttl_argument(fcinfo, 4);
	BfRemote	remote;
	BfRemote	old;
	const BfLayout *layout;
	BfLayer    *layers;
	int			shards = 0;

	layout = PG_ARGISNULL(3) ? bf_layout_default(&filter->plan.header) :
		bf_layout_argument(text_to_cstring(PG_GETARG_TEXT_PP(3)), &shards);
	if (shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a filter's elements cannot be told apart, to spread them over shards"),
				 errhint("Make the filter in Redis, with bf_redis_create and bf_redis_add.")));

	layers = palloc(sizeof(BfLayer) * filter->plan.header.layers);
	bf_filter_list_layers(filter, layers);
	bf_remote_plan(server, key, layout, &filter->plan.header, layers, &remote);
	bf_remote_check_slots(&remote);
	bf_remote_describe(server, key, &old);
	check_old(&remote, &old);
	if (layout->native_type != NULL)
		return bf_redisbloom_mirror(&remote, filter, ttl);
	if (layout->presized && !layout->grows)
		return mirror_in_place(&remote, &old, filter, ttl, refresh);
	return mirror_aside(&remote, &old, filter, ttl);
}

/* bf_mirror(bloomfilter, server, key, layout, ttl) */
Datum
bloomext_mirror(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	BfValue		plain;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	bf_value_open(PG_GETARG_DATUM(0), &filter);
	if (filter.plan.header.cell_bits != BF_CELL_BIT)
	{
		bf_value_plain(&filter, &plain);
		filter = plain.filter;
	}
	PG_RETURN_INT64((int64) mirror(fcinfo, &filter, false));
}

/* bf_live_mirror(table or index, server, key, layout, ttl) */
Datum
bloomext_live_mirror(PG_FUNCTION_ARGS)
{
	BfValue		value;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	bf_snapshot_value(PG_GETARG_OID(0), &value);
	PG_RETURN_INT64((int64) mirror(fcinfo, &value.filter, true));
}
