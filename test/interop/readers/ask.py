"""Ask by clients/python: ask.py URL KEY KIND [COMMAND...] < elements, one a line.

A row's line has its values by tabs, each after the first letter of text, number, uuid or bytea.

What test/t/interop/readers.pl runs of each language: with a command for Redis it asks, and
asks again; and before that question arrives, the command is done, and another thread
that shares the reader asks, where readers can be shared.  A key that begins with "window" has
a window of time, where that is between its hash and its words.
"""
import sys
import uuid

import redis

from bloom_reader import Filter, Window

PARSE = {'text': str, 'integer': int, 'bigint': int, 'uuid': uuid.UUID, 'bytea': bytes.fromhex}
VALUES = {'t': str, 'n': int, 'u': uuid.UUID, 'b': bytes.fromhex}
PARSE['row'] = lambda line: tuple(VALUES[value[0]](value[1:]) for value in line.split('\t'))

url, key, kind, *command = sys.argv[1:]
client = redis.Redis.from_url(url)
elements = list(map(PARSE[kind], sys.stdin.buffer.read().decode().split('\n')[:-1]))
reader = (Window if key.startswith('window') else Filter)(client, key, kind)
if command:
    reader.contains(elements)
    pipeline = client.pipeline

    def meanwhile(**options):
        client.pipeline = pipeline
        client.execute_command(*command)
        reader.contains(elements)
        return pipeline(**options)

    client.pipeline = meanwhile
for answer in reader.contains(elements):
    print(int(answer))
