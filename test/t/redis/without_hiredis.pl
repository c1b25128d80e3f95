# Where hiredis cannot be loaded, or bloomext_hiredis.so is missing, broken or of
# another release: the functions over Redis say so, and all else works.
#
# The server is a copy of the installed one whose library folder is ours, and whose
# bloomext_hiredis.so wants a "libmissing" where the built one wants libhiredis.
use strict;
use warnings;

use File::Basename;
use File::Copy;
use File::Path;
use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisServer;

plan skip_all => 'redis-server is not installed' unless RedisServer->available;

# The installation: links, but for the programs that look for others, or for
# libraries, from where they are.
my %there = map { chomp(my $path = `pg_config --$_`); $_ => $path } qw(bindir pkglibdir sharedir);
my $root = PostgreSQL::Test::Utils::tempdir();
my %here = map { $_ => "$root$there{$_}" } keys %there;
mkpath([ @here{qw(bindir pkglibdir)}, dirname($here{sharedir}) ]);
symlink $there{sharedir}, $here{sharedir} or die "$here{sharedir}: $!";
for my $file (map { glob "$there{$_}/*" } qw(bindir pkglibdir))
{
	my $copy = "$root$file";
	next if $file =~ /bloomext_hiredis/;
	if ($file =~ m{/(postgres|initdb|pg_ctl)$})
	{
		copy($file, $copy) && chmod(0755, $copy) or die "$copy: $!";
		next;
	}
	symlink $file, $copy or die "$copy: $!";
}

# What was built, and the names of the libraries that it needs of hiredis.
my $built = "$there{pkglibdir}/bloomext_hiredis.so";
my $library = "$here{pkglibdir}/bloomext_hiredis.so";
my $bytes = slurp_file($built);
my %hiredis = map { /^\s*(libhiredis\S*) => (\S+)/ ? ($1 => $2) : () } `ldd '$built'`;
cmp_ok(scalar keys %hiredis, '>', 0, 'bloomext_hiredis.so needs hiredis') or BAIL_OUT(`ldd '$built'`);
unlike(`ldd '$there{pkglibdir}/bloomext.so'`, qr/hiredis|libssl/, 'bloomext.so does not');

# It calls nothing of bloomext.so.
sub symbols
{
	my ($which, $file) = @_;
	my %symbols = map { /(\S+?)(?:@\S+)?$/ ? ($1 => 1) : () } `nm -D --$which '$file'`;
	return \%symbols;
}
my ($wanted, $offered) = (symbols('undefined-only', $built), symbols('defined-only', "$there{pkglibdir}/bloomext.so"));
ok($wanted->{redisReaderGetReply} && $offered->{bloomext_redis_add}, 'symbols are known');
is_deeply([ grep { $offered->{$_} || /^bf_/ } sort keys %$wanted ], [], 'none is wanted of bloomext.so');

# Files come by renaming, as they do where packages are installed.
sub put
{
	my ($to, $content) = @_;
	open my $file, '>:raw', "$to.new" or die "$to: $!";
	print $file $content;
	close $file;
	rename "$to.new", $to or die "$to: $!";
}

my $libraries = PostgreSQL::Test::Utils::tempdir();
sub put_hiredis
{
	my ($content) = @_;
	for my $name (keys %hiredis)
	{
		(my $to = "$libraries/$name") =~ s/libhiredis/libmissing/;
		put($to, $content // slurp_file($hiredis{$name}));
	}
}

my $redis = RedisServer->new;
my $node = PostgreSQL::Test::Cluster->new('main', install_path => dirname($here{bindir}));
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
{
	local $ENV{LD_LIBRARY_PATH} = join ':', $libraries, $ENV{LD_LIBRARY_PATH} // ();
	$node->start;
}
sub sql { return $node->safe_psql('postgres', $_[0]); }
is(sql(q(SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR')), $here{pkglibdir}, 'the library folder is ours');

# What a statement in a new session ends with: the result, or the error's parts.
sub outcome
{
	my ($statement) = @_;
	my ($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statement");
	return $out unless $err =~ /(?:ERROR|FATAL):  (\w{5}): (.*)/;
	return "$1 $2" . join '', $err =~ /^((?:DETAIL|HINT): .*)/mg;
}
sub unavailable
{
	my ($reason) = @_;
	return qr/^0A000 Redis support is not available on this serverDETAIL:  .*$reason.*HINT:  Install /;
}

# All else works.
sql(q(CREATE EXTENSION bloomext;
	CREATE TABLE titles (title text);
	CREATE INDEX titles_bf ON titles USING bloomfilter (title);
	INSERT INTO titles SELECT 'title ' || i FROM generate_series(1, 1000) i;
	CREATE TABLE filters AS SELECT bf_agg(title, 1000, 0.01) AS f FROM titles));
is(sql(q(SELECT count(*) FILTER (WHERE bf_contains(f, title)), count(*) FILTER (WHERE bf_live_contains('titles_bf', title)) FROM titles, filters)),
	'1000|1000', 'filters and live filters');
sql("CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}', command_timeout '5000');
	 CREATE USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (username 'default', password 'secret');
	 ALTER SERVER cache OPTIONS (SET command_timeout '9000');
	 ALTER USER MAPPING FOR CURRENT_USER SERVER cache OPTIONS (DROP username, DROP password);
	 CREATE FUNCTION later() RETURNS boolean LANGUAGE sql AS 'SELECT bf_redis_contains(''cache'', ''k'', ''title 1''::text)'");
like(outcome(q(CREATE SERVER bad FOREIGN DATA WRAPPER bloomext_redis OPTIONS (hots 'h'))), qr/^HV00D/, 'options are checked');

# A dump is restored, and dumped as it was.
my $dumps = PostgreSQL::Test::Utils::tempdir();
sql('CREATE DATABASE restored');
sub dump_of { $node->command_ok([ 'pg_dump', '-f', "$dumps/$_[0]", $node->connstr($_[0]) ], "pg_dump of $_[0]"); }
dump_of('postgres');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dumps/postgres", $node->connstr('restored') ], 'restored');
dump_of('restored');
my ($first, $second) = map { slurp_file("$dumps/$_") =~ s/^\\(un)?restrict .*//mgr } qw(postgres restored);
like($first, qr/CREATE SERVER cache .*command_timeout '9000'/s, 'a server is in it');
is($second, $first, 'and in what was restored');

# Every function over Redis says what is missing.
my %calls = (
	bloomext_fetch => q(bf_fetch('cache', 'k')),
	bloomext_fetch_sized => q(bf_fetch('cache', 'k', 'bitmap', 1000, 0.01::float8, 'magnuss')),
	bloomext_live_mirror => q(bf_live_mirror('titles_bf', 'cache', 'k')),
	bloomext_mirror => q(bf_mirror(f, 'cache', 'k')),
	bloomext_redis_add => q(bf_redis_add('cache', 'k', 'x'::text)),
	bloomext_redis_add_each => q(bf_redis_add_each('cache', 'k', ARRAY['x'])),
	bloomext_redis_contains => q(bf_redis_contains('cache', 'k', 'x'::text)),
	bloomext_redis_contains_each => q(bf_redis_contains_each('cache', 'k', ARRAY['x'])),
	bloomext_redis_create => q(bf_redis_create('cache', 'k', 1000)),
	bloomext_redis_drop => q(bf_redis_drop('cache', 'k')),
	bloomext_redis_info => q(bf_redis_info('cache', 'k')));
is(sql(q(SELECT string_agg(DISTINCT prosrc, ' ' ORDER BY prosrc) FROM pg_proc WHERE 'server' = ANY (proargnames) AND probin LIKE '%bloomext')),
	join(' ', sort keys %calls), 'these are all functions over Redis');
sub all_unavailable
{
	my ($case, $reason) = @_;
	like(outcome("SELECT $calls{$_} FROM filters"), unavailable($reason), "$case: $_") foreach sort keys %calls;
}
all_unavailable('no bloomext_hiredis.so', 'bloomext_hiredis');
put($library, $bytes =~ s/libhiredis/libmissing/gr);
all_unavailable('no hiredis', 'libmissing');

# What else may be wrong.
my $mapping = $calls{bloomext_redis_create};
sub wrong { my ($case, $reason) = @_; like(outcome("SELECT $mapping"), unavailable($reason), $case); }
put_hiredis('');
wrong('a broken hiredis', 'libmissing.*(?:too short|ELF)');
put_hiredis(slurp_file("$there{pkglibdir}/plpgsql.so"));
wrong('another library in its place', 'undefined symbol: redis');
put_hiredis();
put($library, slurp_file("$there{pkglibdir}/plpgsql.so"));
wrong('another module', 'could not find function');
put($library, 'no library at all');
wrong('a broken bloomext_hiredis.so', 'bloomext_hiredis');
SKIP:
{
	skip 'root reads everything', 1 if $> == 0;
	chmod 0, $library;
	wrong('one that cannot be read', 'Permission denied');
}

# Any difference in what both are built from is a difference of releases.
my $magic = pack 'L', 0xb1003e87;
is(scalar(() = $bytes =~ /\Q$magic\E/g), 1, 'the format is found');
for my $field (0 .. 5)
{
	my $at = index($bytes, $magic) + 4 * $field;
	my $other = $bytes;
	substr($other, $at, 4) = pack 'L', 1 + unpack('L', substr $other, $at, 4);
	put($library, $other);
	wrong("field $field differs", 'from different releases');
}

# A cancel stays one.
my $modules = "$dumps/modules";
mkdir $modules or die "$modules: $!";
copy($_, $modules) or die "$_: $!" foreach glob "$FindBin::RealBin/../../transport/*";
{
	delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	command_ok([ 'make', '-s', '-C', $modules, 'with_llvm=no', 'PG_CONFIG=pg_config' ], 'a module for tests');
}
put($library, slurp_file("$modules/canceled.so"));
like(outcome("SELECT $mapping"), qr/^57014 canceling/, 'a cancel while it is loaded');

# An error like others, to who catches it; and it works once everything is there.
unlink $library;
put("$library.later", $bytes =~ s/libhiredis/libmissing/gr);
is(outcome("DO \$\$ BEGIN PERFORM $mapping; EXCEPTION WHEN feature_not_supported THEN INSERT INTO titles VALUES ('caught'); END \$\$;
			\\! mv '$library.later' '$library'
			SELECT bf_live_contains('titles_bf', 'caught'), $mapping"),
	't|t', 'caught, and then installed, in one session');
is(outcome("SELECT bf_mirror(f, 'cache', 'k') > 0, later(), bf_redis_contains_each('cache', 'k', ARRAY['title 1', 'x']), bf_fetch('cache', 'k') = f FROM filters"),
	't|t|{t,f}|t', 'a new session');

$node->stop;
done_testing();
