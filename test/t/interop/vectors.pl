# The kit of test/vectors: its runners pass the originals, the readers of clients/ and the
# formulas of doc/strategies.md in Python; and none passes vectors that differ by a bit, in
# whichever file.  Those that are compiled: test/originals/runners.pl.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(code);
use Languages qw(python java);
use VectorKit qw(kit test_runner);

my $kit = kit('test/interop/python/*.py', 'clients/python/bloom_reader.py', 'clients/node/bloom_reader.js');
append_to_file("$kit/document.py", join "\n", grep { !/bloomfilter/ } code('doc/redis-readers.md', 'python'));
local $ENV{PYTHONDONTWRITEBYTECODE} = 1;

my %runners = (
	Python => [ [], python("$kit/formulas.py", 'hashlib') ],
	"Python's reader" => [ [qw(guava64 parquet)], python("$kit/reader.py", 'mmh3', 'redis', 'xxhash') ],
	"Node's reader" => [ [qw(guava64 parquet)], node_of_package() ? ('node', "$kit/reader.js") : () ],
	Java => [ [qw(guava64 guava32 spark)], java_of_kit() ]);
foreach my $language (sort keys %runners)
{
  SKIP:
	{
		my ($folders, @command) = @{ $runners{$language} };
		skip "no runner in $language", 1 unless @command;
		test_runner($language, $folders, @command);
	}
}
done_testing();

# Whether there is a Node that the client's package is for.
sub node_of_package
{
	my ($least) = slurp_file("$FindBin::RealBin/../../../clients/node/package.json") =~ /"node": ">=(\d+)"/ or die 'the package names no release of Node';
	return system("node -e 'process.exit(parseInt(process.versions.node) < $least ? 1 : 0)' >/dev/null 2>&1") == 0;
}

sub java_of_kit
{
	my $log = "$kit/java.log";
	system("cd '$kit' && mvn -q -B dependency:copy-dependencies -DincludeArtifactIds=guava,spark-sketch_2.13 -DoutputDirectory='$kit/jars' >'$log' 2>&1
		javac -d '$kit/classes' -cp '$kit/jars/*' Vectors.java Originals.java >>'$log' 2>&1") == 0
	  or do { note(slurp_file($log)); return };
	return java('Originals', "$kit/classes", "$kit/jars/*");
}
