# UpgradeTest.pm
#	What versions stored, in folders of test/upgrade that are called by them: the
#	scripts that store it and ask for it, and what is kept of both.
#
#	  fill.sql		one of everything, in a database of its own
#	  questions.sql	what no version may answer otherwise
#	  answers		to those, of the bytes that are kept
#	  values		the table's values, as COPY writes them
#	  indexes		the files of live filters, compressed, in base64
#	  scripts		checksums of the SQL scripts that make the extensions
#
#	UpgradeRedis.pm has the same for keys in Redis.
package UpgradeTest;

use strict;
use warnings;

use Compress::Zlib qw(memGzip memGunzip);
use Digest::SHA qw(sha256_hex);
use File::Basename qw(basename dirname);
use MIME::Base64 qw(encode_base64 decode_base64);
use PostgreSQL::Test::Utils;
use Test::More;

use Exporter qw(import);
our @EXPORT = qw(is_same);

my $root = dirname(__FILE__) . '/../upgrade';
my $block = 8192;

# The versions that something is kept of.
sub versions
{
	return sort { version->parse("v$a") <=> version->parse("v$b") } map { m{([^/]+)/answers$} } glob "$root/*/answers";
}

# at(node, database, version): a database that is there, filled as for that version.
sub at
{
	my ($class, $node, $database, $version) = @_;
	return bless { node => $node, database => $database, folder => "$root/$version" }, $class;
}

# new(node, database, version): a database is made, and filled as for that version.
sub new
{
	my ($class, $node, $database, $version) = @_;
	my $self = $class->at($node, $database, $version);
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	$self->sql('CREATE EXTENSION bloomext');
	$self->script('fill.sql');
	return $self;
}

# A database with the extension alone, of the newest version.
sub fresh
{
	my ($class, $node) = @_;
	my $self = $class->at($node, 'postgres', 'none');
	# As fill.sql does.
	$self->sql(q(CREATE EXTENSION bloomext; REVOKE EXECUTE ON FUNCTION bf_mirror(bloomfilter, name, text, text, interval) FROM PUBLIC));
	return $self;
}

sub sql
{
	my ($self, $sql) = @_;
	return $self->{node}->safe_psql($self->{database}, $sql);
}

sub script
{
	my ($self, $name) = @_;
	return $self->sql("\\i $self->{folder}/$name");
}

# Names that a list lacks.
sub beyond
{
	my ($list, @names) = @_;
	my %listed = map { $_ => 1 } @$list;
	return grep { !$listed{$_} } @names;
}

# By statements whose error lists what there is, names which a table of fill.sql lacks.
sub unlisted
{
	my ($self, %statements) = @_;
	return map
	{
		my ($names) = ($self->{node}->psql($self->{database}, $statements{$_}))[2] =~ /HINT:  \w+ \w+ are: (.*)\./ or die "no list: $statements{$_}";
		my @filled = map { s/\|.*//r } split /\n/, $self->sql("TABLE $_");
		my $table = $_;
		map { "$table: $_" } beyond(\@filled, split /, /, $names)
	} sort keys %statements;
}

# What there is today of which nothing is kept, before it is restored.
sub lacking
{
	my ($self) = @_;
	my @kept = map { s/\t.*//r } split /\n/, slurp_file("$self->{folder}/values");
	return ($self->unlisted(
		strategies => q(SELECT bf_create(1, 0.1, 'none')),
		formats => q(SELECT bf_export(bf_create(1), 'none')),
		funnels => q(CREATE INDEX ON elements USING bloomfilter (type) WITH (funnel = none))),
		beyond(\@kept, split /\n/, $self->sql('SELECT name FROM made')),
		split /\n/, $self->sql(q(SELECT opcintype::regtype FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod
			WHERE amname = 'bloomfilter' AND opcintype <> 'anyelement'::regtype AND opcintype NOT IN (SELECT type::regtype FROM elements))));
}

sub answers
{
	my ($self) = @_;
	return $self->script('questions.sql') . "\n";
}

# Those of this version's SQL scripts, for script/lint.
sub scripts
{
	my ($self) = @_;
	my $version = basename($self->{folder});
	return join '', map { sha256_hex(slurp_file($_)) . '  ' . basename($_) . "\n" } sort glob "$root/../../sql/*--$version.sql";
}

sub kept_answers
{
	my ($self) = @_;
	return slurp_file("$self->{folder}/answers");
}

# Answers without what PostgreSQL's own hashes decide, which depend on the byte order: in
# which partition a row is, and the hash of a value.
sub anywhere
{
	my ($answers) = @_;
	return $answers =~ s/^parts_bf\|.*\n//mr =~ s/^t\|f\|(?:\w{32}\|){3}\K-?\d+$//gmr;
}

# Whether the files of indexes are such as this server has.
sub fits
{
	my ($self) = @_;
	return pack('S', 1) eq pack('v', 1) && $self->sql('SHOW block_size') == $block;
}

# The file of this index is good for its own table only: emptied by the transaction
# that made it, it names that table's file.
sub forget_emptied
{
	my ($self) = @_;
	$self->sql(q(DELETE FROM live WHERE index = 'emptied_bf'));
}

# The files of live filters by the indexes' names.
sub files
{
	my ($self) = @_;
	my $data = $self->{node}->data_dir;
	return map { my ($index, $path) = split /\|/; ($index => "$data/$path") } split /\n/, $self->sql(q(
		SELECT DISTINCT i.index, pg_relation_filepath(i.index) FROM live, bf_live_info(live.index) AS i));
}

# A file's blocks, as if no WAL knew them.
sub without_lsns
{
	my ($bytes) = @_;
	die 'not of whole blocks' if length($bytes) % $block;
	return join '', map { "\0" x 8 . substr($bytes, $_ * $block + 8, $block - 8) } 0 .. length($bytes) / $block - 1;
}

sub put
{
	my ($name, $bytes) = @_;
	open my $file, '>:raw', $name or die "$name: $!";
	print $file $bytes;
	close $file or die "$name: $!";
}

# Keep what is there, for a server to restore that has no checksums, either.
sub keep
{
	my ($self) = @_;
	my ($node, $folder) = ($self->{node}, $self->{folder});
	$self->forget_emptied;
	$self->sql("\\copy (SELECT name, f FROM made ORDER BY name COLLATE \"C\") TO '$folder/values'");
	put("$folder/answers", $self->answers);
	put("$folder/scripts", $self->scripts);
	my %files = $self->files;
	$node->stop;
	put("$folder/indexes", join '', map { "$_\t" . encode_base64(memGzip(without_lsns(slurp_file($files{$_}))), '') . "\n" } sort keys %files);
	$node->start;
}

# What is kept of values, as COPY BINARY writes it anywhere.
sub binary
{
	my ($self) = @_;
	my @rows = map { my ($name, $hex) = /^(.*)\t\\\\x(.*)$/ or die "no value: $_"; pack 'n(N/a)2', 2, $name, pack 'H*', $hex } split /\n/, slurp_file("$self->{folder}/values");
	return join '', "PGCOPY\n\377\r\n\0", pack('N2', 0, 0), @rows, pack 'n', 0xffff;
}

# Put the values that are kept in the place of those that are there, and see that COPY
# BINARY reads and writes them the same.
sub restore_values
{
	my ($self, $name) = @_;
	my $file = $self->{node}->basedir . "/$self->{database}.values";
	put($file, $self->binary);
	$self->forget_emptied;
	is($self->sql(qq(
		CREATE TEMP TABLE kept (name text, f bloomfilter);
		\\copy kept FROM '$self->{folder}/values'
		CREATE TEMP TABLE received (LIKE kept);
		\\copy received FROM '$file' (FORMAT binary)
		UPDATE made SET f = (SELECT f FROM kept WHERE kept.name = made.name);
		DELETE FROM made WHERE f IS NULL;
		\\copy kept TO '$file' (FORMAT binary)
		SELECT count(*) FROM kept JOIN received USING (name) WHERE kept.f <> received.f OR kept.f::text <> received.f::text)), 0, "$name: COPY BINARY reads what text does");
	is(slurp_file($file), $self->binary, '... and writes the same bytes');
	return;
}

# Put the files of indexes that are kept in the place of those that are there, when no
# transaction that they know of is still to come.
sub restore_files
{
	my ($self) = @_;
	my ($node, $folder) = ($self->{node}, $self->{folder});
	$self->sql("SELECT 'SELECT pg_current_xact_id()' FROM generate_series(1, 5000) \\gexec");
	my %files = $self->files;
	my %kept = map { split /\t/ } split /\n/, slurp_file("$folder/indexes");
	join(' ', sort keys %files) eq join(' ', sort keys %kept) or die 'other indexes are kept';
	$node->stop;
	system_log('pg_checksums', '--disable', '-D', $node->data_dir);
	put($files{$_}, memGunzip(decode_base64($kept{$_}))) foreach keys %kept;
	$node->start;
}

# The lines of two texts that are in one of them only.
sub is_same
{
	my ($got, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @lines = map { { map { $_ => 1 } split /\n/ } } $got, $expected;
	cmp_ok(scalar keys %{ $lines[1] }, '>', 100, "$name: there is something to compare");
	my @differ = ((map { "+ $_" } grep { !$lines[1]{$_} } sort keys %{ $lines[0] }), (map { "- $_" } grep { !$lines[0]{$_} } sort keys %{ $lines[1] }));
	is(join("\n", @differ), '', $name);
}

# Everything that the catalogs say of the extension's members and what belongs to
# them: each column of each row, with whose they are in place of OIDs.  Expressions,
# in which such numbers are places in a script, too, are as SQL has them; and columns'
# options are nobody's but the server's.
my %expression_of = (pg_proc => 'pg_get_function_arguments(oid)', pg_rewrite => 'pg_get_ruledef(oid)');
my %rows_of = ((map { $_ => [ 'oid', "'$_'::regclass" ] } qw(pg_extension pg_proc pg_type pg_operator pg_opclass pg_opfamily pg_amop pg_amproc pg_am pg_cast
		pg_class pg_rewrite pg_foreign_data_wrapper)), pg_aggregate => [ 'aggfnoid', "'pg_proc'::regclass" ], pg_attribute => [ 'attrelid', "'pg_class'::regclass" ],
	pg_depend => [ 'objid', 'c.classid' ], map { $_ => [ 'objoid', 'c.classoid' ] } qw(pg_description pg_init_privs));

sub catalogs
{
	my ($self) = @_;
	my $rows = join ' UNION ALL ', map { "SELECT '$_', o.*, to_jsonb(c) - '{proargdefaults,ev_action,attoptions}'::text[], @{[ $expression_of{$_} // 'NULL' ]} FROM object AS o JOIN $_ AS c ON c.$rows_of{$_}[0] = o.objid AND $rows_of{$_}[1] = o.classid" } sort keys %rows_of;
	my @rows = map { [ split /\t/ ] } split /\n/, $self->sql(qq(
		\\pset fieldsep '\\t'
		WITH RECURSIVE object (classid, objid) AS (
			SELECT 'pg_extension'::regclass::oid, oid FROM pg_extension WHERE extname = 'bloomext'
			UNION
			SELECT d.classid, d.objid FROM pg_depend AS d JOIN object AS o ON o.classid = d.refclassid AND o.objid = d.refobjid
			WHERE d.deptype IN ('e', 'i') OR d.deptype = 'a' AND d.classid IN ('pg_amop'::regclass, 'pg_amproc'::regclass))
		SELECT classid::regclass, objid, pg_describe_object(classid, objid, 0), row, to_json(expression), catalog FROM ($rows) AS r (catalog, classid, objid, row, expression)));
	my %classes = map { $_->[0] => 1 } @rows;
	is(join(' ', grep { !$rows_of{$_} } sort keys %classes), '', "$self->{database}: rows of all kinds of objects are looked at");

	# An OID is one of a catalog, which the column tells.
	my %refers = map { my ($column, $catalog) = split /\|/; ($column => $catalog) }
	  split /\n/, $self->sql(q(SELECT concat(fktable, '.', unnest(fkcols)), pktable FROM pg_get_catalog_foreign_keys() WHERE array_length(fkcols, 1) = 1));
	my %name_of = map { split /\|/ } split /\n/, $self->sql(q(SELECT oid, relname FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace));
	my %whose = map { ("$_->[0] $_->[1]" => $_->[2]) } @rows;
	return join "\n", map
	{
		my ($class, undef, $name, $row, $expression, $catalog) = @$_;
		my %to = (objid => $class, objoid => $class, oid => $class, $row =~ /"refclassid": "(\d+)"/ ? (refobjid => $name_of{$1}) : ());
		$row =~ s{"(\w+)": \K("[^"]*"|\[[^]]*\])}{
			my ($to, $value) = ($to{$1} // $refers{"$catalog.$1"}, $2);
			defined $to ? $value =~ s/\d+/$whose{"$to $&"} ? '<' . $whose{"$to $&"} . '>' : $&/ger : $value }ge;
		"$name: $row" . ($expression // '')
	} @rows;
}

# What is stored takes more, and knows it; those that grow do.
sub takes_more
{
	my ($self, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $grown = $self->sql(q(SELECT layers FROM bf_live_info('guava_growing_bf')));
	$self->sql(q(
		UPDATE made SET f = of_elements('bf_add_all(f, $1)', element, 35, f)::bloomfilter;
		DO $$ BEGIN PERFORM put(tab, min(element), 401, 1000) FROM live GROUP BY tab; END $$));
	is($self->sql(q(SELECT name FROM made WHERE of_elements('bf_contains_all(f, $1)', element, 35, f) <> 'true')), '', "$name: values take more");
	is($self->sql(q(SELECT index, v FROM live, bf_live_verify(index) AS v WHERE missing > 0 OR rows_checked < CASE among WHEN 'true' THEN 900 ELSE 400 END)), '',
		"$name: live filters take more");
	cmp_ok($self->sql(q(SELECT layers FROM bf_live_info('guava_growing_bf'))), '>', $grown, "$name: it grows");
	is($self->sql(q(SELECT index, due, reason FROM bf_live_filters WHERE due IS NULL OR reason ~ 'format|corrupted|read')), '', "$name: all are read");
}

1;
