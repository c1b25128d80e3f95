# VectorKit.pm
#	test/vectors, and programs that test an implementation against them: each passes what
#	is there, and none that differs by a bit, in whichever file.
package VectorKit;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT_OK = qw(kit test_runner);

my $root = dirname(__FILE__) . '/../..';
my $dir; # where kit() makes one
my %strategies = (guava64 => ['guava'], guava32 => ['guava32'], spark => [ 'spark1', 'spark2' ],
	map { $_ => [$_] } qw(redisson magnuss tale2009 cassandra bitsandblooms parquet));

# A folder that has the runners next to implementations, and other files of the tree.
sub kit
{
	$dir = PostgreSQL::Test::Utils::tempdir();
	my $files = join ' ', map { "'$root'/$_" } 'test/vectors/runners/*', 'test/interop/vectors/*', @_;
	system("mkdir '$dir/kit' && cp $files '$dir/kit'") == 0 or die 'cannot copy the kit';
	return "$dir/kit";
}

# A command, which is given a folder and a strategy, over folders, or else all of them.
sub test_runner
{
	my ($language, $folders, @command) = @_;
	foreach my $folder (@$folders ? @$folders : sort keys %strategies)
	{
		foreach my $strategy (@{ $strategies{$folder} })
		{
			my ($passed, $said) = run($folder, $strategy, "$root/test/vectors/$folder", @command);
			ok($passed, "$language, $strategy: $said");
			finds_changes($language, $folder, $strategy, @command);
		}
	}
	return;
}

sub run
{
	my ($folder, $strategy, $path, @command) = @_;
	my ($out, $err) = ('', '');
	my $status = IPC::Run::run([ @command, $path, $strategy ], '>', \$out, '2>', \$err) ? 0 : 1;
	diag($err) if $err;
	chomp $out;
	return ($out =~ /^[1-9]\d{2,} passed, 0 failed, \d+ left out$/ && !$status, $out);
}

# The first filter, with all that belongs to it, and the first positions: as they are, and
# with a bit of one digit changed, in one file at a time.
sub finds_changes
{
	my ($language, $folder, $strategy, @command) = @_;
	my %column = (hashing => qr/^value$/, positions => qr/^positions$/, filters => qr/^(write_to_hex|stream_hex|bits_lsb_hex|redis_hex)$/,
		filter_elements => qr/^value$/, probes => qr/^(contains_all_k|might_contain|present|contains)$/);
	my %lines = map { $_ => [ split /\n/, slurp_file("$root/test/vectors/$folder/$_.tsv") ] } keys %column;
	my ($version) = $strategy =~ /^spark(\d)$/;
	my ($filter) = grep { /^\d+\t/ && !/^\d+\t(?!$version\t)/ } @{ $lines{filters} } if $version;
	$filter //= $lines{filters}[2];
	my ($id) = split /\t/, $filter;
	$lines{$_} = [ $lines{$_}[0], grep { /^$id\t/ } @{ $lines{$_} } ] foreach qw(filters filter_elements probes);
	$lines{positions} = [ grep { defined } @{ $lines{positions} }[ 0 .. 300 ] ];

	my $changed = "$dir/changed";
	my @passes;
	foreach my $file ('none', sort keys %column)
	{
		mkdir $changed;
		foreach my $name (keys %column)
		{
			my ($head, @rows) = @{ $lines{$name} };
			my @names = split /\t/, $head;
			my ($at) = reverse grep { $names[$_] =~ $column{$name} } 0 .. $#names;
			foreach my $row ($file eq $name ? @rows : ())
			{
				my @cells = split /\t/, $row, -1;
				next if $cells[$at] !~ s/([0-9])([^0-9,]?)$/($1 ^ 1) . $2/e || ($version && $name eq 'positions' && $cells[1] ne $version);
				$row = join "\t", @cells;
				last;
			}
			unlink "$changed/$name.tsv";
			append_to_file("$changed/$name.tsv", join '', map { "$_\n" } $head, @rows);
		}
		push @passes, $file if (run($folder, $strategy, $changed, @command))[0];
	}
	is("@passes", 'none', "$language, $strategy: vectors that differ by a bit in one file do not pass");
	return;
}

1;
