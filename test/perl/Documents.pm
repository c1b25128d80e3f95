# Documents.pm
#	The documents, as tests read them.
#
#	Pages are found by glob, so that nobody has to remember a new one.  The ```sql
#	blocks of a page are one script for psql, run in order from an empty database; a
#	```text block right behind one is what psql prints for it.  A block that psql did
#	not come to the end of has failed, whatever the reason.  What no test can run is
#	fenced ```postgresql, and listed with its reason in test/t/docs/documents.pl; SQL in
#	any other fence is a block that somebody forgot.
package Documents;

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT_OK = qw(pages blocks code escaped uses_redis run_blocks check_page);

my $root = dirname(__FILE__) . '/../..';

sub pages { return map { s{^\Q$root\E/}{}r } glob "$root/{,doc/,bench/,clients/,clients/*/}*.md"; }

# The blocks of code of a page: language, text, line and section; of SQL and of programs
# also the output that the page shows, of output whose it is.
sub blocks
{
	my ($page) = @_;
	my ($section, $line, @blocks, $open, $last) = ('', 0);
	foreach (split /^/, slurp_file("$root/$page"))
	{
		$line++;
		if ($open && /^\s*\Q$open->{fence}\E\s*$/)
		{
			push @blocks, $last = $open;
			$open = undef;
		}
		elsif ($open)
		{
			$open->{text} .= s/^$open->{indent}//r;
		}
		elsif (/^(\s*)(```+|~~~+)\s*(\S*)/)
		{
			$open = { page => $page, line => $line, section => $section, indent => $1, fence => $2, language => $3, text => '' };
			if ($3 eq 'text' && $last && $last->{language} =~ /^(?:sql|python|java|go|javascript|ruby|rust)$/)
			{
				$last->{shown} = \$open->{text};
				$open->{of} = $last->{line};
			}
		}
		else
		{
			$section = $1 if /^##+ (.*)$/;
			$last = undef if /\S/;
		}
	}
	die "$page:$open->{line}: no end of a block" if $open;
	return @blocks;
}

# The text of those of a language, of a section if one is named.
sub code
{
	my ($page, $language, $section) = @_;
	return map { $_->{text} } grep { $_->{language} eq $language && (!defined $section || $_->{section} eq $section) } blocks($page);
}

# Blocks that ought to run, or to be compared, and are fenced so that they are not.
sub escaped
{
	my $statement = qr/^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT|COPY|SET|VACUUM|REINDEX)\b[^;]*(?:;|\\g)/m;
	return grep {
		my $language = $_->{language};
		$language =~ /sql|^pg|psql/i ? $language !~ /^(?:sql|postgresql)$/
		  : $language eq 'text' ? !$_->{of}
		  : $language eq '' && $_->{text} =~ $statement
	} @_;
}

sub uses_redis { return scalar grep { /port '6379'/ } code($_[0], 'sql'); }

# Run blocks by one psql, as somebody pastes them: what each printed, of those that
# psql came to the end of, and what it said about the next one.  Redis of port 6379
# is the one that is given.
sub run_blocks
{
	my ($node, $database, $redis, @blocks) = @_;
	my ($mark, @said) = ('end of a block');
	my $script = join '', map { "$_->{text}\n\\echo $mark\n\\warn $mark\n" } @blocks;
	$script =~ s/port '6379'/port '$redis->{port}'/g if $redis;
	IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database) ],
		'<', \$script, '>', \my $out, '2>', \my $err);
	push @said, $1 while $out =~ /\G(.*?)^$mark\n/gms;
	return (\@said, $err =~ s/.*^$mark\n//msr);
}

# As it is compared: releases print the same plans in different ways.
sub comparable
{
	my ($printed) = @_;
	if ($printed =~ s/^ +QUERY PLAN *\n-+\n//)
	{
		$printed =~ s/(?<=rows=)(\d+\.\d\d)/sprintf '%.0f', $1/ge;
		$printed =~ s/^ *Index Searches: \d+\n//mg;
		$printed =~ s/^\(\d+ rows\)\n//m;
	}
	return $printed =~ s/ +$//mgr =~ s/\n+\z/\n/r;
}

# All of a page runs, from an empty database, and prints what the page says.
sub check_page
{
	my ($node, $page, $redis) = @_;
	my @blocks = grep { $_->{language} eq 'sql' } blocks($page);
	my $has_gates = $node->safe_psql('postgres', 'SHOW server_version_num') >= 150000;
  SKIP:
	{
		my %used = map { $_ => 1 } map { $_->{text} =~ /^CREATE EXTENSION (?:IF NOT EXISTS )?(\w+)/mg } @blocks;
		foreach my $extension (sort keys %used)
		{
			skip "no $extension", 1
			  if !$node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'");
		}
		$redis->cli('FLUSHALL') if $redis;
		$node->safe_psql('postgres', 'CREATE DATABASE page');
		my ($said, $error) = run_blocks($node, 'page', $redis, @blocks);
		foreach my $i (0 .. $#blocks)
		{
			my ($block, $at) = ($blocks[$i], "$page:$blocks[$i]{line}");
			if (!ok($i < @$said, "$at runs"))
			{
				diag $block->{text} =~ /^((?:.*\n){1,3})/, "...\n$error";
				last;
			}
			next if !$block->{shown};
		  SKIP:
			{
				skip 'no gates before PostgreSQL 15', 1 if !$has_gates && ${ $block->{shown} } =~ /Bloom Filter Gate/;
				is(comparable($said->[$i]), comparable(${ $block->{shown} }), "$at prints what the page shows");
			}
		}
		clear($node);
	}
	return;
}

# What a page leaves: databases, then roles, and settings of the server.
sub clear
{
	my ($node) = @_;
	$node->safe_psql('postgres', $_) foreach 'ALTER SYSTEM RESET ALL', 'SELECT pg_reload_conf()', split /\n/, $node->safe_psql('postgres', q{
		SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'
		UNION ALL SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE oid >= 16384});
	return;
}

1;
