"""Tests an implementation against the vectors: what it is to offer is said in ../README.md."""
LARGEST = 1 << 20  # bits of a filter that is made for one element; what has more is left out
WORDS, LEAST, REDIS = (lambda i: (i // 64 * 8 + 7 - i % 64 // 8, 1 << i % 8), lambda i: (i // 8, 1 << i % 8),
                       lambda i: (i // 8, 128 >> i % 8))
ORDERS = {'write_to_hex': WORDS, 'stream_hex': LEAST, 'bits_lsb_hex': LEAST, 'redis_hex': REDIS}


def check(implementation, folder, strategy):
    """Counts of what agrees (True), what does not (False), and what was left out (None)."""
    counts = {True: 0, False: 0, None: 0}

    def rows(name):
        with open(f'{folder}/{name}.tsv', encoding='utf-8') as file:
            head, *lines = (line.rstrip('\n').split('\t') for line in file)
        return [row for row in (dict(zip(head, line)) for line in lines) if strategy.endswith(row.get('version', ''))]

    def cell(row, *names):
        return next((row[name] for name in names if name in row), None)

    def element(row):
        etype, text = row.get('etype', 'text'), row['value']
        _, times, unit = text.split(':') if text.startswith('rep:') else ('', 1, text)
        return etype, text.encode() if etype.startswith('int') else bytes.fromhex(unit) * int(times)

    def size(row):  # m, k, and how many bytes the bits are
        m = int(cell(row, 'bit_size', 'm', 'size', 'bits') or 256 * int(row['blocks']))
        return m, int(cell(row, 'k', 'hash_iterations') or 8), (m + 63) // 64 * 8 if order is WORDS else (m + 7) // 8

    filters, elements = rows('filters'), {row['elem_id']: element(row) for row in rows('hashing')}
    kind = next(name for name in ORDERS if name in filters[0])
    order = ORDERS[kind]
    for row in rows('positions'):
        (m, k, length), places = size(row), [order(i) for i in {int(i) for i in row['positions'].split(',')}]
        if not 0 < m <= LARGEST or row.get('seed', '0') != '0':
            counts[None] += 1
            continue
        stream, answers = bytearray(implementation.empty(m, k)), []
        for at, mask in places:
            stream[len(stream) - length + at] |= mask
        for at, mask in [(0, 0), *places]:  # all of them, and all but one
            stream[len(stream) - length + at] ^= mask
            answers.append(implementation.open(bytes(stream), m, k).contains(*elements[row['elem_id']]))
            stream[len(stream) - length + at] ^= mask
        counts[answers == [True] + [False] * len(places)] += 1
    for row in filters:
        (m, k, length), mine = size(row), lambda other: other['filter_id'] == row['filter_id']
        if row[kind].startswith('sha256:'):
            counts[None] += 1
            continue
        stream = bytes.fromhex(row[kind]).ljust(len(implementation.empty(m, k)), b'\0')
        added, (full, made) = False, (implementation.open(bits, m, k) for bits in (stream, stream[:-length] + bytes(length)))
        counts[bin(int.from_bytes(stream[-length:], 'big')).count('1') == int(row['bit_count'])] += 1
        for other in filter(mine, rows('filter_elements')):
            was, added = made.contains(*element(other)), made.add(*element(other))
            changed = cell(other, 'put_result', 'changed') or '01'[not was]
            counts[full.contains(*element(other)) and (not added or changed == '01'[not was])] += 1
        counts[not added or made.bytes() == stream] += 1
        for other in filter(mine, rows('probes')):
            counts[full.contains(*element(other)) == (cell(other, 'contains_all_k', 'might_contain', 'present', 'contains') == '1')] += 1
    return counts
