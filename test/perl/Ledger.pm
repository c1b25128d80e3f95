# Ledger.pm
#	What is certainly in the tables of a database that many processes write to, and
#	that crashes: a model beside the database.
#
# Rows come in batches, of a number that nobody else uses.  A process writes into a
# file of its own, and reads all files:
#	+ batch table rows era	the batch is there, from now on
#	- batch					it may go, from now on
#	T era table				the table is truncated, perhaps: of this era, batches of earlier ones go
#	C era, K era			it was; it was not
#	D table, A table		the table is no partition any more, perhaps; is one
# What may end a certainty is written before it is done, what makes one after it was
# answered.  So who reads, asks, and reads again, knows that what was certain both
# times was there in between.
#
# Eras are the values of a sequence, which no rollback takes back.  Who truncates
# takes the next one once the table is empty to all; who inserts looks which one it
# is before he does.  So the order of the two is known, whatever the order in the
# files is.
package Ledger;

use strict;
use warnings;

use Fcntl qw(O_APPEND O_CREAT O_WRONLY);
use List::Util qw(max sum0);
use PostgreSQL::Test::Utils;

# What a process wants to know of: all batches, or only its own.
sub new
{
	my ($class, $dir, %wants) = @_;
	return bless { dir => $dir, own => $wants{own}, read => {}, batches => {}, listed => {}, eras => {}, limit => {}, floor => {}, detached => {} }, $class;
}

# Write lines into this process's own file.
sub note
{
	my ($self, @lines) = @_;
	return unless @lines;
	if (($self->{writer} // 0) != $$)
	{
		sysopen($self->{file}, "$self->{dir}/ledger.$$", O_APPEND | O_CREAT | O_WRONLY) or die "could not open: $!";
		$self->{writer} = $$;
	}
	my $text = join '', map { "$_\n" } @lines;
	syswrite($self->{file}, $text) == length $text or die "could not write: $!";
}

# Read what is new.
sub refresh
{
	my ($self) = @_;
	foreach my $name (glob "$self->{dir}/ledger.*")
	{
		my $read = $self->{read}{$name} //= { at => 0, rest => '' };
		next if -s $name == $read->{at};
		open(my $file, '<', $name) or die "could not open: $!";
		seek($file, $read->{at}, 0);
		my $text = do { local $/; <$file> };
		$read->{at} += length $text;
		my @lines = split /\n/, $read->{rest} . $text, -1;
		$read->{rest} = pop @lines;
		@lines = grep { !/^[+-]/ } @lines if $self->{own} && $name ne "$self->{dir}/ledger.$$";
		$self->take(split / /) foreach @lines;
	}
}

sub take
{
	my ($self, $what, $key, @more) = @_;
	if ($what eq '+')
	{
		my $batch = $self->{batches}{$key} //= {};
		push @{ $self->{listed}{ $more[0] } }, $key unless %$batch;
		@$batch{qw(table rows era gone)} = @more;
	}
	elsif ($what eq '-') { $_->{gone} = 1 foreach $self->{batches}{$key} // (); }
	elsif ($what eq 'A') { $self->{detached}{$key} = 0; }
	elsif ($what eq 'D') { $self->{detached}{$key} = 1; $self->{detachments}{$key}++; }
	elsif ($what eq 'T') { $self->{eras}{ $more[0] }{$key} = 1; }
	foreach my $table ($what eq 'T' ? $more[0] : $what =~ /[CK]/ ? grep { $self->{eras}{$_}{$key} } keys %{ $self->{eras} } : ())
	{
		my $eras = $self->{eras}{$table};
		$self->{floor}{$table} = max($key, $self->{floor}{$table} // 0) if $what eq 'C';
		delete $eras->{$key} if $what ne 'T';
		$self->{limit}{$table} = max($self->{floor}{$table} // 0, keys %$eras);
	}
}

# A batch's table and rows, if it is certainly there.
sub certain
{
	my ($self, $key) = @_;
	my $batch = $self->{batches}{$key};
	return if !$batch || $batch->{gone} || $batch->{era} < ($self->{limit}{ $batch->{table} } // 0);
	return @$batch{qw(table rows)};
}

# All certain batches of a table, or up to so many at random.  What is gone is forgotten.
sub batches
{
	my ($self, $table, $wanted) = @_;
	my $listed = $self->{listed}{$table} //= [];
	my @found;
	if (!defined $wanted)
	{
		return grep { $self->certain($_) } @$listed;
	}
	for (my $tries = 5 * $wanted; @found < $wanted && $tries > 0 && @$listed; $tries--)
	{
		my $at = rand @$listed;
		my $key = $listed->[$at];
		my $batch = $self->{batches}{$key};
		if ($batch->{gone} || $batch->{era} < ($self->{floor}{$table} // 0))
		{
			$listed->[$at] = $listed->[-1];
			pop @$listed;
			delete $self->{batches}{$key};
		}
		elsif ($self->certain($key)) { push @found, $key; }
	}
	return @found;
}

# What the files have of a batch, and of truncations.
sub history
{
	my ($self, $batch) = @_;
	my ($table) = $self->certain($batch);
	return grep { /^\d+: (?:[+-] $batch\b|T \d+ $table$|[CK])/ } map { my ($pid) = /(\d+)$/; map { "$pid: $_" } split /\n/, slurp_file($_) } glob "$self->{dir}/ledger.*";
}

sub rows { my ($self, $table) = @_; return sum0(map { ($self->certain($_))[1] // 0 } @{ $self->{listed}{$table} // [] }); }

# Whether a table is no partition for now, and how often it has been taken out.
sub is_detached { my ($self, $table) = @_; return $self->{detached}{$table}; }
sub detachments { my ($self, $table) = @_; return $self->{detachments}{$table} // 0; }

1;
