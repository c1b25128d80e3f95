"""Ask a filter of bloomext in Redis, layout guava: by BITFIELD_RO, in batches.

    titles = Filter(redis.Redis.from_url('redis://localhost'), 'titles', 'text')
    titles.contains(['Breaking news', '首页'])      # [True, False]

False is certain.  An exception means that nothing is known: take it for True.
Needs redis and mmh3, see requirements.txt.
"""
import mmh3

BATCH = 100     # elements a command; larger ones keep Redis from others for longer

# The kinds of elements.  Which one is in the filter, it does not say.
BYTES = {
    'text': str.encode,
    'integer': lambda i: i.to_bytes(4, 'little', signed=True),
    'bigint': lambda i: i.to_bytes(8, 'little', signed=True),
    'uuid': lambda u: u.bytes,
    'bytea': bytes,
}


class Filter:
    """May be shared by threads."""

    def __init__(self, client, key, kind):
        self.client, self.key, self.bytes_of, self.head = client, key, BYTES[kind], 0

    def contains(self, elements):
        """An answer for each element, each batch of one moment."""
        elements, answers = list(map(self.bytes_of, elements)), []
        while len(answers) < len(elements):
            head, batch = self.head, elements[len(answers):][:BATCH]
            # Head and bits by one command: by two, they could be of two filters.
            gets = [word for element in batch for p in positions(element, head) for word in ('GET', 'u1', 48 + (p ^ 63))]
            seen, *bits = self.client.execute_command('BITFIELD_RO', self.key, 'GET', 'u48', 0, *gets)
            if head and seen == head:
                k = head >> 32 & 255
                answers += [all(bits[at:at + k]) for at in range(0, len(bits), k)]
                continue
            # The first time, or replaced by another one.  Where no key is, all is 0: that is no filter.
            if seen >> 40 != 1 or self.client.strlen(self.key) != 6 + 8 * (seen & 0xffffffff):
                raise LookupError(f'{self.key} is no filter of layout guava')
            self.head = seen
        return answers


def positions(element, head):
    k, m = head >> 32 & 255, (head & 0xffffffff) * 64
    h1, h2 = mmh3.hash64(element, signed=False)
    return [(h1 + i * h2 & 0x7fffffffffffffff) % m for i in range(k)]
