# Filters travel: COPY in text and binary, pg_dump and restore, logical
# replication in text and binary.  Malformed binary input is refused.
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

my $node = PostgreSQL::Test::Cluster->new('origin');
$node->init(allows_streaming => 'logical', extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "max_worker_processes = 20\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bloomext');
$node->safe_psql('postgres', q{
	CREATE TABLE filters (id int PRIMARY KEY, note text, f bloomfilter);
	INSERT INTO filters
	SELECT 100 + n, 'made', bf_agg('t' || i, n, 0.01, CASE n % 2 WHEN 0 THEN 'guava' ELSE 'guava32' END)
	FROM unnest(ARRAY[1, 2, 10, 99, 1000, 20001, 300000]) n, generate_series(1, n) i GROUP BY n;
	INSERT INTO filters VALUES (1, 'unbound', bf_create(10)), (2, 'null', NULL),
		(3, 'int', bf_create(10) + 7), (4, 'long', bf_create(10) + 7::bigint),
		(5, 'bytes', bf_create(10) + '\x00'::bytea), (6, 'utf16', bf_create(10, funnel => 'utf16') + 'x'),
		(7, 'bits', bf_create_bits(640, 255)), (8, 'full', bf_import('\x010300000001ffffffffffffffff'));
});

# All there is to see of the table: every byte of every value.
my $everything = q{SELECT count(*), count(f), md5(string_agg(id || note || coalesce(f::text, '-'), ',' ORDER BY id)) FROM filters};
my $want = $node->safe_psql('postgres', $everything);
like($want, qr/^15\|14\|/, 'the table is filled');

# COPY, both ways, both formats.
my $dir = PostgreSQL::Test::Utils::tempdir();
foreach my $format ('text', 'csv', 'binary')
{
	is( $node->safe_psql('postgres', qq{
			COPY filters TO '$dir/filters.$format' (FORMAT $format);
			BEGIN;
			TRUNCATE filters;
			COPY filters FROM '$dir/filters.$format' (FORMAT $format);
			$everything;
			ROLLBACK;}),
		$want, "COPY in $format");
}

# pg_dump, as a script and as an archive.
foreach my $format ('plain', 'custom')
{
	my $file = "$dir/dump.$format";
	$node->command_ok([ 'pg_dump', "--format=$format", '--file', $file, $node->connstr('postgres') ],
		"pg_dump, $format");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$format");
	if ($format eq 'plain')
	{
		$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $file, $node->connstr("restored_$format") ],
			'psql restores it');
	}
	else
	{
		$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr("restored_$format"), $file ],
			'pg_restore restores it');
	}
	is($node->safe_psql("restored_$format", $everything), $want, "restored from $format");
	is( $node->safe_psql("restored_$format", q{SELECT bool_and(f @> 't1') FROM filters WHERE note = 'made'}),
		't', 'and it answers');
}
unlike(slurp_file("$dir/dump.plain"), qr/CREATE FUNCTION .*bf_/, 'the dump names the extension, not its members');

# Logical replication: the initial copy, then inserts, updates of the filter
# and of another column beside it (whose filter is not sent at all), deletes.
foreach my $binary ('false', 'true')
{
	my $name = "copy_$binary";
	my $subscriber = PostgreSQL::Test::Cluster->new($name);
	$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$subscriber->append_conf('postgresql.conf', "max_worker_processes = 20\n");
	$subscriber->start;
	$subscriber->safe_psql('postgres',
		'CREATE EXTENSION bloomext; CREATE TABLE filters (id int PRIMARY KEY, note text, f bloomfilter)');
	$node->safe_psql('postgres', "CREATE PUBLICATION $name FOR TABLE filters");
	my $connstr = $node->connstr . ' dbname=postgres';
	$subscriber->safe_psql('postgres',
		"CREATE SUBSCRIPTION $name CONNECTION '$connstr' PUBLICATION $name WITH (binary = $binary)");
	$subscriber->poll_query_until('postgres',
		q{SELECT count(*) > 0 AND bool_and(srsubstate IN ('r', 's')) FROM pg_subscription_rel})
	  or die 'timed out waiting for the initial copy';
	is($subscriber->safe_psql('postgres', $everything), $node->safe_psql('postgres', $everything),
		"initial copy, binary = $binary");

	$node->safe_psql('postgres', qq{
		INSERT INTO filters SELECT 9, 'new', bf_agg('n' || i, 50000) FROM generate_series(1, 50000) i;
		UPDATE filters SET f = f + 'later' WHERE note = 'made';
		UPDATE filters SET note = note || ' touched' WHERE id IN (102, 400000, 300100);
		DELETE FROM filters WHERE id = 5;
	});
	$node->wait_for_catchup($name);
	is($subscriber->safe_psql('postgres', $everything), $node->safe_psql('postgres', $everything),
		"changes, binary = $binary");
	is( $subscriber->safe_psql('postgres',
			q{SELECT bool_and(f @> 'later'), (SELECT note FROM filters WHERE id = 300100) FROM filters WHERE note LIKE 'made%'}),
		't|made touched', 'they are there');
	$subscriber->safe_psql('postgres', "DROP SUBSCRIPTION $name");
	$node->safe_psql('postgres', qq{
		DROP PUBLICATION $name;
		DELETE FROM filters WHERE id = 9;
		UPDATE filters SET note = 'made' WHERE note LIKE 'made%';
		INSERT INTO filters VALUES (5, 'bytes', bf_create(10) + '\\x00'::bytea);
	});
	$subscriber->stop;
}

# Malformed binary input.  A COPY file of one row with one column, its value
# truncated, extended, or with one byte changed.
sub binary_copy
{
	my ($value) = @_;
	return "PGCOPY\n\377\r\n\0" . pack('NN', 0, 0) . pack('n', 1) . pack('N', length $value) . $value . pack('n', 0xffff);
}

my $value = pack('H*', substr($node->safe_psql('postgres', q{SELECT bf_create(10) + 'one'}), 2));
my @values = map { substr($value, 0, $_) } (0 .. length($value) - 1);
push @values, map { $value . ("\0" x $_) } (1, 8, 64);
my $must_fail = @values;
foreach my $at (0 .. length($value) - 17)
{
	foreach my $byte (0, 1, 4, 127, 128, 255)
	{
		next if ord(substr($value, $at, 1)) == $byte;
		my $changed = $value;
		substr($changed, $at, 1) = chr($byte);
		push @values, $changed;
	}
}

my $script = "\\set VERBOSITY sqlstate\nCREATE TABLE malformed (number int GENERATED ALWAYS AS IDENTITY, f bloomfilter);\n";
foreach my $i (0 .. $#values)
{
	open my $file, '>:raw', "$dir/malformed.$i" or die $!;
	print $file binary_copy($values[$i]);
	close $file;
	$script .= "\\echo case $i\nCOPY malformed (f) FROM '$dir/malformed.$i' (FORMAT binary);\nSELECT 'taken ' || number FROM malformed ORDER BY 1 DESC LIMIT 0;\n";
}
my ($status, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
my %codes;
$codes{$_}++ foreach $err =~ /ERROR:\s+(\S+)/g;
is(join(' ', sort keys %codes), '22P03', 'malformed binary input is 22P03');
my $taken = $node->safe_psql('postgres', 'SELECT count(*) FROM malformed');
is($taken + ($codes{'22P03'} // 0), scalar @values, 'every case is taken or refused');
cmp_ok($codes{'22P03'} // 0, '>=', $must_fail, 'truncations and extensions are refused');
cmp_ok($taken, '>', 50, 'changes that mean a filter are taken');

# What was taken is a filter, and goes out as it came in.
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM malformed, bf_info(f) i
		WHERE f::text::bloomfilter::text <> f::text OR bloomfilter_send(f)::text <> f::text
			OR i.hashes NOT BETWEEN 1 AND 255 OR i.bits <> 128 OR octet_length(bf_export(f, 'redis')) <> 16 OR f | f <> f}),
	'0', 'what was taken is valid');

# Guava's bytes are told from others.
open my $stream, '>:raw', "$dir/guava" or die $!;
print $stream binary_copy(pack('H*', substr($node->safe_psql('postgres', q{SELECT bf_export(bf_create(10) + 'one')}), 2)));
close $stream;
($status, $out, $err) = $node->psql('postgres', "COPY malformed (f) FROM '$dir/guava' (FORMAT binary)");
like($err, qr/HINT: .*bf_import\(.*'guava'\)/, 'the hint says what to call');

# The unchanged bytes are taken, of course.
open my $file, '>:raw', "$dir/good" or die $!;
print $file binary_copy($value);
close $file;
is( $node->safe_psql('postgres', qq{
		TRUNCATE malformed;
		COPY malformed (f) FROM '$dir/good' (FORMAT binary);
		SELECT f = bf_create(10) + 'one' FROM malformed}),
	't', 'the original is taken');

# COPY passes over malformed text, where it can.
SKIP:
{
	skip 'COPY has no ON_ERROR before 17', 1
	  if $node->safe_psql('postgres', 'SHOW server_version_num') < 170000;
	open my $rows, '>', "$dir/rows" or die $!;
	print $rows "$_\n" for $node->safe_psql('postgres', q{SELECT '\\' || (bf_create(10) + 'one')::text}), 'nonsense', '\\\\x00', 'base64:YmY=';
	close $rows;
	is( $node->safe_psql('postgres', qq{
			TRUNCATE malformed;
			COPY malformed (f) FROM '$dir/rows' (ON_ERROR ignore);
			SELECT count(*), bool_and(f @> 'one') FROM malformed}),
		'1|t', 'COPY with ON_ERROR ignore');
}

$node->stop;
done_testing();
