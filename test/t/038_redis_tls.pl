# TLS to a real Redis server: it works with the right authority and name, and is
# refused with any other; or, built with a hiredis that has none, says so.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use File::Temp ();
use IO::Socket::INET;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

use RedisServer;
use RedisTest qw(start_postgres sql);

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
	my ($name, $authority, $for) = @_;
	append_to_file("$dir/$name.ext", "subjectAltName=$for\n");
	openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', "/CN=$name",
		'-keyout', "$dir/$name.key", '-out', "$dir/$name.csr");
	openssl('x509', '-req', '-in', "$dir/$name.csr", '-days', 2, '-CA', "$dir/$authority.crt",
		'-CAkey', "$dir/$authority.key", '-CAcreateserial', '-extfile', "$dir/$name.ext",
		'-out', "$dir/$name.crt");
}

authority($_) foreach 'ours', 'other';
certificate('name', 'ours', 'DNS:localhost');
certificate('address', 'ours', 'IP:127.0.0.1');

sub tls_server
{
	my ($certificate) = @_;
	my $port = RedisServer::free_port();
	my $redis = RedisServer->new(options => [
			'--tls-port', $port, '--tls-cert-file', "$dir/$certificate.crt",
			'--tls-key-file', "$dir/$certificate.key", '--tls-ca-cert-file', "$dir/ours.crt",
			'--tls-auth-clients', 'no' ]);
	return ($redis, $port);
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
is( sql("SELECT bf_redis_add('cache', 'k', array_agg(i)) IS NOT NULL,
			bf_redis_contains('cache', 'k', 7) FROM generate_series(1, 10) AS i"),
	't|t', 'adding and asking');
is( sql("SELECT bf_mirror(f, 'cache', 'large') > 20000000, bf_fetch('cache', 'large') = f
		FROM (SELECT bf_agg(i::text, 20000000, 0.01) AS f FROM generate_series(1, 1000) AS i) AS f"),
	't|t', '24 MB there and back');
is( sql("SELECT count(*) FROM (SELECT unnest(bf_redis_contains('cache', 'large', array_agg(i::text))) AS c
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
like(failure('no_file'), qr/^08001 TLS: /, 'no such file');

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
