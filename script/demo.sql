-- demo.sql
--	What script/demo runs: titles on psql's standard input, as COPY text.
--	Statements that the reader should see are echoed, by ECHO.

\pset tuples_only on
\pset format unaligned

CREATE EXTENSION bloomext;

CREATE TABLE raw (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL);
CREATE TABLE verdicts (id bigint, title text, seen boolean);

\copy raw (title) from pstdin

-- A btree holds no more than 2,700 bytes of an entry, and such a line is no title.
WITH too_long AS (DELETE FROM raw WHERE octet_length(title) > 2000 RETURNING id)
SELECT format('%s lines of more than 2,000 bytes left out', count(*)) FROM too_long HAVING count(*) > 0;
VACUUM ANALYZE raw;
SELECT greatest(count(*), 1) AS n FROM raw \gset

-- For the report: readable numbers, aligned lines, milliseconds since a moment.
CREATE FUNCTION pg_temp.n(n bigint) RETURNS text LANGUAGE sql AS
$$ SELECT to_char(n, 'FM999,999,999,999') $$;
CREATE FUNCTION pg_temp.percent(part bigint, whole bigint) RETURNS text LANGUAGE sql AS
$$ SELECT to_char(100.0 * part / greatest(whole, 1), 'FM990.0000') || ' %' $$;
CREATE FUNCTION pg_temp.line(what text, value text, remark text DEFAULT '') RETURNS text LANGUAGE sql AS
$$ SELECT rtrim('  ' || rpad(what, 26) || lpad(value, 12) || '   ' || remark) $$;
CREATE FUNCTION pg_temp.line(what text, filter text, btree text, remark text) RETURNS text LANGUAGE sql AS
$$ SELECT pg_temp.line(what, filter, lpad(btree, 12) || '   ' || remark) $$;
CREATE FUNCTION pg_temp.ms(since timestamptz) RETURNS numeric LANGUAGE sql AS
$$ SELECT round(extract(epoch FROM clock_timestamp() - since)::numeric * 1000, 1) $$;

\echo
\echo '--- The crawler: asks the filter before it stores a title, 1,000 titles at a time'
\echo
\set ECHO queries
CREATE PROCEDURE crawl(expected bigint, batch int) LANGUAGE plpgsql AS $$
DECLARE
	f	bloomfilter := bf_create(expected, 0.001);
	ids	bigint[];
	titles	text[];
BEGIN
	FOR start IN 1 .. (SELECT max(id) FROM raw) BY batch LOOP
		SELECT array_agg(id ORDER BY id), array_agg(title ORDER BY id) INTO ids, titles
		FROM raw WHERE id BETWEEN start AND start + batch - 1;

		-- Seen in an earlier batch, says the filter; or earlier in this one.
		INSERT INTO verdicts
		SELECT id, title, seen OR row_number() OVER (PARTITION BY title ORDER BY id) > 1
		FROM unnest(ids, titles, bf_contains_each(f, titles)) AS t (id, title, seen);

		f := coalesce(bf_add_all(f, titles), f);
	END LOOP;
END $$;
\set ECHO none
SELECT clock_timestamp() AS started \gset
\set ECHO queries
CALL crawl(:n, 1000);
\set ECHO none
SELECT pg_temp.ms(:'started') AS crawl_ms \gset

-- The exact answer, to judge by.
SELECT count(*) FILTER (WHERE NOT known) AS distinct,
	   count(*) FILTER (WHERE seen) AS found,
	   count(*) FILTER (WHERE seen AND NOT known) AS false_positives,
	   count(*) FILTER (WHERE NOT seen AND known) AS lost
FROM (SELECT seen, row_number() OVER (PARTITION BY title ORDER BY id) > 1 AS known FROM verdicts) v \gset

\echo
SELECT pg_temp.line('titles read', pg_temp.n(:n), format('in %s ms', :crawl_ms))
UNION ALL SELECT pg_temp.line('distinct, exactly', pg_temp.n(:distinct))
UNION ALL SELECT pg_temp.line('duplicates found', pg_temp.n(:found))
UNION ALL SELECT pg_temp.line('new, but taken for seen', pg_temp.n(:false_positives),
	'false positives: ' || pg_temp.percent(:false_positives, :distinct) || ' of the new; at most 0.1 % are promised')
UNION ALL SELECT pg_temp.line('seen, but taken for new', pg_temp.n(:lost), 'false negatives: there must be none');

\echo
\echo '--- The same filter from a table that is there, and a btree'
\echo
SELECT clock_timestamp() AS started \gset
\set ECHO queries
CREATE TABLE filters AS SELECT bf_agg(title, :n, 0.001) AS f FROM raw;
\set ECHO none
SELECT pg_temp.ms(:'started') AS filter_ms, clock_timestamp() AS started \gset
\set ECHO queries
CREATE INDEX raw_title ON raw (title);
\set ECHO none
SELECT pg_temp.ms(:'started') AS btree_ms \gset
SELECT bytes AS filter_bytes, pg_relation_size('raw_title') AS btree_bytes FROM filters, bf_info(f) \gset

-- Titles written backwards serve as titles that nobody stored.
SELECT count(*) AS strangers, count(*) FILTER (WHERE bf_contains(f, title)) AS taken_for_seen
FROM (SELECT DISTINCT reverse(title) AS title FROM raw EXCEPT SELECT title FROM raw) s, filters \gset
SELECT count(*) AS lost_by_agg FROM raw, filters WHERE NOT bf_contains(f, title) \gset

\echo
SELECT pg_temp.line('', 'filter', 'btree', '')
UNION ALL SELECT pg_temp.line('size, kB', pg_temp.n(:filter_bytes / 1024), pg_temp.n(:btree_bytes / 1024),
	format('the filter is %s times smaller', :btree_bytes / :filter_bytes))
UNION ALL SELECT pg_temp.line('time to build, ms', :filter_ms::text, :btree_ms::text, '')
UNION ALL SELECT pg_temp.line('stored, but not found', pg_temp.n(:lost_by_agg), '0', 'there must be none')
UNION ALL SELECT pg_temp.line('not stored, but "found"', pg_temp.n(:taken_for_seen), '0',
	format('%s of %s titles written backwards; 0.1 %% is promised',
		pg_temp.percent(:taken_for_seen, :strangers), pg_temp.n(:strangers)));

SELECT :lost + :lost_by_agg > 0 AS broken \gset
\if :broken
	DO $$ BEGIN RAISE EXCEPTION 'the filter lost titles that were added to it: this is a bug'; END $$;
\endif
