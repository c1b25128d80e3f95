# Live exchange with Spark, 100,000 texts and integers: its own filters of release
# 3.5 (strategy spark1) and of 4.1 or newer (spark2) have the bytes that bf_agg
# makes, and Spark reads those of bf_export; Guava's, one for each partition, are
# united in SQL.
#
# Skipped unless BLOOMEXT_SPARK names the folder that script/bootstrap installs
# PySpark in: 900 MB.  BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $folder = $ENV{BLOOMEXT_SPARK}
  or plan skip_all => 'BLOOMEXT_SPARK does not name a folder with PySpark';
my $interop = "$FindBin::RealBin/../../interop/spark";
my ($n, $p) = (100000, 0.001);
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
note("BLOOMEXT_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('spark');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# Twice as many as are in the filters, an empty text, and a NULL of each.
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomext;
	CREATE TABLE elements AS
	SELECT id, id <= $n AS present, CASE id WHEN 1 THEN '' ELSE 'Title ü 書 ' || id || repeat('.', id % 5) END AS title,
		hashint8extended(id, $seed) >> (id % 64) AS number
	FROM generate_series(1, 2 * $n) AS id;
	INSERT INTO elements VALUES (0, true, NULL, NULL);
	CREATE TABLE own AS
	SELECT strategy, made.* FROM unnest(ARRAY['spark1', 'spark2']) AS strategy, LATERAL (
		SELECT 'title' AS kind, bf_agg(title, $n, $p, strategy) AS f FROM elements WHERE present
		UNION ALL SELECT 'number', bf_agg(number, $n, $p, strategy) FROM elements WHERE present
		UNION ALL SELECT 'id', bf_agg(id, $n, $p, strategy) FROM elements WHERE present) AS made;
});

sub exchange
{
	my ($strategy, @readable) = @_;
	local $" = ',';
	my $python = "$folder/$strategy/bin/python";
	my ($package) = run_command([ $python, '-c', 'import pyspark; print(pyspark.__version__, pyspark.__path__[0])' ]);
	my ($release, $home) = $package =~ /^(\S+) (.+)$/ or die "there is no PySpark in $folder/$strategy";
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my @classpath = ($dir, glob("$home/jars/guava-14*") ? $ENV{GUAVA_JAR} // '/usr/share/java/guava.jar' : ());

	$node->safe_psql('postgres', qq{
		COPY (SELECT id, present::text, encode(convert_to(title, 'UTF8'), 'hex') AS title, number FROM elements)
			TO '$dir/elements.csv' (FORMAT csv, FORCE_QUOTE (title), NULL 'NULL');
		COPY (SELECT strategy, kind, encode(bf_export(f), 'hex') FROM own WHERE strategy = ANY ('{@readable}')) TO '$dir/sql.tsv'});
	command_ok([ 'javac', '-d', $dir, '-cp', join(':', @classpath, "$home/jars/*"), glob("$interop/*.java") ],
		"functions for Spark $release");
	command_ok([ $python, "$interop/roundtrip.py", $dir, join(':', @classpath), $n, $p ], 'Spark makes, reads and asks filters');
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS spark, guava, found;
		CREATE TABLE spark (kind text, stream text);
		CREATE TABLE guava (stream text);
		CREATE TABLE found (maker text, kind text, id int);
		COPY spark FROM '$dir/spark.tsv';
		COPY guava FROM '$dir/guava.tsv';
		COPY found FROM PROGRAM 'cat $dir/found/*.csv' (FORMAT csv)});

	is( $node->safe_psql('postgres', qq{
			SELECT kind, encode(bf_export(f), 'hex') = stream, bf_import(decode(stream, 'hex'), 'spark', (bf_info(f)).funnel) = f
			FROM own JOIN spark USING (kind) WHERE strategy = '$strategy' ORDER BY kind}),
		"id|t|t\nnumber|t|t\ntitle|t|t", "Spark $release makes the bytes of $strategy, and SQL reads them");
	foreach my $maker ('spark', @readable)
	{
		my $asked = $maker eq 'spark' ? $strategy : $maker;
		is( $node->safe_psql('postgres', qq{
				SELECT count(*) > 3 * $n, count(*) FILTER (WHERE sql IS NULL), count(*) FILTER (WHERE spark IS NULL)
				FROM (SELECT kind, elements.id, true AS sql FROM own, elements
					WHERE strategy = '$asked' AND CASE kind
						WHEN 'title' THEN bf_contains(f, title)
						WHEN 'number' THEN bf_contains(f, number)
						ELSE bf_contains(f, elements.id) END) AS s
				FULL JOIN (SELECT kind, id, true AS spark FROM found WHERE maker = '$maker') AS f USING (kind, id)}),
			't|0|0', "Spark and SQL answer alike of $asked, made by " . ($maker eq 'spark' ? 'Spark' : 'SQL'));
	}
	is( $node->safe_psql('postgres', qq{
			SELECT count(*), bf_union_agg(bf_import(decode(stream, 'hex'))) = (SELECT bf_agg(title, $n, $p) FROM elements WHERE present)
			FROM guava}),
		'8|t', "Guava's of 8 partitions, united, are bf_agg's");
}

exchange('spark1', 'spark1');
exchange('spark2', 'spark1', 'spark2');

$node->stop;
done_testing();
