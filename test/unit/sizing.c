/*
 * sizing.c
 *	  Every row of every sizing.tsv, and parameters that no row has.
 *
 * Where an original accepts what we refuse, the row must be refused:
 *	  all		p outside (0,1), n < 0 (originals go on with negative sizes)
 *	  redisson	p = 4.9e-324 and other p of k > 255
 *	  magnuss	n = 0 (no bits), m saturated at 2147483647
 *	  tale2009	n = 0, k = 0 (holds everything), m = 0, k > 255, m > 2^32
 *	  cassandra n < 0, also where n * buckets + 20 stays positive
 *
 * Not compared, since the code under test does not compute it: columns of
 * fpp formulas, seed 004's m where it differs from the repository's, and the
 * answers of Redisson's tryInit without a config.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/filter.h"
#include "vectors.h"

/*
 * Size n and p and compare: refused, or this shape.  The shape of a filter
 * that was made must also be one that a value may have.
 */
void
check_size(const BfStrategy *strategy, const Table *table, size_t row,
		   bool refused, uint64_t bits, uint64_t hashes, const char *p_column)
{
	int64_t		expected = cell_i64(table, row, "n");
	double		fpp = cell_double(table, row, p_column);
	BfLayer		shape = {0};
	BfError		error = {.message = ""};
	bool		ok = bf_strategy_size(strategy, expected, fpp, &shape, &error);

	/* Some limits are those of any filter of the strategy. */
	if (ok && refused)
		ok = bf_strategy_accepts(strategy, shape.bits, shape.hashes, &error);
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
	CHECK(bf_strategy_accepts(strategy, shape.bits, shape.hashes, &error), "%s: n %s, p %s: %s", table->path,
		  cell(table, row, "n"), cell(table, row, p_column), error.message);
}

/* Whether n or p is what we refuse of all originals. */
static bool
is_nonsense(const Table *table, size_t row, const char *p_column)
{
	double		fpp = cell_double(table, row, p_column);

	return cell_i64(table, row, "n") < 0 || !(fpp > 0 && fpp < 1);
}

/* guava64/sizing.tsv is valid for both; what Guava refuses, and nothing else. */
static void
test_guava_sizing(const BfStrategy *strategy)
{
	Table		table = read_table("guava64/sizing.tsv");
	size_t		refused = 0;

	for (size_t i = 0; i < table.rows; i++)
	{
		bool		error_row = !cell_is(&table, i, "status", "ok");
		BfLayer		shape;
		BfError		error;

		check_size(strategy, &table, i, error_row,
				   cell_u64(&table, i, "bit_size"), cell_u64(&table, i, "k"),
				   "p");
		if (!error_row)
			continue;
		refused++;
		if (!bf_strategy_size(strategy, cell_i64(&table, i, "n"),
							  cell_double(&table, i, "p"), &shape, &error) ||
			!bf_strategy_accepts(strategy, shape.bits, shape.hashes, &error))
			CHECK(error.code == (is_nonsense(&table, i, "p") ?
								 BF_ERROR_PARAMETER : BF_ERROR_LIMIT),
				  "%s: n %s, p %s is the wrong kind of error",
				  strategy->name, cell(&table, i, "n"), cell(&table, i, "p"));
	}
	CHECK(refused > 50, "only %zu error rows", refused);
	free_table(&table);
}

/* spark/sizing.tsv: what is refused must be, and k beyond 255. */
static void
test_spark_sizing(const BfStrategy *strategy)
{
	Table		table = read_table("spark/sizing.tsv");

	for (size_t i = 0; i < table.rows; i++)
	{
		uint64_t	hashes = cell_u64(&table, i, "k");

		check_size(strategy, &table, i,
				   strncmp(cell(&table, i, "status"), "error", 5) == 0 ||
				   hashes > BF_MAX_HASHES,
				   cell_u64(&table, i, "bit_size"), hashes, "p");
	}
	free_table(&table);
}

/* The original refuses nothing, and so has no rows of what we do. */
static void
test_bitsandblooms_sizing(void)
{
	Table		table = read_table("bitsandblooms/sizing.tsv");

	for (size_t i = 0; i < table.rows; i++)
		check_size(&bf_bitsandblooms, &table, i, false,
				   cell_u64(&table, i, "m"), cell_u64(&table, i, "k"), "p");
	free_table(&table);
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
		BfLayer		shape = {0};
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
				  bf_strategy_accepts(&bf_cassandra, shape.bits, shape.hashes, &error),
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
		BfLayer		shape = {0};
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
		{&bf_redisbloom, 10, 5e-324, BF_ERROR_LIMIT},
		{&bf_spark1, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_spark2, 1, 0.9, BF_ERROR_LIMIT},
		{&bf_bitsandblooms, 0, 0.03, BF_ERROR_PARAMETER},
		{&bf_bitsandblooms, 10, 1e-300, BF_ERROR_LIMIT},
		{&bf_bitsandblooms, INT64_MAX, 0.03, BF_ERROR_LIMIT}
	};
	static const struct
	{
		const BfStrategy *strategy;
		uint64_t	bits;
		bool		ok;
	}			shapes[] = {
		{&bf_guava, 64, true}, {&bf_guava, 96, false}, {&bf_guava, 0, false},
		{&bf_guava32, UINT64_C(64) * INT32_MAX, true},
		{&bf_guava32, UINT64_C(64) * INT32_MAX + 64, false},
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
		{&bf_redisbloom, 0, false}, {&bf_redisbloom, UINT64_C(1) << 36, true},
		{&bf_spark1, 96, false}, {&bf_spark2, UINT64_C(64) * INT32_MAX, true},
		{&bf_spark2, UINT64_C(64) * INT32_MAX + 64, false},
		{&bf_bitsandblooms, 1, true}, {&bf_bitsandblooms, 0, false}
	};
	BfLayer		shape;
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
		CHECK(bf_strategy_accepts(shapes[i].strategy, shapes[i].bits, 1,
								  &error) == shapes[i].ok,
			  "%s: %" PRIu64 " bits", shapes[i].strategy->name, shapes[i].bits);
	}
	CHECK(!bf_cassandra.size_by_buckets(10, 0, &shape, &error) &&
		  error.code == BF_ERROR_PARAMETER, "cassandra: no buckets");
	CHECK(!bf_cassandra.size_by_buckets(-10, 8, &shape, &error) &&
		  error.code == BF_ERROR_PARAMETER, "cassandra: negative n");
}

/* Whatever is sized can be told of a value: the decoder bounds n by the bits. */
static void
test_claims(void)
{
	static const double rates[] = {
		1 - 1e-16, 1 - 1e-9, 0.999, 0.75, 0.51, 0.5, 0.49, 0.393, 0.3929, 0.26,
		0.25, 0.03, 0.01, 1e-3, 1e-5, 1e-9, 1e-20, 1e-60, 1e-76
	};
	const BfStrategy *strategy;
	uint64_t	sized = 0;

	for (size_t s = 0; (strategy = bf_strategy_at(s)) != NULL; s++)
	{
		for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		{
			for (int64_t n = 1; n < INT64_MAX / 3; n += n / 3 + 1)
			{
				BfLayer		shape;
				BfError		error;

				/* Sizes that saturate are of no value at all. */
				if (!bf_strategy_size(strategy, n, rates[r], &shape, &error) ||
					shape.bits > UINT64_C(1) << 60)
					continue;
				sized++;
				CHECK(bf_sizing_is_valid((uint64_t) n, rates[r], shape.bits),
					  "%s: %" PRIu64 " bits are too few for n %" PRId64 ", p %g",
					  strategy->name, shape.bits, n, rates[r]);
			}
		}
	}
	CHECK(sized > 5000, "only %" PRIu64 " filters were sized", sized);
	CHECK(!bf_sizing_is_valid(100000, 0.01, 64) &&
		  !bf_sizing_is_valid(INT64_MAX, 0.9, 64) &&
		  bf_sizing_is_valid(0, 0, 64) && !bf_sizing_is_valid(1, 0, 64),
		  "a sizing that nothing has is valid");
}

void
test_sizing(void)
{
	test_claims();
	test_guava_sizing(&bf_guava);
	test_guava_sizing(&bf_guava32);
	test_redisson_sizing("redisson/sizing.tsv");
	test_redisson_sizing("redisson/sizing_head.tsv");
	test_redisson_behaviour("redisson/behaviour.tsv");
	test_redisson_behaviour("redisson/behaviour_head.tsv");
	test_magnuss_sizing();
	test_tale2009_sizing();
	test_cassandra_sizing();
	test_spark_sizing(&bf_spark1);
	test_spark_sizing(&bf_spark2);
	test_bitsandblooms_sizing();
	test_refusals();
}
