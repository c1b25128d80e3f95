# What doc/operations.md says, and its own statements cannot show: which locks a statement
# takes and who waits meanwhile, line by line of its table; that its query finds what a
# concurrent build left behind, and nothing that is being built; for whom everybody waits;
# which SQLSTATEs statements fail with, each caused here; and the way to write on while
# Redis is down, by the page's own blocks.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use LiveTest;
use RedisServer;

sub blocks_of { return code('doc/operations.md', 'sql', $_[0]); }

my $page = slurp_file('doc/operations.md');
my ($setting) = $page =~ /^```sql\n(.*?)^```$/ms;
my ($locks) = $page =~ /^## Locks\n.*?^(\|.*?)\n\n/ms;
my ($left_behind) = blocks_of('REINDEX CONCURRENTLY left _ccnew');
my ($failures) = $page =~ /^### A statement fails\n.*?^(\|.*?)\n\n/ms;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nmax_locks_per_transaction = 10\ndeadlock_timeout = 10ms\n");
$node->start;
my $test = LiveTest->new($node);
$test->sql($setting);

# What keeps a statement that is CONCURRENTLY from its end, or VACUUM from the first page,
# in which something is to be frozen, and nobody else from anything.
my $to_be_frozen = q(UPDATE articles SET url = url WHERE id < 10);
my $holder = q(BEGIN; INSERT INTO articles (title) VALUES ('held'); DECLARE held CURSOR FOR SELECT FROM articles; FETCH held);

# Start a statement that no transaction may be around, and wait until it waits.
sub start_held
{
	my ($session, $statement) = @_;
	my $pid = $session->ask('SELECT pg_backend_pid()');
	$session->start($statement);
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' OR wait_event IN ('BufferPin', 'BufferCleanup') FROM pg_stat_activity WHERE pid = $pid")
	  or die "$statement does not wait";
	return $pid;
}

# Those who cannot do without the lock at once.
sub waiting
{
	my @waiting = map { $test->said("SET lock_timeout = 1; $_") =~ /ERROR:  canceling statement due to lock timeout/ ? 1 : 0 }
		q(SELECT FROM articles WHERE title = 'x'), q(INSERT INTO articles (title) VALUES ('x'));
	return { '0 0' => 'nobody', '0 1' => 'writers', '1 1' => 'all' }->{"@waiting"};
}

my $filter = $test->sql(q(SELECT 'articles_title_bf'::regclass::oid));
my @rows = map { [ map { s/^[\s`]+|[\s`]+$//gr } (split /\|/, $_, -1)[ 1 .. 4 ] ] } (split /\n/, $locks)[ 2 .. ($locks =~ tr/\n//) ];
cmp_ok(scalar @rows, '>=', 12, 'a table of statements');
foreach my $row (@rows)
{
	my ($statement, @expected) = @$row;
	my ($session, $other) = ($test->session, $test->session);
	my $is_alone = $statement =~ /^VACUUM|CONCURRENTLY/;
	my $pid = $session->ask('SELECT pg_backend_pid()');
	if ($is_alone)
	{
		$other->ask("$to_be_frozen; $holder");
		start_held($session, $statement =~ s/^VACUUM/VACUUM (FREEZE)/r);
	}
	else
	{
		$session->ask("BEGIN; $statement");
	}
	# The strongest of each, as PostgreSQL's documentation lists them.
	my @held = map { $test->sql(qq(SELECT upper(regexp_replace(regexp_replace(mode, 'Lock\$', ''), '(.)([A-Z])', '\\1 \\2', 'g')) FROM pg_locks
		WHERE pid = $pid AND relation = $_ ORDER BY array_position('{AccessExclusiveLock,ExclusiveLock,ShareRowExclusiveLock,ShareLock,ShareUpdateExclusiveLock,RowExclusiveLock,RowShareLock,AccessShareLock}', mode) LIMIT 1)) }
		"'articles'::regclass", $filter;
	is_deeply([ @held, waiting() ], \@expected, $statement);
	$other->ask('ROLLBACK') if $is_alone;
	$session->finish if $is_alone;
	$session->ask('ROLLBACK') unless $is_alone;
	$_->quit foreach $session, $other;
	$test->sql("DROP TABLE articles, filters; DROP EXTENSION bloomext; $setting") if $is_alone;
	$filter = $test->sql(q(SELECT 'articles_title_bf'::regclass::oid));
}

# Builds that are cancelled; while they go on, the query does not name them.
my ($session, $other) = ($test->session, $test->session);
foreach my $case (
	[ 'REINDEX INDEX CONCURRENTLY articles_title_bf', 'articles_title_bf_ccnew' ],
	[ 'REINDEX INDEX CONCURRENTLY articles_title_bf', 'articles_title_bf_ccnew1',
		'DROP INDEX CONCURRENTLY articles_title_bf_ccnew', 'DROP INDEX CONCURRENTLY articles_title_bf_ccnew1' ],
	[ 'CREATE INDEX CONCURRENTLY new_bf ON articles USING bloomfilter (id)', 'new_bf', 'REINDEX INDEX CONCURRENTLY new_bf' ])
{
	my ($statement, $left, @cures) = @$case;
	$other->ask($holder);
	my $pid = start_held($session, $statement);
	is($test->sql($left_behind), '', "$statement: not while it is built");
	$test->sql("SELECT pg_cancel_backend($pid)");
	like($session->finish, qr/57014/, 'it is cancelled');
	like($test->sql($left_behind), qr/^$left\|articles\|[ft]$/m, 'what it leaves is found');
	is($test->sql("SELECT bf_live_contains('articles', 'never there', 'title')"), 'f', 'and nobody is answered by it');
	$other->ask('ROLLBACK');
	next if !@cures;
	$test->sql($_) foreach @cures;
	is($test->sql($left_behind), '', "@cures");
}

# One transaction that asked, a REINDEX that waits for it, and a query behind that.
my ($waits) = blocks_of('Statements wait');
my $behind = $test->session;
my ($asker, $builder, $reader) = map { $_->ask('SELECT pg_backend_pid()') } $other, $session, $behind;
$other->ask(q(BEGIN; SELECT bf_live_contains('articles', 'x', 'title')));
start_held($session, 'REINDEX INDEX articles_title_bf');
start_held($behind, 'SELECT count(*) FROM articles');
is(join('; ', map { join '|', (split /\|/)[ 0, 3 ] } split /\n/, $test->sql($waits)),
	"$asker|{}; $builder|{$asker}; $reader|{$builder}", 'who waits for whom');
$test->sql("SELECT pg_cancel_backend($builder)");
like($behind->finish, qr/^\d+$/, 'and the others go on without the REINDEX');
$session->finish;
$other->ask('ROLLBACK');

# Each SQLSTATE of the table, but for those of Redis, and each way to it.
my %caused;
sub fails_so
{
	my ($state, $name, $said) = @_;
	like($said, qr/ERROR:  $state/, "$state: $name");
	$caused{$state} = 1;
}

$test->sql($_) foreach (blocks_of('Too many false positives'))[-1];
fails_so('23514', 'a fuller filter', $test->said(q(\set VERBOSITY sqlstate
	UPDATE filters SET f = bf_add_all(f, (SELECT array_agg('new ' || i) FROM generate_series(1, 100000) AS i)) WHERE name = 'too small')));

$_->ask(q(BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT bf_live_contains('articles', 'new', 'title'))) foreach $session, $other;
$_->ask(q(INSERT INTO articles (title) VALUES ('new'))) foreach $session, $other;
$session->ask('COMMIT');
fails_so('40001', 'two that asked, and inserted', $other->ask('COMMIT'));
$session->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM filters');
$test->sql(q(UPDATE filters SET f = bf_add(f, 'x') WHERE name = 'titles'));
fails_so('40001', 'a row of a filter that has changed', $session->ask(q(UPDATE filters SET f = bf_add(f, 'y') WHERE name = 'titles')));
$session->ask('ROLLBACK');

my @names = ('titles', 'too small');
$_->[0]->ask("BEGIN; UPDATE filters SET f = bf_add(f, 'x') WHERE name = '$_->[1]'") foreach [ $session, $names[0] ], [ $other, $names[1] ];
$_->[0]->start("UPDATE filters SET f = bf_add(f, 'x') WHERE name = '$_->[1]'") foreach [ $session, $names[1] ], [ $other, $names[0] ];
fails_so('40P01', 'two filters in opposite order', join '; ', map { $_->finish } $session, $other);
$_->ask('ROLLBACK') foreach $session, $other;

$test->sql(q(CREATE ROLE reader; GRANT SELECT ON articles TO reader;
	ALTER TABLE articles ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON articles USING (id < 10)));
fails_so('42501', 'policies hide rows', $session->ask(q(SET ROLE reader; SELECT bf_live_contains('articles', 'x', 'title'))));
is($session->ask('SELECT count(*) FROM bf_stored_filters()'), 0, 'filters that a role may not read');
$session->ask('RESET ROLE');
$test->sql('GRANT pg_read_all_data TO reader');
is($session->ask('SET ROLE reader; SELECT sum(filters) FROM bf_stored_filters(); RESET ROLE'), 2, 'one that may read all data');
$test->sql('ALTER TABLE articles DISABLE ROW LEVEL SECURITY');

# Locks of a session stay when the transaction fails that wanted more than there is room for.
$test->sql(q(CREATE TABLE seen (day int, title text) PARTITION BY LIST (day); CREATE INDEX ON seen USING bloomfilter (title)));
$test->sql("CREATE TABLE seen_$_ PARTITION OF seen FOR VALUES IN ($_)") foreach 1 .. 20;
$session->ask('SELECT count(pg_advisory_lock(i)) FROM generate_series(1, 1000000) AS i');
fails_so('53200', 'a question to many partitions', $other->ask(q(SELECT bf_live_contains('seen', 'x', 'title'))));
is($other->ask(q(SELECT bf_live_contains('seen_7', 'x', 'title'))), 'f', 'but not one to a single one');
$session->ask('SELECT pg_advisory_unlock_all()');

# Plans ask from PostgreSQL 15 on.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 150000)
{
	$session->ask(q(ALTER INDEX articles_title_bf SET (plans = on);
		BEGIN; DECLARE reads CURSOR FOR SELECT FROM articles WHERE title = 'never there'; FETCH reads));
	fails_so('55006', 'a cursor of this session', $session->ask('REINDEX INDEX articles_title_bf'));
	$session->ask('ROLLBACK');
}
else
{
	$caused{'55006'} = 1;
}
is(join(' ', sort keys %caused), join(' ', sort { $a cmp $b } keys %{ { map { $_ => 1 } $failures =~ /^\| `(\w{5})`/mg } }), 'that is all of the table');
$_->quit foreach $session, $other, $behind;

# Redis goes down, and comes back empty.
SKIP:
{
	skip 'redis-server is not installed', 1 unless RedisServer->available;
	my $redis = RedisServer->new(port => RedisServer::free_port());
	my ($trigger, $disable, $enable) = blocks_of('Redis is down');
	$test->sql(s/port '6379'/port '$redis->{port}'/r) foreach blocks_of('Redis says no filter');
	$test->sql($trigger);
	my $insert = sub { return $test->said("\\set VERBOSITY sqlstate\nINSERT INTO articles (title) VALUES ('$_[0]')") };
	is($insert->('before'), '', 'rows are written');
	$redis->stop;
	like($insert->('refused'), qr/ERROR:  (?:08001|08006|38000)/, 'none while Redis is down');
	$test->sql($disable);
	is($insert->('meanwhile'), '', 'but without the trigger');
	like($test->said($enable), qr/ERROR/, 'no way back before Redis is back');
	is($insert->('still'), '', 'which leaves writers as they were');
	$redis->start;
	$test->sql($enable);
	is($insert->('after'), '', 'then they go on');
	is($test->sql(q(SELECT bf_redis_contains_each('cache', 'titles', ARRAY['before', 'refused', 'meanwhile', 'still', 'after']))),
		'{t,f,t,t,t}', 'and the filter has all rows');
}

$node->stop;
done_testing();
