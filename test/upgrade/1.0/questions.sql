-- questions.sql
--	Ask what fill.sql stored, for answers that no version may change: false
--	positives are among them.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on

-- Each value: its bytes, which of i from 1 to 100 it has, what it is, the bits of its
-- first layer as Redis has them, and whether the same is made of the elements today.
SELECT name, md5(f::text), translate(of_elements('bf_contains_each(f, $1)', element, 100, f), 'tf{},', '10'),
	(SELECT row(strategy, funnel, expected, fpp, hashes, bits, bits_set, layers, expansion, counting, bytes) FROM bf_info(f)),
	md5(bf_export_layer(CASE WHEN name LIKE '%counting' THEN bf_plain(f) ELSE f END, 0, 'redis')),
	f = of_elements(maker, element, 30, NULL)::bloomfilter
FROM made ORDER BY name COLLATE "C";

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
SELECT srvoptions, umoptions FROM pg_user_mappings JOIN pg_foreign_server USING (srvname);
SELECT count(*) FROM made JOIN pg_proc ON proname = 'bf_mirror' AND proacl::text !~ '[{,]=' WHERE name = 'text';

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
