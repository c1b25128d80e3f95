-- Values against those that Apache Spark (spark1, spark2) and Go's
-- bits-and-blooms/bloom made: every row of every file under test/vectors/spark
-- and bitsandblooms, but for what no value has: filters of Spark with a seed
-- are refused, and test/unit holds their bits.  Each query prints the rows that
-- disagree; there must be none.
\set VERBOSITY terse
set extra_float_digits = 1;
set bloomext.overfull_notice = off;

-- ---------------------------------------------------------------------------
-- The files
-- ---------------------------------------------------------------------------
create temp table sizing (original text default 'spark', n bigint, p float8, num_bits text, bits bigint, k int, status text default 'ok');
create temp table sizing_bits (n bigint, num_bits bigint, bits bigint, k int, status text);
create temp table hashing (original text default 'spark', elem_id int, etype text, value text,
    seed bigint default 0, h1 numeric, h2 numeric, l2 numeric, l3 numeric, l4 numeric);
create temp table positions (original text default 'spark', elem_id int, version int, seed bigint default 0,
    bits bigint, k int, positions text);
create temp table filters (original text default 'spark', filter_id int, version int, seed bigint default 0,
    n bigint, p float8, etype text, inserted int, bits bigint, k int, bit_count bigint, expected_fpp float8,
    approx_count bigint, hex text);
create temp table filter_elements (original text default 'spark', filter_id int, seq int, etype text, value text, changed int);
create temp table probes (original text default 'spark', filter_id int, etype text, value text, inserted int, contains int);
create temp table big (original text default 'spark', case_id int, version int, seed bigint default 0, n bigint, p float8,
    etype text, rule text, inserted int, bits bigint, k int, bit_count bigint, expected_fpp float8, approx_count bigint,
    len int, sha256 text, probe_rule text, probe_count int, probe_hits int);
create temp table unions (original text default 'spark', case_id int, hex1 text, hex2 text, merge text, union_hex text, intersection_hex text);
create temp table readfrom (case_id int, hex text, result text, bits bigint, k bigint, bit_count bigint, rewrite_hex text);

\copy sizing (n, p, num_bits, bits, k, status) from 'test/vectors/spark/sizing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy sizing_bits from 'test/vectors/spark/sizing_bits.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy hashing (elem_id, etype, value, seed, h1, h2) from 'test/vectors/spark/hashing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy positions (elem_id, version, seed, bits, k, positions) from 'test/vectors/spark/positions.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filters (filter_id, version, seed, n, p, etype, inserted, bits, k, bit_count, expected_fpp, hex) from 'test/vectors/spark/filters.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filter_elements (filter_id, seq, etype, value, changed) from 'test/vectors/spark/filter_elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy probes (filter_id, etype, value, inserted, contains) from 'test/vectors/spark/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy big (case_id, version, seed, n, p, etype, rule, inserted, bits, k, bit_count, expected_fpp, len, sha256, probe_rule, probe_count, probe_hits) from 'test/vectors/spark/big.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy unions (case_id, hex1, hex2, merge, union_hex, intersection_hex) from 'test/vectors/spark/union.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy readfrom from 'test/vectors/spark/readfrom.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '', force_not_null (hex))

alter table sizing alter original set default 'bitsandblooms';
alter table hashing alter original set default 'bitsandblooms';
alter table positions alter original set default 'bitsandblooms';
alter table filters alter original set default 'bitsandblooms';
alter table filter_elements alter original set default 'bitsandblooms';
alter table probes alter original set default 'bitsandblooms';
alter table big alter original set default 'bitsandblooms';
alter table unions alter original set default 'bitsandblooms';
\copy sizing (n, p, bits, k) from 'test/vectors/bitsandblooms/sizing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy hashing (elem_id, etype, value, h1, h2, l2, l3, l4) from 'test/vectors/bitsandblooms/hashing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy positions (elem_id, bits, k, positions) from 'test/vectors/bitsandblooms/positions.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filters (filter_id, n, p, etype, inserted, bits, k, bit_count, approx_count, hex) from 'test/vectors/bitsandblooms/filters.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filter_elements (filter_id, seq, etype, value, changed) from 'test/vectors/bitsandblooms/filter_elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy probes (filter_id, etype, value, inserted, contains) from 'test/vectors/bitsandblooms/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy big (case_id, n, p, etype, rule, inserted, bits, k, bit_count, approx_count, len, sha256, probe_rule, probe_count, probe_hits) from 'test/vectors/bitsandblooms/big.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy unions (case_id, hex1, hex2, merge, union_hex) from 'test/vectors/bitsandblooms/union.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')

-- All of them are there: lines of the files, less one header each.
select (select count(*) from sizing) as sizing, (select count(*) from sizing_bits) as sizing_bits,
       (select count(*) from hashing) as hashing, (select count(*) from positions) as positions,
       (select count(*) from filters) as filters, (select count(*) from filter_elements) as elements,
       (select count(*) from probes) as probes, (select count(*) from big) as big,
       (select count(*) from unions) as unions, (select count(*) from readfrom) as readfrom;
analyze;

-- ---------------------------------------------------------------------------
-- An element of a file as a SQL value, handed to the function for its type
-- ---------------------------------------------------------------------------
create function pg_temp.strategy(original text, version int) returns text language sql immutable as $$
    select original || coalesce(version::text, '')
$$;

create function pg_temp.funnel(etype text) returns text language sql immutable as $$
    select case etype when 'text' then 'utf8' when 'bytea' then 'bytes' else 'long' end
$$;

create function pg_temp.raw(value text) returns bytea language sql immutable as $$
    select case when value like 'rep:%'
        then decode(repeat(split_part(value, ':', 3), split_part(value, ':', 2)::int), 'hex')
        else decode(value, 'hex') end
$$;

-- PostgreSQL has no text with a NUL: its bytes are the same element.
update hashing set etype = 'bytea' where etype = 'text' and position('\x00'::bytea in pg_temp.raw(value)) > 0;

create function pg_temp.derive(f bloomfilter, etype text, value text)
returns bigint[] language plpgsql as $$
begin
    return case etype
        when 'text' then bf_positions(f, convert_from(pg_temp.raw(value), 'UTF8'))
        when 'bytea' then bf_positions(f, pg_temp.raw(value))
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
        when 'int4' then bf_contains(f, value::int)
        when 'int8' then bf_contains(f, value::bigint)
    end;
end $$;

create function pg_temp.same(a float8, b float8) returns boolean language sql immutable as $$
    select b is null or abs(a - b) <= 1e-14 * abs(b)
$$;

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- sizing: what is refused is, and k beyond 255; a value has 1 GB.  Made in full
-- up to 16 MB; test/unit holds every row, and needs no bits for it.
-- ---------------------------------------------------------------------------
select strategy, n, p, status, outcome
from (select *, pg_temp.outcome(format('select bf_create(%s, %L, %L)', n, p, strategy)) as outcome
      from sizing, unnest(case original when 'spark' then '{spark1,spark2}' else array[original] end) strategy
      where status like 'error%' or k > 255 or bits / 8 > 1073741823 - 100) s
where outcome is distinct from case when n <= 0 or not (p > 0 and p < 1) then '22023' else '54000' end
order by 1, 2, 3;

select made, n, p, s.bits, k, i.bits, i.hashes
from sizing s, unnest(case original when 'spark' then '{spark1,spark2}' else array[original] end) made,
    lateral bf_info(bf_create(n, p, made)) i
where status not like 'error%' and k <= 255 and s.bits <= 8 * 16000000
    and (i.bits, i.hashes, i.expected, i.fpp, i.strategy) is distinct from (s.bits, k, n, p, made)
order by 1, 2, 3;

-- Of a known number of bits, k is the caller's.
select strategy, n, num_bits, k, outcome
from (select *, pg_temp.outcome(format('select bf_create_bits(%s, %s, %L)', num_bits, coalesce(k, 0), strategy)) as outcome
      from sizing_bits, unnest('{spark1,spark2}'::text[]) strategy) s
where outcome is distinct from
    case when status not like 'error%' and k <= 255 then 'ok' when num_bits = 0 or k > 255 then '54000' else '22023' end
order by 1, 2, 3;

select made, n, num_bits, s.bits, i.bits
from sizing_bits s, unnest('{spark1,spark2}'::text[]) made, lateral bf_info(bf_create_bits(num_bits, k, made)) i
where status not like 'error%' and k <= 255 and (i.bits, i.hashes, i.strategy) is distinct from (s.bits, k, made)
order by 1, 2, 3;

-- ---------------------------------------------------------------------------
-- hashing: positions follow from the file's hashes by the rules of strategies.md,
-- computed here in numeric
-- ---------------------------------------------------------------------------
create function pg_temp.spark_rule(strategy text, h1 numeric, h2 numeric, bits bigint, k int)
returns bigint[] language plpgsql immutable as $$
declare
    word constant numeric := power(2::numeric, case strategy when 'spark1' then 32 else 64 end);
    s numeric := case strategy when 'spark1' then h1 else h1 * 2147483647 end;
    c numeric;
    result bigint[] := '{}';
begin
    for i in 1 .. k loop
        s := s + h2;
        c := mod(mod(s, word) + word, word);
        result := result || mod(case when c >= word / 2 then word - 1 - c else c end, bits)::bigint;
    end loop;
    return result;
end $$;

select strategy, elem_id, shape
from hashing, unnest('{spark1,spark2}'::text[]) strategy, unnest(array[64 * 15625, 64 * 16381]) shape
where original = 'spark' and seed = 0
    and pg_temp.derive(bf_create_bits(shape, 9, strategy), etype, value)
        is distinct from pg_temp.spark_rule(strategy, h1, h2, shape, 9)
order by 1, 2, 3;

select elem_id, shape
from hashing, unnest(array[999983, 64 * 16381]) shape
where original = 'bitsandblooms'
    and pg_temp.derive(bf_create_bits(shape, 5, 'bitsandblooms'), etype, value)
        is distinct from array[mod(h1, shape), mod(h2, shape), mod(l2, shape), mod(l3, shape), mod(l4, shape)]::bigint[]
order by 1, 2;

-- ---------------------------------------------------------------------------
-- positions: all of them, in order, of as many bits as a value may have
-- ---------------------------------------------------------------------------
create function pg_temp.check_positions()
returns table (strategy text, elem_id int, bits bigint, k int) language plpgsql as $$
#variable_conflict use_column
declare
    shape record;
    f bloomfilter;
begin
    for shape in select distinct original, version, p.bits, p.k from positions p
                 where seed = 0 and p.bits < 8 * 1000000000::bigint order by 1, 2, 3, 4
    loop
        strategy := pg_temp.strategy(shape.original, shape.version);
        f := bf_create_bits(shape.bits, shape.k, strategy);
        return query
        select strategy, p.elem_id, p.bits, p.k
        from positions p, lateral (select etype, value from hashing h
            where (h.original, h.elem_id) = (p.original, p.elem_id) limit 1) h
        where (p.original, p.bits, p.k) = (shape.original, shape.bits, shape.k)
            and p.version is not distinct from shape.version and seed = 0
            and pg_temp.derive(f, h.etype, h.value) is distinct from ('{' || p.positions || '}')::bigint[]
        order by 2;
    end loop;
end $$;
select * from pg_temp.check_positions();

-- ---------------------------------------------------------------------------
-- filters: made by the file's elements in their order
-- ---------------------------------------------------------------------------
create temp table made (original text, filter_id int, f bloomfilter);

create function pg_temp.check_puts()
returns table (original text, filter_id int, seq int, problem text) language plpgsql as $$
#variable_conflict use_column
declare
    v record;
    e record;
    f bloomfilter;
begin
    for v in select * from filters where seed = 0 order by filters.original, filters.filter_id loop
        original := v.original;
        filter_id := v.filter_id;
        f := bf_create(v.n, v.p, pg_temp.strategy(v.original, v.version));
        for e in select * from filter_elements x
                 where (x.original, x.filter_id) = (v.original, v.filter_id) order by x.seq
        loop
            seq := e.seq;
            problem := 'changed';
            if pg_temp.contains(f, e.etype, e.value) is distinct from (e.changed = 0) then return next; end if;
            f := pg_temp.put(f, e.etype, e.value);
            problem := 'lost';
            if pg_temp.contains(f, e.etype, e.value) is not true then return next; end if;
        end loop;
        insert into made values (v.original, v.filter_id, f);
    end loop;
end $$;
select * from pg_temp.check_puts();

select v.original, filter_id, i.*
from filters v join made using (original, filter_id), bf_info(f) i
where encode(bf_export(f), 'hex') is distinct from hex
   or encode(bf_export(f, v.original), 'hex') is distinct from hex
   or (i.bits, i.hashes, i.bits_set, i.strategy, i.funnel, i.expected, i.fpp)
      is distinct from (v.bits, k, bit_count, pg_temp.strategy(v.original, version), pg_temp.funnel(etype), n, p)
   or pg_temp.same(bf_fpp(f), expected_fpp) is not true
   or bf_count(f) is distinct from coalesce(approx_count, bf_count(f))
order by 1, 2;

-- The original's bytes come in as they went out, and equal what was made here.
select original, filter_id
from filters join made using (original, filter_id)
where bf_import(decode(hex, 'hex'), original, pg_temp.funnel(etype)) is distinct from f
order by 1, 2;

-- A filter with a seed is not malformed, but refused.
select filter_id, outcome
from (select *, pg_temp.outcome(format('select bf_import(%L, ''spark'')', '\x' || hex)) as outcome from filters where seed <> 0) v
where outcome is distinct from '0A000'
order by 1;

-- Adding all at once, and aggregates, make the same filter.
select v.original, filter_id
from filters v join made using (original, filter_id),
    lateral (select array_agg(value order by seq) as a from filter_elements e
             where (e.original, e.filter_id) = (v.original, v.filter_id)) l,
    pg_temp.strategy(v.original, version) s,
    bf_create(n, p, s) empty
where etype = 'text' and (
        f is distinct from bf_add_all(empty, array(select convert_from(pg_temp.raw(x), 'UTF8') from unnest(a) x))
        or f is distinct from (select bf_agg(convert_from(pg_temp.raw(x), 'UTF8'), n, p, s) from unnest(a) x))
   or etype = 'bytea' and (
        f is distinct from bf_add_all(empty, array(select pg_temp.raw(x) from unnest(a) x))
        or f is distinct from (select bf_agg(pg_temp.raw(x), n, p, s) from unnest(a) x))
   or etype = 'int4' and (
        f is distinct from bf_add_all(empty, a::int[]) or f is distinct from bf_add_all(empty, a::bigint[])
        or f is distinct from (select bf_agg(x::smallint, n, p, s) from unnest(a) x))
   or etype = 'int8' and (
        f is distinct from bf_add_all(empty, a::bigint[])
        or f is distinct from (select bf_agg(x::bigint, n, p, s) from unnest(a) x))
order by 1, 2;

-- ---------------------------------------------------------------------------
-- probes: hits and false positives alike
-- ---------------------------------------------------------------------------
select p.*
from probes p join made using (original, filter_id)
where pg_temp.contains(f, etype, value) is distinct from (contains = 1)
order by 1, 2, 3, 4;

-- ---------------------------------------------------------------------------
-- unions and intersections; what the original refuses is refused
-- ---------------------------------------------------------------------------
create temp table sides as
select original, case_id, merge, union_hex, intersection_hex,
    bf_import(decode(hex1, 'hex'), original) as a, bf_import(decode(hex2, 'hex'), original) as b
from unions where original <> 'spark' or not exists (
    select from unnest(array[hex1, hex2]) h where left(h, 8) = '00000002' and substr(h, 17, 8) <> '00000000');

select original, case_id, outcome
from (select *, pg_temp.outcome(format('select %L::bloomfilter | %L::bloomfilter', a, b)) as outcome from sides) s
where outcome is distinct from case merge when 'ok' then 'ok' else '22023' end
order by 1, 2;

select original, case_id
from sides
where merge = 'ok' and (encode(bf_export(a | b), 'hex') is distinct from union_hex
    or encode(bf_export(a & b), 'hex') is distinct from coalesce(intersection_hex, encode(bf_export(a & b), 'hex')))
order by 1, 2;

-- ---------------------------------------------------------------------------
-- readfrom: what Spark reads to the last byte, of k and words that a filter can
-- have, is read and written back
-- ---------------------------------------------------------------------------
create temp view wanted as
select *, case when left(hex, 8) = '00000002' and substr(hex, 17, 8) <> '00000000'
        and result = 'ok' and k between 1 and 255 and bits > 0 and rewrite_hex = hex then '0A000'
    when result = 'ok' and k between 1 and 255 and bits > 0 and rewrite_hex = hex then 'ok' else '22P03' end as want
from readfrom;

select case_id, result, want, outcome
from (select *, pg_temp.outcome(format('select bf_import(%L, ''spark'')', '\x' || hex)) as outcome from wanted) r
where outcome is distinct from want
order by 1;

select case_id, i.*
from wanted w, lateral bf_import(decode(case want when 'ok' then hex end, 'hex'), 'spark') f, bf_info(f) i
where want = 'ok' and (encode(bf_export(f), 'hex') is distinct from hex
    or (i.strategy, i.bits, i.hashes, i.bits_set)
       is distinct from ('spark' || substr(hex, 8, 1), w.bits, w.k::int, w.bit_count))
order by 1;

-- ---------------------------------------------------------------------------
-- big: filters of up to a million elements, by aggregate and by array
-- ---------------------------------------------------------------------------
create function pg_temp.check_big()
returns table (strategy text, case_id int, problem text, want text, got text)
language plpgsql as $$
#variable_conflict use_column
declare
    r record;
    f bloomfilter;
    g bloomfilter;
    hits bigint;
    i record;
begin
    for r in select * from big where seed = 0 order by big.original, big.case_id loop
        strategy := pg_temp.strategy(r.original, r.version);
        case_id := r.case_id;
        if r.etype = 'text' then
            select bf_agg(replace(r.rule, '{i}', x::text), r.n, r.p, strategy),
                   bf_add_all(bf_create(r.n, r.p, strategy), array_agg(replace(r.rule, '{i}', x::text)))
            into f, g from generate_series(1, r.inserted) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, replace(r.probe_rule, '{i}', x::text));
        elsif r.etype = 'bytea' then
            select bf_agg(replace(r.rule, '{i}', x::text)::bytea, r.n, r.p, strategy),
                   bf_add_all(bf_create(r.n, r.p, strategy), array_agg(replace(r.rule, '{i}', x::text)::bytea))
            into f, g from generate_series(1, r.inserted) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, replace(r.probe_rule, '{i}', x::text)::bytea);
        else
            select bf_agg(r.rule::bigint + x, r.n, r.p, strategy),
                   bf_add_all(bf_create(r.n, r.p, strategy), array_agg(r.rule::bigint + x))
            into f, g from generate_series(1, r.inserted) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, r.probe_rule::bigint + x);
        end if;
        select * into i from bf_info(f);

        problem := 'sha256 by bf_agg';
        want := r.len || ' ' || r.sha256;
        got := octet_length(bf_export(f)) || ' ' || encode(sha256(bf_export(f)), 'hex');
        if got is distinct from want then return next; end if;
        problem := 'by bf_add_all';
        if f is distinct from g then return next; end if;
        problem := 'bits, k, bits set, count, hits';
        want := format('%s %s %s %s %s', r.bits, r.k, r.bit_count, coalesce(r.approx_count, bf_count(f)), r.probe_hits);
        got := format('%s %s %s %s %s', i.bits, i.hashes, i.bits_set, bf_count(f), hits);
        if got is distinct from want then return next; end if;
        problem := 'expected fpp';
        want := r.expected_fpp;
        got := bf_fpp(f);
        if pg_temp.same(bf_fpp(f), r.expected_fpp) is not true then return next; end if;
    end loop;
end $$;
select * from pg_temp.check_big();

-- ---------------------------------------------------------------------------
-- What is advised, and what is said of what does not fit
-- ---------------------------------------------------------------------------
select strategy, real_fpp > 100 * 1e-6 as strict, real_fpp is null as unknown,
    regexp_replace(advice, '\m[0-9][0-9.]*\M', 'N', 'g') as advice
from unnest('{spark1,spark2,bitsandblooms}'::text[]) strategy, bf_advise(100, 1e-6, strategy);
select strategy, advice from unnest('{spark1,spark2}'::text[]) strategy, bf_advise(200000000, 0.01, strategy);
\set VERBOSITY default
\set SHOW_CONTEXT never
-- Integers have no bytes in Go's.
select bf_add(bf_create(10, 0.01, 'bitsandblooms'), 7);
select bf_create(10, 0.01, 'spark2', 'int');
-- One format for another's.
select bf_import(bf_export(bf_create(10, 0.1, 'spark2')));
select bf_import(bf_export(bf_create(10, 0.1, 'bitsandblooms')), 'spark');
select bf_import(bf_export(bf_create(10, 0.1)), 'bitsandblooms');
select bf_import('\x', 'Spark');
select bf_export(bf_create(10, 0.1, 'spark1'), 'guava');
select bf_export(bf_agg(i, 10, 0.1, 'spark1', 2)) from generate_series(1, 100) i;
-- A seed; bitset.LittleEndian(); a bit beyond the last.
select bf_import('\x00000002000000050000002a000000010000000000000000', 'spark');
select bf_import('\x00000000000000090000000000000001090000000000000000ff000000000000', 'bitsandblooms');
select bf_import('\x00000000000000090000000000000001000000000000000900000000000002ff', 'bitsandblooms');
