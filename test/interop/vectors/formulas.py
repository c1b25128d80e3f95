"""The formulas of positions.py as an implementation of every strategy: formulas.py FOLDER STRATEGY

The order of the bits is written from doc/strategies.md.
"""
import functools
import sys

import empty
from positions import STRATEGIES
from vectors import check

FOLDER, STRATEGY = sys.argv[1:]
UTF16 = {'cassandra': ('utf-16-be', b'\xfe\xff'), 'tale2009': ('utf-16-le', b'')}


@functools.lru_cache
def hashed(etype, value):
    """The bytes that an element is hashed as."""
    if etype.startswith('int'):
        long = etype == 'int8' or STRATEGY.startswith('spark')
        return value if STRATEGY in ('redisson', 'magnuss') else int(value).to_bytes(8 if long else 4, 'little', signed=True)
    if etype == 'text16' or etype == 'text' and STRATEGY in UTF16:
        encoding, mark = UTF16.get(STRATEGY, ('utf-16-le', b''))
        return mark + value.decode().encode(encoding) if value else b''
    return value


@functools.lru_cache(16)
def positions(etype, value, m, k, *seed):
    return STRATEGIES[STRATEGY](hashed(etype, value), m, k, *seed)


class Filter:
    def __init__(self, stream, m, k):
        self.stream, self.m, self.k = bytearray(stream), m, k
        self.seed = [int.from_bytes(stream[8:12], 'big')] if STRATEGY == 'spark2' else []
        self.head = len(stream) - ((m + 63) // 64 * 8 if STRATEGY in empty.HEADS_OF_WORDS else (m + 7) // 8)

    def places(self, etype, value):
        for i in positions(etype, value, self.m, self.k, *self.seed):
            if STRATEGY in empty.HEADS_OF_WORDS:
                yield self.head + i // 64 * 8 + 7 - i % 64 // 8, 1 << i % 8
            else:
                yield self.head + i // 8, 1 << i % 8 if STRATEGY in ('parquet', 'cassandra') else 128 >> i % 8

    def contains(self, etype, value):
        return all(self.stream[at] & mask for at, mask in self.places(etype, value))

    def add(self, etype, value):
        for at, mask in self.places(etype, value):
            self.stream[at] |= mask
        return True

    def bytes(self):
        return bytes(self.stream)


class Formulas:
    open = Filter
    empty = functools.partial(empty.empty, STRATEGY)


counts = check(Formulas, FOLDER, STRATEGY)
print(f'{counts[True]} passed, {counts[False]} failed, {counts[None]} left out')
sys.exit(counts[False] > 0)
