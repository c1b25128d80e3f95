/*
 * services.c
 *	  redisson, magnuss, tale2009 and cassandra against every row of their
 *	  vectors, and redisbloom's hash.
 *
 * Where an original accepts what we refuse, the row must be refused:
 *	  all		p outside (0,1), n < 0 (originals go on with negative sizes)
 *	  redisson	p = 4.9e-324 and other p of k > 255
 *	  magnuss	n = 0 (no bits), m saturated at 2147483647
 *	  tale2009	n = 0, k = 0 (holds everything), m = 0, k > 255, m > 2^32
 *	  cassandra n < 0, also where n * buckets + 20 stays positive
 *
 * Not compared, since the code under test does not compute it: columns of
 * fpp and count formulas (Guava's are used for all), seed 004's m where it
 * differs from the repository's, names of keys in Redis.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "core/murmur2.h"
#include "strategy/filter.h"
#include "vectors.h"

/* Java's header of a serialized BitSet, up to the length of its long[]. */
static const char bitset_stream[] =
"aced0005737200106a6176612e7574696c2e4269745365746efd887e3934ab21"
"0300015b0004626974737400025b4a7870757200025b4a782004b512b17593020000"
"7870";

/* ---- Sizing ------------------------------------------------------------ */

/*
 * Size n and p and compare: refused, or this shape.  The shape of a filter
 * that was made must also be one that a value may have.
 */
static void
check_size(const BfStrategy *strategy, const Table *table, size_t row,
		   bool refused, uint64_t bits, uint64_t hashes, const char *p_column)
{
	int64_t		expected = cell_i64(table, row, "n");
	double		fpp = cell_double(table, row, p_column);
	BfShape		shape = {0, 0};
	BfError		error = {.message = ""};
	bool		ok = bf_strategy_size(strategy, expected, fpp, &shape, &error);

	CHECK(ok == !refused, "%s: n %s, p %s: %s", table->path,
		  cell(table, row, "n"), cell(table, row, p_column),
		  ok ? "accepted" : error.message);
	CHECK(ok || error.message[0] != '\0', "%s: n %s, p %s: no message",
		  table->path, cell(table, row, "n"), cell(table, row, p_column));
	if (!ok || refused)
		return;
	CHECK(shape.bits == bits && shape.hashes == hashes,
		  "%s: n %s, p %s: %" PRIu64 " bits, k %" PRIu32, table->path,
		  cell(table, row, "n"), cell(table, row, p_column), shape.bits,
		  shape.hashes);
	CHECK(strategy->accept(&shape, &error), "%s: n %s, p %s: %s", table->path,
		  cell(table, row, "n"), cell(table, row, p_column), error.message);
}

/* Whether n or p is what we refuse of all originals. */
static bool
is_nonsense(const Table *table, size_t row, const char *p_column)
{
	double		fpp = cell_double(table, row, p_column);

	return cell_i64(table, row, "n") < 0 || !(fpp > 0 && fpp < 1);
}

static void
test_redisson_sizing(const char *path)
{
	Table		table = read_table(path);

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	hashes = cell_u64(&table, i, "hash_iterations");
		bool		refused = !cell_is(&table, i, "status", "ok") ||
			is_nonsense(&table, i, "p") || hashes > BF_MAX_HASHES;

		check_size(&bf_redisson, &table, i, refused,
				   cell_u64(&table, i, "size"), hashes, "p");
	}
	free_table(&table);
}

static void
test_magnuss_sizing(void)
{
	Table		table = read_table("magnuss/sizing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	bits = cell_u64(&table, i, "m_repo");
		bool		refused = !cell_is(&table, i, "status_repo", "ok") ||
			is_nonsense(&table, i, "p") || bits == 0 || bits == INT32_MAX ||
			cell_u64(&table, i, "k_repo") > BF_MAX_HASHES;

		check_size(&bf_magnuss, &table, i, refused, bits,
				   cell_u64(&table, i, "k_repo"), "p");
		if (!refused)
			CHECK(cell_is(&table, i, "m_differs", "0") ==
				  (cell_u64(&table, i, "m_seed") == bits),
				  "magnuss: n %s, p %s: m_differs", cell(&table, i, "n"),
				  cell(&table, i, "p"));
	}
	free_table(&table);
}

static void
test_tale2009_sizing(void)
{
	Table		table = read_table("tale2009/sizing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	bits = cell_u64(&table, i, "bits");
		int64_t		hashes = cell_i64(&table, i, "k");
		bool		refused = is_nonsense(&table, i, "p_float") ||
			cell_i64(&table, i, "n") == 0 || hashes < 1 ||
			hashes > BF_MAX_HASHES || bits > UINT64_C(1) << 32;

		check_size(&bf_tale2009, &table, i, refused, bits, (uint64_t) hashes,
				   "p_float");
	}
	free_table(&table);
}

static void
test_cassandra_sizing(void)
{
	Table		table = read_table("cassandra/sizing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		/* -2147483648 stands for 2^31. */
		uint64_t	bits = (uint64_t) llabs(cell_i64(&table, i, "bit_size"));
		uint64_t	hashes = cell_u64(&table, i, "k");
		bool		error_row = !cell_is(&table, i, "status", "ok");
		BfShape		shape = {0, 0};
		BfError		error = {.message = ""};
		bool		ok;

		if (cell_is(&table, i, "mode", "fpp"))
		{
			check_size(&bf_cassandra, &table, i,
					   error_row || is_nonsense(&table, i, "arg"), bits,
					   hashes, "arg");
			continue;
		}
		ok = bf_cassandra.size_by_buckets(cell_i64(&table, i, "n"),
										  (int32_t) cell_i64(&table, i, "arg"),
										  &shape, &error);
		CHECK(ok == !(error_row || cell_i64(&table, i, "n") < 0),
			  "cassandra: n %s, %s buckets: %s", cell(&table, i, "n"),
			  cell(&table, i, "arg"), ok ? "accepted" : error.message);
		if (ok)
			CHECK(shape.bits == bits && shape.hashes == hashes &&
				  bf_cassandra.accept(&shape, &error),
				  "cassandra: n %s, %s buckets: %" PRIu64 " bits, k %" PRIu32,
				  cell(&table, i, "n"), cell(&table, i, "arg"), shape.bits,
				  shape.hashes);
	}
	free_table(&table);
}

/* The config hashes that HGETALL showed. */
static void
test_redisson_behaviour(const char *path)
{
	Table		table = read_table(path);
	size_t		configs = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		int64_t		expected;
		double		fpp;
		uint32_t	hashes;
		uint64_t	size;
		BfShape		shape = {0, 0};
		BfError		error;

		if (sscanf(cell(&table, i, "result"), "{expectedInsertions=%" SCNd64
				   ", falseProbability=%lf, hashIterations=%" SCNu32
				   ", size=%" SCNu64 "}", &expected, &fpp, &hashes, &size) != 4)
			continue;
		configs++;
		CHECK(bf_strategy_size(&bf_redisson, expected, fpp, &shape, &error) &&
			  shape.bits == size && shape.hashes == hashes,
			  "%s: config %s", path, cell(&table, i, "result"));
	}
	CHECK(configs > 0, "%s shows no config", path);
	free_table(&table);
}

/* ---- Hashes and positions ---------------------------------------------- */

typedef bool (*HashCheck) (const Table *table, size_t row,
						   const BfHash *hash);

static bool
redisson_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return hash->h1 == (uint64_t) cell_i64(table, row, "h1") &&
		hash->h2 == (uint64_t) cell_i64(table, row, "h2");
}

static bool
tale2009_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return hash->h1 == (uint64_t) cell_i64(table, row, "murmur_3") &&
		hash->h2 == (uint64_t) cell_i64(table, row, "city_1_1");
}

static bool
cassandra_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return hash->h1 == (uint32_t) cell_i64(table, row, "hash1") &&
		hash->h2 == (uint32_t) cell_i64(table, row, "hash2");
}

/* magnuss shows its hashes only through positions: modulo 2^31 - 1. */
static bool
magnuss_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	const char *list = cell(table, row, "hashes8");
	uint64_t	positions[8];

	bf_magnuss.positions(hash, INT32_MAX, 0, 8, positions);
	for (int i = 0; i < 8; i++)
	{
		char	   *end;
		int64_t		h = strtoll(list, &end, 10);

		if (positions[i] != (uint64_t) llabs(h % INT32_MAX))
			return false;
		list = end + 1;
	}
	return true;
}

/* The row of an element; hashing.tsv is in order, but that is not relied on. */
static size_t
find_element(const Table *elements, const char *id)
{
	for (size_t row = 0; row < elements->rows; row++)
	{
		if (cell_is(elements, row, "elem_id", id))
			return row;
	}
	die("no element %s", id);
}

/* Whether positions are those of a comma separated list. */
static bool
same_positions(const uint64_t *positions, uint32_t count, const char *list)
{
	for (uint32_t i = 0; i < count; i++)
	{
		char	   *end;

		if (strtoull(list, &end, 10) != positions[i] || end == list)
			return false;
		list = *end == ',' ? end + 1 : end;
	}
	return *list == '\0';
}

/* positions.tsv: all at once, and in two parts at every place. */
static void
check_positions(const BfStrategy *strategy, const Table *table, size_t row,
				const BfHash *hash, const char *bits_column)
{
	uint64_t	bits = (uint64_t) llabs(cell_i64(table, row, bits_column));
	uint32_t	k = (uint32_t) cell_u64(table, row, "k");
	uint64_t   *whole = allocate(k * sizeof(uint64_t));
	uint64_t   *parts = allocate(k * sizeof(uint64_t));

	strategy->positions(hash, bits, 0, k, whole);
	CHECK(same_positions(whole, k, cell(table, row, "positions")),
		  "%s: element %s, %" PRIu64 " bits, k %" PRIu32 ": positions differ",
		  table->path, cell(table, row, "elem_id"), bits, k);
	for (uint32_t cut = 0; cut <= k; cut++)
	{
		strategy->positions(hash, bits, 0, cut, parts);
		strategy->positions(hash, bits, cut, k - cut, parts + cut);
		CHECK(memcmp(whole, parts, k * sizeof(uint64_t)) == 0,
			  "%s: element %s, %" PRIu64 " bits, k %" PRIu32 ": parts differ at %" PRIu32,
			  table->path, cell(table, row, "elem_id"), bits, k, cut);
	}
	free(whole);
	free(parts);
}

static void
test_hashes(const BfStrategy *strategy, const char *hashing_path,
			const char *positions_path, const char *bits_column,
			HashCheck agrees)
{
	Table		elements = read_table(hashing_path);
	Table		table = read_table(positions_path);
	BfHash	   *hashes = allocate(elements.rows * sizeof(BfHash));
	uint8_t   **bytes = allocate(elements.rows * sizeof(uint8_t *));

	for (size_t i = 0; i < elements.rows; i++)
	{
		size_t		length;

		bytes[i] = element_bytes(strategy, cell(&elements, i, "etype"),
								 cell(&elements, i, "value"), &length);
		strategy->hash(bytes[i], length, &hashes[i]);
		CHECK(agrees(&elements, i, &hashes[i]), "%s: element %s: hash differs",
			  hashing_path, cell(&elements, i, "elem_id"));
	}
	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		row = find_element(&elements, cell(&table, i, "elem_id"));

		check_positions(strategy, &table, i, &hashes[row], bits_column);
	}
	for (size_t i = 0; i < elements.rows; i++)
		free(bytes[i]);
	free(bytes);
	free(hashes);
	free_table(&table);
	free_table(&elements);
}

static void
test_redisbloom_hashes(void)
{
	Table		table = read_table("redisbloom/hashing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		length;
		BfHash		hash;
		uint8_t    *bytes = element_bytes(&bf_redisbloom, "bytea",
										  cell(&table, i, "value"), &length);

		bf_redisbloom.hash(bytes, length, &hash);
		CHECK(hash.h1 == cell_u64(&table, i, "hash_a") &&
			  hash.h2 == cell_u64(&table, i, "hash_b"),
			  "redisbloom: hash of %s", cell(&table, i, "value"));
		free(bytes);
	}
	free_table(&table);
}

/* ---- Filters ----------------------------------------------------------- */

/* Where a strategy's tables differ, in names. */
typedef struct Files
{
	const BfStrategy *strategy;
	const char *filters;
	const char *elements;
	const char *probes;
	const char *bits;			/* column of m */
	const char *hashes;			/* column of k */
	const char *contains;		/* column of the answer of all k bits */
} Files;

/* Set an element's bits; *changed and *changed_but_last as adds report. */
static void
add_element(BfFilter *filter, const BfHash *hash, bool *changed,
			bool *changed_but_last)
{
	uint8_t    *bits = (uint8_t *) filter->bytes + filter->first.offset;
	uint64_t	positions[BF_MAX_HASHES];
	uint32_t	k = filter->first.hashes;

	*changed = *changed_but_last = false;
	filter->strategy->positions(hash, filter->first.bits, 0, k, positions);
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

	filter->strategy->positions(hash, filter->first.bits, 0,
								filter->first.hashes, positions);
	for (uint32_t i = 0; i + 1 < filter->first.hashes; i++)
	{
		if (!bf_bit_get(filter->bytes + filter->first.offset, positions[i]))
			return false;
	}
	return true;
}

/* Tables that have no etype hold text. */
static const char *
etype_of(const Table *table, size_t row)
{
	for (size_t i = 0; i < table->columns; i++)
	{
		if (strcmp(table->names[i], "etype") == 0)
			return cell(table, row, "etype");
	}
	return "text";
}

static bool
has_column(const Table *table, const char *name)
{
	for (size_t i = 0; i < table->columns; i++)
	{
		if (strcmp(table->names[i], name) == 0)
			return true;
	}
	return false;
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
		bool		changed,
					changed_but_last;

		if (!cell_is(elements, i, "filter_id", id))
			continue;
		count++;
		bytes = element_bytes(files->strategy, etype_of(elements, i),
							  cell(elements, i, "value"), &length);
		files->strategy->hash(bytes, length, &hash);
		add_element(filter, &hash, &changed, &changed_but_last);
		bf_filter_add(batch, &hash, 1);
		if (has_column(elements, "add_result"))
			CHECK((last_bit_is_ignored ? changed_but_last : changed) ==
				  cell_is(elements, i, "add_result", "1"),
				  "%s: filter %s, element %s: add's result", elements->path,
				  id, cell(elements, i, "seq"));
		free(bytes);
	}
	return count;
}

static size_t
probe_elements(const Files *files, const Table *probes, const char *id,
			   bool last_bit_is_ignored, const BfFilter *filter)
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
		bytes = element_bytes(files->strategy, etype_of(probes, i),
							  cell(probes, i, "value"), &length);
		files->strategy->hash(bytes, length, &hash);
		CHECK(bf_filter_contains(filter, &hash) ==
			  cell_is(probes, i, files->contains, "1"),
			  "%s: filter %s, probe %s", probes->path, id,
			  cell(probes, i, "value"));
		if (last_bit_is_ignored)
			CHECK(contains_but_last(filter, &hash) ==
				  cell_is(probes, i, "contains", "1"),
				  "%s: filter %s, probe %s: all bits but one", probes->path,
				  id, cell(probes, i, "value"));
		free(bytes);
	}
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
	uint8_t    *back = make_value(files->strategy, filter->first.bits,
								  filter->first.hashes, &back_filter);

	if (!has_column(table, column))
	{
		free(back);
		return;
	}
	bits = foreign_bits(filter, order, trimmed, &length);
	CHECK(same_hex(bits, length, cell(table, row, column)),
		  "%s: filter %s: %s differs", table->path,
		  cell(table, row, "filter_id"), column);
	bf_bits_from_order(order, bits, length, back + filter->first.offset);
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
	size_t		length = 4 + header_length + 4 + filter->first.bytes + 1;
	uint8_t    *bytes = allocate(length);

	bf_store_be32(bytes, filter->first.hashes);
	memcpy(bytes + 4, header, header_length);
	bf_store_be32(bytes + 4 + header_length,
				  (uint32_t) (filter->first.bits / 64));
	memcpy(bytes + 8 + header_length, filter->bytes + filter->first.offset,
		   filter->first.bytes);
	bytes[length - 1] = 0x78;	/* TC_ENDBLOCKDATA */
	CHECK(same_hex(bytes, length, cell(table, row, "serialized_hex")),
		  "%s: filter %s: serial form differs", table->path,
		  cell(table, row, "filter_id"));
	free(bytes);
	free(header);
}

/* One row of filters.tsv: its sizing, and all that can be seen of the bits. */
static void
check_filter(const Files *files, const Table *table, size_t row,
			 const BfFilter *filter)
{
	uint64_t	set = bf_bits_count(filter->bytes + filter->first.offset,
									filter->first.bytes);

	CHECK(set == cell_u64(table, row, "bit_count"),
		  "%s: filter %s: %" PRIu64 " bits set", table->path,
		  cell(table, row, "filter_id"), set);
	check_bits(files, table, row, "redis_hex", BF_ORDER_REDIS, true, filter);
	check_bits(files, table, row, "bitset_hex", BF_ORDER_BITSET, true, filter);
	check_bits(files, table, row, "bits_lsb_hex", BF_ORDER_BITSET, false,
			   filter);
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
	BfShape		shape;
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
test_filters(const Files *files, bool last_bit_is_ignored)
{
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

/* How many of a rule's elements are found; or add them. */
static uint64_t
run_rule(BfFilter *filter, const char *rule, uint64_t count, bool add)
{
	uint64_t	found = 0;

	for (uint64_t i = 1; i <= count; i++)
	{
		size_t		length;
		uint8_t    *bytes = rule_bytes(filter->strategy, rule, i, &length);
		BfHash		hash;

		filter->strategy->hash(bytes, length, &hash);
		if (add)
			bf_filter_add(filter, &hash, 1);
		else
			found += bf_filter_contains(filter, &hash);
		free(bytes);
	}
	return found;
}

/* Compare a row of big.tsv: digests, counts, and hits of its probes. */
static void
check_big(const Table *table, size_t row, const BfStrategy *strategy,
		  const char *bits_column, const char *sha256_column,
		  BfBitOrder order, bool trimmed)
{
	const char *id = cell(table, row, "case_id");
	uint64_t	inserted = cell_u64(table, row, "inserted_count");
	BfFilter	filter;
	uint8_t    *value = make_value(strategy, cell_u64(table, row, bits_column),
								   (uint32_t) cell_u64(table, row, "k"),
								   &filter);
	char		digest[80];
	size_t		length;
	uint8_t    *bits;

	run_rule(&filter, cell(table, row, "rule"), inserted, true);
	CHECK(run_rule(&filter, cell(table, row, "rule"), inserted, false) ==
		  inserted, "%s: case %s: elements are missing", table->path, id);
	CHECK(bf_bits_count(filter.bytes + filter.first.offset,
						filter.first.bytes) ==
		  cell_u64(table, row, "bit_count"), "%s: case %s: bits set",
		  table->path, id);
	bits = foreign_bits(&filter, order, trimmed, &length);
	snprintf(digest, sizeof(digest), "sha256:%s",
			 cell(table, row, sha256_column));
	CHECK(same_hex(bits, length, digest), "%s: case %s: bits differ",
		  table->path, id);
	if (has_column(table, "redis_len"))
		CHECK(length == cell_u64(table, row, "redis_len"),
			  "%s: case %s: %zu bytes", table->path, id, length);
	if (has_column(table, "probe_rule"))
		CHECK(run_rule(&filter, cell(table, row, "probe_rule"),
					   cell_u64(table, row, "probe_count"), false) ==
			  cell_u64(table, row, "probe_hits"), "%s: case %s: hits",
			  table->path, id);
	free(bits);
	free(value);
}

static void
test_big(void)
{
	Table		magnuss = read_table("magnuss/big.tsv");
	Table		tale2009 = read_table("tale2009/big.tsv");
	Table		cassandra = read_table("cassandra/big.tsv");
	BfShape		shape;
	BfError		error;

	for (size_t i = 0; i < magnuss.rows; i++)
	{
		check_size(&bf_magnuss, &magnuss, i, false,
				   cell_u64(&magnuss, i, "m"), cell_u64(&magnuss, i, "k"), "p");
		check_big(&magnuss, i, &bf_magnuss, "m", "redis_sha256",
				  BF_ORDER_REDIS, true);
	}
	for (size_t i = 0; i < tale2009.rows; i++)
	{
		check_size(&bf_tale2009, &tale2009, i, false,
				   cell_u64(&tale2009, i, "bits"), cell_u64(&tale2009, i, "k"),
				   "p_float");
		check_big(&tale2009, i, &bf_tale2009, "bits", "redis_sha256",
				  BF_ORDER_REDIS, true);
	}
	for (size_t i = 0; i < cassandra.rows; i++)
	{
		CHECK(bf_cassandra.size_by_buckets(cell_i64(&cassandra, i, "n"),
										   (int32_t) cell_i64(&cassandra, i, "buckets_per_elem"),
										   &shape, &error) &&
			  shape.bits == cell_u64(&cassandra, i, "bit_size") &&
			  shape.hashes == cell_u64(&cassandra, i, "k"),
			  "cassandra/big.tsv: size");
		check_big(&cassandra, i, &bf_cassandra, "bit_size", "bits_lsb_sha256",
				  BF_ORDER_BITSET, false);
	}
	free_table(&magnuss);
	free_table(&tale2009);
	free_table(&cassandra);
}

/* ---- Refusals ---------------------------------------------------------- */

/* Parameters that no row has, and the kind of error that each must be. */
static void
test_refusals(void)
{
	static const struct
	{
		const BfStrategy *strategy;
		int64_t		expected;
		double		fpp;
		BfErrorCode code;
	}			cases[] = {
		{&bf_redisson, -1, 0.03, BF_ERROR_PARAMETER},
		{&bf_redisson, INT64_MIN, 0.03, BF_ERROR_PARAMETER},
		{&bf_redisson, 10, __builtin_nan(""), BF_ERROR_PARAMETER},
		{&bf_redisson, 10, 1, BF_ERROR_PARAMETER},
		{&bf_redisson, 10, -0.0, BF_ERROR_PARAMETER},
		{&bf_redisson, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_redisson, 1, 0.9, BF_ERROR_LIMIT},
		{&bf_redisson, 10, 1e-300, BF_ERROR_LIMIT},
		{&bf_redisson, INT64_MAX, 1e-300, BF_ERROR_LIMIT},
		{&bf_magnuss, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_magnuss, INT64_MAX, 0.03, BF_ERROR_LIMIT},
		{&bf_magnuss, 200000000, 0.0001, BF_ERROR_LIMIT},
		{&bf_magnuss, 10, 1e-300, BF_ERROR_LIMIT},
		{&bf_tale2009, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_tale2009, 1000, 0.75, BF_ERROR_PARAMETER},
		{&bf_tale2009, 1000, 1e-60, BF_ERROR_PARAMETER},
		{&bf_tale2009, 1000, 0.99999999999, BF_ERROR_PARAMETER},
		{&bf_tale2009, 1, 0.9, BF_ERROR_LIMIT},
		{&bf_tale2009, INT64_C(2147483648), 0.5, BF_ERROR_LIMIT},
		{&bf_tale2009, 2147483647, 0.001, BF_ERROR_LIMIT},
		{&bf_cassandra, 100, 0.0008, BF_ERROR_PARAMETER},
		{&bf_cassandra, INT64_MAX, 0.5, BF_ERROR_LIMIT},
		{&bf_redisbloom, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_redisbloom, INT64_MAX, 0.03, BF_ERROR_LIMIT},
		{&bf_redisbloom, 10, 5e-324, BF_ERROR_LIMIT}
	};
	static const struct
	{
		const BfStrategy *strategy;
		uint64_t	bits;
		bool		ok;
	}			shapes[] = {
		{&bf_redisson, 1, true}, {&bf_redisson, 0, false},
		{&bf_redisson, UINT64_C(4294967294), true},
		{&bf_redisson, UINT64_C(4294967295), false},
		{&bf_magnuss, 2147483647, true},
		{&bf_magnuss, UINT64_C(2147483648), false},
		{&bf_tale2009, UINT64_C(1) << 32, true},
		{&bf_tale2009, (UINT64_C(1) << 32) + 1, false},
		{&bf_cassandra, 63, false}, {&bf_cassandra, 64, true},
		{&bf_cassandra, UINT64_C(1) << 31, true},
		{&bf_cassandra, (UINT64_C(1) << 31) + 64, false},
		{&bf_redisbloom, 64, true}, {&bf_redisbloom, 65, false},
		{&bf_redisbloom, 0, false}, {&bf_redisbloom, UINT64_C(1) << 36, true}
	};
	BfShape		shape;
	BfError		error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		bool		ok = bf_strategy_size(cases[i].strategy, cases[i].expected,
										  cases[i].fpp, &shape, &error);

		CHECK(!ok && error.code == cases[i].code,
			  "%s: n %" PRId64 ", p %g: %s", cases[i].strategy->name,
			  cases[i].expected, cases[i].fpp, ok ? "accepted" : error.message);
		if (!ok && getenv("SHOW_MESSAGES") != NULL)
			printf("# %s\n", error.message);
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
	{
		shape = (BfShape) {shapes[i].bits, 3};
		CHECK(shapes[i].strategy->accept(&shape, &error) == shapes[i].ok,
			  "%s: %" PRIu64 " bits", shapes[i].strategy->name, shape.bits);
	}
	CHECK(!bf_cassandra.size_by_buckets(10, 0, &shape, &error) &&
		  error.code == BF_ERROR_PARAMETER, "cassandra: no buckets");
	CHECK(!bf_cassandra.size_by_buckets(-10, 8, &shape, &error) &&
		  error.code == BF_ERROR_PARAMETER, "cassandra: negative n");
}

void
test_services(void)
{
	static const Files files[] = {
		{&bf_redisson, "redisson/filters.tsv", "redisson/filter_elements.tsv",
		"redisson/probes.tsv", "size", "hash_iterations", "contains_all_k"},
		{&bf_redisson, "redisson/filters_head.tsv",
			"redisson/filter_elements_head.tsv", "redisson/probes_head.tsv",
		"size", "hash_iterations", "contains"},
		{&bf_magnuss, "magnuss/filters.tsv", "magnuss/filter_elements.tsv",
		"magnuss/probes.tsv", "m", "k", "contains"},
		{&bf_tale2009, "tale2009/filters.tsv", "tale2009/filter_elements.tsv",
		"tale2009/probes.tsv", "bits", "k", "contains"},
		{&bf_cassandra, "cassandra/filters.tsv",
			"cassandra/filter_elements.tsv", "cassandra/probes.tsv",
		"bit_size", "k", "present"}
	};

	test_redisson_sizing("redisson/sizing.tsv");
	test_redisson_sizing("redisson/sizing_head.tsv");
	test_redisson_behaviour("redisson/behaviour.tsv");
	test_redisson_behaviour("redisson/behaviour_head.tsv");
	test_magnuss_sizing();
	test_tale2009_sizing();
	test_cassandra_sizing();

	test_hashes(&bf_redisson, "redisson/hashing.tsv", "redisson/positions.tsv",
				"size", redisson_hash_agrees);
	test_hashes(&bf_magnuss, "magnuss/hashing.tsv", "magnuss/positions.tsv",
				"m", magnuss_hash_agrees);
	test_hashes(&bf_tale2009, "tale2009/hashing.tsv", "tale2009/positions.tsv",
				"bits", tale2009_hash_agrees);
	test_hashes(&bf_cassandra, "cassandra/hashing.tsv",
				"cassandra/positions.tsv", "bit_size", cassandra_hash_agrees);
	test_redisbloom_hashes();

	/* The first file's adds and answers are 3.16.1's. */
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		test_filters(&files[i], i == 0);
	test_big();
	test_refusals();
}
