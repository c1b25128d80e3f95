/*
 * fuzz.c
 *	  What is done with every filter that opens, whoever wrote its bytes.
 *
 * Memory is malloc's, of the exact size, so that the sanitizer sees each byte
 * that is touched beyond it.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "core/bytes.h"
#include "core/estimate.h"
#include "strategy/fill.h"
#include "strategy/filter.h"
#include "strategy/plan.h"
#include "hashes.h"

/* Filters of more layers than this are asked for fewer elements. */
#define MANY_LAYERS		8

FILE	   *made;

static void
write_made(const uint8_t *bytes, uint64_t length)
{
	REQUIRE(made == NULL || fwrite(bytes, 1, length, made) == length);
}

/* The next bytes as a little-endian number. */
uint64_t
take(Input *input, int bytes)
{
	uint64_t	value = 0;

	for (int i = 0; i < bytes && input->left > 0; i++, input->left--)
		value |= (uint64_t) *input->at++ << (8 * i);
	return value;
}

double
take_double(Input *input)
{
	uint8_t		bytes[8];

	bf_store_le64(bytes, take(input, 8));
	return bf_load_double(bytes);
}

/* Zeroed memory of exactly this size. */
void *
allocate(size_t size)
{
	void	   *memory = calloc(size, 1);

	REQUIRE(memory != NULL || size == 0);
	return memory;
}

uint8_t *
copy_bytes(const uint8_t *bytes, size_t length)
{
	uint8_t    *copy = allocate(length);

	if (length > 0)
		memcpy(copy, bytes, length);
	return copy;
}

/* An empty value of a plan that some decoder let pass. */
uint8_t *
make_filter(BfPlan *plan, BfFilter *filter)
{
	uint64_t	length;
	uint8_t    *value;
	BfError		error;

	REQUIRE(bf_plan_measure(plan, &length, &error));
	value = allocate(length);
	bf_plan_encode(plan, value);
	REQUIRE(bf_filter_open(value, length, length, filter, &error));
	return value;
}

/* The first bytes of a value, as slices of a stored one. */
void
open_slices(const uint8_t *bytes, size_t length)
{
	BfFilter	filter;
	BfError		error;
	uint32_t	layers;
	size_t		cuts[] = {0, 1, 31, 71, 72, 73, 112, length / 2, length - 1};

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++)
	{
		uint8_t    *slice;

		if (cuts[i] >= length)
			continue;
		slice = copy_bytes(bytes, cuts[i]);
		if (bf_format_layers(slice, cuts[i], &layers, &error) &&
			bf_filter_open(slice, cuts[i], length, &filter, &error))
		{
			REQUIRE(cuts[i] >= BF_PREFIX_SIZE(layers));
			REQUIRE(!filter.whole && filter.plan.header.layers == layers);
		}
		free(slice);
	}
}

/* What opened is canonical: written again, it is the same prefix. */
static void
check_canonical(const BfFilter *filter)
{
	size_t		prefix = BF_PREFIX_SIZE(filter->plan.header.layers);
	BfLayer    *layers = allocate(sizeof(BfLayer) * filter->plan.header.layers);
	uint8_t    *written = allocate(prefix);
	uint64_t	end = prefix;

	bf_foreach_layer(layer, filter)
	{
		REQUIRE(layer.offset == end);
		REQUIRE(layer.bytes * 8 >= layer.bits * filter->plan.header.cell_bits);
		REQUIRE(layer.hashes >= 1 && layer.hashes <= BF_MAX_HASHES);
		end += layer.bytes;
		layers[layer.index] = layer;
	}
	REQUIRE(end == filter->length);
	bf_format_encode(&filter->plan.header, layers, written);
	REQUIRE(memcmp(written, filter->bytes, prefix) == 0);
	free(written);
	free(layers);
}

/* Positions are within the layer, and the same asked for piece by piece. */
static void
check_positions(const BfFilter *filter, const BfHash *hash)
{
	bf_foreach_layer(layer, filter)
	{
		uint64_t   *all = allocate(sizeof(uint64_t) * layer.hashes);
		uint32_t	half = layer.hashes / 2;
		uint64_t   *rest = allocate(sizeof(uint64_t) * (layer.hashes - half));

		filter->plan.strategy->positions(hash, layer.bits, 0, layer.hashes, all);
		filter->plan.strategy->positions(hash, layer.bits, half,
									layer.hashes - half, rest);
		for (uint32_t i = 0; i < layer.hashes; i++)
			REQUIRE(all[i] < layer.bits);
		REQUIRE(memcmp(all + half, rest,
					   sizeof(uint64_t) * (layer.hashes - half)) == 0);
		free(rest);
		free(all);
		if (layer.index + 1 == MANY_LAYERS)
			break;
	}
}

/* Add an element as the type's code does, as far as no layer is appended. */
static void
add(BfFilter *filter, const BfHash *hash)
{
	BfLayer		newest;
	bool		held = false;
	uint64_t	room = UINT64_MAX;

	if (filter->plan.header.cell_bits == BF_CELL_COUNTER)
		bf_filter_count(filter, hash, 1);
	else if (filter->plan.header.layers == 1)
		bf_filter_add(filter, hash, 1);
	else
	{
		newest = bf_filter_layer(filter, filter->plan.header.layers - 1);
		REQUIRE(bf_layer_add(filter, &newest, hash, 1, &held, &room) == 1);
		REQUIRE(UINT64_MAX - room <= newest.hashes);
	}
}

/* Nothing that was added is denied. */
static void
check_elements(BfFilter *filter)
{
	static const uint8_t text[200] = "title";
	static const size_t lengths[] = {5, 0, 17, 200};
	BfHash		hashes[4];
	bool		found[4];
	int			count = filter->plan.header.layers > MANY_LAYERS ? 1 : 4;

	for (int i = 0; i < count; i++)
	{
		hash_element(filter->plan.strategy, text, lengths[i], &hashes[i]);
		check_positions(filter, &hashes[i]);
		add(filter, &hashes[i]);
		REQUIRE(bf_filter_contains(filter, &hashes[i]));
	}
	bf_filter_contains_batch(filter, hashes, count, found);
	for (int i = 0; i < count; i++)
		REQUIRE(found[i]);
	if (filter->plan.header.cell_bits == BF_CELL_COUNTER)
	{
		for (int i = 0; i < count; i++)
			bf_filter_count(filter, &hashes[i], -1);
	}
	for (int i = 0; i < count; i++)
		free_hash(&hashes[i]);
}

/* What the bits say is a number, and a probability is one. */
static void
check_fullness(const BfFilter *filter)
{
	uint8_t		width = filter->plan.header.cell_bits;

	bf_foreach_layer(layer, filter)
	{
		uint64_t	set = bf_cells_count(filter->bytes + layer.offset,
										 layer.bytes, width);
		double		fpp = bf_layer_fpp(filter->plan.strategy, &layer, set);
		BfFill		fill = {0};
		double		count = bf_estimate_count(set, layer.bits, layer.hashes);

		REQUIRE(set <= layer.bits);
		REQUIRE(fpp >= 0 && fpp <= 1);
		bf_fill_measure(&fill, filter, &layer);
		REQUIRE(fill.bits_set == set && fill.fpp >= 0 && fill.fpp <= 1);
		REQUIRE(count >= 0 && isfinite(count));
		/* The next layer is refused, or is one. */
		if (filter->plan.header.expansion > 0)
		{
			BfLayer		next;
			BfError		error;

			(void) bf_plan_capacity(&filter->plan, &layer);
			if (bf_plan_next_layer(&filter->plan, &layer, &next, &error))
				REQUIRE(next.bits > 0 && next.hashes >= 1 &&
						next.hashes <= BF_MAX_HASHES);
		}
	}
}

/* Merging with the filter as it came adds nothing, and takes nothing away. */
static void
check_merge(const BfFilter *filter, const uint8_t *before)
{

	bf_foreach_layer(layer, filter)
	{
		const uint8_t *bits = filter->bytes + layer.offset;
		uint8_t    *merged = copy_bytes(before + layer.offset, layer.bytes);

		if (filter->plan.header.cell_bits == BF_CELL_COUNTER)
		{
			uint8_t    *plain = allocate(bf_layer_bytes(layer.bits, BF_CELL_BIT));

			bf_counters_add(merged, bits, layer.bytes);
			bf_counters_min(merged, bits, layer.bytes);
			REQUIRE(memcmp(merged, bits, layer.bytes) == 0);
			bf_counters_to_bits(bits, layer.bits, plain);
			free(plain);
		}
		else
		{
			bf_bits_or(merged, bits, layer.bytes);
			REQUIRE(memcmp(merged, bits, layer.bytes) == 0);
			bf_bits_and(merged, bits, layer.bytes);
			REQUIRE(memcmp(merged, bits, layer.bytes) == 0);
		}
		free(merged);
	}
}

/* A layer's bits in another order, and back. */
static void
check_orders(const BfFilter *filter)
{

	bf_foreach_layer(layer, filter)
	{
		size_t		bytes = (layer.bits + 7) / 8;

		for (int order = BF_ORDER_REDIS; order <= BF_ORDER_BITSET; order++)
		{
			uint8_t    *foreign = allocate(bytes);
			uint8_t    *stored = allocate(layer.bytes);

			bf_bits_to_order(order, filter->bytes + layer.offset, foreign,
							 bytes);
			bf_bits_from_order(order, foreign, bytes, stored);
			REQUIRE(memcmp(stored, filter->bytes + layer.offset,
						   layer.bytes) == 0);
			free(stored);
			free(foreign);
		}
	}
}

/* Write a filter as a stream and read it: the same bits in the same layers. */
void
round_trip(const BfStream *stream, const BfFilter *filter)
{
	BfLayer    *layers = allocate(sizeof(BfLayer) * BF_MAX_LAYERS);
	size_t		prefix = BF_PREFIX_SIZE(filter->plan.header.layers);
	BfPlan		plan = {.layers = layers};
	BfFilter	copy;
	BfError		error;
	uint64_t	length;

	if (stream->measure(filter, &length, &error))
	{
		uint8_t    *written = allocate(length);
		uint8_t    *value;

		bf_stream_write(filter, written);
		write_made(written, length);
		/* A sizing that no dump can say is not read back. */
		if (stream->inspect(written, length, &plan, &error))
		{
			plan.header.funnel = filter->plan.header.funnel;
			value = make_filter(&plan, &copy);
			bf_stream_read(written, &copy, value);
			REQUIRE(copy.length == filter->length);
			REQUIRE(memcmp(value + prefix, filter->bytes + prefix,
						   filter->length - prefix) == 0);
			free(value);
		}
		free(written);
	}
	free(layers);
}

/* Do everything with bytes that may be a filter. */
void
exercise(const uint8_t *bytes, size_t length)
{
	uint8_t    *value = copy_bytes(bytes, length);
	BfFilter	filter;
	BfError		error;

	if (bf_filter_open(value, length, length, &filter, &error))
	{
		REQUIRE(filter.whole);
		check_canonical(&filter);
		check_fullness(&filter);
		check_elements(&filter);
		write_made(value, length);
		check_merge(&filter, bytes);
		if (filter.plan.header.cell_bits == BF_CELL_BIT)
		{
			check_orders(&filter);
			if (filter.plan.strategy->stream != NULL)
				round_trip(filter.plan.strategy->stream, &filter);
		}
	}
	else
		REQUIRE(error.code == BF_ERROR_MALFORMED && error.message[0] != '\0');
	free(value);
}
