# Mirrors where Redis has little memory: a filter takes the place of another one of
# its size where a SET would be refused, costs nobody else his keys, and leaves
# the old one, and nothing else, where it cannot come to its end.
# BLOOMEXT_REDISBLOOM names the module (redisbloom.so), to try its filters, too.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use FaultServer;
use RedisRelay;
use RedisServer;
use RedisTest qw(start_postgres sql session server outcome);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new(options => [ RedisServer->bloom ]);
my $node = start_postgres("restart_after_crash = on\nbloomext.overfull_notice = off\n");
sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE FUNCTION large(layout text, element text) RETURNS bloomfilter LANGUAGE sql AS \$\$
		SELECT bf_agg(element || i, CASE layout WHEN 'growing' THEN 1000 WHEN 'redisbloom' THEN 11800000 ELSE 16700000 END,
			0.01::float8, CASE WHEN layout LIKE 'redis%' THEN layout ELSE 'guava' END, CASE layout WHEN 'growing' THEN 12500 ELSE 0 END)
		FROM generate_series(1, 3000) AS i \$\$;
	SELECT bf_redis_create('cache', 'stop', 10);
});
my @layouts = ('guava', 'redisson', 'bitmap', 'growing', RedisServer->bloom ? 'redisbloom' : ());

# What Redis says of itself.
sub info { my ($section, $name) = @_; return $redis->cli('INFO', $section) =~ /\b$name:(?:calls=)?(\w+)/ ? $1 : 0; }

# Let Redis have so many MB more than it uses, when all others have gone and what
# they used is free.
sub leave
{
	my ($megabytes) = @_;
	$redis->cli('CONFIG', 'SET', 'maxmemory', 0);
	sleep 0.02 until info('clients', 'connected_clients') == 1 && info('memory', 'lazyfree_pending_objects') == 0;
	$redis->cli('CONFIG', 'SET', 'maxmemory', info('memory', 'used_memory') + $megabytes * 1000 * 1000) if $megabytes;
	$redis->cli('CONFIG', 'RESETSTAT');
}

sub pieces { return info('commandstats', 'cmdstat_setrange'); }
sub temporary { return split /\n/, $redis->cli('--scan', '--pattern', '*bloomext-tmp*'); }
sub mirror { my ($layout, $element, $server) = @_; return sprintf "SELECT bf_mirror(large('$layout', '$element'), '%s', '$layout', '$layout') > 0", $server // 'cache'; }
sub asked { my ($layout) = @_; return sql("SELECT bf_redis_contains_each('cache', '$layout', '{old1,new1}'::text[])"); }

# What a filter's keys hold; the LRU clock aside.
sub contents
{
	my ($layout) = @_;
	return $redis->cli('EVAL', $RedisServer::digest . q{
		local all, result = redis.call('KEYS', '*' .. ARGV[1] .. '*'), {}
		table.sort(all)
		for _, key in ipairs(all) do
			table.insert(result, key .. ' ' .. redis.call('PTTL', key) .. ' ' .. digest(key))
		end
		return result}, 0, $layout);
}

# A session that does something while we go on.
my $runs = 0;
sub background
{
	my ($script) = @_;
	my $out = "$PostgreSQL::Test::Utils::tmp_check/memory" . ++$runs;
	my $run = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'), '-v', 'VERBOSITY=sqlstate', '-c', $script ],
		'<', '/dev/null', '>', $out, '2>&1');
	return sub { $run->finish; return slurp_file($out) };
}

# One filter over another, with room for both of them.
for my $layout (@layouts)
{
	leave(0);
	is(sql(mirror($layout, 'old')), 't', "$layout: mirrored");
	is(pieces(), 0, "$layout: by one SET where there is room");
	leave(30);
	system("head -c 20000000 /dev/zero | redis-cli -s $redis->{socket} -x SET probe >$PostgreSQL::Test::Utils::tmp_check/set 2>&1");
	like(slurp_file("$PostgreSQL::Test::Utils::tmp_check/set"), qr/OOM/, "$layout: a SET is refused") if $layout ne 'redisbloom';
	my $reader = background(qq{DO \$\$
		DECLARE
			answer bool[];
			old bool := false;
			new bool := false;
		BEGIN
			WHILE NOT bf_redis_contains('cache', 'stop', '$layout') LOOP
				answer := bf_redis_contains_each('cache', '$layout', '{old1,new1}'::text[]);
				IF answer[1] = answer[2] THEN RAISE 'answers %', answer; END IF;
				old := old OR answer[1];
				new := new OR answer[2];
			END LOOP;
			IF NOT old OR NOT new THEN RAISE 'only one was seen'; END IF;
		END \$\$});
	for my $element ('new', 'old', 'new')
	{
		is(outcome(mirror($layout, $element)), 't', "$layout: $element mirrored where there is room for two");
		is(sql("SELECT bf_fetch('cache', '$layout') = large('$layout', '$element')"), 't', "$layout: all of it");
	}
	sql("SELECT bf_redis_add('cache', 'stop', '$layout')");
	is($reader->(), "DO\n", "$layout: readers saw the one or the other");
	cmp_ok(pieces(), '>', 100, "$layout: in pieces") if $layout ne 'redisbloom';
	is(join(' ', temporary()), '', "$layout: nothing else is left");
	is(sql("SELECT ttl_ms IS NULL FROM bf_redis_info('cache', '$layout')"), 't', "$layout: which does not expire") if $layout ne 'redisbloom';

	# Without that.
	my $before = contents($layout);
	leave(12);
	is(outcome(mirror($layout, 'old')), '38R01', "$layout: refused by Redis");
	is(contents($layout), $before, "$layout: which has what it had");

	# Nobody else's keys.
	leave(0);
	$redis->cli('EVAL', q{for i = 1, 200 do redis.call('SET', 'foreign' .. i, string.rep('x', 50000)) end}, 0);
	$redis->cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
	leave(30);
	is(outcome(mirror($layout, 'old')) . outcome(mirror($layout, 'new')), 'tt', "$layout: with room nothing is evicted");
	is(info('stats', 'evicted_keys'), 0, "$layout: at all");
	$before = contents($layout);
	leave(15);
	is(outcome(mirror($layout, 'old')), '53200', "$layout: without it is refused");
	is(info('stats', 'evicted_keys') . pieces(), '00', "$layout: before anything is sent or evicted");
	is(contents($layout), $before, "$layout: and the old one is there");
	is(asked($layout), '{f,t}', "$layout: and answers");
	$redis->cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
	leave(0);
	$redis->cli('EVAL', q{for i = 1, 200 do redis.call('DEL', 'foreign' .. i) end}, 0);
	sql("SELECT bf_redis_drop('cache', '$layout')");
}

# What the refusal says; and small filters are not refused, nor asked for.
sql(mirror('guava', 'old'));
$redis->cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu');
leave(15);
my ($status, $out, $err) = $node->psql('postgres', mirror('guava', 'new'));
like($err, qr/not enough memory.*"guava".*\nDETAIL: .* 26\d{6} bytes\.  Redis uses \d{8} bytes of its maxmemory of \d{8} bytes,.*\nHINT: .*maxmemory/, 'the figures');
$redis->cli('CONFIG', 'RESETSTAT');
is(outcome("SELECT bf_mirror(bf_create(800000, 0.01), 'cache', 'small') > 0"), 't', 'a filter of 1 MB is mirrored all the same');
is(info('commandstats', 'cmdstat_info'), 0, 'without a question');

# Where keys with a time to live are evicted, the temporary one is such a key.
$redis->cli('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl');
for my $layout ('guava', 'growing')
{
	leave(0);
	sql(mirror($layout, 'old'));
	my $before = contents($layout);
	leave(12);
	is(outcome(mirror($layout, 'new')), '55000', "$layout: the temporary key is evicted");
	cmp_ok(info('stats', 'evicted_keys'), '>', 0, "$layout: it is");
	cmp_ok(pieces(), '<', 10, "$layout: the rest is not sent");
	is(contents($layout), $before, "$layout: the old one is there");
	is(join(' ', temporary()), '', "$layout: and nothing else");
}
$redis->cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
leave(0);

# Between us and Redis somebody does something to the temporary key: when a list of
# that name has commands, before the 40th piece, or before it is put in place.  The
# connection may be closed two pieces later.
sub read_reply
{
	my ($socket) = @_;
	local $/ = "\r\n";
	my $reply = <$socket>;
	if ($reply =~ /^\$(\d+)/) { read $socket, $reply, $1 + 2, length $reply; }
	elsif ($reply =~ /^\*(\d+)/) { $reply .= read_reply($socket) for 1 .. $1; }
	return $reply;
}

sub call
{
	my ($socket, @command) = @_;
	print {$socket} FaultServer::array(map { FaultServer::bulk($_) } @command);
	$socket->flush;
	return read_reply($socket);
}

my $meddler = FaultServer->new(sub {
	my ($state, @command) = @_;
	return '' if $command[0] eq '!EARLY';
	$state->{up} //= IO::Socket::UNIX->new(Peer => $redis->{socket});
	return FaultServer::bulk("maxmemory:all\r\nused_memory:1\r\n") if $command[0] eq 'INFO';
	my ($moment, $key) = ('', $command[1]);
	$state->{pieces}++ if $command[0] eq 'SETRANGE';
	$moment = 'piece' if $command[0] eq 'SETRANGE' && $state->{pieces} == 40;
	return undef if $command[0] eq 'SETRANGE' && $state->{pieces} == 42 && call($state->{up}, 'LPOP', 'close') =~ /yes/;
	($moment, $key) = ('place', $command[3]) if $command[0] eq 'EVAL' && $command[1] =~ /RENAME/;
	while ($moment && call($state->{up}, 'LPOP', $moment) =~ /\r\n(.+)\r\n/)
	{
		call($state->{up}, split / /, $1 =~ s/KEY/$key/r);
	}
	return call($state->{up}, @command);
});
server('meddled', $meddler->{port}, ", command_timeout '60000'");

for my $layout (@layouts[0 .. 3])
{
	my @cases = (
		[ 'nothing', 'piece', [], 't' ],
		[ 'deleted', 'piece', ['DEL KEY'], '55000' ],
		[ 'another of a greater length', 'piece', ['SETRANGE KEY 30000000 x'], '55000' ],
		[ 'deleted at the end', 'place', ['DEL KEY'], '55000' ],
		[ 'a byte longer', 'place', ['APPEND KEY x'], '55000' ],
		[ 'its first byte changed', 'place', ['SETRANGE KEY 0 !'], '55000' ],
		[ 'a list', 'place', [ 'DEL KEY', 'RPUSH KEY x' ], '55000' ]);
	sql(mirror($layout, 'old'));
	for (@cases)
	{
		my ($what, $moment, $commands, $expected) = @$_;
		my $before = contents($layout);
		$redis->cli('RPUSH', $moment, @$commands) if @$commands;
		$redis->cli('CONFIG', 'RESETSTAT');
		is(outcome(mirror($layout, 'new', 'meddled')), $expected, "$layout: $what");
		is($redis->cli('EXISTS', $moment), 0, "$layout: $what: it was done");
		is(join(' ', temporary()), '', "$layout: $what: no temporary key is left");
		if ($expected eq 't')
		{
			is(asked($layout), '{f,t}', "$layout: $what: in place");
			sql(mirror($layout, 'old'));
			next;
		}
		is(contents($layout), $before, "$layout: $what: the old one is there");
		cmp_ok(pieces(), '<', 60, "$layout: $what: the rest is not sent") if $moment eq 'piece';
	}
	$redis->cli('RPUSH', 'piece', 'DEL KEY');
	$redis->cli('RPUSH', 'close', 'yes');
	is(outcome(mirror($layout, 'new', 'meddled')), '08006', "$layout: deleted, and then the connection is lost");
	cmp_ok($redis->cli('PTTL', $_), '>', 0, "$layout: what is left expires") foreach temporary();
	$redis->cli('UNLINK', $_) foreach temporary();
	sql("SELECT bf_redis_drop('cache', '$layout')");
}

# Cancelled, ended and killed in the middle.
for my $layout ('guava', 'growing')
{
	sql(mirror($layout, 'old'));
	leave(30);
	my $before = contents($layout);
	for my $how ('pg_cancel_backend', 'pg_terminate_backend', 'kill')
	{
		my $relay = RedisRelay->new($redis, 10_000_000);
		sql("DROP SERVER IF EXISTS relay CASCADE;
			 CREATE SERVER relay FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$relay->{socket}');
			 CREATE USER MAPPING FOR CURRENT_USER SERVER relay");
		my $finish = background(mirror($layout, 'new', 'relay'));
		$relay->await_held;
		my $pid = sql("SELECT pid FROM pg_stat_activity WHERE query ~ 'bf_mirror' AND pid <> pg_backend_pid()");
		$how eq 'kill' ? kill('KILL', $pid) : sql("SELECT $how($pid)");
		my $said = $finish->();
		is($said, "ERROR:  57014\n", "$layout: cancelled") if $how eq 'pg_cancel_backend';
		$relay->go_on;
		$node->poll_query_until('postgres', '', '') or die 'PostgreSQL does not come back';
		is(join("\n", grep { !/bloomext-tmp/ } split /\n/, contents($layout)), $before, "$layout: $how: the old one is there");
		is(asked($layout), '{t,f}', "$layout: $how: and answers");
		my @left = grep { $redis->cli('PTTL', $_) < 0 } temporary();
		is("@left", '', "$layout: $how: what else is left expires");
		$redis->cli('UNLINK', $_) foreach temporary();
	}
	leave(0);
	sql("SELECT bf_redis_drop('cache', '$layout')");
}

# Who may not ask for the memory needs none but for pieces.
$redis->cli('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@read', '+@write', '+@transaction', '+eval', '+ping', '-info');
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (username 'app', password 'secret')});
for my $layout ('guava', 'growing')
{
	leave(0);
	is(outcome(mirror($layout, 'old')), 't', "$layout: no INFO");
	cmp_ok(pieces(), '>', 70, "$layout: so in pieces");
	is(asked($layout), '{t,f}', "$layout: all the same");
}
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (DROP username, DROP password)});

# In a cluster the node that has the key is asked.
my @cluster = RedisServer->cluster;
server('cluster', $cluster[0]{port}, ", cluster 'true'");
my $titles = "'cluster', '{titles%s}', 'guava'";
$_->cli('CONFIG', 'SET', 'maxmemory', 30_000_000) foreach @cluster;
$_->cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru') foreach @cluster;
my %nodes;
for my $i (1 .. 3)
{
	my $place = sprintf $titles, $i;
	is(outcome("SELECT bf_mirror(large('guava', 'old'), $place) > 0"), 't', "cluster, key $i: there is room");
	is(outcome("SELECT bf_mirror(large('guava', 'new'), $place) > 0"), '53200', "cluster, key $i: there is none");
	sql("SELECT bf_redis_drop('cluster', '{titles$i}')");
}
is(join(' ', map { $_->cli('INFO', 'stats') =~ /evicted_keys:(\d+)/ } @cluster), '0 0 0', 'cluster: nothing was evicted');

$node->stop;
done_testing();
