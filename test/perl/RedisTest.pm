# RedisTest.pm
#	A PostgreSQL and a Redis server that know each other, and what tests do with
#	them: statements, sessions whose errors are expected, servers that note what
#	they are told.
package RedisTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use RedisServer;

our @EXPORT = qw(start_servers sql session server said takes_below $log);
our @EXPORT_OK = qw(start_postgres state_of outcome await);

my $node;

# The commands that a server of a test notes.
our $log;

# Start both; the first is "cache" to the second, and may have options, the second
# settings.  Skips the test where there is no Redis.
sub start_servers
{
	my $options = ref $_[0] ? shift : [];
	my (@settings) = @_;
	plan skip_all => 'redis-server is not installed' unless RedisServer->available;
	$log = PostgreSQL::Test::Utils::tempdir() . '/commands';
	my $redis = RedisServer->new(options => $options);
	start_postgres(join "\n", @settings, '');
	sql("CREATE EXTENSION bloomext;
		 CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
		 CREATE FUNCTION peak() RETURNS int LANGUAGE sql AS
			 \$\$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::int / 1024 \$\$;");
	return ($redis, $node);
}

# The former alone, whatever Redis there is.
sub start_postgres
{
	my ($settings, %init) = @_;
	$node = PostgreSQL::Test::Cluster->new('main');
	$node->init(extra => [ '--no-locale', '--encoding=UTF8' ], %init);
	$node->append_conf('postgresql.conf', $settings // '');
	$node->start;
	return $node;
}

# Memory that something took is less than a limit; a sanitizer takes its own.
sub takes_below
{
	my ($took, $limit, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
  SKIP:
	{
		skip 'memory is the sanitizer\'s', 1 if $ENV{BLOOMEXT_SANITIZER};
		cmp_ok($took, '<', $limit, $name);
	}
	return;
}

sub sql { return $node->safe_psql('postgres', $_[0]); }

# The SQLSTATE that a query fails with, or its result.
sub outcome
{
	my ($query) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$query");
	return $err =~ /(?:ERROR|FATAL):  (\w{5})/ ? $1 : $out;
}

# The same; '' where it does not.
sub state_of
{
	my ($query) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$query");
	return $err =~ /(?:ERROR|FATAL):  (\w{5})/ ? $1 : '';
}

# What a session prints, and the SQLSTATEs of its errors, in order.
sub session
{
	my ($script) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY sqlstate\n\\set ON_ERROR_STOP 0\n$script", on_error_stop => 0);
	return join ' ', (split /\n/, $out), $err =~ /(?:ERROR|FATAL):  (\w{5})/g, $status == 2 ? 'lost' : ();
}

# Make another server, at a port of loopback.
sub server
{
	my ($name, $port, $options) = @_;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$port'" . ($options // '') . ");
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

# Wait until something holds.
sub await
{
	my ($what, $holds) = @_;
	for (1 .. 1200)
	{
		return if $holds->();
		sleep 0.05;
	}
	die "no $what";
}

# What was noted since the last time.
sub said { my $said = -e $log ? slurp_file($log) : ''; unlink $log; return $said; }

1;
