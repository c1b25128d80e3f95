# Statistics: every strategy finds what was added to it, and errs as often as
# bf_advise says, at all sizes and probabilities.
#
# The seed is printed; BLOOMEXT_SEED sets it.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{BLOOMEXT_SEED} // time;
$seed =~ /^\d+$/ or die 'BLOOMEXT_SEED must be a number';
diag("BLOOMEXT_SEED=$seed");

my $node = PostgreSQL::Test::Cluster->new('fpp');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\nmax_parallel_workers_per_gather = 0\njit = off\nwork_mem = 64MB\n");
$node->start;

# The strategies are those that the message lists.
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');
my (undef, undef, $message) = $node->psql('postgres', q{SELECT bf_create(1, 0.5, '')});
$message =~ /strateg\w* are: ([\w, ]+)/ or die "no list of strategies in: $message";
my @strategies = split /, /, $1;
cmp_ok(scalar @strategies, '>=', 10, "strategies: @strategies");

$node->safe_psql('postgres', <<"END" . <<'END');
CREATE TABLE elements AS
	SELECT i, left(md5('$seed ' || i), 16) AS e FROM generate_series(1, 1000000) i;
CREATE TABLE strategies AS SELECT unnest(string_to_array('@strategies', ' ')) AS strategy;
CREATE FUNCTION seed() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ${seed}::bigint';
END
VACUUM ANALYZE elements;

-- For each n, how many filters of it are measured: enough of the small ones,
-- which differ among themselves.
CREATE TABLE sizes (n bigint, filters int);
INSERT INTO sizes VALUES (1, 4000), (5, 3000), (10, 3000), (100, 500), (1000, 50),
	(10000, 5), (100000, 2), (1000000, 1);
CREATE TABLE sets AS
	SELECT row_number() OVER (ORDER BY strategy, n, p) AS id, strategy, n, p, filters
	FROM strategies, sizes, unnest('{0.5,0.1,0.01,1e-3,1e-4,1e-6}'::float8[]) p;
CREATE TABLE advised (id bigint, real_fpp float8);
CREATE TABLE measured (id bigint, filters int, probes bigint, fpp float8, variance float8);

CREATE FUNCTION textbook(s sets) RETURNS float8 LANGUAGE sql AS
	'SELECT power(1 - exp(-hashes * s.n::float8 / bits), hashes) FROM bf_advise(s.n, s.p, s.strategy)';
CREATE PROCEDURE advise() LANGUAGE plpgsql AS $$
DECLARE
	s sets;
BEGIN
	FOR s IN SELECT * FROM sets ORDER BY id LOOP
		-- Where that is not known, large filters err as the textbook says.
		INSERT INTO advised SELECT s.id, coalesce(real_fpp, CASE WHEN s.n >= 1000 AND s.p >= 1e-3 THEN textbook(s) END)
			FROM bf_advise(s.n, s.p, s.strategy);
		COMMIT;
	END LOOP;
END $$;

-- Does the strategy take these parameters?
CREATE FUNCTION takes(s sets) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM bf_create(s.n, s.p, s.strategy);
	RETURN true;
EXCEPTION WHEN invalid_parameter_value OR program_limit_exceeded THEN
	RETURN false;
END $$;
DELETE FROM sets s WHERE NOT takes(s);

-- Probe a filter first with as many probes as show p; where it errs more
-- rarely, with as many as time allows.
CREATE PROCEDURE measure() LANGUAGE plpgsql AS $$
DECLARE
	s sets;
	fs bloomfilter[];
	each int;
BEGIN
	FOR s IN SELECT * FROM sets ORDER BY id LOOP
		SELECT array_agg(f) INTO fs
		FROM (SELECT bf_agg(e, s.n, s.p, s.strategy) AS f
			  FROM elements WHERE i <= s.filters * s.n GROUP BY (i - 1) / s.n) g;
		each := least(CASE WHEN s.n < 100000 THEN 600000 ELSE 300000 END,
					  greatest(20000, 1000 / s.p)) / s.filters + 1;
		INSERT INTO measured
			SELECT s.id, s.filters, s.filters::bigint * each, avg(fpp), coalesce(var_samp(fpp), 0)
			FROM unnest(fs) WITH ORDINALITY u(f, o), bf_measure_fpp(f, each, seed() * 1000000 + s.id * 5000 + o) fpp;
		COMMIT;
	END LOOP;
END $$;
END

# Both take their time: side by side.
my $advising = IPC::Run::start(
	[ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-c', 'CALL advise()' ],
	'>', \my $advise_out, '2>&1');
my $started = time;
for my $strategy (@strategies)
{
	is( $node->safe_psql('postgres', <<"END"), '200000', "$strategy: 200,000 random elements are found again");
SELECT count(*) FROM elements,
	(SELECT bf_agg(e, 200000, 0.001, '$strategy') AS f FROM elements WHERE i <= 200000) g
WHERE i <= 200000 AND bf_contains(f, e)
END
}
for my $grown ([ 'guava', 1 ], [ 'guava', 2 ], [ 'redisbloom', 2 ])
{
	my ($strategy, $expansion) = @$grown;
	is( $node->safe_psql('postgres', <<"END"), '200000', "$strategy with expansion $expansion: the same");
SELECT count(*) FROM elements,
	(SELECT bf_agg(e, 20000, 0.001, '$strategy', $expansion) AS f FROM elements WHERE i <= 200000) g
WHERE i <= 200000 AND bf_contains(f, e)
END
}
$node->safe_psql('postgres', 'CALL measure()');
note('measured in ' . (time - $started) . ' s');
ok($advising->finish, 'advised') or diag($advise_out);
note('advised in ' . (time - $started) . ' s');

# Five standard deviations, of the probes as drawn from one filter or as seen
# between filters, whichever is more; and for bf_real_fpp() being an estimate by
# simulation itself, 5 % (15 % below 1e-5, and for single elements, where what
# it neglects shows: 12 % for redisson, 14 % for tale2009).  With fewer than 20
# hits to expect, only too many of them are wrong.
$node->safe_psql('postgres', <<'END');
CREATE VIEW judged AS
SELECT *, expected_hits >= 20 AS two_sided,
	fpp <= real_fpp * (1 + tolerance) + 5 * sd + 5.0 / probes
		AND (expected_hits < 20 OR fpp >= real_fpp * (1 - tolerance) - 5 * sd) AS good
FROM sets JOIN measured USING (id, filters) JOIN advised USING (id),
	LATERAL (SELECT real_fpp * probes AS expected_hits,
		CASE WHEN n < 5 OR real_fpp < 1e-5 THEN 0.15 ELSE 0.05 END AS tolerance,
		sqrt(greatest(real_fpp * (1 - real_fpp) / probes, variance / filters)) AS sd) l;
END
for my $strategy (@strategies)
{
	my ($sets, $two_sided, $bad) = split /\|/, $node->safe_psql('postgres', <<"END");
SELECT count(*), count(*) FILTER (WHERE two_sided), count(*) FILTER (WHERE NOT good)
FROM judged WHERE strategy = '$strategy'
END
	cmp_ok($two_sided, '>=', $strategy eq 'bitsandblooms' ? 16 : 20, "$strategy: enough of $sets sets of parameters show errors");
	is($bad, 0, "$strategy: measured as bf_advise says, for n from 1 to 1,000,000 and p from 0.5 to 1e-6");
}
diag($_) for split /\n/, $node->safe_psql('postgres', <<'END');
SELECT format('%s n=%s p=%s: real_fpp %s, measured %s (%s filters, %s probes, sd %s)',
	strategy, n, p, real_fpp::numeric(20,9), fpp::numeric(20,9), filters, probes, sd::numeric(20,9))
FROM judged WHERE NOT good ORDER BY id
END
note($_) for split /\n/, $node->safe_psql('postgres', <<'END');
SELECT format('%s n=%s p=%s: real_fpp %s, measured %s (%s filters, %s probes, sd %s)',
	strategy, n, p, real_fpp::numeric(20,9), fpp::numeric(20,9), filters, probes, sd::numeric(20,9))
FROM judged ORDER BY id
END
is($node->safe_psql('postgres', 'SELECT count(*) FROM judged'), $node->safe_psql('postgres', 'SELECT count(*) FROM sets'), 'all sets were judged');

done_testing();
