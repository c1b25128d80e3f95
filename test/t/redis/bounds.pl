# What users, servers and clusters can make a session keep is bounded.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisTest;

my ($redis, $node) = start_servers('jit = off');

# The MB by which a session's memory grows with a query, after another one.
sub growth
{
	my ($first, $query) = @_;
	return (split /\n/, sql("DO \$\$ BEGIN PERFORM $first; END \$\$;
		SELECT peak() AS before \\gset
		DO \$\$ BEGIN PERFORM $query; END \$\$;
		SELECT peak() - :before"))[-1];
}

# Keys: bytes count, not characters.
is(session("SELECT bf_redis_create('cache', repeat('k', 1024), 100, expansion => 1), bf_redis_add('cache', repeat('k', 1024), 'x');
			SELECT bf_redis_contains('cache', repeat('k', 1024), 'x'), bf_redis_drop('cache', repeat('k', 1024))"),
	't|t t|t', 'a key of 1,024 bytes');
for my $key ("repeat('k', 1025)", "repeat('é', 513)", "''")
{
	for my $call ("bf_redis_create('cache', KEY, 10)", "bf_redis_contains('cache', KEY, 'x')", "bf_redis_add_each('cache', KEY, ARRAY['x'])",
		"bf_redis_info('cache', KEY)", "bf_redis_drop('cache', KEY)", "bf_fetch('cache', KEY)", "bf_mirror(bf_create(10), 'cache', KEY)",
		"bf_fetch('cache', KEY, 'bitmap', 10, 0.1, 'magnuss')")
	{
		is(session("SELECT " . $call =~ s/KEY/$key/r), '22023', "$call: $key");
	}
}
my $grown = growth("bf_redis_create('cache', 'key', 10)", "bf_redis_contains('cache', repeat('k', 20000000), 'x'); EXCEPTION WHEN OTHERS THEN NULL");
takes_below($grown, 64, "a key of 20 MB takes $grown MB");

# Many shards of many layers, as whoever writes to Redis can make them, with as many strings
# or fewer.
my $layers = 1024;
sub deepen
{
	my ($shards, $strings) = @_;
	$redis->cli('EVAL', qq{
		redis.call('HSET', '{deep}:bloomext-shards', 'layout', 'growing', 'shards', '$shards')
		for i = 0, $shards - 1 do
			local key = 'deep:' .. i
			redis.call('HSET', key .. '-config', 'bits', '64', 'hashes', '1', 'strategy', 'guava', 'funnel', '', 'expected', '', 'fpp', '', 'expansion', '1')
			redis.call('SET', key .. '-cursor', $layers - 1)
			for j = 0, $strings - 1 do redis.call('SET', key .. '-' .. j, '12345678') end
		end}, 0);
	return $shards;
}
my $shards = deepen(24, $layers);
is(sql("SELECT shards, layers, bits, bytes FROM bf_redis_info('cache', 'deep')"),
	"$shards|$layers|" . $shards * $layers * 64 . '|' . $shards * $layers * 8, 'many layers are counted');
$grown = growth("bf_redis_info('cache', 'key')", "bf_redis_info('cache', 'deep')");
takes_below($grown, 16, "and take $grown MB");
deepen(1024, 2);
$grown = growth("bf_redis_info('cache', 'key')", "bf_redis_drop('cache', 'deep')");
takes_below($grown, 16, "to drop them takes $grown MB");
is($redis->cli('KEYS', '*deep*'), '', 'and none is left');

# A filter of many layers and many elements: keys are not kept.
sql("SELECT bf_redis_create('cache', repeat('g', 1000), 1000, 0.01, expansion => 1);
	 SELECT bf_redis_add_each('cache', repeat('g', 1000), array_agg(i::text)) FROM generate_series(1, 50000) i;
	 CREATE TABLE known AS SELECT array_agg(i::text) AS a FROM generate_series(1, 10000) i;");
cmp_ok(sql("SELECT layers FROM bf_redis_info('cache', repeat('g', 1000))"), '>', 30, 'a filter has grown');
for my $function ('bf_redis_contains_each', 'bf_redis_add_each')
{
	is(sql("SELECT count(*) FROM known, unnest($function('cache', repeat('g', 1000), a)) f WHERE f"),
		$function eq 'bf_redis_add_each' ? 0 : 10000, "$function: all are there");
	$grown = growth("$function('cache', 'key', ARRAY['x'])", "$function('cache', repeat('g', 1000), a) FROM known");
	takes_below($grown, 24, "$function: $grown MB");
}

# A cluster that names a node after another, each by a name of its own.
my $named = 0;
my $liar = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	return FaultServer::ok() if $name eq 'PING' || $name eq 'ASKING';
	my ($port, $kind) = $arguments[2] =~ /^(\d+)(MOVED|ASK)/ or return FaultServer::error('ERR what');
	$named++;
	return FaultServer::error("$kind 1 127.0.0.1:" . '0' x ($named % 200) . $port) if $named % 400 < 200;
	return FaultServer::error("$kind 1 127.1:" . '0' x ($named % 200) . $port);
});
sql("CREATE SERVER liar FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$liar->{port}', cluster 'true');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER liar;
	 CREATE FUNCTION entries() RETURNS bigint LANGUAGE sql AS
		 \$\$ SELECT used_bytes FROM pg_backend_memory_contexts WHERE name = 'bloomext Redis connections' \$\$;
	 CREATE FUNCTION sockets() RETURNS bigint LANGUAGE sql AS \$\$ SELECT count(*) FROM pg_ls_dir('/proc/self/fd') \$\$;
	 CREATE FUNCTION lead(first int, kind text, port int) RETURNS text LANGUAGE plpgsql AS \$\$
	 DECLARE
		 states text[];
	 BEGIN
		 FOR i IN first .. first + 29 LOOP
			 BEGIN
				 PERFORM bf_redis_contains('liar', port || kind || i, 'x');
			 EXCEPTION WHEN OTHERS THEN
				 states := states || SQLSTATE::text;
			 END;
		 END LOOP;
		 RETURN (SELECT string_agg(DISTINCT s, ',') FROM unnest(states) s);
	 END \$\$;");
for my $kind ('MOVED', 'ASK')
{
	my $followed = session("SELECT sockets() AS before \\gset
		SELECT lead(1, '$kind', $liar->{port});
		SELECT sockets() - :before < 80;
		SELECT entries() < 150000;
		SELECT lead(100, '$kind', 1);
		SELECT entries() < 150000;
		SELECT bf_redis_contains('cache', 'key', 'x')");
	is($followed, '38000 t t 08001 t t', "$kind to 400 nodes, and to many that are not there");
}

$node->stop;
done_testing();
