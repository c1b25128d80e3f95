"""The rows of script/bench choosing: what else tells whether an element was there, over a btree on the same titles.

Those of doc/choosing.md.  Not measured: roaringbitmap, which Debian 12 does not have, and whose elements are
integers; RedisBloom, a module that one builds oneself (rows.py asks it, where it is there)."""
import collections
import subprocess

from measure import Row, Sql, Value, redis_server, sql
from rows import Live

# An index, or a value of some false positive probability; and for how many elements a statement asks at most.
Kind = collections.namedtuple('Kind', 'title index fpp asked')
KINDS = {
    'value_1': Kind('value, 1 %', None, 0.01, 10**6),
    'value_001': Kind('value, 0.01 %', None, 0.0001, 10**6),
    'live_1': Kind('live filter, 1 %', 'bloomfilter (title) WITH (expected = {}, fpp = 0.01)', 0.01, 10**6),
    'live_001': Kind('live filter, 0.01 %', 'bloomfilter (title) WITH (expected = {}, fpp = 0.0001)', 0.0001, 10**6),
    'hash': Kind('hash index', 'hash (title)', None, 10**6),
    # As it is made by default, it is far too small for values that are all different; then as large as a page takes.
    'brin': Kind('BRIN, text_bloom_ops', 'brin (title text_bloom_ops)', None, 20),
    'brin_large': Kind('the same, pages_per_range = 32',
                       'brin (title text_bloom_ops (n_distinct_per_range = 3500)) WITH (pages_per_range = 32)', None, 200),
    # As it is made by default, for several columns; then for one.
    'bloom': Kind("contrib's bloom", 'bloom (title)', None, 100),
    'bloom_one': Kind('the same, length = 32, col1 = 5', 'bloom (title) WITH (length = 32, col1 = 5)', None, 100),
}


class Others(Live):
    """A table of n titles for each kind, one without an index, and one under a btree."""

    def __init__(self, n, asked):
        extension = sql("SELECT 1 FROM pg_available_extensions WHERE name = 'bloom'")
        if extension:
            sql('CREATE EXTENSION IF NOT EXISTS bloom')
        self.all = {name: kind._replace(asked=min(kind.asked, asked)) for name, kind in KINDS.items() if extension or not name.startswith('bloom')}
        self.described = {'none': Kind('', None, None, asked), **self.all, 'btree': Kind('btree', 'btree (title)', None, asked)}
        self.kinds = tuple(self.described)
        super().__init__(n)
        sql('CREATE UNLOGGED TABLE stored (name text PRIMARY KEY, f bloomfilter);' + ''.join(
            f"INSERT INTO stored SELECT '{name}', bf_agg(title, {n + 500000}, {kind.fpp}) FROM t_none;"
            for name, kind in self.all.items() if not kind.index) + 'VACUUM ANALYZE stored;')

    def ddl(self, kind, table, expected):
        index = self.described[kind].index
        return f'CREATE INDEX {table}_i ON {table} USING {index.format(expected)}' if index else ''

    def drop(self):
        self.kinds = tuple(self.described)
        super().drop()
        sql('DROP TABLE stored')

    # What a kind is measured by.

    def bytes(self, kind):
        if self.described[kind].index:
            return Value(f"{self.ddl(kind, 't_none', self.n)}; SELECT pg_relation_size('t_none_i'); DROP INDEX t_none_i")
        return Value(f'SELECT pg_column_size(bf_agg(title, {self.n}, {self.described[kind].fpp})) FROM t_none')

    def build(self, kind, workers=0):
        if self.described[kind].index:
            return super().build(kind, workers)
        return Sql(f'CREATE TEMPORARY TABLE made AS SELECT bf_agg(title, {self.n}, {self.described[kind].fpp}) AS f FROM t_none', self.n)

    def asks(self, kind, title):
        """Whether a title is there."""
        if kind == 'none':
            return f'{title} IS NULL'
        if kind.startswith('value'):
            return f"bf_contains((SELECT f FROM stored WHERE name = '{kind}'), {title})"
        if kind.startswith('live'):
            return f"bf_live_contains('t_{kind}', {title})"
        return f'EXISTS (SELECT FROM t_{kind} WHERE title = {title} OFFSET 0)'

    def one(self, title):
        """One a statement."""
        return lambda kind: Sql(f'SELECT {self.asks(kind, title)}', times=min(1000, self.described[kind].asked),
                                before='SET enable_seqscan = off')

    def many(self, title):
        """As many as a statement asks for, made of i."""
        def work(kind):
            asked = self.described[kind].asked
            return Sql(f'SELECT count(*) FROM (SELECT {title} AS x FROM generate_series(1, {asked}) AS i OFFSET 0) AS s WHERE {self.asks(kind, "x")}',
                       asked, before='SET enable_seqscan = off')
        return work

    def insert(self, kind, rows):
        """Of new titles, and to the value where it is one."""
        new = f'INSERT INTO t_{kind} SELECT md5(random()::text) || random() FROM generate_series(1, {rows})'
        if not kind.startswith('value'):
            return new
        return f"WITH new AS ({new} RETURNING title) UPDATE stored SET f = bf_add_all(f, (SELECT array_agg(title) FROM new)) WHERE name = '{kind}'"

    def batch(self, kind):
        return Sql(self.insert(kind, 10000), 10000)

    def rows_alone(self, kind):
        times = 20 if kind.startswith('value') else 2000
        return Sql(f'DO $$ BEGIN FOR i IN 1 .. {times} LOOP {self.insert(kind, 1)}; COMMIT; END LOOP; END $$', times)


def others(s):
    """What else tells whether an element was there, over a btree on the same titles"""
    tables = Others(s.live, s.asked)
    number = f"(hashint4extended(i, 0) & x'7fffffff'::bigint) % {s.live} + 1"
    there = s.live // 2
    measures = {
        'size': (tables.bytes, {'metric': 'bytes', 'less': False}),
        'made, serial': (tables.build, {'less': False, 'moves': 'memory / code'}),
        'one lookup a statement, absent': (tables.one("'absent'"), {'less': False, 'moves': 'code / code'}),
        'one lookup a statement, there': (tables.one(f"md5('{there}') || ' {there}'"), {'less': False, 'moves': 'code / code'}),
        'many, absent': (tables.many("md5('absent ' || i) || ' ' || i"), {}),
        'many, there': (tables.many(f"md5(({number})::text) || ' ' || {number}"), {}),
        'INSERT of 10,000 rows, a row': (tables.batch, {}),
        'a transaction of one row, whole': (tables.rows_alone, {'less': False, 'moves': 'code / code'})}
    if s.hll:
        sketch = 'SELECT hll_add_agg(hll_hash_text(title)) AS sketch FROM t_none'
        yield Row('hll: size', tables.over, Value(f'SELECT pg_column_size(sketch) FROM ({sketch}) AS s'), tables.bytes('btree'), metric='bytes')
        yield Row('hll: made, serial', tables.over, Sql(f'CREATE TEMPORARY TABLE made AS {sketch}', s.live), tables.build('btree'),
                  moves='code / code')
        sql('DROP INDEX t_none_i')
    if s.hiredis:
        yield from over_redis(s, tables)
    # The last ones make the tables larger.
    for name, (measure, options) in measures.items():
        for kind in tables.all:
            tables.kinds = 'none', kind, 'btree'
            yield tables.row(f'{tables.described[kind].title}: {name}', measure, **options)
            sql('DROP INDEX IF EXISTS t_none_i')
    tables.drop()


def over_redis(s, tables):
    """Asked through Redis, by the clock; and a SET there."""
    redis_server(s, 'asked')
    sql("SELECT bf_mirror(f, 'asked', 'titles') FROM stored WHERE name = 'value_001'")
    absent = "md5('absent ' || i) || ' ' || i"
    one = Sql("SELECT bf_redis_contains('asked', 'titles', 'absent'::text)", times=1000, before="SELECT bf_redis_info('asked', 'titles')")
    yield Row('bf_redis_contains, 0.01 %: one lookup a statement, absent, by the clock', tables.over, one, tables.one("'absent'")('btree'), metric='clock',
              moves='kernel / code')
    many = Sql(f"SELECT count(bf_redis_contains_each('asked', 'titles', ARRAY(SELECT {absent} FROM generate_series(1, {s.asked}) AS i)))", s.asked)
    yield Row('bf_redis_contains_each, 0.01 %: many in an array, absent, by the clock', tables.over, many, tables.many(absent)('btree'), metric='clock',
              moves='kernel / memory')
    with subprocess.Popen(['psql', '-XAtqc', "SELECT 'SADD seen \"' || title || '\"' FROM t_none"], stdout=subprocess.PIPE) as titles:
        subprocess.run(['redis-cli', '-s', s.socket, '--pipe'], stdin=titles.stdout, stdout=subprocess.DEVNULL, check=True)
    taken = float(subprocess.run(['redis-cli', '-s', s.socket, 'MEMORY', 'USAGE', 'seen', 'SAMPLES', '0'], stdout=subprocess.PIPE, check=True).stdout)
    yield Row('a SET in Redis: size', tables.over, Value(f'SELECT {taken}'), tables.bytes('btree'), metric='bytes')
    sql('DROP SERVER asked CASCADE')
