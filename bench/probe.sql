-- What a million lookups in a filter of 24 MB cost that lies in a table row,
-- as a fraction of the hash anti join that answers the same exactly; and what
-- a single lookup costs, against reading the filter whole.
--
--   psql -f bench/probe.sql

SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET enable_mergejoin = off;

\echo 'warming up'
SELECT medians_ms('{SELECT count(title) FROM titles}', 2) AS warm \gset
WITH t AS (
	SELECT medians_ms(ARRAY[
		$$SELECT count(*) FROM asked
		  WHERE NOT bf_contains((SELECT f FROM filters WHERE name = 'titles'),
								title)$$,
		$$SELECT count(*) FROM asked
		  WHERE NOT EXISTS (SELECT FROM titles WHERE titles.title = asked.title)$$]) AS ms)
SELECT ms[1] AS million_lookups_ms, ms[2] AS hash_anti_join_ms,
	   round(ms[1] / ms[2], 3) AS ratio, 0.1 AS at_most
FROM t;

WITH t AS (
	SELECT medians_ms(ARRAY[
		$$SELECT bf_contains(f, 'x') FROM filters WHERE name = 'titles'$$,
		$$SELECT bf_contains(f, 'Title ' || md5('5') || ' number 5') FROM filters WHERE name = 'titles'$$,
		$$SELECT bf_count(f) FROM filters WHERE name = 'titles'$$], 20) AS ms)
SELECT ms[1] AS lookup_absent_ms, ms[2] AS lookup_present_ms, 1 AS at_most,
	   ms[3] AS read_whole_ms
FROM t;

EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off)
SELECT bf_contains(f, 'Title ' || md5('7') || ' number 7')
FROM filters WHERE name = 'titles';
