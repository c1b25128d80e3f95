-- The bytes of elements of several columns, as a program in Python made them by
-- doc/format.md, and the same asked of live filters.  Prints disagreements only.

CREATE TEMP TABLE v_several (number int GENERATED ALWAYS AS IDENTITY, types text, "values" text, element text);
\copy v_several (types, "values", element) from 'test/vectors/several/elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header)
SELECT count(*) AS too_few FROM v_several HAVING count(*) < 500;

DO $$
DECLARE
	v v_several;
	parts text;
	element bytea;
	there boolean;
BEGIN
	FOR v IN SELECT * FROM v_several LOOP
		SELECT string_agg(format('%L::%s', convert_from(decode(value, 'hex'), 'UTF8'), type), ', ' ORDER BY n)
			INTO parts FROM unnest(string_to_array(v.types, '|'), string_to_array(v."values", '|')) WITH ORDINALITY AS p (type, value, n);
		EXECUTE format('SELECT bf_element(%s)', parts) INTO element;
		IF encode(element, 'hex') <> v.element THEN
			RAISE WARNING '%: % is not %', parts, element, v.element;
		END IF;
		CONTINUE WHEN v.number % 5 <> 0;
		-- A filter that holds nothing but this row has the bits of the bytes.
		SELECT string_agg(format('c%s %s', n, type), ', ' ORDER BY n) INTO parts FROM unnest(string_to_array(v.types, '|')) WITH ORDINALITY AS p (type, n);
		EXECUTE format('CREATE TEMP TABLE v_row (%s)', parts);
		SELECT string_agg(format('%L', convert_from(decode(value, 'hex'), 'UTF8')), ', ' ORDER BY n)
			INTO parts FROM unnest(string_to_array(v."values", '|')) WITH ORDINALITY AS p (value, n);
		EXECUTE format('INSERT INTO v_row VALUES (%s)', parts);
		EXECUTE (SELECT format('CREATE INDEX v_row_bf ON v_row USING bloomfilter (%s) WITH (expected = 10, fpp = 0.0001)', string_agg(attname, ', ' ORDER BY attnum))
			FROM pg_attribute WHERE attrelid = 'v_row'::regclass AND attnum > 0);
		EXECUTE format('SELECT bf_live_contains(''v_row'', ROW(%s)) AND bf_live_contains(''v_row'', r) AND bf_live_filter(''v_row'') = '
			'bf_create(10, 0.0001) + decode(%L, ''hex'') FROM v_row AS r', parts, v.element) INTO there;
		IF there IS NOT TRUE THEN
			RAISE WARNING '%: not there', parts;
		END IF;
		DROP TABLE v_row;
	END LOOP;
END
$$;
