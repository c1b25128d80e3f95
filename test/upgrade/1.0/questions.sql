-- questions.sql
--	Ask what fill.sql stored, for answers that no version may change: false
--	positives are among them.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on

-- Each value: its bytes, which of i from 1 to 100 it has, what it is, what it is in the formats
-- that have it, and whether what is read of these is the same, and whether the same is made
-- of the elements today.
CREATE FUNCTION pg_temp.exchanged(f bloomfilter, format text, OUT exported bytea, OUT same boolean) LANGUAGE plpgsql AS $$
DECLARE i record;
BEGIN
	SELECT * INTO i FROM bf_info(f);
	exported := bf_export(f, format);
	same := bf_export(CASE WHEN format IN ('redis', 'bitset') THEN bf_import_bits(exported, format, i.bits, i.hashes, i.strategy, coalesce(i.funnel, 'utf8'))
		ELSE bf_import(exported, format, coalesce(i.funnel, 'utf8')) END, format) = exported;
EXCEPTION WHEN invalid_parameter_value THEN
	NULL;
END $$;
SELECT name, md5(f::text), translate(of_elements('bf_contains_each(f, $1)', element, 100, f), 'tf{},', '10'),
	(SELECT row(strategy, funnel, elements, expected, fpp, hashes, bits, bits_set, layers, expansion, counting, bytes) FROM bf_info(f)),
	(SELECT row(string_agg(format, ' ' ORDER BY format), md5(string_agg(exported, '' ORDER BY format)), bool_and(same)) FROM formats, pg_temp.exchanged(f, format) WHERE exported IS NOT NULL),
	f = of_elements(maker, element, 30, NULL)::bloomfilter
FROM made ORDER BY name COLLATE "C";

-- Elements of several columns, and in which shard elements are.
SELECT type, md5(of_elements('(SELECT string_agg(bf_element(e, o), '''' ORDER BY o) FROM unnest($1) WITH ORDINALITY AS t (e, o))', element, 100, NULL)),
	of_elements('(SELECT string_agg(bf_shard(e, 8)::text, '''' ORDER BY o) FROM unnest($1) WITH ORDINALITY AS t (e, o))', element, 100, NULL)
FROM elements ORDER BY type COLLATE "C";

-- What needs the extension's objects.  Filters that are made today know their elements,
-- so of them what they export is compared.
SELECT * FROM asked ORDER BY name COLLATE "C";
SELECT md5(bf_export(f)) FROM united;
SELECT has(d, '标题 1'), has(d, '标题 99'), md5(bf_export(d)), md5(bf_export((c).f)), md5(bf_export(a[1])), hash FROM derived ORDER BY hash;
BEGIN;
INSERT INTO derived DEFAULT VALUES RETURNING md5(bf_export(d)), hash;
ROLLBACK;
SET enable_seqscan = off;
SELECT b.name FROM made AS a JOIN made AS b ON a.f = b.f WHERE a.name = 'guava fixed' ORDER BY b.name COLLATE "C";
RESET enable_seqscan;
SELECT md5(bf_export(seen(title))), seen(title) ?? '标题 1' FROM (SELECT '标题 ' || i AS title FROM generate_series(1, 30) AS i) AS s;
SELECT srvoptions, umoptions FROM pg_user_mappings JOIN pg_foreign_server USING (srvname) WHERE srvname = 'cache';
SELECT count(*) FROM made JOIN pg_proc ON proname = 'bf_mirror' AND proacl::text !~ '[{,]=' WHERE name = 'imported';

-- Each live filter: rows that it denies, of elements that were there those that it has,
-- and of some that never were; what it is, and what keeps its "no" from being sure.
CREATE FUNCTION pg_temp.ask(OUT denied bigint, OUT gone bigint, OUT never bigint, index text, tab text, element text, among text, asked text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*) FILTER (WHERE i <= 300 AND NOT yes), count(*) FILTER (WHERE i BETWEEN 301 AND 400 AND yes), count(*) FILTER (WHERE i > 400 AND yes)
		FROM (SELECT i, bf_live_contains(%L, %s) AS yes FROM (SELECT i, %s AS e FROM generate_series(1, 2400) AS i OFFSET 0) AS s WHERE %s) AS t',
		index, asked, element, among) INTO denied, gone, never;
END $$;
SELECT index, denied, gone, never, bf_live_verify(index), (SELECT string_agg(
	row(i.strategy, i.funnel, i.expected, i.fpp, i.hashes, i.bits, i.bits_set, i.pending, i.layers, i.expansion, i.maybe)::text, ' ' ORDER BY i.index::text) FROM bf_live_info(index) AS i)
FROM live, pg_temp.ask(live.index, tab, element, among, asked) ORDER BY index COLLATE "C";

-- Plans ask, where they can.
SELECT count(*) FROM plans WHERE title = '标题 1';
SELECT count(*) FROM plans WHERE title = '标题 2000';
