# A live filter mirrored to Redis, from the primary and from a standby: whatever
# was done to the key before, or is while it is mirrored, it then holds the
# filter's bytes, and no more of them are sent than differ.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

use FaultServer;
use RedisServer;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new;

# A reply of Redis, as it came.
sub read_reply
{
	my ($socket) = @_;
	local $/ = "\r\n";
	my $reply = <$socket>;
	if ($reply =~ /^\$(\d+)/)
	{
		read $socket, $reply, $1 + 2, length $reply;
	}
	elsif ($reply =~ /^\*(\d+)/)
	{
		$reply .= read_reply($socket) for 1 .. $1;
	}
	return $reply;
}

# What another connection of a test's process gets for a command.
sub call
{
	my ($socket, @command) = @_;
	print {$socket} FaultServer::array(map { FaultServer::bulk($_) } @command);
	$socket->flush;
	return read_reply($socket);
}

sub upstream { return IO::Socket::UNIX->new(Peer => $redis->{socket}); }

# Between us and Redis somebody meddles: when a string has been compared, and is
# about to be written, the next command of list "plan" is executed.  "wait" waits
# until all keys have expired that will; "stall" never goes on.
my $meddler = FaultServer->new(sub {
	my ($state, @command) = @_;
	return '' if $command[0] eq '!EARLY';
	$state->{up} //= upstream();
	$state->{watching} = 1 if $command[0] eq 'WATCH';
	return FaultServer::error('ERR no digests today')
	  if $command[0] eq 'EVAL' && $command[1] =~ /digests/ && $command[3] =~ /^refused/;
	if ($command[0] eq 'MULTI' && $state->{watching})
	{
		my $other = upstream();
		$state->{watching} = 0;
		if (call($other, 'LPOP', 'plan') =~ /\r\n(.+)\r\n/)
		{
			return undef if $1 eq 'close';
			$state->{stalled} = 1 if $1 eq 'stall';
			sleep 1.5 if $1 eq 'wait';
			call($other, split / /, $1) unless $1 =~ /^(wait|stall)$/;
		}
	}
	return '' if $state->{stalled};
	return call($state->{up}, @command);
});

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE SERVER meddled FOREIGN DATA WRAPPER bloomext_redis
		OPTIONS (host '127.0.0.1', port '$meddler->{port}', command_timeout '60000');
	CREATE USER MAPPING FOR CURRENT_USER SERVER meddled;
	CREATE TABLE articles (title text);
	CREATE INDEX articles_live ON articles USING bloomfilter (title) WITH (expected = 100000, fpp = 0.001);
	INSERT INTO articles SELECT 'Title ' || i FROM generate_series(1, 50000) AS i;
});
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

sub sql { return $primary->safe_psql('postgres', $_[0]); }

# The SQLSTATEs that statements of one session fail with, and their output.
sub try
{
	my ($statements, %options) = @_;
	my ($status, $out, $err) = $primary->psql('postgres', "\\set VERBOSITY sqlstate\n$statements",
		on_error_stop => 0, %options);
	return join ' ', ($err =~ /ERROR:  (\w{5})/g), split /\n/, $out;
}

# Mirror; returns the bytes sent.
sub mirror
{
	my ($key, $more, $server, $node) = @_;
	return ($node // $primary)->safe_psql('postgres',
		sprintf "SELECT bf_live_mirror('articles', '%s', '%s' %s)", $server // 'cache', $key, $more // '');
}

my $added = 0;
sub add { sql("INSERT INTO articles SELECT 'Later ' || i FROM generate_series($added + 1, $added + $_[0]) AS i"); $added += $_[0]; }

# The key is, byte for byte, what the filter is.
sub is_same
{
	my ($key, $what, $format) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $filter = sql(sprintf "SELECT encode(bf_export(bf_live_filter('articles'), '%s'), 'hex')", $format // 'guava');
	ok($redis->bytes($key) eq $filter, $what);
}

# Mirror what somebody did something to: some of it is sent, or all, or nothing,
# and then it is as it should be.
my $whole = sql("SELECT octet_length(bf_export(bf_live_filter('articles')))");
sub repairs
{
	my ($what, $some, $key, @more) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $sent = mirror($key // 'live', @more);
	ok($some eq 'some' ? $sent > 0 && $sent < $whole / 2 : $sent == ($some eq 'whole' ? $whole : 0),
		"$what: $some sent ($sent)");
	is_same($key // 'live', "$what: the same bytes");
}

# The plain course of things.
repairs('the first time', 'whole');
repairs('nothing new', 'nothing');
my $missing = q{SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'live', (SELECT array_agg(title) FROM articles))) AS found
	WHERE NOT found};
add(4);
is(sql($missing), '4', 'what came later is not in the mirror');
repairs('a few titles', 'some');
is(sql($missing), '0', 'they are in the mirror');
cmp_ok(mirror('live'), '==', 0, 'and need not be sent again');
add(1000);
repairs('many titles', 'whole');

# What is done to the key between two mirrors.
$redis->cli('COPY', 'live', 'backup');
add(4);
repairs('a few more', 'some');
sql(q{SELECT bf_redis_add('cache', 'live', 'a service''s')});
repairs('an element that a service added', 'some');
$redis->cli('RENAME', 'backup', 'live');
sql(q{SELECT bf_redis_add('cache', 'live', 'a service''s')});
repairs('a backup, and an element added to it', 'some');
$redis->cli('SETRANGE', 'live', 70000, "\001" x 3000);
repairs('bits set and cleared by hand', 'some');
$redis->cli('EVAL', q{return redis.call('SETRANGE', KEYS[1], 6, string.rep('\0', 50000))}, 1, 'live');
repairs('bits cleared by hand', 'some');
$redis->cli('EVAL', q{return redis.call('SETRANGE', KEYS[1], redis.call('STRLEN', KEYS[1]) - 8, string.rep('\255', 8))}, 1, 'live');
repairs('the last bits set', 'some');
$redis->cli('SETRANGE', 'live', 1, "\003");
repairs('another k in the head', 'some');
sql(q{SELECT bf_mirror(bf_agg('Other ' || i, 100000, 0.001), 'cache', 'other') FROM generate_series(1, 50000) AS i});
$redis->cli('COPY', 'other', 'live', 'REPLACE');
repairs('another filter of this shape', 'whole');
$redis->cli('EVAL', q{return redis.call('SET', KEYS[1], string.rep('\0', redis.call('STRLEN', KEYS[1])))}, 1, 'live');
repairs('zeros of this length', 'whole');
$redis->cli('APPEND', 'live', 'x');
repairs('one byte too many', 'whole');
$redis->cli('SET', 'live', 'x');
repairs('something else', 'whole');
$redis->cli('DEL', 'live');
repairs('a key that is gone', 'whole');
$redis->cli('DEL', 'live');
$redis->cli('LPUSH', 'live', 'x');
is(try(q{SELECT bf_live_mirror('articles', 'cache', 'live')}), '22023', 'a list is not written over');
is(try(q{SELECT bf_mirror(bf_live_filter('articles'), 'cache', 'live')}), '22023', 'nor by bf_mirror');
$redis->cli('DEL', 'live');

# Times to live.
repairs('with a ttl', 'whole', 'live', ", ttl => '1 hour'");
cmp_ok($redis->cli('PTTL', 'live'), '>', 0, 'it is set');
repairs('without', 'nothing');
is($redis->cli('PTTL', 'live'), -1, 'it is removed');
repairs('with another', 'nothing', 'live', ", ttl => '1 hour'");
cmp_ok($redis->cli('PTTL', 'live'), '>', 0, 'it is set again');
sql(q{SELECT bf_live_mirror('articles', 'cache', 'brief', ttl => '10 ms')});
sleep 0.1;
repairs('an expired key', 'whole', 'brief');

# A layout with a hash beside its string, whose bits are in another order.
my $bitmap = mirror('bits', ", layout => 'bitmap'");
is($bitmap, $whole - 6, 'layout bitmap: all of it');
is(mirror('bits', ", layout => 'bitmap'"), 0, 'nothing new');
add(4);
$redis->cli('HSET', '{bits}:bloomext', 'hashes', 1);
my $sent = mirror('bits', ", layout => 'bitmap', ttl => '1 hour'");
ok($sent > 0 && $sent < $bitmap / 2, "a few titles ($sent)");
is_same('bits', 'the same bytes', 'redis');
is(sql(q{SELECT bf_fetch('cache', 'bits') = bf_live_filter('articles')}), 't', 'its hash is right again');
cmp_ok($redis->cli('PTTL', $_), '>', 0, "$_ has a ttl") for 'bits', '{bits}:bloomext';
$redis->cli('APPEND', 'bits', 'x');
is(mirror('bits', ", layout => 'bitmap'"), $bitmap, 'one byte too many');
is_same('bits', 'the same bytes', 'redis');
is($redis->cli('PTTL', $_), -1, "$_ has no ttl any more") for 'bits', '{bits}:bloomext';
is(try(q{SELECT bf_live_mirror('articles', 'cache', 'bits')}), '22023', 'another layout is refused');

# What is done while it is mirrored: it is noticed, and compared anew.
mirror('live');
add(4);
$redis->cli('RPUSH', 'plan', 'SETRANGE live 70000 meddled');
repairs('bits set and cleared', 'some', 'live', '', 'meddled');
add(4);
$redis->cli('RPUSH', 'plan', 'RENAME other live');
repairs('another filter', 'whole', 'live', '', 'meddled');
add(4);
$redis->cli('RPUSH', 'plan', 'DEL live');
repairs('a key that is deleted', 'whole', 'live', '', 'meddled');
$redis->cli('RPUSH', 'plan', 'DEL live');
repairs('even if nothing was to be sent', 'whole', 'live', '', 'meddled');
add(4);
$redis->cli('PEXPIRE', 'live', 1000);
$redis->cli('RPUSH', 'plan', 'wait');
repairs('a key that expires', 'whole', 'live', '', 'meddled');
add(4);
$redis->cli('RPUSH', 'plan', ('SETRANGE live 70000 meddled') x 10);
repairs('a key that never stays the same', 'whole', 'live', '', 'meddled');
cmp_ok($redis->cli('LLEN', 'plan'), '>', 0, 'which is given up');
$redis->cli('DEL', 'plan');
$redis->cli('EVAL', q{return redis.call('SETRANGE', KEYS[1], 6, string.rep('\0', 170000))}, 1, 'live');
$redis->cli('RPUSH', 'plan', 'SETRANGE live 70000 meddled');
repairs('written to when all is about to be sent', 'whole', 'live', '', 'meddled');
is($redis->cli('LLEN', 'plan'), 0, 'as it was');

# Errors leave what is there, and a connection that serves, or none.
$redis->cli('COPY', @$_) foreach [ 'live', 'refused' ], [ '{live}:bloomext', '{refused}:bloomext' ];
my $after = q{SELECT bf_redis_add('meddled', 'refused', 'x' || random()::text);
	SELECT bf_mirror(bf_live_filter('articles'), 'meddled', 'refused') > 0};
is(try("SELECT bf_live_mirror('articles', 'meddled', 'refused'); $after"), '38000 t t', 'an error while the key is watched');
is(try("DO \$\$ BEGIN PERFORM bf_live_mirror('articles', 'meddled', 'refused'); EXCEPTION WHEN OTHERS THEN NULL; END \$\$; $after"),
	't t', 'in a subtransaction');
add(4);
my $before = $redis->bytes('live');
$redis->cli('RPUSH', 'plan', 'stall');
is(try("SET statement_timeout = '500ms'; SELECT bf_live_mirror('articles', 'meddled', 'live'); RESET statement_timeout; $after"),
	'57014 t t', 'a time-out before it is written');
$redis->cli('RPUSH', 'plan', 'close');
is(try("SELECT bf_live_mirror('articles', 'meddled', 'live'); $after"), '08006 t t', 'a lost connection');
$redis->cli('CONFIG', 'SET', 'maxmemory', '1mb');
is(try(q{SELECT bf_live_mirror('articles', 'cache', 'live')}), '38R01', 'Redis is out of memory');
$redis->cli('CONFIG', 'SET', 'maxmemory', '0');
ok($redis->bytes('live') eq $before, 'the old mirror is as it was');
repairs('after all that', 'some');

# The account that the documentation recommends suffices, and scripts it needs
# as everything over Redis does.
$redis->cli('ACL', 'SETUSER', 'app', 'on', '>secret', '~live*', '~{live*',
	'+@read', '+@write', '+@transaction', '+eval', '+ping', '+select');
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (username 'app', password 'secret')});
add(4);
repairs('with few rights', 'some');
$redis->cli('ACL', 'SETUSER', 'app', '-eval');
is(try(qq{SELECT bf_$_}), '42501', "no scripts: $_")
  for q{mirror(bf_live_filter('articles'), 'cache', 'live')}, q{live_mirror('articles', 'cache', 'live')};
sql(q{ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (DROP username, DROP password)});

# A service adds all the time.
sql(q{SELECT bf_redis_create('cache', 'stop', 10)});
my $stop = "$PostgreSQL::Test::Utils::tmp_check/stop";
my $service = IPC::Run::start([ 'psql', '-X', '-At', '-d', $primary->connstr('postgres'), '-c', q{
	DO $$ BEGIN
		FOR i IN 1 .. 1000000 LOOP
			PERFORM bf_redis_add('cache', 'live', 'service ' || i);
			EXIT WHEN bf_redis_contains('cache', 'stop', 'now');
		END LOOP;
	END $$ } ], '<', '/dev/null', '>', "$stop.out", '2>', "$stop.err");
for (1 .. 10)
{
	add(2);
	mirror('live');
	is(sql($missing), '0', 'nothing is missing while a service adds');
}
sql(q{SELECT bf_redis_add('cache', 'stop', 'now')});
$service->finish;
is(slurp_file("$stop.err"), '', 'the service had no error');
mirror('live');
is_same('live', 'in the end it is the same');

# Whose rows they are is asked before anything is sent; NULLs do nothing.
sql(q{CREATE ROLE stranger; GRANT USAGE ON FOREIGN SERVER cache TO stranger});
is(try(q{SET ROLE stranger; SELECT bf_live_mirror('articles', 'cache', 'live')}), '42501', 'the table is not readable');
is(sql(q{SELECT bf_live_mirror(NULL, 'cache', 'k') IS NULL AND bf_live_mirror('articles', NULL, 'k') IS NULL
	AND bf_live_mirror('articles', 'cache', NULL) IS NULL}), 't', 'NULL');

# A standby sends what it has replayed.
mirror('live');
add(4);
$primary->wait_for_catchup($standby, 'replay');
repairs('from a standby', 'some', 'live', '', 'cache', $standby);
repairs('nothing new, from the primary', 'nothing');
$standby->safe_psql('postgres', q{SELECT bf_live_mirror('articles_live', 'cache', 'standby', 'guava')});
is_same('standby', 'a standby mirrors all of it, too');
# There each transaction is read-only, and so are its subtransactions.
is($standby->safe_psql('postgres', q{BEGIN; SAVEPOINT a; SELECT bf_redis_add('cache', 'standby', 'from a standby'); COMMIT;
	BEGIN READ ONLY; SELECT bf_redis_drop('cache', 'standby')}), "t\nt", 'and does all else that is written to Redis');

# Another shape, in a key that had the old one; text of funnel utf16 has a hash.
sql(q{ALTER INDEX articles_live SET (expected = 200000, funnel = 'utf16'); REINDEX INDEX articles_live});
$whole = sql("SELECT octet_length(bf_export(bf_live_filter('articles')))");
repairs('another shape', 'whole');
add(4);
repairs('of which only what differs is sent', 'some');
is(sql(q{SELECT bf_fetch('cache', 'live') = bf_live_filter('articles')}), 't', 'its hash is there');

# A filter of two columns, behind one that is dropped: Redis is asked for elements.
sql(q{
	CREATE TABLE stock (gone int, article int, shop text);
	ALTER TABLE stock DROP gone;
	INSERT INTO stock SELECT i, 'shop ' || i % 7 FROM generate_series(1, 2000) AS i;
	CREATE INDEX stock_live ON stock USING bloomfilter (shop, article) WITH (expected = 10000, fpp = 0.0001)});
my $mirror_stock = q{SELECT bf_live_mirror('stock', 'cache', 'stock')};
my $ask_for_stock = q{
	SELECT string_agg(shop, ' ') FILTER (WHERE NOT there), count(*) FILTER (WHERE other)
	FROM (SELECT shop, bf_redis_contains('cache', 'stock', bf_element(shop, article)) AS there,
		bf_redis_contains('cache', 'stock', bf_element(shop, article + 5000)) AS other FROM stock) AS s};
$whole = sql($mirror_stock);
sql(q{INSERT INTO stock VALUES (-1, 'later'); ALTER TABLE stock ALTER article TYPE bigint});
is(sql($ask_for_stock), 'later|0', 'a row that came later is not in the mirror');
my $more = sql($mirror_stock);
ok($more > 0 && $more < $whole / 2, 'it is sent');
is(sql($ask_for_stock), '|0', 'and is in the mirror');
is(sql(q{SELECT bf_fetch('cache', 'stock') = bf_live_filter('stock')}), 't', 'as the filter has it');

$standby->stop;
$primary->stop;
done_testing();
