# The runners of test/vectors that are compiled, over the originals in their languages:
# bits-and-blooms in Go, arrow-rs in Rust.  What is missing is a failure.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use PostgreSQL::Test::Utils;
use Test::More;

use Languages qw(go rust);
use VectorKit qw(kit test_runner);

my $kit = kit('test/interop/go/go.*');
my $tmp = PostgreSQL::Test::Utils::tempdir();
my %runners = (
	Go => [ 'bitsandblooms', go($kit, '.', "$tmp/originals") ],
	Rust => [ 'parquet', rust($FindBin::RealBin, 'bin', 'vectors', "$PostgreSQL::Test::Utils::tmp_check/rust") ]);
foreach my $language (sort keys %runners)
{
	my ($folder, @command) = @{ $runners{$language} };
	@command ? test_runner($language, [$folder], @command) : fail("$language: the runner is compiled");
}
done_testing();
