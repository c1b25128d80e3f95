-- Filters that grow, or count their elements, take them by the batch: what one
-- leaves is what they leave one by one, however often an element comes and
-- however many layers a batch fills.
SET bloomext.overfull_notice = off;
CREATE FUNCTION pg_temp.add_one(filter bloomfilter, empty bloomfilter, element text) RETURNS bloomfilter
	LANGUAGE sql IMMUTABLE AS 'SELECT bf_add(coalesce(filter, empty), element)';
CREATE AGGREGATE pg_temp.add_each(bloomfilter, text) (sfunc = pg_temp.add_one, stype = bloomfilter);
CREATE TEMP TABLE drawn AS
	SELECT bag, i, 'e' || ('x' || left(md5(bag || ' ' || i), 6))::bit(24)::int % (50 * bag) AS element
	FROM generate_series(1, 4) AS bag, generate_series(1, 300) AS i;
CREATE TEMP TABLE built AS
	SELECT bag, strategy, expected, expansion,
			pg_temp.add_each(bf_create(expected, 0.1, strategy, expansion => expansion), element ORDER BY i) AS one_by_one,
			bf_agg(element, expected, 0.1, strategy, expansion ORDER BY i) AS by_aggregate,
			bf_add_all(bf_create(expected, 0.1, strategy, expansion => expansion), array_agg(element ORDER BY i)) AS by_array
	FROM drawn, unnest('{1,6,40}'::bigint[]) AS expected, unnest('{0,1,2,4}'::int[]) AS expansion,
		unnest('{guava,guava32,redisson,magnuss,tale2009,redisbloom,spark1,spark2,bitsandblooms,parquet}'::text[]) AS strategy
	WHERE expansion > 0 OR strategy = 'redisbloom'
	GROUP BY bag, strategy, expected, expansion;
SELECT bag, strategy, expected, expansion FROM built
	WHERE by_aggregate <> one_by_one OR by_array <> one_by_one;
SELECT count(*), sum((bf_info(one_by_one)).layers) AS layers, max((bf_info(one_by_one)).layers) AS most FROM built;

-- Hundreds of hashes, of which few fit in a batch.
SELECT expansion, strategy FROM drawn, unnest('{1,2}'::int[]) AS expansion, unnest('{guava,redisbloom}'::text[]) AS strategy
	WHERE bag = 4 GROUP BY expansion, strategy
	HAVING bf_agg(element, 20, 1e-50, strategy, expansion ORDER BY i) <>
		pg_temp.add_each(bf_create(20, 1e-50, strategy, expansion => expansion), element ORDER BY i);
