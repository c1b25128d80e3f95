# What doc/security.md says: each statement of its table takes the grant beside it,
# no more and no less; plans tell nobody of rows that he may not read; what the owner of
# a schema made before has no part in the extension; passwords are in no log; and
# elements can be made for a filter as cheaply, and to as little avail, as it says.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use RedisServer;
use RedisTest qw(start_postgres sql outcome);

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $password = 'Secret-of-this-test';
local $ENV{REDISCLI_AUTH} = 'needed';
my $redis = RedisServer->new(port => RedisServer::free_port(), options => [ '--requirepass', 'needed' ]);
$redis->cli('ACL', 'SETUSER', 'app', 'on', ">$password", '~*', '+@all');
my $node = start_postgres('log_statement = none', extra => [ '--encoding', 'UTF8', '--locale', 'C' ]);
sql('CREATE EXTENSION bloomext');

# Who may do what: the document's setting, with the Redis server of this test, and its
# table.
my ($setting) = code('doc/security.md', 'sql', 'Who may do what');
my ($table) = slurp_file('doc/security.md') =~ /^## Who may do what\n.*?^(\|.*?)\n\n/ms;
for ($setting, $table)
{
	s/port '6379'/port '$redis->{port}'/g;
	s/password 'secret'/password '$password'/g;
}
sql($setting);
my @rows = map { [ map { s/^\s+|\s+$//gr } split /\|/, $_, -1 ] } (split /\n/, $table)[ 2 .. ($table =~ tr/\n//) ];
cmp_ok(scalar(map { split /<br>/, $_->[1] } @rows), '>=', 40, 'a table of statements');

# What a statement says to the role, or its SQLSTATE, after some grants, which
# are undone.
sub outcome_after
{
	my ($statement, $grants) = @_;
	my $connect = $statement =~ s/ \(in `(\w+)`\)$// ? "\\c $1\n" : '';
	$statement =~ s/^`|`$//g;
	return outcome("${connect}BEGIN; $grants;\nSET LOCAL ROLE app;\n$statement;\nROLLBACK");
}

for (@rows)
{
	my (undef, $statements, $takes, $without, $too_little) = @$_;
	my $refused = $without eq 'no rows' ? '' : $without =~ s/`//gr;
	foreach my $statement (split /<br>/, $statements)
	{
		my $granted = outcome_after($statement, $takes eq 'nothing' ? '' : $takes =~ s/`//gr);
		unlike($granted, $refused eq '' && $without ne '' ? qr/^$/ : qr/^[0-9A-Z]{5}$/, "$statement: $takes");
		next if $takes eq 'nothing';
		is(outcome_after($statement, ''), $refused, "$statement: nothing");
		is(outcome_after($statement, $too_little =~ s/`//gr), $refused, "$statement: $too_little") if $too_little ne '';
	}
}
my $listed = join ' ', map { $_->[1] } @rows;
is(sql(q{SELECT string_agg(DISTINCT proname, ' ') FROM pg_proc JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = pg_proc.oid
		JOIN pg_extension AS e ON refobjid = e.oid AND extname = 'bloomext'
		WHERE proname ~ '^bf_(live|redis|mirror|fetch)' AND strpos($$} . $listed . q{$$, proname || '(') = 0}), '', 'of functions that need a grant none is missing');

sql('GRANT USAGE ON FOREIGN SERVER other TO app');
is(outcome("SET ROLE app; SELECT bf_redis_info('other', 'titles')"), '42704', 'USAGE without a mapping');
sql('CREATE USER MAPPING FOR app SERVER other');
is(outcome("SET ROLE app; SELECT bf_redis_info('other', 'titles')"), '2F003', 'a mapping without a password');

# Plans: of titles that are there, are not, and are in a row that a policy hides.  No index
# finds them, as else they are not asked for.
sql(q{CREATE ROLE reader; CREATE ROLE peeper;
	CREATE TABLE planned (id int, title text) WITH (autovacuum_enabled = off);
	INSERT INTO planned SELECT i, CASE WHEN i % 2 = 0 THEN 'common' ELSE 'title ' || i END FROM generate_series(1, 10000) AS i;
	CREATE INDEX planned_bf ON planned USING bloomfilter (title) WITH (fpp = 0.000001, plans = on, absent = 0.5);
	CREATE INDEX planned_lower_bf ON planned USING bloomfilter (lower(title)) WITH (fpp = 0.000001, plans = on, absent = 0.5);
	CREATE TABLE days (id int, title text) PARTITION BY LIST (id);
	CREATE TABLE days_1 PARTITION OF days FOR VALUES IN (1);
	INSERT INTO days SELECT 1, 'title ' || i FROM generate_series(1, 20000, 2) AS i;
	CREATE INDEX days_bf ON days USING bloomfilter (title) WITH (fpp = 0.000001, plans = on, absent = 0.5);
	CREATE VIEW shown AS SELECT title FROM planned; GRANT SELECT ON shown TO reader;
	ANALYZE planned, days});

# The plan that the server makes, and prints before it looks at rights, but for what
# is asked for.
sub plan_of
{
	my ($role, $query, $title) = @_;
	my ($status, $out, $err) = $node->psql('postgres', sprintf
		"SET ROLE $role; SET client_min_messages = log; SET debug_print_plan = on; SET debug_pretty_print = off; $query", $title);
	my ($plan) = $err =~ /(:planTree.*?):stmt_len/s;
	return ($plan // 'none') =~ s/\s+/ /gr =~ s/:constvalue \S+ \[[^]]*\]|:location -?\d+//gr;
}
# Whether the plan for what is there is another than for what is not.
sub tells
{
	my ($role, $query) = @_;
	my ($there, $absent) = map { plan_of($role, $query, $_) } 'title 11', 'title 10';
	like($there, qr/planTree/, "$role is shown a plan for $query");
	return $there eq $absent ? 0 : 1;
}
SKIP:
{
	skip 'no gates before PostgreSQL 15', 18 if $node->safe_psql('postgres', 'SHOW server_version_num') < 150000;
	my @queries = (q{SELECT id FROM planned WHERE title = '%s'}, q{SELECT id FROM planned WHERE lower(title) = '%s'},
		q{SELECT id FROM days WHERE title = '%s'});
	is(tells('peeper', $_), 0, 'a role without rights is told nothing') for @queries;
	sql('GRANT SELECT (id, title) ON planned, days TO peeper');
	is(tells('peeper', $queries[$_]), $_ == 1 ? 0 : 1, 'with rights to columns, of these') for 0 .. 2;
	sql('GRANT SELECT ON planned, days TO peeper');
	is(tells('peeper', $_), 1, 'with rights to the table, all') for @queries;
	is(tells('reader', q{SELECT title FROM shown WHERE title = '%s'}), 1, 'by the rights of a view\'s owner');
	sql('ALTER VIEW shown SET (security_barrier)');
	is(tells('reader', q{SELECT title FROM shown WHERE title = '%s'}), 0, 'but where it hides rows');
	sql(q{ALTER TABLE planned ENABLE ROW LEVEL SECURITY; CREATE POLICY odd ON planned USING (id % 4 = 1)});
	is(tells('peeper', $queries[0]), 0, 'or a policy does');
}
# As above, unless that was skipped.
sql('GRANT SELECT ON planned TO peeper; ALTER TABLE planned ENABLE ROW LEVEL SECURITY');
my $estimate = q{SET ROLE %s; EXPLAIN SELECT FROM planned WHERE bf_contains('%s', title)};
sub rows_estimated { return $node->safe_psql('postgres', sprintf $estimate, @_) =~ /rows=(\d+)/ ? $1 : -1; }
my @filters = split /\n/, sql(q{SELECT bf_create(10) + 'common'; SELECT bf_create(10) + 'rare'});
is(rows_estimated('peeper', $filters[0]), rows_estimated('peeper', $filters[1]), 'nor do estimates tell of common values');
cmp_ok(rows_estimated('postgres', $filters[0]), '>', 2 * rows_estimated('postgres', $filters[1]), 'as they do to others');
is(sql(q{SELECT count(*) FROM pg_proc WHERE (proleakproof OR prosecdef) AND probin LIKE '%bloomext%'}), 0, 'no function is leakproof, or somebody else\'s');

# Objects that the owner of a database and a schema made before: each takes part
# in nothing, or is in the way.
sql(q{CREATE ROLE owner LOGIN; CREATE DATABASE theirs OWNER owner});
my %in_the_way = (
	'CREATE TYPE bloomfilter AS (i int)' => '42710',
	'CREATE FUNCTION bf_create(bigint, float8, text, text, int, boolean) RETURNS int LANGUAGE sql RETURN 1' => '42723',
	'CREATE VIEW bf_live_filters AS SELECT 1' => '42P07');
for my $object (sort keys %in_the_way)
{
	my ($status, $out, $err) = $node->psql('theirs', "\\set VERBOSITY sqlstate
		BEGIN; SET ROLE owner; CREATE SCHEMA s; SET search_path = s; $object; CREATE EXTENSION bloomext");
	like($err, qr/ERROR:  $in_the_way{$object}/, "in the way: $object");
}
my $planted = q{SET ROLE owner; CREATE SCHEMA mine; SET search_path = mine;
	CREATE FUNCTION trap() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped as %', current_user; END $$;
	CREATE FUNCTION trap(l anyelement, r anyelement) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM mine.trap(); RETURN true; END';
	CREATE OPERATOR = (LEFTARG = anyelement, RIGHTARG = anyelement, PROCEDURE = trap);
	CREATE FUNCTION trap(l "char", r text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM mine.trap(); RETURN true; END';
	CREATE OPERATOR = (LEFTARG = "char", RIGHTARG = text, PROCEDURE = trap);
	CREATE FUNCTION trap(l oid, r oid) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN PERFORM mine.trap(); RETURN true; END';
	CREATE OPERATOR = (LEFTARG = oid, RIGHTARG = oid, PROCEDURE = trap);
	CREATE FUNCTION bf_live_state(anyelement, OUT col text, OUT due text) LANGUAGE plpgsql AS 'BEGIN PERFORM mine.trap(); END';
	CREATE TABLE pg_am (oid oid, amhandler regproc); CREATE TABLE pg_class (oid oid, relam oid, relkind "char"); CREATE TABLE pg_index (indexrelid oid);};
my ($status, $out, $err) = $node->psql('theirs', "$planted CREATE EXTENSION bloomext SCHEMA mine");
is($status, 0, 'the owner of a database creates it among his objects') or diag $err;
is($node->safe_psql('theirs', q{CREATE TABLE t (title text); CREATE INDEX ON t USING bloomfilter (title);
	SELECT count(*) FROM mine.bf_live_filters}), 1, 'none of which a superuser meets in its view');
is($node->safe_psql('theirs', q{
	SELECT count(*) FROM pg_rewrite AS r JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
		LEFT JOIN pg_depend AS e ON e.deptype = 'e' AND e.classid = d.refclassid AND e.objid = d.refobjid
	WHERE ev_class = 'mine.bf_live_filters'::regclass AND e.objid IS NULL AND d.refobjid >= 16384}), 0, 'which is of PostgreSQL\'s objects and its own');
is($node->safe_psql('theirs', q{
	SELECT string_agg(DISTINCT rolname, ' ') FROM pg_proc JOIN pg_roles ON pg_roles.oid = proowner
	WHERE probin LIKE '%bloomext%'}), $node->safe_psql('theirs', 'SELECT rolname FROM pg_roles WHERE oid = 10'), 'its functions are not his');

# Passwords: whatever fails, and whatever the log says of it.
$node->append_conf('postgresql.conf', 'log_min_messages = debug5');
$node->reload;
sql("CREATE SERVER nowhere FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '1');
	CREATE SERVER sealed FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host '127.0.0.1', port '$redis->{port}', tls 'true');
	GRANT USAGE ON FOREIGN SERVER cache, nowhere, sealed TO app;
	CREATE USER MAPPING FOR app SERVER nowhere OPTIONS (username 'app', password '$password');
	CREATE USER MAPPING FOR app SERVER sealed OPTIONS (username 'app', password '$password')");
my $said = '';
for my $query ("SELECT bf_redis_create('cache', 'p', 10)", "SELECT bf_redis_add('cache', 'p', 'x')", "SELECT bf_redis_contains('nowhere', 'p', 'x')",
	"SELECT bf_redis_contains('sealed', 'p', 'x')", "SELECT bf_fetch('cache', 'none')", "EXPLAIN (VERBOSE, ANALYZE) SELECT bf_redis_contains('cache', 'p', 'x')",
	"SET debug_print_plan = on; SET client_min_messages = debug5; SELECT bf_redis_info('cache', 'p')")
{
	($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET ROLE app; $query");
	$said .= "$out$err";
}
$redis->cli('ACL', 'SETUSER', 'app', '>another', "<$password");
($status, $out, $err) = $node->psql('postgres', "SET ROLE app; SELECT bf_redis_info('cache', 'p')");
like("$said$err", qr/WRONGPASS/, 'a password that is wrong');
unlike("$said$err", qr/\Q$password/, 'is not in what a role is told');
# But for the statements by which this test has set it.
my $log = join '', grep { !/USER MAPPING/ } split /^/, slurp_file($node->logfile);
like($log, qr/DEBUG:.*bf_redis_info|bf_redis_info.*p/s, 'of all that the log says');
unlike($log, qr/\Q$password/, 'it is nowhere, either');

# Elements that are made for a filter: murmur3 of 16 bytes, backwards.
{
	no warnings 'portable';
	my @factors = (0x87c37b91114253d5, 0x4cf5ad432745937f, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 5);
	sub times_ { use integer; return $_[0] * $_[1]; }
	sub minus { use integer; return $_[0] - $_[1]; }
	my @inverse = map { my $f = my $i = $_; $i = times_($i, minus(2, times_($f, $i))) for 1 .. 6; $i } @factors;
	sub turn { my ($x, $n) = @_; $x &= ~0; return ($x >> $n | $x << 64 - $n) & ~0; }
	sub unmix
	{
		my $x = $_[0] & ~0;
		for my $i (@inverse[ 3, 2 ]) { $x = times_($x ^ $x >> 33, $i) & ~0; }
		return $x ^ $x >> 33;
	}
	# The one element of 16 bytes that has these two hashes.
	sub element
	{
		my ($h1, $h2) = @_;
		$h2 = minus($h2, $h1); $h1 = minus($h1, $h2);
		($h1, $h2) = (unmix($h1), unmix($h2));
		$h2 = minus($h2, $h1); $h1 = minus($h1, $h2);
		$_ = ($_ & ~0) ^ 16 for $h1, $h2;
		$h2 = turn(minus(times_(minus($h2, 0x38495ab5), $inverse[4]), $h1), 31);
		$h1 = turn(times_(minus($h1, 0x52dce729), $inverse[4]), 27);
		return pack 'Q<Q<', map { $_ & ~0 } times_(turn(times_($h1, $inverse[1]), 31), $inverse[0]),
			times_(turn(times_($h2, $inverse[0]), 33), $inverse[1]);
	}
}
sub array { return "ARRAY[" . join(',', map { "'\\x" . unpack('H*', $_) . "'" } @_) . ']::bytea[]'; }
my ($bits, $position) = split /\|/, sql(q{SELECT bits, (bf_positions(f, 'known'::bytea))[1] FROM (SELECT bf_create(1000000, 0.0001, funnel => 'bytes')) AS x (f), bf_info(f)});
my @forged = map { element($position + $bits * $_, $bits * $_) } 1 .. 1000;
is(sql('SELECT count(DISTINCT e), count(*) FILTER (WHERE bf_contains(f, e)), max(bf_count(f)) FROM unnest(' . array(@forged) .
		q{) AS e, LATERAL (SELECT bf_create(1000000, 0.0001, funnel => 'bytes') + 'known'::bytea) AS x (f)}), '1000|1000|1', 'false positives on purpose');
my $key = '00' x 31 . '01';
is(sql("CREATE EXTENSION pgcrypto; SELECT count(*) FILTER (WHERE bf_contains(f, hmac(e, '\\x$key', 'sha256'))) FROM unnest(" . array(@forged) .
		qq{) AS e, LATERAL (SELECT bf_create(1000000, 0.0001, funnel => 'bytes') + hmac('known', '\\x$key', 'sha256')) AS x (f)}), 0, 'which a secret prevents');

my ($size, $hashes) = split /\|/, sql('SELECT bits, hashes FROM bf_info(bf_create(1000, 0.01))');
my $count = int(($size + $hashes - 1) / $hashes);
is("$count $size", '1372 9600', 'as many as the document says');
is(sql('SELECT bits_set, estimated_fpp FROM bf_info(bf_add_all(bf_create(1000, 0.01), ' . array(map { element($_ * $hashes, 1) } 0 .. $count - 1) . '))'),
	"$size|1", 'fill a filter up');
cmp_ok(sql("SELECT estimated_fpp FROM bf_info(bf_add_all(bf_create(1000, 0.01), ARRAY(SELECT 'honest ' || i FROM generate_series(1, $count) AS i)))"),
	'<', 0.05, 'as honest ones do not');

# An aggregate that counts by a sketch where hashes do not fit into memory: these
# have all zeros but the bits of its registers, of which each is hit.
my $made = "$PostgreSQL::Test::Utils::tmp_check/elements";
append_to_file($made, join '', map { '\\\\x' . unpack('H*', element($_ << 48, $_)) . "\n" } 0 .. 65535);
sql("CREATE TABLE made (e bytea); COPY made FROM '$made'");
is(outcome(q{SET statement_timeout = '1min'; SET work_mem = '64kB'; SELECT expected <= 2.1 * 65536, bits_set > 0 FROM bf_info((SELECT bf_agg(e) FROM made))}), 't|t', 'elements that fool a sketch');
is(outcome(q{SET work_mem = '64kB'; SET temp_file_limit = '100kB'; SELECT bf_agg(e) FROM made}), '53400', 'what it files has a limit');

# What is another element.
is(sql(q{SELECT bf_contains(f, U&'e\0301'), bf_contains(f, U&'\00c9'), bf_contains(f, normalize(lower(U&'E\0301'), NFKC)) FROM (SELECT bf_create(10) + U&'\00e9') AS x (f)}),
	'f|f|t', 'an accent in two code points, and in upper case');
is(sql(q{SELECT bf_contains(f, '\x61'::bytea), bf_contains(f, '\x610062'::bytea) FROM (SELECT bf_create(10) + '\x610062'::bytea) AS x (f)}), 'f|t', 'a NUL byte and what follows');

# What was deleted stays until the filter is made anew.
sql(q{CREATE TABLE people (mail text); CREATE INDEX people_bf ON people USING bloomfilter (mail) WITH (fpp = 0.000001);
	INSERT INTO people VALUES ('a@example.org'); DELETE FROM people});
sql('VACUUM people');
is(sql(q{SELECT bf_live_contains('people', 'a@example.org')}), 't', 'a deleted row is remembered');
sql('REINDEX INDEX CONCURRENTLY people_bf');
is(sql(q{SELECT bf_live_contains('people', 'a@example.org')}), 'f', 'until the filter is rebuilt');

$node->stop;
done_testing();
