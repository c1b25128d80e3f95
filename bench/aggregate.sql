-- What bf_agg over 10 million titles costs, as a multiple of count(title) in
-- the same session, serial and cached.
--
--   psql -f bench/aggregate.sql

SET max_parallel_workers_per_gather = 0;
SET jit = off;

\echo 'warming up'
SELECT median_ms('SELECT count(title) FROM titles', 2) \gset
SELECT median_ms('SELECT count(title) FROM titles') AS count_ms,
	   median_ms('SELECT bf_agg(title, 10000000, 0.0001) FROM titles') AS agg_ms
\gset
SELECT :count_ms AS count_ms, :agg_ms AS bf_agg_ms,
	   round(:agg_ms / :count_ms, 2) AS ratio, 4 AS at_most;
