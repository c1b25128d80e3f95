-- All columns of filters, what they hold and what is due, as far as one session can
-- tell.
CREATE SCHEMA stored;
SET search_path = stored, public;
CREATE DOMAIN filter AS bloomfilter;
CREATE DOMAIN narrow AS filter CHECK (VALUE IS NULL OR bf_count(VALUE) < 1000000);
CREATE VIEW seen AS
SELECT relation, col, filters, missing, over_full, round(fill::numeric, 2) AS fill,
	round(estimated_fpp::numeric, 3) AS fpp, bytes, due, reason
FROM bf_stored_filters() AS f JOIN pg_class AS c ON c.oid = f.relation
WHERE c.relnamespace IN ('stored'::regnamespace, pg_my_temp_schema());

CREATE FUNCTION titles(n int) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg('title ' || g) FROM generate_series(1, n) AS g $$;
CREATE TABLE nothing_in_it (f bloomfilter);
CREATE TABLE kept (gone int, name text PRIMARY KEY, "of Titles" bloomfilter, also narrow, list bloomfilter[]);
ALTER TABLE kept DROP COLUMN gone;
INSERT INTO kept VALUES ('fine', bf_add_all(bf_create(1000, 0.01), titles(1000))),
	('too small', bf_add_all(bf_create(100, 0.01), titles(1000))),
	('NULL', NULL), ('grows', bf_add_all(bf_create(100, 0.01, 'guava', NULL, 1), titles(1000)));
CREATE TABLE imported (f bloomfilter);
INSERT INTO imported SELECT bf_import(bf_export(f, 'guava'), 'guava') FROM (VALUES (bf_add_all(bf_create(1000), titles(1000)))) AS v (f);
CREATE TABLE parted (id int, f bloomfilter) PARTITION BY LIST (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF parted FOR VALUES IN (2);
INSERT INTO parted VALUES (1, bf_create(10)), (2, bf_create(10)), (2, bf_create(20));
CREATE MATERIALIZED VIEW copied AS SELECT "of Titles" AS f FROM kept;
CREATE MATERIALIZED VIEW unfilled AS SELECT "of Titles" AS f FROM kept WITH NO DATA;
CREATE VIEW no_rows_of_its_own AS SELECT "of Titles" AS f FROM kept;
CREATE TEMPORARY TABLE own (f filter);
INSERT INTO own SELECT bf_create(10);
SELECT * FROM seen ORDER BY relation::text, col;

-- What is told is what bf_info tells.
SELECT * FROM (SELECT "of Titles" AS f FROM kept) AS k, bf_info(f) AS i, bf_stored_filters() AS s
WHERE s.relation = 'kept'::regclass AND s.col = 'of Titles' AND (i.fill > s.fill OR i.estimated_fpp > s.estimated_fpp);
SELECT s.bytes - sum(i.bytes) AS bytes, s.filters - count(k."of Titles") AS filters
FROM bf_stored_filters() AS s, kept AS k LEFT JOIN bf_info(k."of Titles") AS i ON true
WHERE s.relation = 'kept'::regclass AND s.col = 'of Titles' GROUP BY s.bytes, s.filters;

-- Statements are to be run as they are, in any schema.
SELECT unnest(action) AS action FROM bf_stored_filters() WHERE relation = 'kept'::regclass AND due = 'rebuild' \gset
\echo :action
SET search_path = pg_catalog;
SELECT ctid, expected, round(estimated_fpp::numeric, 2) AS fpp FROM (:action) AS listed;
SET search_path = stored, public;

-- It sees what the statement sees, and needs no transaction id.
BEGIN;
SELECT filters FROM bf_stored_filters() WHERE relation = 'nothing_in_it'::regclass;
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ 'kept|imported|part';
INSERT INTO nothing_in_it VALUES (bf_create(10));
SELECT filters FROM bf_stored_filters() WHERE relation = 'nothing_in_it'::regclass;
ROLLBACK;

-- What is damaged, and which; others are told of as ever.
CREATE TABLE damaged AS SELECT f::text::bytea AS f FROM (VALUES (1, bf_create(10)), (2, bf_create(20))) AS v (i, f) ORDER BY i;
INSERT INTO damaged VALUES ('damaged');
UPDATE pg_attribute SET atttypid = 'bloomfilter'::regtype WHERE attrelid = 'damaged'::regclass AND attname = 'f';
SELECT relation, filters, due, reason FROM seen WHERE relation::text IN ('damaged', 'imported') ORDER BY 1;
DELETE FROM damaged WHERE ctid = '(0,3)';
SELECT relation, filters, due, reason FROM seen WHERE relation = 'damaged'::regclass;
UPDATE pg_attribute SET atttypid = 'bytea'::regtype WHERE attrelid = 'damaged'::regclass AND attname = 'f';

-- Who may know; and nothing that the owner wrote is run.
CREATE ROLE stored_reader;
CREATE ROLE stored_all IN ROLE pg_read_all_data;
CREATE FUNCTION known(who text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE list text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', who);
	SELECT string_agg(concat_ws(' ', regexp_replace(relation::text, '.*\.', ''), col, filters, reason), '; ' ORDER BY relation::text, col)
	INTO list FROM public.bf_stored_filters() WHERE relation::text ~ 'kept|part';
	RESET ROLE;
	RETURN list;
END $$;
SELECT known('stored_reader'), known('stored_all');
GRANT SELECT (also) ON kept TO stored_reader;
GRANT SELECT ON part2 TO stored_reader;
SELECT known('stored_reader');
CREATE FUNCTION traps(who name) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'the owner''s code is run by %', who;
END $$;
CREATE POLICY trap ON part2 USING (traps(current_user));
ALTER TABLE part2 ENABLE ROW LEVEL SECURITY;
SELECT known('stored_reader'), known('stored_all');
SELECT relation, filters, reason FROM seen WHERE relation = 'part2'::regclass;
SET client_min_messages = warning;
DROP SCHEMA stored CASCADE;
DROP TABLE own;
DROP ROLE stored_reader, stored_all;
