# Redis servers that are gone, silent, slow, full, or talk nonsense: the right
# SQLSTATE, the next call works, and nothing is left behind.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

use FaultServer;
use RedisServer;
use RedisTest qw(start_postgres sql state_of takes_below);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $backgrounds = 0;
my $node = start_postgres("log_min_messages = debug1\nlog_error_verbosity = verbose\nlog_statement = none\n");
my $has_events = sql('SHOW server_version_num') >= 170000;

# A psql that runs while we go on; its output is in files.
sub background
{
	my (@commands) = @_;
	my $base = "$PostgreSQL::Test::Utils::tmp_check/background" . ++$backgrounds;
	my $run = IPC::Run::start([ 'psql', '-X', '-At', '-d', $node->connstr('postgres'),
			'-v', 'VERBOSITY=sqlstate', map { ('-c', $_) } @commands ],
		'<', '/dev/null', '>', "$base.out", '2>', "$base.err");
	return { run => $run, out => "$base.out", err => "$base.err" };
}

sub finish
{
	my ($background) = @_;
	$background->{run}->finish;
	return slurp_file($background->{out}) . slurp_file($background->{err});
}

# Wait until some backend waits for Redis, for what is said.
sub await_wait
{
	my ($for) = @_;
	my $event = $has_events ? "BloomextRedis$for" : 'Extension';
	$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'
		AND state = 'active' AND wait_event_type = 'Extension' AND wait_event = '$event'")
	  or die "nobody waits: $event";
}

sub server
{
	my ($name, $options) = @_;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options);
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

sub tcp { return "host '127.0.0.1', port '$_[0]'"; }

sql('CREATE EXTENSION bloomext');

# Nobody there.
my $port = RedisServer::free_port();
server('refused', tcp($port));
is(state_of("SELECT bf_redis_contains('refused', 'k', 'x')"), '08001', 'refused');
server('no_socket', "socket '/nonexistent/redis.sock'");
is(state_of("SELECT bf_redis_contains('no_socket', 'k', 'x')"), '08001', 'no socket');
server('no_name', "host 'no-such-host.invalid'");
is(state_of("SELECT bf_redis_contains('no_name', 'k', 'x')"), '08001', 'no such host');

# A listening socket that never answers.
my $hole = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0);
server('hole', tcp($hole->sockport) . ", connect_timeout '300'");
my $start = time;
is(state_of("SELECT bf_redis_contains('hole', 'k', 'x')"), '08001', 'unreachable');
cmp_ok(time - $start, '<', 2, 'within connect_timeout');

# Answers by key: "describe:X", "set:X" and "bits:X" go wrong with X at that
# point, and well until then.
my %answers = (
	nil => "\$-1\r\n", nilarray => "*-1\r\n", integer => ":1\r\n", status => "+OK\r\n",
	string => "\$2\r\nhi\r\n", empty => "*0\r\n", garbage => "HTTP/1.1 400 Bad Request\r\n\r\n",
	short => "*2\r\n:1\r\n:1\r\n", wide => '*' . 2000 . "\r\n" . ":1\r\n" x 2000,
	elements => "*2147483647\r\n", many => "*60000\r\n" . ("*60000\r\n" . ":1\r\n" x 60000) x 20,
	changed => "*4\r\n:1\r\n\$-1\r\n-WRONGTYPE\r\n\$-1\r\n",
	nested => "*1\r\n" x 200_000 . ":1\r\n", bulk => "\$9999999999\r\nabc", negative => "\$-5\r\n",
	endless => "\$999999999\r\n" . 'x' x 5_000_000, line => '+' . 'x' x 5_000_000);
my %states = (bulk => '57014');

my $goes_wrong = sub {
	my ($state, $name, @arguments) = @_;
	return '' if $name eq '!EARLY' && "@arguments" !~ /early:/;
	if ($name eq '!EARLY')
	{
		return "@arguments" =~ /early:error/ ? "-ERR something\r\n" : undef;
	}
	return FaultServer::ok() if $name =~ /^(PING|MULTI|AUTH)$/;
	return FaultServer::bulk("# Memory\r\nused_memory:1\r\nmaxmemory:0\r\n") if $name eq 'INFO';
	return '' if "@arguments" =~ /stuck:/ && $name ne 'EVAL';
	my ($key) = grep { /^(describe|set|bits|early|stuck|silent|closed|error):/ } @arguments;
	$key //= $state->{key};
	$state->{key} = $key;
	my ($point, $what) = split /:/, $key, 2;
	if ($name eq 'EVAL' && $arguments[0] =~ /'TYPE'/)
	{
		return $answers{$what} if $point eq 'describe';
		return '' if $point eq 'silent';
		return undef if $point eq 'closed';
		return FaultServer::error($what) if $point eq 'error';
		my $beside = $arguments[1] - 1;
		return FaultServer::array(FaultServer::bulk('string'), FaultServer::bulk("\1\5\0\0\0\4"),
			FaultServer::integer(38), (FaultServer::bulk(undef)) x $beside) if $point eq 'bits';
		return FaultServer::array(FaultServer::bulk('none'), FaultServer::bulk(''),
			FaultServer::integer(0), (FaultServer::bulk(undef)) x $beside);
	}
	return $answers{$what} // '' if $name =~ /^(EXEC|BITFIELD_RO|EVAL|GET)$/;
	return "+QUEUED\r\n";
};
my $faults = FaultServer->new($goes_wrong);
server('faults', tcp($faults->{port}) . ", command_timeout '700'");

my $filter = "bf_create(1000, 0.01) + 'a'";
for my $what (sort keys %answers)
{
	my $state = $states{$what} // '08P01';
	is(state_of("SELECT bf_redis_contains('faults', 'describe:$what', 'x')"), $state, "describe: $what");
	is(state_of("SELECT bf_redis_contains('faults', 'bits:$what', 'x')"), $state, "contains: $what");
	is(state_of("SELECT bf_mirror($filter, 'faults', 'set:$what')"), $state, "mirror: $what")
	  unless $what =~ /^(many|endless|line)$/;
	# Nothing is what the first script says of a filter that has changed: it is
	# described again and again, and then given up.
	is(state_of("SELECT bf_redis_add('faults', 'bits:$what', '\\x78'::bytea)"),
		$what eq 'changed' ? '55006' : $state, "add: $what");
	is(state_of("SELECT bf_fetch('faults', 'bits:$what')"),
		$what =~ /^(nil|string$)/ ? '55006' : $state,
		"fetch: $what") unless $what =~ /^(bulk|line|many|endless)$/;
}

# Errors: the SQLSTATE, and what is shown of those in which a script, or EXEC, says what it met.
my $sha = '0123456789abcdef' x 2 . '01234567';
my $wrapped = "ERR Error running script (call to f_$sha): \@user_script:1:";
my %errors = (
	'LOADING Redis is loading the dataset in memory' => '38R03', 'MASTERDOWN' => '38R03', 'READONLY' => '38R02', 'OOM' => '38R01', 'NOPERM' => '42501',
	'MOVED 1 127.0.0.1:1' => '38000', 'WRONGTYPE Operation' => '38000', 'OOMPH not ours' => '38000', 'ERR OOMPH not ours' => '38000',
	"$wrapped \@user_script: 1: -OOM command" => '38R01 OOM command', "$wrapped READONLY You" => '38R02 READONLY You',
	"$wrapped \@user_script: 1: The user executing the script can't run this" => '42501 The user executing the script can\'t run this',
	"$wrapped \@user_script: 1: Unknown Redis command called from Lua script" => '38000 Unknown Redis command called from Lua script',
	"OOM command. script: $sha, on \@user_script:1." => '38R01 OOM command.',
	"ERR ACL failure in script: User u has no permissions to run the 'get' command script: $sha, on \@user_script:1." =>
		"42501 ERR ACL failure in script: User u has no permissions to run the 'get' command",
	"ERR The user executing the script can't run this script: $sha, on \@user_script:1." => "42501 ERR The user executing the script can't run this",
	"ERR user_script:1: Script attempted script: $sha, on \@user_script:1." => '38000 ERR user_script:1: Script attempted',
	'EXECABORT Transaction discarded because of: READONLY You' => '38R02 READONLY You',
	'EXECABORT Transaction discarded because of previous errors.' => '38000 EXECABORT Transaction discarded because of previous errors.',
	'ERR max number of clients + cluster connections reached' => '38R06');
for my $error (sort keys %errors)
{
	my ($state, $text) = split / /, $errors{$error}, 2;
	$text //= $error;
	my (undef, undef, $said) = $node->psql('postgres',
		"\\set VERBOSITY verbose\nSELECT bf_redis_contains('faults', 'error:' || \$\$$error\$\$, 'x')");
	like($said, qr/ERROR:  $state: Redis server "faults" returned an error: \Q$text\E\n/, "error: $error");
}
is(state_of("SELECT bf_redis_contains('faults', 'closed:', 'x')"), '08006', 'closed instead of an answer');
is(state_of("SELECT bf_mirror(bf_create(5000000, 0.01), 'faults', 'early:close')"), '08006', 'closed mid-mirror');
is(state_of("SELECT bf_mirror(bf_create(5000000, 0.01), 'faults', 'early:error')"), '57014', 'an error mid-mirror, and silence after it');

# Slow, and out of patience.
$start = time;
is(state_of("SELECT bf_redis_contains('faults', 'silent:', 'x')"), '57014', 'slow');
cmp_ok(time - $start, '<', 2, 'within command_timeout');
server('patient', tcp($faults->{port}) . ", connect_timeout '60000', command_timeout '60000'");
server('patient_hole', tcp($hole->sockport) . ", connect_timeout '60000', command_timeout '60000'");
for ([ Receive => "bf_redis_contains('patient', 'silent:', 'x')" ], [ Connect => "bf_redis_contains('patient_hole', 'k', 'x')" ],
	[ Receive => "bf_mirror(bf_create(5000000, 0.01), 'patient', 'stuck:')" ])
{
	my ($wait, $query) = @$_;
	$start = time;
	is(state_of("SET statement_timeout = 300; SELECT $query"), '57014', "statement_timeout: $query");
	cmp_ok(time - $start, '<', 1.5, 'ends it at once');
	for my $how ('cancel', 'terminate')
	{
		my $victim = background("SELECT $query");
		await_wait($wait);
		$start = time;
		sql("SELECT pg_${how}_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Extension'");
		my $output = finish($victim);
		cmp_ok(time - $start, '<', 1, "$how ends $query");
		like($output, $how eq 'cancel' ? qr/57014/ : qr/57P01/, "as $how does");
	}
}

# A server that takes no more.
my $deaf = FaultServer->new(sub {
	sleep 600 if $_[1] eq '!EARLY';
	return $goes_wrong->(@_);
});
server('deaf', tcp($deaf->{port}) . ", command_timeout '60000'");
my $sender = background("SELECT bf_mirror(bf_create(50000000, 0.01), 'deaf', 'stuck:')");
await_wait('Send');
sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Extension'");
like(finish($sender), qr/57014/, 'a cancel while it sends');
$deaf->stop;

# Real servers in real trouble.
my $redis = RedisServer->new;
server('cache', "socket '$redis->{socket}'");
sql("SELECT bf_mirror($filter, 'cache', 'f')");
$redis->cli('LPUSH', 'list', 1);
for my $query ("bf_redis_contains('cache', 'list', 'x')", "bf_redis_add('cache', 'list', 'x')", "bf_fetch('cache', 'list')",
	"bf_redis_info('cache', 'list')")
{
	is(state_of("SELECT $query"), '42704', "wrong type: $query");
}
for my $query ("bf_mirror($filter, 'cache', 'list')", "bf_redis_create('cache', 'list', 10)", "bf_redis_drop('cache', 'list')")
{
	is(state_of("SELECT $query"), '22023', "wrong type: $query");
}
is($redis->cli('LRANGE', 'list', 0, -1), 1, 'and it is as it was');

my $before = $redis->bytes('f');
$redis->cli('CONFIG', 'SET', 'maxmemory', '2mb');
is(state_of("SELECT bf_mirror(bf_create(5000000, 0.01), 'cache', 'f')"), '38R01', 'out of memory');
$redis->cli('CONFIG', 'SET', 'maxmemory', '0');
is($redis->bytes('f'), $before, 'the old mirror is as it was');
$redis->cli('REPLICAOF', '127.0.0.1', $port);
is(state_of("SELECT bf_mirror($filter, 'cache', 'f')"), '38R02', 'a replica is not written to');
is(state_of("SELECT bf_redis_add('cache', 'f', 'x')"), '38R02', 'nor added to');
is(sql("SELECT bf_redis_contains('cache', 'f', 'a')"), 't', 'but it is read');
$redis->cli('REPLICAOF', 'NO', 'ONE');

# A server that is killed while it is written to.
my $mark = "$PostgreSQL::Test::Utils::tmp_check/stopped";
my $writer = background("SELECT bf_redis_create('cache', 'small', 10)",
	"\\! touch $mark.1; while [ ! -e $mark.2 ]; do sleep 0.1; done",
	"SELECT bf_mirror(bf_create(5000000, 0.01), 'cache', 'f')", "SELECT bf_redis_contains('cache', 'f', 'x')");
sleep 0.1 until -e "$mark.1";
$redis->signal('STOP');
append_to_file("$mark.2", '');
await_wait('Receive');
$redis->stop('KILL');
like(finish($writer), qr/08006.*08001/s, 'killed while a mirror is under way; and gone');
$redis->start;

# A cached connection whose server was restarted is made anew.
for my $kind ('socket', 'port')
{
	my $other = RedisServer->new(port => RedisServer::free_port());
	server("restarted_$kind", $kind eq 'socket' ? "socket '$other->{socket}'" : tcp($other->{port}));
	my $done = "$PostgreSQL::Test::Utils::tmp_check/restarted_$kind";
	my $create = "SELECT bf_redis_create('restarted_$kind', 'k', 10)";
	my $run = background($create, "\\! touch $done.1; while [ ! -e $done.2 ]; do sleep 0.1; done", $create);
	sleep 0.1 until -e "$done.1";
	$other->stop;
	$other->start;
	append_to_file("$done.2", '');
	is(finish($run), "t\nt\n", "reconnected over a $kind");
}

# A thousand failures in one session, in subtransactions: nothing is left.
my $leaks = sql(q{
	CREATE FUNCTION fds() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_ls_dir('/proc/self/fd') $$;
	CREATE FUNCTION kilobytes() RETURNS int LANGUAGE sql AS
		$$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmRSS:\s+(\d+)')::int $$;
	CREATE FUNCTION fail(rounds int) RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		failures int := 0;
		query text;
	BEGIN
		FOR i IN 1 .. rounds LOOP
			FOREACH query IN ARRAY ARRAY[
				$q$bf_redis_contains('refused', 'k', 'x')$q$,
				$q$bf_redis_contains('faults', 'describe:garbage', 'x')$q$,
				$q$bf_redis_contains('faults', 'describe:string', 'x')$q$,
				$q$bf_redis_contains('faults', 'bits:wide', 'x')$q$,
				$q$bf_redis_contains('faults', 'bits:elements', 'x')$q$,
				$q$bf_redis_contains('faults', 'error:OOM', 'x')$q$,
				$q$bf_redis_contains('faults', 'closed:', 'x')$q$,
				$q$bf_mirror(bf_create(1000), 'faults', 'set:short')$q$,
				$q$bf_redis_add('faults', 'bits:string', 'x')$q$,
				$q$bf_fetch('cache', 'list')$q$] LOOP
				BEGIN
					EXECUTE 'SELECT ' || query;
				EXCEPTION WHEN OTHERS THEN
					failures := failures + 1;
				END;
			END LOOP;
		END LOOP;
		RETURN failures;
	END $$;
	SET client_min_messages = error;
	SELECT fail(10) \gset
	SELECT fds() AS fds, kilobytes() AS kilobytes \gset
	SELECT fail(100), fds() - :fds, kilobytes() - :kilobytes;
});
my ($failures, $fds, $kilobytes) = split /\|/, $leaks;
is($failures, 1000, 'a thousand failures');
cmp_ok($fds, '<=', 0, "no file descriptor leaked ($fds)");
takes_below($kilobytes, 2048, "no memory leaked ($kilobytes kB)");
is(sql("SELECT bf_redis_create('cache', 'after', 10)"), 't', 'and a sound server serves');

# Accounts: what a server says of AUTH is not repeated, and no password is.
my $secret = 'Pa55word-of-the-test';
my $tattler = FaultServer->new(sub {
	my ($state, @command) = @_;
	return FaultServer::error("ERR unknown command '@command' $secret");
});
server('tattler', tcp($tattler->{port}));
server('locked', "socket '$redis->{socket}'");
$redis->cli('CONFIG', 'SET', 'requirepass', $secret);
is(state_of("SELECT bf_redis_contains('locked', 'k', 'x')"), '38R04', 'no password: NOAUTH');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER locked OPTIONS (password 'wrong$secret')");
is(state_of("SELECT bf_redis_contains('locked', 'k', 'x')"), '38R04', 'a wrong one');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER locked OPTIONS (SET password '$secret')");
is(sql("SELECT bf_redis_create('locked', 'k2', 10)"), 't', 'the right one');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER tattler OPTIONS (username 'app', password '$secret')");
my ($status, $stdout, $stderr) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_redis_contains('tattler', 'k', 'x')");
like($stderr, qr/38R04/, 'a server that quotes the password');
unlike($stderr, qr/$secret/, 'is not quoted');
unlike(slurp_file($node->logfile), qr/$secret/, 'and the log has no password');

# A fast shutdown does not wait for Redis.
my $last = background("SELECT bf_redis_contains('patient', 'silent:', 'x')");
await_wait('Receive');
$start = time;
$node->stop('fast');
cmp_ok(time - $start, '<', 3, 'fast shutdown');
finish($last);
done_testing();
