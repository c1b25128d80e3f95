# TLS to real Redis servers, alone, in a cluster and behind sentinels: it works with
# the right authority, name and time, with a certificate of our own where one is
# wanted, and is refused with any other; or, built with a hiredis that has none,
# says so.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use File::Temp ();
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

use RedisServer;
use RedisTest qw(start_postgres sql state_of);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;
plan skip_all => 'openssl is not installed' if system('command -v openssl >/dev/null 2>&1') != 0;

my $dir = File::Temp->newdir('/tmp/bloomext-tls-XXXXXX');
chmod 0755, "$dir";

sub openssl
{
	my $err;
	IPC::Run::run([ 'openssl', @_ ], '<', '/dev/null', '>', '/dev/null', '2>', \$err)
	  or die "openssl @_: $err";
}

# An authority, and certificates of it.
sub authority
{
	my ($name) = @_;
	openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', 2, '-subj', "/CN=$name",
		'-keyout', "$dir/$name.key", '-out', "$dir/$name.crt");
}

sub certificate
{
	my ($name, $authority, $for, $days) = @_;
	append_to_file("$dir/$name.ext", "subjectAltName=$for\n");
	openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', "/CN=$name",
		'-keyout', "$dir/$name.key", '-out', "$dir/$name.csr");
	openssl('x509', '-req', '-in', "$dir/$name.csr", '-days', $days // 2, '-CA', "$dir/$authority.crt",
		'-CAkey', "$dir/$authority.key", '-CAcreateserial', '-extfile', "$dir/$name.ext",
		'-out', "$dir/$name.crt");
}

authority($_) foreach 'ours', 'other';
certificate('name', 'ours', 'DNS:localhost');
certificate('address', 'ours', 'IP:127.0.0.1');
certificate('expired', 'ours', 'DNS:localhost', 0);
certificate('client', 'ours', 'DNS:client');
certificate('stranger', 'other', 'DNS:client');
openssl('rsa', '-aes256', '-passout', 'pass:secret', '-in', "$dir/client.key", '-out', "$dir/encrypted.key");
chmod 0644, glob("$dir/*.key");

# The options of a server at a port of TLS, which wants clients' certificates or not.
sub tls_options
{
	my ($certificate, $port, $wanted) = @_;
	return ('--tls-port', $port, '--tls-cert-file', "$dir/$certificate.crt",
		'--tls-key-file', "$dir/$certificate.key", '--tls-ca-cert-file', "$dir/ours.crt",
		'--tls-auth-clients', $wanted // 'no');
}

sub tls_server
{
	my ($certificate, $wanted) = @_;
	my $port = RedisServer::free_port();
	return (RedisServer->new(options => [ tls_options($certificate, $port, $wanted) ]), $port);
}

my ($redis, $port) = eval { tls_server('name') };
plan skip_all => 'redis-server has no TLS' unless defined $redis;
my ($second, $second_port) = tls_server('address');
my $node = start_postgres();

sub server
{
	my ($name, $options) = @_;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($options);
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

# SQLSTATE and detail of the error that creating a filter at a server ends in.
sub failure
{
	my ($name) = @_;
	my ($status, $out, $err) =
	  $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_redis_create('$name', 'k', 10)");
	return $err =~ /ERROR:  (\w{5}): .*?\n(?:DETAIL:  (.*))?/ ? "$1 " . ($2 // '') : "none: $out";
}

sql('CREATE EXTENSION bloomext');

# Who may name a certificate: also where there is no TLS.
sql("CREATE ROLE alice; CREATE SERVER bare FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	 GRANT USAGE ON FOREIGN SERVER bare TO alice");
for my $options ("tls_cert '/c', tls_key '/k'", "tls_cert '/c'", "tls_key '/k'")
{
	is(state_of("SET ROLE alice; CREATE USER MAPPING FOR alice SERVER bare OPTIONS (password 'x', $options)"), '42501',
		"a role may not: $options");
	is(state_of("CREATE USER MAPPING FOR CURRENT_USER SERVER bare OPTIONS ($options); DROP USER MAPPING FOR CURRENT_USER SERVER bare"),
		$options =~ /,/ ? '' : '22023', "a superuser: $options");
}
sql("CREATE USER MAPPING FOR alice SERVER bare OPTIONS (password 'x', tls_cert '/c', tls_key '/k')");
is(state_of("SET ROLE alice; ALTER USER MAPPING FOR alice SERVER bare OPTIONS (SET password 'y')"), '42501', 'nor change a mapping that has one');
is(state_of("SET ROLE alice; SELECT bf_redis_create('bare', 'k', 10)"), '22023', 'a certificate without TLS');
is(state_of("CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host 'a', tls 'true', tls_cert '/c', tls_key '/k')"), 'HV00D',
	'a certificate is of a mapping');

my $right = "host 'localhost', port '$port', tls 'true', tls_ca '$dir/ours.crt'";
server('cache', $right);

my $failure = failure('cache');
if ($failure =~ /^0A000/)
{
	pass('without TLS in hiredis, a server with it is refused');
	$node->stop;
	done_testing();
	exit;
}
like($failure, qr/^none: t/, 'the right authority and name');

# All goes through it, large or small.
is( sql("SELECT bf_redis_add_each('cache', 'k', array_agg(i)) IS NOT NULL,
			bf_redis_contains('cache', 'k', 7) FROM generate_series(1, 10) AS i"),
	't|t', 'adding and asking');
is( sql("SELECT bf_mirror(f, 'cache', 'large') > 20000000, bf_fetch('cache', 'large') = f
		FROM (SELECT bf_agg(i::text, 20000000, 0.01) AS f FROM generate_series(1, 1000) AS i) AS f"),
	't|t', '24 MB there and back');
is( sql("SELECT count(*) FROM (SELECT unnest(bf_redis_contains_each('cache', 'large', array_agg(i::text))) AS c
		FROM generate_series(1, 100000) AS i) AS t WHERE c"),
	sql("SELECT count(*) FROM (SELECT bf_agg(i::text, 20000000, 0.01) AS f FROM generate_series(1, 1000) AS i) AS f,
		generate_series(1, 100000) AS i WHERE bf_contains(f, i::text)"),
	'100,000 elements asked for in one call');

# Certificates that do not fit.
server('by_address', "host '127.0.0.1', port '$second_port', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('by_address'), qr/^none: t/, 'a certificate for an address');
server('wrong_authority', "host 'localhost', port '$port', tls 'true', tls_ca '$dir/other.crt'");
like(failure('wrong_authority'), qr/^08001 .*certificate verify failed/, 'another authority');
server('no_authority', "host 'localhost', port '$port', tls 'true'");
like(failure('no_authority'), qr/^08001 .*certificate verify failed/, 'an authority that the system does not know');
server('wrong_name', "host '127.0.0.1', port '$port', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('wrong_name'), qr/^08001 .*certificate verify failed/, 'another address than the name');
server('wrong_address', "host 'localhost', port '$second_port', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('wrong_address'), qr/^08001 .*certificate verify failed/, 'another name than the address');
server('no_file', "host 'localhost', port '$port', tls 'true', tls_ca '$dir/nothing.crt'");
like(failure('no_file'), qr/^08001 .*TLS: No such file/, 'no such file');

my ($late, $late_port) = tls_server('expired');
server('expired', "host 'localhost', port '$late_port', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('expired'), qr/^08001 .*certificate verify failed/, 'one that has expired');
server('second', "host 'localhost,127.0.0.1', port '$second_port', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('second'), qr/^none: f/, 'of two hosts, that which the certificate is for');

# Where a certificate of ours is wanted.
my ($strict, $strict_port) = tls_server('name', 'yes');
my $strictly = "host 'localhost', port '$strict_port', tls 'true', tls_ca '$dir/ours.crt'";
server('strict', $strictly);
like(failure('strict'), qr/^08001 .*certificate/, 'without one');
sub present
{
	my ($certificate, $key) = @_;
	sql("DROP USER MAPPING FOR CURRENT_USER SERVER strict;
		 CREATE USER MAPPING FOR CURRENT_USER SERVER strict OPTIONS (tls_cert '$dir/$certificate.crt', tls_key '$dir/$key.key')");
	return failure('strict');
}
like(present('client', 'client'), qr/^none: t/, 'the right one');
is(sql("SELECT bf_redis_add('strict', 'k', 1), bf_redis_contains('strict', 'k', 1)"), 't|t', 'is all that it takes');
like(present('stranger', 'stranger'), qr/^08001 .*unknown ca/, 'one of another authority');
like(present('client', 'stranger'), qr/^08001 .*TLS: key values mismatch/, "another one's key");
like(present('client', 'encrypted'), qr/^08001 .*TLS: /, 'a key with a passphrase');
like(present('nothing', 'client'), qr/^08001 .*TLS: No such file/, 'no such certificate');
like(present('client', 'nothing'), qr/^08001 .*TLS: No such file/, 'no such key');
$strict->cli('CONFIG', 'SET', 'requirepass', 'needed');
sql("GRANT USAGE ON FOREIGN SERVER strict TO alice; CREATE USER MAPPING FOR alice SERVER strict OPTIONS (tls_cert '$dir/client.crt', tls_key '$dir/client.key')");
is(state_of("SET ROLE alice; SELECT bf_redis_contains('strict', 'k', 1)"), '2F003', 'a certificate is no password');
sql("ALTER USER MAPPING FOR alice SERVER strict OPTIONS (password 'needed')");
is(sql("SET ROLE alice; SELECT bf_redis_contains('strict', 'k', 1)"), 't', 'with one');

# A cluster, whose nodes announce addresses.
my @ports = map { RedisServer::free_port() } 1 .. 3;
my @nodes = map { RedisServer->new(options => [ tls_options('address', $_, 'optional'), '--tls-cluster', 'yes', '--cluster-enabled', 'yes' ]) } @ports;
system("redis-cli --tls --cacert '$dir/ours.crt' --cluster create @{[map { qq{127.0.0.1:$_} } @ports]} --cluster-yes >'$dir/made' 2>&1") == 0
  or die slurp_file("$dir/made");
for my $node (@nodes)
{
	for (1 .. 200)
	{
		last if $node->cli('CLUSTER', 'INFO') =~ /cluster_state:ok/;
		sleep 0.05;
	}
}
server('nodes', "host '127.0.0.1', port '$ports[0]', tls 'true', tls_ca '$dir/ours.crt', cluster 'true'");
my $over_all = "SELECT count(*) FROM generate_series(1, 12) n WHERE bf_redis_create('nodes', 'k' || n, 10)";
is(sql($over_all), 12, 'over a cluster');
cmp_ok(scalar(grep { $_->cli('DBSIZE') > 0 } @nodes), '>', 1, 'on several of its nodes');
$_->cli('CONFIG', 'SET', 'tls-cert-file', "$dir/name.crt", 'tls-key-file', "$dir/name.key") foreach @nodes;
server('named', "host 'localhost', port '$ports[0]', tls 'true', tls_ca '$dir/ours.crt', cluster 'true'");
my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_redis_contains('named', 'k' || n, 'x') FROM generate_series(1, 12) n");
like($err, qr/08001: .*\nDETAIL:  .*TLS: certificate verify failed/, 'whose nodes announce an address that their certificate is not for');

# Sentinels: the master is who they name, and the certificate is for that name.
my ($watched, $watched_port) = tls_server('address');
sub sentinel
{
	my ($announced) = @_;
	my $port = RedisServer::free_port();
	return (RedisServer->new(options => [ '--sentinel', tls_options('address', $port, 'yes'), '--tls-replication', 'yes' ],
			file => "sentinel resolve-hostnames yes\nsentinel announce-hostnames yes\nsentinel monitor m $announced $watched_port 1\n"), $port);
}
for my $case ([ '127.0.0.1', qr/^none: t/ ], [ 'localhost', qr/^08001 .*Host "localhost", port $watched_port: TLS: certificate verify failed/ ])
{
	my ($announced, $wanted) = @$case;
	my ($sentinel, $port) = sentinel($announced);
	sql('DROP SERVER IF EXISTS watched CASCADE');
	server('watched', "host '127.0.0.1', port '$port', sentinel 'm', tls 'true', tls_ca '$dir/ours.crt', connect_timeout '500'");
	like(failure('watched'), qr/^08001 Host "127.0.0.1", port $port: .*certificate/, 'a sentinel wants a certificate, too');
	sql("ALTER USER MAPPING FOR CURRENT_USER SERVER watched OPTIONS (tls_cert '$dir/client.crt', tls_key '$dir/client.key')");
	like(failure('watched'), $wanted, "a sentinel names $announced");
}

# Not TLS on one side.
server('plain', "host 'localhost', port '$port'");
like(failure('plain'), qr/^08001 /, 'no TLS to a port of TLS');
my $plain = RedisServer->new(port => RedisServer::free_port());
server('to_plain', "host 'localhost', port '$plain->{port}', tls 'true', tls_ca '$dir/ours.crt'");
like(failure('to_plain'), qr/^08001 /, 'TLS to a port without');
my $hole = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => 0);
server('hole', "host 'localhost', port '@{[$hole->sockport]}', tls 'true', connect_timeout '300'");
my $start = time;
like(failure('hole'), qr/^08001 /, 'no answer to the handshake');
cmp_ok(time - $start, '<', 2, 'within connect_timeout');

# A session goes on after each of these.
is( sql("DO \$\$ BEGIN PERFORM bf_redis_create('wrong_name', 'k', 10); EXCEPTION WHEN OTHERS THEN NULL; END \$\$;
		 SELECT bf_redis_contains('cache', 'k', 7)"),
	't', 'and another server serves');

$node->stop;
done_testing();
