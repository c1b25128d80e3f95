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

our @EXPORT_OK = qw(python python_of ruby node go rust java java_of output_of);

sub kept { return "$PostgreSQL::Test::Utils::tmp_check/$_[0]"; }

# Whether a command works; what it took, and what it says otherwise, is for the log.
sub works
{
	my ($command) = @_;
	my $before = taken();
	my $said = `( $command ) 2>&1 </dev/null`;
	note(sprintf '%.1f s of processor time: %s%s', taken() - $before, $command, $? ? ": $said" : '');
	return $? == 0;
}

sub taken { my (undef, undef, $user, $system) = times; return $user + $system; }

# The python3 of the path may be another than the distribution's, which has the modules.
sub python
{
	my ($program, @modules) = @_;
	my $imports = join '; ', map { "import $_" } @modules;
	my ($python) = grep { works("$_ -c '$imports'") } 'python3', '/usr/bin/python3';
	return $python ? ($python, $program) : ();
}

# The modules of a folder's requirements.txt, in an environment of their own.
sub python_of
{
	my ($program, $folder, @modules) = @_;
	my $fetched = kept('python/' . basename($folder));
	my $imports = join '; ', map { "import $_" } @modules;
	works("'$fetched/bin/python' -c '$imports'")
	  || works("python3 -m venv '$fetched' && '$fetched/bin/pip' install --quiet --no-input -r '$folder/requirements.txt' && '$fetched/bin/python' -c '$imports'")
	  or return;
	return ('env', 'PYTHONDONTWRITEBYTECODE=1', "$fetched/bin/python", $program);
}

# Nor need the path's ruby be the distribution's.
sub ruby
{
	my ($program, @libraries) = @_;
	my $options = join ' ', map { "-r$_" } @libraries;
	my ($ruby) = grep { works("$_ $options -e 1") } 'ruby', '/usr/bin/ruby';
	return $ruby ? ($ruby, $program) : ();
}

# The modules of a folder's package.json, for the releases of Node that it names, if any.
sub node
{
	my ($program, $folder, @modules) = @_;
	my ($least) = slurp_file("$folder/package.json") =~ /"node": ">=(\d+)"/;
	return unless works("node -e 'process.exit(parseInt(process.versions.node) < @{[ $least // 0 ]} ? 1 : 0)'");
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

# A binary or an example of a folder with a Cargo.toml and a Cargo.lock, built below
# another one.  The cargo of the path may be one that works at somebody's home only.
sub rust
{
	my ($folder, $what, $name, $built) = @_;
	local @ENV{qw(CARGO_HOME CARGO_TARGET_DIR)} = (kept('cargo'), $built);
	local $ENV{PATH} = works('cargo --version') ? $ENV{PATH} : "/usr/bin:$ENV{PATH}";
	return unless works("cd '$folder' && cargo build --locked --quiet --$what '$name'");
	return "$built/debug/" . ($what eq 'example' ? 'examples/' : '') . $name;
}

# A class or a source file, with jars or folders of classes.
sub java
{
	my ($program, @path) = @_;
	return unless works('java -version');
	if (my @missing = grep { !/\*$/ && !-r } @path) { note("@missing: missing"); return; }
	return ('java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8',
		'-cp', join(':', @path), $program);
}

# A class of a folder with a pom.xml, built there as Maven does.
sub java_of
{
	my ($class, $folder) = @_;
	return unless -d "$folder/jars" || works("mvn -q -B -f '$folder/pom.xml' compile dependency:copy-dependencies -DoutputDirectory='$folder/jars'");
	return java($class, "$folder/target/classes", "$folder/jars/*");
}

# What a command makes of a file: what it prints, what it says of errors, its status.
# One that hangs is ended, and has a status, too.
sub output_of
{
	my ($file, @command) = @_;
	my ($out, $err) = ('', '');
	my $run = IPC::Run::harness(\@command, '<', $file, '>', \$out, '2>', \$err, IPC::Run::timeout(180));
	return ($out, $err, $?) if eval { $run->run; 1 };
	my $error = $@;
	$run->kill_kill;
	return ($out, "$err$error", -1);
}

1;
