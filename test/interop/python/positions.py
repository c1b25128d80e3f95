#!/usr/bin/env python3
"""Positions by each strategy: positions.py < lines "strategy m k hex", a line each.

The hashes are written from doc/strategies.md; guava and guava32, the formulas
that doc/redis-readers.md has in Python, which test/t/docs/redis_documents.pl puts
into a module "document".
"""
import hashlib
import sys

import document
from city import city
from redis_reader import murmur3, rotate

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1


def little(data):
    return int.from_bytes(data, 'little')


def signed(x):
    """A 32-bit integer, or a byte of 8 bits, as two's complement."""
    return x - (1 << 32) if x >> 31 else x


def remainder(x, m):
    """Of a division that truncates, as C's and Java's, without its sign."""
    return abs(x) % m


class Highway:
    """HighwayHash with 128 bits, as published."""
    KEY = [0x9e3779b97f4a7c15, 0xf39cc0605cedc834, 0x1082276bf3a27251, 0xf86c6a11d0c18e95]
    MUL0 = [0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0, 0x13198a2e03707344, 0x243f6a8885a308d3]
    MUL1 = [0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c, 0xbe5466cf34e90c6c, 0x452821e638d01377]

    def __init__(self, data):
        self.mul0, self.mul1 = self.MUL0[:], self.MUL1[:]
        self.v0 = [m ^ key for m, key in zip(self.MUL0, self.KEY)]
        self.v1 = [m ^ self.swapped(key) for m, key in zip(self.MUL1, self.KEY)]
        whole = len(data) // 32 * 32
        for at in range(0, whole, 32):
            self.packet(data[at:at + 32])
        if data[whole:]:
            self.rest(data[whole:])
        for _ in range(6):
            self.update([self.swapped(self.v0[i]) for i in (2, 3, 0, 1)])
        self.halves = [self.v0[i] + self.mul0[i] + self.v1[i + 2] + self.mul1[i + 2] & M64 for i in (0, 1)]

    @staticmethod
    def swapped(x):
        return x >> 32 | (x & M32) << 32

    def packet(self, data):
        self.update([little(data[at:at + 8]) for at in range(0, 32, 8)])

    def update(self, lanes):
        v0, v1, mul0, mul1 = self.v0, self.v1, self.mul0, self.mul1
        for i in range(4):
            v1[i] = v1[i] + mul0[i] + lanes[i] & M64
            mul0[i] ^= (v1[i] & M32) * (v0[i] >> 32)
            v0[i] = v0[i] + mul1[i] & M64
            mul1[i] ^= (v0[i] & M32) * (v1[i] >> 32)
        self.zipper(v1, v0)
        self.zipper(v0, v1)

    @staticmethod
    def zipper(source, target):
        for i in (0, 2):
            b = source[i].to_bytes(8, 'little') + source[i + 1].to_bytes(8, 'little')
            for lane, order in (i, (3, 12, 2, 5, 14, 1, 15, 0)), (i + 1, (11, 4, 10, 13, 9, 6, 8, 7)):
                target[lane] = target[lane] + little(bytes(b[j] for j in order)) & M64

    def rest(self, data):
        r = len(data)
        self.v0 = [v + (r << 32) + r & M64 for v in self.v0]
        self.v1 = [sum((half << r & M32 | half >> 32 - r) << at for half, at in ((v & M32, 0), (v >> 32, 32)))
                   for v in self.v1]
        words, packet = r & ~3, bytearray(32)
        packet[:words] = data[:words]
        tail, q = data[words:], r & 3
        if r & 16:
            packet[28:] = data[-4:]
        elif q:
            packet[16:19] = bytes([tail[0], tail[q // 2], tail[q - 1]])
        self.packet(packet)


def murmur2(data, seed):
    """Cassandra's, with signed bytes at the end."""
    m, h, whole = 0x5bd1e995, seed ^ len(data), len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = little(data[at:at + 4]) * m & M32
        h = h * m & M32 ^ (k ^ k >> 24) * m & M32
    tail = [b - 256 if b > 127 else b for b in reversed(data[whole:])]
    for i, byte in enumerate(tail):
        h ^= byte << 8 * i & M32
    if tail:
        h = h * m & M32
    h = (h ^ h >> 13) * m & M32
    return h ^ h >> 15


def murmur32(data, seed):
    """Spark's, which takes each byte of the end for a word of its own."""
    h, whole = seed & M32, len(data) // 4 * 4
    words = [little(data[at:at + 4]) for at in range(0, whole, 4)]
    for k in words + [b - 256 if b > 127 else b for b in data[whole:]]:
        k = k * 0xcc9e2d51 & M32
        h ^= (k << 15 | k >> 17) * 0x1b873593 & M32
        h = (h << 13 | h >> 19) * 5 + 0xe6546b64 & M32
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85ebca6b & M32
    h = (h ^ h >> 13) * 0xc2b2ae35 & M32
    return h ^ h >> 16


def murmur64a(data, seed):
    m, whole = 0xc6a4a7935bd1e995, len(data) // 8 * 8
    h = seed ^ len(data) * m & M64
    for at in range(0, whole, 8):
        k = little(data[at:at + 8]) * m & M64
        h = (h ^ (k ^ k >> 47) * m & M64) * m & M64
    if data[whole:]:
        h = (h ^ little(data[whole:])) * m & M64
    h = (h ^ h >> 47) * m & M64
    return h ^ h >> 47


def redisson(data, m, k):
    h = Highway(data).halves
    c, found = h[0], []
    for i in range(k):
        found.append((c & M64 >> 1) % m)
        c += h[1 - i % 2]
    return found


def magnuss(data, m, k):
    digests = b''.join(hashlib.md5(bytes([salt]) + data).digest() for salt in range((k + 3) // 4))
    return [remainder(int.from_bytes(digests[4 * i:4 * i + 4], 'big', signed=True), m) for i in range(k)]


def tale2009(data, m, k):
    h1, h2 = murmur3(data)[0], city(data)
    return [(h1 + i * h2 + i * i & M64 >> 1) % m for i in range(k)]


def cassandra(data, m, k):
    h1 = murmur2(data, 0)
    h2 = murmur2(data, h1)
    return [remainder(signed(h1 + i * h2 & M32), m) for i in range(k)]


def redisbloom(data, m, k):
    a = murmur64a(data, 0xc6a4a7935bd1e995)
    b = murmur64a(data, a)
    return [(a + i * b & M64) % m for i in range(k)]


def folded(x):
    return ~x if x < 0 else x


def spark1(data, m, k):
    h1 = murmur32(data, 0)
    h2 = murmur32(data, h1)
    return [folded(signed(h1 + i * h2 & M32)) % m for i in range(1, k + 1)]


def spark2(data, m, k, seed=0):
    h1 = murmur32(data, seed)
    h2 = signed(murmur32(data, h1))
    return [folded(signed(h1) * (M32 >> 1) + i * h2) % m for i in range(1, k + 1)]


def bitsandblooms(data, m, k):
    a = murmur3(data) + murmur3(data + b'\1')
    return [(a[i % 2] + i * a[2 + (i + i % 2) % 4 // 2] & M64) % m for i in range(k)]


def xxh64(data):
    p1, p2, p3, p4, p5 = (0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                          0x85ebca77c2b2ae63, 0x27d4eb2f165667c5)

    def turned(x, n):
        return rotate(x & M64, n)

    def lane(v, at):
        return turned(v + little(data[at:at + 8]) * p2, 31) * p1 & M64

    h, at = p5, 0
    if len(data) >= 32:
        v = [p1 + p2, p2, 0, -p1]
        for at in range(0, len(data) - 31, 32):
            v = [lane(v[i], at + 8 * i) for i in range(4)]
        at += 32
        h = sum(turned(v[i], (1, 7, 12, 18)[i]) for i in range(4))
        for x in v:
            h = (h ^ turned(x * p2, 31) * p1 & M64) * p1 + p4 & M64
    h = h + len(data) & M64
    while at + 8 <= len(data):
        h, at = turned(h ^ lane(0, at), 27) * p1 + p4 & M64, at + 8
    if at + 4 <= len(data):
        h, at = turned(h ^ little(data[at:at + 4]) * p1 & M64, 23) * p2 + p3 & M64, at + 4
    for byte in data[at:]:
        h = turned(h ^ byte * p5 & M64, 11) * p1 & M64
    h = (h ^ h >> 33) * p2 & M64
    h = (h ^ h >> 29) * p3 & M64
    return h ^ h >> 32


def parquet(data, m, k):
    h = xxh64(data)
    block = (h >> 32) * (m // 256) >> 32
    salts = (0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31)
    return [256 * block + 32 * j + ((h & M32) * salts[j] & M32) // 2**27 for j in range(k)]


STRATEGIES = {
    'guava': lambda data, m, k: document.guava(*murmur3(data), m, k),
    'guava32': lambda data, m, k: document.guava32(murmur3(data)[0], m, k),
    'redisson': redisson, 'magnuss': magnuss, 'tale2009': tale2009,
    'cassandra': cassandra, 'redisbloom': redisbloom,
    'spark1': spark1, 'spark2': spark2, 'bitsandblooms': bitsandblooms, 'parquet': parquet}

if __name__ == '__main__':
    for line in sys.stdin:
        strategy, m, k, element = line.rstrip('\n').split(' ')
        print(*STRATEGIES[strategy](bytes.fromhex(element), int(m), int(k)), sep=', ')
