"""Ask a filter of bloomext in Redis, of layout guava, bitmap or window: by BITFIELD_RO, in batches.

    titles = Filter(redis.Redis.from_url('redis://localhost'), 'titles', 'text')
    titles.contains(['Breaking news', '首页'])      # [True, False]

False is certain.  An exception means that nothing is known: take it for True.

A question is one round trip of three commands.  The first one reads the bits, and with them
what shows that they are the filter's: the head of the string in layout guava, and bits that
the string must have, its witness.  The others read what the filter is, its length and the hash
next to it.  Where that is not as remembered, the bits may be another filter's.

In layout guava the hash only says of which kind the elements are, and may be lost, or be about
another string.  Where a witness does not prove it, elements are looked for in all their forms.

Window asks a window of time, in two round trips: the hash, and then the clock and the words of
all pieces, which say how far they are turned.
"""
import copy
import re
import struct
import uuid

import mmh3
import xxhash

BATCH = 100     # elements a command; larger ones keep Redis from others for longer
TRIES = 5       # where the filter is replaced again and again
PIECE = 500000  # words of a piece of a window, except for the last one
FIELDS = 'layout', 'strategy', 'bits', 'hashes', 'funnel', 'elements', 'whole', 'witness', 'mirrored'
STRONG = 24     # bits of a witness, which another string has hardly ever

# The kinds of elements: their funnel, as the hash names it, their bytes, and what the hash may say that they are.
KINDS = {
    'text': ('utf8', str.encode, {'text', 'char(n)'}),
    'integer': ('int', lambda i: little(i, 4), {'integer'}),
    'bigint': ('long', lambda i: little(i, 8), {'integer'}),
    'uuid': ('bytes', lambda u: u.bytes, {'uuid'}),
    'bytea': ('bytes', lambda b: bytes(memoryview(b)), {'bytea'}),
    'row': ('bytes', lambda values: row(values), {'bytea'}),
}
# Of a row: the number of a value's kind in the element, and its bytes.
PARTS = {str: (9, 'text'), bytes: (11, 'bytea'), uuid.UUID: (12, 'uuid'), int: (13, 'bigint')}


def little(number, size):
    """An integer's bytes."""
    if type(number) is not int:
        raise TypeError(f'no integer: {number!r}')
    return number.to_bytes(size, 'little', signed=True)


def row(values):
    """The element of several columns, of a tuple with a value for each."""
    if type(values) is not tuple or len(values) < 2 or not {*map(type, values)} <= {*PARTS}:
        raise TypeError(f'no tuple of texts, integers, uuids, bytes: {values!r}')
    parts = [(number, KINDS[kind][1](value)) for value in values for number, kind in [PARTS[type(value)]]]
    return b''.join(struct.pack('<BI', number, len(data)) + data for number, data in parts)


def forms(funnel, element):
    """What an element may be in a filter of which the kind is not known."""
    if funnel == 'utf8':
        texts = {element, element.rstrip(b' ')}  # those of char(n) are without trailing blanks
        return [*texts, *(text.decode().encode('utf-16-le') for text in texts)]
    if funnel in ('int', 'long'):
        number = int.from_bytes(element, 'little', signed=True)
        return [little(number, size) for size in (4, 8) if size == 8 or -2**31 <= number < 2**31]
    return [element]


def guava(element, m, k):
    """Positions by MurmurHash3."""
    h1, h2 = mmh3.hash64(element, signed=False)
    return [(h1 + i * h2 & 0x7fffffffffffffff) % m for i in range(k)]


SALTS = 0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31


def parquet(element, m, k):
    """A block of 256 bits by the upper half of XXH64, and a bit in each of its words by the lower half."""
    h = xxhash.xxh64_intdigest(element)
    block = (h >> 32) * (m // 256) >> 32
    return [256 * block + 32 * i + (h * salt >> 27 & 31) for i, salt in enumerate(SALTS)]


POSITIONS = {'guava': guava, 'parquet': parquet}


class Refusal(LookupError):
    """Why nothing is known."""


class Shape:
    """What a filter is, by the first 48 bits of its string, its length and the hash next to it."""

    def __init__(self, head, length, fields):
        self.described = length, fields
        layout, strategy, bits, hashes, self.funnel, self.elements, whole, witness, mirrored = fields
        self.witness = [(int(word), int(set_bits)) for word, set_bits in re.findall(r' (\d+):(\d+)', witness or '')]
        if layout == 'bitmap':
            self.head, self.strategy, self.m, self.k = None, *sizes(strategy, bits, hashes)
            if length != (self.m + 7) // 8:
                raise Refusal(f'no filter: it has {length} bytes, not {bits} bits')
            if not re.fullmatch(r'\d+( \d+:[1-9]\d*)+', witness or ''):
                raise Refusal('it has no witness, so that a lost filter looks like an empty one')
        else:
            self.head, self.strategy = head, 'guava'
            self.k, self.m = head >> 32 & 255, (head & 0xffffffff) * 64
            if head >> 40 != 1 or not self.k or not self.m or length != 6 + self.m // 8:
                raise Refusal('no filter of layout guava or bitmap')
            # A hash that is about another string says nothing.
            if fields[:4] != ['guava', 'guava', str(self.m), str(self.k)]:
                self.funnel = self.elements = whole = mirrored = None
            if mirrored is None or sum(bin(bits).count('1') for _, bits in self.witness) < STRONG:
                self.witness = []
        if whole is not None:
            raise Refusal('a shard, which has some of the elements only')

    def is_of(self, head, described):
        return described == self.described and self.head in (None, head)

    def forms(self, kind, elements):
        """What is to be looked for, for each element: as it is, or all that it may be."""
        return [[element] if self.witness else forms(KINDS[kind][0], element) for element in elements]

    def gets(self, elements):
        """What BITFIELD_RO is to read: words of the witness, then bits."""
        bits = [p for element in elements for p in POSITIONS[self.strategy](element, self.m, self.k)]
        if self.head is not None:
            bits = [48 + (p ^ 63) for p in bits]
        return [('u32', f'#{word}') for word, _ in self.witness] + [('u1', bit) for bit in bits]

    def has_witness(self, values):
        """By the values of gets()."""
        return all(word & set_bits == set_bits for word, (_, set_bits) in zip(values, self.witness))

    def answers(self, values):
        bits = values[len(self.witness):]
        return [all(bits[at:at + self.k]) for at in range(0, len(bits), self.k)]


def number(text, least, most=10**15 - 1):
    """A number of a hash."""
    if not re.fullmatch('0|[1-9][0-9]{0,14}', text or '') or not least <= int(text) <= most:
        raise Refusal(f'no filter: its hash says {text}, and not a number from {least} to {most}')
    return int(text)


def sizes(strategy, bits, hashes):
    """Strategy, bits and hashes, of a hash that describes a filter."""
    m, k = number(bits, 1, 2**32), number(hashes, 1, 255)
    if strategy not in POSITIONS or m % 64 or strategy == 'parquet' and (k != 8 or m % 256):
        raise Refusal(f'strategy {strategy} with {bits} bits and {hashes} hashes is not known')
    return strategy, m, k


def texts(values):
    """Of a hash."""
    return [None if value is None else value.decode(errors='replace') for value in values]


class Reader:
    """May be shared by threads."""

    def __init__(self, client, key, kind):
        self.client, self.key, self.kind, self.bytes_of, self.shape = client, key, kind, KINDS[kind][1], None
        self.hash = (key if '{' in key else '{%s}' % key) + ':bloomext'

    def contains(self, elements):
        """An answer for each element."""
        if isinstance(elements, (str, bytes, bytearray)):
            raise TypeError('one element, where a list of them is asked for')
        elements, answers, tries = list(map(self.bytes_of, elements)), [], TRIES
        while len(answers) < len(elements):
            try:
                found = self.ask(elements[len(answers):][:BATCH], tries == 1)
            except Refusal as why:
                raise LookupError(f'{self.key}: {why}') from None
            answers, tries = answers + found, TRIES if found else tries - 1
        return answers

    def check(self, elements, funnel, elements_are):
        """Refuse elements of another kind than the hash says."""
        of_kind, _, may_be = KINDS[self.kind]
        if (funnel or of_kind) != of_kind or elements_are and elements_are not in may_be:
            raise Refusal(f'its elements are {elements_are or "known"} as {funnel}, not {self.kind}')
        if elements_are == 'char(n)' and any(element.endswith(b' ') for element in elements):
            raise Refusal('its elements are char(n): ask for them without trailing blanks')


class Filter(Reader):
    """Each batch is of one moment."""

    def ask(self, batch, last):
        """An answer for each, or none if the filter is not as remembered; then the last try says why."""
        shape, pipeline = self.shape, self.client.pipeline(transaction=False)
        asked = shape.forms(self.kind, batch) if shape else []
        gets = [arg for get in (shape.gets(sum(asked, [])) if shape else []) for arg in ('GET', *get)]
        pipeline.execute_command('BITFIELD_RO', self.key, 'GET', 'u48', 0, *gets)
        pipeline.execute_command('STRLEN', self.key)
        pipeline.execute_command('HMGET', self.hash, *FIELDS, NEVER_DECODE=True)
        (head, *values), length, fields = pipeline.execute()
        fields = texts(fields)
        if shape and shape.is_of(head, (length, fields)):
            if shape.has_witness(values):
                self.check(batch, shape.funnel, shape.elements)
                found = iter(shape.answers(values))
                return [any([next(found) for _ in of_element]) for of_element in asked]
            if last or shape.head is None:
                raise Refusal('it has lost bits')
            # The hash is about another string of this shape.
            other = copy.copy(shape)
            other.witness, other.funnel, other.elements = [], None, None
            self.shape = other
            return []
        self.shape = None
        try:
            self.shape = Shape(head, length, fields)
        except Refusal:
            # Of two filters, perhaps, but not where there is none.
            if last or not length:
                raise
        if last:
            raise Refusal('it is replaced again and again')
        return []


class Window(Reader):
    """A window of time."""

    def ask(self, batch, last):
        """An answer for each, or none if it was turned, or replaced, after its hash was read."""
        layout, strategy, bits, hashes, funnel, elements, whole, _, _, name, length, slices, newest, turned = texts(
            self.client.execute_command('HMGET', self.hash, *FIELDS, 'id', 'slice', 'slices', 'newest', 'turned', NEVER_DECODE=True))
        if layout != 'window' or whole is not None or not name:
            raise Refusal('no filter of layout window')
        strategy, m, k = sizes(strategy, bits, hashes)
        length, slices, newest = number(length, 1000), number(slices, 1, 30), number(newest, 0)
        turned = number(turned, 0, newest)
        self.check(batch, funnel, elements)
        pieces, pipeline = {}, self.client.pipeline(transaction=False)
        for i, element in enumerate(batch):
            for p in POSITIONS[strategy](element, m, k):
                pieces.setdefault(p // PIECE, []).append((p % PIECE, i))
        pipeline.execute_command('TIME')
        for piece, words in pieces.items():
            key = f'{self.hash}-window-{name}-{piece}'
            gets = [arg for word, _ in words for arg in ('GET', 'u32', f'#{word + 6}')]
            pipeline.execute_command('BITFIELD_RO', key, 'GET', 'i64', 0, *gets)
            pipeline.execute_command('GETRANGE', key, 8, 23, NEVER_DECODE=True)
            pipeline.execute_command('STRLEN', key)
        (seconds, micros), *replies = pipeline.execute()
        now = (int(seconds) * 1000 + int(micros) // 1000) // length
        if newest > now + 1:
            raise Refusal('the clock is behind its newest slice')
        now, common = max(now, newest), [-1] * len(batch)
        for (piece, words), (at, *found), of, size in zip(pieces.items(), replies[::3], replies[1::3], replies[2::3]):
            if of != name.encode() or size != 24 + 4 * min(m - piece * PIECE, PIECE) or not turned <= at <= newest:
                if last:
                    raise Refusal('it has lost a part')
                return []
            # The bits of slices that count.
            live = sum(1 << s % 32 for s in range(max(now - slices - 1, at - 31), at + 1))
            for (_, i), word in zip(words, found):
                common[i] &= word & live
        # An element is there if its words have a bit in common.
        return [bits != 0 for bits in common]
