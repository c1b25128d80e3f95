/*
 * hashing.c
 *	  Every row of every hashing.tsv and positions.tsv.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"
#include "strategy/strategy.h"
#include "hashes.h"
#include "vectors.h"

typedef bool (*HashCheck) (const Table *table, size_t row,
						   const BfHash *hash);

/* The 16 bytes of murmur3: h1 first, little-endian. */
static bool
guava_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	uint8_t		bytes[16];

	bf_store_le64(bytes, hash->word[0]);
	bf_store_le64(bytes + 8, hash->word[1]);
	return same_hex(bytes, sizeof(bytes), cell(table, row, "murmur3_128"));
}

static bool
redisson_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return hash->word[0] == (uint64_t) cell_i64(table, row, "h1") &&
		hash->word[1] == (uint64_t) cell_i64(table, row, "h2");
}

static bool
tale2009_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return hash->word[0] == (uint64_t) cell_i64(table, row, "murmur_3") &&
		hash->word[1] == (uint64_t) cell_i64(table, row, "city_1_1");
}

static bool
cassandra_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	return bf_hash_half(hash, 0) == (uint32_t) cell_i64(table, row, "hash1") &&
		bf_hash_half(hash, 1) == (uint32_t) cell_i64(table, row, "hash2");
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

/* positions.tsv: all at once, and in two parts, cut at many places. */
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
	for (uint32_t cut = 0; cut <= k; cut += cut < 8 ? 1 : 7)
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
		hash_element(strategy, bytes[i], length, &hashes[i]);
		CHECK(agrees(&elements, i, &hashes[i]), "%s: element %s: hash differs",
			  hashing_path, cell(&elements, i, "elem_id"));
	}
	for (size_t i = 0; i < table.rows; i++)
	{
		size_t		row = find_element(&elements, cell(&table, i, "elem_id"));

		check_positions(strategy, &table, i, &hashes[row], bits_column);
	}
	for (size_t i = 0; i < elements.rows; i++)
	{
		free_hash(&hashes[i]);
		free(bytes[i]);
	}
	free(bytes);
	free(hashes);
	free_table(&table);
	free_table(&elements);
}

/* The first five locations show the four words, but for how they are apart. */
static bool
bitsandblooms_hash_agrees(const Table *table, size_t row, const BfHash *hash)
{
	const uint64_t *word = hash->word;

	return word[0] == cell_u64(table, row, "location0") &&
		word[1] + word[3] == cell_u64(table, row, "location1") &&
		word[0] + 2 * word[3] == cell_u64(table, row, "location2") &&
		word[1] + 3 * word[2] == cell_u64(table, row, "location3") &&
		word[0] + 4 * word[2] == cell_u64(table, row, "location4");
}

/* Spark's, by rows of seeds and of versions. */
static void
test_spark_hashes(void)
{
	Table		elements = read_table("spark/hashing.tsv");
	Table		table = read_table("spark/positions.tsv");

	for (size_t i = 0; i < elements.rows; i++)
	{
		size_t		length;
		BfHash		hash;
		uint8_t    *bytes = element_bytes(&bf_spark1,
										  cell(&elements, i, "etype"),
										  cell(&elements, i, "value"), &length);

		hash_seeded(&bf_spark1, row_seed(&elements, i), bytes, length, &hash);
		CHECK(bf_hash_half(&hash, 0) == (uint32_t) cell_i64(&elements, i, "h1") &&
			  bf_hash_half(&hash, 1) == (uint32_t) cell_i64(&elements, i, "h2"),
			  "%s: element %s: hash differs", elements.path,
			  cell(&elements, i, "elem_id"));
		free(bytes);
	}
	for (size_t i = 0; i < table.rows; i++)
	{
		const BfStrategy *strategy = row_strategy(NULL, &table, i);
		size_t		row = find_element(&elements, cell(&table, i, "elem_id"));
		size_t		length;
		BfHash		hash;
		uint8_t    *bytes = element_bytes(strategy,
										  cell(&elements, row, "etype"),
										  cell(&elements, row, "value"), &length);

		hash_seeded(strategy, row_seed(&table, i), bytes, length, &hash);
		check_positions(strategy, &table, i, &hash, "bit_size");
		free(bytes);
	}
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

		hash_element(&bf_redisbloom, bytes, length, &hash);
		CHECK(hash.word[0] == cell_u64(&table, i, "hash_a") &&
			  hash.word[1] == cell_u64(&table, i, "hash_b"),
			  "redisbloom: hash of %s", cell(&table, i, "value"));
		free(bytes);
	}
	free_table(&table);
}

/* What sorts and samples hashes takes any bits of them: each is set half of the time. */
static void
check_bits_of_words(const BfStrategy *strategy)
{
	uint32_t	set[BF_MAX_WORDS][64] = {{0}};
	const uint32_t elements = 20000;

	for (uint32_t i = 0; i < elements; i++)
	{
		size_t		length;
		uint8_t    *bytes = rule_bytes(strategy, "text", "Title {i}", i, &length);
		BfHash		hash;

		hash_element(strategy, bytes, length, &hash);
		for (uint32_t w = 0; w < strategy->words; w++)
		{
			for (int bit = 0; bit < 64; bit++)
				set[w][bit] += hash.word[w] >> bit & 1;
		}
		free(bytes);
	}
	for (uint32_t w = 0; w < strategy->words; w++)
	{
		for (int bit = 0; bit < 64; bit++)
			CHECK(set[w][bit] > elements * 0.48 && set[w][bit] < elements * 0.52,
				  "%s: bit %d of word %" PRIu32 " is set in %" PRIu32 " of %" PRIu32 " hashes",
				  strategy->name, bit, w, set[w][bit], elements);
	}
}

void
test_hashing(void)
{
	const BfStrategy *strategy;

	for (size_t i = 0; (strategy = bf_strategy_at(i)) != NULL; i++)
	{
		if (strategy->words > 0)
			check_bits_of_words(strategy);
	}
	test_hashes(&bf_guava, "guava64/hashing.tsv", "guava64/positions.tsv",
				"bit_size", guava_hash_agrees);
	test_hashes(&bf_guava32, "guava32/hashing.tsv", "guava32/positions.tsv",
				"bit_size", guava_hash_agrees);
	test_hashes(&bf_redisson, "redisson/hashing.tsv", "redisson/positions.tsv",
				"size", redisson_hash_agrees);
	test_hashes(&bf_magnuss, "magnuss/hashing.tsv", "magnuss/positions.tsv",
				"m", magnuss_hash_agrees);
	test_hashes(&bf_tale2009, "tale2009/hashing.tsv", "tale2009/positions.tsv",
				"bits", tale2009_hash_agrees);
	test_hashes(&bf_cassandra, "cassandra/hashing.tsv",
				"cassandra/positions.tsv", "bit_size", cassandra_hash_agrees);
	test_redisbloom_hashes();
	test_spark_hashes();
	test_hashes(&bf_bitsandblooms, "bitsandblooms/hashing.tsv",
				"bitsandblooms/positions.tsv", "m", bitsandblooms_hash_agrees);
}
