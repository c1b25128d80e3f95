# A window of time in Redis: what was added less than a span ago is found, or is an error;
# what is older is gone; and so is a window that nobody adds to.
#
# A day does not pass in a test.  So one tester has slices of a second and the clock of
# Redis, and several sessions; another one has long slices, and has them pass as it likes.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use RedisTest qw(start_servers sql state_of);

my ($redis, $node) = start_servers();
my $seed = $ENV{BLOOMEXT_SEED} // int rand 1e9;
srand $seed;
note "seed $seed";

# ---- Create, add, ask, report, drop ----

is( sql("SELECT bf_redis_create('cache', 'seen', 3000, 0.001, span => '30 days'),
		bf_redis_create('cache', 'seen', 3000, 0.001, span => '30 days', layout => 'window', slices => 30)"),
	't|f', 'created once');
is( sql("SELECT bf_redis_add('cache', 'seen', 'a'), bf_redis_add('cache', 'seen', 'a'),
		bf_redis_contains('cache', 'seen', 'a'), bf_redis_contains('cache', 'seen', 'b'),
		bf_redis_add_each('cache', 'seen', ARRAY['b', NULL, 'a', 'b']),
		bf_redis_contains_each('cache', 'seen', ARRAY['a', NULL, 'b', 'c'])"),
	't|f|t|f|{t,NULL,f,f}|{t,NULL,t,f}', 'adds, says what is new, and finds it');
is( sql("SELECT layout, expected, fpp, layers, estimated_count, ttl_ms / 86400000, elements, has_witness, span, slices,
		slice_fill[1] > 0, slice_fill[2] FROM bf_redis_info('cache', 'seen')"),
	'window|3000|0.001|32|2|31|text|t|30 days|30|t|0', 'says what it is');
is(state_of("SELECT bf_redis_contains('cache', 'seen', 1)"), '22023', 'knows the kind of its elements');
is(sql("SELECT bf_redis_drop('cache', 'seen'), bf_redis_drop('cache', 'seen')"), 't|f', 'dropped');
is($redis->cli('DBSIZE'), 0, 'with all keys');

# ---- What is refused ----

my %refused = (
	"span => '30 days', ttl => '40 days'" => '22023',
	"span => '30 days', expansion => 2" => '22023',
	"span => '30 days', layout => 'window;shards=2'" => '22023',
	"span => '30 days', layout => 'bitmap'" => '22023',
	"span => '30 days', slices => 31" => '22023',
	"span => '30 days', slices => 0" => '22023',
	"span => '-1 day'" => '22023',
	"span => '29 seconds'" => '22023',
	"slices => 3" => '22023',
	"layout => 'window'" => '22023',
	"span => '30 days', fpp => 1" => '22023',
	"span => '30 days', fpp => 0.0" => '22023');
is(state_of("SELECT bf_redis_create('cache', 'refused', 1000, $_)"), $refused{$_}, "refused: $_") for sort keys %refused;
is($redis->cli('DBSIZE'), 0, 'and nothing is left');
sql("SELECT bf_redis_create('cache', 'seen', 3000, span => '3 days', slices => 3)");
is(state_of("SELECT bf_redis_create('cache', 'seen', 3000, span => '6 days', slices => 3)"), '22023', 'another span is another filter');
is(state_of("SELECT bf_mirror(bf_create(10) + 'a', 'cache', 'seen')"), '22023', 'no mirror in its place');
is(state_of("SELECT bf_mirror(bf_create(10) + 'a', 'cache', 'other', 'window')"), '0A000', 'nor as a window');
is(state_of("SELECT bf_fetch('cache', 'seen')"), '0A000', 'nor is it fetched');
like(($node->psql('postgres', "SELECT bf_fetch('cache', 'seen')"))[2], qr/DETAIL:  A value would keep what the filter forgets\.\nHINT:  Use bf_redis_contains/, '... for a reason');
is($redis->cli('EVAL', "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do if redis.call('PTTL', k) < 0 then n = n + 1 end end return n", 0),
	0, 'no key lives for ever');

# Readers of layout guava find no head, which is never a "no".
is($redis->cli('BITFIELD_RO', 'seen', 'GET', 'u48', 0), 0, 'nor is there a head for readers by BITFIELD_RO');

# ---- What is lost is an error, never a "no" ----

my $library = slurp_file("$FindBin::RealBin/../../../src/redis/function/bloomext.lua") =~ s/\A[^\n]*\n//r;

my $hash = '{lost}:bloomext';
sub piece { my ($number) = @_; return '{lost}:bloomext-window-' . $redis->cli('HGET', $hash, 'id') . "-$number"; }
my %events = (
	'a piece evicted' => sub { $redis->cli('DEL', piece(0)) },
	'the last piece evicted' => sub { $redis->cli('DEL', piece(1)) },
	'a piece made anew' => sub { my $length = $redis->cli('STRLEN', piece(0)); $redis->cli('DEL', piece(0)); $redis->cli('SETRANGE', piece(0), $length - 1, "\1") },
	'a piece cut short' => sub { $redis->cli('EVAL', q{redis.call('SET', KEYS[1], redis.call('GETRANGE', KEYS[1], 0, -5))}, 1, piece(1)) },
	'a piece of another window' => sub { $redis->cli('COPY', piece(0) =~ s/lost/twin/r =~ s/-window-\w+/'-window-' . $redis->cli('HGET', '{twin}:bloomext', 'id')/er, piece(0), 'REPLACE') },
	'a clock two slices behind' => sub { $redis->cli('HINCRBY', $hash, 'newest', 2) },
	'a clock far behind' => sub { $redis->cli('HSET', $hash, 'newest', 10**14) },
	'a newest slice beyond what can be counted' => sub { $redis->cli('HSET', $hash, 'newest', '9223372036854775807') },
	'a list for a piece' => sub { $redis->cli('DEL', piece(0)); $redis->cli('RPUSH', piece(0), 1) },
	'the hash evicted' => sub { $redis->cli('DEL', $hash) },
	'the hash behind' => sub { $redis->cli('HINCRBY', $hash, $_, -1) for 'turned', 'newest' },
	'the hash without its newest slice' => sub { $redis->cli('HDEL', $hash, 'newest') },
	'the hash of another window' => sub { $redis->cli('HSET', $hash, 'id', 'other') });
for my $event (sort keys %events)
{
	$redis->cli('FLUSHALL');
	sql("SELECT bf_redis_create('cache', key, 60000, 0.000001, span => '30 years', slices => 3) FROM unnest('{lost, twin}'::text[]) AS key");
	sql("SELECT bf_redis_add_each('cache', 'lost', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i)) IS NOT NULL");
	$events{$event}->();
	for my $way (
		"bf_redis_contains_each('cache', 'lost', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i))",
		"bf_redis_add_each('cache', 'lost', ARRAY(SELECT 't' || i FROM generate_series(1, 1000) AS i))",
		"bf_redis_info('cache', 'lost')")
	{
		like(state_of("SELECT $way"), $event =~ /clock/ ? qr/^38000$/ : qr/^(42704|22P03)$/, "$event: $way");
	}
	like($redis->cli('EVAL', $library, 1, 'lost', 'bloomext_contains', map { "t$_" } 1 .. 1000), qr/^(ERR|WRONGTYPE) /, "$event: bloomext.lua");
}

# ---- Slices that come and go ----

my $checked = 0;
my @wrong;
for my $slices (30, 3)
{
	$redis->cli('FLUSHALL');
	# Two pieces.
	sql("SELECT bf_redis_create('cache', 'moved', 20000 * $slices, 0.000001, span => '30 years', slices => $slices)");
	my %added;
	my $now = 0;
	for my $round (1 .. 80)
	{
		my $passed = rand() < 0.1 ? int rand 100 : int rand 3;
		$now += $passed;
		$redis->cli('EVAL', $RedisServer::pass_slices, 1, '{moved}:bloomext', $passed);
		if (rand() < 0.7)
		{
			my @elements = map { 't' . int rand 3000 } 1 .. 1 + int rand 20;
			sql("SELECT bf_redis_add_each('cache', 'moved', ARRAY[" . join(', ', map { "'$_'" } @elements) . '])');
			$added{$_} = $now for @elements;
		}
		my @asked = sort keys %added or next;
		my ($found) = sql("SELECT bf_redis_contains_each('cache', 'moved', ARRAY[" . join(', ', map { "'$_'" } @asked) . '])') =~ /\{(.*)\}/;
		my @found = split /,/, $found;
		for (0 .. $#asked)
		{
			my $age = $now - $added{ $asked[$_] };
			push @wrong, "$slices slices, round $round, age $age: $found[$_]" if ($found[$_] eq 't') != ($age <= $slices + 1);
			$checked++;
		}
	}
}
is(join("\n", @wrong), '', 'slices that have passed are gone, others are not');
cmp_ok($checked, '>', 1000, "of $checked answers");

# ---- Sessions, and the clock ----

my ($workers, $seconds) = (3, $ENV{BLOOMEXT_SECONDS} // 20);
$redis->cli('FLUSHALL');
sql(q{
	CREATE TABLE tallies (worker int, what text, n bigint);
	CREATE FUNCTION tally(worker int, what text, n bigint) RETURNS void LANGUAGE sql AS $$ INSERT INTO tallies VALUES (worker, what, n) $$;
	CREATE FUNCTION make() RETURNS boolean LANGUAGE sql AS $$
		SELECT bf_redis_create('cache', 'clock', 60000, 0.000001, span => '3 seconds', slices => 3) $$;
	-- Add, ask and wait for some seconds.
	CREATE PROCEDURE work(worker int, seconds float8, seed float8) LANGUAGE plpgsql AS $$
	DECLARE
		ends timestamptz := clock_timestamp() + make_interval(secs => seconds);
		began timestamptz;
		elements text[];
		answers boolean[];
		adds boolean;
		missing boolean;
	BEGIN
		PERFORM setseed(seed);
		CREATE TEMP TABLE added (element text PRIMARY KEY, no_sooner timestamptz, no_later timestamptz);
		WHILE clock_timestamp() < ends LOOP
			adds := random() < 0.4;
			missing := false;
			IF adds THEN
				elements := ARRAY(SELECT DISTINCT worker || '/' || (random() * 2000)::int FROM generate_series(1, 1 + (random() * 100)::int));
			ELSE
				elements := ARRAY(SELECT element FROM added ORDER BY random() LIMIT 500);
			END IF;
			began := clock_timestamp();
			BEGIN
				IF adds THEN
					answers := bf_redis_add_each('cache', 'clock', elements);
				ELSE
					answers := bf_redis_contains_each('cache', 'clock', elements);
				END IF;
			EXCEPTION WHEN undefined_object THEN
				missing := true;
			END;
			PERFORM tally(worker, 'denied', (SELECT count(*) FROM added JOIN unnest(elements, answers) AS asked(e, answer) ON e = element
				WHERE NOT missing AND answer = adds AND no_sooner > clock_timestamp() - interval '3 s'));
			PERFORM tally(worker, 'kept', (SELECT count(*) FROM added JOIN unnest(elements, answers) AS asked(e, answer) ON e = element
				WHERE NOT missing AND answer <> adds AND no_later < began - interval '5 s'));
			PERFORM tally(worker, 'gone', (SELECT count(*) FROM added JOIN unnest(elements, answers) AS asked(e, answer) ON e = element
				WHERE NOT missing AND answer = adds));
			PERFORM tally(worker, 'lost', (SELECT count(*) FROM added WHERE missing AND no_sooner > clock_timestamp() - interval '3 s'));
			IF missing THEN
				DELETE FROM added;
				PERFORM make();
			ELSIF adds THEN
				INSERT INTO added SELECT e, began, clock_timestamp() FROM unnest(elements) AS e
					ON CONFLICT (element) DO UPDATE SET no_sooner = excluded.no_sooner, no_later = excluded.no_later;
				PERFORM tally(worker, 'added', cardinality(elements));
			END IF;
			PERFORM pg_sleep(CASE WHEN random() < 0.02 THEN 3 + random() * 4 ELSE random() * 0.1 END);
		END LOOP;
	END $$});
sql('SELECT make()');
my @running = map {
	my $worker = $_;
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		my $status = $node->psql('postgres', "CALL work($worker, $seconds, " . rand() . ')');
		POSIX::_exit($status);
	}
	$pid;
} 1 .. $workers;
my $failed = grep { waitpid($_, 0); $? != 0 } @running;
is($failed, 0, 'all sessions end well');
my %tally = map { split /\|/ } split /\n/, sql('SELECT what, sum(n) FROM tallies GROUP BY what');
note join ', ', map { "$_: $tally{$_}" } sort keys %tally;
is($tally{denied}, 0, 'nothing is denied that was added less than a span ago');
is($tally{lost}, 0, 'nor is there an error while it lives');
cmp_ok($tally{kept}, '<=', 2, 'what is older than a span and two slices is gone, but for chance');
cmp_ok($tally{gone}, '>', 0, 'some was asked that is gone');
sql("SELECT bf_redis_drop('cache', 'clock'), make(), bf_redis_add('cache', 'clock', 'a')");
sleep 6;
is($redis->cli('DBSIZE'), 0, 'and a window that nobody adds to is gone');
is(state_of("SELECT bf_redis_contains('cache', 'clock', 'a')"), '42704', 'which is an error');

done_testing();
