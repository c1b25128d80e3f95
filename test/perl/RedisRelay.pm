# RedisRelay.pm
#	What stands between a client and a Redis server: it passes bytes on, one
#	connection at a time, but holds the client's after so many, or from a command
#	on, until it is told to go on; be that once, or at several commands.  So a server has a part of something, for as long
#	as a test likes.
package RedisRelay;

use strict;
use warnings;

use Carp;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Time::HiRes qw(sleep);

my @running;

# A relay to a server's socket; bytes beyond $limit are held, and those that match
# a pattern, which is the next one each time.
sub new
{
	my ($class, $redis, $limit, @patterns) = @_;
	my $base = "$redis->{dir}/relay" . @running;
	my $self = bless { socket => $base, patterns => \@patterns, turn => 0 }, $class;
	my $listener = IO::Socket::UNIX->new(Listen => 5, Local => $base) or croak "$base: $!";
	chmod 0777, $base;
	$self->{pid} = fork() // croak "fork: $!";
	if ($self->{pid} == 0)
	{
		local $SIG{PIPE} = 'IGNORE';
		$self->{limit} = $limit;
		while (my $client = $listener->accept)
		{
			my $server = IO::Socket::UNIX->new(Peer => $redis->{socket});
			$self->pass($client, $server) if $server;
		}
		POSIX::_exit(0);
	}
	push @running, $self;
	return $self;
}

# Pass on what either side sends, until one of them ends.
sub pass
{
	my ($self, $client, $server) = @_;
	my $select = IO::Select->new($client, $server);
	while (1)
	{
		for my $from ($select->can_read)
		{
			my $length = sysread $from, my $bytes, 65536;
			return unless $length;
			$self->hold if $from == $client && (($self->{limit} -= $length) < 0 || (@{ $self->{patterns} } && $bytes =~ $self->{patterns}[0]));
			my $to = $from == $client ? $server : $client;
			while (length $bytes)
			{
				my $written = syswrite $to, $bytes or return;
				substr $bytes, 0, $written, '';
			}
		}
	}
}

# The file by which one side says something to the other, of the times that bytes are held.
sub said { my ($self, $what) = @_; return "$self->{socket}.$what$self->{turn}"; }

# Say that bytes are held, until told to go on.
sub hold
{
	my ($self) = @_;
	open my $file, '>', $self->said('held');
	sleep 0.02 until -e $self->said('go');
	$self->{limit} = 'inf';
	shift @{ $self->{patterns} };
	$self->{turn}++;
}

sub await_held { my ($self) = @_; sleep 0.02 until -e $self->said('held'); }

sub go_on { my ($self) = @_; open my $file, '>', $self->said('go'); $self->{turn}++; }

END
{
	my $status = $?;
	for (@running)
	{
		kill 'KILL', $_->{pid};
		waitpid $_->{pid}, 0;
	}
	$? = $status;
}

1;
