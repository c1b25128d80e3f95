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
use Languages qw(python node java);
use VectorKit qw(kit test_runner);

my $kit = kit('test/interop/python/*.py', 'clients/python/bloom_reader.py', 'clients/node/bloom_reader.js');
append_to_file("$kit/document.py", join "\n", grep { !/bloomfilter/ } code('doc/redis-readers.md', 'python'));
local $ENV{PYTHONDONTWRITEBYTECODE} = 1;

my %runners = (
	Python => [ [], python("$kit/formulas.py", 'hashlib') ],
	"Python's reader" => [ [qw(guava64 parquet)], python("$kit/reader.py", 'mmh3', 'redis', 'xxhash') ],
	"Node's reader" => [ [qw(guava64 parquet)], node("$kit/reader.js", "$FindBin::RealBin/../../../clients/node") ],
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

sub java_of_kit
{
	my $log = "$kit/java.log";
	system("cd '$kit' && mvn -q -B dependency:copy-dependencies -DincludeArtifactIds=guava,spark-sketch_2.13 -DoutputDirectory='$kit/jars' >'$log' 2>&1
		javac -d '$kit/classes' -cp '$kit/jars/*' Vectors.java Originals.java >>'$log' 2>&1") == 0
	  or do { note(slurp_file($log)); return };
	return java('Originals', "$kit/classes", "$kit/jars/*");
}
