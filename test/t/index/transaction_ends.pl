# What becomes of new elements at the end of a transaction, or of a part of it: rows that
# come at pre-commit, conflicts between SERIALIZABLE transactions, and what is rolled back.
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

# The module is first loaded by another extension's pre-commit callback.
my $modules = $test->build_modules;
$sql->(fresh('pc', $kinds{small}) . qq(
	CREATE FUNCTION precommit_arm(text) RETURNS void LANGUAGE C STRICT AS '$modules/precommit', 'precommit_arm';
	CREATE PROCEDURE arm_and_commit(text) LANGUAGE plpgsql AS 'BEGIN PERFORM precommit_arm(\$1); COMMIT; END'));
my $late = q($$INSERT INTO pc (title) SELECT 'late ' || g FROM generate_series(1, 1000) g$$);
foreach my $order ([ 'alone', '', '' ], [ 'after bloomext', q(LOAD 'bloomext';), '' ], [ 'before bloomext', '', q(LOAD 'bloomext';) ])
{
	my ($name, $before, $after) = @$order;
	foreach my $script ("BEGIN; SELECT precommit_arm($late); $after COMMIT", "CALL arm_and_commit($late)",
		"BEGIN; SELECT precommit_arm($late); $after PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'")
	{
		my ($end) = $script =~ /(COMMIT|CALL|PREPARE)/;
		$sql->('TRUNCATE pc');
		$sql->("$before LOAD '$modules/precommit'; @{[ $end eq 'CALL' ? $after : '' ]} $script");
		$is_sql->("at pre-commit: $name, $end", q(SELECT count(*), look('pc') FROM pc), "1000|$fine");
	}
}

# SERIALIZABLE transactions that look for what the other one inserts, before
# that is stored.
my ($one, $two) = ($test->session, $test->session);
my $lookup = q(SELECT bf_live_contains('ser', 'x'));
foreach my $case (
	[ 'a lookup', $lookup ],
	[ 'bf_live_filter', q(SELECT bf_contains(bf_live_filter('ser'), 'x')) ],
	[ 'bf_live_info', q(SELECT bits_set + pending > 0 FROM bf_live_info('ser')) ],
	[ 'bf_live_verify', q(SELECT missing > 0 FROM bf_live_verify('ser')) ],
	[ 'PREPARE', $lookup, q(PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p') ],
	[ 'stored in the middle', $lookup, q(INSERT INTO full_up (title) SELECT g::text FROM generate_series(1, 70000) g; COMMIT) ])
{
	my ($name, $look, $end) = @$case;
	$sql->(fresh('ser', $kinds{large}, 0) . fresh('full_up', $kinds{small}, 0));
	foreach ($one, $two)
	{
		is($_->ask("BEGIN ISOLATION LEVEL SERIALIZABLE; $look"), 'f', "SERIALIZABLE: $name: there is none");
		$_->ask(q(INSERT INTO ser (title) VALUES ('x')));
	}
	my $said = $one->ask($end // 'COMMIT') . $two->ask('COMMIT') . $two->ask('ROLLBACK');
	like($said, qr/40001/, "SERIALIZABLE: $name: one of two has to give way");
	$is_sql->("SERIALIZABLE: $name: one row", q(SELECT count(*) FROM ser WHERE title = 'x'), '1');
}
$_->quit foreach $one, $two;

# What was rolled back is forgotten.
my $truncated = 'BEGIN TRUNCATE sv; INSERT INTO sv (title) SELECT r || g::text FROM generate_series(1, 60000) g; RAISE division_by_zero;
	EXCEPTION WHEN division_by_zero THEN NULL; END;';
my $said = $test->said(fresh('sv', 'expected = 1000000, fpp = 0.0001', 0) . qq(
	BEGIN; INSERT INTO sv (title) VALUES ('one');
	DO \$\$ BEGIN FOR r IN 1 .. 40 LOOP $truncated END LOOP;
		RAISE NOTICE 'memory: %', (SELECT sum(total_bytes) FROM pg_backend_memory_contexts);
	END \$\$;
	COMMIT));
cmp_ok($said =~ /memory: (\d+)/ ? $1 : 'none', '<', 12e6, 'rolled back: memory of a transaction');
$is_sql->('rolled back: the filter is as full as one row makes it', q(SELECT bits_set <= hashes, look('sv') FROM bf_live_info('sv')), "t|$fine");
my $each = 'BEGIN INSERT INTO sv (title) VALUES (g::text); IF g % 3 = 0 THEN RAISE division_by_zero; END IF;
	EXCEPTION WHEN division_by_zero THEN NULL; END;';
$is_sql->('rolled back: 100,000 savepoints', qq(DO \$\$ BEGIN FOR g IN 1 .. 100000 LOOP $each END LOOP; END \$\$;
	SELECT estimated_count BETWEEN 66000 AND 67400, look('sv') FROM bf_live_info('sv')), "t|$fine");
my $nested = join "\n", 'BEGIN;', map { "SAVEPOINT s$_; INSERT INTO sv (title) VALUES ('open $_');" } 1 .. 10000;
$is_sql->('rolled back: 10,000 open savepoints', "$nested ROLLBACK TO s9001; SELECT denied('sv'); COMMIT;
	SELECT count(*), look('sv') FROM sv WHERE title LIKE 'open%'", "0; 9000|$fine");

# What "no" does not say is said.
$is_sql->('the comment says what "no" does not say', q(SELECT DISTINCT obj_description(oid, 'pg_proc') ~ 'statement' FROM pg_proc WHERE proname = 'bf_live_contains'), 't');

$node->stop;
done_testing();
