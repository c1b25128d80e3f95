# What a relation stands for: all leaves are asked for the same column, nobody is
# told of a column that is not the named relation's, and neither what is cached,
# nor what is built meanwhile, nor another extension's catalog leads astray.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
));
$node->start;
my $test = LiveTest->new($node);
$test->install;

# Partitions that have filters of different columns, by themselves.
$test->sql(q(
	CREATE TABLE pp (id int, title text, url text) PARTITION BY RANGE (id);
	CREATE TABLE pp1 PARTITION OF pp FOR VALUES FROM (0) TO (10);
	CREATE TABLE pp2 (url text, title text, id int);
	ALTER TABLE pp ATTACH PARTITION pp2 FOR VALUES FROM (10) TO (20);
	CREATE INDEX ON pp1 USING bloomfilter (title);
	CREATE INDEX ON pp2 USING bloomfilter (url);
	INSERT INTO pp VALUES (1, 'one', 'u1'), (11, 'eleven', 'u11')));
$test->fails('one leaf of another column', q(SELECT bf_live_contains('pp', title) FROM pp), '42704');
$test->fails("$_ neither", qq(SELECT $_('pp')), '42704') foreach 'bf_live_filter', 'bf_live_verify';
$test->sql(q(CREATE INDEX ON pp2 USING bloomfilter (title); CREATE INDEX ON pp1 USING bloomfilter (url)));
$test->is_sql('the column decides for all', q(
	SELECT bf_live_contains('pp', title, 'title'), bf_live_contains('pp', url, 'url'), bf_live_contains('pp', url, 'title') FROM pp),
	't|t|f; t|t|f');
$test->fails('both, and none was named', q(SELECT bf_live_contains('pp', 'one')), '42P08');

# Expressions, in the words of each leaf.
$test->sql(q(
	CREATE INDEX pp_low ON pp USING bloomfilter (lower(title));
	CREATE TABLE ex (title text, url text); CREATE INDEX title ON ex USING bloomfilter (lower(url)); INSERT INTO ex VALUES ('T', 'U');
	CREATE SCHEMA s2; CREATE TABLE two (t text); CREATE TABLE s2.two () INHERITS (two);
	CREATE INDEX two_low ON two USING bloomfilter (lower(t)); CREATE INDEX two_low ON s2.two USING bloomfilter (upper(t));
	INSERT INTO s2.two VALUES ('Abc')));
$test->is_sql('an expression, where partitions have other columns', q(
	SELECT bf_live_contains('pp', lower(title), 'pp_low'), bf_live_contains('pp_low', lower(title), 'pp_low'),
		bf_live_contains('pp', url, 'pp_low') FROM pp), 't|t|f; t|t|f');
$test->fails('another expression under the same name', q(SELECT bf_live_contains('two', 'abc', 'two_low')), '42704');
$test->fails('and without', q(SELECT bf_live_contains('two', 'abc')), '42704');
$test->fails('a column goes before an index of its name', q(SELECT bf_live_contains('ex', 'T', 'title')), '42704');
$test->fails('an index that is not of the column', q(SELECT bf_live_contains('pp_low', 'one', 'url')), '42704');

# NULLIF does not say which equality it uses: expressions are more than their text.
$test->sql(q(
	CREATE SCHEMA o; CREATE FUNCTION o.eqi(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql AS
		'SELECT lower($1) OPERATOR(pg_catalog.=) lower($2)';
	CREATE OPERATOR o.= (LEFTARG = text, RIGHTARG = text, FUNCTION = o.eqi);
	CREATE TABLE nf (k int, t text) PARTITION BY LIST (k);
	CREATE TABLE nf1 PARTITION OF nf FOR VALUES IN (1); CREATE TABLE nf2 PARTITION OF nf FOR VALUES IN (2);
	CREATE INDEX ON nf1 USING bloomfilter (nullif(t, 'X'));
	SET search_path = o, pg_catalog, public; CREATE INDEX ON nf2 USING bloomfilter (nullif(t, 'X'))));
$test->fails('expressions that read alike', q(SELECT bf_live_contains('nf', 'x')), '42704');

# Who may read the whole may read all about it; an index without leaves is listed.
$test->sql(q(CREATE ROLE reader; GRANT SELECT ON pp TO reader; CREATE INDEX only_bf ON ONLY pp USING bloomfilter (upper(url))));
$test->is_sql('the filters of partitions', q(SET ROLE reader; SELECT index, maybe FROM bf_live_info('pp_low') ORDER BY 1),
	'pp1_lower_idx|; pp2_lower_idx|');
$test->is_sql('an index that no partition has', q(SELECT index IS NULL, maybe IS NULL FROM bf_live_info('only_bf')), 't|f; t|f');

# A child's own column.
$test->sql(q(
	CREATE ROLE alice; CREATE TABLE par (title text); CREATE TABLE chi (secret text) INHERITS (par);
	CREATE INDEX ON par USING bloomfilter (title); CREATE INDEX ON chi USING bloomfilter (secret);
	INSERT INTO chi VALUES ('visible', 'topsecret'); GRANT SELECT ON par TO alice));
my $alice = 'SET ROLE alice;';
$test->fails("is no column of its parent: $_", "$alice SELECT bf_live_contains('par', $_)", '42704')
  foreach "'topsecret'", "'topsecret', 'secret'";
$test->fails('nor in a value', "$alice SELECT bf_live_filter('par')", '42704');
$test->is_sql('nor listed', "$alice SELECT index, relation FROM bf_live_info('par')", 'par_title_idx|par; |chi');
$test->sql(q(CREATE INDEX chi_title ON chi USING bloomfilter (title)));
$test->is_sql('what it inherits is', "$alice SELECT bf_live_contains('par', 'visible'), bf_live_contains('par', 'topsecret')", 't|f');
$test->is_sql('and listed', "$alice SELECT index FROM bf_live_info('par')", 'par_title_idx; chi_title');

# Anybody's tables that look like another extension's catalog.
$test->sql(q(
	CREATE ROLE mallory; GRANT CREATE ON DATABASE postgres TO mallory; CREATE TABLE t (title text);
	CREATE INDEX ON t USING bloomfilter (title);
	SET ROLE mallory; CREATE SCHEMA _timescaledb_catalog;
	CREATE UNLOGGED TABLE _timescaledb_catalog.chunk (schema_name name, table_name name, compressed_chunk_id int);
	INSERT INTO _timescaledb_catalog.chunk VALUES ('public', 't', 1)));
my $mallory = $test->session;
$mallory->ask('SET ROLE mallory; BEGIN; LOCK TABLE _timescaledb_catalog.chunk');
$test->is_sql('are not asked', q(SET lock_timeout = '10s'; SELECT look('t')), '0 denied, sure, 0 missing');
$mallory->ask('ROLLBACK');
$mallory->quit;
$test->sql(q(DROP SCHEMA _timescaledb_catalog CASCADE));

# What a session knows of a table from before is locked, and permitted, anew.
$test->sql(q(
	CREATE ROLE team; CREATE ROLE bob IN ROLE team; CREATE ROLE carol; CREATE ROLE dave;
	CREATE TABLE kept (title text, url text); CREATE INDEX ON kept USING bloomfilter (title); CREATE INDEX ON kept USING bloomfilter (url);
	GRANT SELECT ON kept TO team; GRANT SELECT (title) ON kept TO carol; INSERT INTO kept VALUES ('here', 'there');
	CREATE FUNCTION locked() RETURNS bigint LANGUAGE sql AS
		$$SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^kept'$$));
my $asker = $test->session;
my $kept = q(SELECT bf_live_contains('kept', 'here', 'title'));
is($asker->ask($kept), 't', 'asked for the first time');
is($asker->ask("BEGIN; $kept; SELECT locked()"), 't; 2', 'and again: the table and the filter are locked');
is($asker->ask("SAVEPOINT s; ROLLBACK; SELECT locked()"), '0', 'until the end');
is($asker->ask("BEGIN; SAVEPOINT s; $kept; ROLLBACK TO s; SELECT locked(); $kept; SELECT locked(); COMMIT"), 't; 0; t; 2',
	'or until a subtransaction is rolled back');
is($asker->ask("SET ROLE bob; $kept; SET ROLE carol; $kept"), 't; t', 'by whoever may read the table, or the column');
like($asker->ask(q(SELECT bf_live_contains('kept', 'there', 'url'))), qr/42501/, 'not another one');
like($asker->ask("BEGIN; SET LOCAL ROLE bob; $kept; SET LOCAL ROLE dave; $kept; COMMIT"), qr/^t; .*42501/, 'nor by another role of the same transaction');
is($asker->ask("BEGIN; SET LOCAL ROLE bob; $kept"), 't', 'a transaction has asked');
$test->sql('REVOKE team FROM bob');
like($asker->ask($kept), qr/42501/, 'and may not go on when it has left the role');
is($asker->ask("ROLLBACK; RESET ROLE; BEGIN; GRANT team TO bob; SET LOCAL ROLE bob; $kept"), 't', 'nor one that joined it');
like($asker->ask("RESET ROLE; REVOKE team FROM bob; SET LOCAL ROLE bob; $kept"), qr/42501/, 'and left it again by itself');
like($asker->ask("ROLLBACK; SET ROLE bob; $kept"), qr/42501/, 'nor may who left the role, later');
$test->sql('REVOKE SELECT (title) ON kept FROM carol');
like($asker->ask("SET ROLE carol; $kept"), qr/42501/, 'nor where the right to the column was revoked');
$test->sql('GRANT team TO bob; ALTER TABLE kept ENABLE ROW LEVEL SECURITY');
like($asker->ask("SET ROLE bob; $kept"), qr/42501/, 'nor where policies hide rows now');
$test->sql('ALTER ROLE bob BYPASSRLS');
is($asker->ask("BEGIN; $kept"), 't', 'but from who is above them');
$test->sql('ALTER ROLE bob NOBYPASSRLS');
like($asker->ask($kept), qr/42501/, 'for as long');
$asker->ask('ROLLBACK');
is($asker->ask("RESET ROLE; $kept"), 't', 'which they do not from the owner');
$test->sql('DROP TABLE kept');
like($asker->ask($kept), qr/42P01/, 'a table that is gone');
$asker->quit;

# A cursor that still sees a partition, and a call site that is asked between.
$test->sql(q(
	CREATE TABLE dp (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE dp1 PARTITION OF dp FOR VALUES FROM (0) TO (10);
	CREATE TABLE dp2 PARTITION OF dp FOR VALUES FROM (10) TO (20);
	CREATE INDEX ON dp USING bloomfilter (title); INSERT INTO dp VALUES (1, 'one'), (11, 'eleven');
	CREATE FUNCTION asked(x text) RETURNS boolean STABLE LANGUAGE plpgsql AS 'BEGIN RETURN bf_live_contains(''dp'', x); END'));
my ($one, $two) = ($test->session, $test->session);
$one->ask('BEGIN; DECLARE c CURSOR FOR SELECT title, asked(title) FROM dp');
$two->start('ALTER TABLE dp DETACH PARTITION dp2 CONCURRENTLY');
$test->wait_for_lock('%DETACH%');
is($one->ask(q(SELECT asked('zzz'))), 'f', 'a partition is being detached');
is($one->ask('FETCH ALL FROM c'), 'one|t; eleven|t', 'which an older cursor sees');
$one->ask('COMMIT');
$two->finish;

# A snapshot that is imported while a concurrent build waits for older ones.
$test->sql(q(
	CREATE TABLE ci (id int, title text); INSERT INTO ci SELECT g, 'title ' || g FROM generate_series(1, 100) g;
	CREATE INDEX ci_bf ON ci USING bloomfilter (title)));
my $long = $test->session;
$long->ask('BEGIN; SELECT pg_current_xact_id()');
my $snapshot = $one->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()');
$test->sql(q(DELETE FROM ci WHERE id = 7));
$two->start('REINDEX INDEX CONCURRENTLY ci_bf');
$test->wait_for_lock('REINDEX%');
my $three = $test->session;
$three->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'; SELECT 1");
$one->ask('COMMIT');
$two->finish;
is($three->ask(q(SELECT count(*), count(*) FILTER (WHERE NOT bf_live_contains('ci', title)) FROM ci)), '100|0', 'an imported snapshot');
is($three->ask(q(COMMIT; SELECT look('ci'))), '0 denied, sure, 0 missing', 'and a new one');
$long->ask('COMMIT');

# One that differs from that of the build's validation only by who was running yet: he
# deletes what came while the build's scan was held, so that neither has it.
$test->sql(q(
	CREATE TABLE same (title text); INSERT INTO same VALUES ('held');
	CREATE FUNCTION hold(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1);
		RETURN title;
	END $$));
my $holder = $test->session;
$holder->ask('SELECT pg_advisory_lock(1)');
$two->start('CREATE INDEX CONCURRENTLY same_bf ON same USING bloomfilter (hold(title))');
$test->wait_for_lock('CREATE INDEX%', 'advisory');
$test->sql(q(INSERT INTO same VALUES ('gone')));
$long->ask(q(BEGIN; DELETE FROM same WHERE title = 'gone'));
$holder->ask('SELECT pg_advisory_unlock(1)');
$test->wait_for_lock('CREATE INDEX%', 'virtualxid');
($snapshot, my $pid) = split /; /, $one->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot(); SELECT pg_backend_pid()');
$long->ask('COMMIT');
$node->poll_query_until('postgres', "SELECT pg_blocking_pids(pid) = ARRAY[$pid] FROM pg_stat_activity WHERE query LIKE 'CREATE INDEX%'") or die 'nobody waits';
$three->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'; SELECT 1");
$one->ask('COMMIT');
$two->finish;
is($three->ask(q(SELECT count(*), count(*) FILTER (WHERE NOT bf_live_contains('same_bf', title)) FROM same; COMMIT)), '2|0',
	'a snapshot that sees as far as that of the validation');
is($three->ask(q(SELECT count(*), bf_live_contains('same_bf', 'gone') FROM same)), '1|f', 'and a new one');
$_->quit foreach $long, $holder;

# SERIALIZABLE, where the later one does away with what the other has read.
foreach my $ddl ('REINDEX INDEX ser_bf', 'ALTER TABLE ser ALTER title TYPE varchar', 'DROP INDEX ser_bf')
{
	$test->sql(q(CREATE TABLE ser (title text); CREATE INDEX ser_bf ON ser USING bloomfilter (title)));
	foreach my $session ($one, $two)
	{
		is($session->ask(q(BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT bf_live_contains('ser', 'x'))), 'f', 'not there yet');
		$session->ask(q(INSERT INTO ser VALUES ('x')));
	}
	my $said = $two->ask('COMMIT') . $one->ask("$ddl; COMMIT");
	like($said, qr/40001/, "one of two fails, in spite of $ddl");
	$one->ask('ROLLBACK');
	$test->is_sql('so that there is one', q(SELECT count(*) FROM ser), '1');
	$test->sql('DROP TABLE ser');
}
$_->quit foreach $one, $two, $three;

# OIDs begin anew some day.  Then the newer of two indexes may be looked at first, and
# both be swapped before the other is.
sub begin_oids
{
	my ($oid) = @_;
	$node->stop;
	system_or_bail('pg_resetwal', '-o', $oid, $node->data_dir);
	$node->start;
}
begin_oids(4_000_000_000);
$test->sql(q(CREATE TABLE unrelated (); CREATE TABLE sw (title text); INSERT INTO sw VALUES ('Here');
	CREATE INDEX sw_between ON sw (title); CREATE INDEX sw_bf ON sw USING bloomfilter (lower(title))));
begin_oids(100_000);
($one, $two, $three, $holder) = map { $test->session } 1 .. 4;
$one->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM unrelated');
$two->start('REINDEX INDEX CONCURRENTLY sw_bf');
$test->wait_for_lock('REINDEX%', 'virtualxid');
$holder->ask('BEGIN; ALTER INDEX sw_between SET TABLESPACE pg_default');
$three->start(q(SELECT bf_live_contains('sw', 'here', 'sw_bf'), bf_live_contains('sw', 'absent', 'sw_bf')));
$test->wait_for_lock('SELECT bf_live_contains%', 'relation');
$one->ask('COMMIT');
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_index WHERE indexrelid::regclass::text = 'sw_bf_ccold' AND NOT indisvalid)) or die 'not swapped';
$holder->ask('COMMIT');
is($three->finish, 't|f', 'swapped while they are looked at');
$two->finish;
$test->is_sql('the newer first', q(SELECT 'sw_bf'::regclass::oid < 'sw_between'::regclass::oid), 't');
$_->quit foreach $one, $two, $three, $holder;

# Expressions that what rows were before would make fail.
$test->is_sql('an expression that old versions of rows are no values for', q(
	CREATE TABLE old (id int, x text) WITH (fillfactor = 50); INSERT INTO old VALUES (1, '1'), (2, 'abc');
	BEGIN; UPDATE old SET x = '2' WHERE x = 'abc'; CREATE INDEX old_bf ON old USING bloomfilter ((x::int)); COMMIT;
	SELECT bf_live_contains('old', 2), bf_live_contains('old', 3), missing FROM bf_live_verify('old')), 't|f|0');

# What a build runs may ask for what is being built.
$test->is_sql('a constraint that asks its own table', q(
	CREATE FUNCTION chk(x text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM bf_live_contains(''own'', x); RETURN true; END';
	CREATE TABLE own (title text CHECK (chk(title)), id serial); CREATE INDEX ON own USING bloomfilter (title);
	INSERT INTO own VALUES ('x'); ALTER TABLE own ALTER title TYPE varchar(99) USING title || '!';
	VACUUM FULL own; ALTER TABLE own ALTER title TYPE text USING title || '?';
	SELECT look('own')), '0 denied, sure, 0 missing');

# A pending page that lost a bit of its end.
$test->sql(q(
	CREATE TABLE damaged (title text); CREATE INDEX damaged_bf ON damaged USING bloomfilter (title) WITH (expected = 4000000, fpp = 0.0001);
	INSERT INTO damaged SELECT 'title ' || g FROM generate_series(1, 60) g));
my $file = $node->data_dir . '/' . $test->sql(q(SELECT pg_relation_filepath('damaged_bf')));
$node->stop;
open my $handle, '+<', $file or die;
binmode $handle;
sysseek $handle, 8192 + 12, 0;
sysread $handle, my $lower, 2;
cmp_ok(unpack('S', $lower), '>', 24 + 64, 'a pending page with entries');
sysseek $handle, 8192 + 12, 0;
syswrite $handle, pack('S', unpack('S', $lower) - 32);
close $handle;
$node->start;
$test->fails('entries beyond the end of a pending page', q(SELECT * FROM bf_live_verify('damaged')), 'XX001');

$node->stop;
done_testing();
