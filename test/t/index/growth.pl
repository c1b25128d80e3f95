# Filters that grow, and sessions side by side: whoever asks knows the layers that
# others added, however old the session, its plans and its statement are, on a
# primary and on its standby; builds, VACUUM, savepoints and cancelled statements
# do not come between; and what has grown stays below its fpp.
#
# BLOOMEXT_LIVE_SECONDS is how long the mixed load runs: 6, unless it says
# otherwise.  BLOOMEXT_SEED repeats the choices of a run, though not its timing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $seconds = $ENV{BLOOMEXT_LIVE_SECONDS} || 6;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq(
wal_consistency_checking = 'all'
fsync = off
autovacuum = off
log_statement = none
max_connections = 50
max_prepared_transactions = 10
max_wal_size = 2GB
wal_keep_size = 2GB
max_standby_streaming_delay = -1
deadlock_timeout = 500ms
allow_in_place_tablespaces = on
));
$node->start;
$node->backup('base');
my $replica = PostgreSQL::Test::Cluster->new('standby');
$replica->init_from_backup($node, 'base', has_streaming => 1);
$replica->start;
my $primary = LiveTest->new($node);
my $standby = LiveTest->new($replica);
$primary->install;
my $fine = '0 denied, sure, 0 missing';

sub catch_up { $node->wait_for_catchup($replica, 'replay', $node->lsn('insert')); }

# An empty table whose filter will grow.
sub growing
{
	my ($name, $options, $how) = @_;
	$options //= 'expected = 100, expansion = 2, fpp = 0.01';
	return ($how // 'CREATE') . " TABLE $name (title text);
		CREATE INDEX ${name}_bf ON $name USING bloomfilter (title) WITH ($options);";
}

sub insert
{
	my ($name, $prefix, $rows) = @_;
	return "INSERT INTO $name SELECT '$prefix ' || g FROM generate_series(1, $rows) g;";
}

# Old sessions.  A statement that runs all the while asks, at one place of its
# own, for each row as it comes; it is PL/pgSQL, where each query has a snapshot
# of its own.
$primary->sql(growing('seen') . q(
	CREATE PROCEDURE watch(number int, INOUT said text) LANGUAGE plpgsql AS $$
	DECLARE
		row record;
		n int := 0;
		noes int := 0;
	BEGIN
		WHILE n < number LOOP
			n := 0;
			FOR row IN SELECT title FROM seen LOOP
				n := n + 1;
				IF NOT bf_live_contains('seen', row.title) THEN
					noes := noes + 1;
				END IF;
			END LOOP;
			PERFORM pg_sleep(0.002);
		END LOOP;
		said := n || ' rows, ' || noes || ' denied';
	END $$;
	-- With a snapshot of its own, as it is volatile.
	CREATE FUNCTION fresh() RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN (SELECT count(*) || ' rows, ' || count(*) FILTER (WHERE NOT bf_live_contains('seen', title)) || ' denied' FROM seen);
	END $$;) . insert('seen', 'first', 50));
catch_up();

# A session whose plans, call sites and relation cache are warm.
sub warm
{
	my ($server) = @_;
	my $session = $server->session;
	$session->ask(q(SET plan_cache_mode = force_generic_plan;
		PREPARE one AS SELECT bf_live_contains('seen', $1);
		PREPARE every AS SELECT count(*), count(*) FILTER (WHERE NOT bf_live_contains('seen', title)) FROM seen;
		EXECUTE one('first 1'); EXECUTE every; SELECT bf_live_contains('seen', 'nowhere'); SELECT fresh()));
	return $session;
}

my %old = map { ($_->{node}->name => { server => $_, idle => warm($_), prepared => warm($_), cursor => warm($_), repeatable => warm($_), loop => warm($_) }) }
  $primary, $standby;
foreach my $old (values %old)
{
	$old->{cursor}->ask(q(BEGIN;
		DECLARE own CURSOR FOR SELECT bf_live_contains('seen', 'second ' || g) FROM generate_series(0, 1000) AS g;
		DECLARE others CURSOR FOR SELECT fresh() FROM generate_series(1, 2);
		FETCH own; FETCH others));
	$old->{repeatable}->ask(q(BEGIN ISOLATION LEVEL REPEATABLE READ; EXECUTE every));
	$old->{loop}->start('CALL watch(1051, NULL)');
	$old->{server}{node}->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'CALL watch%' AND wait_event = 'PgSleep'))
	  or die 'nobody watches';
}
my $layers = $primary->layers('seen');
my $writer = $primary->session;
$writer->ask("INSERT INTO seen VALUES ('second $_')") foreach 1 .. 400;
$writer->ask("INSERT INTO seen SELECT 'second ' || g FROM generate_series($_ + 1, $_ + 20) g") foreach map { 20 * $_ } 20 .. 49;
cmp_ok($primary->layers('seen'), '>=', $layers + 3, 'another session added layers');
catch_up();
foreach my $name (sort keys %old)
{
	my $old = $old{$name};
	is($old->{prepared}->ask("EXECUTE every; EXECUTE one('second 999'); EXECUTE one('nowhere')"), '1050|0; t; f', "$name: prepared statements");
	is($old->{cursor}->ask('FETCH others'), '1050 rows, 0 denied', "$name: a cursor that asks by a snapshot of its own");
	is($old->{cursor}->ask('MOVE ALL own; CLOSE own; EXECUTE every; COMMIT'), '1050|0', "$name: another statement of its transaction");
	is($old->{repeatable}->ask(q(EXECUTE every; EXECUTE one('first 7'))), '50|0; t', "$name: an older snapshot");
	is($old->{repeatable}->ask(q(COMMIT; EXECUTE every)), '1050|0', "$name: and a new one");
	is($old->{idle}->ask(q(SELECT bf_live_contains('seen', 'second 1000'), bf_live_contains_all('seen', ARRAY['first 1', 'second 500', 'second 1000']), look('seen'))),
		"t|t|$fine", "$name: a session that was idle");
}
$primary->sql("INSERT INTO seen VALUES ('last')");
is($old{$_}{loop}->finish, '1051 rows, 0 denied', "$_: a statement that ran all the while") foreach sort keys %old;
$primary->is_within_fpp('the primary', 'seen');
$standby->is_within_fpp('the standby', 'seen');
is($standby->layers('seen'), $primary->layers('seen'), 'the standby knows as many layers');

# A row is asked for the moment that it is visible: what stands between the two
# is a new layer every other time.
sub chase
{
	my ($table, @askers) = @_;
	$primary->sql(growing($table, 'expected = 2, expansion = 1, fpp = 0.0001'));
	$_->ask("PREPARE $table AS SELECT count(*), count(*) FILTER (WHERE NOT bf_live_contains('$table', title)) FROM $table; EXECUTE $table")
	  foreach @askers;
	my @wrong;
	foreach my $i (1 .. 100)
	{
		$writer->ask("INSERT INTO $table VALUES ('chased $i')");
		push @wrong, map { my $said = $_->ask("EXECUTE $table"); $said eq "$i|0" ? () : "$i: $said" } @askers;
	}
	is("@wrong", '', "$table: each row at once");
	cmp_ok($primary->layers($table), '>=', 10, "$table: by many layers");
}
chase('chased', map { $old{primary}{$_} } 'idle', 'prepared');

# The writer's own view: of a transaction that adds layers, and is rolled back, by
# whole or by savepoint.  65,536 hashes are stored before the end.
my $many = 70000;
my $options = 'expected = 1000, expansion = 2, fpp = 0.001';
$primary->sql(growing('undone', $options) . insert('undone', 'before', 500));
my $beside = $primary->session;
$beside->ask(q(SELECT look('undone')));
foreach my $case (
	[ 'savepoint', "SAVEPOINT s; %s ROLLBACK TO s; SELECT denied('undone'); " . insert('undone', 'kept', 700) . " SELECT denied('undone'); COMMIT" ],
	[ 'released, rolled back', 'SAVEPOINT r; SAVEPOINT s; %s RELEASE s; ROLLBACK TO r; ' . insert('undone', 'kept', 700) . " SELECT denied('undone'), denied('undone'); COMMIT" ],
	[ 'transaction', "%s SELECT denied('undone'), denied('undone'); ROLLBACK" ],
	[ 'truncated', "SAVEPOINT s; TRUNCATE undone; %s SELECT denied('undone'), count(*) FROM undone; ROLLBACK TO s; SELECT denied('undone'); " . insert('undone', 'kept', 700) . ' COMMIT' ],
	[ 'rebuilt', "SAVEPOINT s; REINDEX INDEX undone_bf; %s SELECT denied('undone'); ROLLBACK TO s; SELECT denied('undone'); " . insert('undone', 'kept', 700) . ' COMMIT' ],
	[ 'moved', 'SAVEPOINT s; ALTER INDEX undone_bf SET (expected = 1000); ALTER TABLE undone ALTER title TYPE varchar(200); %s '
		. "SELECT denied('undone'); ROLLBACK TO s; SELECT denied('undone'); COMMIT" ])
{
	my ($name, $script) = @$case;
	my ($out, $err) = $primary->outcome('BEGIN; ' . sprintf($script, insert('undone', "undone $name", $many)));
	is($err, '', "rolled back, $name: goes through");
	like($out, qr/^0(?:\|0|\|70000)?(?:; 0(?:\|0)?)*$/, "rolled back, $name: the transaction is denied nothing");
	is($beside->ask(q(SELECT denied('undone'), (bf_live_verify('undone')).missing)), '0|0', "rolled back, $name: nor is another session");
}
cmp_ok($primary->layers('undone'), '>=', 4, 'layers stay where rows were rolled back');
$primary->is_within_fpp('rolled back', 'undone');
catch_up();
is($standby->sql(q(SELECT look('undone'))), $fine, 'nothing is missing on the standby');

# Files that are built in place: their list of layers starts anew.
$primary->is_sql('a table that is emptied in the transaction that made it', 'BEGIN; ' . growing('fresh', $options) . insert('fresh', 'a', $many)
	. q(SELECT layers > 2 FROM bf_live_info('fresh'); TRUNCATE fresh; SELECT layers FROM bf_live_info('fresh');) . insert('fresh', 'b', $many)
	. q(SELECT layers > 2, denied('fresh') FROM bf_live_info('fresh'); COMMIT; SELECT look('fresh')), "t; 1; t|0; $fine");
$primary->is_sql('a temporary table that each commit empties', growing('brief', $options, 'CREATE TEMP') =~ s/\(title text\)/(title text) ON COMMIT DELETE ROWS/r
	. join('', map { 'BEGIN;' . insert('brief', "turn $_", $many) . q(SELECT layers > 2, denied('brief') FROM bf_live_info('brief'); COMMIT;
	SELECT layers, bf_live_contains('brief', 'turn 1 7') FROM bf_live_info('brief');) } 1, 2), 't|0; 1|f; t|0; 1|f');
$primary->is_sql('a temporary table', growing('own', undef, 'CREATE TEMP') . insert('own', 'a', 5000) . insert('own', 'b', 5000)
	. q(SELECT look('own'), layers > 3 FROM bf_live_info('own')), "$fine|t");

# A session that knew fewer layers, and writes the metapage.
$primary->sql(q(CREATE TABLESPACE elsewhere LOCATION ''));
$primary->sql(growing('swept') . 'BEGIN; ALTER TABLE swept SET TABLESPACE elsewhere; TRUNCATE swept; COMMIT;' . insert('swept', 'a', 50));
$beside->ask(q(SELECT look('swept')));
$primary->sql(insert('swept', 'b', 900));
$layers = $primary->layers('swept');
is($beside->ask(q(VACUUM swept; SELECT look('swept'), layers FROM bf_live_info('swept'))), "$fine|$layers", 'VACUUM by a session that knew fewer layers');

# What becomes of a filter that has grown; it has grown again each time.
$primary->sql(growing('fate', $options) . insert('fate', 'a', 5000));
$beside->ask(q(SELECT look('fate')));
my $rows = 5000;
foreach my $fate ('ALTER INDEX fate_bf SET TABLESPACE elsewhere', 'ALTER TABLE fate SET UNLOGGED', 'ALTER TABLE fate SET LOGGED',
	'ALTER TABLE fate ALTER title TYPE varchar', 'VACUUM FULL fate', 'REINDEX INDEX fate_bf', 'REINDEX INDEX CONCURRENTLY fate_bf')
{
	$primary->sql('ALTER INDEX fate_bf SET (expected = ' . int($rows * 1.2) . ')');
	$primary->sql($fate);
	is($beside->ask(q(SELECT look('fate'))), $fine, $fate);
	my $before = $primary->layers('fate');
	$primary->sql(insert('fate', "$fate $rows", 3000)) while $primary->layers('fate') == $before && ($rows += 3000) < 100000;
	is($beside->ask(q(SELECT look('fate'))), $fine, "$fate, and grown by row $rows");
}
cmp_ok($rows, '<', 100000, 'grown each time');
$primary->is_within_fpp('after all that', 'fate');

# A concurrent build.  Its filter takes elements from when it is ready, so that it
# grows before it is validated, which inserts all rows once more, and writes its
# metapage anew.
$primary->sql(q(CREATE TABLE late (title text);
	CREATE FUNCTION gate(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF title = 'gate' THEN
			PERFORM pg_advisory_lock_shared(1);
			PERFORM pg_advisory_unlock_shared(1);
		END IF;
		RETURN title;
	END $$;
	INSERT INTO late VALUES ('gate')));
foreach my $how ('CREATE INDEX CONCURRENTLY late_bf ON late USING bloomfilter (gate(title)) WITH (expected = 2000, expansion = 2, fpp = 0.001)',
	'REINDEX INDEX CONCURRENTLY late_bf')
{
	my ($name) = $how =~ /^(\w+)/;
	my ($gate, $builder, $holder) = map { $primary->session } 1 .. 3;
	$gate->ask('SELECT pg_advisory_lock(1)');
	$builder->start($how);
	$primary->wait_for_lock("$name INDEX%", 'advisory');
	$holder->ask('BEGIN; LOCK TABLE late IN ROW EXCLUSIVE MODE');
	$primary->sql(insert('late', "$name, unseen by the scan", 3000));
	$gate->ask('SELECT pg_advisory_unlock(1)');
	$primary->wait_for_lock("$name INDEX%", 'virtualxid');
	# The index is ready; its gate stays open.
	$primary->sql(insert('late', "$name, ready $_", 1500)) foreach 1 .. 10;
	$holder->ask(insert('late', "$name, at last", 1000) . ' COMMIT');
	is($builder->finish, '', "$name: built");
	is($primary->sql(q(SELECT count(*), count(*) FILTER (WHERE NOT bf_live_contains('late_bf', title)), (bf_live_verify('late_bf')).missing FROM late)),
		($name eq 'CREATE' ? 19001 : 38001) . '|0|0', "$name: with all that came meanwhile");
	cmp_ok($primary->layers('late_bf'), '>=', 2, "$name: in more than one layer");
	$primary->is_within_fpp($name, 'late_bf');
	$primary->sql('ALTER INDEX late_bf SET (expected = 25000)');
	$_->quit foreach $gate, $builder, $holder;
}
catch_up();
is($standby->sql(q(SELECT count(*) FILTER (WHERE NOT bf_live_contains('late_bf', title)) FROM late)), 0, 'and on the standby');

# Prepared transactions.
$primary->sql(growing('prepared', $options) . 'BEGIN;' . insert('prepared', 'p', $many) . q(PREPARE TRANSACTION 'p';
	BEGIN;) . insert('prepared', 'q', $many) . q(PREPARE TRANSACTION 'q';) . insert('prepared', 'r', $many));
is($beside->ask(q(SELECT look('prepared'))), $fine, 'prepared transactions, two of them open');
$primary->sql(q(COMMIT PREPARED 'p'; ROLLBACK PREPARED 'q'));
is($beside->ask(q(SELECT count(*), look('prepared') FROM prepared)), 2 * $many . "|$fine", 'prepared transactions, both ended');
$primary->is_within_fpp('prepared transactions', 'prepared');

# The mixed load.  All add layers at once, vacuum, rebuild and build beside; each
# writer looks for its own rows, readers for all.  Writers are stopped at any place
# while others go on.  The rows of one filter wait on pending pages, while another
# session fills it.
my @mixed = ('mixed', 'equal', 'wide');
$primary->sql(growing('mixed') . growing('equal', 'expected = 1000, expansion = 1, fpp = 0.001')
	. growing('wide', 'expected = 50000, expansion = 1, fpp = 1e-39') . insert('wide', 'fill', 49000) . q(DELETE FROM wide));
catch_up();
my $dir = PostgreSQL::Test::Utils::tempdir();
my $scripts = 0;

sub bench
{
	my ($server, $clients, @scripts) = @_;
	my %bench = (out => '', err => '');
	my @files;
	while (my ($weight, $sql) = splice(@scripts, 0, 2))
	{
		my $file = "$dir/" . ++$scripts;
		append_to_file($file, $sql);
		push @files, '-f', "$file\@$weight";
	}
	$bench{run} = IPC::Run::start(
		[ 'pgbench', '-n', '-c', $clients, '-T', $seconds, '--random-seed', $seed, @files, $server->{node}->connstr('postgres') ],
		'>', \$bench{out}, '2>', \$bench{err}, IPC::Run::timeout($seconds + 120));
	return \%bench;
}

my $number = "\\set n random(1, 1000000000)\n";
my $ask_all = join('', map { "SELECT 1 / (denied('$_') = 0)::int;\n" } @mixed) . "\\sleep 50 ms\n";
my %load = (
	writers => bench($primary, 4,
		(map { (10, "$number INSERT INTO $_ VALUES ('s ' || :n); SELECT 1 / bf_live_contains('$_', 's ' || :n)::int;\n") } @mixed, 'wide'),
		2, "$number BEGIN; INSERT INTO mixed SELECT 'b ' || :n + g FROM generate_series(1, 500) g; SAVEPOINT s;
			INSERT INTO mixed SELECT 'u ' || :n + g FROM generate_series(1, 500) g; ROLLBACK TO s;
			SELECT 1 / bf_live_contains('mixed', 'b ' || (:n + 7))::int; COMMIT; SELECT 1 / bf_live_contains('mixed', 'b ' || (:n + 7))::int;\n" =~ s/\n\t+/ /gr),
	filler => bench($primary, 1, 1, "$number INSERT INTO wide SELECT 'f ' || :n + g FROM generate_series(1, 6000) g; DELETE FROM wide WHERE title LIKE 'f%';\n"),
	readers => bench($primary, 1, 1, $ask_all),
	'readers of the standby' => bench($standby, 2, 1, $ask_all),
	upkeep => bench($primary, 1, 3, "VACUUM mixed, equal, wide;\n\\sleep 30 ms\n", 1, "CHECKPOINT;\n\\sleep 30 ms\n"));

# Stop a writer at any place, for a moment.
sub stop_somebody
{
	my $pid = $beside->ask(q(SELECT pid FROM pg_stat_activity WHERE query LIKE '%INSERT INTO%' AND state = 'active' ORDER BY random() LIMIT 1));
	return unless $pid =~ /^\d+$/;
	kill 'STOP', $pid;
	sleep(rand(0.1));
	kill 'CONT', $pid;
}

my $builder = $primary->session;
my ($builds, $stops, @refused) = (0, 0);
for (my $end = time + $seconds; time < $end;)
{
	$builder->start(rand() < 0.5 ? 'REINDEX INDEX CONCURRENTLY equal_bf' : q(
		CREATE INDEX CONCURRENTLY beside ON mixed USING bloomfilter (title) WITH (expected = 100, expansion = 2, fpp = 0.001);
		SELECT (bf_live_verify('beside')).missing;
		DROP INDEX CONCURRENTLY IF EXISTS beside));
	while (!$builder->is_done)
	{
		stop_somebody();
		$stops++;
	}
	$builds++;
	push @refused, grep { !/^0?$|40P01/ } split /; /, $builder->finish;
}
is("@refused", '', "$builds concurrent builds");
foreach my $name (sort keys %load)
{
	my $bench = $load{$name};
	ok(IPC::Run::finish($bench->{run}) && $bench->{err} !~ /ERROR|aborted/, "the mixed load: $name") or diag $bench->{err};
	diag("$name: $1") if $bench->{out} =~ /(number of transactions actually processed: \d+)/;
}
diag("writers stopped: $stops; layers: " . join(', ', map { "$_ " . $primary->layers($_) } @mixed));
cmp_ok($primary->layers('wide'), '>=', 2, 'a filter with pending pages grew');
catch_up();
foreach my $table (@mixed)
{
	is($_->sql("SELECT look('$table')"), $fine, "the mixed load: nothing is missing of $table, " . $_->{node}->name) foreach $primary, $standby;
}
$primary->is_within_fpp('the mixed load', 'mixed');
$primary->sql('VACUUM wide');
is($primary->sql(q(SELECT look('wide'), pending FROM bf_live_info('wide'))), "$fine|0", 'VACUUM leaves nothing pending in any layer');

# The same bits on both sides.
my $bits = q(SELECT tab, md5(bf_live_filter(tab)::text) FROM unnest('{seen,undone,fate,prepared,mixed,wide}'::regclass[]) AS tab);
catch_up();
is($standby->sql($bits), $primary->sql($bits), 'the same bits on both sides');

# Interrupted while they add layers: what is done of it stays, and the next one
# takes up the rest.
$primary->sql(growing('broken'));
my ($cancelled, $kept) = (0, 0);
my $until = time + $seconds / 2;
for (my $i = 1; time < $until; $i++)
{
	my $victim = $primary->session;
	$victim->start(insert('broken', "i $i", 100 + int(rand(3000))) . ' SELECT 1');
	$primary->sql(rand() < 0.5
		? q(DO $$ BEGIN FOR i IN 1 .. 300 LOOP
			IF (SELECT count(pg_cancel_backend(pid)) FROM pg_locks WHERE locktype = 'page') > 0 THEN EXIT; END IF; END LOOP; END $$)
		: q(SELECT pg_sleep(random() * 0.01); SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO broken%'));
	my $said = eval { $victim->finish } // '';
	$said eq '1' ? $kept++ : $cancelled++;
	eval { $victim->quit };
	is($beside->ask(q(SELECT denied('broken'))), 0, "after an interruption, $i") if $i % 10 == 0;
}
diag("$kept insertions went through, $cancelled did not");
is($primary->sql(q(SELECT look('broken'))), $fine, 'interrupted additions: nothing is missing');
$primary->sql('VACUUM broken');
is($primary->sql(q(SELECT look('broken'), pending FROM bf_live_info('broken'))), "$fine|0", 'VACUUM brings them to an end');

# Promotion.  Sessions of the standby stay, and their lists of layers with them.
catch_up();
$old{standby}{idle}->ask(q(SELECT look('seen'), look('mixed')));
$replica->promote;
my $new = $standby->session;
$new->ask(insert('seen', "promoted $_", 300)) foreach 1 .. 10;
is($old{standby}{idle}->ask(q(SELECT look('seen'))), $fine, 'promoted: an old session knows the layers of a new one');
$old{standby}{idle}->ask(insert('seen', "by the old one", 20000));
is($new->ask(q(SELECT count(*), look('seen') FROM seen)), "24051|$fine", 'promoted: and the other way around');
$standby->is_within_fpp('promoted', 'seen');
unlike(slurp_file($_->logfile), qr/inconsistent page|PANIC|corrupted|TRAP/, $_->name . ': replay found nothing to complain about') foreach $node, $replica;

$replica->stop;
$node->stop;
done_testing();
