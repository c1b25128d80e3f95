# Text hashes as UTF-8 whatever the database's encoding: the same filters in
# UTF8, LATIN1, WIN1252 and EUC_JP databases; a SQL_ASCII database takes ASCII
# and refuses the rest, because nobody knows what its bytes mean.
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
	"SELECT string_agg((bf_create(10, 0.01, '%s') || x)::text, ' ' ORDER BY i) FROM s, unnest(a) WITH ORDINALITY u(x, i)");

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
	"bf_create(10) || chr(233)",
	"bf_contains(bf_create(10, funnel => 'utf8'), chr(233))",
	"bf_create(10, funnel => 'utf8') \@> ('a' || chr(128))",
	"bf_contains(bf_create(10, funnel => 'utf16'), chr(233))",
	"bf_add_all(bf_create(10), ARRAY['a', chr(233)])",
	"bf_contains_each(bf_create(10, funnel => 'utf8'), ARRAY['a', chr(233)])",
	"bf_contains_all(bf_create(10) || 'a', ARRAY['a', chr(233)])",
	"bf_positions(bf_create(10), chr(233))",
	"(SELECT bf_agg(x, 10) FROM unnest(ARRAY['a', chr(233)]) x)",
	"(SELECT bf_agg(x) FROM unnest(ARRAY['a', chr(233)]) x)")
{
	my ($status, $out, $err) = $node->psql('db_SQL_ASCII', "\\set VERBOSITY sqlstate\nSELECT $query");
	like($err, qr/ERROR:\s+22021/, "SQL_ASCII refuses $query");
}

# Its bytes as bytea are no question of encoding; the error kept nothing.
is( $node->safe_psql('db_SQL_ASCII',
		"SELECT (bf_create(10) || '\\xe9'::bytea) \@> '\\xe9'::bytea, (bf_create(10) || 'a') \@> 'a'"),
	't|t', 'SQL_ASCII takes bytea and ASCII');

$node->stop;
done_testing();
