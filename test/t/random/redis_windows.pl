# Windows of time in Redis, by the clock: workers add and ask in SQL, by the library for
# Redis and by commands alone, while windows are left alone for many slices, keys are
# evicted, servers are killed, a cluster fails over, and clocks are ahead by a slice.
#
# What a worker added less than a span ago to a window that is still the same is never
# denied; what it added longer ago than a span and two slices, three after a clock that
# was ahead, is not found, but for chance; no key lives for ever, and in the end no
# window is left.  On the server "calm" nothing happens: there not even an error is right
# while a window has something.
#
# BLOOMEXT_WINDOW_SECONDS is how long workers work: 30, unless it says otherwise.
# BLOOMEXT_SEED gives workers the numbers of an earlier run; their moments differ.
use strict;
use warnings;

use FindBin;
use List::Util qw(shuffle);
use Time::HiRes qw(sleep time);

use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisServer;
use RedisTest qw(start_postgres sql);
use RedisWire;
use Workers;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

my $seconds = $ENV{BLOOMEXT_WINDOW_SECONDS} || 30;
my $seed = $ENV{BLOOMEXT_SEED} // int rand 1e9;
diag "seed $seed";
srand $seed;
$SIG{PIPE} = 'IGNORE';

sub any { return $_[ rand @_ ] }

# ---- Servers and windows ----

my $node = start_postgres("fsync = off\nlog_statement = none\nbloomext.overfull_notice = off\n");
sql('CREATE EXTENSION bloomext');
my $library = slurp_file(`pg_config --sharedir` =~ s/\n//r . '/extension/bloomext.lua') =~ s/^#!.*\n//r;
my %servers = (
	calm => [ RedisServer->new ],
	memory => [ RedisServer->new ],
	aof => [ RedisServer->new(options => [ '--appendonly', 'yes', '--appendfsync', 'always' ]) ],
	cluster => [ RedisServer->cluster(replicas => 1, timeout => 500) ]);
foreach my $name (sort keys %servers)
{
	my @nodes = @{ $servers{$name} };
	my $at = @nodes == 1 ? "socket '$nodes[0]{socket}'"
	  : "host '" . join(',', ('127.0.0.1') x @nodes) . "', port '" . join(',', map { $_->{port} } @nodes) . "', cluster 'true', wait_replicas '1', wait_timeout '3000'";
	my $patience = $name eq 'calm' ? 60000 : 5000;
	sql("CREATE SERVER $name FOREIGN DATA WRAPPER bloomext_redis OPTIONS ($at, connect_timeout '$patience', command_timeout '$patience');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
}

# Of one piece and of two, of one slice and of thirty.
my @windows = map {
	my $server = $_;
	map { my ($slices, $length, $expected) = @$_; { server => $server, key => "w$slices", slices => $slices, length => $length, expected => $expected } }
	[ 1, 2, 2000 ], [ 3, 1, 60000 ], [ 4, 2, 3000 ], [ 30, 1, 3000 ]
} sort keys %servers;
sub span { my ($w) = @_; return $w->{slices} * $w->{length} }

# A window is left alone for three quarters of its life, and it is left alone until it is
# over, each by its own calendar.
sub is_used
{
	my ($w) = @_;
	my $life = span($w) + 2 * $w->{length};
	return substr '11101100', (unpack('%32C*', "$w->{server}$w->{key}") + int(time / $life / 0.75)) % 8, 1;
}

# ---- Workers ----

my $workers = Workers->new;
my ($sql, %wires, %added, $known, $serial);

# In a worker: a command about a window, to whoever has its keys; or undef.
sub redis
{
	my ($w, @command) = @_;
	my $nodes = $servers{ $w->{server} };
	$wires{ $w->{server} } //= RedisWire->new(@$nodes > 1 ? map { $_->{port} } @$nodes : $nodes->[0]{socket});
	my $answer = eval { [ $wires{ $w->{server} }->command("{$w->{key}}:bloomext", @command) ] };
	return $answer->[0] if $answer;
	$w->{error} = $@;
	return undef;
}

# What tells a window from another one at its key; '' where there is none.
sub id_of { my ($w) = @_; return redis($w, 'HGET', "{$w->{key}}:bloomext", 'id') // '' }

# What SQL says: its line, or undef and the SQLSTATE in the window's error.
sub told
{
	my ($w, $query) = @_;
	$sql //= Workers::Psql->new($node->connstr('postgres'), '\set VERBOSITY sqlstate', 'SET client_min_messages = error;');
	my ($line) = $sql->run("SELECT $query;");
	if ($sql->{lost}) { $sql = undef; die "the session is lost: $line\n" }
	$w->{error} = $sql->{state};
	return $sql->{state} eq '00000' ? $line : undef;
}

sub create { my ($w) = @_; return "bf_redis_create('$w->{server}', '$w->{key}', $w->{expected}, 0.000001, span => '@{[span($w)]} s', slices => $w->{slices})" }

sub array { return 'ARRAY[' . join(', ', map { "'$_'" } @_) . ']::text[]' }
sub answers { my ($line) = @_; return defined $line ? [ map { $_ eq 't' ? 1 : 0 } $line =~ /[tf]/g ] : undef }

sub by_sql { my ($w, @elements) = @_; return answers(told($w, "bf_redis_contains_each('$w->{server}', '$w->{key}', @{[array(@elements)]})")) }

sub by_library
{
	my ($w, @elements) = @_;
	return redis($w, 'EVAL', $library, 2, $w->{key}, "{$w->{key}}:bloomext", 'bloomext_contains', @elements);
}

# By commands, without any script: again where the window was turned between them.
sub by_commands
{
	my ($w, @elements) = @_;
	for (1 .. 5)
	{
		my $hash = redis($w, 'HMGET', "{$w->{key}}:bloomext", qw(id bits hashes slice slices newest turned)) // return undef;
		my ($id, $bits, $hashes, $slice, $slices, $newest, $turned) = @$hash;
		$w->{error} = 'no hash', return undef if grep { !defined } @$hash;
		my @positions = map { [ $_ =~ /\d+/g ] } $sql->run("SELECT bf_positions(bf_create_bits($bits, $hashes, 'guava', 'utf8'), e) FROM unnest(@{[array(@elements)]}) WITH ORDINALITY AS a (e, i) ORDER BY i;");
		$w->{error} = 'no positions', return undef if @positions != @elements;
		my $time = redis($w, 'TIME') // return undef;
		my $now = int(($time->[0] * 1000 + int($time->[1] / 1000)) / $slice);
		$w->{error} = 'the clock is behind', return undef if $newest > $now + 1;
		$now = $newest if $newest > $now;
		my @lanes = (0xffffffff) x @elements;
		my $whole = 1;
		foreach my $piece (0 .. int(($bits - 1) / 500000))
		{
			my @asked = map { my $i = $_; map { int($_ / 500000) == $piece ? [ $i, $_ % 500000 ] : () } @{ $positions[$i] } } 0 .. $#positions;
			my $key = "{$w->{key}}:bloomext-window-$id-$piece";
			my ($at, @words) = @{ redis($w, 'BITFIELD_RO', $key, 'GET', 'i64', 0, map { ('GET', 'u32', '#' . ($_->[1] + 6)) } @asked) // return undef };
			my $left = $bits - $piece * 500000;
			$whole &&= $at >= $turned && $at <= $newest && (redis($w, 'GETRANGE', $key, 8, 23) // '') eq $id && (redis($w, 'STRLEN', $key) // 0) == 24 + 4 * ($left < 500000 ? $left : 500000);
			my ($oldest, $live) = ($now - $slices - 1, 0);
			$oldest = $at - 31 if $oldest < $at - 31;
			$live |= 1 << $_ % 32 for $oldest .. $at;
			$lanes[ $asked[$_][0] ] &= $words[$_] & $live for 0 .. $#asked;
		}
		return [ map { $_ ? 1 : 0 } @lanes ] if $whole;
	}
	$w->{error} = 'not whole';
	return undef;
}

my %ways = (sql => \&by_sql, library => \&by_library, commands => \&by_commands);

# After an error: make another window where there is none, or it has lost something.
sub renew
{
	my ($w, $recent) = @_;
	$workers->wrong("$w->{server} $w->{key}: $w->{error} while it has something\n") if $w->{server} eq 'calm' && $recent;
	$count{"errors $w->{error}"}++ if $w->{error} =~ /^\w{5}$/;
	return if defined told($w, "(bf_redis_info('$w->{server}', '$w->{key}')).slices");
	told($w, "bf_redis_drop('$w->{server}', '$w->{key}')") if $w->{server} ne 'calm';
	told($w, create($w));
	return;
}

# Whether something was added less than a span ago.
sub is_recent { my ($w) = @_; my $from = time - span($w); return grep({ $_->{from} > $from } values %{ $added{ $w->{server} }{ $w->{key} } }) > 0 }

sub add
{
	my ($w) = @_;
	my $mine = $added{ $w->{server} }{ $w->{key} } //= {};
	my @elements = map { "$known-" . (rand() < 0.2 && %$mine ? int rand($serial + 1) : ++$serial) } 1 .. any(1, 1, 5, 60);
	my %seen;
	@elements = grep { !$seen{$_}++ } @elements;
	my ($id, $from) = (id_of($w), time);
	my $new = answers(told($w, @elements == 1 ? "bf_redis_add('$w->{server}', '$w->{key}', '$elements[0]')" : "bf_redis_add_each('$w->{server}', '$w->{key}', @{[array(@elements)]})"));
	my $to = time;
	if (!$new || $id eq '' || $id ne id_of($w))
	{
		# They may be there all the same.
		$_->{to} = $to foreach grep { defined } @$mine{@elements};
		renew($w, is_recent($w)) unless $new;
		return;
	}
	check($w, 'add', $id, $from, $to, \@elements, [ map { !$_ } @$new ]);
	$mine->{$_} = { id => $id, from => $from, to => $to } foreach @elements;
	$count{added} += @elements;
	return;
}

# Compare answers with what is known; what is no longer of interest is forgotten.
sub check
{
	my ($w, $way, $id, $from, $to, $elements, $answers) = @_;
	my $mine = $added{ $w->{server} }{ $w->{key} };
	foreach my $i (0 .. $#$elements)
	{
		my $known = $mine->{ $elements->[$i] } // next;
		delete $mine->{ $elements->[$i] }, next if $known->{id} ne $id;
		my $age = $to - $known->{from};
		if ($age < span($w) - 0.01)
		{
			$workers->wrong(sprintf "%s %s: %s denies %s, added %.3f s ago\n", @$w{qw(server key)}, $way, $elements->[$i], $age) if !$answers->[$i];
			$count{"found by $way"}++;
		}
		elsif ($from - $known->{to} > span($w) + ($w->{server} eq 'calm' ? 2 : 3) * $w->{length})
		{
			$count{ $answers->[$i] ? 'kept' : 'gone' }++;
			delete $mine->{ $elements->[$i] } if rand() < 0.3;
		}
	}
	return;
}

sub ask
{
	my ($w) = @_;
	my @elements = (shuffle keys %{ $added{ $w->{server} }{ $w->{key} } })[ 0 .. any(0, 20, 100) ];
	@elements = grep { defined } @elements or return;
	my $way = any(sort keys %ways);
	my ($id, $from) = (id_of($w), time);
	my $answers = $ways{$way}->($w, @elements);
	my $to = time;
	if (!$answers) { renew($w, is_recent($w)); return }
	$workers->wrong("$w->{server} $w->{key}: $way answers @{[ref $answers ? qq(with @$answers) : $answers]}\n") if ref $answers ne 'ARRAY' || grep { !/^[01]$/ } @$answers;
	check($w, $way, $id, $from, $to, \@elements, $answers) if $id ne '' && $id eq id_of($w);
	return;
}

sub work
{
	$known //= $$;
	my $w = any(grep { is_used($_) } @windows) // return sleep 0.1;
	told($w, '1') unless $sql;
	rand() < 0.4 ? add($w) : ask($w);
	sleep(rand() < 0.01 ? rand 5 : rand 0.03);
	return;
}

# ---- What happens ----

my $ahead = q{
	local now, length, newest = redis.call('TIME')[1] * 1000, unpack(redis.call('HMGET', KEYS[1], 'slice', 'newest'))
	local ahead = newest and math.floor(now / length) + 1
	return ahead and ahead > tonumber(newest) and redis.call('HSET', KEYS[1], 'newest', ahead)};
my $for_ever = q{local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) == -1 then n = n + 1 end end return n};
my %happened;
my $immortal = '';

sub evict
{
	my $of = any(qw(memory aof cluster));
	my $server = any(grep { $_->{pid} && $_->cli('ROLE') =~ /^master/ } @{ $servers{$of} }) // return;
	my $key = $server->cli('RANDOMKEY');
	$server->cli('DEL', $key), $happened{evicted}++ if $key ne '';
	return;
}

# What is left where a master's clock was ahead by a slice when a window was turned.
sub be_ahead
{
	my $w = any(grep { $_->{server} ne 'calm' } @windows);
	$happened{'a clock was ahead'} += $_->cli('EVAL', $ahead, 1, "{$w->{key}}:bloomext") eq '0' foreach @{ $servers{ $w->{server} } };
	return;
}

sub restart
{
	my ($of) = @_;
	my ($server) = @{ $servers{$of} };
	$server->stop('KILL');
	sleep rand 2;
	$server->start;
	$happened{"$of killed"}++;
	return;
}

# A master fails over as it is told, or because it is killed; a moment later, or much later, it is back.
sub fail_over
{
	my ($master) = shuffle grep { $_->cli('ROLE') =~ /^master/ } @{ $servers{cluster} };
	my ($replica) = shuffle grep { $_->cli('ROLE') =~ /^slave/ } @{ $servers{cluster} };
	if ($replica && rand() < 0.5) { $replica->cli('CLUSTER', 'FAILOVER', rand() < 0.5 ? 'TAKEOVER' : ()); sleep 1; return $happened{'failed over'}++ }
	$master->stop('KILL');
	sleep any(0.1, 3);
	$master->start;
	$happened{'a master killed'}++;
	return;
}

sub look
{
	foreach my $server (map { @$_ } values %servers)
	{
		my $keys = $server->cli('EVAL', $for_ever, 0);
		$immortal .= "$keys keys " if $keys =~ /^[1-9]\d*$/ && $server->cli('ROLE') =~ /^master/;
		$happened{looked}++;
	}
	return;
}

$workers->start('workers', int rand 1e9, \&work) for 1 .. 4;
my $ends = time + $seconds;
while (time < $ends && !$workers->is_wrong)
{
	any(\&evict, \&evict, \&be_ahead, \&be_ahead, \&look, \&look, sub { restart('memory') }, sub { restart('aof') }, \&fail_over)->();
	sleep rand 1;
}
is($workers->stop, '', 'no worker died');
is($workers->said_wrong, '', 'nothing is denied, and no error is wrong');
is($immortal, '', 'no key lives for ever');
my %counted = $workers->counted;
note join ', ', map { "$_: " . ($counted{$_} // $happened{$_}) } sort(keys %counted), sort keys %happened;
cmp_ok($counted{"found by $_"} // 0, '>', 100, "some is found by $_") foreach sort keys %ways;
cmp_ok($counted{gone} // 0, '>', 30, 'some is gone');
cmp_ok($counted{kept} // 0, '<=', ($counted{gone} // 0) / 1000, 'and does not stay, but for chance');
cmp_ok($happened{looked} // 0, '>', 0, 'it was looked for keys without a time to live');

# The longest window is over last.  A piece of one that was not made in the end is there for ten minutes.
my $long = $seconds > 100;
sleep($long ? 34 : 15);
my @calm = split /\n/, $servers{calm}[0]->cli('KEYS', '*');
my @left = map { split /\n/, $_->cli('KEYS', '*:bloomext') } map { @$_ } values %servers;
is(join(' ', grep { $long || !/\{w30\}/ } @calm, @left), '', 'windows that nobody adds to are gone');

$node->stop;
done_testing();
