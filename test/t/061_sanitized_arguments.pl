# Random arguments to every function and aggregate of the extension, by the types
# that its catalog entries name, in a server whose bloomext.so is sanitized; and
# random answers of a Redis server.  No report, no crash, no XX000.
#
# BLOOMEXT_SECONDS is how long it runs: 40, unless it says otherwise.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use PostgreSQL::Test::Utils;
use FaultServer;
use SanitizedServer;
use Test::More;

SanitizedServer->require_runtime;
my $seconds = $ENV{BLOOMEXT_SECONDS} || 40;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
srand($seed);
diag "BLOOMEXT_SEED=$seed";

# A call ends within a second.
my $server = SanitizedServer->new('arguments', 'statement_timeout = 1s');
my $node = $server->{node};
my $wrong = 0;

sub any { return $_[ rand @_ ]; }

# ---- A Redis server that answers anything ----

sub reply
{
	my ($depth) = @_;
	my $how = rand;
	my $number = any(0, 1, 1, 1, 2, 5, -1, 64, 255, 100_000, 2**31, 2**32, 9_223_372_036_854_775_807);
	my $text = any('', 'OK', 'string', 'none', 'MBbloom--', 'hash', "\1\5\0\0\0\4", "\0\7\0\0\0\1" . 'x' x 8, 'guava', 'growing', 'redisson', 'bitmap', 'utf8', '0.03', '1e-300', '7',
		'100', '64', '0', '-1', '9999999999999999999', "\xff\0\xfe", 'x' x 300);
	return FaultServer::integer($number) if $how < 0.25;
	return FaultServer::bulk($text) if $how < 0.6;
	return FaultServer::bulk(undef) if $how < 0.7;
	return '+' . any('OK', 'QUEUED', 'PONG') . "\r\n" if $how < 0.75;
	return FaultServer::error(any('ERR', 'WRONGTYPE', 'MOVED 5 127.0.0.1:1', 'ASK 1 ?', 'NOSCRIPT', 'LOADING')) if $how < 0.78;
	return any("*-1\r\n", "*2\r\n", "\$5\r\nab", "\$-7\r\n", ":x\r\n", '_', "%1\r\n+a\r\n+b\r\n", "*9999999\r\n") if $how < 0.8;
	return FaultServer::bulk(undef) if $depth > 1;
	return FaultServer::array(map { reply($depth + 1) } 1 .. any(0, 1, 2, 3, 7, 7, 8, 64));
}

# What describes a filter, with something wrong now and then.  The script's arguments
# say which fields of hashes (or, if there are none, strings) are wanted.
my @bits = (64, 64, 64, 256, 100, 0);
my @hashes = (5, 5, 5, 1, 255, 256);
my %fields = (
	layout => [ qw(guava growing redisson bitmap redisbloom x) ], strategy => [ qw(guava redisson redisbloom magnuss x) ], funnel => [ undef, '', '', qw(utf8 int x) ],
	bits => \@bits, hashes => \@hashes, size => \@bits, hashIterations => \@hashes, expected => [ 6, '' ], fpp => [ '0.03', '2', '' ], expansion => [ 1, 1, 2, 0 ],
	layers => [ undef, 1, 2, 'x' ], whole => [ undef, undef, 'x' ], filled => [ undef, 1 ], shards => [ 1, 2, 0 ], id => [ undef, 'x' ]);

sub description
{
	my (undef, $keys, @asked) = @_;
	my @reply = (FaultServer::bulk(any('string', 'none', 'MBbloom--')), FaultServer::bulk(any('', "\1\5\0\0\0\1", "\1\5\0\0\0\4")), FaultServer::integer(any(0, 14, 38)));
	splice @asked, 0, $keys;
	splice @asked, 0, 1 + 2 * $asked[0];
	while (@asked)
	{
		my $count = shift @asked;
		my @values = map { any(@{ $fields{$_} // ['7'] }) } splice @asked, 0, $count;
		push @reply, rand() < 0.8 ? FaultServer::bulk(undef)
		  : FaultServer::array($count > 0 ? map({ FaultServer::bulk($_) } @values) : (FaultServer::integer(any(0, 1, 8, -1)), FaultServer::bulk(any('', '0', '1', '1023', 'x'))));
	}
	$reply[ rand @reply ] = reply(1) if rand() < 0.2;
	return FaultServer::array(@reply);
}

my $calls = 0;
my $faults = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	srand($seed + $calls++) unless $state->{seeded}++;
	return '' if $name eq '!EARLY';
	return FaultServer::ok() if $name =~ /^(PING|AUTH|MULTI|WATCH|UNWATCH)$/ && rand() < 0.98;
	return "+QUEUED\r\n" if $name !~ /^(EVAL|EXEC|BITFIELD_RO|GET)$/ && rand() < 0.5;
	return undef if rand() < 0.01;
	return description(@arguments) if $name eq 'EVAL' && $arguments[0] =~ /STRLEN.*HMGET/s && rand() < 0.9;
	return FaultServer::bulk(any('0', '1', '01', '111')) if $name eq 'EVAL' && rand() < 0.3;
	return FaultServer::array(map { FaultServer::integer(int rand 2) } 1 .. any(5, 6, 7)) if $name eq 'BITFIELD_RO' && rand() < 0.5;
	return reply(0);
});

# ---- Arguments ----

$node->safe_psql('postgres', qq{
	CREATE SERVER random FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$faults->{port}', connect_timeout '100', command_timeout '100');
	CREATE SERVER nowhere FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '/nonexistent/socket');
	CREATE USER MAPPING FOR CURRENT_USER SERVER random;
	CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;
	CREATE DOMAIN small AS int CHECK (VALUE < 100);
	CREATE DOMAIN word AS text;
	CREATE TABLE t (id int, title text, n bigint);
	INSERT INTO t SELECT i, 'title ' || i, i FROM generate_series(1, 200) i;
	CREATE INDEX t_title ON t USING bloomfilter (title);
	CREATE INDEX t_n ON t USING bloomfilter (n);
	CREATE INDEX t_id ON t (id);
	CREATE TABLE parts (title text) PARTITION BY LIST (title);
	CREATE TABLE part PARTITION OF parts DEFAULT;
	CREATE INDEX parts_title ON parts USING bloomfilter (title);
	ANALYZE t;
});

my @names = map { "'$_'" } qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms utf8 utf16 bytes int long redis bitset bitmap growing), '', ' ', 'GUAVA', 'x' x 70, 'guava;shards=2', 'é';
my @integers = qw(0 1 -1 2 7 10 63 64 65 255 256 1000 65536 1000000 2147483647 -2147483648);
my @bigints = (@integers, '2147483648', '4294967296', '1099511627776', '9000000000000000000', '9223372036854775807', '-9223372036854775807 - 1');
my @floats = ((map { "'$_'" } qw(NaN Infinity -Infinity 0 -0 5e-324 1e-308 1e-300 1e-15 0.999999999999 1 1.0000001 -1 1e308)), qw(0.5 0.03 0.1 0.01));
my @filters = ('bf_create(10)', q(bf_create(100, 0.1, 'magnuss') + 'x'), q(bf_create(10, 0.1, 'redisbloom', expansion => 2)), 'bf_create(10, counting => true) + 3', q(bf_create(10, 0.1, 'guava', 'utf16')),
	q(bf_create_bits(64, 255, 'tale2009')), q(bf_create(5, 0.01, 'cassandra')), q(bf_create(5, 0.1, expansion => 1) + '\x01'::bytea), q(bf_create(1000, 0.5, 'redisson') + 'a'),
	q(bf_create(10, 0.1, 'spark1') + 7), q(bf_create(100, 0.01, 'spark2', expansion => 2) + 'a'), q(bf_create(10, 0.1, 'bitsandblooms') + 'x'));
my @elements = (q('a'::text), q(''::text), 'title', 'n', 'id', '7', '7::smallint', '7::bigint', q('\x00ff'::bytea), q('c0ffee00-0000-0000-0000-000000000000'::uuid), q('a'::name), q('a'::varchar), q('a'::char(5)), '5::small', q('w'::word),
	map({ "'$_'::date" } '2020-02-02', 'infinity', '4714-11-24 BC', '5874897-12-31'), 'now()', map({ ("'$_'::timestamp", "'$_'::timestamptz") } 'infinity', '-infinity', '1970-01-01 00:00:00', '294276-12-31 23:59:59.999999'),
	'true', 'false', q('1'::"char"), q('\377'::"char"), q(''::"char"), map({ "'$_'::inet" } '10.0.0.1', '10.0.0.1/8', '::', 'fe80::1/64'), q('10.0.0.0/8'::cidr), q('::/0'::cidr), q('08:00:2b:01:02:03'::macaddr), '0::oid', '4294967295::oid', q('a '::bpchar), q(''::name),
	'1.5', q('{}'::jsonb), 'ROW(1, 2)', "repeat('x', 100000)", 'NULL::text', 'NULL::int', 'NULL::date', q('(1,2)'::point), q{'[1,2)'::int4range}, q('1 day'::interval), q('12:00'::time));

sub array_of
{
	my (@of) = @_;
	my @items = map { rand() < 0.1 ? 'NULL' : any(@of) } 1 .. any(0, 1, 2, 3, 40);
	return 'ARRAY[' . join(', ', @items) . ']';
}

my %makers = (
	text => sub { any(@names, "repeat('x', 100000)", 'title') },
	bytea => sub { any(q('\x'), q('\x00'), q('\x010500000001ffffffffffffffff'), "decode(repeat('00', 5000), 'hex')", 'bf_export(' . any(@filters) . ')', '(' . any(@filters) . ')::bytea') },
	name => sub { any((q('random')) x 7, q('nowhere'), q('title'), q('n'), q('missing'), q('')) },
	regclass => sub { any(map { "'$_'" } 't', 't', 't_title', 't_n', 't_id', 'parts', 'parts_title', 'part', 'pg_class', '0', '4294967295') },
	boolean => sub { any('true', 'false') }, interval => sub { any(map { "'$_'" } '1 hour', '1 ms', '0', '-1 day', '10 years', '100000 years') }, oid => sub { any(0, 1417, 1418, 4294967295) },
	smallint => sub { any(0, 1, -1, 32767, -32768) }, uuid => sub { any(map { "'$_'" } 'c0ffee00-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000') },
	integer => sub { any(@integers) }, bigint => sub { '(' . any(@bigints) . ')' }, 'double precision' => sub { any(@floats) },
	'"char"' => sub { any(map { "'$_'" } 'a', '', '\001', '\377', 'é') },
	bloomfilter => sub { any(@filters) }, anycompatible => sub { any(@elements) },
	anycompatiblearray => sub { any(map({ "ARRAY[$_, NULL, $_]" } any(@elements)), array_of(@integers) . '::int[]', array_of(@names) . '::text[]', array_of(@names) . '::name[]', array_of(q('\x00'), q('\xff')) . '::bytea[]',
			q('[5:6]={1,2}'::int[]), q('{{1,2},{3,NULL}}'::bigint[]), q('{}'::text[]), q('{a,b}'), 'ARRAY(SELECT i FROM generate_series(1, 3000) i)', 'NULL::uuid[]', q('{a,b}'::word[])) });
$makers{"$_\[]"} = do { my $type = $_; sub { any(array_of($makers{$type} ? map({ $makers{$type}->() } 1 .. 3) : ('1', '-1')) . "::$type\[]", "'{}'::$type\[]", "NULL::$type\[]") } } for qw(text bytea integer bigint);
$makers{'smallint[]'} = sub { array_of(0, 1, -32768, 32767) . '::smallint[]' };
$makers{'uuid[]'} = sub { q('{c0ffee00-0000-0000-0000-000000000000,NULL}'::uuid[]) };

# What arguments of some names mostly are.
my %meant = (strategy => [qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms)], funnel => [qw(utf8 utf16 bytes int long)], layout => [ qw(guava growing redisson bitmap redisbloom), 'guava;shards=2' ]);

# Every function of the extension that can be called, with its arguments' types and
# names.
my @functions = map { [ split /\|/, $_, -1 ] } split /\n/, $node->safe_psql('postgres', q{
	SELECT p.proname, p.prokind, p.proretset, (SELECT string_agg(format_type(t, NULL), ';' ORDER BY o) FROM unnest(p.proargtypes) WITH ORDINALITY a(t, o)), p.pronargdefaults, array_to_string(p.proargnames, ';')
	FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'bloomext'
	WHERE NOT p.proargtypes::oid[] && ARRAY['internal'::regtype, 'cstring'::regtype]::oid[] AND p.prorettype <> 'internal'::regtype
	ORDER BY p.oid::regprocedure::text});
my %unknown = map { $_ => 1 } grep { !$makers{$_} } map { split /;/, $_->[3] } @functions;
is(join(', ', sort keys %unknown), '', 'all argument types are known');
cmp_ok(scalar @functions, '>=', 65, 'functions: ' . @functions);

sub call
{
	my ($name, $kind, $set, $types, $defaults, $names) = @{ $_[0] };
	my @types = split /;/, $types;
	my @named = split /;/, $names;
	splice @types, @types - int(rand($defaults + 1)) if $defaults && rand() < 0.5;
	my @arguments = map { my $meant = $meant{ shift(@named) // '' }; my $a = $meant && rand() < 0.8 ? "'" . any(@$meant) . "'" : $makers{$_}->(); rand() < 0.05 ? 'NULL' : $_ =~ /any|\[\]/ ? $a : $_ eq 'name' || $_ eq 'regclass' ? "$a\::$_" : "($a)::$_" } @types;
	my $expression = "$name(" . join(', ', @arguments) . ')';
	my $rows = 'FROM t WHERE id <= ' . any(0, 1, 3, 200);
	return "SELECT count(x) FROM (SELECT $expression OVER (" . any('', 'PARTITION BY n ', '') . any('', 'ORDER BY id') . ") AS x $rows) s;" if $kind eq 'w';
	return "SELECT count(x) FROM (SELECT $expression AS x FROM t LIMIT 2 OFFSET 0) s;" unless $kind eq 'a';
	return "SELECT count(x) FROM (SELECT $expression OVER (ORDER BY id ROWS BETWEEN " . any('UNBOUNDED', '3', '0') . ' PRECEDING AND ' . any('CURRENT ROW', 'UNBOUNDED FOLLOWING', '2 FOLLOWING') . ") AS x $rows) s;" if rand() < 0.3;
	return "SELECT count(x) FROM (SELECT $expression " . any('', "FILTER (WHERE id % 2 = 0)") . " AS x $rows " . any('', '', 'GROUP BY id % 5', 'GROUP BY ROLLUP (id % 3, n % 2)') . ') s;';
}

# Aggregates have parallel plans, too.
my @aggregates = grep { $_->[1] eq 'a' } @functions;
my $parallel = '-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0';
my $any = '(?!XX)\w{5}';

# Show a few of what is wrong, and count all.
sub note_wrong { diag $_ for grep { $wrong++ < 8 } @_; return; }

# An array whose element type nothing tells.
note_wrong($server->run($any, ['SELECT count(x) FROM (SELECT bf_contains_all(bf_create(10), most_common_vals) AS x FROM pg_stats) s;']));
for (my $end = time + $seconds; time < $end && $wrong < 20;)
{
	my $notice = 'SET bloomext.overfull_notice = ' . any('on', 'off') . ';';
	note_wrong($server->run($any, [ $notice, map { call($_) } @functions, @functions, @functions ]));
	note_wrong($server->run($any, [ $notice, map { call($_) } @aggregates, @aggregates ], $parallel));
}
is($wrong, 0, 'no report, no XX000');
# Most of them got to where something can go wrong.
cmp_ok($server->{statements}, '>', 3 * @functions, 'statements');
diag $server->summary;
$node->stop;
done_testing();
