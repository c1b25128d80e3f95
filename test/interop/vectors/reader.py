"""clients/python, which only reads, as an implementation: reader.py FOLDER STRATEGY

guava in layout guava, parquet in layout bitmap.  What it asks a client is answered out of
the bytes, as Redis does.
"""
import sys
import uuid

from bloom_reader import Filter
from vectors import check

FOLDER, STRATEGY = sys.argv[1:]
KINDS = {'text': ('text', bytes.decode), 'text16': ('bytea', lambda b: b.decode().encode('utf-16-le')), 'int4': ('integer', int),
         'int8': ('bigint', int), 'bytea': ('bytea', bytes), 'uuid': ('uuid', lambda b: uuid.UUID(bytes=b))}


class Redis:
    """Has one filter.  Parquet's bits lie the other way round in a byte, behind a head."""

    def __init__(self, stream, m, k):
        self.parquet, self.replies = STRATEGY == 'parquet', []
        self.string = stream[len(stream) - m // 8:] if self.parquet else stream
        self.fields = ['bitmap', 'parquet', str(m), str(k), None, None, None, str(len(self.string))] if self.parquet else [None] * 8

    def pipeline(self, transaction):
        return self

    def bit(self, i):
        return self.string[i // 8] >> (i % 8 if self.parquet else 7 - i % 8) & 1

    def execute_command(self, command, _, *args):
        head = int.from_bytes(self.string[:6], 'big')
        self.replies.append({'STRLEN': lambda: len(self.string), 'HMGET': lambda: self.fields,
                             'BITFIELD_RO': lambda: [head, *map(self.bit, args[5::3])]}[command]())

    def execute(self):
        replies, self.replies = self.replies, []
        return replies


class Reader:
    def __init__(self, stream, m, k):
        self.redis = Redis(stream, m, k)

    def contains(self, etype, value):
        kind, made = KINDS[etype]
        return Filter(self.redis, 'key', kind).contains([made(value)])[0]

    def add(self, etype, value):
        return False


class Readers:
    open = Reader

    @staticmethod
    def empty(m, k):
        return (b'' if STRATEGY == 'parquet' else bytes([1, k]) + (m // 64).to_bytes(4, 'big')) + bytes(m // 8)


counts = check(Readers, FOLDER, STRATEGY)
print(f'{counts[True]} passed, {counts[False]} failed, {counts[None]} left out')
sys.exit(counts[False] > 0)
