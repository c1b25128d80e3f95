# Programs that rewrite a table beside its writers: each fills a copy, applies to it what
# came meanwhile, and has table and copy swap their files in the same transaction.
# Nothing is denied, beside three writers as fast as they go, with savepoints, updates,
# deletes and prepared transactions: by a writer its own rows, by readers, here and on
# a standby, any row that they see.  The programs: REPACK (CONCURRENTLY) of PostgreSQL
# 19, pg_repack, pg_squeeze, and the same in plain SQL.
#
# BLOOMEXT_LIVE_SECONDS is how long each of these goes on: 15, unless it says otherwise.
# BLOOMEXT_LIVE_REWRITER is the name of the only one to be tried, such as pg_repack.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use IPC::Run;
use LiveTest;
use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{BLOOMEXT_LIVE_SECONDS} || 15;
my $only = $ENV{BLOOMEXT_LIVE_REWRITER};

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', qq(
fsync = off
log_statement = none
max_wal_size = 4GB
max_prepared_transactions = 10
allow_system_table_mods = on
));
# A folder of PostgreSQL's, as all versions of its modules for tests let one ask.
sub folder { chomp(my $path = `pg_config --$_[0]`); return $path; }

my $has_squeeze = -e folder('sharedir') . '/extension/pg_squeeze.control';
$node->append_conf('postgresql.conf', 'shared_preload_libraries = pg_squeeze') if $has_squeeze;
$node->start;
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', qq(
hot_standby_feedback = on
max_standby_streaming_delay = -1
));
$standby->start;

my $test = LiveTest->new($node);
$test->install;
my $major = $test->sql(q(SELECT current_setting('server_version_num')::int / 10000));
$test->sql(q(
	CREATE TABLE t (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text, n int) WITH (fillfactor = 80);
	INSERT INTO t (title, n) SELECT 'Title ' || i, i FROM generate_series(1, 20000) AS i;
	CREATE INDEX t_title ON t USING bloomfilter (title) WITH (expected = 30000, expansion = 2, fpp = 0.0001);
	CREATE INDEX t_lower ON t USING bloomfilter (lower(title)) WITH (expected = 1000000, fpp = 0.0001);
	CREATE INDEX t_n ON t USING bloomfilter (n) WITH (expected = 2000000);
	CREATE INDEX t_part ON t USING bloomfilter (title) WHERE n % 2 = 0;

	-- Everything that is denied of the rows that one sees.
	CREATE FUNCTION all_denied() RETURNS bigint LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(*) FROM t WHERE NOT (bf_live_contains('t_title', title) AND bf_live_contains('t_lower', lower(title))
			AND bf_live_contains('t', n) AND (n % 2 = 1 OR bf_live_contains('t_part', title))));
	END $$;

	-- What a rewriter does: rows that came go into the copy, in the transaction that swaps.
	CREATE PROCEDURE rewrite() LANGUAGE plpgsql AS $$
	BEGIN
		LOCK TABLE t IN ACCESS EXCLUSIVE MODE;
		CREATE TABLE twin (LIKE t INCLUDING ALL);
		INSERT INTO twin OVERRIDING SYSTEM VALUE SELECT * FROM t;
		WITH one AS (SELECT indrelid, indexrelid, row_number() OVER (PARTITION BY indrelid ORDER BY indexrelid) AS n
				FROM pg_index WHERE indrelid IN ('t'::regclass, 'twin'::regclass)),
			pair AS (SELECT x.indexrelid AS mine, y.indexrelid AS its FROM one AS x JOIN one AS y USING (n) WHERE x.indrelid <> y.indrelid
				UNION ALL VALUES ('t'::regclass::oid, 'twin'::regclass::oid), ('twin'::regclass, 't'::regclass))
		UPDATE pg_class AS c SET relfilenode = o.relfilenode FROM pg_class AS o JOIN pair ON its = o.oid WHERE mine = c.oid;
		DROP TABLE twin;
	END $$;
));
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));

# A script of pgbench; a "no" that is wrong divides by zero.  OLDEST 3: the three rows
# with the least ids that nobody else has locked.
my $dir = PostgreSQL::Test::Utils::tempdir();
my $scripts = 0;
sub script
{
	my ($sql, $weight) = @_;
	my $file = "$dir/script" . $scripts++;
	append_to_file($file, $sql =~ s/OLDEST (\d)/SELECT id FROM t ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED/gr);
	return ('-f', "$file\@$weight");
}

my @writers = (
	script(q(
\set n random(1, 1000000000)
INSERT INTO t (title, n) VALUES ('Single ' || :n, :n % 1000);
SELECT 1 / bf_live_contains('t_title', 'Single ' || :n)::int;
DELETE FROM t WHERE id IN (OLDEST 1);
), 5),
	script(q(
\set n random(1, 1000000000)
BEGIN;
INSERT INTO t (title, n) VALUES ('New ' || :n, :n % 1000);
SAVEPOINT a;
INSERT INTO t (title, n) VALUES ('Undone ' || :n, 1);
ROLLBACK TO a;
SAVEPOINT b;
INSERT INTO t (title, n) SELECT 'Kept ' || :n || ' ' || i, i FROM generate_series(1, 5) AS i;
RELEASE b;
UPDATE t SET title = 'Changed ' || :n WHERE id IN (OLDEST 1);
UPDATE t SET n = n + 2 WHERE id IN (OLDEST 3);
DELETE FROM t WHERE id IN (OLDEST 6);
SELECT 1 / bf_live_contains('t_title', 'New ' || :n)::int;
COMMIT;
SELECT 1 / (bf_live_contains('t_title', 'New ' || :n) AND bf_live_contains('t_title', 'Kept ' || :n || ' 5'))::int;
), 5),
	script(q(
\set n random(1, 1000000000)
BEGIN;
INSERT INTO t (title, n) VALUES ('Prepared ' || :n, :n % 1000);
PREPARE TRANSACTION 'g:client_id';
COMMIT PREPARED 'g:client_id';
SELECT 1 / bf_live_contains('t_title', 'Prepared ' || :n)::int;
DELETE FROM t WHERE id IN (OLDEST 1);
), 1));
# With a pause, in which the table can be locked.
my @reader = script(q(
SELECT 1 / (all_denied() = 0)::int;
\sleep 300 ms
), 1);

# Start pgbench; end() what it ran.
sub bench
{
	my ($server, $clients, @with) = @_;
	my %bench = (err => '', out => '');
	$bench{run} = IPC::Run::start([ 'pgbench', '-n', '-c', $clients, '-T', 24 * 3600, @with, $server->connstr('postgres') ],
		'>', \$bench{out}, '2>', \$bench{err});
	return \%bench;
}

sub end
{
	my ($bench, $name) = @_;
	$bench->{run}->pump_nb;
	$bench->{run}->signal('TERM') if $bench->{run}->pumpable;
	eval { $bench->{run}->finish };
	unlike($bench->{err}, qr/ERROR|FATAL|aborted/, $name);
}

# Have a program rewrite the table again and again, beside writers and readers.
sub beside
{
	my ($name, $rewrite) = @_;
	return if defined $only && $name ne $only;
	my @running = (
		[ bench($node, 3, @writers), "$name: writers" ],
		[ bench($node, 1, @reader), "$name: a reader" ],
		[ bench($standby, 1, @reader), "$name: a reader of the standby" ]);
	my $end = time + $seconds;
	my ($times, $failed) = (0, 0);
	while (time < $end || $times == 0)
	{
		$times++;
		$failed = $rewrite->() ? 0 : $times;
		last if $failed;
		$_->[0]{run}->pump_nb foreach @running;
		last if grep { $_->[0]{err} =~ /ERROR/ } @running;
	}
	is($failed, 0, "$name: none of $times fails");
	end(@$_) foreach @running;
	# What a writer was stopped in.
	$test->sql("COMMIT PREPARED '$_'") foreach split /\n/, $test->sql('SELECT gid FROM pg_prepared_xacts');
	$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
	$test->is_sql("$name: nothing is missing", q(SELECT all_denied(), (SELECT sum(missing) FROM unnest('{t_title, t_lower, t_n, t_part}'::regclass[]) AS f, bf_live_verify(f))),
		'0|0');
	is($standby->safe_psql('postgres', 'SELECT all_denied()'), 0, "$name: nor on the standby");
	note "$name: $times times, " . $test->sql('SELECT count(*) FROM t') . ' rows, ' . $test->sql(q(SELECT max(id) FROM t)) . ' were inserted';
}

beside('swapped in SQL', sub { return !$node->psql('postgres', 'CALL rewrite()'); });

SKIP:
{
	skip 'REPACK is not of PostgreSQL ' . $major, 1 if $major < 19;
	beside('REPACK (CONCURRENTLY)', sub { return !$node->psql('postgres', 'REPACK (CONCURRENTLY) t'); });
}

SKIP:
{
	my $is_there = $test->sql(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_repack'));
	skip $major =~ /1[578]/ ? 'pg_repack is not installed' : "no pg_repack of PostgreSQL $major", 1 unless $is_there;
	$test->sql('CREATE EXTENSION pg_repack');
	my $bindir = folder('bindir');
	my @repack = ((grep { -x } "$bindir/pg_repack")[0] // 'pg_repack', '-t', 't', '--no-kill-backend', '--wait-timeout=600',
		'-h', $node->host, '-p', $node->port, '-d', 'postgres');
	# Where it does not get its lock in time it may be its own next statement that times out.
	my $timed_out = qr/canceling statement due to statement timeout\nDETAIL: query was: RESET statement_timeout/;
	my $gave_up = 0;
	beside('pg_repack', sub {
		my $said = '';
		return 1 if IPC::Run::run(\@repack, '<', \undef, '>&', \$said);
		return $gave_up++ < 20 if $said =~ $timed_out;
		diag $said;
		return 0;
	});
	note "pg_repack gave up $gave_up times";

	# Rows that are logged just before its last transaction, which applies them and swaps:
	# what is older keeps it from that, and what locks the table.
	my ($older, $late) = map { $test->session } 1, 2;
	$older->ask('BEGIN; SELECT pg_current_xact_id()');
	my $said = '';
	my $running = IPC::Run::start(\@repack, '<', \undef, '>&', \$said);
	$node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_class WHERE relname ~ '^log_' AND relnamespace = 'repack'::regnamespace));
	$late->ask(q(BEGIN; INSERT INTO t (title, n) SELECT 'late ' || i, i FROM generate_series(1, 50) AS i));
	$older->ask('COMMIT');
	$node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND relation = 't'::regclass));
	$late->ask(q(INSERT INTO t (title, n) VALUES ('latest', 1); COMMIT));
	ok($running->finish, 'pg_repack, with rows just before its end') or diag $said;
	$test->is_sql('these rows are there', q(SELECT count(*), all_denied() FROM t WHERE title ~ '^late'), '51|0');
	$_->quit foreach $older, $late;
}

SKIP:
{
	skip "no pg_squeeze of PostgreSQL $major", 1 unless $has_squeeze;
	$test->sql('CREATE EXTENSION pg_squeeze');
	# Releases since 2026 want to be told which libraries may decode the WAL.
	if ($test->sql(q(SELECT count(*) FROM pg_settings WHERE name = 'output_plugin_libraries')))
	{
		$node->append_conf('postgresql.conf', 'output_plugin_libraries = pg_squeeze');
		$node->reload;
	}
	beside('pg_squeeze', sub { return !$node->psql('postgres', q(SELECT squeeze.squeeze_table('public', 't'))); });
}

$standby->stop;
$node->stop;
done_testing();
