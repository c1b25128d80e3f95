-- Live filters of a strategy with blocks: an element has all of its bits on one
-- page, and waits on the pending page of a range of those, which is flushed alone.
\set VERBOSITY terse
SET client_min_messages = warning;

CREATE TABLE blocks (id bigint, t text) WITH (autovacuum_enabled = off);
CREATE INDEX blocks_id ON blocks USING bloomfilter (id) WITH (expected = 3000000, fpp = 0.0001, strategy = parquet);
CREATE INDEX blocks_t ON blocks USING bloomfilter (t) WITH (expected = 3000000, fpp = 0.0001);
SELECT index, strategy, hashes, bits % 256 AS rest FROM bf_live_info('blocks') ORDER BY strategy;

-- Rows that come alone wait.  When a page is full, its own elements get their bits,
-- some 500 of them; of guava, all that wait do.
CREATE PROCEDURE fill_blocks(rows int, INOUT most_flushed int, INOUT most_flushed_guava int) LANGUAGE plpgsql AS $$
DECLARE
	waiting int[] := ARRAY(SELECT pending FROM bf_live_info('blocks') ORDER BY strategy DESC);
	now int[];
BEGIN
	FOR g IN 1..rows LOOP
		INSERT INTO blocks VALUES (g, 'b' || g);
		COMMIT;
		IF g % 25 = 0 THEN
			now := ARRAY(SELECT pending FROM bf_live_info('blocks') ORDER BY strategy DESC);
			most_flushed := greatest(most_flushed, waiting[1] - now[1]);
			most_flushed_guava := greatest(most_flushed_guava, waiting[2] - now[2]);
			waiting := now;
		END IF;
	END LOOP;
	most_flushed := most_flushed / 100;
	most_flushed_guava := most_flushed_guava / 100;
END
$$;
CALL fill_blocks(3000, 0, 0);
SELECT layer, pending BETWEEN 1 AND 2036 AS waiting FROM bf_live_layers('blocks_id');
SELECT sum(rows_checked) AS rows_checked, sum(missing) AS missing FROM unnest('{blocks_id,blocks_t}'::regclass[]) AS i, bf_live_verify(i);
SELECT count(*) FILTER (WHERE bf_live_contains('blocks', id)) AS found, count(*) FILTER (WHERE NOT bf_live_contains('blocks', -id)) > 2990 AS absent FROM blocks;
SELECT bf_live_filter('blocks_id') = bf_agg(id, 3000000, 0.0001, 'parquet') AS as_aggregated FROM blocks;
-- After a flush, what is measured page by page is what a value says.
VACUUM blocks;
SELECT layer, pending FROM bf_live_layers('blocks_id');
SELECT (l.bits_set, l.estimated_count, l.estimated_fpp) = (v.bits_set, v.estimated_count, v.estimated_fpp) AS same
FROM bf_live_info('blocks_id') l, bf_info(bf_live_filter('blocks_id')) v;
SELECT sum(missing) AS missing FROM unnest('{blocks_id,blocks_t}'::regclass[]) AS i, bf_live_verify(i);

-- A batch that many pages are changed for sets its bits, as does a build.
INSERT INTO blocks SELECT g, 'b' || g FROM generate_series(3001, 60000) AS g;
SELECT missing, pending < 2036 AS few FROM bf_live_verify('blocks_id'), bf_live_info('blocks_id');
REINDEX INDEX blocks_id;
SELECT bf_live_filter('blocks_id') = bf_agg(id, 3000000, 0.0001, 'parquet') AS as_aggregated, bf_fpp(bf_live_filter('blocks_id')) < 1e-4 AS sparse FROM blocks;

-- What a lookup of an element reads: metapage, pending page and the page of its bits.
CREATE FUNCTION pg_temp.pages_read(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	FOR i IN 1..3 LOOP
		EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT json, TIMING off) ' || query INTO plan;
	END LOOP;
	RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::int + (plan->0->'Plan'->>'Shared Read Blocks')::int;
END
$$;
-- PostgreSQL 14 does not count pages that are still in the buffer where they were before.
SELECT parquet, guava FROM (SELECT
	pg_temp.pages_read($$SELECT bf_live_contains_each('blocks', array_agg(g::bigint)) FROM generate_series(1, 1000) AS g$$) AS parquet,
	pg_temp.pages_read($$SELECT bf_live_contains_each('blocks', array_agg('b' || g)) FROM generate_series(1, 1000) AS g$$) AS guava) AS pages
WHERE (parquet, guava) <> (2000, 14000) AND current_setting('server_version_num')::int >= 150000;

-- Kinds of elements that no file has a filter of.
CREATE TABLE booleans (b boolean);
CREATE INDEX ON booleans USING bloomfilter (b) WITH (strategy = parquet);
CREATE INDEX ON blocks USING bloomfilter (t) WITH (strategy = parquet, funnel = utf16);
-- Times here are microseconds, whatever a file's are.
CREATE TABLE times (at timestamptz, day date, o oid);
CREATE INDEX ON times USING bloomfilter (at) WITH (strategy = parquet);
CREATE INDEX ON times USING bloomfilter (day) WITH (strategy = parquet);
CREATE INDEX ON times USING bloomfilter (o) WITH (strategy = parquet);
INSERT INTO times SELECT timestamptz '2024-05-01 00:00+00' + g * interval '1 min', date '2024-05-01' + g, 4294960000 + g FROM generate_series(1, 3000) AS g;
SELECT count(*) FROM times WHERE NOT bf_live_contains('times', at) OR NOT bf_live_contains('times', day) OR NOT bf_live_contains('times', o);
SELECT count(*) AS filters, sum(missing) AS missing FROM unnest('{times_at_idx,times_day_idx,times_o_idx}'::regclass[]) AS i, bf_live_verify(i);
DROP TABLE blocks, booleans, times;
DROP PROCEDURE fill_blocks;
