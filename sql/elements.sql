-- Which types can be elements, what bytes their values are, and that nothing
-- is an element under another type's name.  Each query lists disagreements.
\set VERBOSITY terse
set timezone = 'Asia/Kolkata';

create function pg_temp.outcome(query text) returns text language plpgsql as $$
declare
    found boolean;
begin
    execute query into found;
    return case found when true then 'ok' when false then 'no' end;
exception when others then
    return sqlstate;
end $$;
-- From 19 on PostgreSQL's own hint for a function that is not there is shorter.
create function pg_temp.hint(query text) returns text language plpgsql as $$
declare
    hint text;
begin
    execute query;
    return 'none';
exception when others then
    get stacked diagnostics hint = pg_exception_hint;
    return replace(hint, 'No function matches the given name and argument types. ', '');
end $$;

-- ---------------------------------------------------------------------------
-- The bytes: as those of the integer, bytea or text that stands for it
-- ---------------------------------------------------------------------------
create temp table bytes (type text, value text, same text);
insert into bytes values
    ('date', '1970-01-01', '0'), ('date', '1969-12-31', '-1'), ('date', '2000-01-01', '10957'),
    ('date', '2024-02-29', '19782'), ('date', '4713-01-01 BC', '-2440550'), ('date', '5874897-12-31', '2145042905'),
    ('date', 'infinity', '-2147472692'), ('date', '-infinity', '-2147472691'),
    ('timestamp', '1970-01-01', '0::bigint'), ('timestamp', '1969-12-31 23:59:59.999999', '(-1)::bigint'),
    ('timestamp', '2000-01-01', '946684800000000'), ('timestamp', '294276-12-31 23:59:59.999999', '9224318015999999999'),
    ('timestamp', 'infinity', '-9222425352054775809'), ('timestamp', '-infinity', '-9222425352054775808'),
    ('timestamptz', '1970-01-01 00:00+00', '0::bigint'), ('timestamptz', '1970-01-01 05:30', '0::bigint'),
    ('timestamptz', '2024-02-29 12:00:00.000001+00', '1709208000000001'),
    ('timestamptz', 'infinity', '-9222425352054775809'), ('timestamptz', '-infinity', '-9222425352054775808'),
    ('oid', '0', '0::bigint'), ('oid', '4294967295', '4294967295'), ('oid', '-1', '4294967295'),
    ('boolean', 'false', '0::smallint'), ('boolean', 'true', '1::smallint'),
    ('"char"', 'a', '97::smallint'), ('"char"', '', '0::smallint'), ('"char"', '\377', '(-1)::smallint'),
    ('inet', '1.2.3.4', '''\x042001020304''::bytea'), ('inet', '1.2.3.4/24', '''\x041801020304''::bytea'),
    ('inet', '::1', '''\x068000000000000000000000000000000001''::bytea'),
    ('inet', '2001:db8::/32', '''\x062020010db8000000000000000000000000''::bytea'),
    ('cidr', '1.2.3.0/24', '''\x041801020300''::bytea'), ('cidr', '1.2.3.4', '''\x042001020304''::bytea'),
    ('macaddr', '08:00:2b:01:02:ff', '''\x08002b0102ff''::bytea'),
    ('char(5)', 'a', '''a''::text'), ('char(5)', 'ä  ', '''ä''::text'), ('char(5)', ' a', ''' a''::text'),
    ('char(5)', '', '''''::text'), ('bpchar', 'a   ', '''a''::text'), ('name', 'a ', '''a ''::text'), ('varchar(5)', 'a ', '''a ''::text');
-- 294276 is beyond the range of a bigint, and wraps around.
update bytes set same = '-9222426057709551617' where same = '9224318015999999999';
-- Before PostgreSQL 15 "char" reads no octal digits.
delete from bytes where value = '\377' and current_setting('server_version_num')::int < 150000;

-- By arrays.
select type, value, same
from bytes, lateral (values (format('array[%L::%s]', value, type), format('array[%s]', same))) a(own, other),
    unnest(array['bf_create(100, 0.0001)', 'bf_create(100, 0.0001, ''redisson'')', 'bf_create(100, 0.01, ''cassandra'')']) f
where pg_temp.outcome(format('select bf_add_all(%1$s, %2$s) = bf_add_all(%1$s, %3$s)', f, own, other)) <> 'ok'
   or pg_temp.outcome(format('select bf_contains_all(bf_add_all(%1$s, %2$s), %2$s)', f, own)) <> 'ok'
order by 1, 2;
-- One by one, and by aggregates: the same as by arrays.
select type, value
from bytes, lateral (select format('%L::%s', value, type) as e, format('bf_add_all(bf_create(100), array[%L::%s])', value, type) as f) x
where array[pg_temp.outcome(format('select bf_add(bf_create(100), %s) = %s', e, f)), pg_temp.outcome(format('select %2$s @> %1$s', e, f)),
            pg_temp.outcome(format('select %1$s <@ %2$s', e, f)), pg_temp.outcome(format('select %2$s + %1$s = %2$s', e, f)),
            pg_temp.outcome(format('select %2$s @> any (array[%1$s])', e, f)), pg_temp.outcome(format('select bf_agg(%1$s, 100) = %2$s', e, f)),
            pg_temp.outcome(format('select bf_agg(%1$s, 100, 0.03, ''guava'') = %2$s', e, f)), pg_temp.outcome(format('select bf_agg(%1$s) @> %2$s', e, e)),
            pg_temp.outcome(format('select cardinality(bf_positions(%2$s, %1$s)) > 0', e, f)),
            pg_temp.outcome(format('select bf_contains_each(%2$s, array[null, %1$s]) = array[null, true]', e, f))]
      <> array_fill('ok'::text, array[10])
order by 1, 2;
-- Domains are what they are of.
create domain pg_temp.day as date;
create domain pg_temp.address as cidr;
select bf_create(10) + '2024-02-29'::pg_temp.day = bf_create(10) + 19782 as day,
       bf_create(10) + '1.2.3.4'::pg_temp.address = bf_create(10) + '1.2.3.4'::inet as address;
-- inet and cidr: equal bytes exactly where = says so.
select a, b
from (values ('1.2.3.4'::inet), ('1.2.3.4/24'), ('1.2.3.0/24'), ('1.2.3.0/25'), ('0.0.0.0/0'), ('::'), ('::/0'), ('::1'), ('::ffff:1.2.3.4'), (cidr '1.2.3.0/24'), (cidr '1.2.3.4')) a(a),
     (values ('1.2.3.4'::inet), ('1.2.3.4/24'), ('1.2.3.0/24'), ('1.2.3.0/25'), ('0.0.0.0/0'), ('::'), ('::/0'), ('::1'), ('::ffff:1.2.3.4'), (cidr '1.2.3.0/24'), (cidr '1.2.3.4')) b(b)
where (a = b) <> (bf_positions(bf_create(100000000), a) = bf_positions(bf_create(100000000), b))
order by 1, 2;
-- What no int holds cannot be added to a filter of ints, and is not there.
select pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), now()) is null') as timestamptz,
       pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), 4294967295::oid) is null') as oid,
       bf_create(10, funnel => 'int') + 5::oid @> 5::oid as small_oid,
       bf_import(bf_export(bf_create(10) + 1), funnel => 'int') @> 4294967295::oid as large_oid;
-- A filter made in SQL knows what its elements are, from the first that is added
-- on, so that what is equal in SQL but has other bytes is no silent miss; one from
-- elsewhere takes what goes by its funnel, and never knows.
create temp table meanings (type text, value text);
insert into meanings values ('text', '5'), ('varchar', '5'), ('name', '5'), ('char(2)', '5'), ('int', '5'), ('smallint', '5'), ('bigint', '5'), ('bytea', '\x01'), ('uuid', '00000000-0000-0000-0000-000000000005'), ('date', '2024-05-01'), ('timestamp', '2024-05-01'),
    ('timestamptz', '2024-05-01'), ('oid', '5'), ('boolean', 't'), ('"char"', 'a'), ('inet', '1.2.3.4'), ('cidr', '1.2.3.4'), ('macaddr', '08:00:2b:01:02:03');
create function pg_temp.of_type(type text) returns text language sql as $$
    select case when type ~ 'int$' then 'integer' when type ~ '^(text|varchar|name|char)' then 'text' when type ~ '^(inet|cidr)$' then 'inet' else type end
$$;
-- Text goes with char(n), but their filters are not united.
select strategy, a.type, b.type, said, added, removed, united
from meanings a, meanings b, unnest(array['guava', 'redisson', 'spark2', 'redisbloom']) strategy,
    lateral (select a.type <> 'bytea' and a.type not in ('uuid', 'inet', 'cidr', 'macaddr') or strategy not in ('redisson', 'spark2')) k(taken),
    lateral (values (format('(bf_create(100, 0.0001, %L) + %L::%s)', strategy, a.value, a.type), format('%L::%s', b.value, b.type))) v(f, e),
    pg_temp.outcome(format('select %s @> %s', f, e)) said, pg_temp.outcome(format('select %s::text::bloomfilter + %s is not null', f, e)) added,
    pg_temp.outcome(format('select bf_remove(bf_create(100, 0.0001, counting => true) + %L::%s, %s) @> %s', a.value, a.type, e, e)) removed,
    pg_temp.outcome(format('select (%s | (bf_create(100, 0.0001, %L) + %s)) @> %3$s', f, strategy, e)) united
where taken and array[said, added, removed, united] <> case
	when pg_temp.of_type(a.type) <> pg_temp.of_type(b.type) then array_fill('22023'::text, array[4])
	when (a.type ~ '^char') <> (b.type ~ '^char') then array['ok', 'ok', 'no', '22023']
	-- By Guava's funnels, a bigint has other bytes than an int.
	when strategy = 'guava' and (a.type = 'bigint') <> (b.type = 'bigint') then array['ok', 'ok', 'no', '22023']
	else array['ok', 'ok', 'no', 'ok'] end
order by 1, 2, 3;
-- Padding is none, whichever of the two has it.
select (bf_create(10) + 'a'::char(5)) @> 'a  ' as held_padded, (bf_create(10) + 'a') @> 'a'::char(5) as asked_padded,
       (bf_create(10) + 'a'::char(5) + 'b   '::text) @> 'b' as added_padded, bf_contains_each(bf_create(10) + 'a'::char(5), '{a ,"a  b"}') as each,
       (bf_create(10) + 'a  ') @> 'a' as text_keeps_it;
select bf_agg(c, 10) @> 'x    ' as aggregate, bf_agg(c) @> 'x '::varchar as sized, bf_agg_into(bf_create(10, funnel => 'utf8'), c) @> 'x  ' as given
from (values ('x'::char(4))) v(c);
-- The first element decides for a filter whose funnel is named as well.
select (bf_info(bf_create(10, funnel => 'long'))).elements, (bf_info(bf_create(10, funnel => 'long') + 5)).elements as integer,
       (bf_info(bf_create(10, funnel => 'long') + 5::oid)).elements as oid, (bf_info(bf_create_bits(64, 2, funnel => 'utf8') + 'a')).elements as text,
       (bf_info(bf_create(10, funnel => 'long') | (bf_create(10) + 5::bigint))).elements as united, (bf_info(bf_import(bf_export(bf_create(10) + 'a')) + 'b')).elements as imported,
       pg_temp.outcome('select (bf_create(10, funnel => ''long'') + 5) @> 5::oid') as other;
-- By aggregates, too; unbound filters take the other's; imports do not know.
select pg_temp.outcome('select bf_agg(d, 10) @> 5 from (values (date ''2024-05-01'')) v(d)') as sized,
       pg_temp.outcome('select bf_agg(d) @> 5 from (values (date ''2024-05-01'')) v(d)') as sizing,
       pg_temp.outcome('select bf_agg_into(bf_create(10), d) @> 5 from (values (date ''2024-05-01'')) v(d)') as into,
       pg_temp.outcome('select (bf_create(10) | (bf_create(10) + date ''2024-05-01'')) @> 5') as united,
       pg_temp.outcome('select (bf_create(10) + 5 + date ''2024-05-01'') @> 5') as mixed,
       bf_import(bf_export(bf_create(10) + date '2024-05-01'), 'guava', 'int') @> date '2024-05-01' as imported,
       bf_import(bf_export(bf_create(10) + date '2024-05-01'), 'guava', 'int') = bf_create(10) + date '2024-05-01' as same;
-- A union knows what either of them knew.
create temp table dated as select f, bf_import(bf_export(f), 'guava', 'int') as imported from (values (bf_create(10) + date '2024-05-01')) v(f);
select pg_temp.outcome('select (f | imported) @> 5 from dated') as dates_first, pg_temp.outcome('select (imported | f) @> 5 from dated') as imported_first,
       pg_temp.outcome('select imported @> 5 from dated') as imported;
-- The message speaks of the type.
select bf_create(10) + 'x' + date '2024-02-29';
select bf_create(10) + 1 + inet '::1';
select bf_create(10, strategy => 'tale2009') + macaddr '08:00:2b:01:02:03';

-- ---------------------------------------------------------------------------
-- Other types are refused, and the hint works, for values and in an index
-- ---------------------------------------------------------------------------
create type pg_temp.mood as enum ('sad', 'happy');
create type pg_temp.pair as (a int, b int);
create type pg_temp.felt as (m pg_temp.mood, b int);
create type pg_temp.paid as (price money, b int);
create type pg_temp.moods as range (subtype = pg_temp.mood);
create type pg_temp.many as (m pg_temp.mood[]);
create domain pg_temp.feeling as pg_temp.mood;
create domain pg_temp.whole as pg_temp.felt;
create domain pg_temp.exact as numeric;
create temp table refused (type text, here text, there text);
insert into refused values
    ('numeric', '1.50', '1.5'), ('float8', '0', '-0'), ('float4', 'NaN', 'NaN'), ('pg_temp.mood', 'happy', 'happy'), ('interval', '1 day', '24:00'),
    ('time', '12:00', '12:00'), ('timetz', '12:00+00', '12:00+00'), ('jsonb', '{"a": 1.0}', '{"a": 1.00}'), ('json', '{}', '{}'), ('macaddr8', '08:00:2b:01:02:03:04:05', '08002b0102030405'),
    ('int[]', '{1,2}', '{1,2}'), ('text[]', '{a}', '{a}'), ('numeric[]', '{1.0}', '{1.00}'), ('int4range', '[1,2]', '[1,3)'), ('pg_lsn', '0/1', '0/1'), ('bit(3)', '101', '101'),
    ('pg_temp.pair', '(1,2)', '(1,2)'), ('tid', '(0,1)', '(0,1)'), ('xid', '3', '3'), ('xid[]', '{3}', '{3}'), ('xid8', '3', '3'), ('cid', '3', '3'), ('point', '(1,2)', '(1.0,2)'),
    ('tsvector', 'a b', 'b a'), ('money', '1', '1.00'), ('pg_temp.felt', '(happy,1)', '(happy,1)'), ('pg_temp.paid', '(1,1)', '(1.00,1)'), ('pg_temp.moods', '[sad,happy]', '[sad,happy]'),
    ('pg_temp.feeling', 'sad', 'sad'), ('pg_temp.whole', '(happy,1)', '(happy,1)'), ('pg_temp.exact', '1.0', '1.00'), ('pg_temp.many', '({sad})', '({sad})'), ('aclitem', 'pg_monitor=r/pg_monitor', 'pg_monitor=r/pg_monitor'),
    ('regclass', 'pg_class', 'pg_catalog.pg_class'), ('regtype', 'int4', 'integer'), ('regproc', 'now', 'pg_catalog.now'), ('regprocedure', 'now()', 'pg_catalog.now()'),
    ('regoper', '||/', 'pg_catalog.||/'), ('regoperator', '+(int,int)', '+(int4,int4)'), ('regrole', 'pg_monitor', 'pg_monitor'), ('regnamespace', 'pg_catalog', 'pg_catalog'),
    ('regcollation', '"C"', 'pg_catalog."C"'), ('regconfig', 'simple', 'pg_catalog.simple'), ('regdictionary', 'simple', 'pg_catalog.simple');
create function pg_temp.advice(query text) returns text language sql as $$ select substring(pg_temp.hint(query) from 'e\.g\. (.*)\.$') $$;
create function pg_temp.try(type text, here text, there text) returns text language plpgsql as $$
declare
    advice text := pg_temp.advice(format('select bf_create(10) + %L::%s', here, type));
    found boolean;
    missing bigint;
begin
    if pg_temp.outcome(format('select bf_create(10) + %L::%s is null', here, type)) <> '0A000' then
        return 'not refused';
    end if;
    if type !~ '\[' then
        execute format('select bf_create(10) + %s @> %s', replace(advice, '...', format('%L::%s', here, type)), replace(advice, '...', format('%L::%s', there, type))) into found;
        if found is not true then return 'not in the value: ' || advice; end if;
    end if;
    execute format('create temp table given (v %s)', type);
    execute format('insert into given values (%L)', here);
    if pg_temp.outcome('create index on given using bloomfilter (v)') <> '0A000' then
        return 'not refused in an index';
    end if;
    advice := pg_temp.advice('create index on given using bloomfilter (v)');
    execute format('create index on given using bloomfilter ((%s))', replace(advice, '...', 'v'));
    execute format('select bf_live_contains(''given'', %s)', replace(advice, '...', format('%L::%s', there, type))) into found;
    select v.missing from bf_live_verify('given') v into missing;
    drop table given;
    return case when not found then 'not found' when missing > 0 then 'missing' end || ': ' || advice;
end $$;
select type, problem from refused, pg_temp.try(type, here, there) problem where problem is not null order by 1;
-- Whatever the type, it is an expression that there is.  There is none for types whose = compares areas or lengths, or is fuzzy.
create function pg_temp.run_advice(type text) returns text language plpgsql as $$
declare
    value text := pg_temp.advice(format('select bf_create(10) + null::%s', type));
    indexed text;
begin
    execute format('create temp table given (v %s)', type);
    indexed := pg_temp.advice('create index on given using bloomfilter (v)');
    if indexed is not null then
        execute format('create index on given using bloomfilter ((%s))', replace(indexed, '...', 'v'));
    end if;
    if value is not null then
        execute format('select bf_create(10) + %s', replace(value, '...', format('(null::%s)', type)));
    end if;
    drop table given;
    return case when value is null and indexed is null and pg_temp.outcome(format('select bf_create(10) + null::%s is null', type)) <> 'no' then coalesce(pg_temp.hint(format('select bf_create(10) + null::%s', type)), 'refused without a hint') end;
exception when others then
    return concat_ws('; ', sqlerrm, value, indexed);
end $$;
create temp table types as select oid::regtype::text as type from pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype in ('b', 'r', 'm') and typcategory <> 'A';
select count(*) > 60 as types from types;
select type, problem from types, pg_temp.run_advice(type) problem where problem is not null order by 1;
create temp table drawn (circles circle[]);
select pg_temp.hint('create index on drawn using bloomfilter (circles)') as hint;
-- Nor is it one that is not found: where functions are in no schema of search_path, it names theirs.
create function pg_temp.advice_outside() returns text language sql set search_path = pg_catalog as $$ select pg_temp.advice('select public.bf_create(10) operator(public.+) null::public.bloomfilter') $$;
select pg_temp.advice_outside() as outside, pg_temp.advice('select bf_create(10) + null::bloomfilter') as inside;
-- What a value is advised to hold stays the same where a dump gives types and
-- other objects other OIDs, and under any search_path.
create schema elsewhere;
create table elsewhere.object ();
create temp table advised as
select type, here, advice
from (values ('pg_temp.mood', 'happy'), ('pg_temp.felt', '(happy,1)'), ('pg_temp.moods', '[sad,happy]'), ('pg_temp.many', '({happy})'), ('regclass', 'elsewhere.object')) t(type, here),
    pg_temp.advice(format('select bf_create(10) + %L::%s', here, type)) advice;
create temp table positions (type text, positions bigint[]);
create procedure pg_temp.note() language plpgsql as $$
declare
    a record;
begin
    for a in select * from advised loop
        execute format('insert into positions select %L, bf_positions(bf_create(1000000), %s)', a.type, replace(a.advice, '...', format('%L::%s', a.here, a.type)));
    end loop;
end $$;
call pg_temp.note();
set client_min_messages = warning;
drop type pg_temp.mood cascade;
drop type pg_temp.felt, pg_temp.many cascade;
drop table elsewhere.object;
create type pg_temp.mood as enum ('sad', 'happy');
create type pg_temp.felt as (m pg_temp.mood, b int);
create type pg_temp.moods as range (subtype = pg_temp.mood);
create type pg_temp.many as (m pg_temp.mood[]);
create table elsewhere.object ();
reset client_min_messages;
call pg_temp.note();
set search_path = elsewhere, public;
call pg_temp.note();
reset search_path;
select type from positions group by type having count(distinct positions) <> 1 or count(*) <> 3;
drop schema elsewhere cascade;
-- An array's elements are elements; it is none, nor is a row.
select pg_temp.hint('select bf_create(10) + array[1, 2]') as array, pg_temp.hint('select bf_agg(array[1], 10)') as aggregate, pg_temp.hint('select bf_create(10) @> row(1, 2)') as row;
-- The values of pg_stats are of any type, which no array of elements is.
create temp table common as select 'x'::text as x from generate_series(1, 100);
analyze common;
select pg_temp.outcome('select bf_contains_all(bf_create(10), most_common_vals) from pg_stats where tablename = ''common''') as any_type,
       pg_temp.outcome('select bf_contains_each(bf_create(10), most_common_vals) is null from pg_stats where tablename = ''common''') as any_type,
       pg_temp.outcome('select bf_add_all(bf_create(10), most_common_vals) is null from pg_stats where tablename = ''common''') as any_type,
       pg_temp.outcome('select bf_contains(bf_create(10), most_common_vals) from pg_stats where tablename = ''common''') as any_type,
       pg_temp.outcome('select bf_contains_all(bf_create(10), most_common_vals::text::text[]) from pg_stats where tablename = ''common''') as text,
       pg_temp.hint('select bf_contains_all(bf_create(10), most_common_vals) from pg_stats where tablename = ''common''') as hint;

-- ---------------------------------------------------------------------------
-- Nothing is cast in silence
-- ---------------------------------------------------------------------------
-- What PostgreSQL takes for text by itself: a type of anybody's, by whatever
-- kind of cast, as a value, in an array, in an array of a domain.
set client_min_messages = warning;
create type loud;
create function loud_in(cstring) returns loud language internal immutable strict as 'textin';
create function loud_out(loud) returns cstring language internal immutable strict as 'textout';
create type loud (input = loud_in, output = loud_out, like = text, category = 'S');
reset client_min_messages;
create cast (loud as text) without function as implicit;
create domain louder as loud;
create domain loudest as loud[];
create temp table silent (f bloomfilter, l loud, d louder, a loud[], da louder[], ad loudest);
insert into silent values (bf_create(10) + 'hello', 'HELLO', 'HELLO', '{HELLO}', '{HELLO}', '{HELLO}');
create function pg_temp.silent() returns table (call text, outcome text) language sql as $$
    select call, pg_temp.outcome('select bool_or(' || call || ') from silent')
    from unnest(array['f @> l', 'f @> d', 'l <@ f', 'bf_contains(f, l)', 'bf_add(f, d) = f', 'f + l = f', 'bf_positions(f, l) is null',
        'f @> any (a)', 'f @> any (da)', 'f @> any (ad)', 'f @> all (a)', 'f @> any (array[l])', 'f @> any (array[d, d])', 'l <@ any (array[f])', 'd <@ all (array[f])',
        'bf_contains_all(f, a)', 'bf_contains_all(f, da)', 'bf_contains_all(f, ad)', 'bf_contains_each(f, a) is null', 'bf_add_all(f, ad) = f',
        -- Constants, of which the planner keeps no more than the text.
        'f @> ''HELLO''::loud', '''HELLO''::louder <@ f', 'bf_add(f, ''HELLO''::louder) = f', 'f + ''HELLO''::loud = f', 'bf_positions(f, ''HELLO''::loud) is null',
        'f @> ''hello'' and f @> any (array[''HELLO'']::loud[])', 'case when f @> ''HELLO''::loud then true end', 'exists (select where f @> ''HELLO''::loud)',
        'bf_live_contains(''silent'', ''HELLO''::loud)', 'bf_contains_all(f, array[''HELLO'']::loud[])', 'bf_contains_all(f, ''{HELLO}''::loudest)',
        'bf_live_contains(''silent'', l)', 'bf_live_contains_all(''silent'', a)', 'bf_live_contains_each(''silent'', ad) is null']) call $$;
select * from pg_temp.silent() where outcome <> '0A000';
drop cast (loud as text);
create function shout(loud) returns text language internal immutable strict as 'textin';
create cast (loud as text) with inout as implicit;
select * from pg_temp.silent() where outcome <> '0A000';
drop cast (loud as text);
create function whisper(l loud) returns text language plpgsql immutable strict as $$ begin return lower(textin(loud_out(l))); end $$;
create cast (loud as text) with function whisper(loud) as implicit;
select * from pg_temp.silent() where outcome <> '0A000';
-- Casts that GROUP BY or ORDER BY computes, too, and aggregates.
select query, pg_temp.outcome(query) as outcome
from unnest(array['select bf_contains(bf_create(10), l) from silent order by l::text limit 5',
    'select bf_contains_all(bf_create(10), a) from silent order by a::text[] limit 5',
    'select bf_agg(l, 10) is null from silent group by l::text', 'select bf_agg(d, 10, 0.01) is null from silent group by d::text',
    'select bf_agg(l, 10, 0.01, ''cassandra'') is null from silent group by l::text', 'select bf_agg(l, 10, 0.01, ''guava'', 2) is null from silent group by l::text',
    'select bf_agg(l) is null from silent group by l::text', 'select bf_agg_distinct(l, 0.01) is null from silent group by l::text',
    'select bf_agg_into(bf_create(10), l) is null from silent group by l::text', 'select bf_agg(''HELLO''::loud, 10) @> ''hello'' from silent',
    'select true from silent group by l::text having bf_agg(l, 10) is not null', 'select bf_agg(l, 10) over () @> ''hello'' from silent',
    -- Also of a text column; and in what is pulled up when the query was looked through before.
    'select f @> ''HELLO''::loud from silent union all select true', 'select * from (select f @> ''HELLO''::loud from silent union all select false) u',
    'select bf_live_contains(''silent'', elem => ''HELLO''::loud) from silent', 'select bf_live_contains(elem => ''HELLO''::loud, rel => ''silent'') from silent',
    'select bf_live_contains(rel => ''silent'', elem => l) from silent', 'select bf_redis_contains(element => ''HELLO''::loud, key => ''k'', server => ''s'') from silent where false',
    'select f @> l::text::loud from silent', 'select f @> any (a::text[]::loud[]) from silent',
    'select bool_or(found) from silent o, generate_series(1, case when o.f @> ''x'' then 2 else 1 end), lateral (select f @> ''HELLO''::loud as found from silent) s']) query
where pg_temp.outcome(query) <> '0A000';
-- Parameters, whose values are constants to the planner, and variables.
prepare asked (louder) as select f @> $1 from silent;
select pg_temp.outcome('execute asked (''HELLO'')') as parameter;
deallocate asked;
do $$ declare v loud := 'HELLO'; begin perform f @> v from silent; raise warning 'taken for text'; exception when feature_not_supported then end $$;
do $$ declare v loud := 'HELLO'; g bloomfilter := bf_create(10) + 'hello'; begin if g @> v is not null then raise warning 'taken for text'; end if; exception when feature_not_supported then end $$;
-- Said out loud, it is text.
select f @> l::text as scalar, f @> any (a::text[]) as elements, bf_contains_all(f, ad::text[]) as domain from silent;
-- text's own kin are no strangers.
select f @> 'hello'::varchar(9), f @> 'hello'::name, f @> 'hello  '::char(9), f @> any (array['hello']::varchar[]),
       f @> any (array['hello']::name[]), f @> any (array['hello']::char(9)[]), bf_contains_all(f, array['hello']::char(9)[]) from silent;
select pg_temp.outcome('select bool_and(found) from (select f @> ''hello'' as found from silent union all select f @> ''hello''::varchar from silent) u') as united,
       pg_temp.outcome('select count(*) = 0 from (select bf_redis_contains(element => ''a'', server => ''s'', key => ''HELLO''::loud) from silent where false) r') as named;
-- "char" is none of it.
select pg_temp.outcome('select f @> ''h''::"char" from silent') as scalar, pg_temp.outcome('select ''h''::"char" <@ f from silent') as scalar,
       pg_temp.outcome('select f @> any (array[''h'']::"char"[]) from silent') as elements;
drop type loud cascade;
-- Called by no expression, a function cannot know what its element is.
create operator @@> (leftarg = bloomfilter, rightarg = anycompatible, function = bf_contains, restrict = matchingsel);
create operator <@@ (leftarg = anycompatible, rightarg = bloomfilter, function = bloomfilter_contained, restrict = matchingsel);
create temp table estimated as select 'x' || g as t from generate_series(1, 1000) g;
analyze estimated, silent;
select * from silent where f @@> 'hello';
select pg_temp.outcome('select true from estimated where t <@@ (bf_create(10) + ''x1'')') as outcome;
drop operator @@> (bloomfilter, anycompatible), <@@ (anycompatible, bloomfilter);

-- ---------------------------------------------------------------------------
-- Live filters
-- ---------------------------------------------------------------------------
create temp table columns (type text, made text);
insert into columns values ('text', '%s::text'), ('varchar(20)', '%s::text'), ('char(20)', '%s::text'), ('name', '(%s::text)::name'),
    ('bytea', 'int4send(%s)'), ('uuid', 'md5(%s::text)::uuid'), ('smallint', '%s::smallint'), ('integer', '%s'), ('bigint', '%s::bigint'),
    ('oid', '(%s + 2147483600::bigint)::oid'), ('date', 'date ''2024-02-29'' + %s'), ('timestamp', 'timestamp ''2024-02-29'' + %s * interval ''1 us'''),
    ('timestamptz', 'timestamptz ''2024-02-29 00:00+00'' + %s * interval ''1 us'''), ('boolean', '%s > 150'), ('"char"', 'chr(%s %% 127 + 1)::"char"'),
    ('inet', 'inet ''10.0.0.0'' + %s'), ('cidr', 'set_masklen((inet ''10.0.0.0'' + %s * 256)::cidr, 24)'),
    ('macaddr', '(''08002b'' || lpad(to_hex(%s), 6, ''0''))::macaddr');
create function pg_temp.alike(type text) returns text language sql as $$
    select case when type ~ '^(text|varchar|char|name)' then 'text' when type ~ 'int' then 'integer' when type ~ 'inet|cidr' then 'inet' else type end $$;
create function pg_temp.denied(tab text) returns bigint language plpgsql as $$
declare
    denied bigint;
begin
    execute format('select count(*) from %I where not bf_live_contains_all(%1$L, array[v])', tab) into denied;
    return denied;
end $$;
create function pg_temp.live(type text, made text) returns table (step text, problem text) language plpgsql as $$
declare
    other text;
    said text;
begin
    execute format('create temp table kept (v %s)', type);
    execute format('insert into kept select %s from generate_series(1, 100) g', format(made, 'g'));
    execute 'create index kept_i on kept using bloomfilter (v) with (expected = 1000, fpp = 0.0001)';
    execute format('insert into kept select %s from generate_series(101, 300) g', format(made, 'g'));
    insert into kept values (null);
    if pg_temp.denied('kept') > 0 then return query select 'inserted', pg_temp.denied('kept')::text; end if;
    execute 'reindex index kept_i';
    if pg_temp.denied('kept') > 0 then return query select 'rebuilt', pg_temp.denied('kept')::text; end if;
    return query select 'missing', v::text from bf_live_verify('kept') v where v.missing > 0 or v.rows_checked <> 301;
    -- The answer is also no.
    execute format('select count(*) from generate_series(1000, 1100) g where bf_live_contains_all(''kept'', array[%s])', format(made, 'g')) into said;
    if said::int > 5 and type not in ('boolean', '"char"') then return query select 'no', said; end if;
    -- Only what is alike can be asked for.
    for other, said in
        select c.type, pg_temp.outcome(format('select bf_live_contains_all(''kept'', array[%s]::%s[], ''v'')', format(c.made, '1'), c.type))
        from columns c
    loop
        if (said in ('ok', 'no')) <> (pg_temp.alike(other) = pg_temp.alike(type)) or said not in ('ok', 'no', '22023') then
            return query select 'asked for ' || other, said;
        end if;
    end loop;
    drop table kept;
end $$;
select c.type, l.* from columns c, pg_temp.live(c.type, c.made) l;

-- Dates are no integers where the column is known, whether it is named or not.
create temp table days (d date);
create index on days using bloomfilter (d) with (expected = 100, fpp = 0.0001);
insert into days values ('2024-02-29'), ('infinity'), ('-infinity');
select bf_live_contains('days', date '2024-02-29') as day, bf_live_contains('days', date 'infinity') as infinity,
       bf_live_contains('days', date '-infinity') as before, bf_live_contains('days', date '2024-03-01') as other,
       bf_live_filter('days') @> date '2024-02-29' as value, pg_temp.outcome('select bf_live_filter(''days'') @> 19782') as number;
select pg_temp.outcome('select bf_live_contains(''days'', 19782, ''d'')') as number, pg_temp.outcome('select bf_live_contains(''days'', 19782)') as number,
       pg_temp.outcome('select bf_live_contains(''days'', timestamp ''2024-02-29'', ''d'')') as timestamp,
       pg_temp.outcome('select bf_live_contains(''days'', ''2024-02-29'', ''d'')') as text;
select bf_live_contains('days', 19782, 'd');
create temp table letters (c "char");
create index on letters using bloomfilter (c);
insert into letters values ('a');
select bf_live_contains('letters', 'a'::"char") as there, bf_live_contains('letters', 'b'::"char") as other, pg_temp.outcome('select bf_live_contains(''letters'', ''a'')') as text;

-- char(n): whatever is equal to it in any reading is found.
create temp table padded (c char(5), t text);
create index on padded using bloomfilter (c) with (expected = 100, fpp = 0.0001);
create index on padded using bloomfilter (t) with (expected = 100, fpp = 0.0001);
insert into padded values ('a', 'a'), ('ä ', 'ä '), ('', ''), (' x', ' x');
select asked, call, c, t
from unnest(array['''a''', '''a ''', '''a      ''::text', '''a''::char(9)', '''ä''', '''ä  ''', '''''', '''   ''', ''' x''', ''' x ''::varchar', '''a''::name', '''ä ''::char(3)']) asked,
    unnest(array['bf_live_contains(''padded'', %s, %L)', 'bf_live_contains_all(''padded'', array[%s], %L)',
        '(bf_live_contains_each(''padded'', array[%s], %L))[1]']) call,
    lateral (select pg_temp.outcome('select ' || format(call, asked, 'c')) as c, pg_temp.outcome('select ' || format(call, asked, 't')) as t,
                pg_temp.outcome(format('select bool_or(c = %s) from padded', asked)) as equal_c,
                pg_temp.outcome(format('select bool_or(t = %s) from padded', asked)) as equal_t) o
where equal_c = 'ok' and c <> 'ok' or equal_t = 'ok' and t <> 'ok' or c not in ('ok', 'no') or t not in ('ok', 'no')
order by 1, 2;
select bf_live_contains('padded', 'a  ', 'c') as padded, bf_live_contains('padded', 'a  ', 't') as text, bf_live_contains('padded', 'b', 'c') as other;

-- A change of type that leaves the rows as they are: none is denied, in the
-- transaction that inserted them or afterwards.
set timezone = 'UTC';
create temp table changes (before text, made text, after text, rewritten boolean);
insert into changes values ('text', '%s || '' ''', 'bpchar', false), ('varchar(20)', '%s || '' ''', 'bpchar', false), ('bpchar', '%s || '' ''', 'text', true),
    ('text', '%s || '' ''', 'char(20)', true), ('char(20)', '%s || '' ''', 'varchar', true), ('char(20)', '%s || '' ''', 'bpchar', false),
    ('timestamp', 'timestamp ''2024-02-29'' + %s * interval ''1 us''', 'timestamptz', false), ('timestamptz', 'timestamptz ''2024-02-29'' + %s * interval ''1 us''', 'timestamp', false),
    ('cidr', '(inet ''10.0.0.0'' + %s)::cidr', 'inet', false), ('inet', 'inet ''10.0.0.0'' + %s', 'cidr', true), ('integer', '%s - 200', 'oid', false),
    ('oid', '%s::oid', 'integer', false), ('integer', '%s', 'bigint', true);
create procedure pg_temp.change(before text, made text, after text, rewritten boolean, options text) language plpgsql as $$
declare
    file oid;
    counts record;
    missing bigint;
begin
    execute format('create temp table changed (v %s)', before);
    execute format('insert into changed select %s from generate_series(1, 100) g', format(made, 'g'));
    execute format('create index changed_i on changed using bloomfilter (v) with (%s)', options);
    commit;
    execute format('insert into changed select %s from generate_series(101, 300) g', format(made, 'g'));
    file := pg_relation_filenode('changed');
    execute format('alter table changed alter v type %s', after);
    if (file <> pg_relation_filenode('changed')) <> rewritten then raise warning '% to %: rewritten', before, after; end if;
    execute format('insert into changed select %s from generate_series(301, 400) g', format(made, 'g'));
    for i in 1 .. 2 loop
        missing := pg_temp.denied('changed');
        if missing > 0 then raise warning '% to %, %: % denied', before, after, i, missing; end if;
        commit;
    end loop;
    select * from bf_live_verify('changed') into counts;
    if counts.missing > 0 or counts.rows_checked <> 400 then raise warning '% to %: %', before, after, counts; end if;
    drop table changed;
    commit;
end $$;
do $$
declare
    c record;
    options text;
begin
    for c in select * from changes loop
        foreach options in array array['expected = 1000, fpp = 0.0001', 'expected = 2500000, fpp = 0.0001'] loop
            call pg_temp.change(c.before, c.made, c.after, c.rewritten, options);
        end loop;
    end loop;
end $$;
-- A column that becomes what cannot be an element answers nobody, and whoever
-- rebuilds its filter is told which one that is.
create temp table classes (v oid);
create index classes_v on classes using bloomfilter (v);
insert into classes values (1259);
alter table classes alter v type regclass;
select pg_temp.outcome('select bf_live_contains(''classes'', 1259::oid)') as unnamed, pg_temp.outcome('select bf_live_contains(''classes_v'', 1259::oid)') as index;
select index, bits > 0 as told, maybe from bf_live_info('classes');
reindex table classes;
vacuum full classes;
reindex index concurrently classes_v;
select pg_temp.hint('reindex table classes') as hint, pg_temp.hint('select bf_live_filter(''classes'')') as hint, pg_temp.hint('create index on classes using bloomfilter (v)') as hint;
alter table classes alter v type oid;
select bf_live_contains('classes', 1259::oid);

-- Each type has its class, and they are sound.
select opcname
from pg_opclass o join pg_am a on a.oid = opcmethod
where amname = 'bloomfilter' and (not amvalidate(o.oid) or obj_description(o.oid, 'pg_opclass') is null);
select string_agg(format_type(opcintype, null), ', ' order by format_type(opcintype, null)) as classes
from pg_opclass o join pg_am a on a.oid = opcmethod where amname = 'bloomfilter';
