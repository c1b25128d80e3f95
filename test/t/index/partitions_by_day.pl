# Windows: a table partitioned by day, whose index makes each day a filter of its
# own.  Days come and go between questions, in the session that asks and in
# others, under call sites and plans that are warm; and one question to all days
# costs no more than one to each.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use Documents qw(code);
use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
max_locks_per_transaction = 1000
max_prepared_transactions = 1
));
$node->start;
my $test = LiveTest->new($node);
$test->install;

# The recipe as it is printed, where the last day is not the one of the title.
my ($recipe) = code('doc/live.md', 'sql', 'Windows by day');
$test->sql($recipe);
$test->is_sql('the recipe with a title of that day',
	q(INSERT INTO seen VALUES ('2026-01-02', 'some title'); ) . $recipe =~ s/.*(?=-- On any day)//sr, 't; t; t');

# A day's partition, by name, and where its rows are from and to.
sub day
{
	my ($table, $day) = @_;
	return ("${table}_$day", sprintf(q(FOR VALUES FROM ('2026-01-%02d') TO ('2026-01-%02d')), $day, $day + 1));
}

sub create_day
{
	my ($name, $bounds) = day(@_);
	return "CREATE TABLE $name PARTITION OF $_[0] $bounds; INSERT INTO $_[0] VALUES ('2026-01-01'::date + $_[1] - 1, 'title $_[1]')";
}

# asked() is a call site that stays warm through a transaction; q a kept plan.
$test->sql(q(
	CREATE TABLE days (day date NOT NULL, title text) PARTITION BY RANGE (day);
	CREATE INDEX days_bf ON days USING bloomfilter (title) WITH (fpp = 0.0001);
	CREATE FUNCTION asked(x text) RETURNS boolean STABLE LANGUAGE plpgsql AS
		'BEGIN RETURN bf_live_contains(''days'', x, ''title''); END'));
$test->sql(create_day('days', $_)) foreach 1 .. 4;
$test->is_sql('each day has a filter with the options of the parent', q(
	SELECT count(*), count(DISTINCT fpp), min(fpp) FROM bf_live_info('days')), '4|1|0.0001');
$test->is_sql('all of them answer', q(SELECT look('days'), bool_and(bf_live_contains('days_bf', title)) FROM days),
	'0 denied, sure, 0 missing|t');

my $prepare = q(PREPARE q AS SELECT asked($1), bf_live_contains('days', $1));
my ($one, $two, $three) = map { $test->session } 1 .. 3;
$_->ask("SET plan_cache_mode = force_generic_plan; $prepare; EXECUTE q('x')") foreach $one, $two;

# The session that asks makes and drops days itself.
is($one->ask(q(BEGIN; EXECUTE q('title 5'))), 'f|f', 'no such day yet');
is($one->ask(create_day('days', 5) . q(; EXECUTE q('title 5'))), 't|t', 'a day that this transaction made');
is($one->ask(q(SAVEPOINT s; DROP TABLE days_5; EXECUTE q('title 5'))), 'f|f', 'dropped');
is($one->ask(q(ROLLBACK TO s; EXECUTE q('title 5'))), 't|t', 'which was rolled back');
is($one->ask(q(ALTER TABLE days DETACH PARTITION days_5; EXECUTE q('title 5'))), 'f|f', 'detached');
is($one->ask(q(SELECT bf_live_contains('days_5', 'title 5'))), 't', 'but still there');
is($one->ask(q(ROLLBACK; EXECUTE q('title 5'))), 'f|f', 'all of it rolled back');

# Others do, while a transaction has asked and will again.
is($one->ask(q(BEGIN; EXECUTE q('title 6'))), 'f|f', 'a day that is still to come');
$three->ask(q(CREATE TABLE days_6 (LIKE days); INSERT INTO days_6 VALUES ('2026-01-06', 'title 6')));
$three->ask('SET lock_timeout = 1; ALTER TABLE days ATTACH PARTITION days_6 ' . (day('days', 6))[1]);
is($one->ask(q(EXECUTE q('title 6'))), 't|t', 'is attached without waiting, and has got a filter');
$three->ask('SET lock_timeout = 0');
$two->ask('BEGIN');
is($two->ask(q(EXECUTE q('title 1'))), 't|t', 'a day that is to go');
$three->start('DROP TABLE days_1');
$test->wait_for_lock('DROP TABLE%');
is($two->ask(q(EXECUTE q('title 1'))), 't|t', 'stays as long as a transaction asks for it');
$_->ask('COMMIT') foreach $one, $two;
$three->finish;
is($_->ask(q(EXECUTE q('title 1'))), 'f|f', 'then it is gone') foreach $one, $two;
is($_->ask(q(EXECUTE q('title 2'))), 't|t', 'and others are not') foreach $one, $two;

# Without waiting for those who ask.
is($one->ask(q(BEGIN; EXECUTE q('title 2'))), 't|t', 'before a day is detached concurrently');
$three->start('ALTER TABLE days DETACH PARTITION days_2 CONCURRENTLY');
$test->wait_for_lock('%CONCURRENTLY%');
is($one->ask(q(EXECUTE q('title 2'))), 't|t', 'meanwhile, where it was asked before');
is($two->ask(q(EXECUTE q('title 3'))), 't|t', 'and where it was not');
is($two->ask(q(EXECUTE q('absent'))), 'f|f', 'which can still be told "no"');
$one->ask('COMMIT');
is($three->finish, '', 'detached');
is($_->ask(q(EXECUTE q('title 2'))), 'f|f', 'and not asked any more') foreach $one, $two;
$three->ask('ALTER TABLE days ATTACH PARTITION days_2 ' . (day('days', 2))[1]);
is($_->ask(q(EXECUTE q('title 2'))), 't|t', 'attached again, with the filter that it had') foreach $one, $two;
$three->ask(q(INSERT INTO days VALUES ('2026-01-02', 'late')));
is($_->ask(q(EXECUTE q('late'))), 't|t', 'which goes on') foreach $one, $two;

# What a transaction commits can be seen before others are told which definitions
# it changed; it drops tables in between.
$test->sql(q(
	CREATE TABLE attached (day int);
	CREATE PROCEDURE watch(last int, commits boolean, INOUT denied int) LANGUAGE plpgsql AS $$
		DECLARE seen int := 0;
		BEGIN
			WHILE seen < last LOOP
				SELECT coalesce(max(day), 0) INTO seen FROM attached;
				denied := denied + (seen > 0 AND NOT bf_live_contains('days', 'title ' || seen))::int;
				IF commits THEN COMMIT; END IF;
			END LOOP;
		END $$));
$one->start('CALL watch(20, false, 0)');
$two->start('CALL watch(20, true, 0)');
foreach my $day (11 .. 20)
{
	$three->ask(create_day('apart', $day) =~ s/PARTITION OF .*?;/(LIKE days);/r =~ s/INTO apart/INTO apart_$day/r);
	$three->ask(join ';', map { "CREATE TABLE dropped_$_ ()" } 1 .. 100);
	$three->ask("BEGIN; ALTER TABLE days ATTACH PARTITION apart_$day " . (day('days', $day))[1]);
	$three->ask("INSERT INTO attached VALUES ($day); DROP TABLE " . join ',', map { "dropped_$_" } 1 .. 100);
	$three->ask("PREPARE TRANSACTION 'attach'; COMMIT PREPARED 'attach'");
}
is($one->finish, '0', 'a day that was attached a moment ago, in a transaction that asked before');
is($two->finish, '0', 'and in another one');

# A day that is named, by a plan that is kept.
is($one->ask(q(PREPARE day AS SELECT bf_live_contains('days_3', $1, 'title'); EXECUTE day('title 3'))), 't', 'one day');
is($one->ask(q(EXECUTE day('title 4'))), 'f', 'knows no other');
$three->ask(q(DROP TABLE days_3; ) . create_day('days', 3) . q(; UPDATE days_3 SET title = 'anew'));
is($one->ask(q(EXECUTE day('anew'))), 't', 'another table of that name');
is($one->ask(q(EXECUTE q('anew'))), 't|t', 'as a part of the whole');
$three->ask(q(ALTER TABLE days DETACH PARTITION days_3; DROP INDEX days_3_title_idx));
like($one->ask(q(EXECUTE day('anew'))), qr/42704/, 'one that has no filter');
is($one->ask(q(EXECUTE q('anew'))), 'f|f', 'which is no part of it any more');
$_->quit foreach $one, $two, $three;

# Four hundred days: what a question locks, reads, and costs.
my $count = 400;
$test->sql(qq(
	CREATE TABLE many (day int NOT NULL, title text) PARTITION BY RANGE (day);
	SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1)
	FROM generate_series(1, $count) i \\gexec
	CREATE INDEX ON many USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO many SELECT d, 'title ' || d || ' ' || i FROM generate_series(1, $count) d, generate_series(1, 20) i;
	CREATE FUNCTION locked() RETURNS bigint LANGUAGE sql AS
		'SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ ''^many'''));
$test->is_sql('a question to all locks each day and its filter',
	q(BEGIN; SELECT bf_live_contains('many', 'absent'); SELECT locked()), 'f; ' . (2 * $count + 2));
$test->is_sql('one to a day these two', q(BEGIN; SELECT bf_live_contains('many_7', 'absent'); SELECT locked()), 'f; 2');
$test->is_sql('all days', q(SELECT count(*) FILTER (WHERE NOT bf_live_contains('many', title)) FROM many), '0');

# More questions than a session keeps; what it forgot it finds out again.
my $all = q(SELECT sum(bf_live_contains(relid, 'title 7 1')::int + bf_live_contains(relid, 'title 7 1', 'title')::int)
	FROM (SELECT relid FROM pg_partition_tree('many') UNION ALL SELECT relid FROM pg_partition_tree('many_title_idx')) s);
$one = $test->session;
is($one->ask("$all; $all; BEGIN; $all; $all; COMMIT; $all"), join('; ', (8) x 5), 'each table and each filter');
$test->sql('ALTER TABLE many DETACH PARTITION many_7');
is($one->ask("$all; $all"), '0; 0', 'without the day that was detached');
$test->sql('ALTER TABLE many ATTACH PARTITION many_7 FOR VALUES FROM (7) TO (8)');
is($one->ask("$all; $all"), '8; 8', 'and with it again');
$one->quit;

# Both ask each filter for the same titles, in turns; the first round warms up.  The
# least of each is the one that nobody else disturbed.
my $each = join ' OR ', map { "bf_live_contains('many_$_', x, 'title')" } 1 .. $count;
my $asked = q(SELECT count(*) INTO found FROM (SELECT 'absent ' || i AS x FROM generate_series(1, 500) i OFFSET 0) s WHERE);
$test->sql(qq(
	CREATE FUNCTION compare(OUT all_days float8, OUT each_day float8) LANGUAGE plpgsql AS \$\$
	DECLARE found bigint; start timestamptz; middle timestamptz;
	BEGIN
		FOR round IN 0 .. 20 LOOP
			start := clock_timestamp();
			$asked bf_live_contains('many', x, 'title');
			middle := clock_timestamp();
			$asked $each;
			CONTINUE WHEN round = 0;
			all_days := least(all_days, extract(epoch FROM middle - start));
			each_day := least(each_day, extract(epoch FROM clock_timestamp() - middle));
		END LOOP;
	END \$\$));
my ($all_days, $each_day) = split /\|/, $test->sql('SELECT * FROM compare()');
cmp_ok($all_days, '<', 1.2 * $each_day, 'one question to all days costs no more than one to each')
  or diag "$all_days s against $each_day s";
note sprintf('%.2f of it', $all_days / $each_day);

$node->stop;
done_testing();
