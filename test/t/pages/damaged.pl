# Pages that were damaged are an error, never an answer, and REINDEX makes them good.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use LiveTest qw(fresh %kinds $fine);

my ($test, $node) = LiveTest->start;
my $sql = sub { return $test->sql(shift); };
my $is_sql = sub { return $test->is_sql(@_); };
my $fails = sub { return $test->fails(@_); };

my @damage = map { [ $_, 29 ] } 3 .. 7;			# strategies that cannot be live
push @damage, [ 2, 30 ], [ 4, 30 ], [ 255, 32 ], [ 1, 56 ], [ 0x7f, 71 ];	# funnel, hashes, expected, fpp
my @broken = map { "broken$_" } 0 .. $#damage;
$sql->(fresh($_, $kinds{small}, 2000)) foreach @broken, 'lower', 'upper', 'former';

# Write bytes into a stopped server's file; what was there.
sub patch
{
	my ($path, $offset, $bytes) = @_;
	open my $file, '+<:raw', $node->data_dir . "/$path" or die "$path: $!";
	seek $file, $offset, 0;
	read $file, my $before, length $bytes;
	seek $file, $offset, 0;
	print $file $bytes;
	close $file or die "$path: $!";
	return $before;
}
my %path = map { $_ => $sql->("SELECT pg_relation_filepath('${_}_bf')") } @broken, 'lower', 'upper', 'former';
my $block = $sql->('SHOW block_size');
my ($hashes, $bits) = split /\|/, $sql->(q(SELECT hashes, bits FROM bf_live_info('former')));
my $page_bits = ($block - 32) * 8;
$node->stop;
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
patch($path{$broken[$_]}, $damage[$_][1], chr $damage[$_][0]) foreach 0 .. $#damage;
patch($path{former}, 24, pack 'LC4L4QQd x' . ($block - 24 - 48 - 8), 0x62664c76, 1, 1, 1, 0,
	$hashes, ($bits + $page_bits - 1) / $page_bits, 1, 0, $bits, 100000, 0.0001);
my %page = (lower => 12, upper => 14);
my %sound = map { $_ => patch($path{$_}, $block + $page{$_}, pack 'S', 24) } sort keys %page;
$node->start;
$is_sql->('damage: a metapage of the first format', q(SELECT denied('former'); REINDEX INDEX former_bf; SELECT look('former')), "0; $fine")
	unless $test->said(q(SELECT denied('former'))) =~ /ERROR.*HINT.*REINDEX/s;
foreach (0 .. $#damage)
{
	my $name = "damage: $damage[$_][0] in byte $damage[$_][1] of the metapage";
	$fails->("$name, lookup", "SELECT bf_live_contains('$broken[$_]', 'row 7')", 'XX002');
	$fails->("$name, INSERT", "INSERT INTO $broken[$_] (title) VALUES ('x')", 'XX002');
	$is_sql->("$name, REINDEX", "REINDEX INDEX $broken[$_]_bf; SELECT look('$broken[$_]')", $fine);
}
foreach my $tab (sort keys %page)
{
	$fails->("damage: pd_$tab of a data page", "INSERT INTO $tab (title) SELECT g::text FROM generate_series(1, 100) g", 'XX00[12]');
	$node->stop;
	patch($path{$tab}, $block + $page{$tab}, $sound{$tab});
	$node->start;
	$is_sql->("damage: pd_$tab, nothing was written", "SELECT look('$tab')", $fine);
}

# Files of filters of other columns, each whole: that of the same columns in another
# order, and that of a column of the same funnel.
$sql->(q(
	CREATE TABLE exchanged (title text, n int, b bytea);
	INSERT INTO exchanged SELECT 'row ' || g, g, bf_element(g, 'row ' || g) FROM generate_series(1, 100) AS g;
	CREATE INDEX exchanged_two_bf ON exchanged USING bloomfilter (title, n) WITH (expected = 1000);
	CREATE INDEX exchanged_other_bf ON exchanged USING bloomfilter (n, title) WITH (expected = 1000);
	CREATE INDEX exchanged_one_bf ON exchanged USING bloomfilter (b) WITH (expected = 1000);
));
foreach my $other ('other', 'one')
{
	my $exchange = qq(SET allow_system_table_mods = on; UPDATE pg_class AS c SET relfilenode = o.relfilenode FROM pg_class AS o
		WHERE c.relname IN ('exchanged_two_bf', 'exchanged_${other}_bf') AND o.relname IN ('exchanged_two_bf', 'exchanged_${other}_bf') AND c.oid <> o.oid);
	$sql->($exchange);
	$fails->("damage: a file of $other", q(SELECT bf_live_contains('exchanged_two_bf', ROW('row 7', 7))), 'XX002');
	$fails->("damage: a file of two, for $other", $other eq 'one' ? q(SELECT bf_live_contains('exchanged_one_bf', bf_element(7, 'row 7'::text)))
		: q(SELECT bf_live_contains('exchanged_other_bf', ROW(7, 'row 7'))), 'XX002');
	$sql->($exchange);
	$is_sql->("damage: back from $other", q(SELECT bf_live_contains('exchanged_two_bf', ROW('row 7', 7)), bf_live_verify('exchanged_two_bf')), 't|(100,0)');
}

$node->stop;
done_testing();
