-- Values against those that Google Guava 31.1 made: every row of every file
-- under test/vectors/guava64 (strategy guava) and guava32 (strategy guava32).
-- Each query prints the rows that disagree; there must be none.
\set VERBOSITY terse
set extra_float_digits = 1;
set bloomext.overfull_notice = off;

-- ---------------------------------------------------------------------------
-- The files
-- ---------------------------------------------------------------------------
create temp table sizing (n bigint, p float8, num_bits bigint, bit_size bigint,
    k int, k_new int, k_differs int, status text);
create temp table hashing (elem_id int primary key, etype text, value text, murmur3 text);
create temp table positions (strategy text default 'guava', elem_id int,
    bit_size bigint, k int, positions text);
create temp table filters (strategy text default 'guava', filter_id int, n bigint,
    p float8, etype text, inserted_count int, bit_size bigint, k int,
    bit_count bigint, expected_fpp float8, approx_count text, write_to_hex text);
create temp table filter_elements (strategy text default 'guava', filter_id int,
    seq int, etype text, value text, put_result int);
create temp table probes (strategy text default 'guava', filter_id int,
    etype text, value text, inserted int, might_contain int);
create temp table unions (strategy text default 'guava', case_id int, n1 bigint,
    p1 float8, rule1 text, cnt1 int, n2 bigint, p2 float8, rule2 text, cnt2 int,
    filter1_hex text, filter2_hex text, result text, union_hex text,
    union_bit_count bigint, union_approx_count text, union_expected_fpp text);
create temp table readfrom (strategy text default 'guava', case_id int,
    description text, input_hex text, result text, exception text, cause text,
    bit_size text, k text, bit_count text, unread_bytes text, rewrite_hex text,
    approx_count text, expected_fpp text);
create temp table big (strategy text default 'guava', case_id int, n bigint,
    p float8, etype text, rule text, inserted_count int, bit_size bigint, k int,
    bit_count bigint, expected_fpp float8, approx_count bigint, write_to_len bigint,
    write_to_sha256 text, probe_rule text, probe_count int, probe_hits int);

\copy sizing from 'test/vectors/guava64/sizing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '')
\copy hashing from 'test/vectors/guava64/hashing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy positions (elem_id, bit_size, k, positions) from 'test/vectors/guava64/positions.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filters (filter_id, n, p, etype, inserted_count, bit_size, k, bit_count, expected_fpp, approx_count, write_to_hex) from 'test/vectors/guava64/filters.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filter_elements (filter_id, seq, etype, value, put_result) from 'test/vectors/guava64/filter_elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy probes (filter_id, etype, value, inserted, might_contain) from 'test/vectors/guava64/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy unions (case_id, n1, p1, rule1, cnt1, n2, p2, rule2, cnt2, filter1_hex, filter2_hex, result, union_hex, union_bit_count, union_approx_count, union_expected_fpp) from 'test/vectors/guava64/union.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '', force_not_null (filter1_hex, filter2_hex))
\copy readfrom (case_id, description, input_hex, result, exception, cause, bit_size, k, bit_count, unread_bytes, rewrite_hex, approx_count, expected_fpp) from 'test/vectors/guava64/readfrom.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy big (case_id, n, p, etype, rule, inserted_count, bit_size, k, bit_count, expected_fpp, approx_count, write_to_len, write_to_sha256, probe_rule, probe_count, probe_hits) from 'test/vectors/guava64/big.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')

alter table positions alter strategy set default 'guava32';
alter table filters alter strategy set default 'guava32';
alter table filter_elements alter strategy set default 'guava32';
alter table probes alter strategy set default 'guava32';
alter table unions alter strategy set default 'guava32';
alter table readfrom alter strategy set default 'guava32';
alter table big alter strategy set default 'guava32';
create temp table hashing32 (like hashing);

\copy hashing32 from 'test/vectors/guava32/hashing.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy positions (elem_id, bit_size, k, positions) from 'test/vectors/guava32/positions.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filters (filter_id, n, p, etype, inserted_count, bit_size, k, bit_count, expected_fpp, approx_count, write_to_hex) from 'test/vectors/guava32/filters.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy filter_elements (filter_id, seq, etype, value, put_result) from 'test/vectors/guava32/filter_elements.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy probes (filter_id, etype, value, inserted, might_contain) from 'test/vectors/guava32/probes.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy unions (case_id, n1, p1, rule1, cnt1, n2, p2, rule2, cnt2, filter1_hex, filter2_hex, result, union_hex, union_bit_count, union_approx_count, union_expected_fpp) from 'test/vectors/guava32/union.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '', force_not_null (filter1_hex, filter2_hex))
\copy readfrom (case_id, description, input_hex, result, exception, cause, bit_size, k, bit_count, unread_bytes, rewrite_hex, approx_count, expected_fpp) from 'test/vectors/guava32/readfrom.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')
\copy big (case_id, n, p, etype, rule, inserted_count, bit_size, k, bit_count, expected_fpp, approx_count, write_to_len, write_to_sha256, probe_rule, probe_count, probe_hits) from 'test/vectors/guava32/big.tsv' with (format csv, delimiter E'\t', quote E'\b', header, null '\N')

-- All of them are there: lines of the files, less one header each.
select (select count(*) from sizing) as sizing,
       (select count(*) from hashing) as hashing,
       (select count(*) from hashing32) as hashing32,
       (select count(*) from positions) as positions,
       (select count(*) from filters) as filters,
       (select count(*) from filter_elements) as elements,
       (select count(*) from probes) as probes,
       (select count(*) from unions) as unions,
       (select count(*) from readfrom) as readfrom,
       (select count(*) from big) as big;
analyze;

-- ---------------------------------------------------------------------------
-- An element of a file as a SQL value, handed to the function for its type
-- ---------------------------------------------------------------------------
create function pg_temp.raw(value text) returns bytea language sql immutable as $$
    select case when value like 'rep:%'
        then decode(repeat(split_part(value, ':', 3), split_part(value, ':', 2)::int), 'hex')
        else decode(value, 'hex') end
$$;

create function pg_temp.str(value text) returns text language sql immutable as $$
    select convert_from(pg_temp.raw(value), 'UTF8')
$$;

create function pg_temp.derive(f bloomfilter, etype text, value text)
returns bigint[] language plpgsql as $$
begin
    return case
        when etype in ('text', 'text16') then bf_positions(f, pg_temp.str(value))
        when etype = 'bytea' then bf_positions(f, pg_temp.raw(value))
        when etype = 'int4' then bf_positions(f, value::int)
        when etype = 'int8' then bf_positions(f, value::bigint)
    end;
end $$;

create function pg_temp.put(f bloomfilter, etype text, value text)
returns bloomfilter language plpgsql as $$
begin
    return case
        when etype in ('text', 'text16') then bf_add(f, pg_temp.str(value))
        when etype = 'bytea' then bf_add(f, pg_temp.raw(value))
        when etype = 'int4' then bf_add(f, value::int)
        when etype = 'int8' then bf_add(f, value::bigint)
    end;
end $$;

create function pg_temp.might_contain(f bloomfilter, etype text, value text)
returns boolean language plpgsql as $$
begin
    return case
        when etype in ('text', 'text16') then bf_contains(f, pg_temp.str(value))
        when etype = 'bytea' then bf_contains(f, pg_temp.raw(value))
        when etype = 'int4' then bf_contains(f, value::int)
        when etype = 'int8' then bf_contains(f, value::bigint)
    end;
end $$;

create function pg_temp.funnel(etype text) returns text language sql immutable as $$
    select case etype when 'text' then 'utf8' when 'text16' then 'utf16'
        when 'bytea' then 'bytes' when 'int4' then 'int' when 'int8' then 'long' end
$$;

-- expected_fpp has 17 digits; pow() may differ in the last.
create function pg_temp.same(a float8, b float8) returns boolean language sql immutable as $$
    select abs(a - b) <= 1e-14 * abs(b)
$$;

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- sizing: bits and k as Guava 31.1 has them; its errors are errors here
-- ---------------------------------------------------------------------------
-- Parameters out of range 22023; no bits, too many hashes or bits 54000.
select n, p, status, outcome
from (select *, pg_temp.outcome(format('select bf_create(%s, %L)', n, p)) as outcome
      from sizing where status <> 'ok') s
where outcome is distinct from
    case when n < 0 or not (p > 0 and p < 1) or p = 'NaN' then '22023' else '54000' end
order by n, p;

-- Guava can go on beyond the 1 GB of a PostgreSQL value; this is refused.
select n, p, bit_size, outcome
from (select *, pg_temp.outcome(format('select bf_create(%s, %L)', n, p)) as outcome
      from sizing where status = 'ok' and bit_size / 8 > 1073741823 - 100) s
where outcome is distinct from '54000'
order by n, p;

-- Everything below, made in full up to 16 MB; test/unit holds every row, and
-- needs no bits for it.
create function pg_temp.check_sizing(strategy text, max_bits bigint)
returns table (n bigint, p float8, want text, got text) language plpgsql as $$
#variable_conflict use_column
declare
    r record;
    f bloomfilter;
    l record;
begin
    for r in select * from sizing s
             where s.status = 'ok' and s.bit_size <= max_bits order by s.n, s.p
    loop
        f := bf_create(r.n, r.p, strategy);
        select * into l from bf_layers(f);
        n := r.n;
        p := r.p;
        want := format('%s %s %s %s', r.bit_size, r.k, r.n, r.p);
        got := format('%s %s %s %s', l.bits, l.hashes, l.expected, l.fpp);
        if got is distinct from want then
            return next;
        end if;
    end loop;
end $$;
select * from pg_temp.check_sizing('guava', 8 * 16000000);
select * from pg_temp.check_sizing('guava32', 8 * 1000000);

-- ---------------------------------------------------------------------------
-- hashing: positions follow from the file's hash by the rules of strategies.md,
-- computed here in numeric; and both files hold the same hashes
-- ---------------------------------------------------------------------------
select elem_id from hashing full join hashing32 using (elem_id, etype, value, murmur3)
where hashing.ctid is null or hashing32.ctid is null;

create function pg_temp.le64(b bytea, at int) returns numeric language sql immutable as $$
    select sum(get_byte(b, at + i) * power(256::numeric, i)) from generate_series(0, 7) i
$$;

create function pg_temp.guava_rule(murmur3 text, bits bigint, k int)
returns bigint[] language plpgsql immutable as $$
declare
    c numeric := pg_temp.le64(decode(murmur3, 'hex'), 0);
    h2 numeric := pg_temp.le64(decode(murmur3, 'hex'), 8);
    result bigint[] := '{}';
begin
    for i in 1 .. k loop
        result := result || mod(mod(c, 9223372036854775808), bits)::bigint;
        c := mod(c + h2, 18446744073709551616);
    end loop;
    return result;
end $$;

create function pg_temp.guava32_rule(murmur3 text, bits bigint, k int)
returns bigint[] language plpgsql immutable as $$
declare
    h1 numeric := pg_temp.le64(decode(murmur3, 'hex'), 0);
    low bigint := mod(h1, 4294967296)::bigint;
    high bigint := div(h1, 4294967296)::bigint;
    result bigint[] := '{}';
    c bigint;
begin
    for i in 1 .. k loop
        c := (low + i * high) & 4294967295;
        if c >= 2147483648 then
            c := 4294967295 - c;        -- the complement of a negative int
        end if;
        result := result || c % bits;
    end loop;
    return result;
end $$;

create function pg_temp.check_hashing(bits bigint, k int)
returns table (elem_id int, strategy text) language plpgsql as $$
#variable_conflict use_column
declare
    f bloomfilter := bf_create_bits(bits, k, 'guava');
    f16 bloomfilter := bf_create_bits(bits, k, 'guava', 'utf16');
    g bloomfilter := bf_create_bits(bits, k, 'guava32');
    g16 bloomfilter := bf_create_bits(bits, k, 'guava32', 'utf16');
begin
    return query
    select h.elem_id, 'guava' from hashing h
    where pg_temp.derive(case etype when 'text16' then f16 else f end, etype, value)
        is distinct from pg_temp.guava_rule(murmur3, bits, k)
    union all
    select h.elem_id, 'guava32' from hashing h
    where pg_temp.derive(case etype when 'text16' then g16 else g end, etype, value)
        is distinct from pg_temp.guava32_rule(murmur3, bits, k);
end $$;
select * from pg_temp.check_hashing(64 * 15625, 3);
select * from pg_temp.check_hashing(64 * 16381, 9);

-- ---------------------------------------------------------------------------
-- positions: all of them, in order; up to more than 2^32 bits
-- ---------------------------------------------------------------------------
create function pg_temp.check_positions()
returns table (strategy text, elem_id int, bit_size bigint, k int) language plpgsql as $$
#variable_conflict use_column
declare
    shape record;
    f bloomfilter;
begin
    for shape in select distinct p.strategy, p.bit_size, p.k, h.etype = 'text16' as utf16
                 from positions p join hashing h using (elem_id)
                 order by 1, 2, 3, 4
    loop
        -- All but utf16 is what an unbound filter takes from the argument.
        f := bf_create_bits(shape.bit_size, shape.k, shape.strategy,
                            case when shape.utf16 then 'utf16' end);
        return query
        select p.strategy, p.elem_id, p.bit_size, p.k
        from positions p join hashing h using (elem_id)
        where p.strategy = shape.strategy and p.bit_size = shape.bit_size
            and p.k = shape.k and (h.etype = 'text16') = shape.utf16
            and pg_temp.derive(f, h.etype, h.value)
                is distinct from ('{' || p.positions || '}')::bigint[]
        order by 2;
    end loop;
end $$;
select * from pg_temp.check_positions();

-- ---------------------------------------------------------------------------
-- filters: made by the file's elements in their order
-- ---------------------------------------------------------------------------
create temp table made (strategy text, filter_id int, f bloomfilter);

-- put_result: true where the element was surely not there before.
create function pg_temp.check_puts()
returns table (strategy text, filter_id int, seq int, problem text) language plpgsql as $$
#variable_conflict use_column
declare
    v record;
    e record;
    f bloomfilter;
    was boolean;
begin
    for v in select * from filters order by filters.strategy, filters.filter_id loop
        strategy := v.strategy;
        filter_id := v.filter_id;
        f := bf_create(v.n, v.p, v.strategy, pg_temp.funnel(v.etype));
        for e in select * from filter_elements x
                 where x.strategy = v.strategy and x.filter_id = v.filter_id
                 order by x.seq
        loop
            seq := e.seq;
            was := pg_temp.might_contain(f, e.etype, e.value);
            if was is distinct from (e.put_result = 0) then
                problem := 'put_result';
                return next;
            end if;
            f := pg_temp.put(f, e.etype, e.value);
            if pg_temp.might_contain(f, e.etype, e.value) is not true then
                problem := 'lost';
                return next;
            end if;
        end loop;
        insert into made values (v.strategy, v.filter_id, f);
    end loop;
end $$;
select * from pg_temp.check_puts();

select strategy, filter_id, encode(bf_export(f), 'hex') as export, write_to_hex
from filters join made using (strategy, filter_id)
where encode(bf_export(f), 'hex') is distinct from write_to_hex
   or encode(bf_export(f, 'guava'), 'hex') is distinct from write_to_hex
   or encode(f::bytea, 'hex') is distinct from write_to_hex
order by 1, 2;

select v.strategy, filter_id, i.*
from filters v join made using (strategy, filter_id), bf_info(f) i
where (i.bits, i.hashes, i.bits_set, i.layers, i.strategy, i.funnel, i.expected, i.fpp)
    is distinct from (bit_size, k, bit_count, 1, v.strategy, pg_temp.funnel(etype), n, p)
   or pg_temp.same(i.fill, bit_count::float8 / bit_size) is not true
order by 1, 2;

select v.strategy, filter_id, bf_fpp(f), expected_fpp, bf_count(f), approx_count
from filters v join made using (strategy, filter_id), bf_info(f) i
where pg_temp.same(bf_fpp(f), expected_fpp) is not true
   or pg_temp.same(i.estimated_fpp, expected_fpp) is not true
   or case when approx_count like 'error%'
        -- Guava throws for a full filter; here the answer is a number.
        then coalesce(bf_count(f), 0) <= 0
        else bf_count(f) is distinct from approx_count::bigint end
   or i.estimated_count is distinct from bf_count(f)
order by 1, 2;

-- Guava's bytes come in as they went out, and equal what was made here.
select strategy, filter_id
from filters join made using (strategy, filter_id)
where bf_import(decode(write_to_hex, 'hex'), 'guava', pg_temp.funnel(etype)) is distinct from f
   or (decode(write_to_hex, 'hex')::bloomfilter = f) is distinct from (etype = 'text')
order by 1, 2;

-- Adding all at once makes the same filter.
select v.strategy, filter_id
from filters v join made using (strategy, filter_id),
    lateral (select array_agg(value order by seq) as a from filter_elements e
             where (e.strategy, e.filter_id) = (v.strategy, v.filter_id)) l,
    bf_create(n, p, v.strategy, pg_temp.funnel(etype)) empty
where f is distinct from case
    when etype in ('text', 'text16') then
        bf_add_all(empty, array(select pg_temp.str(x) from unnest(a) x))
    when etype = 'bytea' then
        bf_add_all(empty, array(select pg_temp.raw(x) from unnest(a) x))
    when etype = 'int4' then bf_add_all(empty, a::int[])
    when etype = 'int8' then bf_add_all(empty, a::bigint[]) end
order by 1, 2;

-- ---------------------------------------------------------------------------
-- probes: hits and false positives alike, one by one and as an array
-- ---------------------------------------------------------------------------
select p.*
from probes p join made using (strategy, filter_id)
where pg_temp.might_contain(f, etype, value) is distinct from (might_contain = 1)
order by 1, 2, 3, 4;

select strategy, filter_id
from (select strategy, filter_id, etype, array_agg(value order by value) as a,
             array_agg(might_contain = 1 order by value) as want
      from probes group by 1, 2, 3) p
    join made using (strategy, filter_id)
where want is distinct from case
    when etype in ('text', 'text16') then
        bf_contains_each(f, array(select pg_temp.str(x) from unnest(a) x))
    when etype = 'bytea' then
        bf_contains_each(f, array(select pg_temp.raw(x) from unnest(a) x))
    when etype = 'int4' then bf_contains_each(f, a::int[])
    when etype = 'int8' then bf_contains_each(f, a::bigint[]) end
order by 1, 2;

-- ---------------------------------------------------------------------------
-- union: putAll, its bytes and counts; what it refuses is refused
-- ---------------------------------------------------------------------------
create temp view sides as
select u.*,
    (select bf_agg(replace(rule1, '{i}', i::text), n1, p1, strategy)
     from generate_series(1, cnt1) i) as a,
    (select bf_agg(replace(rule2, '{i}', i::text), n2, p2, strategy)
     from generate_series(1, cnt2) i) as b
from unions u;

select strategy, case_id from sides
where encode(bf_export(a), 'hex') is distinct from filter1_hex
   or encode(bf_export(b), 'hex') is distinct from filter2_hex
order by 1, 2;

select strategy, case_id, bf_compatible(a, b), result from sides
where bf_compatible(a, b) is distinct from (result = 'ok')
   or bf_compatible(b, a) is distinct from (result = 'ok')
order by 1, 2;

select strategy, case_id, bf_count(bf_union(a, b)), union_approx_count from sides
where result = 'ok' and (
    encode(bf_export(bf_union(a, b)), 'hex') is distinct from union_hex
    or encode(bf_export(b | a), 'hex') is distinct from union_hex
    or (select i.bits_set from bf_info(a | b) i) is distinct from union_bit_count
    or bf_count(a | b) is distinct from union_approx_count::bigint
    or pg_temp.same(bf_fpp(a | b), union_expected_fpp::float8) is not true)
order by 1, 2;

select strategy, case_id, outcome
from (select *, pg_temp.outcome(format('select %L::bloomfilter | %L::bloomfilter', a, b)) as outcome
      from sides) s
where outcome is distinct from case when result = 'ok' then 'ok' else '22023' end
order by 1, 2;

-- ---------------------------------------------------------------------------
-- readfrom: what Guava reads to the last byte is read; the rest is refused
-- ---------------------------------------------------------------------------
select strategy, case_id, description, outcome
from (select *, pg_temp.outcome(format('select bf_import(%L)', '\x' || input_hex)) as outcome,
             pg_temp.outcome(format('select %L::bytea::bloomfilter', '\x' || input_hex)) as cast_outcome
      from readfrom) r
where outcome is distinct from
      case when result = 'ok' and unread_bytes::int = 0 then 'ok' else '22P03' end
   or cast_outcome is distinct from outcome
order by 1, 2;

select r.strategy, case_id, description, i.*
from (select *, bf_import(decode(input_hex, 'hex')) as f
      from readfrom where result = 'ok' and unread_bytes = '0') r, bf_info(f) i
where encode(bf_export(f), 'hex') is distinct from rewrite_hex
   or (i.bits, i.hashes, i.bits_set, i.strategy)
      is distinct from (bit_size::bigint, r.k::int, bit_count::bigint,
          case left(input_hex, 2) when '00' then 'guava32' else 'guava' end)
   or pg_temp.same(bf_fpp(f), expected_fpp::float8) is not true
   or case when approx_count like 'error%' then coalesce(bf_count(f), 0) <= 0
        else bf_count(f) is distinct from approx_count::bigint end
order by 1, 2;

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
    for r in select * from big order by big.strategy, big.case_id loop
        strategy := r.strategy;
        case_id := r.case_id;
        if r.etype = 'text' then
            select bf_agg(replace(r.rule, '{i}', x::text), r.n, r.p, r.strategy),
                   bf_add_all(bf_create(r.n, r.p, r.strategy),
                              array_agg(replace(r.rule, '{i}', x::text)))
            into f, g from generate_series(1, r.inserted_count) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, replace(r.probe_rule, '{i}', x::text));
        elsif r.etype = 'int4' then
            select bf_agg(r.rule::int + x, r.n, r.p, r.strategy),
                   bf_add_all(bf_create(r.n, r.p, r.strategy), array_agg(r.rule::int + x))
            into f, g from generate_series(1, r.inserted_count) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, r.probe_rule::int + x);
        else
            select bf_agg(r.rule::bigint + x, r.n, r.p, r.strategy),
                   bf_add_all(bf_create(r.n, r.p, r.strategy), array_agg(r.rule::bigint + x))
            into f, g from generate_series(1, r.inserted_count) x;
            select count(*) into hits from generate_series(1, r.probe_count) x
            where bf_contains(f, r.probe_rule::bigint + x);
        end if;
        select * into i from bf_info(f);

        problem := 'sha256 by bf_agg';
        want := r.write_to_len || ' ' || r.write_to_sha256;
        got := octet_length(bf_export(f)) || ' ' || encode(sha256(bf_export(f)), 'hex');
        if got is distinct from want then return next; end if;
        problem := 'sha256 by bf_add_all';
        got := octet_length(bf_export(g)) || ' ' || encode(sha256(bf_export(g)), 'hex');
        if got is distinct from want then return next; end if;
        problem := 'probe hits';
        want := r.probe_hits;
        got := hits;
        if got is distinct from want then return next; end if;
        problem := 'bits, k, bits set, count';
        want := format('%s %s %s %s', r.bit_size, r.k, r.bit_count, r.approx_count);
        got := format('%s %s %s %s', i.bits, i.hashes, i.bits_set, bf_count(f));
        if got is distinct from want then return next; end if;
        problem := 'expected fpp';
        want := r.expected_fpp;
        got := bf_fpp(f);
        if pg_temp.same(bf_fpp(f), r.expected_fpp) is not true then return next; end if;
    end loop;
end $$;
select * from pg_temp.check_big();
