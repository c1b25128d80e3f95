# A full Redis (maxmemory, noeviction) is asked like any other, in every layout,
# and refuses what is added without harm.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;

use RedisServer;
use RedisTest qw(start_postgres sql session);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $module = $ENV{BLOOMEXT_REDISBLOOM};
my $redis = RedisServer->new(options => [ $module ? ('--loadmodule', $module) : () ]);
my $node = start_postgres();
sql("CREATE EXTENSION bloomext;
	 CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER cache");

# Layout, strategy, expected elements, expansion.
my @layouts = ([ 'guava', 'guava', 4000, 0 ], [ 'growing', 'guava', 700, 1 ], [ 'redisson', 'redisson', 4000, 0 ],
	[ 'bitmap', 'magnuss', 4000, 0 ], $module ? [ 'redisbloom', 'redisbloom', 700, 1 ] : ());
my $titles = "ARRAY(SELECT 'Title ' || i FROM generate_series(1, 4000) AS i)";

# Half of the titles in a filter.
sub half
{
	my ($strategy, $expected, $expansion) = @_;
	return "(SELECT bf_agg('Title ' || i, $expected, 0.01::float8, '$strategy', $expansion) FROM generate_series(1, 2000) AS i)";
}

for (@layouts)
{
	my ($layout, @filter) = @$_;
	sql("SELECT bf_mirror(@{[half(@filter)]}, 'cache', '$layout', '$layout')");
}
sql("SELECT bf_redis_create('cache', 'shards', 4000, layout => 'guava;shards=2');
	 SELECT bf_redis_add_each('cache', 'shards', $titles)");
is($redis->cli('CONFIG', 'SET', 'maxmemory', 1), 'OK', 'Redis is full');
like($redis->cli('SET', 'x', 'x'), qr/^OOM/, 'indeed');

for (@layouts)
{
	my ($layout, @filter) = @$_;
	my $half = half(@filter);
	is(session("SELECT bf_redis_contains('cache', '$layout', 'Title 1')"), 't', "$layout: answers one");
	is( session("SELECT bool_and(found) FILTER (WHERE i <= 2000), count(*) FILTER (WHERE i > 2000 AND found) < 200
			FROM unnest(bf_redis_contains_each('cache', '$layout', $titles)) WITH ORDINALITY AS t (found, i)"),
		't|t', "$layout: and many");
	is(session("SELECT bf_fetch('cache', '$layout') = $half"), 't', "$layout: is fetched");
	is( session("SELECT layout, layers > 1 FROM bf_redis_info('cache', '$layout')"),
		"$layout|" . ($filter[2] > 0 ? 't' : 'f'), "$layout: tells of itself");
	is(session("SELECT bf_redis_add('cache', '$layout', 'Title 5000')"), '38R01', "$layout: refuses an element");
	is(session("SELECT bf_redis_add_each('cache', '$layout', $titles)"), '38R01', "$layout: and many");
	is(session("SELECT bf_mirror($half, 'cache', '$layout', '$layout')"), '38R01', "$layout: and a mirror");
	is(session("SELECT bf_fetch('cache', '$layout') = $half"), 't', "$layout: is as it was");
}
is(session("SELECT bool_and(found) FROM unnest(bf_redis_contains_each('cache', 'shards', $titles)) AS found"), 't', 'shards answer');
is(session("SELECT shards FROM bf_redis_info('cache', 'shards')"), '2', 'and tell of themselves');
is(session("SELECT bf_redis_drop('cache', '$_')"), 't', "$_: makes room") for map({ $_->[0] } @layouts), 'shards';

$node->stop;
done_testing();
