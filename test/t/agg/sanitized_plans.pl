# Aggregates under sanitizers, in every kind of plan: what they return, and what
# one process has of another, is not used after it is gone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../../perl";
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use SanitizedServer;

SanitizedServer->require_runtime;
my $server = SanitizedServer->new('aggregates');
my $sources = "$FindBin::RealBin/../../..";

# Regression tests, as pg_regress runs them.
for my $test (qw(agg_plans agg_results))
{
	my $output;
	IPC::Run::run([ 'psql', '-Xaq', '-d', $server->{node}->connstr('postgres') ],
		'<', "$sources/sql/$test.sql", '>&', \$output);
	is($output, slurp_file("$sources/expected/$test.out"), $test);
	is($server->reports, '', "$test: no report");
}

$server->{node}->stop;
done_testing();
