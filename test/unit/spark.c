/*
 * spark.c
 *	  Spark's streams and unions against every row of readfrom.tsv and
 *	  union.tsv, and its sizes by bits against sizing_bits.tsv.
 *
 * Where Spark reads what we refuse, the row must be refused: k of 0 or less or
 * beyond 255, no words, bytes that follow, and, with another kind of error, a
 * seed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/murmur3_32.h"
#include "hashes.h"
#include "vectors.h"

/* ---- Versions and seeds ------------------------------------------------ */

/* The strategy of a row: by its version, in files of several. */
const BfStrategy *
row_strategy(const BfStrategy *strategy, const Table *table, size_t row)
{
	if (!has_column(table, "version"))
		return strategy;
	return cell_is(table, row, "version", "1") ? &bf_spark1 : &bf_spark2;
}

/* The seed of a row's hashes, which no value can have. */
uint32_t
row_seed(const Table *table, size_t row)
{
	return has_column(table, "seed") ?
		(uint32_t) cell_i64(table, row, "seed") : 0;
}

/* Hash an element, to be freed by free_hash(), by a seed where there is one. */
void
hash_seeded(const BfStrategy *strategy, uint32_t seed, const uint8_t *bytes,
			size_t length, BfHash *hash)
{
	hash_element(strategy, bytes, length, hash);
	if (seed == 0)
		return;
	hash->word[0] = bf_murmur3_spark(bytes, length, seed);
	hash->word[1] = bf_murmur3_spark(bytes, length, (uint32_t) hash->word[0]);
	bf_hash_join(hash);
}

/* A filter's stream, said to be of a seed. */
uint8_t *
seeded_stream(const BfFilter *filter, uint32_t seed, size_t *length)
{
	uint8_t    *bytes = stream_bytes(filter, length);

	if (seed != 0)
		bf_store_be32(bytes + 8, seed);
	return bytes;
}

/* ---- Streams ----------------------------------------------------------- */

/* Whether a row of readfrom.tsv is to be read. */
static bool
is_wanted(const Table *table, size_t row)
{
	int64_t		hashes = cell_i64(table, row, "k");
	const char *hex = cell(table, row, "input_hex");

	return cell_is(table, row, "result", "ok") &&
		cell_is(table, row, "rewrite_hex", hex) &&
		cell_u64(table, row, "bit_size") > 0 &&
		hashes >= 1 && hashes <= BF_MAX_HASHES &&
		!(hex[7] == '2' && strncmp(hex + 16, "00000000", 8) != 0);
}

/* readfrom.tsv: what is read is written back. */
static void
test_streams(void)
{
	Table		table = read_table("spark/readfrom.tsv");
	size_t		accepted = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "case_id");
		size_t		length;
		uint8_t    *bytes = from_hex(cell(&table, i, "input_hex"), &length);
		bool		want = is_wanted(&table, i);
		BfFilter	filter;
		uint8_t    *value = import_stream(bf_spark1.stream, bytes, length,
										  &filter);

		CHECK((value != NULL) == want, "%s: case %s: %s", table.path, id,
			  want ? "refused" : "accepted");
		if (value != NULL && want)
		{
			uint8_t    *back = stream_bytes(&filter, &length);

			CHECK(filter.plan.strategy == (bytes[3] == 1 ? &bf_spark1 : &bf_spark2) &&
				  filter.plan.first.bits == cell_u64(&table, i, "bit_size") &&
				  filter.plan.first.hashes == cell_u64(&table, i, "k") &&
				  count_bits(&filter) == cell_u64(&table, i, "bit_count"),
				  "%s: case %s: shape", table.path, id);
			CHECK(same_hex(back, length, cell(&table, i, "rewrite_hex")),
				  "%s: case %s: stream differs", table.path, id);
			free(back);
			accepted++;
		}
		free(value);
		free(bytes);
	}
	CHECK(accepted > 10, "%s: only %zu streams accepted", table.path, accepted);
	free_table(&table);
}

/* Every truncation of a stream, and every change of a byte of its head. */
static void
test_stream_mutations(const BfStrategy *strategy)
{
	BfFilter	filter,
				changed;
	uint8_t    *value = make_value(strategy, 128, 5, &filter);
	size_t		length;
	uint8_t    *stream = stream_bytes(&filter, &length);
	size_t		head = length - 16;
	BfPlan		plan;
	BfError		error;

	for (size_t cut = 0; cut < length; cut++)
	{
		uint8_t    *bytes = copy_bytes(stream, cut);

		CHECK(!strategy->stream->inspect(bytes, cut, &plan, &error),
			  "%s: stream of %zu bytes is accepted", strategy->name, cut);
		free(bytes);
	}
	for (size_t at = 0; at < head; at++)
	{
		uint8_t		was = stream[at];

		for (int to = 0; to < 256; to++)
		{
			bool		want = to == was || (at == 7 && to != 0);
			uint8_t    *read;

			stream[at] = (uint8_t) to;
			read = import_stream(strategy->stream, stream, length, &changed);
			CHECK((read != NULL) == want, "%s: stream with byte %zu = %d is %s",
				  strategy->name, at, to, want ? "refused" : "accepted");
			free(read);
		}
		stream[at] = was;
	}
	free(stream);
	free(value);
}

/* A seed is what Spark may mean, and not malformed. */
static void
test_seed(void)
{
	static const uint8_t seeded[24] = {
		[3] = 2, [7] = 5, [8] = 0xff, [11] = 1, [15] = 1
	};
	BfPlan		plan;
	BfError		error;

	CHECK(!bf_spark2.stream->inspect(seeded, sizeof(seeded), &plan, &error) &&
		  error.code == BF_ERROR_UNSUPPORTED && error.hint != NULL,
		  "a stream with a seed is accepted, or malformed");
}

/* ---- Unions ------------------------------------------------------------ */

/* Read a filter in a column, whatever its seed; *seed is that. */
static uint8_t *
read_side(const Table *table, size_t row, const char *column,
		  BfFilter *filter, uint32_t *seed)
{
	size_t		length;
	uint8_t    *bytes = from_hex(cell(table, row, column), &length);
	uint8_t    *value;

	*seed = bytes[3] == 2 ? bf_load_be32(bytes + 8) : 0;
	if (*seed != 0)
		bf_store_be32(bytes + 8, 0);
	value = import_stream(bf_spark1.stream, bytes, length, filter);
	if (value == NULL)
		die("%s: row %zu: %s", table->path, row, column);
	free(bytes);
	return value;
}

/* Combine two filters, and compare with a column. */
static void
check_combined(const Table *table, size_t row, const char *column,
			   void (*combine) (uint8_t *into, const uint8_t *from, size_t bytes),
			   const BfFilter *a, const BfFilter *b, uint32_t seed)
{
	const BfLayer *layer = &a->plan.first;
	BfFilter	both;
	uint8_t    *value = copy_bytes(a->bytes, a->length);
	size_t		length;
	uint8_t    *stream;

	open_value(value, a->length, &both);
	combine(value + layer->offset, b->bytes + layer->offset, layer->bytes);
	stream = seeded_stream(&both, seed, &length);
	CHECK(same_hex(stream, length, cell(table, row, column)),
		  "%s: case %s: %s differs", table->path, cell(table, row, "case_id"),
		  column);
	free(stream);
	free(value);
}

/* union.tsv: mergeInPlace and intersectInPlace of what agrees. */
static void
test_unions(void)
{
	Table		table = read_table("spark/union.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		BfFilter	a,
					b;
		uint32_t	a_seed,
					b_seed;
		uint8_t    *a_value = read_side(&table, i, "filter1_hex", &a, &a_seed);
		uint8_t    *b_value = read_side(&table, i, "filter2_hex", &b, &b_seed);
		bool		agree = a.plan.strategy == b.plan.strategy &&
			a.plan.first.bits == b.plan.first.bits &&
			a.plan.first.hashes == b.plan.first.hashes && a_seed == b_seed;

		CHECK(agree == cell_is(&table, i, "merge", "ok"), "%s: case %s: shapes",
			  table.path, cell(&table, i, "case_id"));
		if (agree)
		{
			check_combined(&table, i, "union_hex", bf_bits_or, &a, &b, a_seed);
			check_combined(&table, i, "intersection_hex", bf_bits_and, &a, &b, a_seed);
		}
		free(a_value);
		free(b_value);
	}
	free_table(&table);
}

/* ---- Sizes by bits ----------------------------------------------------- */

/* sizing_bits.tsv: the caller says k, which is Spark's by n, m and ln 2. */
static void
test_sizes_by_bits(const BfStrategy *strategy)
{
	Table		table = read_table("spark/sizing_bits.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		int64_t		bits = cell_i64(&table, i, "num_bits");
		int64_t		hashes = cell_i64(&table, i, "k");
		bool		refused = strncmp(cell(&table, i, "status"), "error", 5) == 0 ||
			hashes > BF_MAX_HASHES;
		BfPlan		plan;
		BfError		error;
		bool		ok = bf_plan_bits(strategy, bits, (int32_t) hashes,
									  BF_FUNNEL_UNBOUND, &plan, &error);

		CHECK(ok == !refused, "%s: n %s, %" PRId64 " bits: %s", table.path,
			  cell(&table, i, "n"), bits, ok ? "accepted" : error.message);
		if (ok && !refused)
			CHECK(plan.first.bits == cell_u64(&table, i, "bit_size") &&
				  plan.first.hashes == hashes, "%s: n %s, %" PRId64 " bits: shape",
				  table.path, cell(&table, i, "n"), bits);
	}
	free_table(&table);
}

void
test_spark(void)
{
	CHECK(bf_stream_by_name("spark") == bf_spark1.stream, "no stream named spark");
	test_streams();
	test_stream_mutations(&bf_spark1);
	test_stream_mutations(&bf_spark2);
	test_seed();
	test_unions();
	test_sizes_by_bits(&bf_spark1);
	test_sizes_by_bits(&bf_spark2);
}
