# Citus: the aggregates of bloomext_citus over a distributed table make what bf_agg
# makes of a plain table of the same rows, bit for bit, whether Citus gathers the rows
# or has a partial state made of each shard, where bf_agg itself says that it cannot
# be; and a live filter of a table that Citus moves to shards, or
# back, denies nothing that is there, in sessions that knew it before, either.
#
# CITUS names an installation of PostgreSQL (its bin is below), whatever its
# version, with Citus and this bloomext installed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Digest::MD5 qw(md5_hex);
use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use Documents qw(code);
use LiveTest;

plan skip_all => 'CITUS does not name an installation of PostgreSQL with Citus' unless $ENV{CITUS};

# A coordinator and two workers.
my @nodes = map { PostgreSQL::Test::Cluster->new($_, install_path => $ENV{CITUS}) } qw(coordinator one two);
foreach my $node (@nodes)
{
	$node->init;
	$node->append_conf('postgresql.conf', qq(
shared_preload_libraries = 'citus'
fsync = off
max_connections = 100
max_prepared_transactions = 100
citus.shard_count = 8
citus.enable_statistics_collection = off
citus.local_hostname = '@{[ $node->host ]}'
));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
}
my ($coordinator, @workers) = @nodes;
my $test = LiveTest->new($coordinator);
my $sql = sub { return $test->sql(shift); };
my $place = sub { return sprintf q('%s', %d), $_[0]->host, $_[0]->port };
$sql->("SELECT citus_set_coordinator_host(@{[ $place->($coordinator) ]})");
$sql->("SELECT citus_add_node(@{[ $place->($_) ]})") foreach @workers;
$test->install;
$sql->('CREATE EXTENSION bloomext_citus');
foreach my $extension (qw(bloomext bloomext_citus))
{
	my $version = "SELECT extversion FROM pg_extension WHERE extname = '$extension'";
	is($sql->("SELECT DISTINCT result FROM run_command_on_workers(\$\$$version\$\$)"), $sql->($version), "Citus creates $extension on the workers");
}

# Rows on shards, and the same in one table: more than a shard lists, in few groups.
$sql->(q(
	CREATE TABLE items (id bigint, grp int, t text, v varchar, b bytea, s smallint, i int, g bigint, u uuid, d date);
	CREATE TABLE nothing (LIKE items);
	CREATE TABLE few (LIKE items);
	SELECT create_distributed_table(r, 'id') FROM unnest('{items,nothing,few}'::regclass[]) r;
	INSERT INTO items SELECT g, g % 3, CASE WHEN g % 7 > 0 THEN 't ' || g END, 'v ' || g, 'b ' || g::text::bytea, g % 30000,
		-g, g * 10000000000, md5(g::text)::uuid, '2000-01-01'::date + g FROM generate_series(1, 20000) g;
	INSERT INTO few SELECT * FROM items WHERE id IN (5, 7);
	CREATE TABLE plain_items AS SELECT * FROM items;
	CREATE TABLE plain_nothing AS SELECT * FROM nothing;
	CREATE TABLE plain_few AS SELECT * FROM few;
));
my $pushes = $sql->(q(
	SELECT coalesce(current_setting('citus.allow_aggregate_worker_combine_on_internal_types', true), 'off'))) eq 'on';
note $sql->('SELECT citus_version()') . ', which ' . ($pushes ? 'has states of type internal made by shard' : 'gathers the rows');

# A query says the same of a distributed table and of the plain one.
sub is_equal
{
	my ($name, $query) = @_;
	my ($distributed, $error) = $test->outcome($query);
	my ($plain) = $test->outcome($query =~ s/\b(items|nothing|few)\b/plain_$1/gr);
	cmp_ok(length $plain, '>', 0, "$name: there is something to compare");
	is(md5_hex($distributed), md5_hex($plain), "$name is equal") or diag $error;
}

# Where states of type internal are combined, nothing but they comes from a shard.
sub is_pushed
{
	my ($name, $query) = @_;
	my $plan = $sql->("EXPLAIN (VERBOSE, COSTS off) $query");
	like($plan, qr/coord_binary_combine_agg.*worker_binary_partial_agg/s, "$name is made by shard") if $pushes;
}

my %typed = (t => 'text', v => 'text', b => 'bytea', s => 'integer', i => 'integer', g => 'bigint', u => 'uuid');
foreach my $column (sort keys %typed)
{
	my $agg = "bf_agg_$typed{$column}";
	is_pushed("of $column", "SELECT $agg($column, 30000, 0.01) FROM items");
	foreach my $parameters ('30000, 0.01', '30000, 0.001', q(30000, 0.01, 'guava32'), q(30000, 0.01, 'parquet'), q(10, 0.01, 'guava'))
	{
		is_equal("$_ of $column, $parameters", "SELECT $agg($column, $parameters) FROM $_") foreach qw(items few);
	}
	my ($typed) = $test->outcome("SELECT $agg($column, 30000, 0.01) FROM items");
	my ($plain) = $test->outcome("SELECT bf_agg($column, 30000, 0.01) FROM plain_items");
	is(md5_hex($typed), md5_hex($plain), "$agg($column) makes what bf_agg makes");

	# What does not say of which type its elements are.
	my $untyped = "SELECT bf_agg($column, 30000, 0.01) FROM items";
	$pushes
	  ? like(($test->outcome($untyped))[1], qr/0A000|could not determine the type of an element/, "bf_agg($column) is refused")
	  : is_equal("bf_agg($column)", $untyped);
}
is_pushed('of an oid', 'SELECT bf_agg_oid(i::oid, 30000, 0.01) FROM items WHERE i > 0');
is_equal("strategy $_", "SELECT bf_agg_text(t, 30000, 0.01, '$_') FROM items")
  foreach qw(guava guava32 magnuss tale2009 cassandra redisson spark1 spark2 bitsandblooms parquet);

# What queries have beside it.
is_equal($_->[0], $_->[1]) foreach (
	[ 'GROUP BY another column', 'SELECT grp, bf_agg_text(t, 20000, 0.01) FROM items GROUP BY 1 ORDER BY 1' ],
	[ 'of an expression', 'SELECT grp + 1, bf_agg_text(lower(t) || grp, 20000, 0.01) FROM items WHERE i < -9 GROUP BY 1 ORDER BY 1' ],
	[ 'GROUP BY the distribution column', 'SELECT id, bf_agg_text(t, 20, 0.01) FROM items WHERE id < 20 GROUP BY id ORDER BY id' ],
	[ 'many groups', 'SELECT s % 2500, bf_agg_uuid(u, 20, 0.01) FROM items GROUP BY 1 ORDER BY 1' ],
	[ 'several', 'SELECT bf_agg_text(t, 20000, 0.01), bf_agg_bigint(g, 30000, 0.001), count(*), bf_agg_bytea(b, 100, 0.03), max(i) FROM items' ],
	[ 'several of a column', 'SELECT bf_agg_text(t, 20000, 0.01), bf_agg_text(t, 20000, 0.001), bf_agg_text(t, 1, 0.03) FROM items' ],
	[ 'HAVING', q(SELECT grp FROM items GROUP BY grp HAVING bf_contains(bf_agg_text(t, 20000, 0.0001), 't 19990')) ],
	[ 'FILTER', 'SELECT bf_agg_text(t, 20000, 0.01) FILTER (WHERE grp = 1), bf_agg_text(t, 20000, 0.03) FROM items' ],
	[ 'DISTINCT', 'SELECT bf_agg_integer(DISTINCT s, 30000, 0.01) FROM items' ],
	[ 'cast', 'SELECT bf_agg_text(d::text, 30000, 0.01) FROM items' ],
	[ 'NULLs', 'SELECT bf_agg_text(t, 100, 0.01) FROM items WHERE t IS NULL' ],
	[ 'that sizes itself', 'SELECT bf_agg(t), bf_agg(g), bf_agg_distinct(t, 0.001) FROM items' ],
	[ 'bf_union_agg', 'SELECT grp, bf_union_agg(bf_create(10) + t) FROM items WHERE id < 99 GROUP BY 1 ORDER BY 1' ],
	[ 'bf_intersection_agg', q(SELECT bf_intersection_agg(bf_create(10) + t + 'x') FROM items WHERE id < 99) ],
	[ 'a subquery', 'SELECT bf_union_agg(f) FROM (SELECT id, bf_agg_text(t, 20000, 0.01) AS f FROM items WHERE id < 99 GROUP BY id) AS x' ]);

# Over no rows at all nobody has seen the parameters: an empty filter, or NULL.
$test->is_sql('over no rows', 'SELECT bf_agg_text(t, 10, 0.03) IS NULL OR bf_count(bf_agg_text(t, 10, 0.03)) = 0 FROM nothing', 't');
$test->is_sql('over none that are left', q(
	SELECT grp, count(*) FILTER (WHERE grp = 1) > 0 AS any, coalesce(bf_count(bf_agg_text(t, 20000, 0.03) FILTER (WHERE grp = 1)), 0) > 0 AS filled
	FROM items GROUP BY 1 ORDER BY 1), '0|f|f; 1|t|t; 2|f|f');
$test->is_sql('over no rows of a group', 'SELECT grp, bf_agg_text(t, 10, 0.03) FROM nothing GROUP BY 1', '');

# A filter that grows is not united from parts: its rows come to one place.
my $growing = q(SELECT bf_agg(t, 1000, 0.01, 'guava', 2) FROM items);
$test->is_sql('a filter that grows', "SELECT count(*) FROM plain_items WHERE NOT bf_contains(($growing), t)", '0');

# A state that anybody could make up: a strategy that lists no hashes, and lists one.
my $forged = q(
	SELECT coord_binary_combine_agg(agg, set_byte(state, 4, 1), NULL::bloomfilter)
	FROM (SELECT agg, worker_binary_partial_agg(agg, ROW(t, 30000::bigint, 0.01::float8, 'magnuss'::text)) AS state
		FROM plain_items, CAST('bf_agg_text(text, bigint, float8, text)' AS regprocedure) AS agg GROUP BY agg) AS x);
$test->fails('a forged state', $forged, '22P03') if $pushes;

# Tables that Citus moves, to sessions that asked before and will again: the one that
# moves them, and another.
my ($mover, $stranger) = map { $test->session } 1 .. 2;
$mover->ask('SET client_min_messages = error');
sub knows
{
	my ($name, $table, @titles) = @_;
	my $ask = join ';', map { "SELECT bf_live_contains('$table', '$_')" } @titles;
	is($_->ask($ask), join('; ', ('t') x @titles), "$table, $name") foreach $mover, $stranger;
}

sub denies
{
	my ($name, $table) = @_;
	is($_->ask("SELECT bf_live_contains('$table', 'never was')"), 'f', "$table, $name: a sure no") foreach $mover, $stranger;
}

sub is_elsewhere
{
	my ($name, $table) = @_;
	knows("$name: maybe", $table, 'never was');
	$test->fails("$table, $name: $_", qq(SELECT $_('$table')), '0A000') foreach qw(bf_live_filter bf_live_verify);
	like($sql->("SELECT maybe FROM bf_live_info('$table') LIMIT 1"), qr/managed by Citus/, "$table, $name: bf_live_info says why");
}

# There in a transaction that is rolled back; there; and back. Rows are added on either side.
sub moves
{
	my ($table, $there, $back) = @_;
	my $add = sub { $sql->("INSERT INTO $table VALUES ($_[0], '$_[1]')") };
	$sql->(qq(
		CREATE TABLE $table (id bigint PRIMARY KEY, title text, topic bigint DEFAULT 1);
		CREATE INDEX ON $table USING bloomfilter (title)));
	$add->(1, 'here');
	knows('at first', $table, 'here');
	denies('at first', $table);
	like($mover->ask(qq(
		BEGIN; $there; INSERT INTO $table VALUES (0, 'gone');
		SELECT bf_live_contains('$table', 'here'), bf_live_contains('$table', 'gone');
		ROLLBACK)), qr/(^|; )t\|t$/, "$there, and rows in the transaction");
	knows('rolled back', $table, 'here');
	denies('rolled back', $table);
	unlike($mover->ask($there), qr/ERROR/, $there);
	$add->(2, 'there');
	knows('moved', $table, 'here', 'there');
	is_elsewhere('moved', $table);
	unlike($mover->ask($back), qr/ERROR/, $back);
	$add->(3, 'again');
	knows('moved back', $table, 'here', 'there', 'again');
	denies('moved back', $table);
}

$sql->(q(
	CREATE TABLE topics (id bigint PRIMARY KEY);
	SELECT create_reference_table('topics');
	INSERT INTO topics VALUES (1);
	CREATE SCHEMA tenant;
));
moves('hashed', q(SELECT create_distributed_table('hashed', 'id')), q(SELECT undistribute_table('hashed')));
moves('everywhere', q(SELECT create_reference_table('everywhere')), q(SELECT undistribute_table('everywhere')));
moves('linked', 'ALTER TABLE linked ADD CONSTRAINT of FOREIGN KEY (topic) REFERENCES topics', 'ALTER TABLE linked DROP CONSTRAINT of');
moves('tenant.papers', q(SELECT citus_schema_distribute('tenant')), q(SELECT citus_schema_undistribute('tenant')));

# To a session that stays in its transaction, while rows move and their former place is emptied.
$sql->(q(
	CREATE TABLE kept (id bigint, title text);
	CREATE INDEX ON kept USING bloomfilter (title);
	INSERT INTO kept VALUES (1, 'here')));
my $stayer = $test->session;
my $asks = q(SELECT bf_live_contains('kept', 'here'), bf_live_contains('kept', 'there'));
is($stayer->ask("BEGIN; $asks"), 't|f', 'a transaction that goes on');
$sql->(q(SELECT create_distributed_table('kept', 'id'); INSERT INTO kept VALUES (2, 'there')));
is($stayer->ask($asks), 't|t', 'and knows that rows moved');
is($stayer->ask("COMMIT; $asks"), 't|t', 'and the next');
$sql->(q(SELECT truncate_local_data_after_distributing_table('kept')));
is($stayer->ask($asks), 't|t', 'and that their former place was emptied');
$sql->(q(SELECT alter_distributed_table('kept', shard_count := 4, cascade_to_colocated := false)));
is($stayer->ask($asks), 't|t', 'and of other shards');

# Partitions; a worker; what is asked in a query that is sent to the shards; the shards themselves.
$sql->(q(
	CREATE TABLE parts (id bigint, title text) PARTITION BY RANGE (id);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
	CREATE TABLE parts2 PARTITION OF parts FOR VALUES FROM (10) TO (20);
	SELECT create_distributed_table('parts', 'id');
	CREATE INDEX parts_bf ON parts USING bloomfilter (title);
	INSERT INTO parts VALUES (1, 'one'), (11, 'two')));
knows('distributed', $_, 'one', 'two') foreach qw(parts parts_bf);
knows('distributed', 'parts1', 'one');
is($_->safe_psql('postgres', q(SELECT bf_live_contains('parts', 'one'), bf_live_contains('parts2', 'two'))), 't|t', 'a worker')
  foreach @workers;
$test->is_sql('sent to the shards', q(SELECT count(*) FROM parts WHERE bf_live_contains('parts', title)), 2);
$test->is_sql("$_->[0] in some shard", sprintf(q(
	SELECT bool_or(result::boolean)
	FROM run_command_on_shards('parts1', $$SELECT bf_live_contains('%%s', '%s')$$)), $_->[0]), $_->[1])
  foreach [ 'one', 't' ], [ 'two', 'f' ];

# What doc/scale.md says to do, as it stands; and that a node that fails is noticed.
my @examples = code('doc/scale.md', 'postgresql', 'Citus');
cmp_ok(scalar @examples, '>=', 5, 'the document has examples');
$sql->(q(
	CREATE TABLE articles (id bigint, title text);
	CREATE TABLE incoming (id bigint, title text);
	SELECT create_distributed_table(r, 'id') FROM unnest('{articles,incoming}'::regclass[]) r;
	INSERT INTO articles SELECT g, 'title ' || g FROM generate_series(1, 2000) g;
	INSERT INTO incoming SELECT g, 'title ' || g FROM generate_series(1001, 3000) g;
	CREATE TABLE plain_articles AS SELECT * FROM articles));
my ($make) = map { /^(WITH .*)/ms } @examples;
my ($said, $error) = $test->outcome(join('', @examples) =~ s/^CREATE EXTENSION .*\n//mgr);
is($error, '', 'they run');
$test->is_sql('one bf_agg a node makes the filter', q(
	SELECT filter = (SELECT bf_agg(title, 1000000, 0.0001) FROM plain_articles) FROM filters), 't');
like($said, qr/1000; 1000; f/, 'which knows what is new, as do the shards');
$sql->('DELETE FROM filters');
like(($test->outcome($make =~ s/title, 1000000/id \/ 0, 1000000/r))[1], qr/ERROR/, 'a query that fails on the nodes');
like(($test->outcome($make =~ s/ARRAY\[port\]/ARRAY[1]/r))[1], qr/ERROR/, 'nodes that are not there');
$test->is_sql('neither makes a filter', 'SELECT count(*) FROM filters', '0');
$sql->(q(INSERT INTO titles VALUES ('some title')));
$test->is_sql("the shard of a title: $_->[0]", "SELECT titles_contains('$_->[0]')", $_->[1])
  foreach [ 'some title', 't' ], [ 'never was', 'f' ];
$test->fails('not where the rows are', q(BEGIN; SELECT titles_contains('some title')), 'P0001');
done_testing();
