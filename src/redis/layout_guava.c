/*
 * layout_guava.c
 *	  One string: the bytes of Guava's writeTo, which Java reads with one GET.
 *
 * Bit i of the filter is Redis's bit 48 + 64 * (i >> 6) + 63 - (i & 63); byte
 * 0 is Guava's strategy, byte 1 is k, bytes 2 to 5 are the number of words.
 * The string has its full length from the start: readFrom fails on a short
 * one.
 *
 * Guava's stream does not say which funnel filled it.  Elements are taken to
 * be of the funnel that their SQL type has.  Where that would go wrong, for
 * text by funnel utf16, a hash beside the key says so (see layout_bitmap.c).
 */
#include "postgres.h"

#include "core/bytes.h"
#include "redis/layout.h"

#define HEAD_SIZE	6

static bool
accept(const BfHeader *header, const BfLayer *layers, BfError *error)
{
	const BfStrategy *strategy = bf_strategy_by_id(header->strategy);

	if (strategy->stream != bf_guava.stream)
		return bf_fail(error, BF_ERROR_PARAMETER,
					   "layout \"guava\" holds filters of Guava's strategies, not of \"%s\"",
					   strategy->name);
	return true;
}

/* As BfStream.write has it, without the bits. */
static void
write_head(const BfHeader *header, const BfLayer *layer, uint8_t *head)
{
	head[0] = header->strategy == bf_guava.id ? 1 : 0;
	head[1] = (uint8) layer->hashes;
	bf_store_be32(head + 2, (uint32) (layer->bits / 64));
}

static char *
layer_key(const char *key, uint32_t layer)
{
	return pstrdup(key);
}

static bool
needs_config(const BfHeader *header)
{
	return header->funnel == BF_FUNNEL_UTF16;
}

static void
write_config(const BfHeader *header, const BfLayer *layers, char **values)
{
	bf_write_own(&bf_layout_guava, header, layers, values);
}

const BfLayout bf_layout_guava = {
	.name = "guava",
	.default_for = 1 << BF_STRATEGY_GUAVA | 1 << BF_STRATEGY_GUAVA32,
	.accept = accept,
	.layer_key = layer_key,
	.head = HEAD_SIZE,
	.write_head = write_head,
	.stored_order = true,
	.presized = true,
	.config_key = bf_own_key,
	.needs_config = needs_config,
	.fields = {BF_OWN_FIELD_LIST},
	.write_config = write_config,
	.read_config = bf_read_shape
};
