#!/usr/bin/env bash
# readers.sh
#	What a question costs Redis, by each way that doc/redis-readers.md offers:
#	microseconds of the server's processor an element, in batches of 1, 100 and
#	1,000, of a filter of ELEMENTS titles (1000000) at 0.01, half of those asked
#	for being in it.
#	PGHOST etc. name the PostgreSQL, whose extension bloomext is there and whose
#	database is scratch; a private redis-server is started for it.
#	BLOOMEXT_REDISBLOOM may name RedisBloom's module (redisbloom.so).
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d /tmp/bloomext-bench.XXXXXX)
chmod 755 "$work"
redis=
clean_up() { if [[ $redis ]]; then kill "$redis" && wait "$redis" || true; fi; rm -rf "$work"; }
trap clean_up EXIT

redis-server --port 0 --unixsocket "$work/socket" --unixsocketperm 777 --save '' \
	${BLOOMEXT_REDISBLOOM:+--loadmodule "$BLOOMEXT_REDISBLOOM"} >"$work/log" &
redis=$!
until [[ -S $work/socket ]]; do sleep 0.1; done

psql() { command psql -X -q -At -v ON_ERROR_STOP=1 "$@"; }
psql -v elements="${ELEMENTS:-1000000}" -v socket="$work/socket" -v module="${BLOOMEXT_REDISBLOOM:+t}" <<'END'
SET client_min_messages = warning;
DROP SERVER IF EXISTS readers CASCADE;
CREATE SERVER readers FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket :'socket');
CREATE USER MAPPING FOR CURRENT_USER SERVER readers;
\o /dev/null
SELECT bf_mirror(bf_agg('Title ' || i, :elements, 0.01), 'readers', 'titles') FROM generate_series(1, :elements) AS i;
SELECT :'module' = 't' AS module \gset
\if :module
SELECT bf_mirror(bf_agg('Title ' || i, :elements, 0.01, 'redisbloom'), 'readers', 'native') FROM generate_series(1, :elements) AS i;
\endif
END
PYTHONPATH=../test/interop/python PYTHONDONTWRITEBYTECODE=1 \
	python3 readers.py "$work/socket" "${ELEMENTS:-1000000}" "${BLOOMEXT_REDISBLOOM:+native}"
psql -c 'SET client_min_messages = warning; DROP SERVER readers CASCADE'
