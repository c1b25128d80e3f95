# Languages.pm
#	Programs in other languages, and the libraries they need: the distribution's
#	where it has them, otherwise what each language's own client fetches, in the
#	versions that a lock file beside the program names.  That is kept in tmp_check:
#	tests share it, and it ends with them.
#
#	Each function returns a command, as a list, or nothing where the language or a
#	library cannot be had; why is then in the test's log.
package Languages;

use strict;
use warnings;

use Exporter 'import';
use File::Basename;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT_OK = qw(python node go rust java output_of);

sub kept { return "$PostgreSQL::Test::Utils::tmp_check/$_[0]"; }

# Whether a command works; what it says, otherwise, is for the log.
sub works
{
	my ($command) = @_;
	my $said = `( $command ) 2>&1 </dev/null`;
	note("$command: $said") if $?;
	return $? == 0;
}

# The python3 of the path may be another than the distribution's, which has the modules.
sub python
{
	my ($program, @modules) = @_;
	my $imports = join '; ', map { "import $_" } @modules;
	my ($python) = grep { works("$_ -c '$imports'") } 'python3', '/usr/bin/python3';
	return $python ? ($python, $program) : ();
}

# The modules of a folder's package.json.
sub node
{
	my ($program, $folder, @modules) = @_;
	return unless works('command -v node');
	my $requires = join '; ', map { "require(\"$_\")" } @modules;
	my $fetched = kept("node/" . basename($folder));
	local $ENV{NODE_PATH} = join ':', "$fetched/node_modules", '/usr/share/nodejs';
	works("node -e '$requires'")
	  || works("mkdir -p '$fetched' && cd '$fetched' && cp '$folder'/package*.json . && npm ci --no-audit --no-fund && node -e '$requires'")
	  or return;
	return ('env', "NODE_PATH=$ENV{NODE_PATH}", 'node', $program);
}

# A package of a folder with a go.mod and a go.sum.  Programs are built without the
# sources' version, which a copy of the tree does not have.
sub go
{
	my ($folder, $package, $built) = @_;
	local @ENV{qw(GOPATH GOCACHE GOFLAGS GOTOOLCHAIN)} =
	  (kept('go'), kept('go-built'), '-modcacherw -buildvcs=false', 'local');
	return works("cd '$folder' && go build -o '$built' '$package'") ? $built : ();
}

# A program of a folder with a Cargo.toml and a Cargo.lock, built below another one.
sub rust
{
	my ($folder, $program, $built) = @_;
	local @ENV{qw(CARGO_HOME CARGO_TARGET_DIR)} = (kept('cargo'), $built);
	return works("cd '$folder' && cargo build --locked --quiet --bin '$program'") ? "$built/debug/$program" : ();
}

# A single source file, with jars.
sub java
{
	my ($program, @jars) = @_;
	return unless works('java -version');
	if (my @missing = grep { !-r } @jars) { note("@missing: missing"); return; }
	return ('java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8',
		'-cp', join(':', @jars), $program);
}

# What a command prints, and what it says of errors.
sub output_of
{
	my ($input, @command) = @_;
	my ($out, $err) = ('', '');
	IPC::Run::run(\@command, '<', \$input, '>', \$out, '2>', \$err);
	return ($out, $err);
}

1;
