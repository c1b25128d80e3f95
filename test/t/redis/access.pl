# Who may reach a Redis server, as whom, and what an option may be.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisServer;
use RedisTest qw(start_postgres sql outcome);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

$ENV{REDISCLI_AUTH} = 'default-password';
my @closed = (options => [ '--requirepass', $ENV{REDISCLI_AUTH} ]);
my $redis = RedisServer->new(@closed);
my $open = RedisServer->new;
$redis->cli('ACL', 'SETUSER', 'app', 'on', '>app-password', '~app:*', '~{app:*', '+@all');
$redis->cli('ACL', 'SETUSER', 'reader', 'on', '>reader-password', '~*', '+@read', '+eval', '+multi', '+exec', '+ping', '-getbit');
my $node = start_postgres();

# What a query answers, or the SQLSTATE that it fails with, for a role.
sub as_role
{
	my ($role, $query) = @_;
	return outcome("SET ROLE $role;\n$query");
}

sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE SERVER open FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$open->{socket}');
	CREATE ROLE app; CREATE ROLE reader; CREATE ROLE stranger; CREATE ROLE bare; CREATE ROLE other_bare;
	GRANT USAGE ON FOREIGN SERVER cache TO app, reader, bare;
	GRANT USAGE ON FOREIGN SERVER open TO other_bare;
	CREATE USER MAPPING FOR app SERVER cache OPTIONS (username 'app', password 'app-password');
	CREATE USER MAPPING FOR reader SERVER cache OPTIONS (username 'reader', password 'reader-password');
	CREATE USER MAPPING FOR bare SERVER cache;
	CREATE USER MAPPING FOR other_bare SERVER open OPTIONS (password_required 'false');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (password '$ENV{REDISCLI_AUTH}');
});

# USAGE is what lets a role reach a server, its mapping what it is there.
is(as_role('app', "SELECT bf_redis_create('cache', 'app:f', 10)"), 't', 'a role with USAGE');
for my $call ("bf_mirror(bf_create(10), 'cache', 'f')", "bf_fetch('cache', 'f')",
	"bf_fetch('cache', 'f', 'bitmap', 10, 0.1, 'magnuss')", "bf_redis_create('cache', 'f', 10)",
	"bf_redis_add('cache', 'f', 'x')", "bf_redis_add_each('cache', 'f', ARRAY['x'])",
	"bf_redis_contains('cache', 'f', 'x')", "bf_redis_contains_each('cache', 'f', ARRAY['x'])",
	"bf_redis_info('cache', 'f')", "bf_redis_drop('cache', 'f')")
{
	is(as_role('stranger', "SELECT $call"), '42501', "without USAGE: $call");
}
is(as_role('app', "SELECT bf_redis_create('cache', 'other', 10)"), '42501', 'the ACL of Redis holds');
is(as_role('reader', "SELECT bf_redis_contains('cache', 'app:f', 'x')"), 'f', 'a reader reads');
is(as_role('reader', "SELECT bf_redis_add('cache', 'app:f', 'x')"), '42501', 'and does not write');
is(as_role('app', "SELECT bf_redis_add('nowhere', 'app:f', 'x')"), '42704', 'no such server');
is(as_role('app', "SELECT bf_redis_add('127.0.0.1:6379', 'app:f', 'x')"), '42704', 'an address is no server');

# Passwords.
is(as_role('bare', "SELECT bf_redis_create('cache', 'f', 10)"), '2F003', 'a mapping without a password');
is(as_role('other_bare', "SELECT bf_redis_create('open', 'f', 10)"), 't', 'unless a superuser waived it');
is(as_role('bare', "ALTER USER MAPPING FOR bare SERVER cache OPTIONS (password_required 'false')"), '42501',
	'which only a superuser can');
is(as_role('reader', "SELECT string_agg(umoptions::text, '') FROM pg_user_mappings WHERE usename <> 'reader'"), '',
	'other roles\' passwords are hidden');
is(as_role('reader', "SELECT umoptions FROM pg_user_mapping"), '42501', 'in the catalog, too');
is(as_role('stranger', "CREATE USER MAPPING FOR stranger SERVER cache OPTIONS (password 'x')"), '42501',
	'no mapping without USAGE');
is(as_role('app', "CREATE SERVER mine FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1')"), '42501',
	'no server of one\'s own, so no other host');
is(as_role('app', "ALTER SERVER cache OPTIONS (SET socket '/tmp/other')"), '42501', 'nor another address');

# A connection is one role's: what a superuser opened serves nobody else.
is(sql("SELECT bf_redis_create('cache', 'mine', 10); SET ROLE app; SELECT bf_redis_add('cache', 'app:f', 'y'); RESET ROLE;
		SELECT bf_redis_add('cache', 'mine', 'y')"), "t\nt\nt", 'roles take turns');
my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate
	SELECT bf_redis_create('cache', 'mine', 10); SET ROLE app; SELECT bf_redis_contains('cache', 'mine', 'x')");
like($err, qr/42501/, 'a role does not go by a connection of another');

# A role that is a superuser no more.
sql("CREATE ROLE fallen SUPERUSER; CREATE USER MAPPING FOR fallen SERVER open; GRANT USAGE ON FOREIGN SERVER open TO fallen");
($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate
	SET ROLE fallen; SELECT bf_redis_create('open', 'fallen', 10); RESET ROLE; ALTER ROLE fallen NOSUPERUSER;
	SET ROLE fallen; SELECT bf_redis_contains('open', 'fallen', 'x')");
is("$out $err" =~ /^t\b.*2F003/s ? 1 : 0, 1, 'has no cached connection either');

# A server or mapping that changes takes effect at once.
my $second = RedisServer->new(port => RedisServer::free_port(), @closed);
is(sql("SELECT bf_redis_create('cache', 'moving', 10);
		ALTER SERVER cache OPTIONS (DROP socket, host '127.0.0.1', port '$second->{port}');
		SELECT bf_redis_create('cache', 'moving', 10);
		ALTER SERVER cache OPTIONS (db '3');
		SELECT bf_redis_create('cache', 'moving', 10);
		ALTER SERVER cache OPTIONS (DROP host, DROP port, SET db '0', socket '$redis->{socket}')"),
	"t\nt\nt", 'ALTER SERVER');
is($second->cli('-n', 3, 'EXISTS', 'moving'), 1, 'database 3 has it');
($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate
	SET ROLE app; SELECT bf_redis_add('cache', 'app:f', 'z'); RESET ROLE;
	ALTER USER MAPPING FOR app SERVER cache OPTIONS (SET password 'wrong');
	SET ROLE app; SELECT bf_redis_add('cache', 'app:f', 'z')");
like("$out $err", qr/^[tf].*38R04/s, 'ALTER USER MAPPING');
is($redis->cli('CLIENT', 'LIST') =~ tr/\n//, 0, 'no connection outlives its session');

# Redirections are for clusters: any other server could send us anywhere.
my $trap = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0, Blocking => 0);
my $decoy = FaultServer->new(sub {
	return FaultServer::ok() if $_[1] eq 'PING';
	return FaultServer::error('MOVED 1 127.0.0.1:' . $trap->sockport);
});
sql("CREATE SERVER decoy FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$decoy->{port}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER decoy");
is(as_role('NONE', "SELECT bf_redis_contains('decoy', 'k', 'x')"), '38000',
	'MOVED without a cluster is an error');
ok(!$trap->accept, 'and nobody was called');

# Options.
my %bad = (
	"host 'a', socket '/b'" => '22023', "port '6379'" => '22023', "host 'a', port '0'" => '22023',
	"host 'a', port '65536'" => '22023', "host 'a', port 'x'" => '22023', "host 'a', port '1 '" => '22023',
	"host ''" => '22023', "host 'a', db '-1'" => '22023', "host 'a', connect_timeout '0'" => '22023',
	"host 'a', command_timeout '1.5'" => '22023', "host 'a', tls 'maybe'" => '42601',
	"socket '/b', cluster 'true'" => '22023', "socket '/b', tls 'true'" => '22023',
	"host 'a', cluster 'true', db '1'" => '22023', "host 'a', tls_ca '/x'" => '22023',
	"host 'a', password 'x'" => 'HV00D', "host 'a', nonsense 'x'" => 'HV00D');
for my $options (sort keys %bad)
{
	is(as_role('NONE', "CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options)"),
		$bad{$options}, "refused: $options");
}
is(as_role('NONE', "CREATE USER MAPPING FOR stranger SERVER cache OPTIONS (host 'x')"), 'HV00D', 'no host in a mapping');
is(as_role('NONE', "CREATE FOREIGN TABLE t (i int) SERVER cache; SELECT * FROM t"), '55000', 'the wrapper has no tables');
sql("CREATE FOREIGN DATA WRAPPER other; CREATE SERVER elsewhere FOREIGN DATA WRAPPER other");
is(as_role('NONE', "SELECT bf_redis_drop('elsewhere', 'x')"), '22023', 'a server of another wrapper');

$node->stop;
done_testing();
