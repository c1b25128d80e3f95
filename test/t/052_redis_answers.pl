# What servers answer: it is taken for no more than was asked, and memory is bounded.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisServer;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'jit = off');
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# What a session prints, and the SQLSTATEs of its errors, in order.
sub session
{
	my ($script) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY sqlstate\n\\set ON_ERROR_STOP 0\n$script", on_error_stop => 0);
	return join ' ', (split /\n/, $out), $err =~ /(?:ERROR|FATAL):  (\w{5})/g, $status == 2 ? 'lost' : ();
}

sub server
{
	my ($name, $port, $options) = @_;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$port'" . ($options // '') . ");
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

sql("CREATE EXTENSION bloomext;
	 CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	 CREATE FUNCTION peak() RETURNS int LANGUAGE sql AS
		 \$\$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::int / 1024 \$\$;");

# Answers that are small on the wire and large in memory.
my %blobs = (integer => ":2\r\n", nil => "\$-1\r\n", empty => "\$0\r\n\r\n", status => "+\r\n", array => "*0\r\n");
my $size = 20_000_000;
my $wire = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	return FaultServer::ok() if $name eq 'PING';
	my ($key) = grep { /^(blob|line|twice|once|silent):/ } @arguments;
	my ($kind, $what) = split /:/, $key // ':';
	my $description = FaultServer::array(FaultServer::bulk('string'), FaultServer::bulk("\1\5\0\0\0\4"),
		FaultServer::integer(38), (FaultServer::bulk(undef)) x ($name eq 'EVAL' ? $arguments[1] - 1 : 0));
	return '' if $kind eq 'silent';
	if ($name eq 'EVAL' && $arguments[0] =~ /TYPE/)
	{
		return $description;
	}
	return '+' . 'x' x $size if $kind eq 'line';
	# The head and k for each element.
	return FaultServer::array(FaultServer::integer(1 * 2**40 + 5 * 2**32 + 4),
		(":1\r\n") x ((@arguments - 4) / 3)) x ($kind eq 'twice' ? 2 : 1) if $name eq 'BITFIELD_RO';
	return ":1\r\n" unless $name eq 'GET';
	my $array = "*60000\r\n" . $blobs{$what} x 60000;
	return "*60000\r\n" . $array x ($size / length $array);
});
server('wire', $wire->{port}, ", command_timeout '3000'");
for my $what (sort keys %blobs)
{
	my ($state, $grown) = reverse split / /, session("SELECT peak() AS before \\gset\nSELECT bf_fetch('wire', 'blob:$what');\nSELECT peak() - :before");
	is($state, '08P01', "20 MB of $what: refused");
	cmp_ok($grown, '<', 4 * $size / 1e6 + 16, "and take little memory ($grown MB)");
}
is(session("SELECT bf_fetch('wire', 'line:')"), '08P01', 'a line without an end is not waited for');

# An answer too many: it is not the next command's, nor is the one before it
# surely this one's.
is(session("SELECT 1, bf_redis_contains('wire', 'twice:', 'x'); SELECT 2, bf_redis_contains('wire', 'once:', 'x')"),
	'2|t 08P01', 'two answers to one command');

# A time-out is no error that WHEN OTHERS catches; as the documentation says.
server('hasty', $wire->{port}, ", command_timeout '100'");
for my $condition ('OTHERS', 'query_canceled OR OTHERS')
{
	is(session("DO \$\$ BEGIN PERFORM bf_redis_contains('hasty', 'silent:', 'x'); EXCEPTION WHEN $condition THEN RAISE 'HV000' USING ERRCODE = 'HV000'; END \$\$"),
		$condition eq 'OTHERS' ? '57014' : 'HV000', "a time-out in PL/pgSQL: WHEN $condition");
}

$node->stop;
done_testing();
