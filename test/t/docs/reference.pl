# doc/reference.md and the extensions, bloomext and bloomext_citus, name the same.
# Signatures, as the page writes them, are made from the catalog; options, names and
# ranges are asked of the server by wrong ones; what no catalog lists (options of an
# index, SQLSTATEs, waits) is read in the source.  What an object's COMMENT says, its
# names and numbers, the page says as well.
#
# ELEM in a signature is a polymorphic type.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(blocks);

my $root = "$FindBin::RealBin/../../..";
my $page = slurp_file("$root/doc/reference.md");

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--no-locale' ]);
$node->start;
$node->safe_psql('postgres', q{CREATE EXTENSION bloomext; CREATE EXTENSION bloomext_citus; CREATE TABLE t (e text);
	CREATE SERVER s FOREIGN DATA WRAPPER bloomext_redis OPTIONS (host 'h')});

sub rows { return split /\n/, $node->safe_psql('postgres', $_[0]); }

# What a statement that must fail says behind some words, or what matches.
sub told
{
	my ($statement, $behind) = @_;
	my (undef, undef, $said) = $node->psql('postgres', $statement);
	my $words = ref $behind ? $behind : qr/\Q$behind\E/;
	return $said =~ /$words (.*?)\.?$/m ? $1 : die "$statement: $said";
}

sub listed { return [ split /, | or | and /, told(@_) ]; }

sub same
{
	my ($ours, $theirs, $what) = @_;
	my ($had, $has) = map { my %set = map { $_ => 1 } @$_; \%set } $ours, $theirs;
	is(join("\n", sort grep { !$has->{$_} } keys %$had), '', "$what: all that the page has is there");
	is(join("\n", sort grep { !$had->{$_} } keys %$has), '', "$what: all that is there is on the page");
	cmp_ok(scalar keys %$had, '>', 1, "$what: there are some");
	return;
}

# Names in backticks.
sub names { return map { /`([^`\n]+)`/g } @_; }

# Of the table with this head, the cells of each row.
sub table
{
	my ($head, $in) = @_;
	my ($rows) = ($in // $page) =~ /^\Q$head\E[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/m or die "no table $head";
	return map { [ /\G\| ?(.*?) ?(?=\|)/g ] } split /\n/, $rows;
}

# Sections, each with what its chapter says before the first one; without blocks.
my (%text, $chapter);
while ($page =~ /^(##+) ([^\n]*)\n(.*?)(?=^##+ |\z)/gms)
{
	my ($level, $title, $text) = ($1, $2, $3);
	$text =~ s/^```.*?^```$//gms;
	$chapter = $text if $level eq '##';
	$text{$title} = $level eq '##' ? $text : $chapter . $text;
}

# Signatures on the page, and the sections that explain what they are of.
my (@on_page, %section_of);
foreach my $block (grep { $_->{language} eq '' } blocks('doc/reference.md'))
{
	foreach my $signature (grep { / → / } split /\n/, $block->{text} =~ s/\n\s+/ /gr)
	{
		push @on_page, $signature;
		push @{ $section_of{$1} }, $block->{section} if $signature =~ /^(bf_\w+)/;
	}
}

# And in the catalog, but for the types that PostgreSQL makes of others: of arrays and
# rows, which are members from 18 on.
my $ours = "pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid IN (SELECT oid FROM pg_extension WHERE extname IN ('bloomext', 'bloomext_citus'))
	AND (classid <> 'pg_type'::regclass OR objid IN (SELECT oid FROM pg_type WHERE typrelid = 0 AND typcategory <> 'A'))";
sub members { return "(SELECT objid FROM $ours AND classid = '$_[0]'::regclass)"; }
my %called_by_none = map { $_ => 1 } names($text{'What PostgreSQL calls'});

sub readable
{
	my ($signature) = @_;
	$signature =~ s/(?:(?<=\()|, )OUT (.*)\) → (SETOF )?record/') → ' . lc($2 \/\/ '') . "($1)"/e;
	return $signature =~ s/\bOUT //gr =~ s/ DEFAULT ([^,:)]*)(?:::\w+)?/ = $1/gr =~ s/double precision/float8/gr =~ s/\binteger\b/int/gr
	  =~ s/→ SETOF /→ setof /r =~ s/\banycompatible\b/ELEM/gr =~ s/\banycompatiblearray\b/ELEM[]/gr;
}
my %catalog = map { readable($_) => 1 } grep { !/^(\w+)\(/ || !$called_by_none{$1} } rows("
	SELECT proname || '(' || pg_get_function_arguments(oid) || ') → ' || pg_get_function_result(oid)
	FROM pg_proc WHERE oid IN ${\members('pg_proc')}
	UNION ALL SELECT concat_ws(' ', oprleft::regtype, oprname, oprright::regtype, '→', oprresult::regtype)
	FROM pg_operator WHERE oid IN ${\members('pg_operator')}
	UNION ALL SELECT format('%s::%s → %2\$s', castsource::regtype, casttarget::regtype)
	FROM pg_cast WHERE oid IN ${\members('pg_cast')}
	UNION ALL SELECT relname || ' → setof (' || string_agg(quote_ident(attname) || ' ' || format_type(atttypid, NULL), ', ' ORDER BY attnum) || ')'
	FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 WHERE pg_class.oid IN ${\members('pg_class')} GROUP BY relname");

same(\@on_page, [ keys %catalog ], 'signatures');
same([ keys %called_by_none ], [ grep { !$section_of{$_} } rows("
	SELECT proname FROM pg_proc WHERE oid IN ${\members('pg_proc')}
	UNION SELECT opcname FROM pg_opclass WHERE oid IN ${\members('pg_opclass')}
	UNION SELECT typname FROM pg_type WHERE oid IN ${\members('pg_type')}
	UNION SELECT amname FROM pg_am WHERE oid IN ${\members('pg_am')}
	UNION SELECT fdwname FROM pg_foreign_data_wrapper WHERE oid IN ${\members('pg_foreign_data_wrapper')}") ], 'other objects');
my %name = map { $_ => 1 } rows('SELECT proname FROM pg_proc UNION SELECT relname FROM pg_class');
is(join("\n", grep { !$name{$_} } $page =~ /\bbf_\w+/g), '', 'no other function is mentioned');

# Parameters are explained where they are, columns somewhere.
my $said = join '', values %text;
sub explained
{
	my ($function, $name, $mode) = split /\|/, shift;
	my $where = $mode eq 'o' ? $said : join '', map { $text{$_} } @{ $section_of{$function} };
	return $where =~ /`"?\Q$name\E"?`/;
}
is(join("\n", grep { !explained($_) } rows("SELECT DISTINCT proname, name, mode FROM pg_proc,
		unnest(proargnames, coalesce(proargmodes::text[], array_fill('i'::text, ARRAY[pronargs]))) AS a (name, mode)
	WHERE oid IN ${\members('pg_proc')} AND name <> ''")), '', 'names of parameters and columns are explained');

# COMMENTs.  (Of an operator class's family PostgreSQL makes none.)
is(join("\n", rows("SELECT pg_describe_object(classid, objid, 0) FROM $ours
	AND classid <> 'pg_opfamily'::regclass AND obj_description(objid, classid::regclass::text::name) IS NULL")), '', 'each object has a comment');
my %list = map { (split /:/, $_->[0])[0] => [ names($_->[1]) ] } table('| What | Names |');
my %known = map { $_ => 1 } map { @$_ } values %list;
sub unsaid
{
	my ($function, $comment) = split /\|/, shift, 2;
	my $where = join '', map { $text{$_} } @{ $section_of{$function} // return };
	return map { "$function: $_" } grep { ($known{$_} || /^\d/) && $where !~ /(?<![\w.])\Q$_\E(?!\w)/ } $comment =~ /\d[\d.]*\d|\w+/g;
}
is(join("\n", map { unsaid($_) } rows("SELECT DISTINCT proname, obj_description(oid, 'pg_proc') FROM pg_proc WHERE oid IN ${\members('pg_proc')}
	UNION SELECT relname, obj_description(oid, 'pg_class') FROM pg_class WHERE oid IN ${\members('pg_class')}")), '', 'what COMMENTs say');

# Names, as errors list them.
my $create = 'CREATE INDEX ON t USING bloomfilter (e) WITH';
same($list{strategy}, listed("SELECT bf_create(1, 0.1, 'x')", 'strategies are:'), 'strategies');
same($list{funnel}, listed("$create (funnel = 'x')", 'funnels are:'), 'funnels');
same($list{format}, listed("SELECT bf_export(bf_create(1), 'x')", 'formats are:'), 'formats');
same($list{layout}, listed("SELECT bf_mirror(bf_create(1), 's', 'k', 'x')", 'layouts are:'), 'layouts');

# Types of elements are those that have an operator class, or become one's.
same([ names(map { $_->[0] } table('| Type |')) ],
	[ 'cidr', grep { !/^(?:name|character|anyelement)$/ } map { s/ without time zone//r =~ s/(timestamp) with time zone/$1tz/r }
		rows("SELECT opcintype::regtype FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod AND amname = 'bloomfilter'") ], 'types of elements');

# Options, here and where they are explained, and the values of those of an index.
my %options = map { (names($_->[0]))[0] => [ names($_->[1]) ] } table('| Options of |');
my $redis = slurp_file("$root/doc/redis.md");
same($options{'CREATE SERVER'}, listed('ALTER SERVER s OPTIONS (x $$y$$)', 'context are:'), 'options of a server');
same($options{'CREATE SERVER'}, [ names(map { $_->[0] } table('| Server option |', $redis)) ], 'options of a server in redis.md');
same($options{'CREATE USER MAPPING'}, listed('CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (x $$y$$)', 'context are:'), 'options of a user mapping');
same($options{'CREATE USER MAPPING'}, [ names($redis =~ /^User mapping options: (.*?\.)\n\n/ms) ], 'options of a user mapping in redis.md');

my %option = map { (names($_->[0]))[0] => $_->[1] } table('| Option | Value |');
same([ keys %option ], [ slurp_file("$root/src/pages/index_options.c") =~ /add_\w+_reloption\(options_kind, "(\w+)"/g ], 'options of an index');
same([ keys %option ], [ names(map { $_->[0] } table('| Option | Default |', slurp_file("$root/doc/live.md"))) ], 'options of an index in live.md');
foreach my $name (grep { $option{$_} =~ /^[^`]*\d/ } sort keys %option)
{
	my $bounds = told("$create ($name = -1)", qr/(?:values are|must lie) between/) =~ s/,.*//r;
	is(join(' ', $option{$name} =~ /(\d+)/g), join(' ', $bounds =~ /(?:^|[\s"])(\d+)/g), "values of $name");
}
same([ names($option{strategy}) ], listed("$create (strategy = 'redisson')", 'strategies are:'), 'values of strategy');
same([ names($option{funnel}) ], $list{funnel}, 'values of funnel');

# Settings, with their defaults.
same([ map { join '|', names(@$_[ 0, 1 ]) } table('| Setting |') ],
	[ rows("LOAD 'bloomext'; SELECT name, boot_val FROM pg_settings WHERE name LIKE 'bloomext.%'") ], 'settings');

# SQLSTATEs that the source names, has of its own, or has PostgreSQL raise, but for those of
# classes that it compares with.
chomp(my $includes = `pg_config --includedir-server`);
my %code = slurp_file("$includes/utils/errcodes.h") =~ /^#define (ERRCODE_\w+) MAKE_SQLSTATE\(([^)]*)\)/gm;
my %raised = map { join('', $code{$_} =~ /\w/g) => 1 } grep { $code{$_} } map { slurp_file($_) =~ /\b(ERRCODE_\w+)/g } glob "$root/src/{,*/}*.[ch]";
$raised{ join '', /\w/g } = 1 foreach map { slurp_file($_) =~ /\bMAKE_SQLSTATE\(([^)]*)\)/g } glob "$root/src/*/*.h";
$raised{25006} = 1 if grep { slurp_file($_) =~ /\bPreventCommandIfReadOnly\(/ } glob "$root/src/*/*.c";
same([ names(map { $_->[0] } table('| SQLSTATE |')) ], [ grep { !/^(?:40|53|57|58|XX)000$/ } keys %raised ], 'SQLSTATEs');

# What pg_stat_activity calls waits.
same([ names(map { $_->[0] } table('| `wait_event` |')) ], [ slurp_file("$root/src/redis/socket.c") =~ /"(BloomextRedis\w+)"/g ], 'waits');

$node->stop;
done_testing();
