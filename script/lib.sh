# lib.sh
#	What bootstrap, demo, test and bench share.  Source it; it runs nothing by itself
#	except that it shields the caller from the user's PostgreSQL settings.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# A PGHOST or PGSERVICE left in the environment would lead psql or a test to a
# cluster that is none of our business.
for name in ${!PG@}; do
	case $name in PG_* | PGCLIENTENCODING) ;; *) unset "$name" ;; esac
done

# A bare system has no locales but this one.
export LC_ALL=C.UTF-8

# Warnings are errors; but clang need not know the flags and attributes of a server
# that gcc has built.
strictly='-Werror -Wno-unknown-warning-option -Wno-ignored-attributes -Wno-ignored-optimization-argument'

say() { printf '==> %s\n' "$*" >&2; }
die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

as_root() {
	if ((EUID == 0)); then "$@"
	elif command -v sudo >/dev/null; then sudo "$@"
	else die "this needs root, and there is no sudo"
	fi
}

# Run a command without a word, unless it fails: then show the end of its log.
quietly() { # LOG COMMAND...
	local log=$1; shift
	"$@" >>"$log" 2>&1 </dev/null && return
	tail -n 60 "$log" >&2
	die "failed: $*"
}

# Print the path of a pg_config whose PostgreSQL can both run a server and
# build an extension: the user's, or else the newest that the machine has.
find_pg_config() {
	local candidate
	for candidate in ${PG_CONFIG:-$(printf '%s\n' /usr/lib/postgresql/*/bin/pg_config | sort -rV) pg_config}; do
		command -v "$candidate" >/dev/null || continue
		[[ -x $("$candidate" --bindir)/initdb ]] || continue
		[[ -f $("$candidate" --includedir-server)/postgres.h ]] || continue
		[[ -f $("$candidate" --pgxs) ]] || continue
		command -v "$candidate"
		return
	done
	return 1
}

# Scripts that make something set "trap clean_up EXIT"; a signal ends there, too.
trap 'exit 130' INT TERM HUP
work=

# Bootstrap, then make a work directory that goes away with this process:
#	$work/src		a copy of the checkout, whose own tree stays as it is
#	$work/server	data and socket of a private PostgreSQL
# Sets PG_CONFIG, bindir, work and server_user.
prepare() { # demo|test|bench [FOLDER]
	"$root/script/bootstrap" "$1"
	PG_CONFIG=$(find_pg_config)
	export PG_CONFIG
	bindir=$("$PG_CONFIG" --bindir)

	# The server refuses to run as root.  Not in TMPDIR, which may be closed to
	# other users or too long a path for a socket.
	server_user=$(id -un)
	if ((EUID == 0)); then
		server_user=postgres
		id -u "$server_user" >/dev/null 2>&1 || server_user=nobody
	fi
	work=$(mktemp -d "${2:-/tmp}/bloomext.XXXXXX")
	chmod 711 "$work"
	mkdir -m 700 "$work/src" "$work/server"
	tar -C "$root" --exclude=./.git --exclude=./tmp_check --exclude='./test/*/build' -cf - . | tar -C "$work/src" --no-same-owner -xf -
	if ((EUID == 0)); then chown "$server_user" "$work/server"; fi
}

# Copy PostgreSQL, but for bloomext and JIT, to below a folder.  A server finds its
# files from where its program is, so the copy has its own.  So do most pg_configs; for
# one that names the folders it was built for, as Debian's of 14, there is one that does.
copy_postgresql() { # FOLDER
	local part bindir copied
	for part in bindir pkglibdir sharedir includedir-server; do
		part=$("$PG_CONFIG" --"$part")
		mkdir -p "$1$part"
		tar -C "$part" --exclude='*bloomext*' --exclude='llvmjit*' -cf - . | tar -C "$1$part" -xf -
	done
	bindir=$("$PG_CONFIG" --bindir)
	copied=$1$bindir/pg_config
	if [[ $("$copied" --bindir) != "$1$bindir" ]]; then
		printf '#!/bin/sh\n"%s" "$@" | sed "s|^/|%s/|"\n' "$PG_CONFIG" "$1" >"$copied"
	fi
}

clean_up() {
	[[ $work ]] || return 0
	stop_server
	rm -rf "$work"
}

# The copy may hold objects that were built for another PostgreSQL: clean first.
build_and_install() { # [MAKE ARGUMENT...]
	say "building and installing for $("$PG_CONFIG" --version) ($PG_CONFIG)"
	quietly "$work/build.log" make -s -C "$work/src" clean
	quietly "$work/build.log" make -s -C "$work/src" -j"$(nproc)" "$@"
	local as=
	if [[ ! -w $("$PG_CONFIG" --pkglibdir) ]]; then
		as=as_root
		as_root true # sudo may ask for a password, which must be seen
	fi
	quietly "$work/build.log" $as make -s -C "$work/src" install PG_CONFIG="$PG_CONFIG" "$@"
}

# Run a command as the user who may run a server.  In a trap, "return" alone is what
# went before it.
as_server() {
	if ((EUID != 0)); then "$@"; return $?; fi
	setpriv --reuid="$server_user" --regid="$(id -g "$server_user")" --init-groups \
		env HOME="$work/server" "$@"
}

# Start the private server.  It listens on a socket in a directory that only
# its owner (and root) may enter, which is why it can trust who comes.
start_server() { # [SETTING=VALUE...]
	say "starting a private PostgreSQL in $work/server"
	export PGHOST=$work/server PGUSER=postgres PGPORT=5432
	cd "$work"
	quietly "$work/server.log" as_server "$bindir/initdb" -D "$work/server/data" \
		-U postgres -E UTF8 --no-locale -A trust -N
	# All in its file, which whoever restarts it need not know.
	printf '%s\n' "port=$PGPORT" "listen_addresses=''" "unix_socket_directories='$work/server'" fsync=off "$@" \
		>>"$work/server/data/postgresql.conf"
	quietly "$work/server.log" as_server "$bindir/pg_ctl" -D "$work/server/data" -w start
}

stop_server() {
	[[ ! -f $work/server/data/postmaster.pid ]] ||
		as_server "$bindir/pg_ctl" -D "$work/server/data" -m fast -w stop >/dev/null
}
