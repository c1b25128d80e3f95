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
	my $all_changes = 1;
	foreach my $folder (@$folders ? @$folders : sort keys %strategies)
	{
		foreach my $strategy (@{ $strategies{$folder} })
		{
			my ($passed, $said) = run($folder, $strategy, "$root/test/vectors/$folder", @command);
			ok($passed, "$language, $strategy: $said");
			finds_changes($language, $folder, $strategy, $all_changes, @command);
			$all_changes = 0;
		}
	}
	return;
}

sub run
{
	my ($folder, $strategy, $path, @command) = @_;
	my ($out, $err) = ('', '');
	my $status = IPC::Run::run([ @command, $path, $strategy ], '>', \$out, '2>', \$err) ? 0 : 1;
	note($err) if $err;
	chomp $out;
	return ($out =~ /^[1-9]\d{2,} passed, 0 failed, \d+ left out$/ && !$status, $out);
}

# A filter, with all that belongs to it, and the first positions: as they are, and each time
# with one change to one file, of all kinds or, to be quick, one to each.  What only reads
# does not tell whether an element was new, so that no answer to that is inverted.
sub finds_changes
{
	my ($language, $folder, $strategy, $all_changes, @command) = @_;
	my $bytes = qr/^(?:write_to_hex|stream_hex|bits_lsb_hex|redis_hex)$/;
	my $answer = qr/^(?:contains_all_k|might_contain|present|contains|put_result|add_result|changed)$/;
	my ($bit, $last_bit, $two) = (sub { s/([0-9])([^0-9,]?)$/($1 ^ 1) . $2/e }, sub { s/(.)$/sprintf '%x', hex($1) ^ 1/e }, sub { s/.*/2/ });
	my @changes = (
		[ 'hashing', qr/^value$/, $bit ], [ 'positions', qr/^positions$/, $bit ], [ 'filters', $bytes, $last_bit ],
		[ 'filter_elements', qr/^value$/, $bit ], [ 'probes', $answer, $bit ]);
	push @changes, (
		[ 'filters', qr/^bit_count$/, $bit ],
		[ 'filter_elements', $answer, $two ], [ 'probes', $answer, $two ],
		(map { [ $_, qr/^filter_id$/, sub { $_ = '9999' } ] } 'filter_elements', 'probes'),
		(map { [ $_, undef ] } qw(hashing positions filters filter_elements probes))) if $all_changes;
	push @changes, [ 'filters', $bytes, sub { s/^(.)(.)/$1 . sprintf '%x', hex($2) ^ 1/e } ] if $folder !~ /^(?:redisson|magnuss|tale2009|cassandra)$/;
	my %lines = map { $_ => [ split /\n/, slurp_file("$root/test/vectors/$folder/$_.tsv") ] } qw(hashing positions filters filter_elements probes);
	my ($version) = $strategy =~ /^spark(\d)$/;
	my ($filter) = grep { /^\d+\t/ && !/^\d+\t(?!$version\t)/ } @{ $lines{filters} } if $version;
	$filter //= $lines{filters}[2];
	my ($id) = split /\t/, $filter;
	$lines{$_} = [ $lines{$_}[0], grep { /^$id\t/ } @{ $lines{$_} } ] foreach qw(filters filter_elements probes);
	my ($names, @positions) = grep { defined } @{ $lines{positions} }[ 0 .. 120 ];
	$lines{positions} = [ $names, grep { !$version || (split /\t/)[1] eq $version } @positions ];

	my @passes;
	foreach my $change ([ 'none' ], @changes)
	{
		my ($file, $column, $how) = @$change;
		my %changed = %lines;
		$changed{$file} = changed($column, $how, @{ $lines{$file} }) // next if $file ne 'none';
		mkdir "$dir/changed";
		foreach my $name (keys %changed)
		{
			unlink "$dir/changed/$name.tsv";
			append_to_file("$dir/changed/$name.tsv", join '', map { "$_\n" } @{ $changed{$name} });
		}
		push @passes, join ' ', $file, $column // () if (run($folder, $strategy, "$dir/changed", @command))[0];
	}
	is("@passes", 'none', "$language, $strategy: vectors that differ in one file do not pass");
	return;
}

# A file's lines with one change: to the first row whose cell it makes another one, or, of
# no column, all rows gone.  Undefined where there is no such column.
sub changed
{
	my ($column, $how, $head, @rows) = @_;
	return [$head] unless $column;
	my @names = split /\t/, $head;
	my ($at) = reverse grep { $names[$_] =~ $column } 0 .. $#names;
	return unless defined $at;
	foreach my $row (@rows)
	{
		my @cells = split /\t/, $row, -1;
		$how->() for $cells[$at];
		my $was = $row;
		$row = join "\t", @cells;
		last if $row ne $was;
	}
	return [ $head, @rows ];
}

1;
