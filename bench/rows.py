"""The rows of script/bench's table, by section.  Each section is a generator that makes what its rows need before it
yields them, and may look at what those before it gave.  Where a goal is to keep what was reached, it is that and a
tenth, as figures of one run differ by so much from another's."""
import glob
import os
import subprocess
import time

from measure import Cold, Pages, Row, Serving, Sql, Value, redis_server, restarted, sql

PARALLEL = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0'
# What a time is of, and what it moves with from one machine to another: one word of the work, and one of its anchor.
MOVES = {
    'code': "instructions, on what the caches hold; with the processor and the compiler, most alike for both sides of a ratio",
    'scan': "instructions, too, and memory that is read from end to end; with its bandwidth",
    'memory': "waiting for memory at places nobody knows beforehand; with its latency, the size of L3 and of pages",
    'kernel': "copying to and from files and sockets; with the kernel, and what guards it",
    'cores': "several processes at a time; with the number of processors, and what else they do",
    'disk': "reading from the disk; with the disk",
    'counts': "no time, but bytes, pages or layers; the same everywhere but for chance, and for when a checkpoint comes",
}
TWO = "filters a JOIN filters b ON a.name = 'large' AND b.name = 'larger'"
TITLES = "(SELECT f FROM filters WHERE name = 'titles')"


def agg(arguments, table='titles', before=''):
    """An aggregate over all titles, whose value stays where it is."""
    return Sql(f'SELECT {arguments} IS NULL FROM {table}', before=before)


def aggregates(s):
    """bf_agg and its like over count(title), serial and cached"""
    n, over, count = s.rows, 'count(title)', agg('count(title)')
    if s.hll:
        yield Row('hll_add_agg(hll_hash_text(title))', over, agg('hll_add_agg(hll_hash_text(title))'), count, moves='code / scan')
    yield Row('bf_agg(title, n, 0.01)', over, agg(f'bf_agg(title, {n}, 0.01)'), count, 1.8)
    yield Row('bf_agg(title, n, 0.0001)', over, agg(f'bf_agg(title, {n}, 0.0001)'), count, 2.6)
    yield Row('bf_agg(title), sizing itself', over, agg('bf_agg(title)'), count, moves='memory, kernel / scan')
    yield Row('bf_agg(title), sizing itself', 'bf_agg(title, n, 0.03)', agg('bf_agg(title)'), agg(f'bf_agg(title, {n}, 0.03)'), 1.5,
              moves='memory, kernel / code, memory')
    yield Row("bf_agg(title, n/100, 0.01, 'guava', 2), growing to n", over, agg(f"bf_agg(title, {n // 100}, 0.01, 'guava', 2)"), count, 4)
    for strategy, goal in {'guava32': None, 'redisbloom': 3, 'redisson': 5, 'magnuss': None, 'tale2009': None, 'cassandra': None,
                           'spark1': None, 'spark2': None, 'bitsandblooms': None}.items():
        yield Row(f"bf_agg(title, n, 0.01, '{strategy}')", over, agg(f"bf_agg(title, {n}, 0.01, '{strategy}')"), count, goal,
                  moves='code / scan' if strategy in ('redisson', 'magnuss') else None)
    for p in ('0.01', '0.0001'):
        work = f'bf_agg(title, {n}, {p})'
        serial = Row(f'bf_agg(title, n, {p}), serial', f'{over}, serial', agg(work), count, metric='clock')
        yield serial
        yield Row(f'bf_agg(title, n, {p}), 2 workers', f'{over}, 2 workers', agg(work, before=PARALLEL),
                  agg('count(title)', before=PARALLEL), lambda: 1.15 * serial.ratio, 'clock', moves='memory, cores / scan, cores')
    yield Row('bf_union of two filters for 10n', 'bf_count of both', Sql(f'SELECT bf_union(a.f, b.f) IS NULL FROM {TWO}'),
              Sql(f'SELECT bf_count(a.f) + bf_count(b.f) FROM {TWO}'), 1.21, moves='scan / scan')


def lookups(s):
    """Lookups in stored filters, half of the elements in it"""
    batch = Sql(f'SELECT count(*) FROM asked WHERE NOT bf_contains({TITLES}, title)')
    for memory, goal in {'4MB': 0.06, '1GB': None}.items():
        yield Row('bf_contains of the titles asked', f'hash anti join, work_mem {memory}', batch,
                  Sql('SELECT count(*) FROM asked WHERE NOT EXISTS (SELECT FROM titles WHERE titles.title = asked.title)',
                      before=f"SET work_mem = '{memory}'; SET enable_mergejoin = off"), goal,
                  moves='memory / memory, kernel' if memory == '4MB' else None)
    yield Row('bf_contains_each, arrays of 1,000, an element', 'count(title), a row',
              Sql(f'SELECT count(bf_contains_each({TITLES}, titles)) FROM batches', s.asked,
                  less=Sql('SELECT count(cardinality(titles)) FROM batches', s.asked)), Sql('SELECT count(title) FROM titles', s.rows), 1.6,
              moves='memory / scan')
    yield from alternating(s)
    sql('CREATE INDEX titles_title ON titles (title); VACUUM ANALYZE titles;')
    for kind, title, goal in ('absent', 'no such title', 1), ('present', "Title ' || md5('5') || ' number 5", 2.2):
        yield Row(f'one lookup a statement, {kind}', "a btree's",
                  Sql(f"SELECT bf_contains(f, '{title}') FROM filters WHERE name = 'titles'", times=1000),
                  Sql(f"SELECT EXISTS (SELECT FROM titles WHERE title = '{title}')", times=1000), goal, moves='code / code')
    sql('DROP INDEX titles_title')


def alternating(s):
    """Lookups in rows of several filters, over as many in one of all their elements.  The goal is for filters that
    a call site keeps; at 4MB hash_mem is 8 MB, and those of ten million titles are 12."""
    asked = s.asked // 5
    for elements, of, memory, goal in ('n/10', s.rows // 10, '4MB', 2), ('n', s.rows, '4MB', None), ('n', s.rows, '64MB', None):
        yield Row(f'{asked:,} lookups in rows of 16 alternating filters, {elements} titles in all, work_mem {memory}', 'the same in one filter',
                  Sql(f"""SELECT count(*) FROM asked JOIN shards ON shard = hashtextextended(title, 0) & 15 AND of = {of}
                          WHERE id <= {asked} AND bf_contains(f, title)""", before=f"SET work_mem = '{memory}'"),
                  Sql(f"""SELECT count(*) FROM asked WHERE id <= {asked}
                          AND bf_contains((SELECT f FROM filters WHERE name = 'whole {of}'), title)"""), goal,
                  moves='scan / memory' if (elements, memory) == ('n', '4MB') else None)


def guava(s):
    """An element, over Guava in Java"""
    n = s.rows
    for p in ('0.01', '0.0001'):
        yield Row(f'bf_agg(title, n, {p}), scan included', 'BloomFilter.put',
                  Sql(f'SELECT bf_agg(title, {n}, {p}) IS NULL FROM titles', n), s.java.ask(f'put {p}'), 3, faster=True,
                  moves='code, memory / code, memory')
    yield Row('bf_contains, over the scan', 'BloomFilter.mightContain',
              Sql(f'SELECT count(*) FROM asked WHERE NOT bf_contains({TITLES}, title)', s.asked,
                  less=Sql('SELECT count(title) FROM asked', s.asked)),
              s.java.ask('contains 0.0001'), 1.8, faster=True)


def redis(s):
    """Redis by a unix socket, by the clock"""
    redis_server(s, 'cache')
    sql(f"""CREATE FUNCTION mirror_ns() RETURNS numeric LANGUAGE plpgsql AS $$
            DECLARE
                filter bloomfilter := f + 1 FROM filters WHERE name = 'large';
                start timestamptz;
            BEGIN
                PERFORM bf_mirror(filter, 'cache', 'large');
                start := clock_timestamp();
                PERFORM bf_mirror(filter, 'cache', 'large');
                RETURN extract(epoch FROM clock_timestamp() - start) * 1e9;
            END $$;""")
    yield Row('bf_mirror of a filter for 10n', "hiredis's SET of as many bytes", Value('SELECT mirror_ns()'),
              s.hiredis.ask('set'), 1, 'clock')

    def over(verb, strategy='guava', layout='NULL'):
        """An element in arrays of 1,000, in a filter made anew."""
        create = f"""SELECT bf_redis_drop('cache', 'titles');
                     SELECT bf_redis_create('cache', 'titles', {s.asked}, 0.01, '{strategy}', {layout})"""
        if verb == 'contains':
            create += "; SELECT count(bf_redis_add_each('cache', 'titles', titles)) FROM batches"
        return Sql(f"SELECT count(bf_redis_{verb}_each('cache', 'titles', titles)) FROM batches", s.asked, before=create)

    for verb, command, goal in ('add', 'setbit', 15), ('contains', 'getbit', 23):
        yield Row(f'bf_redis_{verb}_each in arrays of 1,000', f'{command.upper()} by hiredis, 7 an element', over(verb), s.hiredis.ask(command, 7),
                  goal, 'clock', faster=True)
    if s.module:
        yield Row('bf_redis_add_each in arrays of 1,000, layout redisbloom', 'BF.MADD in arrays of 1,000 by hiredis',
                  over('add', 'redisbloom', "'redisbloom'"), s.hiredis.ask('madd'), None, 'clock')
        yield Row("bf_agg(title, n, 0.01, 'redisbloom')", 'BF.MADD in arrays of 1,000 by hiredis',
                  Sql(f"SELECT bf_agg(title, {s.rows}, 0.01, 'redisbloom') IS NULL FROM titles", s.rows), s.hiredis.ask('madd'), None, 'clock',
                  moves='code, memory / kernel')
    sql('DROP SERVER cache CASCADE')


def redis_cli(s, *command):
    """What the private Redis answers."""
    return subprocess.run(['redis-cli', '-s', s.socket, *command], stdout=subprocess.PIPE, text=True, check=True).stdout


def pass_slice(s, key):
    """Have a slice of a window of time pass: as the clock cannot be moved, slices get shorter."""
    redis_cli(s, 'EVAL', """
        local time, slice, newest = redis.call('TIME'), unpack(redis.call('HMGET', KEYS[1], 'slice', 'newest'))
        local now = math.max(math.floor(time[1] * 1000 / slice), newest) + 1
        return redis.call('HSET', KEYS[1], 'slice', ('%.0f'):format(time[1] * 1000 / (now + 0.5)))""", '1', f'{{{key}}}:bloomext')


class Turn:
    """Nanoseconds of the longest command of an addition to a window of time that turns to its next slice."""
    longest = """
        local most = 0
        for _, call in ipairs(redis.call('SLOWLOG', 'GET', -1)) do
            if call[4][1] ~= 'SLOWLOG' then most = math.max(most, call[3]) end
        end
        return most"""

    def __init__(self, s):
        self.s = s

    def take(self, _):
        pass_slice(self.s, 'turning')
        redis_cli(self.s, 'CONFIG', 'SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000')
        redis_cli(self.s, 'SLOWLOG', 'RESET')
        sql("SELECT bf_redis_add('windows', 'turning', 'a')")
        redis_cli(self.s, 'CONFIG', 'SET', 'slowlog-log-slower-than', '-1')
        return 1000 * float(redis_cli(self.s, 'EVAL', self.longest, '0'))


def windows(s):
    """Windows of time in Redis, of 30 slices, over layout bitmap, p = 0.001: what the server takes on the processor"""
    create = f"""SELECT bf_redis_drop('windows', '{{0}}');
                 SELECT bf_redis_create('windows', '{{0}}', {s.asked}, 0.001, {{1}})"""
    shapes = {'window': "span => '30 years'", 'bitmap': "layout => 'bitmap'"}
    redis_server(s, 'windows')
    sql(f"""CREATE UNLOGGED TABLE numbered AS
                SELECT row_number() OVER () AS i, titles AS there, ARRAY(SELECT 'absent ' || t FROM unnest(titles) AS t) AS absent FROM batches;
            {';'.join(create.format(key, shape) for key, shape in shapes.items())};
            SELECT count(bf_redis_add_each('windows', 'bitmap', there)) FROM numbered""")
    for slice in range(30):
        pass_slice(s, 'window')
        sql(f"SELECT count(bf_redis_add_each('windows', 'window', there)) FROM numbered WHERE i % 30 = {slice}")

    def of(key, verb, titles, before=''):
        """A hundred thousand elements, in arrays of 1,000."""
        return Serving(s.redis, Sql(f"SELECT count(bf_redis_{verb}_each('windows', '{key}', {titles})) FROM numbered WHERE i <= 100",
                                    min(s.asked, 100000), before=before))

    for titles, kind, goal in ('there', 'there', 2), ('absent', 'not there', 3.5):
        yield Row(f'bf_redis_contains_each in arrays of 1,000, {kind}, an element', "the bitmap's",
                  of('window', 'contains', titles), of('bitmap', 'contains', titles), goal)
    size = "SELECT bytes FROM bf_redis_info('windows', '{}')".format
    yield Row('size', "the bitmap's", Value(size('window')), Value(size('bitmap')), 1.75, 'bytes')
    added = (of(key, 'add', 'absent', create.format(key, shape)) for key, shape in shapes.items())
    yield Row('bf_redis_add_each in arrays of 1,000, an element', "the bitmap's", *added, 1.5)
    sql(f"SELECT bf_redis_create('windows', 'turning', {s.large}, 0.001, span => '30 years')")
    yield Row('the longest command of a turn, a window for 10n', '5 ms', Turn(s), Value('SELECT 5e6'), 1, 'clock', moves='memory / counts')
    sql("SELECT bf_redis_drop('windows', key) FROM unnest('{window,bitmap,turning}'::text[]) AS key; DROP SERVER windows CASCADE; DROP TABLE numbered")


class Live:
    """Three tables of n random titles: with no index, a live filter and a btree; the filter has room for what
    is inserted."""
    kinds = ('none', 'live', 'btree')
    over = "the btree's"

    def __init__(self, n):
        self.n = n
        sql('\n'.join(f"""DROP TABLE IF EXISTS t_{kind};
            CREATE TABLE t_{kind} AS SELECT {title('i')} AS title FROM generate_series(1, {n}) AS i;
            {self.ddl(kind, 't_' + kind, max(n + 500000, 1000000))};
            VACUUM ANALYZE t_{kind};
            CREATE OR REPLACE PROCEDURE single_{kind}(n int) LANGUAGE plpgsql AS $$
            BEGIN
                FOR i IN 1 .. n LOOP
                    INSERT INTO t_{kind} VALUES (md5(random()::text) || random());
                    COMMIT;
                END LOOP;
            END $$;""" for kind in self.kinds) + '\nCHECKPOINT;')

    def drop(self):
        sql('DROP TABLE ' + ', '.join('t_' + kind for kind in self.kinds))

    def ddl(self, kind, table, expected):
        return {'none': '', 'btree': f'CREATE INDEX {table}_i ON {table} (title)',
                'live': f'CREATE INDEX {table}_i ON {table} USING bloomfilter (title) WITH (expected = {expected}, fpp = 0.0001)'}[kind]

    def row(self, name, make, goal=None, metric='cpu', less=True, moves=None):
        """A row of what make(kind) gives of the second kind over the third, less without an index if wanted."""
        without, work, anchor = (make(kind) if less or kind != 'none' else None for kind in self.kinds)
        work.less = anchor.less = without
        return Row(name, self.over, work, anchor, goal, metric, moves=moves)

    # What a kind of index is measured by.

    def bulk(self, kind):
        return Sql(f'INSERT INTO t_{kind} SELECT md5(random()::text) || random() FROM generate_series(1, 10000)', 10000, 5)

    def single(self, kind):
        return Sql(f'CALL single_{kind}(5000)', 5000)

    def first(self, kind):
        return Sql(f'CALL single_{kind}(1000)', 1000, before=f'VACUUM t_{kind}; CHECKPOINT')

    def build(self, kind, workers=0):
        return Sql(self.ddl(kind, 't_none', self.n), self.n,
                   before=f'DROP INDEX IF EXISTS t_none_i; SET max_parallel_maintenance_workers = {workers}')

    def lookup(self, kind, title="md5('absent ' || i) || ' ' || i"):
        """Of 200,000 titles, made of i."""
        return Sql(f'SELECT count(*) FROM (SELECT {title} AS x FROM generate_series(1, 200000) AS i OFFSET 0) AS s WHERE ' +
                   {'none': 'x IS NULL', 'btree': 'EXISTS (SELECT FROM t_btree WHERE title = x OFFSET 0)'}
                   .get(kind, f"bf_live_contains('t_{kind}', x)"), 200000)

    def inserts(self):
        """What each row that comes costs, after the first ones, which change each page for the first time."""
        sql('\n'.join(f"{self.single(kind).query};\n{self.bulk(kind).query};" for kind in self.kinds))
        yield self.row('INSERT ... SELECT of 10,000 rows, a row', self.bulk, 0.6)
        yield self.row('its WAL', self.bulk, 1, 'wal')
        yield self.row('a transaction of one row, whole', self.single, 1.1, less=False, moves='code / code')
        yield self.row('its WAL, over none', self.single, 1, 'wal')


class Grown(Live):
    """The same, where the second has a filter that grows from 10,000 rows on, and the third one that has room for n
    more, which come in parts."""
    kinds = ('none', 'grown', 'fixed')
    over = "the fixed one's"

    def __init__(self, n, parts):
        self.most, self.part = n, n // parts
        self.rows = dict.fromkeys(self.kinds, 10000)
        super().__init__(10000)
        sql('\n'.join(f"""CREATE OR REPLACE PROCEDURE grow_{kind}(first int, last int) LANGUAGE plpgsql AS $$
            BEGIN
                FOR i IN first .. last BY 10000 LOOP
                    INSERT INTO t_{kind} SELECT md5(j::text) || ' ' || j FROM generate_series(i, least(i + 9999, last)) AS j;
                    COMMIT;
                END LOOP;
            END $$;""" for kind in self.kinds))

    def ddl(self, kind, table, expected):
        options = {'grown': '', 'fixed': f'expected = {self.most + 100000}, '}
        return f'CREATE INDEX {table}_i ON {table} USING bloomfilter (title) WITH ({options[kind]}fpp = 0.0001)' if kind in options else ''

    def size(self, kind):
        return Value(f"SELECT pg_relation_size('t_{kind}_i')")

    def layers(self, kind):
        return Value(f"SELECT layers FROM bf_live_info('t_{kind}')")

    def present(self, kind):
        number = f"(hashint4extended(i, 0) & x'7fffffff'::bigint) % {self.most} + 1"
        return self.lookup(kind, f"md5(({number})::text) || ' ' || {number}")


class Part:
    """A table's next part."""

    def __init__(self, tables, kind):
        self.tables, self.kind = tables, kind

    def take(self, metric):
        rows, part = self.tables.rows, self.tables.part
        first = rows[self.kind] + 1
        rows[self.kind] += part
        return Sql(f'CALL grow_{self.kind}({first}, {rows[self.kind]})', part).take(metric)


def title(i):
    """The i-th of the titles that live filters, btrees and pictures are of: some 40 bytes."""
    return f"(md5({i}::text) || ' ' || {i}) {collation()}"


def collation():
    """As a database has it by default, where a btree compares as it does there."""
    name = sql("SELECT min(collname) FROM pg_collation WHERE collname IN ('C.utf8', 'C.UTF-8')")
    return f'COLLATE "{name}"' if name else ''


class Processes:
    """Bytes that a statement's process and its workers have for themselves at a time, at most, as seen from outside."""

    def __init__(self, query, each, less=None):
        self.query, self.each, self.less = query, each, less

    def take(self, metric):
        server = sql("SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)")
        peak = 0
        with subprocess.Popen(['psql', '-XAtq', '-o', os.devnull, '-c', PARALLEL, '-c', self.query]) as session:
            while session.poll() is None:
                peak = max(peak, sum(map(own_memory, children(server))))
                time.sleep(0.005)
        return peak / self.each - (self.less.take(metric) if self.less else 0)


def children(server):
    """The states of a server's processes, as the kernel writes them."""
    for file in glob.glob('/proc/[0-9]*/status'):
        try:
            with open(file, encoding='utf8') as status:
                fields = dict(line.split(':', 1) for line in status)
        except OSError:
            continue # it has ended
        if fields['PPid'].strip() == server:
            yield fields


def own_memory(status):
    """Bytes that are neither shared nor of a file."""
    return int(status.get('RssAnon', '0 kB').split()[0]) * 1024


class Writers:
    """Nanoseconds a transaction of four clients of pgbench."""

    def __init__(self, kind, seconds, directory):
        self.command = ['pgbench', '-n', '-M', 'prepared', '-c4', '-j2', f'-T{seconds}', '-f', os.path.join(directory, kind + '.sql')]
        with open(self.command[-1], 'w', encoding='ascii') as script:
            script.write(f'INSERT INTO t_{kind} VALUES (md5(random()::text) || random());\n')

    def take(self, _):
        done = subprocess.run(self.command, text=True, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=dict(os.environ, PGOPTIONS='-c synchronous_commit=off'))
        return 1e9 / float(next(line.split()[2] for line in done.stdout.split('\n') if line.startswith('tps')))


def live(s):
    """A live filter over a btree on the same random titles, fpp = 0.0001"""
    tables = Live(s.live)
    yield tables.row('size', lambda kind: Value(f"{tables.ddl(kind, 't_none', s.live)}; SELECT pg_relation_size('t_none_i'); DROP INDEX t_none_i"),
                     0.05, 'bytes', less=False)
    yield tables.row('CREATE INDEX, serial', tables.build, 0.2, less=False, moves='memory / code')
    yield tables.row('CREATE INDEX, the btree by workers', lambda kind: tables.build(kind, 2), 0.25, 'clock', False, 'memory / code, cores')
    sql('DROP INDEX t_none_i')
    yield tables.row('bf_live_contains of an absent title', tables.lookup, 0.2)
    yield from tables.inserts()
    yield tables.row('WAL of the first 1,000 transactions after a checkpoint', tables.first, 1, 'wal')
    yield tables.row('a transaction, four writers', lambda kind: Writers(kind, s.seconds, s.work), 1, 'clock', False, 'cores / cores')
    tables.drop()
    yield from partitions(s.partitions)


def growing(s):
    """A live filter that grew from 10,000 rows on, over one that was made for all of them, fpp = 0.0001"""
    tables = Grown(s.live, s.turns)
    yield tables.row('INSERT ... SELECT of 10,000 rows, a row', lambda kind: Part(tables, kind), 1.3)
    layers = tables.row('layers', tables.layers, metric='number', less=False)
    yield layers
    yield tables.row('size', tables.size, metric='bytes', less=False)

    def goal():
        return 1 + 0.6 * (layers.ratio - 1)
    yield tables.row('bf_live_contains of an absent title', tables.lookup, goal)
    yield tables.row('bf_live_contains of a present title', tables.present, goal)
    yield tables.row('a transaction of one row, whole', tables.single, less=False, moves='code / code')
    yield tables.row('WAL of the first 1,000 transactions after a checkpoint', tables.first, 2, 'wal')
    tables.drop()


def small_buffers(s):
    """A fifth of a btree over n titles."""
    return f'{max(s.live * 13 // 1024, 1024)}kB'


class Batch:
    """A statement's cost for each row of a batch, of which some percent are in the table of n titles already; 'pages' are
    those of the table and its index that it read from outside shared buffers, in a turn whose time was taken before."""

    def __init__(self, n, table, duplicates, insert):
        self.table, self.rows, self.read = table, n // 100, []
        self.insert = Sql(insert, self.rows, before=f"""CREATE TEMPORARY TABLE batch AS SELECT md5(i::text) || ' ' || i AS title
            FROM (SELECT CASE WHEN random() * 100 < {duplicates} THEN floor(random() * {n})::bigint + 1 ELSE nextval('numbers') END AS i
                  FROM generate_series(1, {self.rows})) AS drawn; ANALYZE batch""")

    def take(self, metric):
        if metric == 'pages':
            return max(self.read.pop(), 1) / self.rows
        before = self.pages()
        taken = self.insert.take(metric)
        self.read.append(self.pages() - before)
        return taken

    def pages(self):
        """Read up to now: a session tells when it ends, which psql does not wait for."""
        while sql("SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1"):
            time.sleep(0.01)
        return int(sql(f"SELECT heap_blks_read + idx_blks_read FROM pg_statio_user_tables WHERE relname = '{self.table}'"))


def ingest(s):
    """What is new, once: batches of n/100 titles into a table of n, by a live filter over a unique btree five times as large as shared buffers"""
    table = f"AS SELECT md5(i::text) || ' ' || i AS title FROM generate_series(1, {s.live}) AS i"
    sql(f"""CREATE SEQUENCE numbers START {s.live + 1};
        CREATE TABLE i_live {table}; CREATE INDEX ON i_live USING bloomfilter (title) WITH (fpp = 0.0001);
        CREATE TABLE i_btree {table}; CREATE UNIQUE INDEX ON i_btree (title);
        VACUUM ANALYZE i_live, i_btree;""")
    with restarted(small_buffers(s)):
        for duplicates in 0, 50, 95:
            work = Batch(s.live, 'i_live', duplicates,
                         "INSERT INTO i_live SELECT DISTINCT title FROM batch WHERE NOT bf_live_contains('i_live', title)")
            over = Batch(s.live, 'i_btree', duplicates, 'INSERT INTO i_btree SELECT title FROM batch ON CONFLICT DO NOTHING')
            yield Row(f'SELECT DISTINCT ... WHERE NOT bf_live_contains, {duplicates} % there already, a row', 'ON CONFLICT DO NOTHING', work, over)
            yield Row('pages read, a row', "the btree's", work, over, metric='pages')
    sql('DROP TABLE i_live, i_btree; DROP SEQUENCE numbers')


class Gate:
    """A table of n titles with a btree and a filter that plans ask, and n/10 titles that are asked for, share percent of
    which are in it."""
    shares = (0, 25, 50, 75, 100)
    relations = 'g_titles,g_titles_btree'
    plain = 'NOT EXISTS (SELECT FROM g_titles AS t WHERE t.title = s.title)'
    by_hand = f"CASE WHEN bf_live_contains('g_titles', s.title) THEN {plain} ELSE true END"

    def __init__(self, n):
        self.rows = n // 10
        sql(f"""CREATE TABLE g_titles AS SELECT {title('i')} AS title FROM generate_series(1, {n}) AS i;
            CREATE INDEX g_titles_btree ON g_titles (title);
            CREATE INDEX g_titles_filter ON g_titles USING bloomfilter (title) WITH (fpp = 0.0001, plans = on);
            VACUUM ANALYZE g_titles;""" + ''.join(f"""
            CREATE TABLE g_asked_{share} AS SELECT {title('j')} AS title
            FROM (SELECT CASE WHEN random() * 100 < {share} THEN 1 ELSE {n} + 1 END + floor(random() * {n})::bigint AS j
                  FROM generate_series(1, {self.rows})) AS drawn;
            VACUUM ANALYZE g_asked_{share};""" for share in self.shares))

    def join(self, share, condition=plain, gate='on', rows=None):
        """A row of those asked for, by a nested loop."""
        rows = rows or self.rows
        return Sql(f'SELECT count(*) FROM (SELECT title FROM g_asked_{share} LIMIT {rows}) AS s WHERE {condition}', rows,
                   before=f'SET enable_hashjoin = off; SET enable_mergejoin = off; SET bloomext.enable_gate = {gate}')


def gate(s):
    """PostgreSQL asks by itself: n/10 titles against n, NOT EXISTS by a nested loop over a btree, over the same plan without asking"""
    tables, over = Gate(s.live), 'not asked'
    for share in tables.shares:
        yield Row(f'{share} % there, a row', over, tables.join(share), tables.join(share, gate='off'), 0.25 if share == 0 else 1.05)
    for share in 0, 50, 100:
        yield Row(f'asked by hand, CASE WHEN bf_live_contains, {share} % there, a row', over,
                  tables.join(share, tables.by_hand, 'off'), tables.join(share, gate='off'))
    with restarted(small_buffers(s)):
        for share in 0, 50, 100:
            work, anchor = tables.join(share), tables.join(share, gate='off')
            yield Row(f'{share} % there, shared buffers a fifth of the btree, a row', over, work, anchor, moves='kernel / kernel')
            yield Row('pages read, a row', over, Pages(work), Pages(anchor), metric='pages')
    for share in 0, 100:
        work, anchor = (Cold(tables.join(share, gate=gate, rows=max(s.live // 500, 1)), tables.relations, small_buffers(s)) for gate in ('on', 'off'))
        yield Row(f'{share} % there, n/500 titles, table and btree on the disk, by the clock, a row', over, work, anchor, metric='clock', moves='disk / disk')


class Several:
    """Tables of n titles and numbers with no filter, with one of the title, and with one of both; another with a btree
    and a filter that plans ask, of both, and n/10 rows that are asked for, none or all of which are in it."""
    kinds = {'none': '', 'one': 'title', 'two': 'title, number'}
    asked = {'none': 'x IS NULL', 'one': "bf_live_contains('p_one', x)", 'two': "bf_live_contains('p_two', ROW(x, i))"}
    there = 'EXISTS (SELECT FROM p_planned AS t WHERE t.number = s.number AND t.title = s.title)'

    def __init__(self, n):
        self.rows, pair = n // 10, f'{title("i")} AS title, i % 1000 AS number'
        sql(''.join(f"""
            CREATE TABLE p_{kind} AS SELECT {pair} FROM generate_series(1, {n}) AS i;
            {columns and f"CREATE INDEX ON p_{kind} USING bloomfilter ({columns}) WITH (expected = {n + 500000}, fpp = 0.0001)"};
            VACUUM ANALYZE p_{kind};""" for kind, columns in self.kinds.items()) + f"""
            CREATE TABLE p_planned AS SELECT {pair} FROM generate_series(1, {n}) AS i;
            CREATE INDEX ON p_planned (title, number);
            CREATE INDEX ON p_planned USING bloomfilter (title, number) WITH (fpp = 0.0001, plans = on);
            VACUUM ANALYZE p_planned;""" + ''.join(f"""
            CREATE TABLE p_asked_{share} AS SELECT {pair} FROM (SELECT {first} + floor(random() * {n})::int AS i
                FROM generate_series(1, {self.rows})) AS drawn;
            VACUUM ANALYZE p_asked_{share};""" for share, first in {0: n + 1, 100: 1}.items()))

    def row(self, name, make, goal):
        """Of two columns over one, both less what there is without."""
        work, anchor, without = (make(kind) for kind in ('two', 'one', 'none'))
        work.less = anchor.less = without
        return Row(name, "one column's", work, anchor, goal)

    def insert(self, kind):
        return Sql(f'INSERT INTO p_{kind} SELECT md5(random()::text) || random(), i FROM generate_series(1, 10000) AS i', 10000, 5)

    def lookup(self, kind):
        return Sql(f"""SELECT count(*) FROM (SELECT md5('absent ' || i) || ' ' || i AS x, i FROM generate_series(1, 200000) AS i OFFSET 0) AS s
            WHERE {self.asked[kind]}""", 200000)

    def planned(self, share, gate):
        return Sql(f'SELECT count(*) FROM p_asked_{share} AS s WHERE NOT {self.there}', self.rows,
                   before=f'SET enable_hashjoin = off; SET enable_mergejoin = off; SET bloomext.enable_gate = {gate}')


def several(s):
    """A live filter of two columns, a text and an integer, over one of the text, fpp = 0.0001"""
    tables = Several(s.live)
    yield tables.row('INSERT ... SELECT of 10,000 rows, a row', tables.insert, 1.15)
    yield tables.row('bf_live_contains of an absent row', tables.lookup, 1.2)
    for share, goal in {0: 0.1, 100: 1.05}.items():
        yield Row(f'NOT EXISTS by a nested loop over a btree, {share} % there, a row', 'not asked',
                  tables.planned(share, 'on'), tables.planned(share, 'off'), goal)
    sql('DROP TABLE p_none, p_one, p_two, p_planned, p_asked_0, p_asked_100')


def single(s):
    """A prepared look-up in the same n titles, in a loop of PL/pgSQL, and planning, over the same without the filters"""
    yield from look_ups(max(s.asked // 4000, 1))
    yield from planning(s.asked // 2000)


def look_ups(times):
    """Of a generic plan.  There is no filter in a transaction that drops it."""
    sql("""CREATE PROCEDURE look_up(titles text[], times int) LANGUAGE plpgsql AS $$
        DECLARE
            wanted text;
        BEGIN
            FOR i IN 1 .. times LOOP
                FOREACH wanted IN ARRAY titles LOOP
                    PERFORM FROM g_titles WHERE title = wanted;
                END LOOP;
            END LOOP;
        END $$""")

    def look_up(share, definition):
        return Sql('CALL look_up(:titles, %d)' % times, times * 1000, before=f"""SET plan_cache_mode = force_generic_plan;
            SELECT quote_literal(array_agg(title)) AS titles FROM (SELECT title FROM g_asked_{share} LIMIT 1000) AS s \\gset
            BEGIN; LOCK TABLE g_titles; {definition}; CALL look_up(:titles, 1)""")

    for options, goal in ('plans = off', 1.02), ('plans = on', 1.02), ('plans = on, absent = 0.9', None):
        for share, there in (0, 'absent'), (100, 'present'):
            yield Row(f'a prepared look-up, {there}, {options}', 'without the filter', look_up(share, f'ALTER INDEX g_titles_filter SET ({options})'),
                      look_up(share, 'DROP INDEX g_titles_filter'), goal, turns=7)
    sql('DROP PROCEDURE look_up; DROP TABLE g_titles, ' + ', '.join(f'g_asked_{share}' for share in Gate.shares))


def planning(times):
    """Of a join of five tables by the column that each has a filter of: the median of many times, by the clock."""
    sql(f"""CREATE FUNCTION planning_ns(query text) RETURNS numeric LANGUAGE plpgsql AS $$
        DECLARE
            plan json;
            taken numeric[];
        BEGIN
            FOR i IN 1 .. {times} LOOP
                EXECUTE 'EXPLAIN (SUMMARY, FORMAT json) ' || query INTO plan;
                taken[i] := plan -> 0 ->> 'Planning Time';
            END LOOP;
            RETURN (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY t) * 1e6 FROM unnest(taken) AS t);
        END $$;""" + ''.join(f"""
        CREATE TABLE j_{i} AS SELECT j AS id, md5(j::text) AS title FROM generate_series(1, 10000) AS j;
        CREATE INDEX ON j_{i} (title);
        CREATE INDEX j_{i}_filter ON j_{i} USING bloomfilter (title) WITH (plans = on);
        VACUUM ANALYZE j_{i};""" for i in range(5)))
    join = "SELECT count(*) FROM j_0 JOIN j_1 USING (title) JOIN j_2 USING (title) JOIN j_3 USING (title) JOIN j_4 USING (title) WHERE j_0.id < 100"
    filters = ', '.join(f'j_{i}_filter' for i in range(5))

    def plan(definition):
        return Value(f"{definition}; SELECT planning_ns('{join}')")

    yield Row('planning of a join of five tables, plans = on, by the clock', 'without the filters',
              plan('BEGIN'), plan(f'BEGIN; DROP INDEX {filters}'), 1.05, turns=7)
    sql('DROP TABLE ' + ', '.join(f'j_{i}' for i in range(5)) + '; DROP FUNCTION planning_ns')


def partitions(count):
    """A partitioned table against its partitions, asked one by one in one expression."""
    sql(f"""CREATE TABLE t_parts (id int, title text) PARTITION BY RANGE (id);
        SELECT format('CREATE TABLE t_part_%s PARTITION OF t_parts FOR VALUES FROM (%s) TO (%s)', i, i * 10, i * 10 + 10)
        FROM generate_series(0, {count - 1}) AS i \\gexec
        CREATE INDEX ON t_parts USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
        INSERT INTO t_parts SELECT i, 'title ' || i FROM generate_series(0, {count * 10 - 1}) AS i;""")

    def probe(condition):
        """The first query of a session finds out what is named, which is not compared."""
        return Sql('EXECUTE probe', 300, before=f"""PREPARE probe AS SELECT count(*)
            FROM (SELECT 'absent ' || i AS x FROM generate_series(1, 300) AS i OFFSET 0) AS s WHERE {condition}; EXECUTE probe""")
    yield Row(f'bf_live_contains of {count:,} partitions', 'of each in turn', probe("bf_live_contains('t_parts', x)"),
              probe(' OR '.join(f"bf_live_contains('t_part_{i}', x)" for i in range(count))), 1.2, moves='code / code')
    sql('DROP TABLE t_parts')


def memory(s):
    """Memory: the peak (VmHWM) over what lay there before, over the filter's size"""
    def peak(name, work, size, goal=None, before=''):
        """The pages that it reads are touched before, as shared buffers are none of its memory."""
        return Row(name, "the filter's size", Sql(work, before=f'SELECT count(title) FROM titles; SELECT touch_filters(); {before}'),
                   Value(size), goal, 'peak')

    large, aggregate = "SELECT pg_column_size(f) FROM filters WHERE name = 'large'", f'SELECT bf_agg(id, {s.large}, 0.01) IS NULL FROM titles'
    yield peak('bf_agg(id, 10n, 0.01)', aggregate, large, 1.1)
    yield Row('the same, 2 workers and the leader, each', "the filter's size",
              Processes(aggregate, 3, less=Processes('SELECT count(id) FROM titles', 3)), Value(large), 1.1, 'bytes')
    yield peak('bf_union of two filters for 10n, which are read', f'SELECT bf_union(a.f, b.f) IS NULL FROM {TWO}', large, 1.1)
    yield peak('bf_agg(title)', 'SELECT bf_agg(title) IS NULL FROM titles', 'SELECT pg_column_size(bf_agg(title)) FROM titles')
    yield peak(f'bf_agg(title, 100, 0.01), {s.groups:,} groups', f"""SELECT count(f)
        FROM (SELECT bf_agg(title, 100, 0.01) AS f FROM titles GROUP BY id % {s.groups}) AS g""",
               f'SELECT {s.groups} * pg_column_size(bf_create(100, 0.01))')

    size, huge = f'SELECT pg_column_size(bf_create({s.huge}, 0.01))', "FROM filters WHERE name = 'huge'"
    build = f'SELECT bf_agg(id, {s.huge}, 0.01)'
    yield peak(f'a filter for {s.huge:,} built', f'{build} IS NULL FROM titles', size, 1.1)
    yield peak('built and stored, by shared buffers that are counted', f"INSERT INTO filters SELECT 'huge', ({build} FROM titles)", size,
               before=f'DELETE {huge}')
    yield peak('probed by a statement', f'SELECT bf_contains(f, 5) {huge}', size)
    yield peak('probed by 100,000 rows', f'SELECT count(*) FROM titles WHERE id <= 100000 AND bf_contains((SELECT f {huge}), id)', size)
    yield peak('exported', f'SELECT length(bf_export(f)) {huge}', size)
    sql(f'DELETE {huge}')
