# Gates among scans of others: custom scans of a provider (test/provider/provider.c)
# that is loaded before bloomext or after it, TimescaleDB's, and foreign tables.  A
# query has the rows that it has of tables that are what the provider makes of ours,
# without a gate; no gate is over the scan of somebody else.
use strict;
use warnings;

use Cwd;
use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $provider = getcwd() . '/test/provider/build/provider.so';
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
jit = off
max_parallel_workers_per_gather = 0
));
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
plan skip_all => 'no gates before PostgreSQL 15' if $version < 150000;
my $test = LiveTest->new($node);
$test->install;

# A third of what is looked for is in the table, a third in what the provider reads
# instead, a third nowhere.
$test->sql(q(
	CREATE TABLE articles (id int PRIMARY KEY, title text, kind int);
	INSERT INTO articles SELECT g, 'title ' || g % 900, g % 7 FROM generate_series(1, 1000) g;
	CREATE INDEX ON articles (title);
	CREATE INDEX ON articles USING bloomfilter (title) WITH (plans = on, expected = 10000);
	CREATE TABLE hidden (LIKE articles);
	INSERT INTO hidden SELECT 5000 + g, 'hidden ' || g % 900, g % 7 FROM generate_series(1, 1000) g;
	CREATE TABLE both_of_them AS TABLE articles UNION ALL TABLE hidden;
	CREATE TABLE sought AS SELECT (ARRAY['title ', 'hidden ', 'nowhere '])[g % 3 + 1] || g AS title, g FROM generate_series(1, 300) g;
	INSERT INTO sought VALUES (NULL, 0);
	ANALYZE;
));

my %queries = (
	anti => 'SELECT s.* FROM sought s WHERE NOT EXISTS (SELECT FROM articles a WHERE a.title = s.title)',
	semi => 'SELECT s.* FROM sought s WHERE EXISTS (SELECT FROM articles a WHERE s.title = a.title AND a.kind <> 3)',
	missing => 'SELECT s.g FROM sought s LEFT JOIN articles a USING (title) WHERE a.id IS NULL',
	left => 'SELECT s.title, a.kind + s.g, a FROM sought s LEFT JOIN articles a ON a.title = s.title',
	inner => 'SELECT a.id * 2, s.g FROM articles a JOIN sought s ON a.title = s.title AND a.kind < 5',
	scalar => 'SELECT s.g, (SELECT max(a.id) FROM articles a WHERE a.title = s.title) FROM sought s',
	exists => 'SELECT s.g, EXISTS (SELECT FROM articles a WHERE a.title = s.title OFFSET 0) FROM sought s',
	lateral => 'SELECT s.g, l.* FROM sought s, LATERAL (SELECT a.id, a.kind FROM articles a WHERE a.title = s.title ORDER BY a.id LIMIT 1) l',
	self => 'SELECT a.id, b.id AS other FROM articles a JOIN articles b USING (title) WHERE a.id < b.id',
	count => 'SELECT count(*) FROM sought s JOIN articles a USING (title)',
	one => q(SELECT a.* FROM articles a WHERE a.title = 'title 3'),
	hidden => q(SELECT a.* FROM articles a WHERE a.title = 'hidden 4'),
	none => q(SELECT a.* FROM articles a WHERE a.title = 'nowhere 5'),
	union => q(SELECT t, (SELECT count(*) FROM articles a WHERE a.title = t) FROM (VALUES ('title 1'), ('hidden 1')) v (t) UNION ALL SELECT title, id FROM articles WHERE title = 'hidden 2'),
	prepared => q(SELECT a.id FROM articles a WHERE a.title = $1),
);
my %settings = (
	default => '',
	loops => 'SET enable_hashjoin = off; SET enable_mergejoin = off',
	unindexed => 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off',
	merge => 'SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_sort = off',
);
# What a provider does, and whose rows a query of articles has then.
my %modes = (off => 'articles', wrap => 'articles', join => 'articles', replace => 'hidden', append => 'both_of_them');

# A script that runs all queries in all settings, and says its name before each answer.
sub questions
{
	my ($rows) = @_;
	my $script = '';
	foreach my $setting (sort keys %settings)
	{
		$script .= "$settings{$setting};\n";
		foreach my $name (sort keys %queries)
		{
			my $query = $queries{$name} =~ s/\barticles\b/$rows/gr;
			my $answer = "SELECT '$setting $name', count(*), md5(string_agg(row_to_json(q)::text, ',' ORDER BY row_to_json(q)::text)) FROM ($query) q";
			$script .= $name eq 'prepared'
			  ? "PREPARE p (text) AS $answer; EXECUTE p ('title 7'); EXECUTE p ('hidden 7'); EXECUTE p (NULL); DEALLOCATE p;\n"
			  : "$answer;\n";
		}
		$script .= 'RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop; RESET enable_sort; ' .
		  "RESET enable_indexscan; RESET enable_indexonlyscan; RESET enable_bitmapscan;\n";
	}
	return $script;
}

# The plans of all queries in loops.
sub plans
{
	my ($before) = @_;
	return $test->sql("$before; $settings{loops}; " . join '; ',
		map { "EXPLAIN (COSTS off) $queries{$_}" =~ s/\$1/'title 7'/r } sort keys %queries);
}

# How many gates there are, and how many of them over somebody's scan.
sub gates
{
	my ($plan) = @_;
	my $gate = qr/Custom Scan \(Bloom Filter Gate\) on .*\n(?: +Filter (?:Index|Cond): .*\n)+/;
	my @all = $plan =~ /$gate/g;
	my @over = $plan =~ /$gate +->  (?:Custom|Foreign) Scan/g;
	return (scalar @all, scalar @over);
}

my %expected = map { $_ => $test->sql("SET bloomext.enable_gate = off;\n" . questions($_)) } 'articles', 'hidden', 'both_of_them';
isnt($expected{hidden}, $expected{articles}, 'the provider has other rows');
is($test->sql(questions('articles')), $expected{articles}, 'with gates and without a provider');
my ($gated) = gates(plans(''));
cmp_ok($gated, '>=', 8, 'queries with gates');

# Ask everything with a provider that is there by the server's or the session's
# settings, or by a command; is its hook called after that of bloomext?
sub check
{
	my ($name, $is_last, $before) = @_;
	foreach my $mode (sort keys %modes)
	{
		my $start = "$before; SET provider.mode = $mode; SET provider.over = articles; SET provider.rows = hidden";
		foreach my $set ('on', 'off')
		{
			is($test->sql("$start; SET bloomext.enable_gate = $set;\n" . questions('articles')),
				$expected{ $modes{$mode} }, "$name, $mode, gate $set");
		}
		my $plan = plans($start);
		my ($gates, $over) = gates($plan);
		is($over, 0, "$name, $mode: no gate over a scan of the provider") or diag $plan;
		my $is_gated = $mode eq 'off' || $mode eq 'join' || $mode =~ /wrap|append/ && $is_last;
		ok($is_gated ? $gates > 0 : $gates == 0, "$name, $mode: gates before PostgreSQL's scans") or diag $plan;
		like($plan, qr/Provider/, "$name, $mode: the provider is there") if $mode ne 'off';
	}
}

check('loaded first', 0, "LOAD '$provider'");
check('loaded last', 1, "LOAD 'bloomext'; LOAD '$provider'");
foreach my $kind ('session', 'shared')
{
	foreach my $is_last (0, 1)
	{
		my $libraries = join ', ', map { "'$_'" } $is_last ? ('bloomext', $provider) : ($provider, 'bloomext');
		$test->sql("ALTER SYSTEM SET ${kind}_preload_libraries = $libraries");
		$node->restart;
		check("by ${kind}_preload_libraries " . ($is_last ? 'last' : 'first'), $is_last, 'SELECT WHERE false');
	}
	$test->sql("ALTER SYSTEM RESET ${kind}_preload_libraries");
}
$node->restart;

# In workers, too, whichever of the libraries they get first.
my $workers = ($version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode') . ' = on; SET max_parallel_workers_per_gather = 2';
foreach my $before ("LOAD '$provider'", "LOAD 'bloomext'; LOAD '$provider'")
{
	foreach my $mode (sort keys %modes)
	{
		is($test->sql("$before; SET $workers; SET provider.mode = $mode; SET provider.over = articles; SET provider.rows = hidden;\n" . questions('articles')),
			$expected{ $modes{$mode} }, "$mode, in workers");
	}
}

# An index that only the planner has been told of is nobody's to ask; another is asked.
foreach my $before ("LOAD '$provider'", "LOAD 'bloomext'; LOAD '$provider'")
{
	my $advised = "$before; SET provider.mode = advise; SET provider.over = articles;\n";
	is_deeply([ $test->outcome($advised . questions('articles')) ], [ $expected{articles} =~ s/\n/; /gr, '' ], 'with advice');
	my ($plan) = map { s/; /\n/gr } $test->outcome("$advised; $settings{loops}; EXPLAIN (COSTS off) $queries{scalar}");
	is_deeply([ gates($plan) ], [ 1, 0 ], 'with advice: the gate') or diag $plan;
}

# A foreign table has no index, so no gate; other partitions of its table have.
SKIP:
{
	skip 'no file_fdw', 18 unless $test->sql(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'file_fdw'));

	$test->sql('CREATE EXTENSION file_fdw; CREATE EXTENSION postgres_fdw');
	my $csv = $node->basedir . '/foreign.csv';
	append_to_file($csv, join '', map { "$_,nowhere $_,1\n" } 2002 .. 2050);
	append_to_file($csv, "2051,nowhere 8,1\n2052,nowhere 11,2\n");
	my ($host, $port) = ($node->host, $node->port);
	$test->sql(qq(
		CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
		CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres', use_remote_estimate 'true');
		CREATE USER MAPPING FOR CURRENT_USER SERVER loop;
		CREATE TABLE parts (id int, title text, kind int) PARTITION BY RANGE (id);
		CREATE TABLE parts_filtered PARTITION OF parts FOR VALUES FROM (1) TO (1000);
		CREATE TABLE parts_indexed PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
		CREATE FOREIGN TABLE parts_file PARTITION OF parts FOR VALUES FROM (2000) TO (3000) SERVER files OPTIONS (filename '$csv', format 'csv');
		CREATE TABLE parts_bare PARTITION OF parts FOR VALUES FROM (3000) TO (4000);
		CREATE TABLE parts_far PARTITION OF parts FOR VALUES FROM (4000) TO (6000) PARTITION BY RANGE (id);
		CREATE TABLE parts_near PARTITION OF parts_far FOR VALUES FROM (4000) TO (5000);
		CREATE TABLE remote (LIKE parts);
		CREATE FOREIGN TABLE parts_loop PARTITION OF parts_far FOR VALUES FROM (5000) TO (6000) SERVER loop OPTIONS (table_name 'remote');
		INSERT INTO parts SELECT g, 'title ' || g, g % 7 FROM generate_series(1, 999) g;
		INSERT INTO parts SELECT 1000 + g, 'hidden ' || g, g % 7 FROM generate_series(0, 99) g;
		INSERT INTO parts SELECT 3000 + g, 'nowhere ' || g, g % 7 FROM generate_series(16, 100) g;
		INSERT INTO parts SELECT 4000 + g, 'hidden ' || g, g % 7 FROM generate_series(100, 200) g;
		INSERT INTO parts SELECT 5000 + g, 'hidden ' || g, g % 7 FROM generate_series(150, 250) g;
		INSERT INTO parts SELECT 4000 + g, 'near ' || g, g % 7 FROM generate_series(201, 999) g;
		INSERT INTO remote SELECT 5000 + g, 'far ' || g, g % 7 FROM generate_series(251, 999) g;
		CREATE INDEX ON parts_filtered (title); CREATE INDEX ON parts_filtered USING bloomfilter (title) WITH (plans = on);
		CREATE INDEX ON parts_indexed (title);
		CREATE INDEX ON parts_near (title); CREATE INDEX ON parts_near USING bloomfilter (title) WITH (plans = on);
		CREATE INDEX ON remote (title); CREATE INDEX ON remote USING bloomfilter (title) WITH (plans = on);
		ANALYZE;
		CREATE TABLE parts_rows AS TABLE parts; CREATE TABLE far_rows AS TABLE parts_far;
		CREATE TABLE file_rows AS TABLE parts_file; CREATE TABLE loop_rows AS TABLE parts_loop;
	));
	$test->fails('a filter of a foreign table', "CREATE INDEX ON $_ USING bloomfilter (title)", '42809') foreach 'parts_file', 'parts_loop';
	foreach my $kind ('parts', 'far', 'file', 'loop')
	{
		my $rows = "${kind}_rows";
		my $relation = $kind eq 'parts' ? $kind : "parts_$kind";
		my $truth = $test->sql(questions($rows));
		is($test->sql("SET bloomext.enable_gate = $_;\n" . questions($relation)), $truth, "$relation, gate $_") foreach 'on', 'off';
		$test->sql("ALTER SERVER loop OPTIONS (SET use_remote_estimate 'false')");
		is($test->sql(questions($relation)), $truth, "$relation, estimated here");
		$test->sql("ALTER SERVER loop OPTIONS (SET use_remote_estimate 'true')");
	}
	my $plan = $test->sql("$settings{loops}; EXPLAIN (COSTS off) " . $queries{scalar} =~ s/\barticles\b/parts/r);
	is_deeply([ gates($plan) ], [ 2, 0 ], 'gates over the partitions that have filters') or diag $plan;

	# The other end of a foreign table has gates of its own.
	$test->sql('ALTER INDEX remote_title_idx1 SET (absent = 0.9); SELECT pg_stat_reset()');
	is($test->sql(q(SELECT count(*) FROM parts_loop WHERE title = (SELECT 'nowhere 7' OFFSET 0))), 0, 'what is nowhere');
	ok($node->poll_query_until('postgres', q(SELECT idx_scan = 1 FROM pg_stat_user_indexes WHERE indexrelid = 'remote_title_idx1'::regclass)),
		'the other end asks');
}

# TimescaleDB itself, where the server has it with compression: a hypertable with
# chunks that are compressed in part.
SKIP:
{
	my ($shared, $libraries) = map { chomp(my $dir = `pg_config --$_`); $dir } 'sharedir', 'pkglibdir';
	skip 'the server has no TimescaleDB', 1
	  if !-e "$shared/extension/timescaledb.control" || !glob "$libraries/timescaledb-tsl-*";
	$node->append_conf('postgresql.conf', qq(
shared_preload_libraries = 'timescaledb'
timescaledb.telemetry_level = off
client_min_messages = error
));
	$node->restart;
	my $truth = $test->sql(questions('parts_rows'));
	$test->sql(q(
		CREATE EXTENSION timescaledb;
		CREATE TABLE hyper (LIKE parts);
		ALTER TABLE hyper ALTER id SET NOT NULL;
		SELECT create_hypertable('hyper', 'id', chunk_time_interval => 1000);
		ALTER TABLE hyper SET (timescaledb.compress, timescaledb.compress_segmentby = 'kind', timescaledb.compress_orderby = 'id');
		INSERT INTO hyper SELECT * FROM parts_rows WHERE id % 50 <> 7;
		CREATE INDEX ON hyper (title);
		CREATE INDEX ON hyper USING bloomfilter (title) WITH (plans = on);
		ANALYZE;
	));
	$test->sql(q(SELECT compress_chunk(c) FROM (SELECT show_chunks('hyper') AS c ORDER BY 1 LIMIT 2) q));
	$test->sql(q(INSERT INTO hyper SELECT * FROM parts_rows WHERE id % 50 = 7; ANALYZE));
	my $plan = $test->sql("$settings{loops}; EXPLAIN (COSTS off) " . $queries{scalar} =~ s/\barticles\b/hyper/r);
	my ($gates, $over) = gates($plan);
	cmp_ok($gates, '>=', 4, 'gates before the chunks that are not compressed') or diag $plan;
	is($over, 0, 'and before nothing of its own') or diag $plan;
	is($test->sql("SET bloomext.enable_gate = $_;\n" . questions('hyper')), $truth, "a hypertable, gate $_") foreach 'on', 'off';
}

$node->stop;
done_testing();
