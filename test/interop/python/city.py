"""CityHash64 of version 1.1, without a seed, as published."""
M64 = (1 << 64) - 1
K0, K1, K2, PAIR = 0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f, 0x9ddfea08eb382d69


def word(data, at, length=8):
    """The little-endian word at a place, counted from the end if that is negative."""
    at += len(data) * (at < 0)
    return int.from_bytes(data[at:at + length], 'little')


def turned(x, bits):
    x &= M64
    return (x >> bits | x << 64 - bits) & M64


def shifted(x):
    x &= M64
    return x ^ x >> 47


def swapped(x):
    return int.from_bytes((x & M64).to_bytes(8, 'little'), 'big')


def pair(u, v, mul):
    a = shifted((u ^ v) * mul)
    return shifted((v ^ a) * mul) * mul & M64


def short(data):
    """Of at most 64 bytes."""
    n, mul = len(data), K2 + 2 * len(data)
    if n == 0:
        return K2
    if n < 4:
        return shifted((data[0] + (data[n >> 1] << 8)) * K2 & M64 ^ (n + (data[-1] << 2)) * K0 & M64) * K2 & M64
    if n < 8:
        return pair(n + (word(data, 0, 4) << 3), word(data, -4, 4), mul)
    if n <= 16:
        a, b = word(data, 0) + K2 & M64, word(data, -8)
        return pair(turned(b, 37) * mul + a & M64, (turned(a, 25) + b) * mul & M64, mul)
    if n <= 32:
        a, b, c, d = word(data, 0) * K1, word(data, 8), word(data, -8) * mul, word(data, -16) * K2
        return pair(turned(a + b, 43) + turned(c, 30) + d & M64, a + turned(b + K2, 18) + c & M64, mul)
    a, b, c, d = word(data, 0) * K2, word(data, 8), word(data, -24), word(data, -32)
    e, f, g, h = word(data, 16) * K2, word(data, 24) * 9, word(data, -8), word(data, -16) * mul
    v = (a + g & M64 ^ d) + f + 1
    w = swapped((turned(a + g, 43) + (turned(b, 30) + c) * 9 + v) * mul) + h
    y = (swapped((v + w) * mul) + g) * mul
    a = swapped((turned(e + f, 42) + c + e + f + c) * mul + y) + b
    return shifted((e + f + c + a) * mul + d + h) * mul + turned(e + f, 42) + c & M64


def weak(data, a, b):
    a += word(data, 0)
    b = turned(b + a + word(data, 24), 21)
    middle = a + word(data, 8) + word(data, 16)
    return middle + word(data, 24) & M64, b + turned(middle, 44) + a & M64


def city(data):
    if len(data) <= 64:
        return short(data)
    end = data[-64:]
    x, y = word(end, 24), word(end, 48) + word(end, 8)
    z = pair(word(end, 16) + len(data) & M64, word(end, 40), PAIR)
    v, w = weak(end, len(data), z), weak(end[32:], y + K1, x)
    x = x * K1 + word(data, 0)
    for at in range(0, (len(data) - 1) // 64 * 64, 64):
        block = data[at:at + 64]
        x = turned(x + y + v[0] + word(block, 8), 37) * K1 & M64 ^ w[1]
        y = turned(y + v[1] + word(block, 48), 42) * K1 + v[0] + word(block, 40) & M64
        z = turned(z + w[0], 33) * K1 & M64
        v, w = weak(block, v[1] * K1, x + w[0]), weak(block[32:], z + w[1], y + word(block, 16))
        x, z = z, x
    return pair(pair(v[0], w[0], PAIR) + shifted(y) * K1 + z & M64, pair(v[1], w[1], PAIR) + x & M64, PAIR)
