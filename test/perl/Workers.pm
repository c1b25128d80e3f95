# Workers.pm
#	Processes that do something over and over beside each other, with sessions of
#	psql, until they are told to stop; and what they count.
package Workers;

use strict;
use warnings;

use Exporter 'import';
use POSIX ();
use PostgreSQL::Test::Utils;

# In a worker: what it counts, and whether it is to end.
our (%count, $stopped);
our @EXPORT = qw(%count $stopped);

# What a worker dies of once it has said why (see "wrong").
my $enough = "stopped\n";

sub new { my ($class) = @_; return bless { dir => PostgreSQL::Test::Utils::tempdir(), running => {}, started => 0 }, $class; }

# start(group, seed, action): a process whose random numbers begin with the seed.
sub start
{
	my ($self, $group, $seed, $action) = @_;
	$self->{number} = ++$self->{started};

	# Until a worker has a handler of its own, the test's would stop its servers.
	my $term = POSIX::SigSet->new(POSIX::SIGTERM);
	POSIX::sigprocmask(POSIX::SIG_BLOCK, $term);
	my $pid = fork // die "could not fork: $!";
	$SIG{TERM} = sub { $stopped = 1 } unless $pid;
	POSIX::sigprocmask(POSIX::SIG_UNBLOCK, $term);
	return $self->{running}{$pid} = $group if $pid;

	%{ $self->{running} } = %count = ();
	srand($seed);
	$SIG{PIPE} = 'IGNORE';
	my $ok = eval { $action->() while !$stopped; 1 };
	my $why = $@;
	append_to_file("$self->{dir}/count.$self->{number}", join '', map { "$_=$count{$_}\n" } keys %count);
	POSIX::_exit(0) if $ok || $why eq $enough;
	append_to_file("$self->{dir}/died.$$", $why);
	POSIX::_exit(1);
}

# End the processes of a group, or all; what those died of that ended badly, or ''.
sub stop
{
	my ($self, $group) = @_;
	my @pids = grep { !defined $group || $self->{running}{$_} eq $group } keys %{ $self->{running} };
	kill 'TERM', @pids;
	my @died = map { waitpid($_, 0); $? ? -e "$self->{dir}/died.$_" ? slurp_file("$self->{dir}/died.$_") : "wait status $?\n" : () } @pids;
	delete @{ $self->{running} }{@pids};
	return join '', @died;
}

sub DESTROY { my ($self) = @_; local $?; kill 'TERM', keys %{ $self->{running} }; }

# What all processes counted that have ended.
sub counted
{
	my ($self) = @_;
	my %sum;
	/^(.*)=(\d+)$/ && ($sum{$1} += $2) foreach map { split /\n/, slurp_file($_) } glob "$self->{dir}/count.*";
	return %sum;
}

# Say what is wrong, in a worker, which ends with that; what the first one said, or ''.
sub wrong
{
	my ($self, $what) = @_;
	append_to_file("$self->{dir}/wrong.$$", "worker $self->{number}: $what");
	rename "$self->{dir}/wrong.$$", "$self->{dir}/wrong" unless $self->is_wrong;
	die $enough;
}

sub is_wrong { my ($self) = @_; return -e "$self->{dir}/wrong"; }
sub said_wrong { my ($self) = @_; return $self->is_wrong ? slurp_file("$self->{dir}/wrong") : ''; }

package Workers::Psql;

use IPC::Open3;

# A session that is told one script after the other.  What comes first belongs to its set-up.
sub new
{
	my ($class, $connstr, @setup) = @_;
	my $self = bless {}, $class;
	$self->{pid} = open3($self->{in}, $self->{out}, undef, 'psql', '-XAtq', '-d', $connstr);
	print { $self->{in} } map { "$_\n" } @setup;
	return $self;
}

# Run a script; return the lines that it said, errors too.  "state" and "rows" are then
# the last statement's, and "lost" is whether the session is.
sub run
{
	my ($self, $script, $seconds) = @_;
	my @said;
	local $SIG{ALRM} = sub { die "no answer to: $script\n" };
	alarm($seconds // 120);
	print { $self->{in} } "$script\n\\echo end of script :SQLSTATE :ROW_COUNT\n";
	$self->{in}->flush;
	@$self{qw(lost state rows)} = (1);
	while (defined(my $line = readline $self->{out}))
	{
		chomp $line;
		last if (@$self{qw(state rows)}) = $line =~ /^end of script (\S*) (\d+)$/;
		push @said, $line;
	}
	# psql may outlive its connection: there is no SQLSTATE then.
	$self->{lost} = !$self->{state};
	alarm(0);
	return @said;
}

sub DESTROY
{
	my ($self) = @_;
	local $?;
	close $self->{in};
	waitpid($self->{pid}, 0);
}

1;
