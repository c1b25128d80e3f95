/*
 * chains.c
 *	  redisbloom's growing filters against their vectors, and its dumps against
 *	  hostile bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "strategy/filter.h"
#include "strategy/plan.h"
#include "hashes.h"
#include "vectors.h"

#define DUMP_HEADER		20
#define DUMP_LINK		53

/* A chain in memory: layers, and the stored bits of each. */
typedef struct Chain
{
	BfLayer		layers[BF_MAX_LAYERS];
	uint8_t    *bits[BF_MAX_LAYERS];
	uint32_t	count;
} Chain;

static void
append_layer(Chain *chain, const BfLayer *layer)
{
	chain->layers[chain->count] = *layer;
	chain->bits[chain->count] = allocate(layer->bits / 8);
	chain->count++;
}

static bool
layer_holds(const Chain *chain, uint32_t index, const BfHash *hash)
{
	uint64_t	positions[BF_MAX_HASHES];
	const BfLayer *layer = &chain->layers[index];

	bf_redisbloom.positions(hash, layer->bits, 0, layer->hashes, positions);
	for (uint32_t i = 0; i < layer->hashes; i++)
	{
		if (!bf_bit_get(chain->bits[index], positions[i]))
			return false;
	}
	return true;
}

/* BF.ADD: 1 added, 0 held already, -1 full. */
static int
add_to_chain(Chain *chain, const BfHash *hash, uint32_t expansion)
{
	BfPlan		plan = {
		.strategy = &bf_redisbloom, .header = {.expansion = expansion}
	};
	uint64_t	positions[BF_MAX_HASHES];
	BfLayer    *newest = &chain->layers[chain->count - 1];
	BfLayer		next;
	BfError		error;

	for (uint32_t i = 0; i < chain->count; i++)
	{
		if (layer_holds(chain, i, hash))
			return 0;
	}
	if (newest->counted >= bf_plan_capacity(&plan, newest))
	{
		if (expansion == 0)
			return -1;
		if (!bf_plan_next_layer(&plan, newest, &next, &error))
			die("grow: %s", error.message);
		append_layer(chain, &next);
		newest = &chain->layers[chain->count - 1];
	}
	bf_redisbloom.positions(hash, newest->bits, 0, newest->hashes, positions);
	for (uint32_t i = 0; i < newest->hashes; i++)
		bf_bit_set(chain->bits[chain->count - 1], positions[i]);
	newest->counted++;
	return 1;
}

/* The chain as a value. */
static uint8_t *
chain_value(Chain *chain, uint64_t expected, double fpp, uint32_t expansion,
			BfFilter *filter)
{
	BfPlan		plan = {
		.strategy = &bf_redisbloom,
		.header = {
			.strategy = BF_STRATEGY_REDISBLOOM, .cell_bits = BF_CELL_BIT,
			.expansion = expansion, .layers = chain->count,
			.expected = expected, .fpp = fpp
		},
		.layers = chain->layers
	};
	BfError		error;
	uint64_t	length;
	uint8_t    *value;

	if (!bf_plan_measure(&plan, &length, &error))
		die("bf_plan_measure: %s", error.message);
	value = allocate(length);
	bf_plan_encode(&plan, value);
	for (uint32_t i = 0; i < chain->count; i++)
		memcpy(value + chain->layers[i].offset, chain->bits[i],
			   chain->layers[i].bytes);
	if (!bf_filter_open(value, length, length, filter, &error))
		die("bf_filter_open: %s", error.message);
	return value;
}

/* ---- The vectors ------------------------------------------------------- */

/* Compare a comma separated list with one number of every layer. */
static void
check_list(const Table *table, size_t row, const char *column,
		   const Chain *chain)
{
	const char *list = cell(table, row, column);

	for (uint32_t i = 0; i < chain->count; i++)
	{
		const BfLayer *layer = &chain->layers[i];
		char	   *end;
		uint64_t	want = strtoull(list, &end, 10);
		uint64_t	got = strcmp(column, "link_bits") == 0 ? layer->bits :
			strcmp(column, "link_hashes") == 0 ? layer->hashes :
			strcmp(column, "link_entries") == 0 ? layer->expected :
			layer->counted;

		CHECK(got == want, "redisbloom: filter %s, layer %" PRIu32 ": %s %" PRIu64,
			  cell(table, row, "filter_id"), i, column, got);
		list = *end == ',' ? end + 1 : end;
	}
	CHECK(*list == '\0' && chain->count == cell_u64(table, row, "links"),
		  "redisbloom: filter %s: %" PRIu32 " layers",
		  cell(table, row, "filter_id"), chain->count);
}

/* The value's dump against the row's, and the row's dump as a value. */
static uint8_t *
check_dump(const Table *table, size_t row, const BfFilter *filter,
		   size_t *dump_length)
{
	const char *id = cell(table, row, "filter_id");
	size_t		header_length,
				data_length;
	uint8_t    *header = from_hex(cell(table, row, "header_hex"),
								  &header_length);
	uint8_t    *data = from_hex(cell(table, row, "data_hex"), &data_length);
	size_t		length = header_length + data_length;
	uint8_t    *dump = allocate(length);
	uint8_t    *value;
	uint64_t	measured = 0;
	BfFilter	imported;
	BfError		error;

	memcpy(dump, header, header_length);
	memcpy(dump + header_length, data, data_length);
	CHECK(bf_redisbloom.stream->measure(filter, &measured, &error) &&
		  measured == length, "redisbloom: filter %s: dump of %" PRIu64 " bytes",
		  id, measured);
	if (measured == length)
	{
		uint8_t    *written = allocate(length);

		bf_stream_write(filter, written);
		CHECK(memcmp(written, dump, header_length) == 0,
			  "redisbloom: filter %s: header differs", id);
		CHECK(memcmp(written, dump, length) == 0,
			  "redisbloom: filter %s: dump differs", id);
		free(written);
	}
	value = import_stream(bf_redisbloom.stream, dump, length, &imported);
	CHECK(value != NULL && imported.length == filter->length &&
		  memcmp(value, filter->bytes, filter->length) == 0,
		  "redisbloom: filter %s: dump does not come back", id);
	free(value);
	free(header);
	free(data);
	*dump_length = length;
	return dump;
}

static size_t
check_probes(const Table *probes, const char *id, const BfFilter *filter)
{
	size_t		count = 0;

	for (size_t i = 0; i < probes->rows; i++)
	{
		size_t		length;
		uint8_t    *bytes;
		BfHash		hash;

		if (!cell_is(probes, i, "filter_id", id))
			continue;
		count++;
		bytes = element_bytes(&bf_redisbloom, "text", cell(probes, i, "value"),
							  &length);
		hash_element(&bf_redisbloom, bytes, length, &hash);
		CHECK(bf_filter_contains(filter, &hash) ==
			  cell_is(probes, i, "exists", "1"),
			  "redisbloom: filter %s, probe %s", id, cell(probes, i, "value"));
		free(bytes);
	}
	return count;
}

/* Run a row's adds. */
static void
fill_chain(const Table *table, size_t row, Chain *chain, uint32_t expansion)
{
	uint64_t	inserted = cell_u64(table, row, "inserted_count");
	uint64_t	added = 0;
	uint64_t	full_at = 0;

	for (uint64_t i = 1; i <= inserted && full_at == 0; i++)
	{
		size_t		length;
		uint8_t    *bytes = rule_bytes(&bf_redisbloom, "text",
									   cell(table, row, "rule"), i, &length);
		BfHash		hash;
		int			result;

		hash_element(&bf_redisbloom, bytes, length, &hash);
		result = add_to_chain(chain, &hash, expansion);
		if (result < 0)
			full_at = i;
		else
			added += (uint64_t) result;
		free(bytes);
	}
	CHECK(added == cell_u64(table, row, "added") &&
		  full_at == cell_u64(table, row, "add_error_at"),
		  "redisbloom: filter %s: %" PRIu64 " added, full at %" PRIu64,
		  cell(table, row, "filter_id"), added, full_at);
}

/* ---- Hostile dumps ----------------------------------------------------- */

/* Import a copy in an exact malloc; what is accepted must come out again. */
static bool
accepts(const uint8_t *dump, size_t length)
{
	uint8_t    *copy = copy_bytes(dump, length);
	BfFilter	filter;
	uint8_t    *value;
	uint64_t	measured;
	BfError		error;

	value = import_stream(bf_redisbloom.stream, copy, length, &filter);
	free(copy);
	if (value == NULL)
		return false;
	if (bf_redisbloom.stream->measure(&filter, &measured, &error))
	{
		uint8_t    *again = malloc(measured);

		CHECK(measured == length, "a dump of %zu bytes comes out as %" PRIu64,
			  length, measured);
		bf_stream_write(&filter, again);
		free(again);
	}
	free(value);
	return true;
}

static void
test_truncations(const uint8_t *dump, size_t length)
{
	uint8_t    *longer = allocate(length + 16);

	for (size_t cut = 0; cut < length; cut++)
		CHECK(!accepts(dump, cut), "%zu of %zu bytes are accepted", cut,
			  length);
	memcpy(longer, dump, length);
	for (size_t more = 1; more <= 16; more++)
		CHECK(!accepts(longer, length + more), "trailing bytes are accepted");
	free(longer);
}

/* All values of every byte of the header and of the links. */
static void
test_mutations(uint8_t *dump, size_t length, uint32_t links)
{
	for (size_t at = 0; at < DUMP_HEADER + links * DUMP_LINK; at++)
	{
		uint8_t		was = dump[at];
		size_t		in_link = at < DUMP_HEADER ? 0 :
			(at - DUMP_HEADER) % DUMP_LINK;
		bool		rigid = at < 12 ||
			(at >= DUMP_HEADER && (in_link < 24 || (in_link >= 40 && in_link < 44)));

		for (int to = 0; to < 256; to++)
		{
			bool		ok;

			dump[at] = (uint8_t) to;
			ok = accepts(dump, length);
			CHECK(!rigid || ok == (to == was), "byte %zu = %d is %s", at, to,
				  ok ? "accepted" : "refused");
		}
		dump[at] = was;
	}
}

/* Sizes that wrap to what fits, and fields that RedisBloom itself refuses. */
static void
test_fields(uint8_t *dump, size_t length)
{
	static const struct
	{
		size_t		at;
		size_t		size;
		uint64_t	value;
	}			cases[] = {
		{8, 4, 0}, {8, 4, 1025}, {8, 4, UINT32_MAX}, {8, 4, 81037120},
		{12, 4, 0}, {12, 4, 1}, {12, 4, 21}, {12, 4, 0x80000005},
		{16, 4, 0}, {16, 4, BF_MAX_EXPANSION + 1},
		{20, 8, 0}, {20, 8, UINT64_MAX}, {28, 8, 0}, {28, 8, UINT64_MAX},
		{28, 8, UINT64_MAX - 63},
		{36, 8, UINT64_MAX},
		{44, 8, 0}, {44, 8, UINT64_C(0x3ff0000000000000)},
		{44, 8, UINT64_C(0x7ff8000000000000)},
		{44, 8, UINT64_C(0xbf747ae147ae147b)},
		{52, 8, 0}, {52, 8, UINT64_C(0x7ff8000000000000)},
		{52, 8, UINT64_C(0x7ff0000000000000)},
		{52, 8, UINT64_C(0xc026350e2b6f86e9)},
		{60, 4, 0}, {60, 4, UINT32_MAX},
		{64, 8, 0}, {64, 8, UINT64_MAX}, {64, 8, 100000},
		{72, 1, 1}, {72, 1, 10}, {72, 1, 63}, {72, 1, 64}, {72, 1, 255}
	};
	uint8_t		saved[8];

	CHECK(accepts(dump, length), "the first dump is refused");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		memcpy(saved, dump + cases[i].at, 8);
		for (size_t j = 0; j < cases[i].size; j++)
			dump[cases[i].at + j] = (uint8_t) (cases[i].value >> (8 * j));
		CHECK(!accepts(dump, length), "field %zu = %" PRIx64 " is accepted",
			  cases[i].at, cases[i].value);
		memcpy(dump + cases[i].at, saved, 8);
	}

	/* bytes and bits that agree modulo 2^64 only. */
	memcpy(saved, dump + 20, 8);
	dump[27] = 0x20;
	CHECK(!accepts(dump, length), "bytes that wrap are accepted");
	memcpy(dump + 20, saved, 8);
}

/* Two links whose bytes add up to what is there modulo 2^64. */
static void
test_wrapping_links(uint8_t *dump, size_t length)
{
	uint8_t    *first = dump + DUMP_HEADER;
	uint8_t    *second = first + DUMP_LINK;
	uint64_t	both = bf_load_le64(first) + bf_load_le64(second);

	/*
	 * The other links stay, so only the first two share their bytes anew; for
	 * as few entries as any of them can have.
	 */
	bf_store_le64(first + 44, 1);
	bf_store_le64(second + 44, 1);
	for (int shift = 3; shift < 61; shift++)
	{
		uint64_t	bytes = UINT64_C(1) << shift;
		bool		fits = bytes < both;

		bf_store_le64(first, bytes);
		bf_store_le64(first + 8, bytes * 8);
		bf_store_le64(second, both - bytes);
		bf_store_le64(second + 8, (both - bytes) * 8);
		CHECK(accepts(dump, length) == fits, "a link of 2^%d bytes", shift);
	}
}

/* A link of exactly 2^n2 bits is a filter like any other. */
static void
test_power_of_two(void)
{
	Chain	   *chain = allocate(sizeof(Chain));
	BfLayer		layer = {.bits = 1024, .hashes = 8, .expected = 90, .fpp = 0.005};
	BfFilter	filter;
	uint64_t	length;
	BfError		error;
	uint8_t    *value;
	uint8_t    *dump;

	append_layer(chain, &layer);
	value = chain_value(chain, 90, 0.01, 2, &filter);
	if (!bf_redisbloom.stream->measure(&filter, &length, &error))
		die("measure: %s", error.message);
	dump = allocate(length);
	bf_stream_write(&filter, dump);
	for (int n2 = 0; n2 < 256; n2++)
	{
		dump[DUMP_HEADER + DUMP_LINK - 1] = (uint8_t) n2;
		CHECK(accepts(dump, length) == (n2 == 0 || n2 == 10), "n2 = %d", n2);
	}
	free(dump);
	free(value);
	free(chain->bits[0]);
	free(chain);
}

/* What has no sizing, or another k than its error rate has, is not written. */
static void
test_unwritable(void)
{
	BfFilter	filter;
	uint64_t	length;
	BfError		error;
	uint8_t    *value = make_value(&bf_redisbloom, 64, 3, &filter);

	CHECK(!bf_redisbloom.stream->measure(&filter, &length, &error) &&
		  error.code == BF_ERROR_PARAMETER, "unknown sizing is written");
	bf_store_le64(value + BF_HEADER_SIZE + 8, 10);
	bf_store_double(value + BF_HEADER_SIZE + 16, 0.01);
	open_value(value, filter.length, &filter);
	CHECK(!bf_redisbloom.stream->measure(&filter, &length, &error) &&
		  error.code == BF_ERROR_PARAMETER, "a wrong k is written");
	free(value);
}

/* Layers that cannot grow are an error, whatever a value says. */
static void
test_growth_limits(void)
{
	static const BfLayer layers[] = {
		{.bits = 64, .hashes = 3, .expected = 0, .fpp = 0},
		{.bits = 64, .hashes = 3, .expected = INT64_MAX, .fpp = 0.5},
		{.bits = 64, .hashes = 3, .expected = INT64_MAX / 4, .fpp = 0.5},
		{.bits = 64, .hashes = 255, .expected = 1, .fpp = 5e-324},
		{.bits = 64, .hashes = 255, .expected = 1, .fpp = 1e-77}
	};
	BfPlan		plan = {.strategy = &bf_redisbloom, .header = {.expansion = 4}};
	BfLayer		next;
	BfError		error;

	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++)
		CHECK(!bf_plan_next_layer(&plan, &layers[i], &next, &error),
			  "layer %zu grows", i);
	CHECK(!bf_plan_sized(&bf_redisbloom, 0, 0.01, BF_FUNNEL_UNBOUND, 2, &plan,
						 &error), "n = 0");
}

void
test_chains(void)
{
	Table		table = read_table("redisbloom/filters.tsv");
	Table		probes = read_table("redisbloom/probes.tsv");
	size_t		probed = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	capacity = cell_u64(&table, i, "capacity");
		double		fpp = cell_double(&table, i, "error_rate");
		bool		fixed = cell_is(&table, i, "no_scaling", "1");
		uint32_t	expansion = fixed ? 0 :
			(uint32_t) cell_u64(&table, i, "expansion");
		Chain	   *chain = allocate(sizeof(Chain));
		BfPlan		plan;
		BfError		error;
		BfFilter	filter;
		uint8_t    *value;
		uint8_t    *dump;
		size_t		length;

		CHECK(bf_plan_sized(&bf_redisbloom, (int64_t) capacity, fpp,
							BF_FUNNEL_UNBOUND, (int32_t) expansion, &plan,
							&error), "redisbloom: layer 0");
		append_layer(chain, &plan.first);
		fill_chain(&table, i, chain, expansion);
		check_list(&table, i, "link_bits", chain);
		check_list(&table, i, "link_hashes", chain);
		check_list(&table, i, "link_entries", chain);
		check_list(&table, i, "link_size", chain);
		value = chain_value(chain, capacity, fpp, expansion, &filter);
		dump = check_dump(&table, i, &filter, &length);
		probed += check_probes(&probes, cell(&table, i, "filter_id"), &filter);

		if (length < 2000)
		{
			test_truncations(dump, length);
			test_mutations(dump, length, chain->count);
		}
		if (i == 0)
			test_fields(dump, length);
		if (chain->count >= 2)
			test_wrapping_links(dump, length);
		free(dump);
		free(value);
		for (uint32_t j = 0; j < chain->count; j++)
			free(chain->bits[j]);
		free(chain);
	}
	CHECK(probed == probes.rows, "redisbloom/probes.tsv: %zu rows used",
		  probed);
	free_table(&table);
	free_table(&probes);
	test_power_of_two();
	test_unwritable();
	test_growth_limits();
}
