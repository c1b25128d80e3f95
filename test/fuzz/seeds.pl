# seeds.pl
#	Make the fuzz targets' first inputs out of the golden vectors, so that they
#	start from what the originals wrote: OUT/value/..., OUT/guava/..., and so on.
#
# Usage: perl seeds.pl VECTORS OUT
use strict;
use warnings;

use File::Path qw(make_path);
use MIME::Base64;

my ($vectors, $out) = @ARGV;
my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom);
my %folders = (guava => 'guava64');
my $longest = 4096;
my $unit = 256 * 1024;
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

# A value as text, in either notation.  In a long one a run that has what fuzz-text
# can repeat, so many times 256 kB of one character, is left out.
sub text_seeds
{
	my ($value) = @_;
	for my $text ('\x' . unpack('H*', $value), 'base64:' . encode_base64($value, ''))
	{
		my ($run) = $text =~ /(0+|A+)=*\z/;
		my $repeat = int((length($run // '') - 1) / $unit);
		my $place = $repeat > 0 ? $-[1] + 1 : 0;
		substr($text, $place, $repeat * $unit) = '' if $repeat > 0;
		seed('text', pack 'Cva*', $repeat > 0 ? 0xf0 + $repeat : 0, $place, $text);
	}
	return;
}

# Answers of a Redis server.
sub ok { return "+OK\r\n"; }
sub queued { return "+QUEUED\r\n" x $_[0]; }
sub integer { return ":$_[0]\r\n"; }
sub nil { return "\$-1\r\n"; }
sub bulk { return '$' . length($_[0]) . "\r\n$_[0]\r\n"; }
sub array { return '*' . @_ . "\r\n" . join '', @_; }
sub bulks { return array(map { bulk($_) } @_); }
sub transaction { return ok() . queued(scalar @_) . array(@_); }

# What describes a key: its string, and the keys beside it, in the order of
# remote.c.
my @beside = qw(shards guava growing cursor layer redisson bitmap);

sub description
{
	my ($type, $head, $length, %found) = @_;
	return array(bulk($type), bulk($head), integer($length), map { $found{$_} // nil() } @beside);
}

# As the table in redis.c has them.
my %statements = do { my $i = 0; map { $_ => $i++ } qw(contains add info drop guava growing redisson redisbloom sized shards create set reserve bitmap grown native live) };

sub redis_seed
{
	my ($statement, $flags, @answers) = @_;
	seed('redis', pack 'CCa*', $statements{$statement}, $flags, join '', @answers);
	return;
}

# Filters of 256 bits and 5 hashes, asked for two elements.
sub redis_seeds
{
	my $head = "\1\5\0\0\0\4";
	my $string = "\x80" . "\0" x 31;
	my $bits = array(map { integer($_ % 2) } 1 .. 10);
	my @own = (256, 5, 'guava', 'utf16', 30, '0.03', 'guava');
	my @bitmap = (256, 5, 'magnuss', 'utf8', '', '', 'bitmap');
	my @growing = (256, 5, 'guava', 'utf8', '', '', 1);
	my @redisson = (256, 5, 30, '0.03');
	my $guava = description('string', $head, 38);
	my $marked = description('string', $head, 38, guava => bulks(@own));
	my $grown = description('none', '', 0, growing => bulks(@growing), cursor => bulk(1), layer => bulk(''));
	my $redisson = description('string', substr($string, 0, 6), 32, redisson => bulks(@redisson));
	my $bitmap = description('string', substr($string, 0, 6), 32, bitmap => bulks(@bitmap));
	my $native = description('MBbloom--', '', 0);
	my $shards = description('none', '', 0, shards => bulks('guava', 2));
	my $none = description('none', '', 0);
	my $small = description('string', "\1\7\0\0\0\2", 22);
	my $lost = description('none', '', 0, bitmap => bulks(@bitmap));
	my $headed = array(integer((1 << 40) + (5 << 32) + 4), map { integer($_ % 2) } 1 .. 10);
	my @added = (integer(1), integer(1), $bits, nil());

	redis_seed('contains', 0, $guava, $headed);
	redis_seed('contains', 0x80, ($guava, $headed) x 2);
	redis_seed('contains', 0, $marked, transaction(bulks(@own), integer(1), $headed));
	redis_seed('contains', 0, $grown, transaction(bulks(@growing), bulk(1), (integer(1), $bits) x 2));
	redis_seed('contains', 0x40, $redisson, transaction(bulks(@redisson[ 0, 1 ]), $bits));
	redis_seed('contains', 0, $bitmap, transaction(bulks(@bitmap), integer(1), $bits));
	redis_seed('contains', 2, $native, transaction(integer(1), array(integer(1), integer(0))));
	redis_seed('contains', 3, $shards, $guava, $headed);
	redis_seed('contains', 4, "-MOVED 12539 10.0.0.1:6379\r\n", $guava, ("-ASK 12539 10.0.0.2:6379\r\n") x 2, ok(), $headed);
	redis_seed('contains', 0x18, "-NOAUTH\r\n", ok(), "+PONG\r\n", $guava, $headed);
	redis_seed('add', 0, $_, transaction(@added)) for $guava, $marked, $redisson, $bitmap;
	redis_seed('add', 0, $grown, bulk('10'));
	redis_seed('add', 0, $native, array(integer(1), integer(0)));
	redis_seed('info', 0, $_, map { integer($_) } 7, 38, -1) for $guava, $redisson, $bitmap;
	redis_seed('info', 0, $grown, map { integer($_) } 7, 32, 0, 32, 1000);
	redis_seed('info', 0, $shards, ($guava, map { integer($_) } 7, 38, -1) x 2);
	redis_seed('drop', 0, $_, integer(1)) for $guava, $grown, $native;
	redis_seed('info', 0, $shards, ($shards, integer(1)) x 2);
	redis_seed('info', 0, $lost, $none);
	redis_seed('drop', 0, $shards, integer(1), ($guava, integer(1)) x 2);
	redis_seed('drop', 0, $lost, integer(1));
	redis_seed('guava', 0, $guava, bulk($head . $string));
	redis_seed('growing', 0, $grown, transaction(bulks(@growing), bulk(1), (bulk($string)) x 2));
	redis_seed('redisson', 0, $redisson, transaction(bulks(@redisson[ 0, 1 ]), bulk($string)));
	redis_seed('sized', 1, bulk("\x80"));
	redis_seed('shards', 0, $none, ($none, integer(1)) x 2, integer(1));
	redis_seed($_, 0, $none, integer(1)) for qw(create set reserve);
	# Filters that are written are empty, for 10 elements, and read back in part.
	my $zeros = array(map { integer(0) } 1 .. 64);
	my $sample = array(map { integer((1, 7, 0, 0, 0, 2)[ $_ / 3 ] // 0) } 0 .. 63);
	redis_seed('bitmap', 0, $none, transaction(ok(), map({ integer($_) } 0, 7, 1, 13), $zeros));
	redis_seed('grown', 0, $none, transaction(ok(), integer(16), $zeros), integer(1));
	redis_seed('live', 0, $small, ok(), bulk('0' x 32), transaction(integer(1), integer(0), integer(22), $sample));
	redis_seed('live', 0, $small, ok(), bulk('1' x 32), ok(), transaction(ok(), integer(0), integer(22), $sample));
	return;
}

# What RedisBloom's filters are dumped as.
sub native_seeds
{
	my ($header, $bits) = @_;
	my $native = description('MBbloom--', '', 0);
	my $first = array(integer(1), bulk($header));
	redis_seed('redisbloom', 0, $native, $first, array(integer(1 + length $bits), bulk($bits)), array(integer(0), bulk('')));
	redis_seed('info', 0, $native, $first);
	redis_seed('native', 0, $native, ok(), integer(1), ok(), $first, integer(1));
	return;
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
		text_seeds(value($id, $m, $k, $bits, %sizing));
		seed('value', value($id, $m, $k, $bits, %sizing, layers => 3, expansion => 2));
		seed('value', value($id, $m, $k, $bits, cell => 4)) if $is_stream;
		seed('bits', pack 'CCvCa*', $_, $id - 1, $m - 1, ($k - 1) & 255, $string) for 0, 1;
		seed('guava', $string) if $is_stream;
	}
	seed('guava', pack 'H*', $_->{input_hex}) for grep { defined $_->{input_hex} } rows($strategy, 'readfrom');
	for my $row (grep { defined $_->{header_hex} } rows($strategy, 'filters'))
	{
		my ($header, $bits) = map { pack 'H*', $row->{$_} } qw(header_hex data_hex);
		seed('redisbloom', $header . $bits);
		native_seeds($header, $bits);
	}
	for my $row (rows($strategy, 'sizing'))
	{
		my $p = $row->{p} // $row->{p_float} // 0.01;
		next if !defined $row->{n} || ++$count{row} % 20;
		seed('sizing', pack 'Cq<d<VVQ<', $id - 1, $row->{n}, $p, $row->{arg} // 0, 2, $row->{n});
	}
}
text_seeds(value(1, (12 << 20) + 4096, 7, "\1"));
redis_seeds();
