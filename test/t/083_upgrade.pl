# Upgrades.  Of each version that something is kept of in test/upgrade:
#
# - its SQL objects work with the library of today, and are brought up to date by
#   ALTER EXTENSION UPDATE: the catalogs then say what those of a new database say,
#   and what was stored answers as before, in sessions that were there, too;
# - the bytes that it stored are read, and taken further: values, and the files of
#   indexes, put in the place of those that are built today.
#
# And what a version stored that is still to come is refused, not misread.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;
use UpgradeTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\n");
$node->start;

# The lines of two texts that are in one of them only.
sub is_same
{
	my ($got, $expected, $name) = @_;
	my @lines = map { { map { $_ => 1 } split /\n/ } } $got, $expected;
	cmp_ok(scalar keys %{ $lines[1] }, '>', 100, "$name: there is something to compare");
	my @differ = ((map { "+ $_" } grep { !$lines[1]{$_} } sort keys %{ $lines[0] }), (map { "- $_" } grep { !$lines[0]{$_} } sort keys %{ $lines[1] }));
	is(join("\n", @differ), '', $name);
}

# Everything that the catalogs say of the extension's members and what belongs to
# them: each column of each row, with whose they are in place of OIDs.  Expressions,
# in which such numbers are places in a script, too, are as SQL has them; and columns'
# options are nobody's but the server's.
my %expression_of = (pg_proc => 'pg_get_function_arguments(oid)', pg_rewrite => 'pg_get_ruledef(oid)');
my %rows_of = ((map { $_ => [ 'oid', "'$_'::regclass" ] } qw(pg_extension pg_proc pg_type pg_operator pg_opclass pg_opfamily pg_amop pg_amproc pg_am pg_cast
		pg_class pg_rewrite pg_foreign_data_wrapper)), pg_aggregate => [ 'aggfnoid', "'pg_proc'::regclass" ], pg_attribute => [ 'attrelid', "'pg_class'::regclass" ],
	pg_depend => [ 'objid', 'c.classid' ], map { $_ => [ 'objoid', 'c.classoid' ] } qw(pg_description pg_init_privs));

sub catalogs
{
	my ($database) = @_;
	my $rows = join ' UNION ALL ', map { "SELECT o.*, to_jsonb(c) - '{proargdefaults,ev_action,attoptions}'::text[], @{[ $expression_of{$_} // 'NULL' ]} FROM object AS o JOIN $_ AS c ON c.$rows_of{$_}[0] = o.objid AND $rows_of{$_}[1] = o.classid" } sort keys %rows_of;
	my @rows = map { [ split /\t/ ] } split /\n/, $node->safe_psql($database, qq(
		\\pset fieldsep '\\t'
		WITH RECURSIVE object (classid, objid) AS (
			SELECT 'pg_extension'::regclass::oid, oid FROM pg_extension WHERE extname = 'bloomext'
			UNION
			SELECT d.classid, d.objid FROM pg_depend AS d JOIN object AS o ON o.classid = d.refclassid AND o.objid = d.refobjid
			WHERE d.deptype IN ('e', 'i') OR d.deptype = 'a' AND d.classid IN ('pg_amop'::regclass, 'pg_amproc'::regclass))
		SELECT classid::regclass, objid, pg_describe_object(classid, objid, 0), row, to_json(expression) FROM ($rows) AS r (classid, objid, row, expression)));
	my %classes = map { $_->[0] => 1 } @rows;
	is(join(' ', grep { !$rows_of{$_} } sort keys %classes), '', "$database: rows of all kinds of objects are looked at");
	my %whose = map { $_->[1] => $_->[2] } @rows;
	return join "\n", map { "$_->[2]: " . $_->[3] =~ s/\b(\d{5,})\b/$whose{$1} ? "<$whose{$1}>" : $1/ger . ($_->[4] // '') } @rows;
}

# What is stored takes more, and knows it; those that grow do.
sub takes_more
{
	my ($kept, $name) = @_;
	my $grown = $kept->sql(q(SELECT layers FROM bf_live_info('grown_bf')));
	$kept->sql(q(
		UPDATE made SET f = of_elements('bf_add_all(f, $1)', element, 35, f)::bloomfilter;
		DO $$ BEGIN PERFORM put(tab, min(element), 401, 1000) FROM live GROUP BY tab; END $$));
	is($kept->sql(q(SELECT name FROM made WHERE of_elements('bf_contains_all(f, $1)', element, 35, f) <> 'true')), '', "$name: values take more");
	is($kept->sql(q(SELECT index, v FROM live, bf_live_verify(index) AS v WHERE missing > 0 OR rows_checked < CASE among WHEN 'true' THEN 900 ELSE 400 END)), '',
		"$name: live filters take more");
	cmp_ok($kept->sql(q(SELECT layers FROM bf_live_info('grown_bf'))), '>', $grown, "$name: it grows");
	is($kept->sql(q(SELECT index, due, reason FROM bf_live_filters WHERE due IS NULL OR reason ~ 'format|corrupted|read')), '', "$name: all are read");
}

$node->safe_psql('postgres', q(CREATE EXTENSION bloomext; REVOKE EXECUTE ON FUNCTION bf_mirror(bloomfilter, name, text, text, interval) FROM PUBLIC));
my $fresh = catalogs('postgres');

foreach my $version (UpgradeTest->versions)
{
	my $name = $version =~ s/\W/_/gr;

	# Objects of then, with the library of today.
	my $old = UpgradeTest->new($node, "old_$name", $version, $version);
	my $was = $old->answers;
	unlike(catalogs("old_$name"), qr/^function bf_version/m, "$version: objects of then");
	my $session = LiveTest->new($node)->session("old_$name");
	my $asks = q(EXECUTE ask('标题 1'); EXECUTE ask('标题 2000'));
	my $asked = $session->ask("PREPARE ask(text) AS SELECT bf_live_contains('guava', \$1), \$1 <@ f, bf_count(f) FROM made WHERE name = 'guava fixed'; $asks");
	like($asked, qr/^t\|t\|\d+; f\|f\|\d+$/, "$version: a session asks");

	# Those of today.
	$old->sql('ALTER EXTENSION bloomext UPDATE');
	is($old->sql('SELECT extension = extversion AND action IS NULL FROM bf_version(), pg_extension WHERE extname = \'bloomext\''), 't', "$version: they are up to date");
	is_same(catalogs("old_$name"), $fresh, "$version: the catalogs are those of a new database");
	is($session->ask($asks), $asked, "$version: the session asks as before");
	is_same($old->answers, $was, "$version: answers are as before");
	takes_more($old, "$version, updated");
	$session->quit;

	# Bytes of then.  What is built today never held the rows that are gone.
	my $kept = UpgradeTest->new($node, "kept_$name", $version);
	$kept->sql('REINDEX SCHEMA public');
	SKIP:
	{
		skip 'files are of other blocks, or of another byte order', 2 unless $kept->fits;
		isnt($kept->answers, $kept->kept_answers, "$version: what is built today answers otherwise");
		$kept->restore;
		is_same($kept->answers, $kept->kept_answers, "$version: what was kept answers as it did");
		takes_more($kept, "$version, kept");
	}
}

# What is still to come.
my $test = LiveTest->new($node);
$test->sql(q(
	CREATE FUNCTION stored(bytea) RETURNS bloomfilter LANGUAGE internal IMMUTABLE STRICT AS 'numeric_uplus';
	CREATE TABLE later AS SELECT stored(set_byte(bloomfilter_send(bf_create(10) || 'one'), 2, 2)) AS f;
	CREATE TABLE ahead (title text);
	INSERT INTO ahead VALUES ('one');
	CREATE INDEX ahead_bf ON ahead USING bloomfilter (title) WITH (expected = 10)));
$test->fails("a stored value of a later version: $_", "SELECT $_ FROM later", 'XX001') foreach q(f @> 'one'), q(f || 'one'), 'bf_info(f)', q(bf_agg_into(f, 'one'::text));
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
