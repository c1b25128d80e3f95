# Which of several filters of a table is asked, and a filter that takes the place of another.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest qw(fresh %kinds);

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $fails = sub { return $test->fails(@_); };

# Several filters of one table, and arrays.
$sql->(q(
	CREATE TABLE sev (id int, title text, url text, n int);
	INSERT INTO sev SELECT g, 'title ' || g, 'url ' || g, g FROM generate_series(1, 100) g;
	CREATE INDEX sev_title ON sev USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	CREATE INDEX sev_again ON sev USING bloomfilter (title) WITH (expected = 1000, fpp = 0.5)));
$is_sql->('several filters: two over the same column', q(SELECT denied('sev'), certainty('sev'), denied('sev', named => 'sev_again')), '0|sure|0');
$sql->(q(DROP INDEX sev_again; CREATE INDEX sev_url ON sev USING bloomfilter (url) WITH (expected = 1000, fpp = 0.0001);
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sev_title'::regclass));
$fails->('several filters: an invalid one among two', q(SELECT bf_live_contains('sev', 'title 7')), '42P08');
$sql->('CREATE INDEX sev_n ON sev USING bloomfilter (n) WITH (expected = 1000, fpp = 0.0001); DROP INDEX sev_url');
$is_sql->('several filters: the one for the kind of the element', q(SELECT bf_live_contains('sev', 'title 7'), bf_live_contains('sev', 'no'),
	bf_live_contains('sev', 7), bf_live_contains('sev', 7777)), 't|t|t|f');
$sql->('CREATE INDEX sev_url ON sev USING bloomfilter (url) WITH (expected = 1000, fpp = 0.0001)');
$is_sql->('several filters: named by column', q(SELECT bf_live_contains('sev', 'no', 'title'), bf_live_contains('sev', 'no', 'url'),
	bf_live_contains('sev', 'url 7', 'url')), 't|f|t');
$is_sql->('several filters: an expression is named by its index', q(CREATE INDEX sev_lower ON sev USING bloomfilter (lower(title)) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO sev (title) VALUES ('UPPER'); SELECT bf_live_contains('sev', 'upper', 'sev_lower'), bf_live_contains('sev', 'UPPER', 'sev_lower')), 't|f');
$fails->("several filters: $_->[0]", "SELECT bf_live_contains('sev', 'x', '$_->[0]')", $_->[1]) foreach [ 'id', '42704' ], [ 'nothing', '42703|42704' ];
$is_sql->('several filters: NULL', q(SELECT bf_live_contains('sev', NULL::text) IS NULL, bf_live_contains(NULL, 'x'::text, 'url') IS NULL), 't|t');
$is_sql->('arrays', q(SELECT bf_live_contains_each('sev', '{url 1,no,NULL,url 100}'::text[], 'url'), bf_live_contains_all('sev', '{url 1,NULL}'::text[], 'url'),
	bf_live_contains_all('sev', '{url 1,no}'::text[], 'url'), bf_live_contains_all('sev', '{}'::text[], 'url'), bf_live_contains_each('sev', '{1,2,7777}'::int[])),
	'{t,f,NULL,t}|t|f|t|{t,t,f}');
$is_sql->('expected is a large number', q(CREATE TABLE vastly (title text); CREATE INDEX vastly_bf ON vastly USING bloomfilter (title)
	WITH (expected = 3000000000, fpp = 0.5); SELECT expected FROM bf_live_info('vastly')), '3000000000');
$fails->("expected = $_", "CREATE INDEX ON vastly USING bloomfilter (title) WITH (expected = $_)", '22023') foreach '1.5', '-1', '9007199254740994';

# The index is swapped for another while it is looked for.
my $space = $node->basedir . '/space';
mkdir $space or die "$space: $!";
$sql->("CREATE TABLESPACE space LOCATION '$space'");
$sql->(fresh('sw', $kinds{small}) . 'CREATE INDEX sw_between ON sw (id); CREATE TABLE unrelated ()');
my ($old, $reindex, $move, $reader) = map { $test->session } 1 .. 4;
$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM unrelated');
$reindex->start('REINDEX INDEX CONCURRENTLY sw_bf');
$test->wait_for_lock('REINDEX%', 'virtualxid');
$move->ask('BEGIN; ALTER INDEX sw_between SET TABLESPACE space');
$reader->start(q(SELECT bf_live_contains('sw', 'row 7'), bf_live_contains('sw', 'absent')));
$test->wait_for_lock('SELECT bf_live_contains%', 'relation');
$old->ask('COMMIT');
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_index WHERE indexrelid::regclass::text = 'sw_bf_ccold' AND NOT indisvalid));
$move->ask('COMMIT');
is($reader->finish, 't|f', 'an index that is swapped meanwhile');
$reindex->finish;
$_->quit foreach $old, $reindex, $move, $reader;

$node->stop;
done_testing();
