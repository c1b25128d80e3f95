# Documents that use Redis: their SQL runs, as documents.pl has it of all others, on
# a real server.  doc/redis.md and doc/redis-readers.md are true: commands are answered
# as they say; formulas, code and tables agree with what SQL computes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(pages blocks code uses_redis run_blocks check_page);
use Languages ();
use RedisServer;
use RedisTest qw(start_postgres sql state_of outcome);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;
plan skip_all => 'python3 is not installed' if system('command -v python3 >/dev/null 2>&1') != 0;

my $work = $PostgreSQL::Test::Utils::tmp_check;
my $python = "$FindBin::RealBin/../../interop/python";
my $operate = slurp_file('doc/redis.md');
my $readers = slurp_file('doc/redis-readers.md');

my $redis = RedisServer->new(port => RedisServer::free_port());
my $node = start_postgres("autovacuum = off\n", extra => [ '--encoding', 'UTF8', '--no-locale' ]);

check_page($node, $_, $redis) foreach grep { uses_redis($_) } pages();

# The rows of the table whose first row begins so, as arrays of cells.
sub table
{
	my ($document, $head) = @_;
	my ($rows) = $document =~ /^\Q$head\E[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m or die "no table $head";
	return map { [ /\G\| ?((?:[^|`]|`[^`]*`)*?) ?(?=\|)/g ] } split /\n/, $rows;
}

# A cell without what marks it up.
sub plain { return $_[0] =~ s/[`*]//gr; }

sub output_of
{
	my ($input, @command) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', \$input, '>', \$out, '2>', \$err) or diag "@command: $err";
	return $out;
}

# On with what these two have made, and with their job for pg_cron, which here runs as
# soon as it is scheduled.
$redis->cli('FLUSHALL');
my @examples = grep { $_->{language} =~ /^(?:sql|postgresql)$/ } map { blocks("doc/$_.md") } 'redis', 'redis-readers';
sql(q{CREATE SCHEMA cron;
	CREATE FUNCTION cron.schedule(name text, times text, command text) RETURNS void LANGUAGE plpgsql AS 'BEGIN EXECUTE command; END'});
my ($said, $error) = run_blocks($node, 'postgres', $redis, @examples);
is(scalar @$said, scalar @examples, 'both run in one database, one after the other') or diag $error;
cmp_ok($redis->cli('PTTL', 'titles'), '>', 0, 'a mirror expires');

# A writer that comes while the filter is built adds to the new one.
my ($lock, $build) = map { $_->{text} =~ /^(BEGIN;\nLOCK [^\n]*\n)(.*)/s ? ($1, $2) : () } @examples;
my @psql = ('psql', '-X', '-q', '-d', $node->connstr('postgres'));
my $input = $lock;
my $rebuild = IPC::Run::start(\@psql, '<', \$input, '>', '/dev/null');
my $locked = "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'articles'::regclass AND";
$rebuild->pump_nb;
ok($node->poll_query_until('postgres', "$locked mode = 'ShareLock' AND granted"), 'a rebuild keeps writers out');
my $writer = IPC::Run::start([ @psql, '-c', "INSERT INTO articles (title) VALUES ('late')" ]);
ok($node->poll_query_until('postgres', "$locked NOT granted"), 'one waits');
$input .= $build;
ok($rebuild->finish && $writer->finish, 'both end');
is(sql("SELECT bf_redis_contains_each('cache', 'titles', ARRAY['Title number 1', 'late'])"), '{t,t}', 'and nothing is lost');

# What is not committed is in no live filter, though its trigger has added it.
$input = "BEGIN;\nINSERT INTO articles (title) VALUES ('pending');\n";
my $pending = IPC::Run::start(\@psql, '<', \$input);
$pending->pump_nb;
ok($node->poll_query_until('postgres', "SELECT bf_redis_contains('cache', 'titles', 'pending')"), 'a trigger adds before the commit');
sql("SELECT bf_live_mirror('articles', 'cache', 'titles')");
$input .= "COMMIT;\n";
$pending->finish;
is(sql("SELECT bf_redis_contains('cache', 'titles', 'pending')"), 'f', 'bf_live_mirror without a lock takes that out');
is(sql("SELECT bf_live_mirror('articles', 'cache', 'titles') > 0, bf_redis_contains('cache', 'titles', 'pending')"), 't|t', 'until the next one');

# Restored from an older dump, a mirror lacks what came since, until the next one.
$redis->cli('SAVE');
sql("INSERT INTO articles (title) VALUES ('since')");
is(sql("SELECT bf_redis_contains('cache', 'titles', 'since')"), 't', 'an element is added');
$redis->stop('KILL');
$redis->start;
is(sql("SELECT bf_redis_contains('cache', 'titles', 'since')"), 'f', 'restored, Redis lacks it');
is(sql("SELECT bf_live_mirror('articles', 'cache', 'titles') > 0, bf_redis_contains('cache', 'titles', 'since')"), 't|t', 'until it is mirrored');

# Layouts: the strategies that each takes, and its keys.
my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms parquet);
for my $row (table($operate, '| Layout | Keys | Strategies'))
{
	my ($layout, $keys, $taken) = @$row;
	$layout = plain($layout);
	my $expansion = $layout eq 'growing' ? 1 : 0;
	my %mentioned = map { $_ => 1 } $taken =~ /([a-z]+\d*)/g;
	for my $strategy (@strategies)
	{
		my $create = "bf_redis_create('cache', '{made}', 100, 0.01, '$strategy', expansion => $expansion";
		my $bold = $taken =~ /\*\*$strategy\*\*/;
		next if $layout eq 'redisbloom' && $strategy eq 'redisbloom';    # needs the module
		is(state_of("SELECT $create, layout => '$layout')"), $mentioned{$strategy} ? '' : '22023', "$layout: $strategy");
		next unless $mentioned{$strategy};
		sql("SELECT bf_redis_drop('cache', '{made}')");
		sql("SELECT $create)") if $bold || $strategy ne 'redisbloom';
		is(sql("SELECT layout FROM bf_redis_info('cache', '{made}')") eq $layout, $bold, "$layout: default for $strategy")
		  if $bold || $strategy ne 'redisbloom';
		sql("SELECT bf_redis_drop('cache', '{made}')");
	}
}

# Commands, and how they are answered.
for my $console (code('doc/redis-readers.md', 'console'))
{
	my @lines = split /\n/, $console;
	while (my ($command, $answer) = splice @lines, 0, 2)
	{
		is($redis->cli(split ' ', $command =~ s/^> //r) =~ s/\n/ /gr, $answer, $command);
	}
}

# What is evicted: SQL says "no" only where Redisson alone filled the filter.
sub after_losing
{
	my ($key) = @_;
	$redis->cli('RENAME', $key, 'aside');
	my $answer = outcome("SELECT bf_redis_contains('cache', 'lost', 'Title number 1')");
	$redis->cli('RENAME', 'aside', $key);
	return $answer;
}
my %lost = (
	guava => { filter => 'bf_agg(title, 1000)', lost => '42704', '{lost}:bloomext' => 't' },
	bitmap => { filter => "bf_agg(title, 1000, 0.03, 'magnuss')", lost => '42704', '{lost}:bloomext' => '42704' },
	redisson => { filter => "bf_agg(title, 1000, 0.03, 'redisson')", lost => '42704', '{lost}:config' => '42704', '{lost}:bloomext' => 't' },
	growing => { filter => "bf_agg(title, 600, 0.03, 'guava', 1)", map { $_ => '42704' } qw(lost-0 lost-1 lost-cursor lost-config) });
for my $layout (sort keys %lost)
{
	my $filter = delete $lost{$layout}{filter};
	sql("SELECT bf_mirror($filter, 'cache', 'lost') FROM articles WHERE title LIKE 'Title%'");
	is(join(' ', sort split /\n/, $redis->cli('KEYS', '*lost*')), join(' ', sort keys %{ $lost{$layout} }), "$layout: its keys");
	is(after_losing($_), $lost{$layout}{$_}, "$layout: without $_") for sort keys %{ $lost{$layout} };
	if ($layout eq 'redisson')
	{
		$redis->cli('DEL', '{lost}:bloomext');
		is(after_losing('lost'), 'f', 'redisson: without the string that Redisson filled');
	}
	sql("SELECT bf_redis_drop('cache', 'lost')");
}

# What a service makes by Guava says nothing of its kind, until SQL does.
sql("SELECT bf_mirror(bf_agg(i, 1000, 0.01), 'cache', 'ids') FROM generate_series(1::bigint, 500) AS i");
$redis->cli('DEL', '{ids}:bloomext');
is(outcome("SELECT bf_redis_contains_each('cache', 'ids', ARRAY[500, 501])"), '{t,f}', 'a key of a service: asked for integers');
is(outcome("SELECT bf_redis_add('cache', 'ids', 501)"), '22023', 'and told which they are');
is(outcome("SELECT bf_redis_create('cache', 'ids', 1000, 0.01, funnel => 'long'), bf_redis_add('cache', 'ids', 501)"), 'f|t', 'once');
is(outcome("SELECT bf_fetch('cache', 'ids') @> 501::bigint, (SELECT funnel FROM bf_redis_info('cache', 'ids'))"), 't|long', 'to add such');

# A script reads a bit string and its shape, and denies nothing where a part is gone.
my ($lua) = code('doc/redis-readers.md', 'lua');
my @bits = split /,/, sql("SELECT array_to_string(bf_positions(bf_create(1000, 0.01) + 'a', 'a') || bf_positions(bf_create(1000, 0.01), 'b'), ',')");
sub by_script { return $redis->cli('EVAL', $lua, 2, 'bits', '{bits}:bloomext', @bits) =~ s/\n/ /gr; }
sql("SELECT bf_mirror(bf_create(1000, 0.01) + 'a', 'cache', 'bits', 'bitmap')");
like(by_script(), qr/^bitmap guava 9600 7( 1){7} [01 ]*0/, 'Lua, by GETBITs');
for my $part ('bits', '{bits}:bloomext')
{
	$redis->cli('RENAME', $part, 'elsewhere');
	like(by_script(), qr/no whole filter/, "without $part");
	$redis->cli('RENAME', 'elsewhere', $part);
}

# A full Redis can be read, by one command.
$redis->cli('CONFIG', 'SET', 'maxmemory', 1);
is($redis->cli('BITFIELD_RO', 'letters', 'GET', 'u1', 102), 1, 'a full Redis: BITFIELD_RO');
is($redis->cli('EVAL', "return redis.call('GETBIT', KEYS[1], 102)", 1, 'letters'), 1, 'a full Redis: EVAL');
$redis->cli('CONFIG', 'SET', 'maxmemory', 0);

# Shells ask by functions of Redis, where it has some.
SKIP:
{
	skip 'Redis has no functions', 1 if $redis->cli('INFO', 'server') =~ /redis_version:[0-6]\b/;
	mkdir "$work/bin";
	append_to_file("$work/bin/redis-cli", "#!/bin/sh\nPATH=\${PATH#*:}\nexec redis-cli -s $redis->{socket} \"\$\@\"\n");
	chmod 0755, "$work/bin/redis-cli";
	append_to_file("$work/titles.txt", "Title number 1\nno title\nlate\n");
	sql("INSERT INTO articles (title) VALUES ('Main Page')");
	local $ENV{PATH} = "$work/bin:$ENV{PATH}";
	is(output_of('', 'sh', '-ec', join '', "cd '$work'\n", code('doc/redis-readers.md', 'sh')), "bloomext\n1\n0\n1\n0\n1\n1\n0\n", 'a shell, by functions of Redis');
}

# Code, as it stands, asks about titles of all kinds.
{
	my ($copy, @code) = sort { $b =~ /bloomfilter/ <=> $a =~ /bloomfilter/ } code('doc/redis-readers.md', 'python');
	append_to_file("$work/document.py", join "\n", @code);
	append_to_file("$work/document_copy.py", $copy);
}
$ENV{PYTHONPATH} = "$work:$python";
$ENV{PYTHONDONTWRITEBYTECODE} = 1;
my $titles = "SELECT i, (ARRAY['', '文 ', '🎉 ', 'عنوان ', 'e' || chr(769) || ' '])[i % 5 + 1] || i AS title FROM generate_series(1, 1000) AS i";
sql("SELECT bf_mirror(bf_agg(title, 500, 0.01), 'cache', 'code') FROM ($titles) AS t WHERE i <= 500");
my $asked = sql("SELECT title FROM ($titles) AS t ORDER BY i") . "\n";
my $answers = sql("SELECT bf_contains(bf_fetch('cache', 'code'), title)::int FROM ($titles) AS t ORDER BY i") . "\n";
SKIP:
{
	my @ask = Languages::python("$python/ask.py", 'bloomfilter');
	skip 'bloomfilter-py is not installed', 1 unless @ask;
	is(output_of($asked, @ask, $redis->{socket}, 'code'), $answers, 'Python, by a copy');
}

# Positions, of "strategy m k hex" each, from the formulas.
sub positions { return split /\n/, output_of(join('', map { "$_\n" } @_), 'python3', "$python/positions.py"); }

# Elements as bytes, of the kind that a strategy takes.
for my $row (table($readers, '| SQL | bytes | for example'))
{
	my ($kind, undef, $element, $bytes) = map { plain($_) } @$row;
	my $funnel = $kind =~ /funnel (\w+)/ ? "'$1'" : 'NULL';
	is(join(', ', positions("guava 1000000 3 $bytes")),
		sql("SELECT array_to_string(bf_positions(bf_create_bits(1000000, 3, 'guava', $funnel), $element), ', ')"), "bytes of $element");
}

# Vectors: what SQL says, and what the formulas say.
my %text = ("''" => '', "'文'" => 'e69687', '42::bigint' => '3432');
my %bytes = ((map { $_ => \%text } qw(redisson magnuss redisbloom)),
	(map { $_ => { %text, '42::bigint' => '2a00000000000000' } } qw(guava guava32 spark1 spark2 parquet)),
	bitsandblooms => { %text, '42::bigint' => undef },
	tale2009 => { %text, "'文'" => '8765', '42::bigint' => '34003200' },
	cassandra => { %text, "'文'" => 'feff6587', '42::bigint' => 'feff00340032' });
my @vectors = table($readers, "| | `''` |");
is(scalar @vectors, scalar @strategies, 'a vector for each strategy');
for my $row (@vectors)
{
	my ($strategy, @listed) = map { plain($_) } @$row;
	for my $element ("''", "'文'", '42::bigint')
	{
		my $listed = shift @listed;
		next if $listed eq 'not taken';
		my ($m, $k) = $strategy eq 'parquet' ? (1000192, 8) : (1000000, 3);
		is(sql("SELECT array_to_string(bf_positions(bf_create_bits($m, $k, '$strategy'), $element), ', ')"), $listed, "$strategy: SQL, $element");
		is(join('', positions("$strategy $m $k $bytes{$strategy}{$element}")), $listed, "$strategy: the formula, $element");
	}
}
for my $strategy (grep { $_ ne 'tale2009' } @strategies)
{
	my ($m, $k) = $strategy eq 'parquet' ? (1000192, 8) : (1000000, 5);
	my ($asked, $answered) = split /\|/, sql("SELECT string_agg('$strategy $m $k ' || encode(b, 'hex'), E'\\n' ORDER BY i),
			string_agg(array_to_string(bf_positions(f, b), ', '), E'\\n' ORDER BY i)
		FROM (SELECT bf_create_bits($m, $k, '$strategy') AS f) AS f,
			(SELECT i, substring(sha512(i::text::bytea) || sha512((i + 70)::text::bytea), 1, i) AS b FROM generate_series(0, 70) AS i) AS b");
	is(join("\n", positions(split /\n/, $asked)), $answered, "$strategy: bytes of any length");
}

# The code of the reader in JavaScript, also where the language's own operators fail.
SKIP:
{
	skip 'node is not installed', 1 if system('command -v node >/dev/null 2>&1') != 0;
	my ($reader) = slurp_file('clients/node/bloom_reader.js') =~ m{^(// MurmurHash3.*?)^// How the elements}ms;
	my @elements = map { ("guava 1000000 3 $_", "guava " . (1 << 35) . " 7 $_", "parquet 1000192 8 $_", "parquet " . (1 << 35) . " 8 $_") } values %text, unpack 'H*', 'seventeen bytes ..';
	my $code = $reader . <<'END';
for (const line of require('fs').readFileSync(0, 'utf8').trimEnd().split('\n')) {
	const [strategy, m, k, hex] = line.split(' ');
	console.log(POSITIONS[strategy](Buffer.from(hex, 'hex'), BigInt(m), Number(k)).join(', '));
}
END
	is(output_of(join('', map { "$_\n" } @elements), 'node', '-e', $code), join('', map { "$_\n" } positions(@elements)), 'JavaScript');
}

$node->stop;
done_testing();
