-- Plans that ask a live filter before they read its table, and those that do not.
-- Prints the gates of each query and how many rows it has, and a warning where
-- these are not the rows that it has without.  Before PostgreSQL 15 there are none.
SELECT current_setting('server_version_num')::int < 150000 AS without_gates \gset
\if :without_gates
\quit
\endif
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA gated;
SET search_path = gated, public;
-- The nested loops that a gate is for; what the planner prefers by itself is below.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SET max_parallel_workers_per_gather = 0;

-- The gates of a plan: the scan beneath, the filter and the condition, and what they counted.
CREATE FUNCTION gates(query text, options text = 'COSTS off') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json, %s) %s', options, query) INTO plan;
	RETURN QUERY SELECT format('%s%s of %s: %s %s', CASE child->>'Parallel Aware' WHEN 'true' THEN 'Parallel ' END, child->>'Node Type',
			gate->>'Alias', gate->>'Filter Index', gate->>'Filter Cond')
		|| coalesce(', asked ' || (gate->>'Asked') || ', absent ' || (gate->>'Surely Absent') || ', skipped ' || (gate->>'Skipped'), '')
	FROM jsonb_path_query(plan, 'strict $.**?(@."Custom Plan Provider" == "Bloom Filter Gate")') AS gate, LATERAL (SELECT gate->'Plans'->-1) AS _ (child);
END $$;

-- What a query gives, or its error, with the gate or without.
CREATE FUNCTION outcome(query text, gate boolean) RETURNS text LANGUAGE plpgsql SET bloomext.enable_gate = on AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('bloomext.enable_gate', gate::text, true);
	EXECUTE query INTO result;
	RETURN result;
EXCEPTION WHEN others THEN
	RETURN sqlstate || ' ' || sqlerrm;
END $$;

-- The gates of a query, and how many rows it has; a warning if these are not those without.
CREATE FUNCTION gated(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	one text := format('SELECT concat(count(*), '' rows '', string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) AS q', query);
	rows text := outcome(one, true);
BEGIN
	IF rows IS DISTINCT FROM outcome(one, false) THEN
		RAISE WARNING 'with: %, without: %', rows, outcome(one, false);
	END IF;
	RETURN QUERY SELECT * FROM gates(one);
	RETURN NEXT coalesce(substring(rows FROM '^\d+ rows'), rows);
END $$;

-- The other nodes of a plan, in order, with the gate or without.
CREATE FUNCTION nodes(query text, gate boolean) RETURNS text LANGUAGE plpgsql SET bloomext.enable_gate = on AS $$
DECLARE
	plan jsonb;
BEGIN
	PERFORM set_config('bloomext.enable_gate', gate::text, true);
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN (SELECT string_agg(node #>> '{}', ' ') FROM jsonb_path_query(plan, 'strict $.**."Node Type"?(@ != "Custom Scan")') AS node);
END $$;

CREATE DOMAIN title_domain AS text;
CREATE TABLE articles (
	dropped int, id int PRIMARY KEY, title text, v varchar(40), c char(12), d title_domain, i2 smallint, i4 int, i8 bigint
) WITH (autovacuum_enabled = off);
ALTER TABLE articles DROP COLUMN dropped;
INSERT INTO articles SELECT g, 'title ' || g, 'title ' || g, 'title ' || g, 'title ' || g, g, g, g FROM generate_series(1, 5000) AS g;
-- Half of them are new; their integers are out of the narrower types' range.
CREATE TABLE staged (n int, title text, v varchar(40), c char(12), d title_domain, name name, i2 smallint, i4 int, i8 bigint)
	WITH (autovacuum_enabled = off);
INSERT INTO staged SELECT g, 'title ' || g, 'title ' || g, 'title ' || g, 'title ' || g, 'title ' || g, g, g, g FROM generate_series(1, 20) AS g;
INSERT INTO staged SELECT g, 'new ' || g, 'new ' || g, 'new ' || g, 'new ' || g, 'new ' || g, g - 100, g + 32768 * 2, g + 4294967296
FROM generate_series(21, 40) AS g;
DO $$
DECLARE
	col text;
BEGIN
	FOREACH col IN ARRAY '{title,v,c,d,i2,i4,i8}'::text[] LOOP
		EXECUTE format('CREATE INDEX articles_%1$s ON articles (%1$s)', col);
		EXECUTE format('CREATE INDEX articles_%1$s_bf ON articles USING bloomfilter (%1$s) WITH (expected = 10000, fpp = 0.0001, plans = on)', col);
	END LOOP;
END $$;
VACUUM ANALYZE articles, staged;
EXPLAIN (COSTS off) SELECT s.title FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title);

-- Joins, and queries within queries.
SELECT * FROM gated('SELECT s.title FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
SELECT * FROM gated('SELECT s.title FROM staged AS s LEFT JOIN articles AS a ON s.title = a.title WHERE a.i4 IS NULL');
SELECT * FROM gated('SELECT s.title FROM staged AS s WHERE EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
SELECT * FROM gated('SELECT s.title, a.id FROM staged AS s JOIN articles AS a USING (title)');
SELECT * FROM gated('SELECT s.title, (SELECT a.id FROM articles AS a WHERE a.title = s.title) FROM staged AS s');
SELECT * FROM gated('SELECT s.title FROM staged AS s WHERE n > 35 AND (n = 40 OR EXISTS (SELECT FROM articles AS a WHERE a.title = s.title))');
SELECT * FROM gated('SELECT s.title, l.id FROM staged AS s, LATERAL (SELECT id FROM articles AS a WHERE a.title = s.title LIMIT 1) AS l');
SELECT * FROM gated('SELECT s.title, l.id FROM staged AS s LEFT JOIN LATERAL (SELECT id FROM articles AS a WHERE a.title = s.title ORDER BY id LIMIT 1) AS l ON true');
SELECT * FROM gated('SELECT s.n, a.id FROM (SELECT n, coalesce(title, ''none'') AS t FROM staged) AS s JOIN articles AS a ON a.title = s.t');
SELECT * FROM gated('SELECT o.n, a.id FROM staged AS o LEFT JOIN (SELECT n, coalesce(title, ''none'') AS t FROM staged) AS s ON s.n = o.n + 10
	LEFT JOIN articles AS a ON a.title = s.t');
-- Of two columns that have a filter each, one is asked for.
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a ON a.title = s.title AND a.i4 = s.i4');
-- Rows that the asking query inserts.
SELECT * FROM gates('INSERT INTO articles (id, title) SELECT 6000 + n, title FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
BEGIN;
INSERT INTO articles (id, title) SELECT 6000 + n, title FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title);
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a USING (title)');
ROLLBACK;
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a USING (title)');

-- A constant that is absent now, if no index finds it; one that is there now is not asked for.
CREATE TABLE plain WITH (autovacuum_enabled = off) AS SELECT id, title, v, i4 FROM articles;
CREATE INDEX plain_id ON plain (id);
CREATE INDEX plain_title_bf ON plain USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
VACUUM ANALYZE plain;
SELECT * FROM gated('SELECT id FROM plain WHERE title = ''new''');
SELECT * FROM gated('SELECT id FROM plain WHERE ''new'' = title AND now() > ''epoch''');
SELECT * FROM gated('SELECT id FROM plain WHERE title = ''title 7''');
SELECT * FROM gated('SELECT id FROM articles WHERE title = ''new''');
SELECT * FROM gated('SELECT id FROM articles WHERE title = ''title 7''');
SELECT * FROM gated('SELECT id FROM articles WHERE title = NULL::text');

-- However many paths there are, the filter is asked once.
CREATE FUNCTION planning_asks(query text, filter regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_stat_get_xact_numscans(filter);
BEGIN
	EXECUTE 'EXPLAIN ' || query;
	RETURN pg_stat_get_xact_numscans(filter) - before;
END $$;
SELECT planning_asks('SELECT title FROM plain WHERE title = ''title 7'' AND id > 100', 'plain_title_bf');
-- Nor at all where an index finds few rows as fast, but with absent.
SELECT planning_asks('SELECT title FROM plain WHERE title = ''title 7'' AND id > 4900', 'plain_title_bf');
SELECT planning_asks('SELECT title FROM articles WHERE title = ''title 7''', 'articles_title_bf');
BEGIN;
ALTER INDEX articles_title_bf SET (absent = 0.9);
SELECT * FROM gated('SELECT id FROM articles WHERE title = ''new''');
ROLLBACK;

-- One that is absent now has PostgreSQL keep no plan for all values that it would not keep without.
CREATE TABLE polled (id int, k int, flag text) WITH (autovacuum_enabled = off);
INSERT INTO polled SELECT g, CASE WHEN g % 2500 = 7 THEN 2 ELSE 0 END, 'f' || g FROM generate_series(1, 50000) AS g ORDER BY md5(g::text);
CREATE INDEX polled_k ON polled (k, id);
CREATE INDEX polled_bf ON polled USING bloomfilter (flag) WITH (plans = on, fpp = 0.001);
VACUUM ANALYZE polled;
CREATE FUNCTION plans_after_8(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	kinds text;
BEGIN
	EXECUTE 'PREPARE poll (int) AS ' || query;
	FOR i IN 1..8 LOOP
		EXECUTE 'EXECUTE poll (2)';
	END LOOP;
	SELECT format('%s generic, %s custom', generic_plans, custom_plans) INTO kinds FROM pg_prepared_statements WHERE name = 'poll';
	DEALLOCATE poll;
	RETURN kinds;
END $$;
SELECT plans_after_8($$SELECT count(*) FROM polled WHERE k = $1 AND flag = 'urgent'$$);
SELECT plans_after_8($$SELECT (SELECT count(*) FROM polled WHERE k = $1 AND flag = 'urgent')$$);
SELECT * FROM gated('SELECT FROM polled WHERE k = 0 AND flag = ''urgent''');
-- Where the parameter is of another part of the statement it counts as well.
SET plan_cache_mode = force_generic_plan;
PREPARE elsewhere (int) AS SELECT (SELECT max(n) FROM staged WHERE n < $1) FROM plain WHERE title = 'new';
SELECT planning_asks('EXECUTE elsewhere (5)', 'plain_title_bf');
PREPARE nowhere AS SELECT (SELECT max(n) FROM staged WHERE n < 5) FROM plain WHERE title = 'new';
SELECT planning_asks('EXECUTE nowhere', 'plain_title_bf');
RESET plan_cache_mode;

-- Plans that are kept: both settings are asked again, and what is inserted is found.
SET plan_cache_mode = force_generic_plan;
PREPARE by_title(text) AS SELECT id FROM plain WHERE title = $1;
PREPARE by_new AS SELECT id FROM plain WHERE title = 'new';
SELECT * FROM gates('EXECUTE by_title(''new'')', 'ANALYZE, TIMING off');
SELECT * FROM gates('EXECUTE by_new', 'ANALYZE, TIMING off');
EXECUTE by_title('title 7');
BEGIN;
INSERT INTO plain VALUES (0, 'new');
SELECT * FROM gates('EXECUTE by_new', 'ANALYZE, TIMING off');
EXECUTE by_new;
EXECUTE by_title('new');
ROLLBACK;
EXECUTE by_new;
EXECUTE by_title(NULL);
BEGIN;
ALTER INDEX plain_title_bf SET (plans = off);
SELECT * FROM gates('EXECUTE by_title(''newer'')', 'ANALYZE, TIMING off');
ROLLBACK;
SELECT * FROM gates('EXECUTE by_title(''newer'')', 'ANALYZE, TIMING off');
SET bloomext.enable_gate = off;
SELECT * FROM gates('EXECUTE by_title(''newer'')', 'ANALYZE, TIMING off');
EXECUTE by_title('title 7');
RESET bloomext.enable_gate;
-- An index that finds the value is as fast as the filter, unless most are said to be absent.
PREPARE indexed(text) AS SELECT id FROM articles WHERE title = $1;
SELECT * FROM gates('EXECUTE indexed(''new'')');
ALTER INDEX articles_title_bf SET (absent = 0.9);
SELECT * FROM gates('EXECUTE indexed(''new'')');
EXECUTE indexed('title 7');
ALTER INDEX articles_title_bf RESET (absent);
SELECT * FROM gates('EXECUTE indexed(''new'')');

-- A field that a record of PL/pgSQL does not have is no error where no row is read.
CREATE TABLE unread (title text) WITH (autovacuum_enabled = off);
CREATE INDEX unread_bf ON unread USING bloomfilter (title) WITH (expected = 10000, plans = on);
CREATE FUNCTION count_fields(OUT counts text) LANGUAGE plpgsql AS $$
DECLARE
	field record;
	n bigint;
BEGIN
	counts := '';
	FOR i IN 1..4 LOOP
		IF i IN (1, 4) THEN
			SELECT 'new'::text AS f INTO field;
		ELSIF i = 2 THEN
			field := NULL;
		ELSE
			SELECT 7 AS f INTO field;
		END IF;
		SELECT count(*) INTO n FROM unread WHERE title = field.f;
		counts := counts || n || ' ';
	END LOOP;
END $$;
SELECT pg_stat_get_xact_numscans('unread_bf'::regclass) AS before, count_fields(), pg_stat_get_xact_numscans('unread_bf'::regclass) AS after;

-- Who is SERIALIZABLE does not ask, as that is to read the whole filter, by plans made before neither.
ALTER INDEX articles_title_bf SET (absent = 0.9);
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM gates('EXECUTE by_title(''newer'')', 'ANALYZE, TIMING off');
SELECT * FROM gates('SELECT id FROM plain WHERE title = ''newer''', 'ANALYZE, TIMING off');
SELECT * FROM gates('EXECUTE indexed(''newer'')', 'ANALYZE, TIMING off');
SELECT * FROM gates('SELECT s.n FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
SELECT count(*) FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title);
SELECT relation::regclass FROM pg_locks WHERE mode = 'SIReadLock' AND relation IN ('articles_title_bf'::regclass, 'plain_title_bf'::regclass);
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM gates('EXECUTE by_title(''newer'')', 'ANALYZE, TIMING off');
COMMIT;
-- A plan that was made there asks elsewhere.
SELECT * FROM gates('EXECUTE indexed(''newer'')', 'ANALYZE, TIMING off');
ALTER INDEX articles_title_bf RESET (absent);
RESET plan_cache_mode;

-- What a column of text may be compared with.
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.v = s.v');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.v = s.title');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.v');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.d = s.d');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.d');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.c = s.c');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.c = (s.title || ''   '')::bpchar');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.c = s.c::char(30)');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.c');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = (s.c || ''  '')');
-- Not a name, nor by an equality that is not that of the bytes.
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.name');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.name::text');
DO $$
DECLARE
	seen text;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
		RETURN;	-- no ICU: initdb imports its collations where the build has it
	END IF;
	CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	SELECT string_agg(line, ', ') INTO seen FROM gated('SELECT n, (SELECT count(*) FROM plain AS p WHERE p.title = up COLLATE ignore_case) FROM (SELECT n, upper(title) FROM staged OFFSET 0) AS s (n, up)') AS line;
	IF seen <> '40 rows' THEN
		RAISE WARNING 'nondeterministic collation: %', seen;
	END IF;
END $$;
DO $$
DECLARE
	seen text;
BEGIN
	CREATE EXTENSION citext;
	SELECT string_agg(line, ', ') INTO seen FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title::citext = upper(s.title)::citext') AS line;
	IF seen <> '20 rows' THEN
		RAISE WARNING 'citext: %', seen;
	END IF;
	SELECT string_agg(line, ', ') INTO seen FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.title = s.title::citext') AS line;
	IF seen !~ 'articles_title_bf .*, 20 rows' THEN
		RAISE WARNING 'citext as text: %', seen;
	END IF;
	DROP EXTENSION citext;
EXCEPTION WHEN undefined_file OR feature_not_supported THEN	-- not at hand
END $$;

-- What gates have learnt (below) is forgotten when an index is altered, be it by nothing.
CREATE FUNCTION forget() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	index regclass;
BEGIN
	FOR index IN SELECT c.oid FROM pg_class AS c WHERE relnamespace = 'gated'::regnamespace AND 'plans=on' = ANY (reloptions) AND relkind = 'i' LOOP
		EXECUTE format('ALTER INDEX %s RESET (nothing)', index);
	END LOOP;
END $$;

-- Integers of all widths; those out of the column's range are surely absent.
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.i2 = s.i2');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.i2 = s.i4');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON s.i8 = a.i2');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.i4 = s.i2');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON s.i8 = a.i4');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.i8 = s.i2');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON s.i4 = a.i8');
SELECT forget();
SELECT * FROM gates('SELECT FROM staged AS s JOIN articles AS a ON a.i2 = s.i4', 'ANALYZE, TIMING off');
SELECT * FROM gates('SELECT FROM staged AS s JOIN articles AS a ON s.i8 = a.i4', 'ANALYZE, TIMING off');
SELECT * FROM gates('SELECT FROM staged AS s JOIN articles AS a ON s.i2 = a.i8', 'ANALYZE, TIMING off');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN articles AS a ON a.i4 = s.i4::numeric');

-- Filters of an expression, and of some rows.
CREATE TABLE kinds (id int, title text, kind text) WITH (autovacuum_enabled = off);
INSERT INTO kinds SELECT g, 'Title ' || g, CASE g % 10 WHEN 0 THEN 'rare' ELSE 'usual' END FROM generate_series(1, 5000) AS g;
CREATE INDEX kinds_lower ON kinds (lower(title));
CREATE INDEX kinds_lower_bf ON kinds USING bloomfilter (lower(title)) WITH (expected = 10000, fpp = 0.0001, plans = on);
CREATE INDEX kinds_title ON kinds (title);
CREATE INDEX kinds_rare_bf ON kinds USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on) WHERE kind = 'rare' AND id > 0;
ANALYZE kinds;
SELECT * FROM gated('SELECT n FROM staged AS s JOIN kinds AS k ON lower(k.title) = s.title');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN kinds AS k ON upper(k.title) = upper(s.title)');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN kinds AS k ON k.title = initcap(s.title)');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN kinds AS k ON k.title = initcap(s.title) AND k.kind = ''rare''');
SELECT * FROM gated('SELECT n FROM staged AS s JOIN kinds AS k ON k.title = initcap(s.title) AND k.kind = ''rare'' AND k.id > 5');
SELECT * FROM gated('SELECT n FROM staged AS s LEFT JOIN kinds AS k ON k.title = initcap(s.title) AND k.kind = ''rare'' AND k.id > 5 WHERE k.id IS NULL');

-- What is not asked: not known before the scan, not the same each time, or not one equality of the column.
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = ''new'' || p.v');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = p.v AND p.id < 3');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = CASE WHEN random() < 2 THEN ''new'' END');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = (SELECT max(s.title) FROM staged AS s WHERE s.n = p.id)');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = (SELECT min(s.title) FROM staged AS s)');
SELECT * FROM gated('SELECT s.n FROM staged AS s JOIN articles AS a ON a.title = (SELECT t.title FROM staged AS t WHERE t.n = s.n)');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title IN (''new'', ''newer'')');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title = ''new'' OR p.id = 8');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title <> ''new'' AND p.id < 9');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE (p.title = ''new'') IS NOT TRUE AND p.id < 9');
SELECT * FROM gated('SELECT id FROM plain AS p WHERE p.title IS NOT DISTINCT FROM ''new''');
SELECT * FROM gated('SELECT id FROM plain AS p TABLESAMPLE bernoulli (100) WHERE p.title = ''new''');
-- Rows that are to be locked or changed, and those that are read along with them.
SELECT * FROM gates('SELECT FROM plain WHERE title = ''new'' FOR UPDATE');
SELECT * FROM gates('SELECT FROM staged AS s JOIN articles AS a ON a.title = s.title FOR SHARE OF s');
SELECT * FROM gates('UPDATE plain SET v = v WHERE title = ''new''');
SELECT * FROM gates('DELETE FROM plain WHERE title = ''new''');
SELECT * FROM gates('UPDATE staged AS s SET n = a.id FROM articles AS a WHERE a.title = s.title');
SELECT * FROM gates('DELETE FROM staged AS s USING articles AS a WHERE a.title = s.title');
SELECT * FROM gates('MERGE INTO staged AS s USING articles AS a ON a.title = s.title WHEN MATCHED THEN DO NOTHING');
SELECT * FROM gates('DELETE FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
-- What these ask in a query of its own is as anywhere.
SELECT * FROM gates('DELETE FROM staged AS s WHERE n > 35 AND (n = 40 OR EXISTS (SELECT FROM articles AS a WHERE a.title = s.title))');
SELECT * FROM gates('INSERT INTO staged (title) SELECT ''new'' WHERE NOT EXISTS (SELECT FROM plain WHERE title = ''new'')');
-- Who does not want it.
SET bloomext.enable_gate = off;
SELECT * FROM gates('SELECT FROM plain WHERE title = ''new''');
RESET bloomext.enable_gate;
ALTER INDEX plain_title_bf SET (plans = off);
SELECT * FROM gates('SELECT FROM plain WHERE title = ''new''');
ALTER INDEX plain_title_bf RESET (plans);
SELECT * FROM gates('SELECT FROM plain WHERE title = ''new''');
ALTER INDEX plain_title_bf SET (plans = on, absent = 0);
SELECT * FROM gated('SELECT n FROM staged AS s, LATERAL (SELECT id FROM plain AS p WHERE p.title = s.title OFFSET 0) AS l');
ALTER INDEX plain_title_bf SET (absent = 1);
SELECT * FROM gated('SELECT n FROM staged AS s, LATERAL (SELECT id FROM plain AS p WHERE p.title = s.title OFFSET 0) AS l');
ALTER INDEX plain_title_bf RESET (absent);
SELECT * FROM gated('SELECT n FROM staged AS s, LATERAL (SELECT id FROM plain AS p WHERE p.title = s.title OFFSET 0) AS l');
ALTER INDEX plain_title_bf SET (plans = often);
ALTER INDEX plain_title_bf SET (absent = 1.1);
ALTER INDEX plain_title_bf SET (absent = -0.1);
ALTER INDEX plain_title_bf SET (absent = nan);
ALTER INDEX plain_title_bf SET (absent = mostly);
SELECT reloptions FROM pg_class WHERE oid = 'plain_title_bf'::regclass;

-- Other relations: rows of their own in a heap, or not.
CREATE FUNCTION few_of(relation text) RETURNS text LANGUAGE sql RETURN
	format('SELECT n, (SELECT id FROM %s AS x WHERE x.title = s.title) FROM staged AS s WHERE n BETWEEN 16 AND 25', relation);
CREATE MATERIALIZED VIEW seen AS SELECT * FROM plain;
CREATE INDEX seen_bf ON seen USING bloomfilter (title) WITH (expected = 10000, plans = on);
SELECT * FROM gated(few_of('seen'));
CREATE TEMP TABLE own AS SELECT * FROM plain;
CREATE INDEX own_bf ON own USING bloomfilter (title) WITH (expected = 10000, plans = on);
SELECT * FROM gated(few_of('own'));
CREATE VIEW viewed AS SELECT id, title FROM plain WHERE id > 5;
SELECT * FROM gated(few_of('viewed'));
CREATE UNLOGGED TABLE volatile AS SELECT * FROM plain;
CREATE INDEX volatile_bf ON volatile USING bloomfilter (title) WITH (expected = 10000, plans = on);
SELECT * FROM gated(few_of('volatile'));
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE otherwise USING heap2 AS SELECT * FROM plain;
CREATE INDEX otherwise_bf ON otherwise USING bloomfilter (title) WITH (expected = 10000, plans = on);
SELECT * FROM gated(few_of('otherwise'));
DROP TABLE otherwise;
DROP ACCESS METHOD heap2;

-- Partitions, each with its filter, and children.
CREATE TABLE parts (k int, id int, title text) PARTITION BY LIST (k);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0) WITH (autovacuum_enabled = off);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) WITH (autovacuum_enabled = off);
CREATE TABLE parts_2 (title text, id int, gone int, k int) WITH (autovacuum_enabled = off);
ALTER TABLE parts_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
INSERT INTO parts SELECT g % 3, g, 'title ' || g FROM generate_series(1, 5000) AS g;
CREATE INDEX parts_title ON parts (title);
CREATE INDEX parts_bf ON parts USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
VACUUM ANALYZE parts;
SELECT * FROM gated('SELECT n, p.id FROM staged AS s JOIN parts AS p USING (title)');
SELECT * FROM gated('SELECT n FROM staged AS s WHERE NOT EXISTS (SELECT FROM parts AS p WHERE p.title = s.title)');
SELECT * FROM gated('SELECT n FROM staged AS s LEFT JOIN parts AS p ON p.k = 1 AND p.title = s.title WHERE p.id IS NULL');
-- Which partition it is, is known at run time only.
SELECT * FROM gated('SELECT n, (SELECT p.id FROM parts AS p WHERE p.k = s.n % 3 AND p.title = s.title) FROM staged AS s');
CREATE TABLE pairs (LIKE parts) PARTITION BY LIST (k);
CREATE TABLE pairs_0 PARTITION OF pairs FOR VALUES IN (0);
CREATE TABLE pairs_1 PARTITION OF pairs FOR VALUES IN (1);
CREATE TABLE pairs_2 PARTITION OF pairs FOR VALUES IN (2);
INSERT INTO pairs SELECT n % 3, n, title FROM staged;
ANALYZE pairs;
SET enable_partitionwise_join = on;
SELECT * FROM gated('SELECT i.id, p.id FROM pairs AS i LEFT JOIN parts AS p ON p.k = i.k AND p.title = i.title');
RESET enable_partitionwise_join;
-- What is made of one partition's scan does not cost the others theirs.
DROP INDEX parts_title;
CREATE INDEX parts_0_title ON parts_0 (title);
CREATE INDEX parts_1_title ON parts_1 (title);
SELECT * FROM gated('SELECT n, p.id FROM staged AS s JOIN parts AS p USING (title)');
SELECT * FROM gated('SELECT n, p.id FROM staged AS s JOIN parts AS p USING (title) WHERE p.k IN (0, 1)');
-- A foreign table among them.
DO $$
DECLARE
	seen text;
BEGIN
	CREATE EXTENSION file_fdw;
	CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
	CREATE FOREIGN TABLE parts_3 PARTITION OF parts FOR VALUES IN (3) SERVER files OPTIONS (program 'echo "3	7	title 7"');
	SELECT string_agg(line, ', ') INTO seen
	FROM gated('SELECT n, (SELECT sum(id) FROM parts AS p WHERE k IN (1, 3) AND p.title = s.title) FROM staged AS s WHERE n BETWEEN 6 AND 8') AS line;
	IF seen <> 'Index Scan of p_1: parts_1_title_idx1 (title = s.title), 3 rows' THEN
		RAISE WARNING 'foreign table: %', seen;
	END IF;
	DROP EXTENSION file_fdw CASCADE;
EXCEPTION WHEN undefined_file OR feature_not_supported THEN	-- not at hand
END $$;
CREATE TABLE base (id int, title text) WITH (autovacuum_enabled = off);
CREATE TABLE derived (more int) INHERITS (base) WITH (autovacuum_enabled = off);
CREATE TABLE unfiltered () INHERITS (base) WITH (autovacuum_enabled = off);
INSERT INTO base SELECT g, 'title ' || g FROM generate_series(1, 1000) AS g;
INSERT INTO derived SELECT g, 'title ' || g FROM generate_series(7, 1000) AS g;
INSERT INTO unfiltered VALUES (0, 'title 7'), (0, 'new 30');
CREATE INDEX base_bf ON base USING bloomfilter (title) WITH (expected = 10000, plans = on);
CREATE INDEX derived_bf ON derived USING bloomfilter (title) WITH (expected = 10000, plans = on);
ANALYZE base, derived, unfiltered;
SELECT * FROM gated('SELECT n, (SELECT count(*) FROM base AS b WHERE b.title = s.title) FROM staged AS s');
SELECT * FROM gated('SELECT n, (SELECT count(*) FROM ONLY base AS b WHERE b.title = s.title) FROM staged AS s');

-- Nothing is evaluated that was not before: no error where no row is compared, and the same where an index is asked.
CREATE FUNCTION fail(t text) RETURNS text IMMUTABLE LANGUAGE plpgsql COST 1 AS $$
BEGIN
	IF t LIKE 'new%' THEN
		RAISE 'failed for %', t;
	END IF;
	RETURN t;
END $$;
CREATE TABLE nothing (id int PRIMARY KEY, title text) WITH (autovacuum_enabled = off);
CREATE INDEX nothing_bf ON nothing USING bloomfilter (title) WITH (expected = 10000, plans = on, absent = 0.99);
SELECT * FROM gated('SELECT n, (SELECT id FROM nothing AS x WHERE x.title = fail(s.title)) FROM staged AS s');
SELECT * FROM gated('SELECT n, (SELECT id FROM nothing AS x WHERE x.id = s.n AND x.title = fail(s.title)) FROM staged AS s');
SELECT * FROM gated('SELECT n FROM staged AS s LEFT JOIN nothing AS x ON x.id = s.n AND x.title = fail(s.title)');
SELECT * FROM gated('SELECT id FROM nothing AS x WHERE x.title = (SELECT fail(max(s.title)) FROM staged AS s WHERE n > 20)');
SELECT * FROM gated('SELECT n, (SELECT id FROM plain AS p WHERE p.id = s.n + 6000 AND p.title = fail(s.title)) FROM staged AS s');
SELECT * FROM gated('SELECT n, (SELECT id FROM plain AS p WHERE p.id = s.n + 6000 AND p.title = s.title) FROM staged AS s');
SELECT * FROM gated('SELECT n, (SELECT v FROM articles AS a WHERE a.title = fail(s.title)) FROM staged AS s');
SELECT * FROM gated('SELECT n, (SELECT v FROM articles AS a WHERE a.title = fail(s.title)) FROM staged AS s WHERE n <= 20');

-- A cursor, open at its first row, whose plan does not know the value.
CREATE FUNCTION open_for(query text, value text, name refcursor, OUT gates text, OUT first text) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	found record;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan USING value;
	SELECT string_agg(concat(gate->'Plans'->-1->>'Node Type', ': ', gate->>'Filter Index'), ', ') INTO gates
	FROM jsonb_path_query(plan, 'strict $.**?(@."Custom Plan Provider" == "Bloom Filter Gate")') AS gate;
	OPEN name FOR EXECUTE query USING value;
	FETCH name INTO found;
	first := found;
END $$;
-- WHERE CURRENT OF finds the row beneath the gate.
CREATE FUNCTION update_current(query text, value text, target text = 'current') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	name refcursor = 'here';
	opened record := open_for(query, value, name);
	updated bigint;
BEGIN
	EXECUTE format('UPDATE %I SET seen = seen + 1 WHERE CURRENT OF %I', target, name);
	GET DIAGNOSTICS updated = ROW_COUNT;
	CLOSE name;
	RETURN format('%s: %s, %s updated', opened.gates, opened.first, updated);
END $$;
CREATE TABLE current (id int PRIMARY KEY, title text, seen int DEFAULT 0) WITH (autovacuum_enabled = off);
INSERT INTO current SELECT g, 'title ' || g FROM generate_series(1, 5000) AS g;
CREATE INDEX current_title ON current (title);
CREATE INDEX current_bf ON current USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on, absent = 0.9);
VACUUM ANALYZE current;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT update_current('SELECT * FROM current WHERE title = $1', 'title 7');
SELECT update_current('SELECT title FROM current WHERE title = $1', 'title 8');
SELECT update_current('SELECT * FROM current WHERE title = $1 AND now() > ''epoch''', 'title 9');
SELECT update_current('SELECT title FROM current WHERE title = $1 AND now() > ''epoch''', 'title 10');
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = on;
SELECT update_current('SELECT * FROM current WHERE title = $1', 'title 11');
SET enable_bitmapscan = off;
SET enable_seqscan = on;
SELECT update_current('SELECT * FROM current WHERE title = $1', 'title 12');
SELECT update_current('SELECT * FROM current WHERE title = $1 AND now() > ''epoch''', 'title 13');
SELECT update_current('SELECT id, upper(title) AS up FROM current WHERE title = $1', 'title 14');
SELECT update_current('SELECT * FROM current WHERE title = $1 AND ctid = ''(0,15)''', 'title 15');
RESET enable_indexscan;
RESET enable_indexonlyscan;
RESET enable_bitmapscan;
SELECT string_agg(id::text, ' ' ORDER BY id) FROM current WHERE seen > 0;
ALTER TABLE parts ADD seen int DEFAULT 0;
SELECT update_current('SELECT * FROM parts WHERE title = $1', 'title 8', 'parts');
SELECT update_current('SELECT * FROM parts WHERE title = $1', 'title 9', 'parts');
SELECT k, id, title, seen FROM parts WHERE seen > 0 ORDER BY id;
-- Where there is no row, none is current.
SELECT update_current('SELECT * FROM current WHERE title = $1', 'new');

-- Cursors in both directions, and from the start again.
INSERT INTO current SELECT g, 'title 7' FROM generate_series(6001, 6003) AS g;
BEGIN;
SELECT * FROM open_for('SELECT id FROM current WHERE title = $1 AND id > 7', 'title 7', 'both_ways');
FETCH ALL FROM both_ways;
FETCH BACKWARD ALL FROM both_ways;
FETCH LAST FROM both_ways;
FETCH RELATIVE -1 FROM both_ways;
MOVE ABSOLUTE 0 FROM both_ways;
FETCH NEXT FROM both_ways;
FETCH PRIOR FROM both_ways;
SELECT * FROM open_for('SELECT id FROM current WHERE title = $1', 'new', 'none');
FETCH ALL FROM none;
FETCH BACKWARD ALL FROM none;
FETCH FIRST FROM none;
COMMIT;

-- A merge join goes back in what the gate hands on.
CREATE TABLE twice (id int, title text, kind int) WITH (autovacuum_enabled = off);
INSERT INTO twice SELECT g, 'title ' || g % 50, g % 4 FROM generate_series(1, 2000) AS g;
CREATE INDEX twice_title ON twice (title);
CREATE INDEX twice_kind_bf ON twice USING bloomfilter (kind) WITH (expected = 10000, plans = on, absent = 0.5);
ANALYZE twice;
SET enable_mergejoin = on;
SET enable_nestloop = off;
SET enable_sort = off;
SET enable_seqscan = off;
SELECT * FROM gated('SELECT i, (SELECT count(*) FROM twice AS l JOIN twice AS r USING (title) WHERE l.kind = i AND r.kind = i) FROM unnest(''{1,5,3}''::int[]) AS i');
SELECT nodes(q, true) = nodes(q, false) AS same FROM (SELECT 'SELECT i, (SELECT count(*) FROM twice AS l JOIN twice AS r USING (title) WHERE l.kind = i AND r.kind = i) FROM unnest(''{1,5,3}''::int[]) AS i') AS _ (q);
RESET enable_seqscan;
RESET enable_sort;
RESET enable_nestloop;
SET enable_mergejoin = off;

-- Questions in turns, absent and not, over each kind of scan.
CREATE TABLE turns (n int, title text, id int);
INSERT INTO turns SELECT g, CASE g % 3 WHEN 0 THEN 'title ' WHEN 1 THEN 'new ' END || g / 2, g / 2 FROM generate_series(1, 60) AS g;
ANALYZE turns;
SET enable_bitmapscan = off;
SELECT * FROM gated('SELECT n, a.v FROM turns AS t LEFT JOIN articles AS a ON a.title = t.title AND a.id <= t.id');
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SELECT * FROM gated('SELECT n, a.v FROM turns AS t LEFT JOIN articles AS a ON a.title = t.title AND a.id <= t.id');
SET enable_bitmapscan = off;
SELECT * FROM gated('SELECT n, (SELECT p.id FROM plain AS p WHERE p.title = t.title AND p.id <= t.id) FROM turns AS t WHERE n < 20');
-- What is disabled is not enabled by a gate.
SELECT * FROM gated('SELECT n, a.v FROM turns AS t LEFT JOIN articles AS a ON a.title = t.title AND a.id <= t.id WHERE n < 20');
RESET enable_bitmapscan;
RESET enable_indexscan;
RESET enable_indexonlyscan;
-- What the child knows of the parameters that it was not told of.
SELECT * FROM gated('SELECT n, (SELECT count(*) FROM articles AS a WHERE a.title = t.title AND a.v NOT IN (SELECT u.v FROM staged AS u WHERE u.n <> t.id)) FROM turns AS t');
SELECT * FROM gated('SELECT n, (SELECT count(*) FROM articles AS a, turns AS u WHERE a.title = t.title AND u.id = a.id) FROM turns AS t');
SELECT forget();
-- One that changes with the last rescans that it missed, and not with the one that it is told of.
SELECT * FROM gated('SELECT o, (SELECT sum(a.id) FROM unnest(''{title 1,title 3,new,newer}''::text[]) AS t (title), articles AS a WHERE a.title = t.title AND a.id NOT IN (SELECT u.n FROM staged AS u WHERE u.n <> o)) FROM unnest(''{1,3,4}''::int[]) AS o');
SET enable_memoize = on;
SELECT * FROM gated('SELECT g, a.id FROM generate_series(1, 200) AS g JOIN turns AS t ON t.n = g % 20 JOIN articles AS a ON a.title = t.title');
SET enable_memoize = off;

-- What EXPLAIN ANALYZE counts, and who looks for unused indexes sees as much.
CREATE FUNCTION explained(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
		CONTINUE WHEN line !~ 'Gate|Filter|Asked|Absent|Skipped';
		RETURN NEXT regexp_replace(line, ' \(actual.*', '');
	END LOOP;
END $$;
SELECT forget();
BEGIN;
SELECT pg_stat_get_xact_numscans('articles_title_bf'::regclass) AS before \gset
SELECT * FROM explained('SELECT s.n FROM staged AS s WHERE NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)');
SELECT pg_stat_get_xact_numscans('articles_title_bf'::regclass) - :before AS questions;
COMMIT;
-- Where there are several rows of a title, an index scan is over before it has seen all.
CREATE TABLE threes AS SELECT title FROM articles, generate_series(1, 3) WHERE title IS NOT NULL;
CREATE INDEX threes_title ON threes (title);
CREATE INDEX threes_bf ON threes USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
VACUUM ANALYZE threes;
SELECT * FROM gated('SELECT n FROM staged AS s WHERE NOT EXISTS (SELECT FROM threes AS t WHERE t.title = s.title)');
SELECT * FROM gated('SELECT n FROM staged AS s WHERE EXISTS (SELECT FROM threes AS t WHERE t.title = s.title)');
-- Where too few of a window are absent for what a scan costs, the next are not asked, in this statement and in later ones.
CREATE TABLE deep WITH (autovacuum_enabled = off) AS SELECT rpad(title, 400) AS title FROM plain;
CREATE INDEX deep_title ON deep (title) WITH (fillfactor = 10);
CREATE INDEX deep_bf ON deep USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
VACUUM ANALYZE deep;
-- What is built is not in the buffers, and would be read by the first lookups.
CREATE FUNCTION read_all(relation regclass, col text) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
	EXECUTE format('SELECT FROM (SELECT %2$I FROM %1$s ORDER BY %2$I OFFSET 0) AS _', relation, col);
END $$;
SELECT read_all('deep', 'title');
CREATE FUNCTION counted(number int, new_of_ten int, relation text = 'deep', value text = 'rpad(s.t, 400)') RETURNS SETOF text LANGUAGE sql RETURN gates(format(
	'SELECT FROM (SELECT CASE WHEN g %% 10 < %s THEN ''new '' ELSE ''title '' END || g AS t FROM generate_series(1, %s) AS g OFFSET 0) AS s
		WHERE EXISTS (SELECT FROM %I AS a WHERE a.title = %s OFFSET 0)', new_of_ten, number, relation, value), 'ANALYZE, TIMING off');
SELECT * FROM counted(64, 0);
SELECT * FROM counted(1, 0);
-- A longer one tries for itself.
SELECT * FROM counted(1000, 10);
SELECT * FROM counted(1, 0);
-- To alter the filter, or the index, is to begin anew.
SELECT * FROM counted(100, 0);
SELECT forget();
SELECT * FROM counted(65, 0);
ALTER INDEX deep_title SET (fillfactor = 20);
SELECT * FROM counted(5000, 5);
SELECT * FROM counted(5000, 2);
SELECT forget();
SELECT * FROM counted(10000, 0);
-- Statements of some hundred scans try for themselves no more than the first window cost.
SELECT counted(300, 0) FROM generate_series(1, 3);
-- To hash a long value takes longer than to look up a number that is not there.
CREATE TABLE long WITH (autovacuum_enabled = off) AS SELECT id, title FROM plain;
CREATE INDEX long_id ON long (id);
CREATE INDEX long_bf ON long USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
VACUUM ANALYZE long;
SELECT read_all('long', 'id');
SELECT length, substring(gates FROM 'asked.*') FROM unnest('{100,32000}'::int[]) AS length, LATERAL gates(format(
	'SELECT FROM (SELECT repeat(''new '', %s) || g AS t, -g AS n FROM generate_series(1, 300) AS g OFFSET 0) AS s
		JOIN long AS a ON a.id = s.n AND a.title = s.t', length / 4), 'ANALYZE, TIMING off');
-- The smaller the index, the more are to be absent.
SELECT read_all('articles', 'title');
SELECT substring(counted FROM 'asked (\d+)')::int < 100 AS gives_up FROM counted(1000, 5, 'articles', 's.t');
-- Of a table that is scanned whole, few; and none that has a page or two.
SELECT * FROM counted(500, 1, 'plain', 's.t');
SELECT * FROM counted(500, 0, 'plain', 's.t');
CREATE TABLE few WITH (autovacuum_enabled = off) AS SELECT title FROM plain;
CREATE INDEX few_bf ON few USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
SELECT * FROM counted(1, 10, 'few', 's.t');
DELETE FROM few WHERE ctid >= '(2,1)';
VACUUM ANALYZE few;
SELECT * FROM counted(1, 10, 'few', 's.t');
DELETE FROM few;
VACUUM ANALYZE few;
SELECT * FROM counted(1, 10, 'few', 's.t');
-- Statements of one row each learn as well, and what is not asked is not locked.
CREATE FUNCTION questions(value text) RETURNS TABLE (questions bigint, locked bigint) LANGUAGE plpgsql AS $$
DECLARE
	before bigint := pg_stat_get_xact_numscans('deep_bf'::regclass);
	n int;
BEGIN
	FOR i IN 1..200 LOOP
		SELECT count(*) INTO n FROM staged AS s, LATERAL (SELECT FROM deep AS d WHERE d.title = rpad(value || s.n, 400) OFFSET 0) AS l WHERE s.n = 1;
	END LOOP;
	RETURN QUERY SELECT pg_stat_get_xact_numscans('deep_bf'::regclass) - before, count(*) FROM pg_locks
		WHERE relation = 'deep_bf'::regclass AND pid = pg_backend_pid();
END $$;
SELECT forget();
SELECT questions FROM questions('new ');
SELECT forget();
SELECT questions FROM questions('title ');
SELECT * FROM questions('new ');
-- Nor can it be dropped while it is asked.
CREATE FUNCTION drop_filter() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DROP INDEX deep_bf; RETURN 1; END $$;
SELECT forget();
SELECT count(drop_filter()) FROM staged AS s WHERE n = 1 AND NOT EXISTS (SELECT FROM deep AS d WHERE d.title = s.title OFFSET 0);

-- Columns that are altered under it.
CREATE TABLE altered (gone int, n int, title varchar(20)) WITH (autovacuum_enabled = off);
INSERT INTO altered SELECT g, g, 'title ' || g FROM generate_series(1, 1000) AS g;
CREATE INDEX altered_title_bf ON altered USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on);
CREATE INDEX altered_n_bf ON altered USING bloomfilter (n) WITH (expected = 10000, fpp = 0.0001, plans = on);
ANALYZE altered;
PREPARE by_n AS SELECT o, (SELECT count(*) FROM altered AS a WHERE n = o) FROM unnest('{7,1001,1002}'::int[]) AS o;
PREPARE by_altered AS SELECT o, (SELECT count(*) FROM altered AS a WHERE title = o) FROM unnest('{title 7,new}'::text[]) AS o;
EXECUTE by_n;
EXECUTE by_altered;
ALTER TABLE altered DROP gone, ALTER title TYPE text, ALTER n TYPE bigint USING n + 1;
EXECUTE by_n;
EXECUTE by_altered;
SELECT * FROM gates('EXECUTE by_n', 'ANALYZE, TIMING off');
SELECT * FROM gates('EXECUTE by_altered', 'ANALYZE, TIMING off');
DROP INDEX altered_n_bf;
EXECUTE by_n;

-- The joins are those that the planner chooses without.
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
CREATE INDEX parts_id_bf ON parts USING bloomfilter (id) WITH (expected = 10000, plans = on);
CREATE TEMP TABLE queries AS SELECT format(query, few) AS query FROM unnest('{1,5,20,40}'::int[]) AS few, unnest(ARRAY[
	'SELECT FROM staged AS s WHERE n <= %s AND NOT EXISTS (SELECT FROM articles AS a WHERE a.title = s.title)',
	'SELECT FROM staged AS s WHERE n <= %s AND EXISTS (SELECT FROM plain AS a WHERE a.title = s.title)',
	'SELECT FROM staged AS s LEFT JOIN articles AS a USING (title) WHERE a.id IS NULL AND s.n <= %s',
	'SELECT FROM staged AS s JOIN articles AS a USING (title) JOIN parts AS p USING (title) WHERE s.n <= %s',
	'SELECT FROM articles AS l JOIN articles AS r ON l.title = r.v WHERE l.id <= %s * 50 OR l.id = 4000',
	'SELECT FROM articles AS l JOIN plain AS r USING (title) WHERE l.id <= %s * 50',
	'SELECT FROM articles AS l JOIN parts AS p USING (title) JOIN staged AS s USING (title) WHERE l.id <= %s * 50',
	'SELECT (SELECT count(*) FROM staged AS s JOIN parts AS p USING (title) WHERE p.id = o AND s.n <= %s) FROM generate_series(1, 3) AS o',
	'SELECT FROM parts AS p JOIN articles AS a USING (title) WHERE p.id <= %s * 10 ORDER BY a.title LIMIT 10']) AS query;
SELECT query, nodes(query, true), nodes(query, false) FROM queries WHERE nodes(query, true) <> nodes(query, false);
SELECT count(*) > 10 AS gated FROM queries WHERE EXISTS (SELECT FROM gates(query));

-- Within parallel plans.
BEGIN;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL min_parallel_index_scan_size = 0;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_material = off;
SET LOCAL enable_memoize = off;
SELECT * FROM gated('SELECT a.id FROM plain AS p JOIN articles AS a ON a.title = p.v || CASE p.id % 2 WHEN 0 THEN '''' ELSE ''0'' END');
SELECT * FROM gated('SELECT id FROM plain WHERE title = ''new''');
SELECT * FROM gated('SELECT p.id, (SELECT a.id FROM articles AS a WHERE a.title = p.title) FROM plain AS p WHERE p.id < 100');
SELECT count(*) AS settings FROM (SELECT set_config(name, 'on', true) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')) AS _;
SET LOCAL parallel_leader_participation = off;
-- Workers' questions count, too.
SELECT * FROM gates('SELECT p.id, a.id FROM plain AS p JOIN articles AS a ON a.title = p.v || CASE p.id % 2 WHEN 0 THEN '''' ELSE ''0'' END WHERE p.id BETWEEN 501 AND 749', 'ANALYZE, TIMING off');
SELECT * FROM gated('SELECT id FROM plain WHERE title = ''new''');
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a USING (title)');
-- Rows of this transaction, whose hashes may wait for its end.
INSERT INTO articles (id, title) SELECT 7000 + n, title FROM staged;
SAVEPOINT later;
INSERT INTO articles (id, title) SELECT 8000 + n, title FROM staged;
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a USING (title)');
ROLLBACK TO later;
SELECT * FROM gated('SELECT s.n, a.id FROM staged AS s JOIN articles AS a USING (title)');
ROLLBACK;

-- What policies hide is not told by a function of one's own.
CREATE ROLE gated_reader;
GRANT USAGE ON SCHEMA gated TO gated_reader;
CREATE TABLE hidden AS SELECT id, title FROM plain;
CREATE INDEX hidden_title ON hidden (title);
CREATE INDEX hidden_bf ON hidden USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001, plans = on, absent = 0.9);
ANALYZE hidden;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY small_ones ON hidden USING (id <= 10);
GRANT SELECT ON hidden, staged TO gated_reader;
CREATE FUNCTION leak(t text) RETURNS text IMMUTABLE LANGUAGE plpgsql COST 0.001 AS $$ BEGIN RAISE WARNING 'saw %', t; RETURN t; END $$;
SET ROLE gated_reader;
SELECT * FROM gated('SELECT n, (SELECT id FROM hidden AS h WHERE h.title = s.title) FROM staged AS s');
SELECT n, (SELECT id FROM hidden AS h WHERE h.title = s.title AND leak(h.title) <> '') FROM staged AS s WHERE n BETWEEN 9 AND 12;
RESET ROLE;
-- Nor do plans tell which constants are there.
SET ROLE gated_reader;
SELECT * FROM gated('SELECT id FROM hidden WHERE title = ''title 500''');
SELECT * FROM gated('SELECT id FROM hidden WHERE title = ''none''');
RESET ROLE;
-- Nor where it is a view that hides them.
CREATE VIEW barred WITH (security_barrier) AS SELECT id, title FROM plain WHERE v <> 'title 500';
SELECT * FROM gated('SELECT id FROM barred WHERE title = ''title 500''');
SELECT * FROM gated('SELECT id FROM barred WHERE title = ''none''');
-- Nor is a function of the table's rows called before, be it by a filter of its results.
CREATE INDEX hidden_lower_bf ON hidden USING bloomfilter (lower(title)) WITH (expected = 10000, fpp = 0.0001, plans = on);
SELECT * FROM gated('SELECT id FROM hidden AS h WHERE lower(h.title) = ''new''');
SET ROLE gated_reader;
SELECT * FROM gated('SELECT id FROM hidden AS h WHERE lower(h.title) = ''new''');
RESET ROLE;
DROP OWNED BY gated_reader;
DROP ROLE gated_reader;

-- Several columns: a filter is asked where there is an equality on each, in any order, by a join, a constant or a parameter.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE TABLE stock (dropped int, shop text, article int, code char(6), pieces int) WITH (autovacuum_enabled = off);
ALTER TABLE stock DROP COLUMN dropped;
INSERT INTO stock SELECT 'shop ' || g % 50, g, 'c' || g, g % 7 FROM generate_series(1, 5000) AS g;
INSERT INTO stock VALUES (NULL, 1, 'c', 1), ('shop 1', NULL, 'c', 1);
CREATE INDEX stock_key ON stock (shop, article);
CREATE INDEX stock_key_bf ON stock USING bloomfilter (article, shop) WITH (expected = 10000, fpp = 0.0001, plans = on);
CREATE TABLE orders (n int, shop text, article bigint, code char(9)) WITH (autovacuum_enabled = off);
INSERT INTO orders SELECT g, 'shop ' || g % 50, CASE WHEN g % 2 = 0 THEN g ELSE g + 7000 END, 'c' || g FROM generate_series(1, 40) AS g;
INSERT INTO orders VALUES (41, NULL, 1, 'c'), (42, 'shop 1', NULL, 'c'), (43, 'shop 1', 3000000001, NULL);
VACUUM ANALYZE stock, orders;
SELECT * FROM gated('SELECT o.n FROM orders AS o WHERE NOT EXISTS (SELECT FROM stock AS s WHERE s.shop = o.shop AND s.article = o.article)');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o LEFT JOIN stock AS s ON o.article = s.article AND o.shop = s.shop');
SELECT * FROM gated('SELECT o.n FROM orders AS o LEFT JOIN stock AS s USING (shop, article) WHERE s.article IS NULL');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s USING (shop, article) WHERE s.shop = ''shop 4''');
SELECT * FROM gated('SELECT o.n, (SELECT pieces FROM stock AS s WHERE s.article = o.article AND s.shop = ''shop 4'') FROM orders AS o');
SELECT * FROM gated('SELECT o.n FROM orders AS o WHERE (o.shop, o.article) IN (SELECT shop, article FROM stock OFFSET 0)');
SELECT * FROM gated('SELECT o.n FROM orders AS o WHERE EXISTS (SELECT FROM stock AS s WHERE (s.shop, s.article) = (o.shop, o.article))');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s ON s.shop = lower(o.shop) AND s.article = o.article + 1');
-- Not for a part of the columns, nor for what is no equality of each.
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s USING (shop) WHERE o.n < 4');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s USING (article)');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s ON s.shop = o.shop AND s.article >= o.article WHERE o.n < 4');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s ON s.shop = o.shop AND (s.article = o.article OR s.pieces = 0) WHERE o.n < 4');
SELECT * FROM gated('SELECT pieces FROM stock WHERE (shop, article) IN ((''x'', 1), (''shop 4'', 4))');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s ON s.shop = o.shop AND s.article IS NOT DISTINCT FROM o.article');
-- char(n), expressions, and a partial index.
CREATE INDEX stock_code_bf ON stock USING bloomfilter (code, (lower(shop))) WITH (expected = 10000, fpp = 0.0001, plans = on) WHERE pieces >= 0;
SELECT * FROM gated('SELECT o.n, (SELECT pieces FROM stock AS s WHERE s.code = o.code AND lower(s.shop) = o.shop AND s.pieces >= 0) FROM orders AS o');
SELECT * FROM gated('SELECT o.n, (SELECT pieces FROM stock AS s WHERE s.code = o.code AND lower(s.shop) = o.shop) FROM orders AS o');
-- Of several filters that of most columns, then the smallest.
CREATE INDEX stock_shop_bf ON stock USING bloomfilter (shop) WITH (expected = 10000, fpp = 0.0001, plans = on);
CREATE INDEX stock_large_bf ON stock USING bloomfilter (shop, article) WITH (expected = 1000000, fpp = 0.0001, plans = on);
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s USING (shop, article)');
SELECT * FROM gated('SELECT o.n, s.pieces FROM orders AS o JOIN stock AS s USING (shop) WHERE o.n < 4');
DROP INDEX stock_shop_bf, stock_large_bf;
-- A constant, and parameters.
DROP INDEX stock_key;
SELECT * FROM gated('SELECT pieces FROM stock WHERE shop = ''shop 4'' AND article = 5');
SELECT * FROM gated('SELECT pieces FROM stock WHERE article = 4 AND shop = ''shop 4''');
SELECT * FROM gated('SELECT pieces FROM stock WHERE article = 3000000001 AND shop = ''shop 4''');
PREPARE of_shop(text, int) AS SELECT pieces FROM stock WHERE shop = $1 AND article = $2;
SET plan_cache_mode = force_generic_plan;
SELECT * FROM gates('EXECUTE of_shop(''shop 4'', 5)', 'ANALYZE, COSTS off, TIMING off, SUMMARY off');
EXECUTE of_shop('shop 4', 4);
EXECUTE of_shop('shop 4', NULL);
RESET plan_cache_mode;
DEALLOCATE of_shop;
-- Partitions whose columns have another order.
CREATE TABLE parted (shop text, article int, pieces int) PARTITION BY LIST (shop);
CREATE TABLE parted_a (pieces int, gone int, article int, shop text);
ALTER TABLE parted_a DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_a FOR VALUES IN ('a');
CREATE TABLE parted_b PARTITION OF parted FOR VALUES IN ('b');
CREATE INDEX parted_bf ON parted USING bloomfilter (shop, article) WITH (expected = 10000, fpp = 0.0001, plans = on);
INSERT INTO parted SELECT CASE WHEN g % 2 = 0 THEN 'a' ELSE 'b' END, g, g FROM generate_series(1, 3000) AS g;
VACUUM ANALYZE parted;
SELECT * FROM gated('SELECT o.n FROM orders AS o WHERE NOT EXISTS (SELECT FROM parted AS p WHERE p.shop = CASE WHEN o.n % 3 = 0 THEN ''a'' ELSE ''b'' END AND p.article = o.article)');
SELECT * FROM gated('SELECT o.n, (SELECT sum(pieces) FROM parted AS p WHERE p.shop = ''a'' AND p.article = o.article) FROM orders AS o');
SELECT count(*) FILTER (WHERE NOT bf_live_contains('parted', ROW(shop, article))) AS denied, count(*) FILTER (WHERE bf_live_contains('parted', ROW(shop, article + 5000))) AS wrong FROM parted;
DROP TABLE stock, orders, parted;

DROP SCHEMA gated CASCADE;
