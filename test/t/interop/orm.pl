# doc/orm.md: migrations make what the page says, and programs print what it shows.  What
# a program saves of a row without its filter takes nothing out of that, and what it
# saves with an old one is refused.  Without the trigger the former does no harm either,
# and the latter loses what was added meanwhile.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use File::Basename;
use File::Path;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use Documents qw(blocks);
use Languages qw(python ruby java_of output_of);

my $page = 'doc/orm.md';
my $project = "$FindBin::RealBin/../../interop/orm";
my $built = PostgreSQL::Test::Utils::tempdir();

my $node = PostgreSQL::Test::Cluster->new('orm');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# pgjdbc has TCP alone.
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
$node->start;
my $user = $node->safe_psql('postgres', 'SELECT current_user');

# A block begins with the name of its file, in a folder of its section; Flyway's are SQL.
my (%shown, @nameless);
my @blocks = blocks($page);
foreach my $block (grep { $_->{language} ne 'text' } @blocks)
{
	my ($file) = $block->{text} =~ m{^(?:#|//|--) (\S+\.\w+)\n} or push @nameless, $block->{line} and next;
	my $folder = { sql => 'Hibernate/sql', java => 'Hibernate/src/main/java' }->{ $block->{language} } // $block->{section};
	mkpath(dirname("$built/$folder/$file"));
	append_to_file("$built/$folder/$file", $block->{text});
	$shown{ $block->{section} }{ lc $file =~ s/\..*//r } = ${ $block->{shown} } if $block->{shown};
}
is("@nameless", '', 'each block names its file');

# Beside the page's files, what any project has; then the commands for its programs.
my ($python) = python('', 'django', 'sqlalchemy', 'alembic', 'psycopg2');
my ($ruby) = ruby('', 'active_record', 'pg');
my %orms = (
	Django => sub {
		return unless $python;
		copy('settings.py', 'Django');
		append_to_file("$built/Django/$_/__init__.py", '') foreach 'news', 'news/migrations';
		my $shell = 'import django, runpy, sys; django.setup(); runpy.run_path(sys.argv[1])';
		return sub { [ $python, $_[0] eq 'migrate' ? ('-m', 'django', 'migrate') : ('-c', $shell, "$_[0].py") ] };
	},
	SQLAlchemy => sub {
		return unless $python;
		copy('alembic.ini', 'SQLAlchemy');
		copy('env.py', 'SQLAlchemy/migrations');
		return sub { [ $python, $_[0] eq 'migrate' ? ('-m', 'alembic', 'upgrade', 'head') : "$_[0].py" ] };
	},
	Hibernate => sub {
		copy('pom.xml', 'Hibernate');
		return unless java_of('Migrate', "$built/Hibernate");
		return sub { [ java_of(ucfirst $_[0], "$built/Hibernate") ] };
	},
	Rails => sub {
		return unless $ruby;
		copy('rails.rb', 'Rails');
		return sub { [ $ruby, 'rails.rb', $_[0] eq 'migrate' ? 'migrate' : "$_[0].rb" ] };
	});
is(join(' ', sort keys %shown), join(' ', sort keys %orms), 'each section has programs');

sub copy
{
	my ($file, $folder) = @_;
	system("cp '$project/$file' '$built/$folder'") == 0 or die "cannot copy $file";
	return;
}

# Where something is missing, a check says so.
sub sql { my (undef, $out) = $node->psql(@_); return $out; }

# What a command prints, and how it ends, in the folder of its section, with a database.
sub run
{
	my ($name, $database, $command) = @_;
	my $at = "127.0.0.1:${\ $node->port}/$database";
	my ($out, $err, $status) = output_of('/dev/null', 'env', '-C', "$built/$name",
		"DATABASE_URL=postgresql://$user\@$at", "JDBC_URL=jdbc:postgresql://$at?user=$user",
		"PYTHONPATH=$built/$name", 'DJANGO_SETTINGS_MODULE=settings', @$command);
	diag("@$command: $err") if $status;
	return $status ? "$out(status $status)" : $out;
}

foreach my $name (sort keys %orms)
{
  SKIP:
	{
		my $command = $orms{$name}->() or skip "no $name", 1;
		my ($guarded, $unguarded) = map { lc($name) . "_$_" } 'guarded', 'unguarded';
		$node->safe_psql('postgres', "CREATE DATABASE $guarded");
		unlike(run($name, $guarded, $command->('migrate')), qr/status/, "$name: migrates");
		is(sql($guarded, q{
			SELECT tgname, pg_get_triggerdef(oid) LIKE '%BEFORE UPDATE ON public.filters FOR EACH ROW EXECUTE FUNCTION bf_only_grows(''f'')'
				FROM pg_trigger WHERE NOT tgisinternal;
			SELECT relname, amname, indisvalid FROM pg_class JOIN pg_am ON pg_am.oid = relam JOIN pg_index ON indexrelid = pg_class.oid
				WHERE relkind = 'i' AND amname <> 'btree' AND relnamespace = 'public'::regnamespace;
			SELECT maybe IS NULL FROM bf_live_info('articles_title_bf')}),
			"filters_only_grow|t\narticles_title_bf|bloomfilter|t\nt", "$name: there is the trigger, and a live filter that is sure");
		if ($name eq 'Django')
		{
			unlike(run($name, $guarded, [ $python, '-m', 'django', 'makemigrations', '--check', '--dry-run' ]), qr/status/,
				'Django: migrations make the models');
		}
		$node->safe_psql('postgres', "CREATE DATABASE $unguarded TEMPLATE $guarded");
		$node->safe_psql($unguarded, 'DROP TRIGGER IF EXISTS filters_only_grow ON filters');

		is(run($name, $guarded, $command->('titles')), $shown{$name}{titles}, "$name: asks, adds and saves");
		is(run($name, $guarded, $command->('lost')), $shown{$name}{lost}, "$name: an old filter is refused");
		is(sql($guarded, 'SELECT note, bf_new(f, ARRAY[$$Breaking news$$, $$Old hat$$]) FROM filters; SELECT note FROM filters'),
			'checked', "$name: and nothing of the row is changed");

		is(run($name, $unguarded, $command->('titles')), $shown{$name}{titles}, "$name: the same without the trigger");
		is(run($name, $unguarded, $command->('lost')), "lost: Old hat\n", "$name: which an old filter is lost without");
		is(sql($unguarded, 'SELECT note, bf_new(f, ARRAY[$$Breaking news$$, $$Old hat$$]) FROM filters'),
			'changed|Old hat', "$name: and that alone");
	}
}
like(slurp_file("$FindBin::RealBin/../../../$page"), qr/without the trigger\s+it prints `lost: Old hat`/, 'the page says so');

$node->stop;
done_testing();
