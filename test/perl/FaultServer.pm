# FaultServer.pm
#	A server that speaks just enough of Redis's protocol to misbehave: it answers
#	commands by a function of the test's own, which may also keep silent, answer
#	nonsense, or close the connection.
package FaultServer;

use strict;
use warnings;

use Carp;
use IO::Select;
use IO::Socket::INET;
use POSIX ();

# new(handler): the handler gets a connection's state and a command's arguments,
# and returns bytes to send, or a reference to the last ones; undef closes the
# connection.  It runs in a process of its own.  A command with a large argument that
# has not come as a whole yet is announced once, as command "!EARLY" with the arguments
# so far; what is no command, as command "!NOISE".
sub new
{
	my ($class, $handler) = @_;
	my $listener = IO::Socket::INET->new(Listen => 128,
		LocalAddr => '127.0.0.1', LocalPort => 0)
	  or croak "listen: $!";
	my $self = bless { port => $listener->sockport, owner => $$ }, $class;
	my $pid = fork() // croak "fork: $!";
	if ($pid == 0)
	{
		$SIG{PIPE} = 'IGNORE';
		$SIG{TERM} = sub { POSIX::_exit(0) };
		serve($listener, $handler);
	}
	$self->{pid} = $pid;
	return $self;
}

sub serve
{
	my ($listener, $handler) = @_;
	my $select = IO::Select->new($listener);
	my %state;

	for (;;)
	{
		for my $socket ($select->can_read)
		{
			if ($socket == $listener)
			{
				my $new = $listener->accept or next;
				$select->add($new);
				$state{$new} = { buffer => '' };
				next;
			}
			my $state = $state{$socket};
			my $alive = sysread $socket, $state->{buffer}, 65536,
			  length $state->{buffer};
			while ($alive && (my @command = take_command($state)))
			{
				# Scripts come whole: nobody else has them.
				my $answer = $command[0] =~ /^EVAL.*_RO$/ ? error("ERR unknown command '$command[0]'") :
					$command[0] eq 'EVALSHA' ? error('NOSCRIPT No matching script.') : $handler->($state, @command);
				$alive = 0 unless defined $answer && !ref $answer;
				$answer = $$answer if ref $answer;
				print {$socket} $answer if defined $answer && length $answer;
				$socket->flush;
			}
			next if $alive;
			$select->remove($socket);
			delete $state{$socket};
			close $socket;
		}
	}
}

# Take one whole command out of what has come.
sub take_command
{
	my ($state) = @_;
	return ('!NOISE', substr $state->{buffer}, 0, length $state->{buffer}, '') if $state->{buffer} =~ /^[^*]/;
	return unless $state->{buffer} =~ /^\*(\d+)\r\n/;
	my ($count, $at) = ($1, $+[0]);
	my @arguments;
	for (1 .. $count)
	{
		pos($state->{buffer}) = $at;
		if ($state->{buffer} !~ /\G\$(\d+)\r\n/g)
		{
			return;
		}
		my ($length, $start) = ($1, $+[0]);
		if (length $state->{buffer} < $start + $length + 2)
		{
			return ('!EARLY', @arguments)
			  if $length > 100_000 && !$state->{early}++;
			return;
		}
		push @arguments, substr($state->{buffer}, $start, $length);
		$at = $start + $length + 2;
	}
	substr($state->{buffer}, 0, $at) = '';
	return @arguments;
}

# Replies
sub ok { return "+OK\r\n"; }
sub error { return "-$_[0]\r\n"; }
sub integer { return ":$_[0]\r\n"; }
sub bulk { return defined $_[0] ? '$' . length($_[0]) . "\r\n$_[0]\r\n" : "\$-1\r\n"; }
sub array { return '*' . scalar(@_) . "\r\n" . join('', @_); }

sub stop
{
	my ($self) = @_;
	return unless $self->{pid} && $self->{owner} == $$;
	my $status = $?;
	kill 'KILL', $self->{pid};
	waitpid $self->{pid}, 0;
	$self->{pid} = undef;
	$? = $status;
}

sub DESTROY { $_[0]->stop; }

1;
