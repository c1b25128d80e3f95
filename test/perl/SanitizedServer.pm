# SanitizedServer.pm
#	A server with a bloomext.so that was built with the address and the undefined
#	behaviour sanitizer, and whose allocations have an exact, poisoned end
#	(test/sanitize/guard.c).  The server itself is the one that is installed: the
#	sanitizer's runtime is preloaded.
#
#	Statements are run by the batch: each is a line of a script, and what they end
#	with are SQLSTATEs.
package SanitizedServer;

use strict;
use warnings;

use File::Basename qw(dirname);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Where a compiler has its runtime, or undef.
sub runtime
{
	my $path = `\${CC:-cc} -print-file-name=libasan.so`;
	chomp $path;
	return $path =~ m{^/} && -e $path ? $path : undef;
}

# Skip the whole test where there is no sanitizer.
sub require_runtime
{
	plan skip_all => 'the compiler has no libasan' unless defined runtime();
}

# new(name): build the module and start a server, in whose database every
# function of the extension is the sanitized module's.
sub new
{
	my ($class, $name, @settings) = @_;
	my $build = "$PostgreSQL::Test::Utils::tmp_check/sanitize";
	my $top = dirname(__FILE__) . '/../..';
	my $log = "$PostgreSQL::Test::Utils::tmp_check/log/sanitize.log";

	# Once for all tests, who may run side by side.
	delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	system("flock '$log.lock' make -s -j2 -C '$top' PG_CONFIG=pg_config SANITIZE_DIR='$build' '$build/bloomext.so' '$build/quiet.so' >'$log' 2>&1") == 0
	  or BAIL_OUT('cannot build the sanitized module: ' . slurp_file($log));

	my $self = bless { node => PostgreSQL::Test::Cluster->new($name), database => 'postgres', seen => 0, states => {}, scripts => 0 }, $class;
	my $node = $self->{node};
	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	# Checksums (18's default) would tell of damage before bloomext does.
	system_log('pg_checksums', '--disable', '-D', $node->data_dir);
	$node->append_conf('postgresql.conf', join "\n", 'fsync = off', 'autovacuum = off', 'jit = off',
		'log_statement = none', 'log_min_messages = log', 'restart_after_crash = on', @settings, '');
	{
		local $ENV{LD_PRELOAD} = runtime() . " $build/quiet.so";
		# What a backend does not free, its end does.  A report ends it at once.
		local $ENV{ASAN_OPTIONS} = 'detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:disable_coredump=1:quarantine_size_mb=16';
		local $ENV{UBSAN_OPTIONS} = 'print_stacktrace=1:abort_on_error=1';
		$node->start;
	}
	$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');
	$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$build/bloomext.so' WHERE probin = '\$libdir/bloomext'");

	# It is the one that runs, and it reports.
	$node->safe_psql('postgres', "CREATE FUNCTION plant(size int, at int) RETURNS int LANGUAGE c AS '$build/bloomext.so', 'bloomext_plant'");
	is($node->safe_psql('postgres', 'SELECT plant(100, 99)'), 0, 'the last byte of a chunk is read');
	$node->psql('postgres', 'SELECT plant(100, 100)');
	like($self->reports, qr/use-after-poison.*bloomext_plant/s, 'the byte behind it is reported');
	# An empty query: no psql is gone before it is told that.
	$node->poll_query_until('postgres', '', '') or die 'no restart';
	$self->{seen} = -s $node->logfile;
	return $self;
}

# What the sanitizers, or a crash, have left in the log since the last time.
sub reports
{
	my ($self) = @_;
	my $log = substr slurp_file($self->{node}->logfile), $self->{seen};
	$self->{seen} += length $log;
	return $log =~ /((?:^[^\n]*(?:runtime error:|AddressSanitizer|was terminated by signal|TRAP:|PANIC:).*)\z)/ms ? $1 : '';
}

# Run statements, each of which is one line, in a new session; options may be
# given in the start-up packet, where no encoding is checked.  Returns what is
# wrong: statements with a SQLSTATE that none of `allowed` matches, and reports.
# "output" is what was printed, by those behind one that is "\o".
sub run
{
	my ($self, $allowed, $statements, $startup) = @_;
	my $script = $self->{node}->basedir . "/batch" . $self->{scripts}++ . '.sql';
	my @header = ('\set VERBOSITY sqlstate', '\o /dev/null');
	my (@wrong, $stderr);

	append_to_file($script, join "\n", @header, @$statements, '');
	local $ENV{PGOPTIONS} = $startup // '';
	IPC::Run::run([ 'psql', '-XAtq', '-d', $self->{node}->connstr($self->{database}), '-f', $script ],
		'<', \undef, '>', \$self->{output}, '2>', \$stderr);
	for (split /\n/, $stderr)
	{
		if (my ($line, $state) = /^psql:\Q$script\E:(\d+): (?:ERROR|FATAL|PANIC): +(\w{5})/)
		{
			$self->{states}{$state}++;
			push @wrong, "$state: $statements->[ $line - 1 - @header ]" unless $state =~ /^(?:$allowed)$/;
		}
		elsif (my ($lost, $what) = /^psql:\Q$script\E:(\d+): (.*(?:connection|server).*)/)
		{
			push @wrong, "$what: $statements->[ $lost - 1 - @header ]";
		}
	}
	$self->{statements} += @$statements;
	if (my $report = $self->reports)
	{
		push @wrong, substr $report, 0, 4000;
		$self->{node}->poll_query_until('postgres', '', '');
	}
	unlink $script unless @wrong;
	return map { substr $_, 0, 4000 } @wrong;
}

# How many statements there were, and how they ended that failed.
sub summary
{
	my ($self) = @_;
	return join ', ', "$self->{statements} statements", map { "$_ $self->{states}{$_}" } sort keys %{ $self->{states} };
}

1;
