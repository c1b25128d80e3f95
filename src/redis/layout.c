/*
 * layout.c
 *	  The layouts, and what they have in common.
 *
 * A layout is one file and a row here.  Keys are built so that all keys of a
 * filter fall into one slot of a cluster wherever the layout's original allows
 * that: by a part in braces.
 *
 * A sharded filter is so many filters of its layout, named KEY:0, KEY:1, ...,
 * each of which is complete, and a small hash that says how many.
 *
 * Texts that come from Redis are read strictly: decimals are canonical, as
 * Redisson compares them as text.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "redis/cluster.h"
#include "redis/layout.h"
#include "type/arguments.h"
#include "type/value.h"

static const BfLayout *const layouts[] = {
	&bf_layout_guava,
	&bf_layout_growing,
	&bf_layout_redisson,
	&bf_layout_bitmap,
	&bf_layout_redisbloom
};

/* The layout at an index, or NULL past the last. */
const BfLayout *
bf_layout_at(int index)
{
	return index < lengthof(layouts) ? layouts[index] : NULL;
}

const BfLayout *
bf_layout_by_name(const char *name)
{
	for (int i = 0; i < lengthof(layouts); i++)
	{
		if (strcmp(layouts[i]->name, name) == 0)
			return layouts[i];
	}
	return NULL;
}

/* The number in "shards=8", or an error. */
static int
shards_option(const char *option)
{
	uint64		shards;

	if (strncmp(option, "shards=", 7) != 0 ||
		!bf_read_number(option + 7, &shards) ||
		shards < 1 || shards > BF_MAX_SHARDS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid layout option \"%s\"", option),
				 errhint("The only option is shards=N, with N from 1 to %d.",
						 BF_MAX_SHARDS)));
	return (int) shards;
}

/*
 * The layout that a user named, "name" or "name;shards=N"; without the option,
 * *shards is 0.
 */
const BfLayout *
bf_layout_argument(const char *text, int *shards)
{
	char	   *name = pstrdup(text);
	char	   *option = strchr(name, ';');
	const BfLayout *layout;
	StringInfoData known;

	*shards = 0;
	if (option != NULL)
	{
		*option++ = '\0';
		*shards = shards_option(option);
	}
	layout = bf_layout_by_name(name);
	if (layout != NULL)
		return layout;

	initStringInfo(&known);
	for (int i = 0; i < lengthof(layouts); i++)
		bf_append_name(&known, layouts[i]->name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown layout \"%s\"", name),
			 errhint("Known layouts are: %s.", known.data)));
}

/* The layout that a filter's strategy has of its own. */
const BfLayout *
bf_layout_default(const BfHeader *header)
{
	bool		grows = header->expansion > 0;

	for (int i = 0; i < lengthof(layouts); i++)
	{
		if ((layouts[i]->default_for & (UINT32_C(1) << header->strategy)) &&
			(layouts[i]->grows == grows || layouts[i]->native_type != NULL))
			return layouts[i];
	}
	elog(ERROR, "strategy %d has no layout", header->strategy);
}

/* Raise that a layout cannot hold a filter, or that Redis cannot. */
void
bf_layout_check(const BfLayout *layout, const BfHeader *header,
				const BfLayer *layers)
{
	BfError		error;

	if (header->layers > 1 && !layout->grows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("layout \"%s\" holds one layer, not %u",
						layout->name, header->layers),
				 errhint("Use layout \"growing\".")));
	if (!layout->accept(header, layers, &error))
		bf_raise(&error);
	for (uint32 i = 0; i < header->layers; i++)
	{
		uint64		bytes = bf_layout_bytes(layout, &layers[i]);

		if (bytes > BF_REDIS_MAX_BYTES && layout->native_type == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("filter does not fit into a Redis key"),
					 errdetail("A layer takes %llu bytes; a key holds at most %llu.",
							   (unsigned long long) bytes,
							   (unsigned long long) BF_REDIS_MAX_BYTES),
					 errhint("Spread it over several keys: bf_redis_create with a layout such as '%s;shards=8'.",
							 layout->name)));
	}
}

/* Does a filter come with a hash that describes it? */
bool
bf_layout_has_config(const BfLayout *layout, const BfHeader *header)
{
	return layout->config_key != NULL &&
		(layout->needs_config == NULL || layout->needs_config(header));
}

/* How many fields that hash has. */
int
bf_layout_fields(const BfLayout *layout)
{
	int			count = 0;

	while (count < BF_MAX_FIELDS && layout->fields[count].name != NULL)
		count++;
	return count;
}

/* The length of a layer's string. */
uint64_t
bf_layout_bytes(const BfLayout *layout, const BfLayer *layer)
{
	return layout->head + (layout->stored_order ?
						   bf_layer_bytes(layer->bits, BF_CELL_BIT) :
						   (layer->bits + 7) / 8);
}

/* Where SETBIT and GETBIT find a bit of a layer. */
uint64_t
bf_layout_offset(const BfLayout *layout, uint64_t position)
{
	if (!layout->stored_order)
		return position;
	return layout->head * 8 + (position | 63) - (position & 63);
}

/* The filter that a shard of a sharded one is. */
char *
bf_shard_key(const char *key, int shard)
{
	return psprintf("%s:%d", key, shard);
}

/* A key in the same slot, in Redisson's manner. */
static char *
beside(const char *key, const char *suffix)
{
	return psprintf(strchr(key, '{') ? "%s:%s" : "{%s}:%s", key, suffix);
}

/* The hash that says how many shards a filter has. */
char *
bf_shards_key(const char *key)
{
	return beside(key, "bloomext-shards");
}

/* The hash that describes a filter where its layout's original has none. */
char *
bf_own_key(const char *key)
{
	return beside(key, "bloomext");
}

/* A key to write a layer to before it is put in place; nobody else's. */
char *
bf_temporary_key(const char *key, uint32_t number)
{
	uint64		random;

	if (!pg_strong_random(&random, sizeof(random)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	return psprintf(strchr(key, '{') ? "%s:bloomext-tmp-%016llx-%u" :
					"{%s}:bloomext-tmp-%016llx-%u",
					key, (unsigned long long) random, number);
}

/* Read a canonical decimal that fits an int64. */
bool
bf_read_number(const char *text, uint64_t *number)
{
	size_t		length = text ? strlen(text) : 0;

	if (length == 0 || length > 18 ||
		strspn(text, "0123456789") != length ||
		(text[0] == '0' && length > 1))
		return false;
	*number = strtou64(text, NULL, 10);
	return true;
}

/* Read a number of hash functions. */
bool
bf_read_hashes(const char *text, uint32_t *hashes)
{
	uint64		number;

	if (!bf_read_number(text, &number) || number < 1 ||
		number > BF_MAX_HASHES)
		return false;
	*hashes = (uint32) number;
	return true;
}

/* Read a probability, "1.0E-5" or "0.000010". */
bool
bf_read_rate(const char *text, double *rate)
{
	char	   *end;
	double		value;

	if (text == NULL || strspn(text, "0123456789.eE+-") != strlen(text))
		return false;
	value = strtod(text, &end);
	if (end == text || *end != '\0' || !(value > 0 && value < 1))
		return false;
	*rate = value;
	return true;
}

/* Write what a filter is into fields of ours; unknown ones are empty. */
void
bf_write_shape(const BfHeader *header, const BfLayer *layer, char **values)
{
	const char *funnel = bf_funnel_name(header->funnel);
	bool		sized = header->fpp != 0;

	values[BF_SHAPE_BITS] = psprintf("%llu", (unsigned long long) layer->bits);
	values[BF_SHAPE_HASHES] = psprintf("%u", layer->hashes);
	values[BF_SHAPE_STRATEGY] =
		pstrdup(bf_strategy_by_id(header->strategy)->name);
	values[BF_SHAPE_FUNNEL] = pstrdup(funnel ? funnel : "");
	values[BF_SHAPE_EXPECTED] = sized ?
		psprintf("%llu", (unsigned long long) header->expected) : pstrdup("");
	values[BF_SHAPE_FPP] = sized ? psprintf("%.17g", header->fpp) : pstrdup("");
}

/* The same for the hash of bf_own_key(), which says whose it is. */
void
bf_write_own(const BfLayout *layout, const BfHeader *header,
			 const BfLayer *layer, char **values)
{
	bf_write_shape(header, layer, values);
	values[BF_OWN_LAYOUT] = pstrdup(layout->name);
}

/*
 * Read n and p: both or, where they are not both known, or not what so many bits
 * can be for, neither.
 */
bool
bf_read_sizing(const char *expected, const char *fpp, uint64_t bits,
			   BfHeader *header)
{
	uint64		number;
	double		rate;
	bool		known = bf_read_number(expected, &number) &&
		bf_read_rate(fpp, &rate) && bf_sizing_is_valid(number, rate, bits);

	header->expected = known ? number : 0;
	header->fpp = known ? rate : 0;
	return known;
}

/* Do fields of ours say that n and p are not known? */
static bool
is_unsized(const char *expected, const char *fpp)
{
	return expected != NULL && expected[0] == '\0' &&
		fpp != NULL && fpp[0] == '\0';
}

/* Read what bf_write_shape() wrote: a header, and its first layer. */
bool
bf_read_shape(char *const *values, BfHeader *header, BfLayer *layer,
			  BfError *error)
{
	const char *name = values[BF_SHAPE_STRATEGY];
	const char *funnel = values[BF_SHAPE_FUNNEL];
	const BfStrategy *strategy = name ? bf_strategy_by_name(name) : NULL;
	BfFunnel	bound = BF_FUNNEL_UNBOUND;
	BfLayer		shape;

	if (strategy == NULL || funnel == NULL ||
		(funnel[0] != '\0' && (!bf_funnel_by_name(funnel, &bound) ||
							   !bf_strategy_takes_funnel(strategy, bound))))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "unknown strategy or funnel in Redis");
	if (!bf_read_number(values[BF_SHAPE_BITS], &shape.bits) ||
		!bf_read_hashes(values[BF_SHAPE_HASHES], &shape.hashes) ||
		shape.bits == 0 || shape.bits > BF_REDIS_MAX_BYTES * 8 ||
		(!bf_read_sizing(values[BF_SHAPE_EXPECTED], values[BF_SHAPE_FPP],
						 shape.bits, header) &&
		 !is_unsized(values[BF_SHAPE_EXPECTED], values[BF_SHAPE_FPP])))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid bits, hashes, expected or fpp in Redis");
	header->strategy = strategy->id;
	header->funnel = bound;
	*layer = (BfLayer) {
		.bits = shape.bits,
		.hashes = shape.hashes,
		.expected = header->expected,
		.fpp = header->fpp
	};
	return bf_strategy_accepts(strategy, shape.bits, error);
}
