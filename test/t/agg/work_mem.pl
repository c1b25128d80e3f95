# Memory: bf_agg without a size stays within work_mem, with temporary files
# that go again; a group's state grows with what is in it, not with its size.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs /proc' unless -r '/proc/self/status';

my $node = PostgreSQL::Test::Cluster->new('memory');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\nlog_temp_files = 0\nmax_parallel_workers_per_gather = 0\njit = off\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');

# The most memory of its own (not shared buffers) a backend has had, in
# megabytes; the first query of the session is the base line.
my $peak = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024;};

sub growth
{
	my ($sql) = @_;
	my @lines = split /\n/, $node->safe_psql('postgres', "SELECT bf_contains(bf_agg(i), 1) FROM generate_series(1, 100) i;\n$peak\n$sql;\n$peak");
	return ($lines[3] - $lines[1], $lines[2]);
}

sub temporary_files
{
	my $dir = $node->data_dir . '/base/pgsql_tmp';
	return 0 unless -d $dir;
	opendir my $handle, $dir or die $!;
	return scalar grep { !/^\./ } readdir $handle;
}

# 3 million hashes take 48 MB; the filter 2.7 MB.
my ($grown, $result) = growth(q{SET work_mem = '1MB';
	SELECT f = (SELECT bf_agg(i, n) FROM generate_series(1, 3000000) i)
	FROM (SELECT bf_agg(i) AS f FROM generate_series(1, 3000000) i) s, LATERAL (SELECT (bf_info(f)).expected AS n OFFSET 0) e});
is($result, 't', 'spilled: the filter is right');
cmp_ok($grown, '<', 30, 'spilled: memory stays near work_mem');
like(slurp_file($node->logfile), qr/temporary file: path "[^"]*pgsql_tmp[^"]*"/, 'temporary files were used');
is(temporary_files(), 0, 'and are gone');

# Digests of probes take no more than one probe's.
($grown, $result) = growth(q{SELECT bf_measure_fpp(bf_create(10, 0.1, 'magnuss'), 100000)});
is($result, '0', 'an empty filter says no');
cmp_ok($grown, '<', 30, 'probes: memory of one');

# The same within work_mem.
($grown, $result) = growth(q{SET work_mem = '256MB'; SELECT bf_agg(i) = bf_agg(i, 1000000) FROM (SELECT i FROM generate_series(1, 2000000) j, LATERAL (SELECT j / 2 + 1 AS i) k WHERE i <= 1000000) s});
is($result, 't', 'in memory: the filter is right');

# An error half-way, or a cursor given up, leaves no file behind.
$node->psql('postgres', q{SET work_mem = '64kB';
	BEGIN;
	SELECT bf_agg(CASE WHEN i < 499999 THEN i ELSE 1 / (i - i) END) FROM (SELECT (random() * 1e9)::int * 0 + row_number() OVER () AS i FROM generate_series(1, 500000)) s;
	ROLLBACK;});
is(temporary_files(), 0, 'no file after an error');
is( $node->safe_psql('postgres', q{SET work_mem = '64kB';
		BEGIN;
		DECLARE c CURSOR FOR SELECT g, bf_agg(i) OVER (PARTITION BY g) FROM (SELECT i % 3 AS g, i FROM generate_series(1, 100000) i) s;
		MOVE 1 FROM c;
		CLOSE c;
		COMMIT;
		SELECT 'ok'}),
	'ok', 'a cursor given up');
is(temporary_files(), 0, 'no file after that');

# 2,000 groups of three elements in filters of 0.9 MB each.
($grown, $result) = growth(q{SELECT count(*) || ' ' || bool_and(f @> 1) FROM (SELECT g, bf_agg(e, 1000000) AS f FROM generate_series(1, 2000) g, generate_series(1, 3) e GROUP BY g) s});
is($result, '2000 true', 'groups: the filters are right');
cmp_ok($grown, '<', 100, 'groups: states are as large as their contents');

# 100,000 groups, sized and not.
($grown, $result) = growth(q{SET work_mem = '64MB'; SELECT count(*) || ' ' || bool_and(f @> e) FROM (SELECT g, bf_agg(e, 1000) AS f, min(e) AS e FROM generate_series(1, 100000) g, generate_series(1, 2) e GROUP BY g) s});
is($result, '100000 true', '100,000 groups: the filters are right');
cmp_ok($grown, '<', 250, '100,000 groups: memory');
($grown, $result) = growth(q{SET work_mem = '64MB'; SELECT count(*) || ' ' || bool_and(f @> e) FROM (SELECT g, bf_agg(e) AS f, min(e) AS e FROM generate_series(1, 100000) g, generate_series(1, 2) e GROUP BY g) s});
is($result, '100000 true', '100,000 groups unsized: the filters are right');
cmp_ok($grown, '<', 250, '100,000 groups unsized: memory');

# Nothing is leaked by one call after another.
($grown, $result) = growth(q{SELECT count(*) FROM generate_series(1, 2000) i, LATERAL (SELECT bf_add(bf_create(1000000 + i % 2), i) AS f OFFSET 0) f WHERE f @> i});
is($result, '2000', 'calls: no element is lost');
cmp_ok($grown, '<', 50, 'calls: no leak');

# Arrays are gone through piece by piece: at most 4 times the 8 MB that this one
# has, and 16 MB, whatever is done with it.
$node->safe_psql('postgres', q{
	CREATE TABLE arrays AS SELECT array_agg((i % 30000)::smallint) AS a FROM generate_series(1, 4000000) i;
	CREATE TABLE live (i smallint);
	INSERT INTO live SELECT generate_series(0, 29999);
	CREATE INDEX ON live USING bloomfilter (i);
	CREATE TABLE filters AS SELECT bf_agg(i, 30000, 0.01) AS f FROM live;});
for my $query (
	'SELECT bf_contains_all(f, a) FROM filters, arrays',
	'SELECT true = ALL (bf_contains_each(f, a)) FROM filters, arrays',
	'SELECT bf_add_all(f, a) = f FROM filters, arrays',
	'SELECT bf_count(bf_add_all(bf_create(100000), a)) > 0 FROM arrays',
	q{SELECT bf_live_contains_all('live', a) FROM arrays},
	q{SELECT true = ALL (bf_live_contains_each('live', a)) FROM arrays})
{
	($grown, $result) = growth($query);
	is($result, 't', $query);
	cmp_ok($grown, '<', 4 * 8 + 16, 'within bounds');
}

$node->stop;
done_testing();
