# Connections that sessions keep to Redis, how many it takes, and what it says to one too
# many.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use RedisServer;
use RedisTest;

my ($redis, $node) = start_servers();

# What Redis says before it closes is what is told, whether we have sent anything by then or
# not, and also where a password was sent.
my $full = RedisServer->new(options => [ '--maxclients', 1 ]);
my $client;
for (1 .. 200)
{
	# Who looked whether it has started may count still.
	$client = IO::Socket::UNIX->new(Peer => $full->{socket});
	$client->print("PING\r\n");
	last if readline($client) eq "+PONG\r\n";
	sleep 0.05;
}
sql("CREATE SERVER full_one FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$full->{socket}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER full_one OPTIONS (password 'Pa55word');
	 CREATE FUNCTION told() RETURNS text LANGUAGE plpgsql AS \$\$
	 DECLARE
		 message text;
		 messages text[];
	 BEGIN
		 FOR i IN 1 .. 300 LOOP
			 BEGIN
				 PERFORM bf_redis_contains('full_one', 'k', 'x');
			 EXCEPTION WHEN OTHERS THEN
				 GET STACKED DIAGNOSTICS message = MESSAGE_TEXT;
				 messages := messages || message;
			 END;
		 END LOOP;
		 RETURN (SELECT string_agg(DISTINCT m, '; ') FROM unnest(messages) m);
	 END \$\$");
like(sql('SELECT told()'), qr/^[^;]*max number of clients( reached)?$/, 'a client too many, with a password');
sql('ALTER USER MAPPING FOR CURRENT_USER SERVER full_one OPTIONS (DROP password)');
like(sql('SELECT told()'), qr/^[^;]*max number of clients( reached)?$/, 'and without one');

# What thousands of questions cost does not have PostgreSQL compile them.
for my $call ("bf_redis_contains('s', 'k', i)", "bf_redis_add('s', 'k', i)", "bf_redis_contains_each('s', 'k', ARRAY[i])", "bf_redis_add_each('s', 'k', ARRAY[i])")
{
	my $cost = (sql("EXPLAIN SELECT $call FROM generate_series(1, 5000) i") =~ /\.\.(\d+)/)[0];
	cmp_ok($cost, '<', sql("SELECT boot_val FROM pg_settings WHERE name = 'jit_above_cost'"), "$call: $cost");
}

# A connection is kept beyond its transaction, unless an option says otherwise, and until it
# has been idle for a time.  Another session counts meanwhile.
sub clients { return scalar grep { /name=/ && !/cmd=client/ } split /\n/, $redis->cli('CLIENT', 'LIST'); }
my $marks = PostgreSQL::Test::Utils::tempdir();
my $pause = "\n\\! touch $marks/idle; while [ -e $marks/idle ]; do sleep 0.05; done\n";

# How many clients Redis has at each pause of a session, once they are what is wanted or
# patience ends; and what the session says.
sub counts
{
	my ($script, @wanted) = @_;
	my @counts;
	my $run = IPC::Run::start([ 'psql', '-X', '-q', '-At', '-d', $node->connstr('postgres') ], '<', \$script, '>', \my $out, '2>', \my $err);
	foreach my $wanted (@wanted)
	{
		$run->pump_nb, sleep 0.02 until -e "$marks/idle";
		for (1 .. 100) { last if clients() == $wanted; sleep 0.05; }
		push @counts, clients();
		unlink "$marks/idle";
	}
	$run->finish;
	return "@counts, " . join ' ', split /\n/, "$out$err";
}
my $ask = "SELECT bf_redis_contains('cache', 'k', 'x');";
sql("SELECT bf_redis_create('cache', 'k', 10)");
is(counts("$ask $pause $ask", 1), '1, f f', 'a connection is kept');
sql("ALTER SERVER cache OPTIONS (keep_connections 'false')");
is(counts("BEGIN; $ask $pause COMMIT; $pause $ask", 1, 0), '1 0, f f', 'or not, beyond its transaction');
is(counts("BEGIN; $ask SAVEPOINT s; SELECT 1/0; ROLLBACK TO s; $pause ROLLBACK; $pause $ask", 1, 0) =~ s/ERROR.*//r, '1 0, f f ', 'whatever becomes of that');
sql("ALTER SERVER cache OPTIONS (SET keep_connections 'true', idle_timeout '300')");
is(counts("$ask $pause $ask $pause SELECT 1; $ask", 0, 0), '0 0, f f 1 f', 'it is closed when it has been idle, and made anew');
is(counts("BEGIN; $ask SELECT pg_sleep(0.5); $ask $pause COMMIT; SELECT 1/0; $pause $ask", 1, 0) =~ s/ERROR.*//r, '1 0, f  f f ', 'not within a transaction; also behind an error');

$node->stop;
done_testing();
