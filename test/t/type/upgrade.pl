# Upgrades.  Of each version that something is kept of in test/upgrade the bytes that
# it stored are read, and taken further: values, and the files of indexes, put in the
# place of those that are built today.  And what a version stored that is still to
# come is refused, not misread.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;
use UpgradeTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\n");
$node->start;

foreach my $version (UpgradeTest->versions)
{
	my $name = $version =~ s/\W/_/gr;

	# Bytes of then.  What is built today never held the rows that are gone.
	my $kept = UpgradeTest->new($node, "kept_$name", $version);
	is(join("\n", $kept->lacking), '', "$version: something is kept of all that there is") if $version eq (UpgradeTest->versions)[-1];
	$kept->restore_values($version);
	my @answers = ($kept->answers, $kept->kept_answers);
	is_same($kept->fits ? @answers : map({ UpgradeTest::anywhere($_) } @answers), "$version: values that were kept, and the filters of then built today, answer as they did");
	$kept->sql('REINDEX SCHEMA public');
	SKIP:
	{
		skip 'files are of other blocks, or of another byte order', 2 unless $kept->fits;
		isnt($kept->answers, $kept->kept_answers, "$version: what is built today answers otherwise");
		$kept->restore_files;
		is_same($kept->answers, $kept->kept_answers, "$version: what was kept answers as it did");
		$kept->takes_more("$version, kept");
	}
}

# What is still to come.
my $test = LiveTest->new($node);
$test->sql(q(
	CREATE EXTENSION bloomext;
	CREATE FUNCTION stored(bytea) RETURNS bloomfilter LANGUAGE internal IMMUTABLE STRICT AS 'numeric_uplus';
	CREATE TABLE later AS SELECT stored(set_byte(bloomfilter_send(bf_create(10) + 'one'), 2, 2)) AS f;
	CREATE TABLE ahead (title text);
	INSERT INTO ahead VALUES ('one');
	CREATE INDEX ahead_bf ON ahead USING bloomfilter (title) WITH (expected = 10)));
$test->fails("a stored value of a later version: $_", "SELECT $_ FROM later", 'XX001') foreach q(f @> 'one'), q(f + 'one'), 'bf_info(f)', q(bf_agg_into(f, 'one'::text));
$test->fails("a value of a later version: $_", "SELECT $_", '22P02') foreach q((SELECT f::text FROM later)::bloomfilter), q(overlay((bf_create(10))::text PLACING '02' FROM 7 FOR 2)::bloomfilter);
my $path = $node->data_dir . '/' . $test->sql(q(SELECT pg_relation_filepath('ahead_bf')));
$node->stop;
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
open my $file, '+<:raw', $path or die "$path: $!";
seek $file, 28, 0;
print $file "\4";
close $file or die "$path: $!";
$node->start;
$test->fails("a live filter of a later version: $_", $_, '0A000')
  foreach q(SELECT bf_live_contains('ahead', 'one')), q(INSERT INTO ahead VALUES ('two')), q(SELECT bf_live_verify('ahead'));
is($test->sql('SELECT action FROM bf_live_filters'), '{"REINDEX INDEX CONCURRENTLY public.ahead_bf"}', 'what to do about it');
$test->is_sql('that helps', q(REINDEX INDEX ahead_bf; INSERT INTO ahead VALUES ('two'); SELECT bf_live_verify('ahead'), bf_live_contains('ahead', 'three')), '(2,0)|f');

$node->stop;
done_testing();
