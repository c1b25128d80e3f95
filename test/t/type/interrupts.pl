# Work between two checks for interrupts is bounded, whatever is given: counted
# in basic blocks of the module's own code (test/work/count.c), so that it is the
# same on every machine.
use strict;
use warnings;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# What a megabyte of input, or 65,536 positions, come to at most.
use constant MOST => 6_000_000;

my $top = "$FindBin::RealBin/../../..";
my $build = "$PostgreSQL::Test::Utils::tmp_check/work";
my $log = "$PostgreSQL::Test::Utils::tmp_check/log/work.log";
{
	delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	system("make -s -j2 -C '$top' PG_CONFIG=pg_config WORK_DIR='$build' '$build/bloomext.so' >'$log' 2>&1") == 0
	  or plan skip_all => 'the compiler cannot count basic blocks: ' . slurp_file($log);
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "fsync = off\njit = off\nmax_parallel_workers_per_gather = 0\nwork_mem = 256MB\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');
# A session has one of the modules, and from PostgreSQL 18 on whoever compares text has
# one: the planner asks all access methods that know the operator.
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$build/bloomext.so' WHERE probin = '\$libdir/bloomext'");
$node->safe_psql('postgres', qq(
	CREATE FUNCTION bloomext_work() RETURNS bigint LANGUAGE c AS '$build/bloomext.so';

	CREATE TABLE filters (name text, f bloomfilter);
	INSERT INTO filters VALUES
		('plain', bf_create_bits(512::bigint * 1024 * 1024, 7) + 'x'),
		('counting', bf_create(16000000, 0.03, counting => true) + 'x'),
		('redisbloom', bf_create(50000000, 0.01, 'redisbloom') + 'x'),
		('parquet', bf_create_bits(1024 * 1024 * 1024, 8, 'parquet') + 'x'),
		('magnuss', bf_create_bits(1000000, 8, 'magnuss')),
		('tale2009', bf_create_bits(1000000, 255, 'tale2009')),
		('cassandra', bf_create_bits(1000000, 255, 'cassandra')),
		('redisson', bf_create_bits(1000000, 255, 'redisson')),
		('spark2', bf_create_bits(1000000, 255, 'spark2')),
		('bitsandblooms', bf_create_bits(1000000, 255, 'bitsandblooms')),
		('dearest', bf_create_bits(1 << 24, 255)),
		('layers', bf_add_all(bf_create(1, 1e-70, expansion => 1), ARRAY(SELECT i::text FROM generate_series(1, 1023) i)));
	CREATE TABLE elements (name text, t text, b bytea);
	ALTER TABLE elements ALTER t SET STORAGE external, ALTER b SET STORAGE external;
	INSERT INTO elements
	SELECT 'ascii', repeat('0123456789abcdef', 6 * 1024 * 1024), repeat('0123456789abcdef', 6 * 1024 * 1024)::bytea
	UNION ALL SELECT 'wide', repeat(E'\\u20ac\\U0001F600', 4 * 1024 * 1024), NULL;
	CREATE TABLE arrays (name text, a text[]);
	INSERT INTO arrays VALUES
		('many', ARRAY(SELECT i::text FROM generate_series(1, 1000000) i)),
		('nulls', array_fill(NULL::text, ARRAY[1000000]));
	CREATE TABLE live (t text);
	INSERT INTO live SELECT i::text FROM generate_series(1, 100000) i;
	CREATE INDEX ON live USING bloomfilter (t) WITH (expected = 20000000);
	CREATE TABLE blocks AS TABLE live;
	CREATE INDEX ON blocks USING bloomfilter (t) WITH (expected = 20000000, strategy = parquet);
));

# The longest stretch of a statement.
sub work
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT bloomext_work();\n\\o /dev/null\n$sql;\n\\o\nSELECT bloomext_work();");
	diag("$sql: $err") if $err =~ /ERROR/;
	return (split /\n/, $out)[1];
}

sub bounded
{
	my ($sql) = @_;
	my $start = time;
	my $blocks = work($sql);
	cmp_ok($blocks, '<', MOST, $sql);
	note(sprintf('%d blocks, %d ms: %s', $blocks, (time - $start) * 1000, $sql));
}

# Counting counts.
cmp_ok(work(q{SELECT bf_contains(f, 'y') FROM filters WHERE name = 'redisson'}), '>', 255, 'work is counted');

# All of a filter.
for my $name (qw(plain counting redisbloom parquet))
{
	bounded("SELECT $_ FROM filters WHERE name = '$name'") for
	  'bf_count(f)', 'bf_fpp(f)', 'bf_info(f)', 'bf_layers(f)', 'length(bf_plain(f)::text)', 'bloomfilter_hash(f)', 'f = f',
	  'bf_count(f | f)', 'bf_count(f & f)', q{length(bf_export(f, 'redis'))}, q{length(bf_export_layer(f, 0, 'bitset'))},
	  'length(bf_export(f))', 'bf_count(bf_union_agg(f))', q{bf_count(bf_add(f, 'y'))}, 'bf_count(f::text::bloomfilter)',
	  'bf_measure_fpp(f, 10000)';
}
bounded(q{SELECT bf_count(bf_import(bf_export(f))) FROM filters WHERE name = 'plain'});
bounded(q{SELECT bf_count(bf_import(bf_export(f), 'redisbloom')) FROM filters WHERE name = 'redisbloom'});
bounded(q{SELECT bf_count(bf_import(bf_export(f), 'parquet')) FROM filters WHERE name = 'parquet'});
bounded(q{SELECT bf_count(f | bf_create_bits(256 * 1024, 8, 'parquet')) FROM filters WHERE name = 'parquet'});
bounded(q{SELECT bf_count(bf_import_bits(bf_export(f, 'redis'), 'redis', 512::bigint * 1024 * 1024, 7)) FROM filters WHERE name = 'plain'});
bounded(q{SELECT bf_import_bits(decode(repeat('00', 64 * 1024 * 1024), 'hex'), 'redis', 64, 7)});

# Long elements, by all strategies.
for my $element (qw(ascii wide))
{
	bounded("SELECT bf_contains(f, t) FROM filters, elements e WHERE filters.name = '$_' AND e.name = '$element'") for
	  qw(plain magnuss tale2009 cassandra redisson redisbloom spark2 bitsandblooms parquet);
	bounded("SELECT bf_positions(f, t) FROM filters, elements e WHERE filters.name = 'magnuss' AND e.name = '$element'");
	bounded("SELECT bf_count(bf_agg(t, 10, 0.03, '$_')) FROM elements WHERE name = '$element'") for qw(magnuss tale2009);
	bounded("SELECT bf_count(bf_add_all(f, ARRAY[t, t])) FROM filters, elements e WHERE filters.name = 'magnuss' AND e.name = '$element'");
	bounded("SELECT bf_live_contains('live', t) FROM elements WHERE name = '$element'");
}
bounded("SELECT bf_contains(bf_create(10), b) FROM elements WHERE name = 'ascii'");

# Many positions: of layers, of hashes, of elements.
bounded(q{SELECT bf_contains(f, 'not there') FROM filters WHERE name = 'layers'});
bounded(q{SELECT bf_contains_all(f, a[1:20000]), bf_contains_each(f, a[1:2000]) FROM filters, arrays WHERE filters.name = 'layers' AND arrays.name = 'many'});
bounded(q{SELECT bf_count(bf_add_all(f, a[1:2000])) FROM filters, arrays WHERE filters.name = 'layers' AND arrays.name = 'many'});
for my $array (qw(many nulls))
{
	bounded("SELECT bf_count(bf_add_all(f, a)), bf_contains_all(f, a), cardinality(bf_contains_each(f, a)) FROM filters, arrays WHERE filters.name = '$_' AND arrays.name = '$array'")
	  for qw(plain counting dearest parquet);
	bounded("SELECT bf_live_contains_all('live', a), cardinality(bf_live_contains_each('live', a)) FROM arrays WHERE name = '$array'");
}
bounded(q{SELECT bf_count(bf_agg(x, 1000000, 0.01)), bf_count(bf_agg(x)), bf_count(bf_agg(x, 1000, 0.01, 'guava', 2)) FROM arrays, unnest(a) x WHERE name = 'many'});
bounded(q{SELECT bf_measure_fpp(f, 3000) FROM filters WHERE name = 'layers'});
bounded("SELECT bf_advise($_)") for q{1000, 1e-19}, q{10, 1e-5, 'redisson'}, q{1000, 1e-9, 'magnuss'};

# The planner's estimates read a quarter of a megabyte, in words of 8 bytes.
$node->safe_psql('postgres', 'ANALYZE live');
for my $form ('$1 @> t', 'bf_contains($1, t)')
{
	my $blocks = work(qq{DO 'DECLARE f bloomfilter; BEGIN SELECT filters.f INTO f FROM filters WHERE name = ''plain''; EXECUTE ''SELECT FROM live WHERE $form LIMIT 0'' USING f; END'});
	cmp_ok($blocks, '>', 32_768, "estimates read: $form");
	cmp_ok($blocks, '<', 131_072, "and less than a megabyte: $form");
}

# All of a live filter.
for my $table (qw(live blocks))
{
	bounded($_) for "SELECT bf_count(bf_live_filter('$table'))", "SELECT bf_live_info('$table')", "SELECT bf_live_layers('$table')", "SELECT bf_live_verify('$table')",
	  "INSERT INTO $table SELECT (-i)::text FROM generate_series(1, 200000) i", "INSERT INTO $table SELECT t FROM elements",
	  "REINDEX TABLE $table", "VACUUM $table";
}

$node->stop;
done_testing();
