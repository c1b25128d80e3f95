# UpgradeRedis.pm
#	What versions put into Redis, in the folders of UpgradeTest.pm:
#
#	  fill_redis.sql	one of everything, after fill.sql
#	  questions_redis.sql	what no version may answer otherwise
#	  answers_redis	to those, of the keys that are kept
#	  redis			the keys: bytes of strings compressed, in base64, and fields of hashes
#
#	Not by DUMP, whose bytes depend on Redis's release; and without times to live.
#	What lies in a type of a module is not kept: its bytes are the module's, and those
#	that bloomext has to do with are a stream, which values are exported as.
package UpgradeRedis;

use strict;
use warnings;

use Compress::Zlib qw(memGzip memGunzip);
use Digest::MD5 qw(md5_hex);
use Exporter qw(import);
use MIME::Base64 qw(encode_base64 decode_base64);
use PostgreSQL::Test::Utils;

use RedisServer;
use RedisWire;
use UpgradeTest;

our @EXPORT = qw(without_ids);
our @ISA = ('UpgradeTest');

# A window that a server turned whose clock was ahead by a slice.
my $turned = 'window guava created window';

# new(node, database, version): likewise, with a Redis of its own, filled.
sub new
{
	my ($class, @filled) = @_;
	my $self = UpgradeTest::new($class, @filled);
	$self->{redis} = RedisServer->new;
	$self->{wire} = RedisWire->new($self->{redis}{socket});
	$self->sql("CREATE SERVER redis FOREIGN DATA WRAPPER bloomext_redis OPTIONS (socket '$self->{redis}{socket}'); CREATE USER MAPPING FOR CURRENT_USER SERVER redis");
	$self->script('fill_redis.sql');
	$self->command('HSET', "{$turned}:bloomext", 'newest', 1);
	$self->sql("UPDATE remote SET n = 60 WHERE key = '$turned'; SELECT bf_redis_add_each('redis', key, ARRAY(SELECT '标题 ' || i FROM generate_series(31, 60) AS i)) FROM remote WHERE key = '$turned'");
	return $self;
}

sub command
{
	my ($self, @command) = @_;
	return $self->{wire}->command(undef, @command);
}

# A line for each key: its type, and its bytes in hexadecimal, or its fields.
sub keys_now
{
	my ($self) = @_;
	return $self->command('EVAL', q{
		local lines = {}
		for i, key in ipairs(redis.call('KEYS', '*')) do
			local line = {}
			if redis.call('TYPE', key).ok == 'hash' then
				local flat = redis.call('HGETALL', key)
				for j = 1, #flat, 2 do line[#line + 1] = flat[j] .. '=' .. flat[j + 1] end
				table.sort(line)
				table.insert(line, 1, 'hash')
			else
				line = {'string', (redis.call('GET', key):gsub('.', function(c) return ('%02x'):format(c:byte()) end))}
			end
			lines[i] = key .. '\t' .. table.concat(line, '\t')
		end
		table.sort(lines)
		return table.concat(lines, '\n')}, 0);
}

# The same of what is kept.
sub keys_kept
{
	my ($self) = @_;
	return slurp_file("$self->{folder}/redis") =~ s{\tstring\t\K(\S+)}{unpack 'H*', memGunzip(decode_base64($1))}gers =~ s/\n\z//r;
}

# The same without the ids, which are random, in fields, in names and in strings; of long
# strings what is enough to compare them.
sub without_ids
{
	my ($keys) = @_;
	foreach my $id ($keys =~ /\tid=(\w{16})\b/g)
	{
		my $bytes = unpack 'H*', $id;
		$keys =~ s/$id|$bytes/ID/g;
	}
	return join "\n", sort split /\n/, $keys =~ s{\tstring\t\K(\w{200,})}{length($1) / 2 . ' bytes, ' . md5_hex($1)}gers;
}

# What there is today of which nothing is kept.
sub lacking
{
	my ($self) = @_;
	return $self->unlisted(layouts => q(SELECT bf_redis_create('redis', 'none', 1, layout => 'none')));
}

sub answers
{
	my ($self) = @_;
	return $self->script('questions_redis.sql') . "\n";
}

sub kept_answers
{
	my ($self) = @_;
	return slurp_file("$self->{folder}/answers_redis");
}

sub keep
{
	my ($self) = @_;
	UpgradeTest::put("$self->{folder}/answers_redis", $self->answers);
	UpgradeTest::put("$self->{folder}/redis", $self->keys_now =~ s{\tstring\t\K(\S+)}{encode_base64(memGzip(pack 'H*', $1), '')}gers . "\n");
}

sub restore
{
	my ($self) = @_;
	$self->command('FLUSHALL');
	foreach (split /\n/, $self->keys_kept)
	{
		my ($key, $type, @parts) = split /\t/;
		$self->command($type eq 'hash' ? ('HSET', $key, map { split /=/, $_, 2 } @parts) : ('SET', $key, pack 'H*', $parts[0]));
	}
}

# Elements come, which are there then, and so are those before them; which keys fail, and why.
sub put_more
{
	my ($self) = @_;
	return $self->sql('SELECT put_more(5)');
}

1;
