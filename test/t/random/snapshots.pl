# No false negatives, whatever snapshot asks: what a statement sees of a table,
# no live filter of the table denies.
#
# Processes at random write rows, change tables and indexes, and ask, on a
# primary and on its standby, in all isolation levels and with snapshots of any
# age.  A reader asks in one statement for each row that its snapshot sees.  It
# rolls back to a savepoint then, which drops its locks and keeps its snapshot:
# DDL goes on under it, and it asks again.
#
# Rows that are dead to the primary can be visible to the standby for as long as
# nothing removes them, and nothing does so while the primary has an old
# snapshot.  So the run has loud and quiet spells by turns.  In a loud one old
# snapshots are the primary's.  In a quiet one they are the standby's, and what
# makes pages ripe for pruning is left out, since a removed row ends those.
#
# Two more processes add titles in SERIALIZABLE transactions where the filter
# says no: no title may get in twice.
#
# In the end the standby is promoted under readers, and written to.  And where
# no snapshot is old, "maybe" is not the answer to what is not there.
#
# BLOOMEXT_LIVE_SECONDS is how long the load runs: 100, unless it says otherwise.
# BLOOMEXT_SEED repeats the choices of a run, though not its timing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use List::Util qw(min sum);
use Test::More;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use Workers;

my $seconds = $ENV{BLOOMEXT_LIVE_SECONDS} || 100;
my $seed = $ENV{BLOOMEXT_SEED} || int(rand(2**31));
my $spell = min($seconds / 4, 60);
srand($seed);
diag("BLOOMEXT_SEED=$seed");

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 'logical');
$primary->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
max_connections = 40
max_prepared_transactions = 20
max_wal_size = 2GB
wal_keep_size = 1GB
max_standby_streaming_delay = 500ms
hot_standby_feedback = off
deadlock_timeout = 200ms
lock_timeout = 2s
statement_timeout = 30s
max_pred_locks_per_transaction = 1000
log_line_prefix = '%m [%p] %e '
log_statement = ddl
));
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

# Tables by what they are for, with the number of rows that they are kept at:
#	hot		updates of filtered columns stay on their page (with 16 and newer)
#	room	wide rows, so that pages have room for narrow new versions and are not pruned
#	big		a filter with pending pages
#	uniq	titles that SERIALIZABLE transactions add
my %size = (hot => 400, room => 200, big => 2000, parts => 300, parts_1 => 150);
my @filters = map { [split] } ('hot title', 'hot note', 'hot both', 'room title', 'room n', 'room both', 'big title',
	'parts title', 'parts_1 title', 'parts_1 both', 'uniq title');
my $fpp = 0.01;

# A filter of "both" is of two columns, and asked for rows.
my %both = (hot => 'note, title', room => 'title, n', parts_1 => 'title, id');
sub columns { my ($table, $column) = @_; return $column eq 'both' ? $both{$table} : $column; }
sub element { my ($table, $column) = @_; return $column eq 'both' ? "ROW($both{$table})" : $column; }

sub create_index
{
	my ($table, $column, $suffix, $how) = @_;
	my $size = $table eq 'big' ? 'expected = 1000000'
		: "$table $column" =~ /^(?:hot title|room (?:n|both)|parts title|uniq)/ ? 'expected = 100, expansion = 2' : 'expected = 100000';
	return "CREATE INDEX $how ${table}_${column}_$suffix ON $table USING bloomfilter (@{[ columns($table, $column) ]})
		WITH ($size, fpp = $fpp, strategy = " . pick(qw(guava guava parquet)) . ');';
}

$primary->safe_psql('postgres', q(
	CREATE EXTENSION bloomext;
	CREATE TABLE other AS SELECT 1 AS one;
	CREATE TABLE hot (id serial, title text, note varchar(50)) WITH (fillfactor = 50);
	CREATE INDEX hot_id ON hot (id);
	CREATE TABLE room (id serial, title text, n int, pad text);
	ALTER TABLE room ALTER pad SET STORAGE PLAIN, ALTER title SET STORAGE PLAIN;
	CREATE TABLE big (id serial, title text);
	CREATE TABLE parts (id serial, title text) PARTITION BY HASH (id);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE uniq (id serial, title text);
	CREATE TABLE slow AS SELECT repeat('x', 4000) AS filler FROM generate_series(1, 50);
	ALTER TABLE slow ALTER filler SET STORAGE PLAIN;
	UPDATE slow SET filler = filler || '!';
	SET allow_in_place_tablespaces = on;
	CREATE TABLESPACE elsewhere LOCATION '';
) . join('', map { create_index(@$_, 'bf', '') } reverse @filters));

# The processes; what one counts; its session with psql, which is made anew when lost.
my $workers = Workers->new;
my $psql;
my $begun = time;
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run a script, return the lines that it said.  Of its errors only the first is
# counted, as others follow from that.
sub run
{
	my ($node, $script) = @_;
	$psql //= Workers::Psql->new($node->connstr('postgres'), '\set VERBOSITY sqlstate');
	my @said = $psql->run($script, 60);
	my ($error) = map { /(?:ERROR|FATAL|PANIC):  (\w{5})\b/ } @said;
	$count{ 'error ' . ($error // 'lost') }++ if $error || $psql->{lost};
	undef $psql if $psql->{lost};
	return @said;
}

sub pick { return $_[ rand @_ ]; }
sub one_in { return rand($_[0]) < 1; }
sub is_quiet { return int((time - $begun) / $spell) % 2; }
sub spell_end { return $begun + $spell * (1 + int((time - $begun) / $spell)); }

# Readers.

# Count the rows of a table and those that a filter denies, one by one or by an
# array.  The filter is named by the table and the column, by the table alone
# where all its filters are over one column, or by its own name.
sub question
{
	my ($filter, $rel) = @_;
	my ($table, $column) = @$filter;
	$rel //= pick(($table) x 3, map { "${table}_${column}_$_" } 'bf', 'bf', 'more', 'also');
	my $element = element($table, $column);
	my $named = $rel eq $table && $column ne 'both' && ($table =~ /hot|room/ || one_in(2)) ? ", '$column'" : '';
	my $answers = one_in(4)
		? "SELECT unnest(a) AS element, unnest(bf_live_contains_each('$rel', a$named)) AS found
			FROM (SELECT array_agg($element) AS a FROM $table) AS x"
		: "SELECT $element AS element, bf_live_contains('$rel', $element$named) AS found FROM $table OFFSET 0";
	return qq(SELECT 'asked', count(*), count(*) FILTER (WHERE NOT found), min(element::text) FILTER (WHERE NOT found),
		'$rel', '$column', pg_current_snapshot() FROM ($answers) AS x;);
}

sub verify
{
	my ($table, $column) = @{ $_[0] };
	return "SELECT 'asked', *, 'verify ${table}_${column}_bf', pg_current_snapshot()
		FROM bf_live_verify('${table}_${column}_bf');";
}

# Ask for what is not there.
sub absent
{
	my ($filter, $elements) = (@_, 100);
	my ($table, $column) = @$filter;
	my $element = $column eq 'n' ? '-g' : "'absent ' || random()";
	$element = "ROW($element, " . ($table eq 'hot' ? "'absent'" : '-g') . ')' if $column eq 'both';
	my $named = $column eq 'both' ? '' : ", '$column'";
	return qq(SELECT 'absent', count(*), count(*) FILTER (WHERE NOT bf_live_contains('$table', $element$named))
		FROM generate_series(1, $elements) AS g;);
}

# Note what a reader was told; return how many rows were denied.
sub note_answers
{
	my ($where, @said) = @_;
	my $denied = 0;
	foreach my $answer (grep { /^(?:asked|absent)\|/ } @said)
	{
		my ($what, $rows, $no, @details) = split /\|/, $answer;
		$count{"$where $what"}++;
		$count{"$where $what rows"} += $rows;
		$count{"$where $what no"} += $no;
		next if $what eq 'absent' || !$no;
		$denied += $no;
		append_to_file("$dir/denied",
			sprintf("after %.1f s, %s: %d of %d rows: %s\n", time - $begun, $where, $no, $rows, "@details"));
	}
	return $denied;
}

# One transaction of a reader.  The first reader of a node keeps its snapshot for
# a whole spell, when it is the node's turn.
sub reader
{
	my ($node, $number) = @_;
	my $on_standby = $node == $standby;
	my $level = pick('READ COMMITTED', ('REPEATABLE READ') x 2, $on_standby ? () : 'SERIALIZABLE');
	my $until = time + rand(pick(0.1, 0.5));
	if (is_quiet() == $on_standby)
	{
		$until = $number == 1 ? spell_end() : time + rand(pick(0.3, 4));
		$level = 'REPEATABLE READ' if $number == 1;
	}
	my $where = $node->name . ", $level";
	run($node, "BEGIN ISOLATION LEVEL $level; SELECT count(*) FROM other;");
	do
	{
		my $filter = pick(@filters);
		my $query = pick((\&question) x 8, \&absent, \&verify)->($filter);
		note_answers($where, run($node, "SAVEPOINT s; $query ROLLBACK TO s;"));
		sleep(rand(0.02));
	} while ($psql && time < $until && !$stopped);
	run($node, 'COMMIT;') if $psql;
}

# Writers.

# What is written to a table: values that were not there before.  Updates of
# room make its rows narrow, so that they find room on their page.
my $new = 'md5(random()::text)';
my $number = 'random() * 1000000000';
my %insert = (hot => [ 'title, note', "$new, $new" ], room => [ 'title, n, pad', "$new, $number, repeat('x', 3000)" ]);
my %update = (hot => [ "title = $new", "note = $new", "title = $new, note = $new" ],
	room => [ "title = $new, pad = ''", "n = $number, pad = ''" ]);

sub insert
{
	my ($table, $rows) = @_;
	my ($columns, $values) = @{ $insert{$table} // [ 'title', $new ] };
	return "INSERT INTO $table ($columns) SELECT $values FROM generate_series(1, $rows);";
}

sub update
{
	my ($table, $rows) = @_;
	return "UPDATE $table SET " . pick(@{ $update{$table} // ["title = $new"] }) . ' ' . of_these($table, $rows);
}

sub of_these
{
	my ($table, $rows) = @_;
	return "WHERE id IN (SELECT id FROM $table ORDER BY random() LIMIT $rows FOR UPDATE SKIP LOCKED);";
}

sub writer
{
	my ($node) = @_;
	my $table = pick('hot', 'room', 'room', 'big', 'parts');
	my @change = sub { insert($table, pick(1, 1, 5, 30)) };
	push @change, sub { update($table, pick(1, 3, 10)) },
	  sub { "DELETE FROM $table " . of_these($table, "(SELECT greatest(count(*) - $size{$table}, 2)::int FROM $table)") }
	  if !is_quiet() || $table eq 'room';
	my $change = sub { return pick(@change)->() };
	my $name = "$$ " . time;
	my $pause = sprintf('SELECT pg_sleep(%.3f);', rand(pick(0.02, 0.3)));
	run($node, pick(
		sub { $change->() },
		sub { join ' ', 'BEGIN;', $change->(), $change->(), one_in(3) ? $pause : '', pick('COMMIT;', 'COMMIT;', 'ROLLBACK;') },
		sub { join ' ', 'BEGIN;', $change->(), 'SAVEPOINT a;', $change->(), pick('ROLLBACK TO a;', 'RELEASE a;'),
			$change->(), 'SAVEPOINT b;', $change->(), 'COMMIT;' },
		sub { join ' ', 'BEGIN;', $change->(), 'SAVEPOINT a;', $change->(), "PREPARE TRANSACTION '$name';", $pause,
			pick('COMMIT', 'COMMIT', 'ROLLBACK'), "PREPARED '$name';" })->());
	sleep(rand(0.02));
}

# Two processes try the same titles at the same time.
sub adder
{
	my ($node) = @_;
	my $title = sprintf("'title %d'", time * 20);
	my $unless = "WHERE NOT bf_live_contains('uniq', $title, 'title')";
	my $pause = sprintf('SELECT pg_sleep(%.3f);', rand(pick(0.005, 0.05)));
	my $name = "$$ " . time;
	run($node, join ' ', 'BEGIN ISOLATION LEVEL SERIALIZABLE;',
		pick('', "SELECT 1 $unless; $pause"), "INSERT INTO uniq (title) SELECT $title $unless;", pick('', $pause),
		one_in(4) ? "PREPARE TRANSACTION '$name'; $pause COMMIT PREPARED '$name';" : 'COMMIT;');
	sleep(rand(0.02));
}

# DDL.

# REINDEX and its like, for all tables; and what exclusive locks are needed for.
sub definer
{
	my ($node) = @_;
	my @filter = @{ pick(grep { $_->[0] ne 'parts' } @filters) };
	my ($table, $column) = @filter;
	my $index = "${table}_${column}_bf";
	my $pause = sprintf('SELECT pg_sleep(%.2f);', rand(0.2));
	my $retype = "ALTER TABLE $table ALTER " . ($column eq 'both' ? 'title' : $column) . ' TYPE ' . pick('text', 'varchar', 'varchar(60)', 'varchar(70)') . ';';
	my $move = "ALTER INDEX $index SET TABLESPACE " . pick('elsewhere', 'pg_default') . ';';
	my $drop = 'DROP INDEX IF EXISTS ' . join(', ', map { "${table}_${column}_$_" } 'bf', 'more', 'also') . ';';
	my @script = (
		("REINDEX INDEX $index;") x 4,
		"REINDEX TABLE $table;",
		"BEGIN; REINDEX INDEX $index; ROLLBACK;",
		"DROP INDEX IF EXISTS ${table}_${column}_more; $pause " . create_index(@filter, 'more', ''),
		$move);
	push @script, "BEGIN; DROP INDEX $index; ROLLBACK;", ("$drop $pause " . create_index(@filter, 'bf', '')) x 2
	  if $column !~ /title|both/;
	# Until 15, updates of a column stay on their page only while it is in no index.
	push @script, ("$drop $pause " . create_index(@filter, 'bf', '') . $retype) x 2
	  if $column eq 'note';
	push @script, $retype, join(' ', 'BEGIN;', insert($table, 5), one_in(2) ? $move : '', $retype, insert($table, 5), 'COMMIT;')
	  if $table =~ /hot|big/;
	push @script, "VACUUM $table;", "VACUUM $table;", "VACUUM FULL $table;", "CLUSTER hot USING hot_id;"
	  if !is_quiet();
	push @script, 'TRUNCATE ' . pick('hot', 'room', 'big', 'parts') . ';'
	  if one_in(20);
	run($node, "SET log_statement = 'all'; " . pick(@script));
	sleep(rand(0.1));
}

# What waits for others, and what it leaves behind where it cannot wait.
sub concurrently
{
	my ($node) = @_;
	my @filter = @{ pick(grep { $_->[0] ne 'parts' } @filters) };
	my ($table, $column) = @filter;
	my $also = "${table}_${column}_also";
	run($node, "SET log_statement = 'all'; " . pick(
		"REINDEX INDEX CONCURRENTLY ${table}_${column}_bf;",
		"REINDEX TABLE CONCURRENTLY $table;",
		create_index(@filter, 'also', 'CONCURRENTLY IF NOT EXISTS'),
		"DROP INDEX CONCURRENTLY IF EXISTS $also;"));
	run($node, "SELECT 'DROP INDEX ' || indexrelid::regclass FROM pg_index WHERE NOT indisvalid \\gexec");
	sleep(rand(0.3));
}

# What holds some horizons of the primary back and not others: a snapshot or a
# transaction of another database, and a VACUUM.  (So does the slot of clean_up.)
sub bystander
{
	my ($node) = @_;
	my $pause = sprintf('SELECT pg_sleep(%.1f);', rand(3));
	run($node, pick(
		"\\connect template1\nBEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_am; $pause COMMIT;",
		"\\connect template1\nBEGIN; SELECT pg_current_xact_id(); $pause COMMIT;",
		"\\connect postgres\nSET vacuum_cost_limit = 1; SET vacuum_cost_delay = 20; VACUUM (DISABLE_PAGE_SKIPPING) slow;",
		$pause));
}

# Processes.

my $started;

sub start
{
	my ($node, $name, $action, $times) = @_;
	foreach my $number (1 .. $times)
	{
		my $session;
		$workers->start($node->name, $seed + ++$started, sub {
			undef $psql if !$session++;
			$action->($node, $number);
			$count{$name}++;
		});
	}
}

# End the processes of a node, and make what their last statements left undone.
sub stop
{
	my ($node) = @_;
	my $name = $node->name;
	is($workers->stop($name), '', "the processes at the $name ended well");
	$node->safe_psql('postgres', join '', map { create_index(@$_, 'bf', 'IF NOT EXISTS') } @filters);
}

# What would end the standby's old snapshots during a spell: remove dead rows
# now, and let nothing remove those of catalogs until the next one.
sub clean_up
{
	$primary->psql('postgres', q(
		SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'hold';
		SELECT pg_create_logical_replication_slot('hold', 'pgoutput');
		VACUUM;));
}

# With no old snapshot around: not a row is missing, and "no" is the rule.
sub in_order
{
	my ($node, $when) = @_;
	foreach my $filter (@filters)
	{
		my ($table, $column) = @$filter;
		my $index = "'${table}_${column}_bf'";
		my (undef, $out) = $node->psql('postgres', "SELECT missing FROM bf_live_verify($index);
			SELECT count(maybe) FROM bf_live_info($index); " . absent($filter, 1000));
		my ($missing, $maybe, $no) = $out =~ /^(\d+)\n(\d+)\nabsent\|1000\|(\d+)$/;
		is($missing, 0, "$when: nothing missing of $table, $column");
		is($maybe, 0, "$when: it says that it is sure");
		cmp_ok($no // 0, '>=', 1000 * (1 - 3 * $fpp), "$when: and of what is not there it is");
	}
}

start($primary, 'transactions of writers', \&writer, 3);
start($primary, 'transactions of adders', \&adder, 2);
start($primary, 'definitions', \&definer, 1);
start($primary, 'definitions, concurrently', \&concurrently, 1);
start($primary, 'bystanders', \&bystander, 1);
start($primary, 'transactions of readers', \&reader, 3);
start($standby, 'transactions of readers', \&reader, 3);
while ((my $left = $begun + $seconds - time) > 0)
{
	clean_up();
	sleep(min($left, spell_end() - time));
}
stop($primary);

# A snapshot of the standby for which the primary does not wait: before and
# after an index is rebuilt without rows that it sees, and after the promotion.
sub old_snapshot_asks
{
	my ($when) = @_;
	my @said = map { run($standby, "SAVEPOINT s; $_ ROLLBACK TO s;") }
	  map { (question($_, $_->[0]), question($_, "$_->[0]_$_->[1]_bf")) } @filters;
	is(scalar(grep { /^asked/ } @said), 2 * @filters, "$when, an old snapshot of the standby asks")
	  or diag "@said";
	is(note_answers('an old snapshot of the standby', @said), 0, 'and no filter denies what it sees');
}

clean_up();
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
run($standby, 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other;');
$primary->safe_psql('postgres', 'DELETE FROM room WHERE id % 2 = 0;' . update('room', 20));
$primary->safe_psql('postgres', "REINDEX INDEX $_") foreach 'room_n_bf', 'room_title_bf', 'room_both_bf';
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
in_order($standby, 'the standby');
in_order($primary, 'the primary');
old_snapshot_asks('before the promotion');
$standby->promote;
old_snapshot_asks('promoted');
start($standby, 'transactions of writers', \&writer, 2);
start($standby, 'definitions', \&definer, 1);
sleep($spell / 2);
stop($standby);
old_snapshot_asks('promoted and written to');
undef $psql;
in_order($standby, 'the promoted standby');

sub is_none
{
	my ($name, @found) = @_;
	is(scalar @found, 0, $name) or diag join "\n", @found[0 .. min($#found, 19)];
}

foreach my $node ($primary, $standby)
{
	my $name = $node->name;
	is($node->safe_psql('postgres', 'SELECT count(*) - count(DISTINCT title) FROM uniq'), 0, "no title got in twice, $name");
	# CREATE INDEX CONCURRENTLY unlocks the table a moment before it commits; and
	# a standby's planner opens all indexes of a table, one of which DROP INDEX
	# CONCURRENTLY may have dropped, as nobody waits for a standby's queries.
	my $core = $name eq 'standby' ? qr/could not open relation with OID/ : qr/tuple concurrently updated/;
	my @bad = grep { / XX\w{3} (?:ERROR|FATAL)|PANIC|terminated by signal/ && !/$core/ }
	  split /\n/, slurp_file($node->logfile);
	is_none("no internal errors, $name", @bad);
}
cmp_ok($primary->safe_psql('postgres', 'SELECT count(*) FROM uniq'), '>=', 10, 'titles were added');

%count = $workers->counted;
diag "$_: $count{$_}" foreach sort keys %count;
my @reads = map { $count{$_} } grep { /asked$/ } keys %count;
my @checks = map { $count{$_} } grep { /asked rows$/ } keys %count;
diag sprintf('%d reads, %.0f a second, of %d rows', sum(@reads), sum(@reads) / $seconds, sum(@checks));
my @denied = -e "$dir/denied" ? split /\n/, slurp_file("$dir/denied") : ();
is_none('no filter denied what a snapshot saw', @denied);
my @unexpected = grep { /^error (?!40001|40P01|55P03|57014|57P0.|55000|42704|42P01|XX|lost)/ } keys %count;
is("@unexpected", '', 'no errors but those that DDL and conflicts cause');
foreach my $where (map { ("primary, $_", "standby, $_") } 'READ COMMITTED', 'REPEATABLE READ')
{
	cmp_ok($count{"$where asked rows"}, '>=', 1000, "many rows were asked for: $where");
	cmp_ok($count{"$where absent no"}, '>', 0.1 * $count{"$where absent rows"}, 'and many answers were sure')
	  if $where =~ /COMMITTED/;
}

$standby->stop;
$primary->stop;
done_testing();
