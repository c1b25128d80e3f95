-- Aggregates: all forms and types; no rows and NULLs; FILTER, DISTINCT, many
-- groups, window frames; parallel plans; spilling to temporary files.  What
-- bf_agg gives is compared with bf_add_all, which vectors_guava.sql checks.
\set VERBOSITY terse
set bloomext.overfull_notice = off;

create function pg_temp.outcome(query text) returns text language plpgsql as $$
begin
    execute query;
    return 'ok';
exception when others then
    return sqlstate;
end $$;

-- ---------------------------------------------------------------------------
-- All arities
-- ---------------------------------------------------------------------------
create temp view e as select 'e' || i as x, i from generate_series(1, 100) i;
create temp view a as select array_agg(x) as a from e;
select bf_agg(x, 100) = bf_add_all(bf_create(100), (select a from a)) as two,
       bf_agg(x, 100, 0.01) = bf_add_all(bf_create(100, 0.01), (select a from a)) as three,
       bf_agg(x, 100, 0.01, 'guava') = bf_add_all(bf_create(100, 0.01), (select a from a)) as four,
       bf_agg(x, 100, 0.01, 'guava32') = bf_add_all(bf_create(100, 0.01, 'guava32'), (select a from a)) as four,
       bf_agg(x, 100, 0.01, 'guava32', 0) = bf_add_all(bf_create(100, 0.01, 'guava32'), (select a from a)) as five,
       bf_agg(x) = bf_add_all(bf_create(100), (select a from a)) as one,
       -- not equal to one element less
       bf_agg(x, 100) = bf_add_all(bf_create(100), (select a[2:] from a)) as less
from e;
-- n and p are recorded.
select l.id, i.expected, i.fpp, i.funnel, i.strategy, i.layers
from (select bf_agg(x, 200, 0.01, 'guava32') as sized, bf_agg(x) as unsized, bf_agg(i, 50) as over from e) f,
    lateral (values (1, sized), (2, unsized), (3, over)) l(id, f), bf_info(l.f) i
order by 1;

-- ---------------------------------------------------------------------------
-- All types, sized and not; duplicates and NULLs among the elements
-- ---------------------------------------------------------------------------
create temp table every (t text, b bytea, i2 smallint, i4 int, i8 bigint, u uuid);
insert into every
select 't' || i, decode(md5(i::text), 'hex'), i - 500, (i - 500) * 4000000, (i - 500) * 10000000000000000, md5(i::text)::uuid
from generate_series(1, 1000) i;
insert into every select * from every where i2 % 3 = 0;
insert into every select null from generate_series(1, 100);
insert into every values ('', '', -32768, -2147483648, -9223372036854775808, '00000000-0000-0000-0000-000000000000');
select bf_agg(t, 1000) = bf_add_all(bf_create(1000), array_agg(t)) as text,
       bf_agg(b, 1000) = bf_add_all(bf_create(1000), array_agg(b)) as bytea,
       bf_agg(i2, 1000) = bf_add_all(bf_create(1000), array_agg(i2)) as int2,
       bf_agg(i4, 1000) = bf_add_all(bf_create(1000), array_agg(i4)) as int4,
       bf_agg(i8, 1000) = bf_add_all(bf_create(1000), array_agg(i8)) as int8,
       bf_agg(u, 1000) = bf_add_all(bf_create(1000), array_agg(u)) as uuid
from every;
select bf_agg(t) = bf_agg(t, 1001) as text, bf_agg(b) = bf_agg(b, 1001) as bytea,
       bf_agg(i2) = bf_agg(i2, 1001) as int2, bf_agg(i4) = bf_agg(i4, 1001) as int4,
       bf_agg(i8) = bf_agg(i8, 1001) as int8, bf_agg(u) = bf_agg(u, 1001) as uuid
from every;
select funnel, count(*)
from (select bf_agg(t) as t, bf_agg(b) as b, bf_agg(i2) as i2, bf_agg(i4) as i4, bf_agg(i8) as i8, bf_agg(u) as u from every) f,
    unnest(array[t, b, i2, i4, i8, u]) x, bf_info(x) group by 1 order by 1;
-- Everything is found again.
select count(*) from every, (select bf_agg(t) as t, bf_agg(b) as b, bf_agg(i2) as i2, bf_agg(i4) as i4, bf_agg(i8) as i8,
                                    bf_agg(u) as u from every) f
where not (f.t @> every.t and f.b @> every.b and f.i2 @> every.i2 and f.i4 @> every.i4 and f.i8 @> every.i8 and f.u @> every.u);
-- A text longer than a page, toasted; and a literal.
select bf_agg(x, 10) = bf_create(10) + repeat('long', 100000) + 'lit' as long
from (select repeat('long', 100000) union all select 'lit') s(x);
select bf_agg('literal', 10) = bf_create(10) + 'literal' as literal, bf_agg('literal') @> 'literal' as unsized from generate_series(1, 5);

-- ---------------------------------------------------------------------------
-- No rows, or only NULLs: an empty filter where sized, else NULL
-- ---------------------------------------------------------------------------
create temp table none (t text, i bigint, u uuid);
select bf_agg(t, 100) = bf_create(100, funnel => 'utf8') as two,
       bf_agg(t, 100, 0.01) = bf_create(100, 0.01, funnel => 'utf8') as three,
       bf_agg(t, 100, 0.01, 'guava32') = bf_create(100, 0.01, 'guava32', 'utf8') as four,
       bf_agg(t, 100, 0.01, 'guava32', 0) = bf_create(100, 0.01, 'guava32', 'utf8') as five,
       bf_agg(i, 100) = bf_create(100, funnel => 'long') as int8,
       bf_agg(u, 100) = bf_create(100, funnel => 'bytes') as uuid,
       bf_agg(i::int, 100) = bf_create(100, funnel => 'int') as int4,
       bf_agg(t) is null as one, bf_agg(i) is null as one
from none;
-- What elements are sorted by is no parameter.
select bf_agg(t, 100 order by i) = bf_create(100, funnel => 'utf8') as two,
       bf_agg(t, 100, 0.01, 'guava32', 0 order by u, i) = bf_create(100, 0.01, 'guava32', 'utf8') as five
from none;
insert into none select null from generate_series(1, 10);
select bf_agg(t, 100) = bf_create(100, funnel => 'utf8') as two,
       bf_agg(t, 100, 0.01, 'guava32') = bf_create(100, 0.01, 'guava32', 'utf8') as four,
       bf_agg(i, 100) = bf_create(100, funnel => 'long') as int8,
       bf_agg(u, 100) = bf_create(100, funnel => 'bytes') as uuid,
       bf_agg(t) is null as one, bf_agg(i) is null as one
from none;
select bf_agg('x', 100) filter (where false) = bf_create(100, funnel => 'utf8') as filtered,
       bf_agg('x') filter (where false) is null as filtered from generate_series(1, 3);
-- The parameters of an empty group may come from anywhere.
prepare sized(bigint, float8, text) as select bf_agg(t, $1, $2, $3) = bf_create($1, $2, $3, 'utf8') as prepared from none where i > 0;
execute sized(100, 0.01, 'guava');
execute sized(1000, 0.001, 'guava32');
set plan_cache_mode = force_generic_plan;
execute sized(100, 0.01, 'guava');
execute sized(1000, 0.001, 'guava32');
reset plan_cache_mode;
deallocate sized;
select n, (select bf_agg(t, n, p) from none where i > 0) = bf_create(n, p, funnel => 'utf8') as subselect
from (values (10, 0.1), (100, 0.01), (1000, 0.001)) v(n, p) order by n;
select bf_agg(t, (select 100)) = bf_create(100, funnel => 'utf8') as scalar,
       bf_agg(t, (select count(*) from none) * 10) = bf_create(100, funnel => 'utf8') as count
from none where i > 0;
do $$
declare
    n bigint := 77;
    f bloomfilter;
begin
    select bf_agg(t, n, 0.05) into f from none where i > 0;
    if f is distinct from bf_create(n, 0.05, funnel => 'utf8') then
        raise exception 'plpgsql variable: %', bf_info(f);
    end if;
end $$;

-- ---------------------------------------------------------------------------
-- FILTER, DISTINCT, ORDER BY, GROUP BY, HAVING, grouping sets
-- ---------------------------------------------------------------------------
select bf_agg(x, 100) filter (where i % 2 = 0) = bf_add_all(bf_create(100), array_agg(x) filter (where i % 2 = 0)) as filter,
       bf_agg(x) filter (where i % 2 = 0) = bf_add_all(bf_create(50), array_agg(x) filter (where i % 2 = 0)) as filter,
       bf_agg(distinct x, 100) = bf_agg(x, 100) as distinct,
       bf_agg(distinct x) = bf_agg(x) as distinct,
       bf_agg(distinct i % 10, 100) = bf_add_all(bf_create(100), array[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) as distinct,
       bf_agg(x, 100 order by i desc) = bf_agg(x, 100) as order,
       bf_agg(x order by random()) = bf_agg(x) as order
from e;
select g, bf_agg(x, 10) = bf_add_all(bf_create(10), array_agg(x)) as sized, bf_agg(x) = bf_add_all(bf_create(count(distinct x)), array_agg(x)) as unsized
from (select i % 3 as g, x from e) s group by g having bf_agg(x, 10) @> 'e1' or g = 0 order by g;
select count(*) filter (where not ok), count(*)
from (select bf_agg(x, 1000) = bf_add_all(bf_create(1000), array_agg(x)) and
             bf_agg(x) = bf_add_all(bf_create(count(distinct x)), array_agg(x)) as ok
      from e group by grouping sets ((), (i % 7), (i % 5, i % 2)), cube (i % 3, i % 4)) s;
-- Equal aggregates of one query share a state; the results do not depend on it.
select bf_agg(x, 100) = bf_agg(x, 100) as same, bf_agg(x, 100) + 'more' <> bf_agg(x, 100) as more,
       bf_agg(x, 100) | bf_agg(x, 100) = bf_agg(x, 100) as union_,
       bf_agg(x) + 'more' <> bf_agg(x) as unsized, bf_agg(x, 101) = bf_agg(x, 100) as other_n
from e;

-- 100,000 groups, hashed and sorted.
create temp table many as select i % 100000 as g, 'x' || i as x, i from generate_series(1, 300000) i;
analyze many;
select count(*), count(*) filter (where f <> bf_create(10) + ('x' || case g when 0 then 100000 else g end)
                                         + ('x' || g + case g when 0 then 200000 else 100000 end)
                                         + ('x' || g + case g when 0 then 300000 else 200000 end)) as wrong
from (select g, bf_agg(x, 10) as f from many group by g) s;
set enable_hashagg = off;
select count(*), count(*) filter (where not (f @> ('x' || g + 100000)) or (bf_info(f)).bits <> 64) as wrong
from (select g, bf_agg(x) as f from many group by g) s;
reset enable_hashagg;
-- Groups of very different sizes, sized far too large: memory follows use.
select count(*) as groups, count(*) filter (where f <> bf_create(1000) + 'a' + 'b') as wrong
from (select g, bf_agg(x, 1000) as f
      from (select i % 20000 as g, case when i <= 20000 then 'a' else 'b' end as x from generate_series(1, 40000) i) s
      group by g) t;
-- From few elements to more than the filter was made for, at every count.
select count(*) filter (where f <> bf_add_all(bf_create(64), array(select i from generate_series(1, n) i))) as wrong, count(*)
from (select n, bf_agg(i, 64) as f from generate_series(1, 300) n, lateral generate_series(1, n) i group by n) s;
select count(*) filter (where f <> bf_add_all(bf_create(n), array(select i from generate_series(1, n) i))) as wrong, count(*)
from (select n, bf_agg(i) as f from generate_series(1, 300) n, lateral generate_series(1, n) i group by n) s;

-- ---------------------------------------------------------------------------
-- Window frames: growing, moving, empty, excluding
-- ---------------------------------------------------------------------------
create temp table w as select i, i % 4 as g, case when i % 5 > 0 then 'w' || i % 17 end as x from generate_series(1, 60) i;
-- The frame's elements by array_agg say what each row ought to have.
create function pg_temp.sized(a text[]) returns bloomfilter language sql as $$
    select bf_add_all(bf_create(20, 0.03, funnel => 'utf8'), coalesce(a, '{}'))
$$;
create function pg_temp.unsized(a text[]) returns bloomfilter language sql as $$
    select case when count(distinct x) > 0 then bf_add_all(bf_create(count(distinct x)), a) end from unnest(a) x
$$;
select count(*) filter (where s1 is distinct from pg_temp.sized(a1) or u1 is distinct from pg_temp.unsized(a1)) as growing,
       count(*) filter (where s2 is distinct from pg_temp.sized(a2) or u2 is distinct from pg_temp.unsized(a2)) as moving,
       count(*) filter (where s3 is distinct from pg_temp.sized(a3) or u3 is distinct from pg_temp.unsized(a3)) as ahead,
       count(*) filter (where s4 is distinct from pg_temp.sized(a4) or u4 is distinct from pg_temp.unsized(a4)) as excluding,
       count(*) filter (where s5 is distinct from pg_temp.sized(a5) or u5 is distinct from pg_temp.unsized(a5)) as range,
       count(*) filter (where s6 is distinct from pg_temp.sized(a6) or u6 is distinct from pg_temp.unsized(a6)) as whole,
       count(*) filter (where a3 is null) as no_rows, count(*) filter (where u3 is null and a3 is not null) as only_nulls
from (select bf_agg(x, 20) over w1 as s1, bf_agg(x) over w1 as u1, array_agg(x) over w1 as a1,
             bf_agg(x, 20) over w2 as s2, bf_agg(x) over w2 as u2, array_agg(x) over w2 as a2,
             bf_agg(x, 20) over w3 as s3, bf_agg(x) over w3 as u3, array_agg(x) over w3 as a3,
             bf_agg(x, 20) over w4 as s4, bf_agg(x) over w4 as u4, array_agg(x) over w4 as a4,
             bf_agg(x, 20) over w5 as s5, bf_agg(x) over w5 as u5, array_agg(x) over w5 as a5,
             bf_agg(x, 20) over w6 as s6, bf_agg(x) over w6 as u6, array_agg(x) over w6 as a6
      from w
      window w1 as (order by i rows unbounded preceding),
             w2 as (partition by g order by i rows between 2 preceding and 1 following),
             w3 as (order by i rows between 3 following and 4 following),
             w4 as (order by i rows between 3 preceding and 3 following exclude current row),
             w5 as (order by g range between 1 preceding and current row),
             w6 as (partition by g)) s;
-- A frame without rows has the size of the call, if it is clear which one that is.
select i, bf_agg('x'::text, 10) over w = bf_create(10, funnel => 'utf8') as same, bf_agg('x'::text, 10) over w is null as none
from generate_series(1, 2) i window w as (order by i rows between 3 following and 4 following);
select i, bf_agg('x'::text, 10) over w = bf_create(10, funnel => 'utf8') as same, bf_agg('y'::text, 100) over w is null as none
from generate_series(1, 2) i window w as (order by i rows between 3 following and 4 following);

-- FILTER within a frame; union and intersection over a frame.
select count(*) filter (where f is distinct from pg_temp.sized(a)) as filtered,
       count(*) filter (where u is distinct from pg_temp.sized(a1)) as unions,
       count(*) filter (where n is distinct from r) as intersections
from (select bf_agg(x, 20) filter (where g = 1) over w1 as f, array_agg(x) filter (where g = 1) over w1 as a,
             bf_union_agg(one) over w2 as u, array_agg(x) over w2 as a1,
             bf_intersection_agg(two) over w2 as n,
             case when lag(two) over w3 is null then two else bf_intersection(lag(two) over w3, two) end as r
      from (select *, pg_temp.sized(array[x]) as one, pg_temp.sized(array[x, 'common', 'w' || i + 1]) as two from w) w
      window w1 as (order by i rows unbounded preceding), w2 as (order by i rows 1 preceding), w3 as (order by i)) s;

-- ---------------------------------------------------------------------------
-- Parallel plans
-- ---------------------------------------------------------------------------
create table par (g int, t text, i bigint, u uuid, f bloomfilter);
insert into par select i % 10, case when i % 7 > 0 then 't' || i % 30000 end, case when i % 3 = 0 then i end, md5(i::text)::uuid
from generate_series(1, 60000) i;
-- All in the first pages, then NULLs only: some workers see nothing but NULLs.
create table par_nulls (t text, i bigint);
insert into par_nulls select 'only' || i, i from generate_series(1, 10) i;
insert into par_nulls select null from generate_series(1, 60000);
create table par_few (t text, i bigint);
insert into par_few values ('a', 1), (null, null), ('b', 2);
create table par_none (t text, i bigint);
create table par_filters (f bloomfilter);
insert into par_filters select bf_create(100) from generate_series(1, 400);
insert into par_filters select bf_add_all(bf_create(100), array['common', 'f' || i, 'g' || i % 3]) from generate_series(1, 400) i;
insert into par_filters select null from generate_series(1, 400);
analyze par, par_nulls, par_few, par_none, par_filters;
alter table par set (parallel_workers = 4);
alter table par_nulls set (parallel_workers = 4);
alter table par_few set (parallel_workers = 4);
alter table par_none set (parallel_workers = 4);
alter table par_filters set (parallel_workers = 4);

create function pg_temp.plan_has(query text, what text) returns boolean language plpgsql as $$
declare
    line text;
    found boolean := false;
begin
    for line in execute 'explain (costs off) ' || query loop
        found := found or line like '%' || what || '%';
    end loop;
    return found;
end $$;

create temp table queries (id int, query text);
insert into queries values
(1, 'select bf_agg(t, 40000)::text from par'),
(2, 'select bf_agg(t, 40000, 0.001, ''guava32'')::text from par'),
(3, 'select bf_agg(i, 40000, 0.01)::text from par'),
(4, 'select bf_agg(u, 100)::text from par'),
(5, 'select bf_agg(t, 100)::text from par_nulls'),
(6, 'select bf_agg(i, 100)::text from par_nulls'),
(7, 'select bf_agg(t, 100)::text from par_few'),
(8, 'select bf_agg(i, 100, 0.5)::text from par_few'),
(9, 'select bf_agg(t, 100)::text from par_none'),
(10, 'select bf_agg(i, 100, 0.5, ''guava32'')::text from par_none'),
(11, 'select bf_agg(t, 100)::text from par_nulls where t is null'),
(12, 'select string_agg(f::text, '';'' order by g) from (select g, bf_agg(t, 10000) as f from par group by g) s'),
(13, 'select string_agg(f::text, '';'' order by g) from (select g, bf_agg(t, 10) filter (where i > 1000) as f from par group by g) s'),
(14, 'select bf_union_agg(f)::text from par_filters'),
(15, 'select bf_intersection_agg(f)::text from par_filters where f @> ''common'''),
(16, 'select bf_union_agg(f)::text from par_filters where f is null'),
(17, 'select bf_union_agg(f)::text from par_filters where not f @> ''common'''),
(18, 'select (bf_agg(t, 40000)::text || coalesce(bf_agg(i, 100)::text, ''-''))::text from par where g = 3'),
(19, 'select bf_agg(t)::text from par'),
(20, 'select bf_agg(i)::text from par_nulls'),
(21, 'select bf_agg(t)::text from par_none'),
(23, 'select bf_agg(t, 100)::text from par where i < 0'),
(22, 'select string_agg(f::text, '';'' order by g) from (select g, bf_agg(t) as f from par group by g) s');

create function pg_temp.answer(query text) returns text language plpgsql as $$
declare
    result text;
begin
    execute query into result;
    return coalesce(md5(result), 'null');
end $$;
set max_parallel_workers_per_gather = 0;
create temp table serial as select id, query, pg_temp.answer(query) as answer from queries;
set max_parallel_workers_per_gather = 4;
set min_parallel_table_scan_size = 0;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
-- The plans are parallel (but of an empty table, and of bf_agg without a size),
-- and the answers are those of the serial ones, bit for bit.
select id, query from queries
where not pg_temp.plan_has(query, 'Partial') and query not like '%par_none%' and query !~ 'bf_agg\(\w\)' order by 1;
select id, query from serial where pg_temp.answer(query) is distinct from answer order by 1;
-- The same when only workers work, and with more sessions' worth of them.
set parallel_leader_participation = off;
select id, query from serial where pg_temp.answer(query) is distinct from answer order by 1;
set enable_hashagg = off;
select id, query from serial where pg_temp.answer(query) is distinct from answer order by 1;
reset enable_hashagg;
set max_parallel_workers_per_gather = 1;
select id, query from serial where pg_temp.answer(query) is distinct from answer order by 1;
reset parallel_leader_participation;
set max_parallel_workers_per_gather = 4;
-- They agree with what was added one by one.
select bf_agg(t, 40000) = bf_add_all(bf_create(40000), array_agg(t)) as text,
       bf_agg(i, 40000) = bf_add_all(bf_create(40000), array_agg(i)) as int8 from par;
select bf_agg(t, 100) = bf_add_all(bf_create(100), array_agg(t)) as text,
       bf_agg(i, 100) = bf_add_all(bf_create(100), array_agg(i)) as int8, (bf_info(bf_agg(t, 100))).bits_set > 10 as some
from par_nulls;
-- Parameters that vary across workers are refused, too.
select pg_temp.outcome('select bf_agg(t, 100 + g) from par') as varying;
-- Probing is parallel as well.
select count(*) from par where t is not null and not (select bf_agg(t, 40000) from par) @> t;
reset max_parallel_workers_per_gather;
reset min_parallel_table_scan_size;
reset parallel_setup_cost;
reset parallel_tuple_cost;

-- ---------------------------------------------------------------------------
-- bf_agg(ELEM): sized to the distinct elements, beyond work_mem on disk; how
-- many it is sized for there, distinct.sql checks
-- ---------------------------------------------------------------------------
create temp table large as
select 'l' || i % 150000 as x, i % 150000 as i, i % 5 as g from generate_series(1, 250000) i;
analyze large;
-- What it must equal: a filter for just as many.
create temp table wanted as select bf_agg(x, 150000) as x, bf_agg(i, 150000) as i from large;
create temp table wanted_by_group as
select g, bf_agg(x, d) as x from large join (select g, count(distinct x) as d from large group by g) c using (g) group by g;
select n, d from (select g, count(*) as n, count(distinct x) as d from large group by g) s order by g limit 1;
select bf_agg(x) = (select x from wanted) as text, bf_agg(i) = (select i from wanted) as int4 from large;
select count(*), count(*) filter (where w.x = l.x) as equal
from (select g, bf_agg(x) as x from large group by g) l join wanted_by_group w using (g);
set work_mem = '64kB';
create temp table spilled as
select x, i, (bf_info(x)).expected as xs, (bf_info(i)).expected as is_ from (select bf_agg(x) as x, bf_agg(i) as i from large) s;
select s.x = (select bf_agg(x, xs) from large) as text, s.i = (select bf_agg(i, is_) from large) as int4 from spilled s;
-- Sorted input, reversed, all duplicates first, and each element many times in a row.
select bf_agg(x order by x) = (select x from spilled) as sorted, bf_agg(x order by i desc) = (select x from spilled) as reversed from large;
select bf_agg(x) = bf_agg(x, 1) as one from (select 'same' as x from generate_series(1, 100000)) s;
select bf_agg(x) = bf_agg(x, 10156) as repeated, (bf_info(bf_agg(x))).expected
from (select i / 20 as x from generate_series(0, 199999) i) s;
-- In groups and in a window.
create temp table spilled_by_group as
select g, bf_agg(x, n) as x from large join (select g, (bf_info(bf_agg(x))).expected as n from large group by g) s using (g) group by g;
select count(*), count(*) filter (where w.x = l.x) as equal
from (select g, bf_agg(x) as x from large group by g) l join spilled_by_group w using (g);
set enable_hashagg = off;
select count(*), count(*) filter (where w.x = l.x) as equal
from (select g, bf_agg(x) as x from large group by g) l join spilled_by_group w using (g);
reset enable_hashagg;
select count(*), count(*) filter (where l.x = w.x) as equal
from (select distinct on (g) g, bf_agg(x) over (partition by g) as x from large) l join spilled_by_group w using (g);
-- A frame that grows past the limit, its final function called in between:
-- up to 64 kB of hashes the number is exact.
select count(*), count(*) filter (where f = want and (i > 4096 or n = i)) as equal
from (select i, bf_agg(i) over (order by i rows unbounded preceding) as f from generate_series(1, 4400) i) s,
    lateral (select (bf_info(f)).expected as n offset 0) e, lateral (select bf_agg(j, n) as want from generate_series(1, s.i) j) l
where i % 1000 = 0 or i % 40 = 0 and i > 3900;
-- Given up half-way: no error lingers, temporary files go.
select pg_temp.outcome('select bf_agg(case when i < 249999 then x else (1 / (i - i))::text end) from (select x, row_number() over () as i from large) s') as aborted;
select bf_agg(x) = (select x from spilled) as again from large;
reset work_mem;

-- ---------------------------------------------------------------------------
-- bf_union_agg, bf_intersection_agg
-- ---------------------------------------------------------------------------
create temp table parts as select g, bf_agg(x, 100) as f from (select i % 10 as g, x from e) s group by g;
select bf_union_agg(f) = (select bf_agg(x, 100) from e) as union_,
       bf_union_agg(f order by g desc) = bf_union_agg(f) as order,
       bf_union_agg(f) filter (where g = 3) = (select f from parts where g = 3) as one,
       bf_union_agg(null::bloomfilter) is null as null_, bf_intersection_agg(null::bloomfilter) is null as null_,
       bf_union_agg(f) filter (where false) is null as none, bf_intersection_agg(f) filter (where false) is null as none,
       bf_intersection_agg(f) filter (where g = 3) = (select f from parts where g = 3) as one
from parts;
select bf_intersection_agg(f) = (select p.f & q.f & r.f from parts p, parts q, parts r where p.g = 1 and q.g = 2 and r.g = 3) as intersection
from parts where g in (1, 2, 3);
-- NULLs are skipped; unbound empty filters take the others' funnel, in any order.
select bf_union_agg(x order by o) = bf_create(10) + 7 as union_, (bf_info(bf_union_agg(x order by o))).funnel,
       bf_union_agg(x order by o desc) = bf_create(10) + 7 as reversed, (bf_info(bf_union_agg(x order by o desc))).funnel
from (values (1, bf_create(10)), (2, null), (3, bf_create(10) + 7), (4, bf_create(10))) v(o, x);
select bf_intersection_agg(x order by o) = bf_create(10, funnel => 'int') as intersection, (bf_info(bf_intersection_agg(x order by o))).funnel,
       (bf_info(bf_intersection_agg(x order by o desc))).funnel
from (values (1, bf_create(10)), (2, null), (3, bf_create(10) + 7)) v(o, x);
select (bf_info(bf_union_agg(x))).funnel is null as all_unbound, bf_union_agg(x) = bf_create(10) as empty
from (values (bf_create(10)), (bf_create(10))) v(x);
-- The members stay as they were; n and p are those of a member.
select bf_union_agg(f) is not null, count(*) filter (where f <> (select bf_agg(x, 100) from e where i % 10 = g)) as changed,
       (bf_info(bf_union_agg(f))).expected from parts;
drop table par, par_nulls, par_few, par_none, par_filters;

-- An argument with a subquery of its own, evaluated for group after group
-- without rows: nothing of it goes before the query does.
create temp table sizes as select 5 as n;
select count(f), count(distinct length(g::text)) > 100 as sizes
from generate_series(1, 300) as o,
     lateral (select bf_agg(x, o * 20) as g,
                     bf_agg(x, case when 5 in (select n from sizes) then 100 else 200 end) as f
              from (values ('a')) as v(x) where o < 0) as s;
