"""Ask by clients/python what it takes, in filters that have it, and what it has to refuse: forms.py URL."""
import sys
import uuid

import redis

from bloom_reader import Filter, Window

client = redis.Redis.from_url(sys.argv[1])
ID = 'c81e728d-9d4c-2f63-6f06-7f89cc14862c'
taken = {'bytea': [b'\x02', bytearray(b'\x02'), memoryview(b'\x02')], 'uuid': [uuid.UUID(ID)], 'bigint': [0],
    'row': [('', -9223372036854775807)]}
refused = {
    'text': [None, 5, b'one', ['one']], 'integer': [None, '5', 5.0, True, 2**31], 'bigint': [None, '5', 5.0, True, 2**63],
    'uuid': [None, ID, uuid.UUID(ID).int], 'bytea': [None, True, 3, {}, [2], 'one'],
    'row': [None, 'one', ['one', 1], ('one',), ('one', None), ('one', True), ('one', 5.0), ('one', 2**63)],
}
decoding = redis.Redis.from_url(sys.argv[1], decode_responses=True)
print('decoded', *(int(found) for asked in (Filter(decoding, 'garbled', 'text'), Filter(decoding, 'bitmap-text', 'text'),
    Window(decoding, 'window', 'text')) for found in asked.contains([''])))
for kind, elements in taken.items():
    print(kind, *map(int, Filter(client, kind, kind).contains(elements)))
for kind, elements in [*([kind, [element]] for kind in refused for element in refused[kind]), ['text', 'one'], ['integer', b'12'],
        ['integer', bytearray(b'12')]]:
    try:
        print(kind, 'takes', elements, Filter(client, kind, kind).contains(elements))
    except (TypeError, AttributeError, OverflowError):
        pass
