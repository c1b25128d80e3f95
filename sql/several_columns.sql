-- Live filters of several columns, and the bytes of their elements.  Prints only
-- what is wrong, or what has to be seen.
\set VERBOSITY sqlstate
\set ON_ERROR_STOP off

-- The bytes: what each part is, its length, and what it holds.
SELECT bf_element('north'::text, 1);
SELECT bf_element('a1'::text, 1) <> bf_element('a'::text, 11) AS parted,
	bf_element('ab'::text, 'c'::text) <> bf_element('a'::text, 'bc'::text) AS measured,
	bf_element('x'::text, 1::smallint) = bf_element('x'::varchar, 1::bigint) AS alike,
	bf_element('x'::name, 1) = bf_element('x  '::char(3), 1) AS without_blanks,
	bf_element('x '::text, 1) <> bf_element('x'::text, 1) AS with_blanks,
	bf_element(date '1970-01-02', 'x'::text) <> bf_element(1, 'x'::text) AS of_a_kind,
	bf_element(NULL::int, 'x'::text) IS NULL AS nothing;
SELECT bf_element('north', 1);
SELECT bf_element(1);
SELECT bf_element();
SELECT bf_element(VARIADIC ARRAY[1, 2]);
SELECT bf_element(1, ARRAY[2]);
SELECT bf_element(1, 2.5);
SELECT bf_element(1, ROW(1, 2));
SELECT format('SELECT bf_element(%s)', string_agg('1', ', ')) FROM generate_series(1, 33) \gexec

-- An index, of every type that can be a part.
CREATE TABLE parts (id serial, t text, v varchar(20), c char(8), n name, b bytea, i2 smallint, i4 int, i8 bigint, u uuid,
	o oid, d date, ts timestamp, tz timestamptz, f boolean, ch "char", ip inet, net cidr, m macaddr);
INSERT INTO parts (t, v, c, n, b, i2, i4, i8, u, o, d, ts, tz, f, ch, ip, net, m)
SELECT 't' || g, 'v' || g, 'c' || g, 'n' || g, ('b' || g)::bytea, g, -g, g * 10000000000, md5(g::text)::uuid, g,
	date '2000-01-01' - 50 + g, timestamp '1970-01-01' + g * interval '1 day', timestamptz '2020-01-01 UTC' + g * interval '1 s', g % 2 = 0,
	chr(33 + g % 90)::"char", ('10.0.0.' || g)::inet, ('10.0.' || g || '.0/24')::cidr, ('00:00:00:00:00:' || lpad(to_hex(g), 2, '0'))::macaddr
FROM generate_series(1, 100) AS g;
INSERT INTO parts (t, i4) VALUES ('only', 1), (NULL, 2), ('', 0);
DO $$
DECLARE
	a text;
	b text;
	n bigint;
	wrong bigint;
	missing bigint;
	equal boolean;
	strat text;
BEGIN
	FOR a, b, n IN
		SELECT x, y, row_number() OVER () FROM unnest('{t,v,c,n,b,i2,i4,i8,u,o,d,ts,tz,f,ch,ip,net,m}'::text[]) AS x,
			unnest('{t,c,i8,tz,ip,f}'::text[]) AS y
	LOOP
		strat := ('{guava,guava32,spark1,spark2,parquet}'::text[])[1 + n % 5];
		EXECUTE format('CREATE INDEX parts_bf ON parts USING bloomfilter (%I, id, %I) WITH (expected = 1000, fpp = 0.0001, strategy = %s)', a, b, strat);
		EXECUTE 'INSERT INTO parts SELECT * FROM parts WHERE id <= 10 LIMIT 10';
		EXECUTE format('SELECT count(*) FROM parts WHERE NOT bf_live_contains(''parts'', ROW(%I, id, %I))', a, b) INTO wrong;
		SELECT v.missing INTO missing FROM bf_live_verify('parts') AS v;
		EXECUTE format('SELECT bf_live_filter(''parts'') = bf_agg(bf_element(%I, id, %I), 1000, 0.0001, %L) FROM parts', a, b, strat) INTO equal;
		IF wrong + missing > 0 OR NOT equal THEN
			RAISE WARNING '% %: wrong %, missing %, equal %', a, b, wrong, missing, equal;
		END IF;
		EXECUTE format('SELECT count(*) FROM parts WHERE bf_live_contains(''parts'', ROW(%I, id + 100000, %I))', a, b) INTO wrong;
		IF wrong > 1 THEN
			RAISE WARNING '% %: % of absent', a, b, wrong;
		END IF;
		DROP INDEX parts_bf;
	END LOOP;
END
$$;

-- Elements of about the length from which on they are allocated.
CREATE TABLE long AS SELECT repeat('x', g) AS a, g AS b FROM generate_series(225, 245) AS g;
CREATE INDEX ON long USING bloomfilter (a, b) WITH (expected = 1000, fpp = 0.0001);
INSERT INTO long SELECT a, -b FROM long;
SELECT count(*) FILTER (WHERE NOT bf_live_contains('long', ROW(a, b)) OR NOT bf_live_contains('long', k)) AS denied,
	count(*) FILTER (WHERE bf_live_contains('long', ROW(a || 'x', b)) OR bf_live_contains('long', ROW(a, b + 1000))) AS wrong,
	bf_live_filter('long') = bf_agg(bf_element(a, b), 1000, 0.0001) AS equal, bf_live_verify('long') FROM long AS k;
DROP TABLE long;

-- Asked by a row.
CREATE TABLE stock (shop text, article int, pieces int);
INSERT INTO stock VALUES ('north', 1, 10), ('south', 2, 20), ('west', NULL, 30), ('a1', 1, 1), ('', -7, 0);
CREATE INDEX stock_bf ON stock USING bloomfilter (shop, article);
SELECT bf_live_contains('stock', ROW('north', 1)) AS literals, bf_live_contains('stock', ROW('north'::varchar, 1::bigint)) AS widths,
	bf_live_contains('stock', ROW('north', '1')) AS all_literals, bf_live_contains('stock_bf', ROW('north', 1)) AS by_index,
	bf_live_contains('stock', ROW('', '-7')) AS negative, bf_live_contains('stock', ROW('north', 1), '(shop, article)') AS by_columns,
	bf_live_contains('stock', ROW('north', 1), 'stock_bf') AS by_name;
SELECT bf_live_contains('stock', ROW('north', 2)) AS other, bf_live_contains('stock', ROW('a', 11)) AS parted,
	bf_live_contains('stock', ROW('west', NULL)) IS NULL AS of_null, bf_live_contains('stock', NULL::stock) IS NULL AS no_row,
	bf_live_contains('stock', ROW('north', 3000000000)) AS wide;
SELECT bf_live_contains_each('stock', ARRAY[ROW('north', 1), ROW('north', 2), NULL, ROW('north', NULL)]) AS each,
	bf_live_contains_each('stock', ARRAY[[ROW('north', 1)], [ROW('x', 1)]]) AS shaped,
	bf_live_contains_all('stock', ARRAY[ROW('north', 1), NULL, ROW('south', 2::bigint)]) AS every,
	bf_live_contains_all('stock', ARRAY[ROW('north', 1), ROW('south'::text, 3)]) AS not_every,
	bf_live_contains_each('stock', ARRAY[]::record[]) AS none;
-- One call site that meets rows of several types.
SELECT array_agg(bf_live_contains('stock', r) ORDER BY n) AS one_by_one, bf_live_contains_each('stock', array_agg(r ORDER BY n)) AS each
FROM (VALUES (1, ROW(''::text, -7)), (2, ROW(''::text, -7::bigint)), (3, ROW(''::text, -7::smallint)), (4, ROW(''::text, -7)), (5, ROW('', -7)),
	(6, ROW(''::varchar, -7)), (7, ROW(''::text, '-7')), (8, ROW(''::name, -7::bigint)), (9, ROW(''::text, -8::bigint))) AS v (n, r);
SELECT bf_live_new('stock', ARRAY[ROW('north', 1), ROW('north', 2), NULL, ROW('north', 2), ROW('x', '2')]);
SELECT bf_live_new('stock', ARRAY[ROW('north', 1), ROW('north', 2), NULL, ROW('north', 2), ROW('x', 2)]);
SELECT bf_live_new('stock', ARRAY[]::record[]), bf_live_new('stock', NULL::record[]);
CREATE TYPE stock_key AS (shop text, article int);
SELECT * FROM bf_live_new('stock', ARRAY[('north', 1), ('north', 2), ('north', NULL), (NULL, 2), ('north', 2), ('y', -1)]::stock_key[]);
SELECT * FROM bf_live_new('stock', ARRAY[]::stock_key[]);
SELECT * FROM bf_live_new('stock', NULL::stock_key[]);
SELECT * FROM bf_live_new('stock', ARRAY[ROW('x'::text, 1)]) AS t (shop text, article int);
SELECT * FROM bf_live_new('stock', ARRAY[ROW('x', 1)]) AS t (shop text, article int);
SELECT * FROM bf_live_new('stock', ARRAY[ROW('x', 1)]);
SELECT bf_live_new('stock', array_agg(k)) FROM (SELECT 'z' || g, g FROM generate_series(1, 2) AS g) AS k (shop, article);

-- A plan hands over the fields of ROW(...), unless they have names.
EXPLAIN (VERBOSE, COSTS off) SELECT bf_live_contains('stock', ROW(shop, article)) FROM stock;
EXPLAIN (VERBOSE, COSTS off) SELECT bf_live_contains(col => 'stock_bf', elem => k, rel => 'stock') FROM (SELECT 'north' AS shop, article FROM stock) AS k;
EXPLAIN (VERBOSE, COSTS off) SELECT bf_live_contains('stock', ROW('north', article)::stock_key) FROM stock;
SELECT bloomfilter_live_contains('stock', NULL, 'north', 1) AS there, bloomfilter_live_contains('stock', 'stock_bf', 'north', 2) AS absent,
	bloomfilter_live_contains('stock', '', 'north', NULL) IS NULL AS of_null, bloomfilter_live_contains(NULL, NULL, 1, 2) IS NULL AS nowhere;
SELECT bloomfilter_live_contains('stock', NULL, 'north'::text);
SELECT bloomfilter_live_contains('stock', NULL, VARIADIC ARRAY['north', '1']);
SELECT bloomfilter_live_contains('stock', NULL, 'north', ARRAY[1]);
SELECT format('SELECT bloomfilter_live_contains(''stock'', NULL%s)', repeat(', 1', 33)) \gexec

-- Refused: never a silent "no".
CREATE TYPE swapped_key AS (article int, shop text);
CREATE TYPE other_key AS (shop text, number int);
CREATE TABLE places (city text, shop text);
INSERT INTO places VALUES ('c', 's');
CREATE INDEX places_bf ON places USING bloomfilter (city, shop);
SELECT bf_live_contains('stock', ROW(1, 'north')::swapped_key);
SELECT bf_live_contains('stock', ROW('north', 1)::other_key);
SELECT bf_live_contains('places', k) FROM (SELECT 's' AS shop, 'c' AS city) AS k;
SELECT bf_live_contains('places', p) FROM places AS p;
SELECT bf_live_contains('places', k) FROM (SELECT shop, city FROM places OFFSET 0) AS k;
SELECT bf_live_contains('stock', ROW('north', 1, 2));
SELECT bf_live_contains('stock', ROW('north'));
SELECT bf_live_contains('stock', ROW());
SELECT bf_live_contains('stock', s) FROM stock AS s;
SELECT bf_live_contains('stock', ROW(1, 1));
SELECT bf_live_contains('stock', ROW('north', 'one'));
SELECT bf_live_contains('stock', ROW('north', 1.0));
SELECT bf_live_contains('stock', ROW('north', '1'::text));
SELECT bf_live_contains('stock', 'north'::text);
SELECT bf_live_contains('stock', 'north'::text, 'shop');
SELECT bf_live_contains('stock', bf_element('north'::text, 1));
SELECT bf_live_contains('stock', ROW('north', 1), 'shop');
CREATE TABLE single (b bytea, t text);
CREATE INDEX ON single USING bloomfilter (b);
SELECT bf_live_contains('single', ROW(bf_element('north'::text, 1), 'x'));
SELECT bf_live_contains('single', ROW());
DROP TABLE single;

-- Of a composite type that lost a column, and whose definition changes.
CREATE TYPE changing AS (shop text, gone date, article int);
ALTER TYPE changing DROP ATTRIBUTE gone;
SELECT bf_live_contains('stock', ROW('north', 1)::changing), bf_live_contains('stock', ROW('north', 2)::changing);
SELECT * FROM bf_live_new('stock', ARRAY[ROW('north', 1), ROW('north', 3)]::changing[]);
DO $$
DECLARE
	k changing := ROW('north', 1);
BEGIN
	FOR i IN 1 .. 2 LOOP
		IF NOT bf_live_contains('stock', k) THEN
			RAISE WARNING 'denied';
		END IF;
	END LOOP;
END
$$;
ALTER TYPE changing RENAME ATTRIBUTE article TO number;
SELECT bf_live_contains('stock', ROW('north', 1)::changing);

-- Rows of several types at one call site.
DO $$
DECLARE
	k record;
	said text := '';
BEGIN
	FOR i IN 1 .. 4 LOOP
		CASE i WHEN 1 THEN k := ROW('north', 1); WHEN 2 THEN k := ROW('north'::text, 1::bigint);
			WHEN 3 THEN k := ROW('north', NULL); ELSE SELECT 'north' AS shop, 2 AS article INTO k; END CASE;
		said := said || coalesce(bf_live_contains('stock', k)::text, 'null') || ' ';
	END LOOP;
	IF said <> 'true true null false ' THEN
		RAISE WARNING '%', said;
	END IF;
END
$$;

-- Which of several: by the number and the kinds of parts, or by its name.
CREATE INDEX stock_shop_bf ON stock USING bloomfilter (shop);
CREATE INDEX stock_three_bf ON stock USING bloomfilter (shop, article, pieces);
SELECT bf_live_contains('stock', ROW('north', 1)), bf_live_contains('stock', ROW('north', 1, 10)), bf_live_contains('stock', 'north'::text),
	bf_live_contains('stock', ROW('north', 1, 11)), bf_live_contains('stock', 'nort'::text);
CREATE INDEX stock_pieces_bf ON stock USING bloomfilter (shop, pieces);
SELECT bf_live_contains('stock', ROW('north', 1));
SELECT bf_live_contains('stock', ROW('north', 10), 'stock_pieces_bf'), bf_live_contains('stock', ROW('north', 10), '(shop, article)');
SELECT index, elements, maybe FROM bf_live_info('stock') ORDER BY index::text;
SELECT index, col, due FROM bf_live_filters WHERE relation = 'stock'::regclass ORDER BY index::text;
DROP INDEX stock_shop_bf, stock_three_bf, stock_pieces_bf;

-- Expressions, partial indexes.
CREATE INDEX stock_lower_bf ON stock USING bloomfilter (lower(shop), (article + 1), pieces) WHERE pieces > 0;
SELECT bf_live_contains('stock_lower_bf', ROW('north', 2, 10)), bf_live_contains('stock_lower_bf', ROW('north', 1, 10)),
	bf_live_verify('stock_lower_bf');
CREATE TYPE lower_key AS (lower text, expr int, pieces int);
SELECT bf_live_contains('stock_lower_bf', ROW('north', 2, 10)::lower_key);
DROP INDEX stock_lower_bf;

-- Columns of other types, by ALTER TABLE; a part that cannot be one any more.
ALTER TABLE stock ALTER article TYPE bigint;
SELECT bf_live_contains('stock', ROW('north', 1)), bf_live_verify('stock');
ALTER TABLE stock ALTER shop TYPE char(8);
SELECT bf_live_contains('stock', ROW('north  ', 1)), bf_live_contains('stock', ROW('north'::text, 1)), bf_live_contains('stock', ROW('north   '::text, 1)),
	bf_live_contains('stock', ROW('north'::char(9), 1)), bf_live_contains('stock', ROW('norths', 1)), bf_live_verify('stock');
SELECT bf_live_new('stock', ARRAY[ROW('new', 1), ROW('new  ', 1)]);
ALTER TABLE stock ALTER shop TYPE text;
ALTER TABLE stock ALTER article TYPE text USING article::text;
SELECT bf_live_contains('stock', ROW('north', '1')), bf_live_contains('stock', ROW('north', 1::text));
SELECT bf_live_contains('stock', ROW('north', 1));
ALTER TABLE stock ALTER article TYPE numeric USING article::numeric;
ALTER TABLE stock ALTER article TYPE int USING article::int;
CREATE INDEX ON stock USING bloomfilter (shop, (pieces::numeric));
CREATE INDEX ON stock USING bloomfilter (shop, (ARRAY[article]));
DO $$
DECLARE
	statement text;
BEGIN
	IF NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') THEN
		RETURN;	-- no ICU: initdb imports its collations where the build has it
	END IF;
	CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE loosely (shop text COLLATE loose, article int);
	CREATE TABLE loose_later (shop text);
	CREATE INDEX ON loose_later USING bloomfilter (shop COLLATE "C");
	ALTER TABLE loose_later ALTER shop TYPE text COLLATE loose;
	FOREACH statement IN ARRAY ARRAY[
		'CREATE INDEX ON stock USING bloomfilter (article, (shop COLLATE loose))',
		'SELECT bf_live_contains(''stock'', ROW(''north'' COLLATE loose, 1))',
		'SELECT bf_live_contains(''stock'', ROW(''north''::text COLLATE loose, 1))',
		-- Its equality is the column's, whatever the index's collation is.
		'CREATE INDEX ON loosely USING bloomfilter (shop COLLATE "C")',
		'CREATE INDEX ON loosely USING bloomfilter (shop COLLATE "C", article)',
		'SELECT bf_live_contains(''loose_later'', ''north'')']
	LOOP
		BEGIN
			EXECUTE statement;
			RAISE WARNING 'not refused: %', statement;
		EXCEPTION WHEN feature_not_supported THEN	-- as is meant
		END;
	END LOOP;
END $$;

-- Columns that are called as the fields of a ROW(...) are: which is meant cannot be known.
CREATE TABLE numbered (f1 text, f2 text);
CREATE INDEX numbered_bf ON numbered USING bloomfilter (f2, f1);
INSERT INTO numbered VALUES ('a', 'b');
SELECT bf_live_contains('numbered', q) FROM (SELECT f2, f1 FROM numbered) AS q;
SELECT bf_live_contains('numbered', q) FROM (SELECT f1, f2 FROM numbered) AS q;
SELECT bf_live_contains_each('numbered', ARRAY(SELECT q FROM (SELECT f1, f2 FROM numbered) AS q));
SELECT * FROM bf_live_new('numbered', ARRAY(SELECT q FROM (SELECT f1, f2 FROM numbered) AS q)) AS n (f1 text, f2 text);
SELECT bf_live_contains('numbered', ROW('b', 'a'));
SELECT bf_live_contains('numbered', ROW(f2, f1)) FROM numbered;
DROP INDEX numbered_bf;
CREATE INDEX numbered_bf ON numbered USING bloomfilter (f1, f2);
SELECT bf_live_contains('numbered', ROW('a', 'b')), bf_live_contains('numbered', q) FROM (SELECT f1, f2 FROM numbered) AS q;

-- No column names a filter of several.
CREATE INDEX stock_pieces ON stock USING bloomfilter (shop, pieces);
\set VERBOSITY default
SELECT bf_live_contains('stock', ROW('north', 1));
\set VERBOSITY sqlstate
DROP INDEX stock_pieces;

-- Rows are bytes: a funnel of another kind is refused, with a reason.
CREATE INDEX stock_bytes ON stock USING bloomfilter (shop, article) WITH (funnel = bytes);
DROP INDEX stock_bytes;
\set VERBOSITY default
CREATE INDEX ON stock USING bloomfilter (shop, article) WITH (funnel = utf16);
\set VERBOSITY sqlstate

-- What a value says of it.
SELECT bf_contains(bf_live_filter('stock'), bf_element('north'::text, 1)) AS there, bf_contains(bf_live_filter('stock'), bf_element('north'::text, 9)) AS absent;

DROP TABLE parts, stock, places;
DROP TYPE stock_key, swapped_key, other_key, changing, lower_key;
