# False alarms of gates: how often "maybe" was wrong.
#
# Of a table whose rows were never deleted, there are exactly as many as questions of
# which bf_live_contains says "maybe", and a plan without filters finds no row; EXPLAIN
# ANALYZE and bf_live_info both say so.  What is not known is not counted: the child
# checks something else, or scans a part of the table.
#
# Counts are the filter's file's.  VACUUM warns where there are far more than promised,
# as of deleted rows; a rebuilt filter begins anew.  From PostgreSQL 17 on, other
# sessions' are counted, too.
#
# BLOOMEXT_QUESTIONS is the number of questions: 100,000, unless it says otherwise.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $questions = $ENV{BLOOMEXT_QUESTIONS} || 100000;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', qq(
fsync = off
jit = off
autovacuum = off
max_parallel_workers_per_gather = 0
enable_hashjoin = off
enable_mergejoin = off
enable_material = off
enable_memoize = off
));
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
plan skip_all => 'no gates before PostgreSQL 15' if $version < 150000;
my $test = LiveTest->new($node);
$test->install;
$test->sql(qq(
	CREATE TABLE t AS SELECT g AS e, 1 AS one FROM generate_series(1, 100000) AS g;
	CREATE INDEX t_btree ON t (e);
	CREATE INDEX t_filter ON t USING bloomfilter (e) WITH (expected = 100000, fpp = 0.02, plans = on);
	-- One in ten is there.
	CREATE TABLE asked AS SELECT CASE WHEN g % 10 = 0 THEN 1 + g % 100000 ELSE 100000 + g END AS e FROM generate_series(1, $questions) AS g;
	VACUUM ANALYZE));

my $explained = 'EXPLAIN (ANALYZE, TIMING off, COSTS off)';
my $join = 'SELECT count(*) FROM asked AS a WHERE NOT EXISTS (SELECT FROM t WHERE t.e = a.e)';
my $counts = "SELECT surely_absent, confirmed, false_alarms FROM bf_live_info('t')";

# What sessions say, each statement of which is in the same session.
sub in_session { my @sql = @_; return split /\n/, $test->sql(join '; ', @sql); }

sub number { my ($name, $said) = @_; return $said =~ /\Q$name\E: (\d+)/ ? $1 : undef; }

is($test->sql($counts), '0|0|0', 'nothing is counted of what was not asked');
my $said = join "\n", in_session("$explained $join", $counts);
my ($info) = $said =~ /^(\d+\|\d+\|\d+)$/m;

# The truth, by a plan without filters, and the answers.
my $truth = join '|', map { $test->sql(qq(
	SET bloomext.enable_gate = off; SET enable_hashjoin = on;
	SELECT count(*) FROM (SELECT e, bf_live_contains('t', e) AS maybe FROM asked) AS a WHERE $_)) }
  'NOT maybe', 'maybe AND e IN (SELECT e FROM t)', 'maybe AND NOT e IN (SELECT e FROM t)';
is(number('Asked', $said), $questions, 'all are asked');
is($info, $truth, 'false alarms of all questions are those that a plan without filters tells');
is(number('False Alarms', $said), (split /\|/, $truth)[2], 'EXPLAIN says the same');
cmp_ok(number('False Alarms', $said), '>', $questions / 200, 'some are wrong');

my @twice = in_session($join, $counts, $join, $counts);
my ($once, $then) = map { (split /\|/)[2] } grep { /\|/ } @twice;
is($then - $once, (split /\|/, $truth)[2], 'each statement adds its own');

# What is not known is not counted.
my $by_scan = 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;';
my $absent = $test->sql("SELECT min(g) FROM generate_series(100001, 100100) AS g WHERE NOT bf_live_contains('t', g)");
like(join("\n", in_session($by_scan, "$explained SELECT count(*) FROM t WHERE e = $absent")), qr/Surely Absent: 1/, 'a constant is asked again when the plan is executed');
foreach my $case (
	[ 'the child checks something else', 'SELECT count(*) FROM asked AS a WHERE NOT EXISTS (SELECT FROM t WHERE t.e = a.e AND t.one = 1)' ],
	[ 'the planner asks of constants first', "SELECT count(*) FROM t WHERE e = $absent", $by_scan ],
	[ 'a parallel scan sees a part of the table', q(SELECT count(*) FROM t WHERE e = 100007),
		"SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; $by_scan" ])
{
	my ($what, $query, $set) = @$case;
	my $before = $test->sql($counts);
	my @all = in_session(($set // '') . " $counts", "$explained $query", $counts);
	my ($first, $last) = (grep { /^\d+\|/ } @all)[ 0, -1 ];
	is($last, $first, "$what: not counted");
	unlike("@all", qr/False Alarms/, "$what: not said");
}
$test->sql('CREATE TABLE twice AS SELECT e, one FROM t WHERE e <= 1000; CREATE INDEX ON twice (e);
	CREATE INDEX ON twice USING bloomfilter (e, e) WITH (plans = on); VACUUM ANALYZE twice');
my $of_twice = join "\n", in_session("$explained SELECT (SELECT one FROM twice WHERE e = g AND one = g + 1) FROM generate_series(1, 60) AS g");
like($of_twice, qr/Asked: 60/, 'a filter that has a column twice is asked');
unlike($of_twice, qr/False Alarms/, 'nor is what such a filter does not check taken for its equality');
my ($first, $last) = (grep { /\|/ } in_session($counts,
	"BEGIN; DECLARE c SCROLL CURSOR FOR $join; FETCH LAST FROM c; FETCH BACKWARD ALL FROM c; COMMIT", $counts))[ 0, -1 ];
is((split /\|/, $last)[2] - (split /\|/, $first)[2], (split /\|/, $truth)[2], 'a cursor counts once');

# Another session's are counted where there is shared memory for it.
my $others = $test->sql($counts);
$version >= 170000 ? isnt($others, '0|0|0', 'counts are the server\'s') : is($others, '0|0|0', 'counts are the session\'s');

# VACUUM warns of them.
sub vacuum
{
	my ($query) = @_;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "$query; VACUUM t", stdout => \$out, stderr => \$err);
	return $err;
}
$test->sql('TRUNCATE asked; INSERT INTO asked SELECT 100000 + g FROM generate_series(1, 20000) AS g; VACUUM ANALYZE asked');
unlike(vacuum($join), qr/was wrong/, 'as many as promised are no reason to warn');
$test->sql('DELETE FROM t WHERE e > 80000');
$test->sql('TRUNCATE asked; INSERT INTO asked SELECT 80000 + g % 20000 + CASE WHEN g % 2 = 0 THEN 0 ELSE 50000 END FROM generate_series(1, 40000) AS g; VACUUM ANALYZE asked, t');
like(vacuum("$join; $join"), qr/live filter "t_filter" was wrong in 0\.\d+ of its answers.*REINDEX INDEX CONCURRENTLY public\.t_filter/s,
	'hashes of deleted rows are false alarms');
my ($kept, $left) = (grep { /\|/ } in_session($join, $counts, 'BEGIN; REINDEX INDEX t_filter; ROLLBACK', $counts))[ 0, -1 ];
is($left, $kept, 'counts outlive a rebuild that is undone');
is((grep { /\|/ } in_session($join, 'REINDEX INDEX t_filter', $counts))[-1], '0|0|0', 'a rebuilt filter begins anew');
unlike(vacuum($join), qr/was wrong/, 'and is as good as promised');

my $of_temporary = "SELECT surely_absent + confirmed + false_alarms, 'counts' FROM bf_live_info('emptied')";
is(join(' ', grep { /counts/ } in_session(q{CREATE TEMP TABLE emptied (e int) ON COMMIT DELETE ROWS;
		CREATE INDEX ON emptied (e); CREATE INDEX ON emptied USING bloomfilter (e) WITH (expected = 10000, fpp = 0.02, plans = on)},
	'BEGIN; INSERT INTO emptied SELECT generate_series(1, 10000); ANALYZE emptied',
	'SELECT count(*) FROM asked AS a WHERE NOT EXISTS (SELECT FROM emptied AS t WHERE t.e = a.e)', $of_temporary, 'COMMIT', $of_temporary)),
	'40000|counts 0|counts', 'so does one that is emptied in place');

$node->stop;
done_testing();
