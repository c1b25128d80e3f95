/*
 * layout_bitmap.c
 *	  One bare bit string in SETBIT's order, for readers who know m and k.
 *
 * A bare string does not say what it is, so a small hash beside it does, for
 * ourselves: {KEY}:bloomext.  Other readers need not look at it, and need not
 * write it: bf_fetch with parameters reads a string that has none.
 */
#include "postgres.h"

#include "redis/layout.h"

static bool
accept(const BfHeader *header, const BfLayer *layers, BfError *error)
{
	return true;
}

static char *
layer_key(const char *key, uint32_t layer)
{
	return pstrdup(key);
}

static void
write_config(const BfHeader *header, const BfLayer *layers, char **values)
{
	bf_write_own(&bf_layout_bitmap, header, layers, values);
}

const BfLayout bf_layout_bitmap = {
	.name = "bitmap",
	.default_for = 1 << BF_STRATEGY_MAGNUSS | 1 << BF_STRATEGY_TALE2009 |
	1 << BF_STRATEGY_CASSANDRA,
	.accept = accept,
	.layer_key = layer_key,
	.presized = true,
	.config_key = bf_own_key,
	.fields = {BF_OWN_FIELD_LIST},
	.write_config = write_config,
	.read_config = bf_read_shape
};
