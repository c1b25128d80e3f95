"""Measure what each way of asking costs Redis: see readers.sh, which calls this."""
import os
import random
import subprocess
import sys

from redis_reader import Redis, murmur3, positions

PROBES = {1: 20000, 100: 50000, 1000: 50000}
LIBRARY = os.path.join(os.path.dirname(__file__), '../src/redis/function/bloomext.lua')
ASK = """local c, k = redis.call, tonumber(ARGV[1])
local answers = {}
for i = 2, #ARGV, k do
  local found = 1
  for j = i, i + k - 1 do
    if c('GETBIT', KEYS[1], ARGV[j]) == 0 then found = 0 break end
  end
  answers[#answers + 1] = found
end
return answers"""


class Ways:
    """The commands that ask about a batch of elements, by each way."""

    def __init__(self, redis):
        head = redis.call('BITFIELD_RO', 'titles', 'GET', 'u48', 0)[0]
        self.hashes, self.bits = head >> 32 & 255, (head & 0xffffffff) * 64

    def offsets(self, element):
        return [48 + 64 * (i >> 6) + 63 - (i & 63)
                for i in positions(element.encode(), self.bits, self.hashes)]

    def getbit(self, batch):
        return [('GETBIT', 'titles', at) for e in batch for at in self.offsets(e)]

    def bitfield(self, batch):
        command = ['BITFIELD_RO', 'titles', 'GET', 'u48', 0]
        for element in batch:
            for at in self.offsets(element):
                command += ['GET', 'u1', at]
        return [command]

    def script(self, batch):
        return [['EVAL_RO', ASK, 1, 'titles', self.hashes] + [at for e in batch for at in self.offsets(e)]]

    def function(self, batch):
        return [['FCALL_RO', 'bloomext_contains_as', 1, 'titles', 'utf8', *batch]]

    def native(self, batch):
        return [['BF.MEXISTS', 'native', *batch]]


def server_time(redis):
    """Microseconds of the processor that the server has taken."""
    values = dict(line.split(b':') for line in redis.call('INFO', 'cpu').split(b'\r\n') if b':' in line)
    return (float(values[b'used_cpu_user']) + float(values[b'used_cpu_sys'])) * 1e6


def asked(redis, commands):
    """Send all commands at once, read all answers."""
    redis.socket.sendall(b''.join(redis.encoded(*command) for command in commands))
    for _ in commands:
        redis.reply()


def report(redis, name, elements, ask):
    """Print what a way costs: what ask() makes of titles, half of them in the filter, and the size of a batch."""
    costs = []
    for size, probes in PROBES.items():
        measured = ask(['Title %d' % random.randrange(2 * elements) for _ in range(probes)], size)
        start = server_time(redis)
        measured()
        costs.append((server_time(redis) - start) / probes)
    print('%-28s %8.2f %8.2f %8.2f' % (name, *costs))


def sql(statement):
    subprocess.run(['psql', '-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-c', statement, '-o', os.devnull], check=True)


def main():
    redis, elements, module = Redis(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ['native']
    ways = Ways(redis)
    chosen = {'GETBIT, pipelined': ways.getbit, 'BITFIELD_RO': ways.bitfield, 'EVAL_RO of GETBIT': ways.script}
    if os.path.exists(LIBRARY):
        with open(LIBRARY, 'rb') as library:
            redis.call('FUNCTION', 'LOAD', library.read())
        chosen['FCALL_RO'] = ways.function
    if module:
        chosen['BF.MEXISTS'] = ways.native

    print('%-28s %8s %8s %8s' % ('us of Redis an element', *PROBES))
    for name, way in chosen.items():
        def ask(titles, size):
            batches = [way(titles[at:at + size]) for at in range(0, len(titles), size)]
            return lambda: [asked(redis, commands) for commands in batches]
        report(redis, name, elements, ask)
    for key in ['titles', 'native'] if module else ['titles']:
        def ask(titles, size):
            return lambda: sql(f"SELECT count(bf_redis_contains_each('readers', '{key}', batch)) FROM "
                               f"(SELECT array_agg('Title ' || i * {2 * elements // len(titles)}) AS batch "
                               f"FROM generate_series(1, {len(titles)}) AS i GROUP BY i / {size}) AS batches")
        report(redis, f'bf_redis_contains, {key}', elements, ask)


main()
