# seeds.pl
#	Make the fuzz targets' first inputs out of the golden vectors, so that they
#	start from what the originals wrote: OUT/value/..., OUT/guava/..., and so on.
#
# Usage: perl seeds.pl VECTORS OUT
use strict;
use warnings;

use Digest::MD5 qw(md5);
use File::Copy qw(copy);
use File::Path qw(make_path remove_tree);
use MIME::Base64;

my ($vectors, $out) = @ARGV;
remove_tree($out);
my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms parquet);
my %folders = (guava => 'guava64', spark1 => 'spark', spark2 => 'spark');
# Streams: their format, and the bytes of a head.
my %streams = (guava => ['guava', 6], guava32 => ['guava', 6], spark1 => ['spark', 12], spark2 => ['spark', 16], bitsandblooms => ['bitsandblooms', 24], parquet => ['parquet']);
# In the order of exchange.c.
my %stream_names = (guava => 0, redisbloom => 1, spark => 2, bitsandblooms => 3, parquet => 4);
my %words = (magnuss => 0, bitsandblooms => 4);
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
	return grep { !defined $_->{version} || $strategy =~ /$_->{version}\z/ } map { my %row; @row{@$names} = @$_; \%row } @lines;
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

# Parquet's rows by the names of others: its head is as long as the size has it.
sub of_parquet
{
	my ($row) = @_;
	my $bits = pack 'H*', $row->{bitset_hex};
	return { %$row, m => 8 * length $bits, k => 8, n => $row->{n} || undef, head => length($row->{stream_hex}) / 2 - length $bits,
		write_to_hex => $row->{stream_hex}, bits => join '', map { scalar reverse $_ } $bits =~ /(.{8})/gs };
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

# Partial states of a filter: its bits, packed or not, a list of hashes, or both.
sub partial_seeds
{
	my ($words, $value) = @_;
	my @states;
	for my $listed (0, $words)
	{
		my $list = pack 'Q<*', 1 .. $listed * $words;
		my @head = (1, 1, $words);
		my @rest = ($listed, 100, length $value);
		my $packed = join '', map { pack('b8', join '', map { $_ ? 1 : 0 } unpack 'C8', $_) . tr/\0//dr } unpack '(a8)*', substr $value, 72;
		push @states, pack('C4VQ<2', @head, 1, @rest) . $value . $list, pack('C4VQ<2', @head, 0, @rest) . substr($value, 0, 72) . $list,
		  pack('C4VQ<2', @head, 2, @rest) . substr($value, 0, 72) . $packed . $list;
	}
	seed('partial', $_) for @states;
	list_seeds(@states);
	# Each with each, as several who may have called combine them.
	for my $i (0 .. $#states)
	{
		aggregate_seed($_, @states[ $i, ($i + 1) % @states, ($i + 3) % @states ]) for 0x00, 0x01, 0x03, 0x10, 0x11, 0x13;
	}
	aggregate_seed($_, ($value) x 3) for 0x04, 0x05, 0x0c, 0x14;
	return;
}

# Lists, of the first states of each strategy, that are longer than all bytes, or than
# all behind the header; whose hashes have another width.
my %listed;

sub list_seeds
{
	my (@states) = @_;
	return if $listed{ substr $states[0], 27, 1 }++;
	for my $state (@states)
	{
		my ($words, $bytes) = (ord substr($state, 2, 1), length $state);
		my $width = 8 * ($words || 1);
		for my $longer (map({ pack 'C2V', $words, ord substr($state, 3, 1), $_ } int($bytes / $width), int(($bytes - 24) / $width) + 1, 1, 0xffffffff), map { pack 'Ca5', $_, substr $state, 3, 5 } 0, $words + 1)
		{
			my $damaged = substr($state, 0, 2) . $longer . substr $state, 8;
			seed('partial', $damaged);
			aggregate_seed(1, $damaged, $state, $damaged);
		}
	}
	return;
}

sub aggregate_seed
{
	my ($flags, @states) = @_;
	seed('aggregate', pack('Cvv', $flags, map { length } @states[ 0, 1 ]) . join '', @states);
	return;
}

# Bytes by one of the ways of exchange.c, as a format or an order of bits.
sub exchange_seed
{
	my ($way, $as, $strategy, $m, $k, $bytes, $repeat, $place) = @_;
	seed('exchange', pack 'CCCVVCva*', $way, $as, $strategy, $m, $k, $repeat // 0, $place // 0, $bytes);
	return;
}

# Answers of a Redis server.
sub ok { return "+OK\r\n"; }
sub queued { return "+QUEUED\r\n" x $_[0]; }
sub integer { return ":$_[0]\r\n"; }
sub nil { return "\$-1\r\n"; }
sub bulk { return defined $_[0] ? '$' . length($_[0]) . "\r\n$_[0]\r\n" : nil(); }
sub array { return '*' . @_ . "\r\n" . join '', @_; }
sub bulks { return array(map { bulk($_) } @_); }
sub transaction { return ok() . queued(scalar @_) . array(@_); }

# What describes a key: its string, and the keys beside it, in the order of
# remote.c.  In a cluster some may be in other slots.
my @beside = qw(shards twin own growing cursor first second redisson window);
my @near = qw(shards twin own redisson window);

sub described
{
	my ($keys, $type, $head, $length, %found) = @_;
	return array(bulk($type), bulk($head), integer($length), map { $found{$_} // nil() } @$keys);
}

sub description { return described(\@beside, @_); }

# The same key by key, as while a slot of a cluster moves.
sub apart
{
	my ($type, $head, $length, %found) = @_;
	return map({ array(bulk('none'), bulk(''), integer(0), $found{$_} // nil()) } @beside), array(bulk($type), bulk($head), integer($length));
}
sub length_and { return array(integer($_[0]), bulk($_[1])); }

# What Redis has of its memory, and has used of that.
sub memory
{
	my ($limit, $used, $policy) = @_;
	return bulk("# Memory\r\nused_memory:$used\r\nmem_not_counted_for_evict:8\r\nmaxmemory:$limit\r\nmaxmemory_policy:$policy\r\n");
}

# The statements, as the table in redis.c has them.
my %statements = do
{
	my $i = 0;
	map { $_ => $i++ } qw(contains add describe info drop fetch fetch_guava fetch_growing fetch_redisson fetch_redisbloom fetch_sized
	  create_guava create_shards create_growing create_redisson create_redisbloom
	  mirror_bitmap mirror_growing mirror_redisson mirror_nothing mirror_redisbloom mirror_large mirror_live mirror_shard fetch_shard
	  create_named create_default contains_text contains_integer contains_each add_text add_integer add_all mirror_slices
	  create_window mirror_guava);
};

sub redis_seed
{
	my ($statement, $flags, @answers) = @_;
	seed('redis', pack 'Cva*', $statements{$statement} // die($statement), $flags, join '', @answers);
	return;
}

# What a sound server answers, so that there is a result.
sub sound_seed
{
	my (@of) = @_;
	redis_seed(@of);
	make_path("$out/sound/redis");
	copy(sprintf('%s/redis/%04d', $out, $count{redis} - 1), "$out/sound/redis") or die "$out: $!";
	return;
}

# The header of a native filter for ten elements, which can grow.
my $native_head = pack 'Q<VVV' . 'Q<Q<Q<d<d<VQ<C', 0, 1, 5, 2, 16, 128, 0, 0.005, abs(log(0.005) / 0.480453013918201), 8, 10, 0;

# The fields of the hashes next to filters, as layouts.c and remote_describe.c list them.
my @layer = qw(bits hashes expected fpp);
my @shape = (@layer, qw(strategy funnel elements));
my %fields = (
	own => [ @shape, qw(layout whole witness filled mirrored) ],
	growing => [ @shape, qw(expansion whole witness layers) ],
	redisson => \@layer,
	window => [ @shape, qw(layout whole witness id slice slices newest turned) ],
	shards => [qw(layout shards id strategy awaited creating)]
);

# A hash of a kind: its values, and the number of the string that its witness disproves.
sub hash
{
	my ($kind, %values) = @_;
	my @unknown = grep { my $field = $_; !grep { $_ eq $field } @{ $fields{$kind} }, 'disproved' } keys %values;
	die "no field of $kind: @unknown\n" if @unknown;
	return ($kind => array(map({ bulk($values{$_}) } @{ $fields{$kind} }), integer($values{disproved} // 0)));
}

# Filters of 256 bits and 5 hashes, in each layout: as SQL made them, some before
# anything was added, and as others do.
my $head = "\1\5\0\0\0\4";
my $string = "\x80" . "\0" x 31;
my $start = substr $string, 0, 8;
my @small = (bits => 256, hashes => 5, expected => 30, fpp => '0.03');
my @text = (funnel => 'utf8', elements => 'text');
my $words = join '', map { " $_:4294967295" } 2 .. 5;

sub own
{
	my ($strategy, $layout, @more) = @_;
	return hash('own', @small, strategy => $strategy, layout => $layout, @more);
}

sub growing { return hash('growing', @small, strategy => 'guava', expansion => 1, @_); }

# A window's hash, which has the place of others' own.
sub window
{
	my (%more) = @_;
	my @both = (@small, strategy => 'guava', @text, layout => 'window', bits => $more{bits} // 256);
	return (hash('own', @both), hash('window', @both, id => '0123456789abcdef', slice => 1000, slices => 5, newest => 1700000001, turned => 1700000000, %more));
}

my @cursor = (cursor => length_and(1, '1'));
my @layers = (first => length_and(32, $string), second => length_and(32, $string));
my @redisson = hash('redisson', @small);
my %filters = (
	guava => description('string', $head, 38),
	noted => description('string', $head, 38, own('guava', 'guava', @text)),
	utf16 => description('string', $head, 38, own('guava', 'guava', funnel => 'utf16')),
	proven => description('string', $head, 38, own('guava', 'guava', @text, witness => "38$words", mirrored => 1)),
	unbound => description('string', $head, 38, own('guava', 'guava', funnel => '')),
	grown => description('none', '', 0, growing(@text, layers => 2, witness => "32$words;32 1:5"), @cursor, @layers),
	doubled => description('none', '', 0, hash('growing', @small, strategy => 'guava', @text, bits => 320, hashes => 6, expansion => 2, layers => 2), @cursor, first => length_and(40, $string), second => length_and(80, $string)),
	growing => description('none', '', 0, growing(funnel => '', layers => 1), cursor => length_and(1, '0'), first => length_and(32, $string)),
	blocks => description('none', '', 0, growing(@text, strategy => 'parquet', hashes => 8, layers => 1), cursor => length_and(1, '0'), first => length_and(32, $string)),
	original => description('none', '', 0, growing(funnel => 'utf8'), first => length_and(32, $string)),
	redisson => description('string', $start, 32, @redisson),
	filled => description('string', $start, 32, @redisson, own('redisson', 'redisson', @text, witness => "32$words", filled => 1)),
	empty => description('none', '', 0, @redisson, own('redisson', 'redisson', funnel => '')),
	bitmap => description('string', $start, 32, own('magnuss', 'bitmap', @text, witness => "32$words")),
	bare => description('string', $start, 32, own('magnuss', 'bitmap', funnel => '')),
	window => description('none', '', 0, window()),
	wide => description('none', '', 0, window(bits => 1_100_032))
);
my %native = (
	hidden => description('MBbloom--', '', 0),
	native => description('MBbloom--', $native_head, 0),
	marked => description('MBbloom--', $native_head, 0, hash('own', bits => 128, hashes => 8, expected => 10, fpp => '0.01', strategy => 'redisbloom', funnel => '', layout => 'redisbloom', witness => 0))
);

# Filters of two shards; shards that have their id, and those that belong to earlier
# releases' filters.
sub shard { my ($number, @more) = @_; return description('string', $head, 38, own('guava', 'guava', @text, whole => "id/$number", @more)); }

my $early = description('none', '', 0, hash('shards', layout => 'guava', shards => 2, id => 'id'));
my $shards = description('none', '', 0, hash('shards', layout => 'guava', shards => 2, id => 'id', strategy => 'guava'));
my $awaited = description('none', '', 0, hash('shards', layout => 'guava', awaited => 2, id => 'id', strategy => 'guava'));
my $created = description('none', '', 0, hash('shards', layout => 'guava', creating => 2, id => 'id', strategy => 'guava'));
my $replaced = description('none', '', 0, hash('shards', layout => 'guava', shards => 2, id => 'other', strategy => 'guava'));
my @shards = ($shards, shard(0), shard(1));
my @empty_shards = map { description('string', $head, 38, own('guava', 'guava', funnel => '', whole => "id/$_")) } 0, 1;
my $none = description('none', '', 0);

# What is left of some, and what is no filter.
my %remains = (
	cursor => description('none', '', 0, growing(@text, layers => 2), @layers),
	second => description('none', '', 0, growing(@text), @layers),
	first => description('none', '', 0, growing(@text, layers => 2), @cursor),
	disproved => description('none', '', 0, growing(@text, layers => 2, witness => "32$words;32", disproved => 1), @cursor, @layers),
	unreadable => description('none', '', 0, growing(@text, layers => 2, witness => '32 x'), @cursor, @layers),
	filled => description('none', '', 0, @redisson, own('redisson', 'redisson', @text, filled => 1)),
	bitmap => description('none', '', 0, own('magnuss', 'bitmap', @text)),
	note => description('none', '', 0, own('guava', 'guava', @text)),
	had => description('none', '', 0, own('guava', 'guava', @text, witness => "38$words")),
	other_note => description('string', $head, 38, own('guava', 'guava', @text, witness => "38$words", disproved => 1)),
	native_note => description('MBbloom--', $native_head, 0, hash('own', bits => 128, hashes => 8, expected => 10, fpp => '0.01', strategy => 'redisbloom', @text, layout => 'redisbloom', witness => 9)),
	list => description('list', '', 0),
	foreign => description('string', $head, 38, own => integer(-1)),
	under => description('string', $head, 38, @redisson, own('guava', 'guava', @text)),
	over => description('string', $head, 38, @redisson),
	twin => description('none', '', 0, twin => length_and(38, $head)),
	twice => description('string', $start, 32, @redisson, own('magnuss', 'bitmap', @text)),
	other => description('string', $start, 32, @redisson, own('redisson', 'redisson', funnel => 'x')),
	rate => description('none', '', 0, growing(@text, fpp => '3e'), @cursor, @layers),
	expansion => description('none', '', 0, growing(@text, expansion => 2), @cursor, @layers),
	unsized => description('none', '', 0, growing(@text, expected => '', fpp => '', expansion => 2), @cursor, @layers),
	slices => description('none', '', 0, window(slices => 31)),
	turned => description('none', '', 0, window(turned => 1700000002)),
	lanes => description('none', '', 0, window(bits => 1 << 31)),
	no_string => description('none', '', 0, growing(@text, layers => 2), cursor => length_and(-1, ''), @layers)
);

# Bits of elements; what BITFIELD returns of a string with a head, before them; what a
# transaction that adds has as results.
sub bits { return map { integer($_ % 2) } 1 .. 5 * $_[0]; }
sub headed { return array(integer((1 << 40) + (5 << 32) + 4), bits($_[0])); }
sub added { return transaction(integer(1), integer(1), array(bits($_[0])), integer(1)); }

# A filter asked for two elements, which are added as well.
sub item_seeds
{
	my $proof = array(integer((1 << 40) + (5 << 32) + 4), (integer(4294967295)) x 4, bits(2));
	my %answers = (map({ $_ => bulk('10') } keys %filters, keys %native), map({ $_ => headed(2) } qw(guava noted utf16 unbound)), proven => $proof);

	sound_seed('contains', 0, ({%filters, %native}->{$_}, $answers{$_})) for sort keys %answers;
	sound_seed('contains', 0x1000, $filters{$_}, bulk('10')) for qw(guava noted proven);
	for my $filter (map { $filters{$_} } qw(grown redisson bitmap window wide))
	{
		sound_seed('contains', 0x40, $filter, nil());
		redis_seed('contains', 0, $filter, integer(-1));
		redis_seed('contains', 0, $filter, "-BEHIND The clock\r\n");
	}
	sound_seed('contains', 0x80, ($filters{guava}, headed(2)) x 2);
	sound_seed('contains', 2, $filters{grown}, bulk('01'));
	redis_seed($_, 0, $filters{grown}, bulk('101')) for qw(contains add);
	redis_seed('contains', 0, @$_) for [ $filters{grown}, bulk('1x') ], [ $native{native}, bulk('1') ], [ $filters{guava}, headed(1) ], [array()];
	sound_seed('contains', 0, $filters{proven}, array(integer((1 << 40) + (5 << 32) + 4), (integer(4294967294)) x 4, bits(2)));
	sound_seed('contains', 3, @shards, bulk('10'), $shards);
	sound_seed('contains', 3, $early, ($filters{noted}) x 2, bulk('10'), $early);
	redis_seed('contains', 0, $shards, @$_, bulk('10'), $shards) for [ shard(0), shard(0) ], [ shard(0), $filters{noted} ], [ shard(0), description('none', '', 0) ];
	sound_seed('contains', 4, "-MOVED 12539 10.0.0.1:6379\r\n", $filters{guava}, ("-ASK 12539 10.0.0.2:6379\r\n") x 2, ok(), headed(2));
	sound_seed('contains', 0x104, described(\@near, 'string', $head, 38, own('guava', 'guava', funnel => '')), headed(2));
	sound_seed('contains', 0x18, "-NOAUTH\r\n", ok(), "+PONG\r\n", $filters{guava}, headed(2));
	# Of scripts that are not known yet; of an older server; of an account that may do less.
	sound_seed('contains', 0, "-NOSCRIPT No script.\r\n", $filters{grown}, "-NOSCRIPT No script.\r\n", bulk('10'));
	sound_seed('contains', 0, "-ERR unknown command 'EVALSHA_RO'\r\n", $filters{grown}, bulk('10'));
	sound_seed('contains', 0, "-NOPERM no permissions to run the 'evalsha_ro' command\r\n", "-NOPERM no permissions to run the 'eval_ro' command\r\n", "-NOPERM no permissions to run the 'evalsha' command\r\n", $filters{grown}, bulk('10'));
	sound_seed('contains', 4, "-TRYAGAIN Multiple keys request during rehashing of slot\r\n", apart('string', $head, 38, own('guava', 'guava', @text)), headed(2));
	sound_seed('contains', 4, "-TRYAGAIN Multiple keys\r\n", apart('none', '', 0, growing(@text, layers => 2), @cursor, @layers), ("-TRYAGAIN Multiple keys\r\n") x 2, bulk('10'));
	redis_seed('contains', 8, "-LOADING\r\n", "+PONG\r\n", $filters{guava}, headed(2));

	for my $filter (map { $filters{$_} } qw(guava noted utf16 proven unbound redisson filled empty bitmap bare))
	{
		sound_seed('add', 0, $filter, added(2));
		redis_seed('add', 0, $filter, transaction(integer(1), $_, array(bits(2)), integer(1))) for nil(), integer(-1);
	}
	sound_seed('add', 0x2000, $filters{noted}, added(2), integer(1));
	redis_seed('add', 0x2000, $filters{noted}, added(2), $_) for integer(0), "-NOREPLICAS\r\n";
	sound_seed('add', 0, $filters{$_}, bulk('10')) for qw(grown doubled growing blocks original window wide);
	redis_seed('add', 0, $filters{grown}, $_) for nil(), integer(-2), integer(0), bulk('1');
	sound_seed('add', 0, $filters{window}, integer(0), $_) for integer(1700000002), nil();
	sound_seed('add', 0, $filters{wide}, integer(0), map { integer(1700000002) } 1 .. 3);
	redis_seed('add', 0, $filters{wide}, integer(0), integer(1700000002), $_) for integer(-2), "-BEHIND The clock\r\n";
	sound_seed('add', 0, $native{$_}, array(integer(1), integer(0))) for sort keys %native;
	redis_seed('add', 0, $native{marked}, $_) for nil(), array(integer(1)), array(integer(1), "-ERR\r\n");
	redis_seed('add', 0, $filters{bitmap}, transaction(integer(1), integer(1), array(integer(1)), integer(1)));
	sound_seed('add', 0, $shards, @empty_shards, integer(1), added(2), $shards);
	my $widest = 64 * int((-300_000_000 * log(0.015) / log(2)**2 + 63) / 64);
	# One that cannot grow: it has all layers that there can be, or too large a one.
	for my $answer (bulk('1'), integer(0))
	{
		redis_seed('add_text', 0, description('none', '', 0, growing(@text, layers => 1024), cursor => length_and(4, '1023'), @layers), $answer);
		redis_seed('add_text', 0, description('none', '', 0, growing(@text, bits => $widest, hashes => 6, expected => 300_000_000, expansion => 100, layers => 1), cursor => length_and(1, '0'), first => length_and($widest / 8, $start)), $answer);
	}
	return;
}

# The same by the functions of SQL, of an element or an array of them.  Where nothing
# sure says how a filter has texts or integers, Guava's is asked for each as two.
sub element_item_seeds
{
	my %count = (text => 1, each => 4);
	for my $what (sort keys %count)
	{
		my $n = $count{$what};
		my %answers = (map({ $_ => bulk('1' x $n) } keys %filters), growing => bulk('1' x (2 * $n)), map({ $_ => headed(2 * $n) } qw(guava noted utf16 unbound)), proven => array(integer((1 << 40) + (5 << 32) + 4), (integer(4294967295)) x 4, bits($n)));
		for my $name (sort keys %filters)
		{
			sound_seed("contains_$what", 0, $filters{$name}, $answers{$name});
			redis_seed("contains_$what", 0, $filters{$name}, nil(), $filters{noted}, headed(2 * $n));
		}
		sound_seed("contains_$what", 0, $native{native}, bulk('1' x $n));
		sound_seed("contains_$what", 0, $filters{window}, nil(), $filters{window}, bulk('1' x $n));
		my @answers = map { bulk('1' x (2 * $_)) } $what eq 'each' ? (2, 2) : 1;
		sound_seed("contains_$what", 0, @shards, @answers, $shards);
		redis_seed("contains_$what", 0, @shards, @answers, $none);
		sound_seed("contains_$what", 0, @shards, @answers, $replaced, @shards, @answers, $shards);
	}
	sound_seed('contains_text', 0x80, $filters{noted}, headed(2), bulk('11'));
	sound_seed('contains_integer', 0, $filters{$_}, headed(2)) for qw(guava unbound);
	redis_seed('contains_integer', 0, $filters{$_}, bulk('1')) for qw(grown bitmap window);
	for my $what (qw(text all))
	{
		my $n = $what eq 'all' ? 4 : 1;
		my $statement = "add_$what";
		sound_seed($statement, 0, $filters{$_}, added($n)) for qw(noted utf16 proven unbound redisson filled empty bitmap bare);
		sound_seed($statement, 0, $filters{$_}, bulk('1' x $n)) for qw(grown doubled growing blocks original window wide);
		redis_seed($statement, 0, $filters{grown}, bulk('1'), $filters{grown}, bulk('1' x ($n - 1)));
		sound_seed($statement, 0, $filters{window}, integer(0), integer(1700000002), $filters{window}, bulk('1' x $n));
		sound_seed($statement, 0, $native{$_}, array(map { integer(1) } 1 .. $n)) for sort keys %native;
		sound_seed($statement, 0, $shards, @empty_shards, integer(1), map({ added($_) } $what eq 'all' ? (2, 2) : 1), $shards);
	}
	redis_seed('add_text', 0, $filters{guava}, added(1));
	sound_seed('add_integer', 0, $filters{$_}, added(1)) for qw(unbound bare);
	redis_seed('add_integer', 0, $filters{noted});
	return;
}

# What is done with a filter as a whole.
sub filter_seeds
{
	my %all = (%filters, %native);
	my @numbers = map { integer($_) } 7, 38, -1;

	redis_seed('describe', 0, $_) for @remains{ sort keys %remains };
	sound_seed('describe', 0, $_) for @all{ grep { $_ ne 'hidden' } sort keys %all }, $early, $shards, $awaited, $created, $none;
	redis_seed($_->[0], 0, $_->[1]) for map { my $what = $_; map { [ $what, $_ ] } @remains{ sort keys %remains } } qw(contains add_text fetch);
	sound_seed('info', 0, $filters{$_}, @numbers) for qw(guava noted);
	sound_seed('info', 0, $filters{$_}, @numbers, bulk('')) for qw(filled bitmap);
	sound_seed('info', 0, $filters{grown}, (map { integer($_) } 7, 32, 0, 32, 1000), bulk(''));
	sound_seed('info', 0, $filters{$_->[0]}, map { array(integer(1700000001), integer(1700000001), bulk("\0\xf0\0\1" x 60), integer(6000)) } 1 .. $_->[1]) for [ 'window', 1 ], [ 'wide', 3 ];
	redis_seed('info', 0, $filters{window}, @$_) for [nil()], [ array(integer(1), integer(1 << 62), bulk('abc'), integer(-2)) ], [ integer(-1) ];
	sound_seed('info', 0, @shards, (@numbers, bulk('')) x 2);
	redis_seed('info', 0, $filters{grown}, (map { integer($_) } 7, 32, 0, 32, 1000), $_) for nil(), integer(-1);
	sound_seed('info', 0, $native{native}, array(@numbers));
	redis_seed('info', 0, $native{native}, nil());
	redis_seed('info', 0, $remains{bitmap});
	sound_seed('drop', 0, $_, integer(1)) for @filters{qw(noted grown window wide)}, $native{native}, @remains{qw(cursor filled bitmap)};
	redis_seed('drop', 0, $_, integer(1)) for @remains{qw(list twice other)};
	sound_seed('drop', 0, $filters{noted}, integer(-1), $filters{noted}, integer(1));
	sound_seed('drop', 0, $early, integer(1), ($filters{guava}, integer(1)) x 2);
	sound_seed('drop', 0, $shards, integer(1), shard(0), integer(1), shard(0), $none, integer(1));
	sound_seed('drop', 0, $awaited, integer(1), $none, $filters{noted});

	for (['guava', 'noted', bulk($head . $string), $filters{noted}], ['growing', 'grown', array((bulk($string)) x 2)], ['redisson', 'filled', array(bulk($string))])
	{
		my ($layout, $name, @answers) = @$_;
		sound_seed("fetch_$layout", 0, $filters{$name}, @answers);
		sound_seed('fetch', 0, $filters{$name}, @answers);
	}
	sound_seed('fetch', 0, $filters{noted}, bulk($head . $string), $filters{unbound}, $filters{noted}, bulk($head . $string), $filters{noted});
	redis_seed('fetch', 0, $filters{noted}, bulk($head . $string), $filters{unbound}, $none);
	sound_seed('fetch', 0, $filters{proven}, bulk($head . "\xff" x 32), $filters{proven});
	redis_seed('fetch', 0, $filters{proven}, bulk($head . $string), $filters{proven});
	sound_seed('fetch', 0, $filters{redisson}, array(nil()));
	redis_seed('fetch', 0, $filters{redisson}, integer(-1));
	sound_seed('fetch', 0, $filters{bitmap}, nil(), $filters{bare}, array(bulk($string)));
	redis_seed('fetch', 0, ($filters{bare}, nil()) x 20);
	redis_seed('fetch', 0, $native{native}, nil(), $none);
	redis_seed('fetch', 0, $filters{window});
	redis_seed('fetch_guava', 0, $filters{grown});
	sound_seed('fetch_sized', 0, description('string', $string, 21), array(bulk("\x80")));

	sound_seed('create_guava', 0, $none, integer(1));
	sound_seed('create_guava', 0, description('string', $head, 38), integer(1));
	redis_seed('create_guava', 0, $_, integer(1)) for @filters{qw(noted unbound)};
	redis_seed('create_guava', 0, description('string', $head, 38), nil(), $filters{noted});
	sound_seed('create_shards', 0, $none, bulk('id'), $created, map { ($none, $none, integer(1), integer($_)) } 1, 2);
	my @bare_shards = map { description('string', "\0" x 8, 17, hash('own', bits => 130, hashes => 6, expected => 15, fpp => '0.03', strategy => 'magnuss', funnel => '', layout => 'bitmap', whole => "id/$_")) } 0, 1;
	my @of_bare = (layout => 'bitmap', id => 'id', strategy => 'magnuss');
	my ($creating, $complete) = map { description('none', '', 0, hash('shards', @of_bare, $_ => 2)) } qw(creating shards);
	sound_seed('create_shards', 0, $creating, bulk('id'), $creating, map { ($bare_shards[ $_ - 1 ], $creating, $bare_shards[ $_ - 1 ], integer(1), $bare_shards[ $_ - 1 ], integer($_)) } 1, 2);
	sound_seed('create_shards', 0, $complete, bulk('id'), $complete, map { ($_, $_, integer(1)) } @bare_shards);
	redis_seed('create_shards', 0, $complete, bulk('id'), $complete, $none);
	redis_seed('create_shards', 0, $none, nil(), $none, bulk('id'), $created, $none, $none, integer(1), integer(0), $none);
	sound_seed($_, 0, $none, integer(1)) for qw(create_growing create_redisson create_redisbloom);
	sound_seed('create_window', 0, $none, map { integer(1) } 1 .. 4);
	redis_seed('create_window', 0, $none, map({ integer(1) } 1 .. 3), $_) for integer(-1), integer(-2);
	redis_seed('create_window', 0, $filters{window});
	redis_seed('create_growing', 0, $_) for $filters{growing}, $remains{bitmap};
	redis_seed('create_growing', 0, $remains{cursor}, integer(3), integer(1));
	redis_seed('create_redisson', 0, $remains{twin});
	redis_seed('create_growing', 0x104);
	redis_seed('create_redisson', 0, ($remains{filled}, integer(0)) x 2);
	redis_seed('create_guava', 0, $remains{had}, integer(1));
	return;
}

# Where to look at a string again, and what is there: only its beginning.
sub sample
{
	my ($length, $begin) = @_;
	my $last = $length - 1;
	my @bytes = unpack 'C*', $begin;
	return array(map { integer($bytes[ int($last / 63) * $_ + int($last % 63 * $_ / 63) ] // 0) } 0 .. 63);
}

# Filters that are written, and read back in part.
sub mirror_seeds
{
	my $zeros = array(map { integer(0) } 1 .. 64);
	my @written = map { integer($_) } 0, 7, 1;
	my $fresh = "\1\7\0\0\1\x2c";
	my $old = description('string', $fresh, 2406);
	my @end = (@written, integer(2406), sample(2406, $fresh));
	my $large = 6 + 8 * int((-900_000 * log(0.01) / log(2)**2 + 63) / 64);
	my $last = int(($large - 1) / 2**18);
	my @pieces = (integer($large), (integer(1), integer($large)) x $last);
	my $moved = "-MOVED 12539 10.0.0.1:6379\r\n";
	my $no_room = memory(2_000_000, 100_000, 'noeviction');

	sound_seed('mirror_bitmap', 0, $none, transaction(ok(), @written, integer(13), $zeros));
	redis_seed('mirror_bitmap', 0, $remains{bitmap}, transaction(ok(), @written, integer(13), $zeros));
	redis_seed('mirror_bitmap', 0, $_) for @remains{qw(list filled twin foreign)}, $filters{guava};
	sound_seed('mirror_growing', 0, $_, ok(), integer(1)) for $none, $filters{grown}, $remains{cursor};
	redis_seed('mirror_growing', 0, $none, ok(), $_) for integer(0), integer(-1), integer(-2), integer(-3);
	sound_seed('mirror_redisson', 0, $none, ok(), integer(1));
	sound_seed('mirror_redisson', 0, $filters{redisson}, transaction(ok(), @written, @written, integer(8), sample(8, "\0" x 7 . "\x80")));
	sound_seed('mirror_nothing', 0, $none, integer(1));
	sound_seed('mirror_nothing', 0, $filters{filled}, transaction(integer(1), @written, @written, integer(0), $zeros));
	sound_seed('mirror_redisbloom', 0, $_, ok(), ok(), array(integer(1), bulk($native_head)), integer(1)) for $none, $native{hidden};
	sound_seed('mirror_guava', 0, $_, transaction(ok(), @written, integer(22), sample(22, "\1\7\0\0\0\2\1"))) for $none, $filters{proven};

	my @small = (transaction(ok(), @written, integer(22), sample(22, "\1\7\0\0\0\2")));
	sound_seed('mirror_shard', 0, $_, bulk('id'), $awaited, $none, $none, @small, integer(1)) for $none, $awaited;
	sound_seed('mirror_shard', 0, $shards, bulk('id'), $shards, shard(1), $shards, shard(1), @small, integer(2));
	redis_seed('mirror_shard', 0, $awaited, bulk('id'), $awaited, $none, $none, @small, integer(0), shard(1), integer(1));
	redis_seed('mirror_shard', 0, $none, nil(), $awaited, bulk('id'), $awaited, $none, $none, @small, integer(1));
	redis_seed('mirror_shard', 0, $_) for $early, $filters{guava};
	sound_seed('fetch_shard', 0, $shards, shard(1), array(bulk($head . $string)), $shards);
	sound_seed('fetch_shard', 0, $early, $filters{noted}, array(bulk($head . $string)), $early);
	redis_seed('fetch_shard', 0, $shards, shard(0), array(bulk($head . $string)), $shards);
	redis_seed('create_named', 0, "$_\n", $none, integer(1)) for qw(guava growing redisson bitmap window x guava;shards=2 guava;shards=0 guava;shards=2/1 bitmap;shards=99999 guava;shards=), 'guava;shards=2 ', 'guava; shards=2', '';
	sound_seed('create_default', 0, $none, integer(1));

	sound_seed('mirror_large', 0, $none, memory(0, 1_000_000, 'noeviction'), transaction(ok(), @written, integer($large), sample($large, "\1\7\0\2\x0f\2")));
	sound_seed('mirror_large', 0, $none, $_, @pieces, integer(1)) for $no_room, "-NOPERM\r\n", bulk('');
	redis_seed('mirror_large', 0, $none, $no_room, integer($large), integer(1), integer(7), @pieces[ 3 .. $#pieces ], integer(1));
	redis_seed('mirror_large', 0, $none, $no_room, "-OOM\r\n", @pieces[ 1 .. $#pieces ], integer(1));
	redis_seed('mirror_large', 0, $none, memory(2_000_000, 1_000_000, 'allkeys-lru'));
	redis_seed('mirror_large', 4, $none, $no_room, $moved, @pieces[ 1 .. 6 ], $pieces[0]);
	sound_seed('mirror_large', 4, $none, $no_room, $moved x 7, @pieces, integer(1));

	sound_seed('mirror_live', 0, $old, ok(), bulk('0' x 96), transaction(integer(1), @end));
	sound_seed('mirror_live', 0, $old, ok(), bulk('0' x 64 . '1' x 32), transaction(integer(2406), integer(1), @end));
	sound_seed('mirror_live', 0, $old, ok(), $_, ok(), transaction(ok(), @end)) for bulk('1' x 96), nil();
	sound_seed('mirror_live', 0, $old, (ok(), bulk('0' x 96), ok(), queued(6), nil()) x 3, transaction(ok(), @end));
	redis_seed('mirror_live', 0, $old, ok(), bulk('0' x $_), transaction(integer(1), @end)) for 64, 95, 97, 128;
	sliced_seeds(@written);
	return;
}

# Digests of so many blocks, all of one digit, in an answer that has runs.
sub digests { my ($digit, $blocks) = @_; return sprintf "\$%d\r\n\xff%s\r\n", $blocks * 32, pack 'va', $blocks * 32, $digit; }

# A string of a slice and a block, of which the last differs, or all are the same; or
# there are digests of more blocks, or fewer.
sub sliced_seeds
{
	my (@written) = @_;
	my $longs = int((-110_000 * log(0.01) / log(2)**2 + 63) / 64);
	my $length = 6 + 8 * $longs;
	my $fresh = pack 'C2N', 1, 7, $longs;
	my @start = (0x800, description('string', $fresh, $length), ok());
	my @end = (integer(1), @written, integer($length), sample($length, $fresh));

	sound_seed('mirror_slices', @start, digests(0, 128), digests(0, 1), transaction(@end));
	sound_seed('mirror_slices', @start, digests(0, 128), digests(1, 1), transaction(integer($length), @end));
	redis_seed('mirror_slices', @start, digests(0, $_->[0]), digests(0, $_->[1]), transaction(@end)) for [ 128, 128 ], [ 129, 0 ], [ 127, 1 ], [ 1, 1 ], [ 128, 2 ], [ 256, 1 ];
	redis_seed('mirror_slices', @start, digests(1, 128), nil(), ok());
	return;
}

# A filter of the master that sentinels name; there is another one after a fail-over.
sub sentinel_seeds
{
	my ($first, $second) = map { bulks($_, 6379) } '10.0.0.1', '10.0.0.2';
	my ($master, $replica) = map { array(bulk($_), integer(1), array()) } qw(master slave);
	my $readonly = "-READONLY You can't write against a read only replica.\r\n";
	my @answers = ($first, $master, $filters{grown}, bulk('10'));

	sound_seed('contains', 0x210, @answers);
	sound_seed('contains', 0x2c0, @answers, @answers[ 2 .. 3 ]);
	sound_seed('contains', 0x400, @answers[ 2 .. 3 ]);
	redis_seed('contains', 0x600, @answers);
	redis_seed('contains', 0x200, $_, @answers) for nil(), "-ERR\r\n", bulks('10.0.0.1', 0), bulks('elsewhere', 6379), array();
	sound_seed('contains', 0x200, $first, $replica, $second, $replica, @answers);
	redis_seed('contains', 0x200, $first, $_, @answers) for bulk('master'), "-LOADING\r\n";
	sound_seed('add', 0x200, @answers[ 0 .. 2 ], $readonly, $second, $master, bulk('10'));
	sound_seed('add', 0x200, $first, $master, $filters{bitmap}, ok(), $readonly x 3, queued(1), "-EXECABORT Transaction discarded because of: " . substr($readonly, 1), $second, $master, transaction(integer(1), integer(1), array((integer(0)) x 10), integer(1)));
	sound_seed('mirror_growing', 0x200, $first, $master, $none, $readonly, $second, $master, ok(), integer(1));
	redis_seed('mirror_growing', 0x200, $first, $master, $none, ok(), $readonly);
	return;
}

# What RedisBloom's filters are dumped as.
sub native_seeds
{
	my ($header, $bits) = @_;
	sound_seed('fetch_redisbloom', 0, $_, bulks($header, $bits, '')) for $native{hidden}, description('MBbloom--', $header, 0);
	sound_seed('describe', 0, $native{hidden}, array(integer(1), bulk($header)));
	return;
}

for my $id (1 .. @strategies)
{
	my $strategy = $strategies[ $id - 1 ];
	for my $row (map { $_->{stream_hex} ? of_parquet($_) : $_ } rows($strategy, 'filters'))
	{
		my $m = $row->{bit_size} // $row->{m} // $row->{bits} // $row->{size} // next;
		my $k = $row->{k} // $row->{hash_iterations} // next;
		my $string = pack 'H*', $row->{redis_hex} // $row->{write_to_hex} // '';
		my %sizing = (n => $row->{n}, p => 0.01);
		my ($format, $head) = defined $row->{write_to_hex} ? @{ $streams{$strategy} } : ();
		my $bits = $row->{head} ? $row->{bits} : $format ? substr($string, $head) : stored($string);

		seed('value', value($id, $m, $k, $bits, %sizing));
		text_seeds(value($id, $m, $k, $bits, %sizing));
		partial_seeds($words{$strategy} // 2, value($id, $m, $k, $bits, %sizing));
		exchange_seed(0, 0, 0, 0, 0, $_) for map { value($id, $m, $k, $bits, %sizing, @$_) } [], [ layers => 3, expansion => 2 ], [ cell => 4 ];
		exchange_seed(3, $_, $id - 1, $m, $k, $string) for 0, 1;
		exchange_seed(4, $_, $id - 1, $row->{n} // 10, int(2**32 * 0.01), $string) for 0, 1;
		seed('value', value($id, $m, $k, $bits, %sizing, layers => 3, expansion => 2));
		seed('value', value($id, $m, $k, $bits, cell => 4)) if $format;
		seed('bits', pack 'CCvCa*', $_, $id - 1, $m - 1, ($k - 1) & 255, $string) for 0, 1;
		seed($format, $string) if $format;
		exchange_seed(@$_, 0, 0, 0, $string) for $format ? ([ 1, $stream_names{$format} ], [ 2, 0 ]) : ();
	}
	seed($streams{$strategy}[0], pack 'H*', $_->{input_hex}) for grep { defined $_->{input_hex} } rows($strategy, 'readfrom');
	for my $row (grep { defined $_->{header_hex} } rows($strategy, 'filters'))
	{
		my ($header, $bits) = map { pack 'H*', $row->{$_} } qw(header_hex data_hex);
		seed('redisbloom', $header . $bits);
		exchange_seed(1, 1, 0, 0, 0, $header . $bits);
		native_seeds($header, $bits);
	}
	for my $row (rows($strategy, 'sizing'))
	{
		my $p = $row->{p} // $row->{p_float} // 0.01;
		next if !defined $row->{n} || ++$count{row} % 20;
		seed('sizing', pack 'Cq<d<VVQ<', $id - 1, $row->{n}, $p, $row->{arg} // 0, 2, $row->{n});
	}
}
# Bytes as one type or another, and long ones.
sub element_seeds
{
	my @texts = ('', 'title', "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "caf\xe9 ", "\2\x18\x0a\0\0\1", 'x' x 100);
	for my $strategy (0 .. $#strategies)
	{
		seed('element', pack 'CCCva*', $strategy, $_, 0, 0, $texts[ ($_ + $strategy) % @texts ]) for 0 .. 63;
		seed('element', pack 'CCCva*', $strategy, $_, 0xfd + $_ % 3, 5, 'long title') for 0 .. 3, 12;
		# A character that begins in one piece and ends in the next; one that ends nowhere.
		seed('element', pack 'CCCva*', $strategy, 0, $_, 1, "x\xf0\x9f\x98\x80 title") for 0xfd, 0xff;
		seed('element', pack 'CCCva*', $strategy, 0, 0, 0, substr "title\xf0\x9f\x98\x80", 0, -$_) for 1 .. 3;
	}
	return;
}

# Options of a server, those of a mapping after an @, and what else functions take.
sub options_seeds
{
	my @servers = ("host 127.0.0.1\nport 6379\ndb 3", "socket /tmp/redis", "host a,b,10.0.0.1,::1\nport 1,2,3,4\nsentinel titles\nredirect_hosts 10.0.0.0/8,fe80::/10,name\ntls true\ntls_ca /ca",
		"host localhost\ncluster true\nredirect_hosts localhost", "host a\nconnect_timeout 0", "host a b", "host a:1", "host a,,b", "port 1,2\nhost a", "host a\nport 65536", "nothing x", "tls_ca x\nhost a", "host a\ncluster true\ndb 1",
		"socket s\ntls true", "host a\ncluster true\nsentinel s", "host a\nredirect_hosts b", "host a\nsentinel s\nredirect_hosts 10.0.0.1/33", "host ");
	my @mappings = ('', "\n\@username app\n\@password secret\n\@sentinel_username s\n\@sentinel_password p", "\n\@password_required false", "\n\@tls_cert c\n\@tls_key k", "\n\@tls_cert c", "\n\@host x", "\n10.1.2.3", "\nfe80::1", "\n" . 'k' x 1025);
	for my $server (@servers)
	{
		seed('options', pack('CQ<', $_, 86_400_000_000) . $server . $mappings[ ($count{options} // 0) % @mappings ]) for 0, 2, 2, 4, 8, 16;
	}
	seed('options', pack('CQ<', 2, 1) . $servers[2] . $_) for @mappings;
	return;
}

# Filters that are sound, and places that say much: of the header, the metapage, the
# first entries or bits, the tail; a file that is cut.
sub live_seeds
{
	for my $filter (0 .. 4)
	{
		for my $done (1, 2, 4, 8, 16, 32, 63)
		{
			seed('live', pack 'C3', $filter, $done, $_) for 0 .. 3, 0x1e;
			for my $block (0, 1, 2, 5)
			{
				seed('live', pack 'C3CvCa2', $filter, $done, $count{live} % 3 == 0, $block, $_, 2, any_bytes()) for 12, 14, 16, 24, 28, 32, 40, 56, 72, 80, 104, 0xfff8, 0xfffc, 0xfffe;
			}
			seed('live', pack 'C3CvC', $filter, $done, 0, 255, $_, 0) for 0, 1, 2, 7;
			# Bits beyond a small layer's end; entries that vanish in the midst of a flush.
			seed('live', pack 'C3CvCa*', $filter, $done, 0, $_, 4000, 255, "\xff" x 255) for 1 .. 4;
			seed('live', pack 'C3', $filter, $done, $_) for 0x20, 0x22;
			# All pages are full on which entries wait.
			seed('live', pack('C3', $filter, $done, 0) . join '', map { pack "CvCv", $_, 12, 2, 24 + 510 * 16 } 1 .. 4);
		}
	}
	return;
}

sub any_bytes { return pack 'v', (0, 1, 0xffff, 0x0100)[ $count{live} % 4 ]; }

# Partial states that list so many hashes together that these are sorted by bucket.
for my $flags (0x20, 0x21, 0x30)
{
	my $prefix = substr value(1, 9_585_088, 7, '', n => 1_000_000, p => 0.01), 0, 72;
	aggregate_seed($flags, map { pack('C4VQ<2', 1, 1, 2, 0, 40, 40, 72 + 9_585_088 / 8) . $prefix . join '', map { md5($_) } $_ * 40 .. $_ * 40 + 39 } 1 .. 3);
}
# Those of a filter that grows, by a list and by its bits; filters that do not go together.
{
	my @sizing = (n => 20, p => 0.01, expansion => 2);
	my ($grows, $other) = (value(1, 256, 7, "\1" x 32, @sizing), value(1, 320, 7, '', n => 30, p => 0.01));
	my @list = map { pack('C4VQ<2', 1, 1, 2, $_, 30, 30, length $grows) . substr($grows, 0, $_ ? length $grows : 72) . join '', map { md5("x$_") } 1 .. 30 } 0, 1;
	aggregate_seed($_, @list, $list[0]) for 1, 3, 0x11, 0x21;
	aggregate_seed($_, value(1, 320, 7, ''), $other, $grows) for 4, 5, 0x0c;
}
# What counts its elements; blocks that are folded to fewer, from either side.
partial_seeds(2, value(7, 320, 7, "\1", n => 30, p => 0.01));
aggregate_seed(4, map { value(11, $_ * 256, 8, "\1", n => $_ * 20, p => 0.01) } @$_) for [ 1, 2, 1 ], [ 2, 1, 2 ];
exchange_seed(1, 5, 0, 0, 0, '');
exchange_seed(3, 2, 0, 64, 1, '');
# Sizes whose real rate is asked for.
seed('sizing', pack 'Cq<d<VVQ<', $_, 100, 0.01, 0, 0, 257) for 0 .. $#strategies;
text_seeds(value(1, (12 << 20) + 4096, 7, "\1"));
exchange_seed(0, 0, 0, 0, 0, value(1, 1 << 10, 7, "\1"), 0, 0);
exchange_seed(3, $_, 3, 9 << 20, 7, "\x80\1", 0xfe, 1) for 0, 1;
exchange_seed(2, 0, 0, 0, 0, pack('C2N', 1, 5, 1 << 17) . "\0", 0xfe, 7);
element_seeds();
options_seeds();
live_seeds();
item_seeds();
element_item_seeds();
filter_seeds();
mirror_seeds();
sentinel_seeds();
