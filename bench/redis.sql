-- redis.sql: times in ms, as name=value; see redis.sh.
SET client_min_messages = warning;
DROP SERVER IF EXISTS bench CASCADE;
CREATE SERVER bench FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket :'socket', command_timeout '60000');
CREATE USER MAPPING FOR CURRENT_USER SERVER bench;
CREATE TEMP TABLE batches AS
	SELECT array_agg('Title number ' || i) AS titles
	FROM generate_series(1, :elements) AS i GROUP BY (i - 1) / 1000;
CREATE TEMP TABLE large AS SELECT bf_create(100130000, 0.01) AS f;

CREATE FUNCTION pg_temp.ms(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE query;
	RETURN extract(epoch FROM clock_timestamp() - start) * 1000;
END $$;

-- The filter as it comes out of an expression, in memory: what is measured is
-- the way to Redis, not the way out of a table.
CREATE FUNCTION pg_temp.mirror_ms() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	filter bloomfilter;
	start timestamptz;
	best float8 := 'infinity';
BEGIN
	SELECT f || 'x' INTO filter FROM large;
	FOR i IN 1 .. 7 LOOP
		start := clock_timestamp();
		PERFORM bf_mirror(filter, 'bench', 'large');
		best := least(best, extract(epoch FROM clock_timestamp() - start) * 1000);
	END LOOP;
	RETURN best;
END $$;
SELECT 'mirror=' || pg_temp.mirror_ms();
SELECT bf_redis_drop('bench', 'large') \g /dev/null

SELECT bf_redis_create('bench', 'titles', :elements, 0.01) \g /dev/null
SELECT 'hashes=' || hashes FROM bf_redis_info('bench', 'titles');
SELECT 'add=' || pg_temp.ms($$SELECT count(bf_redis_add('bench', 'titles', titles)) FROM batches$$);
SELECT 'contains=' || pg_temp.ms($$SELECT count(bf_redis_contains('bench', 'titles', titles)) FROM batches$$);
DROP SERVER bench CASCADE;
