"""Ask by clients/python, for each line of the input, by tabs: URL KEY KIND FILE [COMMAND...]

The file has elements, one a line; a row's values are by tabs, each after the first letter of
text, number, uuid or bytea.  Of each line of the input there is one of the output: a digit for
each answer, or what the error says.

What test/t/interop/readers.pl runs of each language: with a command for Redis it asks, and
asks again; and before that question arrives, the command is done, and another thread
that shares the reader asks, where readers can be shared.  A key that begins with "window" is
a window of time.
"""
import sys
import uuid

import redis

from bloom_reader import Filter, Window

PARSE = {'text': str, 'integer': int, 'bigint': int, 'uuid': uuid.UUID, 'bytea': bytes.fromhex}
VALUES = {'t': str, 'n': int, 'u': uuid.UUID, 'b': bytes.fromhex}
PARSE['row'] = lambda line: tuple(VALUES[value[0]](value[1:]) for value in line.split('\t'))


def ask(client, key, kind, file, command):
    with open(file, 'rb') as lines:
        elements = list(map(PARSE[kind], lines.read().decode().split('\n')[:-1]))
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
    return ''.join(str(int(answer)) for answer in reader.contains(elements))


for line in sys.stdin:
    url, *question = line.rstrip('\n').split('\t')
    try:
        with redis.Redis.from_url(url) as client:
            answer = ask(client, *question[:3], question[3:])
    except (LookupError, redis.RedisError) as error:
        answer = ' '.join(f'{type(error).__name__}: {error}'.split())
    print(answer, flush=True)
