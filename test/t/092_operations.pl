# What doc/operations.md says, and its own statements cannot show: which locks a statement
# takes and who waits meanwhile, line by line of its table; and that its query finds what
# a concurrent build left behind, and nothing that is being built.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest;

my $page = slurp_file('doc/operations.md');
my ($setting) = $page =~ /^```sql\n(.*?)^```$/ms;
my ($locks) = $page =~ /^## Locks\n.*?^(\|.*?)\n\n/ms;
my ($left_behind) = $page =~ /^### REINDEX CONCURRENTLY left.*?^```sql\n(.*?)^```$/ms;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
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
	$node->poll_query_until('postgres', "SELECT wait_event_type IN ('Lock', 'BufferPin') FROM pg_stat_activity WHERE pid = $pid")
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
	[ 'REINDEX INDEX CONCURRENTLY articles_title_bf', 'articles_title_bf_ccnew', 'DROP INDEX CONCURRENTLY articles_title_bf_ccnew' ],
	[ 'CREATE INDEX CONCURRENTLY new_bf ON articles USING bloomfilter (id)', 'new_bf', 'REINDEX INDEX CONCURRENTLY new_bf' ])
{
	my ($statement, $left, $cure) = @$case;
	$other->ask($holder);
	my $pid = start_held($session, $statement);
	is($test->sql($left_behind), '', "$statement: not while it is built");
	$test->sql("SELECT pg_cancel_backend($pid)");
	like($session->finish, qr/57014/, 'it is cancelled');
	like($test->sql($left_behind), qr/^$left\|articles\|[ft]$/, 'what it leaves is found');
	is($test->sql("SELECT bf_live_contains('articles', 'never there', 'title')"), 'f', 'and nobody is answered by it');
	$other->ask('ROLLBACK');
	$test->sql($cure);
	is($test->sql($left_behind), '', $cure);
}
$_->quit foreach $session, $other;

$node->stop;
done_testing();
