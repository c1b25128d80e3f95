-- Counting filters: what was removed is gone, what was not is not.

CREATE TEMP TABLE counted (f bloomfilter);
INSERT INTO counted SELECT bf_add_all(bf_create(100000, 0.25, funnel => 'int', counting => true), array_agg(i))
	FROM generate_series(1, 100000) AS i;
SELECT i.* FROM counted, bf_info(f) AS i;

-- 100,000 added, 50,000 removed: the rest is all found, and the filter is that
-- of the rest, as no counter was full.
DO $$
DECLARE
	g bloomfilter := (SELECT f FROM counted);
BEGIN
	FOR i IN 50001..100000 LOOP
		g := bf_remove(g, i);
	END LOOP;
	UPDATE counted SET f = g;
END
$$;
SELECT i FROM counted, generate_series(1, 50000) AS i WHERE NOT bf_contains(f, i) LIMIT 5;
SELECT bf_plain(f) = bf_agg(i, 100000, 0.25) AS like_the_rest
	FROM counted, generate_series(1, 50000) AS i GROUP BY f;
SELECT bf_measure_fpp(f) < 0.1 AS removed_are_gone FROM counted;
SELECT bf_export(f) = bf_export(bf_plain(f)) AS export_is_plain,
		bf_export(f, 'redis') = bf_export(bf_plain(f), 'redis') AS redis,
		bf_export_layer(f, 0) = bf_export(f) AS layer, f::bytea = bf_export(f) AS cast FROM counted;
SELECT f::text::bloomfilter = f AS same, bf_plain(bf_plain(f)) = bf_plain(f) AS plain_stays,
		(bf_info(f)).bits_set = (bf_info(bf_plain(f))).bits_set AS bits_set,
		bf_count(f) = bf_count(bf_plain(f)) AS count FROM counted;

-- A stored one is probed by slices too.
SELECT bool_and(bf_contains(f, i)) FROM counted, generate_series(1, 3) AS i;
SELECT bool_and(x) FROM counted, unnest(bf_contains_each(f, ARRAY[1, 2, 50000])) AS x;

-- An element added twice is there until it is removed twice.
SELECT bf_contains(bf_remove(f, 'x'::text), 'x'::text) AS once,
		bf_contains(bf_remove(bf_remove(f, 'x'::text), 'x'::text), 'x'::text) AS twice
	FROM (SELECT bf_create(10, counting => true) + 'x'::text + 'x'::text AS f) AS c;

-- A full counter has lost count: removing leaves it, and nothing is lost.
DO $$
DECLARE
	f bloomfilter := bf_add_all(bf_create(10, counting => true), array_fill('x'::text, ARRAY[20])) + 'y'::text;
BEGIN
	FOR i IN 1..40 LOOP
		f := bf_remove(f, 'x'::text);
	END LOOP;
	ASSERT bf_contains(f, 'x'::text), 'a full counter was taken down';
	ASSERT bf_contains(f, 'y'::text), 'another element was lost';
END
$$;

-- Union adds up, with full counters staying full; intersection takes the smaller.
SELECT bf_contains(bf_remove(f | f, 'x'::text), 'x'::text) AS added_up,
		bf_contains(bf_remove(f & f, 'x'::text), 'x'::text) AS the_smaller
	FROM (SELECT bf_create(10, counting => true) + 'x'::text AS f) AS c;
SELECT bf_plain(bf_union_agg(f)) = bf_union_agg(bf_plain(f)) AS same
	FROM (SELECT bf_add_all(bf_create(1000, 0.01, counting => true), array_agg(i)) AS f
		  FROM generate_series(1, 1000) AS i GROUP BY i % 20) AS c;

-- A sum of more than a counter can tell is a full one.
DO $$
DECLARE
	f bloomfilter := (SELECT bf_add_all(bf_create(100, counting => true), array_agg(i)) FROM generate_series(1, 50) AS i, generate_series(1, 10));
BEGIN
	f := f | f;
	FOR i IN 1..50 LOOP
		FOR n IN 1..20 LOOP
			f := bf_remove(f, i);
		END LOOP;
		ASSERT bf_contains(f, i), 'a full counter was taken down';
	END LOOP;
END
$$;

-- Removing what is surely not there changes nothing.
SELECT bf_remove(f, 'y'::text) = f AS same FROM (SELECT bf_create(100, 0.0001, counting => true) + 'x'::text AS f) AS c;

-- What cannot be.
\set VERBOSITY sqlstate
SELECT bf_remove(bf_create(10), 'x'::text);
SELECT bf_create(10, strategy => 'redisson', counting => true);
SELECT bf_create(10, expansion => 2, counting => true);
SELECT bf_create(10, counting => true) | bf_create(10);
SELECT bf_remove(bf_create(10, counting => true) + 1, 'x'::text);
SELECT bf_compatible(bf_create(10, counting => true), bf_create(10));
