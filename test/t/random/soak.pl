# The whole system under everything at once.  Processes write rows, change tables and
# indexes, ask, and mirror to Redis, while PostgreSQL, its standby and Redis are
# killed; and one thing holds: no element that is committed, and was not taken away
# since, is denied, by whichever route one asks.
#
# What is committed a model knows (Ledger.pm), which trusts neither filters nor
# queries: what a COMMIT was answered for is in; what a crash left open is looked up
# in the table, row by row, or among the prepared transactions.  The routes are
# bf_live_contains, bf_live_contains_each, the value that bf_live_filter makes,
# queries as they are written with plans = on, prepared ones, too, bf_agg by serial
# and parallel plans, bf_live_verify; on the standby for what it has replayed; and
# bf_redis_contains for what was mirrored.  What the model does not know, an older
# snapshot's rows and those of other isolation levels, is compared with the table
# itself.
#
# Errors are those of an expected list, by SQLSTATE, different for who writes, asks,
# defines, mirrors.  The servers' logs have no crash that was not made here, and
# nothing that is broken.  "Maybe" is the way out, not the rule.
#
# The time goes in periods of ten minutes, or all of it: its first and its last quarter are
# stormy, the half between is calm.  PostgreSQL is only killed in storms.  In calms the memory of
# its processes is looked at: what is the least that one has in the last quarter of
# its calm may be hardly more than in the second.
#
# In the end the primary is stopped, and the standby promoted and asked for all.
#
# BLOOMEXT_SOAK_SECONDS is how long it runs, 120 by default, as script/soak says.
# BLOOMEXT_SEED repeats the choices of a run, though not its timing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Fcntl qw(:flock);
use List::Util qw(min sum0);
use Test::More;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use Ledger;
use LiveTest;
use RedisServer;
use Workers;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $seconds = $ENV{BLOOMEXT_SOAK_SECONDS} || 120;
my $seed = $ENV{BLOOMEXT_SEED} || int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

sub any { return $_[ rand @_ ]; }
sub chance { return rand() < shift; }

# ---- Servers ----

# What is freed goes back to the system at once: else the memory of processes tells of the past.
@ENV{qw(MALLOC_MMAP_THRESHOLD_ MALLOC_TRIM_THRESHOLD_ MALLOC_TOP_PAD_)} = (65536, 65536, 0);

my $dir = PostgreSQL::Test::Utils::tempdir();
my $redis = RedisServer->new(options => [ '--appendonly', 'yes', '--appendfsync', 'no' ]);
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
$primary->append_conf('postgresql.conf', q(
fsync = off
jit = off
restart_after_crash = on
shared_buffers = 16MB
max_connections = 40
max_worker_processes = 12
max_prepared_transactions = 20
max_pred_locks_per_transaction = 1000
autovacuum_naptime = 1s
checkpoint_timeout = 30s
max_wal_size = 1GB
wal_keep_size = 1GB
max_standby_streaming_delay = 1s
deadlock_timeout = 100ms
lock_timeout = 2s
statement_timeout = 30s
allow_in_place_tablespaces = on
log_line_prefix = '%m [%p] %e '
log_statement = none
bloomext.overfull_notice = off
));
$primary->start;

# The filters: of which table, over what, how large.
my %filters = (
	s_title => [ 's', 'title', 'expected = 2000, expansion = 2, fpp = 0.001, absent = 0.9' ],
	w_title => [ 'w', 'title', 'expected = 2500000, fpp = 0.0001' ],
	m_title => [ 'm', 'title', 'absent = 0.5' ],
	m_note => [ 'm', '(lower(note))', q(expected = 3000, expansion = 1, fpp = 0.001, strategy = 'guava32') ],
	m_num => [ 'm', 'num', 'expected = 2000, expansion = 2, absent = 0.9' ],
	u_title => [ 'u', 'title', 'expected = 5000, expansion = 3' ],
	p_title => [ 'p', 'title', 'expected = 3000, expansion = 2, fpp = 0.001, strategy = parquet' ]);
foreach my $index (keys %filters)
{
	my %f = (index => $index);
	@f{qw(table over options)} = @{ $filters{$index} };
	$f{create} = "$index ON $f{table} USING bloomfilter ($f{over}) WITH ($f{options}, plans = on)";
	$f{column} = $f{over} if $f{over} =~ /^\w+$/;
	$f{type} = $f{over} eq 'num' ? 'int4' : 'text';
	$filters{$index} = \%f;
}
my %leaves = (s => ['s'], w => ['w'], m => ['m'], u => ['u'], p => [ 'p1', 'p2', 'p3' ]);
my @roots = sort keys %leaves;
my @leaves = map { @{ $leaves{$_} } } @roots;
sub root { return substr $_[0], 0, 1; }

my $columns = 'batch bigint, g int, k int, title text, note text, num int, x int DEFAULT 0';
$primary->safe_psql('postgres', join "\n", qq(
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	CREATE TABLESPACE other LOCATION '';
	CREATE SEQUENCE era; SELECT nextval('era');
	CREATE TABLE truncations (era bigint);
	CREATE TABLE stored (name text, f bloomfilter);),
	map({ 'CREATE ' . ($_ eq 'u' ? 'UNLOGGED' : '') . " TABLE $_ ($columns)" . ($_ eq 'p' ? 'PARTITION BY LIST (k);' : ';') } @roots),
	map({ "CREATE TABLE p$_ PARTITION OF p FOR VALUES IN ($_);" } 1 .. 3),
	map({ "CREATE INDEX ON $_ (batch);" } @roots),
	map({ "CREATE INDEX ON $_ (title);" } 's', 'p'),
	map { "CREATE INDEX $filters{$_}{create}; INSERT INTO stored (name) VALUES ('$_');" } sort keys %filters);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
my %live = map { $_->name => LiveTest->new($_) } $primary, $standby;

# What row # of a batch has for a filter.
sub number { my ($batch) = @_; return $batch % 1_000_000 * 1000; }

sub element
{
	my ($f, $batch, $g) = @_;
	return $f->{type} eq 'int4' ? number($batch) + $g : ($f->{over} eq 'title' ? 'el' : 'note') . " $batch $g";
}

# ---- Sessions ----

my $workers = Workers->new;
my ($ledger, $role, %psql, $rows, @log);
my $state = '00000';

# The errors that are expected of everybody, and of some.
my $common = '40001|40P01|55P03|57014|57P0[123]|25P02';
my %expected = (
	writer => '23514|42704|42P07|55000',
	definer => '23514|42704|42P07|55000',
	maintainer => '2BP01|42704|42804|55000|55006',
	asker => '42704|42P01|42P08|55000',
	mirrorer => '42704|42P01|55000|55006|08001|08006|38000|38R0[23]');
# What concurrent DDL does without any filter, what an interrupted one leaves of a TOAST
# table's index, and tablespaces in place to a standby.
my $core = qr/tuple concurrently (updated|deleted)|cannot reindex invalid index "pg_toast\.|could not open relation with OID|incomplete detach|could not convert row type|unexpected directory entry/;

# A session that is made while nobody kills the server (see disaster).
sub session
{
	my ($server) = @_;
	foreach (1 .. 300)
	{
		my $lock = lock_server($server, LOCK_SH);
		my $psql = Workers::Psql->new($server->connstr('postgres'), '\set VERBOSITY verbose');
		$psql->run('SELECT 1;');
		return $psql unless $psql->{lost};
		sleep(0.1);
	}
	wrong('no connection');
}

sub lock_server
{
	my ($server, $how) = @_;
	open(my $lock, '>', "$dir/" . $server->name) or die "could not open: $!";
	flock($lock, $how) or die "could not lock: $!";
	return $lock;
}

# Run a script, return the lines of its results.  "state" is the SQLSTATE of its first
# error, '00000' or 'lost'; "rows" the rows of its last statement.
sub run
{
	my ($server, $script) = @_;
	my $psql = $psql{ $server->name } //= session($server);
	push @log, '[' . $server->name . '] ' . substr $script, 0, 300;
	shift @log if @log > 30;
	my @said = eval { $psql->run($script, 90) };
	wrong($@ . $server->safe_psql('postgres', 'SELECT pid, backend_start, state, state_change, wait_event, query FROM pg_stat_activity')) if $@;
	my @errors = map { /^(?:psql:.*: )?(ERROR|FATAL|PANIC):  (\w{5}): (.*)/ ? [ $2, $3, $1 ] : () } @said;
	$rows = $psql->{rows};
	# What ends a session may come right after the success of a COMMIT.
	my $lost = $psql->{lost} || grep { $_->[2] ne 'ERROR' } @errors;
	$state = $lost ? 'lost' : @errors ? $errors[0][0] : '00000';
	$log[-1] .= " -- $state" if $state ne '00000';
	delete $psql{ $server->name } if $lost;
	foreach (@errors)
	{
		$count{"error of a $role $_->[0]"}++;
		next if $_->[0] =~ /^(?:$common|$expected{$role})$/ || $_->[1] =~ $core;
		wrong("an error that is not expected of a $role: @$_[0, 1]");
	}
	$count{'sessions lost'}++ if $lost;
	return grep { !/^(?:[A-Z]|psql:| *\^$)/ } @said;
}

sub wrong { my ($what) = @_; $workers->wrong("after " . int(time - $^T) . " s: $what\nThe session's last statements:\n" . join("\n", @log) . "\n"); }

# What a query says in the end, however often the server goes.
sub insist
{
	my ($query) = @_;
	foreach (1 .. 100)
	{
		my ($answer) = run($primary, "SET lock_timeout = '20s'; $query; RESET lock_timeout;");
		return $answer if $state eq '00000';
	}
	wrong("no answer to $query");
}

# ---- Writers ----
#
# What a transaction has done, in order, and what it may have ended; transactions that
# are prepared; what was rolled back, and can be done again.
my (@changes, @intents, @prepared, @undone);
my $batches = 0;

# Batches of one's own.
sub own { my ($leaf) = @_; $ledger->refresh; return ($ledger->batches($leaf, 1))[0]; }

# Where rows of a partition are written to.
sub target { my ($leaf) = @_; return root($leaf) eq 'p' && chance(0.7) ? 'p' : $leaf; }
sub part { my ($leaf) = @_; return $leaf =~ /(\d)/ ? $1 : int(rand(10)); }

sub insert
{
	my ($leaf, $names) = @_;
	my $batch = 100 * ++$batches + $workers->{number};
	my $n = chance(0.002) ? any(25000, 70000) : chance(0.05) ? any(300, 1500) : any((1) x 6, 2, 5, 30);
	($batch, $leaf, $n) = @{ pop @undone } if @undone && !$names && chance(0.5);
	my $number = number($batch);
	my $into = 'INSERT INTO ' . ($names ? root($leaf) : target($leaf)) . ' (batch, g, k, ' . ($names // 'title, note') . ', num)';
	my ($k, $era) = part($leaf);
	if ($n < 10 && !$names && chance(0.2))
	{
		($era) = run($primary, 'SELECT last_value FROM era; ' . ($into =~ s/INSERT INTO/COPY/r) . " FROM stdin;\n"
			. join('', map { "$batch\t$_\t$k\tel $batch $_\tNote $batch $_\t@{[$number + $_]}\n" } 1 .. $n) . "\\.\n\\r");
	}
	else
	{
		($era) = run($primary, "SELECT last_value FROM era; $into SELECT $batch, g, $k, 'el $batch ' || g, 'Note $batch ' || g, $number + g FROM generate_series(1, $n) AS g;");
	}
	push @changes, [ '+', $batch, $leaf, $n, $era ] if $state eq '00000';
}

# Take a batch out of a table, and put another one in, if so wanted.
sub replace
{
	my ($leaf, $wants) = @_;
	my $batch = own($leaf) // return;
	my $n = ($ledger->certain($batch))[1];
	my $target = target($leaf);
	my @intent = ($batch, $leaf, $n, $ledger->{batches}{$batch}{era});
	push @intents, [ '-', @intent ];
	$ledger->note("- $batch");
	my ($sql, $new, $to) = ("DELETE FROM $target", 100 * ++$batches + $workers->{number}, $leaf);
	if ($wants)
	{
		$to = any(@{ $leaves{p} }) if $target eq 'p' && chance(0.5);
		$sql = "UPDATE $target SET batch = $new, title = 'el $new ' || g, note = 'Note $new ' || g, num = g + " . number($new) . ($to ne $leaf ? ', k = ' . part($to) : '');
	}
	my ($era) = run($primary, "SELECT last_value FROM era; $sql WHERE batch = $batch;");
	return if $state ne '00000' || $rows == 0;
	wrong("$rows rows of $batch are there, not $n") if $rows != $n;
	push @changes, [ '-', @intent ], $wants ? [ '+', $new, $to, $n, $era ] : ();
}

sub truncate_table
{
	my ($leaf) = @_;
	my $table = target($leaf);
	my ($era) = run($primary, "TRUNCATE $table; INSERT INTO truncations SELECT nextval('era') RETURNING era;");
	return if $state ne '00000';
	$ledger->note(map { "T $era $_" } $table eq 'p' ? @{ $leaves{p} } : $leaf);
	push @intents, [ 'T', $era ];
	push @changes, [ 'T', $era ];
}

# Changes of a table, or of its filters, that leave the elements as they are.
sub define
{
	my ($leaf) = @_;
	my $table = root($leaf);
	my $f = any(grep { $_->{table} eq $table } map { $filters{$_} } sort keys %filters);
	my $type = any('text', 'varchar', 'varchar(100)', 'varchar(200)');
	my $own = $table eq 'p' ? $leaf : $table;
	if (chance(0.1))
	{
		# Other names for columns, in one step, so that others see the old ones.  Locked
		# first: of what waited for a partition's DETACH CONCURRENTLY, PostgreSQL would
		# rename the partition's columns, but not back.
		run($primary, "LOCK TABLE $table IN ACCESS EXCLUSIVE MODE; ALTER TABLE $table RENAME title TO heading; ALTER TABLE $table RENAME note TO remark;");
		insert($leaf, 'heading, remark') if $state eq '00000';
		run($primary, "ALTER TABLE $table RENAME heading TO title; ALTER TABLE $table RENAME remark TO note;") if $state eq '00000';
		return;
	}
	my @sql = (
		(map { "ALTER TABLE $table ALTER title TYPE $_" } ($type) x 4, "$type USING title || ''"),
		"REINDEX TABLE $own", "REINDEX TABLE $own",
		"ALTER TABLE $table ALTER x SET DEFAULT " . any(0, 1),
		"ALTER TABLE $table ALTER title SET STORAGE " . any('PLAIN', 'EXTENDED', 'EXTERNAL'),
		"ALTER TABLE $table ALTER title SET STATISTICS " . any(10, 100),
		"ALTER TABLE $own SET (fillfactor = " . any(50, 100) . ')',
		"ALTER TABLE $table ADD CONSTRAINT c CHECK (x >= 0); ALTER TABLE $table DROP CONSTRAINT c",
		"ALTER TABLE $own CLUSTER ON ${own}_batch_idx; CLUSTER $own");
	push @sql, 'ALTER TABLE u SET ' . any('LOGGED', 'UNLOGGED') if $table eq 'u';
	push @sql, ('ALTER TABLE m ALTER num TYPE ' . any('int', 'bigint')) x 2 if $table eq 'm';
	# Of partitions PostgreSQL may lose count of whom a column is inherited from while they are detached.
	push @sql, "ALTER TABLE $table ADD COLUMN IF NOT EXISTS extra " . any('int DEFAULT 7', 'float8 DEFAULT random()', 'text'), "ALTER TABLE $table DROP COLUMN IF EXISTS extra"
	  if $table ne 'p';
	push @sql, ("REINDEX INDEX $f->{index}", "ALTER INDEX $f->{index} SET TABLESPACE " . any('other', 'pg_default'),
		"DROP INDEX $f->{index}; CREATE INDEX $f->{create}",
		"ALTER INDEX $f->{index} SET (plans = " . any('on', 'on', 'off') . ', absent = ' . any(0, 0.5, 0.9) . ')') x 2
	  if $table ne 'p';
	run($primary, any(@sql) . ';');
}

# What this transaction sees, what it has written itself included.
sub ask_own
{
	my ($leaf) = @_;
	my ($denied) = run($primary, "SELECT count(*) FROM $leaf WHERE NOT bf_live_contains('$leaf', title, 'title');");
	return if $state ne '00000';
	$count{'transactions asked'}++;
	wrong("$denied rows of $leaf that a writer sees are denied") if $denied;
}

# One transaction.
sub transaction
{
	my ($definitions) = @_;
	@changes = @intents = ();
	my @tables = map { any(@leaves) } 1 .. any(1, 1, 2);
	my @marks;
	run($primary, 'BEGIN ISOLATION LEVEL ' . any(('READ COMMITTED') x 6, ('REPEATABLE READ') x 2, 'SERIALIZABLE') . ';');
	for (my $steps = any(1, 1, 2, 4, 8); $steps > 0 && $state eq '00000'; $steps--)
	{
		my $leaf = any(@tables);
		if (chance($definitions)) { define($leaf); }
		elsif (chance(0.1)) { push @marks, scalar @changes; run($primary, 'SAVEPOINT s' . @marks . ';'); }
		elsif (@marks && chance(0.1)) { run($primary, 'RELEASE s' . @marks . ';'); pop @marks; }
		elsif (@marks && chance(0.2)) { back_to(\@marks); }
		elsif (chance(0.02 + $definitions / 8)) { truncate_table($leaf); }
		elsif (chance(0.1)) { run($primary, "UPDATE $leaf SET x = x + 1 WHERE batch = " . (own($leaf) // next) . ';'); }
		elsif (chance(0.1)) { ask_own($leaf); }
		elsif (chance(0.05)) { run($primary, sprintf 'SELECT pg_sleep(%.3f);', rand(0.1)); }
		else { (\&insert, \&insert, sub { replace(@_, 1) }, \&replace)[ rand($ledger->rows($leaf) > 2500 ? 4 : 3) ]->($leaf); }
		back_to(\@marks) if $state ne '00000' && $state ne 'lost' && @marks && chance(0.7);
	}
	return conclude(0) if $state eq 'lost';
	if ($state eq '00000' && chance(0.85))
	{
		return prepare() if chance(0.15);
		run($primary, 'COMMIT;');
		return conclude($state eq '00000') if $state ne 'lost';
		my ($changes, $intents) = ([@changes], [@intents]);
		settle(1) while @prepared; # they may lock what is to be read
		@changes = grep { is_done($_) } @$changes;
		@intents = @$intents;
		return conclude(1);
	}
	run($primary, 'ROLLBACK;');
	conclude(0);
}

# To a savepoint, and what has been done since is not.
sub back_to
{
	my ($marks) = @_;
	splice @$marks, 1 + rand(@$marks);
	run($primary, 'ROLLBACK TO s' . @$marks . ';');
	undo(splice @changes, $marks->[-1]) if $state eq '00000';
}

sub undo { @undone = map { [ @$_[ 1 .. 3 ] ] } grep { $_->[0] eq '+' } @_; }

# Whether a change was committed of which that is not known.
sub is_done
{
	my ($what, $key, $leaf, $n) = @{ $_[0] };
	$count{'outcomes looked up'}++;
	return insist("SELECT count(*) FROM truncations WHERE era = $key") if $what eq 'T';
	my $found = insist("SELECT count(*) FROM $leaf WHERE batch = $key");
	wrong("$found rows of $key are there, not $n") if $found != $n && $found != 0;
	return $what eq '+' ? $found : !$found;
}

# Note what a transaction was.
sub conclude
{
	my ($committed) = @_;
	undo(@changes) unless $committed;
	@changes = () unless $committed;
	my %done = map { ("$_->[0] $_->[1]" => 1) } @changes;
	$ledger->note(
		(map { $_->[0] eq '+' ? "@$_" : $_->[0] eq 'T' ? "C $_->[1]" : () } @changes),
		(map { $_->[0] eq 'T' ? "K $_->[1]" : "+ @$_[ 1 .. 4 ]" } grep { !$done{"$_->[0] $_->[1]"} } @intents));
	$count{$committed ? 'transactions' : 'transactions undone'}++;
	$count{'elements'} += sum0(map { $_->[3] } grep { $_->[0] eq '+' } @changes);
}

sub is_prepared { my ($gid) = @_; return insist("SELECT count(*) FROM pg_prepared_xacts WHERE gid = '$gid'"); }

sub prepare
{
	my $gid = "$workers->{number} " . ++$batches;
	run($primary, "PREPARE TRANSACTION '$gid';");
	return conclude(0) unless $state eq '00000' || $state eq 'lost' && is_prepared($gid);
	push @prepared, { gid => $gid, changes => [@changes], intents => [@intents], due => time + any(0, 0, 0.3, 2) };
}

# End prepared transactions.
sub settle
{
	my ($all) = @_;
	my @due = grep { $_->{due} < time || $all || $stopped } @prepared;
	foreach my $p (@due)
	{
		my $commit = chance(0.7);
		run($primary, ($commit ? 'COMMIT' : 'ROLLBACK') . " PREPARED '$p->{gid}';");
		next if $state ne '00000' && ($state ne 'lost' || is_prepared($p->{gid}));
		@prepared = grep { $_ != $p } @prepared;
		@changes = @{ $p->{changes} };
		@intents = @{ $p->{intents} };
		conclude($commit);
		$count{'transactions prepared'}++;
	}
}

# What cannot be in a transaction, and what waits for others.
sub maintain
{
	my ($leaf) = (any(@leaves));
	my $table = root($leaf);
	my $f = any(grep { $_->{table} eq $table } map { $filters{$_} } sort keys %filters);
	my $own = $table eq 'p' ? $leaf : $table;
	my $also = "$f->{index}_also";
	# In a transaction with others, which is rolled back, SET TABLESPACE leaves entries of btrees to rows that never were.
	my @sql = ("ALTER TABLE $own SET TABLESPACE " . any('other', 'pg_default'), "VACUUM $own", "VACUUM $own", "VACUUM (FREEZE) $own", "VACUUM FULL $own", "ANALYZE $own", 'CHECKPOINT', "CLUSTER $own USING ${own}_batch_idx",
		("REINDEX TABLE CONCURRENTLY $own") x 2);
	push @sql, ("REINDEX INDEX CONCURRENTLY $f->{index}") x 3, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS ' . ($f->{create} =~ s/^\w+/$also/r),
	  "DROP INDEX CONCURRENTLY IF EXISTS $also" if $table ne 'p';
	run($primary, "SET lock_timeout = '8s'; " . any(@sql) . ';');
	partition() if chance(0.3);
	tidy() if chance(0.3);
	sleep(rand(0.3));
}

# Drop what failures leave behind.  By the name that the query's snapshot has: regclass
# gives the newest, by which REINDEX CONCURRENTLY may have put the index in its place.
sub tidy
{
	run($primary, q(SELECT 'DROP INDEX ' || quote_ident(relname) FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
		WHERE c.relkind = 'i' AND c.relnamespace = 'public'::regnamespace AND (NOT indisvalid OR relname ~ '_cc(new|old)[0-9]*$')\gexec));
}

# Take a partition out, and put it in again.
sub partition
{
	my ($is) = insist(q(SELECT coalesce((SELECT CASE WHEN inhdetachpending THEN 'half' ELSE 'in' END FROM pg_inherits WHERE inhrelid = 'p3'::regclass), 'out')));
	if ($is eq 'in')
	{
		$ledger->note('D p3');
		run($primary, 'ALTER TABLE p DETACH PARTITION p3' . any('', ' CONCURRENTLY') . ';');
	}
	elsif ($is eq 'half') { run($primary, 'ALTER TABLE p DETACH PARTITION p3 FINALIZE;'); }
	else
	{
		my $type = any('text', 'varchar', 'varchar(100)');
		tidy(); # lest it become the parent's
		run($primary, "ALTER TABLE $_ ALTER title TYPE $type;") foreach 'p', 'p3';
		run($primary, 'ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN (3);');
		$ledger->note('A p3') if $state eq '00000';
		$count{'partitions attached'}++ if $state eq '00000';
	}
}

# ---- Those who ask ----

# What a filter is asked for: the table, the batches' elements as an array, and whose
# each is.  A root has those of partitions, too.
sub sample
{
	my ($f, $table, $each) = @_;
	my %asked = (f => $f, table => $table, of => {}, detachments => $ledger->detachments('p3'));
	foreach my $leaf (@{ $leaves{$table} // [$table] })
	{
		next if $table eq 'p' && $ledger->is_detached($leaf);
		foreach my $batch ($ledger->batches($leaf, $each))
		{
			my ($at, $n) = ($leaf, ($ledger->certain($batch))[1]);
			$asked{of}{ element($f, $batch, $_) } = $batch foreach $n <= 20 || !$each ? 1 .. $n : map { 1 + int(rand($n)) } 1 .. 20;
		}
	}
	$asked{elements} = [ keys %{ $asked{of} } ];
	return \%asked;
}

sub literal { my ($f, @elements) = @_; return "'{" . join(',', @elements) . "}'::_$f->{type}"; }

# A filter as functions are told of it: the relation, and a column where one is needed.
sub named
{
	my ($f, $table) = @_;
	my @names = $table eq $f->{table} ? [ $f->{index} ] : ();
	push @names, [ $table, $f->{column} ] if $f->{column};
	push @names, [$table] if $f->{table} ne 'm' || $f->{type} eq 'int4';
	return map { "'$_'" } @{ any(@names) };
}

# The routes: a query that has a row for each element of an array (@) that is denied.
# The second one locks the table before its snapshot is taken, as rewriting a table
# empties it to older ones.
my %by_function = (
	contains => sub {
		my ($f, $table) = @_;
		my ($rel, @column) = named($f, $table);
		return 'SELECT e FROM unnest(@) AS e WHERE NOT bf_live_contains(' . join(', ', $rel, 'e', @column) . ')';
	},
	each => sub {
		my ($f, $table) = @_;
		my ($rel, @column) = named($f, $table);
		return 'SELECT e FROM unnest(@, bf_live_contains_each(' . join(', ', $rel, '@', @column) . ')) AS u (e, found) WHERE NOT found';
	},
	value => sub {
		my ($f, $table) = @_;
		my $rel = $table eq $f->{table} ? $f->{index} : $table;
		return "SELECT e FROM unnest(\@, bf_contains_each(bf_live_filter('$rel'), \@)) AS u (e, found) WHERE NOT found";
	});
my %by_table = (
	gate => sub {
		my ($f, $table) = @_;
		my $over = $f->{over} =~ s/(\w+)(?!\()(\)*)$/a.$1$2/r;
		return "SELECT e FROM unnest(\@) AS e WHERE NOT EXISTS (SELECT FROM $table AS a WHERE $over = e)";
	},
	constants => sub {
		my ($f, $table, @elements) = @_;
		my $quote = $f->{type} eq 'int4' ? '' : "'";
		return join ' UNION ALL ', map { "SELECT $_ WHERE NOT EXISTS (SELECT FROM $table WHERE $f->{over} = $_)" } map { "$quote$_$quote" } @elements[ 0 .. min(4, $#elements) ];
	},
	aggregate => sub {
		my ($f, $table) = @_;
		my $agg = any("bf_agg($f->{over})", "bf_agg($f->{over}, 5000, 0.001)", "bf_agg($f->{over}, 500, 0.01, 'guava', 2)", "bf_agg_distinct($f->{over}, 0.01)");
		return "SELECT e FROM unnest(\@) AS e, (SELECT $agg AS f FROM $table) AS x WHERE NOT bf_contains(f, e)";
	},
	union => sub {
		my ($f, $table) = @_;
		return "SELECT e FROM unnest(\@) AS e, (SELECT bf_union_agg(f) AS f FROM (SELECT bf_agg($f->{over}, 5000, 0.001) AS f FROM $table GROUP BY batch % 7) AS y) AS x WHERE NOT bf_contains(f, e)";
	},
	table => sub { my ($f, $table) = @_; return "SELECT unnest(\@) EXCEPT SELECT $f->{over} FROM $table"; });
my %settings = (
	gate => 'SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;',
	aggregate => 'SET LOCAL max_parallel_workers_per_gather = 2; SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0;',
	table => 'SET LOCAL bloomext.enable_gate = off;');

# A question's script.
sub script
{
	my ($route, $asked) = @_;
	my ($f, $table) = @$asked{qw(f table)};
	my $query = ($by_function{$route} // $by_table{$route})->($f, $table, @{ $asked->{elements} }) =~ s/\@/literal($f, @{ $asked->{elements} })/ger;
	return "$query;" if $by_function{$route};
	return 'BEGIN; ' . (chance(0.7) ? $settings{$route} // '' : $route eq 'table' ? $settings{table} : '') . " LOCK TABLE $table IN ACCESS SHARE MODE; $query; COMMIT;";
}

# What was denied although it is certain, before and after.
sub false_noes
{
	my ($asked, @denied) = @_;
	return unless @denied;
	$ledger->refresh;
	return if $asked->{table} eq 'p' && $ledger->detachments('p3') != $asked->{detachments};
	return grep { $ledger->certain($asked->{of}{$_} // die "nobody asked for $_\n") } @denied;
}

sub ask
{
	my ($server, $route, $asked) = @_;
	my $where = $server->name;
	return if !@{ $asked->{elements} } || $route eq 'value' && $asked->{table} eq 'p'; # partitions may have different layers
	my $script = script($route, $asked);
	my @denied = run($server, $script);
	if ($state ne '00000')
	{
		run($server, 'ROLLBACK;') if $script =~ /^BEGIN/ && $state ne 'lost';
		return;
	}
	$count{"$where: asked by $route"} += @{ $asked->{elements} };
	$count{"$where: plans with a gate"} += grep { /Bloom Filter Gate/ } run($server, "BEGIN; $settings{gate} EXPLAIN $1 ROLLBACK;") if $route eq 'gate' && $script =~ /MODE; (.*;) COMMIT;/;
	complain($server, $route, $asked, $script, @denied);
}

# End the run if of what was denied something is certain: say whether the table has it, and what it says now.
sub complain
{
	my ($server, $route, $asked, $script, @denied) = @_;
	my @false = false_noes($asked, @denied) or return;
	my ($f, $table) = @$asked{qw(f table)};
	my ($first) = sort @false;
	my @tell = ($server->name . ", $route: of " . @{ $asked->{elements} } . " elements of $table " . @false . ' are denied that are there, by the ledger: ' . join(', ', sort @false), $script);
	my %one = (%$asked, elements => [$first]);
	push @tell, "$_ again, of $first: " . join ' ', run($server, "SET bloomext.enable_gate = off; SET enable_indexscan = off; SET enable_bitmapscan = off; ". script($_, \%one)), "[$state]" foreach 'table', 'contains', 'gate';
	push @tell, run($server, "SELECT 'row', ctid, xmin, xmax, batch, g FROM $table WHERE batch = $asked->{of}{$first} LIMIT 5;
		SELECT 'index', indexrelid::regclass, * FROM pg_index WHERE indrelid = '$table'::regclass; SELECT 'info', * FROM bf_live_info('$f->{index}'); SELECT 'state', * FROM bf_live_state('$f->{index}');");
	wrong(join "\n", @tell, $ledger->history($asked->{of}{$first}));
}

# A filter, and the table that is asked for it.
sub subject
{
	my ($server) = @_;
	my $f = $filters{ any(grep { $server == $primary || $filters{$_}{table} ne 'u' } sort keys %filters) };
	return ($f, $f->{table} eq 'p' ? any('p', @{ $leaves{p} }) : $f->{table});
}

# Wait until the standby has replayed what was committed so far.  False if that takes long.
sub catch_up
{
	my ($lsn) = run($primary, 'SELECT pg_current_wal_insert_lsn();');
	return if $state ne '00000';
	foreach (1 .. 100)
	{
		my ($there) = run($standby, "SELECT pg_last_wal_replay_lsn() >= '$lsn';");
		return $there eq 't' if $state eq '00000' && ($there eq 't' || $stopped);
		sleep(0.05);
	}
	$count{'the standby was late'}++;
	return;
}

sub asker
{
	my ($server) = @_;
	my ($f, $table) = subject($server);
	$ledger->refresh;
	my $asked = sample($f, $table, 6);
	return if $server == $standby && !catch_up();
	any((sub { ask($server, any(sort keys %by_function), $asked) }) x 3, (sub { ask($server, any(sort(keys %by_table), 'gate', 'gate', 'aggregate'), $asked) }) x 3,
		sub { by_plan($server, $asked) }, sub { by_snapshot($server, $f, $table) }, sub { by_snapshot($server, $f, $table) },
		sub { verify($server, $f, $table) }, sub { stored($server, $f, $table) }, sub { absent($server, $f, $table) })->();
	sleep(rand(0.02));
}

# A prepared statement, for as long as the session lasts.
sub by_plan
{
	my ($server, $asked) = @_;
	my ($f, $table) = @$asked{qw(f table)};
	my $psql = $psql{ $server->name } // return;
	my $route = any('contains', 'each', 'gate');
	my $name = "${route}_$f->{index}_$table";
	if (!$psql->{prepared}{$name})
	{
		my $query = ($by_function{$route} // $by_table{$route})->($f, $table) =~ s/\@/\$1/gr;
		run($server, "PREPARE $name (_$f->{type}) AS $query;");
		return if $state ne '00000';
		$psql->{prepared}{$name} = 1;
	}
	my @denied = run($server, "BEGIN; LOCK TABLE $table IN ACCESS SHARE MODE; EXECUTE $name(" . literal($f, @{ $asked->{elements} }) . '); COMMIT;');
	return run($server, 'ROLLBACK;') if $state ne '00000';
	$count{ $server->name . ': asked by prepared statements' } += @{ $asked->{elements} };
	complain($server, "the prepared $name", $asked, '', @denied);
}

# Begin a transaction in which a table has the same rows for all statements.  Nobody may
# attach a partition while it lasts: a snapshot that is older sees its rows at once.
sub one_snapshot
{
	my ($table) = @_;
	return "BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE $table IN " . ($table eq 'p' ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS SHARE') . ' MODE;';
}

# What a snapshot sees, in any isolation level and of any age, and the gate with it.
sub by_snapshot
{
	my ($server, $f, $table) = @_;
	my $level = any('READ COMMITTED', 'REPEATABLE READ', $server == $primary ? 'SERIALIZABLE' : ());
	my ($rel, @column) = named($f, $table);
	my $pause = chance(0.3) ? rand(2) : 0;
	run($server, "BEGIN ISOLATION LEVEL $level; SELECT FROM pg_am;");
	foreach (1 .. any(1, 2, 5))
	{
		last if $state ne '00000';
		sleep($pause / 5);
		my ($denied) = run($server, "SAVEPOINT s; SELECT count(*) FROM (SELECT $f->{over} AS e FROM $table OFFSET 0) AS t WHERE NOT bf_live_contains(" . join(', ', $rel, 'e', @column) . '); ROLLBACK TO s;');
		last if $state ne '00000';
		$count{ $server->name . ": snapshots asked, $level" }++;
		wrong($server->name . ": $denied rows of $table that a snapshot sees are denied, $level") if $denied;
	}
	run($server, 'ROLLBACK;') if $state ne 'lost';
	return if $server == $standby || chance(0.5);
	my $gated = script('gate', { f => $f, table => $table, elements => [ map { element($f, 100 * int(rand(2000)) + any(1 .. 6), 1) } 1 .. 200 ] });
	my ($query) = $gated =~ /MODE; (.*); COMMIT;/;
	my @said = run($server, one_snapshot($table) . " SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; "
		. join(' ', map { "SET LOCAL bloomext.enable_gate = $_; SELECT md5(string_agg(e::text, ',' ORDER BY e)) FROM ($query) AS q;" } 'on', 'off') . ' COMMIT;');
	return run($server, 'ROLLBACK;') if $state ne '00000';
	$count{'compared with no gate'}++;
	wrong("a query of $table has other rows with the gate: @said\n$query") if @said != 2 || $said[0] ne $said[1];
}

sub verify
{
	my ($server, $f, $table) = @_;
	my ($missing) = run($server, "SELECT missing FROM bf_live_verify('" . ($table eq $f->{table} ? $f->{index} : $table) . "');");
	return if $state ne '00000';
	$count{ $server->name . ': verified' }++;
	wrong($server->name . ": $missing rows of $table are missing, $f->{index}") if $missing;
}

# A filter that is stored as a value, and asked in the same snapshot.
sub stored
{
	my ($server, $f, $table) = @_;
	return if $server == $standby;
	my ($denied) = run($server, one_snapshot($table)
		. " UPDATE stored SET f = (SELECT bf_agg($f->{over}, 20000, 0.001) FROM $table) WHERE name = '$f->{index}'; "
		. "SELECT count(*) FROM $table, stored WHERE name = '$f->{index}' AND NOT bf_contains(f, $f->{over}); COMMIT;");
	return run($server, 'ROLLBACK;') if $state ne '00000';
	$count{'filters stored'}++;
	wrong("$denied rows of $table are denied by the filter that is stored of them") if $denied;
}

# Elements that never were.
sub absent
{
	my ($server, $f, $table) = @_;
	my ($rel, @column) = named($f, $table);
	my ($no) = run($server, 'SELECT count(*) FROM generate_series(1, 100) AS g WHERE NOT bf_live_contains('
		. join(', ', $rel, $f->{type} eq 'int4' ? '-g' : "'absent ' || g || random()", @column) . ');');
	return if $state ne '00000';
	$count{ $server->name . ": $_->[0]" } += $_->[1] foreach [ 'asked for what is absent', 100 ], [ 'of that, surely absent', $no ];
}

# ---- Mirrors ----

my %mirrored;

sub mirrorer
{
	my $index = any('s_title', 'w_title', 'w_title', 'm_num', 'aggregate');
	my $f = $filters{ $index eq 'aggregate' ? 's_title' : $index };
	my $server = $index ne 'aggregate' && chance(0.3) ? $standby : $primary;
	if (chance(0.5) || !$mirrored{$index})
	{
		$ledger->refresh;
		my @before = $ledger->batches($f->{table});
		return if $server == $standby && !catch_up();
		run($server, $index eq 'aggregate'
			? "BEGIN; LOCK TABLE s IN ACCESS SHARE MODE; SELECT bf_mirror((SELECT bf_agg(title, 20000, 0.001) FROM s), 'cache', 'aggregate'); COMMIT;"
			: "SELECT bf_live_mirror('$index', 'cache', '$index');");
		$ledger->refresh;
		# Where nobody knows whether it was done, what was mirrored before and is there yet is there in any case.
		my $done = $state eq '00000';
		$mirrored{$index} = [ grep { $ledger->certain($_->[0]) } $done ? map { [ $_, ($ledger->certain($_))[1] ] } @before : @{ $mirrored{$index} // [] } ];
		return run($server, 'ROLLBACK;') if !$done && $index eq 'aggregate' && $state ne 'lost';
		return if !$done;
		$count{$server->name . ': mirrors'}++;
	}
	my @of = @{ $mirrored{$index} } or return;
	my %elements = map { element($f, $_->[0], 1 + int(rand($_->[1]))) => 1 } map { any(@of) } 1 .. 300;
	my $array = literal($f, keys %elements);
	my @denied = run($server, "SELECT e FROM unnest($array, bf_redis_contains_each('cache', '$index', $array)) AS u (e, found) WHERE NOT found;");
	if ($state eq '42704') { $count{'mirrors gone'}++; delete $mirrored{$index}; }
	return if $state ne '00000';
	$count{'asked in Redis'} += keys %elements;
	wrong(scalar(@denied) . " elements are denied by the mirror $index: @denied[0 .. min(5, $#denied)]") if @denied;
}

# ---- Disasters ----

my (%killed, %disasters, $crashes);

# While a server goes and comes nobody makes a session.  Whether an unlogged table lost its
# rows is in doubt then.
my @doubts;

# Start a server.  PostgreSQL does not where the rollback of a transaction that made files
# of an unlogged table has not come to its WAL before a crash: it has truncated such a
# file until the next checkpoint, creates its like from WAL, and is in its own way.
sub start_server
{
	my ($server) = @_;
	until ($server->start(fail_ok => 1))
	{
		my ($path) = slurp_file($server->logfile) =~ /.*could not create file "([^"]+)": File exists/s or die 'no start';
		$path = $server->data_dir . "/$path";
		die 'no start' unless -z $path;
		unlink $path;
		$disasters{'an empty file in the way'}++;
	}
}

# By an empty query: no psql is gone before it is told that.
sub wait_for
{
	my ($server) = @_;
	foreach (1 .. 1800)
	{
		return if $server->psql('postgres', '') == 0;
		if (!-e $server->data_dir . '/postmaster.pid')
		{
			$server->_update_pid(0);
			start_server($server);
		}
		sleep(0.1);
	}
	die 'no server';
}

sub disaster
{
	my ($server, $action) = @_;
	my $lock = lock_server($server, LOCK_EX);
	my $seen = -s $server->logfile;
	if ($server == $primary)
	{
		push @doubts, 900_000_000_000_000 + ++$crashes;
		$ledger->note("T $doubts[-1] u");
		$live{primary}->wait_for_page_lock if chance(0.5);
	}
	$killed{$_} = 1 foreach $live{ $server->name }->processes;
	$action->($seen);
	wait_for($server);
}

# A row of batch 0 says that nothing has emptied it since, once it can be read.
sub settle_doubts
{
	my ($status, $said) = $primary->psql('postgres', q(SET lock_timeout = '200ms'; SELECT EXISTS (SELECT FROM u WHERE batch = 0)));
	return if $status || $said !~ /^[tf]$/;
	if ($said eq 'f')
	{
		my $era = $primary->safe_psql('postgres', q(SELECT nextval('era')));
		$ledger->note("T $era u", "C $era");
		$primary->psql('postgres', q(SET lock_timeout = '200ms'; INSERT INTO u (batch) VALUES (0)));
	}
	$ledger->note(map { "K $_" } splice @doubts);
}

sub restart { my ($server, @how) = @_; return sub { $server->stop(@how); start_server($server); }; }

sub kill_and_start
{
	my ($server, @moment) = @_;
	return sub { $live{ $server->name }->kill_server(@moment); start_server($server); };
}

# One process dies, and the postmaster starts all over.
sub kill_one
{
	my ($server, $kinds) = @_;
	return sub {
		my ($seen) = @_;
		my ($status, $pid) = $server->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type ~ '$kinds' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1");
		return if $status || !$pid; # a standby cancels what conflicts with its recovery
		$killed{$pid} = 1; # it may have begun only now
		kill 'KILL', $pid;
		foreach (1 .. 600)
		{
			last if substr(slurp_file($server->logfile), $seen) =~ /all server processes terminated; reinitializing/;
			sleep(0.05);
		}
	};
}

# A session goes, or its statement.
sub disturb
{
	$primary->psql('postgres', 'SELECT ' . any('pg_terminate_backend', 'pg_cancel_backend')
		. q{(pid) FROM pg_stat_activity WHERE backend_type ~ 'client|autovacuum w|parallel' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1});
}

sub restart_redis { $redis->stop(any('KILL', 'KILL', 'TERM')); $redis->start; }

my $backends = '^(client backend|client backend|autovacuum worker|parallel worker|walsender|checkpointer|background writer|walwriter)$';
my @disasters = (
	[ 'the server is killed', sub { disaster($primary, kill_and_start($primary)) } ],
	[ 'the server is killed', sub { disaster($primary, kill_and_start($primary)) } ],
	[ 'the postmaster is killed first', sub { disaster($primary, kill_and_start($primary, rand(0.5))) } ],
	[ 'a process is killed', sub { disaster($primary, kill_one($primary, $backends)) } ],
	[ 'a process is killed', sub { disaster($primary, kill_one($primary, $backends)) } ],
	[ 'an immediate stop', sub { disaster($primary, restart($primary, 'immediate')) } ],
	[ 'a stop', sub { disaster($primary, restart($primary, 'fast')) } ],
	[ 'the standby is killed', sub { disaster($standby, kill_and_start($standby)) } ],
	[ 'the standby is stopped', sub { disaster($standby, restart($standby, any('immediate', 'fast'))) } ],
	[ 'a process of the standby is killed', sub { disaster($standby, kill_one($standby, '^(client backend|walreceiver|checkpointer)$')) } ],
	(map { [ 'Redis is killed', \&restart_redis ] } 1 .. 2),
	(map { [ 'a session is disturbed', \&disturb ] } 1 .. 6));

# ---- Memory ----

my (%memory, @grown, $processes_measured);

# A sanitizer keeps what is freed.
my $sanitized = slurp_file('/proc/' . $live{primary}->postmaster . '/maps') =~ /libasan/;

sub measure
{
	foreach my $server ($primary, $standby)
	{
		foreach my $pid ($sanitized ? () : $live{ $server->name }->processes)
		{
			my ($kB) = (eval { slurp_file("/proc/$pid/status") } // '') =~ /^RssAnon:\s+(\d+)/m or next;
			my ($title) = (eval { slurp_file("/proc/$pid/cmdline") } // '') =~ /^([^\0]*)/;
			next if $title =~ /\[local\]/ && $title !~ / idle$/;
			push @{ $memory{$pid}{kB} }, [ time, $kB ];
			@{ $memory{$pid} }{qw(server title)} = ($server, $title);
		}
	}
}

# Who has grown in a calm.
sub judge
{
	my ($from, $to) = @_;
	my $length = $to - $from;
	foreach my $pid (sort { $a <=> $b } keys %memory)
	{
		my $least = sub {
			my ($first, $last) = map { $from + $_ * $length } @_;
			return min(map { $_->[1] } grep { $_->[0] >= $first && $_->[0] <= $last } @{ $memory{$pid}{kB} });
		};
		my ($warm, $late) = ($least->(0.25, 0.5), $least->(0.75, 1));
		next unless $warm && $late;
		$processes_measured++;
		my $title = $memory{$pid}{title};
		note("$pid, $title: $warm kB, then $late");
		next if $late <= 1.25 * $warm + 2048;
		push @grown, "$pid, $title: $warm kB, then $late";
		$memory{$pid}{server}->psql('postgres', "SELECT pg_log_backend_memory_contexts($pid)");
	}
	%memory = ();
}

# ---- The run ----

sub start
{
	my ($name, $number, $action, %wants) = @_;
	my $begun;
	$workers->start('', $seed + $number, sub {
		if (!$begun++) { %psql = (); $role = $name; $ledger = Ledger->new($dir, %wants); }
		$action->();
		settle() if @prepared;
	});
}

$ledger = Ledger->new($dir);
$role = 'asker';
my $number = 0;
start('writer', ++$number, sub { transaction(0.04) }, own => 1) foreach 1 .. 3;
start('definer', ++$number, sub { transaction(0.5) }, own => 1);
start('maintainer', ++$number, \&maintain, own => 1);
start('asker', ++$number, sub { asker($primary) }) foreach 1 .. 2;
start('asker', ++$number, sub { asker($standby) });
start('mirrorer', ++$number, \&mirrorer);

my $begun = time;
my $end = $begun + $seconds;
my $period = min($seconds, 600);
my ($calm_since, $next_disaster, $next_measurement) = (0, $begun + 3, 0);
while (time < $end && !$workers->is_wrong)
{
	my $phase = (time - $begun) / $period;
	my $calm = abs($phase - int($phase) - 0.5) < 0.25;
	$calm_since = time if $calm && !$calm_since;
	if ($calm_since && !$calm)
	{
		judge($calm_since, time);
		$calm_since = 0;
	}
	if ($calm && time > $next_measurement)
	{
		measure();
		$next_measurement = time + $period / 800;
	}
	if (time > $next_disaster)
	{
		my ($name, $action) = @{ any($calm ? grep { $_->[0] =~ /Redis/ } @disasters : @disasters) };
		$disasters{$name}++;
		$action->();
		$next_disaster = time + ($calm ? 5 + rand(10) : rand(any(1, 5)));
	}
	settle_doubts() if @doubts;
	sleep(0.1);
}
wait_for($primary);
my $died = $workers->stop;

# ---- In the end ----

my @unanswered;

# Ask a server for everything, by each route.
sub ask_all
{
	my ($server) = @_;
	foreach my $f (map { $filters{$_} } sort keys %filters)
	{
		next if $f->{table} eq 'u' && $server == $standby;
		foreach my $table ($f->{table}, $f->{table} eq 'p' ? @{ $leaves{p} } : ())
		{
			my $asked = sample($f, $table);
			my @elements = @{ $asked->{elements} };
			while (my @some = splice @elements, 0, 5000)
			{
				foreach my $route (sort keys %by_function, sort keys %by_table)
				{
					next if $route eq 'value' && $table eq 'p';
					# A join without an index takes its time.
					ask($server, $route, { %$asked, elements => $route eq 'gate' ? [ @some[ 0 .. min(199, $#some) ] ] : \@some });
					push @unanswered, $server->name . ", $route, $table: $state" if $state ne '00000';
				}
			}
			next if $table eq 'p';
			verify($server, $f, $table);
			push @unanswered, $server->name . ", verify, $table: $state" if $state ne '00000';
		}
	}
}

sub are_sure
{
	my ($server) = @_;
	%count = map { $_ => $count{$_} } grep { !/absent/ } keys %count;
	foreach my $f (map { $filters{$_} } grep { $server == $primary || !/^u/ } sort keys %filters)
	{
		absent($server, $f, $f->{table}) foreach 1 .. 10;
	}
	my ($asked, $no) = map { $count{ $server->name . ": $_" } // 0 } 'asked for what is absent', 'of that, surely absent';
	return cmp_ok($no, '>=', 0.9 * $asked, $server->name . ": filters are sure of what is absent, $no of $asked");
}

my %sum = $workers->counted;
my $all = eval {
	if (!$workers->is_wrong)
	{
		$primary->safe_psql('postgres', "COMMIT PREPARED '$_'") foreach split /\n/, $primary->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts');
		settle_doubts() if @doubts;
		$ledger->refresh;
		tidy(); # else a table may have a filter twice, which is none of two values
		ask_all($primary);
		mirrorer() foreach 1 .. 20;
		$primary->safe_psql('postgres', join ' ', map { "REINDEX TABLE $_;" } @leaves);
		ask_all($primary);
		are_sure($primary);
		# By the checkpoint the standby learns which transactions crashes have ended.
		$primary->safe_psql('postgres', 'CHECKPOINT');
		catch_up() or die 'the standby is behind';
		ask_all($standby);
		are_sure($standby);
		$primary->stop;
		delete $psql{primary};
		$standby->promote;
		ask_all($standby);
		$standby->safe_psql('postgres', join ' ', map { "INSERT INTO $_ (batch, g, k, title, note, num) SELECT 7, g, 1, 'el 7 ' || g, 'Note 7 ' || g, 7000 + g FROM generate_series(1, 5000) AS g;" } 's', 'w', 'm', 'p1');
		$ledger->note(map { "+ 7 $_ 5000 900000000000000" } 'm');
		$ledger->refresh;
		ask_all($standby);
		are_sure($standby);
	}
	1;
};
diag "$_: $sum{$_}" foreach sort keys %sum;
diag "$_: $disasters{$_}" foreach sort keys %disasters;
diag $@ if !$all;
diag((split /\n/, $workers->said_wrong)[0]) if $workers->is_wrong;
is($workers->said_wrong, '', "no element was denied, BLOOMEXT_SEED=$seed");
is($died, '', 'all workers ended well');
ok($all, 'and all was asked in the end');
is("@unanswered", '', 'and answered');

# What was broken, and not by us.
foreach my $server ($primary, $standby)
{
	my @bad = grep {
		/ XX\w{3} (?:ERROR|FATAL|PANIC|WARNING|LOG)|PANIC|TRAP:|could not read block|invalid page|filters miss|missing chunk/ && !/$core/
		  || /\(PID (\d+)\) (?:was terminated by signal (\d+)|exited with exit code [^012]\b)/ && !(($2 // 0) == 9 && $killed{$1})
	} split /\n/, slurp_file($server->logfile);
	is(join("\n", @bad[ 0 .. min($#bad, 19) ]), '', 'nothing is broken, ' . $server->name);
}
is(join("\n", @grown), '', 'no process has grown in a calm');
cmp_ok($processes_measured, '>=', 10, "of $processes_measured") unless $sanitized;
foreach my $what ((map { my $where = $_; map { "$where: $_" } 'mirrors', 'verified', 'plans with a gate', 'of that, surely absent', 'asked by prepared statements', map { "asked by $_" } keys %by_function, keys %by_table } 'primary', 'standby'),
	'transactions', 'transactions prepared', 'transactions asked', 'asked in Redis', 'filters stored', 'compared with no gate', 'partitions attached')
{
	push @unanswered, $what if !$sum{$what};
}
is("@unanswered", '', 'of everything there was something');

$standby->stop;
done_testing();
