#!/usr/bin/env python3
"""Ask a filter in Redis by the code that doc/redis-readers.md has:
ask.py SOCKET KEY [copy] < elements

test/t/021_redis_documents.pl puts that code into modules, "document" and, where
it is of a copy, "document_copy".  Prints 1 or 0 for each line.
"""
import sys

from redis_reader import Redis


class Client(Redis):
    """What the code calls of redis-py."""
    execute_command = Redis.call

    def get(self, key):
        return self.call('GET', key)


def main():
    redis, key = Client(sys.argv[1]), sys.argv[2]
    elements = sys.stdin.read().splitlines()
    if sys.argv[3:] == ['copy']:
        from document_copy import copy
        seen = copy(redis, key)
        answers = [element in seen for element in elements]
    else:
        from document import contains
        answers = contains(redis, key, [element.encode() for element in elements])
    for answer in answers:
        print(int(answer))


main()
