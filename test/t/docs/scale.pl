# What doc/scale.md says of parallel plans, partitions, foreign tables and shards is
# so, in plans and in results.  The other servers are databases of this one, one of
# them with another encoding.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use Documents qw(code);
use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
max_parallel_workers_per_gather = 2
parallel_setup_cost = 0
parallel_tuple_cost = 0
min_parallel_table_scan_size = 0
));
$node->start;
my $test = LiveTest->new($node);
$test->install;

sub section { return code('doc/scale.md', 'sql', @_); }
sub plan_of { return $test->sql('EXPLAIN (VERBOSE, COSTS OFF) ' . ($_[0] =~ s/;\s*\z//r)) }

# Processes and partitions: the same filter, whoever makes it of what.
my $sized = "bf_agg(title, 100000, 0.001)";
$test->sql(q(
	CREATE TABLE parts (region text, title text) PARTITION BY LIST (region);
	CREATE TABLE parts_n PARTITION OF parts FOR VALUES IN ('n'); CREATE TABLE parts_s PARTITION OF parts FOR VALUES IN ('s');
	INSERT INTO parts SELECT CASE WHEN i < 30000 THEN 'n' ELSE 's' END, 'title ' || i FROM generate_series(1, 60000) i;
	ANALYZE parts;));
my $serial = $test->sql("SET max_parallel_workers_per_gather = 0; SELECT md5(bf_export($sized)) FROM parts");
like(plan_of("SELECT $sized FROM parts"), qr/^Finalize Aggregate.*Gather.*Partial Aggregate.*Parallel Append/s, 'a partitioned table, in parallel');
$test->is_sql('is the same filter', "SELECT md5(bf_export($sized)) FROM parts", $serial);
like(plan_of('SELECT bf_agg(title) FROM parts'), qr/^Aggregate.*Gather.*Parallel Append/s, 'bf_agg(ELEM): only the scan is parallel');
$node->append_conf('postgresql.conf', 'enable_partitionwise_aggregate = on');
$node->reload;
like(plan_of("SELECT $sized FROM parts"), qr/^Finalize Aggregate.*Append(?:.*Partial Aggregate.*Seq Scan on public\.parts_[ns]){2}/s,
	'partition-wise: a state for each partition');
$test->is_sql('is the same filter, too', "SELECT md5(bf_export($sized)) FROM parts", $serial);
like(plan_of('SELECT region, bf_agg(title) FROM parts GROUP BY region'), qr/Parallel Append.*Aggregate.*Seq Scan on public.parts_/s,
	'bf_agg(ELEM) by the key of partitions: a partition a process');

# Shards.
my ($shards, $one, $many) = section('Over a billion elements');
$test->sql($shards);
$test->is_sql('shards: one element', $one . $one =~ s/Title 1'/Absent'/gr, 't; f');

# Foreign tables.
my $has_fdw = $test->sql(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'));
SKIP:
{
	skip 'no postgres_fdw', 1 if !$has_fdw;

	my ($host, $port) = ($node->host, $node->port);
	my ($there, $definitions, $union, $where, $view) = section('Foreign tables (postgres_fdw)');
	my @there = ([ 'east', 'UTF8', 1000000 ], [ 'west', 'LATIN1', 2000000 ]);
	foreach (@there)
	{
		my ($name, $encoding, $first) = @$_;
		$test->sql("CREATE DATABASE $name ENCODING $encoding TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
		$node->safe_psql($name, qq(
			CREATE EXTENSION bloomext;
			CREATE TABLE articles (id bigint, title text, written timestamptz);
			INSERT INTO articles SELECT $first + i, '$name ' || chr(233) || ' ' || i, timestamptz '2026-01-01 UTC' + i * interval '1 hour'
			FROM generate_series(1, 2000) i;
			CREATE INDEX ON articles USING bloomfilter (title) WITH (expected = 10000);
			ANALYZE));
	}
	$test->sql($definitions =~ s/^CREATE EXTENSION IF NOT EXISTS bloomext;//r . 'ANALYZE articles_here');

	like(plan_of('SELECT bf_agg(title, 3000000, 0.0001) FROM articles_east'),
		qr/^Foreign Scan.*Remote SQL: SELECT public\.bf_agg\(title, 3000000::bigint, /s, 'bf_agg over a foreign table is made there');
	like(plan_of('SELECT bf_shard(title, 4), bf_agg(title, 250000, 0.01) FROM articles_east GROUP BY 1'),
		qr/^Foreign Scan.*Remote SQL: SELECT public\.bf_shard\(title, 4\), public\.bf_agg\(.* GROUP BY 1$/s, 'by shards, too');
	like(plan_of('SELECT bf_agg(title) FROM articles_east'), qr/^Foreign Scan.*Remote SQL: SELECT public\.bf_agg\(title\) FROM/s, 'bf_agg(ELEM), too');
	like(plan_of('SELECT bf_agg(title, 3000000, 0.0001) FROM articles'), qr/^Finalize Aggregate.*Remote SQL: SELECT title FROM/s,
		'over a partitioned table rows come here');
	my $async = $test->sql('SHOW server_version_num') < 150000 ? '' : 'Async ';
	like(plan_of($union =~ s/^INSERT INTO filters//r), qr/(${async}Foreign Scan.*SELECT public\.bf_agg\(.*){2}/s, 'unless the partitions are named');
	$test->sql($union);
	$test->is_sql('which makes the same filter, whatever the encoding there', q(
		SELECT bf_agg(title, 3000000, 0.0001) = (SELECT f FROM filters), count(*) FROM articles WHERE bf_contains((SELECT f FROM filters), title)), 't|6000');

	like(plan_of($where), qr/^Foreign Scan.*Remote SQL: SELECT count\(\*\) FROM public\.articles WHERE \(public\.bf_contains\(\$1::/s,
		'a filter of a subquery goes there as a parameter');
	$test->is_sql('and lets pass what it holds', $where, '2000');
	$test->is_sql("and $_ does, written here", "SELECT count(*) FROM $_ WHERE bf_contains(bf_create(1000, 0.0001) + 'west \xc3\xa9 7'::text, title)", $_ eq 'articles_west' ? '1' : '0')
	  foreach 'articles_east', 'articles_west';
	my $constant = $test->sql(q(SELECT bf_create(10) + 'x'::text));
	like(plan_of(qq(SELECT count(*) FROM articles_east WHERE title <@ '$constant'::bloomfilter)),
		qr/Remote SQL: SELECT count\(\*\) FROM public\.articles WHERE \(\(title OPERATOR\(public\.<@\) E'/s, 'a constant is part of the text');
	like(plan_of('SELECT count(*) FROM articles_east JOIN filters ON bf_contains(f, title)'), qr/Join Filter: bf_contains.*Remote SQL: SELECT title FROM/s,
		'in a join rows come here');

	# What depends on settings is computed here; instants do not.
	$test->sql(q(CREATE FOREIGN TABLE dated (id bigint, title text, written timestamptz) SERVER east OPTIONS (table_name 'articles')));
	like(plan_of('SELECT count(*) FROM dated WHERE bf_contains((SELECT f FROM filters), written::text)'), qr/Remote SQL: SELECT written FROM/s,
		'a cast that depends on settings');
	like(plan_of('SELECT bf_agg(lower(title), 1000) FROM dated'), qr/Remote SQL: SELECT public\.bf_agg\(lower\(title\), /s, 'lower() is computed there');
	$test->is_sql('the instants of another time zone', q(SET timezone = 'Asia/Kathmandu';
		SELECT count(*) FROM dated, (SELECT bf_agg(written, 10000, 0.0001) AS f FROM dated) AS made
		WHERE bf_contains(f, timestamptz '2026-01-01 UTC' + (id - 1000000) * interval '1 hour')), '2000');

	# A column that is declared otherwise here than it is there.
	$node->safe_psql('east', q(CREATE TABLE padded (title char(5)); INSERT INTO padded VALUES ('abc')));
	$test->sql(q(CREATE FOREIGN TABLE padded (title text) SERVER east));
	$test->is_sql('elements are of the type where they are computed', q(
		SELECT bf_contains(bf_agg(title, 10, 0.0001), 'abc') FROM padded; SELECT bf_contains((SELECT bf_agg(title, 10, 0.0001) FROM padded), title) FROM padded),
		't; t');

	# An error, never another answer, where the other server has no bloomext.
	$test->sql('CREATE DATABASE bare');
	$node->safe_psql('bare', q(CREATE TABLE articles AS SELECT 1 AS id, 'title'::text AS title));
	$test->sql(qq(
		CREATE SERVER bare FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'bare', extensions 'bloomext');
		CREATE USER MAPPING FOR CURRENT_USER SERVER bare;
		CREATE FOREIGN TABLE articles_bare (id bigint, title text) SERVER bare OPTIONS (table_name 'articles')));
	$test->fails('no bloomext there', 'SELECT bf_agg(title, 100) FROM articles_bare', '3F000|42704|42883');
	$test->is_sql('and no need of it where nothing says so', q(ALTER SERVER bare OPTIONS (DROP extensions);
		SELECT bf_contains(bf_agg(title, 100), 'title') FROM articles_bare), 't');

	# Live filters.
	$test->sql('CREATE INDEX ON articles USING bloomfilter (title) WITH (expected = 10000)');
	$test->is_sql('a live filter of partitions that are elsewhere, too', q(
		SELECT count(*) FILTER (WHERE NOT bf_live_contains('articles', title)), certainty('articles'), certainty('articles_here') FROM articles), '0|maybe|sure');
	$test->fails('a foreign table itself', q(SELECT bf_live_contains('articles_east', 'x')), '42809');
	like(plan_of(q(SELECT count(*) FROM articles_east WHERE NOT bf_live_contains('articles_here', title))), qr/Remote SQL: SELECT title FROM/,
		'a live filter is asked here');
	$node->safe_psql('east', $there =~ /^(CREATE VIEW .*)/m);
	$test->sql($view);
	$test->is_sql('the value of a live filter there holds the rows there', q(
		SELECT count(*) FROM dated WHERE bf_contains((SELECT f FROM filters WHERE name = 'east'), title)), '2000');
}

$node->stop;
done_testing();
