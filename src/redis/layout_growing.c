/*
 * layout_growing.c
 *	  The growing filter over Redis of 2021: a string a layer, and a cursor.
 *
 * Layers are KEY-0, KEY-1, ... in SETBIT's order, each of its full length;
 * KEY-cursor is the newest one's number, and absent means 0.  The original's
 * clients take "KEY-" and the cursor's key as parameters and know m and k; the
 * hash KEY-config says these, and more, to everybody else.
 *
 * Layers are all alike in the original (expansion 1).  With another expansion
 * they follow from the first by the rule that made them, so the hash need not
 * list them.
 *
 * On a cluster all these keys fall into one slot only if KEY has a part in
 * braces.
 */
#include "postgres.h"

#include "redis/layout.h"
#include "strategy/plan.h"

enum
{
	EXPANSION = BF_SHAPE_FIELDS
};

/* Growing by elements counted, as RedisBloom does, is not its way. */
static bool
accept(const BfHeader *header, const BfLayer *layers, BfError *error)
{
	const BfStrategy *strategy = bf_strategy_by_id(header->strategy);
	BfPlan		plan = {.strategy = strategy,.header = *header};
	BfLayer		next = layers[0];

	if (strategy->counts_elements)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"growing\" grows by how full the bits are, not as strategy \"%s\" does",
					   strategy->name);
	if (header->expansion == 0)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"growing\" is for filters with an expansion of 1 or more");
	for (uint32 i = 1; i < header->layers; i++)
	{
		BfLayer		layer = next;

		if (!bf_plan_next_layer(&plan, &layer, &next, error))
			return false;
		if (next.bits != layers[i].bits || next.hashes != layers[i].hashes)
			return bf_fail(error, BF_ERROR_PARAMETER,
						   "layer %u does not follow from the first by expansion %u",
						   i, header->expansion);
	}
	return true;
}

static char *
layer_key(const char *key, uint32_t layer)
{
	return psprintf("%s-%u", key, layer);
}

static char *
config_key(const char *key)
{
	return psprintf("%s-config", key);
}

static char *
cursor_key(const char *key)
{
	return psprintf("%s-cursor", key);
}

static void
write_config(const BfHeader *header, const BfLayer *layers, char **values)
{
	bf_write_shape(header, layers, values);
	values[EXPANSION] = psprintf("%u", header->expansion);
}

/*
 * The fields, and the first layer, which is smaller than n and p say where
 * filters do more than repeat it.
 */
static bool
read_config(char *const *values, BfHeader *header, BfLayer *first,
			BfError *error)
{
	uint64		expansion;
	BfPlan		sized;

	if (!bf_read_shape(values, header, first, error))
		return false;
	if (bf_strategy_by_id(header->strategy)->counts_elements)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "strategy in Redis that grows another way");
	if (!bf_read_number(values[EXPANSION], &expansion) || expansion < 1 ||
		expansion > BF_MAX_EXPANSION)
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "invalid expansion in Redis");
	header->expansion = (uint32) expansion;
	if (header->fpp == 0)
	{
		if (expansion == 1)
			return true;
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "expansion %u without expected and fpp in Redis",
					   header->expansion);
	}
	if (!bf_plan_sized(bf_strategy_by_id(header->strategy),
					   (int64) header->expected, header->fpp,
					   BF_FUNNEL_UNBOUND, (int32) header->expansion, &sized,
					   error))
		return false;
	if (expansion > 1 &&
		(sized.first.bits != first->bits ||
		 sized.first.hashes != first->hashes))
		return bf_fail(error, BF_ERROR_MALFORMED,
					   "bits and hashes do not follow from expected and fpp in Redis");
	first->expected = sized.first.expected;
	first->fpp = sized.first.fpp;
	return true;
}

const BfLayout bf_layout_growing = {
	.name = "growing",
	.default_for = 1 << BF_STRATEGY_GUAVA | 1 << BF_STRATEGY_GUAVA32 |
	1 << BF_STRATEGY_REDISSON | 1 << BF_STRATEGY_MAGNUSS |
	1 << BF_STRATEGY_TALE2009 | 1 << BF_STRATEGY_CASSANDRA,
	.grows = true,
	.accept = accept,
	.layer_key = layer_key,
	.presized = true,
	.config_key = config_key,
	.fields = {BF_SHAPE_FIELD_LIST, [EXPANSION] = {"expansion", true}},
	.write_config = write_config,
	.read_config = read_config,
	.cursor_key = cursor_key
};
