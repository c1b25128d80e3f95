# doc/languages.md: its program prints what it shows, and so do those of which it has what
# differs; and drivers do what its table says of parameters without a type.  Beyond that, each driver binds elements that
# need quotes, NULLs, NULL and empty arrays, numbers and Guava's bytes, and what is
# prepared asks the filter that is there when it is executed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(blocks);
use Languages qw(python node go rust java output_of);

my $drivers = "$FindBin::RealBin/../../interop/drivers";
my $page = 'doc/languages.md';

# The page's programs, called titles, and ours, called ask, next to their lock files.
my $built = PostgreSQL::Test::Utils::tempdir();
my @drivers = (
	[ 'psycopg 3', 'py', sub { python("$built/$_[0]-psycopg.py", 'psycopg') } ],
	[ 'asyncpg', 'py', sub { python("$built/$_[0]-asyncpg.py", 'asyncpg') } ],
	[ 'pgjdbc', 'java', sub { java("$built/$_[0]-pgjdbc.java", '/usr/share/java/postgresql.jar', '/usr/share/java/guava.jar') } ],
	[ 'pgx', 'go', sub { go($built, "$_[0]-pgx.go", "$built/$_[0]-pgx") } ],
	[ 'node-postgres', 'js', sub { node("$built/$_[0]-node-postgres.js", $drivers, 'pg') } ],
	[ 'tokio-postgres', 'rs', sub { rust($built, 'bin', "$_[0]-tokio-postgres", "$built/target") } ]);
system("cp '$drivers'/* '$built'") == 0 or die "cannot copy $drivers";

my $node = PostgreSQL::Test::Cluster->new('languages');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# pgjdbc has TCP alone.
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$node->start;
my $user = $node->safe_psql('postgres', 'SELECT current_user');

# Each program has a database of its own, as the page makes it or as ours want it.
my @programs = blocks($page);
my ($set_up) = grep { $_->{language} eq 'sql' } @programs;
my ($whole) = grep { $_->{language} eq 'python' && $_->{shown} } @programs;
$node->safe_psql('postgres', "CREATE DATABASE $_") for 'titles', 'ask';
$node->safe_psql('titles', $set_up->{text});
$node->safe_psql('ask', q{
	CREATE EXTENSION bloomext;
	CREATE TABLE titles (title text);
	CREATE INDEX ON titles USING bloomfilter (title);
	INSERT INTO titles VALUES ('title');
	CREATE TABLE filters AS SELECT bf_create(1000, 0.0001) AS f;
	CREATE TABLE numbers AS SELECT bf_agg(i, 100, 0.0001) AS f FROM generate_series(1, 10::bigint) AS i;
});

my ($rows) = slurp_file("$FindBin::RealBin/../../../$page") =~ /^\| \| psycopg 3 [^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m;
my @table = map { [ split / *\| */ ] } split /\n/, $rows;

foreach my $i (0 .. $#drivers)
{
	my ($driver, $suffix, $command) = @{ $drivers[$i] };
	my $program = "$built/titles-" . ($driver =~ s/ .*//r) . ".$suffix";
	my ($first, @parts) = map { $_->{text} } grep { $_->{section} eq $driver && !$_->{of} } @programs;
	append_to_file($program, $first) if $whole->{section} eq $driver;
	my $text = slurp_file($program) =~ s/\s+/ /gr;
	ok(index($text, s/\s+/ /gr =~ s/^ | $//gr) >= 0, "$driver: the page has a part of the program") or diag $_ foreach $first, @parts;
	my %run = map { $_ => [ $command->($_) ] } 'titles', 'ask';
  SKIP:
	{
		skip "no $driver", 4 unless @{ $run{titles} } && @{ $run{ask} };
		foreach my $name ('titles', 'ask')
		{
			my $database = "${name}_$i";
			$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE $name");
			local $ENV{DATABASE_URL} = "postgresql://$user\@127.0.0.1:${\ $node->port}/$database";
			local $ENV{JDBC_URL} = "jdbc:postgresql://127.0.0.1:${\ $node->port}/$database?user=$user";
			my ($out, $err) = output_of('/dev/null', @{ $run{$name} });
			is($err, '', "$driver, $name: no errors");
			my $expected = $name eq 'titles' ? ${ $whole->{shown} }
			  : join "\n", ('t t t - f') x 3, 't f', 't f -', 't f', 't f', 't', 'f' . ' f' x 11, 't',
			  (map { $_->[ $i + 2 ] =~ s/[`*]//gr } @table), '';
			is($out, $expected, "$driver, $name: answers");
		}
	}
}

$node->stop;
done_testing();
