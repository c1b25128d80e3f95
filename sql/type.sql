-- The type itself: input and output, casts, equality, operators, what it
-- tells about itself, and how its objects are declared.
\set VERBOSITY terse

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- Declarations
-- ---------------------------------------------------------------------------
-- Stored uncompressed and out of line, so that slices can be read.
select typname, typstorage, typlen, typbyval, typcategory
from pg_type where typname = 'bloomfilter';

create temp view objects as
select classid, objid, pg_describe_object(classid, objid, 0) as object
from pg_depend
where refclassid = 'pg_extension'::regclass and deptype = 'e'
  and refobjid = (select oid from pg_extension where extname = 'bloomext');

-- There are objects of every kind that the queries below look at.
select classid::regclass as class, count(*) > 0 as some
from objects
where classid in ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_cast'::regclass)
group by 1 order by classid::regclass::text;

-- Everything that is called or named carries a comment.
select object from objects
where classid in ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_operator'::regclass, 'pg_class'::regclass)
  and coalesce(obj_description(objid, classid::regclass::name), '') = ''
  and not exists (select from pg_type a where objects.classid = 'pg_type'::regclass
                  and a.oid = objects.objid and (a.typelem <> 0 or a.typrelid <> 0))
order by 1;

-- Nothing depends on more than its arguments; everything may run in parallel.
select object, provolatile, proparallel
from objects join pg_proc p on p.oid = objid
where classid = 'pg_proc'::regclass and provolatile::text || proparallel::text <> case
        when proname ~ '^bf_(redis_|live_mirror$|mirror$|fetch$)' then 'vr'
        when proname in ('bf_live_state', 'bf_stored_filters') then 'su'
        when proname ~ '^(bf|bloomfilter)_live_' then 'sr'
        when proname = 'bloomext_redis_validator' then 'vs'
        when proname = 'bloomfilter_handler' then 'vu'
        when proname ~ '^bloomfilter_contains_(join)?sel$|^bf_(version|create|create_bits|create_buckets)$' then 'ss'
        else 'is' end
order by 1;

-- Aggregates combine, and those with an internal state travel, and say how big
-- it is; where none is given they need not, their state is as large as what it saw.
select object, aggcombinefn::oid <> 0 as combine, aggserialfn::oid <> 0 as serial, aggtransspace > 0 as space
from objects join pg_aggregate a on a.aggfnoid = objid join pg_proc p on p.oid = objid
where classid = 'pg_proc'::regclass
  and not (proname = 'bf_agg' and pronargs in (1, 5) or proname = 'bf_agg_distinct')
  and (aggcombinefn::oid = 0
       or aggtranstype = 'internal'::regtype
          and (aggserialfn::oid = 0 or aggdeserialfn::oid = 0 or aggtransspace = 0))
order by 1;

-- The interface, by name; ELEM forms accept each listed type.
select name
from unnest(array['bf_add', 'bf_add_all', 'bf_add_each', 'bf_advise', 'bf_agg', 'bf_agg_distinct', 'bf_agg_into', 'bf_compatible', 'bf_contains',
    'bf_contains_all', 'bf_contains_each', 'bf_count', 'bf_covers', 'bf_create', 'bf_create_bits',
    'bf_export', 'bf_export_layer', 'bf_fpp', 'bf_import', 'bf_import_bits', 'bf_info',
    'bf_intersection', 'bf_intersection_agg', 'bf_layers', 'bf_measure_fpp', 'bf_new', 'bf_only_grows',
    'bf_plain', 'bf_positions', 'bf_put', 'bf_remove', 'bf_union', 'bf_union_agg']) name
where name not in ('bf_advise', 'bf_measure_fpp', 'bf_plain', 'bf_remove')
  and not exists (select from pg_proc where proname = name)
order by 1;

-- Argument names, for named notation.
select bf_create(expected => 10, fpp => 0.01, strategy => 'guava32', funnel => 'utf8',
                 expansion => 0, counting => false) = bf_create(10, 0.01, 'guava32', 'utf8') as named,
       bf_create_bits(bits => 128, hashes => 5, strategy => 'guava', funnel => 'long')
           = bf_create_bits(128, 5, 'guava', 'long') as named,
       bf_import(data => '\x0103000000010000000000000000', format => 'guava', funnel => 'int')
           = bf_create_bits(64, 3, 'guava', 'int') as named,
       bf_import(data => '\x00', format => 'redis', expected => 10, fpp => 0.03, strategy => 'guava',
                 funnel => 'utf8') = bf_create(10, 0.03, 'guava', 'utf8') as named,
       bf_import_bits(data => '\x00', format => 'bitset', bits => 64, hashes => 3, strategy => 'guava32',
                      funnel => 'bytes') = bf_create_bits(64, 3, 'guava32', 'bytes') as named;

-- Relocatable: in another schema everything still works.
create schema elsewhere;
alter extension bloomext set schema elsewhere;
select elsewhere.bf_contains(elsewhere.bf_add(elsewhere.bf_create(10), 'x'), 'x'),
       elsewhere.bf_add(elsewhere.bf_create(10), 'x') operator(elsewhere.@>) 'x',
       (select elsewhere.bf_agg(i, 10) operator(elsewhere.=) elsewhere.bf_add_all(elsewhere.bf_create(10), array[1, 2])
        from generate_series(1, 2) i) as agg,
       elsewhere.bf_export(elsewhere.bf_create(1, 0.5));
alter extension bloomext set schema public;
drop schema elsewhere;

-- ---------------------------------------------------------------------------
-- Values of all sorts, for the queries below
-- ---------------------------------------------------------------------------
create temp table vals (name text primary key, f bloomfilter);
insert into vals values
    ('unbound', bf_create(10)),
    ('empty', bf_create(10, funnel => 'utf8')),
    ('utf8', bf_add(bf_create(10), 'one')),
    ('utf8 two', bf_add_all(bf_create(10), array['one', 'two'])),
    ('utf16', bf_add(bf_create(10, funnel => 'utf16'), 'one')),
    ('int', bf_add(bf_create(10), 1)),
    ('long', bf_add(bf_create(10), 1::bigint)),
    ('bytes', bf_add(bf_create(10), '\x6f6e65'::bytea)),
    ('guava32', bf_add(bf_create(10, strategy => 'guava32'), 'one')),
    ('stricter', bf_add(bf_create(10, 0.001), 'one')),
    ('larger', bf_add(bf_create(100), 'one')),
    ('large', bf_add(bf_create(100000), 'one')),
    ('full', bf_import('\x010300000001ffffffffffffffff')),
    ('bits', bf_create_bits(100, 3));

-- ---------------------------------------------------------------------------
-- Input and output
-- ---------------------------------------------------------------------------
-- Text comes back as the same value, all of its fields included.
select name from vals
where f::text::bloomfilter <> f
   or f::text::bloomfilter::text <> f::text
   or (select i::text from bf_info(f::text::bloomfilter) i) <> (select i::text from bf_info(f) i)
   or left(f::text, 2) <> '\x'
   or upper(f::text) not like '\\X%'
   or ('\x' || upper(substr(f::text, 3)))::bloomfilter <> f
order by 1;

-- Binary output is the bytes that the text shows.
select name from vals
where bloomfilter_send(f)::text <> f::text
order by 1;

-- Base64 is read too, in pieces as hexadecimal digits are: more than one here.
create function pg_temp.base64(f bloomfilter) returns text language sql immutable as
    $$ select 'base64:' || translate(encode(bloomfilter_send(f), 'base64'), E'\n', '') $$;
select name from vals where pg_temp.base64(f)::bloomfilter::text <> f::text order by 1;
select bytes
from unnest(array[786432, 786440, 1572864, 1572872, 3000000, 3000008, 3000016]) bytes,
    lateral (select bf_add_all(bf_create_bits(8 * (bytes - 72), 3), array(select generate_series(1, 100000))) as f offset 0) v
where f::text <> '\x' || encode(bloomfilter_send(f), 'hex')
   or f::text::bloomfilter::text <> f::text
   or pg_temp.base64(f)::bloomfilter::text <> f::text
   or (select bytes from bf_info(f)) <> bytes;

-- Bytes are what bf_info says, and differ for different values.
select name from vals, bf_info(f) i
where i.bytes <> octet_length(bloomfilter_send(f)) and i.bytes <> pg_column_size(bf_union(f, f))
order by 1;
select count(distinct f::text) = count(*) as all_differ from vals;

-- Stored values come back the same.
select v.name from vals v
where v.f::text <> (select w.f::text from vals w where w.name = v.name offset 0)
   or v.f <> bf_union(v.f, v.f)
order by 1;

-- What is no hex, no value, or nothing.
select outcome, count(*) as inputs
from (select pg_temp.outcome(format('select %L::bloomfilter', s)) as outcome
      from unnest(array['', ' ', '\x', '\x0', '\xzz', 'x', '\x00', 'null', '\x6266', '010300000001',
          '\x0103000000010000000000000000', repeat('a', 10000), '\x' || repeat('00', 200),
          -- as long as a value and with its start
          left((select f::text from vals where name = 'utf8'), 80),
          (select f::text from vals where name = 'utf8') || '00',
          (select f::text from vals where name = 'utf8') || '0',
          (select f::text from vals where name = 'utf8') || ' x']) s) o
group by 1 order by 1;

-- The largest that can be written: bf_advise knows.
select expected, bytes, fits_value, fits_dump, advice
from unnest(array[1000, 500000000, 880000000, 882000000, 890000000, 1200000000]) expected, bf_advise(expected, 0.03)
order by 1;

-- Base64 is strict as well.
select change, pg_temp.outcome(format('select %L::bloomfilter', changed)) as outcome
from (select pg_temp.base64(f) as b from vals where name = 'utf8') b,
    lateral (values ('as it is', b), ('no prefix', substr(b, 8)), ('prefix', 'base64:'), ('upper', 'BASE64:' || substr(b, 8)), ('space', ' ' || b),
        ('space in', overlay(b placing ' ' from 20 for 1)), ('space after', 'base64: ' || substr(b, 8)), ('line', b || E'\n'),
        ('three lines', overlay(b placing E'\n\n\n\n' from 20 for 0)),
        ('digit less', left(b, -1)), ('group less', left(b, -4)), ('group more', b || 'AAAA'), ('padding more', b || '='), ('padding group', b || '===='),
        ('padding in', overlay(b placing '=' from 20 for 1)), ('padded group in', overlay(b placing 'YQ==' from 20 for 0)),
        ('padding out of place', left(b, -2) || '=A'), ('url', overlay(b placing '-' from 20 for 1)), ('8 bits', overlay(b placing 'é' from 20 for 1)),
        ('hexadecimal', '\x' || substr(b, 8)), ('in base64', 'base64:' || substr((select f::text from vals where name = 'utf8'), 3))) c(change, changed)
order by 2, 1;

-- Padding is at its end only.
select count(*) > 100 as places, count(*) filter (where pg_temp.outcome(format('select %L::bloomfilter', overlay(b placing '=' from place for 1))) <> '22P02') as taken
from (select pg_temp.base64(f) as b from vals) v, generate_series(8, length(b) - 2) place
where length(b) < 1000 and b like '%==';

-- ---------------------------------------------------------------------------
-- Casts to and from bytea are Guava's stream, explicit only
-- ---------------------------------------------------------------------------
select name from vals
where f::bytea <> bf_export(f, 'guava')
   or octet_length(f::bytea) <> 6 + (select bits from bf_info(f)) / 8
order by 1;
select name from vals
where (f::bytea::bloomfilter = f) <> ((select funnel from bf_info(f)) is not distinct from 'utf8')
order by 1;
select castcontext, count(*) from pg_cast
where castsource = 'bloomfilter'::regtype and casttarget = 'bytea'::regtype
   or castsource = 'bytea'::regtype and casttarget = 'bloomfilter'::regtype
group by 1;
select bf_info('\x0103000000010000000000000000'::bytea::bloomfilter);

-- ---------------------------------------------------------------------------
-- Equality: strategy, funnel, k, m and bits; not n and p
-- ---------------------------------------------------------------------------
-- Every value equals itself alone; `full` and the rest are all different.
select a.name, b.name from vals a, vals b
where (a.f = b.f) <> (a.name = b.name) or (a.f <> b.f) = (a.name = b.name)
order by 1, 2;

-- Bits that come from other parameters are the same filter.
create temp table twins (id int, f bloomfilter);
insert into twins values
    (1, bf_create(10, 0.03, funnel => 'utf8')),
    (2, bf_create_bits(128, 5, 'guava', 'utf8')),
    (3, bf_import(bf_export(bf_create(10, 0.03, funnel => 'utf8')))),
    (4, bf_create_bits(65, 5, 'guava', 'utf8')),
    -- not these
    (5, bf_create_bits(128, 5, 'guava', 'utf16')),
    (6, bf_create_bits(128, 5, 'guava')),
    (7, bf_create_bits(128, 4, 'guava', 'utf8')),
    (8, bf_create_bits(192, 5, 'guava', 'utf8')),
    (9, bf_create_bits(128, 5, 'guava32', 'utf8')),
    (10, bf_add(bf_create_bits(128, 5, 'guava'), 'x'));
select (select array_agg(id order by id) from unnest(ids) id) as ids
from (select array_agg(id) as ids from twins group by f) g order by 1;
select count(*) from (select distinct f from twins) d;
select count(*) from twins where f in (select f from twins where id = 2);

-- A hash join finds the same pairs as a nested loop.
set enable_nestloop = off;
set enable_mergejoin = off;
select a.id, array_agg(b.id order by b.id) from twins a join twins b on a.f = b.f group by 1 order by 1;
reset enable_nestloop;
reset enable_mergejoin;
select oprname, oprcanhash from pg_operator
where oprleft = 'bloomfilter'::regtype and oprright = 'bloomfilter'::regtype and oprname in ('=', '<>')
order by 1;
create index on twins using hash (f);
set enable_seqscan = off;
select array_agg(id order by id) from twins where f = bf_create_bits(128, 5, 'guava', 'utf8');
reset enable_seqscan;

-- ---------------------------------------------------------------------------
-- Operators are the functions
-- ---------------------------------------------------------------------------
select bf_create(10) + 'x' = bf_add(bf_create(10), 'x') as add,
       bf_create(10) + 'x' @> 'x' as contains,
       'x' <@ (bf_create(10) + 'x') as contained,
       (bf_create(10) + 'x') @> 'y' as other,
       (bf_create(10) + 1) @> 1 as int4,
       1 <@ (bf_create(10) + 1) as int4,
       (bf_create(10) + 1::bigint) @> 1::bigint as int8,
       1::bigint <@ (bf_create(10) + 1::bigint) as int8,
       (bf_create(10) + 1::smallint) @> 1::smallint as int2,
       1::smallint <@ (bf_create(10) + 1::smallint) as int2,
       (bf_create(10) + '\x00'::bytea) @> '\x00'::bytea as bytea,
       '\x00'::bytea <@ (bf_create(10) + '\x00'::bytea) as bytea,
       (bf_create(10) + '00000000-0000-0000-0000-000000000001'::uuid)
           @> '00000000-0000-0000-0000-000000000001'::uuid as uuid,
       '00000000-0000-0000-0000-000000000001'::uuid
           <@ (bf_create(10) + '00000000-0000-0000-0000-000000000001'::uuid) as uuid;

select a.name, b.name from vals a, vals b
where bf_compatible(a.f, b.f) and (
       (a.f | b.f) is distinct from bf_union(a.f, b.f)
    or (a.f & b.f) is distinct from bf_intersection(a.f, b.f)
    or (a.f | b.f) <> (b.f | a.f) or (a.f & b.f) <> (b.f & a.f))
order by 1, 2;

-- ---------------------------------------------------------------------------
-- Union and intersection
-- ---------------------------------------------------------------------------
-- Compatible: the same strategy, funnel, k and m; or an unbound empty one.
select a.name, array_agg(b.name order by b.name) as compatible
from vals a join vals b on bf_compatible(a.f, b.f)
group by 1 having count(*) > 1 order by 1;
select count(*) from vals a, vals b where bf_compatible(a.f, b.f) <> bf_compatible(b.f, a.f);

-- The funnel of an unbound empty filter is the other's, on both sides.
select name, (select funnel from bf_info(f | u)), (select funnel from bf_info(u | f)),
       (select funnel from bf_info(f & u)), (select funnel from bf_info(u & f)), f | u = f as same
from vals, bf_create(10) u where bf_compatible(f, u) order by 1;

-- Bit by bit: the stream's bytes or-ed and and-ed.
with s as (select bf_add_all(bf_create(50), array(select 'a' || i from generate_series(1, 30) i)) as a,
                  bf_add_all(bf_create(50), array(select 'b' || i from generate_series(1, 30) i)) as b),
     e as (select bf_export(a) as a, bf_export(b) as b, bf_export(a | b) as u, bf_export(a & b) as n from s)
select count(*) filter (where get_byte(u, i) <> get_byte(a, i) | get_byte(b, i)) as union_wrong,
       count(*) filter (where get_byte(n, i) <> get_byte(a, i) & get_byte(b, i)) as intersection_wrong,
       count(*) filter (where get_byte(a, i) <> get_byte(b, i)) > 20 as sides_differ
from e, generate_series(6, octet_length(a) - 1) i;

-- Arguments stay as they were.
do $$
declare
    a bloomfilter := bf_add(bf_create(10), 'a');
    b bloomfilter := bf_add(bf_create(10), 'b');
    u bloomfilter := bf_create(10);
    a_text text := a::text;
    b_text text := b::text;
    u_text text := u::text;
    x bloomfilter;
begin
    x := bf_union(a, b);
    x := bf_intersection(a, b);
    x := bf_add(a, 'c');
    x := bf_add_all(a, array['c', 'd']);
    x := bf_union(u, a);
    x := bf_add(u, 'c');
    x := bf_add_all(u, array[1, 2]);
    if (a::text, b::text, u::text) is distinct from (a_text, b_text, u_text) then
        raise exception 'an argument was changed';
    end if;
end $$;

-- ---------------------------------------------------------------------------
-- What it tells about itself
-- ---------------------------------------------------------------------------
select name, strategy, funnel, expected, fpp, hashes, bits, bits_set,
       round(fill::numeric, 6) as fill, layers, expansion, counting,
       estimated_count, round(estimated_fpp::numeric, 9) as estimated_fpp
from vals, bf_info(f) order by name;
select name, l.layer, l.bits, l.hashes, l.bits_set, l.expected, l.fpp
from vals, bf_layers(f) l order by name, layer;
select name from vals, bf_info(f) i
where bf_count(f) is distinct from i.estimated_count or bf_fpp(f) is distinct from i.estimated_fpp
order by 1;

-- A full filter says yes to all, has an fpp of 1 and a finite count.
select bf_fpp(f), bf_count(f) > 0 as counted, bf_contains(f, 'anything') from vals where name = 'full';
select bf_count(bf_import('\x01ff00000001ffffffffffffffff')) >= 0 as counted,
       bf_count(bf_import('\x010100000001ffffffffffffffff')) > 0 as counted;
-- An empty one, the opposite.
select bf_fpp(f), bf_count(f), bf_contains(f, 'anything'), bf_contains(f, '') from vals where name = 'empty';

-- Positions: k of them, below m, and they are the bits that bf_add sets.
with p as (select v.f, bf_positions(v.f, 'x') as pos
           from vals v where (select coalesce(funnel, 'utf8') from bf_info(f)) like 'utf%')
select count(*) filter (where cardinality(pos) <> (select hashes from bf_info(f))) as wrong_k,
       count(*) filter (where exists (select from unnest(pos) x where x < 0 or x >= (select bits from bf_info(f)))) as beyond,
       count(*) filter (where exists (select from unnest(pos) x
           where get_bit(bf_export(bf_add(f, 'x'), 'bitset'), x::int) = 0)) as not_set
from p;

-- ---------------------------------------------------------------------------
-- Elements: NULLs, arrays, and types that reach text
-- ---------------------------------------------------------------------------
select bf_add(null::bloomfilter, 'x') is null as add,
       bf_contains(null::bloomfilter, 'x') is null as contains,
       bf_contains(bf_create(10), null::text) is null as contains,
       bf_contains(bf_create(10), null::uuid) is null as contains,
       bf_add_all(null::bloomfilter, array['x']) is null as add_all,
       bf_contains_all(bf_create(10), null::text[]) is null as all,
       bf_contains_each(null::bloomfilter, array['x']) is null as each,
       bf_union(null, bf_create(10)) is null as union,
       bf_intersection(null, bf_create(10)) is null as intersection,
       bf_remove(null::bloomfilter, 'x') is null as remove,
       bf_compatible(bf_create(10), null) is null as compatible,
       bf_count(null) is null as count,
       bf_fpp(null) is null as fpp,
       bf_export(null) is null as export,
       null::bloomfilter::bytea is null as bytea,
       null::bytea::bloomfilter is null as bytea,
       bf_positions(null::bloomfilter, 'x') is null as positions,
       bf_positions(bf_create(10), null::text) is null as positions,
       (bf_create(10) = null) is null as eq,
       bf_export(bf_create(1, 0.5), null) = bf_export(bf_create(1, 0.5)) as null_format;
select count(*) from bf_layers(null);

-- A filter of a filter and NULL is the filter as it came, whatever it holds.
select name, form
from (select name, f, f::text as before from vals
      union all
      select 'counting', f, f::text from (select bf_create(10, counting => true) + 'one' as f) c) v,
    lateral (values ('add text', bf_add(f, null::text)), ('add int', bf_add(f, null::int)), ('add', bf_add(f, null)),
                    ('+', f + null::uuid), ('+ null', f + null), ('add_all', bf_add_all(f, null::text[])),
                    ('add_all', bf_add_all(f, null::bytea[])), ('remove', bf_remove(f, null)), ('remove', bf_remove(f, null::int)),
                    ('union', bf_union(f, null)), ('|', f | null), ('intersection', bf_intersection(f, null)), ('&', f & null),
                    ('no group', f | (select bf_agg(x) from unnest(array[]::int[]) x))) o(form, result)
where result::text is distinct from before
order by 1, 2;

-- Nor does an array of nothing but NULLs have a kind.
select name from vals, (values ('{}'::text[]), ('{NULL}')) a(a)
where bf_add_all(f, a)::text <> f::text or bf_add_all(f, a::bytea[])::text <> f::text or bf_add_all(f, a::int[])::text <> f::text
   or not bf_contains_all(f, a) or not bf_contains_all(f, a::int[])
   or bf_contains_each(f, a::bytea[]) <> a::boolean[] or bf_contains_each(f, a::int[]) <> a::boolean[]
order by 1;

-- A type that cannot be an element is refused even then.
select pg_temp.outcome('select bf_add(bf_create(10), null::numeric)') as add,
       pg_temp.outcome('select bf_create(10) + null::date[]') as add,
       pg_temp.outcome('select bf_add_all(bf_create(10), null::numeric[])') as add_all,
       pg_temp.outcome('select bf_remove(bf_create(10), null::float8)') as remove;

-- Ingest, twice: nothing is new the second time, and the filter is kept, its
-- stored bytes untouched; the third batch is asked and found as ever.
create temp table seen (name text, f bloomfilter not null);
insert into seen values ('urls', bf_create(100000));
create temp table docs (url text);
create temp table staging (batch int, url text);
insert into staging select i / 100, 'https://example.org/' || i from generate_series(0, 199) i;
prepare ingest (int) as
    with new as (
        insert into docs select distinct s.url from staging s, seen
        where batch = $1 and bf_contains(f, s.url) is not true returning url)
    update seen set f = bf_add_all(f, (select array_agg(url) from new)) where name = 'urls';
execute ingest (0);
create temp table before as select f, pg_relation_size(reltoastrelid) as stored
from seen, pg_class where oid = 'seen'::regclass;
execute ingest (0);
select b.f = s.f as kept, pg_relation_size(reltoastrelid) = b.stored as untouched
from before b, seen s, pg_class c where c.oid = 'seen'::regclass;
execute ingest (1);
select count(*), count(distinct url), bool_and(f @> url) as found from docs, seen;
deallocate ingest;

select (bf_info(null)).bits is null as info;

with s as (select bf_add_all(bf_create(100), array['a', null, 'b', null]) as f)
select f = bf_create(100) + 'a' + 'b' as add_all,
       bf_contains_all(f, array['a', 'b']) as both,
       bf_contains_all(f, array['a', 'c']) as one,
       bf_contains_all(f, array['a', null]) as nulls_skipped,
       bf_contains_all(f, array[null, 'c']) as nulls_skipped,
       bf_contains_all(f, '{}'::text[]) as nothing,
       bf_contains_all(f, array[null]::text[]) as only_null,
       bf_contains_each(f, array['a', null, 'c', 'b']) as each,
       bf_contains_each(f, '{}'::text[]) as each_of_none,
       bf_add_all(f, '{}'::text[]) = f as add_none,
       bf_add_all(f, array[null]::text[]) = f as add_null
from s;

-- More elements than one batch, of every type; the array is the elements.
create function pg_temp.check_arrays(n int) returns setof text language plpgsql as $$
declare
    e bloomfilter := bf_create(n, 0.01);
    t text[] := array(select 'e' || i from generate_series(1, n) i);
    b bytea[] := array(select decode(md5(i::text), 'hex') from generate_series(1, n) i);
    i2 smallint[] := array(select i::smallint from generate_series(-n / 2, n - n / 2 - 1) i);
    i4 int[] := array(select (i * 7919)::int from generate_series(-n / 2, n - n / 2 - 1) i);
    i8 bigint[] := array(select i * 10000000019 from generate_series(-n / 2, n - n / 2 - 1) i);
    u uuid[] := array(select md5(i::text)::uuid from generate_series(1, n) i);
    ft bloomfilter := bf_add_all(e, t);
    fb bloomfilter := bf_add_all(e, b);
    f2 bloomfilter := bf_add_all(e, i2);
    f4 bloomfilter := bf_add_all(e, i4);
    f8 bloomfilter := bf_add_all(e, i8);
    fu bloomfilter := bf_add_all(e, u);
begin
    if ft <> (select bf_agg(x, n, 0.01) from unnest(t) x) then return next 'text'; end if;
    if fb <> (select bf_agg(x, n, 0.01) from unnest(b) x) then return next 'bytea'; end if;
    if f2 <> (select bf_agg(x, n, 0.01) from unnest(i2) x) then return next 'int2'; end if;
    if f4 <> (select bf_agg(x, n, 0.01) from unnest(i4) x) then return next 'int4'; end if;
    if f8 <> (select bf_agg(x, n, 0.01) from unnest(i8) x) then return next 'int8'; end if;
    if fu <> (select bf_agg(x, n, 0.01) from unnest(u) x) then return next 'uuid'; end if;
    if not (bf_contains_all(ft, t) and bf_contains_all(fb, b) and bf_contains_all(f2, i2)
            and bf_contains_all(f4, i4) and bf_contains_all(f8, i8) and bf_contains_all(fu, u)) then
        return next 'lost';
    end if;
    t := array(select case when i % 7 > 0 then 'e' || i end from generate_series(-n, 2 * n) i);
    if bf_contains_each(ft, t) is distinct from
        array(select bf_contains(ft, x) from unnest(t) with ordinality y(x, i) order by i) then
        return next 'each';
    end if;
    if bf_contains_all(ft, t) is distinct from (select bool_and(bf_contains(ft, x)) from unnest(t) x) then
        return next 'all';
    end if;
end $$;
select n, pg_temp.check_arrays(n)
from unnest(array[1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 1000]) n order by n;

-- Arrays of more than one dimension and with other bounds: all their elements.
select bf_add_all(bf_create(10), array[['a', 'b'], ['c', 'd']]) =
       bf_add_all(bf_create(10), array['a', 'b', 'c', 'd']) as matrix,
       bf_add_all(bf_create(10), '[5:6]={a,b}'::text[]) =
       bf_add_all(bf_create(10), array['a', 'b']) as bounds;

-- Arrays without a type, as drivers send them, are arrays of text; what has an
-- array's type is what it was.
create domain pg_temp.titles as text[];
create domain pg_temp.numbers as bigint[];
prepare untyped as select bf_contains_each(bf_add_all(bf_create(10), $1), $2);
select parameter_types from pg_prepared_statements where name = 'untyped';
execute untyped('{a,"b c",NULL}', '{a,b,"b c",NULL}');
deallocate untyped;
select bf_add_all(e, '{a,b}') = f as add_all, bf_add_all(e, ' [2:3]={a,b}') = f as bounds, bf_add_all(e, '{{a},{b}}') = f as matrix,
       bf_add_all(e, '{}') = e as none, bf_add_all(e, null) = e as null, bf_add_all(null, '{a}') is null as null,
       bf_contains_all(f, '{a,b}') as all, bf_contains_all(f, '{a,c}') as not_all, bf_contains_all(f, null) is null as null,
       bf_contains_each(f, '[0:3]={a,c,NULL,b}') as each, bf_contains_each(f, null) is null as null
from (select bf_create(10) as e, bf_create(10) + 'a' + 'b' as f) v;
select bf_add_all(e, '{a,b}'::titles) = f as domain, bf_add_all(e, '{a,b}'::text[]) = f as text, bf_add_all(e, '{a,b}'::varchar[]) = f as varchar,
       bf_add_all(e, '{a,b}'::name[]) = f as name, bf_add_all(e, '{1,2}'::int[]) = n as int, bf_add_all(e, '{1,2}'::numbers) = bf_add_all(e, '{1,2}'::bigint[]) as bigint,
       bf_contains_each(n, '{1,3}'::smallint[]) as smallint, bf_contains_all(n, '{1,2}'::numbers) as numbers
from (select bf_create(10) as e, bf_create(10) + 'a' + 'b' as f, bf_create(10) + 1 + 2 as n) v;
select name, bf_contains_each(f, '{one,two}'), bf_contains_all(f, '{one,NULL}') from vals where name like 'utf%' order by name;
-- From 19 on PostgreSQL's own hint for a function that is not there is shorter.
create function pg_temp.hinted(query text) returns text language plpgsql as $$
declare hint text;
begin
    execute query;
    return 'ok';
exception when others then
    get stacked diagnostics hint = pg_exception_hint;
    return concat_ws(': ', sqlstate, replace(hint, 'No function matches the given name and argument types. ', ''));
end $$;
select q, pg_temp.hinted('select ' || q)
from unnest(array['bf_add_all(bf_create(10), ''a'')', 'bf_add_all(bf_create(10), '''')', 'bf_contains_all(bf_create(10), ''a,b'')',
                  'bf_contains_each(bf_create(10), ''{a'')', 'bf_contains_each(bf_create(10), ''{a}''::text)', 'bf_add_all(bf_create(10) + 1, ''{1}'')']) q;

-- varchar, name, char(n), domains and bare literals.
create domain pg_temp.title as text check (value <> 'forbidden');
create domain pg_temp.short_title as pg_temp.title;
create domain pg_temp.number as bigint;
create domain pg_temp.key as uuid;
with s as (select bf_create(10) + 'abc' as f, bf_create(10) + 42::bigint as n,
                  bf_create(10) + '00000000-0000-0000-0000-000000000001'::uuid as u)
select bf_contains(f, 'abc'::varchar) as varchar, bf_contains(f, 'abc'::varchar(20)) as varchar20,
       bf_contains(f, 'abc'::name) as name, bf_contains(f, 'abc'::char(3)) as char3,
       bf_contains(f, 'abc'::title) as domain, bf_contains(f, 'abc'::short_title) as domain2,
       f @> 'abc' as literal, f @> 'abc'::varchar as varchar, f @> 'abc'::title as domain,
       bf_contains(n, 42::number) as number, n @> 42::number as number,
       bf_contains(u, '00000000-0000-0000-0000-000000000001'::key) as key,
       bf_add(bf_create(10), 'abc'::varchar) = f as varchar,
       bf_add(bf_create(10), 'abc'::name) = f as name,
       bf_add(bf_create(10), 'abc'::title) = f as domain,
       bf_create(10) + 'abc'::varchar = f as varchar,
       bf_add_all(bf_create(10), array['abc'::varchar]) = f as varchars,
       bf_add_all(bf_create(10), array['abc'::name]) = f as names,
       bf_contains_all(f, array['abc']::varchar[]) as varchars,
       bf_positions(f, 'abc'::varchar) = bf_positions(f, 'abc') as positions
from s;
create temp table columns (v varchar(20), n name, c char(5), t text, d pg_temp.title, i pg_temp.number);
insert into columns values ('abc', 'abc', 'abc', 'abc', 'abc', 42);
select bf_agg(v, 10) = bf_agg(t, 10) as varchar, bf_agg(n, 10) = bf_agg(t, 10) as name,
       bf_agg(d, 10) = bf_agg(t, 10) as domain, bf_agg(c, 10) = bf_agg(t, 10) as char5,
       bf_agg(i, 10) = bf_create(10) + 42::bigint as number,
       bf_agg(v) = bf_agg(t) as varchar, bf_agg(d) = bf_agg(t) as domain,
       bool_and(bf_contains(bf_create(10) + 'abc', v)) as varchar
from columns;
