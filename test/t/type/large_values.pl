# Values whose hexadecimal text would be too long: they are written in base64,
# dumped and restored; one beyond that is an error with a way out, and announced
# when it is made.  And the largest that there can be.
use strict;
use warnings;

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use PostgreSQL::Test::Utils;
use Test::More;

# A backend takes the value, its text, and the row that the text is part of.
my ($available) = -r '/proc/meminfo' ? slurp_file('/proc/meminfo') =~ /^MemAvailable:\s+(\d+) kB/m : ();
plan skip_all => 'needs 6 GB of memory' if defined $available && $available < 6 * 1024 * 1024;

my $node = PostgreSQL::Test::Cluster->new('large');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "shared_buffers = 16MB\nautovacuum = off\n");
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# What COPY and pg_dump make of 600 MB, next to a small filter in hexadecimal.
my $megabytes = 600;
my $dir = $node->basedir;
sql(qq{
	CREATE EXTENSION bloomext;
	CREATE TABLE filters (id int, f bloomfilter, note text);
	INSERT INTO filters VALUES
		(1, bf_add_all(bf_create_bits(8::bigint * 1024 * 1024 * $megabytes, 7), ARRAY(SELECT i FROM generate_series(1, 1000) i)), E'large\\\\'),
		(2, bf_create(10) + 'x', 'small');
});
sql(qq{COPY filters TO '$dir/filters.txt'});
is(sql(qq{
		CREATE TABLE copied (LIKE filters);
		COPY copied FROM '$dir/filters.txt';
		SELECT id, c.f = f.f, note FROM filters f JOIN copied c USING (id, note) ORDER BY id;
		DROP TABLE copied;}),
	"1|t|large\\\n2|t|small", 'COPY');
open my $text, '<', "$dir/filters.txt" or die $!;
read $text, my $start, 20;
close $text;
like($start, qr/^1\tbase64:YmYB/, 'large values are written in base64');
unlink "$dir/filters.txt";

$node->command_ok([ 'pg_dump', '-Fc', '-Z1', '-f', "$dir/filters.dump", '-d', $node->connstr('postgres') ], 'pg_dump');
my $of_all = q{SELECT id, note, bloomfilter_hash_extended(f, 0), bf_contains_all(f, ARRAY[1, 2, 1000]) FROM filters WHERE id = 1};
my $before = sql($of_all);
like($before, qr/\|t$/, 'the filter holds its elements');
sql('CREATE DATABASE restored');
sql('DROP TABLE filters');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('restored'), "$dir/filters.dump" ], 'pg_restore');
is($node->safe_psql('restored', $of_all), $before, 'it is the same');
unlink "$dir/filters.dump";

# No more memory than a value, its text, and the value that is read.
SKIP:
{
	skip 'needs /proc', 1 unless defined $available;
	my $peak = q{SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024;};
	my ($first, undef, $last) = split /\n/, $node->safe_psql('restored',
		"$peak SELECT bloomfilter_in(bloomfilter_out(bf_create_bits(8::bigint * 1024 * 1024 * ($megabytes + id), 7))) IS NOT NULL FROM filters WHERE id = 1; $peak");
	cmp_ok($last - $first, '<', $megabytes * (2 + 4 / 3) + 150, 'memory');
}

# Beyond that.
my ($status, $out, $err) = $node->psql('restored', q{
	\set VERBOSITY verbose
	CREATE TABLE beyond AS SELECT bf_create_bits(8::bigint * 1024 * 1024 * 768, 7) AS f;
	SELECT f::text FROM beyond;
	COPY beyond TO STDOUT;}, on_error_stop => 0);
my @said = $err =~ /(NOTICE|ERROR):\s+(\w{5}):/g;
is("@said", 'NOTICE 54000 ERROR 54000 ERROR 54000', 'too large for text: said at once, and when it is written');
is($out, '', 'nothing of it is written');

# A filter that sizes itself from an estimate is not refused for the margin above
# it.  How large it is, is said when it is made; to fill it takes minutes.
my $said = '';
my $run = IPC::Run::start(
	[ 'psql', '-XqAt', '-d', $node->connstr('restored'),
	  '-c', q{SELECT bf_agg_distinct(i, 1e-70) FROM (SELECT generate_series(1, 25500000) AS i) s} ],
	'>', \$out, '2>', \$said, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
IPC::Run::pump($run) until $said =~ /\n/;
like($said, qr/^NOTICE:  bloom filter of 107374\d{4} bytes is too large to be written as text/, 'as many elements as fit');
sql(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%bf_agg_distinct%' AND pid <> pg_backend_pid()});
IPC::Run::finish($run);

$node->stop;
done_testing();
