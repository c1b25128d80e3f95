# Filters that grow, and crashes.  The whole server is killed under writers whose
# rows add layers all the time; what they were told is committed is in the filter
# afterwards, however far an addition had come.  What a crash in the middle of one
# leaves is asked for at each of its WAL records, too: of a standby that stops
# there, and of the same once promoted.  Then what a full disk does.
#
# A process that is killed may have written half a page: the system's are smaller
# (seen on ext4 and tmpfs).  Its full image mends that, so pages are torn here, all
# that were written to since a checkpoint.  Without full page writes nothing mends
# them, as PostgreSQL says: such a server ends by itself, between two writes.
#
# BLOOMEXT_LIVE_ROUNDS is how many crashes there are: 3, unless it says otherwise.
# From 20 on each record of an addition is looked at, else some.
# BLOOMEXT_SEED repeats the choices of a run, though not its timing.
use strict;
use warnings;

# A small file system that nobody else sees, if the system allows it.  What is
# loaded below redirects output, so this comes first.
my $disk = $ENV{BLOOMEXT_DISK};

BEGIN
{
	my @alone = ('unshare', '--map-current-user', '--keep-caps', '--mount', 'sh', '-c',
		'mount -t tmpfs -o size=24m none /mnt && exec "$@"', 'sh');
	if (!$ENV{BLOOMEXT_DISK} && system(join(' ', map { "'$_'" } @alone) . ' true >/dev/null 2>&1') == 0)
	{
		$ENV{BLOOMEXT_DISK} = '/mnt';
		exec @alone, $^X, $0;
	}
}

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use File::Temp ();
use Test::More;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $rounds = $ENV{BLOOMEXT_LIVE_ROUNDS} || 3;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

sub any { return $_[ rand @_ ]; }

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
log_statement = none
max_prepared_transactions = 10
shared_buffers = 2MB
checkpoint_timeout = 1h
max_wal_size = 1GB
wal_keep_size = 1GB
));
$node->start;
my $live = LiveTest->new($node);
$live->install;
my $fine = '0 denied, sure, 0 missing';

# Tables, and how their filters grow: by equal layers, by ever larger ones, and by
# layers that have pending pages, where single rows wait for their bits.  Smaller
# ones would have more false positives than their fpp, as all that are so small.
my $double = 'fpp = 0.01, expected = 2000, expansion = 2';
my $wide = 'fpp = 1e-39, expected = 50000, expansion = 1';
my %filter = (
	equal => 'fpp = 0.0001, expected = 600, expansion = 1',
	double => $double,
	gone => $double,
	wide => $wide);
my @logged = ('equal', 'double', 'wide');
$live->sql(join '', map { 'CREATE ' . ($_ eq 'gone' ? 'UNLOGGED' : '') . " TABLE $_ (title text);
	CREATE INDEX ON $_ USING bloomfilter (title) WITH ($filter{$_});" } sort keys %filter);

# Settled before the server starts, so that all its WAL is of one kind.
my $full_page_writes = 'on';

# The files of filters as they are after a checkpoint, by their paths.
my %files;

sub checkpoint
{
	$live->sql('CHECKPOINT');
	my @paths = split /\n/, $live->sql(join ';', map { "SELECT pg_relation_filepath('${_}_title_idx')" } @logged);
	%files = map { $_ => slurp_file($node->data_dir . "/$_") } @paths;
}

# Of each page that was written to since then, leave what is old in one of its halves.
my $torn = 0;

sub tear_pages
{
	foreach my $path (keys %files)
	{
		open(my $file, '+<:raw', $node->data_dir . "/$path") or next;
		foreach my $at (map { $_ * 8192 } 0 .. length($files{$path}) / 8192 - 1)
		{
			my ($old, $new) = substr($files{$path}, $at, 8192);
			sysseek($file, $at, 0);
			next if sysread($file, $new, 8192) != 8192 || $new eq $old;
			my $half = any(0, 4096);
			sysseek($file, $at + $half, 0);
			syswrite($file, substr($old, $half, 4096)) == 4096 or die "could not write: $!";
			$torn++;
		}
	}
}

# End the server at once, by chance while a layer is added, or a filter flushed.
sub end_server
{
	$live->wait_for_page_lock if rand() < 0.7;
	if ($full_page_writes eq 'off') { $node->stop('immediate'); return }
	$live->kill_server;
	tear_pages();
}

sub start_server
{
	$full_page_writes = any('on', 'off');
	%files = ();
	$node->append_conf('postgresql.conf', "full_page_writes = $full_page_writes");
	$node->start;
}

# A writer's output is the log of what was acknowledged to it: single rows, batches,
# rolled back savepoints, all in one script for psql, which ends when the server
# does.
my $started = 0;
sub writer
{
	my ($server, @tables) = @_;
	my $id = ++$started;
	my $sql = '';
	foreach my $i (1 .. 3000)
	{
		my ($table, $rows) = (any(@tables), any((1) x 12, 3, 30, 60));
		my $insert = "INSERT INTO $table SELECT 't $id $i ' || g FROM generate_series(1, $rows) g;\n";
		my $undone = "SAVEPOINT s; INSERT INTO $table SELECT 'undone $id $i ' || g FROM generate_series(1, 50) g; ROLLBACK TO s;\n";
		$sql .= rand() < 0.1 ? "BEGIN; $undone $insert COMMIT;\n" : $insert;
		$sql .= "\\echo done $table $i $rows\n";
	}
	my %session = (id => $id, out => '', err => '');
	$session{run} = IPC::Run::start(
		[ 'psql', '-XqAt', '-d', $server->connstr('postgres'), '-v', 'ON_ERROR_STOP=1' ],
		'<', \$sql, '>', \$session{out}, '2>', \$session{err});
	return \%session;
}

# What was acknowledged to writers: lines of table, prefix, rows.
sub acknowledged
{
	return map { my $s = $_; map { s/^done (\w+) (\d+) (\d+)$/$1\tt $s->{id} $2 \t$3/r } $s->{out} =~ /^done \w+ \d+ \d+$/mg } @_;
}

# How many rows were acknowledged, and how many of them a filter denies.
sub lost
{
	my ($server, @lines) = @_;
	return (0, 0) unless @lines;
	my %tables = map { /^(\w+)/ => 1 } @lines;
	my @tables = sort keys %tables;
	return split /\|/, $server->sql("CREATE TEMP TABLE acked (tab text, prefix text, rows int);\n"
		. "COPY acked FROM stdin;\n" . join("\n", @lines) . "\n\\.\n"
		. 'SELECT count(*), count(*) FILTER (WHERE NOT CASE tab '
		. join(' ', map { "WHEN '$_' THEN bf_live_contains('$_', prefix || g)" } @tables)
		. ' END) FROM acked, generate_series(1, rows) AS g');
}

# Fill the newest layer of a filter until so many elements before the next one is
# due (grow.c: a sixteenth before it is full), with what is of no row any more then.
sub fill_up
{
	my ($table, $left) = @_;
	my ($room) = $live->sql("SELECT expected - expected / 16 - estimated_count FROM bf_live_layers('$table') ORDER BY layer DESC LIMIT 1");
	$live->sql("INSERT INTO $table SELECT 'fill ' || g || random() FROM generate_series(1, $room - $left) AS g;
		DELETE FROM $table WHERE title LIKE 'fill%'; VACUUM $table;") if $room > $left;
}

my ($committed, $additions) = (0, 0);
sub is_enough { return $committed > 1000 * $rounds && $additions >= 2 * $rounds; }

# A busy machine needs more rounds until there is enough to lose.
foreach my $round (1 .. 10 * $rounds)
{
	last if $round > $rounds && is_enough();
	$live->sql('TRUNCATE equal');
	$live->sql('TRUNCATE double') if $round % 7 == 0;
	fill_up('wide', 300 + int(rand(2000)));
	my %before = map { $_ => $live->layers($_) } keys %filter;
	checkpoint();
	my @sessions = map { writer($node, @logged, 'gone') } 1 .. 4;
	my $end = time + 0.2 + rand(0.4);
	while (time < $end)
	{
		IPC::Run::pump_nb($_->{run}) foreach @sessions;
		sleep(0.02);
		next if rand() > 0.05;
		any(\&checkpoint, sub { $node->psql('postgres', 'VACUUM equal, double') })->();
	}
	end_server();
	# Before the server starts again: it would inherit the pipes to them.
	foreach my $session (@sessions) { eval { IPC::Run::finish($session->{run}) }; }
	start_server();

	my ($seen, $lost) = lost($live, grep { !/^gone/ } acknowledged(@sessions));
	$committed += $seen;
	is("$lost denied, " . $live->sql(q(SELECT string_agg(look(tab), '; ') FROM unnest('{equal,double,wide}'::regclass[]) AS tab)),
		join('; ', "0 denied, $fine", $fine, $fine), "round $round: nothing is missing");
	$additions += $live->layers($_) - $before{$_} foreach @logged;

	# An unlogged table is empty after a crash; its filter is as it was made, and grows anew.
	is($live->layers('gone') . $live->sql(q(SELECT count(*), look('gone') FROM gone)),
		"10|$fine", "round $round: an unlogged filter is empty, with one layer");
	$live->sql(q(INSERT INTO gone SELECT 'after ' || g FROM generate_series(1, 20000) g));
	is($live->sql(q(SELECT look('gone'))), $fine, "round $round: and is kept up to date again");
	cmp_ok($live->layers('gone'), '>=', 3, "round $round: and grows");
}
ok(is_enough(), "there was something to lose: $committed rows, $additions layers");
diag("$torn pages were torn");
$live->is_within_fpp('after crashes', 'double');

# Whose addition was interrupted does not stay so.
$live->sql('VACUUM equal, double, wide');
is($live->sql(q(SELECT string_agg(look(tab) || pending, '; ') FROM unnest('{equal,double,wide}'::regclass[]) AS tab, bf_live_info(tab))),
	join('; ', ("${fine}0") x 3), 'VACUUM leaves nothing pending in any layer');

# A prepared transaction that added layers.
checkpoint();
$live->sql(q(BEGIN; INSERT INTO double SELECT 'prepared ' || g FROM generate_series(1, 60000) g; PREPARE TRANSACTION 'p'));
end_server();
start_server();
$live->sql(q(COMMIT PREPARED 'p'));
is($live->sql(q(SELECT count(*), look('double') FROM double WHERE title LIKE 'prepared%')),
	"60000|$fine", 'a prepared transaction that added layers is not forgotten');

# Each record of an addition.  Hashes wait in the layer that is to be followed.
$live->sql("CREATE TABLE steps (title text); CREATE INDEX ON steps USING bloomfilter (title) WITH ($wide);");
fill_up('steps', 500);
$node->backup('base');
$live->sql("INSERT INTO steps VALUES ('waits $_')") foreach 1 .. 40;
my $file = $live->sql(q(SELECT pg_relation_filenode('steps_title_idx')));
my $blocks = $live->sql(q(SELECT pg_relation_size('steps_title_idx') / current_setting('block_size')::int));
my ($from, $waiting, $batches) = ('', 0, 0);
while ($live->layers('steps') == 1 && $batches < 20)
{
	$batches++;
	$waiting = $live->sql(q(SELECT pending FROM bf_live_info('steps')));
	$from = $node->lsn('insert');
	$live->sql("INSERT INTO steps SELECT 'batch $batches ' || g FROM generate_series(1, 150) g");
}
my $to = $node->lsn('insert');
$live->sql('CHECKPOINT');
is($waiting . ', ' . $live->sql(q(SELECT pending FROM bf_live_info('steps'))), '40, 0', 'an addition flushes');
my ($dump) = run_command([ 'pg_waldump', '-p', $node->data_dir . '/pg_wal', '-s', $from, '-e', $to ]);
my @records = $dump =~ m{^rmgr: (?:Generic|XLOG|Transaction) .*?, lsn: ([0-9A-F]+/[0-9A-F]+),}mg;
diag(scalar(@records) . ' records of an addition');
my @written = $dump =~ m{ rel \d+/\d+/$file blk (\d+)}g;
my ($first) = grep { $_ == 0 || $_ >= $blocks } @written;
is($first, 0, 'the metapage comes before the pages of the new layer');
cmp_ok((grep { $_ >= $blocks } @written), '>', 0, 'which are written to');
cmp_ok(scalar @records, '>=', 20, 'it has many records');
@records = @records[ map { int($_ * $#records / 4) } 1 .. 3 ] if $rounds < 20;
foreach my $record (@records)
{
	my $copy = PostgreSQL::Test::Cluster->new('at_' . $record =~ s{/}{_}r);
	$copy->init_from_backup($node, 'base', has_streaming => 1);
	$copy->append_conf('postgresql.conf', "recovery_target_lsn = '$record'\nrecovery_target_action = pause\n");
	$copy->start;
	ok($copy->poll_query_until('postgres', q(SELECT pg_get_wal_replay_pause_state() = 'paused')), "a standby stops at $record");
	my $there = LiveTest->new($copy);
	is($there->sql(q(SELECT look('steps'))), $fine, 'nothing is missing there');
	$there->sql('SELECT pg_promote()');
	is($there->sql(q(SELECT look('steps'))), $fine, 'nor once it is promoted');
	$there->sql(q(INSERT INTO steps VALUES ('promoted'); INSERT INTO steps SELECT 'promoted ' || g FROM generate_series(1, 51000) g; DELETE FROM steps WHERE title ~ 'promoted \d'; VACUUM steps));
	is($there->sql(q(SELECT look('steps'), layers, pending FROM bf_live_info('steps'))), "$fine|3|0", 'and it goes on growing, with nothing left behind');
	$copy->stop('immediate');
}

# A full disk: the filter's file is in a small file system, which is filled but for
# so many kB.
sub fill_disk
{
	my ($kB) = @_;
	open(my $file, '>', "$disk/filler") or die "could not open: $!";
	while ((syswrite($file, 'x' x 4096) // 0) == 4096) { }
	truncate $file, (-s $file) - $kB * 1024;
	close $file;
}

# A table whose filter fills the disk; what was acknowledged is in it once there
# is room again, be it that a crash came between.
sub fill_and_insert
{
	my ($errors, $number, @lines) = (0, 0);
	foreach my $round (1 .. ($rounds < 20 ? 4 : 3 * $rounds))
	{
		fill_disk(4 * int(rand(8)));
		foreach my $i (1 .. 12)
		{
			my $rows = any(1, 30, 500, 3000, 6000);
			my $prefix = 't ' . ++$number . ' ';
			my ($out, $err) = $live->outcome("INSERT INTO full_disk SELECT '$prefix' || g FROM generate_series(1, $rows) g");
			push @lines, "full_disk\t$prefix\t$rows" if $err eq '';
			$err .= ($live->outcome('CHECKPOINT'))[1] if rand() < 0.3;
			$errors++ if $err ne '';
		}
		end_server() if $round % 2;
		unlink "$disk/filler" or die "could not unlink: $!";
		start_server() if $round % 2;
		$live->sql('CHECKPOINT');
		is((lost($live, @lines))[1] . ' lost, ' . $live->sql(q(SELECT look('full_disk'))), '0 lost, 0 denied, sure, 0 missing',
			"a disk that was full, $round: nothing is missing");
	}
	cmp_ok($errors, '>', 0, "it was: $errors errors");
	$live->sql(q(INSERT INTO full_disk SELECT 'room ' || g FROM generate_series(1, 30000) g));
	is($live->sql(q(SELECT look('full_disk'), layers >= 4 FROM bf_live_info('full_disk'))), "$fine|t", 'and the filter grows on');
	$live->is_within_fpp('on a disk that was full', 'full_disk');
}

my ($shared) = (`df -Pk /dev/shm 2>/dev/null` =~ /^\S+\s+(\d+).*\/dev\/shm$/m);
$disk //= File::Temp::tempdir('bloomext.XXXXXX', DIR => '/dev/shm', CLEANUP => 1) if $shared && $shared < 256 * 1024;
SKIP:
{
	skip 'no small file system', 1 unless $disk;
	mkdir "$disk/space" or die "could not make a directory: $!";
	$live->sql("CREATE TABLESPACE small LOCATION '$disk/space'");
	$live->sql(qq(CREATE TABLE full_disk (title text);
		CREATE INDEX ON full_disk USING bloomfilter (title) WITH ($double) TABLESPACE small;
		INSERT INTO full_disk SELECT 'first ' || g FROM generate_series(1, 100) g));
	fill_and_insert();
}

$node->stop;
done_testing();
