# Bytes that are hostile where nobody expects it, in a server whose bloomext.so is
# sanitized: pages of live filters that are damaged on disk, and a Redis server whose
# answers are mutated, or made up.  Whatever is asked, there is an answer or an error
# that says what is wrong, in bounded time and memory; never a crash or a report.
#
# Pages.  A database with live filters of all kinds is copied, pages of the copy's files
# are damaged, and everything is done with it that can be done.  What the format
# can tell to be damaged is an error and never a "no": a row that was there is denied
# only where one of its blocks is damaged and yet a sound page, as this program knows
# the format; and a row that is added later is not denied, nor any after REINDEX.
#
# Redis.  Between PostgreSQL and Redis is a server that passes commands on and mutates
# the answers: some so that this cannot but be seen (cut short, of another type or
# length), when a filter must not say "no", nor "surely new", to what it holds; others
# in any way.  What is no command it answers with noise, as who speaks TLS to it learns.
#
# BLOOMEXT_SECONDS is how long it runs: 40, unless it says otherwise.
# BLOOMEXT_SEED repeats a run.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../perl";

use List::Util qw(max min shuffle uniq);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

use FaultServer;
use RedisServer;
use SanitizedServer;

SanitizedServer->require_runtime;
plan skip_all => 'redis-server is not installed' unless RedisServer->available;
my $seconds = $ENV{BLOOMEXT_SECONDS} || 40;
my $seed = $ENV{BLOOMEXT_SEED} // int(rand(1e9));
srand($seed);
diag "BLOOMEXT_SEED=$seed";

# Nothing takes as long as that but what does not end.
my $endless = 120;
my $server = SanitizedServer->new('hostile', "statement_timeout = ${endless}s", 'shared_buffers = 32MB', 'max_locks_per_transaction = 256');
my $node = $server->{node};
my $redis = RedisServer->new;
my $block = $node->safe_psql('postgres', 'SHOW block_size');
my $wrong = 0;

sub any { return $_[ rand @_ ]; }

# Show a few of what is wrong, and count all.
sub note_wrong { diag $_ for grep { $wrong++ < 8 } @_; return; }

# A session may take so much more memory than it had at first, in kB.
my $most = 400_000;
my $memory = qq(
	CREATE FUNCTION memory() RETURNS int LANGUAGE sql AS
		\$\$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')::int \$\$;
	CREATE FUNCTION check_memory(before text) RETURNS void LANGUAGE plpgsql AS \$\$
	BEGIN
		IF memory() - before::int > $most THEN RAISE 'took % kB', memory() - before::int USING ERRCODE = 'MEMRY'; END IF;
	END \$\$;
);

# Statements in a session, whose memory is looked at in the end; those that time out
# may, but for the statement's own limit.
sub run_bounded
{
	my ($allowed, @statements) = @_;
	my $start = time;
	my $states = { %{ $server->{states} } };
	note_wrong($server->run($allowed, [ q(SELECT set_config('app.memory', memory()::text, false);), @statements, q(SELECT check_memory(current_setting('app.memory'));) ]));
	note_wrong("a statement without an end, among:\n" . join "\n", @statements)
	  if ($server->{states}{57014} // 0) > ($states->{57014} // 0) && time - $start >= $endless;
	return;
}

# ---- Pages: a database of live filters ----

# Filters: one page, several, with pending pages, grown, and of other strategies,
# funnels and types; the rows of each, and how their element is made.
my %filters = (
	tiny => { options => 'expected = 100, fpp = 0.1', rows => 100 },
	small => { options => 'expected = 100000, fpp = 0.01, plans = on', rows => 3000 },
	pending => { options => 'expected = 2000000, fpp = 0.001', rows => 1500 },
	grown => { options => 'expected = 200, fpp = 0.01, expansion = 2, plans = on', rows => 3000 },
	spark => { options => 'expected = 50000, strategy = spark1', rows => 2000 },
	blocks => { options => 'expected = 50000, strategy = parquet', rows => 2000 },
	wide => { options => 'expected = 50000, funnel = utf16', rows => 2000 },
	short => { options => 'expected = 70000, strategy = guava32', rows => 2000 },
	number => { options => 'expected = 100000', type => 'bigint', element => 'g', rows => 3000 },
	unlogged => { options => 'expected = 50000', kind => 'UNLOGGED', rows => 1000 }
);

my $library = $node->safe_psql('postgres', q(SELECT DISTINCT probin FROM pg_proc WHERE probin LIKE '%/bloomext.so'));
$node->safe_psql('postgres', 'CREATE DATABASE model');
$node->safe_psql('model', "ALTER DATABASE model SET statement_timeout = 0; CREATE EXTENSION bloomext; UPDATE pg_proc SET probin = '$library' WHERE probin = '\$libdir/bloomext'; $memory" . q(
	-- The answer to an element, or the SQLSTATE.
	CREATE FUNCTION asked(tab regclass, e anyelement) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RETURN bf_live_contains(tab, e)::text;
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$;
	-- The block that an error about an element names.
	CREATE FUNCTION named(tab regclass, e anyelement) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		PERFORM bf_live_contains(tab, e);
		RETURN NULL;
	EXCEPTION WHEN index_corrupted OR data_corrupted THEN
		RETURN tab || ' ' || substring(sqlerrm FROM '^block (\d+) of live filter "' || tab || '_bf"');
	END $$;
	-- The blocks that an element has bits in.
	CREATE TABLE places (tab regclass, id int, block bigint);
	-- Layers of filters, and where they start.
	CREATE TABLE layers (tab regclass, layer int, bits bigint, hashes int, start bigint, pending bigint, pages bigint);
));
for my $tab (sort keys %filters)
{
	my $filter = $filters{$tab};
	my ($type, $element) = ($filter->{type} // 'text', $filter->{element} // "'$tab ' || g");
	$filter->{type} = $type;
	$filter->{absent} = $type eq 'text' ? "'absent ' || g" : '-1 - g';
	$filter->{new} = $type eq 'text' ? "'new ' || g" : '1000000 + g';
	# A build takes what there is at once; what comes then goes in small batches.
	my $insert = "INSERT INTO $tab SELECT g, $element FROM generate_series";
	$node->safe_psql('model', qq(
		CREATE @{[ $filter->{kind} // '' ]} TABLE $tab (id int PRIMARY KEY, title $type) WITH (autovacuum_enabled = off);
		$insert(1, 100) g;
		CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title) WITH ($filter->{options});
		DO \$\$ BEGIN FOR i IN 100..$filter->{rows} - 1 BY 20 LOOP $insert(i + 1, least(i + 20, $filter->{rows})) g; COMMIT; END LOOP; END \$\$;
		WITH l AS (SELECT *, ceil(bits / (8.0 * ($block - 32))) AS data FROM bf_live_layers('${tab}_bf'))
		INSERT INTO layers SELECT '$tab', layer, bits, hashes, 1 + coalesce(sum(pages) OVER (ORDER BY layer ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0), pages - data, data FROM l;
		INSERT INTO places SELECT DISTINCT '$tab'::regclass, t.id, l.start + l.pending + p / (8 * ($block - 32))
		FROM $tab t, layers l, (SELECT strategy, funnel FROM bf_live_info('${tab}_bf')) i, LATERAL unnest(bf_positions(bf_create_bits(l.bits, l.hashes, i.strategy, i.funnel), t.title)) p
		WHERE l.tab = '$tab'::regclass;
		ANALYZE $tab;
	));
	($filter->{path}, $filter->{blocks}) = split /\|/, $node->safe_psql('model', "SELECT pg_relation_filepath('${tab}_bf'), pg_relation_size('${tab}_bf') / $block");
	$filter->{layers} = [ map { my %l; @l{qw(start pending pages)} = split /\|/; \%l } split /\n/, $node->safe_psql('model', "SELECT start, pending, pages FROM layers WHERE tab = '$tab'::regclass ORDER BY layer") ];
}
$node->safe_psql('model', 'CREATE INDEX ON places (tab, id); ANALYZE');
$node->safe_psql('model', "CREATE SERVER cache FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$redis->{socket}'); CREATE USER MAPPING FOR CURRENT_USER SERVER cache");
is($node->safe_psql('model', join ' UNION ALL ', map { "SELECT '$_', count(*) FROM $_ t WHERE asked('$_', t.title) <> 'true'" } sort keys %filters),
	join("\n", map { "$_|0" } sort keys %filters), 'sound filters deny no row');
cmp_ok($node->safe_psql('model', q(SELECT count(*) FROM layers WHERE tab = 'grown'::regclass)), '>', 1, 'one has several layers');
cmp_ok($node->safe_psql('model', q(SELECT pending FROM bf_live_info('pending_bf'))), '>', 0, 'in one, elements wait');

# What a page of a block must be, by the number of the kind.
sub kind_of
{
	my ($filter, $number) = @_;
	return 1 if $number == 0;
	for (@{ $filter->{layers} })
	{
		return $number < $_->{start} + $_->{pending} ? 2 : 3 if $number < $_->{start} + $_->{pending} + $_->{pages};
	}
	return 0;
}

# Is it one, as far as a data or pending page can tell?  All that it says is in the
# pointers of its header, in its tail, and that pending entries end with zeros.
sub is_sound
{
	my ($kind, $page) = @_;
	return 0 if $kind != 2 && $kind != 3;
	my ($lower, $upper, $special) = unpack '@12 v3', $page;
	my ($own, undef, $id) = unpack 'Vvv', substr $page, -8;
	my $end = $block - 8;
	return $lower == 0 && $id == 0 if $upper == 0;
	return 0 if $own != $kind || $id != 0xff8b || $upper != $end || $special != $end;
	return $lower == $end if $kind == 3;
	my $used = $lower - 24;
	return $used >= 0 && $used <= $end - 24 && $used % 16 == 0 && ($end - $lower < 16 || substr($page, $lower, 16) eq "\0" x 16);
}

# ---- Pages: damage ----

my %damages = (
	flip => sub { my ($page) = @_; for (1 .. any(1, 1, 1, 2, 10, 1000)) { substr($page, rand length $page, 1) ^= chr(1 << rand 8); } return $page; },
	header => sub { my ($page) = @_; substr($page, 2 * int(rand 12), 2) = pack 'v', any(0, 1, 24, 40, $block - 8, $block - 24, $block, $block + 8, 65535, int rand 65536); return $page; },
	tail => sub { my ($page) = @_; substr($page, $block - 8 + int(rand 8), 1) = chr any(0, 1, 2, 3, 4, 255, int rand 256); return $page; },
	zeros => sub { return "\0" x $block },
	hole => sub { my ($page) = @_; my $from = any(0, 24, int rand $block); my $length = any(24, 512, $block); return substr(substr($page, 0, $from) . "\0" x $length . substr($page, min($from + $length, $block)), 0, $block); },
	torn => sub { my ($page, $other) = @_; my $at = 512 * int(1 + rand($block / 512 - 1)); return substr($page, 0, $at) . substr($other, $at); },
	ones => sub { my ($page) = @_; return substr($page, 0, 24) . "\xff" x ($block - 32) . substr($page, -8) },
	random => sub { return join '', map { chr int rand 256 } 1 .. $block },
	noise => sub { my ($page) = @_; my $at = rand($block - 64); substr($page, $at, 64) = join '', map { chr int rand 256 } 1 .. 64; return $page; },
	swap => sub { my ($page, $other) = @_; return $other; });

# A copy of the database with all filters, whose files may be damaged before it is used.
my $copies = 0;

sub copy_model
{
	my $name = 'copy' . $copies++;
	$node->safe_psql('postgres', "CREATE DATABASE $name TEMPLATE model" . ($node->safe_psql('postgres', 'SHOW server_version_num') >= 150000 ? ' STRATEGY file_copy' : ''));
	return ($name, $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = '$name'"));
}

# The file of a filter in a copy, its pages, and how it gets others.
sub file_of { my ($oid, $tab) = @_; return $node->data_dir . '/' . $filters{$tab}{path} =~ s{^base/\d+}{base/$oid}r; }
sub pages_of { return unpack "(a$block)*", slurp_file(file_of(@_)); }

sub write_pages
{
	my ($oid, $tab, $bytes) = @_;
	open my $file, '>:raw', file_of($oid, $tab) or die "$tab: $!";
	print $file $bytes;
	close $file or die "$tab: $!";
	return;
}

# Damage files of a database's filters; tells which blocks of which of them are
# damaged and sound pages nevertheless.
sub damage
{
	my ($oid) = @_;
	my (%unseen, @told);
	my %before = map { $_ => [ pages_of($oid, $_) ] } keys %filters;

	for my $tab ((shuffle sort keys %filters)[ 0 .. any(0, 0, 1, 3) ])
	{
		my $filter = $filters{$tab};
		my @pages = @{ $before{$tab} };
		for (1 .. any(1, 1, 1, 2, 5, 20))
		{
			my $how = any(sort keys %damages);
			my $number = any(0, int(rand @pages), int(rand @pages), min($#pages, 1 + int rand 4));
			my $from = rand() < 0.7 ? \@pages : $before{ any(sort keys %filters) };
			$pages[$number] = $damages{$how}->($pages[$number], any(@$from));
			push @told, "$how $tab $number";
		}
		if (rand() < 0.1)
		{
			$#pages = any(-1, 0, 1, int(rand @pages)) - 1;
			$#pages = -1 if $#pages < -1;
			push @told, "cut $tab " . scalar @pages;
		}
		for my $number (0 .. $#{ $before{$tab} })
		{
			my $page = $pages[$number];
			my $kind = kind_of($filter, $number);
			next if defined $page && $page eq $before{$tab}[$number];
			push @{ $unseen{$tab} }, $number
			  if $kind == 1 ? defined $page && grep { $page eq $before{$_}[0] } keys %before : !defined $page || is_sound($kind, $page);
		}
		my $bytes = join '', @pages;
		substr($bytes, -int(1 + rand($block - 1))) = '' if length $bytes && rand() < 0.02 && push @told, "part of $tab";
		write_pages($oid, $tab, $bytes);
		# The last page is not what it was.
		push @{ $unseen{$tab} }, $#pages if length($bytes) % $block;
	}
	return (\%unseen, join ', ', @told);
}

# What is done with a table and its filter.
sub page_statements
{
	my ($tab) = @_;
	my $filter = $filters{$tab};
	my ($title, $absent, $new) = ("(SELECT title FROM $tab WHERE id = " . int(1 + rand $filter->{rows}) . ')', map { "(SELECT $filter->{$_} FROM (SELECT " . int(rand 1e6) . ' AS g) g)' } qw(absent new));
	my $i = 100_000 + int rand 1e8;
	my $copy = PostgreSQL::Test::Utils::tempdir() . '/rows';
	my @statements = (
		"SELECT bf_live_contains('$tab', $title);", "SELECT bf_live_contains('${tab}_bf', $absent);", "SELECT count(*) FROM $tab WHERE bf_live_contains('$tab', title);",
		"SELECT bf_live_contains_each('$tab', ARRAY[$title, $absent]);", "SELECT bf_live_contains_all('$tab', (SELECT array_agg(title) FROM $tab));",
		"SELECT count(*) FROM generate_series(1, 300) g WHERE bf_live_contains('$tab', ($filter->{absent})::$filter->{type});",
		"SELECT * FROM bf_live_info('$tab');", "SELECT * FROM bf_live_layers('${tab}_bf');", "SELECT * FROM bf_live_state('${tab}_bf');", 'SELECT * FROM bf_live_filters;',
		"SELECT bf_info(bf_live_filter('$tab')), bf_live_filter('$tab')::text;", "SELECT bf_export(bf_live_filter('$tab'));", "SELECT bf_union(bf_live_filter('$tab'), bf_live_filter('$tab'));",
		"SELECT * FROM bf_live_verify('$tab');", "SELECT bf_live_mirror('$tab', 'cache', '$tab');", "SELECT bf_live_mirror('${tab}_bf', 'cache', '$tab-" . int(rand 1e9) . "');",
		"SELECT count(*) FROM generate_series(1, 100) g WHERE NOT EXISTS (SELECT FROM $tab WHERE title = ($filter->{absent})::$filter->{type});",
		"SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;", 'SET enable_indexscan = ' . any('on', 'off') . ';',
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT FROM $tab a JOIN $tab b ON a.title = b.title WHERE a.id < 100;", "SELECT count(*) FROM $tab WHERE title = $title;",
		"INSERT INTO $tab SELECT $i + g, $filter->{new} FROM generate_series($i, $i + " . any(0, 3, 100, 3000) . ') g;', "INSERT INTO $tab VALUES (" . ($i - 1) . ", $new);",
		"BEGIN; INSERT INTO $tab VALUES (" . ($i - 2) . ", $new); SAVEPOINT s; SELECT bf_live_contains('$tab', $new); ROLLBACK TO s; COMMIT;",
		"UPDATE $tab SET title = title WHERE id % 7 = 0;", "DELETE FROM $tab WHERE id > 100000 AND id % 5 = 0;", "COPY (SELECT $i + 5000 + g, $filter->{new} FROM generate_series($i, $i + 500) g) TO '$copy'; COPY $tab FROM '$copy';",
		"VACUUM $tab;", "VACUUM (VERBOSE, INDEX_CLEANUP on) $tab;", "ANALYZE $tab;", "VACUUM (PARALLEL 0, FREEZE) $tab;",
		"ALTER INDEX ${tab}_bf SET (fpp = 0.02);", "ALTER INDEX ${tab}_bf SET (plans = on);", "SELECT pg_relation_size('${tab}_bf'), pg_get_indexdef('${tab}_bf'::regclass);");
	return (shuffle @statements)[ 0 .. 20 ];
}

# What rebuilds, which heals.
sub rebuild
{
	my ($tab) = @_;
	return any("REINDEX INDEX ${tab}_bf;", "REINDEX INDEX CONCURRENTLY ${tab}_bf;", "VACUUM FULL $tab;", "DROP INDEX ${tab}_bf; CREATE INDEX ${tab}_bf ON $tab USING bloomfilter (title);", "CLUSTER $tab USING ${tab}_pkey;");
}

# Rows that are denied though no unseen damage is theirs.
sub denied
{
	my ($tab, $unseen) = @_;
	# Who waits on a pending page that says nothing of its damage may be lost with it;
	# and a metapage of another filter tells nothing true of this one.
	my $lost = grep { kind_of($filters{$tab}, $_) < 3 } @$unseen;
	my $blocks = join ',', @$unseen;
	return $node->safe_psql($server->{database}, qq(SELECT count(*), min(t.title::text) FROM $tab t WHERE asked('$tab', t.title) = 'false'
		AND NOT (id <= $filters{$tab}{rows} AND (@{[ $lost ? 'true' : 'false' ]} OR EXISTS (SELECT FROM places p WHERE p.tab = '$tab'::regclass AND p.id = t.id AND p.block = ANY ('{$blocks}')))) HAVING count(*) > 0));
}

# What a page tells of its damage to us alone, each in a page of its own: the fields of
# its header, of its tail, and all that a metapage says.
my $end = $block - 8;
my %telling = (
	small => { map { $_->[0] => [ @$_[ 1 .. $#$_ ] ] } (
		[ 1, 12, 'v', 0 ], [ 2, 12, 'v', 8 ], [ 3, 12, 'v', 24 ], [ 4, 12, 'v', $end - 16 ], [ 5, 12, 'v', $end - 8 ],
		[ 6, 12, 'vv', 24, 24 ], [ 7, 12, 'vv', $end - 8, $end - 8 ], [ 8, 12, 'v3', ($end - 8) x 3 ], [ 9, 14, 'vv', $block, $block ], [ 10, 16, 'v', $block ],
		[ 11, -8, 'V', 2 ], [ 12, -8, 'V', 1 ], [ 13, -8, 'V', 0 ], [ 14, -2, 'v', 0 ], [ 15, -2, 'v', 0xff8a ]) },
	# That an entry less is there, half of one more, less than none.
	pending => { 1 => [ 12, 'v', sub { $_[0] - 16 } ], 2 => [ 12, 'v', sub { $_[0] + 8 } ], 3 => [ 12, 'v', 8 ], 4 => [ -8, 'V', 3 ] },
	# The magic number, the probability, the horizon, its last layer's pages; a kind, a pointer.
	grown => { 0 => [ 24, 'V', 7 ] }, spark => { 0 => [ 40, 'C', 7 ] }, wide => { 0 => [ 48, 'C', 0xff ] }, number => { 0 => [ 72, 'V', 7 ] },
	short => { 0 => [ -8, 'V', 3 ] }, unlogged => { 0 => [ 12, 'v', 40 ] });

sub check_telling
{
	my ($name, $oid) = copy_model();
	my (@damaged, @asked);
	local $server->{database} = $name;

	for my $tab (sort keys %telling)
	{
		my @pages = pages_of($oid, $tab);
		for my $number (grep { $_ < @pages } keys %{ $telling{$tab} })
		{
			my ($at, $format, @values) = @{ $telling{$tab}{$number} };
			my $present = unpack $format, substr $pages[$number], $at;
			my $bytes = pack $format, map { ref ? $_->($present) : $_ } @values;
			substr($pages[$number], $at, length $bytes) = $bytes;
			push @damaged, "$tab $number";
		}
		write_pages($oid, $tab, join '', @pages);
	}
	is($node->safe_psql($name, 'SELECT n FROM (' . join(' UNION ', map { "SELECT named('$_', title) FROM $_" } sort keys %telling) . ') s (n) WHERE n IS NOT NULL ORDER BY n COLLATE "C"'),
		join("\n", sort @damaged), 'each damage is told that a page can tell');
	is(join(' ', grep { denied($_, []) } sort keys %telling), '', 'none of them is a "no"');

	# Beyond a layer's end is nothing that counts.
	my @pages = pages_of($oid, 'tiny');
	substr($pages[1], 512, $end - 512) = "\xff" x ($end - 512);
	write_pages($oid, 'tiny', join '', @pages);
	is($node->safe_psql($name, q(SELECT s.fill <= 1 AND s.estimated_fpp <= 1, l.fill <= 1 FROM bf_live_state('tiny_bf') s, bf_live_layers('tiny_bf') l)), 't|t', 'a filter is not more than full');
	$node->safe_psql('postgres', "DROP DATABASE $name");
	return;
}
check_telling();

my ($damaged, $answered) = (0, {});

sub pages_round
{
	my ($name, $oid) = copy_model();
	my ($unseen, $told) = damage($oid);
	my @tabs = uniq map { (split)[1] } split /, /, $told =~ s/part of/part/r;
	local $server->{database} = $name;

	my $before = $wrong;
	for my $tab (@tabs)
	{
		$damaged++;
		if (my $rows = denied($tab, $unseen->{$tab} // [])) { note_wrong("denied before anything was done: $tab: $rows"); }
		run_bounded('XX00[12]|0A000|54000|55000|25P02|3B001|22023', page_statements($tab), page_statements(any(sort keys %filters)));
		if (my $rows = denied($tab, $unseen->{$tab} // [])) { note_wrong("denied: $tab: $rows"); }
		$answered->{$_}++ for split /\n/, $node->safe_psql($name, "SELECT DISTINCT asked('$tab', title) FROM $tab");
	}
	if (rand() < 0.2)
	{
		my ($status, $output) = (0);
		IPC::Run::run([ 'pg_dump', '-d', $node->connstr($name) ], '>', '/dev/null', '2>', \$output) or note_wrong("pg_dump: $output");
	}
	for my $tab (rand() < 0.5 ? @tabs : ())
	{
		run_bounded('(?!)', rebuild($tab));
		if (my $rows = denied($tab, [])) { note_wrong("denied after a rebuild: $tab: $rows"); }
	}
	diag "the damage was: $told" if $wrong > $before;
	$node->safe_psql('postgres', "DROP DATABASE $name");
	return;
}

my $half = time + $seconds / 2;
pages_round() while (time < $half || !$answered->{true}) && $wrong < 20;
is($wrong, 0, 'damaged pages');
cmp_ok($answered->{true} // 0, '>', 0, 'damage did not keep all from being answered');
diag "$copies copies, $damaged damaged filters, their rows' answers: " . join ', ', map { "$_ $answered->{$_}" } sort keys %$answered;

# ---- Redis: answers as trees ----

# Read an answer: its kind and what it holds.
sub receive
{
	my ($socket) = @_;
	my $line = readline $socket;
	die "lost\n" unless defined $line && $line =~ s/\r\n\z//;
	my ($kind, $rest) = (substr($line, 0, 1), substr $line, 1);
	return [ $kind, $rest ] if $kind =~ /[+:-]/;
	return [ $kind, undef ] if $rest < 0;
	return [ $kind, [ map { receive($socket) } 1 .. $rest ] ] if $kind eq '*';
	my $read = read $socket, my $bytes, $rest + 2;
	die "lost\n" unless $read == $rest + 2;
	return [ $kind, substr $bytes, 0, $rest ];
}

sub bytes_of
{
	my ($tree) = @_;
	my ($kind, $value) = @$tree;
	return "$kind-1\r\n" unless defined $value;
	return "*@{[ scalar @$value ]}\r\n" . join '', map { bytes_of($_) } @$value if $kind eq '*';
	return "\$" . length($value) . "\r\n$value\r\n" if $kind eq '$';
	return "$kind$value\r\n";
}

# All trees within one.
sub nodes
{
	my ($tree) = @_;
	return ($tree, $tree->[0] eq '*' && $tree->[1] ? map { nodes($_) } @{ $tree->[1] } : ());
}

# ---- Redis: mutations ----

# What no reader can take for an answer to what was asked.
my $port;
my @errors = ('ERR', 'WRONGTYPE', 'LOADING', 'NOAUTH', 'NOPERM', 'READONLY', 'OOM', 'BUSY', 'NOSCRIPT', 'CLUSTERDOWN', 'TRYAGAIN', 'EXECABORT', 'MASTERDOWN', 'MOVED', 'ASK 1', 'MOVED 1 ?', 'MOVED 99999 127.0.0.1:1',
	'MOVED x y z', 'ASK -1 :', 'MOVED 1 [::1]:6379', "MOVED 1 127.0.0.1:99999", "ERR \xff\xfe", 'ERR ' . 'x' x 100_000);
my %plain = (
	cut => sub { my ($bytes) = @_; return \substr $bytes, 0, rand length $bytes },
	silence => sub { return '' },
	close => sub { return undef },
	noise => sub { my ($bytes) = @_; return join('', map { chr int rand 256 } 1 .. any(1, 10, 1000)) . $bytes },
	tls => sub { return any("\x16\x03\x03\0\x7a\x02", "\x15\x03\x01\0\2\2\x28", "HTTP/1.1 400 Bad Request\r\n\r\n", "\0" x 100, "\r\n" x 50) },
	error => sub { return '-' . any(@errors, "MOVED 1 127.0.0.1:$port", "ASK 1 127.0.0.1:$port") . "\r\n" },
	huge => sub { return any("\$536870912\r\nabc", "\$99999999999999999999\r\n", "\$-7\r\n", "*1000000000\r\n", "*-5\r\n", "*99999999999999999999\r\n", "*4294967297\r\n:1\r\n", ":99999999999999999999\r\n", '+' . 'x' x 3_000_000, "\$+1\r\n", "*\r\n", "\$\r\n", ":\r\n") },
	deep => sub { return "*1\r\n" x any(2, 7, 8, 9, 100, 100_000) . ":1\r\n" },
	wide => sub { return any("*65536\r\n" . ":1\r\n" x 65536, "*100000\r\n" . "\$0\r\n\r\n" x 100_000) },
	kind => sub { my (undef, $tree) = @_; return $tree->[0] eq '+' ? ":1\r\n" : any("+OK\r\n", "+QUEUED\r\n", "*0\r\n") },
	resp3 => sub { return any("%1\r\n+a\r\n+b\r\n", "~1\r\n:1\r\n", ">2\r\n+a\r\n+b\r\n", "_\r\n", "#t\r\n", "(1234567\r\n", ",1.5\r\n", "=7\r\ntxt:abc\r\n", "|1\r\n+a\r\n+b\r\n:1\r\n") },
	length => sub {
		my (undef, $tree) = @_;
		my $array = any(grep { $_->[0] eq '*' && $_->[1] } nodes($tree)) or return "+x\r\n";
		my $items = $array->[1];
		if (@$items && rand() < 0.5) { pop @$items; }
		else { push @$items, @$items ? $items->[-1] : [ ':', 1 ]; }
		return bytes_of($tree);
	},
	longer => sub { my (undef, $tree) = @_; return $tree->[0] eq '$' ? bytes_of([ '$', ($tree->[1] // '') . '0' x 1000 ]) : "+x\r\n" },
	shorter => sub { my (undef, $tree) = @_; return $tree->[0] eq '$' ? bytes_of([ '$', substr($tree->[1] // '', 0, length($tree->[1] // '') / 2) ]) : "+x\r\n" },
	nested => sub { my ($bytes) = @_; return "*1\r\n$bytes" });

# What may be taken for one.
my @seen;
my %lies = (%plain,
	flip => sub { my ($bytes) = @_; substr($bytes, rand length $bytes, 1) ^= chr(1 << rand 8) for 1 .. any(1, 1, 3, 20); return $bytes },
	again => sub { my ($bytes) = @_; return $bytes . any($bytes, ":1\r\n", "+OK\r\n") },
	other => sub { return any(@seen) },
	node => sub {
		my (undef, $tree) = @_;
		for my $node ((shuffle nodes($tree))[ 0 .. any(0, 0, 1) ])
		{
			next unless $node;
			my $number = any(0, 1, 2, 7, 64, 255, 256, -1, 2**31, 2**32, '9223372036854775807', '-9223372036854775808');
			@$node = @{ any([ ':', $number ], [ '$', $number ], [ '$', undef ], [ '*', undef ], [ '$', '' ], [ '+', 'OK' ], [ '-', 'ERR' ], [ '*', [] ],
				[ '$', any('string', 'hash', 'none', 'MBbloom--', 'guava', 'growing', 'redisson', 'utf8', 'long', "\1\5\0\0\0\4", "\1\xff\xff\xff\xff\xff", 'x' x 5000, "a\0b", "\xff\xfe", '1e308', 'nan', '0x1', ' 1', '1 ') ], any(nodes($tree))) };
		}
		return bytes_of($tree);
	},
	order => sub { my (undef, $tree) = @_; for (grep { $_->[0] eq '*' && $_->[1] } nodes($tree)) { $_->[1] = [ shuffle @{ $_->[1] } ]; } return bytes_of($tree); });

# ---- Redis: a server in between ----

my ($rate, $calls) = (0.12, 0);
my $between = FaultServer->new(sub {
	my ($state, $name, @arguments) = @_;
	srand($seed + $calls++) unless $state->{seeded}++;
	return $plain{ any(qw(tls noise cut close)) }->("\x16\x03\x03\0\x7a") if $name eq '!NOISE';
	return '' if $name eq '!EARLY';
	# A key may say which answer is mutated from there on, and how.
	for (@arguments)
	{
		next unless s/\bsweep-(\w+)-(\d+)-//g;
		@$state{qw(way turn answers key)} = ($1, $2, 0, "$1 $2") if ($state->{key} // '') ne "$1 $2";
	}
	my $tree = $name eq 'SENTINEL' ? [ '*', [ [ '$', '127.0.0.1' ], [ '$', $state->{port} //= (grep { /^\d{4,5}$/ } @arguments)[0] // $port ] ] ] : eval {
		$state->{redis} //= IO::Socket::UNIX->new(Peer => $redis->{socket}) or die "no Redis\n";
		print { $state->{redis} } '*' . (1 + @arguments) . "\r\n", map { '$' . length . "\r\n$_\r\n" } $name, @arguments;
		$state->{redis}->flush;
		receive($state->{redis});
	} // return undef;
	($state->{lies}) = ($1 eq 'lie') if "@arguments" =~ /\b(lie|tell)-/;
	my $bytes = bytes_of($tree);
	push @seen, $bytes if length $bytes < 10_000;
	shift @seen if @seen > 50;
	return ++$state->{answers} == $state->{turn} ? $plain{ $state->{way} }->($bytes, $tree) : $bytes if $state->{way};
	return $bytes if rand() >= $rate;
	my $ways = $state->{lies} ? \%lies : \%plain;
	return $ways->{ any(sort keys %$ways) }->($bytes, $tree);
});
$port = $between->{port};

# Servers that are all the one in between; and filters in each layout, with the same
# elements, of which the first thousand never change.
my %servers = (hostile => '', cluster => ", cluster 'true', redirect_hosts '127.0.0.1'", sentinel => ", sentinel 'titles', redirect_hosts '127.0.0.1'", secret => ", tls 'true'");
my %kept = (guava => [ 'guava' ], wide => [ 'guava', 'guava', 'utf16' ], growing => [ 'guava', 'growing' ], redisson => [ 'redisson' ], bitmap => [ 'magnuss', 'bitmap' ], blocks => [ 'parquet', 'bitmap' ], shards => [ 'guava', 'guava;shards=3' ]);
$node->safe_psql('postgres', $memory . join '', map { "CREATE SERVER $_ FOREIGN DATA WRAPPER bloomext_redis OPTIONS (" . ($_ eq 'cache' ? "socket '$redis->{socket}'" : "host '127.0.0.1', port '$port', connect_timeout '300', command_timeout '300' $servers{$_}") . "); CREATE USER MAPPING FOR CURRENT_USER SERVER $_;" } 'cache', sort keys %servers);
$node->safe_psql('postgres', q(
	CREATE FUNCTION must(held boolean) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF held IS NOT TRUE THEN RAISE 'denied' USING ERRCODE = 'DENIE'; END IF;
		RETURN true;
	END $$;
	CREATE TABLE held AS SELECT 'held ' || g AS title FROM generate_series(1, 300) g;
	CREATE INDEX held_bf ON held USING bloomfilter (title) WITH (expected = 1000);
	CREATE FUNCTION held() RETURNS text[] LANGUAGE sql STABLE AS 'SELECT array_agg(title) FROM held';
));
my %keys = map { my $name = $_; map { ("$_-$name" => $kept{$name}) } qw(tell lie) } keys %kept;
sub create
{
	my ($where, $key, $drop) = @_;
	my ($strategy, $layout, $funnel) = @{ $keys{$key} };
	return "SELECT bf_redis_create('$where', '{$key}', 200, 0.01, '$strategy', " . ($layout ? "'$layout'" : 'NULL') . ', ' . ($key =~ /growing/ ? 1 : 0) . ', NULL' . ($funnel ? ", '$funnel'" : '') . ');';
}
sub fill { my ($key) = @_; return "SELECT bf_redis_drop('cache', '{$key}'); " . create('cache', $key) . " SELECT bf_redis_add_each('cache', '{$key}', held());" }
$node->safe_psql('postgres', join ' ', map { fill($_) } sort keys %keys);

# What is asked of a filter; where the answers are told apart, also what may not be.
sub redis_statements
{
	my ($key) = @_;
	my ($strategy, $layout, $funnel) = @{ $keys{$key} };
	my $at = "'" . any('hostile', 'hostile', sort keys %servers) . "', '{$key}'";
	my $element = "'held " . int(1 + rand 300) . "'";
	my $tells = $key =~ /^tell/;
	my $filter = "bf_add_all(bf_create(" . any(200, 1000, 100_000) . ", 0.01, '$strategy', expansion => " . ($key =~ /growing/ ? 1 : 0) . '), held())';
	my $to = $layout ? "'$layout'" : 'NULL';
	my @statements = (
		map({ $tells ? "SELECT must($_);" : "SELECT $_;" } "bf_redis_contains($at, $element)", "(SELECT bool_and(a) FROM unnest(bf_redis_contains_each($at, held())) a)", "NOT bf_redis_add($at, $element)",
			"(SELECT NOT bool_or(a) FROM unnest(bf_redis_add_each($at, ARRAY[$element, 'held 1', NULL])) a)", $key =~ /shards/ ? () : "bf_contains_all(bf_fetch($at), held())"),
		"SELECT * FROM bf_redis_info($at);", create(any('hostile', 'cluster', 'sentinel'), $key),
		"SELECT bf_redis_contains($at, 'absent ' || g) FROM generate_series(1, 5) g;", "SELECT bf_redis_contains($at, 7);", "SELECT bf_fetch($at, '" . any(qw(guava growing redisson bitmap redisbloom)) . "');",
		"SELECT bf_fetch($at, 'bitmap', 200, 0.01, '$strategy');", "SELECT bf_redis_create($at, 10, 0.5, '" . any('guava', 'redisson', 'magnuss') . "');",
		"SELECT bf_mirror($filter, $at, $to);", "SELECT bf_mirror(bf_plain(bf_create(5, counting => true)), $at);" x !$tells, "SELECT bf_redis_drop($at);" x !$tells, "SELECT bf_redis_add($at, g) FROM generate_series(1, 3) g;" x !$tells,
		"SELECT bf_live_mirror('held', $at, $to);" x ($strategy eq 'guava' && $key !~ /growing|shards/), "SELECT bf_mirror(bf_agg(title, 200, 0.01, 'redisbloom'), $at) FROM held;" x !$tells);
	return grep { length } (shuffle @statements)[ 0 .. 9 ];
}

$wrong = 0;
my $asked = $server->{statements};
my %failed = %{ $server->{states} };
my $redis_states = '22P03|08001|08006|08P01|38000|38R0[1-5]|57014|22023|42704|55006|0A000|54000|53300|53100|53200|42710|42501|28000|55000|25006';
my $end_of_answers = time + $seconds / 2;

# Each of the first answers, in each way that cannot but be seen; but for the one that
# is waited for.
for my $key (grep { /^tell/ } sort keys %keys)
{
	my @statements = ("SELECT bf_live_mirror('held', 'cache', '{$key}');") x ($key eq 'tell-guava');
	for my $way (grep { $_ ne 'silence' } sort keys %plain)
	{
		for my $turn (1 .. 4)
		{
			my $at = "'hostile', '{sweep-$way-$turn-$key}'";
			push @statements, any("SELECT must((SELECT bool_and(a) FROM unnest(bf_redis_contains_each($at, held())) a));", "SELECT must((SELECT NOT bool_or(a) FROM unnest(bf_redis_add_each($at, held())) a));");
			push @statements, "SELECT bf_live_mirror('held', $at, 'guava');" if $key eq 'tell-guava';
		}
	}
	run_bounded($redis_states, @statements);
}
is($wrong, 0, 'each of the first answers');
$node->safe_psql('postgres', join ' ', map { fill($_) } sort keys %keys);

while (time < $end_of_answers && $wrong < 20)
{
	my @chosen = map { any(sort keys %keys) } 1 .. 6;
	run_bounded($redis_states, map { redis_statements($_) } @chosen);
	# What lies have done to a filter is undone; what was told apart has done nothing.
	$node->safe_psql('postgres', join ' ', map { /^lie/ ? fill($_) : "SELECT must(bool_and(a)) FROM unnest(bf_redis_contains_each('cache', '{$_}', held())) a;" } uniq @chosen);
}
is($wrong, 0, 'hostile answers');
$asked = $server->{statements} - $asked;
my $errors = 0;
$errors += $server->{states}{$_} - ($failed{$_} // 0) for keys %{ $server->{states} };
cmp_ok($errors, '<', 0.9 * $asked, "$errors of $asked statements failed: not all of them");
diag $server->summary;
$node->stop;
done_testing();
