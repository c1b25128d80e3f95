# Adding to filters in Redis that change, go, or are added to by others
# meanwhile: nothing else is written to, nobody misses the filter, and every
# answer is right.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisRelay;
use RedisTest qw(start_servers sql outcome);

my ($redis, $node) = start_servers();

sub left_over { return $redis->cli('EVAL', "return #redis.call('KEYS', '*tmp*')", 0); }

sql(qq{
	-- Two calls of one call site, which knows the filter from the first on.
	CREATE FUNCTION add_twice(key text, meanwhile text) RETURNS text LANGUAGE plpgsql AS \$\$
	DECLARE
		answers text[];
		answer boolean;
	BEGIN
		FOR n IN 1 .. 2 LOOP
			answer := bf_redis_add('cache', key, 'Element ' || n);
			answers := answers || answer::text;
			IF n = 1 THEN
				EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', 'cat >/dev/null; redis-cli -s $redis->{socket} ' || meanwhile);
			END IF;
		END LOOP;
		RETURN answers;
	END \$\$;
});

# What takes the filter's place is not written to.
my %layouts = (guava => 'guava', bitmap => 'guava', redisson => 'redisson');
for my $layout (sort keys %layouts)
{
	my $create = "SELECT bf_redis_create('cache', '$layout', 1000, 0.01, '$layouts{$layout}', '$layout')";
	my $other = "bf_create(5000, 0.001, '$layouts{$layout}') + 'a'";

	sql($create);
	is(outcome("SELECT add_twice('$layout', 'PING')"), '{true,true}', "$layout: nothing happens");

	sql("SELECT bf_mirror($other, 'cache', '{$layout}2', '$layout')");
	my @hashes = split /\n/, $redis->cli('KEYS', "{$layout}2:*");
	my $move = "for i = 2, #KEYS do redis.call('RENAME', KEYS[i], '{$layout}:' .. KEYS[i]:match('[^:]+\$')) end";
	is( outcome("SELECT add_twice('$layout', 'EVAL ' ||
			quote_literal('redis.call(\"RENAME\", KEYS[1], \"$layout\") ' || replace(\$\$$move\$\$, '''', '\"')) ||
			' @{[ 1 + @hashes ]} {$layout}2 @hashes')"),
		'{false,true}', "$layout: another filter takes its place");
	is( outcome("SELECT bf_fetch('cache', '$layout') = ($other + 'Element 2')"),
		't', "$layout: and has the second element, and no other bit");

	is(outcome("SELECT add_twice('$layout', 'DEL $layout')"), '42704', "$layout: the string goes");
	is($redis->cli('EXISTS', $layout), 0, "$layout: and is not made anew");

	$redis->cli('DEL', $layout, "{$layout}:bloomext", "{$layout}:config");
	sql($create);
	is(outcome("SELECT add_twice('$layout', 'EVAL ' || quote_literal('redis.call(\"DEL\", KEYS[1]) redis.call(\"LPUSH\", KEYS[1], 7)') || ' 1 $layout')"),
		'42704', "$layout: a list takes its place");
	is($redis->cli('LRANGE', $layout, 0, -1), 7, "$layout: and is as it was");

	$redis->cli('DEL', $layout, "{$layout}:bloomext", "{$layout}:config");
	is(left_over(), 0, "$layout: nothing left over");
}
sql("SELECT bf_redis_create('cache', 'guava', 1000)");
is(outcome("SELECT add_twice('guava', 'SET guava foreign')"), '42704', 'something else takes its place');
is($redis->cli('GET', 'guava'), 'foreign', 'and is as it was');

# What takes the filter's place in the midst of a call: elements of the call are
# not in both.  Between a relay and the server lies a part of them.
my $runs = 0;
sub start_behind_relay
{
	my ($limit, $query) = @_;
	my $relay = RedisRelay->new($redis, $limit);
	my $out = "$PostgreSQL::Test::Utils::tmp_check/behind" . ++$runs;
	sql("DROP SERVER IF EXISTS relay CASCADE;
		 CREATE SERVER relay FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$relay->{socket}', command_timeout '60000');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER relay");
	my $run = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate', '-c', $query ],
		'<', '/dev/null', '>', $out, '2>&1');
	$relay->await_held;
	return sub { $relay->go_on; $run->finish; return slurp_file($out) =~ s/\n\z//r };
}
my $many = "(SELECT array_agg('title ' || i) FROM generate_series(1, 20000) i)";
for my $other ('5000', '1000, 0.01, \'magnuss\'', '1000, 0.01, layout => \'guava;shards=2\'', '1000, 0.01', '')
{
	for my $function ('bf_redis_add_each', 'bf_redis_contains_each')
	{
		sql("SELECT bf_redis_create('cache', 'midst', 1000, 0.01)");
		my $finish = start_behind_relay(200_000, "SELECT cardinality($function('relay', 'midst', $many))");
		sql("SELECT bf_redis_drop('cache', 'midst')" . ($other && ", bf_redis_create('cache', 'midst', $other)"));
		my $expected = !$other ? 'ERROR:  42704' : $function eq 'bf_redis_contains_each' || $other eq '1000, 0.01' ? 20000 : 'ERROR:  55006';
		is($finish->(), $expected, "$function: replaced in its midst by: $other");
		sql("SELECT bf_redis_drop('cache', 'midst')");
	}
}
sql("SELECT bf_redis_create('cache', 'midst', 100, 0.01, expansion => 1)");
my $finish = start_behind_relay(50_000, "SELECT cardinality(bf_redis_add_each('relay', 'midst', (SELECT array_agg('title ' || i) FROM generate_series(1, 2000) i)))");
sql("SELECT bf_redis_add_each('cache', 'midst', array_agg('more ' || i)) FROM generate_series(1, 1000) i");
is($finish->(), 2000, 'it may grow');

# Two who make shards of the same shape, but more or fewer of them.
$finish = start_behind_relay(40_000, "SELECT bf_redis_create('relay', 'race', 6400, 0.01, layout => 'guava;shards=64')");
is(outcome("SELECT bf_redis_create('cache', 'race', 3200, 0.01, layout => 'guava;shards=32')"), '22023', 'who is second to make a sharded filter is told');
is($finish->(), 't', 'the first one makes it');
is(sql("SELECT shards FROM bf_redis_info('cache', 'race')"), 64, 'and the filter is as wanted');
$finish = start_behind_relay(40_000, "SELECT bf_redis_create('relay', 'race2', 6400, 0.01, layout => 'guava;shards=64')");
is(sql("SELECT bf_redis_create('cache', 'race2', 6400, 0.01, layout => 'guava;shards=64')"), 't', 'who makes the last shard has made the filter');
is($finish->(), 'f', 'the other one finds it');

# Time to live: neither lost nor prolonged.
sql("SELECT bf_redis_create('cache', 'ttl', 100, ttl => '10 minutes')");
$redis->cli('PEXPIREAT', 'ttl', my $moment = (time + 500) * 1000);
sql("SELECT bf_redis_add_each('cache', 'ttl', array_agg('Title ' || i)) FROM generate_series(1, 5000) AS i");
is($redis->cli('PEXPIRETIME', 'ttl'), $moment, 'the time to live is what it was')
  if $redis->cli('COMMAND', 'INFO', 'PEXPIRETIME') ne '';

# A server that allows only a part of it does none of it.
for my $denied ('rename', 'rpush', 'bitfield')
{
	$redis->cli('DEL', 'titles', '{titles}:bloomext');
	sql("SELECT bf_redis_create('cache', 'titles', 1000), bf_redis_add('cache', 'titles', 'a')");
	my $before = $redis->bytes('titles');
	$redis->cli('ACL', 'SETUSER', 'default', "-$denied");
	my $answer = outcome("SELECT bf_redis_add('cache', 'titles', 'b')");
	$redis->cli('ACL', 'SETUSER', 'default', '+@all');
	is($answer, '42501', "$denied denied");
	is($redis->bytes('titles'), $before, "$denied denied: the filter is as it was");
	is(left_over(), 0, "$denied denied: nothing left over");
}

# Two that add the same elements at a time, and one that always finds the
# filter there.
sql("SELECT bf_redis_create('cache', 'shared', 40000);
	 SELECT bf_redis_add('cache', 'shared', 'a');
	 CREATE TABLE answers (element int, new boolean)");
my $writer = q{INSERT INTO answers
	SELECT e, new FROM generate_series(0, 19) AS batch,
		LATERAL (SELECT array_agg(batch * 2000 + i) AS es FROM generate_series(1, 2000) AS i) AS b,
		LATERAL unnest(es, bf_redis_add_each('cache', 'shared', es::text[])) AS t (e, new)};
my $reader = q{DO $$ BEGIN
	FOR i IN 1 .. 3000 LOOP
		IF NOT (SELECT bf_redis_contains('cache', 'shared', 'a')) THEN
			RAISE 'missed';
		END IF;
	END LOOP;
END $$};
my @runs = map {
	IPC::Run::start([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', $_ ],
		'<', '/dev/null', '2>&1')
} $writer, $writer, $reader;
ok($_->finish, 'nobody was disturbed') foreach @runs;
is(sql("SELECT count(*) FROM answers"), 80000, 'all is answered');
is(sql("SELECT count(*) FROM (SELECT 1 FROM answers WHERE new GROUP BY element HAVING count(*) > 1) AS twice"), 0,
	'no element was new to both');
cmp_ok(sql("SELECT count(DISTINCT element) FROM answers WHERE new"), '>', 38000, 'but nearly all to one');
is( sql("SELECT bf_fetch('cache', 'shared') = bf_agg(t, 40000) FROM
		(SELECT 'a' AS t UNION ALL SELECT i::text FROM generate_series(1, 40000) AS i) AS t"),
	't', 'and every bit is there');
is(left_over(), 0, 'nothing left over');

# Elements of other types are what they are in a filter, and what is only taken
# for text is none.
sql("SELECT bf_redis_create('cache', 'days', 1000, 0.0001)");
is(sql("SELECT bf_redis_add('cache', 'days', d) FROM unnest(ARRAY[date '2024-02-29', 'infinity']) AS d"), "t\nt", 'dates are added');
is( sql("SELECT bf_redis_contains('cache', 'days', date '2024-02-29'), bf_redis_contains('cache', 'days', date 'infinity'),
		bf_redis_contains('cache', 'days', date '2024-03-01')"), 't|t|f', 'and found');
sql("CREATE TABLE padded AS SELECT '2'::char(20) AS c");
is(sql("SELECT bf_redis_contains('cache', 'shared', c), bf_redis_add('cache', 'shared', '1   '::char(4)) FROM padded"),
	't|f', 'char(n) goes without its padding');
# What a filter of int cannot hold may be in the one that has taken its place.
sub ask_twice
{
	my ($meanwhile) = @_;
	sql("SELECT bf_mirror(bf_create(100, 0.000001, 'guava', 'int', 1), 'cache', 'wide')");
	return outcome("SELECT string_agg(c::text, ',') FROM (
		SELECT bf_redis_contains('cache', 'wide', 10000000000) AS c, CASE n WHEN 1 THEN $meanwhile END FROM generate_series(1, 2) AS n) AS t");
}
is(ask_twice('1'), 'false,false', 'an integer too wide for a filter is not in it');
is( ask_twice("bf_mirror(bf_create(100, 0.000001, 'guava', 'long', 1) + 10000000000, 'cache', 'wide')"),
	'false,true', 'and found when a wider one takes its place');
is(ask_twice("bf_redis_drop('cache', 'wide')"), '42704', 'and is no "no" when it is gone');
# An empty string is no filter, and in the way of none that lies at other keys.
$redis->cli('SET', 'hollow', '');
is(sql("SELECT bf_redis_create('cache', 'hollow', 100, 0.01, 'guava', expansion => 1)"), 't', 'a filter beside an empty string is made');
sql("SELECT bf_redis_create('cache', 'left', 100, 0.01, 'magnuss')");
$redis->cli('SET', 'left', '');
is(sql("SELECT bf_redis_drop('cache', 'left')"), 't', 'what an empty string has left of a filter is dropped');
is($redis->cli('EXISTS', 'left', '{left}:bloomext'), 0, 'with it');
# A filter whose string is gone is not another, empty one because of that one's hash.
sql("SELECT bf_redis_create('cache', 'both', 100, 0.01, 'magnuss'), bf_redis_add('cache', 'both', 'x')");
$redis->cli('HSET', '{both}:config', 'size', 729, 'hashIterations', 5, 'expectedInsertions', 100, 'falseProbability', '0.03');
is(outcome("SELECT bf_redis_contains('cache', 'both', 'x')"), '22023', 'a filter in two layouts is in none');
$redis->cli('DEL', 'both');
is(outcome("SELECT bf_redis_contains('cache', 'both', 'x')"), '22023', 'nor without its string');
# A filter of which no further layer can be made fills its last one, and then says so.
sql("SELECT bf_redis_create('cache', 'ends', 5, 0.01, 'cassandra', 'growing', 2)");
my $last = 0;
$last++ while $last < 100 && sql("SELECT layers FROM bf_redis_info('cache', 'ends')") < 3 && outcome("SELECT bf_redis_add('cache', 'ends', 'e$last')") ne '54000';
is(sql("SELECT layers FROM bf_redis_info('cache', 'ends')"), 3, 'a filter grows as far as its strategy can');
my $room = $last;
$room++ while $room < 200 && outcome("SELECT bf_redis_add('cache', 'ends', 'e$room')") ne '54000';
cmp_ok($room - $last, '>', 10, 'and is filled then');
is(outcome("SELECT bf_redis_add_each('cache', 'ends', '{x,y}')"), '54000', 'and nothing is added beyond');
is(sql("SELECT bf_redis_add_each('cache', 'ends', '{e0,e1}')"), '{f,f}', 'but what is there may be added again');
is(outcome("SELECT bf_redis_add_each('cache', 'ends', '{e0,x}')"), '54000', 'if nothing else is');
is(sql("SELECT bool_and(bf_redis_contains('cache', 'ends', 'e' || i)) FROM generate_series(0, $room - 1) AS i"), 't', 'what it said it added is there');
is(sql("SELECT fill < 0.55 FROM bf_redis_info('cache', 'ends')"), 't', 'and no more than fits');
# An array of whatever can be an element is taken, and answered as its elements are.
sql("CREATE DOMAIN word AS text; CREATE DOMAIN words AS text[]");
foreach my $array ("'{w,x y}'::varchar[]", "'{w,x y}'::char(9)[]", "'{w,x y}'::name[]", "'{w,x y}'::word[]", "'{w,x y}'::words",
	"'{t,f}'::boolean[]", "'{2024-02-29}'::date[]", "'{1,2}'::oid[]", "'{192.0.2.1}'::inet[]", "'{1,2}'::smallint[]", "'{w}'::bytea[]")
{
	sql("SELECT bf_redis_create('cache', 'arrays', 1000, 0.000001), bf_redis_add_each('cache', 'arrays', $array)");
	is(sql("SELECT bool_and(bf_redis_contains('cache', 'arrays', e)), array_agg(true) = bf_redis_contains_each('cache', 'arrays', $array) FROM unnest($array) AS e"),
		't|t', "elements of $array");
	sql("SELECT bf_redis_drop('cache', 'arrays')");
}
is(outcome("SELECT bf_redis_add_each('cache', 'shared', '{1.5}'::numeric[])"), '0A000', 'numeric[] is refused');
SKIP:
{
	skip 'no citext', 6 unless sql("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'");
	sql("CREATE EXTENSION citext; CREATE TABLE folded AS SELECT 'A'::citext AS c, '{A}'::citext[] AS a");
	foreach my $element ('c', 'a', 'ARRAY[c, c]', "'A'::citext", "ARRAY['A']::citext[]")
	{
		like(outcome("SELECT bf_redis_contains('cache', 'shared', $element) FROM folded"), qr/^0A000$/, "$element of citext is refused");
	}
	like(outcome("SELECT bf_redis_add('cache', 'shared', a) FROM folded"), qr/^0A000$/, 'and not added');
}

$node->stop;
done_testing();
