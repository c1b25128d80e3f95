-- What a million lookups in a filter of 24 MB cost that lies in a table row,
-- as a fraction of the hash anti join that answers the same exactly; and what
-- a single lookup costs, against reading the filter whole.
--
--   psql -f bench/probe.sql

SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET enable_mergejoin = off;

\echo 'warming up'
SELECT median_ms('SELECT count(title) FROM titles', 2) \gset
SELECT median_ms($$
		SELECT count(*) FROM asked
		WHERE NOT bf_contains((SELECT f FROM filters WHERE name = 'titles'),
							  title)$$) AS filter_ms,
	   median_ms($$
		SELECT count(*) FROM asked
		WHERE NOT EXISTS (SELECT FROM titles WHERE titles.title = asked.title)$$) AS join_ms
\gset
SELECT :filter_ms AS million_lookups_ms, :join_ms AS hash_anti_join_ms,
	   round(:filter_ms / :join_ms, 3) AS ratio, 0.1 AS at_most;

SELECT median_ms($$SELECT bf_contains(f, 'x') FROM filters WHERE name = 'titles'$$, 100) AS absent_ms,
	   median_ms($$SELECT bf_contains(f, 'Title ' || md5('5') || ' number 5') FROM filters WHERE name = 'titles'$$, 100) AS present_ms,
	   median_ms($$SELECT bf_count(f) FROM filters WHERE name = 'titles'$$, 20) AS whole_ms
\gset
SELECT :absent_ms AS lookup_absent_ms, :present_ms AS lookup_present_ms, 1 AS at_most,
	   :whole_ms AS read_whole_ms;

EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off, SUMMARY off)
SELECT bf_contains(f, 'Title ' || md5('7') || ' number 7')
FROM filters WHERE name = 'titles';
