# What gates do where shared buffers are small, or tables many.
#
# With shared buffers a fifth of a btree, a batch of which half is new reads little
# more than half of the blocks where plans ask a filter: that stays in the buffers,
# and gates do not pause.  By the query that asks by hand it is as many.
#
# Where it is the btree's pages that stay in the buffers, and not those of a filter that
# is larger, gates pause, though all is absent.
#
# Whatever number of tables there is, of each it is remembered that it does not pay.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

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
enable_material = off
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
	my ($gate, $condition, $batch) = (@_, 'batch');
	my $said = $test->sql("SET bloomext.enable_gate = $gate; EXPLAIN (ANALYZE, BUFFERS, TIMING off) SELECT count(*) FROM $batch AS b WHERE $condition");
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

# A filter of several times the buffers beside one leaf page.
$test->sql(q(
	CREATE INDEX titles_large ON titles USING bloomfilter (lower(title)) WITH (expected = 300000, fpp = 1e-60, plans = on);
	CREATE INDEX titles_lower ON titles (lower(title));
	CREATE TABLE beside AS SELECT 'zz' || g AS title FROM generate_series(1, 20000) AS g;
	VACUUM ANALYZE beside, titles));
(undef, $said) = blocks_read('on', 'NOT EXISTS (SELECT FROM titles AS t WHERE lower(t.title) = b.title)', 'beside');
my ($asked) = $said =~ /Asked: (\d+)/;
cmp_ok($asked, '<', 1000, 'few of 20000 are asked for where each is more than a lookup') or diag $said;

# What is in each of 200 partitions, by btrees of a few pages: of each a scan holds a
# buffer or two.
$test->sql(q(
	SET client_min_messages = warning;
	CREATE TABLE parts (part int, title text) PARTITION BY LIST (part);
	DO $$ BEGIN FOR i IN 1..200 LOOP EXECUTE format('CREATE TABLE part_%1$s PARTITION OF parts FOR VALUES IN (%1$s)', i); END LOOP; END $$;
	INSERT INTO parts SELECT part, rpad('title ' || title, 300) FROM generate_series(1, 200) AS part, generate_series(1, 80) AS title;
	CREATE INDEX ON parts (title);
	CREATE INDEX ON parts USING bloomfilter (title) WITH (expected = 100, plans = on);
	ANALYZE));
my $lookups = 'SELECT sum((SELECT count(*) FROM parts AS p WHERE p.title = b.title)) FROM (SELECT rpad(\'title \' || g, 300) AS title FROM generate_series(1, 70) AS g) AS b';
my @questions = split /\n/, $test->sql(qq(
	SET enable_seqscan = off; SET enable_bitmapscan = off;
	CREATE FUNCTION questions() RETURNS numeric LANGUAGE sql STABLE AS \$\$
		SELECT sum(pg_stat_get_xact_numscans(inhrelid)) FROM pg_inherits WHERE inhparent = (SELECT oid FROM pg_class WHERE relname = 'parts_title_idx1') \$\$;
	BEGIN;
	SELECT questions();
	$lookups;
	SELECT questions();
	$lookups;
	SELECT questions();
	COMMIT));
is("@questions", '0 14000 12800 14000 12800', 'of 200 partitions the first 64 lookups are asked for, then none');

$node->stop;
done_testing();
