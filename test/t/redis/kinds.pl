# Filters in Redis know of what kind their elements are, whoever comes first; and
# what has lost a key says so, and never "no".
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisRelay;
use RedisTest qw(:DEFAULT outcome state_of);

my ($redis, $node) = start_servers([ RedisServer->bloom ]);

# Each layout: strategy, expansion, the key of its string and what is beside it.
my %layouts = (
	guava => [ 'guava', 0, 'K', '{K}:bloomext' ],
	growing => [ 'guava', 1, 'K-0', 'K-config', 'K-cursor' ],
	redisson => [ 'redisson', 0, 'K', '{K}:config', '{K}:bloomext' ],
	bitmap => [ 'guava', 0, 'K', '{K}:bloomext' ]);
$layouts{redisbloom} = [ 'redisbloom', 0, 'K', '{K}:bloomext' ] if RedisServer->bloom;

# bf_redis_create in a layout; more arguments may follow.
sub create
{
	my ($layout, $key, $more) = @_;
	my ($strategy, $expansion) = @{ $layouts{ $layout =~ s/;.*//r } };
	return "bf_redis_create('cache', '$key', 1000, 0.01, '$strategy', '$layout', $expansion" . ($more // '') . ")";
}

# How many of the integers of a query a service misses that takes them for longs.
sub missed
{
	my ($key, $integers) = @_;
	return sql("SELECT count(*) FROM unnest(bf_contains_each(bf_fetch('cache', '$key', NULL, 'long'), ARRAY($integers)::bigint[])) AS c WHERE NOT c");
}

# An integer is added as the filter has its integers, whatever its type in SQL.
my $literals = 'SELECT i FROM generate_series(200000, 200199) AS i';
for my $layout (grep { $layouts{$_}[0] eq 'guava' } sort keys %layouts)
{
	my $expansion = $layouts{$layout}[1];
	$redis->cli('FLUSHALL');
	sql("SELECT bf_mirror(bf_agg(i, 1000, 0.01, 'guava', $expansion), 'cache', 'ids', '$layout') FROM generate_series(1::bigint, 500) i;
		 SELECT bf_redis_add_each('cache', 'ids', ARRAY($literals))");
	is(missed('ids', $literals), 0, "$layout: what a mirror of bigints is added is added as bigint");
	sql("SELECT @{[ create($layout, 'made', \", funnel => 'long'\") ]}, bf_redis_add_each('cache', 'made', ARRAY($literals))");
	is(missed('made', $literals), 0, "$layout: and to a filter of longs");
	sql("SELECT @{[ create($layout, 'first') ]}, bf_redis_add('cache', 'first', 1::bigint), bf_redis_add('cache', 'first', 2)");
	is(missed('first', 'SELECT 1 UNION SELECT 2'), 0, "$layout: and where the first element is a bigint");
	sql("SELECT @{[ create($layout, 'int') ]}, bf_redis_add('cache', 'int', 1), bf_redis_add('cache', 'int', 2::bigint)");
	is(sql("SELECT bf_contains_each(bf_fetch('cache', 'int', NULL, 'int'), '{1,2}'::int[])"), '{t,t}', "$layout: or an int");
	is(state_of("SELECT bf_redis_add('cache', 'int', 5000000000)"), '22023', "$layout: which has no room for a wide one");
	is(sql("SELECT bf_redis_contains_each('cache', 'int', '{1,5000000000}'::bigint[])"), '{t,f}', "$layout: and surely has none");
}

# The first element decides, bf_redis_create, or the mirror.
for my $layout (sort keys %layouts)
{
	my $strategy = $layouts{$layout}[0];
	my %kinds = (utf8 => ["'x'::text", "'\\xff'::bytea"], bytes => ["'\\xff'::bytea", "'x'::text"]);
	$kinds{long} = [ '7::bigint', "'x'::text" ] if $strategy eq 'guava';
	for my $kind (sort keys %kinds)
	{
		my ($of, $other) = @{ $kinds{$kind} };
		my @ways = (
			[ 'first' => create($layout, 'first'), "bf_redis_add('cache', 'first', $of)" ],
			[ 'told' => create($layout, 'told', ", funnel => '$kind'") ],
			[ 'told later' => create($layout, 'told later'), create($layout, 'told later', ", funnel => '$kind'") ],
			[ 'mirror' => "bf_mirror(bf_create(1000, 0.01, '$strategy', '$kind', $layouts{$layout}[1]), 'cache', 'mirror', '$layout')" ],
			[ 'unbound' => "bf_mirror(bf_create(1000, 0.01, '$strategy', NULL, $layouts{$layout}[1]), 'cache', 'unbound', '$layout')",
				"bf_redis_add('cache', 'unbound', $of)" ]);
		for my $way (@ways)
		{
			my ($key, @calls) = @$way;
			$redis->cli('FLUSHALL');
			sql("SELECT $_") for @calls;
			is(sql("SELECT funnel FROM bf_redis_info('cache', '$key')"), $kind, "$layout, $key: $kind");
			is(state_of("SELECT $_"), '22023', "$layout, $key: another kind: $_")
			  for "bf_redis_add('cache', '$key', $other)", "bf_redis_contains('cache', '$key', $other)",
			  create($layout, $key, ", funnel => '@{[ $kind eq 'bytes' ? 'utf8' : 'bytes' ]}'");
			is(outcome("SELECT @{[ create($layout, $key) ]}, @{[ create($layout, $key, \", funnel => '$kind'\") ]},
						bf_redis_add('cache', '$key', $of) IS NOT NULL, bf_redis_contains('cache', '$key', $of)"),
				'f|f|t|t', "$layout, $key: the same kind");
		}
		$redis->cli('FLUSHALL');
		sql("SELECT @{[ create($layout, 'kept', \", funnel => '$kind', ttl => '1 hour'\") ]}");
		is(sql("SELECT bf_redis_drop('cache', 'kept')"), 't', "$layout: dropped");
		is($redis->cli('DBSIZE'), 0, "$layout: with what says of what kind it was");
	}
}

# Of what a service made nothing says whether its integers are of 4 bytes or of 8: they
# are asked for as both, and added when somebody has said it; as texts are.
sub service_makes
{
	my ($query) = @_;
	my $hex = sql("SELECT encode(bf_export(bf_agg(i, 1000, 0.01)), 'hex') FROM $query");
	$redis->cli('EVAL', "return redis.call('SET', KEYS[1], (ARGV[1]:gsub('..', function(x) return string.char(tonumber(x, 16)) end)))", 1, 'service', $hex);
}
$redis->cli('FLUSHALL');
service_makes('generate_series(1::bigint, 100) i');
is(sql("SELECT funnel IS NULL, (SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'service', ARRAY(SELECT generate_series(1, 100)))) c WHERE NOT c)
		FROM bf_redis_info('cache', 'service')"), 't|0', 'longs of a service are found as integers');
is(state_of("SELECT bf_redis_add('cache', 'service', 101)"), '22023', 'and none is added');
is(state_of("SELECT bf_redis_add('cache', 'service', 'x')"), '22023', 'nor a text, which may be in UTF-8 or in UTF-16');
is(sql("SELECT bf_redis_contains('cache', 'service', '5'), bf_redis_contains('cache', 'service', 'x')"), 't|f', 'what has no type is asked as an integer, too');
is(state_of("SELECT bf_redis_create('cache', 'service', 5000, funnel => 'long')"), '22023', 'whoever knows its shape');
is(sql("SELECT bf_redis_create('cache', 'service', 1000, 0.01, funnel => 'long')"), 'f', 'says what they are');
is(sql("SELECT bf_redis_add('cache', 'service', 101)"), 't', 'then they are added');
is(missed('service', 'SELECT generate_series(1, 101)'), 0, 'for services, too');
is(state_of("SELECT bf_redis_create('cache', 'service', 1000, 0.01, funnel => 'int')"), '22023', 'it is said once');

# A note that was lost, or left over from another filter, makes no "no".
sub all_found { return outcome("SELECT bool_and(c) FROM unnest(bf_redis_contains_each('cache', 'service', ARRAY(SELECT generate_series(1, 100)))) c") }
$redis->cli('HSET', '{service}:bloomext', 'funnel', 'int');
is(all_found(), 't', 'a note of the wrong width');
$redis->cli('HSET', '{service}:bloomext', 'bits', '64', 'funnel', 'utf8');
is(all_found(), 't', 'a note of another shape');
is(sql("SELECT funnel IS NULL FROM bf_redis_info('cache', 'service')"), 't', 'is none');
$redis->cli('DEL', '{service}:bloomext');
is(all_found(), 't', 'none');
sql("SELECT bf_mirror(bf_agg('x' || i, 1000, 0.01, 'guava', 0) , 'cache', 'text') FROM generate_series(1, 100) i");
sql("SELECT bf_mirror(bf_create(1000, 0.01, 'guava', 'utf16') + 'x16', 'cache', 'utf16')");
$redis->cli('DEL', '{utf16}:bloomext');
is(sql("SELECT bf_redis_contains('cache', 'utf16', 'x16')"), 't', 'nor does UTF-16 get lost with it');

sql("SELECT @{[ create('guava;shards=3', 'utf16 shards', \", funnel => 'utf16'\") ]}; SELECT bf_redis_add_each('cache', 'utf16 shards', array_agg('x' || i)) FROM generate_series(1, 100) i");
$redis->cli('DEL', '{utf16 shards:0}:bloomext');
is(state_of("SELECT bool_and(bf_redis_contains('cache', 'utf16 shards', 'x' || i)) FROM generate_series(1, 100) i"), '42704', 'a shard that does not say whose it is, is none');
is(state_of("SELECT bf_fetch('cache', 'text', NULL, 'utf16')"), '22023', 'who fetches text as what it is not noted to be, is told');

# A session that knows a filter meets one of another kind, of the same shape.
for my $layout (sort keys %layouts)
{
	my ($strategy, $expansion) = @{ $layouts{$layout} };
	my ($old, $new, $more) = $strategy eq 'guava' ? ('1', '1::bigint', '2') : ("'x'::text", "'x'::text", "'2'");
	$redis->cli('FLUSHALL');
	sql("SELECT @{[ create($layout, 'warm') ]}, bf_redis_add('cache', 'warm', $old)");
	is(session("CREATE FUNCTION pg_temp.ask() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RETURN bf_redis_contains('cache', 'warm', $old); END \$\$;
				CREATE FUNCTION pg_temp.add() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RETURN bf_redis_add('cache', 'warm', $more); END \$\$;
				BEGIN;
				SELECT pg_temp.ask(), pg_temp.add();
				SELECT bf_redis_drop('cache', 'warm'), @{[ create($layout, 'warm') ]}, bf_redis_add('cache', 'warm', $new);
				SELECT pg_temp.ask(), pg_temp.add();
				COMMIT;
				SELECT bf_redis_contains('cache', 'warm', $more)"),
		"t|t t|t|t t|t t", "$layout: a session that knew the filter before it");
}

# As does one that knows it in fewer shards, and their first one says what all
# hold.
for my $layout (sort keys %layouts)
{
	$redis->cli('FLUSHALL');
	my ($few, $many) = map { my ($n, $shards) = @$_; create("$layout;shards=$shards", 'sharded') =~ s/1000/$n/r } [ 1000, 2 ], [ 2000, 4 ];
	my $x = "(SELECT array_agg('x' || j) FROM generate_series(1, 50) j)";
	is(session("CREATE FUNCTION pg_temp.ask() RETURNS bigint LANGUAGE plpgsql AS \$\$ DECLARE r boolean[]; BEGIN
					r := bf_redis_contains_each('cache', 'sharded', $x); RETURN (SELECT count(*) FROM unnest(r) c WHERE NOT c); END \$\$;
				CREATE FUNCTION pg_temp.add(y text[]) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN RETURN cardinality(bf_redis_add_each('cache', 'sharded', y)); END \$\$;
				SELECT $few;
				BEGIN;
				SELECT pg_temp.add($x), pg_temp.ask();
				SELECT bf_redis_drop('cache', 'sharded'), $many, cardinality(bf_redis_add_each('cache', 'sharded', $x));
				SELECT pg_temp.ask(), pg_temp.add(array_agg('y' || j)) FROM generate_series(1, 50) j;
				COMMIT;
				SELECT count(*) FROM generate_series(1, 50) j WHERE NOT bf_redis_contains('cache', 'sharded', 'y' || j)"),
		't 50|0 t|t|50 0|50 0', "$layout: in more shards than a session knew");
	is(session("SELECT bf_redis_contains('cache', 'sharded', '\\x01'::bytea); SELECT bf_redis_add('cache', 'sharded', '\\x01'::bytea)"),
		'22023 22023', "$layout: one kind in all of its shards");
	is(sql("SELECT count(DISTINCT funnel) FROM generate_series(0, 3) i, bf_redis_info('cache', 'sharded:' || i)"), 1, "$layout: as each of them says");
}

# Two who add the first elements, of different widths, at the same time: one of
# them decides.
my $rounds = 15;
for my $round (1 .. $rounds)
{
	my $layout = (qw(guava growing bitmap))[$round % 3];
	$redis->cli('FLUSHALL');
	sql('SELECT ' . create($layout, 'race'));
	my @adders = map {
		my ($type, $from) = @$_;
		IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
			"SELECT count(bf_redis_add('cache', 'race', i::$type)) FROM generate_series($from, $from + 40) i" ], '>', \my $out, '2>&1')
	} [ 'int', 1 ], [ 'bigint', 101 ];
	$_->finish for @adders;
	my $funnel = sql("SELECT funnel FROM bf_redis_info('cache', 'race')");
	is(sql("SELECT count(*) FROM unnest(bf_contains_each(bf_fetch('cache', 'race'),
				ARRAY(SELECT i FROM generate_series(1, 141) i WHERE i <= 41 OR i > 100)::$funnel\[])) c WHERE NOT c" =~ s/::long\[/::bigint[/r),
		0, "$layout: two who come first: all are of one kind");
}

# Whatever key a filter loses: an answer that is right, or an error.
for my $layout (sort keys %layouts)
{
	my ($strategy, $expansion, @keys) = @{ $layouts{$layout} };
	for my $grown (0 .. $expansion)
	{
		my @all = map { s/K/lost/r } @keys, $grown ? ('K-1', 'K-2') : ();
		for my $set (0 .. 2 ** @all - 2)
		{
			my @lost = map { $all[$_] } grep { !($set & 1 << $_) } 0 .. $#all;
			# What the hash beside Redisson's says is lost with it.
			next if $layout eq 'redisson' && "@lost" eq 'lost {lost}:bloomext';
			$redis->cli('FLUSHALL');
			sql("SELECT @{[ create($layout, 'lost') ]}; SELECT bf_redis_add_each('cache', 'lost', array_agg('x' || i)) FROM generate_series(1, " . ($grown ? 2500 : 300) . ") i");
			$redis->cli('DEL', @lost);
			my $seen = session("SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'lost', ARRAY(SELECT 'x' || generate_series(1, 300)))) c WHERE NOT c;
					SELECT bf_redis_add('cache', 'lost', 'x1');
					SELECT count(*) FROM unnest(bf_contains_each(bf_fetch('cache', 'lost'), ARRAY(SELECT 'x' || generate_series(1, 300)))) c WHERE NOT c");
			# All but a note must be there; without it text may be of either kind.
			my $whole = @lost == 1 && $lost[0] eq '{lost}:bloomext' && $layout ne 'bitmap';
			is($seen, $whole ? ($layout eq 'guava' ? '0 0 22023' : '0 f 0') : '42704 42704 42704', "$layout: without @lost");
			is(outcome('SELECT ' . create($layout, 'lost')), '42704', "$layout: no empty one is made in its place") if "@lost" eq $all[0];
		}
	}
}

# A mirror writes over what is a filter, or may be one whose hash is gone.
my %foreign = (
	string => sub { $redis->cli('SET', $_[0], 'hello') },
	hash => sub { $redis->cli('HSET', $_[0], 'a', 1) },
	list => sub { $redis->cli('LPUSH', $_[0], 'a') });
for my $layout (sort keys %layouts)
{
	my ($strategy, $expansion, $string) = @{ $layouts{$layout} };
	my $key = $string =~ s/K/theirs/r;
	my $mirror = "bf_mirror(bf_create(1000, 0.01, '$strategy', 'utf8', $expansion) + 'x', 'cache', 'theirs', '$layout')";
	for my $what (sort keys %foreign)
	{
		$redis->cli('FLUSHALL');
		$foreign{$what}->($key);
		my $dump = $redis->cli('DUMP', $key);
		is(state_of("SELECT $mirror"), '22023', "$layout: not over a $what");
		is(state_of("SELECT @{[ create($layout, 'theirs') ]}"), '22023', "$layout: nor is one made there");
		is($redis->cli('DUMP', $key), $dump, "$layout: which is as it was");
	}
	next unless $layout eq 'bitmap' || $layout eq 'growing';
	$redis->cli('FLUSHALL');
	sql("SELECT $mirror");
	$redis->cli('DEL', '{theirs}:bloomext', 'theirs-config', 'theirs-cursor');
	is(session("SELECT $mirror > 0; SELECT bf_redis_contains('cache', 'theirs', 'x')"), $layout eq 'bitmap' ? 't t' : '22023 42704', "$layout: over one whose hash is gone, if its key is the filter's own");
}

# A note of an older filter says nothing of the one that Redisson has made since.
$redis->cli('FLUSHALL');
sql("SELECT bf_redis_create('cache', 'theirs', 5000, 0.01, 'redisson'), bf_redis_add('cache', 'theirs', 'x'::text)");
$redis->cli('DEL', 'theirs', '{theirs}:config');
$redis->cli('HSET', '{theirs}:config', 'size', 958, 'hashIterations', 7, 'expectedInsertions', 100, 'falseProbability', '0.01');
is(sql("SELECT bf_redis_contains('cache', 'theirs', 'x'::text), bf_redis_add('cache', 'theirs', 'y'::text), bf_redis_contains('cache', 'theirs', 'y'::text)"),
	'f|t|t', 'redisson: a note of another shape');
$redis->cli('DEL', 'theirs');
is(state_of("SELECT bf_redis_contains('cache', 'theirs', 'y'::text)"), '42704', 'redisson: and anew');

# What is left of a filter in one layout is in the way of those in others.
for my $layout ('bitmap', 'redisson')
{
	for my $other (grep { $_ ne $layout } sort keys %layouts)
	{
		my ($strategy, $expansion) = @{ $layouts{$other} };
		$redis->cli('FLUSHALL');
		sql("SELECT @{[ create($layout, 'left') ]}, bf_redis_add('cache', 'left', 'x'::text)");
		$redis->cli('DEL', 'left');
		is(state_of("SELECT $_"), '22023', "$other over what is left of $layout: $_")
		  for create($other, 'left'), "bf_mirror(bf_create(1000, 0.01, '$strategy', 'utf8', $expansion), 'cache', 'left', '$other')";
		is(sql("SELECT bf_redis_drop('cache', 'left'), @{[ create($other, 'left') ]}"), 't|t', "$other: after it was dropped");
	}
	# An empty one of Redisson's would come to light where the shards' hash is lost.
	$redis->cli('FLUSHALL');
	sql("SELECT @{[ create($layout, 'left') ]}, bf_redis_add('cache', 'left', 'x'::text)");
	$redis->cli('DEL', 'left');
	is(state_of('SELECT ' . create("$layout;shards=2", 'left')), '22023', "shards over what is left of $layout");
	sql("SELECT bf_redis_drop('cache', 'left'), @{[ create(\"$layout;shards=2\", 'left') ]}, bf_redis_add('cache', 'left', 'x'::text)");
	$redis->cli('DEL', '{left}:bloomext', '{left}:bloomext-shards');
	is(state_of("SELECT bf_redis_contains('cache', 'left', 'x')"), '42704', "$layout: shards that nothing says there are");
}

# Two keys whose hashes would have one name.
for my $pair ([ 'x', '{x}' ], [ '{x}', 'x' ])
{
	my ($one, $other) = @$pair;
	$redis->cli('FLUSHALL');
	sql("SELECT bf_redis_create('cache', '$one', 100, 0.01, 'magnuss'), bf_redis_add_each('cache', '$one', '{a,b}'::text[])");
	is(state_of("SELECT $_"), '22023', "$other beside $one: $_")
	  for "bf_redis_create('cache', '$other', 5000, 0.0001, 'magnuss')", "bf_mirror(bf_create(100), 'cache', '$other')";
	is(sql("SELECT bf_redis_contains_each('cache', '$one', '{a,b}'::text[])"), '{t,t}', "$one: is as it was");
	$redis->cli('FLUSHALL');
	sql("SELECT bf_mirror(bf_create(100) + 'a'::text, 'cache', '$one'), bf_mirror(bf_create(100, expansion => 1) + 'b'::text, 'cache', '$other')");
	is(sql("SELECT bf_redis_contains('cache', '$one', 'a'), bf_redis_contains('cache', '$other', 'b')"), 't|t', "a growing one has another: $other");
}

# A call site that knows a filter notes in the one that took its place that
# elements were added there, too.
$redis->cli('FLUSHALL');
my $empty = create('redisson', 'anew', ", funnel => 'utf8'");
sql("CREATE FUNCTION add() RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN RETURN bf_redis_add('cache', 'anew', 'x'::text); END \$\$;
	 SELECT $empty; BEGIN; SELECT add(); SELECT bf_redis_drop('cache', 'anew'), $empty; SELECT add(); COMMIT");
$redis->cli('DEL', 'anew');
is(state_of("SELECT bf_redis_contains('cache', 'anew', 'x')"), '42704', 'what was added anew and lost is not denied');

# What is fetched while a filter of another kind takes its place is one or the other.
my @swapped = map { "SELECT bf_mirror(bf_add_all(bf_create(1000, 0.01), '{1,2,3}'::$_\[]), 'cache', 'swapped')" } 'bigint', 'int';
sql($swapped[0]);
my $relay = RedisRelay->new($redis, 'inf', qr/\$3\r\nGET\r\n/);
sql("CREATE SERVER relay FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$relay->{socket}'); CREATE USER MAPPING FOR CURRENT_USER SERVER relay");
my $fetch = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c',
		"SELECT bf_contains_each(bf_fetch('relay', 'swapped'), '{1,2,3}'::int[])" ], '>', \my $fetched, '2>&1');
$relay->await_held;
sql($swapped[1]);
$relay->go_on;
$fetch->finish;
is($fetched, "{t,t,t}\n", 'what is fetched is of the kind that it is said to be');

# A stream that is noted to be a filter, and a filter in another layout that was
# made at the same time: it cannot be told which of them is meant.
for my $layout ('growing', 'redisson')
{
	$redis->cli('FLUSHALL');
	sql('SELECT ' . create($layout, 'twice'));
	$redis->cli('COPY', $_, "kept $_") for qw(twice-0 twice-config twice-cursor {twice}:config);
	sql("SELECT bf_redis_drop('cache', 'twice'), bf_mirror(bf_create(1000, 0.01) + 'x'::text, 'cache', 'twice')");
	$redis->cli('COPY', "kept $_", $_) for qw(twice-0 twice-config twice-cursor {twice}:config);
	is(state_of("SELECT bf_redis_contains('cache', 'twice', 'x')"), '22023', "$layout: and a stream at the same key");
	$redis->cli('DEL', '{twice}:bloomext');
	# These are longer than a filter of Redisson's.
	is(outcome("SELECT layout = '$layout' FROM bf_redis_info('cache', 'twice')"), $layout eq 'redisson' ? '42704' : 't', "$layout: and bytes that only look like one");
}

# A filter that would not grow is not made as one that does.
for my $layout ('guava', 'redisson', 'bitmap', 'guava;shards=2')
{
	my $strategy = $layouts{ $layout =~ s/;.*//r }[0];
	is(state_of("SELECT bf_redis_create('cache', 'grows', 100, 0.01, '$strategy', '$layout', 2)"), '22023', "$layout: expansion");
}

# A bit string that a service made is of the kind that its strategy has for text.
for my $strategy (qw(tale2009 cassandra magnuss guava))
{
	$redis->cli('FLUSHALL');
	sql("SELECT bf_mirror(bf_create(1000, 0.01, '$strategy') + 'x'::text, 'cache', 'bare', 'bitmap')");
	$redis->cli('DEL', '{bare}:bloomext');
	is(sql("SELECT bf_contains(bf_fetch('cache', 'bare', 'bitmap', 1000, 0.01, '$strategy'), 'x'::text)"), 't', "$strategy: its own funnel");
}


# All pairs of types: what is equal in SQL to what was added is found, or is an error;
# never a "no".  Each layout, and each way to add and to ask.
sql(q(
	CREATE TABLE kinds (type text, value text);
	INSERT INTO kinds VALUES ('text', '5'), ('text', 'a'), ('text', 'a '), ('varchar', 'a'), ('name', 'a'), ('char(3)', 'a'), ('char(3)', '5'),
		('"char"', 'a'), ('"char"', '5'), ('smallint', '5'), ('integer', '-1'), ('integer', '5'), ('bigint', '5'), ('bigint', '4294967295'),
		('oid', '5'), ('oid', '4294967295'), ('numeric', '5.0'), ('float8', '5'), ('boolean', 'true'), ('date', '2024-05-01'),
		('timestamp', '2024-05-01'), ('timestamptz', '2024-05-01'), ('bytea', '\x61'), ('uuid', '00000000-0000-0000-0000-000000000005'),
		('inet', '10.0.0.1'), ('cidr', '10.0.0.1'), ('macaddr', '08:00:2b:01:02:03');
	CREATE FUNCTION answer(query text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE found boolean;
	BEGIN
		EXECUTE query INTO found;
		RETURN found;
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$;
	CREATE TABLE pairs AS
	SELECT h.type AS held, a.type AS asked, format('%L::%s', h.value, h.type) AS h, format('%L::%s', a.value, a.type) AS a
	FROM kinds h, kinds a WHERE answer(format('SELECT %L::%s = %L::%s', h.value, h.type, a.value, a.type)) = 'true';
	-- What is denied, and how many were found and how many refused.
	CREATE FUNCTION asked(creation text, INOUT hits int DEFAULT 0, INOUT refused int DEFAULT 0, OUT denied text) LANGUAGE plpgsql AS $$
	DECLARE
		holding record;
		pair record;
		way text;
		said text;
	BEGIN
		FOR holding IN SELECT DISTINCT h, held FROM pairs LOOP
			PERFORM bf_redis_drop('cache', 'pair');
			CONTINUE WHEN answer('SELECT ' || creation) <> 'true' OR
				answer(format('SELECT bf_redis_add(%L, %L, %s)', 'cache', 'pair', holding.h)) <> 'true';
			FOR pair IN SELECT * FROM pairs WHERE h = holding.h LOOP
				FOREACH way IN ARRAY ARRAY['SELECT bf_redis_contains(%L, %L, %s)', 'SELECT (bf_redis_contains_each(%L, %L, ARRAY[%s]))[1]',
					'SELECT bool_and(bf_redis_contains(%L, %L, x)) FROM (SELECT %s AS x OFFSET 0) AS v',
					'SELECT NOT bf_redis_add(%L, %L, %s)', 'SELECT bf_contains(bf_fetch(%L, %L), %s)'] LOOP
					said := answer(format(way, 'cache', 'pair', pair.a));
					IF said = 'false' THEN
						denied := concat_ws('; ', denied, pair.h || ' asked ' || pair.a || ': ' || way);
					ELSIF said = 'true' THEN
						hits := hits + 1;
					ELSIF said IN ('22023', '0A000', '42883') THEN
						refused := refused + 1;
					ELSE
						denied := concat_ws('; ', denied, pair.h || ' asked ' || pair.a || ': ' || coalesce(said, 'NULL'));
					END IF;
				END LOOP;
			END LOOP;
		END LOOP;
	END $$;
));
foreach my $layout (sort keys %layouts)
{
	my ($found, $refused, $denied) = split /\|/, sql("SELECT * FROM asked(\$\$@{[ create($layout, 'pair') ]}\$\$)"), -1;
	is($denied, '', "$layout: no pair of types is denied");
	cmp_ok($found, '>', 100, "$layout: $found found");
	cmp_ok($refused, '>', 20, "$layout: $refused refused");
}

$node->stop;
done_testing();
