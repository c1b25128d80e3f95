# What servers answer, and arrays of many elements: work and memory are bounded.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use FaultServer;
use RedisTest;

my ($redis, $node) = start_servers('jit = off');


# Answers that are small on the wire and large in memory.
my %blobs = (integer => ":2\r\n", nil => "\$-1\r\n", empty => "\$0\r\n\r\n", status => "+\r\n", array => "*0\r\n");
my $size = 20_000_000;
# What is just not too much, or just is; of elements, as soon as they are announced.
my ($larger, $other) = ('The reply is larger than any that was requested.', 'A string was expected.');
my %exact = (
	'elements' => [ "*262145\r\n", $larger ], 'elements within' => [ "*2\r\n*262143\r\n", $larger ],
	'made' => [ "*65536\r\n" . "\$-1\r\n" x 65536, $larger ], 'fewer made' => [ "*65535\r\n" . "\$-1\r\n" x 65535, $other ],
	'bits' => [ "*70000\r\n" . ":1\r\n" x 70000, $other ],
	'depth' => [ "*1\r\n" x 4, $larger ], 'less depth' => [ "*1\r\n" x 3 . ":1\r\n", $other ]);
my %starts = (plain => '', 'by LF' => "x\n", 'by CR' => "x\r", 'by LF and CR' => "x\n\r");
my $wire = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	return FaultServer::ok() if $name eq 'PING';
	my ($key) = grep { /^(blob|exact|line|twice|once|never|silent):/ } @arguments;
	my ($kind, $what) = split /:/, $key // ':';
	my $description = FaultServer::array(FaultServer::bulk('string'), FaultServer::bulk("\1\5\0\0\0\4"),
		FaultServer::integer(38), (FaultServer::bulk(undef)) x ($name eq 'EVAL' ? $arguments[1] - 1 : 0));
	return '' if $kind eq 'silent';
	if ($name eq 'EVAL' && $arguments[0] =~ /'TYPE'/)
	{
		append_to_file($log, "describe\n") if $kind eq 'never';
		return $description;
	}
	return "+$starts{$what}" . 'x' x $size if $kind eq 'line';
	# The head and k for each element; 1 is no head that was described.
	return FaultServer::array(FaultServer::integer($kind eq 'never' ? 1 : 1 * 2**40 + 5 * 2**32 + 4),
		(":1\r\n") x ((@arguments - 4) / 3)) x ($kind eq 'twice' ? 2 : 1) if $name eq 'BITFIELD_RO';
	return FaultServer::bulk(undef) if $kind eq 'never';
	return ":1\r\n" unless $name eq 'GET';
	return $exact{$what}[0] if $kind eq 'exact';
	my $array = "*60000\r\n" . $blobs{$what} x 60000;
	return "*60000\r\n" . $array x ($size / length $array);
});
server('wire', $wire->{port}, ", command_timeout '3000'");
for my $what (sort keys %blobs)
{
	my ($state, $grown) = reverse split / /, session("SELECT peak() AS before \\gset\nSELECT bf_fetch('wire', 'blob:$what');\nSELECT peak() - :before");
	is($state, '08P01', "20 MB of $what: refused");
	takes_below($grown, 4 * $size / 1e6 + 16, "and take little memory ($grown MB)");
}
for my $what (sort keys %exact)
{
	my ($status, $out, $err) = $node->psql('postgres', "SELECT bf_fetch('wire', 'exact:$what')");
	like($err, qr/^DETAIL:  \Q$exact{$what}[1]\E$/m, "bounds: $what");
}
for my $start (sort keys %starts)
{
	my ($status, $out, $err) = $node->psql('postgres', "SELECT bf_fetch('wire', 'line:$start')");
	like($err, qr/^DETAIL:  A line of the reply is longer than any that was requested\.$/m, "a line without an end is not waited for, $start");
}

# An answer too many: it is not the next command's, nor is the one before it
# surely this one's.
is(session("SELECT 1, bf_redis_contains('wire', 'twice:', 'x'); SELECT 2, bf_redis_contains('wire', 'once:', 'x')"),
	'2|t 08P01', 'two answers to one command');

# What is neither 0 nor 1 says neither that a bit is set nor that it is not.
my $odd = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	return FaultServer::ok() if $name =~ /^(PING|MULTI)$/;
	my ($native) = grep { /native/ } @arguments;
	return FaultServer::array(FaultServer::bulk($native ? 'MBbloom--' : 'string'), FaultServer::bulk("\1\5\0\0\0\4"),
		FaultServer::integer(38), (FaultServer::bulk(undef)) x ($arguments[1] - 1)) if $name eq 'EVAL';
	return FaultServer::array(FaultServer::integer(1 * 2**40 + 5 * 2**32 + 4), (FaultServer::integer(2)) x 5) if $name eq 'BITFIELD_RO';
	return FaultServer::array(FaultServer::integer(1), FaultServer::array(FaultServer::integer(-1))) if $name eq 'EXEC';
	return "+QUEUED\r\n";
});
server('odd', $odd->{port});
is(session("SELECT bf_redis_contains('odd', 'string', 'x')"), '08P01', 'a bit that is 2');
is(session("SELECT bf_redis_contains('odd', 'native', 'x')"), '08P01', 'an answer of RedisBloom that is -1');

# An answer that is short of elements says nothing of the rest.
my %fields = (layout => 'bitmap', strategy => 'guava', bits => 64, hashes => 1, expected => '', fpp => '', funnel => 'utf8');
my $short = FaultServer->new(sub {
	my ($state, $name, $script, $count, @arguments) = @_;
	return FaultServer::ok() if $name eq 'PING';
	return FaultServer::bulk('1') if $script !~ /'TYPE'/;
	my ($key, @beside) = splice @arguments, 0, $count;
	splice @arguments, 0, 1 + 2 * $arguments[0];
	return FaultServer::array(FaultServer::bulk('string'), FaultServer::bulk("\0" x 8), FaultServer::integer(8), map {
		my @names = splice @arguments, 0, 1 + $arguments[0];
		splice @arguments, 0, 2 + $arguments[1] if @names > 1; # which is a witness, of what
		$_ eq '{short}:bloomext' ? FaultServer::array((map { FaultServer::bulk($fields{$_}) } @names[1 .. $#names]), FaultServer::integer(0)) : FaultServer::bulk(undef)
	} @beside);
});
server('short', $short->{port});
is(session("SELECT bf_redis_contains('short', 'short', 'x'); SELECT bf_redis_contains_each('short', 'short', ARRAY['x', 'y'])"), 't 08P01', 'one answer for two elements');

# A time-out is no error that WHEN OTHERS catches; as the documentation says.
server('hasty', $wire->{port}, ", command_timeout '100'");
for my $condition ('OTHERS', 'query_canceled OR OTHERS')
{
	is(session("DO \$\$ BEGIN PERFORM bf_redis_contains('hasty', 'silent:', 'x'); EXCEPTION WHEN $condition THEN RAISE 'HV000' USING ERRCODE = 'HV000'; END \$\$"),
		$condition eq 'OTHERS' ? '57014' : 'HV000', "a time-out in PL/pgSQL: WHEN $condition");
}

# A filter that is another one whenever it is asked for.
my $elements = "(SELECT array_agg(i::text) FROM generate_series(1, 200) i)";
said();
is(session("SELECT bf_redis_contains_each('wire', 'never:', $elements)"), '55006', 'a filter that never stays the same');
cmp_ok(said() =~ tr/\n//, '<=', 22, 'is given up, however many elements there are');
like(($node->psql('postgres', "SELECT bf_redis_contains_each('wire', 'never:', $elements)"))[2],
	qr/ERROR:  filter at key "never:" is being changed concurrently\nHINT:  Try again\.$/m, 'and says what to do');
is(session("SELECT bf_redis_contains('wire', 'never:', 'x')"), '55006', 'nor is it believed by the bits that came with its head');

# Filters that grow while they are added to: traffic and memory do not grow with
# layers times elements.
sub received { return $redis->cli('INFO', 'stats') =~ /total_net_input_bytes:(\d+)/ ? $1 : die }
sql("SELECT bf_redis_create('cache', 'grow', 100, 0.001, expansion => 1)");
my $before = received();
my $grown = sql("SELECT bf_redis_add_each('cache', 'grow', ARRAY['x']);
	SELECT peak() AS before \\gset
	SELECT count(*) FILTER (WHERE NOT a) < 1000 FROM unnest(bf_redis_add_each('cache', 'grow', (SELECT array_agg('title ' || i) FROM generate_series(1, 5000) i))) a;
	SELECT peak() - :before");
my $sent = int((received() - $before) / 1e6);
like($grown, qr/^\{t\}\nt\n\d+$/, 'elements that make a filter grow are added');
cmp_ok($sent, '<', 4, "5,000 of them: $sent MB");
is(sql("SELECT bool_and(a) FROM unnest(bf_redis_contains_each('cache', 'grow', (SELECT array_agg('title ' || i) FROM generate_series(1, 5000) i))) a"), 't', 'and all are found');

# Arrays: pieces meet, NULLs stay in their places, memory does not grow.
sql("SELECT bf_redis_create('cache', 'pieces', 100000, 0.5)");
for my $count (0, 1, 65535, 65536, 65537, 131072, 140000)
{
	is(sql("WITH e AS (SELECT array_agg(CASE WHEN i % 7 <> 3 THEN i END ORDER BY i) AS e FROM generate_series(1, $count) i)
			SELECT coalesce(cardinality(bf_redis_add_each('cache', 'pieces', coalesce(e, '{}'))), 0),
				(SELECT count(*) FROM unnest(bf_redis_contains_each('cache', 'pieces', coalesce(e, '{}'))) WITH ORDINALITY a(a, i)
				 WHERE a IS DISTINCT FROM CASE WHEN i % 7 <> 3 THEN true END) FROM e"), "$count|0", "$count elements");
}
is(sql("SELECT bf_redis_contains_each('cache', 'pieces', '[0:1][3:4]={{1,2},{NULL,4}}'::int[])"), '[0:1][3:4]={{t,t},{NULL,t}}', 'of more dimensions and other bounds');
is(session("SELECT bf_redis_contains_each('cache', 'missing', '{}'::int[])"), '42704', 'nothing asked of nothing');
sql("CREATE TABLE numbers AS SELECT array_agg((i % 30000)::smallint) AS a FROM generate_series(1, 1000000) i");
my $array = sql("SELECT bf_redis_contains_each('cache', 'pieces', ARRAY[1::smallint]);
	SELECT cardinality(a) AS known, peak() AS before FROM numbers \\gset
	SELECT cardinality(bf_redis_contains_each('cache', 'pieces', a)) FROM numbers;
	SELECT peak() - :before");
like($array, qr/\n1000000\n\d+$/, 'a million elements');
my ($megabytes) = $array =~ /(\d+)$/;
takes_below($megabytes, 4 * 2 + 16, "of two bytes each take $megabytes MB");

$node->stop;
done_testing();
