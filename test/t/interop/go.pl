# Live round trip with Go's bits-and-blooms/bloom: SQL makes filters of random
# elements, Go reads them and makes its own, and SQL reads those.  All are equal
# bytes, so are unions, and all give the same answers.
#
# BLOOMEXT_REQUIRE_GO=1 makes a missing Go or module a failure.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();

# A cache of its own, which can be removed.
my $build = "cd '$FindBin::RealBin/../../interop/go' && GOPATH='$dir/go' GOCACHE='$dir/cache' GOFLAGS=-modcacherw go build -o '$dir/roundtrip'";
my $missing =
    system('command -v go >/dev/null 2>&1') != 0 ? 'go is not installed'
  : system("$build >'$dir/build.log' 2>&1") != 0 ? 'Go could not fetch or build the module: ' . slurp_file("$dir/build.log")
  : undef;
if ($missing)
{
	die $missing if $ENV{BLOOMEXT_REQUIRE_GO};
	plan skip_all => $missing;
}

my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
note("BLOOMEXT_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('go');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION bloomext;
	SELECT setseed($seed / 2147483648.0);

	CREATE TABLE sizes AS
	SELECT row_number() OVER () AS id, kind, n, (ARRAY[0.3, 0.03, 0.001, 1e-9])[1 + floor(random() * 4)]::float8 AS p
	FROM unnest(ARRAY['text', 'bytea']) AS kind, unnest(ARRAY[1, 10, 100, 1000, 100000]) AS n;

	-- One in 5000 is long.
	CREATE TABLE elements AS
	SELECT id, seq, kind, (ARRAY['a', 'b', 'probe'])[1 + (seq + floor(random() * 2)::int) % 3] AS part,
		CASE WHEN kind = 'text' THEN left(value, length) END AS t,
		CASE WHEN kind = 'bytea' THEN substr(sha512(convert_to(value, 'UTF8')) || convert_to(value, 'UTF8'), 1, length) END AS b
	FROM sizes, generate_series(1, n + n / 2 + 20) AS seq,
		LATERAL (SELECT md5(random()::text || id || seq) AS digest) AS d,
		LATERAL (SELECT seq % 5000 = 2500 AS long) AS l,
		LATERAL (SELECT CASE WHEN long THEN repeat(digest, 2000) ELSE left(digest, 7) || 'ünï 書😀' || digest END AS value,
					CASE WHEN long THEN 64000 ELSE floor(random() * 50)::int END AS length) AS v;

	CREATE FUNCTION made(wanted text[]) RETURNS TABLE (id bigint, f bloomfilter) LANGUAGE sql AS \$\$
		SELECT id, bf_agg(t, n, p, 'bitsandblooms') FILTER (WHERE part = ANY (wanted))
		FROM sizes JOIN elements USING (id, kind) WHERE kind = 'text' GROUP BY id
		UNION ALL
		SELECT id, bf_agg(b, n, p, 'bitsandblooms') FILTER (WHERE part = ANY (wanted))
		FROM sizes JOIN elements USING (id, kind) WHERE kind = 'bytea' GROUP BY id \$\$;
	CREATE TABLE own AS
	SELECT id, whole.f, a.f AS a, b.f AS b
	FROM made('{a,b}') AS whole JOIN made('{a}') AS a USING (id) JOIN made('{b}') AS b USING (id);

	COPY (SELECT id, n, p, encode(bf_export(f), 'hex') FROM own JOIN sizes USING (id)) TO '$dir/sql.tsv';
	COPY (SELECT id, seq, kind, part, encode(coalesce(b, convert_to(t, 'UTF8')), 'hex') FROM elements) TO '$dir/elements.tsv';
});

command_ok([ "$dir/roundtrip", $dir ], "Go reads SQL's filters and makes its own, seed $seed");
$node->safe_psql('postgres', qq{
	CREATE TABLE go (id bigint, whole text, a text, b text, united text, again text);
	CREATE TABLE answers (id bigint, seq int, own boolean, sql boolean);
	COPY go FROM '$dir/go.tsv';
	COPY answers FROM '$dir/answers.tsv';
	CREATE FUNCTION read(stream text, kind text) RETURNS bloomfilter LANGUAGE sql AS \$\$
		SELECT bf_import(decode(stream, 'hex'), 'bitsandblooms', CASE kind WHEN 'text' THEN 'utf8' ELSE 'bytes' END) \$\$;
	CREATE TABLE theirs AS SELECT id, read(whole, kind) AS f, read(a, kind) AS a, read(b, kind) AS b FROM go JOIN sizes USING (id);
});

is( $node->safe_psql('postgres', q{
		SELECT count(*), count(*) FILTER (WHERE encode(bf_export(own.f), 'hex') = whole), count(*) FILTER (WHERE again = whole),
			count(*) FILTER (WHERE theirs.f = own.f)
		FROM own JOIN go USING (id) JOIN theirs USING (id)}),
	'10|10|10|10', 'both make the same bytes of the same elements, and read them');
is( $node->safe_psql('postgres', q{
		SELECT count(*), count(*) FILTER (WHERE encode(bf_export(own.a), 'hex') = go.a AND encode(bf_export(own.b), 'hex') = go.b
				AND encode(bf_export(own.a | own.b), 'hex') = united AND encode(bf_export(theirs.a | theirs.b), 'hex') = united)
		FROM own JOIN go USING (id) JOIN theirs USING (id)}),
	'10|10', 'unions are equal bytes');
is( $node->safe_psql('postgres', q{
		SELECT count(*) > 300000, count(*) FILTER (WHERE part = 'probe' AND NOT own) > 50000, bool_and(own) FILTER (WHERE part <> 'probe'),
			count(*) FILTER (WHERE (own, sql) IS DISTINCT FROM
				(coalesce(bf_contains(f, t), bf_contains(f, elements.b)), own))
		FROM answers JOIN elements USING (id, seq) JOIN theirs USING (id)}),
	't|t|t|0', 'SQL and Go answer alike for every element');

$node->stop;
done_testing();
