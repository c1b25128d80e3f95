# What versions put into Redis, as test/upgrade has it: it is answered as it was, takes
# more, and what is made of the same elements today is the same.  bloomext.lua answers it,
# too.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisTest qw(start_postgres);
use UpgradeRedis;
use UpgradeTest;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;
my $node = start_postgres("autovacuum = off\nfsync = off\n");
my $library = slurp_file("$FindBin::RealBin/../../../src/redis/function/bloomext.lua") =~ s/\A[^\n]*\n//r;
my @versions = UpgradeTest->versions;

foreach my $version (@versions)
{
	my $test = UpgradeRedis->new($node, 'kept_' . $version =~ s/\W/_/gr, $version);
	is(join("\n", $test->lacking), '', "$version: something is kept of each layout") if $version eq $versions[-1];
	is_same(without_ids($test->keys_now), without_ids($test->keys_kept), "$version: the same is made today");
	is($test->put_more, '', "$version: that takes more");
	my $more = without_ids($test->keys_now);

	$test->restore;
	is_same($test->answers, $test->kept_answers, "$version: what was kept answers as it did");

	# doc/redis-readers.md: which filters it asks.
	my ($wrong, $asked) = ('', 0);
	foreach (split /\n/, $test->sql(q(
		SELECT key, asked(key, element, 1000) FROM remote
		WHERE element = '''标题 '' || i' AND n > 0 AND outcome(format('(SELECT shards = 1 AND (strategy IN (''guava'', ''guava32'') OR strategy = ''parquet'' AND expansion < 2)
			FROM bf_redis_info(''redis'', %L))', key), element, 1) = 'true')))
	{
		my ($key, $answers) = split /\|/;
		my $said = eval { join '', @{ $test->command('EVAL', $library, 1, $key, 'bloomext_contains', map { "标题 $_" } 1 .. 1000) } } // $@;
		$wrong .= "$key: $said\n" if $said ne $answers;
		$asked++;
	}
	is($wrong, '', "$version: bloomext.lua answers as SQL does");
	cmp_ok($asked, '>', 20, "$version: of $asked filters");

	is($test->put_more, '', "$version: what was kept takes more");
	is_same(without_ids($test->keys_now), $more, "$version: which is as if it had been made today");
}

$node->stop;
done_testing();
