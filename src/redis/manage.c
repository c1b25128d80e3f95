/*
 * manage.c
 *	  The SQL functions bf_redis_create, bf_redis_info, bf_redis_drop,
 *	  bf_mirror, bf_live_mirror and bf_fetch.
 *
 * A filter is written so that readers see the old one or the new one, never a
 * part.  This takes effect at once and not at commit, which does no harm: an
 * element in a mirror whose row is rolled back is at worst a false positive.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "core/estimate.h"
#include "index/snapshot.h"
#include "redis/options.h"
#include "redis/shards.h"
#include "type/arguments.h"
#include "type/shard.h"
#include "type/value.h"

#define MS_PER_DAY	(SECS_PER_DAY * INT64CONST(1000))

PG_FUNCTION_INFO_V1(bloomext_redis_create);
PG_FUNCTION_INFO_V1(bloomext_redis_info);
PG_FUNCTION_INFO_V1(bloomext_redis_drop);
PG_FUNCTION_INFO_V1(bloomext_mirror);
PG_FUNCTION_INFO_V1(bloomext_live_mirror);
PG_FUNCTION_INFO_V1(bloomext_fetch);
PG_FUNCTION_INFO_V1(bloomext_fetch_sized);

/* The window of time that is to be created, if any: 0 slices without. */
static BfWindow
window_argument(FunctionCallInfo fcinfo, const BfSpread *spread)
{
	BfWindow	window = {
		.slices = PG_ARGISNULL(10) ? BF_WINDOW_SLICES : PG_GETARG_INT32(10)
	};
	int64		span = bf_duration_argument(fcinfo, 9, "span");
	const char *other = !PG_ARGISNULL(7) ? "ttl" :
		PG_GETARG_INT32(6) != 0 ? "expansion" :
		spread->shards > 0 ? "shards" : NULL;

	if (span == 0 && !PG_ARGISNULL(10))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slices require a span")));
	if (span == 0)
		return (BfWindow) {0};
	if (other != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a window of time cannot have %s", other),
				 errhint("Omit %s, or omit span.", other)));
	if (window.slices < 1 || window.slices > BF_WINDOW_SLICES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("slices must be from 1 to %d", BF_WINDOW_SLICES)));
	window.length = (span - 1) / window.slices + 1;
	if (window.length < BF_WINDOW_SHORTEST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a slice of time must be a second or longer"),
				 errhint("Use a longer span, or fewer slices.")));
	return window;
}

/*
 * Have a slice of time take two thirds of its strategy's hash functions, and 6 %
 * more bits: of a window every word costs a part of a command, not a bit.
 */
static void
save_hashes(BfPlan *plan)
{
	BfLayer    *slice = &plan->first;
	uint32		hashes = slice->hashes - slice->hashes / 3;
	double		bits = (double) Max(slice->expected, 1) * (double) slice->bits /
		bf_estimate_capacity(slice->fpp, slice->bits, hashes);
	BfPlan		saving;

	bf_value_plan_bits(plan->strategy,
					   (int64) Max(ceil(bits), (double) slice->bits), hashes,
					   BF_FUNNEL_UNBOUND, &saving);
	slice->bits = saving.first.bits;
	slice->hashes = saving.first.hashes;
}

/* Plan what is to be created: a filter, a shard of it, or a slice of time. */
static void
plan_created(FunctionCallInfo fcinfo, int shards, int slices, BfPlan *plan)
{
	const BfStrategy *strategy = bf_strategy_argument(fcinfo, 4);
	int			parts = Max(Max(shards, slices), 1);
	int64		expected = PG_GETARG_INT64(2);
	double		fpp = PG_GETARG_FLOAT8(3);

	if (expected > 0)
		expected = (expected - 1) / parts + 1;
	/* Lookups ask that many slices.  A rate that is invalid stays so. */
	if (slices > 0 && fpp < 1)
		fpp /= BF_WINDOW_LIVE(slices);
	bf_value_plan(strategy, expected, fpp,
				  bf_funnel_argument(fcinfo, 8, strategy), PG_GETARG_INT32(6),
				  plan);
	/* A block has as many hashes as it has words. */
	if (slices > 0 && strategy->blocks == NULL)
		save_hashes(plan);
	if (plan->header.funnel != BF_FUNNEL_UNBOUND)
		plan->header.meaning = BF_MEANING_OPEN;
}

/*
 * bf_redis_create(server, key, expected, fpp, strategy, layout, expansion,
 * ttl, funnel, span, slices): true if created, false if one with these
 * parameters exists.
 */
Datum
bloomext_redis_create(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"server", "key", "expected", "fpp", "strategy", NULL, "expansion"
	};
	const BfLayout *layout;
	BfPlan		plan;
	BfRemote	remote;
	BfSpread	spread;
	BfWindow	window;
	int64		ttl;
	Oid			server;
	char	   *key;

	bf_refuse_read_only("bf_redis_create()");
	bf_items_forget();
	bf_refuse_nulls(fcinfo, 0, names, lengthof(names));
	server = bf_server_argument(fcinfo, 0);
	key = bf_key_argument(fcinfo, 1);
	ttl = bf_duration_argument(fcinfo, 7, "ttl");
	layout = bf_layout_argument(fcinfo, 5, &spread);
	if (spread.number != BF_ALL_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot create a single shard"),
				 errhint("Create all shards, with layout '%s;shards=%d'.", layout->name,
						 spread.shards)));
	window = window_argument(fcinfo, &spread);
	plan_created(fcinfo, spread.shards, window.slices, &plan);
	if (layout == NULL)
		layout = bf_layout_default(&plan, window.slices > 0);
	bf_layout_check_growth(layout, &plan);
	bf_layout_check_window(layout, window.slices);
	bf_remote_plan(server, key, layout, &plan, &remote);
	if (window.slices > 0)
		bf_layout_set_window(remote.hash[BF_CONFIG].values, window);
	remote.shards = spread.shards;
	PG_RETURN_BOOL(bf_shards_create(&remote, ttl));
}

/* Describe and measure a filter, again if it was changed in between. */
static void
measure_remote(Oid server, const char *key, BfShards *shards, BfMeasure *sum)
{
	for (int changes = 0; changes < BF_MAX_CHANGES; changes++)
	{
		bf_shards_describe(server, key, shards);
		if (bf_shards_measure(shards, sum))
			return;
	}
	bf_remote_keeps_changing(key);
}

/* Set what is known of a window: its span, slices, and how full these are. */
static void
set_window(const BfWindow *window, const BfMeasure *measure, Datum *values)
{
	int64		ms = window->length * window->slices;
	Interval   *span = palloc0_object(Interval);
	Datum		fill[BF_WINDOW_LIVE(BF_WINDOW_SLICES)];

	span->day = (int32) (ms / MS_PER_DAY);
	span->time = ms % MS_PER_DAY * 1000;
	for (int i = 0; i < measure->lanes; i++)
		fill[i] = Float8GetDatum(measure->lane_fill[i]);
	values[0] = PointerGetDatum(span);
	values[1] = Int32GetDatum(window->slices);
	values[2] = PointerGetDatum(construct_array(fill, measure->lanes, FLOAT8OID,
											  sizeof(float8), FLOAT8PASSBYVAL,
											  TYPALIGN_DOUBLE));
}

/* bf_redis_info(server, key): a filter's parameters and fill */
Datum
bloomext_redis_info(PG_FUNCTION_ARGS)
{
	BfShards	shards;
	const BfRemote *first;
	const BfHeader *header;
	BfMeasure	sum;
	const BfFill *fill = &sum.fill;
	BfWindow	window;
	Datum		values[21];
	bool		nulls[21] = {false};
	const char *funnel;
	const char *elements;

	measure_remote(bf_server_argument(fcinfo, 0), bf_key_argument(fcinfo, 1),
				   &shards, &sum);
	first = &shards.remote[0];
	header = &first->plan.header;
	funnel = bf_funnel_name(header->funnel);
	elements = bf_meaning_name((BfMeaning) header->meaning);
	window = bf_layout_window(first->layout, first->hash[BF_CONFIG].values);

	values[0] = CStringGetTextDatum(first->layout->name);
	values[1] = CStringGetTextDatum(first->plan.strategy->name);
	nulls[2] = funnel == NULL;
	values[2] = funnel ? CStringGetTextDatum(funnel) : (Datum) 0;
	nulls[3] = nulls[4] = header->fpp == 0;
	values[3] = Int64GetDatum((int64) header->expected * Max(shards.count, window.slices));
	values[4] = Float8GetDatum(header->fpp * Max(sum.lanes, 1));
	values[5] = Int32GetDatum(first->plan.first.hashes);
	values[6] = Int64GetDatum((int64) fill->bits);
	values[7] = Int64GetDatum((int64) fill->bits_set);
	values[8] = Float8GetDatum((double) fill->bits_set / (double) fill->bits);
	values[9] = Int32GetDatum(Max((int) header->layers, sum.lanes));
	values[10] = Int32GetDatum(header->expansion);
	values[11] = Int32GetDatum(shards.count);
	values[12] = Int64GetDatum(fill->count);
	values[13] = Float8GetDatum(fill->fpp);
	values[14] = Int64GetDatum((int64) sum.bytes);
	values[15] = Int64GetDatum(sum.ttl);
	nulls[7] = nulls[8] = nulls[13] = sum.only_counted;
	nulls[15] = sum.ttl < 0;
	nulls[16] = elements == NULL;
	values[16] = elements ? CStringGetTextDatum(elements) : (Datum) 0;
	values[17] = BoolGetDatum(window.slices > 0 ||
							  (first->witnesses > 0 &&
							   (first->witness[0].words > 0 ||
								first->layout->driver->disproves != NULL)));
	nulls[18] = nulls[19] = nulls[20] = window.slices == 0;
	set_window(&window, &sum, &values[18]);
	return bf_row(fcinfo, values, nulls, lengthof(values));
}

/* bf_redis_drop(server, key): true if there was a filter */
Datum
bloomext_redis_drop(PG_FUNCTION_ARGS)
{
	bf_refuse_read_only("bf_redis_drop()");
	bf_items_forget();
	PG_RETURN_BOOL(bf_shards_drop(bf_server_argument(fcinfo, 0),
								  bf_key_argument(fcinfo, 1)));
}

/*
 * Refuse to overwrite a filter in another layout, whose hash would stay, or
 * anything that is not a filter.
 */
static void
check_old(const BfRemote *remote, const BfRemote *old)
{
	int64		bytes = remote->layout->layer_suffix != NULL ? old->at_layer :
		old->at_key;

	bf_remote_check_hashes(old, remote);
	if (old->shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter of several shards", old->key),
				 errhint("Choose another key, or drop that filter with bf_redis_drop.")));
	if (old->layout != NULL && old->layout != remote->layout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter in layout \"%s\", not \"%s\"",
						old->key, old->layout->name, remote->layout->name),
				 errhint("Choose another key, or drop that filter with bf_redis_drop.")));
	if (bf_remote_is_left_over(old, remote))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds remnants of a filter in layout \"%s\"",
						old->key, old->orphan->name),
				 errhint("Choose another key, or drop that filter with bf_redis_drop.")));
	if (old->layout != NULL || bytes == 0 ||
		(old->orphan == remote->layout &&
		 (bytes > 0 ||
		  (old->lost != NULL && remote->layout->driver->disproves != NULL))) ||
		bf_layout_is_bare(remote->layout, &remote->plan, bytes))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("key \"%s\" does not hold a Bloom filter",
					bf_remote_layer_key(remote, 0)),
			 errhint("Choose another key, or delete this one with DEL in Redis.")));
}

/*
 * Refuse shards whose elements are not those that bf_shard assigns to them,
 * whether they are to be mirrored or queried in SQL.
 */
static void
check_shards(const BfStrategy *strategy, BfFunnel funnel)
{
	const char *name = bf_funnel_name(funnel);

	if (!bf_shard_suits(strategy, funnel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("shards of strategy \"%s\"%s%s do not match those of bf_shard",
						strategy->name, name ? ", funnel " : "", name ? name : ""),
				 errdetail("In Redis, elements of this strategy and funnel are assigned to shards by a different hash than bf_shard uses."),
				 errhint("Use strategy guava with funnel utf8 for text, or build the filter in Redis with bf_redis_create and bf_redis_add.")));
}

/* Mirror a filter as planned, replacing what is there. */
static uint64
mirror_one(const BfRemote *remote, const BfFilter *filter, int64 ttl,
		   bool refresh)
{
	BfRemote	old;

	bf_remote_check_slots(remote);
	bf_remote_describe(remote->server, remote->key, &old);
	check_old(remote, &old);
	return remote->layout->driver->mirror(remote, &old, filter, ttl, refresh);
}

/* Mirror a filter as one shard of a filter that exists, or will, at a key. */
static uint64
mirror_shard(const BfRemote *whole, const BfFilter *filter, int number,
			 int64 ttl, bool refresh)
{
	BfRemote	shard;
	BfRemote	found;
	const char *id;
	uint64		bytes;

	if (number == BF_ALL_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot split a filter into shards"),
				 errdetail("The elements of a filter cannot be recovered from it."),
				 errhint("Build one filter per shard, grouping elements by bf_shard(element, %d), and mirror the first one to '%s;shards=%d/0', and so on; or build the filter in Redis with bf_redis_create and bf_redis_add.",
						 whole->shards, whole->layout->name, whole->shards)));
	check_shards(whole->plan.strategy, whole->plan.header.funnel);
	bf_remote_plan(whole->server, bf_shard_key(whole->key, number),
				   whole->layout, &whole->plan, &shard);
	id = bf_shards_claim(whole, false, ttl, &found);
	bf_layout_set_whole(shard.hash[bf_layout_kind_role(shard.layout)].values,
						id, number);
	bf_shards_clear(whole, &found, number);
	bytes = mirror_one(&shard, filter, ttl, refresh);
	bf_shards_arrive(whole, id, number, &shard, ttl);
	return bytes;
}

/*
 * Mirror a filter as the arguments from the second on specify; returns the
 * bytes of the strings sent.  Only a live filter can be refreshed.
 */
static uint64
mirror_filter(FunctionCallInfo fcinfo, const BfFilter *filter, bool refresh)
{
	Oid			server = bf_server_argument(fcinfo, 1);
	char	   *key = bf_key_argument(fcinfo, 2);
	int64		ttl = bf_duration_argument(fcinfo, 4, "ttl");
	BfRemote	remote;
	BfPlan		plan = filter->plan;
	BfSpread	spread;
	const BfLayout *layout = bf_layout_argument(fcinfo, 3, &spread);

	bf_items_forget();
	if (layout == NULL)
		layout = bf_layout_default(&plan, false);
	if (layout->driver->mirror == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters cannot be mirrored in layout \"%s\"", layout->name),
				 errdetail("Nothing records when their elements were added."),
				 errhint("Use bf_redis_create with a span, and bf_redis_add.")));
	if (refresh)
		bf_layout_check_live(layout, &plan);
	plan.layers = palloc(sizeof(BfLayer) * plan.header.layers);
	bf_filter_list_layers(filter, plan.layers);
	bf_remote_plan(server, key, layout, &plan, &remote);
	remote.shards = spread.shards;
	return spread.shards == 0 ? mirror_one(&remote, filter, ttl, refresh) :
		mirror_shard(&remote, filter, spread.number, ttl, refresh);
}

/* bf_mirror(bloomfilter, server, key, layout, ttl) */
Datum
bloomext_mirror(PG_FUNCTION_ARGS)
{
	BfFilter	filter;
	BfValue		plain;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	bf_refuse_read_only("bf_mirror()");
	bf_value_open(PG_GETARG_DATUM(0), &filter);
	if (filter.plan.header.cell_bits != BF_CELL_BIT)
	{
		bf_value_plain(&filter, &plain);
		filter = plain.filter;
	}
	PG_RETURN_INT64((int64) mirror_filter(fcinfo, &filter, false));
}

/* bf_live_mirror(table or index, server, key, layout, ttl) */
Datum
bloomext_live_mirror(PG_FUNCTION_ARGS)
{
	BfValue		value;
	BfSpread	spread;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	bf_refuse_read_only("bf_live_mirror()");
	(void) bf_layout_argument(fcinfo, 3, &spread);
	if (spread.shards > 0 && spread.number != BF_ALL_SHARDS)
		bf_snapshot_check_shard(PG_GETARG_OID(0), spread.shards, spread.number);
	bf_snapshot_value(PG_GETARG_OID(0), true, &value);
	PG_RETURN_INT64((int64) mirror_filter(fcinfo, &value.filter, true));
}

/* The layout and the shard to be fetched; NULL if any. */
static const BfLayout *
requested_layout(FunctionCallInfo fcinfo, int argument, BfSpread *spread)
{
	const BfLayout *layout = bf_layout_argument(fcinfo, argument, spread);

	if (spread->shards > 0 && spread->number == BF_ALL_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot fetch several shards as one filter"),
				 errhint("Fetch each shard with layout '%s;shards=%d/N', where N is 0 to %d.",
						 layout->name, spread->shards, spread->shards - 1)));
	return layout;
}

/* The requested funnel; NULL means the strategy's funnel for text. */
static BfFunnel
requested_funnel(FunctionCallInfo fcinfo, int argument,
				 const BfStrategy *strategy)
{
	BfFunnel	funnel = bf_funnel_argument(fcinfo, argument, strategy);

	return funnel != BF_FUNNEL_UNBOUND ? funnel :
		strategy->funnels[BF_KIND_TEXT];
}

/* Tell that elements are taken for text, which nothing says. */
static void
notice_funnel(const BfRemote *remote, BfFunnel funnel)
{
	ereport(NOTICE,
			(errmsg("nothing records of what kind the elements of the filter at key \"%s\" are",
					remote->key),
			 errdetail("They are taken for text, with funnel \"%s\".",
					   bf_funnel_name(funnel)),
			 errhint("If they are not, name their funnel: what is in the filter would not be found.")));
}

/*
 * The funnel of a filter: the recorded or else the requested one.  If they
 * differ, one is wrong, which is an error if only a note records it.
 */
static BfFunnel
recorded_funnel(FunctionCallInfo fcinfo, int argument, const BfRemote *remote)
{
	BfFunnel	recorded = remote->plan.header.funnel;
	BfFunnel	wanted = requested_funnel(fcinfo, argument,
										remote->plan.strategy);

	if (recorded == BF_FUNNEL_UNBOUND)
	{
		if (PG_ARGISNULL(argument) && !bf_remote_is_unbound(remote))
			notice_funnel(remote, wanted);
		return wanted;
	}
	if (remote->hash[BF_NOTE].there && !PG_ARGISNULL(argument) &&
		recorded != wanted)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("filter at key \"%s\" uses funnel \"%s\", not \"%s\"",
						remote->key, bf_funnel_name(recorded),
						bf_funnel_name(wanted)),
				 errhint("Omit the funnel; or, if the hash at key \"%s\" is left over from another filter, delete that key.",
						 remote->hash[BF_NOTE].key)));
	return recorded;
}

/* Refuse a filter that is not the requested one, or not a single one. */
static void
check_found(const BfRemote *remote, const BfLayout *wanted,
			const BfSpread *spread)
{
	if (remote->layout == NULL)
		bf_remote_missing(remote);
	if (wanted != NULL && wanted != remote->layout)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("key \"%s\" holds a filter in layout \"%s\", not \"%s\"",
						remote->key, remote->layout->name, wanted->name)));
	if (remote->shards == spread->shards)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("filter at key \"%s\" has %d shards, not %d",
					remote->key, Max(remote->shards, 1),
					Max(spread->shards, 1)),
			 remote->shards == 0 ? 0 :
			 errhint("Fetch each shard with layout '%s;shards=%d/N', where N is 0 to %d.",
					 remote->layout->name, remote->shards,
					 remote->shards - 1)));
}

/*
 * Whether the note still has the kind that a filter was fetched as: a stream
 * and the hash next to it are read one after the other.
 */
static bool
kind_is_unchanged(const BfRemote *remote)
{
	BfRemote	now;

	if (bf_layout_head(remote->layout) == 0 || remote->shard_of != NULL)
		return true;
	bf_remote_describe(remote->server, remote->key, &now);
	return now.plan.header.funnel == remote->plan.header.funnel &&
		now.plan.header.meaning == remote->plan.header.meaning;
}

/* Fetch a filter or the requested shard; NULL if it has changed or is gone. */
static struct varlena *
fetch_filter(FunctionCallInfo fcinfo, const BfRemote *whole,
			 const BfSpread *spread)
{
	BfRemote	remote;
	BfBinding	kind;
	struct varlena *value;

	bf_shards_describe_one(whole, spread->number, &remote);
	if (remote.layout->driver->fetch == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("filters in layout \"%s\" cannot be fetched",
						remote.layout->name),
				 errdetail("A value would keep what the filter forgets."),
				 errhint("Use bf_redis_contains or bf_redis_contains_each.")));
	kind = bf_remote_kind(&remote);
	kind.funnel = recorded_funnel(fcinfo, 3, &remote);
	if (spread->shards > 0)
		check_shards(remote.plan.strategy, kind.funnel);
	value = remote.layout->driver->fetch(&remote, kind);
	return value != NULL && kind_is_unchanged(&remote) &&
		bf_shards_are_same(whole) ? value : NULL;
}

/* bf_fetch(server, key, layout, funnel) */
Datum
bloomext_fetch(PG_FUNCTION_ARGS)
{
	const BfLayout *wanted;
	BfSpread	spread;
	Oid			server;
	char	   *key;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	server = bf_server_argument(fcinfo, 0);
	key = bf_key_argument(fcinfo, 1);
	wanted = requested_layout(fcinfo, 2, &spread);
	for (int changes = 0; changes < BF_MAX_CHANGES; changes++)
	{
		BfRemote	whole;
		struct varlena *value;

		bf_remote_describe(server, key, &whole);
		check_found(&whole, wanted, &spread);
		value = fetch_filter(fcinfo, &whole, &spread);
		if (value != NULL)
			PG_RETURN_POINTER(value);
	}
	bf_remote_keeps_changing(key);
}

/* bf_fetch(server, key, layout, expected, fpp, strategy, funnel) */
Datum
bloomext_fetch_sized(PG_FUNCTION_ARGS)
{
	static const char *const names[] = {
		"layout", "expected", "fpp", "strategy"
	};
	const BfStrategy *strategy;
	BfFunnel	funnel;
	BfRemote	remote;
	BfRemote	described;
	BfSpread	spread;
	struct varlena *value;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	bf_refuse_nulls(fcinfo, 2, names, lengthof(names));
	strategy = bf_strategy_argument(fcinfo, 5);
	remote = bf_remote_at(bf_server_argument(fcinfo, 0),
						  bf_key_argument(fcinfo, 1),
						  requested_layout(fcinfo, 2, &spread));
	bf_layout_check_bare(remote.layout);
	if (spread.shards > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot fetch a single shard of a bit string that has no description in Redis"),
				 errhint("Fetch key \"%s\", with layout '%s'.",
						 bf_shard_key(remote.key, spread.number),
						 remote.layout->name)));
	bf_remote_describe(remote.server, remote.key, &described);
	if (described.lost != NULL && described.orphan == remote.layout)
		bf_remote_missing(&described);
	if (described.at_key <= 0)
		check_found(&described, remote.layout, &spread);
	/* The parameters replace the hash that describes the filter. */
	remote.hash[BF_CONFIG].key = NULL;
	funnel = requested_funnel(fcinfo, 6, strategy);
	bf_value_plan(strategy, PG_GETARG_INT64(3), PG_GETARG_FLOAT8(4), funnel, 0,
				  &remote.plan);
	value = remote.layout->driver->fetch(&remote, (BfBinding) {funnel});
	if (value == NULL)
		bf_remote_missing(&remote);
	PG_RETURN_POINTER(value);
}
