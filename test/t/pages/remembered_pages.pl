# Pages of live filters are remembered by where they were: that is so no more
# when they were put out, when the filter has another file, or when a temporary
# table's file is called the same; and what was seen before is not believed for ever.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq(
autovacuum = off
shared_buffers = 4MB
temp_buffers = 800kB
));
$node->start;
my $test = LiveTest->new($node);
my $sql = sub { return $test->sql(shift); };
$test->install;

# Filters of either kind: 4 data pages; 735 of them and pending pages, more than
# there are buffers.
my %kinds = (small => 'expected = 100000, fpp = 0.01', large => 'expected = 5000000, fpp = 0.01');
my $fine = '0 denied, sure, 0 missing';

# A table with a filter and some rows, made anew.
sub fresh
{
	my ($tab, $kind, $temporary) = @_;
	return qq(
		DROP TABLE IF EXISTS $tab;
		CREATE @{[ $temporary // '' ]} TABLE $tab (title text);
		INSERT INTO $tab SELECT '$tab ' || g FROM generate_series(1, 5000) g;
		CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title) WITH ($kinds{$kind});
	);
}

# Another file, in place or not, to a session that knows the pages of the old one.
my $warm = $test->session;
foreach my $kind (sort keys %kinds)
{
	foreach my $case ([ 'REINDEX', 'REINDEX INDEX t_bf' ], [ 'REINDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY t_bf' ],
		[ 'VACUUM FULL', 'VACUUM FULL t' ], [ 'TRUNCATE', q(TRUNCATE t; INSERT INTO t SELECT 'new ' || g FROM generate_series(1, 5000) g) ],
		[ 'a swap', q(ALTER TABLE t RENAME TO former; ALTER INDEX t_bf RENAME TO former_bf;) . fresh('t', $kind) . 'DROP TABLE former' ])
	{
		my ($name, $script) = @$case;
		$sql->(fresh('t', $kind));
		is($warm->ask(q(SELECT look('t'))), $fine, "$kind: pages are known");
		$sql->($_) foreach split /;/, $script;
		is($warm->ask(q(SELECT look('t'))), $fine, "$kind: after $name");
	}
}
$sql->(fresh('t', 'small'));
is($warm->ask(q(BEGIN; TRUNCATE t; INSERT INTO t VALUES ('own'); SELECT look('t'); ROLLBACK; SELECT look('t'))), "$fine; $fine", 'TRUNCATE rolled back');
is($warm->ask(q(BEGIN; CREATE TABLE place AS SELECT * FROM t; CREATE INDEX ON place USING bloomfilter (title) WITH (expected = 100000); SELECT look('place');
	TRUNCATE place; SELECT certainty('place'); INSERT INTO place SELECT g::text FROM generate_series(1, 1000) g; SELECT look('place'); COMMIT; SELECT look('place'))),
	"$fine; sure; $fine; $fine", 'TRUNCATE in place');

# Other pages are where these were.
my $others = join '', map { "CREATE TABLE other$_ AS SELECT repeat('x', 1000) FROM generate_series(1, 500); " } 1 .. 20;
$sql->(fresh('t', 'small') . $others);
is($warm->ask(q(SELECT look('t'))), $fine, 'pages are known');
$sql->(join ';', map { "SELECT count(*) FROM other$_" } 1 .. 20) foreach 1 .. 6;
is($warm->ask(q(SELECT look('t'))), $fine, 'after they were put out');

# The statistics know of each page that is read, and a page that is in use stays.
is($warm->ask(q(BEGIN; SELECT count(*) FROM t WHERE bf_live_contains('t', title); SELECT pg_stat_get_xact_blocks_hit('t_bf'::regclass) >= 7 * 5000; COMMIT)),
	'5000; t', 'pages read are counted');
SKIP:
{
	skip 'no pg_buffercache', 1 unless $sql->(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'));
	$node->restart;
	is($sql->(q(CREATE EXTENSION pg_buffercache; SET client_min_messages = error;
		SELECT count(*) FROM t WHERE bf_live_contains('t', title);
		SELECT min(usagecount) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('t_bf') AND relblocknumber > 0 AND relforknumber = 0)),
		"5000\n5", 'pages that are asked often count as used');
}

# Temporary tables, larger than their buffers, too; one whose file has the number of a table's.
is($sql->(fresh('temporary', $_, 'TEMP') . q(SELECT look('temporary'); TRUNCATE temporary; SELECT look('temporary');
	INSERT INTO temporary SELECT g::text FROM generate_series(1, 5000) g; SELECT look('temporary'))), "$fine\n$fine\n$fine", "$_: a temporary table") foreach sort keys %kinds;
$sql->(fresh('t', 'small') . q(REINDEX INDEX t_bf));
my $number = $sql->(q(SELECT pg_relation_filenode('t_bf')));
$node->stop;
system_log('pg_resetwal', '-o', $number - 1000, $node->data_dir);
$node->start;
is($sql->(qq(
	CREATE TEMP TABLE temporary AS SELECT 'row ' || g AS title FROM generate_series(1, 5000) g;
	SELECT look('t');
	DO \$\$ BEGIN WHILE lo_creat(-1) < $number - 1 LOOP END LOOP; END \$\$;
	CREATE INDEX temporary_bf ON temporary USING bloomfilter (title) WITH ($kinds{small});
	SELECT pg_relation_filenode('temporary_bf'), look('temporary'), look('t'))), "$fine\n$number|$fine|$fine", 'two files of one number');

# A damaged page is not believed, whatever is asked of it.
$sql->(fresh('t', 'small') . 'CHECKPOINT');
my ($path, $block, $pages) = map { $sql->($_) } q(SELECT pg_relation_filepath('t_bf')), q(SHOW block_size),
	q(SELECT pg_relation_size('t_bf') / current_setting('block_size')::int - 1);
$node->stop;
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
open my $file, '+<:raw', $node->data_dir . "/$path" or die "$path: $!";
foreach my $page (1 .. $pages)
{
	seek $file, ($page + 1) * $block - 8, 0;
	print $file pack 'L', 7;
}
close $file or die "$path: $!";
$node->start;
$test->fails("damaged: $_", "SELECT bf_live_contains('t', $_) FROM generate_series(1, 10) g", 'XX002') foreach q('t ' || g), q('absent ' || g);
# Nor by a plan, which says how to do without.
$sql->('ALTER INDEX t_bf SET (plans = on, absent = 0.9)');
my $asked = q(SELECT count(*) FROM unnest('{t 1,t 2}'::text[]) e, LATERAL (SELECT FROM t WHERE title = e OFFSET 0) l);
my $remedy = 'Rebuild it with REINDEX INDEX CONCURRENTLY. Until then, set bloomext.enable_gate to off to keep query plans from using it.';
SKIP:
{
	skip 'no gates before PostgreSQL 15', 7 if $sql->('SHOW server_version_num') < 150000;
	foreach ($asked, q(SELECT FROM t WHERE title = 'absent'), q(EXPLAIN SELECT FROM t WHERE title = 'absent'))
	{
		$test->fails("damaged: $_", $_, 'XX002');
		like($test->said($_), qr/block \d+ of live filter "t_bf" is corrupted\nHINT:  \Q$remedy\E/, "the hint of $_");
	}
	is($sql->("SET bloomext.enable_gate = off; $asked"), 2, 'without');
}
$sql->('REINDEX INDEX t_bf');
is($sql->($asked), 2, 'rebuilt');

# A standby, to a session that knows its pages while it replays changes, images and new files.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
my $reader = LiveTest->new($standby)->session;
foreach my $kind (sort keys %kinds)
{
	$sql->(fresh('t', $kind));
	foreach my $change ('', 'CHECKPOINT', 'REINDEX INDEX t_bf', 'TRUNCATE t', 'CHECKPOINT')
	{
		$sql->($change) if $change;
		$sql->("INSERT INTO t SELECT '$kind $change ' || g FROM generate_series(1, 2000) g");
		$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
		is($reader->ask(q(SELECT look('t'))), $fine, "standby, $kind: after $change");
	}
}
$_->quit foreach $warm, $reader;
$standby->stop;
$node->stop;
done_testing();
