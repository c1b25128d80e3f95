# Random arguments to every function, aggregate, operator and cast of the extensions, by
# the types that the catalog names, in a server whose bloomext.so is sanitized.  Whatever
# they are, and however they come (constants, columns, parameters), there is a value or an
# error that is meant: one whose SQLSTATE doc/reference.md lists, or one of PostgreSQL's
# own for calls like these.  No report, no crash, no lost connection, no XX000.
#
# In most calls all arguments but one are ordinary, so that functions get to where
# something can go wrong; each must give a value at least once.
#
# Redis is a real one, and one that answers at random.
#
# BLOOMEXT_SECONDS is how long it runs: 40, unless it says otherwise.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use List::Util qw(first min);
use PostgreSQL::Test::Utils;
use FaultServer;
use RedisServer;
use SanitizedServer;
use Test::More;
use Workers ();

SanitizedServer->require_runtime;
my $seconds = $ENV{BLOOMEXT_SECONDS} || 40;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
srand($seed);
diag "BLOOMEXT_SEED=$seed";

# A call ends within a second.
my $server = SanitizedServer->new('arguments', 'statement_timeout = 1s', "work_mem = '1MB'", 'hash_mem_multiplier = 1');
my $node = $server->{node};
my $redis = RedisServer->available ? RedisServer->new(options => [ '--maxmemory', '300mb' ]) : undef;
my $wrong = 0;

sub any { return $_[ rand @_ ]; }
sub chance { return rand() < shift; }

# ---- A Redis server that answers anything ----

sub reply
{
	my ($depth) = @_;
	my $how = rand;
	my $number = any(0, 1, 1, 1, 2, 5, -1, 64, 255, 100_000, 2**31, 2**32, 9_223_372_036_854_775_807);
	my $text = any('', 'OK', 'string', 'none', 'MBbloom--', 'hash', "\1\5\0\0\0\4", "\0\7\0\0\0\1" . 'x' x 8, 'guava', 'growing', 'redisson', 'bitmap', 'window', 'utf8', '0.03', '1e-300', '7',
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
	layout => [ qw(guava growing redisson bitmap redisbloom window x) ], strategy => [ qw(guava redisson redisbloom magnuss x) ], funnel => [ undef, '', '', qw(utf8 int x) ],
	bits => \@bits, hashes => \@hashes, size => \@bits, hashIterations => \@hashes, expected => [ 6, '' ], fpp => [ '0.03', '2', '' ], expansion => [ 1, 1, 2, 0 ],
	layers => [ undef, 1, 2, 'x' ], whole => [ undef, undef, 'x' ], filled => [ undef, 1 ], shards => [ 1, 2, 0 ], id => [ undef, 'x' ],
	slice => [ 86_400_000, 1, 0 ], slices => [ 30, 1, 31 ], newest => [ 20_000, 0, 'x' ], turned => [ 20_000, 0, 30_000 ]);

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

# ---- What there is in the database ----

my $socket = $redis ? $redis->{socket} : '/nonexistent/socket';
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomext_citus;
	UPDATE pg_proc SET probin = (SELECT probin FROM pg_proc WHERE proname = 'bf_count') WHERE probin = '$libdir/bloomext'});
$node->safe_psql('postgres', qq{
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$socket');
	CREATE SERVER random FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$faults->{port}', connect_timeout '100', command_timeout '100');
	CREATE SERVER nowhere FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '/nonexistent/socket');
	CREATE SERVER closed FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '@{[ RedisServer::free_port() ]}');
	CREATE SERVER unmapped FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$socket');
	CREATE FOREIGN DATA WRAPPER other;
	CREATE SERVER other FOREIGN DATA WRAPPER other;
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE USER MAPPING FOR CURRENT_USER SERVER random;
	CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;
	CREATE USER MAPPING FOR CURRENT_USER SERVER closed;
	CREATE DOMAIN small AS int CHECK (VALUE < 100);
	CREATE DOMAIN word AS text;
	CREATE DOMAIN words AS text[];
	CREATE DOMAIN exact AS numeric;
	CREATE TYPE mood AS ENUM ('sad', 'happy');
	CREATE TYPE pair AS (a int, b text);
	CREATE TABLE t (id int, title text, n bigint, d date GENERATED ALWAYS AS ('2020-01-01'::date + id) STORED, gone text);
	INSERT INTO t SELECT i, 'title ' || i, i FROM generate_series(1, 200) i;
	ALTER TABLE t DROP gone;
	CREATE INDEX t_title ON t USING bloomfilter (title);
	CREATE INDEX t_n ON t USING bloomfilter (n);
	CREATE INDEX t_d ON t USING bloomfilter (d);
	CREATE INDEX t_lower ON t USING bloomfilter (lower(title)) WITH (expected = 10, expansion = 2);
	CREATE INDEX t_part ON t USING bloomfilter (title) WHERE id < 50;
	CREATE INDEX t_broken ON t USING bloomfilter (id);
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 't_broken'::regclass;
	CREATE INDEX t_id ON t (id);
	CREATE TABLE numbers (n int);
	INSERT INTO numbers SELECT generate_series(1, 100);
	CREATE INDEX numbers_n ON numbers USING bloomfilter (n);
	CREATE UNLOGGED TABLE empty (title text);
	CREATE INDEX empty_title ON empty USING bloomfilter (title);
	CREATE TABLE plain (title text);
	CREATE TABLE pairs (a int, b text);
	INSERT INTO pairs SELECT i, 'title ' || i FROM generate_series(1, 100) i;
	CREATE INDEX pairs_a_b ON pairs USING bloomfilter (a, b);
	CREATE TABLE parts (title text) PARTITION BY LIST (title);
	CREATE TABLE part PARTITION OF parts DEFAULT;
	CREATE INDEX parts_title ON parts USING bloomfilter (title);
	CREATE TABLE bare (title text) PARTITION BY LIST (title);
	CREATE TABLE child () INHERITS (t);
	CREATE VIEW looked AS SELECT * FROM t;
	CREATE MATERIALIZED VIEW kept AS SELECT title FROM t;
	CREATE INDEX kept_title ON kept USING bloomfilter (title);
	CREATE SEQUENCE counter;
	CREATE FOREIGN TABLE foreign_table (title text) SERVER other;
	CREATE TABLE dropped ();
	CREATE ROLE nobody;
	GRANT SELECT ON numbers TO nobody;
	ANALYZE;
});
# What calls functions otherwise than a query does, and what they are not made for.
my $empty = $node->safe_psql('postgres', 'SELECT bf_create(100)');
$node->safe_psql('postgres', qq{
	CREATE AGGREGATE by_add(anycompatible) (SFUNC = bf_add, STYPE = bloomfilter, INITCOND = '$empty');
	CREATE AGGREGATE by_union(bloomfilter) (SFUNC = bf_union, STYPE = bloomfilter, INITCOND = '$empty', COMBINEFUNC = bf_union, PARALLEL = SAFE);
	CREATE FUNCTION by_sql(bloomfilter, anycompatible) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT bf_contains(\$1, \$2)';
	CREATE FUNCTION by_plpgsql(regclass, anycompatiblearray) RETURNS boolean[] LANGUAGE plpgsql AS 'BEGIN RETURN bf_live_contains_each(\$1, \$2); END';
	CREATE OPERATOR ~@ (LEFTARG = bloomfilter, RIGHTARG = anycompatible, FUNCTION = bf_contains, RESTRICT = matchingsel, JOIN = matchingjoinsel);
	ALTER EXTENSION bloomext ADD AGGREGATE by_add(anycompatible);
	ALTER EXTENSION bloomext ADD AGGREGATE by_union(bloomfilter);
	ALTER EXTENSION bloomext ADD FUNCTION by_sql;
	ALTER EXTENSION bloomext ADD FUNCTION by_plpgsql;
	ALTER EXTENSION bloomext ADD OPERATOR ~@ (bloomfilter, anycompatible);
});
$redis = undef if ($node->psql('postgres', "SELECT bf_redis_drop('cache', 'x')"))[2] =~ /Redis support is not available on this server/;
my $other_session = Workers::Psql->new($node->connstr('postgres'));
$other_session->run('CREATE TEMP TABLE theirs (title text); CREATE INDEX theirs_title ON theirs USING bloomfilter (title);');
my @oids = split /\n/, $node->safe_psql('postgres', q{
	SELECT oid FROM pg_class WHERE relname IN ('theirs', 'theirs_title', 'dropped') UNION ALL SELECT reltoastrelid FROM pg_class WHERE oid = 't'::regclass;
	DROP TABLE dropped});
# What not every server has.
my ($has_citext) = $node->psql('postgres', 'CREATE EXTENSION citext') == 0;
my ($has_collation) = $node->psql('postgres', q{CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE DOMAIN folded AS text COLLATE folding}) == 0;

# ---- Values ----

# Of types that elements are of, or are not, as text.
my %values = (
	text => [ 'a', '', 'a ', 'title 1', 'Title 1', "\xc3\xa9\xf0\x9f\x98\x80", '5', '{a,b}', "it's", 'x' x 3000 ], 'character varying' => [ 'a', 'b ', '' ], 'character(5)' => [ 'a', 'abcde', '' ], name => [ 'a', '', 'x' x 63 ], word => [ 'a', 'w' ],
	smallint => [ 0, 7, -1, 32767, -32768 ], integer => [ 0, 7, -1, 2147483647, -2147483648 ], bigint => [ 0, 7, -1, '9223372036854775807', '-9223372036854775808', 4294967296 ], small => [ 5, 99 ],
	bytea => [ '\x', '\x00', '\x00ff', '\x' . '61' x 3000 ], uuid => [ 'c0ffee00-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000' ],
	inet => [ '10.0.0.1', '10.0.0.1/8', '::', 'fe80::1/64' ], cidr => [ '10.0.0.0/8', '::/0' ], macaddr => ['08:00:2b:01:02:03'], date => [ '2020-02-02', 'infinity', '4714-11-24 BC', '5874897-12-31' ],
	timestamp => [ '1970-01-01 00:00:00', 'infinity', '-infinity', '294276-12-31 23:59:59.999999' ], timestamptz => [ '1970-01-01 00:00:00+00', 'infinity', '-infinity' ], boolean => [ 't', 'f' ], '"char"' => [ 'a', '' ], oid => [ 0, 1, 4294967295 ],
	# No elements.
	numeric => [ '1.50', 'NaN', '1e100', '0' ], real => [ '0.1', 'NaN', '-0' ], 'double precision' => [ '0.1', 'NaN', '-0', 'Infinity', '5e-324' ], json => [ '{}', '[1]' ], jsonb => [ '{"a": 1}', 'null' ], exact => ['1.0'], money => [1],
	xid => [ 0, 3, 4294967295 ], xid8 => [ 0, '18446744073709551615' ], cid => [1], tid => ['(0,1)'], box => ['(1,1),(0,0)'], point => ['(1,2)'], circle => ['<(1,2),3>'], 'bit(3)' => ['101'], pg_lsn => ['0/1'], tsvector => ['a b'], macaddr8 => ['08:00:2b:01:02:03:04:05'],
	interval => [ '1 hour', '0', '-1 day', '100000 years' ], time => ['12:00'], timetz => ['12:00+00'], int4range => [ '[1,2)', 'empty' ], mood => [ 'sad', 'happy' ], pair => [ '(1,a)', '(,)' ], words => [ '{a,b}', '{}' ], int2vector => ['1 2'], oidvector => ['1 2'], regclass => [ 'pg_class', 't' ],
	'integer[]' => [ '{1,2}', '{}' ], $has_citext ? (citext => [ 'a', 'A' ]) : (), $has_collation ? (folded => [ 'a', 'A' ]) : ());
my @element_types = sort keys %values;

sub quoted { my ($text) = @_; return "'" . $text =~ s/'/''/gr . "'"; }
sub value { my ($type) = @_; return quoted(any(@{ $values{$type} })) . "::$type"; }

# A row of all values, again and again, to take arguments from.
sub column { my ($type) = @_; return '"' . $type =~ s/"//gr . '"'; }
$node->safe_psql('postgres', 'CREATE TABLE vals AS SELECT i AS id, ' . join(', ',
		map { my $type = $_; "(ARRAY[" . join(', ', 'NULL', map { quoted($_) } @{ $values{$type} }) . "]::$type\[])[1 + i % @{[ 1 + @{ $values{$type} } ]}] AS " . column($type) } grep { !/\[\]$|words/ } @element_types) . q{,
	'{a,b}'::words AS words, ARRAY[i, NULL] AS "integer[]", ARRAY['a', i::text] AS "text[]", ARRAY[i, i]::bigint[] AS "bigint[]", bf_create(10 * i) + ('title ' || i) AS bloomfilter FROM generate_series(1, 24) i;
	ALTER TABLE vals SET (parallel_workers = 2); GRANT SELECT ON vals TO nobody; ANALYZE vals});

# What the next argument is to be: ordinary, or anything; and what the call's elements are.
our ($ordinary, $kind);
my %kinds = (
	text => sub { any("'title " . int(rand 9) . "'", "'a'") . '::text' },
	integer => sub { int(rand 300) . '' },
	bigint => sub { int(rand 300) . '::bigint' },
	bytea => sub { "'\\x0" . int(rand 9) . "'::bytea" },
	uuid => sub { "'c0ffee00-0000-0000-0000-00000000000" . int(rand 9) . "'::uuid" },
	date => sub { "'2020-01-0" . any(1 .. 9) . "'::date" });
sub among { my ($usual, @others) = @_; return any(@$usual, $ordinary ? () : @others); }

my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms parquet);

sub filter
{
	my $strategy = any(('guava') x 3, @strategies);
	my $filter = "bf_create(" . any(1, 10, 100, 1000) . ', ' . any(0.1, 0.03, 0.01) . ", '$strategy'" . (chance(0.2) ? ', expansion => ' . any(1, 2, 4) : chance(0.2) ? ', counting => true' : '') . ')';
	return $filter . (chance(0.8) ? ' + ' . $kinds{$kind}->() : '') . (chance(0.3) ? ' + ' . $kinds{$kind}->() : '');
}

# Another filter: of other elements, of another make, or a giant.
sub other_filter
{
	local $kind = any(sort keys %kinds);
	return any(filter(), filter(), q(bf_create(10, 0.1, 'guava', 'utf16')), q(bf_create_bits(64, 255, 'tale2009')), 'bf_create_bits(1, 1, \'redisson\')', 'bf_create(0)', 'bf_create(1000000, 0.5)', 'bf_create_bits(64, 3) + ' . value(any(@element_types)),
		'bf_import(bf_export(' . filter() . "), 'guava', '" . any(qw(utf8 utf16 bytes int long)) . "')", 'bf_import_bits(' . damaged() . ", 'redis', 64, 3)", 'bf_add_all(bf_create(1, 0.03, expansion => 2), ARRAY(SELECT generate_series(1, 500)))',
		'(' . filter() . ' | ' . filter() . ')', 'bf_plain(' . filter() . ')');
}

# Exported bytes, with something wrong.
sub damaged
{
	my $bytes = chance(0.2) ? any(q('\x'::bytea), q('\x00'::bytea), q('\x010500000001ffffffffffffffff'::bytea), "decode(repeat('00', 5000), 'hex')") : 'bf_export(' . filter() . ')';
	my $at = int(rand(chance(0.7) ? 20 : 100));
	return any($bytes, "overlay($bytes placing '\\x" . any('ff', '00', '7fffffff', '80000000') . "'::bytea from 1 + $at)", "substr($bytes, 1, $at)", "$bytes || '\\x00'::bytea", "bloomfilter_send(" . filter() . ')');
}

sub array
{
	my ($type, @items) = @_;
	my $one = any(@items);
	return any((map { 'ARRAY[' . join(', ', map { chance(0.1) ? 'NULL' : any(@items) } 1 .. $_) . "]::$type\[]" } 1, 2, 5, 40), "'{}'::$type\[]", "NULL::$type\[]", "ARRAY[NULL, NULL]::$type\[]", "ARRAY[[$one, NULL], [$one, $one]]::$type\[]",
		"array_fill($one, ARRAY[2], ARRAY[-5])", "array_fill($one, ARRAY[2, 0, 2])", "array_fill($one, ARRAY[1, 3, 2], ARRAY[2147483640, 1, 0])", "(array_fill($one, ARRAY[3000]))");
}

# Elements of several columns.
sub row
{
	return any("ROW(1, 'title 1')", 'ROW(' . join(', ', map { any(value(any(@element_types)), "'a'", 'NULL') } 1 .. any(0, 1, 2, 2, 3, 32, 33)) . ')', value('pair'));
}

# Sizes between 30 MB and 1 GB are a matter of other tests.
my @integers = qw(0 1 -1 2 7 10 63 64 65 255 256 1000 32768 65536 1000000 2147483647 -2147483648);
my @bigints = ((grep { $_ < 2147483647 } @integers), '8589934592', '1099511627776', '281474976710656', '9000000000000000000', '9223372036854775807', "'-9223372036854775808'");
my @floats = map { "'$_'" } qw(NaN Infinity -Infinity 0 -0 5e-324 1e-308 1e-300 1e-45 1e-15 1e-5 0.5 0.99 0.999 0.999999 0.999999999999 1 1.0000001 -1 1e308);
my @names = ((map { "'$_'" } @strategies, qw(utf8 utf16 bytes int long redis bitset bitmap growing spark bitsandblooms parquet), '', ' ', 'GUAVA', 'x' x 70, 'guava;shards=2', 'guava;shards=2/1', 'guava;shards=2/2', 'bitmap;shards=1025', 'guava;shards=0/0', ';', ';shards=', "\xc3\xa9", '%s%n'), "repeat('x', 100000)");

# By parameters' names, and else by types.
sub by_name { my @usual = map { "'$_'" } @_; return sub { among(\@usual, @names) } }
my %named = (
	strategy => by_name(@strategies),
	funnel => sub { among([ 'NULL', "'utf8'" ], @names) },
	layout => sub { among([ 'NULL', 'NULL', map { "'$_'" } qw(guava growing redisson bitmap redisbloom window) ], @names) },
	format => by_name(qw(guava redis redisbloom spark parquet)),
	key => sub { among([ map { "'k_$_'" } $kind, $kind, 'missing' ], "''", "'list'", "'string'", "'{a}x'", "'k_text:x'", "repeat('x', 100000)") },
	server => sub { among(["'cache'"], map { "'$_'" } qw(cache random random random nowhere closed unmapped other missing), '') },
	col => sub { among([ $kind eq 'text' ? "'title'" : $kind eq 'date' ? "'d'" : "'n'" ], map { "'$_'" } qw(id d gone ctid tableoid missing t_title t_lower t_part t_broken T_TITLE), '', 'x' x 63, '........pg.dropped.5........') },
	expansion => sub { among([ 0, 0, 1, 2, 4 ], @integers) },
	expected => sub { among([ 1, 10, 1000 ], @bigints) },
	fpp => sub { among([ 0.1, 0.03, 0.01 ], @floats) },
	bits => sub { among([ 64, 128, 1000 ], grep { $_ ne 8589934592 } @bigints) },
	hashes => sub { among([ 1, 3 ], @integers) },
	shards => sub { among([ 1, 8 ], @integers) },
	layer => sub { among([0], @integers) },
	span => sub { among([ 'NULL', 'NULL', "'1 day'" ], map { "'$_'" } '1 s', '30 s', '1 ms', '0', '-1 day', '30000 years', '-178000000 years') },
	slices => sub { among([ 'NULL', 'NULL', 1, 30 ], @integers) },
	sample => sub { among([ 1, 0.5 ], @floats) },
	probes => sub { among([ 1, 100 ], @integers) },
	buckets => sub { among([ 5, 10 ], @integers) });
my %typed = (
	bloomfilter => sub { among([ filter(), filter(), filter() ], other_filter(), other_filter()) },
	bytea => sub { among([ 'bf_export(' . filter() . ')' ], map { damaged() } 1 .. 4) },
	cstring => sub { 'textout(' . among([ '(' . filter() . ')::text' ], "'\\x6266'", "''", 'encode(' . damaged() . ", 'base64')", "'base64:' || encode(bloomfilter_send(" . filter() . "), 'base64')", '(' . damaged() . ')::text') . ')' },
	regclass => sub { among([ map { "'$_'" } $kind eq 'integer' ? qw(numbers numbers_n) : $kind eq 'date' ? 't_d' : $kind eq 'bigint' ? 't_n' : qw(t_title parts empty) ], map { "'$_'" } qw(t t_n t_lower t_part t_broken t_id empty_title plain pairs pairs pairs_a_b parts_title part part_title_idx bare child looked kept kept_title counter foreign_table pair vals pg_class pg_class_oid_index bf_live_filters 0 4294967295), @oids) },
	'text[]' => sub { among([ q('{host=127.0.0.1}'), q('{}') ], q('{host=}'), q('{port=70000,host=x}'), q('{x}'), q('{=}'), q('{NULL}'), q('{{host=a},{port=1}}'), q('{connect_timeout=0,command_timeout=-1,db=x}'), q('[5:5]={host=a}'), q('{password=x,username=}')) },
	oid => sub { among([ 1417, 1418 ], 0, 4294967295) },
	interval => sub { among([ 'NULL', "'1 hour'" ], map { "'$_'" } '1 ms', '0', '1 us', '-1 day', '10 years', '100000 years', '-178000000 years') },
	boolean => sub { any('true', 'false') },
	integer => sub { among([ 1, 2, 10 ], @integers) },
	bigint => sub { among([ 1, 100 ], @bigints) },
	'double precision' => sub { among([ 0.1, 0.03 ], @floats) },
	name => sub { among(["'a'"], "''") },
	text => sub { among(["'a'"], @names) },
	anycompatible => sub { among([ map { $kinds{$kind}->() } 1 .. 3 ], map({ value(any(@element_types)) } 1 .. 6), row(), map { quoted($_) } '5', 'a') },
	'"any"' => sub { among([ map { $kinds{$kind}->() } 1 .. 3 ], map({ value(any(@element_types)) } 1 .. 6), row(), array($kind, $kinds{$kind}->()), filter(), quoted('a')) },
	anycompatiblearray => sub {
		return array($kind, map { $kinds{$kind}->() } 1 .. 3) if $ordinary || chance(0.3);
		my $type = any(grep { !/\[\]/ } @element_types);
		return any(array($type, value($type), value($type)), array($type, value($type)), 'ARRAY[' . row() . ', ' . row() . ']', array('pair', value('pair')), q('{a,b}'), q('[3:4]={a,NULL}'), q('[2147483645:2147483646]={1,2}'::int[]), value('words'), value('int2vector'), value('oidvector'), 'ARRAY(SELECT i FROM generate_series(1, 3000) i)');
	});
$typed{$_} = do { my $type = $_; sub { among([ map { $kinds{$type} ? $kinds{$type}->() : value($type) } 1 .. 3 ], value($type)) } } for qw(uuid "char" smallint);

# ---- Calls ----

# Every function, aggregate, operator and cast that can be called, with what it takes.
sub callables
{
	my @rows = map { [ split /\t/, $_, -1 ] } split /\n/, $node->safe_psql('postgres', q{
		WITH own AS (SELECT classid, objid FROM pg_depend JOIN pg_extension e ON refclassid = 'pg_extension'::regclass AND refobjid = e.oid AND extname LIKE 'bloomext%' WHERE deptype = 'e'),
		made AS (
			SELECT p.oid::regprocedure::text AS id, p.prokind::text AS kind, p.proretset OR p.prorettype = 'record'::regtype AS rows, p.prorettype, p.proargtypes::oid[] AS types, p.pronargdefaults AS defaults, p.proargnames AS names, p.proname AS form
			FROM pg_proc p JOIN own ON classid = 'pg_proc'::regclass AND objid = oid
			UNION ALL SELECT o.oid::regoperator::text, 'o', false, oprresult, array_remove(ARRAY[oprleft, oprright], 0), 0, NULL, oprname
			FROM pg_operator o JOIN own ON classid = 'pg_operator'::regclass AND objid = oid
			UNION ALL SELECT pg_describe_object(classid, objid, 0), 'c', false, casttarget, ARRAY[castsource], 0, NULL, format_type(casttarget, NULL)
			FROM pg_cast c JOIN own ON classid = 'pg_cast'::regclass AND objid = oid)
		SELECT array_to_string(ARRAY[id, kind, rows::text, (prorettype = 'boolean'::regtype)::text, (SELECT string_agg(format_type(t, NULL), ';' ORDER BY n) FROM unnest(types) WITH ORDINALITY a(t, n)), defaults::text, array_to_string(names, ';'), form, ('internal'::regtype = ANY (types || prorettype))::text], E'\\t', '') FROM made ORDER BY id});
	my ($number, @can, @internal) = (0);
	foreach my $row (@rows)
	{
		my %c;
		@c{qw(id kind rows boolean types defaults names form internal)} = @$row;
		$c{$_} = [ split /;/, $c{$_} ] for qw(types names);
		$c{$_} = $c{$_} eq 'true' for qw(rows boolean internal);
		$c{number} = ++$number;
		push @{ $c{internal} ? \@internal : \@can }, \%c;
	}
	return (\@can, [ map { $_->{id} } @internal ]);
}

sub form
{
	my ($c, @arguments) = @_;
	return $c->{kind} eq 'o' ? (@arguments == 1 ? "$c->{form} $arguments[0]" : "$arguments[0] $c->{form} $arguments[1]") : $c->{kind} eq 'c' ? "CAST($arguments[0] AS $c->{form})" : "$c->{form}(" . join(', ', @arguments) . ')';
}

# Types of the table's columns that can be an argument.
my %columns = ((map { $_ => [ grep { $_ ne 'words' } @element_types ] } 'anycompatible', '"any"'), anycompatiblearray => [ 'integer[]', 'text[]', 'bigint[]', 'words', 'int2vector' ], map { $_ => [$_] } 'bloomfilter', 'text[]', grep { !/\[\]/ } @element_types);

# Arguments, and their types where they are parameters.
sub arguments
{
	my ($c, $how) = @_;
	my @types = @{ $c->{types} };
	my @names = @{ $c->{names} };
	my $most = any(qw(ordinary ordinary but_one but_one but_one any));

	# A VARIADIC "any" takes as many as there are.
	@types = map { $_ eq '"any"' ? ($_) x ($most eq 'any' ? any(0, 1, 2, 32, 33) : any(2, 3)) : $_ } @types;
	my $odd = int(rand(@types || 1));
	my (@arguments, @parameters);

	$kind = any('text', 'text', sort keys %kinds);
	splice @types, @types - int(rand($c->{defaults} + 1)) if $c->{defaults};
	foreach my $i (0 .. $#types)
	{
		my $type = $types[$i];
		$ordinary = $most eq 'ordinary' || $most eq 'but_one' && $i != $odd;
		push @parameters, $type;
		my $from = $columns{$type};
		if ($how eq 'columns' && $from && chance($type =~ /any|filter/ ? 0.7 : 0.2))
		{
			push @arguments, 'v.' . column($ordinary ? (first { $_ =~ /^\Q$kind\E(?:\[\])?$/ } @$from) // any(@$from) : any(@$from));
		}
		elsif ($how eq 'parameters' && $type =~ /any/)
		{
			$parameters[-1] = $ordinary ? $kind : any(grep { !/\[\]/ } @element_types);
			$parameters[-1] .= '[]' if $type =~ /array/;
			push @arguments, !$ordinary && chance(0.1) ? 'NULL' : $parameters[-1] =~ /(.*)\[\]$/ ? array($1, $ordinary ? $kinds{$kind}->() : value($1)) : $ordinary ? $kinds{$kind}->() : value($parameters[-1]);
		}
		else
		{
			my $argument = !$ordinary && chance(0.1) ? 'NULL' : ($named{ $names[$i] // '' } // $typed{$type})->();
			push @arguments, $type =~ /any/ || $argument =~ /^'/ && chance(0.3) ? $argument : "($argument)::$type";
			$arguments[-1] = "$names[$i] => $arguments[-1]" if $how eq 'constants' && $names[$i] && $i + 1 == @types && $c->{kind} eq 'f' && chance(0.2);
		}
	}
	$arguments[-1] = 'VARIADIC ' . $typed{anycompatiblearray}->() if @types && $types[-1] eq '"any"' && $how ne 'parameters' && $most eq 'any' && chance(0.2);
	return (\@arguments, \@parameters);
}

sub frame
{
	my @ends = ('UNBOUNDED PRECEDING', '2 PRECEDING', 'CURRENT ROW', '2 FOLLOWING', 'UNBOUNDED FOLLOWING');
	my $start = int(rand(4));
	my $end = $start + int(rand(5 - $start));
	$end = 2 if $end == 0;
	return 'OVER (' . any('', 'PARTITION BY v.id % 5 ') . 'ORDER BY v.id' . any('', ' ' . any(qw(ROWS RANGE GROUPS)) . " BETWEEN $ends[$start] AND $ends[$end]" . any('', ' EXCLUDE TIES', ' EXCLUDE CURRENT ROW', ' EXCLUDE GROUP')) . ')';
}

# A statement that gives the callable's number and how many values there were.
sub call
{
	my ($c) = @_;
	return trigger($c) if $c->{form} eq 'bf_only_grows' && chance(0.9);
	my $is_group = $c->{kind} =~ /[aw]/;
	my $how = $is_group ? any(qw(columns columns constants)) : any(qw(constants constants columns parameters));
	my ($arguments, $parameters) = arguments($c, $how);
	my $count = "SELECT $c->{number}, count(x) FROM";
	my $rows = 'FROM vals v' . any('', '', ', generate_series(1, 30)', ' WHERE v.id < 3', ' WHERE false');

	if ($is_group)
	{
		if ($c->{kind} eq 'w' || chance(0.3))
		{
			$rows =~ s/, generate_series.*//; # each row has a frame
			return "$count (SELECT " . form($c, @$arguments) . ' ' . frame() . " AS x $rows) s;";
		}
		$arguments->[0] = "DISTINCT $arguments->[0]" if my $distinct = chance(0.2);
		$arguments->[-1] .= ' ORDER BY ' . any(1, 'v.id', $distinct ? $arguments->[0] =~ s/DISTINCT//r : 'v.text DESC') if chance(0.2);
		return "$count (SELECT " . form($c, @$arguments) . any('', ' FILTER (WHERE v.id % 2 = 0)') . " AS x $rows " . any('', '', 'GROUP BY v.id % 5', 'GROUP BY ROLLUP (v.id % 3, v.boolean)') . ') s;';
	}
	if ($how eq 'parameters')
	{
		my $expression = form($c, map { "\$$_" } 1 .. @$arguments);
		return "PREPARE p" . (@$parameters ? '(' . join(', ', @$parameters) . ')' : '') . " AS $count (SELECT $expression AS x OFFSET 0) s; EXECUTE p" . (@$arguments ? '(' . join(', ', @$arguments) . ')' : '') . '; DEALLOCATE p;';
	}
	my $expression = form($c, @$arguments);
	my $values = $how eq 'columns' ? 'vals v' : '';
	if ($c->{boolean} && chance(0.3))
	{
		# Planned, too: by estimates, statistics, joins.
		return "SELECT 0, count(*) FROM " . any('vals v', 'vals v JOIN vals w ON v.id = w.id', 'vals v LEFT JOIN t USING (id)') . " WHERE " . any('', 'NOT ') . "($expression)" . any('', ' AND v.id > 2', ' OR v.id = 1') . ';';
	}
	if ($c->{kind} eq 'o' && chance(0.2))
	{
		my $each = array($parameters->[1] =~ s/any.*/$kind/r, $arguments->[1]);
		return "SELECT 0, count(*) FROM vals v WHERE $arguments->[0] $c->{form} " . any('ANY', 'ALL') . " ($each);";
	}
	if ($c->{rows} && chance(0.5))
	{
		# Where rows have no type, PostgreSQL wants to be told their columns.
		my $as = $c->{form} =~ /new$/ && $expression =~ /\bARRAY\[ROW\(/ ? 'AS x (a integer, b text)' : any('', 'WITH ORDINALITY ') . 'AS x';
		return "$count " . ($values ? "$values, " : '') . "$expression $as;";
	}
	return "$count (SELECT $expression AS x " . ($values ? $rows : '') . any(' OFFSET 0', ' LIMIT 1') . ') s;';
}

# bf_only_grows is called by triggers.
sub trigger
{
	my ($c) = @_;
	$kind = 'text';
	$ordinary = chance(0.3);
	my $row = $ordinary ? 'ROW' : any(qw(ROW ROW STATEMENT));
	my $when = $ordinary ? any('BEFORE UPDATE', 'AFTER UPDATE') : any('BEFORE UPDATE', 'AFTER UPDATE', 'BEFORE UPDATE OF f', 'BEFORE UPDATE OR INSERT', 'AFTER DELETE', 'BEFORE INSERT OR DELETE OR UPDATE', $row eq 'ROW' ? () : 'BEFORE TRUNCATE');
	my @given = map { among([ "'f'", "'g'" ], $names[0], quoted('x' x 3000), "'rebuild'", "'x'", "'gone'", "'e'", 'f', 1, "''", "'ctid'", "'made'") } 1 .. any(0, 1, 1, 2, 3);
	my ($old, $new) = map { among([ filter() ], other_filter(), 'NULL') } 1, 2;
	$new = any($new, "bf_add(f, 'x')", 'f', 'g');
	return "BEGIN; CREATE TEMP TABLE guarded (f bloomfilter, e text, gone bloomfilter, g bloomfilter, made bloomfilter GENERATED ALWAYS AS (bf_add(f, 'x')) STORED); ALTER TABLE guarded DROP gone; INSERT INTO guarded (f, g) VALUES ($old, NULL), (NULL, $old); " .
	  "CREATE TRIGGER guard $when ON guarded FOR EACH $row EXECUTE FUNCTION bf_only_grows(" . join(', ', @given) . "); UPDATE guarded SET f = $new, e = 'x'; INSERT INTO guarded DEFAULT VALUES; DELETE FROM guarded WHERE g IS NULL; TRUNCATE guarded; SELECT $c->{number}, 1; ROLLBACK;";
}

# ---- Errors that are meant ----

# Those that doc/reference.md has, but for damage; and what PostgreSQL says of such calls.
my ($listed) = slurp_file("$FindBin::RealBin/../../../doc/reference.md") =~ /^\| SQLSTATE \|[^\n]*\n((?:\|[^\n]*\n)+)/m;
my %meant = map { $_ => 1 } grep { !/^XX/ } map { /`(\w{5})`/g } map { /^\|([^|]*)\|/ } split /\n/, $listed;
cmp_ok(scalar keys %meant, '>', 20, 'SQLSTATEs on the page');
$meant{$_} = 1 for
  '22003', # a value that its type does not have
  '22007', '22008', '22015', # nor a date, or an interval
  '2202E', '22P02', # arrays of unlike parts
  '25006', # a table, where one may only read
  '25P02', '26000', # what follows an error
  '42725', '42846', '42P18', # no function for such types, no cast
  '42P10', # DISTINCT and another ORDER BY
  '42P21', '42P22'; # collations that conflict
my $meant = join '|', sort keys %meant;

# ---- Run ----

my %values_of;
sub batch
{
	my ($calls, $startup) = @_;
	my @given = ('\o', 'SET bloomext.overfull_notice = ' . any('on', 'off') . ';', 'SET plan_cache_mode = ' . any('auto', 'force_generic_plan') . ';');
	if ($redis)
	{
		$redis->cli('FLUSHALL');
		$redis->cli('LPUSH', 'list', 1);
		$redis->cli('SET', 'string', 'x' x 100);
		push @given, map { "SELECT bf_redis_create('cache', 'k_$_', 100, 0.01, '" . any(qw(guava guava redisson magnuss redisbloom cassandra)) . "', " . any('expansion => 0', 'expansion => 0', 'expansion => 1', 'expansion => 2', "span => '1 day'") . ') FROM generate_series(1, 1);' } sort keys %kinds;
	}
	my @wrong = $server->run($meant, [ @given, @$calls ], $startup);
	$values_of{$1} += $2 while $server->{output} =~ /^(\d+)\|([1-9]\d*)$/gm;
	return @wrong;
}

# Show a few of what is wrong, and count all.
sub note_wrong { diag $_ for grep { $wrong++ < 8 } @_; return; }

my $debug = $node->safe_psql('postgres', 'SHOW server_version_num') < 160000 ? 'force_parallel_mode' : 'debug_parallel_query';
my @startups = ('', '-c default_transaction_read_only=on', '-c default_transaction_isolation=serializable', '-c role=nobody', '-c parallel_setup_cost=0 -c parallel_tuple_cost=0 -c min_parallel_table_scan_size=0', "-c $debug=on", '-c enable_hashagg=off -c enable_hashjoin=off -c enable_nestloop=off');

# Functions with a fault are found, whatever extension's: by an internal error, and by one
# that nobody meant, each at one argument of many.
$node->safe_psql('postgres', q{
	CREATE FUNCTION planted_internal(bloomfilter, expected bigint) RETURNS bigint LANGUAGE plpgsql AS
		$$ BEGIN IF expected = 281474976710656 THEN RAISE 'cache lookup failed' USING ERRCODE = 'XX000'; END IF; RETURN 1; END $$;
	CREATE FUNCTION planted_careless(anycompatible) RETURNS int LANGUAGE plpgsql AS
		$$ BEGIN RETURN 1 / CASE WHEN pg_typeof($1) IN ('xid'::regtype, 'box'::regtype, 'pair'::regtype, 'money'::regtype) THEN 0 ELSE 1 END; END $$;
	ALTER EXTENSION bloomext ADD FUNCTION planted_internal;
	ALTER EXTENSION bloomext ADD FUNCTION planted_careless;
});
{
	my ($can) = callables();
	my @planted = grep { $_->{form} =~ /^planted/ } @$can;
	my @found = batch([ map { call($planted[ $_ % 2 ]) } 1 .. 2000 ]);
	cmp_ok(scalar(grep { /^XX000: .*planted_internal/ } @found), '>', 0, 'an internal error is found');
	cmp_ok(scalar(grep { /^22012: .*planted_careless/ } @found), '>', 0, 'one that is not meant is found');
	is(scalar(grep { !/^XX000: .*planted_internal|^22012: .*planted_careless/ } @found), 0, 'and nothing else') or diag @found;
}
$node->safe_psql('postgres', q{
	ALTER EXTENSION bloomext DROP FUNCTION planted_internal;
	ALTER EXTENSION bloomext DROP FUNCTION planted_careless;
	DROP FUNCTION planted_internal, planted_careless;
});
%values_of = ();
$server->{states} = {};

my ($can, $internal) = callables();
my %unknown = map { $_ => 1 } grep { !$typed{$_} } map { @{ $_->{types} } } @$can;
is(join(', ', sort keys %unknown), '', 'all types of arguments are known');
cmp_ok(scalar @$can, '>=', 90, 'can be called: ' . @$can);
note "not called from SQL, for an argument or a result is internal: @$internal";

# An array whose element type nothing tells; and what every session sees.
note_wrong(batch([ 'SELECT count(x) FROM (SELECT bf_contains_all(bf_create(10), most_common_vals) AS x FROM pg_stats) s;', 'SELECT count(*) FROM bf_live_filters;' ]));
for (my $end = time + $seconds; time < $end && $wrong < 20;)
{
	note_wrong(batch([ map { call($_) } (@$can) x 4 ], any(@startups)));
}
# Some need more luck.
sub without_value { return grep { !$values_of{ $_->{number} } && ($redis || $_->{id} !~ /bf_(?:redis|fetch|mirror|live_mirror)/) } @$can; }
for (1 .. 10)
{
	my @rest = without_value() or last;
	note_wrong(batch([ map { call($_) } (@rest) x min(200, 10 + 400 / @rest) ]));
}
is($wrong, 0, 'no report, no crash, no error that is not meant');
is(join("\n", map { $_->{id} } without_value()), '', 'everything gave a value');
# Most of them got to where something can go wrong.
cmp_ok($server->{statements}, '>', 3 * @$can, 'statements');
diag $server->summary;
undef $other_session;
$node->stop;
done_testing();
