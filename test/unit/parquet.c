/*
 * parquet.c
 *	  Parquet's split block Bloom filter against every row of its vectors, which
 *	  parquet-java, arrow-rs, Arrow C++, pyarrow and DuckDB have made; and its
 *	  sizes against the probability that they are to keep.
 *
 * Of sizing.tsv only arrow-rs's rule is compared, as that alone is computed, to
 * be told.  Of readfrom.tsv, what is read are the headers that writers write:
 * other spellings of the same are refused.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "hashes.h"
#include "strategy/fill.h"
#include "vectors.h"

#define HASHES	8

/* An empty filter of a number of blocks. */
static uint8_t *
make_blocks(uint64_t blocks, BfFilter *filter)
{
	return make_value(&bf_parquet, blocks * 256, HASHES, filter);
}

/* Hash a row's element, which is in two columns. */
static void
hash_row(const Table *table, size_t row, BfHash *hash)
{
	size_t		length;
	uint8_t    *bytes = element_bytes(&bf_parquet, etype_of(table, row),
									  cell(table, row, "value"), &length);

	hash_element(&bf_parquet, bytes, length, hash);
	free(bytes);
}

/* Read the stream in a column, which must be one. */
static uint8_t *
read_stream(const Table *table, size_t row, const char *column,
			BfFilter *filter)
{
	size_t		length;
	uint8_t    *bytes = from_hex(cell(table, row, column), &length);
	uint8_t    *value = import_stream(bf_parquet.stream, bytes, length, filter);

	if (value == NULL)
		die("%s: row %zu: %s is refused", table->path, row, column);
	free(bytes);
	return value;
}

/* The stream of a filter against a column: hex, or a digest of it. */
static void
check_stream(const Table *table, size_t row, const char *column,
			 const BfFilter *filter)
{
	size_t		length;
	uint8_t    *stream = stream_bytes(filter, &length);

	CHECK(same_hex(stream, length, cell(table, row, column)),
		  "%s: row %zu: %s differs", table->path, row, column);
	free(stream);
}

/* ---- Hashes, positions ------------------------------------------------- */

/* hashing.tsv, positions.tsv: by positions, and by a block's two functions. */
static void
test_positions(void)
{
	Table		elements = read_table("parquet/hashing.tsv");
	Table		table = read_table("parquet/positions.tsv");
	BfHash	   *hashes = allocate((elements.rows + 1) * sizeof(BfHash));

	for (size_t i = 0; i < elements.rows; i++)
	{
		BfHash	   *hash = &hashes[cell_u64(&elements, i, "elem_id")];

		hash_row(&elements, i, hash);
		CHECK(hash->word[0] == strtoull(cell(&elements, i, "xxh64"), NULL, 16) &&
			  hash->word[0] == (uint64_t) cell_i64(&elements, i, "xxh64_int8") &&
			  hash->word[1] == (hash->word[0] << 32 | hash->word[0] >> 32),
			  "%s: element %zu: hash differs", elements.path, i);
	}
	for (size_t i = 0; i < table.rows; i++)
	{
		const BfHash *hash = &hashes[cell_u64(&table, i, "elem_id")];
		uint64_t	bits = cell_u64(&table, i, "blocks") * 256;
		const char *list = cell(&table, i, "positions");
		uint64_t	block = bf_parquet.blocks->find(hash, bits);
		uint8_t		set[32] = {0};
		uint64_t	positions[HASHES];

		bf_parquet.blocks->add(set, hash);
		bf_parquet.positions(hash, bits, 0, 3, positions);
		bf_parquet.positions(hash, bits, 3, HASHES - 3, positions + 3);
		for (int j = 0; j < HASHES; j++)
		{
			uint64_t	want = strtoull(list, NULL, 10);

			list += strcspn(list, ",") + 1;
			CHECK(positions[j] == want && want / 8 / 32 * 32 == block &&
				  bf_bit_get(set, want % 256),
				  "%s: row %zu: position %d differs", table.path, i, j);
			CHECK(bf_parquet.blocks->test(set, hash), "a block lacks its element");
			set[bf_bit_byte(want % 256)] ^= bf_bit_mask(want);
			CHECK(!bf_parquet.blocks->test(set, hash),
				  "%s: row %zu: bit %d is not tested", table.path, i, j);
			set[bf_bit_byte(want % 256)] ^= bf_bit_mask(want);
		}
		CHECK(bf_bits_count(set, sizeof(set)) == HASHES, "bits of a block");
	}
	free(hashes);
	free_table(&table);
	free_table(&elements);
}

/* ---- Filters ----------------------------------------------------------- */

/* Add a filter's elements, which report whether they set a bit. */
static size_t
add_elements(const Table *elements, const char *id, BfFilter *filter)
{
	size_t		count = 0;

	for (size_t i = 0; i < elements->rows; i++)
	{
		BfHash		hash;
		bool		was_there;

		if (!cell_is(elements, i, "filter_id", id))
			continue;
		count++;
		hash_row(elements, i, &hash);
		was_there = bf_filter_contains(filter, &hash);
		bf_filter_add(filter, &hash, 1);
		CHECK(was_there == cell_is(elements, i, "put_result", "0") &&
			  bf_filter_contains(filter, &hash) &&
			  count_bits(filter) == cell_u64(elements, i, "bit_count"),
			  "%s: filter %s, element %s", elements->path, id,
			  cell(elements, i, "seq"));
	}
	return count;
}

/* Look up a filter's probes, alone and together. */
static size_t
look_up_probes(const Table *probes, const char *id, const BfFilter *filter)
{
	BfHash	   *hashes = allocate(probes->rows * sizeof(BfHash));
	bool	   *found = allocate(probes->rows * sizeof(bool));
	size_t	   *rows = allocate(probes->rows * sizeof(size_t));
	size_t		count = 0;

	for (size_t i = 0; i < probes->rows; i++)
	{
		if (!cell_is(probes, i, "filter_id", id))
			continue;
		rows[count] = i;
		hash_row(probes, i, &hashes[count++]);
	}
	bf_filter_contains_batch(filter, hashes, count, found);
	for (size_t i = 0; i < count; i++)
		CHECK(found[i] == cell_is(probes, rows[i], "might_contain", "1") &&
			  found[i] == bf_filter_contains(filter, &hashes[i]),
			  "%s: filter %s, probe %s", probes->path, id,
			  cell(probes, rows[i], "value"));
	free(hashes);
	free(found);
	free(rows);
	return count;
}

/* The probability by bits against a sum over them, one by one. */
static void
check_fill(const BfFilter *filter)
{
	uint64_t	blocks = filter->plan.first.bits / 256;
	const uint8_t *bits = filter->bytes + filter->plan.first.offset;
	BfFill		fill = {0};
	double		sum = 0;

	for (uint64_t i = 0; i < blocks; i++)
	{
		double		product = 1;

		for (uint64_t word = i * 8; word < i * 8 + 8; word++)
		{
			int			set = 0;

			for (uint64_t bit = word * 32; bit < word * 32 + 32; bit++)
				set += bf_bit_get(bits, bit);
			product *= set / 32.0;
		}
		sum += product;
	}
	bf_fill_measure(&fill, filter, &filter->plan.first);
	CHECK(fabs(fill.fpp - sum / (double) blocks) <= 1e-12,
		  "%" PRIu64 " blocks: fpp %g, not %g", blocks, fill.fpp,
		  sum / (double) blocks);
	CHECK(fill.bits_set == count_bits(filter), "bits set");
}

/* filters.tsv, filter_elements.tsv, probes.tsv */
static void
test_filters_of_files(void)
{
	Table		table = read_table("parquet/filters.tsv");
	Table		elements = read_table("parquet/filter_elements.tsv");
	Table		probes = read_table("parquet/probes.tsv");
	size_t		added = 0;
	size_t		looked_up = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "filter_id");
		BfFilter	filter,
					read;
		uint8_t    *value = make_blocks(cell_u64(&table, i, "blocks"), &filter);
		uint8_t    *back;
		uint8_t    *bits;
		size_t		length;

		added += add_elements(&elements, id, &filter);
		looked_up += look_up_probes(&probes, id, &filter);
		bits = foreign_bits(&filter, BF_ORDER_BITSET, false, &length);
		CHECK(same_hex(bits, length, cell(&table, i, "bitset_hex")),
			  "%s: filter %s: bits differ", table.path, id);
		check_stream(&table, i, "stream_hex", &filter);
		back = read_stream(&table, i, "stream_hex", &read);
		CHECK(read.length == filter.length && memcmp(back, value, read.length) == 0,
			  "%s: filter %s does not come back", table.path, id);
		check_fill(&filter);
		free(back);
		free(bits);
		free(value);
	}
	CHECK(added == elements.rows && looked_up == probes.rows, "rows left over");
	free_table(&table);
	free_table(&elements);
	free_table(&probes);
}

/* big.tsv; and false positives are as frequent as the bits say. */
static void
test_big(void)
{
	Table		table = read_table("parquet/big.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *etype = etype_of(&table, i);
		uint64_t	inserted = cell_u64(&table, i, "inserted_count");
		double		probes = cell_double(&table, i, "probe_count");
		double		hits = cell_double(&table, i, "probe_hits");
		BfFill		fill = {0};
		BfFilter	filter;
		uint8_t    *value;
		char		digest[80];
		uint8_t    *stream;
		size_t		length;

		if (SANITIZED && inserted > 200000)
			continue;
		value = make_blocks(cell_u64(&table, i, "blocks"), &filter);
		CHECK(run_rule(&filter, 0, etype, cell(&table, i, "rule"), inserted,
					   true) == inserted &&
			  (double) run_rule(&filter, 0, etype,
								cell(&table, i, "probe_rule"),
								(uint64_t) probes, false) == hits,
			  "%s: row %zu: elements or probes", table.path, i);
		stream = stream_bytes(&filter, &length);
		snprintf(digest, sizeof(digest), "sha256:%s",
				 cell(&table, i, "stream_sha256"));
		CHECK(same_hex(stream, length, digest) &&
			  length == cell_u64(&table, i, "stream_len") &&
			  count_bits(&filter) == cell_u64(&table, i, "bit_count"),
			  "%s: row %zu: stream differs", table.path, i);
		bf_fill_measure(&fill, &filter, &filter.plan.first);
		CHECK(fabs(fill.fpp * probes - hits) < 5 * sqrt(hits) &&
			  fabs((double) fill.count - (double) inserted) < 0.01 * (double) inserted,
			  "%s: row %zu: fpp %g, %g of %g found; %" PRId64 " elements",
			  table.path, i, fill.fpp, hits, probes, fill.count);
		CHECK(fabs(bf_layer_fpp(&bf_parquet, &filter.plan.first, fill.bits_set) -
				   fill.fpp) < 0.02 * fill.fpp,
			  "%s: row %zu: fpp by the number of bits", table.path, i);
		free(stream);
		free(value);
	}
	free_table(&table);
}

/* ---- Streams ----------------------------------------------------------- */

/* files.tsv: filters lifted out of files of four writers. */
static void
test_files(void)
{
	Table		table = read_table("parquet/files.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	inserted = cell_u64(&table, i, "inserted_count");
		BfFilter	filter;
		uint8_t    *value = read_stream(&table, i, "stream_hex", &filter);

		CHECK(run_rule(&filter, 0, etype_of(&table, i), cell(&table, i, "rule"),
					   inserted, false) == inserted,
			  "%s: file %zu: elements are missing", table.path, i + 1);
		CHECK(filter.plan.first.bytes == cell_u64(&table, i, "num_bytes"),
			  "%s: file %zu: size", table.path, i + 1);
		check_stream(&table, i, "stream_hex", &filter);
		free(value);
	}
	free_table(&table);
}

/* readfrom.tsv: what is read is written back, and the rest is refused. */
static void
test_readfrom(void)
{
	Table		table = read_table("parquet/readfrom.tsv");
	size_t		accepted = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		length;
		uint8_t    *bytes = from_hex(cell(&table, i, "input_hex"), &length);
		uint8_t    *exact = copy_bytes(bytes, length);
		bool		want = strncmp(cell(&table, i, "description"), "valid", 5) == 0;
		BfFilter	filter;
		uint8_t    *value = import_stream(bf_parquet.stream, exact, length,
										  &filter);

		CHECK((value != NULL) == want, "%s: case %zu: %s", table.path, i + 1,
			  want ? "refused" : "accepted");
		CHECK(!want || !cell_is(&table, i, "three", "refused"),
			  "%s: case %zu: valid, but refused", table.path, i + 1);
		if (value != NULL)
		{
			check_stream(&table, i, "input_hex", &filter);
			accepted++;
		}
		free(value);
		free(exact);
		free(bytes);
	}
	CHECK(accepted == 4, "%s: %zu streams accepted", table.path, accepted);
	free_table(&table);
}

/* Every truncation of a stream, one byte more, and every change of its head. */
static void
test_stream_mutations(uint64_t blocks)
{
	BfFilter	filter,
				changed;
	uint8_t    *value = make_blocks(blocks, &filter);
	size_t		length;
	uint8_t    *stream = stream_bytes(&filter, &length);
	size_t		head = bf_stream_head_size(bf_parquet.stream, &filter.plan);

	CHECK(head == length - blocks * 32, "head of %zu bytes", head);
	for (size_t cut = 0; cut <= length + 1; cut++)
	{
		uint8_t    *longer = allocate(length + 1);
		uint8_t    *bytes;
		uint8_t    *read;

		memcpy(longer, stream, length);
		bytes = copy_bytes(longer, cut);
		read = import_stream(bf_parquet.stream, bytes, cut, &changed);
		CHECK((read != NULL) == (cut == length), "stream of %zu bytes", cut);
		free(read);
		free(bytes);
		free(longer);
	}
	for (size_t at = 0; at < head; at++)
	{
		uint8_t		was = stream[at];

		for (int to = 0; to < 256; to++)
		{
			uint8_t    *read;

			stream[at] = (uint8_t) to;
			read = import_stream(bf_parquet.stream, stream, length, &changed);
			CHECK((read != NULL) == (to == was), "stream with byte %zu = %d", at, to);
			free(read);
		}
		stream[at] = was;
	}
	free(stream);
	free(value);
}

/* The head has 15 to 19 bytes; beyond 2^27 bytes of bits there is no stream. */
static void
test_limits(void)
{
	static const struct
	{
		uint64_t	bytes;
		size_t		head;
	}			heads[] = {
		{32, 15}, {64, 16}, {8160, 16}, {8192, 17}, {1048544, 17},
		{1048576, 18}, {134217696, 18}, {134217728, 19}, {134217760, 0}
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
	{
		BfFilter	filter = {0};
		BfError		error;
		uint64_t	length;

		if (!bf_plan_bits(&bf_parquet, (int64_t) heads[i].bytes * 8, HASHES,
						  BF_FUNNEL_UNBOUND, &filter.plan, &error) ||
			!bf_plan_measure(&filter.plan, &length, &error))
			die("parquet: %s", error.message);
		if (heads[i].head == 0)
			CHECK(!bf_parquet.stream->measure(&filter, &length, &error) &&
				  error.code == BF_ERROR_LIMIT, "a stream beyond its limit");
		else
			CHECK(bf_parquet.stream->measure(&filter, &length, &error) &&
				  length == heads[i].bytes + heads[i].head,
				  "%" PRIu64 " bytes: stream of %" PRIu64, heads[i].bytes, length);
	}
}

/* ---- Union, folding ---------------------------------------------------- */

/* union.tsv: what parquet-java merges has one size. */
static void
test_unions(void)
{
	Table		table = read_table("parquet/union.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		BfFilter	a,
					b;
		uint8_t    *a_value = read_stream(&table, i, "filter1_hex", &a);
		uint8_t    *b_value = read_stream(&table, i, "filter2_hex", &b);
		bool		same = a.length == b.length;

		CHECK(same == cell_is(&table, i, "merge", "ok"), "%s: case %zu: sizes",
			  table.path, i + 1);
		if (same)
		{
			bf_bits_or(a_value + a.plan.first.offset,
					   b_value + b.plan.first.offset, a.plan.first.bytes);
			check_stream(&table, i, "union_hex", &a);
		}
		free(a_value);
		free(b_value);
	}
	free_table(&table);
}

/* fold.tsv: arrow-rs's filters of filters.tsv, folded. */
static void
test_folding(void)
{
	Table		filters = read_table("parquet/filters.tsv");
	Table		table = read_table("parquet/fold.tsv");
	size_t		smaller = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		row = 0;
		BfFilter	filter,
					folded;
		uint8_t    *value;
		uint8_t    *folded_value;

		while (!cell_is(&filters, row, "filter_id", cell(&table, i, "filter_id")))
			row++;
		value = read_stream(&filters, row, "stream_hex", &filter);
		folded_value = make_blocks(cell_u64(&table, i, "num_bytes") / 32, &folded);
		bf_filter_fold(&filter, &folded);
		check_stream(&table, i, "stream_hex", &folded);
		CHECK(count_bits(&folded) == cell_u64(&table, i, "bit_count"),
			  "%s: row %zu: bits", table.path, i);
		smaller += folded.length < filter.length;
		free(folded_value);
		free(value);
	}
	CHECK(smaller > 10, "%s: only %zu filters are folded", table.path, smaller);
	free_table(&table);
	free_table(&filters);
}

/* A filter folded by any factor is the one of the same elements. */
static void
test_folding_by(uint64_t blocks, uint64_t factor)
{
	BfFilter	large,
				small,
				folded;
	uint8_t    *large_value = make_blocks(blocks * factor, &large);
	uint8_t    *small_value = make_blocks(blocks, &small);
	uint8_t    *folded_value = make_blocks(blocks, &folded);

	(void) run_rule(&large, 0, "text", "sku-{i}", 200, true);
	(void) run_rule(&small, 0, "text", "sku-{i}", 200, true);
	bf_filter_fold(&large, &folded);
	CHECK(memcmp(small_value, folded_value, small.length) == 0,
		  "%" PRIu64 " blocks, folded from %" PRIu64 " times as many", blocks, factor);
	free(large_value);
	free(small_value);
	free(folded_value);
}

/* ---- Sizes ------------------------------------------------------------- */

/* sizing.tsv, sizing_duckdb.tsv: what other programs make. */
static void
test_usual_sizes(const char *path, const char *column)
{
	Table		table = read_table(path);
	size_t		compared = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		int64_t		expected = cell_i64(&table, i, "n");
		double		fpp = cell_double(&table, i, "p");
		BfLayer		shape;
		BfError		error;

		if (expected < 0 || !(fpp > 0 && fpp < 1))
		{
			CHECK(!bf_strategy_size(&bf_parquet, expected, fpp, &shape, &error) &&
				  error.code == BF_ERROR_PARAMETER, "%s: n %" PRId64 ", p %g",
				  path, expected, fpp);
			continue;
		}
		compared++;
		CHECK(bf_parquet.usual_bits(expected, fpp) ==
			  cell_u64(&table, i, column) * 8, "%s: n %" PRId64 ", p %g: %" PRIu64,
			  path, expected, fpp, bf_parquet.usual_bits(expected, fpp));
	}
	CHECK(compared > 50, "%s: only %zu rows compared", path, compared);
	free_table(&table);
}

/* The probability by the formula: the mean over Poisson's distribution. */
static double
poisson_fpp(double load)
{
	double		sum = 0;

	for (int i = 1; i < 3000; i++)
		sum += exp(i * log(load) - load - lgamma(i + 1)) *
			pow(1 - pow(31 / 32.0, i), 8);
	return sum;
}

/* The fewest blocks that keep p, of any number of elements. */
static void
test_fewest_blocks(void)
{
	static const double rates[] = {
		0.9, 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8
	};

	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
	{
		for (int64_t n = 1; n < 100000000; n = n * 3 + 1)
		{
			BfLayer		layer = {0};
			BfError		error = {0};
			double		z;

			CHECK(bf_strategy_size(&bf_parquet, n, rates[r], &layer, &error) &&
				  layer.hashes == HASHES && layer.bits % 256 == 0, "sizing: %s",
				  error.message);
			z = (double) layer.bits / 256;
			CHECK(poisson_fpp((double) n / z) <= rates[r] * (1 + 1e-7) &&
				  (z == 1 || poisson_fpp((double) n / (z - 1)) > rates[r] * (1 - 1e-7)),
				  "n %" PRId64 ", p %g: %g blocks have %g, %g and %g", n, rates[r],
				  z, poisson_fpp((double) n / (z - 1)), poisson_fpp((double) n / z),
				  poisson_fpp((double) n / (z + 1)));
			layer.fpp = rates[r];
			CHECK(bf_layer_capacity(&bf_parquet, &layer, rates[r]) >= (double) n * (1 - 1e-9),
				  "n %" PRId64 ", p %g: capacity", n, rates[r]);
		}
	}
}

/* The real probability of few blocks: by the binomial distribution, one by one. */
static void
test_few_blocks(void)
{
	for (int blocks = 1; blocks < 6; blocks++)
	{
		for (int n = 1; n < 60; n += 7)
		{
			double		sum = 0;
			double		real = bf_parquet.blocks->real_fpp(n, (uint64_t) blocks * 256);

			for (int i = 0; i <= n; i++)
				sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1)) *
					pow(1.0 / blocks, i) * pow(1 - 1.0 / blocks, n - i) *
					pow(1 - pow(31 / 32.0, i), 8);
			sum += n / (double) blocks * 0x1p-32;
			CHECK(fabs(real - sum) < 1e-9 * sum, "%d elements in %d blocks: %g, not %g",
				  n, blocks, real, sum);
		}
	}
}

/* What has other numbers of hashes or of bits is no filter. */
static void
test_shapes(void)
{
	BfFilter	filter;
	uint8_t    *value = make_blocks(3, &filter);
	BfPlan		plan;
	BfError		error;

	for (int32_t hashes = 1; hashes <= BF_MAX_HASHES; hashes++)
	{
		CHECK(bf_plan_bits(&bf_parquet, 768, hashes, BF_FUNNEL_UNBOUND, &plan,
						   &error) == (hashes == HASHES), "%d hashes", hashes);
		bf_store_le32(value + BF_HEADER_SIZE + 32, (uint32_t) hashes);
		CHECK(bf_filter_open(value, filter.length, filter.length, &filter,
							 &error) == (hashes == HASHES),
			  "a value with %d hashes", hashes);
	}
	free(value);
	CHECK(bf_plan_sized(&bf_parquet, 1000, 1e-4, BF_FUNNEL_UNBOUND, 1, &plan, &error) &&
		  bf_plan_capacity(&plan, &plan.first) < plan.first.bits / 5 * 2,
		  "a layer is full when half of its bits are set, not when it has reached p");
	CHECK(bf_plan_bits(&bf_parquet, 1, HASHES, BF_FUNNEL_UNBOUND, &plan, &error) &&
		  plan.first.bits == 256, "bits are not rounded up to a block");
	CHECK(bf_strategy_accepts(&bf_parquet, UINT64_C(1) << 40, HASHES, &error) &&
		  !bf_strategy_accepts(&bf_parquet, (UINT64_C(1) << 40) + 256, HASHES, &error) &&
		  !bf_strategy_accepts(&bf_parquet, 64, HASHES, &error), "limits of bits");
}

/* In the largest filters, each block is selected, and none beyond. */
static void
test_largest(void)
{
	uint64_t	bits = UINT64_C(1) << 40;
	BfHash		hash = {.word = {UINT64_MAX, UINT64_MAX}};
	uint64_t	positions[HASHES];

	bf_parquet.positions(&hash, bits, 0, HASHES, positions);
	CHECK(positions[0] / 256 == (bits / 256) - 1, "the last block");
	CHECK(bf_parquet.blocks->fpp(1e12, bits) > 0 &&
		  bf_parquet.blocks->fpp(1e12, bits) < 1, "a probability");
	/* Where some blocks have twice the hashes of others, there is more to find. */
	CHECK(bf_parquet.blocks->fpp(3e10, UINT64_C(256) * 3000000000) >
		  1.5 * poisson_fpp(10), "uneven blocks");
}

void
test_parquet(void)
{
	CHECK(bf_stream_by_name("parquet") == bf_parquet.stream,
		  "no stream named parquet");
	test_positions();
	test_filters_of_files();
	test_big();
	test_files();
	test_readfrom();
	test_stream_mutations(1);
	test_stream_mutations(2);
	test_stream_mutations(300);
	test_limits();
	test_unions();
	test_folding();
	for (uint64_t factor = 2; factor < 8; factor++)
		test_folding_by(factor * factor - 3, factor);
	test_usual_sizes("parquet/sizing.tsv", "arrow_rs_bytes");
	test_usual_sizes("parquet/sizing_duckdb.tsv", "num_bytes");
	test_fewest_blocks();
	test_few_blocks();
	test_shapes();
	test_largest();
}
