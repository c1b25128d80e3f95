# Random aggregates.  Whatever plan PostgreSQL makes, whatever memory there is,
# and however the rows come, one thing holds: no element of a group is denied by
# the filter of that group, nor by any filter that this one is merged into, nor
# by a lookup among rows of many filters.
#
# Beside that, a filter is bit for bit the one that bf_add makes of the same
# elements, one after the other in the same order; where that makes no
# difference (fixed size, nothing counted), in any order and in any number of
# processes, or called by another aggregate as if by several nodes (see
# test/nodes/nodes.c).  A filter that sized itself keeps its probability, and is at most a
# twentieth larger than it need be.
#
# BLOOMEXT_SEED repeats a run; BLOOMEXT_AGGREGATES_SECONDS is how long it takes,
# 60 unless it says otherwise.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use Cwd qw(getcwd);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
my $seconds = $ENV{BLOOMEXT_AGGREGATES_SECONDS} || 60;
srand($seed);
diag "BLOOMEXT_SEED=$seed";

sub any { return $_[ rand @_ ]; }
sub chance { return rand() < shift; }

my $node = PostgreSQL::Test::Cluster->new('aggregates');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'END');
fsync = off
jit = off
min_parallel_table_scan_size = 0
parallel_tuple_cost = 0
bloomext.overfull_notice = off
END
$node->start;
my $module = getcwd() . '/test/nodes/build/nodes.so';
$node->safe_psql('postgres', <<"END");
CREATE EXTENSION bloomext_citus CASCADE;
CREATE FUNCTION nodes_add(internal, regprocedure, int, VARIADIC "any") RETURNS internal AS '$module', 'nodes_add' LANGUAGE C;
CREATE FUNCTION nodes_filter(internal) RETURNS bloomfilter AS '$module', 'nodes_filter' LANGUAGE C;
CREATE AGGREGATE by_nodes(regprocedure, int, VARIADIC "any") (SFUNC = nodes_add, STYPE = internal, FINALFUNC = nodes_filter);
END
$node->safe_psql('postgres', <<'END');
-- The filter that bf_add makes of elements, one by one.
CREATE FUNCTION one_by_one(f bloomfilter, elements anyarray) RETURNS bloomfilter LANGUAGE plpgsql AS $$
DECLARE
	i int;
BEGIN
	FOR i IN 1 .. coalesce(cardinality(elements), 0) LOOP
		IF elements[i] IS NOT NULL THEN f := bf_add(f, elements[i]); END IF;
	END LOOP;
	RETURN f;
END $$;
-- What is wrong with a filter of elements.
CREATE FUNCTION wrong(f bloomfilter, elements anyarray) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN f IS NULL THEN (SELECT 'no filter' FROM unnest(elements) e HAVING count(e) > 0)
				WHEN NOT bf_contains_all(f, elements) THEN 'an element is denied'
				WHEN false = ANY (bf_contains_each(f, elements)) THEN 'an element of an array is denied' END $$;
-- What is wrong with the size of a filter that chose it by itself: how full it
-- is, is up to chance, the more so the fewer elements there are.  The share of bits
-- that are set varies by 0.46 / sqrt(elements * hashes) of itself, and is taken to the
-- power of the hashes: six times that is allowed.
CREATE FUNCTION wrong_size(f bloomfilter, fpp float8, elements bigint) RETURNS text LANGUAGE sql AS $$
	SELECT CASE WHEN bf_fpp(f) > fpp * greatest(1 + 20 / sqrt(elements + 1), exp(6 * 0.46 * sqrt(-ln(fpp) / ln(2) / (elements + 1)))) THEN format('fpp %s, not %s', bf_fpp(f), fpp)
				WHEN (bf_info(f)).expected > elements * 1.05 + 1 THEN format('for %s, of %s', (bf_info(f)).expected, elements) END $$;
END

# Elements: all distinct, few of them often, or most of them of a few.
sub table
{
	my ($rows) = @_;
	my $value = any('i', 'i', '(i % 7)', 'floor(random() * 300)::int', 'floor(exp(random() * 9))::int', 'i / 3');
	my $groups = any(1, 2, 7, 40);
	my $order = any('i', 'random()');
	my $nulls = any('false', 'random() < 0.3', 'i % 5 = 0');
	return <<"END";
DROP TABLE IF EXISTS t;
SELECT setseed(@{[ rand() ]});
CREATE TABLE t AS
	SELECT row_number() OVER () AS id, g, CASE WHEN missing THEN NULL ELSE v END AS v,
		   CASE WHEN missing THEN NULL ELSE 'title ' || v || repeat('x', v % 70) END AS x, v::bigint * 4294967311 AS l
	FROM (SELECT i, $value AS v, i % $groups AS g, $nulls AS missing FROM generate_series(1, $rows) i ORDER BY $order) s;
ALTER TABLE t SET (parallel_workers = 2);
VACUUM ANALYZE t;
END
}

# Settings that make other plans, and spill sooner.
sub settings
{
	my %settings = (
		work_mem => any("'64kB'", "'64kB'", "'4MB'", "'64MB'"),
		hash_mem_multiplier => any(1, 2),
		enable_hashagg => any('on', 'on', 'off'),
		enable_sort => any('on', 'on', 'off'),
		max_parallel_workers_per_gather => any(0, 0, 2),
		parallel_setup_cost => any(0, 0, 1000),
		parallel_leader_participation => any('on', 'off'),
		plan_cache_mode => any('auto', 'force_generic_plan'),
		synchronize_seqscans => 'off');
	return join '', map { "SET $_ = $settings{$_};\n" } sort keys %settings;
}

# A form of bf_agg: the call, the same filter empty, and whether the order of
# elements, and that there are several processes, makes no difference.
sub call
{
	my ($element) = @_;
	my $expected = any(1, 10, 100, 1000, 3000, 20000);
	my $fpp = any(0.5, 0.1, 0.03, 0.01, 0.0001, 0.0000001);
	my $strategy = any(qw(guava guava guava guava32 redisson magnuss tale2009 cassandra redisbloom redisbloom spark1 spark2 parquet parquet), $element eq 'x' ? 'bitsandblooms' : ());
	$fpp = 0.01 if $strategy eq 'cassandra' && $fpp < 0.01; # it offers no less than 0.00085
	my $expansion = chance(0.4) ? any(1, 2, 4) : 0;
	my $counting = $strategy =~ /^guava|^spark/ && !$expansion && chance(0.1) ? 'true' : 'false';
	my $empty = "bf_create($expected, $fpp, '$strategy', expansion => $expansion, counting => $counting)";
	my $arguments = "$element, $expected, $fpp" . ($expansion ? ", '$strategy', $expansion" : chance(0.2) && $strategy eq 'guava' ? '' : ", '$strategy'");
	return ($counting eq 'true' || !$expansion && chance(0.2) ? "bf_agg_into($empty, $element" : "bf_agg($arguments", $empty, !$expansion && $strategy ne 'redisbloom');
}

# Checks: queries that give a row for each mistake.
my %checks = (
	groups => sub {
		my $element = any('x', 'v', 'l');
		my ($call, $empty, $any_order) = call($element);
		my $by = any('GROUP BY g', 'GROUP BY g', '', 'GROUP BY GROUPING SETS ((g), ())', 'GROUP BY ROLLUP (g, id % 2)', 'GROUP BY g, id % 50', 'GROUP BY g HAVING count(*) > 3');
		my $filter = any('', '', " FILTER (WHERE id % 3 = 0)", " FILTER (WHERE $element IS NOT NULL)");
		my $in_order = chance(0.3) ? ' ORDER BY id' : '';
		my $serial = $any_order || $in_order;
		my $q = "SELECT $call$in_order)$filter AS f, array_agg($element$in_order)$filter AS e FROM t $by";
		# The empty filter is bound by its call's elements, even where there are none.
		return "SELECT coalesce(wrong(f, e), 'not as one by one') FROM ($q) s WHERE wrong(f, e) IS NOT NULL" .
		  ($serial ? " OR f <> one_by_one($empty, e) AND array_remove(e, NULL) <> '{}'" : '');
	},
	windows => sub {
		my $element = any('x', 'v');
		my ($call, $empty) = call($element);
		my $frame = any('ROWS BETWEEN 5 PRECEDING AND CURRENT ROW', 'ROWS UNBOUNDED PRECEDING', 'ROWS BETWEEN 2 FOLLOWING AND 30 FOLLOWING EXCLUDE TIES');
		return "SELECT coalesce(wrong(f, e), 'not as one by one') FROM (SELECT $call) OVER w AS f, array_agg($element) OVER w AS e FROM t WHERE id <= 120 " .
		  "WINDOW w AS (PARTITION BY g ORDER BY id $frame)) s WHERE wrong(f, e) IS NOT NULL OR f <> one_by_one($empty, e) AND array_remove(e, NULL) <> '{}'";
	},
	sized => sub {
		my $element = any('x', 'v', 'l');
		my $fpp = any(0.5, 0.1, 0.03, 0.001, 0.0000001);
		my $call = chance(0.3) ? "bf_agg($element)" : "bf_agg_distinct($element, $fpp)";
		$fpp = 0.03 if $call =~ /bf_agg\(/;
		my $by = any('', '', 'GROUP BY g', 'GROUP BY id % 2');
		return "SELECT coalesce(wrong(f, e), wrong_size(f, $fpp, n)) FROM (SELECT $call AS f, array_agg($element) AS e, count(DISTINCT $element) AS n FROM t $by) s " .
		  "WHERE wrong(f, e) IS NOT NULL OR wrong_size(f, $fpp, n) IS NOT NULL";
	},
	nodes => sub {
		my ($element, $type) = @{ any([ 'x', 'text' ], [ 'v', 'integer' ], [ 'l', 'bigint' ]) };
		my ($call, $empty, $any_order) = call($element);
		return '' unless $any_order && $empty =~ /counting => false/ && $empty =~ /\((\d+, [\d.e-]+, '\w+')/;
		my ($expected, $fpp, $strategy) = split /, /, $1;
		my $nodes = any(1, 2, 3, 8);
		my $by = any('', 'GROUP BY g', 'GROUP BY ROLLUP (g, id % 2)');
		return "SELECT coalesce(wrong(f, e), 'not as one by one') FROM (SELECT by_nodes('bf_agg_$type($type, bigint, float8, text)', $nodes, " .
		  "$element, ${expected}::bigint, ${fpp}::float8, ${strategy}::text) AS f, array_agg($element) AS e FROM t $by) s " .
		  "WHERE wrong(f, e) IS NOT NULL OR f <> one_by_one($empty, e) AND array_remove(e, NULL) <> '{}'";
	},
	merged => sub {
		my $element = any('x', 'v');
		my ($call, $empty, $any_order) = call($element);
		my $q = "SELECT g, $call) AS f FROM t GROUP BY g";
		return '' unless $any_order;
		return "SELECT wrong(f, e) FROM (SELECT bf_union_agg(f) AS f FROM ($q) q) s, (SELECT array_agg($element) AS e FROM t) a WHERE wrong(f, e) IS NOT NULL" if chance(0.5);
		return "WITH q AS ($q) SELECT 'union of two' FROM q a JOIN q b ON a.g < b.g WHERE bf_union(a.f, b.f) <> (SELECT $call) FROM t WHERE g IN (a.g, b.g)) LIMIT 1";
	},
	lookups => sub {
		my $element = any('x', 'v');
		my ($call) = call($element);
		my $storage = any('EXTERNAL', 'EXTERNAL', 'EXTENDED', 'PLAIN');
		my $order = any('id', 'g, id', 'random()');
		my $asked = any("bf_contains(f, $element)", "f @> $element", "$element <@ f", "bf_contains_all(f, ARRAY[$element, $element])", "(bf_contains_each(f, ARRAY[$element]))[1]");
		return <<"END";
DROP TABLE IF EXISTS filters;
CREATE TABLE filters (g int, f bloomfilter);
ALTER TABLE filters ALTER f SET STORAGE $storage;
DO \$\$ BEGIN INSERT INTO filters SELECT g, $call) FROM t GROUP BY g; EXCEPTION WHEN program_limit_exceeded THEN END \$\$;
SELECT 'denied in a join' FROM (SELECT * FROM t ORDER BY $order) t JOIN filters USING (g) WHERE $element IS NOT NULL AND NOT $asked LIMIT 1;
SELECT 'answers differ' FROM (SELECT f, array_agg(y) AS ys, array_agg(found) AS found
	FROM (SELECT f, y, bf_contains(f, y) AS found FROM filters, (SELECT DISTINCT $element AS y FROM t WHERE $element IS NOT NULL LIMIT 500) s ORDER BY random()) s GROUP BY f) s
WHERE bf_contains_each(f, ys) <> found
END
	});

my ($rounds, $refused, %done, @wrong) = (0, 0);
my $end = time + $seconds;
while ((time < $end || $rounds < 15) && !@wrong)
{
	my $rows = any(0, 1, 30, 500, 1500, 1500, 1500);
	my @names = (any(sort keys %checks), any(sort keys %checks), any(sort keys %checks));
	# Self-sizing needs many rows to spill; what goes one by one, few.
	if (chance(0.25)) { $rows = any(9000, 40000); @names = (any(qw(sized lookups)), 'sized'); }
	my $table = table($rows);
	$node->safe_psql('postgres', $table);
	for my $name (@names)
	{
		my $sql = settings() . $checks{$name}->();
		my ($status, $out, $err) = $node->psql('postgres', $sql);
		$rounds++;
		$done{$name}++;
		# Layers become ever stricter, and PLAIN storage takes no large row.
		if ($err =~ /cannot reach fpp|takes \d+ hash functions|row is too big/) { $refused++; next; }
		push @wrong, "$name: $out$err\n$table$sql" if $status || $out ne '';
	}
}
ok(!@wrong, "no filter denies its elements, seed $seed") or diag @wrong;
note join ', ', map { "$_: $done{$_}" } sort keys %done;
cmp_ok($rounds, '>=', 15, "$rounds rounds");
cmp_ok($refused, '<', 3 + $rounds / 5, "$refused of them refused");
is(scalar keys %done, scalar keys %checks, 'every check was made');

$node->stop;
done_testing();
