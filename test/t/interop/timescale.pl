# What doc/scale.md says of TimescaleDB is so: filters of hypertables are those of
# tables, and of a compressed chunk a live filter says maybe, from when it is
# compressed until it is not, to sessions that asked before, too.  Skipped where the
# server has no TimescaleDB with compression.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use Documents qw(code);
use LiveTest;

my ($shared, $libraries) = map { chomp(my $dir = `pg_config --$_`); $dir } 'sharedir', 'pkglibdir';
plan skip_all => 'the server has no TimescaleDB'
  if !-e "$shared/extension/timescaledb.control" || !glob "$libraries/timescaledb-tsl-*";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
shared_preload_libraries = 'timescaledb'
timescaledb.telemetry_level = off
timezone = 'UTC'
client_min_messages = error
));
$node->start;
my $test = LiveTest->new($node);
$test->install;

# Three days of rows, today the last.
$test->sql(q(
	CREATE EXTENSION timescaledb;
	CREATE TABLE articles (written timestamptz NOT NULL, author int, title text);
	SELECT create_hypertable('articles', 'written', chunk_time_interval => interval '1 day');
	INSERT INTO articles SELECT date_trunc('day', now()) - interval '2 days' + i * interval '1 minute', i % 10, 'title ' || i FROM generate_series(0, 4319) i;
	CREATE INDEX articles_title_bf ON articles USING bloomfilter (title) WITH (expected = 10000, fpp = 0.0001);
	ALTER TABLE articles SET (timescaledb.compress, timescaledb.compress_segmentby = 'author', timescaledb.compress_orderby = 'written');
	CREATE FUNCTION oldest() RETURNS regclass LANGUAGE sql AS $$SELECT show_chunks('articles') ORDER BY 1 LIMIT 1$$;
	CREATE FUNCTION chunks() RETURNS text LANGUAGE sql AS
		$$SELECT denied('articles') || ' denied, ' || certainty('articles') || ': ' ||
			string_agg(denied(c) || ' ' || certainty(c), ', ' ORDER BY c) FROM show_chunks('articles') c$$));
my $sure = '0 denied, sure: 0 sure, 0 sure, 0 sure';
my $maybe = '0 denied, maybe: 0 maybe, 0 sure, 0 sure';
my $made = $test->sql(q(SELECT md5(bf_export(bf_agg('title ' || i, 10000, 0.0001))) FROM generate_series(0, 4319) i));
my $aggregate = q(SELECT md5(bf_export(bf_agg(title, 10000, 0.0001))) FROM articles);
my $warm = $test->session;

$test->is_sql('a filter over a hypertable', $aggregate, $made);
$test->is_sql('a live filter of each chunk', q(SELECT chunks(); SELECT missing FROM bf_live_verify('articles')), "$sure; 0");
$test->is_sql('its own index knows none of them', q(SELECT certainty('articles_title_bf')), 'maybe');
$warm->ask('CREATE FUNCTION asked(x text) RETURNS boolean STABLE LANGUAGE plpgsql AS $$BEGIN RETURN bf_live_contains(\'articles\', x, \'title\'); END$$');
is($warm->ask(q(PREPARE q AS SELECT count(*) FILTER (WHERE NOT asked(title)), asked('absent') FROM articles; EXECUTE q)), '0|f', 'asked by a session');
$test->is_sql('a chunk that is compressed', 'SELECT compress_chunk(oldest()) IS NOT NULL; SELECT chunks()', "t; $maybe");
is($warm->ask('EXECUTE q'), '0|t', 'to the session that asked before');
$test->is_sql('is named', q(SELECT count(*) FROM bf_live_info('articles') WHERE maybe ~ 'compressed' AND relation = oldest()), '1');
$test->fails("refused: $_", "SELECT $_('articles')", '0A000') foreach 'bf_live_filter', 'bf_live_verify';
$test->is_sql('a filter over it', $aggregate, $made);
$test->is_sql('rows that come later, and go', q(
	INSERT INTO articles SELECT min(written) + interval '1 second', 1, 'late' FROM articles;
	UPDATE articles SET title = 'changed' WHERE title = 'title 7'; DELETE FROM articles WHERE title = 'title 8'; SELECT chunks();
	SELECT compress_chunk(oldest(), if_not_compressed => true) IS NOT NULL; SELECT chunks()), "$maybe; t; $maybe");
is($warm->ask("SELECT asked('late'), asked('changed')"), 't|t', 'in that session, too');
is($warm->ask(q(BEGIN; SELECT decompress_chunk(oldest()) IS NOT NULL; EXECUTE q; ROLLBACK; EXECUTE q)), 't; 0|f; 0|t', 'decompressed, rolled back');
$test->is_sql('decompressed', 'SELECT decompress_chunk(oldest()) IS NOT NULL; SELECT chunks()', "t; $sure");
is($warm->ask('EXECUTE q'), '0|f', 'to that session');

my ($recent, $daily) = code('doc/scale.md', 'postgresql', 'Timescale');
$test->is_sql('the recipe for what is not compressed',
	'SELECT compress_chunk(oldest()) IS NOT NULL;' . $recent =~ s/7 days/2 days/r . $recent =~ s/7 days/2 days/r =~ s/some title/title 4000/r, 't; f; t');
$test->is_sql('the recipe for what is', $daily, 'f');
$test->is_sql('the days united', 'SELECT bf_contains(bf_union_agg(f), \'title 9\'), bf_union_agg(f) = (SELECT bf_agg(title, 100000, 0.0001) FROM articles) FROM daily', 't|t');
$test->is_sql('what came late', q(
	ALTER MATERIALIZED VIEW daily SET (timescaledb.materialized_only = false);
	INSERT INTO articles SELECT min(written), 1, 'afterwards' FROM articles; INSERT INTO articles VALUES (now() + interval '5 days', 1, 'future');
	SELECT bf_contains(bf_union_agg(f), 'afterwards'), bf_contains(bf_union_agg(f), 'future') FROM daily;
	CALL refresh_continuous_aggregate('daily', NULL, NULL);
	SELECT bf_contains(bf_union_agg(f), 'afterwards') FROM daily), 'f|t; t');

SKIP:
{
	skip 'no partialize_agg', 1 if !$test->sql(q(SELECT count(*) FROM pg_proc WHERE proname = 'finalize_agg'));
	$test->is_sql('states that are stored', q(
		CREATE TABLE states AS SELECT author, _timescaledb_functions.partialize_agg(bf_agg(title, 10000, 0.0001)) AS state FROM articles GROUP BY author;
		SELECT _timescaledb_functions.finalize_agg('public.bf_agg(text,bigint,double precision)', NULL, NULL,
			'{{pg_catalog,text},{pg_catalog,int8},{pg_catalog,float8}}', state, NULL::bloomfilter) = (SELECT bf_agg(title, 10000, 0.0001) FROM articles),
			count(*) FROM states), 't|10');
}

$warm->quit;
$node->stop;
done_testing();
