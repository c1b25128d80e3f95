"""clients/python, which only reads, as an implementation: reader.py FOLDER STRATEGY

guava in layout guava, as bytes, since without a hash their kind is not known; parquet in
layout bitmap, where no reader takes an empty filter, and none is asked.  What it asks a client
is answered out of the bytes, as Redis does.
"""
import functools
import sys
import uuid

from bloom_reader import Filter
from empty import empty
from vectors import check

FOLDER, STRATEGY = sys.argv[1:]
KINDS = {'text': ('text', bytes.decode), 'text16': ('bytea', lambda b: b.decode().encode('utf-16-le')), 'int4': ('integer', int),
         'int8': ('bigint', int), 'bytea': ('bytea', bytes), 'uuid': ('uuid', lambda b: uuid.UUID(bytes=b))}
if STRATEGY == 'guava':
    KINDS.update(text=('bytea', bytes), int4=('bytea', lambda b: int(b).to_bytes(4, 'little', signed=True)),
                 int8=('bytea', lambda b: int(b).to_bytes(8, 'little', signed=True)))


class Redis:
    """Has one filter.  Parquet's bits lie the other way round in a byte, behind a head."""

    def __init__(self, stream, m, k):
        self.parquet, self.replies = STRATEGY == 'parquet', []
        self.string = stream[len(stream) - m // 8:] if self.parquet else stream
        zeros = len(self.string) - len(self.string.lstrip(b'\0'))
        word = zeros // 4
        self.empty = self.parquet and zeros == len(self.string)
        self.fields = [None] * 9
        if self.parquet and not self.empty:
            witness = f'{len(self.string)} {word}:{self.word(f"#{word}")}'
            self.fields = [b'bitmap', b'parquet', b'%d' % m, b'%d' % k, None, None, None, witness.encode(), None]

    def pipeline(self, transaction):
        return self

    def bit(self, i):
        return self.string[i // 8] >> (i % 8 if self.parquet else 7 - i % 8) & 1

    def word(self, number):
        return int(''.join(str(self.bit(i)) for i in range(32 * int(number[1:]), 32 * int(number[1:]) + 32)), 2)

    def execute_command(self, command, _, *args, **options):
        gets = {'u1': self.bit, 'u32': self.word}
        head = int.from_bytes(self.string[:6], 'big')
        self.replies.append({'STRLEN': lambda: len(self.string), 'HMGET': lambda: self.fields,
                             'BITFIELD_RO': lambda: [head, *(gets[size](at) for size, at in zip(args[4::3], args[5::3]))]}[command]())

    def execute(self):
        replies, self.replies = self.replies, []
        return replies


class Reader:
    def __init__(self, stream, m, k):
        self.redis = Redis(stream, m, k)

    def contains(self, etype, value):
        kind, made = KINDS[etype]
        return not self.redis.empty and Filter(self.redis, 'key', kind).contains([made(value)])[0]

    def add(self, etype, value):
        return False


class Readers:
    open = Reader
    empty = functools.partial(empty, STRATEGY)


counts = check(Readers, FOLDER, STRATEGY)
print(f'{counts[True]} passed, {counts[False]} failed, {counts[None]} left out')
sys.exit(counts[False] > 0)
