#!/usr/bin/env bash
# live.sh [ROWS] [SECONDS]
#	What a live filter costs, against a btree on the same random titles (p = 1e-4):
#	building it, bulk inserts, single-row transactions, WAL, lookups, and four
#	writers; and what a lookup in a table of 2,000 partitions costs over 2,000
#	lookups.  ROWS (1,000,000) are in the table; SECONDS (10) is how long each
#	pgbench runs.  Connects as psql does; the role must be a superuser.  Sizes for
#	which no table is to be filled are given by EXPECTED: the filter is then made
#	for that many rows and holds ROWS.
#
#	All figures are ratios within one run, medians of what was taken in turns.
#	Times are the backend's own time on the processor where the system tells
#	(/proc/self/schedstat), so that what else the machine does matters little;
#	builds are also given by the clock, as a btree is built by several processes.
set -euo pipefail

rows=${1:-1000000} seconds=${2:-10} expected=${EXPECTED:-$rows}
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
median() { sort -g | awk '{a[NR] = $1} END {print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2}'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.3f", a / b}'; }
kinds='none live btree'

ddl() { # KIND TABLE
	case $1 in
		none) ;;
		live) echo "CREATE INDEX ${2}_i ON $2 USING bloomfilter (title) WITH (expected = $expected, fpp = 0.0001)" ;;
		btree) echo "CREATE INDEX ${2}_i ON $2 (title)" ;;
	esac
}

now='extract(epoch FROM clock_timestamp()) * 1000'
cpu=$now
if [[ $(sql -c "SELECT pg_read_file('/proc/self/schedstat')" 2>/dev/null) ]]; then
	cpu="split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::numeric / 1000000"
fi

# Run a statement and print how many milliseconds it took, those by the clock,
# and bytes of WAL.
measured() { # SQL [SETTINGS]
	sql <<-END
		SET jit = off;
		SET synchronous_commit = off;
		${2-}
		SELECT pg_current_wal_insert_lsn() AS lsn, $cpu AS cpu, $now AS now \gset
		$1;
		SELECT $cpu - :cpu, $now - :now, pg_current_wal_insert_lsn() - :'lsn';
	END
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== $rows rows, filters for $expected"
sql <<-END
	SET client_min_messages = warning;
	CREATE EXTENSION IF NOT EXISTS bloomext;
	DROP TABLE IF EXISTS t_none, t_live, t_btree;
	CREATE TABLE t_none AS SELECT md5(g::text) || ' ' || g AS title FROM generate_series(1, $rows) g;
	VACUUM ANALYZE t_none;
END

# Build, in turns, on the same table.
for kind in live btree; do sql -c "$(ddl $kind t_none)" -c 'DROP INDEX t_none_i'; done
for turn in 1 2 3; do
	for kind in live btree; do
		measured "$(ddl $kind t_none)" >>"$work/build_$kind"
		sql -c 'DROP INDEX t_none_i'
		measured "$(ddl $kind t_none)" 'SET max_parallel_maintenance_workers = 0;' >>"$work/serial_$kind"
		sql -c "SELECT pg_relation_size('t_none_i')" >"$work/size_$kind"
		sql -c 'DROP INDEX t_none_i'
	done
done
for kind in live btree; do
	cut -d'|' -f2 "$work/build_$kind" | median >"$work/b_$kind"
	cut -d'|' -f1 "$work/serial_$kind" | median >"$work/c_$kind"
done
echo "build:           $(ratio "$(<"$work/c_live")" "$(<"$work/c_btree")") of btree's time ($(<"$work/c_live") ms), by the clock and with parallel workers $(ratio "$(<"$work/b_live")" "$(<"$work/b_btree")"), at most 0.2"
echo "size:            $(ratio "$(<"$work/size_live")" "$(<"$work/size_btree")") of btree's ($(<"$work/size_live") bytes), at most 0.05"

for kind in live btree; do
	sql -c "CREATE TABLE t_$kind AS TABLE t_none" -c "$(ddl $kind t_$kind)" -c "VACUUM ANALYZE t_$kind"
done
sql -c CHECKPOINT

# Lookups of absent titles, by one query that calls a function for each row.
probe() { # EXPRESSION
	measured "SELECT count(*) FROM (SELECT md5('absent ' || g) || ' ' || g AS x FROM generate_series(1, 200000) g OFFSET 0) s WHERE $1" |
		tail -n 1 | cut -d'|' -f1
}
for turn in 1 2 3 4 5 6 7; do
	probe "bf_live_contains('t_live', x)" >>"$work/p_live"
	probe "EXISTS (SELECT FROM t_btree WHERE title = x OFFSET 0)" >>"$work/p_btree"
	probe 'x IS NULL' >>"$work/p_none"
done
a=$(median <"$work/p_live") b=$(median <"$work/p_btree") c=$(median <"$work/p_none")
echo "absent title:    $(awk -v a=$a -v b=$b -v c=$c 'BEGIN {printf "%.3f of btree'"'"'s EXISTS (%.2f us), at most 0.2", (a - c) / (b - c), (a - c) / 200}')"

# Bulk: statements of 10,000 rows.  The first touches after a checkpoint are not
# what is compared, so each table takes some before.
bulk() { # KIND
	measured "INSERT INTO t_$1 SELECT md5(random()::text) || random() FROM generate_series(1, 10000)"
}
for turn in 0 1 2; do for kind in $kinds; do bulk $kind >/dev/null; done; done
for turn in {1..25}; do for kind in $kinds; do bulk $kind >>"$work/bulk_$kind"; done; done
for kind in $kinds; do
	cut -d'|' -f1 "$work/bulk_$kind" | median >"$work/k_$kind"
	cut -d'|' -f3 "$work/bulk_$kind" | median >"$work/w_$kind"
done
cost() { awk -v l="$(<"$work/$1_live")" -v b="$(<"$work/$1_btree")" -v n="$(<"$work/$1_none")" -v per="$2" \
	'BEGIN {printf "%.3f of btree'"'"'s (%.2f against %.2f a row)", (l - n) / (b - n), (l - n) / per, (b - n) / per}'; }
echo "bulk, cost:      $(cost k 10), us, at most 0.6"
echo "bulk, WAL:       $(cost w 10000), bytes, at most 1"

# Single-row transactions, in turns, without a client in between.
for kind in $kinds; do
	sql <<-END
		CREATE OR REPLACE PROCEDURE single_$kind(n int) LANGUAGE plpgsql AS \$\$
		BEGIN
			FOR i IN 1 .. n LOOP
				INSERT INTO t_$kind VALUES (md5(random()::text) || random());
				COMMIT;
			END LOOP;
		END \$\$;
	END
	echo "INSERT INTO t_$kind VALUES (md5(random()::text) || random());" >"$work/single_$kind.sql"
	measured "CALL single_$kind(20000)" >/dev/null
done
for turn in {1..9}; do
	for kind in $kinds; do measured "CALL single_$kind(20000)" >>"$work/single_$kind"; done
done
for kind in $kinds; do
	cut -d'|' -f1 "$work/single_$kind" | median >"$work/t_$kind"
	cut -d'|' -f3 "$work/single_$kind" | median >"$work/s_$kind"
done
echo "single, whole:   $(ratio "$(<"$work/t_live")" "$(<"$work/t_btree")") of btree's time ($(awk '{print $1 / 20}' "$work/t_live") us), at most 1.1"
echo "single, WAL:     $(cost s 20000), bytes, at most 1"

four() { # KIND
	PGOPTIONS='-c synchronous_commit=off' pgbench -n -M prepared -c 4 -j 2 -T "$seconds" -f "$work/single_$1.sql" |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
for turn in 1 2 3; do
	for kind in live btree; do four $kind >>"$work/four_$kind"; done
done
echo "four writers:    $(ratio "$(median <"$work/four_live")" "$(median <"$work/four_btree")") of btree's throughput, at least 1"

# The first single rows after a checkpoint, where each page touched goes to WAL.
for kind in $kinds; do
	sql -c 'VACUUM t_live' -c CHECKPOINT 2>/dev/null
	measured "CALL single_$kind(1000)" | tail -n 1 | cut -d'|' -f3 >"$work/first_$kind"
done
echo "WAL of the first 1,000 rows after a checkpoint: $(cost first 1000), bytes, beside the table's $(<"$work/first_none")"

# A partitioned table against its partitions, asked one by one in one expression.
sql <<-END
	SET client_min_messages = warning;
	DROP TABLE IF EXISTS t_parts;
	CREATE TABLE t_parts (id int, title text) PARTITION BY RANGE (id);
	SELECT format('CREATE TABLE t_part_%s PARTITION OF t_parts FOR VALUES FROM (%s) TO (%s)', i, i * 10, i * 10 + 10)
	FROM generate_series(0, 1999) AS i \gexec
	CREATE INDEX ON t_parts USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO t_parts SELECT g, 'title ' || g FROM generate_series(0, 19999) AS g;
END
absent="(SELECT 'absent ' || g AS x FROM generate_series(1, 300) g OFFSET 0) s"
each=$(sql -c "SELECT string_agg(format('bf_live_contains(''t_part_%s'', x)', i), ' OR ') FROM generate_series(0, 1999) i")
# The first query of a session finds out what is named, which is not compared.
probe_all() { # EXPRESSION
	sql <<-END
		SET jit = off;
		BEGIN;
		PREPARE probe AS SELECT count(*) FROM $absent WHERE $1;
		EXECUTE probe;
		SELECT $cpu AS cpu \gset
		EXECUTE probe;
		SELECT $cpu - :cpu;
	END
}
for turn in 1 2 3 4 5; do
	probe_all "bf_live_contains('t_parts', x)" | tail -n 1 >>"$work/parts_whole"
	probe_all "$each" | tail -n 1 >>"$work/parts_each"
done
a=$(median <"$work/parts_whole") b=$(median <"$work/parts_each")
echo "2,000 partitions: $(ratio "$a" "$b") of 2,000 lookups ($(awk -v a="$a" 'BEGIN {printf "%.2f", a / 300 / 2000 * 1000}') us a partition), at most 1.2"
sql -c 'SET client_min_messages = warning' -c 'DROP TABLE t_parts'
