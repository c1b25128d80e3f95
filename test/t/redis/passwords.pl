# A role's password has to be needed where it is sent, and is sent nowhere else,
# whatever changes meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisServer;
use RedisTest;

my ($redis, $node) = start_servers();

# A password that Redis does not ask for is none, and is not sent.
#
# A server that notes what it is told, and answers PING by what it is given.
sub witness
{
	my ($who, $ping, $handler) = @_;
	return FaultServer->new(sub {
		my ($state, @command) = @_;
		append_to_file($log, join(' ', $who, $command[0] eq 'AUTH' ? @command : $command[0]) . "\n");
		if ($command[0] eq 'AUTH') { $state->{in} = 1; return FaultServer::ok(); }
		return $state->{in} ? "+PONG\r\n" : $ping if $command[0] eq 'PING';
		return $handler ? $handler->($state, @command) : FaultServer::error('ERR unknown');
	});
}
sql(q{CREATE ROLE alice; CREATE ROLE bob SUPERUSER});
my %greetings = ("+PONG\r\n" => '2F003', "-NOPERM no\r\n" => '2F003', ":1\r\n" => '2F003', "-NOAUTH Authentication required.\r\n" => '38000',
	"-DENIED protected mode\r\n" => '38000');
my @witnesses;
for my $ping (sort keys %greetings)
{
	my $name = 'witness' . @witnesses;
	push @witnesses, witness('he', $ping);
	server($name, $witnesses[-1]{port});
	sql("GRANT USAGE ON FOREIGN SERVER $name TO alice;
		 CREATE USER MAPPING FOR alice SERVER $name OPTIONS (username 'default', password 'Pa55word')");
	said();
	is(session("SET ROLE alice; SELECT bf_redis_contains('$name', 'k', 'x')"), $greetings{$ping}, 'first answer: ' . $ping =~ s/\r\n//r);
	my $said = said();
	if ($ping =~ /NOAUTH/) { like($said, qr/^he PING\nhe AUTH default Pa55word\nhe PING\n/, 'then AUTH') }
	else { is($said, "he PING\n", 'and nothing else is sent') }
}
my ($status, $out, $err) = $node->psql('postgres', "SET ROLE alice; SELECT bf_redis_contains('witness0', 'k', 'x')");
like($err, qr/does not request a password.*password_required/s, 'a hint says what can be done');
sql("GRANT USAGE ON FOREIGN SERVER cache TO alice; CREATE USER MAPPING FOR alice SERVER cache OPTIONS (username 'default', password 'anything')");
is(session("SET ROLE alice; SELECT bf_redis_create('cache', 'p1', 10)"), '2F003', 'Redis without a password');
sql("ALTER USER MAPPING FOR alice SERVER cache OPTIONS (password_required 'false')");
is(session("SET ROLE alice; SELECT bf_redis_create('cache', 'p1', 10)"), 't', 'unless a superuser waived it');
sql("ALTER USER MAPPING FOR alice SERVER cache OPTIONS (SET password_required 'true');
	 GRANT USAGE ON FOREIGN SERVER cache TO bob; CREATE USER MAPPING FOR bob SERVER cache OPTIONS (username 'default', password 'anything')");
is(session("SET ROLE bob; SELECT bf_redis_create('cache', 'p2', 10); RESET ROLE; ALTER ROLE bob NOSUPERUSER;
			SET ROLE bob; SELECT bf_redis_create('cache', 'p3', 10)"), 't 2F003', 'a superuser, and when he is none any more');
my $closed = RedisServer->new(options => [ '--requirepass', 'needed' ]);
sql("ALTER SERVER cache OPTIONS (SET socket '$closed->{socket}');
	 ALTER USER MAPPING FOR alice SERVER cache OPTIONS (SET password 'needed')");
is(session("SET ROLE alice; SELECT bf_redis_create('cache', 'p1', 10); SELECT bf_redis_add('cache', 'p1', 'x')"), 't t', 'Redis with one');
sql("ALTER USER MAPPING FOR alice SERVER cache OPTIONS (SET password 'wrong')");
is(session("SET ROLE alice; SELECT bf_redis_create('cache', 'p1', 10)"), '38R04', 'and a wrong one');

# Whatever changes is looked at again: a mapping that replaces PUBLIC's, and one
# that gives way to it.
{
	local $ENV{REDISCLI_AUTH} = 'needed';
	$closed->cli('ACL', 'SETUSER', $_, 'on', '>secret', "~$_:*", "~{$_:*", '+@all') for 'pub', 'own';
}
sql("DROP USER MAPPING FOR alice SERVER cache; CREATE USER MAPPING FOR PUBLIC SERVER cache OPTIONS (username 'pub', password 'secret')");
is(session("SET ROLE alice; SELECT bf_redis_create('cache', 'pub:1', 10), bf_redis_create('cache', 'pub:2', 10);
			CREATE USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (username 'own', password 'secret');
			SELECT bf_redis_create('cache', 'own:1', 10);
			SELECT bf_redis_create('cache', 'pub:3', 10);
			DROP USER MAPPING FOR CURRENT_USER SERVER cache;
			SELECT bf_redis_create('cache', 'pub:4', 10);
			SELECT bf_redis_create('cache', 'own:2', 10)"), 't|t t t 42501 42501', 'mappings come and go');

# Nodes of a cluster are forgotten with the server that has named them.
my $old_node = witness('node', "+PONG\r\n", sub { return FaultServer::error('ERR old') });
my $old = witness('old', "+PONG\r\n", sub { return FaultServer::error("MOVED 1 127.0.0.1:$old_node->{port}") });
my $new = witness('new', "+PONG\r\n", sub { return FaultServer::error('ERR new') });
server('hcluster', $old->{port}, ", cluster 'true'");
sql("ALTER USER MAPPING FOR CURRENT_USER SERVER hcluster OPTIONS (username 'app', password 'first')");
my $ask = "SELECT bf_redis_contains('hcluster', 'k', 'x');";
my $psql = "psql -X -q -d '@{[$node->connstr('postgres')]}'";
my @old = ('old', 'node');
for my $change (
	[ "ALTER USER MAPPING FOR CURRENT_USER SERVER hcluster OPTIONS (SET password 'second')", 'app second', @old ],
	[ "DROP USER MAPPING FOR CURRENT_USER SERVER hcluster; CREATE USER MAPPING FOR PUBLIC SERVER hcluster OPTIONS (username 'all', password 'third')",
		'all third', @old ],
	[ "CREATE USER MAPPING FOR CURRENT_USER SERVER hcluster OPTIONS (username 'app', password 'fourth')", 'app fourth', @old ],
	[ "ALTER SERVER hcluster OPTIONS (SET port '$new->{port}');
		ALTER USER MAPPING FOR CURRENT_USER SERVER hcluster OPTIONS (SET password 'fifth')", 'app fifth', 'new' ])
{
	my ($statements, $account, @who) = @$change;
	for my $own (1, 0)
	{
		said();
		append_to_file("$log.sql", $statements);
		is(session("BEGIN; SAVEPOINT a; $ask\nROLLBACK TO a; " . ($own ? '' : 'COMMIT;') . "\n\\! echo CHANGE >>$log\n" .
				($own ? $statements : "\\! $psql -f $log.sql") . ";\n$ask"), '38000 38000', $statements);
		my ($before, $after) = split /CHANGE\n/, said();
		like($before, qr/^old AUTH.*node EVAL/s, 'a node is found');
		is($after, join('', map { "$_ AUTH $account\n$_ PING\n$_ EVAL\n" } @who),
			$own ? 'and forgotten by who changes the server' : 'and by others') ;
		unlink "$log.sql";
	}
}

# A server that is dropped while a call goes on: there is no account for the next
# connection.
my $leaving = FaultServer->new(sub {
	return FaultServer::ok() if $_[1] eq 'PING';
	$node->safe_psql('postgres', 'DROP SERVER leaving CASCADE');
	return FaultServer::error('MOVED 1 127.0.0.1:1');
});
sql("CREATE SERVER leaving FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$leaving->{port}', cluster 'true');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER leaving");
is(session("SELECT bf_redis_contains('leaving', 'k', 'x')"), '42704', 'a server that is dropped on the way');

$node->stop;
done_testing();
