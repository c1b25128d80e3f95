# pg_upgrade to the PostgreSQL that is tested from an older one, whose root, with
# bloomext built for it, BLOOMEXT_OLD names.  Of each version that something is kept
# of there are two databases then: one filled by its objects, with all that they make,
# and one with the bytes that it stored.  Of each way that pg_upgrade has:
#
# - nothing that was there answers otherwise, and no row is denied, by gates neither;
# - it takes more, before and after ALTER EXTENSION UPDATE, and after a crash, too, in
#   which unlogged filters are emptied with their tables;
# - the catalogs then say what those of a new database say.
#
#	make installcheck REGRESS= ISOLATION= PROVE_TESTS=test/upgrade/pg_upgrade.pl BLOOMEXT_OLD=FOLDER
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use UpgradeTest;

my $root = $ENV{BLOOMEXT_OLD} or die 'BLOOMEXT_OLD names no PostgreSQL';

# Locales are the same everywhere, and there are no checksums, which 15 has not by itself.
sub server
{
	my ($name, %where) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, %where);
	$node->init(extra => [ qw(--encoding UTF8 --no-locale), $node->pg_version >= 18 ? '--no-data-checksums' : () ]);
	$node->append_conf('postgresql.conf', 'autovacuum = off');
	return $node;
}

my $old = server('old', install_path => $root);
$old->start;
my (%version, %was);
foreach my $version (UpgradeTest->versions)
{
	my $name = $version =~ s/\W/_/gr;
	@version{"filled_$name", "kept_$name"} = ($version, $version);
	UpgradeTest->new($old, "filled_$name", $version);
	my $kept = UpgradeTest->new($old, "kept_$name", $version);
	$kept->restore_values("$version, kept");
	$kept->restore_files;
	is_same($kept->answers, $kept->kept_answers, "$version: what was kept is there");
}
$was{$_} = UpgradeTest->at($old, $_, $version{$_})->answers foreach sort keys %version;
note $old->safe_psql('postgres', 'SELECT version()') =~ s/ on .*//r;
$old->stop;

my ($help) = run_command([ 'pg_upgrade', '--help' ]);
foreach my $way (grep { $help =~ /$_\b/ } qw(--copy --link --swap))
{
	# --link and --swap take the old server's files, so each has its own.
	my $new = server($way =~ s/-//gr);
	my $data = $old->data_dir;
	system_or_bail('cp', '-Rp', $data, "$data$way");
	ok(run_log([ qw(pg_upgrade --no-sync), $way eq '--copy' ? () : $way, '--old-bindir', "$root/bin", '--old-datadir', "$data$way", '--old-port', $old->port,
			'--new-bindir', $new->config_data('--bindir'), '--new-datadir', $new->data_dir, '--new-port', $new->port, '--socketdir', $new->host ]),
		"pg_upgrade $way to " . $new->pg_version) or die;
	$new->start;
	my $fresh = UpgradeTest->fresh($new)->catalogs;

	foreach my $database (sort keys %version)
	{
		my $name = "$way, $database";
		my $test = UpgradeTest->at($new, $database, $version{$database});
		my $answers = $test->answers;
		is_same($answers, $was{$database}, "$name: answers are as before");
		cmp_ok(scalar(() = $answers =~ /^\w+\|0\|\d+\|\d+\|\(/mg), '>', 30, "$name: live filters are asked");
		unlike($answers, qr/^\w+\|[1-9]\d*\|\d+\|\d+\|\(/m, "$name: no row is denied");
		my $asked = $test->sql(q(
			CREATE TEMP TABLE sought AS SELECT '标题 ' || i AS title FROM generate_series(1, 2400) AS i;
			EXPLAIN (ANALYZE, COSTS off, TIMING off) SELECT (SELECT true FROM plans WHERE plans.title = sought.title) FROM sought;
			SELECT count((SELECT true FROM plans WHERE plans.title = sought.title)) FROM sought));
		like($asked, qr/Surely Absent: [12]\d\d\d$/m, "$name: a gate asks");
		like($asked, qr/^300\z/m, "$name: it denies no row");

		# Of the two, one does by objects of then.
		my $early = $database =~ /^kept/;
		$test->takes_more("$name, objects of then") if $early;
		$test->sql('ALTER EXTENSION bloomext UPDATE');
		is($test->sql(q(SELECT extension = extversion AND action IS NULL FROM bf_version(), pg_extension WHERE extname = 'bloomext')), 't', "$name: objects are up to date");
		is_same($test->catalogs, $fresh, "$name: the catalogs are those of a new database");
		$test->takes_more("$name, updated") unless $early;
	}

	$new->stop('immediate');
	$new->start;
	foreach my $database (sort keys %version)
	{
		my $test = UpgradeTest->at($new, $database, $version{$database});
		is($test->sql(q(SELECT index FROM live, bf_live_verify(index) AS v WHERE missing > 0 OR (rows_checked = 0) <> (tab = 'unlogged'))), '',
			"$way, $database: no row is denied after a crash");
		is($test->sql(q(SELECT bf_live_contains('unlogged', '标题 1'); SELECT put('unlogged', '''标题 '' || i', 1, 400); SELECT bf_live_verify('unlogged'))), "f\n\n(400,0)",
			"$way, $database: an unlogged filter is as new");
	}
	$new->stop;
}

done_testing();
