#!/usr/bin/env bash
# redis.sh
#	What the functions over Redis take, as ratios to what a client without them
#	does on the same machine:
#	  mirror	bf_mirror of 120 MB : hiredis's own SET of the same bytes
#	  add		one SETBIT a bit : bf_redis_add in arrays of 1,000
#	  contains	one GETBIT a bit : bf_redis_contains in arrays of 1,000
#	PGHOST etc. name the PostgreSQL, whose extension bloomext is there and whose
#	database is scratch; a private redis-server is started for it.  ELEMENTS is
#	how many are added (1000000); the single commands are timed for a sample.
set -euo pipefail
cd "$(dirname "$0")"

elements=${ELEMENTS:-1000000}
work=$(mktemp -d /tmp/bloomext-bench.XXXXXX)
chmod 755 "$work"
redis=
clean_up() { if [[ $redis ]]; then kill "$redis" && wait "$redis" || true; fi; rm -rf "$work"; }
trap clean_up EXIT

cc -O2 $(pkg-config --cflags hiredis) -o "$work/baseline" redis_baseline.c $(pkg-config --libs hiredis)
redis-server --port 0 --unixsocket "$work/socket" --unixsocketperm 777 --save '' >"$work/log" &
redis=$!
until [[ -S $work/socket ]]; do sleep 0.1; done

psql() { command psql -X -q -At -v ON_ERROR_STOP=1 -v elements="$elements" -v socket="$work/socket" "$@"; }
psql -f redis.sql >"$work/times"
"$work/baseline" "$work/socket" >>"$work/times"
awk -F= -v elements="$elements" '
	{ t[$1] = $2 }
	END {
		printf "mirror    %7.1f ms, own SET %7.1f ms: %.2f times\n", t["mirror"], t["set"], t["mirror"] / t["set"]
		bits = elements * t["hashes"]
		printf "add       %7.0f ms, SETBIT a bit %9.0f ms (%.1f us each): %.1f times as fast\n", \
			t["add"], bits * t["setbit"] / 1000, t["setbit"], bits * t["setbit"] / 1000 / t["add"]
		printf "contains  %7.0f ms, GETBIT a bit %9.0f ms (%.1f us each): %.1f times as fast\n", \
			t["contains"], bits * t["getbit"] / 1000, t["getbit"], bits * t["getbit"] / 1000 / t["contains"]
	}' "$work/times"
