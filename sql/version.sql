-- What is installed, and what to do about it.
\set VERBOSITY terse

-- The library is of the extension's version, and built for this server's.
select library ~ ('^' || replace(extension, '.', '\.') || '\.\d+$') as library,
    extension = (select extversion from pg_extension where extname = 'bloomext') as extension,
    split_part(built_for, '.', 1) = split_part(current_setting('server_version'), '.', 1) as built_for,
    action
from bf_version();

-- Formats are those of the bytes: of a value, and of an index's first page.
select value_format = get_byte(bloomfilter_send(bf_create(1)), 2) as value_format from bf_version();
create table live (title text);
create index live_bf on live using bloomfilter (title) with (expected = 1);
checkpoint;
select live_format = get_byte(pg_read_binary_file(pg_relation_filepath('live_bf'), 28, 1), 0) as live_format from bf_version();
drop table live;

-- Objects that are older than the library, or newer, as far as a number can be.
begin;
update pg_extension set extversion = '0.9' where extname = 'bloomext';
select extension, action from bf_version();
update pg_extension set extversion = '1.9999' where extname = 'bloomext';
select extension, action from bf_version();
update pg_extension set extversion = '2.0' where extname = 'bloomext';
select extension, action from bf_version();
delete from pg_extension where extname = 'bloomext';
select extension, action from bf_version();
rollback;

-- Anybody may ask.
create role version_reader;
set role version_reader;
select extension is not null as told from bf_version();
reset role;
drop role version_reader;
