# clients: programs that ask filters in Redis, in five languages, answer as SQL does, of
# every kind of elements, layout and strategy that they know, false positives included;
# they follow a filter that is replaced by another one, by whomever they are shared, even
# between two of their commands, and windows of time as these turn; and where there is no
# filter, or one that they do not know, they do not say no.
# The programs of clients/*/README.md print what it shows, by the account that
# clients/README.md names.
use strict;
use warnings;

use FindBin;
use IO::Select;
use IO::Socket::INET;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;

use Documents qw(blocks run_blocks);
use Languages qw(python node go rust java_of output_of);
use RedisServer;
use RedisTest qw(start_postgres sql);
use VectorKit qw(kit test_runner);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new(port => RedisServer::free_port());
my $node = start_postgres();

# Each reader beside the program that asks by it and that of its page, which is called
# titles.
my $root = "$FindBin::RealBin/../../..";
my $page = 'clients/README.md';
my $built = PostgreSQL::Test::Utils::tempdir();
my %asks = (Python => 'python/ask.py', Node => 'node/ask.js', Go => 'go/ask/ask.go', Rust => 'rust/examples/ask.rs', Java => 'java/src/main/java/Ask.java');
my %titles = map { $_ => $asks{$_} =~ s/ask/titles/gr =~ s/Ask/Titles/r } keys %asks;
my %programs = map { $_ => grep { $_->{shown} } blocks("clients/\L$_\E/README.md") } keys %asks;
system("cp -R '$root/clients'/* '$built' && mkdir -p '$built/go/ask' '$built/go/titles' '$built/rust/examples' '$built/node_modules' && ln -s ../node '$built/node_modules/bloomext-reader'") == 0
  or die 'cannot copy the readers';
system("cd '$root/test/interop/readers' && cp forms.py shared.py '$built/python' && cp forms.js '$built/node' && cp Shared.java '$built/java/src/main/java'") == 0
  or die 'cannot copy programs';
my $kit = kit('test/interop/readers/kit.*', 'test/interop/readers/Kit.java');
system("cd '$kit' && mkdir '$built/go/kit' && cp vectors.go kit.go '$built/go/kit' && cp vectors.rs '$built/rust' && cp kit.rs '$built/rust/examples'") == 0
  or die 'cannot copy the kit';
foreach my $language (keys %asks)
{
	my ($name) = $asks{$language} =~ /(ask\.\w+)$/i;
	system("cp '$root/test/interop/readers/$name' '$built/$asks{$language}'") == 0 or die "cannot copy $name";
	append_to_file("$built/$titles{$language}", $programs{$language}{text});
}
my %commands = (
	Python => sub { python("$built/python/$_[0].py", 'redis', 'mmh3', 'xxhash') },
	Node => sub { node("$built/node/$_[0].js", "$root/clients/node", 'redis') },
	Go => sub { go("$built/go", "./$_[0]", "$built/go-$_[0]") },
	Rust => sub { rust("$built/rust", 'example', $_[0], "$built/target") },
	Java => sub { java_of(ucfirst $_[0], "$built/java") });

# Elements of each kind, those of even numbers in the filter.
sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;

	CREATE TABLE text_elements AS SELECT i, CASE i WHEN 2 THEN '' WHEN 4 THEN repeat('长 ', 30000) ELSE
			left(repeat((ARRAY['文章标题', '🎉👩‍👩‍👧', 'عنوان', 'e' || chr(769), 'Title ', chr(8232) || chr(133) || chr(13), '한국어', ' '])[i % 8 + 1], 20), i % 61) || i / 2
			|| CASE WHEN i % 100 = 0 THEN chr(13) ELSE '' END END AS element
		FROM generate_series(1, 20000) AS i;
	CREATE TABLE bigint_elements AS SELECT row_number() OVER (ORDER BY n, s) AS i, s * (2::numeric ^ n + d)::bigint AS element
		FROM generate_series(0, 62) AS n, generate_series(-9, 9) AS d, unnest(ARRAY[1, -1]) AS s
		UNION ALL VALUES (-1, (-2^63)::bigint), (-2, 9223372036854775807), (-4, 0);
	CREATE TABLE integer_elements AS SELECT i, element::int FROM bigint_elements WHERE element BETWEEN -2147483648 AND 2147483647;
	CREATE TABLE bytea_elements AS SELECT i, CASE WHEN i < 256 THEN set_byte('\\x00', 0, i)
			ELSE substr(sha512(i::text::bytea), 1, i % 64) END AS element
		FROM generate_series(0, 2000) AS i
		UNION ALL VALUES (-1, ''::bytea), (-2, '\\x'), (-3, '\\x0000'), (-4, decode(repeat('ff', 70000), 'hex'));
	CREATE TABLE uuid_elements AS SELECT i, md5(i::text)::uuid AS element FROM generate_series(1, 2000) AS i
		UNION ALL VALUES (-1, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid), (-2, '00000000-0000-0000-0000-000000000000');
});

# Answers in SQL, a digit for each, as programs print them.
sub digits { return sql($_[0]) =~ s/\n//gr }

my @kinds = qw(text integer bigint uuid bytea);
my %answers;
foreach my $kind (@kinds)
{
	my $expected = sql("SELECT count(*) / 2 FROM ${kind}_elements");
	my $line = $kind eq 'bytea' ? "encode(element, 'hex')" : 'element';
	sql("CREATE TABLE ${kind}_filter AS SELECT bf_agg(element, $expected, 0.03) FILTER (WHERE i % 2 = 0) AS f FROM ${kind}_elements;
		 SELECT bf_mirror(f, 'cache', '$kind') FROM ${kind}_filter");
	append_to_file("$built/$kind", sql("SELECT $line FROM ${kind}_elements ORDER BY i") . "\n");
	$answers{$kind} = digits("SELECT bf_contains(f, element)::int FROM ${kind}_elements, ${kind}_filter ORDER BY i");
}

# Of two columns, mirrored from a live filter; a row that is not there has a text that is.
sql(q{
	CREATE TABLE row_elements AS SELECT i, element AS a, ('{0, -1, -9223372036854775807, 2147483648}'::bigint[] || ARRAY[-i, i, i * 4294967297])[i % 7 + 1] - i % 2 AS b
		FROM (SELECT i, CASE i % 2 WHEN 0 THEN element ELSE lag(element) OVER (ORDER BY i) END AS element FROM text_elements) AS e WHERE i > 1;
	CREATE TABLE ids_elements AS SELECT u.i, u.element AS a, b.element AS b FROM uuid_elements AS u JOIN bytea_elements AS b USING (i);
});
foreach my $rows ([ 'row', "'t' || a || chr(9) || 'n' || b" ], [ 'ids', "'u' || a || chr(9) || 'b' || encode(b, 'hex')" ])
{
	my ($key, $line) = @$rows;
	sql("CREATE TABLE $key AS SELECT a, b FROM ${key}_elements WHERE i % 2 = 0;
		 CREATE INDEX ON $key USING bloomfilter (a, b) WITH (expected = 10000, fpp = 0.03);
		 SELECT bf_live_mirror('$key', 'cache', '$key')");
	append_to_file("$built/$key", sql("SELECT $line FROM ${key}_elements ORDER BY i") . "\n");
	$answers{$key} = digits("SELECT bf_live_contains('$key', ROW(a, b))::int FROM ${key}_elements ORDER BY i");
	cmp_ok(scalar(() = $answers{$key} =~ /0/g), '>', ($key eq 'row' ? 9000 : 900), "$key: most that are not there are denied");
}

# In layout bitmap, of both strategies; parquet of all kinds.
sql(q{
	CREATE TABLE bitmap_filter AS SELECT bf_agg(element, 10000, 0.03) FILTER (WHERE i % 2 = 0) AS f FROM text_elements;
	SELECT bf_mirror(f, 'cache', 'bitmap-guava', 'bitmap') FROM bitmap_filter;
	DROP INDEX row_a_b_idx;
	CREATE INDEX ON row USING bloomfilter (a, b) WITH (expected = 10000, fpp = 0.03, strategy = parquet);
	SELECT bf_live_mirror('row', 'cache', 'bitmap-row')});
my @bitmaps = ([ 'bitmap-guava', 'text', 'SELECT bf_contains(f, element)::int FROM text_elements, bitmap_filter ORDER BY i' ],
	[ 'bitmap-row', 'row', q{SELECT bf_live_contains('row', ROW(a, b))::int FROM row_elements ORDER BY i} ]);
foreach my $kind (@kinds)
{
	my $expected = sql("SELECT count(*) / 2 FROM ${kind}_elements");
	sql("CREATE TABLE ${kind}_parquet AS SELECT bf_agg(element, $expected, 0.03, 'parquet') FILTER (WHERE i % 2 = 0) AS f FROM ${kind}_elements;
		 SELECT bf_mirror(f, 'cache', 'bitmap-$kind') FROM ${kind}_parquet");
	push @bitmaps, [ "bitmap-$kind", $kind, "SELECT bf_contains(f, element)::int FROM ${kind}_elements, ${kind}_parquet ORDER BY i" ];
}
$_->[2] = digits($_->[2]) foreach @bitmaps;
is($redis->cli('HGET', "{$_->[0]}:bloomext", 'layout'), 'bitmap', "$_->[0]: its layout") foreach @bitmaps;

# In layout guava, of which nothing proves the kind: strings without a hash, and strings that
# were put at another key, whose hash is about one of the same shape.  So large that there are
# no false positives.
sql(q{
	CREATE TABLE char_elements AS SELECT i, 'Title ' || i || repeat(' ', i % 7 + 1) AS element FROM generate_series(1, 20000) AS i;
	CREATE TABLE of_unknown_kind AS
		SELECT 'utf8' AS kind, bf_agg(element, 10000, 1e-9) AS f FROM text_elements WHERE i % 2 = 0
		UNION ALL SELECT 'utf16', bf_agg_into(bf_create(10000, 1e-9, funnel => 'utf16'), element) FROM text_elements WHERE i % 2 = 0
		UNION ALL SELECT 'char', bf_agg(element::char(20), 10000, 1e-9) FROM char_elements WHERE i % 2 = 0
		UNION ALL SELECT 'words', bf_agg(element, 600, 1e-9) FROM text_elements WHERE i % 20 = 0
		UNION ALL SELECT 'int', bf_agg(element, 600, 1e-9) FROM integer_elements WHERE i % 2 = 0
		UNION ALL SELECT 'long', bf_agg(element::bigint, 600, 1e-9) FROM integer_elements WHERE i % 2 = 0;
	SELECT bf_mirror(f, 'cache', 'hash-' || kind), bf_mirror(f, 'cache', 'no-hash-' || kind) FROM of_unknown_kind;
	CREATE TABLE another_kind AS SELECT * FROM (VALUES ('utf16', 'utf8'), ('char', 'utf8'), ('long', 'int'), ('int', 'long'), ('long', 'words')) AS v (kind, hash);
	SELECT bf_mirror(f, 'cache', hash || '-hash-' || kind) FROM another_kind JOIN of_unknown_kind USING (kind)});
append_to_file("$built/char", sql('SELECT element FROM char_elements ORDER BY i') . "\n");
$redis->cli('EVAL', q{return redis.call('DEL', unpack(ARGV))}, 0, map { "{no-hash-$_}:bloomext" } qw(utf8 utf16 char int long));
my @of_unknown_kind = map { [ "no-hash-$_->[0]", @$_[ 1, 2 ] ] } my @kinds_and_files =
	([ 'utf8', 'text', 'text' ], [ 'utf16', 'text', 'text' ], [ 'char', 'text', 'char' ], [ 'int', 'integer', 'integer' ], [ 'int', 'bigint', 'integer' ], [ 'long', 'integer', 'integer' ], [ 'long', 'bigint', 'integer' ]);
foreach my $kinds (map { [ split ] } split /\n/, sql(q{SELECT kind || ' ' || hash FROM another_kind}))
{
	my ($kind, $hash) = @$kinds;
	$redis->cli('COPY', "{hash-$hash}:bloomext", "{$hash-hash-$kind}:bloomext", 'REPLACE');
	push @of_unknown_kind, map { [ "$hash-hash-$kind", @$_[ 1, 2 ] ] }
	  grep { $_->[0] eq $kind && ($kind =~ /^(?:utf16|char)$/ || $_->[1] eq ({ int => 'integer', long => 'bigint', words => 'bigint' }->{$hash})) } @kinds_and_files;
}
push @$_, digits("SELECT bf_contains(f, element)::int FROM $_->[2]_elements, of_unknown_kind WHERE '$_->[0]' ~ ('-' || kind || '\$') ORDER BY i")
  foreach @of_unknown_kind;

# One of another size, so full that there are false positives, of more than 16 hashes and
# 2^16 words; and one of more than 2^31 bits, which only Redis has.
sql(q{
	SET bloomext.overfull_notice = off;
	CREATE TABLE other_filter AS SELECT bf_agg(element, 240000, 0.00001) AS f FROM
		(SELECT element FROM bigint_elements WHERE i % 2 = 0 UNION ALL SELECT 1000000000000000 + generate_series(1, 700000)) AS elements;
	SELECT bf_mirror(f, 'cache', 'other'), bf_mirror(f, 'cache', 'bitmap-other', 'bitmap') FROM other_filter;
	SELECT bf_redis_create('cache', 'huge', 330000000, 0.03), bf_redis_create('cache', 'bitmap-huge', 330000000, 0.03, layout => 'bitmap');
	SELECT bf_redis_add_each('cache', 'huge', array_agg(element)), bf_redis_add_each('cache', 'bitmap-huge', array_agg(element)) FROM bigint_elements WHERE i % 2 = 0;
});
my $of_other = digits('SELECT bf_contains(f, element)::int FROM bigint_elements, other_filter ORDER BY i');
my $of_huge = digits(q{SELECT unnest(bf_redis_contains_each('cache', 'huge', array_agg(element ORDER BY i)))::int FROM bigint_elements});

# What is there instead of a filter: nothing, strings of other layouts, a filter of another
# strategy, and what begins like a filter: of other lengths, without words, without hashes.
sql(q{
	SELECT bf_mirror(bf_agg(element, 1000, 0.03, 'guava', 2), 'cache', 'growing') FROM text_elements;
	SELECT bf_mirror(bf_agg(element, 10000, 0.03, 'redisson'), 'cache', 'redisson') FROM text_elements;
	CREATE TABLE guava32_filter AS SELECT bf_agg(element, 10000, 0.03, 'guava32') FILTER (WHERE i % 2 = 0) AS f FROM text_elements;
	SELECT bf_mirror(f, 'cache', 'guava32') FROM guava32_filter;
});
$redis->cli('EVAL', q{
	redis.call('COPY', 'redisson', 'like')
	redis.call('SETRANGE', 'like', 0, '\1\5\0\0\0\9')
	redis.call('SET', 'wordless', '\1\5\0\0\0\0')
	return redis.call('SET', 'hashless', '\1\0\0\0\0\1\0\0\0\0\0\0\0\0')}, 0);
my @no_filters = qw(absent growing-0 redisson guava32 like wordless hashless);

# In layout bitmap: a string without its hash, evicted and made again by a SETBIT,
# cut short; a hash without its string, of shapes that cannot be; what has no witness, as
# nothing was added; a shard, and the key of shards; another strategy, other layouts.
my $put = q{
	local function hash(key) return '{' .. key .. '}:bloomext' end
	local function put(from, to)
		redis.call('COPY', from, to, 'REPLACE')
		if redis.call('COPY', hash(from), hash(to), 'REPLACE') == 0 then redis.call('DEL', hash(to)) end
	end };
$redis->cli('EVAL', $put . q{
	put('bitmap-guava', 'bitmap-odd')
	for _, key in ipairs({'alone', 'back', 'cut', 'gone', 'nine', 'many', 'wordless', 'bitless'}) do put('bitmap-bigint', 'bitmap-' .. key) end
	local length = redis.call('STRLEN', 'bitmap-bigint')
	redis.call('DEL', hash('bitmap-alone'), 'bitmap-gone', 'bitmap-back')
	redis.call('SETBIT', 'bitmap-back', length * 8 - 1, 1)
	redis.call('SET', 'bitmap-cut', redis.call('GETRANGE', 'bitmap-cut', 0, length - 2))
	redis.call('HSET', hash('bitmap-nine'), 'hashes', 9)
	redis.call('HINCRBY', hash('bitmap-odd'), 'bits', -3)
	redis.call('HSET', hash('bitmap-wordless'), 'witness', length)
	redis.call('HSET', hash('bitmap-bitless'), 'witness', length .. ' 0:0')
	return redis.call('HSET', hash('bitmap-many'), 'bits', 'many')}, 0);
sql(q{
	SELECT bf_redis_create('cache', 'bitmap-empty', 1000, 0.03, 'parquet');
	SELECT bf_redis_create('cache', 'bitmap-shards', 1000, 0.03, 'parquet', layout => 'bitmap;shards=2');
	SELECT bf_redis_create('cache', 'shards', 1000, 0.03, layout => 'guava;shards=2');
	SELECT bf_redis_add_each('cache', key, array_agg(element)) FROM bigint_elements, unnest('{bitmap-shards, shards}'::text[]) AS key GROUP BY key;
	SELECT bf_redis_create('cache', 'bitmap-growing', 1000, 0.03, 'parquet', expansion => 1);
	SELECT bf_redis_create('cache', 'bitmap-window', 1000, 0.03, 'parquet', span => '3 days');
	SELECT bf_mirror(bf_agg(element, 10000, 0.03, 'magnuss'), 'cache', 'bitmap-magnuss') FROM text_elements;
	SELECT bf_mirror(bf_agg('19'::char(5), 1000, 0.0001), 'cache', 'char'), bf_mirror(bf_agg('19'::char(5), 1000, 0.0001, 'parquet'), 'cache', 'bitmap-char');
	CREATE TABLE like_others AS
		SELECT 'date' AS kind, bf_agg(date '1970-01-19', 1000, 0.0001) AS f UNION ALL SELECT 'timestamptz', bf_agg(timestamptz '1970-01-01 00:00:00.000018+00', 1000, 0.0001)
		UNION ALL SELECT 'inet', bf_agg(inet '0.0.0.18', 1000, 0.0001) UNION ALL SELECT 'macaddr', bf_agg(macaddr '00:00:00:00:00:12', 1000, 0.0001);
	SELECT bf_mirror(f, 'cache', kind), bf_mirror(f, 'cache', 'bitmap-' || kind, 'bitmap') FROM like_others});
my %no_bitmaps = (alone => qr/no filter of layout/, back => qr/lost bits/, cut => qr/ \d+ bytes, not/, gone => qr/ 0 bytes, not/,
	nine => qr/is not known/, odd => qr/is not known/, many => qr/its hash says "?many/, (map { $_ => qr/no witness/ } qw(empty wordless bitless)), 'shards:0' => qr/a shard/,
	magnuss => qr/is not known/, map { $_ => qr/no filter of layout/ } qw(absent shards growing window));

# Windows of time, of slices of ten years, in which nothing ends while this runs; one of the
# same length is for its pieces.
sql(q{
	SET bloomext.overfull_notice = off;
	SELECT bf_redis_create('cache', key, 500000, 0.9, span => '30 years', slices => 3) FROM unnest('{window, twin}'::text[]) AS key;
	SELECT bf_redis_create('cache', 'window-parquet', 20000, 0.5, 'parquet', span => '30 years');
	SELECT bf_redis_add_each('cache', key, array_agg(element)) IS NOT NULL FROM text_elements, unnest('{window, window-parquet}'::text[]) AS key WHERE i % 2 = 0 GROUP BY key});
my ($of_window, $of_parquet) = map { digits("SELECT unnest(bf_redis_contains_each('cache', '$_', array_agg(element ORDER BY i)))::int FROM text_elements") } 'window', 'window-parquet';
cmp_ok($of_window =~ tr/1//, '>', 10000, 'there are false positives in a window, of two pieces');

# Makes a copy of the window, to be changed.
my $put_window = q{
	local function piece(key, n) return key .. '-window-' .. redis.call('HGET', key, 'id') .. '-' .. n end
	local hash = '{window-asked}:bloomext'
	redis.call('COPY', '{window}:bloomext', hash, 'REPLACE')
	for n = 0, 1 do redis.call('COPY', piece('{window}:bloomext', n), piece(hash, n), 'REPLACE') end };

# Turns that to the next slice, as a server does whose clock is ahead by one.
my $turn = q{
	local hash = '{window-asked}:bloomext'
	local id, slice = unpack(redis.call('HMGET', hash, 'id', 'slice'))
	local newest = ('%.0f'):format(math.floor(redis.call('TIME')[1] * 1000 / slice) + 1)
	redis.call('HSET', hash, 'newest', newest, 'turned', newest)
	for n = 0, 1 do redis.call('BITFIELD', hash .. '-window-' .. id .. '-' .. n, 'SET', 'i64', 0, newest) end};

# What makes it none, or one that has lost something.
my $no_window = qr/no filter of layout window/;
my $lost = qr/it has lost a part/;
sub said { return qr/its hash says "?$_[0]"?, and not a number/ }
my %no_windows = (
	'without a hash' => [ $no_window, q{'DEL', hash} ],
	'of another layout' => [ $no_window, q{'HSET', hash, 'layout', 'bitmap'} ],
	'without an id' => [ $no_window, q{'HDEL', hash, 'id'} ],
	'that is a shard' => [ qr/$no_window|a shard/, q{'HSET', hash, 'whole', 'id/0'} ],
	'of no bits' => [ said(0), q{'HSET', hash, 'bits', 0} ],
	'of no slices' => [ said(0), q{'HSET', hash, 'slices', 0} ],
	'of too many slices' => [ said(31), q{'HSET', hash, 'slices', 31} ],
	'of slices that are too short' => [ said(999), q{'HSET', hash, 'slice', 999} ],
	'of slices beyond what is exact' => [ said('1\d{15}'), q{'HSET', hash, 'slice', '1000000000000000'} ],
	'whose newest slice is none' => [ said('last'), q{'HSET', hash, 'newest', 'last'} ],
	'that does not say how far it was turned' => [ said('(None|null|)'), q{'HDEL', hash, 'turned'} ],
	'that was turned too far' => [ said('\d+'), q{'HINCRBY', hash, 'turned', 1} ],
	'whose clock is two slices behind' => [ qr/the clock is behind its newest slice/, q{'HINCRBY', hash, 'newest', 2} ],
	'that has lost a piece' => [ $lost, q{'DEL', piece(hash, 0)} ],
	'with a piece cut short' => [ $lost, q{'SET', piece(hash, 0), redis.call('GETRANGE', piece(hash, 0), 0, -5)} ],
	'with a piece of another window' => [ $lost, q{'COPY', piece('{twin}:bloomext', 0), piece(hash, 0), 'REPLACE'} ],
	'with a piece of an earlier slice' => [ $lost, q{'BITFIELD', piece(hash, 0), 'INCRBY', 'i64', 0, -1} ],
	'with a piece of a later slice' => [ $lost, q{'BITFIELD', piece(hash, 0), 'INCRBY', 'i64', 0, 1} ],
	'with a list for a piece' => [ qr/WRONGTYPE/, q{'RENAME', 'list', piece(hash, 0)} ]);

# A string whose hash is not of UTF-8.
$redis->cli('COPY', 'text', 'garbled');
$redis->cli('HSET', '{garbled}:bloomext', 'layout', "\xff");

my $of_guava32 = digits('SELECT bf_contains(f, element)::int FROM text_elements, guava32_filter ORDER BY i');

cmp_ok(scalar(() = $answers{text} =~ /1/g), '>', 10100, 'there are false positives');
cmp_ok(scalar(() = $of_other =~ /1/g), '>', scalar(() = $answers{bigint} =~ /1/g) + 10, 'and more in another filter');
is(join(' ', grep { !$redis->cli('EXISTS', $_) } @no_filters), 'absent', 'there are other things than filters');
append_to_file("$built/one", "18\n");
append_to_file("$built/blank", "19 \n");
append_to_file("$built/trimmed", "18\n19\n");
append_to_file("$built/one-row", "t18\tn18\n");
append_to_file("$built/one-uuid", "00000000-0000-0000-0000-000000000018\n");

# What programs of a language alone print: the forms of elements that are taken, where its
# types leave anything to refuse; and what threads do to each other.
my %own = (
	Python => { forms => "decoded 1 1 1\nbytea 1 1 1\nuuid 1\nbigint 1\nrow 1\n", shared => "True\n[True]\nshared: it has lost bits\n" },
	Java => { shared => "false\ntrue\n" },
	Node => { forms => "bytea 1 1\nuuid 1 1 1 1\nbigint 1 1 1 1 1\ninteger 1 1\nrow 1 1\n" });

# ---- Programs that ask ----

# One program for each language, whose answers to a line are a line: see ask.py.
my ($program, $patience, $asked, $answer, $complaint);

sub start_program
{
	($asked, $answer, $complaint) = ('', '', '');
	$patience = IPC::Run::timeout(180);
	$program = IPC::Run::start([@_], '<', \$asked, '>', \$answer, '2>', \$complaint, $patience);
	return;
}

sub stop_program { $program->kill_kill; return }

# Of a key, as elements of a kind those of a file; maybe twice, and a command in between.
sub ask_at
{
	my ($url, $key, $kind, $file, @command) = @_;
	$answer = '';
	$asked .= join("\t", map { s/\s+/ /gr } $url, $key, $kind, "$built/$file", @command) . "\n";
	$patience->start;
	eval { $program->pump until $answer =~ /\n\z/; 1 } or die "$key, $kind: $@$complaint";
	return $answer =~ s/\n\z//r;
}

my $url = "redis://127.0.0.1:$redis->{port}";
sub ask { return ask_at($url, @_) }

# The same through a relay, which has a command done before each place that matches in
# what it relays, as long as there are commands.
sub ask_through_relay
{
	my ($before, $commands, @question) = @_;
	my $port = RedisServer::free_port();
	my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => $port) or die "port $port: $!";
	my $relay = fork() // die "fork: $!";
	relay($listener, $before, @$commands) unless $relay;
	close $listener;
	my $said = eval { ask_at("redis://127.0.0.1:$port", @question) } // $@;
	kill 'KILL', $relay;
	waitpid $relay, 0;
	return $said;
}

sub relay
{
	my ($listener, $before, @commands) = @_;
	while (my $client = $listener->accept)
	{
		my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $redis->{port}) or last;
		my $select = IO::Select->new($client, $server);
		while ($select->count == 2)
		{
			foreach my $from ($select->can_read)
			{
				my $to = $from == $client ? $server : $client;
				my $length = sysread $from, my $bytes, 65536;
				$select->remove($from), last unless $length;
				if (@commands && $bytes =~ s/^(.*?)(?=$before)//s)
				{
					print $to $1;
					$to->flush;
					$redis->cli(@{ shift @commands });
				}
				print $to $bytes;
				$to->flush;
			}
		}
	}
	POSIX::_exit(0);
}

# A command that has a filter, with its hash, take the place of another one.
sub putting { return ('EVAL', "$put put(ARGV[1], ARGV[2]) return 1", 0, @_); }

# Ask for bigints at a key while one filter after the other takes the place of what is there,
# a number of times.
sub ask_while_replaced
{
	my ($times, $key, @filters) = @_;
	$redis->cli(putting($filters[0], $key));
	return ask_through_relay(qr/\*2\r\n\$6\r\nstrlen\b/i, [ map { [ putting($filters[ $_ % 2 ], $key) ] } reverse 1 .. $times ], $key, 'bigint', 'bigint');
}

# What is wrong with what a reader says that has no filter, or is asked for what it cannot
# know: it has to say why.
sub no_answer
{
	my ($why, $said) = @_;
	return $said =~ /^[01]*$/ ? "answers $said" : $said =~ /$why|UncheckedIOException/ ? '' : $said;
}

my ($rights, $to_window) = slurp_file("$root/$page") =~ /`(ACL SETUSER service [^`]*)`.*?`(~[^`]*)`/s;
is($redis->cli(split ' ', $_), 'OK', $_) foreach $rights, 'ACL SETUSER service ' . $to_window =~ s/titles/window-parquet/r;
$node->safe_psql('postgres', 'CREATE DATABASE page');
run_blocks($node, 'page', $redis, grep { $_->{language} eq 'sql' } blocks($page));

# What is compiled comes last.
foreach my $language (qw(Python Node Go Rust Java))
{
	my @command = $commands{$language}->('ask');
  SKIP:
	{
		skip "no reader in $language", 1 unless @command;
		local $ENV{REDIS_URL} = "redis://service:password\@127.0.0.1:$redis->{port}";
		my ($out, $err) = output_of('/dev/null', $commands{$language}->('titles'));
		is($out, ${ $programs{$language}{shown} }, "$language: the page's program") or diag $err;
		foreach my $program (sort keys %{ $own{$language} // {} })
		{
			($out, $err) = output_of('/dev/null', $commands{$language}->($program), $url);
			is($out, $own{$language}{$program}, "$language: $program") or diag $err;
		}

		start_program(@command);
		test_filters($language);
		test_others($language);
		test_replaced($language);
		test_windows($language);
		stop_program();
		test_kit($language) if $language =~ /^(?:Go|Java|Rust)$/;
	}
}

# Filters whose answers SQL knows.
sub test_filters
{
	my ($language) = @_;
	foreach my $filter ((map { [ $_, $_ eq 'ids' ? 'row' : $_, $answers{$_} ] } @kinds, 'row', 'ids'), @bitmaps,
		$language eq 'Java' ? [ 'guava32', 'text', $of_guava32 ] : ([ 'huge', 'bigint', $of_huge ]), [ 'bitmap-huge', 'bigint', $of_huge ])
	{
		my ($key, $kind, $expected) = @$filter;
		my $said = ask($key, $kind, $key eq 'ids' ? $key : $kind);
		ok($said eq $expected, "$language, $key: answers as SQL does") or diag substr $said, 0, 200;
	}
	foreach my $string ($language eq 'Java' ? () : @of_unknown_kind)
	{
		my ($key, $kind, $file, $expected) = @$string;
		my $said = ask($key, $kind, $file);
		ok($said eq $expected, "$language, $key: finds each $kind") or diag substr $said, 0, 200;
	}
	return;
}

# What is no filter, or has elements of another kind.
sub test_others
{
	my ($language) = @_;
	is(no_answer($no_bitmaps{$_}, ask("bitmap-$_", 'bigint', 'one')), '', "$language: no filter at bitmap-$_") foreach sort keys %no_bitmaps;
	is(no_answer(qr/no filter of layout/, ask($_, 'bigint', 'one')), '', "$language: no filter at $_") foreach grep { !($language eq 'Java' && $_ eq 'guava32') } @no_filters;
	is(no_answer(qr/a shard/, ask('shards:0', 'bigint', 'one')), '', "$language: a shard of layout guava");
	is(ask('bitmap-char', 'text', 'trimmed'), '01', "$language: texts asked of bitmap-char");
	foreach my $asked ([ 'integer', 'bigint', 'one' ], [ 'bigint', 'integer', 'one' ], [ 'text', 'bytea', 'one' ], [ 'uuid', 'bytea', 'one' ], [ 'bytea', 'uuid', 'one-uuid' ], [ 'char', 'text', 'blank' ],
		[ 'date', 'integer', 'one' ], [ 'timestamptz', 'bigint', 'one' ], [ 'inet', 'bytea', 'one' ], [ 'macaddr', 'row', 'one-row' ])
	{
		my ($key, $kind, $file) = @$asked;
		is(no_answer(qr/elements are/, ask($_, $kind, $file)), '', "$language: $kind asked of $_")
		  foreach "bitmap-$key", $language eq 'Java' ? () : $key;
	}
	return;
}

# Replaced by one of another size, and of another layout.
sub test_replaced
{
	my ($language) = @_;
	my @ways = ([ 'bitmap-again', 'bitmap-bigint', 'bitmap-other' ],
		$language eq 'Java' ? ([ 'again', 'bigint', 'other' ]) : map { [ 'again', @$_ ] } [ 'bigint', 'other' ], [ 'bigint', 'bitmap-other' ], [ 'bitmap-bigint', 'other' ]);
	foreach my $way (@ways)
	{
		my ($key, $before, $after) = @$way;
		$redis->cli(putting($before, $key));
		my $said = ask($key, 'bigint', 'bigint', putting($after, $key));
		ok($said eq $of_other, "$language: $after takes the place of $before") or diag substr $said, 0, 200;
		is(no_answer(qr/no filter/, ask($key, 'bigint', 'one', 'DEL', $key)), '', "$language: no filter any more at $key");
		next if $key eq 'again' && $language eq 'Java';
		$said = ask_while_replaced(3, @$way);
		ok($said eq $of_other, "$language: follows where $after takes the place of $before between two commands") or diag substr $said, 0, 200;
		is(no_answer(qr/no filter|again and again/, ask_while_replaced(1001, @$way)), '', "$language: does not follow for ever, $after");
	}
	return;
}

sub test_windows
{
	my ($language) = @_;
	$redis->cli('EVAL', $put_window, 0);
	my @later = (
		[ 'just made', 0, $of_window ],
		[ 'that turns to the last slice in which all is found', 3, $of_window, [ 'EVAL', $turn, 0 ] ],
		[ 'in the next slice', 1, $of_window =~ tr/1/0/r ]);
	foreach (@later)
	{
		my ($when, $passed, $expected, @meanwhile) = @$_;
		$redis->cli('EVAL', $RedisServer::pass_slices, 1, '{window-asked}:bloomext', $passed);
		my $said = ask_through_relay(qr/\*1\r\n\$4\r\ntime\b/i, \@meanwhile, 'window-asked', 'text', 'text');
		ok($said eq $expected, "$language: a window of time, $when") or diag substr $said, 0, 200;
	}
	my $said = ask_at("redis://service:password\@127.0.0.1:$redis->{port}", 'window-parquet', 'text', 'text');
	ok($said eq $of_parquet, "$language: a window of strategy parquet") or diag substr $said, 0, 200;
	is(no_answer(qr/elements are/, ask('window', 'bigint', 'one')), '', "$language: bigint asked of a window of texts");
	foreach my $what (sort keys %no_windows)
	{
		my ($why, $command) = @{ $no_windows{$what} };
		$redis->cli('EVAL', "redis.call('RPUSH', 'list', 1) $put_window redis.call($command)", 0);
		is(no_answer($why, ask('window-asked', 'text', 'text')), '', "$language: a window $what");
	}
	return;
}

# By the vectors; those that are not compiled are tested by vectors.pl.
sub test_kit
{
	my ($language) = @_;
	my $java = "$built/java/target/classes";
	system("javac -d '$java' -cp '$java:$built/java/jars/*' '$kit/Kit.java' '$kit/Vectors.java'") == 0 or die 'cannot compile the kit'
	  if $language eq 'Java';
	test_runner($language, [qw(guava64 parquet)], $commands{$language}->('kit'), $url);
	return;
}

$node->stop;
done_testing();
