# What a release says of itself is so: META.json names what is there, in the version that
# each control file has, and for the releases of PostgreSQL that Debian's packages are for;
# script/dist prints the notes of this version, all of them and no other's.  Where there is
# pgxn_meta, that finds META.json valid.  The packages are tried by script/dist itself.
use strict;
use warnings;

use FindBin;
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $root = "$FindBin::RealBin/../../..";
my $meta = decode_json(slurp_file("$root/META.json"));
my $version = $meta->{version};

like($version, qr/^\d+\.\d+\.\d+$/, 'a version as PGXN has them');
is(join(' ', sort keys %{ $meta->{provides} }), join(' ', sort map { s{.*/|\.control$}{}gr } glob "$root/*.control"), 'it provides all extensions');
foreach my $name (sort keys %{ $meta->{provides} })
{
	my $provided = $meta->{provides}{$name};
	my ($sql) = slurp_file("$root/$name.control") =~ /^default_version = '(.*)'$/m;
	is($provided->{file}, "sql/$name--$sql.sql", "$name: the script that it is made by");
	is($provided->{version}, $version, "$name: its version");
	ok(-s "$root/$provided->{$_}", "$name: there is $provided->{$_}") foreach qw(file docfile);
}
SKIP:
{
	skip 'no debian/ in what was released', 1 unless -d "$root/debian";
	my ($oldest) = slurp_file("$root/debian/pgversions") =~ /^(\d+)\+$/;
	is($meta->{prereqs}{runtime}{requires}{PostgreSQL}, "$oldest.0.0", 'what it needs is what Debian builds for');
}
SKIP:
{
	skip 'pgxn_meta is not installed', 1 if system('command -v pgxn_meta >/dev/null 2>&1') != 0;
	command_ok([ 'pgxn_meta', "$root/META.json" ], 'META.json is valid');
}

my $changelog = slurp_file("$root/CHANGELOG.md");
my ($section) = $changelog =~ /^## \Q$version\E [^\n]*\n+(.*?)(?=^## |\z)/ms;
my ($notes, $err) = run_command([ "$root/script/dist", 'notes' ]);
is($err, '', 'notes are printed');
is($notes, $section =~ s/\[([^\]]*)\]\(([^)]*)\)/$1: $2/gr =~ s/\s+\z//r, '... of this version, its links as text');
cmp_ok(scalar(() = $notes =~ /^- /mg), '>', 20, '... and not few');

done_testing();
