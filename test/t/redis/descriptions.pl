# Descriptions of filters in Redis that are out of range or lead in circles: never
# taken for a filter, never an internal error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisTest;

my ($redis, $node) = start_servers();

# What lies beside a key tells what is at it, in each layout.
my %config = (guava => '{%s}:bloomext', bitmap => '{%s}:bloomext', growing => '%s-config', redisson => '{%s}:config', window => '{%s}:bloomext');

# Shards that are none: sharded themselves, of another layout, a native type
# that is not there, or too many.
for my $layout (qw(guava bitmap growing redisson))
{
	my $strategy = { guava => 'guava', bitmap => 'magnuss', growing => 'guava', redisson => 'redisson' }->{$layout};
	my $expansion = $layout eq 'growing' ? 1 : 0;
	my $create = "bf_redis_create('cache', 'KEY', 100, 0.03, '$strategy', '$layout;shards=1', $expansion)";
	sql(join ';', map { "SELECT " . $create =~ s/KEY/$_/r } "s$layout", "o$layout", "n$layout");
	is(session("SELECT bf_redis_drop('cache', 's$layout:0')") , 't', "$layout: a shard");
	is(session("SELECT " . $create =~ s/KEY/s$layout:0/r), 't', "$layout: is made a sharded filter");
	my ($other, $of) = $layout eq 'redisson' ? ('bitmap', 'magnuss') : ('redisson', 'redisson');
	sql("SELECT bf_redis_drop('cache', 'o$layout:0');
		 SELECT bf_redis_create('cache', 'o$layout:0', 100, 0.03, '$of', '$other');
		 SELECT bf_redis_drop('cache', 'n$layout:0')");
	for my $key ("s$layout", "o$layout", "n$layout")
	{
		for my $call (map { sprintf $_, $key } "bf_redis_info('cache', '%s')", "bf_redis_contains('cache', '%s', 'x')",
			"bf_redis_add_each('cache', '%s', ARRAY['x'])")
		{
			is(session("SELECT $call"), '42704', "no shard: $call");
		}
		is(session("SELECT bf_fetch('cache', '$key')"), '22023', "fetched: $key");
		is(session("SELECT bf_mirror(bf_create(10), 'cache', '$key', 'guava')"), '22023', "mirrored: $key");
	}
	is(session("SELECT $_"), 't', $_) for map { "bf_redis_drop('cache', '$_')" } "s$layout", "o$layout", "n$layout";
	like(session("SELECT layout, shards FROM bf_redis_info('cache', 's$layout:0')"), qr/^$layout\|1/,
		"$layout: what was no shard of it is as it was");
	like(session("SELECT layout FROM bf_redis_info('cache', 'o$layout:0')"), qr/^$other/, "$other, too");
}
$redis->cli('HSET', '{native}:bloomext-shards', 'layout', 'redisbloom', 'shards', 1);
$redis->cli('HSET', '{native:0}:bloomext-shards', 'layout', 'redisbloom', 'shards', 1);
is(session("SELECT bf_redis_info('cache', 'native')"), '42704', 'a native shard that is sharded');
$redis->cli('HSET', '{many}:bloomext-shards', 'layout', 'guava', 'shards', 1025);
is(session("SELECT bf_redis_info('cache', 'many')"), '22P03', 'more shards than bf_redis_create makes');

# Hashes with fields out of their range: what is not believed is not shown, and
# what cannot be is an error of the right kind.
my %fields = (
	redisson => { size => 1000, hashIterations => 7, expectedInsertions => 100, falseProbability => '0.01' },
	bitmap => { layout => 'bitmap', bits => 1000, hashes => 7, strategy => 'magnuss', funnel => 'utf8', expected => 100, fpp => '0.01' },
	guava => { layout => 'guava', bits => 1024, hashes => 7, strategy => 'guava', funnel => 'utf8', expected => 100, fpp => '0.01' },
	window => { layout => 'window', bits => 1000, hashes => 7, strategy => 'magnuss', funnel => 'utf8', expected => 100, fpp => '0.01',
		id => 'x' x 16, slice => 86_400_000, slices => 30, newest => 20_000, turned => 20_000 },
	growing => { bits => 1024, hashes => 7, strategy => 'guava', funnel => 'utf8', expected => 100, fpp => '0.01', expansion => 1 });
my @values = ('', '0', '1', '-1', '2', '5', '64', '255', '256', '1e400', '1e-400', '1e-320', 'nan', '0.5', '1.0E-5', '00',
	'4294967296', '999999999999999999', '9223372036854775807', '99999999999999999999', 'guava', 'redisbloom', 'utf16', 'bytes', "\xff");
my (%seen, @wrong);
for my $layout (sort keys %fields)
{
	# Those of a window's that are as in bitmap are read by the same function.
	for my $field (grep { $layout ne 'window' || $_ eq 'bits' || !exists $fields{bitmap}{$_} } sort keys %{ $fields{$layout} })
	{
		for my $value (@values)
		{
			my $key = 'h';
			$redis->cli('FLUSHALL');
			$redis->cli('HSET', sprintf($config{$layout}, $key), %{ $fields{$layout} }, $field, $value);
			my $string = $layout eq 'growing' ? "$key-0" : $key;
			$string = "{$key}:bloomext-window-" . 'x' x 16 . '-0' if $layout eq 'window';
			$redis->cli('SETBIT', $string, 999, 1);
			if ($layout eq 'window')
			{
				$redis->cli('BITFIELD', $string, 'SET', 'i64', 0, 20_000, 'SET', 'u32', '#1005', 0);
				$redis->cli('SETRANGE', $string, 8, 'x' x 16);
			}
			$redis->cli('EVAL', "redis.call('SET', KEYS[1], '\\1\\7\\0\\0\\0\\16' .. string.rep('\\0', 128))", 1, $string) if $layout eq 'guava';
			my @states = map { session("SELECT 'ok' FROM $_ f WHERE f IS NOT NULL OR true") }
				"bf_fetch('cache', '$key')", "bf_redis_info('cache', '$key')",
				"bf_redis_contains('cache', '$key', 'x')", "bf_redis_add('cache', '$key', 'x')";
			my $states = join ' ', sort @states;
			push @{ $seen{$states} }, "$layout.$field=$value";
			# A slice that is still to come is the clock's fault.
			push @wrong, $states unless $states =~ ($layout eq 'window' ? qr/^((ok|22P03|42704|38000|0A000) ?)+$/ : qr/^((ok|22P03|22023|54000|42704|0A000) ?)+$/);
		}
	}
}
is_deeply(\@wrong, [], 'no hash ends in an internal error')
  or diag explain \%seen;
ok(exists $seen{'0A000 ok ok ok'}, 'and a window is asked');
$redis->cli('FLUSHALL');
for my $rate ('5', '1', '0', '-0.5', '1e400', 'nan', '')
{
	$redis->cli('HSET', '{r}:config', 'size', 1000, 'hashIterations', 7, 'expectedInsertions', 100, 'falseProbability', $rate);
	is(session("SELECT expected, fpp FROM bf_redis_info('cache', 'r');
				SELECT expected, fpp FROM bf_info(bf_fetch('cache', 'r'))"), '| |', "falseProbability $rate: n and p are not known");
}
$redis->cli('HSET', '{r}:config', 'expectedInsertions', '1e3', 'falseProbability', '0.01');
is(session("SELECT expected, fpp FROM bf_redis_info('cache', 'r')"), '|', 'nor for an expectedInsertions that is none');
$redis->cli('HSET', '{r}:config', 'expectedInsertions', '1000000');
is(session("SELECT expected, fpp FROM bf_redis_info('cache', 'r')"), '|', 'nor for one that so few bits cannot be for');
$redis->cli('HSET', '{r}:config', 'expectedInsertions', '100');
is(session("SELECT expected, fpp FROM bf_redis_info('cache', 'r')"), '100|0.01', 'as they are for sound ones');

# A hash that was left over says nothing of what takes its string's place: not
# where it is about another shape, nor where it is to expire.
sub left_over { return "bf_mirror(bf_create(1000, funnel => 'utf16'), 'cache', 'left', ttl => '1 hour') > 0" }
sql("SELECT @{[left_over]}, bf_mirror(bf_create(5000), 'cache', 'other')");
$redis->cli('COPY', 'other', 'left', 'REPLACE');
is(session("SELECT bf_mirror(bf_agg(t, 1000), 'cache', 'left') > 0 FROM unnest('{a,b,c}'::text[]) AS t;
			SELECT bf_redis_contains_each('cache', 'left', '{a,b,c}'::text[])"), 't {t,t,t}', 'mirrored over a filter of another shape');
sql("SELECT @{[left_over]}");
$redis->cli('DEL', 'left');
is(session("SELECT bf_redis_create('cache', 'left', 1000)"), 't', 'made where a string is gone');
is($redis->cli('HGET', '{left}:bloomext', 'funnel'), '', 'and its hash says nothing of the one before');

# But it says that there is a filter where another layout's hash does, too: which
# of them is obsolete, nobody knows.
sql("SELECT bf_redis_create('cache', 'two', 100, expansion => 1)");
$redis->cli('HSET', '{two}:bloomext', %{ $fields{bitmap} });
is(session("SELECT $_"), '22023', "described twice: $_")
  for map { "bf_redis_$_" } "contains('cache', 'two', 'x')", "add('cache', 'two', 'x')", "info('cache', 'two')";
$redis->cli('DEL', '{two}:bloomext');
is(session("SELECT bf_redis_add('cache', 'two', 'x')"), 't', 'and once again');

# An error names the key that has to be mended, and says how.
sub error_of { return ($node->psql('postgres', "SELECT $_[0]"))[2] =~ s/^CONTEXT:.*//mrs =~ s/^psql:\S+ //mgr }
my $to_delete = 'HINT:  Delete this hash and the other keys of the filter with DEL in Redis; then mirror the filter again, or create it and add its elements.';
for my $case ([ 'bitmap', 'funnel', 'zzz', 'unknown strategy, funnel or elements' ], [ 'bitmap', 'bits', 'zzz', 'invalid bits, hashes, expected or fpp' ],
	[ 'growing', 'expansion', 'zzz', 'invalid expansion' ], [ 'redisson', 'size', 'zzz', 'invalid size or hashIterations' ], [ 'window', 'turned', '20001', 'invalid id, slice, slices, newest or turned' ])
{
	my ($layout, $field, $value, $why) = @$case;
	my $hash = sprintf($config{$layout}, 'odd');
	$redis->cli('FLUSHALL');
	$redis->cli('HSET', $hash, %{ $fields{$layout} }, $field, $value);
	for my $call ("bf_redis_contains('cache', 'odd', 'x')", "bf_redis_drop('cache', 'odd')", "bf_mirror(bf_create(10), 'cache', 'odd')")
	{
		is(error_of($call), qq(ERROR:  hash "$hash" in Redis does not describe a filter: $why\n$to_delete), "$layout, $field: $call");
	}
	$redis->cli('DEL', $hash);
	is(session("SELECT bf_mirror(bf_create(10), 'cache', 'odd') > 0"), 't', '... mended so');
}
$redis->cli('FLUSHALL');
$redis->cli('HSET', '{odd}:bloomext-shards', 'layout', 'zzz', 'shards', 3);
is(error_of("bf_redis_contains('cache', 'odd', 'x')"), qq(ERROR:  hash "{odd}:bloomext-shards" in Redis does not describe a filter: unknown layout, or invalid number of shards\n$to_delete), 'a hash of shards');

# A shard is not created by itself.
for my $case ([ 'guava', 'guava', 0, 'odd:2' ], [ 'bitmap', 'guava', 0, 'odd:2' ], [ 'growing', 'guava', 1, 'odd:2-0' ])
{
	my ($layout, $strategy, $expansion, $string) = @$case;
	for my $lost ('all', 'the string')
	{
		$redis->cli('FLUSHALL');
		sql("SELECT bf_redis_create('cache', 'odd', 300, 0.01, '$strategy', '$layout;shards=3', $expansion), bf_redis_add_each('cache', 'odd', ARRAY['x', 'y'])");
		$redis->cli('EVAL', q{for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end}, 0, $lost eq 'all' ? '*odd:2*' : $string);
		my $what = $lost eq 'all' ? 'The shard at key "odd:2"' : qq(Key "$string");
		for my $call ("bf_redis_contains('cache', 'odd', 'x')", "bf_redis_info('cache', 'odd')", "bf_redis_create('cache', 'odd', 300, 0.01, '$strategy', '$layout;shards=3', $expansion)")
		{
			is(error_of($call), qq(ERROR:  filter at key "odd" in Redis is incomplete\nDETAIL:  $what was evicted, deleted or replaced.
HINT:  Mirror that shard again, or drop the filter with bf_redis_drop and create it again.), "$layout, $lost lost: $call");
		}
	}
}

# What was never there is not lost.
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create('cache', 'grown', 100, expansion => 1), bf_redis_create('cache', 'spread', 100, layout => 'bitmap;shards=2')");
my $fetched = "'bitmap', 100, 0.01, 'redisson'";
like(error_of("bf_fetch('cache', 'nokey', $fetched)"), qr/^ERROR:  there is no filter at key "nokey" in Redis\n/, 'fetched where there is nothing');
like(error_of("bf_fetch('cache', 'grown', $fetched)"), qr/^ERROR:  key "grown" holds a filter in layout "growing", not "bitmap"/, '... where there is a growing filter');
like(error_of("bf_fetch('cache', 'spread', $fetched)"), qr/^ERROR:  filter at key "spread" has 2 shards, not 1\n/, '... where there are shards');

# Layers end somewhere, and the filter stays readable.
sql("SELECT bf_redis_create('cache', 'deep', 1, 0.5, expansion => 1)");
$redis->cli('EVAL', "for i = 1, 1023 do redis.call('COPY', 'deep-0', 'deep-' .. i) end redis.call('SET', 'deep-cursor', 1023)", 0);
is(session("SELECT bf_redis_add_each('cache', 'deep', (SELECT array_agg(i::text) FROM generate_series(1, 200) i));
			SELECT layers FROM bf_redis_info('cache', 'deep')"), '1024 54000', 'no layer after the last');

$node->stop;
done_testing();
