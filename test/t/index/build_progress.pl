# Progress of a build moves in each of its phases, and never further than its total:
# sampled by another session, over more and more rows until it was seen to move.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq(
autovacuum = off
shared_buffers = 256MB
fsync = off
max_parallel_maintenance_workers = 0
));
$node->start;
my $test = LiveTest->new($node);
$test->install;
my ($builder, $watcher) = ($test->session, $test->session);
my $pid = $builder->ask('SELECT pg_backend_pid()');

# What a build shows: for each phase the values of each counter, in the order seen.
sub watch
{
	my ($statement) = @_;
	my %seen;
	$builder->start($statement);
	until ($builder->is_done)
	{
		my $sample = $watcher->ask(qq(SELECT concat_ws('|', phase, blocks_total, blocks_done, tuples_total, tuples_done)
			FROM pg_stat_progress_create_index WHERE pid = $pid));
		my ($phase, @counters) = split /\|/, $sample;
		push @{ $seen{ $phase =~ s/^building index: //r } }, \@counters if defined $phase;
	}
	$builder->finish;
	return \%seen;
}

# Whether a counter was seen to move; what was seen of it has to be in order.
sub moves
{
	my ($name, $samples, $total, $done) = @_;
	my ($last, %values) = (0);
	foreach my $sample (@{ $samples // [] })
	{
		next if !$sample->[$total];    # the phase has only begun
		# PostgreSQL's scan shows all blocks as done while it reads the first one.
		next if !$last && $sample->[$done] == $sample->[$total];
		cmp_ok($sample->[$done], '<=', $sample->[$total], "$name: at most all") if $sample->[$done] > $sample->[$total];
		cmp_ok($sample->[$done], '>=', $last, "$name: forward") if $sample->[$done] < $last;
		$last = $sample->[$done];
		$values{$last} = 1;
	}
	return keys %values > 2;
}

foreach my $case (
	[ 'sizes itself', '' ],
	[ 'does not fit into memory', 'WITH (expected = 20000000, fpp = 0.0001)' ])
{
	my ($name, $options) = @$case;
	my @missing = 'all';
	for (my $rows = 500000; @missing && $rows <= 16000000; $rows *= 2)
	{
		$test->sql(qq(DROP TABLE IF EXISTS long; CREATE UNLOGGED TABLE long AS SELECT g AS id FROM generate_series(1, $rows) g));
		my $seen = watch("SET maintenance_work_mem = '1MB'; CREATE INDEX ON long USING bloomfilter (id) $options");
		@missing = grep { !moves("$name, $_->[0]", $seen->{ $_->[0] }, @{$_}[ 1, 2 ]) }
			[ 'scanning table', 0, 1 ], [ 'setting bits', 2, 3 ];
		note("$name, $rows rows: " . join ', ', map { "$_ " . @{ $seen->{$_} } } sort keys %$seen);
	}
	is(join(', ', map { ref $_ ? $_->[0] : $_ } @missing), '', "$name: it moves in each phase");
}

done_testing();
