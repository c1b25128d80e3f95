# A transaction that writes to many filters takes no more locks for them than there are:
# where it has locks enough with a btree in place of each filter, it commits with the
# filters, too, but for the few that it keeps.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";
use LiveTest;
use Test::More;
use PostgreSQL::Test::Cluster;

# Partitions, and the locks that are kept at most (MOST_LOCKED in deferred.c).
my ($parts, $kept) = (1400, 64);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
max_connections = 100
));
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
foreach my $kind ('btree', 'bloomfilter')
{
	$node->safe_psql('postgres', "CREATE TABLE of_$kind (id int, title text) PARTITION BY LIST (id)");
	$node->safe_psql('postgres', qq(
		DO \$\$ BEGIN FOR i IN $_ .. $_ + 99 LOOP
			EXECUTE format('CREATE TABLE of_${kind}_%s PARTITION OF of_$kind FOR VALUES IN (%1\$s)', i);
			EXECUTE format('CREATE INDEX ON of_${kind}_%s USING $kind (title)', i);
		END LOOP; END \$\$)) for map { 100 * $_ } 0 .. $parts / 100 - 1;
}
# What others lock.
$node->safe_psql('postgres', "DO \$\$ BEGIN FOR i IN $_ .. $_ + 99 LOOP EXECUTE format('CREATE TABLE other_%s ()', i); END LOOP; END \$\$")
  for map { 100 * $_ } 0 .. 49;
$node->stop;
# 19 has room for no more locks than that makes; before, there is some to spare.
$node->append_conf('postgresql.conf', 'max_locks_per_transaction = ' . ($version >= 190000 ? 35 : 10));
$node->start;

my $test = LiveTest->new($node);

# Insert a row into each partition, in a statement of its own, while another session
# has so many locks; returns what is said that is wrong.
sub insert_with
{
	my ($kind, $others) = @_;
	my $other = $test->session;
	my $said = $other->ask(qq(
		BEGIN;
		DO \$\$ BEGIN FOR i IN 0 .. $others - 1 LOOP EXECUTE format('LOCK TABLE other_%s IN ACCESS SHARE MODE', i); END LOOP; END \$\$));
	my ($status, $out, $error) = $node->psql('postgres', qq(
		BEGIN;
		DO \$\$ BEGIN FOR i IN 0 .. $parts - 1 LOOP EXECUTE format('INSERT INTO of_${kind}_%s VALUES (%1\$s, \$q\$El $others\$q\$)', i); END LOOP; END \$\$;
		COMMIT), on_error_stop => 1);
	$other->quit;
	return $said . $error;
}

# What the locks are enough for differs between machines: it is found out by the btree.
my $others = 0;
$others += 400 while $others < 4000 && insert_with('btree', $others + 400 + $kept) eq '';
ok($others > 0 && $others < 4000, "$others locks of others are what a server with btrees has room for");
is(insert_with('bloomfilter', $others), '', 'as many are what one with live filters has room for');
is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE NOT bf_live_contains('of_bloomfilter_$_', 'El $others')) FROM of_bloomfilter_$_"),
	'0', "what was inserted in partition $_ is found")
  foreach 0, $kept - 1, $kept, $parts - 1;
$node->stop;
done_testing();
