-- questions_redis.sql
--	Ask what fill_redis.sql has put into Redis, for answers that no version may change:
--	false positives are among them.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on

-- Each filter: how many elements it denies that are there, how many of 2,000 others it has,
-- and which; what it is; and its value, or why there is none.
SELECT key, length(replace(left(answers, n), '1', '')), length(replace(substr(answers, n + 1), '0', '')), md5(answers),
	outcome(format('(SELECT row(layout, strategy, funnel, elements, expected, fpp, hashes, bits, bits_set, layers, expansion, shards, bytes, has_witness, span, slices)
		FROM bf_redis_info(''redis'', %L))', key), element, 1),
	outcome(format('md5(bf_fetch(''redis'', %L)::text)', key), element, 1)
FROM remote, asked(key, element, n + 2000) AS answers ORDER BY key COLLATE "C";
