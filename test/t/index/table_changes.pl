# A live filter follows its table through whatever SQL can do to it: nothing
# is missing, ever, from what the transaction itself or a later one can see.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', qq(
fsync = off
max_prepared_transactions = 10
max_wal_size = 2GB
autovacuum = off
));
$node->start;
my $sql = sub { return $node->safe_psql('postgres', shift); };
$sql->(q(
	CREATE EXTENSION bloomext;
	-- Filters of either kind: bits set at once; elements that wait.
	CREATE TABLE t (id serial, title text, note text);
	CREATE INDEX t_live ON t USING bloomfilter (title) WITH (expected = 100000, fpp = 0.0001);
	CREATE TABLE w (id serial, title text);
	CREATE INDEX w_live ON w USING bloomfilter (title) WITH (expected = 2500000, fpp = 0.0001);
	-- Titles, or other elements, of a table that its filter, or the table's name, does not contain.
	CREATE FUNCTION missing(tab regclass, element text = 'title') RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE n bigint;
	BEGIN
		EXECUTE format('SELECT count(*) FROM %s WHERE NOT bf_live_contains(%L::regclass, %s)', tab, tab, element) INTO n;
		RETURN n + (bf_live_verify(tab)).missing;
	END $$;
));

# Each case: a name, a script, what its last query must say.
sub is_sql
{
	my ($name, $script, $expected) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $script);
	my $last = (split /\n/, $out)[-1] // '';
	is($last, $expected, $name) or diag "$out\n$err";
}

foreach my $tab ('t', 'w')
{
	is_sql("$tab: own rows, before the commit", qq(
		BEGIN; INSERT INTO $tab (title) VALUES ('own'), ('');
		SELECT bf_live_contains('$tab', 'own'), bf_live_contains('$tab', ''),
			bf_contains(bf_live_filter('$tab'), 'own'), (SELECT pending FROM bf_live_info('$tab')), missing('$tab')), 't|t|t|2|0');
	is_sql("$tab: rolled back, it is gone", qq(SELECT bf_live_contains('$tab', 'own')), 'f');
	is_sql("$tab: savepoints", qq(
		BEGIN;
		INSERT INTO $tab (title) VALUES ('kept 1');
		SAVEPOINT a; INSERT INTO $tab (title) VALUES ('undone'); ROLLBACK TO a;
		INSERT INTO $tab (title) VALUES ('kept 2');
		SAVEPOINT b; INSERT INTO $tab (title) VALUES ('kept 3'); RELEASE b;
		COMMIT;
		SELECT bf_live_contains('$tab', 'kept 1'), bf_live_contains('$tab', 'kept 2'), bf_live_contains('$tab', 'kept 3'), missing('$tab')),
		't|t|t|0');
	is_sql("$tab: truncated in a subtransaction that was rolled back, with many rows", qq(
		BEGIN;
		INSERT INTO $tab (title) VALUES ('before the savepoint');
		SAVEPOINT a; TRUNCATE $tab;
		INSERT INTO $tab (title) SELECT 'many ' || g FROM generate_series(1, 70000) g;
		ROLLBACK TO a;
		INSERT INTO $tab (title) SELECT 'more ' || g FROM generate_series(1, 500) g;
		COMMIT;
		SELECT bf_live_contains('$tab', 'before the savepoint'), missing('$tab')), 't|0');
	is_sql("$tab: more rows than a transaction keeps", qq(
		BEGIN;
		INSERT INTO $tab (title) SELECT 'lots ' || g FROM generate_series(1, 150000) g;
		SELECT missing('$tab');
		COMMIT;
		SELECT missing('$tab')), '0');
	is_sql("$tab: two-phase commit", qq(
		BEGIN; INSERT INTO $tab (title) VALUES ('prepared'); PREPARE TRANSACTION 'p';
		COMMIT PREPARED 'p';
		SELECT bf_live_contains('$tab', 'prepared'), missing('$tab')), 't|0');
	is_sql("$tab: truncate and insert", qq(
		BEGIN; INSERT INTO $tab (title) VALUES ('gone'); TRUNCATE $tab; INSERT INTO $tab (title) VALUES ('there'); COMMIT;
		SELECT bf_live_contains('$tab', 'there'), missing('$tab')), 't|0');
	is_sql("$tab: TRUNCATE empties the filter", qq(
		TRUNCATE $tab; SELECT bits_set, pending FROM bf_live_info('$tab')), '0|0');
	is_sql("$tab: equal to the aggregate", qq(
		INSERT INTO $tab (title) SELECT 'row ' || g FROM generate_series(1, 30000) g;
		INSERT INTO $tab (title) SELECT 'row ' || g FROM generate_series(30001, 30300) g;
		INSERT INTO $tab (title) VALUES (NULL), ('');
		SELECT bf_live_filter('$tab') = bf_agg(title, i.expected, i.fpp), missing('$tab')
		FROM $tab, bf_live_info('$tab') AS i GROUP BY i.expected, i.fpp), 't|0');
	is_sql("$tab: VACUUM lets nothing wait", qq(
		VACUUM $tab; SELECT pending, missing('$tab') FROM bf_live_info('$tab')), '0|0');
	foreach my $command ("VACUUM FULL $tab", "CLUSTER $tab USING ${tab}_id", "REINDEX TABLE $tab",
		"REINDEX INDEX CONCURRENTLY ${tab}_live", "ALTER TABLE $tab ALTER title TYPE varchar(100)",
		"ALTER TABLE $tab ALTER title TYPE text USING 'new ' || title", "ALTER TABLE $tab SET UNLOGGED",
		"ALTER TABLE $tab SET LOGGED", "ALTER INDEX ${tab}_live SET (fpp = 0.001)")
	{
		is_sql("$tab: $command", qq(
			CREATE INDEX IF NOT EXISTS ${tab}_id ON $tab (id);
			DELETE FROM $tab WHERE id % 7 = 0;
			$command;
			INSERT INTO $tab (title) VALUES ('after');
			SELECT bf_live_contains('$tab', 'after'), missing('$tab')), 't|0');
	}
	is_sql("$tab: rewritten in the transaction that inserts", qq(
		BEGIN; INSERT INTO $tab (title) VALUES ('first');
		ALTER TABLE $tab ALTER title TYPE text USING title || '!';
		INSERT INTO $tab (title) VALUES ('second');
		COMMIT;
		SELECT bf_live_contains('$tab', 'first!'), bf_live_contains('$tab', 'second'), missing('$tab')), 't|t|0');
	is_sql("$tab: dropped in the transaction that inserts", qq(
		BEGIN; INSERT INTO $tab (title) VALUES ('x'); DROP INDEX ${tab}_live; COMMIT;
		BEGIN; INSERT INTO $tab (title) VALUES ('y'); CREATE INDEX ${tab}_live ON $tab USING bloomfilter (title) WITH (expected = 2500000, fpp = 0.0001);
		INSERT INTO $tab (title) VALUES ('z'); SAVEPOINT a; DROP INDEX ${tab}_live; ROLLBACK TO a; COMMIT;
		BEGIN; CREATE TABLE brief (title text); CREATE INDEX ON brief USING bloomfilter (title);
		INSERT INTO brief VALUES ('x'); DROP TABLE brief; COMMIT;
		SELECT bf_live_contains('$tab', 'x'), bf_live_contains('$tab', 'z'), missing('$tab')), 't|t|0');
	is_sql("$tab: COPY", qq(COPY $tab (title) FROM stdin;\ncopied 1\ncopied 2\n\\.\n
		SELECT bf_live_contains('$tab', 'copied 2'), missing('$tab')), 't|0');
	is_sql("$tab: ON CONFLICT", qq(
		CREATE UNIQUE INDEX ${tab}_unique ON $tab (id);
		INSERT INTO $tab (id, title) SELECT id, 'conflict ' || id FROM (SELECT id FROM $tab LIMIT 500) AS x
			ON CONFLICT (id) DO UPDATE SET title = excluded.title || ' updated';
		INSERT INTO $tab (id, title) SELECT id, 'nothing ' || id FROM (SELECT id FROM $tab LIMIT 500) AS x ON CONFLICT DO NOTHING;
		SELECT bf_live_contains('$tab', title), missing('$tab') FROM $tab WHERE title LIKE 'conflict%' LIMIT 1), 't|0');
	is_sql("$tab: a parallel query in the inserting transaction", qq(
		SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
		BEGIN; INSERT INTO $tab (title) SELECT 'parallel ' || g FROM generate_series(1, 1000) g;
		SELECT count(*) FROM $tab WHERE NOT bf_live_contains('$tab', title);), '0');
}

is_sql('temporary tables', q(
	CREATE TEMP TABLE temp (title text) ON COMMIT DELETE ROWS;
	CREATE INDEX ON temp USING bloomfilter (title) WITH (expected = 2500000, fpp = 0.0001);
	INSERT INTO temp VALUES ('gone');
	CREATE TEMP TABLE kept (title text); CREATE INDEX ON kept USING bloomfilter (title);
	INSERT INTO kept VALUES ('kept');
	BEGIN; INSERT INTO temp SELECT 'x ' || g FROM generate_series(1, 5000) g;
	SELECT bf_live_contains('temp', 'gone'), bf_live_contains('temp', 'x 7'), missing('temp'), missing('kept'); COMMIT;
	SELECT bf_live_contains('temp', 'x 7'), bf_live_contains('kept', 'kept'), (SELECT count(*) FROM temp)), 'f|t|0');

$sql->(q(
	CREATE TABLE p (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (1000) TO (2000) PARTITION BY LIST (id);
	CREATE TABLE p21 PARTITION OF p2 DEFAULT;
	CREATE INDEX p_live ON p USING bloomfilter (title) WITH (expected = 1000);
	INSERT INTO p SELECT g, 'row ' || g FROM generate_series(0, 1999) g;
	CREATE TABLE p3 (id int, title text); INSERT INTO p3 VALUES (2000, 'attached')));
is_sql('partitions', q(SELECT missing('p'), missing('p21'), bf_live_contains('p_live', 'row 7'), bf_live_contains('p_live', 'row 1999'),
	bf_count(bf_live_filter('p')) BETWEEN 1800 AND 2200), '0|0|t|t|t');
is_sql('a partition attached', q(
	ALTER TABLE p ATTACH PARTITION p3 FOR VALUES FROM (2000) TO (3000);
	SELECT missing('p'), bf_live_contains('p', 'attached')), '0|t');
is_sql('and detached', q(
	ALTER TABLE p DETACH PARTITION p1; INSERT INTO p1 VALUES (1, 'detached');
	SELECT missing('p'), missing('p1'), bf_live_contains('p1', 'detached')), '0|0|t');
is_sql('detached concurrently', q(
	ALTER TABLE p DETACH PARTITION p3 CONCURRENTLY;
	SELECT missing('p'), missing('p3')), '0|0');
is_sql('a partitioned index that lacks a partition says maybe', q(
	CREATE TABLE q (id int, title text) PARTITION BY RANGE (id);
	CREATE TABLE q1 PARTITION OF q DEFAULT;
	CREATE INDEX q_live ON ONLY q USING bloomfilter (title);
	SELECT bf_live_contains('q_live', 'no such title')), 't');
is_sql('a table and its children', q(
	CREATE TABLE parent (title text); CREATE TABLE child () INHERITS (parent);
	CREATE INDEX ON parent USING bloomfilter (title); CREATE INDEX ON child USING bloomfilter (title);
	INSERT INTO child VALUES ('child'); SELECT bf_live_contains('parent', 'child'), bf_live_contains('parent_title_idx', 'child')), 't|f');
is_sql('an expression', q(
	CREATE INDEX t_lower ON t USING bloomfilter (lower(note)); DROP INDEX t_live;
	INSERT INTO t (note) VALUES ('NOTE'); SELECT bf_live_contains('t', 'note'), missing FROM bf_live_verify('t')), 't|0');

foreach my $key ('title', 'title, id')
{
	is_sql("updates of another column, of a key $key", qq(
		DROP TABLE IF EXISTS hot;
		CREATE TABLE hot (id int, title text, n int) WITH (fillfactor = 50);
		CREATE INDEX ON hot USING bloomfilter ($key);
		INSERT INTO hot SELECT g, 'hot ' || g, 0 FROM generate_series(1, 1000) g;
		UPDATE hot SET n = n + 1;
		SELECT missing('hot', '($key)')), '0');
	ok($node->poll_query_until('postgres', q(SELECT n_tup_hot_upd = 1000 FROM pg_stat_user_tables WHERE relname = 'hot')),
		"HOT updates stay HOT, of a key $key");
}

# Filters of two columns, before and behind columns that are dropped.
$sql->(q(
	CREATE TABLE stock (gone int, article int, old text, shop text, pieces int DEFAULT 0);
	ALTER TABLE stock DROP gone;
	CREATE INDEX stock_live ON stock USING bloomfilter (shop, article) WITH (expected = 10000, fpp = 0.0001);
	INSERT INTO stock SELECT g, 'old', 'shop ' || g % 10, 0 FROM generate_series(1, 3000) g;
	INSERT INTO stock (article, shop) VALUES (NULL, 'shop 1'), (1, NULL)));
foreach my $command ('ALTER TABLE stock DROP old', 'ALTER TABLE stock ADD more int DEFAULT 1', 'VACUUM FULL stock', 'REINDEX INDEX CONCURRENTLY stock_live',
	'ALTER TABLE stock ALTER article TYPE bigint', 'ALTER TABLE stock ALTER shop TYPE char(12)', 'ALTER TABLE stock ALTER shop TYPE text',
	'ALTER TABLE stock RENAME shop TO place; ALTER TABLE stock RENAME place TO shop', 'UPDATE stock SET article = article + 10000 WHERE article % 3 = 0',
	'ALTER INDEX stock_live SET (fpp = 0.001); REINDEX INDEX stock_live')
{
	is_sql("two columns: $command", qq(
		$command;
		INSERT INTO stock (article, shop) VALUES (-1, 'after');
		SELECT bf_live_contains('stock', ROW('after', -1)), bf_live_contains('stock', ROW('after', 1)), missing('stock', '(shop, article)')), 't|f|0');
}
is_sql('two columns: truncated', q(
	BEGIN; INSERT INTO stock (article, shop) VALUES (1, 'undone'); TRUNCATE stock; INSERT INTO stock (article, shop) VALUES (1, 'there');
	SAVEPOINT a; INSERT INTO stock (article, shop) VALUES (2, 'there'); ROLLBACK TO a; COMMIT;
	INSERT INTO stock (article, shop) SELECT g, 'many' FROM generate_series(1, 500) g;
	SELECT bf_live_contains('stock', ROW('there', 1)), bf_live_contains('stock', ROW('there', 2)), bf_live_contains('stock', ROW('undone', 1)),
		missing('stock', '(shop, article)')), 't|f|f|0');
is_sql('two columns: partitions with the columns in another order', q(
	CREATE TABLE pair (shop text, article int) PARTITION BY LIST (shop);
	CREATE TABLE pair_b PARTITION OF pair FOR VALUES IN ('b');
	CREATE INDEX pair_live ON pair USING bloomfilter (shop, article) WITH (expected = 10000, fpp = 0.0001);
	CREATE TABLE pair_a (gone int, article int, old text, shop text);
	ALTER TABLE pair_a DROP gone, DROP old;
	INSERT INTO pair_a VALUES (0, 'a');
	ALTER TABLE pair ATTACH PARTITION pair_a FOR VALUES IN ('a');
	INSERT INTO pair SELECT chr(97 + g % 2), g FROM generate_series(1, 2000) g;
	UPDATE pair SET shop = 'b' WHERE article = 2;
	ALTER TABLE pair ALTER article TYPE bigint;
	INSERT INTO pair VALUES ('a', 3000000000);
	SELECT missing('pair', '(shop, article)'), bf_live_contains('pair', ROW('a', 3000000000)), bf_live_contains('pair', ROW('b', 2)),
		bf_live_contains('pair', ROW('a', 1))), '0|t|t|f');

# A REPEATABLE READ transaction that sees versions which the index does not know.
my ($in, $out) = ('', '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, IPC::Run::timeout(60));
sub ask
{
	my ($query, $pattern) = @_;
	$out = '';
	$in .= "$query\n";
	IPC::Run::pump($session) until $out =~ $pattern;
	return $out;
}
$sql->(q(
	CREATE TABLE broken (id int, title text) WITH (fillfactor = 50);
	INSERT INTO broken SELECT g, 'old ' || g FROM generate_series(1, 100) g;));
ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'seen ' || count(*) FROM broken;", qr/seen 100/);
$sql->(q(UPDATE broken SET title = 'new ' || id;
	CREATE INDEX broken_live ON broken USING bloomfilter (title)));
is($sql->(q(SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'broken_live'::regclass)), 'f',
	'broken HOT chains do not matter, as their members are hashed');
like(ask("SELECT 'old versions ' || count(*) FROM broken WHERE title LIKE 'old%' AND bf_live_contains('broken', title);",
	qr/old versions \d+/), qr/old versions 100/, 'a snapshot from before sees all of its versions');
like(ask("SELECT 'sure ' || bf_live_contains('broken', 'no such title');", qr/sure \w+/), qr/sure false/,
	'for which the filter is sure');
like(ask("COMMIT; SELECT 'sure ' || bf_live_contains('broken', 'no such title');", qr/sure \w+/), qr/sure false/,
	'and afterwards the filter is sure');
$in .= "\\q\n";
IPC::Run::finish($session);

# Errors that protect the promise.
sub fails
{
	my ($name, $query, $state) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY sqlstate\n$query");
	like($err, qr/ERROR:  $state/, $name) or diag $out;
}
$sql->(q(
	CREATE ROLE reader; CREATE TABLE secret (title text, owner text DEFAULT 'x');
	CREATE INDEX ON secret USING bloomfilter (title); INSERT INTO secret VALUES ('s');));
fails('no privilege', q(SET ROLE reader; SELECT bf_live_contains('secret', 's')), '42501');
$sql->(q(GRANT SELECT (title) ON secret TO reader));
is_sql('on the column is enough', q(SET ROLE reader; SELECT bf_live_contains('secret', 's')), 't');
$sql->(q(ALTER TABLE secret ENABLE ROW LEVEL SECURITY; GRANT SELECT ON secret TO reader));
fails('row-level security', q(SET ROLE reader; SELECT bf_live_contains('secret', 's')), '42501');
$sql->(q(CREATE TABLE partial (title text); CREATE INDEX part ON partial USING bloomfilter (title) WHERE title > 'm'));
fails('a partial index is not the table\'s', q(SELECT bf_live_contains('partial', 'a')), '42704');

# citext, also where a column becomes one without a rebuild of its index.
SKIP:
{
	skip 'no citext', 17
	  unless $sql->(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'));
	$sql->(q(CREATE EXTENSION citext; CREATE DOMAIN ci AS citext;
		CREATE TABLE c (a citext, b ci, t text); CREATE INDEX c_live ON c USING bloomfilter (t); INSERT INTO c (t) VALUES ('x');));
	fails('citext', q(CREATE INDEX ON c USING bloomfilter (a)), '0A000');
	fails('a domain over it', q(CREATE INDEX ON c USING bloomfilter (b)), '0A000');
	$sql->(q(CREATE TABLE stored (f bloomfilter, a citext, b ci, c citext[], d ci[]); INSERT INTO stored VALUES (bf_create(10) + 'x', 'X', 'X', '{X}', '{X}')));
	foreach my $call ('f @> a', 'f + b', 'a <@ f', q(f @> 'X'::citext), 'f @> any (c)', 'f @> all (d)', 'f @> any (array[a, a])',
		q(f @> 'a' or f @> any (array['X']::citext[])), 'bf_contains_all(f, c)', 'bf_contains_each(f, d)', 'bf_add_all(f, c)',
		q(bf_live_contains('t', a)), q(bf_live_contains_all('t', c)), q(bf_live_contains_each('t', d)))
	{
		fails("citext: $call", "SELECT $call FROM stored", '0A000');
	}
	fails('a column that became one', q(ALTER TABLE c ALTER t TYPE citext; SELECT bf_live_contains('c', 'X')), '0A000');
}

# What VACUUM (VERBOSE) and a build say.
my ($status, $stdout, $stderr) = $node->psql('postgres', q(VACUUM (VERBOSE) t));
like($stderr, qr/INFO:  live filter "t_lower" has [0-9.]+ % of its bits set/, 'VACUUM (VERBOSE) tells the fill');
($status, $stdout, $stderr) = $node->psql('postgres', q(VACUUM t));
unlike($stderr, qr/live filter/, 'VACUUM does not');
($status, $stdout, $stderr) = $node->psql('postgres', q(
	CREATE FUNCTION peek(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
	BEGIN
		IF title = 'peek' THEN
			RAISE NOTICE '%', (SELECT p.phase || ', ' || (blocks_total > 100) || ', ' || (blocks_done > 50) FROM pg_stat_progress_create_index AS p);
		END IF;
		RETURN title;
	END $$;
	CREATE TABLE slow AS SELECT repeat('x', 200) || g AS title FROM generate_series(1, 5000) g UNION ALL SELECT 'peek';
	CREATE INDEX ON slow USING bloomfilter (peek(title))));
like($stderr, qr/NOTICE:  building index: scanning table, true, true/, 'a build tells how far it is');

# Dump and restore.
my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres'), map { ('-t', $_) } qw(w p p2 p21 stock pair pair_a pair_b) ], 'dumped');
$sql->('CREATE DATABASE restored');
$node->safe_psql('restored', 'CREATE EXTENSION bloomext');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restored');
is($node->safe_psql('restored', q(SELECT (bf_live_verify('w')).missing, (bf_live_verify('p')).missing, reloptions
	FROM pg_class WHERE relname = 'w_live')), '0|0|{expected=2500000,fpp=0.0001}', 'with its filters');
is($node->safe_psql('restored', q(SELECT bf_live_verify('stock'), bf_live_verify('pair'), bf_live_contains('stock', ROW('there', 1)), bf_live_contains('stock', ROW('there', 2)),
	bf_live_contains('pair', ROW('a', 3000000000)), bf_live_contains('pair', ROW('a', 1)))), '(501,0)|(2002,0)|t|f|t|f', 'and those of two columns');

# A target of logical replication.
$node->safe_psql('restored', q(CREATE TABLE pub (id int PRIMARY KEY, title text);
	INSERT INTO pub SELECT g, 'published ' || g FROM generate_series(1, 3000) g));
$node->safe_psql('restored', q(CREATE PUBLICATION pub FOR TABLE pub));
$node->safe_psql('restored', q(SELECT pg_create_logical_replication_slot('sub', 'pgoutput')));
$sql->(q(CREATE TABLE pub (id int PRIMARY KEY, title text);
	CREATE INDEX ON pub USING bloomfilter (title) WITH (expected = 2500000, fpp = 0.0001)));
(my $connstr = $node->connstr('restored')) =~ s/'/''/g;
$sql->("CREATE SUBSCRIPTION sub CONNECTION '$connstr' PUBLICATION pub WITH (create_slot = false, slot_name = 'sub')");
$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_subscription_rel WHERE srsubstate IN ('r', 's')));
$node->safe_psql('restored', q(INSERT INTO pub VALUES (5000, 'streamed'); UPDATE pub SET title = 'updated ' || id WHERE id < 10));
$node->poll_query_until('postgres', q(SELECT count(*) = 9 FROM pub WHERE title LIKE 'updated%'));
is_sql('a target of logical replication', q(SELECT count(*), bf_live_contains('pub', 'streamed'), missing('pub') FROM pub), '3001|t|0');
$sql->('DROP SUBSCRIPTION sub');

# Who reads a filter that is large beside shared buffers leaves them to others.
SKIP:
{
	skip 'no pg_buffercache', 4 unless $sql->(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'));
	$sql->(q(CREATE EXTENSION pg_buffercache; CREATE TABLE large AS SELECT 'x' || i AS title FROM generate_series(1, 20000) AS i;
		CREATE INDEX large_live ON large USING bloomfilter (title) WITH (expected = 25000000, fpp = 0.0001)));
	$node->append_conf('postgresql.conf', 'shared_buffers = 16MB');
	foreach my $look (q(FROM bf_live_info('large') WHERE bits_set > 0), q(WHERE bf_contains(bf_live_filter('large'), 'x1')))
	{
		$node->restart;
		is($sql->("SELECT count(*) $look"), 1, "a look: $look");
		cmp_ok($sql->(q(SELECT count(*) FROM pg_buffercache WHERE relfilenode = pg_relation_filenode('large_live'))), '<', 1000, 'by few buffers');
	}
}

$node->stop;
done_testing();
