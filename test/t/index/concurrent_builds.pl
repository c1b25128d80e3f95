# Sessions side by side: indexes built and rebuilt concurrently under writers
# miss nothing, and a mixed load never deadlocks.
#
# BLOOMEXT_LIVE_SECONDS is how long the mixed load runs: 15, unless it says
# otherwise.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $seconds = $ENV{BLOOMEXT_LIVE_SECONDS} || 15;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
log_statement = none
max_wal_size = 4GB
deadlock_timeout = 500ms
));
$node->start;
$node->safe_psql('postgres', q(
	CREATE EXTENSION bloomext;
	CREATE TABLE small (id serial, title text);
	INSERT INTO small (title) SELECT 'old ' || g FROM generate_series(1, 30000) g;
	CREATE INDEX ON small USING bloomfilter (title) WITH (expected = 400000, fpp = 0.0001);
	CREATE TABLE large (id serial, title text);
	CREATE INDEX ON large USING bloomfilter (title) WITH (expected = 2500000, fpp = 0.0001);
	CREATE TABLE growing (id serial, title text);
	CREATE INDEX ON growing USING bloomfilter (title) WITH (expected = 200, expansion = 2, fpp = 0.0001);
));

my $dir = PostgreSQL::Test::Utils::tempdir();
sub script
{
	my ($name, $sql) = @_;
	append_to_file("$dir/$name", $sql);
	return ('-f', $name =~ /(\d+)$/ ? "$dir/$name\@$1" : "$dir/$name");
}

# Start pgbench; finish() tells what it found wrong.
sub bench
{
	my ($clients, $time, @scripts) = @_;
	my %bench = (out => '', err => '');
	$bench{run} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-T', $time, @scripts, $node->connstr('postgres') ],
		'>', \$bench{out}, '2>', \$bench{err}, IPC::Run::timeout($time + 60));
	return \%bench;
}

sub finish
{
	my ($bench, $name) = @_;
	my $ok = IPC::Run::finish($bench->{run});
	ok($ok && $bench->{err} !~ /ERROR|aborted/, $name) or diag $bench->{err};
	return $bench->{out};
}

sub verified
{
	my ($name, @tables) = @_;
	foreach my $table (@tables)
	{
		like($node->safe_psql('postgres', "SELECT * FROM bf_live_verify('$table')"),
			qr/^[1-9]\d*\|0$/, "$name: nothing missing of $table");
	}
}

# Writers, among them updates that stay on their page, and short and long
# transactions.
my @writers = (
	script('insert@6', q(
\set n random(1, 1000000000)
INSERT INTO small (title) VALUES ('s ' || :n);
INSERT INTO large (title) VALUES ('l ' || :n);
INSERT INTO growing (title) VALUES ('g ' || :n);
)),
	script('batch@1', q(
\set n random(1, 1000000000)
BEGIN;
INSERT INTO small (title) SELECT 'b ' || :n + g FROM generate_series(1, 200) g;
INSERT INTO large (title) SELECT 'b ' || :n + g FROM generate_series(1, 200) g;
INSERT INTO growing (title) SELECT 'b ' || :n + g FROM generate_series(1, 200) g;
\sleep 20 ms
COMMIT;
)),
	script('update@6', q(
\set n random(1, 30000)
UPDATE small SET title = 'u ' || :n || ' ' || random() WHERE id = :n;
)),
	# Is what was inserted before found in the same transaction, and after it?
	script('check@4', q(
\set n random(1, 1000000000)
BEGIN;
INSERT INTO large (title) VALUES ('c ' || :n);
INSERT INTO growing (title) VALUES ('c ' || :n);
SELECT 1 / bf_live_contains('large', 'c ' || :n)::int, 1 / bf_live_contains('growing', 'c ' || :n)::int;
COMMIT;
SELECT 1 / bf_live_contains('large', 'c ' || :n)::int, 1 / bf_live_contains('growing', 'c ' || :n)::int;
)));
$node->safe_psql('postgres', 'CREATE INDEX ON small (id)');

my $load = bench(4, 12, @writers);
foreach my $round (1 .. 4)
{
	$node->safe_psql('postgres', q(
		CREATE INDEX CONCURRENTLY built ON small USING bloomfilter (title) WITH (expected = 400000, fpp = 0.0001)));
	$node->safe_psql('postgres', q(DROP INDEX CONCURRENTLY IF EXISTS growing_beside));
	$node->safe_psql('postgres', q(
		CREATE INDEX CONCURRENTLY growing_beside ON growing USING bloomfilter (title) WITH (expected = 200, expansion = 1, fpp = 0.0001)));
	$node->safe_psql('postgres', q(DROP INDEX CONCURRENTLY small_title_idx));
	$node->safe_psql('postgres', q(ALTER INDEX built RENAME TO small_title_idx));
	verified("built concurrently, $round", 'small', 'growing_beside');
	$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY small_title_idx');
	$node->safe_psql('postgres', 'REINDEX TABLE CONCURRENTLY large');
	$node->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY growing_beside');
	verified("rebuilt concurrently, $round", 'small', 'large', 'growing_title_idx', 'growing_beside');
}
finish($load, 'the writers were content');
verified('in the end', 'small', 'large', 'growing_title_idx', 'growing_beside');
cmp_ok($node->safe_psql('postgres', q(SELECT layers FROM bf_live_info('growing_title_idx'))), '>=', 4, 'a filter grew meanwhile');

# What comes to a pending page while others' elements get their bits stays there; no
# rebuild makes up for what is lost.
my $waiting = bench(3, 4, script('wait', q(
\set n random(1, 1000000000)
INSERT INTO large (title) VALUES ('w ' || :n);
)));
my $flushing = bench(1, 4, script('flush', 'VACUUM large;'));
finish($waiting, 'elements wait');
finish($flushing, 'while others are flushed');
verified('elements that waited', 'large');

# The mixed load.
my $mixed = bench(4, $seconds, @writers, script('probe@6', q(
\set n random(1, 1000000000)
SELECT bf_live_contains('small', 's ' || :n), bf_live_contains('large', 'l ' || :n), bf_live_contains('growing', 'g ' || :n);
)), script('flush@1', q(
\set n random(1, 1000000000)
INSERT INTO large (title) SELECT 'f ' || :n + g FROM generate_series(1, 60) g;
)));
my $maintenance = bench(2, $seconds, script('vacuum@4', q(
VACUUM small, large, growing;
)), script('snapshot@4', q(
SELECT bf_count(bf_live_filter('large')), bf_count(bf_live_filter('growing_title_idx')), bits_set FROM bf_live_info('small');
)));
my $rebuild = bench(1, $seconds, script('reindex', q(
REINDEX TABLE CONCURRENTLY large;
REINDEX TABLE CONCURRENTLY small;
)));
my $said = finish($mixed, "a mixed load of $seconds s");
finish($rebuild, 'with rebuilds');
$maintenance->{run} and IPC::Run::finish($maintenance->{run});
# VACUUM and REINDEX exclude each other: the one that waits may be told so.
unlike(slurp_file($node->logfile), qr/PANIC|corrupted/, 'nothing was corrupted');
my @deadlocks = slurp_file($node->logfile) =~ /ERROR:  deadlock detected/g;
is(scalar @deadlocks, 0, 'and nothing deadlocked');
verified('after the mixed load', 'small', 'large', 'growing_title_idx', 'growing_beside');
diag($said =~ /(number of transactions actually processed: \d+)/ ? $1 : '');

$node->stop;
done_testing();
