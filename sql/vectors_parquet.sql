-- Values against those that Apache Parquet's writers made (parquet-java,
-- arrow-rs, pyarrow, DuckDB): every row of every file under test/vectors/parquet.
-- Each query prints the rows that disagree; there must be none.
\set VERBOSITY terse
set extra_float_digits = 1;
set bloomext.overfull_notice = off;

-- ---------------------------------------------------------------------------
-- The files
-- ---------------------------------------------------------------------------
create temp table hashing (elem_id int, etype text, value text, xxh64 text, h bigint);
create temp table positions (elem_id int, blocks bigint, positions text);
create temp table filters (filter_id int, n bigint, p float8, etype text, inserted int, num_bytes bigint,
    blocks bigint, bit_count bigint, bitset text, hex text);
create temp table filter_elements (filter_id int, seq int, etype text, value text, changed int, bit_count bigint);
create temp table probes (filter_id int, etype text, value text, inserted int, contains int);
create temp table big (case_id int, n bigint, p float8, etype text, rule text, inserted int, num_bytes bigint,
    blocks bigint, bit_count bigint, bitset_sha256 text, len int, sha256 text, probe_rule text, probe_count int,
    probe_hits int);
create temp table unions (case_id int, hex1 text, hex2 text, merge text, union_hex text);
create temp table fold (filter_id int, fpp float8, num_bytes bigint, bit_count bigint, hex text);
create temp table files (file_id int, writer text, version text, etype text, rule text, inserted int, ndv bigint,
    fpp float8, at bigint, length bigint, num_bytes bigint, hex text);
create temp table readfrom (case_id int, description text, hex text, three text, a text, b text, c text, d text,
    e text, f text, g text, h text, i text, j text);
create temp table sizing (n bigint, p float8, java_bits text, java text, bytes text, cpp text, same int);
create temp table sizing_duckdb (n bigint, p float8, bytes bigint);

\copy hashing from 'test/vectors/parquet/hashing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy positions from 'test/vectors/parquet/positions.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filters from 'test/vectors/parquet/filters.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy filter_elements from 'test/vectors/parquet/filter_elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy probes from 'test/vectors/parquet/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy big from 'test/vectors/parquet/big.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy unions from 'test/vectors/parquet/union.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy fold from 'test/vectors/parquet/fold.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy files from 'test/vectors/parquet/files.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy readfrom from 'test/vectors/parquet/readfrom.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy sizing from 'test/vectors/parquet/sizing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy sizing_duckdb from 'test/vectors/parquet/sizing_duckdb.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')

-- All of them are there: lines of the files, less one header each.
select (select count(*) from hashing) as hashing, (select count(*) from positions) as positions,
       (select count(*) from filters) as filters, (select count(*) from filter_elements) as elements,
       (select count(*) from probes) as probes, (select count(*) from big) as big,
       (select count(*) from unions) as unions, (select count(*) from fold) as fold,
       (select count(*) from files) as files, (select count(*) from readfrom) as readfrom,
       (select count(*) from sizing) as sizing, (select count(*) from sizing_duckdb) as duckdb;
analyze;

-- ---------------------------------------------------------------------------
-- An element of a file as a SQL value, handed to the function for its type
-- ---------------------------------------------------------------------------
create function pg_temp.funnel(etype text) returns text language sql immutable as $$
    select case etype when 'text' then 'utf8' when 'int4' then 'int' when 'int8' then 'long' else 'bytes' end
$$;

create function pg_temp.raw(value text) returns bytea language sql immutable as $$
    select case when value like 'rep:%'
        then decode(repeat(split_part(value, ':', 3), split_part(value, ':', 2)::int), 'hex')
        else decode(value, 'hex') end
$$;

-- PostgreSQL has no text with a NUL: its bytes are the same element.
update hashing set etype = 'bytea' where etype = 'text' and position('\x00'::bytea in pg_temp.raw(value)) > 0;

-- One filter has elements of all types, which are their bytes.
create temp table of_one_kind as select filter_id, max(etype) as etype from filter_elements group by 1 having count(distinct etype) = 1;
create function pg_temp.little_endian(bytea) returns bytea language sql immutable as $$
    select decode(string_agg(to_hex(get_byte($1, i) / 16) || to_hex(get_byte($1, i) % 16), '' order by i desc), 'hex')
    from generate_series(0, length($1) - 1) i
$$;
create function pg_temp.as_bytes(inout etype text, inout value text) language sql immutable as $$
    select 'bytea', case etype when 'int4' then encode(pg_temp.little_endian(int4send(value::int)), 'hex')
        when 'int8' then encode(pg_temp.little_endian(int8send(value::bigint)), 'hex') else value end
$$;
update filter_elements e set (etype, value) = (select * from pg_temp.as_bytes(e.etype, e.value))
where filter_id not in (select filter_id from of_one_kind);
update probes e set (etype, value) = (select * from pg_temp.as_bytes(e.etype, e.value))
where filter_id not in (select filter_id from of_one_kind) and filter_id in (select filter_id from filter_elements);

create function pg_temp.derive(f bloomfilter, etype text, value text)
returns bigint[] language plpgsql as $$
begin
    return case etype
        when 'text' then bf_positions(f, convert_from(pg_temp.raw(value), 'UTF8'))
        when 'bytea' then bf_positions(f, pg_temp.raw(value))
        when 'uuid' then bf_positions(f, value::uuid)
        when 'int4' then bf_positions(f, value::int)
        when 'int8' then bf_positions(f, value::bigint)
    end;
end $$;

create function pg_temp.put(f bloomfilter, etype text, value text)
returns bloomfilter language plpgsql as $$
begin
    return case etype
        when 'text' then bf_add(f, convert_from(pg_temp.raw(value), 'UTF8'))
        when 'bytea' then bf_add(f, pg_temp.raw(value))
        when 'uuid' then bf_add(f, value::uuid)
        when 'int4' then bf_add(f, value::int)
        when 'int8' then bf_add(f, value::bigint)
    end;
end $$;

create function pg_temp.contains(f bloomfilter, etype text, value text)
returns boolean language plpgsql as $$
begin
    return case etype
        when 'text' then bf_contains(f, convert_from(pg_temp.raw(value), 'UTF8'))
        when 'bytea' then bf_contains(f, pg_temp.raw(value))
        when 'uuid' then bf_contains(f, value::uuid)
        when 'int4' then bf_contains(f, value::int)
        when 'int8' then bf_contains(f, value::bigint)
    end;
end $$;

create function pg_temp.blocks(blocks bigint, funnel text) returns bloomfilter language sql stable as $$
    select bf_create_bits(blocks * 256, 8, 'parquet', funnel)
$$;

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- hashing: positions follow from the file's hashes by the rule of strategies.md,
-- computed here in numeric; and positions, of as many blocks as a value may have
-- ---------------------------------------------------------------------------
create function pg_temp.rule(h numeric, blocks bigint) returns bigint[] language sql immutable as $$
    select array_agg(div(div(h, 4294967296) * blocks, 4294967296) * 256 + 32 * (j - 1)
        + div(mod(mod(h, 4294967296) * salt, 4294967296), 134217728) order by j)::bigint[]
    from unnest('{1203114875,1150766481,2284105051,2729912477,1884591559,770785867,2667333959,1550580529}'::numeric[])
        with ordinality s (salt, j)
$$;

select elem_id, blocks
from hashing, unnest('{1,3,977,65536}'::bigint[]) blocks
where pg_temp.derive(pg_temp.blocks(blocks, pg_temp.funnel(etype)), etype, value)
    is distinct from pg_temp.rule(mod(h::numeric + 18446744073709551616, 18446744073709551616), blocks)
order by 1, 2;

create function pg_temp.check_positions() returns table (elem_id int, blocks bigint) language plpgsql as $$
#variable_conflict use_column
declare
    shape record;
    f bloomfilter;
begin
    for shape in select distinct blocks, pg_temp.funnel(etype) as funnel
                 from positions join hashing using (elem_id) where blocks < 30000000 order by 1, 2
    loop
        f := pg_temp.blocks(shape.blocks, shape.funnel);
        return query
        select elem_id, blocks
        from positions join hashing using (elem_id)
        where blocks = shape.blocks and pg_temp.funnel(etype) = shape.funnel
            and pg_temp.derive(f, etype, value) is distinct from ('{' || positions || '}')::bigint[]
        order by 1;
    end loop;
end $$;
select * from pg_temp.check_positions();

-- ---------------------------------------------------------------------------
-- filters: made by the file's elements in their order
-- ---------------------------------------------------------------------------
create temp table made (filter_id int, f bloomfilter);

create function pg_temp.check_puts() returns table (filter_id int, seq int, problem text) language plpgsql as $$
#variable_conflict use_column
declare
    v record;
    e record;
    f bloomfilter;
begin
    for v in select * from filters order by filter_id loop
        filter_id := v.filter_id;
        f := pg_temp.blocks(v.blocks, coalesce((select pg_temp.funnel(k.etype) from of_one_kind k where k.filter_id = v.filter_id),
                                               pg_temp.funnel(v.etype)));
        for e in select * from filter_elements x where x.filter_id = v.filter_id order by x.seq loop
            seq := e.seq;
            problem := 'changed';
            if pg_temp.contains(f, e.etype, e.value) is distinct from (e.changed = 0) then return next; end if;
            f := pg_temp.put(f, e.etype, e.value);
            problem := 'lost';
            if pg_temp.contains(f, e.etype, e.value) is not true then return next; end if;
            problem := 'bits set';
            if (bf_info(f)).bits_set is distinct from e.bit_count then return next; end if;
        end loop;
        insert into made values (v.filter_id, f);
    end loop;
end $$;
select * from pg_temp.check_puts();

select filter_id, i.*
from filters v join made using (filter_id), bf_info(f) i
where encode(bf_export(f), 'hex') is distinct from hex
   or encode(bf_export(f, 'parquet'), 'hex') is distinct from hex
   or encode(bf_export(f, 'bitset'), 'hex') is distinct from bitset
   or (i.bits, i.hashes, i.bits_set, i.strategy) is distinct from (num_bytes * 8, 8, bit_count, 'parquet')
order by 1;

-- The original's bytes come in as they went out, and equal what was made here.
select filter_id
from filters join made using (filter_id), bf_info(f) i
where bf_import(decode(hex, 'hex'), 'parquet', i.funnel) is distinct from f
order by 1;

-- Adding all at once, and aggregates, make the same filter.
select filter_id
from filters v join made using (filter_id) join of_one_kind k using (filter_id),
    lateral (select array_agg(value order by seq) as a from filter_elements e where e.filter_id = v.filter_id) l,
    pg_temp.blocks(blocks, pg_temp.funnel(k.etype)) empty
where k.etype = 'text' and (
        f is distinct from bf_add_all(empty, array(select convert_from(pg_temp.raw(x), 'UTF8') from unnest(a) x))
        or f is distinct from (select bf_agg_into(empty, convert_from(pg_temp.raw(x), 'UTF8')) from unnest(a) x))
   or k.etype = 'bytea' and (
        f is distinct from bf_add_all(empty, array(select pg_temp.raw(x) from unnest(a) x))
        or f is distinct from (select bf_agg_into(empty, pg_temp.raw(x)) from unnest(a) x))
   or k.etype = 'uuid' and (
        f is distinct from bf_add_all(empty, a::uuid[])
        or f is distinct from (select bf_agg_into(empty, x::uuid) from unnest(a) x))
   or k.etype = 'int4' and (
        f is distinct from bf_add_all(empty, a::int[]) or f is distinct from bf_add_all(empty, a::bigint[])
        or f is distinct from (select bf_agg_into(empty, x::int) from unnest(a) x))
   or k.etype = 'int8' and (
        f is distinct from bf_add_all(empty, a::bigint[])
        or f is distinct from (select bf_agg_into(empty, x::bigint) from unnest(a) x))
order by 1;

-- ---------------------------------------------------------------------------
-- probes: hits and false positives alike
-- ---------------------------------------------------------------------------
select p.*
from probes p join made using (filter_id)
where pg_temp.contains(f, etype, value) is distinct from (contains = 1)
order by 1, 2, 3;

-- ---------------------------------------------------------------------------
-- unions: parquet-java refuses filters of different sizes, which are folded here
-- ---------------------------------------------------------------------------
create temp table sides as
select case_id, merge, union_hex, bf_import(decode(hex1, 'hex'), 'parquet') as a,
    bf_import(decode(hex2, 'hex'), 'parquet') as b
from unions;

select case_id
from sides
where merge = 'ok' and (encode(bf_export(a | b), 'hex') is distinct from union_hex
    or encode(bf_export(b | a), 'hex') is distinct from union_hex or not bf_compatible(a, b))
order by 1;

select case_id, outcome
from (select *, pg_temp.outcome(format('select %L::bloomfilter | %L::bloomfilter', a, b)) as outcome,
        (bf_info(a)).bits as m, (bf_info(b)).bits as n from sides) s
where outcome is distinct from case when m % n = 0 or n % m = 0 then 'ok' else '22023' end
    or bf_compatible(a, b) is distinct from (outcome = 'ok')
order by 1;

-- fold: united with an empty filter of the size, a filter is what arrow-rs folds it to.
select filter_id, num_bytes
from fold join made using (filter_id), bf_info(f) i,
    lateral pg_temp.blocks(num_bytes / 32, i.funnel) empty
where encode(bf_export(f | empty), 'hex') is distinct from hex
   or encode(bf_export(empty | f), 'hex') is distinct from hex
   or encode(bf_export((select bf_union_agg(x) from unnest(array[f, empty]) x)), 'hex') is distinct from hex
   or encode(bf_export((select bf_union_agg(x) from unnest(array[empty, f]) x)), 'hex') is distinct from hex
   or (bf_info(f | empty)).bits_set is distinct from fold.bit_count
order by 1, 2;

-- Filters of the same elements in 12 sizes: the largest folds to each that divides it, stored or not.
create temp table sizes as
select z, (select bf_agg_into(pg_temp.blocks(z, 'int'), i) from generate_series(1, 500) i) as f
from unnest('{1,2,3,4,6,8,12,24,48,96,192,12288}'::bigint[]) z;
create temp table stored (z bigint, f bloomfilter);
alter table stored alter f set storage external;
insert into stored select * from sizes;
select a.z, b.z
from sizes a, sizes b, stored s, stored t
where s.z = a.z and t.z = b.z and greatest(a.z, b.z) % least(a.z, b.z) = 0
    and ((a.f | b.f) is distinct from case when a.z < b.z then a.f else b.f end
        or (s.f | t.f) is distinct from (a.f | b.f)
        or (a.f & b.f) is distinct from (a.f | b.f));
select count(*) from sizes a, sizes b where not bf_compatible(a.f, b.f);

-- ---------------------------------------------------------------------------
-- files: filters that were lifted out of files have what was written
-- ---------------------------------------------------------------------------
create function pg_temp.absent(f bloomfilter, etype text, rule text, count int) returns bigint language sql stable as $$
    select count(*) from generate_series(1, count) x
    where not case etype when 'text' then bf_contains(f, replace(rule, '{i}', x::text))
        when 'bytea' then bf_contains(f, replace(rule, '{i}', x::text)::bytea)
        when 'uuid' then bf_contains(f, md5(replace(substr(rule, 5), '{i}', x::text))::uuid)
        when 'int4' then bf_contains(f, (rule::bigint + x)::int)
        when 'int8' then bf_contains(f, rule::bigint + x) end
$$;
select file_id, writer
from files, bf_import(decode(hex, 'hex'), 'parquet', pg_temp.funnel(etype)) f
where pg_temp.absent(f, etype, rule, inserted) > 0 or encode(bf_export(f), 'hex') is distinct from hex
    or (bf_info(f)).bits is distinct from num_bytes * 8
order by 1;

-- ---------------------------------------------------------------------------
-- readfrom: the header as all write it, and as many bytes as it says
-- ---------------------------------------------------------------------------
select case_id, description, outcome
from (select *, pg_temp.outcome(format('select bf_import(%L, ''parquet'')', '\x' || hex)) as outcome from readfrom) r
where outcome is distinct from case when description like 'valid%' then 'ok' else '22P03' end
order by 1;

-- ---------------------------------------------------------------------------
-- big: filters of up to a million elements, by aggregate and by array
-- ---------------------------------------------------------------------------
create function pg_temp.check_big() returns table (case_id int, problem text, want text, got text)
language plpgsql as $$
#variable_conflict use_column
declare
    r record;
    empty bloomfilter;
    f bloomfilter;
    g bloomfilter;
    hits bigint;
    i record;
begin
    for r in select * from big order by case_id loop
        case_id := r.case_id;
        empty := pg_temp.blocks(r.blocks, pg_temp.funnel(r.etype));
        if r.etype = 'text' then
            select bf_agg_into(empty, replace(r.rule, '{i}', x::text)),
                   bf_add_all(empty, array_agg(replace(r.rule, '{i}', x::text)))
            into f, g from generate_series(1, r.inserted) x;
        elsif r.etype = 'bytea' then
            select bf_agg_into(empty, replace(r.rule, '{i}', x::text)::bytea),
                   bf_add_all(empty, array_agg(replace(r.rule, '{i}', x::text)::bytea))
            into f, g from generate_series(1, r.inserted) x;
        elsif r.etype = 'uuid' then
            select bf_agg_into(empty, md5(replace(substr(r.rule, 5), '{i}', x::text))::uuid),
                   bf_add_all(empty, array_agg(md5(replace(substr(r.rule, 5), '{i}', x::text))::uuid))
            into f, g from generate_series(1, r.inserted) x;
        elsif r.etype = 'int4' then
            select bf_agg_into(empty, (r.rule::bigint + x)::int), bf_add_all(empty, array_agg((r.rule::bigint + x)::int))
            into f, g from generate_series(1, r.inserted) x;
        else
            select bf_agg_into(empty, r.rule::bigint + x), bf_add_all(empty, array_agg(r.rule::bigint + x))
            into f, g from generate_series(1, r.inserted) x;
        end if;
        hits := r.probe_count - pg_temp.absent(f, r.etype, r.probe_rule, r.probe_count);
        select * into i from bf_info(f);

        problem := 'sha256 by bf_agg_into';
        want := r.len || ' ' || r.sha256;
        got := octet_length(bf_export(f)) || ' ' || encode(sha256(bf_export(f)), 'hex');
        if got is distinct from want then return next; end if;
        problem := 'by bf_add_all';
        if f is distinct from g then return next; end if;
        problem := 'bits, bits set, hits';
        want := format('%s %s %s', r.num_bytes * 8, r.bit_count, r.probe_hits);
        got := format('%s %s %s', i.bits, i.bits_set, hits);
        if got is distinct from want then return next; end if;
        problem := 'fpp, count';
        want := format('%s %s', r.probe_hits::float8 / r.probe_count, r.inserted);
        got := format('%s %s', bf_fpp(f), bf_count(f));
        if abs(bf_fpp(f) * r.probe_count - r.probe_hits) > 5 * sqrt(r.probe_hits)
            or abs(bf_count(f) - r.inserted) > r.inserted * 0.01 then return next; end if;
    end loop;
end $$;
select * from pg_temp.check_big();

-- ---------------------------------------------------------------------------
-- sizing: the writers' rule is told, and another one keeps p
-- ---------------------------------------------------------------------------
create function pg_temp.told(n bigint, p float8) returns bigint language sql stable as $$
    select substring(advice from 'Other programs make (\d+) bits')::bigint from bf_advise(n, p, 'parquet')
$$;
select n, p, outcome
from (select *, pg_temp.outcome(format('select bf_advise(%s, %L, ''parquet'')', n, p)) as outcome from sizing) s
where outcome is distinct from case when n < 0 or not (p > 0 and p < 1) then '22023' else 'ok' end
    -- More blocks than a hash selects.
    and not (outcome = '54000' and (n > 1000000000 or p < 1e-9));
select n, p, bytes, pg_temp.told(n, p) / 8 as told
from sizing
where n >= 0 and p > 0 and p < 1 and pg_temp.outcome(format('select bf_advise(%s, %L, ''parquet'')', n, p)) = 'ok'
    and pg_temp.told(n, p) is distinct from bytes::bigint * 8;
select n, p, bytes, pg_temp.told(n, p) / 8 as told from sizing_duckdb where pg_temp.told(n, p) is distinct from bytes * 8;

-- What is made keeps p: the formula of the originals does not.
select n, p, bits, real_fpp
from unnest('{1,100,10000,1000000,100000000}'::bigint[]) n, unnest('{0.5,0.1,0.01,0.001,0.0001,0.000001}'::float8[]) p,
    bf_advise(n, p, 'parquet') a
where not real_fpp <= p * 1.01;
select p, bits, round(real_fpp::numeric, 9) as real_fpp, advice from unnest('{0.01,0.0001,0.000001}'::float8[]) p, bf_advise(1000000, p, 'parquet');

-- ---------------------------------------------------------------------------
-- What is refused
-- ---------------------------------------------------------------------------
\set VERBOSITY default
\set SHOW_CONTEXT never
select bf_create_bits(256, 7, 'parquet');
select (bf_info(bf_create_bits(257, 8, 'parquet'))).bits;
select bf_create(10, 0.1, 'parquet', counting => true);
select bf_create(10, 0.1, 'parquet', 'utf16');
select bf_agg(true, 10, 0.1, 'parquet');
select bf_contains(bf_create(10, 0.1, 'parquet'), true);
select bf_agg(1.5, 10, 0.1, 'parquet');
-- Made here, timestamps are microseconds; a file's could be others.  Dates are days there, too.
create temp table times as
select f, bf_import(bf_export(f), 'parquet', 'long') as imported from bf_add(bf_create(10, 0.0001, 'parquet'), timestamp '2024-05-01') f;
create temp table dates as
select f, bf_import(bf_export(f), 'parquet', 'int') as imported from bf_add(bf_create(10, 0.0001, 'parquet'), date '2024-05-01') f;
select bf_contains(f, timestamp '2024-05-01'), bf_contains(f, timestamp '2024-05-02'),
    bf_contains(imported, 1714521600000000) from times;
select bf_contains(imported, timestamp '2024-05-01') from times;
select bf_contains(imported, timestamptz '2024-05-01 00:00+00') from times;
select bf_contains_each(imported, array[timestamp '2024-05-01']) from times;
select bf_contains(imported, date '2024-05-01') from times;
select bf_add(imported, date '2024-05-01') from times;
select bf_contains(f, date '2024-05-01'), bf_contains(imported, date '2024-05-01'), bf_contains(imported, date '2024-05-02')
from dates;
select bf_contains(imported, timestamp '2024-05-01') from dates;
-- An unsigned integer of 32 bits is the one of the same bits.
select bf_contains(f, 3000000000), bf_contains(f, 3000000001), bf_contains(f, 7294967296)
from bf_add(bf_create(10, 0.0001, 'parquet'), -1294967296) f;
-- One format for another's, several layers, more than a stream holds.
select bf_import(bf_export(bf_create(10, 0.1, 'parquet')));
select bf_import(bf_export(bf_create(10, 0.1)), 'parquet');
select bf_export(bf_create(10, 0.1, 'parquet'), 'guava');
select bf_export(bf_agg(i, 10, 0.1, 'parquet', 2)) from generate_series(1, 100) i;
select length(bf_export(bf_create_bits(1073741824, 8, 'parquet')));
select bf_export(bf_create_bits(1073741825, 8, 'parquet'));
select bf_import('\x15401c1c00001c1c00002c1c000000' || decode(repeat('00', 32), 'hex'), 'parquet');
select bf_union(bf_create_bits(768, 8, 'parquet'), bf_create_bits(512, 8, 'parquet'));
