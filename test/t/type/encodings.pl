# Text hashes as UTF-8 whatever the database's encoding: the same filters in
# UTF8, LATIN1, WIN1252 and EUC_JP databases; a SQL_ASCII database takes ASCII
# and refuses the rest, because nobody knows what its bytes mean.  Text that is
# not valid, as settings of a connection may be, is refused where it is converted.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encodings');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

foreach my $encoding ('UTF8', 'LATIN1', 'WIN1252', 'EUC_JP', 'SQL_ASCII')
{
	$node->safe_psql('postgres',
		"CREATE DATABASE \"db_$encoding\" TEMPLATE template0 ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql("db_$encoding", 'CREATE EXTENSION bloomext');
}

# A text by its UTF-8 bytes, in any database that has the characters.
sub utf8
{
	my ($hex) = @_;
	return "convert_from('\\x$hex', 'UTF8')";
}

# The strings that each encoding has: plain, '', Latin, the euro sign, Japanese.
my @plain = map { utf8($_) } ('', '61', '7469746c65', '41' x 3000);
my @latin = map { utf8($_) } ('c3a9', 'c39f', '6ec3a4c3b6c3bc', 'c3bf' x 2000, 'c2a0');
my @euro = map { utf8($_) } ('e282ac', 'e284a2');
my @japanese = map { utf8($_) } ('e6a899', 'e6a899e9a18c' x 1000, 'e38182');
my %strings = (
	LATIN1 => [ @plain, @latin ],
	WIN1252 => [ @plain, @latin, @euro ],
	EUC_JP => [ @plain, @japanese ],
	SQL_ASCII => \@plain);

my @queries = (
	"SELECT bf_add_all(bf_create(100, 0.001, '%s'), a) FROM s",
	"SELECT bf_add_all(bf_create(100, 0.001, '%s', 'utf16'), a) FROM s",
	"SELECT bf_agg(x, 100, 0.001, '%s') FROM s, unnest(a) x",
	"SELECT string_agg(bf_positions(bf_create(1000, 0.001, '%s'), x)::text, ' ' ORDER BY i) FROM s, unnest(a) WITH ORDINALITY u(x, i)",
	"SELECT string_agg((bf_create(10, 0.01, '%s') + x)::text, ' ' ORDER BY i) FROM s, unnest(a) WITH ORDINALITY u(x, i)");

foreach my $encoding (sort keys %strings)
{
	my $with = 'WITH s(a) AS (SELECT ARRAY[' . join(', ', @{ $strings{$encoding} }) . ']) ';
	foreach my $strategy ('guava', 'guava32')
	{
		my $number = 0;
		foreach my $query (@queries)
		{
			# The database's own encoding for the client: nothing is converted
			# on the way, and only hex comes back.
			my $sql = $with . sprintf($query, $strategy);
			my $got = $node->safe_psql("db_$encoding", $sql);
			my $want = $node->safe_psql('db_UTF8', $sql);
			$number++;
			ok($want ne '' && $got eq $want, "$encoding, $strategy, query $number as in UTF8");
		}
	}

	# A filter made under UTF-8 answers here, one element at a time and together.
	my $filter = $node->safe_psql('db_UTF8', $with . 'SELECT bf_agg(x, 100, 0.0001) FROM s, unnest(a) x');
	is( $node->safe_psql("db_$encoding",
			$with . "SELECT bool_and(f \@> x), bf_contains_all(f, a), f \@> 'absent'"
			  . " FROM s, unnest(a) x, (SELECT '$filter'::bloomfilter AS f) f GROUP BY f, a"),
		't|t|f', "$encoding answers from a filter made in UTF8");
}

# What the encoding cannot say for sure is refused, whatever asks for it.
foreach my $query (
	"bf_add(bf_create(10), chr(233))",
	"bf_create(10) + chr(233)",
	"bf_contains(bf_create(10, funnel => 'utf8'), chr(233))",
	"bf_create(10, funnel => 'utf8') \@> ('a' || chr(128))",
	"bf_contains(bf_create(10, funnel => 'utf16'), chr(233))",
	"bf_add_all(bf_create(10), ARRAY['a', chr(233)])",
	"bf_contains_each(bf_create(10, funnel => 'utf8'), ARRAY['a', chr(233)])",
	"bf_contains_all(bf_create(10) + 'a', ARRAY['a', chr(233)])",
	"bf_positions(bf_create(10), chr(233))",
	"(SELECT bf_agg(x, 10) FROM unnest(ARRAY['a', chr(233)]) x)",
	"(SELECT bf_agg(x) FROM unnest(ARRAY['a', chr(233)]) x)")
{
	my ($status, $out, $err) = $node->psql('db_SQL_ASCII', "\\set VERBOSITY sqlstate\nSELECT $query");
	like($err, qr/ERROR:\s+22021/, "SQL_ASCII refuses $query");
}

# Its bytes as bytea are no question of encoding; the error kept nothing.
is( $node->safe_psql('db_SQL_ASCII',
		"SELECT (bf_create(10) + '\\xe9'::bytea) \@> '\\xe9'::bytea, (bf_create(10) + 'a') \@> 'a'"),
	't|t', 'SQL_ASCII takes bytea and ASCII');

# Long texts are converted in pieces: characters lie across the ends of those.
foreach my $case ([ 'LATIN1', 'c3a9', 2500000 ], [ 'EUC_JP', 'e6a899', 1500000 ], [ 'WIN1252', 'e282ac', 2500000 ])
{
	my ($encoding, $character, $count) = @$case;
	foreach my $f ("'guava', 'utf8'", "'guava', 'utf16'", "'cassandra'")
	{
		my $sql = "SELECT bf_positions(bf_create(1000, 0.01, $f), repeat('a', n) || repeat(" . utf8($character) . ", $count)) FROM generate_series(0, 2) n";
		my $want = $node->safe_psql('db_UTF8', $sql);
		ok($want ne '' && $node->safe_psql("db_$encoding", $sql) eq $want, "$encoding, $f: a long text as in UTF8");
	}
}

# Text that is not valid, for reasons of each kind and of any length: PostgreSQL
# does not look into what a connection sets as it starts.
sub outcomes
{
	my ($database, $bytes, @queries) = @_;
	local $ENV{PGOPTIONS} = "-c app.x=$bytes";
	my ($status, $out, $err) = $node->psql($database,
		"\\set VERBOSITY sqlstate\n" . join(";\n", @queries), on_error_stop => 0);
	return $status != 0 ? "crashed: $err" : join ' ', "$out\n$err" =~ /(?<=ERROR:  )\w+|^(?:found|lost)$/mg;
}

$node->safe_psql('db_UTF8', q(
	CREATE TABLE invalid (x text); CREATE INDEX ON invalid USING bloomfilter (x) WITH (funnel = 'utf16', expected = 100)));
my $x = "repeat(current_setting('app.x'), %d)";
my @converting = (
	"SELECT bf_contains(bf_create(10, 0.1, 'guava', 'utf16'), $x)",
	"SELECT bf_create(10, 0.1, 'guava32', 'utf16') + $x",
	"SELECT bf_add(bf_create(10, 0.1, 'cassandra'), $x)",
	"SELECT bf_create(10, 0.1, 'tale2009') \@> $x",
	"SELECT bf_create(10, 0.1, 'tale2009') \@> any (ARRAY[$x])",
	"SELECT bf_positions(bf_create(10, 0.1, 'cassandra'), $x)",
	"SELECT bf_contains_all(bf_create(10, 0.1, 'guava', 'utf16'), ARRAY['a', $x])",
	"SELECT bf_contains_each(bf_create(10, 0.1, 'tale2009'), ARRAY['a', $x])",
	"SELECT bf_add_all(bf_create(10, 0.1, 'cassandra'), ARRAY['a', $x])",
	"SELECT bf_agg($x, 10, 0.1, 'tale2009')",
	"INSERT INTO invalid VALUES ($x)",
	"SELECT bf_live_contains('invalid', $x)");
my @as_is = (
	"SELECT CASE WHEN (bf_create(10, 0.0001) + $x) \@> $x THEN 'found' ELSE 'lost' END",
	"SELECT CASE WHEN bf_contains_all(bf_agg($x, 10, 0.0001), ARRAY[$x]) THEN 'found' ELSE 'lost' END");
foreach my $bytes ("\xff", "\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
	"\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xff", "\xc3\xa9\xc3", "\xff\xe6\xa8\x99" x 100, "\x80" x 1000)
{
	my $name = unpack('H16', $bytes);
	foreach my $count (1, 7, 5000)
	{
		is( outcomes('db_UTF8', $bytes, map { s/%d/$count/gr } @converting),
			join(' ', ('22021') x @converting), "$count times $name is refused where it is converted");
		is( outcomes('db_UTF8', $bytes, map { s/%d/$count/gr } @as_is),
			'found found', "$count times $name is found where it is not");
	}
}
# Of other encodings every text is converted.
foreach my $bytes ("\xff", "\xa4", "a\x8f\xa1", "\xa4\xa2\xa4")
{
	is( outcomes('db_EUC_JP', $bytes, map { s/%d/5001/gr } grep { !/invalid/ } @converting, "SELECT bf_create(10) + $x"),
		join(' ', ('22021') x (@converting - 1)), 'EUC_JP: ' . unpack('H*', $bytes) . ' is refused');
}

$node->stop;
done_testing();
