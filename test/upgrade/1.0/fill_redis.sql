-- fill_redis.sql
--	One of every filter that 1.0 has in Redis, at the server "redis", in a database that
--	fill.sql has filled: of each layout, the strategies that it takes.  Nothing is random
--	except for ids of windows of time and of shards.
\set ON_ERROR_STOP on
SET client_min_messages = warning;

-- Not kept are keys of layout redisbloom, which are of a module's type: what is in them is the
-- stream that values of strategy redisbloom are exported as.
CREATE TABLE layouts (layout) AS SELECT unnest('{guava,growing,redisson,bitmap,redisbloom,window}'::text[]);

-- Elements are an expression of i again.  Those from 1 to n are there.
CREATE TABLE remote (key text PRIMARY KEY, element text NOT NULL, n int NOT NULL, maker text NOT NULL);

-- Windows are in slice 0, which lasts for a thousand years and more.
CREATE TABLE remote_kinds (kind, n, maker) AS VALUES
	('created', 30, '(bf_redis_create(''redis'', %1$L, 40, 0.01, %2$L, %3$L), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created equal layers', 30, '(bf_redis_create(''redis'', %1$L, 10, 0.01, %2$L, %3$L, 1), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created growing', 30, '(bf_redis_create(''redis'', %1$L, 5, 0.02, %2$L, %3$L, 2), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created shards', 30, '(bf_redis_create(''redis'', %1$L, 40, 0.01, %2$L, %3$L || '';shards=2''), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created growing shards', 30, '(bf_redis_create(''redis'', %1$L, 10, 0.02, %2$L, %3$L || '';shards=2'', 2), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created window', 30, '(bf_redis_create(''redis'', %1$L, 1200, 0.01, %2$L, %3$L, span => ''30000 years''), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created window of one slice', 30, '(bf_redis_create(''redis'', %1$L, 40, 0.01, %2$L, %3$L, span => ''30000 years'', slices => 1), bf_redis_add_each(''redis'', %1$L, $1))'),
	('created empty', 0, 'bf_redis_create(''redis'', %1$L, 40, 0.01, %2$L, %3$L)'),
	('created for a funnel', 0, 'bf_redis_create(''redis'', %1$L, 40, 0.01, %2$L, %3$L, funnel => ''utf8'')'),
	('mirrored', 30, 'bf_mirror(bf_add_all(bf_create(40, 0.01, %2$L), $1), ''redis'', %1$L, %3$L)'),
	('mirrored equal layers', 30, 'bf_mirror(bf_add_all(bf_create(10, 0.01, %2$L, NULL, 1), $1), ''redis'', %1$L, %3$L)'),
	('mirrored growing', 30, 'bf_mirror(bf_add_all(bf_create(5, 0.02, %2$L, NULL, 2), $1), ''redis'', %1$L, %3$L)'),
	('mirrored shards', 30, '(SELECT array_agg(bf_mirror(f, ''redis'', %1$L, %3$L || '';shards=2/'' || shard))
		FROM (SELECT bf_shard(e, 2) AS shard, bf_agg(e, 20, 0.01::float8, %2$L) AS f FROM unnest($1) AS e GROUP BY 1) AS s)'),
	('mirrored empty', 0, 'bf_mirror(bf_create(40, 0.01, %2$L), ''redis'', %1$L, %3$L)');

-- What a call of elements says, or the SQLSTATE that it fails with.
CREATE FUNCTION outcome(call text, element text, n int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN of_elements(call, element, n, NULL);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
-- Digits for elements up to a number, of which is which.
CREATE FUNCTION asked(key text, element text, n int) RETURNS text LANGUAGE sql AS $$
	SELECT translate(outcome(format('bf_redis_contains_each(''redis'', %L, $1)', key), element, n), 'tf{},', '10') $$;
-- Have some more elements be there; which keys refuse that, or deny one of all.
CREATE FUNCTION put_more(more int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s: %s', key, said) FROM remote, outcome(format('bf_redis_add_each(''redis'', %L, $1)', key), element, n + more) AS said
	WHERE said !~ '^\{' OR asked(key, element, n + more) !~ '^1+$' $$;

-- Some have braces in their keys.
INSERT INTO remote
SELECT key, '''标题 '' || i', n, format(maker, key, strategy, layout)
FROM layouts, strategies, remote_kinds, format('%s %s %s', layout, strategy, kind) AS name, unnest(ARRAY[name, '{of} ' || name]) AS key
WHERE layout <> 'redisbloom'
	AND (key = name OR strategy IN ('guava', 'redisson') AND kind IN ('created', 'created growing', 'created shards', 'created window'))
UNION ALL
SELECT key, element, 30, format('(bf_redis_create(''redis'', %1$L, 40, 0.01), bf_redis_add_each(''redis'', %1$L, $1))', key)
FROM elements, format('created %s', type) AS key WHERE type <> 'text'
UNION ALL
SELECT key, element, 30, format('bf_mirror(bf_add_all(bf_create(40, 0.01, funnel => %L), $1), ''redis'', %L)', funnel, key)
FROM funnels JOIN elements USING (type), format('mirrored %s', funnel) AS key
UNION ALL
SELECT key, CASE asked WHEN 'e' THEN element ELSE format('bf_element(length(%1$s), %1$s)', element) END, 300, format('bf_live_mirror(%L, ''redis'', %L)', index, key)
FROM live, format('live %s', index) AS key WHERE index ~ '_(fixed|equal_layers|growing|pairs)_bf$'
UNION ALL
-- All types of elements, where a layout itself says of which there are.
SELECT key, element, 30, format(maker, key, strategy, layout)
FROM elements, layouts, strategies, remote_kinds, format('%s %s %s', layout, strategy, type) AS key
WHERE type <> 'text' AND (layout, strategy, kind) IN (('window', 'guava', 'created window'), ('redisson', 'redisson', 'created'), ('growing', 'guava', 'created growing'),
	('growing', 'cassandra', 'created equal layers'), ('bitmap', 'tale2009', 'created'), ('bitmap', 'parquet', 'mirrored'))
UNION ALL
SELECT key, element, 30, format(maker, key, funnel)
FROM funnels JOIN elements USING (type), (VALUES
	('window', '(bf_redis_create(''redis'', %1$L, 1200, 0.01, funnel => %2$L, span => ''30000 years''), bf_redis_add_each(''redis'', %1$L, $1))'),
	('growing', '(bf_redis_create(''redis'', %1$L, 5, 0.02, expansion => 3, funnel => %2$L), bf_redis_add_each(''redis'', %1$L, $1))')) AS v (layout, maker),
	format('%s %s', layout, funnel) AS key
UNION ALL
-- Windows of several pieces.
SELECT key, '''标题 '' || i', 30, format('(bf_redis_create(''redis'', %1$L, %3$s, 0.01, %2$L, span => ''30000 years'', slices => %4$s), bf_redis_add_each(''redis'', %1$L, $1))',
	key, strategy, expected, slices)
FROM (VALUES ('guava', 1200000, 30), ('parquet', 300000, 7)) AS v (strategy, expected, slices), format('window %s of pieces', strategy) AS key;
DELETE FROM remote WHERE outcome(maker, element, n) IN ('22023', '0A000');
