# script/bench works: at a tiny scale, whose figures say nothing, every row has a
# ratio and every picture is there, light and dark.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(python3 gnuplot))
{
	plan skip_all => "$program is not installed" if system("command -v $program >/dev/null 2>&1") != 0;
}

my $node = PostgreSQL::Test::Cluster->new('bench');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'max_connections = 20');
$node->start;

my $folder = PostgreSQL::Test::Utils::tempdir();
{
	local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres', PYTHONDONTWRITEBYTECODE => 1);
	command_ok([ 'python3', 'bench/bench.py', 'smoke', "$folder/RESULTS.md", $folder ], 'all is measured');
}

my $results = slurp_file("$folder/RESULTS.md");
my @rows = $results =~ /^\|(?! work|-)(.*)\|$/mg;
cmp_ok(scalar(@rows), '>=', 35, 'rows are there');
my $number = qr/-?[0-9.]+(?:e[-+][0-9]+)?/;
is_deeply([ grep { !/^ [^|]+ \| [^|]+ \| $number \[$number \.\. $number\] \|/ } @rows ], [], 'each with its ratio, least and most');
is_deeply([ $results =~ m{<img src="\./(\w+)\.svg"}g ], [qw(build lookup fpp insert size)], 'all pictures are shown');

for my $name (map { ($_, "$_-dark") } qw(build fpp insert lookup size))
{
	my $svg = slurp_file("$folder/$name.svg");
	like($svg, qr{^<\?xml .*<svg .*</svg>\s*$}s, "$name.svg is whole");
	cmp_ok(scalar(() = $svg =~ /<path /g), '>', 10, '... and shows something');
	cmp_ok(length $svg, '<', 60000, '... in little space');
}

$node->stop;
done_testing();
