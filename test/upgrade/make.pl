# Keep what a version stores, before it is released, for later ones to read:
# answers, values, indexes and keys of Redis in the folder test/upgrade/VERSION, by the
# scripts that are there.  PostgreSQL 15, so that all versions of it that are supported
# can read the files of indexes, and any Redis.
#
# What it keeps is the same each time, except for the ids in Redis of windows of time and
# of filters in shards, which are random.
#
#	make installcheck REGRESS= ISOLATION= PROVE_TESTS=test/upgrade/make.pl BLOOMEXT_KEEP=VERSION
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use PostgreSQL::Test::Cluster;

use UpgradeRedis;
use UpgradeTest;

my $version = $ENV{BLOOMEXT_KEEP} or die 'BLOOMEXT_KEEP names no version';
my $node = PostgreSQL::Test::Cluster->new('kept');
$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
my $redis = UpgradeRedis->new($node, 'kept', $version);
UpgradeTest->at($node, 'kept', $version)->keep;
$redis->keep;
is($node->safe_psql('kept', q(SELECT extversion FROM pg_extension WHERE extname = 'bloomext')), $version, 'the version is installed');
$node->stop;
done_testing();
