/*
 * layout_table.c
 *	  The layouts, a row each, with their drivers; and finding one.
 *
 * A new layout is a row of the table, and a driver if no existing one fits.
 * The order of rows matters.  When a key is described, rows are tried from
 * the last to the first; and if several rows are default for a strategy, the
 * first of them that fits is used.  The head of layouts.c describes each
 * layout.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "redis/layouts.h"
#include "type/arguments.h"
#include "type/shard.h"
#include "type/value.h"

#define ANY_STRATEGY	(~UINT32_C(0))

#define GUAVAS	(1 << BF_STRATEGY_GUAVA | 1 << BF_STRATEGY_GUAVA32)

#define BARE_STRINGS \
	(1 << BF_STRATEGY_MAGNUSS | 1 << BF_STRATEGY_TALE2009 | \
	 1 << BF_STRATEGY_CASSANDRA | 1 << BF_STRATEGY_SPARK1 | \
	 1 << BF_STRATEGY_SPARK2 | 1 << BF_STRATEGY_BITSANDBLOOMS | \
	 1 << BF_STRATEGY_PARQUET)

/* Layout growing does not count elements, by which RedisBloom's grow. */
#define GROWING_BY_BITS	(GUAVAS | 1 << BF_STRATEGY_REDISSON | BARE_STRINGS)

/* Layers after the first must be those that it and the expansion determine. */
static bool
accept_growing(const BfPlan *plan, BfError *error)
{
	const BfHeader *header = &plan->header;
	BfLayer		next = plan->first;

	if (header->expansion == 0)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"growing\" requires an expansion of 1 or more");
	for (uint32 i = 1; i < header->layers; i++)
	{
		BfLayer		layer = next;

		if (!bf_plan_next_layer(plan, &layer, &next, error))
			return false;
		if (next.bits != plan->layers[i].bits ||
			next.hashes != plan->layers[i].hashes)
			return bf_fail(error, BF_ERROR_PARAMETER,
						   "layer %u does not follow from the first layer and expansion %u",
						   i, header->expansion);
	}
	return true;
}

/* The names of all pieces are arguments of one command. */
static bool
accept_window(const BfPlan *plan, BfError *error)
{
	if (plan->first.bits > (uint64) BF_WINDOW_WORDS * BF_WINDOW_PIECES)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "a slice of %llu bits exceeds the maximum of %llu bits for layout \"window\"",
					   (unsigned long long) plan->first.bits,
					   (unsigned long long) BF_WINDOW_WORDS * BF_WINDOW_PIECES);
	return true;
}

const BfLayout bf_layouts[] = {
	{
		.name = "guava",
		.driver = &bf_driver_string,
		.strategies = GUAVAS,
		.default_for = GUAVAS,
		.stream = &bf_guava_stream,
		.hash = {[BF_NOTE] = &bf_own_hash}
	},
	{
		.name = "growing",
		.driver = &bf_driver_growing,
		.strategies = GROWING_BY_BITS,
		.default_for = GROWING_BY_BITS,
		.grows = true,
		.accept = accept_growing,
		.layer_suffix = "-",
		.cursor_suffix = "-cursor",
		.hash = {[BF_CONFIG] = &bf_growing_hash}
	},
	{
		.name = "redisson",
		.driver = &bf_driver_string,
		.strategies = 1 << BF_STRATEGY_REDISSON,
		.default_for = 1 << BF_STRATEGY_REDISSON,
		.trimmed = true,
		.hash = {[BF_CONFIG] = &bf_redisson_hash, [BF_NOTE] = &bf_own_hash}
	},
	{
		.name = "bitmap",
		.driver = &bf_driver_string,
		.strategies = ANY_STRATEGY,
		.default_for = BARE_STRINGS,
		.bare = true,
		.hash = {[BF_CONFIG] = &bf_own_hash}
	},
	{
		.name = "redisbloom",
		.driver = &bf_driver_native,
		.strategies = 1 << BF_STRATEGY_REDISBLOOM,
		.default_for = 1 << BF_STRATEGY_REDISBLOOM,
		.grows = true,
		.native_type = "MBbloom--",
		.native_header = "BF.SCANDUMP",
		.hash = {[BF_NOTE] = &bf_own_hash}
	},
	{
		.name = "window",
		.driver = &bf_driver_window,
		.strategies = ANY_STRATEGY,
		.default_for = ANY_STRATEGY,
		.window = true,
		.accept = accept_window,
		.hash = {[BF_CONFIG] = &bf_window_hash}
	}
};

const int	bf_layout_count = lengthof(bf_layouts);

/* Find a layout by name; NULL if there is none. */
const BfLayout *
bf_layout_by_name(const char *name)
{
	for (int i = 0; i < bf_layout_count; i++)
	{
		if (strcmp(bf_layouts[i].name, name) == 0)
			return &bf_layouts[i];
	}
	return NULL;
}

/* Read "shards=8", or "shards=8/0" for one of them; or raise an error. */
static void
read_shards_option(const char *option, BfSpread *spread)
{
	const char *slash = option + strcspn(option, "/");
	uint64		shards;
	uint64		number = 0;

	if (strncmp(option, "shards=", 7) != 0 ||
		!bf_read_number(pnstrdup(option + 7, slash - option - 7), 1,
						BF_MAX_SHARDS, &shards) ||
		(*slash != '\0' && !bf_read_number(slash + 1, 0, shards - 1, &number)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid layout option \"%s\"", option),
				 errhint("The only option is shards=N, with N from 1 to %d; a single shard is shards=N/i, with i from 0 to N - 1.",
						 BF_MAX_SHARDS)));
	spread->shards = (int) shards;
	spread->number = *slash != '\0' ? (int) number : BF_ALL_SHARDS;
}

/* The layout of an argument, or NULL: "name", "name;shards=N[/i]". */
const BfLayout *
bf_layout_argument(FunctionCallInfo fcinfo, int argument, BfSpread *spread)
{
	const BfLayout *layout;
	StringInfoData known;
	char	   *name;
	char	   *option;

	*spread = (BfSpread) {.number = BF_ALL_SHARDS};
	if (PG_ARGISNULL(argument))
		return NULL;
	name = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	option = strchr(name, ';');
	if (option != NULL)
	{
		*option++ = '\0';
		read_shards_option(option, spread);
	}
	layout = bf_layout_by_name(name);
	if (layout != NULL)
		return layout;

	initStringInfo(&known);
	for (int i = 0; i < bf_layout_count; i++)
		bf_append_name(&known, bf_layouts[i].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown layout \"%s\"", name),
			 errhint("Known layouts are: %s.", known.data)));
}

/* The default layout of a filter's strategy, or of a window of time. */
const BfLayout *
bf_layout_default(const BfPlan *plan, bool window)
{
	uint32		strategy = UINT32_C(1) << plan->strategy->id;
	bool		grows = plan->header.expansion > 0;

	for (int i = 0; i < bf_layout_count; i++)
	{
		if (bf_layouts[i].window == window &&
			(bf_layouts[i].default_for & strategy) &&
			(bf_layouts[i].grows == grows || bf_layouts[i].native_type != NULL))
			return &bf_layouts[i];
	}
	elog(ERROR, "strategy %d has no layout", plan->strategy->id);
}

/* Raise an error if a layout, or Redis, cannot hold a filter. */
void
bf_layout_check(const BfLayout *layout, const BfPlan *plan)
{
	BfError		error;

	if (plan->header.layers > 1 && !layout->grows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" supports one layer, not %u",
						layout->name, plan->header.layers),
				 errhint("Use layout \"growing\".")));
	if ((layout->strategies & (UINT32_C(1) << plan->strategy->id)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" does not support strategy \"%s\"",
						layout->name, plan->strategy->name),
				 errhint("Use layout \"%s\".", bf_layout_default(plan, layout->window)->name)));
	if (layout->accept != NULL && !layout->accept(plan, &error))
		bf_raise(&error);
	for (uint32 i = 0; i < plan->header.layers; i++)
	{
		uint64		bytes = bf_layout_bytes(layout, i == 0 ? &plan->first :
											 &plan->layers[i]);

		if (bytes > BF_REDIS_MAX_BYTES && layout->native_type == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("filter does not fit into a Redis string"),
					 errdetail("A layer takes %llu bytes; a Redis string holds at most %llu bytes.",
							   (unsigned long long) bytes,
							   (unsigned long long) BF_REDIS_MAX_BYTES),
					 errhint("Use shards: call bf_redis_create with a layout such as '%s;shards=8', or build one filter per shard with bf_shard and mirror them with bf_mirror to '%s;shards=8/0' and so on.",
							 layout->name, layout->name)));
	}
}
