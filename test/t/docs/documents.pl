# Every SQL block of every document runs, in its order, from an empty database, and
# prints what the page shows (pages that use Redis: redis_documents.pl).  No block is
# fenced so that nobody runs it, but for those that are listed here with a reason;
# prose wraps; and links lead somewhere.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(pages blocks escaped uses_redis check_page);

# What no test can run, by page and first line.
my %cannot = (
	"doc/redis.md: SELECT cron.schedule('titles', '15 3 * * *'," => 'pg_cron, which redis_documents.pl does without',
	'doc/scale.md: CREATE EXTENSION bloomext;' => 'Citus: citus.pl',
	'doc/scale.md: CREATE TABLE filters (name text PRIMARY KEY, filter bloomfilter NOT NULL);' => 'Citus: citus.pl',
	"doc/scale.md: SELECT count(*) FROM incoming JOIN filters ON name = 'articles' WHERE NOT bf_contains(filter, title);" => 'Citus: citus.pl',
	'doc/scale.md: CREATE INDEX articles_bf ON articles USING bloomfilter (title) WITH (expected = 1000000, fpp = 0.0001);' => 'Citus: citus.pl',
	'doc/scale.md: CREATE TABLE titles (title text PRIMARY KEY);' => 'Citus: citus.pl',
	"doc/scale.md: SELECT bool_or(bf_live_contains(chunk, 'some title', 'title'))" => 'TimescaleDB: timescale.pl',
	'doc/scale.md: CREATE MATERIALIZED VIEW daily WITH (timescaledb.continuous) AS' => 'TimescaleDB: timescale.pl',
);

my @pages = pages();
my @blocks = map { blocks($_) } @pages;
cmp_ok(scalar(grep { $_->{language} eq 'sql' } @blocks), '>=', 50, 'there are blocks');

sub named { return join "\n", sort map { "$_->{page}: " . ($_->{text} =~ /^(.*)/)[0] } @_; }

is(join("\n", map { "$_->{page}:$_->{line}" } escaped(@blocks)), '', 'no SQL, and no output, is in another fence');
is(named(grep { $_->{language} eq 'postgresql' } @blocks), join("\n", sort keys %cannot), 'what cannot run is listed, and there');
cmp_ok(scalar keys %cannot, '<=', 12, 'which is little');

# Prose wraps: only what cannot be broken, as a link, reaches beyond 120 columns, and not far.
foreach my $page (grep { m{^(?:README|doc/.*|clients/.*)\.md$} } @pages)
{
	my $prose = slurp_file($page) =~ s/^ *(```+).*?^ *\1$//gmsr =~ s/^ *[|<].*$//gmr;
	is(join("\n", grep { /.{141}/ } split /\n/, $prose), '', "$page wraps");
}

# Links lead somewhere.
for my $file (pages())
{
	my $text = slurp_file($file);
	while ($text =~ /\]\((?!http)([^)#]*)(?:#([^)]*))?\)/g)
	{
		my ($target, $anchor) = ($1, $2);
		my $page = $target eq '' ? $file : $file =~ s{[^/]*\z}{$target}r;
		my %anchors = map { lc(s/[^\w -]//gr =~ s/ /-/gr) => 1 } -f $page ? slurp_file($page) =~ /^#+ (.*)$/mg : ();
		ok(-f $page && (!defined $anchor || $anchors{$anchor}), "$file: link to $page" . ($anchor ? "#$anchor" : ''));
	}
}

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->append_conf('postgresql.conf', "fsync = off\nautovacuum = off\ntimezone = 'UTC'\nmax_prepared_transactions = 10\n");
$node->start;
check_page($node, $_) foreach grep { !uses_redis($_) } @pages;
$node->stop;
done_testing();
