# Which of several hosts serves: the first of a list that accepts, the nodes of a
# cluster whose seed has died, the master that sentinels name.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::INET;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

use FaultServer;
use RedisServer;
use RedisTest qw(start_postgres sql state_of outcome server await);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new(port => RedisServer::free_port());
my $node = start_postgres();
my $closed = RedisServer::free_port();
my $hole = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0);
my $silent = $hole->sockport;
sql('CREATE EXTENSION bloomext');

# A server of these hosts and ports, with more options.
sub hosts
{
	my ($name, $hosts, $ports, $options) = @_;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '$hosts', port '$ports'" . ($options // '') . ");
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

# What has psql run a command between two statements.
sub shell { return "\n\\! ($_[0]) >/dev/null </dev/null\n"; }

# What executes a query until Redis does not fail, or patience ends.
sub patiently
{
	my ($query) = @_;
	return "DO \$do\$ BEGIN
		FOR i IN 1 .. 300 LOOP
			BEGIN
				EXECUTE \$q\$$query\$q\$;
				RETURN;
			EXCEPTION WHEN sqlclient_unable_to_establish_sqlconnection OR connection_failure OR external_routine_exception THEN
				PERFORM pg_sleep(0.1);
			END;
		END LOOP;
		RAISE 'patience has ended';
	END \$do\$;";
}

# The message of the error that a query ends in, with DETAIL and HINT.
sub message
{
	my ($query) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");
	return $err;
}

# A query's outcome once it is what is wanted, or when patience ends.
sub eventually
{
	my ($query, $wanted) = @_;
	my $outcome;
	for (1 .. 300)
	{
		$outcome = outcome($query);
		last if $outcome eq $wanted;
		sleep 0.1;
	}
	return $outcome;
}

# A replica is read, and says that it is one to who writes.
my $replica = RedisServer->new(port => RedisServer::free_port(), options => [ '--replicaof', '127.0.0.1', $redis->{port} ]);
hosts('master', '127.0.0.1', $redis->{port});
hosts('replica', '127.0.0.1', $replica->{port});
my %layouts = (guava => "'guava'", redisson => "'redisson'", bitmap => "'magnuss'", growing => "'guava', NULL, 1");
for my $layout (sort keys %layouts)
{
	sql("SELECT bf_redis_create('master', '$layout', 100, 0.01, $layouts{$layout}), bf_redis_add('master', '$layout', 'x')");
	is(eventually("SELECT bf_redis_contains_each('replica', '$layout', ARRAY['x', 'y'])", '{t,f}'), '{t,f}', "$layout: a replica answers");
	is(outcome("SELECT bf_contains(bf_fetch('replica', '$layout'), 'x') AND layout = '$layout' FROM bf_redis_info('replica', '$layout')"), 't',
		"$layout: it is fetched from, and informed about");
	like(message("SELECT bf_redis_add('replica', '$layout', 'z')"), qr/38R02: .*READONLY.*\nHINT:  The server is a read-only replica/, "$layout: it is not written to");
}

# A list.
hosts('listed', '127.0.0.1,localhost,127.0.0.1', "$closed,$redis->{port},$closed", ", connect_timeout '500'");
is(sql("SELECT bf_redis_create('listed', 'k', 10); SELECT bf_redis_add('listed', 'k', 'x')"), "t\nt", 'the second of three hosts');
hosts('one_port', '127.0.0.2,127.0.0.1', $redis->{port});
is(sql("SELECT bf_redis_contains('one_port', 'k', 'x')"), 't', 'one port for all');
hosts('slow', '127.0.0.1,127.0.0.1', "$silent,$redis->{port}", ", connect_timeout '500'");
my $start = time;
is(sql("SELECT bf_redis_contains('slow', 'k', 'x')"), 't', 'after one that is silent');
cmp_ok(time - $start, '>', 0.4, 'which had its time');

my $loading = FaultServer->new(sub { return FaultServer::error('LOADING Redis is loading the dataset in memory') });
hosts('loading', '127.0.0.1,127.0.0.1', "$loading->{port},$redis->{port}");
is(sql("SELECT bf_redis_contains('loading', 'k', 'x')"), 't', 'after one that is loading');
my $refusing = FaultServer->new(sub { return FaultServer::error('DENIED protected mode') });
hosts('refusing', '127.0.0.1,127.0.0.1', "$refusing->{port},$redis->{port}");
is(state_of("SELECT bf_redis_contains('refusing', 'k', 'x')"), '38000', 'one that refuses is not passed over');

hosts('nobody', '127.0.0.1,127.0.0.1,no-such-host.invalid,127.0.0.1', "$closed,$silent,1,$loading->{port}", ", connect_timeout '200'");
my $nobody = message("SELECT bf_redis_contains('nobody', 'k', 'x')");
like($nobody, qr/ERROR:  08001: could not connect to Redis server "nobody"\nDETAIL:  Host "127.0.0.1", port $closed: Connection refused\nHost "127.0.0.1", port $silent: The server did not reply within connect_timeout.\nHost "no-such-host.invalid", port 1: .+\nHost "127.0.0.1", port $loading->{port}: The server replied LOADING/,
	'all that failed are named');
hosts('alone', '127.0.0.1', $closed);
is(state_of("ALTER SERVER alone OPTIONS (SET host '$_')"), '22023', "$_ is more than a host") for '127.0.0.1:6379', 'redis://127.0.0.1', '/tmp/socket', '::1,a:1';
is(state_of("BEGIN; ALTER SERVER alone OPTIONS (SET host '::1,fe80::1'); ROLLBACK"), '', 'but not an address of IPv6');
like(message("SELECT bf_redis_contains('alone', 'k', 'x')"), qr/08001: .*\nDETAIL:  Host "127.0.0.1", port \d+: Connection refused/, 'so is a single one');
is(sql("DO \$\$ BEGIN PERFORM bf_redis_contains('nobody', 'k', 'x'); EXCEPTION WHEN sqlclient_unable_to_establish_sqlconnection THEN NULL; END \$\$;
		SELECT bf_redis_contains('listed', 'k', 'x')"), 't', 'a session goes on');
is(state_of("SET statement_timeout = '300ms'; ALTER SERVER nobody OPTIONS (SET port '$silent', SET connect_timeout '60000'); SELECT bf_redis_contains('nobody', 'k', 'x')"),
	'57014', 'a statement that is cancelled tries no further host');

# A kept connection that is lost is made anew, to the next host.
my $leaving = RedisServer->new(port => RedisServer::free_port());
hosts('two', '127.0.0.1,127.0.0.1', "$leaving->{port},$redis->{port}");
is(sql(qq{SELECT bf_redis_create('two', 'here', 10);
		@{[shell("redis-cli -s $leaving->{socket} SHUTDOWN NOSAVE")]} @{[patiently("SELECT bf_redis_contains('two', 'k', 'x')")]}
		SELECT bf_redis_contains('two', 'k', 'x')}), "t\nt", 'another host after the first has gone');

# Options.
for my $options ("host 'a,'", "host ',a'", "host 'a, b'", "host 'a,b', port '1,2,3'", "host 'a', port '1,2'", "host 'a,b', port '1,'",
	"host 'a,b', port '1,65536'", "host 'a,b', port '1 ,2'", "socket '/a', port '1,2'")
{
	is(state_of("CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options)"), '22023', "refused: $options");
}

# A cluster by several seeds, and its nodes by each other.
my @nodes = RedisServer->cluster(replicas => 1, timeout => 500);
my @ports = map { $_->{port} } @nodes;
hosts('seeds', '127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1', join(',', $closed, @ports[0, 2 .. 5]), ", cluster 'true'");
is(sql("SELECT count(*) FROM generate_series(1, 12) n WHERE bf_redis_create('seeds', 'k' || n, 100) AND bf_redis_add('seeds', 'k' || n, 'x')"),
	12, 'a cluster by its second seed');
$_->cli('WAIT', 1, 5000) foreach @nodes[0 .. 2];
my $asked = "SELECT count(*) FROM generate_series(1, 12) n WHERE bf_redis_contains('seeds', 'k' || n, 'x')";

# A command that ends a node, and waits until all others know who has its place.
sub replace
{
	my ($gone, @others) = @_;
	my @known = map { "redis-cli -s $_->{socket} CLUSTER NODES | grep ':$gone->{port}\@.*master,fail ' && redis-cli -s $_->{socket} CLUSTER INFO | grep cluster_state:ok" } @others;
	return shell("kill -KILL $gone->{pid}; until @{[join ' && ', @known]}; do sleep 0.1; done");
}
is(sql("$asked; @{[replace(@nodes[1, 0, 2 .. 5])]} $asked; @{[replace(@nodes[0, 2 .. 5])]} $asked"), "12\n12\n12",
	'a session asks the seeds when a node it knew has gone, and another seed when the first has');
is(outcome($asked), 12, 'and so does a new one');

# Without the option, whatever it answers has the hint.
hosts('no_cluster', '127.0.0.1', $ports[2]);
my $errors = '';
$errors .= message("SELECT bf_redis_contains('no_cluster', '$_', 'x')") foreach map { ("k$_", "{k$_}") } 1 .. 12;
for my $code ('MOVED', 'CROSSSLOT')
{
	ok($errors =~ /38000: [^\n]*$code [^\n]*\nHINT:  [^\n]*"cluster"/, "$code: a hint at the option");
}

# Sentinels and a real fail-over.  They and Redis have passwords of their own.
my @options = ('--requirepass', 'of-redis', '--masterauth', 'of-redis');
my $master = RedisServer->new(port => RedisServer::free_port(), options => \@options);
my @replicas = map { RedisServer->new(port => RedisServer::free_port(), options => [ @options, '--replicaof', '127.0.0.1', $master->{port} ]) } 1 .. 2;
my @sentinels = RedisServer->sentinels('titles', $master, "sentinel auth-pass titles of-redis\nrequirepass of-sentinels\n");
my $sentinel_ports = join ',', $closed, map { $_->{port} } @sentinels;

# What a sentinel, or a server behind it, says.
sub cli
{
	my ($server, @command) = @_;
	local $ENV{REDISCLI_AUTH} = $server->{file} ? 'of-sentinels' : 'of-redis';
	return $server->cli(@command);
}

await('sentinels who know all', sub {
	my @told = map { cli($_, 'SENTINEL', 'MASTER', 'titles') } @sentinels;
	return @told == grep { /^num-slaves\n2$/m && /^num-other-sentinels\n2$/m && /^flags\nmaster$/m } @told;
});
hosts('titles', '127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1', $sentinel_ports, ", sentinel 'titles', connect_timeout '20000'");
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER titles OPTIONS (password 'of-redis', sentinel_password 'of-sentinels')");
is(sql("SELECT bf_redis_create('titles', 'k', 100000); SELECT count(*) FROM unnest(bf_redis_add_each('titles', 'k', ARRAY(SELECT i::text FROM generate_series(1, 1000) i))) a WHERE a"),
	"t\n" . sql("SELECT count(*) FROM unnest(bf_redis_contains_each('titles', 'k', ARRAY(SELECT i::text FROM generate_series(1, 1000) i))) a WHERE a"),
	'the master that sentinels name');
like(message("ALTER SERVER titles OPTIONS (SET sentinel 'names'); SELECT bf_redis_contains('titles', 'k', '1'); ALTER SERVER titles OPTIONS (SET sentinel 'titles')"),
	qr/08001: .*\nDETAIL:  Host "127.0.0.1", port $closed: Connection refused\n(Host "127.0.0.1", port \d+: The sentinel does not know a master named "names".\n){3}/, 'a name that nobody knows');
sql("ALTER SERVER titles OPTIONS (SET sentinel 'titles')");

# It dies; the session that has a connection to it, and a new one, wait for the next.
cli($master, 'SET', 'last', 1);
await('replicas that have followed', sub { return 2 == grep { cli($_, 'GET', 'last') eq '1' } @replicas });
my $die = shell("kill -9 $master->{pid}");
is(sql("SELECT bf_redis_contains('titles', 'k', '1'); $die @{[patiently(q{SELECT bf_redis_add('titles', 'k', 'added after')})]}
		SELECT bf_redis_contains_each('titles', 'k', ARRAY['1', 'added after'])"), "t\n{t,t}", 'a fail-over while a session goes on');
is(sql("SELECT bf_redis_contains_each('titles', 'k', ARRAY['1', 'added after'])"), '{t,t}', 'and for a new one');
my ($promoted) = grep { cli($_, 'ROLE') =~ /^master/ } @replicas;
isnt($promoted, undef, 'a replica was promoted');
$_->stop foreach @sentinels;
is(state_of("SELECT bf_redis_contains('titles', 'k', '1')"), '08001', 'without sentinels nobody is asked');

# Servers that note what they are told: a password is heard by its own side alone.
my $log = "$PostgreSQL::Test::Utils::tmp_check/commands";
my $answer = "$PostgreSQL::Test::Utils::tmp_check/master";
sub said { my $said = -e $log ? slurp_file($log) : ''; unlink $log; return $said; }
sub lead_to { my ($text) = @_; unlink $answer; append_to_file($answer, $text); }

# The next of these ports, and the last of them for ever.
sub next_port
{
	my ($port, @more) = split / /, slurp_file($answer);
	lead_to("@more") if @more;
	return $port;
}

sub witness
{
	my ($who, $password, $rest) = @_;
	return FaultServer->new(sub {
		my ($state, @command) = @_;
		append_to_file($log, join(' ', $who, $command[0] =~ /^(AUTH|SELECT|SENTINEL)$/ ? @command : $command[0]) . "\n");
		return ($state->{in} = 1, FaultServer::ok())[1] if $command[0] eq 'AUTH' && $command[-1] eq $password;
		return FaultServer::error('NOAUTH') if $password && !$state->{in};
		return FaultServer::ok() if $command[0] eq 'SELECT';
		return "+PONG\r\n" if $command[0] eq 'PING';
		return FaultServer::array(FaultServer::bulk('127.0.0.1'), FaultServer::bulk(next_port())) if $command[0] eq 'SENTINEL';
		return $rest->(@command);
	});
}
my $role = FaultServer::array(map { FaultServer::bulk($_) } 'master', 0);
my $guarded = witness('redis', 'of-redis', sub { return $_[0] eq 'ROLE' ? $role : FaultServer::error('ERR asked') });
my $guard = witness('sentinel', 'of-sentinel', sub { return FaultServer::error('ERR what') });
lead_to($guarded->{port});
hosts('heard', '127.0.0.1', $guard->{port}, ", sentinel 'm', db '3'");
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER heard OPTIONS (username 'app', password 'of-redis', sentinel_username 'asker', sentinel_password 'of-sentinel')");
said();
is(state_of("SELECT bf_redis_contains('heard', 'k', 'x')"), '38000', 'a sentinel and its master, both with accounts');
is(join('', map { "$_\n" } grep { !/ EVAL/ } split /\n/, said()),
	"sentinel AUTH asker of-sentinel\nsentinel PING\nsentinel SENTINEL GET-MASTER-ADDR-BY-NAME m\n" .
	"redis AUTH app of-redis\nredis SELECT 3\nredis PING\nredis ROLE\n", 'each hears its own password');
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER heard OPTIONS (SET sentinel_password 'wr0ng')");
unlike(message("SELECT bf_redis_contains('heard', 'k', 'x')"), qr/wr0ng|of-redis/, 'no password is told');
unlike(said(), qr/redis/, 'whom a sentinel refuses, the master does not see');

# A role needs a password that Redis asks for, whatever sentinels do.
my $open_sentinel = witness('sentinel', '', sub { return FaultServer::error('ERR what') });
my $open_redis = witness('redis', '', sub { return $_[0] eq 'ROLE' ? $role : FaultServer::error('ERR asked') });
sql("CREATE ROLE alice");
hosts('roles', '127.0.0.1', $open_sentinel->{port}, ", sentinel 'm'");
sql("GRANT USAGE ON FOREIGN SERVER roles TO alice; CREATE USER MAPPING FOR alice SERVER roles OPTIONS (sentinel_password 'of-sentinel')");
my $as_alice = "SET ROLE alice; SELECT bf_redis_contains('roles', 'k', 'x')";
said();
is(state_of($as_alice), '2F003', "a sentinel's password is none");
is(said(), '', 'and nobody is asked');
sql("ALTER USER MAPPING FOR alice SERVER roles OPTIONS (DROP sentinel_password, password 'of-redis')");
lead_to($open_redis->{port});
is(state_of($as_alice), '2F003', 'a master without a password');
is(said(), "sentinel PING\nsentinel SENTINEL GET-MASTER-ADDR-BY-NAME m\nredis PING\n", 'does not get it');
lead_to($guarded->{port});
is(state_of($as_alice), '38000', 'one that asks for it');
like(said(), qr/^sentinel PING\nsentinel SENTINEL .*\nredis PING\nredis AUTH of-redis\nredis PING\nredis ROLE\n/, 'gets it');

# Who is named has to be a master; until it is one, the sentinels are asked again.
$replica->stop;
my $second = RedisServer->new(port => RedisServer::free_port(), options => [ '--replicaof', '127.0.0.1', $redis->{port} ]);
await('a replica that has followed', sub { return $second->cli('EXISTS', 'k') eq '1' });
hosts('moving', '127.0.0.1', $open_sentinel->{port}, ", sentinel 'm', connect_timeout '500'");
lead_to($second->{port});
like(message("SELECT bf_redis_contains('moving', 'k', 'x')"), qr/08001: .*\nDETAIL:  Host "127.0.0.1", port $second->{port}: The server is not a master\.\n/, 'a replica is not taken for the master');
sql("ALTER SERVER moving OPTIONS (SET connect_timeout '20000')");
lead_to("$closed $closed $second->{port} $second->{port} $redis->{port}");
is(sql("SELECT bf_redis_contains('moving', 'k', 'x')"), 't', 'once a master is named');
is(slurp_file($answer), $redis->{port}, 'after all others');

# A kept connection to what has become a replica: what was not executed goes to the
# new master.
my $swap = sub {
	my ($from, $to) = @_;
	return shell("printf 'SET swapped 1\\nWAIT 1 20000\\n' | redis-cli -s $from->{socket}") . shell("redis-cli -s $to->{socket} REPLICAOF NO ONE; redis-cli -s $from->{socket} REPLICAOF 127.0.0.1 $to->{port}; echo -n $to->{port} >$answer");
};
my $elements = "ARRAY(SELECT i::text FROM generate_series(1, 5000) i)";
is(sql("SELECT bf_redis_contains('moving', 'k', 'x'); @{[$swap->($redis, $second)]}
		SELECT bf_redis_create('moving', 'kept', 10000, 0.001);
		SELECT count(*) FROM unnest(bf_redis_contains_each('moving', 'kept', $elements)) a WHERE a;
		@{[$swap->($second, $redis)]}
		SELECT bf_redis_add_each('moving', 'kept', $elements) IS NOT NULL"), "t\nt\n0\nt",
	'one that has become a replica');
is($redis->cli('ROLE') =~ /^(\w+)/ && $1, 'master', 'the first one is the master again');
is(sql("SELECT count(*) FROM unnest(bf_redis_contains_each('moving', 'kept', $elements)) a WHERE a"), 5000, 'and has all that was added');

# What was compared with a replica is not written to the master.
sql("CREATE TABLE articles (title text); CREATE INDEX ON articles USING bloomfilter (title) WITH (expected = 100000, fpp = 0.001);
	 INSERT INTO articles SELECT 'Title ' || i FROM generate_series(1, 1000) i");
my $mirror = "SELECT bf_live_mirror('articles', 'moving', 'live') > 100000";
is(RedisTest::session(qq{$mirror; INSERT INTO articles VALUES ('new');
		@{[shell("redis-cli -s $second->{socket} REPLICAOF NO ONE; redis-cli -s $second->{socket} DEL live; redis-cli -s $redis->{socket} REPLICAOF 127.0.0.1 $closed; echo -n $second->{port} >$answer")]}
		$mirror; $mirror; SELECT bf_fetch('moving', 'live') = bf_live_filter('articles')}),
	't t t 38R02', 'a mirror of what differs ends with an error, and goes to the master the next time');

# Nor is what was written under temporary names put in place by another server than
# has all of it: who is between us says that it is a replica just then.
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
	return '' if $command[0] eq '!EARLY';
	return FaultServer::error("READONLY You can't write against a read only replica.") if $command[0] eq 'EVAL' && $command[1] =~ /'RENAME'/;
	$state->{up} //= IO::Socket::UNIX->new(Peer => $second->{socket});
	$state->{up}->print(FaultServer::array(map { FaultServer::bulk($_) } @command));
	$state->{up}->flush;
	return read_reply($state->{up});
});
lead_to("$between->{port} $second->{port}");
$mirror = "SELECT bf_mirror(bf_agg(title, 100, 0.01::float8, 'guava', 1), 'moving', 'put') > 0 FROM articles";
is(RedisTest::session("$mirror; SELECT bf_redis_contains('moving', 'put', 'new'); $mirror;
		SELECT bf_redis_contains('moving', 'put', 'new')"), 't t 38R02 42704', 'nor is a filter put in place where another server may lack a part');

# Where a server may lead to.  Whoever listens there is called, or not.
my $trap = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => 0, Blocking => 0);
sub called
{
	my $called = 0;
	$called++ while $trap->accept;
	return $called;
}
my $leading = FaultServer->new(sub {
	my ($state, @command) = @_;
	return FaultServer::ok() if $command[0] eq 'PING';
	return FaultServer::error("$1 1 $2:" . $trap->sockport) if "@command" =~ /(MOVED|ASK)=(\S+)/;
	return FaultServer::error('ERR where');
});
hosts('bounded', '127.0.0.1', $leading->{port}, ", cluster 'true', redirect_hosts '10.0.0.0/8', connect_timeout '200'");
for my $case (
	[ '127.0.0.0/8', '127.0.0.1' => 1 ], [ '127.0.0.1', '127.0.0.1' => 1 ], [ '10.0.0.0/8,127.0.0.0/30', '127.0.0.1' => 1 ],
	[ 'LocalHost', 'localhost' => 1 ], [ '10.0.0.0/8,localhost', 'localhost' => 1 ], [ '127.255.0.0/8', '127.0.0.1' => 1 ],
	[ '0.0.0.0/0', '127.0.0.1' => 1 ],
	[ '10.0.0.0/8', '127.0.0.1' => 0 ], [ '127.0.0.2', '127.0.0.1' => 0 ], [ 'localhost', '127.0.0.1' => 0 ], [ '127.0.0.1', 'localhost' => 0 ],
	[ '127.0.0.0/8', 'localhost' => 0 ], [ 'localhost', 'localhost.' => 0 ], [ '::/0', '127.0.0.1' => 0 ],
	[ '0.0.0.0/0,::/64', 'localhost' => 0 ], [ '127.0.0.0/8', '127.1' => 0 ], [ '127.0.0.0/8', '127.0.0.01' => 0 ],
	[ '127.0.0.0/8', '0x7f.0.0.1' => 0 ], [ '127.0.0.0/8', '2130706433' => 0 ], [ '127.0.0.0/8', '::ffff:127.0.0.1' => 0 ],
	[ '127.0.0.0/8', '127.0.0.1/8' => 0 ])
{
	my ($allowed, $host, $wanted) = @$case;
	my $message = message("ALTER SERVER bounded OPTIONS (SET redirect_hosts '$allowed'); SELECT bf_redis_contains('bounded', 'MOVED=$host', 'x')");
	if ($wanted) { like($message, qr/ERROR:  08001:/, "$allowed: $host is tried") }
	else
	{
		like($message, qr/ERROR:  38000: .*\Q"$host"\E.*\nDETAIL:  .*redirect_hosts.*\nHINT:/, "$allowed: $host is refused");
	}
	is(called(), $wanted, $wanted ? 'and called' : 'and not called');
}
is(state_of("ALTER SERVER bounded OPTIONS (SET redirect_hosts '10.0.0.0/8'); SELECT bf_fetch('bounded', 'ASK=127.0.0.1')") . called(), '380000', 'ASK is bounded, too');
sql("ALTER SERVER bounded OPTIONS (DROP redirect_hosts)");
is(state_of("SELECT bf_redis_contains('bounded', 'MOVED=localhost', 'x')"), '08001', 'without the option, any host');
is(called(), 1, 'is called');

hosts('master_bounded', '127.0.0.1', $open_sentinel->{port}, ", sentinel 'm', redirect_hosts '10.0.0.0/8,localhost', connect_timeout '200'");
lead_to($trap->sockport);
like(message("SELECT bf_redis_contains('master_bounded', 'k', 'x')"), qr/38000: .*"127.0.0.1", which is not allowed/, 'a sentinel leads elsewhere');
is(called(), 0, 'where nobody is called');
lead_to($second->{port});
is(sql("ALTER SERVER master_bounded OPTIONS (SET redirect_hosts '127.0.0.0/24', SET connect_timeout '1000'); SELECT bf_redis_contains('master_bounded', 'k', 'x')"), 't', 'and where it may');

# A connection that was allowed is not kept when it is no more.
sql("ALTER SERVER seeds OPTIONS (redirect_hosts '127.0.0.1')");
is(RedisTest::session("$asked; ALTER SERVER seeds OPTIONS (SET redirect_hosts '127.0.0.2'); $asked"), '12 38000', 'an option that changes');

# Options.
for my $case ([ "host 'a', redirect_hosts 'b'", '22023' ], [ "host 'a', cluster 'true', redirect_hosts ''", '22023' ],
	[ "host 'a', cluster 'true', redirect_hosts 'a,,b'", '22023' ], [ "host 'a', cluster 'true', redirect_hosts 'a, b'", '22023' ],
	[ "host 'a', cluster 'true', redirect_hosts '10.0.0.0/33'", '22P02' ], [ "host 'a', cluster 'true', redirect_hosts 'name/8'", '22P02' ],
	[ "host 'a', sentinel 'm', cluster 'true'", '22023' ], [ "socket '/a', sentinel 'm'", '22023' ], [ "host 'a', sentinel ''", '22023' ])
{
	my ($options, $state) = @$case;
	is(state_of("CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options)"), $state, "refused: $options");
}

$node->stop;
done_testing();
