# doc/readers: programs that ask filters in Redis, in five languages, answer as SQL
# does, of every kind of elements, false positives included; they follow a filter that
# is replaced by one of another size, and where there is no filter they do not say no.
# The programs of doc/readers/README.md print what it shows, by the account that it names.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(blocks run_blocks);
use Languages qw(python node go rust java_of output_of);
use RedisServer;
use RedisTest qw(start_postgres sql);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new(port => RedisServer::free_port());
my $node = start_postgres('', extra => [ '--no-locale', '--encoding=UTF8' ]);

# Each reader beside the program that asks by it and that of the page, which is called
# titles.
my $root = "$FindBin::RealBin/../..";
my $page = 'doc/readers/README.md';
my $built = PostgreSQL::Test::Utils::tempdir();
my %asks = (Python => 'python/ask.py', Node => 'node/ask.js', Go => 'go/ask/ask.go', Rust => 'rust/examples/ask.rs', Java => 'java/Ask.java');
my %titles = map { $_ => $asks{$_} =~ s/ask/titles/gr =~ s/Ask/Titles/r } keys %asks;
my %programs = map { $_->{section} => $_ } grep { $_->{shown} } blocks($page);
system("cp -R '$root/doc/readers'/* '$built' && mkdir '$built/go/ask' '$built/go/titles' '$built/rust/examples'") == 0
  or die 'cannot copy the readers';
foreach my $language (keys %asks)
{
	my ($name) = $asks{$language} =~ /(ask\.\w+)$/i;
	system("cp '$root/test/interop/readers/$name' '$built/$asks{$language}'") == 0 or die "cannot copy $name";
	append_to_file("$built/$titles{$language}", $programs{$language}{text});
}
my %commands = (
	Python => sub { python("$built/python/$_[0].py", 'redis', 'mmh3') },
	Node => sub { node("$built/node/$_[0].js", "$root/doc/readers/node", 'redis') },
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

# What is there instead of a filter: one of another size, nothing, one that grows, and
# something whose first bytes look like a filter's.
sql(q{
	CREATE TABLE other_filter AS SELECT bf_agg(element, 30000, 0.001) FILTER (WHERE i % 2 = 0) AS f FROM text_elements;
	SELECT bf_mirror(f, 'cache', 'other') FROM other_filter;
	SELECT bf_mirror(bf_agg(element, 1000, 0.03, 'guava', 2), 'cache', 'growing') FROM text_elements;
	SELECT bf_mirror(bf_agg(element, 10000, 0.03, 'magnuss'), 'cache', 'bits') FROM text_elements;
});
$redis->cli('EVAL', q{return redis.call('SETRANGE', 'bits', 0, '\1\5\0\0\0\9')}, 0);
my $of_other = sql('SELECT bf_contains(f, element)::int FROM text_elements, other_filter ORDER BY i') . "\n";

cmp_ok(scalar(() = $answers{text} =~ /1/g), '>', 10100, 'there are false positives');
isnt($of_other, $answers{text}, 'and others in another filter');

# What a reader says that is neither an error nor "maybe".
sub no_answers
{
	my ($out, $err, $status) = output_of("$built/text", @_);
	return 'nothing, and no error' if $out eq '' && !$status;
	return $out =~ /0/ ? 'no' : '';
}

$redis->cli(split ' ', $1) if slurp_file("$root/$page") =~ /`(ACL SETUSER service [^`]*)`/;
$node->safe_psql('postgres', 'CREATE DATABASE page');
run_blocks($node, 'page', $redis, grep { $_->{language} eq 'sql' } blocks($page));

foreach my $language (sort keys %commands)
{
	my @command = $commands{$language}->('ask');
  SKIP:
	{
		skip "no reader in $language", 16 unless @command;
		local $ENV{REDIS_URL} = "redis://service:password\@127.0.0.1:$redis->{port}";
		my ($out, $err, $status) = output_of('/dev/null', $commands{$language}->('titles'));
		is($out, ${ $programs{$language}{shown} }, "$language: the page's program") or diag $err;

		push @command, "redis://127.0.0.1:$redis->{port}";
		foreach my $kind (@kinds)
		{
			($out, $err, $status) = output_of("$built/$kind", @command, $kind, $kind);
			is($status, 0, "$language, $kind: no error") or diag $err;
			ok($out eq $answers{$kind}, "$language, $kind: answers as SQL does");
		}
		$redis->cli('COPY', 'text', 'again', 'REPLACE');
		ok((output_of("$built/text", @command, 'again', 'text', 'COPY', 'other', 'again', 'REPLACE'))[0] eq $of_other,
			"$language: follows what replaces a filter");
		is(no_answers(@command, 'again', 'text', 'DEL', 'again'), '', "$language: no filter any more");
		is(no_answers(@command, $_, 'text'), '', "$language: no filter at $_") for qw(absent growing bits);
	}
}

$node->stop;
done_testing();
