-- The growing Redis filter: every row of its vectors, put by put.
-- Prints disagreements only.

CREATE TEMP TABLE v_cases (case_id int, n bigint, p float8, rule text, first_i int, inserted text,
	bit_size bigint, k int, layers int, grow_after text, grow_bits text, new_puts int, store text);
CREATE TEMP TABLE v_layers (case_id int, layer int, key text, byte_len bigint, bit_count bigint,
	redis_sha256 text, longs_sha256 text, redis_hex text);
CREATE TEMP TABLE v_elements (case_id int, seq int, value text, put_result int, layers_after int);
CREATE TEMP TABLE v_probes (case_id int, value text, inserted int, growing int, plain int);
\copy v_cases from 'test/vectors/growth/cases.tsv' with (format csv, delimiter E'\t', quote E'\b', header)
\copy v_layers from 'test/vectors/growth/layers.tsv' with (format csv, delimiter E'\t', quote E'\b', header)
\copy v_elements from 'test/vectors/growth/elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header)
\copy v_probes from 'test/vectors/growth/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header)

-- Element number i of a rule.
CREATE FUNCTION v_element(rule text, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE rule
		WHEN 'md5int' THEN md5(decode(regexp_replace(lpad(to_hex(i), 8, '0'), '(..)(..)(..)(..)', '\4\3\2\1'), 'hex'))
		ELSE replace(rule, '{i}', i::text) END
$$;

-- Put all of a case's elements, one by one; note when it grew, at what fill,
-- and how many puts changed it.
CREATE TEMP TABLE grown (case_id int, f bloomfilter, plain bloomfilter, grow_after text, grow_bits text, new_puts int);
DO $$
DECLARE
	c v_cases;
	f bloomfilter;
	before bloomfilter;
	plain bloomfilter;
	put int;
	fresh int;
	after int[];
	bits bigint[];
	was_new boolean;
	expected v_elements;
BEGIN
	FOR c IN SELECT * FROM v_cases ORDER BY case_id LOOP
		f := bf_create(c.n, c.p, funnel => 'utf8', expansion => 1);
		plain := bf_create(c.n, c.p, funnel => 'utf8');
		put := 0; fresh := 0; after := '{}'; bits := '{}';
		FOR repetition IN 1..CASE WHEN c.inserted LIKE '%repeated 3 times%' THEN 3 ELSE 1 END LOOP
			FOR i IN c.first_i .. c.first_i + split_part(c.inserted, ' ', 1)::int - 1 LOOP
				put := put + 1;
				before := f;
				f := bf_add(f, v_element(c.rule, i));
				plain := bf_add(plain, v_element(c.rule, i));
				was_new := f <> before;
				fresh := fresh + was_new::int;
				IF was_new AND length(bf_export_layer(f, 0)) * ((SELECT count(*) FROM bf_layers(f)))
					<> length(bf_export_layer(before, 0)) * ((SELECT count(*) FROM bf_layers(before))) THEN
					after := after || put;
					bits := bits || (SELECT bits_set FROM bf_layers(f) ORDER BY layer DESC OFFSET 1 LIMIT 1);
				END IF;
				SELECT * INTO expected FROM v_elements e WHERE e.case_id = c.case_id AND e.seq = put;
				IF FOUND AND (expected.put_result <> was_new::int
							  OR expected.layers_after <> (bf_info(f)).layers
							  OR expected.value <> encode(convert_to(v_element(c.rule, i), 'UTF8'), 'hex')) THEN
					RAISE NOTICE 'case % put %: % layers, new: %', c.case_id, put, (bf_info(f)).layers, was_new;
				END IF;
			END LOOP;
		END LOOP;
		INSERT INTO grown VALUES (c.case_id, f, plain, array_to_string(after, ','), array_to_string(bits, ','), fresh);
	END LOOP;
END
$$;

SELECT case_id, c.grow_after, g.grow_after, c.grow_bits, g.grow_bits, c.new_puts, g.new_puts, (bf_info(f)).*
	FROM v_cases c JOIN grown g USING (case_id)
	WHERE (c.grow_after, c.grow_bits, c.new_puts) IS DISTINCT FROM (g.grow_after, g.grow_bits, g.new_puts)
		OR (c.layers, c.bit_size * c.layers, c.k) IS DISTINCT FROM ((bf_info(f)).layers, (bf_info(f)).bits, (bf_info(f)).hashes)
	ORDER BY case_id;

-- The article's test, in so many words.
SELECT case_id, grow_after FROM grown WHERE case_id <= 2 ORDER BY case_id;

-- Each layer, in Redis's order and in Guava's.
SELECT v.case_id, v.layer
	FROM v_layers v JOIN grown g USING (case_id)
	WHERE v.byte_len <> length(bf_export_layer(f, layer, 'redis'))
		OR v.redis_sha256 <> encode(sha256(bf_export_layer(f, layer, 'redis')), 'hex')
		OR v.longs_sha256 <> encode(sha256(substr(bf_export_layer(f, layer), 7)), 'hex')
		OR (v.redis_hex <> '' AND v.redis_hex <> encode(bf_export_layer(f, layer, 'redis'), 'hex'))
		OR v.bit_count <> (SELECT l.bits_set FROM bf_layers(f) l WHERE l.layer = v.layer)
	ORDER BY 1, 2;
SELECT count(*) AS layers_of_no_case FROM v_layers WHERE case_id NOT IN (SELECT case_id FROM grown);

SELECT p.*
	FROM v_probes p JOIN grown g USING (case_id),
		convert_from(decode(p.value, 'hex'), 'UTF8') AS element
	WHERE bf_contains(f, element) <> (growing = 1)
		OR bf_contains(g.plain, element) <> (p.plain = 1)
	ORDER BY 1, 2;

-- bf_agg grows in the same way, in the same order of rows.
SELECT case_id FROM v_cases c JOIN grown g USING (case_id)
	WHERE case_id < 7 AND g.f <> (
		SELECT bf_agg(v_element(c.rule, i), c.n, c.p, 'guava', 1 ORDER BY i)
		FROM generate_series(c.first_i, c.first_i + c.inserted::int - 1) AS i);

DROP FUNCTION v_element(text, int);
