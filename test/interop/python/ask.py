#!/usr/bin/env python3
"""Ask a copy of a filter in Redis by the code that doc/redis-readers.md has:
ask.py SOCKET KEY < elements

test/t/docs/redis_documents.pl puts that code into a module, "document_copy".  Prints
1 or 0 for each line.
"""
import sys

from document_copy import copy
from redis_reader import Redis


class Client(Redis):
    """What the code calls of redis-py."""

    def get(self, key):
        return self.call('GET', key)


seen = copy(Client(sys.argv[1]), sys.argv[2])
for element in sys.stdin.read().splitlines():
    print(int(element in seen))
