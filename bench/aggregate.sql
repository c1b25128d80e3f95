-- What bf_agg over 10 million titles costs, as a multiple of count(title) in
-- the same session, serial and cached.
--
--   psql -f bench/aggregate.sql

SET max_parallel_workers_per_gather = 0;
SET jit = off;

\echo 'warming up'
SELECT medians_ms('{SELECT count(title) FROM titles}', 2) AS warm \gset
WITH t AS (
	SELECT medians_ms(ARRAY['SELECT count(title) FROM titles',
							'SELECT bf_agg(title, 10000000, 0.0001) FROM titles']) AS ms)
SELECT ms[1] AS count_ms, ms[2] AS bf_agg_ms,
	   round(ms[2] / ms[1], 2) AS ratio, 4 AS at_most
FROM t;
