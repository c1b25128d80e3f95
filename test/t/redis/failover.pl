# Fail-overs that sentinels make: what was acknowledged is there, and who adds does not
# stay with a master that is none any more.
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
use RedisServer;
use RedisTest qw(start_postgres sql state_of session await);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $node = start_postgres();
sql(q{
	CREATE EXTENSION bloomext;
	CREATE TABLE acknowledged (server text, element text);
	CREATE TABLE failed (server text, state text, message text);

	-- Add elements until told to end; which of them were added, and what the others met.
	CREATE PROCEDURE add_until(at name, mark text) LANGUAGE plpgsql AS $$
	DECLARE
		problem text;
		i int := 0;
	BEGIN
		WHILE pg_stat_file(mark, true) IS NULL LOOP
			i := i + 1;
			BEGIN
				PERFORM bf_redis_add(at, 'k', 'x' || i);
				INSERT INTO acknowledged VALUES (at, 'x' || i);
			EXCEPTION WHEN query_canceled OR OTHERS THEN
				GET STACKED DIAGNOSTICS problem = MESSAGE_TEXT;
				INSERT INTO failed VALUES (at, SQLSTATE, problem);
			END;
			COMMIT;
			PERFORM pg_sleep(0.01);
		END LOOP;
	END $$;
});

# The message of the error that a query ends in, with DETAIL and HINT.
sub message
{
	my ($query) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");
	return $err;
}

# A master with so many replicas behind sentinels, as a server of a name.
sub watched
{
	my ($name, $count, $options) = @_;
	my $master = RedisServer->new(port => RedisServer::free_port());
	my @replicas = map { RedisServer->new(port => RedisServer::free_port(), options => [ '--replicaof', '127.0.0.1', $master->{port} ]) } 1 .. $count;
	await('replicas', sub { return $count == grep { $_->cli('INFO', 'replication') =~ /master_link_status:up/ } @replicas });
	my @sentinels = RedisServer->sentinels($name, $master);
	await('sentinels who know all', sub {
		my @told = map { $_->cli('SENTINEL', 'MASTER', $name) } @sentinels;
		return @told == grep { /^num-slaves\n$count$/m && /^num-other-sentinels\n2$/m && /^flags\nmaster$/m } @told;
	});
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1,127.0.0.1,127.0.0.1',
			port '@{[join ',', map { $_->{port} } @sentinels]}', sentinel '$name', connect_timeout '30000'" . ($options // '') . ");
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name;
		 SELECT bf_redis_create('$name', 'k', 100000, 0.0001)");
	return ($master, \@replicas, \@sentinels);
}

# Wait until all sentinels name another master than this one, and that is one.
sub await_switch
{
	my ($name, $from, $sentinels, @others) = @_;
	await('switch', sub {
		my %ports = map { ($_->cli('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', $name) =~ /\n(\d+)$/)[0] => 1 } @$sentinels;
		my ($port, @more) = keys %ports;
		return !@more && $port != $from->{port} && grep { $_->{port} == $port && $_->cli('ROLE') =~ /^master/ } @others;
	});
	return;
}

sub count_of { return sql("SELECT count(*) FROM acknowledged WHERE server = '$_[0]'"); }

# A session adds while something happens, and until more was added after that: how many
# were acknowledged, how many of them a new session denies, and what errors there were.
sub adding_during
{
	my ($name, $happens) = @_;
	my $mark = PostgreSQL::Test::Utils::tempdir() . '/end';
	my $run = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c', "CALL add_until('$name', '$mark')" ], '<', '/dev/null');
	await('additions', sub { return count_of($name) > 30 });
	$happens->();
	my $before = count_of($name);
	await('additions after that', sub { return count_of($name) > $before + 30 });
	append_to_file($mark, '');
	$run->finish;
	note(sql("SELECT state, message, count(*) FROM failed WHERE server = '$name' GROUP BY 1, 2"));
	my $denied = sql("SELECT count(*) FROM acknowledged WHERE server = '$name' AND NOT bf_redis_contains('$name', 'k', element)");
	note(count_of($name) . " acknowledged, $denied denied");
	return $denied;
}

# A session that is open when another master is promoted follows, though the old one goes
# on as a master for many seconds.
my ($master, $replicas, $sentinels) = watched('followed', 1);
my $marks = PostgreSQL::Test::Utils::tempdir();
my $run = IPC::Run::start([ 'psql', '-X', '-q', '-At', '-d', $node->connstr('postgres'),
		'-c', "SELECT bf_redis_add('followed', 'k', 'before')", '-c', "\\! touch $marks/1; until [ -e $marks/2 ]; do sleep 0.05; done",
		'-c', "SELECT bf_redis_add('followed', 'k', 'after'), bf_redis_contains('followed', 'k', 'before')" ], '<', '/dev/null', '>', \my $said);
sleep 0.05 until -e "$marks/1";
is($master->cli('WAIT', 1, 30000), 1, 'replicated');
$sentinels->[0]->cli('SENTINEL', 'FAILOVER', 'followed');
await_switch('followed', $master, $sentinels, @$replicas);
sleep 1.1;
append_to_file("$marks/2", '');
$run->finish;
is($said, "t\nt|t\n", 'a session goes on after a fail-over');
is(sql("SELECT bf_redis_contains_each('followed', 'k', '{before,after}'::text[])"), '{t,t}', 'with the new master');

# Which questions a sentinel of our own hears, from whom, and what it answers: a port that
# a file has.
my ($heard, $named) = ("$marks/heard", "$marks/named");
sub heard { my $what = -e $heard ? slurp_file($heard) : ""; unlink $heard; return $what; }
sub name_master { unlink $named; append_to_file($named, $_[0]); }
my $sentinel = FaultServer->new(sub {
	my ($state, @command) = @_;
	append_to_file($heard, "$command[0] ");
	return "+PONG\r\n" if $command[0] eq 'PING';
	return FaultServer::array(map { FaultServer::bulk($_) } '127.0.0.1', slurp_file($named));
});
RedisTest::server('asked', $sentinel->{port}, ", sentinel 'm', connect_timeout '300'");
my ($first, $second) = map { RedisServer->new(port => RedisServer::free_port()) } 1 .. 2;
name_master($_->{port}), sql("SELECT bf_redis_create('asked', 'k', 1000)") foreach $second, $first;
my $add = "SELECT bf_redis_add('asked', 'k', 'x' || clock_timestamp());";
heard();
session("$add $add SELECT pg_sleep(1.1); $add $add");
like(heard(), qr/^PING SENTINEL (SENTINEL )+$/, 'a sentinel is asked again after a second, by a connection that is kept');

# What has psql run a command between two statements.
sub shell { return "\n\\! ($_[0]) >/dev/null </dev/null\n"; }

# A master that lacks replicas may be none any more: that is asked, once.
$first->cli('CONFIG', 'SET', 'min-replicas-to-write', 1);
is(session("$add $add"), '38000 38000', 'a master that lacks replicas');
like(heard(), qr/^PING (SENTINEL ){3,10}$/, 'one question more for each time');
is(session("SELECT bf_redis_contains('asked', 'k', 'z'); @{[shell(qq(echo -n $second->{port} >$named))]} SELECT bf_redis_add('asked', 'k', 'z')"), 'f t',
	'one that they have left');
is(sql("SELECT bf_redis_contains('asked', 'k', 'z')"), 't', 'for the new one, which has what was to be added');

# Between two parts of a mirror, too: it ends there, and nothing is put in place.  Who is
# between us names another master, and takes its time, when a part has come.
sub read_reply
{
	my ($socket) = @_;
	my $reply = <$socket>;
	if ($reply =~ /^\$(\d+)/) { read $socket, $reply, $1 + 2, length $reply; }
	elsif ($reply =~ /^\*(\d+)/) { $reply .= read_reply($socket) for 1 .. $1; }
	return $reply;
}
my $between = FaultServer->new(sub {
	my ($state, @command) = @_;
	$state->{up} //= IO::Socket::UNIX->new(Peer => $second->{socket});
	$state->{up}->print(FaultServer::array(map { FaultServer::bulk($_) } @command));
	$state->{up}->flush;
	name_master($first->{port}), sleep 1.1 if $command[0] eq 'PSETEX';
	return read_reply($state->{up});
});
name_master($between->{port});
is(session("SELECT bf_mirror(bf_create(100, 0.01, expansion => 1), 'asked', 'put')"), '08006', 'a mirror whose server is none any more when it is to be put in place');
is($_->cli('EXISTS', 'put-config'), 0, 'nothing is in place') foreach $first, $second;

# With several replicas, what one has confirmed is lost if another one is promoted.
my ($chosen, $follower) = map { RedisServer->new(port => RedisServer::free_port(), options => [ '--replicaof', '127.0.0.1', $second->{port} ]) } 1 .. 2;
await('replicas', sub { return 2 == grep { $_->cli('EXISTS', 'k') eq '1' } $chosen, $follower });
name_master($second->{port});
sql("ALTER SERVER asked OPTIONS (wait_replicas '2', wait_timeout '4000')");
is(sql("SELECT bf_redis_add('asked', 'k', 'of all')"), 't', 'confirmed by both replicas');
$chosen->cli('REPLICAOF', 'NO', 'ONE');
sql("ALTER SERVER asked OPTIONS (SET wait_timeout '50')");
is(state_of("SELECT bf_redis_add('asked', 'k', 'of none')"), '08007', 'one of them is not enough');
is(sql("ALTER SERVER asked OPTIONS (SET wait_replicas '1', SET wait_timeout '4000'); SELECT bf_redis_add('asked', 'k', 'of one')"), 't', 'unless one is wanted');
name_master($chosen->{port});
is(sql("ALTER SERVER asked OPTIONS (DROP wait_replicas); SELECT bf_redis_contains_each('asked', 'k', '{of all,of one}'::text[])"), '{t,f}',
	'and who is promoted has what all have confirmed, but not what another one has');

name_master($second->{port});
is(session("$add @{[shell(qq(kill -9 $sentinel->{pid}))]} SELECT pg_sleep(1.1); $add"), 't 08001', 'without one, nobody is asked for what was known');
$sentinel->stop;

# Whatever writes waits for replicas, each layout's way, and where all was there already;
# who reads does not.
my $alone = RedisServer->new(port => RedisServer::free_port(), options => [ RedisServer::bloom() ]);
RedisTest::server('waiting', $alone->{port}, ", wait_replicas '1', wait_timeout '20'");
RedisTest::server('plain', $alone->{port});
sql("CREATE TABLE t AS SELECT 'Title ' || i AS title FROM generate_series(1, 100) i; CREATE INDEX ON t USING bloomfilter (title) WITH (expected = 100)");
my %made = (guava => "'guava'", redisson => "'redisson'", bitmap => "'magnuss'", growing => "'guava', NULL, 1", shards => "'guava', 'guava;shards=4'",
	RedisServer::bloom() ? (redisbloom => "'redisbloom'") : ());
for my $layout (sort keys %made)
{
	my $create = "bf_redis_create('waiting', '$layout', 1000, 0.01, $made{$layout})";
	is(state_of("SELECT $create"), '08007', "$layout: $_") foreach 'made', 'found';
	is(session("SELECT bf_redis_drop('plain', '$layout') IS NOT NULL; SELECT $create" =~ s/waiting/plain/r), 't t', "$layout: there");
	is(session("SELECT bf_redis_add('waiting', '$layout', 'x'); SELECT bf_redis_add('waiting', '$layout', 'x'); SELECT bf_redis_add_each('waiting', '$layout', '{x}'::text[]);
			SELECT bf_redis_contains('waiting', '$layout', 'x'); SELECT layout IS NOT NULL FROM bf_redis_info('waiting', '$layout')"), 't t 08007 08007 08007', "$layout: added to, also what was there");
	is(state_of("SELECT bf_redis_drop('waiting', '$layout')"), '08007', "$layout: dropped");
}
for my $filter ("bf_create(1000)", "bf_create(1000, 0.01, 'redisson')", "bf_create(1000, 0.01, expansion => 1)")
{
	is(state_of("SELECT bf_mirror($filter, 'waiting', 'm')"), '08007', "mirrored: $filter");
	sql("SELECT bf_redis_drop('plain', 'm')");
}
is(session("SELECT bf_live_mirror('t', 'waiting', 'l'); INSERT INTO t VALUES ('new'); SELECT bf_live_mirror('t', 'waiting', 'l')"), '08007 08007', 'mirrored from a live filter');
is(state_of("SELECT bf_mirror(bf_create(1000), 'waiting', 's', 'guava;shards=2/0')"), '08007', 'mirrored as a shard');
like(message("SELECT bf_redis_create('waiting', 'm', 10)"),
	qr/08007: write to Redis server "waiting" was not confirmed by 1 replicas\nDETAIL:  Only 0 confirmed it within wait_timeout\.\nHINT:  .*write it again/, 'what may be lost');
$alone->cli('ACL', 'SETUSER', 'default', '-wait');
like(message("SELECT bf_redis_create('waiting', 'n', 10)"), qr/08007: .*\nDETAIL:  The server replied to WAIT with: NOPERM/, 'an account that may not wait');
for my $options ("wait_replicas '-1'", "wait_timeout '0'", "wait_replicas '1', wait_timeout '5000'", "wait_replicas '1', command_timeout '1000'")
{
	is(state_of("CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host 'h', $options)"), '22023', "refused: $options");
}

# With one replica that is waited for, nothing is lost that was acknowledged: by a fail-over
# that is asked for, by a crash, and by a master that is out of reach for a while.
my %happens = (
	planned => sub { $_[1][0]->cli('SENTINEL', 'FAILOVER', 'planned'); },
	crashed => sub { $_[0]->signal('KILL'); },
	silent => sub { $_[0]->signal('STOP'); });
for my $name (sort keys %happens)
{
	my ($old, $others, $who) = watched($name, 1, ", wait_replicas '1', wait_timeout '200', command_timeout '1000'");
	is(adding_during($name, sub { $happens{$name}->($old, $who); await_switch($name, $old, $who, @$others); $old->signal('CONT'); 
			$old->start if $name eq 'crashed';
			await('the old one as a replica', sub { return $old->cli('ROLE') =~ /^slave/ }); }), 0, "$name: all that was acknowledged is there");
	cmp_ok(sql("SELECT count(*) FROM failed WHERE server = '$name'"), '>', 0, "$name: other additions failed");
	$_->stop foreach @$who, @$others, $old;
}

done_testing();
