# bloomext in folders of its own, as extension_control_path and dynamic_library_path of
# PostgreSQL 18 name them: all is found there, bloomext_hiredis.so too.
use strict;
use warnings;

use File::Copy;
use File::Path;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %there = map { chomp(my $path = `pg_config --$_`); $_ => $path } qw(pkglibdir sharedir);
my $root = PostgreSQL::Test::Utils::tempdir();
mkpath([ "$root/lib", "$root/share/extension" ]);
for ([ "$there{pkglibdir}/bloomext*.so", 'lib' ], [ "$there{sharedir}/extension/bloomext*", 'share/extension' ])
{
	my ($files, $folder) = @$_;
	copy($_, "$root/$folder") or die "$_: $!" foreach glob $files;
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
plan skip_all => 'no extension_control_path before PostgreSQL 18'
  if $node->safe_psql('postgres', 'SHOW server_version_num') < 180000;

# No other folder is named, so that nothing is found elsewhere.
$node->append_conf('postgresql.conf', "extension_control_path = '$root/share'\ndynamic_library_path = '$root/lib'\n");
$node->restart;

# The libraries that a session has loaded, when it has run a script; errors are expected.
sub loaded
{
	my ($script) = @_;
	my ($status, $out, $err) = $node->psql('postgres', qq($script;
		SELECT string_agg(DISTINCT file[1], ' ' ORDER BY file[1])
			FROM regexp_matches(pg_read_file('/proc/self/maps'), '(/\\S*/bloomext\\w*\\.so)', 'g') AS file), on_error_stop => 0);
	return ($out, $err);
}

my ($out, $err) = loaded(q(CREATE EXTENSION bloomext;
	CREATE TABLE titles (title text);
	CREATE INDEX ON titles USING bloomfilter (title);
	INSERT INTO titles VALUES ('a');
	SELECT bf_live_contains('titles', 'a'::text), bf_live_contains('titles', 'b'::text)));
is($out, "t|f\n$root/lib/bloomext.so", 'the extension') or diag $err;

# There is no server: to find that out takes the library that connects.
($out, $err) = loaded(q(CREATE SERVER nowhere FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '/nonexistent/redis.sock');
	CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;
	\set VERBOSITY sqlstate
	SELECT bf_redis_contains('nowhere', 'k', 'a')));
is($out, "$root/lib/bloomext.so $root/lib/bloomext_hiredis.so", 'the library that connects to Redis');
like($err, qr/ERROR:  08001/, 'which tries');

# The module by itself, as settings load it.
$node->append_conf('postgresql.conf', "session_preload_libraries = 'bloomext'\n");
$node->reload;
is((loaded('SHOW bloomext.enable_gate'))[0], "on\n$root/lib/bloomext.so", 'preloaded');

# An update of the extension reads its scripts.
$node->safe_psql('postgres', q(DROP EXTENSION bloomext CASCADE; CREATE EXTENSION bloomext VERSION '1.0'; ALTER EXTENSION bloomext UPDATE));
is($node->safe_psql('postgres', 'SELECT action FROM bf_version()'), '', 'updated');

# Where it is gone, operations.md has what is said.
$node->append_conf('postgresql.conf', "session_preload_libraries = ''\n");
unlink glob "$root/lib/*";
$node->restart;
(undef, undef, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSELECT bf_create(10)");
like($err, qr/ERROR:  58P01: could not access file "bloomext"/, 'a library that is gone');

$node->stop;
done_testing();
