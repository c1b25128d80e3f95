# From which transaction on a live filter is complete: snapshots that are older
# than a build, on a primary, on its standby, and on the standby once promoted.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
max_prepared_transactions = 10
max_standby_streaming_delay = -1
lock_timeout = 60s
));
$node->start;
$node->backup('base');
my $replica = PostgreSQL::Test::Cluster->new('standby');
$replica->init_from_backup($node, 'base', has_streaming => 1);
$replica->start;
my $primary = LiveTest->new($node);
my $standby = LiveTest->new($replica);
$primary->install;
$primary->sql('CREATE TABLE other ()');
# Catalogs are not pruned past a logical slot, which would conflict with the
# snapshots of the standby.
$primary->sql(q(SELECT pg_create_logical_replication_slot('catalogs', 'pgoutput')));
my $version = $primary->sql('SHOW server_version_num');
my $fine = '0 denied, sure, 0 missing';

sub catch_up { $node->wait_for_catchup($replica, 'replay', $node->lsn('insert')); }

# A table with some rows, and room on its pages.
sub table
{
	my ($name, $index) = @_;
	$primary->sql("CREATE TABLE $name (id int, title varchar(50), note text) WITH (fillfactor = 50);
		INSERT INTO $name SELECT g, 'row ' || g FROM generate_series(1, 60) g;
		" . ($index ? build($name, '') : ''));
}

sub build
{
	my ($name, $concurrently, $what) = @_;
	$what //= 'title';
	return "CREATE INDEX $concurrently ${name}_bf ON $name USING bloomfilter ($what) WITH (expected = 100, expansion = 2, fpp = 0.0001)";
}

# A session whose snapshot is taken, and not by a look at the table.
sub reader
{
	my ($server) = @_;
	my $session = $server->session;
	$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other');
	return $session;
}

# A change of type without a rewrite loses what pg_index knew of the index.
table('typed');
my $old = reader($primary);
$primary->sql("UPDATE typed SET title = 'new ' || id; " . build('typed', ''));
$primary->sql('ALTER TABLE typed ALTER title TYPE varchar(100)');
is($old->ask(q(SELECT count(*), denied('typed') FROM typed WHERE title LIKE 'row%')), '60|0', 'a change of type: an older snapshot');
$old->quit;
$primary->is_sql('a change of type: a new snapshot', q(SELECT look('typed')), $fine);

# From 16 on updates of the column are HOT, so REINDEX meets broken chains.
SKIP:
{
	skip 'updates of the column are not HOT before 16', 3 if $version < 160000;
	table('hot', 1);
	$old = reader($primary);
	$primary->sql(q(UPDATE hot SET title = 'new ' || id; REINDEX INDEX hot_bf));
	is($old->ask(q(SELECT count(*), denied('hot') FROM hot WHERE title LIKE 'row%')), '60|0', 'broken chains: an older snapshot, after REINDEX');
	$old->quit;
	$primary->is_sql('broken chains: a new snapshot', q(SELECT look('hot')), $fine);
	ok($node->poll_query_until('postgres', q(SELECT n_tup_hot_upd = 60 FROM pg_stat_user_tables WHERE relname = 'hot')), 'broken chains: HOT updates');
}

# A transaction's own rows, whatever its snapshot is.
table('own', 1);
$primary->is_sql('its own table, of an older snapshot', q(
	BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other;
	TRUNCATE own; INSERT INTO own VALUES (1, 'x'); SELECT denied('own'), certainty('own');
	CREATE TABLE mine (title text); INSERT INTO mine VALUES ('x');
	CREATE INDEX ON mine USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	SELECT denied('mine'), certainty('mine'); COMMIT), '0; 0|sure; 0|sure');

# A prepared transaction that somebody forgot.
table($_, /again/) foreach 'made', 'made_concurrently', 'again', 'again_concurrently';
$primary->sql(q(CREATE TABLE unrelated (n int); BEGIN; INSERT INTO unrelated VALUES (1); PREPARE TRANSACTION 'forgotten'));
$primary->sql($_) foreach build('made', ''), build('made_concurrently', 'CONCURRENTLY'), 'REINDEX INDEX again_bf',
  'REINDEX INDEX CONCURRENTLY again_concurrently_bf';
catch_up();
foreach my $tab ('made', 'made_concurrently', 'again', 'again_concurrently')
{
	$primary->is_sql("a forgotten prepared transaction: $tab", "SELECT look('$tab')", $fine);
	$standby->is_sql("a forgotten prepared transaction: $tab, on the standby", "SELECT denied('$tab')", 0);
}
$standby->is_sql('a forgotten prepared transaction: REINDEX, on the standby', q(SELECT look('again')), $fine);
$primary->sql(q(ROLLBACK PREPARED 'forgotten'));

# A snapshot of a standby, and a row that is dead on the primary when the
# index is rebuilt.
my %reader;
$primary->sql(q(
	CREATE FUNCTION gate(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF title = 'row 1' THEN
			PERFORM pg_advisory_lock_shared(1);
			PERFORM pg_advisory_unlock_shared(1);
		END IF;
		RETURN title;
	END $$));
table($_, 1) foreach 'rebuilt', 'rebuilt_beside';
table($_) foreach 'built', 'swapped';
$primary->sql(build('swapped', '', 'gate(title)'));
catch_up();
$reader{rebuilt} = reader($standby);
$primary->sql(q(DELETE FROM rebuilt WHERE id = 7; REINDEX INDEX rebuilt_bf));
catch_up();

# The same while another database has an old snapshot, which keeps no row of ours.
my $beside = $primary->session('template1');
$beside->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
catch_up();
$reader{rebuilt_beside} = reader($standby);
$primary->sql(q(DELETE FROM rebuilt_beside WHERE id = 7; REINDEX INDEX rebuilt_beside_bf));
$beside->ask('COMMIT');
$beside->quit;
catch_up();

# A concurrent build, and a row that came after its snapshot and goes before it
# is validated.  The scan waits in the index's expression, its end for a writer.
foreach my $tab ('built', 'swapped')
{
	my $again = $tab eq 'swapped';
	my ($gate, $builder, $writer) = map { $primary->session } 1 .. 3;
	$gate->ask('SELECT pg_advisory_lock(1)');
	$builder->start($again ? "REINDEX INDEX CONCURRENTLY ${tab}_bf" : build($tab, 'CONCURRENTLY', 'gate(title)'));
	$primary->wait_for_lock($again ? 'REINDEX%' : 'CREATE INDEX%', 'advisory');
	$writer->ask("BEGIN; LOCK TABLE $tab IN ROW EXCLUSIVE MODE");
	$primary->sql("INSERT INTO $tab VALUES (100, 'ghost')");
	$gate->ask('SELECT pg_advisory_unlock(1)');
	$primary->wait_for_lock($again ? 'REINDEX%' : 'CREATE INDEX%', 'virtualxid');
	catch_up();
	$reader{$tab} = reader($standby);
	$primary->sql("DELETE FROM $tab WHERE title = 'ghost'");
	$writer->ask('COMMIT');
	$builder->finish;
	$_->quit foreach $gate, $builder, $writer;
	catch_up();
	$primary->is_sql("$tab: the primary", "SELECT look('$tab')", $fine);
}
$primary->is_sql('built: valid, and without the row', q(SELECT indisvalid, bf_live_contains('built', 'ghost')
	FROM pg_index WHERE indexrelid = 'built_bf'::regclass), 't|f');

# The standby, whose primary writes nothing any more.
sub ask_readers
{
	my ($when) = @_;
	my %rows = (rebuilt => 60, rebuilt_beside => 60, built => 61, swapped => 61);
	foreach my $tab (sort keys %rows)
	{
		is($reader{$tab}->ask("SELECT count(*), denied('$tab') FROM $tab"), "$rows{$tab}|0", "$tab: an older snapshot, $when");
		is($reader{$tab}->ask("SELECT certainty('$tab')"), 'maybe', "$tab: is told maybe, $when");
		is($reader{$tab}->ask("SAVEPOINT s; SELECT maybe IS NULL FROM bf_live_info('$tab'); ROLLBACK TO s"), 'f', "$tab: bf_live_info, $when");
	}
}
ask_readers('on the standby');
# Layers that are added leave that as it is.
foreach my $tab (sort keys %reader)
{
	$primary->sql("INSERT INTO $tab SELECT 1000 + g, 'grown ' || g FROM generate_series(1, 500) g");
	$primary->is_sql("$tab: grown", "SELECT layers > 1 FROM bf_live_info('$tab')", 't');
}
catch_up();
ask_readers('on the standby, by more layers');
foreach my $tab (sort keys %reader)
{
	ok($replica->poll_query_until('postgres', "SELECT look('$tab')", $fine), "$tab: a new snapshot on the standby becomes sure");
}

# Transactions that outlive promotion.
$replica->promote;
ask_readers('after promotion');
$_->quit foreach values %reader;
$standby->is_sql("$_: promoted", "INSERT INTO $_ VALUES (200, 'new'); SELECT look('$_')", $fine) foreach sort keys %reader;
$replica->stop;
$primary->sql(q(SELECT pg_drop_replication_slot('catalogs')));

# A session that knew the filter before it was validated, and then lets it grow;
# and a snapshot that is handed on while the build waits for its owner.
table('grown');
{
	my ($owner, $heir, $gate, $builder, $writer, $grower) = map { $primary->session } 1 .. 6;
	my $snapshot = $owner->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()');
	$primary->sql('DELETE FROM grown WHERE id = 7');
	$gate->ask('BEGIN; LOCK TABLE grown IN ROW EXCLUSIVE MODE');
	$builder->start('CREATE INDEX CONCURRENTLY grown_bf ON grown USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001, expansion = 2)');
	$primary->wait_for_lock('CREATE INDEX%', 'virtualxid');
	$writer->ask('BEGIN; LOCK TABLE grown IN ROW EXCLUSIVE MODE');
	$gate->ask('COMMIT');
	ok($node->poll_query_until('postgres', q(SELECT indisready FROM pg_index WHERE indexrelid = 'grown_bf'::regclass)), 'grown: built');
	$primary->wait_for_lock('CREATE INDEX%', 'virtualxid');
	$grower->ask(q(BEGIN; INSERT INTO grown VALUES (100, 'first')));
	$writer->ask('COMMIT');
	ok($node->poll_query_until('postgres', q(SELECT phase = 'waiting for old snapshots' FROM pg_stat_progress_create_index)), 'grown: validated');
	$grower->ask(q(INSERT INTO grown SELECT g, 'more ' || g FROM generate_series(1, 5000) g; COMMIT));
	$heir->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '$snapshot'");
	$owner->ask('COMMIT');
	$builder->finish;
	is($heir->ask(q(SELECT count(*), denied('grown') FROM grown)), '60|0', 'grown: an older snapshot');
	$_->quit foreach $owner, $heir, $gate, $builder, $writer, $grower;
}
$primary->is_sql('grown: a new snapshot', q(SELECT look('grown'), layers > 1 FROM bf_live_info('grown')), "$fine|t");

# Snapshots that are too old have no claim to what is pruned; the filter cannot
# know which they are.
SKIP:
{
	skip 'no old_snapshot_threshold', 2 if $version >= 170000;
	$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
	$node->restart;
	$primary->sql(q(CREATE TABLE pruned AS SELECT g AS id, 'row ' || g AS title FROM generate_series(1, 5000) g;
		CREATE INDEX pruned_bf ON pruned USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001)));
	$old = reader($primary);
	$primary->sql(q(DELETE FROM pruned WHERE id % 2 = 0; VACUUM pruned; REINDEX INDEX pruned_bf));
	is($old->ask(q(SELECT certainty('pruned'), count(*) FROM generate_series(1, 5000) g WHERE NOT bf_live_contains('pruned', 'row ' || g))), 'maybe|0',
		'old_snapshot_threshold: an older snapshot');
	$old->quit;
	$primary->is_sql('old_snapshot_threshold: a new one', q(SELECT look('pruned')), $fine);
}

# A horizon that is in the future, as a careless pg_resetwal makes it.
table('future');
$node->stop;
command_ok([ 'pg_resetwal', '-e', '1', '-D', $node->data_dir ], 'a later epoch');
$node->start;
$primary->sql(build('future', ''));
$primary->is_sql('a build of that epoch', q(SELECT look('future')), $fine);
$node->stop;
command_ok([ 'pg_resetwal', '-e', '0', '-D', $node->data_dir ], 'an earlier epoch');
$node->start;
$primary->is_sql('a horizon in the future', q(SELECT denied('future'), certainty('future'); SELECT maybe ~ 'REINDEX' FROM bf_live_info('future')), '0|maybe; t');
like($primary->said('VACUUM future'), qr/REINDEX/, 'a horizon in the future: VACUUM tells what to do');
$primary->is_sql('a horizon in the future: REINDEX', q(REINDEX INDEX future_bf; SELECT look('future')), $fine);
$node->stop;
done_testing();
