# Filters of Parquet files: what pyarrow and DuckDB write is lifted out of the files by
# the function of doc/scale.md, and is in SQL what SQL makes of the same elements.  DuckDB
# gives the answers that SQL gives.
#
# BLOOMEXT_REQUIRE_PARQUET=1 makes missing Python modules a failure.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use Languages qw(python_of);

my $dir = PostgreSQL::Test::Utils::tempdir();
my $folder = "$FindBin::RealBin/../../interop/parquet";
my @files = python_of("$folder/files.py", $folder, 'pyarrow', 'duckdb');
if (!@files)
{
	die 'pyarrow and duckdb cannot be had' if $ENV{BLOOMEXT_REQUIRE_PARQUET};
	plan skip_all => 'pyarrow and duckdb are not installed, and cannot be fetched';
}

my $node = PostgreSQL::Test::Cluster->new('parquet');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
my %expressions = (
	text => [ 'text', "'标题 ' || g" ],
	bytea => [ 'bytea', "substr(sha512(g::text::bytea), 1, 1 + g::int % 60)" ],
	uuid => [ 'uuid', 'md5(g::text)::uuid' ],
	integer => [ 'integer', '(g - 50000) * 7919' ],
	bigint => [ 'bigint', '(g - 50000) * 5000000029' ]);
my %funnel = (text => 'utf8', bytea => 'bytes', uuid => 'bytes', integer => 'int', bigint => 'long');
my @kinds = sort keys %expressions;

# 100,000 elements of each kind are written, and as many are not.
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext;' . join('', map {
	my ($type, $expression) = @{ $expressions{$_} };
	"CREATE TABLE of_$_ AS SELECT g <= 100000 AS present, ($expression)::$type AS x FROM generate_series(1::bigint, 200000) AS g;" } @kinds));
# A short digest may be one that is present.
$node->safe_psql('postgres', 'DELETE FROM of_bytea WHERE NOT present AND x IN (SELECT x FROM of_bytea WHERE present)');
$node->safe_psql('postgres', 'COPY (' . join(' UNION ALL ', map {
	my $value = $_ eq 'bytea' ? "encode(x, 'hex')" : 'x::text';
	"SELECT '$_', CASE WHEN present THEN 'present' ELSE 'absent' END, $value FROM (SELECT DISTINCT present, x FROM of_$_) AS d" } @kinds) . ") TO '$dir/elements.tsv'");

append_to_file("$dir/lift.py", join "\n", code('doc/scale.md', 'python', 'Parquet files'));
command_ok([ @files, $dir ], 'pyarrow and DuckDB write files, and their filters are lifted out');

my ($lake) = code('doc/scale.md', 'sql', 'Parquet files');
my ($create) = $lake =~ /^(CREATE TABLE lake .*?;)/s;
my ($union) = $lake =~ /^(SELECT bf_union_agg.*?;)/m;
my ($asks) = $lake =~ /^(SELECT DISTINCT .*?;)/m;
$node->safe_psql('postgres', qq{
	$create
	CREATE TABLE lifted (writer text, kind text, file text, row_group int, stream text);
	COPY lifted FROM '$dir/filters.tsv';
	CREATE TABLE answers (file text, kind text, value text, maybe boolean);
	COPY answers FROM '$dir/answers.tsv';
	CREATE TABLE filters AS SELECT writer, kind, file, row_group,
		bf_import(decode(stream, 'hex'), 'parquet', CASE kind WHEN 'text' THEN 'utf8' WHEN 'integer' THEN 'int' WHEN 'bigint' THEN 'long' ELSE 'bytes' END) AS f
	FROM lifted;
});
is($node->safe_psql('postgres', 'SELECT writer, count(DISTINCT kind), count(DISTINCT file), bool_and(f IS NOT NULL), count(*) > count(DISTINCT file) FROM filters GROUP BY 1 ORDER BY 1'),
	"duckdb|5|5|t|t\npyarrow|5|10|t|t", 'filters of all kinds, of several row groups');

# Of all files: every element that was written is in a row group's filter, and what the
# union of the row groups says of others is what the filter of all elements says.
foreach my $kind (@kinds)
{
	is($node->safe_psql('postgres', "SELECT count(*) FROM of_$kind, (SELECT DISTINCT file FROM filters WHERE kind = '$kind') AS files
		WHERE present AND NOT EXISTS (SELECT FROM filters WHERE filters.file = files.file AND bf_contains(f, x))"), 0, "$kind: all that was written is there");
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE united = bf_add_all(bf_create_bits((bf_info(united)).bits, 8, 'parquet', '$funnel{$kind}'), all_of))
		FROM (SELECT file, bf_union_agg(f) AS united FROM filters WHERE kind = '$kind' GROUP BY file) AS u,
			(SELECT array_agg(x) AS all_of FROM of_$kind WHERE present) AS a"),
		'3|3', "$kind: a file's filters, united, are the one of its elements, bit for bit");
	my $type = $expressions{$kind}[0];
	my $value = $kind eq 'bytea' ? "decode(value, 'hex')" : "value::$type";
	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE maybe <>
			(SELECT bool_or(bf_contains(f, $value)) FROM filters WHERE filters.file = answers.file)), count(*) FILTER (WHERE NOT maybe) > 500
		FROM answers WHERE kind = '$kind'"), '660|0|t', "$kind: DuckDB answers as SQL does");
}

# The page's own table.
$node->safe_psql('postgres', "INSERT INTO lake SELECT file, row_group, f FROM filters WHERE kind = 'bigint'");
is($node->safe_psql('postgres', $asks =~ s/4711::bigint/(SELECT min(x) FROM of_bigint WHERE present)/r =~ s/DISTINCT file/count(DISTINCT file)/r), 3, 'the files that have an id');
is($node->safe_psql('postgres', "SELECT count(*) FROM of_bigint, (" . ($union =~ s/;.*//r) . ") AS u (f) WHERE present AND bf_contains(f, x)"), 100000, 'anywhere in the lake');
$node->safe_psql('postgres', "INSERT INTO lake VALUES ('no filter', 0, NULL)");
is($node->safe_psql('postgres', $asks =~ s/4711::bigint/-1::bigint/r), 'no filter', 'a row group without a filter may have anything');
is($node->safe_psql('postgres', $union), '', 'and so may the lake');

$node->stop;
done_testing();
