"""Tests an implementation against the vectors: what it is to offer is said in ../README.md."""
import re
ELEMENT = re.compile('int[48]:(-?[0-9]+)|(?:text|text16|bytea|uuid):(?:rep:([0-9]+):)?((?:[0-9a-f]{2})*)')
ORDERS = {'write_to_hex': lambda i, m: (i // 64 * 8 + 7 - i % 64 // 8 - (m + 63) // 64 * 8, 1 << i % 8),  # from the end
          'redis_hex': lambda i, m: (i // 8 - (m + 7) // 8, 128 >> i % 8)}
ORDERS['stream_hex'] = ORDERS['bits_lsb_hex'] = lambda i, m: (i // 8 - (m + 7) // 8, 1 << i % 8)


def check(implementation, folder, strategy):
    counts = {True: 0, False: 0, None: 0}  # of what agrees, what does not, and what was left out

    def rows(name):
        with open(f'{folder}/{name}.tsv', encoding='utf-8', newline='\n') as file:
            head, *lines = (line.rstrip('\n').split('\t') for line in file)
        counts[False] += not lines or sum(len(line) != len(head) for line in lines)
        return [dict(zip(head, line)) for line in lines]

    def cell(row, *names):
        return next(row[name] for name in names if name in row)

    def element(etype, value, **_):
        number, times, unit = ELEMENT.fullmatch(f'{etype}:{value}').groups()
        return etype, number.encode() if number else bytes.fromhex(unit) * int(times or 1)

    def fitting(rows):  # each with m, k, and what is empty
        for row in rows:
            m = 256 * int(row.get('blocks', 0)) or int(cell(row, 'bit_size', 'm', 'size', 'bits'))
            k = 8 if 'blocks' in row else int(cell(row, 'k', 'hash_iterations'))
            if 0 < m <= 1 << 20 and strategy.endswith(row.get('version', '')) and not row.get(kind, '').startswith('sha256:'):
                yield row, m, k, implementation.empty(m, k, *filter(None, [int(row.get('seed', 0))]))
            else:
                counts[None if row.get('version', '1') in '12' else False] += 1

    filters, inserted, probes = (rows(name) for name in ('filters', 'filter_elements', 'probes'))
    elements = {row['elem_id']: element(**row) for row in rows('hashing')}
    kind, ids = next(name for name in ORDERS if name in filters[0]), {row['filter_id'] for row in filters}
    counts[False] += sum(x['filter_id'] not in ids for x in inserted + probes)
    for row, m, k, empty in fitting(rows('positions')):
        positions, answers = row['positions'].split(','), ''
        for missing in [None, *set(positions)]:
            stream = bytearray(empty)
            for at, mask in (ORDERS[kind](int(i), m) for i in {*positions} - {missing}):
                stream[at] |= mask
            answers += '01'[implementation.open(bytes(stream), m, k).contains(*elements[row['elem_id']])]
        counts[len(positions) == k and answers == '1'.ljust(1 + len({*positions}), '0')] += 1
    for row, m, k, empty in fitting(filters):
        stream, before, adds = element('bytea', row[kind])[1].ljust(len(empty), b'\0'), empty, False
        full, made = (implementation.open(bits, m, k) for bits in (stream, empty))
        for seq, x in enumerate((x for x in inserted if x['filter_id'] == row['filter_id']), 1):
            asked = implementation.open(before, m, k - 1) if 'add_result' in x else made  # Redisson leaves out the last
            new, adds = '10'[asked.contains(*element(**x))], made.add(*element(**x))
            before = made.bytes() if adds else empty
            changed = cell(x, 'put_result', 'add_result', 'changed') if len(x) > 4 else new
            right = full.contains(*element(**x)) and x['seq'] == str(seq)
            counts[right and changed in ((new,) if adds else ('0', '1'))] += 1
        differing = bin(int.from_bytes(stream, 'big') ^ int.from_bytes(empty, 'big')).count('1')  # in the head, too
        counts[str(differing) == row['bit_count'] and (before == stream or not adds)] += 1
        for x in (x for x in probes if x['filter_id'] == row['filter_id']):
            counts['01'[full.contains(*element(**x))] == cell(x, 'contains_all_k', 'might_contain', 'present', 'contains')] += 1
    return counts
