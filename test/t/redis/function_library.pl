# The function library for Redis: by FCALL_RO and as a script it answers what SQL
# does, the vectors hold, and what it cannot answer is an error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Encode qw(encode_utf8);
use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisServer;
use RedisTest;

my ($redis, $node) = start_servers();
my $library = slurp_file(`pg_config --sharedir` =~ s/\n//r . '/extension/bloomext.lua');
my $script = $library =~ s/^#!.*\n//r;
my $socket = IO::Socket::UNIX->new(Peer => $redis->{socket});

sub read_reply
{
	defined(my $line = <$socket>) or die 'Redis is gone';
	$line =~ s/\r\n\z//;
	my ($type, $rest) = $line =~ /^(.)(.*)/s;
	return $rest if $type =~ /[-+:]/;
	return join '', map { read_reply() } 1 .. $rest if $type eq '*';
	return undef if $rest < 0;
	read $socket, my $bytes, $rest + 2;
	return substr $bytes, 0, $rest;
}

# What Redis answers to a command, lists as one text.
sub ask
{
	print $socket '*' . @_ . "\r\n", map { '$' . length($_) . "\r\n$_\r\n" } @_;
	return read_reply();
}

my ($version) = ask('INFO', 'server') =~ /redis_version:(\d+)/;
my $sha = ask('SCRIPT', 'LOAD', $script);
my %ways = (script => sub { my ($function, $key, @arguments) = @_; ask('EVALSHA', $sha, 1, $key, "bloomext_$function", @arguments) });
if ($version >= 7)
{
	is(ask('FUNCTION', 'LOAD', 'REPLACE', $library), 'bloomext', 'the library is loaded');
	$ways{function} = sub { my ($function, $key, @arguments) = @_; ask('FCALL_RO', "bloomext_$function", 1, $key, @arguments) };
}
my $call = $ways{function} // $ways{script};

# ---- Vectors ----

my %kinds = (text => 'utf8', text16 => 'utf16', bytea => 'bytes', int4 => 'int', int8 => 'long', uuid => 'bytes');

# The rows of a file: lists of its cells.
sub rows
{
	my ($strategy, $file) = @_;
	my (undef, @lines) = split /\n/, slurp_file("$FindBin::RealBin/../../vectors/$strategy/$file.tsv");
	return map { [ split /\t/, $_, -1 ] } @lines;
}

# The element in a cell, as a client has it.
sub element
{
	my ($type, $cell) = @_;
	return $cell if $type =~ /^int/;
	return $cell =~ /^rep:(\d+):(.*)/ ? pack('H*', $2) x $1 : pack('H*', $cell);
}

# The library before a server that has a filter as it is told, with all bits set,
# and says which of them it was asked for.
my $recorder = ask('SCRIPT', 'LOAD', <<'EOF' . "local function run() $script end run() return table.concat(asked, ',')");
local asked, shape = {}, {layout = 'bitmap'}
for _, field in ipairs{'strategy', 'bits', 'hashes'} do shape[field] = table.remove(ARGV, 1) end
local redis = {
	error_reply = function(why) asked = {why} end,
	pcall = function(command, key, ...)
		local values = {}
		for i, field in ipairs{...} do values[i] = key == '{k}:bloomext' and shape[field] or false end
		return values
	end,
	call = function(command, key, bit)
		if command == 'TYPE' then return {ok = 'string'} end
		if command == 'STRLEN' then return math.ceil(shape.bits / 8) end
		asked[#asked + 1] = string.format('%d', bit)
		return 1
	end
}
EOF
sub positions { ask('EVALSHA', $recorder, 1, 'k', @_[ 0 .. 2 ], 'bloomext_contains_as', @_[ 3, 4 ]); }

# The positions of a hash, by 64-bit integers.
sub expected_positions
{
	my ($strategy, $bits, $hashes, $murmur3) = @_;
	my ($h1, $h2) = unpack 'q<q<', pack 'H*', $murmur3;
	my ($low, $high) = unpack 'l<l<', pack 'H*', $murmur3;
	my @folded = map {
		use integer;
		my $sum = $low + $_ * $high << 32 >> 32;
		$strategy eq 'guava' ? $h1 + ($_ - 1) * $h2 & 9223372036854775807 : $sum < 0 ? ~$sum : $sum
	} 1 .. $hashes;
	return join ',', map { $_ % $bits } @folded;
}

for my $strategy (qw(guava guava32))
{
	my $vectors = $strategy eq 'guava' ? 'guava64' : $strategy;
	my (%element, %got, %wanted, @wrong);
	for (rows($vectors, 'hashing'))
	{
		my ($id, $type, $cell, $murmur3) = @$_;
		$element{$id} = [ $kinds{$type}, element($type, $cell) ];
		for my $bits (1, 64, 2**31 - 64, 2**31 + 64, 3 * 10**9, 2**32 - 5, 2**32)
		{
			push @wrong, "$id of $bits" if positions($strategy, $bits, 12, @{ $element{$id} }) ne
			  expected_positions($strategy, $bits, 12, $murmur3);
		}
	}
	is(scalar @wrong, 0, "$vectors: hashes of all kinds, positions up to 2^32");
	@wrong = grep { positions($strategy, @$_[ 1, 2 ], @{ $element{ $_->[0] } }) ne $_->[3] }
	  grep { $_->[1] <= 2**32 } rows($vectors, 'positions');
	is("@{[map { $_->[0] } @wrong]}", '', "$vectors: positions");

	ask('SET', "$vectors$_->[0]", pack 'H*', $_->[10]) foreach rows($vectors, 'filters');
	for my $way (sort keys %ways)
	{
		my @probes = rows($vectors, 'probes');
		@wrong = grep { $ways{$way}->('contains_as', "$vectors$_->[0]", $kinds{ $_->[1] }, element(@$_[ 1, 2 ])) ne $_->[4] } @probes;
		is(scalar @wrong, 0, "$vectors: " . @probes . " elements asked for by $way");
	}
}

{
	my %element = map { $_->[0] => [ $kinds{ $_->[1] }, element(@$_[ 1, 2 ]) ] } rows('parquet', 'hashing');
	my @positions = grep { $_->[1] <= 2**24 } rows('parquet', 'positions');
	my @wrong = grep { positions('parquet', 256 * $_->[1], 8, @{ $element{ $_->[0] } }) ne $_->[2] } @positions;
	is(join(', ', map { "$_->[0] of $_->[1]" } @wrong), '', 'parquet: ' . @positions . ' positions');
}

# ---- Filters that SQL made ----

is(sql('SHOW server_encoding'), 'UTF8', 'titles can be of any language');
sql(q{
	CREATE TABLE titles AS SELECT i, i % 2 = 0 AS here, CASE WHEN i > 0 THEN
		(ARRAY['Title ', '标题、維基百科 ', 'مقالة ‏عنوان‎ ', '👩‍👩‍👧🇨🇳 𝔘 ', E'E\u0301cole nai\u0308ve '])[i % 5 + 1] || i ELSE '' END AS title
	FROM generate_series(0, 9999) AS i});
my $titles = sql('SELECT title FROM titles ORDER BY i') . "\n";

# A command's lines as one text.
sub lines_of
{
	my ($input, @command) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', \$input, '>', \$out, '2>', \$err) or diag "@command: $err$out";
	return $out =~ s/\n//gr;
}

my %filters = (
	guava => "5000, 0.01, 'guava'", guava32 => "5000, 0.01, 'guava32'", guava16 => "5000, 0.01, 'guava', 'utf16'",
	bitmap => "5000, 0.01, 'guava'", bitmap32 => "5000, 0.01, 'guava32'", bitmap16 => "5000, 0.01, 'guava', 'utf16'",
	growing => "300, 0.01, 'guava', expansion => 1", growing32 => "300, 0.01, 'guava32', expansion => 1",
	growing16 => "300, 0.01, 'guava', 'utf16', 1", bitmap_parquet => "5000, 0.01, 'parquet'", growing_parquet => "300, 0.01, 'parquet', expansion => 1",
	expanding => "300, 0.01, 'guava', expansion => 2", expanding3 => "100, 0.03, 'guava32', expansion => 3");
for my $key (sort keys %filters)
{
	my $layout = $key =~ /^(bitmap|guava)/ ? $1 : 'growing';
	sql("SELECT bf_mirror(bf_add_all(bf_create($filters{$key}), array_agg(title ORDER BY i)), 'cache', '$key', '$layout') FROM titles WHERE here");
	my $expected = sql("SELECT string_agg(c::int::text, '' ORDER BY n)
		FROM unnest(bf_redis_contains_each('cache', '$key', ARRAY(SELECT title FROM titles ORDER BY i))) WITH ORDINALITY AS t (c, n)");
	like($expected, qr/^(1.){5000}$/, "$key: SQL finds all");
	is(lines_of($titles, "$FindBin::RealBin/../../interop/ask.sh", $redis->{socket}, $key), $expected, "$key: redis-cli answers 10,000 titles as SQL does")
	  if $ways{function};
	my @left = split /\n/, $titles, -1;
	is(join('', map { $ways{script}->('contains', $key, splice @left, 0, 1000) } 1 .. 10), $expected, "$key: and so does the script");
}
cmp_ok(sql("SELECT min(layers) FROM unnest('{growing,growing32,growing16,expanding,expanding3}'::text[]) AS k, bf_redis_info('cache', k)"), '>', 3,
	'growing filters have several layers');

# ---- Other elements ----

sql(q{
	CREATE TABLE ids AS SELECT i, ('x' || left(md5(i::text), 16))::bit(64)::bigint >> i % 64 AS id FROM generate_series(1, 3000) AS i;
	INSERT INTO ids SELECT 0, unnest('{9223372036854775807,-9223372036854775808,2147483647,-2147483648,2147483648,-2147483649,0,-1}'::bigint[])});
my %columns = (
	long => [ 'id', 'id' ], int => [ '(id % 2147483648)::int', 'id' ],
	bytes => [ "decode(md5(id::text), 'hex')", "decode(md5(id::text), 'hex')" ]);
for my $kind (sort keys %columns)
{
	my ($added, $asked) = @{ $columns{$kind} };
	my $elements = sql("SELECT string_agg(($asked)::text, E'\n' ORDER BY i, id) FROM ids");
	my @elements = map { s/^\\x// ? pack 'H*', $_ : $_ } split /\n/, $elements;
	for my $way (qw(guava-guava guava-bitmap guava-growing guava-window guava32-window parquet-bitmap parquet-growing parquet-window))
	{
		my ($strategy, $layout) = split /-/, $way;
		my $key = $strategy eq 'guava' ? "$kind-$layout" : "$kind-$way";
		my $expansion = $layout eq 'growing' ? 1 : 0;
		sql($layout eq 'window'
			? "SELECT bf_redis_create('cache', '$key', 1500, 0.3, '$strategy', funnel => '$kind', span => '3 days', slices => 3),
				bf_redis_add_each('cache', '$key', array_agg($added)) IS NOT NULL FROM ids WHERE i % 2 = 0"
			: "SELECT bf_mirror(bf_add_all(bf_create(500, 0.01, '$strategy', '$kind', $expansion), array_agg($added)), 'cache', '$key', '$layout')
				FROM ids WHERE i % 2 = 0");
		my $expected = sql("SELECT string_agg(c::int::text, '' ORDER BY n) FROM unnest(
			bf_redis_contains_each('cache', '$key', ARRAY(SELECT $asked FROM ids ORDER BY i, id))) WITH ORDINALITY AS t (c, n)");
		my @left = @elements;
		my $answers = join '', map { $call->('contains', $key, splice @left, 0, 1000) } 0 .. @left / 1000;
		is($answers, $expected, "$kind, $way: all answers are SQL's");
	}
}

# A uuid is its 16 bytes.
sql(q{SELECT bf_mirror(bf_agg(md5(i::text)::uuid, 2000, 0.01), 'cache', 'uuids', 'bitmap') FROM ids WHERE i % 2 = 0});
my @uuids = split /\n/, sql('SELECT md5(i::text)::uuid FROM ids WHERE i BETWEEN 1 AND 1000 ORDER BY i');
is($call->('contains_uuid', 'uuids', @uuids),
	sql("SELECT string_agg(bf_redis_contains('cache', 'uuids', md5(i::text)::uuid)::int::text, '' ORDER BY i) FROM ids WHERE i BETWEEN 1 AND 1000"),
	'uuids: all answers are SQL\'s');
is($call->('contains_uuid', 'uuids', uc $uuids[1], $uuids[1] =~ s/-//gr), '11', 'uuids: however they are written');
is($call->('contains', 'uuids', pack('H*', $uuids[1] =~ s/-//gr), 'x'), '10', 'uuids: as bytes');

# ---- What cannot be answered ----

# The reason why there is no answer.
sub reason
{
	my ($answer) = $call->(@_);
	return $answer =~ s/^ERR bloomext: // ? $answer : "no reason: $answer";
}

# Keys that hold nothing of the kind, and filters that miss a part.
sql(q{SELECT bf_redis_create('cache', 'unbound', 100, layout => 'bitmap');
	SELECT bf_redis_create('cache', 'redisson', 100, 0.01, 'redisson'); SELECT bf_redis_add('cache', 'redisson', 'x');
	SELECT bf_redis_create('cache', 'shards', 100, layout => 'guava;shards=2');
	SELECT bf_redis_create('cache', 'more', 100, 0.01, 'parquet', expansion => 2); SELECT bf_redis_add('cache', 'more', 'x');
	SELECT bf_redis_create('cache', 'other', 100, 0.01, 'magnuss'); SELECT bf_redis_add('cache', 'other', 'x')});
ask('SET', 'text', 'a text');
ask('LPUSH', 'list', 'x');
for ([ nothing => qr/no filter/ ], [ text => qr/neither Guava's/ ], [ list => qr/holds a list/ ], [ unbound => qr/kind .* is not known/ ],
	[ redisson => qr/neither Guava's/ ], [ shards => qr/has shards/ ], [ other => qr/strategy "magnuss"/ ], [ more => qr/parquet with expansion 2/ ], [ guava641 => qr/kind .* is not known/ ])
{
	my ($key, $why) = @$_;
	like(reason('contains', $key, 'x'), $why, "$key: refused");
	like(reason('contains', $key), $why, "$key: refused, whatever is asked for");
}

# What happens to keys, and back; none of it makes a "no".
my $layers = ask('GET', 'growing-cursor');
my %changes = (
	'no string' => [ 'bitmap', qr/no filter/, [ 'DEL', 'bitmap' ] ],
	'no hash' => [ 'bitmap', qr/neither Guava's/, [ 'DEL', '{bitmap}:bloomext' ] ],
	'a shorter string' => [ 'bitmap', qr/has 5 bytes, not the/, [ 'SET', 'bitmap', 'short' ] ],
	'other bits' => [ 'bitmap', qr/bytes, not the 8 of/, [ 'HSET', '{bitmap}:bloomext', 'bits', 64 ] ],
	'bits that are no number' => [ 'bitmap', qr/bits of the filter is not a number/, [ 'HSET', '{bitmap}:bloomext', 'bits', '064' ] ],
	'too many bits' => [ 'bitmap', qr/bits of the filter is not a number/, [ 'HSET', '{bitmap}:bloomext', 'bits', 2**32 + 64 ] ],
	'no hashes' => [ 'bitmap', qr/hashes of the filter is not a number/, [ 'HDEL', '{bitmap}:bloomext', 'hashes' ] ],
	'an unknown kind' => [ 'bitmap', qr/unknown kind "utf32"/, [ 'HSET', '{bitmap}:bloomext', 'funnel', 'utf32' ] ],
	'no note' => [ 'guava', qr/kind .* is not known/, [ 'DEL', '{guava}:bloomext' ] ],
	'a note of another filter' => [ 'guava', qr/kind .* is not known/, [ 'HSET', '{guava}:bloomext', 'hashes', 1 ] ],
	'half a stream' => [ 'guava', qr/neither Guava's/, [ 'APPEND', 'guava', 'x' ] ],
	'no config' => [ 'growing', qr/no filter/, [ 'DEL', 'growing-config' ] ],
	'no layer 0' => [ 'growing', qr/"growing-0" has 0 bytes/, [ 'DEL', 'growing-0' ] ],
	'no newest layer' => [ 'growing', qr/"growing-$layers" has 0 bytes/, [ 'DEL', "growing-$layers" ] ],
	'no cursor' => [ 'growing', qr/"growing-cursor" is missing/, [ 'DEL', 'growing-cursor' ] ],
	'a cursor that is no number' => [ 'growing', qr/cursor of the filter is not a number/, [ 'SET', 'growing-cursor', '1x' ] ],
	'a cursor beyond' => [ 'growing', qr/has 0 bytes/, [ 'SET', 'growing-cursor', $layers + 1 ] ],
	'too few layers' => [ 'growing', qr/cursor of the filter is not a number/, [ 'HSET', 'growing-config', 'layers', $layers + 2 ] ],
	'other layers' => [ 'expanding', qr/bytes, not the/, [ 'HSET', 'expanding-config', 'expected', 999 ] ],
	'a second filter' => [ 'growing', qr/described as two/, [ 'COPY', 'guava', 'growing' ] ]);
for my $change (sort keys %changes)
{
	my ($key, $why, $command) = @{ $changes{$change} };
	my @keys = grep { ask('EXISTS', $_) } my $changed = $command->[0] eq 'COPY' ? $command->[2] : $command->[1];
	my $dump = @keys ? ask('DUMP', $changed) : undef;
	ask(@$command);
	like(reason('contains', $key, 'Title 5'), $why, "$key, $change: refused");
	ask('DEL', $changed);
	ask('RESTORE', $changed, 0, $dump) if defined $dump;
	like($call->('contains', $key, 'Title 5'), qr/^[01]$/, "$key: answered again");
}

# The first element that is added says of what kind they are.
sql("SELECT bf_redis_create('cache', 'born', 100, 0.01, expansion => 1)");
like(reason('contains', 'born', 'Title 10'), qr/kind .* is not known/, 'a filter that is empty: refused');
sql("SELECT bf_redis_add_each('cache', 'born', array_agg(title)) FROM titles WHERE here AND i < 1000");
is($call->('contains', 'born', split /\n/, sql('SELECT title FROM titles WHERE here AND i < 1000')), 1 x 500, 'once it has some, they are found');

# A stream that is renamed comes without its hash, and finds another's of the same shape,
# which has a witness against it: so it does not say of what kind its elements are.
for (([ guava16 => 'guava', 'Title 10' ], [ guava => 'guava16', '标题、維基百科 6' ], [ 'int-guava' => 'long-guava', 0 ], [ 'long-guava' => 'int-guava', 0 ]))
{
	my ($from, $to, $element) = @$_;
	ask('COPY', $to, 'kept');
	ask('COPY', $from, $to, 'REPLACE');
	like($call->('contains', $to, $element), qr/kind .* is not known/, "$from under the name of $to: refused");
	ask('HDEL', "{$to}:bloomext", 'witness');
	is($call->('contains', $to, $element), '1', "$from under the name of $to, and no witness");
	ask('RENAME', 'kept', $to);
}

# Where nothing proves what the elements are, they may be of char(n).
foreach my $funnel (qw(utf8 utf16))
{
	sql("SELECT bf_mirror(bf_agg_into(bf_create(1000, 0.0001, funnel => '$funnel'), ('t' || i)::char(9)), 'cache', 'padded') FROM generate_series(1, 500) AS i");
	is($call->('contains_as', 'padded', $funnel, 't5', 't5  ', 't501 '), '100', "$funnel: texts are asked as they are");
	ask('DEL', '{padded}:bloomext');
	is($call->('contains_as', 'padded', $funnel, 't5', 't5  ', 't501 '), '110', "$funnel: and without a hash also without blanks");
	is($call->('contains_as', 'padded', $funnel, ' ' x 200_000 . 'x', ' ' x 200_000), '00', "$funnel: blanks are passed over once");
}

# A window of time.
sql("SELECT bf_redis_create('cache', 'growing:window', 100, span => '1 day', slices => 4)");
like(reason('contains', 'growing:window', 'x'), qr/kind .* is not known/, 'a window that is empty: refused');
sql("SELECT bf_redis_add('cache', 'growing:window', 'x')");
my @window = ('growing:window', '{growing:window}:bloomext');
push @window, "$window[1]-window-" . ask('HGET', $window[1], 'id') . '-0';
ask('SET', 'growing:window', 'x');
like(reason('contains', 'growing:window', 'x'), qr/described as two/, 'a window and a string: refused');
ask('DEL', 'growing:window');
ask('COPY', 'growing-config', 'growing:window-config');
like(reason('contains', 'growing:window', 'x'), qr/described as two/, 'a window and a growing filter: refused');
ask('DEL', 'growing:window-config');
for my $passed (0, 5, 1)
{
	ask('EVAL', $RedisServer::pass_slices, 1, $window[1], $passed);
	is($call->('contains', 'growing:window', 'x'), $passed == 1 ? 0 : 1, "a window: $passed slices later");
}
sql("SELECT bf_redis_add('cache', 'growing:window', 'x')");

# Calls that make no sense.
like(reason('contains', 'bitmap', ('x') x 1001), qr/1001 elements exceed the maximum of 1000/, 'too many elements');
like(reason('contains', 'bitmap', 'x' x 2**19, 'y'), qr/elements exceed the maximum of 524288 bytes/, 'too long elements');
is(length $call->('contains', 'bitmap', ('') x 1000), 1000, 'as many as may be');
like(reason('contains_as', 'guava641'), qr/unknown kind ""/, 'no kind');
like(reason('contains_as', 'guava641', 'text', 'x'), qr/unknown kind "text"/, 'an unknown kind');
like(reason('contains_as', 'bitmap', 'utf16', 'x'), qr/of kind utf8, not utf16/, 'another kind');
like(reason('contains', 'uuids', $uuids[0]), qr/element 1 reads as a uuid; use bloomext_contains_uuid/, 'a uuid among bytes');
is($call->('contains_as', 'uuids', 'bytes', $uuids[0]), '0', 'which may be one for all that');
like(reason('contains_uuid', 'bitmap', $uuids[0]), qr/of kind utf8, not uuid/, 'uuids where there are texts');
like(reason('contains_uuid', 'uuids', $_), qr/element 1 is not of kind uuid/, "no uuid: $_") foreach 'x', '', "$uuids[0]0", 'g' x 32;
like(reason('contains', 'int-bitmap', '1', $_), qr/element 2 is not of kind int/, "no integer: $_")
  foreach '', '-', '-0', '01', '+1', ' 1', '1 ', '1.0', '1e3', '0x1', 'x', "1\n", '9223372036854775808', '-9223372036854775809', '1' x 20, '1' x 40;
if ($ways{function})
{
	my @all = qw(growing {growing}:bloomext {growing}:bloomext-shards growing-config growing-cursor growing-0 growing-1);
	is(ask('FCALL_RO', 'bloomext_contains', scalar @all, @all, 'Title 5'), $call->('contains', 'growing', 'Title 5'), 'all keys of a filter can be passed');
	is(ask('FCALL_RO', 'bloomext_contains', scalar @window, @window, 'x', 'y'), '10', '... and of a window');
	like(ask('FCALL_RO', 'bloomext_contains', 2, 'growing', 'bitmap', 'x'), qr/"bitmap" does not belong to the filter at "growing"/, 'but not those of two filters');
	like(ask('FCALL_RO', 'bloomext_contains', 0, 'growing', 'x'), qr/KEY is missing/, 'nor none');
}
like(ask('EVALSHA', $sha, 1, 'bitmap', 'contains', 'x'), qr/first argument must name a function/, 'the script is told which function');

# Whatever bytes: what is no text of UTF-8 is refused, all else is answered.
my ($wrong, $refused) = (0, 0);
for (my $end = time + 3; time < $end;)
{
	for (1 .. 100)
	{
		my $bytes = join '', map { rand() < 0.2 ? chr rand 256 : encode_utf8(chr(int(rand 2)
			? rand 0x3000 : 0xd700 + rand(rand() < 0.5 ? 0x1000 : 0x103000))) } 1 .. rand 12;
		my $text = $bytes;
		my $valid = utf8::decode($text) && !grep { $_ >= 0xd800 && $_ < 0xe000 || $_ > 0x10ffff } map { ord } split //, $text;
		my $answer = $call->('contains', int(rand 2) ? 'bitmap' : 'bitmap16', $bytes);
		$refused++ unless $valid;
		$wrong++ unless $answer =~ ($valid ? qr/^[01]$/ : qr/element 1 is not of kind utf/);
	}
}
is($wrong, 0, 'texts are told from what is none');
cmp_ok($refused, '>', 50, 'and there were both');

# ---- Servers ----

# A full one.
ask('CONFIG', 'SET', 'maxmemory', 1);
is(join('', map { $_->('contains', 'growing', 'Title 5', 'Title 10') } values %ways), '01' x keys %ways, 'a full server answers');
ask('CONFIG', 'SET', 'maxmemory', 0);

# An account that may do no more than that.
my @commands = qw(hmget type exists get getbit getrange strlen time);
ask('ACL', 'SETUSER', 'asker', 'on', '>secret', '~growing*', '~{growing*', '+evalsha', map { "+$_" } @commands, $ways{function} ? 'fcall_ro' : ());
my @as = ('--no-auth-warning', '--user', 'asker', '--pass', 'secret');
is($redis->cli(@as, 'EVALSHA', $sha, 1, $_, 'bloomext_contains', 'Title 10', 'x') =~ tr/\n//dr, $_ eq 'growing' ? '10' : '01', "an account for it alone: $_")
  foreach 'growing', 'growing:window';
like($redis->cli(@as, 'EVALSHA', $sha, 1, 'expanding', 'bloomext_contains', 'Title 10'), qr/perm|can't access/i, 'has no rights for other keys');

SKIP:
{
	skip 'Redis before 7 has no functions', 19 unless $ways{function};
	is($redis->cli(@as, 'FCALL_RO', 'bloomext_contains', 1, 'growing', 'Title 10'), '1', 'an account for the function alone');

	# A cluster's nodes each load the library.  KEY alone is declared.
	my @nodes = RedisServer->cluster;
	is(lines_of($library, 'redis-cli', '-p', $_->{port}, '-x', 'FUNCTION', 'LOAD', 'REPLACE'), 'bloomext', 'loaded by redis-cli')
	  foreach @nodes;
	my @cluster = ('redis-cli', '-c', '-p', $nodes[0]{port});
	my $ask = sub { lines_of('', @cluster, 'FCALL_RO', @_) };
	sql("CREATE SERVER cluster FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$nodes[0]{port}', cluster 'true');
		CREATE USER MAPPING FOR CURRENT_USER SERVER cluster");
	my %layouts = (plain => 'bitmap', 'some{tag}' => 'bitmap', '{growing}' => 'growing');
	for my $key (sort keys %layouts)
	{
		my $expansion = $layouts{$key} eq 'growing' ? 1 : 0;
		sql("SELECT bf_mirror(bf_add_all(bf_create(100, 0.01, expansion => $expansion), '{x,y}'::text[]), 'cluster', '$key', '$layouts{$key}')");
		is($ask->('bloomext_contains', 1, $key, 'x', 'y', 'z'), 110, "a cluster: $key");
	}

	# A string that a service wrote, its hash's key in another slot or not.
	sql("SELECT bf_mirror(bf_add_all(bf_create(100, 0.01), '{x,y}'::text[]), 'cache', 'service')");
	my $stream = ask('GET', 'service');
	for my $key ('a}b', '{}x', 'service')
	{
		is(lines_of($stream, @cluster, '-x', 'SET', $key), 'OK', "a cluster: $key is written");
		is($ask->('bloomext_contains_as', 1, $key, 'utf8', 'x', 'y', 'z'), 110, "a cluster: $key");
		like($ask->('bloomext_contains', 1, $key, 'x'), qr/kind .* is not known/, "a cluster: $key, of unknown kind");
		like($ask->('bloomext_contains_as', 1, "$key-", 'utf8', 'x'), qr/no filter at/, 'a cluster: no filter');
	}
}

done_testing();
