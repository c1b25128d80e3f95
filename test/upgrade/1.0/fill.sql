-- fill.sql
--	One of everything that 1.0 stores, in a database of its own: values of each
--	strategy, kind and type of elements, live filters of each kind, and objects that
--	need those of the extension.  Nothing here is random.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- Values: elements are an expression of i, of which 1 to 30 are added.
CREATE TABLE strategies (strategy) AS SELECT unnest('{guava,guava32,redisson,magnuss,tale2009,cassandra,redisbloom,spark1,spark2,bitsandblooms,parquet}'::text[]);
CREATE TABLE formats (format) AS SELECT unnest('{guava,redisbloom,spark,bitsandblooms,parquet,redis,bitset}'::text[]);
CREATE TABLE elements (type text PRIMARY KEY, element text NOT NULL);
INSERT INTO elements VALUES
	('text', '''标题 '' || i'), ('bytea', 'decode(md5(i::text), ''hex'')'), ('smallint', '(i - 100)::smallint'), ('integer', 'i * 800011 - 100'),
	('bigint', 'i * 10000000019 - 100'), ('oid', '(i * 1000003::bigint)::oid'), ('uuid', 'md5(i::text)::uuid'), ('date', 'date ''1999-12-01'' + i'),
	('timestamp', 'timestamp ''1969-12-31'' + i * interval ''1 hour'''), ('timestamptz', 'timestamptz ''1969-12-31 UTC'' + i * interval ''1 hour'''),
	('boolean', 'i % 2 = 0'), ('"char"', '(i % 100)::"char"'), ('inet', '''10.0.0.0''::inet + i'), ('macaddr', 'substr(md5(i::text), 1, 12)::macaddr'),
	('name', '(''标题 '' || i)::name'), ('character(20)', '(''标题 '' || i)::char(20)');
CREATE TABLE funnels (funnel, type) AS VALUES ('utf8', 'text'), ('utf16', 'text'), ('bytes', 'bytea'), ('int', 'integer'), ('long', 'integer');
CREATE TABLE kinds (kind text PRIMARY KEY, element text NOT NULL, maker text NOT NULL);
INSERT INTO kinds
SELECT kind, '''标题 '' || i', maker
FROM (VALUES ('fixed', 'bf_add_all(bf_create(40, 0.01, %L), $1)'),
		('equal layers', 'bf_add_all(bf_create(10, 0.01, %L, NULL, 1), $1)'),
		('growing', 'bf_add_all(bf_create(5, 0.01, %L, NULL, 2), $1)'),
		('growing by three', 'bf_add_all(bf_create(5, 0.01, %L, NULL, 3), $1)'),
		('bits', 'bf_add_all(bf_create_bits(500, 8, %L), $1)'),
		('empty', 'bf_create(40, 0.01, %L)'),
		('counting', 'bf_remove(bf_add_all(bf_create(40, 0.01, %L, NULL, 0, true), $1 || $1[2:4]), $1[1])'),
		('counting to the limit', 'bf_remove(bf_add_all(bf_create(40, 0.01, %L, NULL, 0, true), $1 || array_fill($1[1], ARRAY[20])), $1[1])')) AS v (kind, maker)
UNION ALL
SELECT type, element, 'bf_add_all(bf_create(40, 0.01, %L), $1)' FROM elements WHERE type <> 'text'
UNION ALL
SELECT funnel, element, format('bf_add_all(bf_create(40, 0.01, %%L, %L), $1)', funnel) FROM funnels JOIN elements USING (type);

-- The elements of i up to n, as an array, and a filter, handed to what makes of them a text.
CREATE FUNCTION of_elements(expression text, element text, n int, f bloomfilter) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
	EXECUTE format('SELECT (%s)::text FROM (SELECT array_agg(%s ORDER BY i), $2 FROM generate_series(1, $1) AS i) AS s (elements, f)',
		replace(expression, '$1', 'elements'), element) INTO result USING n, f;
	RETURN result;
END $$;
-- What a strategy refuses is not there.
CREATE FUNCTION made_of(maker text, element text) RETURNS bloomfilter LANGUAGE plpgsql AS $$
BEGIN
	RETURN of_elements(maker, element, 30, NULL);
EXCEPTION WHEN invalid_parameter_value OR feature_not_supported THEN
	RETURN NULL;
END $$;
CREATE TABLE made (name text PRIMARY KEY, element text NOT NULL, maker text NOT NULL, f bloomfilter);
INSERT INTO made (name, element, maker)
SELECT strategy || ' ' || kind, element, format(maker, strategy) FROM strategies, kinds
UNION ALL VALUES
	('cassandra buckets', '''标题 '' || i', 'bf_add_all(bf_create_buckets(40, 6), $1)'),
	('aggregate', '''标题 '' || i', '(SELECT bf_agg(e) FROM unnest($1) AS e)'),
	('imported', '''标题 '' || i', 'bf_import(bf_export(bf_add_all(bf_create(40), $1)))');
UPDATE made SET f = made_of(maker, element);
DELETE FROM made WHERE f IS NULL;

-- What needs the extension's objects.
CREATE VIEW asked AS SELECT name, f @> '标题 1'::text AS yes, bf_count(f) AS count FROM made
	WHERE name SIMILAR TO 'guava(32)? (fixed|growing|empty|counting|utf16)';
CREATE MATERIALIZED VIEW united AS SELECT bf_union_agg(f) AS f FROM made WHERE name IN ('guava fixed', 'guava name');
CREATE FUNCTION has(f bloomfilter, e text) RETURNS boolean LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT e <@ f; END;
CREATE DOMAIN small_filter AS bloomfilter CHECK (octet_length(bf_export(VALUE)) < 1000);
CREATE TYPE named_filter AS (name text, f bloomfilter);
CREATE TABLE derived (d small_filter DEFAULT bf_create(10), c named_filter, a bloomfilter[], hash int GENERATED ALWAYS AS (bloomfilter_hash(d)) STORED);
INSERT INTO derived SELECT f, ROW(name, f)::named_filter, ARRAY[f, NULL] FROM made WHERE name IN ('guava fixed', 'redisson fixed');
CREATE INDEX by_value ON made USING hash (f);
SELECT bf_create(40) AS none \gset
CREATE AGGREGATE seen(text) (SFUNC = bf_add, STYPE = bloomfilter, INITCOND = :'none');
CREATE OPERATOR ?? (LEFTARG = bloomfilter, RIGHTARG = anycompatible, FUNCTION = bf_contains);
CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1');
CREATE USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (password 'secret');
REVOKE EXECUTE ON FUNCTION bf_mirror(bloomfilter, name, text, text, interval) FROM PUBLIC;

-- Live filters.  Elements are an expression of i again, those of them that the next
-- one holds for: of i from 1 to 300 rows are there, to 400 they were.  What is asked for
-- is made of them.
CREATE TABLE live (index text PRIMARY KEY, tab text NOT NULL, element text NOT NULL, among text NOT NULL DEFAULT 'true', asked text NOT NULL DEFAULT 'e');
CREATE FUNCTION put(tab text, element text, first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %I (title) SELECT %s FROM generate_series(%s, %s) AS i', tab, element, first, last);
END $$;
CREATE FUNCTION take(tab text, element text, first int, last int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('DELETE FROM %I WHERE title IN (SELECT %s FROM generate_series(%s, %s) AS i) AND title NOT IN (SELECT %2$s FROM generate_series(1, 300) AS i)',
		tab, element, first, last);
END $$;
CREATE FUNCTION make(name text, options text, element text = '''标题 '' || i', type text = 'text', kind text = '', columns text = 'title', asked text = 'e')
	RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE %s TABLE %I (title %s)', kind, name, type);
	EXECUTE format('CREATE INDEX %I ON %I USING bloomfilter (%s) WITH (%s)', name || '_bf', name, columns, options);
	INSERT INTO live VALUES (name || '_bf', name, element, 'true', asked);
	PERFORM put(name, element, 1, 400), take(name, element, 301, 400);
END $$;
CREATE FUNCTION can_be_live(strategy text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	CREATE TEMP TABLE tried (title text);
	EXECUTE format('CREATE INDEX ON tried USING bloomfilter (title) WITH (strategy = %s)', strategy);
	DROP TABLE tried;
	RETURN true;
EXCEPTION WHEN feature_not_supported THEN
	RETURN false;
END $$;

SELECT make(strategy || '_' || kind, format('strategy = %s, fpp = 0.01, ', strategy) || options, type => type, columns => columns, asked => asked)
FROM strategies, (VALUES ('fixed', 'expected = 400', 'text', 'title', 'e'),
		('equal_layers', 'expected = 50, expansion = 1', 'text', 'title', 'e'),
		('growing', 'expected = 20, expansion = 3', 'text', 'title', 'e'),
		('pairs', 'expected = 400', 'text, length int GENERATED ALWAYS AS (length(title)) STORED', 'length, title', 'ROW(length(e), e)')) AS v (kind, options, type, columns, asked)
WHERE can_be_live(strategy);
SELECT make('unsized', 'fpp = 0.001'), make('plans', 'expected = 400, plans = on, absent = 0.9'),
	make('utf16', 'expected = 400, funnel = utf16'), make('long', 'expected = 400, funnel = long', 'i * 800011 - 100', 'integer'),
	make('unlogged', 'expected = 400', kind => 'UNLOGGED');
SELECT make('of_' || regexp_replace(type, '\W', '', 'g'), 'expected = 400', element, type) FROM elements WHERE type <> 'text';

-- Large, where elements that come one by one wait: some have waited, some do.
SELECT make('waiting', 'expected = 5000000, fpp = 0.01');
TRUNCATE waiting;
SELECT format('INSERT INTO waiting VALUES (%L)', '标题 ' || i) FROM generate_series(1, 400) AS i WHERE i NOT BETWEEN 151 AND 300 \gexec
VACUUM waiting;
SELECT format('INSERT INTO waiting VALUES (%L)', '标题 ' || i) FROM generate_series(151, 300) AS i \gexec
SELECT take('waiting', '''标题 '' || i', 301, 400);

-- Over an expression, in shards, in partitions, built beside others, after a column that is gone, and
-- where the table was emptied by the transaction that made it.
CREATE TABLE shards AS SELECT title FROM guava_fixed;
CREATE INDEX lower_bf ON shards USING bloomfilter (lower(title)) WITH (expected = 400);
CREATE INDEX shard0_bf ON shards USING bloomfilter (title) WITH (expected = 400) WHERE bf_shard(title, 2) = 0;
CREATE INDEX shard1_bf ON shards USING bloomfilter (title) WITH (expected = 10, expansion = 2) WHERE bf_shard(title, 2) = 1;
INSERT INTO live VALUES ('lower_bf', 'shards', 'lower(''标题 '' || i)', 'true'),
	('shard0_bf', 'shards', '''标题 '' || i', 'bf_shard(e, 2) = 0'), ('shard1_bf', 'shards', '''标题 '' || i', 'bf_shard(e, 2) = 1');
SELECT put('shards', '''标题 '' || i', 301, 400), take('shards', '''标题 '' || i', 301, 400);
CREATE TABLE parts (id int GENERATED ALWAYS AS IDENTITY, title text) PARTITION BY HASH (title);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX parts_bf ON parts USING bloomfilter (title) WITH (expected = 200);
SELECT put('parts', '''标题 '' || i', 1, 400), take('parts', '''标题 '' || i', 301, 400);
INSERT INTO live VALUES ('parts_bf', 'parts', '''标题 '' || i');
CREATE TABLE beside AS SELECT title FROM guava_fixed;
CREATE INDEX CONCURRENTLY beside_bf ON beside USING bloomfilter (title) WITH (expected = 400);
INSERT INTO live VALUES ('beside_bf', 'beside', '''标题 '' || i');
SELECT put('beside', '''标题 '' || i', 301, 400), take('beside', '''标题 '' || i', 301, 400);
CREATE TABLE pairs (gone int, title text, length int GENERATED ALWAYS AS (length(title)) STORED);
ALTER TABLE pairs DROP gone;
CREATE INDEX pairs_bf ON pairs USING bloomfilter (length, title) WITH (expected = 400, fpp = 0.01);
SELECT put('pairs', '''标题 '' || i', 1, 400), take('pairs', '''标题 '' || i', 301, 400);
INSERT INTO live VALUES ('pairs_bf', 'pairs', '''标题 '' || i', 'true', 'ROW(length(e), e)');
BEGIN;
SELECT make('emptied', 'expected = 400');
TRUNCATE emptied;
SELECT put('emptied', '''标题 '' || i', 1, 400), take('emptied', '''标题 '' || i', 301, 400);
COMMIT;
