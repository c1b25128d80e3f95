/*
 * layout_redisbloom.c
 *	  A key of RedisBloom's own type, which BF.EXISTS reads from any client.
 *
 * Its commands are in redisbloom.c.
 */
#include "postgres.h"

#include "redis/layout.h"

static bool
accept(const BfHeader *header, const BfLayer *layers, BfError *error)
{
	if (header->strategy != bf_redisbloom.id)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"redisbloom\" holds filters of strategy \"redisbloom\", not of \"%s\"",
					   bf_strategy_by_id(header->strategy)->name);
	return true;
}

static char *
layer_key(const char *key, uint32_t layer)
{
	return pstrdup(key);
}

const BfLayout bf_layout_redisbloom = {
	.name = "redisbloom",
	.default_for = 1 << BF_STRATEGY_REDISBLOOM,
	.grows = true,
	.accept = accept,
	.layer_key = layer_key,
	.native_type = "MBbloom--"
};
