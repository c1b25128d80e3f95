-- The data of the other scripts here: 10 million titles, a filter of them
-- stored in a table row, and a million titles to ask for, half of them new.
--
--   psql -f bench/prepare.sql

\set ON_ERROR_STOP on
CREATE EXTENSION IF NOT EXISTS bloomext;

DROP TABLE IF EXISTS titles, filters, asked;
CREATE TABLE titles AS
	SELECT i AS id, 'Title ' || md5(i::text) || ' number ' || i AS title
	FROM generate_series(1, 10000000) AS i;
CREATE TABLE filters (name text PRIMARY KEY, f bloomfilter);
INSERT INTO filters SELECT 'titles', bf_agg(title, 10000000, 0.0001) FROM titles;
CREATE TABLE asked AS
	SELECT 'Title ' || md5(i::text) || ' number ' || i * (i % 2) AS title
	FROM generate_series(1, 1000000) AS i;
VACUUM ANALYZE titles, filters, asked;

-- Run a query a number of times and return the median time in milliseconds.
CREATE OR REPLACE FUNCTION median_ms(query text, times int DEFAULT 5)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	started timestamptz;
	elapsed float8[] := '{}';
BEGIN
	FOR i IN 1..times LOOP
		started := clock_timestamp();
		EXECUTE query;
		elapsed := elapsed || extract(epoch FROM clock_timestamp() - started)::float8 * 1000;
	END LOOP;
	RETURN (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY e)::numeric(12, 3)
			FROM unnest(elapsed) AS e);
END
$$;
