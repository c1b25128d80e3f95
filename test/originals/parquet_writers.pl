# The filters of parquet-java, of arrow-rs and of Arrow C++, which are compiled here: each
# original makes filters of 100,000 elements of each kind, and Parquet files with filters
# that are lifted out by the function of doc/scale.md; and it reads the filters that SQL
# makes.  SQL and the original answer alike for all elements, and for 100,000 others of
# each kind, whoever made the filter.
#
# In a folder, an original finds elements.tsv (kind, "present" or "absent", value) and
# sql.tsv (name, kind, stream in hexadecimal).  It leaves filters.tsv, which is like the
# latter, with a filter "put" of the elements of each kind that are present; file.parquet,
# which has a column of each kind with these; and answers.tsv: the name of a filter ("file"
# is the file's), its kind, and 0 or 1 for each element of that kind, or "refused".
#
# What is missing is a failure.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use Languages qw(java python_of rust);

my $dir = PostgreSQL::Test::Utils::tempdir();
my %kinds = (
	text => [ 'text', "repeat('标题 ', g::int % 9) || g", 'utf8' ],
	bytea => [ 'bytea', "substr(sha512(g::text::bytea), 1, 8 + g::int % 56)", 'bytes' ],
	uuid => [ 'uuid', 'md5(g::text)::uuid', 'bytes' ],
	integer => [ 'integer', '(g - 50000) * 7919', 'int' ],
	bigint => [ 'bigint', '(g - 50000) * 5000000029', 'long' ]);

my $node = PostgreSQL::Test::Cluster->new('parquet_writers');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext; CREATE TABLE own (name text, kind text, f bloomfilter)');

# Files of elements, and the filters of them that SQL makes: of the fewest blocks, which
# are no power of two, and of one.
mkdir "$dir/made" or die $!;
foreach my $kind (sort keys %kinds)
{
	my ($type, $expression, $funnel) = @{ $kinds{$kind} };
	my $value = $kind eq 'bytea' ? "encode(x, 'hex')" : 'x::text';
	$node->safe_psql('postgres', qq{
		CREATE TABLE of_$kind AS SELECT g, ($expression)::$type AS x FROM generate_series(1::bigint, 200000) AS g;
		INSERT INTO own SELECT name, '$kind', bf_add_all(f, ARRAY(SELECT x FROM of_$kind WHERE g <= 100000))
		FROM (VALUES ('fewest', bf_create(100000, 0.01, 'parquet', '$funnel')), ('power', bf_create_bits(1048576, 8, 'parquet', '$funnel'))) AS v (name, f);
		COPY (SELECT '$kind', CASE WHEN g <= 100000 THEN 'present' ELSE 'absent' END, $value FROM of_$kind ORDER BY g) TO '$dir/made/$kind.tsv';
	});
}
append_to_file("$dir/elements.tsv", join '', map { slurp_file("$dir/made/$_.tsv") } sort keys %kinds);
$node->safe_psql('postgres', "COPY (SELECT name, kind, encode(bf_export(f), 'hex') FROM own) TO '$dir/sql.tsv'");
append_to_file("$dir/lift.py", join "\n", code('doc/scale.md', 'python', 'Parquet files'));
my @python = python_of('-c', "$FindBin::RealBin/../interop/parquet", 'pyarrow') or die 'pyarrow cannot be had';

command_ok([ qw(mvn -q -B dependency:copy-dependencies -f), "$FindBin::RealBin/pom.xml", "-DoutputDirectory=$dir/jars" ], 'Maven fetches parquet-java');
exchange('parquet_java', 'file', java("$FindBin::RealBin/ParquetJava.java", "$dir/jars/*"));

exchange('arrow_rs', 'file', rust($FindBin::RealBin, 'bin', 'arrow-rs', "$PostgreSQL::Test::Utils::tmp_check/rust"));

# The libraries are of Python's package, as are the headers.
my ($arrow) = run_command([ @python, 'import pyarrow; print(pyarrow.get_include())' ]);
my ($libraries) = run_command([ @python, 'import pyarrow; print(*pyarrow.get_library_dirs())' ]);
command_ok([ qw(g++ -std=c++20 -O1 -o), "$dir/arrow-cpp", "-I$arrow", "$FindBin::RealBin/arrow-cpp.cc",
		glob("$libraries/libparquet.so.* $libraries/libarrow.so.*"), "-Wl,-rpath,$libraries" ], 'the program for Arrow C++ is compiled');
exchange('arrow_cpp', undef, "$dir/arrow-cpp");

$node->stop;
done_testing();

# What an original makes and answers, and what SQL says to it.
sub exchange
{
	my ($original, $file, @command) = @_;
	return fail("$original is there") unless @command;
	my $folder = "$dir/$original";
	mkdir $folder or die $!;
	symlink "$dir/$_", "$folder/$_" or die $! foreach 'elements.tsv', 'sql.tsv';
	command_ok([ @command, $folder ], "$original makes filters, and asks them");
	command_ok([ @python, 'import sys; sys.path.insert(0, sys.argv[1])
from lift import bloom_filters
with open(sys.argv[2] + "/filters.tsv", "a") as filters:
    for kind in sys.argv[3:]:
        for group, stream in bloom_filters(sys.argv[2] + "/file.parquet", kind):
            print("file", kind, stream.hex(), sep="\t", file=filters)', $dir, $folder, sort keys %kinds ], "$original: the filters of its file are lifted out") if $file;
	$node->safe_psql('postgres', qq{
		CREATE TABLE answers_$original (name text, kind text, answers text);
		COPY answers_$original FROM '$folder/answers.tsv';
		CREATE TABLE streams_$original (name text, kind text, stream text);
		COPY streams_$original FROM '$folder/filters.tsv';
	});
	check($original, $_, $file) foreach sort keys %kinds;
}

sub check
{
	my ($original, $kind, $file) = @_;
	my $funnel = $kinds{$kind}[2];
	my $theirs = "SELECT name, kind, bf_import(decode(stream, 'hex'), 'parquet', '$funnel') AS f FROM streams_$original WHERE kind = '$kind'";
	is($node->safe_psql('postgres', "SELECT string_agg(name, ' ' ORDER BY name),
			bool_and(f = bf_add_all(bf_create_bits((bf_info(f)).bits, 8, 'parquet', '$funnel'), ARRAY(SELECT x FROM of_$kind WHERE g <= 100000))) FROM ($theirs) AS t"),
		($file ? 'file put' : 'put') . '|t', "$original, $kind: its filters are those that SQL makes of the same elements, bit for bit");
	is($node->safe_psql('postgres', "SELECT name, count(*), count(*) FILTER (WHERE sql <> (answer = '1')), count(*) FILTER (WHERE sql AND g <= 100000), count(*) FILTER (WHERE NOT sql) > 98000
			FROM (SELECT * FROM own WHERE kind = '$kind' UNION ALL $theirs) AS filters JOIN answers_$original USING (name, kind),
				unnest(bf_contains_each(f, ARRAY(SELECT x FROM of_$kind ORDER BY g)), string_to_array(answers, NULL)) WITH ORDINALITY AS a (sql, answer, g)
			WHERE answers <> 'refused' GROUP BY 1 ORDER BY 1"),
		join("\n", map { "$_|200000|0|100000|t" } $file ? qw(fewest file power put) : qw(power put)), "$original, $kind: answers as SQL does, whoever made the filter");
	is($node->safe_psql('postgres', "SELECT name FROM answers_$original WHERE kind = '$kind' AND answers = 'refused'"),
		$original eq 'arrow_cpp' ? 'fewest' : '', "$original, $kind: refuses what doc/scale.md says it does");
}
