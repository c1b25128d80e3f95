"""Share a reader of clients/python with another thread: shared.py URL.

Of a string whose hash is about another one, it remembers that nothing proves the kind.  At
that moment the other thread remembers another filter, which took the string's place, instead.
When that is lost, it has to be an error.
"""
import sys

import redis

from bloom_reader import Filter

client = redis.Redis.from_url(sys.argv[1])


class Shared(Filter):
    instead = None

    def __setattr__(self, name, value):
        super().__setattr__(name, self.instead if self.instead and name == 'shape' else value)


def put(key, reader=None):
    """A filter at the key that is read, where a reader finds it."""
    for at in '%s', '{%s}:bloomext':
        client.copy(at % key, at % 'shared', replace=True)
    if reader:
        reader.ask([], False)
    return reader


other = put('bitmap-text', Filter(client, 'shared', 'text'))
shared = put('utf8-hash-utf16', Shared(client, 'shared', 'text'))
shared.instead = other.shape
shared.ask([b''], False)
print(shared.shape is other.shape)

put('bitmap-text')
print(shared.contains(['']))
client.setrange('shared', 0, bytes(client.strlen('shared')))
try:
    print(shared.contains(['']))
except LookupError as why:
    print(why)
