/*
 * filters.c
 *	  Filters of every strategy but redisbloom against every row of their
 *	  vectors: filters.tsv, filter_elements.tsv, probes.tsv and big.tsv.
 *
 * tale2009's filters without hashes hold everything; no value may be so.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/estimate.h"
#include "strategy/filter.h"
#include "hashes.h"
#include "vectors.h"

/* Java's header of a serialized BitSet, up to the length of its long[]. */
static const char bitset_stream[] =
"aced0005737200106a6176612e7574696c2e4269745365746efd887e3934ab21"
"0300015b0004626974737400025b4a7870757200025b4a782004b512b17593020000"
"7870";

/* Where a strategy's tables differ, in names. */
typedef struct Files
{
	const BfStrategy *strategy;
	const char *filters;
	const char *elements;
	const char *probes;
	const char *bits;			/* column of m */
	const char *hashes;			/* column of k */
	const char *added;			/* column of what adding answered, or NULL */
	const char *contains;		/* column of the answer of all k bits */
	uint32_t	seed;			/* of a filter's hashes */
} Files;

/* Set an element's bits; *changed and *changed_but_last as adds report. */
static void
add_element(BfFilter *filter, const BfHash *hash, bool *changed,
			bool *changed_but_last)
{
	uint8_t    *bits = (uint8_t *) filter->bytes + filter->plan.first.offset;
	uint64_t	positions[BF_MAX_HASHES];
	uint32_t	k = filter->plan.first.hashes;

	*changed = *changed_but_last = false;
	filter->plan.strategy->positions(hash, filter->plan.first.bits, 0, k, positions);
	for (uint32_t i = 0; i < k; i++)
	{
		if (!bf_bit_set(bits, positions[i]))
			continue;
		*changed = true;
		if (i + 1 < k)
			*changed_but_last = true;
	}
}

/* Whether all bits but the last are set: Redisson's answer before 3.23.0. */
static bool
contains_but_last(const BfFilter *filter, const BfHash *hash)
{
	uint64_t	positions[BF_MAX_HASHES];

	filter->plan.strategy->positions(hash, filter->plan.first.bits, 0,
								filter->plan.first.hashes, positions);
	for (uint32_t i = 0; i + 1 < filter->plan.first.hashes; i++)
	{
		if (!bf_bit_get(filter->bytes + filter->plan.first.offset, positions[i]))
			return false;
	}
	return true;
}

/* Add a filter's elements, one by one and to `batch` all the same. */
static size_t
insert_elements(const Files *files, const Table *elements, const char *id,
				bool last_bit_is_ignored, BfFilter *filter, BfFilter *batch)
{
	size_t		count = 0;

	for (size_t i = 0; i < elements->rows; i++)
	{
		size_t		length;
		uint8_t    *bytes;
		BfHash		hash;
		bool		was_there,
					changed,
					changed_but_last;

		if (!cell_is(elements, i, "filter_id", id))
			continue;
		count++;
		bytes = element_bytes(files->strategy, etype_of(elements, i),
							  cell(elements, i, "value"), &length);
		hash_seeded(files->strategy, files->seed, bytes, length, &hash);
		was_there = bf_filter_contains(filter, &hash);
		add_element(filter, &hash, &changed, &changed_but_last);
		bf_filter_add(batch, &hash, 1);
		CHECK(was_there == !changed && bf_filter_contains(filter, &hash),
			  "%s: filter %s, element %s: found %d before, changed %d, or lost",
			  elements->path, id, cell(elements, i, "seq"), was_there, changed);
		if (files->added != NULL)
			CHECK((last_bit_is_ignored ? changed_but_last : changed) ==
				  cell_is(elements, i, files->added, "1"),
				  "%s: filter %s, element %s: add's result", elements->path,
				  id, cell(elements, i, "seq"));
		free_hash(&hash);
		free(bytes);
	}
	return count;
}

/* A filter's rows of probes.tsv, one by one and all at once. */
static size_t
probe_elements(const Files *files, const Table *probes, const char *id,
			   bool last_bit_is_ignored, const BfFilter *filter)
{
	BfHash	   *hashes = allocate(probes->rows * sizeof(BfHash));
	uint8_t   **bytes = allocate(probes->rows * sizeof(uint8_t *));
	bool	   *found = allocate(probes->rows * sizeof(bool));
	size_t	   *rows = allocate(probes->rows * sizeof(size_t));
	size_t		count = 0;

	for (size_t i = 0; i < probes->rows; i++)
	{
		size_t		length;

		if (!cell_is(probes, i, "filter_id", id))
			continue;
		rows[count] = i;
		bytes[count] = element_bytes(files->strategy, etype_of(probes, i),
									 cell(probes, i, "value"), &length);
		hash_seeded(files->strategy, files->seed, bytes[count], length,
					&hashes[count]);
		count++;
	}
	bf_filter_contains_batch(filter, hashes, count, found);
	for (size_t i = 0; i < count; i++)
	{
		bool		want = cell_is(probes, rows[i], files->contains, "1");

		CHECK(bf_filter_contains(filter, &hashes[i]) == want && found[i] == want,
			  "%s: filter %s, probe %s", probes->path, id,
			  cell(probes, rows[i], "value"));
		if (last_bit_is_ignored)
			CHECK(contains_but_last(filter, &hashes[i]) ==
				  cell_is(probes, rows[i], "contains", "1"),
				  "%s: filter %s, probe %s: all bits but one", probes->path,
				  id, cell(probes, rows[i], "value"));
		free_hash(&hashes[i]);
		free(bytes[i]);
	}
	free(hashes);
	free(bytes);
	free(found);
	free(rows);
	return count;
}

/* A bit string in an order against a column, and back into a value. */
static void
check_bits(const Files *files, const Table *table, size_t row,
		   const char *column, BfBitOrder order, bool trimmed,
		   const BfFilter *filter)
{
	size_t		length;
	uint8_t    *bits;
	BfFilter	back_filter;
	uint8_t    *back = make_value(files->strategy, filter->plan.first.bits,
								  filter->plan.first.hashes, &back_filter);

	if (!has_column(table, column))
	{
		free(back);
		return;
	}
	bits = foreign_bits(filter, order, trimmed, &length);
	CHECK(same_hex(bits, length, cell(table, row, column)),
		  "%s: filter %s: %s differs", table->path,
		  cell(table, row, "filter_id"), column);
	bf_bits_from_order(order, bits, length, back + filter->plan.first.offset);
	CHECK(memcmp(back, filter->bytes, filter->length) == 0,
		  "%s: filter %s: %s does not come back", table->path,
		  cell(table, row, "filter_id"), column);
	free(bits);
	free(back);
}

/* cassandra's serialized_hex: k, then a BitSet as Java 17 serializes it. */
static void
check_serialized(const Table *table, size_t row, const BfFilter *filter)
{
	size_t		header_length;
	uint8_t    *header = from_hex(bitset_stream, &header_length);
	size_t		length = 4 + header_length + 4 + filter->plan.first.bytes + 1;
	uint8_t    *bytes = allocate(length);

	bf_store_be32(bytes, filter->plan.first.hashes);
	memcpy(bytes + 4, header, header_length);
	bf_store_be32(bytes + 4 + header_length,
				  (uint32_t) (filter->plan.first.bits / 64));
	memcpy(bytes + 8 + header_length, filter->bytes + filter->plan.first.offset,
		   filter->plan.first.bytes);
	bytes[length - 1] = 0x78;	/* TC_ENDBLOCKDATA */
	CHECK(same_hex(bytes, length, cell(table, row, "serialized_hex")),
		  "%s: filter %s: serial form differs", table->path,
		  cell(table, row, "filter_id"));
	free(bytes);
	free(header);
}

/* Expected fpp and approximate count, by Guava's formulas, which others share. */
void
check_estimates(const Table *table, size_t row, const char *fpp_column,
				const char *count_column, const BfFilter *filter)
{
	const char *count;
	uint64_t	set = count_bits(filter);
	double		estimate = bf_estimate_count(set, filter->plan.first.bits,
											 filter->plan.first.hashes);
	double		fpp = bf_estimate_fpp(set, filter->plan.first.bits,
									  filter->plan.first.hashes);

	if (has_column(table, fpp_column))
		CHECK(same_double(fpp, cell_double(table, row, fpp_column)),
			  "%s: row %zu: expected fpp %.17g", table->path, row, fpp);
	CHECK(fpp == 0 || fpp == 1 ||
		  fabs(bf_estimate_capacity(fpp, filter->plan.first.bits,
									filter->plan.first.hashes) - estimate) < 0.501,
		  "%s: row %zu: capacity at %.17g", table->path, row, fpp);
	if (!has_column(table, count_column))
		return;
	count = cell(table, row, count_column);
	if (strncmp(count, "error", 5) == 0)
		CHECK(isfinite(estimate) && estimate > 0,
			  "%s: row %zu: estimate of a full filter", table->path, row);
	else
		CHECK(estimate == strtod(count, NULL), "%s: row %zu: estimated %.17g",
			  table->path, row, estimate);
}

/* The stream in a column against a value's. */
static void
check_stream(const Table *table, size_t row, const BfFilter *filter)
{
	size_t		length;
	uint8_t    *bytes = seeded_stream(filter, row_seed(table, row), &length);

	CHECK(same_hex(bytes, length, cell(table, row, "write_to_hex")),
		  "%s: filter %s: stream differs", table->path,
		  cell(table, row, "filter_id"));
	free(bytes);
}

/* One row of filters.tsv: its sizing, and all that can be seen of the bits. */
static void
check_filter(const Files *files, const Table *table, size_t row,
			 const BfFilter *filter)
{
	uint64_t	set = count_bits(filter);

	CHECK(set == cell_u64(table, row, "bit_count"),
		  "%s: filter %s: %" PRIu64 " bits set", table->path,
		  cell(table, row, "filter_id"), set);
	check_bits(files, table, row, "redis_hex", BF_ORDER_REDIS, true, filter);
	check_bits(files, table, row, "bitset_hex", BF_ORDER_BITSET, true, filter);
	check_bits(files, table, row, "bits_lsb_hex", BF_ORDER_BITSET, false,
			   filter);
	if (has_column(table, "write_to_hex"))
	{
		check_stream(table, row, filter);
		check_estimates(table, row, "expected_fpp", "approx_count", filter);
	}
	if (has_column(table, "serialized_hex"))
		check_serialized(table, row, filter);
	if (has_column(table, "redis_len"))
	{
		size_t		length;

		free(foreign_bits(filter, BF_ORDER_REDIS, true, &length));
		CHECK(length == cell_u64(table, row, "redis_len"),
			  "%s: filter %s: %zu bytes", table->path,
			  cell(table, row, "filter_id"), length);
	}
}

static void
check_filter_size(const Files *files, const Table *table, size_t row)
{
	uint64_t	bits = cell_u64(table, row, files->bits);
	uint32_t	hashes = (uint32_t) cell_u64(table, row, files->hashes);
	BfLayer		shape;
	BfError		error;

	if (!has_column(table, "mode"))
		check_size(files->strategy, table, row, hashes == 0, bits, hashes,
				   has_column(table, "p") ? "p" : "p_float");
	else if (cell_is(table, row, "mode", "fpp"))
		check_size(files->strategy, table, row, false, bits, hashes, "arg");
	else
		CHECK(files->strategy->size_by_buckets(cell_i64(table, row, "n"),
											   (int32_t) cell_i64(table, row, "arg"),
											   &shape, &error) &&
			  shape.bits == bits && shape.hashes == hashes,
			  "%s: filter %s: size", table->path,
			  cell(table, row, "filter_id"));
}

/*
 * A filter without hashes holds nothing and finds everything: no value may be
 * so, and its rows say only that.
 */
static size_t
check_hashless(const Table *table, size_t row, const Table *probes)
{
	size_t		count = 0;

	CHECK(cell_u64(table, row, "bit_count") == 0 &&
		  cell_u64(table, row, "redis_len") == 0,
		  "%s: bits without hashes", table->path);
	for (size_t i = 0; i < probes->rows; i++)
	{
		if (strcmp(cell(probes, i, "filter_id"),
				   cell(table, row, "filter_id")) != 0)
			continue;
		count++;
		CHECK(cell_is(probes, i, "contains", "1"), "%s: absent without hashes",
			  probes->path);
	}
	return count;
}

static void
test_files(const Files *all, bool last_bit_is_ignored)
{
	Files		row = *all;
	const Files *files = &row;
	Table		table = read_table(files->filters);
	Table		elements = read_table(files->elements);
	Table		probes = read_table(files->probes);
	size_t		inserted = 0;
	size_t		probed = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		const char *id = cell(&table, i, "filter_id");
		uint64_t	bits = cell_u64(&table, i, files->bits);
		uint32_t	hashes = (uint32_t) cell_u64(&table, i, files->hashes);
		BfFilter	filter,
					batch;
		uint8_t    *value,
				   *batch_value;
		size_t		count;

		row.strategy = row_strategy(all->strategy, &table, i);
		row.seed = row_seed(&table, i);
		check_filter_size(files, &table, i);
		if (hashes == 0)
		{
			inserted += cell_u64(&table, i, "inserted_count");
			probed += check_hashless(&table, i, &probes);
			continue;
		}
		value = make_value(files->strategy, bits, hashes, &filter);
		batch_value = make_value(files->strategy, bits, hashes, &batch);
		count = insert_elements(files, &elements, id, last_bit_is_ignored,
								&filter, &batch);
		/* Some rows count without the element that is added twice. */
		CHECK(count == cell_u64(&table, i, "inserted_count") ||
			  count == cell_u64(&table, i, "inserted_count") + 1,
			  "%s: filter %s: %zu elements", files->filters, id, count);
		inserted += count;
		CHECK(memcmp(value, batch_value, filter.length) == 0,
			  "%s: filter %s: bf_filter_add differs", files->filters, id);
		check_filter(files, &table, i, &filter);
		probed += probe_elements(files, &probes, id, last_bit_is_ignored,
								 &filter);
		free(value);
		free(batch_value);
	}
	CHECK(inserted == elements.rows, "%s: %zu of %zu rows used",
		  files->elements, inserted, elements.rows);
	CHECK(probed == probes.rows, "%s: %zu of %zu rows used", files->probes,
		  probed, probes.rows);
	free_table(&table);
	free_table(&elements);
	free_table(&probes);
}

/* ---- Big filters ------------------------------------------------------- */

/* How many of a rule's elements are found, each added before or not. */
uint64_t
run_rule(BfFilter *filter, uint32_t seed, const char *etype, const char *rule,
		 uint64_t count, bool add)
{
	uint64_t	found = 0;

	for (uint64_t i = 1; i <= count; i++)
	{
		size_t		length;
		uint8_t    *bytes = rule_bytes(filter->plan.strategy, etype, rule, i,
										&length);
		BfHash		hash;

		hash_seeded(filter->plan.strategy, seed, bytes, length, &hash);
		if (add)
			bf_filter_add(filter, &hash, 1);
		found += bf_filter_contains(filter, &hash);
		free_hash(&hash);
		free(bytes);
	}
	return found;
}

/* Where a strategy's big.tsv differs, in names. */
typedef struct BigFile
{
	const BfStrategy *strategy;
	const char *path;
	const char *bits;			/* column of m */
	const char *fpp;			/* column of p */
	const char *sha256;			/* of the stream, or of the bits */
	const char *length;			/* column of their length, or NULL */
	BfBitOrder	order;
	bool		trimmed;
} BigFile;

static void
check_big_size(const BigFile *file, const Table *table, size_t row)
{
	uint64_t	bits = cell_u64(table, row, file->bits);
	uint64_t	hashes = cell_u64(table, row, "k");
	BfLayer		shape;
	BfError		error;

	if (file->fpp != NULL)
		check_size(row_strategy(file->strategy, table, row), table, row, false,
				   bits, hashes, file->fpp);
	else
		CHECK(file->strategy->size_by_buckets(cell_i64(table, row, "n"),
											  (int32_t) cell_i64(table, row, "buckets_per_elem"),
											  &shape, &error) &&
			  shape.bits == bits && shape.hashes == hashes, "%s: size",
			  file->path);
}

/* Compare a row of big.tsv: digests, counts, and hits of its probes. */
static void
check_big(const BigFile *file, const Table *table, size_t row)
{
	const char *id = cell(table, row, "case_id");
	const char *etype = etype_of(table, row);
	const char *rule = cell(table, row, "rule");
	uint64_t	inserted = cell_u64(table, row, "inserted_count");
	uint32_t	seed = row_seed(table, row);
	BfFilter	filter;
	uint8_t    *value = make_value(row_strategy(file->strategy, table, row),
								   cell_u64(table, row, file->bits),
								   (uint32_t) cell_u64(table, row, "k"),
								   &filter);
	char		digest[80];
	size_t		length;
	uint8_t    *bytes;

	CHECK(run_rule(&filter, seed, etype, rule, inserted, true) == inserted,
		  "%s: case %s: elements are missing", file->path, id);
	CHECK(count_bits(&filter) == cell_u64(table, row, "bit_count"),
		  "%s: case %s: bits set", file->path, id);
	if (has_column(table, "expected_fpp") || has_column(table, "approx_count"))
		check_estimates(table, row, "expected_fpp", "approx_count", &filter);
	bytes = has_column(table, "write_to_sha256") ?
		seeded_stream(&filter, seed, &length) :
		foreign_bits(&filter, file->order, file->trimmed, &length);
	snprintf(digest, sizeof(digest), "sha256:%s",
			 cell(table, row, file->sha256));
	CHECK(same_hex(bytes, length, digest), "%s: case %s: bits differ",
		  file->path, id);
	if (file->length != NULL)
		CHECK(length == cell_u64(table, row, file->length),
			  "%s: case %s: %zu bytes", file->path, id, length);
	if (has_column(table, "probe_rule"))
		CHECK(run_rule(&filter, seed, etype,
					   cell(table, row, "probe_rule"),
					   cell_u64(table, row, "probe_count"), false) ==
			  cell_u64(table, row, "probe_hits"), "%s: case %s: hits",
			  file->path, id);
	free(bytes);
	free(value);
}

static void
test_big(const BigFile *file)
{
	Table		table = read_table(file->path);

	for (size_t i = 0; i < table.rows; i++)
	{
		check_big_size(file, &table, i);
		if (!SANITIZED || cell_u64(&table, i, "inserted_count") <= 200000)
			check_big(file, &table, i);
	}
	free_table(&table);
}

void
test_filters(void)
{
	static const Files files[] = {
		{&bf_guava, "guava64/filters.tsv", "guava64/filter_elements.tsv",
			"guava64/probes.tsv", "bit_size", "k", "put_result",
		"might_contain", 0},
		{&bf_guava32, "guava32/filters.tsv", "guava32/filter_elements.tsv",
			"guava32/probes.tsv", "bit_size", "k", "put_result",
		"might_contain", 0},
		{&bf_redisson, "redisson/filters.tsv", "redisson/filter_elements.tsv",
			"redisson/probes.tsv", "size", "hash_iterations", "add_result",
		"contains_all_k", 0},
		{&bf_redisson, "redisson/filters_head.tsv",
			"redisson/filter_elements_head.tsv", "redisson/probes_head.tsv",
		"size", "hash_iterations", "add_result", "contains", 0},
		{&bf_magnuss, "magnuss/filters.tsv", "magnuss/filter_elements.tsv",
		"magnuss/probes.tsv", "m", "k", NULL, "contains", 0},
		{&bf_tale2009, "tale2009/filters.tsv", "tale2009/filter_elements.tsv",
		"tale2009/probes.tsv", "bits", "k", NULL, "contains", 0},
		{&bf_cassandra, "cassandra/filters.tsv",
			"cassandra/filter_elements.tsv", "cassandra/probes.tsv",
		"bit_size", "k", NULL, "present", 0},
		{NULL, "spark/filters.tsv", "spark/filter_elements.tsv",
		"spark/probes.tsv", "bit_size", "k", "put_result", "might_contain", 0},
		{&bf_bitsandblooms, "bitsandblooms/filters.tsv",
			"bitsandblooms/filter_elements.tsv", "bitsandblooms/probes.tsv",
		"m", "k", "changed", "might_contain", 0}
	};
	static const BigFile big_files[] = {
		{&bf_guava, "guava64/big.tsv", "bit_size", "p", "write_to_sha256",
		"write_to_len", BF_ORDER_REDIS, false},
		{&bf_guava32, "guava32/big.tsv", "bit_size", "p", "write_to_sha256",
		"write_to_len", BF_ORDER_REDIS, false},
		{&bf_magnuss, "magnuss/big.tsv", "m", "p", "redis_sha256",
		"redis_len", BF_ORDER_REDIS, true},
		{&bf_tale2009, "tale2009/big.tsv", "bits", "p_float", "redis_sha256",
		"redis_len", BF_ORDER_REDIS, true},
		{&bf_cassandra, "cassandra/big.tsv", "bit_size", NULL,
		"bits_lsb_sha256", NULL, BF_ORDER_BITSET, false},
		{NULL, "spark/big.tsv", "bit_size", "p", "write_to_sha256",
		"write_to_len", BF_ORDER_REDIS, false},
		{&bf_bitsandblooms, "bitsandblooms/big.tsv", "m", "p",
		"write_to_sha256", "write_to_len", BF_ORDER_REDIS, false}
	};

	/* The adds and answers of redisson's first file are 3.16.1's. */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		test_files(&files[i], strcmp(files[i].contains, "contains_all_k") == 0);
	for (size_t i = 0; i < sizeof(big_files) / sizeof(big_files[0]); i++)
		test_big(&big_files[i]);
}
