"""The pictures of script/bench: what they show is measured here, and drawn by gnuplot (pictures.gp)."""
import os
import shutil
import subprocess
import sys

import rows
from measure import Row, Sql, Value, sql

HERE = os.path.dirname(os.path.abspath(__file__))
# The strategies, and the least probability that each can promise here.
STRATEGIES = {'guava': 0, 'guava32': 0, 'redisson': 0, 'magnuss': 0, 'tale2009': 0, 'cassandra': 0.001, 'redisbloom': 0,
              'spark1': 0, 'spark2': 0, 'bitsandblooms': 0}
MARKUP = '<picture><source media="(prefers-color-scheme: dark)" srcset="{0}-dark.svg"><img src="{0}.svg" width="720"></picture>\n'
PROBABILITIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0001)


class Picture:
    """Lines of points (x, median, least, most) by name, in a file that gnuplot reads."""

    def __init__(self, name):
        self.name, self.lines = name, {}

    def add(self, line, x, *y):
        self.lines.setdefault(line, []).append((x, *(y if len(y) == 3 else y * 3)))

    def measure(self, line, x, row, turns):
        row.name = f'{self.name}, {line}, {x:g}'
        row.measure(turns)
        self.add(line, x, row.ratio, min(row.ratios), max(row.ratios))

    def draw(self, work):
        data = os.path.join(work, self.name)
        with open(data, 'w', encoding='utf8') as file:
            for line, points in self.lines.items():
                file.write(f'"{line}"\n' + ''.join('%g %g %g %g\n' % point for point in points) + '\n\n')
        for dark in (0, 1):
            out = data + ('-dark' if dark else '') + '.svg'
            subprocess.run(['gnuplot', '-e', f"picture='{self.name}'; data='{data}'; out='{out}'; dark={dark}; lines={len(self.lines)}",
                            os.path.join(HERE, 'pictures.gp')], check=True)


def by_size(setting):
    """What building and asking costs from few elements to many: short texts, so that many fit."""
    build, lookup = Picture('build'), Picture('lookup')
    for n in setting.ladder:
        turns = 1 if n > 10**7 else min(setting.turns, 3)
        times = max(1, min(50, 10**6 // n))
        sql(f"""CREATE UNLOGGED TABLE ladder AS SELECT 'Title ' || i AS title FROM generate_series(1, {n}) AS i; VACUUM ANALYZE ladder;""")
        aggregates = {'bf_agg, sized, p = 0.01': f'bf_agg(title, {n}, 0.01)', 'bf_agg, sizing itself': 'bf_agg(title)',
                      'bf_agg, growing from n/100': f"bf_agg(title, {n // 100}, 0.01, 'guava', 2)"}
        if setting.hll:
            aggregates['hll_add_agg'] = 'hll_add_agg(hll_hash_text(title))'
        for line, work in aggregates.items():
            build.measure(line, n, Row('', '', *(Sql(f'SELECT {x} IS NULL FROM ladder', times=times) for x in (work, 'count(title)'))), turns)

        sql(f"""CREATE UNLOGGED TABLE sought AS
                SELECT 'Title ' || (hashint4extended(i, 0) & x'7fffffff'::bigint) % {2 * n} AS title
                FROM generate_series(1, {setting.asked}) AS i;
            CREATE UNLOGGED TABLE laddered AS SELECT bf_agg(title, {n}, 0.01) AS f FROM ladder;
            CREATE INDEX ladder_btree ON ladder (title);
            CREATE INDEX ladder_live ON ladder USING bloomfilter (title) WITH (expected = {n}, fpp = 0.01);
            VACUUM ANALYZE ladder, sought, laddered;""")
        scan = Sql('SELECT count(title) FROM sought')
        btree = Sql('SELECT count(*) FROM sought WHERE EXISTS (SELECT FROM ladder WHERE ladder.title = sought.title OFFSET 0)', less=scan,
                    before='SET enable_seqscan = off')
        for line, condition in {'bf_contains, stored filter': 'bf_contains((SELECT f FROM laddered), title)',
                                'bf_live_contains, live filter': "bf_live_contains('ladder', title)"}.items():
            lookup.measure(line, n, Row('', '', Sql(f'SELECT count(*) FROM sought WHERE {condition}', less=scan), btree), turns)
        sql('DROP TABLE ladder, sought, laddered')
    return build, lookup


def promises(setting):
    """False positives measured, over what was promised, and how far chance moves that."""
    picture = Picture('fpp')
    for strategy, least in STRATEGIES.items():
        for p in (p for p in PROBABILITIES if p >= least):
            measured = sql(f"""SELECT bf_measure_fpp(bf_agg(title, {setting.fpp_rows}, {p}, '{strategy}'), {setting.probes}, 1)
                               FROM titles WHERE id <= {setting.fpp_rows}""")
            ratio = float(measured) / p
            error = (ratio / p / setting.probes) ** 0.5
            picture.add(strategy, p, ratio, ratio - error, ratio + error)
    print('    fpp: measured', file=sys.stderr, flush=True)
    return picture


def inserts(setting):
    """What a row that comes costs a live filter, over a btree."""
    picture = Picture('insert')
    for n in setting.live_ladder:
        lines = ('10,000 rows a statement', 'their WAL', 'a row a transaction, whole', 'its WAL')
        tables = rows.Live(n)
        for line, row in zip(lines, tables.inserts()):
            picture.measure(line, n, row, min(setting.turns, 3))
        tables.drop()
    return picture


def sizes(setting):
    """Bytes of a filter over those of a btree on the same titles."""
    picture = Picture('size')
    n = min(setting.rows, 10**6)
    sql(f'CREATE UNLOGGED TABLE sized AS SELECT title FROM titles WHERE id <= {n}; CREATE INDEX sized_btree ON sized (title);')
    btree = Value("SELECT pg_relation_size('sized_btree')").take('')
    for p in (0.1, 0.03, 0.01, 0.001, 0.0001, 0.00001, 0.000001):
        live = Value(f"""CREATE INDEX sized_live ON sized USING bloomfilter (title) WITH (expected = {n}, fpp = {p});
                         SELECT pg_relation_size('sized_live'); DROP INDEX sized_live""").take('')
        picture.add('live filter', p, 100 * live / btree)
        for line, counting in {'filter, a value': 'false', 'counting filter, a value': 'true'}.items():
            picture.add(line, p, 100 * Value(f'SELECT pg_column_size(bf_create({n}, {p}, counting => {counting}))').take('') / btree)
    sql('DROP TABLE sized')
    return picture


def draw(setting):
    """Measure, draw into setting.work, and return the pictures' names."""
    drawn = (*by_size(setting), promises(setting), inserts(setting), sizes(setting))
    for picture in drawn:
        picture.draw(setting.work)
    return [picture.name for picture in drawn]


def shown(name, folder, page):
    """What shows a picture of a folder in a page of another."""
    return MARKUP.format(os.path.join(os.path.relpath(folder, page), name))


def put(name, work, folder):
    """Where it is to be, light and dark."""
    os.makedirs(folder, exist_ok=True)
    for file in name + '.svg', name + '-dark.svg':
        shutil.copyfile(os.path.join(work, file), os.path.join(folder, file))
