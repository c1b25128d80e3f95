-- The view of all live filters, as far as one session can tell: what is due,
-- and who may know.
\set VERBOSITY sqlstate
CREATE SCHEMA care;
SET search_path = care, public;
CREATE VIEW seen AS
SELECT f.index, f.col, estimated_count, expected, round(fill::numeric, 2) AS fill, fpp,
	round(estimated_fpp::numeric, 3) AS estimated_fpp, layers, expansion, due, reason
FROM bf_live_filters AS f JOIN pg_class AS c ON c.oid = f.index
WHERE c.relnamespace IN ('care'::regnamespace, pg_my_temp_schema());

-- Every column has a comment, and the whole.
SELECT attname FROM pg_attribute
WHERE attrelid = 'bf_live_filters'::regclass AND attnum > 0
	AND coalesce(col_description(attrelid, attnum), '') = '';
SELECT obj_description('bf_live_filters'::regclass) IS NOT NULL AS described;

-- Filters of fixed size.
CREATE TABLE fixed (id int, title text);
INSERT INTO fixed SELECT g, 'title ' || g FROM generate_series(1, 5000) AS g;
CREATE INDEX fine ON fixed USING bloomfilter (title) WITH (expected = 10000);
CREATE INDEX of_expression ON fixed USING bloomfilter ((lower(title) || '!')) WITH (expected = 10000);
CREATE INDEX of_some ON fixed USING bloomfilter (id) WITH (expected = 10000) WHERE id <= 100;
CREATE INDEX over_full ON fixed USING bloomfilter (id) WITH (expected = 2000);
CREATE INDEX all_bits ON fixed USING bloomfilter (id) WITH (expected = 10);
SELECT * FROM seen ORDER BY 1;
SELECT index, relation, bytes = pg_relation_size(index) AS size, action
FROM bf_live_filters WHERE relation = 'fixed'::regclass AND due <> 'nothing' ORDER BY 1;

-- What VACUUM warns of is what the view says.
SELECT index, due, action FROM bf_live_filters WHERE index = 'over_full'::regclass;
\set VERBOSITY terse
VACUUM fixed;
\set VERBOSITY sqlstate

-- Statements are to be run as they are.
SELECT unnest(action) FROM bf_live_filters
WHERE relation = 'fixed'::regclass AND due = 'REINDEX' ORDER BY index \gexec
SELECT index, due, layers, expected FROM seen WHERE index::text ~ 'over|bits' ORDER BY 1;

-- Elements that wait for their bits count.
CREATE TABLE waiting (title text);
CREATE INDEX waiting_title ON waiting USING bloomfilter (title) WITH (expected = 1000000, fpp = 0.0001);
INSERT INTO waiting SELECT 'title ' || g FROM generate_series(1, 5) AS g;
SELECT pending FROM bf_live_info('waiting');
SELECT estimated_count, fill FROM seen WHERE index = 'waiting_title'::regclass;
VACUUM waiting;
SELECT pending FROM bf_live_info('waiting');
SELECT estimated_count > 0 AS has_bits, due FROM seen WHERE index = 'waiting_title'::regclass;

-- One that grows is full before as many rows came as were expected.
CREATE TABLE growing (id int, title text) WITH (autovacuum_enabled = off);
CREATE INDEX growing_title ON growing USING bloomfilter (title) WITH (expected = 100000, expansion = 2);
DO $$
BEGIN
	FOR from_id IN 93001..100000 BY 350 LOOP
		INSERT INTO growing SELECT g, 'title ' || g FROM generate_series(CASE from_id WHEN 93001 THEN 1 ELSE from_id END, from_id + 349) AS g;
		COMMIT;
		EXIT WHEN (SELECT due FROM seen WHERE index = 'growing_title'::regclass) = 'growth';
	END LOOP;
END
$$;
SELECT expected, layers, expansion, due, reason FROM seen WHERE index = 'growing_title'::regclass;
INSERT INTO growing SELECT g, 'new ' || g FROM generate_series(1, 1000) AS g;
SELECT expected, layers, expansion, due, reason FROM seen WHERE index = 'growing_title'::regclass;
DROP TABLE growing;

-- Many layers, and rows that come and go.
CREATE TABLE layered (id int) WITH (autovacuum_enabled = off);
CREATE INDEX many_layers ON layered USING bloomfilter (id) WITH (expected = 10, expansion = 2);
CREATE INDEX some_layers ON layered USING bloomfilter (id) WITH (expected = 1000, expansion = 2);
CREATE INDEX alike ON layered USING bloomfilter (id) WITH (expected = 2000, expansion = 1);
CREATE INDEX no_more ON layered USING bloomfilter (id) WITH (expected = 10, expansion = 1, fpp = 0.001);
CREATE INDEX large ON layered USING bloomfilter (id);
INSERT INTO layered SELECT g FROM generate_series(1, 8000) AS g;
SELECT index, layers > 1 AS several, layers > 8 AS many, due, reason FROM seen WHERE index::text ~ 'layers|alike|large|more' ORDER BY 1;
-- Nothing is outgrown by rows that nobody counted.
DELETE FROM layered WHERE id > 500;
SELECT index, due, reason FROM seen WHERE index::text ~ 'some_layers|large' ORDER BY 1;
SET client_min_messages = error;
VACUUM layered;
RESET client_min_messages;
SELECT index, due, reason FROM seen WHERE index::text ~ 'some_layers|large' ORDER BY 1;
SELECT unnest(action) FROM bf_live_filters WHERE relation = 'layered'::regclass AND due = 'REINDEX' ORDER BY index \gexec
SELECT index, layers, expected, estimated_count BETWEEN 490 AND 510 AS counted, due FROM seen WHERE index::text ~ 'layers|alike|large|more' ORDER BY 1;

-- A row for each partition's filter, and one for the whole.
CREATE TABLE parted (id int) PARTITION BY LIST (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE part2 PARTITION OF parted FOR VALUES IN (2);
CREATE INDEX parted_id ON parted USING bloomfilter (id);
CREATE TEMPORARY TABLE own (id int);
CREATE INDEX own_id ON own USING bloomfilter (id);
CREATE UNLOGGED TABLE unlogged (id int);
CREATE INDEX unlogged_id ON unlogged USING bloomfilter (id);
SELECT index, col, estimated_count, due FROM seen WHERE index::text ~ 'part|own|unlogged' ORDER BY index::text;

-- What the view calls "maybe" is what is answered: a name and what is told, where
-- they disagree.
CREATE FUNCTION disagreements() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	f record;
	answer boolean;
BEGIN
	SET LOCAL client_min_messages = error;
	FOR f IN SELECT l.index, l.maybe IS NOT NULL AS maybe, a.atttypid = 'int'::regtype AS of_int FROM bf_live_filters AS l
		JOIN pg_class AS c ON c.oid = l.index JOIN pg_attribute AS a ON a.attrelid = c.oid
		WHERE c.relnamespace IN ('care'::regnamespace, pg_my_temp_schema()) AND l.estimated_fpp IS DISTINCT FROM 1 ORDER BY c.relname
	LOOP
		IF f.of_int THEN
			answer := bf_live_contains(f.index, -3);
		ELSE
			answer := bf_live_contains(f.index, 'absent');
		END IF;
		IF answer IS DISTINCT FROM f.maybe THEN
			RETURN NEXT format('%s: %s, told %s', f.index, answer, f.maybe);
		END IF;
	END LOOP;
END $$;
CREATE FOREIGN DATA WRAPPER nowhere;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nowhere;
CREATE TABLE far (id int) PARTITION BY LIST (id);
CREATE TABLE near PARTITION OF far FOR VALUES IN (1);
CREATE INDEX far_id ON far USING bloomfilter (id);
CREATE FOREIGN TABLE farther PARTITION OF far FOR VALUES IN (2) SERVER nowhere;
CREATE TABLE half (id int, title text) PARTITION BY LIST (id);
CREATE TABLE half1 PARTITION OF half FOR VALUES IN (1) PARTITION BY LIST (id);
CREATE TABLE half11 PARTITION OF half1 FOR VALUES IN (1);
CREATE TABLE half2 PARTITION OF half FOR VALUES IN (2);
CREATE INDEX half_title ON ONLY half USING bloomfilter (title);
CREATE INDEX half1_title ON half1 USING bloomfilter (title);
ALTER INDEX half_title ATTACH PARTITION half1_title;
CREATE VIEW unsure AS
SELECT index, due, maybe, reason = maybe AS said FROM bf_live_filters WHERE relation::text ~ '^(far|near|half|part)' ORDER BY index::text;
SELECT * FROM unsure;
SELECT disagreements();
CREATE INDEX half2_title ON half2 USING bloomfilter (title);
ALTER INDEX half_title ATTACH PARTITION half2_title;
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'half2_title'::regclass;
SELECT * FROM unsure WHERE maybe IS NOT NULL;
SELECT disagreements();
DROP FOREIGN TABLE farther;
UPDATE pg_index SET indisvalid = true WHERE indexrelid = 'half2_title'::regclass;
SELECT * FROM unsure WHERE maybe IS NOT NULL;
SELECT disagreements();
DROP FOREIGN DATA WRAPPER nowhere CASCADE;

-- What is no live filter has no state.
CREATE TABLE other (id int PRIMARY KEY);
SELECT bf_live_state('other') IS NULL AS a, bf_live_state('other_pkey') IS NULL AS b, bf_live_state('seen') IS NULL AS c,
	bf_live_state('parted_id') IS NULL AS d, bf_live_state(NULL) IS NULL AS e, bf_live_state('fine') IS NULL AS f;
SELECT (bf_live_state(4294967295)).*;

-- Not valid, or not valid yet.
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'all_bits'::regclass;
SELECT * FROM seen WHERE index = 'all_bits'::regclass;
CREATE FUNCTION asks(x int) RETURNS int IMMUTABLE LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
	RAISE WARNING 'while it is built: %', (SELECT (due, reason) FROM seen WHERE index::text = 'of_asking');
	RETURN x;
END $$;
CREATE TABLE asking AS SELECT 1 AS id;
\set VERBOSITY terse
CREATE INDEX of_asking ON asking USING bloomfilter (asks(id));
REINDEX INDEX of_asking;
\set VERBOSITY sqlstate
SELECT col, estimated_count, due, reason FROM seen WHERE index = 'of_asking'::regclass;

-- No locks stay, and no snapshot or transaction is needed.
BEGIN;
SELECT count(*) > 0 AS some FROM bf_live_filters;
SELECT relation::regclass FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ 'fixed|fine|over_full';
SELECT pg_current_xact_id_if_assigned() IS NULL AS no_xid;
ROLLBACK;

-- Who may know.
CREATE ROLE care_reader;
CREATE ROLE care_monitor IN ROLE pg_monitor;
CREATE ROLE care_owner;
GRANT USAGE ON SCHEMA care TO care_reader, care_monitor, care_owner;
GRANT SELECT ON seen TO care_reader, care_monitor, care_owner;
CREATE VIEW of_caller AS SELECT s.due, c.relname FROM pg_class AS c, bf_live_state(c.oid) AS s
WHERE c.relname IN ('fine', 'of_expression', 'of_some', 'over_full') AND c.relnamespace = 'care'::regnamespace AND NOT s IS NULL;
GRANT SELECT ON of_caller TO care_reader;
CREATE FUNCTION known(who text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE list text;
BEGIN
	EXECUTE format('SET LOCAL ROLE %I', who);
	SELECT string_agg(index::text, ' ' ORDER BY index::text) INTO list FROM public.bf_live_filters WHERE relation = 'care.fixed'::regclass;
	RESET ROLE;
	RETURN list;
END $$;
SELECT known('care_reader'), known('care_monitor');
GRANT SELECT (title) ON fixed TO care_reader;
SELECT known('care_reader');
GRANT SELECT (id) ON fixed TO care_reader;
SELECT known('care_reader');
SET ROLE care_reader;
SELECT * FROM of_caller ORDER BY relname;
RESET ROLE;
GRANT SELECT ON fixed TO care_reader;
SELECT known('care_reader');
ALTER TABLE fixed OWNER TO care_owner;
ALTER TABLE fixed ENABLE ROW LEVEL SECURITY;
SELECT known('care_reader'), known('care_owner') IS NOT NULL AS owner, known('care_monitor') IS NOT NULL AS monitor;
ALTER TABLE fixed FORCE ROW LEVEL SECURITY;
SELECT known('care_owner'), known('care_monitor') IS NOT NULL AS monitor;

DROP SCHEMA care CASCADE;
DROP ROLE care_reader, care_monitor, care_owner;
