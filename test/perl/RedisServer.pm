# RedisServer.pm
#	Redis servers for the tests: real ones, alone or as a cluster, and one that
#	misbehaves as it is told.  All live in temporary directories, listen on unix
#	sockets or loopback, and end with the test.
#
#	BLOOMEXT_REDIS_SERVER names another program than the redis-server of the
#	search path: that of another release, or valkey-server.
package RedisServer;

use strict;
use warnings;

use Carp;
use File::Temp ();
use IO::Socket::INET;
use IO::Socket::UNIX;
use Time::HiRes qw(sleep);

my $program = $ENV{BLOOMEXT_REDIS_SERVER} || 'redis-server';
my @running;

sub available
{
	return 1 if system("command -v '$program' redis-cli >/dev/null 2>&1") == 0;
	croak "BLOOMEXT_REDIS_SERVER is $program" if $ENV{BLOOMEXT_REDIS_SERVER};
	return 0;
}

# A TCP port of loopback that nobody listens on.  A cluster's nodes use a second
# one, 10000 above it.
sub free_port
{
	for (1 .. 100)
	{
		my $port = 20000 + int(rand(20000));
		my @sockets = map {
			IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1',
				LocalPort => $_)
		} $port, $port + 10000;
		return $port if grep({ defined } @sockets) == 2;
	}
	croak 'no free port';
}

# The options that load RedisBloom, if a variable names it.
sub bloom { return $ENV{BLOOMEXT_REDISBLOOM} ? ('--loadmodule', $ENV{BLOOMEXT_REDISBLOOM}) : () }

# A function of Lua's: what is at a key, as a text that is the same whenever that is.  A
# hash has its fields in any order.
our $digest = q{
	local function digest(key)
		if redis.call('TYPE', key).ok ~= 'hash' then return redis.sha1hex(redis.call('DUMP', key)) end
		local fields, pairs = redis.call('HGETALL', key), {}
		for i = 1, #fields, 2 do pairs[#pairs + 1] = fields[i] .. '=' .. fields[i + 1] end
		table.sort(pairs)
		return redis.sha1hex(table.concat(pairs, '\n'))
	end};

# Has slices of the window of time with a hash pass, as ARGV[1] says.  As the clock cannot
# be moved, slices get shorter: the clock is in the middle of the one that is to be now.
our $pass_slices = q{
	local time, slice, newest = redis.call('TIME'), unpack(redis.call('HMGET', KEYS[1], 'slice', 'newest'))
	local ms = time[1] * 1000
	local now = math.max(math.floor(ms / slice), newest) + ARGV[1]
	return redis.call('HSET', KEYS[1], 'slice', ('%.0f'):format(ms / (now + 0.5)))};

# Start a server; more options as redis-server takes them, and lines of a file of
# them, which it may change.
sub new
{
	my ($class, %args) = @_;
	my $dir = File::Temp->newdir('/tmp/bloomext-redis-XXXXXX');
	my $self = bless { dir => $dir, socket => "$dir/socket",
		port => $args{port} // 0, options => $args{options} // [] }, $class;
	if ($args{file})
	{
		$self->{file} = "$dir/file";
		open my $file, '>', $self->{file} or croak "$self->{file}: $!";
		print $file $args{file};
		close $file;
	}
	$self->start;
	push @running, $self;
	return $self;
}

sub start
{
	my ($self) = @_;
	my $pid = fork() // croak "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>>', "$self->{dir}/log";
		open STDERR, '>&', \*STDOUT;
		open STDIN, '<', '/dev/null';
		exec $program, $self->{file} // (), '--port', $self->{port}, '--bind', '127.0.0.1',
		  '--unixsocket', $self->{socket}, '--unixsocketperm', '777',
		  '--dir', "$self->{dir}", '--save', '', '--appendonly', 'no',
		  @{ $self->{options} };
		exit 127;
	}
	chmod 0755, "$self->{dir}";
	$self->{pid} = $pid;
	for (1 .. 200)
	{
		my $socket = IO::Socket::UNIX->new(Peer => $self->{socket});
		if (defined $socket)
		{
			$socket->print("PING\r\n");
			return if ($socket->getline // '-LOADING') !~ /^-LOADING/;
		}
		sleep 0.05;
	}
	croak 'redis-server did not start';
}

sub signal { my ($self, $signal) = @_; kill $signal, $self->{pid}; }

# End it, at once if so asked.
sub stop
{
	my ($self, $signal) = @_;
	return unless $self->{pid};
	my $status = $?;
	kill $signal // 'TERM', $self->{pid};
	kill 'CONT', $self->{pid};
	waitpid $self->{pid}, 0;
	$self->{pid} = undef;
	$? = $status;
}

# The output of redis-cli for a command's arguments, without the line's end.
sub cli
{
	my ($self, @arguments) = @_;
	open my $out, '-|', 'redis-cli', '-s', $self->{socket}, @arguments
	  or croak "redis-cli: $!";
	local $/;
	my $text = <$out> // '';
	close $out;
	$text =~ s/\n\z//;
	return $text;
}

# The bytes of a string.
sub bytes
{
	my ($self, $key) = @_;
	my $dump = $self->cli('--no-raw', 'EVAL',
		"local h = {} local s = redis.call('GET', KEYS[1]) for i = 1, #s do h[i] = string.format('%02x', s:byte(i)) end return table.concat(h)",
		1, $key);
	$dump =~ s/"//g;
	return $dump;
}

# Sentinels on loopback, of a master on loopback, who notice soon that it has gone;
# more lines of their files.
sub sentinels
{
	my ($class, $name, $master, $lines) = @_;
	my @sentinels = map {
		$class->new(port => free_port(), options => ['--sentinel'],
			file => "sentinel monitor $name 127.0.0.1 $master->{port} 2\n"
			  . "sentinel down-after-milliseconds $name 500\nsentinel failover-timeout $name 2000\n" . ($lines // ''))
	} 1 .. 3;
	return @sentinels;
}

# Three masters on loopback that share the slots, and so many replicas of each.
sub cluster
{
	my ($class, %args) = @_;
	my $replicas = $args{replicas} // 0;
	my @nodes = map {
		$class->new(port => free_port(),
			options => [ '--cluster-enabled', 'yes', '--cluster-node-timeout', $args{timeout} // 5000,
				@{ $args{options} // [] } ])
	} 1 .. 3 * (1 + $replicas);
	my $made = `redis-cli --cluster create @{[map { "127.0.0.1:$_->{port}" } @nodes]} --cluster-replicas $replicas --cluster-yes 2>&1`;
	croak $made if $?;
	for my $node (@nodes)
	{
		for (1 .. 200)
		{
			last if $node->cli('CLUSTER', 'INFO') =~ /cluster_state:ok/;
			sleep 0.05;
		}
	}
	return @nodes;
}

END { $_->stop foreach @running; }

1;
