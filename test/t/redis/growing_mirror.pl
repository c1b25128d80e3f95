# Live filters that grow, mirrored to Redis: whoever asks there finds every row that
# was there when it was mirrored, while the filter grows, is folded, and is mirrored
# again, from the primary and from a standby.  What does not fit is an error.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest;
use RedisServer;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $redis = RedisServer->new;
my $library = slurp_file(`pg_config --sharedir` =~ s/\n//r . '/extension/bloomext.lua');
my $script = $redis->cli('SCRIPT', 'LOAD', $library =~ s/^#!.*\n//r);

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->start;
my $test = LiveTest->new($primary);
$test->sql(qq{
	CREATE EXTENSION bloomext;
	CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER cache;
	-- How many elements of a table Redis does not find.
	CREATE FUNCTION missing(tab regclass, key text, OUT missing bigint) LANGUAGE plpgsql AS \$\$
	BEGIN
		EXECUTE format('SELECT count(*) FROM (SELECT unnest(bf_redis_contains_each(''cache'', %L, array_agg(title))) FROM %s) AS t (found)
			WHERE NOT found', key, tab) INTO missing;
	END \$\$;
	-- What the two sides say of a mirror, as far as it differs.
	CREATE FUNCTION differences(tab regclass, key text) RETURNS TABLE (what text) LANGUAGE sql AS \$\$
		SELECT 'missing' FROM missing(tab, key) AS m WHERE m > 0
		UNION ALL SELECT 'value' WHERE bf_fetch('cache', key) <> bf_live_filter(tab)
		UNION ALL SELECT 'layout' FROM bf_redis_info('cache', key) WHERE layout <> 'growing'
		UNION ALL SELECT 'shape' FROM bf_redis_info('cache', key) AS r, bf_live_info(tab) AS l
			WHERE (r.layers, r.expansion, r.bits, r.bits_set, r.strategy, r.funnel, r.expected, r.fpp)
				IS DISTINCT FROM (l.layers, l.expansion, l.bits, l.bits_set, l.strategy, l.funnel, l.expected, l.fpp) \$\$;
});

# A table of titles, which are of a type; and more of them.
sub make
{
	my ($table, $type, $options) = @_;
	$test->sql("CREATE TABLE $table (title $type); CREATE INDEX ${table}_bf ON $table USING bloomfilter (title) WITH ($options)");
}

sub add
{
	my ($table, $from, $to, $element) = @_;
	$test->sql('INSERT INTO ' . $table . ' SELECT ' . ($element // "'Title ' || i") . " FROM generate_series($from, $to) AS i");
}

# Keys of a mirror.
sub keys_of { return join ' ', sort split /\n/, $redis->cli('KEYS', "$_[0]*"); }

# The titles that a reader in Redis finds, of those up to a number.
sub found
{
	my ($key, $count) = @_;
	my @titles = map { "Title $_" } 1 .. $count;
	my $found = 0;
	while (my @some = splice @titles, 0, 500)
	{
		$found += grep { $_ eq '1' } split /\n/, $redis->cli('EVALSHA', $script, 1, $key, 'bloomext_contains', @some);
	}
	return $found;
}

# Of each kind of elements and by each expansion, what was mirrored is found, and
# is there after it grew until it is mirrored again.
my %kinds = (
	doubled => [ 'text', 'expected = 1000, expansion = 2, fpp = 0.01' ],
	alike => [ 'text', q(expected = 1000, expansion = 1, fpp = 0.01, strategy = 'guava32') ],
	utf16 => [ 'text', q(expected = 1000, expansion = 3, fpp = 0.001, funnel = 'utf16') ],
	spark1 => [ 'text', q(expected = 1000, expansion = 2, fpp = 0.01, strategy = 'spark1') ],
	spark2 => [ 'bigint', q(expected = 1000, expansion = 2, fpp = 0.01, strategy = 'spark2'), 'i' ],
	bigints => [ 'bigint', 'expected = 1000, expansion = 2, fpp = 0.01', 'i' ],
	uuids => [ 'uuid', q(expected = 1000, expansion = 4, strategy = 'guava32'), 'md5(i::text)::uuid' ]);
for my $table (sort keys %kinds)
{
	my ($type, $options, $element) = @{ $kinds{$table} };
	my $from = 1;
	make($table, $type, $options);
	for my $to (0, 500, 3000, 8000)
	{
		add($table, $from, $to, $element);
		is($test->sql("SELECT bf_live_mirror('$table', 'cache', '$table') = (SELECT sum(l.bits) / 8 FROM bf_live_layers('$table') AS l)"),
			't', "$table, $to elements: all of it is sent");
		is($test->sql("SELECT * FROM differences('$table', '$table')"), '', "$table, $to elements: the mirror is the filter");
		$from = $to + 1;
	}
	cmp_ok($test->sql("SELECT layers FROM bf_live_info('$table')"), '>=', 3, "$table: it has grown");
	is(found($table, 8000), 8000, "$table: a reader in Redis finds all") if $type eq 'text' && $options !~ /spark/;
	# What has no row is found until the mirror is written again.
	$test->sql("SELECT bf_redis_add_each('cache', '$table', array_agg(@{[$element // q('Title ' || i)]})) FROM generate_series(10001, 20000) AS i");
	$test->sql("SELECT bf_live_mirror('$table', 'cache', '$table')");
	is($test->sql("SELECT * FROM differences('$table', '$table')"), '', "$table: what a service added is out, and nothing else");
	# Fewer layers take the place of many.
	$test->sql("ALTER INDEX ${table}_bf SET (expected = 50000); REINDEX INDEX ${table}_bf; SELECT bf_live_mirror('$table', 'cache', '$table')");
	is($test->sql("SELECT * FROM differences('$table', '$table')"), '', "$table: folded");
	is(keys_of($table), "$table-0 $table-config $table-cursor", "$table: other layers are gone");
}

# Readers that ask all the time, before the filter grows, while it does, and when
# it is folded, miss nothing that was mirrored at first.
make('busy', 'text', 'expected = 1000, expansion = 2, fpp = 0.01');
add('busy', 1, 1000);
$test->sql("SELECT bf_live_mirror('busy', 'cache', 'busy'); CREATE TABLE old AS SELECT title FROM busy");
my $reader = $test->session;
$reader->start(q{DO $$
	BEGIN
		FOR i IN 1 .. 100000 LOOP
			IF missing('old', 'busy') > 0 THEN RAISE 'a title is missing in round %', i; END IF;
			EXIT WHEN bf_redis_contains('cache', 'busy', 'the end');
		END LOOP;
	END $$; SELECT 'nothing was missing'});
for my $round (1 .. 12)
{
	add('busy', $round * 1000 + 1, $round * 1000 + 1000);
	$test->sql('REINDEX INDEX busy_bf') if $round == 8;
	$test->sql("SELECT bf_live_mirror('busy', 'cache', 'busy')");
	is(found('busy', $round * 1000 + 1000), $round * 1000 + 1000, "round $round: a reader in Redis finds all");
}
$test->sql("INSERT INTO busy VALUES ('the end'); SELECT bf_live_mirror('busy', 'cache', 'busy')");
is($reader->finish, 'nothing was missing', 'readers all the time');
$reader->quit;

# While others write row by row, and grow it, value and mirror have what was
# committed before: in the bits of any layer, or waiting for them.
$test->sql(q(
	CREATE TABLE rush (id bigint GENERATED ALWAYS AS IDENTITY, title text);
	CREATE INDEX ON rush USING bloomfilter (title) WITH (expected = 60000, fpp = 1e-30, expansion = 1);
	CREATE TABLE halt (done bool);
	CREATE PROCEDURE write_rows(writer int, batch int) LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. 10000000 LOOP
			INSERT INTO rush (title) SELECT format('%s: %s, %s', writer, i, g) FROM generate_series(1, batch) AS g;
			IF i % 20 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
			EXIT WHEN EXISTS (SELECT FROM halt);
		END LOOP;
	END $$));
my @writers = map { $test->session } 1 .. 3;
$writers[$_]->start("CALL write_rows($_, @{[ (1, 1, 30)[$_] ]}); SELECT 'done'") foreach 0 .. 2;
my ($layers, $waited, $rounds) = (1, 0, 0);
while ($layers < 5 && $rounds++ < 200)
{
	is($test->sql(q(
		WITH live AS MATERIALIZED (SELECT bf_live_filter('rush') AS f)
		SELECT count(*) FROM rush, live WHERE NOT bf_contains(f, title))), '0', "$layers layers: the value has all");
	is($test->sql(q(
		CREATE TEMP TABLE asked AS SELECT title FROM rush ORDER BY id DESC LIMIT 300;
		INSERT INTO asked SELECT title FROM rush WHERE id % 1009 = 0;
		DO $$ BEGIN PERFORM bf_live_mirror('rush', 'cache', 'rush'); END $$;
		SELECT missing('asked', 'rush'))), '0', 'the mirror, too');
	($layers, my $pending) = split /\|/, $test->sql(q(SELECT layers, pending FROM bf_live_info('rush')));
	$waited ||= $pending > 0;
}
$test->sql('INSERT INTO halt VALUES (true)');
is($_->finish, 'done', 'a writer') foreach @writers;
$_->quit foreach @writers;
cmp_ok($layers, '>=', 5, 'it grew');
ok($waited, 'elements waited on pending pages');
is($test->sql("SELECT count(*) FROM rush WHERE id % 20 = 0 AND NOT bf_live_contains('rush', title)"), '0', 'so have lookups');

# A standby whose session knew fewer layers mirrors all that it has replayed.
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
make('far', 'text', 'expected = 1000, expansion = 2, fpp = 0.01');
add('far', 1, 500);
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
my $away = LiveTest->new($standby)->session;
like($away->ask("SELECT layers FROM bf_live_info('far'); SELECT bf_live_mirror('far', 'cache', 'far') > 0"), qr/^1; t$/, 'one layer on the standby');
for my $to (3000, 9000)
{
	add('far', $to == 3000 ? 501 : 3001, $to);
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	is($away->ask("SELECT bf_live_mirror('far', 'cache', 'far') > 0"), 't', "a standby mirrors $to titles");
	is($test->sql("SELECT * FROM differences('far', 'far')"), '', 'the mirror is the filter of the primary');
}
$away->quit;
$standby->stop;

# One key cannot hold it, even before it grows; and one size is no growing filter.
make('small', 'text', 'expansion = 2');
$test->fails("layout $_", "SELECT bf_live_mirror('small', 'cache', 'small', '$_')", '0A000') foreach 'guava', 'bitmap', 'redisson';
like($test->said("SELECT bf_live_mirror('small', 'cache', 'small', 'guava')"),
	qr/"guava" does not support live filters that grow\nHINT:.*SET \(expected = N\), then REINDEX INDEX CONCURRENTLY/, 'the hint');
is(keys_of('small'), '', 'nothing was written');
$test->is_sql('its own layout', "SELECT bf_live_mirror('small', 'cache', 'small', 'growing') > 0", 't');
$test->sql('ALTER INDEX small_bf SET (expected = 1000, expansion = 0); REINDEX INDEX small_bf');
$test->fails('one size', "SELECT bf_live_mirror('small', 'cache', 'small', 'growing')", '22023');
$test->fails('another layout is refused', "SELECT bf_live_mirror('small', 'cache', 'small')", '22023');
$test->is_sql('until the old one is dropped', q(SELECT bf_redis_drop('cache', 'small'), bf_live_mirror('small', 'cache', 'small') > 0,
	bf_live_mirror('small', 'cache', 'small')), 't|t|0');
is(keys_of('small'), 'small', 'in one key');
$test->sql('ALTER INDEX small_bf RESET (expected, expansion); REINDEX INDEX small_bf');
$test->fails('and the other way round', "SELECT bf_live_mirror('small', 'cache', 'small')", '22023');

# Partitions are one filter while they are alike.  One that grew apart leaves the
# mirror as it is.
$test->sql(q(
	CREATE TABLE parts (n int, title text) PARTITION BY LIST (n);
	CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
	CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
	CREATE INDEX ON parts USING bloomfilter (title) WITH (expected = 1000, expansion = 2, fpp = 0.01)));
add('parts (title, n)', 1, 3000, "'Title ' || i, i % 2 + 1");
$test->is_sql('partitions that are alike', "SELECT bf_live_mirror('parts', 'cache', 'parts') > 0, missing('parts', 'parts')", 't|0');
add('parts (title, n)', 3001, 9000, "'Title ' || i, 1");
my $mirrored = $redis->bytes('parts-0');
$test->fails('partitions that are unlike', "SELECT bf_live_mirror('parts', 'cache', 'parts')", '0A000');
ok($redis->bytes('parts-0') eq $mirrored && found('parts', 3000) == 3000, 'the mirror is what it was');
$test->is_sql('a partition has a mirror of its own', q(SELECT bf_live_mirror('parts_1', 'cache', 'part') > 0, missing('parts_1', 'part')), 't|0');
$test->sql('ALTER INDEX parts_1_title_idx SET (expected = 9000, expansion = 0); ALTER INDEX parts_2_title_idx SET (expected = 9000, expansion = 0);
	REINDEX TABLE parts');
$test->is_sql('of one size they are alike', q(SELECT bf_live_mirror('parts', 'cache', 'sized') > 0, missing('parts', 'sized'),
	bf_fetch('cache', 'sized') = bf_live_filter('parts')), 't|0|t');

$primary->stop;
done_testing();
