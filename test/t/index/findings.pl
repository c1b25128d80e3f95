# What an attack on the live filter found, each with the test that shows it: the
# filter says a false "no", tells what is not to be told, or believes a page.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
max_prepared_transactions = 20
max_wal_size = 2GB
max_locks_per_transaction = 256
autovacuum = off
));
$node->start;
my $test = LiveTest->new($node);
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $fails = sub { return $test->fails(@_); };
$test->install;
my $space = $node->basedir . '/space';
mkdir $space or die "$space: $!";
$sql->("CREATE TABLESPACE space LOCATION '$space'");

# Filters of either kind: bits are set at once; elements wait.
my %kinds = (small => 'expected = 100000, fpp = 0.0001', large => 'expected = 2500000, fpp = 0.0001');
my $fine = '0 denied, sure, 0 missing';
my $unsure = '0 denied, maybe, not to be verified';

# A table with a filter and some rows, made anew.
sub fresh
{
	my ($tab, $options, $rows, $kind) = @_;
	$rows //= 50;
	$kind //= 'TABLE';
	return qq(
		DROP TABLE IF EXISTS $tab;
		CREATE $kind $tab (id serial, title varchar(50), note text);
		INSERT INTO $tab (title) SELECT 'row ' || g FROM generate_series(1, $rows) g;
		CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title) WITH ($options);
	);
}

# 1: a change of type without a rewrite makes another index over the same file.
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
		$is_sql->("1: $kind, $name, own rows and after COMMIT", fresh('t', $kinds{$kind}, 1000) .
			"BEGIN; $script; SELECT denied('t'); COMMIT; SELECT look('t')", "0; $fine");
	}
}
$is_sql->('1: prepared', fresh('t', $kinds{small}) . q(
	BEGIN; INSERT INTO t (title) VALUES ('own'); ALTER TABLE t ALTER title TYPE text;
	PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'; SELECT look('t')), $fine);

# 2, scale 1.2: partitions whose rows are with somebody else.  A wrapper that
# does nothing stands for all of them.
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
$is_sql->('2: by table, by index', q(SELECT certainty('fp'), certainty('fp_bf'), certainty('sub'), certainty('sub_bf')), 'maybe|maybe|maybe|maybe');
$is_sql->('2: the partition at home is sure', q(SELECT look('fp1')), $fine);
$is_sql->('2: attached and detached', q(SELECT certainty('att'); ALTER TABLE att ATTACH PARTITION att2 FOR VALUES FROM (1000) TO (2000);
	SELECT certainty('att'), certainty('att_bf'); ALTER TABLE att DETACH PARTITION att2; SELECT look('att')), "sure; maybe|maybe; $fine");
my @elsewhere = ("SELECT bf_live_filter('%s')", "SELECT * FROM bf_live_verify('%s')",
	"CREATE SERVER IF NOT EXISTS cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '1'); SELECT bf_live_mirror('%s', 'cache', 'k')");
$fails->("2: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'fp'), '0A000') foreach @elsewhere;
$is_sql->('2: bf_live_info names the leaf', q(SELECT relation, index, maybe IS NULL FROM bf_live_info('fp') ORDER BY 1), 'fp1|fp1_title_idx|t; fp2||f');
$fails->('2: a foreign table itself', q(SELECT bf_live_contains('fp2', 'x')), '42809');
$fails->('2: a foreign child, which no filter covers', q(
	CREATE TABLE par (title text); CREATE INDEX ON par USING bloomfilter (title);
	CREATE FOREIGN TABLE chi () INHERITS (par) SERVER abroad; SELECT bf_live_contains('par', 'x')), '42704');

# scale 1.1, 1.5: other engines' tables, by made-up catalogs.
$sql->(fresh('far', $kinds{small}) . fresh('home', $kinds{small}) . q(
	CREATE ROLE visitor; GRANT SELECT ON far, home TO visitor;
	SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass PRIMARY KEY, partmethod "char", partkey text, colocationid int, repmodel "char");));
my $snapshot = $test->session;
$snapshot->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
my $cached = $test->session;
$cached->ask(q(PREPARE q AS SELECT bf_live_contains('far', 'x ' || g) FROM generate_series(1, 2) g; EXECUTE q));
$sql->(q(INSERT INTO pg_dist_partition VALUES ('far', 'h'), ('att1', 'n'); ALTER TABLE far SET (fillfactor = 90)));
$is_sql->('scale 1.1: distributed', q(SET ROLE visitor; SELECT certainty('far'), certainty('far_bf'), certainty('home'); RESET ROLE;
	SELECT certainty('att'), certainty('att1')), 'maybe|maybe|sure; maybe|maybe');
is($cached->ask('EXECUTE q'), 't; t', 'scale 1.1: to a statement that was prepared before');
is($snapshot->ask(q(SELECT bf_live_contains('far', 'x'))), 't', 'scale 1.1: to a snapshot from before');
$_->quit foreach $cached, $snapshot;
$fails->("scale 1.1: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'far'), '0A000') foreach @elsewhere;
$is_sql->('scale 1.1: bf_live_info', q(SELECT relation, maybe IS NULL FROM bf_live_info('far') UNION ALL SELECT relation, maybe IS NULL FROM bf_live_info('home')),
	'far|f; home|t');
$is_sql->('scale 1.1: and home again', q(DELETE FROM pg_dist_partition; SELECT look('far')), $fine);
$sql->('SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition');
$is_sql->('scale 1.5: compressed chunks', q(
	CREATE SCHEMA _timescaledb_catalog;
	CREATE TABLE _timescaledb_catalog.chunk (id int, hypertable_id int, schema_name name, table_name name, compressed_chunk_id int, dropped bool, status int);
	CREATE TABLE hyper (title text); CREATE INDEX ON hyper USING bloomfilter (title);
	CREATE TABLE chunk1 () INHERITS (hyper); CREATE INDEX ON chunk1 USING bloomfilter (title);
	CREATE TABLE chunk2 () INHERITS (hyper); CREATE INDEX ON chunk2 USING bloomfilter (title);
	INSERT INTO _timescaledb_catalog.chunk VALUES (1, 1, 'public', 'chunk1', NULL), (2, 1, 'public', 'chunk2', NULL), (3, 1, 'other', 'chunk1', 7);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');
	UPDATE _timescaledb_catalog.chunk SET compressed_chunk_id = 4 WHERE id = 2; ALTER TABLE chunk2 SET (fillfactor = 90);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');), 'sure|sure|sure; maybe|sure|maybe');
$fails->("scale 1.5: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'hyper'), '0A000') foreach @elsewhere[0, 1];
$is_sql->('scale 1.5: as TimescaleDB has them since 2.29', q(
	DROP TABLE _timescaledb_catalog.chunk;
	CREATE TABLE _timescaledb_catalog.chunk (id int, relid regclass, hypertable_id int, status int);
	CREATE TABLE _timescaledb_catalog.compression_settings (relid regclass PRIMARY KEY, compress_relid regclass);
	INSERT INTO _timescaledb_catalog.compression_settings VALUES ('hyper', NULL), ('chunk1', NULL), ('chunk2', 'far');
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2');
	DELETE FROM _timescaledb_catalog.compression_settings WHERE relid = 'chunk2'::regclass; ALTER TABLE chunk2 SET (fillfactor = 80);
	SELECT certainty('hyper'), certainty('chunk1'), certainty('chunk2')), 'maybe|sure|maybe; sure|sure|sure');
$is_sql->("scale 1.5: a hypertable's own index, which knows none of its rows", q(
	CREATE TABLE _timescaledb_catalog.hypertable (id int, schema_name name, table_name name);
	INSERT INTO _timescaledb_catalog.hypertable VALUES (1, 'public', 'hyper');
	SELECT certainty('hyper_title_idx'), certainty('hyper'), certainty('chunk1_title_idx');
	SELECT maybe ~ 'hypertable' FROM bf_live_info('hyper_title_idx')), 'maybe|sure|sure; t');
$fails->("scale 1.5: refused: " . s{.*(bf_live_\w+).*}{$1}r, sprintf($_, 'hyper_title_idx'), '0A000') foreach @elsewhere;
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
is($watchers{$_}->finish, '0', "scale 1.5: moved a moment ago, asked by $_") foreach sort keys %watchers;
$_->quit foreach values %watchers;
$sql->(q(
	SET allow_system_table_mods = on;
	INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (1, 'timescaledb', 10, 'public'::regnamespace, false, '99')));
$is_sql->('scale 1.5: a version of which only some catalogs are known', q(SELECT certainty('chunk1')), 'sure');
$is_sql->('scale 1.5: or none', q(
	ALTER TABLE _timescaledb_catalog.compression_settings RENAME compress_relid TO other;
	SELECT certainty('chunk1'), certainty('far'); SELECT maybe ~ 'not known' FROM bf_live_info('far')), 'maybe|maybe; t');
$fails->('scale 1.5: refused', q(SELECT bf_live_filter('far')), '0A000');
$sql->(q(SET allow_system_table_mods = on; DELETE FROM pg_extension WHERE oid = 1; DROP SCHEMA _timescaledb_catalog CASCADE));
$is_sql->('scale 1.5: without that extension', q(SELECT look('far')), $fine);

# 7: the module is first loaded by another extension's pre-commit callback.
my $modules = $test->build_modules;
$sql->(fresh('pc', $kinds{small}) . qq(
	CREATE FUNCTION precommit_arm(text) RETURNS void LANGUAGE C STRICT AS '$modules/precommit', 'precommit_arm';
	CREATE PROCEDURE arm_and_commit(text) LANGUAGE plpgsql AS 'BEGIN PERFORM precommit_arm(\$1); COMMIT; END'));
my $late = q($$INSERT INTO pc (title) SELECT 'late ' || g FROM generate_series(1, 1000) g$$);
foreach my $order ([ 'alone', '', '' ], [ 'after bloomext', q(LOAD 'bloomext';), '' ], [ 'before bloomext', '', q(LOAD 'bloomext';) ])
{
	my ($name, $before, $after) = @$order;
	foreach my $script ("BEGIN; SELECT precommit_arm($late); $after COMMIT", "CALL arm_and_commit($late)",
		"BEGIN; SELECT precommit_arm($late); $after PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'")
	{
		my ($end) = $script =~ /(COMMIT|CALL|PREPARE)/;
		$sql->('TRUNCATE pc');
		$sql->("$before LOAD '$modules/precommit'; @{[ $end eq 'CALL' ? $after : '' ]} $script");
		$is_sql->("7: $name, $end", q(SELECT count(*), look('pc') FROM pc), "1000|$fine");
	}
}

# 8: SERIALIZABLE transactions that look for what the other one inserts, before
# that is stored.
my ($one, $two) = ($test->session, $test->session);
my $lookup = q(SELECT bf_live_contains('ser', 'x'));
foreach my $case (
	[ 'a lookup', $lookup ],
	[ 'bf_live_filter', q(SELECT bf_contains(bf_live_filter('ser'), 'x')) ],
	[ 'bf_live_info', q(SELECT bits_set + pending > 0 FROM bf_live_info('ser')) ],
	[ 'bf_live_verify', q(SELECT missing > 0 FROM bf_live_verify('ser')) ],
	[ 'PREPARE', $lookup, q(PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p') ],
	[ 'stored in the middle', $lookup, q(INSERT INTO full_up (title) SELECT g::text FROM generate_series(1, 70000) g; COMMIT) ])
{
	my ($name, $look, $end) = @$case;
	$sql->(fresh('ser', $kinds{large}, 0) . fresh('full_up', $kinds{small}, 0));
	foreach ($one, $two)
	{
		is($_->ask("BEGIN ISOLATION LEVEL SERIALIZABLE; $look"), 'f', "8: $name: there is none");
		$_->ask(q(INSERT INTO ser (title) VALUES ('x')));
	}
	my $said = $one->ask($end // 'COMMIT') . $two->ask('COMMIT') . $two->ask('ROLLBACK');
	like($said, qr/40001/, "8: $name: one of two has to give way");
	$is_sql->("8: $name: one row", q(SELECT count(*) FROM ser WHERE title = 'x'), '1');
}
$_->quit foreach $one, $two;

# 9: an owner's expressions run as the owner, who can do nothing else by them.
$sql->(q(
	CREATE ROLE mallory; CREATE SCHEMA m AUTHORIZATION mallory; SET ROLE mallory;
	CREATE FUNCTION m.f(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN title; END';
	CREATE TABLE m.t (title text); INSERT INTO m.t VALUES ('x'); CREATE INDEX t_bf ON m.t USING bloomfilter (m.f(title)) WHERE m.f(title) = 'x';
	CREATE FUNCTION m.plant() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		RAISE NOTICE 'runs as %', current_user;
		PERFORM set_config('work_mem', '1234kB', false);
		CREATE TEMP TABLE IF NOT EXISTS planted ();
		RAISE NOTICE 'not restricted';
	EXCEPTION WHEN insufficient_privilege THEN NULL;
	END $$;
	CREATE OR REPLACE FUNCTION m.f(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM m.plant(); RETURN title; END';
));
my $said = $test->said(q(SELECT * FROM bf_live_verify('m.t_bf'); DO $$ BEGIN RAISE NOTICE 'then %', current_setting('work_mem'); END $$));
like($said, qr/runs as mallory/, '9: as the owner');
unlike($said, qr/runs as (?!mallory)|not restricted/, '9: as nobody else, and restricted');
unlike($said, qr/then 1234kB/, '9: settings do not stay');

# 10: TRUNCATE in place of an index that is not as new as its table's file.
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
		is($other->ask(q(SELECT look('ct'))), $fine, "10: $kind, $name: another session, before");
		$test->said("BEGIN; $script");
		$is_sql->("10: $kind, $name", q(SELECT look('ct')), $expected);
		my $asked = $other->ask(q(SELECT look('ct'); INSERT INTO ct (title) VALUES ('other'); SELECT look('ct')));
		is($asked, "$expected; $expected", "10: $kind, $name: another session");
		$other->quit;
		$is_sql->("10: $kind, $name: INSERT", q(INSERT INTO ct (title) VALUES ('here'); SELECT look('ct')), $expected);
		next if $expected eq $fine;
		$is_sql->("10: $kind, $name: the hint", q(SELECT maybe ~ 'REINDEX' FROM bf_live_info('ct')), 't');
		$is_sql->("10: $kind, $name: REINDEX", q(REINDEX INDEX ct_bf; SELECT look('ct'), maybe IS NULL FROM bf_live_info('ct')), "$fine|t");
	}
}
$is_sql->('10: prepared and committed', fresh('ct', $kinds{small}) . qq(
	BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p';
	SELECT denied('ct'); REINDEX INDEX ct_bf; SELECT look('ct')), "0; $fine");
$is_sql->('10: committed, and frozen by a VACUUM that leaves indexes alone', fresh('ct', $kinds{small}) . qq(
	BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('kept'); COMMIT;
	CREATE TABLE later (); VACUUM (FREEZE, INDEX_CLEANUP off) ct; SELECT look('ct')), $fine);
$is_sql->('10: temporary tables', fresh('ct', $kinds{small}, 50, 'TEMP TABLE') . qq(
	BEGIN; $moved; TRUNCATE ct; ROLLBACK; SELECT look('ct'); INSERT INTO ct (title) VALUES ('x');
	REINDEX INDEX ct_bf; SELECT look('ct')), "$unsure; $fine");
$is_sql->('10: ON COMMIT DELETE ROWS', q(
	CREATE TEMP TABLE gone (title text) ON COMMIT DELETE ROWS; CREATE INDEX ON gone USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO gone VALUES ('x'); SELECT look('gone'); BEGIN; INSERT INTO gone VALUES ('y'); SELECT denied('gone'), certainty('gone'); ROLLBACK;
	BEGIN; INSERT INTO gone VALUES ('z'); SELECT look('gone'); COMMIT; SELECT look('gone')), "$fine; 0|sure; $fine; $fine");

# 11: the index is swapped for another while it is looked for.
$sql->(fresh('sw', $kinds{small}) . 'CREATE INDEX sw_between ON sw (id); CREATE TABLE unrelated ()');
my ($old, $reindex, $move, $reader) = map { $test->session } 1 .. 4;
$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM unrelated');
$reindex->start('REINDEX INDEX CONCURRENTLY sw_bf');
$test->wait_for_lock('REINDEX%', 'virtualxid');
$move->ask('BEGIN; ALTER INDEX sw_between SET TABLESPACE space');
$reader->start(q(SELECT bf_live_contains('sw', 'row 7'), bf_live_contains('sw', 'absent')));
$test->wait_for_lock('SELECT bf_live_contains%', 'relation');
$old->ask('COMMIT');
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_index WHERE indexrelid::regclass::text = 'sw_bf_ccold' AND NOT indisvalid));
$move->ask('COMMIT');
is($reader->finish, 't|f', '11: swapped meanwhile');
$reindex->finish;
$_->quit foreach $old, $reindex, $move, $reader;

# 12: what was rolled back is forgotten.
my $truncated = 'BEGIN TRUNCATE sv; INSERT INTO sv (title) SELECT r || g::text FROM generate_series(1, 60000) g; RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN NULL; END;';
$said = $test->said(fresh('sv', 'expected = 1000000, fpp = 0.0001', 0) . qq(
	BEGIN; INSERT INTO sv (title) VALUES ('one');
	DO \$\$ BEGIN FOR r IN 1 .. 40 LOOP $truncated END LOOP;
		RAISE NOTICE 'memory: %', (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
	END \$\$;
	COMMIT));
cmp_ok($said =~ /memory: (\d+)/ ? $1 : 'none', '<', 12e6, '12: memory of a transaction');
$is_sql->('12: the filter is as full as one row makes it', q(SELECT bits_set <= hashes, look('sv') FROM bf_live_info('sv')), "t|$fine");
my $each = 'BEGIN INSERT INTO sv (title) VALUES (g::text); IF g % 3 = 0 THEN RAISE division_by_zero; END IF;
	EXCEPTION WHEN division_by_zero THEN NULL; END;';
$is_sql->('12: 100,000 savepoints', qq(DO \$\$ BEGIN FOR g IN 1 .. 100000 LOOP $each END LOOP; END \$\$;
	SELECT estimated_count BETWEEN 66000 AND 67400, look('sv') FROM bf_live_info('sv')), "t|$fine");
my $nested = join "\n", 'BEGIN;', map { "SAVEPOINT s$_; INSERT INTO sv (title) VALUES ('open $_');" } 1 .. 10000;
$is_sql->('12: 10,000 open savepoints', "$nested ROLLBACK TO s9001; SELECT denied('sv'); COMMIT;
	SELECT count(*), look('sv') FROM sv WHERE title LIKE 'open%'", "0; 9000|$fine");

# 13, security 7 and 13: rights are asked of what was named, before any answer.
$sql->(q(
	CREATE ROLE alice; CREATE SCHEMA r; GRANT USAGE ON SCHEMA r TO alice;
	CREATE TABLE r.pl (title text, suspended bool); CREATE INDEX pl_bf ON r.pl USING bloomfilter (title) WHERE suspended;
	GRANT SELECT (title) ON r.pl TO alice;
	CREATE TABLE r.none (title text); CREATE INDEX none_bf ON r.none USING bloomfilter (title);
	CREATE TABLE r.par (title text); CREATE INDEX ON r.par USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	CREATE TABLE r.chi () INHERITS (r.par); CREATE INDEX ON r.chi USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO r.chi VALUES ('x'); ALTER TABLE r.chi ENABLE ROW LEVEL SECURITY; GRANT SELECT (title) ON r.par TO alice;
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'r.none_bf'::regclass;
));
$fails->("13: a partial index: $_", "SET ROLE alice; $_", '42501') foreach q(SELECT bf_live_contains('r.pl_bf', 'x')),
	q(SELECT bf_live_filter('r.pl_bf')), q(SELECT * FROM bf_live_info('r.pl_bf'));
$is_sql->('13: with all columns', q(GRANT SELECT ON r.pl TO alice; SET ROLE alice; SELECT bf_live_contains('r.pl_bf', 'x')), 'f');
$fails->('rights: a filter that is not valid', q(SET ROLE alice; SELECT bf_live_contains('r.none', 'x')), '42501');
my $locker = $test->session;
$locker->ask('BEGIN; LOCK TABLE r.none, r.chi');
$fails->("rights: before any lock, $_", "SET lock_timeout = '2s'; SET ROLE alice; SELECT bf_live_contains('$_', 'x')", '42501')
	foreach 'r.none', 'r.none_bf', 'r.chi';
$locker->quit;
$is_sql->('rights: the parent\'s do for its children', q(SET ROLE alice; SELECT bf_live_contains('r.par', 'x'), certainty('r.par')), 't|sure');

# 15: other sessions' temporary children are skipped.
$sql->(q(CREATE TABLE tpar (title text); CREATE INDEX ON tpar USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001); INSERT INTO tpar VALUES ('x')));
my $owner = $test->session;
$owner->ask(q(CREATE TEMP TABLE tchild () INHERITS (tpar)));
$is_sql->('15: without a filter', q(SELECT certainty('tpar'), bf_live_contains('tpar', 'x'), verified('tpar')), 'sure|t|0 missing');
$owner->ask(q(CREATE INDEX ON tchild USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001); INSERT INTO tchild VALUES ('own')));
$is_sql->('15: with a filter', q(SELECT certainty('tpar'), bf_live_contains('tpar', 'own'), verified('tpar')), 'sure|f|0 missing');
is($owner->ask(q(SELECT certainty('tpar'), bf_live_contains('tpar', 'own'))), 'sure|t', '15: its owner sees it');
$owner->quit;

# 16: what "no" does not say is said.
$is_sql->('16: comment', q(SELECT DISTINCT obj_description(oid, 'pg_proc') ~ 'statement' FROM pg_proc WHERE proname = 'bf_live_contains'), 't');

# 17: VACUUM.
$said = $test->said(fresh('fill', 'expected = 100000, fpp = 0.01', 100000) . 'VACUUM fill');
unlike($said, qr/WARNING|ERROR/, '17: a filter as full as was planned is not over-full');
$said = $test->said(fresh('fill', 'expected = 100000, fpp = 0.01', 200000) . 'VACUUM fill');
like($said, qr/WARNING:  live filter "fill_bf" is over-full/, '17: one with twice as many is');
like($said, qr/DETAIL:  It holds about 2\d{5} elements/, '17: and tells how many it holds');
unlike($said, qr/REINDEX INDEX CONCURRENTLY\. ./, '17: so that it is twice that');
$said = $test->said(fresh('fill', 'expected = 100, fpp = 0.01', 100000) . 'VACUUM fill');
like($said, qr/DETAIL:  It holds at least \d{3,4} elements/, '17: a filter with all bits set holds more than it can tell');
like($said, qr/SET \(expected = 200000\), .* twice the number of the table's rows/, '17: then it is twice the rows of the table');
$said = $test->said('DELETE FROM fill WHERE id > 10; VACUUM fill');
like($said, qr/SET \(expected = \d{4}\), .* may be too few/, '17: if they are more');
SKIP:
{
	skip 'no pg_buffercache', 1 unless $sql->(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'));
	$sql->(fresh('vast', 'expected = 50000000, fpp = 0.01', 0) . q(
		CREATE EXTENSION pg_buffercache; INSERT INTO vast (title) SELECT g::text FROM generate_series(1, 20000) g));
	$node->restart;
	$sql->('VACUUM vast; VACUUM vast');
	cmp_ok($sql->(q(SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('vast_bf'))), '<', 1000,
		'17: VACUUM does not fill shared buffers');
}

# A VACUUM that takes breaks lets others make a filter grow meanwhile.
$test->sql(q(CREATE TABLE paced (title text); CREATE INDEX ON paced USING bloomfilter (title) WITH (fpp = 0.0001);
	INSERT INTO paced SELECT 'row ' || g FROM generate_series(1, 97000) g));
$test->sql('VACUUM (FREEZE) paced');
{
	my $vacuum = $test->session;
	$vacuum->ask('SET vacuum_cost_delay = 100; SET vacuum_cost_limit = 1');
	$vacuum->start('VACUUM (TRUNCATE off) paced');
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_progress_vacuum WHERE phase = 'cleaning up indexes')), 'VACUUM is at the filter');
	$test->is_sql('others insert meanwhile', q(SET lock_timeout = '100ms';
		INSERT INTO paced SELECT 'more ' || g FROM generate_series(1, 10000) g; SELECT layers FROM bf_live_info('paced')), 2);
	is($vacuum->finish, '', 'and VACUUM comes to its end');
	$vacuum->quit;
}

# 5, sql D3 and D9: several filters of one table, and arrays.
$sql->(q(
	CREATE TABLE sev (id int, title text, url text, n int);
	INSERT INTO sev SELECT g, 'title ' || g, 'url ' || g, g FROM generate_series(1, 100) g;
	CREATE INDEX sev_title ON sev USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	CREATE INDEX sev_again ON sev USING bloomfilter (title) WITH (expected = 1000, fpp = 0.5)));
$is_sql->('D3: two over the same column', q(SELECT denied('sev'), certainty('sev'), denied('sev', named => 'sev_again')), '0|sure|0');
$sql->(q(DROP INDEX sev_again; CREATE INDEX sev_url ON sev USING bloomfilter (url) WITH (expected = 1000, fpp = 0.0001);
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sev_title'::regclass));
$fails->('5: an invalid one among two', q(SELECT bf_live_contains('sev', 'title 7')), '42P08');
$sql->('CREATE INDEX sev_n ON sev USING bloomfilter (n) WITH (expected = 1000, fpp = 0.0001); DROP INDEX sev_url');
$is_sql->('D3: the one for the kind of the element', q(SELECT bf_live_contains('sev', 'title 7'), bf_live_contains('sev', 'no'),
	bf_live_contains('sev', 7), bf_live_contains('sev', 7777)), 't|t|t|f');
$sql->('CREATE INDEX sev_url ON sev USING bloomfilter (url) WITH (expected = 1000, fpp = 0.0001)');
$is_sql->('5: named by column', q(SELECT bf_live_contains('sev', 'no', 'title'), bf_live_contains('sev', 'no', 'url'),
	bf_live_contains('sev', 'url 7', 'url')), 't|f|t');
$is_sql->('D3: an expression is named by its index', q(CREATE INDEX sev_lower ON sev USING bloomfilter (lower(title)) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO sev (title) VALUES ('UPPER'); SELECT bf_live_contains('sev', 'upper', 'sev_lower'), bf_live_contains('sev', 'UPPER', 'sev_lower')), 't|f');
$fails->("D3: $_->[0]", "SELECT bf_live_contains('sev', 'x', '$_->[0]')", $_->[1]) foreach [ 'id', '42704' ], [ 'nothing', '42703|42704' ];
$is_sql->('D3: NULL', q(SELECT bf_live_contains('sev', NULL::text) IS NULL, bf_live_contains(NULL, 'x'::text, 'url') IS NULL), 't|t');
$is_sql->('D9: arrays', q(SELECT bf_live_contains_each('sev', '{url 1,no,NULL,url 100}'::text[], 'url'), bf_live_contains_all('sev', '{url 1,NULL}'::text[], 'url'),
	bf_live_contains_all('sev', '{url 1,no}'::text[], 'url'), bf_live_contains_all('sev', '{}'::text[], 'url'), bf_live_contains_each('sev', '{1,2,7777}'::int[])),
	'{t,f,NULL,t}|t|f|t|{t,t,f}');
$is_sql->('D9: expected is a large number', q(CREATE TABLE vastly (title text); CREATE INDEX vastly_bf ON vastly USING bloomfilter (title)
	WITH (expected = 3000000000, fpp = 0.5); SELECT expected FROM bf_live_info('vastly')), '3000000000');
$fails->("D9: expected = $_", "CREATE INDEX ON vastly USING bloomfilter (title) WITH (expected = $_)", '22023') foreach '1.5', '-1', '9007199254740994';

# 10: conversion is PostgreSQL's own, whatever the session's search_path.
$sql->(q(CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0));
is($node->safe_psql('latin', qq(CREATE EXTENSION bloomext; SET client_encoding = 'LATIN1';
	CREATE TABLE t (title text); CREATE INDEX ON t USING bloomfilter (title); INSERT INTO t VALUES (chr(233));
	CREATE SCHEMA s; CREATE FUNCTION s.lossy(int, int, cstring, internal, int, bool) RETURNS int LANGUAGE C STRICT AS '$modules/conversion', 'lossy_conversion';
	CREATE DEFAULT CONVERSION s.c FOR 'LATIN1' TO 'UTF8' FROM s.lossy; SET search_path = s, pg_catalog, public;
	SELECT count(*) FROM t WHERE bf_live_contains('t', title))), '1', '10: a default conversion of the session\'s');

# 14: pages that were damaged; a crash with a TRUNCATE in place under way.
my @damage = map { [ $_, 29 ] } 3 .. 7;			# strategies that cannot be live
push @damage, [ 2, 30 ], [ 4, 30 ], [ 255, 32 ], [ 1, 56 ], [ 0x7f, 71 ];	# funnel, hashes, expected, fpp
my @broken = map { "broken$_" } 0 .. $#damage;
$sql->(fresh($_, $kinds{small}, 2000)) foreach @broken, 'lower', 'upper', 'former', 'ct';
my $crash = $test->session;
$crash->ask("BEGIN; $moved; TRUNCATE ct; INSERT INTO ct (title) VALUES ('gone')");
$sql->('CHECKPOINT');
$node->stop('immediate');
eval { $crash->quit };
$node->start;
$is_sql->('10: a crash before COMMIT', q(SELECT look('ct'); INSERT INTO ct (title) VALUES ('x'); REINDEX INDEX ct_bf; SELECT look('ct')), "$unsure; $fine");

# Write bytes into a stopped server's file; what was there.
sub patch
{
	my ($path, $offset, $bytes) = @_;
	open my $file, '+<:raw', $node->data_dir . "/$path" or die "$path: $!";
	seek $file, $offset, 0;
	read $file, my $before, length $bytes;
	seek $file, $offset, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	return $before;
}
my %path = map { $_ => $sql->("SELECT pg_relation_filepath('${_}_bf')") } @broken, 'lower', 'upper', 'former';
my $block = $sql->('SHOW block_size');
my ($hashes, $bits) = split /\|/, $sql->(q(SELECT hashes, bits FROM bf_live_info('former')));
my $page_bits = ($block - 32) * 8;
$node->stop;
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
patch($path{$broken[$_]}, $damage[$_][1], chr $damage[$_][0]) foreach 0 .. $#damage;
patch($path{former}, 24, pack 'LC4L4QQd x' . ($block - 24 - 48 - 8), 0x62664c76, 1, 1, 1, 0,
	$hashes, ($bits + $page_bits - 1) / $page_bits, 1, 0, $bits, 100000, 0.0001);
my %page = (lower => 12, upper => 14);
my %sound = map { $_ => patch($path{$_}, $block + $page{$_}, pack 'S', 24) } sort keys %page;
$node->start;
$is_sql->('14: a metapage of the first format', q(SELECT denied('former'); REINDEX INDEX former_bf; SELECT look('former')), "0; $fine")
	unless $test->said(q(SELECT denied('former'))) =~ /ERROR.*HINT.*REINDEX/s;
foreach (0 .. $#damage)
{
	my $name = "14: $damage[$_][0] in byte $damage[$_][1] of the metapage";
	$fails->("$name, lookup", "SELECT bf_live_contains('$broken[$_]', 'row 7')", 'XX002');
	$fails->("$name, INSERT", "INSERT INTO $broken[$_] (title) VALUES ('x')", 'XX002');
	$is_sql->("$name, REINDEX", "REINDEX INDEX $broken[$_]_bf; SELECT look('$broken[$_]')", $fine);
}
foreach my $tab (sort keys %page)
{
	$fails->("14: pd_$tab of a data page", "INSERT INTO $tab (title) SELECT g::text FROM generate_series(1, 100) g", 'XX00[12]');
	$node->stop;
	patch($path{$tab}, $block + $page{$tab}, $sound{$tab});
	$node->start;
	$is_sql->("14: pd_$tab, nothing was written", "SELECT look('$tab')", $fine);
}
$node->stop;
done_testing();
