"""Ask by doc/readers/python: ask.py URL KEY KIND [COMMAND...] < elements, one a line.

What test/t/091_readers.pl runs of each language: with a command for Redis it asks, has
that done, and asks again.
"""
import sys
import uuid

import redis

from bloom_reader import Filter

PARSE = {'text': str, 'integer': int, 'bigint': int, 'uuid': uuid.UUID, 'bytea': bytes.fromhex}

url, key, kind, *command = sys.argv[1:]
client = redis.Redis.from_url(url)
elements = list(map(PARSE[kind], sys.stdin.buffer.read().decode().split('\n')[:-1]))
reader = Filter(client, key, kind)
if command:
    reader.contains(elements)
    client.execute_command(*command)
for answer in reader.contains(elements):
    print(int(answer))
