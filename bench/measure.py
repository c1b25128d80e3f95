"""How script/bench measures: statements by psql, other programs by a word and its answer, in turns."""
import contextlib
import glob
import json
import os
import statistics
import subprocess
import sys

PRELUDE = """SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET synchronous_commit = off;
SELECT bf_contains(bf_create(1), 'x'), reading() \\g /dev/null
"""


def sql(script):
    """What psql prints."""
    done = subprocess.run(['psql', '-XAtq', '-v', 'ON_ERROR_STOP=1'], input=script, text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, PGOPTIONS='-c client_min_messages=warning'))
    if done.returncode:
        sys.exit('bench: psql failed at:\n' + script)
    return done.stdout.strip()


@contextlib.contextmanager
def restarted(buffers):
    """The server, with other shared buffers for a while.  What it is started with is in its files, and on no command line."""
    before = sql('SHOW shared_buffers')
    restart(buffers)
    try:
        yield
    finally:
        restart(before)


def restart(buffers):
    """As the user that the server runs as."""
    data = sql(f"ALTER SYSTEM SET shared_buffers = '{buffers}'; SHOW data_directory")
    owner = {} if os.geteuid() else {'user': os.stat(data).st_uid, 'group': os.stat(data).st_gid, 'extra_groups': []}
    subprocess.run(['pg_ctl', 'restart', '-s', '-w', '-m', 'fast', '-D', data, '-l', os.path.join(data, 'restarted.log')], check=True, cwd=data, **owner)
    if sql("SELECT source FROM pg_settings WHERE name = 'shared_buffers'") != 'configuration file':
        sys.exit('bench: shared_buffers cannot be changed, as it is on the command line of the server')


def forget(relations):
    """Neither the server nor the system's cache has anything of these any more, if the server was just started."""
    data = sql('SHOW data_directory')
    for path in sql(f"CHECKPOINT; SELECT pg_relation_filepath(name) FROM unnest('{{{relations}}}'::regclass[]) AS name").split():
        for file in glob.glob(os.path.join(data, path + '*')):
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


class Sql:
    """A statement, in a session of its own, times times after one another; its cost is that of one of each elements,
    less what an element of another statement takes."""

    def __init__(self, query, each=1, times=1, before='', less=None):
        self.query, self.each, self.times, self.before, self.less = query, each, times, before, less

    def take(self, metric):
        taken = float(sql(f'{PRELUDE}{self.before};\nSELECT forget_peak() \\g /dev/null\nSELECT {metric} AS start FROM reading() \\gset\n' +
                          f'{self.query} \\g /dev/null\n' * self.times +
                          f'SELECT {metric} - :start FROM reading();\n').split('\n')[-1])
        return taken / self.times / self.each - (self.less.take(metric) if self.less else 0)


class Pages:
    """What a statement reads from outside shared buffers, for each of so many rows."""

    def __init__(self, statement):
        self.statement = statement

    def take(self, _):
        plan = sql(f'{PRELUDE}{self.statement.before};\nEXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) {self.statement.query};')
        return max(json.loads(plan)[0]['Plan']['Shared Read Blocks'], 1) / self.statement.each


class Cold:
    """A statement, of which some relations' files are read from the disk."""

    def __init__(self, statement, relations, buffers):
        self.statement, self.relations, self.buffers = statement, relations, buffers

    def take(self, metric):
        with restarted(self.buffers):
            forget(self.relations)
            return self.statement.take(metric)


class Value:
    """A figure that a statement returns."""

    def __init__(self, query, each=1):
        self.query, self.each = query, each

    def take(self, _):
        return float(sql(f'{PRELUDE}{self.query};\n').split('\n')[-1]) / self.each


def redis_server(s, name):
    """Make a server object for the setting's Redis."""
    sql(f"""CREATE SERVER {name} FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '{s.socket}', command_timeout '60000');
            CREATE USER MAPPING FOR CURRENT_USER SERVER {name}""")


class Serving:
    """Nanoseconds that another process takes on the processor while a statement runs, for each of so many elements."""

    def __init__(self, process, statement):
        self.process, self.statement = process, statement

    def taken(self):
        """So far, by its first thread, which serves."""
        with open(f'/proc/{self.process.pid}/schedstat', encoding='ascii') as file:
            return int(file.read().split()[0])

    def take(self, _):
        sql(self.statement.before)
        before = self.taken()
        sql(self.statement.query)
        return (self.taken() - before) / self.statement.each


class Program:
    """A program that answers a word by a figure."""

    def __init__(self, *command):
        self.pipe = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(self, word, times=1):
        return Answer(self, word, times)

    def stop(self):
        self.pipe.stdin.close()
        self.pipe.wait()


class Answer:
    """What a program answers to a word, so many times."""

    def __init__(self, program, word, times):
        self.program, self.word, self.times = program, word, times

    def take(self, _):
        self.program.pipe.stdin.write(self.word + '\n')
        answer = self.program.pipe.stdout.readline()
        if not answer:
            sys.exit(f'bench: no answer to {self.word}')
        return float(answer) * self.times


# What is no time, and so does not move from machine to machine; and of that, what hardly moves from turn to turn.
COUNTED = ('wal', 'bytes', 'number', 'pages', 'peak')
STEADY = COUNTED[1:]


class Row:
    """A line of the table: work over its anchor, by a metric.  The goal is 'at most' so much where it is
    positive, 'at least' so much of anchor over work ('times as fast') where faster is set.  A time is measured in so many turns at least.
    moves says by the words of rows.MOVES what most of the time of the work / of the anchor is of, where that is not what its
    section says."""

    def __init__(self, name, over, work, anchor, goal=None, metric='cpu', faster=False, turns=1, moves=None):
        self.name, self.over, self.work, self.anchor = name, over, work, anchor
        self.goal, self.metric, self.faster, self.turns = goal, metric, faster, turns
        self.moves = 'counts / counts' if metric in COUNTED else moves

    def measure(self, turns):
        """In turns, the anchor and the work: what else the machine does at times, it does to both.  Two show what is steady."""
        self.ratios, self.costs = [], []
        for _ in range(min(turns, 2) if self.metric in STEADY else max(turns, self.turns)):
            anchor, work = self.anchor.take(self.metric), self.work.take(self.metric)
            self.costs.append(work)
            self.ratios.append(anchor / work if self.faster else work / anchor)
        self.ratio, self.cost = statistics.median(self.ratios), statistics.median(self.costs)
        over = f', over {self.over}' if self.over else ''
        print(f'    {self.name}{over}: {self.figure()}', file=sys.stderr, flush=True)
        return self

    def figure(self):
        return '%s [%s .. %s]' % tuple(three_digits(x) for x in (self.ratio, min(self.ratios), max(self.ratios)))

    def met(self):
        if self.goal is None:
            return ''
        goal = self.goal() if callable(self.goal) else self.goal
        met = self.ratio >= goal if self.faster else self.ratio <= goal
        return '%s %s | %s' % ('at least' if self.faster else 'at most', three_digits(goal), 'met' if met else '**missed**')


def three_digits(x):
    """A number as one reads it."""
    return '%.0f' % x if abs(x) >= 100 else '%.3g' % x
