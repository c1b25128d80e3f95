# LiveTest.pm
#	What tests of the live filter ask of a server: scripts and what they say, and
#	sessions that stay open side by side.
package LiveTest;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use File::Copy qw(copy);
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

our @EXPORT_OK = qw(fresh %kinds $fine $unsure);

# Filters of either kind: bits are set at once; elements wait.
our %kinds = (small => 'expected = 100000, fpp = 0.0001', large => 'expected = 2500000, fpp = 0.0001');

# What look() says of a filter that is well, and of one that is not to be trusted.
our $fine = '0 denied, sure, 0 missing';
our $unsure = '0 denied, maybe, not to be verified';

# A script that makes a table anew, with a filter and some rows.
sub fresh
{
	my ($tab, $options, $rows, $kind) = @_;
	$rows //= 50;
	$kind //= 'TABLE';
	return qq(
		DROP TABLE IF EXISTS $tab;
		CREATE $kind $tab (id serial, title varchar(50), note text);
		INSERT INTO $tab (title) SELECT 'row ' || g FROM generate_series(1, $rows) g;
		CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title) WITH ($options);
	);
}

# new(node): a server that runs; install(): the extension, and what the tests
# look at a filter with.
sub new
{
	my ($class, $node) = @_;
	return bless { node => $node }, $class;
}

# start(): a server of one's own for a test of one subject, with all of that installed,
# and its node.
sub start
{
	my ($class) = @_;
	my $node = PostgreSQL::Test::Cluster->new('main');
	$node->init;
	$node->append_conf('postgresql.conf', qq(
fsync = off
max_prepared_transactions = 20
max_wal_size = 2GB
max_locks_per_transaction = 256
autovacuum = off
));
	$node->start;
	my $self = $class->new($node);
	$self->install;
	return ($self, $node);
}

sub install
{
	my ($self) = @_;
	$self->sql(q(
		CREATE EXTENSION bloomext;
		-- Rows of a table that its filter, or the one that is named, does not contain.
		CREATE FUNCTION denied(tab regclass, col text DEFAULT 'title', named regclass DEFAULT NULL)
			RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE n bigint;
		BEGIN
			EXECUTE format('SELECT count(*) FROM %s WHERE NOT bf_live_contains(%L::regclass, %I)',
				tab, coalesce(named, tab), col) INTO n;
			RETURN n;
		END $$;
		-- Is the filter's "no" to be had at all?  At 1 % more than ten of a hundred are
		-- taken for there once in a hundred million times.
		CREATE FUNCTION certainty(tab regclass) RETURNS text LANGUAGE sql AS $$
			SELECT CASE WHEN count(*) >= 90 THEN 'sure' WHEN count(*) = 0 THEN 'maybe' ELSE count(*) || ' of 100' END
			FROM generate_series(1, 100) g WHERE NOT bf_live_contains(tab, 'absent ' || g) $$;
		CREATE FUNCTION verified(tab regclass) RETURNS text LANGUAGE plpgsql AS $$
		BEGIN
			RETURN (bf_live_verify(tab)).missing || ' missing';
		EXCEPTION WHEN object_not_in_prerequisite_state THEN
			RETURN 'not to be verified';
		END $$;
		CREATE FUNCTION look(tab regclass) RETURNS text LANGUAGE sql AS $$
			SELECT denied(tab) || ' denied, ' || certainty(tab) || ', ' || verified(tab) $$;
	));
}

sub sql
{
	my ($self, $script) = @_;
	return $self->{node}->safe_psql('postgres', $script);
}

# What the queries of a script say, and in the end the error, if any.
sub outcome
{
	my ($self, $script, $verbosity) = @_;
	my ($status, $out, $err) = $self->{node}->psql('postgres',
		'\set VERBOSITY ' . ($verbosity // 'sqlstate') . "\n$script");
	return ($out =~ s/\n/; /gr, $err);
}

sub is_sql
{
	my ($self, $name, $script, $expected) = @_;
	my ($out, $err) = $self->outcome($script);
	is($out, $expected, $name) or diag $err;
}

sub fails
{
	my ($self, $name, $script, $state) = @_;
	my ($out, $err) = $self->outcome($script);
	like($err, qr/ERROR:  $state/, $name) or diag $out;
}

# How many layers the filter of a relation has.
sub layers
{
	my ($self, $rel) = @_;
	return $self->sql("SELECT layers FROM bf_live_info('$rel')");
}

# Of elements that never were in a growing filter no more are answered true than
# its fpp says, but for chance: five standard deviations, once in millions.
sub is_within_fpp
{
	my ($self, $name, $rel) = @_;
	my $asked = 200_000;
	my ($wrong, $fpp) = split /\|/, $self->sql(qq(
		SELECT count(*) FILTER (WHERE bf_live_contains('$rel', 'never ' || g)), (SELECT fpp FROM bf_live_info('$rel'))
		FROM generate_series(1, $asked) AS g));
	my $wanted = $asked * $fpp;
	cmp_ok($wrong, '<=', $wanted + 5 * sqrt($wanted), "$name: false positives of $asked, $wanted wanted");
}

# What is said beside the results: notices, warnings, errors.
sub said
{
	my ($self, $script) = @_;
	return ($self->outcome($script, 'default'))[1];
}

sub session
{
	my ($self, $database) = @_;
	my $session = bless { in => "\\set VERBOSITY sqlstate\nSET client_min_messages = error;\n", out => '', count => 0 }, 'LiveTest::Session';
	$session->{run} = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $self->{node}->connstr($database // 'postgres') ],
		'<', \$session->{in}, '>&', \$session->{out}, IPC::Run::timeout(300));
	return $session;
}

# Wait until the statement of a session like the pattern waits for a lock of
# the kind.
sub wait_for_lock
{
	my ($self, $pattern, $kind) = @_;
	$self->{node}->poll_query_until('postgres', qq(
		SELECT count(*) > 0 FROM pg_stat_activity
		WHERE wait_event_type = 'Lock' AND query LIKE '$pattern' AND wait_event ~ '^(@{[ $kind // '.*' ]})\$'))
	  or die "nobody waits at $pattern";
}

# Build the modules of test/precommit; returns their folder.
sub build_modules
{
	my ($self) = @_;
	my $modules = $self->{node}->basedir . '/modules';
	mkdir $modules or die "$modules: $!";
	copy($_, $modules) or die "$_: $!" foreach glob dirname(__FILE__) . '/../precommit/*';
	local @ENV{qw(MAKEFLAGS MAKELEVEL)};
	delete @ENV{qw(MAKEFLAGS MAKELEVEL)};
	command_ok([ 'make', '-s', '-C', $modules, 'with_llvm=no', 'PG_CONFIG=pg_config' ], 'modules for tests');
	return $modules;
}

# The postmaster, and with it its children, by the system: on a full disk no query is
# sure to succeed.
sub postmaster { my ($self) = @_; return (slurp_file($self->{node}->data_dir . '/postmaster.pid') =~ /^(\d+)/)[0]; }

sub processes
{
	my ($self) = @_;
	my $postmaster = $self->postmaster;
	return ($postmaster, map { /^(\d+) \(.*\) \S $postmaster / } map { stat_of($_) } map { m{(\d+)} } glob '/proc/[0-9]*');
}

# What the system says of a process; '' of one that is not there.
sub stat_of { my ($pid) = @_; return eval { slurp_file("/proc/$pid/stat") } // ''; }

# Kill the server, all of its processes at once or the postmaster a moment before the
# others, and wait until they are gone: one that is left keeps the next server from
# starting.  The postmaster is stopped first, so that it starts none meanwhile.
sub kill_server
{
	my ($self, $moment) = @_;
	my $postmaster = $self->postmaster;
	kill 'STOP', $postmaster;
	sleep(0.001) while stat_of($postmaster) =~ /\) [^TZ] /;
	my @all = $self->processes;
	$self->{node}->kill9;
	sleep($moment // 0);
	kill 'KILL', @all;
	foreach (1 .. 1200)
	{
		return unless kill 0, @all;
		sleep(0.05);
	}
	die "processes of a server that was killed are left: @all";
}

# Wait until a layer is added somewhere, or a filter flushed, but not long.
sub wait_for_page_lock
{
	my ($self) = @_;
	$self->{node}->psql('postgres', q(SET statement_timeout = '200ms'; DO $$ BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'page') LOOP END LOOP; END $$));
}

package LiveTest::Session;

# start(script) and finish(): what was said; is_done(): was all; ask(script): both.
sub start
{
	my ($self, $script) = @_;
	$self->{count}++;
	$self->{out} = '';
	$self->{in} .= "$script;\n\\echo end of $self->{count}\n";
	$self->{run}->pump_nb;
}

sub finish
{
	my ($self) = @_;
	$self->{run}->pump until $self->{out} =~ /^end of $self->{count}\n/m;
	return $self->{out} =~ s/^end of \d+\n//mr =~ s/\n\z//r =~ s/\n/; /gr;
}

sub is_done
{
	my ($self) = @_;
	$self->{run}->pump_nb;
	return $self->{out} =~ /^end of $self->{count}\n/m;
}

sub ask
{
	my ($self, $script) = @_;
	$self->start($script);
	return $self->finish;
}

sub quit
{
	my ($self) = @_;
	$self->{in} .= "\\q\n";
	$self->{run}->finish;
}

1;
