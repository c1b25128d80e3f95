# Drivers: arrays of elements, NULLs and Guava's bytes as parameters.  psycopg
# and node-postgres leave the type of an array to the server, asyncpg and pgx
# are told it in the query.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use FindBin;
use PostgreSQL::Test::Utils;
use Test::More;

my $drivers = "$FindBin::RealBin/../interop/drivers";
my $built = "$PostgreSQL::Test::Utils::tmp_check/drivers";
mkdir $built or die "$built: $!";

my $node = PostgreSQL::Test::Cluster->new('drivers');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bloomext;
	CREATE TABLE titles (title text);
	CREATE INDEX ON titles USING bloomfilter (title);
	INSERT INTO titles VALUES ('title');
});
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
chomp($ENV{PGUSER} = $node->safe_psql('postgres', 'SELECT current_user'));

# The first command that works, for a driver's programs.
sub first_of
{
	my @candidates = @_;
	foreach (@candidates)
	{
		return $_ if system("$_ >'$built/log' 2>&1") == 0;
	}
	return;
}

# python3 of the path may be another than the distribution's, which has drivers.
sub python_with
{
	my ($module) = @_;
	my $command = first_of(map { "$_ -c 'import $module'" } 'python3', '/usr/bin/python3') or return;
	return [ $command =~ /^(\S+)/, "$drivers/ask_$module.py" ];
}

# Node's driver as installed, or as npm has it.
sub node_with_driver
{
	return if system("command -v node >'$built/log' 2>&1") != 0;
	local $ENV{NODE_PATH} = join ':', grep { defined } "$built/node_modules", '/usr/share/nodejs', $ENV{NODE_PATH};
	first_of(q{node -e 'require("pg")'}, "cd '$built' && npm install --no-audit --no-fund pg\@8") or return;
	return [ 'env', "NODE_PATH=$ENV{NODE_PATH}", 'node', "$drivers/ask_node.js" ];
}

# Go's driver, built as a module.
sub go_with_driver
{
	return if system("command -v go >'$built/log' 2>&1") != 0;
	append_to_file("$built/go.mod", "module ask\n\ngo 1.19\n\nrequire github.com/jackc/pgx/v5 v5.5.5\n");
	append_to_file("$built/main.go", slurp_file("$drivers/ask_pgx.go"));
	first_of("cd '$built' && export GOPATH='$built/go' GOCACHE='$built/cache' GOFLAGS=-modcacherw && go mod tidy && go build -o ask_pgx") or return;
	return ["$built/ask_pgx"];
}

my %programs = (
	'psycopg' => scalar python_with('psycopg'),
	'asyncpg' => scalar python_with('asyncpg'),
	'node-postgres' => scalar node_with_driver(),
	'pgx' => scalar go_with_driver());

foreach my $driver (sort keys %programs)
{
  SKIP:
	{
		skip "no $driver", 2 unless $programs{$driver};
		$node->safe_psql('postgres', q{
			DROP TABLE IF EXISTS filters;
			CREATE TABLE filters (f bloomfilter NOT NULL);
			INSERT INTO filters VALUES (bf_create(1000, 0.0001));
		});
		my ($out, $err) = ('', '');
		IPC::Run::run($programs{$driver}, '>', \$out, '2>', \$err);
		is($out, "t t t - f\n" x 3 . "t f\nt f -\nt f\nt\n", "$driver: answers");
		is($err, '', "$driver: no errors");
	}
}

$node->stop;
done_testing();
