# Rows that are not in the table itself: of foreign partitions, of what Citus or
# TimescaleDB keep elsewhere, and of other sessions' temporary children.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest qw(fresh %kinds $fine);

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $fails = sub { return $test->fails(@_); };

# Partitions whose rows are with somebody else.  A wrapper that does nothing stands
# for all of them.
$sql->(q(
	CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER abroad FOREIGN DATA WRAPPER nothing;
	CREATE TABLE fp (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE fp1 PARTITION OF fp FOR VALUES FROM (0) TO (1000);
	CREATE FOREIGN TABLE fp2 PARTITION OF fp FOR VALUES FROM (1000) TO (2000) SERVER abroad;
	CREATE INDEX fp_bf ON fp USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO fp SELECT g, 'row ' || g FROM generate_series(1, 100) g;
	CREATE TABLE att (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE att1 PARTITION OF att FOR VALUES FROM (0) TO (1000);
	CREATE INDEX att_bf ON att USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO att VALUES (1, 'row 1');
	CREATE FOREIGN TABLE att2 (id int, title text) SERVER abroad;
	CREATE TABLE sub (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE sub1 PARTITION OF sub DEFAULT PARTITION BY LIST (id);
	CREATE FOREIGN TABLE sub11 PARTITION OF sub1 DEFAULT SERVER abroad;
	CREATE INDEX sub_bf ON sub USING bloomfilter (title);
));
$is_sql->('foreign partitions: by table, by index', q(SELECT certainty('fp'), certainty('fp_bf'), certainty('sub'), certainty('sub_bf')), 'maybe|maybe|maybe|maybe');
$is_sql->('foreign partitions: the partition at home is sure', q(SELECT look('fp1')), $fine);
$is_sql->('foreign partitions: attached and detached', q(SELECT certainty('att'); ALTER TABLE att ATTACH PARTITION att2 FOR VALUES FROM (1000) TO (2000);
	SELECT certainty('att'), certainty('att_bf'); ALTER TABLE att DETACH PARTITION att2; SELECT look('att')), "sure; maybe|maybe; $fine");
my @elsewhere = ("SELECT bf_live_filter('%s')", "SELECT * FROM bf_live_verify('%s')",
	"CREATE SERVER IF NOT EXISTS cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '1'); SELECT bf_live_mirror('%s', 'cache', 'k')");
$fails->("foreign partitions: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'fp'), '0A000') foreach @elsewhere;
$is_sql->('foreign partitions: bf_live_info names the leaf', q(SELECT relation, index, maybe IS NULL FROM bf_live_info('fp') ORDER BY 1), 'fp1|fp1_title_idx|t; fp2||f');
$fails->('a foreign table itself', q(SELECT bf_live_contains('fp2', 'x')), '42809');
$fails->('a foreign child, which no filter covers', q(
	CREATE TABLE par (title text); CREATE INDEX ON par USING bloomfilter (title);
	CREATE FOREIGN TABLE chi () INHERITS (par) SERVER abroad; SELECT bf_live_contains('par', 'x')), '42704');

# Other engines' tables, by made-up catalogs.
$sql->(fresh('far', $kinds{small}) . fresh('home', $kinds{small}) . q(
	CREATE ROLE visitor; GRANT SELECT ON far, home TO visitor;
	SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char", partkey text, colocationid int, repmodel "char");));
my $snapshot = $test->session;
$snapshot->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $cached = $test->session;
$cached->ask(q(PREPARE q AS SELECT bf_live_contains('far', 'x ' || g) FROM generate_series(1, 2) g; EXECUTE q));
$sql->(q(INSERT INTO pg_dist_partition VALUES ('far', 'h'), ('att1', 'n'); ALTER TABLE far SET (fillfactor = 90)));
$is_sql->('Citus: distributed', q(SET ROLE visitor; SELECT certainty('far'), certainty('far_bf'), certainty('home'); RESET ROLE;
	SELECT certainty('att'), certainty('att1')), 'maybe|maybe|sure; maybe|maybe');
is($cached->ask('EXECUTE q'), 't; t', 'Citus: to a statement that was prepared before');
is($snapshot->ask(q(SELECT bf_live_contains('far', 'x'))), 't', 'Citus: to a snapshot from before');
$_->quit foreach $cached, $snapshot;
$fails->("Citus: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'far'), '0A000') foreach @elsewhere;
$is_sql->('Citus: bf_live_info', q(SELECT relation, maybe IS NULL FROM bf_live_info('far') UNION ALL SELECT relation, maybe IS NULL FROM bf_live_info('home')),
	'far|f; home|t');
$is_sql->('Citus: and home again', q(DELETE FROM pg_dist_partition; SELECT look('far')), $fine);
$sql->('SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition');
$is_sql->('TimescaleDB: compressed chunks', q(
	CREATE SCHEMA _timescaledb_catalog;
	CREATE TABLE _timescaledb_catalog.chunk (id int, hypertable_id int, schema_name name, table_name name, compressed_chunk_id int, dropped bool, status int);
	CREATE TABLE hyper (title text); CREATE INDEX ON hyper USING bloomfilter (title);
	CREATE TABLE chunk1 () INHERITS (hyper); CREATE INDEX ON chunk1 USING bloomfilter (title);
	CREATE TABLE chunk2 () INHERITS (hyper); CREATE INDEX ON chunk2 USING bloomfilter (title);
	INSERT INTO _timescaledb_catalog.chunk VALUES (1, 1, 'public', 'chunk1', NULL), (2, 1, 'public', 'chunk2', NULL), (3, 1, 'other', 'chunk1', 7);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');
	UPDATE _timescaledb_catalog.chunk SET compressed_chunk_id = 4 WHERE id = 2; ALTER TABLE chunk2 SET (fillfactor = 90);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');), 'sure|sure|sure; maybe|sure|maybe');
$fails->("TimescaleDB: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'hyper'), '0A000') foreach @elsewhere[0, 1];
$is_sql->('TimescaleDB: as TimescaleDB has them since 2.29', q(
	DROP TABLE _timescaledb_catalog.chunk;
	CREATE TABLE _timescaledb_catalog.chunk (id int, relid regclass, hypertable_id int, status int);
	CREATE TABLE _timescaledb_catalog.compression_settings (relid regclass PRIMARY KEY, compress_relid regclass);
	INSERT INTO _timescaledb_catalog.compression_settings VALUES ('hyper', NULL), ('chunk1', NULL), ('chunk2', 'far');
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');
	DELETE FROM _timescaledb_catalog.compression_settings WHERE relid = 'chunk2'::regclass; ALTER TABLE chunk2 SET (fillfactor = 80);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2')), 'maybe|sure|maybe; sure|sure|sure');
$is_sql->("TimescaleDB: a hypertable's own index, which knows none of its rows", q(
	CREATE TABLE _timescaledb_catalog.hypertable (id int, schema_name name, table_name name);
	INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'hyper');
	SELECT certainty('hyper_title_idx'), certainty('hyper'), certainty('chunk1_title_idx');
	SELECT maybe ~ 'hypertable' FROM bf_live_info('hyper_title_idx')), 'maybe|sure|sure; t');
$fails->("TimescaleDB: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'hyper_title_idx'), '0A000') foreach @elsewhere;
# Rows are seen where they went before others are told that a definition changed;
# the transaction that moves them drops tables in between.
$sql->(q(
	CREATE TABLE moved (round int);
	SELECT format('CREATE TABLE root_%s (title text); CREATE INDEX ON root_%s USING bloomfilter (title);
		CREATE TABLE kid_%s () INHERITS (root_%s); CREATE INDEX ON kid_%s USING bloomfilter (title)', i, i, i, i, i)
	FROM generate_series(1, 5) i \gexec
	CREATE PROCEDURE watch(name text, INOUT denied int) LANGUAGE plpgsql AS $$
		DECLARE round int := 0;
		BEGIN
			WHILE round < 5 LOOP
				PERFORM bf_live_contains((name || round + 1)::regclass, 'moved');
				SELECT coalesce(max(m.round), 0) INTO round FROM moved m;
				denied := denied + (round > 0 AND NOT bf_live_contains((name || greatest(round, 1))::regclass, 'moved'))::int;
				COMMIT;
			END LOOP;
		END $$));
my %watchers = map { $_ => $test->session } 'root_', 'kid_';
$watchers{$_}->start("CALL watch('$_', 0)") foreach sort keys %watchers;
foreach my $round (1 .. 5)
{
	$sql->(join(';', map { "CREATE TABLE dropped_$_ ()" } 1 .. 200)
	  . "; BEGIN; INSERT INTO _timescaledb_catalog.compression_settings VALUES ('kid_$round', 'far'); INSERT INTO moved VALUES ($round);"
	  . 'DROP TABLE ' . join(',', map { "dropped_$_" } 1 .. 200)
	  . "; PREPARE TRANSACTION 'move'; COMMIT PREPARED 'move'");
}
is($watchers{$_}->finish, '0', "TimescaleDB: moved a moment ago, asked by $_") foreach sort keys %watchers;
$_->quit foreach values %watchers;
$sql->(q(
	SET allow_system_table_mods = on;
	INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (1, 'timescaledb', 10, 'public'::regnamespace, false, '99')));
$is_sql->('TimescaleDB: a version of which only some catalogs are known', q(SELECT certainty('chunk1')), 'sure');
$is_sql->('TimescaleDB: or none', q(
	ALTER TABLE _timescaledb_catalog.compression_settings RENAME compress_relid TO other;
	SELECT certainty('chunk1'), certainty('far'); SELECT maybe ~ 'not recognized' FROM bf_live_info('far')), 'maybe|maybe; t');
$fails->('TimescaleDB: refused', q(SELECT bf_live_filter('far')), '0A000');
$sql->(q(SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE oid = 1; DROP SCHEMA _timescaledb_catalog CASCADE));
$is_sql->('TimescaleDB: without that extension', q(SELECT look('far')), $fine);

# Other sessions' temporary children are skipped.
$sql->(q(CREATE TABLE tpar (title text); CREATE INDEX ON tpar USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001); INSERT INTO tpar VALUES ('x')));
my $owner = $test->session;
$owner->ask(q(CREATE TEMP TABLE tchild () INHERITS (tpar)));
$is_sql->('another session\'s temporary child: without a filter', q(SELECT certainty('tpar'), bf_live_contains('tpar', 'x'), verified('tpar')), 'sure|t|0 missing');
$owner->ask(q(CREATE INDEX ON tchild USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001); INSERT INTO tchild VALUES ('own')));
$is_sql->('another session\'s temporary child: with a filter', q(SELECT certainty('tpar'), bf_live_contains('tpar', 'own'), verified('tpar')), 'sure|f|0 missing');
is($owner->ask(q(SELECT certainty('tpar'), bf_live_contains('tpar', 'own'))), 'sure|t', 'another session\'s temporary child: its owner sees it');
$owner->quit;

$node->stop;
done_testing();
