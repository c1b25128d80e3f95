"""bench.py smoke|quick|full RESULTS PICTURES: what script/bench does once its servers are there.

The server that psql finds is scratch, with the extension installed.  Writes the table to the file RESULTS, and
the pictures to the folder PICTURES.  smoke is for testing this program; its figures say nothing."""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import pictures
import rows
from measure import Program, sql, three_digits

HERE = os.path.dirname(os.path.abspath(__file__))
Scale = collections.namedtuple('Scale', 'rows asked turns live seconds partitions groups huge ladder live_ladder fpp_rows probes')
SCALES = {
    'smoke': Scale(20000, 5000, 1, 5000, 1, 20, 100, 2000000, (1000, 10000), (1000, 5000), 2000, 10000),
    'quick': Scale(1000000, 200000, 3, 200000, 2, 200, 10000, 75000000, (10**4, 10**5, 10**6), (10**4, 10**5), 100000, 200000),
    'full': Scale(10**7, 10**6, 5, 10**7, 10, 2000, 100000, 750000000, (10**4, 10**5, 10**6, 10**7, 10**8),
                  (10**4, 10**5, 10**6, 10**7), 1000000, 5000000),
}


class Setting:
    """What the sections need to know: the scale's fields, and what else is there."""

    def __init__(self, scale, work):
        self.__dict__.update(scale._asdict(), work=work, large=10 * scale.rows, java=None, hiredis=None,
                             missing=[], module=os.environ.get('BLOOMEXT_REDISBLOOM'))
        subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-v', f'rows={self.rows}', '-v', f'asked={self.asked}', '-v', f'large={self.large}',
                        '-f', os.path.join(HERE, 'data.sql')], check=True)
        self.hll = sql("SELECT extversion FROM pg_extension WHERE extname = 'hll'")
        self.start_java()
        self.start_redis()
        for name in ('hll', 'java', 'hiredis', 'module'):
            if not getattr(self, name):
                self.missing.append({'hll': 'the extension hll', 'java': 'Java with Guava', 'hiredis': 'redis-server with hiredis',
                                     'module': 'a module named by BLOOMEXT_REDISBLOOM'}[name])

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
        flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'hiredis'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        if flags.returncode or not shutil.which('redis-server'):
            return
        subprocess.run(['cc', '-O2', '-o', baseline, os.path.join(HERE, 'redis_baseline.c'), *flags.stdout.split()], check=True)
        self.redis = subprocess.Popen(['redis-server', '--port', '0', '--unixsocket', self.socket, '--unixsocketperm', '777', '--save', '']
                                      + (['--loadmodule', self.module] if self.module else []), stdout=subprocess.DEVNULL, cwd=self.work)
        while not os.path.exists(self.socket) and self.redis.poll() is None:
            time.sleep(0.1)
        size = sql("SELECT pg_column_size(f) FROM filters WHERE name = 'large'")
        self.hiredis = Program(baseline, self.socket, size)

    def stop(self):
        for program in (self.java, self.hiredis):
            if program:
                program.stop()
        if self.hiredis:
            self.redis.terminate()
            self.redis.wait()


def first_line(*command):
    """What a program says of its version."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout.split('\n')[0]


def machine():
    """The processor, without the name of the machine."""
    with open('/proc/cpuinfo', encoding='utf8') as cpuinfo:
        models = [line.split(':')[1].strip() for line in cpuinfo if line.startswith('model name')] or [os.uname().machine]
    caches = [line.split(':')[1].strip() for line in subprocess.run(['lscpu'], stdout=subprocess.PIPE, text=True, check=False).stdout.split('\n')
              if line.startswith('L3')]
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30
    return f'{models[0]}, {len(os.sched_getaffinity(0))} cores, L3 {"".join(caches) or "unknown"}, {memory:.0f} GB of memory, Linux {os.uname().release}'


def head(scale, setting, took):
    versions = [sql("SELECT 'PostgreSQL ' || current_setting('server_version')"), 'bloomext ' + sql("SELECT extversion FROM pg_extension WHERE extname = 'bloomext'")]
    versions += [f'hll {setting.hll}'] if setting.hll else []
    versions += [setting.guava, first_line('java', '-version')] if setting.java else []
    versions += [first_line('redis-server', '--version').split(' sha')[0]] if setting.hiredis else []
    settings = sql("""SELECT string_agg(name || ' = ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings
        WHERE name IN ('shared_buffers', 'work_mem', 'hash_mem_multiplier', 'maintenance_work_mem', 'max_wal_size', 'fsync', 'huge_pages')""")
    return [f'# Results of `script/bench {scale}`', '',
            f'* n = {setting.rows:,} titles of some 50 bytes, cached; {setting.asked:,} are asked for. Goals are for ten million.',
            f'* Machine: {machine()}.',
            f'* Versions: {", ".join(versions)}.',
            f'* Settings: {settings}; jit off, synchronous_commit off, no parallel workers but where said; collation C, of live filters and the '
            f'btrees beside them {rows.collation() or "C"}.',
            '* Times are the backend\'s own on the processor, where not said "by the clock" or of Java (its thread\'s own). Each ratio is of two '
            f'figures taken one after the other; {setting.turns} turns, their median, [least .. most]. Taken within {took / 60:.0f} minutes.',
            *[f'* Not measured, as it is not there: {name}.' for name in setting.missing], '']


SECTIONS = {rows.aggregates: None, rows.lookups: None, rows.guava: 'java', rows.redis: 'hiredis', rows.live: None, rows.memory: None}


def unit(row):
    """What the work takes by itself."""
    if row.metric in ('wal', 'peak', 'bytes'):
        return f'{row.cost:,.0f} bytes'
    return f'{three_digits(row.cost / 1e6)} ms' if row.cost > 1e6 else f'{three_digits(row.cost)} ns'


def table(section, setting):
    """A section's rows, measured, as a table."""
    title = section.__doc__.split('\n')[0]
    print(f'==> {title}', file=sys.stderr, flush=True)
    lines = [f'## {title}', '', '| work | over | ratio | goal | | work itself |', '|---|---|---|---|---|---|']
    for row in section(setting):
        row.measure(setting.turns)
        over = f'{row.over}: times as fast' if row.faster else row.over
        lines.append(f'| {row.name} | {over} | {row.figure()} | {row.met() or " | "} | {unit(row)} |')
    return lines + ['']


def main():
    scale, results, folder = sys.argv[1:]
    start = time.time()
    work = tempfile.mkdtemp(prefix='bloomext-bench.', dir='/tmp')
    os.chmod(work, 0o755)
    setting = None
    try:
        setting = Setting(SCALES[scale], work)
        lines = []
        for section, needed in SECTIONS.items():
            if needed is None or getattr(setting, needed):
                lines += table(section, setting)
        lines += pictures.draw(setting, folder, os.path.dirname(os.path.abspath(results)))
        with open(results, 'w', encoding='utf8') as file:
            file.write('\n'.join(head(scale, setting, time.time() - start) + lines).rstrip() + '\n')
    finally:
        if setting:
            setting.stop()
        shutil.rmtree(work)


main()
