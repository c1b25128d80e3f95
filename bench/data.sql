-- data.sql
--	The tables and functions of script/bench, for :rows titles, :asked of which are
--	asked for, half of these being new; :large elements are what a large filter is for.

SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bloomext;
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'hll') AS hll,
	   EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_prewarm') AS prewarm \gset
\if :hll
CREATE EXTENSION IF NOT EXISTS hll;
\endif

-- What the server's process has taken so far: nanoseconds on the processor, or by
-- the clock where the system does not tell; nanoseconds by the clock; bytes of WAL
-- that all wrote; and its memory's peak in bytes, shared buffers that it touched
-- included.
CREATE OR REPLACE FUNCTION reading(OUT cpu numeric, OUT clock numeric, OUT wal numeric, OUT peak numeric)
LANGUAGE plpgsql AS $$
BEGIN
	clock := extract(epoch FROM clock_timestamp()) * 1e9;
	cpu := coalesce(split_part(pg_read_file('/proc/self/schedstat', 0, 200, true), ' ', 1)::numeric, clock);
	wal := pg_current_wal_insert_lsn() - '0/0';
	peak := substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::numeric * 1024;
END
$$;

-- Let the peak be what is there now; where the system does not let us, it stays.
CREATE OR REPLACE FUNCTION forget_peak() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	COPY (SELECT 5) TO '/proc/self/clear_refs';
EXCEPTION WHEN others THEN
	NULL;
END
$$;

-- Touch the pages of all filters, in shared buffers, without making anything of them:
-- a sequential scan of much would read by a few buffers that it uses again.
CREATE OR REPLACE FUNCTION touch_filters() RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off AS $$
BEGIN
	EXECUTE format('SELECT count(chunk_seq) FROM %s',
				   (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'filters'::regclass));
END
$$;

CREATE UNLOGGED TABLE titles AS
	SELECT i AS id, 'Title ' || md5(i::text) || ' number ' || i AS title FROM generate_series(1, :rows) AS i;
CREATE UNLOGGED TABLE asked AS
	SELECT i AS id, 'Title ' || md5(i::text) || ' number ' || i * (i % 2) AS title FROM generate_series(1, :asked) AS i;
CREATE UNLOGGED TABLE filters (name text PRIMARY KEY, f bloomfilter);
INSERT INTO filters SELECT 'titles', bf_agg(title, :rows, 0.0001) FROM titles;
INSERT INTO filters SELECT 'large', bf_agg(id, :large, 0.01) FROM titles;
INSERT INTO filters SELECT 'larger', bf_agg(-id, :large, 0.01) FROM titles;

-- Not compressed, so that reading an array costs as little as can be.
CREATE UNLOGGED TABLE batches (titles text[]);
ALTER TABLE batches ALTER titles SET STORAGE external;
INSERT INTO batches SELECT array_agg(title ORDER BY id) FROM asked GROUP BY (id - 1) / 1000;

-- A tenth of the titles and all of them, in 16 filters each, and in one.
CREATE UNLOGGED TABLE shards AS
	SELECT of, hashtextextended(title, 0) & 15 AS shard, bf_agg(title, of / 16, 0.01) AS f
	FROM titles JOIN (VALUES (:rows / 10), (:rows)) AS s (of) ON id <= of GROUP BY 1, 2;
INSERT INTO filters SELECT 'whole ' || of, bf_agg(title, of, 0.01)
	FROM titles JOIN (VALUES (:rows / 10), (:rows)) AS s (of) ON id <= of GROUP BY of;
ALTER TABLE titles SET (parallel_workers = 2);
VACUUM ANALYZE titles, asked, filters, batches, shards;

\if :prewarm
CREATE EXTENSION IF NOT EXISTS pg_prewarm;
SELECT pg_prewarm(name) FROM unnest('{titles,asked,batches}'::regclass[]) AS name \g /dev/null
\endif
