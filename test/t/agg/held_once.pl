# Memory: an aggregate holds its filter once, from the first row until the result
# is used; and what unites stored filters holds the result alone.
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

my $node = PostgreSQL::Test::Cluster->new('aggregates');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\nmax_parallel_workers_per_gather = 0\njit = off\n");
$node->start;

# Two of 60 MB, stored.
my ($elements, $megabytes) = (50_000_000, 57);
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomext;
	CREATE TABLE filters AS
	SELECT g, bf_agg(i, $elements, 0.01) AS f FROM generate_series(1, 2) g, generate_series(g, 20000, 2) i GROUP BY g;});

# How many times the size of one such filter a query takes at its peak, beyond
# what the session had before, and the server's buffers; and its answer.
sub filters_held
{
	my ($sql) = @_;
	my $memory = q{SELECT substring(pg_read_file('/proc/self/status') FROM '%s:\s+(\d+)')::int / 1024.0;};
	my ($before, $answer, $after) = split /\n/, $node->safe_psql('postgres',
		sprintf("LOAD 'bloomext'; $memory %s; $memory", 'VmHWM', $sql, 'VmHWM'));
	return (($after - $before - 16) / $megabytes, $answer);
}

sub holds
{
	my ($sql, $answer, $most) = @_;
	my ($held, $got) = filters_held($sql);
	is($got, $answer, $sql);
	cmp_ok($held, '<', $most, "peak: $most filters");
	return;
}

my $rows = 'FROM generate_series(1, 20000) i';
holds("SELECT bf_agg(i, $elements, 0.01) @> 1 $rows", 't', 1.2);
holds("SELECT bf_agg_into(bf_create_bits(8 * 1024 * 1024 * $megabytes, 7), i) @> 1 $rows", 't', 2.2);

# One group after the other, three in all.
holds("SET enable_hashagg = off; SELECT count(*) FROM (SELECT i % 3, bf_agg(i, $elements, 0.01) AS f $rows GROUP BY 1) s WHERE f @> 3", '1', 1.2);

# Another row's is read by pieces.
holds('SELECT bf_union_agg(f) IS NULL FROM filters', 'f', 1.2);
holds('SELECT bf_intersection_agg(f) IS NULL FROM filters', 'f', 1.2);
holds('SELECT bf_union(a.f, b.f) IS NULL FROM filters a, filters b WHERE a.g < b.g', 'f', 1.2);
holds('SELECT bf_intersection(a.f, b.f) IS NULL FROM filters a, filters b WHERE a.g < b.g', 'f', 1.2);

# Merged by pieces or whole, they are the same.
is( $node->safe_psql('postgres', q{
		SELECT bf_contains_all(f, ARRAY(SELECT generate_series(1, 20000))), f = (SELECT bf_union_agg(f) FROM filters),
		       f = (SELECT bf_agg(i, 50000000, 0.01) FROM generate_series(1, 20000) i)
		FROM (SELECT bf_union(a.f, b.f) AS f FROM filters a, filters b WHERE a.g < b.g) s}),
	't|t|t', 'the union is right');
is( $node->safe_psql('postgres', q{
		SELECT bf_count(bf_intersection(a.f, b.f)) < 100, bf_intersection(a.f, a.f) = a.f FROM filters a, filters b WHERE a.g < b.g}),
	't|t', 'the intersection is right');

$node->stop;
done_testing();
