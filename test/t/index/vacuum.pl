# VACUUM: what it says of full filters, and that it is in nobody's way.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest qw(fresh);

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };

# How full a filter is, VACUUM says.
my $said = $test->said(fresh('fill', 'expected = 100000, fpp = 0.01', 100000) . 'VACUUM fill');
unlike($said, qr/WARNING|ERROR/, 'VACUUM: a filter as full as was planned is not over-full');
$said = $test->said(fresh('fill', 'expected = 100000, fpp = 0.01', 200000) . 'VACUUM fill');
like($said, qr/WARNING:  live filter "fill_bf" is over-full/, 'VACUUM: one with twice as many is');
like($said, qr/DETAIL:  It holds about 2\d{5} elements/, 'VACUUM: and tells how many it holds');
unlike($said, qr/REINDEX INDEX CONCURRENTLY\. ./, 'VACUUM: so that it is twice that');
$said = $test->said(fresh('fill', 'expected = 100, fpp = 0.01', 100000) . 'VACUUM fill');
like($said, qr/DETAIL:  It holds at least \d{3,4} elements/, 'VACUUM: a filter with all bits set holds more than it can tell');
like($said, qr/SET \(expected = 200000\), .* twice the number of rows in the table/, 'VACUUM: then it is twice the rows of the table');
$said = $test->said('DELETE FROM fill WHERE id > 10; VACUUM fill');
like($said, qr/SET \(expected = \d{4}\), .* may be too few/, 'VACUUM: if they are more');
SKIP:
{
	skip 'no pg_buffercache', 1 unless $sql->(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'));
	$sql->(fresh('vast', 'expected = 50000000, fpp = 0.01', 0) . q(
		CREATE EXTENSION pg_buffercache; INSERT INTO vast (title) SELECT g::text FROM generate_series(1, 20000) g));
	$node->restart;
	$sql->('VACUUM vast; VACUUM vast');
	cmp_ok($sql->(q(SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('vast_bf'))), '<', 1000,
		'VACUUM: it does not fill shared buffers');
}

# A VACUUM that takes breaks lets others make a filter grow meanwhile.
$test->sql(q(CREATE TABLE paced (title text); CREATE INDEX ON paced USING bloomfilter (title) WITH (fpp = 0.0001);
	INSERT INTO paced SELECT 'row ' || g FROM generate_series(1, 97000) g));
$test->sql('VACUUM (FREEZE) paced');
{
	my $vacuum = $test->session;
	$vacuum->ask('SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1');
	$vacuum->start('VACUUM (TRUNCATE off) paced');
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE phase = 'cleaning up indexes')), 'VACUUM is at the filter');
	$test->is_sql('others insert meanwhile', q(SET lock_timeout = '100ms';
		INSERT INTO paced SELECT 'more ' || g FROM generate_series(1, 10000) g; SELECT layers FROM bf_live_info('paced')), 2);
	is($vacuum->finish, '', 'and VACUUM comes to its end');
	$vacuum->quit;
}

$node->stop;
done_testing();
