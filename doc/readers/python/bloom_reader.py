"""Ask a filter of bloomext in Redis, layout guava: by BITFIELD_RO, in batches.

    titles = Filter(redis.Redis.from_url('redis://localhost'), 'titles', 'text')
    titles.contains(['Breaking news', '首页'])      # [True, False]

False is certain.  An exception means that nothing is known: take it for True.
Needs redis and mmh3, see requirements.txt.
"""
import struct
import uuid

import mmh3

BATCH = 100     # elements a command; larger ones keep Redis from others for longer
TRIES = 5       # where the filter is replaced again and again

# The kinds of elements.  Which one is in the filter, it does not say.
BYTES = {
    'text': str.encode,
    'integer': lambda i: i.to_bytes(4, 'little', signed=True),
    'bigint': lambda i: i.to_bytes(8, 'little', signed=True),
    'uuid': lambda u: u.bytes,
    'bytea': lambda b: bytes(memoryview(b)),
    'row': lambda values: row(values),
}
# Of a row: the number of a value's kind in the element, and its bytes.
PARTS = {str: (9, 'text'), bytes: (11, 'bytea'), uuid.UUID: (12, 'uuid'), int: (13, 'bigint')}


def row(values):
    """The element of several columns, of a tuple with a value for each."""
    if type(values) is not tuple or len(values) < 2 or not {*map(type, values)} <= {*PARTS}:
        raise TypeError(f'no tuple of texts, integers, uuids, bytes: {values!r}')
    parts = [(number, BYTES[kind](value)) for value in values for number, kind in [PARTS[type(value)]]]
    return b''.join(struct.pack('<BI', number, len(data)) + data for number, data in parts)


class Filter:
    """May be shared by threads."""

    def __init__(self, client, key, kind):
        self.client, self.key, self.bytes_of, self.head = client, key, BYTES[kind], 0

    def contains(self, elements):
        """An answer for each element, each batch of one moment."""
        if isinstance(elements, (str, bytes)):
            raise TypeError('one element, where a list of them is asked for')
        elements, answers, tries = list(map(self.bytes_of, elements)), [], 0
        while len(answers) < len(elements):
            head, batch = self.head, elements[len(answers):][:BATCH]
            # Head and bits by one command: by two, they could be of two filters.
            bits = [48 + (p ^ 63) for element in batch for p in positions(element, head)]
            gets = [word for bit in bits for word in ('GET', 'u1', bit)]
            seen, *bits = self.client.execute_command('BITFIELD_RO', self.key, 'GET', 'u48', 0, *gets)
            strategy, k, words = seen >> 40, seen >> 32 & 255, seen & 0xffffffff
            if head and seen == head:
                answers += [all(bits[at:at + k]) for at in range(0, len(bits), k)]
                tries = 0
                continue
            # The first time, or replaced; perhaps again between the two commands.  Where no key is, all is 0.
            length, tries = self.client.strlen(self.key), tries + 1
            if strategy == 1 and k and words and length == 6 + 8 * words:
                self.head = seen
            elif not length or tries >= TRIES:
                raise LookupError(f'{self.key} is no filter of layout guava')
        return answers


def positions(element, head):
    k, m = head >> 32 & 255, (head & 0xffffffff) * 64
    h1, h2 = mmh3.hash64(element, signed=False)
    return [(h1 + i * h2 & 0x7fffffffffffffff) % m for i in range(k)]
