# A string in Redis that is not the filter's any more is never asked as if it were, and
# nothing of others is written over.
#
# A string is evicted, and made anew by a SETBIT of a service, or by a SET of the same
# length; a foreign one is renamed to its key; it is cut short; in each layout, by each
# function.  What was in the filter is then found or the answer is an error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use List::Util qw(max min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest;
use RedisRelay;
use RedisTest qw(start_servers sql outcome);

my ($redis, $node) = start_servers();
my $has_functions = $redis->cli('COMMAND', 'INFO', 'FCALL_RO') =~ /fcall/i;
$redis->cli('FUNCTION', 'LOAD', 'REPLACE', slurp_file("$FindBin::RealBin/../../../src/redis/function/bloomext.lua")) if $has_functions;

sql(q{
	CREATE FUNCTION filter(strategy text, expansion int) RETURNS bloomfilter LANGUAGE sql AS
		$$ SELECT bf_agg('t' || i, CASE expansion WHEN 0 THEN 2000 ELSE 300 END, 0.0001, strategy, expansion) FROM generate_series(1, 1000) AS i $$;
	-- How many of what is in a filter are denied, or what error that is.
	CREATE FUNCTION denied(key text, way text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		n bigint;
	BEGIN
		IF way = 'one' THEN
			SELECT count(*) INTO n FROM generate_series(1, 50) AS i WHERE NOT bf_redis_contains('cache', key, 't' || i);
		ELSIF way = 'each' THEN
			SELECT count(*) INTO n FROM unnest(bf_redis_contains_each('cache', key, ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i))) AS f WHERE NOT f;
		ELSIF way = 'fetch' THEN
			SELECT count(*) INTO n FROM generate_series(1, 1000) AS i, bf_fetch('cache', key) AS f WHERE NOT bf_contains(f, 't' || i);
		ELSIF way = 'add' THEN -- whoever it is new to denies it
			SELECT count(*) INTO n FROM unnest(bf_redis_add_each('cache', key, ARRAY['t1', 't2'])) AS new WHERE new;
		END IF;
		RETURN n;
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$});
my @ways = qw(one each fetch add);

# Strategy, expansion, and its strings' keys.
my %layouts = (
	bitmap => [ 'magnuss', 0, '' ],
	redisson => [ 'redisson', 0, '' ],
	guava => [ 'guava', 0, '' ],
	growing => [ 'guava', 2, '-0', '-1' ],
	shards => [ 'magnuss', 0, ':1' ]);
my %events = (
	'SETBIT in its place' => sub { $redis->cli('DEL', $_[0]); $redis->cli('SETBIT', $_[0], 5, 1) },
	'SETBIT at its end' => sub { my $length = $redis->cli('STRLEN', $_[0]); $redis->cli('DEL', $_[0]); $redis->cli('SETBIT', $_[0], 8 * $length - 1, 1) },
	'zeros in its place' => sub { my $length = $redis->cli('STRLEN', $_[0]); $redis->cli('DEL', $_[0]); $redis->cli('SETRANGE', $_[0], $length - 1, "\1") },
	'a list in its place' => sub { $redis->cli('DEL', $_[0]); $redis->cli('RPUSH', $_[0], 1) },
	'cut short' => sub { $redis->cli('EVAL', q{redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, -50))}, 1, $_[0]) },
	'another of its shape' => sub { $redis->cli('EVAL', q{redis.call('SET', KEYS[1], (redis.call('GET', KEYS[1]):gsub('.', function(c) return string.char(255 - c:byte()) end)))}, 1, $_[0]) },
	'evicted' => sub { $redis->cli('DEL', $_[0]) });

sub mirror
{
	my ($layout) = @_;
	my ($strategy, $expansion) = @{ $layouts{$layout} };
	$redis->cli('FLUSHALL');
	if ($layout eq 'shards')
	{
		sql("SELECT bf_redis_create('cache', 'shards', 3000, 0.01, '$strategy', 'bitmap;shards=3'),
			bf_redis_add_each('cache', 'shards', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i)) IS NOT NULL");
	}
	else
	{
		sql("SELECT bf_mirror(filter('$strategy', $expansion), 'cache', '$layout', '$layout')");
	}
}

for my $layout (sort keys %layouts)
{
	my (undef, undef, @strings) = @{ $layouts{$layout} };
	for my $string (@strings)
	{
		for my $event (sort keys %events)
		{
			mirror($layout);
			is(sql("SELECT denied('$layout', 'one')"), 0, "$layout: nothing is denied") if $event eq 'evicted';
			$events{$event}->("$layout$string");
			for my $way (@ways)
			{
				next if $layout eq 'shards' && $way eq 'fetch';
				my $denied = sql("SELECT denied('$layout', '$way')");
				like($denied, qr/^(?:42704|22023|0)$/, "$layout$string, $event: $way") || diag($redis->cli('HGETALL', "{$layout}:bloomext"));
			}
			if ($has_functions && $layout ne 'redisson')
			{
				my @said = split /\n/, $redis->cli('FCALL_RO', 'bloomext_contains', 1, $layout, map { "t$_" } 1 .. 100);
				ok(!(grep { $_ eq '0' } @said), "$layout$string, $event: the function") || diag("@said[0 .. 3]");
			}
			next if $layout eq 'shards' || $event eq 'a list in its place';
			sql("SELECT bf_redis_drop('cache', '$layout')") if $layout eq 'redisson';
			$redis->cli('DEL', $layout) if $layout eq 'guava';
			sql("SELECT bf_mirror(filter('$layouts{$layout}[0]', $layouts{$layout}[1]), 'cache', '$layout', '$layout')");
			is(sql("SELECT denied('$layout', 'each')"), 0, "$layout$string, $event: a mirror mends it");
		}
	}
}

# The library for Redis says what SQL says, of what was remade, is foreign, or has lost its
# hash or a field of it, 100 questions at a time; BLOOMEXT_REDIS_QUESTIONS is how many.
sub any { return $_[ rand @_ ]; }
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
srand($seed);
my ($disagreements, %said) = (0);
for (1 .. ($has_functions ? ($ENV{BLOOMEXT_REDIS_QUESTIONS} || 5000) / 100 : 0))
{
	my ($layout, $strategy, $count) = (any(qw(guava bitmap growing)), any('guava', 'guava', 'guava32'), any(1, 5, 50, 200, 400));
	my ($expansion, $hash, $string) = $layout eq 'growing' ? (any(1, 2), 'key-config', 'key-' . any(0, 0, 1)) : (0, '{key}:bloomext', 'key');
	my $parameters = "500, @{[ any('0.01', '0.0001') ]}, '$strategy'";
	my $filled = sub { my $key = shift; return any("bf_mirror(bf_agg('t' || i, $parameters, $expansion), 'cache', '$key', '$layout') IS NULL FROM generate_series(1, $count) AS i",
		"bf_redis_create('cache', '$key', $parameters, '$layout', $expansion), bf_redis_add_each('cache', '$key', ARRAY(SELECT 't' || i FROM generate_series(1, $count) AS i)) IS NULL"); };
	$redis->cli('FLUSHALL');
	sql("SELECT $_") foreach $filled->('key'), $filled->('other');
	my $event = any('none', 'none', 'RENAME', 'COPY', 'no hash', 'no field', 'a field of another', sort keys %events);
	if ($events{$event}) { $events{$event}->($string) if $redis->cli('TYPE', $string) eq 'string'; }
	elsif ($event eq 'RENAME' || $event eq 'COPY') { $redis->cli($event, $string =~ s/key/other/r, $string, $event eq 'COPY' ? 'REPLACE' : ()); }
	elsif ($event eq 'no hash') { $redis->cli('DEL', $hash); }
	elsif ($event =~ /field/)
	{
		my $field = any(qw(witness mirrored elements funnel layers layout bits strategy));
		my $value = $event eq 'no field' ? '' : $redis->cli('HGET', $hash =~ s/key/other/r, $field);
		$value eq '' ? $redis->cli('HDEL', $hash, $field) : $redis->cli('HSET', $hash, $field, $value);
	}
	my @elements = map { 't' . int(1 + rand(2 * $count)) } 1 .. 100;
	my $by_sql = outcome("SELECT bf_redis_contains_each('cache', 'key', ARRAY[" . join(', ', map { "'$_'" } @elements) . '])');
	my $by_function = $redis->cli('FCALL_RO', 'bloomext_contains', 1, 'key', @elements);
	my $to_be_told = $by_function =~ /the kind of the elements .* is not known/;
	$by_sql = $by_sql =~ /^\{/ ? join(' ', map { $_ eq 't' ? 1 : 0 } $by_sql =~ /[tf]/g) : 'error';
	$by_function = $by_function =~ /^[01\s]+$/ ? $by_function =~ s/\s+/ /gr =~ s/ $//r : 'error';
	$said{ $by_sql eq 'error' ? 'error' : 'answers' }++;
	# Of what kind elements are, the function has to be told where no hash says it.
	next if $by_sql eq $by_function || $to_be_told;
	diag("seed $seed, $layout of $strategy, $count elements, $event of $string: SQL says $by_sql, the function $by_function") if $disagreements++ < 5;
}
is($disagreements, 0, 'the function says what SQL says');
ok($said{error} && $said{answers}, 'some were errors, and some were answers') if $has_functions;

# A filter that is filled by additions alone gets a witness with the first ones, and each
# layer, too, as it comes.
$redis->cli('FLUSHALL');
sql(q{
	SELECT bf_redis_create('cache', 'b', 1000, 0.01, 'magnuss', 'bitmap'), bf_redis_create('cache', 'r', 1000, 0.01, 'redisson'),
		bf_redis_create('cache', 'g', 100, 0.01, 'guava', 'growing', 1)});
is(join(' ', map { $redis->cli('HEXISTS', $_, 'witness') } '{b}:bloomext', '{r}:bloomext', 'g-config'), '0 0 0', 'what is empty has no witness');
sql("SELECT bf_redis_add('cache', k, 't1') FROM unnest(ARRAY['b', 'r', 'g']) AS k");
is(join(' ', map { $redis->cli('HEXISTS', $_, 'witness') } '{b}:bloomext', '{r}:bloomext', 'g-config'), '1 1 1', 'with the first element it gets one');
sql("SELECT bf_redis_add_each('cache', k, ARRAY(SELECT 't' || i FROM generate_series(2, 1000) AS i)) IS NULL FROM unnest(ARRAY['b', 'r', 'g']) AS k");
is(sql("SELECT string_agg(denied(k, 'each'), ' ') FROM unnest(ARRAY['b', 'r', 'g']) AS k"), '0 0 0', 'all are there');
my @parts = split /;/, $redis->cli('HGET', 'g-config', 'witness');
is(scalar(@parts), sql("SELECT layers FROM bf_redis_info('cache', 'g')"), 'a part for each layer');
is(scalar(grep { / / } @parts[ 0 .. $#parts - 1 ]), $#parts, 'with words');
for my $key ('b', 'r', 'g-' . int($#parts / 2))
{
	$redis->cli('DEL', $key);
	$redis->cli('SETBIT', $key, 8 * 1198, 1);
	is(sql("SELECT denied(left('$key', 1), 'each')"), '42704', "$key: made anew");
}

# A string of Redisson's has no length of its own.  What is left of one is not asked, even
# if it has all words of the witness: it was longer when that was written.
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create('cache', 'redisson', 2000, 0.01, 'redisson'),
	bf_redis_add_each('cache', 'redisson', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i)) IS NULL");
my $said = $redis->cli('HGET', '{redisson}:bloomext', 'witness');
$redis->cli('HSET', '{redisson}:bloomext', 'witness', $said =~ s/^\d+/0/r);
is(sql("SELECT denied('redisson', 'each')"), 0, 'a witness of an older release, which says no length');
$redis->cli('HSET', '{redisson}:bloomext', 'witness', $said);
my $left = 4 + 4 * max($said =~ /(\d+):/g);
cmp_ok($left, '<', 0.97 * $redis->cli('STRLEN', 'redisson'), 'no word of the witness is at the end');
my $warm = LiveTest->new($node)->session;
is($warm->ask("SELECT denied('redisson', 'each')"), 0, 'all of the string');
$redis->cli('EVAL', q{redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, ARGV[1] - 1))}, 1, 'redisson', $left);
foreach my $way (@ways)
{
	is($warm->ask("SELECT denied('redisson', '$way')"), '42704', "cut behind the words of the witness, in a session that knew all of it: $way");
	is(sql("SELECT denied('redisson', '$way')"), '42704', "... in a new one: $way");
}
$warm->quit;

# Each of the four words that are looked at with every answer counts, in a session that
# does not describe the filter again.
foreach my $word (0 .. 3)
{
	mirror('bitmap');
	my $session = LiveTest->new($node)->session;
	is($session->ask("SELECT denied('bitmap', 'each')"), 0, "word $word: there");
	my ($number, $bits) = ($redis->cli('HGET', '{bitmap}:bloomext', 'witness') =~ / (\d+):(\d+)/g)[ 2 * $word, 2 * $word + 1 ];
	$redis->cli('BITFIELD', 'bitmap', 'SET', 'u32', "#$number", 0);
	cmp_ok($bits, '>', 0, "word $word: has bits");
	is($session->ask("SELECT denied('bitmap', 'each')"), '42704', "word $word: lost");
	$session->quit;
}

# As a filter fills its witness gets better, a few times: so what services make of its
# first elements alone is not taken for it.
for my $layout (qw(bitmap redisson growing))
{
	for my $way ('one by one', 'in arrays')
	{
		$redis->cli('FLUSHALL');
		my $string = $layout eq 'growing' ? '-0' : '';
		sql("SELECT bf_redis_create('cache', k, 2000, 0.01, '$layouts{$layout}[0]', '$layout', @{[ $layout eq 'growing' ? 1 : 0 ]}), bf_redis_add('cache', k, 't1') FROM unnest(ARRAY['all', 'first']) AS k");
		my @witnesses;
		for my $from (map { 2 + 20 * $_ } 0 .. 44)
		{
			my $elements = "(SELECT array_agg('t' || i) FROM generate_series($from, $from + 19) AS i)";
			sql($way eq 'one by one' ? "SELECT count(bf_redis_add('cache', 'all', t)) FROM unnest($elements) AS t" :
				"SELECT bf_redis_add_each('cache', 'all', $elements)");
			my $witness = $redis->cli('HGET', $layout eq 'growing' ? 'all-config' : '{all}:bloomext', 'witness');
			push @witnesses, $witness if !@witnesses || $witnesses[-1] ne $witness;
		}
		cmp_ok(scalar(@witnesses), '>', 1, "$layout, $way: a better witness");
		cmp_ok(scalar(@witnesses), '<', 7, "$layout, $way: a few times");
		is(sql("SELECT count(*) FROM generate_series(1, 900) AS i WHERE NOT bf_redis_contains('cache', 'all', 't' || i)"), 0, "$layout, $way: nothing is denied");
		$redis->cli('COPY', "first$string", "all$string", 'REPLACE');
		is(outcome("SELECT bf_redis_contains('cache', 'all', 't500')"), '42704', "$layout, $way: made anew of its first element");
	}
}

# What is no number of a layer, or of none that is there, says as little as no cursor; and
# who creates a filter that is there is told where a layer of it is lost.
for my $loss (map { my $cursor = $_; sub { $redis->cli('EVAL', "return redis.call('SET', KEYS[1], '$cursor')", 1, 'growing-cursor') } }
	'x', '', '1 ', '64', '99999999999999999999', '1\\0', '\\0', '1' . ' ' x 30)
{
	for my $mends ("SELECT bf_mirror(filter('guava', 2), 'cache', 'growing', 'growing') > 0", "SELECT bf_redis_drop('cache', 'growing')")
	{
		mirror('growing');
		$loss->();
		is(sql("SELECT denied('growing', 'each')"), '42704', 'a cursor that is none');
		is(sql($mends), 't', '... is in nobody\'s way');
	}
}
my $chain = "'cache', 'chain', 50, 0.0001, 'guava', 'growing', 1";
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create($chain), bf_redis_add_each('cache', 'chain', ARRAY(SELECT 't' || i FROM generate_series(1, 300) AS i)) IS NULL");
$redis->cli('HDEL', 'chain-config', 'funnel', 'elements');
is(sql("SELECT bf_redis_create($chain, funnel => 'utf8')") . sql("SELECT layers > 3, funnel FROM bf_redis_info('cache', 'chain')"), 'ft|utf8', 'of what kind many layers are, is noted');
$redis->cli('DEL', 'chain-2');
is(outcome("SELECT bf_redis_create($chain)"), '42704', 'created where the third layer is lost');
is(outcome("SELECT bf_redis_info('cache', 'chain')"), '42704', '... and asked how full it is');
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create($chain), bf_redis_add_each('cache', 'chain', ARRAY(SELECT 't' || i FROM generate_series(1, 300) AS i)) IS NULL");
$events{'zeros in its place'}->('chain-2');
is(outcome("SELECT bf_redis_info('cache', 'chain')"), '42704', 'where the third layer was made anew, too');

# What has no witness is asked as it was: a release without them, or a service, made it.
for my $layout (qw(bitmap redisson guava growing))
{
	my $hash = $layout eq 'growing' ? 'growing-config' : "{$layout}:bloomext";
	mirror($layout);
	$redis->cli('HDEL', $hash, 'witness');
	is(sql("SELECT denied('$layout', 'each')"), 0, "$layout: no witness");
	is(sql("SELECT bf_redis_add('cache', '$layout', 'new')"), 't', "$layout: added");
	is($redis->cli('HEXISTS', $hash, 'witness'), 1, "$layout: and there is one");
}

# So does a mirror of an empty filter.
for my $layout (qw(bitmap redisson))
{
	$redis->cli('FLUSHALL');
	sql("SELECT bf_mirror(bf_create(2000, 0.001, '$layouts{$layout}[0]', 'utf8'), 'cache', '$layout', '$layout'),
		bf_redis_add_each('cache', '$layout', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i)) IS NULL");
	is(sql("SELECT denied('$layout', 'each')"), 0, "$layout: an empty mirror, filled by additions");
	$events{'SETBIT at its end'}->($layout);
	is(sql("SELECT denied('$layout', 'each')"), '42704', "$layout: and made anew");
}

# Text that is no witness is an error with a way out; beside a stream it is ignored.
for my $witness ('nobody', '1 2', '1263 1:x', '1263 999999999999999999999:1', ';', '1263 4:1 4')
{
	mirror('bitmap');
	$redis->cli('HSET', '{bitmap}:bloomext', 'witness', $witness);
	is(outcome("SELECT bf_redis_contains('cache', 'bitmap', 't1')"), '42704', "what is no witness: $witness");
	sql("SELECT bf_mirror(filter('magnuss', 0), 'cache', 'bitmap', 'bitmap')");
	is(sql("SELECT denied('bitmap', 'each')"), 0, '... is written over');
	mirror('guava');
	$redis->cli('HSET', '{guava}:bloomext', 'witness', $witness);
	is(sql("SELECT denied('guava', 'each')"), 0, '... and ignored beside a stream');
}

# A stream that took another's place has that one's hash, and is asked for both kinds.
$redis->cli('FLUSHALL');
sql(q{SELECT bf_mirror(bf_agg(i::bigint, 1000, 0.01), 'cache', 'long'), bf_mirror(bf_agg(i, 1000, 0.01), 'cache', 'int') FROM generate_series(1, 500) AS i});
$redis->cli('RENAME', 'int', 'long');
is(outcome("SELECT count(*) FROM generate_series(1, 500) AS i WHERE NOT bf_redis_contains('cache', 'long', i)"), 0, 'integers of another width are found');
is(sql("SELECT funnel IS NULL FROM bf_redis_info('cache', 'long')"), 't', 'and nothing says what they are');
is(outcome("SELECT bf_redis_add('cache', 'long', 9999)"), '22023', 'one is not added as a guess');

# What a session is told when it calls a function.
sub notice
{
	my ($call) = @_;
	$node->psql('postgres', "SELECT $call IS NULL", stderr => \my $said);
	return $said =~ s/^psql:\S+ //gmr;
}

# Nor are its texts denied, by whichever funnel, with or without blanks at their ends, whether
# its hash is gone or another's; nor when it was fetched, taken for text as UTF-8, and mirrored.
foreach my $kind ([ "('t' || i)::char(8)", 'utf8' ], [ "('t' || i)::char(8)", 'utf16' ], [ "'t' || i", 'utf16' ], [ "'t' || i || '  '", 'utf16' ])
{
	my ($element, $funnel) = @$kind;
	my $is = $element =~ /char/ ? "rpad($element, 8)" : $element;
	sql("SELECT bf_mirror(bf_agg_into(bf_create(1000, 0.01, funnel => '$funnel'), $element), 'cache', 'texts'),
			bf_mirror(bf_agg('u' || i, 1000, 0.01), 'cache', 'other') FROM generate_series(1, 500) AS i");
	my $denied = "SELECT count(*) FROM generate_series(1, 500) AS i WHERE NOT bf_redis_contains('cache', 'texts', $is)";
	is(outcome($denied), 0, "$element, $funnel: found");
	$redis->cli('COPY', '{other}:bloomext', '{texts}:bloomext', 'REPLACE');
	is(outcome($denied), 0, '... by another hash, too');
	$redis->cli('DEL', '{texts}:bloomext');
	is(outcome($denied), 0, '... and by none');
	is(notice("bf_fetch('cache', 'texts', funnel => '$funnel')"), '', '... it is fetched for a funnel');
	like(notice("bf_mirror(bf_fetch('cache', 'texts'), 'cache', 'texts')"), qr/^NOTICE:  nothing records .*"texts" are\n.*"utf8".*\n.*name their funnel/, '... or as text');
	is(outcome($denied), 0, '... and when what was fetched so was mirrored');
	is($redis->cli('HEXISTS', '{texts}:bloomext', 'mirrored'), 0, '... of which the kind is not known');
}

# A witness of what was there when SQL added to a stream proves nothing about what a service
# had put there, by other bytes: be that before the first addition or later.
foreach my $kind ([ 'i', 'i::bigint', 5000 ], [ 'i::bigint', 'i', '5000' ], [ "'t' || i", 'utf16', "'new'" ])
{
	my ($says, $has, $new) = @$kind;
	my $elements = $has eq 'utf16' ? $says : $has;
	my $of = sub { my ($e, $count, $funnel) = @_; "(SELECT bf_agg_into(bf_create(1000, 0.01, 'guava'" . ($funnel ? ", '$funnel'" : '') . "), $e) FROM generate_series(1, $count) AS i)" };
	foreach my $first ('created', 'a few', 'many')
	{
		$redis->cli('FLUSHALL');
		sql("SELECT " . ($first eq 'created' ? "bf_redis_create('cache', 'key', 1000, 0.01)" : 'bf_mirror(' . $of->($says, $first eq 'a few' ? 3 : 900) . ", 'cache', 'key')"));
		sql("SELECT bf_mirror(" . $of->($elements, 900, $has eq 'utf16' ? 'utf16' : undef) . ", 'cache', 'service')");
		$redis->cli('RENAME', 'service', 'key');
		foreach my $times (1 .. 3)
		{
			outcome("SELECT bf_redis_add('cache', 'key', $new), bf_redis_add_each('cache', 'key', ARRAY(SELECT $says FROM generate_series(2000, 2100) AS i)) IS NULL");
			is(outcome("SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'key', ARRAY(SELECT $elements FROM generate_series(1, 900) AS i))) AS f WHERE NOT f"), 0, "$says over $has, first $first, $times: an array");
			is(outcome("SELECT count(*) FROM generate_series(1, 100) AS i WHERE NOT bf_redis_contains('cache', 'key', $elements)"), 0, "... one by one");
		}
	}
}

# What is no hash, beside a stream, is no note, and a hash with a zero byte an error.
mirror('guava');
$redis->cli('DEL', '{guava}:bloomext');
$redis->cli('SET', '{guava}:bloomext', 'a string');
is(sql("SELECT denied('guava', 'one'); SELECT denied('guava', 'one'); SELECT denied('guava', 'each')"), "0\n0\n0", 'a string in place of the note');
mirror('bitmap');
$redis->cli('EVAL', q{redis.call('HSET', KEYS[1], 'fpp', '0.01\\0x')}, 1, '{bitmap}:bloomext');
is(outcome("SELECT bf_redis_contains('cache', 'bitmap', 't1')"), '22P03', 'a zero byte');

# Scripts go by name; where Redis does not have them, or the account may not name them,
# they go whole.
mirror($_) foreach 'bitmap';
sql("SELECT bf_mirror(filter('guava', 2), 'cache', 'growing', 'growing')");
$redis->cli('CONFIG', 'RESETSTAT');
is(sql("SELECT denied('bitmap', 'each') || denied('growing', 'each')"), '00', 'by name');
my $calls = $redis->cli('INFO', 'commandstats');
like($calls, qr/cmdstat_evalsha(?:_ro)?:/, '... as Redis counts');
$redis->cli('SCRIPT', 'FLUSH');
is(sql("SELECT denied('bitmap', 'each') || denied('growing', 'add') || denied('growing', 'each')"), '000', 'scripts are lost');
$redis->cli('ACL', 'SETUSER', 'default', '-@scripting', '+eval');
$redis->cli('CONFIG', 'RESETSTAT');
is(sql("SELECT denied('bitmap', 'each') || denied('growing', 'add') || denied('growing', 'each')"), '000', 'an account without EVALSHA');
unlike($redis->cli('INFO', 'commandstats'), qr/cmdstat_evalsha(?:_ro)?:calls=[^0]/, '... which is never executed');
$redis->cli('ACL', 'SETUSER', 'default', '+@scripting');

# Scripts that read say so, for which an account needs no right to write.
if ($has_functions)
{
	sql(q{CREATE SERVER reader FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '} . $redis->{socket} . q{');
		CREATE USER MAPPING FOR CURRENT_USER SERVER reader OPTIONS (username 'reader', password 'secret')});
	$redis->cli('ACL', 'SETUSER', 'reader', 'reset', 'on', '>secret', '%R~*', '+@read', '+ping', '+eval_ro', '+evalsha_ro');
	$redis->cli('SCRIPT', 'FLUSH');
	my @questions = map { ("bf_redis_contains('reader', '$_', 't1')", "bf_fetch('reader', '$_') IS NOT NULL", "(bf_redis_info('reader', '$_')).bits > 0") } qw(bitmap growing);
	is(outcome("SELECT $_"), 't', "without a right to write: $_") foreach @questions;
	is(outcome("SELECT bf_redis_add('reader', 'bitmap', 'new')"), '42501', '... but to add');
	foreach my $rights ([ '~*', '+eval' ], [ '%R~*', '+eval_ro' ], [ '~*', '+evalsha', '+eval' ])
	{
		$redis->cli('ACL', 'SETUSER', 'reader', 'reset', 'on', '>secret', '+@read', '+ping', @$rights);
		$redis->cli('SCRIPT', 'FLUSH');
		is(outcome("SELECT $_"), 't', "@$rights: $_") foreach @questions;
	}
	$redis->cli('ACL', 'SETUSER', 'reader', 'reset', 'on', '>secret', '~*', '+@read', '+ping', '+eval', '-bitfield_ro');
	is(outcome("SELECT $_"), '42501', "a right that is missing says nothing of a filter: $_") foreach @questions;
}

# ---- What a session remembers ----

my $session = LiveTest->new($node)->session;

# From the second statement on there is one round trip.
foreach my $layout (sort keys %layouts)
{
	next if $layout eq 'shards';
	mirror($layout);
	my $question = "SELECT bf_redis_contains('cache', '$layout', 't1'), bf_redis_contains('cache', '$layout', 'absent')";
	is($session->ask("$question; $question"), 't|f; t|f', "$layout: a session that asks");
	# The least of some times: what is remembered is so for a second, in which a busy
	# machine may not ask ten times.
	my (@reads, @bytes);
	foreach (1 .. 5)
	{
		my @before = map { $redis->cli('INFO', 'stats') =~ /$_:(\d+)/ ? $1 : die } qw(total_reads_processed total_net_input_bytes);
		$session->ask($question) foreach 1 .. 10;
		my @after = map { $redis->cli('INFO', 'stats') =~ /$_:(\d+)/ ? $1 : die } qw(total_reads_processed total_net_input_bytes);
		push @reads, $after[0] - $before[0];
		push @bytes, $after[1] - $before[1];
	}
	cmp_ok(min(@reads), '<', 40, "$layout: one round trip a question");
	cmp_ok(min(@bytes), '<', 10 * ($layout eq 'growing' ? 1950 : 1300), "$layout: two of some 500 bytes");
}

# And what comes between two of its statements is seen.
foreach my $layout (sort keys %layouts)
{
	foreach my $event (sort keys %events)
	{
		foreach my $way (@ways)
		{
			next if $layout eq 'shards' && $way eq 'fetch';
			mirror($layout);
			is($session->ask("SELECT denied('$layout', 'one')"), 0, "$layout, $event, $way: a session") if $event eq 'evicted';
			$session->ask("SELECT denied('$layout', 'one')");
			$events{$event}->("$layout$layouts{$layout}[2]");
			like($session->ask("SELECT denied('$layout', '$way')"), qr/^(?:42704|22023|0)$/, "$layout, $event: between statements, $way");
		}
	}
}

# So is a filter of the same shape that has its elements by other bytes, or others, be it
# that the note stays, goes, or says so.
foreach my $count (3, 1000)
{
	foreach my $kind ([ 'utf8', 'utf16', "'t' || i" ], [ 'int', 'long', 'i' ], [ 'utf8', 'long', 'i' ])
	{
		my ($old, $new, $element) = @$kind;
		foreach my $note ('stays', 'goes', 'comes')
		{
			next if $old eq 'utf8' && $new eq 'long' && $note eq 'stays'; # a service deletes it
			foreach my $alone (1, 0)
			{
				$redis->cli('FLUSHALL');
				my $asked = $alone ? "SELECT count(*) FROM (SELECT bf_redis_contains('cache', 'key', e) AS f FROM (SELECT $element AS e FROM generate_series(1, $count) AS i) AS e) AS a WHERE NOT f" :
				  "SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'key', ARRAY(SELECT $element FROM generate_series(1, $count) AS i))) AS f WHERE NOT f";
				my $of = sub { my ($funnel) = @_; my $is = $funnel =~ /^utf/ ? "'t' || i" : 'i';
					return "(SELECT bf_agg_into(bf_create(2000, 0.0001, 'guava', '$funnel'), $is) FROM generate_series(1, $count) AS i)" };
				sql("SELECT bf_mirror(@{[ $of->($old) ]}, 'cache', 'key'), bf_mirror(@{[ $of->($new) ]}, 'cache', 'other')");
				my $before = $old eq 'utf8' ? "'t1'" : '1';
				is($session->ask("SELECT bf_redis_contains('cache', 'key', $before)"), 't', "$count of $old");
				$redis->cli('RENAME', 'other', 'key');
				$redis->cli('DEL', '{key}:bloomext') if $note eq 'goes';
				$redis->cli('RENAME', '{other}:bloomext', '{key}:bloomext') if $note eq 'comes';
				is($session->ask($asked), 0, "$count of $old, then of $new, whose note $note" . ($alone ? ', one by one' : ', an array'));
			}
		}
	}
}

# In the middle of a statement, too, where the hash is not looked at.
sub of_kind { my ($funnel, $element, $count) = @_; return "(SELECT bf_agg_into(bf_create(2000, 0.0001, 'guava', '$funnel'), $element) FROM generate_series(1, $count) AS i)" }
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(@{[ of_kind('utf8', q('t' || i), 1000) ]}, 'cache', 'key'), bf_mirror(@{[ of_kind('utf16', q('t' || i), 1000) ]}, 'cache', 'other')");
my $holder = LiveTest->new($node)->session;
$holder->ask('SELECT pg_advisory_lock(1)');
$session->start(q{DO $$ BEGIN FOR i IN 1 .. 5 LOOP
	IF i = 3 THEN PERFORM pg_advisory_lock(1); END IF;
	IF NOT bf_redis_contains('cache', 'key', 't' || i) THEN RAISE 'denied'; END IF;
END LOOP; END $$});
until (sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")) { }
$redis->cli('RENAME', 'other', 'key');
$holder->ask('SELECT pg_advisory_unlock(1)');
is($session->finish, '', 'text by other bytes, in the middle of a statement');
$holder->quit;
$session->quit;

# A mirror of a few elements has a witness that a service's filter may have as well.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(@{[ of_kind('int', 'i', 3) ]}, 'cache', 'key'), bf_mirror(@{[ of_kind('long', 'i', 900) ]}, 'cache', 'other')");
$redis->cli('BITOP', 'OR', 'key', 'key', 'other');
is(sql("SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'key', ARRAY(SELECT i FROM generate_series(1, 900) AS i))) AS f WHERE NOT f"), 0, 'a few bits prove nothing');

# Who says what a string is, is told that it is not what its hash says.
mirror('bitmap');
is(sql("SELECT count(*) FROM generate_series(1, 1000) AS i, bf_fetch('cache', 'bitmap', 'bitmap', 2000, 0.0001, 'magnuss', 'utf8') AS f WHERE NOT bf_contains(f, 't' || i)"), 0, 'fetched by parameters');
$events{'zeros in its place'}->('bitmap');
is(outcome("SELECT bf_fetch('cache', 'bitmap', 'bitmap', 2000, 0.0001, 'magnuss') IS NULL"), '42704', '... where it is another one');

# A statement of PL/pgSQL is not the same one when it is executed again.
$redis->cli('FLUSHALL');
sql("CREATE FUNCTION asked(key text, element text) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RETURN bf_redis_contains('cache', key, element); END \$\$; SELECT bf_redis_create('cache', 'key', 1000, 0.01)");
is(sql("BEGIN;\nSELECT asked('key', 'x');\n\\! psql -XAtq -d '@{[ $node->connstr('postgres') =~ s/'//gr ]}' -c \"SELECT bf_redis_add('cache', 'key', 'q'::char(5))\"\nSELECT asked('key', 'q  ');"), "f\nt\nt", 'of another kind between two statements of a transaction');

# Nor is what it was told of a filter without proof true of a service's in its place.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(@{[ of_kind('utf8', q('t' || i), 3) ]}, 'cache', 'key'), bf_mirror(@{[ of_kind('long', 'i', 900) ]}, 'cache', 'other')");
is(sql("BEGIN;\nSELECT asked('key', 't1');\n\\! redis-cli -s $redis->{socket} EVAL \"redis.call('rename', 'other', 'key'); redis.call('del', '{key}:bloomext', '{other}:bloomext')\" 0 >/dev/null\nSELECT asked('key', '5');"), "t\nt", 'integers of a service between two statements of a transaction');

# What gives a string its own name back is refused before it has lost that.
for my $layout (qw(bitmap redisson guava))
{
	for my $right (qw(exists type del rename pttl strlen))
	{
		mirror($layout);
		$redis->cli('ACL', 'SETUSER', 'default', "-$right");
		like(outcome("SELECT bf_redis_add('cache', '$layout', 't1')"), qr/^(?:f|42501|42704|38000)$/, "$layout without +$right: added to");
		$redis->cli('ACL', 'SETUSER', 'default', "+$right");
		is(sql("SELECT denied('$layout', 'each')"), 0, '... and all is there');
	}
}

# ---- Keys of others ----

sub digest { return $redis->cli('EVAL', "$RedisServer::digest return digest(KEYS[1])", 1, $_[0]); }

# What a statement does to the keys of others: nothing, and it says so.
sub refused
{
	my ($name, $keys, $sql) = @_;
	my $before = join "\n", map { digest($_) } @$keys;
	my $outcome = outcome($sql);
	is($outcome, '22023', "$name: refused");
	is(join("\n", map { digest($_) } @$keys), $before, "$name: they are as they were");
}
my $grows = "SELECT bf_redis_create('cache', 'news', 100, 0.01, 'guava', 'growing', 1)";
for my $key ('news-0', 'news-1', 'news-config', 'news-cursor')
{
	$redis->cli('FLUSHALL');
	$key eq 'news-config' ? $redis->cli('HSET', $key, 'theme', 'dark') : $redis->cli('SET', $key, 'page=77');
	refused("$key, created", [$key], $grows);
	refused("$key, mirrored", [$key], "SELECT bf_mirror(filter('guava', 2), 'cache', 'news', 'growing')");
}
$redis->cli('FLUSHALL');
sql("$grows, bf_redis_add_each('cache', 'news', ARRAY['a', 'b']), bf_mirror(filter('magnuss', 0), 'cache', 'news-1', 'bitmap')");
refused('the next layer', ['news-1'], "SELECT bf_redis_add_each('cache', 'news', ARRAY(SELECT 'n' || i FROM generate_series(1, 300) AS i))");
is(sql("SELECT denied('news-1', 'each')"), 0, 'and all is found there');
$redis->cli('FLUSHALL');
sql("$grows, bf_redis_create('cache', 'news-1', 100, 0.01, 'redisson')");
refused('the next layer, an empty filter of Redisson', ['{news-1}:config'], "SELECT bf_redis_add_each('cache', 'news', ARRAY(SELECT 'n' || i FROM generate_series(1, 300) AS i))");
is($redis->cli('EXISTS', 'news-1'), 0, 'nothing is put there');
for my $layout ('guava', 'bitmap')
{
	$redis->cli('FLUSHALL');
	sql("SELECT bf_redis_create('cache', 'news:0', 1000, 0.01, 'guava', '$layout'), bf_redis_add('cache', 'news:0', 'mine')");
	refused("$layout: somebody's filter, where a shard is mirrored", [ 'news:0', '{news:0}:bloomext' ],
		"SELECT bf_mirror(bf_agg('t' || i, 500, 0.01, 'guava'), 'cache', 'news', '$layout;shards=2/0') FROM generate_series(1, 10) AS i");
	refused("$layout: ... where it is created", [ 'news:0', '{news:0}:bloomext' ],
		"SELECT bf_redis_create('cache', 'news', 2000, 0.01, 'guava', '$layout;shards=2')");
	is(sql("SELECT bf_redis_contains('cache', 'news:0', 'mine')"), 't', "$layout: and asked");
}
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(filter('magnuss', 0), 'cache', 'news-0', 'bitmap')");
refused('its first layer', ['news-0'], "SELECT bf_mirror(bf_agg('t' || i, 300, 0.01, 'magnuss', 1), 'cache', 'news', 'growing') FROM generate_series(1, 10) AS i");
$redis->cli('FLUSHALL');
$redis->cli('HSET', '{user}:config', 'lang', 'en');
refused("Redisson's hash, $_->[0]", ['{user}:config'], $_->[1])
  foreach [ 'created', "SELECT bf_redis_create('cache', 'user', 100, 0.01, 'redisson')" ], [ 'mirrored', "SELECT bf_mirror(filter('redisson', 0), 'cache', 'user')" ],
  [ 'mirrored empty', "SELECT bf_mirror(bf_create(10, 0.01, 'redisson'), 'cache', 'user')" ];
is($redis->cli('EVAL', "return #redis.call('KEYS', '*tmp*')", 0), 0, 'nothing temporary is left');

# What has come in the place of an evicted layer is left alone by what removes layers.
my $small = "SELECT bf_mirror(bf_agg('t' || i, 300, 0.0001, 'guava', 2), 'cache', 'growing', 'growing') FROM generate_series(1, 10) AS i";
for my $come (sub { $redis->cli('RPUSH', 'growing-1', 1) }, sub { sql("SELECT bf_redis_create('cache', 'growing-1', 500, 0.01, 'magnuss', 'bitmap')") })
{
	for my $does ("SELECT bf_redis_drop('cache', 'growing')", $small, "SELECT bf_mirror(filter('guava', 2), 'cache', 'growing', 'growing')")
	{
		mirror('growing');
		$redis->cli('DEL', 'growing-1');
		$come->();
		my $before = $redis->cli('DUMP', 'growing-1');
		like(outcome($does), qr/^(?:t|\d+|22023)$/, "a layer's key is somebody else's: $does");
		is($redis->cli('DUMP', 'growing-1'), $before, '... and stays so');
	}
}

# Sessions that create the same sharded filters at once are not in each other's way.
my @creating = map {
	my ($out, $err) = ('', '');
	[ \$out, \$err, IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<',
			\join('', map { "SELECT bf_redis_create('cache', 'both$_', 1000, 0.01, layout => 'guava;shards=4');\n" } 1 .. 40), '>', \$out, '2>', \$err) ]
} 1 .. 3;
$_->[2]->finish foreach @creating;
is(join('', map { ${ $_->[1] } } @creating), '', 'sessions that create the same sharded filters');
is(scalar(grep { $_ eq 't' } map { split /\n/, ${ $_->[0] } } @creating), 40, '... make each of them once');

# A filter at the key of a shard is no shard.
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create('cache', 'news:2', 250, 0.01, 'magnuss', 'bitmap'), bf_redis_add('cache', 'news:2', 'x')");
refused('a shard', ['news:2'], "SELECT bf_redis_create('cache', 'news', 1000, 0.01, 'magnuss', 'bitmap;shards=4')");
$redis->cli('FLUSHALL');
sql(q{SELECT bf_redis_create('cache', 'news', 1000, 0.01, 'magnuss', 'bitmap;shards=4'), bf_redis_add_each('cache', 'news', ARRAY(SELECT 't' || i FROM generate_series(1, 100) AS i))});
$redis->cli('DEL', 'news:2', '{news:2}:bloomext');
sql("SELECT bf_redis_create('cache', 'news:2', 250, 0.01, 'magnuss', 'bitmap')");
is(sql("SELECT denied('news', 'each')"), '42704', 'what is put in place of a shard is none');
is(sql("SELECT bf_redis_drop('cache', 'news')") . $redis->cli('EXISTS', 'news:2'), 't1', 'and is not dropped with the filter');
is(sql("SELECT bf_redis_create('cache', 'once', 1000, 0.01, 'magnuss', 'bitmap;shards=4')") . sql("SELECT bf_redis_create('cache', 'once', 1000, 0.01, 'magnuss', 'bitmap;shards=4')"), 'tf', 'who creates one twice finds it');

# A filter that was made by a release without ids has shards without.
$redis->cli('HDEL', '{once}:bloomext-shards', 'strategy');
$redis->cli('HDEL', "{once:$_}:bloomext", 'whole') foreach 0 .. 3;
is(sql("SELECT bf_redis_add('cache', 'once', 'x'), bf_redis_contains('cache', 'once', 'x'), bf_redis_create('cache', 'once', 1000, 0.01, 'magnuss', 'bitmap;shards=4')"), 't|t|f', 'shards without an id');

# A growing filter that has lost its first layer is not answered for by a string that
# somebody puts at its key, unless a note says that the string is a filter.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(filter('guava', 2), 'cache', 'overlaid', 'growing'), bf_mirror(filter('guava', 0), 'cache', 'other', 'guava')");
$redis->cli('EVAL', q{redis.call('SET', KEYS[2], redis.call('GET', KEYS[1]))}, 2, 'other', 'overlaid');
$redis->cli('DEL', 'overlaid-0');
is(outcome("SELECT bf_redis_contains('cache', 'overlaid', 'x')"), '42704', 'a lost filter under a string of somebody else');
$redis->cli('EVAL', q{redis.call('RENAME', KEYS[1], KEYS[2])}, 2, '{other}:bloomext', '{overlaid}:bloomext');
is(sql("SELECT bf_redis_contains('cache', 'overlaid', 't1')"), 't', 'which is asked where a note proves it');

# A string that is longer than a filter of Redisson's is not asked as that filter,
# whatever hashes are put next to it.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(filter('guava', 0), 'cache', 'long', 'guava'), bf_redis_create('cache', 'short', 10, 0.01, 'redisson', 'redisson')");
$redis->cli('EVAL', q{for i = 1, 2 do redis.call('RENAME', KEYS[i], ARGV[i]) end}, 2, '{short}:config', '{short}:bloomext', '{long}:config', '{long}:bloomext');
is(outcome("SELECT bf_redis_contains('cache', 'long', 't1')"), '42704', 'a string longer than the filter that is described');
is(outcome("SELECT bf_redis_add('cache', 'long', 't1')"), '42704', 'is not added to');

# An empty filter does not take the place of one that had elements, of which a hash is
# left, and maybe layers.
foreach my $case ([ 'magnuss', 0, 'bitmap', '' ], [ 'guava', 0, 'guava', '' ], [ 'guava', 2, 'growing', '-0' ])
{
	my ($strategy, $expansion, $layout, $string) = @$case;
	my $create = "SELECT bf_redis_create('cache', 'lost', 100, 0.01, '$strategy', '$layout', $expansion)";
	$redis->cli('FLUSHALL');
	is(sql($create), 't', "$layout: created");
	$redis->cli('DEL', "lost$string");
	is(sql($create), 't', "$layout: and again, as it had no elements") if $layout ne 'guava';
	sql("SELECT bf_redis_create('cache', 'lost', 100, 0.01, '$strategy', '$layout', $expansion), bf_redis_add_each('cache', 'lost', array_agg('t' || i)) FROM generate_series(1, 300) AS i");
	my $layers = $redis->cli('EXISTS', map { "lost-$_" } 1 .. 9);
	$redis->cli('DEL', "lost$string");
	is(outcome($create), '42704', "$layout: an empty filter in place of one that had elements");
	is($redis->cli('EXISTS', map { "lost-$_" } 1 .. 9), $layers, "$layout: whose layers stay");
	is(sql("SELECT bf_redis_drop('cache', 'lost')"), 't', "$layout: it is dropped");
	is(sql($create), 't', "$layout: and created again");
}

# The key of a filter's hash may hold a filter of somebody else.
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create('cache', '{of}:bloomext', 100, 0.01, 'magnuss'), bf_redis_add('cache', '{of}:bloomext', 'x')");
foreach my $statement (
	"bf_redis_create('cache', 'of', 100, 0.01, 'magnuss')", "bf_redis_create('cache', 'of', 100)",
	"bf_mirror(filter('magnuss', 0), 'cache', 'of', 'bitmap')", "bf_mirror(filter('guava', 0), 'cache', 'of', 'guava')")
{
	is(outcome("SELECT $statement"), '22023', "$statement, over the filter of somebody else");
}
is(sql("SELECT bf_redis_contains('cache', '{of}:bloomext', 'x')"), 't', 'which is found');

# What another filter has taken the place of is not dropped as it was described.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(filter('redisson', 0), 'cache', 'swapped', 'bitmap')");
$redis->cli('SCRIPT', 'FLUSH'); # so that its text is sent
my $relay = RedisRelay->new($redis, 'inf', qr/UNLINK/);
sql("CREATE SERVER relay FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$relay->{socket}'); CREATE USER MAPPING FOR CURRENT_USER SERVER relay");
my $out = '';
my $run = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', "SELECT bf_redis_drop('relay', 'swapped')" ], '<', \undef, '>', \$out, '2>', \my $err);
$relay->await_held;
sql("SELECT bf_redis_drop('cache', 'swapped'), bf_mirror(bf_agg('t' || i, 5000, 0.01, 'redisson'), 'cache', 'swapped', 'redisson') FROM generate_series(1, 1000) AS i");
$relay->go_on;
$run->finish;
is($out . join(' ', map { $redis->cli('EXISTS', $_) } 'swapped', '{swapped}:config', '{swapped}:bloomext'), "t\n0 0 0", 'the other filter is dropped whole, or not at all') || diag($err);

# Through a relay that holds what matches: a statement, what others do meanwhile, and
# what it says.
sub meanwhile
{
	my ($pattern, $sql, @others) = @_;
	my ($held, $said) = (RedisRelay->new($redis, 'inf', $pattern), '');
	sql("ALTER SERVER relay OPTIONS (SET socket '$held->{socket}')");
	my $run = IPC::Run::start([ 'psql', '-XAt', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-c', $sql ], '<', \undef, '>&', \$said);
	$held->await_held;
	sql($_) foreach @others;
	$held->go_on;
	$run->finish;
	return $said;
}

# A filter of the right shape that somebody makes at the key of a shard, just before it is
# created there, is none of the filter's.
$redis->cli('FLUSHALL');
$redis->cli('SCRIPT', 'FLUSH'); # so that its text is sent
is(meanwhile(qr/i ~= replaced/, "SELECT bf_redis_create('relay', 'taken', 3000, 0.01, 'magnuss', 'bitmap;shards=3')",
		"SELECT bf_redis_create('cache', 'taken:0', 1000, 0.01, 'magnuss', 'bitmap')"),
	"ERROR:  22023\n", 'a filter at the key of a shard');

# Shards that are created again while others of them are asked are asked again.
$redis->cli('FLUSHALL');
my %of = map { split /\|/ } split /\n/, sql("SELECT bf_shard('e' || i, 2), min('e' || i) FROM generate_series(1, 50) AS i GROUP BY 1");
my $twice = "'twice', 3000, 0.01, 'guava', 'guava;shards=2'";
sql("SELECT bf_redis_create('cache', $twice, funnel => 'utf8')");
is(meanwhile(qr/\A(?!.*bloomext-shards).*twice:1\r\n/s, "SELECT bf_redis_contains_each('relay', 'twice', ARRAY['$of{0}', '$of{1}'])",
		"SELECT bf_redis_drop('cache', 'twice')", "SELECT bf_redis_create('cache', $twice, funnel => 'utf8')", "SELECT bf_redis_add_each('cache', 'twice', ARRAY['$of{0}', '$of{1}'])"),
	"{t,t}\n", 'shards of a filter that is created again');

# What somebody puts at the key while a mirror is under way is not written over.
$redis->cli('FLUSHALL');
$redis->cli('SCRIPT', 'FLUSH');
$relay = RedisRelay->new($redis, 'inf', qr/PERSIST/);
sql("ALTER SERVER relay OPTIONS (SET socket '$relay->{socket}')");
$out = '';
$run = IPC::Run::start([ 'psql', '-XAt', '-v', 'VERBOSITY=sqlstate', '-d', $node->connstr('postgres'), '-c', "SELECT bf_mirror(filter('redisson', 0), 'relay', 'list')" ], '<', \undef, '>', \$out, '2>', \$err);
$relay->await_held;
$redis->cli('RPUSH', 'list', 1);
$relay->go_on;
$run->finish;
is($out . $err . $redis->cli('LRANGE', 'list', 0, -1), "ERROR:  22023\n1", 'what came meanwhile stays');

# A stream that is another one when it is read, and the same again afterwards, is not taken
# for what the hash says.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(@{[ of_kind('int', 'i', 500) ]}, 'cache', 'key'), bf_mirror(@{[ of_kind('long', 'i', 500) ]}, 'cache', 'other')");
$redis->cli('COPY', 'key', 'kept');
$redis->cli('ACL', 'SETUSER', 'default', '-@scripting', '+eval'); # so that scripts are sent whole
$relay = RedisRelay->new($redis, 1e9, qr/\$3\r\nGET\r\n/, qr/'TYPE'/);
sql("ALTER SERVER relay OPTIONS (SET socket '$relay->{socket}')");
$out = '';
$run = IPC::Run::start([ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-c', "WITH fetched AS MATERIALIZED (SELECT bf_fetch('relay', 'key') AS f) SELECT count(*) FROM generate_series(1, 500) AS i, fetched WHERE NOT bf_contains(f, i)" ], '<', \undef, '>', \$out, '2>', \$err);
$relay->await_held;
$redis->cli('COPY', 'other', 'key', 'REPLACE');
$relay->go_on;
$relay->await_held;
$redis->cli('COPY', 'kept', 'key', 'REPLACE');
$relay->go_on;
$run->finish;
is("$out$err", "0\n", 'a stream that is another one when it is fetched');
$redis->cli('ACL', 'SETUSER', 'default', '+@scripting');

done_testing();
