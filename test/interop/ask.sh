#!/bin/sh
# ask.sh SOCKET KEY [KIND]
#	Ask a filter in Redis for the lines of standard input, by redis-cli alone: a
#	line with 0 or 1 for each.  KIND is for a key that does not say its own.
set -eu
socket=$1 key=$2 kind=${3-}
xargs -d '\n' -n 500 redis-cli -e -s "$socket" FCALL_RO "bloomext_contains${kind:+_as}" 1 "$key" ${kind:+"$kind"}
