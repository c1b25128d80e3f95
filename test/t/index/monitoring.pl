# The view of all live filters, and the function of all stored ones, wait for nobody
# and fail for none: what is
# locked, dropped, damaged, or not to be had from here has a reason, and all
# others are told of as ever.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use Test::More;
use Time::HiRes 'time';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use LiveTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', qq(
autovacuum = off
shared_buffers = 16MB
));
$node->start;
my $block = $node->safe_psql('postgres', 'SHOW block_size');
my $test = LiveTest->new($node);
my $is_sql = sub { return $test->is_sql(@_); };
$test->install;
$test->sql(q(
	-- What the view says, in a line for each filter.
	CREATE FUNCTION seen(pattern text) RETURNS SETOF text LANGUAGE sql AS $$
		SELECT concat_ws(' | ', index, estimated_count IS NOT NULL, due, reason) FROM bf_live_filters
		WHERE index::text ~ pattern ORDER BY index::text $$;
));

sub fresh
{
	my ($tab, $options, $rows) = @_;
	$rows //= 1000;
	return qq(
		CREATE TABLE $tab (title text);
		INSERT INTO $tab SELECT 'row ' || g FROM generate_series(1, $rows) g;
		CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title) WITH ($options);
	);
}

my $small = 'expected = 100000, fpp = 0.0001';
my $large = 'expected = 2000000, fpp = 0.0001';
$test->sql(fresh($_, $small)) foreach 'bystander', 'a', 'b', 'c';

# Locked: by what is under way, and by what others wait for.
my ($one, $two) = ($test->session, $test->session);
my $impatient = 'SET lock_timeout = 1;';
my $others = 'b_bf | t | nothing; bystander_bf | t | nothing; c_bf | t | nothing';
foreach my $case (
	[ 'REINDEX', 'REINDEX INDEX a_bf', qr/a_bf \| f \| is locked by another session/ ],
	[ 'DROP INDEX', 'DROP INDEX a_bf', qr/a_bf \| f \| is (of a table that is )?locked by another session/ ],
	[ 'DROP TABLE', 'DROP TABLE a', qr/a_bf \| f \| is of a table that is locked by another session/ ],
	[ 'TRUNCATE', 'TRUNCATE a', qr/a_bf \| f \| is of a table that is locked by another session/ ])
{
	my ($name, $statement, $expected) = @$case;
	$one->ask("BEGIN; $statement");
	my ($out, $err) = $test->outcome("$impatient SELECT seen('_bf')");
	like($out, qr/^$expected; \Q$others\E$/, "$name under way") or diag $err;
	$one->ask('ROLLBACK');
}
$one->ask("BEGIN; SELECT count(*) FROM a");
$two->start('BEGIN; LOCK TABLE a IN ACCESS EXCLUSIVE MODE');
$test->wait_for_lock('%LOCK TABLE a%');
$is_sql->('others wait for the lock', "$impatient SELECT seen('_bf')",
	"a_bf | f | is of a table that is locked by another session; $others");
$one->ask('COMMIT');
$two->finish;
like($two->ask("SELECT seen('^a_bf')"), qr/^a_bf \| t \| nothing$/, 'whoever has it locked is told');
$two->ask("COMMIT");

# Being built concurrently, and left behind by a build that failed.
$one->ask("BEGIN; INSERT INTO c VALUES ('x')");
$two->start("CREATE INDEX CONCURRENTLY built_bf ON c USING bloomfilter (title)");
$test->wait_for_lock('%CONCURRENTLY built_bf%');
like($test->sql("$impatient SELECT seen('built_bf')"), qr/^built_bf \| f \| live filter "built_bf" is not valid\. Wait/, 'CREATE INDEX CONCURRENTLY');
$one->ask('COMMIT');
$two->finish;
$is_sql->('it is built', q(SELECT seen('built_bf'); DROP INDEX built_bf), 'built_bf | t | nothing');

# Dropped after the statement's snapshot was taken.
$one->ask("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
$test->sql('DROP INDEX b_bf; DROP TABLE c');
is($one->ask("SELECT concat_ws(' | ', index, relation, due, reason) FROM bf_live_filters WHERE reason = 'was dropped' ORDER BY relation"),
	join('; ', map { $one->ask("SELECT concat_ws(' | ', indexrelid, indrelid::regclass, 'was dropped') FROM pg_index
		JOIN pg_class c ON c.oid = indexrelid WHERE relname = '${_}_bf'") } 'b', 'c'),
	'dropped meanwhile');
$one->ask('COMMIT');
$is_sql->('and gone', q(SELECT seen('_bf')), 'a_bf | t | nothing; bystander_bf | t | nothing');

# Temporary tables are their sessions'.
$one->ask("CREATE TEMPORARY TABLE tmp (title text); CREATE INDEX tmp_bf ON tmp USING bloomfilter (title)");
is($one->ask(q(SELECT seen('tmp_bf'))), 'tmp_bf | t | nothing', 'an own temporary table');
like($test->sql(q(SELECT seen('tmp_bf'))), qr/\.tmp_bf \| f \| is of a temporary table of another session$/, 'another session\'s temporary table');

# Stored filters: of a table that is locked, dropped meanwhile, or another session's.
$test->sql("CREATE $_ (f bloomfilter)") foreach 'TABLE stored1', 'TABLE stored2', 'UNLOGGED TABLE stored3';
my $stored = q(SELECT string_agg(concat_ws(' | ', relation, col, filters, due, reason), '; ' ORDER BY relation::oid) FROM bf_stored_filters());
my $fine = 'stored2 | f | 0 | nothing; stored3 | f | 0 | nothing';
$one->ask('CREATE TEMPORARY TABLE stored4 (f bloomfilter)');
is($one->ask($stored), "stored1 | f | 0 | nothing; $fine; stored4 | f | 0 | nothing", 'an own temporary table of filters');
$one->ask('BEGIN; LOCK TABLE stored1 IN ACCESS EXCLUSIVE MODE');
is($test->sql("$impatient $stored"), "stored1 | f | is of a table that is locked by another session; $fine", 'a table of filters that is locked');
$one->ask('ROLLBACK');
$one->ask('BEGIN; ALTER TABLE stored2 ALTER f TYPE text USING NULL');
is($test->sql("$impatient $stored"), 'stored1 | f | 0 | nothing; stored2 | f | is of a table that is locked by another session; stored3 | f | 0 | nothing', 'or altered');
$one->ask('COMMIT');
is($test->sql($stored), 'stored1 | f | 0 | nothing; stored3 | f | 0 | nothing', 'a column of filters no more');
$test->fails('statement_timeout', q(INSERT INTO stored1 SELECT bf_create(1000000) FROM generate_series(1, 500);
	SET statement_timeout = 5; SELECT count(*) FROM bf_stored_filters()), '57014');
$test->sql('TRUNCATE stored1');

# What a filter takes, beside its table: the index of a TOAST table, which a REINDEX
# has locked, the type of a column in an expression, which a new session looks up, and a
# catalog of another extension.
my $needs = 'is locked by another session, or depends on something that is';
$test->sql(q(INSERT INTO stored1 SELECT bf_agg(md5(g::text), 5000, 0.001) FROM generate_series(1, 5000) g));
$one->ask('BEGIN; REINDEX TABLE stored1');
my $patient = "SET statement_timeout = '30s';";
$is_sql->('a TOAST table that is reindexed', "$patient $stored", "stored1 | f | $needs; stored3 | f | 0 | nothing");
$one->ask('ROLLBACK');
$test->sql(q(TRUNCATE stored1; CREATE TABLE kind (title text, n int); CREATE TABLE composite (k kind);
	CREATE INDEX composite_bf ON composite USING bloomfilter (((k).title))));
$one->ask('BEGIN; LOCK TABLE kind');
$is_sql->('a type that is locked', "$patient SELECT seen('composite_bf|bystander')", "bystander_bf | t | nothing; composite_bf | f | $needs");
$one->ask('ROLLBACK; DROP TABLE composite, kind');
$test->sql(q(CREATE SCHEMA _timescaledb_catalog; CREATE TABLE _timescaledb_catalog.chunk (schema_name name, table_name name, compressed_chunk_id int)));
$one->ask('BEGIN; LOCK TABLE _timescaledb_catalog.chunk');
$is_sql->('a catalog that says where rows are', "$patient SELECT seen('bystander')", "bystander_bf | f | $needs");
$one->ask('ROLLBACK; DROP SCHEMA _timescaledb_catalog CASCADE');
is($test->sql("SELECT seen('bystander')"), 'bystander_bf | t | nothing', 'none any more');

# A partition on its way out: the whole is not sure, which is what is answered.
$test->sql(q(CREATE TABLE leaving (id int) PARTITION BY LIST (id); CREATE TABLE leaving1 PARTITION OF leaving FOR VALUES IN (1);
	CREATE TABLE leaving2 PARTITION OF leaving FOR VALUES IN (2); CREATE INDEX leaving_bf ON leaving USING bloomfilter (id)));
my $leaves = q(SET client_min_messages = error; SELECT bf_live_contains('leaving_bf', 7), due, maybe IS NOT NULL FROM bf_live_filters WHERE index = 'leaving_bf'::regclass);
is($test->sql($leaves), 'f|nothing|f', 'a partitioned filter');
$one->ask('BEGIN; SELECT count(*) FROM leaving1');
$two->start('ALTER TABLE leaving DETACH PARTITION leaving1 CONCURRENTLY');
$test->wait_for_lock('%DETACH PARTITION%');
is($test->sql($leaves), 't||t', 'while a partition of it is detached');
$one->ask('COMMIT');
$two->finish;
is($test->sql($leaves), 'f|nothing|f', 'and then');
$test->sql('DROP TABLE leaving, leaving1');

# Emptied in place by what was rolled back.
my $space = $node->basedir . '/space';
mkdir $space or die "$space: $!";
$test->sql("CREATE TABLESPACE space LOCATION '$space'");
$is_sql->('emptied', fresh('emptied', $small) . q(
	BEGIN; ALTER TABLE emptied SET TABLESPACE space; TRUNCATE emptied; ROLLBACK;
	SELECT seen('emptied'); VACUUM emptied; SELECT seen('emptied');
	SELECT unnest(action) FROM bf_live_filters WHERE index = 'emptied_bf'::regclass \gexec
	SELECT seen('emptied')),
	'emptied_bf | t | REINDEX | was emptied by a TRUNCATE that has been, or may have been, rolled back; ' x 2 . 'emptied_bf | t | nothing');
$test->sql('DROP TABLE emptied; DROP TABLESPACE space');

# VACUUM says the same, of all layers.
$test->sql(q(CREATE TABLE layered (id int); CREATE INDEX alike ON layered USING bloomfilter (id) WITH (expected = 2000, expansion = 1);
	CREATE INDEX no_more ON layered USING bloomfilter (id) WITH (expected = 10, expansion = 1, fpp = 0.001);
	CREATE INDEX of_size ON layered USING bloomfilter (id) WITH (expected = 2000);
	INSERT INTO layered SELECT generate_series(1, 9000)));
my $said = $test->said('VACUUM (VERBOSE) layered');
like($said, qr/INFO:  live filter "alike" has \d+\.\d % of its bits set\nDETAIL:  It holds about \d+ elements in [4-6] layers, was sized for (8|10|12)000, and has/,
	'VACUUM (VERBOSE) over layers');
like($said, qr/INFO:  live filter "of_size" has \d+\.\d % of its bits set\nDETAIL:  It holds about \d+ elements, was sized for 2000, and has/, 'and of one size');
like($said, qr/WARNING:  live filter "no_more" is over-full.*\nDETAIL:  .* at least \d+ elements in 64 layers, was sized for 640, .*\nHINT:  Use REINDEX INDEX CONCURRENTLY public.no_more to rebuild/,
	'a warning of one that can have no more layers');
unlike($said, qr/"alike" is over-full/, 'none of one whose layers are as full as they were made for');
my ($hint) = $said =~ /WARNING:  live filter "of_size" is over-full.*\nDETAIL:.*\nHINT:  Use (ALTER INDEX .*), then REINDEX/;
is($test->sql(q(SELECT array_to_string(action, '; ') FROM bf_live_filters WHERE index = 'of_size'::regclass)), "$hint; REINDEX INDEX CONCURRENTLY public.of_size",
	'the hint is the action');
$test->sql('DROP TABLE layered');

# A type that cannot be an element.
SKIP:
{
	skip 'no citext', 1 unless $test->sql(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'));
	$is_sql->('citext', fresh('ci', $small) . q(CREATE EXTENSION citext; ALTER TABLE ci ALTER title TYPE citext;
		SELECT seen('ci_bf'); DROP TABLE ci),
		'ci_bf | f | live filter "ci_bf" has a column of a type that cannot be an element. Drop it, and create one on an expression, e.g. lower(title::text COLLATE "default").');
}

# Damaged: each page, by what PostgreSQL checks and by what we do.
sub patch
{
	my ($path, $offset, $bytes) = @_;
	open my $file, '+<:raw', $node->data_dir . "/$path" or die "$path: $!";
	seek $file, $offset, 0;
	print $file $bytes;
	close $file or die "$path: $!";
}
my @damage = (
	[ 'meta_checksum', $small, sub { patch($_[0], 100, 'damage') }, 'invalid page in block 0 of relation .*' ],
	[ 'data_checksum', $small, sub { patch($_[0], $block + 100, 'damage') }, 'invalid page in block 1 of relation .*' ],
	[ 'pending_checksum', $large, sub { patch($_[0], $block + 100, 'damage') }, 'invalid page in block 1 of relation .*' ],
	[ 'no_file', $small, sub { unlink $node->data_dir . "/$_[0]" or die }, 'could not open file .*' ],
	[ 'no_blocks', $small, sub { truncate $node->data_dir . "/$_[0]", 0 or die }, 'has lost the contents of its file' ]);
my @own = (
	[ 'meta_field', $small, sub { patch($_[0], 40, "\xff") }, 'block 0 of live filter "meta_field_bf" is corrupted' ],
	[ 'meta_zeros', $small, sub { patch($_[0], 0, "\0" x $block) }, 'block 0 of live filter "meta_zeros_bf" is corrupted' ],
	[ 'older', $small, sub { patch($_[0], 28, "\2") }, 'live filter "older_bf" has format 2, but only format \d+ is supported' ],
	[ 'data_kind', $small, sub { patch($_[0], 2 * $block - 8, "\2") }, 'block 1 of live filter "data_kind_bf" is corrupted' ],
	[ 'data_lower', $small, sub { patch($_[0], $block + 12, "\1") }, 'block 1 of live filter "data_lower_bf" has corrupted page pointers.*' ],
	[ 'pending_lower', $large, sub { patch($_[0], $block + 12, "\x38") }, 'block 1 of live filter "pending_lower_bf" has corrupted page pointers.*' ]);
$test->sql(fresh($$_[0], $$_[1]) . "INSERT INTO $$_[0] SELECT 'few ' || g FROM generate_series(1, 20) g") foreach @damage, @own;
my %path = map { $$_[0] => $test->sql("SELECT pg_relation_filepath('$$_[0]_bf')") } @damage, @own;
$one->quit;
$two->quit;
sub damaged
{
	foreach my $case (@_)
	{
		my ($name, undef, undef, $reason) = @$case;
		like($test->sql("SELECT seen('^${name}_bf')"), qr/^${name}_bf \| f \| REINDEX \| $reason$/, "$name: the reason");
		is($test->sql("SELECT maybe IS NOT NULL FROM bf_live_filters WHERE index = '${name}_bf'::regclass"), $name eq 'no_blocks' ? 't' : 'f',
			"$name: whether it is asked in vain");
		$is_sql->("$name: the remedy", qq(SELECT unnest(action) FROM bf_live_filters WHERE index = '${name}_bf'::regclass \\gexec
			SELECT seen('^${name}_bf'); SELECT look('$name')), "${name}_bf | t | nothing; 0 denied, sure, 0 missing");
	}
}
$node->stop;
$$_[2]->($path{$$_[0]}) foreach @damage;
$node->start;
like($test->sql(q(SELECT string_agg(s, '; ') FROM seen('_bf') s)), qr/a_bf \| t \| nothing; bystander_bf \| t \| nothing;.*older_bf \| t \| nothing/,
	'others are told of');
$is_sql->('nothing is left of what failed', q(
	BEGIN; SELECT count(*) > 1 FROM bf_live_filters WHERE due = 'REINDEX';
	SELECT count(*) FROM pg_locks JOIN pg_class c ON c.oid = relation WHERE pid = pg_backend_pid() AND relname ~ '_bf$'; COMMIT), 't; 0');
damaged(@damage);
$node->stop;
system_log('pg_checksums', '--disable', '-D', $node->data_dir);
$$_[2]->($path{$$_[0]}) foreach @own;
$node->start;
damaged(@own);

# A standby: what it cannot read, and the same of all else.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$test->sql(q(CREATE UNLOGGED TABLE volatile (title text); CREATE INDEX volatile_bf ON volatile USING bloomfilter (title)));
$test->sql(q(CREATE TABLE half_volatile (id int) PARTITION BY LIST (id); CREATE UNLOGGED TABLE half_volatile1 PARTITION OF half_volatile FOR VALUES IN (1);
	CREATE INDEX half_volatile_bf ON half_volatile USING bloomfilter (id)));
$test->sql(fresh('growing', 'expected = 10000, expansion = 2', 50000));
$test->sql(q(INSERT INTO growing SELECT 'more ' || g FROM generate_series(1, 100000) g));
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
my $numbers = q(SELECT index, estimated_count, expected, fill, estimated_fpp, layers, due FROM bf_live_filters
	WHERE index::text !~ 'volatile' ORDER BY index::text);
is($standby->safe_psql('postgres', $numbers), $test->sql($numbers), 'a standby says what its primary does');
like($test->sql($numbers), qr/^growing_bf\|1[45]\d{4}\|\d+\|0\.\d+\|[\d.e-]+\|2\|nothing$/m, 'of layers, too');
is($standby->safe_psql('postgres', q(SELECT seen('^volatile'))), 'volatile_bf | f | is unlogged, and empty on a standby', 'an unlogged one');
like($standby->safe_psql('postgres', q(SELECT seen('half_volatile_bf'))), qr/^half_volatile_bf \| f \| cannot access temporary or unlogged relations during recovery$/, 'one of a partition that is');
is($test->sql(q(SELECT seen('volatile_bf'))), "half_volatile_bf | f | nothing\nvolatile_bf | t | nothing", 'which its primary can read');
is($standby->safe_psql('postgres', $stored), 'stored1 | f | 0 | nothing; stored3 | f | is of an unlogged table, which is empty on a standby', 'stored filters on a standby');
$standby->stop;

# Cancelling is no filter's fault.
$test->fails('statement_timeout', q(SET statement_timeout = 20; SELECT count(bf_live_state('a_bf')) FROM generate_series(1, 10000000)), '57014');

# Many, in one call, and one that is large: what is looked at is a sample.
$test->sql(q(DO $$ BEGIN FOR i IN 1 .. 300 LOOP
		EXECUTE format('CREATE TABLE many%s AS SELECT generate_series(1, 200) AS id; CREATE INDEX ON many%1$s USING bloomfilter (id)', i);
	END LOOP; END $$));
$test->sql(fresh('vast', 'expected = 20000000, fpp = 0.0001', 100000));
$is_sql->('300 filters', q(SET statement_timeout = '10s'; SELECT count(*), count(estimated_count), sum(estimated_count) FROM bf_live_filters
	WHERE index::text LIKE 'many%'), '300|300|60000');

# Pages that a statement asks for, and those that it read.
sub pages
{
	my ($statement) = @_;
	my $plan = $test->sql("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) $statement");
	my ($hit) = $plan =~ /shared hit=(\d+)/;
	my ($read) = $plan =~ /read=(\d+)/;
	return (($hit // 0) + ($read // 0));
}
my $state = pages(q(SELECT bf_live_state('vast_bf')));
my $info = pages(q(SELECT bf_live_info('vast_bf')));
cmp_ok($info, '>', 5000, 'a large filter') or diag $info;
cmp_ok($state, '<', 400, 'of which few pages are looked at') or diag $state;
SKIP:
{
	skip 'rings are larger from 18 on', 1 if $test->sql('SHOW server_version_num') >= 180000;
	skip 'no pg_buffercache', 1 unless $test->sql(q(SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_buffercache'));
	$test->sql('CREATE EXTENSION pg_buffercache');
	$node->restart;
	my $kept = $test->sql(q(SELECT bf_live_state('vast_bf') IS NULL; SELECT count(*) FROM pg_buffercache
		WHERE relfilenode = pg_relation_filenode('vast_bf') AND reldatabase = (SELECT oid FROM pg_database WHERE datname = 'postgres')));
	like($kept, qr/^f\n([1-9]|[1-3]\d|40)$/, 'through a ring of few buffers') or diag $kept;
}
SKIP:
{
	skip 'nothing counts the bytes of reads before PostgreSQL 18', 1 if $test->sql('SHOW server_version_num') < 180000;
	$node->restart;
	my $bytes = $test->sql(q(SELECT bits_set > 0, pg_stat_force_next_flush() FROM bf_live_info('vast_bf');
		SELECT round(sum(read_bytes) / sum(reads)) FROM pg_stat_get_backend_io(pg_backend_pid()) WHERE context = 'bulkread')) =~ s/.*\n//sr;
	cmp_ok($bytes, '>', 64 * 1024, 'a large filter is read many pages at a time') or diag $bytes;
}

# What it costs, relative to counting all bits of filters for a million titles.
$test->sql(fresh('million', 'expected = 1000000, fpp = 0.0001', 1000));
my ($all, $full) = (9, 9);
my $session = $test->session;
foreach (1 .. 5)
{
	my $start = time;
	$session->ask('SELECT count(fill) FROM bf_live_filters');
	my $middle = time;
	$session->ask(q(SELECT count(*) FROM generate_series(1, 300) g, bf_live_info(CASE WHEN g > 0 THEN 'million'::regclass END)));
	($all, $full) = (($all < $middle - $start ? $all : $middle - $start), ($full < time - $middle ? $full : time - $middle));
}
$session->quit;
note sprintf 'the view over 300 small filters takes %.2f of 300 bf_live_info() of a million titles\' filter (%.0f ms)', $all / $full, 1000 * $all;
cmp_ok($all, '<', $full, 'the view takes less than counting bits');

$node->stop;
done_testing();
