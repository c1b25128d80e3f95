# script/bench works, from its shell script to its end: at a tiny scale, whose figures
# say nothing, every row has a ratio and every picture is there, light and dark.
#
# It builds and installs, so it has a PostgreSQL of its own: a copy of the installed one,
# as those who run tests may not write there.  A server that it did not start is none of
# its business, and neither is the folder that it is called from.
use strict;
use warnings;

use Cwd;
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(python3 gnuplot redis-server java))
{
	plan skip_all => "$program is not installed" if system("command -v $program >/dev/null 2>&1") != 0;
}

my $root = Cwd::realpath("$FindBin::RealBin/../..");
my $copy = PostgreSQL::Test::Utils::tempdir();
my $folder = PostgreSQL::Test::Utils::tempdir();
chomp(my $pg_config = $ENV{PG_CONFIG} // `command -v pg_config`);
chomp(my $bindir = `'$pg_config' --bindir`);
system_or_bail('bash', '-c', ". '$root/script/lib.sh' && PG_CONFIG='$pg_config' && copy_postgresql '$copy'");

# Unoptimized code is compiled in a third of the time.
my ($stdout, $stderr);
{
	local %ENV = (%ENV, PG_CONFIG => "$copy$bindir/pg_config", MAKEFLAGS => ' -- with_llvm=no COPT=-O0', PGPORT => 1, PGHOST => '/none');
	delete $ENV{MAKELEVEL};
	ok(IPC::Run::run([ 'sh', '-c', "cd / && exec '$root/script/bench' smoke '$folder'" ], '>', \$stdout, '2>', \$stderr), 'it ends well')
	  or diag($stderr);
}
