# Workers have no client's statement, and may load the module when their transaction
# already ends, of which it is then not told.  So what they insert is stored no later
# than when their insertion ends; or, before 17, at once, but in a subscription's first copy.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use LiveTest;
use Test::More;
use PostgreSQL::Test::Cluster;

my $rows = 200000;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
full_page_writes = off
checkpoint_timeout = 1h
max_wal_size = 4GB
));
$node->start;
my $test = LiveTest->new($node);
$test->install;

# A background worker, by the first statement of its first transaction, and at pre-commit.
my $module = $test->build_modules . '/precommit';
$test->sql(qq(
	CREATE FUNCTION precommit_work(text, boolean, cstring) RETURNS void LANGUAGE C STRICT AS '$module', 'precommit_work';
	CREATE TABLE late (title text);
	CREATE INDEX ON late USING bloomfilter (title);
	CREATE FUNCTION insert_two() RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		INSERT INTO late VALUES ('a');
		BEGIN
			INSERT INTO late VALUES ('b');
			RAISE 'undone';
		EXCEPTION WHEN raise_exception THEN
			INSERT INTO late VALUES ('c');
		END;
	END \$\$));
my @inserts = (
	[ 'a statement', q(INSERT INTO late SELECT 'w' || g FROM generate_series(1, 1000) AS g), 1000 ],
	[ 'more than a batch', q(INSERT INTO late SELECT 'w' || g FROM generate_series(1, 70000) AS g), 70000 ],
	[ 'a block', 'SELECT insert_two()', 2 ]);
foreach my $late ('false', 'true')
{
	foreach my $case (@inserts)
	{
		my ($name, $sql, $count) = @$case;
		$test->sql("TRUNCATE late; SELECT precommit_work(\$w\$$sql\$w\$, $late, '$module')");
		$test->is_sql("a worker, $name, late: $late", q(SELECT count(*), denied('late') FROM late), "$count|0");
	}
}

# The first copy of a subscription is stored in batches.
$test->sql('CREATE DATABASE published');
$node->safe_psql('published', qq(
	CREATE TABLE copied (id int PRIMARY KEY, title text);
	CREATE TABLE parts (id int PRIMARY KEY, title text);
	INSERT INTO copied SELECT g, 'published ' || g FROM generate_series(1, $rows) AS g;
	INSERT INTO parts SELECT g, 'published ' || g FROM generate_series(1, 100) AS g;
	CREATE PUBLICATION pub FOR TABLE copied, parts;));
$node->safe_psql('published', q(SELECT pg_create_logical_replication_slot('sub', 'pgoutput')));
$test->sql(q(
	CREATE TABLE copied (id int, title text);
	CREATE INDEX ON copied USING bloomfilter (title) WITH (fpp = 0.0001);
	CREATE TABLE parts (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (50);
	CREATE TABLE parts2 PARTITION OF parts DEFAULT;
	CREATE INDEX ON parts USING bloomfilter (title)));
my $before = $test->sql('SELECT pg_current_wal_lsn()');
(my $connstr = $node->connstr('published')) =~ s/'/''/g;
$test->sql("CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION pub WITH (create_slot = false, slot_name = 'sub')");
$node->poll_query_until('postgres', q(SELECT count(*) = 2 FROM pg_subscription_rel WHERE srsubstate IN ('r', 's')));
my $bytes = $test->sql("SELECT pg_current_wal_lsn() - '$before'::pg_lsn");
$test->is_sql('a first copy', q(SELECT count(*), denied('copied') FROM copied), "$rows|0");
$test->is_sql('a first copy, of partitions', q(SELECT count(*), denied('parts') FROM parts), '100|0');
cmp_ok($bytes, '<', 100 * $rows, 'a first copy takes 100 bytes of WAL a row at most');
$node->safe_psql('published', q(INSERT INTO copied VALUES (0, 'streamed')));
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM copied WHERE id = 0));
$test->is_sql('what is streamed after it', q(SELECT bf_live_contains('copied', 'streamed')), 't');
$test->sql('DROP SUBSCRIPTION sub');
$node->stop;
done_testing();
