-- Live filters that grow: options, layers, their value, what lookups say.
-- When a layer is added is left to chance, within limits: tests ask for at least
-- so many; but layers, value, exports, information and lookups agree exactly.

-- What options mean, and which are refused.
CREATE TABLE sized (t text);
INSERT INTO sized SELECT 'x' || g FROM generate_series(1, 70000) AS g;
CREATE FUNCTION pg_temp.shape(text) RETURNS TABLE (options text, first bigint, expansion int, layers int, share float8)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE INDEX sized_i ON sized USING bloomfilter (t) ' || $1;
	RETURN QUERY SELECT $1, i.expected, i.expansion, i.layers, l.fpp / i.fpp
		FROM bf_live_info('sized') AS i, bf_live_layers('sized') AS l;
	DROP INDEX sized_i;
END
$$;
SELECT s.* FROM unnest('{"", WITH (expansion = 0), WITH (expansion = 1), WITH (expansion = 3), WITH (expected = 0),
	WITH (expected = 80000), "WITH (expected = 80000, expansion = 2)", "WITH (expected = 72000, expansion = 2)",
	"WITH (expected = 5000, expansion = 2)"}'::text[])
	WITH ORDINALITY AS o (o, n), pg_temp.shape(o) AS s ORDER BY n;
CREATE INDEX ON sized USING bloomfilter (t) WITH (expansion = -1);
CREATE INDEX ON sized USING bloomfilter (t) WITH (expansion = 32769);
CREATE INDEX ON sized USING bloomfilter (t) WITH (expansion = 'two');

-- An index over few rows becomes one over many.
CREATE INDEX sized_i ON sized USING bloomfilter (t) WITH (fpp = 0.001);
INSERT INTO sized SELECT 'y' || g FROM generate_series(1, 400000) AS g;
SELECT layers > 1 AS grew, estimated_fpp < fpp AS kept, estimated_count BETWEEN 460000 AND 480000 AS count, missing
FROM bf_live_info('sized'), bf_live_verify('sized');
-- REINDEX folds it, or gives it one size.
REINDEX INDEX sized_i;
SELECT expected, layers, expansion > 0 AS grows FROM bf_live_info('sized');
ALTER INDEX sized_i SET (expected = 500000);
SELECT expected, layers, expansion > 0 AS grows FROM bf_live_info('sized');
REINDEX INDEX sized_i;
SELECT expected, layers, expansion > 0 AS grows, bf_live_filter('sized') = (SELECT bf_agg(t, 500000, 0.001) FROM sized) AS as_aggregated
FROM bf_live_info('sized');
DROP TABLE sized;

-- Of each kind of element, by each expansion.
SET bloomext.overfull_notice = off;
CREATE TABLE grown (n int, t text, i bigint, u uuid);
-- What does not hold of a filter of the elements of numbers up to 6,000.
CREATE FUNCTION pg_temp.wrong(elem text, strategy text, expansion int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$
		WITH live AS MATERIALIZED (SELECT bf_live_filter('grown') AS f),
			alone AS MATERIALIZED (SELECT bf_import(bf_export_layer(f, layer), rtrim(%2$L, '0123456789'), (bf_info(f)).funnel) AS part FROM live, bf_layers(f)),
			-- Another value that grows: the shape of what follows from the first layer.
			other AS MATERIALIZED (SELECT bf_agg(x, 1000, 0.01, %2$L, %3$s) AS f FROM generate_series(1, 10000) AS x),
			asked AS MATERIALIZED (SELECT g, bf_live_contains('grown', %1$s) AS found, bf_contains(f, %1$s) AS in_value,
					(SELECT bool_or(bf_contains(part, %1$s)) FROM alone) AS in_part
				FROM live, generate_series(1, 9000) AS g)
		SELECT 'missing' FROM bf_live_verify('grown') WHERE (rows_checked, missing) <> (6000, 0)
		UNION SELECT 'lookups' FROM asked WHERE g <= 6000 AND NOT found
		UNION SELECT 'value' FROM asked WHERE in_value <> found
		UNION SELECT 'exports' FROM asked WHERE in_part <> found
		UNION SELECT 'fpp' FROM bf_live_info('grown') AS i, asked WHERE g > 6000 AND found
			GROUP BY i.layers HAVING %3$s > 0 AND count(*) > 3000 * 0.01 * CASE %3$s WHEN 1 THEN i.layers ELSE 1 END
		UNION SELECT 'shape' FROM live, bf_layers(f) AS l LEFT JOIN (SELECT o.* FROM other, bf_layers(f) AS o) AS r USING (layer)
			WHERE (l.bits, l.hashes, l.expected, l.fpp) IS DISTINCT FROM (r.bits, r.hashes, r.expected, r.fpp)
		UNION SELECT 'layers' FROM live, bf_layers(f) AS l FULL JOIN bf_live_layers('grown') AS r USING (layer)
			WHERE (l.bits, l.hashes, l.expected, l.fpp, l.bits_set) IS DISTINCT FROM (r.bits, r.hashes, r.expected, r.fpp, r.bits_set)
		UNION SELECT 'information' FROM live, bf_info(f) AS v, bf_live_info('grown') AS l
			WHERE (v.strategy, v.funnel, v.expected, v.fpp, v.hashes, v.bits, v.bits_set, v.fill, v.layers, v.expansion,
					v.estimated_count, v.estimated_fpp)
				IS DISTINCT FROM (l.strategy, l.funnel, l.expected, l.fpp, l.hashes, l.bits, l.bits_set, l.fill, l.layers, l.expansion,
					l.estimated_count, l.estimated_fpp)
		UNION SELECT 'pages' FROM bf_live_info('grown') AS i WHERE i.pages <> 1 + (SELECT sum(l.pages) FROM bf_live_layers('grown') AS l)
		UNION SELECT 'layers are too few, or too many' FROM bf_live_info('grown') WHERE layers NOT BETWEEN
			CASE %3$s WHEN 0 THEN 1 WHEN 1 THEN 5 WHEN 2 THEN 3 ELSE 2 END AND CASE %3$s WHEN 0 THEN 1 WHEN 1 THEN 10 ELSE 4 END
		$q$, elem, strategy, expansion);
END
$$;
DO $$
DECLARE
	col text;
	elem text;
	strat text;
	grows int;
	wrong text;
BEGIN
	FOR col, elem, strat, grows IN SELECT c, e, s, x FROM
		(VALUES ('t', '''t'' || g'), ('i', 'g'), ('u', 'md5(g::text)::uuid')) AS c (c, e),
		unnest('{guava,guava32,spark1,spark2,parquet}'::text[]) AS s, generate_series(0, 3) AS x WHERE c = 't' OR x = 2
	LOOP
		TRUNCATE grown;
		EXECUTE format('CREATE INDEX grown_i ON grown USING bloomfilter (%I) WITH (expected = 1000, fpp = 0.01, strategy = %s, expansion = %s)',
			col, strat, grows);
		FOR part IN 0..9 LOOP
			COMMIT;
			INSERT INTO grown SELECT g, 't' || g, g, md5(g::text)::uuid FROM generate_series(part * 600 + 1, part * 600 + 600) AS g;
		END LOOP;
		COMMIT;
		FOR wrong IN SELECT pg_temp.wrong(elem, strat, grows) LOOP
			RAISE WARNING '% % %: %', col, strat, grows, wrong;
		END LOOP;
		DROP INDEX grown_i;
	END LOOP;
END
$$;
DROP TABLE grown;

-- What waits on the pending pages of a layer, and what this transaction has kept
-- back, is in the value, and counts.
CREATE TABLE waits (t text) WITH (autovacuum_enabled = off);
CREATE INDEX waits_i ON waits USING bloomfilter (t) WITH (expected = 300000, fpp = 0.0001, expansion = 2);
INSERT INTO waits SELECT 'w' || g FROM generate_series(1, 350000) AS g;
INSERT INTO waits VALUES ('one');
INSERT INTO waits VALUES ('two');
SELECT layer, pending FROM bf_live_layers('waits');
BEGIN;
INSERT INTO waits VALUES ('three');
SELECT layer, pending FROM bf_live_layers('waits');
SELECT i.layers, i.pending, v.layers, i.estimated_count - v.estimated_count BETWEEN -1 AND 1 AS count
FROM bf_live_info('waits') AS i, bf_info(bf_live_filter('waits')) AS v;
SELECT e, bf_contains(f, e), bf_live_contains('waits', e) FROM bf_live_filter('waits') AS f, unnest('{w1,w350000,one,two,three,four}'::text[]) AS e;
SELECT rows_checked, missing FROM bf_live_verify('waits');
ROLLBACK;
SELECT bf_contains(bf_live_filter('waits'), 'three');
VACUUM waits;
SELECT layer, pending FROM bf_live_layers('waits');
DROP TABLE waits;

-- What waits on a layer's pending pages gets its bits when another layer follows, as
-- lookups do not look there any more.
CREATE TABLE sealed (t text) WITH (autovacuum_enabled = off);
CREATE INDEX sealed_i ON sealed USING bloomfilter (t) WITH (expected = 200000, fpp = 1e-9, expansion = 2);
INSERT INTO sealed SELECT 's' || g FROM generate_series(1, 150000) AS g;
INSERT INTO sealed VALUES ('one');
INSERT INTO sealed VALUES ('two');
SELECT layer, pending, missing FROM bf_live_layers('sealed'), bf_live_verify('sealed');
INSERT INTO sealed SELECT 's' || g FROM generate_series(150001, 300000) AS g;
SELECT layer, pending, missing FROM bf_live_layers('sealed'), bf_live_verify('sealed');
DROP TABLE sealed;
-- So many bits at once that they are set in several ranges of pages.
CREATE TABLE ranges (t text);
CREATE INDEX ranges_i ON ranges USING bloomfilter (t) WITH (expected = 200000, fpp = 1e-9);
INSERT INTO ranges SELECT 'r' || g FROM generate_series(1, 140000) AS g;
SELECT bf_live_filter('ranges') = bf_agg(t, 200000, 1e-9) AS as_aggregated FROM ranges;
DROP TABLE ranges;

-- A layer holds what no other has.  Rows whose other columns are updated add none,
-- be their elements in a layer before the newest, in the newest, which is full, or on
-- the pages where they wait for their bits.
CREATE TABLE same (n int, t text) WITH (autovacuum_enabled = off);
-- Adds rows until the filter's only layer is full.
CREATE PROCEDURE fill_same(first int, step int) LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO same SELECT g, 's' || g FROM generate_series(1, first) AS g;
	FOR i IN 0..999 LOOP
		COMMIT;
		EXIT WHEN (SELECT due FROM bf_live_filters WHERE index = 'same_i'::regclass) = 'growth';
		INSERT INTO same SELECT g, 's' || g FROM generate_series(first + i * step + 1, first + i * step + step) AS g;
	END LOOP;
END
$$;
-- Updates each row so often, and tells how many layers, and bits set, there are then.
CREATE PROCEDURE update_same(times int) LANGUAGE plpgsql AS $$
DECLARE
	layers bigint := (SELECT count(*) FROM bf_live_layers('same'));
	bits bigint := (SELECT sum(bits_set) FROM bf_live_layers('same'));
BEGIN
	FOR i IN 1..times LOOP
		UPDATE same SET n = n + 1;
		COMMIT;
	END LOOP;
	RAISE NOTICE '% layers, then % with % more bits', layers, (SELECT count(*) FROM bf_live_layers('same')),
		(SELECT sum(bits_set) FROM bf_live_layers('same')) - bits;
END
$$;
CREATE INDEX same_i ON same USING bloomfilter (t) WITH (expected = 2000, expansion = 1, fpp = 0.001);
CREATE INDEX same_n ON same (n);
CALL fill_same(1500, 7);
CALL update_same(30);
-- More rows do add layers; those before are asked from then on.
INSERT INTO same SELECT g, 's' || g FROM generate_series(3001, 5000) AS g;
CALL update_same(30);
SELECT missing FROM bf_live_verify('same');
TRUNCATE same;
DROP INDEX same_i;
CREATE INDEX same_i ON same USING bloomfilter (t) WITH (expected = 50000, expansion = 2, fpp = 1e-39);
INSERT INTO same VALUES (0, 'one');
INSERT INTO same VALUES (0, 'two');
CALL fill_same(46000, 190);
SELECT pending FROM bf_live_layers('same');
CALL update_same(1);
SELECT pending FROM bf_live_layers('same');
SELECT missing FROM bf_live_verify('same');
DROP TABLE same;
DROP PROCEDURE fill_same, update_same;

-- A concurrent build, which goes through the rows twice, makes as many layers as
-- another, for numbers of rows around that by which the first layer is full, and
-- around that for which it is made.
CREATE TABLE edge (rows int, t text) PARTITION BY LIST (rows);
DO $$
BEGIN
	FOR middle IN 1875..2000 BY 125 LOOP
		FOR n IN middle - 25..middle + 24 LOOP
			EXECUTE format('CREATE TABLE edge_%s PARTITION OF edge FOR VALUES IN (%1$s)', n);
			INSERT INTO edge SELECT n, n || ' ' || g FROM generate_series(1, n) AS g;
		END LOOP;
	END LOOP;
END
$$;
CREATE FUNCTION pg_temp.shapes() RETURNS TABLE (index text, layers jsonb) LANGUAGE sql AS $$
	SELECT l.index::text, jsonb_agg((l.layer, l.expected, l.estimated_count) ORDER BY layer) FROM bf_live_layers('edge') AS l GROUP BY 1
$$;
CREATE INDEX edge_i ON edge USING bloomfilter (t) WITH (expected = 2000, expansion = 1, fpp = 0.001);
CREATE TEMPORARY TABLE plain AS SELECT * FROM pg_temp.shapes();
REINDEX TABLE CONCURRENTLY edge;
SELECT jsonb_array_length(layers) AS layers, layers->0->>'f2' = '2000' AS as_expected, count(*) BETWEEN 20 AND 80 AS some FROM plain GROUP BY 1, 2 ORDER BY 2;
SELECT * FROM plain AS p FULL JOIN pg_temp.shapes() AS c USING (index) WHERE p.layers IS DISTINCT FROM c.layers;
DROP TABLE edge;

-- A build that is over-full says so; one of few distinct elements is not.
CREATE TABLE over (n int, t text);
INSERT INTO over SELECT 1, 'o' || g FROM generate_series(1, 3000) AS g;
INSERT INTO over SELECT 2, 'o' || g % 100 FROM generate_series(1, 3000) AS g;
CREATE INDEX over_i ON over USING bloomfilter (t) WITH (expected = 1000, fpp = 0.01);
REINDEX INDEX CONCURRENTLY over_i;
ALTER INDEX over_i SET (expected = 10);
REINDEX INDEX over_i;
ALTER INDEX over_i SET (expansion = 2);
REINDEX INDEX over_i;
CREATE INDEX ON over USING bloomfilter (t) WITH (expected = 100, fpp = 0.01) WHERE n = 2;
DROP TABLE over;

-- Tables that stand for several: as one value while their layers are alike.
CREATE TABLE parts (n int, t text) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
CREATE INDEX parts_i ON parts USING bloomfilter (t) WITH (expected = 1000, expansion = 2);
INSERT INTO parts SELECT g % 2 + 1, 'p' || g FROM generate_series(1, 1000) AS g;
SELECT count(*) FROM generate_series(1, 1000) AS g, bf_live_filter('parts') AS f WHERE NOT bf_contains(f, 'p' || g);
INSERT INTO parts SELECT 2, 'p' || g FROM generate_series(1001, 5000) AS g;
SELECT l.index, count(*) > 1 AS grew FROM bf_live_layers('parts') AS l GROUP BY 1 ORDER BY 1;
SELECT bf_live_filter('parts');
SELECT bf_live_filter('parts_i');
SELECT count(*) FROM parts WHERE NOT bf_live_contains('parts', t) OR NOT bf_live_contains('parts_i', t);
SELECT missing FROM bf_live_verify('parts');
SELECT bf_contains(bf_live_filter('parts_2'), 'p5000');
ALTER INDEX parts_1_t_idx SET (expected = 5000, expansion = 0);
ALTER INDEX parts_2_t_idx SET (expected = 5000, expansion = 0);
REINDEX TABLE parts;
SELECT count(*) FROM parts, (SELECT bf_live_filter('parts') AS f) AS v WHERE NOT bf_contains(f, t);
DROP TABLE parts;
CREATE TABLE parent (t text);
CREATE TABLE child () INHERITS (parent);
CREATE INDEX ON parent USING bloomfilter (t) WITH (expected = 1000);
CREATE INDEX ON child USING bloomfilter (t) WITH (expected = 2000);
SELECT bf_live_filter('parent');
DROP TABLE parent CASCADE;

-- One array of bits it is no more.
CREATE TABLE two (t text);
CREATE INDEX two_i ON two USING bloomfilter (t) WITH (expected = 100, expansion = 2);
INSERT INTO two SELECT g FROM generate_series(1, 150) AS g;
INSERT INTO two SELECT g FROM generate_series(151, 200) AS g;
SELECT bf_export(bf_live_filter('two'));
SELECT bf_export_layer(bf_live_filter('two'), 2);
SELECT layer, bf_count(bf_import(bf_export_layer(bf_live_filter('two'), layer), 'guava', 'utf8')) = estimated_count AS count FROM bf_live_layers('two');
-- Who may not read the table is told nothing, and a table without filters has none.
CREATE ROLE regress_live_stranger;
SET ROLE regress_live_stranger;
SELECT bf_live_layers('two');
RESET ROLE;
DROP ROLE regress_live_stranger;
DROP INDEX two_i;
SELECT bf_live_layers('two');
DROP TABLE two;
