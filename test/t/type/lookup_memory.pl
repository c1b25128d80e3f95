# Memory of lookups in many stored filters: what is kept of them stays within
# that of a hash table, however many there are; and within that, it is kept.
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

my $node = PostgreSQL::Test::Cluster->new('probe');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 1MB\nhash_mem_multiplier = 2\nmax_parallel_workers_per_gather = 0\njit = off\n");
$node->start;

# 10,000 filters of 20 kB, and four of 12 MB.
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomext;
	CREATE TABLE tenants AS SELECT i AS id, bf_create(16000, 0.01) + ('own' || i) AS f FROM generate_series(1, 10000) i;
	CREATE TABLE shards AS SELECT i AS id, bf_create(10000000, 0.01) + ('own' || i) AS f FROM generate_series(1, 4) i;
	ANALYZE});

# The most memory of its own (not shared buffers) a backend has had, in
# megabytes; the first query of the session is the base line.
my $peak = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024;};

sub growth
{
	my ($work_mem, $sql) = @_;
	my @lines = split /\n/, $node->safe_psql('postgres', "SELECT count(*) FROM tenants WHERE id > 10 AND f IS NULL;\n$peak\nSET work_mem = '$work_mem';\n$sql;\n$peak");
	note("$work_mem: grown by " . ($lines[3] - $lines[1]) . " MB");
	return ($lines[3] - $lines[1], $lines[2]);
}

# Each filter is asked until it is loaded, and then by the next row.
my $tenants = q{SELECT count(*) FROM tenants WHERE f @> ('own' || id) AND f @> ('own' || id) AND bf_contains_all(f, ARRAY['own' || id, 'own' || id])};
my ($grown, $found) = growth('1MB', $tenants);
is($found, 10000, 'tenants: none is lost');
cmp_ok($grown, '<', 20, 'tenants: within the memory of hash tables');
($grown) = growth('256MB', $tenants);
cmp_ok($grown, '>', 150, 'tenants: more where that is allowed');

# Filters larger than that: one at a time.
my $shards = q{SELECT count(*) FROM (SELECT f, id FROM generate_series(1, 8000) n, shards ORDER BY n, id OFFSET 0) s WHERE f @> ('own' || id)};
($grown, $found) = growth('1MB', $shards);
is($found, 32000, 'shards: none is lost');
cmp_ok($grown, '<', 25, 'shards: one at a time');
($grown) = growth('32MB', $shards);
cmp_ok($grown, '>', 40, 'shards: all where that is allowed');

$node->stop;
done_testing();
