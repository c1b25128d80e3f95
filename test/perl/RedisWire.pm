# RedisWire.pm
#	A service's view of Redis: commands and answers by its protocol, safe for any
#	bytes, over a connection that is kept; in a cluster at the node that has the
#	key.
package RedisWire;

use strict;
use warnings;

use IO::Socket::INET;
use IO::Socket::UNIX;

# Of one server's socket, or of the ports of a cluster's nodes.
sub new
{
	my ($class, @addresses) = @_;
	return bless { addresses => \@addresses, sockets => {}, at => {} }, $class;
}

sub connection
{
	my ($self, $address) = @_;
	return $self->{sockets}{$address} //= ($address =~ /^\d+$/
		? IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $address, Timeout => 2)
		: IO::Socket::UNIX->new(Peer => $address)) // die "Redis: cannot connect to $address: $!\n";
}

# Send a command to one server and wait for the answer; dies of an error.
sub to
{
	my ($self, $address, @command) = @_;
	my $socket = $self->connection($address);
	my $answer = eval {
		local $SIG{ALRM} = sub { die "Redis: no answer\n" };
		alarm 30;
		print {$socket} '*' . @command . "\r\n", map { '$' . length . "\r\n$_\r\n" } @command;
		$socket->flush;
		[ receive($socket) ];
	};
	my $error = $@;
	alarm 0;
	delete $self->{sockets}{$address} if $error =~ /lost|no answer/;
	die $error unless $answer;
	return $answer->[0];
}

# The same to whichever server has the key, that of the first server by default.
sub command
{
	my ($self, $key, @command) = @_;
	my @addresses = ($self->{at}{ $key // '' } // (), @{ $self->{addresses} });
	my $error;
	while (defined(my $address = shift @addresses))
	{
		my $answer = eval { [ $self->to($address, @command) ] };
		$self->{at}{ $key // '' } = $address, return $answer->[0] if $answer;
		$error = $@;
		unshift @addresses, $1 if $error =~ /^Redis: MOVED \d+ \S+:(\d+)/;
		die $error if $error !~ /^Redis: (MOVED|CLUSTERDOWN|cannot connect|lost|no answer)/;
	}
	die $error;
}

# Read an answer: text, a number, a reference to an array, or undef.
sub receive
{
	my ($socket) = @_;
	my $line = readline $socket;
	die "Redis: lost\n" unless defined $line && $line =~ s/\r\n\z//;
	my ($kind, $rest) = (substr($line, 0, 1), substr $line, 1);
	if ($kind eq '*')
	{
		my @answers = map { scalar eval { [ receive($socket) ] } // [ $@ ] } 1 .. $rest;
		return [ map { $_->[0] } @answers ];
	}
	return $rest if $kind eq '+' || $kind eq ':';
	die "Redis: $rest\n" if $kind eq '-';
	return undef if $rest < 0;
	my $read = read $socket, my $bytes, $rest + 2;
	die "Redis: lost\n" unless defined $read && $read == $rest + 2;
	return substr $bytes, 0, $rest;
}

1;
