#!/usr/bin/env python3
"""Ask a filter in Redis, in layout guava: redis_reader.py SOCKET KEY < elements

Written from doc/redis-readers.md alone, with nothing but the standard library: the
protocol, murmur3 and the positions.  Prints 1 or 0 for each line.
"""
import socket
import sys

MASK = (1 << 64) - 1


def rotate(x, r):
    return (x << r | x >> (64 - r)) & MASK


def mix(k):
    k ^= k >> 33
    k = k * 0xff51afd7ed558ccd & MASK
    k ^= k >> 33
    k = k * 0xc4ceb9fe1a85ec53 & MASK
    return k ^ k >> 33


def murmur3(data):
    """MurmurHash3 x64 128, seed 0: the two halves."""
    c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
    h1 = h2 = 0
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        k1 = int.from_bytes(data[at:at + 8], 'little')
        k2 = int.from_bytes(data[at + 8:at + 16], 'little')
        h1 ^= rotate(k1 * c1 & MASK, 31) * c2 & MASK
        h1 = ((rotate(h1, 27) + h2) * 5 + 0x52dce729) & MASK
        h2 ^= rotate(k2 * c2 & MASK, 33) * c1 & MASK
        h2 = ((rotate(h2, 31) + h1) * 5 + 0x38495ab5) & MASK
    tail = data[whole:]
    k1 = int.from_bytes(tail[:8], 'little')
    k2 = int.from_bytes(tail[8:], 'little')
    h2 ^= rotate(k2 * c2 & MASK, 33) * c1 & MASK
    h1 ^= rotate(k1 * c1 & MASK, 31) * c2 & MASK
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = h1 + h2 & MASK
    h2 = h1 + h2 & MASK
    h1, h2 = mix(h1), mix(h2)
    h1 = h1 + h2 & MASK
    return h1, h1 + h2 & MASK


class Redis:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile('rb')

    @staticmethod
    def encoded(*arguments):
        out = b'*%d\r\n' % len(arguments)
        for argument in arguments:
            argument = argument if isinstance(argument, bytes) else str(argument).encode()
            out += b'$%d\r\n%s\r\n' % (len(argument), argument)
        return out

    def call(self, *arguments):
        self.socket.sendall(self.encoded(*arguments))
        return self.reply()

    def reply(self):
        line = self.file.readline().rstrip(b'\r\n')
        kind, rest = line[:1], line[1:]
        if kind == b'-':
            raise RuntimeError(rest.decode())
        if kind == b'$':
            return None if rest == b'-1' else self.file.read(int(rest) + 2)[:-2]
        if kind == b'*':
            return [self.reply() for _ in range(int(rest))]
        return int(rest) if kind == b':' else rest


def positions(element, bits, hashes):
    h1, h2 = murmur3(element)
    return [(h1 + i * h2 & MASK >> 1) % bits for i in range(hashes)]


def contains(redis, key, elements):
    """Head and bits by one command, so that they belong together."""
    head = redis.call('BITFIELD_RO', key, 'GET', 'u48', 0)[0]
    while True:
        if head == 0:
            raise KeyError(key)
        strategy, hashes, words = head >> 40, head >> 32 & 255, head & 0xffffffff
        assert strategy == 1
        command = ['BITFIELD_RO', key, 'GET', 'u48', 0]
        for element in elements:
            for i in positions(element, words * 64, hashes):
                command += ['GET', 'u1', 48 + 64 * (i >> 6) + 63 - (i & 63)]
        seen, *bits = redis.call(*command)
        if seen == head:
            return [all(bits[at:at + hashes]) for at in range(0, len(bits), hashes)]
        head = seen


def main():
    redis = Redis(sys.argv[1])
    elements = sys.stdin.buffer.read().splitlines()
    for at in range(0, len(elements), 100):
        for found in contains(redis, sys.argv[2], elements[at:at + 100]):
            print(int(found))


if __name__ == '__main__':
    main()
