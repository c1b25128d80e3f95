"""The pictures of script/bench: what they show is measured here, and drawn by gnuplot (pictures.gp)."""
import html
import os
import shutil
import subprocess
import sys

import rows
from measure import Pages, Row, Sql, Value, restarted, sql, three_digits

HERE = os.path.dirname(os.path.abspath(__file__))
# The strategies, and the least probability that each can promise here; of those that differ not at all, one is drawn.
STRATEGIES = {'guava': 0, 'redisson': 0, 'magnuss': 0, 'cassandra': 0.001, 'guava32': 0, 'tale2009': 0, 'redisbloom': 0,
              'spark1': 0, 'spark2': 0, 'bitsandblooms': 0, 'parquet': 0}
DRAWN = ('guava', 'redisson', 'magnuss', 'cassandra', 'parquet')
# What is drawn of lookups: as many lines as there are colours.
LOOKUPS = ('stored filter, half there', 'live filter, half there', 'stored filter, none there', 'live filter, none there', 'stored, parquet, half there')
PROBABILITIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0001)
MARKUP = '<picture><source media="(prefers-color-scheme: dark)" srcset="{0}-dark.svg"><img src="{0}.svg" alt="{1}" width="560"></picture>'
BATCH = 100000


class Nanoseconds:
    """The anchor of what is shown in seconds."""

    def take(self, _):
        return 1e9


class Picture:
    """Lines of points (x, median, least, most) by name, in a file that gnuplot reads: all, or those named by drawn.  says
    tells somebody who does not see it what it shows."""

    def __init__(self, name, says, x, drawn=None):
        self.name, self.says, self.x, self.drawn, self.lines = name, says, x, drawn, {}

    def add(self, line, x, *y):
        self.lines.setdefault(line, []).append((x, *(y if len(y) == 3 else y * 3)))

    def measure(self, line, x, row, turns):
        row.name = f'{self.name}, {line}, {x:g}'
        row.measure(turns)
        self.add(line, x, row.ratio, min(row.ratios), max(row.ratios))

    def draw(self, work):
        data, drawn = os.path.join(work, self.name), self.drawn or self.lines.keys()
        with open(data, 'w', encoding='utf8') as file:
            for line in drawn:
                points = self.lines[line]
                file.write(f'"{line}"\n' + ''.join('%g %g %g %g\n' % point for point in points) + '\n\n')
        for dark in (0, 1):
            out = data + ('-dark' if dark else '') + '.svg'
            subprocess.run(['gnuplot', '-e', f"picture='{self.name}'; data='{data}'; out='{out}'; dark={dark}; lines={len(drawn)}",
                            os.path.join(HERE, 'pictures.gp')], check=True)
            with open(out, 'r+', encoding='utf8') as file:
                titled = file.read().replace('<title>Gnuplot</title>', f'<title>{html.escape(self.says)}</title>')
                file.seek(0)
                file.write(titled)

    def shown(self, folder, page):
        """What shows it, of a folder, in a page of another; and its figures."""
        places = sorted({point[0] for points in self.lines.values() for point in points})
        lines = [MARKUP.format(os.path.join(os.path.relpath(folder, page), self.name), html.escape(self.says)), '',
                 f'| {self.x} | ' + ' | '.join(self.lines) + ' |', '|---' * (1 + len(self.lines)) + '|']
        for place in places:
            cells = [next((self.figure(point) for point in points if point[0] == place), '') for points in self.lines.values()]
            lines.append(f'| {place:,.9g} | ' + ' | '.join(cells) + ' |')
        return lines + ['']

    @staticmethod
    def figure(point):
        median, least, most = map(three_digits, point[1:])
        return median if least == most else f'{median} [{least} .. {most}]'


class New:
    """Three tables of n titles, with no index, a live filter and a unique btree, into which a batch of 100,000 titles is to
    go, half of which are there; each time it goes nowhere, and what it left behind is gone before the next."""
    ways = {
        'no index': "INSERT INTO n_none SELECT DISTINCT title FROM batch WHERE NOT EXISTS (SELECT FROM n_none AS t WHERE t.title = batch.title)",
        'unique btree': 'INSERT INTO n_btree SELECT title FROM batch ON CONFLICT DO NOTHING',
        'live filter': "INSERT INTO n_live SELECT bf_live_new('n_live', ARRAY(SELECT title FROM batch), 'title')",
    }
    clean = {'no index': 'VACUUM n_none', 'unique btree': 'VACUUM n_btree', 'live filter': 'VACUUM n_live; REINDEX INDEX n_live_i'}

    def __init__(self, n):
        title = rows.title('i')
        sql(f"""CREATE TABLE n_none AS SELECT {title} AS title FROM generate_series(1, {n}) AS i;
            CREATE TABLE n_btree AS SELECT title FROM n_none; CREATE UNIQUE INDEX n_btree_i ON n_btree (title);
            CREATE TABLE n_live AS SELECT title FROM n_none; CREATE INDEX n_live_i ON n_live USING bloomfilter (title);
            CREATE TABLE batch AS SELECT {title} AS title
                FROM (SELECT {n} - {BATCH // 2} + i AS i FROM generate_series(1, {BATCH}) AS i ORDER BY hashint8(i)) AS mixed;
            VACUUM ANALYZE n_none, n_btree, n_live, batch; CHECKPOINT;""")

    def work(self, way):
        return Sql(f'BEGIN; {self.ways[way]}; ROLLBACK', before=self.clean[way])

    def drop(self):
        sql('DROP TABLE n_none, n_btree, n_live, batch')


def new_titles(setting):
    """Seconds for a batch, by what tells which of it are new."""
    picture = Picture('new', 'Seconds to store the new ones of 100,000 titles, half of which are new, into a table of n titles: '
                      'with no index, with a unique btree, with a live filter', 'titles in the table')
    for n in setting.live_ladder:
        tables = New(n)
        for way in tables.ways:
            picture.measure(way, n, Row('', '', tables.work(way), Nanoseconds()), min(setting.turns, 3))
        tables.drop()
    return picture


def by_size(setting):
    """What building and asking costs from few titles to many."""
    build = Picture('build', "Time to build a filter, as a multiple of the time of count(title), against the number of titles", 'titles')
    lookup = Picture('lookup', "Time to ask a filter for a title, as a multiple of a btree's, against the number of titles, for titles of which "
                     "half are there, and none", 'titles', LOOKUPS)
    for n in setting.ladder:
        turns, times = min(setting.turns, 3), max(1, min(50, 10**6 // n))
        sql(f"CREATE UNLOGGED TABLE ladder AS SELECT {rows.title('i')} AS title FROM generate_series(1, {n}) AS i; VACUUM ANALYZE ladder;")
        aggregates = {'bf_agg, sized, p = 0.01': f'bf_agg(title, {n}, 0.01)',
                      'bf_agg, sized, p = 0.01, parquet': f"bf_agg(title, {n}, 0.01, 'parquet')", 'bf_agg, sizing itself': 'bf_agg(title)',
                      'bf_agg, growing from n/100': f"bf_agg(title, {n // 100}, 0.01, 'guava', 2)"}
        if setting.hll:
            aggregates['hll_add_agg'] = 'hll_add_agg(hll_hash_text(title))'
        for line, work in aggregates.items():
            build.measure(line, n, Row('', '', *(Sql(f'SELECT {x} IS NULL FROM ladder', times=times) for x in (work, 'count(title)'))), turns)
        asked(setting, lookup, n, turns)
        sql('DROP TABLE ladder')
    return lookup, build


def asked(setting, picture, n, turns):
    """Of titles drawn from as many again as are there, or from others."""
    drawn = f"(hashint4extended(i, 0) & x'7fffffff'::bigint) % {n}"
    sql(f"""CREATE UNLOGGED TABLE half AS SELECT {rows.title('j')} AS title
            FROM (SELECT 1 + {n} * (i % 2) + {drawn} AS j FROM generate_series(1, {setting.asked}) AS i) AS drawn;
        CREATE UNLOGGED TABLE none AS SELECT {rows.title('j')} AS title
            FROM (SELECT 1 + {n} + {drawn} AS j FROM generate_series(1, {setting.asked}) AS i) AS drawn;
        CREATE UNLOGGED TABLE laddered AS SELECT bf_agg(title, {n}, 0.0001) AS f, bf_agg(title, {n}, 0.0001, 'parquet') AS blocks FROM ladder;
        CREATE INDEX ladder_btree ON ladder (title);
        CREATE INDEX ladder_live ON ladder USING bloomfilter (title) WITH (expected = {n}, fpp = 0.0001);
        VACUUM ANALYZE ladder, half, none, laddered;""")
    for table, share in ('half', 'half there'), ('none', 'none there'):
        scan = Sql(f'SELECT count(title) FROM {table}')
        btree = Sql(f'SELECT count(*) FROM {table} WHERE EXISTS (SELECT FROM ladder WHERE ladder.title = {table}.title OFFSET 0)', less=scan,
                    before='SET enable_seqscan = off')
        for line, condition in {'stored filter': 'bf_contains((SELECT f FROM laddered), title)',
                                'live filter': "bf_live_contains('ladder', title)",
                                'stored, parquet': 'bf_contains((SELECT blocks FROM laddered), title)'}.items():
            work = Sql(f'SELECT count(*) FROM {table} WHERE {condition}', less=scan)
            picture.measure(f'{line}, {share}', n, Row('', '', work, btree), turns)
    sql('DROP TABLE half, none, laddered; DROP INDEX ladder_btree, ladder_live')


def blocks(setting):
    """What is read from outside shared buffers, that a btree does not fit into."""
    picture = Picture('blocks', 'Blocks read for each title that is asked for, against the share of titles that are there: by a btree alone, by a btree '
                      'after a live filter, by a live filter alone. Shared buffers are a fifth of the btree.', '% of the titles that are there')
    tables = rows.Gate(setting.live)
    alone = "NOT bf_live_contains('g_titles', s.title)"
    with restarted(rows.small_buffers(setting)):
        for share in tables.shares:
            for line, work in {'btree alone': tables.join(share, gate='off'), 'btree, the filter asked first': tables.join(share),
                               'live filter alone': tables.join(share, alone, 'off')}.items():
                picture.add(line, share, Pages(work).take('pages'))
    sql('DROP TABLE g_titles, ' + ', '.join(f'g_asked_{share}' for share in tables.shares))
    return picture


def promises(setting):
    """False positives measured, over what was promised, and how far chance moves that."""
    picture = Picture('fpp', 'False positives measured, as a multiple of those promised, against the probability promised, for '
                      f"strategies {', '.join(DRAWN)}; all others are as guava", 'promised probability', DRAWN)
    for strategy, least in STRATEGIES.items():
        for p in (p for p in PROBABILITIES if p >= least):
            measured = sql(f"""SELECT bf_measure_fpp(bf_agg({rows.title('i')}, {setting.fpp_rows}, {p}, '{strategy}'), {setting.probes}, 1)
                               FROM generate_series(1, {setting.fpp_rows}) AS i""")
            ratio = float(measured) / p
            error = (ratio / p / setting.probes) ** 0.5
            picture.add(strategy, p, ratio, ratio - error, ratio + error)
    print('    fpp: measured', file=sys.stderr, flush=True)
    return picture


def inserts(setting):
    """What a row that comes costs a live filter, over a btree."""
    picture = Picture('insert', "Time and WAL of a new row with a live filter, as a fraction of those with a btree, against the number of rows, in "
                      "batches of 10,000 rows and in transactions of one row", 'rows in the table')
    for n in setting.live_ladder:
        lines = ('batches of 10,000: time', 'batches of 10,000: WAL', 'single rows: time', 'single rows: WAL')
        tables = rows.Live(n)
        for line, row in zip(lines, tables.inserts()):
            picture.measure(line, n, row, min(setting.turns, 3))
        tables.drop()
    return picture


def sizes(setting):
    """Bytes of a filter over those of a btree on the same titles."""
    picture = Picture('size', "Bytes of a filter, as a percentage of a btree's on the same titles, against the promised probability of a false positive",
                      'promised probability')
    n = min(setting.rows, 10**6)
    sql(f"""CREATE UNLOGGED TABLE sized AS SELECT {rows.title('i')} AS title FROM generate_series(1, {n}) AS i;
        CREATE INDEX sized_btree ON sized (title);""")
    btree = Value("SELECT pg_relation_size('sized_btree')").take('')
    for p in (0.1, 0.03, 0.01, 0.001, 0.0001, 0.00001, 0.000001):
        live = Value(f"""CREATE INDEX sized_live ON sized USING bloomfilter (title) WITH (expected = {n}, fpp = {p});
                         SELECT pg_relation_size('sized_live'); DROP INDEX sized_live""").take('')
        picture.add('live filter', p, 100 * live / btree)
        for line, counting in {'stored filter': 'false', 'stored filter, counting': 'true'}.items():
            picture.add(line, p, 100 * Value(f'SELECT pg_column_size(bf_create({n}, {p}, counting => {counting}))').take('') / btree)
    sql('DROP TABLE sized')
    return picture


def measured(setting):
    """All pictures, in the order in which they are shown."""
    return [new_titles(setting), blocks(setting), *by_size(setting), sizes(setting), inserts(setting), promises(setting)]


def put(name, work, folder):
    """Where it is to be, light and dark."""
    os.makedirs(folder, exist_ok=True)
    for file in name + '.svg', name + '-dark.svg':
        shutil.copyfile(os.path.join(work, file), os.path.join(folder, file))
