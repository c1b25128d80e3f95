# Every function over Redis, in every layout, on a real server.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisTest qw(start_servers sql state_of);

my ($redis, $node) = start_servers();
sql("CREATE TABLE titles AS SELECT i, 'Title ' || i AS title FROM generate_series(1, 2000) AS i");

# Elements 1 to 1000 are added, 1001 to 2000 are not.
my %filters = (
	guava => ["'guava'", 'guava', 0],
	guava32 => ["'guava32'", 'guava', 0],
	redisson => ["'redisson'", 'redisson', 0],
	magnuss => ["'magnuss'", 'bitmap', 0],
	tale2009 => ["'tale2009'", 'bitmap', 0],
	cassandra => ["'cassandra'", 'bitmap', 0],
	spark1 => ["'spark1'", 'bitmap', 0],
	spark2 => ["'spark2'", 'bitmap', 0],
	bitsandblooms => ["'bitsandblooms'", 'bitmap', 0],
	parquet => ["'parquet'", 'bitmap', 0],
	'parquet:grown' => ["'parquet', 2", 'growing', 2],
	growing => ["'guava', 1", 'growing', 1],
	expanding => ["'guava', 2", 'growing', 2],
	'other:grown' => ["'redisson', 2", 'growing', 2],
	'tag{x}ged' => ["'redisson'", 'redisson', 0]);

for my $key (sort keys %filters)
{
	my ($parameters, $layout, $expansion) = @{ $filters{$key} };
	my $expected = $expansion ? 150 : 1000;
	my $filter = "bf_agg(title, $expected, 0.02::float8, $parameters)";

	cmp_ok(sql("SELECT bf_mirror($filter, 'cache', '$key') FROM titles WHERE i <= 1000"),
		'>', 0, "$key: mirrored");
	is(sql("SELECT layout FROM bf_redis_info('cache', '$key')"), $layout, "$key: layout");
	is( sql("SELECT bf_fetch('cache', '$key') = $filter FROM titles WHERE i <= 1000"),
		't', "$key: fetched as it was mirrored");
	is( sql("WITH f AS (SELECT $filter AS f FROM titles WHERE i <= 1000)
			SELECT count(*) FROM titles, f
			WHERE bf_redis_contains('cache', '$key', title) <> bf_contains(f, title)"),
		'0', "$key: one by one as in PostgreSQL");
	is( sql("WITH f AS (SELECT $filter AS f FROM titles WHERE i <= 1000)
			SELECT bf_redis_contains_each('cache', '$key', array_agg(title ORDER BY i)) =
				   array_agg(bf_contains((SELECT f FROM f), title) ORDER BY i) FROM titles"),
		't', "$key: an array as in PostgreSQL");
	my $absent = sql("SELECT title FROM titles WHERE i > 1000 AND NOT bf_redis_contains('cache', '$key', title) LIMIT 1");
	my $other = sql("SELECT 'Other ' || i FROM titles WHERE NOT bf_redis_contains('cache', '$key', 'Other ' || i)
			ORDER BY i DESC LIMIT 1");
	is( sql("SELECT bf_redis_add('cache', '$key', 'Title 1'),
			bf_redis_add('cache', '$key', '$absent'), bf_redis_add('cache', '$key', '$absent'),
			bf_redis_contains('cache', '$key', '$absent')"),
		'f|t|f|t', "$key: adds, and says what is new");
	is( sql("SELECT bf_redis_contains_each('cache', '$key', ARRAY['Title 1', NULL, 'Title 1000', '$other'])"),
		'{t,NULL,t,f}', "$key: NULL for NULL");

	# What is built in Redis is what is built in PostgreSQL.
	my ($strategy) = $parameters =~ /'(\w+)'/;
	is( sql("SELECT bf_redis_create('cache', 'made:$key', $expected, 0.02, '$strategy', expansion => $expansion),
			bf_redis_create('cache', 'made:$key', $expected, 0.02, '$strategy', expansion => $expansion)"),
		't|f', "$key: created once");
	is(state_of("SELECT bf_redis_create('cache', 'made:$key', $expected + 100, 0.02, '$strategy', expansion => $expansion)"),
		'22023', "$key: not with other parameters");
	is(sql("SELECT bf_redis_contains('cache', 'made:$key', 'Title 1'), bf_redis_contains('cache', 'made:$key', '')"),
		'f|f', "$key: empty");
	my $new = sql("SELECT sum(n) FROM (SELECT (SELECT count(*) FROM unnest(bf_redis_add_each('cache', 'made:$key', array_agg(title ORDER BY i))) AS a WHERE a) AS n
			FROM titles WHERE i <= 1000 GROUP BY (i - 1) / 100) AS batches");
	cmp_ok($new, '>=', 800, "$key: $new of 1000 were new");
	my $funnel = $strategy =~ /tale2009|cassandra/ ? 'utf16' : 'utf8';
	is( sql("SELECT bf_fetch('cache', 'made:$key', NULL, '$funnel') = bf_agg(title, $expected, 0.02::float8, $parameters ORDER BY i)
			FROM titles WHERE i <= 1000"),
		't', "$key: the same as bf_agg");
	is(sql("SELECT bf_redis_drop('cache', 'made:$key'), bf_redis_drop('cache', 'made:$key')"),
		't|f', "$key: dropped once");
	is($redis->cli('EVAL', "return #redis.call('KEYS', '*made*')", 0), 0,
		"$key: nothing left of it");
	is($redis->cli('EVAL', "return #redis.call('KEYS', '*tmp*')", 0), 0,
		"$key: no temporary keys left");
}

# The guava layout, by GETBIT.
is( sql("SELECT bf_export(bf_agg(title, 1000, 0.02)) = decode('" . do {
			sql("SELECT bf_mirror(bf_agg(title, 1000, 0.02), 'cache', 'stream') FROM titles WHERE i <= 1000");
			$redis->bytes('stream');
		} . "', 'hex') FROM titles WHERE i <= 1000"),
	't', 'guava: the key is the stream that Java reads');
my @positions = split /,/, sql("SELECT array_to_string(bf_positions(bf_fetch('cache', 'stream'), 'Title 7'), ',')");
my @bits = map { $redis->cli('GETBIT', 'stream', 48 + 64 * ($_ >> 6) + 63 - ($_ & 63)) } @positions;
is("@bits", join(' ', (1) x @positions), 'guava: GETBIT finds the bits where doc/redis-readers.md says');
is($redis->cli('BITCOUNT', 'stream', 6, -1),
	sql("SELECT bits_set FROM bf_info(bf_fetch('cache', 'stream'))"), 'guava: BITCOUNT');

# Redisson's hash, text by text.
is($redis->cli('HGETALL', '{redisson}:config'),
	"size\n8142\nhashIterations\n6\nexpectedInsertions\n1000\nfalseProbability\n0.02",
	'redisson: the hash');
is($redis->cli('EXISTS', 'tag{x}ged:config'), 1, 'redisson: the hash of a key with a brace');
sql("SELECT bf_redis_create('cache', 'small', 100, 0.00001, 'redisson')");
is($redis->cli('HGET', '{small}:config', 'falseProbability'), '1.0E-5', 'redisson: as Double.toString');
my %written = ('0.0015' => '0.0015', '0.001' => '0.001', '0.00099' => '9.9E-4', '0.000125' => '1.25E-4', '0.0001' => '1.0E-4', '0.000025' => '2.5E-5');
for my $fpp (sort keys %written)
{
	sql("SELECT bf_redis_create('cache', 'p$fpp', 100, $fpp, 'redisson')");
	is($redis->cli('HGET', "{p$fpp}:config", 'falseProbability'), $written{$fpp}, "redisson: $fpp");
}
is($redis->cli('EXISTS', 'small'), 0, 'redisson: an empty filter has no string');
is(sql("SELECT bf_count(bf_fetch('cache', 'small'))"), 0, 'redisson: and is read as empty');
sql("SELECT bf_redis_create('cache', 'sparse', 100000, 0.01, 'redisson'), bf_redis_add_each('cache', 'sparse', '{a,b}'::text[]);
	 SELECT bf_mirror(bf_create(100000, 0.01, 'redisson') + 'a' + 'b', 'cache', 'mirrored')");
is($redis->bytes('mirrored'), $redis->bytes('sparse'), 'redisson: a mirrored string ends where one added to does');
$redis->cli('DEL', 'mirrored');
is(state_of("SELECT bf_redis_contains('cache', 'mirrored', 'a')"), '42704', 'redisson: and is not taken for an empty one when it is lost');
is(sql("SELECT bf_mirror(bf_create(100000, 0.01, 'redisson'), 'cache', 'mirrored', ttl => '1 hour'),
		bf_count(bf_fetch('cache', 'mirrored'))"), '0|0', 'redisson: an empty filter is mirrored');
is($redis->cli('EXISTS', 'mirrored'), 0, 'redisson: without a string');
$redis->cli('HSET', '{old}:config', 'size', 2396, 'hashIterations', 17, 'expectedInsertions', 100,
	'falseProbability', '0.000010');
is(sql("SELECT bf_redis_add('cache', 'old', 'a'), bf_redis_contains('cache', 'old', 'a'), (bf_info(bf_fetch('cache', 'old'))).fpp"),
	't|t|1e-05', 'redisson: the older notation');
is($redis->cli('HSET', '{old}:config', 'size', 2397), 0, 'redisson: the hash is changed');
is(sql("SELECT bf_redis_contains('cache', 'old', 'a') IS NOT NULL, bits FROM bf_redis_info('cache', 'old')"),
	't|2397', 'redisson: and taken as it is');

# Integers are equal whatever their width; other kinds are told apart.
sql("SELECT bf_redis_create('cache', 'int', 1000)");
is( sql("SELECT bf_redis_add('cache', 'int', 42), bf_redis_add('cache', 'int', 43::bigint),
		bf_redis_contains('cache', 'int', 42::bigint), bf_redis_contains('cache', 'int', 43::smallint),
		bf_redis_contains_each('cache', 'int', ARRAY[41, 42, 43, 44]), bf_redis_contains('cache', 'int', 10000000000)"),
	't|t|t|t|{f,t,t,f}|f', 'integers of all widths');
sql("SELECT bf_mirror(bf_create(100, 0.01, 'guava', 'utf16') + 'abc', 'cache', 'utf16')");
is(sql("SELECT bf_redis_contains('cache', 'utf16', 'abc'), (bf_info(bf_fetch('cache', 'utf16'))).funnel"),
	't|utf16', 'funnel utf16 travels with the mirror');
is(state_of("SELECT bf_redis_contains('cache', 'utf16', 1)"), '22023', 'and is checked');
sql("SELECT bf_mirror(bf_create(100, 0.01, 'guava', 'utf8') + 'abc', 'cache', 'utf16')");
is($redis->cli('HGET', '{utf16}:bloomext', 'funnel'), 'utf8', 'and goes with it');
is(sql("SELECT bf_redis_contains('cache', 'utf16', 'abc')"), 't', 'the filter after it');
is(state_of("SELECT bf_redis_contains('cache', 'int', 1.5)"), '0A000', 'no elements of other types');
sql("SELECT bf_mirror((SELECT bf_agg(i) FROM generate_series(1, 5) AS i), 'cache', 'bound', 'bitmap')");
is(sql("SELECT bf_redis_contains_each('cache', 'bound', ARRAY[5, 10000000000])"), '{t,f}', 'what a filter of int cannot hold is not in it');
is(state_of("SELECT bf_redis_add('cache', 'bound', 10000000000)"), '22023', 'nor added to it');
is(sql("SELECT bf_redis_contains('cache', 'int', NULL::text) IS NULL, bf_redis_add(NULL, 'int', 1) IS NULL,
		bf_mirror(NULL, 'cache', 'x') IS NULL"), 't|t|t', 'NULL for NULL');
is(sql("SELECT bf_redis_contains_each('cache', 'int', '{}'::int[])"), '{}', 'nothing for nothing');

# A bit string that nothing describes.
$redis->cli('EVAL', "redis.call('SETBIT', KEYS[1], 5, 1) redis.call('SETBIT', KEYS[1], 4400, 0)", 1, 'bare');
is(state_of("SELECT bf_fetch('cache', 'bare', 'bitmap', NULL, 0.01, 'tale2009', 'utf16')"), '22004', 'which must be known');
is(sql("SELECT bits, bits_set FROM bf_info(bf_fetch('cache', 'bare', 'bitmap', 500, 0.01, 'tale2009', 'utf16'))"),
	'4792|1', 'a bare string is read by parameters');
is(state_of("SELECT bf_fetch('cache', 'bare', 'bitmap', 10, 0.01, 'tale2009', 'utf16')"), '',
	'excess zeros are none');
$redis->cli('SETBIT', 'bare', 4400, 1);
is(state_of("SELECT bf_fetch('cache', 'bare', 'bitmap', 10, 0.01, 'tale2009', 'utf16')"), '22P03',
	'excess bits are');
is(state_of("SELECT bf_redis_contains('cache', 'bare', 'x')"), '42704', 'and not guessed at');
is(state_of("SELECT bf_fetch('cache', 'bare')"), '42704', 'nor fetched');
is(state_of("SELECT bf_redis_create('cache', 'bare', 10)"), '22023', 'nor created over');
is(state_of("SELECT bf_redis_drop('cache', 'bare')"), '22023', 'nor dropped');
is(state_of("SELECT bf_fetch('cache', 'stream', 'guava', 10, 0.01, 'guava')"), '22023',
	'parameters are for bare strings');

# What is not there is never a "no".
for my $query ("bf_redis_contains('cache', 'nothing', 'x')", "bf_redis_contains_each('cache', 'nothing', ARRAY['x'])",
	"bf_redis_add('cache', 'nothing', 'x')", "bf_fetch('cache', 'nothing')", "bf_redis_info('cache', 'nothing')")
{
	is(state_of("SELECT $query"), '42704', "$query: missing");
}
is($redis->cli('EXISTS', 'nothing'), 0, 'and is not made');
sql("SELECT bf_mirror(bf_agg(title, 1000), 'cache', 'expiring', ttl => '200 ms') FROM titles");
is( state_of("SELECT bf_redis_contains('cache', 'expiring', title), pg_sleep(0.1) FROM titles WHERE i < 10"),
	'42704', 'a filter that expires within a query');
for my $layout ('guava', 'growing', 'bitmap')
{
	my $expansion = $layout eq 'growing' ? 1 : 0;
	sql("SELECT bf_redis_create('cache', 'lost', 100, 0.01, 'guava', '$layout', $expansion)");
	$redis->cli('DEL', $layout eq 'growing' ? 'lost-0' : 'lost');
	is(state_of("SELECT bf_redis_contains('cache', 'lost', 'x')"), '42704', "$layout: bits that were evicted");
	is(state_of("SELECT bf_redis_add('cache', 'lost', 'x')"), '42704', "$layout: are not added to");
	is(sql("SELECT bf_redis_create('cache', 'lost', 100, 0.01, 'guava', '$layout', $expansion),
			bf_redis_add('cache', 'lost', 'x'), bf_redis_contains('cache', 'lost', 'x'), bf_redis_drop('cache', 'lost')"),
		't|t|t|t', "$layout: but made again");
}

# A time to live is for all keys.
for my $layout ('redisson', 'growing', 'guava', 'bitmap')
{
	my $strategy = $layout eq 'redisson' ? 'redisson' : 'guava';
	my $expansion = $layout eq 'growing' ? 1 : 0;
	sql("SELECT bf_redis_create('cache', 'ttl', 20, 0.01, '$strategy', '$layout', $expansion, '1 hour');
		 SELECT bf_redis_add_each('cache', 'ttl', array_agg(title)) FROM titles WHERE i <= 100");
	is($redis->cli('EVAL', "local n = 0 for _, k in ipairs(redis.call('KEYS', '*ttl*')) do if redis.call('PTTL', k) < 3000000 then n = n + 1 end end return n", 0),
		0, "$layout: every key made expires");
	cmp_ok(sql("SELECT ttl_ms FROM bf_redis_info('cache', 'ttl')"), '>', 3000000, "$layout: as info says");
	sql("SELECT bf_mirror(bf_create(20, 0.01, '$strategy', NULL, $expansion), 'cache', 'ttl', '$layout', '2 hours')");
	is($redis->cli('EVAL', "local n = 0 for _, k in ipairs(redis.call('KEYS', '*ttl*')) do if redis.call('PTTL', k) < 6000000 then n = n + 1 end end return n", 0),
		0, "$layout: every key mirrored expires");
	sql("SELECT bf_mirror(bf_create(20, 0.01, '$strategy', NULL, $expansion), 'cache', 'ttl', '$layout')");
	is($redis->cli('EVAL', "local n = 0 for _, k in ipairs(redis.call('KEYS', '*ttl*')) do if redis.call('PTTL', k) ~= -1 then n = n + 1 end end return n", 0),
		0, "$layout: or no key does");
	sql("SELECT bf_redis_drop('cache', 'ttl')");
}
is(state_of("SELECT bf_mirror(bf_create(10), 'cache', 'x', NULL, '-1 s')"), '22023', 'no negative ttl');

# A layout is not changed silently, and what fits none is refused.
is(state_of("SELECT bf_mirror(bf_create(100), 'cache', 'redisson')"), '22023', 'no change of layout');
is(state_of("SELECT bf_mirror(bf_create(100), 'cache', 'x', 'redisson')"), '22023', 'guava is not for redisson');
is(state_of("SELECT bf_mirror(bf_create(100, 0.01, 'redisson'), 'cache', 'x', 'guava')"), '22023', 'nor the other way');
is(state_of("SELECT bf_mirror(bf_create(100), 'cache', 'x', 'nonsense')"), '22023', 'unknown layout');
is(state_of("SELECT bf_mirror(bf_create(100), 'cache', 'x', 'guava;shards=2')"), '22023', 'no shards of a value');
is(state_of("SELECT bf_redis_create('cache', 'x', 100, layout => 'guava;shards=0')"), '22023', 'no 0 shards');
is(state_of("SELECT bf_redis_create('cache', 'x', 600000000, 0.001)"), '54000', 'no more than 512 MB');
is(state_of("SELECT bf_mirror(bf_create(100), 'cache', '')"), '22023', 'no empty key');
is(state_of("SELECT bf_mirror(bf_agg(title, 10, 0.01::float8, 'guava', 1), 'cache', 'x', 'guava') FROM titles"),
	'22023', 'no layers in guava');
is(state_of("SELECT bf_mirror(bf_create(100, 0.03, 'redisbloom'), 'cache', 'x')"), '38000',
	'redisbloom needs its module');
foreach my $call ("bf_mirror(bf_create(100, 0.03, 'redisbloom'), 'cache', 'x'", "bf_redis_create('cache', 'x', 100, 0.03, 'redisbloom'")
{
	like(($node->psql('postgres', "SELECT $call)"))[2], qr/HINT: .*RedisBloom.*"bitmap"/, 'the hint says so');
	is(sql("SELECT $call, 'bitmap') IS NOT NULL, bf_redis_drop('cache', 'x')"), 't|t', 'and what else can be done');
}
is(sql("SELECT bf_mirror(bf_create(100, 0.01, counting => true) + 'a', 'cache', 'counted') > 0,
		bf_redis_contains('cache', 'counted', 'a')"), 't|t', 'a counting filter is mirrored as a plain one');

# A smaller growing filter takes a larger one's place.
sql("SELECT bf_mirror(bf_agg(title, 10, 0.01::float8, 'guava', 1), 'cache', 'shrink') FROM titles WHERE i < 100;
	 SELECT bf_mirror(bf_agg(title, 10, 0.01::float8, 'guava', 1), 'cache', 'shrink') FROM titles WHERE i < 20");
is($redis->cli('EVAL', "return #redis.call('KEYS', 'shrink-[0-9]*')", 0),
	sql("SELECT layers FROM bf_redis_info('cache', 'shrink')"), 'growing: layers that are too many go');

# Shards.
for my $layout ('guava', 'bitmap', 'redisson')
{
	my $strategy = $layout eq 'redisson' ? 'redisson' : 'guava';
	is( sql("SELECT bf_redis_create('cache', 'sharded', 2000, 0.01, '$strategy', '$layout;shards=8'),
			bf_redis_create('cache', 'sharded', 2000, 0.01, '$strategy', '$layout;shards=8')"),
		't|f', "$layout: sharded");
	sql("SELECT bf_redis_add_each('cache', 'sharded', array_agg(title)) FROM titles WHERE i <= 1000");
	is(sql("SELECT count(*) FILTER (WHERE i <= 1000 AND NOT c), count(*) FILTER (WHERE i > 1000 AND c) < 50
			FROM (SELECT i, bf_redis_contains('cache', 'sharded', title) AS c FROM titles) AS t"),
		'0|t', "$layout: sharded elements are found");
	is(sql("SELECT shards FROM bf_redis_info('cache', 'sharded')"), 8, "$layout: shards");
	is(sql("SELECT min(n) > 80 FROM (SELECT bf_count(bf_fetch('cache', 'sharded:' || i)) AS n FROM generate_series(0, 7) AS i) AS s"),
		't', "$layout: each shard is a filter, with its share");
	is(state_of("SELECT bf_fetch('cache', 'sharded')"), '22023', "$layout: which are not one value");
	is(state_of("SELECT bf_redis_create('cache', 'sharded', 2000, 0.01, '$strategy', '$layout;shards=4')"), '22023',
		"$layout: not with fewer shards");
	$redis->cli('DEL', 'sharded:3', '{sharded:3}:config');
	is(state_of("SELECT bf_redis_contains_each('cache', 'sharded', array_agg(title)) FROM titles"), '42704',
		"$layout: a shard that is missing");
	is(sql("SELECT bf_redis_drop('cache', 'sharded')"), 't', "$layout: dropped");
	is($redis->cli('EVAL', "return #redis.call('KEYS', '*sharded*')", 0), 0, "$layout: nothing left of it");
}

# Readers see the old filter or the new one while one takes the other's place.
my $swap = "$PostgreSQL::Test::Utils::tmp_check/swap.sql";
append_to_file($swap, join('', map {
	my $n = 1000 + $_;
	"SELECT bf_mirror(bf_agg(title, $n, 0.001::float8, 'redisson'), 'cache', 'swap') FROM titles WHERE i <= 1000;\n"
		. "SELECT bf_mirror(bf_agg(title, $n, 0.001), 'cache', 'swapg') FROM titles WHERE i <= 1000;\n"
		. "SELECT bf_mirror(bf_agg(title, 100 + $n % 3 * 50, 0.001::float8, 'guava', 1), 'cache', 'swap1') FROM titles WHERE i <= 1000;\n"
} 1 .. 60));
# Each key has its first filter before anybody asks.
sql("SELECT bf_mirror(bf_agg(title, 1000, 0.001::float8, 'redisson'), 'cache', 'swap'),
		bf_mirror(bf_agg(title, 1000, 0.001), 'cache', 'swapg'),
		bf_mirror(bf_agg(title, 100, 0.001::float8, 'guava', 1), 'cache', 'swap1') FROM titles WHERE i <= 1000");
my $writer = IPC::Run::start([ 'psql', '-X', '-q', '-At', '-d', $node->connstr('postgres'), '-f', $swap ],
	'>', '/dev/null', '2>', \my $writer_errors);
my ($misses, $rounds) = (0, 0);
while ($writer->pumpable)
{
	for my $key ('swap', 'swapg', 'swap1')
	{
		$misses += sql("SELECT count(*) FROM (SELECT unnest(bf_redis_contains_each('cache', '$key', array_agg(title))) AS c
				FROM titles WHERE i <= 1000) AS t WHERE NOT c");
	}
	$rounds++;
	$writer->pump_nb;
	last if $rounds > 500;
}
$writer->finish;
is($writer_errors, '', 'the writer went through');
is($misses, 0, "no false negative in $rounds rounds of reading while filters are swapped");

$node->stop;
done_testing();
