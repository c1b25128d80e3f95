# Elements that come to a pending page while others flush it, or add a layer, are found.
#
# One writes a page, and is stopped there by WAL that has no room: a holder commits, and
# is stopped with the lock to write WAL out, which commit_delay keeps for a while; it
# has left so little room that no image of a page fits in.  Another one, who is to be
# overtaken, waits for that page, and is stopped, too.  Then only he is.  With checksums
# (18's default) a hint would write WAL, so that who looks on waited, too.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use Time::HiRes qw(sleep);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
autovacuum = off
fsync = on
synchronous_commit = off
commit_siblings = 0
wal_buffers = 32kB
wal_writer_delay = 10s
checkpoint_timeout = 1h
));
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
$node->start;
my $test = LiveTest->new($node);
$test->install;

# Layers of 132 pages, and 4 that take up to 6 elements at once.
$test->sql(q(
	CREATE TABLE waiting (title text);
	CREATE INDEX waiting_bf ON waiting USING bloomfilter (title) WITH (expected = 300000, expansion = 1, fpp = 0.000001);
	INSERT INTO waiting SELECT 'fill ' || i FROM generate_series(1, 260000) AS i;
	CREATE PROCEDURE let_wait(name text, number int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. number LOOP
			INSERT INTO waiting SELECT format('%s %s %s', name, i, j) FROM generate_series(1, 6) AS j;
			COMMIT;
		END LOOP;
	END $$));
sub pending { return $test->sql(q(SELECT pending FROM bf_live_info('waiting'))); }
sub missing { return $test->sql(q(SELECT count(*) FROM waiting WHERE title !~ '^(fill|grow)' AND NOT bf_live_contains('waiting', title))); }
sub insert { my ($name, $rows) = @_; return "INSERT INTO waiting SELECT '$name ' || i FROM generate_series(1, $rows) AS i"; }

my (%session, %pid);
foreach my $name ('holder', 'first', 'second', 'beside')
{
	$session{$name} = $test->session;
	$pid{$name} = $session{$name}->ask('SELECT pg_backend_pid()');
}

# Wait until a session waits for a lock, but not for ever.  From 19 on a page's lock has
# a name for each mode, and a type of its own.
sub waits
{
	my ($name, $lock) = @_;
	foreach (1 .. 100)
	{
		return 1 if $session{beside}->ask("SELECT wait_event FROM pg_stat_get_activity($pid{$name}) WHERE wait_event_type IN ('LWLock', 'Buffer')") =~ /^$lock$/;
		last if $session{$name}->is_done;
		sleep(0.02);
	}
	return 0;
}

# Have the first session stop as it commits, and the second one at a page of his.  The
# holder may be stopped too soon, or too late: try that a few times.
sub overtake
{
	my ($prepare, $script) = @_;
	foreach my $turn (1 .. 20)
	{
		$prepare->($turn);
		$test->sql('CHECKPOINT');
		$session{holder}->ask(q(SET synchronous_commit = on; SET commit_delay = 100000;
			BEGIN; SELECT 1 FROM pg_logical_emit_message(true, '', repeat(' ', 200000))));
		$session{holder}->start('COMMIT');
		sleep(0.005 * $turn);
		kill 'STOP', $pid{holder};
		$session{first}->start('COMMIT');
		my $waits = waits('first', 'WALWrite');
		$session{second}->start($script);
		$waits &&= waits('second', 'Buffer(Content|Exclusive|Shared)');
		kill 'STOP', $pid{second} if $waits;
		kill 'CONT', $pid{holder};
		$session{$_}->finish foreach 'holder', 'first';
		return 1 if $waits;
		$session{second}->finish;
	}
	return 0;
}

sub go_on
{
	kill 'CONT', $pid{second};
	return $session{second}->finish;
}

# A flush is overtaken when it has copied what waits, and is about to set the bits: what
# has come since is not cut off with what was copied.
ok(overtake(sub {
			my ($turn) = @_;
			# All but the flush is done, lest VACUUM be held up before that.
			$test->sql("CALL let_wait('copied $turn', 20); CHECKPOINT; VACUUM (INDEX_CLEANUP off, FREEZE) waiting");
			$session{first}->ask('BEGIN; ' . insert("many $turn", 2000));
		}, 'VACUUM waiting'), 'a flush is held up');
$test->sql(q(CALL let_wait('meanwhile', 3)));
is(go_on(), '', 'it goes on');
is(pending(), 18, 'what has come meanwhile waits yet');
is(missing(), 0, 'nothing is missing');

# Who lets elements wait is overtaken by one who adds a layer, and flushes the one before
# for good.
$test->sql(q(CALL let_wait('waits', 290)));
cmp_ok(pending(), '>=', 1700, 'pages are almost full');
ok(overtake(sub {
			my ($turn) = @_;
			$session{$_}->ask('BEGIN; ' . insert("$_ $turn", 6)) foreach 'first', 'second';
		}, 'COMMIT'), 'one is held up at a pending page');
is($test->layers('waiting'), 1, 'of the only layer');
$test->sql(insert('grow', 60000));
is($test->layers('waiting'), 2, 'a layer is added');
is(go_on(), '', 'he goes on');
is(missing(), 0, 'nothing is missing');
is($test->sql(q(VACUUM waiting; SELECT look('waiting'))), '0 denied, sure, 0 missing', 'nor after the next flush');

$_->quit foreach values %session;
$node->stop;
done_testing();
