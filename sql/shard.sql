-- bf_shard: in which of several filters an element is.  The numbers on the right are
-- those of Python: zlib.crc32(bytes) % shards, integers by struct.pack('<q', i).
SELECT element, two, eight, most,
	(two, eight, most) = (found2, found8, found1024) AS same
FROM (VALUES
	('''''', bf_shard('', 2), bf_shard('', 8), bf_shard('', 1024), 0, 0, 0),
	('''Main Page''', bf_shard('Main Page', 2), bf_shard('Main Page', 8), bf_shard('Main Page', 1024), 1, 1, 705),
	('''文''', bf_shard('文', 2), bf_shard('文', 8), bf_shard('文', 1024), 1, 7, 543),
	('''Title''::varchar', bf_shard('Title'::varchar, 2), bf_shard('Title'::varchar, 8), bf_shard('Title'::varchar, 1024), 1, 7, 879),
	('''Title  ''::char(9)', bf_shard('Title  '::char(9), 2), bf_shard('Title  '::char(9), 8), bf_shard('Title  '::char(9), 1024), 1, 7, 879),
	('''Title''::name', bf_shard('Title'::name, 2), bf_shard('Title'::name, 8), bf_shard('Title'::name, 1024), 1, 7, 879),
	('''\x0001ff''::bytea', bf_shard('\x0001ff'::bytea, 2), bf_shard('\x0001ff'::bytea, 8), bf_shard('\x0001ff'::bytea, 1024), 0, 6, 990),
	('''''::bytea', bf_shard(''::bytea, 2), bf_shard(''::bytea, 8), bf_shard(''::bytea, 1024), 0, 0, 0),
	('''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid', bf_shard('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 2), bf_shard('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 8), bf_shard('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid, 1024), 0, 0, 472),
	('42::smallint', bf_shard(42::smallint, 2), bf_shard(42::smallint, 8), bf_shard(42::smallint, 1024), 1, 7, 503),
	('42', bf_shard(42, 2), bf_shard(42, 8), bf_shard(42, 1024), 1, 7, 503),
	('42::bigint', bf_shard(42::bigint, 2), bf_shard(42::bigint, 8), bf_shard(42::bigint, 1024), 1, 7, 503),
	('(-1)::smallint', bf_shard((-1)::smallint, 2), bf_shard((-1)::smallint, 8), bf_shard((-1)::smallint, 1024), 0, 4, 796),
	('-1', bf_shard(-1, 2), bf_shard(-1, 8), bf_shard(-1, 1024), 0, 4, 796),
	('-1::bigint', bf_shard(-1::bigint, 2), bf_shard(-1::bigint, 8), bf_shard(-1::bigint, 1024), 0, 4, 796),
	('9223372036854775807', bf_shard(9223372036854775807, 2), bf_shard(9223372036854775807, 8), bf_shard(9223372036854775807, 1024), 0, 4, 60),
	('4294967295::oid', bf_shard(4294967295::oid, 2), bf_shard(4294967295::oid, 8), bf_shard(4294967295::oid, 1024), 1, 7, 1023),
	('true', bf_shard(true, 2), bf_shard(true, 8), bf_shard(true, 1024), 1, 7, 1015),
	('''a''::"char"', bf_shard('a'::"char", 2), bf_shard('a'::"char", 8), bf_shard('a'::"char", 1024), 0, 4, 844),
	('date ''2024-05-01''', bf_shard(date '2024-05-01', 2), bf_shard(date '2024-05-01', 8), bf_shard(date '2024-05-01', 1024), 0, 0, 240),
	('timestamp ''1969-12-31 23:59:59''', bf_shard(timestamp '1969-12-31 23:59:59', 2), bf_shard(timestamp '1969-12-31 23:59:59', 8), bf_shard(timestamp '1969-12-31 23:59:59', 1024), 0, 0, 72),
	('timestamptz ''2024-05-01 12:00+00''', bf_shard(timestamptz '2024-05-01 12:00+00', 2), bf_shard(timestamptz '2024-05-01 12:00+00', 8), bf_shard(timestamptz '2024-05-01 12:00+00', 1024), 1, 5, 949),
	('inet ''192.0.2.1''', bf_shard(inet '192.0.2.1', 2), bf_shard(inet '192.0.2.1', 8), bf_shard(inet '192.0.2.1', 1024), 1, 3, 163),
	('macaddr ''08:00:2b:01:02:03''', bf_shard(macaddr '08:00:2b:01:02:03', 2), bf_shard(macaddr '08:00:2b:01:02:03', 8), bf_shard(macaddr '08:00:2b:01:02:03', 1024), 0, 6, 766),
	('repeat(''x'', 3000000)', bf_shard(repeat('x', 3000000), 2), bf_shard(repeat('x', 3000000), 8), bf_shard(repeat('x', 3000000), 1024), 1, 7, 911)
) AS v (element, found2, found8, found1024, two, eight, most);

-- What is equal is in one shard, whatever the type; and evenly so.
CREATE DOMAIN title AS text;
SELECT bf_shard('Main Page'::title, 8) = bf_shard('Main Page', 8) AS domain, bf_shard(NULL::text, 8), bf_shard('x', NULL), bf_shard('x', 1);
SELECT count(*), min(n) > 9500 AS even FROM (SELECT count(*) AS n FROM generate_series(1, 80000) i GROUP BY bf_shard(i, 8)) s;

-- Filters of the elements of a shard each are the whole one, and are asked by it.
CREATE TABLE shards AS SELECT bf_shard(i, 4) AS shard, bf_agg(i, 40000, 0.001) AS f FROM generate_series(1, 40000) i GROUP BY 1;
SELECT bool_and(bf_contains(f, i)) FROM generate_series(1, 40000) i JOIN shards s ON s.shard = bf_shard(i, 4);
SELECT bf_union_agg(f) = (SELECT bf_agg(i, 40000, 0.001) FROM generate_series(1, 40000) i) AS whole FROM shards;

-- An index of the rows of one shard.
CREATE TABLE articles (title text);
CREATE INDEX articles_1 ON articles USING bloomfilter (title) WHERE bf_shard(title, 4) = 1;
INSERT INTO articles SELECT 'Title ' || i FROM generate_series(1, 1000) i;
SELECT count(*) > 200 AS some, bool_and(bf_contains(bf_live_filter('articles_1'), title)) AS found FROM articles WHERE bf_shard(title, 4) = 1;

SELECT bf_shard('x', 0);
SELECT bf_shard('x', 1025);
SELECT bf_shard(1.5, 8);
SELECT bf_shard(ARRAY[1], 8);
DROP TABLE shards, articles;
DROP DOMAIN title;
