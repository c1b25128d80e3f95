# Who is told what, and as whom the owner's code runs: rights, expressions, conversions.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest;

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $fails = sub { return $test->fails(@_); };

# An owner's expressions run as the owner, who can do nothing else by them.
$sql->(q(
	CREATE ROLE mallory; CREATE SCHEMA m AUTHORIZATION mallory; SET ROLE mallory;
	CREATE FUNCTION m.f(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN title; END';
	CREATE TABLE m.t (title text); INSERT INTO m.t VALUES ('x'); CREATE INDEX t_bf ON m.t USING bloomfilter (m.f(title)) WHERE m.f(title) = 'x';
	CREATE FUNCTION m.plant() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		RAISE NOTICE 'runs as %', current_user;
		PERFORM set_config('work_mem', '1234kB', false);
		CREATE TEMP TABLE IF NOT EXISTS planted ();
		RAISE NOTICE 'not restricted';
	EXCEPTION WHEN insufficient_privilege THEN NULL;
	END $$;
	CREATE OR REPLACE FUNCTION m.f(title text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM m.plant(); RETURN title; END';
));
my $said = $test->said(q(SELECT * FROM bf_live_verify('m.t_bf'); DO $$ BEGIN RAISE NOTICE 'then %', current_setting('work_mem'); END $$));
like($said, qr/runs as mallory/, 'an owner\'s expressions run as the owner');
unlike($said, qr/runs as (?!mallory)|not restricted/, 'an owner\'s expressions run as nobody else, and restricted');
unlike($said, qr/then 1234kB/, 'an owner\'s expressions: settings do not stay');

# Rights are asked of what was named, before any answer.
$sql->(q(
	CREATE ROLE alice; CREATE SCHEMA r; GRANT USAGE ON SCHEMA r TO alice;
	CREATE TABLE r.pl (title text, suspended bool); CREATE INDEX pl_bf ON r.pl USING bloomfilter (title) WHERE suspended;
	GRANT SELECT (title) ON r.pl TO alice;
	CREATE TABLE r.none (title text); CREATE INDEX none_bf ON r.none USING bloomfilter (title);
	CREATE TABLE r.par (title text); CREATE INDEX ON r.par USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	CREATE TABLE r.chi () INHERITS (r.par); CREATE INDEX ON r.chi USING bloomfilter (title) WITH (expected = 1000, fpp = 0.0001);
	INSERT INTO r.chi VALUES ('x'); ALTER TABLE r.chi ENABLE ROW LEVEL SECURITY; GRANT SELECT (title) ON r.par TO alice;
	UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'r.none_bf'::regclass;
));
$fails->("rights: a partial index: $_", "SET ROLE alice; $_", '42501') foreach q(SELECT bf_live_contains('r.pl_bf', 'x')),
	q(SELECT bf_live_filter('r.pl_bf')), q(SELECT * FROM bf_live_info('r.pl_bf'));
$is_sql->('rights: with all columns', q(GRANT SELECT ON r.pl TO alice; SET ROLE alice; SELECT bf_live_contains('r.pl_bf', 'x')), 'f');
$fails->('rights: a filter that is not valid', q(SET ROLE alice; SELECT bf_live_contains('r.none', 'x')), '42501');
my $locker = $test->session;
$locker->ask('BEGIN; LOCK TABLE r.none, r.chi');
$fails->("rights: before any lock, $_", "SET lock_timeout = '2s'; SET ROLE alice; SELECT bf_live_contains('$_', 'x')", '42501')
	foreach 'r.none', 'r.none_bf', 'r.chi';
$locker->quit;
$is_sql->('rights: the parent\'s do for its children', q(SET ROLE alice; SELECT bf_live_contains('r.par', 'x'), certainty('r.par')), 't|sure');

# Of several columns each must be readable; an expression takes the whole table.
$sql->(q(
	CREATE TABLE r.pair (shop text, article int, pieces int);
	CREATE INDEX pair_bf ON r.pair USING bloomfilter (shop, article);
	CREATE INDEX pair_lower_bf ON r.pair USING bloomfilter (shop, (article + 1), pieces);
	INSERT INTO r.pair VALUES ('x', 1, 1); GRANT SELECT (shop, pieces) ON r.pair TO alice;
));
my $pair = q(SET ROLE alice; SELECT bf_live_contains('r.pair', ROW('x', 1)));
my $seen = q(SET ROLE alice; SELECT count(*) FROM bf_live_filters WHERE relation = 'r.pair'::regclass);
$fails->('rights: one of two columns', $pair, '42501');
$fails->('rights: one of two columns, by the index', $pair =~ s/r\.pair/r.pair_bf/r, '42501');
$is_sql->('rights: the statistics of both', $seen, '0');
$sql->('GRANT SELECT (article) ON r.pair TO alice');
$is_sql->('rights: both columns', $pair, 't');
$is_sql->('rights: the statistics of one filter', $seen, '1');
my $planned = q(SET ROLE alice; SELECT bool_and(bf_live_contains('r.pair', ROW(shop, article))) FROM r.pair);
$fails->('rights: both columns, without the function', "BEGIN; REVOKE EXECUTE ON FUNCTION bf_live_contains FROM PUBLIC; $planned", '42501');
$is_sql->('rights: both columns, without what it is planned as', "BEGIN; REVOKE EXECUTE ON FUNCTION bloomfilter_live_contains FROM PUBLIC; $planned", 't');
$fails->('rights: all columns, of an expression', q(SET ROLE alice; SELECT bf_live_contains('r.pair', ROW('x', 2, 1))), '42501');
$is_sql->('rights: those of all filters', q(SET ROLE alice; SELECT count(*) FROM bf_live_info('r.pair')), '1');

# Conversion is PostgreSQL's own, whatever the session's search_path.
my $modules = $test->build_modules;
$sql->(q(CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0));
is($node->safe_psql('latin', qq(CREATE EXTENSION bloomext; SET client_encoding = 'LATIN1';
	CREATE TABLE t (title text); CREATE INDEX ON t USING bloomfilter (title); INSERT INTO t VALUES (chr(233));
	CREATE SCHEMA s; CREATE FUNCTION s.lossy(int, int, cstring, internal, int, bool) RETURNS int LANGUAGE C STRICT AS '$modules/conversion', 'lossy_conversion';
	CREATE DEFAULT CONVERSION s.c FOR 'LATIN1' TO 'UTF8' FROM s.lossy; SET search_path = s, pg_catalog, public;
	SELECT count(*) FROM t WHERE bf_live_contains('t', title))), '1', 'a default conversion of the session\'s');

$node->stop;
done_testing();
