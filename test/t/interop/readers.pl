# clients: programs that ask filters in Redis, in five languages, answer as SQL does, of
# every kind of elements, layout and strategy that they know, false positives included;
# they follow a filter that is replaced by another one, by whomever they are shared, even
# between two of their commands; and where there is no filter, or one that they do not
# know, they do not say no.
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
system("cp '$root/test/interop/readers/forms.py' '$built/python'; cp '$root/test/interop/readers/forms.js' '$built/node'") == 0
  or die 'cannot copy forms';
# Those that are compiled are also tested by the kit of test/vectors; the others by vectors.pl.
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

my @kinds = qw(text integer bigint uuid bytea);
my %answers;
foreach my $kind (@kinds)
{
	my $expected = sql("SELECT count(*) / 2 FROM ${kind}_elements");
	my $line = $kind eq 'bytea' ? "encode(element, 'hex')" : 'element';
	sql("CREATE TABLE ${kind}_filter AS SELECT bf_agg(element, $expected, 0.03) FILTER (WHERE i % 2 = 0) AS f FROM ${kind}_elements;
		 SELECT bf_mirror(f, 'cache', '$kind') FROM ${kind}_filter");
	append_to_file("$built/$kind", sql("SELECT $line FROM ${kind}_elements ORDER BY i") . "\n");
	$answers{$kind} = sql("SELECT bf_contains(f, element)::int FROM ${kind}_elements, ${kind}_filter ORDER BY i") . "\n";
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
	$answers{$key} = sql("SELECT bf_live_contains('$key', ROW(a, b))::int FROM ${key}_elements ORDER BY i") . "\n";
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
$_->[2] = sql($_->[2]) . "\n" foreach @bitmaps;
is($redis->cli('HGET', "{$_->[0]}:bloomext", 'layout'), 'bitmap', "$_->[0]: its layout") foreach @bitmaps;

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
my $of_other = sql('SELECT bf_contains(f, element)::int FROM bigint_elements, other_filter ORDER BY i') . "\n";
my $of_huge = sql(q{SELECT unnest(bf_redis_contains_each('cache', 'huge', array_agg(element ORDER BY i)))::int FROM bigint_elements}) . "\n";

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

# Windows of time, which are only asked by Python.
sql(q{
	SET bloomext.overfull_notice = off;
	SELECT bf_redis_create('cache', 'window', 500000, 0.9, span => '3 days', slices => 3), bf_redis_create('cache', 'window-parquet', 20000, 0.5, 'parquet', span => '3 days');
	SELECT bf_redis_add_each('cache', key, array_agg(element)) IS NOT NULL FROM text_elements, unnest('{window, window-parquet}'::text[]) AS key WHERE i % 2 = 0 GROUP BY key});
my ($of_window, $of_parquet) = map { sql("SELECT unnest(bf_redis_contains_each('cache', '$_', array_agg(element ORDER BY i)))::int FROM text_elements") . "\n" } 'window', 'window-parquet';
cmp_ok($of_window =~ tr/1//, '>', 10000, 'there are false positives in a window, of two pieces');
push @no_filters, 'window';

# Turns the window to the next slice, as a server does whose clock is ahead by one.
my $turn = q{
	local id, slice = unpack(redis.call('HMGET', KEYS[1], 'id', 'slice'))
	local newest = ('%.0f'):format(math.floor(redis.call('TIME')[1] * 1000 / slice) + 1)
	redis.call('HSET', KEYS[1], 'newest', newest, 'turned', newest)
	for piece = 0, 1 do redis.call('BITFIELD', KEYS[1] .. '-window-' .. id .. '-' .. piece, 'SET', 'i64', 0, newest) end};

# The same for layout bitmap: a string without its hash, evicted and made again by a SETBIT,
# cut short; a hash without its string, of shapes that cannot be; what has no witness, as
# nothing was added; a shard, and the key of shards; another strategy, other layouts.
my $put = q{
	local function hash(key) return '{' .. key .. '}:bloomext' end
	local function put(from, to)
		redis.call('COPY', from, to, 'REPLACE')
		if redis.call('COPY', hash(from), hash(to), 'REPLACE') == 0 then redis.call('DEL', hash(to)) end
	end };
$redis->cli('EVAL', $put . q{
	for _, key in ipairs({'alone', 'back', 'cut', 'gone', 'nine', 'many'}) do put('bitmap-bigint', 'bitmap-' .. key) end
	local length = redis.call('STRLEN', 'bitmap-bigint')
	redis.call('DEL', hash('bitmap-alone'), 'bitmap-gone', 'bitmap-back')
	redis.call('SETBIT', 'bitmap-back', length * 8 - 1, 1)
	redis.call('SET', 'bitmap-cut', redis.call('GETRANGE', 'bitmap-cut', 0, length - 2))
	redis.call('HSET', hash('bitmap-nine'), 'hashes', 9)
	return redis.call('HSET', hash('bitmap-many'), 'bits', 'many')}, 0);
sql(q{
	SELECT bf_redis_create('cache', 'bitmap-empty', 1000, 0.03, 'parquet');
	SELECT bf_redis_create('cache', 'bitmap-shards', 1000, 0.03, 'parquet', layout => 'bitmap;shards=2');
	SELECT bf_redis_add_each('cache', 'bitmap-shards', array_agg(element)) FROM bigint_elements;
	SELECT bf_redis_create('cache', 'bitmap-growing', 1000, 0.03, 'parquet', expansion => 1);
	SELECT bf_redis_create('cache', 'bitmap-window', 1000, 0.03, 'parquet', span => '3 days');
	SELECT bf_mirror(bf_agg(element, 10000, 0.03, 'magnuss'), 'cache', 'bitmap-magnuss') FROM text_elements;
	SELECT bf_mirror(bf_agg('19'::char(5), 1000, 0.0001), 'cache', 'char'), bf_mirror(bf_agg('19'::char(5), 1000, 0.0001, 'parquet'), 'cache', 'bitmap-char')});
my %no_bitmaps = (alone => qr/no filter of layout/, back => qr/lost bits/, cut => qr/ \d+ bytes, not/, gone => qr/ 0 bytes, not/,
	nine => qr/is not known/, many => qr/is not known|many bits or hashes/, empty => qr/no witness/, 'shards:0' => qr/a shard/,
	magnuss => qr/is not known/, map { $_ => qr/no filter of layout/ } qw(absent shards growing window));

my $of_guava32 = sql('SELECT bf_contains(f, element)::int FROM text_elements, guava32_filter ORDER BY i') . "\n";

cmp_ok(scalar(() = $answers{text} =~ /1/g), '>', 10100, 'there are false positives');
cmp_ok(scalar(() = $of_other =~ /1/g), '>', scalar(() = $answers{bigint} =~ /1/g) + 10, 'and more in another filter');
is(join(' ', grep { !$redis->cli('EXISTS', $_) } @no_filters), 'absent window', 'there are other things than filters');
append_to_file("$built/one", "18\n");
append_to_file("$built/blank", "19 \n");
append_to_file("$built/one-uuid", "00000000-0000-0000-0000-000000000018\n");

# What the forms of elements print that are taken, where a language's types leave anything to refuse.
my %taken = (Python => "bytea 1 1 1\nuuid 1\nbigint 1\nrow 1\n", Node => "bytea 1 1\nuuid 1 1 1 1\nbigint 1 1 1 1 1\ninteger 1 1\nrow 1 1\n");

# A command that has a filter, with its hash, take the place of another one.
sub putting { return ('EVAL', "$put put(ARGV[1], ARGV[2]) return 1", 0, @_); }

# The URL of a relay that has the filter at a key replaced before a STRLEN, so many times,
# by another filter and by the one that was there.
my @relays;
sub swapping
{
	my ($times, $key, @filters) = @_;
	my $port = RedisServer::free_port();
	my $listener = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1', LocalPort => $port) or die "port $port: $!";
	$redis->cli(putting($filters[0], $key));
	push @relays, fork() // die "fork: $!";
	return "redis://127.0.0.1:$port" if $relays[-1];
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
				if ($times > 0 && $bytes =~ s/^(.*?)(?=\*2\r\n\$6\r\nstrlen\b)//is)
				{
					print $to $1;
					$to->flush;
					$redis->cli(putting($filters[ $times-- % 2 ], $key));
				}
				print $to $bytes;
				$to->flush;
			}
		}
	}
	POSIX::_exit(0);
}

# What is wrong with a reader that has no filter, or is asked for what it cannot know: it
# says why, or "maybe".
sub no_answers
{
	my ($why, $file, @command) = @_;
	my ($out, $err, $status) = output_of("$built/$file", @command);
	return $out =~ /0/ ? 'no' : $err =~ /$why|UncheckedIOException/ ? '' : "answers $out, status $status: $err";
}

$redis->cli(split ' ', $1) if slurp_file("$root/$page") =~ /`(ACL SETUSER service [^`]*)`/;
$node->safe_psql('postgres', 'CREATE DATABASE page');
run_blocks($node, 'page', $redis, grep { $_->{language} eq 'sql' } blocks($page));

foreach my $language (sort keys %commands)
{
	my @command = $commands{$language}->('ask');
  SKIP:
	{
		skip "no reader in $language", 1 unless @command;
		local $ENV{REDIS_URL} = "redis://service:password\@127.0.0.1:$redis->{port}";
		my ($out, $err, $status) = output_of('/dev/null', $commands{$language}->('titles'));
		is($out, ${ $programs{$language}{shown} }, "$language: the page's program") or diag $err;

		my $url = "redis://127.0.0.1:$redis->{port}";
		if (my $taken = $taken{$language})
		{
			($out, $err) = output_of('/dev/null', $commands{$language}->('forms'), $url);
			is($out, $taken, "$language: forms of elements, taken and refused") or diag $err;
		}
		push @command, $url;
		foreach my $filter ((map { [ $_, $_ eq 'ids' ? 'row' : $_, $answers{$_} ] } @kinds, 'row', 'ids'), @bitmaps)
		{
			my ($key, $kind, $expected) = @$filter;
			($out, $err, $status) = output_of("$built/" . ($key eq 'ids' ? $key : $kind), @command, $key, $kind);
			is($status, 0, "$language, $key: no error") or diag $err;
			ok($out eq $expected, "$language, $key: answers as SQL does");
		}
		($out, $err) = output_of("$built/bigint", @command, 'bitmap-huge', 'bigint');
		ok($out eq $of_huge, "$language: a bitmap of more than 2^31 bits") or diag $err;
		foreach my $key (sort keys %no_bitmaps)
		{
			is(no_answers($no_bitmaps{$key}, 'one', @command, "bitmap-$key", 'bigint'), '', "$language: no filter at bitmap-$key");
		}
		foreach my $asked ([ 'integer', 'bigint', 'one' ], [ 'bigint', 'integer', 'one' ], [ 'text', 'bytea', 'one' ], [ 'uuid', 'bytea', 'one' ], [ 'bytea', 'uuid', 'one-uuid' ], [ 'char', 'text', 'blank' ])
		{
			my ($key, $kind, $file) = @$asked;
			is(no_answers(qr/elements are/, $file, @command, $_, $kind), '', "$language: $kind asked of $_")
			  foreach "bitmap-$key", $language eq 'Java' ? () : $key;
		}

		# Replaced by one of another size, and of another layout.
		my @ways = ([ 'bitmap-again', 'bitmap-bigint', 'bitmap-other' ],
			$language eq 'Java' ? ([ 'again', 'bigint', 'other' ]) : map { [ 'again', @$_ ] } [ 'bigint', 'other' ], [ 'bigint', 'bitmap-other' ], [ 'bitmap-bigint', 'other' ]);
		foreach my $way (@ways)
		{
			my ($key, $before, $after) = @$way;
			$redis->cli(putting($before, $key));
			($out, $err) = output_of("$built/bigint", @command, $key, 'bigint', putting($after, $key));
			ok($out eq $of_other, "$language: $after takes the place of $before") or diag $err;
			is(no_answers(qr/no filter/, 'one', @command, $key, 'bigint', 'DEL', $key), '', "$language: no filter any more at $key");
		}
		my @others = grep { !($language eq 'Java' && $_ eq 'guava32') } @no_filters;
		is(no_answers(qr/no filter of layout/, 'one', @command, $_, 'bigint'), '', "$language: no filter at $_") foreach grep { $language ne 'Python' || $_ ne 'window' } @others;

		pop @command;
		foreach my $way (grep { $_->[0] ne 'again' || $language ne 'Java' } @ways)
		{
			($out, $err) = output_of("$built/bigint", @command, swapping(3, $way->[0], @$way[ 1, 2 ]), $way->[0], 'bigint');
			ok($out eq $of_other, "$language: follows where $way->[2] takes the place of $way->[1] between two commands") or diag $err;
		}
		is(no_answers(qr/no filter|again and again/, 'bigint', @command, swapping(1001, @$_), $_->[0], 'bigint'), '', "$language: does not follow for ever, $_->[2]")
		  foreach grep { $_->[0] ne 'again' || $language ne 'Java' } @ways;

		push @command, $url;
		if ($language =~ /^(?:Go|Java|Rust)$/)
		{
			my $java = "$built/java/target/classes";
			system("javac -d '$java' -cp '$java:$built/java/jars/*' '$kit/Kit.java' '$kit/Vectors.java'") == 0 or die 'cannot compile the kit'
			  if $language eq 'Java';
			test_runner($language, [qw(guava64 parquet)], $commands{$language}->('kit'), $url);
		}
		if ($language eq 'Java')
		{
			($out, $err) = output_of("$built/text", @command, 'guava32', 'text');
			ok($out eq $of_guava32, "$language: guava32") or diag $err;
			next;
		}

		if ($language eq 'Python')
		{
			my @later = (
				[ 'just made', 0, $of_window ],
				[ 'that turns to the last slice in which all is found', 3, $of_window, 'EVAL', $turn, 1, '{window}:bloomext' ],
				[ 'in the next slice', 1, $of_window =~ tr/1/0/r ]);
			foreach (@later)
			{
				my ($when, $passed, $expected, @meanwhile) = @$_;
				$redis->cli('EVAL', $RedisServer::pass_slices, 1, '{window}:bloomext', $passed);
				($out, $err) = output_of("$built/text", @command, 'window', 'text', @meanwhile);
				ok($out eq $expected, "$language: a window of time, $when") or diag $err;
			}
			($out, $err) = output_of("$built/text", @command, 'window-parquet', 'text');
			ok($out eq $of_parquet, "$language: a window of strategy parquet") or diag $err;
			is(no_answers(qr/elements are/, 'one', @command, 'window', 'bigint'), '', "$language: bigint asked of a window of texts");
			is(no_answers(qr/no filter of layout window/, 'one', @command, 'window-none', 'bigint'), '', "$language: no window");
			$redis->cli('DEL', '{window}:bloomext-window-' . $redis->cli('HGET', '{window}:bloomext', 'id') . '-0');
			is(no_answers(qr/window: it has lost a part/, 'text', @command, 'window', 'text'), '', "$language: a window that has lost a piece");
		}

		# Java has no room for a copy.
		($out, $err) = output_of("$built/bigint", @command, 'huge', 'bigint');
		ok($out eq $of_huge, "$language: more than 2^31 bits") or diag $err;
	}
}

kill 'KILL', @relays;
waitpid $_, 0 foreach @relays;
$node->stop;
done_testing();
