-- Live filters: what a single session can tell.  Prints only what is wrong,
-- or what has to be seen.
\set VERBOSITY sqlstate
\set ON_ERROR_STOP off

-- Every operator class is what the access method can mean.
SELECT opcname FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = c.opcmethod
WHERE a.amname = 'bloomfilter' AND NOT amvalidate(c.oid);

-- And what it cannot mean is noticed.
CREATE OPERATOR CLASS less_ops FOR TYPE text USING bloomfilter AS
	OPERATOR 1 < (text, text);
CREATE OPERATOR CLASS float_ops FOR TYPE float8 USING bloomfilter AS
	OPERATOR 1 = (float8, float8);
CREATE OPERATOR CLASS wide_ops FOR TYPE int4 USING bloomfilter AS
	OPERATOR 1 = (int4, int8);
CREATE OPERATOR CLASS date_ops FOR TYPE date USING bloomfilter AS
	OPERATOR 1 = (date, date), OPERATOR 1 = (date, timestamp);
CREATE OPERATOR CLASS left_ops FOR TYPE int4 USING bloomfilter AS
	OPERATOR 1 = (int4, int4), OPERATOR 1 = (int8, int4);
CREATE OPERATOR CLASS unlike_ops FOR TYPE int4 USING bloomfilter AS
	OPERATOR 1 = (int4, int4), OPERATOR 1 <> (int4, int8);
SET client_min_messages = error;
SELECT opcname, amvalidate(c.oid) FROM pg_opclass AS c
JOIN pg_am AS a ON a.oid = c.opcmethod
WHERE a.amname = 'bloomfilter' AND NOT opcdefault
ORDER BY opcname;
RESET client_min_messages;
DROP OPERATOR FAMILY less_ops USING bloomfilter;
DROP OPERATOR FAMILY float_ops USING bloomfilter;
DROP OPERATOR FAMILY wide_ops USING bloomfilter;
DROP OPERATOR FAMILY date_ops USING bloomfilter;
DROP OPERATOR FAMILY left_ops USING bloomfilter;
DROP OPERATOR FAMILY unlike_ops USING bloomfilter;

-- Another type is in a family only where it hashes alike.
SELECT amoplefttype::regtype AS "left", string_agg(amoprighttype::regtype::text, ' ' ORDER BY amoprighttype) AS "right"
FROM pg_amop AS o JOIN pg_am AS a ON a.oid = o.amopmethod
WHERE a.amname = 'bloomfilter' AND amoplefttype <> amoprighttype GROUP BY 1 ORDER BY 1;

-- No scans, no order, nothing unique.
SELECT pg_indexam_has_property(oid, p) AS has, count(*)
FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) AS p
WHERE amname = 'bloomfilter' GROUP BY 1;

-- Each type, equal to the aggregate over the same rows.
CREATE DOMAIN title_domain AS varchar(100);
CREATE TABLE live (
	id serial, t text, v varchar, d title_domain, b bytea, i2 smallint,
	i4 integer, i8 bigint, u uuid
);
INSERT INTO live (t, v, d, b, i2, i4, i8, u)
SELECT 't' || g, 'v' || g, 'd' || g, ('b' || g)::bytea, g, -g, g * 10000000000,
	md5(g::text)::uuid
FROM generate_series(1, 1000) AS g;
INSERT INTO live (t, v, d, b, i2, i4, i8, u) VALUES ('', '', '', '', 0, 0, 0,
	'00000000-0000-0000-0000-000000000000');
INSERT INTO live DEFAULT VALUES;
DO $$
DECLARE
	col text;
	strat text;
	equal boolean;
	missing bigint;
	wrong bigint;
BEGIN
	FOR col, strat IN
		SELECT c, s FROM unnest('{t,v,d,b,i2,i4,i8,u}'::text[]) AS c,
			unnest('{guava,guava32,spark1,spark2,parquet}'::text[]) AS s
	LOOP
		EXECUTE format('CREATE INDEX live_i ON live USING bloomfilter (%I)
			WITH (expected = 5000, fpp = 0.01, strategy = %s)', col, strat);
		EXECUTE format('INSERT INTO live (%1$I) SELECT %1$I FROM live WHERE id <= 10', col);
		EXECUTE format('SELECT bf_live_filter(''live'') = bf_agg(%I, 5000, 0.01, %L) FROM live',
			col, strat) INTO equal;
		EXECUTE format('SELECT count(*) FROM live WHERE NOT bf_live_contains(''live'', %I)', col)
			INTO wrong;
		SELECT v.missing INTO missing FROM bf_live_verify('live_i') AS v;
		IF NOT equal OR wrong + missing > 0 THEN
			RAISE WARNING '% %: equal %, wrong %, missing %', col, strat, equal, wrong, missing;
		END IF;
		DROP INDEX live_i;
	END LOOP;
END
$$;

-- What is asked for goes by the funnel, as in a value.
CREATE INDEX live_i ON live USING bloomfilter (i4) WITH (expected = 5000, fpp = 0.0001);
SELECT bf_live_contains('live', -7), bf_live_contains('live', -7::smallint),
	bf_live_contains('live', -7::bigint), bf_live_contains('live', 7),
	bf_live_contains('live', 70000000000), bf_live_contains('live', NULL::int) IS NULL;
SELECT bf_live_contains('live', 'seven');
SELECT bf_live_contains('live', 7.0);
SELECT index, strategy, funnel, expected, fpp, hashes, bits, bits_set > 0 AS filled,
	round(fill::numeric, 2) AS fill, estimated_count, estimated_fpp < 1e-6 AS ok, pending, bytes, pages,
	relation, maybe
FROM bf_live_info('live');
SELECT bf_live_contains_each('live', '{{-7,7},{NULL,0}}'::int[]), bf_live_contains_each('live', '{}'::int[]),
	bf_live_contains_each('live', NULL::int[]) IS NULL AS nothing,
	bf_live_contains_all('live', '{-7,NULL,0}'::int[]), bf_live_contains_all('live', '{-7,7}'::bigint[]),
	bf_live_contains_all('live', '{}'::int[]), bf_live_contains(NULL, -7) IS NULL AS nowhere;
DROP INDEX live_i;
CREATE INDEX live_i ON live USING bloomfilter (t) WITH (funnel = utf16, strategy = guava32);
SELECT bf_live_contains_each('live', ARRAY[t, 'no', NULL]) AS each, bf_live_contains_all('live', ARRAY[t, NULL]) AS every,
	bf_live_contains_all('live', ARRAY[t, 'no'], 't') AS not_every, bf_live_contains_each('live', NULL) IS NULL AS nothing
FROM live WHERE t = 't7';
SELECT bf_live_contains_each('live', '{no}'), bf_live_contains_all('live', '{no}');
SELECT bf_live_contains_each('live', 'no');
SELECT strategy, funnel, expected, fpp, pages FROM bf_live_info('live_i');
SELECT bf_live_contains('live_i', 't7'), bf_live_contains('live_i', 't0');
-- Options mean nothing until the index is rebuilt.
ALTER INDEX live_i SET (expected = 200000, fpp = 0.5);
SELECT expected, fpp FROM bf_live_info('live_i');
REINDEX INDEX live_i;
SELECT expected, fpp FROM bf_live_info('live_i');
DROP INDEX live_i;

-- Refused.
-- As one of ICU's is, which not every server has.
CREATE COLLATION ignore_case (provider = libc, locale = 'C');
UPDATE pg_collation SET collisdeterministic = false WHERE oid = 'ignore_case'::regcollation;
CREATE INDEX ON live USING bloomfilter (t COLLATE ignore_case);
CREATE INDEX ON live USING bloomfilter ((i4::numeric));
CREATE INDEX ON live USING bloomfilter ((i4::float8));
CREATE UNIQUE INDEX ON live USING bloomfilter (t);
CREATE INDEX ON live USING bloomfilter (t) INCLUDE (v);
CREATE INDEX ON live USING bloomfilter (t) WITH (strategy = redisson);
CREATE INDEX ON live USING bloomfilter (t) WITH (strategy = bitsandblooms);
CREATE INDEX ON live USING bloomfilter (t) WITH (strategy = nonsense);
CREATE INDEX ON live USING bloomfilter (t) WITH (funnel = nonsense);
CREATE INDEX ON live USING bloomfilter (t) WITH (funnel = long);
CREATE INDEX ON live USING bloomfilter (t) WITH (fpp = 0);
CREATE INDEX ON live USING bloomfilter (t) WITH (fpp = 1);
CREATE INDEX ON live USING bloomfilter (t) WITH (fpp = 'nan');
CREATE INDEX ON live USING bloomfilter (t) WITH (expected = -1);
CREATE INDEX ON live USING bloomfilter (t) WITH (expected = 1.5);
CREATE INDEX ON live USING bloomfilter (t) WITH (expected = 9007199254740993);
CREATE INDEX ON live USING bloomfilter (t) WITH (expected = 9007199254740992);
CREATE INDEX ON live USING bloomfilter (t) WITH (expected = 8000000000, fpp = 0.0001);
CREATE INDEX ON live USING bloomfilter (t) WITH (nonsense = 1);
CREATE INDEX ON live USING bloomfilter (i8) WITH (funnel = int);
ALTER TABLE live ADD EXCLUDE USING bloomfilter (t WITH =);
SELECT bf_live_contains('live', 't1');
SELECT bf_live_contains('pg_am_oid_index', 't1');
SELECT bf_live_contains('pg_views', 't1');
SELECT bf_live_contains(0::regclass, 't1');

-- Several filters: the column decides, or else the kind of element.
CREATE INDEX live_1 ON live USING bloomfilter (t);
CREATE INDEX live_2 ON live USING bloomfilter (v);
CREATE INDEX live_3 ON live USING bloomfilter (i8);
CREATE INDEX live_4 ON live USING bloomfilter (lower(t));
CREATE INDEX live_5 ON live USING bloomfilter (b) WHERE id > 5;
SELECT bf_live_contains('live', 't1');
SELECT bf_live_contains('live_1', 't1'), bf_live_contains('live_2', 'v1');
SELECT bf_live_contains('live', 't1', 't'), bf_live_contains('live', 't1', 'v'), bf_live_contains('live', 'v1', col => 'v'),
	bf_live_contains('live', 10000000000), bf_live_contains('live', 1), bf_live_contains('live', 't7', 'live_4'),
	bf_live_contains('live_5', 'b1'::bytea), bf_live_contains('live_5', 'b7'::bytea);
-- An element's collation is its own, whatever other arguments have: that of a name is "C".
CREATE TABLE folded (e text COLLATE ignore_case, de text COLLATE "POSIX");
INSERT INTO folded VALUES ('T1', 'guava');
CREATE SERVER nowhere FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '/nowhere');
CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;
CREATE FUNCTION said(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'nothing';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLERRM;
END $$;
SELECT call, said FROM unnest(ARRAY[
	$q$bf_live_contains('live', e, 't')$q$, $q$bf_live_contains('live', e, NULL)$q$, $q$bf_live_contains('live', e || 'x', 't')$q$,
	$q$bf_live_contains(col => 't', rel => 'live', elem => e)$q$,
	$q$bf_live_contains_each('live', ARRAY[e], 't')$q$, $q$bf_live_contains_each('live', array_agg(e), 't')$q$,
	$q$bf_live_contains_all('live', ARRAY(SELECT f.e FROM folded AS f), 't')$q$,
	$q$bf_redis_contains('nowhere', 'key', e)$q$, $q$bf_redis_contains_each('nowhere', 'key', ARRAY[e])$q$,
	$q$bf_redis_add('nowhere', 'key', e)$q$, $q$bf_redis_add_each('nowhere', 'key', ARRAY[e])$q$,
	$q$bf_agg(e, 10, 0.1, (SELECT f.de FROM folded AS f))$q$, $q$bf_agg(e, 10, 0.1, (SELECT f.de FROM folded AS f), 2)$q$]) AS call,
	said(format('SELECT %s FROM folded %s', call, CASE WHEN call !~ '^bf_agg' THEN 'GROUP BY e' END)) AS said
WHERE said NOT LIKE 'nondeterministic collations are not supported%';
SELECT bf_live_contains('live', lower(e COLLATE "C"), 't') FROM folded;
DROP FUNCTION said;
DROP SERVER nowhere CASCADE;
DROP TABLE folded;
SELECT bf_live_contains('live', 't1', 'd');
SELECT bf_live_contains('live', 'b1'::bytea);
SELECT bf_live_contains('live', 't1', 'i8');
SELECT bf_live_filter('live');
SELECT bf_live_verify('live');
SELECT index, maybe FROM bf_live_info('live') ORDER BY index::text;
-- Two over the same are no question.
DROP INDEX live_2, live_4, live_5;
CREATE INDEX live_6 ON live USING bloomfilter (t) WITH (expected = 100, fpp = 0.5);
SELECT bf_live_contains('live', 't1'), count(*) FILTER (WHERE bf_live_contains('live', 'x' || g)) < 30 AS by_the_better
FROM generate_series(1, 300) AS g;

-- Nor if they take it by other bytes, or by another strategy.
CREATE INDEX live_7 ON live USING bloomfilter (t) WITH (funnel = utf16);
CREATE INDEX live_8 ON live USING bloomfilter (t) WITH (strategy = spark2);
CREATE INDEX live_9 ON live USING bloomfilter (t);
SELECT count(*) AS denied FROM live WHERE NOT bf_live_contains('live', t);

-- Over-full: VACUUM says so.
CREATE TABLE full_live (t text);
CREATE INDEX full_live_i ON full_live USING bloomfilter (t) WITH (expected = 100);
\set VERBOSITY terse
INSERT INTO full_live SELECT 'x' || g FROM generate_series(1, 200) AS g;
VACUUM full_live;
ALTER INDEX full_live_i SET (expected = 1000);
REINDEX INDEX CONCURRENTLY full_live_i;
VACUUM full_live;
SELECT expected, estimated_count BETWEEN 180 AND 220 AS count FROM bf_live_info('full_live');

-- Before the first row, the file is the metapage alone; what it does not have is empty.
CREATE TABLE empty_live (t text);
CREATE INDEX ON empty_live USING bloomfilter (t) WITH (expected = 100000, fpp = 0.01);
SELECT pages, bits_set, bf_count(bf_live_filter('empty_live')) FROM bf_live_info('empty_live');
DROP TABLE empty_live;

-- Filled as planned it is not, although k = 7 sets more than half of the bits.
CREATE TABLE planned_live AS SELECT 'x' || g AS t FROM generate_series(1, 20000) AS g;
CREATE INDEX ON planned_live USING bloomfilter (t) WITH (expected = 20000, fpp = 0.01);
VACUUM planned_live;
SELECT fill > 0.5 AS more_than_half FROM bf_live_info('planned_live');
DROP TABLE planned_live;

-- The planner leaves it alone.
EXPLAIN (COSTS off) SELECT FROM full_live WHERE t = 'x1';
-- Built in more than one pass over the hashes, from their positions by parts, or in one: the same bits.
CREATE TABLE big_live AS SELECT 'x' || g AS t FROM generate_series(1, 20000) AS g;
SET maintenance_work_mem = '1MB';
CREATE INDEX big_1 ON big_live USING bloomfilter (t) WITH (expected = 2000000, fpp = 0.001);
CREATE INDEX big_parts ON big_live USING bloomfilter (t) WITH (expected = 20000000, fpp = 0.25);
RESET maintenance_work_mem;
CREATE INDEX big_2 ON big_live USING bloomfilter (t) WITH (expected = 2000000, fpp = 0.001);
SELECT bf_live_filter('big_1') = bf_live_filter('big_2') AS same,
	bf_live_filter('big_1') = bf_agg(t, 2000000, 0.001) AS as_aggregated,
	bf_live_filter('big_parts') = bf_agg(t, 20000000, 0.25) AS parts FROM big_live;

-- A savepoint of a transaction that has stored some of its elements, and keeps others.
CREATE TABLE saved_live (t text);
CREATE INDEX ON saved_live USING bloomfilter (t) WITH (expected = 100000);
BEGIN;
INSERT INTO saved_live SELECT 'x' || g FROM generate_series(1, 70000) AS g;
SAVEPOINT a;
INSERT INTO saved_live VALUES ('undone');
ROLLBACK TO a;
SELECT missing FROM bf_live_verify('saved_live');
COMMIT;
SELECT missing FROM bf_live_verify('saved_live');

-- An UPDATE of another column, of which a trigger makes one of this.
CREATE TABLE triggered_live AS SELECT 'x' || g AS t, g AS n FROM generate_series(1, 100) AS g;
CREATE INDEX ON triggered_live USING bloomfilter (t);
CREATE FUNCTION triggered() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.t := ''y'' || NEW.n; RETURN NEW; END';
CREATE TRIGGER triggered BEFORE UPDATE ON triggered_live FOR EACH ROW EXECUTE FUNCTION triggered();
UPDATE triggered_live SET n = n + 1;
SELECT count(*) FILTER (WHERE t LIKE 'y%') AS new, (SELECT missing FROM bf_live_verify('triggered_live')) FROM triggered_live;
DROP TABLE triggered_live;
DROP FUNCTION triggered;

-- A part of the blocks, and the names of expressions.
CREATE TABLE sampled_live AS SELECT 'Title ' || i AS t FROM generate_series(1, 20000) AS i;
CREATE INDEX ON sampled_live USING bloomfilter (lower(t));
SELECT rows_checked BETWEEN 1500 AND 2500 AS a_tenth, missing FROM bf_live_verify('sampled_live', 0.1);
SELECT * FROM bf_live_verify('sampled_live', sample => 1);
SELECT rows_checked < 400 AS a_block, missing FROM bf_live_verify('sampled_live', 1e-9);
SELECT bf_live_verify('sampled_live', 0), 'NaN'::float8 AS nothing;
SELECT bf_live_contains('sampled_live', 'title 5', 'lower(t)'), bf_live_contains('sampled_live', 'Title 5', 'lower(t)');
CREATE INDEX ON sampled_live USING bloomfilter (t) WITH (fpp = 0);
CREATE INDEX ON sampled_live USING bloomfilter (t) WITH (fpp = 1);
CREATE INDEX ON sampled_live USING bloomfilter (t) WITH (absent = 0.9);
DROP TABLE sampled_live;

DROP TABLE live, full_live, big_live, saved_live;
DROP DOMAIN title_domain;
DROP COLLATION ignore_case;
