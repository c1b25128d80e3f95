# Filters of the elements of a shard each, by bf_shard, and a filter in shards in
# Redis are the same filters: what is in one is found by the other, whatever the
# type, strategy, layout and number, or the mirror is refused.  Who looks while they
# are mirrored finds all or an error, and how many they are never changes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use LiveTest;
use RedisRelay;
use RedisTest qw(:DEFAULT outcome state_of);

my ($redis, $node) = start_servers([ RedisServer->bloom ]);
my $has_functions = $redis->cli('COMMAND', 'INFO', 'FCALL_RO') =~ /fcall/i;
$redis->cli('FUNCTION', 'LOAD', 'REPLACE', slurp_file("$FindBin::RealBin/../../../src/redis/function/bloomext.lua")) if $has_functions;
my $seed = $ENV{BLOOMEXT_SEED} // time;
srand $seed;
note "BLOOMEXT_SEED=$seed";

sub any { return $_[ rand @_ ] }
sub shuffled { return map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand, $_ ] } @_ }

# Shards have room for as many as are expected of all, be that more than there are shards or less.
is(sql("SELECT bf_redis_create('cache', 'some', 1000, 0.001, layout => 'bitmap;shards=3'), bf_redis_create('cache', 'few', 2, 0.001, layout => 'bitmap;shards=3');
		SELECT expected FROM bf_redis_info('cache', 'some'); SELECT expected FROM bf_redis_info('cache', 'few')"), "t|t\n1002\n3", 'shares are rounded up');

# Make a table "shards" of the filters of elements, an SQL expression of i, in so
# many shards.
sub make
{
	my ($element, $shards, $strategy, $expansion, $funnel) = @_;
	$funnel = $funnel ? "'$funnel'" : 'NULL';
	sql("DROP TABLE IF EXISTS shards;
		 CREATE TABLE shards AS SELECT n AS shard, bf_union_agg(f) AS f FROM (
			SELECT n, bf_create(500, 0.001, '$strategy', $funnel, $expansion) AS f FROM generate_series(0, $shards - 1) n
			UNION ALL
			SELECT bf_shard(x, $shards), bf_add_all(bf_create(500, 0.001, '$strategy', $funnel, $expansion), array_agg(x))
			FROM (SELECT $element AS x FROM generate_series(1, 300) i) e GROUP BY 1) s
		 GROUP BY 1");
}

# Mirror shards of a number each, of so many; what comes of each.
sub mirror
{
	my ($key, $layout, $shards, @numbers) = @_;
	return map { outcome("SELECT bf_mirror(f, 'cache', '$key', '$layout;shards=$shards/$_') > 0 FROM shards WHERE shard = $_") } @numbers;
}

# How many of the elements Redis does not have; or the SQLSTATE.
sub missed
{
	my ($key, $element) = @_;
	return outcome("SELECT count(*) FROM unnest(bf_redis_contains_each('cache', '$key', ARRAY(SELECT $element FROM generate_series(1, 300) i))) c WHERE NOT c");
}

my %elements = (
	text => [ map { "('标题 ' || i)$_" } '', '::varchar', '::bpchar', '::name' ],
	bytes => [ "decode(md5(i::text), 'hex')", 'md5(i::text)::uuid', "('10.0.0.0'::inet + i)", "substr(md5(i::text), 1, 12)::macaddr" ],
	long => [ '(i * 1000003::bigint)', '(i - 5)', '(i - 150)::smallint', '(i % 2 = 0)', "(date '1999-12-01' + i)", '(i * 7)::oid',
		"(timestamp '1969-12-31' + i * interval '1 h')", "(timestamptz '2020-01-01' + i * interval '1 s')", '(i % 100)::"char"' ]);
my %layouts = (
	spark1 => ['bitmap'], spark2 => ['bitmap'], bitsandblooms => ['bitmap'], parquet => [ 'bitmap', 'growing' ], guava => [ 'guava', 'bitmap', 'growing' ], guava32 => [ 'guava', 'bitmap', 'growing' ],
	redisson => [ 'redisson', 'bitmap' ], magnuss => ['bitmap'], tale2009 => ['bitmap'], cassandra => ['bitmap'],
	redisbloom => [ 'bitmap', RedisServer->bloom ? 'redisbloom' : () ]);

# What a strategy hashes as guava does, is in the same shard.
sub suits { my ($strategy, $kind) = @_; return $strategy =~ /guava|spark|bitsandblooms|parquet/ || $kind eq 'bytes' }

sub try_random
{
	my ($strategy, $kind) = @_;
	# Files of Parquet have no filters of booleans.
	my $element = any(grep { $strategy ne 'parquet' || !/=/ } @{ $elements{$kind} });
	my $layout = any(@{ $layouts{$strategy} });
	my $shards = any(1 .. 9, 31);
	my $what = "$strategy, $layout, $shards shards of $element";
	$redis->cli('FLUSHALL');
	make($element, $shards, $strategy, $layout eq 'growing' ? 1 : 0);
	my @order = shuffled(0 .. $shards - 1);
	return is("@{[ mirror('x', $layout, $shards, 0) ]}", '0A000', "$what: refused") unless suits($strategy, $kind);
	my $last = pop @order;
	is("@{[ mirror('x', $layout, $shards, @order), missed('x', $element) ]}", "@{[ map { 't' } @order ]} 42704" =~ s/^ //r,
		"$what: none while one is missing");
	is("@{[ mirror('x', $layout, $shards, $last), missed('x', $element) ]}", 't 0', "$what: all");
	is(sql("CREATE TEMP TABLE fetched AS SELECT n AS shard, bf_fetch('cache', 'x', '$layout;shards=$shards/' || n) AS f
				FROM generate_series(0, $shards - 1) n;
			SELECT count(*) FROM (SELECT $element AS x FROM generate_series(1, 300) i) e
				JOIN fetched f ON f.shard = bf_shard(x, $shards) AND bf_contains(f, x)"), 300, "$what: and back");
	is(missed('x', "${element}::bigint"), 0, "$what: as bigint") if $element =~ /^\(i - /;
	my $other = $shards == 9 ? 8 : $shards + 1;
	is("@{[ mirror('x', $layout, $other, 0) ]}", '22023', "$what: and not in $other");
	is(sql("SELECT bf_redis_drop('cache', 'x')") . $redis->cli('DBSIZE'), 't0', "$what: gone");
}

my @kinds = sort keys %elements;
for my $strategy (sort keys %layouts)
{
	for my $kind (@kinds)
	{
		next if $kind eq 'bytes' && $strategy =~ /magnuss|tale2009/ || $kind eq 'long' && $strategy eq 'bitsandblooms';
		try_random($strategy, $kind) for 1 .. (suits($strategy, $kind) ? 3 : 1);
	}
}
$redis->cli('FLUSHALL');
make("'x' || i", 2, 'guava', 0, 'utf16');
is("@{[ mirror('x', 'guava', 2, 0) ]}", '0A000', 'no text as UTF-16');

# What is settled with the first shard, and what else could be at the key.
my $titles = "'Title ' || i";
make($titles, 4, 'guava', 0);
mirror('key', 'guava', 4, 2);
for my $other (
	"bf_mirror(f, 'cache', 'key', 'guava;shards=5/0')", "bf_mirror(f, 'cache', 'key', 'bitmap;shards=4/0')",
	"bf_mirror(bf_create(10, strategy => 'guava32'), 'cache', 'key', 'guava;shards=4/0')",
	"bf_mirror(f, 'cache', 'key')", "bf_mirror(f, 'cache', 'key', 'guava;shards=4')",
	"bf_mirror(f, 'cache', 'key', 'guava;shards=4/4')", "bf_mirror(f, 'cache', 'key', 'guava;shards=4/-1')",
	"bf_mirror(f, 'cache', 'key', 'guava;shards=4/')", "bf_redis_create('cache', 'key', 500, 0.001)",
	"bf_redis_create('cache', 'key', 2000, 0.001, layout => 'guava;shards=4')",
	"bf_redis_create('cache', 'new', 2000, 0.001, layout => 'guava;shards=4/0')")
{
	is(state_of("SELECT $other FROM shards LIMIT 1"), '22023', "while a shard is there: not $other");
}
is(state_of("SELECT $_"), '42704', "no $_") for "bf_fetch('cache', 'key', 'guava;shards=4/2')", "bf_redis_info('cache', 'key')",
  "bf_redis_add('cache', 'key', 'x')";
is(sql("SELECT bf_redis_drop('cache', 'key'), bf_redis_drop('cache', 'key')") . $redis->cli('DBSIZE'), 't|f0', 'a part is dropped');
mirror('key', 'guava', 4, 0 .. 3);
is(state_of("SELECT bf_fetch('cache', 'key', $_)"), '22023', "not fetched: $_")
  for 'NULL', "'guava'", "'guava;shards=4'", "'guava;shards=5/1'", "'bitmap;shards=4/1'", "'bitmap;shards=4/1', 500, 0.001, 'guava'";
is(sql("SELECT shards, estimated_count BETWEEN 290 AND 310 FROM bf_redis_info('cache', 'key');
		SELECT bf_redis_create('cache', 'key', 2000, 0.001, layout => 'guava;shards=4'), bf_redis_add('cache', 'key', 'more'),
			bf_redis_contains('cache', 'key', 'more')"), "4|t\nf|t|t", 'a filter as any other in shards');
sql("SELECT bf_mirror(bf_create(10), 'cache', 'alone')");
is("@{[ mirror('alone', 'guava', 4, 0) ]}", '22023', 'not where a filter is');
sql("SELECT bf_redis_create('cache', 'made', 2000, 0.001, layout => 'guava;shards=4')");
is("@{[ mirror('made', 'guava', 4, 0 .. 3), missed('made', $titles), mirror('made', 'guava', 3, 0) ]}", 't t t t 0 22023', 'into one that was made');

# What is known of a filter that was created before 1.0: no shard of it says whose it is.
sub as_before_1_0
{
	my ($key, $shards) = @_;
	$redis->cli('HDEL', "{$key}:bloomext-shards", 'strategy');
	$redis->cli('HDEL', "{$key:$_}:bloomext", 'whole') for 0 .. $shards - 1;
}

# What a creation that ended early has left is gone on with, be that by a creation or by
# mirroring.
sub leave_early
{
	$redis->cli('DEL', 'made:1', '{made:1}:bloomext');
	$redis->cli('EVAL', "local key = KEYS[1] redis.call('HSET', key, 'creating', redis.call('HGET', key, 'shards'), 0, 1, 2, 1, 3, 1) return redis.call('HDEL', key, 'shards')", 1,
		'{made}:bloomext-shards');
}
leave_early();
is(missed('made', $titles), '42704', 'not all are created');
is(sql("SELECT bf_redis_create('cache', 'made', 2000, 0.001, layout => 'guava;shards=4'), bf_redis_create('cache', 'made', 2000, 0.001, layout => 'guava;shards=4')"), 't|f', 'but then are');
leave_early();
is("@{[ mirror('made', 'guava', 4, 1), missed('made', $titles) ]}", 't 0', 'or mirrored');

# Shards of what was dropped, or whose hash is gone, do not count.
$redis->cli('DEL', '{key}:bloomext-shards');
is("@{[ mirror('key', 'guava', 4, 0 .. 2), missed('key', $titles), mirror('key', 'guava', 4, 3), missed('key', $titles) ]}",
	't t t 42704 t 0', 'the hash is gone');
$redis->cli('DEL', 'key:1');
is(missed('key', $titles), '42704', 'a shard is gone');
is("@{[ mirror('key', 'guava', 4, 1), missed('key', $titles) ]}", 't 0', 'and is back');
$redis->cli('DEL', 'key:1', '{key:1}:bloomext');
sql("SELECT bf_mirror(bf_create(500, 0.001, 'guava32'), 'cache', 'key:1')");
is(missed('key', $titles), '42704', 'or is no shard');
sql("SELECT bf_redis_drop('cache', 'made:1'); SELECT bf_mirror(bf_create(500, 0.001, 'guava32'), 'cache', 'made:1')");
is(missed('made', $titles), '42704', 'or is no shard of one that was created');
as_before_1_0('made', 4);
is(missed('made', $titles), '22023', 'or, where shards do not say whose they are, is of another strategy');

# Shards of a filter that has gone, as its hash was evicted, are no obstacle, in whatever
# layout they are; nor are they taken for the new one's.
for my $how ('created', 'mirrored')
{
	for my $old ('guava', 'bitmap')
	{
		$redis->cli('FLUSHALL');
		sql("SELECT bf_redis_create('cache', 'key', 2000, 0.001, layout => '$old;shards=4'), bf_redis_add_each('cache', 'key', ARRAY['old'])");
		$redis->cli('DEL', '{key}:bloomext-shards');
		is($how eq 'created' ? sql("SELECT bf_redis_create('cache', 'key', 2000, 0.001, layout => 'guava;shards=4')") : "@{[ mirror('key', 'guava', 4, 0 .. 3) ]}", $how eq 'created' ? 't' : 't t t t', "$how over shards in $old whose hash was evicted");
		is(sql("SELECT bf_redis_contains('cache', 'key', 'old')"), 'f', '... which hold nothing of those');
		is(missed('key', $titles), 0, '... but what was mirrored') if $how eq 'mirrored';
		sql("SELECT bf_redis_drop('cache', 'key')");
		is($redis->cli('DBSIZE'), 0, '... and are all dropped');
	}
}

# A shard with another id than the hash's goes with the filter.
mirror('key', 'guava', 4, 0 .. 3);
$redis->cli('HSET', '{key:1}:bloomext', 'whole', 'another');
is(missed('key', $titles), '42704', 'a shard of another filter');
sql("SELECT bf_redis_drop('cache', 'key')");
is($redis->cli('DBSIZE'), 0, 'is dropped with this one');

# What any shard holds, the others do: not only the first, which may hold nothing.
$redis->cli('FLUSHALL');
sql("SELECT bf_mirror(bf_create(500), 'cache', 'kind', 'guava;shards=2/0'), bf_mirror(bf_add(bf_create(500), 1::bigint), 'cache', 'kind', 'guava;shards=2/1')");
is(state_of("SELECT bf_redis_add_each('cache', 'kind', ARRAY(SELECT 'Title ' || i FROM generate_series(1, 20) i))"), '22023', 'not another kind');
is(sql("SELECT bool_and(a) FROM unnest(bf_redis_add_each('cache', 'kind', ARRAY(SELECT generate_series(1000, 1020)))) a"), 't', 'but the same');
mirror('key', 'guava', 4, 0 .. 3);

# All that a filter has expires.
sql("SELECT bf_mirror(f, 'cache', 'short', 'guava;shards=4/' || shard, '1 hour') FROM shards");
is($redis->cli('EVAL', "local n = 0 for _, k in ipairs(redis.call('KEYS', '*short*')) do if redis.call('TTL', k) > 0 then n = n + 1 end end return n", 0), 9,
	'a time to live');

# While it is mirrored, made anew in other shards, or dropped, nobody is told "no".
my $out = "$PostgreSQL::Test::Utils::tmp_check/reader";
sql('CREATE TABLE stop (); CREATE TABLE answers (yes int, no int, none int)');
my $reader = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'), '-c', q{
	DO $$ DECLARE yes int := 0; no int := 0; none int := 0;
	BEGIN
		WHILE (SELECT count(*) FROM pg_class WHERE relname = 'stop') > 0 LOOP
			BEGIN
				IF (SELECT bool_and(c) FROM generate_series(1, 4) n, unnest(bf_redis_contains_each('cache', 'busy', (ARRAY(SELECT 'Title ' || i FROM generate_series(1, 300) i))[n:])) c)
				THEN yes := yes + 1; ELSE no := no + 1; END IF;
			EXCEPTION WHEN undefined_object OR object_in_use THEN none := none + 1;
			END;
			COMMIT;
		END LOOP;
		INSERT INTO answers VALUES (yes, no, none);
	END $$} ], '<', '/dev/null', '>', $out, '2>&1');
for my $round (1 .. 12)
{
	my $shards = any(2 .. 9);
	make($titles, $shards, 'guava', 0);
	mirror('busy', 'guava', $shards, shuffled(0 .. $shards - 1));
	mirror('busy', 'guava', $shards, 0, $shards - 1) if $round % 3;
	sleep 0.05;
	sql("SELECT bf_redis_drop('cache', 'busy')");
}
sql('DROP TABLE stop');
$reader->finish;
my ($yes, $no, $none) = split /\|/, sql('SELECT * FROM answers');
is($no, 0, "none of $yes answers is wrong");
cmp_ok($_, '>', 10, 'all, or none') for $yes, $none;

# Run a statement by a connection that is held where it says what matches, each in
# turn; returns what goes on with it to the next, or the end.
sub start_held
{
	my ($statement, @patterns) = @_;
	$redis->cli('ACL', 'SETUSER', 'default', '-@scripting', '+eval'); # so that scripts are sent whole
	my $relay = RedisRelay->new($redis, 1e9, @patterns);
	sql("DROP SERVER IF EXISTS relay CASCADE;
		 CREATE SERVER relay FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$relay->{socket}', command_timeout '60000');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER relay");
	my $run = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate',
		'-c', $statement ], '<', '/dev/null', '>', $out, '2>&1');
	$relay->await_held;
	return sub {
		$relay->go_on;
		shift @patterns;
		return $relay->await_held if @patterns;
		$run->finish;
		return slurp_file($out);
	};
}

# Mirror the shard 1 of 4 so.
make($titles, 4, 'guava', 0);
sql('CREATE TABLE four AS SELECT * FROM shards');
sub start_late { return start_held("SELECT bf_mirror(f, 'relay', 'late', 'guava;shards=4/1') FROM four WHERE shard = 1", @_) }
sub mirror_four { sql("SELECT bf_redis_drop('cache', 'late'); SELECT bf_mirror(f, 'cache', 'late', 'guava;shards=4/' || shard) FROM four") }

# Of two who come first with other numbers, one is refused.
my $late = start_late(qr/ARGV\[5\], ARGV/);
make($titles, 3, 'guava', 0);
mirror('late', 'guava', 3, 0 .. 2);
is($late->(), "ERROR:  22023\n", 'who comes second');
is(missed('late', $titles), 0, 'harms nobody');

# A shard that comes after its filter was made anew in other shards goes away, but not
# one that has come since.
mirror_four();
$late = start_late(qr/\$3\r\nSET\r\n/);
sql("SELECT bf_redis_drop('cache', 'late')");
mirror('late', 'guava', 3, 0 .. 2);
is($late->(), "ERROR:  55006\n", 'dropped and made anew meanwhile');
is(missed('late', $titles), '42704', 'the shard is gone');
is("@{[ mirror('late', 'guava', 3, 1), missed('late', $titles) ]}", 't 0', 'until it is mirrored again');
mirror_four();
$late = start_late(qr/c\('HLEN'/);
sql("SELECT bf_redis_drop('cache', 'late')");
mirror('late', 'guava', 3, 0 .. 2);
is($late->() . missed('late', $titles), "ERROR:  55006\n0", 'a newer shard stays');

# Its backend may die before it can look: then it is there, and is refused.
mirror_four();
my $id = $redis->cli('HGET', '{late}:bloomext-shards', 'id');
$late = start_late(qr/\$3\r\nSET\r\n/);
sql("SELECT bf_redis_drop('cache', 'late')");
mirror('late', 'guava', 3, 0 .. 2);
is(sql("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE '%''relay'', ''late''%' AND pid <> pg_backend_pid()"), 't', 'a backend dies');
$late->();
sleep 0.05 until $redis->cli('HGET', '{late:1}:bloomext', 'whole') eq "$id/1";
is("@{[ missed('late', $titles), mirror('late', 'guava', 3, 1), missed('late', $titles) ]}", '42704 t 0', 'what it wrote is refused, until it is mirrored again');

# In any layout such a shard is refused, by who learns of it and by who knew the one
# that was there: be that mirrored or created.
sub rename_late { $redis->cli('EVAL', "for _, k in ipairs(redis.call('KEYS', ARGV[1] .. '*late:1*')) do redis.call('RENAME', k, ARGV[2] .. k:sub(#ARGV[1] + 1)) end", 0, @_) }
sub make_three
{
	my ($how, $element, $layout, $strategy, $expansion) = @_;
	make($element, 3, $strategy, $expansion);
	return mirror('late', $layout, 3, 0 .. 2) if $how eq 'mirrored';
	sql("SELECT bf_redis_create('cache', 'late', 1500, 0.001, '$strategy', '$layout;shards=3', $expansion);
		 SELECT count(*) FROM unnest(bf_redis_add_each('cache', 'late', ARRAY(SELECT $element FROM generate_series(1, 300) i)))");
}
# Rename two shards to each other's keys, with all that they have.
sub swap_shards
{
	$redis->cli('EVAL', q{
		local function rename(from, to)
			for _, k in ipairs(redis.call('KEYS', '*' .. from .. '*')) do redis.call('RENAME', k, (k:gsub(from, to, 1))) end
		end
		rename('late:0', 'away') rename('late:1', 'late:0') rename('away', 'late:1')}, 0);
}
sql(q{
	-- How many elements are denied, or what error that is.
	CREATE FUNCTION denied(elements anyarray) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'late', elements)) AS f WHERE NOT f);
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$});
for my $case ([ 'guava', 'guava', 0 ], [ 'bitmap', 'guava', 0 ], [ 'growing', 'guava', 1 ], [ 'redisson', 'redisson', 0 ], RedisServer->bloom ? [ 'redisbloom', 'redisbloom', 0 ] : ())
{
	my ($layout, $strategy, $expansion) = @$case;
	my $element = $strategy eq 'guava' ? $titles : "convert_to($titles, 'UTF8')";
	for my $how ('mirrored', 'created')
	{
		$redis->cli('FLUSHALL');
		make($element, 4, $strategy, $expansion);
		mirror('late', $layout, 4, 0 .. 3);
		rename_late('', 'kept/');
		sql("SELECT bf_redis_drop('cache', 'late')");
		make_three($how, $element, $layout, $strategy, $expansion);
		is(missed('late', $element), 0, "$layout, $how: all");
		my $reader = start_held("SELECT count(*) FROM generate_series(1, 300) i WHERE NOT bf_redis_contains('relay', 'late', $element)",
			qr/BITFIELD_RO|function found|MEXISTS/);
		rename_late('kept/', '');
		is($reader->(), "ERROR:  42704\n", "$layout, $how: who knew another shard");
		is(state_of("SELECT $_"), '42704', "$layout, $how: $_") for "bf_redis_contains('cache', 'late', 'x'::text)", "bf_redis_add('cache', 'late', 'x'::text)",
		  "bf_redis_info('cache', 'late')", "bf_fetch('cache', 'late', '$layout;shards=3/1')";
		is("@{[ mirror('late', $layout, 3, 1), missed('late', $element) ]}", 't 0', "$layout, $how: mirrored again");

		# So is one at the key of another shard, which has the same id.
		my $session = LiveTest->new($node)->session;
		my $question = "SELECT denied(ARRAY(SELECT $element FROM generate_series(1, 300) i))";
		is($session->ask($question), 0, "$layout, $how: all, to a session");
		swap_shards();
		is($session->ask($question), '42704', "$layout, $how: two shards at each other's keys, to the same session");
		is(state_of("SELECT $_"), '42704', "$layout, $how: two shards at each other's keys: $_") for "bf_redis_contains('cache', 'late', 'x'::text)", "bf_redis_add('cache', 'late', 'x'::text)",
		  "bf_redis_info('cache', 'late')", "bf_fetch('cache', 'late', '$layout;shards=3/1')", "bf_redis_create('cache', 'late', 1500, 0.001, '$strategy', '$layout;shards=3', $expansion)";
		$redis->cli('ACL', 'SETUSER', 'default', '+fcall_ro') if $has_functions;
		like($redis->cli('FCALL_RO', 'bloomext_contains_as', 1, 'late:1', 'utf8', 'Title 1'), qr/is shard 0 of another one/, "$layout, $how: a function, too")
		  if $has_functions && $strategy eq 'guava';
		is("@{[ mirror('late', $layout, 3, 1), missed('late', $element) ]}", 't 42704', "$layout, $how: one is mirrored again");
		is("@{[ mirror('late', $layout, 3, 0), missed('late', $element) ]}", 't 0', "$layout, $how: both are");
		$session->quit;

		# A release before wrote no number.
		for my $shard (0 .. 2)
		{
			my $hash = $layout eq 'growing' ? "late:$shard-config" : "{late:$shard}:bloomext";
			is($redis->cli('HGET', $hash, 'whole'), $redis->cli('HGET', '{late}:bloomext-shards', 'id') . "/$shard", "$layout, $how: shard $shard says whose it is, and which");
			$redis->cli('HSET', $hash, 'whole', $redis->cli('HGET', '{late}:bloomext-shards', 'id'));
		}
		is(missed('late', $element), 0, "$layout, $how: shards of a release before");
		is("@{[ mirror('late', $layout, 3, 1), missed('late', $element) ]}", 't 0', "$layout, $how: one of them is mirrored again");
		swap_shards();
		sql("SELECT bf_redis_drop('cache', 'late')");
		is($redis->cli('DBSIZE'), 0, "$layout, $how: all are dropped, wherever they are");
	}
}

# A service may put a filter of another size in the place of a shard that was created.
$redis->cli('FLUSHALL');
make_three('created', $titles, 'guava', 'guava', 0);
sql("SELECT bf_mirror(bf_agg($titles, 5000), 'cache', 'other') FROM generate_series(1, 300) i");
sub put_another
{
	my $held = start_held("SELECT count(*) FROM generate_series(1, 300) i WHERE NOT bf_redis_contains('relay', 'late', $titles)", qr/BITFIELD_RO|function found/);
	$redis->cli('COPY', 'other', 'late:1', 'REPLACE');
	return $held->();
}
is(put_another(), "ERROR:  42704\n", 'another size is no shard');
make_three('created', $titles, 'guava', 'guava', 0) if sql("SELECT bf_redis_drop('cache', 'late')") && $redis->cli('DEL', 'late:1');
as_before_1_0('late', 3);
is(put_another(), "0\n", 'or is looked at anew, where shards do not say whose they are');

# A filter that is in other shards while it is asked, and in as many as before afterwards.
sub make_alike
{
	my ($shards) = @_;
	sql("SELECT bf_redis_drop('cache', 'alike');
		 SELECT bf_redis_create('cache', 'alike', 500 * $shards, 0.001, 'guava', 'guava;shards=$shards', 0);
		 SELECT bf_redis_add_each('cache', 'alike', ARRAY(SELECT $titles FROM generate_series(1, 300) i))");
}
make_alike(4);
my $held = start_held("SELECT bf_redis_contains('relay', 'alike', (SELECT $titles FROM generate_series(1, 300) i WHERE bf_shard($titles, 4) <> bf_shard($titles, 5) LIMIT 1))",
	qr/function found/, qr/'TYPE'/);
make_alike(5);
$held->();
make_alike(4);
is($held->(), "t\n", 'other shards meanwhile');

# A shard whose hash is gone may be any other.
$redis->cli('FLUSHALL');
make_three('mirrored', $titles, 'guava', 'guava', 0);
$redis->cli('DEL', '{late:1}:bloomext');
is("@{[ missed('late', $titles), mirror('late', 'guava', 3, 1), missed('late', $titles) ]}", '42704 t 0', 'a shard that does not say whose it is');

# A filter that has been made gets no empty shard for one that was lost.
for my $how ('mirrored', 'created')
{
	for my $lost ([ 'late:1', '{late:1}:bloomext' ], ['late:1'])
	{
		$redis->cli('FLUSHALL');
		make_three($how, $titles, 'guava', 'guava', 0);
		my $parameters = sql("SELECT expected || ', ' || fpp FROM bf_redis_info('cache', 'late')");
		$redis->cli('DEL', @$lost);
		is(state_of("SELECT bf_redis_create('cache', 'late', $parameters, 'guava', 'guava;shards=3')"), '42704', "$how: @$lost lost, created");
	}
}

# Live filters of a shard each.
sql("CREATE TABLE articles AS SELECT $titles AS title FROM generate_series(1, 300) i");
sql("CREATE INDEX articles_$_ ON articles USING bloomfilter (title) WITH (expected = 20000) WHERE bf_shard(title, 3) = $_") for 0 .. 2;
sub live { return map { sql("SELECT bf_live_mirror('articles_$_', 'cache', 'live', 'guava;shards=3/$_')") } 0 .. 2 }
my @whole = live();
is(missed('live', $titles), 0, 'live filters of partial indexes');
sql("INSERT INTO articles VALUES ('another')");
my @again = live();
is(sql("SELECT bf_redis_contains('cache', 'live', 'another'), bf_redis_contains('cache', 'live', 'third')"), 't|f', 'and what is new in them');
is(scalar(grep { $again[$_] > 0 } 0 .. 2), 1, 'of one shard');
cmp_ok($again[$_], '<', $whole[$_] / 2, "shard $_: only what differs") for 0 .. 2;

# What says that it is one shard is not taken for another.
is(outcome("SELECT bf_live_mirror('articles_1', 'cache', '$_->[0]', 'guava;shards=$_->[1]')"), '22023', "shard 1 of 3 as $_->[1]")
  for [ 'live', '3/0' ], [ 'other', '4/1' ];
sql("CREATE INDEX articles_turned ON articles USING bloomfilter (title) WITH (expected = 20000) WHERE length(title) > 0 AND 2 = bf_shard(title, 3)");
is(outcome("SELECT bf_live_mirror('articles_turned', 'cache', 'live', 'guava;shards=3/1')"), '22023', 'nor turned round');
is(outcome("SELECT bf_live_mirror('articles_turned', 'cache', 'live', 'guava;shards=3/2') >= 0"), 't', 'as what it is');

# One that is too large for a key, or a value, says how many.
foreach my $case ([ 500000000, 'a Redis string', 2 ], [ 1000000000, 'a value', 3 ])
{
	my ($expected, $what, $parts) = @$case;
	sql("DROP INDEX IF EXISTS too_large; CREATE INDEX too_large ON articles USING bloomfilter (title) WITH (expected = $expected, fpp = 0.01)");
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_live_mirror('too_large', 'cache', 'live')");
	like($err, qr/ERROR:  54000: live filter "too_large" does not fit into $what\n.*Create $parts partial indexes, with i from 0 to .* WHERE bf_shard\(title, $parts\) = i\. .*;shards=$parts\/i\./s, "too large for $what");
}
sql("DROP INDEX too_large; CREATE INDEX too_large ON articles USING bloomfilter (title) WITH (expected = 500000000, fpp = 0.01, funnel = utf16)");
like(($node->psql('postgres', "SELECT bf_live_mirror('too_large', 'cache', 'live')"))[2], qr/HINT:.* Mirror each to a key of its own\./,
	'of text as UTF-16 the parts are no shards in Redis');

done_testing();

