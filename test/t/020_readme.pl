# The README's SQL examples run as they stand, in their order, and so do those of
# doc/live.md for plans that ask.
use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $readme = slurp_file('README.md');
my @examples = $readme =~ /^```sql\n(.*?)^```$/msg;
cmp_ok(scalar @examples, '>=', 4, 'the README has examples');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;

my ($status, $out, $err) = $node->psql('postgres', join('', @examples),
	extra_params => [ '-v', 'ON_ERROR_STOP=1' ]);
is($status, 0, 'they run') or diag $err;
like($out, qr/^t\|f$/m, 'a title stored is seen, and a new one is not');
like($out, qr/^Breaking news\nOld hat$/m, 'the batch finds the new titles');
like($out, qr/^010500000001a00a428800840a01$/m, 'the export is what Java reads');

my ($table, $asked) = slurp_file('doc/live.md') =~ /^```sql\n(.*?)^SELECT.*^## PostgreSQL asks by itself\n(.*?)^## /ms;
my @statements = $asked =~ /^```sql\n(.*?)^```$/msg;
$node->safe_psql('postgres', 'CREATE DATABASE live');
($status, $out, $err) = $node->psql('live', join('', 'CREATE EXTENSION bloomext;', $table, @statements, q(
	INSERT INTO articles (title) SELECT 'Title number ' || i FROM generate_series(1, 100000) AS i;
	INSERT INTO batch SELECT 'Title number ' || i * 10000 FROM generate_series(1, 100) AS i;
	ANALYZE articles, batch;), map { "EXPLAIN (ANALYZE, COSTS off, TIMING off) $_" } map { /^((?:INSERT|SELECT).*?;)/msg } @statements),
	extra_params => [ '-v', 'ON_ERROR_STOP=1' ]);
is($status, 0, 'plans that ask: the statements run') or diag $err;
SKIP:
{
	skip 'plans ask from 15 on', 1 if $node->safe_psql('postgres', 'SHOW server_version_num') < 150000;
	like($out, qr/Gate\) on articles a .*\n\s*Filter Index: articles_title_bf\n\s*Filter Cond: \(title = b.title\)\n\s*Asked: 100\n\s*Surely Absent: (?:89|90)/,
		'they ask');
}
like($out, qr/SubPlan/, 'a question by hand is no join');

$node->stop;
done_testing();
