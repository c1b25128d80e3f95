# A mirror that is interrupted after a part of it has arrived: the server is
# killed or stopped, or the backend is killed.  The old mirror is as it was, also
# after a restart of Redis, and the next call works.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use RedisRelay;
use RedisServer;
use RedisTest qw(start_postgres sql);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new(options => [ '--appendonly', 'yes', '--appendfsync', 'always' ]);
my $node = start_postgres("restart_after_crash = on\nbloomext.overfull_notice = off\n");

sub server
{
	my ($name, $socket) = @_;
	sql("DROP SERVER IF EXISTS $name CASCADE;
		 CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$socket', command_timeout '1500');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

# Mirror a large filter by a session of its own, which asks for an element of the
# old one after that; comes back when Redis has 10 MB of it.
my $runs = 0;
sub start_mirror
{
	my ($filter, $key) = @_;
	my $relay = RedisRelay->new($redis, 10_000_000);
	my $out = "$PostgreSQL::Test::Utils::tmp_check/midstream" . ++$runs;
	server('relay', $relay->{socket});
	my $run = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate',
			'-c', "SELECT bf_mirror($filter, 'relay', '$key') > 0",
			'-c', "SELECT bf_redis_contains('relay', '$key', 'old')" ],
		'<', '/dev/null', '>', $out, '2>&1');
	$relay->await_held;
	return ($relay, sub { $run->finish; return slurp_file($out) });
}

# What there is but for temporary keys, which must expire.
sub contents
{
	return $redis->cli('EVAL', $RedisServer::digest . q{
		local all, result = redis.call('KEYS', '*'), {}
		table.sort(all)
		for _, key in ipairs(all) do
			if not key:find('bloomext-tmp', 1, true) then
				table.insert(result, key .. ' ' .. digest(key))
			elseif redis.call('PTTL', key) < 0 then
				table.insert(result, key .. ' does not expire')
			end
		end
		return result}, 0);
}

# A string of 24 MB; and a layer that is complete before one of 24 MB.
sql(q{
	CREATE EXTENSION bloomext;
	CREATE FUNCTION large(expansion int) RETURNS bloomfilter LANGUAGE sql AS
		$$ SELECT CASE expansion WHEN 0 THEN bf_create(20000000, 0.01) + 'new'
			ELSE bf_agg('new' || i, 1000, 0.01::float8, 'guava', expansion) + 'new' END
			FROM generate_series(1, 3000) AS i $$;
});
server('cache', $redis->{socket});

for my $layout ('guava', 'growing')
{
	my $expansion = $layout eq 'growing' ? 15000 : 0;
	my $large = "large($expansion)";
	my $small = "SELECT bf_mirror(bf_create(1000, 0.01, 'guava', 'utf8', $expansion) + 'old', 'cache', '$layout') > 0";
	sql($small);
	my $old = contents();

	my ($relay, $finish) = start_mirror($large, $layout);
	is(contents(), $old, "$layout: a part of a new filter is not there");
	cmp_ok($redis->cli('INFO', 'memory') =~ /used_memory:(\d+)/ ? $1 : 0, '>', 8_000_000, "$layout: but on the way");
	$redis->stop('KILL');
	$relay->go_on;
	is($finish->(), "ERROR:  08006\nERROR:  08001\n", "$layout: the server is killed, and gone");
	$redis->start;
	is(contents(), $old, "$layout: the old filter is there after a restart");
	is(sql("SELECT bf_redis_contains('cache', '$layout', 'old')"), 't', "$layout: and serves");

	($relay, $finish) = start_mirror($large, $layout);
	$redis->signal('STOP');
	$relay->go_on;
	sleep 0.5;
	$redis->signal('CONT');
	is($finish->(), "t\nf\n", "$layout: the server is stopped, and goes on in time");
	is(sql("SELECT bf_fetch('cache', '$layout') = $large"), 't', "$layout: all has come");
	sql("SELECT bf_redis_drop('cache', '$layout'); $small");

	($relay, $finish) = start_mirror($large, $layout);
	$redis->signal('STOP');
	$relay->go_on;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM pg_stat_activity WHERE query ~ '^SELECT bf_mirror' AND state = 'active' AND pid <> pg_backend_pid()");
	$redis->signal('CONT');
	is($finish->(), "ERROR:  57014\nt\n", "$layout: the server goes on too late");
	is(contents(), $old, "$layout: the old filter is as it was");

	($relay, $finish) = start_mirror($large, $layout);
	kill 'KILL', sql("SELECT pid FROM pg_stat_activity WHERE query ~ 'bf_mirror' AND pid <> pg_backend_pid()");
	$finish->();
	$relay->go_on;
	$node->poll_query_until('postgres', '', '') or die 'PostgreSQL does not come back';
	is(contents(), $old, "$layout: the backend is killed, and the old filter is as it was");
	is(sql("SELECT bf_redis_contains('cache', '$layout', 'old')"), 't', "$layout: and serves");
	is(sql("SELECT bf_mirror($large, 'cache', '$layout') > 0, bf_redis_contains('cache', '$layout', 'new')"),
		't|t', "$layout: until a new one takes its place");
	sql("SELECT bf_redis_drop('cache', '$layout')");
}

$node->stop;
done_testing();
