# Gates against a table that has no filter.  Two tables get the same rows and the same
# indexes, but for the filters of one, which are of one column and of two or three.
# Whatever is asked of both, the same is said: by joins, subqueries, prepared statements
# and functions in PL/pgSQL; over tables of no page, of one and of more; by an index, or
# by scans of the whole table; while rows come and go, in subtransactions that are
# rolled back, and filters are made anew.
#
# All of a round is run by one session, in which gates learn, and pause.  So there
# must be many questions, and many scans that were not asked for.
#
# BLOOMEXT_ORACLE_SECONDS is how long it runs: 20, unless it says otherwise; longer
# where a busy machine has seen too little by then.
# BLOOMEXT_SEED repeats the choices of a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use Time::HiRes qw(time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $seconds = $ENV{BLOOMEXT_ORACLE_SECONDS} || 20;
my $seed = $ENV{BLOOMEXT_SEED} || int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

sub any { return $_[ rand @_ ]; }
sub chance { return rand() < shift; }

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\njit = off\nmax_parallel_workers_per_gather = 0\n");
$node->start;
plan skip_all => 'no gates before PostgreSQL 15' if $node->safe_psql('postgres', 'SHOW server_version_num') < 150000;
my $test = LiveTest->new($node);
$test->install;

# What is asked for: values of which a share is there, for a table of so many rows.
sub tables
{
	my ($rows, $absent, $bare) = @_;
	return join '', "
		DROP TABLE IF EXISTS sought; DROP TABLE IF EXISTS filtered CASCADE; DROP TABLE IF EXISTS bare CASCADE;
		CREATE TABLE sought AS SELECT g AS n, CASE WHEN random() < $absent THEN $rows ELSE 0 END + 1 + floor(random() * $rows)::int AS id,
			NULL::text AS title FROM generate_series(1, 300) AS g;
		UPDATE sought SET title = 'title ' || id WHERE n % 50 <> 0;",
	  map({ "CREATE TABLE $_ (id int, title text, kind int);
		INSERT INTO $_ SELECT g, 'title ' || g, g % 3 FROM generate_series(1, $rows) AS g;" .
		  ($bare ? '' : "CREATE INDEX ON $_ (title); CREATE INDEX ON $_ (id);") } 'filtered', 'bare'),
	  'CREATE INDEX title_bf ON filtered USING bloomfilter (title) WITH (fpp = 0.001, plans = on' . any('', '', ', absent = 0.9') . ');
		CREATE INDEX id_bf ON filtered USING bloomfilter (id) WITH (fpp = 0.001, plans = on);
		CREATE INDEX both_bf ON filtered USING bloomfilter (' . any('id, title', 'title, id', 'id, title, kind', 'id, (lower(title))', '(kind + 1), title, id') . ') WITH (fpp = 0.001, plans = on' . any('', ', absent = 0.5') . ');', any('', 'VACUUM ANALYZE;', 'ANALYZE;');
}

# The functions of a table: statements of one row, over and over.
sub functions
{
	my ($table) = @_;
	return "
		CREATE OR REPLACE FUNCTION $table\_rows(first int, last int) RETURNS bigint LANGUAGE plpgsql AS \$\$
		DECLARE s record; r record; said bigint := 0;
		BEGIN
			FOR s IN SELECT * FROM sought WHERE n BETWEEN first AND last ORDER BY n LOOP
				SELECT count(*) AS c, sum(id) AS i INTO r FROM $table WHERE title = s.title;
				said := said * 7 % 1000003 + r.c + coalesce(r.i, 0);
				PERFORM FROM $table WHERE id = s.id AND kind = 1;
				said := said + found::int;
				SELECT min(t.kind) AS kind INTO r FROM sought o JOIN $table t USING (title) WHERE o.n = s.n;
				said := said + coalesce(r.kind, 5);
				IF EXISTS (SELECT FROM $table WHERE title = 'nowhere' OR id = s.id) THEN said := said + 11; END IF;
			END LOOP;
			RETURN said;
		END \$\$;
		PREPARE $table\_by_title (text) AS SELECT id, kind FROM $table WHERE title = \$1 ORDER BY id, kind;
		PREPARE $table\_by_both (int, text) AS SELECT count(*) FROM $table WHERE id = \$1 AND title = 'title 7' OR title = \$2;
		PREPARE $table\_by_pair (bigint, text) AS SELECT count(*), max(kind) FROM $table WHERE title = \$2 AND id = \$1;
		PREPARE $table\_polled (int) AS SELECT count(*) FROM $table WHERE kind = \$1 AND title = 'urgent';
		PREPARE $table\_join (int) AS SELECT s.n, t.id FROM sought s LEFT JOIN $table t USING (title) WHERE s.n <= \$1 ORDER BY 1, 2;\n";
}

# A question, of which both tables have to say the same.
sub question
{
	my $id = 1 + int(rand(400));
	my $rows = any(1, 2, 30, 300);
	return any(
		"SELECT s.n FROM sought s WHERE n <= $rows AND NOT EXISTS (SELECT FROM %s t WHERE t.title = s.title) ORDER BY 1",
		"SELECT s.n, (SELECT sum(t.kind) FROM %s t WHERE t.title = s.title) FROM sought s WHERE n <= $rows ORDER BY 1",
		"SELECT s.n FROM sought s WHERE n <= $rows AND EXISTS (SELECT FROM %s t WHERE t.id = s.id AND t.kind < 2 OFFSET 0) ORDER BY 1",
		"SELECT s.n, l.id FROM sought s, LATERAL (SELECT t.id FROM %s t WHERE t.title = s.title ORDER BY id LIMIT 1) l WHERE n <= $rows ORDER BY 1, 2",
		"SELECT s.n, t.id FROM sought s LEFT JOIN %s t ON t.id = s.id AND t.title = s.title WHERE s.n <= $rows ORDER BY 1, 2",
		"SELECT s.n FROM sought s WHERE n <= $rows AND NOT EXISTS (SELECT FROM %s t WHERE t.title = s.title AND s.id = t.id) ORDER BY 1",
		"SELECT s.n, (SELECT max(t.kind) FROM %s t WHERE t.id = s.id AND lower(t.title) = s.title) FROM sought s WHERE n <= $rows ORDER BY 1",
		"SELECT s.n, t.id FROM sought s LEFT JOIN %s t ON t.title = s.title AND t.kind = s.n % 3 AND t.id = s.id AND t.kind + 1 = s.n % 3 + 1 WHERE s.n <= $rows ORDER BY 1, 2",
		"SELECT s.n FROM sought s WHERE n <= $rows AND (s.id, s.title) IN (SELECT id, title FROM %s) ORDER BY 1",
		"SELECT count(*) FROM %s WHERE id = $id AND title = 'title $id' AND kind = $id % 3", "SELECT count(*) FROM %s WHERE title = 'title $id' AND id = $id + 1",
		"SELECT count(*) FROM %s WHERE (id, title) IN (($id, 'title $id'), ($id, 'title 1'))", "EXECUTE %s_by_pair($id, 'title $id')", "EXECUTE %s_by_pair($id, NULL)",
		"SELECT id FROM %s WHERE title = 'title $id' ORDER BY 1", "SELECT kind FROM %s WHERE title = 'nowhere $id'",
		"SELECT %s_rows($id % 290, $id % 290 + $rows)",
		"EXECUTE %s_by_title('title $id')", "EXECUTE %s_by_title('nowhere $id')", "EXECUTE %s_by_both($id, 'title $id')",
		"EXECUTE %s_polled($id % 3)", "EXECUTE %s_join($rows)");
}

# A change, of both.
sub change
{
	my ($next) = @_;
	my $id = 1 + int(rand(400));
	return any(
		"INSERT INTO %s SELECT g, 'title ' || g, 1 FROM generate_series($next, $next + $id % 40) AS g",
		"INSERT INTO %s SELECT id, title, 2 FROM sought WHERE n = $id % 300", "INSERT INTO %s VALUES (0, 'urgent', $id % 3)",
		"DELETE FROM %s WHERE id % 7 = $id % 7", "UPDATE %s SET title = 'title ' || id + 1 WHERE id % 20 = $id % 20", "UPDATE %s SET kind = 1 - kind WHERE id < $id");
}

# A step of a round: a question, or what changes the tables, the plans or the filters.
my $in_transaction;
sub step
{
	my $chance = rand();
	return [ question() ] if $chance < 0.8;
	if ($chance < 0.9)
	{
		my $change = change(500 + int(rand(500)));
		return [ undef, map { $change =~ s/%s/$_/gr } 'filtered', 'bare' ];
	}
	return [ undef, 'SET enable_' . any('indexscan', 'bitmapscan', 'indexonlyscan', 'seqscan', 'hashjoin', 'mergejoin', 'memoize') . ' = ' . any('on', 'off') ] if $chance < 0.94;
	return [ undef, 'SET plan_cache_mode = ' . any('auto', 'auto', 'force_generic_plan', 'force_custom_plan') ] if $chance < 0.95;
	if ($in_transaction)
	{
		$in_transaction = 0 if chance(0.5);
		return [ undef, $in_transaction ? 'SAVEPOINT s' : any('COMMIT', 'ROLLBACK') ];
	}
	$in_transaction = chance(0.6);
	return [ undef, 'BEGIN ISOLATION LEVEL ' . any('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE') ] if $in_transaction;
	return [ undef, any('VACUUM ANALYZE filtered, bare', 'REINDEX INDEX title_bf', 'REINDEX INDEX CONCURRENTLY id_bf', 'ALTER INDEX title_bf SET (plans = off)',
		'ALTER INDEX title_bf SET (plans = on)', 'REINDEX INDEX both_bf', 'ALTER INDEX both_bf SET (plans = ' . any('on', 'off') . ')', 'DROP INDEX title_bf; CREATE INDEX title_bf ON filtered USING bloomfilter (title) WITH (plans = on)', 'TRUNCATE filtered, bare') ];
}

# Rounds.
my ($rounds, $compared, $asked, $skipped) = (0, 0, 0, 0);
my $until = time + $seconds;
my @wrong;
sub is_enough { return time >= $until && ($rounds >= 100 || ($rounds >= 10 && $asked && $skipped)); }
until (is_enough() || @wrong)
{
	my $rows = any(1, 20, 300, 300, 3000);
	my $setup = tables($rows, any(0, 0.1, 0.5, 0.9, 1), chance(0.3)) . functions('filtered') . functions('bare');
	$in_transaction = 0;
	my @steps = map { step() } 1 .. 150;
	my @questions;
	my $script = $setup . "SET enable_hashjoin = off; SET enable_mergejoin = off;\n";
	foreach my $step (@steps)
	{
		my ($question, @changes) = @$step;
		$script .= join('', map { "$_;\n" } @changes);
		next unless defined $question;
		push @questions, $question;
		foreach my $table ('filtered', 'bare')
		{
			$script .= "\\echo <$#questions $table>\n" . $question =~ s/%s/$table/gr . ";\n";
		}
	}
	$script .= "COMMIT;\n\\echo <counts>\nSET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;\n"
	  . "EXPLAIN (ANALYZE, TIMING off) SELECT (SELECT count(*) FROM filtered t WHERE t.title = s.title) FROM sought s;\n";
	my ($status, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; SELECT FROM setseed(" . rand() . ");\n$script", on_error_stop => 1);
	is($status, 0, 'a round runs') or diag("$err\n");
	last if $status;
	my %said;
	my $now = '';
	foreach my $line (split /\n/, $out)
	{
		if ($line =~ /^<(.*)>$/) { $said{ $now = $1 } = ''; next; }
		$said{$now} .= "$line\n" if $now;
	}
	foreach my $i (0 .. $#questions)
	{
		push @wrong, "$questions[$i]\n$said{\"$i filtered\"}---\n$said{\"$i bare\"}" if $said{"$i filtered"} ne $said{"$i bare"};
	}
	$compared += @questions;
	$asked += $1 if $said{counts} =~ /Asked: (\d+)/;
	$skipped += $1 if $said{counts} =~ /Skipped: (\d+)/;
	$rounds++;
}
is_deeply(\@wrong, [], 'the table with filters says what the one without says') or diag "@wrong[0 .. 0]";
note "$rounds rounds, $compared comparisons; of their last statements $asked scans were asked for, $skipped were not";
cmp_ok($compared, '>=', 100 * $rounds, 'comparisons');
cmp_ok($asked, '>', 0, 'gates ask');
cmp_ok($skipped, '>', 0, 'gates pause');

$node->stop;
done_testing();
