-- Bad input: each gives the error of the table in the interface, nothing is
-- lost, and the session goes on.
\set VERBOSITY terse

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- The pieces of an error that users see.
create function pg_temp.message(query text) returns table (code text, message text, detail text, hint text)
language plpgsql as $$
begin
    execute query;
exception when others then
    get stacked diagnostics code = returned_sqlstate, message = message_text,
        detail = pg_exception_detail, hint = pg_exception_hint;
    return next;
end $$;

-- As one of ICU's is, which not every server has.
create collation pg_temp.folding (provider = libc, locale = 'C');
update pg_collation set collisdeterministic = false where oid = 'pg_temp.folding'::regcollation;
create domain pg_temp.amount as numeric;
create type pg_temp.mood as enum ('good', 'bad');
create type pg_temp.pair as (a int, b int);
create temp table kept (name text, f bloomfilter);
insert into kept values
    ('text', bf_create(10) + 'kept'), ('unbound', bf_create(10)), ('int', bf_create(10) + 1),
    ('guava32', bf_create(10, strategy => 'guava32') + 'kept'),
    ('more bits', bf_create(20) + 'kept'), ('more hashes', bf_create_bits(128, 6) + 'kept'),
    ('utf16', bf_create(10, funnel => 'utf16') + 'kept');
create temp table before as select name, f::text as f from kept;

-- Expected code, then the statement.
create temp table bad (code text, query text);
insert into bad values
-- Parameters out of range
('22023', 'bf_create(-1)'),
('22023', 'bf_create(-9223372036854775808)'),
('22023', 'bf_create(10, 0)'),
('22023', 'bf_create(10, 1)'),
('22023', 'bf_create(10, -0.5)'),
('22023', 'bf_create(10, 1.5)'),
('22023', 'bf_create(10, ''NaN'')'),
('22023', 'bf_create(10, ''infinity'')'),
('22023', 'bf_create(10, ''-infinity'')'),
('22023', 'bf_create(10, 0, ''guava32'')'),
('22023', 'bf_create(-1, 0.03, ''guava32'')'),
-- Too large, or no bits at all
('54000', 'bf_create(4611686018427387904)'),
('54000', 'bf_create(9223372036854775807)'),
('54000', 'bf_create(9223372036854775807, 0.5)'),
('54000', 'bf_create(9223372036854775807, 1e-70)'),
('54000', 'bf_create(4611686018427387904, 0.03, ''guava32'')'),
('54000', 'bf_create(1200000000, 0.03)'),
('54000', 'bf_create(1, 0.9)'),
('54000', 'bf_create(0, 0.9)'),
('54000', 'bf_create(1, 0.9, ''guava32'')'),
('54000', 'bf_create(1000, 1e-78)'),
('54000', 'bf_create(1000, 1e-300)'),
('54000', 'bf_create_bits(8589934592, 1)'),
('54000', 'bf_create_bits(9223372036854775807, 1)'),
('54000', 'bf_create_bits(9223372036854775744, 1)'),
('54000', 'bf_create_bits(137438953408, 1)'),
('54000', 'bf_create_bits(0, 1)'),
('54000', 'bf_create_bits(64, 256)'),
('54000', 'bf_create_bits(64, 2147483647)'),
('22023', 'bf_create_bits(-1, 1)'),
('22023', 'bf_create_bits(64, 0)'),
('22023', 'bf_create_bits(64, -1)'),
-- Unknown names
('22023', 'bf_create(10, 0.03, ''nonsense'')'),
('22023', 'bf_create(10, 0.03, '''')'),
('22023', 'bf_create(10, 0.03, ''GUAVA'')'),
('22023', 'bf_create(10, 0.03, ''guava'', ''nonsense'')'),
('22023', 'bf_create(10, 0.03, ''guava'', '''')'),
('22023', 'bf_create_bits(64, 1, ''nonsense'')'),
('22023', 'bf_create_bits(64, 1, ''guava'', ''nonsense'')'),
('22023', 'bf_export(bf_create(10), ''nonsense'')'),
('22023', 'bf_export(bf_create(10), '''')'),
('22023', 'bf_export_layer(bf_create(10), 0, ''nonsense'')'),
('22023', 'bf_export_layer(bf_create(10), 1)'),
('22023', 'bf_export_layer(bf_create(10), -1)'),
('22023', 'bf_import(''\x0103000000010000000000000000'', ''nonsense'')'),
('22023', 'bf_import(''\x0103000000010000000000000000'', ''guava'', ''nonsense'')'),
('22023', 'bf_import(''\x'', ''nonsense'', 10, 0.03, ''guava'')'),
('22023', 'bf_import(''\x'', ''redis'', 10, 0.03, ''nonsense'')'),
('22023', 'bf_import(''\x'', ''redis'', 10, 0.03, ''guava'', ''nonsense'')'),
('22023', 'bf_import(''\x'', ''redis'', -1, 0.03, ''guava'')'),
('22023', 'bf_import(''\x'', ''redis'', 10, 1, ''guava'')'),
('54000', 'bf_import(''\x'', ''redis'', 4611686018427387904, 0.03, ''guava'')'),
('22023', 'bf_import_bits(''\x'', ''nonsense'', 64, 3)'),
('22023', 'bf_import_bits(''\x'', ''redis'', 64, 0)'),
('54000', 'bf_import_bits(''\x'', ''redis'', 64, 256)'),
('54000', 'bf_import_bits(''\x'', ''redis'', 9223372036854775807, 3)'),
('22023', 'bf_import_bits(''\x'', ''redis'', -64, 3)'),
-- A format that does not describe itself, or does
('22023', 'bf_import(''\x00'', ''redis'')'),
('22023', 'bf_import(''\x00'', ''bitset'')'),
('22023', 'bf_import(''\x0103000000010000000000000000'', ''guava'', 10, 0.03, ''guava'')'),
('22023', 'bf_import_bits(''\x0103000000010000000000000000'', ''guava'', 64, 3)'),
-- Incompatible filters
('22023', 'bf_union(bf_create(10, funnel => ''utf8''), bf_create(10, funnel => ''utf16''))'),
('22023', 'bf_union(bf_create(10), bf_create(20))'),
('22023', 'bf_union(bf_create(10), bf_create(10, 0.03, ''guava32''))'),
('22023', 'bf_union(bf_create_bits(64, 3), bf_create_bits(64, 4))'),
('22023', 'bf_intersection(bf_create_bits(64, 3), bf_create_bits(64, 4))'),
('22023', 'bf_create(10) + ''x'' | (bf_create(10) + 1)'),
('22023', 'bf_create(10) + ''x'' & (bf_create(10) + 1)'),
-- Elements of the wrong kind
('22023', 'bf_contains(bf_create(10) + 1, ''x'')'),
('22023', 'bf_add(bf_create(10) + 1, ''x'')'),
('22023', 'bf_add_all(bf_create(10) + 1, array[''x''])'),
('22023', 'bf_contains_all(bf_create(10) + 1, array[''x''])'),
('22023', 'bf_contains_each(bf_create(10) + ''x'', array[1])'),
('22023', 'bf_positions(bf_create(10) + ''x'', 1)'),
('22023', 'bf_add(bf_create(10, funnel => ''int''), 2147483648)'),
-- Types that are no elements
('0A000', 'bf_add(bf_create(10), 1.5)'),
('0A000', 'bf_add(bf_create(10), 1.5::float8)'),
('0A000', 'bf_contains(bf_create(10), 1.5)'),
('0A000', 'bf_create(10) @> 1.5'),
('0A000', '1.5 <@ bf_create(10)'),
('0A000', 'bf_add(bf_create(10), interval ''1 day'')'),
('0A000', 'bf_add(bf_create(10), time ''12:00'')'),
('0A000', 'bf_add(bf_create(10), array[true])'),
('0A000', 'bf_add(bf_create(10), ''good''::pg_temp.mood)'),
('0A000', 'bf_add(bf_create(10), row(1, 2)::pg_temp.pair)'),
('0A000', 'bf_add(bf_create(10), ''{}''::jsonb)'),
('0A000', 'bf_add(bf_create(10), 1.5::pg_temp.amount)'),
('0A000', 'bf_add(bf_create(10), array[1])'),
('0A000', 'bf_add_all(bf_create(10), array[1.5])'),
('0A000', 'bf_add_all(bf_create(10), array[]::numeric[])'),
('0A000', 'bf_contains_all(bf_create(10), array[1.5])'),
('0A000', 'bf_positions(bf_create(10), 1.5)'),
('0A000', '(select bf_agg(1.5, 10))'),
('0A000', '(select bf_agg(1.5))'),
('0A000', '(select bf_agg(1.5, 10, 0.03))'),
('0A000', '(select bf_agg(typinput, 10) from pg_type)'),
('0A000', 'bf_add(bf_create(10), ''x'' collate pg_temp.folding)'),
('0A000', 'bf_contains(bf_create(10), ''x'' collate pg_temp.folding)'),
('0A000', 'bf_create(10) @> (''x'' collate pg_temp.folding)'),
('0A000', '(select bf_agg(x collate pg_temp.folding, 10) from unnest(array[''a'']) x)'),
('0A000', '(select bf_agg(x collate pg_temp.folding) from unnest(array[''a'']) x)'),
-- Malformed
('22P02', '''nonsense''::bloomfilter'),
('22P02', '''\x''::bloomfilter'),
('22P02', '''\x6266''::bloomfilter'),
('22P03', '''\x''::bytea::bloomfilter'),
('22P03', '''\x00''::bytea::bloomfilter'),
('22P03', 'bf_import(''\x'')'),
('22P03', 'bf_import(''\x010300000001000000000000000000'')'),
('22P03', 'bf_import(''\x0103ffffffff0000000000000000'')'),
('22P03', 'bf_import(''\x01037fffffff0000000000000000'')'),
('22P03', 'bf_import(''\x000000000000000000ff'', ''redis'', 10, 0.5, ''guava'')'),
('22P03', 'bf_import_bits(''\x0000000000000000ff'', ''bitset'', 64, 3)'),
-- NULL where there is no default to fall back on
('22004', 'bf_create(null)'),
('22004', 'bf_create(10, null)'),
('22004', 'bf_create(10, 0.03, null)'),
('22004', 'bf_create(10, 0.03, ''guava'', null, null)'),
('22004', 'bf_create(10, 0.03, ''guava'', null, 0, null)'),
('22004', 'bf_create_bits(null, 3)'),
('22004', 'bf_create_bits(64, null)'),
('22004', 'bf_create_bits(64, 3, null)'),
('22004', 'bf_create_buckets(null, 10)'),
('22004', 'bf_create_buckets(10, null)'),
('22004', 'bf_export_layer(bf_create(10), null)'),
('22004', 'bf_import(''\x0103000000010000000000000000'', null)'),
('22004', 'bf_import(''\x'', ''redis'', null, 0.03, ''guava'')'),
('22004', 'bf_import_bits(''\x'', ''redis'', null, 3)'),
('22004', '(select bf_agg(''x'', null))'),
('22004', '(select bf_agg(''x'', 10, null))'),
('22004', '(select bf_agg(''x'', 10, 0.03, null))'),
-- Aggregates
('22023', '(select bf_agg(''x'', -1))'),
('22023', '(select bf_agg(''x'', 10, 1.0))'),
('22023', '(select bf_agg(''x'', 10, ''NaN''))'),
('22023', '(select bf_agg(''x'', 10, 0.03, ''nonsense''))'),
('54000', '(select bf_agg(''x'', 4611686018427387904))'),
('54000', '(select bf_agg(''x'', 1, 0.9))'),
('22023', '(select bf_agg(x, -1) from unnest(array[]::text[]) x)'),
('22023', '(select bf_agg(x::text, x) from generate_series(1, 2) x)'),
('22023', '(select bf_agg(x, 10, 0.1 / x) from generate_series(1, 2) x)'),
('22023', '(select bf_agg(x, 10, 0.03, case x when 1 then ''guava'' else ''guava32'' end) from generate_series(1, 2) x)'),
('22023', '(select bf_union_agg(f) from (values (bf_create(10)), (bf_create(20))) v(f))'),
('22023', '(select bf_union_agg(f) from (values (bf_create(10) + 1), (bf_create(10) + ''x'')) v(f))'),
('22023', '(select bf_intersection_agg(f) from (values (bf_create(10)), (bf_create(20))) v(f))'),
-- Growing, counting, and other services' filters
('22023', 'bf_create(10, expansion => 1, counting => true)'),
('22023', 'bf_create(10, strategy => ''magnuss'', counting => true)'),
('22023', 'bf_create(0, strategy => ''redisson'')'),
('54000', 'bf_create(4000000000, 0.01, ''redisson'')'),
('54000', 'bf_create(200000000, 0.0001, ''magnuss'')'),
('22023', 'bf_create(10, 0.03, ''tale2009'') + ''\x00''::bytea'),
('22023', 'bf_create(10, 0.03, ''redisson'', ''utf16'')'),
('22023', 'bf_create_buckets(10, 0)'),
('22023', 'bf_export(bf_create(10), ''redisbloom'')'),
('22P03', 'bf_import(''\x00'', ''redisbloom'')'),
('22023', 'bf_measure_fpp(bf_create(10), 0)'),
('22023', 'bf_create(10, expansion => -1)'),
('22023', 'bf_create(10, expansion => 32769)'),
('22023', 'bf_remove(bf_create(10) + ''x'', ''x'')');

select b.*, outcome
from bad b, lateral (select pg_temp.outcome('select ' || query) as outcome) o
where outcome <> code
order by query;

-- The same inside a query that goes on, and of stored values.
select a.name, b.name, o.outcome
from kept a, kept b,
    lateral (select pg_temp.outcome(format('select a.f | b.f from kept a, kept b where a.name = %L and b.name = %L',
                                           a.name, b.name)) as outcome) o
where outcome <> case when bf_compatible(a.f, b.f) then 'ok' else '22023' end
order by 1, 2;

-- Nothing was changed by all this.
select name from kept join before using (name) where kept.f::text <> before.f order by 1;
select count(*) from kept where f @> 'kept' and name not in ('int', 'unbound');

-- In a transaction, a savepoint brings one back to what was.
begin;
update kept set f = f + 'in' where name = 'text';
savepoint s;
update kept set f = f + 1 where name = 'text';
rollback to s;
select f @> 'in' as still, f @> 'kept' as kept from kept where name = 'text';
rollback;
select f @> 'in' as rolled_back, f @> 'kept' as kept from kept where name = 'text';

-- A failing row takes its statement with it, and no more.
insert into kept select 'row ' || i, case when i < 3 then bf_create(10)::text else '\x6266' end::bloomfilter from generate_series(1, 3) i;
select count(*) from kept;

-- Messages say what is wrong, and what would be right.
-- The two sides of a union are named.
select concat_ws(' ', message, detail) ~ '128.*192' as bits, concat_ws(' ', message, detail) ~ 'guava\M.*guava32' as strategies
from pg_temp.message('select bf_union(bf_create(10), bf_create(20, 0.03, ''guava32''))');
select concat_ws(' ', message, detail) ~ 'utf8.*utf16' as funnels
from pg_temp.message('select bf_union(bf_create(10, funnel => ''utf8''), bf_create(10, funnel => ''utf16''))');
-- A plain filter forgets nothing: build a new one and put it in place.
select concat_ws(' ', message, detail, hint) ~* 'rebuil|build|new filter' as rebuild,
       concat_ws(' ', message, detail, hint) ~* 'swap|place' as swap
from pg_temp.message('select bf_remove(bf_create(10) + ''x'', ''x'')');
-- Primary messages by PostgreSQL's style: not capitalised, no full stop, no function name.
select query, message
from bad, pg_temp.message('select ' || query)
where message ~ '^[A-Z]' and message !~ '^[A-Z]{2}' or message ~ '[.]$' or message ~ '^(function )?bf_' and bad.code <> '0A000'
order by 1;

-- They alone say what is wrong, and with which value; the SQLSTATE says what kind of error it is.
select query, m.code, m.message, m.hint
from (values (1, 'bf_create(-1)'), (2, 'bf_create(10, 1.5)'), (3, 'bf_create(1, 0.9)'), (4, 'bf_create(1000, 1e-300)'),
             (5, 'bf_create(9223372036854775807)'), (6, 'bf_create(10000000000, 0.03, ''redisson'')'),
             (7, 'bf_create(0, 0.03, ''magnuss'')'), (8, 'bf_create_bits(137438953536, 1)'),
             (9, '''\x6266''::bloomfilter'),
             (10, '(''\x'' || encode(overlay(bloomfilter_send(bf_create(10)) placing ''\x07'' from 1), ''hex''))::bloomfilter'),
             (11, '(''\x'' || encode(overlay(bloomfilter_send(bf_create(10)) placing ''\x07'' from 3), ''hex''))::bloomfilter'),
             (12, '(''\x'' || encode(bloomfilter_send(bf_create(10)) || ''\x00'', ''hex''))::bloomfilter'),
             (13, 'bf_import(''\x0105000000020102'')'), (14, 'bf_import(''\x0100000000010102030405060708'')'),
             (15, 'bf_export(bf_create_bits(64, 3, ''redisbloom''))')) v(n, query),
    pg_temp.message('select ' || query) m
order by n;
-- And what hints of sizes say works, for filters that grow, too.
select strategy, expansion, query
from unnest(array['guava', 'guava32', 'redisson', 'magnuss', 'tale2009', 'cassandra', 'redisbloom', 'spark1', 'spark2', 'bitsandblooms', 'parquet']) strategy, unnest(array[0, 2]) expansion,
    unnest(array['bf_create(1, 0.03, %L, null, %s)', 'bf_create(1, 1e-70, %L, null, %s)']) query
where not (query ~ '1e-70' and strategy in ('tale2009', 'cassandra', 'parquet')) and pg_temp.outcome('select ' || format(query, strategy, expansion)) <> 'ok'
order by 1, 2, 3;
-- The known names are in the message or its hint.
select q, n as missing
from (values ('bf_create(10, 0.03, ''nonsense'')', array['guava', 'guava32']),
             ('bf_create(10, 0.03, ''guava'', ''nonsense'')', array['utf8', 'utf16', 'bytes', 'int', 'long']),
             ('bf_export(bf_create(10), ''nonsense'')', array['guava', 'redis', 'bitset']),
             ('bf_import(''\x'', ''nonsense'')', array['guava']),
             ('bf_import_bits(''\x'', ''nonsense'', 64, 3)', array['redis', 'bitset'])) v(q, names),
     unnest(names) n, pg_temp.message('select ' || q) m
where position(n in concat_ws(' ', m.message, m.detail, m.hint)) = 0
order by 1, 2;
-- Unsupported types are told what to use instead.
select t, m.hint
from unnest(array['1.5', 'interval ''1 day''', '1.5::float4', '''{}''::jsonb', '''{}''::json', '''x'' collate pg_temp.folding', '1.5::pg_temp.amount']) t,
    pg_temp.message(format('select bf_contains(bf_create(10), %s)', t)) m
where m.hint !~* '::|extended[(]|collate' or m.hint is null
order by 1;

-- An aggregate's collation.
select pg_temp.outcome('select bf_agg(name collate pg_temp.folding, 10) from kept') as sized,
       pg_temp.outcome('select bf_agg_into(bf_create(10), name collate pg_temp.folding) from kept') as given,
       pg_temp.outcome('select bf_agg(name collate "C", 10) from kept') as deterministic;
-- Bytes that another function takes: the hint says which.
select given, m.code, m.hint
from (values (1, 'Guava''s as text', format('%L::bloomfilter', bf_export(bf_create(10) + 'x'))),
             (2, 'RedisBloom''s as text', format('%L::bloomfilter', bf_export(bf_create(10, strategy => 'redisbloom') + 'x'))),
             (3, 'a value''s as Guava''s', format('bf_import(%L)', bloomfilter_send(bf_create(10) + 'x'))),
             (4, 'a value''s by the cast', format('%L::bytea::bloomfilter', bloomfilter_send(bf_create(10) + 'x'))),
             (5, 'a value''s as RedisBloom''s', format('bf_import(%L, ''redisbloom'')', bloomfilter_send(bf_create(10) + 'x'))),
             (6, 'Guava''s as RedisBloom''s', format('bf_import(%L, ''redisbloom'')', bf_export(bf_create(10) + 'x'))),
             (7, 'RedisBloom''s as Guava''s', format('bf_import(%L)', bf_export(bf_create(10, strategy => 'redisbloom') + 'x'))),
             (8, 'nobody''s', format('bf_import(%L)', '\x6266'))) v(n, given, query),
    pg_temp.message('select ' || query) m
order by n;
-- And what it says works.
select ('\x' || encode(bloomfilter_send(f), 'hex'))::bloomfilter = f as own,
       bf_import(bf_export(f), 'guava') = f as guava, bf_export(f)::bytea::bloomfilter = f as cast,
       bf_import(bf_export(r), 'redisbloom') = r as redisbloom
from (select bf_create(10) + 'x' as f, bf_create(10, strategy => 'redisbloom') + 'x' as r) v;

-- Errors of the text input are soft where the server (16 or newer) asks for
-- them so, and the same as the hard ones.
do $$
declare
    s text;
    soft record;
    hard record;
begin
    if current_setting('server_version_num')::int < 160000 then
        return;
    end if;
    foreach s in array array[bf_create(10)::text, '', '\x', '\x0', '\x00', '\xzz', 'base64:', 'base64:YmY=', 'nonsense',
                             (bf_create(10) + 'x')::bytea::text] loop
        execute 'select pg_input_is_valid($1, ''bloomfilter'') as valid' into soft using s;
        select m.code into hard from pg_temp.message(format('select %L::bloomfilter', s)) m;
        if soft.valid is distinct from (hard.code is null) then
            raise exception '%: valid is %', s, soft.valid;
        end if;
        execute 'select message, detail, hint, sql_error_code as code from pg_input_error_info($1, ''bloomfilter'')' into soft using s;
        select m.message, m.detail, m.hint, m.code into hard from (select) x left join pg_temp.message(format('select %L::bloomfilter', s)) m on true;
        if (soft.message, nullif(soft.detail, ''), nullif(soft.hint, ''), soft.code) is distinct from
           (hard.message, nullif(hard.detail, ''), nullif(hard.hint, ''), hard.code) then
            raise exception '%: soft: %, hard: %', s, soft, hard;
        end if;
    end loop;
end $$;
