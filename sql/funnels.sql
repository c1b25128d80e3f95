-- Funnels: how an element becomes bytes, and that a wrong kind of element is
-- an error, never a silent miss.
\set VERBOSITY terse

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- The first element binds; bf_create may have done so before.
select kind, bound, named
from (values
    ('text', (bf_info(bf_create(10) + 'x'::text)).funnel, (bf_info(bf_create(10, funnel => 'utf8') + 'x'::text)).funnel),
    ('text16', null, (bf_info(bf_create(10, funnel => 'utf16') + 'x'::text)).funnel),
    ('bytea', (bf_info(bf_create(10) + '\x01'::bytea)).funnel, (bf_info(bf_create(10, funnel => 'bytes') + '\x01'::bytea)).funnel),
    ('int2', (bf_info(bf_create(10) + 1::smallint)).funnel, (bf_info(bf_create(10, funnel => 'long') + 1::smallint)).funnel),
    ('int4', (bf_info(bf_create(10) + 1)).funnel, (bf_info(bf_create(10, funnel => 'long') + 1)).funnel),
    ('int8', (bf_info(bf_create(10) + 1::bigint)).funnel, (bf_info(bf_create(10, funnel => 'int') + 1::bigint)).funnel),
    ('uuid', (bf_info(bf_create(10) + '00000000-0000-0000-0000-000000000001'::uuid)).funnel,
             (bf_info(bf_create(10, funnel => 'bytes') + '00000000-0000-0000-0000-000000000001'::uuid)).funnel)
) v(kind, bound, named) order by 1;
select (bf_info(bf_add_all(bf_create(10), array[1, 2]))).funnel as add_all,
       (bf_info(bf_add_all(bf_create(10), '{}'::int[]))).funnel as add_none,
       (bf_info(bf_add_all(bf_create(10), array[null]::int[]))).funnel as add_null,
       (select (bf_info(bf_agg(x::bigint, 10))).funnel from generate_series(1, 2) x) as agg;

-- Each kind against each funnel: works, or is an error for adding and asking alike.
create temp table calls (kind text, element text);
insert into calls values ('text', '''1''::text'), ('bytea', '''\x31''::bytea'), ('int2', '1::smallint'),
    ('int4', '1::int'), ('int8', '1::bigint'), ('uuid', '''00000000-0000-0000-0000-000000000001''::uuid');
create temp table funnels (funnel text);
insert into funnels values ('utf8'), ('utf16'), ('bytes'), ('int'), ('long');
select kind, funnel, strategy, add
from calls, funnels, unnest(array['guava', 'guava32']) strategy,
    lateral (select format('bf_create(10, 0.03, %L, %L)', strategy, funnel) as f) c,
    lateral (select pg_temp.outcome(format('select bf_add(%s, %s)', f, element)) as add,
                    pg_temp.outcome(format('select bf_contains(%s, %s)', f, element)) as contains,
                    pg_temp.outcome(format('select %s + %s', f, element)) as add_op,
                    pg_temp.outcome(format('select %s @> %s', f, element)) as contains_op,
                    pg_temp.outcome(format('select %s <@ %s', element, f)) as contained_op,
                    pg_temp.outcome(format('select bf_add_all(%s, array[%s])', f, element)) as add_all,
                    pg_temp.outcome(format('select bf_contains_all(%s, array[%s])', f, element)) as contains_all,
                    pg_temp.outcome(format('select bf_contains_each(%s, array[%s])', f, element)) as each,
                    pg_temp.outcome(format('select bf_positions(%s, %s)', f, element)) as positions) o
where add <> case
        when kind = 'text' and funnel in ('utf8', 'utf16') then 'ok'
        when kind in ('bytea', 'uuid') and funnel = 'bytes' then 'ok'
        when kind like 'int_' and funnel in ('int', 'long') then 'ok'
        else '22023' end
   or contains <> add or add_op <> add or contains_op <> add or contained_op <> add
   or add_all <> add or contains_all <> add or each <> add or positions <> add
order by 1, 2, 3;

-- The message names both sides.
select bf_contains(bf_create(10) + 1::bigint, 'one');
select bf_add(bf_create(10) + 'one', 1);

-- Asking an unbound, empty filter: surely not, whatever the kind.
select bf_contains(f, 'x') as text, bf_contains(f, 1) as int4, bf_contains(f, '\x01'::bytea) as bytea,
       bf_contains_all(f, array[1, 2]) as all, bf_contains_each(f, array['x', null]) as each
from bf_create(10) f;

-- ---------------------------------------------------------------------------
-- Integers are equal across their widths
-- ---------------------------------------------------------------------------
-- A long filter widens; an int filter narrows, or the answer is no.
with s as (select bf_create(100) + 7::bigint + (-7)::bigint + 100000::bigint + (-32768)::bigint as l,
                  bf_create(100) + 7 + (-7) + 100000 + (-32768) as i,
                  bf_create(100) + 7::smallint + (-7)::smallint + (-32768)::smallint as s)
select l @> 7::smallint, l @> 7, l @> 7::bigint, l @> (-7)::smallint, l @> -7, l @> (-7)::bigint,
       i @> 7::smallint, i @> 7, i @> 7::bigint, i @> (-7)::smallint, i @> -7, i @> (-7)::bigint,
       s @> 7::smallint, s @> 7, s @> 7::bigint, s @> (-7)::smallint, s @> -7, s @> (-7)::bigint,
       l @> (-32768)::smallint, i @> (-32768)::smallint, s @> (-32768)::bigint,
       i @> 100000::bigint, l @> 100000,
       bf_contains_each(l, array[7, 8]::smallint[]), bf_contains_each(l, array[7, 8]::int[]),
       bf_contains_each(i, array[7, 8]::smallint[]), bf_contains_each(i, array[7, 8]::bigint[])
from s;

-- Adding by any width sets the same bits.
select f,
       bf_create(10, funnel => f) + 7::smallint = bf_create(10, funnel => f) + 7::bigint as add,
       bf_create(10, funnel => f) + (-7)::smallint = bf_create(10, funnel => f) + (-7)::int as add,
       bf_add_all(bf_create(10, funnel => f), array[-1, 1]::smallint[]) =
       bf_add_all(bf_create(10, funnel => f), array[-1, 1]::bigint[]) as add_all,
       bf_positions(bf_create(10, funnel => f), -5::smallint) =
       bf_positions(bf_create(10, funnel => f), -5::bigint) as positions
from unnest(array['int', 'long']) f;

-- What no int can hold was surely not added to an int filter, not even to a full one.
with s as (select bf_import('\x010300000001ffffffffffffffff', funnel => 'int') as full_int)
select x, bf_contains(full_int, x) as contains
from s, unnest(array[-2147483649, 2147483648, 9223372036854775807, -9223372036854775808,
                     4294967296, 2147483647, -2147483648]) x order by x;
select bf_contains_each(f, array[1, 4294967297, null, 2147483648]),
       bf_contains_all(f, array[1, 4294967297]),
       bf_contains_all(f, array[1, 1::bigint])
from (select bf_create(10) + 1) s(f);
-- It cannot be added either, alone or among others.
select pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), 2147483648)') as over,
       pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), -2147483649)') as under,
       pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), 2147483647::bigint)') as max,
       pg_temp.outcome('select bf_add(bf_create(10, funnel => ''int''), -2147483648::bigint)') as min,
       pg_temp.outcome('select bf_add_all(bf_create(10, funnel => ''int''), array[1, 2147483648])') as all;

-- ---------------------------------------------------------------------------
-- Extremes find themselves: every type, every strategy; the empty ones too
-- ---------------------------------------------------------------------------
create function pg_temp.self_lookup(strategy text) returns table (kind text, element text, problem text)
language plpgsql as $$
declare
    e bloomfilter := bf_create(100, 0.0001, strategy);
    t text;
    b bytea;
    i2 smallint;
    i4 int;
    i8 bigint;
    u uuid;
begin
    kind := 'text';
    foreach t in array array['', ' ', 'a', E'\n', 'ä', 'ß', '标题', U&'\+01F600', E'\u0301', 'A', repeat('x', 100000),
                             repeat('é', 3000), '''', '\', 'NULL', E'\x7f', U&'\+10FFFF', U&'\FFFF'] loop
        element := left(t, 10);
        problem := case when e @> t then 'there before' when not (e + t) @> t then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
    kind := 'bytea';
    foreach b in array array['', '\x00', '\x0000', '\xff', '\x80', decode(repeat('00', 16), 'hex'),
                             decode(repeat('ff', 15), 'hex'), decode(repeat('80', 17), 'hex'),
                             decode(repeat('7f', 100000), 'hex')] loop
        element := left(b::text, 10);
        problem := case when e @> b then 'there before' when not (e + b) @> b then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
    kind := 'int2';
    foreach i2 in array array[0, 1, -1, 127, 128, -128, 255, 256, 32767, -32768] loop
        element := i2;
        problem := case when e @> i2 then 'there before' when not (e + i2) @> i2 then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
    kind := 'int4';
    foreach i4 in array array[0, 1, -1, 65535, 65536, -65536, 2147483647, -2147483648] loop
        element := i4;
        problem := case when e @> i4 then 'there before' when not (e + i4) @> i4 then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
    kind := 'int8';
    foreach i8 in array array[0, 1, -1, 4294967295, 4294967296, -4294967296, 2147483648,
                              9223372036854775807, -9223372036854775808] loop
        element := i8;
        problem := case when e @> i8 then 'there before' when not (e + i8) @> i8 then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
    kind := 'uuid';
    foreach u in array array['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff',
                             '01234567-89ab-cdef-0123-456789abcdef']::uuid[] loop
        element := u;
        problem := case when e @> u then 'there before' when not (e + u) @> u then 'lost' end;
        if problem is not null then return next; end if;
    end loop;
end $$;
select strategy, l.* from unnest(array['guava', 'guava32']) strategy, pg_temp.self_lookup(strategy) l;

-- '' is an element: it sets bits (all its positions are 0) and is found.
select bf_positions(bf_create(100), '') as positions, (bf_info(bf_create(100) + '')).bits_set,
       (bf_create(100) + '') = bf_create(100, funnel => 'utf8') as nothing_added,
       (bf_create(100) + '') @> '' as found, bf_create(100, funnel => 'utf8') @> '' as empty_holds_it,
       bf_positions(bf_create(100), ''::bytea) as bytea;

-- What no int holds is not in a filter of ints; the answers beside it are those of the others.
select bf_contains_each(f, '{1,4294967297,2,NULL,-4294967295,3}'::bigint[]) as each, bf_contains_each(f, '{4294967297}'::bigint[]) as none,
       bf_contains_all(f, '{1,4294967297,2}'::bigint[]) as all, bf_contains_all(f, '{1,2}'::bigint[]) as narrow
from (select bf_create(10, 0.0001, funnel => 'int') + 1 + 2 as f) v;

-- Padding and case count; nothing is trimmed or folded.
select (bf_create(100, 0.0001) + 'Title') @> 'title' as folded, (bf_create(100, 0.0001) + 'a') @> 'a ' as trimmed,
       (bf_create(100, 0.0001) + U&'\00E9') @> U&'e\0301' as normalised;

-- ---------------------------------------------------------------------------
-- What the bytes are
-- ---------------------------------------------------------------------------
-- utf8: the UTF-8 bytes. utf16: code units, little-endian, surrogates for
-- astral characters. int, long: little-endian. uuid: its 16 bytes.
select bf_positions(f, 'aé标😀') = bf_positions(b, convert_to('aé标😀', 'UTF8')) as utf8,
       bf_positions(f16, 'aé标😀') = bf_positions(b, '\x6100e90007683dd800de'::bytea) as utf16,
       bf_positions(f16, U&'\FFFF\+010000\+10FFFF') = bf_positions(b, '\xffff00d800dcffdbffdf'::bytea) as utf16,
       bf_positions(f16, '') = bf_positions(b, ''::bytea) as utf16_empty,
       bf_positions(f, -2) = bf_positions(b, '\xfeffffff'::bytea) as int,
       bf_positions(f, 66051) = bf_positions(b, '\x03020100'::bytea) as int,
       bf_positions(f, (-2)::smallint) = bf_positions(b, '\xfeffffff'::bytea) as int2,
       bf_positions(f, (-2)::bigint) = bf_positions(b, '\xfeffffffffffffff'::bytea) as long,
       bf_positions(f, 283686952306183) = bf_positions(b, '\x0706050403020100'::bytea) as long,
       bf_positions(f, '00112233-4455-6677-8899-aabbccddeeff'::uuid)
           = bf_positions(b, '\x00112233445566778899aabbccddeeff'::bytea) as uuid
from bf_create(100000) f, bf_create(100000, funnel => 'utf16') f16, bf_create(100000, funnel => 'bytes') b;

-- uuid and bytea of the same bytes have the same bits, but are not of one kind; text and bytea do not mix.
select f = bf_create(10) + '\x00112233445566778899aabbccddeeff'::bytea as uuid_as_bytea,
       pg_temp.outcome('select bf_create(10) + ''00112233-4455-6677-8899-aabbccddeeff''::uuid + ''\x01''::bytea') as mixed
from (values (bf_create(10) + '00112233-4455-6677-8899-aabbccddeeff'::uuid)) v(f);

-- utf8 and utf16 of the same text are different filters, and say so.
select bf_compatible(bf_create(10, funnel => 'utf8'), bf_create(10, funnel => 'utf16')) as compatible,
       bf_compatible(bf_create(10, funnel => 'int'), bf_create(10, funnel => 'long')) as compatible,
       (bf_create(10, funnel => 'utf16') + 'x') = (bf_create(10, funnel => 'utf8') + 'x') as equal;
