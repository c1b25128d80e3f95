# Random queries with the gate and without.  Whatever is asked, while whatever is
# done to the tables, one thing holds: with bloomext.enable_gate = on a query
# gives the rows, and the error, that it gives with off under the same snapshot.
#
# Several sessions compare, each in transactions of its own: REPEATABLE READ for
# the most part, or READ COMMITTED with the tables locked against writers.  Beside
# them other sessions write rows, and change tables and indexes.  As a few of those
# changes are seen by older snapshots, too (ATTACH PARTITION), a query that seems to
# differ is run once more without the gate: only if that repeats its rows is it a
# disagreement.  Where a query can fail and the gate had PostgreSQL choose another
# plan, which row fails first may differ; those are counted, not held against it.
#
# A round has tables of its own, made at random; a run has as many rounds as its
# time allows.  Queries are random sentences of the grammar below.
#
# Gateable is a query that compares what a filter is over, with plans = on, with an
# expression that the filter's family admits, and whose plan without the gate scans
# that table in a place where the gate pays: as the inner side of a nested loop or in
# a subplan, by that clause, or by reading all of it where the expression is a
# column of another table.  At least half of them must be gated, and of their
# questions a third surely absent.
#
# That the test would notice: BLOOMEXT_GATE_MUTANT is a sed script that makes a
# mutant of a copy of src/*/*.c; the test builds it, and fails unless it is found
# out within a minute.  Filters that deny two elements in a hundred:
#	BLOOMEXT_GATE_MUTANT='/if (bf_deferred_contains/i if (pair->h1 % 50 == 0) return false;'
#
# BLOOMEXT_GATE_SECONDS is how long it runs: 90, unless it says otherwise.
# BLOOMEXT_SEED repeats the choices of a run, though not its timing.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use JSON::PP ();
use List::Util qw(max min sum0);
use Test::More;
use Time::HiRes qw(sleep time);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

use Workers;

my $mutant = $ENV{BLOOMEXT_GATE_MUTANT};
my $seconds = $ENV{BLOOMEXT_GATE_SECONDS} || ($mutant ? 60 : 90);
my $seed = $ENV{BLOOMEXT_SEED} || int(rand(2**31));
srand($seed);
diag("BLOOMEXT_SEED=$seed");

sub any { return $_[ rand @_ ]; }
sub chance { return rand() < shift; }

my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', qq(
fsync = off
autovacuum = off
jit = off
deadlock_timeout = 100ms
lock_timeout = 1s
statement_timeout = 10s
max_connections = 40
max_worker_processes = 16
max_parallel_workers = 8
log_line_prefix = '%m [%p] %e '
log_statement = ddl
));
$node->start;
my $version = $node->safe_psql('postgres', 'SHOW server_version_num');
plan skip_all => 'no gates before PostgreSQL 15' if $version < 150000;

# Build the mutant.
sub build_mutant
{
	my $tree = "$dir/mutant";
	my $log = "$dir/mutant.log";
	delete local @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};
	chdir "$FindBin::RealBin/../../..";
	system("mkdir '$tree' && cp -rp Makefile src sql bloomext.control '$tree' && rm -f '$tree'/src/*/*.o") == 0
	  or die 'cannot copy the source';
	system('sed', '-i', $mutant, glob "$tree/src/*/*.c") == 0 or die 'cannot make the mutant';
	system("diff -r src '$tree/src' >'$log'") != 0 or die 'the mutant is none';
	system("make -s -j2 -C '$tree' PG_CONFIG=pg_config bloomext.so >'$log' 2>&1") == 0
	  or die 'cannot build the mutant: ' . slurp_file($log);
	return "$tree/bloomext.so";
}

# What all rounds use.  A value of each kind is made of a small number.
my $universe = 600;
$node->safe_psql('postgres', q(
	CREATE EXTENSION bloomext;
	CREATE ROLE reader;
	CREATE SCHEMA r;
	GRANT ALL ON SCHEMA r TO public;
	ALTER DATABASE postgres SET search_path = r, public;
	CREATE DOMAIN dom_text AS text CHECK (length(VALUE) < 1000);
	CREATE DOMAIN dom_int AS int;

	CREATE FUNCTION val_text(i int) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT (ARRAY['Title ', 'straße ', '題 ', 'ÜRÜN ', ''])[1 + i % 5] || i $$;
	CREATE FUNCTION val_time(i int) RETURNS timestamp LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT timestamp '2020-01-01' + i * interval '12 hours' $$;
	CREATE FUNCTION val_inet(i int) RETURNS inet LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT set_masklen(inet '10.0.0.0/32' + i, 32 - i % 3 * 8) $$;
	CREATE FUNCTION val_bytea(i int) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
		SELECT decode(md5(i::text), 'hex') $$;

	-- What is dear to call, or may not be called before.
	CREATE FUNCTION im(x anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN x; END';
	CREATE FUNCTION st(x anyelement) RETURNS anyelement LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN x; END';
	CREATE FUNCTION vo(x anyelement) RETURNS anyelement LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN x; END';
	CREATE FUNCTION tag(x text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT '<' || x || '>' $$;

	CREATE TABLE src (id int, i int, n int,
		t text GENERATED ALWAYS AS (val_text(i)) STORED,
		v varchar(60) GENERATED ALWAYS AS (val_text(i)) STORED,
		c char(20) GENERATED ALWAYS AS (val_text(i)) STORED,
		nm name GENERATED ALWAYS AS (val_text(i)::name) STORED,
		dt dom_text GENERATED ALWAYS AS (val_text(i)) STORED,
		i2 int2 GENERATED ALWAYS AS (i::int2) STORED,
		i4 int4 GENERATED ALWAYS AS (i) STORED,
		i8 int8 GENERATED ALWAYS AS (CASE WHEN i % 11 = 5 THEN i + 4294967296 ELSE i END) STORED,
		di dom_int GENERATED ALWAYS AS (i) STORED,
		u uuid GENERATED ALWAYS AS (md5(i::text)::uuid) STORED,
		b bytea GENERATED ALWAYS AS (val_bytea(i)) STORED,
		ts timestamp GENERATED ALWAYS AS (val_time(i)) STORED,
		tz timestamptz GENERATED ALWAYS AS (val_time(i) AT TIME ZONE 'UTC') STORED,
		d date GENERATED ALWAYS AS (val_time(i)::date) STORED,
		ip inet GENERATED ALWAYS AS (val_inet(i)) STORED,
		cd cidr GENERATED ALWAYS AS (val_inet(i)::cidr) STORED,
		o oid GENERATED ALWAYS AS (i::oid) STORED);
	CREATE INDEX ON src (id);
	CREATE TABLE sink (id int, x text);
	GRANT ALL ON src, sink TO reader;
) . "INSERT INTO src (id, i, n) SELECT g, nullif(floor(random() * $universe)::int, 0), g % 10 FROM generate_series(1, 250) g;
	INSERT INTO src (id, i, n) SELECT 250 + g, i, n FROM src, generate_series(1, 3) g WHERE id % 25 = 0;
	ANALYZE src;");
if ($mutant)
{
	my $module = build_mutant();
	$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$module' WHERE probin = '\$libdir/bloomext'");
}

# Kinds of elements: types of a column, the value of number #, and what it is
# compared with: a column or the like that fits the filter, what fits but is
# computed, and what does not fit it, or may not be asked before.
my %kinds = (
	text => { types => [qw(text varchar varchar(60) dom_text)], value => 'val_text(#)',
		fits => [qw(s.t s.v s.dt)], computed => [ 's.c', 'tag(s.t)', q(s.t || '') ], other => ['s.nm'] },
	char => { types => [qw(char(20) char(30) bpchar)], value => 'val_text(#)::bpchar',
		fits => ['s.c'], computed => [ 's.t::char(20)', 's.t::char(5)' ], other => [qw(s.t s.nm)] },
	name => { types => ['name'], value => 'val_text(#)::name', fits => ['s.nm'], computed => ['s.t::name'], other => [qw(s.t s.v)] },
	int => { types => [qw(int2 int4 int8 dom_int)], value => '(#)', fits => [qw(s.i2 s.i4 s.i8 s.di s.n)],
		computed => [ 's.i4 + 0', 's.i2::int8', 's.i8::int4', '100 / (s.n - 3)', 's.i4 % 100' ], other => ['s.i4::numeric'] },
	uuid => { types => ['uuid'], value => 'md5((#)::text)::uuid', fits => ['s.u'], computed => ['md5(s.i::text)::uuid'], other => ['vo(s.u)'] },
	bytea => { types => ['bytea'], value => 'val_bytea(#)', fits => ['s.b'], computed => [q(s.b || '')], other => ['vo(s.b)'] },
	date => { types => ['date'], value => 'val_time(#)::date', fits => ['s.d'], computed => [ 's.ts::date', 's.d + 0' ], other => ['s.ts'] },
	timestamp => { types => [ 'timestamp', 'timestamp(0)' ], value => 'val_time(#)', fits => ['s.ts'], computed => ['s.d::timestamp'], other => ['s.d'] },
	timestamptz => { types => ['timestamptz'], value => q((val_time(#) AT TIME ZONE 'UTC')), fits => ['s.tz'], computed => [q(s.ts AT TIME ZONE 'UTC')], other => [qw(s.ts s.d)] },
	inet => { types => ['inet'], value => 'val_inet(#)', fits => ['s.ip'], computed => ['s.ip + 0'], other => ['s.cd'] },
	cidr => { types => ['cidr'], value => 'val_inet(#)::cidr', fits => ['s.cd'], computed => ['s.ip::cidr'], other => ['s.ip'] },
	oid => { types => ['oid'], value => '(#)::oid', fits => ['s.o'], computed => ['s.i4::oid'], other => ['s.i8'] });

# Tables.

my @icu = $node->safe_psql('postgres', q(SELECT 1 FROM pg_collation WHERE collname = 'tr-x-icu')) ? (' COLLATE "tr-x-icu"') : ();

# Options of a filter.
sub options
{
	my ($kind, $also) = @_;
	my $strategy = any(qw(guava guava guava32 spark1 spark2 parquet parquet));
	my @options = (chance(0.9) ? 'plans = on' : 'plans = off', "strategy = $strategy", 'fpp = ' . any(0.3, 0.01, 0.01, 0.0001));
	push @options, 'absent = ' . any(0, 0.5, 0.9, 1) if chance(0.4);
	push @options, any('expected = 3000', 'expected = 1000000', 'expected = 50, expansion = 2', 'expansion = 1') if chance(0.7);
	my $funnel = { text => 'utf16', char => 'utf16', name => 'utf16', int => 'long' }->{$kind};
	push @options, "funnel = $funnel" if $strategy eq 'guava' && $funnel && !$also && chance(0.3);
	return 'WITH (' . join(', ', @options) . ')';
}

# What filters are over ("@" is the alias), with which kind of element.
sub over
{
	my ($kind) = @_;
	my $texts = $kind =~ /^(text|char|name)$/;
	return any(([ '@title', $kind ]) x 5, [ '@id % 1000', 'int' ], [ '@k', 'int' ], [ '@note', 'text' ], [ 'lower(@note)', 'text' ],
		$texts ? ([ 'lower(@title)', 'text' ], [ 'tag(@title::text)', 'text' ], [ 'left(@title::text, 6)', 'text' ]) : ());
}

# Predicates, and conditions that imply them.
my @predicates = ([ 'n > 5', '@n > 5', '@n > 7', '@n = 8' ], [ 'title IS NOT NULL', '@title IS NOT NULL' ],
	[ 'n IS NULL OR n <> 3', '@n < 3', '@n IS NULL OR @n <> 3' ]);

sub random_filters
{
	my ($kind) = @_;
	# Some are of a second column, too, and asked where that is compared as well.
	return [ map {
		my $also = chance(0.3) ? any('@n', '@k', '@id') : undef;
		{ also => $also, over => $_->[0], kind => $_->[1], predicate => chance(0.2) ? any(@predicates) : undef, options => options($_->[1], $also) }
	} map { over($kind) } 1 .. any(1, 1, 2, 3) ];
}

# The definition of the filter or of a btree over what it is over.
sub index_on
{
	my ($name, $on, $how, $filter) = @_;
	my ($method, $with) = $how eq 'bloomfilter' ? ($how, $filter->{options}) : ($how, '');
	my $where = $how eq 'bloomfilter' && $filter->{predicate} ? "WHERE $filter->{predicate}[0]" : '';
	my @columns = map { '(' . s/@//gr . ')' } $filter->{over}, $how eq 'bloomfilter' && $filter->{also} ? $filter->{also} : ();
	@columns = reverse @columns if length($name) % 2;
	return "CREATE INDEX $name ON $on USING $method (" . join(', ', @columns) . ") $with $where;";
}

my %forms = (
	plain => '', unlogged => '', temp => '', matview => '',
	list => 'PARTITION BY LIST (k)', range => 'PARTITION BY RANGE (id)', hash => 'PARTITION BY HASH (title)', inherits => '');
my %bounds = (
	list => [ 'IN (0, 1, 2, 3)', 'IN (4, 5, 6, 7, 8, 9)', '' ],
	range => [ 'FROM (MINVALUE) TO (400)', 'FROM (400) TO (1500)', 'FROM (1500) TO (MAXVALUE)' ],
	hash => [ map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 ]);

sub attach { my ($table) = @_; return "ALTER TABLE $table->{name} ATTACH PARTITION $table->{name}_3 " . ($table->{bounds}[2] ? "FOR VALUES $table->{bounds}[2]" : 'DEFAULT'); }

# A table, and how it is made.
sub random_table
{
	my ($number) = @_;
	my $name = "t$number";
	# In one, all is found, and by a btree: there a gate stops asking.
	my $full = $number == 1;
	my $kind = $full ? 'text' : any(('text') x 4, ('int') x 4, sort keys %kinds);
	my $form = $full ? 'plain' : any(('plain') x 3, sort keys %forms);
	my $type = any(@{ $kinds{$kind}{types} }) . ($kind eq 'text' && chance(0.2) ? any(' COLLATE "C"', ' COLLATE "POSIX"', @icu) : '');
	my $table = { name => $name, kind => $kind, form => $form, bounds => $bounds{$form}, filters => random_filters($kind),
		write => $form eq 'matview' ? "${name}_base" : $name, every => $full ? 1 : any(1, 3, 3, 10), views => [], unique => $form =~ /plain|unlogged|temp/ && chance(0.2) };
	my $columns = "id int NOT NULL, k int, n int, title $type, note text";
	my $persistence = $form eq 'unlogged' ? 'UNLOGGED' : $form eq 'temp' ? 'TEMP' : '';
	my @sql = ("CREATE $persistence TABLE $table->{write} ($columns) $forms{$form};");

	push @sql, map { "CREATE TABLE ${name}_$_ () INHERITS ($name);" } 1, 2 if $form eq 'inherits';
	push @sql, (map { "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES $table->{bounds}[$_ - 1];" } 1, 2),
	  # One has other columns at other places.
	  "CREATE TABLE ${name}_3 (note text, gone int, title $type, n int, id int NOT NULL, k int);",
	  "ALTER TABLE ${name}_3 DROP gone;", attach($table) . ';'
	  if $table->{bounds};
	push @sql, "CREATE UNIQUE INDEX ON $name (title);" if $table->{unique};
	push @sql, insert($table, $table->{every} == 1 ? 900 : any(0, 1, 30, 300, 300, 900)) . ';' unless chance(0.1);
	push @sql, "CREATE MATERIALIZED VIEW $name AS SELECT * FROM ${name}_base;" if $form eq 'matview';
	push @sql, indexes($table);
	push @sql, "CREATE INDEX ON $name (title);" if $full;
	push @sql, guards($table) unless $form eq 'temp';
	push @sql, functions($table);
	push @sql, "ANALYZE $table->{write}, $name;" unless chance(0.3);
	$table->{sql} = join "\n", @sql;
	return $table;
}

sub below { my ($table) = @_; return ($table->{name}, $table->{form} eq 'inherits' ? map { "$table->{name}_$_" } 1, 2 : ()); }

# Its filters, and other indexes, which may be over the same.
sub indexes
{
	my ($table) = @_;
	my @sql;
	foreach my $on (below($table))
	{
		my $number = 0;
		foreach my $filter (@{ $table->{filters} })
		{
			$number++;
			push @sql, index_on("${on}_f$number", $on, 'bloomfilter', $filter);
			push @sql, index_on("${on}_b$number", $on, any('btree', 'btree', 'btree', 'hash'), $filter) if chance(0.6);
		}
		push @sql, "CREATE INDEX ON $on (n, title);" if chance(0.2);
		push @sql, "CREATE INDEX ON $on (title) WHERE n > 2;" if chance(0.1);
		push @sql, "CREATE INDEX ON $on (id);" if chance(0.4);
		push @sql, "CREATE UNIQUE INDEX ON $on (id);" if $table->{form} eq 'matview';
	}
	return @sql;
}

# Views and policies that stand before it.
sub guards
{
	my ($table) = @_;
	my ($name, @sql) = ($table->{name});
	push @sql, "GRANT ALL ON $_ TO reader;" foreach $name, $table->{write};
	if (chance(0.3))
	{
		push @{ $table->{views} }, "${name}_view";
		push @sql, "CREATE VIEW ${name}_view WITH (security_barrier = " . any('true', 'false') . ") AS SELECT * FROM $name WHERE n <> 3;",
		  "GRANT ALL ON ${name}_view TO reader;";
	}
	push @sql, "ALTER TABLE $name ENABLE ROW LEVEL SECURITY;",
	  "CREATE POLICY visible ON $name USING (" . any('n <> 4', 'vo(n) <> 4', 'EXISTS (SELECT FROM src WHERE src.n = k)', 'title IS NOT NULL') . ');'
	  if $table->{form} ne 'matview' && chance(0.2);
	return @sql;
}

# Functions that look into it: one for either side, as each keeps a plan.
sub functions
{
	my ($table) = @_;
	my ($name, $number, @sql) = ($table->{name}, 0);
	foreach my $filter (@{ $table->{filters} })
	{
		my $type = { char => 'bpchar' }->{ $filter->{kind} } // $filter->{kind};
		my $over = $filter->{over} =~ s/@/a./gr;
		$filter->{look} = ($table->{form} eq 'temp' ? 'pg_temp.' : '') . "${name}_look" . ++$number;
		push @sql, map { qq(
			CREATE FUNCTION $filter->{look}_count_$_(x $type) RETURNS bigint LANGUAGE plpgsql STABLE AS
				\$\$ BEGIN RETURN (SELECT count(*) FROM $name a WHERE $over = x); END \$\$;
			CREATE FUNCTION $filter->{look}_ids_$_(x $type) RETURNS SETOF int LANGUAGE sql STABLE AS
				\$\$ SELECT a.id FROM $name a WHERE $over = x \$\$;
			CREATE FUNCTION $filter->{look}_current_$_(x $type) RETURNS bigint LANGUAGE plpgsql AS
				\$\$ DECLARE
					c CURSOR FOR SELECT true FROM $name a WHERE $over = x;
					found int := 0;
					changed int;
				BEGIN
					FOR r IN c LOOP
						UPDATE $table->{write} SET n = 55 WHERE CURRENT OF c;
						GET DIAGNOSTICS changed = ROW_COUNT;
						found := found + changed;
					END LOOP;
					RETURN found;
				END \$\$;
			CREATE FUNCTION $filter->{look}_add_$_(i int, x $type) RETURNS bigint LANGUAGE plpgsql AS
				\$\$ BEGIN
					IF NOT EXISTS (SELECT FROM $name a WHERE $over = x) THEN
						INSERT INTO $table->{write} (id, k, n, title, note) VALUES (i, i, 1, @{[ value($table->{kind}, 'i') ]}, val_text(i));
					END IF;
					RETURN (SELECT count(*) FROM $name a WHERE $over = x);
				END \$\$;) } 'on', 'off';
	}
	return @sql;
}

sub value { my ($kind, $number) = @_; return $kinds{$kind}{value} =~ s/#/$number/r; }

# What writes to a table: done again, it writes the same.
sub insert
{
	my ($table, $rows) = @_;
	my $i = chance(0.1) ? 'nullif(i, i / 10 * 10)' : 'i';
	my ($id, $from) = (int(rand(2000)), int(rand($universe)));
	my $number = "$table->{every} * (($from + g * " . any(1, 1, 1, 7, 7, 25) . ") % ($universe / $table->{every}))";
	return "INSERT INTO $table->{write} (id, k, n, title, note) SELECT " . ($table->{form} eq 'matview' ? "nextval('ids')" : "$id + g")
	  . ', i % 50, i % 10 + g % 2, ' . value($table->{kind}, $i) . ", val_text(i / 2) FROM (SELECT g, $number AS i FROM generate_series(1, $rows) g) x"
	  . ($table->{unique} ? ' ON CONFLICT DO NOTHING' : '');
}

sub write_rows
{
	my ($table) = @_;
	my $these = 'WHERE id % ' . any(7, 30, 100) . ' = ' . int(rand(7));
	return any(
		(map { insert($table, $_) } 1, 1, 5, 50),
		"UPDATE $table->{write} SET n = (n + 1) % 11 $these",
		"UPDATE $table->{write} SET title = " . value($table->{kind}, int(rand($universe))) . " $these",
		"UPDATE $table->{write} SET id = (id + 1000) % 3000, note = note || 'x' $these",
		"DELETE FROM $table->{write} $these");
}

# Queries.

# A clause of a filter: which of a table's, under which alias, and compared with what.
sub clause
{
	my ($table, $alias) = @_;
	my $filter = any(@{ $table->{filters} });
	my $kind = $kinds{ $filter->{kind} };
	my ($fits, $expr) = any(([ 'scan', any(@{ $kind->{fits} }) ]) x 4, [ 'index', any(@{ $kind->{computed} }) ], [ 'index', "CASE WHEN s.n < 5 THEN $kind->{fits}[0] END" ],
		([ '', any(@{ $kind->{other} }, map { "$_$kind->{fits}[0])" } 'im(', 'st(', 'vo(', '(SELECT ') ]) x 2)->@*;
	my $over = $filter->{over} =~ s/@/$alias./gr;
	my $implies = $filter->{predicate} && chance(0.8) ? $filter->{predicate}[ 1 + rand($filter->{predicate}->$#*) ] =~ s/@/$alias./gr : '';
	my $also = any('true', 'true', 'true', "$alias.n < 7", "$alias.k % 3 <> 1", "$alias.title IS NOT NULL", "$alias.id <> s.id", "$alias.n = s.n", "$over >= $kind->{fits}[0]");
	$also = ($filter->{also} =~ s/@/$alias./r) . ' = s.n' if $filter->{also} && chance(0.7);
	my $and = $implies ? "($implies) AND $also" : $also;
	my $from = any($table->{name}, $table->{name}, $table->{name}, @{ $table->{views} });
	$from = "ONLY $from" if $table->{form} eq 'inherits' && chance(0.2);
	my $sample = $table->{form} =~ /plain|unlogged/ && $from eq $table->{name} && chance(0.03) ? ' TABLESAMPLE BERNOULLI (60) REPEATABLE (7)' : '';
	$fits = '' if $filter->{also} || $filter->{options} !~ /plans = on/ || $filter->{predicate} && !$implies || $sample || $from =~ /ONLY/;
	return {
		table => $table->{name}, write => $table->{write}, from => "$from $alias$sample", fits => $fits, expr => $expr, over => $over,
		where => (chance(0.7) ? "$over = $expr" : "$expr = $over") . " AND $and", and => $and,
		alone => $also =~ /\bs\./ ? $implies ? "($implies)" : 'true' : $and,
		other => $filter->{over} =~ s/@/x./gr, plain => $kind->{fits}[0], look => $filter->{look},
		value => value($table->{kind}, 's.i') };
}

sub constant { my ($clause, $kind) = @_; return value($kind, int(rand($universe))); }

# {x|y} is one of them, [a.x] of the clause, [s] a condition on what is looked for,
# [const] an element; "~" is on or off.
my $exists = '{NOT |NOT |}EXISTS (SELECT FROM [a.from] WHERE [a.where])';
my $exists_b = '{NOT |}EXISTS (SELECT FROM [b.from] WHERE [b.where])';
my @selects = (
	("SELECT s.id, s.t FROM src s WHERE [s] AND $exists") x 4,
	"SELECT count(*) FROM src s WHERE [s] AND $exists",
	'SELECT s.id FROM src s WHERE [s] AND [a.expr] {NOT |}IN (SELECT [a.over] FROM [a.from] WHERE [a.and])',
	'SELECT s.id FROM src s WHERE [s] AND ([a.expr], s.n) {NOT |}IN (SELECT [a.over], a.n FROM [a.from] WHERE [a.and])',
	('SELECT s.id, s.t FROM src s LEFT JOIN [a.from] ON [a.where] WHERE [s] AND a.id IS NULL') x 2,
	('SELECT s.id, a.id, a.title FROM src s {LEFT |RIGHT |FULL |||}JOIN [a.from] ON [a.where] {WHERE [s]|}') x 2,
	'SELECT s.id, a.id FROM src s JOIN [a.from] ON ([a.over], a.n) = ([a.expr], s.n) AND [a.and] WHERE [s]',
	('SELECT s.id, l.id FROM src s {LEFT |}JOIN LATERAL (SELECT a.id FROM [a.from] WHERE [a.where] ORDER BY a.id {DESC |}LIMIT {1|2}{| OFFSET 1}) l ON true WHERE [s]') x 2,
	'SELECT s.id, l.* FROM src s, LATERAL (SELECT count(*), max(a.id), sum(a.n) FROM [a.from] WHERE [a.where]{| GROUP BY a.n}) l WHERE [s]',
	('SELECT s.id, (SELECT {count(*)|min(a.id)|max(a.id)|sum(a.n)} FROM [a.from] WHERE [a.where]) FROM src s WHERE [s]') x 2,
	'SELECT s.id, ARRAY(SELECT a.id FROM [a.from] WHERE [a.where] ORDER BY 1) FROM src s WHERE [s]',
	"SELECT s.id, CASE WHEN $exists THEN s.n ELSE -1 END, $exists_b FROM src s WHERE [s]",
	"SELECT s.id FROM src s WHERE [s] AND ($exists OR s.n {=|<} 3)",
	"SELECT s.id FROM src s WHERE [s] AND ($exists {AND|OR} $exists_b)",
	'SELECT s.id FROM src s WHERE [s] AND (SELECT count(*) FROM [a.from] WHERE [a.where]) {=|>} 0',
	"SELECT s.id FROM src s WHERE [s] AND EXISTS (SELECT FROM src z WHERE z.id = s.id + 1 AND $exists)",
	'SELECT s.id, u.id FROM src s {LEFT |}JOIN (SELECT a.id, [a.over] AS x FROM [a.from] WHERE a.n < 5 AND [a.alone] UNION {ALL|} SELECT a.id, [a.over] FROM [a.from] WHERE a.n >= 5 AND [a.alone]) u ON u.x = [a.expr] WHERE [s]',
	'WITH c AS {MATERIALIZED |NOT MATERIALIZED |}(SELECT a.id, [a.over] AS x FROM [a.from] WHERE [a.alone]) SELECT s.id FROM src s WHERE [s] AND {NOT |}EXISTS (SELECT FROM c WHERE c.x = [a.expr])',
	'WITH c AS {MATERIALIZED |}(SELECT * FROM src s WHERE [s]) SELECT s.id, a.id FROM c s {LEFT |}JOIN [a.from] ON [a.where]',
	"WITH RECURSIVE c (id) AS (SELECT 1 UNION ALL SELECT c.id + 1 FROM c WHERE c.id < 40) SELECT s.id FROM c JOIN src s USING (id) WHERE $exists",
	'SELECT s.n, count(*), count(a.id), sum(a.n) FROM src s {LEFT |}JOIN [a.from] ON [a.where] WHERE [s] GROUP BY s.n{| HAVING count(*) > 2}',
	'SELECT DISTINCT s.n, a.n FROM src s {LEFT |}JOIN [a.from] ON [a.where] WHERE [s]',
	'SELECT s.id, a.id, row_number() OVER (PARTITION BY s.n ORDER BY s.id, a.id), count(a.id) OVER (PARTITION BY s.n) FROM src s {LEFT |}JOIN [a.from] ON [a.where] WHERE [s]',
	'SELECT s.id, a.id, b.id FROM src s {LEFT |}JOIN [a.from] ON [a.where] {LEFT |}JOIN [b.from] ON [b.where] WHERE [s] AND s.id % 4 = 0',
	('SELECT count(*), sum(s.id) FROM generate_series(1, 6) g CROSS JOIN src s WHERE {NOT |}EXISTS (SELECT FROM [a.from] WHERE [a.where] AND a.n <> g){| OR s.n = 3}') x 2,
	'SELECT s.n, sum(l.n) FROM generate_series(1, 6) g, src s, LATERAL (SELECT count(*) AS n FROM [a.from] WHERE [a.where] AND a.n <> g) l GROUP BY s.n',
	'SELECT a.id FROM [a.from] WHERE [a.alone] AND {NOT |}EXISTS (SELECT FROM src s WHERE [a.where] AND [s])',
	'SELECT x.id, a.id FROM [a.table] x {LEFT |}JOIN [a.from] ON [a.over] = {[a.other]|im([a.other])} AND [a.alone] WHERE x.n < 3',
	'SELECT x.id, l.* FROM [a.table] x, LATERAL (SELECT count(*), min(a.n) FROM [a.from] WHERE [a.over] = [a.other] AND [a.alone]) l WHERE x.id % 5 = 0',
	'SELECT x.id FROM [a.table] x WHERE x.id % 5 = 0 AND {NOT |}EXISTS (SELECT FROM [a.from] WHERE [a.over] = [a.other] AND a.id <> x.id AND [a.alone])',
	'SELECT a.id, a.title FROM [a.from] WHERE [a.over] = [const] AND [a.alone]',
	'SELECT s.id, a.id FROM src s {LEFT |}JOIN [a.from] ON [a.over] = [const] AND a.n <> s.n WHERE [s]',
	'SELECT a.id, a.title FROM [a.from] WHERE [a.over] = ANY (ARRAY[[const], [const], [const]])',
	'SELECT a.id, a.title FROM [a.from] WHERE ([a.over] = [const] {OR|AND} [a.over] = [const]) AND [a.alone]',
	'SELECT a.id FROM [a.from] WHERE [a.over] = (SELECT [a.plain] FROM src s WHERE s.id = 7) AND [a.alone]',
	'SELECT v.x, a.id FROM (VALUES ([const]), ([const]), ([const]), (NULL)) v (x) LEFT JOIN [a.from] ON [a.over] = v.x AND [a.alone]',
	'SELECT s.id, [a.look]_count_~([a.plain]) FROM src s WHERE [s]',
	'SELECT s.id, f FROM src s, LATERAL [a.look]_ids_~([a.plain]) f WHERE [s]');

my $effect = '; SELECT count(*), sum(n), count(title) FROM [a.write]; SELECT count(*), sum(n) FROM src';
my @changes = (
	("INSERT INTO sink SELECT s.id, s.t FROM src s WHERE [s] AND $exists RETURNING *") x 2,
	('INSERT INTO [a.write] (id, k, n, title) SELECT DISTINCT 0, 1, 2, [a.value] FROM src s WHERE [s] AND NOT EXISTS (SELECT FROM [a.from] WHERE [a.where]) RETURNING title') x 2,
	"UPDATE src s SET n = s.n + 1 WHERE [s] AND $exists RETURNING s.id, s.n",
	"DELETE FROM src s WHERE [s] AND $exists RETURNING s.id",
	'UPDATE [a.write] a SET n = 77 FROM src s WHERE [a.where] AND [s] RETURNING a.id',
	'DELETE FROM [a.write] a USING src s WHERE [a.where] AND [s] RETURNING a.id',
	"SELECT s.id FROM src s WHERE [s] AND $exists FOR {UPDATE|SHARE|NO KEY UPDATE}",
	'SELECT s.id, a.id FROM src s JOIN [a.from] ON [a.where] WHERE [s] FOR {UPDATE|SHARE} OF {s|a}',
	"WITH i AS (INSERT INTO [a.write] (id, k, n, title) SELECT 0, 1, 2, [a.value] FROM src s WHERE [s] AND $exists RETURNING title) SELECT s.id, (SELECT count(*) FROM i) FROM src s WHERE $exists",
	'SELECT [a.look]_add_~(s.i, [a.plain]) FROM (SELECT * FROM src s WHERE [s] AND s.i IS NOT NULL ORDER BY id) s',
	'SELECT s.id, [a.look]_current_~([a.plain]) FROM src s WHERE [s] AND s.id % 10 = 1',
	$version >= 150000 ? (
		'MERGE INTO [a.write] a USING (SELECT * FROM src s WHERE [s]) s ON [a.where] WHEN MATCHED THEN UPDATE SET n = 66 WHEN NOT MATCHED THEN INSERT (id, n, title) VALUES (0, 5, [a.value])',
		'MERGE INTO src s USING [a.from] ON [a.where] WHEN MATCHED AND s.n > 3 THEN DELETE') : ());

# A sentence: a query over two clauses.
sub query
{
	my ($shape, $table_a, $table_b) = @_;
	my ($clause_a, $clause_b) = (clause($table_a, 'a'), clause($table_b, 'b'));
	my %clause = (a => $clause_a, b => $clause_b);
	my ($kind) = map { $_->{kind} } grep { $_->{over} =~ s/@/a./gr eq $clause_a->{over} } @{ $table_a->{filters} };
	my $some = any('true', 'true', 's.n < 5', 's.id % 3 = 1', 's.id < 60', "s.id = " . int(rand(250)));
	$shape =~ s/\{([^{}]*)\}/any(split m{\|}, $1, -1)/ge while $shape =~ /\{/;
	$shape =~ s/\[const\]/constant($clause_a, $kind)/ge;
	$shape =~ s/\[s\]/$some/g;
	$shape =~ s/\[([ab])\.(\w+)\]/$clause{$1}{$2}/g;
	return { sql => $shape, fits => $clause_a->{fits} };
}

# Rows in a known order, whatever the plan.
sub ordered { my ($sql) = @_; return "SELECT * FROM ($sql) q ORDER BY q::text"; }

# What can be done with a cursor: with rows in a known order in all directions, else
# such that all of them come equally often.
sub cursor
{
	my ($query, $table) = @_;
	my $meanwhile = sub { return chance(0.4) ? write_rows($table) . ';' : '' };
	my @steps = chance(0.5)
	  ? map { any('FETCH', 'FETCH', 'MOVE') . ' ' . any('3', 'FORWARD 2', 'BACKWARD 2', 'ABSOLUTE 4', 'RELATIVE -1', 'PRIOR', 'LAST', 'FIRST', 'ALL', 'BACKWARD ALL') } 1 .. 8
	  : ('FETCH ' . any(1, 2, 9), 'FETCH ALL', any('FETCH BACKWARD ALL', 'MOVE BACKWARD ALL', 'MOVE ABSOLUTE 0'), 'FETCH ALL');
	my $sql = @steps == 8 ? ordered($query->{sql}) : $query->{sql};
	return { sql => "DECLARE c SCROLL CURSOR FOR $sql; " . join(' ', map { "$_ FROM c;" . $meanwhile->() } @steps), in_order => @steps == 8 };
}

sub current_of
{
	my ($table) = @_;
	my $query = query('DECLARE c CURSOR FOR SELECT a.id FROM [a.write] a WHERE [a.over] = [const] AND [a.alone] AND a.id % 4 = 1', $table, $table);
	my $change = any("UPDATE $table->{write} SET n = n + 1", "DELETE FROM $table->{write}");
	return { sql => join('; ', $query->{sql}, ("FETCH c; $change WHERE CURRENT OF c RETURNING id, n") x 6) };
}

# Sessions.

my $workers = Workers->new;
my ($psql, @log, %prepared, @tables, $level);

# Run a script, return the lines that it said, errors too.
sub run
{
	my ($script) = @_;
	if (!$psql)
	{
		%prepared = ();
		$psql = Workers::Psql->new($node->connstr('postgres'), '\set VERBOSITY verbose', 'SELECT FROM setseed(' . rand() . ');',
			map { $_->{sql} } grep { $_->{form} eq 'temp' } @tables);
	}
	push @log, $script;
	shift @log if @log > 60;
	my @said = grep { !/^(?!ERROR|FATAL|PANIC|WARNING|NOTICE)[A-Z ]+(?: \d+)?:|^ *\^$/ } $psql->run($script);
	if ($psql->{lost})
	{
		undef $psql;
		wrong("the connection is lost:\n@said\n") unless $stopped;
	}
	foreach (map { /^(?:psql:.*: )?(?:ERROR|FATAL|PANIC):  (\w{5}): (.*)/ ? [ $1, $2 ] : () } @said)
	{
		$count{"error $_->[0]"}++;
		wrong("an internal error: $_->[1]\n$script\n") if $_->[0] =~ /^XX/ && $_->[1] !~ /tuple concurrently|could not open relation with OID/;
	}
	return @said;
}

# Note what is wrong, and end.
sub wrong { $workers->wrong("$_[0]\nThe session's last statements:\n" . join("\n", @log) . "\n"); }

sub failed { return grep { /^ERROR:/ } @_; }

# Whether nothing can be said of a query that ended so: it waited for others.
sub is_unlucky { return grep { /^ERROR:  (40P01|55P03|57014)/ } @_; }

# What a query says with the gate on or off; nothing of it stays.  The plan decides which
# of several rows that others changed is met first, and which rows a cursor gives before
# something fails, unless they come in a known order.
sub outcome
{
	my ($query, $side) = @_;
	my $sql = $query->{sql} =~ s/~/$side/gr;
	my @said = map { s/_(on|off)\b//gr } grep { !/^ERROR:  25P02/ } run("SAVEPOINT c; SET LOCAL bloomext.enable_gate = $side; $sql; ROLLBACK TO c;");
	my @failed = failed(@said);
	return 'ERROR:  40001' if grep { /^ERROR:  40001/ } @failed;
	return @said if $query->{in_order};
	return exists $query->{in_order} && @failed ? @failed : sort @said;
}

sub plan_of
{
	my ($query, $side, $options) = @_;
	my ($sql) = $query->{sql} =~ s/~/$side/gr;
	my @said = run("SAVEPOINT c; SET LOCAL bloomext.enable_gate = $side; EXPLAIN ($options) $sql; ROLLBACK TO c;");
	return failed(@said) ? undef : join "\n", @said;
}

# Nodes of a plan, the gates apart.
sub nodes { my ($node) = @_; return ($node, map { nodes($_) } @{ $node->{Plans} // [] }); }
sub is_gate { return ($_[0]{'Custom Plan Provider'} // '') eq 'Bloom Filter Gate'; }
sub shape { my ($plan) = @_; return join ' ', map { join ',', @$_{ grep { /^(Node Type|Relation Name|Join Type|Index Name|Alias)$/ } sort keys %$_ } } grep { !is_gate($_) } nodes($plan); }

# The plan of a statement; what follows is of others, as the FETCH of a cursor is.
sub parsed { my ($plan) = @_; return defined $plan && $plan =~ /^\[/ ? (JSON::PP->new->utf8->decode_prefix($plan))[0][0]{Plan} : undef; }

sub is_gateable
{
	my ($query, $node) = @_;
	return unless ($node->{Alias} // '') =~ /^a(_\d+)?$/ && ($node->{'Relation Name'} // '') =~ /^t\d/;
	my $condition = join ' ', map { $_ // '' } @$node{ 'Index Cond', 'Filter', 'Recheck Cond' };
	return if $condition !~ /\b[sx]\.\w+.* = | = .*\b[sx]\.\w+/ || $condition =~ / = ANY/;
	return $node->{'Index Cond'} || $query->{fits} eq 'scan';
}

# Count what the gate does to a query.
sub observe
{
	my ($query) = @_;
	my ($on, $off) = (plan_of($query, 'on', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, FORMAT JSON'), plan_of($query, 'off', 'COSTS OFF, FORMAT JSON'));
	my @plans = map { parsed($_) } $on, $off;
	return unless $plans[0] && $plans[1];
	my @gates = grep { is_gate($_) } nodes($plans[0]);
	my $gateable = $query->{fits} && grep { is_gateable($query, $_) } nodes($plans[1]);
	$count{observed}++;
	$count{gated}++ if @gates;
	$count{gateable}++ if $gateable || @gates;
	$count{'not gated, though gateable'}++ if $gateable && !@gates;
	$count{asked} += sum0(map { $_->{Asked} // 0 } @gates);
	$count{absent} += sum0(map { $_->{'Surely Absent'} // 0 } @gates);
	$count{skipped} += sum0(map { $_->{Skipped} // 0 } @gates);
}

# Compare a query with the gate and without.
sub compare
{
	my ($query) = @_;
	my @off = outcome($query, 'off');
	my @on = outcome($query, 'on');
	$count{compared}++;
	$count{'compared rows'} += @off;
	$count{'compared errors'}++ if failed(@off);
	observe($query) if exists $query->{fits} && !failed(@off) && $level ne 'SERIALIZABLE' && chance(0.5);
	return if "@on" eq "@off" || is_unlucky(@on, @off);
	my @again = outcome($query, 'off');
	return $count{'changed meanwhile'}++ if "@again" ne "@off";
	my @plans = map { plan_of($query, $_, 'COSTS OFF, FORMAT JSON') } 'on', 'off';
	return $count{'failed by another plan'}++
	  if grep({ /^ERROR:  22/ } @on, @off) && (!$plans[0] || shape(parsed($plans[0])) ne shape(parsed($plans[1])));
	my @repeated = outcome($query, 'on');
	wrong("a disagreement\n$query->{sql}\nwith the gate:\n" . list(@on) . "once more:\n" . list(@repeated) . "without:\n" . list(@off)
		  . "Plan with the gate:\n" . (plan_of($query, 'on', 'ANALYZE, TIMING OFF, SUMMARY OFF, VERBOSE') // 'none')
		  . "\nPlan without:\n" . (plan_of($query, 'off', 'ANALYZE, TIMING OFF, SUMMARY OFF, VERBOSE') // 'none') . "\nTables:\n"
		  . join("\n", map { $_->{sql} } grep { $query->{sql} =~ /\b$_->{name}(_|\b)/ } @tables));
}

sub list { return join '', map { "\t$_\n" } @_ > 400 ? (@_[ 0 .. 399 ], '...') : @_; }

# Statements that are prepared once for either side, and executed for as long as the
# session lasts.
sub prepare
{
	my ($table) = @_;
	my $name = 'p' . ++$count{prepared};
	my $shape = any(
		'SELECT a.id, a.title FROM [a.from] WHERE [a.over] = $1 AND [a.alone]',
		'SELECT count(*) FROM [a.from] WHERE [a.over] = $1 AND [a.alone]',
		'SELECT EXISTS (SELECT FROM [a.from] WHERE [a.over] = $1 AND [a.alone])',
		"SELECT s.id FROM src s WHERE s.n < \$2 AND $exists",
		"SELECT s.id FROM src s WHERE (\$1 IS NULL OR s.n < \$2) AND $exists",
		'SELECT s.id, (SELECT count(*) FROM [a.from] WHERE [a.where]) FROM src s WHERE s.n < $2');
	my $query = query($shape, $table, $table);
	my $kind = any(@{ $table->{filters} })->{kind};
	my ($filter) = grep { index($query->{sql}, $_->{over} =~ s/@/a./gr) >= 0 } @{ $table->{filters} };
	$kind = $filter->{kind};
	my $type = { char => 'bpchar', int => any('int2', 'int4', 'int8'), text => any('text', 'varchar') }->{$kind} // $kind;
	return if failed(run(join ' ', map { "PREPARE ${name}_$_ ($type, int) AS " . $query->{sql} =~ s/~/$_/gr . ';' } 'on', 'off'));
	$prepared{$name} = { kind => $kind, type => $type, table => $table->{name}, fits => $query->{fits}, sql => $query->{sql} };
}

sub execute
{
	my ($name) = any(sort keys %prepared);
	my $p = $prepared{$name};
	$log[-1] .= " -- $name is $p->{sql}";
	return map { { sql => "EXECUTE ${name}_~(" . value($p->{kind}, int(rand($universe))) . "::$p->{type}, 5)" } } 1 .. any(1, 3, 7);
}

# Settings that make other plans.
sub settings
{
	my @names = map { "enable_$_" } qw(hashjoin mergejoin nestloop seqscan indexscan indexonlyscan bitmapscan material memoize sort hashagg tidscan parallel_hash partition_pruning);
	my %settings = map { $_ => 'off' } grep { chance(0.15) } @names;
	@settings{qw(enable_hashjoin enable_mergejoin)} = ('off', 'off') if chance(0.6);
	$settings{$_} = 'off' foreach grep { chance(0.4) } qw(enable_memoize enable_material);
	$settings{"enable_partitionwise_$_"} = any('on', 'off') foreach 'join', 'aggregate';
	$settings{plan_cache_mode} = any('auto', 'force_generic_plan', 'force_custom_plan');
	$settings{work_mem} = any("'64kB'", "'4MB'");
	$settings{from_collapse_limit} = 1 if chance(0.05);
	@settings{qw(max_parallel_workers_per_gather parallel_setup_cost parallel_tuple_cost min_parallel_table_scan_size min_parallel_index_scan_size)} = (any(1, 2), 0, 0, 0, 0)
	  if chance(0.25);
	$settings{ $version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode' } = 'on' if chance(0.03);
	return join ' ', map { "SET LOCAL $_ = $settings{$_};" } sort keys %settings;
}

# What the own transaction does to a table, and may undo.
sub write_own
{
	my ($table) = @_;
	my $index = "$table->{name}_f1";
	my $change = chance(0.9) ? write_rows($table) : any("TRUNCATE $table->{write}", "REINDEX INDEX $index", "DROP INDEX $index",
		"ALTER TABLE $table->{write} ALTER title TYPE " . any(@{ $kinds{ $table->{kind} }{types} }), index_on("${index}_own", $table->{name}, 'bloomfilter', $table->{filters}[0]));
	my @said = run("SAVEPOINT w; $change;");
	run('ROLLBACK TO w;') if failed(@said) || chance(0.3);
}

# A transaction of one who compares.
sub tester
{
	my ($table, $other) = (any(@tables), any(@tables));
	$level = any(('REPEATABLE READ') x 8, 'READ COMMITTED', 'SERIALIZABLE');
	my $mode = $level eq 'READ COMMITTED' ? 'SHARE' : 'ACCESS SHARE';
	my $early = chance(0.3) ? sprintf('SELECT count(*) FROM pg_am; SELECT FROM pg_sleep(%.3f);', rand(0.3)) : '';
	@log = ();
	my $lock = join ', ', sort { $a cmp $b } map { $_->{write}, $_->{form} eq 'matview' || $mode ne 'SHARE' ? @{ $_->{views} } : () } $table, $other;
	$lock .= ', src';
	my @said = run("BEGIN ISOLATION LEVEL $level; $early LOCK TABLE $lock IN $mode MODE;");
	return run('ROLLBACK;') if failed(@said);
	run(settings());
	write_own(any($table, $other)) if chance(0.5);
	run('SET LOCAL ROLE reader;') if chance(0.15) && $table->{form} ne 'temp' && $other->{form} ne 'temp';
	foreach (1 .. any(1, 3, 6))
	{
		prepare($table) if keys %prepared < 12 && chance(0.1);
		my @queries = chance(0.12) && %prepared ? execute()
		  : chance(0.1) ? cursor(query(any(@selects), $table, $other), $table)
		  : chance(0.03) ? current_of($table)
		  : chance(0.15) ? map { $_->{sql} .= $effect =~ s/\[a.write\]/$table->{write}/r; delete $_->{fits}; $_ } query(any(@changes), $table, $other)
		  : query(any(@selects), $table, $other);
		compare($_) foreach @queries;
		last if $stopped;
		write_own($table) if chance(0.1);
	}
	return hold($table, $other) if chance(0.05);
	run(any('COMMIT;', 'ROLLBACK;'));
}

# Cursors that outlive the transaction.
sub hold
{
	my ($table, $other) = @_;
	my $query = query(any(@selects), $table, $other);
	my @said = run(join ' ', (map { "SET LOCAL bloomext.enable_gate = $_; DECLARE hold_$_ SCROLL CURSOR WITH HOLD FOR " . $query->{sql} =~ s/~/$_/gr . ';' } 'on', 'off'), 'COMMIT;');
	return run('ROLLBACK; CLOSE ALL;') if failed(@said);
	my ($on, $off) = map { join "\n", sort(run("FETCH ALL FROM hold_$_;")) } 'on', 'off';
	run('CLOSE ALL;');
	$count{'compared held'}++;
	wrong("a disagreement of held cursors\n$query->{sql}\nwith the gate:\n$on\nwithout:\n$off") if $on ne $off;
}

# Others.

# A transaction of one who writes.
sub writer
{
	my $table = any(grep { $_->{form} ne 'temp' } @tables);
	my @writes = map { write_rows($table) . ';' } 1 .. 3;
	run(any(
		$writes[0], $writes[1],
		"BEGIN; @writes " . any('COMMIT;', 'ROLLBACK;'),
		"BEGIN; $writes[0] SAVEPOINT a; $writes[1] " . any('ROLLBACK TO a;', 'RELEASE a;') . " $writes[2] COMMIT;",
		"UPDATE src SET i = floor(random() * $universe)::int WHERE id = " . int(rand(250)) . ';',
		"DELETE FROM $table->{write} WHERE id IN (SELECT id FROM $table->{write} ORDER BY id LIMIT (SELECT greatest(count(*) - 900, 0) FROM $table->{write}));"));
	sleep(rand(0.05));
}

# One who changes tables and indexes.
sub definer
{
	my $table = any(grep { $_->{form} ne 'temp' } @tables);
	my $on = any(below($table));
	my $filter_number = 1 + int(rand(@{ $table->{filters} }));
	my $filter = $table->{filters}[ $filter_number - 1 ];
	my $index = "${on}_f$filter_number";
	my $concurrently = $table->{bounds} ? '' : 'CONCURRENTLY';
	my @script = (
		"REINDEX INDEX CONCURRENTLY $index;", "REINDEX INDEX CONCURRENTLY $index;", "REINDEX TABLE CONCURRENTLY $on;",
		"REINDEX INDEX $index;", "BEGIN; REINDEX INDEX $index; ROLLBACK;",
		"VACUUM $on;", "VACUUM $on;", "ANALYZE $on;", "VACUUM FULL $on;",
		"BEGIN; TRUNCATE $table->{write}; ROLLBACK;",
		"BEGIN; DROP INDEX $index; ROLLBACK;",
		"DROP INDEX $concurrently IF EXISTS $index; " . index_on($index, $on, 'bloomfilter', $filter) =~ s/INDEX/INDEX $concurrently/r,
		"DROP INDEX $concurrently IF EXISTS ${on}_b$filter_number; " . index_on("${on}_b$filter_number", $on, 'btree', $filter) =~ s/INDEX/INDEX $concurrently/r,
		"DROP INDEX $concurrently IF EXISTS ${on}_b$filter_number;");
	push @script, (any('ALTER INDEX ' . $index . ' SET (plans = ' . any('on', 'on', 'off') . ');',
		"ALTER INDEX $index SET (absent = " . any(0, 0.5, 0.9, 1) . ');', "ALTER INDEX $index RESET (absent);")) x 3 unless $table->{bounds};
	push @script, "TRUNCATE $table->{write}; " . insert($table, 300) . ';' if chance(0.3);
	push @script, (map { "ALTER TABLE $table->{write} ALTER title TYPE $_;" } any(@{ $kinds{ $table->{kind} }{types} })) x 2;
	push @script, "ALTER TABLE $on SET UNLOGGED;", "ALTER TABLE $on SET LOGGED;" if $table->{form} =~ /plain|unlogged/;
	push @script, "ALTER TABLE $table->{write} ADD COLUMN extra int DEFAULT 5; ALTER TABLE $table->{write} DROP extra;" if $table->{form} ne 'matview';
	push @script, ("ALTER TABLE $on DETACH PARTITION ${on}_3 " . any('', 'CONCURRENTLY') . '; SELECT pg_sleep(0.1); ' . attach($table) . ';') x 6 if $table->{bounds};
	push @script, ('REFRESH MATERIALIZED VIEW ' . any('', 'CONCURRENTLY ') . "$on;") x 8 if $table->{form} eq 'matview';
	run("SET lock_timeout = '300ms'; " . any(@script));
	sleep(rand(0.2));
}

my $begun = time;
my $end = $begun + $seconds;
my ($round, $died) = (0, '');
while (time < $end && !$workers->is_wrong && $died eq '')
{
	srand($seed + 1000 * ++$round);
	@tables = map { random_table($_) } 1 .. 6;
	$node->safe_psql('postgres', join "\n", 'SET client_min_messages = error; DROP SCHEMA r CASCADE; CREATE SCHEMA r; GRANT ALL ON SCHEMA r TO public; CREATE SEQUENCE r.ids; GRANT ALL ON SEQUENCE r.ids TO public; SELECT FROM setseed(' . rand() . ');',
		map { $_->{sql} } grep { $_->{form} ne 'temp' } @tables);
	my $number = 1000 * $round;
	$workers->start('', $seed + ++$number, $_) foreach (\&tester) x 3, (\&writer) x 2, \&definer;
	my $until = min($end, time + max(10, min(30, $seconds / 8)));
	sleep(0.2) while time < $until && !$workers->is_wrong;
	$died = $workers->stop;
}

%count = $workers->counted;
my $wrong = $workers->said_wrong;
if ($mutant)
{
	note $wrong;
	isnt($wrong, '', sprintf('the mutant was found out, after %.0f s', time - $begun));
}
else
{
	is($wrong, '', "no disagreement, BLOOMEXT_SEED=$seed");
	is($died, '', 'all sessions ended well');
	my @bad = grep { / XX\w{3} (?:ERROR|FATAL)|PANIC|terminated by signal/ && !/tuple concurrently|could not open relation with OID/ } split /\n/, slurp_file($node->logfile);
	is("@bad[0 .. min($#bad, 19)]", '', 'no internal errors');
	cmp_ok($count{gated} // 0, '>=', 0.5 * ($count{gateable} // 0), 'of the gateable queries at least half were gated');
	cmp_ok($count{absent} // 0, '>=', ($count{asked} // 0) / 3, 'and of the questions a third were surely absent');
	cmp_ok($count{gated} // 0, '>', ($count{compared} // 0) / 50, 'there were some');
	cmp_ok($count{skipped} // 0, '>', 0, 'and some that stopped asking for a while') if $count{gated} > 200;
}
note "$round rounds; " . join ', ', map { "$_: $count{$_}" } sort keys %count;
diag("BLOOMEXT_SEED=$seed") if !Test::More->builder->is_passing;

$node->stop;
done_testing();
