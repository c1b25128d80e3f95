# Live round trip with real Guava (Debian's libguava-java, and the newest release
# by Maven): Java writes, SQL reads and probes; SQL writes, Java reads and probes;
# unions on both sides are equal bytes.  Both strategies, all funnels, random
# elements.
#
# BLOOMEXT_REQUIRE_JAVA=1 makes a missing Java or Guava a failure.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my $jar = $ENV{GUAVA_JAR} // '/usr/share/java/guava.jar';
my $interop = "$FindBin::RealBin/../../interop/java";
my $missing =
    !-r $jar ? "$jar is missing"
  : system('java -version >/dev/null 2>&1') != 0 ? 'java is missing'
  : undef;
if ($missing)
{
	die "$missing, and BLOOMEXT_REQUIRE_JAVA is set" if $ENV{BLOOMEXT_REQUIRE_JAVA};
	plan skip_all => $missing;
}

my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
note("BLOOMEXT_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('guava');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
round_trip('usual', $jar);

my $fetched = PostgreSQL::Test::Utils::tempdir();
SKIP:
{
	if (system("mvn -q -B -P newest -f '$interop/redisson-pom.xml' dependency:copy-dependencies "
		. "-DincludeArtifactIds=guava -DoutputDirectory='$fetched' >'$fetched/log' 2>&1") != 0)
	{
		die 'Maven could not fetch Guava, and BLOOMEXT_REQUIRE_JAVA is set' if $ENV{BLOOMEXT_REQUIRE_JAVA};
		skip 'Maven could not fetch Guava', 8;
	}
	round_trip('newest', glob "$fetched/guava-*.jar");
}

$node->stop;
done_testing();

sub round_trip
{
	my ($release, $jar) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir();
	my @java = ('java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8', '-cp', $jar, "$interop/GuavaRoundTrip.java");

	$node->safe_psql('postgres', "CREATE DATABASE $release");
	my $sql = sub { return $node->safe_psql($release, $_[0]); };
	$sql->('CREATE EXTENSION bloomext');

	# Java writes.
	command_ok([ @java, 'write', $dir, $seed ], "Guava, $release, writes filters, seed $seed");
	$sql->(qq{
		CREATE TABLE java (id int PRIMARY KEY, strategy text, funnel text, n bigint, p float8, k int, bits bigint, hex text);
		CREATE TABLE elements (id int, seq int, part text, value text, expected boolean);
		CREATE TABLE halves (id int PRIMARY KEY, a text, b text, ab text);
		COPY java FROM '$dir/java.tsv';
		COPY elements FROM '$dir/elements.tsv';
		COPY halves FROM '$dir/union.tsv';
		ANALYZE;
		CREATE TABLE stored AS
		SELECT id, strategy, funnel, n, p, k, bits, decode(hex, 'hex') AS stream, bf_import(decode(hex, 'hex'), 'guava', funnel) AS f FROM java;

		-- An element by its kind, as each overload takes it.
		CREATE FUNCTION found(f bloomfilter, funnel text, value text) RETURNS boolean LANGUAGE plpgsql AS \$\$
		BEGIN
			RETURN CASE
				WHEN funnel IN ('utf8', 'utf16') THEN bf_contains(f, convert_from(decode(value, 'hex'), 'UTF8'))
				WHEN funnel = 'bytes' THEN bf_contains(f, decode(value, 'hex'))
				WHEN funnel = 'int' THEN bf_contains(f, value::int)
				WHEN funnel = 'long' THEN bf_contains(f, value::bigint) END;
		END \$\$;
		-- Releases of Guava differ in k for tiny n: there, it is Java's.
		CREATE FUNCTION made(strategy text, funnel text, n bigint, p float8, k int, v text[]) RETURNS bloomfilter LANGUAGE plpgsql AS \$\$
		DECLARE
			e bloomfilter := bf_create(n, p, strategy, funnel);
		BEGIN
			IF n < 40 THEN
				e := bf_create_bits((bf_info(e)).bits, k, strategy, funnel);
			END IF;
			RETURN CASE
				WHEN funnel IN ('utf8', 'utf16') THEN bf_add_all(e, ARRAY(SELECT convert_from(decode(x, 'hex'), 'UTF8') FROM unnest(v) x))
				WHEN funnel = 'bytes' THEN bf_add_all(e, ARRAY(SELECT decode(x, 'hex') FROM unnest(v) x))
				WHEN funnel = 'int' THEN bf_add_all(e, v::int[])
				WHEN funnel = 'long' THEN bf_add_all(e, v::bigint[]) END;
		END \$\$;
	});
	is($sql->('SELECT count(*) FROM stored'), '50', 'all filters are read');

	# SQL reads and probes: shape, bytes, every answer.
	is( $sql->(q{
			SELECT count(*) FROM stored, bf_info(f) i
			WHERE (i.strategy, i.funnel, i.hashes, i.bits) IS DISTINCT FROM (stored.strategy, stored.funnel, k, stored.bits)
				OR bf_export(f) <> stream}),
		'0', 'what Guava wrote has the right shape and goes out again');
	is( $sql->(q{
			SELECT count(*) FROM stored JOIN elements USING (id) WHERE found(f, funnel, value) IS DISTINCT FROM expected}),
		'0', 'SQL answers as Guava for every element');
	is( $sql->(q{
			SELECT count(*) > 10000 AND count(*) FILTER (WHERE NOT expected) > 1000
				AND bool_and(expected) FILTER (WHERE part <> 'probe') FROM elements}),
		't', 'there was something to answer');

	# SQL makes the same filters: sizes and bytes; halves and their union.
	$sql->(q{
		CREATE TABLE own AS
		SELECT id, made(strategy, funnel, n, p, k, e.a) AS a, made(strategy, funnel, n, p, k, e.b) AS b,
			made(strategy, funnel, n, p, k, e.a || e.b) AS f
		FROM stored JOIN (SELECT id, coalesce(array_agg(value ORDER BY seq) FILTER (WHERE part = 'a'), '{}') AS a,
							coalesce(array_agg(value ORDER BY seq) FILTER (WHERE part = 'b'), '{}') AS b
						FROM elements GROUP BY id) e USING (id)});
	is( $sql->(q{
			SELECT count(*), count(*) FILTER (WHERE bf_export(own.f) = stream AND own.f = stored.f) FROM own JOIN stored USING (id)}),
		'50|50', 'SQL makes the same bytes of the same elements');
	is( $sql->(q{
			SELECT count(*), count(*) FILTER (WHERE encode(bf_export(own.a), 'hex') = halves.a
				AND encode(bf_export(own.b), 'hex') = halves.b
				AND encode(bf_export(own.a | own.b), 'hex') = halves.ab
				AND encode(bf_export(bf_import(decode(halves.a, 'hex')) | bf_import(decode(halves.b, 'hex'))), 'hex') = halves.ab)
			FROM own JOIN halves USING (id)}),
		'50|50', 'unions are equal bytes');

	# SQL writes, Java reads and probes.
	$sql->(qq{
		COPY (SELECT id, encode(bf_export(f), 'hex'), encode(bf_export(a | b), 'hex') FROM own ORDER BY id) TO '$dir/sql.tsv'});
	my ($out, $err) = run_command([ @java, 'check', $dir ]);
	like($out, qr/^50 filters, \d+ probes, 0 disagreements$/, 'Guava reads what SQL wrote, and answers alike')
	  or diag($out, $err);
}
