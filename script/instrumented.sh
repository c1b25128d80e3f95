# instrumented.sh
#	What script/test --asan and --valgrind do; it sets `tool`, and sources this file.
#
#	PostgreSQL is copied into the work directory, where the module with guarded
#	allocations (test/sanitize/guard.c) is its bloomext.so, and `postgres` a script
#	that starts the real one with the tool: so it is for each server of each test,
#	however a test starts it, and for nothing else that a test runs; and what the
#	machine has installed stays as it is.  It is without JIT, whose code is nobody's
#	here and whose library alone takes valgrind a minute.
#
#	The tools report to files, or to a server's log, which are judged at the end.
#	Mistakes made on purpose then show that one would have been seen.
#
#	test/sanitize/TOOL.left-out lists the tests that cannot run so, and why.

case $tool in
	asan) tool_suites=(regress isolation tap) tool_mistakes=('plant(100, 100)' 'plant_shift(32)') ;;
	valgrind) tool_suites=(regress) tool_mistakes=('plant(100, 100)' 'plant_undefined()') tool_scope=analyze ;;
esac

# Make the copy of PostgreSQL, and install bloomext there.
instrument() {
	reports=$work/reports module=$work/module
	mkdir -m 700 "$reports"
	if ((EUID == 0)); then chown "$server_user" "$reports"; fi
	mkdir -m 755 "$module" "$work/postgresql"
	copy_postgresql "$work/postgresql"
	bindir=$work/postgresql$bindir
	# Whatever waits, waits longer here.
	export PG_CONFIG=$bindir/pg_config PG_TEST_TIMEOUT_DEFAULT=1200 BLOOMEXT_SANITIZER=$tool
	accepted+='|^memory is the sanitizer.s$'
	build_and_install with_llvm=no COPT=-Werror

	"${tool}_module"
	install -m 755 "$module/bloomext.so" "$module/hiredis/bloomext_hiredis.so" "$("$PG_CONFIG" --pkglibdir)"
	mv "$bindir/postgres" "$bindir/postgres.real"
	{
		printf '#!/bin/bash\nreal=%q\n' "$bindir/postgres.real"
		# initdb's, and one that is asked for a setting, are no servers.  But a server may
		# have --cluster-name first.
		printf '%s\n' 'case ${1-} in --boot | --check | --single | --describe-config | -C | -V) exec -a "$0" "$real" "$@" ;; esac'
		"${tool}_start"
	} >"$bindir/postgres"
	chmod 755 "$bindir/postgres"
}

build_module() { # [MAKE ARGUMENT...]
	say "building the module for $tool"
	quietly "$work/build.log" make -s -C "$work/src" -j"$(nproc)" with_llvm=no \
		SANITIZE_DIR="$module" SANITIZE_HIREDIS='$$libdir/bloomext_hiredis' "$module/bloomext.so" "$@"
}

asan_module() { build_module "$module/quiet.so"; }

# What a backend does not free, its end does.  A report ends it at once.
asan_start() {
	local all=abort_on_error=1:log_path=$reports/report
	printf '%s\n' \
		"export LD_PRELOAD='$("${CC:-cc}" -print-file-name=libasan.so) $module/quiet.so'" \
		"export ASAN_OPTIONS=$all:detect_leaks=0:allocator_may_return_null=1:disable_coredump=1:quarantine_size_mb=16" \
		"export UBSAN_OPTIONS=$all:print_stacktrace=1" \
		'exec -a "$0" "$real" "$@"'
}

# With libasan before it, libubsan writes to standard error, whatever its options say.
asan_reports() {
	cat "$reports"/* 2>/dev/null || true
	grep -hs -A9 'runtime error: ' "$work/server.log" "$work/src/tmp_check/log"/*.log || true
}

valgrind_module() { build_module SANITIZERS=; }

valgrind_start() {
	printf '%s\n' \
		"exec valgrind -q --error-limit=no --num-callers=40 --fullpath-after= \\
			--suppressions=$work/src/test/sanitize/valgrind.supp --log-file=$reports/%p \"\$real\" \"\$@\""
}

valgrind_reports() { sed 's/^==[0-9]*== *//' "$reports"/* 2>/dev/null || true; }

# Print those of some files that are not left out.
chosen() { # FILE...
	printf '%s\n' "$@" | grep -vxFf <(grep -o '^[^# ]*' "test/sanitize/$tool.left-out")
}

# Say what is left out, and set what is not: scripts for pg_regress, and TAP tests
# unless some were named.
leave_out() {
	local file reason
	while read -r file reason; do
		[[ -f $file ]] || die "test/sanitize/$tool.left-out names $file, which is not there"
		echo "$file is left out: $reason"
	done < <(grep -v '^#' "test/sanitize/$tool.left-out")
	scripts=$(chosen sql/*.sql | sed -n 's/^sql\/\([^-]*\)\.sql$/\1/p' | paste -sd' ')
	((${#tap_tests[@]})) || mapfile -t tap_tests < <(chosen test/t/*/*.pl)
}

# Ask for a mistake.
plant() { # EXPRESSION
	as_server "$bindir/psql" -XAtq -d postgres -c "SELECT $1" 2>&1
}

# Whether it is reported: by a server that may first have to recover from the one before.
is_seen() { # EXPRESSION
	local before status tries
	before=$("${tool}_reports")
	for ((tries = 0; tries < 600; tries++)); do
		status=0
		plant "$1" >/dev/null || status=$?
		[[ $("${tool}_reports") == "$before" ]] || return 0
		((status == 2)) || return 1
		sleep 0.1
	done
	return 1
}

# No report, and one for each mistake.  A server that is told to stop while it
# recovers from that may not: wait for it.
judge() {
	local mistake found bad=()
	found=$("${tool}_reports")
	[[ ! $found ]] || { printf '%s\n' "$found"; bad+=('there are reports'); }
	as_server "$bindir/psql" -XAtq -d postgres \
		-c "CREATE FUNCTION plant(size int, at int) RETURNS int LANGUAGE c AS '\$libdir/bloomext', 'bloomext_plant'" \
		-c "CREATE FUNCTION plant_undefined() RETURNS int LANGUAGE c AS '\$libdir/bloomext', 'bloomext_plant_undefined'" \
		-c "CREATE FUNCTION plant_shift(int) RETURNS int LANGUAGE c AS '\$libdir/bloomext', 'bloomext_plant_shift'"
	[[ $(plant 'plant(100, 99)') == 0 && $("${tool}_reports") == "$found" ]] || bad+=('the last byte of a chunk cannot be read')
	for mistake in "${tool_mistakes[@]}"; do
		is_seen "$mistake" || bad+=("nobody saw $mistake")
	done
	timeout 60 bash -c 'until "$0" -q; do sleep 0.1; done' "$bindir/pg_isready"
	((${#bad[@]} == 0)) || printf 'not ok: %s\n' "${bad[@]}"
	echo "reports: $((2 + ${#tool_mistakes[@]} - ${#bad[@]})) passed, ${#bad[@]} failed"
	((${#bad[@]} == 0))
}
