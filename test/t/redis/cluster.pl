# A cluster of three masters on loopback: slots, MOVED, ASK, shards.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;

use RedisServer;
use RedisTest qw(start_postgres sql state_of);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my @nodes = RedisServer->cluster;
my $node = start_postgres();

# The sum of a number that each node answers.
sub everywhere
{
	my $sum = 0;
	$sum += $_->cli(@_) foreach @nodes;
	return $sum;
}

sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cluster FOREIGN DATA WRAPPER bloomext_redis
		OPTIONS (host '127.0.0.1', port '$nodes[0]{port}', cluster 'true');
	CREATE SERVER alone FOREIGN DATA WRAPPER bloomext_redis
		OPTIONS (host '127.0.0.1', port '$nodes[0]{port}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cluster;
	CREATE USER MAPPING FOR CURRENT_USER SERVER alone;
	CREATE TABLE titles AS SELECT i, 'Title ' || i AS title FROM generate_series(1, 1000) AS i;
});

# Keys of all layouts, over all nodes.
my %strategies = (guava => "'guava'", redisson => "'redisson'", bitmap => "'magnuss'", growing => "'guava', 1");
for my $layout (sort keys %strategies)
{
	my $keys = $layout eq 'growing' ? "'{$layout' || n || '}'" : "'$layout' || n";
	my $expected = $layout eq 'growing' ? 100 : 500;
	is( sql("SELECT count(bf_mirror(f, 'cluster', $keys)) FROM generate_series(1, 12) AS n,
				(SELECT bf_agg(title, $expected, 0.01::float8, $strategies{$layout}) AS f FROM titles WHERE i <= 500) AS t"),
		12, "$layout: mirrored to any slot");
	is( sql("SELECT count(*) FROM generate_series(1, 12) AS n,
				unnest(bf_redis_contains_each('cluster', $keys, ARRAY(SELECT title FROM titles WHERE i <= 500))) AS c WHERE c"),
		6000, "$layout: found");
	is(sql("SELECT count(*) FROM generate_series(1, 12) AS n WHERE bf_redis_add('cluster', $keys, 'something new here')"),
		12, "$layout: added");
	is(sql("SELECT count(DISTINCT md5(bf_fetch('cluster', $keys)::text)) FROM generate_series(1, 12) AS n"), 1, "$layout: fetched");
}
cmp_ok($_->cli('DBSIZE'), '>', 5, 'every node has some') foreach @nodes;
is(state_of("SELECT bf_redis_contains('alone', 'guava' || n, 'x') FROM generate_series(1, 12) AS n"), '38000',
	'without the option, MOVED is an error');
is(state_of("SELECT bf_mirror(bf_create(100, 0.01, expansion => 1), 'cluster', 'scattered')"), '22023',
	'growing needs a part in braces');
is(everywhere('EVAL', "return #redis.call('KEYS', 'scattered*')", 0), 0, 'and nothing was written');
# The hash beside such names would be in another slot.  What a service made there
# is only asked, without a note.
for my $key ('a}b', '{}x')
{
	for my $layout ('guava', 'redisson', 'bitmap')
	{
		is(state_of("SELECT $_"), '22023', "$key in $layout: $_")
		  for "bf_mirror(bf_create(100, 0.01, $strategies{$layout}), 'cluster', '$key', '$layout')",
		  "bf_redis_create('cluster', '$key', 100, 0.01, $strategies{$layout}, '$layout')";
	}
	my $stream = sql("SELECT encode(bf_export(bf_create(100, 0.01) + 'x'), 'hex')");
	$_->cli('EVAL', "return redis.call('SET', KEYS[1], (ARGV[1]:gsub('..', function(x) return string.char(tonumber(x, 16)) end)))", 1, $key, $stream) for @nodes;
	is(state_of("SELECT bf_redis_add('cluster', '$key', 'y')"), '22023', "$key of a service: not added to");
	is(sql("SELECT bf_redis_contains_each('cluster', '$key', '{x,y}'::text[]), bf_contains(bf_fetch('cluster', '$key'), 'x'), bf_redis_drop('cluster', '$key')"),
		'{t,f}|t|t', "$key: asked, fetched and dropped");
	is(state_of("SELECT bf_redis_contains('cluster', '$key', 'x')"), '42704', "$key: dropped");
}

# What makes no sense closes the connection to who said it, not to who was asked
# first.
my ($afar) = grep { $nodes[0]->cli('EXISTS', "{growing$_}-cursor") !~ /^\d/ } 1 .. 12;
my ($owner) = grep { $_->cli('EXISTS', "{growing$afar}-cursor") eq '1' } @nodes;
$owner->cli('EVAL', "return redis.call('HSET', KEYS[1], 'layout', string.rep('x', 2000000))", 1, "{growing$afar}:bloomext-shards");
is(sql(qq{
	CREATE TABLE clients (n int, at text);
	DO \$\$ BEGIN
		PERFORM bf_redis_contains('cluster', '{growing$afar}', 'Title 1');
	EXCEPTION WHEN protocol_violation THEN
		COPY clients (n) FROM PROGRAM 'redis-cli -s $nodes[0]{socket} CLIENT LIST | grep -c " addr=127"; true';
		UPDATE clients SET at = 'asked';
		COPY clients (n) FROM PROGRAM 'redis-cli -s $owner->{socket} CLIENT LIST | grep -c " addr=127"; true';
	END \$\$;
	SELECT string_agg(concat_ws(' ', at, n), ', ' ORDER BY at) FROM clients;
	DROP TABLE clients}), 'asked 1, 0', 'an answer that is too long closes the connection that it came from');
$owner->cli('DEL', "{growing$afar}:bloomext-shards");

# Shards, each where its slot is.
sql("SELECT bf_redis_create('cluster', 'big', 1000, 0.01, layout => 'guava;shards=8');
	 SELECT bf_redis_add_each('cluster', 'big', array_agg(title)) FROM titles WHERE i <= 500");
is(sql("SELECT count(*) FILTER (WHERE i <= 500 AND c), count(*) FILTER (WHERE i > 500 AND c) < 30
		FROM (SELECT i, bf_redis_contains('cluster', 'big', title) AS c FROM titles) AS t"), '500|t', 'sharded');
my @with = grep { $_->cli('EVAL', "return #redis.call('KEYS', 'big:*')", 0) > 0 } @nodes;
cmp_ok(scalar @with, '>', 1, 'over several nodes');
is(sql("CREATE TABLE shards AS SELECT bf_shard(title, 8) AS shard, bf_agg(title, 125, 0.01) AS f FROM titles WHERE i <= 500 GROUP BY 1;
		SELECT bf_mirror(f, 'cluster', 'mirrored', 'guava;shards=8/' || shard) > 0 FROM shards WHERE shard < 7") .
	state_of("SELECT bf_redis_contains('cluster', 'mirrored', 'Title 1')") .
	sql("SELECT bf_mirror(f, 'cluster', 'mirrored', 'guava;shards=8/7') > 0 FROM shards WHERE shard = 7;
		SELECT bool_and(bf_redis_contains('cluster', 'mirrored', title)) FROM titles WHERE i <= 500;
		SELECT bf_redis_drop('cluster', 'mirrored')"),
	"t\n" x 6 . "t42704t\nt\nt", 'or mirrored one by one');
is(sql("SELECT bf_redis_drop('cluster', 'big')"), 't', 'dropped');
is(everywhere('EVAL', "return #redis.call('KEYS', '*big*')", 0), 0, 'everywhere');

# A slot on the move.  What takes several keys has to wait until it has moved,
# and gives up in the end.
sub slot_of { return $nodes[0]->cli('CLUSTER', 'KEYSLOT', $_[0]); }
my @ids = map { $_->cli('CLUSTER', 'MYID') } @nodes;
my ($from) = grep { $nodes[$_]->cli('EXISTS', 'guava1') eq '1' } 0 .. 2;
my $to = ($from + 1) % 3;
my $slot = slot_of('guava1');
$nodes[$to]->cli('CLUSTER', 'SETSLOT', $slot, 'IMPORTING', $ids[$from]);
$nodes[$from]->cli('CLUSTER', 'SETSLOT', $slot, 'MIGRATING', $ids[$to]);
like($nodes[$from]->cli('MIGRATE', '127.0.0.1', $nodes[$to]{port}, 'guava1', 0, 5000), qr/OK/, 'a key moves');
my $moving = state_of("ALTER SERVER cluster OPTIONS (command_timeout '500');
	SELECT bf_redis_contains('cluster', 'guava1', 'Title 1')");
$nodes[$_]->cli('CLUSTER', 'SETSLOT', $slot, 'NODE', $ids[$to]) foreach $to, $from, 3 - $to - $from;
is(sql("SELECT bf_redis_contains('cluster', 'guava1', 'Title 1')"), 't', 'after the slot has moved');
like($moving, qr/^(38000)?$/, 'while it was on the move: an answer or an error');

# ASK, where one command on one key is enough.
my $other = 'guava2';
($from) = grep { $nodes[$_]->cli('EXISTS', $other) eq '1' } 0 .. 2;
$to = ($from + 1) % 3;
$slot = slot_of($other);
my $answer = $node->safe_psql('postgres', qq{
	CREATE FUNCTION before_and_after(OUT before boolean, OUT after boolean) LANGUAGE plpgsql AS \$\$
	BEGIN
		FOR n IN 1 .. 2 LOOP
			before := after;
			after := bf_redis_contains('cluster', '$other', 'Title 1');
			IF n = 1 THEN
				COPY (SELECT 1) TO PROGRAM 'redis-cli -s $nodes[$to]{socket} CLUSTER SETSLOT $slot IMPORTING $ids[$from]';
				COPY (SELECT 1) TO PROGRAM 'redis-cli -s $nodes[$from]{socket} CLUSTER SETSLOT $slot MIGRATING $ids[$to]';
				COPY (SELECT 1) TO PROGRAM 'redis-cli -s $nodes[$from]{socket} MIGRATE 127.0.0.1 $nodes[$to]{port} $other 0 5000';
			END IF;
		END LOOP;
	END \$\$;
	SELECT * FROM before_and_after()});
is($answer, 't|t', 'ASK is followed');
$nodes[$from]->cli('MIGRATE', '127.0.0.1', $nodes[$to]{port}, "{$other}:bloomext", 0, 5000);
$nodes[$_]->cli('CLUSTER', 'SETSLOT', $slot, 'NODE', $ids[$to]) foreach $to, $from, 3 - $to - $from;
is(sql("SELECT bf_redis_add('cluster', '$other', 'Title 1')"), 'f', 'and MOVED after it');

# A slot of which nothing has moved yet.  It has none of most keys that are looked for.
sql("ALTER SERVER cluster OPTIONS (SET command_timeout '1000')");
for my $key ('guava3', 'bitmap3', 'redisson3', '{growing3}')
{
	($from) = grep { $nodes[$_]->cli('EXISTS', $key =~ /growing/ ? "$key-0" : $key) eq '1' } 0 .. 2;
	$to = ($from + 1) % 3;
	$slot = slot_of($key);
	$nodes[$to]->cli('CLUSTER', 'SETSLOT', $slot, 'IMPORTING', $ids[$from]);
	$nodes[$from]->cli('CLUSTER', 'SETSLOT', $slot, 'MIGRATING', $ids[$to]);
	is(sql("SELECT bf_redis_contains_each('cluster', '$key', ARRAY(SELECT title FROM titles WHERE i <= 500)) = array_fill(true, ARRAY[500])"), 't', "$key: asked before it moves");
	is($nodes[$from]->cli('MIGRATE', '127.0.0.1', $nodes[$to]{port}, $key, 0, 5000), $key =~ /growing/ ? 'NOKEY' : 'OK', "$key moves");
	is(sql("SELECT bf_redis_contains('cluster', '$key', 'Title 1')"), 't', "$key: asked when it has, without what is beside it") if $key eq 'guava3';
	is(state_of("SELECT bf_redis_contains('cluster', '$key', 'Title 1')"), '38000', "$key: an error while keys that are compared are apart") if $key =~ /bitmap|redisson/;
	$nodes[$_]->cli('CLUSTER', 'SETSLOT', $slot, 'STABLE') foreach $to, $from;
	$nodes[$to]->cli('MIGRATE', '127.0.0.1', $nodes[$from]{port}, $key, 0, 5000);
}

# A slot that nobody serves for a moment.
($from) = grep { $nodes[$_]->cli('EXISTS', 'guava4') eq '1' } 0 .. 2;
$slot = slot_of('guava4');
$_->cli('CLUSTER', 'DELSLOTS', $slot) foreach @nodes;
my $down = state_of("ALTER SERVER cluster OPTIONS (SET command_timeout '300'); SELECT bf_redis_contains('cluster', 'guava4', 'Title 1')");
is($down, '38000', 'a slot that nobody serves');
sql("ALTER SERVER cluster OPTIONS (SET command_timeout '20000')");
my $back = fork() // die "fork: $!";
if ($back == 0)
{
	sleep 1;
	$nodes[$from]->cli('CLUSTER', 'ADDSLOTS', $slot);
	POSIX::_exit(0);
}
is(sql("SELECT bf_redis_contains('cluster', 'guava4', 'Title 1')"), 't', 'is waited for');
waitpid $back, 0;

$node->stop;
done_testing();
