# Each recipe of doc/recipes.md stands for itself: alone, in an empty database with
# the page's CREATE EXTENSION, it runs and prints what the page says.  And what the
# page says of sessions side by side, of NULL and nothing, of what is wrong and what
# is refused, is so.
#
# test/t/docs/redis_documents.pl runs the whole page in its order.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(blocks run_blocks);
use LiveTest;
use RedisServer;

my ($head, @recipes) = split /^## /m, slurp_file("$FindBin::RealBin/../../../doc/recipes.md");
my %recipe = map { /^(.*)\n/ ? ($1 => $_) : () } @recipes;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
));
$node->start;
my $live = LiveTest->new($node);
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
my $fdw = $node->safe_psql('postgres', q(SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'));
my $redis = RedisServer->available && RedisServer->new(port => RedisServer::free_port());

# Those of loaders are in doc/ingest.md.
my @blocks = grep { $_->{language} eq 'sql' } map { blocks("doc/$_.md") } 'recipes', 'ingest';

# The first SQL of a recipe like the pattern.
sub block
{
	my ($title, $pattern) = @_;
	my ($found) = grep { /$pattern/ } map { $_->{text} } grep { $_->{section} eq $title } @blocks;
	return $found // die "$title: no $pattern";
}

sub in { my ($database, $script) = @_; return $node->safe_psql($database, $script) =~ s/\n/; /gr; }

sub is_in
{
	my ($database, $name, $script, $expected) = @_;
	is(in($database, $script), $expected, $name);
}

sub fails_in
{
	my ($database, $name, $script, $state) = @_;
	my (undef, undef, $err) = $node->psql($database, "\\set VERBOSITY sqlstate\n$script");
	like($err, qr/ERROR:  $state/, $name);
}

sub plan_in { my ($database, $query) = @_; return $node->safe_psql($database, 'EXPLAIN (VERBOSE, COSTS off) ' . $query); }

sub empty { $node->safe_psql('postgres', "CREATE DATABASE $_[0] TEMPLATE template0"); return $_[0]; }

# Run a recipe in a database of its own, and look at what it prints.
sub alone
{
	my ($title, $database) = @_;
	my @alone = grep { $_->{section} eq '' || $_->{section} eq $title } @blocks;
	my ($said, $error) = run_blocks($node, empty($database), $redis, @alone);
	is(scalar @$said, scalar @alone, "$title: runs") or diag $error;
	foreach my $i (grep { $alone[$_]{shown} } 0 .. $#$said)
	{
		is(Documents::comparable($said->[$i]), Documents::comparable(${ $alone[$i]{shown} }), "$title: what line $alone[$i]{line} prints");
	}
	return $database;
}

# Two sessions: what the first has done and not committed, and what the second does,
# which waits for it, or does not.
sub side_by_side
{
	my ($database, $first, $second, $waits) = @_;
	my @sessions = map { $live->session($database) } 1 .. 2;
	$sessions[0]->ask($first);
	$sessions[1]->start($second);
	if ($waits) { $live->wait_for_lock('%') }
	else { $sessions[1]->finish }
	$sessions[0]->ask('COMMIT');
	my $said = $waits ? $sessions[1]->finish : '';
	$_->quit foreach @sessions;
	return $said;
}

# SQL up to its COMMIT, and without the lock of a filter's row.
sub open_ended { my ($script) = @_; return $script =~ s/^COMMIT;.*//msr; }
sub unlocked { my ($script) = @_; return $script =~ s/^DO .*?^END\$\$;\n//msr; }

# A writer that is not done when a recipe first fills its filter, by the SQL that has
# the pattern: the filter has its row, whatever isolation is the default.
sub late
{
	my ($title, $pattern, $insert, $seen) = @_;
	my ($before, $fill) = block($title, $pattern) =~ /^(.*?)(^BEGIN .*?^COMMIT;\n)/ms;
	my $database = empty("late_$pattern");
	in($database, 'CREATE EXTENSION bloomext; ' . ($redis ? $before =~ s/port '6379'/port '$redis->{port}'/r : $before));
	side_by_side($database, "BEGIN; $insert", "SET default_transaction_isolation = 'repeatable read'; $fill", 1);
	is_in($database, "$title: a writer before the first filling", $seen, 't');
	return $database;
}

# The table at the top leads to each recipe, in their order.
is_deeply([ $head =~ /^\|[^|]*\| \[(.*?)\]\(#/mg ], [ map { /^(.*)\n/ } @recipes ], 'the table of contents');

{
	my $database = empty('feed');
	in($database, q(CREATE EXTENSION bloomext; CREATE TABLE articles (title text); CREATE INDEX ON articles USING bloomfilter (title) WITH (fpp = 0.000001)));
	my $block = block('None may come twice', 'bf_live_new');
	my $titles = sub { my ($script, @titles) = @_; return $script =~ s/ARRAY\[[^]]*\]/"ARRAY[" . join(', ', map { "'$_'" } @titles) . "]::text[]"/er };
	my $one = $titles->($block, 'x', 'y', 'x');
	side_by_side($database, open_ended($one), $one, 1);
	is_in($database, 'two loaders, one lock: none twice', q(SELECT count(*) FROM articles WHERE title IN ('x', 'y')), 2);
	$one = $titles->($block, 'z') =~ s/^SELECT pg_advisory[^;]*;//mr;
	side_by_side($database, open_ended($one), $one, 0);
	is_in($database, '... without it, twice', q(SELECT count(*) FROM articles WHERE title = 'z'), 2);
	my $state = 'SELECT count(*) FROM articles';
	is_in($database, 'an empty batch', "$state; " . $titles->($block) . $state, '4; ; 4');
	$one = open_ended($titles->($block, 'rolled'));
	is_in($database, 'a load that was rolled back is loaded again', "${one}ROLLBACK; $one COMMIT; SELECT count(*) FROM articles WHERE title = 'rolled'", '; ; 1');
}

{
	my $title = 'With a filter in a row';
	my $database = alone($title, 'page');
	my $block = block($title, 'FOR UPDATE');
	my ($batch) = block($title, 'page_batch') =~ /^(CREATE TEMPORARY.*)/ms;
	my $urls = sub { return $batch =~ s/VALUES.*/'SELECT unnest(ARRAY[' . join(', ', map { "'$_'" } @_) . ']::text[]);'/er };
	my $found = "SELECT count(*) FROM page WHERE NOT bf_contains((SELECT f FROM page_filter), url)";
	side_by_side($database, $urls->('/c', '/d') . open_ended($block), $urls->('/d', '/c', '/e') . $block, 1);
	is_in($database, 'two loaders, one lock: none twice, none denied', "SELECT string_agg(url, ' ' ORDER BY url) FROM page; $found", '/a /b /c /d /e; 0');
	my $unlocked = unlocked($block);
	side_by_side($database, $urls->('/f') . open_ended($unlocked), $urls->('/f') . $unlocked, 1);
	is_in($database, '... without it, twice', "SELECT count(*) FROM page WHERE url = '/f'; $found", '2; 0');
	is(side_by_side($database, $urls->('/g') . open_ended($block), $urls->('/h') . $block =~ s/^BEGIN/BEGIN ISOLATION LEVEL REPEATABLE READ/mr, 1) =~ /ERROR:  (\w+)/ && $1,
		'40001', 'REPEATABLE READ: the second fails');
	my $state = q(SELECT md5(bf_export(f)) = current_setting('my.was'), (SELECT count(*) FROM page) FROM page_filter;);
	my $was = q(SELECT set_config('my.was', md5(bf_export(f)), false) = '' FROM page_filter;);
	foreach my $same ([ 'an empty batch' ], [ 'the same batch', '/a', '/c' ])
	{
		my ($name, @batch) = @$same;
		is_in($database, "$name changes nothing", $was . $urls->(@batch) . $block . $state, 'f; t|8');
	}
	is_in($database, 'nor does what is rolled back', $was . $urls->('/i') . open_ended($block) . "ROLLBACK; $state", 'f; t|8');
	fails_in($database, 'where the filter is missing, it stops', "DELETE FROM page_filter; " . $urls->('/a') . $block, 'P0001');
	is_in($database, '... and stores nothing', 'SELECT count(*) FROM page', '8');
	late($title, 'page_batch', q(INSERT INTO page (url) VALUES ('late')), q(SELECT bf_contains(f, 'late') FROM page_filter));
}

{
	my $title = 'A trigger for each statement';
	my $database = alone($title, 'post');
	my $seen = sub { return "SELECT bf_contains(f, '$_[0]') FROM post_filter" };
	is_in($database, 'no rows, and what changes none', q(SELECT set_config('my.was', xmin::text, false) = '' FROM post_filter;
		INSERT INTO post (title) SELECT 'x' WHERE false; UPDATE post SET title = 'x' WHERE false;
		SELECT xmin::text = current_setting('my.was') FROM post_filter), 'f; t');
	is_in($database, 'rolled back', "BEGIN; INSERT INTO post (title) VALUES ('rolled'); ROLLBACK; " . $seen->('rolled'), 'f');
	is_in($database, 'COPY', "COPY post (title) FROM STDIN;\ncopied\n\\N\n\\.\n" . $seen->('copied'), 't');
	is_in($database, 'NULLs alone', "INSERT INTO post (title) VALUES (NULL), (NULL); SELECT f IS NULL FROM post_filter", 'f');
	my @two = map { "BEGIN; INSERT INTO post (title) VALUES ('writer $_'); COMMIT;" } 1 .. 2;
	side_by_side($database, open_ended($two[0] =~ s/ COMMIT;//r), $two[1], 1);
	is_in($database, 'two writers, of which one waits', $seen->('writer 1') . ';' . $seen->('writer 2'), 't; t');
	fails_in($database, 'no filter', "DELETE FROM post_filter; INSERT INTO post (title) VALUES ('x')", 'P0001');
	late($title, 'post_inserted', q(INSERT INTO post (title) VALUES ('late')), $seen->('late'));
}

{
	my $title = 'Exactly what is missing';
	my $database = alone($title, 'book');
	my ($plain, $case) = map { s/^ALTER[^;]*;\s*//r } block($title, '^ALTER INDEX'), block($title, 'CASE WHEN');
	my $nulls = q(INSERT INTO delivery VALUES (NULL), ('isbn 7'), ('absent'), ('absent'););
	my ($temporary) = block($title, 'TEMPORARY') =~ /^(CREATE TEMPORARY.*?ANALYZE)/ms;
	$temporary .= " delivery; $nulls";
	is_in($database, 'NULL is missing, in both forms', "$temporary $plain $case", '1903; 1903');
	is_in($database, 'and an empty list has nothing', "$temporary DELETE FROM delivery; $plain $case", '0; 0');
	is_in($database, 'NOT IN and one NULL', "$temporary SELECT count(*) FROM book WHERE isbn NOT IN (SELECT isbn FROM delivery)", '0');
  SKIP:
	{
		skip 'plans ask from 15 on', 1 if $version < 150000;
		like(in($database, "$temporary EXPLAIN $plain"), qr/Gate\) on book/, 'the plain query asks the filter');
	}
	my $and = q(SELECT count(*) FROM delivery AS d WHERE NOT EXISTS
		(SELECT FROM book AS b WHERE b.isbn = d.isbn AND bf_live_contains('book', b.isbn)););
	my $asked = q(SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'book_isbn_bf';);
	is_in($database, 'the form with AND is right', "$temporary $and", '1903');
	like(in($database, "$temporary SET bloomext.enable_gate = off; SET enable_hashjoin = off; SET enable_mergejoin = off; EXPLAIN (COSTS off) $and"),
		qr/Index Only Scan using book_pkey.*Index Cond: \(isbn = d.isbn\); +Filter: bf_live_contains/, '... and looks into the btree first');
}

SKIP:
{
	my $title = 'Guard against unknown keys';
	skip 'redis-server is not installed', 1 unless $redis;
	my $database = alone($title, 'product');
	is_in($database, 'nothing inserted, a row rolled back: no harm but a "yes"', q(INSERT INTO product SELECT 1, 'x' WHERE false;
		BEGIN; INSERT INTO product VALUES (9000, 'x'); ROLLBACK;
		SELECT bf_redis_contains_each('product_cache', 'product:ids', ARRAY[9000, 9001, 7, NULL]::bigint[])), '{t,f,t,NULL}');
	$database = late($title, 'product_inserted', q(INSERT INTO product VALUES (8, 'late')),
		q(SELECT bf_redis_contains('product_cache', 'product:ids', 8::bigint) AND NOT bf_redis_contains('product_cache', 'product:ids', 9::bigint)));
	in($database, q(CREATE ROLE shop; GRANT INSERT ON product TO shop; SET ROLE shop; INSERT INTO product VALUES (10, 'a shop');
		RESET ROLE; REVOKE ALL ON product FROM shop; DROP ROLE shop));
	is_in($database, 'roles without a mapping insert', q(SELECT bf_redis_contains_each('product_cache', 'product:ids', ARRAY[10, 11]::bigint[])), '{t,f}');
	in($database, q(TRUNCATE product; SELECT bf_mirror(bf_agg(id, 1000000, 0.001), 'product_cache', 'product:ids') FROM product));
	is_in($database, 'a table without rows', q(INSERT INTO product VALUES (1, 'first');
		SELECT bf_redis_contains_each('product_cache', 'product:ids', ARRAY[1, 2]::bigint[])), '{t,f}');
	in($database, q(SELECT bf_redis_drop('product_cache', 'product:ids')));
	fails_in($database, 'the filter is lost: the row is not stored', q(INSERT INTO product VALUES (2, 'second')), '42704');
	is_in($database, '... until it is there again', block($title, 'LOCK TABLE') . q(INSERT INTO product VALUES (3, 'third');
		SELECT bf_redis_contains_each('product_cache', 'product:ids', ARRAY[1, 2, 3]::bigint[])), 't; {t,f,t}');
	$redis->stop;
	fails_in($database, 'Redis is not there: the row is not stored', q(INSERT INTO product VALUES (2, 'second')), '080');
	is_in($database, '... what has no rows goes on', q(UPDATE product SET name = 'x' WHERE false), '');
	is_in($database, '... indeed', 'SELECT count(*) FROM product', '2');
}

{
	my $title = 'A filter a day, and windows of seven';
	my $database = alone($title, 'visit');
	my ($windows) = block($title, 'OVER') =~ /^(SELECT day, bf_count.*?) LIMIT/ms;
	my $days = q(SELECT day, bf_count(f), bf_count((SELECT bf_union_agg(f) FROM visit_day AS o WHERE o.day BETWEEN w.day - 6 AND w.day))
		FROM visit_day AS w ORDER BY day);
	in($database, q(DELETE FROM visit_day WHERE day = '2026-01-06'));
	is_in($database, 'windows are of their days, where one is missing, too', $windows, in($database, $days));
	isnt(in($database, $windows =~ s/RANGE '6 days'/ROWS 6/r), in($database, $days), '... which ROWS are not');
	fails_in($database, 'days that size themselves are not united',
		q(SELECT bf_union_agg(f) FROM (SELECT bf_agg(visitor) AS f FROM visit WHERE visitor < 'visitor ' || extract(day FROM day) GROUP BY day) AS days), '22023');
	my $new = block($title, 'IS NOT TRUE') =~ s/BETWEEN '[^']*'/BETWEEN '2027-01-01'/r;
	is_in($database, 'before the first day all are new', $new, '1000');
}

{
	my $title = 'Which days had X';
	my $database = alone($title, 'login');
	my ($maybe, $sure) = map { s/.*^(SELECT day)/$1/msr } block($title, 'CREATE TABLE login'), block($title, 'EXISTS');
	my $days = in($database, q(SELECT DISTINCT day FROM login WHERE name = 'user 42' ORDER BY day));
	is_in($database, 'the days, surely', $sure, $days);
	is_in($database, 'no day denies whom it had', q(SELECT count(*) FROM login AS l JOIN login_day AS d USING (day) WHERE NOT f @> name), '0');
	is_in($database, 'nobody was never there', $maybe =~ s/'user 42'/NULL::text/r, '');
}

{
	my $title = 'Rebuild and swap';
	my $database = alone($title, 'song');
	my $rebuild = block($title, 'FOR UPDATE') =~ s/^(COMMIT;).*/$1/msr;
	my $add = sub { return "INSERT INTO song (title) VALUES ('$_[0]'); UPDATE song_filter SET f = bf_add(f, '$_[0]') WHERE name = 'title';" };
	my $seen = sub { return "SELECT bf_contains(f, '$_[0]') FROM song_filter" };
	side_by_side($database, 'BEGIN; ' . $add->('before'), $rebuild, 1);
	side_by_side($database, open_ended($rebuild), 'BEGIN; ' . $add->('after') . ' COMMIT', 1);
	is_in($database, 'what others add before and meanwhile is there', $seen->('before') . ';' . $seen->('after'), 't; t');
	side_by_side($database, 'BEGIN; ' . $add->('lost'), unlocked($rebuild), 1);
	is_in($database, '... without the lock it is lost', $seen->('lost'), 'f');
	side_by_side($database, "BEGIN; INSERT INTO song (title) VALUES ('two steps')", $rebuild, 0);
	is_in($database, 'a row first, the filter later', $seen->('two steps') . q(; UPDATE song_filter SET f = bf_add(f, 'two steps');) . $seen->('two steps'), 'f; t');
	is_in($database, 'readers have the old one meanwhile', open_ended($rebuild) . 'ROLLBACK; ' . $seen->('Song 10000'), 't');
	is_in($database, 'of no rows: an empty filter', "TRUNCATE song; $rebuild SELECT bf_count(f) FROM song_filter", '0');
	fails_in($database, 'no filter', "DELETE FROM song_filter; $rebuild", 'P0001');
}

{
	my $title = 'Filters in a materialized view';
	my $database = alone($title, 'film');
	is_in($database, 'a group without rows goes', q(DELETE FROM film WHERE genre = 'crime';
		REFRESH MATERIALIZED VIEW CONCURRENTLY film_filter; SELECT genre FROM film_filter), 'comedy');
	is_in($database, 'and all of them', q(TRUNCATE film; REFRESH MATERIALIZED VIEW CONCURRENTLY film_filter; SELECT count(*) FROM film_filter), '0');
}

SKIP:
{
	my $title = 'Join with a foreign table';
	skip 'no postgres_fdw', 1 unless $fdw;
	my $database = alone($title, 'click');
	my ($sent) = $recipe{$title} =~ /has to show `(WHERE [^`]*)`/;
	my $join = block($title, 'campaign JOIN click') =~ s/.*^(SELECT day)/$1/msr;
	like(plan_in($database, $join), qr/Remote SQL: SELECT url, day FROM warehouse\.click \Q$sent\E/, 'the filter goes there');
	my $all = $join =~ s/ LIMIT 3//r;
	my $plain = $all =~ s/^ *WHERE.*\n//mr;
	is_in($database, 'the rows are those of the plain join', $all, in($database, $plain));
	my $nulls = 'INSERT INTO campaign VALUES (NULL); INSERT INTO warehouse.click VALUES (NULL);';
	my $itself = $all =~ s/bf_agg\(url, 1000, 0.001/bf_agg_distinct(url, 0.001/r;
	in($database, $nulls);
	is_in($database, '... with NULLs', $_, in($database, $plain)) foreach $all, $itself, $all =~ s/1000, 0.001/10, 0.5/r;
	is_in($database, '... and of nothing', "TRUNCATE campaign; $all $itself $plain", '');
	in($database, q(CREATE TABLE made AS SELECT bf_agg(url, 1000) AS f FROM campaign));
	unlike(plan_in($database, 'SELECT count(*) FROM made JOIN click ON bf_contains(f, url)'), qr/Remote SQL: .* WHERE/, 'from a joined table it does not');
	in($database, 'ALTER SERVER warehouse OPTIONS (DROP extensions)');
	unlike(plan_in($database, $join), qr/Remote SQL: .* WHERE/, 'nor where nothing says that it may');
}

SKIP:
{
	my $title = 'One filter of foreign partitions';
	skip 'no postgres_fdw', 1 unless $fdw;
	my $database = alone($title, 'sale');
	my ($union) = block($title, 'UNION ALL') =~ /.*^(SELECT bf_count.*)/ms;
	my ($grouped) = block($title, 'partitionwise') =~ /\((SELECT region.*)\) AS parts/;
	like(plan_in($database, $union), qr/(Foreign Scan.*Remote SQL: SELECT public\.bf_agg\(.*){2}/s, 'each partition is aggregated there');
	like(in($database, "SET enable_partitionwise_aggregate = on; EXPLAIN (VERBOSE, COSTS off) $grouped"),
		qr/(Remote SQL: SELECT region, public\.bf_agg\(.*){2}/, 'so it is grouped by the key');
	fails_in($database, 'filters that size themselves are not united', $union =~ s/(bf_agg\(customer), 20000, 0.001/$1/gr, '22023');
}

{
	my $title = 'Keys of several columns';
	my $database = alone($title, 'stock');
	is_in($database, 'a NULL as a value, by a hash', q(CREATE INDEX stock_hash_bf ON stock USING bloomfilter (hash_record_extended(ROW(shop, article), 0));
		SELECT bf_live_contains('stock_hash_bf', hash_record_extended(ROW('west'::text, NULL::int), 0))), 't');
	is_in($database, 'no two keys make one element, but one text', q(
		WITH part AS (SELECT DISTINCT string_agg(c, '') AS p
			FROM generate_series(1, 300) AS i, generate_series(0, i % 5) AS j,
				LATERAL (SELECT (ARRAY[chr(0 + 1), chr(9), '\', 'E', 'N', chr(5), '1', chr(13)])[1 + (hashint4(i * 7 + j) & 7)] AS c) AS c GROUP BY i
			UNION SELECT '')
		SELECT count(*) > 10000, count(*) = count(DISTINCT bf_element(a.p, b.p)), count(*) = count(DISTINCT a.p || b.p) FROM part AS a, part AS b), 't|t|f');
}

{
	my $title = 'Numbers, JSON, enums, days';
	my $database = alone($title, 'offer');
	fails_in($database, "refused: $_", "CREATE INDEX ON offer USING bloomfilter (($_))", '42P17') foreach 'feels::text', 'due::text', 'at::date';
	is_in($database, 'other texts of equal values', q(SELECT 1.5 = 1.50 AND 1.5::text <> 1.50::text, interval '1 day' = interval '24 hours' AND
		interval '1 day'::text <> interval '24 hours'::text, float8 '0' = float8 '-0' AND float8 '0'::text <> float8 '-0'::text,
		interval_hash_extended('1 day', 0) = interval_hash_extended('24 hours', 0), hashfloat8extended('0', 0) = hashfloat8extended('-0', 0),
		(jsonb '{"title": "Hat"}' -> 'title')::text), 't|t|t|t|t|"Hat"');
	fails_in($database, 'a timestamp asked of instants', q(CREATE INDEX offer_at_bf ON offer USING bloomfilter (at);
		SELECT bf_live_contains('offer_at_bf', timestamp '2026-01-01 23:30')), '22023');
	is_in($database, 'an instant in any time zone', q(SET timezone = 'Asia/Kathmandu';
		SELECT bf_live_contains('offer_at_bf', timestamptz '2026-01-02 00:30+01'), bf_live_contains('offer_day_bf', date '2026-01-02')), 't|t');
	fails_in($database, 'what is no integer', q(INSERT INTO offer (doc) VALUES ('{"no": "x"}')), '22P02');
	is_in($database, 'a filter in a row', q(SELECT bf_agg(trim_scale(price)::text, 1000, 0.01) @> trim_scale(1.5)::text FROM offer), 't');
	is_in($database, 'rows of NULLs, and without the field', q(INSERT INTO offer (doc) VALUES (NULL), ('{}'); SELECT bf_live_contains('offer_no_bf', NULL::int) IS NULL), 't');
	foreach my $hint ([ 'float8', 'hashfloat8extended' ], [ 'interval', 'interval_hash_extended' ], [ 'jsonb', 'jsonb_hash_extended' ],
		[ 'mood', 'hashenumextended' ], [ 'numeric', 'trim_scale' ])
	{
		my ($type, $function) = @$hint;
		my (undef, undef, $err) = $node->psql($database, "CREATE TABLE hinted AS SELECT NULL::$type AS x; CREATE INDEX ON hinted USING bloomfilter (x)");
		like($err, qr/HINT: .*\Q$function\E\(/, "$type: the hint names $function");
		in($database, 'DROP TABLE hinted');
	}
}

{
	my $title = 'Delete on request';
	my $database = alone($title, 'member');
	my ($delete) = block($title, 'REINDEX') =~ /^(DELETE[^;]*;)/m;
	my $ask = q(SELECT bf_live_contains('member', 'user8@example.com', 'email'));
	my $old = $live->session($database);
	$old->ask('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	in($database, $delete =~ s/user7/user8/r);
	is_in($database, 'where a transaction could see the row, a plain REINDEX keeps it', "REINDEX INDEX member_email_bf; $ask", 't');
	my $reindex = $live->session($database);
	$reindex->start('REINDEX INDEX CONCURRENTLY member_email_bf');
	$live->wait_for_lock('REINDEX%');
	$_->quit foreach $old, $reindex;
	is_in($database, '... CONCURRENTLY waits for its end', $ask, 'f');

	late($title, 'counting', q(INSERT INTO subscriber VALUES ('late')), q(SELECT bf_contains(f, 'late') FROM subscriber_filter));
	my ($gone) = block($title, 'WITH gone') =~ /^(WITH gone.*?;)/ms;
	my $absent = q(SELECT count(*) FROM subscriber, subscriber_filter WHERE NOT bf_contains(f, email));
	is_in($database, 'an address that is not there takes nothing out', "$gone $gone $absent", '0');
	is_in($database, 'nor what is rolled back', 'BEGIN; ' . $gone =~ s/user7/user8/r . " ROLLBACK; $absent", '0');
	my @two = map { $gone =~ s/user7/user$_/r } 10, 11;
	side_by_side($database, "BEGIN; $two[0]", $two[1], 1);
	is_in($database, 'two at a time', "SELECT bf_contains(f, 'user10\@example.com'), bf_contains(f, 'user11\@example.com') FROM subscriber_filter; $absent", 'f|f; 0');
}

{
	my $title = 'A limit for false positives';
	my $database = alone($title, 'spam_filter');
	my ($add) = block($title, 'CHECK') =~ /^(UPDATE.*?;)/ms;
	my $was = in($database, 'SELECT md5(bf_export(f)) FROM spam_filter');
	fails_in($database, 'too many are refused', $add =~ s/'sender '/'other '/r, '23514');
	is_in($database, '... and it is as it was', 'SELECT md5(bf_export(f)) FROM spam_filter', $was);
	my ($times) = $recipe{$title} =~ /([\d.]+) times the elements/;
	my $fpp = "SELECT bf_fpp(bf_agg('x' || i, 100000, 0.01)) BETWEEN 0.045 AND 0.055 FROM generate_series(1, (100000 * $times)::int) AS i";
	is_in($database, "$times times the elements make 5 % of 1 %", $fpp, 't');
	fails_in($database, 'nor is it NULL', 'UPDATE spam_filter SET f = NULL', '23502');
}

{
	my $title = 'Filters by name';
	my $database = alone($title, 'named_filter');
	fails_in($database, "a name that is not there: $_", "SELECT bf_contains($_, 'x')", 'P0002') foreach "filter_named('title')", "(SELECT filter_named('title'))";
	is_in($database, 'none named', q(SELECT bf_contains(filter_named(NULL), 'x') IS NULL), 't');
	like(plan_in($database, q(SELECT title FROM unnest(ARRAY['x']) AS title WHERE NOT bf_contains((SELECT filter_named('titles')), title))), qr/InitPlan/, 'in brackets, once');
}

{
	my $title = 'Loops in PL/pgSQL';
	my $database = alone($title, 'word');
	is_in($database, 'no words, and NULL', q(SELECT unknown_words('{}'), unknown_words(NULL) IS NULL), '{}|t');
	fails_in($database, 'no filter', 'TRUNCATE word_filter; SELECT unknown_words(ARRAY[1::text])', 'P0002');
}

$node->stop;
done_testing();
