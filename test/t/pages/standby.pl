# A standby under load: after catching up its bits are the primary's, checked
# twice: by what replay compares (wal_consistency_checking), and by value.
# Then it is promoted, and keeps its filters up to date itself.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', qq(
wal_consistency_checking = 'all'
log_statement = none
autovacuum = off
max_wal_size = 1GB
wal_keep_size = 4GB
));
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

$primary->safe_psql('postgres', q(
	CREATE EXTENSION bloomext;
	CREATE TABLE small (id serial, title text);
	CREATE INDEX ON small USING bloomfilter (title) WITH (expected = 100000, fpp = 0.001);
	CREATE TABLE large (id serial, title text);
	CREATE INDEX ON large USING bloomfilter (title) WITH (expected = 3000000, fpp = 0.0001);
	CREATE TABLE growing (id serial, title text);
	CREATE INDEX ON growing USING bloomfilter (title) WITH (expected = 200, expansion = 2, fpp = 0.001);
	CREATE UNLOGGED TABLE u (title text);
	CREATE INDEX ON u USING bloomfilter (title);
	CREATE TABLE built AS SELECT 'built ' || g AS title FROM generate_series(1, 50000) g;
	CREATE INDEX ON built USING bloomfilter (title);
));

$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));

# pgbench as the load: single rows, batches, rollbacks, vacuum, rebuilds.
my $dir = PostgreSQL::Test::Utils::tempdir();
sub script
{
	my ($name, $sql) = @_;
	append_to_file("$dir/$name", $sql);
	return "$dir/$name";
}
my $single = script('single', q(
\set n random(1, 1000000000)
INSERT INTO small (title) VALUES ('s ' || :n);
INSERT INTO large (title) VALUES ('l ' || :n);
INSERT INTO growing (title) VALUES ('g ' || :n);
));
my $batch = script('batch', q(
\set n random(1, 1000000000)
BEGIN;
INSERT INTO small (title) SELECT 'b ' || :n + g FROM generate_series(1, 50) g;
SAVEPOINT a;
INSERT INTO large (title) SELECT 'b ' || :n + g FROM generate_series(1, 700) g;
ROLLBACK TO a;
INSERT INTO large (title) SELECT 'c ' || :n + g FROM generate_series(1, 20) g;
INSERT INTO growing (title) SELECT 'c ' || :n + g FROM generate_series(1, 100) g;
COMMIT;
));
my $maintain = script('maintain', q(
VACUUM small, large, growing;
CHECKPOINT;
));
my %load = (out => '', err => '');
my $run = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '4', '-T', '6', '-R', '400', '-f', "$single\@50", '-f', "$batch\@10", '-f', "$maintain\@1",
		$primary->connstr('postgres') ],
	'>', \$load{out}, '2>', \$load{err});
foreach (1 .. 4)
{
	$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY small_title_idx');
	my ($status, $out, $err) = $standby->psql('postgres', q(
		SELECT (bf_live_verify('built')).missing, (SELECT count(*) FROM growing WHERE NOT bf_live_contains('growing', title)),
			bf_live_contains('large', 'no such title')));
	like($out, qr/^0\|0\|[tf]$/, 'the standby answers') or diag $err;
	sleep 1;
}
ok(IPC::Run::finish($run), 'the load ran') or diag $load{err};

my $bits = q(
	SELECT tab, md5(bf_live_filter(tab)::text), (bf_live_verify(tab)).missing,
		bf_live_contains(tab, (SELECT title FROM small LIMIT 1)), (SELECT layers > 2 FROM bf_live_info(tab))
	FROM unnest('{small,large,growing,built}'::regclass[]) AS tab ORDER BY 1);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $expected = $primary->safe_psql('postgres', $bits);
is($standby->safe_psql('postgres', $bits), $expected, 'the same bits, and none missing');
like($expected, qr/^large\|[0-9a-f]{32}\|0\|/m, 'they are there');
like($expected, qr/^growing\|[0-9a-f]{32}\|0\|[tf]\|t$/m, 'in several layers, where the filter grows');

my ($status, $out, $err) = $standby->psql('postgres', q(SELECT bf_live_contains('u', 'x')));
like($err, qr/during recovery/, 'unlogged filters do not answer on a standby');

# Old snapshots of a standby do not hold up an index that is made meanwhile.
my ($in, $said) = ('', '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $standby->connstr('postgres') ],
	'<', \$in, '>', \$said, IPC::Run::timeout(60));
$in = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM built WHERE title = 'built 7';\n";
IPC::Run::pump($session) until $said =~ /^1$/m;
$primary->safe_psql('postgres', q(CREATE INDEX built_again ON built USING bloomfilter (title)));
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$in = "SELECT bf_live_contains('built_again', 'no such title');\n";
IPC::Run::pump($session) until $said =~ /^[tf]$/m;
like($said, qr/^t$/m, 'an index that is younger than the snapshot says maybe');
$in = "COMMIT; SELECT 'now ' || bf_live_contains('built_again', 'no such title');\n";
IPC::Run::pump($session) until $said =~ /^now \w+$/m;
like($said, qr/^now false$/m, 'and afterwards is sure');
$in = "\\q\n";
IPC::Run::finish($session);

$standby->promote;
$standby->safe_psql('postgres', q(
	INSERT INTO small (title) VALUES ('promoted'); INSERT INTO large (title) VALUES ('promoted');
	INSERT INTO growing (title) SELECT 'promoted ' || g FROM generate_series(1, 20000) g;
	INSERT INTO u VALUES ('promoted');));
is( $standby->safe_psql('postgres', q(
	SELECT bf_live_contains('small', 'promoted'), bf_live_contains('large', 'promoted'),
		bf_live_contains('u', 'promoted'), (bf_live_verify('small')).missing, (bf_live_verify('large')).missing,
		(bf_live_verify('growing')).missing)),
	't|t|t|0|0|0', 'a promoted standby goes on');
unlike(slurp_file($standby->logfile), qr/inconsistent page|PANIC/, 'replay found nothing to complain about');

$standby->stop;
$primary->stop;
done_testing();
