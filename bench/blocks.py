"""The rows of script/bench's table that are of strategy parquet, whose elements wait for memory once, and of guava beside it."""
import os

from measure import Pages, Row, Serving, Sql, Value, redis_server, restarted, sql
from rows import agg

P = 0.0001
# Of so many titles a filter has 2 kB.
FEW = 600
SHARES = (0, 50, 100)


def goals(parquet):
    """The strategies, and what is wanted of each."""
    return {'parquet': parquet, 'guava': None}.items()


def pseudorandom(i, n):
    """From 1 to n."""
    return f"1 + (hashint8extended({i}, 0) & x'7fffffffffff'::bigint) % {n}"


def name(of, strategy):
    """Of a filter of the titles up to a number."""
    return f"(SELECT f FROM filters WHERE name = '{strategy} {of}')"


def arrays(of, share, strategy, asked):
    """What an element takes in arrays of 1,000, share percent of which are there, less all that a statement takes which
    asks for one of each."""
    def ask(titles):
        return f'SELECT count(bf_contains_each({name(of, strategy)}, {titles})) FROM mixes WHERE of = {of} AND share = {share}'
    return Sql(ask('titles'), asked, less=Sql(ask('titles[1:1]'), asked))


def make(s):
    """Filters of all titles and of few, and arrays of 1,000 titles to be asked for."""
    title = "'Title ' || md5(j::text) || ' number ' || j"
    sql(f"""CREATE UNLOGGED TABLE mixes (of int, share int, titles text[]);
        ALTER TABLE mixes ALTER titles SET STORAGE external;
        INSERT INTO mixes SELECT of, share, array_agg({title}) FROM (
            SELECT of, share, i / 1000 AS number,
                   CASE WHEN {pseudorandom('-i', 100)} <= share THEN {pseudorandom('i', 'of')} ELSE {s.rows} + {pseudorandom('i', s.rows)} END AS j
            FROM generate_series(0::bigint, {s.asked - 1}) AS i, unnest(ARRAY[{FEW}, {s.rows}]) AS of, unnest(ARRAY{list(SHARES)}) AS share) AS drawn
        GROUP BY of, share, number;""" + ''.join(f"""
        INSERT INTO filters SELECT '{strategy} {of}', bf_agg(title, {of}, {P}, '{strategy}') FROM titles WHERE id <= {of};"""
        for strategy in ('parquet', 'guava') for of in (FEW, s.rows)) + 'VACUUM ANALYZE mixes, filters')


def blocks(s):
    """Strategy parquet, and guava beside it, p = 0.0001"""
    n, large = s.rows, s.large
    make(s)
    for strategy, goal in goals(1.65):
        work = agg(f"bf_agg(title, {n}, {P}, '{strategy}')")
        yield Row(f"bf_agg(title, n, {P}, '{strategy}')", 'count(title)', work, agg('count(title)'), goal, moves='code, memory / scan')
        yield Row(f"bf_agg(title, n, {P}, '{strategy}')", 'bf_agg into 1 kB, k = 1', work, agg('bf_agg_into(bf_create_bits(8192, 1), title)'),
                  goal and 1.2, moves='code, memory / code, scan')
    for strategy, goal in goals(1.3):
        def numbers(count, times=1):
            return Sql(f"SELECT bf_agg(i, {count}, {P}, '{strategy}') IS NULL FROM (SELECT generate_series(1::bigint, {count}) AS i) AS numbers",
                       count, times)
        yield Row(f"an element of bf_agg(bigint, 10n, {P}, '{strategy}')", 'of n/10', numbers(large), numbers(large // 100, 5), goal,
                  moves='code, memory / code')
    for strategy, goal in goals(1.3):
        for share in SHARES:
            yield Row(f'bf_contains_each in a filter of n titles, {strategy}, arrays of 1,000, {share} % there, an element',
                      f'in one of {FEW} titles', arrays(n, share, strategy, s.asked), arrays(FEW, share, strategy, s.asked), goal, moves='memory / code')
    for strategy, goal in goals(0.08):
        yield Row(f'bf_contains of the titles asked, {strategy}', 'hash anti join, work_mem 4MB',
                  Sql(f'SELECT count(*) FROM asked WHERE NOT bf_contains({name(n, strategy)}, title)'),
                  Sql('SELECT count(*) FROM asked WHERE NOT EXISTS (SELECT FROM titles WHERE titles.title = asked.title)',
                      before="SET work_mem = '4MB'; SET enable_mergejoin = off"), goal, moves='memory / memory, kernel')
    yield from arrow(s)
    yield from live(s)
    sql("DROP TABLE mixes; DELETE FROM filters WHERE name ~ '^(parquet|guava) '")


def arrow(s):
    """Of titles that are half there."""
    if s.arrow:
        path = os.path.join(s.work, 'arrow')
        sql(f"""\\copy (SELECT encode(bf_export(f), 'hex') FROM filters WHERE name = 'parquet {s.rows}') TO '{path}.filter'
            \\copy (SELECT unnest(titles) FROM mixes WHERE of = {s.rows} AND share = 50) TO '{path}.titles'""")
        yield Row('bf_contains_each, parquet, n titles, arrays of 1,000, half there, an element', "arrow-rs's Sbbf::check",
                  arrays(s.rows, 50, 'parquet', s.asked), s.arrow.ask(f'{path}.filter {path}.titles'), 1.5, moves='memory / memory')


def live(s):
    """Of ten times n numbers: what those that are there take, and what is read where a tenth of the filter fits shared buffers."""
    questions = 200000
    sql(f'CREATE UNLOGGED TABLE b_numbers AS SELECT i FROM generate_series(1::bigint, {s.large}) AS i; VACUUM b_numbers')

    def ask(offset):
        return Sql(f"""SELECT count(*) FROM (SELECT {offset} + {pseudorandom('j', s.large)} AS x FROM generate_series(1::bigint, {questions}) AS j OFFSET 0) AS s
                       WHERE bf_live_contains('b_numbers', x)""", questions,
                   less=Sql(f'SELECT count(x) FROM (SELECT {pseudorandom("j", s.large)} AS x FROM generate_series(1::bigint, {questions}) AS j OFFSET 0) AS s', questions))
    for strategy, goal in goals(1.2):
        sql(f'CREATE INDEX b_filter ON b_numbers USING bloomfilter (i) WITH (expected = {s.large}, fpp = {P}, strategy = {strategy}); CHECKPOINT')
        yield Row(f'bf_live_contains of a bigint that is there, {strategy}, a filter of 10n', 'of one that is not', ask(0), ask(s.large), goal)
        with restarted(f"{max(int(sql('''SELECT pg_relation_size('b_filter')''')) // 10240, 1024)}kB"):
            for offset, kind in (0, 'there'), (s.large, 'not there'):
                yield Row(f'blocks read a question, shared buffers a tenth of the filter, {strategy}, {kind}', 'one', Pages(ask(offset)), Value('SELECT 1'),
                          goal and 1.1, 'pages')
        sql('DROP INDEX b_filter')
    sql('DROP TABLE b_numbers')


def blocks_in_redis(s):
    """Strategy parquet in Redis over guava in layout bitmap, p = 0.01: what the server takes on the processor"""
    redis_server(s, 'blocks')
    sql("CREATE UNLOGGED TABLE others AS SELECT ARRAY(SELECT 'absent ' || t FROM unnest(titles) AS t) AS titles FROM batches")

    def asked(strategy, table):
        return Serving(s.redis, Sql(f"SELECT count(bf_redis_contains_each('blocks', 'blocks', titles)) FROM {table}", s.asked,
                                    before=f"""SELECT bf_redis_drop('blocks', 'blocks');
                                               SELECT bf_redis_create('blocks', 'blocks', {s.asked}, 0.01, '{strategy}', 'bitmap');
                                               SELECT count(bf_redis_add_each('blocks', 'blocks', titles)) FROM batches"""))
    for table, kind, goal in ('batches', 'there', 0.5), ('others', 'not there', 1):
        yield Row(f'bf_redis_contains_each in arrays of 1,000, {kind}, an element', "guava's", asked('parquet', table), asked('guava', table), goal)
    sql('DROP SERVER blocks CASCADE; DROP TABLE others')
