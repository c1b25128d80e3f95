-- Filters that grow, beyond the vectors: the promise, the operations, parallel
-- aggregation.

-- Expansion 2 and 3: fewer false positives than asked for, however far it
-- grows, and layers as documented.
CREATE TEMP TABLE far AS
	SELECT expansion, bf_agg(i::text, 1000, 0.01, 'guava', expansion) AS f
	FROM generate_series(1, 100000) AS i, unnest(ARRAY[2, 3]) AS expansion GROUP BY expansion;
SELECT expansion, (bf_info(f)).layers, bf_measure_fpp(f, 100000, 1) <= 0.01 AS kept,
		(bf_info(f)).estimated_fpp <= 0.01 AS estimated
	FROM far ORDER BY 1;
SELECT expansion, layer, expected, round(fpp::numeric, 8) AS fpp FROM far, bf_layers(f) ORDER BY 1, 2;
SELECT expansion, i FROM far, generate_series(1, 100000) AS i WHERE NOT bf_contains(f, i::text) ORDER BY 1, 2 LIMIT 5;

-- One by one, by the array, and by the aggregate: the same filter.
SELECT bf_add_all(bf_create(100, 0.01, expansion => 2), array_agg(i ORDER BY i)) =
		bf_agg(i, 100, 0.01, 'guava', 2 ORDER BY i) AS same
	FROM generate_series(1, 5000) AS i;

-- Union wants the same layers; equality and input and output work on them.
CREATE TEMP TABLE pair AS
	SELECT part, bf_agg(i, 1000, 0.01, 'guava', 2) AS f
	FROM generate_series(1, 6000) AS i, LATERAL (SELECT i % 2 AS part) AS p GROUP BY part;
SELECT count(*) FILTER (WHERE NOT bf_contains(u, i)) AS missing, (bf_info(u)).layers
	FROM (SELECT a.f | b.f AS u FROM pair a, pair b WHERE a.part = 0 AND b.part = 1) AS x,
		generate_series(1, 6000) AS i GROUP BY 2;
\set VERBOSITY sqlstate
SELECT f | bf_create(1000, 0.01, expansion => 2) FROM pair LIMIT 1;
SELECT bf_export(f) FROM pair LIMIT 1;
SELECT bf_create(10, 0.01, expansion => -1);
\set VERBOSITY default
SELECT f::text::bloomfilter = f AS same, bf_intersection(f, f) = f AS meet FROM pair ORDER BY part;

-- What two filters hold in different layers has no place in an intersection;
-- in one layer, nothing is lost.
\set VERBOSITY sqlstate
SELECT a.f & b.f FROM pair a, pair b WHERE a.part = 0 AND b.part = 1;
SELECT bf_intersection_agg(f) FROM pair;
\set VERBOSITY default
SELECT strategy, count(*) FILTER (WHERE NOT bf_contains(a & b, i)) AS lost
	FROM (SELECT s AS strategy, (SELECT bf_agg(i, 40, 0.01, s, 2) FROM generate_series(1, 20) AS i) AS a,
			(SELECT bf_agg(31 - i, 40, 0.01, s, 2) FROM generate_series(1, 20) AS i) AS b
		FROM unnest('{guava,redisson,redisbloom}'::text[]) AS s) AS f, generate_series(11, 20) AS i GROUP BY 1 ORDER BY 1;
SELECT bf_import(bf_export_layer(f, 1), 'guava', 'long') <> f AS alone FROM pair ORDER BY part;

-- Parallel: whoever sees which row, the same filter, and nothing is missing.
CREATE TABLE many AS SELECT i, NULLIF(i % 7, 0) * 1000000 + i AS x FROM generate_series(1, 50000) AS i;
ANALYZE many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 4;
EXPLAIN (COSTS off) SELECT bf_agg(x, 1000, 0.01, 'guava', 2) FROM many;
CREATE TEMP TABLE parallel AS
	SELECT g AS run, (SELECT bf_agg(x, 1000, 0.01, 'guava', 2) FROM many WHERE g > 0) AS f
	FROM generate_series(1, 2) AS g;
SET max_parallel_workers_per_gather = 0;
SELECT count(*) AS filters FROM (SELECT f FROM parallel GROUP BY f) AS d;
SELECT run, x FROM parallel, many WHERE x IS NOT NULL AND NOT bf_contains(f, x) ORDER BY 1, 2 LIMIT 5;
SELECT DISTINCT bf_measure_fpp(f, 100000, 2) <= 0.01 AS kept FROM parallel;
RESET ALL;
DROP TABLE many;

-- RedisBloom's layers count.
SELECT layer, expected, round(fpp::numeric, 8) AS fpp, hashes
	FROM bf_layers((SELECT bf_agg('e' || i, 100, 0.01, 'redisbloom', 2 ORDER BY i) FROM generate_series(1, 2000) AS i));
-- And those of a union count what both together hold.
SELECT (bf_info(a + 'new')).layers AS alone, (bf_info((a | b) + 'new')).layers AS united,
		(SELECT (bf_info(bf_union_agg(f) + 'new')).layers FROM unnest(ARRAY[a, b]) AS f) AS aggregated
	FROM bf_add_all(bf_create(100, 0.01, 'redisbloom', expansion => 2), (SELECT array_agg('a' || i) FROM generate_series(1, 60) AS i)) AS a,
		bf_add_all(bf_create(100, 0.01, 'redisbloom', expansion => 2), (SELECT array_agg('b' || i) FROM generate_series(1, 60) AS i)) AS b;
