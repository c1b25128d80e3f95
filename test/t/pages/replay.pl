# What replay makes of each thing that changes a live filter: the same pages, all of
# them, where WAL has no image of a page unless the record wants one.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq(
autovacuum = off
full_page_writes = off
));
$node->start;
LiveTest->new($node)->install;
$node->backup('base');
my $replica = PostgreSQL::Test::Cluster->new('standby');
$replica->init_from_backup($node, 'base', has_streaming => 1);
$replica->start;
$node->wait_for_catchup($replica);
my ($primary, $standby) = map { LiveTest->new($_)->session } $node, $replica;

# The primary knows of its standby as long as that replays; one that cannot ends.
sub replays
{
	my $lsn = $node->lsn('insert');
	my $replayed;
	until (($replayed = $primary->ask("SELECT min((replay_lsn >= '$lsn')::int) FROM pg_stat_replication")) ne '0') { }
	return $replayed;
}

# The pages of a filter's file that are not empty, but for what says where in WAL they
# were changed last.
sub pages
{
	my ($session) = @_;
	return $session->ask(q(CHECKPOINT;
		SELECT count(*), md5(string_agg(n || overlay(page PLACING '' FROM 1 FOR 10)::text, '' ORDER BY n))
		FROM generate_series(0, (pg_stat_file(pg_relation_filepath('f_bf'))).size / 8192 - 1) AS n,
			pg_read_binary_file(pg_relation_filepath('f_bf'), n * 8192, 8192) AS page
		WHERE page <> decode(repeat('00', 8192), 'hex')));
}

sub rows { return "INSERT INTO f SELECT '$_[0] ' || i FROM generate_series(1, $_[1]) AS i"; }

my %kinds = (small => 'expected = 10000, fpp = 0.001', large => 'expected = 1000000, fpp = 0.001',
	growing => 'expected = 500, expansion = 2, fpp = 0.001');
foreach my $kind (sort keys %kinds)
{
	foreach my $step (
		[ 'CREATE INDEX', "CREATE TABLE f (title text); CREATE INDEX f_bf ON f USING bloomfilter (title) WITH ($kinds{$kind})" ],
		[ 'a row', rows('one', 1) ],
		[ 'a few', rows('few', 7) ],
		[ 'VACUUM', 'VACUUM f' ],
		[ 'many', rows('many', 3000) ],
		[ 'REINDEX CONCURRENTLY', 'REINDEX INDEX CONCURRENTLY f_bf' ],
		[ 'what comes after', rows('after', 5) ])
	{
		my ($what, $script) = @$step;
		is($primary->ask($script), '', "$kind, $what");
		is(replays(), 1, "$kind, $what: replayed") or die 'nothing is replayed any more';
		is(pages($standby), pages($primary), "$kind, $what: the same pages");
		is($standby->ask(q(SELECT denied('f'))), 0, "$kind, $what: none is denied");
	}
	$primary->ask('DROP TABLE f');
}

$_->quit foreach $primary, $standby;
$replica->stop;
$node->stop;
done_testing();
