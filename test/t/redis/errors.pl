# What a real Redis refuses: each of its errors has a SQLSTATE, a hint, and no name of
# a script; handlers take it for what it is.  And what a READ ONLY transaction may do.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use RedisServer;
use RedisTest;

my ($redis, $node) = start_servers([ '--dbfilename', 'taken' ]);
my $asks = "SELECT bf_redis_contains('cache', 'f', 'x')";
sql("SELECT bf_redis_create('cache', 'f', 1000, layout => 'bitmap', strategy => 'magnuss'); SELECT bf_redis_create('cache', 'grows', 1000, expansion => 1)");

# What writes: in a transaction, by a script, and under a temporary name.
my @writes = ("bf_redis_add('cache', 'f', 'x')", "bf_redis_add('cache', 'grows', 'x')", "bf_mirror(bf_create(1000), 'cache', 'm')",
	"bf_mirror(bf_create(1000, expansion => 1), 'cache', 'm')");

# What a session says last, in full.
sub said_last
{
	my (@script) = @_;
	my (undef, undef, $said) = $node->psql('postgres', join("\n", '\set VERBOSITY verbose', @script), on_error_stop => 0);
	return $said;
}

# An error is as it should be.
sub is_refused
{
	my ($said, $state, $text, $hint, $name) = @_;
	like($said, qr/^[^\n]*ERROR:  $state: Redis server "\w+" returned an error: $text[^\n]*\nHINT:  [^\n]*$hint/, $name);
	unlike($said, qr/script:|user_script|[0-9a-f]{40}/, "$name: no script is named");
	return;
}

sub config { is($redis->cli('CONFIG', 'SET', @_), 'OK', "@_"); return; }

# Errors of what is written, whichever way it is.
my @troubles = (
	[ 'maxmemory', 1, 0, '38R01', "OOM command not allowed when used memory > 'maxmemory'\\.", 'maxmemory' ],
	[ 'min-replicas-to-write', 1, 0, '38000', 'NOREPLICAS ', 'min-replicas-to-write' ]);
foreach my $trouble (@troubles)
{
	my ($option, $bad, $good, @expected) = @$trouble;
	config($option, $bad);
	is_refused(said_last("SELECT $_"), @expected, "$option: $_") foreach @writes;
	is(session($asks), 'f', "$option: asking goes on");
	config($option, $good);
}

# Where it saves there is a folder.
mkdir "$redis->{dir}/taken" or die "taken: $!";
append_to_file("$redis->{dir}/taken/file", '');
config('save', '3600 1');
$redis->cli('SET', 'something', 'to save');
$redis->cli('BGSAVE');
sleep 0.1 until $redis->cli('INFO', 'persistence') =~ /rdb_last_bgsave_status:err/;
is_refused(said_last("SELECT $_"), '38R05', 'MISCONF ', 'its log', "cannot save: $_") foreach @writes;
config('save', '');

is($redis->cli('REPLICAOF', '127.0.0.1', RedisServer::free_port()), 'OK', 'a replica');
is_refused(said_last("SELECT $_"), '38R02', 'READONLY ', 'master', "replica: $_") foreach @writes;
is(session($asks), 'f', 'replica: asking goes on');
$redis->cli('REPLICAOF', 'NO', 'ONE');

# Who serves nobody says so to whom it has accepted; others do not reach it.
my $cli = "\\! redis-cli -s $redis->{socket}";
my $lost = "$cli REPLICAOF 127.0.0.1 @{[RedisServer::free_port()]} >/dev/null\n$cli CONFIG SET replica-serve-stale-data no >/dev/null";
is_refused(said_last("$asks;", $lost, "$asks;"), '38R03', 'MASTERDOWN ', 'replica-serve-stale-data', 'a replica that has lost its master');
like(said_last($asks), qr/ERROR:  08001: .*\nDETAIL:  The server replied MASTERDOWN/, 'and is not connected to');
$redis->cli('REPLICAOF', 'NO', 'ONE');

SKIP:
{
	my $replica = RedisServer->new;
	skip 'this Redis cannot be made to load slowly', 3
	  if grep { $_ ne 'OK' } map { $replica->cli('CONFIG', 'SET', @$_) } [ 'key-load-delay', 10_000 ], [ 'loading-process-events-interval-bytes', 1024 ];
	my $master = RedisServer->new(port => RedisServer::free_port());
	$master->cli('CONFIG', 'SET', @$_) foreach [ 'repl-diskless-sync', 'no' ], [ 'rdbcompression', 'no' ];
	$master->cli('EVAL', "for i = 1, 2000 do redis.call('SET', i, ('x'):rep(1100)) end", 0);
	sql("CREATE SERVER loading FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$replica->{socket}');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER loading");
	my $ask = "SELECT bf_redis_contains('loading', 'k', 'x')";
	my $to_replica = "redis-cli -s $replica->{socket}";
	my $load = "\\! $to_replica REPLICAOF 127.0.0.1 $master->{port} >/dev/null; until $to_replica INFO persistence | grep -q loading:1; do sleep 0.1; done";
	is_refused(said_last("SELECT bf_redis_create('loading', 'k', 10);", $load, "$ask;"), '38R03', 'LOADING ', 'Try again', 'one that reads its data');
	like(said_last($ask), qr/ERROR:  08001: .*\nDETAIL:  The server replied LOADING/, 'and is not connected to');
	$_->stop('KILL') foreach $replica, $master;
}

# A script of somebody else, which has written nothing.
config('lua-time-limit', 10);
my $script = IPC::Run::start([ 'redis-cli', '-s', $redis->{socket}, 'EVAL', 'while true do end', '0' ], '>', \my $ended);
sleep 0.1 until $redis->cli('PING') =~ /^BUSY/;
is_refused(said_last($asks), '38000', 'BUSY ', 'SCRIPT KILL', 'a script that does not end');
$redis->cli('SCRIPT', 'KILL');
$script->finish;

# A node that serves no slot.
my $node_alone = RedisServer->new(port => RedisServer::free_port(), options => [ '--cluster-enabled', 'yes' ]);
server('alone', $node_alone->{port}, ", cluster 'true'");
is_refused(said_last("SELECT bf_redis_contains('alone', 'k', 'x')"), '38000', 'CLUSTERDOWN ', 'CLUSTER INFO', 'a cluster that is down');

# Accounts.  What AUTH is answered with is not repeated.
$redis->cli('ACL', 'SETUSER', 'app', 'on', '>secret', '~f', '~{f}*', '+@all', '-setbit', '-set');
$redis->cli('ACL', 'SETUSER', 'nobody', 'on', '>secret');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (username 'app', password 'secret')");
is_refused(said_last("SELECT bf_redis_contains('cache', 'other', 'x')"), '42501', 'NOPERM ', 'ACL SETUSER', 'a key that is not ours');
is_refused(said_last("SELECT bf_redis_drop('cache', 'f'), bf_redis_create('cache', 'f', 1000, layout => 'bitmap', strategy => 'magnuss')"),
	'42501', '(?:NOPERM|ERR The user executing the script|ERR ACL failure in script:) ', 'ACL SETUSER', 'a command that a script may not call');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (SET username 'nobody')");
is_refused(said_last($asks), '42501', 'NOPERM ', 'ACL SETUSER', 'an account that may nothing');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (SET password 'Wrong-Secret')");
is_refused(said_last($asks), '38R04', 'WRONGPASS(?=\n)', '"password"', 'a wrong password');
sql('ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (DROP username)');
is_refused(said_last($asks), '38R04', 'ERR(?=\n)', '"password"', 'a password, where none is asked for');
config('requirepass', 'needed');
sql('ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (DROP password)');
is_refused(said_last($asks), '38R04', 'NOAUTH ', '"password"', 'no password');
unlike(slurp_file($node->logfile), qr/returned an error[^\n]*(?:secret|needed)/i, 'no password is told');

# A client too many is told so and closed at once, whether it has spoken or not.
my $small = RedisServer->new(port => RedisServer::free_port());
server('by_port', $small->{port});
sql("CREATE SERVER by_socket FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$small->{socket}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER by_socket OPTIONS (password 'any')");
is($small->cli('CONFIG', 'SET', 'maxclients', 1), 'OK', 'one client');
my ($client, $pong);
until ($pong)
{
	$client = IO::Socket::UNIX->new(Peer => $small->{socket}) or die "connect: $!";
	print {$client} "PING\r\n";
	$client->flush;
	$pong = (<$client> // '') =~ /PONG/;
}
foreach my $server ('by_port', 'by_socket')
{
	is_refused(said_last("SELECT bf_redis_contains('$server', 'k', 'x')"), '38R06', '(?:ERR )?max number of clients', 'maxclients', "$server, $_")
	  foreach 1 .. 30;
}
close $client;

# Handlers take the class for all of it, and a subclass for itself; what an account may
# not do is no part of it.
sql(q{CREATE FUNCTION handled(statement text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE 'SELECT ' || statement;
		RETURN 'done';
	EXCEPTION
		WHEN SQLSTATE '38R01' THEN RETURN 'full';
		WHEN external_routine_exception THEN RETURN 'class';
		WHEN insufficient_privilege THEN RETURN 'privilege';
	END $$});
sub handled { return sql('SELECT handled($$' . $_[0] . '$$)'); }
is(handled($asks =~ s/SELECT //r), 'class', 'no password, to a handler of the class');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (password 'needed')");
{
	local $ENV{REDISCLI_AUTH} = 'needed';
	config('maxmemory', 1);
	is(handled($writes[1]), 'full', 'out of memory, to one of the subclass');
	config('maxmemory', 0);
	sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (SET password 'secret', username 'nobody')");
	is(handled($writes[1]), 'privilege', 'an account that may nothing');
	sql("ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (SET password 'needed', DROP username)");
}

# A READ ONLY transaction asks Redis, and does not write to it.
sql("CREATE TABLE t (e text); CREATE INDEX live ON t USING bloomfilter (e); SELECT bf_live_mirror('live', 'cache', 'live')");
foreach my $call (@writes, "bf_redis_create('cache', 'new', 1000)", "bf_redis_add_each('cache', 'f', ARRAY['x'])", "bf_live_mirror('live', 'cache', 'live')", "bf_redis_drop('cache', 'f')")
{
	my ($function) = $call =~ /^(\w+)/;
	like(said_last("BEGIN READ ONLY; SELECT $call;"), qr/ERROR:  25006: cannot execute $function\(\) in a read-only transaction/, "READ ONLY: $call");
	like(session("SET default_transaction_read_only = on; SELECT $call"), qr/^25006$/, "by default: $call");
}
is(session("BEGIN READ ONLY; $asks; SELECT bf_redis_contains_each('cache', 'f', ARRAY['x']); SELECT bf_fetch('cache', 'live') IS NULL; SELECT layout FROM bf_redis_info('cache', 'f')"),
	'f {f} f bitmap', 'READ ONLY: what asks');

$node->stop;
done_testing();
