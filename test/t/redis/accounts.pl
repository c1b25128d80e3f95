# The accounts that doc/redis.md prints for each kind of server: enough for every
# function in every layout, and for no command that harms other keys.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Utils;
use Test::More;

use RedisServer;
use RedisTest qw(start_postgres sql outcome);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $module = $ENV{BLOOMEXT_REDISBLOOM};
my $redis = RedisServer->new(options => [ RedisServer->bloom ]);
my $node = start_postgres();

# What Redis answers to an account.
sub cli_as
{
	my ($user, @command) = @_;
	return $redis->cli('--user', $user, '--pass', 'password', '--no-auth-warning', @command);
}

# What a query answers, or the SQLSTATE that it fails with, for a role.
sub as_role
{
	my ($role, $query) = @_;
	return outcome("SET ROLE $role;\n$query");
}

# The lines as they are printed.
my $release = $redis->cli('INFO', 'server') =~ /^redis_version:(\d+)/m ? $1 : 0;
my @blocks = slurp_file('doc/redis.md') =~ /^```\n((?:ACL SETUSER [^\n]*\n)+)```$/mg;
is(scalar @blocks, 3, 'for Redis 6.2, for later releases, and with RedisBloom');
is($redis->cli('ACL', 'SETUSER', 'admin', 'on', '>password', '~*', '+@all'), 'OK', 'who enters them');
for my $line (map { split /\n/ } $blocks[ $release < 7 ? 0 : 1 ], $module ? $blocks[2] : ())
{
	is(cli_as('admin', split / /, $line), 'OK', $line);
}

sql(q{CREATE EXTENSION bloomext;
	CREATE ROLE app; CREATE ROLE reader;
	GRANT CREATE ON SCHEMA public TO app, reader;} .
	"CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');" .
	q{GRANT USAGE ON FOREIGN SERVER cache TO app, reader;
	CREATE USER MAPPING FOR app SERVER cache OPTIONS (username 'app', password 'password');
	CREATE USER MAPPING FOR reader SERVER cache OPTIONS (username 'reader', password 'password')});
for my $role ('app', 'reader')
{
	as_role($role, qq{
		CREATE TABLE ${role}_titles AS SELECT 'Title ' || i AS title FROM generate_series(1, 2000) AS i;
		CREATE INDEX ${role}_live ON ${role}_titles USING bloomfilter (title) WITH (expected = 200000, fpp = 0.001)});
}

# How a role writes a filter as a whole: where there is one of another shape or
# nothing, and a live one, of which there may be an older mirror.
sub mirrors
{
	my ($role, $key, $layout, $strategy, $expansion) = @_;
	my $mirror = "SELECT bf_mirror(bf_agg(title, %s, 0.01::float8, '$strategy', $expansion), 'cache', '$key', '$layout'%s) > 0 FROM ${role}_titles";
	my @calls = map { sprintf $mirror, @$_ } [ 500 + 1500 * !$expansion, '' ], [ 2000000, ", '1 hour'" ];
	return @calls if $expansion || $strategy ne 'guava';
	my $live = "SELECT bf_live_mirror('${role}_live', 'cache', '$key', '$layout') IS NOT NULL";
	return @calls, $live, "INSERT INTO ${role}_titles VALUES ('New for $layout'); $live";
}

for ([ 'guava', 'guava', 0 ], [ 'growing', 'guava', 1 ], [ 'redisson', 'redisson', 0 ], [ 'bitmap', 'guava', 0 ],
	[ 'guava;shards=2', 'guava', 0 ], $module ? [ 'redisbloom', 'redisbloom', 1 ] : ())
{
	my ($layout, $strategy, $expansion) = @$_;
	my $sharded = $layout =~ /shards/;
	my $key = 'titles:' . ($sharded ? 'shards' : $layout);
	my $create = "SELECT bf_redis_create('cache', 'KEY', 100, 0.01, '$strategy', '$layout', $expansion)";
	my @asking = ("SELECT bf_redis_contains('cache', '$key', 'Title 1')",
		"SELECT bool_and(c) FROM unnest(bf_redis_contains_each('cache', '$key', ARRAY(SELECT 'Title ' || i FROM generate_series(1, 90) i))) c",
		"SELECT estimated_fpp IS NULL OR estimated_fpp < 1 FROM bf_redis_info('cache', '$key')",
		$sharded ? () : "SELECT bf_contains(bf_fetch('cache', '$key'), 'Title 1')");
	my @adding = ("SELECT bf_redis_add('cache', '$key', 'Title 0')",
		"SELECT bool_or(c) FROM unnest(bf_redis_add_each('cache', '$key', ARRAY(SELECT 'Title ' || i FROM generate_series(1, @{[$expansion ? 900 : 90]}) i))) c");

	is(as_role('app', $create =~ s/KEY/other/r), '42501', "$layout: app keeps to its keys");
	is(as_role('app', $create =~ s/KEY/$key/r), 't', "$layout: app creates");
	is(as_role('app', $_), 't', "$layout: app: $_") for @adding, @asking;
	is(as_role('reader', $_), 't', "$layout: reader: $_") for @asking;
	my @mirrors = $sharded ? () : mirrors('reader', $key, $layout, $strategy, $expansion);
	is(as_role('reader', $_), '42501', "$layout: not reader: $_")
	  for $create =~ s/KEY/titles:new/r, map({ s/Title /Unknown /r } @adding), @mirrors, "SELECT bf_redis_drop('cache', '$key')";
	is(as_role('app', "SELECT bf_redis_drop('cache', '$key')"), 't', "$layout: app drops");
	next if $sharded;
	# By one command; and in pieces, without INFO.
	for my $info ('-info', '+info')
	{
		cli_as('admin', 'ACL', 'SETUSER', 'app', $info);
		is(as_role('app', $_), 't', "$layout: app, $info: $_") for mirrors('app', $key, $layout, $strategy, $expansion);
	}
	is(as_role('reader', $_), 't', "$layout: reader, of what was mirrored: $_") for @asking;
	is(as_role('app', "SELECT bf_redis_drop('cache', '$key')"), 't', "$layout: app drops it");
}

# A window of time, which only Redis fills.
my $window = "SELECT bf_redis_create('cache', 'titles:window', 100, 0.01, span => '1 day')";
my $turns = "SELECT bf_redis_add('cache', 'titles:window', 'Title 1') IS NOT NULL";
is(as_role('reader', $window), '42501', 'window: not reader');
is(as_role('app', $window), 't', 'window: app creates');
for my $passed (0, 1, 40)
{
	cli_as('admin', 'EVAL', $RedisServer::pass_slices, 1, '{titles:window}:bloomext', $passed);
	is(as_role('reader', $turns), '42501', 'window: reader does not add');
	is(as_role('app', $turns), 't', "window: app adds, $passed slices later");
	is(as_role($_, "SELECT bf_redis_contains('cache', 'titles:window', 'Title 1'), slices FROM bf_redis_info('cache', 'titles:window')"),
		't|30', "window: $_ asks") for 'app', 'reader';
}
is(as_role('app', "SELECT bf_redis_drop('cache', 'titles:window')"), 't', 'window: app drops');
is(cli_as('admin', 'DBSIZE'), 0, 'no key is left');

# In another database.
sql("ALTER SERVER cache OPTIONS (db '3')");
is(as_role('app', "SELECT bf_redis_create('cache', 'titles', 10), bf_redis_add('cache', 'titles', 'x')"), 't|t', 'app: SELECT');
is(as_role('reader', "SELECT bf_redis_contains('cache', 'titles', 'x')"), 't', 'reader: SELECT');

# By the password alone.
like(cli_as('app', 'INFO', 'memory'), qr/^maxmemory:/m, 'app: INFO');
is(cli_as('admin', 'SET', 'titles:x', 'x'), 'OK', 'something to lose');
my @harm = ([ 'FLUSHALL' ], [ 'FLUSHDB' ], [ 'SWAPDB', 0, 1 ], [ 'KEYS', '*' ], [ 'CONFIG', 'GET', '*' ], [ 'DEBUG', 'SLEEP', 0 ],
	[ 'ACL', 'LIST' ], [ 'SHUTDOWN', 'NOSAVE' ],
	$release < 7 ? () : ([ 'FUNCTION', 'FLUSH' ],
		[ 'FUNCTION', 'LOAD', "#!lua name=mine\nredis.register_function('mine', function() end)" ]));
for my $user ('app', 'reader')
{
	like(cli_as($user, @$_), qr/^NOPERM|^ERR DEBUG command not allowed/, "$user: no @$_") for @harm;
	like(cli_as($user, 'EVAL', "return redis.call($_)", 0), qr/permission|can't run/, "$user: nor by a script: $_")
	  for "'FLUSHALL'", "'KEYS', '*'";
	is(cli_as($user, 'GET', 'titles:x'), 'x', "$user has done none");
}
like(cli_as('reader', @$_), qr/^NOPERM/, "reader: no $_->[0]")
  for [ 'SET', 'titles:x', 'y' ], [ 'SETBIT', 'titles:x', 0, 1 ], [ 'DEL', 'titles:x' ], [ 'EXPIRE', 'titles:x', 1 ];
like($redis->cli('PING'), qr/^NOAUTH/, 'nobody comes without a password');

$node->stop;
done_testing();
