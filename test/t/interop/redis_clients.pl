# Other programs and the same filters: real Guava and real Redisson, a reader in
# Python written from doc/redis-readers.md, and RedisBloom's commands.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisServer;
use RedisTest qw(start_postgres sql);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $interop = "$FindBin::RealBin/../../interop";
my $redis = RedisServer->new(port => RedisServer::free_port());
my $node = start_postgres();

sub command_output
{
	my ($input, @command) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', \$input, '>', \$out, '2>', \$err)
	  or diag "@command: $err";
	return $out;
}

sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$redis->{port}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE TABLE titles AS SELECT i, 'Title ' || i AS title FROM generate_series(1, 1000) AS i;
	SELECT bf_mirror(bf_agg(title, 1000, 0.0001), 'cache', 'titles') FROM titles;
});

# Python, by BITFIELD_RO.
SKIP:
{
	skip 'python3 is not installed', 1 if system('command -v python3 >/dev/null 2>&1') != 0;
	my $elements = join "\n", map({ "Title $_" } 1 .. 1000), map({ "Other title $_" } 1 .. 1000), '';
	is( command_output($elements, 'python3', "$interop/python/redis_reader.py", $redis->{socket}, 'titles'),
		sql("SELECT bf_contains(f, title)::int FROM (SELECT bf_agg(title, 1000, 0.0001) AS f FROM titles) AS f,
				(SELECT 0 AS n, i, title FROM titles UNION ALL SELECT 1, i, 'Other ' || lower(title) FROM titles) AS t
			ORDER BY n, i") . "\n",
		'Python answers as PostgreSQL does');
}

# Java, with the libraries as Maven has them: of releases that are in use, and the
# newest.
foreach my $release ('usual', 'newest')
{
	my $libraries = "$PostgreSQL::Test::Utils::tmp_check/java-$release";
	my $profile = $release eq 'newest' ? '-P newest' : '';
	my $missing = '';
	if (system('command -v mvn java >/dev/null 2>&1') != 0)
	{
		$missing = 'mvn or java is not installed';
	}
	elsif (system("mvn -q -B $profile -f '$interop/java/redisson-pom.xml' dependency:copy-dependencies "
		. "-DoutputDirectory='$libraries' >'$libraries.log' 2>&1") != 0)
	{
		$missing = "Maven could not fetch the $release Redisson and Guava";
	}
  SKIP:
	{
		if ($missing)
		{
			die $missing if $ENV{BLOOMEXT_REQUIRE_JAVA};
			skip $missing, 12;
		}
		ask_java($release, "$libraries/*");
	}
}

sub ask_java
{
	my ($release, $classpath) = @_;
	my @java = ('java', '-cp', $classpath, "$interop/java/RedisClients.java");
	my $java = sub {
		my ($verb, $key) = @_;
		return command_output('', @java, $verb, "redis://127.0.0.1:$redis->{port}", $key, 1000);
	};
	my ($ours, $theirs) = ("ours-$release", "theirs-$release");

	like($java->('guava', 'titles'), qr/^missing 0 wrong [0-3]\n$/, "Guava, $release, after one GET");

	sql("SELECT bf_redis_create('cache', '$ours', 2000, 0.01, 'redisson');
		 SELECT bf_redis_add_each('cache', '$ours', array_agg(title)) FROM titles");
	like($java->('ask', $ours), qr/^missing 0 wrong [0-9]\ntrue false 19170 7\n$/, "Redisson, $release, asks and adds what SQL made");
	is(sql("SELECT bf_redis_contains('cache', '$ours', 'from Java'), bf_redis_add('cache', '$ours', 'from Java')"),
		't|f', 'SQL finds what Redisson added');

	is($java->('create', $theirs), "true\n", 'Redisson makes one');
	is(sql("SELECT count(*) FROM titles WHERE bf_redis_contains('cache', '$theirs', title)"), 1000, 'SQL asks it');
	is(sql("SELECT bf_fetch('cache', '$theirs') = bf_agg(title, 2000, 0.01, 'redisson') FROM titles"), 't', 'SQL fetches it');
	is(sql("SELECT bf_redis_add('cache', '$theirs', 'from SQL'), bf_redis_create('cache', '$theirs', 2000, 0.01, 'redisson')"),
		't|f', 'SQL adds to it');
	sql("SELECT bf_mirror(bf_agg(title, 3000, 0.01, 'redisson'), 'cache', '$theirs') FROM titles");
	like($java->('ask', $theirs), qr/^missing 0 wrong [0-9]\n/, 'Redisson asks what was mirrored in its place');

	# An object remembers the size, and says no, without an error, to all where it is
	# another one or gone: so since 3.42, which doc/redis-readers.md warns of.
	my ($in, $out) = ('', '');
	my $kept = IPC::Run::start([ @java, 'keep', "redis://127.0.0.1:$redis->{port}", $theirs, 1000 ], '<', \$in, '>', \$out,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my $said = sub {
		my ($lines) = @_;
		$kept->pump until $out =~ s/^((?:.*\n){$lines})//;
		return $1;
	};
	my $mirror = sub {
		my ($elements, $expected) = @_;
		sql("SELECT bf_mirror(bf_agg(title, $expected, 0.01, 'redisson'), 'cache', '$theirs') FROM $elements");
		$in .= "\n";
	};
	my ($all, $none) = (qr/missing 0 wrong [0-9]\n/, qr/missing 1000 wrong 0\n/);
	like($said->(1), qr/^$all$/, "Redisson, $release: an object that is kept");
	$mirror->("(SELECT title FROM titles UNION ALL SELECT 'new') AS t", 3000);
	like($said->(2), qr/^$all$all$/, 'over a swap to the same size');
	$mirror->('titles', 2000);
	like($said->(2), qr/^$none$all$/, 'says no after one to another size, where a new one does not');
	sql("SELECT bf_redis_drop('cache', '$theirs')");
	$in .= "\n";
	like($said->(2), qr/^$none$none$/, 'and so do both where there is no filter');
	$kept->finish;
}

# RedisBloom's module may not be at hand (where it is, redisbloom.pl is for it): a server
# of the test's own keeps what BF.LOADCHUNK is given, by the module's rules, and plays it
# back.
my %keys;
my $module = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	($name, @arguments) = ($arguments[4], $arguments[2], @arguments[5 .. $#arguments])
	  if $name eq 'EVAL' && $arguments[0] =~ /redis\.call\(ARGV/;
	my ($key, $cursor, $data) = @arguments;
	return '' if $name eq '!EARLY';
	return FaultServer::ok() if $name eq 'PING';
	if ($name eq 'BF.LOADCHUNK')
	{
		if ($cursor == 1)
		{
			return FaultServer::error('ERR received bad data') if $keys{$key};
			$keys{$key} = { header => $data, bits => '' };
			return FaultServer::ok();
		}
		my $filter = $keys{$key} or return FaultServer::error('ERR not found');
		return FaultServer::error('ERR invalid offset')
		  if $cursor - length($data) - 1 != length $filter->{bits};
		# A chunk must not reach over the end of a link.
		my ($at, $end) = (0, 0);
		for (my $link = 20; $link < length $filter->{header}; $link += 53)
		{
			$at = $end;
			$end += unpack 'Q<', substr($filter->{header}, $link, 8);
			last if $end > length $filter->{bits};
		}
		return FaultServer::error('ERR beyond the link') if $cursor - 1 > $end;
		$filter->{bits} .= $data;
		return FaultServer::ok();
	}
	if ($name eq 'BF.SCANDUMP')
	{
		my $filter = $keys{$key} or return FaultServer::error('ERR not found');
		return FaultServer::array(FaultServer::integer(1), FaultServer::bulk($filter->{header}));
	}
	if ($name eq 'EVAL' && $arguments[0] =~ /'BF.SCANDUMP'/)
	{
		my $filter = $keys{ $arguments[2] };
		return FaultServer::array(map { FaultServer::bulk($_) } $filter->{header}, unpack('(a1000)*', $filter->{bits}), '');
	}
	if ($name eq 'EVAL' && $arguments[0] =~ /RENAME/)
	{
		$keys{ $arguments[3] } = delete $keys{ $arguments[2] };
		return FaultServer::integer(1);
	}
	return FaultServer::integer(delete $keys{ $arguments[2] } ? 1 : 0) if $name eq 'EVAL' && $arguments[0] =~ /UNLINK/;
	if ($name eq 'EVAL' && $arguments[0] =~ /'TYPE'/)
	{
		my $there = $keys{ $arguments[2] };
		return FaultServer::array(FaultServer::bulk($there ? 'MBbloom--' : 'none'), FaultServer::bulk(''),
			FaultServer::integer(0), (FaultServer::bulk(undef)) x ($arguments[1] - 1));
	}
	if ($name eq 'EVAL' && $arguments[0] =~ /BF.INFO/)
	{
		my $filter = $keys{ $arguments[2] };
		return FaultServer::array(FaultServer::integer(unpack 'Q<', $filter->{header}),
			FaultServer::integer(length $filter->{bits}), FaultServer::integer(-1));
	}
	return FaultServer::error('ERR unknown command');
});
sql("CREATE SERVER module FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$module->{port}');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER module");
for my $expansion (0, 2)
{
	my $filter = "bf_agg(title, " . ($expansion ? 100 : 1000) . ", 0.01::float8, 'redisbloom', $expansion)";
	is( sql("SELECT bf_mirror($filter, 'module', 'bloom$expansion') = length(bf_export($filter)) FROM titles"),
		't', "redisbloom, expansion $expansion: loaded");
	is( sql("SELECT bf_export(bf_fetch('module', 'bloom$expansion')) = bf_export($filter) FROM titles"),
		't', "redisbloom, expansion $expansion: and dumped, byte for byte");
	is( sql("SELECT expansion, estimated_count, bytes = bits / 8, ttl_ms FROM bf_redis_info('module', 'bloom$expansion')"),
		sql("SELECT $expansion, get_byte(dump, 0) + 256 * get_byte(dump, 1), true, NULL FROM (SELECT bf_export($filter) AS dump FROM titles) AS d"),
		'and described');
	is(sql("SELECT bf_redis_drop('module', 'bloom$expansion')"), 't', 'and dropped');
}
sql("SELECT bf_mirror(bf_agg(title, 2000000, 0.001::float8, 'redisbloom'), 'module', 'large') FROM titles");
is(sql("SELECT bf_contains(bf_fetch('module', 'large'), 'Title 1')"), 't', 'redisbloom: in pieces of 1 MiB');

$node->stop;
done_testing();
