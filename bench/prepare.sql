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

-- Run queries in turns, a number of times each, and return the median time of
-- each in milliseconds: what else the machine does at times, it does to all.
CREATE OR REPLACE FUNCTION medians_ms(queries text[], times int DEFAULT 7)
RETURNS numeric[] LANGUAGE plpgsql AS $$
DECLARE
	query text;
	started timestamptz;
	elapsed jsonb[] := '{}';
BEGIN
	FOR i IN 1..times LOOP
		FOREACH query IN ARRAY queries LOOP
			started := clock_timestamp();
			EXECUTE query;
			elapsed := elapsed || jsonb_build_array(query, extract(epoch FROM clock_timestamp() - started) * 1000);
		END LOOP;
	END LOOP;
	RETURN ARRAY(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (e->>1)::float8)::numeric(12, 3)
				 FROM unnest(queries) WITH ORDINALITY AS q (query, position)
				 JOIN unnest(elapsed) AS e ON e->>0 = q.query
				 GROUP BY position ORDER BY position);
END
$$;
