# A live filter mirrored to Redis, from the primary and from a standby.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisServer;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new;
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE TABLE articles (title text);
	CREATE INDEX articles_live ON articles USING bloomfilter (title) WITH (expected = 10000, fpp = 0.001);
	INSERT INTO articles SELECT 'Title ' || i FROM generate_series(1, 5000) AS i;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

my $same = q{SELECT bf_export(bf_fetch('cache', '%s')) = bf_export(bf_live_filter('articles'))};
my $missing = q{SELECT count(*) FROM articles, bf_redis_contains('cache', '%s', title) AS found WHERE NOT found};

is( $primary->safe_psql('postgres', q{SELECT bf_live_mirror('articles', 'cache', 'live') = octet_length(bf_export(bf_live_filter('articles')))}),
	't', 'the whole filter is sent');
is($primary->safe_psql('postgres', sprintf($same, 'live')), 't', 'and is there');

$primary->safe_psql('postgres', q{INSERT INTO articles SELECT 'Later ' || i FROM generate_series(1, 3000) AS i});
isnt($primary->safe_psql('postgres', sprintf($missing, 'live')), '0', 'what came later is not in the mirror');
$primary->safe_psql('postgres', q{SELECT bf_live_mirror('articles', 'cache', 'live', ttl => '1 hour')});
is($primary->safe_psql('postgres', sprintf($missing, 'live')), '0', 'until it is mirrored again');

$primary->wait_for_catchup($standby, 'replay');
$standby->safe_psql('postgres', q{SELECT bf_live_mirror('articles_live', 'cache', 'standby', 'guava')});
is($standby->safe_psql('postgres', sprintf($missing, 'standby')), '0', 'a standby mirrors it too');
is($primary->safe_psql('postgres', sprintf($same, 'standby')), 't', 'to the same bytes');

$standby->stop;
$primary->stop;
done_testing();
