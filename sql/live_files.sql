-- An element goes with the file that its row went into, whatever table and index have
-- that when the transaction commits.  What rewrites tables beside their writers puts
-- rows into a copy and has the two swap their files; so do these.  Only
-- disagreements are printed.
SET client_min_messages = error;
SET allow_system_table_mods = on;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE bloomext_other LOCATION '';
CREATE SCHEMA files;
SET search_path = files, public;

CREATE PROCEDURE swap(names text[]) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. cardinality(names) BY 2 LOOP
		UPDATE pg_class AS c SET relfilenode = o.relfilenode, reltablespace = o.reltablespace
		FROM pg_class AS o
		WHERE (c.oid, o.oid) IN ((names[i]::regclass, names[i + 1]::regclass), (names[i + 1]::regclass, names[i]::regclass));
	END LOOP;
END $$;

-- Swap the tables t and s with their indexes.
CREATE PROCEDURE swap_all() LANGUAGE sql AS $$
	CALL swap('{t, s, t_bf, s_bf, t_int, s_int}');
$$;

-- Tables that are alike, with two filters each: of titles, and of few categories, whose
-- hashes a filter of titles has no use for.
CREATE PROCEDURE make(temporary text DEFAULT '') LANGUAGE plpgsql AS $$
DECLARE tab text;
BEGIN
	FOREACH tab IN ARRAY ARRAY['t', 's'] LOOP
		EXECUTE format('DROP TABLE IF EXISTS %I', tab);
		EXECUTE format('CREATE %s TABLE %I (title text, n int)', temporary, tab);
		EXECUTE format('INSERT INTO %I SELECT %1$L || i, i FROM generate_series(1, 20) AS i', tab);
		EXECUTE format('CREATE INDEX %I ON %I USING bloomfilter (title) WITH (expected = 2000, fpp = 0.0001)', tab || '_bf', tab);
		EXECUTE format('CREATE INDEX %I ON %I USING bloomfilter (n) WITH (expected = 20, fpp = 0.0001)', tab || '_int', tab);
	END LOOP;
END $$;

-- What is denied of the rows that there are, and filters that say "maybe" to much that
-- never was.
CREATE FUNCTION wrong(step text) RETURNS TABLE (at text, what text, n bigint) LANGUAGE plpgsql AS $$
DECLARE tab text;
BEGIN
	FOREACH tab IN ARRAY ARRAY['t', 's'] LOOP
		CONTINUE WHEN to_regclass(tab) IS NULL;
		RETURN QUERY EXECUTE format($q$
			SELECT %L, 'rows of %2$s are denied', count(*) FROM %2$s
			WHERE NOT bf_live_contains('%2$s', title) OR NOT bf_live_contains('%2$s', n) HAVING count(*) > 0
			UNION ALL
			SELECT %1$L, '%2$s does not deny', count(*) FROM generate_series(1, 1000) AS i
			WHERE bf_live_contains('%2$s', 'absent ' || i) OR bf_live_contains('%2$s', -i) HAVING count(*) > 20$q$, step, tab);
		IF (SELECT bool_or(plain.missing > 0) FROM bf_live_verify(tab || '_bf') AS plain) THEN
			RETURN QUERY SELECT step, 'bf_live_verify', 1::bigint;
		END IF;
	END LOOP;
END $$;

-- The least case.
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
SELECT * FROM wrong('swapped, before commit');
SELECT 'late' WHERE NOT bf_live_contains('t', 'late') OR NOT bf_live_contains('t', 1000);
SELECT 'late is not copied' WHERE NOT bf_contains(bf_live_filter('t_bf'), 'late'::text);
COMMIT;
SELECT * FROM wrong('swapped');

-- The index has its former file for a while after it was built anew: what comes then
-- was not read by the build.
CALL make();
BEGIN;
SELECT pg_relation_filenode('t_bf') AS former \gset
REINDEX INDEX t_bf;
SELECT pg_relation_filenode('t_bf') AS built \gset
UPDATE pg_class SET relfilenode = :former WHERE oid = 't_bf'::regclass;
INSERT INTO t VALUES ('after the build', 1000);
UPDATE pg_class SET relfilenode = :built WHERE oid = 't_bf'::regclass;
SELECT * FROM wrong('built in between, before commit');
COMMIT;
SELECT * FROM wrong('built in between');

-- The copy is gone by then, and its index.
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
INSERT INTO t VALUES ('later', 1001);
DROP TABLE s;
SELECT * FROM wrong('dropped, before commit');
COMMIT;
SELECT * FROM wrong('dropped');

-- Savepoints: what is undone swaps back, and takes its rows along.
CALL make();
BEGIN;
INSERT INTO s VALUES ('before', 1000);
SAVEPOINT a;
CALL swap_all();
INSERT INTO s VALUES ('undone', 1001);
INSERT INTO t VALUES ('undone, too', 1002);
SELECT * FROM wrong('in a savepoint');
ROLLBACK TO a;
SELECT * FROM wrong('undone');
INSERT INTO t VALUES ('after', 1003);
CALL swap_all();
RELEASE a;
INSERT INTO t VALUES ('last', 1004);
COMMIT;
SELECT * FROM wrong('swapped after an undone swap');
SELECT 'undone' WHERE bf_live_contains('t', 'undone') OR bf_live_contains('s', 'undone');

-- More than a batch, of which a part is stored before and a part after the swap.
CALL make();
ALTER INDEX t_bf SET (expected = 200000);
ALTER INDEX s_bf SET (expected = 200000);
ALTER INDEX t_int SET (expected = 200000);
ALTER INDEX s_int SET (expected = 200000);
REINDEX TABLE t;
REINDEX TABLE s;
BEGIN;
INSERT INTO s SELECT 'many ' || i, i FROM generate_series(1, 40000) AS i;
CALL swap_all();
INSERT INTO s SELECT 'more ' || i, i + 50000 FROM generate_series(1, 40000) AS i;
COMMIT;
SELECT * FROM wrong('a batch');

-- A file that was swapped and then copied to another tablespace; that of the rows, too.
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
ALTER INDEX t_bf SET TABLESPACE bloomext_other;
ALTER INDEX t_int SET TABLESPACE bloomext_other;
SELECT * FROM wrong('the index is elsewhere, before commit');
COMMIT;
SELECT * FROM wrong('the index is elsewhere');
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
ALTER TABLE t SET TABLESPACE bloomext_other;
ALTER INDEX t_bf SET TABLESPACE bloomext_other;
ALTER INDEX t_int SET TABLESPACE bloomext_other;
SELECT * FROM wrong('all is elsewhere, before commit');
COMMIT;
SELECT * FROM wrong('all is elsewhere');

-- Not swapped, but of another type, and then elsewhere: the index is a new one.
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
ALTER TABLE s ALTER title TYPE varchar(1000);
ALTER TABLE s ALTER title TYPE varchar;
ALTER INDEX s_bf SET TABLESPACE bloomext_other;
SELECT * FROM wrong('of another type, before commit');
COMMIT;
SELECT * FROM wrong('of another type');

-- Temporary tables have files whose numbers others' may have, too.
CALL make('TEMP');
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
SELECT * FROM wrong('temporary, before commit');
COMMIT;
SELECT * FROM wrong('temporary');
CALL make('UNLOGGED');
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CALL swap_all();
COMMIT;
SELECT * FROM wrong('unlogged');

-- Of one table only the indexes are swapped, and one is copied.
CALL make();
BEGIN;
INSERT INTO s VALUES ('late', 1000);
CREATE INDEX s_new ON s USING bloomfilter (title) WITH (fpp = 0.0001);
CALL swap('{s_bf, s_new}');
ALTER INDEX s_new SET TABLESPACE bloomext_other;
SELECT 'late' WHERE NOT bf_live_contains('s_new', 'late');
COMMIT;
SELECT * FROM wrong('indexes alone');
SELECT * FROM bf_live_verify('s_new') WHERE missing > 0;

-- A swap that is rolled back, with an emptying in place that cannot be.
CALL make();
BEGIN;
CREATE TABLE twin (LIKE t INCLUDING ALL);
CALL swap('{t, twin, t_bf, twin_title_idx, t_int, twin_n_idx}');
ALTER TABLE twin SET TABLESPACE bloomext_other;
TRUNCATE twin;
ROLLBACK;
SELECT 'denied', count(*) FROM t WHERE NOT bf_live_contains('t', title) HAVING count(*) > 0;

-- Elements whose filter is gone do not fill others, made for few: neither of another
-- type, nor of another table that this transaction made.
CALL make();
BEGIN;
INSERT INTO s SELECT 'many ' || i, 5 FROM generate_series(1, 3000) AS i;
DROP INDEX s_bf;
COMMIT;
SELECT 'full of titles' FROM bf_live_info('s_int') WHERE estimated_fpp > 0.001;
CALL make();
CREATE INDEX t_other ON t USING bloomfilter (lower(title)) WITH (expected = 40, fpp = 0.0001);
BEGIN;
INSERT INTO s SELECT 'many ' || i, 5 FROM generate_series(1, 3000) AS i;
TRUNCATE s;
ALTER INDEX t_bf SET (plans = on);
ALTER TABLE t ALTER title TYPE varchar;
COMMIT;
SELECT 'full of what was emptied', index FROM bf_live_filters WHERE index::text ~ '^t_' AND estimated_fpp > 0.001;
BEGIN;
INSERT INTO t SELECT 'Title', 5 FROM generate_series(1, 3000) AS i;
DROP INDEX t_bf;
CREATE INDEX t_bf ON t USING bloomfilter (title) WITH (expected = 40, fpp = 0.0001);
COMMIT;
SELECT 'full of another column', index FROM bf_live_filters WHERE index::text ~ '^t_' AND estimated_fpp > 0.001;
CALL make();
BEGIN;
CREATE TABLE neighbour (title text);
CREATE INDEX ON neighbour USING bloomfilter (title) WITH (expected = 20, fpp = 0.0001);
INSERT INTO neighbour VALUES ('mine');
INSERT INTO s SELECT 'many ' || i, 5 FROM generate_series(1, 3000) AS i;
ALTER TABLE s ALTER title TYPE varchar USING title || '!';
COMMIT;
SELECT * FROM wrong('rewritten');
SELECT 'the neighbour is full' FROM bf_live_info('neighbour') WHERE estimated_fpp > 0.001;
SELECT 'mine' WHERE NOT bf_live_contains('neighbour', 'mine');

DROP SCHEMA files CASCADE;
DROP TABLESPACE bloomext_other;
