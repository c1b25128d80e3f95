# Values that were tampered with, and text that is no text, given to every
# function, in a server whose bloomext.so is sanitized: no report, no crash, no
# SQLSTATE but those that say what is wrong with them.
#
# BLOOMEXT_SECONDS is how long it runs: 40, unless it says otherwise.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use MIME::Base64;
use lib "$FindBin::RealBin/../../perl";

BEGIN
{
	require Test::More;
	eval { require PostgreSQL::Test::Cluster; 1 }
	  or Test::More::plan(skip_all => 'PostgreSQL::Test::Cluster is missing');
}
use PostgreSQL::Test::Utils;
use SanitizedServer;
use Test::More;

SanitizedServer->require_runtime;
my $seconds = $ENV{BLOOMEXT_SECONDS} || 40;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
srand($seed);
diag "BLOOMEXT_SEED=$seed";

my $allowed = '22021|22P02|22P03|22023|54000|0A000|XX001|57014';
my $server = SanitizedServer->new('values', 'statement_timeout = 5s');
my $node = $server->{node};
my $top = PostgreSQL::Test::Utils::tempdir();
my @strategies = qw(guava guava32 redisson magnuss tale2009 cassandra redisbloom spark1 spark2 bitsandblooms parquet);
my $wrong = 0;

sub any { return $_[ rand @_ ]; }

# Show a few of what is wrong, and count all.
sub note_wrong { diag $_ for grep { $wrong++ < 5 } @_; return; }

# ---- A stored filter, asked until it is loaded whole ----

is($node->safe_psql('postgres', q{
	CREATE TABLE stored AS SELECT bf_add_all(bf_create(50000, 0.001), array_agg(i)) AS f FROM generate_series(1, 20000) i;
	SELECT count(*) FROM stored, generate_series(1, 20000) i WHERE bf_contains(f, i);
}), '20000', 'all that a stored filter holds');

# ---- Text that is not UTF-8 ----

# One that can be indexed has a live filter for each of its funnels.
my @filters = map { my $s = $_; map { [ $s, $_ ] } 'utf8', 'utf16' } @strategies;
@filters = grep {
	my ($s, $f) = @$_;
	($node->psql('postgres', "SELECT bf_create(10, 0.1, '$s', '$f')"))[0] == 0
} @filters;
my @tables;
for (@filters)
{
	my ($s, $f) = @$_;
	my ($status) = $node->psql('postgres', "CREATE TABLE live_${s}_$f (t text);
		CREATE INDEX live_${s}_${f}_i ON live_${s}_$f USING bloomfilter (t) WITH (strategy = '$s', funnel = '$f', expected = 1000);", on_error_stop => 1);
	push @tables, "live_${s}_$f" if $status == 0;
}
cmp_ok(scalar @filters, '>=', 9, 'strategies and funnels of text');
cmp_ok(scalar @tables, '>=', 2, "live filters: @tables");

# Calls with an element, ELEM; and with any text.
my @element_calls = map { my ($s, $f) = @$_; my $filter = "bf_create(100, 0.1, '$s', '$f')";
	("bf_contains($filter, ELEM)", "bf_add($filter, ELEM)", "$filter + ELEM", "ELEM <@ $filter", "bf_positions($filter, ELEM)", "bf_contains($filter, (ELEM)::varchar)",
		"bf_add_all($filter, ARRAY[ELEM, 'x', NULL, ELEM])", "bf_contains_all($filter, ARRAY[ELEM])", "bf_contains_each($filter, ARRAY[ELEM, ELEM])",
		"bf_contains($filter, (ELEM)::name)", "$filter @> ANY (ARRAY[ELEM, ELEM])") } @filters;
push @element_calls, map { ("bf_agg(ELEM || i, 10, 0.1, '$_')", "bf_agg(ELEM || i, 10, 0.1, '$_', 1)", "bf_remove(bf_create(10, 0.1, 'guava', counting => true) + 'x', ELEM)") } @strategies;
push @element_calls, 'bf_agg(ELEM || i)', 'bf_agg(ELEM, 10)', map { "bf_live_contains('$_', ELEM)" } @tables;
my @text_calls = ('bf_create(10, 0.1, ELEM)', q(bf_create(10, 0.1, 'guava', ELEM)), 'bf_export(bf_create(10), ELEM)', 'bf_import(NULL, ELEM)', q(bf_import('\x00', ELEM)), '(ELEM)::bloomfilter', '(ELEM)::bytea::bloomfilter');

# Beginnings of characters, what cannot follow, what may not be, and what may.
my @pieces = ("\x80", "\xbf", "\xc0\x80", "\xc3", "\xc3\x28", "\xe2\x82", "\xe2", "\xe2\x28\xa1", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x9f\x98", "\xf0\x9f", "\xf0",
	"\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80", "\xfe", "\xff", 'a', "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80");

# Minor releases before those of February 2026 reverse text into what is before it.
my $reverses = do
{
	local $ENV{PGOPTIONS} = "-c app.x=\xf0";
	($node->psql('postgres', q(SELECT reverse(current_setting('app.x')) IS NULL)))[0] != 0;
};

sub invalid_text
{
	my $text = join '', map { any(@pieces) } 1 .. any(1, 1, 2, 3, 8);
	my $x = q(current_setting('app.x'));
	my @elements = ($x, map({ "repeat($x, $_)" } int(rand(200)), int(rand(20)), 5000), "left($x, " . int(rand(5)) . ')', "substr($x, 2)", "'ab' || $x", "$x || 'ab'", $reverses ? "reverse($x)" : ());
	my @statements;
	for my $call (@element_calls)
	{
		my $element = any(@elements);
		push @statements, 'SELECT count(x) FROM (SELECT ' . $call =~ s/ELEM/($element)/gr . ' AS x FROM generate_series(1, 3) i GROUP BY ' . ($call =~ /bf_agg/ ? '()' : 'i') . ' OFFSET 0) s;';
	}
	push @statements, map { my $element = any(@elements); "INSERT INTO $_ SELECT $element;" } @tables;
	push @statements, map { my $call = $_; 'SELECT count(x) FROM (SELECT ' . $call =~ s/ELEM/$x/r . ' AS x OFFSET 0) s;' } @text_calls;
	note_wrong($server->run($allowed, \@statements, "-c app.x=$text"));
	return scalar @statements;
}

# ---- Values ----

# Sound ones of all kinds, as hexadecimal digits.
my @sound = split /\n/, $node->safe_psql('postgres', join ' UNION ALL ', (
	map({ "SELECT substr((bf_create(20, 0.1, '$_') + 'x' + 'y')::text, 3)" } @strategies),
	map({ "SELECT substr(bf_create(20, 0.1, '$_', expansion => 2)::text, 3)" } @strategies),
	map({ "SELECT substr(bf_agg(i::text, 5, 0.1, '$_', 1)::text, 3) FROM generate_series(1, 40) i" } qw(guava redisbloom)),
	"SELECT substr((bf_create(20, 0.1, counting => true) + 'x')::text, 3)",
	"SELECT substr(bf_create_bits(64, 255, 'magnuss')::text, 3)",
	"SELECT substr((bf_create(5, 0.1) + 7)::text, 3)"));
my @streams = split /\n/, $node->safe_psql('postgres', join ' UNION ALL ',
	q(SELECT encode(bf_export(bf_create(20, 0.1) + 'x'), 'hex')),
	q(SELECT encode(bf_export(bf_create(20, 0.1, 'guava32') + 'x'), 'hex')),
	(map { "SELECT encode(bf_export(bf_create(20, 0.1, '$_') + 'x'), 'hex')" } qw(redisbloom spark1 spark2 bitsandblooms parquet)),
	q(SELECT encode(bf_export(bf_agg(i::text, 5, 0.1, 'redisbloom', 2)), 'hex') FROM generate_series(1, 60) i));
my @numbers = map { pack 'Q<', $_ } 0, 1, 2, 63, 64, 65, 255, 256, 1024, 1025, 134_219_265, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**48, 2**62, 9_223_372_036_854_775_807, ~0;
push @numbers, map { pack 'd<', $_ } 0, 1, -1, 0.5, 1e-300, 5e-324, 9**9**9, -9**9**9, -sin(9**9**9), 0.999999999;

# Change a value's bytes: few, mostly in the beginning.
sub mutate
{
	my $bytes = pack 'H*', shift;
	for (1 .. any(1, 1, 1, 2, 3))
	{
		my $span = rand() < 0.8 && length $bytes > 112 ? 112 : length $bytes;
		my $at = int(rand($span || 1));
		my $how = rand();
		if ($how < 0.3) { substr($bytes, $at, 1) = chr int rand 256 if $at < length $bytes; }
		elsif ($how < 0.7)
		{
			my $width = any(1, 2, 4, 8);
			$at -= $at % $width;
			substr($bytes, $at, $width) = substr any(@numbers), 0, $width if $at + $width <= length $bytes;
		}
		elsif ($how < 0.8) { $bytes = substr $bytes, 0, $at; }
		elsif ($how < 0.9) { $bytes .= "\0" x any(1, 8, 40, 64); }
		else { substr($bytes, $at, 0) = substr $bytes, int(rand($span)), any(1, 8, 40); }
	}
	return $bytes;
}

# Change a text of base64, which most leave as it is: padding, blanks, other
# characters, and what is left of a group.
sub mutate_text
{
	my ($text) = @_;
	return $text if rand() < 0.7;
	substr($text, int(rand(1 + length $text)), any(0, 1)) = any('', '=', '==', 'A', '-', '_', ' ', '\x', "\xc3\xa9");
	return $text;
}

# All that is asked of a value, f; and of an aggregate's many.
my @calls = (
	map({ ("bf_contains(f, $_)", "bf_add(f, $_)", "bf_positions(f, $_)", "bf_remove(f, $_)") } q('x'::text), '7', '7::bigint', q('\x00'::bytea)),
	q(bf_add_all(f, ARRAY['a', NULL, 'b'])), 'bf_add_all(f, ARRAY[1, 2, 3])', q(bf_contains_all(f, ARRAY['a', 'b'])), 'bf_contains_each(f, ARRAY[1, NULL])',
	'bf_union(f, f)', 'bf_union(f, bf_create(20, 0.1))', 'bf_intersection(f, f)', 'bf_compatible(f, bf_create(20, 0.1))', 'bf_plain(f)', 'f = f', 'f <> bf_create(1)',
	'bloomfilter_hash(f)', 'bloomfilter_hash_extended(f, 1)', 'bf_count(f)', 'bf_fpp(f)', 'bf_info(f)', 'bf_layers(f)', 'bf_measure_fpp(f, 50)', 'bf_export(f)', 'f::bytea', 'f::text', 'bloomfilter_send(f)',
	map({ "bf_export(f, '$_')" } qw(guava redisbloom parquet redis bitset)), 'bf_export_layer(f, 0)', q(bf_export_layer(f, 1, 'redis')), 'bf_union_agg(f)', 'bf_intersection_agg(f)');

# The ways in: text in both notations, a client's bytes, streams, a cast.
my @ways = (
	sub { return 'INSERT INTO came (f) VALUES (\'\x' . unpack('H*', mutate(any(@sound))) . '\');' },
	sub { return "INSERT INTO came (f) VALUES ('base64:" . mutate_text(encode_base64(rand() < 0.5 ? mutate(any(@sound)) : pack('H*', any(@sound)), '')) . "');" },
	sub {
		my ($number) = @_;
		my $bytes = mutate(any(@sound));
		my $file = "$top/$number";
		open my $copy, '>:raw', $file or die "$file: $!";
		print $copy "PGCOPY\n\xff\r\n\0", pack('NNnN', 0, 0, 1, length $bytes), $bytes, pack('n', 65535);
		close $copy;
		return "COPY came (f) FROM '$file' (FORMAT binary);" },
	sub { return "INSERT INTO came (f) SELECT bf_import('\\x" . unpack('H*', mutate(any(@streams))) . "', '" . any('guava', 'redisbloom', 'parquet') . "', '" . any('utf8', 'bytes', 'int') . "');" },
	sub { return "INSERT INTO came (f) SELECT '\\x" . unpack('H*', mutate(any(@streams))) . "'::bytea::bloomfilter;" },
	sub { return "INSERT INTO came (f) SELECT bf_import_bits('\\x" . unpack('H*', mutate(any(@streams))) . "', '" . any('redis', 'bitset') . "', " . any(1, 64, 100, 2**40) . ', ' . any(1, 7, 255) . ", '" . any(@strategies) . "', 'utf8');" });

my $opened = 0;

sub values_changed
{
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS came; CREATE TABLE came (id int GENERATED ALWAYS AS IDENTITY, f bloomfilter)');
	note_wrong($server->run($allowed, [ map { any(@ways)->($_) } 1 .. 300 ]));
	my $rows = $node->safe_psql('postgres', 'SELECT coalesce(max(id), 0) FROM came');
	$opened += $node->safe_psql('postgres', 'SELECT count(*) FROM came');
	# An id for each row that came, some were passed over.
	my @ids = split /\n/, $node->safe_psql('postgres', 'SELECT id FROM came ORDER BY random() LIMIT 40');
	my @statements = map { my $id = $_; map { "SELECT count(x) FROM (SELECT $_ AS x FROM came WHERE id = $id OFFSET 0) s;" } @calls } @ids;
	note_wrong($server->run($allowed, \@statements));
	return;
}

my $texts = 0;
for (my $end = time + $seconds; time < $end && $wrong < 20;)
{
	$texts += invalid_text() for 1 .. 3;
	values_changed();
}
is($wrong, 0, 'no report, and no error that says nothing');
cmp_ok($opened, '>', 50, "values opened: $opened");
diag sprintf '%s; %d with invalid text, %d values opened', $server->summary, $texts, $opened;
$node->stop;
done_testing();
