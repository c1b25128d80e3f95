# Live filters beyond the 1 GB of a value: bits beyond 2^33, in segments of a file
# beyond the first, of 12 GB that are hardly ever written to.  What is in the
# files is compared with what Guava's rule says, computed here from the titles.
# Then crashes, a standby, growth across 1 GB, and what needs a value and says so.
#
# BLOOMEXT_LIVE_ROUNDS is how many random steps there are: 25, unless it says
# otherwise.  BLOOMEXT_SEED repeats them.
use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $rounds = $ENV{BLOOMEXT_LIVE_ROUNDS} || 25;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

sub any { return $_[ rand @_ ]; }

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
log_statement = none
max_wal_size = 128MB
maintenance_work_mem = 256MB
));
$node->start;
my $live = LiveTest->new($node);
$live->install;
my $fine = '0 denied, sure, 0 missing';

# For 10^10 elements, and for 1.05 * 10^9, which is a bit more than 2^33 bits.
my $most = 'expected = 10000000000, fpp = 0.01';
my $more = 'expected = 1050000000, fpp = 0.01';

# ---- Guava's rule, of titles of 9 to 15 bytes ----

sub rotate { my ($x, $n) = @_; return $x << $n | $x >> 64 - $n; }
sub unsigned { return unpack('Q', pack('q', shift)); }
sub product { use integer; my ($x, $y) = @_; return unsigned($x * $y); }
sub sum { use integer; my ($x, $y) = @_; return unsigned($x + $y); }

sub finish
{
	my $k = shift;
	$k = product($k ^ $k >> 33, $_) foreach 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53;
	return $k ^ $k >> 33;
}

# Murmur3_x64_128 of a string that has no whole block.
sub murmur
{
	my $bytes = shift;
	my ($c1, $c2, $length) = (0x87c37b91114253d5, 0x4cf5ad432745937f, length $bytes);
	my ($k1, $k2) = unpack('Q<Q<', $bytes . "\0" x (16 - $length));
	my $h1 = product(rotate(product($k1, $c1), 31), $c2) ^ $length;
	my $h2 = product(rotate(product($k2, $c2), 33), $c1) ^ $length;
	$h1 = sum($h1, $h2);
	$h2 = sum($h2, $h1);
	($h1, $h2) = (finish($h1), finish($h2));
	$h1 = sum($h1, $h2);
	return ($h1, sum($h2, $h1));
}

# MURMUR128_MITZ_64 with k hashes and m bits.
sub positions
{
	my ($title, $k, $m) = @_;
	my ($h1, $h2) = murmur($title);
	return map { (sum($h1, product($_, $h2)) & 0x7fffffffffffffff) % $m } 0 .. $k - 1;
}

# ---- What is in the files ----

# A page of 8 kB has a head of 24 bytes, and 8,160 of bits: big-endian words.
my ($page_bytes, $segment) = (8160, 131072);

sub bit_is_set
{
	my ($path, $start, $position) = @_;
	my $byte = int($position / 8) ^ 7;
	my $block = $start + int($byte / $page_bytes);
	my $file = $path . ($block < $segment ? '' : '.' . int($block / $segment));
	open(my $handle, '<:raw', $file) or return 0;
	seek($handle, $block % $segment * 8192 + 24 + $byte % $page_bytes, 0);
	my $is_read = read($handle, my $found, 1) == 1;
	return $is_read && (ord($found) >> ($position & 7) & 1);
}

# Where the layers of an index are: start, k and m of each, by its description.
sub layers
{
	my $index = shift;
	my $next = 1;
	return map {
		my ($k, $m, $pages) = split /\|/;
		my $data = int(($m + $page_bytes * 8 - 1) / ($page_bytes * 8));
		$next += $pages;
		{ start => $next - $data, pages => $data, k => $k, m => $m }
	} split /\n/, $live->sql("SELECT hashes, bits, pages FROM bf_live_layers('$index') ORDER BY layer");
}

sub path_of { my ($at, $index) = @_; return $at->data_dir . '/' . $at->safe_psql('postgres', "SELECT pg_relation_filepath('$index')"); }

# Of the bits that a table's titles have in a layer: how many the files lack, and
# whether some are beyond 2^33, and in a file beyond the first.
sub look_at_bits
{
	my ($at, $table, $layer) = @_;
	my $path = path_of($at, "${table}_title_idx");
	$at->safe_psql('postgres', 'CHECKPOINT');
	my @positions = map { positions($_, $layer->{k}, $layer->{m}) } split /\n/, $at->safe_psql('postgres', "SELECT title FROM $table");
	my $missing = grep { !bit_is_set($path, $layer->{start}, $_) } @positions;
	return "$missing missing, " . (grep({ $_ >= 2**33 } @positions) ? 'some' : 'none') . ' beyond 2^33';
}

# Titles of a kind, of 9 bytes at least.
my $titles = 0;
sub insert
{
	my ($table, $n) = @_;
	$titles += $n;
	return sprintf("INSERT INTO %s SELECT 'row %s ' || g FROM generate_series(%d, %d) g;", $table, substr($table, 0, 2), 1000 + $titles - $n, 999 + $titles);
}

sub crash
{
	$node->stop('immediate');
	$node->start;
}

# ---- Builds ----

$live->sql(qq(
	CREATE TABLE most (title text);
	CREATE INDEX ON most USING bloomfilter (title) WITH ($most);
	CREATE TABLE more (title text);
	CREATE INDEX ON more USING bloomfilter (title) WITH ($more);
	CREATE TABLE built (title text);) . insert('built', 200) . qq(
	CREATE INDEX ON built USING bloomfilter (title) WITH ($more);
	CREATE TABLE small (title text);
	CREATE INDEX ON small USING bloomfilter (title) WITH (expected = 1000, fpp = 0.01);
));
$live->is_sql('an empty filter takes a page', q(SELECT pg_relation_size('most_title_idx')), '8192');
$live->is_sql('the rule is bloomext\'s, too', q(SELECT bf_positions(bf_live_filter('small'), 'title 1234'),
	bf_positions(bf_live_filter('small'), 'title 123456789')),
	join('|', map { '{' . join(',', positions($_, 7, 9600)) . '}' } 'title 1234', 'title 123456789'));
my ($layer) = layers('built_title_idx');
cmp_ok($layer->{m}, '>', 2**33, 'there are bits beyond 2^33');
is(look_at_bits($node, 'built', $layer), '0 missing, some beyond 2^33', 'a build sets the bits');
$live->is_sql('and no others', q(SELECT bits_set, look('built') FROM bf_live_info('built')), 200 * 7 . "|$fine");
$live->sql('SET maintenance_work_mem = 65536; REINDEX INDEX built_title_idx');
is(look_at_bits($node, 'built', $layer), '0 missing, some beyond 2^33', 'so does one in many parts');
$live->sql('REINDEX INDEX CONCURRENTLY built_title_idx; VACUUM built');
is(look_at_bits($node, 'built', $layer), '0 missing, some beyond 2^33', 'and a concurrent one');
$live->is_sql('and no others', q(SELECT bits_set, look('built') FROM bf_live_info('built')), 200 * 7 . "|$fine");

# ---- Rows ----

$live->sql(insert('most', 1)) foreach 1 .. 20;
$live->sql('BEGIN;' . insert('most', 100) . 'SAVEPOINT a;' . insert('most', 10) . 'ROLLBACK TO a;' . insert('most', 80) . 'COMMIT');
$live->is_sql('rows that wait for their bits', q(SELECT look('most')), $fine);
$live->is_sql('the file is long', q(SELECT pg_relation_size('most_title_idx') > 12e9, count(*) FROM most), 't|200');
crash();
$live->is_sql('they wait after a crash', q(SELECT look('most')), $fine);
$live->sql(insert('most', 30) . 'VACUUM most');
crash();
# From its last block on back: nobody needs to read all of it.
my $pages = int((95850583808 + $page_bytes * 8 - 1) / ($page_bytes * 8));
my $last = { k => 7, m => 95850583808, start => $live->sql(q(SELECT pg_relation_size('most_title_idx') / 8192)) - $pages };
is(look_at_bits($node, 'most', $last), '0 missing, some beyond 2^33', 'VACUUM sets their bits');
$live->is_sql('which a crash keeps', q(SELECT look('most')), $fine);
$live->is_sql('what is known of all', q(SELECT expected, pending, bits_set, bits FROM bf_live_info('most')), '10000000000|0|' . 230 * 7 . '|95850583808');
$live->is_sql('nothing is due', q(SELECT string_agg(due, ',') FROM bf_live_filters), 'nothing,nothing,nothing,nothing');

# ---- A standby ----

# A copy, which is sparse as the files are: replay would write all of them.
$live->sql(insert('more', 1));
$node->stop;
my $standby = PostgreSQL::Test::Cluster->new('standby');
system_or_bail('cp', '-a', '--sparse=always', $node->data_dir, $standby->data_dir);
$node->start;
$standby->append_conf('postgresql.conf', 'port = ' . $standby->port . "\nunix_socket_directories = '" . $standby->host . "'\n");
$standby->enable_streaming($node);
$standby->start;
my $copy = LiveTest->new($standby);
$live->sql(insert('most', 60) . insert('more', 300) . 'VACUUM most;' . insert('most', 20) . 'CHECKPOINT');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
$copy->is_sql('a standby has them all', q(SELECT look('most'), look('more'), look('built')), join('|', ($fine) x 3));
$live->sql('VACUUM most, more; CHECKPOINT');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is(look_at_bits($standby, $_->[0], $_->[1]), '0 missing, some beyond 2^33', "its bits of $_->[0]") foreach [ 'most', $last ], [ 'more', $layer ];
$standby->promote;
$copy->sql(insert('most', 10) . 'VACUUM most;' . insert('most', 10));
$copy->is_sql('promoted, it goes on', q(SELECT look('most'), count(*) FROM most), "$fine|330");
$standby->stop;

# ---- Whatever is done to it, in whatever order ----

my $batch = sub { return insert('more', any(1, 1, 3, 30)) };
my @steps = (
	($batch) x 6,
	sub { return 'BEGIN;' . $batch->() . 'SAVEPOINT a;' . $batch->() . 'ROLLBACK TO a;' . $batch->() . 'COMMIT' },
	sub { return 'BEGIN;' . $batch->() . 'ROLLBACK' },
	sub { return 'BEGIN; TRUNCATE more;' . $batch->() . 'ROLLBACK' },
	sub { return "UPDATE more SET title = 'up $titles ' || right(title, 5) WHERE random() < 0.1" },
	sub { return 'DELETE FROM more WHERE random() < 0.1' },
	(sub { return 'VACUUM more' }) x 2,
	sub { return 'CHECKPOINT' },
	sub { return 'REINDEX INDEX more_title_idx' },
	sub { return 'REINDEX INDEX CONCURRENTLY more_title_idx' });
my @done;
my $denied = 0;
foreach (1 .. $rounds)
{
	push @done, any(@steps)->();
	$live->sql($done[-1]);
	push(@done, 'crash') and crash() if rand() < 0.15;
	$denied = $live->sql(q(SELECT look('more')));
	last if $denied ne $fine;
}
is($denied, $fine, 'nothing is denied, and all else is') or diag join("\n", @done);
$live->sql('VACUUM more');
is(look_at_bits($node, 'more', $layer), '0 missing, some beyond 2^33', 'and its bits are where they belong');

# ---- Growth across what a value holds ----

# The pages that a filter's fill is estimated by get three quarters of their bits.
sub fill_sample
{
	my ($index, $layer) = @_;
	my $path = path_of($node, $index);
	$node->stop;
	system_log('pg_checksums', '--disable', '-D', $node->data_dir);
	foreach my $i (0 .. 63)
	{
		my $block = $layer->{start} + int($i * $layer->{pages} / 64);
		my $file = $path . ($block < $segment ? '' : '.' . int($block / $segment));
		open(my $handle, '+<:raw', $file) or die "$file: $!";
		seek($handle, $block % $segment * 8192, 0);
		read($handle, my $old, 8192);
		my $page = pack('x8 v v v v v v V a8160 V v v', 0, 0, 8184, 8184, 8184, 8192 | 4, 0, substr($old, 24, $page_bytes) | "\x77" x $page_bytes, 3, 0, 0xff8b);
		seek($handle, $block % $segment * 8192, 0);
		print { $handle } $page;
		close $handle or die $!;
	}
	$node->start;
}

my $grows = 'fpp = 0.01, expansion';
$live->sql(qq(
	DROP TABLE most, built;
	CREATE TABLE grown (title text);
	CREATE INDEX ON grown USING bloomfilter (title) WITH ($grows = 100, expected = 15000000);
	CREATE TABLE narrow (title text);
	CREATE INDEX ON narrow USING bloomfilter (title) WITH ($grows = 3, expected = 140000000, strategy = guava32);)
	. insert('grown', 100) . insert('narrow', 100) . 'VACUUM grown, narrow');
fill_sample($_, layers($_)) foreach 'grown_title_idx', 'narrow_title_idx';
# So many at once that their number alone has the layer looked at.
$live->sql(insert('grown', 70000) . insert('narrow', 100));
my @layers = layers('grown_title_idx');
is(scalar(@layers), 2, 'a layer is added');
cmp_ok($layers[0]{m} / 8, '<', 2**30, 'to one that would be a value');
cmp_ok($layers[1]{m}, '>', 2**33, 'and would be none itself');
is($live->layers('narrow'), 1, 'none is added that a strategy has no positions for');
my $all = q(SELECT denied('grown'), denied('narrow'), (bf_live_verify('grown')).missing, (bf_live_verify('narrow')).missing);
$live->is_sql('all rows are known', $all, '0|0|0|0');
$live->sql('VACUUM grown;' . insert('grown', 50));
crash();
$live->is_sql('after a crash, too', $all, '0|0|0|0');

# ---- What needs a value ----

my ($out, $err) = $live->outcome(q(SELECT bf_live_filter('more')), 'verbose');
like($err, qr/ERROR:  54000: live filter "more_title_idx" does not fit into a value\n/, 'bf_live_filter refuses');
like($err, qr/DETAIL:  It takes 1258038912 bytes; a value holds at most 1073741819 bytes, a Redis string 536870912 bytes\./, 'and says why');
my ($make) = $err =~ /HINT:  Create 3 partial indexes, with i from 0 to 2: (CREATE INDEX .*) = i\. Mirror all to one key, each with a layout that ends in ;shards=3\/i\./;
isnt($make, undef, 'and what to do');
$live->sql(join '', map { "$make = $_;" } 0 .. 2);
$live->is_sql('each part knows its own', q(SELECT count(*) FROM more
	WHERE NOT bf_live_contains(('more_title_idx' || bf_shard(title, 3) + 1)::regclass, title)), '0');
$live->is_sql('and is a value', q(SELECT bool_and(bf_contains((SELECT bf_live_filter('more_title_idx2')), title))
	FROM more WHERE bf_shard(title, 3) = 1), 't');
$live->fails("$_->[0]", "CREATE INDEX ON small USING bloomfilter (title) WITH ($_->[1])", '54000')
  foreach [ 'more bits than guava has', 'expected = 10000000000, fpp = 0.0001' ],
  map { [ "more bits than $_ has positions", "expected = 250000000, fpp = 0.01, strategy = $_" ] } 'guava32', 'spark1';
($out, $err) = $live->outcome(q(CREATE INDEX ON small USING bloomfilter (lower(title))
	WITH (expected = 250000000, fpp = 0.01, strategy = spark1, funnel = utf8) WHERE title > 'b' AND title < 'd'), 'verbose');
like($err, qr/HINT:  Use strategy spark2, or divide the filter\. .* ON public\.small USING bloomfilter \(lower\(title\)\) WITH \(expected = 125000000, fpp = 0\.01, strategy = spark1, funnel = utf8\) WHERE bf_shard\(lower\(title\), 2\) = i AND \(.*'b'.*'d'.*\)\./,
	'a part is what the whole would be');

$node->stop;
done_testing();
