# Transactions that change which file a filter is in: a change of type makes another
# index over the same file, and TRUNCATE empties in place the file of an index that is
# not as new as its table's.  However they end, nothing is denied.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest qw(fresh %kinds $fine $unsure);

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $space = $node->basedir . '/space';
mkdir $space or die "$space: $!";
$sql->("CREATE TABLESPACE space LOCATION '$space'");

# A change of type without a rewrite makes another index over the same file.
foreach my $kind (sort keys %kinds)
{
	foreach my $case (
		[ 'INSERT', q(INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE varchar(100)) ],
		[ 'UPDATE', q(UPDATE t SET title = 'new ' || id; ALTER TABLE t ALTER title TYPE text) ],
		[ 'many rows', q(INSERT INTO t (title) SELECT 'many ' || g FROM generate_series(1, 70000) g; ALTER TABLE t ALTER title TYPE text) ],
		[ 'moved, then', q(INSERT INTO t (title) VALUES ('own'); ALTER INDEX t_bf SET TABLESPACE space; ALTER TABLE t ALTER title TYPE text) ],
		[ 'and then moved', q(INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE text; ALTER INDEX t_bf SET TABLESPACE space) ],
		[ 'rolled back', q(INSERT INTO t (title) VALUES ('a'); SAVEPOINT s; INSERT INTO t (title) VALUES ('b');
			ALTER TABLE t ALTER title TYPE text; INSERT INTO t (title) VALUES ('c'); ROLLBACK TO s; INSERT INTO t (title) VALUES ('d')) ],
		[ 'released', q(INSERT INTO t (title) VALUES ('a'); SAVEPOINT s; INSERT INTO t (title) VALUES ('b');
			ALTER TABLE t ALTER title TYPE text; INSERT INTO t (title) VALUES ('c'); RELEASE s; INSERT INTO t (title) VALUES ('d')) ],
		[ 'twice', q(INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE varchar(70);
			INSERT INTO t (title) VALUES ('second'); ALTER TABLE t ALTER title TYPE text) ],
		[ 'after TRUNCATE', q(TRUNCATE t; INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE text) ],
		[ 'another filter', q(CREATE INDEX t_second ON t USING bloomfilter (title); INSERT INTO t (title) VALUES ('own');
			ALTER TABLE t ALTER title TYPE text; DROP INDEX t_bf) ])
	{
		my ($name, $script) = @$case;
		$is_sql->("a change of type: $kind, $name, own rows and after COMMIT", fresh('t', $kinds{$kind}, 1000) .
			"BEGIN; $script; SELECT denied('t'); COMMIT; SELECT look('t')", "0; $fine");
	}
}
$is_sql->('a change of type: prepared', fresh('t', $kinds{small}) . q(
	BEGIN; INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE text;
	PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'; SELECT look('t')), $fine);

# TRUNCATE in place of an index that is not as new as its table's file.
my $modules = $test->build_modules;
$sql->(fresh('pc', $kinds{small}) . qq(
	CREATE FUNCTION precommit_arm(text) RETURNS void LANGUAGE C STRICT AS '$modules/precommit', 'precommit_arm';
	CREATE PROCEDURE arm_and_commit(text) LANGUAGE plpgsql AS 'BEGIN PERFORM precommit_arm(\$1); COMMIT; END'));
my $moved = 'ALTER TABLE ct SET TABLESPACE space';
my $refused = 'ALTER INDEX ct_bf SET (expected = 5000000000, fpp = 0.0000001)';
my $again = 'DROP INDEX ct_bf; CREATE INDEX ct_bf ON ct USING bloomfilter (title)';
foreach my $kind (sort keys %kinds)
{
	foreach my $case (
		[ 'plain', "$moved; TRUNCATE ct; ROLLBACK", $unsure ],
		[ 'and rows', "$moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('gone'); ROLLBACK", $unsure ],
		[ 'a savepoint', "SAVEPOINT a; $moved; TRUNCATE ct; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'a released one', "SAVEPOINT a; $moved; RELEASE a; TRUNCATE ct; ROLLBACK", $unsure ],
		[ 'released in another', "SAVEPOINT a; SAVEPOINT b; $moved; RELEASE b; TRUNCATE ct; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'rows around it', "INSERT INTO ct (title) VALUES ('own 1'); SAVEPOINT a; $moved; TRUNCATE ct; ROLLBACK TO a;
			INSERT INTO ct (title) VALUES ('own 2'); COMMIT", $unsure ],
		[ 'after REINDEX', "REINDEX INDEX ct_bf; SAVEPOINT a; $moved; TRUNCATE ct; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'REINDEX in another savepoint', "SAVEPOINT a; REINDEX INDEX ct_bf; RELEASE a; SAVEPOINT b; $moved; TRUNCATE ct; ROLLBACK TO b; COMMIT", $unsure ],
		[ 'after CREATE INDEX', "$again; SAVEPOINT a; $moved; TRUNCATE ct; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'REINDEX rolled back before', "SAVEPOINT a; REINDEX INDEX ct_bf; ROLLBACK TO a; $moved; TRUNCATE ct; ROLLBACK", $unsure ],
		[ 'REINDEX afterwards, rolled back', "SAVEPOINT a; $moved; TRUNCATE ct; REINDEX INDEX ct_bf; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'a build that fails', "$refused; $moved; TRUNCATE ct; ROLLBACK", $unsure ],
		[ 'a build that fails in a savepoint', "SAVEPOINT a; $refused; $moved; TRUNCATE ct; ROLLBACK TO a; COMMIT", $unsure ],
		[ 'rolled back, prepared', "$moved; TRUNCATE ct; PREPARE TRANSACTION 'p'; ROLLBACK PREPARED 'p'", $unsure ],
		[ 'an error at pre-commit', "SELECT precommit_arm('SELECT 1 / 0'); $moved; TRUNCATE ct; COMMIT", $unsure ],
		[ 'an error at pre-commit, which comes first', "$moved; TRUNCATE ct; SELECT precommit_arm('SELECT 1 / 0'); COMMIT", $unsure ],
		[ 'COMMIT', "$moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); COMMIT", $fine ],
		[ 'RELEASE and COMMIT', "SAVEPOINT a; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); RELEASE a; COMMIT", $fine ],
		[ 'twice, then COMMIT', "$moved; TRUNCATE ct; SAVEPOINT a; TRUNCATE ct; INSERT INTO ct (title) VALUES ('gone'); ROLLBACK TO a;
			INSERT INTO ct (title) VALUES ('kept'); COMMIT", $fine ],
		[ 'REINDEX afterwards, COMMIT', "$moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); REINDEX INDEX ct_bf; COMMIT", $fine ])
	{
		my ($name, $script, $expected) = @$case;
		$sql->(fresh('ct', $kinds{$kind}));
		my $other = $test->session;
		is($other->ask(q(SELECT look('ct'))), $fine, "TRUNCATE in place: $kind, $name: another session, before");
		$test->said("BEGIN; $script");
		$is_sql->("TRUNCATE in place: $kind, $name", q(SELECT look('ct')), $expected);
		my $asked = $other->ask(q(SELECT look('ct'); INSERT INTO ct (title) VALUES ('other'); SELECT look('ct')));
		is($asked, "$expected; $expected", "TRUNCATE in place: $kind, $name: another session");
		$other->quit;
		$is_sql->("TRUNCATE in place: $kind, $name: INSERT", q(INSERT INTO ct (title) VALUES ('here'); SELECT look('ct')), $expected);
		next if $expected eq $fine;
		$is_sql->("TRUNCATE in place: $kind, $name: the hint", q(SELECT maybe ~ 'REINDEX' FROM bf_live_info('ct')), 't');
		$is_sql->("TRUNCATE in place: $kind, $name: REINDEX", q(REINDEX INDEX ct_bf; SELECT look('ct'), maybe IS NULL FROM bf_live_info('ct')), "$fine|t");
	}
}
$is_sql->('TRUNCATE in place: prepared and committed', fresh('ct', $kinds{small}) . qq(
	BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';
	SELECT denied('ct'); REINDEX INDEX ct_bf; SELECT look('ct')), "0; $fine");
$is_sql->('TRUNCATE in place: committed, and frozen by a VACUUM that leaves indexes alone', fresh('ct', $kinds{small}) . qq(
	BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); COMMIT;
	CREATE TABLE later (); VACUUM (FREEZE, INDEX_CLEANUP off) ct; SELECT look('ct')), $fine);
$is_sql->('TRUNCATE in place: temporary tables', fresh('ct', $kinds{small}, 50, 'TEMP TABLE') . qq(
	BEGIN; $moved; TRUNCATE ct; ROLLBACK; SELECT look('ct'); INSERT INTO ct (title) VALUES ('x');
	REINDEX INDEX ct_bf; SELECT look('ct')), "$unsure; $fine");
$is_sql->('TRUNCATE in place: ON COMMIT DELETE ROWS', q(
	CREATE TEMP TABLE gone (title text) ON COMMIT DELETE ROWS; CREATE INDEX ON gone USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO gone VALUES ('x'); SELECT look('gone'); BEGIN; INSERT INTO gone VALUES ('y'); SELECT denied('gone'), certainty('gone'); ROLLBACK;
	BEGIN; INSERT INTO gone VALUES ('z'); SELECT look('gone'); COMMIT; SELECT look('gone')), "$fine; 0|sure; $fine; $fine");


# And a crash before it ends.
$sql->(fresh('ct', $kinds{small}, 2000));
my $crash = $test->session;
$crash->ask("BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('gone')");
$sql->('CHECKPOINT');
$node->stop('immediate');
eval { $crash->quit };
$node->start;
$is_sql->('TRUNCATE in place: a crash before COMMIT', q(SELECT look('ct'); INSERT INTO ct (title) VALUES ('x'); REINDEX INDEX ct_bf; SELECT look('ct')), "$unsure; $fine");

$node->stop;
done_testing();
