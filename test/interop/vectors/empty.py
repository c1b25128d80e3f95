"""The bytes of a filter without elements, head included: what the originals store around the
bits, written from doc/strategies.md.
"""


def varint(number):
    return bytes([number & 127 | 128 * (number > 127)]) + (varint(number >> 7) if number > 127 else b'')


def big(number, length=4):
    return number.to_bytes(length, 'big')


def words(m):
    return big((m + 63) // 64)


HEADS_OF_WORDS = {  # before words of 64 bits
    'guava': lambda m, k: bytes([1, k]) + words(m), 'guava32': lambda m, k: bytes([0, k]) + words(m),
    'spark1': lambda m, k: big(1) + big(k) + words(m), 'spark2': lambda m, k, seed=0: big(2) + big(k) + big(seed) + words(m),
    'bitsandblooms': lambda m, k: big(m, 8) + big(k, 8) + big(m, 8)}


def empty(strategy, m, k, *seed):
    if strategy in HEADS_OF_WORDS:
        return HEADS_OF_WORDS[strategy](m, k, *seed) + bytes((m + 63) // 64 * 8)
    head = b'\x15' + varint(m // 4) + bytes.fromhex('1c1c00001c1c00001c1c000000') if strategy == 'parquet' else b''
    return head + bytes((m + 7) // 8)
