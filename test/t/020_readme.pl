# The README's SQL examples run as they stand, in their order.
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

$node->stop;
done_testing();
