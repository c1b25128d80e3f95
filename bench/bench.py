"""bench.py smoke|quick|full|choosing|pictures RESULTS PICTURES: what script/bench does once its servers are there.

The server that psql finds is scratch, with the extension installed; pg_ctl, of the same release, may restart it with other
shared buffers.  Writes the tables to the file RESULTS, and the pictures to the folder PICTURES, once all of it is there, so that
they are of one run; full and choosing draw none.  smoke is for testing this program; its figures say nothing."""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import blocks
import choosing
import pictures
import rows
from measure import Program, sql, three_digits

HERE = os.path.dirname(os.path.abspath(__file__))
# turns of the table; rows of live filters, and seconds of each pgbench; partitions; groups, and elements of the huge
# filter, whose memory is measured; sizes of the pictures by size, and of those of live filters; rows and probes of the
# picture of false positives.
Scale = collections.namedtuple('Scale', 'rows asked turns live seconds partitions groups huge ladder live_ladder fpp_rows probes')
SCALES = {
    'smoke': Scale(20000, 5000, 1, 5000, 1, 20, 100, 2000000, (1000, 10000), (1000, 5000), 2000, 10000),
    'quick': Scale(10**6, 2 * 10**5, 3, 10**6, 1, 200, 10000, 75000000, (10**4, 10**5, 10**6), (10**4, 10**5), 100000, 200000),
    'choosing': Scale(10**6, 2 * 10**5, 3, 10**6, 1, 200, 10000, 75000000, (), (), 0, 0),
    'full': Scale(10**7, 10**6, 5, 10**7, 10, 2000, 100000, 750000000, (), (), 0, 0),
    'pictures': Scale(10**6, 10**5, 3, 10**7, 1, 200, 10000, 75000000, (10**4, 10**5, 10**6, 10**7),
                      (10**5, 10**6, 10**7), 1000000, 5000000),
}


# What is measured beside, where it is there.
OTHERS = {'hll': 'the extension hll', 'java': 'Java with Guava', 'hiredis': 'redis-server and hiredis', 'arrow': 'Rust with arrow-rs',
          'module': 'a module of Redis named by BLOOMEXT_REDISBLOOM'}


class Setting:
    """What the sections need to know: the scale's fields, and what else is there."""

    def __init__(self, scale, work):
        self.__dict__.update(scale._asdict(), work=work, start=time.time(), large=10 * scale.rows, java=None, hiredis=None, arrow=None,
                             module=os.environ.get('BLOOMEXT_REDISBLOOM'))
        variables = [f'-v{name}={getattr(self, name)}' for name in ('rows', 'asked', 'large')]
        subprocess.run(['psql', '-XAtq', '-vON_ERROR_STOP=1', *variables, '-f', os.path.join(HERE, 'data.sql')], check=True)
        self.hll = sql("SELECT extversion FROM pg_extension WHERE extname = 'hll'")
        self.start_java()
        self.start_redis()
        self.start_arrow()
        self.missing = [words for name, words in OTHERS.items() if not getattr(self, name)]

    def start_java(self):
        jar = os.environ.get('GUAVA_JAR', '/usr/share/java/guava.jar')
        if os.path.exists(jar) and shutil.which('java'):
            with zipfile.ZipFile(jar) as archive:
                manifest = archive.read('META-INF/MANIFEST.MF').decode()
            self.guava = 'Guava ' + re.search(r'Bundle-Version: (\S+)', manifest + 'Bundle-Version: unknown').group(1)
            self.java = Program('java', '-cp', jar, os.path.join(HERE, 'GuavaTimes.java'), str(self.rows), str(self.asked))

    def start_redis(self):
        """A private Redis, which the PostgreSQL server's user reaches too."""
        self.socket, baseline = os.path.join(self.work, 'redis'), os.path.join(self.work, 'baseline')
        flags = output('pkg-config', '--cflags', '--libs', 'hiredis')
        if not flags or not shutil.which('redis-server'):
            return
        subprocess.run(['cc', '-O2', '-o', baseline, os.path.join(HERE, 'redis_baseline.c'), *flags.split()], check=True)
        options = ['--port', '0', '--unixsocket', self.socket, '--unixsocketperm', '777', '--save', '']
        options += ['--loadmodule', self.module] if self.module else []
        self.redis = subprocess.Popen(['redis-server', *options], stdout=subprocess.DEVNULL, cwd=self.work)
        while not os.path.exists(self.socket) and self.redis.poll() is None:
            time.sleep(0.1)
        size = sql("SELECT pg_column_size(f) FROM filters WHERE name = 'large'")
        self.hiredis = Program(baseline, self.socket, size)

    def start_arrow(self):
        """Which takes a minute to compile: not for a test of this program."""
        folder, target = os.path.join(HERE, '..', 'test', 'originals'), os.path.join(self.work, 'rust')
        if self.rows >= 10**6 and shutil.which('cargo'):
            built = subprocess.run(['cargo', 'build', '--release', '--locked', '--quiet', '--bin', 'arrow-times'], cwd=folder,
                                   env=dict(os.environ, CARGO_TARGET_DIR=target), check=False)
            if built.returncode == 0:
                self.arrow = Program(os.path.join(target, 'release', 'arrow-times'))

    def stop(self):
        for program in (self.java, self.hiredis, self.arrow):
            if program:
                program.stop()
        if self.hiredis:
            self.redis.terminate()
            self.redis.wait()


def output(*command):
    """What a program says; nothing where it is not there, or fails."""
    if not shutil.which(command[0]):
        return ''
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return '' if done.returncode else done.stdout


def machine():
    """The processor and its memory, without the machine's name."""
    fields = dict(line.split(':', 1) for line in output('lscpu').split('\n') if ':' in line)
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    return (f'{fields.get("Model name", os.uname().machine).strip()}, {len(os.sched_getaffinity(0))} cores, '
            f'L3 {fields.get("L3 cache", "unknown").strip()}, {memory:.0f} GB of memory, Linux {os.uname().release}')


def memory_times(work):
    """Of this machine, by which ratios of "memory" and "scan" are to be read."""
    program, sizes = os.path.join(work, 'memory_times'), ('1', '12', '24', '120')
    subprocess.run(['cc', '-O2', '-o', program, os.path.join(HERE, 'memory_times.c')], check=True)
    *reads, ordered = output(program, *sizes).split()
    return ', '.join(f'{three_digits(float(ns))} ns in {size} MB' for size, ns in zip(sizes, reads)) + f'; in order {ordered} ns'


def versions(setting):
    """Of all that is compared."""
    yield sql("SELECT 'PostgreSQL ' || current_setting('server_version')")
    yield 'bloomext ' + sql("SELECT extversion FROM pg_extension WHERE extname = 'bloomext'")
    if setting.hll:
        yield 'hll ' + setting.hll
    if setting.java:
        yield setting.guava
        yield output('java', '-version').split('\n')[0]
    if setting.hiredis:
        yield output('redis-server', '--version').split(' sha')[0]
        yield 'hiredis ' + output('pkg-config', '--modversion', 'hiredis').strip()


def where(setting):
    """Where the figures are from."""
    settings = sql("""SELECT string_agg(name || ' = ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings
        WHERE name IN ('shared_buffers', 'work_mem', 'hash_mem_multiplier', 'maintenance_work_mem', 'max_wal_size', 'fsync', 'huge_pages')""")
    collation = sql('SELECT datcollate FROM pg_database WHERE datname = current_database()')
    return f"""* Machine: {machine()}.
* Memory: 64 bytes at random, one after the other: {memory_times(setting.work)}.
* Versions: {", ".join(versions(setting))}.
* Settings: {settings};
  jit off, synchronous_commit off, no parallel workers but where said; collation {collation}"""


def minutes(setting):
    """The time that all took."""
    return f'All in one run, of {(time.time() - setting.start) / 60:.0f} minutes'


def head(scale, setting):
    """What all tables have in common."""
    length, whose = (40, 'the titles') if scale == 'choosing' else (50, 'live filters and the btrees beside them')
    moves = '\n'.join(f'  * {word}: {what}.' for word, what in rows.MOVES.items())
    return f"""# Results of `script/bench {scale}`

* n = {setting.rows:,} titles of some {length} bytes, cached; {setting.asked:,} are asked for. Goals are for ten million.
{where(setting)},
  of {whose} {rows.collation() or 'the same'}.
* Times are the backend's own on the processor, where not said "by the clock", or of Java (its thread's own). Each ratio is of two figures
  taken one after the other; {setting.turns} turns (2 of what is counted, but for WAL), their median, [least .. most].
  {minutes(setting)}.
* Two times of one kind move alike between machines; where they are of different kinds, the ratio moves, and a goal that was met on the
  machine where it was set (bench/PROFILE.md) may be missed. "Moves with" says what most of the time is of, the work's / its anchor's:
{moves}
""" + ''.join(f'* Not measured, as it is not there: {name}.\n' for name in setting.missing)


def head_of_pictures(scale, setting):
    """What all pictures have in common."""
    return f"""# Pictures of `script/bench {scale}`

* All are of the same titles, of some 40 bytes, cached except where the picture is about what is not. Filters are for p = 0.0001 except
  where p is named. Figures are the median [least .. most] of {min(setting.turns, 3)} turns; what is counted is taken once.
* Times are those of the backend on the processor, without waiting for the disk. {minutes(setting)}.
{where(setting)}, of the titles {rows.collation() or 'the same'}.
"""


# What a section needs, and what most of its ratios move with (see rows.MOVES).
Section = collections.namedtuple('Section', 'needs moves')
SECTIONS = {
    rows.aggregates: Section(None, 'code, memory / scan'),
    rows.lookups: Section(None, 'memory / memory'),
    rows.guava: Section('java', 'memory / memory'),
    rows.redis: Section('hiredis', 'kernel / kernel'),
    rows.windows: Section('hiredis', 'kernel / kernel'),
    blocks.blocks: Section(None, 'memory / memory'),
    blocks.blocks_in_redis: Section('hiredis', 'kernel / kernel'),
    rows.live: Section(None, 'memory / memory'),
    rows.growing: Section(None, 'memory / memory'),
    rows.gate: Section(None, 'memory / memory'),
    rows.several: Section(None, 'memory / memory'),
    rows.single: Section(None, 'code / code'),
    rows.memory: Section(None, 'counts / counts'),
    rows.ingest: Section(None, 'kernel / kernel'),
}
CHOOSING = {choosing.others: Section(None, 'memory / memory')}


def sections(scale):
    """What is measured for the tables."""
    return {'choosing': CHOOSING, 'smoke': {**SECTIONS, **CHOOSING}, 'pictures': {}}.get(scale, SECTIONS)


def unit(row):
    """What the work takes by itself."""
    if row.metric in ('number', 'pages'):
        return three_digits(row.cost)
    if row.metric in ('wal', 'peak', 'bytes'):
        return f'{row.cost:,.0f} bytes'
    return f'{three_digits(row.cost / 1e6)} ms' if row.cost > 1e6 else f'{three_digits(row.cost)} ns'


def table(section, moves, setting):
    """A section's rows, measured, as a table."""
    title = section.__doc__.split('\n')[0]
    say(title, setting)
    lines = [f'## {title}', '', '| work | over | ratio | goal | | moves with | work itself |', '|---|---|---|---|---|---|---|']
    for row in section(setting):
        row.measure(setting.turns)
        over = f'{row.over}: times as fast' if row.faster else row.over
        lines.append(f'| {row.name} | {over} | {row.figure()} | {row.met() or " | "} | {row.moves or moves} | {unit(row)} |')
    return lines + ['']


def say(what, setting):
    """What comes now, and when that is."""
    print('==> %s (after %d:%02d minutes)' % (what, *divmod(time.time() - setting.start, 60)), file=sys.stderr, flush=True)


def main():
    scale, results, folder = sys.argv[1:]
    work = tempfile.mkdtemp(prefix='bloomext-bench.', dir='/tmp')
    os.chmod(work, 0o755)
    setting, drawn = None, []
    try:
        setting = Setting(SCALES[scale], work)
        lines = []
        for section, (needs, moves) in sections(scale).items():
            if needs is None or getattr(setting, needs):
                lines += table(section, moves, setting)
        if setting.ladder:
            say('Pictures', setting)
            drawn = pictures.measured(setting)
        for picture in drawn:
            picture.draw(setting.work)
            lines += picture.shown(folder, os.path.dirname(os.path.abspath(results)))
        page = '\n'.join([(head_of_pictures if scale == 'pictures' else head)(scale, setting), *lines]).rstrip() + '\n'
        say('Written', setting)
        for picture in drawn:
            pictures.put(picture.name, setting.work, folder)
        with open(results, 'w', encoding='utf8') as file:
            file.write(page)
    finally:
        if setting:
            setting.stop()
        shutil.rmtree(work)


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
