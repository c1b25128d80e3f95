# Crashes: the whole server is killed under writers, round after round, and
# every committed row is in the filter afterwards.  Then what a crash does to
# unlogged tables, and to a prepared transaction.
#
# BLOOMEXT_LIVE_ROUNDS is how many rounds there are: 10, unless it says otherwise.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use Time::HiRes qw(sleep);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $rounds = $ENV{BLOOMEXT_LIVE_ROUNDS} || 10;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
log_statement = none
max_prepared_transactions = 10
restart_after_crash = on
max_wal_size = 1GB
));
$node->start;
my $live = LiveTest->new($node);
$node->safe_psql('postgres', q(
	CREATE EXTENSION bloomext;
	-- A filter that sets bits at once, one that lets elements wait, and one that grows.
	CREATE TABLE small (title text);
	CREATE INDEX ON small USING bloomfilter (title) WITH (expected = 400000, fpp = 0.0001);
	CREATE TABLE large (title text);
	CREATE INDEX ON large USING bloomfilter (title) WITH (expected = 4000000, fpp = 0.0001);
	CREATE TABLE growing (title text);
	CREATE INDEX ON growing USING bloomfilter (title) WITH (expected = 1000, expansion = 2, fpp = 0.0001);
));
my @tables = ('small', 'large', 'growing');

# The postmaster is gone first; who serves a writer may still answer it.
sub crash
{
	$live->kill_server(0.2);
	$node->start;
}

# A writer keeps what was acknowledged in its log: single rows, batches, rolled
# back savepoints, all in one script for psql, which ends when the server does.
sub writer
{
	my ($round, $number) = @_;
	my $id = "$round-$number";
	my $sql = '';
	foreach my $i (1 .. 4000)
	{
		my $table = $tables[ $i % 3 ];
		my $rows = $i % 100 ? 1 : 500;
		$sql .= "BEGIN; SAVEPOINT s; INSERT INTO $table VALUES ('undone $id $i'); ROLLBACK TO s;\n"
		  if $i % 10 == 0;
		$sql .= "INSERT INTO $table SELECT 't $id $i ' || g FROM generate_series(1, $rows) g;\n";
		$sql .= "COMMIT;\n" if $i % 10 == 0;
		$sql .= "\\echo done $table $i $rows\n";
	}
	my %session = (out => '', err => '');
	$session{id} = $id;
	$session{run} = IPC::Run::start(
		[ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-v', 'ON_ERROR_STOP=1' ],
		'<', \$sql, '>', \$session{out}, '2>', \$session{err});
	return \%session;
}

# How many of the rows that writers saw committed are not in the filter.
sub lost
{
	my (@sessions) = @_;
	my $values = '';
	foreach my $session (@sessions)
	{
		while ($session->{out} =~ /^done (\w+) (\d+) (\d+)$/mg)
		{
			$values .= join("\t", $1, "t $session->{id} $2 ", $3) . "\n";
		}
	}
	$node->safe_psql('postgres', "CREATE TEMP TABLE seen (tab text, prefix text, rows int);\n"
		. "COPY seen FROM stdin;\n$values\\.\n"
		. 'SELECT count(*), count(*) FILTER (WHERE NOT CASE tab '
		. join(' ', map { "WHEN '$_' THEN bf_live_contains('$_', prefix || g)" } @tables)
		. ' END) FROM seen, generate_series(1, rows) AS g');
}

my $committed = 0;
foreach my $round (1 .. $rounds)
{
	my @sessions = map { writer($round, $_) } 1 .. 4;
	foreach (1 .. 3)
	{
		sleep(0.25 + rand(0.15));
		IPC::Run::pump_nb($_->{run}) foreach @sessions;
		$node->psql('postgres', 'CHECKPOINT') if $_ < 3;
	}
	crash();
	foreach my $session (@sessions) { eval { IPC::Run::finish($session->{run}) }; }

	my $verified = $node->safe_psql('postgres', q(
		SELECT sum(missing) FROM unnest('{small,large,growing}'::regclass[]) AS tab, bf_live_verify(tab)));
	my ($seen, $lost) = split /\|/, lost(@sessions);
	$committed += $seen;
	is("$verified $lost", '0 0', "round $round: nothing missing");
}
cmp_ok($committed, '>', 1000 * $rounds, "and there was something to lose: $committed rows");
my ($layers) = $node->safe_psql('postgres', q(SELECT layers FROM bf_live_info('growing')));
cmp_ok($layers, '>=', 4, "and the filter that grows did: to $layers layers");

# A prepared transaction's rows are in the filter when it commits after a crash.
$node->safe_psql('postgres', q(
	BEGIN; INSERT INTO small VALUES ('prepared small'); INSERT INTO large VALUES ('prepared large');
	PREPARE TRANSACTION 'p'));
crash();
$node->safe_psql('postgres', q(COMMIT PREPARED 'p'));
is( $node->safe_psql('postgres', q(
	SELECT bf_live_contains('small', 'prepared small'), bf_live_contains('large', 'prepared large'),
		(bf_live_verify('small')).missing, (bf_live_verify('large')).missing)),
	't|t|0|0', 'a prepared transaction is not forgotten');

# An unlogged table is empty after a crash, and so is its filter, which works.
foreach my $size ('expected = 100000', 'expected = 4000000', 'expected = 100, expansion = 2')
{
	$node->safe_psql('postgres', qq(
		DROP TABLE IF EXISTS u;
		CREATE UNLOGGED TABLE u (title text);
		INSERT INTO u SELECT 'before ' || g FROM generate_series(1, 1000) g;
		CREATE INDEX ON u USING bloomfilter (title) WITH ($size, fpp = 0.0001);
		INSERT INTO u SELECT 'before ' || g FROM generate_series(1001, 2000) g;
		INSERT INTO u VALUES ('before')));
	is($node->safe_psql('postgres', q(SELECT * FROM bf_live_verify('u'))),
		'2001|0', "unlogged, $size: complete");
	crash();
	is( $node->safe_psql('postgres', q(
		SELECT count(*), bf_live_contains('u', 'before'), bf_live_contains('u', 'before 7') FROM u)),
		'0|f|f', 'empty after the crash');
	$node->safe_psql('postgres', q(
		INSERT INTO u VALUES ('after');
		INSERT INTO u SELECT 'after ' || g FROM generate_series(1, 10000) g));
	is( $node->safe_psql('postgres', q(
		SELECT *, bf_live_contains('u', 'after'), bf_live_contains('u', 'before') FROM bf_live_verify('u'))),
		'10001|0|t|f', 'and kept up to date again');
}

$node->stop;
done_testing();
