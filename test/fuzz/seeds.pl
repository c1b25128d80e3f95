# seeds.pl
#	Make the fuzz targets' first inputs out of the golden vectors, so that they
#	start from what the originals wrote: OUT/value/..., OUT/guava/..., and so on.
#
# Usage: perl seeds.pl VECTORS OUT
use strict;
use warnings;

use File::Path qw(make_path);

my ($vectors, $out) = @ARGV;
my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom);
my %folders = (guava => 'guava64');
my $longest = 4096;
my %count;

sub seed
{
	my ($target, $bytes) = @_;
	return if length $bytes > $longest;
	make_path("$out/$target");
	open my $file, '>:raw', sprintf('%s/%s/%04d', $out, $target, $count{$target}++) or die "$out: $!";
	print $file $bytes;
	close $file or die "$out: $!";
}

# The rows of a vector's file, each a hash; none where there is no such file.
sub rows
{
	my ($strategy, $name) = @_;
	my $path = join '/', $vectors, $folders{$strategy} // $strategy, "$name.tsv";
	open my $file, '<', $path or return;
	my @lines = map { chomp; [ split /\t/, $_, -1 ] } <$file>;
	my $names = shift @lines;
	return map { my %row; @row{@$names} = @$_; \%row } @lines;
}

# A value of a shape; every layer has the bits given, as bloomext stores them.
sub value
{
	my ($id, $m, $k, $bits, %as) = @_;
	my ($layers, $cell) = ($as{layers} // 1, $as{cell} // 1);
	my $bytes = int(($m * $cell + 63) / 64) * 8;
	my $body = substr($bits . "\0" x $bytes, 0, $bytes);
	my @sizing = $as{n} ? ($as{n}, $as{p}) : (0, 0);
	return pack('a2C4vVVQ<d<', 'bf', 1, $id, $as{funnel} // 0, $cell, 0, $as{expansion} // 0, $layers, @sizing)
	  . pack('Q<Q<d<Q<VV', $m, @sizing, 0, $k, 0) x $layers . $body x $layers;
}

# Bits as SETBIT has them, in the order of values.
sub stored
{
	my ($redis) = @_;
	$redis .= "\0" x (-length($redis) % 8);
	return pack 'b*', join '', map { unpack 'B64', $_ } map { scalar reverse $_ } map { pack 'b64', unpack 'B64', $_ } $redis =~ /(.{8})/gs;
}

for my $id (1 .. @strategies)
{
	my $strategy = $strategies[ $id - 1 ];
	for my $row (rows($strategy, 'filters'))
	{
		my $m = $row->{bit_size} // $row->{bits} // $row->{m} // $row->{size} // next;
		my $k = $row->{k} // $row->{hash_iterations} // next;
		my $string = pack 'H*', $row->{redis_hex} // $row->{write_to_hex} // '';
		my %sizing = (n => $row->{n}, p => 0.01);
		my $is_stream = defined $row->{write_to_hex};
		my $bits = $is_stream ? substr($string, 6) : stored($string);

		seed('value', value($id, $m, $k, $bits, %sizing));
		seed('value', value($id, $m, $k, $bits, %sizing, layers => 3, expansion => 2));
		seed('value', value($id, $m, $k, $bits, cell => 4)) if $is_stream;
		seed('bits', pack 'CCvCa*', $_, $id - 1, $m - 1, ($k - 1) & 255, $string) for 0, 1;
		seed('guava', $string) if $is_stream;
	}
	seed('guava', pack 'H*', $_->{input_hex}) for grep { defined $_->{input_hex} } rows($strategy, 'readfrom');
	seed('redisbloom', pack 'H*', $_->{header_hex} . $_->{data_hex}) for grep { defined $_->{header_hex} } rows($strategy, 'filters');
	for my $row (rows($strategy, 'sizing'))
	{
		my $p = $row->{p} // $row->{p_float} // 0.01;
		next if !defined $row->{n} || ++$count{row} % 20;
		seed('sizing', pack 'Cq<d<VVQ<', $id - 1, $row->{n}, $p, $row->{arg} // 0, 2, $row->{n});
	}
}
