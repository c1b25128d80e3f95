# RedisBloom itself: its filters in Redis and ours are the same, bit for bit,
# whoever makes them and adds to them.  BLOOMEXT_REDISBLOOM names the module
# (redisbloom.so) that redis-server is to load.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use RedisServer;
use RedisTest qw(start_postgres sql state_of);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;
plan skip_all => 'BLOOMEXT_REDISBLOOM names no module' unless $ENV{BLOOMEXT_REDISBLOOM};

my $redis = RedisServer->new(options => [ '--loadmodule', $ENV{BLOOMEXT_REDISBLOOM} ]);
my $node = start_postgres('', extra => [ '--encoding', 'UTF8' ]);

# What BF.INFO says of a key, by name.
sub info
{
	my @lines = split /\n/, $redis->cli('BF.INFO', $_[0]);
	return { map { lc } @lines };
}

sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE TABLE titles AS SELECT i, 'Title ' || i AS title FROM generate_series(1, 2000) AS i;
});

# The files' filters, made here by the same calls.
open my $file, '<', "$FindBin::RealBin/../../vectors/redisbloom/filters.tsv" or die "filters.tsv: $!";
my @names = split /\t/, <$file> =~ s/\n//r;
while (my $line = <$file>)
{
	chomp $line;
	my %v;
	@v{@names} = split /\t/, $line, -1;
	next if $v{error_rate} > 0.25;    # which newer releases take for 0.25
	my $key = "vector$v{filter_id}";
	my $expansion = $v{no_scaling} ? 0 : $v{expansion};
	my $count = $v{add_error_at} ? $v{add_error_at} - 1 : $v{inserted_count};
	my $elements = "SELECT replace('$v{rule}', '{i}', i::text) AS e, i FROM generate_series(1, $count) AS i";

	sql("SELECT bf_redis_create('cache', '$key', $v{capacity}, $v{error_rate}, 'redisbloom', expansion => $expansion)");
	is( sql("SELECT coalesce(sum(new::int), 0) FROM unnest(bf_redis_add_each('cache', '$key',
			ARRAY(SELECT e FROM ($elements) AS e ORDER BY i))) AS new"),
		$v{added}, "$key: so many were new");
	is( sql("SELECT encode(bf_export(bf_fetch('cache', '$key')), 'hex') = '$v{header_hex}$v{data_hex}'"),
		't', "$key: as in the file");
	is( sql("SELECT layout, layers, expansion, estimated_count FROM bf_redis_info('cache', '$key')"),
		"redisbloom|$v{links}|$expansion|$v{added}", "$key: as info says");
	is(state_of("SELECT bf_redis_add_each('cache', '$key', ARRAY['one', 'two', 'three'])"), '38000', "$key: full")
	  if $v{no_scaling};
}

# Adding and asking: one by one, by array, and by anybody's commands.
for my $expansion (0, 1, 2)
{
	my $key = "bloom$expansion";
	my $expected = $expansion ? 150 : 2000;
	my $filter = "bf_agg(title, $expected, 0.02::float8, 'redisbloom', $expansion ORDER BY i)";

	is( sql("SELECT bf_redis_create('cache', '$key', $expected, 0.02, 'redisbloom', expansion => $expansion),
			bf_redis_create('cache', '$key', $expected, 0.02, 'redisbloom', expansion => $expansion)"),
		't|f', "$key: created once");
	is( state_of("SELECT bf_redis_create('cache', '$key', $expected + 100, 0.02, 'redisbloom', expansion => $expansion)"),
		'22023', "$key: not with other parameters");
	is( sql("SELECT bf_redis_add('cache', '$key', 'Title 1'), bf_redis_add('cache', '$key', 'Title 1'),
			bf_redis_contains('cache', '$key', 'Title 1'), bf_redis_contains('cache', '$key', 'Title 2')"),
		't|f|t|f', "$key: one by one");
	is($redis->cli('BF.EXISTS', $key, 'Title 1'), 1, "$key: as BF.EXISTS says");
	is($redis->cli('BF.ADD', $key, 'Title 2'), 1, "$key: BF.ADD");
	sql("SELECT bf_redis_add_each('cache', '$key', array_agg(title ORDER BY i)) FROM titles WHERE i BETWEEN 2 AND 1000");
	is(sql("SELECT bf_fetch('cache', '$key') = $filter FROM titles WHERE i <= 1000"), 't', "$key: the same as bf_agg");
	is( sql("SELECT bf_redis_contains_each('cache', '$key', array_agg(title ORDER BY i)) =
				bf_contains_each((SELECT $filter FROM titles WHERE i <= 1000), array_agg(title ORDER BY i)) FROM titles"),
		't', "$key: answers as in PostgreSQL");

	# Written by us, read and grown by RedisBloom.
	cmp_ok(sql("SELECT bf_mirror($filter, 'cache', 'mirror:$key', ttl => '1 hour') FROM titles WHERE i <= 500"),
		'>', 0, "$key: mirrored");
	is( join(',', $redis->cli('BF.MEXISTS', "mirror:$key", map { "Title $_" } 1 .. 2000) =~ /\d/g),
		sql("SELECT string_agg(c::int::text, ',') FROM unnest(bf_contains_each(
				(SELECT $filter FROM titles WHERE i <= 500), ARRAY(SELECT title FROM titles ORDER BY i))) AS c"),
		"$key: BF.MEXISTS as in PostgreSQL");
	my $info = info("mirror:$key");
	is( "$info->{'number of items inserted'}|$info->{'number of filters'}",
		sql("SELECT get_byte(dump, 0) + 256 * get_byte(dump, 1), get_byte(dump, 8)
			FROM (SELECT bf_export($filter) AS dump FROM titles WHERE i <= 500) AS d"),
		"$key: BF.INFO");
	cmp_ok($redis->cli('PTTL', "mirror:$key"), '>', 3_500_000, "$key: lives as long as it was told");
	$redis->cli('BF.MADD', "mirror:$key", map { "Title $_" } 501 .. 1000);
	is(sql("SELECT bf_fetch('cache', 'mirror:$key') = $filter FROM titles WHERE i <= 1000"),
		't', "$key: goes on as bf_agg does");
	is(sql("SELECT bf_redis_drop('cache', '$key'), bf_redis_drop('cache', '$key')"), 't|f', "$key: dropped once");
}
is($redis->cli('EVAL', "return #redis.call('KEYS', '*tmp*')", 0), 0, 'no temporary keys left');

# What info tells, and what only RedisBloom knows.
sql("SELECT bf_mirror(bf_agg(title, 1000, 0.02::float8, 'redisbloom', 1), 'cache', 'told', ttl => '1 hour') FROM titles");
my $told = info('told');
is( sql("SELECT estimated_count, bytes, ttl_ms BETWEEN 3500000 AND 3600000, bits = (SELECT bits FROM bf_info(bf_fetch('cache', 'told'))),
		bits_set, fill, estimated_fpp FROM bf_redis_info('cache', 'told')"),
	"$told->{'number of items inserted'}|$told->{size}|t|t|||", 'info tells what BF.INFO does');
sql("SELECT bf_mirror(bf_create(100, 0.01, 'redisbloom'), 'cache', 'forever')");
is(sql("SELECT estimated_count, ttl_ms IS NULL FROM bf_redis_info('cache', 'forever')"), '0|t', 'and of an empty one that stays');
sql("SELECT bf_redis_create('cache', 'sharded', 1000, 0.02, 'redisbloom', 'redisbloom;shards=2', ttl => '1 hour');
	 SELECT bf_redis_add_each('cache', 'sharded', ARRAY(SELECT title FROM titles WHERE i <= 500))");
is( sql("SELECT estimated_count, bytes, ttl_ms > 3500000 FROM bf_redis_info('cache', 'sharded')"),
	join('|', map({ my $field = $_; info('sharded:0')->{$field} + info('sharded:1')->{$field} } 'number of items inserted', 'size'), 't'),
	'and the sum of shards');

# What is not there has no element, to BF.MEXISTS; the page's script tells.
my ($script) = grep { /BF.MEXISTS/ } code('doc/redis-readers.md', 'lua');
sub asked { return $redis->cli(@_, 'Title 1', 'none') =~ s/\s+/ /gr; }
$redis->cli('SET', 'string', 'text');
is(asked('EVAL', $script, 1, 'told'), '1 0', 'asked by a script');
foreach my $key ('absent', 'string')
{
	is(asked('BF.MEXISTS', $key), '0 0', "$key: BF.MEXISTS says no");
	like(asked('EVAL', $script, 1, $key), qr/ERR there is no filter/, "$key: a script does not");
	like(state_of("SELECT bf_redis_contains('cache', '$key', 'Title 1')"), qr/^(?:42704|22023)$/, "$key: nor does SQL");
}

# One that was evicted and made anew, of the same parameters, has had fewer elements than
# its hash says; be it known to the session already, or not.
my @ways = ("bf_redis_contains('cache', 'anew', 'Title 1')", "bf_redis_add('cache', 'anew', 'Title 1')", "bf_fetch('cache', 'anew') IS NULL");
for my $filled ("bf_redis_create('cache', 'anew', 1000, 0.01, 'redisbloom', expansion => 2), bf_redis_add_each('cache', 'anew', ARRAY(SELECT title FROM titles WHERE i <= 1200)) IS NULL",
	"bf_mirror(bf_agg(title, 1000, 0.01, 'redisbloom', 2), 'cache', 'anew') IS NULL FROM titles WHERE i <= 1200")
{
	for my $way (@ways)
	{
		sql("SELECT bf_redis_drop('cache', 'anew')");
		sql("SELECT $filled");
		is(sql("SELECT has_witness FROM bf_redis_info('cache', 'anew')"), 't', "a filter has a witness: $way");
		my $again = qq(\\! redis-cli -s $redis->{socket} EVAL "redis.call('DEL', KEYS[1]) return redis.call('BF.RESERVE', KEYS[1], 0.01, 1000, 'EXPANSION', 2)" 1 anew > /dev/null\n);
		my ($code, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\nSELECT bf_redis_contains('cache', 'anew', 'Title 1');\n${again}SELECT $way;\n", on_error_stop => 0);
		is("$out $err", 't psql:<stdin>:4: ERROR:  42704', "and is not asked when it was made anew: $way");
		is(state_of("SELECT $way"), '42704', '... by another session');
		is($redis->cli('BF.ADD', 'anew', 'Title 3'), 1, '... nor with what a service adds');
		is(state_of("SELECT $way"), '42704', '... from then on');
		cmp_ok(sql("SELECT bf_mirror(bf_agg(title, 1000, 0.01, 'redisbloom', 2), 'cache', 'anew') FROM titles"), '>', 0, '... but mirrored');
		is(sql("SELECT count(*) FROM titles WHERE NOT bf_redis_contains('cache', 'anew', title)"), 0, '... and then it is');
	}
}

# Who may not see what shape a filter has, cannot know whether its hash is about it.
sql("SELECT bf_redis_create('cache', 'char', 100, 0.01, 'redisbloom'), bf_redis_add('cache', 'char', 'x'::char(5))");
$redis->cli('ACL', 'SETUSER', 'default', '-bf.scandump');
is(state_of("SELECT bf_redis_$_('cache', 'char', 'x    '::text)"), '42501', "without a right to the header: $_") foreach 'contains', 'add';
$redis->cli('ACL', 'SETUSER', 'default', '+bf.scandump');
is(sql("SELECT bf_redis_contains('cache', 'char', 'x    '::text)"), 't', '... and with it');

# BF.ADD makes one of other parameters.
sql("SELECT bf_mirror(bf_agg(title, 3000, 0.001, 'redisbloom'), 'cache', 'anew') FROM titles");
$redis->cli('DEL', 'anew');
$redis->cli('BF.MADD', 'anew', map { "Other $_" } 1 .. 50);
is(state_of("SELECT $_"), '42704', "made anew by BF.ADD: $_") foreach @ways;
$redis->cli('DEL', '{anew}:bloomext');
is(sql("SELECT bf_redis_contains('cache', 'anew', 'Other 7'), bf_redis_contains('cache', 'anew', 'Title 7')"), 't|f', 'unless nothing notes that it was another one');
sql("SELECT bf_redis_drop('cache', 'anew')");

# Other elements, and none.
sql("SELECT bf_redis_create('cache', 'kinds', 100, 0.01, 'redisbloom', ttl => '1 hour')");
cmp_ok($redis->cli('PTTL', 'kinds'), '>', 3_500_000, 'created with a time to live');
is(sql("SELECT bf_redis_add('cache', 'kinds', 42), bf_redis_contains('cache', 'kinds', 42::bigint)"), 't|t', 'integers');
sql("SELECT bf_redis_create('cache', 'texts', 100, 0.01, 'redisbloom')");
is(sql("SELECT bf_redis_add('cache', 'texts', ''), bf_redis_contains_each('cache', 'texts', ARRAY['', NULL, 'x'])"), 't|{t,NULL,f}', 'and nothing');
is($redis->cli('BF.EXISTS', 'kinds', 42), 1, 'an integer is its decimal');
is(state_of("SELECT bf_redis_add('cache', 'kinds', '\\x0061ff'::bytea)"), '22023', 'bytes are of another kind');
is( sql("SELECT bf_redis_create('cache', 'bytes', 100, 0.01, 'redisbloom'), bf_redis_add('cache', 'bytes', '\\x0061ff'::bytea),
		bf_redis_contains('cache', 'bytes', '\\x0061ff'::bytea)"), 't|t|t', 'and go into a filter of their own');

# Of these older releases make a filter without bits, and end Redis when they are
# asked.
is(state_of("SELECT bf_redis_create('cache', 'bitless', 3, 0.9, 'redisbloom')"), '22023', 'a filter without bits is refused');
is($redis->cli('EXISTS', 'bitless'), 0, 'and not made');
for my $least ('5, 0.9, expansion => 0', '3, 0.9, expansion => 1')
{
	is(sql("SELECT bf_redis_create('cache', '$least', $least, strategy => 'redisbloom'), bf_redis_contains('cache', '$least', 'x')"),
		't|f', "one with bits: $least");
}

# More than one chunk of BF.SCANDUMP and BF.LOADCHUNK.
is( sql("SELECT bf_mirror(f, 'cache', 'large') = length(bf_export(f)) AND bf_fetch('cache', 'large') = f
		FROM (SELECT bf_agg(title, 12000000, 0.001, 'redisbloom') AS f FROM titles) AS f"),
	't', 'a large filter, there and back');

# What is not there is never a "no".
is(state_of("SELECT bf_redis_contains('cache', 'nothing', 'x')"), '42704', 'missing');
is(state_of("SELECT bf_redis_add('cache', 'nothing', 'x')"), '42704', 'nor made by adding');
is($redis->cli('EXISTS', 'nothing'), 0, 'indeed');
sql("SELECT bf_mirror(bf_agg(title, 1000, 0.01, 'redisbloom'), 'cache', 'expiring', ttl => '200 ms') FROM titles");
is( state_of("SELECT bf_redis_contains('cache', 'expiring', title), pg_sleep(0.1) FROM titles WHERE i < 10"),
	'42704', 'a filter that expires within a query');

$node->stop;
done_testing();
