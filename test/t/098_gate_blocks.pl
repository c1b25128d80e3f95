# With shared buffers a fifth of a btree, a batch of which half is new reads little
# more than half of the blocks where plans ask a filter: that stays in the buffers,
# and gates do not pause.  By the query that asks by hand it is as many.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', qq(
fsync = off
jit = off
autovacuum = off
shared_buffers = 4MB
max_parallel_workers_per_gather = 0
enable_hashjoin = off
enable_mergejoin = off
));
$node->start;
plan skip_all => 'no gates before PostgreSQL 15' if $node->safe_psql('postgres', 'SHOW server_version_num') < 150000;
my $test = LiveTest->new($node);
$test->install;
$test->sql(q(
	CREATE TABLE titles AS SELECT md5(g::text) || ' ' || g AS title FROM generate_series(1, 300000) AS g;
	CREATE INDEX titles_btree ON titles (title);
	CREATE INDEX titles_filter ON titles USING bloomfilter (title) WITH (fpp = 0.0001, plans = on);
	CREATE TABLE batch AS SELECT md5(j::text) || ' ' || j AS title
		FROM (SELECT g % 2 * 300000 + (g * 7919::bigint) % 300000 + 1 AS j FROM generate_series(1, 60000) AS g) AS drawn;
	VACUUM ANALYZE;
	CHECKPOINT));

# Blocks that a statement reads, and what its gates say.
sub blocks_read
{
	my ($gate, $condition) = @_;
	my $said = $test->sql("SET bloomext.enable_gate = $gate; EXPLAIN (ANALYZE, BUFFERS, TIMING off) SELECT count(*) FROM batch AS b WHERE $condition");
	my ($read) = $said =~ /Buffers: shared (?:hit=\d+ )?read=(\d+)/;
	return ($read, $said);
}

my $plain = 'NOT EXISTS (SELECT FROM titles AS t WHERE t.title = b.title)';
my ($without) = blocks_read('off', $plain);
my ($with, $said) = blocks_read('on', $plain);
my ($by_hand) = blocks_read('off', "CASE WHEN bf_live_contains('titles', b.title) THEN $plain ELSE true END");
note "without $without, with $with, by hand $by_hand";
cmp_ok($with / $without, '<', 0.65, 'blocks with gates over those without') or diag $said;
cmp_ok($by_hand / $without, '<', 0.65, 'and by hand');
like($said, qr/Asked: 60000\n +Surely Absent: (?:30000|299\d\d)\n +Skipped: 0\n/, 'and all are asked for') or diag $said;

$node->stop;
done_testing();
