# Which of several hosts serves: the first of a list that accepts, the nodes of a
# cluster whose seed has died.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

use FaultServer;
use RedisServer;
use RedisTest qw(start_postgres sql state_of outcome server);

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
my $replica = RedisServer->new(port => RedisServer::free_port(), options => [ '--replicaof', "127.0.0.1 $redis->{port}" ]);
hosts('master', '127.0.0.1', $redis->{port});
hosts('replica', '127.0.0.1', $replica->{port});
my %layouts = (guava => "'guava'", redisson => "'redisson'", bitmap => "'magnuss'", growing => "'guava', NULL, 1");
for my $layout (sort keys %layouts)
{
	sql("SELECT bf_redis_create('master', '$layout', 100, 0.01, $layouts{$layout}), bf_redis_add('master', '$layout', 'x')");
	is(eventually("SELECT bf_redis_contains('replica', '$layout', ARRAY['x', 'y'])", '{t,f}'), '{t,f}', "$layout: a replica answers");
	is(outcome("SELECT bf_contains(bf_fetch('replica', '$layout'), 'x') AND layout = '$layout' FROM bf_redis_info('replica', '$layout')"), 't',
		"$layout: it is fetched from, and informed about");
	like(message("SELECT bf_redis_add('replica', '$layout', 'z')"), qr/38000: .*READONLY.*\nHINT:  The server is a replica/, "$layout: it is not written to");
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
like($nobody, qr/ERROR:  08001: could not connect to Redis server "nobody"\nDETAIL:  Host "127.0.0.1", port $closed: Connection refused\nHost "127.0.0.1", port $silent: It did not answer within connect_timeout.\nHost "no-such-host.invalid", port 1: .+\nHost "127.0.0.1", port $loading->{port}: It answered LOADING/,
	'all that failed are named');
hosts('alone', '127.0.0.1', $closed);
like(message("SELECT bf_redis_contains('alone', 'k', 'x')"), qr/08001: .*\nDETAIL:  Connection refused/, 'a single one is not');
is(sql("DO \$\$ BEGIN PERFORM bf_redis_contains('nobody', 'k', 'x'); EXCEPTION WHEN sqlclient_unable_to_establish_sqlconnection THEN NULL; END \$\$;
		SELECT bf_redis_contains('listed', 'k', 'x')"), 't', 'a session goes on');
is(state_of("SET statement_timeout = '300ms'; ALTER SERVER nobody OPTIONS (SET port '$silent', SET connect_timeout '60000'); SELECT bf_redis_contains('nobody', 'k', 'x')"),
	'57014', 'a statement that is cancelled tries no further host');

# A kept connection that is lost is made anew, to the next host.
my $leaving = RedisServer->new(port => RedisServer::free_port());
hosts('two', '127.0.0.1,127.0.0.1', "$leaving->{port},$redis->{port}");
is(sql("SELECT bf_redis_create('two', 'here', 10);
		COPY (SELECT 1) TO PROGRAM 'redis-cli -s $leaving->{socket} SHUTDOWN NOSAVE';
		SELECT bf_redis_contains('two', 'k', 'x')"), "t\nt", 'another host after the first has gone');

# Options.
for my $options ("host 'a,'", "host ',a'", "host 'a, b'", "host 'a,b', port '1,2,3'", "host 'a', port '1,2'", "host 'a,b', port '1,'",
	"host 'a,b', port '1,65536'", "host 'a,b', port '1 ,2'", "socket '/a', port '1,2'")
{
	is(state_of("CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options)"), '22023', "refused: $options");
}

# A cluster by several seeds, and its nodes by each other.
my @nodes = RedisServer->cluster(replicas => 1, timeout => 500);
my @ports = map { $_->{port} } @nodes;
hosts('seeds', '127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1,127.0.0.1', join(',', $closed, @ports[0 .. 4]), ", cluster 'true'");
is(sql("SELECT count(*) FROM generate_series(1, 12) n WHERE bf_redis_create('seeds', 'k' || n, 100) AND bf_redis_add('seeds', 'k' || n, 'x')"),
	12, 'a cluster by its second seed');
$_->cli('WAIT', 1, 5000) foreach @nodes[0 .. 2];
my $asked = "SELECT count(*) FROM generate_series(1, 12) n WHERE bf_redis_contains('seeds', 'k' || n, 'x')";
my ($status, $out, $err) = $node->psql('postgres', qq{$asked;
	COPY (SELECT 1) TO PROGRAM 'redis-cli -s $nodes[0]{socket} SHUTDOWN NOSAVE FORCE; exit 0';
	DO \$\$ BEGIN
		FOR i IN 1 .. 300 LOOP
			BEGIN
				PERFORM bf_redis_contains('seeds', 'k' || n, 'x') FROM generate_series(1, 12) n;
				RETURN;
			EXCEPTION WHEN sqlclient_unable_to_establish_sqlconnection OR connection_failure OR external_routine_exception THEN
				PERFORM pg_sleep(0.1);
			END;
		END LOOP;
		RAISE 'no';
	END \$\$;
	$asked});
is("$out$err", "12\n12", 'a session finds the promoted node');
is(outcome($asked), 12, 'and so does a new one');

# Without the option, whatever it answers has the hint.
hosts('no_cluster', '127.0.0.1', $ports[1]);
my $errors = '';
$errors .= message("SELECT bf_redis_contains('no_cluster', '$_', 'x')") foreach map { ("k$_", "{k$_}") } 1 .. 12;
for my $code ('MOVED', 'CROSSSLOT')
{
	ok($errors =~ /38000: [^\n]*$code [^\n]*\nHINT:  [^\n]*"cluster"/, "$code: a hint at the option");
}

$node->stop;
done_testing();
