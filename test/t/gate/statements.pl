# Gates where a statement is planned or run by somebody else: a session's first one,
# one that is prepared, explained, logged, copied, run by a function, a trigger, a
# foreign key, a worker, or on a standby.  Each says with gates what it says without,
# and has had them.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', qq(
fsync = off
jit = off
autovacuum = off
enable_hashjoin = off
enable_mergejoin = off
max_wal_size = 1GB
wal_keep_size = 1GB
));
$primary->start;
my $version = $primary->safe_psql('postgres', 'SHOW server_version_num');
plan skip_all => 'no gates before PostgreSQL 15' if $version < 150000;
plan skip_all => 'no auto_explain' if !-e $primary->config_data('--pkglibdir') . '/auto_explain.so';
my $test = LiveTest->new($primary);
$test->install;
$test->sql(q(
	CREATE TABLE articles (id int PRIMARY KEY, title text UNIQUE, kind int);
	INSERT INTO articles SELECT g, 'title ' || g, g % 7 FROM generate_series(1, 3000) g;
	CREATE INDEX articles_bf ON articles USING bloomfilter (title) WITH (plans = on, absent = 0.9, expected = 1000, expansion = 2);
	CREATE INDEX articles_id_bf ON articles USING bloomfilter (id) WITH (plans = on, absent = 0.9, expected = 100000);
	CREATE TABLE sought AS SELECT (ARRAY['title ', 'nowhere '])[g % 2 + 1] || g AS title, g AS id FROM generate_series(1, 400) g;
	ANALYZE;
));
my $missing = 'SELECT s.* FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title)';

# A session that has not heard of bloomext.
my $gate = qr/Custom Scan \(Bloom Filter Gate\)/;
foreach my $first (
	[ 'a query', "EXPLAIN $missing" ],
	[ 'one by a constant', q(EXPLAIN SELECT FROM articles WHERE title = 'nowhere 1') ],
	[ 'one that is prepared', "PREPARE p AS $missing; EXPLAIN EXECUTE p" ],
	[ 'one for all values', q(SET plan_cache_mode = force_generic_plan; PREPARE p (text) AS SELECT FROM articles WHERE title = $1; EXPLAIN EXECUTE p ('x')) ],
	[ 'a cursor', "EXPLAIN DECLARE c CURSOR FOR $missing" ],
	[ 'CREATE TABLE AS', "EXPLAIN CREATE TABLE t AS $missing" ],
	[ 'INSERT', "EXPLAIN INSERT INTO sought $missing" ])
{
	my ($name, $script) = @$first;
	like($test->sql($script), $gate, "$name is a session's first");
	unlike($test->sql("SET bloomext.enable_gate = off; $script"), $gate, "$name, which it is to be without");
}
{
	local $ENV{PGOPTIONS} = '-c bloomext.enable_gate=off';
	unlike($test->sql("EXPLAIN $missing"), $gate, 'off from the start');
}
$test->sql('ALTER DATABASE postgres SET bloomext.enable_gate = off');
unlike($test->sql("EXPLAIN $missing"), $gate, 'off in a database');
$test->sql('ALTER DATABASE postgres RESET bloomext.enable_gate');

# What each script says, with gates and without; and the plans that it had with
# them, its own and others', have asked.
my $explained = q(LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
	SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice; SET auto_explain.log_timing = off;);
sub same
{
	my ($name, $script, $undo) = @_;
	$script = "BEGIN; $script; ROLLBACK" unless defined $undo;
	$undo //= '';
	my ($expected, $error) = $test->outcome("SET bloomext.enable_gate = off; $script");
	$test->sql($undo);
	my ($out, $said) = $test->outcome("$explained; $script", 'default');
	$test->sql($undo);
	is($out, $expected, $name) or diag "$error\n$said";
	isnt($expected . $error, '', "$name: says something");
	is($said =~ /ERROR:/, $error =~ /ERROR:/, "$name: an error or none") or diag "$error\n$said";
	like($said, qr/Asked: [1-9]/, "$name: with gates");
}

my $count = q(SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM t);
same('COPY', "COPY ($missing ORDER BY id LIMIT 50) TO stdout");
same('CREATE TABLE AS', "CREATE TABLE t AS $missing; $count");
same('SELECT INTO', $missing =~ s/FROM/INTO t FROM/r . "; $count");
same('INSERT', "CREATE TABLE t (LIKE sought); INSERT INTO t $missing; $count");
same('INSERT into what is asked', q(INSERT INTO articles SELECT 10000 + id, title, 0 FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title);
	INSERT INTO articles SELECT 20000 + id, title, 0 FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title);
	SELECT count(*) FROM articles));
same('a view', "CREATE VIEW t AS $missing; $count");
same('REFRESH', "CREATE MATERIALIZED VIEW t AS $missing; INSERT INTO articles VALUES (9999, 'nowhere 1'); REFRESH MATERIALIZED VIEW t; $count");
same('REFRESH CONCURRENTLY', "CREATE MATERIALIZED VIEW t AS $missing; CREATE UNIQUE INDEX ON t (id); INSERT INTO articles VALUES (9999, 'nowhere 3');
	REFRESH MATERIALIZED VIEW CONCURRENTLY t; $count", q(DROP MATERIALIZED VIEW t; DELETE FROM articles WHERE id = 9999));
same('a cursor', "DECLARE c SCROLL CURSOR FOR SELECT s.id, a.id FROM sought s LEFT JOIN articles a USING (title);
	FETCH 7 FROM c; MOVE 100 IN c; FETCH BACKWARD 9 FROM c; FETCH ABSOLUTE 390 FROM c; FETCH ALL FROM c; FETCH BACKWARD 3 FROM c; CLOSE c");
same('a cursor that is held', "BEGIN; DECLARE c CURSOR WITH HOLD FOR $missing; INSERT INTO articles SELECT 5000 + id, title FROM sought WHERE title ~ 'nowhere';
	COMMIT; FETCH ALL FROM c", 'DELETE FROM articles WHERE id > 5000');
$test->sql('VACUUM articles');
same("WHERE CURRENT OF, $_", "DECLARE c CURSOR FOR SELECT a.$_ FROM articles a WHERE a.title = (SELECT title FROM sought WHERE id = 8); FETCH c;
	UPDATE articles SET kind = 77 WHERE CURRENT OF c RETURNING *; FETCH c; CLOSE c") foreach 'title', 'kind';
same('UPDATE by a subquery', q(UPDATE sought s SET id = (SELECT -a.id FROM articles a WHERE a.title = s.title); SELECT sum(id), count(id) FROM sought));
same('DELETE by a subquery', q(DELETE FROM sought s WHERE (SELECT a.kind FROM articles a WHERE a.title = s.title OFFSET 0) IS NULL RETURNING *));
same('ON CONFLICT', q(INSERT INTO articles SELECT 2900 + id, title FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title) ON CONFLICT DO NOTHING RETURNING *));
same('a modifying WITH', "WITH w AS (INSERT INTO articles SELECT 9000 + id, title FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title) RETURNING *)
	SELECT count(*), (SELECT count(*) FROM ($missing) q) FROM w");
same('recursion', q(WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n * 2 FROM r WHERE EXISTS (SELECT FROM articles a WHERE a.title = 'title ' || n)) SELECT n FROM r));
same('prepared', "PREPARE p (text) AS SELECT id FROM articles WHERE title = \$1;
	@{[ map { qq(EXECUTE p ('title $_'); EXECUTE p ('nowhere $_');) } 1 .. 8 ]} EXECUTE p (NULL)");

# Functions, inlined or not, as what they call with and as what they are called with.
my $functions = q(
	CREATE FUNCTION inlined(text) RETURNS boolean STABLE LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM articles WHERE title = $1)';
	CREATE FUNCTION by_itself(text) RETURNS boolean VOLATILE STRICT LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM articles WHERE title = $1)';
	CREATE FUNCTION rows_of(text) RETURNS SETOF articles STABLE LANGUAGE sql AS 'SELECT * FROM articles WHERE title = $1';
	CREATE FUNCTION step_by_step(sought) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE r record; said text := '';
	BEGIN
		PERFORM FROM articles WHERE title = $1.title;
		said := said || found;
		FOR r IN SELECT * FROM articles a WHERE a.title = $1.title LOOP said := said || r.id; END LOOP;
		EXECUTE 'SELECT count(*) FROM articles WHERE title = $1' INTO r USING $1.title;
		RETURN said || (SELECT max(kind) FROM articles WHERE title = $1.title) || r.count;
	END $$;
	CREATE FUNCTION adds(text) RETURNS int LANGUAGE plpgsql AS $$
	BEGIN
		IF NOT EXISTS (SELECT FROM articles WHERE title = $1) THEN
			INSERT INTO articles VALUES ((SELECT max(id) + 1 FROM articles), $1);
		END IF;
		RETURN (SELECT count(*) FROM articles WHERE title = $1);
	END $$;
);
same("the function $_", "$functions; SELECT s.id, f FROM sought s, $_ f ORDER BY s.id")
  foreach 'inlined(title)', 'by_itself(title)', 'rows_of(title)', 'step_by_step(s)', 'adds(title)', q(adds('new ' || id / 3));
same('a condition by a function', "$functions; SELECT id FROM articles WHERE title = (SELECT max(title) FROM rows_of('title 5'))");
same('a loop that changes what it reads', $functions . q(
	DO $$ DECLARE r record; n int := 0;
	BEGIN
		FOR r IN SELECT s.* FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title) LOOP
			n := n + adds(r.title) + adds(r.title || '!');
			DELETE FROM articles WHERE title = r.title || '!';
		END LOOP;
		RAISE INFO '%', n;
	END $$; SELECT count(*), sum(id) FROM articles));
same('a subtransaction', $functions . q(
	SAVEPOINT a; SELECT sum(adds('a ' || id)) FROM sought; ROLLBACK TO a; SELECT sum(adds('a ' || id)) FROM sought; SELECT count(*) FROM articles));
same('a trigger', q(
	CREATE FUNCTION check_new() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF EXISTS (SELECT FROM articles a WHERE a.title = NEW.title) THEN RETURN NULL; END IF;
		NEW.id := -NEW.id;
		RETURN NEW;
	END $$;
	CREATE TRIGGER t BEFORE INSERT ON articles FOR EACH ROW EXECUTE FUNCTION check_new();
	INSERT INTO articles SELECT id, title FROM sought; INSERT INTO articles SELECT id, title FROM sought;
	SELECT count(*), sum(id) FROM articles WHERE id < 0));
same('a transition table', q(
	CREATE TABLE t (LIKE sought);
	CREATE FUNCTION check_all() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO t SELECT * FROM new_rows n WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = n.title);
		RETURN NULL;
	END $$;
	CREATE TRIGGER t AFTER INSERT ON sought REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION check_all();
	INSERT INTO sought SELECT title, 1000 + id FROM sought;
	SELECT count(*), sum(id) FROM t));

# A foreign key is validated by a query, and looked up with a lock, which no gate does.
my $key = 'CREATE TABLE t (id int, title text); INSERT INTO t SELECT g, \'title \' || g FROM generate_series(1, 1000) g';
same('foreign keys', "$key; ALTER TABLE t ADD FOREIGN KEY (title) REFERENCES articles (title); ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES articles;
	INSERT INTO t VALUES (3000, 'title 3000'); SELECT count(*) FROM t");
same('a foreign key that is not kept', "$key; INSERT INTO t VALUES (1, 'nowhere 1'); ALTER TABLE t ADD FOREIGN KEY (title) REFERENCES articles (title)");
same('foreign keys of another width', "$key; ALTER TABLE t ALTER id TYPE bigint; INSERT INTO articles VALUES (9999, 'new'); INSERT INTO t VALUES (9999, 'new');
	ALTER TABLE t ADD FOREIGN KEY (id) REFERENCES articles; INSERT INTO t VALUES (10000000000, NULL)");

# Statistics, and who rewrites, copies or prints plans.
same('statistics', 'CREATE STATISTICS more ON title, kind FROM articles; CREATE STATISTICS expr ON (kind % 3) FROM articles; ANALYZE articles; ' .
	"SELECT s.id, (SELECT count(*) FROM articles a WHERE a.title = s.title AND a.kind = s.id % 7 AND a.kind % 3 = 1) FROM sought s");
same('plans that are printed', "SET debug_print_plan = on; SET debug_print_rewritten = on; SET debug_print_parse = on; $missing");
my $asked = 'SELECT s.id, (SELECT a.kind FROM articles a WHERE a.title = s.title) FROM sought s ORDER BY 1';
my $parallel = $version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
foreach my $way ('on', 'regress')
{
	is($test->sql("SET $parallel = $way; $_"), $test->sql("SET bloomext.enable_gate = off; $_"), "in a worker: $way")
	  foreach $missing, $asked, 'SELECT count(*) FROM sought JOIN articles USING (title)';
	$test->is_sql("in a worker: $way, after writing", "BEGIN; SET $parallel = $way; INSERT INTO articles VALUES (9999, 'nowhere 1');
		SELECT count(*) FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title); ROLLBACK", 199);
}
my $workers = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2';
like($test->sql("$workers; EXPLAIN $missing"), qr/Gather.*Bloom Filter Gate/s, 'gates beneath Gather');
is($test->sql("$workers; $missing ORDER BY 2"), $test->sql("$missing ORDER BY 2"), 'which answer');
SKIP:
{
	skip 'EXPLAIN (GENERIC_PLAN) is of PostgreSQL 16', 1 if $version < 160000;
	like($test->sql('EXPLAIN (GENERIC_PLAN) SELECT FROM articles WHERE title = $1'), $gate, 'explained without its values');
}
# How many are asked for is what it costs to scan: of 400 the first window, half of it absent.
sub explained
{
	my ($said, $name) = @_;
	my ($asked, $absent, $skipped) = $said =~ /articles_bf.*?Asked\D+(\d+).*?Absent\D+(\d+).*?Skipped\D+(\d+)/si;
	ok($asked >= 64 && $asked + $skipped == 400 && abs($absent - $asked / 2) <= 4, $name) or diag $said;
}
$test->sql('REINDEX INDEX articles_bf');
foreach my $format ('xml', 'json', 'yaml')
{
	explained($test->sql("EXPLAIN (ANALYZE, FORMAT $format) $missing"), "explained as $format");
}
$primary->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements, auto_explain'\n");
$primary->restart;
$test->sql('CREATE EXTENSION pg_stat_statements; SELECT pg_stat_statements_reset()');
is($test->sql("SET auto_explain.log_min_duration = 0; SET auto_explain.log_format = json; $missing"),
	$test->sql("SET bloomext.enable_gate = off; $missing"), 'counted and logged');
$test->is_sql('as one statement', q(SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'SELECT s.* FROM sought%'), '2|400');
like(slurp_file($primary->logfile), qr/"Filter Index": "articles_bf"/, 'with its gates');

# A standby, where rows come while it asks.
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "hot_standby_feedback = on\nwal_receiver_status_interval = 1s\n");
$standby->start;
my $there = LiveTest->new($standby);
sub replay { $primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert')); }
replay();
my $number = "SELECT count(*) FROM ($missing) q";
explained($there->sql("EXPLAIN (ANALYZE, COSTS off, TIMING off) $missing"), 'a standby has gates');
$there->is_sql('and answers', "$number; SET bloomext.enable_gate = off; $number", '200; 200');

my $cursor = $there->session;
my $old = $there->session;
$cursor->ask("BEGIN; DECLARE c CURSOR FOR $missing");
is(scalar(split /; /, $cursor->ask('FETCH 20 FROM c')), 20, 'a cursor');
is($old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sought'), 400, 'a snapshot');
$primary->poll_query_until('postgres', 'SELECT backend_xmin IS NOT NULL FROM pg_stat_replication');
$test->sql(q(
	INSERT INTO articles SELECT 20000 + id, title FROM sought WHERE title ~ 'nowhere';
	DELETE FROM articles WHERE id <= 100));
replay();
$there->is_sql('rows that came and went', $number, 50);
is(scalar(split /; /, $cursor->ask('FETCH ALL FROM c')), 180, 'which the cursor does not see');
$cursor->ask('COMMIT');
$test->sql('REINDEX INDEX articles_bf');
replay();
is($old->ask($number), 200, 'nor the snapshot, after REINDEX');
is($old->ask("COMMIT; $number"), 50, 'others do');

# What is there is found at any time of a load.
my $rows = 'SELECT count(*) FROM articles s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title)';
my $load = $test->session;
$load->start(q(
	DO $$ BEGIN
		FOR i IN 1 .. 100 LOOP
			INSERT INTO articles SELECT 100000 + i * 1000 + g, 'load ' || i || ' ' || g FROM generate_series(1, CASE i % 10 WHEN 0 THEN 900 ELSE 9 END) g;
			IF i % 3 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
			IF i % 25 = 0 THEN PERFORM pg_sleep(0.2); END IF;
		END LOOP;
	END $$; VACUUM articles; REINDEX INDEX CONCURRENTLY articles_bf; INSERT INTO articles VALUES (-1, 'last')));
my @missed;
do { push @missed, $there->sql($rows), $test->sql($rows); } until $load->is_done;
replay();
push @missed, $there->sql($rows);
is_deeply([ grep { $_ ne '0' } @missed ], [], 'no row is missed in a load') or diag scalar @missed;
$there->is_sql('the last one', q(SELECT id FROM articles WHERE title = 'last'), -1);

$standby->promote;
$there->is_sql('promoted, it goes on', "INSERT INTO articles SELECT 30000 + id, title FROM sought WHERE title ~ 'title'  AND id <= 50 ; $number;
	SET bloomext.enable_gate = off; $number", '25; 25');
like($there->sql("EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT FROM articles WHERE title = 'nowhere at all'"), qr/Surely Absent: 1\n/, 'and asks');

# A gate that opened its filter in a savepoint that gave it another file, and is undone.
my $loops = 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off; SET enable_memoize = off';
my $join = 'SELECT b.i, r.id FROM asked_for AS b LEFT JOIN rebuilt AS r ON r.title = b.title';
$test->sql(q(
	CREATE TABLE rebuilt AS SELECT i AS id, 'title ' || i AS title FROM generate_series(1, 5000) AS i;
	CREATE INDEX ON rebuilt (title);
	CREATE INDEX rebuilt_bf ON rebuilt USING bloomfilter (title) WITH (plans = on);
	CREATE TABLE asked_for AS SELECT i, 'title ' || i AS title FROM generate_series(1, 10) AS i;
	ANALYZE rebuilt, asked_for));
like($test->sql("$loops; EXPLAIN (COSTS off) $join"), qr/Bloom Filter Gate/, 'a gate is planned');
$test->is_sql("its filter is rebuilt, and that is undone: $_", "$loops; BEGIN; DECLARE c CURSOR FOR $join; SAVEPOINT s; $_; FETCH 2 FROM c; ROLLBACK TO s; FETCH 2 FROM c",
	'1|1; 2|2; 3|3; 4|4')
  foreach 'REINDEX INDEX rebuilt_bf', 'SELECT 1 WHERE false';

$standby->stop;
$primary->stop;
done_testing();
