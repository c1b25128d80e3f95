# UpgradeTest.pm
#	What versions stored, in folders of test/upgrade that are called by them: the
#	scripts that store it and ask for it, and what is kept of both.
#
#	  fill.sql		one of everything, in a database of its own
#	  questions.sql	what no version may answer otherwise
#	  answers		to those, of the bytes that are kept
#	  values		the table of values, as COPY writes it
#	  indexes		the files of live filters, compressed, in base64
package UpgradeTest;

use strict;
use warnings;

use Compress::Zlib qw(memGzip memGunzip);
use File::Basename qw(dirname);
use MIME::Base64 qw(encode_base64 decode_base64);
use PostgreSQL::Test::Utils;

my $root = dirname(__FILE__) . '/../upgrade';
my $block = 8192;

# The versions that something is kept of.
sub versions
{
	return sort map { m{([^/]+)/answers$} } glob "$root/*/answers";
}

# new(node, database, version, installed): a database is made, and filled as for
# that version; the extension is of the version installed, or the newest.
sub new
{
	my ($class, $node, $database, $version, $installed) = @_;
	my $self = bless { node => $node, database => $database, folder => "$root/$version" }, $class;
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'");
	$self->sql('CREATE EXTENSION bloomext' . (defined $installed ? " VERSION '$installed'" : ''));
	$self->script('fill.sql');
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

sub answers
{
	my ($self) = @_;
	return $self->script('questions.sql') . "\n";
}

sub kept_answers
{
	my ($self) = @_;
	return slurp_file("$self->{folder}/answers");
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
	$self->sql("\\copy (SELECT * FROM made ORDER BY name COLLATE \"C\") TO '$folder/values'");
	put("$folder/answers", $self->answers);
	my %files = $self->files;
	$node->stop;
	put("$folder/indexes", join '', map { "$_\t" . encode_base64(memGzip(without_lsns(slurp_file($files{$_}))), '') . "\n" } sort keys %files);
	$node->start;
}

# Put what is kept in the place of what is there, when no transaction that it knows of is
# still to come.
sub restore
{
	my ($self) = @_;
	my ($node, $folder) = ($self->{node}, $self->{folder});
	$self->forget_emptied;
	$self->sql("TRUNCATE made;\n\\copy made FROM '$folder/values'\nSELECT 'SELECT pg_current_xact_id()' FROM generate_series(1, 5000) \\gexec");
	my %files = $self->files;
	my %kept = map { split /\t/ } split /\n/, slurp_file("$folder/indexes");
	join(' ', sort keys %files) eq join(' ', sort keys %kept) or die 'other indexes are kept';
	$node->stop;
	system_log('pg_checksums', '--disable', '-D', $node->data_dir);
	put($files{$_}, memGunzip(decode_base64($kept{$_}))) foreach keys %kept;
	$node->start;
}

1;
