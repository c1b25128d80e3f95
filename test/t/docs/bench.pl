# script/bench works, from its shell script to its end: at a tiny scale, whose figures
# say nothing, its server is restarted as often as it wants, every row has a ratio and
# says what times it is of, and every picture is there, light and dark.
#
# It builds and installs, where those who run tests may not; so it has a copy of the
# PostgreSQL that is installed.  It is called from another folder than its own.
use strict;
use warnings;

use Cwd;
use File::Basename qw(dirname);
use List::Util qw(uniq);
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(python3 gnuplot java redis-server))
{
	plan skip_all => "$program is not installed" if system("command -v $program >/dev/null 2>&1") != 0;
}

my $project = Cwd::realpath("$FindBin::RealBin/../../..");
my ($copy, $folder) = map { PostgreSQL::Test::Utils::tempdir() } 1 .. 2;
chomp(my $pg_config = $ENV{PG_CONFIG} // `command -v pg_config`);
chomp(my $bindir = `'$pg_config' --bindir`);

sub in_bash
{
	my ($script) = @_;
	my $status = IPC::Run::run([ 'bash', '-c', $script ], '<', \undef, '>', \my $out, '2>', \my $err);
	diag($out, $err) unless $status;
	return $status;
}

BAIL_OUT('PostgreSQL cannot be copied') unless in_bash(". '$project/script/lib.sh' && PG_CONFIG='$pg_config' && copy_postgresql '$copy'");
{
	# What is not optimized is built in a third of the time.  A server that has libraries
	# beside it finds them from where it was only.
	my $libraries = join ':', uniq map { dirname($_) } `ldd '$bindir/initdb'` =~ m{=> (/\S+)}g;
	local %ENV = (%ENV, LD_LIBRARY_PATH => $libraries, PG_CONFIG => "$copy$bindir/pg_config", MAKEFLAGS => ' -- COPT=-O0 with_llvm=no', PGHOST => '/nowhere');
	if (!ok(in_bash("cd / && '$project/script/bench' smoke '$folder'"), 'all is measured'))
	{
		done_testing();
		exit;
	}
}

my $results = slurp_file("$folder/RESULTS.md");
my ($tables) = $results =~ /\A(.*?)^<picture>/ms;
my @rows = $tables =~ /^\|(?! work|-)(.*)\|$/mg;
cmp_ok(scalar(@rows), '>=', 120, 'rows are there');
my $number = qr/-?[0-9.]+(?:e[-+][0-9]+)?/;
is_deeply([ grep { !/^ [^|]+ \| [^|]+ \| $number \[$number \.\. $number\] \|/ } @rows ], [], 'each with its ratio, least and most');
my $kind = join '|', $results =~ /^  \* (\w+): /mg;
is_deeply([ grep { !m{\| (?:(?:$kind)(?:, (?:$kind))*) / (?:(?:$kind)(?:, (?:$kind))*) \|[^|]+$} } @rows ], [], '... and of what times that is');
my @pictures = qw(new blocks lookup build size insert fpp);
is_deeply([ $results =~ m{<img src="\./(\w+)\.svg"}g ], \@pictures, 'all pictures are shown');
my %says = $results =~ m{<img src="\./(\w+)\.svg" alt="([^"]{30,})"}g;

for my $name (map { ($_, "$_-dark") } @pictures)
{
	my $svg = slurp_file("$folder/$name.svg");
	like($svg, qr{^<\?xml .*<svg .*</svg>\s*$}s, "$name.svg is whole");
	like($svg, qr{<title>\Q$says{$name =~ s/-dark//r}\E</title>}, '... says what it shows');
	cmp_ok(scalar(() = $svg =~ /<path /g), '>', 10, '... and shows something');
	cmp_ok(length $svg, '<', 60000, '... in little space');
}

done_testing();
